/* The incomplete gamma functions over gamma(a), by the series and the continued fraction of _rules/special.py, number by number. */

#include "apply.h"
#include "kernels.h"

#if !defined(_MSC_VER)
enum { MOST = 10000 };

static double incomplete(double a, double x, int upper) {
    if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (a == INFINITY && x == INFINITY)) return NAN;
    if (x == 0 || a == INFINITY) return upper ? 1.0 : 0.0;
    if (a == 0 || x == INFINITY) return upper ? 0.0 : 1.0;
    int sign;
    double factor = exp(a * log(x) - x - lgamma_r(a, &sign));
    if (x < a + 1.0) {                                  /* the lower one: a series */
        double term = 1.0 / a, sum = term;
        for (int k = 1; k <= MOST && fabs(term) > fabs(sum) * 1e-17; k++) {
            term *= x / (a + k);
            sum += term;
        }
        return upper ? 1.0 - sum * factor : sum * factor;
    }
    const double tiny = 1e-300;                         /* the upper one: Lentz's way with a continued fraction */
    double beta = x + 1.0 - a, ratio = 1.0 / tiny, inverse = 1.0 / (beta == 0 ? tiny : beta), total = inverse, change = 2.0;
    for (int k = 1; k <= MOST && fabs(change - 1.0) > 1e-16; k++) {
        double alpha = -k * (k - a);
        beta += 2.0;
        inverse = alpha * inverse + beta;
        inverse = 1.0 / (inverse == 0 ? tiny : inverse);
        ratio = beta + alpha / ratio;
        ratio = ratio == 0 ? tiny : ratio;
        change = inverse * ratio;
        total *= change;
    }
    return upper ? total * factor : 1.0 - total * factor;
}
#endif

#define KIND(T, NAME, UPPER)                                                                                          \
    static void NAME(const void *pa, const void *pb, const void *c, const double *p, void *py, npy_intp n) {          \
        const T *a = pa, *b = pb;                                                                                     \
        T *y = py;                                                                                                    \
        for (npy_intp i = 0; i < n; i++) y[i] = (T)incomplete(a[i], b[i], UPPER);                                     \
    }
#if defined(_MSC_VER)
NO_DOUBLES(igamma)
NO_DOUBLES(igammac)
static const Loop floats_igamma = NULL, floats_igammac = NULL;
#else
KIND(float, floats_igamma, 0)
KIND(double, doubles_igamma, 0)
KIND(float, floats_igammac, 1)
KIND(double, doubles_igammac, 1)
#endif
TWO(igamma, 0)
TWO(igammac, 0)
