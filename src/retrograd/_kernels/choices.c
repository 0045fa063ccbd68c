/* Bounds, steps and sums of products, element by element, in the operations and therefore with the bits of the NumPy code. */

#include "apply.h"
#include "kernels.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* A bound that is NaN makes everything NaN: not for us, nor is none, which is an infinite one. */
static int bound(PyObject *x, double none, double *value) {
    if (x == Py_None) *value = none;
    else if (!numbers(&x, 1, value)) return 0;
    return *value == *value;
}

BOTH(clamp, u < p0 ? p0 : u > p1 ? p1 : u)              /* NaN and -0.0 stay */
KERNEL(clamp, 3)
    double p[PARAMETERS] = {0};
    if (!bound(args[1], -INFINITY, p) || !bound(args[2], INFINITY, p + 1) || p[0] > p[1]) Py_RETURN_NONE;
    return apply(args[0], NULL, NULL, p, floats_clamp, doubles_clamp);
END

BOTH(leaky, u > 0 ? u : u * p0)
ONE(leaky, 1)
BOTH(threshold, u <= p0 ? p1 : u)
ONE(threshold, 2)
BOTH(hard_shrink, (u >= -p0) & (u <= p0) ? 0 : u)
ONE(hard_shrink, 1)
BOTH(soft_shrink, u > p0 ? u - p0 : u < -p0 ? u + p0 : u * 0)
ONE(soft_shrink, 1)
#define BENT(u) ((u) + 3 < 0 ? 0 : (u) + 3 > 6 ? 6 : (u) + 3)
BOTH(hard_sigmoid, BENT(u) / 6)
ONE(hard_sigmoid, 0)
BOTH(hard_swish, u * BENT(u) / 6)
ONE(hard_swish, 0)
BOTH(sign, (u > 0) - (u < 0))
ONE(sign, 0)
BOTH(angle, u < 0 ? 3.141592653589793 : u == u ? 0 : u)
ONE(angle, 0)
BOTH(nan_to_num, u == u ? (u > p3 ? p1 : u < -p3 ? p2 : u) : p0)
KERNEL(nan_to_num, 4)
    double p[PARAMETERS] = {0};
    if (!numbers(args + 1, 3, p)) Py_RETURN_NONE;
    p[3] = kind_of(args[0]) == NPY_FLOAT ? 3.4028234663852886e38 : 1.7976931348623157e308;
    return apply(args[0], NULL, NULL, p, floats_nan_to_num, doubles_nan_to_num);
END

/* lerp(a, b, weight, 1 - weight) and, with an array of weights, blend(a, b, w) */
BOTH(lerp, p2 != 0 ? u + (v - u) * p0 : v - (v - u) * p1)
static PyObject *lerp(PyObject *out, PyObject *const *args) {
    double p[PARAMETERS] = {0};
    if (!numbers(args + 2, 2, p)) Py_RETURN_NONE;
    p[2] = fabs(p[0]) < 0.5;
    return apply_into(out, args[0], args[1], NULL, p, floats_lerp, doubles_lerp);
}
KERNEL(lerp, 4)
    return lerp(NULL, args);
END
KERNEL(lerp_into, 4)
    return lerp(args[0], args);
END
#define NEAR_(w) (((w) < 0.5f) & ((w) > -0.5f))
BOTH(blend, NEAR_(w) ? u + (v - u) * w : v - (v - u) * (1 - w))
THREE(blend, 0)

BOTH(add_scaled, u + v * p0)
TWO(add_scaled, 1)
KERNEL(add_scaled_into, 3)
    double p[PARAMETERS] = {0};
    if (!numbers(args + 2, 1, p)) Py_RETURN_NONE;
    return apply_into(args[0], args[0], args[1], NULL, p, floats_add_scaled, doubles_add_scaled);
END

BOTH(add_product, u + v * w * p0)
THREE(add_product, 1)
BOTH(add_quotient, u + v / w * p0)
THREE(add_quotient, 1)

/* Losses of a difference d: smooth_l1(a, b, beta, 0.5 / beta, 0.5 * beta), huber(a, b, delta, 0.5 * delta) */
#define GAP (u < v ? v - u : u - v)
BOTH(smooth_l1, GAP < p0 ? GAP * GAP * p1 : GAP - p2)
TWO(smooth_l1, 3)
BOTH(huber, GAP <= p0 ? GAP * GAP * (0.5f) : (GAP - p1) * p0)
TWO(huber, 2)

BOTH(frac, u - (sizeof(u) == 4 ? (double)truncf((float)u) : trunc(u)))
ONE(frac, 0)
