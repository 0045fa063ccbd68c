"""is_grads_batched: one pass per row of the gradient, results stacked."""

import torch

from _log import T, t

grad = torch.autograd.grad
x, w = t([1.0, 2.0, 3.0]), t([4.0, 5.0, 6.0])
eye = torch.eye(3)
for label, fn in {
    "jacobian": lambda: grad(x * x, x, eye, is_grads_batched=True),
    "two inputs": lambda: grad(x * w, [x, w], eye, is_grads_batched=True),
    "list of outputs": lambda: grad([x * w, x.exp().sum()], [x], [eye, torch.ones(3)], is_grads_batched=True),
    "0-dim output": lambda: grad((x * w).sum(), x, torch.tensor([1.0, 10.0]), is_grads_batched=True),
    "batch of one": lambda: grad(x * w, x, torch.ones(1, 3), is_grads_batched=True),
    "larger batch": lambda: grad(x * 2, x, torch.arange(15.0).view(5, 3), is_grads_batched=True),
    "unused": lambda: grad(x * 2, [x, w], eye, is_grads_batched=True, allow_unused=True),
    "unused not allowed": lambda: grad(x * 2, [x, w], eye, is_grads_batched=True),
    "wrong row shape": lambda: grad(x * 2, x, torch.ones(3, 2), is_grads_batched=True),
    "no batch dimension": lambda: grad(x * 2, x, torch.ones(3), is_grads_batched=True),
    "matrix": lambda: grad(x[None] * w[:, None], x, torch.ones(2, 3, 3), is_grads_batched=True),
    "constant": lambda: grad(x + 1, x, eye, is_grads_batched=True),
    "expand": lambda: grad(x.sum().expand(2), x, torch.eye(2), is_grads_batched=True),
    "view chain": lambda: grad(x.view(3, 1).t()[0], x, eye, is_grads_batched=True),
    "cat": lambda: grad(torch.cat([x, w]), x, torch.eye(6), is_grads_batched=True),
    "matmul": lambda: grad(torch.outer(x, w) @ w, x, eye, is_grads_batched=True),
}.items():
    T(label, fn)


def leaf_grad_stays():
    grad(x * w, x, eye, is_grads_batched=True)
    return x.grad


T("leaf .grad stays", leaf_grad_stays)


def hessian_row():
    y = (x**3).sum()
    (g,) = grad(y, x, create_graph=True)
    return grad(g, x, eye, is_grads_batched=True)


T("hessian", hessian_row)
