/* What surrounds matrix products: the bias, products too small for BLAS to pay, and the gradient of an embedding. */

#include "kernel.h"
#include "kernels.h"

#define LOOPS(T, NAME)                                                                                             \
    CLONES static void NAME##_bias(T *restrict y, const T *restrict b, npy_intp n, npy_intp c) {                    \
        for (npy_intp i = 0; i < n; i++, y += c)                                                                    \
            for (npy_intp j = 0; j < c; j++) y[j] += b[j];                                                          \
    }                                                                                                               \
    /* whether a place was out of bounds */                                                                         \
    CLONES static int NAME##_rows(T *restrict out, const T *restrict x, const int64_t *where, npy_intp n,           \
                                  npy_intp rows, npy_intp c) {                                                      \
        int bad = 0;                                                                                                \
        for (npy_intp i = 0; i < n; i++, x += c) {                                                                  \
            T *restrict row = out + inside(READ(where[i]), rows, &bad) * c;                                         \
            for (npy_intp j = 0; j < c; j++) row[j] += x[j];                                                        \
        }                                                                                                           \
        return bad;                                                                                                 \
    }                                                                                                               \
    CLONES static void NAME##_matmul(const char *a, npy_intp a0, npy_intp a1, const char *b, npy_intp b0, npy_intp b1,     \
                              T *restrict y, npy_intp n, npy_intp m, npy_intp p) {                                  \
        if (b1 == sizeof(T) && p > 1) {                 /* rows of b lie in one piece: y += a[i, k] b[k] */         \
            memset(y, 0, sizeof(T) * n * p);                                                                        \
            for (npy_intp i = 0; i < n; i++, y += p)                                                                \
                for (npy_intp k = 0; k < m; k++) {                                                                  \
                    const T x = *(const T *)(a + i * a0 + k * a1), *row = (const T *)(b + k * b0);                  \
                    for (npy_intp j = 0; j < p; j++) y[j] += x * row[j];                                            \
                }                                                                                                   \
            return;                                                                                                 \
        }                                                                                                           \
        if (a1 == sizeof(T) && b0 == sizeof(T)) {       /* rows of a, columns of b */                               \
            for (npy_intp i = 0; i < n; i++)                                                                        \
                for (npy_intp j = 0; j < p; j++) {                                                                  \
                    const T *u = (const T *)(a + i * a0), *v = (const T *)(b + j * b1);                             \
                    T sum = 0;                                                                                      \
                    SIMD_SUM(sum) for (npy_intp k = 0; k < m; k++) sum += u[k] * v[k];                              \
                    *y++ = sum;                                                                                     \
                }                                                                                                   \
            return;                                                                                                 \
        }                                                                                                           \
        for (npy_intp i = 0; i < n; i++)                                                                            \
            for (npy_intp j = 0; j < p; j++) {                                                                      \
                T sum = 0;                                                                                          \
                for (npy_intp k = 0; k < m; k++)                                                                    \
                    sum += *(const T *)(a + i * a0 + k * a1) * *(const T *)(b + k * b0 + j * b1);                   \
                *y++ = sum;                                                                                         \
            }                                                                                                       \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

void small_product(int type, const Small *o, const char *a, const char *b, const char *bias, char *y) {
    if (type == NPY_FLOAT) {
        floats_matmul(a, o->a0, o->a1, b, o->b0, o->b1, (float *)y, o->n, o->m, o->p);
        if (bias != NULL) floats_bias((float *)y, (const float *)bias, o->n, o->p);
    } else {
        doubles_matmul(a, o->a0, o->a1, b, o->b0, o->b1, (double *)y, o->n, o->m, o->p);
        if (bias != NULL) doubles_bias((double *)y, (const double *)bias, o->n, o->p);
    }
}

/* add_bias(y (..., C), b (C,)) -> did it: y += b */
KERNEL(add_bias, 2)
    int type = kind_of(args[0]);
    if (type < 0 || kind_of(args[1]) != type || !PyArray_ISWRITEABLE(ARRAY(args[0])) || PyArray_NDIM(ARRAY(args[1])) != 1
        || PyArray_NDIM(ARRAY(args[0])) < 1) Py_RETURN_FALSE;
    npy_intp c = PyArray_DIM(ARRAY(args[1]), 0), size = PyArray_SIZE(ARRAY(args[0]));
    if (PyArray_DIM(ARRAY(args[0]), PyArray_NDIM(ARRAY(args[0])) - 1) != c || !apart(args[0], args[1])) Py_RETURN_FALSE;
    npy_intp n = c ? size / c : 0;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_bias(DATA(args[0]), DATA(args[1]), n, c));
    else WITHOUT_GIL(size, doubles_bias(DATA(args[0]), DATA(args[1]), n, c));
    Py_RETURN_TRUE;
