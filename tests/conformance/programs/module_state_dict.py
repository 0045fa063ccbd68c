"""State dicts and their hooks."""

import copy
from collections import OrderedDict

import torch
import torch.nn as nn

from _log import T

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))


m = net()
sd = m.state_dict()
print(
    type(sd),
    list(sd),
    sd._metadata,
    sd["0.weight"].requires_grad,
    sd["0.weight"] is m[0].weight,
    sd["0.weight"].data_ptr() == m[0].weight.data_ptr(),
    type(sd["0.weight"]).__name__,
)
sdk = m.state_dict(keep_vars=True)
print("keep_vars", sdk["0.weight"] is m[0].weight)
print("prefix", list(m.state_dict(prefix="p.")), m.state_dict(prefix="p.")._metadata)
d = {}
r = m.state_dict(destination=d)
print("dest", r is d, list(d), hasattr(d, "_metadata"))
T("positional", lambda: list(m.state_dict(OrderedDict(), "q.", True)))
print("# state_dict pre/post hook order, signature")
for n, mm in m.named_modules():
    mm.register_state_dict_pre_hook(lambda mod, prefix, keep, n=n: log.append(("pre", n or "root", prefix, keep)))
    mm.register_state_dict_post_hook(
        lambda mod, sd, prefix, lm, n=n: log.append(("post", n or "root", prefix, dict(lm), len(sd)))
    )
m.state_dict()
show("order")
m.state_dict(prefix="z.", keep_vars=True)
show("prefix z.")
m = net()
T("post returns value", lambda: (m.register_state_dict_post_hook(lambda mod, sd, p, lm: sd), m.state_dict()))
m = net()
m._register_state_dict_hook(lambda mod, sd, p, lm: {"only": 1})
T("private root return respected", lambda: m.state_dict())
m = net()
m[0]._register_state_dict_hook(lambda mod, sd, p, lm: {"only": 1})
T("private child return ignored", lambda: list(m.state_dict()))
m = net()
m[0]._register_state_dict_hook(lambda mod, sd, p, lm: sd.pop(p + "bias") and None)
T("child in-place mod", lambda: list(m.state_dict()))
m = net()
f = lambda mod, sd, p, lm: None
m.register_state_dict_post_hook(f)
T("same fn in private after public", lambda: m._register_state_dict_hook(f))
m = net()
T("bound method in public", lambda: m.register_state_dict_post_hook(type("O", (), {"h": lambda s, *a: None})().h))
m = net()
h = m.register_state_dict_pre_hook(lambda *a: log.append("x"))
h.remove()
m.state_dict()
show("removed")
m = net()
T("prepend arg?", lambda: m.register_state_dict_pre_hook(lambda *a: None, prepend=True))


def boom(*a):
    raise ValueError("b")


m = net()
m.register_state_dict_pre_hook(boom)
T("exc", lambda: m.state_dict())
print("# load")
m = net()
sd = net().state_dict()
for n, mm in m.named_modules():
    mm.register_load_state_dict_pre_hook(
        lambda mod, sd, prefix, lm, strict, mk, uk, em, n=n: log.append(
            ("pre", n or "root", prefix, dict(lm), strict, list(mk), list(uk), list(em), list(sd))
        )
    )
    mm.register_load_state_dict_post_hook(lambda mod, ik, n=n: log.append(("post", n or "root", ik)))
print(m.load_state_dict(sd))
for e in log:
    print("  ", e)
log.clear()
m = net()
r = m.load_state_dict(sd)
print(type(r), r, r.missing_keys, r.unexpected_keys, isinstance(r, tuple), type(r).__name__)
T("missing", lambda: net().load_state_dict({k: v for k, v in sd.items() if k != "0.bias"}))
T(
    "unexpected",
    lambda: net().load_state_dict({**sd, "extra": torch.ones(1), "0.foo": torch.ones(1), "9.x": torch.ones(1)}),
)
T("both", lambda: net().load_state_dict({**{k: v for k, v in sd.items() if k != "2.bias"}, "extra": torch.ones(1)}))
T(
    "non strict",
    lambda: net().load_state_dict(
        {**{k: v for k, v in sd.items() if k != "2.bias"}, "extra": torch.ones(1)}, strict=False
    ),
)
T("shape mismatch", lambda: net().load_state_dict({**sd, "0.weight": torch.ones(3, 2)}))
T(
    "shape mismatch non-strict still errors",
    lambda: net().load_state_dict({**sd, "0.weight": torch.ones(3, 2)}, strict=False),
)
T("non-tensor", lambda: net().load_state_dict({**sd, "0.weight": 5}))
T("list arg", lambda: net().load_state_dict([1]))
T(
    "0-dim <- [1]",
    lambda: (
        lambda q: (
            q.register_parameter("s", nn.Parameter(torch.tensor(1.0))),
            q.load_state_dict({"s": torch.tensor([5.0])}),
            q.s,
        )
    )(nn.Module()),
)
T(
    "dtype conversion copy",
    lambda: (lambda q: (q.load_state_dict({k: v.double() for k, v in sd.items()}), q[0].weight.dtype))(net()),
)
T(
    "assign",
    lambda: (
        lambda q: (
            q.load_state_dict({k: v.double() for k, v in sd.items()}, assign=True),
            q[0].weight.dtype,
            q[0].weight.requires_grad,
            type(q[0].weight).__name__,
        )
    )(net()),
)


