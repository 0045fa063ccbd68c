"""Where gradients serve a computation: parameters of a differential equation, and Hamiltonian Monte Carlo."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Task, Work, grad_norm, leaf, norm

TRUE = (1.1, 0.4, 0.4, 0.1)  # Lotka-Volterra: growth, predation, death, feeding
GUESS = (1.0, 0.5, 0.5, 0.2)


class OdeFit(Work):
    """Gradient of the misfit of predator and prey, integrated by classical Runge-Kutta, with respect to four parameters.

    The state is one tensor (2,); the step of time 0.1.
    """

    group: ClassVar[str] = "science"
    rtol = 5e-3

    def __init__(self, steps: int = 40) -> None:
        self.steps = steps
        self.name = f"ode-fit-{steps}"

    def tiny(self) -> Self:
        return type(self)(3)

    def path(self, xp: Any, theta: Any, state: Any, stack: Any) -> list[Any]:
        """The states after each step, in the vocabulary of the engine."""
        a, b, c, d = theta[0], theta[1], theta[2], theta[3]
        dt = 0.1

        def slope(s: Any) -> Any:
            x, y = s[0], s[1]
            return stack([x * (a - b * y), y * (d * x - c)])

        found = []
        for _ in range(self.steps):
            k1 = slope(state)
            k2 = slope(state + k1 * (dt / 2))
            k3 = slope(state + k2 * (dt / 2))
            k4 = slope(state + k3 * dt)
            state = state + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (dt / 6)
            found.append(state)
        return found

    def data(self) -> tuple[Any, Any, Any]:
        """-> guess (4,), start (2,), observed (steps, 2)"""
        start = np.array([10.0, 5.0], np.float32)
        seen = np.stack(self.path(np, np.array(TRUE, np.float32), start, np.stack)).astype(np.float32)
        return np.array(GUESS, np.float32), start, seen

    def torch(self, torch: Engine) -> Task:
        guess, start, seen = self.data()
        theta, start, seen = leaf(torch, guess), torch.tensor(start), torch.tensor(seen)

        def step() -> Any:
            theta.grad = None
            off = torch.stack(self.path(torch, theta, start, torch.stack)) - seen
            loss = (off * off).mean()
            loss.backward()
            return loss

        return Task(step, lambda: [step().item(), grad_norm(theta)])

    def jax(self, jax: Engine, jit: bool) -> Task:
        jnp = jax.numpy
        guess, start, seen = (jnp.asarray(v) for v in self.data())

        def loss(theta: Any) -> Any:
            off = jnp.stack(self.path(jnp, theta, start, jnp.stack)) - seen
            return (off * off).mean()

        run = jax.value_and_grad(loss)
        run = jax.jit(run) if jit else run

        def check() -> list[float]:
            value, g = run(guess)
            return [float(value), norm(g)]

        return Task(lambda: jax.block_until_ready(run(guess)), check)

    def autograd(self, autograd: Engine) -> Task:
        anp = autograd.numpy
        guess, start, seen = self.data()

        def loss(theta: Any) -> Any:
            off = anp.stack(self.path(anp, theta, start, anp.stack)) - seen
            return anp.mean(off * off)

        run = autograd.value_and_grad(loss)

        def check() -> list[float]:
            value, g = run(guess)
            return [float(value), norm(g)]

        return Task(lambda: run(guess), check)


class Hmc(Work):
    """One proposal of Hamiltonian Monte Carlo: leapfrog steps on the posterior of a logistic regression.

    N observations, D coefficients. Momenta are fixed, so that every engine takes the same path (Neal 2011).
    """

    group: ClassVar[str] = "science"

    def __init__(self, leaps: int = 20, observations: int = 200, width: int = 10) -> None:
        self.leaps, self.sizes = leaps, (observations, width)
        self.name = f"hmc-{leaps}-leaps-{observations}x{width}"

    def tiny(self) -> Self:
        return type(self)(3, 8, 2)

    def data(self) -> tuple[Any, Any, Any, Any]:
        """-> x (N, D), y (N,) in {0, 1}, coefficients (D,), momentum (D,)"""
        n, d = self.sizes
        r = np.random.RandomState(13)
        x, w, p = (r.randn(*s).astype(np.float32) for s in ((n, d), (d,), (d,)))
        return x, (r.rand(n) < 1 / (1 + np.exp(-x @ w))).astype(np.float32), np.zeros(d, np.float32), p

    def torch(self, torch: Engine) -> Task:
        F = torch.nn.functional
        x, y, q0, p0 = self.data()
        x, y, p0 = torch.tensor(x), torch.tensor(y), torch.tensor(p0)

        def energy(q: Any) -> Any:
            return F.binary_cross_entropy_with_logits(x @ q, y, reduction="sum") + (q * q).sum() * 0.5

        def force(q: Any) -> Any:
            (g,) = torch.autograd.grad(energy(q), (q,))
            return g

        def propose() -> tuple[Any, Any]:
            q, p = leaf(torch, q0), p0
            p = p - 0.025 * force(q)
            for i in range(self.leaps):
                q = (q.detach() + 0.05 * p).requires_grad_()
                p = p - (0.05 if i + 1 < self.leaps else 0.025) * force(q)
            return q.detach(), p

        def check() -> list[float]:
            q, p = propose()
            return [energy(q).item() + 0.5 * (p * p).sum().item(), norm(q.numpy())]

        return Task(propose, check)

    def numpy(self) -> Task:
        x, y, q0, p0 = self.data()

        def force(q: Any) -> Any:
            return x.T @ (1 / (1 + np.exp(-(x @ q))) - y) + q

        def propose() -> tuple[Any, Any]:
            q, p = q0, p0 - np.float32(0.025) * force(q0)
            for i in range(self.leaps):
                q = q + np.float32(0.05) * p
                p = p - np.float32(0.05 if i + 1 < self.leaps else 0.025) * force(q)
            return q, p

        def check() -> list[float]:
            q, p = propose()
            z = x @ q
            loss = (np.logaddexp(0, z) - y * z).sum() + (q * q).sum() / 2
            return [float(loss) + 0.5 * float((p * p).sum()), norm(q)]

        return Task(propose, check)


def works() -> list[Work]:
    return [OdeFit(), Hmc()]
