"""The recorded graph: edges, output numbers, constants, shared nodes, graphs below detach and no_grad."""

import torch

from _log import T, t


def tree(node, depth=0, number=0, seen=None):
    seen = {} if seen is None else seen
    if node is None:
        print("  " * depth + "None")
        return
    mark = f" (again #{seen[node]})" if node in seen else ""
    print("  " * depth + f"{type(node).__name__} [{number}]{mark}")
    if mark:
        return
    seen[node] = len(seen)
    for f, i in node.next_functions:
        tree(f, depth + 1, i, seen)


a, b, c = t([1.0, 2.0]), t([3.0, 4.0]), torch.tensor([5.0, 6.0])
m = t([[1.0, 2.0], [3.0, 4.0]])
for label, y in {
    "product and sum": (a * b + a).sum(),
    "constant operand": a * c + 1,
    "constant left": 2 - c * a,
    "no graph": c * 2,
    "same operand twice": a * a,
    "diamond": (lambda p: (p * b) + (p * c))(a + b),
    "unbind": (lambda u: u[0] * u[1])(m.unbind(0)),
    "split": (lambda u: u[1] - u[0])(m.split(1)),
    "max with indices": m.max(1)[0],
    "sort": m.sort(1)[0],
    "topk": m.topk(1)[0],
    "stack": torch.stack([a, c, b, a]),
    "cat": torch.cat([a, c, b]),
    "mm": m @ m,
    "mv": m @ a,
    "vector matrix": a @ m,
    "linear": torch.nn.functional.linear(m, m, a),
    "index": m[torch.tensor([0, 1]), torch.tensor([1, 0])],
    "chain of views": m.t().reshape(4)[1:3],
    "where": torch.where(a > 1, a, c),
    "mixed dtypes": a.double() + b,
    "sum list": sum([a, b, c]),
    "detach in the middle": (a * 2).detach() * a,
    "pow": a**b,
    "inplace": (lambda q: (q.mul_(b), q.add_(a), q)[2])(a.clone()),
    "setitem": (lambda q: (q.__setitem__(0, b[1]), q)[1])(a * 1),
    "view of changed base": (lambda q: (lambda v: (q.mul_(2), v)[1])(q.view(2)))(a.clone()),
}.items():
    print(f"-- {label}: {tuple(y.shape)} {y.dtype} rg={y.requires_grad} leaf={y.is_leaf} output_nr={y.output_nr}")
    tree(y.grad_fn)

print("# several outputs")
u = m.unbind(0)
print([x.output_nr for x in u], u[0].grad_fn is u[1].grad_fn, [x.output_nr for x in m.split(1)])
v, i = m.max(1)
print(v.requires_grad, i.requires_grad, i.grad_fn, i.dtype)
v, i = m.sort(0, descending=True)
print(v, i)
y = u[1] * 2
print([(type(f).__name__, k) for f, k in y.grad_fn.next_functions])

print("# sequence numbers grow with creation")
p, q = a * 2, b * 2
print(p.grad_fn._sequence_nr() < q.grad_fn._sequence_nr(), (p + q).grad_fn._sequence_nr() > q.grad_fn._sequence_nr())

print("# flags of results")
for label, y in {
    "comparison": a > 1,
    "argmax": a.argmax(),
    "long": a.long(),
    "bool": a.bool(),
    "int": a.int(),
    "half": a.half(),
    "same dtype": a.to(torch.float32),
    "detach": a.detach(),
    "data": a.data,
    "clone": a.clone(),
    "ones_like": torch.ones_like(a),
    "zeros_like rg": torch.zeros_like(a, requires_grad=True),
    "new_zeros": a.new_zeros(2),
    "contiguous": a.contiguous(),
    "floor": a.floor(),
    "sign": a.sign(),
    "floordiv": a // 2,
}.items():
    print(f"{label:12s} rg={y.requires_grad} leaf={y.is_leaf} grad_fn={type(y.grad_fn).__name__} {y.dtype}")
print(a.to(torch.float32) is a, a.contiguous() is a, a.cpu() is a, a.float() is a, a.detach() is a)
T("inplace result identity", lambda: (lambda q: q.add_(1) is q)(a * 1))
T("shared accumulate node", lambda: (a * 2).grad_fn.next_functions[0][0] is (a + 1).grad_fn.next_functions[0][0])
T("node equality", lambda: (lambda y: (y.grad_fn == y.grad_fn, y.grad_fn != (a * 2).grad_fn))(a * 2))
