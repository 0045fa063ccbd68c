/* The products of gemm.h: tiles.h for each type and generation of processors, and the choice among them. */

#include "gemm.h"
#include "kernels.h"
#include <stdlib.h>

void *room(size_t bytes) {
    void *start = malloc(plus(bytes, LINE + sizeof(void *)));
    if (start == NULL) return NULL;
    void **aligned = (void **)(((uintptr_t)start + sizeof(void *) + LINE - 1) / LINE * LINE);
    aligned[-1] = start;
    return aligned;
}

void leave(void *memory) {
    if (memory != NULL) free(((void **)memory)[-1]);
}

#if HAS_PRODUCTS
#define TERMS 256 /* of a sum taken at a time: so many rows of NV vectors of b stay in the first cache */
#define HEIGHT 192 /* rows of a taken at a time: so many terms of them stay in the second cache */
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma")))
#define MR 8
#define NV 2
#define T float
#define LANES 16
#define KIND floats_v4_
#define ARGUMENTS FloatProduct
#include "tiles.h"
#define T double
#define LANES 8
#define KIND doubles_v4_
#define ARGUMENTS DoubleProduct
#include "tiles.h"
#undef TARGET
#undef MR
#undef NV

#define TARGET __attribute__((target("avx2,fma")))
#define MR 4
#define NV 3
#define T float
#define LANES 8
#define KIND floats_v3_
#define ARGUMENTS FloatProduct
#include "tiles.h"
#define T double
#define LANES 4
#define KIND doubles_v3_
#define ARGUMENTS DoubleProduct
#include "tiles.h"
#undef TARGET
#undef MR
#undef NV
#endif

#define TARGET
#define MR 4
#define NV 3
#define T float
#define LANES 4
#define KIND floats_v1_
#define ARGUMENTS FloatProduct
#include "tiles.h"
#define T double
#define LANES 2
#define KIND doubles_v1_
#define ARGUMENTS DoubleProduct
#include "tiles.h"
#undef TARGET
#undef MR
#undef NV

#if defined(__x86_64__)
static int found = 0;

static int generation(void) {
    if (found == 0) {
        __builtin_cpu_init();
        found = !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ? 1
                : !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd")
                        || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ? 3 : 4;
    }
    return found;
}
#define CHOOSE(NAME)                                     \
    switch (generation()) {                              \
        case 4: NAME##_v4_product(o); break;             \
        case 3: NAME##_v3_product(o); break;             \
        default: NAME##_v1_product(o);                   \
    }
int wide_vectors(void) { return generation() == 4; }
#else
#define CHOOSE(NAME) NAME##_v1_product(o);
int wide_vectors(void) { return 0; }
#endif
void floats_product(const FloatProduct *o) { CHOOSE(floats) }
void doubles_product(const DoubleProduct *o) { CHOOSE(doubles) }

typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__clang__)
#define PICK __builtin_shufflevector
#else
typedef int EightPlaces __attribute__((vector_size(32)));
#define PICK(x, y, ...) __builtin_shuffle(x, y, (EightPlaces){__VA_ARGS__})
#endif

/* 8 x 8 in three rounds of exchanges between rows 1, 2 and 4 apart */
CLONES static void turn_blocks(const float *from, npy_intp rows, npy_intp columns, npy_intp step, float *to, npy_intp apart) {
    for (npy_intp i = 0; i < rows; i += 8)
        for (npy_intp j = 0; j < columns; j += 8) {
            const float *a = from + i * step + j;
            float *b = to + j * apart + i;
            Eight x[8], y[8];
#pragma GCC unroll 8
            for (int r = 0; r < 8; r++) x[r] = *(const Eight *)(a + r * step);
#pragma GCC unroll 4
            for (int r = 0; r < 8; r += 2) {
                y[r] = PICK(x[r], x[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
                y[r + 1] = PICK(x[r], x[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
            }
#pragma GCC unroll 4
            for (int r = 0; r < 8; r += r % 4 == 1 ? 3 : 1) {
                x[r] = PICK(y[r], y[r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
                x[r + 2] = PICK(y[r], y[r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
            }
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++) {
                *(Eight *)(b + r * apart) = PICK(x[r], x[r + 4], 0, 1, 2, 3, 8, 9, 10, 11);
                *(Eight *)(b + (r + 4) * apart) = PICK(x[r], x[r + 4], 4, 5, 6, 7, 12, 13, 14, 15);
            }
        }
}

void floats_turn(const float *from, npy_intp rows, npy_intp columns, npy_intp step, float *to, npy_intp apart) {
    const npy_intp r = rows / 8 * 8, c = columns / 8 * 8;
    turn_blocks(from, r, c, step, to, apart);
    for (npy_intp i = 0; i < rows; i++)
        for (npy_intp j = i < r ? c : 0; j < columns; j++) to[j * apart + i] = from[i * step + j];
}

void doubles_turn(const double *from, npy_intp rows, npy_intp columns, npy_intp step, double *to, npy_intp apart) {
    for (npy_intp i = 0; i < rows; i++)
        for (npy_intp j = 0; j < columns; j++) to[j * apart + i] = from[i * step + j];
}
#endif

/* vectors(generation) -> the one in use from now on: at most that asked for (4, 3 or 1) and what the processor has */
KERNEL(vectors, 1)
    const long wanted = PyLong_AsLong(args[0]);
    if (PyErr_Occurred()) return NULL;
#if HAS_PRODUCTS && defined(__x86_64__)
    found = 0;
    if (wanted < generation()) found = wanted >= 3 ? 3 : 1;
    return PyLong_FromLong(found);
#else
    (void)wanted;
    return PyLong_FromLong(1);
#endif
END
