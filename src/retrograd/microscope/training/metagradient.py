"""The exact derivative of a number after a training, through every step of it."""
from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..arguments import FilePath, checked
from ..bar import progress as bars
from ..errors import ReplayError
from ..listen import engine_of
from .loop import Done, Replay, Steps, Training
from .shelf import Folder, Shelf
from .state import Held

ROUGH = 0.5             # the least smoothness, and the largest error of a prediction, with which a derivative is trusted


class Metagradient(Mapping[str, Any]):
    """Derivatives by the names in `wrt`, each of the shape of its tensor; for K numbers (K, *shape).

    value        what `evaluate` returned
    initial      {name of a parameter: derivative with respect to its value before the first step}
    steps        how many steps the training took
    growth       size of the derivative with respect to the state before each step
    smoothness   from -1 to 1: how smoothly the weights follow `wrt` (docs/metagradients.md); None if it was not measured
    error        relative error of the derivative's prediction for a small change of everything at once
    doubt        why the result is not to be trusted; "" if it is
    seconds      {"training": ..., "back": ..., "check": ...}
    """

    def __init__(self, found: dict[str, Any], value: Any, initial: dict[str, Any], growth: list[float]) -> None:
        self._found = found
        self.value, self.initial, self.growth = value, initial, growth
        self.steps = len(growth)
        self.smoothness: float | None = None
        self.error: float | None = None
        self.doubt = "" if all(np.isfinite(growth)) else "the derivative is not finite"
        self.seconds: dict[str, float] = {}

    @property
    def trusted(self) -> bool:
        """Can you rely on the result?  If not, `doubt` says why."""
        return not self.doubt

    def __getitem__(self, name: str) -> Any:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        wrt = ", ".join(f"{name} {tuple(x.shape)}" for name, x in self._found.items())
        sure = "" if self.smoothness is None else f", smoothness {self.smoothness:.2f}, error {self.error:.1%}"
        return f"Metagradient({wrt}; {self.steps} steps{sure}{f'; NOT TO BE TRUSTED: {self.doubt}' if self.doubt else ''})"


@checked
def metagradient(
    train: Callable[..., Any], evaluate: Callable[[Any], Any], wrt: dict[str, Any], *, keep: int | None = None,
    folder: FilePath | None = None, smoothness: float = 0.05, progress: bool | None = None,
) -> Metagradient:
    """The derivative of evaluate(train(steps, **wrt)) with respect to the tensors in `wrt`, through every step of the
    training.

    train       an ordinary training, whose loop reads `for batch in steps(batches, model, optimizer)`: pass steps()
                everything that a step changes (schedulers, too), and use the tensors in `wrt`, which arrive by name, in the
                loop's body
    evaluate    takes what train() returned; returns a tensor of one number, or of K numbers (K,)
    wrt         {name: tensor} of sample weights, learning rates, data, ...; passed to train() by these names
    keep        checkpoints kept at a time, on each of log(T) levels, at least 2; by default 2 sqrt(T) on one level
    folder      keep the checkpoints in this folder; an interrupted run continues from them
    smoothness  relative change of `wrt` in the two more trainings that check the result; 0: no check
    progress    bars on stderr; by default if it is a terminal, after two seconds

    Engstrom et al. 2025 (arXiv:2503.13751, arXiv:2504.16430).  A warning is given if the result is not to be trusted.
    ReplayError if the training cannot be repeated, or has a step whose derivative is not known.
    """
    if not wrt:
        raise ValueError("metagradient: wrt is empty; name the tensors: wrt={'weight': torch.ones(N)}")
    if keep is not None and keep < 2:
        raise ValueError(f"metagradient: keep must be 2 states or more, or None, not {keep!r}")
    if not smoothness >= 0:
        raise ValueError(f"metagradient: smoothness must be the size of a change, or 0 for no check, not {smoothness!r}")
    for name, x in wrt.items():
        if not isinstance(name, str) or not hasattr(x, "is_floating_point"):
            raise TypeError("metagradient: wrt must be a dict of names and tensors, as {'weight': torch.ones(N)}; "
                            f"it has {name!r}: {type(x).__name__}")
        if not x.is_floating_point():
            raise TypeError(f"metagradient: {name} in wrt is of {x.dtype}; derivatives need floating-point tensors")
    torch = engine_of(next(iter(wrt.values()))).torch
    given = {name: x.detach().clone() for name, x in wrt.items()}
    shelf = Shelf() if folder is None else Folder(torch, folder, given)
    with bars(progress) as bar:
        begin = time.perf_counter()
        first = Training(torch, keep, shelf, bar("training", None), followed=True)
        made = train(first, **given)
        if first.held is None or not first.count:
            raise ReplayError("metagradient: train() took no step; its loop is `for batch in steps(batches, model, optimizer)`")
        trained = time.perf_counter()
        value, cotangents = seeds(torch, evaluate, made, first)
        leaves = {name: x.clone().requires_grad_() for name, x in given.items()}
        back = Replay(first, leaves, cotangents, shelf, bar("back", first.count))
        try:
            train(back, **leaves)
        except Done:
            pass
        if not back.finished:
            raise ReplayError("metagradient: train() left its loop before the batches ended; "
                              "pass steps() only the batches that are used")
        returned = time.perf_counter()
        found = {name: stacked(torch, value, [sums[name] for sums in back.sums]) for name in leaves}
        initial = {name: stacked(torch, value, [each.get((i, ""), p.detach() * 0) for each in back.cotangents])
                   for i, (name, p) in enumerate(zip(back.held.names, back.held.params))}
        result = Metagradient(found, value, initial, back.growth[::-1])
        if not back.used:
            warnings.warn(f"metagradient: no step depends on {' or '.join(given)}, so the derivatives are 0; let it take part, "
                          "as in (losses * weight[i]).mean()", stacklevel=2)
        if smoothness and result.trusted:
            check(result, train, evaluate, given, made_by(first), smoothness, bar("check", 2))
        result.seconds = {"training": trained - begin, "back": returned - trained, "check": time.perf_counter() - returned}
        shelf.end()
    if not result.trusted:
        warnings.warn(f"metagradient: {result.doubt}", stacklevel=2)
    return result


