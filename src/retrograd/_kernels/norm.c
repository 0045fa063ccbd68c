/* Layer norm and RMS norm over the last dims, in two passes forward and one backward. */

#include "apply.h"
#include "kernels.h"

#define LOOPS(T, NAME, SQRT)                                                                                       \
    CLONES static void NAME##_norm(const T *restrict x, const T *restrict w, const T *restrict b, T *restrict y,    \
                                   T *restrict means, T *restrict rstds, npy_intp n, npy_intp c, double eps) {      \
        for (npy_intp i = 0; i < n; i++, x += c, y += c) {                                                          \
            T sum = 0, squares = 0;                                                                                 \
            SIMD_SUM(sum) for (npy_intp j = 0; j < c; j++) sum += x[j];                                             \
            const T mean = sum / (T)c;                                                                              \
            SIMD_SUM(squares) for (npy_intp j = 0; j < c; j++) squares += (x[j] - mean) * (x[j] - mean);            \
            const T rstd = 1 / SQRT(squares / (T)c + (T)eps);                                                       \
            means[i] = mean;                                                                                        \
            rstds[i] = rstd;                                                                                        \
            if (w && b) for (npy_intp j = 0; j < c; j++) y[j] = (x[j] - mean) * rstd * w[j] + b[j];                 \
            else if (w) for (npy_intp j = 0; j < c; j++) y[j] = (x[j] - mean) * rstd * w[j];                        \
            else if (b) for (npy_intp j = 0; j < c; j++) y[j] = (x[j] - mean) * rstd + b[j];                        \
            else for (npy_intp j = 0; j < c; j++) y[j] = (x[j] - mean) * rstd;                                      \
        }                                                                                                           \
    }                                                                                                               \
    CLONES static void NAME##_rms(const T *restrict x, const T *restrict w, T *restrict y, npy_intp n, npy_intp c,  \
                                  double eps) {                                                                     \
        for (npy_intp i = 0; i < n; i++, x += c, y += c) {                                                          \
            T squares = 0;                                                                                          \
            SIMD_SUM(squares) for (npy_intp j = 0; j < c; j++) squares += x[j] * x[j];                              \
            const T r = 1 / SQRT(squares / (T)c + (T)eps);                                                          \
            if (w) for (npy_intp j = 0; j < c; j++) y[j] = x[j] * r * w[j];                                         \
            else for (npy_intp j = 0; j < c; j++) y[j] = x[j] * r;                                                  \
        }                                                                                                           \
    }                                                                                                               \
    CLONES static void NAME##_norm_back(const T *restrict g, const T *restrict x, const T *restrict w,              \
                                        const T *restrict means, const T *restrict rstds, T *restrict gx,           \
                                        T *restrict gw, T *restrict gb, npy_intp n, npy_intp c) {                   \
        for (npy_intp i = 0; i < n; i++, g += c, x += c) {                                                          \
            const T mean = means[i], r = rstds[i];                                                                  \
            if (gw) for (npy_intp j = 0; j < c; j++) gw[j] += g[j] * ((x[j] - mean) * r);                           \
            if (gb) for (npy_intp j = 0; j < c; j++) gb[j] += g[j];                                                 \
            if (!gx) continue;                                                                                      \
            T a = 0, d = 0;                                                                                         \
            if (w) {                                                                                                \
                SIMD_SUM(a, d) for (npy_intp j = 0; j < c; j++) {                                                   \
                    const T h = g[j] * w[j];                                                                        \
                    a += h;                                                                                         \
                    d += h * ((x[j] - mean) * r);                                                                   \
                }                                                                                                   \
            } else {                                                                                                \
                SIMD_SUM(a, d) for (npy_intp j = 0; j < c; j++) {                                                   \
                    a += g[j];                                                                                      \
                    d += g[j] * ((x[j] - mean) * r);                                                                \
                }                                                                                                   \
            }                                                                                                       \
            a /= (T)c;                                                                                              \
            d /= (T)c;                                                                                              \
            if (w) for (npy_intp j = 0; j < c; j++) gx[j] = r * (g[j] * w[j] - a - (x[j] - mean) * r * d);          \
            else for (npy_intp j = 0; j < c; j++) gx[j] = r * (g[j] - a - (x[j] - mean) * r * d);                   \
            gx += c;                                                                                                \
        }                                                                                                           \
    }

LOOPS(float, floats, sqrtf)
LOOPS(double, doubles, sqrt)

/* The number of rows n and their length c, when x is ours and w and b (or None) have the shape of its last k dims. */
static int split(PyObject *x, PyObject *w, PyObject *b, npy_intp k, npy_intp *n, npy_intp *c) {
    int type = kind_of(x), ndim;
    if (type < 0) return -1;
    ndim = PyArray_NDIM(ARRAY(x));
    if (k < 1 || k > ndim) return -1;
    *c = PyArray_MultiplyList(PyArray_DIMS(ARRAY(x)) + ndim - k, (int)k);
    *n = PyArray_MultiplyList(PyArray_DIMS(ARRAY(x)), ndim - (int)k);
    PyObject *both[2] = {w, b};
    for (int i = 0; i < 2; i++)
        if (both[i] != Py_None && (kind_of(both[i]) != type || PyArray_SIZE(ARRAY(both[i])) != *c)) return -1;
    return *c ? type : -1;
}

