/* Random numbers as PyTorch's CPU generator draws them, from NumPy's Mersenne Twister (the capsule of its MT19937): draws.py
   has the same in Python.  Words come in blocks through NumPy's interface; what is made of a block are loops of their own. */

#include "kernel.h"
#include "kernels.h"
#include <numpy/random/bitgen.h>

#define BLOCK 512 /* numbers */

static bitgen_t *bits_of(PyObject *capsule) {
    return PyCapsule_IsValid(capsule, "BitGenerator") ? PyCapsule_GetPointer(capsule, "BitGenerator") : NULL;
}

static void words(bitgen_t *bits, uint32_t *out, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) out[i] = bits->next_uint32(bits->state);
}

static inline uint64_t word(bitgen_t *bits) { return bits->next_uint32(bits->state); }

/* The first word is the upper half. */
static inline uint64_t two_words(bitgen_t *bits) {
    uint64_t high = word(bits);
    return high << 32 | word(bits);
}

static inline double fraction(uint64_t x) { return (double)(int64_t)(x & ((UINT64_C(1) << 53) - 1)) * 0x1p-53; }

CLONES static void loop_singles(const uint32_t *restrict w, float *restrict out, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) out[i] = (float)(int32_t)(w[i] & 0xffffff) * 0x1p-24f;
}

CLONES static void loop_doubles(const uint32_t *restrict w, double *restrict out, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) { /* fraction() by conversions of 32 bits, all of them exact */
        const double high = (double)(int32_t)(w[2 * i] & 0x1fffff), low = (double)(int32_t)(w[2 * i + 1] ^ 0x80000000u);
        out[i] = (high * 0x1p32 + (low + 0x1p31)) * 0x1p-53;
    }
}

CLONES static void float_choose(const double *restrict u, float *restrict out, double p, float scale, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) out[i] = u[i] < p ? scale : 0;
}

CLONES static void double_choose(const double *restrict u, double *restrict out, double p, double scale, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) out[i] = u[i] < p ? scale : 0;
}

static void singles(bitgen_t *bits, float *out, npy_intp n) {
    uint32_t w[BLOCK];
    for (npy_intp i = 0; i < n; i += BLOCK) {
        const npy_intp m = n - i < BLOCK ? n - i : BLOCK;
        words(bits, w, m);
        loop_singles(w, out + i, m);
    }
}

static void doubles(bitgen_t *bits, double *out, npy_intp n) {
    uint32_t w[2 * BLOCK];
    for (npy_intp i = 0; i < n; i += BLOCK) {
        const npy_intp m = n - i < BLOCK ? n - i : BLOCK;
        words(bits, w, 2 * m);
        loop_doubles(w, out + i, m);
    }
}

static void choose(bitgen_t *bits, void *out, int type, double p, double scale, npy_intp n) {
    double u[BLOCK];
    for (npy_intp i = 0; i < n; i += BLOCK) {
        const npy_intp m = n - i < BLOCK ? n - i : BLOCK;
        doubles(bits, u, m);
        if (type == NPY_FLOAT) float_choose(u, (float *)out + i, p, (float)scale, m);
        else double_choose(u, (double *)out + i, p, scale, m);
    }
}

/* uniform(capsule, out) -> did it: out float32 or float64 becomes uniform in [0, 1) */
KERNEL(uniform, 2)
    bitgen_t *bits = bits_of(args[0]);
    const int type = kind_of(args[1]);
    if (bits == NULL || type < 0 || !PyArray_ISWRITEABLE(ARRAY(args[1]))) Py_RETURN_FALSE;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    void *out = DATA(args[1]);
    WITHOUT_GIL(n, type == NPY_FLOAT ? singles(bits, out, n) : doubles(bits, out, n));
    Py_RETURN_TRUE;
END

/* keep(capsule, out, p, scale) -> did it: each of out becomes `scale` with probability p, else 0 */
KERNEL(keep, 4)
    bitgen_t *bits = bits_of(args[0]);
    const int type = kind_of(args[1]);
    if (bits == NULL || type < 0 || !PyArray_ISWRITEABLE(ARRAY(args[1]))) Py_RETURN_FALSE;
    const double p = PyFloat_AsDouble(args[2]), scale = PyFloat_AsDouble(args[3]);
    if (PyErr_Occurred()) return NULL;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    WITHOUT_GIL(n, choose(bits, DATA(args[1]), type, p, scale, n));
    Py_RETURN_TRUE;
