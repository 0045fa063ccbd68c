"""Calls of programs from PyTorch's first years that it still takes: numbers before tensors, and Tensor.new."""

import numpy as np
import torch

from _log import P, T, t

a, b, c = torch.ones(2), torch.arange(2.0), torch.tensor([3.0, 4.0])
m, s = torch.ones(2, 2), torch.ones(1, 2, 2)

# the first of them warns, once in a process
T("add_ first", lambda: a.clone().add_(2, b))
T("add_", lambda: a.clone().add_(2, b))
for name in ("add", "sub"):
    T(f"torch.{name}", getattr(torch, name), a, 2, b)
    T(f"torch.{name} out", lambda: getattr(torch, name)(a, 2, b, out=torch.empty(2)))
    T(f"{name}", getattr(a, name), 2, b)
    T(f"{name}_", getattr(a.clone(), name + "_"), 2, b)
    T(f"{name} of numbers", getattr(a, name), 2, 3)
for name in ("addcmul", "addcdiv"):
    T(f"torch.{name}", getattr(torch, name), a, 2, b, c)
    T(f"{name}", getattr(a, name), 2, b, c)
    T(f"{name}_", getattr(a.clone(), name + "_"), 2, b, c)
    T(f"{name} with a tensor of one number", getattr(a, name), torch.tensor(2), b, c)
for name, x, y, z in (("addmm", m, m, m), ("addmv", a, m, a), ("addr", m, a, a), ("addbmm", m, s, s), ("baddbmm", s, s, s)):
    T(f"torch.{name} beta alpha", getattr(torch, name), 2, x, 3, y, z)
    T(f"torch.{name} beta", getattr(torch, name), 2, x, y, z)
    T(f"{name} beta alpha", getattr(x, name), 2, 3, y, z)
    T(f"{name} beta", getattr(x, name), 2, y, z)
    T(f"{name}_ beta alpha", getattr(x.clone(), name + "_"), 2, 3, y, z)
    T(f"{name}_ beta", getattr(x.clone(), name + "_"), 2, y, z)
T("out", lambda: torch.addmm(2, m, 3, m, m, out=torch.empty(2, 2)))
T("four", lambda: torch.add(a, 2, b, 3))
T("number first", lambda: torch.add(2, a, b))
T("wrong order", lambda: torch.add(a, b, 2))
T("no tensor", lambda: a.addcmul_(2, b))

w = t([1.0, 2.0])
w.add(3, w * w).sum().backward()
P(w.grad)

T("new", a.new)
T("new sizes", lambda: a.new(2, 3).shape)
T("new Size", lambda: a.new(torch.Size([2, 3])).shape)
T("new size=", lambda: a.new(size=(2,)).shape)
T("new data", a.new, [2.5, 3])
T("new tuple", a.new, (2, 3))
T("new nested", a.new, [[1, 2], [3, 4]])
T("new data=", lambda: a.new(data=[1]))
T("new range", a.new, range(3))
T("new array", a.new, np.ones(2))
T("new of ints", a.long().new, [2.7])
T("new of bools", a.bool().new, [0, 1])
T("new of half", lambda: a.half().new(2, 2).dtype)
T("new of a parameter", torch.nn.Parameter(a).new, [1.0])
T("new of a tensor", lambda: (a.new(b), a.new(b).data_ptr() == b.data_ptr(), a.requires_grad_().new(b).requires_grad))
T("new of another dtype", a.new, b.double())
T("new of a scalar", a.new, torch.tensor(3))
T("new of a float", a.new, 3.5)
T("new of a text", a.new, "x")
T("new negative", a.new, -1)
T("new sizes and a list", a.new, 2, [1])

for flags in ((None, None), (True, True), (False, True), (True, False), (None, False)):
    T(f"reduction of {flags}", torch.nn._reduction.legacy_get_string, *flags)
    T(f"number of {flags}", torch.nn._reduction.legacy_get_enum, *flags, emit_warning=False)
for reduction in ("none", "mean", "sum", "elementwise_mean", "other"):
    T(f"number of {reduction}", torch.nn._reduction.get_enum, reduction)
