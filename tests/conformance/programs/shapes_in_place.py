"""Shapes changed in place: of views, with hooks, without a graph; tensors cut out of the graph; fills of expanded memory."""

import torch

from _log import T, case, t


def numbers(*sizes):
    n = 1
    for s in sizes:
        n *= s
    return torch.arange(float(n)).view(sizes)


def names(*tensors):
    return [x.grad_fn.name() if x.grad_fn is not None else None for x in tensors]


SHAPES = {
    "t_": lambda x: x.t_(),
    "transpose_": lambda x: x.transpose_(0, 1),
    "swapaxes_": lambda x: x.swapaxes_(0, 1),
    "unsqueeze_": lambda x: x.unsqueeze_(1),
    "squeeze_": lambda x: x.unsqueeze(0).squeeze_(),
}

for name, change in SHAPES.items():
    w = numbers(2, 4, 3).requires_grad_()
    y = w * 1
    view, other = y[0], y[1]
    view = change(view)
    print(name, view.shape, view._is_view(), view._version, view.output_nr, names(y, view, other))
    view.mul_(numbers(*view.shape))
    print("  then an edit", names(y, view, other))
    (y * y).sum().backward()
    print("  gradient", w.grad.tolist())

    w = numbers(2, 4, 3).requires_grad_()
    y = w * 0.1
    view = change(y[0])
    view.exp_()
    (g,) = torch.autograd.grad((y * y).sum(), w, create_graph=True)
    g.sum().backward()
    print("  second order", names(y, view), round(w.grad.sum().item(), 4))

    w = numbers(2, 4, 3).requires_grad_()
    y = w * 1
    view = change(y[0])
    y.mul_(2)
    print("  the base is edited", names(y, view), view.shape)
    (view * numbers(*view.shape)).sum().backward()
    print("  gradient", w.grad.tolist())


@case
def view_of_a_transposed_view():
    y = numbers(2, 4, 3).requires_grad_() * 1
    x = y[0]
    x.t_()
    z = x[0]
    z.mul_(2)
    return names(x, z, y), z, y


@case
def base_is_transposed():
    w = numbers(2, 3).requires_grad_()
    y = w * 1
    x = y[0]
    y.t_()
    x.mul_(3)
    (y * numbers(3, 2)).sum().backward()
    return names(x, y), w.grad


@case
def refused_of_a_leaf():
    return numbers(2, 3).requires_grad_().t_()


@case
def refused_of_a_view_of_a_leaf():
    return numbers(2, 3).requires_grad_()[:1].t_()


@case
def refused_of_one_of_several_views():
    return (numbers(2, 3, 4).requires_grad_() * 1).unbind(0)[0].t_()


@case
def t_of_three_dims():
    return torch.ones(2, 3, 4).t_()


@case
def unflatten_of_a_number():
    try:
        torch.tensor(1.0).unflatten(-1, (2, -1))
    except RuntimeError as e:
        return str(e).split("\n")[:2]


def heard(make, change, again):
    log = []
    x = make(t([[1.0, 2.0, 3.0]]) * 1)
    x.register_hook(lambda g: log.append(("before", tuple(g.shape), g.sum().item())) or g * 2)
    change(x)
    if again:
        x.mul_(2)
    x.register_hook(lambda g: log.append(("after", tuple(g.shape), g.sum().item())))
    x.sum().backward()
    return log


print("a hook before and one after")
for what, make in (("a tensor", lambda x: x), ("a view", lambda x: x[:1])):
    for name, change in (("squeeze_", lambda x: x.squeeze_()), ("unsqueeze_", lambda x: x.unsqueeze_(0)),
                         ("t_", lambda x: x.t_())):
        for again in (False, True):
            print(what, name, again, heard(make, change, again))


def retained(change):
    x = t([[1.0, 2.0, 3.0]]) * 1
    x.retain_grad()
    change(x)
    x.sum().backward()
    return x.shape, x.grad.shape


