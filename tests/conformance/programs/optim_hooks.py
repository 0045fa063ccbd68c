"""Optimizers: step hooks, state-dict hooks, state dicts, groups, errors, repr, zero_grad, steps inside backward."""

import copy
import pickle

import torch
import torch.nn as nn
import torch.optim as O
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook, required

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


def mk(**kwargs):
    p = nn.Parameter(torch.tensor([1.0, 2.0]))
    p.grad = torch.ones(2)
    return p, O.SGD([p], lr=0.1, **kwargs)


print("# step hooks")
p, o = mk()
o.register_step_pre_hook(lambda opt, a, k: log.append(("pre", opt is o, len(a), a[0] is o, sorted(k))))
o.register_step_post_hook(lambda opt, a, k: log.append(("post", len(a), sorted(k), p.tolist())))
g1 = register_optimizer_step_pre_hook(lambda opt, a, k: log.append("gpre"))
g2 = register_optimizer_step_post_hook(lambda opt, a, k: log.append("gpost"))
o.step()
show("order")
print("step returns", o.step())
log.clear()
o.step(closure=lambda: torch.tensor(3.0))
show("closure by keyword")
print(o.step(lambda: torch.tensor(3.0)))
show("closure by position")
g1.remove()
g2.remove()
p, o = mk()
o.register_step_pre_hook(lambda opt, a, k: 5)
T("pre returns no tuple", lambda: o.step())
p, o = mk()
o.register_step_pre_hook(lambda opt, a, k: ((opt, lambda: (log.append("new closure"), torch.tensor(1.0))[1]), {}))
T("pre replaces args", lambda: o.step())
show("-")
p, o = mk()
o.register_step_post_hook(lambda opt, a, k: 5)
T("post return ignored", lambda: o.step())


def boom(*a):
    raise ValueError("boom")


p, o = mk()
o.register_step_pre_hook(boom)
T("pre raises: no step", lambda: o.step())
print(p)
p, o = mk()
o.register_step_post_hook(boom)
T("post raises: after the step", lambda: o.step())
print(p)
p, o = mk()
h = o.register_step_pre_hook(lambda *a: log.append("x"))
h.remove()
o.step()
show("removed")
T("prepend", lambda: o.register_step_pre_hook(boom, prepend=True))

print("# state dict hooks")
p, o = mk()
o.register_state_dict_pre_hook(lambda opt: log.append("pre"))
o.register_state_dict_post_hook(lambda opt, sd: log.append(("post", sorted(sd))))
print(o.state_dict())
show("hooks")
p, o = mk()
o.register_state_dict_post_hook(lambda opt, sd: {"r": 1})
print(o.state_dict())
o.register_state_dict_post_hook(lambda opt, sd: {**sd, "s": 1})
o.register_state_dict_post_hook(lambda opt, sd: {**sd, "first": list(sd)}, prepend=True)
print(o.state_dict())
p, o = mk()
o.register_state_dict_pre_hook(lambda opt: log.append("a"))
o.register_state_dict_pre_hook(lambda opt: log.append("b"), prepend=True)
o.register_load_state_dict_pre_hook(lambda opt, sd: log.append("c"))
o.register_load_state_dict_pre_hook(lambda opt, sd: log.append("d"), prepend=True)
o.register_load_state_dict_post_hook(lambda opt: log.append("e"))
o.register_load_state_dict_post_hook(lambda opt: log.append("f"), prepend=True)
sd = o.state_dict()
o.load_state_dict(sd)
show("prepend")
o.register_load_state_dict_pre_hook(
    lambda opt, sd: {"state": {}, "param_groups": [{**sd["param_groups"][0], "lr": 9.0}]})
o.load_state_dict(sd)
print(o.param_groups[0]["lr"])
log.clear()

print("# state dicts")
x, y, z = t([1.0]), t([2.0, 3.0]), t([4.0])
o = O.Adam([{"params": [x, y], "lr": 0.1}, {"params": z, "betas": (0.5, 0.6)}], amsgrad=True)
T("before a step", lambda: o.state_dict())
((x * y).sum() + z).backward()
o.step()
T("after a step", lambda: o.state_dict())
x2, y2, z2 = t([1.0]), t([2.0, 3.0]), t([4.0])
o2 = O.Adam([{"params": [x2, y2]}, {"params": z2}])
o2.load_state_dict(o.state_dict())
print(o2)
print([sorted(o2.state[q]) for q in (x2, y2, z2)])
T("other number of groups", lambda: O.SGD([x], lr=0.1).load_state_dict(o.state_dict()))
T("other sizes", lambda: O.Adam([{"params": [x]}, {"params": [z]}]).load_state_dict(o.state_dict()))
T("float64 parameter", lambda: (lambda q: (
    q.load_state_dict(O.Adam([x], lr=0.2).state_dict()), q.param_groups[0]["lr"])[1])(
        O.Adam([t([1.0], dtype=torch.float64)])))
