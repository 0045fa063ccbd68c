"""A capture's block: it is entered, the model is called, gradients come, it is left.

It is compiled, as is what it calls at each step (calls.py, pending.py): Python between two products takes ten times as long.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from mypy_extensions import mypyc_attr

from ..._engine.modes import state
from ..._engine.tensor import TensorBase, read_grad
from ..._engine.views import grad_fn
from .._own_hook import OwnHook, hide, show
from ..errors import OF_OLD, CaptureError
from ..listen import Engine
from ..listen.ear import sizes, wants
from .batch_proof import batched, verify
from .calls import Calls
from .loss import reduction_of
from .loss_key import known_by_key
from .parameters import Found, Tree, added, parameters_of, stand_ins
from .pending import drain, inside, number_of, settle
from .runs import INFINITE, Known, Run
from .sample_order import unasked
from .sources import Leaf, flat
from .terms import Term


@mypyc_attr(allow_interpreted_subclasses=True)
class Block(Calls):
    """The part of a Capture that begins and ends with its block."""

    def __init__(self, engine: Engine, model: Any, layers: Any, where: Callable[[str, int], bool] | None, batch_dim: int,
                 batch_size: int | None, check: bool | str, calls: str | None, verify: bool, weight_grads: bool) -> None:
        super().__init__(engine, model, layers, where, batch_dim, batch_size)
        self.check_when: bool | str = check
        self.calls: str | None = calls
        self.verify: bool = verify
        self.weight_grads: bool = weight_grads
        self.entered: bool = False
        self.arrived: dict[int, Any] = {}       # parameter -> gradient that reached it, on checked steps
        self.errors: dict[int, float] = {}
        self.checked: dict[int, Known] = {}     # structures of steps that were -> what was found out of them
        self.filled: dict[int, tuple[Term, str]] = {}   # parameter -> by filling.py, and how
        self.unseen: set[int] = set()           # parameters with a gradient that no call explains
        self.elsewhere: bool = False            # was the model called in another thread?
        self.stand_ins: list[Any] = []          # tensors that took a parameter's place
        self.displaced: dict[int, str] = {}     # parameter -> why what took its place is not followed
        self._handles: list[Any] = []
        self._hidden: list[Any] = []            # other modules that have hooks of ours
        self._hooks: Hooks | None = None        # on the model
        self._param_handles: list[Any] = []
        self._reductions: dict[Any, Any] = {}   # of losses of steps that were: see loss_key.py
        self._reports: dict[Any, Any] = {}      # of steps without anything special: see coverage.cover
        self._before: list[Any] = []            # each parameter's .grad and its version, before the block
        self._find_parameters()

    # Entering and leaving

    def _find_parameters(self) -> None:
        self._found = None
        self.params = parameters_of(self.engine, self.model, self.layers)
        self._tree: Tree = Tree(self.model)
        self._turning: list[tuple[Any, Any]] = list(self._layouts())
        tied = [p for p in self.params if len(p.owners) > 1]
        self._owners: dict[str, Any] = {path: module for p in tied for path, module in p.owners.items()}
        self._ear.tied = {id(p.tensor) for p in tied}

    def _enter(self) -> None:
        if self.entered:
            raise CaptureError("capture: already entered; use one capture per block, or leave this one first")
        if not self._tree.same():
            self._find_parameters()
        look(self)
        forget(self)
        self._own_thread = threading.get_ident()
        if not self.ours or self._heard is None:
            self._heard = self.engine.calls(self._ear)
        put_hooks(self)
        if self._turning:
            self._mark_layouts()
        if self._owners:
            self._mark_owners()
        if not self.ours:
            self._mark_sharded()
        if not self.weight_grads and (self._sharded or self._tree.has("DistributedDataParallel")):
            lift(self)
            raise CaptureError("capture(weight_grads=False): DDP and FSDP need every parameter's gradient; leave it out")
        if self.check_when is True or (self.check_when and not self.checked):
            self._begin_check()
        # what is needed to notice a gradient by a way that was not seen
        self._before = [gradient_of(p.tensor) for p in self.params]
        self._heard.__enter__()
        self.entered = True
        inside.append(self)

    def _leave(self, *error: Any) -> None:
        if not self.entered:
            raise CaptureError("capture: not entered, so nothing to leave; write `with microscope.capture(model) as cap:`")
        self._heard.__exit__(*error)
        self.entered = False
        inside.remove(self)
        settle(self)
        drain(self)
        take_in(self)
        notice_unseen(self)
        lift(self)
        if self._param_handles:
            self._end_check()
        for run in self.runs:
            run.open = False
            run.inputs.clear()

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
            self._put(module, [module.register_forward_pre_hook(OwnHook(self._turns, layout, before)),
                               module.register_forward_hook(OwnHook(self._turned, before), always_call=True)])

    def _put(self, module: Any, handles: list[Any]) -> None:
        """Hooks of ours on a module of the model: until the block ends, and on none of its copies."""
        self._handles += handles
        self._hidden.append(module)
        hide(module)

    def _turns(self, layout: Any, before: list[Any], _module: Any, args: Any) -> None:
        before.append(self._ear.layout)
        self._ear.layout = layout
        if args and hasattr(args[0], "batch_sizes"):
            self._ear.layout, self._run().moved = "packed", True

    def _turned(self, before: list[Any], _module: Any, _args: Any, _out: Any) -> None:
        self._ear.layout = before.pop()

    def _mark_owners(self) -> None:
        """Modules that have a parameter in common: which one is being called?"""
        for path, module in self._owners.items():
            self._put(module, [module.register_forward_pre_hook(OwnHook(self.engine.eager(self._comes), path)),
                               module.register_forward_hook(OwnHook(self.engine.eager(self._goes)), always_call=True)])

    def _comes(self, path: str, _module: Any, _args: Any) -> None:
        if threading.get_ident() == self._own_thread:
            self._within.append(path)

    def _goes(self, _module: Any, _args: Any, _out: Any) -> None:
        if threading.get_ident() == self._own_thread and self._within:
            self._within.pop()

    def _mark_sharded(self) -> None:
        """FSDP2: the parameters of a module are whole only while it runs, as other tensors."""
        self._sharded = False
        for module in self._tree.modules:
            names = {cls.__name__ for cls in type(module).__mro__}
            if "FullyShardedDataParallel" in names:
                lift(self)
                raise CaptureError(f"capture: {OF_OLD}")
            if "FSDPModule" in names:
                self._sharded = True
                self._put(module, [module.register_forward_pre_hook(OwnHook(self._gathered))])

    def _gathered(self, module: Any, _args: Any) -> None:
        its = {id(m) for m in module.modules()}
        for p in self.params:
            if id(p.module) in its and p.tensor.requires_grad:
                whole = p.module._parameters.get(p.key)
                if whole is not None and id(whole) not in self._tracked:
                    self._tracked[id(whole)] = Leaf(whole, p.number)
                    if self._param_handles and p.selected and whole.requires_grad:
                        self._watch_gradient(whole, p.number)

    # Runs

    def _model_begins(self, _module: Any, args: Any, kwargs: Any) -> None:
        if threading.get_ident() != self._own_thread:
            self.elsewhere = True
            return
        self._depth += 1
        if self._depth > 1:
            return
        ear = self._ear
        before = self.runs[-1] if self.runs else None
        if before is not None and (not before.uses or any(u.arrived for u in before.uses)):
            before = None                       # it does not wait for its backward
        run = Run(len(self.runs))
        if before is not None and self.calls == "same":
            run = before
        else:
            self.runs.append(run)
            run.before = before
        run.open = ear.running = True
        ear.begin(self._tree.modules)
        ear.wary = bool(run.by)
        ear.waits = self.where is None and not self._lean and not self._spared
        if not self._sharded:
            take_in(self)
            for p, x in stand_ins(self.engine, self.params, self._tracked, self.displaced):
                self._tracked[id(x)] = Leaf(x, p.number)
                self.stand_ins.append(x)
                if self._param_handles and p.selected:
                    self._watch_gradient(x, p.number)
        ear.inputs = run.inputs
        size = run.size
        run.size = None
        if not kwargs and len(args) == 1 and isinstance(args[0], TensorBase):
            take_input(self, run, args[0])      # as below, sooner
        else:
            with self.engine.unseen():
                for x in flat((args, kwargs)):
                    if self.engine.is_tensor(x):
                        take_input(self, run, x)
            for x in args:
                if hasattr(x, "batch_sizes") and not self.engine.is_tensor(x):      # a PackedSequence
                    run.size, run.moved = int(x.batch_sizes[0]), True
        if self.batch_size is not None:
            run.size = self.batch_size
        if run.size == 0:
            raise CaptureError("capture: the model was called with a batch of no samples; skip it. Where DP-SGD drew an empty "
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
        settle(self)
        run = self.runs[-1]
        run.open = False
        run.structure = hash((run.structure, self._ear.sum(), run.size == 1))       # of one sample nothing is found out
        run.outs = outputs(self, run, out)
        if state().task is None if self.ours else not self.engine.in_backward():    # else a checkpoint runs the whole model again
            known = self.checked.get(run.structure)
            if known is not None and known.due():
                known = None
            if known is not None and not known.moved and not run.by and self.check_when is not True:
                run.follow(known)
            else:
                self._place(run, out, known)
        run.inputs.clear()

    def _place(self, run: Run, out: Any, known: Any) -> None:
        """Find out where the samples of a call of the model are."""
        if self.check_when is True or self.check_when and known is None:
            self._begin_check()
        elif known is not None:
            run.moved = True
        if self.verify and not self._sharded and (self.checking or run.moved):
            count = len(self.runs)
            verify(self, run, out)
            del self.runs[count:]
        if not run.verified and (run.size or 1) > 1:
            unasked(self, run)

    # Passes

    def _takes(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        if func in self.engine.passes:
            return self._pass(func, impl, args, kwargs)
        tracked = self._tracked
        for x in (*args, *kwargs.values()) if kwargs else args:
            if id(x) in tracked:
                plan = self._ear.plans.get((id(x), func))
                if plan is not None and self._ear.alike(plan, args, kwargs) and plan.path == self._path_of(plan.first):
                    return self._again(plan, func, impl, args, kwargs)
                break
        if func is self.engine.torch.autograd.grad:
            settle(self)
            return impl(*args, **kwargs)
        return self._use(func, impl, args, kwargs)

    def _pass(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """loss.backward(), autograd.backward(loss)"""
        settle(self)
        drain(self)
        before = self._loss
        if before is None:                      # else: a reentrant checkpoint's own, inside the loss's
            alone = not kwargs and len(args) == 1 and isinstance(args[0], TensorBase)
            roots = args if alone else listed(args[0] if args else kwargs.get("tensors"))
            for root in roots:
                if id(root) in self._tracked:
                    self._root(root)
            if len(roots) == 1 and (alone or self.engine.is_tensor(roots[0])):
                seed, = (None,) if alone else listed(self.engine.seeds(args, kwargs)) or (None,)
                self._loss = None if seed is not None else known_by_key(roots[0], self.runs, self._reductions)
                if self._loss is None:
                    self._loss = reduction_of(self.engine, roots[0], seed, self.runs, self._reductions)
        try:
            # checkpoints run parts of the model again in there
            return impl(*args, **kwargs) if self.ours else self.engine.inside(self._heard, func, impl, args, kwargs)
        finally:
            drain(self)
            self._loss = before

    def _root(self, root: Any) -> None:
        """backward() is called on what is made of parameters alone."""
        for leaf in self._tracked[id(root)].leaves():
            self.failed.setdefault(leaf.number, "backward() was called on a tensor made of parameters alone")

    # Checking

    def _begin_check(self) -> None:
        if self.checking and self._param_handles:
            return
        self.checking = True
        self.failed = {}
        for p in self.params:
            if p.selected and p.tensor.requires_grad:
                self._watch_gradient(p.tensor, p.number)
        for x in self.stand_ins:
            self._watch_gradient(x, next(self._tracked[id(x)].leaves()).number)

    def _watch_gradient(self, x: Any, number: int) -> None:
        """Of a parameter, or of what has its place."""
        hook = OwnHook(self._keep, number)
        self.engine.torch.utils.hooks.unserializable_hook(hook)     # models saved inside a block: without a warning
        self._param_handles.append(x.register_hook(hook))

    def _keep(self, number: int, g: Any) -> None:
        if self._aside is None:
            g = g.detach() if g.requires_grad else g    # held, as a use's delta is
            self.arrived[number] = g if number not in self.arrived else self.arrived[number] + g

    def _end_check(self) -> None:
        for handle in self._param_handles:
            handle.remove()
        self._param_handles = []


def look(it: Block) -> bool:
    """Learn which parameters want gradients, and which buffers there are; False when these are the same as ever."""
    buffers = it._tree.buffers()
    if it._found is not None and it._found.holds(it.params, buffers):
        return False
    found = it._found = Found(it.params, buffers)
    it._constants = found.constants
    it._wanted = found.wanted
    it._ear.plans = {}
    it._reports = {}
    it._lean = set()
    return True


def take_in(it: Block) -> None:
    """Parameters that were added, or thawed, since the block began."""
    if it._sharded:
        return
    if not it._tree.same():
        fresh = added(it.engine, it.model, it.layers, it.params)
        if fresh:
            it.params += fresh
            it._before += [gradient_of(p.tensor) if it.entered else None for p in fresh]    # after the block any is new
            it._tree = Tree(it.model)
    before = it._wanted
    if look(it) and it._found is not None:
        for key, source in it._found.own.items():
            it._tracked.setdefault(key, source)
        if it._param_handles:
            for number in it._wanted - before:
                it._watch_gradient(it.params[number].tensor, number)


def take_input(it: Block, run: Run, x: Any) -> None:
    """A tensor among the arguments of the model."""
    run.inputs[id(x)] = x
    if id(x) in it._constants:
        it._ear.waits = False
    if run.size is None:
        shape = sizes(x)
        if len(shape) > it.batch_dim:
            run.size = int(shape[it.batch_dim])


def outputs(it: Block, run: Run, out: Any) -> dict[int, int]:
    """What Run.outs says."""
    dim = it.batch_dim
    if isinstance(out, TensorBase):             # as below, sooner
        shape: tuple[int, ...] = out.array.shape
        if len(shape) <= dim or shape[dim] != run.size or not wants(out):
            return {}
        node = grad_fn(out)
        return {} if node is None else {number_of(node): dim}
    with it.engine.unseen():
        return {x.grad_fn._sequence_nr(): dim for x in batched(it, run, out) if x.grad_fn is not None}


class Hooks:
    """A capture's two on its model, and the numbers that they got at first."""

    def __init__(self, it: Block) -> None:
        model = it.model
        self.begins: OwnHook = OwnHook(it.engine.eager(it._model_begins))
        self.ends: OwnHook = OwnHook(it.engine.eager(it._model_ends))
        self.handles: list[Any] = [model.register_forward_pre_hook(self.begins, with_kwargs=True),
                                   model.register_forward_hook(self.ends, always_call=True)]
        self.first: int = self.handles[0].id
        self.last: int = self.handles[1].id
        self.table: Any = model._forward_pre_hooks


