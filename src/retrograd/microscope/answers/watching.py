"""watch(model): gradients, weights and updates of every parameter, dead and saturated units, over a training run.

Only every n-th step is looked at, and hooks on activations are in place only then, so that a run is hardly slower.  On a
device the numbers of a step are fetched together, once.
"""
from __future__ import annotations

import csv
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any
from weakref import ref

import numpy as np

from ..listen import engine_of_module
from ..plain_text import escaped

EVERY = 10
ROWS = 200_000
COLUMNS = ("step", "name", "grad_norm", "weight_norm", "update_norm", "ratio", "dead", "saturated")
BOUNDED = {"Tanh": (-1.0, 1.0), "Sigmoid": (0.0, 1.0), "Hardtanh": (-1.0, 1.0), "Hardsigmoid": (0.0, 1.0),
           "Softsign": (-1.0, 1.0)}
RECTIFIERS = {"ReLU", "ReLU6", "Threshold", "Hardshrink", "Softshrink"}
NOTHING = ("nothing was recorded: no optimizer that has the model's parameters made a step; after a manual update "
           "call w.step()")


def watch(model: Any, *, every: int = EVERY, limit: int = ROWS) -> Watch:
    """Follow a model's training: returns a Watch, which is also a context manager.

        with watch(model) as w:
            train(model)
        print(w)

    every   look at every n-th step, starting with the first
    limit   how many rows to keep, the newest
    A step is a step() of an optimizer with parameters of the model; without one, call w.step() after each
    update, and w.before() before it if you want update norms.
    """
    engine = engine_of_module(model)
    if type(every) is not int or every < 1:
        raise ValueError(f"watch: every must be a positive number of steps, not {every!r}")
    if type(limit) is not int or limit < 1:
        raise ValueError(f"watch: limit must be a positive number of rows, not {limit!r}")
    return Watch(model, engine, every, limit)


