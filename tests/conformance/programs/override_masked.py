"""A masked tensor, by a table of handlers, as tutorials write it."""

import functools

import torch

from _log import T

HANDLED = {}


def implements(*functions):
    def decorator(f):
        for function in functions:
            functools.update_wrapper(f, function)
            HANDLED[function] = f
        return f
    return decorator


class Masked:
    def __init__(self, data, mask):
        self.data, self.mask = data, mask

    def __repr__(self):
        return f"Masked({self.data.masked_fill(~self.mask, 0.0).tolist()}, {self.mask.tolist()})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, Masked)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **kwargs or {})


def parts(x):
    return (x.data, x.mask) if isinstance(x, Masked) else (x, torch.ones_like(x, dtype=torch.bool))


@implements(torch.add, torch.Tensor.add)
def add(a, b):
    (x, m), (y, n) = parts(a), parts(b)
    return Masked(x + y, m & n)


@implements(torch.sum)
def total(a, dim=None):
    return a.data.masked_fill(~a.mask, 0.0).sum() if dim is None else a.data.masked_fill(~a.mask, 0.0).sum(dim)


@implements(torch.mean)
def mean(a):
    return torch.sum(a) / a.mask.sum()


@implements(torch.nn.functional.relu)
def relu(a, inplace=False):
    return Masked(torch.nn.functional.relu(a.data), a.mask)


@implements(torch.stack)
def stack(tensors, dim=0):
    return Masked(torch.stack([parts(t)[0] for t in tensors], dim), torch.stack([parts(t)[1] for t in tensors], dim))


x = Masked(torch.tensor([1.0, -2.0, 3.0]), torch.tensor([True, True, False]))
p = torch.tensor([10.0, 20.0, 30.0])
T("add", torch.add, x, p)
T("tensor + masked", lambda: p + x)
T("sum", torch.sum, x)
T("sum over dim", torch.sum, x, dim=0)
T("mean", torch.mean, x)
T("relu", torch.nn.functional.relu, x)
T("stack", torch.stack, [x, p, x])
T("mul", torch.mul, x, p)
T("tensor * masked", lambda: p * x)
T("exp", torch.exp, x)
T("gelu", torch.nn.functional.gelu, x)
T("softmax", torch.nn.functional.softmax, x)
