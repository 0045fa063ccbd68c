"""Behaviours that PyTorch's own tests of load_state_dict and of optimizer hooks check, as programs."""

import gc
import weakref
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from _log import case


def lines(fn):
    try:
        print("  ", fn())
    except Exception as e:
        print(f"   {type(e).__name__}: {e}".replace("\n", "\n    | "))


@case
def values_that_are_no_tensors():
    m = nn.Linear(2, 3, bias=False)
    lines(lambda: m.load_state_dict({"weight": np.random.randn(3, 2)}, strict=False))
    lines(lambda: m.load_state_dict({"weight": ((1.0, 5.0), (2.0, 4.0), (3.0, 3.0))}, strict=False))


@case
def what_is_no_mapping():
    m = nn.Module()
    lines(lambda: m.load_state_dict([]))
    lines(lambda: m.load_state_dict(None, strict=False))


def block():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 3, 3, bias=True)
            self.conv2 = nn.Conv2d(3, 3, 3, bias=False)

    return Block()


def tree():
    net = nn.Module()
    net.linear1 = nn.Linear(5, 5)
    net.linear2 = net.linear1
    net.bn = nn.BatchNorm2d(2)
    net.block = block()
    net.add_module("empty", None)
    return net


@case
def names_shapes_and_parts():
    net = tree()
    conv1_bias = net.block.conv1.bias
    state = net.state_dict()
    state.update({
        "linear1.weight": torch.ones(5, 5), "block.conv1.bias": torch.arange(1.0, 4), "bn.running_mean": torch.zeros(2)})
    del state["linear2.weight"], state["linear2.bias"]
    print("  ", net.load_state_dict(state, strict=False), net.linear1.weight[0, 0].item(), net.linear2 is net.linear1)
    print("  ", net.block.conv1.bias is conv1_bias, conv1_bias.tolist(), net.bn.running_mean.tolist())

    state = net.state_dict()
    state["extra"] = torch.ones(5)
    lines(lambda: net.load_state_dict(state))
    lines(lambda: net.load_state_dict(state, strict=False))
    state = net.state_dict()
    del state["linear1.weight"]
    lines(lambda: net.load_state_dict(state))
    lines(lambda: net.load_state_dict(state, strict=False))
    state["extra"] = torch.ones(5)
    state["block.conv1.extra.deep"] = torch.ones(5)
    lines(lambda: net.load_state_dict(state))
    lines(lambda: net.load_state_dict(state, strict=False))
    state = net.state_dict()
    state["bn.running_mean"] = torch.rand(14, 4)
    lines(lambda: net.load_state_dict(state))
    lines(lambda: net.load_state_dict(state, strict=False))
    old = net.state_dict()
    new = {k: torch.full(v.shape, 2, dtype=v.dtype) for k, v in old.items() if k.startswith("block.")}
    lines(lambda: net.load_state_dict(new, strict=False))
    return sorted({k.split(".")[0] for k, v in net.state_dict().items() if bool((v == 2).all())})


@case
def batch_norm_before_it_counted():
    bn = nn.BatchNorm2d(3)
    state = bn.state_dict()
    del state["num_batches_tracked"]
    state._metadata[""]["version"] = 1
    bn.load_state_dict(state)
    print("  ", bn.num_batches_tracked.dtype, bn.num_batches_tracked.item())
    state._metadata[""]["version"] = 2
    lines(lambda: bn.load_state_dict(state))


@case
def a_childs_pre_hook_sees_its_own_keys():
    m = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)))
    for name, child in m.named_modules():
        child._register_load_state_dict_pre_hook(
            lambda state, prefix, *a, name=name: print("  ", repr(name), repr(prefix), list(state)))
    m.load_state_dict(m.state_dict())


@case
def loading_leaves_no_cycle():
    gc.collect()
    m = nn.LSTM(2, 3)
    state = m.state_dict()
    m.load_state_dict(state)
    ref = weakref.ref(m)
    gc.disable()
    try:
        del m, state
        return ref() is None
    finally:
        gc.enable()


class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.param = nn.Parameter(torch.ones(1))
        self.sub = nn.Linear(5, 5)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        destination[prefix + "serialized"] = self.param.data + 1

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, errors):
        self.param.data.copy_(state_dict[prefix + "serialized"] - 1)


@case
def a_module_that_saves_itself():
    m = nn.Sequential(Custom())
    with torch.no_grad():
        m[0].param[0] = 10
        m[0].sub.weight[0, 0] = 555
    state = m.state_dict()
    print("  ", state["0.serialized"], state["0.sub.weight"][0, 0].item(), sorted(state))
    del state["0.serialized"]
    lines(lambda: m.load_state_dict(state))
    state["0.serialized"] = torch.tensor([32.0])
    lines(lambda: m.load_state_dict(state))
    return m[0].param


