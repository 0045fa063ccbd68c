"""Curvature of a loss in its weights: products with the Hessian and the Gauss-Newton matrix, and what is computed of them.

P is the number of weights.  No matrix is made but by `dense`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..arguments import checked
from ..bar import progress as bars
from ..capture.parameters import parameters_of
from ..errors import CaptureError
from ..listen import engine_of_module
from .randomness import restore, state_of
from .state import math_attention

KINDS = ("hessian", "gauss-newton")


@checked
def curvature(
    model: Any, loss: Callable[..., Any], data: Iterable[Any], *, forward: Callable[..., Any] | None = None,
    layers: Any = None, reduction: str = "mean", progress: bool | None = None,
) -> Curvature:
    """The curvature of loss(model(x), *rest) with respect to the model's weights, averaged over the batches (x, *rest) of
    `data`.

    model      of retrograd.nn or torch.nn
    loss       (output, *rest) -> one number
    data       an iterable of batches, each (x, *rest) or x alone
    forward    (model, *batch) -> first argument of the loss; by default model(x)
    layers     which weights, as in capture()
    reduction  "mean" weights batches by their size, for losses that are means; "sum" adds them up
    progress   bars on stderr; by default if it is a terminal, after two seconds
    The Gauss-Newton matrix is J^T H J, with J of the outputs in the weights and H of the loss in the outputs: for
    cross-entropy and squared errors the Fisher matrix.  Every product draws the same random numbers, and buffers stay.

    CaptureError for data without batches, for weights that are frozen or complex, and for a loss that is not one number.
    """
    return Curvature(Graphs(model, loss, data, forward, layers, reduction), progress)


class Estimate(NamedTuple):
    """A number estimated from random vectors, with its standard error."""

    value: float
    error: float


class LayerCurvature(NamedTuple):
    """A row of Curvature.per_layer()."""

    layer: str
    size: int
    top: float                                  # the eigenvalue of the largest magnitude
    trace: Estimate


class Density(NamedTuple):
    """A spectral density: `weights` (they sum to 1) at the eigenvalues `nodes`."""

    nodes: Any
    weights: Any

    def on(self, grid: Any, width: float | None = None) -> Any:
        """The density at the numbers `grid`, every node a Gaussian of this standard deviation (1 % of the range)."""
        try:
            grid = np.asarray(grid, float)
        except (TypeError, ValueError):
            raise TypeError(f"on: grid must be numbers, got {type(grid).__name__}") from None
        if grid.ndim != 1:
            raise ValueError(f"on: grid must be numbers in one dimension, not of shape {grid.shape}")
        if width is not None and not width > 0:
            raise ValueError(f"on: width must be positive, not {width!r}")
        width = 0.01 * float(np.ptp(self.nodes)) or 1e-12 if width is None else width
        away = (grid[:, None] - self.nodes[None]) / width
        return np.exp(-0.5 * away * away) @ self.weights / (width * np.sqrt(2 * np.pi))


class Curvature:
    """Made by curvature(); vectors are dicts {name of a parameter: tensor} or arrays of P numbers in that order."""

    def __init__(self, graphs: Graphs, progress: bool | None = None, chosen: list[int] | None = None) -> None:
        self._graphs = graphs
        self._progress = progress
        self._chosen = list(range(len(graphs.params))) if chosen is None else chosen
        params = [graphs.params[i] for i in self._chosen]
        self.names = [p.name for p in params]
        self.shapes = [tuple(p.tensor.shape) for p in params]
        self._ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        self.size = int(self._ends[-1])

    def hessian_vector(self, v: Any) -> Any:
        """H v, in the form of v."""
        return self._times(v, "hessian")

    def gauss_newton_vector(self, v: Any) -> Any:
        """J^T H J v, in the form of v."""
        return self._times(v, "gauss-newton")

    @checked
    def operator(self, kind: str = "hessian") -> Any:
        """The matrix as a scipy.sparse.linalg.LinearOperator of float64, (P, P).

        kind   "hessian" or "gauss-newton"
        """
        check_kind(kind)
        return scipys().LinearOperator((self.size, self.size), matvec=lambda v: self._times(v.reshape(-1), kind), dtype=float)

    @checked
    def eigenvalues(self, count: int = 1, kind: str = "hessian", vectors: bool = False, tolerance: float | None = None) -> Any:
        """The eigenvalues of largest magnitude, largest first, by SciPy's Lanczos iterations (eigsh).

        count      how many
        kind       "hessian" or "gauss-newton"
        vectors    give (values, [{name: tensor}, ...])
        tolerance  relative accuracy, by default that of the weights' dtype
        """
        check_kind(kind)
        if not 0 < count <= self.size:
            raise ValueError(f"eigenvalues: count must be in 1..{self.size}, got {count}")
        if count >= self.size - 1:
            values, found = np.linalg.eigh(self.dense(kind))
        else:
            if tolerance is None:
                tolerance = 1e-10 if self._graphs.double else 1e-5
            start = np.random.default_rng(0).normal(size=self.size)
            with bars(self._progress) as bar:
                times = self._counted(kind, bar("eigenvalues: products", None))
                matrix = scipys().LinearOperator((self.size, self.size), matvec=lambda v: times(v.reshape(-1)), dtype=float)
                values, found = scipys().eigsh(matrix, k=count, which="LM", tol=tolerance, v0=start)
        order = np.argsort(-np.abs(values))[:count]
        largest = [float(x) for x in values[order]]
        return (largest, [self._named(found[:, i]) for i in order]) if vectors else largest

    @checked
    def trace(self, kind: str = "hessian", probes: int = 64, seed: int = 0) -> Estimate:
        """The sum of all eigenvalues, by products with random signs (Hutchinson 1990): Estimate(value, error).

        kind    "hessian" or "gauss-newton"
        probes  how many vectors of signs; the standard error is inf for one
        seed    that they are drawn from
        """
        at_least_one("trace", "probes", probes)
        draw = np.random.default_rng(seed)
        found = []
        with bars(self._progress) as bar:
            times = self._counted(kind, bar("trace: products", probes))
            for _ in range(probes):
                v = draw.choice([-1.0, 1.0], self.size)
                found.append(float(v @ times(v)))
        return Estimate(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(probes)) if probes > 1 else float("inf"))

    @checked
    def density(self, kind: str = "hessian", probes: int = 8, steps: int = 64, seed: int = 0) -> Density:
        """The distribution of the eigenvalues, by stochastic Lanczos
        quadrature (Ubaru et al. 2017, Ghorbani et al. 2019): a Density.

        kind    "hessian" or "gauss-newton"
        probes  random vectors to start from
        steps   Lanczos steps from each, at most P
        seed    that the vectors are drawn from
        """
        at_least_one("density", "probes", probes)
        at_least_one("density", "steps", steps)
        draw = np.random.default_rng(seed)
        nodes, weights = [], []
        steps = min(steps, self.size)
        with bars(self._progress) as bar:
            times = self._counted(kind, bar("density: products", probes * steps))
            for _ in range(probes):
                v = draw.normal(size=self.size)
                values, tops = lanczos(times, v / np.linalg.norm(v), steps)
                nodes.append(values)
                weights.append(tops**2 / probes)
        return Density(np.concatenate(nodes), np.concatenate(weights))

    @checked
    def dense(self, kind: str = "hessian") -> Any:
        """The whole matrix, (P, P), by P products: for small models.

        kind   "hessian" or "gauss-newton"
        """
        with bars(self._progress) as bar:
            times = self._counted(kind, bar("dense: products", self.size))
            return np.stack([times(row) for row in np.eye(self.size)])

    def layers(self) -> dict[str, Curvature]:
        """{path of a module: the curvature of its own weights, a diagonal block}"""
        found: dict[str, list[int]] = {}
        for i in self._chosen:
            found.setdefault(self._graphs.params[i].path, []).append(i)
        return {path: Curvature(self._graphs, self._progress, chosen) for path, chosen in found.items()}

    @checked
    def per_layer(self, kind: str = "hessian", probes: int = 32) -> list[LayerCurvature]:
        """The top eigenvalue and the trace of every layer's block: rows of layer, size, top, trace.

        kind    "hessian" or "gauss-newton"
        probes  as in trace()
        """
        rows = []
        with bars(self._progress) as bar:
            blocks = self.layers()
            advance = bar("layers", len(blocks))
            for path, block in blocks.items():
                rows.append(LayerCurvature(path, block.size, block.eigenvalues(1, kind)[0], block.trace(kind, probes)))
                advance()
        return rows

    def _counted(self, kind: str, advance: Callable[[], Any]) -> Callable[[Any], Any]:
        """Products of arrays, each followed by advance()."""
        check_kind(kind)

        def times(v: Any) -> Any:
            found = self._times(v, kind)
            if not np.isfinite(found).all():
                raise CaptureError(f"curvature: a product with the {kind} matrix has NaN or inf: the loss or its derivatives are "
                                   "not finite; a recording's trouble() says where that begins")
            advance()
            return found
        return times

    def _times(self, v: Any, kind: str) -> Any:
        """The product, in the form of v."""
        check_kind(kind)
        if isinstance(v, dict):
            if set(v) != set(self.names):
                raise CaptureError(f"curvature: expected vectors of {', '.join(self.names)}, got {', '.join(map(str, v))}")
            for name, shape in zip(self.names, self.shapes):
                if not self._graphs.engine.is_tensor(v[name]) or tuple(v[name].shape) != shape:
                    raise CaptureError(f"curvature: the vector of {name} must be a tensor of shape {shape}, got "
                                       f"{tuple(v[name].shape) if hasattr(v[name], 'shape') else type(v[name]).__name__}")
            return dict(zip(self.names, self._graphs.times([v[name] for name in self.names], kind, self._chosen)))
        if np.shape(v) != (self.size,):
            raise CaptureError(f"curvature: expected {self.size} numbers, got the shape {np.shape(v)}")
        found = self._graphs.times(list(self._named(np.asarray(v)).values()), kind, self._chosen)
        return np.concatenate([np.asarray(x.detach().cpu().numpy(), float).reshape(-1) for x in found])

    def _named(self, flat: Any) -> dict[str, Any]:
        parts = np.split(flat, self._ends[:-1])
        like = [self._graphs.params[i].tensor for i in self._chosen]
        return {name: self._graphs.torch.tensor(part.reshape(shape)).to(p.dtype).to(p.device)
                for name, part, shape, p in zip(self.names, parts, self.shapes, like)}

    def __repr__(self) -> str:
        batches = len(self._graphs.data)
        return f"Curvature({self.size} weights in {len(self.names)} parameters, {batches} batch{'es' if batches > 1 else ''})"


def at_least_one(asked: str, what: str, count: int) -> None:
    if count < 1:
        raise ValueError(f"{asked}: {what} must be 1 or more, got {count}")


class Graphs:
    """The graphs of a loss's gradient, batch by batch; of a single batch the graph is kept while the weights stay."""

    def __init__(self, model: Any, loss: Any, data: Iterable[Any], forward: Any, layers: Any, reduction: str) -> None:
        self.engine = engine_of_module(model, "curvature")
        self.torch = self.engine.torch
        self.model, self.loss, self.forward = model, loss, forward
        if self.engine.is_tensor(data) or isinstance(data, tuple) and any(self.engine.is_tensor(x) for x in data):
            raise TypeError("curvature: data is an iterable of batches, such as [(x, y)], got "
                            + ("a tuple of tensors" if isinstance(data, tuple) else "a tensor"))
        self.data = [batch if isinstance(batch, (tuple, list)) else (batch,) for batch in data]
        if not self.data:
            raise CaptureError("curvature: data has no batches; give a list of batches: [(x, y)]")
        for batch in self.data:
            if not batch or not hasattr(batch[0], "__len__"):
                raise TypeError("curvature: a batch is (x, *rest), whose x has a length, got "
                                + (type(batch[0]).__name__ if batch else "an empty one"))
            if not len(batch[0]):
                raise CaptureError("curvature: a batch has no samples")
        if reduction not in ("mean", "sum"):
            raise ValueError(f"curvature: reduction must be 'mean' or 'sum', got {reduction!r}")
        sizes = [len(batch[0]) for batch in self.data]
        self.shares = [n / sum(sizes) if reduction == "mean" else 1.0 for n in sizes]
        self.params = [p for p in parameters_of(self.engine, model, layers) if p.selected and p.tensor.requires_grad]
        if not self.params:
            raise CaptureError("curvature: the selected weights are frozen; it is computed for those that train")
        if imaginary := [p.name for p in self.params if p.tensor.is_complex()]:
            raise CaptureError(f"curvature: expected real weights, got complex ones: {', '.join(imaginary[:6])}; "
                               "leave them out with layers=")
        self.double = all(str(p.tensor.dtype).endswith("float64") for p in self.params)
        self.start = state_of(self.torch)
        self._kept: dict[str, Any] = {}
        self._versions: list[int] = []

    def times(self, v: list[Any], kind: str, chosen: list[int]) -> list[Any]:
        """The block of the matrix that belongs to the `chosen` parameters, times v."""
        tensors = [self.params[i].tensor for i in chosen]
        total: list[Any] = [x.detach() * 0 for x in tensors]
        before = state_of(self.torch)
        try:
            restore(self.torch, self.start)
            for batch, share in zip(self.data, self.shares):
                product = self._hessian if kind == "hessian" else self._gauss_newton
                found = product(self._graph(batch, kind), v, tensors, chosen)
                total = [a if b is None else a + b.detach() * share for a, b in zip(total, found)]
        finally:
            restore(self.torch, before)
        return total

    def _graph(self, batch: Any, kind: str) -> Any:
        """Of the Hessian the gradient; of the Gauss-Newton matrix the outputs, their gradient, J^T u and u."""
        versions = [p.tensor._version for p in self.params]
        if versions != self._versions:
            self._kept, self._versions = {}, versions
        if kind in self._kept:
            return self._kept[kind]
        T, tensors = self.torch, [p.tensor for p in self.params]
        with T.enable_grad(), other_buffers(self.model), math_attention(T):
            out = self.forward(self.model, *batch) if self.forward else self.model(batch[0])
            if kind == "hessian":
                made: Any = self._grad(self._loss(out, batch), tensors, None, True)
            else:
                there = out.detach().requires_grad_()
                slope = self._grad(self._loss(there, batch), [there], None, True)[0]
                u = (out.detach() * 0).requires_grad_()
                made = (out, there, slope, self._grad(out, tensors, u, True), u)
        if len(self.data) == 1:
            self._kept[kind] = made
        return made

    def _loss(self, out: Any, batch: Any) -> Any:
        loss = self.loss(out, *batch[1:])
        if not self.engine.is_tensor(loss) or loss.numel() != 1:
            raise CaptureError("curvature: the loss must give a tensor of one number, got "
                               + (f"shape {tuple(loss.shape)}" if self.engine.is_tensor(loss) else type(loss).__name__))
        return loss

    def _hessian(self, gradient: Any, v: list[Any], tensors: list[Any], chosen: list[int]) -> list[Any]:
        live = [(gradient[i], x) for i, x in zip(chosen, v) if gradient[i] is not None and gradient[i].requires_grad]
        if not live:
            return [None] * len(v)
        return self._grad([g for g, _ in live], tensors, [x for _, x in live])

    def _gauss_newton(self, graph: Any, v: list[Any], tensors: list[Any], chosen: list[int]) -> list[Any]:
        out, there, slope, back, u = graph
        live = [(back[i], x) for i, x in zip(chosen, v) if back[i] is not None]
        if slope is None or not slope.requires_grad or not live:
            return [None] * len(v)
        [pushed] = self._grad([g for g, _ in live], [u], [x for _, x in live])
        [curved] = self._grad(slope, [there], pushed)
        return self._grad(out, tensors, curved)

    def _grad(self, outputs: Any, inputs: Any, seeds: Any, create_graph: bool = False) -> Any:
        return self.torch.autograd.grad(
            outputs, inputs, seeds, retain_graph=True, create_graph=create_graph, allow_unused=True)


