"""backward(): the gradient argument, several roots, roots that are views, leaves, integers, changed in place."""

import torch

from _log import T, t


def fresh(fn):
    def run():
        a, b = t([1.0, 2.0]), t([3.0, 4.0])
        r = fn(a, b)
        return (a.grad, b.grad) if r is None else (r, a.grad, b.grad)

    return run


backward = torch.autograd.backward
for label, fn in {
    "sum": lambda a, b: (a * b).sum().backward(),
    "gradient positional": lambda a, b: (a * b).backward(torch.tensor([1.0, 10.0])),
    "gradient keyword": lambda a, b: (a * b).backward(gradient=torch.tensor([1.0, 10.0])),
    "gradient None": lambda a, b: (a * b).sum().backward(None),
    "gradient 0-dim for 0-dim": lambda a, b: (a * b).sum().backward(torch.tensor(3.0)),
    "gradient [1] for 0-dim": lambda a, b: (a * b).sum().backward(torch.tensor([3.0])),
    "gradient 0-dim for [1]": lambda a, b: (a * b)[:1].backward(torch.tensor(3.0)),
    "gradient (2, 1)": lambda a, b: (a * b).backward(torch.ones(2, 1)),
    "gradient empty": lambda a, b: (a * b).backward(torch.ones(0)),
    "gradient int64": lambda a, b: (a * b).backward(torch.tensor([1, 2])),
    "gradient bool": lambda a, b: (a * b).backward(torch.tensor([True, False])),
    "gradient expanded": lambda a, b: (a * b).backward(torch.tensor([2.0]).expand(2)),
    "gradient list": lambda a, b: (a * b).backward([torch.ones(2)]),
    "gradient tuple": lambda a, b: (a * b).backward((torch.ones(2),)),
    "gradient int": lambda a, b: (a * b).sum().backward(1),
    "gradient str": lambda a, b: (a * b).sum().backward("one"),
    "gradient that requires grad": lambda a, b: (a * b).backward(t([1.0, 1.0])),
    "gradient with graph, create_graph": lambda a, b: (a * b).backward(t([1.0, 1.0]) * 2, create_graph=True),
    "non-scalar": lambda a, b: (a * b).backward(),
    "two roots": lambda a, b: backward([(a * 2).sum(), (b * 3).sum()]),
    "tuple of roots": lambda a, b: backward(((a * 2).sum(), (b * 3).sum())),
    "one tensor": lambda a, b: backward((a * 2).sum()),
    "tensor and tensor": lambda a, b: backward(a * 2, torch.ones(2)),
    "roots and None": lambda a, b: backward([(a * 2).sum(), b * 3], [None, torch.ones(2)]),
    "non-scalar without gradient": lambda a, b: backward([(a * 2).sum(), b * 3], [None, None]),
    "too few": lambda a, b: backward([a * 2, b * 3], [torch.ones(2)]),
    "too many": lambda a, b: backward([a * 2], [torch.ones(2), torch.ones(2)]),
    "second without graph": lambda a, b: backward([(a * 2).sum(), torch.ones(1)]),
    "first without graph": lambda a, b: backward([torch.ones(1), (a * 2).sum()]),
    "shape of the second": lambda a, b: backward([a * 2, b * 3], [torch.ones(2), torch.ones(3)]),
    "root is leaf": lambda a, b: backward([a], [torch.tensor([5.0, 6.0])]),
    "leaf twice": lambda a, b: backward([a, a], [torch.ones(2), torch.ones(2)]),
    "root and its input": lambda a, b: (lambda y: backward([y, y.exp()], [torch.ones(2), torch.ones(2)]))(a * b),
    "outputs of unbind": lambda a, b: backward(list((a * b).unbind(0))),
    "one output of unbind": lambda a, b: (a * b).unbind(0)[1].backward(),
    "view root": lambda a, b: (a * b)[1:].backward(),
    "root changed in place": lambda a, b: (a * b).add_(1).sum().backward(),
    "root of other dtype": lambda a, b: (a * b).double().sum().backward(),
    "int root": lambda a, b: a.long().sum().backward(),
    "bool root": lambda a, b: (a > 1).any().backward(),
    "detached root": lambda a, b: (a * b).sum().detach().backward(),
    "number": lambda a, b: backward([1.0]),
    "None": lambda a, b: backward([None]),
    "None alone": lambda a, b: backward(None),
    "generator of roots": lambda a, b: backward(y for y in [(a * 2).sum(), (b * 3).sum()]),
    "numel 1 of shape (1, 1)": lambda a, b: (a * b).sum().view(1, 1).backward(),
    "retain then again": lambda a, b: (lambda y: (y.backward(retain_graph=True), y.backward())[1])((a * b).sum()),
    "retain_graph=False": lambda a, b: (lambda y: (y.backward(retain_graph=False), y.backward())[1])((a * b).sum()),
    "retain_graph=None": lambda a, b: (a * b).sum().backward(retain_graph=None),
    "all positional": lambda a, b: (a * b).sum().backward(torch.tensor(2.0), True, False),
    "too many positional": lambda a, b: (a * b).sum().backward(torch.tensor(2.0), True, False, [a], 5),
    "unknown keyword": lambda a, b: (a * b).sum().backward(grad=torch.tensor(2.0)),
    "inf gradient": lambda a, b: (a * b).backward(torch.tensor([float("inf"), float("nan")])),
    "zero gradient": lambda a, b: (a * b).backward(torch.zeros(2)),
}.items():
    T(label, fresh(fn))

print("# gradients reach shared inputs once per root")
a = t(2.0)
y = a * a
log = []
y.register_hook(lambda g: log.append(g.item()))
a.register_hook(lambda g: log.append(("a", g.item())))
backward([y, y * 3, y + 1])
print(log, a.grad)
print("# functional argument form")
a = t([1.0, 2.0])
backward(tensors=[(a * 2).sum()], grad_tensors=[torch.tensor(4.0)], retain_graph=True, create_graph=False, inputs=[a])
print(a.grad)
