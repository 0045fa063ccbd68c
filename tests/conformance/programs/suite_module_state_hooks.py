"""Behaviours that PyTorch's own tests of modules check, as programs: hooks on registration, on state dicts and on their loading."""

import gc
import pickle
import weakref
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.modules.module as MM

from _log import case


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq1 = nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)])
        self.seq2 = nn.Sequential(*[nn.Linear(2, 2) for _ in range(2)])

    def forward(self, x):
        return self.seq2(self.seq1(x))


@case
def registration_hooks():
    seen = []
    replaced = nn.Parameter(torch.full((2,), 7.0))
    handles = [
        MM.register_module_buffer_registration_hook(lambda m, n, b: seen.append(("buffer", type(m).__name__, n))),
        MM.register_module_module_registration_hook(lambda m, n, s: seen.append(("module", type(m).__name__, n))),
        MM.register_module_parameter_registration_hook(
            lambda m, n, p: seen.append(("parameter", type(m).__name__, n)) or (replaced if n == "bias" else None))]
    try:
        m = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        m.register_buffer("own", torch.zeros(1))
        m.own = torch.ones(1)
    finally:
        for h in handles:
            h.remove()
    return seen, m[0].bias is replaced, m[1].bias is replaced, nn.Linear(1, 1).bias is replaced


# ---- hooks of state dicts


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.foo = nn.Parameter(torch.ones(2))
        self.log = []
        self._register_load_state_dict_pre_hook(self.pre)
        self._register_load_state_dict_pre_hook(self.pre_with_module, with_module=True)

    def pre(self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors):
        self.log.append(("method", prefix, sorted(state_dict)))

    def pre_with_module(self, module, state_dict, prefix, *args):
        self.log.append(("with module", module is self, prefix))


@case
def load_pre_hooks_with_and_without_module():
    m = Counts()
    m.load_state_dict(m.state_dict())
    outer = nn.ModuleDict({"mod": Counts()})
    outer.load_state_dict(outer.state_dict())
    return m.log, outer["mod"].log


@case
def load_pre_hook_keeps_the_module_weakly():
    m = Counts()
    ref = weakref.ref(m)
    table = m._load_state_dict_pre_hooks
    function = nn.Linear(1, 1)
    function._register_load_state_dict_pre_hook(lambda mod, *a: None, with_module=True)
    gone = weakref.ref(function)
    del function
    return gone() is None, len(table), ref() is m


class WithPickledHook(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1))
        self._register_load_state_dict_pre_hook(self.hook, with_module=True)

    def hook(self, module, state_dict, prefix, *args):
        print("   hook of", type(module).__name__, module is self)


@case
def pickled_with_its_hook():
    m = pickle.loads(pickle.dumps(WithPickledHook()))
    return m.load_state_dict(m.state_dict())


@case
def load_post_hooks_change_the_verdict():
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    log = []

    def hook(module, keys):
        log.append((module is m, list(keys.missing_keys), list(keys.unexpected_keys)))
        keys.missing_keys.append("foo")
        keys.unexpected_keys.append("bar")

    h = m.register_load_state_dict_post_hook(hook)
    print("  ", m.load_state_dict(m.state_dict(), strict=False))
    try:
        m.load_state_dict(m.state_dict())
    except RuntimeError as e:
        print("  ", repr(str(e)))
    h.remove()
    print("  ", m.load_state_dict(m.state_dict()))

    def clear(module, keys):
        keys.missing_keys.clear()
        keys.unexpected_keys.clear()

    m.register_load_state_dict_post_hook(clear)
    return m.load_state_dict({"nothing": torch.ones(1)}), log


@case
def modules_pickled_before_there_were_the_hooks():
    m = nn.Linear(1, 1)
    for name in ("_load_state_dict_post_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks"):
        del m.__dict__[name]
    old = pickle.loads(pickle.dumps(m))
    return old.load_state_dict(old.state_dict()), old.register_state_dict_pre_hook(lambda *a: None) is not None


@case
def state_dict_pre_hooks():
    inner = nn.Linear(1, 1)
    m = nn.Sequential(inner)
    log = []
    h = m.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append((mod is m, prefix, keep)))
    inner.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append((mod is inner, prefix, keep)))
    m.state_dict()
    m.state_dict(prefix="foo.", keep_vars=True)
    h.remove()
    m.state_dict()
    return log


@case
def state_dict_post_hooks_public_and_private():
    m = nn.Sequential(nn.Linear(1, 1))

    def replace(module, state_dict, prefix, meta):
        return OrderedDict(new=torch.zeros(1))

    def edit(module, state_dict, prefix, meta):
        state_dict["added"] = torch.ones(1)

    h = m.register_state_dict_post_hook(edit)
    print("  ", list(m.state_dict()))
    h.remove()
    h = m._register_state_dict_hook(lambda *a: replace(*a))
    print("  ", list(m.state_dict()))
    h.remove()
    for attempt in (lambda: m.register_state_dict_post_hook(replace) and m.state_dict(),
                    lambda: m._register_state_dict_hook(replace)):
        try:
            attempt()
        except RuntimeError as e:
            print("  ", e)


gc.collect()
