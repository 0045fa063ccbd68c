/* The error function's family, the gamma function's and Bessel's, by the formulas of _rules/erf_gamma.py or by fits, without branches.
   Computed in double for float32, too, and rounded once. */

#include "apply.h"
#include "kernels.h"
#include "wide.h"

/* ---- erf: Cody 1969 ---- */

static const double ERF_NEAR[] = {
    1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
    3.20937758913846947e3};
static const double ERF_NEAR_UNDER[] = {
    1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3};
static const double ERF_MIDDLE[] = {
    2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
    2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3};
static const double ERF_MIDDLE_UNDER[] = {
    1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
    3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3};
static const double ERF_FAR[] = {
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
    1.60837851487422766e-2, 6.58749161529837803e-4};
static const double ERF_FAR_UNDER[] = {
    1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
    2.33520497626869185e-3};

/* erfc(a) exp(a^2) for a >= 0.46875 */
ALWAYS double erfcx_far(double a) {
    double z = 1.0 / (a * a);
    double middle = POLY(a, ERF_MIDDLE) / POLY(a, ERF_MIDDLE_UNDER);
    double far = (1.0 / ROOT_PI - z * (POLY(z, ERF_FAR) / POLY(z, ERF_FAR_UNDER))) / a;
    return a <= 4.0 ? middle : far;
}

ALWAYS double erf_near(double x) {
    double s = x * x;
    return x * (POLY(s, ERF_NEAR) / POLY(s, ERF_NEAR_UNDER));
}

/* exp(-a^2) without the rounding error of a^2 */
ALWAYS double decay(double a) {
    double x = a < 30.0 ? a : 30.0, near = (x + 422212465065984.0) - 422212465065984.0;        /* to 1/16 */
    return exp_sum(-near * near, -(x - near) * (x + near));
}

ALWAYS double erf_wide(double x) {
    double a = fabs(x), far = copysign(1.0 - decay(a) * erfcx_far(a), x);
    return a <= 0.46875 ? erf_near(x) : x == x ? far : x;
}

ALWAYS double erfc_wide(double x) {
    double a = fabs(x), tail = a > 30.0 ? 0.0 : decay(a) * erfcx_far(a), y = x < 0 ? 2.0 - tail : tail;
    return a <= 0.46875 ? 1.0 - erf_near(x) : x == x ? y : x;
}

ALWAYS double erfcx_wide(double x) {
    double a = fabs(x), near = (a + 422212465065984.0) - 422212465065984.0;
    double s = a > 30.0 ? INFINITY : exp_sum(near * near, (a - near) * (a + near));
    double y = a <= 0.46875 ? s * (1.0 - erf_near(a)) : erfcx_far(a);
    y = x < 0 ? 2.0 * s - y : y;
    return x == x ? y : x;
}

ALWAYS double log_ndtr_wide(double x) {
    double low = x < 0 ? x : 0.0, high = x > -1.0 ? x : -1.0;
    double tail = log_wide(erfcx_wide(low * -0.7071067811865476) * 0.5) - low * low * 0.5;
    double u = 0.5 * erfc_wide(high * 0.7071067811865476), v = 1.0 - u;         /* log(1 - u) without losing digits */
    double y = v == 1.0 ? -u : log_wide(v) * (u / (1.0 - v));
    return x < -1.0 ? tail : x == x ? y : x;
}

/* ---- where erf is x: fits of ours, to 1e-9, in log(1 - x^2) and in 1 / sqrt(-2 log q) ---- */

static const double CENTRE[] = {
    4.5149890973404795e-11, 2.9494348202530981e-10, -8.6363367415803115e-09, -2.8735676465693893e-08,
    1.6419898849732013e-06, -3.9980832544015833e-07, -0.00032967522421252564, 0.0020446316287639327,
    0.12360415186892182, 1.0074588323484772};
static const double TAIL[] = {
    -5.6915932796090647e-06, 8.9461252934741537e-06, 6.7012102482157768e-06, -8.9776874005002285e-06,
    -1.9309970838507053e-05, 3.2666715966985313e-05, -3.536406345050514e-05, 7.8312865997963069e-05,
    -0.00019625182637893979, 0.00052257809437663259, -0.0016895090806122789, 0.0069625436013387712,
    -0.040994700208223746, -0.20050105712321362, 0.83274832461561477};

/* q = (1 - |x|) / 2, at least 1e-45 */
ALWAYS double erfinv_of(double x, double q) {
    double a = fabs(x);
    int middle = q >= 0.1;
    double log = log_wide(middle ? (1.0 - a) * (1.0 + a) : q);
    double w = (-log - 0.5109) / 0.5109;
    double r = sqrt(-2.0 * log), t = (1.0 / r - 0.26770230922480054) / 0.19849815697566561;
    double far = copysign(r * POLY(t, TAIL) * 0.7071067811865476, x);
    return middle ? x * POLY(w, CENTRE) : far;
}

