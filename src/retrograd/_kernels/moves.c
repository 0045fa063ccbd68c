/* Elements moved: reversed, cut along a diagonal, read and written at indices along a dim.  Any dtype of 4 or 8 bytes, in C
   order, where nothing is computed. */

#include "apply.h"
#include "kernels.h"

/* The size of an element of an array of ours; 0 for every other. */
static int width_of(PyObject *x) {
    if (!PyArray_CheckExact(x) || !PyArray_ISCARRAY_RO(ARRAY(x)) || PyArray_TYPE(ARRAY(x)) >= NPY_OBJECT) return 0;
    npy_intp size = PyArray_ITEMSIZE(ARRAY(x));
    return size == 4 || size == 8 ? (int)size : 0;
}

static PyObject *same_kind(PyObject *x, int ndim, const npy_intp *sizes) {
    return PyArray_SimpleNew(ndim, (npy_intp *)sizes, PyArray_TYPE(ARRAY(x)));
}

/* ---- flip ---- */

typedef struct {
    int count;
    npy_intp size[NPY_MAXDIMS], block[NPY_MAXDIMS];     /* block: elements below */
    char turned[NPY_MAXDIMS];
} Turns;

/* Short rows: each turned, or all of them in the other order. */
#define SHORT_ROWS(n)                                                                                             \
    {                                                                                                             \
        if (inside) for (npy_intp r = 0; r < rows; r++)                                                           \
                for (npy_intp i = 0; i < (n); i++) y[r * (n) + i] = x[r * (n) + (n) - 1 - i];                     \
        else for (npy_intp r = 0; r < rows; r++)                                                                  \
                for (npy_intp i = 0; i < (n); i++) y[r * (n) + i] = x[(rows - 1 - r) * (n) + i];                  \
    }
#define TURN(T, NAME)                                                                                    \
    CLONES static void NAME##_row(const T *restrict x, T *restrict y, npy_intp n) {                      \
        for (npy_intp i = 0; i < n; i++) y[i] = x[n - 1 - i];                                            \
    }                                                                                                    \
    CLONES static void NAME##_short(const T *restrict x, T *restrict y, npy_intp rows, npy_intp n,       \
                                     int inside) {                                                       \
        if (n == 2) SHORT_ROWS(2)                                                                        \
        else if (n == 3) SHORT_ROWS(3)                                                                   \
        else if (n == 4) SHORT_ROWS(4)                                                                   \
        else SHORT_ROWS(n)                                                                               \
    }                                                                                                    \
    static void NAME(const Turns *t, int level, const T *x, T *y) {                                      \
        const npy_intp n = t->size[level], block = t->block[level];                                      \
        if (level == t->count - 2 && block <= 16) {     /* one of the two is turned, not both */         \
            NAME##_short(x, y, n, block, t->turned[level + 1]);                                          \
            return;                                                                                      \
        }                                                                                                \
        if (level == t->count - 1) {                                                                     \
            if (t->turned[level]) NAME##_row(x, y, n);                                                   \
            else memcpy(y, x, (size_t)n * sizeof(T));                                                    \
            return;                                                                                      \
        }                                                                                                \
        for (npy_intp i = 0; i < n; i++)                                                                 \
            NAME(t, level + 1, x + (t->turned[level] ? n - 1 - i : i) * block, y + i * block);           \
    }
TURN(uint32_t, turn4)
TURN(uint64_t, turn8)

/* flip(x, dims): dims non-negative */
KERNEL(flip, 2)
    PyObject *x = args[0];
    int width = width_of(x);
    if (!width || !PyTuple_Check(args[1])) Py_RETURN_NONE;
    int ndim = PyArray_NDIM(ARRAY(x));
    char turned[NPY_MAXDIMS] = {0};
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[1]); k++) {
        PyObject *item = PyTuple_GET_ITEM(args[1], k);
        npy_intp d;
        if (!whole(item, &d) || d < 0 || d >= ndim) Py_RETURN_NONE;
        turned[d] = 1;
    }
    Turns t;
    t.count = 0;
    for (int d = 0; d < ndim; d++) {                    /* neighbours turned alike are one dim */
        npy_intp size = PyArray_DIM(ARRAY(x), d);
        if (size == 1) continue;
        if (t.count && t.turned[t.count - 1] == turned[d]) t.size[t.count - 1] *= size;
        else {
            t.size[t.count] = size;
            t.turned[t.count++] = turned[d];
        }
    }
    if (t.count == 0) {
        t.size[0] = 1;
        t.turned[t.count++] = 0;
    }
    npy_intp below = 1;
    for (int d = t.count - 1; d >= 0; d--) {
        t.block[d] = below;
        below *= t.size[d];
    }
    PyObject *y = same_kind(x, ndim, PyArray_DIMS(ARRAY(x)));
    if (y == NULL || below == 0) return y;
    if (width == 4) WITHOUT_GIL(below, turn4(&t, 0, DATA(x), DATA(y)));
    else WITHOUT_GIL(below, turn8(&t, 0, DATA(x), DATA(y)));
    return y;
