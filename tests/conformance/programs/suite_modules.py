"""Behaviours that PyTorch's own tests of the module system check, as programs."""

import copy
import itertools
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Buffer, Parameter

from _log import case


def lines(*fns):
    for fn in fns:
        try:
            print("  ", fn())
        except Exception as e:
            print(f"   {type(e).__name__}: {e}".replace("\n", "\n    | "))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(10, 20)
        self.l2 = nn.Linear(20, 5)
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x):
        return self.l2(self.l1(x))


def names(pairs):
    return [name for name, _ in pairs]


@case
def requires_grad_():
    m = nn.Module()
    m.sub = nn.Linear(1, 1)
    m.p = Parameter(torch.ones(1), requires_grad=False)
    m.b = Buffer(torch.ones(1))
    print("  ", m.requires_grad_() is m, [p.requires_grad for p in m.parameters()], m.b.requires_grad)
    m.requires_grad_(False)
    return [p.requires_grad for p in m.parameters()]


@case
def init_takes_no_arguments_unless_cooperative():
    class A(nn.Module):
        pass

    class Mixin:
        def __init__(self, *args, x=1, **kwargs):
            super().__init__(*args, **kwargs)
            self.x = x

    class B(nn.Module, Mixin):
        call_super_init = True

    class C(nn.Module, Mixin):
        pass

    lines(lambda: A(1), lambda: A(a=1), lambda: A(), lambda: B(x=3).x, lambda: C().x)


@case
def to():
    m = nn.Linear(2, 3)
    m.register_buffer("count", torch.tensor(1))
    print("  ", m.to(torch.float64) is m, m.weight.dtype, m.count.dtype)
    print("  ", m.to("cpu", torch.float32).weight.dtype, m.to(torch.ones(1, dtype=torch.float16)).bias.dtype)
    print("  ", m.float().weight.dtype, m.double().weight.dtype, m.half().weight.dtype)
    print("  ", m.to("cpu").weight.device, m.to(device="cpu", dtype=torch.float64).weight.dtype)
    lines(lambda: m.to("cpu", 1), lambda: m.to(1), lambda: m.to(torch.int32), lambda: m.to(torch.tensor(1)),
          lambda: m.to("cpu", torch.float16, True).weight.dtype, lambda: m.to())


@case
def zero_grad():
    m = nn.Linear(5, 5)
    m.zero_grad()
    m.weight.requires_grad_(False)
    m.zero_grad()
    m.weight.requires_grad_()
    m(torch.ones(5)).sum().backward(create_graph=True)
    g = m.weight.grad
    m.zero_grad(set_to_none=False)
    print("  ", m.weight.grad is g, g.abs().sum().item(), g.requires_grad, m.bias.grad.grad_fn)
    m.zero_grad()
    return m.weight.grad, m.bias.grad


@case
def no_grad():
    for bias in (True, False):
        m = nn.Conv2d(2, 5, 3, bias=bias)
        x = torch.randn(1, 2, 10, 10, requires_grad=True)
        with torch.no_grad():
            y = m(x)
        print("  ", y.requires_grad, m(x).requires_grad)
        lines(lambda: y.backward(torch.ones_like(y)))


@case
def parameters_and_names():
    n = Net()
    s = nn.Sequential(n, n, n, n)
    print("  ", len(list(n.parameters())), len(list(s.parameters())), names(s.named_parameters()))
    print("  ", names(s.named_parameters(prefix="p")), names(s.named_parameters(recurse=False)))
    print("  ", names(s.named_parameters(remove_duplicate=False)))
    print("  ", names(s.named_buffers()), names(s.named_buffers("x", remove_duplicate=False)))
    return sum(1 for _ in s.parameters(recurse=False)), len(list(s.buffers()))


@case
def shared_parameters_by_name():
    a = nn.Linear(1, 1)
    m = nn.Sequential(a, nn.Sequential(a))
    m.register_parameter("again", a.weight)
    return names(m.named_parameters()), names(m.named_parameters(remove_duplicate=False))