END

/* matmul(a (n, m), b (m, p)) -> a @ b when that is small, whatever their strides */
KERNEL(matmul, 2)
    if (!PyArray_CheckExact(args[0]) || !PyArray_CheckExact(args[1])) Py_RETURN_NONE;
    PyArrayObject *a = ARRAY(args[0]), *b = ARRAY(args[1]);
    int type = PyArray_TYPE(a);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || PyArray_TYPE(b) != type || PyArray_NDIM(a) != 2
        || PyArray_NDIM(b) != 2 || !PyArray_ISBEHAVED_RO(a) || !PyArray_ISBEHAVED_RO(b)) Py_RETURN_NONE;
    npy_intp n = PyArray_DIM(a, 0), m = PyArray_DIM(a, 1), p = PyArray_DIM(b, 1), dims[2] = {n, p};
    if (m != PyArray_DIM(b, 0) || n > SMALL || m > SMALL || p > SMALL || n * m * p > SMALL) Py_RETURN_NONE;
    PyObject *y = PyArray_SimpleNew(2, dims, type);
    if (y == NULL) return NULL;
    const char *pa = PyArray_BYTES(a), *pb = PyArray_BYTES(b);
    npy_intp a0 = PyArray_STRIDE(a, 0), a1 = PyArray_STRIDE(a, 1), b0 = PyArray_STRIDE(b, 0), b1 = PyArray_STRIDE(b, 1);
    if (type == NPY_FLOAT) floats_matmul(pa, a0, a1, pb, b0, b1, DATA(y), n, m, p);
    else doubles_matmul(pa, a0, a1, pb, b0, b1, DATA(y), n, m, p);
    return y;
END

/* a @ b for matrices of ours, each turned (transposed) where asked; NULL without an error set when `large` is 0 and BLAS
   would be quicker.  NumPy's product may tell of floating-point flags: whoever asks for large ones has silenced it. */
static PyObject *product(PyObject *x, int turn_x, PyObject *w, int turn_w, int type, int large) {
    PyArrayObject *a = ARRAY(x), *b = ARRAY(w);
    npy_intp n = PyArray_DIM(a, turn_x), m = PyArray_DIM(a, !turn_x), p = PyArray_DIM(b, !turn_w), dims[2] = {n, p};
    if (n <= SMALL && m <= SMALL && p <= SMALL && n * m * p <= SMALL) {
        PyObject *y = PyArray_SimpleNew(2, dims, type);
        if (y == NULL) return NULL;
        npy_intp a0 = PyArray_STRIDE(a, turn_x), a1 = PyArray_STRIDE(a, !turn_x);
        npy_intp b0 = PyArray_STRIDE(b, turn_w), b1 = PyArray_STRIDE(b, !turn_w);
        if (type == NPY_FLOAT) floats_matmul(PyArray_BYTES(a), a0, a1, PyArray_BYTES(b), b0, b1, DATA(y), n, m, p);
        else doubles_matmul(PyArray_BYTES(a), a0, a1, PyArray_BYTES(b), b0, b1, DATA(y), n, m, p);
        return y;
    }
    if (!large) return NULL;
    PyObject *left = turn_x ? PyArray_Transpose(a, NULL) : Py_NewRef(x);
    PyObject *right = turn_w ? PyArray_Transpose(b, NULL) : Py_NewRef(w);
    PyObject *pair[2] = {left, right}, *y = left && right ? kernel_multiply(NULL, pair, 2) : NULL;
    if (y == Py_None) {
        Py_DECREF(y);
        y = PyArray_MatrixProduct2(left, right, NULL);
    }
    Py_XDECREF(left);
    Py_XDECREF(right);
    return y;
}