END

/* ---- roll ---- */

static void roll_all(const char *x, char *y, npy_intp outer, size_t row, size_t by) {
    for (npy_intp o = 0; o < outer; o++, x += row, y += row) {
        memcpy(y, x + (row - by), by);
        memcpy(y + by, x, row - by);
    }
}

/* roll(x, shift, dim or None): by `shift` places along dim, or of all elements in order; elements of any size */
KERNEL(roll, 3)
    PyObject *x = args[0];
    npy_intp shift, outer = 1, n, inner = 1;
    if (!PyArray_CheckExact(x) || !PyArray_ISCARRAY_RO(ARRAY(x)) || !PyArray_ISNUMBER(ARRAY(x))) Py_RETURN_NONE;
    if (!whole(args[1], &shift)) Py_RETURN_NONE;
    if (args[2] == Py_None) n = PyArray_SIZE(ARRAY(x));
    else if (!around(x, args[2], &outer, &n, &inner)) Py_RETURN_NONE;
    PyObject *y = same_kind(x, PyArray_NDIM(ARRAY(x)), PyArray_DIMS(ARRAY(x)));
    const npy_intp all = PyArray_SIZE(ARRAY(x));
    if (y == NULL || all == 0) return y;
    shift %= n;
    const size_t step = (size_t)(inner * PyArray_ITEMSIZE(ARRAY(x)));
    const size_t by = (size_t)(shift < 0 ? shift + n : shift) * step;
    WITHOUT_GIL(all, roll_all(DATA(x), DATA(y), outer, (size_t)n * step, by));
    return y;
END

/* ---- choose ---- */

/* An array of no dims, for which the step is 0, stands for its one value. */
#define CHOOSE(T, NAME)                                                                                                \
    CLONES static void NAME(const npy_bool *restrict mask, const T *a, npy_intp a_step, const T *b, npy_intp b_step,   \
                            T *restrict y, npy_intp n) {                                                               \
        if (n == 0) return;                                                                                            \
        const T u = *a, v = *b;                                                                                        \
        if (a_step && b_step) SIMD for (npy_intp i = 0; i < n; i++) y[i] = mask[i] ? a[i] : b[i];                      \
        else if (a_step) SIMD for (npy_intp i = 0; i < n; i++) y[i] = mask[i] ? a[i] : v;                              \
        else if (b_step) SIMD for (npy_intp i = 0; i < n; i++) y[i] = mask[i] ? u : b[i];                              \
        else SIMD for (npy_intp i = 0; i < n; i++) y[i] = mask[i] ? u : v;                                             \
    }
CHOOSE(uint8_t, choose1)
CHOOSE(uint16_t, choose2)
CHOOSE(uint32_t, choose4)
CHOOSE(uint64_t, choose8)

/* choose(mask, a, b) -> a where the mask holds, else b: of the mask's shape or 0-d; any dtype of 1, 2, 4 or 8 bytes.  Where the
   mask holds is no branch: a random one is mispredicted half the time, which takes np.where 4 ns an element. */
