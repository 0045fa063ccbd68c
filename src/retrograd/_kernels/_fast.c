/* What an op does to float arrays in C order, without the cost of a NumPy call.

   A call of a NumPy ufunc costs 200 ns before it does any work, and it looks at floating-point flags that we would have
   to silence for another 100 ns; here a call costs a few tens of ns and sets nothing.  Every other case returns None. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <structmember.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

enum { ADD, SUB, MUL, DIV };

static PyUFuncObject *add_ufunc; /* numpy.add: its loop sums pairwise when its output stands still */

#define RELEASE_AT 20000 /* elements from which it pays to let other threads run */

/* One copy of a loop per generation of x86-64, chosen when the module is loaded: too early for ThreadSanitizer. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 \
    && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#if defined(__GNUC__)
#define SELDOM __attribute__((noinline))        /* keeps its registers out of those who call it */
#else
#define SELDOM
#endif

#define LOOPS(T, NAME)                                                                                        \
    CLONES static void NAME(int op, const T *restrict a, const T *restrict b, T *restrict y, npy_intp n) {           \
        switch (op) {                                                                                         \
        case ADD: for (npy_intp i = 0; i < n; i++) y[i] = a[i] + b[i]; break;                                 \
        case SUB: for (npy_intp i = 0; i < n; i++) y[i] = a[i] - b[i]; break;                                 \
        case MUL: for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b[i]; break;                                 \
        default:  for (npy_intp i = 0; i < n; i++) y[i] = a[i] / b[i]; break;                                 \
        }                                                                                                     \
    }                                                                                                         \
    CLONES static void NAME##_number(int op, const T *a, T b, T *y, npy_intp n) {                                    \
        switch (op) {                                                                                         \
        case ADD: for (npy_intp i = 0; i < n; i++) y[i] = a[i] + b; break;                                    \
        case SUB: for (npy_intp i = 0; i < n; i++) y[i] = a[i] - b; break;                                    \
        case MUL: for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b; break;                                    \
        default:  for (npy_intp i = 0; i < n; i++) y[i] = a[i] / b; break;                                    \
        }                                                                                                     \
    }                                                                                                         \
    CLONES static void NAME##_into(int op, T *a, const T *b, npy_intp n) {                                           \
        switch (op) {                                                                                         \
        case ADD: for (npy_intp i = 0; i < n; i++) a[i] += b[i]; break;                                       \
        case SUB: for (npy_intp i = 0; i < n; i++) a[i] -= b[i]; break;                                       \
        case MUL: for (npy_intp i = 0; i < n; i++) a[i] *= b[i]; break;                                       \
        default:  for (npy_intp i = 0; i < n; i++) a[i] /= b[i]; break;                                       \
        }                                                                                                     \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

/* A float32 or float64 array in C order, aligned, native: its type number; else -1. */
static int ours(PyObject *x) {
    if (!PyArray_CheckExact(x)) return -1;
    PyArrayObject *a = (PyArrayObject *)x;
    int type = PyArray_TYPE(a);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISCARRAY_RO(a)) return -1;
    return type;
}

static int same_shape(PyArrayObject *a, PyArrayObject *b) {
    int ndim = PyArray_NDIM(a);
    return ndim == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), ndim);
}

/* Is x a Python float, or an int that a double holds exactly?  Its value. */
static int is_number(PyObject *x, double *value) {
    if (PyFloat_CheckExact(x)) {
        *value = PyFloat_AS_DOUBLE(x);
        return 1;
    }
    if (!PyLong_CheckExact(x)) return 0;
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(x, &overflow);
    *value = (double)n;
    return !overflow && n <= 1LL << 53 && n >= -(1LL << 53);
}

static PyObject *binary(int op, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected two operands");
        return NULL;
    }
    int type = ours(args[0]);
    if (type < 0) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)args[0];
    double value = 0.0;
    int number = is_number(args[1], &value);
    if (!number && (ours(args[1]) != type || !same_shape(a, (PyArrayObject *)args[1]))) Py_RETURN_NONE;
    PyObject *out = PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), type);
    if (out == NULL) return NULL;
    npy_intp n = PyArray_SIZE(a);
    void *pa = PyArray_DATA(a), *py = PyArray_DATA((PyArrayObject *)out);
    void *pb = number ? NULL : PyArray_DATA((PyArrayObject *)args[1]);
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT) NPY_BEGIN_THREADS;
    if (type == NPY_FLOAT) {
        if (number) floats_number(op, pa, (float)value, py, n);
        else floats(op, pa, pb, py, n);
    } else {
        if (number) doubles_number(op, pa, value, py, n);
        else doubles(op, pa, pb, py, n);
    }
    NPY_END_THREADS;
    return out;
}

static PyObject *fast_add(PyObject *m, PyObject *const *args, Py_ssize_t n) { return binary(ADD, args, n); }
static PyObject *fast_sub(PyObject *m, PyObject *const *args, Py_ssize_t n) { return binary(SUB, args, n); }
static PyObject *fast_mul(PyObject *m, PyObject *const *args, Py_ssize_t n) { return binary(MUL, args, n); }
static PyObject *fast_div(PyObject *m, PyObject *const *args, Py_ssize_t n) { return binary(DIV, args, n); }

