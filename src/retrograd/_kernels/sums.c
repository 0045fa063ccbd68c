/* The gradient of a bias: sums over all dims but one.   x (outer, C, inner) */

#include "kernel.h"
#include "kernels.h"

#define TOGETHER 64 /* rows added up by themselves before they join the total: errors grow with their number */

#define LOOPS(T, NAME)                                                                                          \
    CLONES static void NAME##_columns(const T *restrict x, T *restrict y, T *restrict part, npy_intp n, npy_intp c) { \
        for (npy_intp j = 0; j < c; j++) y[j] = 0;                                                              \
        for (npy_intp i = 0; i < n; i += TOGETHER) {                                                            \
            const npy_intp stop = i + TOGETHER < n ? i + TOGETHER : n;                                          \
            for (npy_intp j = 0; j < c; j++) part[j] = x[i * c + j];                                            \
            npy_intp k = i + 1;                                                                                 \
            for (; k + 3 < stop; k += 4) {                                                                      \
                const T *restrict a = x + k * c, *restrict b = a + c, *restrict d = b + c, *restrict e = d + c; \
                SIMD for (npy_intp j = 0; j < c; j++) part[j] += (a[j] + b[j]) + (d[j] + e[j]);                 \
            }                                                                                                   \
            for (; k < stop; k++)                                                                               \
                SIMD for (npy_intp j = 0; j < c; j++) part[j] += x[k * c + j];                                  \
            for (npy_intp j = 0; j < c; j++) y[j] += part[j];                                                   \
        }                                                                                                       \
    }                                                                                                           \
    CLONES static void NAME##_planes(const T *restrict x, T *restrict y, npy_intp n, npy_intp c, npy_intp p) {  \
        for (npy_intp j = 0; j < c; j++) y[j] = 0;                                                              \
        for (npy_intp i = 0; i < n; i++)                                                                        \
            for (npy_intp j = 0; j < c; j++, x += p) {                                                          \
                T total = 0;                                                                                    \
                for (npy_intp k = 0; k < p; k += 64 * TOGETHER) {                                               \
                    const npy_intp stop = k + 64 * TOGETHER < p ? k + 64 * TOGETHER : p;                        \
                    T sum = 0;                                                                                  \
                    SIMD_SUM(sum) for (npy_intp q = k; q < stop; q++) sum += x[q];                              \
                    total += sum;                                                                               \
                }                                                                                               \
                y[j] += total;                                                                                  \
            }                                                                                                   \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

/* sum_around(x, dim) -> (C,): the sum over all dims but `dim` */
KERNEL(sum_around, 2)
    PyObject *x = args[0];
    const int type = kind_of(x), dim = (int)PyLong_AsLong(args[1]);
    if (PyErr_Occurred()) return NULL;
    if (type < 0 || dim < 0 || dim >= PyArray_NDIM(ARRAY(x))) Py_RETURN_NONE;
    const npy_intp c = PyArray_DIM(ARRAY(x), dim), n = PyArray_MultiplyList(PyArray_DIMS(ARRAY(x)), dim);
    const npy_intp p = PyArray_MultiplyList(PyArray_DIMS(ARRAY(x)) + dim + 1, PyArray_NDIM(ARRAY(x)) - dim - 1);
    PyObject *y = PyArray_SimpleNew(1, &c, type);
    void *part = y == NULL || p > 1 ? NULL : PyMem_Malloc(sizeof(double) * (c + 1));
    if (y != NULL && p <= 1 && part == NULL) {
        Py_DECREF(y);
        return PyErr_NoMemory();
    }
    if (y == NULL) return NULL;
    const npy_intp size = n * c * p;
    if (p == 1 && type == NPY_FLOAT) WITHOUT_GIL(size, floats_columns(DATA(x), DATA(y), part, n, c));
    else if (p == 1) WITHOUT_GIL(size, doubles_columns(DATA(x), DATA(y), part, n, c));
    else if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_planes(DATA(x), DATA(y), n, c, p));
    else WITHOUT_GIL(size, doubles_planes(DATA(x), DATA(y), n, c, p));
    PyMem_Free(part);
    return y;
END
