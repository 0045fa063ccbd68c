"""rec.replay(): a recorded step once more, with a hook, a weight or an output replaced; rec.diff(): two recordings.

A recording made with replay=True keeps the graph of retrograd, and copies of what its ops saved, so that weights may change
meanwhile; and on both engines what it takes to run the step forward again (forward.py).
Only gradients are computed: no .grad is touched, so post-accumulate hooks do not run.  All other hooks run again.
"""
from __future__ import annotations

from collections.abc import Iterator
from threading import get_ident
from typing import Any

import numpy as np

from ..plain_text import escaped
from . import multi_grad
from .recorder import RecordingError
from .recording import Recording, Value


class Replay:
    """Two runs of one pass: as recorded, and with the change asked for.

    before, after   parameter name -> gradient, an array (None where none came)
    nodes           (name of the node, module, norm before, norm after) in the order in which they ran
    Where the step ran forward again:
    loss            the number that the pass started from, before and after
    outputs         path of a module -> its output before and after, arrays; "path, call 2" if it was called twice
    recordings      of both runs
    """

    def __init__(self, before: dict[str, Any], after: dict[str, Any], nodes: list[tuple[str, str | None, Any, Any]],
                 loss: tuple[float, float] | None = None, outputs: dict[str, tuple[Any, Any]] | None = None,
                 recordings: tuple[Recording, Recording] | None = None) -> None:
        self.before = before
        self.after = after
        self.nodes = nodes
        self.loss = loss
        self.outputs = outputs or {}
        self.recordings = recordings

    def change(self, name: str) -> float:
        """|after - before| / |before| of a gradient or a module's output; inf where it was zero or None before and is not now.

        name  of a parameter, or the path of a module
        """
        a, b = (self.before[name], self.after[name]) if name in self.before else self.outputs[name]
        if a is not None and b is not None and a.shape != b.shape:
            return float("inf")
        a = np.zeros(1) if a is None else a
        b = np.zeros(1) if b is None else b
        moved, size = float(np.linalg.norm(double(b - a))), float(np.linalg.norm(double(a)))
        return moved / size if size else float("inf") if moved else 0.0

    @property
    def changed(self) -> list[str]:
        """Names of the gradients that differ."""
        return [name for name in self.before if self.change(name) > 0]

    @property
    def downstream(self) -> list[str]:
        """Paths of the modules whose output differs, in the order of their calls."""
        return [name for name in self.outputs if self.change(name) > 0]

    @escaped
    def __str__(self) -> str:
        lines = [] if self.loss is None else [f"loss {self.loss[0]:.6g} -> {self.loss[1]:.6g}"]
        if self.outputs:
            lines.append(f"{len(self.downstream)} of {len(self.outputs)} outputs of modules change")
            lines += [f"  {name or 'the model'}  {norm(self.outputs[name][0])} -> {norm(self.outputs[name][1])}  "
                      f"{self.change(name):.2%}" for name in self.downstream]
        lines.append(f"{len(self.changed)} of {len(self.before)} gradients change")
        width = max((len(n) for n in self.before), default=0)
        for name in self.before:
            lines.append(f"  {name:{width}}  {norm(self.before[name])} -> {norm(self.after[name])}  {self.change(name):.2%}")
        first = next((n for n in self.nodes if n[2] != n[3]), None)
        if first is not None:
            lines.append(f"the first gradient that differs comes out of {first[0]}" + (f" in {first[1]}" if first[1] else ""))
        return "\n".join(lines)

    __repr__ = __str__


def double(a: Any) -> Any:
    """Its numbers in double precision."""
    return np.asarray(a, np.complex128 if np.iscomplexobj(a) else np.float64)


def norm(a: Any) -> str:
    return "     None" if a is None else f"{float(np.linalg.norm(a)):9.4g}"


