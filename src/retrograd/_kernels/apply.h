/* Functions applied to every element of one, two or three arrays of one shape. */

#ifndef RETROGRAD_APPLY_H
#define RETROGRAD_APPLY_H
#include "kernel.h"

enum { PARAMETERS = 4, BLOCK = 512 };

typedef void (*Loop)(const void *a, const void *b, const void *c, const double *p, void *y, npy_intp n);

/* A loop over elements u of a, v of b, w of c, with parameters p0 ... p3 of their type. */
#define MAP(T, NAME, ...)                                                                                             \
    CLONES static void NAME(const void *pa, const void *pb, const void *pc, const double *p, void *py, npy_intp n) {  \
        const T *a = pa, *b = pb ? pb : pa, *c = pc ? pc : pa;                                                        \
        T *restrict y = py;                                                                                           \
        const T p0 = (T)p[0], p1 = (T)p[1], p2 = (T)p[2], p3 = (T)p[3];                                               \
        (void)p0, (void)p1, (void)p2, (void)p3;                                                                       \
        SIMD for (npy_intp i = 0; i < n; i++) {                                                                       \
            const T u = a[i], v = b[i], w = c[i];                                                                     \
            (void)v, (void)w;                                                                                         \
            y[i] = (T)(__VA_ARGS__);                                                                                  \
        }                                                                                                             \
    }

PyObject *apply(PyObject *a, PyObject *b, PyObject *c, const double *p, Loop floats, Loop doubles);    /* apply.c */
PyObject *apply_into(PyObject *out, PyObject *a, PyObject *b, PyObject *c, const double *p, Loop floats, Loop doubles);
int numbers(PyObject *const *args, int count, double *p);

#define NOTHING ((const double[PARAMETERS]){0})

/* A kernel of one array and `extra` numbers. */
#define ONE(name, extra)                                                  \
    KERNEL(name, 1 + extra)                                               \
        double p[PARAMETERS] = {0};                                       \
        if (!numbers(args + 1, extra, p)) Py_RETURN_NONE;                 \
        return apply(args[0], NULL, NULL, p, floats_##name, doubles_##name); \
    END

/* A kernel of two arrays, or an array and a number, and `extra` numbers. */
#define TWO(name, extra)                                                     \
    KERNEL(name, 2 + extra)                                                  \
        double p[PARAMETERS] = {0};                                          \
        if (!numbers(args + 2, extra, p)) Py_RETURN_NONE;                    \
        return apply(args[0], args[1], NULL, p, floats_##name, doubles_##name); \
    END

/* A kernel of three arrays and `extra` numbers. */
#define THREE(name, extra)                                                      \
    KERNEL(name, 3 + extra)                                                     \
        double p[PARAMETERS] = {0};                                             \
        if (!numbers(args + 3, extra, p)) Py_RETURN_NONE;                       \
        return apply(args[0], args[1], args[2], p, floats_##name, doubles_##name); \
    END

#define NO_DOUBLES(name) static const Loop doubles_##name = NULL;
#define BOTH(name, ...) MAP(float, floats_##name, __VA_ARGS__) MAP(double, doubles_##name, __VA_ARGS__)
#define SINGLE(name, ...) MAP(float, floats_##name, __VA_ARGS__) NO_DOUBLES(name)
#endif