END

/* An int64 array of ours that may be written to? */
static int longs_of(PyObject *x) {
    return PyArray_CheckExact(x) && PyArray_TYPE(ARRAY(x)) == NPY_INT64 && PyArray_ISCARRAY(ARRAY(x));
}

/* range 0 stands for 2**64: the words as they are */
static void draw_integers(bitgen_t *bits, int64_t *out, npy_intp n, uint64_t range, int64_t low, int wide) {
    for (npy_intp i = 0; i < n; i++) {
        uint64_t x = wide ? two_words(bits) : word(bits);
        out[i] = (int64_t)(range ? x % range + (uint64_t)low : x);
    }
}

/* integers(capsule, out int64, range, low, wide) -> did it: out becomes integers in [low, low + range), of two words if wide */
KERNEL(integers, 5)
    bitgen_t *bits = bits_of(args[0]);
    if (bits == NULL || !longs_of(args[1])) Py_RETURN_FALSE;
    const uint64_t range = PyLong_AsUnsignedLongLongMask(args[2]);
    const int64_t low = PyLong_AsLongLong(args[3]);
    if (PyErr_Occurred()) return NULL;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    WITHOUT_GIL(n, draw_integers(bits, DATA(args[1]), n, range, low, args[4] == Py_True));
    Py_RETURN_TRUE;
END

/* The category of each row with the largest of weight / exponential number, as NumPy's argmax finds it; weights are numbers
   from 0 on, and some of each row are more. */
#define PICK(T, NAME)                                                                          \
    static int NAME##_fit(const T *w, npy_intp rows, npy_intp n) {                             \
        for (npy_intp r = 0; r < rows; r++, w += n) {                                          \
            T most = 0;                                                                        \
            for (npy_intp j = 0; j < n; j++) {                                                 \
                if (!(w[j] >= 0 && w[j] < INFINITY)) return 0;                                 \
                most = w[j] > most ? w[j] : most;                                              \
            }                                                                                  \
            if (!(most > 0)) return 0;                                                         \
        }                                                                                      \
        return 1;                                                                              \
    }                                                                                          \
    static void NAME##_pick(bitgen_t *bits, const T *w, npy_intp rows, npy_intp n, int64_t *y) { \
        for (npy_intp r = 0; r < rows; r++, w += n) {                                          \
            T most = 0;                                                                        \
            for (npy_intp j = 0; j < n; j++) {                                                 \
                const T key = w[j] / (T)-log1p(-fraction(two_words(bits)));                    \
                if (j == 0 || key > most || (key != key && most == most)) most = key, y[r] = j; \
            }                                                                                  \
        }                                                                                      \
    }

PICK(float, floats)
PICK(double, doubles)

/* pick(capsule, weights (N, C)) -> (N, 1) int64: a category of each row, drawn in proportion to its weights; None: not ours */
KERNEL(pick, 2)
    bitgen_t *bits = bits_of(args[0]);
    const int type = kind_of(args[1]);
    if (bits == NULL || type < 0 || PyArray_NDIM(ARRAY(args[1])) != 2 || PyArray_SIZE(ARRAY(args[1])) == 0) Py_RETURN_NONE;
    const npy_intp rows = PyArray_DIM(ARRAY(args[1]), 0), n = PyArray_DIM(ARRAY(args[1]), 1), all = rows * n;
    const void *w = DATA(args[1]);
    int fits;
    WITHOUT_GIL(all, fits = type == NPY_FLOAT ? floats_fit(w, rows, n) : doubles_fit(w, rows, n));
    if (!fits) Py_RETURN_NONE;
    npy_intp dims[2] = {rows, 1};
    PyObject *y = PyArray_SimpleNew(2, dims, NPY_INT64);
    if (y == NULL) return NULL;
    WITHOUT_GIL(all, type == NPY_FLOAT ? floats_pick(bits, w, rows, n, DATA(y)) : doubles_pick(bits, w, rows, n, DATA(y)));
    return y;
