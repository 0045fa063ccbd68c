"""Which samples made a number what it is: the estimates that people use, of one training, in one sign and scale of time.

Every score estimates the derivative of the number in a sample's weight in the training loss: positive means that the sample
raised the number.  Only metagradients are that derivative; the others leave out the most of the training.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from ..arguments import checked
from ..bar import progress as bars
from ..capture.capturing import capture
from ..capture.recipes import inner
from ..errors import ReplayError
from ..listen import engine_of
from .loop import Training, samples_of
from .metagradient import metagradient
from .shelf import Shelf
from .state import Held

METHODS = ("gradient dot", "cosine", "K-FAC", "EK-FAC", "TracIn", "TRAK", "metagradient")


class Attributions(dict[str, Any]):
    """{method: (N,) scores, or (N, K) for K numbers};  seconds {method: time it took beyond the training}."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: dict[str, float] = {}


@checked
def attributions(
    train: Callable[..., Any], evaluate: Callable[[Any], Any], losses: Callable[[Any, Any], Any], weight: Any, *,
    methods: Iterable[str] = METHODS, checkpoints: int = 8, dim: int = 512, damping: float | None = None, seed: int = 0,
    progress: bool | None = None,
) -> Attributions:
    """Scores of all samples by each of `methods`.

    train, evaluate   as in metagradient(): train(steps, weight) returns its model
    losses            (model, i) -> (len(i),) losses of the samples i, as the training weighs them
    weight            (N,) ones
    methods           which, of those below; by default all
    checkpoints       checkpoints kept of the training, for TracIn and for the metagradient
    dim, seed         random projections of TRAK, and the seed that they are drawn from
    damping           added to the curvature of K-FAC and EK-FAC; by default a tenth of the mean eigenvalue
    progress          bars on stderr; by default if it is a terminal, after two seconds
    ValueError for unknown methods, a negative damping, fewer than 2 checkpoints, and losses of another shape.

    gradient dot   of the sample's gradient and the number's, at the end of the training
    cosine         the same, of unit vectors
    K-FAC, EK-FAC  the number's gradient divided by the curvature (Koh & Liang 2017, Grosse et al. 2023)
    TracIn         dot products at about `checkpoints` states of the training, times the rate (Pruthi et al. 2020)
    TRAK           of one model, with `dim` random projections (Park et al. 2023); for losses that are -log p of a sample
    """
    methods = [methods] if isinstance(methods, str) else list(methods)
    unknown = set(methods) - set(METHODS)
    if unknown:
        raise ValueError(f"attributions: unknown methods {sorted(map(str, unknown))}; there are {', '.join(METHODS)}")
    samples_of("attributions", weight)
    if damping is not None and not damping >= 0:
        raise ValueError(f"attributions: damping must not be negative, got {damping!r}")
    if checkpoints < 2 or dim < 1:
        raise ValueError(f"attributions: expected 2 checkpoints or more and a positive dim, got {checkpoints=}, {dim=}")
    torch = engine_of(weight).torch
    found = Attributions()
    first = Training(torch, checkpoints, Shelf(), lambda: None)
    model = train(first, weight)
    if not isinstance(model, torch.nn.Module):
        raise ReplayError(f"attributions: train() must return its model, got {type(model).__name__}")
    ends = Ends(torch, model, evaluate, losses, len(weight), damping)
    with bars(progress) as bar:
        advance = bar("methods", len(methods))
        for method in methods:
            begin = time.perf_counter()
            if method == "metagradient":
                got = metagradient(train, evaluate, {"weight": weight}, smoothness=0)["weight"]
                score = got.T if got.dim() > 1 else got
            elif method == "TracIn":
                score = over_states(first, ends, bar)
            elif method == "TRAK":
                score = ends.trak(dim, seed)
            elif method == "gradient dot":
                score = ends.dots()
            elif method == "cosine":
                score = ends.cosines()
            else:
                score = ends.influence(method == "EK-FAC")
            found[method] = score.detach()
            found.seconds[method] = time.perf_counter() - begin
            advance()
    return found


