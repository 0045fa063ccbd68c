/* c = a b, or c = from + a b, by tiles that stay in registers: included by gemm.c for each element type T and each
   generation of processors, which sets LANES (elements of a vector), MR and NV (a tile: MR rows of NV vectors), KIND,
   ARGUMENTS and TARGET.   m rows, n columns, k terms */

#define NAME(x) GLUE(KIND, x)
#define V NAME(vector)
#define TILE NAME(tile)
#define ROWS NAME(rows)

typedef T V __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));

TARGET static inline __attribute__((always_inline)) void TILE(
    const int mr, const int nv, npy_intp k, const T *a, npy_intp am, npy_intp ak, const T *b, npy_intp bk,
    const T *from, npy_intp fm, npy_intp fn, T *c, npy_intp cm) {
    V sums[MR][NV];
#pragma GCC unroll 8
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++)
            if (from == NULL) sums[i][j] = (V){0};
            else if (fn) sums[i][j] = *(const V *)(from + i * fm + j * LANES);
            else sums[i][j] = from[i * fm] - (V){0};
    for (npy_intp p = 0; p < k; p++, a += ak, b += bk) {
        V row[NV];
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) row[j] = *(const V *)(b + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < mr; i++) {
            const T x = a[i * am];
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) sums[i][j] += x * row[j];
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) *(V *)(c + i * cm + j * LANES) = sums[i][j];
}

/* mr rows of all columns from j on, nv vectors wide; a last vector that is not full goes by way of `spare`. */
TARGET static inline __attribute__((always_inline)) void ROWS(
    const int mr, const int nv, npy_intp width, npy_intp k, const T *a, npy_intp am, npy_intp ak, const T *b, npy_intp bk,
    const T *from, npy_intp fm, npy_intp fn, T *c, npy_intp cm) {
    if (width >= nv * LANES) {
        TILE(mr, nv, k, a, am, ak, b, bk, from, fm, fn, c, cm);
        return;
    }
    T spare[MR * NV * LANES], before[MR * NV * LANES];
    if (from != NULL && fn) {
        for (int i = 0; i < mr; i++)
            for (int j = 0; j < nv * LANES; j++) before[i * nv * LANES + j] = j < width ? from[i * fm + j] : 0;
        from = before, fm = nv * LANES;
    }
    TILE(mr, nv, k, a, am, ak, b, bk, from, fm, fn, spare, nv * LANES);
    for (int i = 0; i < mr; i++) memcpy(c + i * cm, spare + i * nv * LANES, sizeof(T) * width);
}

TARGET static void NAME(product)(const ARGUMENTS *o) {
    for (npy_intp start = 0; start < o->k || start == 0; start += TERMS) {
        const npy_intp k = o->k - start < TERMS ? o->k - start : TERMS;
        const T *first = start ? o->c : o->from;
        const npy_intp fm = start ? o->cm : o->fm, fn = start ? 1 : o->fn;
        for (npy_intp top = 0; top < o->m; top += HEIGHT)
            for (npy_intp j = 0; j < o->n; j += NV * LANES) {
                const npy_intp width = o->n - j, end = o->m - top < HEIGHT ? o->m : top + HEIGHT;
                const T *b = o->b + start * o->bk + j;
                for (npy_intp i = top; i < end;) {
                    const npy_intp rows = end - i;
                    const T *a = o->a + i * o->am + start * o->ak, *from = first ? first + i * fm + j * fn : NULL;
                    T *c = o->c + i * o->cm + j;
#define TAKE(mr, nv) ROWS(mr, nv, width, k, a, o->am, o->ak, b, o->bk, from, fm, fn, c, o->cm)
#define WIDE(mr)                                                      \
    {                                                                 \
        if (NV > 2 && width > 2 * LANES) TAKE(mr, NV);                \
        else if (NV > 1 && width > LANES) TAKE(mr, (NV > 1 ? 2 : 1)); \
        else TAKE(mr, 1);                                             \
        i += mr;                                                      \
    }
                    if (rows >= MR) WIDE(MR)
                    else if (MR > 4 && rows >= 4) WIDE(4)
                    else if (rows >= 2) WIDE(2)
                    else WIDE(1)
#undef WIDE
#undef TAKE
                }
            }
    }
}
#undef NAME
#undef V
#undef TILE
#undef ROWS
#undef T
#undef LANES
#undef KIND
#undef ARGUMENTS
