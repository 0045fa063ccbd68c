"""Behaviours that PyTorch's own tests of module hooks check, as programs."""

import pickle
from collections import namedtuple
from functools import partial

import torch
import torch.nn as nn
import torch.nn.modules.module as MM

from _log import case, t

Pair = namedtuple("Pair", ["a", "b"])


class Net(nn.Module):
    def __init__(self, named=False):
        super().__init__()
        self.seq1 = nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)])
        self.seq2 = nn.Sequential(*[nn.Linear(2, 2) for _ in range(2)])
        self.named = named

    def forward(self, x):
        y = self.seq2(self.seq1(x))
        return Pair(y, y) if self.named else y


class ToDict(nn.Module):
    def forward(self, x):
        return {"x": x}


def first(out):
    return out[0] if isinstance(out, tuple) else out


def ordered(register):
    """Hooks 0, 1, 2 (1 and 4 put in front): on a submodule and on the model; fired by forward or by backward."""
    shown = []
    for named in (False, True):
        fired = []
        net = Net(named)
        for i, prepend in [(0, False), (1, True), (2, False), (3, False), (4, True)]:
            register(net.seq1, lambda *a, i=i: fired.append(i), prepend)
        out = net(torch.ones(4, 2, requires_grad=True))
        at_forward = list(fired)
        first(out).sum().backward()
        shown.append((at_forward, fired[len(at_forward):]))
    assert shown[0] == shown[1]
    return shown[0]


@case
def forward_hooks_in_order():
    return ordered(lambda m, h, p: m.register_forward_hook(h, prepend=p))


@case
def forward_pre_hooks_in_order():
    return ordered(lambda m, h, p: m.register_forward_pre_hook(h, prepend=p))


@case
def full_backward_hooks_in_order():
    return ordered(lambda m, h, p: m.register_full_backward_hook(h, prepend=p))


@case
def full_backward_pre_hooks_in_order():
    return ordered(lambda m, h, p: m.register_full_backward_pre_hook(h, prepend=p))


@case
def full_backward_pre_hook_returns_the_gradient():
    net = Net()
    net.seq1.register_full_backward_pre_hook(lambda m, go: (torch.zeros_like(go[0]),))
    net(torch.ones(4, 2, requires_grad=True)).sum().backward()
    return [p.grad.abs().sum().item() == 0 for p in net.parameters()]


@case
def all_four_kinds_in_order():
    fired = []
    net = Net(True)
    net.register_forward_pre_hook(lambda *a: fired.append("pre"))
    net.register_forward_hook(lambda *a: fired.append("forward"))
    net.register_full_backward_pre_hook(lambda *a: fired.append("backward pre"))
    net.register_full_backward_hook(lambda *a: fired.append("backward"))
    net(torch.ones(1, 2, requires_grad=True))[0].sum().backward()
    return fired


class Add(nn.Module):
    def forward(self, x, *, bias=None):
        return x + (0 if bias is None else bias)

    def pre(self, module, args, kwargs):
        return args, {"bias": torch.tensor(10.0)}


@case
def kwargs_hooks():
    net = Add()
    x = torch.ones(1)
    seen = []
    h = net.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs) or out + 100, with_kwargs=True)
    a = net(x, bias=torch.tensor(5.0)).tolist()
    h.remove()
    net.register_forward_pre_hook(net.pre, with_kwargs=True)  # a bound method
    net.register_forward_hook(lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True)
    return a, net(x, bias=torch.tensor(5.0)).tolist(), seen


@case
def removed_kwargs_hooks_leave_nothing():
    net = Add()
    a = net.register_forward_pre_hook(lambda m, args, kwargs: None, with_kwargs=True)
    b = net.register_forward_hook(lambda m, args, kwargs, out: None, with_kwargs=True)
    c = net.register_forward_hook(lambda m, args, out: None, always_call=True)
    def sizes():
        return [len(x) for x in (
            net._forward_pre_hooks_with_kwargs, net._forward_hooks_with_kwargs, net._forward_hooks_always_called)]

    before = sizes()
    for h in (a, b, c):
        h.remove()
    return before, sizes()


