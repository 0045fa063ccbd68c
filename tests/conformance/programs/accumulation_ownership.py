"""Who owns .grad: copies, layouts, what a hook saw, gradients passed through several leaves."""

import torch

from _log import T, t


def layout(x):
    return list(x.shape), list(x.stride()), x.is_contiguous()


def given_gradient():
    a, g = t([1.0, 2.0]), torch.ones(2)
    (a * 1).backward(g)
    g.mul_(100)
    return a.grad


T("the gradient argument is not aliased (mul)", given_gradient)


def given_to_leaf():
    a, g = t([1.0, 2.0]), torch.ones(2)
    a.backward(g)
    g.mul_(100)
    return a.grad, g


T("the gradient argument is not aliased (leaf root)", given_to_leaf)


def passed_through():
    a, b, g = t([1.0, 2.0]), t([1.0, 2.0]), torch.ones(2)
    (a + b).backward(g)
    a.grad.mul_(10)
    g.mul_(100)
    return a.grad, b.grad


T("two leaves of an add", passed_through)


def seen_by_hook():
    a, seen = t([1.0, 2.0]), []
    a.register_hook(seen.append)
    a.sum().backward()
    a.grad.mul_(7)
    return seen[0], a.grad, seen[0] is a.grad


T("a gradient kept by a hook", seen_by_hook)


def returned_by_hook():
    a, mine = t([1.0, 2.0]), torch.tensor([5.0, 6.0])
    a.register_hook(lambda g: mine)
    a.sum().backward()
    a.sum().backward()
    return a.grad, mine


T("a tensor returned by a hook is not the accumulator", returned_by_hook)


def retained_and_leaf():
    a = t([1.0, 2.0])
    b = a + 0
    b.retain_grad()
    b.sum().backward()
    b.grad.mul_(3)
    return a.grad, b.grad


T("retained gradient and leaf gradient are apart", retained_and_leaf)


def grads_of_grad():
    a = t([1.0, 2.0])
    y = a + 0
    gy, ga = torch.autograd.grad(y.sum(), [y, a])
    gy.mul_(5)
    return gy, ga


T("autograd.grad of y and a", grads_of_grad)

print("# layout of .grad")
for label, make in {
    "plain": lambda: t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    "transposed leaf": lambda: torch.arange(6.0).view(2, 3).t().detach().requires_grad_(),
    "slice leaf": lambda: torch.arange(12.0).view(3, 4)[:, ::2].detach().requires_grad_(),
    "expanded leaf": lambda: torch.ones(1, 3).expand(2, 3).detach().requires_grad_(),
    "permuted leaf": lambda: torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1).detach().requires_grad_(),
    "0-dim": lambda: t(1.0),
    "empty": lambda: torch.empty(0, 3, requires_grad=True),
}.items():
    a = make()
    a.sum().backward()
    print(f"{label:16s} leaf {layout(a)} sum {layout(a.grad)}", end=" ")
    a.grad = None
    (a * 2).sum().backward()
    print(f"mul {layout(a.grad)}", end=" ")
    a.grad = None
    if a.dim() == 2:
        (a.t() * torch.ones(a.t().shape)).sum().backward()
        print(f"t {layout(a.grad)}", end=" ")
    g1 = a.grad
    a.sum().backward()
    print("same object", g1 is a.grad if g1 is not None else None)

print("# accumulation into what the user put there")
a = t([[1.0, 2.0], [3.0, 4.0]])
a.grad = torch.zeros(2, 2).t()
(a * 2).sum().backward()
print(layout(a.grad), a.grad)
a.grad = torch.zeros(1, 1).expand(2, 2).clone()
ptr = a.grad.data_ptr()
(a * 2).sum().backward()
print(a.grad.data_ptr() == ptr, a.grad)


def grad_with_rg():
    a = t([1.0])
    a.grad = t([10.0])
    (a * 2).sum().backward()
    return a.grad, a.grad.requires_grad


T("accumulate into a leaf .grad that requires grad", grad_with_rg)


def grad_with_graph():
    a, w = t([1.0]), t([3.0])
    a.grad = w * 2
    (a * 2).sum().backward()
    return a.grad


T("accumulate into a .grad with a graph", grad_with_graph)


def create_graph_after():
    a = t([2.0])
    (a * a).sum().backward()
    g1 = a.grad
    (a * a * a).sum().backward(create_graph=True)
    return g1, a.grad, a.grad is g1


T("create_graph onto a plain .grad", create_graph_after)


def plain_after_create_graph():
    a = t([2.0])
    (a * a * a).sum().backward(create_graph=True)
    g1 = a.grad
    (a * a).sum().backward()
    return g1 is a.grad, a.grad


T("plain pass onto a .grad with a graph", plain_after_create_graph)


def version_after_use():
    a, b = t([2.0]), t([3.0])
    (a * b).sum().backward()
    y = a.grad * b
    (a * b).sum().backward()
    y.sum().backward()


T("a .grad saved by an op, then accumulated into", version_after_use)
