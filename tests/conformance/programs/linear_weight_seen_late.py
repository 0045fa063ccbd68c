"""F.linear: the transposed weight that the node keeps, looked at afterwards, after edits, or never; which gradients flow."""

import torch
import torch.nn.functional as F

w = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], requires_grad=True)
b = torch.tensor([0.1, -0.2], requires_grad=True)
x = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]], requires_grad=True)


def grads(*tensors):
    found = [None if t.grad is None else t.grad.tolist() for t in tensors]
    for t in tensors:
        t.grad = None
    return found


def caught(f):
    try:
        return f()
    except RuntimeError as error:
        return type(error).__name__, str(error)


def edges(y):
    return [None if n is None else n.name() for n, _ in y.grad_fn.next_functions]


y = F.linear(x, w, b)
kept = y.grad_fn._saved_mat2
print(kept, kept.shape, kept.stride(), kept._base is w, kept._is_view(), kept.is_leaf, kept.requires_grad, kept._version)
print(kept.grad_fn is y.grad_fn.next_functions[2][0], edges(y), y.grad_fn._saved_mat2_sym_sizes)
y.sum().backward()
print(grads(x, w, b))
print(caught(lambda: y.grad_fn._saved_mat2))
print(caught(lambda: y.sum().backward()))

y = F.linear(x, w, b)
with torch.no_grad():
    w.mul_(1.0)
    print(caught(lambda: y.grad_fn._saved_mat2))
print(caught(lambda: y.sum().backward()), grads(x, w, b))

y = F.linear(x, w, b)
w.data = torch.zeros(2, 3)
y.sum().backward()
print("new data", grads(x, w, b))
w.data = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])

y = F.linear(x, w, b)
with torch.no_grad():
    b.add_(1.0)
y.sum().backward(retain_graph=True)
y.sum().backward()
print("bias edited", grads(x, w, b))

y = F.linear(x, w, b)
with torch.no_grad():
    x.add_(1.0)
print("input edited", caught(lambda: y.sum().backward()), grads(x, w, b))

for wanted in ([x], [w], [b], [x, b], [w, b]):
    y = F.linear(x, w, b)
    print(len(wanted), torch.autograd.grad(y.pow(2).sum(), wanted))
    F.linear(x, w, b).sum().backward(inputs=wanted)
    print(grads(x, w, b))

log = []
y = F.linear(x, w, b)
y.grad_fn.register_hook(lambda gi, go: log.append([None if g is None else g.tolist() for g in (*gi, *go)]))
y.grad_fn.next_functions[2][0].register_prehook(lambda go: log.append([g.tolist() for g in go]))
y.sum().backward()
print(log, grads(x, w, b))

y = F.linear(x, w, b)
(g,) = torch.autograd.grad(y.pow(3).sum(), x, create_graph=True)
print(g, g.grad_fn.name())
g.sum().backward()
print(grads(x, w, b))

for flags in [(True, False, False), (False, True, False), (False, False, True), (True, True, False), (False, False, False)]:
    p, q, s = (t.detach().requires_grad_(on) for t, on in zip((x, w, b), flags))
    y = F.linear(p, q, s)
    if y.grad_fn is None:
        print(flags, y.requires_grad)
        continue
    print(flags, edges(y), y.grad_fn._saved_mat1, y.grad_fn._saved_mat2)
    y.sum().backward()
    print(grads(p, q, s))

kept = [torch.zeros(0)]
y = F.linear(x, w, b)
y.grad_fn._raw_saved_mat2.register_hooks(lambda t: kept.append(t.detach()) or t, lambda t: t * 2)
y.sum().backward()
print(kept, grads(x, w, b))

# gradients that hooks keep stay as they were while others are added to them
held = []
z = x * 1.0
z.register_hook(held.append)
first, second = z * 2.0, z * 3.0
first.register_hook(held.append)
(first + second + F.linear(z, w, b).sum() + z.sum()).sum().backward()
print(held, grads(x, w, b))
held[1].mul_(0.0)
print(held[0])
a = torch.tensor([1.0, 2.0], requires_grad=True)
seen = []
parts = [a * float(k) for k in range(1, 5)]
for part in parts:
    part.register_hook(lambda g: seen.append(g))
sum(parts).sum().backward()
a.grad.add_(1.0)
print(seen, a.grad, (a * 2).sum().backward(), a.grad)
