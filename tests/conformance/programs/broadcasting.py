"""Broadcasting: values, gradients summed back, errors."""

import torch

from _log import T

shapes = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (4, 1, 3), (4, 2, 1), (1, 1, 1)]


def fill(shape):
    n = 1
    for s in shape:
        n *= s
    return (torch.arange(1.0, n + 1) / 2).view(shape).requires_grad_()


for a in shapes:
    for b in shapes:
        x, y = fill(a), fill(b)
        r = x * y
        (r * torch.arange(1.0, r.numel() + 1).view(r.shape)).sum().backward()
        print(
            a,
            b,
            tuple(r.shape),
            [round(v, 3) for v in x.grad.flatten().tolist()][:6],
            tuple(y.grad.shape),
            round(y.grad.sum().item(), 3),
        )
for op in ("add", "sub", "div", "pow", "maximum", "atan2", "fmod"):
    x, y = fill((2, 1)), fill((3,))
    r = getattr(torch, op)(x, y)
    r.sum().backward()
    print(op, r, x.grad, y.grad)
x, y, c = fill((2, 1)), fill((3,)), torch.tensor([[True, False, True]])
r = torch.where(c, x, y)
r.sum().backward()
print("where", r, x.grad, y.grad)
x, y, w = fill((2, 1)), fill((3,)), fill(())
torch.lerp(x, y, w).sum().backward()
print("lerp", x.grad, y.grad, w.grad)
x, y, w = fill((2, 3)), fill((3,)), fill((2, 1))
torch.addcmul(x, y, w, value=2).sum().backward()
print("addcmul", x.grad, y.grad, w.grad)
T("expand", lambda: (lambda x: (x.expand(2, 3).sum().backward(), x.grad))(fill((1, 3))))
T("expand -1", lambda: fill((1, 3)).expand(2, -1).shape)
T("expand new dims", lambda: (lambda x: (x.expand(4, 2, 3).sum().backward(), x.grad))(fill((3,))))
T("broadcast_tensors", lambda: [q.shape for q in torch.broadcast_tensors(fill((2, 1)), fill((3,)))])
T("broadcast_shapes", lambda: torch.broadcast_shapes((2, 1), (3,), ()))
T("broadcast_shapes error", lambda: torch.broadcast_shapes((2,), (3,)))
print("# errors")
o = torch.ones
for label, fn in {
    "add": lambda: o(2) + o(3),
    "add 2-d": lambda: o(2, 3) + o(2),
    "mul 3-d": lambda: o(4, 2, 3) * o(3, 3),
    "sub": lambda: o(2) - o(3),
    "div": lambda: o(2) / o(3),
    "pow": lambda: o(2) ** o(3),
    "gt": lambda: o(2) > o(3),
    "eq": lambda: o(2) == o(3),
    "maximum": lambda: torch.maximum(o(2), o(3)),
    "where": lambda: torch.where(o(2) > 0, o(3), o(3)),
    "where 2": lambda: torch.where(o(2) > 0, o(2), o(3)),
    "add_": lambda: o(2).add_(o(2, 2)),
    "add_ 3": lambda: o(2).add_(o(3)),
    "copy_": lambda: o(2).copy_(o(2, 2)),
    "expand": lambda: o(2).expand(3),
    "expand fewer": lambda: o(2, 3).expand(3),
    "expand -1 new": lambda: o(3).expand(-1, 3),
    "expand neg": lambda: o(1).expand(-2),
    "broadcast_to": lambda: torch.broadcast_to(o(2), (3,)),
    "masked_fill": lambda: o(2).masked_fill(o(3) > 0, 1.0),
    "addcmul": lambda: torch.addcmul(o(2), o(3), o(3)),
    "lerp": lambda: torch.lerp(o(2), o(3), 0.5),
    "mse": lambda: torch.nn.functional.mse_loss(o(2), o(3)),
    "l1": lambda: torch.nn.functional.l1_loss(o(2), o(2, 2)),
    "mse warns": lambda: torch.nn.functional.mse_loss(o(2, 1), o(2)),
    "outer": lambda: torch.outer(o(2), o(2, 2)),
    "and": lambda: (o(2) > 0) & (o(3) > 0),
    "broadcast_tensors": lambda: torch.broadcast_tensors(o(2), o(3)),
    "clamp": lambda: o(2).clamp(o(3)),
    "remainder": lambda: o(2) % o(3),
    "floor": lambda: o(2) // o(3),
    "atan2": lambda: torch.atan2(o(2), o(3)),
    "iadd": lambda: o(1).__iadd__(o(2)),
    "logical_and": lambda: torch.logical_and(o(2), o(3)),
}.items():
    T(label, fn)
