/* exp, log and the like of doubles without branches, so that loops over them vectorise; good to a unit or two in the last
   place.  Taylor's series, long enough for double. */

#ifndef RETROGRAD_WIDE_H
#define RETROGRAD_WIDE_H
#include "kernel.h"

#if defined(__GNUC__)
#define ALWAYS static inline __attribute__((always_inline))
#else
#define ALWAYS static inline
#endif

#define PI_ 3.141592653589793
#define ROOT_PI 1.7724538509055160
#define ROUNDS 6755399441055744.0 /* 1.5 * 2^52: adding and subtracting it rounds to an integer */
#define COUNT(a) ((int)(sizeof(a) / sizeof(*(a))))
#define POLY(x, c) poly(x, c, COUNT(c))

typedef union { double f; uint64_t i; } Bits;

/* Horner; highest power first. */
ALWAYS double poly(double x, const double *c, int n) {
    double y = c[0];
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 32
#endif
    for (int k = 1; k < n; k++) y = y * x + c[k];
    return y;
}

ALWAYS double round_off(double x) { return fabs(x) < 4503599627370496.0 ? (x + ROUNDS) - ROUNDS : x; }

static const double EXP_TERMS[] = {
    1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0, 1 / 720.0,
    1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1.0, 1.0};

/* exp(x + rest), |rest| at most a few units. */
ALWAYS double exp_sum(double x, double rest) {
    Bits k, half, other;
    double w = x > 709.9 ? 709.9 : x;                   /* NaN stays */
    w = w < -746.0 ? -746.0 : w;
    k.f = (w + rest) * 1.4426950408889634 + ROUNDS;
    double n = k.f - ROUNDS;
    double r = (w - n * 6.93147180369123816490e-01) + (rest - n * 1.90821492927058770002e-10);
    uint64_t e = k.i - 0x4338000000000000u + 2048;      /* 2^n in two factors, for denormal results */
    half.i = ((e >> 1) - 1) << 52;
    other.i = ((e - (e >> 1)) - 1) << 52;
    double y = POLY(r, EXP_TERMS) * half.f * other.f;
    return x > 709.9 ? INFINITY : y;
}

ALWAYS double exp_wide(double x) { return exp_sum(x, 0.0); }

static const double LOG_TERMS[] = {2 / 23.0, 2 / 21.0, 2 / 19.0, 2 / 17.0, 2 / 15.0, 2 / 13.0, 2 / 11.0, 2 / 9.0,
                                   2 / 7.0,  2 / 5.0,  2 / 3.0};

/* log(x): -inf at 0, NaN below. */
ALWAYS double log_wide(double x) {
    Bits u, m, e;
    double tiny = x < 2.2250738585072014e-308 ? 18014398509481984.0 : 1.0, lost = x < 2.2250738585072014e-308 ? 54.0 : 0.0;
    u.f = x * tiny;
    uint64_t power = (u.i + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
    m.i = u.i - ((power - 1023) << 52);                 /* in [sqrt 1/2, sqrt 2) */
    e.i = 0x4330000000000000u | power;
    double n = e.f - (4503599627370496.0 + 1023.0) - lost;
    double f = m.f - 1.0, s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
    double rest = s * (h + z * POLY(z, LOG_TERMS)) + n * 1.90821492927058770002e-10;
    double y = n * 6.93147180369123816490e-01 - ((h - rest) - f);
    y = x == 0 ? -INFINITY : y;
    y = x < INFINITY ? y : x;
    return x < 0 ? NAN : y;
}

/* sin(pi r), cos(pi r) for |r| <= 1/2 */
static const double SIN_TERMS[] = {
    -1 / 25852016738884976640000.0, 1 / 51090942171709440000.0, -1 / 121645100408832000.0, 1 / 355687428096000.0,
    -1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1.0};

ALWAYS double sin_pi(double r) {
    double t = r * PI_;
    return t * POLY(t * t, SIN_TERMS);
}

ALWAYS double cos_pi(double r) {
    double t = 0.5 - fabs(r);                           /* cos(pi r) = sin(pi (1/2 - |r|)), exact near 1/2 */
    t *= PI_;
    return t * POLY(t * t, SIN_TERMS);
}
#endif
