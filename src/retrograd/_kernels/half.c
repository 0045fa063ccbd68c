/* float32 to half precision and back, by the processor's own instructions where it has them: NumPy's loops take a number at a
   time. */

#include "kernel.h"
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx,f16c"))) static void to_halves(const float *x, uint16_t *y, npy_intp n) {
    npy_intp i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) y[i] = (uint16_t)_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(x[i]), _MM_FROUND_TO_NEAREST_INT), 0);
}

__attribute__((target("avx,f16c"))) static void from_halves(const uint16_t *x, float *y, npy_intp n) {
    npy_intp i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
    for (; i < n; i++) y[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(x[i])));
}
#define HALVES __builtin_cpu_supports("avx2") /* those all have F16C, which not every compiler can be asked for */
#else
static void to_halves(const float *x, uint16_t *y, npy_intp n) { (void)x, (void)y, (void)n; }
static void from_halves(const uint16_t *x, float *y, npy_intp n) { (void)x, (void)y, (void)n; }
#define HALVES 0
#endif

/* halves(x) -> float16 of float32, float32 of float16 */
KERNEL(halves, 1)
    PyObject *x = args[0];
    if (!HALVES || !PyArray_CheckExact(x) || !PyArray_ISCARRAY_RO(ARRAY(x))) Py_RETURN_NONE;
    int type = PyArray_TYPE(ARRAY(x));
    if (type != NPY_FLOAT && type != NPY_HALF) Py_RETURN_NONE;
    PyObject *y = PyArray_SimpleNew(PyArray_NDIM(ARRAY(x)), PyArray_DIMS(ARRAY(x)), type == NPY_FLOAT ? NPY_HALF : NPY_FLOAT);
    if (y == NULL) return NULL;
    npy_intp n = PyArray_SIZE(ARRAY(x));
    if (type == NPY_FLOAT) WITHOUT_GIL(n, to_halves(DATA(x), DATA(y), n));
    else WITHOUT_GIL(n, from_halves(DATA(x), DATA(y), n));
    return y;
END
