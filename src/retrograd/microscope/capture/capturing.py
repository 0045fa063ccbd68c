"""capture(model): every use of every parameter, with its input and the gradient at its output.

A use is a call of a function that has a parameter, or a tensor made of parameters only, among its arguments.  Functions
are seen through the engine (listen), so it does not matter who calls: a layer, F.linear on a layer's weight,
attention's inside, `x * self.scale`.  The gradient at the output is taken by a hook on the node that made it, after all
hooks on the tensor itself; so in-place activations work, and what a hook edited is what we see.
"""
from __future__ import annotations

import fnmatch
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..._engine.tensor import TensorBase
from ..._engine.views import grad_fn
from .._own_hook import OwnHook
from ..arguments import checked
from ..errors import OF_OLD, CaptureError
from ..listen import Engine, engine_of
from ..listen.ear import MARK, Ear, Plan, sizes, wants
from .batch_proof import batched, verify
from .layers import RULES
from .loss import reduction_of
from .loss_key import known_by_key
from .parameters import Tree, hooked, parameters_of, stand_ins
from .pending import Waiting, inside, number_of
from .recomputing import AGAIN, written
from .rules import Refused, pulled
from .runs import Run, Use, Window, caller
from .sample_order import HIDDEN, REORDERING, Origin, made, reorders, unasked
from .sources import Leaf, Made, Source, flat, replaced
from .terms import Term, combined


