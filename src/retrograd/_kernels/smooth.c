/* Functions of one or two float32 made of exp and log, computed in double and rounded once. */

#include "apply.h"
#include "kernels.h"
#include "wide.h"

/* log(1 + e) without losing the digits of a small e */
ALWAYS double log_more(double e) {
    double u = 1.0 + e, y = log_wide(u) * (e / (u - 1.0));
    return (u == 1.0) | (e == INFINITY) ? e : y;
}

/* Fits of ours: exp(r), |r| <= log(2) / 2, to 1e-12; log(1 + e) / e, 0 <= e <= 1, to 2e-11; 2 atanh(s) / s in s^2 <= 1/9, to 1e-16 */
static const double EXP_FIT[] = {
    2.4876178959085513e-05, 0.00019915881871396035, 0.001388882165071769, 0.008333266071022454, 0.0416666668910917,
    0.16666666891180545, 0.49999999999797773, 0.999999999979769, 1.0};
static const double LOG_FIT[] = {
    0.0007950132275741071, -0.0060543815118333415, 0.02162277662889297, -0.049102420489767325, 0.08212817261992637,
    -0.11270121772120155, 0.13909859913312295, -0.16587094998578766, 0.19988934638908445, -0.24999068541803812,
    0.3333329204467681, -0.499999992726098, 0.9999999999785376};
static const double ATANH_FIT[] = {
    0.17780763826113302, 0.09880789048764786, 0.13591305485579894, 0.15363676248891633, 0.1818285980047391,
    0.22222190861346283, 0.2857142911165716, 0.399999999952876, 0.6666666666668257, 2.0};

/* exp(-a), 0 <= a, of at least 1e-304, by a polynomial for exp near 0. */
ALWAYS double fading(double a, const double *terms, int count) {
    Bits k, power;
    a = a > 700.0 ? 700.0 : a;                          /* NaN stays */
    k.f = ROUNDS - a * 1.4426950408889634;
    double n = k.f - ROUNDS, r = -(a + n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    power.i = (k.i - 0x4338000000000000u + 1023) << 52;
    return poly(r, terms, count) * power.f;
}

/* log(1 + exp(-a)), a >= 0: to 3e-11, enough for float32 where nothing is subtracted from it */
ALWAYS double log_one_more(double a) {
    double e = fading(a, EXP_FIT, COUNT(EXP_FIT));
    return e * POLY(e, LOG_FIT);
}

/* The same to the last digits of a double. */
ALWAYS double log_one_more_exact(double a) {
    double e = fading(a, EXP_TERMS, COUNT(EXP_TERMS)), s = e / (2.0 + e);
    return s * POLY(s * s, ATANH_FIT);
}

/* exp(x) - 1, to 1e-10 */
ALWAYS double exp_less(double x) { return fabs(x) < 1e-5 ? x + 0.5 * x * x : exp_wide(x) - 1.0; }

ALWAYS double softplus_of(double z) { return (z < 0 ? 0.0 : z) + log_one_more(fabs(z)); }

/* elu(x, alpha * scale, scale, input_scale) */
SINGLE(elu, u <= 0 ? exp_less((double)u * p[2]) * p[0] : u * p[1])
ONE(elu, 3)
/* softplus(x, beta, threshold) */
SINGLE(softplus, u * p0 > p1 ? (double)u : softplus_of((double)u * p[0]) * p[2])
KERNEL(softplus, 3)
    double p[PARAMETERS] = {0};
    if (!numbers(args + 1, 2, p)) Py_RETURN_NONE;
    p[2] = 1 / p[0];
    return apply(args[0], NULL, NULL, p, floats_softplus, doubles_softplus);
END
SINGLE(log_sigmoid, (u > 0 ? 0.0 : (double)u) - log_one_more(fabs((double)u)))
ONE(log_sigmoid, 0)

/* In NumPy's two roundings */
MAP(float, floats_rsqrt, 1 / sqrtf(u))
MAP(double, doubles_rsqrt, 1 / sqrt(u))
ONE(rsqrt, 0)

/* x tanh(log(1 + e^x)), and tanh(log w) = (w^2 - 1) / (w^2 + 1) */
ALWAYS double mish_of(double x) {
    double e = exp_wide(x < 40.0 ? x : 40.0), more = e * (e + 2.0);
    return x < 40.0 ? x * (more / (more + 2.0)) : x;
}
SINGLE(mish, mish_of(u))
ONE(mish, 0)

ALWAYS double entropy_of(double x) {
    double y = -x * log_wide(x);
    y = x == 0 ? 0.0 : y;
    return x < 0 ? -INFINITY : y;
}
SINGLE(entropy, entropy_of(u))
ONE(entropy, 0)

/* ---- of two ---- */

ALWAYS double xlogy_of(double a, double b) { return (a == 0) & (b == b) ? 0.0 : a * log_wide(b); }
ALWAYS double xlog1py_of(double a, double b) { return (a == 0) & (b == b) ? 0.0 : a * log_more(b); }
SINGLE(xlogy, xlogy_of(u, v))
TWO(xlogy, 0)
SINGLE(xlog1py, xlog1py_of(u, v))
TWO(xlog1py, 0)

/* log(e^a + e^b) and the same to the base of 2; where both are one infinity, that */
ALWAYS double logaddexp_of(double a, double b) {
    double top = a > b ? a : b, gap = a == b ? 0.0 : fabs(a - b);
    return top + log_one_more_exact(gap);
}
ALWAYS double logaddexp2_of(double a, double b) {
    double top = a > b ? a : b, gap = a == b ? 0.0 : fabs(a - b);
    double e = exp_wide(gap * -0.6931471805599453), u = 1.0 + e;        /* log_wide: 1 of equal ones, exactly */
    return top + (log_wide(u) + (e - (u - 1.0)) / u) / 0.6931471805599453;
}
SINGLE(logaddexp, logaddexp_of(u, v))
TWO(logaddexp, 0)
SINGLE(logaddexp2, logaddexp2_of(u, v))
TWO(logaddexp2, 0)

ALWAYS double hypot_of(double a, double b) {
    double y = sqrt(a * a + b * b);
    return (fabs(a) == INFINITY) | (fabs(b) == INFINITY) ? INFINITY : y;
}
SINGLE(hypot, hypot_of(u, v))
TWO(hypot, 0)
