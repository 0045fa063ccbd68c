"""A chain `x = x * b + a`: what an engine adds to each op, at several lengths and sizes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Missing, Task, Work, grad_norm, leaf, norm, replay

MODES = ("no-grad", "forward", "forward+backward")


class Chain(Work):
    group: ClassVar[str] = "chain"

    def __init__(self, ops: int, size: int, mode: str = "forward+backward") -> None:
        self.ops, self.size, self.mode, self.per = ops, size, mode, ops
        self.unit = "us/op"
        self.slow = ops >= 100_000
        self.name = f"chain-{ops}x{size or '0dim'}" + ("" if mode == MODES[2] else f"-{mode}")

    def tiny(self) -> Self:
        return type(self)(6, min(self.size, 16), self.mode)

    def refuse_long(self) -> None:
        if self.slow:
            raise Missing("a chain this long is for engines that do not trace")

    def data(self) -> tuple[Any, Any]:
        r = np.random.RandomState(0)
        shape = (self.size,) if self.size else ()
        return tuple(np.asarray(r.randn(*shape) * 0.1, np.float32) for _ in "ab")  # type: ignore[return-value]

    def torch(self, torch: Engine) -> Task:
        turns = self.ops // 2
        a, b = (leaf(torch, v) for v in self.data())

        def forward() -> Any:
            x = a
            for _ in range(turns):
                x = x * b + a
            return x

        def silent() -> Any:
            with torch.no_grad():
                return forward()

        def both() -> Any:
            a.grad = b.grad = None
            total = forward().sum()
            total.backward()
            return total

        def check() -> list[float]:
            if self.mode != MODES[2]:
                return [float(forward().sum().item())]
            return [both().item(), grad_norm(a), grad_norm(b)]

        return Task({MODES[0]: silent, MODES[1]: forward, MODES[2]: both}[self.mode], check)

    def numpy(self) -> Task:
        turns = self.ops // 2
        a, b = self.data()

        def forward() -> Any:
            x = a
            for _ in range(turns):
                x = x * b + a
            return x

        def both() -> tuple[Any, Any, Any]:
            x, kept = a, []
            for _ in range(turns):
                kept.append(x)
                x = x * b + a
            g = np.ones_like(x)
            ga = gb = None
            for k in reversed(kept):
                ga = g if ga is None else ga + g
                t = g * k
                gb = t if gb is None else gb + t
                g = g * b
            return x.sum(), ga + g, gb

        def check() -> list[float]:
            if self.mode != MODES[2]:
                return [float(forward().sum())]
            total, ga, gb = both()
            return [float(total), norm(ga), norm(gb)]

        return Task(both if self.mode == MODES[2] else forward, check)

    def jax(self, jax: Engine, jit: bool) -> Task:
        self.refuse_long()
        turns = self.ops // 2
        a, b = (jax.numpy.asarray(v) for v in self.data())

        def forward(a: Any, b: Any) -> Any:
            x = a
            for _ in range(turns):
                x = x * b + a
            return x

        wrap = jax.jit if jit else lambda f: f
        plain = wrap(forward)
        both = wrap(jax.value_and_grad(lambda a, b: forward(a, b).sum(), argnums=(0, 1)))

        def check() -> list[float]:
            if self.mode != MODES[2]:
                return [float(plain(a, b).sum())]
            total, (ga, gb) = both(a, b)
            return [float(total), norm(ga), norm(gb)]

        run = both if self.mode == MODES[2] else plain
        return Task(lambda: jax.block_until_ready(run(a, b)), check)

    def autograd(self, autograd: Engine) -> Task:
        self.refuse_long()
        turns = self.ops // 2
        pair = self.data()

        def forward(pair: Any) -> Any:
            a, b = pair
            x = a
            for _ in range(turns):
                x = x * b + a
            return x

        both = autograd.value_and_grad(lambda pair: autograd.numpy.sum(forward(pair)))

        def check() -> list[float]:
            if self.mode != MODES[2]:
                return [float(forward(pair).sum())]
            total, (ga, gb) = both(pair)
            return [float(total), norm(ga), norm(gb)]

        steps = {
            MODES[0]: lambda: forward(pair),
            MODES[1]: lambda: autograd.core.make_vjp(forward, pair),
            MODES[2]: lambda: both(pair),
        }
        return Task(steps[self.mode], check)

    def tinygrad(self, tinygrad: Engine) -> Task:
        self.refuse_long()
        if self.mode != MODES[2]:
            raise Missing("tinygrad records nothing in the forward pass that could be left out")
        a, b = (tinygrad.Tensor(v).realize() for v in self.data())

        def results() -> tuple[Any, ...]:
            x = a
            for _ in range(self.ops // 2):
                x = x * b + a
            total = x.sum()
            return (total, *total.gradient(a, b))

        step = replay(tinygrad, results)

        def check() -> list[float]:
            for _ in range(3):
                total, ga, gb = (t.numpy() for t in step())
            return [float(total), norm(ga), norm(gb)]

        return Task(step, check)

    def mygrad(self, mygrad: Engine) -> Task:
        self.refuse_long()
        turns = self.ops // 2
        a, b = (mygrad.tensor(v) for v in self.data())

        def forward() -> Any:
            x = a
            for _ in range(turns):
                x = x * b + a
            return x

        def silent() -> Any:
            with mygrad.no_autodiff:
                return forward()

        def both() -> Any:
            total = forward().sum()
            total.backward()
            return total

        def check() -> list[float]:
            if self.mode != MODES[2]:
                return [float(forward().sum().item())]
            total = both()
            return [float(total.item()), norm(a.grad), norm(b.grad)]

        return Task({MODES[0]: silent, MODES[1]: forward, MODES[2]: both}[self.mode], check)


def works() -> list[Work]:
    return [
        Chain(200, 8, MODES[0]),
        Chain(200, 8, MODES[1]),
        Chain(10, 8),
        Chain(200, 8),
        Chain(2000, 8),
        Chain(1_000_000, 8),
        Chain(200, 0),
        Chain(200, 1000),
        Chain(20, 100_000),
        Chain(10, 1_000_000),
    ]