KERNEL(choose, 3)
    PyObject *mask = args[0], *given[2];
    if (!PyArray_CheckExact(mask) || PyArray_TYPE(ARRAY(mask)) != NPY_BOOL || !PyArray_ISCARRAY_RO(ARRAY(mask))
        || !PyArray_CheckExact(args[1]) || !PyArray_CheckExact(args[2])) Py_RETURN_NONE;
    PyArray_Descr *dtype = PyArray_DESCR(ARRAY(args[1]));
    const npy_intp width = PyArray_ITEMSIZE(ARRAY(args[1])), n = PyArray_SIZE(ARRAY(mask));
    if ((width != 1 && width != 2 && width != 4 && width != 8) || PyDataType_REFCHK(dtype)
        || !PyArray_EquivTypes(dtype, PyArray_DESCR(ARRAY(args[2])))) Py_RETURN_NONE;
    npy_intp step[2];
    for (int k = 0; k < 2; k++) {
        step[k] = PyArray_NDIM(ARRAY(args[k + 1])) > 0;
        if (!step[k] && !PyArray_ISBEHAVED_RO(ARRAY(args[k + 1]))) given[k] = NULL;
        else given[k] = step[k] ? ordered(args[k + 1], mask, PyArray_TYPE(ARRAY(args[1]))) : Py_NewRef(args[k + 1]);
    }
    PyObject *y = NULL;
    if (given[0] && given[1]) {
        Py_INCREF(dtype);
        y = PyArray_NewFromDescr(&PyArray_Type, dtype, PyArray_NDIM(ARRAY(mask)), PyArray_DIMS(ARRAY(mask)), NULL, NULL, 0, NULL);
    }
    if (y) {
        const void *m = DATA(mask), *a = DATA(given[0]), *b = DATA(given[1]);
        if (width == 1) WITHOUT_GIL(n, choose1(m, a, step[0], b, step[1], DATA(y), n));
        else if (width == 2) WITHOUT_GIL(n, choose2(m, a, step[0], b, step[1], DATA(y), n));
        else if (width == 4) WITHOUT_GIL(n, choose4(m, a, step[0], b, step[1], DATA(y), n));
        else WITHOUT_GIL(n, choose8(m, a, step[0], b, step[1], DATA(y), n));
    }
    const int refused = !given[0] || !given[1];
    Py_XDECREF(given[0]);
    Py_XDECREF(given[1]);
    if (refused) Py_RETURN_NONE;
    return y;
END

/* ---- triangles ---- */

#define TRIANGLE(T, NAME)                                                                                              \
    CLONES static void NAME(const T *restrict x, T *restrict y, npy_intp matrices, npy_intp rows, npy_intp columns,    \
                            npy_intp offset, int upper) {                                                              \
        for (npy_intp m = 0; m < matrices; m++) {                                                                      \
            for (npy_intp i = 0; i < rows; i++, x += columns, y += columns) {                                          \
                const npy_intp at = i + offset + !upper, cut = at < 0 ? 0 : at > columns ? columns : at;               \
                if (upper) for (npy_intp j = 0; j < columns; j++) y[j] = j < cut ? 0 : x[j];                           \
                else for (npy_intp j = 0; j < columns; j++) y[j] = j < cut ? x[j] : 0;                                 \
            }                                                                                                          \
        }                                                                                                              \
    }
TRIANGLE(uint32_t, triangle4)
TRIANGLE(uint64_t, triangle8)

/* triangle(x (..., R, C), offset, upper): zeros below (above) the diagonal */
KERNEL(triangle, 3)
    PyObject *x = args[0];
    int width = width_of(x), ndim = width ? PyArray_NDIM(ARRAY(x)) : 0, overflow;
    if (ndim < 2 || !PyLong_Check(args[1])) Py_RETURN_NONE;
    long long offset = PyLong_AsLongLongAndOverflow(args[1], &overflow);
    if (overflow || offset > 1LL << 40 || offset < -(1LL << 40)) Py_RETURN_NONE;
    PyObject *y = same_kind(x, ndim, PyArray_DIMS(ARRAY(x)));
    npy_intp n = PyArray_SIZE(ARRAY(x)), rows = PyArray_DIM(ARRAY(x), ndim - 2), columns = PyArray_DIM(ARRAY(x), ndim - 1);
    if (y == NULL || n == 0) return y;
    npy_intp matrices = n / (rows * columns);
    int upper = args[2] == Py_True;
    if (width == 4) WITHOUT_GIL(n, triangle4(DATA(x), DATA(y), matrices, rows, columns, (npy_intp)offset, upper));
    else WITHOUT_GIL(n, triangle8(DATA(x), DATA(y), matrices, rows, columns, (npy_intp)offset, upper));
    return y;
