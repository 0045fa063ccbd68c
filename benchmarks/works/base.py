"""What a work is: data, one version per kind of engine, and numbers that must come out the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

Engine = Any  # a module: torch, retrograd, jax, autograd, tinygrad, mygrad
Step = Callable[[], Any]


class Missing(Exception):
    """This work has no version for this engine, or the engine lacks something that it needs."""


@dataclass
class Task:
    """A work made ready on one engine.

    step    one unit of work; what is timed
    check   -> numbers that every engine must agree on; called once, before any step
    base    when given, `step` less `base` is what is reported: the cost of a hook
    """

    step: Step
    check: Callable[[], Sequence[float]]
    base: Step | None = None


class Work:
    """Subclasses write `torch` once for PyTorch and retrograd, `numpy` by hand, and other engines where they can."""

    group: ClassVar[str]
    name: str
    per: int = 1  # times are divided by this: ops in a chain, hooks in a step
    unit: str = "us"
    rtol: float = 1e-3  # float32, sums in other orders
    slow: bool = False  # seconds per step: one sample in each of at most three rounds

    def tiny(self) -> Self:
        """The same work, small enough for a test."""
        raise NotImplementedError

    def torch(self, torch: Engine) -> Task:
        raise Missing(f"{self.name} is not written for PyTorch's interface")

    def numpy(self) -> Task:
        raise Missing(f"{self.name} is not written by hand")

    def jax(self, jax: Engine, jit: bool) -> Task:
        raise Missing(f"{self.name} is not written for JAX")

    def autograd(self, autograd: Engine) -> Task:
        raise Missing(f"{self.name} is not written for HIPS autograd")

    def tinygrad(self, tinygrad: Engine) -> Task:
        raise Missing(f"{self.name} is not written for tinygrad")

    def mygrad(self, mygrad: Engine) -> Task:
        raise Missing(f"{self.name} is not written for MyGrad")


def norm(*arrays: Any) -> float:
    """Euclidean norm of everything in `arrays`, in float64. Takes whatever NumPy can read."""
    return float(np.sqrt(sum(float((np.asarray(a, dtype=np.float64) ** 2).sum()) for a in arrays)))


def leaf(torch: Engine, array: Any) -> Any:
    return torch.tensor(array, requires_grad=True)


def grad_norm(*tensors: Any) -> float:
    return norm(*(t.grad.numpy() for t in tensors))


def replay(tinygrad: Engine, results: Callable[[], Sequence[Any]]) -> Callable[[], Sequence[Any]]:
    """What computes these tensors by TinyJit, and waits for them: traced in its first two calls, replayed from then on."""
    device = tinygrad.Device[tinygrad.Device.DEFAULT]

    def run() -> Sequence[Any]:
        found = results()
        found[0].realize(*found[1:])
        return found

    fast = tinygrad.TinyJit(run)

    def step() -> Sequence[Any]:
        found: Sequence[Any] = fast()
        device.synchronize()
        return found

    return step
