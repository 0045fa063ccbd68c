/* One parameter's step of SGD, Adam and RMSprop in one pass over its memory, and gradient clipping.

   Everything is checked before anything is written: False leaves all as it was.  The order of operations is that of the
   NumPy code in optim/sgd.py, optim/adam.py and optim/rmsprop.py, and so are the bits of the results. */

#include "kernel.h"
#include "kernels.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off") /* a * b + c as NumPy rounds it, on every processor */
#endif

typedef struct {
    double lr, beta1, beta2, eps, decay, root, size;
    int decoupled, maximize, few, many;     /* NOTE [Stuck moments] */
} Adam;

/* NOTE [Stuck moments]
   Where gradients stay zero, as behind a relu that never fires, a mean decays until rounding leaves it where it is: at a few
   times the smallest number there is, which a processor takes some twenty times longer to compute with.  Such a mean is put
   aside while the element is computed, and put back.  It would change nothing: what it is multiplied with leaves it below
   half a unit of the last digit of what it is added to, as long as that is an ordinary number (ORDINARY, SAFE_EPS, SAFE_SIZE).
   Looking costs, too: a step does so (STILL) where one of some means that it looked at before is stuck.

   few, many    means of up to so many times the smallest number stay where they are; 0: none is put aside */
#define ORDINARY 1e-20
#define SAFE_EPS 1e-10
#define SAFE_SIZE 1e3

/* Up to how many units a number stays where it is when `part` of it is taken off. */
static int stays(double part, int most) { return part * most < 0.49 ? most : (int)(0.49 / part); }

/* `few` of SGD's momentum; o: lr, momentum, ...  With flag 4 there is no mean yet. */
static int few_of(const double *o, int flags) {
    return flags & 4 || !(fabs(o[0]) <= SAFE_SIZE) ? 0 : stays(fabs(1 - o[1]), 16);
}

/* How many units above zero, whatever the sign. */
static inline int32_t floats_units(const float *x) {
    int32_t bits;
    memcpy(&bits, x, sizeof bits);
    return bits & INT32_MAX;
}
static inline int64_t doubles_units(const double *x) {
    int64_t bits;
    memcpy(&bits, x, sizeof bits);
    return bits & INT64_MAX;
}

#define SEEN 1021  /* one of so many means is looked at */
#define LOOKS 1024 /* elements from which it pays to look */
#define STUCK(NAME, x, units) ((NAME##_units(x) > 0) & (NAME##_units(x) <= units))
#define IDLE(T) ((d == 0) & ((x > (T)ORDINARY) | (x < (T)-ORDINARY)))

/* What Adam multiplies by; and of one element x with gradient d: weight decay, then the moments a and b */
#define FACTORS(T)                                                                                                  \
    const T shrink = (T)(1 - o->lr * o->decay), decay = (T)o->decay, near = (T)(1 - o->beta1);                      \
    const T far = (T)o->beta2, square = (T)(1 - o->beta2), root = (T)o->root, eps = (T)o->eps;                      \
    const T size = (T)o->size;                                                                                      \
    const int shrinks = o->decoupled && o->decay != 0, adds = !o->decoupled && o->decay != 0;                       \
    const int up = o->maximize, few = o->few, many = o->many;
#define MOMENTS(NAME, T, STILL)                                                                                     \
    x = shrinks ? x * shrink : x;                                                                                   \
    d = up ? -d : d;                                                                                                \
    d = adds ? d + x * decay : d;                                                                                   \
    const int idle = STILL && IDLE(T);                                                                              \
    const int a_stays = STILL && idle & STUCK(NAME, m + i, few), b_stays = STILL && idle & STUCK(NAME, v + i, many);\
    a = a_stays ? 0 : a;                                                                                            \
    b = b_stays ? 0 : b;                                                                                            \
    a += (d - a) * near;                                                                                            \
    b = b * far + (d * square) * d;