@case
def dict_output():
    class D(nn.Module):
        def forward(self, x):
            return {"output": x + 1}

    return D()(torch.ones(1))


@case
def children_and_modules():
    l1, l2, l3, l4 = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)
    sub = nn.Sequential(l3, l4)
    s = nn.Sequential(l1, l2, l1, l2, sub)
    print("  ", len(list(s.children())), names(s.named_children()), names(s.named_modules()))
    print("  ", names(s.named_modules(prefix="m")), names(s.named_modules(remove_duplicate=False)))
    sub.none = None
    return len(list(s.modules())), [m is x for m, x in zip(s.modules(), [s, l1, l2, sub, l3, l4])]


@case
def train_takes_a_boolean():
    m = nn.Linear(1, 1)
    lines(lambda: m.train("fail"), lambda: m.train(1), lambda: m.train(False).training, lambda: m.eval() is m)


@case
def dir_shows_what_is_there():
    m = nn.Linear(2, 2)
    m._test_submodule = nn.Linear(2, 2)
    m._test_parameter = Parameter(torch.ones(2))
    m.register_buffer("_test_buffer", torch.ones(2))
    keys = dir(m)
    print("  ", [k for k in keys if k.startswith("_test")], [k for k in keys if k in m.__dict__ and not hasattr(m, k)])
    return any(k.isdigit() for k in dir(nn.Sequential(nn.Linear(1, 1))))


@case
def as_text():
    class Own(nn.Module):
        def extra_repr(self):
            return "a=1\nb=2"

    class Empty(nn.Module):
        pass

    empty = nn.Sequential()
    own = Own()
    nested = nn.Sequential(OrderedDict(a=nn.Sequential(nn.Linear(1, 2), own), b=Empty()))
    own.child = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)])
    for m in (empty, nested, nn.ModuleDict({"a": nn.ReLU()}), nn.ParameterList([Parameter(torch.ones(2, 3))])):
        print(m)


@case
def buffers_refused_and_replaced():
    m = nn.Module()
    m.attribute_name = 5
    lines(lambda: m.register_buffer(["x"], torch.ones(1)), lambda: m.register_buffer("attribute_name", torch.ones(1)),
          lambda: m.register_buffer("x", "not a tensor"), lambda: m.register_buffer("a.b", torch.ones(1)),
          lambda: m.register_buffer("", torch.ones(1)))
    del m.attribute_name
    m.register_parameter("attribute_name", Parameter(torch.ones(1)))
    lines(lambda: m.register_buffer("attribute_name", torch.ones(1)))
    del m.attribute_name
    m.add_module("attribute_name", nn.Module())
    lines(lambda: m.register_buffer("attribute_name", torch.ones(1)))
    m.register_buffer("own", None)
    m.register_buffer("own", torch.tensor([2.0]))
    print("  ", m.own)
    m.own = None
    print("  ", m.own, list(m.state_dict()), names(m.named_buffers()))
    lines(lambda: setattr(m, "own", 5), lambda: setattr(m, "own", Parameter(torch.ones(1))) or names(m.named_buffers()))


@case
def buffers_by_path():
    m = nn.Module()
    m.one, m.sub = Buffer(torch.ones(2)), nn.Module()
    m.sub.two = Buffer(torch.zeros(2))
    m.sub.number = 3
    lines(lambda: m.get_buffer("one"), lambda: m.get_buffer("sub.two"), lambda: m.get_buffer("sub.number"),
          lambda: m.get_buffer("sub.nothing"), lambda: m.get_buffer("nosub.x"), lambda: m.get_buffer("one.x"),
          lambda: m.get_parameter("one"), lambda: m.get_submodule("sub"), lambda: m.get_submodule("one"))


