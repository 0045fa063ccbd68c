/* Statistics of channels, and normalising by them: x (N, C, L) in C order, whatever dims L stands for. */

#include "kernel.h"
#include "kernels.h"

#define SUMS(T, NAME)                                                                                               \
    /* of each channel, to sum (C): x - off, or its square; off may be NULL */                                      \
    CLONES static void NAME##_sums(const T *restrict x, const double *restrict off, double *restrict sum, npy_intp n, \
                                   npy_intp c, npy_intp l) {                                                        \
        for (npy_intp i = 0; i < c; i++) sum[i] = 0;                                                                \
        for (npy_intp k = 0; k < n; k++, x += c * l) {                                                              \
            if (l == 1 && off == NULL) {                                                                            \
                SIMD for (npy_intp i = 0; i < c; i++) sum[i] += x[i];                                               \
            } else if (l == 1) {                                                                                    \
                SIMD for (npy_intp i = 0; i < c; i++) sum[i] += (x[i] - off[i]) * (x[i] - off[i]);                  \
            } else {                                                                                                \
                for (npy_intp i = 0; i < c; i++) {                                                                  \
                    const T *row = x + i * l;                                                                       \
                    double s = 0;                                                                                   \
                    const double m = off ? off[i] : 0;                                                              \
                    if (off) SIMD_SUM(s) for (npy_intp j = 0; j < l; j++) s += (row[j] - m) * (row[j] - m);         \
                    else SIMD_SUM(s) for (npy_intp j = 0; j < l; j++) s += row[j];                                  \
                    sum[i] += s;                                                                                    \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
    CLONES static void NAME##_affine(const T *restrict x, const T *restrict mean, const T *restrict rstd,           \
                                     const T *restrict w, const T *restrict b, T *restrict y, npy_intp n,           \
                                     npy_intp c, npy_intp l) {                                                      \
        for (npy_intp k = 0; k < n; k++) {                                                                          \
            if (l == 1) {                                                                                           \
                for (npy_intp i = 0; i < c; i++) y[i] = (x[i] - mean[i]) * rstd[i];                                 \
                if (w) for (npy_intp i = 0; i < c; i++) y[i] *= w[i];                                               \
                if (b) for (npy_intp i = 0; i < c; i++) y[i] += b[i];                                               \
                x += c;                                                                                             \
                y += c;                                                                                             \
                continue;                                                                                           \
            }                                                                                                       \
            for (npy_intp i = 0; i < c; i++, x += l, y += l) {                                                      \
                const T m = mean[i], r = rstd[i], f = w ? w[i] : 1, t = b ? b[i] : 0;                               \
                SIMD for (npy_intp j = 0; j < l; j++) y[j] = (x[j] - m) * r * f + t;                                \
            }                                                                                                       \
        }                                                                                                           \
    }
SUMS(float, floats)
SUMS(double, doubles)

/* x (N, C, ...): its sizes; 0 for every other */
static int channels_of(PyObject *x, npy_intp *n, npy_intp *c, npy_intp *l) {
    if (kind_of(x) < 0 || PyArray_NDIM(ARRAY(x)) < 2 || PyArray_SIZE(ARRAY(x)) == 0) return 0;
    *n = PyArray_DIM(ARRAY(x), 0);
    *c = PyArray_DIM(ARRAY(x), 1);
    *l = PyArray_SIZE(ARRAY(x)) / (*n * *c);
    return 1;
}

/* channel_stats(x) -> (mean (C,), variance (C,)), the variance over the number */
KERNEL(channel_stats, 1)
    npy_intp n, c, l;
    PyObject *x = args[0];
    if (!channels_of(x, &n, &c, &l)) Py_RETURN_NONE;
    int type = kind_of(x);
    double *sums = PyMem_Malloc((size_t)c * 2 * sizeof(double));
    PyObject *mean = PyArray_SimpleNew(1, &c, type), *var = mean ? PyArray_SimpleNew(1, &c, type) : NULL;
    if (sums == NULL || var == NULL) {
        PyMem_Free(sums);
        Py_XDECREF(mean);
        Py_XDECREF(var);
        return PyErr_NoMemory();
    }
    double *off = sums, *squares = sums + c;
    NPY_BEGIN_THREADS_DEF;
    if (n * c * l > RELEASE_AT) NPY_BEGIN_THREADS;
    if (type == NPY_FLOAT) floats_sums(DATA(x), NULL, off, n, c, l);
    else doubles_sums(DATA(x), NULL, off, n, c, l);
    for (npy_intp i = 0; i < c; i++) off[i] /= (double)(n * l);
    if (type == NPY_FLOAT) floats_sums(DATA(x), off, squares, n, c, l);
    else doubles_sums(DATA(x), off, squares, n, c, l);
    for (npy_intp i = 0; i < c; i++) {
        if (type == NPY_FLOAT) {
            ((float *)DATA(mean))[i] = (float)off[i];
            ((float *)DATA(var))[i] = (float)(squares[i] / (double)(n * l));
        } else {
            ((double *)DATA(mean))[i] = off[i];
            ((double *)DATA(var))[i] = squares[i] / (double)(n * l);
        }
    }
    NPY_END_THREADS;
    PyMem_Free(sums);
    return Py_BuildValue("NN", mean, var);
END

/* channel_affine(x, mean, rstd, w or None, b or None) -> (x - mean) * rstd * w + b, each with C numbers */
KERNEL(channel_affine, 5)
    npy_intp n, c, l;
    PyObject *x = args[0];
    if (!channels_of(x, &n, &c, &l)) Py_RETURN_NONE;
    int type = kind_of(x);
    for (int i = 1; i < 5; i++)
        if ((i < 3 || args[i] != Py_None) && (kind_of(args[i]) != type || PyArray_SIZE(ARRAY(args[i])) != c)) Py_RETURN_NONE;
    PyObject *y = new_like(x);
    if (y == NULL) return NULL;
    void *w = args[3] == Py_None ? NULL : DATA(args[3]), *b = args[4] == Py_None ? NULL : DATA(args[4]);
    npy_intp all = n * c * l;
    if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_affine(DATA(x), DATA(args[1]), DATA(args[2]), w, b, DATA(y), n, c, l));
    else WITHOUT_GIL(all, doubles_affine(DATA(x), DATA(args[1]), DATA(args[2]), w, b, DATA(y), n, c, l));
    return y;
END

#define PRELU(T, NAME)                                                                                            \
    CLONES static void NAME(const T *restrict x, const T *restrict w, T *restrict y, npy_intp n, npy_intp c,      \
                            npy_intp l, npy_intp step) {                                                          \
        for (npy_intp k = 0; k < n; k++) {                                                                        \
            for (npy_intp i = 0; i < c; i++, x += l, y += l) {                                                    \
                const T f = w[i * step];                                                                          \
                SIMD for (npy_intp j = 0; j < l; j++) y[j] = x[j] > 0 ? x[j] : x[j] * f;                          \
            }                                                                                                     \
        }                                                                                                         \
    }
PRELU(float, floats_prelu)
PRELU(double, doubles_prelu)

/* prelu(x (N, C, ...), w): x where positive, else w * x; w has C numbers, or one */
KERNEL(prelu, 2)
    npy_intp n, c, l;
    PyObject *x = args[0], *w = args[1];
    if (!channels_of(x, &n, &c, &l) || kind_of(w) != kind_of(x)) Py_RETURN_NONE;
    npy_intp many = PyArray_SIZE(ARRAY(w)), ndim = PyArray_NDIM(ARRAY(w));
    if (many != 1 && (many != c || (ndim > 1 && (ndim != PyArray_NDIM(ARRAY(x)) || PyArray_DIM(ARRAY(w), 1) != c))
                      || (ndim == 1 && PyArray_NDIM(ARRAY(x)) > 2))) Py_RETURN_NONE;
    if (ndim > PyArray_NDIM(ARRAY(x))) Py_RETURN_NONE;
    PyObject *y = new_like(x);
    if (y == NULL) return NULL;
    npy_intp all = n * c * l;
    if (many == 1) {                                    /* one row */
        n = c = 1;
        l = all;
    }
    if (kind_of(x) == NPY_FLOAT) WITHOUT_GIL(all, floats_prelu(DATA(x), DATA(w), DATA(y), n, c, l, many != 1));
    else WITHOUT_GIL(all, doubles_prelu(DATA(x), DATA(w), DATA(y), n, c, l, many != 1));
    return y;
END
