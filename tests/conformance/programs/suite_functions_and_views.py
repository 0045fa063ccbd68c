"""Behaviours that PyTorch's own tests of custom Functions check, as programs: views, and edits in place."""

import gc
import warnings
import weakref

import torch
from torch.autograd import Function

from _log import case, t


def tried(*calls):
    for call in calls:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                found = call()
            except Exception as e:
                found = f"{type(e).__name__}: {e}"
        print("  ", found, *[f"[{w.category.__name__}: {w.message}]" for w in seen])

# as: test_inplace_not_requires_grad
@case
def a_view_from_a_function_edited():
    class Views(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g

    a = torch.tensor([1.0, 2.0])
    tried(lambda: Views.apply(a).add_(1))
    tried(lambda: Views.apply(a).add_(t([1.0, 1.0])))
    b = t([1.0, 2.0]).clone()
    tried(lambda: Views.apply(b).add_(1))
    tried(lambda: Views.apply(b)[0].add_(t(1.0)))


class AddsTo(Function):
    """a += b; says whether to mark it."""

    @staticmethod
    def forward(ctx, a, b, dirty, extra=False):
        a.add_(b)
        if dirty:
            ctx.mark_dirty(a)
        return (a, a * 1) if extra else a

    @staticmethod
    def backward(ctx, g, *more):
        return g, g, None, None


# as: test_autograd_python_custom_function_inplace
@case
def functions_that_edit():
    b = t([10.0, 20.0, 30.0])

    def fresh():
        return t([1.0, 2.0, 3.0]).clone()

    def run(a, *args):
        out = AddsTo.apply(a, b[: len(a)], *args)
        first = out[0] if isinstance(out, tuple) else out
        return first is a, first.detach(), first.grad_fn.name(), first._version

    tried(
        lambda: run(fresh(), True),
        lambda: run(fresh(), False),
        lambda: run(fresh(), True, True),
        lambda: run(fresh()[:2], True),
        lambda: run(fresh()[:2], True, True),
        lambda: run(fresh()[:2], False),
        lambda: run(t([1.0, 2.0, 3.0]), True),
        lambda: run(t([1.0, 2.0, 3.0])[:2], True),
        lambda: run(torch.ones(3), True),
        lambda: run(torch.ones(3)[:2], True),
        lambda: run(fresh().unbind()[0].view(1), True),
    )
    with torch.no_grad():
        v = fresh()[:2]
    tried(lambda: run(v, True))
    base = fresh()
    view = base[1:]
    AddsTo.apply(view, b[1:], True)
    (base * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    return b.grad, base.detach(), base.grad_fn.name(), view.grad_fn.name()


# as: test_custom_function_mark_dirty_not_differentiable
@case
def edited_and_without_a_gradient():
    class Edits(Function):
        @staticmethod
        def forward(ctx, a, b):
            a.mul_(2)
            ctx.mark_dirty(a)
            ctx.mark_non_differentiable(a)
            return a, b * 1

        @staticmethod
        def backward(ctx, ga, gb):
            return None, gb

    a, b = torch.ones(2), t([1.0, 2.0])
    x, y = Edits.apply(a, b)
    return x is a, x.requires_grad, a, y.requires_grad


# as: test_custom_function_mark_output_view_of_intermediate
@case
def marking_what_was_not_given():
    class Marks(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone().view_as(x)
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    tried(lambda: Marks.apply(t([1.0, 2.0])))


class Zeroes(Function):
    @staticmethod
    def forward(ctx, x):
        x.zero_()
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 0


# as: test_custom_function_inplace_on_non_default_view
# as: test_custom_function_inplace_on_view_of_leaf
@case
def marking_views_that_may_not_be_edited():
    a = t([1.0, 2.0, 3.0, 4.0]).clone()
    tried(
        lambda: Zeroes.apply(a.split(2)[0]),
        lambda: Zeroes.apply(a.unbind()[0]),
        lambda: Zeroes.apply(t([1.0, 2.0])[0:1]),
        lambda: Zeroes.apply(t([1.0, 2.0])),
        lambda: Zeroes.apply(a[:1]),
    )
    return a


# as: test_custom_function_saving_mutated_view_no_leak
@case
def an_edited_view_that_was_saved_dies():
    class Token:
        pass

    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def run():
        token, base = Token(), t([1.0, 2.0]).clone()
        view = base[:1]
        out = Saves.apply(view)
        out.grad_fn.metadata["token"] = token
        base.grad_fn.metadata["token"] = token
        return weakref.ref(token)

    alive = run()
    gc.collect()
    return alive() is None


# as: test_custom_function_return_view_in_nograd
@case
def a_view_made_under_no_grad():
    class Alias(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:]

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.rand(2, requires_grad=True)
    with torch.no_grad():
        a, b = Alias.apply(x), x[:]
    print("  ", a.requires_grad, b.requires_grad, a._is_view(), b._is_view(), a.grad_fn, a.is_leaf)
    with torch.no_grad():
        tried(lambda: b.mul_(2).shape, lambda: a.mul_(2).shape)
    tried(lambda: b.mul_(2), lambda: a.mul_(2))


# as: test_custom_function_local_inplace
@case
def an_edit_inside_forward():
    class Inside(Function):
        @staticmethod
        def forward(ctx, x, inplace):
            v = x.clone()[:3]
            if inplace:
                v += 2
            return v

        @staticmethod
        def backward(ctx, g):
            out = torch.zeros(4)
            out[:3] = g
            return out, None

    x = t([1.0, 2.0, 3.0, 4.0])
    for inplace in (False, True):
        y = Inside.apply(x, inplace)
        y.sum().backward()
        print("  ", y._is_view(), y, x.grad)


# as: test_autograd_simple_views_python
# as: test_autograd_multiple_views_python
@case
def views_as_outputs():
    ran = [0]

    class Views(Function):
        @staticmethod
        def forward(ctx, x, how):
            ctx.how, ctx.shape = how, x.shape
            if how == "input":
                return x
            if how == "view":
                return x.view_as(x)
            if how == "chain":
                return x.view(4).view(2, 2).t()
            if how == "copy":
                return x.clone().view_as(x)
            return x[0], x[1]

        @staticmethod
        def backward(ctx, *gs):
            ran[0] += 1
            g = torch.stack(gs) if ctx.how == "two" else gs[0].t() if ctx.how == "chain" else gs[0]
            return g * 10, None

    for how in ("input", "view", "chain", "copy", "two"):
        for edit in ("none", "output", "base", "view of output"):
            ran[0] = 0
            a = t([[1.0, 2.0], [3.0, 4.0]])
            base = a.clone()
            out = Views.apply(base, how)
            out = out[0] if how == "two" else out
            try:
                if edit == "output":
                    out += 1
                elif edit == "base":
                    base += 1
                elif edit == "view of output":
                    v = out[:1]
                    v += 1
                (out.sum() * 3).backward()
                print("  ", how, edit, out._is_view(), ran, a.grad.tolist())
            except RuntimeError as e:
                print("  ", how, edit, out._is_view(), str(e)[:110])
