"""What torch.compile gives where Python may be skipped."""
from __future__ import annotations

import functools
import threading
import warnings
from typing import Any

import numpy as np

from .._engine.modes import modes, state
from .._engine.tensor import TensorBase
from .._tensor import dtypes
from ..nn import hooks
from ..optim import optimizer
from .effects import grad_of
from .plan import Plan, Undone
from .state import TENSORS, Reach, Watch, changed, facts_of
from .trace import Tensors, Trace
from .values import Refused

ndarray = np.ndarray
LIMIT = 8               # plans of one function
MOST = 10               # the n-th refusal is followed by 2 ** n - 1 calls that do not try again, up to this n


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
        return "other arguments" if key != self.key else self.unfit(inputs, mood)

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

    def apart(self, inputs: list[TensorBase]) -> bool:
        own = [*self.watch.arrays, *[g.array for g in map(grad_of, self.plan.tensors.held) if g is not None]]
        many = [t.array for t in inputs]
        return not any(np.may_share_memory(x, y) for i, x in enumerate(many) for y in [*own, *many[:i]])


def check_tensor(t: Any, path: str) -> None:
    if t.fn is not None:
        raise Refused(f"{path} carries a graph that was made before the call")
    if t.listeners or t.kept is not None or t.inference:
        raise Refused(f"{path} has hooks, or is of inference mode")
    if t.sink is not None and (t.sink.after or t.sink._hooks is not None):
        raise Refused(f"{path} has hooks")
    if t.origin is not None and (t.rg or t.requires_grad):
        raise Refused(f"{path} is a view that requires grad")
    if not t.array.flags.behaved and t.array.size:
        raise Refused(f"{path} may not be written, or is not aligned")


# (namespace, name): programs put tables of their own in the place of these
GLOBAL_HOOKS: list[tuple[dict[str, Any], str]] = [
    (space, name) for space in (vars(hooks), vars(optimizer)) for name, x in space.items()
    if name == "watchers" or (name.startswith("_global_") and isinstance(x, dict))]


def mood() -> Any:
    """The modes of this thread; None where every call runs eagerly."""
    if modes.observer is not None or modes.clerk is not None or modes.anomaly:
        return None
    for space, name in GLOBAL_HOOKS:
        if space[name]:
            return None
    it = state()
    if it.task is not None:
        return None
    if not modes.usual or modes.dispatching:
        if (it.inference or it.pack_hooks or it.pack_disabled is not None or it.mutation is not None or it.functions
                or it.listener is not None or it.lenient):
            return None
    return it.grad, dtypes.get_default_dtype()