END

static void shuffle(bitgen_t *bits, int64_t *out, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) out[i] = i;
    for (npy_intp i = 0; i < n - 1; i++) {
        const npy_intp j = i + (npy_intp)(word(bits) % (uint64_t)(n - i));
        const int64_t x = out[i];
        out[i] = out[j], out[j] = x;
    }
}

/* permute(capsule, out int64) -> did it: out becomes 0 .. n-1 in random order */
KERNEL(permute, 2)
    bitgen_t *bits = bits_of(args[0]);
    if (bits == NULL || !longs_of(args[1])) Py_RETURN_FALSE;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    WITHOUT_GIL(n, shuffle(bits, DATA(args[1]), n));
    Py_RETURN_TRUE;
END

static inline double next_double(bitgen_t *bits) { return fraction(two_words(bits)); }

/* Transformed rejection (Hoermann 1993), for rates from 10 on */
static double large_poisson(bitgen_t *bits, double rate) {
    const double root = sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = next_double(bits) - 0.5, v = next_double(bits), s = 0.5 - fabs(u);
        const double k = floor((2 * a / s + b) * u + rate + 0.43);
        if (s >= 0.07 && v <= sure) return k;
        if (k < 0 || (s < 0.013 && v > s)) continue;
        if (log(v) + log(inverse) - log(a / (s * s) + b) <= -rate + k * log(rate) - lgamma(k + 1)) return k;
    }
}

static double small_poisson(bitgen_t *bits, double rate) {
    const double least = exp(-rate);
    double product = next_double(bits), k = 0;
    for (; product > least; k++) product *= next_double(bits);
    return k;
}

static void draw_poisson(bitgen_t *bits, const double *rates, double *out, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        const double rate = rates[i];                   /* read once: for an infinite one no draw is ever taken */
        out[i] = rate == 0 ? 0 : rate == INFINITY ? rate : (rate >= 10 ? large_poisson : small_poisson)(bits, rate);
    }
}

/* poisson(capsule, rates float64, out float64) -> did it: rates must be finite and not negative */
KERNEL(poisson, 3)
    bitgen_t *bits = bits_of(args[0]);
    if (bits == NULL || kind_of(args[1]) != NPY_DOUBLE || kind_of(args[2]) != NPY_DOUBLE || !same_shape(args[1], args[2])
        || !PyArray_ISWRITEABLE(ARRAY(args[2])) || !apart(args[1], args[2])) Py_RETURN_FALSE;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    WITHOUT_GIL(n, draw_poisson(bits, DATA(args[1]), DATA(args[2]), n));
    Py_RETURN_TRUE;
END

/* A standard normal number; spare: whether there is the second of the last pair, and which */
static double next_normal(bitgen_t *bits, double *spare) {
    if (spare[0] != 0) {
        spare[0] = 0;
        return spare[1];
    }
    const double angle = 2 * M_PI * next_double(bits), radius = sqrt(-2 * log1p(-next_double(bits)));
    spare[0] = 1, spare[1] = radius * sin(angle);
    return radius * cos(angle);
}

/* Marsaglia and Tsang 2000: of shape d + 1/3 */
static double next_gamma(bitgen_t *bits, double *spare, double d) {
    const double c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = next_normal(bits, spare), y = 1 + c * x;
        if (y <= 0) continue;
        const double v = y * y * y, u = 1 - next_double(bits), square = x * x;
        if (u < 1 - (double)0.0331f * square * square || log(u) < 0.5 * square + d * (1 - v + log(v))) return d * v;
    }
}

static void draw_gammas(bitgen_t *bits, const double *d, const double *powers, double *spare, double *out, npy_intp n) {
    for (npy_intp i = 0; i < n; i++) {
        const double centre = d[i], power = powers[i];  /* read once: around numbers below 0 no draw is ever taken */
        if (isinf(power) || !(centre > 0)) {
            out[i] = centre > 0 ? 0 : NAN;
            continue;
        }
        const double scale = power != 0 ? pow(1 - next_double(bits), power) : 1;
        out[i] = scale * next_gamma(bits, spare, centre);
    }
}

