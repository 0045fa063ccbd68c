/* What the files of `_nn` share: which arrays are ours, when other threads may run, exp for vector loops.

   A kernel takes exact ndarrays of float32 (some: float64), aligned, native, in C order.  For every other case it
   returns None, and the NumPy code beside its call does the work.  Nothing here sets floating-point flags that matter:
   nobody looks at them. */

#ifndef RETROGRAD_KERNEL_H
#define RETROGRAD_KERNEL_H
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL retrograd_nn_array_api
#ifndef RETROGRAD_MAIN
#define NO_IMPORT_ARRAY
#endif
#include <Python.h>
#include <numpy/arrayobject.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* One copy of a loop per generation of x86-64, chosen when the module is loaded: too early for ThreadSanitizer. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 \
    && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define UNFUSED __attribute__((target_clones("avx2", "default")))       /* no product and sum in one rounding */
#else
#define CLONES
#define UNFUSED
#endif

#if defined(_MSC_VER)
#define restrict __restrict
#define SIMD
#define SIMD_SUM(x)
#define SIMD_MAX(x)
#else
#define SIMD _Pragma("omp simd")
#define PRAGMA(x) _Pragma(#x)
#define SIMD_SUM(...) PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD_MAX(...) PRAGMA(omp simd reduction(max : __VA_ARGS__))
#endif

#define RELEASE_AT 20000 /* elements from which it pays to let other threads run */
#define WITHOUT_GIL(n, work)                    \
    do {                                        \
        NPY_BEGIN_THREADS_DEF;                  \
        if ((n) > RELEASE_AT) NPY_BEGIN_THREADS; \
        work;                                   \
        NPY_END_THREADS;                        \
    } while (0)

/* Sizes in bytes that cannot overflow: what is too much for them is TOO_MUCH, which no allocator gives. */
#define TOO_MUCH ((size_t)PY_SSIZE_T_MAX)

static inline size_t times(size_t a, size_t b) { return b != 0 && a > TOO_MUCH / b ? TOO_MUCH : a * b; }
static inline size_t plus(size_t a, size_t b) { return a > TOO_MUCH - b ? TOO_MUCH : a + b; }

/* Is x an int that npy_intp holds?  Its value; no error is set. */
static inline int whole(PyObject *x, npy_intp *value) {
    int overflow = 1;
    const long long n = PyLong_Check(x) ? PyLong_AsLongLongAndOverflow(x, &overflow) : 0;
    *value = (npy_intp)n;
    return !overflow;
}

/* NOTE [Read once]  What an array holds may change while we read it: other threads write to it, NumPy's loops without the GIL,
   too.  So an index is read once and then checked, by `inside` or `placed`; no check made before says anything about a later read. */
#define READ(x) (*(const volatile int64_t *)&(x))

/* The place x, which must be in 0..n-1: elsewhere 0, and `bad` is set.  n must not be 0. */
static inline npy_intp inside(int64_t x, npy_intp n, int *bad) {
    const int fits = (uint64_t)x < (uint64_t)n;
    *bad |= !fits;
    return fits ? (npy_intp)x : 0;
}

/* The same for an index, which may count from the end. */
static inline npy_intp placed(int64_t x, npy_intp n, int *bad) { return inside(x < 0 ? x + n : x, n, bad); }

/* y, or None instead of it where it has become of no use. */
static inline PyObject *unless(int bad, PyObject *y) {
    if (!bad) return y;
    Py_DECREF(y);
    Py_RETURN_NONE;
}

#define ARRAY(x) ((PyArrayObject *)(x))
#define DATA(x) PyArray_DATA(ARRAY(x))

/* NPY_FLOAT or NPY_DOUBLE for an array of ours, else -1. */
static inline int kind_of(PyObject *x) {
    if (!PyArray_CheckExact(x)) return -1;
    int type = PyArray_TYPE(ARRAY(x));
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISCARRAY_RO(ARRAY(x)) ? type : -1;
}

/* NPY_CFLOAT or NPY_CDOUBLE for an array of ours, else -1. */
static inline int complex_kind(PyObject *x) {
    if (!PyArray_CheckExact(x)) return -1;
    const int type = PyArray_TYPE(ARRAY(x));
    return (type == NPY_CFLOAT || type == NPY_CDOUBLE) && PyArray_ISCARRAY_RO(ARRAY(x)) ? type : -1;
}

static inline int same_shape(PyObject *a, PyObject *b) {
    int ndim = PyArray_NDIM(ARRAY(a));
    return ndim == PyArray_NDIM(ARRAY(b)) && PyArray_CompareLists(PyArray_DIMS(ARRAY(a)), PyArray_DIMS(ARRAY(b)), ndim);
}

/* A new reference to x, or to a copy in C order; NULL, with no error set, unless it has a's shape and the type.
   Gradients arrive expanded (stride 0) or transposed; one copy is cheaper than NumPy's many passes. */
