/* Products of matrices of float32 or float64, of one pair or of stacks: what BLAS does, without its fixed costs, and with
   the widest vectors there are whatever BLAS was built or told to use.

   a (n, m)   b (m, p)   y (n, p)   with any strides

   Lanes run along the columns of y, and then b is needed by rows; or along its rows, and then a is needed by columns and y
   comes out turned.  What does not lie so is copied in slabs.  Goto and van de Geijn 2008. */

#include "gemm.h"
#include "kernels.h"
#include "threads.h"
#include <stdlib.h>

#define SLAB 512    /* columns copied at a time */
#define THIN 6      /* rows and columns below which BLAS, whose lanes run along the terms, is quicker */
#define BLOCK 192   /* rows of a turned result kept until they are turned back */

typedef struct {
    const char *a, *b;
    void *y;
    npy_intp n, m, p, a0, a1, b0, b1, items;    /* strides in elements */
    int ndim;                                   /* of the stack */
    npy_intp *shape, *a_steps, *b_steps;        /* of the stack, in bytes */
    npy_intp parts, lanes, rows;                /* parts are cut along items, or where there are few, lanes or rows */
    int turned, failed;
    size_t itemsize;
} Pair;

#if HAS_PRODUCTS
/* What a way costs: copies, and multiplications of lanes that are not full; in multiplications of vectors. */
static double way(npy_intp lanes, npy_intp rows, npy_intp m, int by_rows, int turned, npy_intp line) {
    const double padded = (double)((lanes + line - 1) / line);
    return padded * (double)rows * (double)m + (by_rows ? 2.0 * padded * (double)m : 0.7 * (double)lanes * (double)m)
           + (turned ? 0.7 * (double)lanes * (double)rows : 0);
}

