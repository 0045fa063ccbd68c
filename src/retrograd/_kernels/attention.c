/* softmax(q kt * factor + mask) v and its gradient, a few rows of the weights at a time: no T x S array is ever whole.

   q (B, H, T, E)   k, v (B, H, S, E)   float32, the last dim in one piece, the others with any strides
   Of each row the logarithm of the sum of exponentials is kept, by which the way back forms its weights again (Rabe and
   Staats 2021, Dao et al. 2022).  Pairs of B and H are shared out among threads. */

#include "gemm.h"
#include "kernels.h"
#include "threads.h"

#define CELLS (1 << 15) /* weights at a time */

typedef struct {
    const float *at;
    npy_intp b, h, t; /* strides in elements */
} Part4;

typedef struct {
    npy_intp b, h, t, s, e, step, wide, rows, parts; /* step, wide: of rows of S and of E numbers */
    Part4 q, k, v, g, y, mask, dq, dk, dv;
    float *lse, factor;                              /* lse (B, T, H) */
    int causal, masked, failed;
} Attention;

#if HAS_PRODUCTS
#define AT(part, b_, h_) ((float *)o->part.at + (b_) * o->part.b + (h_) * o->part.h)

/* x = s * factor + mask; in one row those from `seen` on are hidden */
CLONES static float loop_scores(float *restrict s, const float *restrict mask, float factor, npy_intp seen) {
    float top = -INFINITY;
    if (mask) SIMD for (npy_intp j = 0; j < seen; j++) s[j] = s[j] * factor + mask[j];
    else SIMD for (npy_intp j = 0; j < seen; j++) s[j] *= factor;
    SIMD_MAX(top) for (npy_intp j = 0; j < seen; j++) top = s[j] > top ? s[j] : top;
    return top == -INFINITY ? 0 : top;
}

CLONES static float loop_weights(float *restrict s, float top, npy_intp seen, npy_intp columns) {
    float sum = 0;
    SIMD_SUM(sum) for (npy_intp j = 0; j < seen; j++) {
        const float e = exp_of(s[j] - top);
        s[j] = e;
        sum += e;
    }
    for (npy_intp j = seen; j < columns; j++) s[j] = 0;
    return sum;
}

/* Of one row: s becomes the weights p, d their gradient times p: p (d - sum of g y) factor */
CLONES static void loop_slopes(float *restrict s, float *restrict d, const float *restrict g, const float *restrict y, float lse,
                               float factor, npy_intp seen, npy_intp columns, npy_intp e) {
    float inner = 0;
    SIMD_SUM(inner) for (npy_intp j = 0; j < e; j++) inner += g[j] * y[j];
    SIMD for (npy_intp j = 0; j < seen; j++) {
        const float p = exp_of(s[j] - lse);
        d[j] = p * (d[j] - inner) * factor;
        s[j] = p;
    }
    for (npy_intp j = seen; j < columns; j++) s[j] = d[j] = 0;
}

static void pack(const float *from, npy_intp step, npy_intp rows, npy_intp e, float *to, npy_intp wide) {
    for (npy_intp i = 0; i < rows; i++) {
        memcpy(to + i * wide, from + i * step, sizeof(float) * e);
        memset(to + i * wide + e, 0, sizeof(float) * (wide - e));
    }
}

static npy_intp seen_by(const Attention *o, npy_intp row) { return o->causal && row + 1 < o->s ? row + 1 : o->s; }

