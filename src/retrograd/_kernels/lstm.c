/* A layer of an LSTM over all its steps, and its gradient; float32.   T steps, B batch, H hidden

   What a step adds to the gates is a product of few rows, for which a call of BLAS would mostly copy the weights into its
   order; here that is done once for all steps.  Sequences are shared out among threads: they do not meet. */

#include "gemm.h"
#include "kernels.h"
#include "threads.h"

CLONES static void loop_step(float *restrict gates, const float *restrict bias, const float *restrict before,
                             float *restrict c, float *restrict h, npy_intp batch, npy_intp n) {
    for (npy_intp b = 0; b < batch; b++, gates += 4 * n, before += n, c += n, h += n) {
        if (bias) SIMD for (npy_intp j = 0; j < 4 * n; j++) gates[j] += bias[j];
        SIMD for (npy_intp j = 0; j < n; j++) {
            const float i = sigmoid_of(gates[j]), f = sigmoid_of(gates[n + j]);
            const float g = tanh_of(gates[2 * n + j]), o = sigmoid_of(gates[3 * n + j]);
            gates[j] = i;
            gates[n + j] = f;
            gates[2 * n + j] = g;
            gates[3 * n + j] = o;
            c[j] = f * before[j] + i * g;
            h[j] = o * tanh_of(c[j]);
        }
    }
}

CLONES static void loop_back(const float *restrict gates, const float *restrict before, const float *restrict c,
                             const float *restrict dh, float *restrict dc, float *restrict out, npy_intp batch,
                             npy_intp n) {
    for (npy_intp b = 0; b < batch; b++, gates += 4 * n, before += n, c += n, dh += n, dc += n, out += 4 * n) {
        SIMD for (npy_intp j = 0; j < n; j++) {
            const float i = gates[j], f = gates[n + j], g = gates[2 * n + j], o = gates[3 * n + j];
            const float t = tanh_of(c[j]), d = dc[j] + dh[j] * o * (1 - t * t);
            out[j] = d * g * (i * (1 - i));
            out[n + j] = d * before[j] * (f * (1 - f));
            out[2 * n + j] = d * i * (1 - g * g);
            out[3 * n + j] = dh[j] * t * (o * (1 - o));
            dc[j] = d * f;
        }
    }
}

typedef struct {
    npy_intp t, b, h, step, parts;
    const float *x, *w, *bias, *h0, *g; /* w: rows of `step`, turned for the way forward */
    float *y, *gates, *cells, *out, *dh, *dc;
} Layer;

#if HAS_PRODUCTS
static void forward(void *context, int part) {
    const Layer *o = context;
    const npy_intp first = o->b * part / o->parts, rows = o->b * (part + 1) / o->parts - first, n = o->h, all = o->b * n;
    for (npy_intp t = 0; t < o->t; t++) {
        const npy_intp wide = (t * o->b + first) * 4 * n, at = t * all + first * n;
        const float *h = t ? o->y + at - all : o->h0 + first * n;
        const FloatProduct product = {rows, 4 * n, n, h, n, 1, o->w, o->step, o->x + wide, 4 * n, 1, o->gates + wide, 4 * n};
        floats_product(&product);
        loop_step(o->gates + wide, o->bias, o->cells + at, o->cells + at + all, o->y + at, rows, n);
    }
}

static void backward(void *context, int part) {
    const Layer *o = context;
    const npy_intp first = o->b * part / o->parts, rows = o->b * (part + 1) / o->parts - first, n = o->h, all = o->b * n;
    float *dh = o->dh + first * n, *dc = o->dc + first * n;
    memcpy(dc, o->g + o->t * all + first * n, sizeof(float) * rows * n);
    memcpy(dh, o->g + (o->t - 1) * all + first * n, sizeof(float) * rows * n);
    for (npy_intp t = o->t - 1; t >= 0; t--) {
        const npy_intp wide = (t * o->b + first) * 4 * n, at = t * all + first * n;
        loop_back(o->gates + wide, o->cells + at, o->cells + at + all, dh, dc, o->out + wide, rows, n);
        const float *from = t ? o->g + at - all : NULL;
        const FloatProduct product = {rows, n, 4 * n, o->out + wide, 4 * n, 1, o->w, o->step, from, n, 1, dh, n};
        floats_product(&product);
    }
}

static int is(PyObject *x, int ndim, npy_intp a, npy_intp b, npy_intp c) {
    if (kind_of(x) != NPY_FLOAT || PyArray_NDIM(ARRAY(x)) != ndim) return 0;
    const npy_intp want[3] = {a, b, c};
    for (int i = 0; i < ndim; i++)
        if (PyArray_DIM(ARRAY(x), i) != want[i]) return 0;
    return 1;
}

static PyObject *fresh(int ndim, npy_intp a, npy_intp b, npy_intp c) {
    npy_intp dims[3] = {a, b, c};
    return PyArray_SimpleNew(ndim, dims, NPY_FLOAT);
}

static PyObject *three(PyObject *a, PyObject *b, PyObject *c) {
    PyObject *out = a && b && c ? PyTuple_Pack(3, a, b, c) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(c);
    return out;
}

