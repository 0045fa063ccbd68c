"""A listing of document 000: Forward pre-hook."""

import torch

torch.manual_seed(0)
my_module = torch.nn.Linear(2, 2)
with torch.no_grad():
    my_module.weight.copy_(torch.tensor([[0.5, -1.0], [0.25, 2.0]]))
    my_module.bias.fill_(0.5)
input_tensor = torch.tensor([[1.0, 2.0]])


def hook_fn(_module, _input):
    print("Inside forward pre-hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"input: {_input}")


handle = my_module.register_forward_pre_hook(hook_fn)
output = my_module(input_tensor)
handle.remove()  # Remove the hook when done
