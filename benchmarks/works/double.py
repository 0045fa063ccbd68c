"""Backward through a backward pass: create_graph=True, then backward of the gradient's square.

`double-chain`: a chain `x = x * b + a`.   `double-mlp`: a tanh layer and a linear one, the gradient penalty of GANs.
Shapes: N batch, I in, H hidden, O out.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Task, Work, grad_norm, leaf, norm


class DoubleChain(Work):
    group: ClassVar[str] = "double"

    def __init__(self, ops: int, size: int) -> None:
        self.ops, self.size, self.per = ops, size, ops
        self.unit = "us/op"
        self.name = f"double-chain-{ops}x{size}"

    def tiny(self) -> Self:
        return type(self)(6, 4)

    def data(self) -> tuple[Any, Any]:
        r = np.random.RandomState(3)
        return r.randn(self.size).astype(np.float32) * 0.1, r.rand(self.size).astype(np.float32)

    def torch(self, torch: Engine) -> Task:
        a, b = (leaf(torch, v) for v in self.data())

        def step() -> Any:
            a.grad = b.grad = None
            x = a
            for _ in range(self.ops // 2):
                x = x * b + a
            ga, gb = torch.autograd.grad(x.sum(), (a, b), create_graph=True)
            penalty = (ga * ga).sum() + (gb * gb).sum()
            penalty.backward()
            return penalty

        return Task(step, lambda: [step().item(), grad_norm(a), grad_norm(b)])

    def jax(self, jax: Engine, jit: bool) -> Task:
        a, b = (jax.numpy.asarray(v) for v in self.data())

        def penalty(a: Any, b: Any) -> Any:
            ga, gb = jax.grad(self.total, argnums=(0, 1))(a, b)
            return (ga * ga).sum() + (gb * gb).sum()

        run = jax.value_and_grad(penalty, argnums=(0, 1))
        run = jax.jit(run) if jit else run

        def check() -> list[float]:
            value, (ga, gb) = run(a, b)
            return [float(value), norm(ga), norm(gb)]

        return Task(lambda: jax.block_until_ready(run(a, b)), check)

    def autograd(self, autograd: Engine) -> Task:
        anp = autograd.numpy
        pair = self.data()
        gradient = autograd.grad(lambda pair: anp.sum(self.chain(*pair)))

        def penalty(pair: Any) -> Any:
            ga, gb = gradient(pair)
            return anp.sum(ga * ga) + anp.sum(gb * gb)

        run = autograd.value_and_grad(penalty)

        def check() -> list[float]:
            value, (ga, gb) = run(pair)
            return [float(value), norm(ga), norm(gb)]

        return Task(lambda: run(pair), check)

    def chain(self, a: Any, b: Any) -> Any:
        x = a
        for _ in range(self.ops // 2):
            x = x * b + a
        return x

    def total(self, a: Any, b: Any) -> Any:
        return self.chain(a, b).sum()


class DoubleMlp(Work):
    """y = tanh(x W1ᵀ) W2ᵀ, loss = mean (y - t)², penalty = |d loss / d W|². No biases: they add nothing here."""

    group: ClassVar[str] = "double"

    def __init__(self, sizes: tuple[int, int, int] = (32, 64, 16), batch: int = 16) -> None:
        self.sizes, self.batch = sizes, batch
        self.name = f"double-mlp-{'-'.join(map(str, sizes))}-b{batch}"

    def tiny(self) -> Self:
        return type(self)((4, 5, 3), 2)

    def data(self) -> tuple[Any, Any, Any, Any]:
        """-> W1 (H, I), W2 (O, H), x (N, I), t (N, O)"""
        i, h, o = self.sizes
        r = np.random.RandomState(4)
        arrays = r.randn(h, i) / np.sqrt(i), r.randn(o, h) / np.sqrt(h), r.randn(self.batch, i), r.randn(self.batch, o)
        w1, w2, x, t = (a.astype(np.float32) for a in arrays)
        return w1, w2, x, t

    def torch(self, torch: Engine) -> Task:
        a1, a2, x, t = self.data()
        w1, w2 = leaf(torch, a1), leaf(torch, a2)
        x, t = torch.tensor(x), torch.tensor(t)

        def step() -> Any:
            w1.grad = w2.grad = None
            d = (x @ w1.T).tanh() @ w2.T - t
            g1, g2 = torch.autograd.grad((d * d).mean(), (w1, w2), create_graph=True)
            penalty = (g1 * g1).sum() + (g2 * g2).sum()
            penalty.backward()
            return penalty

        return Task(step, lambda: [step().item(), grad_norm(w1), grad_norm(w2)])

    def numpy(self) -> Task:
        """d|g|²/dW = 2 H g, and H g is the derivative of the gradient along g (Pearlmutter 1994)."""
        w1, w2, x, t = self.data()
        scale = np.float32(2 / t.size)

        def step() -> tuple[float, Any, Any]:
            h = np.tanh(x @ w1.T)
            slope = 1 - h * h
            e = (h @ w2.T - t) * scale
            back = e @ w2
            delta = back * slope
            g1, g2 = delta.T @ x, e.T @ h
            # the same lines, differentiated along (g1, g2)
            dh = (x @ g1.T) * slope
            de = (dh @ w2.T + h @ g2.T) * scale
            ddelta = (de @ w2 + e @ g2) * slope - 2 * back * h * dh
            penalty = (g1 * g1).sum() + (g2 * g2).sum()
            return float(penalty), 2 * (ddelta.T @ x), 2 * (de.T @ h + e.T @ dh)

        def check() -> list[float]:
            value, g1, g2 = step()
            return [value, norm(g1), norm(g2)]

        return Task(step, check)

    def jax(self, jax: Engine, jit: bool) -> Task:
        jnp = jax.numpy
        w1, w2, x, t = (jnp.asarray(a) for a in self.data())

        def loss(w1: Any, w2: Any) -> Any:
            return ((jnp.tanh(x @ w1.T) @ w2.T - t) ** 2).mean()

        def penalty(w1: Any, w2: Any) -> Any:
            g1, g2 = jax.grad(loss, argnums=(0, 1))(w1, w2)
            return (g1 * g1).sum() + (g2 * g2).sum()

        run = jax.value_and_grad(penalty, argnums=(0, 1))
        run = jax.jit(run) if jit else run

        def check() -> list[float]:
            value, (g1, g2) = run(w1, w2)
            return [float(value), norm(g1), norm(g2)]

        return Task(lambda: jax.block_until_ready(run(w1, w2)), check)

    def autograd(self, autograd: Engine) -> Task:
        anp = autograd.numpy
        w1, w2, x, t = self.data()

        def loss(ws: Any) -> Any:
            return anp.mean((anp.dot(anp.tanh(anp.dot(x, ws[0].T)), ws[1].T) - t) ** 2)

        gradient = autograd.grad(loss)

        def penalty(ws: Any) -> Any:
            g1, g2 = gradient(ws)
            return anp.sum(g1 * g1) + anp.sum(g2 * g2)

        run = autograd.value_and_grad(penalty)

        def check() -> list[float]:
            value, (g1, g2) = run((w1, w2))
            return [float(value), norm(g1), norm(g2)]

        return Task(lambda: run((w1, w2)), check)


def works() -> list[Work]:
    return [DoubleChain(40, 8), DoubleMlp()]
