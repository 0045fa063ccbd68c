/* What the recorder of the microscope asks of every tensor it sees, in one pass over memory, and of what hooks return. */

#include "kernel.h"
#include "kernels.h"

#define STATS(T, NAME)                                                                                            \
    CLONES static double NAME##_stats(const T *x, npy_intp n, double *low, double *high, npy_intp *zeros) {       \
        double total = 0;                                                                                         \
        T least = x[0], most = x[0];                                                                              \
        npy_intp count = 0;                                                                                       \
        for (npy_intp i = 0; i < n; i += 512) {         /* short sums in T, the long one in double */             \
            const npy_intp stop = n - i < 512 ? n : i + 512;                                                      \
            T part = 0, a = x[i], b = x[i];                                                                       \
            int32_t none = 0;                                                                                     \
            PRAGMA_STATS for (npy_intp j = i; j < stop; j++) {                                                    \
                const T v = x[j];                                                                                 \
                part += v * v;                                                                                    \
                a = v < a ? v : a;                                                                                \
                b = v > b ? v : b;                                                                                \
                none += v == 0;                                                                                   \
            }                                                                                                     \
            total += part;                                                                                        \
            least = a < least ? a : least;                                                                        \
            most = b > most ? b : most;                                                                           \
            count += none;                                                                                        \
        }                                                                                                         \
        *low = least;                                                                                             \
        *high = most;                                                                                             \
        *zeros = count;                                                                                           \
        return total;                                                                                             \
    }

#if defined(_MSC_VER)
#define PRAGMA_STATS
#else
#define PRAGMA_STATS PRAGMA(omp simd reduction(+ : part, none) reduction(min : a) reduction(max : b))
#endif

STATS(float, floats)
STATS(double, doubles)

/* stats(x) -> (sum of squares, least, greatest, how many zeros), or None; where the sum is NaN or inf, all but it is
   without meaning */
KERNEL(stats, 1)
    int type = kind_of(args[0]);
    npy_intp size = type < 0 ? 0 : PyArray_SIZE(ARRAY(args[0])), zeros;
    double total, low, high;
    if (size == 0) Py_RETURN_NONE;
    if (type == NPY_FLOAT) WITHOUT_GIL(size, total = floats_stats(DATA(args[0]), size, &low, &high, &zeros));
    else WITHOUT_GIL(size, total = doubles_stats(DATA(args[0]), size, &low, &high, &zeros));
    return Py_BuildValue("dddn", total, low, high, (Py_ssize_t)zeros);
END

/* Bytes first, block by block: memcmp stops at a difference, which counts unless it is 0 beside -0 or NaN beside NaN. */
#define SAME(T, NAME)                                                                                             \
    static int NAME##_same(const T *a, const T *b, npy_intp n) {                                                  \
        for (npy_intp i = 0; i < n; i += 4096) {                                                                  \
            const npy_intp stop = n - i < 4096 ? n : i + 4096;                                                    \
            if (memcmp(a + i, b + i, sizeof(T) * (size_t)(stop - i)) == 0) continue;                              \
            for (npy_intp j = i; j < stop; j++)                                                                   \
                if (!(a[j] == b[j] || (a[j] != a[j] && b[j] != b[j]))) return 0;                                  \
        }                                                                                                         \
        return 1;                                                                                                 \
    }

SAME(float, floats)
SAME(double, doubles)

/* same(a, b) -> bool, or None */
KERNEL(same, 2)
    int type = kind_of(args[0]), equal;
    if (type < 0 || kind_of(args[1]) != type || !same_shape(args[0], args[1])) Py_RETURN_NONE;
    npy_intp size = PyArray_SIZE(ARRAY(args[0]));
    if (type == NPY_FLOAT) WITHOUT_GIL(size, equal = floats_same(DATA(args[0]), DATA(args[1]), size));
    else WITHOUT_GIL(size, equal = doubles_same(DATA(args[0]), DATA(args[1]), size));
    return PyBool_FromLong(equal);
END
