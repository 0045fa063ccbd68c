"""register_multi_grad_hook, saved_tensors_hooks, hooks of one saved tensor, allow_mutation_on_saved_tensors."""

import torch
import torch.autograd as A
import torch.autograd.graph as G

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


print("# multi grad hook")


def fn(gs):
    log.append([None if g is None else g.item() for g in gs])


a = t(2.0)
b = t(3.0)
c = a * b
d = a * b
h = G.register_multi_grad_hook((a, b, c, d), fn)
print(type(h), type(h).__mro__[1].__name__)
c.backward(retain_graph=True)
show("c only")
c.backward(inputs=(a,), retain_graph=True)
show("inputs=(a,)")
(c + d).backward(retain_graph=True)
show("c+d")
(c + d).backward(inputs=(c,), retain_graph=True)
show("inputs (c,)")
T("grad under all mode", lambda: A.grad(c, a, retain_graph=True))
show("grad(c,a)")
T("grad wrt nonleaf c", lambda: A.grad(c * 2, c, retain_graph=True))
show("grad(c*2,c)")
h.remove()
h.remove()
c.backward(retain_graph=True)
show("removed")
G.register_multi_grad_hook((a, b, c), lambda g: log.append(("any", g.item())), mode="any")
c.backward(retain_graph=True)
show("any mode")
c.backward()
show("any again")
T("bad mode", lambda: G.register_multi_grad_hook((a,), fn, mode="x"))
T("no rg all", lambda: G.register_multi_grad_hook((torch.ones(1), a), fn))
T("no rg any", lambda: type(G.register_multi_grad_hook((torch.ones(1), a), fn, mode="any")).__name__)
a = t(2.0)
G.register_multi_grad_hook((a, a), fn)
(a * 3).backward()
show("same tensor twice")
a = t(2.0)
b = t(2.0)
G.register_multi_grad_hook((a, b), lambda gs: (torch.ones(1),))
(a * 3 + b).backward()
print("return ignored", a.grad)
a = t(2.0)
b = t(2.0)
a.register_hook(lambda g: g * 10)
G.register_multi_grad_hook((a, b), fn)
b.register_hook(lambda g: g * 100)
(a * 3 + b).backward()
show("multi sees values at its position in chain")


def boom(gs):
    raise ValueError("mg")


a = t(2.0)
b = t(3.0)
G.register_multi_grad_hook((a, b), boom)
T("exc", lambda: (a * b).backward())
print(a.grad, b.grad)
print("# saved tensor hooks")


def pack(x):
    log.append(("pack", tuple(x.shape), x.requires_grad, x.is_leaf))
    return x.detach()


def unpack(x):
    log.append(("unpack", tuple(x.shape)))
    return x


x = t([1.0, 2.0])
w = t([3.0, 4.0])
with G.saved_tensors_hooks(pack, unpack):
    y = x * w
    z = y.exp()
    s = z.sum()
    u = s * 2
    v = x + w
    k = x**2
show("packs")
u.backward(retain_graph=True)
show("unpacks")
u.backward()
show("unpacks 2nd")
with G.saved_tensors_hooks(lambda x: x * 10, lambda x: x):
    y = x * w
print(A.grad(y.sum(), x))
with G.saved_tensors_hooks(lambda x: (x.shape, x.tolist()), lambda p: torch.tensor(p[1])):
    y = x**3
print(A.grad(y.sum(), x))
with G.saved_tensors_hooks(lambda x: x, lambda x: 3):
    y = x**3
T("unpack returns non tensor", lambda: A.grad(y.sum(), x))
with G.saved_tensors_hooks(lambda x: x, lambda x: torch.ones(5)):
    y = x**3
T("unpack wrong shape", lambda: A.grad(y.sum(), x))
with G.saved_tensors_hooks(lambda x: x.detach(), lambda x: x.double()):
    y = x**3
T("unpack wrong dtype", lambda: A.grad(y.sum(), x))


def bp(x):
    raise ValueError("packboom")


def f():
    with G.saved_tensors_hooks(bp, lambda x: x):
        return x**3


T("pack raises", f)
with G.saved_tensors_hooks(lambda x: x, bp):
    y = x**3
T("unpack raises", lambda: y.sum().backward())


def f():
    with G.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x):
        return (x.clone()) ** 3


T("pack in-place", f)
with G.saved_tensors_hooks(lambda x: (log.append("outer"), x)[1], lambda x: x):
    with G.saved_tensors_hooks(lambda x: (log.append("inner"), x)[1], lambda x: x):
        y = x**2
    y2 = x**2