static npy_intp parts_of(const Layer *o) { return parts_for(4.0 * o->t * o->b * o->h * o->h, (o->b + 7) / 8); }

/* lstm(x (T, B, 4 H), w (4 H, H), bias (4 H,) or None, h and c at the start (B, H))
   -> (h after each step and the last c (T + 1, B, H), i f g o of each step (T, B, 4 H), c from the start on (T + 1, B, H)) */
KERNEL(lstm, 5)
    PyObject *x = args[0];
    if (kind_of(x) != NPY_FLOAT || PyArray_NDIM(ARRAY(x)) != 3 || PyArray_DIM(ARRAY(x), 2) % 4 || PyArray_SIZE(ARRAY(x)) == 0)
        Py_RETURN_NONE;
    Layer o = {.t = PyArray_DIM(ARRAY(x), 0), .b = PyArray_DIM(ARRAY(x), 1), .h = PyArray_DIM(ARRAY(x), 2) / 4};
    if (!is(args[1], 2, 4 * o.h, o.h, 0) || (args[2] != Py_None && !is(args[2], 1, 4 * o.h, 0, 0)) || !is(args[3], 2, o.b, o.h, 0)
        || !is(args[4], 2, o.b, o.h, 0)) Py_RETURN_NONE;
    o.step = row_of(4 * o.h, sizeof(float));
    float *turned = room(times(sizeof(float) * o.step, o.h));
    PyObject *y = fresh(3, o.t + 1, o.b, o.h), *gates = fresh(3, o.t, o.b, 4 * o.h), *cells = fresh(3, o.t + 1, o.b, o.h);
    if (turned == NULL) PyErr_NoMemory();
    if (turned && y && gates && cells) {
        for (npy_intp i = 0; o.step > 4 * o.h && i < o.h; i++)
            memset(turned + i * o.step + 4 * o.h, 0, sizeof(float) * (o.step - 4 * o.h));
        floats_turn(DATA(args[1]), 4 * o.h, o.h, o.h, turned, o.step);
        o.x = DATA(x), o.w = turned, o.bias = args[2] == Py_None ? NULL : DATA(args[2]), o.h0 = DATA(args[3]);
        o.y = DATA(y), o.gates = DATA(gates), o.cells = DATA(cells);
        o.parts = parts_of(&o);
        const npy_intp all = o.b * o.h;
        memcpy(o.cells, DATA(args[4]), sizeof(float) * all);
        WITHOUT_GIL(RELEASE_AT + 1, side_by_side((int)o.parts, forward, &o));
        memcpy(o.y + o.t * all, o.cells + o.t * all, sizeof(float) * all);
    }
    leave(turned);
    if (turned == NULL) Py_CLEAR(y);
    return three(y, gates, cells);
END

/* lstm_grad(gradient of lstm's first result (T + 1, B, H), w (4 H, H), i f g o (T, B, 4 H), c (T + 1, B, H))
   -> the gradients of x (T, B, 4 H), of h and of c at the start (B, H) */
KERNEL(lstm_grad, 4)
    PyObject *gates = args[2];
    if (kind_of(gates) != NPY_FLOAT || PyArray_NDIM(ARRAY(gates)) != 3 || PyArray_DIM(ARRAY(gates), 2) % 4
        || PyArray_SIZE(ARRAY(gates)) == 0) Py_RETURN_NONE;
    Layer o = {.t = PyArray_DIM(ARRAY(gates), 0), .b = PyArray_DIM(ARRAY(gates), 1), .h = PyArray_DIM(ARRAY(gates), 2) / 4};
    if (!is(args[0], 3, o.t + 1, o.b, o.h) || !is(args[1], 2, 4 * o.h, o.h, 0) || !is(args[3], 3, o.t + 1, o.b, o.h))
        Py_RETURN_NONE;
    o.step = row_of(o.h, sizeof(float));
    float *packed = room(times(sizeof(float) * o.step, 4 * o.h));
    PyObject *out = fresh(3, o.t, o.b, 4 * o.h), *dh = fresh(2, o.b, o.h, 0), *dc = fresh(2, o.b, o.h, 0);
    if (packed == NULL) PyErr_NoMemory();
    if (packed && out && dh && dc) {
        for (npy_intp i = 0; i < 4 * o.h; i++) {
            memcpy(packed + i * o.step, (float *)DATA(args[1]) + i * o.h, sizeof(float) * o.h);
            memset(packed + i * o.step + o.h, 0, sizeof(float) * (o.step - o.h));
        }
        o.w = packed, o.g = DATA(args[0]), o.gates = DATA(gates), o.cells = DATA(args[3]);
        o.out = DATA(out), o.dh = DATA(dh), o.dc = DATA(dc);
        o.parts = parts_of(&o);
        WITHOUT_GIL(RELEASE_AT + 1, side_by_side((int)o.parts, backward, &o));
    }
    leave(packed);
    if (packed == NULL) Py_CLEAR(out);
    return three(out, dh, dc);
END
#else
KERNEL(lstm, 5) Py_RETURN_NONE; END
KERNEL(lstm_grad, 4) Py_RETURN_NONE; END
#endif
