/* Arithmetic of two float arrays of one shape, in C order.

   A call of a NumPy ufunc costs 200 ns before it does any work, and it looks at floating-point flags that we would have
   to silence for another 100 ns; here a call costs a few tens of ns and sets nothing.  Every other case returns None. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

enum { ADD, SUB, MUL, DIV };

#define RELEASE_AT 20000 /* elements from which it pays to let other threads run */

#define LOOPS(T, NAME)                                                                                        \
    static void NAME(int op, const T *restrict a, const T *restrict b, T *restrict y, npy_intp n) {           \
        switch (op) {                                                                                         \
        case ADD: for (npy_intp i = 0; i < n; i++) y[i] = a[i] + b[i]; break;                                 \
        case SUB: for (npy_intp i = 0; i < n; i++) y[i] = a[i] - b[i]; break;                                 \
        case MUL: for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b[i]; break;                                 \
        default:  for (npy_intp i = 0; i < n; i++) y[i] = a[i] / b[i]; break;                                 \
        }                                                                                                     \
    }                                                                                                         \
    static void NAME##_number(int op, const T *restrict a, T b, T *restrict y, npy_intp n) {                  \
        switch (op) {                                                                                         \
        case ADD: for (npy_intp i = 0; i < n; i++) y[i] = a[i] + b; break;                                    \
        case SUB: for (npy_intp i = 0; i < n; i++) y[i] = a[i] - b; break;                                    \
        case MUL: for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b; break;                                    \
        default:  for (npy_intp i = 0; i < n; i++) y[i] = a[i] / b; break;                                    \
        }                                                                                                     \
    }                                                                                                         \
    static void NAME##_into(T *total, const T *x, npy_intp n) {                                               \
        for (npy_intp i = 0; i < n; i++) total[i] += x[i];                                                    \
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

static PyObject *binary(int op, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected two operands");
        return NULL;
    }
    int type = ours(args[0]);
    if (type < 0) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)args[0];
    int number = PyFloat_CheckExact(args[1]);
    if (!number && (ours(args[1]) != type || !same_shape(a, (PyArrayObject *)args[1]))) Py_RETURN_NONE;
    PyObject *out = PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), type);
    if (out == NULL) return NULL;
    npy_intp n = PyArray_SIZE(a);
    void *pa = PyArray_DATA(a), *py = PyArray_DATA((PyArrayObject *)out);
    void *pb = number ? NULL : PyArray_DATA((PyArrayObject *)args[1]);
    double value = number ? PyFloat_AS_DOUBLE(args[1]) : 0.0;
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

static PyObject *fast_add_into(PyObject *m, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected two operands");
        return NULL;
    }
    int type = ours(args[0]);
    if (type < 0 || ours(args[1]) != type || !PyArray_ISWRITEABLE((PyArrayObject *)args[0])
        || !same_shape((PyArrayObject *)args[0], (PyArrayObject *)args[1])) Py_RETURN_FALSE;
    PyArrayObject *total = (PyArrayObject *)args[0];
    npy_intp n = PyArray_SIZE(total);
    void *pt = PyArray_DATA(total), *px = PyArray_DATA((PyArrayObject *)args[1]);
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT) NPY_BEGIN_THREADS;
    if (type == NPY_FLOAT) floats_into(pt, px, n);
    else doubles_into(pt, px, n);
    NPY_END_THREADS;
    Py_RETURN_TRUE;
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

#define ENTRY(name) {#name, (PyCFunction)(void (*)(void))fast_##name, METH_FASTCALL, NULL}
static PyMethodDef methods[] = {
    ENTRY(add), ENTRY(sub), ENTRY(mul), ENTRY(div), ENTRY(add_into),
    {"untrack", fast_untrack, METH_O, NULL}, {"track", fast_track, METH_O, NULL}, {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void) {
    import_array();
    return PyModule_Create(&module);
}