@case
def buffers_that_do_not_persist():
    m = nn.Linear(2, 1)
    m.register_buffer("buf", torch.rand(1), persistent=False)
    print("  ", names(m.named_buffers()), list(m.state_dict()), m._non_persistent_buffers_set)
    del m.buf
    print("  ", m._non_persistent_buffers_set, hasattr(m, "buf"))
    m.register_buffer("buf", torch.rand(1), persistent=False)
    m.register_buffer("buf", torch.rand(1))
    print("  ", list(m.state_dict()))
    m.register_buffer("buf", torch.rand(1), persistent=False)
    m.buf = Parameter(torch.rand(1))
    print("  ", list(m.state_dict()), names(m.named_buffers()), names(m.named_parameters()))
    m.register_buffer("other", torch.rand(1), persistent=False)
    m.b = Buffer(torch.ones(1), persistent=False)
    lines(lambda: m.load_state_dict({**m.state_dict(), "other": torch.ones(1)}), lambda: list(m.state_dict()))
    del m.other
    m.other = nn.Linear(1, 1)
    return list(m.state_dict()), type(m.b).__name__, isinstance(m.b, Buffer)


@case
def parameters_refused_and_replaced():
    m = nn.Module()
    m.attribute_name = 5
    lines(lambda: m.register_parameter(["x"], Parameter(torch.ones(1))),
          lambda: m.register_parameter("attribute_name", Parameter(torch.ones(1))),
          lambda: m.register_parameter("a.b", None), lambda: m.register_parameter("", None),
          lambda: m.register_parameter("x", torch.ones(1)))
    del m.attribute_name
    m.register_buffer("attribute_name", torch.ones(1))
    lines(lambda: m.register_parameter("attribute_name", Parameter(torch.ones(1))))
    del m.attribute_name
    m.add_module("attribute_name", nn.Module())
    lines(lambda: m.register_parameter("attribute_name", Parameter(torch.ones(1))))
    m.register_parameter("own", None)
    m.register_parameter("own", Parameter(torch.ones(1) * 2))
    return m.own, names(m.named_parameters())


@case
def modules_refused_and_replaced():
    for method in ("add_module", "register_module"):
        m = nn.Module()
        m.attribute_name = 5
        add = getattr(m, method)
        lines(lambda: add("attribute_name", nn.Module()), lambda: add("x", "not a module"), lambda: add("a.b", nn.Module()),
              lambda: add("", nn.Module()), lambda: add(1, nn.Module()), lambda: add("none", None))
        m.register_buffer("buf", torch.ones(1))
        m.p = Parameter(torch.ones(1))
        lines(lambda: add("buf", nn.Module()), lambda: add("p", nn.Module()))
        add("sub", nn.Linear(1, 1))
        add("sub", nn.ReLU())
        print("  ", m.sub, list(m._modules))


@case
def an_attribute_error_in_a_property():
    class M(nn.Module):
        @property
        def broken(self):
            return self.something

    lines(lambda: M().broken, lambda: M().other)


@case
def sequential_items():
    l = [nn.Linear(1, i + 1) for i in range(4)]
    s = nn.Sequential(*l)
    print("  ", [s[i] is l[i] for i in range(-4, 4)], s[torch.tensor(1)] is l[1], len(s[1:]), s[1:3][0] is l[1])
    print("  ", s[::-1], s[:-1][-1] is l[2])
    lines(lambda: s[4], lambda: s[-5], lambda: s["0"], lambda: s[1.5])
    s[0], s[-1] = nn.ReLU(), nn.Tanh()
    print("  ", s)
    n = nn.Sequential(OrderedDict(a=l[0], b=l[1], c=l[2]))
    n[0] = nn.ReLU()
    print("  ", list(n._modules), n.a, list(n[1:]._modules), list(n[1:].state_dict()))
    del n[-1]
    del s[1::2]
    print("  ", list(n._modules), list(s._modules), len(s))
    lines(lambda: s.__delitem__(7), lambda: s.__setitem__(7, nn.ReLU()), lambda: s.__setitem__(0, 3))


