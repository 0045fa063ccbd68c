/* How windows lie over two spatial dims. */

#ifndef RETROGRAD_WINDOWS_H
#define RETROGRAD_WINDOWS_H
#include "kernel.h"

/* N planes groups of C, sizes of x, kernel, stride, padding, dilation, out: down, then right */
typedef struct {
    npy_intp n, c, h, w, kh, kw, sh, sw, ph, pw, dh, dw, oh, ow;
} Windows;

/* The columns j for which 0 <= j * stride + at < size, as [first, stop). */
static inline void span(npy_intp size, npy_intp stride, npy_intp at, npy_intp out, npy_intp *first, npy_intp *stop) {
    *first = at >= 0 ? 0 : (-at + stride - 1) / stride;
    *stop = size - 1 < at ? 0 : (size - 1 - at) / stride + 1;
    if (*stop > out) *stop = out;
    if (*first > *stop) *first = *stop;
}

/* Pairs (down, right), one after the other in `pairs`: sizes of x, kernel, stride, padding, dilation, out.
   0 for what is no tuple of 12 numbers, of which none is negative, no step is 0 and no place in x may overflow. */
static inline int windows_of(PyObject *pairs, Windows *o) {
    npy_intp *into[12] = {&o->h, &o->w, &o->kh, &o->kw, &o->sh, &o->sw, &o->ph, &o->pw, &o->dh, &o->dw, &o->oh, &o->ow};
    if (!PyTuple_CheckExact(pairs) || PyTuple_GET_SIZE(pairs) != 12) return 0;
    for (int i = 0; i < 12; i++)
        if (!whole(PyTuple_GET_ITEM(pairs, i), into[i]) || *into[i] < 0) return 0;
    const double down = (double)o->kh * o->dh + (double)o->oh * o->sh + o->ph + o->h;
    const double right = (double)o->kw * o->dw + (double)o->ow * o->sw + o->pw + o->w;
    return o->sh && o->sw && o->dh && o->dw && down * (o->w + 1.0) + right < 0x1p62;
}
#endif
