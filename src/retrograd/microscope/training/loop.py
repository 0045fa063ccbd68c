"""The batches of a training loop, from an iterator that can send the loop's body back to an earlier step.

NOTE [Who runs a replay]
A loop's body is code that cannot be called.  But it does what it is given a batch for, and looks at nothing but the batch, the
model and the optimizer.  So `for batch in steps(batches, model, optimizer)` is the place from which a training is done again:
the iterator puts the state of step t back, and gives batch t once more.

NOTE [Which states are kept]
The training keeps a state every `spacing` steps.  When there are too many, every second one goes and the spacing doubles, so the
number of steps need not be known.  A stretch between two states is done again, keeping states in between, and then taken
backwards; a stretch with more than `keep` steps is divided first, so that `keep` states on each of log(T) levels are enough.
"""
from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import ReplayError
from .recording import Cotangents, Step, taking_place
from .state import Held, Snapshot


def samples_of(asked: str, weight: Any) -> int:
    """How many samples there are.  TypeError and ValueError, in the name of what was `asked`, for what are no weights of them."""
    if not hasattr(weight, "new_ones"):
        raise TypeError(f"{asked}: weight must be a tensor (N,) of ones, got {type(weight).__name__}")
    if weight.dim() != 1 or not len(weight):
        raise ValueError(f"{asked}: weight must be (N,) ones, one for each sample, not of shape {tuple(weight.shape)}")
    return len(weight)


class Done(BaseException):
    """The replay has come to the first step: the training function need not go on."""


class Steps:
    """The `steps` of a training function that should simply run: passes the batches through, and counts them."""

    def __init__(self) -> None:
        self.number = -1                        # of the current step, from 0

    def __call__(self, batches: Any, *objects: Any) -> Iterator[Any]:
        for batch in batches:
            self.number += 1
            yield batch


class Training(Steps):
    """The first run: notes what a replay needs."""

    def __init__(self, torch: Any, keep: int | None, shelf: Any, advance: Callable[[], None], followed: bool = False) -> None:
        super().__init__()
        self.followed = followed                # a replay follows the optimizers' steps
        self.torch, self.keep, self.shelf, self.advance = torch, keep, shelf, advance
        self.held: Any = None
        self.spacing = 1
        self.starts: list[int] = []             # number of the first step of each loop
        self.sources: list[Any] = []            # its batches
        self.ended: Snapshot = {}

    def __call__(self, batches: Any, *objects: Any) -> Iterator[Any]:
        held = Held(self.torch, objects)
        if self.followed:
            held.check_formulas()
        if self.held is not None and [id(p) for p in held.params] != [id(p) for p in self.held.params]:
            raise ReplayError("metagradient: all loops of a training must use the same optimizer")
        self.held = held
        t = self.number + 1
        again = isinstance(batches, (list, tuple, range)) or hasattr(batches, "shape")       # is there again when asked
        taken: Any = batches if again else []
        self.starts.append(t)
        self.sources.append(taken)
        skip = self.shelf.resumes
        if t < skip:
            held.put_boundary(self.shelf.boundary(t))
        try:
            yield from self.steps(batches, taken, again, held, skip)
        finally:
            self.ended = held.snapshot()

    def steps(self, batches: Any, taken: Any, again: bool, held: Held, skip: int) -> Iterator[Any]:
        for batch in batches:
            if not again:
                taken.append(batch)
            t = self.number = self.number + 1
            if t == self.starts[-1] or not again:
                if t >= skip:
                    self.shelf.put_boundary(t, held.boundary())
            if t < skip:
                continue
            if t == skip and skip:
                held.put(self.shelf[t])
            elif t % self.spacing == 0:
                self.put(t)
            self.advance()
            yield batch
        if skip and self.number + 1 == skip:
            held.put(self.shelf[skip])

    def put(self, t: int) -> None:
        self.shelf[t] = self.held.snapshot()
        while len(self.shelf.kept) > (self.keep or max(8, 2 * math.isqrt(t))):
            self.spacing *= 2
            for other in list(self.shelf.kept):
                if other % self.spacing:
                    del self.shelf[other]

    @property
    def count(self) -> int:
        return self.number + 1

    def batch(self, t: int) -> Any:
        i = bisect.bisect_right(self.starts, t) - 1
        return self.sources[i][t - self.starts[i]]