static void forward(void *context, int part) {
    Attention *o = context;
    const npy_intp first = o->b * o->h * part / o->parts, last = o->b * o->h * (part + 1) / o->parts;
    float *turned = room(times(sizeof(float), plus(plus(times(o->e, o->step), times(o->s, o->wide)), times(o->rows, o->step))));
    if (turned == NULL) {
        o->failed = 1;
        return;
    }
    float *values = turned + o->e * o->step, *block = values + o->s * o->wide;
    memset(turned, 0, sizeof(float) * o->e * o->step);
    for (npy_intp item = first; item < last; item++) {
        const npy_intp b = item / o->h, h = item % o->h;
        const float *q = AT(q, b, h), *mask = o->masked ? AT(mask, b, h) : NULL;
        float *y = AT(y, b, h);
        floats_turn(AT(k, b, h), o->s, o->e, o->k.t, turned, o->step);
        pack(AT(v, b, h), o->v.t, o->s, o->e, values, o->wide);
        for (npy_intp r = 0; r < o->t; r += o->rows) {
            const npy_intp rows = o->t - r < o->rows ? o->t - r : o->rows, columns = seen_by(o, r + rows - 1);
            const FloatProduct scores = {rows, columns, o->e, q + r * o->q.t, o->q.t, 1, turned, o->step, NULL, 0, 0, block, o->step};
            floats_product(&scores);
            float sums[64];
            for (npy_intp i = 0; i < rows; i++) {
                const npy_intp seen = seen_by(o, r + i);
                float *s = block + i * o->step;
                const float top = loop_scores(s, mask ? mask + (r + i) * o->mask.t : NULL, o->factor, seen);
                sums[i] = loop_weights(s, top, seen, columns);
                o->lse[(b * o->t + r + i) * o->h + h] = sums[i] == 0 ? INFINITY : top + logf(sums[i]);
            }
            const FloatProduct mixed = {rows, o->e, columns, block, o->step, 1, values, o->wide, NULL, 0, 0, y + r * o->y.t, o->y.t};
            floats_product(&mixed);
            for (npy_intp i = 0; i < rows; i++) {
                const float scale = sums[i] == 0 ? 1 : 1 / sums[i];
                for (npy_intp j = 0; j < o->e; j++) y[(r + i) * o->y.t + j] *= scale;
            }
        }
    }
    leave(turned);
}

static void backward(void *context, int part) {
    Attention *o = context;
    const npy_intp first = o->b * o->h * part / o->parts, last = o->b * o->h * (part + 1) / o->parts;
    const size_t tall = times(o->e, o->step), flat = times(o->s, o->wide), block = times(o->rows, o->step);
    const size_t strip = times(o->rows, o->wide), pairs = times(2, plus(plus(tall, flat), plus(block, strip)));
    float *kt = room(times(sizeof(float), plus(pairs, flat)));
    if (kt == NULL) {
        o->failed = 1;
        return;
    }
    float *vt = kt + tall, *keys = vt + tall, *dk = keys + flat, *dv = dk + flat, *p = dv + flat, *d = p + block;
    float *some_q = d + block, *some_g = some_q + strip;
    memset(kt, 0, sizeof(float) * 2 * tall);
    for (npy_intp item = first; item < last; item++) {
        const npy_intp b = item / o->h, h = item % o->h;
        const float *q = AT(q, b, h), *g = AT(g, b, h), *y = AT(y, b, h), *mask = o->masked ? AT(mask, b, h) : NULL;
        floats_turn(AT(k, b, h), o->s, o->e, o->k.t, kt, o->step);
        floats_turn(AT(v, b, h), o->s, o->e, o->v.t, vt, o->step);
        pack(AT(k, b, h), o->k.t, o->s, o->e, keys, o->wide);
        memset(dk, 0, sizeof(float) * 2 * flat);
        for (npy_intp r = 0; r < o->t; r += o->rows) {
            const npy_intp rows = o->t - r < o->rows ? o->t - r : o->rows, columns = seen_by(o, r + rows - 1);
            const FloatProduct scores = {rows, columns, o->e, q + r * o->q.t, o->q.t, 1, kt, o->step, NULL, 0, 0, p, o->step};
            const FloatProduct slopes = {rows, columns, o->e, g + r * o->g.t, o->g.t, 1, vt, o->step, NULL, 0, 0, d, o->step};
            floats_product(&scores);
            floats_product(&slopes);
            for (npy_intp i = 0; i < rows; i++) {
                const npy_intp seen = seen_by(o, r + i), at = i * o->step;
                loop_scores(p + at, mask ? mask + (r + i) * o->mask.t : NULL, o->factor, seen);
                loop_slopes(p + at, d + at, g + (r + i) * o->g.t, y + (r + i) * o->y.t, o->lse[(b * o->t + r + i) * o->h + h],
                          o->factor, seen, columns, o->e);
            }
            pack(q + r * o->q.t, o->q.t, rows, o->e, some_q, o->wide);
            pack(g + r * o->g.t, o->g.t, rows, o->e, some_g, o->wide);
            const FloatProduct to_v = {columns, o->e, rows, p, 1, o->step, some_g, o->wide, dv, o->wide, 1, dv, o->wide};
            const FloatProduct to_k = {columns, o->e, rows, d, 1, o->step, some_q, o->wide, dk, o->wide, 1, dk, o->wide};
            const FloatProduct to_q = {rows, o->e, columns, d, o->step, 1, keys, o->wide, NULL, 0, 0, AT(dq, b, h) + r * o->dq.t, o->dq.t};
            floats_product(&to_v);
            floats_product(&to_k);
            floats_product(&to_q);
        }
        for (npy_intp i = 0; i < o->s; i++) {
            memcpy(AT(dk, b, h) + i * o->dk.t, dk + i * o->wide, sizeof(float) * o->e);
            memcpy(AT(dv, b, h) + i * o->dv.t, dv + i * o->wide, sizeof(float) * o->e);
        }
    }
    leave(kt);
}

