/* Softmax, log-softmax over a dim, and the loss of picked log-probabilities; float32. */

#include "kernel.h"
#include "kernels.h"
#include "wide.h"

CLONES static void loop_softmax(const float *restrict x, float *restrict y, npy_intp n, npy_intp c) {
    for (npy_intp i = 0; i < n; i++, x += c, y += c) {
        float top = -INFINITY, sum = 0;
        SIMD_MAX(top) for (npy_intp j = 0; j < c; j++) top = x[j] > top ? x[j] : top;
        SIMD_SUM(sum) for (npy_intp j = 0; j < c; j++) {
            float e = exp_of(x[j] - top);
            y[j] = e;
            sum += e;
        }
        for (npy_intp j = 0; j < c; j++) y[j] /= sum;
    }
}

CLONES static void loop_softmax_grad(
    const float *restrict g, const float *restrict y, float *restrict o, npy_intp n, npy_intp c) {
    for (npy_intp i = 0; i < n; i++, g += c, y += c, o += c) {
        float sum = 0;
        SIMD_SUM(sum) for (npy_intp j = 0; j < c; j++) sum += g[j] * y[j];
        for (npy_intp j = 0; j < c; j++) o[j] = y[j] * (g[j] - sum);
    }
}

CLONES static void loop_log_softmax(const float *restrict x, float *restrict y, npy_intp n, npy_intp c) {
    for (npy_intp i = 0; i < n; i++, x += c, y += c) {
        float top = -INFINITY, sum = 0;
        SIMD_MAX(top) for (npy_intp j = 0; j < c; j++) top = x[j] > top ? x[j] : top;
        SIMD_SUM(sum) for (npy_intp j = 0; j < c; j++) sum += exp_of(x[j] - top);
        sum = logf(sum);
        for (npy_intp j = 0; j < c; j++) y[j] = (x[j] - top) - sum;
    }
}

CLONES static void loop_log_softmax_grad(
    const float *restrict g, const float *restrict y, float *restrict o, npy_intp n, npy_intp c) {
    for (npy_intp i = 0; i < n; i++, g += c, y += c, o += c) {
        float sum = 0;
        SIMD_SUM(sum) for (npy_intp j = 0; j < c; j++) sum += g[j];
        SIMD for (npy_intp j = 0; j < c; j++) o[j] = g[j] - exp_of(y[j]) * sum;
    }
}

/* ---- the same with WIDE vectors side by side: along a dim that is not the last, or rows too short for a loop of their own ---- */

enum { WIDE = 64, SHORT = 12 };

#define EACH_VECTOR for (npy_intp k = 0; k < w; k++)
#define EACH_NUMBER for (npy_intp i = 0; i < n; i++)

/* AT: where number i of vector k lies. */
#define SIDE_BY_SIDE(NAME, AT)                                                                                       \
    CLONES static void NAME##_softmax(const float *restrict x, float *restrict y, npy_intp n, npy_intp inner, npy_intp w, \
                                      int logarithm) {                                                               \
        float top[WIDE], sum[WIDE];                                                                                  \
        EACH_VECTOR {                                                                                                \
            top[k] = -INFINITY;                                                                                      \
            sum[k] = 0;                                                                                              \
        }                                                                                                            \
        EACH_NUMBER SIMD EACH_VECTOR top[k] = x[AT] > top[k] ? x[AT] : top[k];                                       \
        EACH_NUMBER {                                                                                                \
            SIMD EACH_VECTOR {                                                                                       \
                float e = exp_of(x[AT] - top[k]);                                                                    \
                y[AT] = e;                                                                                           \
                sum[k] += e;                                                                                         \
            }                                                                                                        \
        }                                                                                                            \
        if (logarithm) {                                                                                             \
            EACH_VECTOR sum[k] = logf(sum[k]);                                                                       \
            EACH_NUMBER SIMD EACH_VECTOR y[AT] = (x[AT] - top[k]) - sum[k];                                          \
        } else {                                                                                                     \
            EACH_NUMBER SIMD EACH_VECTOR y[AT] /= sum[k];                                                            \
        }                                                                                                            \
    }                                                                                                                \
    CLONES static void NAME##_softmax_grad(const float *restrict g, const float *restrict y, float *restrict out,    \
                                           npy_intp n, npy_intp inner, npy_intp w, int logarithm) {                  \
        float sum[WIDE];                                                                                             \
        EACH_VECTOR sum[k] = 0;                                                                                      \
        EACH_NUMBER SIMD EACH_VECTOR sum[k] += logarithm ? g[AT] : g[AT] * y[AT];                                    \
        if (logarithm) EACH_NUMBER SIMD EACH_VECTOR out[AT] = g[AT] - exp_of(y[AT]) * sum[k];                        \
        else EACH_NUMBER SIMD EACH_VECTOR out[AT] = y[AT] * (g[AT] - sum[k]);                                        \
    }