@case
def sequential_arithmetic():
    a, b = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 3)), nn.Sequential(nn.Linear(3, 4))
    both = a + b
    print("  ", len(both), both[0] is a[0], both[2] is b[0], type(both).__name__)
    a += b
    print("  ", len(a), len(a * 2), len(2 * a), (a * 2)[0] is a[0])
    a *= 2
    print("  ", len(a), a[3] is a[0])
    lines(lambda: a + nn.ReLU(), lambda: a * "s", lambda: a * 0, lambda: 0 * a, lambda: a * -1, lambda: "s" * a,
          lambda: a.__iadd__([]), lambda: a.__imul__(0), lambda: a.__imul__(1.5))


@case
def sequential_edits():
    s = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 3))
    print("  ", s.append(nn.ReLU()) is s, len(s), s.pop(1), list(s._modules), s.pop(-1), len(s))
    s.insert(0, nn.Tanh())
    s.insert(-1, nn.Sigmoid())
    s.insert(3, nn.GELU())
    print("  ", s)
    lines(lambda: s.insert(9, nn.ReLU()), lambda: s.insert(0, 5), lambda: s.pop(9), lambda: s.append(5),
          lambda: s.insert(-9, nn.ReLU()))
    print("  ", len(s.extend([nn.ReLU(), nn.ReLU()])), len(s.extend(nn.Sequential(nn.Tanh()))))
    lines(lambda: s.extend(5))
    return list(s._modules)


@case
def module_list():
    modules = [nn.ReLU(), nn.Linear(5, 5)]
    ml = nn.ModuleList(modules)
    print("  ", len(ml), [a is b for a, b in zip(ml, modules)], 0 in ml, modules[0] in ml)
    ml += [nn.Tanh()]
    ml.append(nn.Sigmoid())
    ml.insert(1, nn.GELU())
    ml.extend([nn.SiLU()])
    ml.extend(m for m in [nn.ELU()])
    print("  ", [type(m).__name__ for m in ml], [type(m).__name__ for m in ml[2:4]], type(ml[:1]).__name__)
    ml[2] = nn.Softplus()
    del ml[-1], ml[1:3]
    print("  ", [type(m).__name__ for m in ml], list(ml._modules), ml.pop(0), ml.pop(-1), len(ml))
    print("  ", [type(m).__name__ for m in ml + [nn.ReLU()]], type(ml + ml).__name__)
    lines(lambda: ml.extend(5), lambda: ml[7], lambda: ml(1), lambda: ml.append(3), lambda: ml.__iadd__(3),
          lambda: ml["x"], lambda: nn.ModuleList(5))
    e = nn.ModuleList([])
    return len(e), e, nn.ModuleList(ml), ml.__dir__() != []


@case
def module_dict():
    d = nn.ModuleDict(OrderedDict(lin=nn.Linear(1, 1), act=nn.ReLU()))
    print("  ", list(d), list(d.keys()), [type(v).__name__ for v in d.values()], names(d.items()), "lin" in d, len(d))
    d["new"] = nn.Tanh()
    d.update({"lin": nn.GELU(), "more": nn.SiLU()})
    d.update([("pair", nn.ReLU())])
    d.update(nn.ModuleDict({"other": nn.Linear(1, 1)}))
    print("  ", d)
    print("  ", d.pop("new"), list(d), d.pop('act'))
    del d["more"]
    lines(lambda: d["nothing"], lambda: d.pop("nothing"), lambda: d.update(5), lambda: d.update([1]),
          lambda: d.update([(1, nn.ReLU())]), lambda: d.update([("a",)]), lambda: d.__setitem__("a", 3), lambda: d(1),
          lambda: nn.ModuleDict(5))
    d.clear()
    return len(d), d


