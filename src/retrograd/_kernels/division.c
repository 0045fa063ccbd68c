/* fmod, remainder and floor_divide of floats.  libm's fmod takes 5 to 50 ns.  For float32 whose quotient is below 2^22 the
   remainder is exact in double: trunc(a / b) is, since no quotient of floats is as near to an integer as double rounds, and
   so are its product with b and the difference.  What else there is, libm does. */

#include "apply.h"
#include "kernels.h"

#define EXACT(q, b) ((fabs(q) < 4194304.0) & (fabs(b) < INFINITY))      /* false where q is NaN: b is 0, or a infinite */

#define KINDS(T, NAME, FMOD, FLOOR, COPYSIGN)                                                        \
    static inline T NAME##_fmod(T a, T b) { return FMOD(a, b); }                                     \
    static inline T NAME##_remainder(T a, T b) {                                                     \
        T r = FMOD(a, b);                                                                            \
        return r != 0 && (b < 0) != (r < 0) ? r + b : r;                                             \
    }                                                                                                \
    static inline T NAME##_floor_divide(T a, T b) {                                                  \
        if (b == 0) return a / b;                                                                    \
        T r = FMOD(a, b), q = (a - r) / b;                                                           \
        if (r != 0 && (b < 0) != (r < 0)) q -= 1;                                                    \
        if (q == 0) return COPYSIGN(0, a / b);                                                       \
        T down = FLOOR(q);                                                                           \
        return q - down > (T)0.5 ? down + 1 : down;                                                  \
    }
KINDS(float, single, fmodf, floorf, copysignf)
KINDS(double, twice, fmod, floor, copysign)

static inline double quick_fmod(double a, double b, double q) { return copysign(a - q * b, a); }
static inline double quick_remainder(double a, double b, double q) {
    double r = copysign(a - q * b, a);
    return (r != 0) & ((b < 0) != (r < 0)) ? (double)((float)r + (float)b) : r;
}
static inline double quick_floor_divide(double a, double b, double q) {
    double r = a - q * b;
    q = (r != 0) & ((b < 0) != (r < 0)) ? q - 1 : q;
    return q == 0 ? copysign(0.0, a / b) : q;
}

#define DIVISION(name)                                                                                                 \
    CLONES static int fast_##name(const float *restrict a, const float *restrict b, float *restrict y, npy_intp n) {   \
        int left = 0;                                                                                                  \
        for (npy_intp i = 0; i < n; i++) {                                                                             \
            double q = (double)a[i] / (double)b[i], whole = (fabs(q) + 6755399441055744.0) - 6755399441055744.0;       \
            whole = whole > fabs(q) ? whole - 1 : whole;                                                               \
            y[i] = (float)quick_##name(a[i], b[i], copysign(whole, q));                                                \
            left |= !EXACT(q, (double)b[i]);                                                                           \
        }                                                                                                              \
        return left;                                                                                                   \
    }                                                                                                                  \
    static void floats_##name(const void *pa, const void *pb, const void *c, const double *p, void *py, npy_intp n) {  \
        const float *a = pa, *b = pb;                                                                                  \
        float *y = py;                                                                                                 \
        for (npy_intp i = 0; i < n; i += BLOCK) {                                                                      \
            npy_intp m = n - i < BLOCK ? n - i : BLOCK;                                                                \
            if (!fast_##name(a + i, b + i, y + i, m)) continue;                                                        \
            for (npy_intp j = i; j < i + m; j++)                                                                       \
                if (!EXACT((double)a[j] / (double)b[j], (double)b[j])) y[j] = single_##name(a[j], b[j]);               \
        }                                                                                                              \
    }                                                                                                                  \
    static void doubles_##name(const void *pa, const void *pb, const void *c, const double *p, void *py, npy_intp n) { \
        const double *a = pa, *b = pb;                                                                                 \
        double *y = py;                                                                                                \
        for (npy_intp i = 0; i < n; i++) y[i] = twice_##name(a[i], b[i]);                                              \
    }                                                                                                                  \
    TWO(name, 0)

DIVISION(fmod)
DIVISION(remainder)
DIVISION(floor_divide)