/* gammas(capsule, centres float64, powers, spare (2,), out) -> did it: draws.gammas */
KERNEL(gammas, 5)
    bitgen_t *bits = bits_of(args[0]);
    if (bits == NULL) Py_RETURN_FALSE;
    for (int i = 1; i < 5; i++)
        if (kind_of(args[i]) != NPY_DOUBLE || !PyArray_ISWRITEABLE(ARRAY(args[i])) || (i != 3 && !same_shape(args[i], args[1])))
            Py_RETURN_FALSE;
    if (PyArray_SIZE(ARRAY(args[3])) != 2 || !apart(args[3], args[4])) Py_RETURN_FALSE;
    for (int i = 1; i < 3; i++)
        if (!apart(args[i], args[3]) || !apart(args[i], args[4])) Py_RETURN_FALSE;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    WITHOUT_GIL(n, draw_gammas(bits, DATA(args[1]), DATA(args[2]), DATA(args[3]), DATA(args[4]), n));
    Py_RETURN_TRUE;
END

static double stirling_rest(double k) {
    const double m = k + 1;
    if (k <= 9) return lgamma(m) - (k + 0.5) * log(m) + m - 0.5 * log(2 * M_PI);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / (m * m)) / (m * m)) / m;
}

/* Transformed rejection (Hoermann 1993b), for n p from 10 on */
static double large_binomial(bitgen_t *bits, double n, double p) {
    const double spread = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double centre = n * p + 0.5, sure = 0.92 - 4.2 / b, odds = p / (1 - p);
    const double scale = (2.83 + 5.1 / b) * spread, mode = floor((n + 1) * p);
    const double top = (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + stirling_rest(mode) + stirling_rest(n - mode);
    for (;;) {
        const double u = next_double(bits) - 0.5, v = next_double(bits), s = 0.5 - fabs(u);
        const double k = floor((2 * a / s + b) * u + centre);
        if (s >= 0.07 && v <= sure) return k;
        if (k < 0 || k > n) continue;
        if (log(v * scale / (a / (s * s) + b))
            <= top + (n + 1) * log((n - mode + 1) / (n - k + 1)) + (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
                   - stirling_rest(k) - stirling_rest(n - k)) return k;
    }
}

/* How many geometric waiting times fit into n trials (Devroye 1986, X.4.3) */
static double small_binomial(bitgen_t *bits, double n, double p) {
    const double rate = log1p(-p);
    double waited = 0, k = 0;
    for (;; k++) {
        waited += ceil(log(next_double(bits)) / rate);
        if (waited > n) return k;
    }
}

static double successes(bitgen_t *bits, double n, double p) { return (n * p >= 10 ? large_binomial : small_binomial)(bits, n, p); }

static void draw_binomials(bitgen_t *bits, const double *n, const double *p, const double *q, double *out, npy_intp size) {
    for (npy_intp i = 0; i < size; i++) {
        const double trials = n[i], chance = p[i], other = q[i];        /* read once: waiting for what has no chance never ends */
        if (isnan(trials) || isnan(chance) || (chance > 0.5 && !(other >= 0 && other <= 0.5))) out[i] = NAN;
        else if (trials <= 0 || chance <= 0) out[i] = 0;
        else if (chance >= 1) out[i] = trials;
        else out[i] = chance <= 0.5 ? successes(bits, trials, chance) : trials - successes(bits, trials, other);
    }
}

/* binomials(capsule, counts float64, chances, 1 - chances, out) -> did it */
KERNEL(binomials, 5)
    bitgen_t *bits = bits_of(args[0]);
    if (bits == NULL) Py_RETURN_FALSE;
    for (int i = 1; i < 5; i++)
        if (kind_of(args[i]) != NPY_DOUBLE || !PyArray_ISWRITEABLE(ARRAY(args[i])) || !same_shape(args[i], args[1])
            || (i < 4 && kind_of(args[4]) == NPY_DOUBLE && !apart(args[i], args[4]))) Py_RETURN_FALSE;
    const npy_intp n = PyArray_SIZE(ARRAY(args[1]));
    WITHOUT_GIL(n, draw_binomials(bits, DATA(args[1]), DATA(args[2]), DATA(args[3]), DATA(args[4]), n));
    Py_RETURN_TRUE;
END
