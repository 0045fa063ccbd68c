"""One eager call as a list of entries.

The engine tells of every op (`modes.observer`), of every node of a pass, and of every public function (the listener of the
dispatch point).  What none of them tells of cannot be in a plan: an array that no entry made, and that was not there before,
refuses the call.  The call itself is never disturbed: it runs to its end as it would have, whatever is refused.
"""
from __future__ import annotations

from functools import partial
from typing import Any, Final

from .. import random
from .._engine.dispatch import engage
from .._engine.modes import modes
from .._engine.tensor import TensorBase, wants_grad, wrap
from .._rules.loss import NllLossBackward0
from .arguments import PLAIN
from .book import Inside, Tensors
from .calls import FACTS, QUIET, brief, called, judge, numbers, reads
from .effects import Live, Number, Outright, Store, grad_of, no_grad, set_grad, store_grad
from .graph import Graph, live
from .hooked import Hooked, is_boundary, tell
from .looks import LOOKS, looked
from .outputs import Outputs, copied_array
from .reach import OPTIMIZERS, STEP_HOOKS, Reach, goes_out
from .values import Entry, Refused, Value, of_array, root
from .whole import Before, Kept, Region, Whole, dropped, keeps_shape, made_by, may_be_whole


def imaginary(x: Any) -> bool:
    array = x.array if isinstance(x, TensorBase) else x
    return getattr(array, "dtype", None) is not None and array.dtype.kind == "c"


SET_DATA: Final = "Tensor.data.__set__"


def nothing_new(name: str, args: Any) -> bool:
    """Is it the end of `x.data -= y`, which writes x.data before?"""
    return name == SET_DATA and isinstance(args[1], TensorBase) and args[1].array is args[0].array


