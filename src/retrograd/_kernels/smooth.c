/* Functions of one or two float32 made of exp and log, computed in double and rounded once. */

#include "apply.h"
#include "kernels.h"
#include "wide.h"

/* log(1 + e) without losing the digits of a small e */
ALWAYS double log_more(double e) {
    double u = 1.0 + e, y = log_wide(u) * (e / (u - 1.0));
    return (u == 1.0) | (e == INFINITY) ? e : y;
}

/* log(1 + exp(-a)), a >= 0.  With fewer choices: more of them, and the compiler splits the loop into branches. */
ALWAYS double log_one_more(double a) {
    double e = exp_wide(-a), u = 1.0 + e;
    return log_wide(u) + (e - (u - 1.0)) / u;
}

/* exp(x) - 1, to 1e-10 */
ALWAYS double exp_less(double x) { return fabs(x) < 1e-5 ? x + 0.5 * x * x : exp_wide(x) - 1.0; }

ALWAYS double softplus_of(double z) { return (z < 0 ? 0.0 : z) + log_one_more(fabs(z)); }

/* elu(x, alpha * scale, scale, input_scale) */
SINGLE(elu, u <= 0 ? exp_less((double)u * p[2]) * p[0] : u * p[1])
ONE(elu, 3)
/* softplus(x, beta, threshold) */
SINGLE(softplus, u * p0 > p1 ? (double)u : softplus_of((double)u * p[0]) / p[0])
ONE(softplus, 2)
SINGLE(log_sigmoid, (u > 0 ? 0.0 : (double)u) - log_one_more(fabs((double)u)))
ONE(log_sigmoid, 0)

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
    return top + log_one_more(gap);
}
ALWAYS double logaddexp2_of(double a, double b) {
    double top = a > b ? a : b, gap = a == b ? 0.0 : fabs(a - b);
    return top + log_one_more(gap * 0.6931471805599453) / 0.6931471805599453;
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