def replay(rec: Recording, without: Any = None, replacing: dict[Any, Any] | None = None, gradient: Any = None,
           number: int | None = None, outputs: dict[Any, Any] | None = None, weights: dict[str, Any] | None = None) -> Replay:
    """Run a recorded pass again, with something else in it.

    without    a handle, or several: their hooks do not run
    replacing  {handle: function}: another function in the hook's place
    gradient   what the pass starts from, in place of what it started from
    number     which pass; the last one unless given
    outputs    {path of a module: tensor, or function(output)}: what the module's calls give; (path, 2) is its second call
    weights    {name of a parameter or buffer: tensor, or function(weight)}
    The step runs forward again for outputs, weights and hooks of the forward pass, and on PyTorch always.
    RecordingError when the recording has nothing to run (record(replay=True) keeps it), when run again the step does not give
    the numbers recorded, or when a handle is of no hook of the step.
    """
    for what, its in (("outputs", outputs), ("weights", weights), ("gradient", {"": gradient})):
        for name, x in (its or {}).items():
            if x is not None and not (hasattr(x, "shape") or callable(x) or isinstance(x, (float, int, list, tuple))):
                raise TypeError(f"replay: {what}{name and f'[{name!r}]'} must be a tensor"
                                f"{'' if what == 'gradient' else ' or a function'}, got {type(x).__name__}")
    handles = [] if without is None else list(without) if isinstance(without, (list, tuple)) else [without]
    changes: dict[Any, Any] = {handle: nothing for handle in handles}
    changes.update(replacing or {})
    kept = [] if rec.live is None else [k for tap in rec.live.taps if tap.name == "retrograd" for k in tap.kept]
    if outputs or weights or not kept or any(in_forward(rec, handle) for handle in changes):
        from .forward import Forward
        return Forward(rec, number).run(outputs, weights, changes, gradient)
    found = [k for k in kept if number is None or k[0] == number]
    if not found:
        raise RecordingError(f"replay: no pass {number} was recorded; there are {', '.join(str(k[0]) for k in kept)}")
    run = Run(rec, found[-1])
    before, nodes_before = run.once(None)
    undo = [step for handle, function in changes.items() for step in run.put(handle, function)]
    try:
        after, nodes_after = run.once(gradient)
    finally:
        for table, key, hook in undo:
            table[key] = hook
    nodes = [(rec.node_rows[n][0], rec.path_of_node(n), size, nodes_after.get(n)) for n, size in nodes_before.items()]
    return Replay(before, after, nodes)


def nothing(*args: Any) -> None:
    """Stands for a hook that is left out."""


def in_forward(rec: Recording, handle: Any) -> bool:
    """Is it of a hook of the forward pass?"""
    n = rec.live.hook_of(handle) if hasattr(handle, "hooks_dict_ref") else None
    return n is not None and rec.hooks[n]["kind"] in ("forward", "forward_pre")


