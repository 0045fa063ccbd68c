/* Complex numbers, which lie as pairs of real ones.  Products and quotients are rounded as PyTorch rounds them: products in four
   steps, quotients by Smith's method (Algorithm 116, 1962), where the divisor's greater part divides the other, so that nothing
   overflows on the way. */

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

/* From x to z by a weight c + di for each: x + (z - x) w, or where w is great, so that 1 gives z exactly, z - (z - x) (1 - w). */
#define BLEND(T)                                                                                                    \
    const int near = c * c + d * d < (T)0.25;                                                                       \
    const T e = u - a, f = v - b, s = near ? c : c - 1;                                                             \
    y[2 * i] = (near ? a : u) + (e * s - f * d);                                                                    \
    y[2 * i + 1] = (near ? b : v) + (e * d + f * s);

/* x + (p + qi) z w */
#define ADD_PRODUCT(T)                                                                                              \
    const T e = u * p - v * q, f = u * q + v * p;                                                                   \
    y[2 * i] = a + (e * c - f * d);                                                                                 \
    y[2 * i + 1] = b + (e * d + f * c);

/* Of a + bi, u + vi and c + di. */
#define OF_THREE(T, NAME, WORK)                                                                                     \
    UNFUSED static void NAME(const T *restrict x, const T *restrict z, const T *restrict w, T p, T q, T *restrict y, \
                             npy_intp n) {                                                                          \
        (void)p, (void)q;                                                                                           \
        EACH {                                                                                                      \
            const T a = x[2 * i], b = x[2 * i + 1], u = z[2 * i], v = z[2 * i + 1], c = w[2 * i], d = w[2 * i + 1]; \
            WORK(T)                                                                                                 \
        }                                                                                                           \
    }
OF_THREE(float, singles_blend, BLEND)
OF_THREE(double, doubles_blend, BLEND)
OF_THREE(float, singles_add_product, ADD_PRODUCT)
OF_THREE(double, doubles_add_product, ADD_PRODUCT)

#define TRIPLES(name)                                                                                               \
    KERNEL(complex_##name, 4)                                                                                       \
        PyObject *x = args[0], *z = args[1], *w = args[2];                                                          \
        const int type = complex_kind(x);                                                                           \
        if (type < 0 || complex_kind(z) != type || complex_kind(w) != type || !same_shape(x, z) || !same_shape(x, w) \
            || (!PyComplex_Check(args[3]) && !PyFloat_Check(args[3]) && !PyLong_Check(args[3]))) Py_RETURN_NONE;    \
        const Py_complex by = PyComplex_AsCComplex(args[3]);                                                        \
        if (PyErr_Occurred()) return NULL;                                                                          \
        PyObject *out = new_like(x);                                                                                \
        if (out == NULL) return NULL;                                                                               \
        const npy_intp n = PyArray_SIZE(ARRAY(x));                                                                  \
        if (type == NPY_CFLOAT)                                                                                     \
            WITHOUT_GIL(2 * n, singles_##name(DATA(x), DATA(z), DATA(w), (float)by.real, (float)by.imag, DATA(out), n)); \
        else WITHOUT_GIL(2 * n, doubles_##name(DATA(x), DATA(z), DATA(w), by.real, by.imag, DATA(out), n));         \
        return out;                                                                                                 \
    END
TRIPLES(blend)
TRIPLES(add_product)

/* Products of matrices so small that one call of BLAS each costs more. */
enum { TERMS = 512 };   /* multiplications of one product */

#define PRODUCTS(T, NAME)                                                                                           \
    CLONES static void NAME(const T *restrict a, const T *restrict b, T *restrict y, npy_intp items, npy_intp n,    \
                            npy_intp m, npy_intp p) {                                                               \
        for (npy_intp t = 0; t < items; t++, a += 2 * n * m, b += 2 * m * p)                                        \
            for (npy_intp i = 0; i < n; i++, y += 2 * p)                                                            \
                for (npy_intp j = 0; j < p; j++) {                                                                  \
                    T re = 0, im = 0;                                                                               \
                    for (npy_intp k = 0; k < m; k++) {                                                              \
                        const T *u = a + 2 * (i * m + k), *v = b + 2 * (k * p + j);                                 \
                        re += u[0] * v[0] - u[1] * v[1];                                                            \
                        im += u[0] * v[1] + u[1] * v[0];                                                            \
                    }                                                                                               \
                    y[2 * j] = re;                                                                                  \
                    y[2 * j + 1] = im;                                                                              \
                }                                                                                                   \
    }
PRODUCTS(float, singles_products)
PRODUCTS(double, doubles_products)

/* complex_products(a (..., n, m), b (..., m, p)) -> a @ b, for equal stacks of small matrices */
KERNEL(complex_products, 2)
    PyObject *x = args[0], *z = args[1];
    const int type = complex_kind(x), ndim = type < 0 ? 0 : PyArray_NDIM(ARRAY(x));
    if (ndim < 2 || complex_kind(z) != type || PyArray_NDIM(ARRAY(z)) != ndim
        || !PyArray_CompareLists(PyArray_DIMS(ARRAY(x)), PyArray_DIMS(ARRAY(z)), ndim - 2)) Py_RETURN_NONE;
    const npy_intp n = PyArray_DIM(ARRAY(x), ndim - 2), m = PyArray_DIM(ARRAY(x), ndim - 1), p = PyArray_DIM(ARRAY(z), ndim - 1);
    if (m != PyArray_DIM(ARRAY(z), ndim - 2) || n > TERMS || m > TERMS || p > TERMS || n * m * p > TERMS) Py_RETURN_NONE;
    npy_intp dims[NPY_MAXDIMS];
    memcpy(dims, PyArray_DIMS(ARRAY(x)), sizeof(npy_intp) * ndim);
    dims[ndim - 1] = p;
    PyObject *out = PyArray_SimpleNew(ndim, dims, type);
    if (out == NULL) return NULL;
    const npy_intp items = PyArray_MultiplyList(dims, ndim - 2), cost = PyArray_SIZE(ARRAY(out)) * m;
    if (type == NPY_CFLOAT) WITHOUT_GIL(cost, singles_products(DATA(x), DATA(z), DATA(out), items, n, m, p));
    else WITHOUT_GIL(cost, doubles_products(DATA(x), DATA(z), DATA(out), items, n, m, p));
    return out;
END