END

/* ---- indices ---- */

static int is_index(PyObject *x) {
    return PyArray_CheckExact(x) && PyArray_TYPE(ARRAY(x)) == NPY_INT64 && PyArray_ISCARRAY_RO(ARRAY(x));
}

CLONES static void range_of(const int64_t *x, npy_intp n, int64_t *low, int64_t *high) {
    int64_t a = x[0], b = x[0];
    for (npy_intp i = 1; i < n; i++) {
        a = x[i] < a ? x[i] : a;
        b = x[i] > b ? x[i] : b;
    }
    *low = a;
    *high = b;
}

/* bounds(index) -> (least, greatest) */
KERNEL(bounds, 1)
    if (!is_index(args[0]) || PyArray_SIZE(ARRAY(args[0])) == 0) Py_RETURN_NONE;
    int64_t low, high;
    range_of(DATA(args[0]), PyArray_SIZE(ARRAY(args[0])), &low, &high);
    return Py_BuildValue("LL", (long long)low, (long long)high);
END

static int mark(const int64_t *index, int64_t *y, npy_intp count, npy_intp classes) {
    int bad = 0;
    for (npy_intp i = 0; i < count; i++) y[i * classes + inside(READ(index[i]), classes, &bad)] = 1;
    return bad;
}

/* one_hot(index, classes; as many as needed where it is -1) -> (..., classes) of zeros with a one at each class */
KERNEL(one_hot, 2)
    PyObject *index = args[0];
    npy_intp classes, sizes[NPY_MAXDIMS];
    if (!is_index(index) || !whole(args[1], &classes) || PyArray_SIZE(ARRAY(index)) == 0) Py_RETURN_NONE;
    const npy_intp many = PyArray_SIZE(ARRAY(index));
    const int ndim = PyArray_NDIM(ARRAY(index));
    if (classes == -1) {
        int64_t low, high;
        range_of(DATA(index), many, &low, &high);
        if (low < 0 || high > PY_SSIZE_T_MAX / 16 / many) Py_RETURN_NONE;
        classes = (npy_intp)high + 1;
    }
    if (classes <= 0 || ndim == NPY_MAXDIMS) Py_RETURN_NONE;
    for (int d = 0; d < ndim; d++) sizes[d] = PyArray_DIM(ARRAY(index), d);
    sizes[ndim] = classes;
    PyObject *y = PyArray_ZEROS(ndim + 1, sizes, NPY_INT64, 0);
    if (y == NULL) return NULL;
    int bad;
    WITHOUT_GIL(many, bad = mark(DATA(index), DATA(y), many, classes));
    return unless(bad, y);
END

/* A walk over the rows of an index: where each begins in two arrays that it indexes, its own dim apart. */
typedef struct {
    int ndim, dim;
    npy_intp rows, row, n;                              /* row: its length; n: how many the index may name */
    npy_intp size[NPY_MAXDIMS], far[NPY_MAXDIMS], near[NPY_MAXDIMS], at[NPY_MAXDIMS];
    npy_intp step;                                      /* between neighbours along dim */
} Walk;

/* 0 where the index does not fit: other dims, longer than `into` (but along dim) or than `beside` (or NULL). */
static int walk(Walk *w, PyObject *index, PyObject *dim, PyObject *into, PyObject *beside) {
    w->ndim = PyArray_NDIM(ARRAY(into));
    npy_intp d;
    if (!is_index(index) || PyArray_NDIM(ARRAY(index)) != w->ndim || !whole(dim, &d) || d < 0 || d >= w->ndim) return 0;
    if (beside != NULL && PyArray_NDIM(ARRAY(beside)) != w->ndim) return 0;
    w->dim = (int)d;
    w->n = PyArray_DIM(ARRAY(into), w->dim);
    npy_intp far = 1, near = 1;
    for (int i = w->ndim - 1; i >= 0; i--) {
        w->size[i] = PyArray_DIM(ARRAY(index), i);
        if (i != w->dim && w->size[i] > PyArray_DIM(ARRAY(into), i)) return 0;
        if (beside != NULL && w->size[i] > PyArray_DIM(ARRAY(beside), i)) return 0;
        w->far[i] = i == w->dim ? 0 : far;
        if (i == w->dim) w->step = far;
        w->near[i] = near;
        w->at[i] = 0;
        far *= PyArray_DIM(ARRAY(into), i);
        near *= beside == NULL ? 0 : PyArray_DIM(ARRAY(beside), i);
    }
    npy_intp all = PyArray_SIZE(ARRAY(index));
    w->row = w->size[w->ndim - 1];
    w->rows = w->row ? all / w->row : 0;
    return all == 0 || w->n > 0;
}

