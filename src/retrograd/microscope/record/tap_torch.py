"""What a recorder does to PyTorch: a TorchFunctionMode for ops, hooks on nodes for the backward pass."""
from __future__ import annotations

import functools
import inspect
import os
import sys
from functools import partial
from typing import Any
from weakref import ref

from .._hooked import Hooked
from ..listen.sites import last_read
from . import multi_grad
from .book import MARK, Thread, now
from .fired import OF_OPTIMIZERS, SELDOM, TABLES
from .multi_grad import silently
from .recorder import Recorder, plan_of
from .swaps import swap_in, swap_out
from .tap_common import bounds
from .tap_torch_numbers import TorchNumbers
from .witness import BACKWARD, CREATED, GRAD, INFERENCE, INPLACE, SAME, SAME_NODES, WANTED, WANTS

# Ops that read a tensor as numbers: what follows knows nothing of the graph.
READS = {"item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__complex__",
         "__contains__"}
LISTS = ("_foreach_", "_amp_foreach_")
SHOWN = {"data", "T", "mT", "H", "mH", "real", "imag"}         # properties that make tensors
QUIET = {
    "backward", "grad", "register_hook", "register_post_accumulate_grad_hook", "size", "dim", "stride", "numel",
    "is_floating_point", "is_complex", "__len__", "__repr__", "__format__", "__hash__", "type", "element_size",
    "data_ptr", "is_contiguous", "storage_offset", "untyped_storage", "has_names", "get_device", "__deepcopy__",
    "__reduce_ex__", "_is_view", "is_tensor", "is_inference", "__dir__", "__iter__", "__setstate__"}
# What gives memory away in which edits are not counted.
SHARING = {"data", "numpy", "__array__", "__dlpack__", "data_ptr", "untyped_storage", "storage", "_typed_storage", "set_",
           "data=", "resize_"}

# name of the registering method -> kind of hook
KINDS = {
    "register_hook": "tensor", "register_post_accumulate_grad_hook": "post_accumulate",
    "register_forward_pre_hook": "forward_pre", "register_forward_hook": "forward",
    "register_full_backward_pre_hook": "backward_pre", "register_full_backward_hook": "backward",
    "register_backward_hook": "backward", "register_prehook": "node_pre",
    "register_module_forward_pre_hook": "forward_pre", "register_module_forward_hook": "forward",
    "register_module_full_backward_pre_hook": "backward_pre", "register_module_full_backward_hook": "backward",
    "register_module_backward_hook": "backward",
    "register_step_pre_hook": "step_pre", "register_step_post_hook": "step_post",
    "register_optimizer_step_pre_hook": "step_pre", "register_optimizer_step_post_hook": "step_post",
}
PLUMBING = ("_register_hook", "register_hook_helper")
ENTRY = "_call_impl"                            # replacing __call__ would update a slot of every subclass


def memory(t: Any) -> int:
    """A number of the storage that t is in."""
    try:
        return int(t.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):         # sparse ones have none
        return 0


