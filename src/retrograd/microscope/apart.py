"""Are the samples where they were taken to be?  One more backward pass, for some of the samples, tells.

The model's output gets a random gradient for a random half of the samples, and zero for the others.  What then arrives at
a use must be zero in the parts that belong to the others.  So a wrong axis is noticed where its length proves nothing (as
many tokens as samples), and so are layers that mix samples.
"""
from __future__ import annotations

from typing import Any

from .layers import batch_axis, samples_first
from .runs import Run, Use
from .sources import flat


def verify(cap: Any, run: Run, out: Any) -> None:
    """Mark the uses of a run whose samples are not where they were taken to be; run.verified when it could be asked."""
    T = cap.engine.torch
    N = run.size
    tensors = [x for x in flat(out) if cap.engine.is_tensor(x) and x.requires_grad and x.ndim > cap.batch_dim
               and x.shape[cap.batch_dim] == N]
    if N is None or N < 2 or not tensors:
        return
    chosen = [n % 2 == 0 for n in range(N)]
    gradients = []
    generator = T.Generator().manual_seed(0)
    for x in tensors:
        g = T.randn(*x.shape, generator=generator).to(x.dtype).to(x.device)
        keep = T.tensor(chosen, device=x.device).reshape([-1 if i == cap.batch_dim else 1 for i in range(x.ndim)])
        gradients.append(T.where(keep, g, T.zeros_like(g)))
    leaves = [p.tensor for p in cap.params if p.tensor.requires_grad]
    watched, cap.checking = cap.checking, False
    cap._aside = {}
    try:
        T.autograd.grad(tensors, leaves, gradients, retain_graph=True, allow_unused=True)
    except Exception:                           # a reentrant checkpoint, or a hook of the user's, does not allow it
        return
    finally:
        found, cap._aside, cap.checking = cap._aside, None, watched
    run.verified = True
    others = [n for n in range(N) if not chosen[n]]
    with T.no_grad():
        for use in run.uses:
            for delta in found.get(id(use), {}).values():
                rows = parts(T, use, delta)
                if rows is None:
                    continue
                most = float(delta.abs().max())
                if float(rows[others].abs().max()) > 1e-6 * most:
                    use.apart = False


def parts(T: Any, use: Use, delta: Any) -> Any:
    """delta (N, everything else), as it was taken to be; None when nothing is claimed."""
    from .layers import AGAIN, Elementwise
    N = use.run.size
    if use.kind is AGAIN or isinstance(use.kind, Elementwise):
        axis = batch_axis(use, tuple(delta.shape))
        return None if axis is None else delta.movedim(axis, 0).reshape(N, -1)
    if use.kind.kind in ("conv", "norm") and not (use.kind.kind == "norm" and use.meta[0] == "last"):
        return delta.reshape(N, -1) if delta.shape[0] == N else None
    rows = samples_first(use, delta, use.meta[1] if use.kind.kind == "norm" else 1)
    return None if rows is None else rows.reshape(N, -1)
