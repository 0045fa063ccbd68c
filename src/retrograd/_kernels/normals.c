/* What uniform numbers become: normal ones (Box and Muller 1958) and others, to the last bit as in PyTorch on processors with
   fused multiply-add.  In float32 the logarithm, sine and cosine are the polynomials of the Cephes library (Moshier 1992),
   each step fused where PyTorch's compiler fuses it; in float64 they are libm's. */

#include "kernel.h"
#include "kernels.h"

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

static inline float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

/* Of a normal positive number */
static inline float logarithm(float x) {
    const uint32_t bits = bits_of(x);
    const float half = of_bits((bits & 0x007fffff) | 0x3f000000);       /* x = half 2**e, half in [0.5, 1) */
    const int low = half < 0.707106781186547524f;
    const float e = (float)((int32_t)(bits >> 23) - (low ? 127 : 126)), t = (half - 1) + (low ? half : 0), z = t * t;
    float y = 7.0376836292e-2f;
    y = fmaf(y, t, -1.1514610310e-1f), y = fmaf(y, t, 1.1676998740e-1f), y = fmaf(y, t, -1.2420140846e-1f);
    y = fmaf(y, t, 1.4249322787e-1f), y = fmaf(y, t, -1.6668057665e-1f), y = fmaf(y, t, 2.0000714765e-1f);
    y = fmaf(y, t, -2.4999993993e-1f), y = fmaf(y, t, 3.3333331174e-1f);
    y = fmaf(y * t, z, e * -2.12194440e-4f);                            /* log 2 in two parts */
    return fmaf(e, 0.693359375f, t + fmaf(-z, 0.5f, y));
}

static inline void sine_cosine(float x, float *sine, float *cosine) {   /* 0 <= x < 2 pi */
    const int32_t octant = ((int32_t)(x * 1.27323954473516f) + 1) & ~1;
    const float k = (float)octant;
    x = fmaf(k, -0.78515625f, x), x = fmaf(k, -2.4187564849853515625e-4f, x), x = fmaf(k, -3.77489497744594108e-8f, x);
    const float z = x * x;
    float p = fmaf(2.443315711809948e-5f, z, -1.388731625493765e-3f), q = fmaf(-1.9515295891e-4f, z, 8.3321608736e-3f);
    p = fmaf(p, z, 4.166664568298827e-2f) * z;
    p = fmaf(p, z, -(z * 0.5f)) + 1;
    q = fmaf(q, z, -1.6666654611e-1f) * z;
    q = fmaf(q, x, x);
    const int straight = !(octant & 2);
    const uint32_t s = bits_of(straight ? q : p), c = bits_of(straight ? p : q);
    *sine = of_bits(s ^ (uint32_t)(octant & 4) << 29);
    *cosine = of_bits(c ^ (~((uint32_t)octant - 2) & 4) << 29);     /* of NaN octant is the least int */
}

/* Groups of 16: 8 radii, 8 angles. */
CLONES static void floats_normal(float *u, npy_intp n) {
    for (npy_intp i = 0; i < n; i += 16) {
        float *restrict first = u + i, *restrict second = u + i + 8;
        SIMD for (int j = 0; j < 8; j++) {
            float sine, cosine;
            const float radius = sqrtf(-2 * logarithm(1 - first[j]));
            sine_cosine(6.283185307179586f * second[j], &sine, &cosine);
            first[j] = radius * cosine, second[j] = radius * sine;
        }
    }
}

static void doubles_normal(double *u, npy_intp n) {
    for (npy_intp i = 0; i < n; i += 16)
        for (int j = 0; j < 8; j++) {
            const double radius = sqrt(-2 * log(1 - u[i + j])), angle = 2 * M_PI * u[i + j + 8];
            u[i + j] = radius * cos(angle), u[i + j + 8] = radius * sin(angle);
        }
}

static void doubles_pairs(double *u, npy_intp n) {
    for (npy_intp i = 0; i < n; i += 2) {
        const double angle = 2 * M_PI * u[i], radius = sqrt(-2 * log1p(-u[i + 1]));
        u[i] = radius * cos(angle), u[i + 1] = radius * sin(angle);
    }
}

CLONES static void floats_move(float *x, float scale, float shift, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) x[i] = fmaf(x[i], scale, shift);
}

CLONES static void doubles_move(double *x, double scale, double shift, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) x[i] = fma(x[i], scale, shift);
}

static void doubles_apply(double *x, double (*function)(double), npy_intp n) {
    for (npy_intp i = 0; i < n; i++) x[i] = function(x[i]);
}

/* The elements of an array that may be written to; -1 where it is none of `type` (any of ours for -1). */
static npy_intp written(PyObject *x, int type) {
    const int found = kind_of(x);
    return found < 0 || (type >= 0 && found != type) || !PyArray_ISWRITEABLE(ARRAY(x)) ? -1 : PyArray_SIZE(ARRAY(x));
}

/* normal_groups(u) -> did it: uniform numbers, 16 k of them, become normal in place: u[16 i + j] by radius, [16 i + 8 + j] by angle */
KERNEL(normal_groups, 1)
    const npy_intp n = written(args[0], -1);
    if (n < 0 || n % 16) Py_RETURN_FALSE;
    void *u = DATA(args[0]);
    WITHOUT_GIL(n, kind_of(args[0]) == NPY_FLOAT ? floats_normal(u, n) : doubles_normal(u, n));
    Py_RETURN_TRUE;
END

/* normal_pairs(u float64) -> did it: uniform numbers (.., 2), angle and radius, become normal in place */
KERNEL(normal_pairs, 1)
    const npy_intp n = written(args[0], NPY_DOUBLE);
    if (n < 0 || n % 2) Py_RETURN_FALSE;
    WITHOUT_GIL(n, doubles_pairs(DATA(args[0]), n));
    Py_RETURN_TRUE;
END

/* move(x, scale, shift) -> did it: x = x scale + shift, rounded once */
KERNEL(move, 3)
    const npy_intp n = written(args[0], -1);
    if (n < 0) Py_RETURN_FALSE;
    const double scale = PyFloat_AsDouble(args[1]), shift = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred()) return NULL;
    void *x = DATA(args[0]);
    WITHOUT_GIL(n, kind_of(args[0]) == NPY_FLOAT ? floats_move(x, (float)scale, (float)shift, n) : doubles_move(x, scale, shift, n));
    Py_RETURN_TRUE;
END

/* libm(x float64, "exp", "log1p" or "tan") -> did it: x = that of x */
KERNEL(libm, 2)
    const npy_intp n = written(args[0], NPY_DOUBLE);
    const char *name = PyUnicode_Check(args[1]) ? PyUnicode_AsUTF8(args[1]) : "";
    if (name == NULL) return NULL;
    double (*function)(double) = !strcmp(name, "exp") ? exp : !strcmp(name, "log1p") ? log1p : !strcmp(name, "tan") ? tan : NULL;
    if (n < 0 || function == NULL) Py_RETURN_FALSE;
    WITHOUT_GIL(n, doubles_apply(DATA(args[0]), function, n));
    Py_RETURN_TRUE;
END
