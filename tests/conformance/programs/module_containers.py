"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict: as lists and dicts."""

from collections import OrderedDict

import torch
import torch.nn as nn

from _log import T


def acts(*names):
    return [getattr(nn, name)() for name in names]


def kinds(modules):
    return [type(m).__name__ for m in modules]


s = nn.Sequential(*acts("ReLU", "Tanh", "Sigmoid", "ELU"))
print(len(s), kinds(s), type(s[1]).__name__, type(s[-1]).__name__, kinds(s[1:3]), list(s[1:3]._modules))
T("index", lambda: s[4])
T("index below", lambda: s[-5])
T("str", lambda: s["0"])
s[1] = nn.GELU()
s[-1] = nn.SiLU()
print(kinds(s))
del s[0]
print(kinds(s), list(s._modules))
del s[0:2]
print(kinds(s), list(s._modules))
T("append", lambda: kinds(s.append(nn.ReLU())))
T("extend", lambda: kinds(s.extend(acts("Tanh", "ELU"))))
T("extend by a Sequential", lambda: kinds(s.extend(nn.Sequential(nn.Mish()))))
T("insert", lambda: kinds(s.insert(1, nn.Softsign())))
T("insert at the end", lambda: kinds(s.insert(-1, nn.Softplus())))
T("insert too far", lambda: s.insert(99, nn.ReLU()))
T("insert a number", lambda: s.insert(0, 3))
T("pop", lambda: type(s.pop(0)).__name__)
T("pop last", lambda: (type(s.pop(-1)).__name__, kinds(s), list(s._modules)))
T("add", lambda: kinds(nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())))
T("add a list", lambda: nn.Sequential(nn.ReLU()) + [nn.Tanh()])
T("times", lambda: (nn.Sequential(nn.ReLU(), nn.Tanh()) * 2, 2 * nn.Sequential(nn.ReLU())))
T("times zero", lambda: nn.Sequential(nn.ReLU()) * 0)
T("times half", lambda: nn.Sequential(nn.ReLU()) * 0.5)


def in_place():
    a = nn.Sequential(nn.ReLU(), nn.Tanh())
    b = a
    a += nn.Sequential(nn.ELU())
    a *= 2
    return a is b, kinds(a)


T("in place", in_place)
named = nn.Sequential(OrderedDict([("first", nn.ReLU()), ("second", nn.Tanh())]))
print(named, named.second, list(named.state_dict()))
print(named[:1])
T("not a module", lambda: nn.Sequential(3))
T("empty", lambda: nn.Sequential()(torch.ones(1)))

print("# ModuleList")
m = nn.ModuleList(acts("ReLU", "Tanh", "ELU"))
print(m, len(m), kinds(m[0:2]), type(m[0:2]).__name__, type(m[-1]).__name__)
m.append(nn.GELU())
m.extend(acts("Mish"))
m += acts("SiLU")
m.insert(1, nn.Sigmoid())
m[0] = nn.Identity()
print(kinds(m), list(m._modules))
del m[1]
del m[-2:]
print(kinds(m), list(m._modules), type(m.pop(1)).__name__, kinds(m))
T("call", lambda: m(torch.ones(1)))
T("index", lambda: m[9])
T("extend by a number", lambda: m.extend(3))
T("add", lambda: kinds(m + acts("ReLU")))
T("not a module", lambda: m.append(1))
T("contains", lambda: (m[0] in m, nn.ReLU() in m))
print(nn.ModuleList([nn.Linear(1, 2), nn.Linear(1, 2), nn.Sequential(nn.ReLU()), nn.Linear(1, 2)]))

print("# ModuleDict")
d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
d["c"] = nn.ELU()
d.update([("e", nn.GELU()), ("a", nn.Mish())])
print(d, list(d), len(d), "a" in d, "z" in d, list(d.keys()), kinds(d.values()), [k for k, _ in d.items()])
print(type(d.pop("b")).__name__, list(d))
del d["c"]
T("missing", lambda: d["c"])
T("update by a number", lambda: d.update(3))
T("update by a bad pair", lambda: d.update([("a",)]))
T("update by no pair", lambda: d.update([1]))
T("name of a method", lambda: d.update({"keys": nn.ReLU()}))
T("update by another", lambda: list((d.update(nn.ModuleDict({"q": nn.ReLU()})), d)[1]))
d.clear()
print(d, len(d))

print("# ParameterList")
p = nn.ParameterList([nn.Parameter(torch.ones(2)), torch.zeros(3, 1), 5, "s"])
print(p, len(p), [type(x).__name__ for x in p], [n for n, _ in p.named_parameters()])
p.append(torch.ones(1))
p[0] = torch.full((2,), 3.0)
p += [torch.ones(4)]
print(len(p), p[0], type(p[1:3]).__name__, p[-1])
T("index", lambda: p[77])
T("call", lambda: p())
T("extend by a number", lambda: p.extend(3))
print(list(p.state_dict()))

print("# ParameterDict")
q = nn.ParameterDict({"a": torch.ones(2), "b": nn.Parameter(torch.zeros(1)), "c": 5})
print(q, len(q), list(q), "a" in q, list(q.keys()), [type(v).__name__ for v in q.values()])
q["d"] = torch.ones(1, 1)
q.update({"e": torch.ones(1)})
print(q.get("zzz"), q.get("zzz", 3), type(q.setdefault("f", torch.ones(1))).__name__, type(q.pop("a")).__name__, list(q))
print(q.popitem()[0], list(reversed(q)), list(q.copy()), list(q.fromkeys(["x", "y"], 1).items()))
T("missing", lambda: q["nothing"])
T("number as key", lambda: q[1])
T("call", lambda: q(1))
print(list(q | nn.ParameterDict({"n": torch.ones(1)})), [n for n, _ in q.named_parameters()])
q |= {"m": torch.ones(1)}
del q["m"]
q.clear()
print(len(q), q)
