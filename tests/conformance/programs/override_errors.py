"""Who is asked first, and what is raised where all decline."""

import torch
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode

from _log import T

F = torch.nn.functional


class R(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("   asked", cls.__name__, [t.__name__ for t in types])
        return NotImplemented


class R1(R):
    pass


class R2(R):
    pass


class R11(R1):
    pass


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("   asked", cls.__name__, [t.__name__ for t in types])
        return NotImplemented


class Raises(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise TypeError("mine")


class Declines(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented

    def __repr__(self):
        return "Declines()"


class Classy(TorchFunctionMode):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return 7


class Lacking(TorchFunctionMode):
    pass


p = torch.ones(2)
r, r1, r2, r11, e = (p.clone().as_subclass(c) for c in (R, R1, R2, R11, Raises))
d = Duck()
CALLS = """
torch.add(r, r1)
torch.add(r1, r)
torch.stack([r, r1, r2, r11])
torch.stack([p, r2, p, r1])
F.linear(r, r2, r11)
F.linear(p, p, r)
F.mse_loss(p, r)
F.mse_loss(r, r1)
F.mse_loss(p, d)
F.relu(d)
F.gelu(d)
F.dropout(d)
torch.addmm(r, r2, r1)
torch.add(p, r, out=r1)
torch.einsum('i,i,i', r, r1, p)
r.add(r1)
r + r1
r1 + r
p + r
r - r1
r == r1
p < r
2 - r
-r
r[r1]
r[0, r1]
p[d]
p.__setitem__(0, d)
r.shape
r.T
r.grad
r.dim()
r.split(1)
len(r)
bool(r)
r.backward()
torch.add(p, d)
torch.add(d, d)
torch.max(d)
torch.sum(p, dim=d)
torch.cat([p, d])
torch.where(p > 0, p, d)
torch.ones_like(d)
torch.zeros(d)
torch.is_tensor(d)
torch.is_floating_point(d)
torch.numel(d)
torch.norm(d)
torch.clamp(p, min=d)
torch.sin(p, out=d)
torch.equal(p, d)
torch.nn.Linear(2, 2)(d)
p + d
d + p
p * d
d @ p
p == d
d == p
p.add(d)
p.add_(d)
p.copy_(d)
torch.Tensor.add(d, p)
torch.autograd.grad(r, p)
e + 1
1 - e
e == 1
torch.add(e, 1)
e.shape
-e
"""
for call in CALLS.strip().splitlines():
    T(call, lambda: eval(call))
for call in ("torch.add(p, p)", "p + p", "p.sum()", "torch.ones(2)", "p.split(1)", "torch.add(r, r1)", "r.shape", "F.relu(r)",
             "repr(r)"):
    def inside():
        with Declines():
            return eval(call)
    T(f"{call} where the mode declines", inside)


def within(mode):
    with mode:
        return torch.ones(1)


T("a class method", within, Classy())
T("no method", within, Lacking())
T("the base", within, BaseTorchFunctionMode())
T("afterwards", torch.ones, 1)
