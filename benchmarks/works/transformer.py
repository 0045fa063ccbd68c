"""Forward and backward of one pre-norm transformer block with a causal mask.

Twice: `transformer` with layer_norm, gelu and softmax of nn.functional; `transformer-plain` with those written out.
Shapes: B batch, T tokens, D width, H heads.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Missing, Task, Work, grad_norm, leaf, norm

GELU = math.sqrt(2 / math.pi)
CUBE = 0.044715
EPS = 1e-5


class Transformer(Work):
    group: ClassVar[str] = "transformer"

    def __init__(self, plain: bool, batch: int = 4, tokens: int = 64, width: int = 128, heads: int = 4) -> None:
        self.plain, self.shape, self.heads = plain, (batch, tokens, width), heads
        self.name = "transformer" + ("-plain" if plain else "")

    def tiny(self) -> Self:
        return type(self)(self.plain, 2, 5, 8, 2)

    def data(self) -> tuple[dict[str, Any], Any, Any]:
        """-> parameters, x (B, T, D), mask (T, T) to add to the scores"""
        _, t, d = self.shape
        r = np.random.RandomState(2)
        params = {
            "n1w": np.ones(d), "n1b": np.zeros(d), "n2w": np.ones(d), "n2b": np.zeros(d),
            "qkvw": r.randn(3 * d, d) / np.sqrt(d), "qkvb": np.zeros(3 * d),
            "ow": r.randn(d, d) / np.sqrt(d), "ob": np.zeros(d),
            "upw": r.randn(4 * d, d) / np.sqrt(d), "upb": np.zeros(4 * d),
            "downw": r.randn(d, 4 * d) / np.sqrt(4 * d), "downb": np.zeros(d),
        }  # fmt: skip
        x = r.randn(*self.shape).astype(np.float32)
        mask = np.triu(np.full((t, t), -1e9, np.float32), 1)
        return {name: p.astype(np.float32) for name, p in params.items()}, x, mask

    def torch(self, torch: Engine) -> Task:
        F = torch.nn.functional
        (b, t, d), h = self.shape, self.heads
        arrays, x, mask = self.data()
        p = {name: leaf(torch, a) for name, a in arrays.items()}
        x, mask = leaf(torch, x), torch.tensor(mask)
        scale = (d // h) ** -0.5

        def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
            centred = x - x.mean(-1, keepdim=True)
            var = (centred * centred).mean(-1, keepdim=True)
            return centred / (var + EPS).sqrt() * weight + bias

        def softmax(x: Any) -> Any:
            e = (x - x.detach().amax(-1, keepdim=True)).exp()
            return e / e.sum(-1, keepdim=True)

        def gelu(x: Any) -> Any:
            return 0.5 * x * (1 + (GELU * (x + CUBE * x * x * x)).tanh())

        if not self.plain:
            for name in ("layer_norm", "gelu", "softmax"):
                if not hasattr(F, name):
                    raise Missing(f"no nn.functional.{name}")

            def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
                return F.layer_norm(x, (d,), weight, bias, EPS)

            def softmax(x: Any) -> Any:
                return F.softmax(x, -1)

            def gelu(x: Any) -> Any:
                return F.gelu(x, approximate="tanh")

        def loss() -> Any:
            qkv = F.linear(layer_norm(x, p["n1w"], p["n1b"]), p["qkvw"], p["qkvb"])
            q, k, v = qkv.view(b, t, 3, h, d // h).permute(2, 0, 3, 1, 4)
            attention = softmax(q @ k.transpose(-1, -2) * scale + mask)
            mixed = (attention @ v).transpose(1, 2).reshape(b, t, d)
            y = x + F.linear(mixed, p["ow"], p["ob"])
            up = gelu(F.linear(layer_norm(y, p["n2w"], p["n2b"]), p["upw"], p["upb"]))
            y = y + F.linear(up, p["downw"], p["downb"])
            return (y * y).mean()

        def step() -> Any:
            x.grad = None
            for q in p.values():
                q.grad = None
            value = loss()
            value.backward()
            return value

        return Task(step, lambda: [step().item(), grad_norm(*p.values()), grad_norm(x)])

    def numpy(self) -> Task:
        (b, t, d), h = self.shape, self.heads
        p, x, mask = self.data()
        f4 = np.float32
        scale = f4((d // h) ** -0.5)

        def layer_norm(x: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
            centred = x - x.mean(-1, keepdims=True)
            inverse = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + f4(EPS))
            unit = centred * inverse
            return unit * weight + bias, unit, inverse

        def layer_norm_back(g: Any, weight: Any, unit: Any, inverse: Any) -> tuple[Any, Any, Any]:
            gu = g * weight
            gx = (gu - gu.mean(-1, keepdims=True) - unit * (gu * unit).mean(-1, keepdims=True)) * inverse
            return gx, (g * unit).reshape(-1, d).sum(0), g.reshape(-1, d).sum(0)

        def step() -> tuple[float, dict[str, Any], Any]:
            n1, unit1, inverse1 = layer_norm(x, p["n1w"], p["n1b"])
            flat1 = n1.reshape(-1, d)
            q, k, v = (flat1 @ p["qkvw"].T + p["qkvb"]).reshape(b, t, 3, h, d // h).transpose(2, 0, 3, 1, 4)
            s = q @ k.swapaxes(-1, -2) * scale + mask
            a = np.exp(s - s.max(-1, keepdims=True))
            a /= a.sum(-1, keepdims=True)
            mixed = (a @ v).transpose(0, 2, 1, 3).reshape(-1, d)
            y1 = x + (mixed @ p["ow"].T + p["ob"]).reshape(b, t, d)
            n2, unit2, inverse2 = layer_norm(y1, p["n2w"], p["n2b"])
            flat2 = n2.reshape(-1, d)
            u = flat2 @ p["upw"].T + p["upb"]
            uu = u * u
            th = np.tanh(f4(GELU) * (u + f4(CUBE) * uu * u))
            act = f4(0.5) * u * (1 + th)
            y = y1 + (act @ p["downw"].T + p["downb"]).reshape(b, t, d)
            loss = (y * y).mean()

            grads: dict[str, Any] = {}
            g = y * f4(2 / y.size)
            g2 = g.reshape(-1, d)
            grads["downw"], grads["downb"] = g2.T @ act, g2.sum(0)
            slope = f4(0.5) * (1 + th) + f4(0.5 * GELU) * u * (1 - th * th) * (1 + f4(3 * CUBE) * uu)
            gu = (g2 @ p["downw"]) * slope
            grads["upw"], grads["upb"] = gu.T @ flat2, gu.sum(0)
            gn = (gu @ p["upw"]).reshape(b, t, d)
            gy, grads["n2w"], grads["n2b"] = layer_norm_back(gn, p["n2w"], unit2, inverse2)
            g = g + gy
            g2 = g.reshape(-1, d)
            grads["ow"], grads["ob"] = g2.T @ mixed, g2.sum(0)
            go = (g2 @ p["ow"]).reshape(b, t, h, d // h).transpose(0, 2, 1, 3)
            gv = a.swapaxes(-1, -2) @ go
            ga = go @ v.swapaxes(-1, -2)
            gs = a * (ga - (ga * a).sum(-1, keepdims=True)) * scale
            gqkv = np.stack([gs @ k, gs.swapaxes(-1, -2) @ q, gv]).transpose(1, 3, 0, 2, 4).reshape(-1, 3 * d)
            grads["qkvw"], grads["qkvb"] = gqkv.T @ flat1, gqkv.sum(0)
            gn = (gqkv @ p["qkvw"]).reshape(b, t, d)
            gx, grads["n1w"], grads["n1b"] = layer_norm_back(gn, p["n1w"], unit1, inverse1)
            return float(loss), grads, g + gx

        def check() -> list[float]:
            loss, grads, gx = step()
            return [loss, norm(*grads.values()), norm(gx)]

        return Task(step, check)

    def jax(self, jax: Engine, jit: bool) -> Task:
        jnp = jax.numpy
        (b, t, d), h = self.shape, self.heads
        arrays, x, mask = self.data()
        p = {name: jnp.asarray(a) for name, a in arrays.items()}
        x = jnp.asarray(x)

        def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
            centred = x - x.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + EPS) * weight + bias

        def loss(p: Any, x: Any) -> Any:
            qkv = layer_norm(x, p["n1w"], p["n1b"]) @ p["qkvw"].T + p["qkvb"]
            q, k, v = qkv.reshape(b, t, 3, h, d // h).transpose(2, 0, 3, 1, 4)
            attention = jax.nn.softmax(q @ k.swapaxes(-1, -2) * (d // h) ** -0.5 + mask, -1)
            y = x + (attention @ v).swapaxes(1, 2).reshape(b, t, d) @ p["ow"].T + p["ob"]
            up = jax.nn.gelu(layer_norm(y, p["n2w"], p["n2b"]) @ p["upw"].T + p["upb"], approximate=True)
            y = y + up @ p["downw"].T + p["downb"]
            return (y * y).mean()

        run = jax.value_and_grad(loss, argnums=(0, 1))
        run = jax.jit(run) if jit else run

        def check() -> list[float]:
            value, (grads, gx) = run(p, x)
            return [float(value), norm(*grads.values()), norm(gx)]

        return Task(lambda: jax.block_until_ready(run(p, x)), check)

    def autograd(self, autograd: Engine) -> Task:
        anp = autograd.numpy
        arrays, x, mask = self.data()
        run = autograd.value_and_grad(lambda pair: self.with_numpy_names(anp, pair[0], pair[1], mask))

        def check() -> list[float]:
            value, (grads, gx) = run((arrays, x))
            return [float(value), norm(*grads.values()), norm(gx)]

        return Task(lambda: run((arrays, x)), check)

    def mygrad(self, mygrad: Engine) -> Task:
        arrays, x, mask = self.data()
        p = {name: mygrad.tensor(a) for name, a in arrays.items()}
        x = mygrad.tensor(x)

        def step() -> Any:
            loss = self.with_numpy_names(mygrad, p, x, mask)
            loss.backward()
            return loss

        def check() -> list[float]:
            return [float(step().item()), norm(*(q.grad for q in p.values())), norm(x.grad)]

        return Task(step, check)

    def with_numpy_names(self, xp: Any, p: Any, x: Any, mask: Any) -> Any:
        """The loss in NumPy's vocabulary, for engines that copy it."""
        (b, t, d), h = self.shape, self.heads

        def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
            centred = x - xp.mean(x, axis=-1, keepdims=True)
            var = xp.mean(centred * centred, axis=-1, keepdims=True)
            return centred / xp.sqrt(var + EPS) * weight + bias

        qkv = xp.matmul(layer_norm(x, p["n1w"], p["n1b"]), p["qkvw"].T) + p["qkvb"]
        qkv = xp.transpose(xp.reshape(qkv, (b, t, 3, h, d // h)), (2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        s = xp.matmul(q, xp.swapaxes(k, -1, -2)) * (d // h) ** -0.5 + mask
        e = xp.exp(s - xp.max(s, axis=-1, keepdims=True))
        attention = e / xp.sum(e, axis=-1, keepdims=True)
        mixed = xp.reshape(xp.transpose(xp.matmul(attention, v), (0, 2, 1, 3)), (b, t, d))
        y = x + xp.matmul(mixed, p["ow"].T) + p["ob"]
        u = xp.matmul(layer_norm(y, p["n2w"], p["n2b"]), p["upw"].T) + p["upb"]
        act = 0.5 * u * (1 + xp.tanh(GELU * (u + CUBE * u * u * u)))
        y = y + xp.matmul(act, p["downw"].T) + p["downb"]
        return xp.mean(y * y)


def works() -> list[Work]:
    return [Transformer(plain=False), Transformer(plain=True)]
