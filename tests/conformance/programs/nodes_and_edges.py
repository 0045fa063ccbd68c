"""grad_fn as an object: hooks on nodes, GradientEdge, calling a node, saved tensors, freeing, metadata."""

import torch
from torch.autograd.graph import Node, get_gradient_edge

from _log import T, t

x = t([1.0, 2.0])


def order():
    a, log = t([1.0, 2.0]), []
    y = a * 3
    z = y.exp()
    acc = y.grad_fn.next_functions[0][0]
    y.register_hook(lambda g: log.append("tensor hook y"))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda go: log.append("prehook y"))
    y.grad_fn.register_hook(lambda gi, go: log.append("posthook y"))
    z.grad_fn.register_prehook(lambda go: log.append("prehook z"))
    z.grad_fn.register_hook(lambda gi, go: log.append("posthook z"))
    a.register_hook(lambda g: log.append("tensor hook a"))
    acc.register_prehook(lambda go: log.append(("prehook acc", a.grad)))
    acc.register_hook(lambda gi, go: log.append(("posthook acc", a.grad.tolist(), gi, len(go))))
    a.register_post_accumulate_grad_hook(lambda p: log.append("post accumulate"))
    z.sum().backward()
    return log


T("order", order)


def change(pre=None, post=None):
    a = t([1.0, 2.0])
    y = a * 3
    z = y * y
    if pre:
        y.grad_fn.register_prehook(pre)
    if post:
        y.grad_fn.register_hook(post)
    z.sum().backward()
    return a.grad


T("unchanged", change)
T("prehook doubles", change, lambda go: (go[0] * 2,))
T("posthook doubles", change, None, lambda gi, go: (gi[0] * 2, None))
T("prehook tensor", change, lambda go: go[0] * 2)
T("prehook list", change, lambda go: [go[0] * 2])
T("prehook wrong length", change, lambda go: (go[0], go[0]))
T("posthook wrong length", change, None, lambda gi, go: (gi[0],))
T("posthook tensor", change, None, lambda gi, go: gi[0])
T("prehook None inside", change, lambda go: (None,))
T("prehook wrong type", change, lambda go: (1.0,))
T("posthook wrong type", change, None, lambda gi, go: ("a", None))
T("prehook wrong arity", change, lambda: None)
T("prehook shape", change, lambda go: (torch.ones(3),))
T("what hooks get", change, lambda go: print("  pre", go), lambda gi, go: print("  post", gi, go))


def removal():
    a, log = t([1.0]), []
    y = a * 2
    h1 = y.grad_fn.register_prehook(lambda go: log.append(1))
    h2 = y.grad_fn.register_prehook(lambda go: log.append(2))
    h1.remove()
    h1.remove()
    y.sum().backward()
    return log, type(h1).__name__, h2.id - h1.id


T("removal", removal)


def temporary_accumulate():
    a, log = t([1.0]), []
    (a * 1).grad_fn.next_functions[0][0].register_hook(lambda gi, go: log.append("lost"))
    (a * 1).sum().backward()
    keep = get_gradient_edge(a).node
    keep.register_hook(lambda gi, go: log.append("kept"))
    (a * 1).sum().backward()
    return log


