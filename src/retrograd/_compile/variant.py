"""A plan, and when it may be used."""
from __future__ import annotations

import collections
import re
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase
from .effects import grad_of
from .guards import MANY, Guards, Watch, facts_of
from .plan import Plan
from .reach import TENSORS, Reach
from .values import Refused

OTHER = "other arguments"


class Variant:
    """A plan, and when it may be used."""

    def __init__(self, plan: Plan, key: Any, reach: Reach, watch: Watch, facts: list[Any], mood: Any) -> None:
        self.plan, self.key, self.watch, self.mood = plan, key, watch, mood
        self.facts = facts                      # of the inputs
        self.optimizers = reach.optimizers
        self.used = 0
        self.held = {id(t) for t in plan.tensors.held}
        alone = key == (((tuple, *["tensor"] * len(facts))), None)
        self.count = len(facts) if alone else -1

    def stale(self, key: Any, inputs: list[TensorBase], mood: Any) -> str:
        """Why the plan does not fit this call; "" where it does."""
        return OTHER if key != self.key else self.unfit(inputs, mood)

    def match(self, args: Any) -> Any:
        """The input tensors of such arguments, where they are tensors alone; None where somebody has to look closer."""
        if len(args) != self.count:
            return None
        for i, x in enumerate(args):
            if type(x) not in TENSORS or any(x is y for y in args[:i]):
                return None
        return list(args)

    def unfit(self, inputs: list[TensorBase], mood: Any) -> str:
        """As `stale`, for arguments that fit."""
        if mood != self.mood:
            return "another mode"
        for t, was in zip(inputs, self.facts):
            if facts_of(t) != was:
                return "an argument is another one"
            if id(t) in self.held:
                return "an argument is a tensor that the function reaches by itself"
        found = self.watch.changed()
        if not found and inputs and self.plan.writes and not self.apart(inputs):
            return "an argument shares memory with what the function writes"
        return found

    def guarded(self) -> list[str]:
        """What must be the same, as text: arguments and tensors, then attributes and the like, counted by their owner."""
        tensors = [f"{t.array.dtype.name}{list(t.array.shape)}" for t in self.plan.tensors.held]
        given = [f"{fact[1].name}{list(fact[2])}" for fact in self.facts]
        found = [f"{what}: {', '.join(many)}" for what, many in (("arguments", given), ("tensors", tensors)) if many]
        owners: collections.Counter[str] = collections.Counter()
        for guard, path in zip(self.watch.guards, self.watch.paths):
            owners[re.sub(r"(?<=.)(\.[\w*]+|\[[^\[]*\])$", "", path)] += len(guard[2]) if guard[0] in MANY else 1
        return [*found, *[f"{owner} ({n})" if n > 1 else owner for owner, n in owners.items()]]

    def apart(self, inputs: list[TensorBase]) -> bool:
        own = [*self.watch.arrays, *[g.array for g in map(grad_of, self.plan.tensors.held) if g is not None]]
        many = [t.array for t in inputs]
        if Guards is not None:
            return bool(Guards.apart(many, own))
        return not any(np.may_share_memory(x, y) for i, x in enumerate(many) for y in [*own, *many[:i]])


def check_tensor(t: Any, path: str, given: bool = False) -> None:
    if t.fn is not None and not given:
        raise Refused(f"{path} carries a graph that was made before the call")
    if t.inference:
        raise Refused(f"{path} is of inference mode")
    if t.origin is not None and t.fn is None and (t.rg or t.requires_grad):
        raise Refused(f"{path} is a view that requires grad")
    if not t.array.flags.behaved and t.array.size:
        raise Refused(f"{path} may not be written, or is not aligned")
