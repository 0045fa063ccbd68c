"""Where modules, optimizers and files differ on purpose: each case is in the list of deviations."""

import io

import torch
import torch.nn as nn
import torch.nn.modules.module as MM

from _log import T


def net():
    return nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))


def ended(fn):
    try:
        fn()
    except Exception as e:
        return type(e).__name__
    return "fine"


def assign_once():
    m, state = net(), net().state_dict()
    m.load_state_dict(state, assign=True)
    weight = m[0].weight
    m.load_state_dict(state)
    return sorted(state._metadata[""]), m[0].weight is weight


T("a plain load after one that assigned", assign_once)


def failed_load():
    m = net()
    before = m[0].weight.detach().clone()
    state = {**net().state_dict(), "1.bias": torch.ones(7)}
    return ended(lambda: m.load_state_dict(state)), torch.equal(m[0].weight, before)


T("a failed load leaves the module as it was", failed_load)


def kwargs_leak():
    n = len(MM._global_forward_hooks_with_kwargs)
    MM.register_module_forward_hook(lambda *a: None, with_kwargs=True).remove()
    return len(MM._global_forward_hooks_with_kwargs) - n


T("what a removed global forward hook leaves behind", kwargs_leak)


def removes_itself(owner, register, call):
    ran = []

    def first(*a):
        ran.append("first")
        handle.remove()

    handle = getattr(owner, register)(first)
    getattr(owner, register)(lambda *a: ran.append("second") and None)
    return ended(call), ran


def optimizer():
    return torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)


m = net()
T("state-dict pre hook removes itself", removes_itself, m, "register_state_dict_pre_hook", m.state_dict)
m = net()
T("load pre hook removes itself", removes_itself, m, "register_load_state_dict_pre_hook",
  lambda: m.load_state_dict(m.state_dict()))
m = net()
T("load post hook removes itself", removes_itself, m, "register_load_state_dict_post_hook",
  lambda: m.load_state_dict(m.state_dict()))
o = optimizer()
T("step pre hook removes itself", removes_itself, o, "register_step_pre_hook", o.step)
o = optimizer()
T("step post hook removes itself", removes_itself, o, "register_step_post_hook", o.step)
o = optimizer()
T("optimizer's state-dict pre hook removes itself", removes_itself, o, "register_state_dict_pre_hook", o.state_dict)

modules = nn.ModuleList([nn.ReLU(), nn.Tanh()])
T("insert beyond the end of a list", lambda: modules.insert(9, nn.GELU()) or list(modules._modules))
modules = nn.ModuleList([nn.ReLU(), nn.Tanh()])
T("insert before the last of a list", lambda: modules.insert(-1, nn.GELU()) or [type(x).__name__ for x in modules])
d = nn.ParameterDict()
T("a key that is refused", lambda: d.update([(5, torch.ones(1))]))
T("what it leaves in the dict", lambda: len(d))

T("a step inside the graph", lambda: torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1, differentiable=True) and 1)

file = io.BytesIO()
torch.save(net(), file)
file.seek(0)
T("a whole module in a file", lambda: ended(lambda: torch.load(file, weights_only=False)))

layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1).eval()
x = torch.ones(2, 3, 4)
padding = torch.tensor([[False, False, True], [False, False, False]])


def zeros_at_padding():
    with torch.no_grad():
        return bool((encoder(x, src_key_padding_mask=padding)[0, 2] == 0).all())


def weighted_mask():
    with torch.no_grad():
        bias = torch.arange(9.0).view(3, 3) / 9
        return bool(layer.eval()(x, src_mask=bias, src_key_padding_mask=padding.float()).isnan().any())


T("an encoder in inference gives zeros at padded places", zeros_at_padding)
T("a mask of weights beside padding gives nan in inference", weighted_mask)