static PyObject *into(int op, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected two operands");
        return NULL;
    }
    int type = ours(args[0]);
    if (type < 0 || !PyArray_ISWRITEABLE((PyArrayObject *)args[0])) Py_RETURN_FALSE;
    double value = 0.0;
    int number = is_number(args[1], &value);
    if (!number && (ours(args[1]) != type || !same_shape((PyArrayObject *)args[0], (PyArrayObject *)args[1])))
        Py_RETURN_FALSE;
    npy_intp n = PyArray_SIZE((PyArrayObject *)args[0]);
    char *pa = PyArray_DATA((PyArrayObject *)args[0]);
    char *pb = number ? NULL : PyArray_DATA((PyArrayObject *)args[1]);
    npy_intp bytes = PyArray_NBYTES((PyArrayObject *)args[0]);
    if (!number && pa != pb && pa < pb + bytes && pb < pa + bytes) Py_RETURN_FALSE;     /* a sum read as it is written */
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT) NPY_BEGIN_THREADS;
    if (type == NPY_FLOAT) {
        if (number) floats_number(op, (float *)pa, (float)value, (float *)pa, n);
        else floats_into(op, (float *)pa, (const float *)pb, n);
    } else {
        if (number) doubles_number(op, (double *)pa, value, (double *)pa, n);
        else doubles_into(op, (double *)pa, (const double *)pb, n);
    }
    NPY_END_THREADS;
    Py_RETURN_TRUE;
}

static PyObject *fast_add_into(PyObject *m, PyObject *const *args, Py_ssize_t n) { return into(ADD, args, n); }
static PyObject *fast_sub_into(PyObject *m, PyObject *const *args, Py_ssize_t n) { return into(SUB, args, n); }
static PyObject *fast_mul_into(PyObject *m, PyObject *const *args, Py_ssize_t n) { return into(MUL, args, n); }
static PyObject *fast_div_into(PyObject *m, PyObject *const *args, Py_ssize_t n) { return into(DIV, args, n); }

/* Does nothing but `holders` references hold x's memory? */
static int sole(PyObject *x, Py_ssize_t holders) {
    return Py_REFCNT(x) <= holders && PyArray_BASE((PyArrayObject *)x) == NULL
        && PyArray_CHKFLAGS((PyArrayObject *)x, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE);
}

/* add_up(a, b, mine) -> a + b; in a's memory when `mine`, and the caller and one slot alone hold a. */
static PyObject *fast_add_up(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "expected two operands and a bool");
        return NULL;
    }
    int type = ours(args[0]);
    if (type < 0 || args[2] != Py_True || !sole(args[0], 2) || ours(args[1]) != type
        || !same_shape((PyArrayObject *)args[0], (PyArrayObject *)args[1])) return binary(ADD, args, 2);
    npy_intp n = PyArray_SIZE((PyArrayObject *)args[0]);
    void *pa = PyArray_DATA((PyArrayObject *)args[0]), *pb = PyArray_DATA((PyArrayObject *)args[1]);
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT) NPY_BEGIN_THREADS;
    if (type == NPY_FLOAT) floats_into(ADD, pa, pb, n);
    else doubles_into(ADD, pa, pb, n);
    NPY_END_THREADS;
    Py_INCREF(args[0]);
    return args[0];
}

/* NOTE [Who owns .grad] in _engine/tensor.py: takes(g, own) -> does g lie as `own` does, in memory that is all its own? */
static PyObject *fast_takes(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyArray_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected two arrays");
        return NULL;
    }
    if (!PyArray_CheckExact(args[0])) Py_RETURN_FALSE;
    PyArrayObject *g = (PyArrayObject *)args[0], *own = (PyArrayObject *)args[1];
    int ndim = PyArray_NDIM(own);
    if (PyArray_DESCR(g) != PyArray_DESCR(own) || !same_shape(g, own)
        || !PyArray_CompareLists(PyArray_STRIDES(g), PyArray_STRIDES(own), ndim)) Py_RETURN_FALSE;
    PyObject *base = PyArray_BASE(g);
    if (base == NULL) return PyBool_FromLong(PyArray_CHKFLAGS(g, NPY_ARRAY_OWNDATA));
    return PyBool_FromLong(PyArray_CheckExact(base) && Py_REFCNT(base) == 1 && PyArray_BASE((PyArrayObject *)base) == NULL
                           && PyArray_SIZE((PyArrayObject *)base) == PyArray_SIZE(g));
}

/* The loop of a ufunc whose `operands` arrays are all of one type; -1 when it has none. */
static int loop_of(PyUFuncObject *ufunc, int operands, int type) {
    if (ufunc->nargs != operands || ufunc->functions == NULL || ufunc->types == NULL) return -1;
    for (int k = 0; k < ufunc->ntypes; k++) {
        int i = 0;
        while (i < operands && ufunc->types[k * operands + i] == type) i++;
        if (i == operands) return k;
    }
    return -1;
}