/* A (B, H, rows, E) of float32 with its last dim in one piece; rows < 0: whatever there are */
static int part_of(PyObject *x, const Attention *o, npy_intp rows, Part4 *part) {
    if (!PyArray_CheckExact(x) || PyArray_TYPE(ARRAY(x)) != NPY_FLOAT || PyArray_NDIM(ARRAY(x)) != 4 || !PyArray_ISBEHAVED_RO(ARRAY(x)))
        return 0;
    const npy_intp *dims = PyArray_DIMS(ARRAY(x)), *strides = PyArray_STRIDES(ARRAY(x)), size = sizeof(float);
    if (dims[0] != o->b || dims[1] != o->h || dims[2] != rows || dims[3] != o->e || (strides[3] != size && o->e > 1)) return 0;
    for (int i = 0; i < 3; i++)
        if (strides[i] % size) return 0;
    *part = (Part4){DATA(x), strides[0] / size, strides[1] / size, strides[2] / size};
    return 1;
}

/* The mask (T, S) or (B or 1, H or 1, T, S) in C order, or None */
static int mask_of(PyObject *x, Attention *o) {
    if (x == Py_None) return 1;
    if (kind_of(x) != NPY_FLOAT) return 0;
    const int ndim = PyArray_NDIM(ARRAY(x));
    const npy_intp *dims = PyArray_DIMS(ARRAY(x));
    if ((ndim != 2 && ndim != 4) || dims[ndim - 2] != o->t || dims[ndim - 1] != o->s) return 0;
    o->masked = 1;
    o->mask = (Part4){DATA(x), 0, 0, o->s};
    if (ndim == 2) return 1;
    if (dims[1] > 1) o->mask.h = o->t * o->s;
    if (dims[0] > 1) o->mask.b = dims[1] * o->t * o->s;
    return (dims[0] == 1 || dims[0] == o->b) && (dims[1] == 1 || dims[1] == o->h);
}

