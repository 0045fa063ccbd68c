/* Products of a matrix with itself, of which half is enough: x'x kept as a running mean, and the sum over products of two
   Gram matrices that gives the norm of a gradient (Goodfellow 2015).   float32 and float64

   Columns are taken two lines of the cache at a time (a panel), rows from the diagonal down: half of the panel's first rows
   and all of the others, so of the upper triangle only blocks of a line on the diagonal are computed. */

#include "apply.h"
#include "gemm.h"
#include "kernels.h"
#include "threads.h"

#if HAS_PRODUCTS
#define ROOM (1 << 18)      /* numbers copied at a time, at least LEAST rows of them */
#define LEAST 256
#define TOGETHER 64         /* rows added up by themselves before they join the total in double */
#define MATRICES 64         /* of output gradients that meet one input */
#define PANEL(T) (2 * LINE / (npy_intp)sizeof(T))

typedef struct {
    const char *x;
    void *c, *slab;
    npy_intp n, k, down, right, step;   /* n rows now, strides of x in elements, and the slab's rows */
    int read;                           /* c is added to */
    double keep;                        /* c times this first */
    int parts;
} Gram;

typedef struct {
    const char *start;
    npy_intp k, next, down, right;      /* terms, and strides: between samples, tokens, terms, in elements */
} Tokens;

typedef struct {
    Tokens a, d[MATRICES];
    npy_intp count, samples, tokens;    /* how many d */
    void *y;
    int parts, failed;
} Ghost;

