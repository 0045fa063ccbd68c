"""Handles of module hooks: pickled and copied."""

import copy
import pickle

import torch
import torch.nn as nn

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


class M(nn.Module):
    def forward(self, x):
        return x


def fwd_hook(m, i, o):
    pass


m = M()
h = m.register_forward_hook(fwd_hook)
h2 = pickle.loads(pickle.dumps(h))
print(h2.id == h.id, h2.hooks_dict_ref(), h2.extra_dict_ref)
mm, hh = pickle.loads(pickle.dumps((m, h)))
print(len(mm._forward_hooks))
hh.remove()
print("pickled together then removed:", len(mm._forward_hooks))
m3 = copy.deepcopy(m)
print("deepcopy module keeps hooks:", len(m3._forward_hooks), list(m3._forward_hooks) == list(m._forward_hooks))
h.remove()
print(len(m._forward_hooks), len(m3._forward_hooks))
mod = nn.Linear(1, 1)
mod.weight.register_hook(lambda g: log.append("w"))
md = copy.deepcopy(mod)
md(torch.ones(1)).backward()
show("deepcopied module's param hooks")
