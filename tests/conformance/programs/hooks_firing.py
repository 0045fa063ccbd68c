"""When and in which order tensor hooks, retain_grad, node hooks and post-accumulate hooks fire."""

import torch
import torch.autograd as A
from torch.autograd import Function

from _log import T, t

log = []


def L(n):
    def hook(g):
        log.append((n, g.tolist() if g is not None else None))

    return hook


def show(label):
    print(f"[{label}]", *log)
    log.clear()


print("# firing count: several uses of the same tensor")
x = t(2.0)
x.register_hook(L("x"))
y = x * 3 + x * 4 + x * x
y.backward()
show("leaf used 4 times")
print(x.grad)
x = t(2.0)
y = x * 1
y.register_hook(L("y"))
(y * 3 + y * 2).backward()
show("nonleaf used twice")
print(x.grad)
x = t(2.0)
x.register_hook(L("x"))
A.backward([x * 3, x * 4])
show("two roots")
x = t(2.0)
x.register_hook(L("x"))
(x * 3).backward()
(x * 4).backward()
show("two backwards")
print(x.grad)
x = t(2.0)
x.register_hook(L("x"))
x.backward()
show("root leaf itself")
x = t(2.0)
y = x * 3
y.register_hook(L("y"))
y.backward()
show("root tensor hook gets seed")
x = t(2.0)
y = x * 3
y.register_hook(lambda g: g * 10)
y.backward()
print("seed modified by hook", x.grad)
print("# not fired when not in the path")
x = t(2.0)
y = x * 3
y.register_hook(L("y"))
(x * 5).backward()
show("unused nonleaf")
x = t(2.0)
w = t(1.0)
x.register_hook(L("x"))
(x * w).backward(inputs=[w])
show("inputs excludes x")
x = t(2.0)
y = x * 3
y.register_hook(L("y"))
z = y.detach() * 2 + x
z.backward()
show("behind detach")
print("# undefined grad")


class Und(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return None


x = t(2.0)
x.register_hook(L("x"))
Und.apply(x).backward()
show("undefined grad: leaf hook")
print(x.grad)
x = t(2.0)
y = x * 1
y.register_hook(L("y"))
x.register_hook(L("x"))
Und.apply(y).backward()
show("undefined grad: nonleaf hook")
print(x.grad)
x = t(2.0)
x.register_post_accumulate_grad_hook(lambda p: log.append("post"))
Und.apply(x).backward()
show("undefined: post acc")
x = t(2.0)
y = x * 1
y.register_hook(lambda g: torch.ones(()) * 7)
T("hook replaces undefined", lambda: Und.apply(y).backward())
print(x.grad)
print("# order of several hooks: registration order, chain of replaced values")
x = t(2.0)
x.register_hook(lambda g: (log.append(("a", g.item())), g * 2)[1])
x.register_hook(lambda g: (log.append(("b", g.item())), g + 1)[1])
x.register_hook(L("c"))
(x * 3).backward()
show("chain")
print(x.grad)
print("# retain_grad order")


def run(order):
    x = t(2.0)
    y = x * 1
    for o in order:
        if o == "r":
            y.retain_grad()
        else:
            y.register_hook(lambda g: g * 2)
    (y * 3).backward()
    return y.grad.item(), x.grad.item()


for o in (["h", "r"], ["r", "h"], ["h", "r", "h"], ["r", "h", "h"], ["r", "r", "h"]):
    print(o, run(o))
x = t(2.0)
y = x * 1
y.retain_grad()
y.register_hook(lambda g: log.append(("hook sees y.grad", y.grad)))
(y * 3).backward()
show("y.grad in hook when retained first")
x = t(2.0)
y = x * 1
y.retain_grad()
(y * 3).backward(retain_graph=True)
y.grad_id = None
g1 = y.grad
(y * 3).backward()
print("retain_grad accumulates?", y.grad, y.grad is g1)
# leaf hook vs. .grad time and post acc
x = t(2.0)
x.register_hook(lambda g: log.append(("hook", g.item(), x.grad)))
x.register_post_accumulate_grad_hook(lambda p: log.append(("post", p.grad.item(), p is x)))
x.register_hook(lambda g: g * 10)
(x * 3 + x * 4).backward()
show("leaf order")
print("# prehook/posthook on nodes ordering")
x = t(2.0)
y = x * 3
y.register_hook(L("tensor_hook_y"))
y.grad_fn.register_prehook(lambda go: log.append(("node_pre", go[0].item())))
y.grad_fn.register_hook(lambda gi, go: log.append(("node_post", gi[0].item(), go[0].item())))
y.retain_grad()
y.register_hook(L("tensor_hook2_y"))
x.register_hook(L("x"))
acc = y.grad_fn.next_functions[0][0]
acc.register_prehook(lambda go: log.append(("acc_pre", go[0].item(), x.grad)))
acc.register_hook(lambda gi, go: log.append(("acc_post", gi, go[0].item(), x.grad)))
x.register_post_accumulate_grad_hook(lambda p: log.append("post_acc"))
(y * 5).backward()
show("all")
print("# node prehook registered before the tensor hook")
x = t(2.0)
y = x * 3
y.grad_fn.register_prehook(lambda go: (log.append(("pre1", go[0].item())), (go[0] + 1,))[1])
y.register_hook(lambda g: (log.append(("tensor", g.item())), g * 2)[1])
y.grad_fn.register_prehook(lambda go: log.append(("pre2", go[0].item())))
y.backward()
show("order pre1,tensor,pre2?")