#define LOOPS(T, NAME, Product)                                                                                        \
    /* to (n, step) = share x, zeros behind */                                                                         \
    CLONES static void NAME##_slab(const T *restrict x, T *restrict to, npy_intp n, npy_intp k, npy_intp down,         \
                                   npy_intp right, npy_intp step, T share) {                                          \
        for (npy_intp p = 0; p < n; p++, x += down, to += step) {                                                     \
            if (right == 1) for (npy_intp j = 0; j < k; j++) to[j] = share * x[j];                                    \
            else for (npy_intp j = 0; j < k; j++) to[j] = share * x[j * right];                                       \
            for (npy_intp j = k; j < step; j++) to[j] = 0;                                                            \
        }                                                                                                             \
    }                                                                                                                 \
    CLONES static void NAME##_fade(T *restrict c, npy_intp rows, npy_intp k, npy_intp width, T keep) {                 \
        for (npy_intp i = 0; i < rows; i++)                                                                           \
            for (npy_intp j = 0; j < width; j++) c[i * k + j] *= keep;                                                \
    }                                                                                                                 \
    static void NAME##_gram(void *context, int part) {                                                                \
        const Gram *o = context;                                                                                      \
        const npy_intp panel = PANEL(T), half = panel / 2, k = o->k;                                                  \
        const T *x = (const T *)o->x, *slab = o->slab;                                                                \
        for (npy_intp j = panel * part; j < k; j += panel * o->parts) {                                               \
            const npy_intp width = k - j < panel ? k - j : panel, top = width < half ? width : half;                  \
            T *c = (T *)o->c + j * k + j, *below = c + half * k;                                                      \
            if (o->read && o->keep != 1) {                                                                            \
                NAME##_fade(c, top, k, top, (T)o->keep);                                                              \
                NAME##_fade(below, k - j - half, k, width, (T)o->keep);                                               \
            }                                                                                                         \
            const Product first = {top, top, o->n, x + j * o->right, o->right, o->down, slab + j, o->step,             \
                                   o->read ? c : NULL, k, 1, c, k};                                                   \
            NAME##_product(&first);                                                                                   \
            if (k - j <= half) continue;                                                                              \
            const Product rest = {k - j - half, width, o->n, x + (j + half) * o->right, o->right, o->down, slab + j,   \
                                  o->step, o->read ? below : NULL, k, 1, below, k};                                   \
            NAME##_product(&rest);                                                                                    \
        }                                                                                                             \
    }                                                                                                                 \
    /* the lower triangle of c (k, k) above its diagonal, too */                                                       \
    static void NAME##_mirror(T *c, npy_intp k) {                                                                     \
        enum { SIDE = 32 };                                                                                           \
        for (npy_intp i = 0; i < k; i += SIDE) {                                                                      \
            const npy_intp rows = k - i < SIDE ? k - i : SIDE;                                                        \
            for (npy_intp j = 0; j < i; j += SIDE) NAME##_turn(c + i * k + j, rows, SIDE, k, c + j * k + i, k);        \
            for (npy_intp r = i; r < i + rows; r++)                                                                   \
                for (npy_intp q = i; q < r; q++) c[q * k + r] = c[r * k + q];                                         \
        }                                                                                                             \
    }                                                                                                                 \
    /* sum of a d over a panel of two Gram matrices from its diagonal down, what lies below the diagonal twice */      \
    CLONES static double NAME##_overlap(const T *restrict a, const T *restrict d, npy_intp rows, npy_intp wide) {      \
        enum { HALF = LINE / sizeof(T) };                                                                             \
        double total = 0;                                                                                             \
        for (npy_intp side = 0; side < wide; side += HALF) {                                                          \
            T own[HALF] = {0};                                                                                        \
            const npy_intp edge = rows < side + HALF ? rows : side + HALF;                                            \
            for (npy_intp i = side; i < edge; i++)                                                                    \
                for (int q = 0; q < HALF; q++) own[q] += a[i * 2 * HALF + side + q] * d[i * 2 * HALF + side + q];      \
            for (int q = 0; q < HALF; q++) total += own[q];                                                           \
            for (npy_intp i = edge; i < rows; i += TOGETHER) {                                                        \
                T twice[HALF] = {0};                                                                                  \
                const npy_intp stop = i + TOGETHER < rows ? i + TOGETHER : rows;                                      \
                for (npy_intp r = i; r < stop; r++)                                                                   \
                    for (int q = 0; q < HALF; q++)                                                                    \
                        twice[q] += a[r * 2 * HALF + side + q] * d[r * 2 * HALF + side + q];                          \
                for (int q = 0; q < HALF; q++) total += 2 * (double)twice[q];                                         \
            }                                                                                                         \
        }                                                                                                             \
        return total;                                                                                                 \
    }                                                                                                                 \
    /* to (rows, panel) = or += t t' of tokens from `at` on, its first panel of columns */                             \
    static void NAME##_panel(const Tokens *t, npy_intp sample, npy_intp at, npy_intp tokens, T *slab, T *to, int add) {  \
        const npy_intp panel = PANEL(T), half = panel / 2, rows = tokens - at, width = rows < panel ? rows : panel;     \
        const npy_intp wide = rows > half ? panel : half, step = row_of(panel, sizeof(T));                            \
        const T *x = (const T *)t->start + sample * t->next + at * t->down;                                           \
        if (width < wide)                                                                                             \
            for (npy_intp p = 0; p < t->k; p++)                                                                       \
                for (npy_intp j = width; j < wide; j++) slab[p * step + j] = 0;                                       \
        if (t->right == 1) NAME##_turn(x, width, t->k, t->down, slab, step);                                          \
        else for (npy_intp p = 0; p < t->k; p++)                                                                      \
            for (npy_intp j = 0; j < width; j++) slab[p * step + j] = x[p * t->right + j * t->down];                  \
        const npy_intp top = rows < half ? rows : half;                                                               \
        const Product first = {top, half, t->k, x, t->down, t->right, slab, step, add ? to : NULL, panel, 1, to, panel}; \
        NAME##_product(&first);                                                                                       \
        if (rows > half) {                                                                                            \
            T *below = to + half * panel;                                                                             \
            const Product rest = {rows - half, panel, t->k, x + half * t->down, t->down, t->right, slab, step,         \
                                  add ? below : NULL, panel, 1, below, panel};                                        \
            NAME##_product(&rest);                                                                                    \
        }                                                                                                             \
        /* an infinite token made NaN of the zeros behind the last one */                                              \
        for (npy_intp i = 0; width < wide && i < rows; i++)                                                           \
            for (npy_intp j = width; j < wide; j++) to[i * panel + j] = 0;                                            \
    }                                                                                                                 \
    static void NAME##_ghost(void *context, int part) {                                                               \
        Ghost *o = context;                                                                                           \
        const npy_intp panel = PANEL(T), from = o->samples * part / o->parts, to = o->samples * (part + 1) / o->parts;  \
        npy_intp k = o->a.k;                                                                                          \
        for (npy_intp i = 0; i < o->count; i++) k = o->d[i].k > k ? o->d[i].k : k;                                    \
        T *slab = room(times(sizeof(T), plus(times(k, row_of(panel, sizeof(T))), times(o->tokens, 2 * panel))));       \
        if (slab == NULL) {                                                                                           \
            o->failed = 1;                                                                                            \
            return;                                                                                                   \
        }                                                                                                             \
        T *left = slab + k * row_of(panel, sizeof(T)), *right = left + o->tokens * panel;                             \
        for (npy_intp n = from; n < to; n++) {                                                                        \
            double total = 0;                                                                                         \
            for (npy_intp at = 0; at < o->tokens; at += panel) {                                                      \
                const npy_intp rows = o->tokens - at;                                                                 \
                NAME##_panel(&o->a, n, at, o->tokens, slab, left, 0);                                                 \
                for (npy_intp i = 0; i < o->count; i++) NAME##_panel(o->d + i, n, at, o->tokens, slab, right, i > 0);  \
                total += NAME##_overlap(left, right, rows, rows > panel / 2 ? panel : panel / 2);                     \
            }                                                                                                         \
            ((T *)o->y)[n] = (T)total;                                                                                \
        }                                                                                                             \
        leave(slab);                                                                                                  \
    }