show("nesting: inner only")
with G.saved_tensors_hooks(
    lambda x: (log.append(("grad_enabled in pack", torch.is_grad_enabled())), x)[1],
    lambda x: (log.append(("in unpack", torch.is_grad_enabled())), x)[1],
):
    y = x**2
y.sum().backward()
show("grad mode")
with G.saved_tensors_hooks(pack, unpack):
    with torch.no_grad():
        y = x**2
show("no_grad packs nothing")
with G.saved_tensors_hooks(pack, unpack):
    y = x * 2
show("x*2: scalar packed?")
y.sum().backward()
show("x*2 unpack")
with G.saved_tensors_hooks(pack, unpack):
    y = x * torch.tensor([1.0, 2.0])
show("x*const packs only const")
with G.saved_tensors_hooks(pack, unpack):
    y = x / w
show("x/w")
y.sum().backward()
show("x/w unpack (order)")
with G.saved_tensors_hooks(pack, unpack):
    y = torch.matmul(x.view(1, 2), w.view(2, 1))
show("mm")
y.sum().backward()
show("mm unpack")
with G.saved_tensors_hooks(pack, unpack):
    y = x.exp()
show("exp result packed")
T("_saved_result", lambda: y.grad_fn._saved_result)
show("access _saved unpack")
print("version check with hooks:")
with G.saved_tensors_hooks(lambda x: x.detach(), lambda x: x):
    q = x.clone()
    y = q**2
q.add_(1)
T("in-place after pack detach", lambda: y.sum().backward())
print(x.grad)
x.grad = None
with G.saved_tensors_hooks(lambda x: x.clone(), lambda x: x):
    q = x.clone()
    y = q**2
q.add_(1)
T("in-place after pack clone", lambda: y.sum().backward())
print(x.grad)
print("identity pack returns same tensor")
with G.saved_tensors_hooks(lambda x: x, lambda x: x):
    q = x.clone()
    y = q**2
T(
    "pack identity: unpacked grad_fn preserved (double backward)",
    lambda: A.grad(A.grad(y.sum(), x, create_graph=True)[0].sum(), x),
)
with G.saved_tensors_hooks(lambda x: x.detach(), lambda x: x):
    q = x.clone()
    y = q**2
T("pack detach: double backward", lambda: A.grad(A.grad(y.sum(), x, create_graph=True)[0].sum(), x))
print("# disable / save_on_cpu")
with G.disable_saved_tensors_hooks("nope"):
    T("enter while disabled", lambda: G.save_on_cpu().__enter__())


def f():
    with G.saved_tensors_hooks(pack, unpack):
        with G.disable_saved_tensors_hooks("nope2"):
            return x**2


T("disable inside", f)
log.clear()
with G.save_on_cpu():
    y = x**2
y.sum().backward()
print("save_on_cpu ok", x.grad)
T("save_on_cpu pin", lambda: G.save_on_cpu(pin_memory=True).__enter__())
torch._C._autograd._pop_saved_tensors_default_hooks()
T("hooks enabled again", f)
print("# _raw_saved register_hooks")
y = x**2
y.grad_fn._raw_saved_self.register_hooks(lambda z: (log.append("rp"), z)[1], lambda z: (log.append("ru"), z)[1])
show("pack immediately")
y.sum().backward()
show("unpack")
y = x**2
y.grad_fn._raw_saved_self.register_hooks(lambda z: z, lambda z: z)
T("twice", lambda: y.grad_fn._raw_saved_self.register_hooks(lambda z: z, lambda z: z))
y = x**2
y.sum().backward()
T("after free", lambda: y.grad_fn._raw_saved_self.register_hooks(lambda z: z, lambda z: z))
y = x**2
T("wrong arity", lambda: y.grad_fn._raw_saved_self.register_hooks(lambda: 1, lambda z: z))
print("# allow_mutation")
with G.allow_mutation_on_saved_tensors() as ctx:
    a = torch.ones(2, requires_grad=True)
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
    print(b)
    out.backward()
    print(a.grad, type(ctx).__name__)
with G.allow_mutation_on_saved_tensors():
    a = torch.ones(2, requires_grad=True)
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
T("outside", lambda: out.backward())


def f():
    with G.allow_mutation_on_saved_tensors():
        with G.allow_mutation_on_saved_tensors():
            pass


T("nested", f)
print("# multiple hook contexts as decorators")
T("decorator", lambda: G.saved_tensors_hooks(pack, unpack)(lambda: 1))
print("# checkpoint exists", hasattr(torch.utils, "checkpoint"))
