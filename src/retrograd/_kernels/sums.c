/* The gradient of a bias: sums over all dims but one, x (outer, C, inner); or of each sample's, x (N, T, C). */

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

typedef struct {
    npy_intp n, t, c, dn, dt, xn, xt;   /* sizes, and strides of samples and tokens in elements */
} Tokens;

#define TOKENS(T, NAME)                                                                                          \
    CLONES static void NAME##_token_sums(const T *d, const T *x, T *restrict y, T *restrict part, const Tokens *o) { \
        const npy_intp c = o->c;                                                                                \
        for (npy_intp i = 0; i < o->n; i++, y += c) {                                                           \
            for (npy_intp j = 0; j < c; j++) y[j] = 0;                                                          \
            for (npy_intp t = 0; t < o->t; t += TOGETHER) {                                                     \
                const npy_intp stop = t + TOGETHER < o->t ? t + TOGETHER : o->t;                                \
                for (npy_intp j = 0; j < c; j++) part[j] = 0;                                                   \
                for (npy_intp k = t; k < stop; k++) {                                                           \
                    const T *a = d + i * o->dn + k * o->dt;                                                     \
                    if (x == NULL) SIMD for (npy_intp j = 0; j < c; j++) part[j] += a[j];                       \
                    else {                                                                                      \
                        const T *b = x + i * o->xn + k * o->xt;                                                 \
                        SIMD for (npy_intp j = 0; j < c; j++) part[j] += a[j] * b[j];                           \
                    }                                                                                           \
                }                                                                                               \
                for (npy_intp j = 0; j < c; j++) y[j] += part[j];                                               \
            }                                                                                                   \
        }                                                                                                       \
    }

TOKENS(float, floats)
TOKENS(double, doubles)

static int rows_of_tokens(PyObject *x, int type, npy_intp *sample, npy_intp *token) {
    if (!PyArray_CheckExact(x) || PyArray_TYPE(ARRAY(x)) != type || PyArray_NDIM(ARRAY(x)) != 3 || !PyArray_ISBEHAVED_RO(ARRAY(x)))
        return 0;
    const npy_intp size = PyArray_ITEMSIZE(ARRAY(x)), *steps = PyArray_STRIDES(ARRAY(x));
    *sample = steps[0] / size, *token = steps[1] / size;
    return PyArray_SIZE(ARRAY(x)) == 0 || ((steps[2] == size || PyArray_DIM(ARRAY(x), 2) == 1) && steps[0] % size == 0 && steps[1] % size == 0);
}

/* token_sums(d (N, T, C), x (N, T, C) or None, y (N, C)) -> did it: y = the sums of d, or of d x, over T */
KERNEL(token_sums, 3)
    PyObject *d = args[0], *x = args[1] == Py_None ? NULL : args[1], *y = args[2];
    const int type = kind_of(y);
    Tokens o = {0};
    if (type < 0 || !PyArray_ISWRITEABLE(ARRAY(y)) || PyArray_NDIM(ARRAY(y)) != 2 || !rows_of_tokens(d, type, &o.dn, &o.dt)
        || (x && (!rows_of_tokens(x, type, &o.xn, &o.xt) || !same_shape(x, d))) || !disjoint(d, y) || (x && !disjoint(x, y)))
        Py_RETURN_FALSE;
    o.n = PyArray_DIM(ARRAY(d), 0), o.t = PyArray_DIM(ARRAY(d), 1), o.c = PyArray_DIM(ARRAY(d), 2);
    if (PyArray_DIM(ARRAY(y), 0) != o.n || PyArray_DIM(ARRAY(y), 1) != o.c) Py_RETURN_FALSE;
    if (PyArray_SIZE(ARRAY(y)) == 0) Py_RETURN_TRUE;
    void *part = PyMem_Malloc(times(sizeof(double), o.c));
    if (part == NULL) return PyErr_NoMemory();
    const npy_intp size = o.n * o.t * o.c;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_token_sums(DATA(d), x ? DATA(x) : NULL, DATA(y), part, &o));
    else WITHOUT_GIL(size, doubles_token_sums(DATA(d), x ? DATA(x) : NULL, DATA(y), part, &o));
    PyMem_Free(part);
    Py_RETURN_TRUE;
END

/* sum_around(x, dim) -> (C,): the sum over all dims but `dim` */
KERNEL(sum_around, 2)
    PyObject *x = args[0];
    const int type = kind_of(x);
    npy_intp n, c, p;
    if (type < 0 || !around(x, args[1], &n, &c, &p)) Py_RETURN_NONE;
    if (PyArray_SIZE(ARRAY(x)) == 0) return PyArray_ZEROS(1, &c, type, 0);
    PyObject *y = PyArray_SimpleNew(1, &c, type);
    void *part = y == NULL || p > 1 ? NULL : PyMem_Malloc(times(sizeof(double), c));
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

