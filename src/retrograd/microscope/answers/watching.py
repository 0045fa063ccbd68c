"""watch(model): gradients, weights and updates of every parameter, dead and saturated units, over a training run.

Only every n-th step is looked at, and hooks on activations are in place only then, so that a run is hardly slower.  On a
device the numbers of a step are fetched together, once.
"""
from __future__ import annotations

import csv
import html
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from ..arguments import FilePath, checked
from ..errors import tied
from ..listen import engine_of_module
from ..plain_text import escaped, few, table
from ..rounds import Rounds
from .functional_units import Functional
from .histograms import KINDS, LIMITS, Histograms
from .successive import Successive
from .watch_problems import Loop, Units

EVERY = 10
WINDOW = 10
ROWS = 200_000
COLUMNS = ("step", "name", "grad_norm", "weight_norm", "update_norm", "ratio", "dead", "saturated",
           "grad_cosine", "update_cosine")
BOUNDED = {"Tanh": (-1.0, 1.0), "Sigmoid": (0.0, 1.0), "Hardtanh": (-1.0, 1.0), "Hardsigmoid": (0.0, 1.0),
           "Softsign": (-1.0, 1.0)}
RECTIFIERS = {"ReLU", "ReLU6", "Threshold", "Hardshrink", "Softshrink"}
NOTHING = ("nothing was recorded: no optimizer that has the model's parameters made a step; after a manual update "
           "call w.step()")


@checked
def watch(model: Any, *, every: int = EVERY, limit: int = ROWS, window: int = WINDOW, log: Callable[..., Any] | None = None,
          histograms: bool = False, successive: bool = False, batch: int | None = None, scaler: Any = None) -> Watch:
    """Follow a model's training: returns a Watch, which is also a context manager.

        with watch(model) as w:
            train(model)
        print(w)

    model   of retrograd.nn or torch.nn
    every   look at every n-th step of each optimizer, starting with its first
    limit   how many rows to keep, the newest
    window  a unit counts as dead if it was never above 0 in so many looks (dead_units, problems)
    log     log({"grad_norm/0.weight": 0.1, ...}, step) is called at each look: wandb.log, mlflow.log_metrics, a function
    histograms  keep histograms of weights, gradients and updates at each look: w.histogram(name)
    successive  also look at the step after each look: gives cosines between gradients and updates of both, and
                w.noise_scale()
    batch       samples in a batch, for the noise scale; by default the length of the model's first argument
    scaler      a GradScaler: w.skipped lists the steps that it skips, and gradient norms exclude its scale
    Steps count from 1, and have one step() of each optimizer at most: of a GAN's two, both belong to one step.  Without an
    optimizer, call w.step() after each update, and w.before() before it if you want update norms.  ValueError for numbers that
    are not positive.
    """
    engine = engine_of_module(model, "watch")
    if every < 1:
        raise ValueError(f"watch: every must be a positive number of steps, not {every!r}")
    if limit < 1:
        raise ValueError(f"watch: limit must be a positive number of rows, not {limit!r}")
    if window < 1:
        raise ValueError(f"watch: window must be a positive number of looks, not {window!r}")
    if batch is not None and batch < 1:
        raise ValueError(f"watch: batch must be a positive number of samples, not {batch!r}")
    if scaler is not None and not hasattr(scaler, "unscale_"):
        raise TypeError(f"watch: scaler must be a GradScaler, not {type(scaler).__name__}")
    return Watch(model, engine, every, limit, window, log, Histograms() if histograms else None,
                 Successive(model, engine, batch) if successive else None, scaler)


