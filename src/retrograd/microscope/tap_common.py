"""What the taps of both engines share: calls of modules, backward passes, optimisers, registrations."""
from __future__ import annotations

import functools
import inspect
import sys
from contextlib import nullcontext
from itertools import count
from typing import Any

from ._hooked import Hooked
from .recorder import Recorder, Thread, now
from .recording import BACKWARD
from .ways import Splitting

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
MARK = "retrograd recording"        # key in a node's metadata: (serial number of the tap, number of the node)
_serials = count(1)
_nothing: Any = nullcontext()
PLUMBING = ("add", "add_to", "_register", "register_tensor_hook", "register_post_accumulate", "register_pre",
            "register_post", "_register_hook")
TABLES = (
    ("_forward_pre_hooks", "forward_pre", "_forward_pre_hooks_with_kwargs"),
    ("_forward_hooks", "forward", "_forward_hooks_with_kwargs"),
    ("_backward_pre_hooks", "backward_pre", ""), ("_backward_hooks", "backward", ""))
SELDOM = (
    ("_state_dict_hooks", "state_dict"), ("_state_dict_pre_hooks", "state_dict_pre"),
    ("_load_state_dict_pre_hooks", "load_pre"), ("_load_state_dict_post_hooks", "load_post"))
GLOBAL = (
    ("_global_forward_pre_hooks", "forward_pre"), ("_global_forward_hooks", "forward"),
    ("_global_backward_pre_hooks", "backward_pre"), ("_global_backward_hooks", "backward"))


