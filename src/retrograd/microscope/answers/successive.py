"""What two successive steps have in common: cosines of their gradients and updates, and the gradient noise scale.

Noise scale: B_simple = tr(S) / |G|^2 of McCandlish et al. 2018 (arXiv:1812.06162), appendix A.1, from the norms of gradients of a
small and a large batch.  With gradient accumulation these are the first of the k batches of a step and all of them; without, one
step's batch and that of two successive steps, between which the weights hardly moved.
"""
from __future__ import annotations

from collections import deque
from math import sqrt
from typing import Any
from weakref import ref

import numpy as np

KEPT = 200              # looks whose squares are averaged


class Successive:
    """The gradients and updates of the step before, and what was found so far.

    found   dicts: step, grad_cosine and update_cosine with the step after it, squared_norm and trace of one estimate
    """

    def __init__(self, model: Any, engine: Any, batch: int | None) -> None:
        self.model, self.engine, self.batch = model, engine, batch
        self.size: int | None = batch                   # of a batch, as the model was given it
        self.pending: dict[int, Any] = {}               # optimizer -> (step, gradients, updates, rows, how much larger they came)
        self.first: dict[int, float] = {}               # parameter -> squares of the first gradient of the step
        self.sums: dict[int, tuple[int, float]] = {}    # parameter -> how many came, squares of their sum
        self.handles: list[Any] = []
        self.found: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def array(self, t: Any) -> Any:
        x = self.engine.here(t)
        x = self.engine.here(t.detach().cpu()) if x is None else x
        flat = x.ravel()
        return np.array(flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat, np.float64)

    # -- hearing

    def arm(self) -> None:
        self.handles = [p.register_post_accumulate_grad_hook(Summed(self)) for p in self.model.parameters() if p.requires_grad]
        if self.batch is None:
            self.handles.append(self.model.register_forward_pre_hook(Sized(self)))

    def disarm(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def forget(self, ps: list[Any]) -> None:
        """What came for these parameters: their step is over."""
        for p in ps:
            self.first.pop(id(p), None)
            self.sums.pop(id(p), None)

    def summed(self, p: Any) -> None:
        """A gradient was added to p.grad."""
        g = self.array(p.grad)
        squares = float(np.dot(g, g))
        self.first.setdefault(id(p), squares)
        self.sums[id(p)] = self.sums.get(id(p), (0, 0.0))[0] + 1, squares

    # -- a step

    def step(self, key: int, step: int, ps: list[Any], grads: list[Any], updates: list[Any], rows: dict[int, Any],
             look: bool, scale: float) -> None:
        """A step is over.  grads, updates: arrays   scale: that a GradScaler multiplied the gradients that came by"""
        came = sum(self.sums.get(id(p), (0, 0.0))[1] for p in ps) / scale ** 2
        now = sum(float(np.dot(g, g)) for g in grads if g is not None)
        larger = sqrt(came / now) if came and now else 1.0      # clipping makes them smaller
        before = self.pending.pop(key, None)
        times = max((self.sums.get(id(p), (0, 0.0))[0] for p in ps), default=0)
        whole: dict[str, Any] = {"step": step, "grad_cosine": None, "update_cosine": None, "squared_norm": None, "trace": None}
        if times > 1 and look and self.size:
            small = sum(self.first.get(id(p), 0.0) for p in ps) / scale ** 2
            whole.update(estimate(small, came / times ** 2, self.size, times * self.size))
            self.found.append(whole)
        if before is not None:
            self.pair(before, ps, grads, updates, now, larger)
        if look:
            if whole not in self.found:
                self.found.append(whole)
            self.pending[key] = [id(p) for p in ps], grads, updates, rows, now, larger, whole

    def pair(self, before: Any, ps: list[Any], grads: list[Any], updates: list[Any], now: float, larger: float) -> None:
        ids, old_grads, old_updates, rows, then, was_larger, whole = before
        if ids != [id(p) for p in ps]:
            return
        for column, old, new in (("grad_cosine", old_grads, grads), ("update_cosine", old_updates, updates)):
            dots = squares = others = 0.0
            for p, x, y in zip(ids, old, new):
                if x is None or y is None:
                    continue
                dot, a, b = float(np.dot(x, y)), float(np.dot(x, x)), float(np.dot(y, y))
                dots, squares, others = dots + dot, squares + a, others + b
                if p in rows:
                    rows[p][column] = cosine(dot, a, b)
            whole[column] = cosine(dots, squares, others)
            if column == "grad_cosine" and whole["trace"] is None and self.size and squares and others:
                dot, a, b = dots * larger * was_larger, squares * was_larger ** 2, others * larger ** 2
                whole.update(estimate((a + b) / 2, (a + b + 2 * dot) / 4, self.size, 2 * self.size))

    def noise_scale(self) -> dict[str, float] | None:
        found = [w for w in self.found if w["trace"] is not None]
        if not found:
            return None
        trace, squares = (float(np.mean([w[key] for w in found])) for key in ("trace", "squared_norm"))
        return {"noise_scale": trace / squares if squares > 0 else float("inf"), "trace": trace, "squared_norm": squares}


def estimate(small: float, large: float, fewer: int, more: int) -> dict[str, float]:
    """Unbiased |G|^2 and tr(S) from the squared norms of gradients of a small and a large batch."""
    return {"squared_norm": (more * large - fewer * small) / (more - fewer), "trace": (small - large) / (1 / fewer - 1 / more)}


def cosine(dot: float, a: float, b: float) -> float | None:
    return dot / sqrt(a * b) if a > 0 and b > 0 and np.isfinite(a * b) else None


class Summed:
    """A hook on a parameter, after its gradient was added."""

    def __init__(self, it: Successive) -> None:
        self.it = ref(it)

    def __call__(self, p: Any) -> None:
        it = self.it()
        if it is not None:
            it.summed(p)


class Sized:
    """A hook on the model: how many samples is it given?"""

    def __init__(self, it: Successive) -> None:
        self.it = ref(it)

    def __call__(self, module: Any, args: Any) -> None:
        it = self.it()
        x = next((a for a in args if hasattr(a, "shape") and len(a.shape)), None)
        if it is not None and x is not None:
            it.size = int(x.shape[0])
