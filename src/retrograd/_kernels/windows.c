/* Sliding windows over two spatial dims: the columns of a convolution, maxima, sums, and their adjoints.

   x (N, C, H, W)   windows (KH, KW) at (OH, OW) places.  One spatial dim is two, the first of size 1. */

#include "kernel.h"
#include "kernels.h"

typedef struct {
    npy_intp n, c, h, w, kh, kw, sh, sw, ph, pw, dh, dw, oh, ow;
} Windows;

#define PLANE 1024 /* elements of a plane that is copied before it is added */

/* The columns j for which 0 <= j * stride + at < size, as [first, stop). */
static inline void span(npy_intp size, npy_intp stride, npy_intp at, npy_intp out, npy_intp *first, npy_intp *stop) {
    *first = at >= 0 ? 0 : (-at + stride - 1) / stride;
    *stop = size - 1 < at ? 0 : (size - 1 - at) / stride + 1;
    if (*stop > out) *stop = out;
    if (*first > *stop) *first = *stop;
}

#define LOOPS(T, NAME)                                                                                              \
    CLONES static void NAME##_columns(const T *restrict x, T *restrict y, const Windows *o) {                       \
        for (npy_intp c = 0; c < o->c; c++)                                                                         \
            for (npy_intp i = 0; i < o->kh; i++)                                                                    \
                for (npy_intp j = 0; j < o->kw; j++) {                                                              \
                    const npy_intp right = j * o->dw - o->pw, s = o->sw;                                            \
                    npy_intp first, stop;                                                                           \
                    span(o->w, s, right, o->ow, &first, &stop);                                                     \
                    const npy_intp hw = o->h * o->w, shift = (i * o->dh - o->ph) * o->w + right;                    \
                    const int flat = o->oh == o->h && o->ow == o->w && o->sh == 1 && s == 1 && shift < hw && -shift < hw;\
                    for (npy_intp n = 0; flat && n < o->n; n++, y += hw) {                                          \
                        /* as large as x: the plane shifted as one piece, then zeros where rows ran into each other */\
                        const T *plane = x + (n * o->c + c) * hw;                                                   \
                        const npy_intp low = shift < 0 ? -shift : 0, high = shift < 0 ? hw : hw - shift;            \
                        for (npy_intp q = 0; q < low; q++) y[q] = 0;                                                \
                        memcpy(y + low, plane + low + shift, sizeof(T) * (high - low));                             \
                        for (npy_intp q = high; q < hw; q++) y[q] = 0;                                              \
                        for (npy_intp q = 0; q < first; q++)                                                        \
                            for (npy_intp p = 0; p < o->oh; p++) y[p * o->ow + q] = 0;                              \
                        for (npy_intp q = stop; q < o->ow; q++)                                                     \
                            for (npy_intp p = 0; p < o->oh; p++) y[p * o->ow + q] = 0;                              \
                    }                                                                                               \
                    for (npy_intp n = 0; !flat && n < o->n; n++) {                                                           \
                        const T *plane = x + (n * o->c + c) * o->h * o->w;                                          \
                        for (npy_intp p = 0; p < o->oh; p++, y += o->ow) {                                          \
                            const npy_intp down = p * o->sh + i * o->dh - o->ph;                                    \
                            if (down < 0 || down >= o->h) {                                                         \
                                for (npy_intp q = 0; q < o->ow; q++) y[q] = 0;                                      \
                                continue;                                                                           \
                            }                                                                                       \
                            const T *row = plane + down * o->w + right;                                             \
                            for (npy_intp q = 0; q < first; q++) y[q] = 0;                                          \
                            if (s == 1) for (npy_intp q = first; q < stop; q++) y[q] = row[q];                      \
                            else for (npy_intp q = first; q < stop; q++) y[q] = row[q * s];                         \
                            for (npy_intp q = stop; q < o->ow; q++) y[q] = 0;                                       \
                        }                                                                                           \
                    }                                                                                               \
                }                                                                                                   \
    }                                                                                                               \
    CLONES static void NAME##_uncolumns(const T *restrict y, T *restrict x, const Windows *o) {                     \
        for (npy_intp c = 0; c < o->c; c++)                                                                         \
            for (npy_intp i = 0; i < o->kh; i++)                                                                    \
                for (npy_intp j = 0; j < o->kw; j++) {                                                              \
                    const npy_intp right = j * o->dw - o->pw, s = o->sw;                                            \
                    npy_intp first, stop;                                                                           \
                    span(o->w, s, right, o->ow, &first, &stop);                                                     \
                    const npy_intp hw = o->h * o->w, shift = (i * o->dh - o->ph) * o->w + right;                    \
                    const int flat = o->oh == o->h && o->ow == o->w && o->sh == 1 && s == 1 && shift < hw && -shift < hw\
                                     && hw <= PLANE;                                                                \
                    for (npy_intp n = 0; flat && n < o->n; n++, y += hw) {                                          \
                        /* see columns: first without what would run into other rows, then in one piece */          \
                        T *plane = x + (n * o->c + c) * hw, part[PLANE];                                            \
                        const npy_intp low = shift < 0 ? -shift : 0, high = shift < 0 ? hw : hw - shift;            \
                        memcpy(part, y, sizeof(T) * hw);                                                            \
                        for (npy_intp q = 0; q < first; q++)                                                        \
                            for (npy_intp p = 0; p < o->oh; p++) part[p * o->ow + q] = 0;                           \
                        for (npy_intp q = stop; q < o->ow; q++)                                                     \
                            for (npy_intp p = 0; p < o->oh; p++) part[p * o->ow + q] = 0;                           \
                        for (npy_intp q = low; q < high; q++) plane[q + shift] += part[q];                          \
                    }                                                                                               \
                    for (npy_intp n = 0; !flat && n < o->n; n++) {                                                           \
                        T *plane = x + (n * o->c + c) * o->h * o->w;                                                \
                        for (npy_intp p = 0; p < o->oh; p++, y += o->ow) {                                          \
                            const npy_intp down = p * o->sh + i * o->dh - o->ph;                                    \
                            if (down < 0 || down >= o->h) continue;                                                 \
                            T *row = plane + down * o->w + right;                                                   \
                            if (s == 1) for (npy_intp q = first; q < stop; q++) row[q] += y[q];                     \
                            else for (npy_intp q = first; q < stop; q++) row[q * s] += y[q];                        \
                        }                                                                                           \
                    }                                                                                               \
                }                                                                                                   \
    }                                                                                                               \
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
    CLONES static void NAME##_maxima(const T *restrict x, T *restrict y, int64_t *restrict where, npy_intp planes,  \
                                     npy_intp hw, const int64_t *restrict taps, npy_intp p, npy_intp k) {           \
        for (npy_intp n = 0; n < planes; n++, x += hw, y += p, where += p) {                                        \
            for (npy_intp q = 0; q < p; q++) {                                                                      \
                where[q] = taps[q];                                                                                 \
                y[q] = x[taps[q]];                                                                                  \
            }                                                                                                       \
            for (npy_intp i = 1; i < k; i++) {                                                                      \
                const int64_t *restrict at = taps + i * p;                                                          \
                SIMD for (npy_intp q = 0; q < p; q++) {                                                             \
                    const T v = x[at[q]];                                                                           \
                    const int better = (v > y[q]) | (v != v);       /* of NaNs the last */                          \
                    y[q] = better ? v : y[q];                                                                       \
                    where[q] = better ? at[q] : where[q];                                                           \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
    static void NAME##_place(const T *restrict g, const int64_t *restrict where, T *restrict x, npy_intp planes,    \
                             npy_intp p, npy_intp m) {                                                              \
        for (npy_intp n = 0; n < planes; n++, g += p, where += p, x += m)                                           \
            for (npy_intp q = 0; q < p; q++) x[where[q]] += g[q];                                                   \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

/* Pairs (down, right), one after the other in `pairs`: sizes of x, kernel, stride, padding, dilation, out. */
static int windows_of(PyObject *pairs, Windows *o) {
    npy_intp *into[12] = {&o->h, &o->w, &o->kh, &o->kw, &o->sh, &o->sw, &o->ph, &o->pw, &o->dh, &o->dw, &o->oh, &o->ow};
    if (!PyTuple_CheckExact(pairs) || PyTuple_GET_SIZE(pairs) != 12) {
        PyErr_SetString(PyExc_TypeError, "windows: expected a tuple of 12 numbers");
        return 0;
    }
    for (int i = 0; i < 12; i++) *into[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(pairs, i));
    return !PyErr_Occurred();
}

/* columns(x (N, C, H, W), windows) -> (C KH KW, N OH OW): every window a column, zeros where it leaves x */
KERNEL(columns, 2)
    Windows o;
    int type = kind_of(args[0]);
    if (type < 0 || PyArray_NDIM(ARRAY(args[0])) != 4) Py_RETURN_NONE;
    if (!windows_of(args[1], &o)) return NULL;
    o.n = PyArray_DIM(ARRAY(args[0]), 0), o.c = PyArray_DIM(ARRAY(args[0]), 1);
    if (o.h != PyArray_DIM(ARRAY(args[0]), 2) || o.w != PyArray_DIM(ARRAY(args[0]), 3)) Py_RETURN_NONE;
    npy_intp dims[2] = {o.c * o.kh * o.kw, o.n * o.oh * o.ow};
    PyObject *y = PyArray_SimpleNew(2, dims, type);
    if (y == NULL) return NULL;
    if (type == NPY_FLOAT) WITHOUT_GIL(dims[0] * dims[1], floats_columns(DATA(args[0]), DATA(y), &o));
    else WITHOUT_GIL(dims[0] * dims[1], doubles_columns(DATA(args[0]), DATA(y), &o));
    return y;
END

/* uncolumns(y (C KH KW, N OH OW), N, C, windows) -> (N, C, H, W): the adjoint, windows added up where they lie */
KERNEL(uncolumns, 4)
    Windows o;
    int type = kind_of(args[0]);
    if (type < 0) Py_RETURN_NONE;
    if (!windows_of(args[3], &o)) return NULL;
    o.n = PyLong_AsSsize_t(args[1]), o.c = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred()) return NULL;
    npy_intp dims[4] = {o.n, o.c, o.h, o.w}, size = PyArray_SIZE(ARRAY(args[0]));
    if (size != o.c * o.kh * o.kw * o.n * o.oh * o.ow) Py_RETURN_NONE;
    PyObject *x = PyArray_ZEROS(4, dims, type, 0);
    if (x == NULL) return NULL;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_uncolumns(DATA(args[0]), DATA(x), &o));
    else WITHOUT_GIL(size, doubles_uncolumns(DATA(args[0]), DATA(x), &o));
    return x;
END

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

/* window_sums(x (..., H, W), windows) -> (..., OH, OW) */
KERNEL(window_sums, 2)
    Windows o;
    if (!windows_of(args[1], &o)) return NULL;
    int type = planes_of(args[0], o.h, o.w);
    if (type < 0) Py_RETURN_NONE;
    PyObject *y = replace_last(args[0], o.oh, o.ow, 0, &o.n);
    if (y == NULL) return NULL;
    o.c = 1;
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_sums(DATA(args[0]), DATA(y), &o));
    else WITHOUT_GIL(size, doubles_sums(DATA(args[0]), DATA(y), &o));
    return y;
END

/* spread_sums(g (..., OH, OW), windows) -> (..., H, W): the adjoint */
KERNEL(spread_sums, 2)
    Windows o;
    if (!windows_of(args[1], &o)) return NULL;
    int type = planes_of(args[0], o.oh, o.ow);
    if (type < 0) Py_RETURN_NONE;
    PyObject *x = replace_last(args[0], o.h, o.w, 1, &o.n);
    if (x == NULL) return NULL;
    o.c = 1;
    npy_intp size = PyArray_SIZE(ARRAY(x));
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_spread(DATA(args[0]), DATA(x), &o));
    else WITHOUT_GIL(size, doubles_spread(DATA(args[0]), DATA(x), &o));
    return x;
