"""Listings of document 000 that end with an exception: what is missing, or what PyTorch refuses."""

from _log import T

LISTINGS = {
    "000_1": '''\
loss.backward()
''',
    "000_2_fixed": '''\
import torch
x = torch.tensor(1.0, requires_grad=True)
y = x ** 2
y.backward()
print(x.grad)
try:
    y.backward()
except RuntimeError as e:
    print(type(e).__name__, e)
# variant: multiply by 2 saves no tensor -> no error second time
x = torch.tensor(1.0, requires_grad=True)
y = x * 2
y.backward(); y.backward()
print("x*2 twice:", x.grad)
''',
    "000_3": '''\
y.backward(retain_graph=True)
''',
    "000_4": '''\
x = torch.tensor(1.0, requires_grad=True)
y = x ** 2

y.backward(retain_graph=True)
print(x.grad)   # 2.0

y.backward()
print(x.grad)   # 4.0 (gradients accumulate)
''',
    "000_5": '''\
y = model(x)
loss1 = L1(y)
loss2 = L2(y)

loss1.backward(retain_graph=True)
loss2.backward()
''',
    "000_6": '''\
g = torch.autograd.grad(loss, w, create_graph=True)
g.backward()
''',
    "000_9": '''\
my_module = torch.nn.Linear(2, 2)
input_tensor = torch.tensor([[1.0, 2.0]])

def hook_fn(_module, _input):
    print(f"Inside forward pre-hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"input: {_input}")

handle = my_module.register_forward_pre_hook(hook_fn)
output = my_module(input_tensor)
handle.remove()  # Remove the hook when done
''',
    "000_10": '''\
my_module = torch.nn.Linear(2, 2)
input_tensor = torch.tensor([[1.0, 2.0]])

def hook_fn(_module, _input, _output):
    print(f"Inside forward hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"input: {_input}")
    print(f"output: {_output}")

handle = my_module.register_forward_hook(hook_fn)
output = my_module(input_tensor)
handle.remove()  # Remove the hook when done
''',
    "000_11": '''\
my_module = torch.nn.Linear(2, 2)
input_tensor = torch.tensor([[1.0, 2.0]], requires_grad=True)

def hook_fn(_module, grad_input, grad_output):
    print(f"Inside full backward hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"grad_input: {grad_input}")
    print(f"grad_output: {grad_output}")

handle = my_module.register_full_backward_hook(hook_fn)
output = my_module(input_tensor)
output.backward()
handle.remove()  # Remove the hook when done
''',
    "000_11_fixed": '''\
import torch
import torch.nn as nn
torch.manual_seed(0)
my_module = torch.nn.Linear(2, 2)
input_tensor = torch.tensor([[1.0, 2.0]], requires_grad=True)

def hook_fn(_module, grad_input, grad_output):
    print(f"Inside full backward hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"grad_input: {grad_input}")
    print(f"grad_output: {grad_output}")

handle = my_module.register_full_backward_hook(hook_fn)
output = my_module(input_tensor)
output.backward()
handle.remove()  # Remove the hook when done
''',
    "000_12": '''\
my_module = torch.nn.Linear(2, 2)
input_tensor = torch.tensor([[1.0, 2.0]], requires_grad=True)

def hook_fn(_module, grad_output):
    print(f"Inside full backward pre-hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"grad_output: {grad_output}")

handle = my_module.register_full_backward_pre_hook(hook_fn)
output = my_module(input_tensor)
output.backward()
handle.remove()  # Remove the hook when done
''',
    "000_12_fixed": '''\
import torch
import torch.nn as nn
torch.manual_seed(0)
my_module = torch.nn.Linear(2, 2)
input_tensor = torch.tensor([[1.0, 2.0]], requires_grad=True)

def hook_fn(_module, grad_output):
    print(f"Inside full backward pre-hook")
    print(f"module: {_module.__class__.__name__}")
    print(f"grad_output: {grad_output}")

handle = my_module.register_full_backward_pre_hook(hook_fn)
output = my_module(input_tensor)
output.backward()
handle.remove()  # Remove the hook when done
''',
}

for name, code in LISTINGS.items():
    T(name, exec, compile(code, name, "exec"), {"__name__": "__main__"})