/* ufunc(x): the ufunc's own loop, hence its very digits */
static PyObject *fast_once(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyObject_TypeCheck(args[0], &PyUFunc_Type)) {
        PyErr_SetString(PyExc_TypeError, "expected a ufunc and an array");
        return NULL;
    }
    int type = ours(args[1]);
    if (type < 0) Py_RETURN_NONE;
    PyUFuncObject *ufunc = (PyUFuncObject *)args[0];
    int k = loop_of(ufunc, 2, type);
    if (k < 0) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[1];
    PyObject *out = PyArray_SimpleNew(PyArray_NDIM(x), PyArray_DIMS(x), type);
    if (out == NULL) return NULL;
    npy_intp n = PyArray_SIZE(x), steps[2] = {PyArray_ITEMSIZE(x), PyArray_ITEMSIZE(x)};
    char *data[2] = {PyArray_BYTES(x), PyArray_BYTES((PyArrayObject *)out)};
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT / 10) NPY_BEGIN_THREADS;
    if (n) ufunc->functions[k](data, &n, steps, ufunc->data ? ufunc->data[k] : NULL);
    NPY_END_THREADS;
    return out;
}

/* NumPy's loop adds eight at a time; from MANY elements on, where no two libraries give the same last digit anyhow, 32 at a
   time, blocks of 1024 in T and their sums in double. */
enum { MANY = 4096, LANES = 32 };
#define SUM(T, NAME)                                                                          \
    static T NAME##_sum(const T *x, npy_intp n) {                                             \
        double sum = 0;                                                                       \
        npy_intp i = 0;                                                                       \
        for (; i + 1024 <= n; i += 1024) {                                                    \
            T part[LANES] = {0}, block = 0;                                                   \
            for (npy_intp j = i; j < i + 1024; j += LANES)                                    \
                for (int k = 0; k < LANES; k++) part[k] += x[j + k];                          \
            for (int k = 0; k < LANES; k++) block += part[k];                                 \
            sum += block;                                                                     \
        }                                                                                     \
        for (; i < n; i++) sum += x[i];                                                       \
        return (T)sum;                                                                        \
    }
SUM(float, floats)
SUM(double, doubles)

/* The sum, or mean, of all elements as a 0-d array. */
static PyObject *total(PyObject *const *args, Py_ssize_t count, int mean) {
    if (count != 1) {
        PyErr_SetString(PyExc_TypeError, "expected an array");
        return NULL;
    }
    int type = ours(args[0]);
    int k = type < 0 ? -1 : loop_of(add_ufunc, 3, type);
    if (k < 0) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    PyObject *out = PyArray_ZEROS(0, NULL, type, 0);
    if (out == NULL) return NULL;
    npy_intp n = PyArray_SIZE(x), steps[3] = {0, PyArray_ITEMSIZE(x), 0};
    char *to = PyArray_BYTES((PyArrayObject *)out), *data[3] = {to, PyArray_BYTES(x), to};
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT) NPY_BEGIN_THREADS;
    if (n >= MANY && type == NPY_FLOAT) *(float *)to = floats_sum(PyArray_DATA(x), n);
    else if (n >= MANY) *(double *)to = doubles_sum(PyArray_DATA(x), n);
    else if (n) add_ufunc->functions[k](data, &n, steps, add_ufunc->data ? add_ufunc->data[k] : NULL);
    NPY_END_THREADS;
    if (mean && type == NPY_FLOAT) *(float *)to /= (float)n;
    else if (mean) *(double *)to /= (double)n;
    return out;
}

static PyObject *fast_sum(PyObject *m, PyObject *const *args, Py_ssize_t n) { return total(args, n, 0); }
static PyObject *fast_mean(PyObject *m, PyObject *const *args, Py_ssize_t n) { return total(args, n, 1); }

/* sum_rows(x, shape) -> x summed over its leading dims, where `shape` is that of the others (ones before them allowed) */
static PyObject *fast_sum_rows(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected an array and a tuple");
        return NULL;
    }
    int type = ours(args[0]);
    int k = type < 0 ? -1 : loop_of(add_ufunc, 3, type);
    PyArrayObject *x = (PyArrayObject *)args[0];
    Py_ssize_t ndim = PyTuple_GET_SIZE(args[1]);
    if (k < 0 || ndim > PyArray_NDIM(x)) Py_RETURN_NONE;
    npy_intp sizes[NPY_MAXDIMS], c = 1;
    int lead = PyArray_NDIM(x) - (int)ndim, inside = 0;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *item = PyTuple_GET_ITEM(args[1], i);
        int overflow;
        const long long n = PyLong_Check(item) ? PyLong_AsLongLongAndOverflow(item, &overflow) : -1;    /* -1: too large, too */
        npy_intp have = PyArray_DIM(x, lead + (int)i);
        if (n == have && (n != 1 || inside)) inside = 1;
        else if (n != 1 || inside) Py_RETURN_NONE;
        sizes[i] = n;
        c *= n;
    }
    npy_intp size = PyArray_SIZE(x);
    if (c < 1 || size < 1) Py_RETURN_NONE;
    PyObject *out = PyArray_SimpleNew((int)ndim, sizes, type);
    if (out == NULL) return NULL;
    npy_intp item = PyArray_ITEMSIZE(x), row = c * item;
    char *to = PyArray_BYTES((PyArrayObject *)out), *from = PyArray_BYTES(x);
    NPY_BEGIN_THREADS_DEF;
    if (size > RELEASE_AT) NPY_BEGIN_THREADS;
    if (c == 1) {                                       /* numpy.add's pairwise sum, as for all elements */
        npy_intp n = size, still[3] = {0, item, 0};
        char *data[3] = {to, from, to};
        memset(to, 0, item);
        add_ufunc->functions[k](data, &n, still, add_ufunc->data ? add_ufunc->data[k] : NULL);
    } else {
        if (type == NPY_FLOAT) for (npy_intp i = 0; i < c; i++) ((float *)to)[i] = ((const float *)from)[i] + 0.0f;
        else for (npy_intp i = 0; i < c; i++) ((double *)to)[i] = ((const double *)from)[i] + 0.0;   /* -0 + -0 is 0 here */
        for (npy_intp i = 1; i < size / c; i++) {
            if (type == NPY_FLOAT) floats_into(ADD, (void *)to, (void *)(from + i * row), c);
            else doubles_into(ADD, (void *)to, (void *)(from + i * row), c);
        }
    }
    NPY_END_THREADS;
    return out;
}

