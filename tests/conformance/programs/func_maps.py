"""torch.func.vmap, functional_call and stack_module_state: dims, trees, randomness, nesting, ties, bad input."""

import functools
from collections import OrderedDict, namedtuple

import torch
from torch import nn
from torch.func import functional_call, functionalize, grad, replace_all_batch_norm_modules_, stack_module_state, vmap

from _log import T

x = torch.arange(6.0).view(3, 2)
y = torch.tensor([1.0, 10.0, 100.0])
Pair = namedtuple("Pair", "a b")

print("-- vmap")
print(vmap(torch.sum)(x), vmap(torch.sum, in_dims=1)(x), vmap(torch.sum, in_dims=-1)(x), torch.vmap is vmap)
print(vmap(torch.mul)(x, y), vmap(torch.mul, in_dims=(0, None))(x, y[:2]), vmap(torch.dot, in_dims=(0, 0))(x, x))
print(vmap(lambda v: v * 2, out_dims=1)(x), vmap(lambda v: v * 2, out_dims=-1)(x).shape, vmap(lambda v: (v, v.sum()), out_dims=(1, 0))(x))
print(vmap(lambda v: torch.ones(2))(y), vmap(lambda v: (v, torch.ones(2)), out_dims=(0, None))(y), vmap(lambda v: 3, out_dims=None)(y))
print(vmap(lambda t: {"s": t["a"] + t["b"][0], "l": [t["a"]]})({"a": x, "b": (y,)}))
print(vmap(lambda t, k: t["a"] * k, in_dims=({"a": 1}, None))({"a": x}, 2.0), vmap(lambda p: p.a * p.b)(Pair(x, y)))
print(vmap(lambda p: Pair(p["z"], OrderedDict(q=p["z"])))(OrderedDict(z=y)))
print(vmap(vmap(torch.mul, in_dims=(None, 0)), in_dims=(0, None))(y, y[:2]), vmap(vmap(lambda v: v.sin()))(x))
print(vmap(lambda v, scale=1.0: v * scale)(y, scale=3.0), vmap(torch.sum, chunk_size=2)(x), vmap(lambda v: v.max(0))(x))
print(vmap(lambda v: v)(torch.ones(0, 3)), vmap(lambda v: v.sum(), out_dims=0)(torch.ones(3, 0)), vmap(lambda v: v.long())(y).dtype)
print(vmap(lambda v: v.add_(1))(y), y)
named = vmap(functools.partial(torch.add, alpha=2), in_dims=(0, None))
print(named(y, 1.0))
p = torch.tensor([1.0, 2.0], requires_grad=True)
out = vmap(lambda v: (v * p).pow(2).sum())(x)
out.sum().backward()
print(out.detach(), p.grad, vmap(grad(lambda v: (v**3).sum()))(x), vmap(grad(lambda v, k: v.sum() * k), in_dims=(0, None))(x, 2.0))
print(grad(lambda v: vmap(lambda row: row.prod())(v).sum())(x))

print("-- randomness")
torch.manual_seed(0)
same = vmap(lambda v: torch.rand(2) + 0 * v.sum(), randomness="same")(x)
other = vmap(lambda v: torch.rand(2) + 0 * v.sum(), randomness="different")(x)
print(bool((same == same[0]).all()), bool((other == other[0]).all()), same.shape)
T("error", vmap(lambda v: torch.rand(2) + v), x)
T("dropout", vmap(lambda v: nn.functional.dropout(v)), x)
print(vmap(lambda v: nn.functional.dropout(v, training=False))(x))

print("-- what fails")
T("sizes", vmap(torch.add), y, y[:2])
T("in_dim", vmap(torch.sum, in_dims=2), y)
T("in_dims text", vmap(torch.sum, in_dims="a"), y)
T("in_dims None", vmap(torch.sum, in_dims=None), y)
T("in_dims two", vmap(torch.sum, in_dims=(0, 0)), y)
T("in_dims of a dict", vmap(lambda t: t["a"], in_dims=({"b": 0},)), {"a": y})
T("in_dims real", vmap(torch.sum, in_dims=(1.5,)), y)
T("nothing", vmap(torch.sum))
T("all shared", vmap(torch.sum, in_dims=(None,)), y)
T("number", vmap(torch.sum), 3)
T("out_dims", vmap(torch.sin, out_dims=1), y)
T("out_dims text", vmap(torch.sin, out_dims="a"), y)
T("out_dims three", vmap(lambda v: (v, v), out_dims=(0, 0, 0)), y)
T("out_dims None", vmap(lambda v: (v, v), out_dims=(0, None)), y)
T("no tensor", vmap(lambda v: 3), y)
T("None", vmap(lambda v: None), y)
T("randomness", vmap, torch.sin, randomness="no")
T("chunk_size", vmap, torch.sin, chunk_size=0)
T("partial", vmap(functools.partial(torch.mul, 2.0)), 3)

