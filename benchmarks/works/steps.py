"""One step of every optimiser: on the six parameters of a small perceptron, and on 400,000 numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Missing, Task, Work, leaf, norm

SMALL = ((64, 64), (64,), (64, 64), (64,), (10, 64), (10,))
LARGE = ((512, 784),)
OPTIMISERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 1e-2}, "SGD-momentum": {"lr": 1e-2, "momentum": 0.9}, "Adam": {}, "AdamW": {}, "Adamax": {},
    "NAdam": {}, "RAdam": {}, "RMSprop": {}, "Adagrad": {}, "Adadelta": {}, "ASGD": {}, "Rprop": {},
}  # fmt: skip


class Step(Work):
    group: ClassVar[str] = "steps"

    def __init__(self, optimiser: str, sizes: tuple[tuple[int, ...], ...]) -> None:
        self.optimiser, self.sizes = optimiser, sizes
        self.name = f"step-{optimiser}-{sum(int(np.prod(s)) for s in sizes)}"

    def tiny(self) -> Self:
        return type(self)(self.optimiser, ((3, 4), (4,)))

    def torch(self, torch: Engine) -> Task:
        name = self.optimiser.split("-")[0]
        if not hasattr(getattr(torch, "optim", None), name):
            raise Missing(f"no optim.{name}")
        r = np.random.RandomState(11)
        params = [leaf(torch, r.randn(*s).astype(np.float32)) for s in self.sizes]
        for p in params:
            p.grad = torch.tensor(r.randn(*p.shape).astype(np.float32))
        optimiser = getattr(torch.optim, name)(params, **OPTIMISERS[self.optimiser])

        def check() -> list[float]:
            for _ in range(3):
                optimiser.step()
            return [norm(*(p.detach().numpy() for p in params))]

        return Task(optimiser.step, check)


class Clip(Work):
    """clip_grad_norm_ over the same parameters."""

    group: ClassVar[str] = "steps"

    def __init__(self, sizes: tuple[tuple[int, ...], ...]) -> None:
        self.sizes = sizes
        self.name = f"clip-grad-norm-{sum(int(np.prod(s)) for s in sizes)}"

    def tiny(self) -> Self:
        return type(self)(((3, 4), (4,)))

    def torch(self, torch: Engine) -> Task:
        clip = getattr(getattr(getattr(torch, "nn", None), "utils", None), "clip_grad_norm_", None)
        if clip is None:
            raise Missing("no clip_grad_norm_")
        r = np.random.RandomState(12)
        params = [leaf(torch, r.randn(*s).astype(np.float32)) for s in self.sizes]
        for p in params:
            p.grad = torch.tensor(r.randn(*p.shape).astype(np.float32))

        def check() -> list[float]:
            before = clip(params, 1.0)
            return [float(before), norm(*(p.grad.numpy() for p in params))]

        return Task(lambda: clip(params, 1.0), check)


def works() -> list[Work]:
    small = [Step(name, SMALL) for name in OPTIMISERS]
    return [*small, *(Step(name, LARGE) for name in ("SGD", "SGD-momentum", "Adam", "AdamW")), Clip(SMALL), Clip(LARGE)]
