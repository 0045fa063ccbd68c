/* The k-th smallest of each row, its median, its first k in order. */

#include "kernel.h"
#include "kernels.h"

#define ABOVE(a, b) (((a) != (a) && (b) == (b)) || (a) > (b))       /* NaN is the greatest */
#define SWAP(i, j)                        \
    do {                                  \
        const npy_intp p_ = (i), q_ = (j); \
        const T v_ = row[p_];             \
        const int64_t at_ = where[p_];    \
        row[p_] = row[q_];                \
        where[p_] = where[q_];            \
        row[q_] = v_;                     \
        where[q_] = at_;                  \
    } while (0)

/* Where it is: of equal ones the one that this quickselect, PyTorch's, brings to place k.  row and where are room for n. */
#define SELECTED(TYPE, NAME)                                                                            \
    static void NAME(const TYPE *x, TYPE *row, int64_t *where, int64_t *to, npy_intp rows, npy_intp n, npy_intp k) { \
        typedef TYPE T;                                                                                 \
        for (npy_intp r = 0; r < rows; r++) {                                                           \
            memcpy(row, x + r * n, (size_t)n * sizeof(T));                                              \
            for (npy_intp i = 0; i < n; i++) where[i] = i;                                              \
            npy_intp low = 0, high = n - 1;                                                             \
            while (high > low + 1) {                                                                    \
                SWAP(low + (high - low) / 2, low + 1);                                                  \
                if (ABOVE(row[low + 1], row[high])) SWAP(low + 1, high);                                \
                if (ABOVE(row[low], row[high])) SWAP(low, high);                                        \
                if (ABOVE(row[low + 1], row[low])) SWAP(low + 1, low);                                  \
                npy_intp i = low + 1, j = high;                                                         \
                const T pivot = row[low];                                                               \
                for (;;) {                                                                              \
                    do i++; while (ABOVE(pivot, row[i]));                                               \
                    do j--; while (ABOVE(row[j], pivot));                                               \
                    if (j < i) break;                                                                   \
                    SWAP(i, j);                                                                         \
                }                                                                                       \
                SWAP(low, j);                                                                           \
                if (j <= k) low = i;                                                                    \
                if (j >= k) high = j - 1;                                                               \
            }                                                                                           \
            if (high == low + 1 && ABOVE(row[low], row[high])) SWAP(low, high);                         \
            to[r] = where[k];                                                                           \
        }                                                                                               \
    }
SELECTED(float, floats_selected)
SELECTED(double, doubles_selected)
SELECTED(int64_t, longs_selected)
SELECTED(int32_t, ints_selected)

/* The lower middle one of each row, first in the row of those equal to it in a stable order: where it is.
   skip   as if NaN were not there; else the first NaN is the median */