class Run:
    """One recorded pass of retrograd."""

    def __init__(self, rec: Recording, kept: Any) -> None:
        self.rec = rec
        _, self.roots, self.seeds, _, _ = kept
        self.tap = next(tap for tap in rec.live.taps if tap.name == "retrograd")
        self.nodes = list(walk(self.roots))
        self.names: dict[str, Any] = {}
        for node in self.nodes:
            number = self.tap.number(node)
            tensor = -1 if number is None else rec.node_rows[number][4]
            if tensor >= 0:
                self.names[rec.name_of_tensor(tensor)] = node

    def once(self, gradient: Any) -> tuple[dict[str, Any], dict[int, float]]:
        """Gradients of the leaves, and the norm that came out of each node."""
        from ..._engine.backward import run_backward
        from ..._engine.modes import modes
        from ..._engine.tensor import TensorBase
        from ...autograd import graph
        seeds = list(self.seeds)
        if gradient is not None:
            given = list(gradient) if isinstance(gradient, (list, tuple)) else [gradient]
            if len(given) != len(seeds):
                raise ValueError(f"replay: the pass has {len(seeds)} roots, and {len(given)} gradients are given")
            for i, g in enumerate(given):
                array = np.asarray(g.array if isinstance(g, TensorBase) else g, getattr(seeds[i], "dtype", None))
                if seeds[i] is not None and array.shape != seeds[i].shape:
                    raise ValueError(f"replay: gradient {i} has shape {array.shape}, its root {seeds[i].shape}")
                seeds[i] = array
        seeds = [s.copy() if isinstance(s, np.ndarray) else s for s in seeds]
        listener = Norms(self.tap)
        observer, modes.observer = modes.observer, listener
        graph._replaying.add(get_ident())
        try:
            leaves = [(node, 0) for node in self.names.values()]
            found = run_backward(self.roots, seeds, True, False, leaves, False)
        finally:
            modes.observer = observer
            graph._replaying.discard(get_ident())
        return ({name: None if g is None else np.array(g) for name, g in zip(self.names, found)}, listener.sizes)

    def put(self, handle: Any, function: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Another function in a hook's place; -> (table, key, what was there)."""
        parts = getattr(handle, "handles", None)
        if isinstance(parts, tuple) and parts:          # of a hook of several tensors
            handle = parts[0]
        table = handle.hooks_dict_ref() if hasattr(handle, "hooks_dict_ref") else None
        hook = None if table is None else table.get(handle.id)
        n = self.rec.live.hook_of(handle) if table is not None else None
        if n is None and hook is None:
            raise RecordingError("replay: expected the handle of a hook that is in place")
        kind = self.rec.hooks[n]["kind"] if n is not None else ""
        if kind in ("backward", "backward_pre"):        # the module's calls captured the functions
            from .._hooked import Hooked
            done = 0
            for node in self.nodes:
                call = getattr(node, "call", None)
                hooks: Any
                for hooks in (getattr(call, "full", None), getattr(call, "pre", None)):
                    for i, captured in enumerate(hooks or ()):
                        if captured is hook or (type(captured) is Hooked and (captured.hook is hook or captured.args[0][6] == n)):
                            yield hooks, i, captured
                            hooks[i] = function
                            done += 1
            if done:
                return
        elif kind == "multi_grad" and hook is not None:
            kept = multi_grad.kept_in(hook)
            assert kept is not None
            whole: dict[str, Any] = vars(kept[0])
            yield whole, "fn", whole["fn"]
            whole["fn"] = function
            return
        elif table is not None and hook is not None and kind not in ("forward", "forward_pre", "post_accumulate"):
            yield table, handle.id, hook
            table[handle.id] = function
            return
        raise RecordingError(f"replay: {self.rec.hooks[n]['name'] if n is not None else 'the hook'} is not a hook that runs in "
                             "the recorded pass")


class Norms:
    """An observer of the engine: the norm of what each node hands on."""

    def __init__(self, tap: Any) -> None:
        self.tap = tap
        self.sizes: dict[int, float] = {}
        self.stack: list[list[Any]] = []

    def op(self, node: Any, inputs: Any, out: Any) -> None:
        """Ops of hooks are of no interest."""

    def begin(self, task: Any, node: Any, g: Any, more: Any) -> None:
        self.stack.append([self.tap.number(node), 0.0])

    def edge(self, task: Any, to: Any, nr: int, g: Any) -> None:
        if self.stack:
            x = double(getattr(g, "array", g))
            self.stack[-1][1] += float(np.vdot(x, x).real)

    def end(self, task: Any, node: Any) -> None:
        number, squares = self.stack.pop()
        if number is not None:
            self.sizes[number] = squares ** 0.5


def walk(roots: Any) -> Iterator[Any]:
    """Every node that a pass from these roots can reach."""
    seen = {id(node) for node, _ in roots}
    todo = [node for node, _ in roots]
    while todo:
        node = todo.pop()
        yield node
        for nxt, _ in node.next_functions:
            if nxt is not None and id(nxt) not in seen:
                seen.add(id(nxt))
                todo.append(nxt)


# -- two recordings


class Difference:
    """What differs between two recordings: printed for people; `gradients` and `first` are for programs."""

    def __init__(self, gradients: dict[str, tuple[float | None, float | None]], first: str | None, lines: list[str]) -> None:
        self.gradients = gradients
        self.first = first
        self.lines = lines

    def __bool__(self) -> bool:
        return bool(self.lines)

    @escaped
    def __str__(self) -> str:
        return "\n".join(self.lines) if self.lines else "no difference"

    __repr__ = __str__


def diff(a: Recording, b: Recording, rtol: float = 1e-5) -> Difference:
    """The first op and the first node whose norms differ by more than `rtol`, other hooks, other gradients.

    Recordings of two runs, or of the two engines with the same model and numbers; from files as well.
    """
    lines = []
    first = None
    for kind, what in (("exit", "forward: the output of"), ("accumulate", "backward: the gradient of")):
        for x, y in zip(steps(a, kind), steps(b, kind)):
            if x[0] != y[0]:
                lines.append(f"{what.partition(':')[0]}: {x[0]} in one, {y[0]} in the other, at the same place")
                first = first or x[0]
                break
            if differ(x[1], y[1], rtol):
                lines.append(f"{what} {x[0]} is the first that differs: norm {x[1]:.6g}, {y[1]:.6g}")
                first = first or x[0]
                break
    gradients = {}
    ga, gb = last_gradients(a), last_gradients(b)
    for name in [*ga, *(n for n in gb if n not in ga)]:
        if differ(ga.get(name), gb.get(name), rtol):
            gradients[name] = (ga.get(name), gb.get(name))
            lines.append(f"{name}.grad: norm " + ", ".join("none" if v is None else f"{v:.6g}" for v in gradients[name]))
    ha, hb = fired(a), fired(b)
    for key in [*ha, *(k for k in hb if k not in ha)]:
        if ha.get(key) != hb.get(key):
            lines.append(f"hook {key[0]} of {key[1]}: fired {ha.get(key, (0, 0))[0]} and {hb.get(key, (0, 0))[0]} times, changed "
                         f"something {ha.get(key, (0, 0))[1]} and {hb.get(key, (0, 0))[1]} times")
    return Difference(gradients, first, lines)


def differ(x: float | None, y: float | None, rtol: float) -> bool:
    if x is None or y is None:
        return x is not y
    return not (x == y or abs(x - y) <= rtol * max(abs(x), abs(y)))


def steps(rec: Recording, kind: str) -> Iterator[tuple[str, float | None]]:
    """(what, norm) of every module's output, or of every gradient that came to a leaf."""
    if kind == "exit":
        for path, call, out in outputs(rec):
            if out.measured:
                yield f"{path or 'the model'}, call {call}", out.norm
        return
    for e in rec.of("accumulate"):
        value = rec.value(e.gradient)
        yield rec.name_of_tensor(e.tensor), value.norm if value is not None and value.measured else None


def outputs_of(rec: Recording) -> Iterator[tuple[str, Any]]:
    """(path, array) of every tensor that a module's call returned; "path, call 2" of its second call."""
    met: set[str] = set()
    for path, call, value in outputs(rec):
        name = (path or "") + (f", call {call}" if call > 1 else "")
        if name not in met and value.array is not None:
            met.add(name)
            yield name, value.array


def outputs(rec: Recording) -> Iterator[tuple[str | None, int, Value]]:
    """(path, call, value) of every tensor that a module's call returned."""
    values: dict[int, int] = {}
    for e in rec.of("op", "exit"):
        if e.kind == "op":
            values.update(zip(e.outputs, e.values))
        elif e.facts is not None:
            for t in e.facts["tensors"]:
                value = rec.value(values.get(t, -1))
                if value is not None:
                    yield e.path, e.call, value


def last_gradients(rec: Recording) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for e in rec.of("accumulate"):
        value = rec.value(e.now)
        if rec.tensor(e.tensor)["name"]:
            found[rec.name_of_tensor(e.tensor)] = value.norm if value is not None and value.measured else None
    return found


def fired(rec: Recording) -> dict[tuple[str, str], tuple[int, int]]:
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for h in rec.hooks:
        n, m = found.get((h["name"], h["on"]), (0, 0))
        found[h["name"], h["on"]] = n + h["fired"], m + h["changed"]
    return found