print("-- functional_call")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 2)
        self.two = nn.Linear(2, 2)
        self.two.weight = self.one.weight
        self.register_buffer("calls", torch.zeros(()))
        self.register_forward_pre_hook(lambda m, args: print("called", m.calls))

    def forward(self, x, shift=0.0):
        self.calls = self.calls + 1
        return self.two(self.one(x)) + shift


torch.manual_seed(0)
net = Net()
with torch.no_grad():
    for q in net.parameters():
        q.fill_(0.5)
eye = torch.eye(2)
print(functional_call(net, {"one.weight": eye}, x), functional_call(net, {"one.weight": eye}, x, tie_weights=False))
print(functional_call(net, {"two.weight": eye, "one.bias": torch.ones(2)}, (x,), {"shift": 1.0}))
given = {"calls": torch.tensor(5.0)}
print(functional_call(net, given, x).shape, given, net.calls, type(net.one.weight).__name__, net.one.weight is net.two.weight)
print(functional_call(net, [{"one.bias": torch.zeros(2)}, {"two.bias": torch.zeros(2)}], x))
w = eye.clone().requires_grad_()
functional_call(net, {"one.weight": w}, x).sum().backward()
print(w.grad, net.one.weight.grad, net.one.bias.grad)
T("repeated", functional_call, net, [{"one.bias": eye}, {"one.bias": eye}], x)
T("no dict", functional_call, net, 3, x)
T("no dicts", functional_call, net, [3], x)
T("unknown", functional_call, net, {"three.bias": eye}, x)
T("below a tensor", functional_call, net, {"one.weight.x": eye}, x)
T("no tensor", functional_call, net, {"one.bias": 3}, x)
T("strict, unknown", functional_call, net, {**dict(net.named_parameters()), **dict(net.named_buffers()), "more": eye}, x, strict=True)
T("strict, missing", functional_call, net, dict(net.named_parameters()), x, strict=True)
T("tied", functional_call, net, {"one.weight": eye, "two.weight": eye * 2}, x)
print(functional_call(net, {"extra": eye}, x).shape, hasattr(net, "extra"), [type(q).__name__ for q in net.parameters()])


class Fails(nn.Linear):
    def forward(self, x):
        raise ValueError("inside")


fails = Fails(2, 2)
before = fails.weight
T("raises", functional_call, fails, {"weight": eye}, x)
print(fails.weight is before)

print("-- ensembles")
models = [nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) for _ in range(2)]
for i, m in enumerate(models):
    with torch.no_grad():
        for q in m.parameters():
            q.copy_(torch.linspace(-1, 1 + i, q.numel()).view_as(q))
    m.eval()
params, buffers = stack_module_state(models)
print({n: (tuple(v.shape), v.requires_grad, v.is_leaf) for n, v in params.items()}, {n: v.shape for n, v in buffers.items()})
found = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, x)
print(torch.allclose(found, torch.stack([m(x) for m in models])), found.shape)
T("none", stack_module_state, [])
T("modes", stack_module_state, [models[0], nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))])
T("classes", stack_module_state, [nn.Linear(2, 3), nn.Bilinear(2, 2, 3)])
frozen = nn.Linear(2, 3).requires_grad_(False)
T("requires_grad", stack_module_state, [nn.Linear(2, 3), frozen])
print(replace_all_batch_norm_modules_(models[0]) is models[0], models[0], models[0][1].running_mean, list(models[0].state_dict()))
print(functionalize(torch.sin)(y), functionalize(lambda v: v.clone().add_(1), remove="mutations_and_views")(y))
