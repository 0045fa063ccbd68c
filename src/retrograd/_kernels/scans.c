/* Running sums, products, extremes and logarithms of sums along a dim, and the product of all.  Sums and products of float32
   and complex64 are carried in double, as PyTorch's are. */

#include "kernel.h"
#include "kernels.h"

enum { COLUMNS = 256, ROWS = 8 };

#define RUNNING(T, NAME, START, OP)                                                                             \
    CLONES static void NAME(const T *restrict x, T *restrict y, npy_intp outer, npy_intp n, npy_intp inner) {   \
        npy_intp r = 0;                                                                                         \
        if (inner == 1) {                                                                                       \
            for (; r + ROWS <= outer; r += ROWS, x += ROWS * n, y += ROWS * n) { /* side by side: each waits */ \
                double s[ROWS];                                                                                 \
                for (int k = 0; k < ROWS; k++) s[k] = START;                                                    \
                for (npy_intp i = 0; i < n; i++)                                                                \
                    for (int k = 0; k < ROWS; k++) y[k * n + i] = (T)(s[k] = s[k] OP x[k * n + i]);             \
            }                                                                                                   \
        }                                                                                                       \
        for (; r < outer; r++, x += n * inner, y += n * inner) {                                                \
            for (npy_intp c = 0; c < inner; c += COLUMNS) {                                                     \
                const npy_intp w = inner - c < COLUMNS ? inner - c : COLUMNS;                                   \
                double s[COLUMNS];                                                                              \
                for (npy_intp j = 0; j < w; j++) s[j] = START;                                                  \
                for (npy_intp i = 0; i < n; i++) {                                                              \
                    const T *from = x + i * inner + c;                                                          \
                    T *to = y + i * inner + c;                                                                  \
                    SIMD for (npy_intp j = 0; j < w; j++) to[j] = (T)(s[j] = s[j] OP from[j]);                  \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
    }
RUNNING(float, floats_cumsum, 0.0, +)
RUNNING(double, doubles_cumsum, 0.0, +)
RUNNING(float, floats_cumprod, 1.0, *)
RUNNING(double, doubles_cumprod, 1.0, *)

/* Of complex numbers, carried in double: lanes side by side, which are columns, or rows where these are all there is. */
typedef struct {
    double re, im;
} Pair;

static inline Pair pairs_sum(Pair a, Pair b) { return (Pair){a.re + b.re, a.im + b.im}; }

static inline Pair pairs_product(Pair a, Pair b) {
    return (Pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* log(1 + z) */
static inline Pair log1p_of(Pair z) {
    const double angle = atan2(z.im, 1 + z.re);
    if (hypot(z.re, z.im) >= 0.5) return (Pair){log(hypot(1 + z.re, z.im)), angle};
    const double more = z.re * (2 + z.re) + z.im * z.im;
    return (Pair){more == 0 ? z.re : log1p(more) / 2, angle};
}

/* log(exp(a) + exp(b)), from the one of the greater real part; neither's is inf */
static inline Pair pairs_log_of_sum(Pair a, Pair b) {
    if (a.re != a.re || a.im != a.im || b.re != b.re || b.im != b.im) return (Pair){NAN, NAN};
    const Pair top = a.re > b.re ? a : b, low = a.re > b.re ? b : a;
    if (isinf(low.re)) return isinf(top.re) ? a : top;
    const double size = exp(low.re - top.re), turn = low.im - top.im;
    const Pair more = log1p_of((Pair){size * cos(turn), size * sin(turn)});
    return (Pair){more.re + top.re, more.im + top.im};
}

#define RUNNING_PAIRS(T, NAME, OP, ...)                                                                            \
    static void NAME(const T *restrict x, T *restrict y, npy_intp outer, npy_intp n, npy_intp inner) {             \
        const npy_intp lanes = inner == 1 ? outer : inner, block = inner == 1 ? ROWS : COLUMNS;                    \
        const npy_intp lane = inner == 1 ? n : 1, step = inner == 1 ? 1 : inner;                                   \
        Pair s[COLUMNS];                                                                                           \
        for (npy_intp r = 0; r < (inner == 1 ? 1 : outer); r++, x += 2 * n * inner, y += 2 * n * inner)            \
            for (npy_intp c = 0; c < lanes; c += block)                                                            \
                for (npy_intp i = 0; i < n; i++)                                                                   \
                    for (npy_intp j = 0; j < block && j < lanes - c; j++) {                                        \
                        const npy_intp at = 2 * (i * step + (c + j) * lane);                                       \
                        const Pair z = {x[at], x[at + 1]};                                                         \
                        s[j] = OP(i ? s[j] : (Pair)__VA_ARGS__, z);                                             \
                        y[at] = (T)s[j].re;                                                                        \
                        y[at + 1] = (T)s[j].im;                                                                    \
                    }                                                                                              \
    }
RUNNING_PAIRS(float, pairs_cumsum, pairs_sum, {0, 0})
RUNNING_PAIRS(double, wide_pairs_cumsum, pairs_sum, {0, 0})
RUNNING_PAIRS(float, pairs_cumprod, pairs_product, {1, 0})
RUNNING_PAIRS(double, wide_pairs_cumprod, pairs_product, {1, 0})
RUNNING_PAIRS(float, pairs_logcumsumexp, pairs_log_of_sum, {-INFINITY, 0})
RUNNING_PAIRS(double, wide_pairs_logcumsumexp, pairs_log_of_sum, {-INFINITY, 0})

#define SCAN(name)                                                                                                 \
    KERNEL(name, 2)                                                                                                \
        npy_intp outer, n, inner;                                                                                  \
        const int real = kind_of(args[0]), type = real < 0 ? complex_kind(args[0]) : real;                         \
        if (type < 0 || !around(args[0], args[1], &outer, &n, &inner)) Py_RETURN_NONE;                             \
        PyObject *y = new_like(args[0]);                                                                           \
        const npy_intp all = outer * n * inner;                                                                    \
        if (y == NULL || all == 0) return y;                                                                       \
        if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_##name(DATA(args[0]), DATA(y), outer, n, inner));           \
        else if (type == NPY_DOUBLE) WITHOUT_GIL(all, doubles_##name(DATA(args[0]), DATA(y), outer, n, inner));    \
        else if (type == NPY_CFLOAT) WITHOUT_GIL(all, pairs_##name(DATA(args[0]), DATA(y), outer, n, inner));      \
        else WITHOUT_GIL(all, wide_pairs_##name(DATA(args[0]), DATA(y), outer, n, inner));                         \
        return y;                                                                                                  \
    END
SCAN(cumsum)
SCAN(cumprod)

#define ANY_INFINITE(T, NAME)                                                   \
    CLONES static int NAME(const T *x, npy_intp n) {                            \
        int any = 0;                                                            \
        for (npy_intp i = 0; i < n; i++) any |= x[2 * i] == (T)INFINITY;        \
        return any;                                                             \
    }
ANY_INFINITE(float, pairs_infinite)
ANY_INFINITE(double, wide_pairs_infinite)

/* logcumsumexp(x, dim) of complex numbers, none of which is infinite to the right */
KERNEL(logcumsumexp, 2)
    npy_intp outer, n, inner;
    const int type = complex_kind(args[0]);
    if (type < 0 || !around(args[0], args[1], &outer, &n, &inner)) Py_RETURN_NONE;
    const npy_intp all = outer * n * inner;
    const void *x = DATA(args[0]);
    if (type == NPY_CFLOAT ? pairs_infinite(x, all) : wide_pairs_infinite(x, all)) Py_RETURN_NONE;
    PyObject *y = new_like(args[0]);
    if (y == NULL || all == 0) return y;
    if (type == NPY_CFLOAT) WITHOUT_GIL(all, pairs_logcumsumexp(x, DATA(y), outer, n, inner));
    else WITHOUT_GIL(all, wide_pairs_logcumsumexp(x, DATA(y), outer, n, inner));
    return y;
END

/* The extreme so far and where it was last reached; a NaN is one, for good. */
#define RECORD(T, NAME, BEATS)                                                                                       \
    CLONES static void NAME(const T *restrict x, T *restrict y, int64_t *restrict at, npy_intp outer, npy_intp n,    \
                            npy_intp inner) {                                                                        \
        for (npy_intp r = 0; r < outer; r++, x += n * inner, y += n * inner, at += n * inner) {                      \
            if (inner == 1) {                                                                                        \
                T best = x[0];                                                                                       \
                int64_t where = 0;                                                                                   \
                for (npy_intp i = 0; i < n; i++) {                                                                   \
                    int new = (x[i] BEATS best) | (x[i] != x[i]);                                                    \
                    best = new ? x[i] : best;                                                                        \
                    where = new ? i : where;                                                                         \
                    y[i] = best;                                                                                     \
                    at[i] = where;                                                                                   \
                }                                                                                                    \
                continue;                                                                                            \
            }                                                                                                        \
            for (npy_intp j = 0; j < inner; j++) {                                                                   \
                y[j] = x[j];                                                                                         \
                at[j] = 0;                                                                                           \
            }                                                                                                        \
            for (npy_intp i = inner; i < n * inner; i += inner) {                                                    \
                const int64_t now = i / inner;                                                                       \
                const T *from = x + i, *was = y + i - inner;                                                         \
                const int64_t *had = at + i - inner;                                                                 \
                T *to = y + i;                                                                                       \
                int64_t *place = at + i;                                                                             \
                for (npy_intp j = 0; j < inner; j++) {                                                               \
                    int new = (from[j] BEATS was[j]) | (from[j] != from[j]);                                         \
                    to[j] = new ? from[j] : was[j];                                                                  \
                    place[j] = new ? now : had[j];                                                                   \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
    }
RECORD(float, floats_cummax, >=)
RECORD(double, doubles_cummax, >=)
RECORD(float, floats_cummin, <=)
RECORD(double, doubles_cummin, <=)

#define RECORDS(name)                                                                                               \
    KERNEL(name, 2)                                                                                                 \
        npy_intp outer, n, inner;                                                                                   \
        int type = kind_of(args[0]);                                                                                \
        if (type < 0 || !around(args[0], args[1], &outer, &n, &inner)) Py_RETURN_NONE;                              \
        PyObject *y = new_like(args[0]);                                                                            \
        PyObject *at = y == NULL ? NULL                                                                             \
                                 : PyArray_SimpleNew(PyArray_NDIM(ARRAY(y)), PyArray_DIMS(ARRAY(y)), NPY_INT64);    \
        if (at == NULL) {                                                                                           \
            Py_XDECREF(y);                                                                                          \
            return NULL;                                                                                            \
        }                                                                                                           \
        npy_intp all = outer * n * inner;                                                                           \
        if (all && type == NPY_FLOAT)                                                                               \
            WITHOUT_GIL(all, floats_##name(DATA(args[0]), DATA(y), DATA(at), outer, n, inner));                     \
        else if (all) WITHOUT_GIL(all, doubles_##name(DATA(args[0]), DATA(y), DATA(at), outer, n, inner));          \
        return Py_BuildValue("NN", y, at);                                                                          \
    END
RECORDS(cummax)
RECORDS(cummin)

#define PRODUCT(T, NAME)                                                                          \
    CLONES static T NAME(const T *x, npy_intp n) {                                                \
        T y = 1;                                                                                  \
        PRODUCTS for (npy_intp i = 0; i < n; i++) y *= x[i];                                      \
        return y;                                                                                 \
    }
#if defined(_MSC_VER)
#define PRODUCTS
#else
#define PRODUCTS PRAGMA(omp simd reduction(* : y))
#endif
PRODUCT(float, floats_product)
PRODUCT(double, doubles_product)

/* product(x) -> of all, 0-d */
KERNEL(product, 1)
    int type = kind_of(args[0]);
    if (type < 0) Py_RETURN_NONE;
    PyObject *y = PyArray_SimpleNew(0, NULL, type);
    if (y == NULL) return NULL;
    npy_intp n = PyArray_SIZE(ARRAY(args[0]));
    if (type == NPY_FLOAT) WITHOUT_GIL(n, *(float *)DATA(y) = floats_product(DATA(args[0]), n));
    else WITHOUT_GIL(n, *(double *)DATA(y) = doubles_product(DATA(args[0]), n));
    return y;
END