static int fits(PyObject *q, PyObject *k, PyObject *v, PyObject *mask, PyObject *causal, PyObject *factor, Attention *o) {
    if (!PyArray_CheckExact(q) || PyArray_NDIM(ARRAY(q)) != 4 || !PyArray_CheckExact(k) || PyArray_NDIM(ARRAY(k)) != 4) return 0;
    o->b = PyArray_DIM(ARRAY(q), 0), o->h = PyArray_DIM(ARRAY(q), 1), o->t = PyArray_DIM(ARRAY(q), 2), o->e = PyArray_DIM(ARRAY(q), 3);
    o->s = PyArray_DIM(ARRAY(k), 2);
    o->causal = causal == Py_True;
    o->factor = (float)PyFloat_AsDouble(factor);
    if (PyErr_Occurred()) return -1;
    o->step = row_of(o->s, sizeof(float)), o->wide = row_of(o->e, sizeof(float));
    o->rows = CELLS / o->step / 8 * 8;
    o->rows = o->rows < 8 ? 8 : o->rows > 64 ? 64 : o->rows;
    o->parts = parts_for(2.0 * o->b * o->h * o->t * o->s * o->e, o->b * o->h);
    return o->b > 0 && o->h > 0 && o->t > 0 && o->s > 0 && o->e > 0 && part_of(q, o, o->t, &o->q) && part_of(k, o, o->s, &o->k)
           && part_of(v, o, o->s, &o->v) && mask_of(mask, o);
}

/* A new array that lies as x does, dim by dim. */
static PyObject *lying_as(PyObject *x) { return PyArray_NewLikeArray(ARRAY(x), NPY_KEEPORDER, NULL, 0); }

/* attention(q, k, v, mask to add or None, causal, factor) -> (y (B, H, T, E), lying as q does; lse (B, T, H), inf for rows
   that see nothing, whose y is 0) */
KERNEL(attention, 6)
    Attention o = {0};
    const int ours = fits(args[0], args[1], args[2], args[3], args[4], args[5], &o);
    if (ours < 0) return NULL;
    if (!ours) Py_RETURN_NONE;
    npy_intp dims[3] = {o.b, o.t, o.h};
    PyObject *y = lying_as(args[0]), *lse = PyArray_SimpleNew(3, dims, NPY_FLOAT), *out = NULL;
    if (y != NULL && lse != NULL && part_of(y, &o, o.t, &o.y)) {
        o.lse = DATA(lse);
        WITHOUT_GIL(RELEASE_AT + 1, side_by_side((int)o.parts, forward, &o));
        out = o.failed ? PyErr_NoMemory() : PyTuple_Pack(2, y, lse);
    } else if (y != NULL && lse != NULL) out = Py_NewRef(Py_None);
    Py_XDECREF(y);
    Py_XDECREF(lse);
    return out;
END

/* attention_grad(g, q, k, v, y, lse, mask or None, causal, factor) -> the gradients of q, k, v, which lie as those do */
KERNEL(attention_grad, 9)
    Attention o = {0};
    const int ours = fits(args[1], args[2], args[3], args[6], args[7], args[8], &o);
    if (ours < 0) return NULL;
    if (!ours || !part_of(args[0], &o, o.t, &o.g) || !part_of(args[4], &o, o.t, &o.y) || kind_of(args[5]) != NPY_FLOAT
        || PyArray_SIZE(ARRAY(args[5])) != o.b * o.t * o.h) Py_RETURN_NONE;
    PyObject *dq = lying_as(args[1]), *dk = lying_as(args[2]), *dv = lying_as(args[3]), *out = NULL;
    if (dq != NULL && dk != NULL && dv != NULL) {
        if (part_of(dq, &o, o.t, &o.dq) && part_of(dk, &o, o.s, &o.dk) && part_of(dv, &o, o.s, &o.dv)) {
            o.lse = DATA(args[5]);
            WITHOUT_GIL(RELEASE_AT + 1, side_by_side((int)o.parts, backward, &o));
            out = o.failed ? PyErr_NoMemory() : PyTuple_Pack(3, dq, dk, dv);
        } else out = Py_NewRef(Py_None);
    }
    Py_XDECREF(dq);
    Py_XDECREF(dk);
    Py_XDECREF(dv);
    return out;
END
#else
KERNEL(attention, 6) Py_RETURN_NONE; END
KERNEL(attention_grad, 9) Py_RETURN_NONE; END
#endif
