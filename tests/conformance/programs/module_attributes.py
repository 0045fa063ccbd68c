"""Attributes of modules: parameters, buffers, children; names that are refused; lookup by path; traversal."""

import copy

import torch
import torch.nn as nn

from _log import T


class Leaf(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.register_buffer("b", torch.zeros(1))
        self.register_buffer("temporary", torch.zeros(1), persistent=False)
        self.plain = torch.zeros(3)
        self.none = None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Leaf()
        self.c = nn.ModuleList([Leaf(), nn.Identity()])
        self.shared = self.a
        self.p = nn.Parameter(torch.ones(1))


def names(pairs):
    return [name for name, _ in pairs]


print("# traversal")
net = Net()
print(names(net.named_parameters()), names(net.named_parameters(recurse=False)))
print(names(net.named_parameters(prefix="x")), names(net.named_parameters(remove_duplicate=False)))
print(names(net.named_buffers()), names(net.named_buffers(recurse=False)))
print(names(net.named_modules()), names(net.named_modules(remove_duplicate=False)))
print(names(net.named_children()), len(list(net.children())), len(list(net.modules())))
print(len(list(net.parameters())), len(list(net.buffers())), list(net.state_dict()))
order = []
net.apply(lambda m: order.append(type(m).__name__))
print(order)

print("# lookup")
T("submodule", lambda: type(net.get_submodule("c.0")).__name__)
T("itself", lambda: net.get_submodule("") is net)
T("no such", lambda: net.get_submodule("c.7"))
T("not a module", lambda: net.get_submodule("a.w"))
T("parameter", lambda: net.get_parameter("c.0.w") is net.c[0].w)
T("no parameter", lambda: net.get_parameter("a.v"))
T("a buffer is no parameter", lambda: net.get_parameter("a.b"))
T("buffer", lambda: net.get_buffer("a.b") is net.a.b)
T("no buffer", lambda: net.get_buffer("a.w"))
T("no buffer at all", lambda: net.get_buffer("a.x"))
T("set", lambda: (net.set_submodule("a.new", nn.Identity()), net.a.new)[1])
T("set nothing", lambda: net.set_submodule("", nn.Identity()))
T("set over a parameter", lambda: net.set_submodule("a.w", nn.Identity()))
T("missing", lambda: net.missing)
T("delete missing", lambda: delattr(net, "missing"))

print("# what becomes what")
leaf = Leaf()


def where(name):
    return [t for t in ("_parameters", "_buffers", "_modules", "__dict__") if name in getattr(leaf, t)]


leaf.x = nn.Parameter(torch.ones(1))
print(where("x"))
T("tensor over parameter", lambda: setattr(leaf, "x", torch.ones(1)))
T("int over parameter", lambda: setattr(leaf, "x", 1))
leaf.x = None
print(where("x"), leaf.x, names(leaf.named_parameters()))
T("module over parameter", lambda: setattr(leaf, "x", nn.Identity()))
del leaf.x
leaf.x = nn.Identity()
print(where("x"))
T("tensor over module", lambda: setattr(leaf, "x", torch.ones(1)))
leaf.x = nn.Parameter(torch.ones(1))
print(where("x"))
leaf.b = torch.ones(2)
print(where("b"), leaf.b)
T("int over buffer", lambda: setattr(leaf, "b", 1))
leaf.b = None
print(where("b"), names(leaf.named_buffers()))
leaf.b = nn.Parameter(torch.ones(1))
print(where("b"))
leaf.plain = nn.Parameter(torch.ones(1))
print(where("plain"))
leaf.kept = nn.Buffer(torch.ones(1))
leaf.left = nn.Buffer(torch.ones(1), persistent=False)
print(where("kept"), where("left"), list(leaf.state_dict()), sorted(leaf._non_persistent_buffers_set))
del leaf.left
print(where("left"), leaf._non_persistent_buffers_set)
leaf.temporary = torch.ones(1)
print(list(leaf.state_dict()))
leaf.register_buffer("temporary", torch.ones(1))
print(list(leaf.state_dict()))
leaf.n = 5
leaf.n = torch.ones(1)
print(where("n"))

print("# names that are refused")
for kind, value in (("parameter", nn.Parameter(torch.ones(1))), ("buffer", torch.ones(1)), ("module", nn.Identity())):
    register = getattr(Leaf(), f"register_{kind}")
    T(f"{kind} number", lambda: register(1, value))
    T(f"{kind} dot", lambda: register("a.b", value))
    T(f"{kind} empty", lambda: register("", value))
    T(f"{kind} exists", lambda: register("plain", value))
    T(f"{kind} wrong", lambda: register("fresh", "text"))
    T(f"{kind} None", lambda: register("fresh", None))
    T(f"{kind} method", lambda: register("forward", value))
T("non-leaf parameter", lambda: Leaf().register_parameter("q", nn.Parameter(torch.ones(1)) * 2))


class Late(nn.Module):
    def __init__(self, how):
        how(self)


def assign(name, value):
    return lambda self: setattr(self, name, value)


T("parameter too early", lambda: Late(assign("w", nn.Parameter(torch.ones(1)))))
T("module too early", lambda: Late(assign("m", nn.Identity())))
T("buffer too early", lambda: Late(lambda self: self.register_buffer("b", torch.ones(1))))
T("plain is fine", lambda: Late(assign("n", 1)).n)
T("arguments", lambda: nn.Module(1, 2))
T("keyword", lambda: nn.Module(a=1))

print("# dir")
found = dir(nn.Sequential(Leaf()))
print("0" in found, "forward" in found, "w" in dir(Leaf()), "b" in dir(Leaf()))


class Property(nn.Module):
    @property
    def broken(self):
        return self.not_there


T("property that fails", lambda: Property().broken)

print("# copies")
twin = copy.deepcopy(net)
print(twin.shared is twin.a, twin.a is net.a, twin.p is net.p, bool((twin.p == net.p).all()), twin.p.requires_grad)
flat = copy.copy(net)
print(flat.p is net.p, flat._modules is net._modules)
