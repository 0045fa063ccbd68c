"""Backward passes beside subclasses and modes: hooks, custom functions, create_graph, saved tensors."""

import torch
from torch.overrides import TorchFunctionMode, resolve_name


class Sub(torch.Tensor):
    told = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.told.append(resolve_name(func) or func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


def told():
    out = list(Sub.told)
    Sub.told.clear()
    return out


x = torch.ones(2).as_subclass(Sub).requires_grad_()
told()
y = (x * x * 3).sum()
print(told(), type(y).__name__)
y.backward()
print(told())
print(type(x.grad).__name__, x.grad.tolist(), told())
g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
print(type(g).__name__, g.requires_grad, told())
g2, = torch.autograd.grad(g.sum(), x)
print(type(g2).__name__, g2.tolist(), told())
y = x * 2
y.register_hook(lambda g: print("  hook", type(g).__name__) or g * 2)
y.sum().backward()
print(told())


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        saved, = ctx.saved_tensors
        print("  backward", type(g).__name__, type(saved).__name__)
        return g * 2 + saved * 0


z = Double.apply(x)
print(type(z).__name__, told())
z.sum().backward()
print(told())


class Log(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print("  mode", resolve_name(func) or func.__name__)
        return func(*args, **kwargs or {})


w = torch.ones(2, requires_grad=True)


def hook(g):
    with Log():
        return g * 3


v = w * 2
v.register_hook(hook)
v.sum().backward()
print(w.grad.tolist())
with Log():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t + 0):
        out = (w * w).sum()
    out.backward()
print(w.grad.tolist())