def f():
    q = net()
    w = q[0].weight
    q.load_state_dict(sd)
    a = q[0].weight is w
    q.load_state_dict(copy.deepcopy(sd), assign=True)
    return a, q[0].weight is w, q[0].weight.data_ptr() == sd["0.weight"].data_ptr()


T("identity copy vs assign", f)


def f():
    q = net()
    q[0].weight.requires_grad_(False)
    q.load_state_dict(copy.deepcopy(sd), assign=True)
    return q[0].weight.requires_grad, q[0].bias.requires_grad


T("assign keeps rg of model", f)


def f():
    q = net()
    v = q[0].weight._version
    q.load_state_dict(sd)
    return q[0].weight._version - v


T("copy_ bumps version", f)
m = net()
m.register_load_state_dict_post_hook(lambda mod, ik: ik.missing_keys.clear())
T("post hook clears missing", lambda: m.load_state_dict({k: v for k, v in sd.items() if k != "0.bias"}))
m = net()
m.register_load_state_dict_post_hook(lambda mod, ik: ik)
T("post hook returns", lambda: m.load_state_dict(sd))
m = net()
m.register_load_state_dict_pre_hook(lambda mod, s, p, *a: s.update({p + "0.bias": torch.zeros(2)}))
T("pre hook (root) fixes missing", lambda: m.load_state_dict({k: v for k, v in sd.items() if k != "0.bias"}))
m = net()
src = OrderedDict(sd)
m.register_load_state_dict_pre_hook(lambda mod, s, p, *a: s.pop("0.bias"))
T("pre hook pop; input dict untouched", lambda: m.load_state_dict(src))
print("0.bias" in src)
m = net()
m[0].register_load_state_dict_pre_hook(lambda mod, s, p, *a: log.append((type(s).__name__, list(s))))
m.load_state_dict(sd)
show("child pre-hook dict")
m = net()
m.register_load_state_dict_pre_hook(lambda *a: 5)
T("pre returns value ignored", lambda: m.load_state_dict(sd))
m = net()
m._register_load_state_dict_pre_hook(lambda *a: log.append(len(a)))
m.load_state_dict(sd)
m._register_load_state_dict_pre_hook(lambda *a: log.append(len(a)), with_module=True)
m.load_state_dict(sd)
show("private: 7 args w/o module, 8 with")
m = net()
m.register_load_state_dict_pre_hook(boom)
T("exc", lambda: m.load_state_dict(sd))
m = net()
m.register_load_state_dict_pre_hook(lambda mod, s, p, lm, st, mk, uk, em: em.append("custom error"))
T("error_msgs", lambda: m.load_state_dict(sd))
m = net()
m.register_load_state_dict_pre_hook(lambda mod, s, p, lm, st, mk, uk, em: log.append((lm, st)))
m.load_state_dict(net().state_dict(), strict=False, assign=True)
m.load_state_dict(dict(sd))
show("strict arg always True; metadata w/ assign; no metadata")


class B(nn.Module):
    _version = 3

    def __init__(s):
        super().__init__()
        s.register_buffer("a", torch.ones(1))
        s.register_buffer("b", torch.ones(1), persistent=False)
        s.register_buffer("n", None)
        s.register_parameter("pn", None)
        s.p = nn.Parameter(torch.ones(1))
        s.t = torch.ones(1)


b = B()
print(
    list(b.state_dict()),
    b.state_dict()._metadata,
    [n for n, _ in b.named_buffers()],
    [n for n, _ in b.named_parameters()],
)
T("load key for None buffer", lambda: B().load_state_dict({**b.state_dict(), "n": torch.ones(1)}))
T("load non-persistent key", lambda: B().load_state_dict({**b.state_dict(), "b": torch.ones(1)}))


class ES(nn.Module):
    def get_extra_state(s):
        return {"k": 1}

    def set_extra_state(s, st):
        log.append(st)


e = ES()
print(e.state_dict())
e.load_state_dict(e.state_dict())
show("extra state")
T("missing extra", lambda: e.load_state_dict({}))
T("unexpected extra", lambda: nn.Linear(1, 1).load_state_dict({**nn.Linear(1, 1).state_dict(), "_extra_state": 1}))
print("# shared")
l = nn.Linear(1, 1)
s = nn.Sequential(l, l)
print(list(s.state_dict()), [n for n, _ in s.named_parameters()])
print("# metadata of nested", net().state_dict()._metadata)
q = copy.deepcopy(sd)
print(
    "deepcopy keeps _metadata",
    getattr(q, "_metadata", None) is not None,
    "copy()",
    getattr(sd.copy(), "_metadata", None),
)
print("# load hook for module repr of error class name")
T("err class", lambda: B().load_state_dict({}))