SIDE_BY_SIDE(columns, i * inner + k)
SIDE_BY_SIDE(narrow, k * n + i)

/* x (outer, n, inner), over n */
static void softmax_of(const float *x, const float *y_or_null, float *out, npy_intp outer, npy_intp n, npy_intp inner,
                       int logarithm) {
    npy_intp vectors = inner == 1 ? outer : inner, groups = inner == 1 ? 1 : outer;
    for (npy_intp o = 0; o < groups; o++) {
        for (npy_intp c = 0; c < vectors; c += WIDE) {
            npy_intp w = vectors - c < WIDE ? vectors - c : WIDE, at = o * n * inner + (inner == 1 ? c * n : c);
            if (y_or_null == NULL && inner == 1) narrow_softmax(x + at, out + at, n, inner, w, logarithm);
            else if (y_or_null == NULL) columns_softmax(x + at, out + at, n, inner, w, logarithm);
            else if (inner == 1) narrow_softmax_grad(x + at, y_or_null + at, out + at, n, inner, w, logarithm);
            else columns_softmax_grad(x + at, y_or_null + at, out + at, n, inner, w, logarithm);
        }
    }
}

/* ---- log(sum exp) ---- */

#define LOG_OF_SUMS(NAME, AT)                                                                                        \
    CLONES static void NAME##_logsumexp(const float *restrict x, float *restrict y, npy_intp n, npy_intp inner, npy_intp w) { \
        float top[WIDE], base[WIDE];                                                                                 \
        double sum[WIDE];                                                                                            \
        EACH_VECTOR {                                                                                                \
            top[k] = -INFINITY;                                                                                      \
            sum[k] = 0;                                                                                              \
        }                                                                                                            \
        EACH_NUMBER SIMD EACH_VECTOR top[k] = x[AT] > top[k] ? x[AT] : top[k];                                       \
        SIMD EACH_VECTOR base[k] = fabsf(top[k]) < INFINITY ? top[k] : 0;                                            \
        EACH_NUMBER SIMD EACH_VECTOR {                                                                               \
            const float gap = x[AT] - base[k];                                                                       \
            sum[k] += exp_of(gap > 0 ? 0 : gap);            /* above 0 where x is infinite: the top says so */       \
        }                                                                                                            \
        SIMD EACH_VECTOR {                                                                                           \
            const double log = log_wide(sum[k]);                                                                     \
            y[k] = (float)(fabsf(top[k]) < INFINITY ? log + base[k] : top[k] + 0 * sum[k]);                          \
        }                                                                                                            \
    }
LOG_OF_SUMS(columns, i * inner + k)
LOG_OF_SUMS(narrow, k * n + i)