LOOPS(float, floats, FloatProduct)
LOOPS(double, doubles, DoubleProduct)

/* Is x an array of that many dims and of the type, aligned and with strides in whole elements? */
static int strided(PyObject *x, int ndim, int type) {
    if (!PyArray_CheckExact(x) || PyArray_NDIM(ARRAY(x)) != ndim || PyArray_TYPE(ARRAY(x)) != type
        || !PyArray_ISBEHAVED_RO(ARRAY(x))) return 0;
    for (int i = 0; i < ndim; i++)
        if (PyArray_STRIDE(ARRAY(x), i) % PyArray_ITEMSIZE(ARRAY(x))) return 0;
    return 1;
}

/* gram(x (n, k), c (k, k), keep, share, threads) -> did it: c = keep c + share x'x, of which the lower triangle is made and
   the upper left as it was or, near the diagonal, made, too.  keep 0: c is not read.  threads 0: as many as convolutions */
KERNEL(gram, 5)
    PyObject *x = args[0], *c = args[1];
    double factors[2];
    npy_intp threads;
    if (!numbers(args + 2, 2, factors) || !whole(args[4], &threads)) Py_RETURN_FALSE;
    const double keep = factors[0], share = factors[1];
    const int type = kind_of(c);
    if (type < 0 || !wide_vectors() || !strided(x, 2, type) || !PyArray_ISWRITEABLE(ARRAY(c)) || PyArray_NDIM(ARRAY(c)) != 2)
        Py_RETURN_FALSE;
    const npy_intp n = PyArray_DIM(ARRAY(x), 0), k = PyArray_DIM(ARRAY(x), 1), size = PyArray_ITEMSIZE(ARRAY(x));
    if (PyArray_DIM(ARRAY(c), 0) != k || PyArray_DIM(ARRAY(c), 1) != k || PyArray_MultiplyList(PyArray_DIMS(ARRAY(c)), 2) == 0
        || !disjoint(x, c)) Py_RETURN_FALSE;
    Gram o = {.c = DATA(c), .k = k, .down = PyArray_STRIDE(ARRAY(x), 0) / size, .right = PyArray_STRIDE(ARRAY(x), 1) / size,
              .step = row_of(k, size), .read = keep != 0, .keep = keep};
    const npy_intp most = ROOM / o.step / LEAST > 1 ? ROOM / o.step / LEAST * LEAST : LEAST, rows = n < most ? n : most;
    const double cost = (double)n * k * k / 2;
    o.parts = parts_among(cost, (k * size + 2 * LINE - 1) / (2 * LINE), threads);
    o.slab = room(times(times(size, o.step), rows));
    if (o.slab == NULL) return PyErr_NoMemory();
    NPY_BEGIN_THREADS_DEF;
    if (cost > RELEASE_AT) NPY_BEGIN_THREADS;
    for (npy_intp at = 0; at < n || at == 0; at += rows ? rows : 1) {
        o.n = n - at < rows ? n - at : rows;
        o.x = PyArray_BYTES(ARRAY(x)) + at * o.down * size;
        if (type == NPY_FLOAT) {
            floats_slab((const float *)o.x, o.slab, o.n, k, o.down, o.right, o.step, (float)share);
            side_by_side(o.parts, floats_gram, &o);
        } else {
            doubles_slab((const double *)o.x, o.slab, o.n, k, o.down, o.right, o.step, share);
            side_by_side(o.parts, doubles_gram, &o);
        }
        o.read = 1, o.keep = 1;
    }
    NPY_END_THREADS;
    leave(o.slab);
    Py_RETURN_TRUE;