/* x, in C order, under the sizes of a tuple of ints, one of which may be -1; None when they do not fit. */
static PyObject *fast_view(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyTuple_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected an array and a tuple");
        return NULL;
    }
    PyObject *given = args[1];
    if (PyTuple_GET_SIZE(given) == 1 && PyTuple_Check(PyTuple_GET_ITEM(given, 0))) given = PyTuple_GET_ITEM(given, 0);
    Py_ssize_t ndim = PyTuple_GET_SIZE(given);
    if (!PyArray_CheckExact(args[0]) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[0]) || ndim > NPY_MAXDIMS
        || (ndim == 0 && given == args[1])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    npy_intp sizes[NPY_MAXDIMS], known = 1, hole = -1, all = PyArray_SIZE(x);
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *item = PyTuple_GET_ITEM(given, i);
        if (!PyLong_CheckExact(item)) Py_RETURN_NONE;
        int overflow;
        long long n = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow || n < -1 || n > all || (n == -1 && hole >= 0)) Py_RETURN_NONE;
        sizes[i] = (npy_intp)n;
        if (n == -1) hole = i;
        else if (n && known > all / n) Py_RETURN_NONE;
        else known *= (npy_intp)n;
    }
    if (hole >= 0) {
        if (known == 0 || all % known) Py_RETURN_NONE;
        sizes[hole] = all / known;
    } else if (known != all) Py_RETURN_NONE;
    PyArray_Dims to = {sizes, (int)ndim};
    return PyArray_Newshape(x, &to, NPY_CORDER);
}

/* x shown under the sizes of a tuple of ints, to which its own broadcast; None when they do not.  Strides are PyTorch's. */
static PyObject *fast_spread(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected an array and a tuple");
        return NULL;
    }
    const Py_ssize_t ndim = PyTuple_GET_SIZE(args[1]);
    if (!PyArray_CheckExact(args[0]) || ndim > NPY_MAXDIMS || ndim < PyArray_NDIM((PyArrayObject *)args[0])) Py_RETURN_NONE;
    PyArrayObject *x = (PyArrayObject *)args[0];
    npy_intp sizes[NPY_MAXDIMS], steps[NPY_MAXDIMS];
    for (Py_ssize_t i = ndim - 1, own = PyArray_NDIM(x) - 1; i >= 0; i--, own--) {
        PyObject *item = PyTuple_GET_ITEM(args[1], i);
        int overflow;
        const long long n = PyLong_CheckExact(item) ? PyLong_AsLongLongAndOverflow(item, &overflow) : -1;
        const npy_intp had = own >= 0 ? PyArray_DIM(x, own) : 1;
        if (n < 0 || (n != had && had != 1)) Py_RETURN_NONE;
        sizes[i] = (npy_intp)n;
        steps[i] = n != had || PyArray_NDIM(x) == 0 ? 0 : own >= 0 ? PyArray_STRIDE(x, own) : sizes[i + 1] * steps[i + 1];
    }
    PyArray_Descr *type = PyArray_DESCR(x);
    Py_INCREF(type);
    PyObject *y = PyArray_NewFromDescr(&PyArray_Type, type, (int)ndim, sizes, steps, PyArray_DATA(x),
                                       PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE, NULL);
    if (y == NULL) {                            /* of more bytes than there are numbers for */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)y, Py_NewRef(x)) == 0) return y;
    Py_DECREF(y);
    return NULL;
}

/* Where an array's first element lies; None for what is no array. */
static PyObject *fast_address(PyObject *m, PyObject *x) {
    if (!PyArray_Check(x)) Py_RETURN_NONE;
    return PyLong_FromVoidPtr(PyArray_DATA((PyArrayObject *)x));
}

/* NOTE [Nodes and the cyclic garbage collector] in _engine/op.py */
static PyObject *fast_untrack(PyObject *m, PyObject *x) {
    if (PyObject_IS_GC(x)) PyObject_GC_UnTrack(x);
    Py_RETURN_NONE;
}

static PyObject *fast_track(PyObject *m, PyObject *x) {
    if (PyObject_IS_GC(x) && !PyObject_GC_IsTracked(x)) PyObject_GC_Track(x);
    Py_RETURN_NONE;
}

static PyObject *current;           /* a thread's modes (_engine/modes.py), and which thread's */
static uint64_t owner;