CLONES static void row_logsumexp(const float *restrict x, float *restrict y, npy_intp rows, npy_intp n) {
    for (npy_intp r = 0; r < rows; r++, x += n) {
        float top = -INFINITY;
        double sum = 0;
        SIMD_MAX(top) for (npy_intp j = 0; j < n; j++) top = x[j] > top ? x[j] : top;
        const float base = fabsf(top) < INFINITY ? top : 0;
        SIMD_SUM(sum) for (npy_intp j = 0; j < n; j++) {
            const float gap = x[j] - base;
            sum += exp_of(gap > 0 ? 0 : gap);
        }
        y[r] = (float)(fabsf(top) < INFINITY ? log(sum) + base : top + 0 * sum);
    }
}

static void logsumexp_of(const float *x, float *y, npy_intp outer, npy_intp n, npy_intp inner) {
    if (inner == 1 && n > SHORT) {
        row_logsumexp(x, y, outer, n);
        return;
    }
    const npy_intp vectors = inner == 1 ? outer : inner, groups = inner == 1 ? 1 : outer;
    for (npy_intp o = 0; o < groups; o++, x += n * inner, y += inner) {
        for (npy_intp c = 0; c < vectors; c += WIDE) {
            const npy_intp w = vectors - c < WIDE ? vectors - c : WIDE;
            if (inner == 1) narrow_logsumexp(x + c * n, y + c, n, inner, w);
            else columns_logsumexp(x + c, y + c, n, inner, w);
        }
    }
}

/* logsumexp(x, dim, keep it) */
KERNEL(logsumexp, 3)
    PyObject *x = args[0];
    npy_intp outer, n, inner, sizes[NPY_MAXDIMS];
    if (kind_of(x) != NPY_FLOAT || PyArray_SIZE(ARRAY(x)) == 0 || !around(x, args[1], &outer, &n, &inner)) Py_RETURN_NONE;
    int left = 0;
    for (int d = 0, at = (int)PyLong_AsLong(args[1]); d < PyArray_NDIM(ARRAY(x)); d++) {
        if (d != at) sizes[left++] = PyArray_DIM(ARRAY(x), d);
        else if (args[2] == Py_True) sizes[left++] = 1;
    }
    PyObject *y = PyArray_SimpleNew(left, sizes, NPY_FLOAT);
    if (y == NULL) return NULL;
    WITHOUT_GIL(PyArray_SIZE(ARRAY(x)), logsumexp_of(DATA(x), DATA(y), outer, n, inner));
    return y;
END

/* ---- kernels ---- */

static PyObject *row_wise(
    PyObject *const *args, void (*f)(const float *, float *, npy_intp, npy_intp), int logarithm) {
    PyObject *x = args[0];
    npy_intp outer, n, inner;
    if (kind_of(x) != NPY_FLOAT || !around(x, args[1], &outer, &n, &inner)) Py_RETURN_NONE;
    PyObject *y = new_like(x);
    npy_intp all = outer * n * inner;
    if (y == NULL || all == 0) return y;
    if (inner == 1 && n >= SHORT) WITHOUT_GIL(all, f(DATA(x), DATA(y), outer, n));
    else WITHOUT_GIL(all, softmax_of(DATA(x), NULL, DATA(y), outer, n, inner, logarithm));
    return y;
}

static PyObject *row_wise_grad(
    PyObject *const *args, void (*f)(const float *, const float *, float *, npy_intp, npy_intp), int logarithm) {
    PyObject *y = args[1];
    npy_intp outer, n, inner;
    if (kind_of(y) != NPY_FLOAT || !around(y, args[2], &outer, &n, &inner)) Py_RETURN_NONE;
    PyObject *g = ordered(args[0], y, NPY_FLOAT);
    if (g == NULL) Py_RETURN_NONE;
    PyObject *o = new_like(y);
    npy_intp all = outer * n * inner;
    if (o != NULL && all && inner == 1 && n >= SHORT) WITHOUT_GIL(all, f(DATA(g), DATA(y), DATA(o), outer, n));
    else if (o != NULL && all) WITHOUT_GIL(all, softmax_of(DATA(g), DATA(y), DATA(o), outer, n, inner, logarithm));
    Py_DECREF(g);
    return o;
}

