/* What follows a draw of random numbers; float32. */

#include "kernel.h"
#include "kernels.h"

CLONES static void loop_keep(float *restrict u, float p, float scale, npy_intp n) {
    SIMD for (npy_intp i = 0; i < n; i++) u[i] = u[i] < p ? scale : 0;
}

/* keep(u, p, scale) -> did it: each of u becomes `scale` where it is less than p, else 0 */
KERNEL(keep, 3)
    if (kind_of(args[0]) != NPY_FLOAT || !PyArray_ISWRITEABLE(ARRAY(args[0]))) Py_RETURN_FALSE;
    const float p = (float)PyFloat_AsDouble(args[1]), scale = (float)PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred()) return NULL;
    const npy_intp n = PyArray_SIZE(ARRAY(args[0]));
    WITHOUT_GIL(n, loop_keep(DATA(args[0]), p, scale, n));
    Py_RETURN_TRUE;
END