class Replay(Steps):
    """The second run: every step once more with its graph, the last one first."""

    def __init__(self, first: Training, leaves: dict[str, Any], cotangents: list[Cotangents], shelf: Any,
                 advance: Callable[[], None]) -> None:
        super().__init__()
        self.first, self.leaves, self.cotangents, self.shelf, self.advance = first, leaves, cotangents, shelf, advance
        self.sums = [{name: x.detach() * 0 for name, x in leaves.items()} for _ in cotangents]
        self.used = False                       # did any step depend on `leaves`?
        self.growth: list[float] = []           # size of what comes back to the weights, from the last step to the first
        self.held: Any = None
        self.at = -1                            # the model is in the state before this step
        self.finished = False

    def __call__(self, batches: Any, *objects: Any) -> Iterator[Any]:
        self.held = Held(self.first.torch, objects)
        ends = [t for t in sorted(self.shelf.kept) if t < self.first.count]
        hi, last = self.first.count, self.first.ended
        found = self.shelf.progress()
        if found is not None:
            hi, self.cotangents, self.sums, self.growth = found
            for _ in range(hi, self.first.count):
                self.advance()
            last = self.shelf[hi] if hi else {}
        for lo in reversed([t for t in ends if t < hi]):
            start = self.shelf[lo]
            yield from self.stretch(lo, hi, start, last)
            hi, last = lo, start
            self.shelf.put_progress(lo, self.cotangents, self.sums, self.growth)
        self.finished = True
        raise Done

    def stretch(self, lo: int, hi: int, first: Snapshot, last: Snapshot) -> Iterator[Any]:
        """The steps lo..hi-1 backwards, from the states before and after them."""
        stride = math.ceil((hi - lo) / (self.first.keep or hi - lo))
        states = {lo: first, hi: last}
        self.held.put(first)
        for t in range(lo, lo + (hi - lo - 1) // stride * stride):
            yield from self.once(t, None)
            if (t + 1 - lo) % stride == 0:
                states[t + 1] = self.held.snapshot()
        for start in reversed(range(lo, hi, stride)):
            end = min(start + stride, hi)
            if end - start > 1:
                yield from self.stretch(start, end, states[start], states[end])
                continue
            self.held.put(states[start])
            step = Step(self.held, start)
            yield from self.once(start, step)
            self.cotangents, found = step.back(self.cotangents, self.leaves, states[end])
            for sums, each in zip(self.sums, found):
                for (name, total), g in zip(sums.items(), each):
                    if g is not None:
                        sums[name] = total + g
                        self.used = True
            self.growth.append(float(np.sqrt(sum(float(g.pow(2).sum()) for each in self.cotangents for g in each.values()))))
            for p in self.held.params:
                p.grad = None
            self.advance()

    def once(self, t: int, step: Step | None) -> Iterator[Any]:
        """Batch t for the loop's body."""
        self.number = t
        boundary = self.shelf.boundary(t)
        if boundary is not None:
            self.held.put_boundary(boundary)
        for x in self.leaves.values():
            x.requires_grad_(step is not None)
        before = [dict(group) for o in self.held.optimizers for group in o.param_groups]
        with taking_place(self.first.torch, self.held, step):
            yield self.first.batch(t)
        for old, group in zip(before, [group for o in self.held.optimizers for group in o.param_groups]):
            for k, v in group.items():          # what the body set is part of this step alone
                if getattr(v, "requires_grad", False) and v is not old.get(k):
                    group[k] = v.detach()
