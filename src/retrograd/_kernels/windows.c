/* Pooling: maxima and sums over windows of two spatial dims, and their adjoints.

   x (N, C, H, W)   windows (KH, KW) at (OH, OW) places.  One spatial dim is two, the first of size 1. */

#include "kernel.h"
#include "kernels.h"
#include "windows.h"

#define LOOPS(T, NAME)                                                                                              \
    CLONES static void NAME##_sums(const T *restrict x, T *restrict y, const Windows *o) {                          \
        for (npy_intp n = 0; n < o->n * o->c; n++, x += o->h * o->w)                                                \
            for (npy_intp p = 0; p < o->oh; p++, y += o->ow) {                                                      \
                for (npy_intp q = 0; q < o->ow; q++) y[q] = 0;                                                      \
                for (npy_intp i = 0; i < o->kh; i++) {                                                              \
                    const npy_intp down = p * o->sh + i * o->dh - o->ph;                                            \
                    if (down < 0 || down >= o->h) continue;                                                         \
                    for (npy_intp j = 0; j < o->kw; j++) {                                                          \
                        const npy_intp right = j * o->dw - o->pw;                                                   \
                        npy_intp first, stop;                                                                       \
                        span(o->w, o->sw, right, o->ow, &first, &stop);                                             \
                        for (npy_intp q = first; q < stop; q++) y[q] += x[down * o->w + right + q * o->sw];         \
                    }                                                                                               \
                }                                                                                                   \
            }                                                                                                       \
    }                                                                                                               \
    CLONES static void NAME##_spread(const T *restrict g, T *restrict x, const Windows *o) {                        \
        for (npy_intp n = 0; n < o->n * o->c; n++, x += o->h * o->w)                                                \
            for (npy_intp p = 0; p < o->oh; p++, g += o->ow)                                                        \
                for (npy_intp i = 0; i < o->kh; i++) {                                                              \
                    const npy_intp down = p * o->sh + i * o->dh - o->ph;                                            \
                    if (down < 0 || down >= o->h) continue;                                                         \
                    for (npy_intp j = 0; j < o->kw; j++) {                                                          \
                        const npy_intp right = j * o->dw - o->pw;                                                   \
                        npy_intp first, stop;                                                                       \
                        span(o->w, o->sw, right, o->ow, &first, &stop);                                             \
                        for (npy_intp q = first; q < stop; q++) x[down * o->w + right + q * o->sw] += g[q];         \
                    }                                                                                               \
                }                                                                                                   \
    }                                                                                                               \
    /* The same for windows longer than x, taking only steps inside of it; every sum is added up in the same order */ \
    static void NAME##_long_sums(const T *x, T *y, const Windows *o) {                                              \
        for (npy_intp n = 0; n < o->n * o->c; n++, x += o->h * o->w)                                                \
            for (npy_intp p = 0; p < o->oh; p++)                                                                    \
                for (npy_intp q = 0; q < o->ow; q++, y++) {                                                         \
                    npy_intp top, end, first, stop;                                                                 \
                    span(o->h, o->dh, p * o->sh - o->ph, o->kh, &top, &end);                                        \
                    span(o->w, o->dw, q * o->sw - o->pw, o->kw, &first, &stop);                                     \
                    *y = 0;                                                                                         \
                    for (npy_intp i = top; i < end; i++)                                                            \
                        for (npy_intp j = first; j < stop; j++)                                                     \
                            *y += x[(p * o->sh - o->ph + i * o->dh) * o->w + q * o->sw - o->pw + j * o->dw];        \
                }                                                                                                   \
    }                                                                                                               \
    static void NAME##_long_spread(const T *g, T *x, const Windows *o) {                                            \
        for (npy_intp n = 0; n < o->n * o->c; n++, x += o->h * o->w)                                                \
            for (npy_intp p = 0; p < o->oh; p++, g += o->ow)                                                        \
                for (npy_intp q = o->ow - 1; q >= 0; q--) {                                                         \
                    npy_intp top, end, first, stop;                                                                 \
                    span(o->h, o->dh, p * o->sh - o->ph, o->kh, &top, &end);                                        \
                    span(o->w, o->dw, q * o->sw - o->pw, o->kw, &first, &stop);                                     \
                    for (npy_intp i = top; i < end; i++)                                                            \
                        for (npy_intp j = first; j < stop; j++)                                                     \
                            x[(p * o->sh - o->ph + i * o->dh) * o->w + q * o->sw - o->pw + j * o->dw] += g[q];      \
                }                                                                                                   \
    }                                                                                                               \
    CLONES static void NAME##_maxima(const T *restrict x, T *restrict y, int64_t *restrict where, npy_intp planes,  \
                                     npy_intp hw, const int32_t *restrict taps, int32_t *restrict best, npy_intp p, \
                                     npy_intp k) {                                                                  \
        for (npy_intp n = 0; n < planes; n++, x += hw, y += p, where += p) {                                        \
            for (npy_intp q = 0; q < p; q++) {                                                                      \
                best[q] = taps[q];                                                                                  \
                y[q] = x[taps[q]];                                                                                  \
            }                                                                                                       \
            for (npy_intp i = 1; i < k; i++) {                                                                      \
                const int32_t *restrict at = taps + i * p;                                                          \
                SIMD for (npy_intp q = 0; q < p; q++) {                                                             \
                    const T v = x[at[q]];                                                                           \
                    const int better = (v > y[q]) | (v != v);       /* of NaNs the last */                          \
                    y[q] = better ? v : y[q];                                                                       \
                    best[q] = better ? at[q] : best[q];                                                             \
                }                                                                                                   \
            }                                                                                                       \
            for (npy_intp q = 0; q < p; q++) where[q] = best[q];                                                    \
        }                                                                                                           \
    }                                                                                                               \
    /* whether a place was out of bounds */                                                                         \
    static int NAME##_place(const T *restrict g, const int64_t *restrict where, T *restrict x, npy_intp planes,     \
                            npy_intp p, npy_intp m) {                                                               \
        int bad = 0;                                                                                                \
        for (npy_intp n = 0; n < planes; n++, g += p, where += p, x += m)                                           \
            for (npy_intp q = 0; q < p; q++) x[inside(READ(where[q]), m, &bad)] += g[q];                            \
        return bad;                                                                                                 \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

/* x of ours with at least two dims, the last two H and W: a new array with (h, w) in their place; planes: all others */
static PyObject *replace_last(PyObject *x, npy_intp h, npy_intp w, int zero, npy_intp *planes) {
    npy_intp dims[NPY_MAXDIMS];
    int ndim = PyArray_NDIM(ARRAY(x));
    *planes = 1;
    for (int i = 0; i < ndim - 2; i++) *planes *= dims[i] = PyArray_DIM(ARRAY(x), i);
    dims[ndim - 2] = h;
    dims[ndim - 1] = w;
    int type = PyArray_TYPE(ARRAY(x));
    return zero ? PyArray_ZEROS(ndim, dims, type, 0) : PyArray_SimpleNew(ndim, dims, type);
}

static int planes_of(PyObject *x, npy_intp h, npy_intp w) {
    int type = kind_of(x), ndim;
    if (type < 0 || (ndim = PyArray_NDIM(ARRAY(x))) < 2) return -1;
    return PyArray_DIM(ARRAY(x), ndim - 2) == h && PyArray_DIM(ARRAY(x), ndim - 1) == w ? type : -1;
}

static PyObject *summed(PyObject *x, PyObject *windows, int back) {
    Windows o;
    if (!windows_of(windows, &o)) Py_RETURN_NONE;
    const int type = back ? planes_of(x, o.oh, o.ow) : planes_of(x, o.h, o.w);
    if (type < 0) Py_RETURN_NONE;
    PyObject *y = back ? replace_last(x, o.h, o.w, 1, &o.n) : replace_last(x, o.oh, o.ow, 0, &o.n);
    if (y == NULL) return NULL;
    o.c = 1;
    const npy_intp size = PyArray_SIZE(ARRAY(back ? y : x));
    if (PyArray_SIZE(ARRAY(back ? x : y)) == 0) return y;
    const int spread = back != 0, at = o.kh > o.h || o.kw > o.w ? 2 + spread : spread;
    void (*const singles[4])(const float *, float *, const Windows *) = {floats_sums, floats_spread, floats_long_sums, floats_long_spread};
    void (*const twice[4])(const double *, double *, const Windows *) = {
        doubles_sums, doubles_spread, doubles_long_sums, doubles_long_spread};
    if (type == NPY_FLOAT) WITHOUT_GIL(size, singles[at](DATA(x), DATA(y), &o));
    else WITHOUT_GIL(size, twice[at](DATA(x), DATA(y), &o));
    return y;
}

/* window_sums(x (..., H, W), windows) -> (..., OH, OW) */
KERNEL(window_sums, 2)
    return summed(args[0], args[1], 0);
END

/* spread_sums(g (..., OH, OW), windows) -> (..., H, W): the adjoint */
KERNEL(spread_sums, 2)
    return summed(args[0], args[1], 1);
END

/* Positions (P, K), K not 0 */
static const int64_t *taps_of(PyObject *x, npy_intp *p, npy_intp *k) {
    if (!PyArray_CheckExact(x) || PyArray_TYPE(ARRAY(x)) != NPY_INT64 || !PyArray_ISCARRAY_RO(ARRAY(x))
        || PyArray_NDIM(ARRAY(x)) != 2) return NULL;
    *p = PyArray_DIM(ARRAY(x), 0);
    *k = PyArray_DIM(ARRAY(x), 1);
    return *k ? DATA(x) : NULL;
}

/* max_pool(x (..., H, W), taps down (OH, KH), taps right (OW, KW)) -> (maxima, their positions in H W) */
KERNEL(max_pool, 3)
    PyObject *x = args[0];
    int type = kind_of(x), ndim;
    if (type < 0 || (ndim = PyArray_NDIM(ARRAY(x))) < 2) Py_RETURN_NONE;
    npy_intp h = PyArray_DIM(ARRAY(x), ndim - 2), w = PyArray_DIM(ARRAY(x), ndim - 1), oh = 0, ow = 0, kh = 0, kw = 0, planes;
    const int64_t *th = taps_of(args[1], &oh, &kh), *tw = taps_of(args[2], &ow, &kw);
    if (th == NULL || tw == NULL) Py_RETURN_NONE;
    const size_t places = times(oh, ow), each = times(kh, kw), all = times(sizeof(int32_t), times(places, plus(each, 1)));
    if (times(h, w) > INT32_MAX || (places && (h == 0 || w == 0))) Py_RETURN_NONE;
    npy_intp p = (npy_intp)places, k = places ? (npy_intp)each : 0;
    int32_t *taps = PyMem_Malloc(all), *next = taps;    /* (KH KW, OH OW): positions in H W; then the best */
    if (taps == NULL) return PyErr_NoMemory();
    int bad = 0;
    for (npy_intp i = 0; i < k; i++)
        for (npy_intp q = 0; q < p; q++)
            *next++ = (int32_t)(inside(READ(th[q / ow * kh + i / kw]), h, &bad) * w + inside(READ(tw[q % ow * kw + i % kw]), w, &bad));
    if (bad) {
        PyMem_Free(taps);
        Py_RETURN_NONE;
    }
    PyObject *y = replace_last(x, oh, ow, 0, &planes);
    PyObject *where = y ? PyArray_SimpleNew(ndim, PyArray_DIMS(ARRAY(y)), NPY_INT64) : NULL;
    PyObject *out = where ? PyTuple_Pack(2, y, where) : NULL;
    if (out != NULL && p) {
        npy_intp size = PyArray_SIZE(ARRAY(x));
        if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_maxima(DATA(x), DATA(y), DATA(where), planes, h * w, taps, next, p, k));
        else WITHOUT_GIL(size, doubles_maxima(DATA(x), DATA(y), DATA(where), planes, h * w, taps, next, p, k));
    }
    PyMem_Free(taps);
    Py_XDECREF(y);
    Py_XDECREF(where);
    return out;
