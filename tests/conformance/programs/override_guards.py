"""Switching it off: guards, disabled classes, Parameters, subclasses of subclasses."""

import threading

import torch
from torch.overrides import TorchFunctionMode


class Sub(torch.Tensor):
    pass


class Off(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


class Below(Sub):
    pass


class Held(torch.nn.Parameter):
    pass


def name(v):
    return type(v).__name__


p = torch.ones(2)
sub, off, below, held = p.as_subclass(Sub), p.as_subclass(Off), p.as_subclass(Below), Held(p)
print([name(v) for v in (sub + 1, off + 1, below + 1, held + 1)])
print([name(v) for v in (sub + below, below + sub, sub + off, off + sub, sub + held, p + below)])
print([name(v) for v in (torch.stack([sub, below]), torch.cat([off, sub]), torch.nn.functional.relu(below))])
with torch._C.DisableTorchFunctionSubclass():
    print([name(v) for v in (sub + 1, below.sum(), torch.stack([sub, sub]), sub.detach(), sub[0], sub.add_(0))])


class Twice(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **kwargs or {})
        return out * 2 if func is torch.Tensor.add else out


with Twice():
    print((p + 1).tolist(), name(sub + 1), (sub + 1).tolist())
    with torch._C.DisableTorchFunctionSubclass():
        print((p + 1).tolist(), name(sub + 1))
    with torch._C.DisableTorchFunction():
        print((p + 1).tolist(), name(sub + 1))
    found = []
    thread = threading.Thread(target=lambda: found.append((p + 1).tolist()))
    thread.start()
    thread.join()
    print(found)
made = torch.Tensor._make_subclass(Below, torch.ones(1), True)
print(name(made), made.requires_grad, made.is_leaf, name(made * 2))
print(name(p.as_subclass(Below).as_subclass(torch.Tensor)))


class Typed(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        if func in (torch.Tensor.grad.__get__, torch.Tensor.shape.__get__):
            print("  property", func.__name__, name(out))
        return out


t = p.clone().as_subclass(Typed).requires_grad_()
(t * 2).sum().backward()
print(name(t.grad), t.shape, name(t.data), name(t.grad_fn), t.requires_grad, t.dtype)
for v in (sub, off, below):
    print(name(v), repr(v), name(v.clone()), name(v.view(2)), name(v.T if v.ndim == 2 else v.flip(0)))
print(name(sub.max(0).values), [name(v) for v in sub], name(sub.tolist()), name(sub == sub), bool((sub == sub).all()))
