"""What a call returns: told from the recorded one, and made again."""
from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

from .._engine.op import attach
from .._engine.tensor import TensorBase, wrap
from .arguments import is_data, is_record
from .effects import grad_of
from .passes import LEFT, LIVE
from .past import Past, Spent, pasts
from .values import Entry, Refused, Value, of_array, root

if TYPE_CHECKING:
    from .graph import Graph
    from .trace import Trace


def build(spec: tuple[str, Any], arrays: list[Any], made: list[Any], inputs: Any, held: Any, node: Any) -> Any:
    """What the call returns."""
    kind, what = spec
    if kind == "made":
        at, rg, past = what
        out = made[at] = wrap(arrays[at])
        if type(past) is int:
            out.rg, out.fn, out.nr = True, node, past
        elif past is not None:
            attach(out, past())
        elif rg:
            out.rg = True
        return out
    if kind == "same":
        return what
    if kind == "number":
        return arrays[what].item()
    if kind == "tuple":
        return tuple([build(s, arrays, made, inputs, held, node) for s in what])
    if kind == "list":
        return [build(s, arrays, made, inputs, held, node) for s in what]
    if kind == "dict":
        return {key: build(s, arrays, made, inputs, held, node) for key, s in what}
    if kind == "record":
        return tuple.__new__(what[0], [build(s, arrays, made, inputs, held, node) for s in what[1]])
    if kind == "data":
        data: Any = object.__new__(what[0])
        vars(data).update({key: build(s, arrays, made, inputs, held, node) for key, s in what[1]})
        return data
    if kind == "ordered":
        return OrderedDict([(key, build(s, arrays, made, inputs, held, node)) for key, s in what])
    if kind == "again":
        return made[what]
    t = (inputs if what[0] == "input" else held)[what[1]]
    return t if kind == "tensor" else grad_of(t)


def copied_array(x: Any) -> Any:
    return x.copy("K")


class Outputs:
    """What a call returns: a tree of tensors and of what is the same at each call."""

    def __init__(self, trace: Trace, result: Any) -> None:
        self.trace = trace
        self.values: list[Value] = []
        self.seen: dict[int, int] = {}
        self.graph: Graph | None = trace.graph
        self.met: set[int] = set()              # lists, dicts and dataclasses
        self.numbers: set[int] = set()          # those of trace.told that were met
        self.tree = self.spec(result)
        if len(self.numbers) < len(trace.told):
            raise Refused("a tensor's number that is not returned")

    def spec(self, x: Any) -> tuple[str, Any]:
        sort: Any = type(x)
        reach = self.trace.reach
        if sort in (list, dict, OrderedDict) or is_data(sort):
            if reach is not None and id(x) in reach.seen:
                return ("same", x)              # which the guards cover
            if id(x) in self.met or id(x) in self.trace.given:
                raise Refused("a result that is an argument, or that is returned twice")
            self.met.add(id(x))
        if type(x) in (tuple, list):
            return ("tuple" if type(x) is tuple else "list", [self.spec(y) for y in x])
        if type(x) is dict or type(x) is OrderedDict:
            if any([id(key) in self.trace.told for key in x]):
                raise Refused("a tensor's number that is a key")
            return ("dict" if type(x) is dict else "ordered", [(key, self.spec(y)) for key, y in x.items()])
        if is_record(sort):
            return ("record", (sort, [self.spec(y) for y in x]))
        if is_data(sort):
            return ("data", (sort, [(key, self.spec(y)) for key, y in vars(x).items()]))
        if id(x) in self.trace.told:
            self.numbers.add(id(x))
            self.values.append(self.trace.told[id(x)][1])
            return ("number", len(self.values) - 1)
        if x is None or isinstance(x, (bool, int, float, str)):
            return ("same", x)
        if not isinstance(x, TensorBase):
            raise Refused(f"a result of type {type(x).__name__}")
        before = self.trace.tensors.by_id.get(id(x))
        if before is not None:
            return ("tensor", before[:2])
        for kind, i, t in self.trace.tensors.all():
            if grad_of(t) is x:
                return ("grad", (kind, i))
        if id(x) not in self.seen:
            if x.listeners or x.kept is not None or grad_of(x) is not None or x.inference:
                raise Refused("a result with hooks or a .grad")
            value = self.trace.of(x.array)
            if value.kind == "const" or (self.graph is not None and id(root(x.array)) in self.graph.inner):
                copied = of_array(x.array)
                self.trace.add(Entry("copy", copied_array, [value], [copied]))
                value = copied
            self.seen[id(x)] = len(self.values)
            self.values.append(value)
            return ("made", (self.seen[id(x)], bool(x.rg), self.node(x)))
        return ("again", self.seen[id(x)])

    def node(self, x: TensorBase) -> Any:
        """Its number among the results that can still be differentiated; else what makes its grad_fn, or None."""
        for nr, t in enumerate([] if self.graph is None else self.graph.outs):
            if t is x:
                return nr
        return None if x.fn is None else past(x.fn, self.trace.use(x.fn))


def past(fn: Any, use: int) -> partial[Past]:
    """Makes nodes like fn, whose graph was used up; Refused where a backward pass from it may still come to its end."""
    if use == LIVE:
        raise Refused("a result that can still be differentiated")
    kind = type(fn)
    return partial(pasts(kind.__name__, kind.__module__, Spent if use == LEFT else Past), fn)
