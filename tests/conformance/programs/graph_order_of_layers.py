"""Order in which the parameters of layers get their gradients."""

import torch
import torch.nn as nn

from _log import t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


print("# engine order")


def namer(n):
    return lambda g: log.append(n)


lin = nn.Linear(2, 2)
xi = t([[1.0, 2.0]])
lin.weight.register_hook(namer("W"))
lin.bias.register_hook(namer("b"))
xi.register_hook(namer("x"))
lin(xi).sum().backward()
show("linear 2d bias: order")
lin = nn.Linear(2, 2, bias=False)
xi = t([[1.0, 2.0]])
lin.weight.register_hook(namer("W"))
xi.register_hook(namer("x"))
lin(xi).sum().backward()
show("linear nobias: order")
m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
for n, p in m.named_parameters():
    p.register_hook(namer(n))
m(torch.ones(1, 2)).sum().backward()
show("sequential params hooks")
for n, p in m.named_parameters():
    p.register_post_accumulate_grad_hook(lambda q, n=n: log.append(n + ".post"))
m(torch.ones(1, 2)).sum().backward()
show("sequential params hooks + post")
