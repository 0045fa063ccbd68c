"""Behaviours that PyTorch's own tests of custom Functions check, as programs: contexts, edits, views, lifetimes."""

import gc
import warnings
import weakref

import torch
from torch.autograd import Function, grad, gradcheck, gradgradcheck

from _log import T, case, t


def tried(*calls):
    for call in calls:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                found = call()
            except Exception as e:
                found = f"{type(e).__name__}: {e}"
        print("  ", found, *[f"[{w.category.__name__}: {w.message}]" for w in seen])


class TwoOutputs(Function):
    """x -> 2x, 3x; what backward was given is printed."""

    materialize = None

    @classmethod
    def forward(cls, ctx, x):
        if cls.materialize is not None:
            ctx.set_materialize_grads(cls.materialize)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        print("  ", a, b)
        return (0 if a is None else a * 2) + (0 if b is None else b * 3)


# as: test_materialize_grads
# as: test_dont_materialize_grads
@case
def gradients_that_did_not_arrive():
    for value in (None, True, False):
        made = type("Made", (TwoOutputs,), {"materialize": value})
        x = t([1.0, 2.0])
        a, b = made.apply(x)
        b.sum().backward()
        print("  ", x.grad)
    undefined = torch._C._functions.UndefinedGrad() if hasattr(torch._C, "_functions") else None
    return undefined is None or True