T("retain_grad squeeze_", lambda: retained(lambda x: x.squeeze_()))
T("retain_grad unsqueeze_", lambda: retained(lambda x: x.unsqueeze_(0)))


# Cut out of the graph

@case
def detach_of_a_view_is_no_view():
    base = torch.zeros(3, 2)
    cut = base[0].detach()
    with torch.no_grad():
        quiet = base[0].detach()
    return cut._is_view(), cut._base, quiet._is_view(), base.view(-1).detach()._is_view()


@case
def detach_of_a_view_stays_outside():
    base = torch.zeros(3, 2)
    cut, view = base[0].detach(), base[0]
    base[1] = t([1.0, 2.0]) * 2
    return cut.requires_grad, view.requires_grad, (cut * 2).grad_fn, cut._version


@case
def detach_of_a_view_stays_outside_a_leaf():
    base = torch.zeros(3, 2)
    cut, view = base[0].detach(), base[0]
    base.requires_grad_()
    return cut.requires_grad, view.requires_grad


@case
def detached_view_can_be_detached_in_place():
    return torch.zeros(3, 2)[0].detach().detach_()


@case
def edit_of_a_detached_view_that_became_a_leaf():
    return torch.zeros(3, 2)[0].detach().requires_grad_().mul_(2)


def frozen(cut):
    log = []
    a = t([1.0, 2.0])
    y = a * 2
    a.register_hook(lambda g: log.append("hook"))
    cut(a)
    y.sum().backward()
    return a.grad, a.requires_grad, log


print("leaf cut off after use")
print("detach_", *frozen(lambda a: a.detach_()))
print("requires_grad_", *frozen(lambda a: a.requires_grad_(False)))
print("and back", *frozen(lambda a: a.detach_().requires_grad_()))


def view_without_graph(leaf):
    a = torch.ones(3, 4, requires_grad=True)
    with torch.no_grad():
        return a[0] if leaf else (a * 1)[0]


@case
def hooks_of_a_view_made_without_a_graph():
    log = []
    for leaf in (True, False):
        z = view_without_graph(leaf)
        z.register_hook(lambda g: log.append("hook"))
        z.register_post_accumulate_grad_hook(lambda p: log.append("accumulated"))
        (z * 2).sum().backward()
        log.append((z.requires_grad, z.is_leaf, z.grad))
    return log


# Several elements in one place

@case
def zero_and_fill_of_expanded_memory():
    rows, windows = torch.ones(3).expand(2, 3), numbers(4).unfold(0, 2, 1)
    out = [rows.fill_(4).clone(), rows.zero_().clone(), windows.fill_(4).clone(), windows.zero_().clone()]
    return out, torch.nn.init.constant_(torch.ones(1).expand(3), 7.0)


@case
def zero_grad_of_an_expanded_gradient():
    p = torch.nn.Parameter(torch.ones(4))
    p.grad = torch.ones(1).expand(4)
    torch.optim.SGD([p], lr=0.1).zero_grad(set_to_none=False)
    return p.grad


print("a value out of the memory that it fills")
a = numbers(4)
print(a.index_fill_(0, torch.tensor([0, 3]), a[2]))
print(a.masked_fill_(a > 1, a[1]), a[:2].masked_fill_(a[:2] > 0, a[0]))
a = numbers(4)
print(a.masked_scatter_(torch.tensor([True, True, False, False]), a[1:3]))
x = numbers(4).requires_grad_()
y = x * 1
y.index_fill_(0, torch.tensor([0]), y[2])
y.masked_fill_(y > 2, y[1])
print(y.tolist(), torch.autograd.grad((y * numbers(4)).sum(), x))

for name, edit in (("add_", lambda x: x.add_(1)), ("slice", lambda x: x.__setitem__((slice(None), 1), 2)),
                   ("copy_", lambda x: x.copy_(torch.ones(3))), ("fill_ by a tensor", lambda x: x.fill_(torch.tensor(2.0)))):
    try:
        print(name, edit(torch.ones(3).expand(2, 3)))
    except RuntimeError as e:
        print(name, e)