/* mine() -> what this thread gave mine(x) last, or None when another did since; a thread's number is never used again. */
static PyObject *fast_mine(PyObject *m, PyObject *const *args, Py_ssize_t count) {
#ifdef Py_GIL_DISABLED
    Py_RETURN_NONE;
#else
    uint64_t now = PyThreadState_GetID(PyThreadState_Get());
    if (count == 1) {
        Py_INCREF(args[0]);
        Py_XSETREF(current, args[0]);
        owner = now;
    }
    PyObject *found = current != NULL && owner == now ? current : Py_None;
    Py_INCREF(found);
    return found;
#endif
}

/* NOTE [Public functions]
   What users call is a Function around what computes: it asks whether somebody takes the call over (_engine/dispatch.py) and
   calls it.  Nobody does when no thread has a mode or a listener and each argument is of a type known to take no part.  As a
   method it needs no bound object: Py_TPFLAGS_METHOD_DESCRIPTOR.

   Where arguments are checked (_functions/parsing.py) impl is a Checks, which tells with learn() which types fit as they come:
   a call with such types goes straight to what the checks are for. */
typedef struct Seen {
    struct Seen *next;
    Py_ssize_t count;               /* arguments, those by name included */
    PyObject *names;                /* of those, a tuple of interned strings; NULL: none */
    int lists;                      /* is one of them a list? */
    struct { PyTypeObject *type; enum { ANY, INTS, TENSORS } of; } args[];
} Seen;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    vectorcallfunc direct;                          /* of inner */
    _PyCFunctionFastWithKeywords meth;              /* inner's, if it is compiled code of a module, and what it is given */
    PyObject *module;
    PyObject *impl, *func, *how, *dict, *weak;      /* func: what the one who takes over is told; NULL: this object */
    PyObject *inner;                                /* what computes: impl, or what impl checks the arguments of */
    PyObject *home, *place, *name;                  /* __module__, __qualname__, __name__ */
    PyObject *unasked;                              /* impl, as one who takes over is given it: always the same object */
    Seen *seen;
    int watched;                                    /* calls with complex tensors pass the checks: watch() */
} Function;

static int dispatching;             /* some thread has a mode or a listener */
static PyObject *busy_name;
static PyObject *ask;               /* _engine/dispatch.py: ask(func, impl, how, args, kwargs, plain) */
static PyTypeObject *plain[32];     /* take no part; Tensor first, then the commonest */
static int plains;

static PyTypeObject *met[64];       /* of those, the ones met last, by address: a comparison instead of a search */

static inline PyTypeObject **seat(PyTypeObject *type) { return &met[((size_t)type >> 4 ^ (size_t)type >> 10) & 63]; }

static inline int is_plain(PyObject *x) {
    PyTypeObject *type = Py_TYPE(x);
    if (*seat(type) == type) return 1;
    for (int i = 0; i < plains; i++) if (plain[i] == type) {
        *seat(type) = type;
        return 1;
    }
    return 0;
}

/* Of a list of numbers the first tells, of a list of tensors each. */
static int all_plain(PyObject *const *args, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *x = args[i];
        if (is_plain(x)) continue;
        if (!PyTuple_CheckExact(x) && !PyList_CheckExact(x)) return 0;
        Py_ssize_t size = PySequence_Fast_GET_SIZE(x);
        for (Py_ssize_t k = 0; k < size; k++) {
            PyObject *y = PySequence_Fast_GET_ITEM(x, k);
            if (PyLong_CheckExact(y) || PyFloat_CheckExact(y) || PyTuple_CheckExact(y) || PyList_CheckExact(y)) break;
            if (!is_plain(y)) return 0;
        }
    }
    return 1;
}

/* The arguments as a tuple and a dict (NULL: none by name). */
static int packed(PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **given, PyObject **kwargs) {
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    *kwargs = NULL;
    if ((*given = PyTuple_New(n)) == NULL) return -1;
    for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(*given, i, Py_NewRef(args[i]));
    if (named && (*kwargs = PyDict_New()) == NULL) goto failed;
    for (Py_ssize_t i = 0; i < named; i++)
        if (PyDict_SetItem(*kwargs, PyTuple_GET_ITEM(names, i), args[n + i]) < 0) goto failed;
    return 0;
failed:
    Py_CLEAR(*given);
    Py_CLEAR(*kwargs);
    return -1;
}

/* Is it a call inside an implementation, where nobody is asked?  0 where only `ask` can tell. */
SELDOM static int busy(void) {
#ifndef Py_GIL_DISABLED
    if (current != NULL && owner == PyThreadState_GetID(PyThreadState_Get())) {
        PyObject *found = PyObject_GetAttr(current, busy_name);
        if (found == NULL) PyErr_Clear();
        Py_XDECREF(found);
        return found == Py_True;
    }
#endif
    return 0;
}

/* Function.unasked: it computes at once where types fit that were seen before */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    Function *of;
} Unasked;

static PyTypeObject Unasked_Type;
static PyObject *unasked_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names);

static PyObject *unasked_new(PyObject *function) {
    Unasked *made = PyObject_GC_New(Unasked, &Unasked_Type);
    if (made == NULL) return NULL;
    made->call = unasked_call;
    made->of = (Function *)Py_NewRef(function);
    PyObject_GC_Track(made);
    return (PyObject *)made;
}

