"""What the taps of both engines share: calls of modules, backward passes, optimisers, registrations."""
from __future__ import annotations

import sys
from contextlib import nullcontext
from itertools import count
from typing import Any
from weakref import proxy, ref

from .._hooked import Hooked, plain
from .._own_hook import OwnHook
from ..answers.culprit import culprit
from ..answers.gradient_paths import Splitting
from ..listen import engine_named
from ..listen.sites import name_of
from . import multi_grad
from .book import MARK, Thread, now
from .exchanges import Exchanges
from .fired import OF_OPTIMIZERS, PLACE, SELDOM
from .recorder import Recorder
from .tape import Patch, Tape
from .witness import Witness, mark_of

_serials = count(1)
_nothing: Any = nullcontext()
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
    shapeless: frozenset[Any]                   # classes of what a lazy module has before its first call
    RemovableHandle: Any
    autograd: Any                               # the module with backward() and grad()
    hooks_home: Any                             # the module with the _global_*_hooks

    def __init__(self, recorder: Recorder) -> None:
        self.recorder: Any = recorder
        self.engine = engine_named(self.name)
        self.serial = next(_serials)            # marks nodes as ours; ids of dead recorders come again
        self.witness: Any = Witness(recorder, self, self.serial, recorder.ops, recorder.nodes)
        self.mine = False                       # a hook of our own is being registered
        self.everywhere: list[tuple[Any, str]] = []     # tables of hooks on every module, and their kinds
        self.steps: dict[int, list[Any]] = {}   # id of an optimizer -> what was there when its step began, innermost last
        self.multi: dict[int, tuple[Any, int]] = {}     # id of what holds the function of a hook of several tensors -> its number
        self.begins: dict[int, int] = {}        # pass that goes on -> the event of its begin
        self.ended: dict[int, int] = {}         # thread -> the event in which its last pass began
        self.exchanges = Exchanges(self)
        self.tape = Tape(self) if recorder.replay else None
        self.ear: Any = self.tape or self.witness

    # -- installing

    def install(self) -> None:
        """Put everything in place, through recorder.swap and recorder.later."""
        self.hear_exchanges()
        home = vars(self.hooks_home)
        for name, kind in GLOBAL:
            self.everywhere.append((home[name], kind))
            self.recorder.everywhere.append(home[name])
        home = vars(self.engine.optimizers())
        for name, make in (("_global_optimizer_pre_hooks", stepping), ("_global_optimizer_post_hooks", stepped)):
            table = home[name]
            table[MARK] = make(self)
            self.recorder.later(table.pop, MARK, None)
        for name, make in (("_global_module_registration_hooks", recorder_of_modules),
                           ("_global_parameter_registration_hooks", recorder_of_parameters)) if self.recorder.ops else ():
            table = vars(self.hooks_home)[name]
            table[MARK] = make(self)
            self.recorder.later(table.pop, MARK, None)
        self.sweep_global()

    def hear_exchanges(self) -> None:
        """Until the end, report to self.exchanges what ranks exchange."""
        raise NotImplementedError

    def listen(self) -> None:
        """Models have their names: begin to hear this thread's calls."""
        if self.recorder.ops:
            self.recorder.thread().adopting = True
            heard = self.heard()
            heard.__enter__()
            self.recorder.later(heard.__exit__, None, None, None)

    def heard(self) -> Any:
        """Context in which the witness hears the calls of a thread."""
        return self.engine.calls(self.ear)

    def quiet(self) -> Any:
        """Context in which the engine's functions do not come to us."""
        return _nothing

    def close(self) -> None:
        """The recording is over: let go of everything."""
        raise NotImplementedError

    def let_go(self) -> None:
        """Nothing of the recording needs us any more but what it is asked: a cycle would keep it until the collector comes by."""
        self.recorder = self.exchanges.recorder = proxy(self.recorder)
        self.witness.kinds.clear()
        self.witness = self.ear = None

    def step_begins(self, optimizer: Any, frame: Any) -> None:
        recorder = self.recorder
        number = recorder.optimizer(self, optimizer)
        if self.tape is not None:
            self.tape.made.clear()                      # a later step takes what it finds of earlier ones as it is
        self.sweep_optimizer(optimizer, number)
        slot = recorder.reserve("step")
        thread = recorder.thread()
        thread.stepping = True
        if slot < 0:
            return
        ps = [p for g in optimizer.param_groups for p in g["params"]]
        thread.busy += 1
        self.steps.setdefault(id(optimizer), []).append((      # a step may call that of its base class
            slot, now(), number, recorder.sites.here(frame), tuple([recorder.tensor(self, p) for p in ps]),
            tuple([self.grad_now(p, p.grad) for p in ps]), tuple([recorder.value(self, self.here_of(p)) for p in ps]),
            tuple([float(g.get("lr", 1.0)) for g in optimizer.param_groups])))
        if "initial_lr" in optimizer.param_groups[0]:
            recorder.rec.optimizers[number]["scheduled"] = 1
        thread.busy -= 1

    def grad_now(self, p: Any, g: Any) -> int:
        """The value of .grad as it is, whatever was done to it."""
        if g is None:
            return -1
        recorder, g = self.recorder, self.here_of(g)
        if self.shared(g):
            recorder._seen.pop(id(g), None)
        n = recorder.value(self, g)
        if recorder.nodes:
            number = recorder.tensor_number(g)
            if number is None or number not in recorder.rec.tensor_names:
                self.name_grad(g, recorder.tensor(self, p))
            if recorder.values is not None:
                recorder.keep(self, n, g)
        return n

    def here_of(self, t: Any) -> Any:
        """The part of t that this process holds."""
        return t

    def shared(self, g: Any) -> bool:
        """May its memory have been written into unseen?"""
        return True

    def name_grad(self, grad: Any, tensor: int) -> None:
        """Tensor number `tensor` has this .grad."""
        recorder = self.recorder
        name = recorder.rec.tensor_names.get(tensor, {}).get("name")
        recorder.name_tensor(self, grad, f"{name}.grad" if name else "a .grad", "grad", of=tensor)

    def step_ends(self, optimizer: Any) -> None:
        recorder = self.recorder
        thread = recorder.thread()
        thread.stepping = False
        found = self.steps.get(id(optimizer))
        if not found:
            return
        slot, began, number, site, tensors, gradients, values, rates = found.pop()
        took = now() - began
        ps = [p for g in optimizer.param_groups for p in g["params"]]
        thread.busy += 1
        with self.quiet():
            values_after = tuple([recorder.value(self, self.here_of(p)) for p in ps])
        recorder.rows[slot] = (
            "step", began - recorder.start, took, thread.number, number, site, tensors, gradients,
            values, values_after, None, rates)
        thread.busy -= 1

    # -- rare reports: NOTE [Clerk] in _engine/modes.py

    def registered(self, handle: Any, table: Any, hook: Any, kind: str, owner: Any) -> None:
        """A hook is about to be put into a table."""
        recorder = self.recorder
        if recorder.on and not self.mine and not self.is_ours(hook):
            place = self.place(kind, owner)
            if place is not None:
                recorder.registered(self, handle, table, hook, place, sys._getframe(1))

    def place(self, kind: str, owner: Any) -> tuple[str, str, int] | None:
        """(kind, what it is on, its number) of a hook; None for one that nobody asks about."""
        recorder = self.recorder
        if owner is None:
            if kind.endswith("_registration"):
                return None
            return kind, "every optimizer" if kind.startswith("step") else "every module", -1
        if isinstance(owner, self.Module):
            n = recorder.module(self, owner)
            return kind, recorder.rec.modules[n]["path"] or "the model", n
        if isinstance(owner, self.Tensor):
            n = recorder.tensor(self, owner)
            return kind, recorder.rec.name_of_tensor(n), n
        if isinstance(owner, self.Optimizer):
            return kind, type(owner).__name__, recorder.optimizer(self, owner)
        n = self.adopt(owner, -1)
        return kind, recorder.rec.node_rows[n][0], n

    def removed(self, handle: Any) -> None:
        recorder = self.recorder
        n = recorder.hook_of(handle) if recorder.on else None
        if n is not None and not recorder.rec.hooks[n]["removed"]:
            recorder.rec.hooks[n]["removed"] = True
            recorder.note("removed", f"hook {n}", recorder.sites.here(sys._getframe(1)))

    def zeroes(self, owner: Any, set_to_none: bool) -> None:
        """zero_grad() of a module or an optimizer is called."""
        recorder = self.recorder
        if not recorder.on:
            return
        with self.quiet():
            if isinstance(owner, self.Module):
                plain = type(owner).parameters is self.Module.parameters
                had = recorder.with_grad(self, recorder.parameters_below(owner) if plain else owner.parameters())
                name = recorder.rec.modules[recorder.module(self, owner)]["path"] or "the model"
            else:
                had = recorder.with_grad(self, [p for g in owner.param_groups for p in g["params"]])
                name = type(owner).__name__
        n = recorder.put(("zero", now() - recorder.start, 0, recorder.thread().number, name,
                          recorder.sites.here(sys._getframe(1)), had, bool(set_to_none)))
        if n >= 0 and isinstance(owner, self.Optimizer):
            recorder.zeroed.append((n, ref(owner)))

    def saves(self, owner: Any) -> None:
        """state_dict() or load_state_dict() of a module or an optimizer is called: look for their hooks."""
        recorder = self.recorder
        if not recorder.on:
            return
        with self.quiet():
            recorder.sweep_pending()
            if isinstance(owner, self.Optimizer):
                if any(getattr(owner, table, None) for table, _ in OF_OPTIMIZERS):
                    self.sweep_optimizer(owner, recorder.optimizer(self, owner))
                return
            for module in owner.modules():
                if any(module.__dict__.get(table) for table, _ in SELDOM):
                    recorder.module(self, owner)                    # gives the model its names
                    recorder.sweep_module(self, module, recorder.module(self, module), True)

    def loads(self, owner: Any, assign: bool) -> list[list[str]]:
        """The names of parameters that have several, if load_state_dict() may part them."""
        self.saves(owner)
        return tied(owner) if assign and self.recorder.on else []

    def loaded(self, owner: Any, before: list[list[str]] | None) -> None:
        if before and self.recorder.on:
            after = tied(owner)
            for names in before:
                if names not in after:
                    self.recorder.note("untied", " and ".join(names), self.recorder.sites.here(sys._getframe(1)))

    def scales(self, scaler: Any, what: str) -> None:
        if self.recorder.on:
            self.recorder.note(what, type(scaler).__name__, self.recorder.sites.here(sys._getframe(1)))

    def restored(self, module: Any) -> None:
        if self.recorder.on and self.recorder.ops:
            self.recorder.built.append((ref(module), "", None, -1))

    def parts(self, name: str, data: Any, out: Any, frame: Any = None) -> None:
        """A parameter or buffer was made of data, whose history it does not have."""
        if self.recorder.on and self.recorder.ops and not self.recorder.thread().busy:
            with self.quiet():
                self.witness.event(name, [data], [out], now(), frame or sys._getframe(2))

    # -- hooks in tables

    def sweep_global(self) -> None:
        for live, kind in self.everywhere:
            if live and self.recorder.unswept(live):
                self.recorder.sweep(self, live, kind, "every module", -1)

    def sweep_optimizer(self, optimizer: Any, number: int) -> None:
        for table, kind in OF_OPTIMIZERS:
            live = getattr(optimizer, table, None)
            if live:
                self.recorder.sweep(self, live, kind, self.recorder.rec.optimizers[number]["type"], number)

    def of_several(self, hook: Any, owner: int, place: int, key: int, site: int) -> bool:
        """Is a hook of tensor `owner` the part of one of several tensors?  Then that one is a hook, and this is none."""
        return multi_grad.part(self, hook, owner, place, key, site)

    def is_ours(self, hook: Any) -> bool:
        """Is this a hook of the microscope's own, or one by which a lazy module of the engine works?"""
        method = getattr(getattr(hook, "hook", hook), "__func__", None)
        return type(hook) in (Patch, OwnHook) or getattr(method, "__qualname__", "").startswith("LazyModuleMixin.")

    plain = staticmethod(plain)

    def assigns(self, t: Any, frame: Any) -> None:
        """The line at `frame` assigned to t.grad, or deleted it."""
        recorder = self.recorder
        thread = recorder.thread()
        if not (thread.busy or thread.passes or thread.stepping) and recorder.sites.user_frame_is_near(frame):
            n = recorder.tensor_number(t)
            if n is not None:
                recorder.note("assigned", str(n), recorder.sites.here(frame))

    def retains(self, original: Any, t: Any, frame: Any) -> None:
        """t.retain_grad() is called."""
        with self.quiet():
            original(t)
            self.recorder.note("retained", str(self.recorder.tensor(self, t)), self.recorder.sites.here(frame))

    # -- modules

    def call(self, original: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module is called, in a recording with ops."""
        recorder = self.recorder
        if not recorder.on:
            return original(module, *args, **kwargs)
        thread = recorder.thread()
        if not thread.adopting and not thread.passes:   # a thread that runs a model: its calls are heard, too
            thread.adopting = True
            try:
                with self.heard():
                    return self.call(original, module, args, kwargs)
            finally:
                thread.adopting = False
        thread, number, call = recorder.enter(self, module)
        facts = recorder.rec.modules[number]
        if facts["training"] is not module.training:
            facts["training"] = bool(module.training)
        modules = thread.modules
        parent = modules[-1][0] if modules else -1
        recorder.put(("enter", now() - recorder.start, 0, thread.number, number, call, parent,
                      recorder.sites.here(sys._getframe(1)), self.facts_of_call(args, kwargs)))
        modules.append((number, call, module))
        error = None
        out: Any = None
        try:
            if self.tape is None or parent >= 0:
                out = original(module, *args, **kwargs)
            else:
                out = self.tape.module(original, module, args, kwargs)
            return out
        except BaseException as e:
            error = f"{type(e).__name__}: {e}"[:400]
            raise
        finally:
            modules.pop()
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
        numbers = [recorder.tensor(self, t) for t in tensors[:8]]
        rows = recorder.rec.tensor_rows
        for n, t in zip(numbers, tensors):              # met inside a Function, before it had a history
            if rows[n][2] & 1 and t.requires_grad and not t.is_leaf:
                rows[n] = (*rows[n][:2], 2, rows[n][3])
        return {"type": type(out).__name__, "tensors": numbers,
                "wants": any(t.requires_grad for t in tensors)}

    def number(self, node: Any) -> int | None:
        """The number that this recording gave a node; None when it has none."""
        found = mark_of(self.serial, node)
        return None if found < 0 else found

    def adopt(self, fn: Any, op: int) -> int:
        """Number a node and all before it that are new: event `op` made them."""
        return self.witness.adopt(fn, op)

    def handed(self, to: int, value: int, g: Any) -> None:
        """A node hands on a gradient to one that is no leaf's."""
        if self.recorder.splitting is not None:
            self.recorder.splitting.sees(to, value, g)

    # -- passes

    def refused(self, how: str, roots: Any, wanted: Any, retain: Any, create: Any, ran: bool, error: BaseException) -> None:
        """A call of backward() or grad() raised: its pass has an error, or got nowhere.  ran: the pass was over."""
        recorder = self.recorder
        thread = recorder.thread()
        if not recorder.on or thread.told == id(error):
            thread.told = 0
            return
        if ran:
            for i in range(len(recorder.rows) - 1, -1, -1):
                row = recorder.rows[i]
                if row[0] == "end" and row[3] == thread.number:
                    recorder.rows[i] = (*row[:5], said(error), None)
                    return
            return
        Tensor = self.Tensor
        thread.busy += 1
        try:
            with self.quiet():
                tensors = [t for t in (roots if isinstance(roots, (tuple, list)) else (roots,)) if isinstance(t, Tensor)]
                if isinstance(wanted, dict):
                    wanted = list(wanted.values())
                goals = None if wanted is None else self.goals(wanted if isinstance(wanted, (tuple, list)) else (wanted,))
                nodes = [t.grad_fn for t in tensors if t.grad_fn is not None] if recorder.ops or recorder.nodes else []
                thread, number = self.begin_pass(
                    how, tuple([self.adopt(node, -1) for node in nodes]), tuple([recorder.tensor(self, t) for t in tensors]),
                    bool(retain), bool(create), goals, sys._getframe(1))
                self.end_pass(thread, number, error)
                thread.told = 0
        finally:
            thread.busy -= 1

    def goals(self, wanted: Any) -> tuple[int, ...]:
        """The numbers of what a pass is asked for: tensors, or edges."""
        return tuple([self.recorder.tensor(self, t) if isinstance(t, self.Tensor) else -1 for t in wanted])

    def returned(self, gradients: Any) -> None:
        """autograd.grad() returns these: those without a history come from this pass."""
        recorder = self.recorder
        if not recorder.on:
            return
        made_by = self.ended.get(recorder.thread().number, -1)
        for g in gradients if made_by >= 0 else ():
            if isinstance(g, self.Tensor) and not g.requires_grad and recorder.tensor_number(g) is None:
                recorder.new_tensor(self, g, made_by, -1)

    def begin_pass(self, how: str, roots: tuple[int, ...], tensors: tuple[int, ...], retain: bool, create: bool,
                   targets: tuple[int, ...] | None, frame: Any) -> tuple[Thread, int]:
        recorder = self.recorder
        thread = recorder.thread()
        thread.stepping = False
        recorder.pass_count += 1
        number = recorder.pass_count
        recorder.sweep_pending()
        self.sweep_global()
        recorder.sweep_parameters(self)
        self.begins[number] = recorder.put((
            "begin", now() - recorder.start, 0, thread.number, number, how, roots, tensors, recorder.sites.here(frame),
            bool(retain), bool(create), targets))
        thread.passes.append(number)
        recorder.open_passes.append(number)
        thread.last = now()
        return thread, number

    def end_pass(self, thread: Thread, number: int, error: BaseException | None) -> None:
        recorder = self.recorder
        thread.passes.remove(number)
        recorder.open_passes.remove(number)
        begin = self.ended[thread.number] = self.begins.pop(number, -1)
        self.flush()
        thread.told = 0 if error is None else id(error)
        cause = culprit(recorder.rec, str(error), begin) if type(error) is RuntimeError and begin >= 0 else None
        if error is not None and cause is not None:
            error.add_note(f"The recording knows: {cause}.")
        recorder.put(("end", now() - recorder.start, 0, thread.number, number, None if error is None else said(error), cause))
        if self.exchanges.parallel:
            self.exchanges.passed(self, thread.number, number, begin)
        if not thread.passes:
            self.trim()

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
        """A pass begins, with values="paths": what comes together in it is to be told apart."""
        recorder = self.recorder
        if recorder.splitting is None:
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

    name_of = staticmethod(name_of)

    def defined(self, hook: Any) -> int:
        return self.recorder.sites.of_function(hook)

    def node_of_hook(self, kind: str, hook: int, thread: Thread, slot: int) -> int:
        """The node that a hook fires at, where known."""
        return -1

    def replaced(self, thread: Thread, kind: str, after: tuple[int, ...]) -> None:
        """A hook of the node that runs replaced what the node gets."""
        self.witness.replaced(thread, kind, after)

    def captured(self, hooks: list[Any], kind: str, module: Any, table: Any) -> None:
        """Stand around hooks that a call of a module, made before the recording, keeps in a list of its own."""
        recorder, firing = self.recorder, self.recorder.firing
        for i, hook in enumerate(hooks):
            if type(hook) is Hooked or firing is None:
                continue
            known = next((h for h in table.values() if type(h) is Hooked and h.hook is hook), None)
            if known is None:
                owner = recorder.module(self, module)
                n = recorder.new_hook(self, kind, recorder.rec.modules[owner]["path"] or "the model", owner, -1, True)
                row = recorder.rec.hooks[n]
                row["name"], row["defined"] = name_of(hook), recorder.sites.of_function(hook)
                known = Hooked(firing, (recorder, self, hook, row, kind, PLACE[kind], n, False))
            hooks[i] = known
            recorder.later(hooks.__setitem__, i, hook)

    def edited(self, t: Any) -> None:
        """A hook wrote into t."""

    def grad_enabled(self) -> bool:
        raise NotImplementedError

    def inference_enabled(self) -> bool:
        raise NotImplementedError

    def runs_for_another(self) -> bool:
        """Does this thread, which began no pass, run nodes of one that another began?"""
        return False



def stepping(tap: Any) -> Any:
    def before(optimizer: Any, args: Any, kwargs: Any) -> None:
        if tap.recorder.on:
            with tap.quiet():
                tap.step_begins(optimizer, sys._getframe(1))

    return before


def stepped(tap: Any) -> Any:
    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        tap.step_ends(optimizer)

    return after


def recorder_of_modules(tap: Any) -> Any:
    def registered(module: Any, name: str, child: Any) -> None:
        tap.recorder.built.append((ref(module), "", None, -1))
        if child is not None:
            tap.recorder.built.append((ref(child), "", None, -1))

    return registered


def recorder_of_parameters(tap: Any) -> Any:
    def registered(module: Any, name: str, p: Any) -> None:
        site = tap.recorder.sites.here(sys._getframe(1))
        tap.recorder.built.append((ref(module), name, None if p is None else ref(p), site))

    return registered


def tied(module: Any) -> list[list[str]]:
    """The names of each parameter that has several."""
    found: dict[int, list[str]] = {}
    for name, p in module.named_parameters(remove_duplicate=False):
        found.setdefault(id(p), []).append(name)
    return [names for names in found.values() if len(names) > 1]


def said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:400]
