"""The listings of documents 000 (the first), 003 and 004, verbatim and mended; all but the one with random signs."""

from _log import T

LISTINGS = {
    "000_1_fixed": '''\
import torch
import torch.nn as nn
torch.manual_seed(0)
w = torch.tensor(3.0, requires_grad=True)
loss = w * 2
loss.backward()
print(w.grad)
''',
    "003_1": '''\
import torch

def log_grad_norm(grad):
    norm = torch.norm(grad)
    print(f"Gradient norm: {norm.item()}")

# create a tensor requiring gradients
x = torch.randn(2, 2, requires_grad=True)
y = x * 2  # simple operation
z = y.sum()

# register the hook on x before .backward()
x.register_hook(log_grad_norm)

z.backward()
''',
    "003_1_fixed": '''\
import torch
seen = []
x = torch.randn(2, 2, requires_grad=True)
z = (x * 2).sum()
x.register_hook(lambda g: seen.append((x.grad, g.clone())))
z.backward()
print("x.grad inside hook:", seen[0][0]); print("grad passed:", seen[0][1]); print("x.grad after:", x.grad)
# several uses: fires once with the sum
n = []
x = torch.tensor(1., requires_grad=True); x.register_hook(lambda g: n.append(g.item()))
(x * 2 + x * 3).backward(); print("calls", n)
''',
    "003_2": '''\
import torch

def clip_grad(grad, clip_value=1.0):
  return torch.clamp(grad, -clip_value, clip_value)

# create a tensor requiring gradients
x = torch.randn(2, 2, requires_grad=True) * 10 # create a large value that might lead to large gradients
y = x * 2
z = y.sum()

# register the clip hook on x before .backward()
x.register_hook(clip_grad)

z.backward()

print(x.grad)
''',
    "003_2_fixed": '''\
import torch
def clip_grad(grad, clip_value=1.0):
  return torch.clamp(grad, -clip_value, clip_value)
torch.manual_seed(0)
leaf = torch.randn(2, 2, requires_grad=True)
x = leaf * 10          # non-leaf, as in the document
x.register_hook(clip_grad)
x.retain_grad()
(x * 2).sum().backward()
print("x.is_leaf", x.is_leaf, "x.grad", x.grad, "leaf.grad", leaf.grad)
x = (torch.randn(2, 2) * 10).requires_grad_()   # what was meant
x.register_hook(clip_grad)
(x * 2).sum().backward()
print(x.grad)
''',
    "003_3_fixed": '''\
import torch
def modify_grad(grad, tensor):
    if (tensor > 0).all(): return grad * 2
    elif (tensor < 0).all(): return grad * 0.5
    else: return grad
for v in ([1., 2.], [-1., -2.], [1., -2.]):
    x = torch.tensor(v, requires_grad=True); z = (x * 2).sum()
    x.register_hook(lambda grad: modify_grad(grad, x)); z.backward(); print(v, x.grad)
# the closure reads x at backward time
x = torch.tensor([1., 2.], requires_grad=True); z = (x * 2).sum(); x.register_hook(lambda grad: modify_grad(grad, x))
with torch.no_grad(): x.neg_()
z.backward(); print("changed before backward:", x.grad)
''',
    "004_1": '''\
import torch

def my_hook(grad):
    print("Original gradient:", grad)
    modified_grad = grad * 2
    print("Modified gradient:", modified_grad)
    return modified_grad

x = torch.tensor(2.0, requires_grad=True)
y = x**2
y.register_hook(my_hook)
z = y*3
z.backward()

print("Final gradient of x:", x.grad)
''',
    "004_2": '''\
import torch

def clip_hook(grad):
    return torch.clamp(grad, -1, 1)

x = torch.tensor(10.0, requires_grad=True)
y = x**2
y.register_hook(clip_hook)
z = y*3
z.backward()
print("Gradient of x:", x.grad)
''',
    "004_2_fixed": '''\
import torch
for hook in (False, True):
    x = torch.tensor(10.0, requires_grad=True); y = x**2
    if hook: y.register_hook(lambda g: torch.clamp(g, -1, 1))
    (y*3).backward(); print("hook" if hook else "no hook", x.grad)
''',
    "004_3": '''\
import torch

def scalar_mult_hook(grad):
    return grad * 0.5

x = torch.tensor(2.0, requires_grad=True)
y = x**2
y.register_hook(scalar_mult_hook)
z = y*3
w = y*2
output = z + w
output.backward()

print("Gradient of x:", x.grad)
''',
    "004_3_fixed": '''\
import torch
calls = []
x = torch.tensor(2.0, requires_grad=True); y = x**2
y.register_hook(lambda g: (calls.append(g.item()), g * 0.5)[1])
z = y*3; w = y*2; (z + w).backward()
print("hook calls:", calls, "x.grad:", x.grad)
''',
}

for name, code in LISTINGS.items():
    T(name, exec, compile(code, name, "exec"), {"__name__": "__main__"})
