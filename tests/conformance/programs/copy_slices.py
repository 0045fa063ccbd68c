"""In-place operations on views: the base's history, the view's regenerated node, chains of both, and gradients."""

import torch

from _log import T, t


def chain(node, n=6):
    out = []
    while node is not None and len(out) < n:
        out.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return " <- ".join(out)


def edges(node):
    return [(type(f).__name__, k) for f, k in node.next_functions]


x = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
weights = torch.tensor([[1.0, 10.0, 100.0], [1000.0, 10000.0, 100000.0]])
views = {
    "row": lambda b: b[0],
    "column": lambda b: b[:, 1],
    "element": lambda b: b[1, 2],
    "step": lambda b: b[:, ::2],
    "view": lambda b: b.view(6),
    "view part": lambda b: b.view(6)[2:4],
    "reshape": lambda b: b.reshape(3, 2),
    "t": lambda b: b.t(),
    "t row": lambda b: b.t()[1],
    "transpose slice": lambda b: b.transpose(0, 1)[1:],
    "unsqueeze": lambda b: b[None],
    "narrow": lambda b: b.narrow(1, 1, 2),
    "select": lambda b: b.select(1, 0),
    "diagonal": lambda b: b.diagonal(),
    "permute": lambda b: b.permute(1, 0),
    "flatten": lambda b: b.flatten(),
    "squeeze": lambda b: b[:1].squeeze(0),
    "expand_as": lambda b: b.expand_as(b),
    "view_as": lambda b: b.view_as(b),
    "ellipsis": lambda b: b[..., 0],
    "unfold": lambda b: b.view(6).unfold(0, 2, 2),
    "view of view of view": lambda b: b[1:].view(3)[1:][0],
    "swapaxes": lambda b: b.swapaxes(0, 1),
    "movedim": lambda b: b.movedim(0, 1),
    "T": lambda b: b.T,
}
for label, view in views.items():

    def run(view=view):
        x.grad = None
        b = x * 1
        v = view(b)
        v.mul_(2)
        print(f"  base {chain(b.grad_fn)} | view {chain(v.grad_fn)} | {v._base is b} {b._version} {v._version}")
        (b * weights).sum().backward()
        return b, x.grad

    T(label, run)

print("# the written value gets its gradient, the overwritten slot none")
for label, write in {
    "row = w": lambda b, w: b.__setitem__(0, w),
    "column = w[:2]": lambda b, w: b.__setitem__((slice(None), 1), w[:2]),
    "row broadcast": lambda b, w: b.__setitem__(slice(None), w),
    "element": lambda b, w: b.__setitem__((1, 2), w[0]),
    "view copy_": lambda b, w: b[1].copy_(w),
    "view add_": lambda b, w: b[1].add_(w),
    "t copy_": lambda b, w: b.t().copy_(w[:2]),
    "0-dim broadcast": lambda b, w: b.__setitem__(1, w[1]),
    "two writes": lambda b, w: (b.__setitem__(0, w), b.__setitem__((0, 0), w[2])),
    "read then write": lambda b, w: b.__setitem__(0, b[1] * w),
    "write from itself": lambda b, w: b[0].mul_(b[1].clone()),
}.items():

    def run(write=write):
        x.grad = None
        w = t([7.0, 8.0, 9.0])
        b = x * 1
        write(b, w)
        print(f"  {edges(b.grad_fn)}")
        (b * weights).sum().backward()
        return b, x.grad, w.grad

    T(label, run)

print("# several views of one base")


def sisters():
    x.grad = None
    b = x * 1
    u, v = b[0], b[0, 1:]
    u.mul_(2)
    v.add_(5)
    print("  ", b, u, v)
    print("  ", chain(b.grad_fn, 4), "|", chain(u.grad_fn, 4), "|", chain(v.grad_fn, 4))
    (b * weights).sum().backward()
    return x.grad


T("sisters", sisters)


def through_view():
    x.grad = None
    b = x * 1
    v = b[1]
    b.mul_(3)
    (v * v).sum().backward()
    return v, x.grad


