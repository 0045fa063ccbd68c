"""Quantities of a capture: norms, dot products, clipped sums, per-sample gradients, in the cheapest form per layer.

Samples are those of all runs in the capture, one run after the other.  N samples, T tokens.
"""
from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine.warn import warn
from ..arguments import checked
from ..errors import CaptureError, UncoveredError
from ..plain_text import few
from .loss import loss_of
from .products import times
from .runs import Run, Use
from .sample_weights import own_terms
from .terms import Outer, Term, norms2_together, sum_of

if TYPE_CHECKING:
    from .across import Across
    from .kfac import KFAC


class ByName(dict[str, Any]):
    """What parameters have, by their names; KeyError with the names for another one."""

    def __missing__(self, name: Any) -> Any:
        raise KeyError(f"no parameter {name!r}; there are {', '.join(self) or 'none'}")


class Grads:
    """Lazy: nothing is computed until a method is called.  Made by Capture.grads()."""

    def __init__(self, cap: Any, layers: Any = None, *, partial: bool = False, scale: Any = None,
                 parts: list[dict[str, Term]] | None = None, factors: list[float] | None = None,
                 sizes: list[int] | None = None, runs: list[tuple[Run, list[Use]]] | None = None) -> None:
        self.cap = cap
        self.torch = cap.engine.torch
        self.partial = partial
        self.scale = scale
        if parts is not None:                   # made by select() or segments()
            assert factors is not None and sizes is not None and runs is not None
            self._parts, self._factors, self._sizes, self._runs = parts, factors, sizes, runs
            self.names = list(dict.fromkeys(name for part in parts for name in part))
            self._apart = True
            return
        from .coverage import cover, uncalled
        made = cap.terms()
        if not made:
            if not any(p.tensor.requires_grad for p in cap.params):
                raise CaptureError("grads: no gradient has arrived: every parameter is frozen (requires_grad is False)")
            why = uncalled(cap, bool(cap._ear.unrecorded)) or ("" if cap.runs else "the model was never called")
            raise CaptureError("grads: no gradient has arrived. Call the model and backward() inside the capture block" + (
                f" ({why})" if why else ""))
        patterns = None if layers is None else Patterns(layers)
        report = cover(cap)
        chosen = [p for p, row in zip(cap.params, report) if row.status not in ("frozen", "left out", "no gradient")
                  and (patterns is None or patterns.match(p))]
        if not chosen:
            raise CaptureError(f"grads: no parameter with a gradient among layers={layers!r}")
        if patterns is not None and (name := patterns.unmet(cap.params)):
            raise CaptureError(f"grads: layers= has {name!r}, but no parameter or module has that name")
        bad = [report[p.name] for p in chosen if report[p.name].status in ("not covered", "whole batch")]
        if partial and all(row.status in ("not covered", "whole batch") for row in (report[p.name] for p in chosen)):
            raise UncoveredError(reasons("grads(partial=True): none of these parameters is covered per sample", bad, cap))
        self._report = report
        self._bad = {row.name for row in bad}
        lost = [row.name for row in bad if row.status == "not covered"]
        if lost and not partial:
            raise UncoveredError(reasons("the gradients of these parameters were not captured", bad, cap))
        self._lost = set(lost)
        self.names = [p.name for p in chosen if p.name not in self._lost and not (partial and p.name in self._bad)]
        numbers = {p.name: p.number for p in chosen}
        self._parts = [{name: terms[numbers[name]] for name in self.names if numbers[name] in terms}
                       for _, terms, _ in made]
        self._sizes = [run_size(run) for run, _, _ in made]
        self._runs = [(run, run.uses) for run, _, _ in made]        # whose uses are others in the capture's next step
        self._factors = [factor_of(run, scale) for run, _, _ in made]
        for k, factor in enumerate(self._factors):
            if not isinstance(factor, float):   # one of each sample's
                with self.torch.no_grad():
                    self._parts[k] = {name: term.times(factor) for name, term in self._parts[k].items()}
                self._factors[k] = 1.0
        self._apart = cap.calls == "apart" or len(made) < 2 or not any(
            run.before is not None and run.before in [r for r, _, _ in made] for run, _, _ in made)

    def __repr__(self) -> str:
        return f"Grads of {len(self.names)} parameters, {len(self)} samples"

    def __len__(self) -> int:
        """N."""
        return sum(self._sizes)

    # What may be asked

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the weights that got a gradient."""
        return {name: tuple(term.shape) for part in self._parts for name, term in part.items()}

    def _samples(self, what: str, names: list[str] | None = None) -> None:
        """Raise unless samples can be told apart, in the gradients of these parameters (all)."""
        if not self._apart:
            raise CaptureError(
                f"{what}: the model was called several times before backward. Use capture(calls='apart') if the calls have "
                "different samples, or calls='same' if sample n is the same in every call")
        names = self.names if names is None else names
        bad = [row for row in getattr(self, "_report", ()) if row.name in names and row.status == "whole batch"]
        if bad:
            raise UncoveredError(reasons(f"{what}: the gradients of these parameters cannot be split by sample", bad, self.cap))

    def _each(self, name: str) -> list[tuple[Term | None, float, int]]:
        return [(part.get(name), f, n) for part, f, n in zip(self._parts, self._factors, self._sizes)]

    def shrunk(self) -> str:
        """What the loss's reduction did to every sample's gradient; "" if a scale was chosen or it is unknown."""
        if self.scale is None:
            for run, _ in self._runs:
                try:
                    undone = self.torch.as_tensor(factor_of(run, "sample"))
                except CaptureError:
                    continue
                if bool((undone != 1).any()):
                    by = f"1/{float(undone):g}" if undone.numel() == 1 else "a factor of its own"
                    return (f"the loss's reduction multiplied every sample's gradient by {by}. Call grads(scale='sample') for "
                            "the gradients of the samples' own losses, or grads(scale=1.0) to keep these")
        return ""

    def across(self, group: Any = None) -> Across:
        """The samples of all ranks of a group, these being one rank's: an Across.  All ranks must call it."""
        from .across import Across
        return Across(self, group)

    # Sums

    @checked
    def weight_grad(self, reduction: str = "sum") -> dict[str, Any]:
        """{name: (*shape)}: the gradient of each weight, summed over samples, or their mean.

        reduction  "sum" or "mean" over the samples
        """
        if reduction not in ("sum", "mean"):
            raise ValueError(f"weight_grad: reduction must be 'sum' or 'mean', got {reduction!r}")
        with self.torch.no_grad():
            share = 1 / len(self) if reduction == "mean" else 1.0
            return ByName({name: sum_of([scaled(t.total(), f * share) for t, f, _ in self._each(name) if t is not None])
                           for name in self.names})

    @checked
    def clip(self, max_norm: float) -> dict[str, Any]:
        """{name: (*shape)}: every sample's gradient scaled to at most max_norm over all weights, then summed.

        One backward pass: norms first, then sums of weighted factors ("book-keeping", Bu et al. 2022).  A UserWarning if the
        loss was a mean and grads() was given no scale: then the norms are those of 1/N of each sample's loss.
        """
        if not max_norm > 0:
            raise ValueError(f"clip: max_norm must be positive, got {max_norm!r}")
        self._samples("clip")
        if shrunk := self.shrunk():
            warn(f"clip: {shrunk}")
        with self.torch.no_grad():
            norms = self.norms()
            weights = (max_norm / norms.clamp(min=1e-30)).clamp(max=1.0)
            return self.weighted(weights)

    @checked
    def weighted(self, weights: Any) -> dict[str, Any]:
        """{name: (*shape)}: the sum of every sample's gradient times weights (N,)."""
        self._samples("weighted")
        shape = tuple(weights.shape) if hasattr(weights, "shape") else type(weights).__name__
        if shape != (len(self),):
            raise ValueError(f"weighted: expected weights of shape ({len(self)},), got {shape}")
        with self.torch.no_grad():
            pieces = weights.split(self._sizes)
            return ByName({name: sum_of([scaled(t.total(w), f) for (t, f, _), w in zip(self._each(name), pieces)
                                         if t is not None]) for name in self.names})

    # Every sample

    def per_sample(self) -> dict[str, Any]:
        """{name: (N, *shape)}.  Takes the memory of N models; norms(), dots() and clip() do not."""
        self._samples("per_sample")
        with self.torch.no_grad():
            return ByName({name: self._stacked(name, lambda t: t.per_sample()) for name in self.names})

    def per_token(self) -> dict[str, Any]:
        """{name: (N, T, *shape)} for weights whose layers see tokens; T counts all calls of the layer.  Others are left out;
        CaptureError when no weight is left."""
        self._samples("per_token")
        with self.torch.no_grad():
            names = [name for name in self.names if not self._lacks_tokens(name)]
            if not names:
                raise CaptureError(f"per_token: the samples of {few(self.names)} have no tokens")
            return ByName({name: self._stacked(name, lambda t: t.per_token()) for name in names})

    def _lacks_tokens(self, name: str) -> bool:
        """Are there samples of a weight that have none?"""
        return any(t is not None and t.token_count() is None for t, _, _ in self._each(name))

    def _stacked(self, name: str, ask: Any) -> Any:
        T = self.torch
        pieces = []
        some = next(t for t, _, _ in self._each(name) if t is not None)
        like = ask(some)
        for t, f, n in self._each(name):
            if t is None:
                pieces.append(T.zeros(n, *like.shape[1:], dtype=like.dtype, device=like.device))
            else:
                value = like if t is some else ask(t)
                pieces.append(value if f == 1 else times(T, value, f))
        return pieces[0] if len(pieces) == 1 else T.cat(pieces)

    @checked
    def norms(self, per_layer: bool = False) -> Any:
        """(N,) norms of every sample's gradient over all weights; {name: (N,)} per_layer."""
        self._samples("norms")
        T = self.torch
        with T.no_grad():
            if per_layer:
                return {name: T.cat([self._norms2(name, k).sqrt() for k in range(len(self._parts))])
                        for name in self.names}
            pieces = []
            for k in range(len(self._parts)):
                here = [t for name in self.names if (t := self._parts[k].get(name)) is not None]
                pieces.append(scaled(norms2_together(T, here).sqrt(), abs(self._factors[k])) if here
                              else self._norms2(self.names[0], k))
            return pieces[0] if len(pieces) == 1 else T.cat(pieces)

    def _norms2(self, name: str, k: int) -> Any:
        term, f = self._parts[k].get(name), self._factors[k]
        if term is None:
            like = next(t for t, _, _ in self._each(name) if t is not None).norms2()
            return self.torch.zeros(self._sizes[k], dtype=like.dtype, device=like.device)
        return scaled(term.norms2(), f * f)

    @checked
    def dots(self, other: Grads | None = None, per_layer: bool = False) -> Any:
        """(N, M) dot products of every sample's gradient with every one of `other` (itself by default):
        of complex ones Re <g, g'>.

        other      another Grads of the same parameters
        per_layer  give {name of a parameter: (N, M)} instead of their sum
        CaptureError unless both cover the same parameters and can be split by sample.
        """
        other = self if other is None else other
        self._samples("dots")
        other._samples("dots")
        of_same_parameters("dots", self, other)
        with self.torch.no_grad():
            found = {name: self._dots(name, other) for name in self.names}
            return found if per_layer else sum_of(list(found.values()))

    def _dots(self, name: str, other: Grads) -> Any:
        T = self.torch
        rows = []
        for t, f, n in self._each(name):
            row = []
            for u, g, m in other._each(name):
                if t is None or u is None:
                    like = next(x for x, _, _ in self._each(name) if x is not None).norms2()
                    row.append(T.zeros(n, m, dtype=like.dtype, device=like.device))
                else:
                    row.append(scaled(t.dots(u), f * g))
            rows.append(row[0] if len(row) == 1 else T.cat(row, 1))
        return rows[0] if len(rows) == 1 else T.cat(rows)

    # Factors

    @checked
    def factors(self, name: str) -> tuple[Any, Any]:
        """(a (N, T, I), delta (N, T, O)) of a weight kept as delta (x) a; CaptureError for one that is not.
        Of complex weights a is the input's conjugate, so that delta (x) a is the gradient.

        name  of the weight
        """
        self._samples("factors")
        found = [(t, f) for t, f, _ in self._each(name)]
        if any(not isinstance(t, Outer) for t, _ in found):
            raise CaptureError(f"factors: {name} is not kept as delta (x) a; see coverage()")
        a = [t.factors[0] for t, _ in found if isinstance(t, Outer)]
        d = [scaled(t.factors[1], f) for t, f in found if isinstance(t, Outer)]
        if len(a) == 1:
            return a[0], d[0]
        return self.torch.cat(a), self.torch.cat(d)

    @checked
    def kronecker(self, sample: int) -> dict[str, Kronecker]:
        """{name: the sample's gradient as a lazy sum of delta (x) a}, for weights kept so."""
        self._samples("kronecker")
        found = {}
        for name in self.names:
            if all(isinstance(t, Outer) for t, _, _ in self._each(name)):
                a, d = self.factors(name)
                if not -len(a) <= sample < len(a):
                    raise IndexError(f"kronecker: sample {sample} of {len(a)}")
                found[name] = Kronecker(a[sample], d[sample])
        if not found:
            raise CaptureError("kronecker: none of these weights is kept as delta (x) a; see coverage()")
        return found

    @checked
    def project(self, dim: int, seed: int = 0) -> dict[str, Any]:
        """{name: (N, dim)}: random projections, whose dot products are those of the gradients in expectation; of complex
        ones Re <p, p'>.

        Where a gradient is delta (x) a each factor is projected, to the two divisors of dim that are closest (LoGra,
        Choe et al. 2024); else the dense gradient is.  The same seed gives the same projection.
        """
        if dim < 1:
            raise ValueError(f"project: dim must be positive, got {dim}")
        self._samples("project")
        T = self.torch
        found = {}
        left = next(k for k in range(int(dim ** 0.5), 0, -1) if dim % k == 0)
        with T.no_grad():
            for number, name in enumerate(self.names):
                generator = T.Generator().manual_seed(seed * 1_000_003 + number)

                def normal(n: int, k: int, like: Any, generator: Any = generator) -> Any:
                    drawn = T.randn(n, k, generator=generator) / k ** 0.5
                    return drawn.to(like.dtype).to(like.device)
                if all(isinstance(t, Outer) for t, _, _ in self._each(name)):
                    a, d = self.factors(name)
                    P, Q = normal(a.shape[-1], dim // left, a), normal(d.shape[-1], left, d)
                    found[name] = ((d @ Q).transpose(1, 2) @ (a @ P)).reshape(len(a), dim)
                else:
                    g = self._stacked(name, lambda t: t.per_sample())
                    g = g.reshape(len(g), -1)
                    found[name] = g @ normal(g.shape[1], dim, g)
        return found

    def kfac(self, **options: Any) -> KFAC:
        """Kronecker-factored curvature of this capture: a kfac.KFAC, updated once.

        options  ema and damping, as in KFAC
        """
        from .kfac import KFAC
        return KFAC(**options).update(self)

    # Parts

    def select(self, layers: Any = None, samples: Any = None, tokens: Any = None) -> Grads:
        """The same for some layers (patterns), samples (index, list, slice or tensor) or tokens."""
        patterns = None if layers is None else Patterns(layers)
        by_name = {p.name: p for p in self.cap.params}
        names = [n for n in self.names if patterns is None or patterns.match(by_name[n])]
        if not names:
            raise CaptureError(f"select: no parameter among layers={layers!r}")
        if patterns is not None and (name := patterns.unmet(self.cap.params)):
            raise CaptureError(f"select: layers= has {name!r}, but no parameter or module has that name")
        if samples is None and tokens is None and not self._apart:
            raise CaptureError(
                "select: the model was called several times. Say with capture(calls=...) whether the calls share samples")
        self._samples("select", names)
        if samples is not None and len(self._parts) > 1:
            raise CaptureError("select(samples=...): the capture holds several runs; select in one run at a time")
        if without := [name for name in names if tokens is not None and self._lacks_tokens(name)]:
            raise CaptureError(f"select(tokens=...): the samples of {few(without)} have no tokens; choose others with layers=")
        at, where = index(self.torch, samples), index(self.torch, tokens)
        parts = []
        sizes = []
        for part, n in zip(self._parts, self._sizes):
            try:
                sizes.append(n if at is None else len(self.torch.arange(n)[at]))
            except IndexError as error:
                raise IndexError(f"select: samples= does not fit a batch of {n}: {error}") from None
            parts.append({name: part[name] if at is None and where is None else part[name].take(at, where)
                          for name in names if name in part})
        return Grads(self.cap, parts=parts, factors=self._factors, sizes=sizes, runs=self._runs, scale=self.scale)

    @checked
    def segments(self, cu_seqlens: Iterable[Any]) -> Grads:
        """Samples of packed sequences: sequence s is tokens cu_seqlens[s] to cu_seqlens[s + 1] of all N * T."""
        T = self.torch
        ends = [int(n) for n in cu_seqlens]
        if len(self._parts) > 1:
            raise CaptureError("segments: the capture holds several runs; take one at a time")
        self._samples("segments")
        if len(ends) < 2 or ends[0] != 0 or any(b <= a for a, b in zip(ends, ends[1:])):
            raise ValueError(f"segments: cu_seqlens must rise from 0, got {ends[:8]}")
        counts = {name: term.N * (term.token_count() or 1) for name, term in self._parts[0].items()}
        wrong = {name: n for name, n in counts.items() if n != ends[-1]}
        if wrong:
            name, n = next(iter(wrong.items()))
            raise CaptureError(f"segments: cu_seqlens ends at {ends[-1]}, but {name} saw {n} tokens")
        lengths = [b - a for a, b in zip(ends, ends[1:])]
        some = next(iter(self._parts[0].values())).total()
        sequence = T.tensor([s for s, n in enumerate(lengths) for _ in range(n)], device=some.device)
        place = T.tensor([i for n in lengths for i in range(n)], device=some.device)
        with T.no_grad():
            parts = [{name: term.split((sequence, place), len(lengths), max(lengths))
                      for name, term in self._parts[0].items()}]
        return Grads(self.cap, parts=parts, factors=self._factors, sizes=[len(lengths)], runs=self._runs,
                     scale=self.scale)


class Kronecker:
    """One sample's gradient, the sum over tokens of delta (x) a, kept as factors.

    a (T, I), delta (T, O).  As a matrix it is (O, I); as a vector its columns one after the other, a (x) delta.
    """

    def __init__(self, a: Any, delta: Any) -> None:
        self.a = a
        self.delta = delta

    @property
    def shape(self) -> tuple[int, int]:
        """(O, I)"""
        return self.delta.shape[-1], self.a.shape[-1]

    def __matmul__(self, v: Any) -> Any:
        """The matrix times v (I,) or (I, k)."""
        return self.delta.T @ (self.a @ v)

    def dot(self, v: Any) -> Any:
        """Inner product with a matrix (O, I), or a vector of its columns (O * I,); of complex ones Re <g, v>, as dots().

        v  the matrix or vector
        """
        if not hasattr(v, "ndim"):
            raise TypeError(f"dot: expected a tensor (O, I) or (O * I,), got {type(v).__name__}")
        if v.ndim == 1:
            O, I = self.shape
            v = v.reshape(I, O).T
        return ((self.delta @ v.conj()) * self.a).sum().real

    def norm(self) -> Any:
        """Frobenius norm."""
        return ((self.a @ self.a.mH) * (self.delta @ self.delta.mH)).sum().real.clamp(min=0).sqrt()

    def materialize(self) -> Any:
        """(O, I)"""
        return self.delta.T @ self.a

    def vec(self) -> Any:
        """(O * I,): the columns of the matrix one after the other."""
        return self.materialize().T.reshape(-1)


def scaled(t: Any, factor: float) -> Any:
    return t if factor == 1 else t * factor


def of_same_parameters(function: str, one: Grads, other: Grads) -> None:
    """CaptureError unless both are of the same parameters, by name and shape, of one engine."""
    if one.torch is not other.torch:
        raise CaptureError(f"{function}: one capture is of a model of {one.torch.__name__}, the other of one of "
                           f"{other.torch.__name__}; capture both on the same")
    a, b = one._shapes(), other._shapes()
    odd = sorted(set(one.names) ^ set(other.names)) + [
        f"{name} {a[name]} and {b[name]}" for name in one.names if name in a and name in b and a[name] != b[name]]
    if odd:
        raise CaptureError(f"{function}: the two captures do not cover the same parameters: {few(odd)}")


class Patterns:
    """Patterns of names of parameters or of their modules; a name without * or ? is looked up."""

    def __init__(self, patterns: Any) -> None:
        given = [patterns] if isinstance(patterns, str) or not hasattr(patterns, "__iter__") else list(patterns)
        if not all(isinstance(k, str) for k in given):
            raise TypeError("layers: expected patterns of names of parameters or modules, got "
                            f"{', '.join(sorted({type(k).__name__ for k in given if not isinstance(k, str)}))}")
        self.wild = [k for k in given if any(c in k for c in "*?[")]
        self.plain = set(given)

    def unmet(self, params: list[Any]) -> str:
        """The first of the names without * or ? that none of the parameters has; "" where there is none."""
        known = {name for p in params for name in p.names()}
        return next((name for name in self.plain - set(self.wild) if name not in known), "")

    def match(self, p: Any) -> bool:
        """Is p, a parameter, meant?"""
        names = p.names()
        return not self.plain.isdisjoint(names) or any(fnmatch.fnmatchcase(name, k) for k in self.wild for name in names)


def index(T: Any, which: Any) -> Any:
    """An index that keeps its dimension."""
    if which is None or isinstance(which, slice):
        return which
    if isinstance(which, int):
        which = [which]
    if isinstance(which, (list, tuple, range, np.ndarray)):
        return T.tensor(which)
    if not T.is_tensor(which):
        raise TypeError(f"select: expected an index, a list of these, a slice or a tensor, got {type(which).__name__}")
    return which


def run_size(run: Run) -> int:
    return run.size if run.size is not None else 1


def factor_of(run: Run, scale: Any) -> Any:
    """What to multiply a run's gradients with: a number, or a tensor (N,) with one of each sample's."""
    if scale is None:
        return 1.0
    if isinstance(scale, (int, float)) and not isinstance(scale, bool):
        if scale == 0 or not math.isfinite(scale):
            raise ValueError(f"grads: scale must be finite and not 0, got {scale!r}")
        return float(scale)
    if scale not in ("sum", "sample"):
        raise ValueError(f"grads: scale must be None, 'sum', 'sample' or a number, got {scale!r}")
    loss = loss_of(run)
    if loss is None:
        raise CaptureError("grads(scale=...): the capture saw no loss. Call loss.backward() inside the block, or give a number")
    uneven = scale == "sample" and loss.kind != "unknown" and not loss.equal and run_size(run) > 1
    return loss.undo(scale, run_size(run), own_terms(run, loss) if uneven else None)


def reasons(head: str, rows: Any, cap: Any) -> str:
    """Each reason once, with its parameters, and what helps."""
    named: dict[str, list[str]] = {}
    for row in rows:
        named.setdefault(row.how, []).append(row.name)
    helps = ["partial=True goes on without them", "layers= chooses others"]
    if not any(run.mixed for run in cap.runs):
        helps.append("Capture.fill() computes them sample by sample")
    return "\n  ".join([f"{head}:", *(f"{few(names)}: {how}" for how, names in named.items())]) + "\n" + ", ".join(helps)