#define LOOPS(T, NAME, Product)                                                                                      \
    /* Lanes l0..l1 and rows r0..r1 of one product.  `wide` holds what lanes run along, `tall` the other matrix. */    \
    static int NAME##_one(const T *tall, npy_intp tr, npy_intp tk, const T *wide, npy_intp wk, npy_intp wl, T *y,      \
                          npy_intp m, npy_intp p, npy_intp l0, npy_intp l1, npy_intp r0, npy_intp r1, int turned) {     \
        const npy_intp width = l1 - l0 < SLAB ? l1 - l0 : SLAB, step = row_of(width, sizeof(T));                       \
        const npy_intp line = LINE / (npy_intp)sizeof(T);                                                             \
        const int direct = wl == 1 && (l1 - l0) % line == 0 && (wk / line % 2 == 1 || m <= 32);                        \
        T *slab = direct && !turned ? NULL : room(times(sizeof(T) * step, (direct ? 0 : m) + (turned ? BLOCK : 0)));   \
        if (slab == NULL && !(direct && !turned)) return 0;                                                          \
        T *block = slab == NULL ? NULL : slab + (direct ? 0 : m * step);                                             \
        for (npy_intp l = l0; l < l1; l += width) {                                                                  \
            const npy_intp n = l1 - l < width ? l1 - l : width;                                                       \
            const T *b = wide + l * wl;                                                                              \
            if (!direct && wl == 1) {                                                                                \
                for (npy_intp k = 0; k < m; k++) {                                                                   \
                    memcpy(slab + k * step, b + k * wk, sizeof(T) * n);                                               \
                    for (npy_intp j = n; j < step; j++) slab[k * step + j] = 0;                                       \
                }                                                                                                    \
            } else if (!direct) {                                                                                    \
                for (npy_intp k = 0; n < step && k < m; k++)                                                         \
                    for (npy_intp j = n; j < step; j++) slab[k * step + j] = 0;                                       \
                if (wk == 1) NAME##_turn(b, n, m, wl, slab, step);                                                   \
                else for (npy_intp k = 0; k < m; k++)                                                                \
                    for (npy_intp j = 0; j < n; j++) slab[k * step + j] = b[k * wk + j * wl];                        \
            }                                                                                                        \
            for (npy_intp r = r0; r < r1; r += turned ? BLOCK : r1 - r0) {                                            \
                const npy_intp rows = turned && r1 - r > BLOCK ? BLOCK : r1 - r;                                      \
                const Product product = {rows, n, m, tall + r * tr, tr, tk, direct ? b : slab, direct ? wk : step,    \
                                         NULL, 0, 0, turned ? block : y + r * p + l, turned ? step : p};              \
                NAME##_product(&product);                                                                            \
                if (turned) NAME##_turn(block, rows, n, step, y + l * p + r, p);                                      \
            }                                                                                                        \
        }                                                                                                            \
        leave(slab);                                                                                                 \
        return 1;                                                                                                    \
    }                                                                                                                \
    static void NAME##_part(void *context, int part) {                                                               \
        Pair *o = context;                                                                                           \
        const npy_intp lanes = o->turned ? o->n : o->p, rows = o->turned ? o->p : o->n, line = LINE / (npy_intp)sizeof(T); \
        npy_intp i0 = 0, i1 = o->items, l0 = 0, l1 = lanes, r0 = 0, r1 = rows;                                        \
        if (o->items >= o->parts) i0 = o->items * part / o->parts, i1 = o->items * (part + 1) / o->parts;             \
        else if (lanes >= 2 * line * o->parts) {                                                                     \
            const npy_intp vectors = (lanes + line - 1) / line;                                                      \
            l0 = vectors * part / o->parts * line, l1 = vectors * (part + 1) / o->parts * line;                       \
            if (l1 > lanes) l1 = lanes;                                                                              \
        } else r0 = rows * part / o->parts, r1 = rows * (part + 1) / o->parts;                                        \
        for (npy_intp i = i0; i < i1; i++) {                                                                         \
            const char *a = o->a, *b = o->b;                                                                         \
            npy_intp rest = i;                                                                                       \
            for (int d = o->ndim - 1; d >= 0; rest /= o->shape[d--])                                                  \
                a += rest % o->shape[d] * o->a_steps[d], b += rest % o->shape[d] * o->b_steps[d];                     \
            T *y = (T *)o->y + i * o->n * o->p;                                                                      \
            if (!(o->turned ? NAME##_one((const T *)b, o->b1, o->b0, (const T *)a, o->a1, o->a0, y, o->m, o->p, l0, l1, r0, r1, 1) \
                            : NAME##_one((const T *)a, o->a0, o->a1, (const T *)b, o->b0, o->b1, y, o->m, o->p, l0, l1, r0, r1, 0))) \
                o->failed = 1;                                                                                       \
        }                                                                                                            \
    }

LOOPS(float, floats, FloatProduct)
LOOPS(double, doubles, DoubleProduct)

/* Strides of the last two dims in elements; 0 when they are no multiples of one. */
static int steps_of(PyArrayObject *x, npy_intp *down, npy_intp *right) {
    const npy_intp size = PyArray_ITEMSIZE(x), *strides = PyArray_STRIDES(x) + PyArray_NDIM(x) - 2;
    *down = strides[0] / size;
    *right = strides[1] / size;
    return strides[0] % size == 0 && strides[1] % size == 0;
}

/* a @ b in `out`, or where that is NULL in a new array; NULL, with no error set, where another road is to be taken. */
static PyObject *multiplied(PyObject *left, PyObject *right, PyObject *out, npy_intp threads) {
    if (!PyArray_CheckExact(left) || !PyArray_CheckExact(right) || !wide_vectors()) return NULL;
    PyArrayObject *a = ARRAY(left), *b = ARRAY(right);
    const int type = PyArray_TYPE(a), ndim = PyArray_NDIM(a);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || PyArray_TYPE(b) != type || ndim < 2 || PyArray_NDIM(b) != ndim
        || !PyArray_ISBEHAVED_RO(a) || !PyArray_ISBEHAVED_RO(b)) return NULL;
    Pair o = {.n = PyArray_DIM(a, ndim - 2), .m = PyArray_DIM(a, ndim - 1), .p = PyArray_DIM(b, ndim - 1), .ndim = ndim - 2};
    if (o.m != PyArray_DIM(b, ndim - 2) || o.n < THIN || o.p < THIN || o.m < 4
        || !PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), ndim - 2)
        || !steps_of(a, &o.a0, &o.a1) || !steps_of(b, &o.b0, &o.b1)) return NULL;
    npy_intp dims[NPY_MAXDIMS], a_steps[NPY_MAXDIMS], b_steps[NPY_MAXDIMS];     /* copies: setting x.shape frees NumPy's */
    memcpy(dims, PyArray_DIMS(a), sizeof(npy_intp) * (ndim - 1));
    memcpy(a_steps, PyArray_STRIDES(a), sizeof(npy_intp) * ndim);
    memcpy(b_steps, PyArray_STRIDES(b), sizeof(npy_intp) * ndim);
    dims[ndim - 1] = o.p;
    if (out != NULL && (kind_of(out) != type || PyArray_NDIM(ARRAY(out)) != ndim || !PyArray_ISWRITEABLE(ARRAY(out))
                        || !PyArray_CompareLists(PyArray_DIMS(ARRAY(out)), dims, ndim) || !disjoint(left, out)
                        || !disjoint(right, out))) return NULL;
    PyObject *y = out ? Py_NewRef(out) : PyArray_SimpleNew(ndim, dims, type);
    if (y == NULL) return NULL;
    o.items = PyArray_MultiplyList(dims, ndim - 2);
    o.a = PyArray_BYTES(a), o.b = PyArray_BYTES(b), o.y = DATA(y);
    o.shape = dims, o.a_steps = a_steps, o.b_steps = b_steps;
    const npy_intp line = LINE / PyArray_ITEMSIZE(a);
    o.turned = way(o.n, o.p, o.m, o.a0 == 1, 1, line) < way(o.p, o.n, o.m, o.b1 == 1, 0, line);
    const double cost = (double)o.items * o.n * o.m * o.p;
    o.parts = parts_among(cost, o.items > 1 ? o.items : (o.n > o.p ? o.n : o.p), threads);
    WITHOUT_GIL(cost, side_by_side((int)o.parts, type == NPY_FLOAT ? floats_part : doubles_part, &o));
    if (!o.failed) return y;
    Py_DECREF(y);
    return PyErr_NoMemory();
}

/* multiply(a (..., n, m), b (..., m, p)) -> a @ b, for equal stacks of matrices that are not tiny, whatever their strides */
KERNEL(multiply, 2)
    PyObject *y = multiplied(args[0], args[1], NULL, 0);
    if (y == NULL && !PyErr_Occurred()) Py_RETURN_NONE;
    return y;
END

/* multiply_into(a, b, y, threads) -> did it: y = a @ b, in memory of somebody else's; threads 0: as many as convolutions */
KERNEL(multiply_into, 4)
    npy_intp threads;
    if (!whole(args[3], &threads)) Py_RETURN_FALSE;
    PyObject *y = multiplied(args[0], args[1], args[2], threads);
    if (y == NULL && PyErr_Occurred()) return NULL;
    const int done = y != NULL;
    Py_XDECREF(y);
    return PyBool_FromLong(done);
END
#else
KERNEL(multiply, 2) Py_RETURN_NONE; END
KERNEL(multiply_into, 4) Py_RETURN_FALSE; END
#endif