/* softmax(x, dim), softmax_grad(g, y, dim), and the same with logarithms */
KERNEL(softmax, 2) return row_wise(args, loop_softmax, 0); END
KERNEL(softmax_grad, 3) return row_wise_grad(args, loop_softmax_grad, 0); END
KERNEL(log_softmax, 2) return row_wise(args, loop_log_softmax, 1); END
KERNEL(log_softmax_grad, 3) return row_wise_grad(args, loop_log_softmax_grad, 1); END

/* Attention: `add` (R, C), or NULL, is added to each (R, C) of x first. */
CLONES static void loop_safe_softmax(
    const float *restrict x, const float *restrict add, float *restrict y, npy_intp n, npy_intp rows, npy_intp c) {
    for (npy_intp i = 0; i < n; i++, x += c, y += c) {
        float top = -INFINITY, sum = 0;
        if (add) {
            const float *restrict more = add + i % rows * c;
            for (npy_intp j = 0; j < c; j++) y[j] = x[j] + more[j];
        } else {
            for (npy_intp j = 0; j < c; j++) y[j] = x[j];
        }
        SIMD_MAX(top) for (npy_intp j = 0; j < c; j++) top = y[j] > top ? y[j] : top;
        if (top == -INFINITY) top = 0;
        SIMD_SUM(sum) for (npy_intp j = 0; j < c; j++) {
            float e = exp_of(y[j] - top);
            y[j] = e;
            sum += e;
        }
        sum = sum == 0 ? 1 : sum;
        for (npy_intp j = 0; j < c; j++) y[j] /= sum;
    }
}

/* safe_softmax(x (..., R, C), add (R, C) or None) -> softmax over the last dim, zeros for a row of -inf */
KERNEL(safe_softmax, 2)
    PyObject *x = args[0], *add = args[1];
    int ndim;
    if (kind_of(x) != NPY_FLOAT || (ndim = PyArray_NDIM(ARRAY(x))) < 1) Py_RETURN_NONE;
    npy_intp c = PyArray_DIM(ARRAY(x), ndim - 1), rows = 1;
    if (add != Py_None) {
        if (ndim < 2 || kind_of(add) != NPY_FLOAT || PyArray_NDIM(ARRAY(add)) != 2 || PyArray_DIM(ARRAY(add), 1) != c)
            Py_RETURN_NONE;
        rows = PyArray_DIM(ARRAY(x), ndim - 2);
        if (PyArray_DIM(ARRAY(add), 0) != rows) Py_RETURN_NONE;
    }
    PyObject *y = new_like(x);
    npy_intp size = PyArray_SIZE(ARRAY(x));
    if (y != NULL && size > 0)
        WITHOUT_GIL(size, loop_safe_softmax(DATA(x), add == Py_None ? NULL : DATA(add), DATA(y), size / c, rows, c));
    return y;
END

/* int64 classes (N,) */
static int are_classes(PyObject *x, npy_intp n) {
    return PyArray_CheckExact(x) && PyArray_TYPE(ARRAY(x)) == NPY_INT64 && PyArray_ISCARRAY_RO(ARRAY(x))
           && PyArray_NDIM(ARRAY(x)) == 1 && PyArray_DIM(ARRAY(x), 0) == n;
}