class Compiled:
    """f, replayed where that is sure to give what f gives."""

    replays = True

    def __init__(self, f: Any, check: int | None = None, limit: int = LIMIT, full: bool = False) -> None:
        functools.update_wrapper(self, f, updated=())
        self.f = f
        self.full = full
        self.check = check
        self.limit = limit
        self.local = threading.local()
        self.reasons: list[str] = []

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self.__call__, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and not disabled.on:
            last: Variant | None = getattr(self.local, "last", None)
            if last is not None:                # most calls go this way
                inputs = last.match(args)
                if inputs is not None and not last.plan.busy and not last.unfit(inputs, mood()):
                    return self.replay(last, inputs, args, kwargs)
        return self.look(args, kwargs)

    def look(self, args: Any, kwargs: Any) -> Any:
        """Find the plan for this call, or record one, or run eagerly."""
        local = self.local.__dict__
        if "variants" not in local:
            local.update(variants=[], last=None, given_up=0, refused=0, skip=0)
        variants: list[Variant] = local["variants"]
        if local["given_up"] or disabled.on:
            return self.f(*args, **kwargs)
        now = mood()
        if now is None:
            return self.f(*args, **kwargs)
        if local["skip"] and not variants:
            local["skip"] -= 1
            return self.f(*args, **kwargs)
        inputs: list[TensorBase] = []
        key: Any = (leaf(args, inputs), leaf(kwargs, inputs) if kwargs else None)
        for variant in variants:
            if not variant.plan.busy and not variant.stale(key, inputs, now):
                local["last"] = variant
                return self.replay(variant, inputs, args, kwargs)
        if len(variants) >= self.limit:
            local["given_up"], local["last"] = 1, None
            why = variants[-1].stale(key, inputs, now)
            self.reasons.append(f"more than {self.limit} plans; the last differs by: {why}")
            warnings.warn(
                f"torch.compile: {self.name} has {self.limit} plans and none fits ({why}): it runs eagerly from here on",
                UserWarning, stacklevel=3)
            return self.f(*args, **kwargs)
        if local["skip"]:
            local["skip"] -= 1
            return self.f(*args, **kwargs)
        return self.record(variants, key, inputs, now, args, kwargs)

    @property
    def name(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)

    def refuse(self, error: Refused, args: Any, kwargs: Any) -> Any:
        self.note(error)
        return self.f(*args, **kwargs)

    def note(self, error: object) -> None:
        if self.full:
            raise RuntimeError(f"torch.compile(fullgraph=True): {self.name} cannot be replayed: {error}")
        local = self.local.__dict__
        local["refused"] = min(local["refused"] + 1, MOST)
        local["skip"] = 2 ** local["refused"] - 1
        if str(error) not in self.reasons:
            self.reasons.append(str(error))

    def record(self, variants: list[Variant], key: Any, inputs: list[TensorBase], now: Any, args: Any, kwargs: Any) -> Any:
        """Run eagerly, and keep a plan of it where one can be made."""
        reach = Reach()
        tensors = Tensors()
        try:
            for i, t in enumerate(inputs):
                check_tensor(t, f"argument {i}")
                tensors.add(t, "input")
            reach.start(self.f)
            for x in objects_in(key):
                reach.start(x)
            for t in reach.tensors:
                check_tensor(t, "a tensor that it reaches")
                if tensors.add(t, "held") >= 0 and tensors.by_id[id(t)][0] == "input":
                    raise Refused("an argument is a tensor that the function reaches by itself")
            if any(vars(t).keys() & reach.names for t in inputs):
                raise Refused("an argument has attributes of its own")
        except Refused as error:
            return self.refuse(error, args, kwargs)
        facts = [facts_of(t) for _, _, t in tensors.all()]
        watch = Watch(reach, list(tensors.held))
        edits = [edits_of(t) for _, _, t in tensors.all()]
        trace = Trace(tensors)
        with trace:
            result = self.f(*args, **kwargs)
        try:
            outputs = trace.finish(result)
            if mood() != now:
                raise Refused("the call changes a mode")
            for (kind, i, t), count in zip(tensors.all(), edits):
                if edits_of(t) != count + trace.edits(kind, i) and not trace.stepped(t):
                    raise Refused("a tensor is written by what is not replayed")
            for guard, path in zip(reach.guards, reach.paths):
                if changed(guard):
                    raise Refused(f"the call changes {path}")
            for t, array in zip(tensors.held, watch.arrays):
                if t.array is not array:
                    raise Refused("the call gives a tensor other memory")
            for (_, _, t), was in zip(tensors.all(), facts):
                if facts_of(t)[:-2] != was[:-2]:
                    raise Refused("the call changes a tensor's requires_grad, or hooks")
            again: list[TensorBase] = []
            if (leaf(args, again), leaf(kwargs, again) if kwargs else None) != key or any(
                    x is not y for x, y in zip(again, inputs)):
                raise Refused("the call changes its arguments")
        except Refused as error:
            self.note(error)
            return result
        self.local.refused = 0
        plan = Plan(trace, outputs)
        watch.settle(any(v.kind == "grad" for v in plan.takes))
        self.local.last = Variant(plan, key, reach, watch, facts[:len(inputs)], now)
        variants.insert(0, self.local.last)
        return result

    def replay(self, variant: Variant, inputs: list[TensorBase], args: Any, kwargs: Any) -> Any:
        plan = variant.plan
        variant.used += 1
        plan.busy = True
        try:
            if self.check != 0 and self.due(variant.used):
                return self.compare(variant, inputs, args, kwargs)
            return plan.run(inputs)
        except Undone as error:
            result = self.f(*args, **kwargs)    # raises what Python would have raised, where it would
            self.note(f"a plan is given up, for it raised where Python does not: {error.__cause__!r}")
            self.local.__dict__["variants"].remove(variant)
            self.local.last = None
            return result
        finally:
            plan.busy = False

    def due(self, count: int) -> bool:
        """Is this replay checked?  By default numbers 1, 2, 4, 8 and so on are."""
        if self.check is None:
            return count & (count - 1) == 0
        return self.check > 0 and count % self.check == 0

    def compare(self, variant: Variant, inputs: list[TensorBase], args: Any, kwargs: Any) -> Any:
        """Run the plan, put everything back, run eagerly, and compare what each operation gave."""
        plan = variant.plan
        before = Everything(plan.tensors, inputs, variant.optimizers)
        try:
            quick = written(plan.arrays(inputs), plan.tensors, inputs)
        finally:
            before.restore()
        try:
            got = plan.rehearse(inputs)
        finally:
            before.restore()
        tensors = Tensors()
        for t in inputs:
            tensors.add(t, "input")
        for t in plan.tensors.held:
            tensors.add(t, "held")
        trace = Trace(tensors)
        with trace:
            result = self.f(*args, **kwargs)
        try:
            outputs = trace.finish(result)
        except Refused as error:
            raise RuntimeError(f"torch.compile: {self.name} did something else than when it was recorded: {error}") from None
        plan.same(trace, outputs, got)
        want = written([v.array for v in outputs.values], plan.tensors, inputs)
        if len(quick) != len(want) or not all(map(same_array, quick, want)):
            raise RuntimeError(f"torch.compile: {self.name} gives something else in C than eagerly; please report it")
        return result

    # what users call

    def explain(self) -> str:
        """The plans, their guards, and why calls ran eagerly."""
        local = self.local.__dict__
        lines = [f"{self.name}: {len(local.get('variants', []))} plans"]
        for i, variant in enumerate(local.get("variants", [])):
            lines.append(f"plan {i}: replayed {variant.used} times, {len(variant.watch.guards)} guards, {variant.plan.summary()}")
            lines.extend("  " + line for line in variant.plan.lines())
        lines.extend(f"eager: {why}" for why in self.reasons)
        if local.get("given_up"):
            lines.append("it runs eagerly from here on")
        return "\n".join(lines)

    def reset(self) -> None:
        """Forget all plans of this thread, and why there were none."""
        self.local.__dict__.clear()
        self.reasons.clear()

    def __repr__(self) -> str:
        return f"<compiled {self.f!r}>"


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
    return bool(a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def edits_of(t: Any) -> int:
    return 0 if t.version is None else int(t.version.edits)


class Everything:
    """What a call may write: tensors, their .grad, the state of optimizers."""

    def __init__(self, tensors: Tensors, inputs: list[TensorBase], optimizers: list[Any]) -> None:
        self.saved: list[tuple[Any, Any, int]] = []
        self.grads: list[tuple[Any, Any]] = []
        self.optimizers = optimizers
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

    def keep(self, t: TensorBase) -> None:
        self.saved.append((t, t.array.copy(), edits_of(t)))

    def restore(self) -> None:
        for t, was, edits in self.saved:
            np.copyto(t.array, was)
            if t.version is not None:
                t.version.edits = edits
        for t, grad in self.grads:
            if t.sink is not None:
                t.sink.grad = grad
        for opt, table in zip(self.optimizers, self.states):
            for p in list(opt.state):
                if p in table:
                    opt.state[p].clear()
                    opt.state[p].update(table[p])
                else:
                    del opt.state[p]


class Disabled:
    on = False


disabled = Disabled()
PLAIN = (int, float, bool, str, type(None), complex, bytes)


class Same:
    """An argument that is known by who it is."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.x is self.x

    def __hash__(self) -> int:
        return id(self.x)


def leaf(x: Any, inputs: list[TensorBase]) -> Any:
    """What of an argument must be the same at each call; its tensors go to `inputs`."""
    if isinstance(x, TensorBase):
        for i, t in enumerate(inputs):
            if t is x:
                return ("again", i)
        inputs.append(x)
        return "tensor"
    kind = type(x)
    if kind in PLAIN:
        return (kind, repr(x) if kind is float else x)
    if kind in (tuple, list):
        return (kind, *[leaf(y, inputs) for y in x])
    if kind is dict:
        return (kind, tuple(x), *[leaf(y, inputs) for y in x.values()])
    if isinstance(x, (dtypes.dtype, dtypes.device)):
        return x
    return Same(x)


def objects_in(key: Any) -> list[Any]:
    if isinstance(key, Same):
        return [key.x]
    return [y for x in key for y in objects_in(x)] if type(key) is tuple else []
