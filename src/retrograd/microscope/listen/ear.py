"""A capture's ear, of both engines: which calls of functions take something that is followed, and which may be forgotten.

It is compiled because it hears every call; those that concern it go to the microscope (microscope/capture/calls.py), but
for those like one before, which it notes itself (pending.py, NOTE [Planned calls wait]).
"""
from __future__ import annotations

from typing import Any, Final, Optional

from mypy_extensions import mypyc_attr

from ..._engine.tensor import TensorBase, edits, wants_grad
from ..._engine.views import grad_fn

MARK: Final = "_microscope_data"                # on tensors without gradient computed from the model's inputs: their Origin
GETTER: Final = type(int.real.__get__)
NOTHING: Final[dict[str, Any]] = {}


class Plan:
    """How a call of func with certain parameters is taken in, found at the first one.

    places  per argument, the id of the parameter that it is; 0 for another.  named: those given by name
    data    which argument is data
    wanted  is one of the parameters asked for?
    nodes   types of the output's node with which calls may wait -> is it a view's, and delta taken at the node below?
    """

    def __init__(self, rule: Any, name: str, func: Any, path: str, sources: dict[str, Any], numbers: set[int], wanted: bool,
                 places: list[int], named: dict[str, int], data: int) -> None:
        self.rule: Any = rule
        self.name: str = name
        self.func: Any = func
        self.path: str = path
        self.first: int = min(numbers)
        self.key: int = hash((name, *sorted(numbers)))
        self.sources: dict[str, Any] = sources
        self.numbers: set[int] = numbers
        self.nodes: dict[Any, bool] = {}
        self.wanted: bool = wanted
        self.places: list[int] = places
        self.named: dict[str, int] = named
        self.data: int = data


class Call:
    """A call that waits (capture/pending.py), followed from here on by Run.

    version  of the data
    live     does the data have a gradient?  Else where it comes from, None of an input
    node     that made the output; below: its gradient is taken at the node below.  None once the gradient is noted in `box`
    order    the number of that node
    """

    def __init__(self, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any], version: Any, live: Any, node: Any,
                 below: bool, shape: Any, layout: Any) -> None:
        self.plan: Plan = plan
        self.args: Any = args
        self.kwargs: dict[str, Any] = kwargs
        self.version: Any = version
        self.live: Any = live
        self.node: Any = node
        self.below: bool = below
        self.shape: Any = shape
        self.layout: Any = layout
        self.order: int = -1
        self.box: list[Any] = []


@mypyc_attr(allow_interpreted_subclasses=True)
class Ear:
    """Hears func(*args, **kwargs), as what listens to an engine (microscope/listen).

    taking    (func, impl, args, kwargs), in place of a call that takes something followed, or of one of `passes`
    follows   (plan, args, kwargs, live, out) -> out, of a call like one before that may not wait
    origin    how data without gradient was made of the model's inputs
    says      does a property give a tensor?
    after     (func, args, kwargs, out) -> out, of others while the model runs, unless they are plain: what they give requires
              grad, and they put no sample elsewhere
    """

    def __init__(self, taking: Any, after: Any, follows: Any, origin: Any, passes: Any, says: Any, layout: Any) -> None:
        self.taking: Any = taking
        self.after: Any = after
        self.follows: Any = follows
        self.origin: Any = origin
        self.passes: Any = passes
        self.followed: dict[int, Any] = {}      # by id
        self.running: bool = False              # does the model run?
        self.wary: bool = False                 # ... and were samples put elsewhere?
        self.plain: dict[Any, bool] = {}        # functions that put no sample elsewhere
        self.says: Any = says
        self.silent: dict[Any, bool] = {}       # properties that give no tensor
        self.plans: dict[Any, Plan] = {}        # (id of the first parameter, function) -> of calls that were
        self.waits: bool = False                # may calls wait?
        self.inputs: dict[int, Any] = {}        # of the model, while it runs, by id
        self.waiting: list[Call] = []
        self.layout: Any = layout               # where the batch is

    def call(self, func: Any, impl: Any, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]]) -> Any:
        if type(func) is GETTER:
            silent = self.silent.get(func)
            if silent is None:
                silent = self.silent[func] = not self.says(func)
            if silent:
                return impl(*args)
        followed = self.followed
        for x in args:
            if id(x) in followed:
                return self.take(id(x), func, impl, args, NOTHING if kwargs is None else kwargs)
            if type(x) is list or type(x) is tuple:
                for y in x:
                    if id(y) in followed:
                        return self.taking(func, impl, args, NOTHING if kwargs is None else kwargs)
        if kwargs is not None:
            for x in kwargs.values():
                if id(x) in followed:
                    return self.take(id(x), func, impl, args, kwargs)
        if func in self.passes:
            return self.taking(func, impl, args, NOTHING if kwargs is None else kwargs)
        out: Any = impl(*args) if kwargs is None else impl(*args, **kwargs)
        if not self.running or (not self.wary and func in self.plain and wants(out)):
            return out
        return self.after(func, args, NOTHING if kwargs is None else kwargs, out)

    def take(self, first: int, func: Any, impl: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that takes something followed; `first` is the id of the first such argument."""
        plan = self.plans.get((first, func)) if self.waits else None
        if plan is None or not self.alike(plan, args, kwargs):
            return self.taking(func, impl, args, kwargs)
        data = args[plan.data]
        live: Any = wants(data)
        if not live and id(data) not in self.inputs:
            return self.taking(func, impl, args, kwargs)
        out: Any = impl(*args, **kwargs) if kwargs else impl(*args)
        if not plan.wanted or not wants(out):
            return out
        node: Any = grad_fn(out) if isinstance(out, TensorBase) else out.grad_fn
        below = plan.nodes.get(type(node))
        if below is None:
            return self.follows(plan, args, kwargs, data, out)
        if not live:                            # None: an input itself
            live = None if getattr(data, MARK, None) is None else self.origin(data)
        if isinstance(data, TensorBase):
            self.waiting.append(Call(plan, args, kwargs, edits(data), live, node, below, out.array.shape, self.layout))
        else:
            self.waiting.append(Call(plan, args, kwargs, data._version, live, node, below, out.shape, self.layout))
        return out

    def alike(self, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Are the parameters of the plan at their places, and what is followed nowhere else?"""
        places = plan.places
        named = plan.named
        if len(args) != len(places) or len(kwargs) != len(named):
            return False
        followed = self.followed
        for x, place in zip(args, places):
            if id(x) != place and (place != 0 or id(x) in followed):
                return False
        for key, x in kwargs.items():
            its = named.get(key, -1)
            if id(x) != its and (its != 0 or id(x) in followed):
                return False
        return True


def sizes(x: Any) -> tuple[int, ...]:
    """The shape of a tensor."""
    if isinstance(x, TensorBase):
        return x.array.shape
    return tuple(x.shape)


def wants(out: Any) -> bool:
    if isinstance(out, TensorBase):
        return wants_grad(out)
    return getattr(out, "requires_grad", None) is True