T("hooks of an accumulate node live as long as it", temporary_accumulate)
edge = get_gradient_edge(x)
print(
    type(edge).__name__,
    type(edge.node).__name__,
    edge.output_nr,
    edge.node.variable is x,
    edge._fields if hasattr(edge, "_fields") else None,
)
edge = get_gradient_edge(x.unbind(0)[1])
print(type(edge.node).__name__, edge.output_nr, get_gradient_edge(x) == get_gradient_edge(x))
T("edge of no rg", lambda: get_gradient_edge(torch.ones(1)))
T(
    "backward from an edge",
    lambda: (lambda a: (torch.autograd.backward([get_gradient_edge((a * 2).sum())]), a.grad))(t([1.0])),
)
T(
    "backward from an edge with gradient",
    lambda: (lambda a: (torch.autograd.backward([get_gradient_edge(a * 2)], [torch.ones(1)]), a.grad))(t([1.0])),
)
T("grad edges", lambda: (lambda a: torch.autograd.grad((a * a).sum(), [get_gradient_edge(a)]))(t([3.0])))
print("# nodes as objects")
y = x * 2
n = y.grad_fn
print(
    isinstance(n, Node),
    issubclass(type(n), Node),
    n.name(),
    type(n).__name__,
    type(n).__module__,
    n.requires_grad,
    n.metadata,
    bool(n),
)
print(
    isinstance(x, Node),
    isinstance(edge.node, Node),
    n == y.grad_fn,
    n is y.grad_fn,
    hash(n) == hash(y.grad_fn),
    {n: 1}[y.grad_fn],
)
for label, fn in {
    "call mul": lambda: (x * 2).grad_fn(torch.ones(2)),
    "call mul both": lambda: (x * x.detach()).grad_fn(torch.ones(2)),
    "call exp": lambda: x.exp().grad_fn(torch.ones(2)),
    "call sum": lambda: x.sum().grad_fn(torch.tensor(1.0)),
    "call two": lambda: (x * 2).grad_fn(torch.ones(2), torch.ones(2)),
    "call none": lambda: (x * 2).grad_fn(),
    "call acc": lambda: (lambda a: (get_gradient_edge(a).node(torch.ones(1)), a.grad))(t([1.0])),
    "set attribute": lambda: setattr((x * 2).grad_fn, "foo", 1),
    "construct": lambda: Node(),
    "next of acc": lambda: get_gradient_edge(x).node.next_functions,
    "saved mul": lambda: ((x * x).grad_fn._saved_self is x, (x * x).grad_fn._saved_other),
    "saved scalar": lambda: (x * 2).grad_fn._saved_other,
    "saved pow": lambda: ((x**3).grad_fn._saved_exponent, (x**3).grad_fn._saved_self),
    "saved result": lambda: x.exp().grad_fn._saved_result,
    "saved sum": lambda: x.sum().grad_fn._saved_self_sym_sizes,
    "saved sum dim": lambda: (x.sum(0).grad_fn._saved_dim, x.sum(0).grad_fn._saved_keepdim),
    "saved mean": lambda: x.mean().grad_fn._saved_self_sym_numel,
    "saved softmax": lambda: (x.softmax(0).grad_fn._saved_dim, x.softmax(0).grad_fn._saved_result),
    "saved view": lambda: x.view(2, 1).grad_fn._saved_self_sym_sizes,
    "saved index": lambda: x[torch.tensor([0])].grad_fn._saved_indices,
    "saved select": lambda: (x[1].grad_fn._saved_index, x[1].grad_fn._saved_dim),
    "saved clamp": lambda: (x.clamp(0, 1).grad_fn._saved_min, x.clamp(0, 1).grad_fn._saved_max),
    "saved unknown": lambda: (x * 2).grad_fn._saved_nothing,
    "raw saved": lambda: type((x * x).grad_fn._raw_saved_self).__name__,
    "saved after free": lambda: (lambda y: (y.sum().backward(), y.grad_fn._saved_self))(t([1.0]) ** 2),
    "saved after version change": lambda: (lambda q: (lambda y: (q.add_(1), y.grad_fn._saved_self)[1])(q**2))(x * 1),
    "saved scalar attr after free": lambda: (lambda y: (y.sum().backward(), y.grad_fn._saved_exponent))(t([1.0]) ** 2),
}.items():
    T(label, fn)
print("# twice without retain")
for label, fn in {
    "x+1": lambda a: a + 1,
    "x*2": lambda a: a * 2,
    "x-x": lambda a: a - a,
    "-x": lambda a: -a,
    "sum": lambda a: a.sum(),
    "mean": lambda a: a.mean(),
    "exp": lambda a: a.exp(),
    "view": lambda a: a.view(2, 1),
    "index": lambda a: a[torch.tensor([0])],
    "select": lambda a: a[0],
    "stack": lambda a: torch.stack([a, a]),
    "relu": lambda a: a.relu(),
    "pow": lambda a: a**2,
    "add scalar tensor": lambda a: a + torch.tensor(1.0),
    "mul by 0-dim": lambda a: a * torch.tensor(2.0),
    "clone": lambda a: a.clone(),
    "expand": lambda a: a.expand(2, 2),
    "cumsum": lambda a: a.cumsum(0),
    "max": lambda a: a.max(),
    "where": lambda a: torch.where(a > 0, a, a),
    "double": lambda a: a.double(),
    "setitem": lambda a: (lambda q: (q.__setitem__(0, 1.0), q)[1])(a * 1),
    "mm": lambda a: a[None] @ a[:, None],
    "zero_": lambda a: (a + 0).zero_(),
    "fill_": lambda a: (a + 0).fill_(1),
    "flip": lambda a: a.flip(0),
    "mse": lambda a: torch.nn.functional.mse_loss(a, a.detach()),
    "l1": lambda a: torch.nn.functional.l1_loss(a, a.detach()),
    "addmm": lambda a: torch.addmm(a, a[None], torch.ones(2, 2)),
    "floor": lambda a: a.floor(),
    "unbind": lambda a: a.unbind(0)[0],
    "cat": lambda a: torch.cat([a, a]),
    "div": lambda a: a / 2,
    "rsub": lambda a: 1 - a,
    "abs": lambda a: a.abs(),
    "norm": lambda a: a.norm(),
    "masked_fill": lambda a: a.masked_fill(a > 1, 0.0),
    "clamp": lambda a: a.clamp(0, 1),
    "t": lambda a: a[None].t(),
    "repeat": lambda a: a.repeat(2),
    "prod": lambda a: a.prod(),
    "lerp": lambda a: torch.lerp(a, a, 0.5),
    "tril": lambda a: torch.stack([a, a]).tril(),
    "copy_": lambda a: torch.zeros(2).copy_(a),
    "detach": lambda a: a.detach() * a,
}.items():

    def run(fn=fn):
        a = t([1.0, 2.0])
        y = fn(a).sum()
        y.backward()
        y.backward()
        return a.grad

    try:
        print(label, run())
    except RuntimeError as e:
        print(label, str(e)[:49])