END

/* place_at(g (..., OH, OW), where (the same), H, W) -> zeros (..., H, W) with g added at positions in H W */
KERNEL(place_at, 4)
    PyObject *g = args[0], *where = args[1];
    int type = kind_of(g), ndim;
    if (type < 0 || (ndim = PyArray_NDIM(ARRAY(g))) < 2 || !PyArray_CheckExact(where)
        || PyArray_TYPE(ARRAY(where)) != NPY_INT64 || !PyArray_ISCARRAY_RO(ARRAY(where)) || !same_shape(g, where))
        Py_RETURN_NONE;
    npy_intp h, w, planes, size = PyArray_SIZE(ARRAY(g));
    int bad = 0;
    if (!whole(args[2], &h) || !whole(args[3], &w) || h < 0 || w < 0 || (size && (h == 0 || w == 0))) Py_RETURN_NONE;
    PyObject *x = replace_last(g, h, w, 1, &planes);
    if (x == NULL) return NULL;
    if (size == 0) return x;
    npy_intp p = size / planes;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, bad = floats_place(DATA(g), DATA(where), DATA(x), planes, p, h * w));
    else WITHOUT_GIL(size, bad = doubles_place(DATA(g), DATA(where), DATA(x), planes, p, h * w));
    return unless(bad, x);
END
