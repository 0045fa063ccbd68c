/* The gates of one step of an LSTM, and their gradient; float32.   B batch, H hidden */

#include "kernel.h"
#include "kernels.h"

CLONES static void loop_step(float *restrict gates, const float *restrict h_part, const float *restrict before,
                             float *restrict c, float *restrict h, npy_intp batch, npy_intp n) {
    for (npy_intp b = 0; b < batch; b++, gates += 4 * n, h_part += 4 * n, before += n, c += n, h += n) {
        SIMD for (npy_intp j = 0; j < n; j++) {
            const float i = sigmoid_of(gates[j] + h_part[j]), f = sigmoid_of(gates[n + j] + h_part[n + j]);
            const float g = tanh_of(gates[2 * n + j] + h_part[2 * n + j]);
            const float o = sigmoid_of(gates[3 * n + j] + h_part[3 * n + j]);
            gates[j] = i;
            gates[n + j] = f;
            gates[2 * n + j] = g;
            gates[3 * n + j] = o;
            c[j] = f * before[j] + i * g;
            h[j] = o * tanh_of(c[j]);
        }
    }
}

CLONES static void loop_back(const float *restrict gates, const float *restrict before, const float *restrict c,
                             const float *restrict dh, float *restrict dc, float *restrict out, npy_intp batch,
                             npy_intp n) {
    for (npy_intp b = 0; b < batch; b++, gates += 4 * n, before += n, c += n, dh += n, dc += n, out += 4 * n) {
        SIMD for (npy_intp j = 0; j < n; j++) {
            const float i = gates[j], f = gates[n + j], g = gates[2 * n + j], o = gates[3 * n + j];
            const float t = tanh_of(c[j]), d = dc[j] + dh[j] * o * (1 - t * t);
            out[j] = d * g * (i * (1 - i));
            out[n + j] = d * before[j] * (f * (1 - f));
            out[2 * n + j] = d * i * (1 - g * g);
            out[3 * n + j] = dh[j] * t * (o * (1 - o));
            dc[j] = d * f;
        }
    }
}

/* Arrays of ours, float32: those at `wide` are (B, 4 H), the others (B, H); those at `written` may be written to. */
static int fit_for_cell(PyObject *const *args, int count, unsigned wide, unsigned written, npy_intp *b, npy_intp *h) {
    for (int i = 0; i < count; i++) {
        if (kind_of(args[i]) != NPY_FLOAT || PyArray_NDIM(ARRAY(args[i])) != 2) return 0;
        npy_intp rows = PyArray_DIM(ARRAY(args[i]), 0), columns = PyArray_DIM(ARRAY(args[i]), 1);
        if (wide >> i & 1) {
            if (columns % 4) return 0;
            columns /= 4;
        }
        if (i == 0) *b = rows, *h = columns;
        if (rows != *b || columns != *h) return 0;
        if (written >> i & 1 && !PyArray_ISWRITEABLE(ARRAY(args[i]))) return 0;
        for (int j = 0; j < i; j++)
            if ((written >> i | written >> j) & 1 && rows > 0 && columns > 0 && !apart(args[i], args[j])) return 0;
    }
    return 1;
}

/* lstm_step(gates (B, 4 H), what h adds to them (B, 4 H), c before, c, h) -> did it
   gates, before their functions, become i f g o after them; c and h are written */
KERNEL(lstm_step, 5)
    npy_intp b = 0, h = 0;
    if (!fit_for_cell(args, 5, 3, 1 | 8 | 16, &b, &h)) Py_RETURN_FALSE;
    WITHOUT_GIL(b * h * 4, loop_step(DATA(args[0]), DATA(args[1]), DATA(args[2]), DATA(args[3]), DATA(args[4]), b, h));
    Py_RETURN_TRUE;
END

/* lstm_step_grad(i f g o (B, 4 H), c before, c, gradient of h, gradient of c, out (B, 4 H)) -> did it
   out: the gradient of the gates before their functions; the gradient of c becomes that of c before */
KERNEL(lstm_step_grad, 6)
    npy_intp b = 0, h = 0;
    if (!fit_for_cell(args, 6, 1 | 32, 16 | 32, &b, &h)) Py_RETURN_FALSE;
    WITHOUT_GIL(b * h * 4, loop_back(DATA(args[0]), DATA(args[1]), DATA(args[2]), DATA(args[3]), DATA(args[4]),
                                     DATA(args[5]), b, h));
    Py_RETURN_TRUE;
END