ALWAYS double erfinv_wide(double x) {
    double a = fabs(x), y = erfinv_of(x, 0.5 * (1.0 - a));
    y = a == 1.0 ? copysign(INFINITY, x) : y;
    return a > 1.0 ? NAN : y;
}

/* One step of Halley's: to double precision. */
ALWAYS double erfinv_exact(double x) {
    double y = erfinv_wide(x), a = fabs(x), b = fabs(y);
    double error = a < 0.5 ? erf_wide(b) - a : (1.0 - a) - erfc_wide(b);
    double step = error * exp_wide(b * b) * (ROOT_PI / 2);
    double better = copysign(b - step / (1.0 + b * step), x);
    return a < 1.0 ? better : y;
}

ALWAYS double ndtri_wide(double p) {
    double q = p < 0.5 ? p : 1.0 - p, y = erfinv_of(2.0 * p - 1.0, q) * 1.4142135623730951;
    y = q == 0 ? (p < 0.5 ? -INFINITY : INFINITY) : y;
    return q < 0 ? NAN : y;
}

/* ---- gamma: Stirling's series from 8 up; below, gamma(z) = gamma(z + 8) / (z (z + 1) ... (z + 7)) ---- */

static const double STIRLING[] = {
    -3617 / 122400.0, 1 / 156.0, -691 / 360360.0, 1 / 1188.0, -1 / 1680.0, 1 / 1260.0, -1 / 360.0, 1 / 12.0};
static const double DIGAMMA[] = {
    -3617 / 8160.0, 1 / 12.0, -691 / 32760.0, 1 / 132.0, -1 / 240.0, 1 / 252.0, -1 / 120.0, 1 / 12.0};
static const double TRIGAMMA[] = {
    -3617 / 510.0, 7 / 6.0, -691 / 2730.0, 5 / 66.0, -1 / 30.0, 1 / 42.0, -1 / 30.0, 1 / 6.0};

/* The difference from the nearest integer. */
ALWAYS double fraction(double x) { return fabs(x) < 2251799813685248.0 ? x - ((x + ROUNDS) - ROUNDS) : 0.0; }

ALWAYS double lgamma_wide(double x) {
    int left = x < 0.5;                                 /* reflected: gamma(x) gamma(1 - x) = pi / sin(pi x) */
    double z = left ? 1.0 - x : x;
    int low = z < 8.0;
    double u = low ? z : 1.0;
    double product = u * (u + 1.0) * (u + 2.0) * (u + 3.0) * (u + 4.0) * (u + 5.0) * (u + 6.0) * (u + 7.0);
    product = low ? product : 1.0;
    z = low ? z + 8.0 : z;
    double q = 1.0 / z;
    double big = (z - 0.5) * log_wide(z) - z + 0.9189385332046728 + q * POLY(q * q, STIRLING);
    double sine = fabs(sin_pi(fraction(x)));            /* 0 at the poles: y is infinite */
    double log = log_wide((left ? PI_ : 1.0) * product / (left ? sine : 1.0)), y = big - log;
    y = left ? -y : y;
    y *= (x != 1.0) & (x != 2.0);                       /* PyTorch's zeros */
    return fabs(x) < INFINITY ? y : x * x;
}

#if !defined(_MSC_VER)
/* keeps its digits around 1 and 2, too */
static inline double lgamma_exact(double x) {
    int sign;
    return x == -INFINITY ? INFINITY : lgamma_r(x, &sign);
}
#endif

/* z (z + 1) ... (z + 7) and its first two derivatives */
ALWAYS void rising(double z, double *p, double *d, double *dd) {
    double a = z, b = 1.0, c = 0.0;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 8
#endif
    for (int k = 1; k < 8; k++) {
        c = c * (z + k) + 2.0 * b;
        b = b * (z + k) + a;
        a = a * (z + k);
    }
    *p = a;
    *d = b;
    *dd = c;
}

ALWAYS double digamma_wide(double x) {
    int left = x < 0;
    double z = left ? 1.0 - x : x, p, d, dd;
    int low = z < 8.0;
    rising(low ? z : 1.0, &p, &d, &dd);
    double lost = low ? d / p : 0.0;
    z = low ? z + 8.0 : z;
    double q = 1.0 / z, s = q * q;
    double y = log_wide(z) - 0.5 * q - s * POLY(s, DIGAMMA) - lost;
    double f = fraction(x);
    y = left ? y - PI_ * cos_pi(f) / sin_pi(f) : y;
    y = left & (f == 0) ? NAN : y;
    y = x == 0 ? -copysign(INFINITY, x) : y;
    return x == x ? y : x;
}