@case
def parameter_list():
    a, b = Parameter(torch.ones(2)), torch.zeros(3)
    pl = nn.ParameterList([a, b])
    print("  ", pl[0] is a, type(pl[1]).__name__, pl[1].requires_grad, len(pl), pl[-1] is pl[1])
    pl.append(torch.ones(1))
    pl += [Parameter(torch.ones(4)), "text"]
    pl.extend([torch.ones(2)])
    print("  ", [type(p).__name__ for p in pl], names(pl.named_parameters()), list(pl.state_dict()))
    print("  ", type(pl[1:3]).__name__, len(pl[1:3]))
    print(pl)
    pl[0] = torch.full((2,), 5.0)
    lines(lambda: pl[9], lambda: pl.append, lambda: pl.extend(5), lambda: pl(1), lambda: pl.__delitem__(0),
          lambda: pl.pop(), lambda: nn.ParameterList(5), lambda: pl[0])


@case
def parameter_dict():
    d = nn.ParameterDict({"b": Parameter(torch.ones(1)), "a": torch.zeros(2)})
    print("  ", list(d), type(d["a"]).__name__, names(d.named_parameters()), len(d), "a" in d, list(reversed(d)))
    d["c"] = torch.ones(3)
    d.update({"e": torch.ones(1), "d": torch.ones(1)})
    d.update(OrderedDict(g=torch.ones(1)))
    d.update([["h", torch.ones(1)]])
    print("  ", list(d), d.get("a").shape, d.get("nothing"), d.get("nothing", 5), d.setdefault("k", torch.ones(1)).shape)
    print("  ", list((d | nn.ParameterDict({"z": torch.ones(1)})).keys()), list(d.copy()), type(d.copy()).__name__)
    print("  ", d.pop("c").shape, d.popitem()[0], list(d.fromkeys(["x", "y"])), list(d.fromkeys(["x"], torch.ones(1)).items()))
    d["text"] = "not a tensor"
    d["sub"] = torch.ones(1, 2)
    print(d)
    lines(lambda: d["nothing"], lambda: d.update(5), lambda: d.update([1]), lambda: d.update([("a",)]), lambda: d(1),
          lambda: d.pop("nothing"))
    del d["a"]
    d |= nn.ParameterDict({"new": torch.ones(1)})
    print("  ", list(d))
    d.clear()
    return len(d), d


@case
def apply_in_place():
    m = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1)))
    order = []

    def fill(module):
        order.append(type(module).__name__)
        if isinstance(module, nn.Linear):
            module.weight.data.fill_(3.0)

    print("  ", m.apply(fill) is m, order, m[0].weight)
    before = m[0].weight._version
    p = m[0].weight
    m.double()
    return m[0].weight is p, m[0].weight._version >= before, m[0].weight.dtype


@case
def type_of_everything():
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    m.type(torch.float64)
    print("  ", m[0].weight.dtype, m[1].running_mean.dtype, m[1].num_batches_tracked.dtype)
    m.float()
    return m[0].weight.dtype, m[1].num_batches_tracked.dtype


@case
def parameters_that_are_no_leaves():
    l1, l2 = nn.Linear(1, 1), nn.Linear(1, 1)

    def assign():
        l2.weight = l1.weight + 2

    lines(assign)
    l2.weight = Parameter(l1.weight + 2)
    return l2.weight.is_leaf, l2.weight.grad_fn


@case
def vectors():
    m = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    v = nn.utils.parameters_to_vector(m.parameters())
    nn.utils.vector_to_parameters(torch.arange(13.0), m.parameters())
    return v.shape, v.requires_grad, m[0].weight, m[1].bias


@case
def state_dicts():
    l = nn.Linear(5, 5)
    block = nn.Module()
    block.conv1 = nn.Conv2d(3, 3, 3, bias=True)
    block.conv2 = nn.Conv2d(3, 3, 3, bias=False)
    net = nn.Module()
    net.linear1 = l
    net.linear2 = l
    net.bn = nn.BatchNorm2d(2)
    net.block = block
    net.add_module("empty", None)
    sd = net.state_dict()
    print("  ", list(sd), sd["linear1.weight"].data_ptr() == sd["linear2.weight"].data_ptr(), len(sd._metadata))
    print("  ", [v.requires_grad for v in net.state_dict(keep_vars=True).values()][:3], sd["linear1.weight"].requires_grad)
    print("  ", list(net.state_dict(prefix="x."))[:2], type(sd).__name__, dict(sd._metadata["bn"]))
    return net.state_dict(None, "foo.", True)["foo.linear1.weight"] is l.weight