class Tap:
    """The part of a recorder that knows an engine.  Subclasses name its classes and intercept its ops and nodes."""

    name = ""
    version = ""
    space: Any                                  # its namespace
    Tensor: Any
    Module: Any
    Optimizer: Any
    RemovableHandle: Any
    entry = "__call__"                          # the method of Module that every call goes through
    hooks_home: Any                             # the module with the _global_*_hooks

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.serial = next(_serials)            # marks nodes as ours; ids of dead recorders come again
        self.mine = False                       # a hook of our own is being registered
        self.own: dict[int, Any] = {}           # code that registers hooks of the engine's own
        self.on_node: Any = None                # what registration() says while a node registers a hook

    def number_in(self, facts: Any) -> int | None:
        """The number that this recording gave a node, from its metadata."""
        found = facts.get(MARK)
        return found[1] if found is not None and found[0] == self.serial else None

    # -- installing

    def install(self) -> None:
        """Put patches in place, through recorder.patch."""
        self.patch_modules()
        self.patch_handles()
        self.patch_optimizers()
        self.sweep_global()

    def listen(self) -> None:
        """Models have their names: begin to see ops."""

    def quiet(self) -> Any:
        """Context in which the engine's functions do not come to us."""
        return _nothing

    def close(self) -> None:
        """The recording is over: let go of everything."""

    def patch_modules(self) -> None:
        original = getattr(self.Module, self.entry)
        recorder, call = self.recorder, self.call

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.on:
                return original(self, *args, **kwargs)
            return call(original, self, args, kwargs)

        recorder.patch(self.Module, self.entry, __call__)

    def patch_handles(self) -> None:
        original = self.RemovableHandle.__init__
        tap, recorder = self, self.recorder

        def __init__(self: Any, hooks_dict: Any, *args: Any, **kwargs: Any) -> None:
            original(self, hooks_dict, *args, **kwargs)
            if recorder.on and not tap.mine:
                recorder.registered(tap, self, hooks_dict, sys._getframe(1))

        recorder.patch(self.RemovableHandle, "__init__", __init__)
        removal = self.RemovableHandle.remove

        def remove(self: Any) -> None:
            if recorder.on:
                n = recorder.hook_of(self)
                if n is not None and not recorder.rec.hooks[n]["removed"]:
                    recorder.rec.hooks[n]["removed"] = True
                    recorder.note("removed", f"hook {n}", recorder.sites.here(sys._getframe(1)))
            removal(self)

        recorder.patch(self.RemovableHandle, "remove", remove)

    def patch_optimizers(self) -> None:
        home = self.optimizer_home()
        tap, recorder = self, self.recorder
        steps: dict[int, Any] = {}

        def before(optimizer: Any, args: Any, kwargs: Any) -> None:
            if recorder.on:
                with tap.quiet():
                    look(optimizer)

        def look(optimizer: Any) -> None:
            number = recorder.optimizer(tap, optimizer)
            for table, kind in (("_optimizer_step_pre_hooks", "step_pre"), ("_optimizer_step_post_hooks", "step_post")):
                live = getattr(optimizer, table, None)
                if live:
                    recorder.sweep(tap, live, kind, recorder.rec.optimizers[number]["type"], number)
            slot = recorder.reserve("step")
            recorder.thread().stepping = True
            if slot < 0:
                return
            ps = [p for g in optimizer.param_groups for p in g["params"]]
            thread = recorder.thread()
            thread.busy += 1
            steps[id(optimizer)] = (
                slot, now(), number, recorder.sites.here(sys._getframe(2)), tuple([recorder.tensor(tap, p) for p in ps]),
                tuple([recorder.value(tap, p.grad) for p in ps]), tuple([recorder.value(tap, p) for p in ps]))
            thread.busy -= 1

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            recorder.thread().stepping = False
            found = steps.pop(id(optimizer), None)
            if found is None:
                return
            slot, began, number, site, tensors, gradients, values = found
            took = now() - began
            ps = [p for g in optimizer.param_groups for p in g["params"]]
            thread = recorder.thread()
            thread.busy += 1
            with tap.quiet():
                values_after = tuple([recorder.value(tap, p) for p in ps])
            recorder.rows[slot] = (
                "step", began - recorder.start, took, thread.number, number, site, tensors, gradients,
                values, values_after, None)
            thread.busy -= 1

        self.mine = True
        try:
            for handle in (home.register_optimizer_step_pre_hook(before), home.register_optimizer_step_post_hook(after)):
                recorder.later(handle.remove)
        finally:
            self.mine = False

        for cls, what in ((self.Optimizer, "optimizer"), (self.Module, "module")):
            self.patch_zero(cls, what)

    def patch_zero(self, cls: Any, what: str) -> None:
        original = cls.zero_grad
        tap, recorder = self, self.recorder

        def zero_grad(self: Any, set_to_none: bool = True) -> Any:
            if not recorder.on:
                return original(self, set_to_none)
            with tap.quiet():
                note(self, set_to_none, sys._getframe(1))
                if set_to_none:
                    return original(self, set_to_none)
            return original(self, set_to_none)

        def note(self: Any, set_to_none: bool, frame: Any) -> None:
            ps = self.parameters() if what == "module" else [p for g in self.param_groups for p in g["params"]]
            had = tuple([recorder.tensor(tap, p) for p in ps if tap.grad_of(p) is not None])
            owner = (recorder.rec.modules[recorder.module(tap, self)]["path"] or "the model" if what == "module"
                     else type(self).__name__)
            recorder.put(("zero", now() - recorder.start, 0, recorder.thread().number, owner, recorder.sites.here(frame),
                          had, bool(set_to_none)))

        recorder.patch(cls, "zero_grad", zero_grad)

    def optimizer_home(self) -> Any:
        """The module with register_optimizer_step_pre_hook."""
        raise NotImplementedError

    # -- hooks in tables

    def sweep_global(self) -> None:
        for table, kind in GLOBAL:
            live = getattr(self.hooks_home, table, None)
            if live and self.recorder.unswept(live):
                self.recorder.sweep(self, live, kind, "every module", -1)

    def sweep_module(self, module: Any, number: int, thorough: bool = False) -> None:
        own = module.__dict__
        recorder = self.recorder
        for table, kind, with_kwargs in TABLES:
            live = own.get(table)
            if live and recorder.unswept(live):
                path = recorder.rec.modules[number]["path"] or "the model"
                recorder.sweep(self, live, kind, path, number, own.get(with_kwargs, ()))
        if thorough:
            for table, kind in SELDOM:
                live = own.get(table)
                if live:
                    recorder.sweep(self, live, kind, recorder.rec.modules[number]["path"] or "the model", number)

    def sweep_tensor(self, t: Any, n: int = -1) -> None:
        """n: its number, where known"""
        recorder = self.recorder
        for table, kind in ((t._backward_hooks, "tensor"), (t._post_accumulate_grad_hooks, "post_accumulate")):
            if table and recorder.unswept(table):
                n = recorder.tensor(self, t) if n < 0 else n
                recorder.sweep(self, table, kind, recorder.rec.name_of_tensor(n), n)

    def registration(self, frame: Any, table: Any) -> tuple[str, str, int] | None:
        """(kind, what it is on, its number) of a hook registered from `frame`, the caller of RemovableHandle()."""
        recorder = self.recorder
        if self.on_node is not None:
            return self.on_node
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
                return kind, recorder.rec.modules[n]["path"] or "the model", n
            if isinstance(owner, self.Tensor):
                n = recorder.tensor(self, owner)
                return KINDS.get(name, "tensor"), recorder.rec.name_of_tensor(n), n
            if isinstance(owner, self.Optimizer):
                return KINDS.get(name, name), type(owner).__name__, recorder.optimizer(self, owner)
            if name in KINDS and name.startswith(("register_module", "register_optimizer")):
                return KINDS[name], "every module" if "module" in name else "every optimizer", -1
            return None                                 # the engine's own
        return self.registration_on_node(frame, table)

    def registration_on_node(self, frame: Any, table: Any) -> tuple[str, str, int]:
        return "unknown", "?", -1

    def is_ours(self, hook: Any) -> bool:
        """Is this a hook that the recorder itself put there?"""
        return False

    def plain(self, hook: Any) -> Any:
        """The user's function in a hook that the engine wrapped."""
        home = getattr(hook, "__module__", None)
        if type(home) is str and home.startswith(("torch", "retrograd")):
            for inner in (getattr(hook, "fn", None), getattr(hook, "whole", None) and hook.whole.fn):
                if callable(inner):
                    return inner
            for cell in getattr(hook, "__closure__", None) or ():
                try:
                    inner = cell.cell_contents
                except ValueError:
                    continue
                if callable(inner) and not isinstance(inner, type):
                    return inner
        return hook.hook if type(hook) is Hooked else hook

    # -- modules

    def call(self, original: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module is called."""
        recorder = self.recorder
        if not recorder.on:
            return original(module, *args, **kwargs)
        thread = recorder.thread()
        thread.stepping = False                         # a closure's, or a step that raised
        number = recorder.module(self, module)
        facts = recorder.rec.modules[number]
        facts["calls"] = call = facts["calls"] + 1
        if recorder.pending:
            recorder.sweep_pending()
        self.sweep_module(module, number)
        self.sweep_global()
        parent = thread.modules[-1][0] if thread.modules else -1
        began = now()
        if recorder.ops:
            recorder.put(("enter", began - recorder.start, 0, thread.number, number, call, parent,
                          recorder.sites.here(sys._getframe(2)), self.facts_of_call(args, kwargs)))
        thread.modules.append((number, call, module))
        error = None
        out: Any = None
        try:
            out = original(module, *args, **kwargs)
            return out
        except BaseException as e:
            error = f"{type(e).__name__}: {e}"[:400]
            raise
        finally:
            thread.modules.pop()
            if recorder.ops:
                slot = recorder.reserve("exit")
                thread.busy += 1
                said = None if error else self.facts_of_output(out, slot)
                thread.busy -= 1
                if slot >= 0:
                    recorder.rows[slot] = ("exit", now() - recorder.start, 0, thread.number, number, call, said, error)

    def facts_of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What decides whether backward hooks of the module will fire, and how."""
        Tensor = self.Tensor
        tensors = [a for a in args if isinstance(a, Tensor)]
        named = [k for k, v in kwargs.items() if isinstance(v, Tensor)]
        return {"tensors": len(tensors), "wants": any(a.requires_grad for a in tensors), "keywords": named,
                "keywords_want": any(kwargs[k].requires_grad for k in named), "grad": self.grad_enabled(),
                "inference": self.inference_enabled(), "backward": bool(self.recorder.thread().passes)}

    def facts_of_output(self, out: Any, slot: int) -> dict[str, Any]:
        Tensor = self.Tensor
        tensors = [out] if isinstance(out, Tensor) else [o for o in out if isinstance(o, Tensor)] \
            if isinstance(out, tuple) else []
        recorder = self.recorder
        for t in tensors:
            fn = t.grad_fn
            if fn is not None:
                self.adopt(fn, slot)
        return {"type": type(out).__name__, "tensors": [recorder.tensor(self, t) for t in tensors[:8]],
                "wants": any(t.requires_grad for t in tensors)}

    def adopt(self, fn: Any, op: int) -> int:
        """Number a node and all before it that are new: event `op` made them."""
        raise NotImplementedError

    # -- passes

    def patch_passes(self, home: Any) -> None:
        """backward() and grad() may refuse before the engine runs, or after: these are passes, too."""
        for name in ("backward", "grad"):
            self.recorder.patch(home, name, self.asking(getattr(home, name), name))

    def asking(self, original: Any, name: str) -> Any:
        recorder, tap = self.recorder, self

        @functools.wraps(original)
        def ask(*args: Any, **kwargs: Any) -> Any:
            if not recorder.on:
                return original(*args, **kwargs)
            before = recorder.pass_count
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                thread = recorder.thread()
                if recorder.on and thread.told != id(error):    # a function mode calls us twice
                    thread.told = id(error)
                    with tap.quiet():
                        tap.refused(original, name, args, kwargs, before, error, sys._getframe(1))
                raise

        return ask

    def refused(self, original: Any, name: str, args: Any, kwargs: Any, before: int, error: BaseException, frame: Any) -> None:
        """A call of backward() or grad() raised: the pass it began has an error, or it is one that got nowhere."""
        recorder = self.recorder
        thread = recorder.thread()
        if recorder.pass_count > before:
            for i in range(len(recorder.rows) - 1, -1, -1):
                row = recorder.rows[i]
                if row is not None and row[0] == "end" and row[3] == thread.number:
                    if row[5] is None and row[4] > before:
                        recorder.rows[i] = (*row[:5], said(error))
                    return
            return
        try:
            given = inspect.signature(original).bind(*args, **kwargs).arguments
        except TypeError:                               # it was not even called rightly
            return
        Tensor = self.Tensor
        thread.busy += 1
        try:
            roots = given.get("tensors", given.get("outputs"))
            tensors = [t for t in (roots if isinstance(roots, (tuple, list)) else (roots,)) if isinstance(t, Tensor)]
            wanted = given.get("inputs")
            goals = None if wanted is None else tuple([
                recorder.tensor(self, t) if isinstance(t, Tensor) else -1
                for t in (wanted if isinstance(wanted, (tuple, list)) else (wanted,))])
            nodes = [t.grad_fn for t in tensors if t.grad_fn is not None] if recorder.ops or recorder.nodes else []
            thread, number = self.begin_pass(
                name, tuple([self.adopt(node, -1) for node in nodes]), tuple([recorder.tensor(self, t) for t in tensors]),
                bool(given.get("retain_graph")), bool(given.get("create_graph")), goals, frame)
            self.end_pass(thread, number, error)
        finally:
            thread.busy -= 1

    def begin_pass(self, how: str, roots: tuple[int, ...], tensors: tuple[int, ...], retain: bool, create: bool,
                   targets: tuple[int, ...] | None, frame: Any) -> tuple[Thread, int]:
        recorder = self.recorder
        thread = recorder.thread()
        thread.stepping = False
        recorder.pass_count += 1
        number = recorder.pass_count
        recorder.sweep_pending()
        self.sweep_global()
        for n, known in list(recorder._parameters.items()):
            p = known()
            if isinstance(p, self.Tensor):
                self.sweep_tensor(p, n)
        recorder.put(("begin", now() - recorder.start, 0, thread.number, number, how, roots, tensors,
                      recorder.sites.here(frame), bool(retain), bool(create), targets))
        thread.passes.append(number)
        recorder.open_passes.append(number)
        thread.last = now()
        return thread, number

    def end_pass(self, thread: Thread, number: int, error: BaseException | None) -> None:
        recorder = self.recorder
        thread.passes.remove(number)
        recorder.open_passes.remove(number)
        self.flush()
        recorder.put(("end", now() - recorder.start, 0, thread.number, number, None if error is None else said(error)))
        if not thread.passes:
            self.trim()

    def key_of(self, t: Any) -> Any:
        """Shape, dtype and device, as a key."""
        return t.shape, t.dtype, t.device

    def trim(self) -> None:
        """Forget values of tensors that are gone."""
        seen = self.recorder._seen
        if len(seen) > 4096:
            for key in [k for k, (r, _, _) in list(seen.items()) if r() is None]:
                del seen[key]
        ids = self.recorder._ids
        if len(ids) > 65536:
            for key in [k for k, (r, _) in list(ids.items()) if r() is None]:
                del ids[key]

    def split(self, roots: list[Any]) -> None:
        """A pass begins: with values="paths", what comes together in it is to be told apart."""
        recorder = self.recorder
        if recorder.asked == "paths" and recorder.splitting is None:
            recorder.splitting = Splitting(recorder, self, roots)

    def join(self, splitting: Any, number: int, error: BaseException | None) -> None:
        """The pass that `splitting` is of is over."""
        recorder = self.recorder
        if splitting is not None and recorder.splitting is splitting:
            recorder.splitting = None
            if error is None:
                thread = recorder.thread()
                thread.busy += 1
                try:
                    with self.quiet(), self.without_grad():
                        splitting.finish(number)
                finally:
                    thread.busy -= 1

    def without_grad(self) -> Any:
        """Context without recording a graph."""
        raise NotImplementedError

    def copy_of(self, g: Any) -> Any:
        """A tensor with g's numbers."""
        return g.detach().clone()

    def bytes_of(self, g: Any) -> int:
        return int(g.numel() * g.element_size())

    def flush(self) -> None:
        """Fetch what is still on a device."""

    def deferred(self, t: Any) -> bool:
        """Is t where reading it would wait for a device?"""
        return False

    def defer_comparison(self, slot: int, old: Any, new: Any) -> None:
        raise NotImplementedError

    def node_of_hook(self, hooked: Hooked, thread: Thread, slot: int) -> int:
        """The node a hook fires at, where known."""
        return -1

    def replaced(self, thread: Thread, kind: str, after: tuple[int, ...]) -> None:
        """A hook of the node that runs replaced what the node gets."""

    def edited(self, t: Any) -> None:
        """A hook wrote into t."""

    def grad_enabled(self) -> bool:
        raise NotImplementedError

    def inference_enabled(self) -> bool:
        raise NotImplementedError

    def grad_of(self, p: Any) -> Any:
        return p.grad

    def in_backward(self, thread: Thread) -> int:
        return BACKWARD if thread.passes else 0


def said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:400]