SELDOM static PyObject *asked(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    Function *f = (Function *)self;
    Py_ssize_t n = PyVectorcall_NARGS(flags), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    int plain_ones = all_plain(args, n + named);
    if (!dispatching && plain_ones) return PyObject_Vectorcall(f->impl, args, flags, names);
    PyObject *tuple, *kwargs, *impl = f->impl;
    if (f->impl != f->inner) {
        if (f->unasked == NULL && (f->unasked = unasked_new(self)) == NULL) return NULL;
        impl = f->unasked;
    }
    if (packed(args, n, names, &tuple, &kwargs) < 0) return NULL;
    PyObject *all[6] = {f->func ? f->func : self, impl, f->how, tuple, kwargs ? kwargs : Py_None, plain_ones ? Py_True : Py_False};
    PyObject *result = PyObject_Vectorcall(ask, all, 6, NULL);
    Py_DECREF(tuple);
    Py_XDECREF(kwargs);
    return result;
}

static PyObject *function_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    Function *f = (Function *)self;
    Py_ssize_t n = PyVectorcall_NARGS(flags), i = 0;
    if (names != NULL || (dispatching && !busy())) return asked(self, args, flags, names);
    for (; i < n; i++) if (*seat(Py_TYPE(args[i])) != Py_TYPE(args[i])) return asked(self, args, flags, names);
    return f->meth ? f->meth(f->module, args, n, NULL) : f->direct(f->inner, args, flags, NULL);
}

/* Are all elements of the list x what those of an earlier one were? */
SELDOM static int alike(PyObject *x, int of) {
    Py_ssize_t size = PySequence_Fast_GET_SIZE(x);
    for (Py_ssize_t k = 0; k < size; k++) {
        PyObject *y = PySequence_Fast_GET_ITEM(x, k);
        if (of == INTS ? !PyLong_CheckExact(y) : !(is_plain(y) && PyObject_TypeCheck(y, plain[0]))) return 0;
    }
    return 1;
}

static inline int fits(const Seen *s, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    if (s->count != count || (s->names == NULL) != (names == NULL)) return 0;
    if (names != NULL && names != s->names) {
        Py_ssize_t named = PyTuple_GET_SIZE(names);
        if (named != PyTuple_GET_SIZE(s->names)) return 0;
        for (Py_ssize_t i = 0; i < named; i++) if (PyTuple_GET_ITEM(names, i) != PyTuple_GET_ITEM(s->names, i)) return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) if (Py_TYPE(args[i]) != s->args[i].type) return 0;
    for (Py_ssize_t i = 0; s->lists && i < count; i++)
        if (s->args[i].of != ANY && !alike(args[i], s->args[i].of)) return 0;
    return 1;
}

static PyObject *array_name;

/* Is one of them, or of those in a list, a complex tensor?  What cannot be told counts as one. */
SELDOM static int imaginary(PyObject *const *args, Py_ssize_t count, int nested) {
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyTuple_CheckExact(args[i]) || PyList_CheckExact(args[i])) {
            if (nested || imaginary(PySequence_Fast_ITEMS(args[i]), PySequence_Fast_GET_SIZE(args[i]), 1)) return 1;
        } else if (PyObject_TypeCheck(args[i], plain[0])) {
            PyObject *array = PyObject_GetAttr(args[i], array_name);
            if (array == NULL) PyErr_Clear();
            int found = array == NULL || !PyArray_Check(array) || PyTypeNum_ISCOMPLEX(PyArray_TYPE((PyArrayObject *)array));
            Py_XDECREF(array);
            if (found) return 1;
        }
    }
    return 0;
}

/* After the error of a call that the checks let pass: impl.failed(args, kwargs, error) may raise another, or give a result. */
SELDOM static PyObject *retold(Function *f, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    PyObject *type, *error, *trace, *given, *kwargs, *done = NULL;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL) PyException_SetTraceback(error, trace);
    if (packed(args, n, names, &given, &kwargs) == 0) {
        done = PyObject_CallMethod(f->impl, "failed", "OOO", given, kwargs ? kwargs : Py_None, error);
        Py_DECREF(given);
        Py_XDECREF(kwargs);
    }
    if (done == Py_None) {
        Py_DECREF(done);
        PyErr_Restore(type, error, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return done;
}

/* Of checked_call and unasked_call: `otherwise` is called where the types are others. */
static inline PyObject *quick(Function *f, PyObject *const *args, size_t flags, PyObject *names, PyObject *otherwise) {
    Py_ssize_t n = PyVectorcall_NARGS(flags), count = names == NULL ? n : n + PyTuple_GET_SIZE(names);
    Seen *s = f->seen;
    while (s != NULL && !fits(s, args, count, names)) s = s->next;
    if (s == NULL || (f->watched && imaginary(args, count, 0)))
        return otherwise == NULL ? asked((PyObject *)f, args, flags, names) : PyObject_Vectorcall(otherwise, args, flags, names);
    PyObject *result = f->direct(f->inner, args, flags, names);
    return result != NULL ? result : retold(f, args, n, names);
}

static PyObject *checked_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    return dispatching && !busy() ? asked(self, args, flags, names) : quick((Function *)self, args, flags, names, NULL);
}

static PyObject *unasked_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    Function *f = ((Unasked *)self)->of;
    return quick(f, args, flags, names, f->impl);
}

static int unasked_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((Unasked *)self)->of);
    return 0;
}

static void unasked_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_DECREF(((Unasked *)self)->of);
    PyObject_GC_Del(self);
}

