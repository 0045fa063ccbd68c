/* Activation functions and their derivatives, element by element.  Those with exp: float32. */

#include "kernel.h"
#include "kernels.h"

#define ROOT_TWO_OVER_PI 0.79788456080286536f
#define CUBE 0.044715f

#define LOOPS(T, NAME)                                                                                   \
    CLONES static void NAME##_relu(const T *restrict x, T *restrict y, npy_intp n) {                     \
        SIMD for (npy_intp i = 0; i < n; i++) y[i] = x[i] < 0 ? 0 : x[i];   /* NaN and -0.0 stay */      \
    }                                                                                                    \
    CLONES static void NAME##_relu_grad(const T *restrict g, const T *restrict y, T *restrict o, npy_intp n) { \
        SIMD for (npy_intp i = 0; i < n; i++) o[i] = y[i] <= 0 ? 0 : g[i];                               \
    }                                                                                                    \
    CLONES static void NAME##_sigmoid_grad(const T *restrict g, const T *restrict y, T *restrict o, npy_intp n) { \
        SIMD for (npy_intp i = 0; i < n; i++) o[i] = g[i] * ((1 - y[i]) * y[i]);                         \
    }                                                                                                    \
    CLONES static void NAME##_tanh_grad(const T *restrict g, const T *restrict y, T *restrict o, npy_intp n) { \
        SIMD for (npy_intp i = 0; i < n; i++) o[i] = g[i] * (1 - y[i] * y[i]);                           \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

/* To 1e-7 absolute, which is what 1 + tanh needs. */
static inline float rough_tanh(float x) {
    float e = exp_of(-2.0f * fabsf(x));
    return copysignf((1.0f - e) / (1.0f + e), x);
}

CLONES static void loop_sigmoid(const float *restrict x, float *restrict y, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) y[i] = sigmoid_of(x[i]);
}
CLONES static void loop_silu(const float *restrict x, float *restrict y, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) y[i] = x[i] * sigmoid_of(x[i]);
}
CLONES static void loop_silu_grad(const float *restrict g, const float *restrict x, float *restrict o, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) {
        float s = sigmoid_of(x[i]);
        o[i] = g[i] * (s * (x[i] * (1 - s) + 1));
    }
}
CLONES static void loop_gelu_tanh(const float *restrict x, float *restrict y, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) {
        float u = x[i];
        y[i] = u * 0.5f * (rough_tanh((u + u * u * u * CUBE) * ROOT_TWO_OVER_PI) + 1);
    }
}
CLONES static void loop_gelu_tanh_grad(const float *restrict g, const float *restrict x, float *restrict o, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) {
        float u = x[i], t = rough_tanh((u + u * u * u * CUBE) * ROOT_TWO_OVER_PI);
        float slope = (u * u * (3 * CUBE) + 1) * ROOT_TWO_OVER_PI;
        o[i] = g[i] * ((t + 1) * 0.5f + u * 0.5f * (1 - t * t) * slope);
    }
}

void loop_gelu(const float *restrict x, float *restrict y, npy_intp n);             /* gelu.c */
void loop_gelu_grad(const float *restrict g, const float *restrict x, float *restrict o, npy_intp n);

typedef void (*One)(const float *restrict, float *restrict, npy_intp);
typedef void (*Two)(const float *restrict, const float *restrict, float *restrict, npy_intp);
typedef void (*OneDouble)(const double *restrict, double *restrict, npy_intp);
typedef void (*TwoDouble)(const double *restrict, const double *restrict, double *restrict, npy_intp);

static PyObject *one(PyObject *x, One f, OneDouble d) {
    int type = kind_of(x);
    if (type < 0 || (type == NPY_DOUBLE && d == NULL)) Py_RETURN_NONE;
    PyObject *y = new_like(x);
    if (y == NULL) return NULL;
    npy_intp n = PyArray_SIZE(ARRAY(x));
    if (type == NPY_FLOAT) WITHOUT_GIL(n, f(DATA(x), DATA(y), n));
    else WITHOUT_GIL(n, d(DATA(x), DATA(y), n));
    return y;
}

static PyObject *two(PyObject *g, PyObject *x, Two f, TwoDouble d) {
    int type = kind_of(x);
    if (type < 0 || (type == NPY_DOUBLE && d == NULL)) Py_RETURN_NONE;
    g = ordered(g, x, type);
    if (g == NULL) Py_RETURN_NONE;
    PyObject *o = new_like(x);
    if (o != NULL) {
        npy_intp n = PyArray_SIZE(ARRAY(x));
        if (type == NPY_FLOAT) WITHOUT_GIL(n, f(DATA(g), DATA(x), DATA(o), n));
        else WITHOUT_GIL(n, d(DATA(g), DATA(x), DATA(o), n));
    }
    Py_DECREF(g);
    return o;
}

/* plan.c runs these loops block by block. */
OneLoop loop_one(int which, int type) {
    if (which == 0) return type == NPY_FLOAT ? (OneLoop)floats_relu : (OneLoop)doubles_relu;
    return type == NPY_FLOAT ? (OneLoop)loop_sigmoid : NULL;
}

TwoLoop loop_two(int which, int type) {
    const TwoLoop loops[3][2] = {
        {(TwoLoop)floats_relu_grad, (TwoLoop)doubles_relu_grad}, {(TwoLoop)floats_sigmoid_grad, (TwoLoop)doubles_sigmoid_grad},
        {(TwoLoop)floats_tanh_grad, (TwoLoop)doubles_tanh_grad}};
    return loops[which][type == NPY_DOUBLE];
}

KERNEL(relu, 1) return one(args[0], floats_relu, doubles_relu); END
KERNEL(relu_grad, 2) return two(args[0], args[1], floats_relu_grad, doubles_relu_grad); END
KERNEL(sigmoid, 1) return one(args[0], loop_sigmoid, NULL); END
KERNEL(sigmoid_grad, 2) return two(args[0], args[1], floats_sigmoid_grad, doubles_sigmoid_grad); END
KERNEL(tanh_grad, 2) return two(args[0], args[1], floats_tanh_grad, doubles_tanh_grad); END
KERNEL(silu, 1) return one(args[0], loop_silu, NULL); END
KERNEL(silu_grad, 2) return two(args[0], args[1], loop_silu_grad, NULL); END

/* gelu(x, tanh), gelu_grad(g, x, tanh) */
KERNEL(gelu, 2) return one(args[0], args[1] == Py_True ? loop_gelu_tanh : loop_gelu, NULL); END
KERNEL(gelu_grad, 3) return two(args[0], args[1], args[2] == Py_True ? loop_gelu_tanh_grad : loop_gelu_grad, NULL); END
