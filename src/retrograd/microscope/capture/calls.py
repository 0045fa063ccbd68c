"""What becomes of a call that a capture hears: a use, a source, or nothing that is kept."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy_extensions import mypyc_attr

from ..errors import CaptureError
from ..listen import Engine
from ..listen.ear import MARK, Call, Plan
from .layers import RULES
from .parameters import Found, hooked
from .pending import Waiting, settle
from .recomputing import AGAIN, written
from .runs import Use, Window, caller
from .sample_order import HIDDEN, REORDERING, Origin, made, reorders
from .sources import Leaf, Made, Source, flat, replaced
from .tally import Tally, turns


@mypyc_attr(allow_interpreted_subclasses=True)
class Calls(Waiting):
    """The part of a Capture that takes calls in."""

    def __init__(self, engine: Engine, model: Any, layers: Any, where: Callable[[str, int], bool] | None, batch_dim: int,
                 batch_size: int | None) -> None:
        super().__init__(engine, where, batch_size)
        self.model: Any = model
        self.layers: Any = layers
        self.batch_dim: int = batch_dim
        self.checking: bool = False
        self.failed: dict[int, str] = {}        # parameter -> why what was captured is not its gradient
        self._heard: Any = None                 # a context in which the ear hears
        self._ear: Tally = Tally(self._takes, self._without, self._follow, self._origin,
                                 engine.passes | {engine.torch.autograd.grad}, engine.says, batch_dim,
                                 engine.torch.is_grad_enabled, turns(engine.torch.Tensor))
        self._pending = self._ear.waiting
        self._sharded: bool = False             # by FSDP?
        self._depth: int = 0                    # of calls of the model, in each other
        self._tracked: dict[int, Source] = {}
        self._found: Found | None = None        # what is the same in every step
        self._constants: set[int] = set()
        self._wanted: set[int] = set()          # parameters
        self._lean: set[int] = set()            # parameters whose gradients backward need not compute
        self._spared: set[int] = set()          # ... and did not, in this step
        self._reordering: dict[Any, str] = {}   # functions seen -> their names, when they are in orders.REORDERING

    def _takes(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """In place of func(*args, **kwargs), which takes something tracked, or of a pass."""
        raise NotImplementedError

    def _without(self, func: Any, args: Any, kwargs: Any, out: Any) -> Any:
        """Of a call inside the model that takes nothing tracked; -> out."""
        name = self._reordering.get(func)
        if name is None:
            name = self.engine.name_of(func)
            name = self._reordering[func] = name if name in REORDERING else ""
            if not name:
                self._ear.plain[func] = True
        if name:
            out = self._reorders(name, args, kwargs, out)
        if getattr(out, "requires_grad", None) is not True:
            self._mark(func, args, kwargs, out)
        elif self.runs[-1].by:
            self._join(args, kwargs)
        return out

    def _reorders(self, name: str, args: Any, kwargs: Any, out: Any) -> Any:
        """A call that may put samples elsewhere; -> out."""
        if name == "iter":
            out = tuple(out)
        run = self.runs[-1]
        if not run.by and (run.size or 1) > 1 and reorders(name, args, kwargs, out, self.batch_dim, run.size or 1) and any(
                self._is_data(x) for x in flat((args, kwargs)) if isinstance(x, self.engine.Tensor)):
            site = caller()
            self._ear.wary = True
            run.by, run.moved = f"{name} at {site[0]}:{site[1]}" if site else name, True
            run.since = len(run._uses) + len(run.waiting) + len(self._pending)
        return out

    def _join(self, args: Any, kwargs: Any) -> None:
        """Data without gradient comes together with what has one."""
        with self.engine.unseen():
            for x in flat((args, kwargs)):
                if isinstance(x, self.engine.Tensor) and x.is_floating_point() and not x.requires_grad and self._is_data(x):
                    self.runs[-1].joined.append(self._origin(x))

    def _origin(self, x: Any) -> Origin:
        """How data without gradient was made of the model's input."""
        run = self._run()
        if x.requires_grad and id(x) not in run.inputs:
            return Origin(run, x, HIDDEN)
        mark = getattr(x, MARK, None)
        if mark is None or mark.run is not run or id(x) in run.inputs and x.is_leaf and not mark.name:
            return Origin(run, x, "")
        found: Origin = mark
        return found

    def _again(self, plan: Plan, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """A call like one seen before: with the same parameters at the same places."""
        data = args[plan.data]
        if not isinstance(data, self.engine.Tensor) or not data.requires_grad and not self._is_data(data):
            return self._use(func, impl, args, kwargs)
        spared = self._spareable(plan, data)
        self._still_whole(plan.numbers - spared, plan.name)
        if spared:
            self._spared |= spared
            those = {id(s.tensor) for s in plan.sources.values() if s.number in spared}
            out = impl(*[x.detach() if id(x) in those else x for x in args],
                       **{key: x.detach() if id(x) in those else x for key, x in kwargs.items()})
        else:
            out = impl(*args, **kwargs)
        return self._follow(plan, args, kwargs, data, out) if plan.wanted and out.requires_grad else out

    def _spareable(self, plan: Plan, data: Any) -> set[int]:
        """Parameters of a call whose gradients need not be computed; not all, where nothing else leads a gradient to it."""
        if not self._lean or self.checking:
            return set()
        spared = plan.numbers & self._lean
        if spared == plan.numbers and not data.requires_grad or any(
                hooked(s.tensor) for s in plan.sources.values() if s.number in spared):
            return set()
        return spared

    def _follow(self, plan: Plan, args: Any, kwargs: Any, data: Any, out: Any) -> Any:
        """It gave `out`."""
        node = out.grad_fn
        if self._depth and self.where is None and (below := plan.nodes.get(type(node))) is not None:
            self._pending.append(Call(plan, args, kwargs, data._version, data.requires_grad or self._origin(data), node, below,
                                      out.shape, self._ear.layout))
            return out
        settle(self)
        use = Use(self._run(), plan.name, plan.func, self._ear.layout, plan.sources)
        use.follow(plan, args, kwargs, data.requires_grad)
        use.origins = () if data.requires_grad else (self._origin(data),)
        made = self._watch(use, out, [out])
        if not self._sharded and plan.rule.holds and "weight" in plan.sources and made is out:
            first = node.next_functions[0][0] if use.boxes and use.boxes[0][2] is not None else None
            if first is None or plan.rule.kind in ("linear", "matmul"):
                plan.nodes[type(node)] = first is not None
        return made

    def _still_whole(self, numbers: set[int], name: str) -> None:
        """Half a .grad would be a wrong one."""
        if not self._spared.isdisjoint(numbers):
            which = ", ".join(self.params[n].name for n in sorted(self._spared & numbers))
            raise CaptureError(
                f"capture(weight_grads=False): {name} uses {which} differently from the step that was checked, and part "
                "of its gradient was already skipped; run this step with weight_grads=True")

    def _plan(self, use: Use, args: Any, kwargs: Any) -> None:
        """Remember a call of a rule's form, with parameters themselves as arguments, for _again."""
        assert self._found is not None
        own = self._found.own
        places = [id(x) if id(x) in self._tracked else 0 for x in args]
        named = {key: id(x) if id(x) in self._tracked else 0 for key, x in kwargs.items()}
        data = next((i for i, x in enumerate(args) if not places[i] and isinstance(x, self.engine.Tensor) and self._is_data(x)),
                    None)
        if data is None or not all(type(source) is Leaf and id(source.tensor) in own for source in use.sources.values()):
            return
        first = next(place for place in (*places, *named.values()) if place)
        use.live = args[data].requires_grad
        path = self._path_of(min(use.numbers))
        self._ear.plans[first, use.func] = Plan(use.kind, use.name, use.func, path, use.sources, use.numbers,
                                            not self._wanted.isdisjoint(use.numbers), places, named, data)

    def _mark(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """A result without gradient is data when an argument is."""
        Tensor = self.engine.Tensor
        if type(out) is tuple and self.engine.name_of(func) == "_pack_padded_sequence":
            self.runs[-1].moved = True
        found = [out] if isinstance(out, Tensor) else [y for y in out if isinstance(y, Tensor)] if isinstance(
            out, (tuple, list)) else []
        name = self.engine.name_of(func)
        if out is None and name == "setitem":
            found = [args[0]]
        if found and any(self._is_data(x) for x in flat((args, kwargs)) if isinstance(x, Tensor)):
            with self.engine.unseen():
                origins = made(self._run(), self.engine.torch, name, func, args, kwargs, out, found,
                               lambda x: self._origin(x) if self._is_data(x) else None)
                site = caller() if self.checking else None
                for y, origin in zip(found, origins):
                    origin.site = site
                    if not y.requires_grad and id(y) not in self._constants:
                        setattr(y, MARK, origin)
                        if (name == "setitem" or name.endswith("_")) and (base := y._base) is not None:
                            setattr(base, MARK, Origin(origin.run, base, "an edit of a view", (origin,)))

    def _is_data(self, x: Any) -> bool:
        """Does x depend on the model's input?

        Outside the model's call everything does that is not the model's.  In doubt inside it is a constant: that is
        right, too, since samples are told apart at the next use.
        """
        if x.requires_grad:
            return id(x) not in self._tracked
        if id(x) in self._constants:
            return False
        if hasattr(x, MARK):
            return True
        if not self._depth:
            return not self.engine.in_backward()
        return id(x) in self.runs[-1].inputs

    def _use(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """A call with a tracked argument."""
        engine = self.engine
        settle(self)
        if func in engine.composites:
            before, self._ear.layout = self._ear.layout, "rows"
            try:
                return engine.inside(self._heard, func, impl, args, kwargs)
            finally:
                self._ear.layout = before
        name = engine.name_of(func)
        tracked = self._tracked
        edits = name.endswith("_") and not name.endswith("__") and name not in ("requires_grad_", "_") or name == "setitem"
        given, run_by = args, func
        if edits and name not in ("add_", "sub_") and hasattr(args[0], "detach") and id(args[0]) not in tracked:
            given = (args[0].detach().clone(), *args[1:])
        out = impl(*args, **kwargs)
        Tensor = engine.Tensor
        changed = out
        if name == "setitem":                   # returns nothing: what it made is its first argument
            changed, run_by = args[0], written
        outs = [changed] if isinstance(changed, Tensor) else [x for x in flat(changed) if isinstance(x, Tensor)]
        outs = [x for x in outs if x.requires_grad and (id(x) not in tracked or edits)]
        if not outs or outs[0].grad_fn is None:
            if self._depth and not outs:
                self._mark(func, args, kwargs, out)
            return out
        for x in args:
            if isinstance(x, Tensor) and id(x) not in tracked and self._is_data(x):
                break
        else:
            data = any(isinstance(x, Tensor) and id(x) not in tracked and self._is_data(x) for x in flat((args, kwargs)))
            if not data:
                self._made(name, func, args, kwargs, out, edits)
                return out
        if edits:
            tracked.pop(id(args[0]), None)      # from here on it is data
        use = Use(self._run(), name, run_by, self._ear.layout, {})
        rule = RULES.get(name)
        if rule is None or not rule.read(use, given, kwargs, changed, tracked):
            use.sources.clear()
            rule = AGAIN
            use.site = caller()
            rule.read(use, given, kwargs, changed, tracked)
        use.kind = rule
        data_of = [x for x in flat((args, kwargs)) if isinstance(x, Tensor) and id(x) not in tracked and x is not changed]
        use.live = any(x.requires_grad for x in data_of)
        if self._depth:
            use.origins = tuple(self._origin(x) for x in data_of if not x.requires_grad and self._is_data(x))
        use.numbers = {leaf.number for source in use.sources.values() for leaf in source.leaves()}
        self._lean -= use.numbers
        self._still_whole(use.numbers, name)
        if rule is not AGAIN and not edits:
            self._plan(use, args, kwargs)
        if self._wanted.isdisjoint(use.numbers):
            return out
        return self._watch(use, out, outs, edits)

    def _watch(self, use: Use, out: Any, outs: list[Any], edits: bool = False) -> Any:
        """Wait for the gradient at the outputs of a use; -> out, for the caller."""
        if not self._enlist(use, [x.shape for x in outs], not self._depth and self.engine.in_backward()):
            return out
        if len(outs) > 1 and use.kind is AGAIN:
            # NOTE [Several outputs]  One may be made of another (LSTM's h of its c), whose node then gets both what comes
            # from outside and what comes through the other.  Copies get what comes from outside.
            copies = {id(x): x.clone() for x in outs}
            out = replaced(out, lambda x: copies.get(id(x), x))
            outs = list(copies.values())
        use.order = outs[0].grad_fn._sequence_nr()
        use.dtypes = [x.dtype for x in outs]
        for x in outs:
            node, nr, cut = x.grad_fn, x.output_nr, None
            base = x._base
            if base is not None and (below := base.grad_fn) is not None and base.is_contiguous():
                # an edit in place of a view puts another node in its place, which the view's base does not lead to
                if edits:
                    node, nr, cut = below, base.output_nr, Window(x.shape, x, base)
                # a view of what was just made (3-D linear)
                elif node.next_functions[0][0] is below and base.numel() == x.numel() and x.is_contiguous():
                    node, nr, cut = below, base.output_nr, Window(x.shape)
            self._await(use, node, nr, cut)
        return out

    def _made(self, name: str, func: Any, args: Any, kwargs: Any, out: Any, edits: bool) -> None:
        """A tensor made of parameters and constants only."""
        tracked = self._tracked
        parents = {id(x): tracked[id(x)] for x in flat((args, kwargs)) if id(x) in tracked}
        if edits:
            for parent in parents.values():
                for leaf in parent.leaves():
                    self.failed[leaf.number] = f"{name} edits a tensor made of it in place"
            return
        values = [out] if isinstance(out, self.engine.Tensor) else list(out)
        for i, x in enumerate(values):
            if isinstance(x, self.engine.Tensor) and x.requires_grad and id(x) not in tracked:
                tracked[id(x)] = Made(x, name, func, args, kwargs, i, parents)