class Ends:
    """Gradients at the weights that the model has: of every sample's loss and of the numbers."""

    def __init__(self, torch: Any, model: Any, evaluate: Any, losses: Any, count: int, damping: float | None) -> None:
        self.torch, self.model, self.evaluate, self.losses = torch, model, evaluate, losses
        self.all = torch.arange(count)
        self.damping = damping

    def samples(self) -> Any:
        """Grads of the samples, each of its own loss."""
        kept = [(p, p.grad) for p in self.model.parameters()]
        with capture(self.model) as cap:
            found = self.losses(self.model, self.all)
            if getattr(found, "shape", None) != self.all.shape:
                raise ValueError(
                    f"attributions: losses(model, i) must give a loss of each sample in i, {tuple(self.all.shape)} for all, not "
                    + (f"of shape {tuple(found.shape)}" if hasattr(found, "shape") else type(found).__name__))
            found.sum().backward()
        for p, g in kept:
            p.grad = g
        return cap.grads()

    def numbers(self, names: list[str]) -> tuple[dict[str, Any], bool]:
        """({name: (K, *shape)} gradients of the numbers, is it one number?)"""
        params = dict(self.model.named_parameters())
        with self.torch.enable_grad():
            value = self.evaluate(self.model)
        rows = [self.torch.autograd.grad(x, [params[n] for n in names], retain_graph=True, allow_unused=True)
                for x in (list(value) if value.dim() else [value])]
        return {n: self.torch.stack([params[n].detach() * 0 if g is None else g for g in column])
                for n, column in zip(names, zip(*rows))}, not value.dim()

    def dots(self) -> Any:
        grads = self.samples()
        numbers, one = self.numbers(grads.names)
        return self.shaped(-inner(grads, numbers), one)

    def cosines(self) -> Any:
        grads = self.samples()
        numbers, one = self.numbers(grads.names)
        size = sum(g.reshape(len(g), -1).pow(2).sum(1) for g in numbers.values())
        return self.shaped(-inner(grads, numbers) / (grads.norms()[:, None] * size.sqrt() + 1e-30), one)

    def influence(self, corrected: bool = False) -> Any:
        grads = self.samples()
        numbers, one = self.numbers(grads.names)
        curvature = grads.kfac(damping=0.0)
        if corrected:
            curvature.corrected(grads)
        if self.damping is None:
            means = [float(curvature.scalings[name].mean()) if corrected else float(
                a.diagonal().mean() * g.diagonal().mean()) for name, (a, g) in curvature.factors.items()]
            means += [float(d.mean()) for d in curvature.diagonal.values()]
            curvature.damping = 0.1 * sum(means) / len(means)
        else:
            curvature.damping = self.damping
        return self.shaped(-inner(grads, curvature.apply(numbers)), one)

    def trak(self, dim: int, seed: int) -> Any:
        T, grads = self.torch, self.samples()
        numbers, one = self.numbers(grads.names)
        draw = T.Generator().manual_seed(seed)
        signs = {n: (T.randint(0, 2, (dim, *g.shape[1:]), generator=draw) * 2 - 1).to(g.dtype).to(g.device)
                 for n, g in numbers.items()}
        with T.no_grad():
            p = (-self.losses(self.model, self.all)).exp().clamp(max=1 - 1e-6)
            features = -inner(grads, signs) / (1 - p)[:, None]      # of log(p / (1 - p)), whose slope in -log p is -(1 - p)
            asked = sum(g.reshape(len(g), -1) @ signs[n].reshape(dim, -1).T for n, g in numbers.items())
            gram = (features.T @ features).double()
            gram = gram + 1e-6 * gram.diagonal().mean() * T.eye(dim).double().to(gram.device)
            solved = T.linalg.solve(gram, asked.T.double()).to(features.dtype)
            return self.shaped(features @ solved * (1 - p)[:, None], one)

    def shaped(self, score: Any, one: bool) -> Any:
        return score[:, 0] if one else score


def over_states(first: Training, ends: Ends, bar: Any) -> Any:
    """TracIn: dot products at the states that were kept, weighed by the rate there."""
    held: Held = first.held
    total: Any = 0
    advance = bar("TracIn: states", len(first.shelf.kept))
    try:
        for t in sorted(first.shelf.kept):
            state = first.shelf[t]
            held.put(state)
            rate = state["options"][0][0]["lr"]
            total = total + ends.dots() * float(rate)
            advance()
    finally:
        held.put(first.ended)
    return total