/* The steps of Adam and SGD: STILL is 1 or 0, END_ what their names end with. */
#define MEANS(T, NAME, SQRT, STILL, END_)                                                                           \
    CLONES static void NAME##_adam##END_(T *p, const T *g, T *m, T *v, T *top, npy_intp n, const Adam *o) {         \
        FACTORS(T)                                                                                                  \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                     \
            T x = p[i], d = g[i], a = m[i], b = v[i];                                                               \
            MOMENTS(NAME, T, STILL)                                                                                 \
            m[i] = a_stays ? m[i] : a;                                                                              \
            v[i] = b_stays ? v[i] : b;                                                                              \
            p[i] = x - a / (SQRT(b) / root + eps) * size;                                                           \
        }                                                                                                           \
        (void)top;                                                                                                  \
    }                                                                                                               \
    CLONES static void NAME##_amsgrad##END_(T *p, const T *g, T *m, T *v, T *top, npy_intp n, const Adam *o) {      \
        FACTORS(T)                                                                                                  \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                     \
            T x = p[i], d = g[i], a = m[i], b = v[i], c = top[i];                                                   \
            MOMENTS(NAME, T, STILL)                                                                                 \
            c = b <= c ? c : c != c ? c : b;    /* NaN stays, whichever side it is on */                            \
            m[i] = a_stays ? m[i] : a;                                                                              \
            v[i] = b;                                                                                               \
            top[i] = c;                                                                                             \
            p[i] = x - a / (SQRT(c) / root + eps) * size;                                                           \
        }                                                                                                           \
    }                                                                                                               \
    CLONES static void NAME##_sgd##END_(T *p, const T *g, T *b, npy_intp n, const double *o, int flags) {           \
        const int few = few_of(o, flags);                                                                           \
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
            const int a_stays = STILL && IDLE(T) & STUCK(NAME, b + i, few);                                         \
            a = a_stays ? 0 : a;                                                                                    \
            a = first ? d : a * momentum + d * fresh;                                                               \
            b[i] = a_stays ? b[i] : a;                                                                              \
            p[i] = x - (nesterov ? a * momentum + d : a) * lr;                                                      \
        }                                                                                                           \
    }

#define STEPS(T, NAME, SQRT)                                                                                        \
    MEANS(T, NAME, SQRT, 0, )                                                                                       \
    MEANS(T, NAME, SQRT, 1, _still)                                                                                 \
    static int NAME##_stuck(const T *x, npy_intp n, int few) {                                                      \
        for (npy_intp i = 0; i < n; i += SEEN)                                                                      \
            if (STUCK(NAME, x + i, few)) return 1;                                                                  \
        return 0;                                                                                                   \
    }                                                                                                               \
    CLONES static void NAME##_rmsprop(T *p, const T *g, T *v, T *b, npy_intp n, const double *o, int up) {          \
        const T lr = (T)o[0], far = (T)o[1], square = (T)(1 - o[1]), eps = (T)o[2], decay = (T)o[3];                \
        const T momentum = (T)o[4];                                                                                 \
        const int adds = o[3] != 0;                                                                                 \
        if (b == NULL) {                                                                                            \
            SIMD for (npy_intp i = 0; i < n; i++) {                                                                 \
                T x = p[i], d = up ? -g[i] : g[i];                                                                  \
                d = adds ? d + x * decay : d;                                                                       \
                const T c = v[i] * far + (d * square) * d;                                                          \
                v[i] = c;                                                                                           \
                p[i] = x - d / (SQRT(c) + eps) * lr;                                                                \
            }                                                                                                       \
            return;                                                                                                 \
        }                                                                                                           \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                     \
            T x = p[i], d = up ? -g[i] : g[i];                                                                      \
            d = adds ? d + x * decay : d;                                                                           \
            const T c = v[i] * far + (d * square) * d, a = b[i] * momentum + d / (SQRT(c) + eps);                   \
            v[i] = c;                                                                                               \
            b[i] = a;                                                                                               \
            p[i] = x - a * lr;                                                                                      \
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

/* step += 1 and n the new one, where that is one number of ours; -> did it. */
static int counted(PyObject *step, double *n) {
    const int type = kind_of(step);
    if (type < 0 || PyArray_SIZE(ARRAY(step)) != 1 || !PyArray_ISWRITEABLE(ARRAY(step))) return 0;
    *n = type == NPY_FLOAT ? (double)(*(float *)DATA(step) += 1) : (*(double *)DATA(step) += 1);
    return 1;
}

