"""One layer of an LSTM over all its steps, as one node.   T steps, B batch, H hidden

Hochreiter and Schmidhuber 1997, with forget gates (Gers, Schmidhuber and Cummins 2000).
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.tensor import TensorBase
from .._kernels import kernel

np: Final[Any] = numpy
quick_layer: Final[Any] = kernel("lstm")
quick_grad: Final[Any] = kernel("lstm_grad")


def sigmoid_of(x: Array) -> Array:
    return 1.0 / (np.exp(-x) + 1.0)


@final
class MkldnnRnnLayerBackward0(Nary):
    """xs: what the inputs give the gates (T, B, 4 H), w (4 H, H), b (4 H,) or None, h and c at the start (B, H).

    y (T + 1, B, H): h after each step, then the last c.  Gates lie in the order input, forget, cell, output.
    """

    holds: bool = True
    lends = False
    names: ClassVar[Any] = {"input": 0, "weight1": 1, "hx_": 3, "cx_tmp": 4, "result0": "y"}

    def __init__(self) -> None:
        super().__init__()
        self.gates: Array = None                # i, f, g, o of every step (T, B, 4 H)
        self.cells: Array = None                # c at the start and after every step (T + 1, B, H)

    def drop(self) -> None:
        self.gates = None
        self.cells = None

    def forward(self, xs: list[Array]) -> Array:
        x = xs[0]
        quick = quick_layer(x, xs[1], xs[2], xs[3], xs[4])
        if quick is not None:
            y, self.gates, self.cells = quick
            return y
        steps, batch, four = x.shape
        n: int = four // 4
        gates = np.array(x, order="C")
        if xs[2] is not None:
            gates += xs[2]
        cells = np.empty((steps + 1, batch, n), x.dtype)
        cells[0] = xs[4]
        y = np.empty((steps + 1, batch, n), x.dtype)
        h = xs[3]
        turned = xs[1].T
        for t in range(steps):
            g = gates[t]
            g += h @ turned
            h = y[t]
            g[:, :2 * n] = sigmoid_of(g[:, :2 * n])
            g[:, 2 * n:3 * n] = np.tanh(g[:, 2 * n:3 * n])
            g[:, 3 * n:] = sigmoid_of(g[:, 3 * n:])
            cells[t + 1] = g[:, n:2 * n] * cells[t] + g[:, :n] * g[:, 2 * n:3 * n]
            h[...] = g[:, 3 * n:] * np.tanh(cells[t + 1])
        y[steps] = cells[steps]
        self.gates = gates
        self.cells = cells
        return y

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        if isinstance(g, TensorBase) or isinstance(y, TensorBase):
            return self.grads_by_ops(g, xs)
        out, dh, dc = self.back(g, xs[1])
        found: list[Value] = [out, None, None, dh, dc]
        steps, batch, four = out.shape
        flat = out.reshape(steps * batch, four)
        if want[1]:
            before = np.concatenate([xs[3][None], y[:steps - 1]]).reshape(steps * batch, four // 4)
            found[1] = linalg.product(flat.T, before, "mm")
        if want[2]:
            found[2] = reduce.total(flat, (0,), False, None)
        return found

    def back(self, g: Array, w: Array) -> Any:
        """The gradients of the gates before their functions, and of h and c at the start."""
        quick = quick_grad(np.ascontiguousarray(g), w, self.gates, self.cells)
        if quick is not None:
            return quick
        steps, batch, n = self.cells.shape
        steps -= 1
        out = np.empty(self.gates.shape, self.gates.dtype)
        dc = np.array(g[steps])
        dh = np.array(g[steps - 1])
        for t in range(steps - 1, -1, -1):
            i, f, c, o = [self.gates[t][:, k * n:(k + 1) * n] for k in range(4)]
            tanh = np.tanh(self.cells[t + 1])
            dc += dh * o * (1 - tanh * tanh)
            out[t][:, :n] = dc * c * (i * (1 - i))
            out[t][:, n:2 * n] = dc * self.cells[t] * (f * (1 - f))
            out[t][:, 2 * n:3 * n] = dc * i * (1 - c * c)
            out[t][:, 3 * n:] = dh * tanh * (o * (1 - o))
            dc *= f
            dh = out[t] @ w
            if t:
                dh += g[t - 1]
        return out, dh, dc

    def grads_by_ops(self, g: Value, xs: list[Value]) -> list[Value]:
        """The same from the inputs, by ops that can be differentiated again."""
        x = xs[0]
        w = xs[1]
        steps, batch, four = linalg.sizes(x)
        n = four // 4
        h = xs[3]
        c = xs[4]
        hs: list[Value] = []
        cs: list[Value] = [c]
        parts: list[list[Value]] = []
        for t in range(steps):
            hs.append(h)
            gate = slices.take(x, (t,)) + linalg.mm(h, shape.t(w))
            if xs[2] is not None:
                gate = gate + xs[2]
            i, f, u, o = [slices.take(gate, (slice(None), slice(k * n, (k + 1) * n))) for k in range(4)]
            i = pointwise.sigmoid(i)
            f = pointwise.sigmoid(f)
            u = pointwise.tanh(u)
            o = pointwise.sigmoid(o)
            c = f * c + i * u
            h = o * pointwise.tanh(c)
            cs.append(c)
            parts.append([i, f, u, o])
        outs: list[Value] = []
        dc = slices.take(g, (steps,))
        dh: Value = None
        dw: Value = None
        for t in range(steps - 1, -1, -1):
            dh = slices.take(g, (t,)) if dh is None else dh + slices.take(g, (t,))
            i, f, u, o = parts[t]
            tanh = pointwise.tanh(cs[t + 1])
            dc = dc + dh * o * (1 - tanh * tanh)
            gate = join.cat([
                dc * u * (i * (1 - i)), dc * cs[t] * (f * (1 - f)), dc * i * (1 - u * u), dh * tanh * (o * (1 - o))], 1)
            outs.append(gate)
            each = linalg.mm(shape.t(gate), hs[t])
            dw = each if dw is None else dw + each
            dh = linalg.mm(gate, w)
            dc = dc * f
        outs.reverse()
        out = join.stack(outs, 0)
        return [out, dw, None if xs[2] is None else reduce.sum_dims(out, (0, 1), False), dh, dc]


def lstm(x: Value, w: Value, b: Value, h: Value, c: Value) -> Value:
    """y as above; at least one step"""
    return MkldnnRnnLayerBackward0().run([x, w, b, h, c])


from . import join, linalg, pointwise, reduce, shape, slices  # noqa: E402