#define MIDDLE(TYPE, NAME, SELECT)                                                                                     \
    static void NAME(const TYPE *x, TYPE *row, int64_t *where, int64_t *to, npy_intp rows, npy_intp n, int skip) {     \
        for (npy_intp r = 0; r < rows; r++, x += n) {                                                                  \
            npy_intp fine = n, less = 0, i = 0;                                                                        \
            if (skip) {                                                                                                \
                for (fine = 0; i < n; i++) fine += x[i] == x[i];                                                       \
            } else {                                                                                                   \
                while (i < n && x[i] == x[i]) i++;                                                                     \
                if (i < n) {                                                                                           \
                    to[r] = i;                                                                                         \
                    continue;                                                                                          \
                }                                                                                                      \
            }                                                                                                          \
            if (fine == 0) {                                                                                           \
                to[r] = 0;                                                                                             \
                continue;                                                                                              \
            }                                                                                                          \
            const npy_intp k = (fine - 1) / 2;                                                                         \
            SELECT(x, row, where, to + r, 1, n, k);                                                                    \
            const TYPE found = x[to[r]];                                                                               \
            for (i = 0; i < n; i++) less += x[i] < found;                                                              \
            for (i = 0; i < n && less <= k; i++) {                                                                     \
                if (x[i] != found) continue;                                                                           \
                to[r] = i;                                                                                             \
                less++;                                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
MIDDLE(float, floats_middle, floats_selected)
MIDDLE(double, doubles_middle, doubles_selected)
MIDDLE(int64_t, longs_middle, longs_selected)
MIDDLE(int32_t, ints_middle, ints_selected)

/* Where the first k of each row's stable order are, the greatest first if `down`: a heap of k, the last of them on top. */
#define FIRST(TYPE, NAME)                                                                                            \
    typedef struct {                                                                                                 \
        TYPE v;                                                                                                      \
        int64_t at;                                                                                                  \
    } NAME##_item;                                                                                                   \
    static inline int NAME##_after(NAME##_item a, NAME##_item b, int down) {                                         \
        if (down ? ABOVE(b.v, a.v) : ABOVE(a.v, b.v)) return 1;                                                      \
        return a.at > b.at && !(down ? ABOVE(a.v, b.v) : ABOVE(b.v, a.v));                                           \
    }                                                                                                                \
    static void NAME##_sink(NAME##_item *heap, npy_intp i, npy_intp n, int down) {                                   \
        const NAME##_item item = heap[i];                                                                            \
        for (npy_intp c; (c = 2 * i + 1) < n; i = c) {                                                               \
            if (c + 1 < n && NAME##_after(heap[c + 1], heap[c], down)) c++;                                          \
            if (!NAME##_after(heap[c], item, down)) break;                                                           \
            heap[i] = heap[c];                                                                                       \
        }                                                                                                            \
        heap[i] = item;                                                                                              \
    }                                                                                                                \
    static void NAME(const TYPE *x, NAME##_item *heap, int64_t *to, npy_intp rows, npy_intp n, npy_intp k, int down) { \
        for (npy_intp r = 0; r < rows; r++, x += n, to += k) {                                                       \
            npy_intp i;                                                                                              \
            for (i = 0; i < k; i++) heap[i] = (NAME##_item){x[i], i};                                                \
            for (i = k / 2 - 1; i >= 0; i--) NAME##_sink(heap, i, k, down);                                          \
            for (i = k; i < n; i++) {                                                                                \
                const TYPE v = x[i], last = heap[0].v;                                                               \
                if (down ? !ABOVE(v, last) : !ABOVE(last, v)) continue;                                              \
                heap[0] = (NAME##_item){v, i};                                                                       \
                NAME##_sink(heap, 0, k, down);                                                                       \
            }                                                                                                        \
            for (i = k - 1; i >= 0; i--) {                                                                           \
                to[i] = heap[0].at;                                                                                  \
                heap[0] = heap[i];                                                                                   \
                NAME##_sink(heap, 0, i, down);                                                                       \
            }                                                                                                        \
        }                                                                                                            \
    }
FIRST(float, floats_first)
FIRST(double, doubles_first)
FIRST(int64_t, longs_first)
FIRST(int32_t, ints_first)

/* The type of x (..., n) in C order, n not 0, where the loops know it; else 0. */
static int rows_of(PyObject *x, npy_intp *n) {
    if (!PyArray_CheckExact(x) || !PyArray_ISCARRAY_RO(ARRAY(x)) || PyArray_NDIM(ARRAY(x)) == 0) return 0;
    const int type = PyArray_TYPE(ARRAY(x));
    *n = PyArray_DIM(ARRAY(x), PyArray_NDIM(ARRAY(x)) - 1);
    return *n && (type == NPY_FLOAT || type == NPY_DOUBLE || type == NPY_INT64 || type == NPY_INT32) ? type : 0;
}

#define BY_TYPE(type, all, NAME, ...)                                                          \
    do {                                                                                       \
        if (type == NPY_FLOAT) WITHOUT_GIL(all, floats_##NAME(DATA(x), __VA_ARGS__));          \
        else if (type == NPY_DOUBLE) WITHOUT_GIL(all, doubles_##NAME(DATA(x), __VA_ARGS__));   \
        else if (type == NPY_INT64) WITHOUT_GIL(all, longs_##NAME(DATA(x), __VA_ARGS__));      \
        else WITHOUT_GIL(all, ints_##NAME(DATA(x), __VA_ARGS__));                              \
    } while (0)

/* A new array of int64 with m in the place of x's last dim. */
static PyObject *places_of(PyObject *x, npy_intp m) {
    npy_intp sizes[NPY_MAXDIMS];
    const int last = PyArray_NDIM(ARRAY(x)) - 1;
    for (int d = 0; d < last; d++) sizes[d] = PyArray_DIM(ARRAY(x), d);
    sizes[last] = m;
    return PyArray_SimpleNew(last + 1, sizes, NPY_INT64);
}

/* how: of the k-th (0), of the median (1), of that of what is not NaN (2) */
static PyObject *one_of(PyObject *x, int type, npy_intp n, npy_intp k, int how) {
    const npy_intp all = PyArray_SIZE(ARRAY(x));
    void *row = PyMem_Malloc(times((size_t)n, sizeof(double)));
    int64_t *where = PyMem_Malloc(times((size_t)n, sizeof(int64_t)));
    PyObject *y = row == NULL || where == NULL ? PyErr_NoMemory() : places_of(x, 1);
    if (y != NULL) {
        int64_t *to = DATA(y);
        if (how) BY_TYPE(type, all, middle, row, where, to, all / n, n, how == 2);
        else BY_TYPE(type, all, selected, row, where, to, all / n, n, k);
    }
    PyMem_Free(row);
    PyMem_Free(where);
    return y;
}

/* kth(x (..., n) of four or eight bytes, k from 0) -> (..., 1) of int64 */
KERNEL(kth, 2)
    npy_intp n, k;
    const int type = rows_of(args[0], &n);
    if (!type || !whole(args[1], &k) || k < 0 || k >= n) Py_RETURN_NONE;
    return one_of(args[0], type, n, k, 0);
END

/* middle(x (..., n), skip NaN) -> (..., 1) of int64 */
KERNEL(middle, 2)
    npy_intp n, skip;
    const int type = rows_of(args[0], &n);
    if (!type || !whole(args[1], &skip)) Py_RETURN_NONE;
    return one_of(args[0], type, n, 0, skip ? 2 : 1);
END

/* first(x (..., n), k, the greatest) -> (..., k) of int64, in order */
KERNEL(first, 3)
    PyObject *x = args[0];
    npy_intp n, k, down;
    const int type = rows_of(x, &n);
    if (!type || !whole(args[1], &k) || k < 1 || k > n || !whole(args[2], &down)) Py_RETURN_NONE;
    const npy_intp all = PyArray_SIZE(ARRAY(x));
    void *heap = PyMem_Malloc(times((size_t)k, sizeof(doubles_first_item)));
    PyObject *y = heap == NULL ? PyErr_NoMemory() : places_of(x, k);
    if (y != NULL) {
        int64_t *to = DATA(y);
        BY_TYPE(type, all, first, heap, to, all / n, n, k, down != 0);
    }
    PyMem_Free(heap);
    return y;
END
