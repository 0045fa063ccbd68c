"""A plan, and when it may be used."""
from __future__ import annotations

import collections
import re
from typing import Any, Final

import numpy as np

from .._engine.tensor import TensorBase
from .arguments import leaf, objects_in
from .book import Tensors
from .effects import edits_of, grad_of
from .guards import MANY, OF_SEVERAL, Watch, facts_of, stays
from .mood import mood
from .plan import Plan
from .reach import TENSORS, Reach, foreign, spelled
from .trace import Trace
from .values import Guards, Refused

OTHER: Final = "other arguments"


class Variant:
    """A plan, and when it may be used."""

    def __init__(self, plan: Plan, key: Any, reach: Reach, watch: Watch, facts: list[Any], mood: Any) -> None:
        self.plan, self.key, self.watch, self.mood = plan, key, watch, mood
        self.facts = facts                      # of the inputs
        self.reach = reach
        self.used = 0
        self.left = 0                           # how often hooks did something else
        self.held = {id(t) for t in plan.tensors.held}
        self.own = foreign(reach.names)         # attributes that tensors may be given
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
            if self.own and not self.own.isdisjoint(vars(t)):
                return "an argument has attributes of its own"
        found = self.watch.changed()
        if not found and inputs and self.plan.writes and not self.apart(inputs):
            return "an argument shares memory with what the function writes"
        return found

    def guarded(self) -> list[str]:
        """What must be the same, as text: arguments and tensors, then attributes and the like, counted by their owner."""
        tensors = [f"{t.array.dtype.name}{list(t.array.shape)}" for t in self.plan.tensors.held]
        given = [f"{fact[1][0].name}{list(fact[1][1])}" for fact in self.facts]
        found = [f"{what}: {', '.join(many)}" for what, many in (("arguments", given), ("tensors", tensors)) if many]
        owners: collections.Counter[str] = collections.Counter()
        for guard, path in zip(self.watch.guards, self.watch.paths):
            of = spelled(path)
            owner, n = (of, len(guard[2])) if guard[0] in MANY else (re.sub(r"(?<=.)(\.\w+|\[[^\[]*\])$", "", of), 1)
            owners[owner] += n
        return [*found, *[f"{owner} ({n})" if n > 1 else owner for owner, n in owners.items()]]

    def reaches(self, key: Any) -> bool:
        """Does a call with such arguments reach what this one reached?"""
        mine, other = objects_in(self.key), objects_in(key)
        return len(mine) == len(other) and all([x is y for x, y in zip(mine, other)]) and not self.watch.other()

    def apart(self, inputs: list[TensorBase]) -> bool:
        own = [*self.watch.arrays, *[g.array for g in map(grad_of, self.plan.tensors.held) if g is not None]]
        many = [t.array for t in inputs]
        if Guards is not None:
            return bool(Guards.apart(many, own))
        return not any(np.may_share_memory(x, y) for i, x in enumerate(many) for y in [*own, *many[:i]])


class Beginning:
    """What there is before a call that is recorded; Refused where it cannot be replayed."""

    def __init__(self, f: Any, key: Any, inputs: list[TensorBase], known: Reach | None) -> None:
        """known: what f reaches, where that was noted and is the same"""
        self.key, self.inputs = key, inputs
        self.reach = reach = Reach() if known is None else known
        self.tensors = tensors = Tensors()
        self.facts: list[Any] = []
        for i, t in enumerate(inputs):
            self.facts.append(sound(t, f"argument {i}", True))
            tensors.add(t, "input")
        if known is None:
            reach.start(f)
            for x in objects_in(key):
                reach.start(x)
        for t in reach.tensors:
            self.facts.append(sound(t, "a tensor that it reaches"))
            if id(t) in tensors.by_id:
                raise Refused("an argument is a tensor that the function reaches by itself")
            tensors.add(t, "held")
        for t in inputs:
            if not reach.names.isdisjoint(vars(t)):
                raise Refused("an argument has attributes of its own")
        self.edits = [edits_of(t) for _, _, t in tensors.all()]
        self.watch = Watch(reach, list(tensors.held), self.facts[len(inputs):])

    def variant(self, trace: Trace, result: Any, args: Any, kwargs: Any, now: Any) -> Variant:
        """After the call, which gave `result`."""
        outputs = trace.finish(result)
        if mood() != now:
            raise Refused("the call changes a mode")
        self.undisturbed(trace)
        again: list[TensorBase] = []
        if (leaf(args, again), leaf(kwargs, again) if kwargs else None) != self.key or any(
                [x is not y for x, y in zip(again, self.inputs)]):
            raise Refused("the call changes its arguments")
        plan = Plan(trace, outputs)
        self.watch.settle(plan.grads)
        path = self.watch.other()
        if path:
            raise Refused(f"the call changes {path}")
        return Variant(plan, self.key, self.reach, self.watch, self.facts[:len(self.inputs)], now)

    def undisturbed(self, trace: Trace) -> None:
        """Refused where the call did more to a tensor than the entries say."""
        made, stepped = trace.edits(), trace.stepped()
        held, arrays = len(self.inputs), self.watch.arrays
        for place, (_, _, t) in enumerate(self.tensors.all()):
            if edits_of(t) != self.edits[place] + made.get(place, 0) and id(t) not in stepped:
                raise Refused("a tensor is written by something that is not replayed")
            if place >= held and t.array is not arrays[place - held]:
                raise Refused("the call gives a tensor new memory")
            if not stays(t, self.facts[place]):
                raise Refused("the call changes a tensor's requires_grad, or hooks")


def sound(of: Any, path: str, given: bool = False) -> tuple[Any, ...]:
    """The facts of a tensor; Refused where no plan is made of it."""
    array = of.array                            # first: it may be a promise
    t: TensorBase = of
    facts = facts_of(of)
    if facts[3] == OF_SEVERAL:
        raise Refused(f"{path} has a hook of several tensors")
    if t.fn is not None and not given:
        raise Refused(f"{path} carries a graph that was made before the call")
    if t.inference:
        raise Refused(f"{path} is of inference mode")
    if t.origin is not None and t.fn is None and (t.rg or of.requires_grad):
        raise Refused(f"{path} is a view that requires grad")
    if not facts[1][3] and array.size:
        raise Refused(f"{path} may not be written, or is not aligned")
    return facts