class TorchTap(TorchNumbers):
    """Records PyTorch."""

    name = "torch"
    folder: str
    WrappedHook: Any

    def __init__(self, recorder: Recorder) -> None:
        if not TorchTap.version:
            TorchTap.find()
        super().__init__(recorder)
        self.ops: dict[Any, tuple[str, int, bool]] = {}
        self.handed_out = {0}                           # storages that others may write into unseen; 0 are those of no storage
        self.own: dict[int, Any] = {}                   # code that registers hooks of the engine's own
        self.handles: list[Any] = []
        self.keep_handles = 4096
        self.tables: dict[int, Any] = {}                # id of a node's table of posthooks -> (weak reference, node)
        self.waiting_pre: list[int] = []
        self.has_old_calls = self.swept_old_calls = False
        self.first_seq = 0                              # nodes with lower sequence numbers are older than the recording
        recorder.sites.skip(self.folder)

    @classmethod
    def find(cls) -> None:
        """Where PyTorch has what we need: said once in a process."""
        import torch
        import torch.optim.optimizer
        import torch.utils.hooks

        cls.torch = cls.space = torch
        cls.folder = os.path.dirname(torch.__file__)
        cls.Tensor = torch.Tensor
        cls.Module = torch.nn.Module
        cls.Optimizer = torch.optim.Optimizer
        cls.shapeless = (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)
        cls.WrappedHook = torch.nn.modules.module._WrappedHook
        cls.RemovableHandle = torch.utils.hooks.RemovableHandle
        cls.hooks_home = torch.nn.modules.module
        cls.autograd = torch.autograd
        cls.version = str(torch.__version__)

    def install(self) -> None:
        self.recorder.swap(self.plan)
        super().install()
        self.first_seq = int(self.autograd._get_sequence_nr())

    def plan(self, put: Any, seat: Any) -> None:
        """put(owner, name, new) what stands for functions in every recording: it outlives this one, and asks who has the seat"""
        Handle = self.RemovableHandle
        put(Handle, "__init__", making(seat, Handle.__init__))
        put(Handle, "remove", removing(seat, Handle.remove))
        for cls in (self.Optimizer, self.Module):
            put(cls, "zero_grad", zeroing(seat, cls.zero_grad))
            put(cls, "state_dict", saving(seat, cls.state_dict))
            put(cls, "load_state_dict", loading(seat, cls.load_state_dict))
        scaler = self.torch.amp.GradScaler
        for name, what in (("scale", "scaled"), ("unscale_", "unscaled")):
            put(scaler, name, scaling(seat, getattr(scaler, name), what))
        put(self.Module, "__setstate__", restoring(seat, self.Module.__setstate__))
        for name in ("backward", "grad"):
            put(self.autograd, name, asking(seat, getattr(self.autograd, name)))
        autograd, graph = self.autograd, self.autograd.graph
        put(self.Module, ENTRY, calling(seat, getattr(self.Module, ENTRY)))
        run_backward = running(seat, graph._engine_run_backward)
        for home in (autograd, graph):
            put(home, "_engine_run_backward", run_backward)
        put(graph, "_get_grad_fn_or_grad_acc", silently(seat, graph._get_grad_fn_or_grad_acc))

    def listen(self) -> None:
        if self.recorder.ops:
            self.install_ops()

    def quiet(self) -> Any:
        return self.torch._C.DisableTorchFunction()

    def facts_of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        with self.torch._C.DisableTorchFunction():
            return super().facts_of_call(args, kwargs)

    def facts_of_output(self, out: Any, slot: int) -> dict[str, Any]:
        with self.torch._C.DisableTorchFunction():
            return super().facts_of_output(out, slot)

    def install_ops(self) -> None:
        recorder, torch, tap = self.recorder, self.torch, self
        from torch.overrides import TorchFunctionMode

        class Mode(TorchFunctionMode):
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return tap.op(func, args, kwargs or {})

        self.mode = Mode
        mode: Any = Mode()
        mode.__enter__()
        recorder.thread().adopting = True               # this thread has the mode
        recorder.later(mode.__exit__, None, None, None)
        apply = torch.autograd.Function.apply.__func__

        def recorded_apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.on or recorder.thread().busy or cls.__module__.startswith("torch.nn"):
                return apply(cls, *args, **kwargs)
            return tap.run_op(partial(apply, cls), f"{cls.__name__}.apply", args, kwargs)

        recorder.patch(torch.autograd.Function, "apply", classmethod(recorded_apply))

    def close(self) -> None:
        super().close()
        for handle in self.handles:
            try:
                handle.remove()
            except Exception:
                continue
        self.handles.clear()
        self.flush()

    # -- ops

    def op(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A function of the torch namespace or a method is called."""
        known = self.ops.get(func)
        if known is None:
            name, quiet = self.kind_of(func)
            known = self.ops[func] = name, quiet, name in SHARING
        name, quiet, shares = known
        if shares and self.recorder.on and not self.recorder.thread().busy:
            with self.quiet():
                self.handed_out.update(memory(a) for a in args if isinstance(a, self.Tensor))
        if quiet or not self.recorder.on:
            return func(*args, **kwargs)
        return self.run_op(func, name, args, kwargs)

    def shared(self, g: Any) -> bool:
        return not self.recorder.ops or memory(g) in self.handed_out

    def kind_of(self, func: Any) -> tuple[str, int]:
        name = getattr(func, "__name__", str(func))
        if name == "__get__":
            name = func.__self__.__name__
            return name, name not in SHOWN
        if name in ("__set__", "__delete__"):
            its = func.__self__.__name__
            return "requires_grad_" if its == "requires_grad" else f"{its}=", its not in ("data", "grad", "requires_grad")
        return name, name in QUIET or name.startswith("is_")

    def run_op(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        recorder = self.recorder
        rec = recorder.rec
        thread = recorder.thread()
        if thread.busy or thread.passes or thread.stepping or recorder.full:
            if recorder.full and not (thread.passes or thread.busy or thread.stepping):
                recorder.reserve("op")
            return func(*args, **kwargs)
        if name == "retain_grad":
            return self.retains(func, args[0], sys._getframe(2))
        if name == "grad=":
            func(*args, **kwargs)
            return self.assigns(args[0], sys._getframe(3))
        Tensor = self.Tensor
        tensors: list[Any] = []
        for a in args:
            if isinstance(a, Tensor):
                tensors.append(a)
            elif type(a) is list or type(a) is tuple:
                for b in a:
                    if isinstance(b, Tensor):
                        tensors.append(b)
        if name == "__getitem__" or name == "__setitem__":
            tensors.extend(b for b in bounds(args[1]) if isinstance(b, Tensor))
        if kwargs:
            tensors.extend(v for v in kwargs.values() if isinstance(v, Tensor))
        if tensors and type(tensors[0]) in self.shapeless:      # the first call of a lazy module
            return func(*args, **kwargs)
        thread.busy += 1
        try:
            if recorder.pending:
                recorder.sweep_pending()
            flags = GRAD if self.torch.is_grad_enabled() else 0
            if self.torch.is_inference_mode_enabled():
                flags |= INFERENCE
            inputs = []
            for t in tensors:
                inputs.append(recorder.tensor(self, t))
                if t.requires_grad:
                    flags |= WANTED
                    fn = t.grad_fn
                    if fn is not None and self.number_in(fn.metadata) is None:
                        self.adopt(fn, -1)
            site = recorder.sites.here(sys._getframe(2))
            owners = recorder.owners
            for n in inputs:
                if n in owners:
                    recorder.used_outside(thread, n, site, sys._getframe(2))
            module, call = thread.modules[-1][:2] if thread.modules else (-1, 0)
        finally:
            thread.busy -= 1
        version = self.version_of(tensors[0]) if tensors else 0
        slot = recorder.reserve("op")
        began = now()
        try:
            out = func(*args, **kwargs)
        except BaseException as error:
            if slot >= 0:
                recorder.rows[slot] = ("op", began - recorder.start, now() - began, thread.number, name, module, call,
                                       site, tuple(inputs), (), (), flags, f"{type(error).__name__}: {error}"[:400])
            raise
        took = now() - began
        thread.busy += 1
        try:
            outs = [out] if isinstance(out, Tensor) else \
                [o for o in out if isinstance(o, Tensor)] if isinstance(out, (tuple, list)) else []
            if out is None and name.startswith(LISTS) and args and isinstance(args[0], (list, tuple)):
                outs = [t for t in args[0] if isinstance(t, Tensor)]        # in place on a list of tensors
                for t in outs:                          # not each of these ops counts its edits
                    recorder._seen.pop(id(t), None)
            if name == "__setitem__" or name == "requires_grad_":
                outs = tensors[:1]
            if not outs and not (name in READS and inputs):
                self.no_event(slot)
                return out
            if not inputs:
                flags |= CREATED
            outputs, values = [], []
            for t in outs:
                same = any(t is i for i in tensors)
                number = recorder.tensor_number(t) if same else None
                if same and (t is not tensors[0] or self.version_of(t) != version):
                    flags |= INPLACE
                if number is None or (flags & INPLACE and number not in rec.tensor_names):
                    number = recorder.new_tensor(self, t, slot, -1 if number is None else number)
                outputs.append(number)
                if t.requires_grad:
                    flags |= WANTS
                    fn = t.grad_fn
                    if fn is not None:
                        rec.tensor_edges[number] = (self.adopt(fn, slot), t.output_nr)
                values.append(self.value_out(t, tensors, name))
                if recorder.values and number in rec.tensor_names and rec.tensor_names[number]["role"] == "grad":
                    recorder.keep(self, values[-1], t)
            recorder.blame(self, tensors, values)
            if slot >= 0:
                recorder.rows[slot] = ("op", began - recorder.start, took, thread.number, name, module, call, site,
                                       tuple(inputs), tuple(outputs), tuple(values), flags, None)
            return out
        finally:
            thread.busy -= 1
            thread.last = now()

    def no_event(self, slot: int) -> None:
        """What was called is no op: give its number back, or leave a hole."""
        if slot < 0:
            return
        recorder = self.recorder
        with recorder.lock:
            if slot == len(recorder.rows) - 1:
                recorder.rows.pop()
                return
        recorder.rows[slot] = ("note", now() - recorder.start, 0, 0, "empty", "", -1)

    def value_out(self, t: Any, tensors: list[Any], name: str) -> int:
        recorder = self.recorder
        if name in SAME and tensors and recorder.norms:
            first = tensors[0]
            known = recorder._seen.get(id(first))
            if known is not None and known[0]() is first and first.dtype == t.dtype and \
                    known[1] == self.version_of(first) and self.same_memory(first, t):
                n = recorder.new_value(self, t, tuple(recorder.row_of(known[2])))
                recorder._seen[id(t)] = (ref(t), self.version_of(t), n)
                return n
        return recorder.value(self, t)

    def same_memory(self, a: Any, b: Any) -> bool:
        try:
            return bool(a.numel() == b.numel() and a.data_ptr() == b.data_ptr())
        except RuntimeError:
            return False

    # -- nodes

    def adopt(self, fn: Any, op: int) -> int:
        """Number a node and all before it that are new: `op` made them."""
        recorder = self.recorder
        rec = recorder.rec
        facts = fn.metadata
        known = self.number_in(facts)
        if known is not None:
            return known
        first = self.new_node(fn, facts)
        todo = [(fn, first)]
        while todo:
            node, number = todo.pop()
            edges: list[Any] = []
            for nxt, nr in node.next_functions:
                if nxt is None:
                    edges.append(None)
                    continue
                facts = nxt.metadata
                to = self.number_in(facts)
                if to is None:
                    to = self.new_node(nxt, facts)
                    todo.append((nxt, to))
                edges.append((to, nr))
            name = node.name()
            tensor = -1
            made = op
            if name == "torch::autograd::AccumulateGrad":
                name, made = "AccumulateGrad", -1
                leaf = node.variable
                tensor = recorder.tensor(self, leaf)
            seq = self.seq(node)
            if name == "BackwardHookFunctionBackward" and seq < self.first_seq and not self.swept_old_calls:
                self.has_old_calls = self.swept_old_calls = True
            rec.node_rows[number] = (name, made, seq, tuple(edges), tensor)
            if recorder.nodes:
                self.hook_node(node, number, name, tensor)
        return first

    def seq(self, node: Any) -> int:
        try:
            n = int(node._sequence_nr())
        except Exception:
            return -1
        return n if n < 1 << 63 else -1

    def new_node(self, node: Any, facts: Any) -> int:
        rec = self.recorder.rec
        with self.recorder.lock:
            n = len(rec.node_rows)
            rec.node_rows.append(("?", -1, -1, (), -1))
        facts[MARK] = self.serial, n
        return n

    def hook_node(self, node: Any, number: int, name: str, tensor: int) -> None:
        self.mine = True
        try:
            if tensor >= 0:
                leaf = ref(node.variable)
                self.handles.append(node.register_prehook(partial(self.before_leaf, number, leaf)))
                handle = node.register_hook(partial(self.after_leaf, number, tensor, leaf))
            else:
                handle = node.register_hook(partial(self.after_node, number, name in SAME_NODES))
        finally:
            self.mine = False
        self.handles.append(handle)
        table = handle.hooks_dict_ref()
        if table is not None:
            self.tables[id(table)] = ref(table), number
            if len(table) > 1:                          # hooks from before we met the node
                for key in table:
                    known = self.recorder._hooks.get((id(table), key))
                    if known is not None:
                        self.recorder.rec.hooks[known].update(kind="node_post", on=name, owner=number)
                self.recorder.sweep(self, table, "node_post", name, number)
        if len(self.handles) > self.keep_handles:
            self.handles = [h for h in self.handles if h.hooks_dict_ref() is not None]
            self.keep_handles = max(4096, 2 * len(self.handles))

    def is_ours(self, hook: Any) -> bool:
        if super().is_ours(hook):
            return True
        if type(hook) is partial:
            return getattr(hook.func, "__self__", None) is self
        if type(hook) is self.WrappedHook and type(hook.hook) is Hooked:        # a legacy hook, on the node of its call
            return True
        return getattr(hook, "__module__", None) == "torch.utils.hooks"

    def runs_for_another(self) -> bool:
        return bool(self.torch._C._current_graph_task_id() >= 0)

    def after_node(self, number: int, same: bool, gi: tuple[Any, ...], go: tuple[Any, ...]) -> None:
        recorder = self.recorder
        if not recorder.on:
            return
        thread = recorder.thread()
        slot = recorder.reserve("node")
        if slot < 0:
            return
        began = thread.last
        took = now() - began
        thread.busy += 1
        inputs = tuple([recorder.value(self, g) for g in go])
        if same and len(gi) == 1 and len(go) == 1 and gi[0] is not None and go[0] is not None and recorder.norms \
                and self.same_memory(gi[0], go[0]):
            t = gi[0]
            n = recorder.new_value(self, t, tuple(recorder.row_of(inputs[0])))
            recorder._seen[id(t)] = (ref(t), self.version_of(t), n)
            outputs: tuple[int, ...] = (n,)
        else:
            outputs = tuple([recorder.value(self, g) for g in gi])
        if recorder.values == "parameters":
            row = recorder.rec.node_rows
            for n, g, edge in zip(outputs, gi, row[number][3]):
                if edge is not None and g is not None:
                    if row[edge[0]][4] >= 0:
                        recorder.keep(self, n, g)
                    elif recorder.splitting is not None:
                        recorder.splitting.sees(edge[0], n, g)
        thread.busy -= 1
        where = recorder.open_passes[-1] if not thread.passes and recorder.open_passes else \
            thread.passes[-1] if thread.passes else -1
        self.settle_pre(number)
        recorder.rows[slot] = ("node", began - recorder.start, took, thread.number, where, number, inputs, outputs)
        if recorder.pending:
            recorder.sweep_pending()
        thread.last = now()

    def before_leaf(self, number: int, leaf: Any, go: tuple[Any, ...]) -> None:
        recorder = self.recorder
        p = leaf()
        if not recorder.on or p is None:
            return
        thread = recorder.thread()
        thread.busy += 1
        had = recorder.value(self, p.grad)
        if recorder.values == "parameters" and p.grad is not None:
            recorder.keep(self, had, p.grad)
        got = recorder.value(self, go[0]) if go else -1
        if recorder.values == "parameters" and go and go[0] is not None:
            recorder.keep(self, got, go[0])
        thread.busy -= 1
        thread.open.append((number, had, got, now()))

    def after_leaf(self, number: int, tensor: int, leaf: Any, gi: tuple[Any, ...], go: tuple[Any, ...]) -> None:
        recorder = self.recorder
        thread = recorder.thread()
        opened = thread.open.pop() if thread.open else (number, -1, -1, now())
        p = leaf()
        if not recorder.on or p is None:
            return
        slot = recorder.reserve("accumulate")
        if slot < 0:
            return
        took = now() - opened[3]
        thread.busy += 1
        grad = p.grad
        if opened[1] < 0 and grad is not None and opened[2] >= 0 and go and go[0] is not None and recorder.norms \
                and id(grad) not in recorder._seen and self.same_memory(grad, go[0]):
            after = opened[2]                           # taken over as it came
        else:
            after = recorder.value(self, grad)
        if grad is not None:
            if recorder.tensor_number(grad) is None:
                self.name_grad(grad, tensor)
            if recorder.values == "parameters":
                recorder.keep(self, after, grad)
        thread.busy -= 1
        where = thread.passes[-1] if thread.passes else recorder.open_passes[-1] if recorder.open_passes else -1
        self.settle_pre(number)
        recorder.rows[slot] = ("accumulate", opened[3] - recorder.start, took, thread.number, where, number, tensor,
                               opened[2], opened[1], after)
        thread.last = now()

    def node_of_hook(self, kind: str, hook: int, thread: Thread, slot: int) -> int:
        if kind not in ("node_pre", "node_post"):
            return -1
        owner = int(self.recorder.rec.hooks[hook]["owner"])
        if kind == "node_pre" and owner < 0:
            self.waiting_pre.append(slot)
        return owner

    def settle_pre(self, number: int) -> None:
        """Prehooks fire right before their node: now it is known which it was."""
        while self.waiting_pre:
            slot = self.waiting_pre.pop()
            if slot >= 0 and self.recorder.rows[slot][0] == "hook":
                row = list(self.recorder.rows[slot])
                row[6] = number
                self.recorder.rows[slot] = tuple(row)
                self.recorder.rec.hooks[row[5]]["owner"] = number
                self.recorder.rec.hooks[row[5]]["on"] = self.recorder.rec.node_rows[number][0]

    def has_handle(self, handle: Any, table: Any, frame: Any) -> None:
        """A handle is made, for a hook that is about to be put into a table."""
        if id(frame.f_code) in self.own:                # the engine's
            return
        place = self.registration(frame, table)
        if place is None:
            self.own[id(frame.f_code)] = frame.f_code
            return
        hook = multi_grad.given(frame)
        if not self.is_ours(hook):
            self.recorder.registered(self, handle, table, hook, place, frame)

    def registration(self, frame: Any, table: Any) -> tuple[str, str, int] | None:
        """(kind, what it is on, its number) of a hook registered from `frame`, the caller of RemovableHandle()."""
        recorder = self.recorder
        while frame is not None and frame.f_code.co_name in PLUMBING:
            frame = frame.f_back
        if frame is None:
            return "unknown", "?", -1
        name, owner = frame.f_code.co_name, frame.f_locals.get("self")
        if recorder.sites.is_library(frame.f_code.co_filename):
            if isinstance(owner, self.Module):
                n = recorder.module(self, owner)
                kind = next((kind for t, kind, _ in TABLES if owner.__dict__.get(t) is table), None)
                kind = kind or next((kind for t, kind in SELDOM if owner.__dict__.get(t) is table), KINDS.get(name, name))
                if "register" not in name:              # a call puts legacy hooks, which we stand around, on its node
                    return None
                return kind, recorder.rec.modules[n]["path"] or "the model", n
            if isinstance(owner, self.Tensor):
                n = recorder.tensor(self, owner)
                return KINDS.get(name, "tensor"), recorder.rec.name_of_tensor(n), n
            if isinstance(owner, self.Optimizer):
                kind = next((kind for t, kind in OF_OPTIMIZERS if getattr(owner, t, None) is table), "unknown")
                return kind, type(owner).__name__, recorder.optimizer(self, owner)
            if name in KINDS and name.startswith(("register_module", "register_optimizer")):
                return KINDS[name], "every module" if "module" in name else "every optimizer", -1
            return None                                 # the engine's own
        return self.registration_on_node(frame, table)

    def registration_on_node(self, frame: Any, table: Any) -> tuple[str, str, int]:
        found = self.tables.get(id(table))
        if found is not None and found[0]() is table:
            return "node_post", self.recorder.rec.node_rows[found[1]][0], found[1]
        # the other table of a node, or a node that we did not meet yet
        asked = last_read(frame, "register_hook", "register_prehook")
        pre = asked == "register_prehook" or (not asked and self.recorder.ops and self.recorder.nodes)
        return "node_pre" if pre else "node_post", "a node", -1

    # -- passes

    def backward(self, original: Any, outputs: Any, args: Any, kwargs: Any, frame: Any) -> Any:
        recorder = self.recorder
        names = ("grad_tensors", "retain", "create", "targets", "unreachable", "accumulate")
        given = dict(zip(names, args))
        accumulate = kwargs.get("accumulate_grad", given.get("accumulate", False))
        create, retain = bool(given.get("create")), bool(given.get("retain"))
        thread = recorder.thread()
        thread.busy += 1
        try:
            outs = (outputs,) if isinstance(outputs, self.Tensor) else tuple(outputs)
            roots, tensors = [], []
            for t in outs:
                if isinstance(t, self.Tensor):
                    tensors.append(recorder.tensor(self, t))
                node = t.grad_fn if isinstance(t, self.Tensor) else getattr(t, "node", None)
                if node is not None and (recorder.ops or recorder.nodes):
                    roots.append(self.adopt(node, -1))
            targets = None
            if given.get("targets"):
                targets = self.goals(given["targets"])
            if self.has_old_calls:
                self.wrap_captured()
            before = recorder.splitting
            self.split([t.grad_fn if isinstance(t, self.Tensor) else t.node for t in outs
                        if not isinstance(t, self.Tensor) or t.grad_fn is not None])
            if recorder.splitting is not before:
                args = (args[0], True, *args[2:])       # retain_graph
            thread, number = self.begin_pass("backward" if accumulate else "grad", tuple(roots), tuple(tensors), retain,
                                             create, targets, frame)
        finally:
            thread.busy -= 1
        error = None
        try:
            return original(outputs, *args, **kwargs)
        except BaseException as e:
            error = e
            raise
        finally:
            thread.open.clear()
            if recorder.splitting is not before:
                self.join(recorder.splitting, number, error)
            self.end_pass(thread, number, error)

    def wrap_captured(self) -> None:
        """Full backward hooks of calls made before the recording: the calls captured the functions."""
        import gc

        from torch.utils.hooks import BackwardHook
        self.has_old_calls = False
        for found in [o for o in gc.get_objects() if type(o) is BackwardHook]:
            self.captured(found.user_hooks, "backward", found.module, found.module._backward_hooks)
            self.captured(found.user_pre_hooks, "backward_pre", found.module, found.module._backward_pre_hooks)

    # -- calls

    def call(self, original: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        recorder = self.recorder
        torch = self.torch
        if torch.compiler.is_compiling():
            return original(module, *args, **kwargs)
        if type(module).__name__ == "OptimizedModule":
            return self.compiled(original, module, args, kwargs)
        if not recorder.ops:
            return recorder.called(self, original, module, args, kwargs)
        thread = recorder.thread()
        if not thread.adopting and not thread.passes:
            thread.adopting = True                      # a thread that runs a model: its ops are recorded, too
            try:
                with self.mode():
                    return super().call(original, module, args, kwargs)
            finally:
                thread.adopting = False
        return super().call(original, module, args, kwargs)

    def compiled(self, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        """A compiled model is one opaque op: Dynamo must not trace the recorder."""
        recorder = self.recorder
        recorder.note("compiled", type(module).__name__, recorder.sites.here(sys._getframe(2)))
        inner = getattr(module, "_orig_mod", None)
        if inner is not None:
            number = recorder.module(self, inner)
            recorder.rec.modules[number]["compiled"] = recorder.rec.modules[number].get("compiled", 0) + 1
        on, recorder.on = recorder.on, False
        ours = [e for e in plan_of(self.plan).entries if e[2] in (ENTRY, "__init__")]
        swap_out(ours)
        try:
            with self.torch._C.DisableTorchFunction():
                return original(module, *args, **kwargs)
        finally:
            swap_in(ours)
            recorder.on = on

    def without_grad(self) -> Any:
        return self.torch.no_grad()

    def grad_enabled(self) -> bool:
        return bool(self.torch.is_grad_enabled())

    def inference_enabled(self) -> bool:
        return bool(self.torch.is_inference_mode_enabled())

    def grad_of(self, p: Any) -> Any:
        return p.grad if p.is_leaf else None


def calling(seat: Any, original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None or not now.recorder.on:
            return original(self, *args, **kwargs)
        return now.call(original, self, args, kwargs)

    return __call__


def running(seat: Any, original: Any) -> Any:
    def run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None or not now.recorder.on:
            return original(outputs, *args, **kwargs)
        return now.backward(original, outputs, args, kwargs, sys._getframe(1))

    return run_backward


# What PyTorch has no hook for: functions that stand for its own while a recording goes on, and tell the tap that has the seat.

def making(seat: Any, original: Any) -> Any:
    def __init__(self: Any, hooks_dict: Any, *args: Any, **kwargs: Any) -> None:
        original(self, hooks_dict, *args, **kwargs)
        now = seat.current
        if now is not None and not now.mine and now.recorder.on:
            now.has_handle(self, hooks_dict, sys._getframe(1))

    return __init__


def removing(seat: Any, original: Any) -> Any:
    def remove(self: Any) -> None:
        if seat.current is not None:
            seat.current.removed(self)
        original(self)

    return remove


def restoring(seat: Any, original: Any) -> Any:
    """A module is copied, or unpickled."""
    @functools.wraps(original)
    def __setstate__(self: Any, state: Any) -> None:
        original(self, state)
        if seat.current is not None:
            seat.current.restored(self)

    return __setstate__


def zeroing(seat: Any, original: Any) -> Any:
    def zero_grad(self: Any, set_to_none: bool = True) -> Any:
        now = seat.current
        if now is None:
            return original(self, set_to_none)
        now.zeroes(self, set_to_none)
        if not set_to_none:
            return original(self, set_to_none)
        with now.quiet():
            return original(self, set_to_none)

    return zero_grad


def scaling(seat: Any, original: Any, what: str) -> Any:
    """scale() and unscale_() of a GradScaler."""
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if seat.current is not None and self.is_enabled():
            seat.current.scales(self, what)
        return original(self, *args, **kwargs)

    return method


def saving(seat: Any, original: Any) -> Any:
    """state_dict(): hooks registered since the last event are to be seen by then."""
    @functools.wraps(original)
    def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        if seat.current is not None:
            seat.current.saves(self)
        return original(self, *args, **kwargs)

    return state_dict


def loading(seat: Any, original: Any) -> Any:
    @functools.wraps(original)
    def load_state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None:
            return original(self, *args, **kwargs)
        before = now.loads(self, kwargs.get("assign") or len(args) > 2 and args[2])
        out = original(self, *args, **kwargs)
        now.loaded(self, before)
        return out

    return load_state_dict


def asking(seat: Any, original: Any) -> Any:
    """backward() and grad() may refuse before the engine runs, or after: passes, too."""
    @functools.wraps(original)
    def ask(*args: Any, **kwargs: Any) -> Any:
        now = seat.current
        if now is None or not now.recorder.on:
            return original(*args, **kwargs)
        recorder = now.recorder
        before = recorder.pass_count
        try:
            out = original(*args, **kwargs)
            if type(out) is tuple and recorder.pass_count > before:
                with now.quiet():
                    now.returned(out)
            return out
        except BaseException as error:
            try:
                given = inspect.signature(original).bind(*args, **kwargs).arguments
            except TypeError:                           # it was not even called rightly
                raise error from None
            thread = recorder.thread()
            if recorder.on and thread.refused != id(error):     # a function mode calls us twice
                thread.refused = id(error)
                now.refused(original.__name__, given.get("tensors", given.get("outputs")), given.get("inputs"),
                            given.get("retain_graph"), given.get("create_graph"), recorder.pass_count > before, error)
            raise

    return ask


__all__ = ["BACKWARD", "TorchTap"]
