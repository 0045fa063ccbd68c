/* The greatest or least of each group along neighbouring dims.  A NaN wins. */

#include "kernel.h"
#include "kernels.h"

#define GREATER(v, best) ((v) > (best))
#define SMALLER(v, best) ((v) < (best))
#define BETTER(BEYOND, v, best) (BEYOND(v, best) | ((v) != (v)) ? (v) : (best))

/* Rows of n numbers, n a constant. */
#define SHORT_ROWS(T, BEYOND, n)                                             \
    for (npy_intp r = 0; r < rows; r++) {                                    \
        T best = x[r * (n)];                                                 \
        for (npy_intp i = 1; i < (n); i++) best = BETTER(BEYOND, x[r * (n) + i], best); \
        y[r] = best;                                                         \
    }

/* x (outer, n, inner), no size 0 -> y (outer, inner) */
#define EXTREME(T, NAME, BEYOND)                                                                            \
    CLONES static void NAME##_short(const T *restrict x, T *restrict y, npy_intp rows, npy_intp n) {        \
        if (n == 2) SHORT_ROWS(T, BEYOND, 2)                                                                \
        else if (n == 3) SHORT_ROWS(T, BEYOND, 3)                                                           \
        else if (n == 4) SHORT_ROWS(T, BEYOND, 4)                                                           \
        else SHORT_ROWS(T, BEYOND, n)                                                                       \
    }                                                                                                       \
    CLONES static T NAME##_row(const T *x, npy_intp n) {                                                    \
        T best[LANES];                                                                                      \
        for (int k = 0; k < LANES; k++) best[k] = x[k];                                                     \
        npy_intp i = LANES;                                                                                 \
        for (; i <= n - LANES; i += LANES)                                                                  \
            SIMD for (int k = 0; k < LANES; k++) best[k] = BETTER(BEYOND, x[i + k], best[k]);               \
        for (; i < n; i++) best[0] = BETTER(BEYOND, x[i], best[0]);                                         \
        for (int k = 1; k < LANES; k++) best[0] = BETTER(BEYOND, best[k], best[0]);                          \
        return best[0];                                                                                     \
    }                                                                                                       \
    CLONES static void NAME##_columns(const T *restrict x, T *restrict y, npy_intp n, npy_intp inner) {     \
        memcpy(y, x, (size_t)inner * sizeof(T));                                                            \
        for (npy_intp i = 1; i < n; i++)                                                                    \
            SIMD for (npy_intp j = 0; j < inner; j++)                                                       \
                y[j] = BETTER(BEYOND, x[i * inner + j], y[j]);                                              \
    }                                                                                                       \
    static void NAME(const T *x, T *y, npy_intp outer, npy_intp n, npy_intp inner) {                        \
        if (inner == 1 && n < 2 * LANES) NAME##_short(x, y, outer, n);                                      \
        else if (inner == 1) for (npy_intp o = 0; o < outer; o++) y[o] = NAME##_row(x + o * n, n);          \
        else for (npy_intp o = 0; o < outer; o++) NAME##_columns(x + o * n * inner, y + o * inner, n, inner); \
    }
enum { LANES = 32 };
EXTREME(float, floats_greatest, GREATER)
EXTREME(float, floats_least, SMALLER)
EXTREME(double, doubles_greatest, GREATER)
EXTREME(double, doubles_least, SMALLER)

/* extreme(x, dims, keep them, greatest): dims non-negative, in order, neighbours */
KERNEL(extreme, 4)
    PyObject *x = args[0];
    const int type = kind_of(x), ndim = type < 0 ? 0 : PyArray_NDIM(ARRAY(x)), keep = args[2] == Py_True;
    const Py_ssize_t many = PyTuple_Check(args[1]) ? PyTuple_GET_SIZE(args[1]) : 0;
    if (type < 0 || many > ndim || (many == 0 && ndim > 0)) Py_RETURN_NONE;
    npy_intp first = 0, sizes[NPY_MAXDIMS], outer = 1, n = 1, inner = 1;
    int left = 0;
    for (Py_ssize_t k = 0; k < many; k++) {
        npy_intp d;
        if (!whole(PyTuple_GET_ITEM(args[1], k), &d) || d < 0 || d >= ndim || (k > 0 && d != first + k)) Py_RETURN_NONE;
        if (k == 0) first = d;
    }
    for (int d = 0; d < ndim; d++) {
        const npy_intp size = PyArray_DIM(ARRAY(x), d);
        if (size == 0) Py_RETURN_NONE;
        if (d < first) outer *= size;
        else if (d < first + many) n *= size;
        else inner *= size;
        if (d < first || d >= first + many) sizes[left++] = size;
        else if (keep) sizes[left++] = 1;
    }
    PyObject *y = PyArray_SimpleNew(left, sizes, type);
    if (y == NULL) return NULL;
    const npy_intp all = outer * n * inner;
    if (type == NPY_FLOAT && args[3] == Py_True) WITHOUT_GIL(all, floats_greatest(DATA(x), DATA(y), outer, n, inner));
    else if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_least(DATA(x), DATA(y), outer, n, inner));
    else if (args[3] == Py_True) WITHOUT_GIL(all, doubles_greatest(DATA(x), DATA(y), outer, n, inner));
    else WITHOUT_GIL(all, doubles_least(DATA(x), DATA(y), outer, n, inner));
    return y;
END
