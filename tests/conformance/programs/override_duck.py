"""A matrix that is no tensor: a diagonal, as in the tutorial on extending torch."""

import torch

from _log import T


class Diagonal:
    def __init__(self, n, value):
        self._n, self._value = n, value

    def __repr__(self):
        return f"Diagonal(n={self._n}, value={self._value})"

    def tensor(self):
        return self._value * torch.eye(self._n)

    @property
    def shape(self):
        return torch.Size((self._n, self._n))

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.mean:
            return float(args[0]._value) / args[0]._n
        if func is torch.add:
            a, b = args
            if isinstance(a, Diagonal) and isinstance(b, Diagonal):
                return Diagonal(a._n, a._value + b._value)
            return torch.add(ensure(a), ensure(b))
        if func is torch.Tensor.add:
            return torch.add(*args)
        return func(*[ensure(a) for a in args], **{k: ensure(v) for k, v in kwargs.items()})


def ensure(x):
    if isinstance(x, Diagonal):
        return x.tensor()
    return [ensure(y) for y in x] if isinstance(x, list) else x


d = Diagonal(2, 3.0)
x = torch.arange(4.0).reshape(2, 2)
T("mean", torch.mean, d)
T("add", torch.add, d, d)
T("add a tensor", torch.add, d, x)
T("tensor + d", lambda: x + d)
T("matmul", torch.matmul, x, d)
T("mm", torch.mm, d, x)
T("tensor @ d", lambda: x @ d)
T("tensor * d", lambda: x * d)
T("2 ** d", lambda: torch.pow(2.0, d))
T("tensor == d", lambda: x == d)
T("x.mul", lambda: x.mul(d))
T("x.mul_", lambda: x.clone().mul_(d))
T("stack", torch.stack, [d, x])
T("linear", torch.nn.functional.linear, x, d)
T("relu", torch.relu, d)
T("F.relu", torch.nn.functional.relu, d)
T("sum", torch.sum, d, dim=0)
T("where", torch.where, x > 1, x, d)
T("inv", torch.linalg.inv, d)
T("softmax", torch.softmax, d, -1)
T("mse", torch.nn.functional.mse_loss, x, d)
T("out", lambda: torch.add(x, x, out=torch.empty(2, 2)))
T("a layer", lambda: torch.nn.Linear(2, 1, bias=False)(d).shape)
T("no tensor", torch.add, x, object())
print(torch.is_tensor(d), torch.overrides.is_tensor_like(d))
