"""What a recorder does to PyTorch: a TorchFunctionMode for ops, hooks on nodes for the backward pass."""
from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any
from weakref import proxy, ref

from .._hooked import Hooked
from ..listen.replaced import ENTRY, replacements, replacements_for_ops
from ..listen.sites import caller, last_read, variables
from . import functional_exchanges
from .book import Thread
from .exchanges import OF_PYTORCH, plan
from .fired import OF_OPTIMIZERS, SELDOM, TABLES
from .recorder import Recorder, plan_of
from .sharded import Sharded
from .swaps import swap_in, swap_out
from .tap_torch_numbers import TorchNumbers
from .witness import SAME_NODES, seq_of

# Ops that read a tensor as numbers: what follows knows nothing of the graph.
READS = {"item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__complex__",
         "__contains__"}
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
    engine: Any
    WrappedHook: Any
    finds_leaf: Any                                     # the code by which PyTorch finds a leaf's node: an op on the leaf
    reads = READS

    def __init__(self, recorder: Recorder) -> None:
        if not TorchTap.version:
            TorchTap.find()
        super().__init__(recorder)
        self.handed_out = {0}                           # storages that others may write into unseen; 0 are those of no storage
        self.own: dict[int, Any] = {}                   # code that registers hooks of the engine's own
        self.handles: list[Any] = []
        self.keep_handles = 4096
        self.tables: dict[int, Any] = {}                # id of a node's table of posthooks -> (weak reference, node)
        self.waiting_pre: list[int] = []
        self.has_old_calls = self.swept_old_calls = False
        self.sharded = Sharded(self)
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
        cls.shapeless = frozenset((torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer))
        cls.WrappedHook = torch.nn.modules.module._WrappedHook
        cls.RemovableHandle = torch.utils.hooks.RemovableHandle
        cls.hooks_home = torch.nn.modules.module
        cls.autograd = torch.autograd
        cls.finds_leaf = torch.autograd.graph._get_grad_fn_or_grad_acc.__code__
        cls.version = str(torch.__version__)

    def install(self) -> None:
        self.recorder.swap(self.plan)
        if self.recorder.ops:
            self.recorder.swap(self.plan_of_ops)
        if self.sharded.group is not None:
            self.recorder.swap(self.sharded.plan)
        super().install()
        self.first_seq = int(self.autograd._get_sequence_nr())

    def plan(self, put: Any, seat: Any) -> None:
        """put(owner, name, new) what stands for functions in every recording: it outlives this one, and asks who has the seat"""
        for owner, name, new in replacements(self.torch, seat):
            put(owner, name, new)

    def plan_of_ops(self, put: Any, seat: Any) -> None:
        for owner, name, new in replacements_for_ops(self.torch, seat):
            put(owner, name, new)

    def hear_exchanges(self) -> None:
        if self.torch.distributed.is_available():
            self.recorder.swap(self.plan_of_exchanges)
            if "torch.distributed.tensor" in sys.modules:
                self.recorder.swap(self.plan_of_functional)

    def plan_of_exchanges(self, put: Any, seat: Any) -> None:
        """As plan, for the methods by which ranks exchange tensors."""
        c10d = self.torch._C._distributed_c10d
        plan({"group": c10d.ProcessGroup, "work": c10d.Work, "methods": OF_PYTORCH,
              "parallel": self.torch.nn.parallel.DistributedDataParallel}, put, seat)

    def plan_of_functional(self, put: Any, seat: Any) -> None:
        """As plan, for the ops by which DTensors exchange their parts."""
        functional_exchanges.plan(self.torch, put, seat)

    def heard(self) -> Any:
        return self.engine.hearing(self.ear)

    def quiet(self) -> Any:
        return self.torch._C.DisableTorchFunction()

    def facts_of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        with self.torch._C.DisableTorchFunction():
            return super().facts_of_call(args, kwargs)

    def facts_of_output(self, out: Any, slot: int) -> dict[str, Any]:
        with self.torch._C.DisableTorchFunction():
            return super().facts_of_output(out, slot)

    def close(self) -> None:
        for handle in self.handles:
            try:
                handle.remove()
            except Exception:
                continue
        self.handles.clear()
        self.flush()

    def let_go(self) -> None:
        super().let_go()
        self.sharded.tap = proxy(self)

    # -- ops

    def kind_of(self, func: Any) -> Any:
        """What to do at a call of a function that the witness hears for the first time: None, or call(func, args, kwargs)."""
        name, quiet = self.named(func)
        if name == "view_as":
            return self.viewing
        if name == "retain_grad":
            return self.retaining
        if name == "grad=":
            return self.assigned
        if name == "type":
            return self.typed
        run = None if quiet else partial(self.witness.run, name)
        return partial(self.handing, run) if name in SHARING else run

    def typed(self, func: Any, args: Any, kwargs: Any) -> Any:
        """type(): the name of its type, or a cast"""
        return self.witness.run("type", func, args, kwargs) if len(args) + len(kwargs) > 1 else func(*args, **kwargs)

    def handing(self, run: Any, func: Any, args: Any, kwargs: Any) -> Any:
        """Gives memory away in which edits are not counted."""
        if not self.recorder.thread().busy:
            with self.quiet():
                self.handed_out.update(memory(a) for a in args if isinstance(a, self.Tensor))
        return func(*args, **kwargs) if run is None else run(func, args, kwargs)

    def viewing(self, func: Any, args: Any, kwargs: Any) -> Any:
        if caller().f_code is self.finds_leaf:
            return func(*args, **kwargs)
        return self.witness.run("view_as", func, args, kwargs)

    def retaining(self, func: Any, args: Any, kwargs: Any) -> Any:
        thread = self.recorder.thread()
        if thread.busy or thread.passes or thread.stepping:
            return func(*args, **kwargs)
        return self.retains(func, args[0], caller())

    def assigned(self, func: Any, args: Any, kwargs: Any) -> None:
        """t.grad = ..., or del t.grad."""
        func(*args, **kwargs)
        self.assigns(args[0], caller())

    def shared(self, g: Any) -> bool:
        return not self.recorder.ops or memory(g) in self.handed_out

    def named(self, func: Any) -> tuple[str, int]:
        """(its name, shall it be no event?)"""
        name = getattr(func, "__name__", str(func))
        if name == "__get__":
            name = func.__self__.__name__
            return name, name not in SHOWN
        if name in ("__set__", "__delete__"):
            its = func.__self__.__name__
            return "requires_grad_" if its == "requires_grad" else f"{its}=", its not in ("data", "grad", "requires_grad")
        return name, name in QUIET or name.startswith("is_")

    def adopted(self, node: Any, number: int, name: str, tensor: int) -> None:
        """A node has its number: hear when it runs.  tensor: of a leaf's, the leaf"""
        if name == "BackwardHookFunctionBackward" and not self.swept_old_calls and seq_of(node) < self.first_seq:
            self.has_old_calls = self.swept_old_calls = True
        if self.recorder.nodes:
            self.hook_node(node, number, name, tensor)

    def hook_node(self, node: Any, number: int, name: str, tensor: int) -> None:
        self.mine = True
        try:
            if tensor >= 0:
                leaf = ref(node.variable)
                self.handles.append(node.register_prehook(partial(self.witness.accumulates, number, leaf)))
                handle = node.register_hook(partial(self.witness.accumulated, number, tensor, leaf))
            else:
                handle = node.register_hook(partial(self.witness.ran, number, name in SAME_NODES))
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
            return getattr(hook.func, "__self__", None) is self.witness
        if getattr(hook, "__self__", None) is self.sharded:
            return True
        if type(hook) is self.WrappedHook and type(hook.hook) is Hooked:        # a legacy hook, on the node of its call
            return True
        return getattr(hook, "__module__", None) == "torch.utils.hooks"

    def runs_for_another(self) -> bool:
        return bool(self.torch._C._current_graph_task_id() >= 0)

    def node_of_hook(self, kind: str, hook: int, thread: Thread, slot: int) -> int:
        if kind not in ("node_pre", "node_post"):
            return -1
        owner = int(self.recorder.rec.hooks[hook]["owner"])
        if kind == "node_pre" and owner < 0:
            self.waiting_pre.append(slot)
        return owner

    def met_before(self, number: int) -> None:
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
        place = self.registration(frame, table)
        if place is None:
            self.own[id(frame.f_code)] = frame.f_code
            return
        hook = given(frame)
        if not self.is_ours(hook):
            self.recorder.registered(self, handle, table, hook, place, frame)

    def registration(self, frame: Any, table: Any) -> tuple[str, str, int] | None:
        """(kind, what it is on, its number) of a hook registered from `frame`, the caller of RemovableHandle()."""
        recorder = self.recorder
        while frame is not None and frame.f_code.co_name in PLUMBING:
            frame = frame.f_back
        if frame is None:
            return "unknown", "?", -1
        name, owner = frame.f_code.co_name, variables(frame).get("self")
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
            if recorder.asked == "paths":
                self.split([t.grad_fn if isinstance(t, self.Tensor) else t.node for t in outs
                            if not isinstance(t, self.Tensor) or t.grad_fn is not None])
            if recorder.splitting is not before:
                args = (args[0], True, *args[2:])       # retain_graph
            thread, number = self.begin_pass("backward" if accumulate else "grad", tuple(roots), tuple(tensors), retain,
                                             create, targets, frame)
            if self.tape is not None:
                self.tape.begins(number, outs, args[0] if args else None)
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
        if isinstance(module, self.sharded.kind):
            self.sharded.meet(module)
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


def given(frame: Any) -> Any:
    """The hook that a library's function above `frame` was given."""
    for _ in range(4):
        if frame is None:
            return None
        held = variables(frame)
        if "hook" in held:
            return held["hook"]
        frame = frame.f_back
    return None


__all__ = ["TorchTap"]