T("base changed, gradient through the view", through_view)


def both():
    x.grad = None
    b = x * 1
    v = b[1]
    v.mul_(3)
    ((b * weights).sum() + (v**2).sum()).backward()
    return x.grad


T("gradient through base and view", both)


def old_use():
    x.grad = None
    b = x * 1
    old = b + 0
    b[0] = 0
    (old + b).sum().backward()
    return x.grad


T("a use before the write keeps the old history", old_use)


def grad_fn_identity():
    b = x * 1
    v = b[0]
    first = v.grad_fn
    same_before = v.grad_fn is first
    b.add_(1)
    return same_before, v.grad_fn is first, v.grad_fn is v.grad_fn


T("grad_fn of a view is made anew once", grad_fn_identity)


def hooks_on_old():
    x.grad = None
    log = []
    b = x * 1
    b.register_hook(lambda g: log.append(("before", g.tolist())))
    b[0] = 0
    b.register_hook(lambda g: log.append(("after", g.tolist())))
    (b * weights).sum().backward()
    return log


T("hooks around a write", hooks_on_old)


def base_without_rg():
    b, w = torch.zeros(2, 3), t([1.0, 2.0, 3.0])
    v = b[1]
    v.add_(w)
    print("  ", b.requires_grad, b.is_leaf, v.is_leaf, edges(b.grad_fn), edges(v.grad_fn))
    (b * weights).sum().backward()
    return w.grad


T("base that did not require grad", base_without_rg)


def other_view_of_such_base():
    b, w = torch.zeros(2, 3), t([1.0, 2.0, 3.0])
    other = b.view(6)
    b[1].add_(w)
    print("  ", other.requires_grad, other.is_leaf, type(other.grad_fn).__name__, other)
    other.sum().backward()
    return w.grad


T("another view of it", other_view_of_such_base)


def twice_backward():
    x.grad = None
    b = x * 1
    b[0] = t([1.0, 2.0, 3.0])
    b.sum().backward()
    b.sum().backward()


T("CopySlices twice", twice_backward)


def second_order():
    a = t([1.0, 2.0, 3.0])
    b = a * a
    b[1:].mul_(a[1:])
    (g,) = torch.autograd.grad(b.sum(), a, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), a)
    return g, h


T("second order", second_order)


def inputs_through():
    a, w = t([1.0, 2.0, 3.0]), t([5.0])
    b = a * 1
    b[:1] = w
    return torch.autograd.grad(b.sum(), [a, w])


T("grad() to base and value", inputs_through)


def only_value():
    a, w = t([1.0, 2.0, 3.0]), t([5.0])
    b = a * 1
    b[:1] = w
    return torch.autograd.grad(b.sum(), [w])


T("grad() to the value alone", only_value)
T(
    "relu_ on a view",
    lambda: (lambda a: (lambda b: (b[:2].relu_(), b.sum().backward(), b, a.grad)[2:])(a * 1))(t([-1.0, 1.0, -2.0])),
)


def loop():
    a = t([1.0, 2.0, 3.0, 4.0])
    b = torch.zeros(4)
    b[0] = a[0]
    for i in range(1, 4):
        b[i] = b[i - 1].clone() * a[i]
    print("  ", b, chain(b.grad_fn, 8))
    b.sum().backward()
    return a.grad


T("a cumulative product, written element by element", loop)


def loop_without_clone():
    a = t([1.0, 2.0, 3.0])
    b = torch.zeros(3)
    b[0] = a[0]
    for i in range(1, 3):
        b[i] = b[i - 1] * a[i]
    b.sum().backward()
    return a.grad


T("the same without clone", loop_without_clone)


def constant_base():
    a, b = t([1.0, 2.0]), torch.zeros(3)
    b[1:].add_(a)
    b.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print("  ", grad_inputs, grad_outputs))
    b.sum().backward()
    return a.grad


T("what a node over a constant hands on", constant_base)