def seeds(torch: Any, evaluate: Callable[[Any], Any], made: Any, first: Training) -> tuple[Any, list[Any]]:
    """(the numbers, for each its derivative in the last weights)"""
    held, ended = first.held, first.ended
    for name, x in zip(held.names, ended["params"]):
        if not bool(torch.isfinite(x).all()):
            raise ReplayError(f"metagradient: the training ended with NaN or inf in {name}, of which there is no derivative; "
                              "microscope.flight says where they began")
    if not all(torch.equal(p, x) for p, x in zip(held.params, ended["params"])):
        raise ReplayError("metagradient: train() changes the weights after its last step, which is not followed")
    with torch.enable_grad():
        value = evaluate(made)
        if not hasattr(value, "backward") or value.dim() > 1 or not value.numel():
            raise TypeError("metagradient: evaluate() must give a tensor of one number, or of shape (K,)"
                            + (f", not {tuple(value.shape)}" if hasattr(value, "shape") else f", not {type(value).__name__}"))
        if not value.requires_grad:
            raise ReplayError("metagradient: what evaluate() gives has no graph to the model's weights: it must not detach() or "
                              "run under no_grad()")
        numbers = list(value) if value.dim() else [value]
        found = [torch.autograd.grad(x, held.params, retain_graph=True, allow_unused=True) for x in numbers]
    side = held.side()
    start = first.shelf[min(first.shelf.kept)]["side"]
    if side and not all(torch.equal(x, y) for x, y in zip(side, start)):
        with torch.no_grad():
            for x, y in zip(side, start):
                x.copy_(y)
            other = evaluate(made).detach()
            for x, y in zip(side, ended["side"]):
                x.copy_(y)
        if not torch.equal(other, value.detach()):
            raise ReplayError(
                "metagradient: evaluate() depends on buffers that the training changed (running statistics, averages), "
                "and derivatives do not go through them; evaluate without them, or use a norm without running statistics")
    return value.detach(), [{(i, ""): g for i, g in enumerate(each) if g is not None} for each in found]


def stacked(torch: Any, value: Any, parts: list[Any]) -> Any:
    return torch.stack([x.detach() for x in parts]) if value.dim() else parts[0].detach()


def made_by(first: Training) -> Any:
    return [x.double() for x in first.ended["params"]]


class Watching(Steps):
    """A plain run that remembers what it trained."""

    def __init__(self, torch: Any) -> None:
        super().__init__()
        self.torch = torch
        self.held: Any = None

    def __call__(self, batches: Any, *objects: Any) -> Iterator[Any]:
        self.held = Held(self.torch, objects)
        return super().__call__(batches, *objects)


def check(result: Metagradient, train: Any, evaluate: Any, given: dict[str, Any], weights: list[Any], size: float,
          advance: Callable[[], None]) -> None:
    """Two trainings, with `wrt` changed a little in a random direction and in the opposite one."""
    torch = engine_of(next(iter(given.values()))).torch
    draw = np.random.default_rng(0)
    shift = {name: torch.tensor(draw.choice([-1.0, 1.0], tuple(x.shape))).to(x.dtype).to(x.device)
             * (size * (float(x.abs().mean()) or 1.0)) for name, x in given.items()}
    ends, values = [], []
    for way in (-1, 1):
        steps = Watching(torch)
        made = train(steps, **{name: x + way * shift[name] for name, x in given.items()})
        with torch.no_grad():
            values.append(evaluate(made).double().cpu().numpy().reshape(-1))
        ends.append([p.detach().double() for p in steps.held.params])
        advance()
    one, two, overlap = 0.0, 0.0, 0.0
    for low, mid, high in zip(ends[0], weights, ends[1]):
        down, up = mid - low, high - mid
        one, two = one + float(down.abs().sum()), two + float(up.abs().sum())
        overlap += float((down.abs() * down.sign() * up.sign()).sum())
    result.smoothness = overlap / one if one else 1.0
    K = values[0].size
    products = [(result[name].double() * d.double()).reshape(K, -1) for name, d in shift.items()]
    told = sum(x.sum(1) for x in products).cpu().numpy()
    spread = np.sqrt(sum(x.pow(2).sum(1) for x in products).cpu().numpy())
    seen = (values[1] - values[0]) / 2
    scale = np.maximum(np.linalg.norm(seen), np.linalg.norm(np.maximum(np.abs(told), spread)))
    result.error = float(np.linalg.norm(told - seen) / scale) if scale else 0.0
    if result.smoothness < ROUGH:
        result.doubt = (
            f"the training is not smooth (smoothness {result.smoothness:.2f}): changing {', '.join(given)} by {size:.0%} "
            "up and down moves the weights in directions that have little to do with each other")
    elif result.error > ROUGH:
        result.doubt = (f"for a change of {size:.0%} the derivative predicts another effect than trainings show "
                        f"(off by {result.error:.0%})")
