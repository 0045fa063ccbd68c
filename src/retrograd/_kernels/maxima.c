/* Maxima over windows of three dims. */

#include "kernel.h"
#include "kernels.h"

#define MAXIMA(T, NAME)                                                                                            \
    static void NAME(const T *x, npy_intp images, const npy_intp *size, const int64_t *const *tap, const npy_intp *out, \
                     const npy_intp *width, T *y, int64_t *where) {                                                \
        for (npy_intp m = 0; m < images; m++, x += size[0] * size[1] * size[2])                                    \
            for (npy_intp i = 0; i < out[0]; i++)                                                                  \
                for (npy_intp j = 0; j < out[1]; j++)                                                              \
                    for (npy_intp k = 0; k < out[2]; k++) {                                                        \
                        int64_t at = (tap[0][i * width[0]] * size[1] + tap[1][j * width[1]]) * size[2]             \
                                     + tap[2][k * width[2]];                                                       \
                        T best = x[at];                                                                            \
                        for (npy_intp a = 0; a < width[0]; a++)                                                    \
                            for (npy_intp b = 0; b < width[1]; b++) {                                              \
                                const int64_t row =                                                                \
                                    (tap[0][i * width[0] + a] * size[1] + tap[1][j * width[1] + b]) * size[2];     \
                                for (npy_intp c = 0; c < width[2]; c++) {                                          \
                                    const int64_t place = row + tap[2][k * width[2] + c];                          \
                                    const T v = x[place];                                                          \
                                    if (v > best || v != v) {                                                      \
                                        best = v;                                                                  \
                                        at = place;                                                                \
                                    }                                                                              \
                                }                                                                                  \
                            }                                                                                      \
                        *y++ = best;                                                                               \
                        *where++ = at;                                                                             \
                    }                                                                                              \
    }
MAXIMA(float, floats_maxima)
MAXIMA(double, doubles_maxima)

/* max_pool3(x (..., D, H, W), taps (P, K) of int64 for each of the three) -> (maxima, flat positions); a NaN wins, of several
   the last */
KERNEL(max_pool3, 4)
    PyObject *x = args[0];
    int type = kind_of(x), ndim = type < 0 ? 0 : PyArray_NDIM(ARRAY(x));
    if (ndim < 3) Py_RETURN_NONE;
    npy_intp size[3], out[3], width[3], sizes[NPY_MAXDIMS], images = 1;
    const int64_t *tap[3];
    size_t taps = 0;
    int bad = 0;
    for (int d = 0; d < 3; d++) {
        PyObject *t = args[1 + d];
        if (!PyArray_CheckExact(t) || PyArray_TYPE(ARRAY(t)) != NPY_INT64 || !PyArray_ISCARRAY_RO(ARRAY(t))
            || PyArray_NDIM(ARRAY(t)) != 2) Py_RETURN_NONE;
        size[d] = PyArray_DIM(ARRAY(x), ndim - 3 + d);
        out[d] = PyArray_DIM(ARRAY(t), 0);
        width[d] = PyArray_DIM(ARRAY(t), 1);
        tap[d] = DATA(t);
        if (width[d] == 0 || (out[d] && size[d] == 0)) Py_RETURN_NONE;
        taps = plus(taps, times(out[d], width[d]));
    }
    int64_t *own = PyMem_Malloc(times(sizeof(int64_t), taps)), *next = own;      /* NOTE [Read once] */
    if (own == NULL) return PyErr_NoMemory();
    for (int d = 0; d < 3; d++) {
        const npy_intp many = out[d] * width[d];
        for (npy_intp i = 0; i < many; i++) next[i] = inside(READ(tap[d][i]), size[d], &bad);
        tap[d] = next;
        next += many;
    }
    if (bad) {
        PyMem_Free(own);
        Py_RETURN_NONE;
    }
    for (int d = 0; d < ndim - 3; d++) images *= sizes[d] = PyArray_DIM(ARRAY(x), d);
    for (int d = 0; d < 3; d++) sizes[ndim - 3 + d] = out[d];
    PyObject *y = PyArray_SimpleNew(ndim, sizes, type), *where = y ? PyArray_SimpleNew(ndim, sizes, NPY_INT64) : NULL;
    if (where == NULL) {
        PyMem_Free(own);
        Py_XDECREF(y);
        return NULL;
    }
    npy_intp all = PyArray_SIZE(ARRAY(x));
    if (PyArray_SIZE(ARRAY(y)) == 0) images = 0;
    if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_maxima(DATA(x), images, size, tap, out, width, DATA(y), DATA(where)));
    else WITHOUT_GIL(all, doubles_maxima(DATA(x), images, size, tap, out, width, DATA(y), DATA(where)));
    PyMem_Free(own);
    return Py_BuildValue("NN", y, where);
END
