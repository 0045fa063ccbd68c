"""The nodes behind a gradient that a reshape gave back: views where memory allows, a copy where not."""

import torch


def names(fn):
    found = []
    while fn is not None:
        found.append(fn.name())
        fn = fn.next_functions[0][0] if fn.next_functions else None
    return found


def numbers(*sizes):
    n = 1
    for s in sizes:
        n *= s
    return torch.arange(float(n)).view(sizes).requires_grad_()


CASES = {
    "view": (lambda x: x.view(3, 2), lambda: numbers(3, 2)),
    "view, gradient transposed": (lambda x: x.view(3, 2), lambda: numbers(2, 3).t()),
    "view, every other number of the gradient": (lambda x: x.view(6), lambda: numbers(12)[::2]),
    "reshape of a transposed tensor": (lambda x: x.t().reshape(6), lambda: numbers(12)[::2]),
    "reshape as an alias": (lambda x: x[:, ::2].reshape(4, 1), lambda: numbers(1, 4).t()),
    "two views": (lambda x: x.view(6).view(3, 2), lambda: numbers(2, 3).t()),
    "three dims": (lambda x: x.t().reshape(3, 2, 1), lambda: numbers(1, 2, 3).permute(2, 1, 0)),
    "flatten": (lambda x: x.flatten(), lambda: numbers(12)[::2]),
    "unflatten": (lambda x: x.unflatten(0, (1, 2)), lambda: numbers(3, 2, 1).permute(2, 1, 0)),
    "broadcast gradient": (lambda x: x.view(3, 2), lambda: numbers(1, 2).expand(3, 2)),
}
for name, (f, seed) in CASES.items():
    x = numbers(2, 3)
    x = numbers(2, 4) if name.endswith("alias") else x
    g = seed()
    (got,) = torch.autograd.grad(f(x), x, g, create_graph=True)
    print(name, got.tolist(), got.stride(), got._is_view(), *names(got.grad_fn))
