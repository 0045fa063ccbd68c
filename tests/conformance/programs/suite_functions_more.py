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
