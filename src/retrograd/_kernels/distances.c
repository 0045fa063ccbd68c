/* Distances between rows, and inverses of small matrices. */

#include "kernel.h"
#include "kernels.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

enum { ROWS = 4, COLUMNS = 64, TERMS = 32, LARGEST = 4 };

#define EACH_TERM(T, WIDE, STATEMENT)                                                                               \
    for (npy_intp c = first; c < first + terms; c++) {                                                        \
        const T *restrict v = columns + c * COLUMNS;                                                          \
        for (npy_intp r = 0; r < rows; r++) {                                                                 \
            const T u = a[(i + r) * m + c];                                                                   \
            SIMD for (npy_intp q = 0; q < WIDE; q++) {                                                        \
                const T d = u - v[q];                                                                         \
                STATEMENT;                                                                                    \
            }                                                                                                 \
        }                                                                                                     \
    }

/* y (n, k): of the rows of a (n, m) from those of b (k, m), of which COLUMNS wait in `columns` (m, COLUMNS); p 1, 2 or infinite.
   TERMS are added in the arrays' type, those sums in double. */
#define DISTANCES(T, NAME)                                                                                    \
    CLONES static void NAME(const T *a, const T *b, T *restrict columns, T *restrict y, npy_intp n, npy_intp k, npy_intp m, \
                            double p) {                                                                       \
        for (npy_intp j = 0; j < k; j += COLUMNS) {                                                           \
            const npy_intp many = k - j < COLUMNS ? k - j : COLUMNS, wide = (many + 15) / 16 * 16;            \
            for (npy_intp q = 0; q < many; q++)                                                               \
                for (npy_intp c = 0; c < m; c++) columns[c * COLUMNS + q] = b[(j + q) * m + c];               \
            for (npy_intp i = 0; i < n; i += ROWS) {                                                          \
                const npy_intp rows = n - i < ROWS ? n - i : ROWS;                                            \
                double sum[ROWS][COLUMNS];                                                                    \
                T some[ROWS][COLUMNS];                                                                        \
                for (npy_intp r = 0; r < rows; r++) SIMD for (npy_intp q = 0; q < wide; q++) sum[r][q] = 0;   \
                for (npy_intp first = 0; first < m; first += TERMS) {                                         \
                    const npy_intp terms = m - first < TERMS ? m - first : TERMS;                             \
                    for (npy_intp r = 0; r < rows; r++) SIMD for (npy_intp q = 0; q < wide; q++) some[r][q] = 0; \
                    if (p == 2 && wide == COLUMNS) EACH_TERM(T, COLUMNS, some[r][q] += d * d)                 \
                    else if (p == 2) EACH_TERM(T, wide, some[r][q] += d * d)                                             \
                    else if (p == 1) EACH_TERM(T, wide, some[r][q] += d < 0 ? -d : d)                               \
                    else EACH_TERM(T, wide, const T size = d < 0 ? -d : d;                                          \
                                   some[r][q] = (size > some[r][q]) | (size != size) ? size : some[r][q])     \
                    for (npy_intp r = 0; r < rows; r++)                                                       \
                        SIMD for (npy_intp q = 0; q < wide; q++)                                              \
                            sum[r][q] = p <= 2 ? sum[r][q] + some[r][q]                                       \
                                : (some[r][q] > sum[r][q]) | (some[r][q] != some[r][q]) ? some[r][q] : sum[r][q]; \
                }                                                                                             \
                for (npy_intp r = 0; r < rows; r++) {                                                         \
                    T *restrict to = y + (i + r) * k + j;                                                     \
                    if (p == 2) SIMD for (npy_intp q = 0; q < many; q++) {                                    \
                        const T s = (T)sum[r][q];                                                             \
                        to[q] = sizeof(T) == 4 ? (T)sqrtf((float)s) : (T)sqrt((double)s);                     \
                    } else SIMD for (npy_intp q = 0; q < many; q++) to[q] = (T)sum[r][q];                     \
                }                                                                                             \
            }                                                                                                 \
        }                                                                                                     \
    }                                                                                                         \
    static void NAME##_all(const T *a, const T *b, T *columns, T *y, npy_intp pairs, npy_intp n, npy_intp k, npy_intp m, double p) { \
        for (npy_intp o = 0; o < pairs; o++, a += n * m, b += k * m, y += n * k) NAME(a, b, columns, y, n, k, m, p); \
    }
DISTANCES(float, floats_distances)
DISTANCES(double, doubles_distances)