def lanczos(times: Callable[[Any], Any], v: Any, steps: int) -> tuple[Any, Any]:
    """(Ritz values, first elements of their vectors) of a symmetric matrix from the unit vector v; all vectors are kept."""
    basis, diagonal, beside = [v], [], []
    for _ in range(steps):
        w = times(basis[-1])
        diagonal.append(float(basis[-1] @ w))
        for _ in range(2):                      # twice is enough (Kahan and Parlett)
            for b in basis:
                w = w - (b @ w) * b
        length = float(np.linalg.norm(w))
        if len(diagonal) == steps or length <= 1e-10 * max(map(abs, diagonal)):
            break
        beside.append(length)
        basis.append(w / length)
    values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return values, vectors[0]


@contextmanager
def other_buffers(model: Any) -> Iterator[None]:
    """The model computes with copies of its buffers."""
    tables = [(module._buffers, dict(module._buffers)) for module in model.modules()]
    try:
        for table, buffers in tables:
            table.update({name: b if b is None else b.detach().clone() for name, b in buffers.items()})
        yield
    finally:
        for table, buffers in tables:
            table.update(buffers)


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"curvature: kind must be 'hessian' or 'gauss-newton', got {kind!r}")


def scipys() -> Any:
    try:
        import scipy.sparse.linalg
    except ImportError:
        raise ImportError("eigenvalues and operators of a curvature need SciPy: pip install 'retrograd[curvature]'") from None
    return scipy.sparse.linalg