static PyObject *unasked_impl(PyObject *self, void *none) { return Py_NewRef(((Unasked *)self)->of->impl); }

static PyGetSetDef unasked_getset[] = {{"impl", unasked_impl, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyTypeObject Unasked_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._fast.Unasked",
    .tp_basicsize = sizeof(Unasked),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
    .tp_dealloc = unasked_dealloc,
    .tp_traverse = unasked_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Unasked, call),
    .tp_getset = unasked_getset,
};

/* Function(impl, how, func, inner, module, place, name): inner where impl checks the arguments of inner, else None */
static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *impl, *how, *func, *inner, *home, *place, *name;
    if (!PyArg_ParseTuple(args, "OO!OOUUU", &impl, &PyLong_Type, &how, &func, &inner, &home, &place, &name)) return NULL;
    if (ask == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "dispatcher() was not called yet");
        return NULL;
    }
    Function *f = (Function *)type->tp_alloc(type, 0);
    if (f == NULL) return NULL;
    f->call = inner == Py_None ? function_call : checked_call;
    f->impl = Py_NewRef(impl);
    f->inner = Py_NewRef(inner == Py_None ? impl : inner);
    f->direct = PyVectorcall_Function(f->inner);
    if (f->direct == NULL) f->direct = PyObject_Vectorcall;
    if (PyCFunction_CheckExact(f->inner) && PyCFunction_GET_FLAGS(f->inner) == (METH_FASTCALL | METH_KEYWORDS)) {
        f->meth = (_PyCFunctionFastWithKeywords)(void (*)(void))PyCFunction_GET_FUNCTION(f->inner);
        f->module = PyCFunction_GET_SELF(f->inner);
    }
    f->how = Py_NewRef(how);
    f->func = func == Py_None ? NULL : Py_NewRef(func);
    f->home = Py_NewRef(home);
    f->place = Py_NewRef(place);
    f->name = Py_NewRef(name);
    return (PyObject *)f;
}

/* learn(arguments, names of the last of them, {place of a list: is it of tensors?}) -> None: these types fit */
static PyObject *function_learn(PyObject *self, PyObject *given) {
    PyObject *args, *names, *lists;
    if (!PyArg_ParseTuple(given, "O!O!O!", &PyTuple_Type, &args, &PyTuple_Type, &names, &PyDict_Type, &lists)) return NULL;
    Function *f = (Function *)self;
    Py_ssize_t count = PyTuple_GET_SIZE(args), named = PyTuple_GET_SIZE(names);
    if (!all_plain(PySequence_Fast_ITEMS(args), count)) Py_RETURN_NONE;        /* another time somebody may take it over */
    for (Py_ssize_t i = 0; i < named; i++) if (!PyUnicode_CHECK_INTERNED(PyTuple_GET_ITEM(names, i))) Py_RETURN_NONE;
    Seen *s = PyMem_Malloc(sizeof(Seen) + count * sizeof(s->args[0]));
    if (s == NULL) return PyErr_NoMemory();
    s->count = count;
    s->names = named ? Py_NewRef(names) : NULL;
    s->lists = PyDict_GET_SIZE(lists) > 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        s->args[i].type = (PyTypeObject *)Py_NewRef(Py_TYPE(PyTuple_GET_ITEM(args, i)));
        s->args[i].of = ANY;
    }
    PyObject *place, *tensors;
    Py_ssize_t at = 0;
    while (PyDict_Next(lists, &at, &place, &tensors)) s->args[PyLong_AsSsize_t(place)].of = tensors == Py_True ? TENSORS : INTS;
    Seen **end = &f->seen;
    while (*end != NULL) end = &(*end)->next;
    s->next = NULL;
    *end = s;
    Py_RETURN_NONE;
}

/* watch() -> None: from now on calls with complex tensors pass the checks, whatever types were seen. */
static PyObject *function_watch(PyObject *self, PyObject *none) {
    ((Function *)self)->watched = 1;
    Py_RETURN_NONE;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    Function *f = (Function *)self;
    Py_VISIT(f->impl);
    Py_VISIT(f->inner);
    Py_VISIT(f->func);
    Py_VISIT(f->dict);
    Py_VISIT(f->unasked);
    return 0;
}

static int function_clear(PyObject *self) {
    Function *f = (Function *)self;
    Py_CLEAR(f->unasked);
    Py_CLEAR(f->func);
    Py_CLEAR(f->dict);
    return 0;
}

