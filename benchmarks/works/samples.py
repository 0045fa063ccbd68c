"""torch.func over batches: gradients per sample, Jacobians, Hessians, an ensemble, of a small MLP."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from benchmarks.works.base import Engine, Task, Work

B, I, H, O = 64, 20, 64, 10  # noqa: E741  # samples, features, hidden units, classes
MODELS = 10


class Mapped(Work):
    """One call of a transform over a batch."""

    group: ClassVar[str] = "per sample"

    def __init__(self, name: str, samples: int = B) -> None:
        self.name, self.samples = name, samples

    def tiny(self) -> Mapped:
        return Mapped(self.name, 3)

    def torch(self, torch: Engine) -> Task:
        rng = np.random.default_rng(0)

        def array(*shape: int) -> Any:
            return torch.from_numpy((rng.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32))

        params = [array(H, I), array(H), array(O, H), array(O)]
        stacked = [array(MODELS, *p.shape) for p in params]
        x, y = array(self.samples, I), torch.from_numpy(rng.integers(0, O, self.samples))
        linear, cross_entropy = torch.nn.functional.linear, torch.nn.functional.cross_entropy
        t = torch.func

        def f(p: Any, x: Any) -> Any:
            return linear(linear(x, p[0], p[1]).tanh(), p[2], p[3])

        def loss(p: Any, x: Any, y: Any) -> Any:
            return cross_entropy(f(p, x)[None], y[None])

        def total(x: Any) -> Any:
            return f(params, x).pow(2).sum()

        steps: dict[str, Callable[[], Any]] = {
            "vmap(grad)": lambda: t.vmap(t.grad(loss), (None, 0, 0))(params, x, y)[0],
            "vmap(jacrev)": lambda: t.vmap(t.jacrev(lambda x: f(params, x)))(x),
            "vmap(jacfwd)": lambda: t.vmap(t.jacfwd(lambda x: f(params, x)))(x),
            "jacfwd": lambda: t.jacfwd(lambda x: f(params, x))(x[0]),
            "hessian": lambda: t.hessian(total)(x[0]),
            "ensemble": lambda: t.vmap(f, (0, None))(stacked, x),
        }
        step = steps[self.name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)     # PyTorch's forward mode scripts at its first call
            step()
        return Task(step, lambda: [float(v) for v in step().detach().reshape(-1)[:8]])


def works() -> list[Work]:
    return [Mapped(name) for name in ("vmap(grad)", "vmap(jacrev)", "vmap(jacfwd)", "jacfwd", "hessian", "ensemble")]