class Fails(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how

    def forward(self, x):
        if self.how == "forward":
            raise RuntimeError("in forward")
        return x


def always(how, whole=False):
    log = []
    net = Fails(how)

    def hook(name, fails=False):
        def f(m, args, out):
            log.append((name, out is None))
            if fails:
                raise ValueError(f"in {name}")
        return f

    handles = []
    if how == "pre":
        def refuse(m, args):
            raise RuntimeError("in the pre hook")

        handles.append(net.register_forward_pre_hook(refuse))
    if whole:
        handles.append(MM.register_module_forward_hook(hook("global"), always_call=True))
    handles.append(net.register_forward_hook(hook("plain")))
    handles.append(net.register_forward_hook(hook("always"), always_call=True))
    handles.append(net.register_forward_hook(hook("throws", True), always_call=True))
    handles.append(net.register_forward_hook(hook("after"), always_call=True))
    try:
        net(torch.ones(1))
    except Exception as e:
        log.append(f"{type(e).__name__}: {e}")
    for h in handles:
        h.remove()
    n = len(log)
    try:
        net(torch.ones(1))
    except Exception as e:
        log.append(f"{type(e).__name__}: {e}")
    print("  ", *log[:n], "| removed:", log[n:])


@case
def always_called_hooks():
    for how in ("forward", "pre", "nothing"):
        always(how)
        always(how, True)


@case
def dict_output_warns_and_no_backward_hook_fires():
    net = ToDict()
    net.register_full_backward_hook(lambda *a: print("   fired"))
    x = torch.ones(2, requires_grad=True)
    net(x)["x"].sum().backward()
    return x.grad


# ---- hooks of every module


@case
def global_hooks_count():
    counter = {"f": 0, "b": 0}
    module = nn.Sigmoid

    def fw(inc, m, i, o):
        counter["f"] += inc

    def bw(inc, m, gi, go):
        counter["b"] += inc

    one, two = module(), module()
    x = torch.ones(5, 5, requires_grad=True)
    shown = []
    h1 = MM.register_module_forward_hook(partial(fw, 1))
    one(x), two(x)
    shown.append(dict(counter))
    h2 = MM.register_module_backward_hook(partial(bw, 1))
    y = one(x) * 1
    y.backward(torch.ones(5, 5), retain_graph=True)
    shown.append(dict(counter))
    y.backward(2 * torch.ones(5, 5), retain_graph=True)
    shown.append(dict(counter))
    h3 = MM.register_module_forward_hook(partial(fw, 2))
    one(x)
    shown.append(dict(counter))
    h4 = MM.register_module_backward_hook(partial(bw, 2))
    (two(one(x)) * 1).sum().backward()
    shown.append(dict(counter))
    h1.remove(), h4.remove()
    two(one(x)).sum().backward()
    shown.append(dict(counter))
    h2.remove(), h3.remove()
    two(one(x)).sum().backward()
    MM._global_is_full_backward_hook = None
    return shown, counter


@case
def global_legacy_hook_with_invalid_returns():
    module = nn.Sigmoid()
    x = torch.randn(5, 5, requires_grad=True)
    for ret in (lambda gi: (), lambda gi: gi + gi):
        with MM.register_module_backward_hook(lambda m, gi, go: ret(gi)):
            try:
                module(x).sum().backward()
            except RuntimeError as e:
                print("  ", str(e).split("'")[-1].strip())
    MM._global_is_full_backward_hook = None


@case
def global_backward_hook_writes():
    module = nn.Sigmoid()
    x = torch.ones(2, requires_grad=True)
    sig = torch.sigmoid(x)
    h = MM.register_module_backward_hook(lambda m, gi, go: tuple(g * 2 for g in gi))
    module(x).backward(torch.ones(2))
    expected = sig * (1 - sig) * 2
    h.remove()
    MM._global_is_full_backward_hook = None
    return torch.allclose(x.grad, expected)


@case
def global_forward_hooks_write():
    module = nn.Sigmoid()
    x = torch.full((2,), 3.0, requires_grad=True)
    with MM.register_module_forward_pre_hook(lambda m, i: torch.relu(i[0]) * 2):
        with MM.register_module_forward_hook(lambda m, i, o: -o):
            y = module(x)
    y.sum().backward()
    s = torch.sigmoid(torch.tensor(6.0))
    return torch.allclose(y, -s), torch.allclose(x.grad, -2 * s * (1 - s)), module(x)


@case
def global_hook_removal():
    module = nn.Sigmoid()
    log = []
    handles = [MM.register_module_forward_pre_hook(lambda m, i: log.append("pre a")),
               MM.register_module_forward_pre_hook(lambda m, i: log.append("pre b")),
               MM.register_module_forward_hook(lambda m, i, o: log.append("a")),
               MM.register_module_forward_hook(lambda m, i, o: log.append("b"))]
    sizes = []
    for h in handles:
        module(torch.ones(1))
        sizes.append((len(MM._global_forward_pre_hooks), len(MM._global_forward_hooks)))
        h.remove()
    module(torch.ones(1))
    return log, sizes


@case
def handles_pickle_with_their_ids():
    module = nn.Sigmoid()
    a = module.register_forward_hook(print)
    copy = pickle.loads(pickle.dumps(a))
    b = module.register_forward_hook(print)
    return copy.id == a.id, b.id != a.id, copy.hooks_dict_ref() is None or len(copy.hooks_dict_ref())


@case
def global_before_local():
    for order in ("global first", "local first"):
        log = []
        module = nn.Sigmoid()

        def log_as(name):
            return lambda *a: log.append(name)

        def everywhere():
            return [MM.register_module_forward_pre_hook(log_as("G pre")), MM.register_module_forward_hook(log_as("G")),
                    MM.register_module_full_backward_pre_hook(log_as("G bpre")),
                    MM.register_module_full_backward_hook(log_as("G b"))]

        def here():
            return [module.register_forward_pre_hook(log_as("pre"), prepend=True),
                    module.register_forward_hook(log_as("f"), prepend=True),
                    module.register_full_backward_pre_hook(log_as("bpre"), prepend=True),
                    module.register_full_backward_hook(log_as("b"), prepend=True)]

        handles = everywhere() + here() if order == "global first" else here() + everywhere()
        module(torch.ones(1, requires_grad=True)).backward()
        for h in handles:
            h.remove()
        print("  ", order, log)
    MM._global_is_full_backward_hook = None


@case
def global_forward_hook_with_kwargs():
    seen = []
    h = MM.register_module_forward_hook(
        lambda m, args, kwargs, out: seen.append(sorted(kwargs)) or out * 2, with_kwargs=True)
    y = Add()(torch.ones(1), bias=torch.tensor(2.0))
    h.remove()
    return y, seen, Add()(torch.ones(1), bias=torch.tensor(2.0))


# ---- counts, values and refusals of one module's hooks


def counts(kind):
    counter = {"f": 0, "b": 0}

    def fw(inc, m, i, o):
        counter["f"] += inc

    def bw(inc, *a):
        counter["b"] += inc

    module = nn.Sigmoid()
    register = getattr(module, kind)
    x = torch.ones(5, 5, requires_grad=True)
    shown = []
    module.register_forward_hook(partial(fw, 1))
    module(x)
    shown.append(tuple(counter.values()))
    h = register(partial(bw, 1))
    y = module(x)
    for _ in range(2):
        y.backward(torch.ones(5, 5), retain_graph=True)
        shown.append(tuple(counter.values()))
    h2 = module.register_forward_hook(partial(fw, 2))
    y = module(x)
    h3 = register(partial(bw, 2))
    y2 = module(x)
    y.backward(torch.ones(5, 5), retain_graph=True)
    shown.append(tuple(counter.values()))
    y2.backward(torch.ones(5, 5))
    shown.append(tuple(counter.values()))
    h2.remove(), h.remove(), h3.remove()
    module(x).sum().backward()
    return shown, counter


@case
def counts_of_legacy_hooks():
    return counts("register_backward_hook")


@case
def counts_of_full_backward_hooks():
    return counts("register_full_backward_hook")


@case
def counts_of_full_backward_pre_hooks():
    return counts("register_full_backward_pre_hook")


@case
def batch_norm_has_one_gradient_each_way():
    bn = nn.BatchNorm1d(5)
    bn.register_full_backward_hook(lambda m, gi, go: print("  ", len(gi), len(go), gi[0].shape, go[0].shape))
    bn(torch.randn(5, 5, requires_grad=True)).sum().backward()


@case
def the_full_hook_sees_what_the_pre_hook_left():
    m = nn.Sigmoid()
    m.register_full_backward_hook(lambda m, gi, go: print("   full", go))
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    x = torch.zeros(2, requires_grad=True)
    m(x).backward(torch.ones(2))
    return x.grad


@case
def invalid_returns():
    for kind in ("register_backward_hook", "register_full_backward_hook", "register_full_backward_pre_hook"):
        for n in (0, 2):
            m = nn.Sigmoid()
            getattr(m, kind)(lambda *a: a[1][:1] * n)
            x = torch.randn(2, requires_grad=True)
            try:
                (m(x * 1)).sum().backward()
            except RuntimeError as e:
                print("  ", kind, "|", str(e).replace("hook '<lambda>' ", ""))


class Three(nn.Module):
    def forward(self, a, b, c):
        self.seen = a.requires_grad, b.requires_grad, c.requires_grad
        return a + b + c


@case
def the_boundary_keeps_requires_grad():
    m = Three()
    m.register_full_backward_hook(lambda *a: None)
    for flags in [(True, True, True), (True, False, False), (False, False, True), (False, False, False)]:
        m(*(t([1.0], rg) for rg in flags))
        print("  ", flags, m.seen)


@case
def no_input_requires_grad():
    m = nn.Linear(2, 3)
    log = []
    h = m.register_full_backward_hook(lambda m, gi, go: log.append((gi, [g.shape for g in go])))
    m(torch.ones(1, 2)).sum().backward()
    h.remove()
    for answer in [lambda gi: None, lambda gi: (None,), lambda gi: (torch.ones(1, 2),)]:
        with m.register_full_backward_hook(lambda m, gi, go: answer(gi)):
            y = m(torch.ones(1, 2)).sum()
            try:
                y.backward()
            except RuntimeError as e:
                print("  ", e)
    return log


@case
def only_the_last_argument_requires_grad():
    class Last(nn.Module):
        def forward(self, a, b):
            return b.exp()

    m = Last()
    log = []
    m.register_full_backward_hook(lambda m, gi, go: log.append([None if g is None else g.shape for g in gi]))
    a, b = torch.ones(3), t([0.0])
    m(a, b).sum().backward()
    return log, b.grad


@case
def other_arguments_count_as_none():
    class Mixed(nn.Module):
        def forward(self, x, flag, y):
            return x, 3, y * 2

    m = Mixed()
    log = []
    m.register_full_backward_hook(
        lambda m, gi, go: log.append([[None if g is None else g.tolist() for g in gs] for gs in (gi, go)]))
    x, y = t([1.0]), t([2.0])
    a, _, b = m(x, True, y)
    (a + b).sum().backward()
    a, _, b = m(x, True, y)
    b.sum().backward()
    return log


@case
def in_place_edits_around_hooks():
    class In(nn.Module):
        def forward(self, x, edit):
            if edit:
                x.add_(1)
            return x.clone()

    def run(what):
        m = In()
        m.register_full_backward_hook(lambda m, gi, go: print("   fired", gi, go))
        x = t([1.0, 2.0])
        z = x * 1
        y = m(z, what == "input")
        if what == "base":
            z += 1
        if what == "output":
            y += 1
        y.sum().backward()
        return x.grad

    for what in ("nothing", "input", "base", "output"):
        try:
            print("  ", what, run(what))
        except RuntimeError as e:
            print("  ", what, str(e).split(".")[0])


@case
def legacy_hook_warns_of_what_it_misses():
    import warnings

    class Takes(nn.Module):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def forward(self, *a):
            return self.f(*a)

    x, y = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3, requires_grad=True)
    for f, args in [(lambda a: (a * 1, [a * 2]), (x,)), (lambda a: a[0] * 1, ([x],)), (lambda a: a.exp().log(), (x,)),
                    (lambda a, b: (a * 1, b * 2), (x, y)), (lambda a: a * 1, (x * 2,))]:
        m = Takes(f)
        m.register_backward_hook(lambda *a: None)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            m(*args)
        print("  ", [w.category.__name__ + ": " + str(w.message)[:95] for w in seen])


@case
def gradients_have_the_sizes_of_inputs_and_outputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm2d(2)

        def forward(self, a, b):
            return self.bn(a + b), a.sum(dim=(1, 2))

    m = Two()
    m.register_full_backward_hook(lambda m, gi, go: print("  ", [g.shape for g in gi], [g.shape for g in go]))
    a, b = (torch.randn(3, 2, 4, 4, requires_grad=True) for _ in range(2))
    out, total = m(a, b)
    (out.sum() + total.sum()).backward()


@case
def legacy_hook_writes():
    m = nn.Sigmoid()
    x = t([0.5, -1.0])
    s = torch.sigmoid(x.detach())
    m.register_backward_hook(lambda m, gi, go: tuple(g * 2 for g in gi))
    m(x).backward(torch.ones(2))
    return torch.allclose(x.grad, s * (1 - s) * 2)


@case
def forward_hooks_write():
    m = nn.Sigmoid()
    x = t([1.0])
    a = m.register_forward_pre_hook(lambda m, i: i[0] * 0)
    b = m.register_forward_hook(lambda m, i, o: o * 4)
    y = m(x)
    y.backward()
    a.remove(), b.remove()
    return y, x.grad, m(torch.zeros(1))