@case
def assign():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(3, 5)
            self.bn = nn.BatchNorm1d(5)
            self.register_parameter("none", None)
            self.x = nn.Parameter(torch.rand(5), requires_grad=False)

    a, b = Net(), Net()
    before = list(b.state_dict())
    result = b.load_state_dict(a.state_dict(), strict=False, assign=True)
    same = {n: p.data_ptr() == q.data_ptr() for (n, p), q in zip(b.named_parameters(), a.parameters())}
    return (result, list(b.state_dict()) == before, [p.requires_grad for p in b.parameters()], same,
            [type(p).__name__ for p in b.parameters()], b.bn.running_mean.data_ptr() == a.bn.running_mean.data_ptr())


@case
def assign_takes_the_parameters_themselves_with_keep_vars():
    a, b = nn.Linear(2, 1), nn.Linear(2, 1)
    b.weight.requires_grad_(False)
    b.load_state_dict(a.state_dict(keep_vars=True), assign=True)
    return b.weight is a.weight, a.weight.requires_grad, b.bias is a.bias


@case
def assign_and_the_optimizer():
    torch.manual_seed(0)
    a = nn.Linear(4, 1)
    x = torch.ones(2, 4)
    opt = torch.optim.Adam(a.parameters(), lr=0.1)
    a(x).sum().backward()
    opt.step()
    b = nn.Linear(4, 1)
    b.load_state_dict({k: v.clone() for k, v in a.state_dict().items()}, assign=True)
    other = torch.optim.Adam(b.parameters(), lr=0.1)
    other.load_state_dict(opt.state_dict())
    for m, o in ((a, opt), (b, other)):
        o.zero_grad()
        m(x).sum().backward()
        o.step()
    return torch.equal(a.weight, b.weight), torch.equal(a.bias, b.bias)


@case
def assign_with_other_strides_and_shapes():
    m = nn.Linear(3, 5)
    state = m.state_dict()
    state["weight"] = torch.arange(15.0).reshape(3, 5).t()
    m.load_state_dict(state, assign=True)
    print("  ", m.weight.stride(), m.weight.shape)
    state["weight"] = torch.ones(3, 5)
    lines(lambda: m.load_state_dict(state, assign=True))


@case
def unexpected_names_that_share_a_beginning():
    m = nn.Sequential(OrderedDict(a=nn.Linear(1, 1), ab=nn.Linear(1, 1)))
    for name in ("a.weight.x", "abc", "a", "ab.c.d", "a.x", ".", "a..weight", "b.weight"):
        state = m.state_dict()
        state[name] = torch.ones(1)
        lines(lambda: m.load_state_dict(state))


# ---- optimizers


OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Rprop", "ASGD")


def optimizer(name="SGD"):
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    return getattr(torch.optim, name)([p], lr=0.1)


@case
def step_hooks_of_every_optimizer():
    for name in OPTIMIZERS:
        data = 2

        def pre(opt, args, kwargs):
            nonlocal data
            data += 2

        def post(opt, args, kwargs):
            nonlocal data
            data *= 3

        opt = optimizer(name)
        shown = []
        handles = [opt.register_step_pre_hook(pre), opt.register_step_post_hook(post)]
        opt.step()
        shown.append(data)
        opt.step()
        shown.append(data)
        handles.pop(0).remove()
        opt.step()
        shown.append(data)
        handles.pop(0).remove()
        opt.step()
        print("  ", name, shown, data)


@case
def step_hooks_in_order():
    order = []

    def log(n):
        return lambda opt, args, kwargs: order.append(n)

    opt = optimizer()
    handles = [
        register_optimizer_step_pre_hook(log("global pre")), opt.register_step_pre_hook(log("pre")),
        opt.register_step_post_hook(log("post")), register_optimizer_step_post_hook(log("global post"))]
    opt.step()
    for h in handles:
        h.remove()
    opt.step()
    return order


@case
def state_dict_hooks():
    for name in OPTIMIZERS:
        opt = optimizer(name)
        log = []
        a = opt.register_state_dict_pre_hook(lambda o: log.append(("pre", o is opt)))
        b = opt.register_state_dict_post_hook(lambda o, sd: {**sd, "ours": 1})
        c = opt.register_state_dict_post_hook(lambda o, sd: log.append(("first", sorted(sd))), prepend=True)
        keys = sorted(opt.state_dict())
        for h in (a, b, c):
            h.remove()
        print("  ", name, log, keys, sorted(opt.state_dict()))


@case
def load_state_dict_hooks():
    for name in OPTIMIZERS:
        opt, other = optimizer(name), optimizer(name)
        opt.step()
        log = []
        state = other.state_dict()
        state["param_groups"] = [{**state["param_groups"][0], "lr": 5.0}]
        a = opt.register_load_state_dict_pre_hook(lambda o, sd: log.append("second"))
        b = opt.register_load_state_dict_pre_hook(lambda o, sd: log.append("replaces") or state, prepend=True)
        c = opt.register_load_state_dict_post_hook(lambda o: log.append("post, lr " + str(o.param_groups[0]["lr"])))
        d = opt.register_load_state_dict_post_hook(lambda o: log.append("post first"), prepend=True)
        opt.load_state_dict(optimizer(name).state_dict())
        for h in (a, b, c, d):
            h.remove()
        opt.load_state_dict(optimizer(name).state_dict())
        print("  ", name, log, opt.param_groups[0]["lr"])