/* adam(p, g, m, v, top or None, step, lr, beta1, beta2, eps, decay, decoupled, maximize) -> did it */
KERNEL(adam, 13)
    int type = fit_for_step(args, 5);
    double o[5], n;
    if (type < 0 || !numbers_of(args + 6, o, 5) || !counted(args[5], &n)) Py_RETURN_FALSE;
    Adam a = {o[0], o[1], o[2], o[3], o[4], sqrt(1 - pow(o[2], n)), o[0] / (1 - pow(o[1], n)),
              args[11] == Py_True, args[12] == Py_True, 0, 0};
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    if (size >= LOOKS && a.eps >= SAFE_EPS && fabs(a.size) <= SAFE_SIZE && a.root >= 1 / SAFE_SIZE)
        a.few = stays(fabs(1 - a.beta1), 16);
    void *p = DATA(args[0]), *g = DATA(args[1]), *m = DATA(args[2]), *v = DATA(args[3]);
    void *top = args[4] == Py_None ? NULL : DATA(args[4]);
    const int still = a.few > 0 && (type == NPY_FLOAT ? floats_stuck(m, size, a.few) : doubles_stuck(m, size, a.few));
    if (still && top == NULL) a.many = stays(fabs(1 - a.beta2), 1000);
    if (type == NPY_FLOAT)
        WITHOUT_GIL(size, (top ? still ? floats_amsgrad_still : floats_amsgrad : still ? floats_adam_still : floats_adam)(
                              p, g, m, v, top, size, &a));
    else
        WITHOUT_GIL(size, (top ? still ? doubles_amsgrad_still : doubles_amsgrad : still ? doubles_adam_still : doubles_adam)(
                              p, g, m, v, top, size, &a));
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
    const int few = b == NULL || size < LOOKS ? 0 : few_of(o, flags);
    if (type == NPY_FLOAT) {
        const int still = few > 0 && floats_stuck(b, size, few);
        WITHOUT_GIL(size, (still ? floats_sgd_still : floats_sgd)(p, g, b, size, o, flags));
    } else {
        const int still = few > 0 && doubles_stuck(b, size, few);
        WITHOUT_GIL(size, (still ? doubles_sgd_still : doubles_sgd)(p, g, b, size, o, flags));
    }
    Py_RETURN_TRUE;
END

/* rmsprop(p, g, v, b or None, step, lr, alpha, eps, decay, momentum, maximize) -> did it */
KERNEL(rmsprop, 11)
    int type = fit_for_step(args, 4);
    double o[5], n;
    if (type < 0 || !numbers_of(args + 5, o, 5) || !counted(args[4], &n)) Py_RETURN_FALSE;
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    void *p = DATA(args[0]), *g = DATA(args[1]), *v = DATA(args[2]), *b = args[3] == Py_None ? NULL : DATA(args[3]);
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_rmsprop(p, g, v, b, size, o, args[10] == Py_True));
    else WITHOUT_GIL(size, doubles_rmsprop(p, g, v, b, size, o, args[10] == Py_True));
    Py_RETURN_TRUE;
END

/* What a capsule of DLPack's holds that nobody took yet, as far as it is read here (dlpack.h). */
typedef struct {
    void *data;
    struct { int32_t type, number; } device;
    int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides;
    uint64_t offset;
} Lent;
enum { LENT_BY_CPU = 1, LENT_FLOATS = 2 };

/* kind_of for a capsule: floats in the processor's memory and in C order; where they are, and how many. */
static int lent_kind(PyObject *capsule, const void **data, npy_intp *size) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return -1;
    const Lent *x = PyCapsule_GetPointer(capsule, "dltensor");
    if (x->device.type != LENT_BY_CPU || x->dtype.code != LENT_FLOATS || x->dtype.lanes != 1) return -1;
    if (x->data == NULL || (x->dtype.bits != 32 && x->dtype.bits != 64)) return -1;
    *size = 1;
    for (int i = x->ndim - 1; i >= 0; i--) {
        if (x->strides != NULL && x->shape[i] != 1 && x->strides[i] != *size) return -1;
        *size *= (npy_intp)x->shape[i];
    }
    *data = (const char *)x->data + x->offset;
    return x->dtype.bits == 32 ? NPY_FLOAT : NPY_DOUBLE;
}

/* The sum of squares of one, or NULL, with no error set, where it is none of ours. */
static PyObject *squares_of(PyObject *x) {
    const void *data = NULL;
    npy_intp size = 0;
    int type = kind_of(x);
    if (type >= 0) {
        data = DATA(x);
        size = PyArray_SIZE(ARRAY(x));
    }
    else type = lent_kind(x, &data, &size);
    if (type < 0) return NULL;
    double total;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, total = floats_squares(data, size));
    else WITHOUT_GIL(size, total = doubles_squares(data, size));
    return PyFloat_FromDouble(total);
}

/* squares(x) -> the sum of squares, or None; of each where x is a tuple.  An array may be a capsule of DLPack's, too, which
   stays the caller's. */
KERNEL(squares, 1)
    const int many = PyTuple_CheckExact(args[0]);
    const Py_ssize_t n = many ? PyTuple_GET_SIZE(args[0]) : 0;
    PyObject *found = many ? PyTuple_New(n) : squares_of(args[0]);
    for (Py_ssize_t i = 0; found != NULL && i < n; i++) {
        PyObject *one = squares_of(PyTuple_GET_ITEM(args[0], i));
        if (one == NULL) Py_CLEAR(found);
        else PyTuple_SET_ITEM(found, i, one);
    }
    if (found == NULL && !PyErr_Occurred()) Py_RETURN_NONE;
    return found;
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
