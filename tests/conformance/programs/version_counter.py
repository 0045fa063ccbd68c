"""What bumps _version, who shares it, and the error when a saved tensor was changed, to the letter."""

import torch

from _log import T, t

print("# bumps")
a = torch.ones(2, 2)
for label, act in {
    "add_": lambda: a.add_(1),
    "iadd": lambda: a.__iadd__(1),
    "setitem": lambda: a.__setitem__(0, 1.0),
    "setitem full": lambda: a.__setitem__(slice(None), 0.0),
    "mask": lambda: a.__setitem__(a > 0, 1.0),
    "fill_": lambda: a.fill_(2),
    "zero_": lambda: a.zero_(),
    "copy_": lambda: a.copy_(torch.ones(2, 2)),
    "clamp_": lambda: a.clamp_(0, 1),
    "masked_fill_": lambda: a.masked_fill_(a > 0, 2.0),
    "index_fill_": lambda: a.index_fill_(0, torch.tensor([0]), 1.0),
    "out=": lambda: torch.add(a.clone(), 1, out=a),
    "view add_": lambda: a[0].add_(1),
    "t add_": lambda: a.t().add_(1),
    "detach add_": lambda: a.detach().add_(1),
    "data add_": lambda: a.data.add_(1),
    "read": lambda: a.sum(),
    "view": lambda: a.view(4),
    "requires_grad_": lambda: a.requires_grad_().requires_grad_(False),
    "transpose_": lambda: a.transpose_(0, 1),
    "unsqueeze_": lambda: a.unsqueeze_(0).squeeze_(0),
    "normal_": lambda: a.normal_() is a,
    "uniform_": lambda: a.uniform_() is a,
    "numpy write": lambda: a.numpy().__setitem__((0, 0), 5.0),
    "relu_": lambda: a.relu_() is a,
    "exp_": lambda: a.exp_() is a,
}.items():
    before = a._version
    act()
    print(f"{label:14s} +{a._version - before}")
T("clone", lambda: (torch.ones(1).add_(1).clone()._version, torch.ones(1).add_(1).detach()._version))
with torch.no_grad():
    before = a._version
    a.add_(1)
    print("no_grad", a._version - before)

print("# sharing")
x = t([1.0, 2.0])
y = x * 1
v, d, p, c = y.view(2), y.detach(), y.data, y.clone()
y.add_(1)
print([q._version for q in (y, v, d, p, c)])
v.mul_(2)
print([q._version for q in (y, v, d, p, c)])
d.mul_(2)
print([q._version for q in (y, v, d, p, c)])
p.mul_(2)
print([q._version for q in (y, v, d, p, c)])

print("# errors")


def check(label, build, change, **kw):
    def run():
        x = t(kw.get("value", [[1.0, 2.0], [3.0, 4.0]]), dtype=kw.get("dtype"))
        q = x * 1
        y = build(q)
        change(q, y)
        y.sum().backward()
        return x.grad

    T(label, run)


plus = lambda q, y: q.add_(1)
check("mul self", lambda q: q * q, plus)
check("exp result", lambda q: q.exp(), lambda q, y: y.add_(1))
check("exp input", lambda q: q.exp(), plus)
check("log input", lambda q: q.log(), plus)
check("sqrt result", lambda q: q.sqrt(), lambda q, y: y.mul_(2))
check("tanh result set", lambda q: q.tanh(), lambda q, y: y.__setitem__(0, 0.0))
check("sigmoid twice", lambda q: q.sigmoid(), lambda q, y: y.mul_(2).mul_(2))
check("relu result", lambda q: q.relu(), lambda q, y: y.add_(1))
check("softmax result", lambda q: q.softmax(1), lambda q, y: y.zero_())
check("mm", lambda q: q @ q, plus)
check("mm view changed", lambda q: q @ q, lambda q, y: q[0].zero_())
check("pow", lambda q: q**2, plus)
check("div", lambda q: 1 / q, plus)
check("add saves nothing", lambda q: q + q, plus)
check("mul by 2 saves nothing of q", lambda q: q * 2, plus)
check("view changed through detach", lambda q: q * q, lambda q, y: q.detach().add_(1))
check("changed through data: unseen", lambda q: q * q, lambda q, y: q.data.mul_(10))
check("changed under no_grad", lambda q: q * q, lambda q, y: torch.no_grad()(lambda: q.mul_(2))())
check("double", lambda q: q * q, plus, dtype=torch.float64)
check("half", lambda q: q * q, plus, dtype=torch.float16)
check("0-dim", lambda q: q * q, plus, value=2.0)
check("3-dim", lambda q: q * q, plus, value=[[[1.0]]])
check("twice", lambda q: q * q, lambda q, y: q.add_(1).mul_(2))
check("setitem", lambda q: q * q, lambda q, y: q.__setitem__(0, 0.0))
check("mask set", lambda q: q * q, lambda q, y: q.__setitem__(q > 1, 0.0))
check("copy_", lambda q: q * q, lambda q, y: q.copy_(torch.ones(2, 2)))
check("zero_", lambda q: q * q, lambda q, y: q.zero_())
check("abs", lambda q: q.abs(), plus)
check("max dim", lambda q: q.max(1)[0], plus)
check("prod", lambda q: q.prod(), plus)
check("mse", lambda q: torch.nn.functional.mse_loss(q, torch.zeros(2, 2)), plus)
check("cross_entropy", lambda q: torch.nn.functional.cross_entropy(q, torch.tensor([0, 1])), plus)
check("clamp", lambda q: q.clamp(0, 2), plus)
check("where", lambda q: torch.where(q > 1, q, -q), plus)
check("cat", lambda q: torch.cat([q, q]), plus)
check("index", lambda q: q[torch.tensor([0])], plus)
check("var", lambda q: q.var(), plus)
check("norm", lambda q: q.norm(), plus)


def leaf_changed(dtype):
    w = t([[1.0], [2.0]], dtype=dtype)
    x = torch.ones(3, 2, dtype=dtype)
    y = torch.nn.functional.linear(x, w.t(), None) if dtype is torch.float64 else x @ w
    z = y @ y.t()
    with torch.no_grad():
        w.add_(1)
    z.sum().backward()
    return w.grad


T("leaf changed, not needed", leaf_changed, torch.float32)


def weight_changed():
    w, x = t([[1.0], [2.0]]), t([[1.0, 2.0]])
    y = x @ w
    with torch.no_grad():
        w.mul_(2)
    y.sum().backward()


T("weight changed under no_grad", weight_changed)


def mask_changed():
    x, m = t([1.0, 2.0]), torch.tensor([True, False])
    y = x.masked_fill(m, 0.0)
    m.logical_not_()
    y.sum().backward()


T("bool mask changed", mask_changed)


def target_changed():
    x, k = t([[1.0, 2.0]]), torch.tensor([0])
    y = torch.nn.functional.cross_entropy(x, k)
    k.add_(1)
    y.backward()


T("integer target changed", target_changed)


def index_changed():
    x, k = t([1.0, 2.0]), torch.tensor([0])
    y = x[k]
    k.add_(1)
    y.backward()
    return x.grad


T("integer index changed", index_changed)
T("requires_grad_ on changed tensor", lambda: torch.ones(1).add_(1).requires_grad_()._version)
T("increment_version", lambda: (lambda q: (torch.autograd.graph.increment_version(q), q._version)[1])(torch.ones(1)))
T(
    "increment_version of a view",
    lambda: (lambda q: (torch.autograd.graph.increment_version(q[0]), q._version)[1])(torch.ones(1)),
)