def put_hooks(it: Block) -> None:
    hooks = it._hooks
    space: dict[str, Any] = it.model.__dict__
    hide(it.model)
    if hooks is None or hooks.table is not space["_forward_pre_hooks"]:
        it._hooks = Hooks(it)
        return
    space["_forward_pre_hooks"][hooks.first] = hooks.begins
    space["_forward_pre_hooks_with_kwargs"][hooks.first] = True
    space["_forward_hooks"][hooks.last] = hooks.ends
    space["_forward_hooks_always_called"][hooks.last] = True


def lift(it: Block) -> None:
    """Take the hooks away."""
    if it._handles:
        for handle in it._handles:
            handle.remove()
        it._handles = []
    for module in it._hidden:
        show(module)
    it._hidden = []
    hooks = it._hooks
    if hooks is not None:
        space: dict[str, Any] = it.model.__dict__
        space["_forward_pre_hooks"].pop(hooks.first, None)
        space["_forward_pre_hooks_with_kwargs"].pop(hooks.first, None)
        space["_forward_hooks"].pop(hooks.last, None)
        space["_forward_hooks_always_called"].pop(hooks.last, None)
        show(it.model)


def forget(it: Block) -> None:
    """What was captured."""
    for run in it.runs:
        run.forget()
    it.runs = []
    it._pending.clear()
    it.arrived = {}
    it.errors = {}
    it.filled = {}
    if it.failed:                               # another step may well be finite
        it.failed = {n: why for n, why in it.failed.items() if why != INFINITE}
    it.displaced = {}
    it.elsewhere = False
    if it._ear.unrecorded:
        it._ear.unrecorded = set()
    it.stand_ins = []
    if it.left_out or it._spared or it.unseen:
        it.left_out = set()
        it._spared = set()
        it.unseen = set()
    it._terms = None
    it._tracked = it._ear.followed = {} if it._found is None else it._found.own.copy()
    it._depth = 0
    it._within = []
    it._ear.running = it._ear.waits = False


def notice_unseen(it: Block) -> None:
    """Parameters whose .grad changed in this block although no call with them was seen."""
    missed = it._wanted
    for run in it.runs:
        missed = missed - run.numbers
    for number in sorted(missed) if missed else ():
        if changed(it, number):
            it.unseen.add(number)
    it._before = []


def changed(it: Block, number: int) -> bool:
    """Has parameter `number` another .grad than before the block?"""
    g = it.params[number].tensor.grad
    if g is None:
        return False
    held = it._before[number]
    if held is not None and g is held[0] and g._version == held[1]:
        return False
    if it._sharded:                             # looking into a sharded gradient would be a collective call
        return True
    return bool(((g.to_dense() if getattr(g, "is_sparse", False) else g) != 0).any())


def gradient_of(x: Any) -> tuple[Any, int] | None:
    """Its .grad, and which version of it."""
    g = read_grad(x) if isinstance(x, TensorBase) else x.grad
    return None if g is None else (g, g._version)


def listed(given: Any) -> tuple[Any, ...]:
    """What is given as one or as several."""
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)
