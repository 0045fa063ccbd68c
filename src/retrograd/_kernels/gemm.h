/* Products of matrices that kernels form as they go, where a call of BLAS for each would spend its time on packing.
   float32 and float64.   m rows, n columns, k terms */

#ifndef RETROGRAD_GEMM_H
#define RETROGRAD_GEMM_H
#include "kernel.h"

#if defined(__GNUC__)
#define HAS_PRODUCTS 1
#else
#define HAS_PRODUCTS 0 /* no vector types: BLAS it is */
#endif

#define LINE 64 /* bytes of a cache line and of the widest vector */

/* c[i, j] = from[i, j] + sum over p of a[i, p] b[p, j].

   a      at a + i am + p ak
   b      at b + p bk + j; rows are read to the next multiple of LINE bytes beyond n
   from   at from + i fm + j fn, fn 0 or 1; NULL is zero.  It may be c.
   c      at c + i cm + j; nothing is written beyond n */
#define PRODUCT(T, Name)                                 \
    typedef struct {                                     \
        npy_intp m, n, k;                                \
        const T *a;                                      \
        npy_intp am, ak;                                 \
        const T *b;                                      \
        npy_intp bk;                                     \
        const T *from;                                   \
        npy_intp fm, fn;                                 \
        T *c;                                            \
        npy_intp cm;                                     \
    } Name
PRODUCT(float, FloatProduct);
PRODUCT(double, DoubleProduct);
void floats_product(const FloatProduct *o);
void doubles_product(const DoubleProduct *o);

/* to[j, i] = from[i, j] for rows i of `from`, `step` apart; rows of `to` lie `apart`. */
void floats_turn(const float *from, npy_intp rows, npy_intp columns, npy_intp step, float *to, npy_intp apart);
void doubles_turn(const double *from, npy_intp rows, npy_intp columns, npy_intp step, double *to, npy_intp apart);

/* Whether vectors are wide enough to beat the BLAS that NumPy brings. */
int wide_vectors(void);

/* Memory that begins on a cache line, or NULL; no Python is needed for it.  `leave` takes NULL, too.  Sizes that come from
   more than one array are multiplied by `times` and added by `plus`. */
void *room(size_t bytes);
void leave(void *memory);

/* Elements of a row of n that begins and ends on a cache line: an odd number of lines, so that rows do not meet in the
   few places of the cache that one power of two selects. */
static inline npy_intp row_of(npy_intp n, size_t itemsize) {
    const npy_intp line = LINE / (npy_intp)itemsize;
    return ((n + line - 1) / line | 1) * line;
}
#endif