/* To the next row. */
static inline void onward(Walk *w, npy_intp *far, npy_intp *near) {
    for (int i = w->ndim - 2; i >= 0; i--) {
        *far += w->far[i];
        *near += w->near[i];
        if (++w->at[i] < w->size[i]) return;
        *far -= w->at[i] * w->far[i];
        *near -= w->at[i] * w->near[i];
        w->at[i] = 0;
    }
}

/* Both: whether an index was out of bounds */
#define GATHER(T, NAME)                                                                        \
    static int NAME(Walk *w, const T *x, const int64_t *index, T *y) {                         \
        const npy_intp own = w->far[w->ndim - 1], n = w->n, step = w->step;                    \
        npy_intp far = 0, near = 0;                                                            \
        int bad = 0;                                                                           \
        for (npy_intp r = 0; r < w->rows; r++, index += w->row, y += w->row) {                 \
            for (npy_intp j = 0; j < w->row; j++)                                              \
                y[j] = x[far + j * own + placed(READ(index[j]), n, &bad) * step];              \
            onward(w, &far, &near);                                                            \
        }                                                                                      \
        return bad;                                                                            \
    }
GATHER(uint32_t, gather4)
GATHER(uint64_t, gather8)

/* gather(x, dim, index): index has x's dims, and no other dim longer */
KERNEL(gather, 3)
    int width = width_of(args[0]);
    Walk w;
    if (!width || PyArray_NDIM(ARRAY(args[0])) == 0 || !walk(&w, args[2], args[1], args[0], NULL)) Py_RETURN_NONE;
    PyObject *y = same_kind(args[0], w.ndim, w.size);
    if (y == NULL) return NULL;
    int bad;
    if (width == 4) WITHOUT_GIL(w.rows * w.row, bad = gather4(&w, DATA(args[0]), DATA(args[2]), DATA(y)));
    else WITHOUT_GIL(w.rows * w.row, bad = gather8(&w, DATA(args[0]), DATA(args[2]), DATA(y)));
    return unless(bad, y);
END

enum { SET, ADD, MULTIPLY, GREATEST, LEAST };

#define EACH_ROW(STATEMENT)                                                                    \
    for (npy_intp r = 0; r < w->rows; r++, index += w->row) {                                  \
        for (npy_intp j = 0; j < w->row; j++) {                                                \
            T_ *to = y + far + j * own + placed(READ(index[j]), n, &bad) * step;               \
            const T_ v = b[near + j * side];                                                   \
            STATEMENT;                                                                         \
        }                                                                                      \
        onward(w, &far, &near);                                                                \
    }                                                                                          \
    break;
/* U: the type to add and multiply in: unsigned for integers, which wrap around */
#define SCATTER(T, U, NAME)                                                                            \
    static int NAME(Walk *w, T *y, const int64_t *index, const T *b, int how, npy_intp side) {         \
        typedef T T_;                                                                                  \
        const npy_intp own = w->far[w->ndim - 1], n = w->n, step = w->step;                            \
        npy_intp far = 0, near = 0;                                                                    \
        int bad = 0;                                                                                   \
        switch (how) {                                                                                 \
        case SET: EACH_ROW(*to = v)                                                                    \
        case ADD: EACH_ROW(*to = (T)((U)*to + (U)v))                                                   \
        case MULTIPLY: EACH_ROW(*to = (T)((U)*to * (U)v))                                              \
        case GREATEST: EACH_ROW(if (v > *to || v != v) *to = v)                                        \
        default: EACH_ROW(if (v < *to || v != v) *to = v)                                              \
        }                                                                                              \
        return bad;                                                                                    \
    }
SCATTER(float, float, scatter_floats)
SCATTER(double, double, scatter_doubles)
SCATTER(int64_t, uint64_t, scatter_ints)

