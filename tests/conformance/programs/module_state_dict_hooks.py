"""State dict hooks that edit."""

import torch.nn as nn

from _log import T


def net():
    return nn.Linear(2, 1)


sd = net().state_dict()
b = net()
w = b.weight
b.load_state_dict(sd)
print("control", b.weight is w)
m = nn.Sequential(nn.Linear(2, 1))
m[0]._register_state_dict_hook(lambda mod, s, p, lm: (s.pop(p + "bias"), None)[1])
print(list(m.state_dict()))
m = nn.Sequential(nn.Linear(2, 1))
m[0].register_state_dict_post_hook(lambda mod, s, p, lm: (s.pop(p + "bias"), None)[1])
print(list(m.state_dict()))
T("then load strict", lambda: m.load_state_dict(m.state_dict()))
m = nn.Sequential(nn.Linear(2, 1))
m.register_state_dict_post_hook(lambda mod, s, p, lm: lm.update(version=99))
print(m.state_dict()._metadata)
# doc 000_13: wrong names
T(
    "doc hook signature names",
    lambda: (
        (
            lambda q: (
                q.register_state_dict_pre_hook(
                    lambda _module, state_dict, keep_vars: print("got", repr(state_dict), keep_vars)
                ),
                q.state_dict(),
            )
        )(nn.Linear(1, 1))
        and None
    ),
)
