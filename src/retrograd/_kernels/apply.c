/* See apply.h. */

#include "apply.h"

/* count Python numbers into p: are they floats, or ints that a double holds? */
int numbers(PyObject *const *args, int count, double *p) {
    for (int i = 0; i < count; i++) {
        if (PyFloat_Check(args[i])) {
            p[i] = PyFloat_AS_DOUBLE(args[i]);
            continue;
        }
        int overflow;
        if (!PyLong_Check(args[i])) return 0;
        long long n = PyLong_AsLongLongAndOverflow(args[i], &overflow);
        if (overflow || n > 1LL << 53 || n < -(1LL << 53)) return 0;
        p[i] = (double)n;
    }
    return 1;
}

static void spread(double value, int type, void *to) {
    for (int i = 0; i < BLOCK; i++) {
        if (type == NPY_FLOAT) ((float *)to)[i] = (float)value;
        else ((double *)to)[i] = value;
    }
}

/* f on a, b and c (or NULL): arrays of one shape and type, or Python numbers, which stand for arrays; None for all else.
   The result is new, or written into `out`, which may be one of them. */
PyObject *apply_into(PyObject *out, PyObject *a, PyObject *b, PyObject *c, const double *p, Loop floats, Loop doubles) {
    PyObject *given[3] = {a, b, c}, *first = NULL;
    double value[3], copies[3][BLOCK];
    int constant = 0, type = -1;
    for (int i = 0; i < 3; i++) {
        if (given[i] == NULL || numbers(given + i, 1, value + i)) continue;
        int its = kind_of(given[i]);
        if (its < 0 || (first != NULL && (its != type || !same_shape(first, given[i])))) Py_RETURN_NONE;
        if (first == NULL) first = given[i];
        type = its;
    }
    Loop f = type == NPY_FLOAT ? floats : doubles;
    if (first == NULL || f == NULL) Py_RETURN_NONE;
    const char *from[3] = {NULL, NULL, NULL};
    npy_intp n = PyArray_SIZE(ARRAY(first)), step[3] = {0, 0, 0}, size = PyArray_ITEMSIZE(ARRAY(first));
    for (int i = 0; i < 3; i++) {
        if (given[i] == NULL) continue;
        if (PyArray_Check(given[i])) {
            from[i] = DATA(given[i]);
            step[i] = size;
        } else {
            spread(value[i], type, copies[i]);
            from[i] = (const char *)copies[i];
            constant = 1;
        }
    }
    int whole = out == NULL;                    /* a loop's result may be no operand: written into one, it is copied there */
    if (whole) {
        out = new_like(first);
        if (out == NULL) return NULL;
    } else {
        if (kind_of(out) != type || !same_shape(first, out) || !PyArray_ISWRITEABLE(ARRAY(out))) Py_RETURN_NONE;
        for (int i = 0; i < 3; i++)
            if (from[i] != NULL && step[i] && from[i] != DATA(out) && !apart(given[i], out)) Py_RETURN_NONE;
        Py_INCREF(out);
    }
    char *y = DATA(out);
    double block[BLOCK];
    NPY_BEGIN_THREADS_DEF;
    if (n > RELEASE_AT / 4) NPY_BEGIN_THREADS;
    npy_intp most = constant || !whole ? BLOCK : n;
    for (npy_intp i = 0; i < n; i += most) {
        npy_intp count = n - i < most ? n - i : most;
        f(from[0] + i * step[0], from[1] ? from[1] + i * step[1] : NULL, from[2] ? from[2] + i * step[2] : NULL, p,
          whole ? (void *)(y + i * size) : block, count);
        if (!whole) memcpy(y + i * size, block, count * size);
    }
    NPY_END_THREADS;
    return out;
}

PyObject *apply(PyObject *a, PyObject *b, PyObject *c, const double *p, Loop floats, Loop doubles) {
    return apply_into(NULL, a, b, c, p, floats, doubles);
}
