"""What hooks cannot take apart, sample by sample: the model is called again for each, or once under torch.func.vmap.

It costs a forward and backward pass per sample (or as much memory as N models), so it is done when asked for, and only for
the parameters that the capture left open.  What comes out must add up to the gradient of the batch.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import CaptureError
from .terms import Dense, Term


def fill(cap: Any, loss: Callable[..., Any], batch: tuple[Any, ...], how: str, reduction: str) -> None:
    """Capture.fill."""
    if how not in ("loop", "vmap"):
        raise ValueError(f"fill: how is 'loop' or 'vmap', got {how!r}")
    if reduction not in ("sum", "mean"):
        raise ValueError(f"fill: reduction must be 'sum' or 'mean', got {reduction!r}")
    if how == "vmap" and cap.engine.name != "torch":
        raise ValueError("fill: how='vmap' needs PyTorch's torch.func. Use how='loop'")
    if cap.entered:
        raise CaptureError("fill: leave the capture block first; otherwise fill's own calls would be captured")
    runs = [run for run, _, _ in cap.terms()]
    if len(runs) != 1:
        raise CaptureError(f"fill: expected one captured run that a gradient reached, got {len(runs)}")
    run = runs[0]
    if run.mixed:
        raise CaptureError(f"fill: a sample alone differs from the same sample in its batch: {run.mixed}")
    N = run.size
    axis = cap.batch_dim
    sizes = {int(x.shape[axis]) for x in batch if cap.engine.is_tensor(x)}
    if N is None or sizes != {N}:
        raise ValueError(f"fill: expected tensors with a batch of {N} in dimension {axis}, got {sorted(sizes)}")
    open_rows = {row.name for row in cap.coverage().missing}
    params = [p for p in cap.params if p.name in open_rows]
    if not params:
        return
    found = (loop if how == "loop" else vmapped)(cap, loss, batch, params, N)
    T = cap.engine.torch
    filled: dict[int, tuple[Term, str]] = {}
    with T.no_grad():
        for p, rows in zip(params, found):
            rows = rows.detach() / N if reduction == "mean" else rows.detach()
            compare_sum(cap, p, rows, N)
            filled[p.number] = (Dense(T, N, p.shape, rows.detach), f"each sample by itself ({how})")
    cap.filled.update(filled)
    cap._terms = None


def loop(cap: Any, loss: Callable[..., Any], batch: tuple[Any, ...], params: list[Any], N: int) -> list[Any]:
    """(N, *shape) of each parameter, from N backward passes."""
    T = cap.engine.torch
    rows: list[list[Any]] = [[] for _ in params]
    with T.enable_grad():
        for n in range(N):
            sample = [x.narrow(cap.batch_dim, n, 1) if cap.engine.is_tensor(x) else x for x in batch]
            got = T.autograd.grad(scalar(loss(cap.model, *sample)), [p.tensor for p in params], allow_unused=True)
            for row, p, g in zip(rows, params, got):
                g = T.zeros_like(p.tensor) if g is None else g
                row.append((g.to_dense() if getattr(g, "is_sparse", False) else g).detach())
    return [T.stack(row) for row in rows]


def vmapped(cap: Any, loss: Callable[..., Any], batch: tuple[Any, ...], params: list[Any], N: int) -> list[Any]:
    """The same from one pass under torch.func.vmap."""
    from torch.func import functional_call, grad, vmap

    def one(weights: dict[str, Any], *sample: Any) -> Any:
        def model(*args: Any, **kwargs: Any) -> Any:
            return functional_call(cap.model, weights, args, kwargs)
        alone = [x.unsqueeze(cap.batch_dim) if cap.engine.is_tensor(x) else x for x in sample]
        return scalar(loss(model, *alone))
    axes = [cap.batch_dim if cap.engine.is_tensor(x) else None for x in batch]
    try:
        got = vmap(grad(one), in_dims=(None, *axes), randomness="different")(
            {p.name: p.tensor.detach() for p in params}, *batch)
    except CaptureError:
        raise
    except Exception as error:
        raise CaptureError(f"fill: this model does not run under torch.func.vmap ({error}); use how='loop'") from error
    return [got[p.name] for p in params]


def scalar(loss: Any) -> Any:
    if loss.ndim != 0:
        raise CaptureError(f"fill: the loss of a sample must be a scalar, got shape {tuple(loss.shape)}")
    return loss


def compare_sum(cap: Any, p: Any, rows: Any, N: int) -> None:
    """CaptureError unless the samples' gradients add up to that of the batch."""
    from .coverage import TOLERANCE, exact
    want = cap.arrived.get(p.number)
    if want is None:
        want = next((terms[p.number].total() for _, terms, _ in cap.terms() if p.number in terms), None)
    if want is None:
        raise CaptureError(
            f"fill: this step was not checked, so there is no gradient of {p.name} to compare with; capture(check=True)")
    got, want = exact(rows).sum(0), exact(want.to_dense() if getattr(want, "is_sparse", False) else want)
    size = max(float(want.norm()), 1e-30)
    error = float((got - want).norm()) / size
    dtype = str(p.tensor.dtype).replace("retrograd.", "torch.")
    if not error <= 5 * TOLERANCE.get(dtype, 2e-4):
        times = float((got * want.conj()).sum().real) / size ** 2
        hint = ""
        if abs(times - N) < 1e-2 * N and float((got / N - want).norm()) < 1e-2 * size:
            hint = "they are N times as large: is the batch's loss a mean?  Then reduction='mean'"
        raise CaptureError(
            f"fill: the samples' gradients of {p.name} do not add up to that of the batch (off by {error:.1e} of it); " + (
                hint or "is it the same loss, without dropout, and does no sample depend on another?"))
