"""Nodes: types, names, edges, saved values, attributes."""

import torch

from _log import T, t

print("# grad_fn types/names")
x = t([1.0, 2.0])
b = x.clone()
b[0] = 5
print(b, type(b.grad_fn), type(b.grad_fn).__name__, b.grad_fn.name(), str(b.grad_fn)[:40], type(b.grad_fn).__mro__)
b2 = x.clone()
b2.copy_(x)
print(b2, b2.grad_fn.name())
print(x // 2)
acc = (x * 2).grad_fn.next_functions[0][0]
print(acc.name(), type(acc), acc.variable is x, acc.next_functions, acc.metadata)
print("same acc twice", (x * 2).grad_fn.next_functions[0][0] is acc, (x + 1).grad_fn.next_functions[0][0] is acc)
print("grad_fn identity", (lambda y: y.grad_fn is y.grad_fn)(x * 2))
y = x * 2
nf = y.grad_fn.next_functions
print(nf, type(nf), type(nf[0]))
try:
    y.grad_fn.foo = 1
    print("setattr ok", y.grad_fn.foo)
except Exception as e:
    print(type(e).__name__, e)
print([a for a in dir(y.grad_fn) if not a.startswith("__")])
print([a for a in dir(acc) if not a.startswith("__")])
print("isinstance Node", isinstance(y.grad_fn, torch.autograd.graph.Node), isinstance(acc, torch.autograd.graph.Node))
print("callable:", (x * 2).grad_fn(torch.ones(2)))
p = x**2
print("saved", p.grad_fn._saved_self is x, p.grad_fn._saved_self, p.grad_fn._saved_exponent, p.grad_fn._raw_saved_self)
p.sum().backward()
T("saved after free", lambda: p.grad_fn._saved_self)
e = x.exp()
print(e.grad_fn._saved_result is e, e.grad_fn._saved_result)
print(
    "mul saved self when other no grad:",
    (x * torch.tensor([3.0, 4.0])).grad_fn._saved_self,
    (x * torch.tensor([3.0, 4.0])).grad_fn._saved_other,
)
print(
    "sequence_nr increases",
    (x * 2).grad_fn._sequence_nr() < (x * 2).grad_fn._sequence_nr(),
    "acc seq",
    acc._sequence_nr(),
)
print("_input_metadata", p.grad_fn._input_metadata)
u = x.unbind(0)
print([(q.grad_fn, q.output_nr) for q in u], u[0].grad_fn is u[1].grad_fn)
