/* One parameter's step of SGD and of Adam in one pass over its memory, and gradient clipping.

   Everything is checked before anything is written: False leaves all as it was.  The order of operations is that of the
   NumPy code in optim/sgd.py and optim/adam.py, and so are the bits of the results. */

#include "kernel.h"
#include "kernels.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off") /* a * b + c as NumPy rounds it, on every processor */
#endif

typedef struct {
    double lr, beta1, beta2, eps, decay, root, size;
    int decoupled, maximize;
} Adam;

/* What Adam multiplies by; and of one element x with gradient d: weight decay, then the moments a and b */
#define FACTORS(T)                                                                                                  \
    const T shrink = (T)(1 - o->lr * o->decay), decay = (T)o->decay, near = (T)(1 - o->beta1);                      \
    const T far = (T)o->beta2, square = (T)(1 - o->beta2), root = (T)o->root, eps = (T)o->eps;                      \
    const T size = (T)o->size;                                                                                      \
    const int shrinks = o->decoupled && o->decay != 0, adds = !o->decoupled && o->decay != 0;                       \
    const int up = o->maximize;
#define MOMENTS                                                                                                     \
    x = shrinks ? x * shrink : x;                                                                                   \
    d = up ? -d : d;                                                                                                \
    d = adds ? d + x * decay : d;                                                                                   \
    a += (d - a) * near;                                                                                            \
    b = b * far + (d * square) * d;

#define STEPS(T, NAME, SQRT)                                                                                        \
    CLONES static void NAME##_adam(T *p, const T *g, T *m, T *v, T *top, npy_intp n, const Adam *o) {               \
        FACTORS(T)                                                                                                  \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                     \
            T x = p[i], d = g[i], a = m[i], b = v[i];                                                               \
            MOMENTS                                                                                                 \
            m[i] = a;                                                                                               \
            v[i] = b;                                                                                               \
            p[i] = x - a / (SQRT(b) / root + eps) * size;                                                           \
        }                                                                                                           \
        (void)top;                                                                                                  \
    }                                                                                                               \
    CLONES static void NAME##_amsgrad(T *p, const T *g, T *m, T *v, T *top, npy_intp n, const Adam *o) {            \
        FACTORS(T)                                                                                                  \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                     \
            T x = p[i], d = g[i], a = m[i], b = v[i], c = top[i];                                                   \
            MOMENTS                                                                                                 \
            c = b <= c ? c : c != c ? c : b;    /* NaN stays, whichever side it is on */                            \
            m[i] = a;                                                                                               \
            v[i] = b;                                                                                               \
            top[i] = c;                                                                                             \
            p[i] = x - a / (SQRT(c) / root + eps) * size;                                                           \
        }                                                                                                           \
    }                                                                                                               \
    CLONES static void NAME##_sgd(T *p, const T *g, T *b, npy_intp n, const double *o, int flags) {                 \
        const T lr = (T)o[0], momentum = (T)o[1], fresh = (T)(1 - o[2]), decay = (T)o[3];                           \
        const int nesterov = flags & 1, up = flags & 2, first = flags & 4, adds = o[3] != 0;                        \
        if (b == NULL) {                                                                                            \
            SIMD for (npy_intp i = 0; i < n; i++) {                                                                 \
                T x = p[i], d = up ? -g[i] : g[i];                                                                  \
                d = adds ? d + x * decay : d;                                                                       \
                p[i] = x - d * lr;                                                                                  \
            }                                                                                                       \
            return;                                                                                                 \
        }                                                                                                           \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                     \
            T x = p[i], d = up ? -g[i] : g[i], a = b[i];                                                            \
            d = adds ? d + x * decay : d;                                                                           \
            a = first ? d : a * momentum + d * fresh;                                                               \
            b[i] = a;                                                                                               \
            p[i] = x - (nesterov ? a * momentum + d : a) * lr;                                                      \
        }                                                                                                           \
    }                                                                                                               \
    CLONES static double NAME##_squares(const T *x, npy_intp n) {                                                   \
        double total = 0;                                                                                           \
        for (npy_intp i = 0; i < n; i += 512) {         /* short sums in T, the long one in double */               \
            const npy_intp stop = n - i < 512 ? n : i + 512;                                                        \
            T part = 0;                                                                                             \
            SIMD_SUM(part) for (npy_intp j = i; j < stop; j++) part += x[j] * x[j];                                 \
            total += part;                                                                                          \
        }                                                                                                           \
        return total;                                                                                               \
    }                                                                                                               \
    CLONES static void NAME##_scale(T *x, T by, npy_intp n) {                                                       \
        SIMD for (npy_intp i = 0; i < n; i++) x[i] *= by;                                                           \
    }

