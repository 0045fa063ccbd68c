"""rec.replay(outputs=..., weights=...): a recorded step once more from its beginning, with something else in it.

The calls on the tape run again with the weights, modes, arguments and random numbers of then, twice: as recorded, and as asked.
The first run proves that the step can be run again: an operation that gives other numbers than it did is an error that names it.
The weights, their .grad, the modules and the generators are as before when the replay is over.
"""
from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from .._measure import same
from ..training.randomness import restore, state_of
from . import multi_grad
from .recorder import RecordingError, record
from .recording import POSITION, Recording
from .replay import Replay, outputs_of, walk
from .tape import Call, Patch, Tape, aside, attributes, edition, tensors_of

ON_MODULES = ("forward", "forward_pre", "backward", "backward_pre")
OP = POSITION["op"]
NUMBERS = (bool, int, float, complex, str, list)


class Forward:
    """One recorded step: from the last step of an optimizer before a pass to that pass, and what it goes back to."""

    def __init__(self, rec: Recording, number: int | None) -> None:
        tapes = [] if rec.live is None else [tap.tape for tap in rec.live.taps if tap.tape is not None and tap.tape.passes]
        if not tapes:
            raise RecordingError("replay: the recording has no step to run; record(model, replay=True) keeps it, in the process "
                                 "that recorded")
        numbers = sorted(n for tape in tapes for n in tape.passes)
        self.number = numbers[-1] if number is None else number
        if self.number not in numbers:
            raise RecordingError(f"replay: no pass {number} was recorded; there are {', '.join(map(str, numbers))}")
        self.rec, self.recorder = rec, rec.live
        self.tape: Tape = next(tape for tape in tapes if self.number in tape.passes)
        self.tap, self.torch = self.tape.tap, self.tape.torch
        self.roots, self.seeds = self.tape.passes[self.number]
        begin = next((e.number for e in rec.of("begin") if e.get("pass") == self.number), len(rec.rows))
        first = max((e.number for e in rec.of("step") if e.number < begin), default=-1)
        self.calls = self.needed([call for call in self.tape.calls if call.at < begin], first)
        made = {id(t) for call in self.calls for t in call.made}
        for t in self.roots:
            if id(t) not in made:
                raise RecordingError(
                    f"replay: {self.name(t)} was made neither by a module nor by a function of {self.tap.name} since the last "
                    "optimizer step, so what leads to it cannot be run again")
        self.modules = {rec.modules[n]["path"]: m for known, n in self.recorder._modules.values() if (m := known()) is not None}
        self.set: set[tuple[int, int]] = set()          # (call, tensor) that code between the calls had edited

    def needed(self, calls: list[Call], first: int) -> list[Call]:
        """The calls after event `first`, and those earlier ones in whose graphs the pass goes on: of a GAN's generator."""
        found: list[Call] = []
        wanted: set[int] = set()
        for call in reversed(calls):
            if call.at > first or any(id(t) in wanted for t in call.made):
                found.insert(0, call)
                wanted.difference_update(map(id, call.made))
                inputs = [t for t, _ in call.given] if call.at > first else list(self.tape.tensors((call.args, call.kwargs)))
                wanted.update(id(t) for t in inputs if t.requires_grad and not t.is_leaf)
        return found

    def name(self, t: Any) -> str:
        n = self.recorder.tensor_number(t)
        return f"a {tuple(t.shape)} tensor" if n is None else self.rec.name_of_tensor(n)

    # -- what is asked for

    def patches(self, outputs: Any) -> dict[Any, Any]:
        """{module: (call or None, its path, what its output becomes)}"""
        called = {e.path or "" for e in self.rec.of("enter") if any(call.at <= e.number < call.end for call in self.calls)}
        found = {}
        for key, new in (outputs or {}).items():
            path, call = key if isinstance(key, tuple) else (key, None)
            module = self.modules.get(path)
            if module is None or path not in called:
                raise RecordingError(f"replay: no module {path!r} is called in the step; there are "
                                     + ", ".join(repr(p) for p in sorted(called)))
            found[module] = (call, path, new)
        return found

    def replacements(self, weights: Any) -> dict[int, Any]:
        """{id of a parameter or buffer: its numbers}"""
        held = {id(t): (t, copied) for call in self.calls for t, copied in (*call.weights, *call.given)}
        names = {}
        for path, module in self.modules.items():
            for name, t in (*module._parameters.items(), *module._buffers.items()):
                if t is not None and id(t) in held:
                    names[f"{path}.{name}" if path else name] = t
        for name, n in self.rec.parameters.items():
            names.update((name, t) for t, _ in held.values() if name not in names and self.recorder.tensor_number(t) == n)
        found = {}
        for name, new in (weights or {}).items():
            t = names.get(name, names.get(self.rec.full_name(name)))
            if t is None:
                raise RecordingError(f"replay: the step uses no weight {name!r}; there are "
                                     + ", ".join(map(repr, sorted(names))))
            old = held[id(t)][1]
            with self.torch.no_grad():
                if callable(new) and not hasattr(new, "shape"):
                    new = new(old.clone())
                new = self.torch.as_tensor(new, dtype=old.dtype, device=old.device).detach().clone()
            if new.shape != old.shape:
                raise ValueError(f"replay: {name} has shape {tuple(old.shape)}, its replacement {tuple(new.shape)}")
            found[id(t)] = new
        return found

    def place(self, handle: Any) -> tuple[Any, Any, Any]:
        """Where a hook is: (holder, key or attribute, the hook)."""
        parts = getattr(handle, "handles", None)
        one = parts[0] if isinstance(parts, tuple) and parts else handle
        table = one.hooks_dict_ref() if hasattr(one, "hooks_dict_ref") else None
        n = None if table is None else self.recorder.hook_of(one)
        if table is None or n is None:
            raise RecordingError("replay: expected the handle of a hook that was in place")
        row = self.rec.hooks[n]
        said = f"replay: {row['name']} ({row['kind'].replace('_', '-')} hook of {row['on']})"
        hook = table.get(one.id)
        if hook is None:
            raise RecordingError(f"{said} was removed after the recording; call replay while it is in place")
        kept = multi_grad.kept_in(hook) if row["kind"] == "multi_grad" else None
        if kept is not None:
            return *kept, getattr(*kept)
        if row["kind"] in ON_MODULES or row["kind"] == "tensor" and self.rec.tensor(row["owner"])["leaf"]:
            return table, one.id, hook
        if row["kind"] == "tensor":
            raise RecordingError(f"{said} is on a tensor that a replay makes anew; replace the output of its module (outputs=)")
        raise RecordingError(f"{said} is not a hook that runs in the recorded pass")

    # -- running

    def run(self, outputs: Any, weights: Any, hooks: dict[Any, Any], gradient: Any) -> Replay:
        patches, new = self.patches(outputs), self.replacements(weights)
        seeds = self.given(gradient)
        places = [(*self.place(handle), function) for handle, function in hooks.items()]
        with self.put_back():
            before = Once(self, {}, {}, self.seeds)
            before.proves()
            try:
                for holder, key, _, function in places:
                    put(holder, key, function)
                after = Once(self, patches, new, seeds)
            finally:
                for holder, key, hook, _ in places:
                    put(holder, key, hook)
        nodes = [(self_name(x), x.path, size(before.rec, x), size(after.rec, y))
                 for x, y in zip(before.rec.of("node"), after.rec.of("node")) if self_name(x) == self_name(y)]
        made = {}
        then, now = dict(outputs_of(before.rec)), dict(outputs_of(after.rec))
        for key in then:
            made[key] = then[key], now.get(key)
        return Replay(before.gradients, {name: after.gradients.get(name) for name in before.gradients}, nodes,
                      (before.loss, after.loss), made, (before.rec, after.rec))

    def given(self, gradient: Any) -> list[Any]:
        if gradient is None:
            return self.seeds
        found = list(gradient) if isinstance(gradient, (list, tuple)) else [gradient]
        if len(found) != len(self.roots):
            raise ValueError(f"replay: the pass has {len(self.roots)} roots, and {len(found)} gradients are given")
        for i, (g, t) in enumerate(zip(found, self.roots)):
            if np.shape(g) != tuple(t.shape):
                raise ValueError(f"replay: gradient {i} has shape {np.shape(g)}, its root {tuple(t.shape)}")
        return found

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Whatever happens, everything is afterwards as it is now."""
        torch = self.torch
        leaves = {id(t): t for call in self.calls for t, _ in (*call.weights, *call.given) if t.is_leaf}
        tensors = list(leaves.values())
        numbers = [t.data for t in tensors]
        held = {id(m): (m, m.training, attributes(m)) for call in self.calls for m, _ in call.modes}
        random = state_of(torch)
        keep = getattr(torch.autograd, "_unsafe_preserve_version_counter", None)
        with ExitStack() as stack:
            if keep is not None:
                stack.enter_context(keep(tuple(t for t in tensors if edition(t) >= 0)))
            try:
                yield
            finally:
                for t, data in zip(tensors, numbers):
                    t.data = data
                for m, training, its in held.values():
                    m.training = training
                    put_attributes(m, its)
                restore(torch, random)


class Once:
    """One run: its recording, loss, gradients."""

    def __init__(self, step: Forward, patches: dict[Any, Any], weights: dict[int, Any], seeds: list[Any]) -> None:
        self.step, self.weights = step, weights
        self.first = not step.set
        self.tap, self.torch = step.tap, step.torch
        self.env: dict[int, Any] = {}           # id of a recorded tensor -> the one of this run
        self.used: dict[int, Any] = {}          # id of what no call gave -> the copy that env has of it
        self.strangers: list[tuple[Any, Any]] = []      # copies of results of earlier steps, and these
        self.ready: set[int] = set()            # weights and modules that have their state of then
        self.spans: list[tuple[int, int]] = []
        options = step.rec.header
        handles = [module.register_forward_hook(Patch(*patch)) for module, patch in patches.items()]
        try:
            with record(*step.recorder.models, values="all", norms=options["norms"], engine=self.tap.name,
                        limit=step.recorder.limit, max_bytes=step.recorder.max_bytes) as rec:
                self.rec: Recording = rec
                for n, call in enumerate(step.calls):
                    first = len(rec.rows)
                    self.play(n, call)
                    self.spans.append((first, len(rec.rows)))
                self.roots = [self.env[id(t)] for t in step.roots]
                self.back(seeds)
        finally:
            for handle in handles:
                handle.remove()
        self.rename()
        rec.live = None

    def play(self, n: int, call: Call) -> None:
        torch, step = self.torch, self.step
        with self.aside(), torch.no_grad():
            self.set_state(n, call)
            args, kwargs = self.mapped(call.args), self.mapped(call.kwargs)
            restore(torch, call.random)
        kind, dtype, enabled = call.autocast
        with torch.set_grad_enabled(call.grad), torch.autocast(kind, dtype=dtype, enabled=enabled):
            out = call.module(*args, **kwargs) if call.module is not None else call.func(*args, **kwargs)
        if call.out is None and call.name == "__setitem__":
            out = args[0]
        made = list(tensors_of(out, self.tap.Tensor))
        if len(made) != len(call.made):
            raise RecordingError(f"replay: {self.said(call)} gave {len(call.made)} tensors, and gives {len(made)} now")
        self.env.update((id(was), t) for was, t in zip(call.made, made))
        if not made and isinstance(call.out, (*NUMBERS, np.ndarray)) and not equal(out, call.out):
            self.read(step, call)

    def aside(self) -> Any:
        return aside(self.tap, self.rec.live.thread())

    def read(self, step: Forward, call: Call) -> None:
        """A number that the program read is another one now: where did it go?"""
        from ..answers.read_off import computed_with, on_the_way
        event = next((e for e in step.rec.events[call.at:call.end] if e.kind == "op" and e.name == call.name), None)
        if call.name == "__bool__" or event is None or computed_with(step.rec, event, on_the_way(step.rec)) is not False:
            raise RecordingError(f"replay: {self.said(call)} gives another number now, and what the program did with it cannot "
                                 "be run again; compute it in a module, or do not read it before the pass")

    def said(self, call: Call) -> str:
        name = call.name if call.module is None else next(
            (path or "the model" for path, m in self.step.modules.items() if m is call.module), type(call.module).__name__)
        at = next((e.where for e in self.step.rec.events[call.at:call.end] if e.get("site", -1) >= 0), None)
        return name + (f" [{at}]" if at else "")

    def set_state(self, n: int, call: Call) -> None:
        """What the call reads is as it was."""
        step = self.step
        for t, copied in (*call.weights, *((t, c) for t, c in call.given if t.is_leaf and t.requires_grad)):
            key = n, id(t)
            if id(t) in self.weights:
                if id(t) not in self.ready:
                    t.data = self.weights[id(t)].clone()
            elif id(t) not in self.ready or key in step.set:
                t.data = copied.clone()
            elif self.first and not alike(self.tap, t, copied):
                step.set.add(key)
                t.data = copied.clone()
            self.ready.add(id(t))
        for m, its in call.attributes:
            if id(m) not in self.ready:
                put_attributes(m, its)
                self.ready.add(id(m))
        for m, training in call.modes:
            m.training = training
        for t, copied in call.given:
            if self.used.get(id(t)) is copied or id(t) in self.env and id(t) not in self.used:
                continue
            self.used[id(t)] = copied
            if t.is_leaf and t.requires_grad:
                self.env[id(t)] = t
            elif id(t) in self.weights:
                self.env[id(t)] = self.weights[id(t)].clone()
            else:
                self.env[id(t)] = new = copied.clone()
                if t.requires_grad:
                    self.strangers.append((new.requires_grad_(), t))

    def mapped(self, x: Any) -> Any:
        """An argument with the tensors of this run."""
        if isinstance(x, self.tap.Tensor):
            return self.env.get(id(x), x)
        if type(x) is dict:
            return {k: self.mapped(v) for k, v in x.items()}
        if isinstance(x, (list, tuple)):
            parts = [self.mapped(v) for v in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if not any(id(t) in self.env for t in tensors_of(x, self.tap.Tensor)):
            return x
        found = copy.copy(x)
        for k, v in x.items() if isinstance(x, dict) else vars(x).items():
            if isinstance(x, dict):
                found[k] = self.mapped(v)
            else:
                setattr(found, k, self.mapped(v))
        return found

    def back(self, seeds: list[Any]) -> None:
        """The backward pass; .grad is left alone."""
        step, torch, tap = self.step, self.torch, self.tap
        with self.aside():
            leaves: dict[int, Any] = {}
            for node in walk([(t.grad_fn, 0) for t in self.roots if t.grad_fn is not None]):
                leaf = getattr(node, "variable", None)
                if leaf is not None:
                    leaves[id(leaf)] = leaf
                    continue
                known = tap.number(node)
                if known is not None:
                    op = step.rec.node_rows[known][1]
                    raise RecordingError(
                        f"replay: {step.rec.node_rows[known][0]} of the recorded step is in the new graph"
                        + (f" ({step.rec.events[op].where})" if op >= 0 else "") + ": a module kept a tensor of it")
            for new, old in self.strangers:
                if id(new) in leaves:
                    raise RecordingError(
                        f"replay: the pass goes on into {step.name(old)}, which was made before the last optimizer step or by "
                        "something that cannot be run again; record that step alone, or detach it")
            self.loss = sum(float(t.detach().sum()) for t in self.roots)
            given = [None if s is None else torch.as_tensor(getattr(s, "array", s) if tap.name == "retrograd" else s,
                     dtype=t.dtype, device=t.device).clone() for s, t in zip(seeds, self.roots)]
        found = torch.autograd.grad(self.roots, list(leaves.values()), given, allow_unused=True) if leaves else ()
        with self.aside():
            self.gradients = {step.name(t): None if g is None else np.array(tap.array_of(g))
                              for t, g in zip(leaves.values(), found)}

    def proves(self) -> None:
        """Did this run do what the recording says?"""
        step = self.step
        for call, span in zip(step.calls, self.spans):
            was, now = ops(step.rec, call.at, call.end), ops(self.rec, *span)
            for x, y in zip(was, now):
                if x[1:] != y[1:]:
                    e = step.rec.events[x[0]]
                    raise RecordingError(
                        f"replay: run again, {e.name}" + (f" in {e.path}" if e.path else "")
                        + (f" [{e.where}]" if e.where else "") + " gives numbers that differ from the recorded ones: the step "
                        "depends on something besides its weights, arguments and random numbers (a counter, a file, the clock)")
            if len(was) != len(now):
                raise RecordingError(f"replay: {self.said(call)} did {len(was)} operations in the recording, "
                                     f"{len(now)} when run again")
        for t, new in zip(step.roots, self.roots):
            if not alike(self.tap, t, new):
                raise RecordingError("replay: run again, the step gives a different loss from the recorded one")

    def rename(self) -> None:
        """Paths and lines are those of the recording."""
        step, rec = self.step, self.rec
        paths = {id(m): path for path, m in step.modules.items()}
        for known, n in rec.live._modules.values():
            m = known()
            if m is not None and id(m) in paths:
                rec.modules[n]["path"] = paths[id(m)]
        for call, (first, end) in zip(step.calls, self.spans):
            if call.module is None:
                sites = [row[OP["site"]] for row in step.rec.rows[call.at:call.end] if row[0] == "op"]
                mine = [i for i in range(first, end) if rec.rows[i][0] == "op"]
                for i, site in zip(mine, sites):
                    if site >= 0:
                        rec.sites.append(step.rec.sites[site])
                        row = list(rec.rows[i])
                        row[OP["site"]] = len(rec.sites) - 1
                        rec.rows[i] = tuple(row)


def put(holder: Any, key: Any, hook: Any) -> None:
    """A hook into its table, or into what holds it."""
    if isinstance(key, str):
        setattr(holder, key, hook)
    else:
        holder[key] = hook


def alike(tap: Any, a: Any, b: Any) -> bool:
    return bool(same(np.asarray(tap.array_of(a)), np.asarray(tap.array_of(b))))


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and same(a, b)
    return bool(a == b or a != a and b != b)


def put_attributes(module: Any, its: dict[str, Any]) -> None:
    for name in attributes(module).keys() - its.keys():
        del vars(module)[name]
    vars(module).update(its)


def ops(rec: Recording, first: int, end: int) -> list[tuple[Any, ...]]:
    """(event, name, module, statistics of the results) of the operations among these events."""
    found = []
    for i in range(first, min(end, len(rec.rows))):
        row = rec.rows[i]
        if row[0] == "op":
            path = rec.modules[row[OP["module"]]]["type"] if row[OP["module"]] >= 0 else ""
            found.append((i, row[OP["name"]], path, *(tuple(map(repr, rec.stats[7 * v:7 * v + 7])) for v in row[OP["values"]]
                                                      if v >= 0)))
    return found


def self_name(event: Any) -> str:
    return str(event._rec.node_rows[event.node][0])


def size(rec: Recording, event: Any) -> float:
    """The norm of all that a node hands on."""
    found = [rec.value(n) for n in event.outputs if n >= 0]
    return float(sum(v.norm ** 2 for v in found if v is not None and v.measured) ** 0.5)
