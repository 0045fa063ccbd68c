"""A listing of document 001: ... of inputs that do not require grad."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, d_in, d_hidden, d_out):
        super().__init__()
        self.fc1 = nn.Linear(d_in, d_hidden, bias=False)
        self.fc2 = nn.Linear(d_hidden, d_out, bias=False)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


d_in, d_hidden, d_out = 4, 3, 2
B, T = 5, 6  # batch size, sequence length
torch.manual_seed(0)
x = torch.randn(B, T, d_in)
y = torch.randn(B, T, d_out)
model = MLP(d_in, d_hidden, d_out)
captured = {}
hooks = []


def make_fwd_hook(name):
    def fwd_hook(module, inp, out):
        captured[f"{name}_a"] = inp[0].detach().clone()

    return fwd_hook


hooks.append(model.fc1.register_forward_hook(make_fwd_hook("L1")))
hooks.append(model.fc2.register_forward_hook(make_fwd_hook("L2")))


def make_bwd_hook(name):
    def bwd_hook(module, grad_input, grad_output):
        captured[f"{name}_delta"] = grad_output[0].detach().clone()

    return bwd_hook


hooks.append(model.fc1.register_full_backward_hook(make_bwd_hook("L1")))
hooks.append(model.fc2.register_full_backward_hook(make_bwd_hook("L2")))
model.zero_grad()
loss = 0.5 * ((model(x) - y) ** 2).sum()
loss.backward()
for k, v in captured.items():
    print(f" {k:10s} shape {tuple(v.shape)}")
print(f"\nBatch (B={B}) and token (T={T}) dimensions are preserved in both hooks.")
# Clean up the hooks so they don't fire on subsequent forward/backward calls
for h in hooks:
    h.remove()