/* nll(x (N, C), target (N,) in 0..C-1, mean) -> -sum x[i, target[i]], or its mean */
KERNEL(nll, 3)
    PyObject *x = args[0];
    if (kind_of(x) != NPY_FLOAT || PyArray_NDIM(ARRAY(x)) != 2) Py_RETURN_NONE;
    npy_intp n = PyArray_DIM(ARRAY(x), 0), c = PyArray_DIM(ARRAY(x), 1);
    if (!are_classes(args[1], n) || n == 0 || c == 0) Py_RETURN_NONE;
    double total = 0;
    const float *px = DATA(x);
    const int64_t *target = DATA(args[1]);
    int bad = 0;
    for (npy_intp i = 0; i < n; i++) total -= px[i * c + inside(READ(target[i]), c, &bad)];
    if (bad) Py_RETURN_NONE;
    PyObject *y = PyArray_SimpleNew(0, NULL, NPY_FLOAT);
    if (y != NULL) *(float *)DATA(y) = args[2] == Py_True ? (float)total / (float)n : (float)total;
    return y;
END

/* nll_grad(g (), target (N,) in 0..C-1, C, mean) -> zeros (N, C) with -g (over N) at the targets */
KERNEL(nll_grad, 4)
    PyObject *g = args[0];
    npy_intp dims[2];
    if (kind_of(g) != NPY_FLOAT || PyArray_NDIM(ARRAY(g)) != 0 || !whole(args[2], dims + 1) || dims[1] < 1
        || !PyArray_CheckExact(args[1]) || PyArray_NDIM(ARRAY(args[1])) != 1) Py_RETURN_NONE;
    dims[0] = PyArray_DIM(ARRAY(args[1]), 0);
    if (!are_classes(args[1], dims[0])) Py_RETURN_NONE;
    PyObject *o = PyArray_ZEROS(2, dims, NPY_FLOAT, 0);
    if (o == NULL) return NULL;
    float *po = DATA(o), each = *(float *)DATA(g) * (args[3] == Py_True ? -1.0f / (float)dims[0] : -1.0f);
    const int64_t *target = DATA(args[1]);
    int bad = 0;
    for (npy_intp i = 0; i < dims[0]; i++) po[i * dims[1] + inside(READ(target[i]), dims[1], &bad)] = each;
    return unless(bad, o);
END

#define DIFFERENCES(T, NAME)                                                                                        \
    CLONES static void NAME##_mse_grad(const T *g, npy_intp step, T share, const T *a, const T *b, T twice, T *y,   \
                                       npy_intp n) {                                                                \
        if (step == 0) {                                                                                            \
            const T scale = *g * share;                                                                             \
            SIMD for (npy_intp i = 0; i < n; i++) y[i] = scale * ((a[i] - b[i]) * twice);                           \
        } else                                                                                                      \
            SIMD for (npy_intp i = 0; i < n; i++) y[i] = g[i] * share * ((a[i] - b[i]) * twice);                    \
    }

DIFFERENCES(float, floats)
DIFFERENCES(double, doubles)

/* mse_grad(g, a, b, share, twice) -> g * share * ((a - b) * twice); g is 0-d, or of the shape of a and b */
KERNEL(mse_grad, 5)
    int type = kind_of(args[1]);
    if (type < 0 || kind_of(args[0]) != type || kind_of(args[2]) != type || !same_shape(args[1], args[2])
        || !PyFloat_CheckExact(args[3]) || !PyFloat_CheckExact(args[4])) Py_RETURN_NONE;
    npy_intp step = PyArray_NDIM(ARRAY(args[0])) != 0, size = PyArray_SIZE(ARRAY(args[1]));
    if (step && !same_shape(args[0], args[1])) Py_RETURN_NONE;
    double share = PyFloat_AS_DOUBLE(args[3]), twice = PyFloat_AS_DOUBLE(args[4]);
    PyObject *y = new_like(args[1]);
    if (y == NULL) return NULL;
    if (type == NPY_FLOAT)
        WITHOUT_GIL(size, floats_mse_grad(DATA(args[0]), step, (float)share, DATA(args[1]), DATA(args[2]), (float)twice,
                                          DATA(y), size));
    else WITHOUT_GIL(size, doubles_mse_grad(DATA(args[0]), step, share, DATA(args[1]), DATA(args[2]), twice, DATA(y), size));
    return y;
END