ALWAYS double trigamma_wide(double x) {
    int left = x < 0;
    double z = left ? 1.0 - x : x, p, d, dd;
    int low = z < 8.0;
    rising(low ? z : 1.0, &p, &d, &dd);
    double r = d / p, lost = low ? r * r - dd / p : 0.0;
    z = low ? z + 8.0 : z;
    double q = 1.0 / z, s = q * q;
    double y = q + 0.5 * s + q * s * POLY(s, TRIGAMMA) + lost;
    double sine = sin_pi(fraction(x)) / PI_;
    y = left ? 1.0 / (sine * sine) - y : y;
    y = x == 0 ? INFINITY : y;
    return x > -INFINITY ? y : NAN;
}

/* ---- Bessel's I_0 and I_1 times exp(-|x|): fits of ours, to 2e-9, hence for float32 alone ---- */

static const double I0_NEAR[] = {
    0.00029211245763766688, -0.00083025943966358112, 0.00065924181671779081, -0.0008446696959923184,
    0.0037225565067888914, -0.0078660144786734804, 0.011988663463874592, -0.018993741981577314, 0.030115419928045294,
    -0.043248643220853325, 0.056808095007728182, -0.069483115060197637, 0.079268117591170736, -0.084970255825363786,
    0.087344161889493302, -0.089043075748796621, 0.094515599965246791, -0.11300433251940588, 0.20700192139752532};
static const double I0_FAR[] = {
    1.5557902239371702e-09, 3.1620234407402138e-08, 1.0556785669172324e-07, 3.0733162879678289e-07,
    1.4780604539877777e-06, 1.1139815989802892e-05, 0.00013621677530170688, 0.0033605522416796708,
    0.40217650943136701};
static const double I1_NEAR[] = {
    3.4824062123321221e-05, -0.00011739680862844505, 0.00014818036935822614, -0.00022846126211818526,
    0.00071509667796190778, -0.0016550660995925648, 0.0030488556829872558, -0.0054661313844882528,
    0.009555098111622199, -0.01559481979281005, 0.023696365733220148, -0.033666801193103266, 0.044672595727973503,
    -0.055280491773946228, 0.063767585636511637, -0.068482587382627913, 0.068057593686730644, -0.061124338227811825,
    0.044687709909389306};
static const double I1_FAR[] = {
    -2.3229580675978595e-09, -3.5774091503838086e-08, -1.180862519664566e-07, -3.5843035585610947e-07,
    -1.8285944356455676e-06, -1.5035267795395296e-05, -0.00021923654463969122, -0.0097495774575860391,
    0.38939845904151071};

ALWAYS double i0e_wide(double x) {
    double a = fabs(x), t = 8.0 / (a > 8.0 ? a : 8.0);
    double y = a <= 8.0 ? POLY(a * 0.25 - 1.0, I0_NEAR) : POLY(2.0 * t - 1.0, I0_FAR) * sqrt(t * 0.125);
    return x == x ? y : x;
}

ALWAYS double i1e_wide(double x) {
    double a = fabs(x), t = 8.0 / (a > 8.0 ? a : 8.0);
    double y = a <= 8.0 ? x * POLY(a * 0.25 - 1.0, I1_NEAR) : copysign(POLY(2.0 * t - 1.0, I1_FAR) * sqrt(t * 0.125), x);
    y = x == 0 ? 0.0 : y;
    return x == x ? y : x;
}

ALWAYS double i0_wide(double x) { return i0e_wide(x) * exp_wide(fabs(x)); }         /* NaN at infinity, as PyTorch's */
ALWAYS double i1_wide(double x) { return i1e_wide(x) * exp_wide(fabs(x)); }

/* ---- kernels ---- */

#define ALSO(name, exact)                                   \
    MAP(float, floats_##name, name##_wide((double)u))       \
    MAP(double, doubles_##name, exact((double)u))           \
    ONE(name, 0)
#define BOTH_OF(name) ALSO(name, name##_wide)
#define SINGLE_OF(name)                                     \
    SINGLE(name, name##_wide((double)u))                    \
    ONE(name, 0)

BOTH_OF(erf)
BOTH_OF(erfc)
BOTH_OF(erfcx)
BOTH_OF(log_ndtr)
ALSO(erfinv, erfinv_exact)
SINGLE_OF(ndtri)
#if defined(_MSC_VER)
SINGLE_OF(lgamma)
#else
ALSO(lgamma, lgamma_exact)
#endif
BOTH_OF(digamma)
BOTH_OF(trigamma)
SINGLE_OF(i0)
SINGLE_OF(i0e)
SINGLE_OF(i1)
SINGLE_OF(i1e)
