"""What a call may write, kept and put back."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import random
from .._engine.tensor import TensorBase
from .book import Tensors
from .effects import edits_of, grad_of
from .reach import Reach


def written(results: list[Any], tensors: Tensors, inputs: list[TensorBase]) -> list[Any]:
    """Copies of the results, and of what a call may have written."""
    found = [x.copy() for x in results]
    for t in [*inputs, *tensors.held]:
        grad = grad_of(t)
        found += [t.array.copy(), None if grad is None else grad.array.copy()]
    return found


def same_array(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return bool(a.shape == b.shape and a.dtype == b.dtype and ((a == b) | (a != a) & (b != b)).all())


class Table:
    """What an object holds: numbers, and lists, dicts and sets of them."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table, self.was = table, dict(table)
        self.inside = [(x, x.copy()) for x in table.values() if type(x) in (list, dict, set)]

    def restore(self) -> None:
        self.table.clear()
        self.table.update(self.was)
        for x, was in self.inside:
            x.clear()
            (x.extend if type(x) is list else x.update)(was)


class Everything:
    """What a call may write: tensors, their .grad, the state of optimizers and schedulers, the random numbers to come."""

    def __init__(self, tensors: Tensors, inputs: list[TensorBase], reach: Reach) -> None:
        optimizers = reach.optimizers
        self.saved: list[tuple[Any, Any, int]] = []
        self.grads: list[tuple[Any, Any]] = []
        self.optimizers = optimizers
        self.stream = None if random.default_generator._bits is None else random.get_rng_state()    # None: nothing was drawn
        for t in [*inputs, *tensors.held]:
            self.keep(t)
            grad = grad_of(t)
            self.grads.append((t, grad))
            if grad is not None:
                self.keep(grad)
        self.states = [{p: dict(kept) for p, kept in opt.state.items()} for opt in optimizers]
        for table in self.states:
            for kept in table.values():
                for x in kept.values():
                    if isinstance(x, TensorBase):
                        self.keep(x)

        live = list(reach.live)
        for x in live:                          # and those of which it is made
            live.extend(vars(x).get("_schedulers", ()))
        self.tables = [Table(x) for x in (*map(vars, live), *[group for opt in optimizers for group in opt.param_groups])]
        for own in self.tables:
            for y in own.was.values():
                if isinstance(y, TensorBase):   # a learning rate
                    self.keep(y)

    def keep(self, t: TensorBase) -> None:
        self.saved.append((t, t.array.copy(), edits_of(t)))

    def restore(self) -> None:
        if self.stream is None:
            random.default_generator._bits = random.default_generator._spare = None
        else:
            random.set_rng_state(self.stream)
        for t, was, edits in self.saved:
            np.copyto(t.array, was)
            if t.version is not None:
                t.version.edits = edits
        for t, grad in self.grads:
            if t.sink is not None:
                t.sink.grad = grad
        for own in self.tables:
            own.restore()
        for opt, table in zip(self.optimizers, self.states):
            for p in list(opt.state):
                if p in table:
                    opt.state[p].clear()
                    opt.state[p].update(table[p])
                else:
                    del opt.state[p]
