/* Products and quotients of complex numbers, rounded as PyTorch rounds them: products in four steps, quotients by Smith's method
   (Algorithm 116, 1962), where the divisor's greater part divides the other, so that nothing overflows on the way. */

#include "kernel.h"
#include "kernels.h"

#define EACH SIMD for (npy_intp i = 0; i < n; i++)

#define TIMES(T, A, B, C, D)                                                                                        \
    EACH {                                                                                                          \
        const T a = A, b = B, c = C, d = D;                                                                         \
        y[2 * i] = a * c - b * d;                                                                                   \
        y[2 * i + 1] = a * d + b * c;                                                                               \
    }

/* Turned: the imaginary part of the divisor is the greater one. */
#define OVER(T, A, B, C, D)                                                                                         \
    EACH {                                                                                                          \
        const T a = A, b = B, c = C, d = D, across = ABS_##T(c), along = ABS_##T(d);                                \
        const int turned = !(across >= along), nothing = across + along == 0;                                       \
        const T great = turned ? d : c, small = turned ? c : d, p = turned ? b : a, q = turned ? a : b;             \
        const T ratio = nothing ? 0 : small / great;                                                                \
        const T scale = 1 / (nothing ? across : great + small * ratio);                                             \
        const T first = p + q * ratio, last = turned ? p * ratio - q : q - p * ratio;                               \
        y[2 * i] = (nothing ? p : first) * scale;                                                                   \
        y[2 * i + 1] = (nothing ? q : last) * scale;                                                                \
    }
#define ABS_float fabsf
#define ABS_double fabs

/* y = x and z together, n numbers in pairs; in NAME_of one u + vi is all of x, in NAME_by all of z. */
#define LOOPS(OP, T, NAME, VERSIONS)                                                                                \
    VERSIONS static void NAME(const T *restrict x, const T *restrict z, T *restrict y, npy_intp n) {                \
        OP(T, x[2 * i], x[2 * i + 1], z[2 * i], z[2 * i + 1])                                                       \
    }                                                                                                               \
    VERSIONS static void NAME##_of(const T u, const T v, const T *restrict z, T *restrict y, npy_intp n) {          \
        OP(T, u, v, z[2 * i], z[2 * i + 1])                                                                         \
    }                                                                                                               \
    VERSIONS static void NAME##_by(const T *restrict x, const T u, const T v, T *restrict y, npy_intp n) {          \
        OP(T, x[2 * i], x[2 * i + 1], u, v)                                                                         \
    }
LOOPS(TIMES, float, singles_times, UNFUSED)
LOOPS(TIMES, double, doubles_times, UNFUSED)
LOOPS(OVER, float, singles_over, CLONES)
LOOPS(OVER, double, doubles_over, CLONES)

/* NPY_CFLOAT or NPY_CDOUBLE for an array of ours, else -1. */
static int complex_kind(PyObject *x) {
    if (!PyArray_CheckExact(x)) return -1;
    const int type = PyArray_TYPE(ARRAY(x));
    return (type == NPY_CFLOAT || type == NPY_CDOUBLE) && PyArray_ISCARRAY_RO(ARRAY(x)) ? type : -1;
}

/* Is x one number beside numbers of that type, and which?  An array of no dims is one. */
static int one_number(PyObject *x, int type, Py_complex *value) {
    if (PyArray_CheckExact(x)) {
        if (PyArray_NDIM(ARRAY(x)) || complex_kind(x) != type) return 0;
        if (type == NPY_CDOUBLE) *value = *(Py_complex *)DATA(x);
        else *value = (Py_complex){((float *)DATA(x))[0], ((float *)DATA(x))[1]};
        return 1;
    }
    if (!PyComplex_CheckExact(x) && !PyFloat_CheckExact(x) && !(type == NPY_CFLOAT && PyArray_IsScalar(x, CFloat))
        && !(type == NPY_CDOUBLE && PyArray_IsScalar(x, CDouble))) return 0;
    *value = PyComplex_AsCComplex(x);
    return 1;
}

#define PAIRS(name)                                                                                                 \
    KERNEL(complex_##name, 2)                                                                                       \
        PyObject *x = args[0], *z = args[1];                                                                        \
        Py_complex u = {0, 0};                                                                                      \
        const int of = complex_kind(z) >= 0 && one_number(x, complex_kind(z), &u);                                  \
        PyObject *many = of ? z : x;                                                                                \
        const int type = complex_kind(many), by = !of && one_number(z, type, &u);                                   \
        if (type < 0 || (!of && !by && (complex_kind(z) != type || !same_shape(x, z)))) Py_RETURN_NONE;             \
        PyObject *out = PyArray_SimpleNew(PyArray_NDIM(ARRAY(many)), PyArray_DIMS(ARRAY(many)), type);              \
        if (out == NULL) return NULL;                                                                               \
        const npy_intp n = PyArray_SIZE(ARRAY(many));                                                               \
        const void *px = of ? NULL : DATA(x), *pz = by ? NULL : DATA(z);                                            \
        void *y = DATA(out);                                                                                        \
        NPY_BEGIN_THREADS_DEF;                                                                                      \
        if (n > RELEASE_AT / 2) NPY_BEGIN_THREADS;                                                                  \
        if (type == NPY_CFLOAT) {                                                                                   \
            if (of) singles_##name##_of((float)u.real, (float)u.imag, pz, y, n);                                    \
            else if (by) singles_##name##_by(px, (float)u.real, (float)u.imag, y, n);                               \
            else singles_##name(px, pz, y, n);                                                                      \
        } else if (of) doubles_##name##_of(u.real, u.imag, pz, y, n);                                               \
        else if (by) doubles_##name##_by(px, u.real, u.imag, y, n);                                                 \
        else doubles_##name(px, pz, y, n);                                                                          \
        NPY_END_THREADS;                                                                                            \
        return out;                                                                                                 \
    END

PAIRS(times)
PAIRS(over)
