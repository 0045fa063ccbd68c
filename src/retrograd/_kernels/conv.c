/* Convolutions over two spatial dims as products of matrices whose columns are formed a few at a time, in the cache.

   x (N, C, H, W)   w (O, C/G, KH, KW)   y (N, O, OH, OW)   P = OH OW   terms: C/G KH KW, of one sum
   One spatial dim is two, the first of size 1.  A unit: some samples whole, or some rows of one sample.
   Chellapilla, Puri and Simard 2006.  Samples are shared out among threads. */

#include "gemm.h"
#include "kernels.h"
#include "threads.h"
#include "windows.h"

#define CHUNK (1 << 16)     /* numbers in the columns of a unit: they and what they meet stay in the second cache */
#define LEAST 128           /* columns of a unit all the same, where terms are many: they pay for reading w */
#define WIDTH 192           /* columns from which a product runs at full speed, and that for w writes its sums rarely */

typedef struct {
    Windows o;
    npy_intp out, groups;   /* O, G */
    const void *x, *w, *y;  /* of these one or two are read, and the last is written to `to` */
    const void *bias;
    void *to;
    npy_intp parts;
    int failed;
} Work;

/* How many samples a unit takes, and how many rows of each: such that few lanes of last vectors stay empty. */
static void unit_of(const Windows *o, npy_intp terms, npy_intp *samples, npy_intp *rows) {
    const npy_intp p = o->oh * o->ow, fit = CHUNK / terms > LEAST ? CHUNK / terms : LEAST;
    *samples = 1;
    *rows = o->oh;
    if (p > fit) {
        npy_intp least = 0;
        for (npy_intp r = 1; r <= o->oh && (r == 1 || r * o->ow <= fit); r++) {
            const npy_intp units = o->oh / r, rest = o->oh % r * o->ow;
            const npy_intp lanes = units * ((r * o->ow + 15) / 16 * 16 + 16) + (rest ? (rest + 15) / 16 * 16 + 16 : 0);
            if (least == 0 || lanes < least) least = lanes, *rows = r;
        }
    } else if (p < WIDTH) {
        const npy_intp want = (WIDTH + p - 1) / p;
        *samples = fit / p < want ? fit / p : want;
    }
}

/* Where element (i, j) of a window lies in a row of x, first..stop of the row's windows being inside; and, where y is as
   large as x (flat), in a plane: low..high of a piece of rows r0..r1 */
#define PLACES_OF(i, j)                                                                                             \
    const npy_intp right = j * o->dw - o->pw, s = o->sw, shift = (i * o->dh - o->ph) * o->w + right;                \
    npy_intp first, stop;                                                                                           \
    span(o->w, s, right, o->ow, &first, &stop);                                                                     \
    const int flat = o->oh == o->h && o->ow == o->w && o->sh == 1 && s == 1;                                        \
    const npy_intp piece = (r1 - r0) * o->ow, at = r0 * o->w + shift;                                               \
    const npy_intp low = at > 0 ? 0 : -at < piece ? -at : piece;                                                    \
    const npy_intp high = hw - at < low ? low : hw - at < piece ? hw - at : piece;

/* y = 0 where rows of a piece ran into each other */
#define CLEAR_EDGES                                                                                                 \
    for (npy_intp q = 0; q < first; q++)                                                                            \
        for (npy_intp p = 0; p < piece; p += o->ow) y[p + q] = 0;                                                   \
    for (npy_intp q = stop; q < o->ow; q++)                                                                         \
        for (npy_intp p = 0; p < piece; p += o->ow) y[p + q] = 0;

/* What a part has to do: samples from..to, in units */
#define OWN_PART                                                                                                    \
    Work *work = context;                                                                                           \
    const Windows *o = &work->o;                                                                                    \
    const npy_intp each = o->c / work->groups, own = work->out / work->groups, terms = each * o->kh * o->kw;        \
    const npy_intp p = o->oh * o->ow, from = o->n * part / work->parts, to = o->n * (part + 1) / work->parts;       \
    npy_intp samples, rows;                                                                                         \
    unit_of(o, terms, &samples, &rows);