class Watch:
    """What watch() returns.

    rows   dicts with the keys of COLUMNS: of parameters grad_norm (before the step, after clipping), weight_norm,
           update_norm, ratio = update_norm / weight_norm; of activations dead (share of units that were 0 for the whole
           batch) and saturated (share of values within 2 % of a bound).  None: not known.
    """

    def __init__(self, model: Any, engine: Any, every: int, limit: int) -> None:
        self.model = model
        self.every = every
        self.rows: deque[dict[str, Any]] = deque(maxlen=limit)
        self.count = 0                          # steps so far
        self.names = {id(p): name for name, p in model.named_parameters()}
        self._engine = engine
        self._open: dict[int, Any] = {}
        self._hooks: list[Any] = []
        self._units: list[tuple[str, Any, Any]] = []
        self._handles: list[Any] = []
        self._steps = 0                         # of optimizers between two looks, for several optimizers
        self.resume()

    # -- switching

    def resume(self) -> None:
        """Watch on, after pause()."""
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

        self._handles = [home.register_optimizer_step_pre_hook(before), home.register_optimizer_step_post_hook(after)]
        self._arm()

    def pause(self) -> None:
        """Take every hook off; rows stay."""
        for handle in [*self._handles, *self._hooks]:
            handle.remove()
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
        """Ahead of an update made by hand: remember the weights, so that the update's size is known."""
        self._before(None)

    def step(self) -> None:
        """After an update made by hand."""
        if None not in self._open and 0 not in self._open:
            self._before(None, False)
        self._after(None)

    def _parameters(self, optimizer: Any) -> list[Any]:
        if optimizer is None:
            return list(self.model.parameters())
        return [p for g in optimizer.param_groups for p in g["params"] if id(p) in self.names]

    def _before(self, optimizer: Any, weights: bool = True) -> None:
        if self.count % self.every:
            return
        ps = self._parameters(optimizer)
        if ps:
            engine = self._engine
            grads = [None if p.grad is None else engine.norm(p.grad) for p in ps]
            self._open[0 if optimizer is None else id(optimizer)] = (
                ps, grads, [engine.copy(p) if weights else None for p in ps])

    def _after(self, optimizer: Any) -> None:
        found = self._open.pop(0 if optimizer is None else id(optimizer), None)
        if found is None:
            if optimizer is None or (self.count % self.every and self._parameters_any(optimizer)):
                self._next()
            return
        ps, grads, old = found
        engine = self._engine
        norms = engine.fetch([
            *grads, *(None if w is None else engine.norm(w) for w in old),
            *(None if w is None else engine.distance(p, w) for p, w in zip(ps, old))])
        n = len(ps)
        for i, p in enumerate(ps):
            weight = norms[n + i] if norms[n + i] is not None else engine.fetch([engine.norm(p)])[0]
            update = norms[2 * n + i]
            self.rows.append({"step": self.count, "name": self.names.get(id(p), "?"), "grad_norm": norms[i],
                              "weight_norm": weight, "update_norm": update,
                              "ratio": None if update is None or not weight else update / weight,
                              "dead": None, "saturated": None})
        shares = engine.fetch([x for _, dead, full in self._units for x in (dead, full)])
        for i, (name, _, _) in enumerate(self._units):
            self.rows.append({"step": self.count, "name": name, "grad_norm": None, "weight_norm": None,
                              "update_norm": None, "ratio": None, "dead": shares[2 * i], "saturated": shares[2 * i + 1]})
        self._units.clear()
        self._next()

    def _parameters_any(self, optimizer: Any) -> bool:
        return any(id(p) in self.names for g in optimizer.param_groups for p in g["params"])

    def _next(self) -> None:
        self.count += 1
        self._arm()

    def _arm(self) -> None:
        """Hooks on activations for the step that will be looked at, and only for it."""
        for handle in self._hooks:
            handle.remove()
        self._hooks = []
        if self.count % self.every == 0 and self._handles:
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

    # -- results

    def to_dict(self) -> dict[str, list[Any]]:
        """{column: values}, as pandas.DataFrame takes it."""
        return {c: [row[c] for row in self.rows] for c in COLUMNS}

    def to_csv(self, path: Any) -> None:
        """Write the rows as CSV; unknown values are empty."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)

    def to_tensorboard(self, writer: Any) -> None:
        """writer.add_scalar("grad_norm/0.weight", value, step) for every number, as TensorBoard's SummaryWriter has it."""
        for row in self.rows:
            for column in COLUMNS[2:]:
                if row[column] is not None:
                    writer.add_scalar(f"{column}/{row['name']}", row[column], row["step"])

    def last(self) -> list[dict[str, Any]]:
        """The newest row of every name."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            found[row["name"]] = row
        return list(found.values())

    def problems(self) -> Iterator[str]:
        """What the newest rows warn of."""
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

    @escaped
    def __str__(self) -> str:
        rows = [[shown(row[c]) for c in COLUMNS[1:]] for row in self.last()]
        widths = [max(len(r[i]) for r in [list(COLUMNS[1:]), *rows]) for i in range(len(COLUMNS) - 1)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in [list(COLUMNS[1:]), *rows]]
        return "\n".join([*lines, *self.problems(), *([] if self.rows else [NOTHING])])

    def plot(self, axes: Any = None, column: str = "grad_norm") -> Any:
        """Lines over steps, one a name, with a logarithmic axis; -> matplotlib axes.  ImportError without matplotlib.

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


def shown(x: Any) -> str:
    return "" if x is None else x if isinstance(x, str) else f"{x:.3g}"


class _Look:
    """The hook on an activation."""

    def __init__(self, watch: Watch, name: str, kind: str) -> None:
        self.watch = ref(watch)
        self.name, self.kind = name, kind

    def __call__(self, module: Any, args: Any, out: Any) -> None:
        it = self.watch()
        if it is not None:
            it._saw(self.name, self.kind, out)
