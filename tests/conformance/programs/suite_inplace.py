"""Behaviours that PyTorch's own tests of leaves, views, in-place edits and versions check, as programs."""

import gc
import warnings
import weakref

import torch
from torch.autograd import Function, grad

from _log import T, case, t


def texts(call):
    """The warnings of a call, each up to its first full stop, and what it gave or raised."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as e:
            found = f"{type(e).__name__}: {e}"
    return [str(w.message).split(".")[0] for w in seen], found


# as: test_tensor_grad_warnings
@case
def grad_of_a_non_leaf_is_warned_about():
    x = t([1.0, 2.0])
    y = x + 1
    for v in (x, y, y, y.detach()):
        print("  ", texts(lambda v=v: v.grad))
    y.retain_grad()
    print("  ", texts(lambda: y.grad))
    z = x * 1
    z.grad = torch.ones(2)
    print("  ", texts(lambda: z.grad))
    with torch.no_grad():
        print("  ", texts(lambda: (x + 1).grad))


# as: test_requires_grad
@case
def requires_grad_spreads():
    def fails(*args):
        raise AssertionError("it ran")

    x, y, z = torch.ones(2), torch.ones(2), t([1.0, 2.0])
    a = x + y
    b = a + z
    print("  ", a.requires_grad, b.requires_grad)
    a.requires_grad = False
    c = a * 5
    c2 = c.detach().requires_grad_()
    with torch.no_grad():
        hidden = z * 2
    hidden.requires_grad = True
    handle = c2.register_hook(fails)
    (b + a).sum().backward()
    handle.remove()
    return z.grad, c.requires_grad, hidden.grad, hidden.is_leaf


# as: test_requires_grad_
@case
def the_method_that_sets_the_flag():
    m, x, y = torch.ones(2), torch.ones(2), t([1.0, 2.0])
    print("  ", x.requires_grad_() is x, x.requires_grad, x.requires_grad_(False) is x, x.requires_grad)
    z = x * y
    print("  ", z.requires_grad_() is z, z.requires_grad)
    print("  ", m.requires_grad_(False).requires_grad)
    z.requires_grad_(False)


# as: test_requires_grad_inplace
@case
def an_edit_makes_it_require_grad():
    a, b = torch.ones(2), t([3.0, 4.0])
    a += b
    c = torch.ones(2)
    d = c[:1]
    d += b[:1]
    return a.requires_grad, a.grad_fn.name(), c.requires_grad, d.requires_grad, grad(a.sum() + c.sum(), b)


# as: test_no_requires_grad_inplace
@case
def edits_before_and_after_the_flag():
    a = torch.ones(3)
    a.add_(5)
    a.requires_grad = True
    a.sum().backward()
    print("  ", a.grad)
    b = torch.ones(3)
    v = b[:2]
    b.add_(5)
    b.requires_grad = True
    for edit in (lambda: a.add_(1), lambda: b.add_(1), lambda: v.add_(1), lambda: b[0].mul_(2)):
        print("  ", texts(edit))
    with torch.no_grad():
        v.add_(1)
    return a, b, v


# as: test_attribute_deletion
@case
def attributes_deleted():
    x = t([1.0, 2.0])
    x.grad = torch.ones(2)
    del x.grad
    print("  ", x.grad)
    x.mine = 1
    del x.mine
    for name in ("data", "requires_grad", "_grad_fn", "_backward_hooks", "mine", "grad_fn", "_base"):
        print("  ", name, texts(lambda name=name: delattr(x, name)))
    return x


# as: test_inplace
@case
def saved_versions():
    def tried(y, op, *after):
        found = []
        for edit in (*after, None):
            try:
                y.backward(torch.ones(2), retain_graph=True)
                found.append("ok")
            except RuntimeError as e:
                found.append(str(e).partition("[")[2].partition(".")[0][:90])
            if edit:
                edit()
        print("  ", op, found)

    x, y = t([1.0, 2.0]), t([3.0, 4.0])
    q, p = x + 0, y + 0
    tried(q * p, "mul", lambda: p.add_(1), lambda: q.add_(1))
    q, p = x + 0, y + 0
    tried(q + p, "add", lambda: p.add_(1), lambda: q.add_(1))
    q = x + 0
    e = q.exp()
    tried(e, "exp", lambda: q.add_(1), lambda: e.add_(1))
    q = x + 0
    tried(q.exp_(), "exp_")
    q = x + 0
    tried(q.mul_(2).exp_(), "mul_ exp_")
    q, p = x + 0, y + 0
    q.mul_(p)
    tried(q, "mul_", lambda: p.zero_())


# as: test_leaf_assignment
@case
def a_row_assigned():
    x, y, z = torch.ones(3), t(5.0), t(6.0)
    x[0] = y
    x[1] = 2 * z
    print("  ", x.requires_grad, x.is_leaf, x.grad_fn.name())
    x.sum().backward()
    return x, y.grad, z.grad


# as: test_setitem
# as: test_setitem_mask
@case
def many_forms_of_assignment():
    for shape, at, value in (
        ((4, 4), 2, torch.full((4,), 7.0)),
        ((4, 4), 2, 3.0),
        ((4, 4), (slice(None), slice(2)), torch.full((4, 2), 7.0)),
        ((4, 4), (slice(2), 1), torch.full((2,), 7.0)),
        ((5,), torch.tensor([True, False, True, False, True]), 3.0),
        ((4, 3), (Ellipsis, 1), torch.full((4,), 7.0)),
        ((4, 3), [1, 3], torch.full((2, 3), 7.0)),
        ((4, 3), (slice(1), torch.tensor([0, 2])), torch.full((1, 2), 7.0)),
        ((2, 3, 4), (slice(None), [1, 0]), torch.full((2, 2, 4), 7.0)),
        ((4,), [[1, 2]], torch.full((1, 2), 7.0)),
        ((3, 3), torch.eye(3) > 0, torch.full((3,), 7.0)),
        ((3, 3), (torch.tensor([True, False, True]), 1), torch.full((2,), 7.0)),
        ((3, 3), None, torch.full((1, 3, 3), 7.0)),
        ((3, 3), (), 5.0),
        ((4, 3), (slice(None, None, 2), slice(1, 3)), torch.full((2, 1), 7.0)),
        ((4, 3), (torch.tensor([[0, 1], [2, 3]]), torch.tensor([0, 2])), torch.tensor(9.0)),
    ):
        x = torch.arange(1.0, 1 + torch.zeros(shape).numel()).reshape(shape).requires_grad_()
        for tracked in (False, True):
            y = x * 2
            before = y._version
            v = value.clone().requires_grad_() if tracked and isinstance(value, torch.Tensor) else value
            y[at] = v
            weights = torch.arange(1.0, 1 + y.numel()).reshape(shape)
            x.grad = None
            (y * weights).sum().backward()
            print("  ", y._version - before, int(x.grad.sum()), int((y * weights).sum()), y.grad_fn.name(), end=" ")
            print(int(v.grad.sum()) if v is not value else "")


# as: test_detach
@case
def detached_and_in_place():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    y = x + 2
    y = y.detach()
    z = y * 4 + 2
    print("  ", y.requires_grad, z.requires_grad)
    x2, y2 = x * 2, None
    y2 = x2.detach_()
    print("  ", y2 is x2, x2.requires_grad, x2.grad_fn, x2.is_leaf)
    a = x * 3
    v = a[0]
    print("  ", texts(v.detach_))
    b = t([1.0, 2.0])
    w = b.detach()
    w.requires_grad_()
    (w * 2).sum().backward()
    return b.grad, w.grad


# as: test_detach_base
@case
def a_base_detached_in_place():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    base = x + 0
    view = base[0]
    print("  ", view._is_view())
    base.detach_()
    (view * 5).sum().backward()
    return base.requires_grad, view.requires_grad, x.grad, view._is_view()


# as: test_detach_then_inplace_raises_in_autograd
@case
def an_edit_through_what_was_detached():
    x = t([1.0, 2.0])
    y = x * 1
    z = y**2
    d = y.detach()
    d.zero_()
    z.sum().backward()


# as: test_increment_version
@case
def versions_counted_by_hand():
    a, b = t([1.0]) * 1, torch.ones(2)
    before = a._version, b._version
    torch.autograd.graph.increment_version(a)
    torch.autograd.graph.increment_version((a, b))
    torch.autograd.graph.increment_version([])
    with torch.inference_mode():
        i = torch.ones(1)
    print("  ", texts(lambda: torch.autograd.graph.increment_version(i)))
    return before, a._version, b._version


# as: test_version_counter
@case
def who_shares_a_version():
    x = torch.ones(1, 2)
    seen = [x._version]
    x.add_(1)
    seen.append(x._version)
    x.fill_(2)
    v = x[:]
    seen += [x._version, v._version]
    v.add_(1)
    seen += [x._version, v._version]
    x.data = torch.ones(2, 3)
    seen += [x._version]
    x.add_(1)
    seen += [x._version, v._version]
    y = torch.ones(2)
    y.data.add_(1)
    z = y.detach()
    z.add_(1)
    return seen, y._version, z._version, y.clone()._version, y.data._version


# as: test_set_data_preserve_pyobj
@case
def data_assigned_keeps_the_object():
    a, b = torch.ones(1, 2), t([3.0, 4.0])
    me, memory = id(b), a.data_ptr()
    b.data = a
    return id(b) == me, b.data_ptr() == memory, b.shape, b.requires_grad, b.is_leaf


# as: test_set_data_self_requires_grad
@case
def data_of_another_dtype():
    a = t([1.0])
    c, d = torch.ones(2, dtype=torch.float64), torch.tensor([1])
    a.data = c
    print("  ", a)
    print("  ", texts(lambda: setattr(a, "data", d)))
    b = torch.ones(1)
    b.data = d
    return b, texts(lambda: b.requires_grad_())


# as: test_inplace_on_view_saved_output
@case
def an_output_edited_through_a_view_makes_no_cycle():
    died = [0]

    class Token:
        def __del__(self):
            died[0] += 1

    def run():
        root = torch.randn(3, 3, requires_grad=True)
        copy = root.clone()
        copy.grad_fn.register_hook(lambda gi, go, token=Token(): None)
        view = copy.view(9)
        torch.nn.functional.relu(view, inplace=True)

    run()
    gc.collect()
    return died


# as: test_inplace_on_view_leaf_errors
@case
def a_view_of_a_leaf_edited():
    x = torch.zeros(1, requires_grad=True)
    x.view_as(x).add_(1)


# as: test_inplace_on_view_backward
@case
def twice_through_an_edited_view():
    x = t([[1.0, -2.0], [3.0, 0.5]])
    y = x * 3
    v = y.view(4)
    torch.nn.functional.relu(v, inplace=True)
    (g,) = grad((y**3).sum(), x, create_graph=True)
    (h,) = grad((g**2).sum(), x, create_graph=True)
    return g, h, grad(h.sum(), x)


@case
def an_edited_view_edited_again():
    x = t([[1.0, -2.0], [3.0, 0.5]])
    y = x * 3
    v = y.view(4)
    torch.nn.functional.relu(v, inplace=True)
    v[1:].mul_(2)
    y.sum().backward()


# as: test_inplace_on_view_weak_grad_fn
@case
def the_history_of_a_view_is_one_object():
    a = torch.arange(10.0, requires_grad=True)
    b = a.narrow(0, 0, 2).clone().view(-1)
    b.relu_()
    c = b.clone()
    del b
    gc.collect()
    s = c.sum()
    s.backward()
    return s, a.grad


# as: test_out_variant_raises_when_inputs_require_grad
@case
def out_and_gradients():
    a, b, x = t([1.0, 2.0]), t([3.0, 4.0]), torch.zeros(2)
    print("  ", texts(lambda: torch.mul(a, b, out=x)))
    with torch.no_grad():
        torch.mul(a, b, out=x)
    print("  ", x)
    print("  ", texts(lambda: torch.mul(torch.ones(2), 2.0, out=t([0.0, 0.0]))))
    return torch.mul(a.detach(), b.detach(), out=x)


# as: test_copy_slices_graph_task_updates
@case
def only_the_branch_that_is_needed():
    ran = []

    class Notes(Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            ran.append(ctx.name)
            return g * 2, None

    def build():
        ran.clear()
        x, y = t([[1.0, 2.0], [3.0, 4.0]]), t([[5.0, 6.0], [7.0, 8.0]])
        out = Notes.apply(x, "base")
        view = out[0]
        view *= Notes.apply(y, "other")[0]
        return x, y, out, view

    for wanted in ("x", "y", "xy"):
        x, y, out, view = build()
        found = grad(out.sum(), [v for n, v in (("x", x), ("y", y)) if n in wanted])
        print("  ", wanted, found, sorted(ran))
    x, y, out, view = build()
    return grad(view.sum(), y), sorted(ran)


class Splits(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g * 10


class SplitsTwo(Function):
    @staticmethod
    def forward(ctx, x):
        return x[:1], x[1:]

    @staticmethod
    def backward(ctx, a, b):
        return torch.cat([a, b])


def made(how, mode, base_grad):
    """A base and a view of it made in a mode."""
    x = t([[1.0, 2.0], [3.0, 4.0]])
    base = x.clone() if base_grad else x.detach().clone()
    make = dict(
        view=lambda: base[0],
        unbind=lambda: base.unbind()[0],
        function=lambda: Splits.apply(base),
        two=lambda: SplitsTwo.apply(base)[0],
        chain=lambda: base.view(4).view(2, 2),
    )[how]
    if mode == "none":
        view = make()
    else:
        with dict(no_grad=torch.no_grad, inference=torch.inference_mode)[mode]():
            view = make()
    return x, base, view


# as: test_autograd_views_codegen
@case
def who_may_edit_which_view():
    for how in ("view", "unbind", "function", "two", "chain"):
        for mode in ("none", "no_grad", "inference"):
            for base_grad in (True, False):
                x, base, view = made(how, mode, base_grad)
                found = texts(lambda: view.mul_(3) is view)
                line = found[1] if found[1] is True else found[1].partition("This view was")[0][:120]
                print("  ", how, mode, base_grad, view._is_view(), found[0], line)
                if line is True and base.requires_grad:
                    print("     ", base.grad_fn.name(), texts(lambda: view.grad_fn.name())[1][:60], grad(base.sum(), x))


# as: test_autograd_inplace_views_creation_meta
@case
def shape_changed_in_place():
    for change in (
        lambda v: v.t_(),
        lambda v: v.unsqueeze_(0),
        lambda v: v.squeeze_(),
        lambda v: v.transpose_(0, -1),
        lambda v: v.squeeze_(0),
        lambda v: v.swapaxes_(0, 0),
    ):
        for how, mode in (("view", "none"), ("view", "no_grad"), ("unbind", "none"), ("function", "none")):
            x, base, view = made(how, mode, True)
            first = texts(lambda: tuple(change(view).shape))[1]
            second = texts(lambda: view.add_(1) is view)[1]
            line = second if second is True else second[:70]
            print("  ", how, mode, first if isinstance(first, tuple) else first[:70], line)


# as: test_autograd_inplace_view_of_view
@case
def views_of_views_from_a_mode():
    for mode in (torch.no_grad, torch.inference_mode):
        x = torch.zeros(2)
        with mode():
            y = x.view(2)
        y.requires_grad_()
        z = y.view(2)
        print("  ", texts(lambda: z / 2)[1])
        print("  ", texts(lambda: z.div_(2))[1])
        a = torch.zeros(2)
        with mode():
            b = a.view(2)
        b.requires_grad_()
        with torch.no_grad():
            c = b.view(2)
        print("  ", texts(lambda: c.div_(2))[1])


# as: test_autograd_print_tensor
@case
def printed():
    a = torch.ones(1, requires_grad=True)

    class Mine(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return None

    with torch.no_grad():
        c = (a + a)[:]
        d = a.view(1)
        e = c.requires_grad_()
    base = a.clone()
    with torch.no_grad():
        bad = base[:]
        bad.add_(1)
    custom = Mine.apply(a)
    gone = base * 1
    v = gone[:]
    print("  ", a, a + a, custom, d, e, bad)
    with torch.no_grad():
        w = a.clone()
        u = w[:]
        u.add_(1)
    return u, v, a[0], torch.nn.Parameter(a), a.double()


# as: test_volatile_deprecated
@case
def volatile():
    v = torch.autograd.Variable(torch.ones(2))
    print("  ", texts(lambda: v.volatile))
    return texts(lambda: torch.ones(1).volatile)


@case
def objects_die():
    x = t([1.0, 2.0])
    y = x * 2
    v = y[0]
    v.mul_(3)
    alive = weakref.ref(y)
    out = (v * 2).sum()
    out.backward()
    del y, v, out
    return x.grad, alive() is None


T("end", lambda: None)
