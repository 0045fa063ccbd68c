"""A listing of document 000: Full backward hook."""

import torch

torch.manual_seed(0)
my_module = torch.nn.Linear(2, 2)
with torch.no_grad():
    my_module.weight.copy_(torch.tensor([[0.5, -1.0], [0.25, 2.0]]))
    my_module.bias.fill_(0.5)
input_tensor = torch.tensor([[1.0, 2.0]], requires_grad=True)


def hook_fn(_module, grad_input, grad_output):
    print("Inside full backward hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"grad_input: {grad_input}")
    print(f"grad_output: {grad_output}")


handle = my_module.register_full_backward_hook(hook_fn)
output = my_module(input_tensor)
output.sum().backward()
handle.remove()  # Remove the hook when done