w = t([1.0], dtype=torch.float64)
ow = O.Adam([w])
source = O.Adam([x])
x.grad = torch.ones(1)
source.step()
ow.load_state_dict(source.state_dict())
print({k: v.dtype for k, v in ow.state[w].items()})
c = copy.deepcopy(o)
print(len(c.param_groups), [list(v) for v in c.state.values()] == [list(v) for v in o.state.values()])
c = pickle.loads(pickle.dumps(O.SGD([x], lr=0.5)))
print(c)
old = O.Adam([x]).state_dict()
old["state"] = {0: {"step": 3, "exp_avg": torch.ones(1), "exp_avg_sq": torch.ones(1)}}
del old["param_groups"][0]["amsgrad"]
o = O.Adam([x])
o.load_state_dict(old)
print(o.state[x], o.param_groups[0]["amsgrad"])

print("# construction")
x = t([1.0])
T("non-leaf", lambda: O.SGD([x * 2], lr=0.1))
T("empty", lambda: O.SGD([], lr=0.1))
T("tensor", lambda: O.SGD(x, lr=0.1))
T("negative lr", lambda: O.SGD([x], lr=-1.0))
T("twice in a group", lambda: O.SGD([x, x], lr=0.1))
T("no tensor", lambda: O.SGD([1.0], lr=0.1))
T("set", lambda: O.SGD({x}, lr=0.1))
T("set in a group", lambda: O.SGD([{"params": {x}}], lr=0.1))
T("two groups", lambda: O.SGD([{"params": [x]}, {"params": [x]}], lr=0.1))
T("group no dict", lambda: O.SGD([x], lr=0.1).add_param_group([x]))
T("names", lambda: O.SGD([("a", x), ("b", t([2.0]))], lr=0.1))
T("some names", lambda: O.SGD([("a", x), t([2.0])], lr=0.1))
T("a group without names", lambda: O.SGD([("a", x)], lr=0.1).add_param_group({"params": t([2.0])}))
T("a group with names", lambda: O.SGD([x], lr=0.1).add_param_group({"params": [("a", t([2.0]))]}))
T("no params", lambda: O.SGD([{"lr": 1.0}]))
T("parameter group", lambda: O.SGD([x], lr=0.1).add_param_group({"params": t([2.0]), "lr": 3.0, "other": 1}))
T("base", lambda: O.Optimizer([x], {"lr": 1}).step())
T("required", lambda: O.Optimizer([x], {"lr": required}))
for cls, bad in (
    (O.SGD, {"momentum": -1.0}), (O.SGD, {"weight_decay": -1.0}), (O.SGD, {"nesterov": True}),
    (O.SGD, {"nesterov": True, "momentum": 0.9, "dampening": 0.1}), (O.Adam, {"lr": -1.0}), (O.Adam, {"eps": -1.0}),
    (O.Adam, {"betas": (1.0, 0.9)}), (O.Adam, {"betas": (0.9, -1.0)}), (O.Adam, {"weight_decay": -1.0}),
    (O.Adam, {"betas": (0, 0.9)}), (O.Adam, {"lr": torch.tensor([0.1, 0.2])}),
    (O.Adam, {"lr": torch.tensor(0.1), "foreach": True}), (O.Adam, {"fused": True, "foreach": True}),
    (O.SGD, {"fused": True, "foreach": True}), (O.SGD, {"fused": True, "differentiable": True}),
    (O.AdamW, {"eps": -1.0}), (O.Adamax, {"betas": (0.9, 1.0)}), (O.NAdam, {"momentum_decay": -1.0}),
    (O.RAdam, {"weight_decay": -1.0}), (O.RMSprop, {"alpha": -1.0}), (O.RMSprop, {"momentum": -1.0}),
    (O.RMSprop, {"eps": -1.0}), (O.Adagrad, {"lr_decay": -1.0}), (O.Adagrad, {"initial_accumulator_value": -1.0}),
    (O.Adadelta, {"rho": 1.5}), (O.Adadelta, {"eps": -1.0}), (O.Rprop, {"etas": (1.5, 1.2)}),
    (O.ASGD, {"weight_decay": -1.0}), (O.LBFGS, {"lr": -1.0}), (O.Adafactor, {"lr": -1.0}), (O.Adafactor, {"beta2_decay": 0.5}),
    (O.Adafactor, {"eps": (-1.0, 1.0)}), (O.Adafactor, {"eps": (None, -1.0)}), (O.Adafactor, {"d": 0.5}),
    (O.Adafactor, {"weight_decay": -1.0}), (O.Adafactor, {"lr": torch.ones(2)}), (O.Muon, {"lr": -1.0}), (O.Muon, {"momentum": -1}),
    (O.Muon, {"weight_decay": -0.1}), (O.Muon, {"adjust_lr_fn": "other"}), (O.Muon, {"lr": torch.ones(2)}), (O.Muon, {}),
):
    T(f"{cls.__name__} {bad}", lambda cls=cls, bad=bad: cls([t([1.0])], **bad))