class Trace(Hooked):
    """Set it up, call the function within `with`, then `finish`."""

    graph: Graph | None = None                  # of the results
    apart = True                                # does each tensor that was there have memory of its own?

    def __init__(self, tensors: Tensors, f: Any = None, reach: Reach | None = None, looks: bool = False) -> None:
        """f: the function, where Python is to be skipped;  reach: of it;  looks: may conditions be entries?"""
        super().__init__(tensors, reach)
        self.looks = looks
        self.given: set[int] = set()            # lists, dicts and dataclasses among the arguments, by identity
        self.code: Any = getattr(getattr(f, "__func__", f), "__code__", None)
        self.told: dict[int, tuple[Any, Value]] = {}    # numbers that f returns, by identity

    def __enter__(self) -> Trace:
        modes.observer = self
        modes.outs = self
        tell(self)
        self.it.listener = self
        engage(self.it)
        return self

    def __exit__(self, *_: Any) -> None:
        if modes.outs is not self:
            self.refuse("another thread meanwhile recorded a call, too")
        modes.observer = modes.outs = None
        tell(None)
        self.it.listener = None
        engage(self.it)

    # -- told by the dispatch point

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        name = called(func)
        try:
            return self.heard(name, impl, args, kwargs)
        except Exception as error:              # the function may catch it: the plan would not know
            self.refuse(f"{name} raises {type(error).__name__}")
            raise

    def heard(self, name: str, impl: Any, args: Any, kwargs: Any) -> Any:
        if name == "Tensor.grad.__set__" and not self.off and self.inside is None:
            try:
                self.flush()                    # what was written into the .grad that goes
            except Refused as error:
                self.refuse(error)
        if self.off or self.inside is not None or name in FACTS or name == "Tensor.item" or nothing_new(name, args):
            out = impl(*args) if kwargs is None else impl(*args, **kwargs)
            if not self.off and self.inside is None:
                try:
                    kind: Any = type(out)       # compiled code makes another object of what it knows to be a float
                    if kind is float and name == "Tensor.item" and self.code is not None and goes_out(self.code):
                        self.tell(args[0], out)
                    elif name != SET_DATA:
                        judge(self, name, impl, args, kwargs, out)
                except Refused as error:
                    self.refuse(error)
            return out
        if name == "Tensor.register_hook" and self.heeds:
            try:
                self.listens(args[0], args[1] if len(args) > 1 else kwargs["hook"])
            except Refused as error:
                self.refuse(error)
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        if name in LOOKS and self.looks:
            out = impl(*args) if kwargs is None else impl(*args, **kwargs)
            try:
                looked(self, impl, args, kwargs, out)
            except Refused as error:
                self.refuse(error)
            return out
        edited = dict(self.edited) if self.edited else {}
        self.inside = inside = Inside(len(self.entries), edited, dropped(name, args, kwargs))
        before = None if brief(name) in QUIET else Before(args, kwargs)
        given = numbers(self, name, args, kwargs)
        read = False
        try:
            out = impl(*args) if kwargs is None else impl(*args, **kwargs)
            if not inside.doubt:
                try:
                    judge(self, name, impl, args, kwargs, out)
                    read = bool(given) and reads(self, given, inside.mark)
                    if read:
                        raise Refused(f"{name} reads the number that a tensor holds")
                except Refused as error:
                    inside.doubt = str(error)
        finally:
            self.inside = None
        if inside.doubt:
            try:
                if not may_be_whole(name, args, kwargs) or (kwargs and kwargs.get("out") is not None) or (
                        read and not keeps_shape(name, args)):
                    raise Refused(inside.doubt if name in inside.doubt else f"{name}: {inside.doubt}")
                self.undo(inside)
                self.whole(name, impl, args, kwargs, out, Before(args, kwargs) if before is None else before)
            except Refused as error:
                self.refuse(error)
        return out

    def tell(self, t: TensorBase, out: Any) -> None:
        """The number that t holds now is part of what the call returns."""
        value = self.of(t.array)
        copied = Value("made", value.shape, value.dtype, t.array.copy())
        self.add(Entry("item", copied_array, [value], [copied], "", False, self.line()))
        self.told[id(out)] = (out, copied)

    def whole(self, name: str, impl: Any, args: Any, kwargs: Any, out: Any, before: Before) -> None:
        """The call as one entry."""
        wrote = before.wrote()
        tensors = before.tensors
        given = [self.of(array) for array, _, _ in before.facts]
        outs = made_by(name, out)
        self.alive.append(out)
        fn = Whole(name, impl, args, kwargs, tensors, self.it.grad, [self.it.grad and fact[1] for fact in before.facts])
        part = Value("made", (), None)
        values: list[Value] = []
        seen: set[int] = {id(array) for array, _, _ in before.facts}
        for i, t in enumerate(outs):
            self.alive.append(t)
            if id(t.array) not in seen and id(t.array) not in self.values:
                seen.add(id(t.array))
                fn.results.append((i, t.array.shape, t.array.dtype))
                values.append(of_array(t.array))
        for i in wrote:
            t = tensors[i]
            if self.it.grad and wants_grad(t) and id(t) in self.tensors.by_id:
                raise Refused("an in-place edit of an argument, or of an earlier tensor, that requires grad")
            fn.wrote.append(i)
            values.append(of_array(t.array))
        drawn = random.default_generator._uses != before.uses
        args = [Value("tensor", (), None, None, self.place(v.kind, v.index)) if v.kind in ("input", "held") and i not in wrote
                else v for i, v in enumerate(given)]
        self.add(Entry(name, fn, args, [part, *values], "", drawn, self.line()))
        for i, value in zip(wrote, values[len(values) - len(wrote):]):
            if tensors[i].array is before.facts[i][0]:
                self.overwritten(tensors[i].array, value, wrote[i], tensors[i].version)
        edges = {id(fn) for fn, _ in before.edges}
        if self.it.grad and any(t.fn is not None and id(t.fn) not in edges for t in outs):
            region = Region(name, before, given, outs, part)
            self.nodes.extend(region.nodes.values())
            for at in region.nodes:
                self.regions[at] = region

    # -- told by ops

    def op(self, node: Any, inputs: Any, out: Any) -> None:
        if self.off:
            return
        try:
            self.nodes.append(node)
            if self.inside is not None and self.inside.doubt:
                return
            if is_boundary(node):
                if not self.heeds:
                    raise Refused("hooks of a module")
                self.alive.append(out)
                return
            if not isinstance(out, TensorBase):
                raise Refused(f"{type(node).__name__} has several outputs")
            if modes.imaginary and wants_grad(out) and any(map(imaginary, (out, *inputs))):
                raise Refused("complex numbers that are differentiated")     # nodes conjugate around their rules
            if self.inside is not None and self.inside.p is not None and len(inputs) > 1:
                self.drawn(inputs, self.inside.p)
            given = [self.of_input(x) for x in inputs]
            if any(x is out for x in inputs):
                self.in_place(node, given, out)
                return
            self.alive.append(out)
            if type(node) is NllLossBackward0 and node.weight is None and node.target.ndim == 1:
                given.append(self.of(node.target))
            value = of_array(out.array)
            self.lower.forward(node, given, value, self.line())
            self.made[id(node)] = (given, value)
        except Refused as error:
            self.refuse(error)

    def drawn(self, inputs: Any, p: float) -> None:
        """What dropout multiplies by is drawn at each replay."""
        x, mask = inputs[0].array, inputs[1]
        mask = mask.array if isinstance(mask, TensorBase) else mask
        if id(mask) not in self.values and mask.shape == x.shape and 0 < p < 1:
            self.add(Entry("dropout", Kept(p), [self.of(x)], [of_array(mask)], "", True, self.line()))

    def linear(self, node: Any, b: TensorBase, x: TensorBase, w: TensorBase, out: TensorBase) -> None:
        """F.linear by one kernel; node None where no graph is recorded."""
        if self.off or (self.inside is not None and self.inside.doubt):
            return
        try:
            given = [self.of(t.array) for t in (b, x, w)]
            self.alive.append(out)
            value = of_array(out.array)
            self.lower.linear(given[0], given[1], given[2], value, self.line())
            if node is not None:
                self.nodes.append(node)
                self.linears.add(id(node))
                self.made[id(node)] = (given, value)
        except Refused as error:
            self.refuse(error)

    def in_place(self, node: Any, given: list[Any], out: TensorBase) -> None:
        """An op wrote its result into its first input."""
        if out.rg or out.fn is not None:
            if self.it.grad:
                raise Refused("an in-place edit of a tensor that requires grad")
        value = of_array(out.array)
        self.lower.forward(node, given, value, self.line())
        if not self.entries[-1].op:
            raise Refused(f"{type(node).__name__.removesuffix('Backward0')} in place is not replayed yet")
        self.overwritten(out.array, value, 1, out.version)

    def outright(self, f: Any, tensors: list[Any], *rest: Any) -> Any:
        """f(tensors, *rest), which writes their .grad: called as it is at each replay."""
        if not self.off:
            try:
                self.flush()
                if any(self.tensors.by_id.get(id(t), ("", 0))[0] != "held" for t in tensors):
                    raise Refused(f"{f.__name__} of tensors that the function does not reach by itself")
            except Refused as error:
                self.refuse(error)
        fn = Outright(f, tensors, rest)
        modes.observer = self.it.listener = None
        try:
            got = f(tensors, *rest)
            arrays = fn.arrays()
        finally:
            modes.observer = self.it.listener = self
        if self.off:
            return got
        outs = [Value("made", (), None) if x is None else of_array(x) for x in arrays]
        first = Value("made", (), None) if got is None else of_array(got.array)
        self.alive.append(got)
        self.add(Entry(f.__name__, fn, [None], [first, *outs], "", True, self.line()))
        for t, v in zip(tensors, outs):
            if v.array is not None:
                self.overwritten(v.array, v)
                self.settled[self.place("held", self.tensors.by_id[id(t)][1])] = (t.grad, v)
        return got

    # -- told by optimizers

    def reached(self, x: Any) -> None:
        """An object that replays ask or change: one that was there before the call?"""
        if self.reach is None or not any([x is y for y in self.reach.live]):
            raise Refused(f"a {type(x).__name__} that the function does not reach")

    def number(self, x: Any, name: str) -> Any:
        """x.name as a tensor."""
        read = Number(x, name)
        t = wrap(read())
        if not self.off:
            try:
                self.reached(x)
                self.alive.append(t)
                self.add(Entry(name, read, [], [of_array(t.array)], "", False, self.line()))
            except Refused as error:
                self.refuse(error)
        return t

    def live(self, f: Any, x: Any, args: Any, kwargs: Any) -> None:
        """f(x, *args, **kwargs): called as it is at each replay."""
        if not self.off:
            try:
                self.reached(x)
                given = [*args, *kwargs.values()]
                if any([not isinstance(y, (TensorBase, *PLAIN)) for y in given]):
                    raise Refused(f"an argument of {type(x).__name__}.{f.__name__}")
                self.flush()
                values = [self.of(y.array) for y in given if isinstance(y, TensorBase)]
                name = f"{type(x).__name__}.{f.__name__}"
                self.add(Entry(name, Live(f, x, args, kwargs), values, [], "", True, self.line()))
            except Refused as error:
                self.refuse(error)
        self.unrecorded(f, x, *args, **kwargs)

    def step(self, optimizer: Any, closure: Any, run: Any = None) -> Any:
        """In place of optimizer._step(closure), or of run(), which may call that."""
        own = partial(optimizer._run_step, closure)
        if self.off:
            return own() if run is None else run()
        try:
            if closure is not None:
                raise Refused("a closure given to step()")
            if type(optimizer) not in OPTIMIZERS:
                raise Refused(f"{type(optimizer).__name__}.step() is not replayed yet")
            self.flush()
            params: list[TensorBase] = [p for group in optimizer.param_groups for p in group["params"]]
            for t in params:
                if id(t) not in self.tensors.by_id:
                    raise Refused("an optimizer of tensors that the function does not reach")
            if run is not None and any([vars(optimizer)[name] for name in STEP_HOOKS]):
                raise Refused("hooks of an optimizer that something else steps")
            self.entries.append(Entry("step", own if run is None else run, [], [], "", True, self.line()))
            self.steps.append(optimizer)
        except Refused as error:
            self.refuse(error)
            return own() if run is None else run()
        got = own() if run is None else self.unrecorded(run)
        for t in params:
            kind, i, _ = self.tensors.by_id[id(t)]
            array = t.array
            self.renewed(array, of_array(array, kind, i))
        return got

    # -- the end

    def differentiate(self, result: Any) -> None:
        """The backward pass from the results that can still be differentiated; call it within `with`."""
        if self.reason:
            return
        try:
            outs = live(self, result)
            if outs:
                self.flush()
                self.graph = Graph(self, outs)
                if not self.reason:
                    self.graph.settle(self)
        except Refused as error:
            self.refuse(error)
        except RecursionError:
            self.refuse("a result that contains itself")

    def finish(self, result: Any) -> Outputs:
        """Call it after the function returned `result`, outside `with`; Refused where the call cannot be replayed."""
        if self.reason:
            raise Refused(self.reason)
        if self.heeds:
            self.settled_hooks()
        self.flush()
        early = [(self.place(kind, i), self.tensors.get(kind, i)) for kind, i in self.early]
        if any([grad_of(t) is not None and grad_of(t) is self.first[at] for at, t in early]):
            raise Refused("a .grad that is put away and put back")
        outputs = Outputs(self, result)
        roots = [id(root(t.array)) for _, _, t in self.tensors.all()] if self.apart else []
        for value in self.escaping(outputs):
            roots.append(id(root(value.array)))
        if len(set(roots)) < len(roots):
            raise Refused("results or gradients that share memory with each other or with earlier tensors")
        return outputs

    def edits(self) -> dict[int, int]:
        """How many edits of each tensor the entries make, by its place."""
        found: dict[int, int] = {}
        for e in self.entries:
            if isinstance(e.fn, Store):
                at = e.args[0].index
                found[at] = found.get(at, 0) + e.fn.count
        for at, count in self.hook_edits.items():
            found[at] = found.get(at, 0) + count
        return found

    def stepped(self) -> set[int]:
        """The tensors, by identity, in optimizers that make a step."""
        return {id(p) for opt in self.steps for group in opt.param_groups for p in group["params"]}

    def escaping(self, outputs: Outputs) -> list[Value]:
        """What users get hold of."""
        setter: Any = set_grad
        grads: list[Value] = [e.args[1] for e in self.entries if e.fn is setter]
        found: dict[int, Value] = {id(v): v for v in grads}
        if len(found) < len(grads):
            raise Refused("one tensor is the .grad of several")
        for value in outputs.values:
            found[id(value)] = value
        many = list(found.values())
        if any([value.array is None for value in many]):
            raise Refused("a gradient that is a sum not recorded")
        return many

    # -- effects

    def flush(self) -> None:
        """Entries that give memory its new content and tensors their .grad, as they are now."""
        known = self.tensors.all()
        if self.edited:
            for place, (kind, i, t) in enumerate(known):
                count = self.edited.pop((kind, i), None)
                if count is not None:
                    array = t.array
                    self.effect("store", Store(count), place, self.of(array))
                    self.values[id(array)] = of_array(array, kind, i)
        for place, (_, _, t) in enumerate(known):
            found: Any = grad_of(t)
            had, content = self.settled[place]
            if found is None:
                if had is not None:
                    self.effect("grad", no_grad, place, None)
                    self.settled[place] = (None, None)
                continue
            grad: TensorBase = found
            if grad.rg or grad.fn is not None:
                raise Refused("a .grad that can be differentiated")
            value = self.of(grad.array)
            if grad is not had:
                self.effect("grad", set_grad, place, value)
            elif value is not content:
                self.effect("grad", store_grad, place, value)
            else:
                continue
            self.settled[place] = (grad, value)

    def effect(self, name: str, fn: Any, place: int, value: Value | None) -> None:
        self.entries.append(Entry(name, fn, [Value("tensor", (), None, None, place), value], [], "", True))