#define LOOPS(T, NAME, Product)                                                                                     \
    /* col (terms, size): the windows of samples n0..n1, rows r0..r1 of y, of the channels from c0 on */             \
    CLONES static void NAME##_collect(const T *restrict x, T *restrict col, const Windows *o, npy_intp c0, npy_intp c1, \
                                     npy_intp n0, npy_intp n1, npy_intp r0, npy_intp r1, npy_intp size) {             \
        const npy_intp hw = o->h * o->w, used = (n1 - n0) * (r1 - r0) * o->ow;                                       \
        for (npy_intp c = c0; c < c1; c++)                                                                          \
            for (npy_intp i = 0; i < o->kh; i++)                                                                    \
                for (npy_intp j = 0; j < o->kw; j++, col += size) {                                                  \
                    PLACES_OF(i, j)                                                                                 \
                    T *restrict y = col;                                                                            \
                    for (npy_intp n = n0; flat && n < n1; n++, y += piece) {                                         \
                        /* as large as x: rows shifted as one piece, then zeros where they ran into each other */    \
                        const T *plane = x + (n * o->c + c) * hw + at;                                              \
                        for (npy_intp q = 0; q < low; q++) y[q] = 0;                                                \
                        for (npy_intp q = low; q < high; q++) y[q] = plane[q];                                       \
                        for (npy_intp q = high; q < piece; q++) y[q] = 0;                                           \
                        CLEAR_EDGES                                                                                 \
                    }                                                                                               \
                    for (npy_intp n = n0; !flat && n < n1; n++) {                                                    \
                        const T *plane = x + (n * o->c + c) * hw;                                                   \
                        for (npy_intp p = r0; p < r1; p++, y += o->ow) {                                            \
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
                    for (npy_intp q = used; q < size; q++) col[q] = 0;                                               \
                }                                                                                                   \
    }                                                                                                               \
    /* the adjoint: col added up where its windows lie; what runs over the edge of a row is made 0 in col */         \
    CLONES static void NAME##_deposit(T *restrict col, T *restrict x, const Windows *o, npy_intp c0, npy_intp c1,    \
                                      npy_intp n0, npy_intp n1, npy_intp r0, npy_intp r1, npy_intp size) {            \
        const npy_intp hw = o->h * o->w;                                                                            \
        for (npy_intp c = c0; c < c1; c++)                                                                          \
            for (npy_intp i = 0; i < o->kh; i++)                                                                    \
                for (npy_intp j = 0; j < o->kw; j++, col += size) {                                                  \
                    PLACES_OF(i, j)                                                                                 \
                    T *restrict y = col;                                                                            \
                    for (npy_intp n = n0; flat && n < n1; n++, y += piece) {                                         \
                        T *restrict plane = x + (n * o->c + c) * hw + at;                                           \
                        CLEAR_EDGES                                                                                 \
                        for (npy_intp q = low; q < high; q++) plane[q] += y[q];                                     \
                    }                                                                                               \
                    for (npy_intp n = n0; !flat && n < n1; n++) {                                                    \
                        T *plane = x + (n * o->c + c) * hw;                                                         \
                        for (npy_intp p = r0; p < r1; p++, y += o->ow) {                                            \
                            const npy_intp down = p * o->sh + i * o->dh - o->ph;                                    \
                            if (down < 0 || down >= o->h) continue;                                                 \
                            T *restrict row = plane + down * o->w + right;                                          \
                            if (s == 1) for (npy_intp q = first; q < stop; q++) row[q] += y[q];                     \
                            else for (npy_intp q = first; q < stop; q++) row[q * s] += y[q];                        \
                        }                                                                                           \
                    }                                                                                               \
                }                                                                                                   \
    }                                                                                                               \
    /* rows of y, of the channels o0..o1: copied into block (o1 - o0, size), or back */                              \
    static void NAME##_exchange(T *y, T *block, const Work *work, npy_intp o0, npy_intp o1, npy_intp n0, npy_intp n1, \
                                npy_intp r0, npy_intp r1, npy_intp size, int back) {                                  \
        const npy_intp p = work->o.oh * work->o.ow, piece = (r1 - r0) * work->o.ow;                                   \
        for (npy_intp c = o0; c < o1; c++, block += size) {                                                         \
            T *place = block;                                                                                       \
            for (npy_intp n = n0; n < n1; n++, place += piece) {                                                    \
                T *own = y + (n * work->out + c) * p + r0 * work->o.ow;                                              \
                if (back) memcpy(own, place, sizeof(T) * piece);                                                    \
                else memcpy(place, own, sizeof(T) * piece);                                                         \
            }                                                                                                       \
            if (!back) memset(place, 0, sizeof(T) * (block + size - place));                                        \
        }                                                                                                           \
    }                                                                                                               \
    static void NAME##_forward(void *context, int part) {                                                           \
        OWN_PART                                                                                                    \
        const npy_intp size = row_of(samples * rows * o->ow, sizeof(T)), direct = samples == 1;                      \
        T *col = room(times(sizeof(T), times(plus(terms, direct ? 0 : own), size))), *block = col ? col + terms * size : NULL; \
        T *y = work->to;                                                                                            \
        if (col == NULL) work->failed = 1;                                                                          \
        else for (npy_intp n = from; n < to; n += samples) {                                                        \
            const npy_intp n1 = n + samples < to ? n + samples : to;                                                \
            for (npy_intp r = 0; r < o->oh; r += rows) {                                                            \
                const npy_intp r1 = r + rows < o->oh ? r + rows : o->oh;                                            \
                for (npy_intp g = 0; g < work->groups; g++) {                                                       \
                    NAME##_collect(work->x, col, o, g * each, (g + 1) * each, n, n1, r, r1, size);                   \
                    T *c = direct ? y + (n * work->out + g * own) * p + r * o->ow : block;                          \
                    const T *bias = work->bias ? (const T *)work->bias + g * own : NULL;                            \
                    const Product product = {own, (n1 - n) * (r1 - r) * o->ow, terms, (const T *)work->w + g * own * terms, \
                                             terms, 1, col, size, bias, 1, 0, c, direct ? p : size};                \
                    NAME##_product(&product);                                                                       \
                    if (!direct) NAME##_exchange(y, block, work, g * own, (g + 1) * own, n, n1, r, r1, size, 1);    \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
        leave(col);                                                                                                 \
    }                                                                                                               \
    static void NAME##_to_x(void *context, int part) {                                                              \
        OWN_PART                                                                                                    \
        const npy_intp size = row_of(samples * rows * o->ow, sizeof(T));                                             \
        T *col = room(times(sizeof(T), times(plus(terms, own), size))), *block = col ? col + terms * size : NULL;    \
        T *x = work->to;                                                                                            \
        if (col == NULL) work->failed = 1;                                                                          \
        else memset(x + from * o->c * o->h * o->w, 0, sizeof(T) * (to - from) * o->c * o->h * o->w);                \
        for (npy_intp n = from; col != NULL && n < to; n += samples) {                                              \
            const npy_intp n1 = n + samples < to ? n + samples : to;                                                \
            for (npy_intp r = 0; r < o->oh; r += rows) {                                                            \
                const npy_intp r1 = r + rows < o->oh ? r + rows : o->oh, used = (n1 - n) * (r1 - r) * o->ow;         \
                for (npy_intp g = 0; g < work->groups; g++) {                                                       \
                    const int direct = samples == 1 && used % (LINE / (npy_intp)sizeof(T)) == 0;                    \
                    const T *b = direct ? (const T *)work->y + (n * work->out + g * own) * p + r * o->ow : block;   \
                    if (!direct)                                                                                    \
                        NAME##_exchange((T *)work->y, block, work, g * own, (g + 1) * own, n, n1, r, r1, size, 0);  \
                    const Product product = {terms, used, own, (const T *)work->w + g * own * terms, 1, terms,      \
                                             b, direct ? p : size, NULL, 0, 0, col, size};                          \
                    NAME##_product(&product);                                                                       \
                    NAME##_deposit(col, x, o, g * each, (g + 1) * each, n, n1, r, r1, size);                        \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
        leave(col);                                                                                                 \
    }                                                                                                               \
    /* Each part has a sum of its own, (G, terms, O/G with rows of `wide`): columns times y turned */                \
    static void NAME##_to_w(void *context, int part) {                                                              \
        OWN_PART                                                                                                    \
        const npy_intp size = row_of(samples * rows * o->ow, sizeof(T)), wide = row_of(own, sizeof(T));              \
        T *col = room(times(sizeof(T), times(plus(terms, wide), size))), *turned = col ? col + terms * size : NULL;  \
        T *sum = (T *)work->to + part * work->groups * terms * wide;                                                \
        if (col == NULL) work->failed = 1;                                                                          \
        else memset(turned, 0, sizeof(T) * wide * size);                                                            \
        for (npy_intp n = from; col != NULL && n < to; n += samples) {                                              \
            const npy_intp n1 = n + samples < to ? n + samples : to;                                                \
            for (npy_intp r = 0; r < o->oh; r += rows) {                                                            \
                const npy_intp r1 = r + rows < o->oh ? r + rows : o->oh, piece = (r1 - r) * o->ow;                   \
                for (npy_intp g = 0; g < work->groups; g++) {                                                       \
                    NAME##_collect(work->x, col, o, g * each, (g + 1) * each, n, n1, r, r1, size);                   \
                    for (npy_intp s = n; s < n1; s++)                                                               \
                        NAME##_turn((const T *)work->y + (s * work->out + g * own) * p + r * o->ow, own, piece, p,  \
                                    turned + (s - n) * piece * wide, wide);                                         \
                    T *c = sum + g * terms * wide;                                                                  \
                    const Product product = {terms, own, (n1 - n) * piece, col, size, 1, turned, wide, c, wide, 1, c, wide}; \
                    NAME##_product(&product);                                                                       \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
        leave(col);                                                                                                 \
    }                                                                                                               \
    /* The sums of all parts, turned: w (O, terms) */                                                                \
    static void NAME##_joined(const T *sums, T *w, const Work *work, npy_intp terms, npy_intp wide) {              \
        const npy_intp own = work->out / work->groups, size = work->groups * terms * wide;                           \
        T *first = (T *)sums;                                                                                       \
        for (npy_intp k = 1; k < work->parts; k++)                                                                  \
            for (npy_intp i = 0; i < size; i++) first[i] += sums[k * size + i];                                     \
        for (npy_intp g = 0; g < work->groups; g++)                                                                 \
            NAME##_turn(first + g * terms * wide, terms, own, wide, w + g * own * terms, terms);                    \
    }

#if HAS_PRODUCTS
LOOPS(float, floats, FloatProduct)
LOOPS(double, doubles, DoubleProduct)

/* The geometry, when a and w (or their gradients) are ours and fit it; 0 otherwise.  a is x where `is_x`, else y. */
static int work_of(PyObject *a, int is_x, PyObject *pairs, PyObject *groups, Work *work) {
    Windows *o = &work->o;
    if (kind_of(a) < 0 || PyArray_NDIM(ARRAY(a)) != 4) return 0;
    if (!windows_of(pairs, o) || !whole(groups, &work->groups)) return 0;
    o->n = PyArray_DIM(ARRAY(a), 0);
    return PyArray_DIM(ARRAY(a), 2) == (is_x ? o->h : o->oh) && PyArray_DIM(ARRAY(a), 3) == (is_x ? o->w : o->ow)
           && work->groups > 0 && o->oh > 0 && o->ow > 0 && o->kh > 0 && o->kw > 0 && o->sh > 0 && o->sw > 0;
}

/* w (O, C/G, KH, KW) of ours, and of a's type */
static int weight_fits(PyObject *w, PyObject *a, const Work *work) {
    return kind_of(w) == PyArray_TYPE(ARRAY(a)) && PyArray_NDIM(ARRAY(w)) == 4 && PyArray_DIM(ARRAY(w), 2) == work->o.kh
           && PyArray_DIM(ARRAY(w), 3) == work->o.kw && PyArray_DIM(ARRAY(w), 0) % work->groups == 0;
}

static double cost(const Work *work) {
    const Windows *o = &work->o;
    return (double)o->n * work->out * o->oh * o->ow * (o->c / work->groups) * o->kh * o->kw;
}

static PyObject *finished(PyObject *y, const Work *work) {
    if (!work->failed) return y;
    Py_DECREF(y);
    return PyErr_NoMemory();
}
#define RUN(loop)                                                                                       \
    do {                                                                                                \
        work.parts = parts_for(cost(&work), work.o.n);                                                  \
        WITHOUT_GIL(RELEASE_AT + 1, side_by_side((int)work.parts, type == NPY_FLOAT ? floats_##loop : doubles_##loop, &work)); \
    } while (0)

/* convolve(x, w, bias or None, windows, groups) -> y */
KERNEL(convolve, 5)
    Work work = {0};
    if (!work_of(args[0], 1, args[3], args[4], &work) || !weight_fits(args[1], args[0], &work)) Py_RETURN_NONE;
    const int type = PyArray_TYPE(ARRAY(args[0]));
    work.o.c = PyArray_DIM(ARRAY(args[0]), 1), work.out = PyArray_DIM(ARRAY(args[1]), 0);
    if (PyArray_DIM(ARRAY(args[1]), 1) * work.groups != work.o.c || work.o.c == 0) Py_RETURN_NONE;
    if (args[2] != Py_None && (kind_of(args[2]) != type || PyArray_SIZE(ARRAY(args[2])) != work.out)) Py_RETURN_NONE;
    npy_intp dims[4] = {work.o.n, work.out, work.o.oh, work.o.ow};
    PyObject *y = PyArray_SimpleNew(4, dims, type);
    if (y == NULL) return NULL;
    work.x = DATA(args[0]), work.w = DATA(args[1]), work.to = DATA(y);
    work.bias = args[2] == Py_None ? NULL : DATA(args[2]);
    RUN(forward);
    return finished(y, &work);
END

/* convolve_x(y, w, windows, groups) -> x: every y spreads w around its place */
KERNEL(convolve_x, 4)
    Work work = {0};
    if (!work_of(args[0], 0, args[2], args[3], &work) || !weight_fits(args[1], args[0], &work)) Py_RETURN_NONE;
    const int type = PyArray_TYPE(ARRAY(args[0]));
    work.out = PyArray_DIM(ARRAY(args[0]), 1), work.o.c = PyArray_DIM(ARRAY(args[1]), 1) * work.groups;
    if (PyArray_DIM(ARRAY(args[1]), 0) != work.out || work.o.c == 0) Py_RETURN_NONE;
    npy_intp dims[4] = {work.o.n, work.o.c, work.o.h, work.o.w};
    PyObject *x = PyArray_SimpleNew(4, dims, type);
    if (x == NULL) return NULL;
    work.y = DATA(args[0]), work.w = DATA(args[1]), work.to = DATA(x);
    RUN(to_x);
    return finished(x, &work);
END

/* convolve_w(y, x, windows, groups) -> w: how each y met each x in a window */
KERNEL(convolve_w, 4)
    Work work = {0};
    const int fits = work_of(args[1], 1, args[2], args[3], &work);
    Windows *o = &work.o;
    const int type = fits ? PyArray_TYPE(ARRAY(args[1])) : -1;
    if (!fits || kind_of(args[0]) != type || PyArray_NDIM(ARRAY(args[0])) != 4 || PyArray_DIM(ARRAY(args[0]), 0) != o->n
        || PyArray_DIM(ARRAY(args[0]), 2) != o->oh || PyArray_DIM(ARRAY(args[0]), 3) != o->ow) Py_RETURN_NONE;
    o->c = PyArray_DIM(ARRAY(args[1]), 1), work.out = PyArray_DIM(ARRAY(args[0]), 1);
    if (o->c == 0 || o->c % work.groups || work.out % work.groups) Py_RETURN_NONE;
    npy_intp dims[4] = {work.out, o->c / work.groups, o->kh, o->kw}, terms = dims[1] * dims[2] * dims[3];
    const size_t itemsize = type == NPY_FLOAT ? sizeof(float) : sizeof(double);
    const npy_intp wide = row_of(work.out / work.groups, itemsize);
    work.parts = parts_for(cost(&work), o->n);
    const size_t bytes = times(times(itemsize, work.parts), times(times(work.groups, terms), wide));
    void *sums = room(bytes);
    if (sums == NULL) return PyErr_NoMemory();
    memset(sums, 0, bytes);
    PyObject *w = PyArray_SimpleNew(4, dims, type);
    if (w != NULL) {
        work.y = DATA(args[0]), work.x = DATA(args[1]), work.to = sums;
        RUN(to_w);
        if (type == NPY_FLOAT) floats_joined(sums, DATA(w), &work, terms, wide);
        else doubles_joined(sums, DATA(w), &work, terms, wide);
    }
    leave(sums);
    return w == NULL ? NULL : finished(w, &work);
END
#else
KERNEL(convolve, 5) Py_RETURN_NONE; END
KERNEL(convolve_x, 4) Py_RETURN_NONE; END
KERNEL(convolve_w, 4) Py_RETURN_NONE; END
#endif