class Capture(Waiting):
    """Context manager that captures what `model` does in its block.  Entering it again starts a new capture.

    model       a module of retrograd.nn or torch.nn
    layers      which parameters: a pattern such as "blocks.*" for names of modules or parameters, a module, several of
                them, or a function of (name, parameter); all by default
    where       which calls: a function (path of the layer, index of the call) -> bool
    batch_dim   where the batch is in the model's input and in its layers' outputs
    batch_size  the batch size, if the model's first tensor argument does not show it
    calls       if the model is called several times before backward: "apart", the calls have different samples;
                "same", sample n of every call is one sample (two views of it, say); None: per-sample questions are
                refused then
    verify      on checked steps, find out, by three more backward passes, whether samples are independent and where they are
                (batch_proof.py); takes the memory of three more sets of output gradients; on every step if the model sorts,
                packs or selects samples.  Your hooks see those passes, too.  Not done under FSDP, nor if no output of the
                model has a batch dimension: Coverage.verified says so
    weight_grads    False: from the second step on, backward does not compute the gradients of weights that the checked step
                covered by a rule for linear maps or convolutions: their .grad stays as it was, and clip(), norms() or
                weight_grad() compute what you need.  That saves up to a third of the step.  Does not apply to parameters with
                hooks, to those known for the whole batch only, nor under DDP or FSDP
    check       "first": compare reconstructed gradients with those that arrive on the first step, and whenever the model
                makes other calls than in steps checked so far; True: always; False: never
    """

    def __init__(
        self, model: Any, layers: Any = None, where: Callable[[str, int], bool] | None = None, *, batch_dim: int = 0,
        batch_size: int | None = None, check: bool | str = "first", calls: str | None = None, verify: bool = True,
        weight_grads: bool = True,
    ) -> None:
        super().__init__()
        self.engine: Engine = engine_of(model)
        if not isinstance(model, self.engine.Module):
            raise TypeError(f"capture: expected a module, got {type(model).__qualname__}")
        if type(model).__module__.startswith("torch.jit"):
            raise TypeError("capture: a scripted model does not run in Python, so its calls cannot be seen; pass the original")
        if check not in (True, False, "first"):
            raise ValueError(f"capture: check is True, False or 'first', got {check!r}")
        if calls not in (None, "apart", "same"):
            raise ValueError(f"capture: calls is None, 'apart' or 'same', got {calls!r}")
        self.calls = calls
        self.verify = verify
        self.weight_grads = weight_grads
        self._lean: set[int] = set()            # parameters whose gradients backward need not compute
        self._spared: set[int] = set()          # ... and did not, in this step
        self.model = model
        self.layers = layers
        self.where = where
        self.batch_dim = batch_dim
        self.batch_size = batch_size
        self.check_when = check
        self.entered = False
        self.arrived: dict[int, Any] = {}       # parameter -> gradient that reached it, on checked steps
        self.errors: dict[int, float] = {}
        self.failed: dict[int, str] = {}        # parameter -> why what was captured is not its gradient
        # structures of steps that were -> verified, moved (see Run), run.turn, and what Run.places says of each use
        self.checked: dict[int, tuple[bool, bool, list[int] | None, list[tuple[Any, ...]]]] = {}
        self.checking = False
        self.filled: dict[int, tuple[Term, str]] = {}   # parameter -> by filling.py, and how
        self._handles: list[Any] = []
        self._numbers: Any = None               # of the hooks on the model, and their handles
        self._param_handles: list[Any] = []
        self._reductions: dict[Any, Any] = {}   # of losses of steps that were: see loss_key.py
        autograd = self.engine.torch.autograd
        self._ear = Ear(self._takes, self._without, self._follow, self._origin, self.engine.passes | {autograd.grad},
                        self.engine.says, batch_dim)
        self._pending = self._ear.waiting
        self._depth = 0
        self._tracked: dict[int, Source] = {}
        self._reordering: dict[Any, str] = {}   # functions seen -> their names, when they are in orders.REORDERING
        self._constants: set[int] = set()
        self._find_parameters()

    # Entering and leaving

    def _find_parameters(self) -> None:
        self._all: Any = None                   # what is the same in every step: see __enter__
        self.params = parameters_of(self.engine, self.model, self.layers)
        self._tree = Tree(self.model)
        self._leaves = [p.tensor for p in self.params]
        self._turning = list(self._layouts())

    def __enter__(self) -> Capture:
        if self.entered:
            raise CaptureError("capture: already entered; use one capture per block, or leave this one first")
        if not self._tree.same():
            self._find_parameters()
        flags = [wants(x) for x in self._leaves]
        buffers = self._tree.buffers()          # held, so that their ids stay theirs
        if self._all is None or self._all[0] != flags or any(x is not y for x, y in zip(buffers, self._all[4])):
            self._all = (flags, {id(p.tensor): Leaf(p.tensor, p.number) for p, on in zip(self.params, flags) if on},
                         {id(p.tensor) for p, on in zip(self.params, flags) if not on} | {id(b) for b in buffers},
                         {p.number for p, on in zip(self.params, flags) if p.selected and on}, buffers)
            self._ear.plans = {}
            self._reports: dict[Any, Any] = {}          # of steps without anything special: see coverage.cover
            self._lean = set()
        self._constants = self._all[2]
        self._wanted = self._all[3]
        self.clear()
        self._own_thread = threading.get_ident()
        self._heard = self.engine.calls(self._ear)
        self._put_hooks()
        self._mark_layouts()
        self._mark_sharded()
        if not self.weight_grads and (self._sharded or self._tree.has("DistributedDataParallel")):
            self._lift()
            raise CaptureError("capture(weight_grads=False): DDP and FSDP need every parameter's gradient; leave it out")
        if self.check_when is True or (self.check_when and not self.checked):
            self._begin_check()
        # on steps that are not checked, what is needed to notice a gradient by a way that was not seen
        self._before = [] if self.checking and self._param_handles else [
            None if x is None else (x, x._version) for x in map(gradient, self._leaves)]
        self._heard.__enter__()
        self.entered = True
        inside.append(self)
        return self

    def _put_hooks(self) -> None:
        """The model's own two, under the numbers that they got at first."""
        model = self.model
        if self._numbers is None or self._numbers[2][0].hooks_dict_ref() is not model._forward_pre_hooks:
            begins = OwnHook(self.engine.eager(self._model_begins))
            ends = OwnHook(self.engine.eager(self._model_ends))
            self._handles = [model.register_forward_pre_hook(begins, with_kwargs=True),
                             model.register_forward_hook(ends, always_call=True)]
            self._numbers = self._handles[0].id, self._handles[1].id, self._handles.copy(), begins, ends
            return
        first, last, _, begins, ends = self._numbers
        model._forward_pre_hooks[first] = begins
        model._forward_pre_hooks_with_kwargs[first] = True
        model._forward_hooks[last] = ends
        model._forward_hooks_always_called[last] = True

    def __exit__(self, *error: Any) -> None:
        self._heard.__exit__(*error)
        self.entered = False
        inside.remove(self)
        self._settle()
        self._drain()
        self._notice_unseen()
        self._lift()
        self._end_check()
        for run in self.runs:
            run.open = False
            run.inputs.clear()
        if error[0] is None and self.checking and self.arrived:
            self.check()

    def _lift(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        if self._numbers is not None:
            first, last, *_ = self._numbers
            model = self.model
            model._forward_pre_hooks.pop(first, None)
            model._forward_pre_hooks_with_kwargs.pop(first, None)
            model._forward_hooks.pop(last, None)
            model._forward_hooks_always_called.pop(last, None)

    def _notice_unseen(self) -> None:
        """Parameters whose .grad changed in this block although no call with them was seen."""
        missed = self._wanted.difference(*[run.numbers for run in self.runs]) if self._before else ()
        for p in [self.params[number] for number in sorted(missed)]:
            if (g := p.tensor.grad) is not None:
                before = self._before[p.number]
                if before is not None and g is before[0] and g._version == before[1]:
                    continue
                if not self._sharded:           # (looking into a sharded gradient would be a collective call)
                    g = g.to_dense() if getattr(g, "is_sparse", False) else g
                    if not bool((g != 0).any()):
                        continue
                self.unseen.add(p.number)
        self._before = []

    def clear(self) -> None:
        """Forget what was captured; inside a block, before the next step."""
        for run in self.runs:
            run.forget()
        self.runs = []
        self._pending.clear()
        self.arrived = {}
        self.errors = {}
        self.left_out = set()
        self._spared = set()
        self.filled = {}
        self.unseen: set[int] = set()           # parameters with a gradient that no call explains
        self._terms = None
        self._tracked = self._ear.followed = dict(self._all[1])
        self.stand_ins: list[Any] = []          # tensors that took a parameter's place
        self.displaced: dict[int, str] = {}     # parameter -> why what took its place is not followed
        self._depth = 0
        self._ear.running = self._ear.waits = False

    def _layouts(self) -> Iterator[tuple[Any, Any]]:
        """Modules of retrograd.nn that turn their tensors around inside (torch does it in one function): where the batch is."""
        if self.engine.name != "retrograd":
            return
        nn = self.engine.torch.nn
        for module in self._tree.modules:
            if isinstance(module, nn.MultiheadAttention):
                yield module, "rows"
            elif isinstance(module, nn.modules.rnn.RNNBase):
                yield module, "recurrent"
            elif isinstance(module, nn.modules.rnn.RNNCellBase):
                yield module, 0

    def _mark_layouts(self) -> None:
        for module, layout in self._turning:
            before: list[Any] = []

            def enter(_m: Any, args: Any, layout: Any = layout, before: list[Any] = before) -> None:
                before.append(self._ear.layout)
                self._ear.layout = layout
                if args and hasattr(args[0], "batch_sizes"):
                    self._ear.layout, self._run().moved = "packed", True

            def leave(_m: Any, _a: Any, _o: Any, before: list[Any] = before) -> None:
                self._ear.layout = before.pop()
            self._handles += [module.register_forward_pre_hook(OwnHook(enter)),
                              module.register_forward_hook(OwnHook(leave), always_call=True)]

    def _mark_sharded(self) -> None:
        """FSDP2: the parameters of a module are whole only while it runs, as other tensors."""
        self._sharded = False
        for module in self._tree.modules if self.engine.name == "torch" else ():
            names = {cls.__name__ for cls in type(module).__mro__}
            if "FullyShardedDataParallel" in names:
                self._lift()
                raise CaptureError(f"capture: {OF_OLD}")
            if "FSDPModule" in names:
                self._sharded = True
                self._handles.append(module.register_forward_pre_hook(OwnHook(self._gathered)))

    def _gathered(self, module: Any, _args: Any) -> None:
        inside = {id(m) for m in module.modules()}
        for p in self.params:
            if id(p.module) in inside and p.tensor.requires_grad:
                whole = p.module._parameters.get(p.key)
                if whole is not None and id(whole) not in self._tracked:
                    self._tracked[id(whole)] = Leaf(whole, p.number)
                    if self._param_handles and p.selected and whole.requires_grad:
                        self._param_handles.append(whole.register_hook(self._keeper(p.number)))

    # Runs

    def _model_begins(self, _module: Any, args: Any, kwargs: Any) -> None:
        if threading.get_ident() != self._own_thread:
            return
        self._depth += 1
        if self._depth > 1:
            return
        before = self.runs[-1] if self.runs else None
        pending = before is not None and before.uses and not any(u.arrived for u in before.uses)
        run = Run(len(self.runs))
        if pending and self.calls == "same":
            assert before is not None
            run = before
        else:
            self.runs.append(run)
            run.before = before if pending else None
        run.open = self._ear.running = True
        self._ear.wary = bool(run.by)
        self._ear.waits = self.where is None and not self._lean and not self._spared
        if not self._sharded:
            for p, x in stand_ins(self.engine, self.params, self._tracked, self.displaced):
                self._tracked[id(x)] = Leaf(x, p.number)
                self.stand_ins.append(x)
                if self._param_handles and p.selected:
                    self._param_handles.append(x.register_hook(self._keeper(p.number)))
        self._ear.inputs = run.inputs
        size, run.size = run.size, None
        with self.engine.unseen():
            for x in args if not kwargs and len(args) == 1 and isinstance(args[0], TensorBase) else flat((args, kwargs)):
                if isinstance(x, TensorBase) or self.engine.is_tensor(x):
                    run.inputs[id(x)] = x
                    self._ear.waits = self._ear.waits and id(x) not in self._constants
                    if run.size is None and len(shape := sizes(x)) > self.batch_dim:
                        run.size = int(shape[self.batch_dim])
        for x in args:
            if not isinstance(x, TensorBase) and hasattr(x, "batch_sizes"):     # a PackedSequence
                run.size, run.moved = int(x.batch_sizes[0]), True
        if self.batch_size is not None:
            run.size = self.batch_size
        if run.size == 0:
            raise CaptureError("capture: the model was called with a batch of no samples; skip it.  Where DP-SGD drew an empty "
                               "batch, dp_sgd_step(None, ...) takes its step of noise alone")
        if run is before and run.size != size:
            raise CaptureError(f"capture(calls='same'): the model was called with batches of {size} and {run.size}")

    def _model_ends(self, _module: Any, _args: Any, out: Any) -> None:
        if threading.get_ident() != self._own_thread:
            return
        self._depth -= 1
        if self._depth:
            return
        self._ear.running = self._ear.waits = False
        self._settle()
        run = self.runs[-1]
        run.open = False
        run.outs = self._outs(run, out)
        if not self.engine.in_backward():       # else a checkpoint runs the whole model again
            self._place(run, out)
        run.inputs.clear()

    def _outs(self, run: Run, out: Any) -> dict[int, int]:
        dim = self.batch_dim
        if isinstance(out, TensorBase):         # as below, sooner
            shape: tuple[int, ...] = out.array.shape
            if len(shape) <= dim or shape[dim] != run.size or not wants(out):
                return {}
            node = grad_fn(out)
            return {} if node is None else {number_of(node): dim}
        with self.engine.unseen():
            return {x.grad_fn._sequence_nr(): dim for x in batched(self, run, out) if x.grad_fn is not None}

    def _place(self, run: Run, out: Any) -> None:
        """Find out where the samples of a call of the model are, or remember it."""
        known = self.checked.get(run.structure)
        if self.check_when is True or self.check_when and known is None:
            self._begin_check()
        elif known is not None and not known[1] and not run.by:
            run.verified, run.turn, run.places = known[0], *known[2:]
            return
        elif known is not None:
            run.moved = True
        if self.verify and not self._sharded and (self.checking or run.moved):
            count = len(self.runs)
            verify(self, run, out)
            del self.runs[count:]
        if not run.verified and (run.size or 1) > 1:
            unasked(self, run)

    # Calls

    def _takes(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """In place of func(*args, **kwargs), which takes something tracked, or of a pass."""
        if func in self.engine.passes:
            return self._pass(func, impl, args, kwargs)
        tracked = self._tracked
        for x in (*args, *kwargs.values()) if kwargs else args:
            if id(x) in tracked:
                plan = self._ear.plans.get((id(x), func))
                if plan is not None and self._ear.alike(plan, args, kwargs):
                    return self._again(plan, func, impl, args, kwargs)
                break
        if func is self.engine.torch.autograd.grad:
            self._settle()
            return impl(*args, **kwargs)
        return self._use(func, impl, args, kwargs)

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
        if self._lean and data.requires_grad and plan.numbers <= self._lean and not self.checking and not any(
                hooked(s.tensor) for s in plan.sources.values()):
            self._spared |= plan.numbers
            out = impl(*[x.detach() if place else x for x, place in zip(args, plan.places)],
                       **{key: x.detach() if plan.named[key] else x for key, x in kwargs.items()})
        else:
            self._still_whole(plan.numbers, plan.name)
            out = impl(*args, **kwargs)
        return self._follow(plan, args, kwargs, data, out) if plan.wanted and out.requires_grad else out

    def _follow(self, plan: Plan, args: Any, kwargs: Any, data: Any, out: Any) -> Any:
        """It gave `out`."""
        node = out.grad_fn
        if self._depth and self.where is None and (below := plan.nodes.get(type(node))) is not None:
            self._pending.append((plan, args, kwargs, data._version, data.requires_grad or self._origin(data), node, below,
                                  out.shape, self._ear.layout))
            return out
        self._settle()
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
        own = self._all[1]
        places = [id(x) if id(x) in self._tracked else 0 for x in args]
        named = {key: id(x) if id(x) in self._tracked else 0 for key, x in kwargs.items()}
        data = next((i for i, x in enumerate(args) if not places[i] and isinstance(x, self.engine.Tensor) and self._is_data(x)),
                    None)
        if data is None or not all(type(source) is Leaf and id(source.tensor) in own for source in use.sources.values()):
            return
        first = next(place for place in (*places, *named.values()) if place)
        use.live = args[data].requires_grad
        path = self.params[min(use.numbers)].path
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
        self._settle()
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

    def _pass(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """loss.backward(), autograd.backward(loss)"""
        self._settle()
        self._drain()
        before = self._loss
        if before is None:                      # else: a reentrant checkpoint's own, inside the loss's
            roots = listed(args[0] if args else kwargs.get("tensors"))
            for root in roots:
                self._root(root)
            if len(roots) == 1 and self.engine.is_tensor(roots[0]):
                seed, = listed(self.engine.seeds(args, kwargs)) or (None,)
                self._loss = None if seed is not None else known_by_key(roots[0], self.runs, self._reductions)
                if self._loss is None:
                    self._loss = reduction_of(self.engine, roots[0], seed, self.runs, self._reductions)
        try:
            # checkpoints run parts of the model again in there
            return self.engine.inside(self._heard, func, impl, args, kwargs)
        finally:
            self._drain()
            self._loss = before

    def _root(self, root: Any) -> None:
        """backward() is called on it: is it made of parameters alone?"""
        source = self._tracked.get(id(root))
        if source is not None:
            for leaf in source.leaves():
                self.failed.setdefault(leaf.number, "backward() was called on a tensor made of parameters alone")

    # Checking

    def _begin_check(self) -> None:
        if self.checking and self._param_handles:
            return
        self.checking = True
        self.failed = {}
        for p in self.params:
            if p.selected and p.tensor.requires_grad:
                self._param_handles.append(p.tensor.register_hook(self._keeper(p.number)))
        for x in self.stand_ins:
            self._param_handles.append(x.register_hook(self._keeper(next(self._tracked[id(x)].leaves()).number)))

    def _keeper(self, number: int) -> Callable[[Any], None]:
        def keep(g: Any) -> None:
            if self._aside is not None:
                return
            g = g.detach() if g.requires_grad else g    # held, as a use's delta is
            self.arrived[number] = g if number not in self.arrived else self.arrived[number] + g
        self.engine.torch.utils.hooks.unserializable_hook(keep)     # models saved inside a block: without a warning
        return keep

    def _end_check(self) -> None:
        for handle in self._param_handles:
            handle.remove()
        self._param_handles = []

    def check(self) -> dict[str, float]:
        """Relative error of the reconstructed gradient of every parameter that got one: {name: error}.

        The error is |reconstructed - arrived| over |arrived|, or over a thousandth of the whole gradient's norm where
        that is more (some gradients are zero but for rounding); of a bias before a norm, whose gradients cancel each
        other, over the sum of their sizes.  A parameter beyond the tolerance of its dtype counts
        as not covered from then on.  CaptureError when no gradient was watched: see capture(check=...).
        """
        self._drain()
        if not self.checking and not self.arrived:
            raise CaptureError("check: this step was not watched; use capture(check=True) to check every step")
        if not self.arrived:
            raise CaptureError("check: no gradient reached a parameter; run backward() inside the block first")
        from .coverage import compare, spareable
        compare(self)
        for run in self.runs:
            self.checked[run.structure] = (run.verified, run.moved, run.turn, [
                (u.apart, u.mixes, u.form, u.proven, u.turn, u.why) for u in run.uses if not u.late])
        self.checking = bool(self.entered and self._param_handles)
        if not self.weight_grads:
            self._lean = spareable(self)
        return {self.params[n].name: e for n, e in self.errors.items()}

    # What was captured

    @property
    def losses(self) -> list[Any]:
        """How each run's loss was reduced, a loss.Reduction (kind "mean", "sum" or "unknown", count, factor, why).

        None for a run whose loss was not seen: by autograd.grad, or with others in a pass.  Capture.grads(scale=...) undoes it.
        """
        from .loss import loss_of
        self._drain()
        return [loss_of(run) for run in self.runs if any(u.arrived for u in run.uses)]

    def terms(self) -> list[tuple[Run, dict[int, Term], dict[int, str]]]:
        """For every run that gradients reached: {parameter: Term}, and {parameter: why it has none}."""
        self._drain()
        if self._terms is None:
            self._terms = [self._terms_of(run) for run in self.runs if any(u.arrived for u in run.uses)]
        made: list[tuple[Run, dict[int, Term], dict[int, str]]] = self._terms
        return made

    def _terms_of(self, run: Run) -> tuple[Run, dict[int, Term], dict[int, str]]:
        T = self.engine.torch
        run.settle()
        lists: dict[int, list[Term]] = {}
        refused: dict[int, str] = {}
        with T.no_grad():
            for use in run.uses:
                if not use.arrived:
                    continue
                try:
                    if not use.kind.complex and any(d is not None and d.is_complex() for d in use.deltas):
                        raise Refused(f"{use.name} computes with complex numbers, which are not covered")
                    if use.stale:
                        raise Refused(f"the input of {use.name} was changed in place after the call")
                    if use.late and run.by:
                        raise Refused(f"{use.name} was called again by a checkpoint after {run.by}: it is unknown which samples "
                                      "its rows belong to")
                    for source, term in use.kind.terms(T, use):
                        if use.turn is not None and term.whole is None:
                            term = term.take(T.tensor(use.turn, device=use.device), None)
                        for number, part in pulled(T, source, term):
                            lists.setdefault(number, []).append(part)
                except Refused as why:
                    for source in use.sources.values():
                        for leaf in source.leaves():
                            refused[leaf.number] = str(why)
            found = {n: combined(T, parts) for n, parts in lists.items() if n not in refused and n in self._wanted}
        for n, (term, _) in self.filled.items():
            found[n] = term
            refused.pop(n, None)
        return run, found, refused

    @checked
    def fill(self, loss: Callable[..., Any], *batch: Any, how: str = "loop", reduction: str = "sum") -> None:
        """Compute the per-sample gradients that coverage() reports as missing, by calling the model for each sample.

        loss        a function of (model, *sample) -> scalar, where sample is `batch` cut to one sample, its batch dimension
                    kept; it calls the model it is given
        how         "loop": N forward and backward passes; "vmap": a single pass by torch.func.vmap, for models that allow it
        reduction   how the samples' losses make up that of the batch: "sum" or "mean"
        Call it after the block.  CaptureError when what is found does not add up to the gradient of the batch.
        """
        from .per_sample_calls import fill
        fill(self, loss, batch, how, reduction)

    @checked
    def uses(self, pattern: str = "*") -> list[Use]:
        """The captured calls of layers whose path matches, in the order of the forward pass.

        pattern  of names of layers, such as "blocks.*"
        """
        self._drain()
        return [u for run in self.runs for u in run.uses if fnmatch.fnmatchcase(u.path, pattern) and u.arrived]

    def coverage(self) -> Any:
        """How each parameter is covered, or why it is not: a coverage.Coverage.  Print it, or read its rows."""
        from .coverage import cover
        self._drain()
        return cover(self)

    @checked
    def grads(self, layers: Any = None, *, partial: bool = False, scale: Any = None) -> Any:
        """The quantities of this capture: a grads.Grads.

        layers   patterns as in capture(): only these parameters
        partial  leave out what is not covered per sample; without it that is an UncoveredError
        scale    None: as backward computed it.  "sum": gradients of the summed loss (1/N and loss scale undone). "sample":
                 each sample's gradient as if it had been alone, with the mean over its own terms, even if targets are
                 ignored, classes have weights or rows were picked.  A number: times that.  CaptureError, with the reason, if
                 the graph does not prove it
        """
        from .grads import Grads
        return Grads(self, layers, partial=partial, scale=scale)


def gradient(x: Any) -> Any:
    """Its .grad."""
    if isinstance(x, TensorBase) and (x.sink is None or x.sink.grad is None):
        return None
    return x.grad


def listed(given: Any) -> tuple[Any, ...]:
    """What is given as one or as several."""
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


@checked
def capture(
    model: Any, layers: Any = None, where: Callable[[str, int], bool] | None = None, *, batch_dim: int = 0,
    batch_size: int | None = None, check: bool | str = "first", calls: str | None = None, verify: bool = True,
    weight_grads: bool = True,
) -> Capture:
    """Capture the inputs `a` and output gradients `delta` of every call that uses a parameter: a Capture.

        with capture(model) as cap:
            loss_fn(model(x), y).backward()
        cap.coverage(); cap.check(); cap.grads().norms()

    TypeError for what is no module, and for a scripted one; a quantity that needs a parameter without coverage is a CaptureError.
    """
    return Capture(model, layers, where, batch_dim=batch_dim, batch_size=batch_size, check=check, calls=calls, verify=verify,
                   weight_grads=weight_grads)
