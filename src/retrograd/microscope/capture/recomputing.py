"""Any function: run it again, and push one sample's part of the output's gradient through it at a time."""
from __future__ import annotations

from typing import Any

from .batches import RECURRENT, along, batch_axis, no_batch, packed
from .rules import Refused, Rule, Terms, entry, whole, wide
from .runs import Use
from .sources import Source, flat, replaced
from .terms import Dense, Term

CELLS = ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")


class Again(Rule):
    """Any function: run it again, and push one sample's part of the output's gradient through it at a time."""

    kind = "again"
    complex = True

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        tensors: list[Any] = []
        for x in flat((args, kwargs)):
            if id(x) in tracked:
                use.sources.setdefault(f"argument {len(use.sources)}", tracked[id(x)])
            elif hasattr(x, "detach"):
                tensors.append(x)
        use.keep(*tensors)
        kept = {id(t): k for t, k in zip(tensors, use.a)}
        if use.name in RECURRENT and packed(args):
            use.run.moved = True                # how long samples are differs from step to step
        values = [x.detach() if hasattr(x, "detach") and inexact(x) else None for x in outputs(out)]
        versions = [None if v is None else v._version for v in values]
        clean = replaced((args, kwargs), lambda x: kept.get(id(x), x))
        use.meta = (clean[0], clean[1], values, versions)
        return True

    def axes(self, use: Use) -> list[Any]:
        """Of each output, the axis of the batch."""
        args = use.meta[0]
        N = use.run.size if use.apart else None
        if use.name in RECURRENT:
            if len(args) < 9 or N is None or packed(args):
                return [None] * len(use.shapes)
            first = 0 if args[8] else 1
            axes = [first if i == 0 else 1 for i in range(len(use.shapes))]
        elif use.name in CELLS:
            axes = [0] * len(use.shapes)
        else:
            return [batch_axis(use, shape) for shape in use.shapes]
        return [a if len(s) > a and s[a] == N else None for a, s in zip(axes, use.shapes)]

    def terms(self, T: Any, use: Use) -> Terms:
        args, kwargs, values, versions = use.meta
        axes = [a for a, d in zip(self.axes(use), use.deltas) if d is not None]
        why = None if all(a is not None for a in axes) else no_batch(
            use, next(s for s, a in zip(use.shapes, self.axes(use)) if a is None))
        N = use.run.size if why is None and use.run.size is not None else 1
        cell: list[Any] = []

        def results() -> dict[str, Any]:
            if not cell:
                cell.append(self.products(T, use, axes if why is None else None, N))
            made: dict[str, Any] = cell[0]
            return made

        found: Terms = []
        for role, source in use.sources.items():
            term: Term = Dense(T, N, source.shape, entry(results, role))
            found.append((source, whole(T, term, why)))
        return found

    def products(self, T: Any, use: Use, axes: list[Any] | None, N: int) -> dict[str, Any]:
        """role -> (N, *shape)"""
        args, kwargs, values, versions = use.meta
        use.fresh()
        with T.enable_grad():
            by_id: dict[int, Any] = {}
            fresh: dict[str, Any] = {}
            for role, source in use.sources.items():
                fresh[role] = by_id.setdefault(id(source.tensor), source.tensor.detach().clone().requires_grad_())
            swap = replaced((args, kwargs), lambda x: by_id.get(id(x), x))
            if use.name.endswith("_") or use.name == "setitem":         # edits its first argument
                swap = ((swap[0][0].clone(), *swap[0][1:]), swap[1])
            again = outputs(use.func(*swap[0], **swap[1]))
            for now, then, version in zip(again, values, versions):
                if then is not None and then._version == version and not same(T, now.detach(), then):
                    raise Refused(f"{use.name} gave a different result when it was run again (dropout? an edited parameter?)")
            live = [(y, d) for y, d in zip(again, use.deltas) if d is not None and y.requires_grad]
            inputs = list(fresh.values())
            rows: list[list[Any]] = [[] for _ in inputs]
            for n in range(N):
                gs = []
                for i, (y, d) in enumerate(live):
                    if axes is not None:
                        axis = axes[i]
                        g = T.zeros(d.shape, dtype=d.dtype, device=d.device)
                        along(g, axis, N)[n].copy_(along(d, axis, N)[n])
                        d = g
                    gs.append(d.to(y.dtype))
                got = T.autograd.grad([y for y, _ in live], inputs, gs, retain_graph=True, allow_unused=True)
                for row, x, p in zip(rows, got, inputs):
                    row.append(wide(T.zeros_like(p) if x is None else x).detach())
        return {role: T.stack(row) for role, row in zip(fresh, rows)}


def written(x: Any, at: Any, value: Any) -> Any:
    """x[at] = value, as a function."""
    x[at] = value
    return x


def same(T: Any, a: Any, b: Any) -> bool:
    """Equal but for rounding?"""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(T.allclose(a, b, rtol=1e-3 if a.dtype.itemsize >= 4 else 5e-2, atol=1e-5, equal_nan=True))


def inexact(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


def outputs(out: Any) -> list[Any]:
    """The tensors of a result, in order."""
    return [x for x in flat(out) if hasattr(x, "detach")]


AGAIN = Again()
