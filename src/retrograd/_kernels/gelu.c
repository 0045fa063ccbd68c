/* gelu by the error function, in the operations and therefore with the bits of _rules/erf_gamma.py: near -4 the sum 1 + erf is
   a handful of units in the last place, and people see them. */

#include "kernel.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define ROOT_HALF 0.7071067811865476f
#define PER_ROOT_TWO_PI 0.3989422804014327f

void loop_gelu(const float *restrict x, float *restrict y, npy_intp n);
void loop_gelu_grad(const float *restrict g, const float *restrict x, float *restrict o, npy_intp n);

/* SINGLE of _rules/erf_gamma.py: x P(x^2) / Q(x^2).  NaN passes all four limits. */
static inline float erf_of(float x) {
    x = x < -4.0f ? -4.0f : x;
    x = x > 4.0f ? 4.0f : x;
    float s = x * x;
    float p = -1.3202228e-08f;
    p = p * s + 4.68477681e-06f;
    p = p * s + 0.000379608866f;
    p = p * s + 0.00384961263f;
    p = p * s + 0.0543169155f;
    p = p * s + 0.185203245f;
    p = p * s + 1.12837917f;
    float q = 6.31105733e-05f;
    q = q * s + 0.00130757009f;
    q = q * s + 0.0154620921f;
    q = q * s + 0.113958427f;
    q = q * s + 0.497465516f;
    q = q * s + 1.0f;
    float y = x * (p / q);
    y = y < -1.0f ? -1.0f : y;
    return y > 1.0f ? 1.0f : y;
}

CLONES void loop_gelu(const float *restrict x, float *restrict y, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) y[i] = x[i] * 0.5f * (erf_of(x[i] * ROOT_HALF) + 1.0f);
}

CLONES void loop_gelu_grad(const float *restrict g, const float *restrict x, float *restrict o, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) {
        float u = x[i], whole = (erf_of(u * ROOT_HALF) + 1.0f) * 0.5f;
        o[i] = g[i] * (whole + u * (exp_of(u * u * -0.5f) * PER_ROOT_TWO_PI));
    }
}