/* scatter(x, dim, index, b, how) -> a copy of x with b, an array of x's type or a number, set (0), added (1), multiplied (2),
   or the greatest (3), least (4) of both, at the index */
KERNEL(scatter, 5)
    PyObject *x = args[0], *b = args[3];
    if (!PyArray_CheckExact(x) || !PyArray_ISBEHAVED_RO(ARRAY(x)) || PyArray_NDIM(ARRAY(x)) == 0) Py_RETURN_NONE;
    int type = PyArray_TYPE(ARRAY(x)), number = PyFloat_CheckExact(b) || PyLong_CheckExact(b), overflow = 0;
    type = type == NPY_LONGLONG && sizeof(long long) == 8 ? NPY_INT64 : type;
    npy_intp how;
    if (!whole(args[4], &how)) Py_RETURN_NONE;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_INT64) || how < SET || how > LEAST) Py_RETURN_NONE;
    if (!number && (!PyArray_CheckExact(b) || PyArray_TYPE(ARRAY(b)) != PyArray_TYPE(ARRAY(x))
                    || !PyArray_ISCARRAY_RO(ARRAY(b)))) Py_RETURN_NONE;
    if (type == NPY_INT64 && PyFloat_CheckExact(b)) Py_RETURN_NONE;
    Walk w;
    if (!walk(&w, args[2], args[1], x, number ? NULL : b)) Py_RETURN_NONE;
    union { float f; double d; int64_t i; } value;
    if (number && type == NPY_INT64) value.i = PyLong_AsLongLongAndOverflow(b, &overflow);
    else if (number) value.d = PyFloat_AsDouble(b);
    if (number && (overflow || (type != NPY_INT64 && value.d == -1.0 && PyErr_Occurred()))) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (number && type == NPY_FLOAT) value.f = (float)value.d;
    PyObject *y = PyArray_NewCopy(ARRAY(x), NPY_CORDER);
    if (y == NULL) return NULL;
    const void *from = number ? (const void *)&value : DATA(b);
    npy_intp n = w.rows * w.row, side = number ? 0 : 1;
    int bad;
    if (number) memset(w.near, 0, sizeof w.near);
    if (type == NPY_FLOAT) WITHOUT_GIL(n, bad = scatter_floats(&w, DATA(y), DATA(args[2]), from, (int)how, side));
    else if (type == NPY_DOUBLE) WITHOUT_GIL(n, bad = scatter_doubles(&w, DATA(y), DATA(args[2]), from, (int)how, side));
    else WITHOUT_GIL(n, bad = scatter_ints(&w, DATA(y), DATA(args[2]), from, (int)how, side));
    return unless(bad, y);
END

/* ---- whole slices, masks ---- */

#define SLICES(T, U, NAME)                                                                                           \
    static int NAME(T *y, const int64_t *index, const T *b, npy_intp outer, npy_intp n, npy_intp inner, npy_intp m,  \
                    int how, int number) {                                                                           \
        int bad = 0;                                                                                                 \
        for (npy_intp o = 0; o < outer; o++) {                                                                       \
            for (npy_intp i = 0; i < m; i++) {                                                                       \
                T *to = y + (o * n + placed(READ(index[i]), n, &bad)) * inner;                                       \
                const T *from = number ? b : b + (o * m + i) * inner;                                                \
                if (number && how == SET) for (npy_intp j = 0; j < inner; j++) to[j] = *from;                        \
                else if (number) for (npy_intp j = 0; j < inner; j++) to[j] = (T)((U)to[j] + (U)*from);              \
                else if (how == SET) for (npy_intp j = 0; j < inner; j++) to[j] = from[j];                           \
                else for (npy_intp j = 0; j < inner; j++) to[j] = (T)((U)to[j] + (U)from[j]);                        \
            }                                                                                                        \
        }                                                                                                            \
        return bad;                                                                                                  \
    }
SLICES(float, float, slices_floats)
SLICES(double, double, slices_doubles)
SLICES(int64_t, uint64_t, slices_ints)

/* slices(x, dim, index (M,), b, how) -> a copy of x with b, of x's type and size M along dim, or a number, set (0) or added (1)
   in the slices that index names */