static void function_dealloc(PyObject *self) {
    Function *f = (Function *)self;
    PyObject_GC_UnTrack(self);
    if (f->weak != NULL) PyObject_ClearWeakRefs(self);
    function_clear(self);
    for (Seen *s = f->seen, *next; s != NULL; s = next) {
        next = s->next;
        Py_XDECREF(s->names);
        for (Py_ssize_t i = 0; i < s->count; i++) Py_DECREF(s->args[i].type);
        PyMem_Free(s);
    }
    Py_CLEAR(f->impl);
    Py_CLEAR(f->inner);
    Py_CLEAR(f->how);
    Py_CLEAR(f->home);
    Py_CLEAR(f->place);
    Py_CLEAR(f->name);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *function_get(PyObject *self, PyObject *object, PyObject *type) {
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *function_repr(PyObject *self) {
    return PyUnicode_FromFormat("<function %S at %p>", ((Function *)self)->place, self);
}

/* pickle and copy: by name */
static PyObject *function_reduce(PyObject *self, PyObject *none) { return Py_NewRef(((Function *)self)->place); }

static PyObject *function_doc(PyObject *self, void *none) { return PyObject_GetAttrString(((Function *)self)->inner, "__doc__"); }

static PyObject *function_annotations(PyObject *self, void *none) {
    return PyObject_GetAttrString(((Function *)self)->inner, "__annotations__");
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL}, {"learn", function_learn, METH_VARARGS, NULL},
    {"watch", function_watch, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef function_members[] = {
    {"func", T_OBJECT, offsetof(Function, func), 0, NULL}, {"impl", T_OBJECT, offsetof(Function, impl), READONLY, NULL},
    {"__module__", T_OBJECT, offsetof(Function, home), 0, NULL}, {"__qualname__", T_OBJECT, offsetof(Function, place), READONLY, NULL},
    {"__name__", T_OBJECT, offsetof(Function, name), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(Function, inner), READONLY, NULL},
    {"unchecked", T_OBJECT, offsetof(Function, inner), READONLY, NULL},        /* for another name */
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef function_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL}, {"__doc__", function_doc, NULL, NULL, NULL},
    {"__annotations__", function_annotations, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyTypeObject Function_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._fast.Function",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = function_new,
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Function, call),
    .tp_dictoffset = offsetof(Function, dict),
    .tp_weaklistoffset = offsetof(Function, weak),
    .tp_descr_get = function_get,
    .tp_repr = function_repr,
    .tp_methods = function_methods,
    .tp_members = function_members,
    .tp_getset = function_getset,
};

/* dispatcher(ask, types that take no part) */
static PyObject *fast_dispatcher(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) > 32) {
        PyErr_SetString(PyExc_TypeError, "expected a callable and a tuple of at most 32 types");
        return NULL;
    }
    Py_XSETREF(ask, Py_NewRef(args[0]));
    plains = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++) {
        PyObject *type = PyTuple_GET_ITEM(args[1], i);
        if (!PyType_Check(type)) {
            PyErr_SetString(PyExc_TypeError, "expected types");
            return NULL;
        }
        plain[plains++] = (PyTypeObject *)Py_NewRef(type);
    }
    Py_RETURN_NONE;
}

static PyObject *fast_dispatching(PyObject *m, PyObject *x) {
    dispatching = PyObject_IsTrue(x);
    Py_RETURN_NONE;
}

/* rename(slot, name): a wrapper around a slot of a type, such as TensorBase.__pow__, calls itself name; it goes on as before. */
static PyObject *fast_rename(PyObject *m, PyObject *const *args, Py_ssize_t n) {
    if (n != 2 || !Py_IS_TYPE(args[0], &PyWrapperDescr_Type) || !PyUnicode_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected a wrapper_descriptor and its name");
        return NULL;
    }
    PyDescrObject *slot = (PyDescrObject *)args[0];
    PyObject *had = slot->d_name;
    slot->d_name = Py_NewRef(args[1]);
    Py_XDECREF(had);
    Py_CLEAR(slot->d_qualname);
    Py_RETURN_NONE;
}

/* instantiate(capsule) -> the module that mypyc's function in the capsule makes and runs; compiled.py */
static PyObject *fast_instantiate(PyObject *m, PyObject *capsule) {
    const char *name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : NULL;
    if (name == NULL || strstr(name, ".init_") == NULL) {
        PyErr_SetString(PyExc_TypeError, "expected a capsule with a module's init function");
        return NULL;
    }
    PyObject *(*make)(void) = (PyObject *(*)(void))PyCapsule_GetPointer(capsule, name);
    return make == NULL ? NULL : make();
}

#define ENTRY(name) {#name, (PyCFunction)(void (*)(void))fast_##name, METH_FASTCALL, NULL}
static PyMethodDef methods[] = {
    ENTRY(add), ENTRY(sub), ENTRY(mul), ENTRY(div), ENTRY(add_into), ENTRY(sub_into), ENTRY(mul_into),
    ENTRY(div_into), ENTRY(once), ENTRY(sum), ENTRY(mean), ENTRY(view), ENTRY(add_up), ENTRY(takes), ENTRY(sum_rows),
    ENTRY(mine), ENTRY(spread), ENTRY(dispatcher), ENTRY(rename), {"dispatching", fast_dispatching, METH_O, NULL},
    {"address", fast_address, METH_O, NULL}, {"untrack", fast_untrack, METH_O, NULL}, {"track", fast_track, METH_O, NULL},
    {"instantiate", fast_instantiate, METH_O, NULL}, {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void) {
    import_array();
    import_umath();
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return NULL;
    add_ufunc = (PyUFuncObject *)PyObject_GetAttrString(numpy, "add");
    Py_DECREF(numpy);
    if (add_ufunc == NULL) return NULL;
    if (PyType_Ready(&Function_Type) < 0 || PyType_Ready(&Unasked_Type) < 0) return NULL;
    if ((array_name = PyUnicode_InternFromString("array")) == NULL) return NULL;
    if ((busy_name = PyUnicode_InternFromString("busy")) == NULL) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddObjectRef(made, "Function", (PyObject *)&Function_Type) < 0) Py_CLEAR(made);
    return made;
}