static void *data_or_null(PyObject *x) { return x == NULL || x == Py_None ? NULL : DATA(x); }

/* layer_norm(x, w or None, b or None, k, eps) -> (y, mean, rstd), the two with k dims of 1 at the end */
KERNEL(layer_norm, 5)
    npy_intp n, c, dims[NPY_MAXDIMS];
    npy_intp k;
    double eps;
    if (!whole(args[3], &k) || !numbers(args + 4, 1, &eps)) Py_RETURN_NONE;
    int type = split(args[0], args[1], args[2], k, &n, &c);
    if (type < 0) Py_RETURN_NONE;
    int ndim = PyArray_NDIM(ARRAY(args[0]));
    for (int i = 0; i < ndim; i++) dims[i] = i < ndim - k ? PyArray_DIM(ARRAY(args[0]), i) : 1;
    PyObject *y = new_like(args[0]), *mean = PyArray_SimpleNew(ndim, dims, type);
    PyObject *rstd = PyArray_SimpleNew(ndim, dims, type);
    PyObject *out = y && mean && rstd ? PyTuple_New(3) : NULL;
    if (out == NULL) {
        Py_XDECREF(y);
        Py_XDECREF(mean);
        Py_XDECREF(rstd);
        return NULL;
    }
    PyTuple_SET_ITEM(out, 0, y);
    PyTuple_SET_ITEM(out, 1, mean);
    PyTuple_SET_ITEM(out, 2, rstd);
    void *w = data_or_null(args[1]), *b = data_or_null(args[2]), *x = DATA(args[0]);
    if (type == NPY_FLOAT) WITHOUT_GIL(n * c, floats_norm(x, w, b, DATA(y), DATA(mean), DATA(rstd), n, c, eps));
    else WITHOUT_GIL(n * c, doubles_norm(x, w, b, DATA(y), DATA(mean), DATA(rstd), n, c, eps));
    return out;
END

/* rms_norm(x, w or None, k, eps) -> y */
KERNEL(rms_norm, 4)
    npy_intp n, c;
    npy_intp k;
    double eps;
    if (!whole(args[2], &k) || !numbers(args + 3, 1, &eps)) Py_RETURN_NONE;
    int type = split(args[0], args[1], Py_None, k, &n, &c);
    if (type < 0) Py_RETURN_NONE;
    PyObject *y = new_like(args[0]);
    if (y == NULL) return NULL;
    void *x = DATA(args[0]), *w = data_or_null(args[1]);
    if (type == NPY_FLOAT) WITHOUT_GIL(n * c, floats_rms(x, w, DATA(y), n, c, eps));
    else WITHOUT_GIL(n * c, doubles_rms(x, w, DATA(y), n, c, eps));
    return y;
END

/* layer_norm_grad(g, x, w or None, mean, rstd, k, want x, want w, want b) -> (gx, gw, gb), None where not wanted;
   gw and gb have the shape of the last k dims */
KERNEL(layer_norm_grad, 9)
    npy_intp n, c, k;
    if (!whole(args[5], &k)) Py_RETURN_NONE;
    int type = split(args[1], args[2], Py_None, k, &n, &c);
    if (type < 0 || kind_of(args[3]) != type || kind_of(args[4]) != type || PyArray_SIZE(ARRAY(args[3])) != n
        || PyArray_SIZE(ARRAY(args[4])) != n) Py_RETURN_NONE;
    PyObject *g = ordered(args[0], args[1], type);
    if (g == NULL) Py_RETURN_NONE;
    npy_intp *last = PyArray_DIMS(ARRAY(args[1])) + PyArray_NDIM(ARRAY(args[1])) - k;
    PyObject *out = PyTuple_New(3), *made[3] = {NULL, NULL, NULL};
    for (int i = 0; out != NULL && i < 3; i++) {
        if (args[6 + i] != Py_True) made[i] = Py_NewRef(Py_None);
        else made[i] = i == 0 ? new_like(args[1]) : PyArray_ZEROS((int)k, last, type, 0);
        if (made[i] == NULL) Py_CLEAR(out);
        else PyTuple_SET_ITEM(out, i, made[i]);
    }
    if (out != NULL) {
        void *x = DATA(args[1]), *w = data_or_null(args[2]), *mean = DATA(args[3]), *rstd = DATA(args[4]);
        void *gx = data_or_null(made[0]), *gw = data_or_null(made[1]), *gb = data_or_null(made[2]);
        if (type == NPY_FLOAT) WITHOUT_GIL(n * c, floats_norm_back(DATA(g), x, w, mean, rstd, gx, gw, gb, n, c));
        else WITHOUT_GIL(n * c, doubles_norm_back(DATA(g), x, w, mean, rstd, gx, gw, gb, n, c));
    }
    Py_DECREF(g);
    return out;
END