END

/* Positions (P, K), each in 0..size-1 */
static const int64_t *taps_of(PyObject *x, npy_intp size, npy_intp *p, npy_intp *k) {
    if (!PyArray_CheckExact(x) || PyArray_TYPE(ARRAY(x)) != NPY_INT64 || !PyArray_ISCARRAY_RO(ARRAY(x))
        || PyArray_NDIM(ARRAY(x)) != 2) return NULL;
    *p = PyArray_DIM(ARRAY(x), 0);
    *k = PyArray_DIM(ARRAY(x), 1);
    const int64_t *t = DATA(x);
    for (npy_intp i = 0; i < *p * *k; i++)
        if (t[i] < 0 || t[i] >= size) return NULL;
    return *k ? t : NULL;
}

/* max_pool(x (..., H, W), taps down (OH, KH), taps right (OW, KW)) -> (maxima, their positions in H W) */
KERNEL(max_pool, 3)
    PyObject *x = args[0];
    int type = kind_of(x), ndim;
    if (type < 0 || (ndim = PyArray_NDIM(ARRAY(x))) < 2) Py_RETURN_NONE;
    npy_intp h = PyArray_DIM(ARRAY(x), ndim - 2), w = PyArray_DIM(ARRAY(x), ndim - 1), oh = 0, ow = 0, kh = 0, kw = 0, planes;
    const int64_t *th = taps_of(args[1], h, &oh, &kh), *tw = taps_of(args[2], w, &ow, &kw);
    if (th == NULL || tw == NULL) Py_RETURN_NONE;
    npy_intp p = oh * ow, k = kh * kw;
    int64_t *taps = PyMem_New(int64_t, p * k > 0 ? p * k : 1), *next = taps;      /* (KH KW, OH OW): positions in H W */
    if (taps == NULL) return PyErr_NoMemory();
    for (npy_intp i = 0; i < k; i++)
        for (npy_intp q = 0; q < p; q++) *next++ = th[q / ow * kh + i / kw] * w + tw[q % ow * kw + i % kw];
    PyObject *y = replace_last(x, oh, ow, 0, &planes);
    PyObject *where = y ? PyArray_SimpleNew(ndim, PyArray_DIMS(ARRAY(y)), NPY_INT64) : NULL;
    PyObject *out = where ? PyTuple_Pack(2, y, where) : NULL;
    if (out != NULL) {
        npy_intp size = PyArray_SIZE(ARRAY(x));
        if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_maxima(DATA(x), DATA(y), DATA(where), planes, h * w, taps, p, k));
        else WITHOUT_GIL(size, doubles_maxima(DATA(x), DATA(y), DATA(where), planes, h * w, taps, p, k));
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
    npy_intp h = PyLong_AsSsize_t(args[2]), w = PyLong_AsSsize_t(args[3]), planes, size = PyArray_SIZE(ARRAY(g));
    if (PyErr_Occurred()) return NULL;
    const int64_t *at = DATA(where);
    for (npy_intp i = 0; i < size; i++)
        if (at[i] < 0 || at[i] >= h * w) Py_RETURN_NONE;
    PyObject *x = replace_last(g, h, w, 1, &planes);
    if (x == NULL) return NULL;
    npy_intp p = planes ? size / planes : 0;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_place(DATA(g), at, DATA(x), planes, p, h * w));
    else WITHOUT_GIL(size, doubles_place(DATA(g), at, DATA(x), planes, p, h * w));
    return x;
END