class Watch:
    """What watch() returns.

    rows   dicts with the keys of COLUMNS.  Parameters have grad_norm (before the step, after clipping), weight_norm,
           update_norm, ratio = update_norm / weight_norm, and grad_cosine and update_cosine with the next step; activations
           have dead (share of units that were 0 for the whole batch) and saturated (share of values within 2 % of a bound).
           None: unknown.
    skipped   numbers of the steps that the scaler skipped
    """

    _arrays: list[Any] = []                     # of the gradients that a step begins with, where they are asked for

    __reduce_ex__ = tied

    def __init__(self, model: Any, engine: Any, every: int, limit: int, window: int, log: Any,
                 histograms: Histograms | None, successive: Successive | None, scaler: Any) -> None:
        self.model, self.window, self.log = model, window, log
        self.every = every
        self.rows: deque[dict[str, Any]] = deque(maxlen=limit)
        self._rounds = Rounds()
        self._made: WeakKeyDictionary[Any, int] = WeakKeyDictionary()      # optimizer -> its steps; this Watch: those by hand
        self.names = {id(p): name for name, p in model.named_parameters()}
        self._engine = engine
        self._open: dict[int, Any] = {}
        self._hooks: list[Any] = []
        self._units: list[tuple[str, Any, Any]] = []
        self._handles: list[Any] = []
        self.skipped: list[int] = []
        self._loop = Loop(model, engine)
        self._histograms, self._successive, self._scaler = histograms, successive, scaler
        self._alive: dict[str, Units] = {}      # activation -> its units
        self._functional = Functional(self, model, engine)
        self.resume()

    @property
    def count(self) -> int:
        """Steps so far."""
        return self._rounds.number

    # -- switching

    def resume(self) -> None:
        """Continue after pause()."""
        if self._handles:
            return
        home = self._engine.optimizers()
        me = ref(self)

        def before(optimizer: Any, args: Any, kwargs: Any) -> None:
            it = me()
            if it is not None:
                it._before(optimizer)

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            it = me()
            if it is not None:
                it._after(optimizer)

        if self._scaler is not None:
            self._scaler.step = Scaled(self, self._scaler.step)
        self._handles = [home.register_optimizer_step_pre_hook(before), home.register_optimizer_step_post_hook(after)]
        self._arm()

    def pause(self) -> None:
        """Take every hook off; rows stay."""
        for handle in [*self._handles, *self._hooks]:
            handle.remove()
        self._functional.rest()
        self._loop.disarm()
        if self._successive is not None:
            self._successive.disarm()
        if self._scaler is not None and type(vars(self._scaler).get("step")) is Scaled:
            del self._scaler.step
        self._handles, self._hooks = [], []
        self._open.clear()
        self._units.clear()

    close = pause

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *args: object) -> None:
        self.pause()
        if not self.rows and args[0] is None:
            warnings.warn(f"watch: {NOTHING}", UserWarning, stacklevel=2)

    def __del__(self) -> None:
        try:
            self.pause()
        except Exception:                       # the interpreter is on its way out
            return

    # -- looking

    def before(self) -> None:
        """Call before an update made by hand, to remember the weights, so that the update's size is known."""
        self._before(None)

    def step(self) -> None:
        """Call after an update made by hand."""
        if None not in self._open and 0 not in self._open:
            self._before(None, False)
        self._after(None)

    def _parameters(self, optimizer: Any) -> list[Any]:
        if optimizer is None:
            return list(self.model.parameters())
        return [p for g in optimizer.param_groups for p in g["params"] if id(p) in self.names]

    def _steps(self, optimizer: Any) -> int:
        """How many steps an optimizer has made."""
        return self._made.get(self if optimizer is None else optimizer, 0)

    def _due(self, optimizer: Any) -> bool:
        """Is its next step looked at?"""
        return not self._steps(optimizer) % self.every

    def _before(self, optimizer: Any, weights: bool = True) -> None:
        key, more = 0 if optimizer is None else id(optimizer), self._successive
        if overflowed(optimizer):
            return
        if not self._due(optimizer) and (more is None or key not in more.pending):
            return
        ps = self._parameters(optimizer)
        if ps:
            engine = self._engine
            within = getattr(optimizer, "grad_scale", None)         # a fused step takes the scale off itself
            within = 1.0 if within is None else float(within)
            grads = [None if p.grad is None else engine.norm(p.grad) / within for p in ps]
            self._open[key] = (ps, grads, [engine.copy(p) if weights else None for p in ps])
            self._arrays = [] if more is None and self._histograms is None else [
                None if p.grad is None else self._array(p.grad) / within for p in ps]
            if optimizer is not None and self._due(optimizer):
                self._loop.steps(optimizer, ps, engine.fetch(grads))

    def _after(self, optimizer: Any) -> None:
        if overflowed(optimizer):
            return
        look, key = self._due(optimizer), 0 if optimizer is None else id(optimizer)
        found = self._open.pop(key, None)
        if found is None:
            if optimizer is None or (not look and self._parameters_any(optimizer)):
                self._rounds.step(key)
                self._next(optimizer)
            return
        step = self._rounds.step(key)
        ps, grads, old = found
        updates = [None if w is None else self._array(p) - self._array(w) for p, w in zip(ps, old)] if self._arrays else []
        if look:
            self._look(optimizer, step, ps, grads, old, updates)
        else:
            self._follow(key, step, ps, updates, {}, False)
        self._next(optimizer)

    def _look(self, optimizer: Any, step: int, ps: list[Any], grads: list[Any], old: list[Any], updates: list[Any]) -> None:
        """The rows of a step."""
        engine = self._engine
        norms = engine.fetch([
            *grads, *(None if w is None else engine.norm(w) for w in old),
            *(None if w is None else engine.distance(p, w) for p, w in zip(ps, old))])
        n = len(ps)
        rows = []
        for i, p in enumerate(ps):
            weight = norms[n + i] if norms[n + i] is not None else engine.fetch([engine.norm(p)])[0]
            update = norms[2 * n + i]
            rows.append(row_of(step, self.names.get(id(p), "?"), grad_norm=norms[i], weight_norm=weight, update_norm=update,
                               ratio=None if update is None or not weight else update / weight))
        if self._arrays:
            if self._histograms is not None:
                for p, g, u in zip(ps, self._arrays, updates):
                    for kind, x in zip(KINDS, (self._array(p), g, u)):
                        if x is not None:
                            self._histograms.add(kind, self.names.get(id(p), "?"), step, x)
            self._follow(0 if optimizer is None else id(optimizer), step, ps, updates, dict(zip(map(id, ps), rows)), True)
        shares = engine.fetch([x for _, dead, full in self._units for x in (dead, full)])
        rows += [row_of(step, name, dead=shares[2 * i], saturated=shares[2 * i + 1])
                 for i, (name, _, _) in enumerate(self._units)]
        for name, dead, _ in self._units:
            if dead is not None and name in self._alive:
                self._alive[name].looks += 1
        self._units.clear()
        self._loop.stepped(optimizer, ((self.names.get(id(p), "?"), norms[2 * n + i] != 0.0) for i, p in enumerate(ps)
                                       if norms[2 * n + i] is not None))
        self.rows.extend(rows)
        if self.log is not None:
            noise = self.noise_scale()
            self.log({f"{c}/{row['name']}": row[c] for row in rows for c in COLUMNS[2:] if row[c] is not None}
                     | ({} if noise is None else noise), step)

    def _array(self, t: Any) -> Any:
        """Its numbers, in one dimension: a copy."""
        x = t if isinstance(t, np.ndarray) else self._engine.here(t)
        flat = (self._engine.here(t.detach().cpu()) if x is None else x).ravel()
        flat = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
        return np.array(flat, np.promote_types(flat.dtype, np.float32))

    def _follow(self, key: int, step: int, ps: list[Any], updates: list[Any], rows: dict[int, Any], look: bool) -> None:
        if self._successive is not None:
            scale = 1.0 if self._scaler is None else float(self._scaler.get_scale())
            self._successive.step(key, step, ps, self._arrays, updates, rows, look, scale)

    def _skipped(self, optimizer: Any) -> None:
        """The scaler made no step."""
        self.skipped.append(self._rounds.skip())
        self._open.pop(id(optimizer), None)
        self._units.clear()
        self._heard(optimizer)

    def _heard(self, optimizer: Any) -> None:
        """What came for a step is over with it."""
        ps = self._parameters(optimizer)
        self._loop.forget(ps)
        if self._successive is not None:
            self._successive.forget(ps)

    def _parameters_any(self, optimizer: Any) -> bool:
        return any(id(p) in self.names for g in optimizer.param_groups for p in g["params"])

    def _next(self, optimizer: Any) -> None:
        self._heard(optimizer)
        self._made[self if optimizer is None else optimizer] = self._steps(optimizer) + 1
        self._arm()

    def _waits(self) -> bool:
        """Is a step that may come next looked at?  The first of an optimizer not seen so far, too."""
        if any(not n % self.every for n in self._made.values()) or not self._made:
            return True
        return self.count < 2 and self not in self._made and self._loop.has_loose()

    def _arm(self) -> None:
        """Hooks on activations for the step that will be looked at, and only for it."""
        for handle in self._hooks:
            handle.remove()
        self._hooks = []
        self._loop.disarm()
        more = self._successive
        if more is not None:
            more.disarm()
            if self._handles and (self._waits() or more.pending):
                more.arm()
        if self._handles and self._waits():
            self._loop.arm()
            self._hooks += self._functional.arm(self.model)
            for name, module in self.model.named_modules():
                kind = type(module).__name__
                if kind in RECTIFIERS or kind in BOUNDED:
                    self._hooks.append(module.register_forward_hook(_Look(self, name, kind)))

    def _saw(self, name: str, kind: str, out: Any) -> None:
        if not self._engine.is_tensor(out):
            return
        self._units = [u for u in self._units if u[0] != name]
        dead = self._engine.dead(out) if kind in RECTIFIERS else None
        full = self._engine.saturated(out, *BOUNDED[kind]) if kind in BOUNDED else None
        self._units.append((name, dead, full))
        if dead is not None and out.ndim > 1:
            known = self._alive.setdefault(name, Units())
            known.saw(self._engine.alive(out), known.looks)

    # -- results

    def to_dict(self) -> dict[str, list[Any]]:
        """{column: values}, as pandas.DataFrame takes it."""
        return {c: [row[c] for row in self.rows] for c in COLUMNS}

    @checked
    def to_csv(self, path: FilePath) -> None:
        """Write the rows as CSV; unknown values are empty.

        path  of the file
        """
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)

    def to_tensorboard(self, writer: Any) -> None:
        """Call writer.add_scalar("grad_norm/0.weight", value, step) for every number; writer: TensorBoard's SummaryWriter."""
        if not hasattr(writer, "add_scalar"):
            raise TypeError(f"to_tensorboard: writer must be a SummaryWriter, got {type(writer).__name__}")
        for row in self.rows:
            for column in COLUMNS[2:]:
                if row[column] is not None:
                    writer.add_scalar(f"{column}/{row['name']}", row[column], row["step"])
        for (kind, name), found in ({} if self._histograms is None else self._histograms.found).items():
            for step, counts, (low, high, count, total, squares) in found:
                writer.add_histogram_raw(f"{kind}/{name}", low, high, count, total, squares, LIMITS, counts.tolist(), step)

    @checked
    def to_html(self, path: FilePath, title: str = "training - retrograd") -> None:
        """Write one page without scripts: problems, curves over the steps, histograms.  The file is replaced when
        complete.

        path   of the file
        title  of the page
        """
        from ...io.beside import write_beside
        from .watch_page import page_of
        text = page_of(self, COLUMNS[2:], title).encode()
        write_beside(os.fsdecode(path), lambda file: file.write(text))

    def last(self) -> list[dict[str, Any]]:
        """The newest row of every name."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            found[row["name"]] = row
        return list(found.values())

    def histogram(self, name: str, kind: str = "grad") -> tuple[list[int], list[float], Any]:
        """(steps, upper limits of the bins, counts (steps, bins)) of a parameter's "weight", "grad" or "update".

        name  of the parameter
        kind  "weight", "grad" or "update"
        Bins are octaves of either sign.  At most 200 steps are kept; of more, every second goes.
        """
        if self._histograms is None:
            raise ValueError("histogram: none were taken; watch(model, histograms=True) takes them")
        found = self._histograms.found.get((kind, name))
        if found is None:
            raise ValueError(f"histogram: no {kind!r} of {name!r}; kinds are {', '.join(KINDS)}, names "
                             + ", ".join(dict.fromkeys(n for _, n in self._histograms.found)))
        return [step for step, _, _ in found], list(LIMITS), np.array([counts for _, counts, _ in found])

    def noise_scale(self) -> dict[str, float] | None:
        """{"noise_scale": tr(S) / |G|^2, "trace": tr(S), "squared_norm": |G|^2}, each averaged over the looks.

        Roughly the batch size beyond which more samples stop helping (McCandlish et al. 2018, arXiv:1812.06162).  None until two
        successive steps, or a step that accumulates several batches, were looked at with successive=True.
        """
        return None if self._successive is None else self._successive.noise_scale()

    def dead_units(self) -> dict[str, list[int]]:
        """{path of an activation: its units that were never above 0 in the last `window` looks}, if there are any."""
        return {name: found for name, units in self._alive.items() if (found := units.dead(units.looks - 1, self.window))}

    def problems(self) -> Problems:
        """Problems in the newest rows and in the loop around them: a list of sentences, printed one per line."""
        return Problems(dict.fromkeys(self._warnings()))

    def _warnings(self) -> Iterator[str]:
        yield from self._loop.problems(self.names)
        for name, units in self.dead_units().items():
            yield (f"{name}: {len(units)} of its {self._alive[name].alive.size} units were never above 0 in the last "
                   f"{self.window} looks: {few([str(u) for u in units])}")
        for row in self.last():
            name = row["name"]
            g, ratio = row["grad_norm"], row["ratio"]
            if g is not None and not np.isfinite(g):
                yield f"{name}: its gradient is not finite"
            elif g == 0.0:
                yield f"{name}: its gradient is zero"
            if ratio is not None and ratio > 0.1:
                yield f"{name}: a step changes it by {ratio:.0%} of its size"
            if row["dead"] is not None and row["dead"] > 0.5:
                yield f"{name}: {row['dead']:.0%} of its units are dead"
            if row["saturated"] is not None and row["saturated"] > 0.5:
                yield f"{name}: {row['saturated']:.0%} of its values are saturated"

    def table(self) -> Any:
        """The newest row of every name, a rich table.  ImportError without rich; str() needs none."""
        from rich.table import Table
        table = Table(title=f"step {self.count}")
        for column in COLUMNS[1:]:
            table.add_column(column.replace("_", " "), justify="left" if column == "name" else "right")
        for row in self.last():
            table.add_row(*(shown(row[c]) for c in COLUMNS[1:]))
        return table

    def _repr_html_(self) -> str:
        head = tuple(c.replace("_", " ") for c in COLUMNS[1:])
        return table(head, [tuple(shown(row[c]) for c in COLUMNS[1:]) for row in self.last()]) + "".join(
            f"<p>{html.escape(line)}</p>" for line in [*self.problems(), *([] if self.rows else [NOTHING])])

    @escaped
    def __str__(self) -> str:
        rows = [[shown(row[c]) for c in COLUMNS[1:]] for row in self.last()]
        widths = [max(len(r[i]) for r in [list(COLUMNS[1:]), *rows]) for i in range(len(COLUMNS) - 1)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in [list(COLUMNS[1:]), *rows]]
        return "\n".join([*lines, *self.problems(), *([] if self.rows else [NOTHING])])

    def plot(self, axes: Any = None, column: str = "grad_norm") -> Any:
        """A curve for each name over the steps, on a logarithmic axis; -> matplotlib axes.  ImportError without matplotlib.

        column   "grad_norm", "weight_norm", "update_norm", "ratio", "dead" or "saturated"
        """
        if column not in COLUMNS[2:]:
            raise ValueError(f"plot: no column {column!r}; there are {', '.join(COLUMNS[2:])}")
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError("plot needs the package matplotlib: pip install retrograd[plot]") from None
            axes = pyplot.figure().add_subplot()
        lines: dict[str, tuple[list[int], list[float]]] = {}
        for row in self.rows:
            if row[column] is not None:
                steps, values = lines.setdefault(row["name"], ([], []))
                steps.append(row["step"])
                values.append(row[column])
        for name, (steps, values) in lines.items():
            axes.plot(steps, values, label=name, marker="." if len(steps) < 20 else None)
        axes.set_xlabel("step")
        axes.set_ylabel(column.replace("_", " "))
        if column not in ("dead", "saturated") and any(v > 0 for _, vs in lines.values() for v in vs):
            axes.set_yscale("log")
        if lines:
            axes.legend(fontsize="x-small")
        return axes


class Problems(list[str]):
    """Sentences."""

    def __str__(self) -> str:
        return "\n".join(self) or "no problems"

    __repr__ = __str__


def row_of(step: int, name: str, **known: Any) -> dict[str, Any]:
    """A row; what is not known is None."""
    return {**dict.fromkeys(COLUMNS), "step": step, "name": name, **known}


def shown(x: Any) -> str:
    return "" if x is None else x if isinstance(x, str) else f"{x:.3g}"


def overflowed(optimizer: Any) -> bool:
    """Does a fused step, which skips itself, find that scaled gradients overflowed?"""
    found = getattr(optimizer, "found_inf", None)
    return found is not None and bool(found)


class Scaled:
    """Stands for a GradScaler's step, and tells of steps that it skips."""

    def __init__(self, watch: Watch, step: Any) -> None:
        self.watch, self.step = ref(watch), step

    def __call__(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        it = self.watch()
        before = -1 if it is None else it._steps(optimizer)
        out = self.step(optimizer, *args, **kwargs)
        if it is not None and it._steps(optimizer) == before and it._parameters_any(optimizer):
            it._skipped(optimizer)
        return out


class _Look:
    """The hook on an activation."""

    def __init__(self, watch: Watch, name: str, kind: str) -> None:
        self.watch = ref(watch)
        self.name, self.kind = name, kind

    def __call__(self, module: Any, args: Any, out: Any) -> None:
        it = self.watch()
        if it is not None:
            it._saw(self.name, self.kind, out)