static inline PyObject *ordered(PyObject *x, PyObject *a, int type) {
    if (!PyArray_CheckExact(x) || PyArray_TYPE(ARRAY(x)) != type || !same_shape(x, a)) return NULL;
    if (PyArray_ISCARRAY_RO(ARRAY(x))) return Py_NewRef(x);
    if (!PyArray_ISBEHAVED_RO(ARRAY(x))) return NULL;
    PyObject *copy = PyArray_NewCopy(ARRAY(x), NPY_CORDER);
    if (copy == NULL) PyErr_Clear();
    return copy;
}

/* Whether two arrays in C order share no byte. */
static inline int apart(PyObject *a, PyObject *b) {
    char *pa = DATA(a), *pb = DATA(b);
    return pa + PyArray_NBYTES(ARRAY(a)) <= pb || pb + PyArray_NBYTES(ARRAY(b)) <= pa;
}

/* Whether two arrays have no byte in common, whatever their strides: told by their first and last ones. */
static inline int disjoint(PyObject *x, PyObject *y) {
    PyObject *both[2] = {x, y};
    char *first[2], *last[2];
    for (int k = 0; k < 2; k++) {
        PyArrayObject *z = ARRAY(both[k]);
        first[k] = last[k] = PyArray_BYTES(z);
        for (int i = 0; i < PyArray_NDIM(z); i++) {
            if (PyArray_DIM(z, i) == 0) return 1;
            const npy_intp reach = PyArray_STRIDE(z, i) * (PyArray_DIM(z, i) - 1);
            if (reach > 0) last[k] += reach;
            else first[k] += reach;
        }
        last[k] += PyArray_ITEMSIZE(z);
    }
    return last[0] <= first[1] || last[1] <= first[0];
}

/* x as (outer, n, inner) around a dim. */
static inline int around(PyObject *x, PyObject *dim, npy_intp *outer, npy_intp *n, npy_intp *inner) {
    int ndim = PyArray_NDIM(ARRAY(x));
    npy_intp d;
    if (!whole(dim, &d) || d < 0 || d >= ndim) return 0;
    *outer = *inner = 1;
    for (int i = 0; i < ndim; i++) {
        if (i < d) *outer *= PyArray_DIM(ARRAY(x), i);
        if (i > d) *inner *= PyArray_DIM(ARRAY(x), i);
    }
    *n = PyArray_DIM(ARRAY(x), (int)d);
    return 1;
}

static inline PyObject *new_like(PyObject *x) {
    return PyArray_SimpleNew(PyArray_NDIM(ARRAY(x)), PyArray_DIMS(ARRAY(x)), PyArray_TYPE(ARRAY(x)));
}

static inline int expect(Py_ssize_t got, Py_ssize_t want, const char *name) {
    if (got == want) return 1;
    PyErr_Format(PyExc_TypeError, "%s: expected %zd arguments, got %zd", name, want, got);
    return 0;
}

/* exp without branches, so that compilers vectorise it: about 1 ulp in [-87.3, 88.3]; below, 0; above, exp(88.376).
   NaN stays NaN: it falls through both limits, because of the order of their operands.  x = n log 2 + r, and a
   polynomial for exp(r) fitted to |r| <= log(2)/2. */
static inline float exp_of(float x) {
    union { float f; int32_t i; } k, power;
    x = 88.3762626647950f < x ? 88.3762626647950f : x;
    x = -88.5f > x ? -88.5f : x;
    k.f = x * 1.44269504088896341f + 12582912.0f;       /* 1.5 * 2^23: rounds to an integer, kept in the low bits */
    float n = k.f - 12582912.0f;
    int32_t e = k.i - 0x4B400000 + 127;
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;      /* log 2 in two parts: Cody and Waite 1980 */
    float p = 0.00138144672f;
    p = p * r + 0.00836878084f;
    p = p * r + 0.0416683927f;
    p = p * r + 0.166665196f;
    p = p * r + 0.49999994f;
    p = p * (r * r) + r + 1.0f;
    e = e < 0 ? 0 : e;                                  /* to 0, not to denormal numbers, which are slow */
    power.i = (int32_t)((uint32_t)e << 23);
    return p * power.f;
}

/* exp(-|x|) cannot overflow.  Where it underflows to 0, so does the result. */
static inline float sigmoid_of(float x) {
    float e = exp_of(-fabsf(x)), r = 1.0f / (1.0f + e);
    return x < 0 ? e * r : x == x ? r : x;
}

/* Below 0.625 x + x^3 P(x^2), fitted; above, by exp: to about 2 ulp. */
static inline float tanh_of(float x) {
    float t = fabsf(x), s = x * x, e = exp_of(-2.0f * t);
    float p = -0.00543939741f;
    p = p * s + 0.0203979257f;
    p = p * s - 0.0536650382f;
    p = p * s + 0.13330543f;
    p = p * s - 0.333332479f;
    float far = copysignf((1.0f - e) / (1.0f + e), x);
    return t < 0.625f ? x + x * s * p : x == x ? far : x;
}
#endif