END

/* mirror(c (k, k)) -> did it: the upper triangle is that of the lower one */
KERNEL(mirror, 1)
    PyObject *c = args[0];
    const int type = kind_of(c);
    if (type < 0 || PyArray_NDIM(ARRAY(c)) != 2 || PyArray_DIM(ARRAY(c), 0) != PyArray_DIM(ARRAY(c), 1)
        || !PyArray_ISWRITEABLE(ARRAY(c))) Py_RETURN_FALSE;
    const npy_intp k = PyArray_DIM(ARRAY(c), 0);
    if (type == NPY_FLOAT) WITHOUT_GIL(k * k, floats_mirror(DATA(c), k));
    else WITHOUT_GIL(k * k, doubles_mirror(DATA(c), k));
    Py_RETURN_TRUE;
END

static int tokens_of(PyObject *x, int type, npy_intp samples, npy_intp tokens, Tokens *t) {
    if (!strided(x, 3, type) || PyArray_DIM(ARRAY(x), 0) != samples || PyArray_DIM(ARRAY(x), 1) != tokens) return 0;
    const npy_intp size = PyArray_ITEMSIZE(ARRAY(x)), *steps = PyArray_STRIDES(ARRAY(x));
    *t = (Tokens){PyArray_BYTES(ARRAY(x)), PyArray_DIM(ARRAY(x), 2), steps[0] / size, steps[1] / size, steps[2] / size};
    return 1;
}

/* ghost(a (N, T, I), (d (N, T, O), ...), y (N,), threads) -> did it: y[n] = the sum over d and tokens t, s of
   (a[n, t] . a[n, s]) (d[n, t] . d[n, s]), the squared norm of all d[n]' a[n] together */
KERNEL(ghost, 4)
    PyObject *a = args[0], *many = args[1], *y = args[2];
    npy_intp threads;
    if (!whole(args[3], &threads)) Py_RETURN_FALSE;
    const int type = kind_of(y);
    if (type < 0 || !wide_vectors() || !PyArray_ISWRITEABLE(ARRAY(y)) || PyArray_NDIM(ARRAY(y)) != 1 || !PyTuple_CheckExact(many)
        || !strided(a, 3, type)) Py_RETURN_FALSE;
    Ghost o = {.samples = PyArray_DIM(ARRAY(a), 0), .tokens = PyArray_DIM(ARRAY(a), 1), .count = PyTuple_GET_SIZE(many),
               .y = DATA(y)};
    if (PyArray_DIM(ARRAY(y), 0) != o.samples || o.count < 1 || o.count > MATRICES || !disjoint(a, y)
        || !tokens_of(a, type, o.samples, o.tokens, &o.a)) Py_RETURN_FALSE;
    npy_intp k = o.a.k;
    for (npy_intp i = 0; i < o.count; i++) {
        PyObject *d = PyTuple_GET_ITEM(many, i);
        if (!tokens_of(d, type, o.samples, o.tokens, o.d + i) || !disjoint(d, y)) Py_RETURN_FALSE;
        k += o.d[i].k;
    }
    const double cost = (double)o.samples * o.tokens * o.tokens * k / 2;
    o.parts = parts_among(cost, o.samples, threads);
    WITHOUT_GIL(cost, side_by_side(o.parts, type == NPY_FLOAT ? floats_ghost : doubles_ghost, &o));
    if (o.failed) return PyErr_NoMemory();
    Py_RETURN_TRUE;
END
#else
KERNEL(gram, 5) Py_RETURN_FALSE; END
KERNEL(ghost, 4) Py_RETURN_FALSE; END
KERNEL(mirror, 1) Py_RETURN_FALSE; END
#endif
