"""L-BFGS (Nocedal and Wright 2006, algorithms 7.4 and 3.5/3.6), in the form of Schmidt's minFunc as PyTorch has it."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.modes import hush, unhush
from .._engine.tensor import TensorBase, bump, wrap
from ..autograd.grad_mode import enable_grad, no_grad
from .optimizer import Optimizer, check_lr

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last history_size gradients; all parameters in one group.

    lr                step length, of the first trial with line_search_fn="strong_wolfe"
    max_iter          iterations per step(); max_eval calls of the closure (default max_iter * 5 // 4)
    tolerance_grad    stop when no gradient element is larger; tolerance_change: no change, of loss or parameters
    https://pytorch.org/docs/stable/generated/torch.optim.LBFGS.html
    """

    def __init__(
        self, params: Any, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Any]:
        params: list[Any] = self.param_groups[0]["params"]
        return params

    @no_grad()
    def step(self, closure: Any) -> Any:  # type: ignore[override]  # it needs one
        """Up to max_iter iterations; the closure recomputes the loss and calls backward(); -> the first loss."""
        closure = enable_grad()(closure)
        token = hush()
        try:
            return self._minimise(closure)
        finally:
            unhush(token)

    def _minimise(self, closure: Any) -> Any:
        group = self.param_groups[0]
        lr, history = _number(group["lr"]), group["history_size"]
        max_iter, max_eval, tiny = group["max_iter"], group["max_eval"], group["tolerance_change"]
        search = group["line_search_fn"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = float(first)
        evals = 1
        state["func_evals"] += 1
        g = self._gradient()
        if _largest(g) <= group["tolerance_grad"]:
            return first
        d, t = _array(state.get("d")), _number(state.get("t"))
        ys, ss, ro = state.get("old_dirs"), state.get("old_stps"), state.get("ro")      # lists, which grow where they are
        scale, g_before = _number(state.get("H_diag")), state.get("prev_flat_grad")
        loss_before = state.get("prev_loss")
        for n in range(1, max_iter + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, ys, ss, ro, scale = -g, [], [], [], 1
            elif g_before is None:              # the first step failed
                raise TypeError("sub(): argument 'other' (position 1) must be Tensor, not NoneType")
            else:
                y, s = g - g_before.array, np.asarray(d * t, d.dtype)
                curvature = y.dot(s)
                if curvature > 1e-10:
                    if len(ys) == history:
                        for kept in (ys, ss, ro):
                            kept.pop(0)
                    for kept, new in zip((ys, ss, ro), (y, s, 1.0 / curvature)):
                        kept.append(_tensor(new))
                    scale = curvature / y.dot(y)
                d = _two_loops(g, ys, ss, ro, scale, state.setdefault("al", [None] * history))
            if g_before is None:
                g_before = wrap(g.copy())
            else:
                np.copyto(g_before.array, g)
                bump(g_before)
            loss_before = loss
            t = min(1.0, 1.0 / np.abs(g).sum()) * lr if state["n_iter"] == 1 else lr
            slope = g.dot(d)
            if slope > -tiny:
                break
            used = 0
            if search is not None:
                if search != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                line = Line(self, closure, d)
                loss, g, t, used = strong_wolfe(line, t, loss, g, slope, max_eval - evals)
                self._move(t, d)
            else:
                self._move(t, d)
                if n != max_iter:
                    loss = float(closure())
                    g = self._gradient()
                    used = 1
            flat = _largest(g) <= group["tolerance_grad"]
            evals += used
            state["func_evals"] += used
            if evals >= max_eval or flat or _largest(d * t) <= tiny or abs(loss - loss_before) < tiny:
                break
        state.update(
            d=_tensor(d), t=_tensor(t), old_dirs=ys, old_stps=ss, ro=ro, H_diag=_tensor(scale), prev_flat_grad=g_before,
            prev_loss=loss_before)
        return first

    def _gradient(self) -> Any:
        """All gradients in one row, complex ones as their parts, zeros where there is none."""
        return np.concatenate([
            parts(np.zeros(p.array.size, p.array.dtype) if p.grad is None else p.grad.array) for p in self._params])

    def _move(self, t: Any, d: Any) -> None:
        """Add t * d to the parameters."""
        at = 0
        for p in self._params:
            n = p.array.size * (2 if p.array.dtype.kind == "c" else 1)
            move = d[at:at + n] * t
            p.array += (move if n == p.array.size else move.view(np.result_type(move, 1j))).reshape(p.array.shape)
            bump(p)
            at += n


class Line:
    """The loss and its gradient along the direction d from the current parameters."""

    def __init__(self, owner: LBFGS, closure: Any, d: Any) -> None:
        self.owner = owner
        self.closure = closure
        self.d = d
        self.start = [p.array.copy() for p in owner._params]

    def at(self, t: Any) -> tuple[float, Any]:
        self.owner._move(t, self.d)
        loss = float(self.closure())
        g = self.owner._gradient()
        for p, x in zip(self.owner._params, self.start):
            np.copyto(p.array, x)
            bump(p)
        return loss, g


class Trial:
    """A point of the line: step t, loss f, gradient g, slope s along the line."""

    def __init__(self, t: Any, f: float, g: Any, s: Any) -> None:
        self.t = t
        self.f = f
        self.g = g
        self.s = s


def strong_wolfe(line: Line, t: Any, f: float, g: Any, slope: Any, most: int) -> tuple[float, Any, Any, int]:
    """A step that satisfies the strong Wolfe conditions (c1 = 1e-4, c2 = 0.9), if `most` evaluations find one.

    -> loss, gradient, step, evaluations
    """
    reach = _largest(line.d)

    def trial(at: Any) -> Trial:
        loss, gradient = line.at(at)
        return Trial(at, loss, gradient, gradient.dot(line.d))

    def high(x: Trial) -> bool:
        return bool(x.f > f + 1e-4 * x.t * slope)

    def fits(x: Trial) -> bool:
        return bool(abs(x.s) <= -0.9 * slope)

    start = before = Trial(0, f, g, slope)
    now = trial(t)
    evals, tries = 1, 0
    done = False
    while tries < most:                         # until an interval holds a minimum
        if high(now) or (tries > 1 and now.f >= before.f) or (not fits(now) and now.s >= 0):
            break
        if fits(now):
            done = True
            break
        t = interpolate(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now = now, trial(t)
        evals += 1
        tries += 1
    if done:
        return now.f, now.g, now.t, evals
    pair = [start if tries == most else before, now]
    stuck = False
    low = 0 if pair[0].f <= pair[1].f else 1
    while tries < most:                         # until the interval is small
        left, right = min(pair[0].t, pair[1].t), max(pair[0].t, pair[1].t)
        if (right - left) * reach < 1e-9:
            break
        t = interpolate(pair[0], pair[1], left, right)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:   # near an end: once may happen, then keep off
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        now = trial(t)
        evals += 1
        tries += 1
        if high(now) or now.f >= pair[low].f:
            pair[1 - low] = now
            low = 0 if pair[0].f <= pair[1].f else 1
            continue
        done = fits(now)
        if not done and now.s * (pair[1 - low].t - pair[low].t) >= 0:
            pair[1 - low] = pair[low]
        pair[low] = now
        if done:
            break
    best = pair[low]
    return best.f, best.g, best.t, evals


def interpolate(a: Trial, b: Trial, least: Any, most: Any) -> Any:
    """The minimum of the cubic through both points with their slopes, within [least, most]; otherwise the middle."""
    d1 = a.s + b.s - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1**2 - a.s * b.s
    if not square >= 0:
        return (least + most) / 2.0
    root = np.sqrt(square)
    if a.t <= b.t:
        at = b.t - (b.t - a.t) * ((b.s + root - d1) / (b.s - a.s + 2 * root))
    else:
        at = a.t - (a.t - b.t) * ((a.s + root - d1) / (a.s - b.s + 2 * root))
    return min(max(at, least), most)


def parts(a: Any) -> Any:
    """A row of real numbers; for complex ones, both parts one after the other."""
    row = a.reshape(-1)
    return row.view(row.real.dtype) if row.dtype.kind == "c" else row


def _two_loops(g: Any, ys: list[Any], ss: list[Any], ro: list[Any], scale: Any, al: list[Any]) -> Any:
    """-H g, H the inverse Hessian estimated from the changes ys of the gradient over the steps ss.

    al: the first loop's factors, which are part of the state.
    """
    q = -g
    for i in reversed(range(len(ys))):
        factor = ss[i].array.dot(q) * ro[i].array[()]
        al[i] = wrap(np.asarray(factor))
        q -= ys[i].array * factor
    q *= scale
    for i in range(len(ys)):
        q += ss[i].array * (al[i].array - ys[i].array.dot(q) * ro[i].array[()])
    return q


def _largest(a: Any) -> Any:
    """The largest magnitude."""
    if not a.size:
        raise RuntimeError("max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
                           "the 'dim' argument.")
    return np.abs(a).max()


# The state keeps tensors where PyTorch's arithmetic makes them: here those are arrays, or NumPy's numbers.

def _array(x: Any) -> Any:
    return x.array if isinstance(x, TensorBase) else x


def _number(x: Any) -> Any:
    """The number in a tensor of one element."""
    return x.array.reshape(())[()] if isinstance(x, TensorBase) else x


def _tensor(x: Any) -> Any:
    return wrap(np.asarray(x)) if isinstance(x, (np.ndarray, np.generic)) else x