# as: test_set_materialize_non_diff_grads
@case
def gradients_of_what_has_none():
    class Part(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x.clone(), x.clone()
            ctx.mark_non_differentiable(b)
            ctx._materialize_non_diff_grads = False
            return a, b

        @staticmethod
        def backward(ctx, ga, gb):
            print("  ", ga, gb)
            return ga

    x = t([1.0])
    Part.apply(x)[0].backward()
    return x.grad


# as: test_legacy_function_deprecation_exception
# as: test_naughty_autograd_function_attribute_access
@case
def a_function_as_an_object():
    class Id(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = Id()
    tried(
        lambda: Id() is None,
        lambda: Id()(torch.zeros(1)),
        lambda: f.saved_tensors,
        lambda: f.saved_variables,
        lambda: f.needs_input_grad,
        lambda: f.next_functions,
        lambda: f.metadata,
        lambda: f(torch.zeros(1)),
    )


# as: test_custom_function_exception
@case
def an_exception_in_backward():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            raise LookupError("in backward")

    Fails.apply(t([1.0]), t([2.0])).backward()


# as: test_custom_function_setup_context_simple
# as: test_custom_function_setup_context_multi_output
# as: test_custom_function_setup_context_multi_input
@case
def contexts_set_up_apart():
    class Cat(Function):
        @staticmethod
        def forward(x, scale, y, *more, flag=None):
            return x.clone() * scale, y.clone(), (scale, more)

        @staticmethod
        def setup_context(ctx, inputs, outputs):
            ctx.scale = inputs[1]
            ctx.count = len(inputs)
            ctx.out = type(outputs).__name__, outputs[2]

        @staticmethod
        def backward(ctx, a, b, rest):
            print("  ", ctx.count, ctx.out, rest)
            return (a * ctx.scale, None, b, *[None] * (ctx.count - 3))

    x, y = t([1.0]), t([2.0])
    a, b, rest = Cat.apply(x, 5, y, "m", None)
    (a + 3 * b).sum().backward()
    return rest, x.grad, y.grad, a.grad_fn is b.grad_fn


# as: test_setup_context_when_forward_has_default_args
@case
def defaults_reach_setup_context():
    class Pow(Function):
        @staticmethod
        def forward(x, exponent=3):
            return x**exponent

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, exponent = inputs
            ctx.exponent = exponent
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.exponent * x ** (ctx.exponent - 1), None

    class ByClass(Pow):
        @classmethod
        def forward(cls, x, exponent=2):
            return x**exponent

    for f in (Pow, ByClass):
        for args, kwargs in (((), {}), ((4,), {}), ((), {"exponent": 5})):
            x = t([2.0])
            tried(lambda: f.apply(x, *args, **kwargs).sum().backward(), lambda: x.grad)  # noqa: B023


# as: test_custom_function_vmap_defaults
@case
def what_every_function_has():
    class Plain(Function):
        pass

    tried(lambda: Plain.generate_vmap_rule, lambda: Plain.clear_saved_tensors_on_access, lambda: Plain.apply(t([1.0])))
    return hasattr(Plain, "vmap"), Plain.forward is Function.forward, Plain.vjp is Function.backward


# as: test_save_none_for_backward
# as: test_saved_variables_deprecated
@case
def none_among_the_saved():
    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(None, x, None)
            return x * x

        @staticmethod
        def backward(ctx, g):
            a, x, b = ctx.saved_tensors
            print("  ", a, b, ctx.saved_variables[1] is x or torch.equal(ctx.saved_variables[1], x))
            return 2 * x * g

    x = t([3.0])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Saves.apply(x).backward()
    return x.grad, {(w.category.__name__, str(w.message)) for w in seen}


# as: test_save_output_nr
@case
def a_saved_tensor_knows_its_place():
    class Chunks(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1].clone(), x[1:].clone()

        @staticmethod
        def backward(ctx, a, b):
            return torch.cat([a, b])

    class Tells(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            print("  ", x.output_nr, x.grad_fn.name())
            return g

    x = t([1.0, 2.0])
    for part in Chunks.apply(x):
        Tells.apply(part).sum().backward(retain_graph=True)
    return x.grad


# as: test_mark_non_differentiable_mixed
@case
def one_output_without_a_gradient():
    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x + 1, x + 2
            ctx.mark_non_differentiable(a)
            return a, b

        @staticmethod
        def backward(ctx, ga, gb):
            print("  ", ga, gb)
            return gb

    x = torch.ones(2, 2, requires_grad=True)
    a, b = Half.apply(x)
    print("  ", a.requires_grad, b.requires_grad, a.grad_fn)
    (a + b).sum().backward()
    return x.grad


# as: test_mark_non_differentiable_none
@case
def none_handed_to_a_built_in_node():
    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    x = t([5.0])
    Nothing.apply(x + 1 * x.exp()).sum().backward()
    return x.grad


# as: test_return_duplicate
# as: test_return_duplicate_inplace
@case
def one_tensor_returned_twice():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, a, b):
            return (a + b) * 2

    class TwiceEdited(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x, x

        @staticmethod
        def backward(ctx, a, b):
            return (a + b) * 2

    x = t([1.0, 2.0], dtype=torch.float64)
    a, b = Twice.apply(x)
    print("  ", a is b, a.output_nr)
    print("  ", gradcheck(Twice.apply, [x]), gradgradcheck(Twice.apply, [x]))
    c, d = TwiceEdited.apply(x.clone())
    print("  ", c is d, c.output_nr, c)
    f = lambda v: TwiceEdited.apply(v.clone())  # noqa: E731
    print("  ", gradcheck(f, [x]), gradgradcheck(f, [x]))
    tried(lambda: TwiceEdited.apply(x))
    return x


# as: test_return_leaf
# as: test_return_leaf_inplace
@case
def the_input_given_back():
    class Back(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a, a + b

        @staticmethod
        def backward(ctx, ga, gb):
            return ga + gb, gb

    class Edited(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b), b + 2

        @staticmethod
        def backward(ctx, ga, gb):
            return ga, ga + gb

    log, x, y = [], t([1.0, 2.0]), t([3.0, 4.0])
    q, p = Back.apply(x, y)
    q.register_hook(lambda g: log.append(("q", g.tolist())))
    x.register_hook(lambda g: log.append(("x", g.tolist())))
    (q + p + x).sum().backward()
    print("  ", log, x.grad, y.grad, q is x, q.is_leaf)
    a, b = torch.ones(2), t([3.0, 4.0])
    q, p = Edited.apply(a, b)
    print("  ", q is a, q.grad_fn.name(), q.is_leaf)
    (q + p).sum().backward()
    return a.grad_fn is q.grad_fn, b.grad


# as: test_dep_nograd
@case
def functions_after_what_has_no_gradient():
    class First(Function):
        @staticmethod
        def forward(ctx, x):
            out = torch.tensor(x.tolist())
            ctx.mark_non_differentiable(out)
            return out, x.clone()

        @staticmethod
        def backward(ctx, g, h):
            return h

    class Second(Function):
        @staticmethod
        def forward(ctx, x, ignored):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g, None

    x = t([1.0, 2.0])
    out, same = First.apply(x)
    y = Second.apply(same, out)
    y.sum().backward()
    return out.requires_grad, x.grad


class Scales(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.needed = ctx.needs_input_grad
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


# as: test_no_grad_python_function
@case
def applied_under_no_grad():
    x = t([1.0])
    with torch.no_grad():
        y = Scales.apply(x)
    return y.requires_grad, y.grad_fn, Scales.apply(x).grad_fn.needed


# as: test_no_grad_input
@case
def an_input_given_back_under_no_grad():
    class Back(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = t([1.0])
    with torch.no_grad():
        y = Back.apply(x)
    return x.requires_grad, y.grad_fn, y is x


# as: test_naughty_anomaly_access
@case
def metadata_of_a_function():
    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = t([0.0])
    y = Plain.apply(x)
    y.grad_fn.metadata["mine"] = 3
    return y.grad_fn.metadata, len(dir(y.grad_fn)) > 10


# as: test_custom_autograd_repeated_grad_grad
# as: test_custom_autograd_no_early_free
@case
def differentiated_again_and_again():
    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    x, y = t([2.0, 3.0], dtype=torch.float64), t([4.0, 5.0], dtype=torch.float64)
    out = Product.apply(Product.apply(x, x), y)
    found = []
    for _ in range(2):
        (g,) = grad(out.sum(), x, create_graph=True)
        (h,) = grad(g.sum(), x, create_graph=True)
        found.append((g.tolist(), h.tolist()))
    print("  ", found[0] == found[1], found[0])
    print("  ", gradcheck(Product.apply, [x, y]), gradgradcheck(Product.apply, [x, y]))
    z = Product.apply(x, y)
    (g,) = grad(z.sum(), x, create_graph=True)
    (again,) = grad(z.sum(), x)
    return torch.equal(g, again), grad(g.sum(), y)


# as: test_gc_in_destructor
@case
def a_destructor_that_collects():
    class Collects:
        def __del__(self):
            gc.collect()

    class Holds(Function):
        @staticmethod
        def forward(ctx, x, thing):
            ctx.thing = thing
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return g, None

    def run():
        x = t([1.0, 2.0])
        for _ in range(3):
            y = Holds.apply(x, Collects())
            y.sum().backward()
        return x.grad

    return run()


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


# as: test_custom_function_cycle
@case
def a_cycle_through_the_context():
    class Token:
        pass

    class Holds(Function):
        @staticmethod
        def forward(ctx, x, store):
            ctx.store = store
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return x * g, None

    def run(freed):
        store, token, x = {}, Token(), t([1.0, 2.0])
        y = Holds.apply(x, store)
        store["y"], store["token"] = y, token
        if freed:
            y.sum().backward()
        return weakref.ref(token)

    found = []
    for freed in (False, True):
        alive = run(freed)
        gc.collect()
        found.append(alive() is None)
    return found


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


# as: test_custom_function_error
@case
def methods_that_are_missing():
    class NoForward(Function):
        @staticmethod
        def backward(ctx, g):
            return g

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    class ByVjp(NoBackward):
        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = t([1.0])
    tried(
        lambda: NoForward.apply(x),
        lambda: NoBackward.apply(x).backward(),
        lambda: Both.apply(x).backward(),
        lambda: ByVjp.apply(x).backward(),
    )
    return x.grad


@case
def names_on_the_context():
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.name, ctx.mine = "a name", [1]
            return x * 2

        @staticmethod
        def backward(ctx, g):
            print("  ", ctx.name, ctx.mine)
            return g * 2

    x = t([1.0])
    Named.apply(x).backward()
    return x.grad


T("end", lambda: None)
