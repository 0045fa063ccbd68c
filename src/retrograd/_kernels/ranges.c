/* arange and linspace, to the last bit as PyTorch makes them on processors with fused multiply-add, and powers for logspace.
   arange rounds the first of each vector of 32 bytes and adds to that; what fills no two vectors is made one by one. */

#include "kernel.h"
#include "kernels.h"

#define STEPS(type, fused)                                                                     \
    CLONES static void type##s_arange(type *out, double start, double step, npy_intp n) {             \
        enum { width = 32 / sizeof(type) };                                                    \
        const npy_intp paired = n - n % (2 * width);                                           \
        for (npy_intp i = 0; i < paired; i += width) {                                         \
            const double first = (type)fma(step, (double)i, start);                            \
            for (int k = 0; k < width; k++) out[i + k] = (type)fma((double)k, step, first);    \
        }                                                                                      \
        for (npy_intp i = paired; i < n; i++) out[i] = (type)fma(step, (double)i, start);      \
    }                                                                                          \
    CLONES static void type##s_linspace(type *out, type start, type end, npy_intp n) {                \
        const type step = (end - start) / (type)(n - 1);                                       \
        for (npy_intp i = 0; i < n / 2; i++) out[i] = fused(step, (type)i, start);             \
        for (npy_intp i = n / 2; i < n; i++) out[i] = fused(-step, (type)(n - 1 - i), end);    \
    }

STEPS(float, fmaf)
STEPS(double, fma)

/* arange(out, start, step) -> did it: out[i] = start + i step */
KERNEL(arange, 3)
    const int type = kind_of(args[0]);
    if (type < 0 || !PyArray_ISWRITEABLE(ARRAY(args[0]))) Py_RETURN_FALSE;
    const double start = PyFloat_AsDouble(args[1]), step = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred()) return NULL;
    const npy_intp n = PyArray_SIZE(ARRAY(args[0]));
    void *out = DATA(args[0]);
    WITHOUT_GIL(n, type == NPY_FLOAT ? floats_arange(out, start, step, n) : doubles_arange(out, start, step, n));
    Py_RETURN_TRUE;
END

/* linspace(out, start, end) -> did it: as many numbers as out has, from both ends */
KERNEL(linspace, 3)
    const int type = kind_of(args[0]);
    if (type < 0 || !PyArray_ISWRITEABLE(ARRAY(args[0]))) Py_RETURN_FALSE;
    const double start = PyFloat_AsDouble(args[1]), end = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred()) return NULL;
    const npy_intp n = PyArray_SIZE(ARRAY(args[0]));
    void *out = DATA(args[0]);
    WITHOUT_GIL(n, type == NPY_FLOAT ? floats_linspace(out, (float)start, (float)end, n) : doubles_linspace(out, start, end, n));
    Py_RETURN_TRUE;
END

static void doubles_powers(double *x, double base, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) x[i] = pow(base, x[i]);
}

/* powers(x float64, base) -> did it: x = base ** x */
KERNEL(powers, 2)
    if (kind_of(args[0]) != NPY_DOUBLE || !PyArray_ISWRITEABLE(ARRAY(args[0]))) Py_RETURN_FALSE;
    const double base = PyFloat_AsDouble(args[1]);
    if (PyErr_Occurred()) return NULL;
    const npy_intp n = PyArray_SIZE(ARRAY(args[0]));
    WITHOUT_GIL(n, doubles_powers(DATA(args[0]), base, n));
    Py_RETURN_TRUE;
END