/* distances(a (..., n, m), b (..., k, m), p) -> (..., n, k); p 1.0, 2.0 or infinite */
KERNEL(distances, 3)
    PyObject *a = args[0], *b = args[1];
    const int type = kind_of(a), ndim = type < 0 ? 0 : PyArray_NDIM(ARRAY(a));
    const double p = PyFloat_CheckExact(args[2]) ? PyFloat_AS_DOUBLE(args[2]) : 0;
    if (ndim < 2 || kind_of(b) != type || PyArray_NDIM(ARRAY(b)) != ndim || !(p == 1 || p == 2 || p == INFINITY)) Py_RETURN_NONE;
    npy_intp sizes[NPY_MAXDIMS], pairs = 1;
    for (int d = 0; d < ndim - 2; d++) {
        if (PyArray_DIM(ARRAY(a), d) != PyArray_DIM(ARRAY(b), d)) Py_RETURN_NONE;
        pairs *= sizes[d] = PyArray_DIM(ARRAY(a), d);
    }
    const npy_intp n = PyArray_DIM(ARRAY(a), ndim - 2), k = PyArray_DIM(ARRAY(b), ndim - 2), m = PyArray_DIM(ARRAY(a), ndim - 1);
    if (m != PyArray_DIM(ARRAY(b), ndim - 1) || PyArray_SIZE(ARRAY(a)) == 0 || PyArray_SIZE(ARRAY(b)) == 0) Py_RETURN_NONE;
    sizes[ndim - 2] = n;
    sizes[ndim - 1] = k;
    PyObject *y = PyArray_SimpleNew(ndim, sizes, type);
    if (y == NULL) return NULL;
    void *columns = PyMem_Calloc(times((size_t)m, COLUMNS), (size_t)PyArray_ITEMSIZE(ARRAY(b)));
    if (columns == NULL) {
        Py_DECREF(y);
        return PyErr_NoMemory();
    }
    const npy_intp all = PyArray_SIZE(ARRAY(y));
    if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_distances_all(DATA(a), DATA(b), columns, DATA(y), pairs, n, k, m, p));
    else WITHOUT_GIL(all, doubles_distances_all(DATA(a), DATA(b), columns, DATA(y), pairs, n, k, m, p));
    PyMem_Free(columns);
    return y;
END

/* One matrix, with a unit matrix to its right, by LU with row exchanges; 0 where a pivot is of the size of rounding errors, `least`
   of the largest number, or something is not finite: LAPACK is to say then.  Steps as LAPACK's, for its signs of zeros. */
static int invert(double a[LARGEST][2 * LARGEST], int n, double least) {
    double largest = 0, inverse[LARGEST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            largest = fabs(a[i][j]) > largest ? fabs(a[i][j]) : largest;
            a[i][n + j] = i == j;
        }
    for (int c = 0; c < n; c++) {
        int at = c;
        for (int i = c + 1; i < n; i++) at = fabs(a[i][c]) > fabs(a[at][c]) ? i : at;
        if (!(fabs(a[at][c]) > least * largest) || !(largest < INFINITY)) return 0;
        for (int j = c; at != c && j < 2 * n; j++) {
            const double kept = a[c][j];
            a[c][j] = a[at][j];
            a[at][j] = kept;
        }
        inverse[c] = 1 / a[c][c];
        for (int i = c + 1; i < n; i++) {
            const double times = a[i][c] * inverse[c];
            for (int j = c + 1; j < 2 * n; j++) a[i][j] -= times * a[c][j];
        }
    }
    for (int c = n - 1; c >= 0; c--)
        for (int j = n; j < 2 * n; j++) {
            a[c][j] *= inverse[c];
            for (int i = 0; i < c; i++) a[i][j] -= a[i][c] * a[c][j];
        }
    return 1;
}

/* inverses(x (..., n, n)), n 4 at most: float32 in double */
KERNEL(inverses, 1)
    PyObject *x = args[0];
    const int type = kind_of(x), ndim = type < 0 ? 0 : PyArray_NDIM(ARRAY(x));
    if (ndim < 2 || type != NPY_FLOAT || PyArray_SIZE(ARRAY(x)) == 0) Py_RETURN_NONE;
    const int n = (int)PyArray_DIM(ARRAY(x), ndim - 1);
    if (PyArray_DIM(ARRAY(x), ndim - 1) > LARGEST || PyArray_DIM(ARRAY(x), ndim - 2) != n) Py_RETURN_NONE;
    PyObject *y = new_like(x);
    if (y == NULL) return NULL;
    const npy_intp all = PyArray_SIZE(ARRAY(x));
    const float *from = DATA(x);
    float *to = DATA(y);
    int bad = 0;
    NPY_BEGIN_THREADS_DEF;
    if (all > RELEASE_AT / 4) NPY_BEGIN_THREADS;
    for (npy_intp o = 0; o < all && !bad; o += n * n) {
        double a[LARGEST][2 * LARGEST] = {{0}};
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) a[i][j] = from[o + i * n + j];
        bad = !invert(a, n, 1e-5);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) to[o + i * n + j] = (float)a[i][n + j];
    }
    NPY_END_THREADS;
    return unless(bad, y);
END