static int matrix_kind(PyObject *x) {
    int type = kind_of(x);
    return type >= 0 && PyArray_NDIM(ARRAY(x)) == 2 ? type : -1;
}

/* linear(x (n, m), w (p, m), b (p,), large) -> x @ w.T + b; only tiny ones unless `large` */
KERNEL(linear, 4)
    int type = matrix_kind(args[0]);
    if (type < 0 || matrix_kind(args[1]) != type || kind_of(args[2]) != type || PyArray_NDIM(ARRAY(args[2])) != 1
        || PyArray_DIM(ARRAY(args[0]), 1) != PyArray_DIM(ARRAY(args[1]), 1)
        || PyArray_DIM(ARRAY(args[2]), 0) != PyArray_DIM(ARRAY(args[1]), 0)) Py_RETURN_NONE;
    PyObject *y = product(args[0], 0, args[1], 1, type, args[3] == Py_True);
    if (y == NULL) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    npy_intp c = PyArray_DIM(ARRAY(y), 1), size = PyArray_SIZE(ARRAY(y)), n = c ? size / c : 0;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, floats_bias(DATA(y), DATA(args[2]), n, c));
    else WITHOUT_GIL(size, doubles_bias(DATA(y), DATA(args[2]), n, c));
    return y;
END

/* linear_grad(g (n, p), x (n, m)) -> (g.T @ x).T, which lies as the transposed weight does */
KERNEL(linear_grad, 2)
    int type = matrix_kind(args[0]);
    if (type < 0 || matrix_kind(args[1]) != type || PyArray_DIM(ARRAY(args[0]), 0) != PyArray_DIM(ARRAY(args[1]), 0))
        Py_RETURN_NONE;
    PyObject *y = product(args[0], 1, args[1], 0, type, 1);
    if (y == NULL) return NULL;
    PyObject *turned = PyArray_Transpose(ARRAY(y), NULL);
    Py_DECREF(y);
    return turned;
END

/* add_rows(where (N,), x (N, C), rows) -> zeros (rows, C) with x[i] added at where[i] */
KERNEL(add_rows, 3)
    PyObject *where = args[0], *x = args[1];
    int type = kind_of(x), bad;
    npy_intp dims[2];
    if (type < 0 || PyArray_NDIM(ARRAY(x)) != 2 || !PyArray_CheckExact(where) || PyArray_TYPE(ARRAY(where)) != NPY_INT64
        || !PyArray_ISCARRAY_RO(ARRAY(where)) || PyArray_NDIM(ARRAY(where)) != 1 || !whole(args[2], dims)
        || PyArray_DIM(ARRAY(where), 0) != PyArray_DIM(ARRAY(x), 0)) Py_RETURN_NONE;
    const npy_intp n = PyArray_DIM(ARRAY(x), 0);
    dims[1] = PyArray_DIM(ARRAY(x), 1);
    if (dims[0] < 0 || (dims[0] == 0 && n > 0)) Py_RETURN_NONE;
    PyObject *out = PyArray_ZEROS(2, dims, type, 0);
    if (out == NULL) return NULL;
    if (type == NPY_FLOAT) WITHOUT_GIL(n * dims[1], bad = floats_rows(DATA(out), DATA(x), DATA(where), n, dims[0], dims[1]));
    else WITHOUT_GIL(n * dims[1], bad = doubles_rows(DATA(out), DATA(x), DATA(where), n, dims[0], dims[1]));
    return unless(bad, out);
END
