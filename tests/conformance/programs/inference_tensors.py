"""inference_mode: flags, versions, views, what may be done with its tensors afterwards."""

import copy

import torch

from _log import T, t

x = t([1.0, 2.0])
n = torch.ones(2)
with torch.inference_mode():
    i = x * 2
    j = torch.zeros(2)
    v = n.view(2)
    w = i[0]
    c = x.clone()
    print([q.is_inference() for q in (i, j, v, w, c, x, n)])
    print([q.requires_grad for q in (i, j, v, w, c)])
    print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    T("add_ normal", lambda: n.add_(1))
    T("add_ leaf", lambda: x.add_(1))
    T("add_ inference", lambda: i.add_(1))
    T("setitem", lambda: i.__setitem__(0, 9.0))
    T("version of normal", lambda: n._version)
    T("version of inference", lambda: i._version)
    T("requires_grad_", lambda: torch.ones(1).requires_grad_().requires_grad)
    T("rg factory", lambda: torch.ones(1, requires_grad=True))
    T("with enable_grad", lambda: torch.enable_grad()(lambda: (x * 2).requires_grad)())
    T("backward", lambda: (x * 2).sum().backward())
    T("detach", lambda: i.detach().is_inference())
    with torch.inference_mode(mode=False):
        print((x * 2).requires_grad, torch.ones(1).is_inference(), torch.is_inference_mode_enabled())
        T("save inside the off block", lambda: x * i)
print(n._version, x._version, torch.is_inference_mode_enabled(), torch.is_grad_enabled())
start = i.clone()
for label, act in {
    "i + x": lambda: i + x,
    "i * x": lambda: i * x,
    "i * 2": lambda: i * 2,
    "i.exp()": lambda: i.exp(),
    "x @ i": lambda: x @ i,
    "cat": lambda: torch.cat([i, x]),
    "stack": lambda: torch.stack([i, x]),
    "where": lambda: torch.where(x > 1, x, i),
    "clone": lambda: i.clone() * x,
    "detach": lambda: i.detach().is_inference(),
    "view": lambda: i.view(2).is_inference(),
    "select": lambda: i[0].is_inference(),
    "to double": lambda: i.to(torch.float64).is_inference(),
    "to same": lambda: i.to(torch.float32) is i,
    "numpy": lambda: i.numpy(),
    "item": lambda: i[0].item(),
    "add_": lambda: i.add_(1),
    "setitem": lambda: i.__setitem__(0, 1.0),
    "copy_ into normal": lambda: torch.zeros(2).copy_(i),
    "normal += inference": lambda: torch.zeros(2).add_(i),
    "rg_": lambda: i.requires_grad_(),
    "rg_(False)": lambda: i.requires_grad_(False).requires_grad,
    "set rg": lambda: setattr(i, "requires_grad", True),
    "version": lambda: i._version,
    "add_ under no_grad": lambda: torch.no_grad()(lambda: i.add_(1))(),
    "view of normal, add_": lambda: v.add_(1),
    "view of normal read": lambda: (v * 1, v.is_inference(), v._is_view()),
    "grad of clone": lambda: i.clone().requires_grad_().requires_grad,
    "as target": lambda: torch.nn.functional.mse_loss(x, i),
    "as mask": lambda: x.masked_fill(i > 1, 0.0),
    "as gradient": lambda: (lambda a: ((a * 2).backward(i), a.grad)[1])(t([1.0, 2.0])),
    "out=": lambda: torch.add(n, 1, out=i),
    "assign to .grad": lambda: (lambda a: (setattr(a, "grad", i), a.grad)[1])(t([1.0, 2.0])),
    "deepcopy": lambda: __import__("copy").deepcopy(i).is_inference(),
    "x += inference in graph": lambda: (x * 1).add_(i),
    "mul_ by inference": lambda: (x * 1).mul_(i),
}.items():
    with torch.inference_mode():
        i.copy_(start)  # PyTorch raises some of the errors after it has written
    T(label, act)


@torch.inference_mode()
def decorated(a):
    return a * 2, torch.is_inference_mode_enabled()


print(decorated(x)[0].is_inference(), decorated(x)[1], torch.is_inference_mode_enabled())


@torch.inference_mode()
def generator():
    yield torch.is_inference_mode_enabled()
    yield torch.ones(1).is_inference()


g = generator()
print(next(g), torch.is_inference_mode_enabled(), next(g))


def nested():
    with torch.inference_mode():
        with torch.no_grad():
            a = torch.is_inference_mode_enabled()
        raise ValueError(a)


T("exception leaves it", nested)
print(torch.is_inference_mode_enabled(), torch.is_grad_enabled())
print(repr(i), i.is_leaf, i.grad_fn, i.dtype)


def at(op):
    """An op that keeps an index or a mask made in inference mode."""
    with torch.inference_mode():
        i, m = torch.tensor([0, 1]), torch.tensor([True, False])
    return op(t([1.0, 2.0]), i, m)


T("index", at, lambda x, i, m: x[i])
T("mask", at, lambda x, i, m: x[m])
T("gather", at, lambda x, i, m: x.gather(0, i))
T("where", at, lambda x, i, m: torch.where(m, x, x))
T("masked_fill", at, lambda x, i, m: x.masked_fill(m, 0.0))
T("assigned", at, lambda x, i, m: (x * 1).__setitem__(m, 0.0))
T("not recorded", at, lambda x, i, m: x.detach()[i])

print("-- made by classes")
with torch.inference_mode():
    made = [torch.Tensor(2), torch.Tensor([1.0]), torch.nn.Parameter(torch.ones(1)), torch.nn.Buffer(torch.ones(1)), torch.ones(2)]
print([m.is_inference() for m in made], torch.nn.Buffer(made[-1]).is_inference())
T("parameter of one", torch.nn.Parameter, made[-1])
with torch.inference_mode():
    print(torch.nn.Parameter(torch.full((1,), 2.0)).is_inference(), copy.deepcopy(made[-1]).is_inference())
