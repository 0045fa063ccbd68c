"""A step of gradient descent on three perceptrons: with plain tensors, and with nn.Module and optim.SGD."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Missing, Task, Work, grad_norm, leaf, norm, replay

LR = 1e-2


class Mlp(Work):
    """Linear-ReLU-...-Linear, mean squared error for one output, cross-entropy for more. N batch, I in, O out."""

    group: ClassVar[str] = "mlp"

    def __init__(self, sizes: tuple[int, ...], batch: int, modules: bool = False, adam: bool = False) -> None:
        """adam: instead of SGD, of modules."""
        self.sizes, self.batch, self.modules, self.adam = sizes, batch, modules, adam
        self.classes = sizes[-1] > 1
        self.name = f"mlp-{'-'.join(map(str, sizes))}-b{batch}" + ("-adam" if adam else "-modules" if modules else "")

    def tiny(self) -> Self:
        return type(self)((5, 7, 6, self.sizes[-1]), min(self.batch, 3), self.modules, self.adam)

    def plain(self) -> None:
        if self.adam:
            raise Missing("Adam is PyTorch's interface")

    def data(self) -> tuple[list[Any], list[Any], Any, Any]:
        """-> weights (O, I), biases (O,), x (N, I), y (N,) classes or (N, O) targets"""
        r = np.random.RandomState(1)
        ws = [(r.randn(o, i) / np.sqrt(i)).astype(np.float32) for i, o in itertools.pairwise(self.sizes)]
        bs = [np.zeros(o, np.float32) for o in self.sizes[1:]]
        x = r.randn(self.batch, self.sizes[0]).astype(np.float32)
        if self.classes:
            return ws, bs, x, r.randint(0, self.sizes[-1], size=self.batch).astype(np.int64)
        return ws, bs, x, r.randn(self.batch, self.sizes[-1]).astype(np.float32)

    def torch(self, torch: Engine) -> Task:
        return self.with_modules(torch) if self.modules else self.with_tensors(torch)

    def with_tensors(self, torch: Engine) -> Task:
        F = torch.nn.functional
        arrays_w, arrays_b, x, y = self.data()
        ws = [leaf(torch, w) for w in arrays_w]
        bs = [leaf(torch, b) for b in arrays_b]
        x, y = torch.tensor(x), torch.tensor(y)
        loss_of = F.cross_entropy if self.classes else F.mse_loss

        def loss() -> Any:
            h = x
            for w, b in zip(ws[:-1], bs[:-1], strict=True):
                h = F.relu(F.linear(h, w, b))
            return loss_of(F.linear(h, ws[-1], bs[-1]), y)

        def step() -> None:
            loss().backward()
            with torch.no_grad():
                for p in (*ws, *bs):
                    p.sub_(LR * p.grad)
                    p.grad = None

        def check() -> list[float]:
            value = loss()
            value.backward()
            found = [value.item(), grad_norm(*ws), grad_norm(*bs)]
            for p in (*ws, *bs):
                p.grad = None
            step()
            return [*found, loss().item()]

        return Task(step, check)

    def with_modules(self, torch: Engine) -> Task:
        nn: Any = getattr(torch, "nn", None)
        if not hasattr(nn, "Linear"):
            raise Missing("no nn.Linear")
        ws, bs, x, y = self.data()
        x, y = torch.tensor(x), torch.tensor(y)
        layers: list[Any] = []
        for w, b in zip(ws, bs, strict=True):
            linear = nn.Linear(w.shape[1], w.shape[0])
            with torch.no_grad():
                linear.weight.copy_(torch.tensor(w))
                linear.bias.copy_(torch.tensor(b))
            layers += [linear, nn.ReLU()]
        model = nn.Sequential(*layers[:-1])
        linears = layers[::2]
        descent = (torch.optim.Adam if self.adam else torch.optim.SGD)(model.parameters(), lr=LR)
        loss_of = nn.functional.cross_entropy if self.classes else nn.functional.mse_loss

        def backward() -> Any:
            descent.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            return loss

        def step() -> None:
            backward()
            descent.step()

        def check() -> list[float]:
            value = backward().item()
            norms = [grad_norm(*(m.weight for m in linears)), grad_norm(*(m.bias for m in linears))]
            step()
            return [value, *norms, loss_of(model(x), y).item()]

        return Task(step, check)

    def numpy(self) -> Task:
        self.plain()
        ws, bs, x, y = self.data()
        last = len(ws) - 1
        rows = np.arange(self.batch)

        def run() -> tuple[float, list[Any], list[Any]]:
            kept, h = [x], x
            for i, (w, b) in enumerate(zip(ws, bs, strict=True)):
                h = h @ w.T + b
                if i < last:
                    h = np.maximum(h, 0)
                    kept.append(h)
            if self.classes:
                z = h - h.max(1, keepdims=True)
                e = np.exp(z)
                s = e.sum(1, keepdims=True)
                loss = -(z - np.log(s))[rows, y].mean()
                g = e / s
                g[rows, y] -= 1
                g /= self.batch
            else:
                d = h - y
                loss = (d * d).mean()
                g = d * (2.0 / d.size)
            gws, gbs = [], []
            for i in range(last, -1, -1):
                gws.append(g.T @ kept[i])
                gbs.append(g.sum(0))
                if i:
                    g = g @ ws[i]
                    g = g * (kept[i] > 0)
            return float(loss), gws[::-1], gbs[::-1]

        def step() -> None:
            _, gws, gbs = run()
            for i in range(last + 1):
                ws[i] -= LR * gws[i]
                bs[i] -= LR * gbs[i]

        def check() -> list[float]:
            loss, gws, gbs = run()
            step()
            return [loss, norm(*gws), norm(*gbs), run()[0]]

        return Task(step, check)

    def jax(self, jax: Engine, jit: bool) -> Task:
        self.plain()
        jnp = jax.numpy
        arrays_w, arrays_b, x, y = self.data()
        params = [(jnp.asarray(w), jnp.asarray(b)) for w, b in zip(arrays_w, arrays_b, strict=True)]
        x, y = jnp.asarray(x), jnp.asarray(y)

        def loss(params: Any, x: Any, y: Any) -> Any:
            h = x
            for w, b in params[:-1]:
                h = jax.nn.relu(h @ w.T + b)
            w, b = params[-1]
            h = h @ w.T + b
            if self.classes:
                return -jnp.take_along_axis(jax.nn.log_softmax(h), y[:, None], 1).mean()
            return ((h - y) ** 2).mean()

        def update(params: Any, x: Any, y: Any) -> Any:
            grads = jax.grad(loss)(params, x, y)
            return jax.tree_util.tree_map(lambda p, g: p - LR * g, params, grads)

        run = jax.jit(update) if jit else update

        def step() -> None:
            nonlocal params
            params = jax.block_until_ready(run(params, x, y))

        def check() -> list[float]:
            value, grads = jax.value_and_grad(loss)(params, x, y)
            step()
            return [
                float(value), norm(*(g for g, _ in grads)), norm(*(g for _, g in grads)), float(loss(params, x, y)),
            ]  # fmt: skip

        return Task(step, check)

    def autograd(self, autograd: Engine) -> Task:
        self.plain()
        anp = autograd.numpy
        ws, bs, x, y = self.data()
        count, rows = len(ws), np.arange(self.batch)

        def loss(params: Any) -> Any:
            h = x
            for i in range(count):
                h = anp.dot(h, params[i].T) + params[count + i]
                if i < count - 1:
                    h = anp.maximum(h, 0)
            if not self.classes:
                return anp.mean((h - y) ** 2)
            z = h - anp.max(h, axis=1, keepdims=True)
            return -anp.mean((z - anp.log(anp.sum(anp.exp(z), axis=1, keepdims=True)))[rows, y])

        run = autograd.value_and_grad(loss)
        params = [*ws, *bs]
        rate = np.float32(LR)

        def step() -> None:
            _, grads = run(params)
            for i, g in enumerate(grads):
                params[i] = params[i] - rate * g

        def check() -> list[float]:
            value, grads = run(params)
            step()
            return [float(value), norm(*grads[:count]), norm(*grads[count:]), float(loss(params))]

        return Task(step, check)

    def tinygrad(self, tinygrad: Engine) -> Task:
        self.plain()
        arrays_w, arrays_b, x, y = self.data()
        ws, bs = ([tinygrad.Tensor(v).realize() for v in arrays] for arrays in (arrays_w, arrays_b))
        x, y = tinygrad.Tensor(x).realize(), tinygrad.Tensor(y).realize()

        def loss() -> Any:
            h = x
            for w, b in zip(ws[:-1], bs[:-1], strict=True):
                h = h.linear(w.T, b).relu()
            h = h.linear(ws[-1].T, bs[-1])
            return h.sparse_categorical_crossentropy(y) if self.classes else ((h - y) ** 2).mean()

        def results() -> list[Any]:
            grads = loss().gradient(*ws, *bs)
            return [p.assign(p - LR * g) for p, g in zip((*ws, *bs), grads, strict=True)]

        step = replay(tinygrad, results)

        def check() -> list[float]:
            now = loss()
            value, *grads = (t.numpy() for t in (now, *now.gradient(*ws, *bs)))
            step()
            return [float(value), norm(*grads[:len(ws)]), norm(*grads[len(ws):]), float(loss().numpy())]

        return Task(step, check)

    def mygrad(self, mygrad: Engine) -> Task:
        self.plain()
        arrays_w, arrays_b, x, y = self.data()
        ws = [mygrad.tensor(w) for w in arrays_w]
        bs = [mygrad.tensor(b) for b in arrays_b]
        last = len(ws) - 1

        def loss() -> Any:
            h = x
            for i, (w, b) in enumerate(zip(ws, bs, strict=True)):
                h = mygrad.matmul(h, w.T) + b
                if i < last:
                    h = mygrad.nnet.activations.relu(h)
            return mygrad.nnet.losses.softmax_crossentropy(h, y) if self.classes else mygrad.mean((h - y) ** 2)

        def step() -> None:
            loss().backward()
            for p in (*ws, *bs):
                p.data -= LR * p.grad

        def check() -> list[float]:
            value = loss()
            value.backward()
            norms = [norm(*(w.grad for w in ws)), norm(*(b.grad for b in bs))]
            step()
            return [float(value.item()), *norms, float(loss().item())]

        return Task(step, check)


def works() -> list[Work]:
    shapes = [((4, 16, 16, 1), 1), ((64, 64, 64, 10), 32), ((784, 512, 512, 10), 128)]
    return [*[Mlp(sizes, batch, modules) for modules in (False, True) for sizes, batch in shapes], Mlp(*shapes[0], True, True)]