class Extra(nn.Module):
    def __init__(self, data):
        super().__init__()
        self.data = data
        self.p = Parameter(torch.ones(1))

    def get_extra_state(self):
        return self.data

    def set_extra_state(self, state):
        self.data = state


@case
def extra_state():
    for data in (5, "something", {"a": [1]}, torch.ones(2)):
        m, n = nn.Sequential(Extra(data)), nn.Sequential(Extra(None))
        sd = m.state_dict()
        print("  ", list(sd), n.load_state_dict(sd), n[0].data)
    del sd["0._extra_state"]
    lines(lambda: n.load_state_dict(sd), lambda: n.load_state_dict(sd, strict=False))

    class Only(nn.Module):
        def get_extra_state(self):
            return 5

    class OnlySet(nn.Module):
        def set_extra_state(self, state):
            pass

    lines(lambda: Only().load_state_dict(Only().state_dict()), lambda: OnlySet().load_state_dict({}),
          lambda: nn.Module().get_extra_state(), lambda: nn.Module().set_extra_state(1))


@case
def assignment_of_parameters():
    l = nn.Linear(5, 10)
    print("  ", len(list(l.parameters())))
    l.extra = Parameter(torch.ones(1))
    print("  ", names(l.named_parameters()))
    l.extra = None
    print("  ", names(l.named_parameters()), l.extra)
    del l.extra
    lines(lambda: l.extra, lambda: setattr(l, "weight", torch.ones(1)), lambda: setattr(l, "weight", 5))
    l.bias = None
    print("  ", l(torch.ones(5)).shape, l)
    l.bias = Parameter(torch.ones(10))
    return names(l.named_parameters())


@case
def assignment_of_modules():
    l = nn.Module()
    a, b = Parameter(torch.ones(1)), Parameter(torch.zeros(1))
    l.a = None
    print("  ", names(l.named_parameters()), "a" in l.__dict__)
    l.a = a
    l.b = b
    l.a = b
    print("  ", l.a is b, names(l.named_parameters()), names(l.named_parameters(remove_duplicate=False)))
    l.sub = nn.ReLU()
    l.sub = None
    print("  ", l.sub, list(l._modules), names(l.named_children()))
    l.sub = nn.Tanh()
    lines(lambda: setattr(l, "sub", 5), lambda: setattr(l, "sub", a))
    l.x = 5
    l.x = nn.ReLU()
    print("  ", list(l._modules), "x" in l.__dict__, names(l.named_parameters()))
    l.buf = Buffer(torch.ones(1))
    l.buf = torch.zeros(1)
    lines(lambda: setattr(l, "buf", 5), lambda: l.buf)
    return list(l._buffers)


@case
def copies_of_containers():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 5)

        def forward(self, x):
            return self.linear(x)

    x = torch.randn(3, 4)
    m = Model()
    c, s = copy.deepcopy(m), copy.copy(m)
    print("  ", torch.equal(m(x), c(x)), c.linear.weight is m.linear.weight, s.linear is m.linear)
    containers = nn.Sequential(nn.Linear(2, 2)), nn.ModuleList([nn.ReLU()]), nn.ModuleDict({"a": nn.ReLU()})
    return [type(copy.copy(k)).__name__ == type(k).__name__ and len(copy.deepcopy(k)) == 1 for k in containers]


@case
def mixed_in_functional():
    m = nn.Linear(2, 1)
    x = torch.ones(1, 2)
    return torch.equal(F.linear(x, m.weight, m.bias), m(x)), len(list(itertools.chain(m.parameters(), m.buffers())))
