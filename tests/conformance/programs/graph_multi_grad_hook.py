"""register_multi_grad_hook: the root and inputs=; what a post-accumulate hook may return."""

import torch
import torch.autograd.graph as G

from _log import T, t

torch.manual_seed(0)
a = torch.rand(2, 3, requires_grad=True)
b = torch.rand(2, 3, requires_grad=True)
c = a * b
d = a * b


def fn(grads):
    print([g is not None for g in grads])


G.register_multi_grad_hook((a, b, c, d), fn)
print("doc example:")
c.sum().backward(retain_graph=True)
c.sum().backward(inputs=(a,), retain_graph=True)
print("c.sum() root, then direct root c with grad:")
c.backward(torch.ones(2, 3), inputs=(a,), retain_graph=True)
print("scalars")
a = t(2.0)
b = t(3.0)
c = a * b
d = a * b
G.register_multi_grad_hook((a, b, c, d), fn)
c.backward(inputs=(a,), retain_graph=True)
(c * 1).backward(inputs=(a,), retain_graph=True)
c.backward(retain_graph=True)
print("post-acc same-object return")
x = t([1.0, 2.0])


def h(p):
    return p


x.register_post_accumulate_grad_hook(h)
T("return p itself", lambda: (x * 2).sum().backward())


def h2(p):
    return p.detach()


x = t([1.0, 2.0])
x.register_post_accumulate_grad_hook(h2)
T("return p.detach()", lambda: (x * 2).sum().backward())
x = t([1.0, 2.0])
x.register_post_accumulate_grad_hook(lambda p: p.grad)
T("return p.grad", lambda: (x * 2).sum().backward())