T("LBFGS groups", lambda: O.LBFGS([{"params": t([1.0])}, {"params": t([2.0])}]))
x.grad = torch.ones(1)
for cls in (O.Adam, O.Adadelta, O.RMSprop):
    T(f"{cls.__name__} capturable", lambda cls=cls: cls([x], capturable=True).step())
w = torch.ones(2, 2, requires_grad=True)
w.grad = torch.ones(2, 2)
T("Muon steps", lambda: O.Muon([w], ns_steps=100).step())
T("Muon coefficients", lambda: O.Muon([w], ns_coefficients=(1, 2)).step())
print(O.Muon([w], adjust_lr_fn="original"), list(O.Muon([w]).state))
T("line search", lambda: O.LBFGS([x], line_search_fn="other").step(lambda: torch.tensor(1.0)))
for cls in (O.SGD, O.Adam, O.AdamW, O.Adamax, O.NAdam, O.RAdam, O.RMSprop, O.Adagrad, O.Adadelta, O.Adafactor, O.ASGD, O.Rprop,
            O.LBFGS):
    print(cls([x]))

print("# zero_grad, parameters without gradient")
p, o = mk()
g = p.grad
o.zero_grad()
print(p.grad)
p.grad = g
o.zero_grad(set_to_none=False)
print(p.grad is g, g)
a, b = t([1.0]), t([1.0])
o = O.SGD([a, b], lr=1.0, momentum=0.9)
a.sum().backward()
o.step()
print(a, b, sorted(o.state[a]), b in o.state)
q = t([2.0])
q.grad = (q * q).detach()
q.grad.requires_grad_()
o = O.SGD([q], lr=1.0)
o.zero_grad(set_to_none=False)
print(q.grad, q.grad.requires_grad)

print("# versions, closures, grad mode")
for cls, kw in ((O.SGD, {}), (O.SGD, {"momentum": 0.9}), (O.Adam, {}), (O.AdamW, {}), (O.NAdam, {}), (O.RMSprop, {})):
    p = t([1.0, 2.0])
    p.grad = torch.ones(2)
    o = cls([p], **kw)
    o.step()
    o.step()
    print(cls.__name__, kw, p._version)
p = t([1.0])
y = p * p
p.grad = torch.ones(1)
O.SGD([p], lr=0.1).step()
T("backward after a step", lambda: y.backward())
with torch.no_grad():
    O.SGD([p], lr=0.1).step(lambda: log.append(torch.is_grad_enabled()))
show("closure in no_grad")

print("# a class of one's own")


class Mine(O.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])


p = t([1.0])
p.grad = torch.ones(1)
o = Mine([p])
o.register_step_post_hook(lambda *a: log.append("post"))
o.step()
print(p, o)
show("hooked")

print("# steps inside backward")
w1, b1, w2 = t([[1.0, -1.0], [0.5, 2.0]]), t([0.1, 0.2]), t([[1.0, 2.0]])
opts = {q: O.SGD([q], lr=0.1, momentum=0.9) for q in (w1, b1, w2)}


def hook(q):
    opts[q].step()
    opts[q].zero_grad()
    log.append((tuple(q.shape), q.grad))


for q in opts:
    q.register_post_accumulate_grad_hook(hook)
for _ in range(2):
    (w2 @ (w1 @ torch.ones(2, 1) + b1.unsqueeze(1))).sum().backward()
    show("order")
print(w1, b1, w2)