KERNEL(slices, 5)
    PyObject *x = args[0], *index = args[2], *b = args[3];
    npy_intp outer, n, inner;
    if (!PyArray_CheckExact(x) || !PyArray_ISCARRAY_RO(ARRAY(x)) || PyArray_NDIM(ARRAY(x)) == 0) Py_RETURN_NONE;
    int type = PyArray_TYPE(ARRAY(x)), number = PyFloat_CheckExact(b) || PyLong_CheckExact(b);
    npy_intp how;
    if (!whole(args[4], &how)) Py_RETURN_NONE;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_INT64) || (how != SET && how != ADD)) Py_RETURN_NONE;
    if (!is_index(index) || PyArray_NDIM(ARRAY(index)) != 1 || !around(x, args[1], &outer, &n, &inner)) Py_RETURN_NONE;
    npy_intp m = PyArray_SIZE(ARRAY(index));
    union { float f; double d; int64_t i; } value;
    if (number) {
        double p = 0;
        int overflow = 0;
        if (type == NPY_INT64 ? !PyLong_CheckExact(b) : !numbers(&b, 1, &p)) Py_RETURN_NONE;
        if (type == NPY_FLOAT) value.f = (float)p;
        else if (type == NPY_DOUBLE) value.d = p;
        else value.i = PyLong_AsLongLongAndOverflow(b, &overflow);
        if (overflow) Py_RETURN_NONE;
    } else {
        npy_intp o, k, i;
        if (!PyArray_CheckExact(b) || PyArray_TYPE(ARRAY(b)) != type || !PyArray_ISCARRAY_RO(ARRAY(b))
            || PyArray_NDIM(ARRAY(b)) != PyArray_NDIM(ARRAY(x)) || !around(b, args[1], &o, &k, &i)
            || o != outer || k != m || i != inner) Py_RETURN_NONE;
    }
    if (m && n == 0) Py_RETURN_NONE;
    PyObject *y = PyArray_NewCopy(ARRAY(x), NPY_CORDER);
    if (y == NULL) return NULL;
    const void *from = number ? (const void *)&value : DATA(b);
    npy_intp all = outer * m * inner;
    int bad = 0;
    if (all == 0) {
        for (npy_intp i = 0; i < m; i++) (void)placed(READ(((int64_t *)DATA(index))[i]), n, &bad);
    } else if (type == NPY_FLOAT)
        WITHOUT_GIL(all, bad = slices_floats(DATA(y), DATA(index), from, outer, n, inner, m, (int)how, number));
    else if (type == NPY_DOUBLE)
        WITHOUT_GIL(all, bad = slices_doubles(DATA(y), DATA(index), from, outer, n, inner, m, (int)how, number));
    else WITHOUT_GIL(all, bad = slices_ints(DATA(y), DATA(index), from, outer, n, inner, m, (int)how, number));
    return unless(bad, y);
END

#define FILL(T)                                                   \
    for (npy_intp i = 0, k = 0; i < size; i++)                    \
        if (mask[i] && k < given) ((T *)DATA(y))[i] = ((const T *)from)[k++];

/* masked_scatter(x, mask, b) -> a copy of x with the first elements of b, in order, where the mask holds */
KERNEL(masked_scatter, 3)
    PyObject *x = args[0], *b = args[2];
    int width = width_of(x);
    if (!width || width_of(b) != width || PyArray_TYPE(ARRAY(b)) != PyArray_TYPE(ARRAY(x)) || !PyArray_CheckExact(args[1])
        || PyArray_TYPE(ARRAY(args[1])) != NPY_BOOL || !PyArray_ISCARRAY_RO(ARRAY(args[1])) || !same_shape(x, args[1]))
        Py_RETURN_NONE;
    const npy_bool *mask = DATA(args[1]);
    npy_intp size = PyArray_SIZE(ARRAY(x)), given = PyArray_SIZE(ARRAY(b)), wanted = 0;
    for (npy_intp i = 0; i < size; i++) wanted += mask[i] != 0;
    if (wanted > given) Py_RETURN_NONE;
    PyObject *y = PyArray_NewCopy(ARRAY(x), NPY_CORDER);
    if (y == NULL) return NULL;
    const void *from = DATA(b);
    if (width == 4) {
        FILL(uint32_t)
    } else {
        FILL(uint64_t)
    }
    return y;
END