/* Squared norms of what each sample adds to a table: rows d (T, C) to rows ids (T,), several to one perhaps.  `slot` has the
   place of a row in `sums`, or -1; it is left as it was. */
#define TABLES(T, NAME)                                                                                         \
    CLONES static void NAME##_row_norms(const T *d, const int64_t *ids, T *restrict y, T *restrict sums,       \
                                        int32_t *restrict slot, npy_intp rows, const Tokens *o) {               \
        const npy_intp c = o->c;                                                                                \
        for (npy_intp i = 0; i < o->n; i++, ids += o->t) {                                                      \
            npy_intp used = 0;                                                                                  \
            for (npy_intp t = 0; t < o->t; t++) {                                                               \
                const int64_t id = ids[t];                                                                      \
                if (id == rows) continue;                                                                       \
                const T *a = d + i * o->dn + t * o->dt;                                                         \
                T *restrict to = sums + (slot[id] < 0 ? used : slot[id]) * c;                                   \
                if (slot[id] < 0) {                                                                             \
                    slot[id] = (int32_t)used++;                                                                 \
                    for (npy_intp j = 0; j < c; j++) to[j] = a[j];                                              \
                } else SIMD for (npy_intp j = 0; j < c; j++) to[j] += a[j];                                     \
            }                                                                                                   \
            double total = 0;                                                                                   \
            for (npy_intp u = 0; u < used; u++) {                                                               \
                T squares = 0;                                                                                  \
                SIMD_SUM(squares) for (npy_intp j = 0; j < c; j++) squares += sums[u * c + j] * sums[u * c + j]; \
                total += squares;                                                                               \
            }                                                                                                   \
            y[i] = (T)total;                                                                                    \
            for (npy_intp t = 0; t < o->t; t++) slot[ids[t]] = -1;                                              \
        }                                                                                                       \
    }

TABLES(float, floats)
TABLES(double, doubles)

/* row_norms(ids (N, T), d (N, T, C), rows, y (N,)) -> did it: y = squared norms of tables of that many rows to which d is added
   at ids; an id equal to `rows` adds nothing */
KERNEL(row_norms, 4)
    PyObject *ids = args[0], *d = args[1], *y = args[3];
    npy_intp rows;
    const int type = kind_of(y);
    Tokens o = {0};
    if (type < 0 || !whole(args[2], &rows) || rows < 0 || !PyArray_ISWRITEABLE(ARRAY(y)) || PyArray_NDIM(ARRAY(y)) != 1
        || !rows_of_tokens(d, type, &o.dn, &o.dt) || !PyArray_CheckExact(ids) || PyArray_TYPE(ARRAY(ids)) != NPY_INT64
        || PyArray_NDIM(ARRAY(ids)) != 2 || !PyArray_ISBEHAVED_RO(ARRAY(ids)) || !disjoint(d, y) || !disjoint(ids, y)) Py_RETURN_FALSE;
    o.n = PyArray_DIM(ARRAY(d), 0), o.t = PyArray_DIM(ARRAY(d), 1), o.c = PyArray_DIM(ARRAY(d), 2);
    if (PyArray_DIM(ARRAY(y), 0) != o.n || PyArray_DIM(ARRAY(ids), 0) != o.n || PyArray_DIM(ARRAY(ids), 1) != o.t
        || o.t > INT32_MAX) Py_RETURN_FALSE;
    const npy_intp in = PyArray_STRIDE(ARRAY(ids), 0), it = PyArray_STRIDE(ARRAY(ids), 1);
    void *sums = PyMem_Malloc(plus(times(times(PyArray_ITEMSIZE(ARRAY(d)), o.t), o.c), 1));
    int32_t *slot = PyMem_Malloc(times(sizeof(int32_t), plus(rows, 1)));
    int64_t *own = PyMem_Malloc(plus(times(times(sizeof(int64_t), o.n), o.t), 1));      /* NOTE [Read once] */
    int bad = sums == NULL || slot == NULL || own == NULL ? -1 : 0;
    for (npy_intp i = 0; bad == 0 && i < o.n; i++)
        for (npy_intp t = 0; t < o.t; t++)
            own[i * o.t + t] = inside(READ(*(const int64_t *)(PyArray_BYTES(ARRAY(ids)) + i * in + t * it)), rows + 1, &bad);
    if (bad) {
        PyMem_Free(sums);
        PyMem_Free(slot);
        PyMem_Free(own);
        if (bad < 0) return PyErr_NoMemory();
        Py_RETURN_FALSE;
    }
    const npy_intp size = o.n * o.t * o.c;
    memset(slot, 0xff, sizeof(int32_t) * (rows + 1));
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_row_norms(DATA(d), own, DATA(y), sums, slot, rows, &o));
    else WITHOUT_GIL(size, doubles_row_norms(DATA(d), own, DATA(y), sums, slot, rows, &o));
    PyMem_Free(sums);
    PyMem_Free(slot);
    PyMem_Free(own);
    Py_RETURN_TRUE;
END
