/* The k-th smallest of each row. */

#include "kernel.h"
#include "kernels.h"

#define ABOVE(a, b) (((a) != (a) && (b) == (b)) || (a) > (b))       /* NaN is the greatest */
#define SWAP(i, j)                        \
    do {                                  \
        const npy_intp p_ = (i), q_ = (j); \
        const T v_ = row[p_];             \
        const int64_t at_ = where[p_];    \
        row[p_] = row[q_];                \
        where[p_] = where[q_];            \
        row[q_] = v_;                     \
        where[q_] = at_;                  \
    } while (0)

/* Where it is: of equal ones the one that this quickselect, PyTorch's, brings to place k.  row and where are room for n. */
#define SELECTED(TYPE, NAME)                                                                            \
    static void NAME(const TYPE *x, TYPE *row, int64_t *where, int64_t *to, npy_intp rows, npy_intp n, npy_intp k) { \
        typedef TYPE T;                                                                                 \
        for (npy_intp r = 0; r < rows; r++) {                                                           \
            memcpy(row, x + r * n, (size_t)n * sizeof(T));                                              \
            for (npy_intp i = 0; i < n; i++) where[i] = i;                                              \
            npy_intp low = 0, high = n - 1;                                                             \
            while (high > low + 1) {                                                                    \
                SWAP(low + (high - low) / 2, low + 1);                                                  \
                if (ABOVE(row[low + 1], row[high])) SWAP(low + 1, high);                                \
                if (ABOVE(row[low], row[high])) SWAP(low, high);                                        \
                if (ABOVE(row[low + 1], row[low])) SWAP(low + 1, low);                                  \
                npy_intp i = low + 1, j = high;                                                         \
                const T pivot = row[low];                                                               \
                for (;;) {                                                                              \
                    do i++; while (ABOVE(pivot, row[i]));                                               \
                    do j--; while (ABOVE(row[j], pivot));                                               \
                    if (j < i) break;                                                                   \
                    SWAP(i, j);                                                                         \
                }                                                                                       \
                SWAP(low, j);                                                                           \
                if (j <= k) low = i;                                                                    \
                if (j >= k) high = j - 1;                                                               \
            }                                                                                           \
            if (high == low + 1 && ABOVE(row[low], row[high])) SWAP(low, high);                         \
            to[r] = where[k];                                                                           \
        }                                                                                               \
    }
SELECTED(float, floats_selected)
SELECTED(double, doubles_selected)
SELECTED(int64_t, longs_selected)
SELECTED(int32_t, ints_selected)

/* kth(x (..., n) of four or eight bytes, k from 0) -> (..., 1) of int64 */
KERNEL(kth, 2)
    PyObject *x = args[0];
    if (!PyArray_CheckExact(x) || !PyArray_ISCARRAY_RO(ARRAY(x)) || PyArray_NDIM(ARRAY(x)) == 0) Py_RETURN_NONE;
    const int type = PyArray_TYPE(ARRAY(x)), last = PyArray_NDIM(ARRAY(x)) - 1;
    if (type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_INT64 && type != NPY_INT32) Py_RETURN_NONE;
    const npy_intp n = PyArray_DIM(ARRAY(x), last), all = PyArray_SIZE(ARRAY(x));
    npy_intp k, sizes[NPY_MAXDIMS];
    if (!whole(args[1], &k) || k < 0 || k >= n) Py_RETURN_NONE;
    for (int d = 0; d < last; d++) sizes[d] = PyArray_DIM(ARRAY(x), d);
    sizes[last] = 1;
    void *row = PyMem_Malloc(times((size_t)n, sizeof(double)));
    int64_t *where = PyMem_Malloc(times((size_t)n, sizeof(int64_t)));
    PyObject *y = row == NULL || where == NULL ? PyErr_NoMemory() : PyArray_SimpleNew(last + 1, sizes, NPY_INT64);
    if (y != NULL) {
        int64_t *to = DATA(y);
        if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_selected(DATA(x), row, where, to, all / n, n, k));
        else if (type == NPY_DOUBLE) WITHOUT_GIL(all, doubles_selected(DATA(x), row, where, to, all / n, n, k));
        else if (type == NPY_INT64) WITHOUT_GIL(all, longs_selected(DATA(x), row, where, to, all / n, n, k));
        else WITHOUT_GIL(all, ints_selected(DATA(x), row, where, to, all / n, n, k));
    }
    PyMem_Free(row);
    PyMem_Free(where);
    return y;
END