STEPS(float, floats, sqrtf)
STEPS(double, doubles, sqrt)

/* The arrays a step reads and writes: one type, one shape, no byte in two of them, all but the gradient writeable; only the
   last may be None. */
static int fit_for_step(PyObject *const *arrays, int count) {
    int type = kind_of(arrays[0]);
    if (type < 0) return -1;
    for (int i = 0; i < count; i++) {
        if (i == count - 1 && arrays[i] == Py_None) continue;
        if (i > 0 && (kind_of(arrays[i]) != type || !same_shape(arrays[i], arrays[0]))) return -1;
        if (i != 1 && !PyArray_ISWRITEABLE(ARRAY(arrays[i]))) return -1;
        for (int j = 0; j < i; j++)
            if (PyArray_SIZE(ARRAY(arrays[i])) > 0 && !apart(arrays[i], arrays[j])) return -1;
    }
    return type;
}

/* numbers[i] = args[i] as doubles; a number that is no float or int (a Tensor) is not ours. */
static int numbers_of(PyObject *const *args, double *numbers, int count) {
    for (int i = 0; i < count; i++) {
        if (!PyFloat_Check(args[i]) && !PyLong_Check(args[i])) return 0;
        numbers[i] = PyFloat_AsDouble(args[i]);
        if (numbers[i] == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* adam(p, g, m, v, top or None, step, lr, beta1, beta2, eps, decay, decoupled, maximize) -> did it */
KERNEL(adam, 13)
    int type = fit_for_step(args, 5);
    double o[5];
    if (type < 0 || !numbers_of(args + 6, o, 5)) Py_RETURN_FALSE;
    PyObject *step = args[5];
    int counts = kind_of(step);
    if (counts < 0 || PyArray_SIZE(ARRAY(step)) != 1 || !PyArray_ISWRITEABLE(ARRAY(step))) Py_RETURN_FALSE;
    double n = counts == NPY_FLOAT ? (double)(*(float *)DATA(step) += 1) : (*(double *)DATA(step) += 1);
    Adam a = {o[0], o[1], o[2], o[3], o[4], sqrt(1 - pow(o[2], n)), o[0] / (1 - pow(o[1], n)),
              args[11] == Py_True, args[12] == Py_True};
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    void *p = DATA(args[0]), *g = DATA(args[1]), *m = DATA(args[2]), *v = DATA(args[3]);
    void *top = args[4] == Py_None ? NULL : DATA(args[4]);
    if (type == NPY_FLOAT) WITHOUT_GIL(size, (top ? floats_amsgrad : floats_adam)(p, g, m, v, top, size, &a));
    else WITHOUT_GIL(size, (top ? doubles_amsgrad : doubles_adam)(p, g, m, v, top, size, &a));
    Py_RETURN_TRUE;
END

/* sgd(p, g, b or None, lr, momentum, dampening, decay, nesterov, maximize, first) -> did it; first: b has no value yet */
KERNEL(sgd, 10)
    int type = fit_for_step(args, 3);
    double o[4];
    if (type < 0 || !numbers_of(args + 3, o, 4)) Py_RETURN_FALSE;
    int flags = (args[7] == Py_True ? 1 : 0) | (args[8] == Py_True ? 2 : 0) | (args[9] == Py_True ? 4 : 0);
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    void *p = DATA(args[0]), *g = DATA(args[1]), *b = args[2] == Py_None ? NULL : DATA(args[2]);
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_sgd(p, g, b, size, o, flags));
    else WITHOUT_GIL(size, doubles_sgd(p, g, b, size, o, flags));
    Py_RETURN_TRUE;
END

/* squares(x) -> the sum of squares, or None */
KERNEL(squares, 1)
    int type = kind_of(args[0]);
    if (type < 0) Py_RETURN_NONE;
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    double total;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, total = floats_squares(DATA(args[0]), size));
    else WITHOUT_GIL(size, total = doubles_squares(DATA(args[0]), size));
    return PyFloat_FromDouble(total);
END

/* scale(x, number) -> did it: x *= number */
KERNEL(scale, 2)
    int type = kind_of(args[0]);
    double by;
    if (type < 0 || !PyArray_ISWRITEABLE(ARRAY(args[0])) || !numbers_of(args + 1, &by, 1)) Py_RETURN_FALSE;
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_scale(DATA(args[0]), (float)by, size));
    else WITHOUT_GIL(size, doubles_scale(DATA(args[0]), by, size));
    Py_RETURN_TRUE;
END
