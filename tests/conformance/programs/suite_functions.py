"""Behaviours that PyTorch's own tests of custom Functions and of the engine check, as programs."""

import torch
from torch.autograd import Function, Variable, grad
from torch.autograd.function import once_differentiable

from _log import T, case, t


class Mul(Function):
    @staticmethod
    def forward(ctx, a, k, b):
        ctx.k = k
        ctx.save_for_backward(a, b)
        return a + k * b + a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g + g * b, None, g * ctx.k + g * a


# as: test_function
@case
def basic_and_twice():
    x, y = t([1.0, 2.0]), t([3.0, 4.0])
    z = Mul.apply(x, 2, y)
    gx, gy = grad(z.sum(), [x, y], create_graph=True)
    return gx, gy, grad((gx + gy).sum(), [x, y]), z.grad_fn.next_functions[1:]


# as: test_once_differentiable
@case
def once_only():
    class Once(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            print("   grad mode", torch.is_grad_enabled())
            return g * 2 * ctx.saved_tensors[0]

    x, go = t([1.0, 2.0]), t([1.0, 1.0])
    (g,) = grad(Once.apply(x), x, go, create_graph=True)
    print("  ", g.grad_fn.name(), [f and f[0] and f[0].name() for f in g.grad_fn.next_functions])
    return grad(g.sum(), x)


# as: test_function_returns_input
@case
def the_input_itself():
    class Same(Function):
        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = t([1.0, 2.0])
    y = Same.apply(x)
    y.sum().backward()
    with torch.no_grad():
        z = Same.apply(x)
    return y is x, y.grad_fn.name(), x.grad, z is x, z.requires_grad, z._is_view()


# as: test_function_returns_undefined_tensor
@case
def none_as_gradient():
    class Nothing(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x = t([1.0, 2.0])
    Nothing.apply(x).sum().backward()
    (Nothing.apply(x) + x).sum().backward()
    return x.grad


# as: test_custom_function_non_tensor_inputs_outputs
@case
def other_things_in_and_out():
    class Mixed(Function):
        @staticmethod
        def forward(ctx, name, a, numbers, b, none):
            ctx.save_for_backward(a, b)
            return a * b, name, {"n": numbers}, None, 3

        @staticmethod
        def backward(ctx, g, *rest):
            print("  ", rest)
            a, b = ctx.saved_tensors
            return None, g * b, None, g * a, None

    a, b = t([1.0, 2.0]), t([3.0, 4.0])
    out = Mixed.apply("n", a, [1, 2], b, None)
    out[0].sum().backward()
    return out[1:], a.grad, b.grad


# as: test_custom_function_no_tensors
@case
def no_tensors_at_all():
    class Plain(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g, g

    return Plain.apply(1, 2), Plain.apply(torch.ones(1), 2)


@case
def setup_context():
    class Setup(Function):
        @staticmethod
        def forward(x, y, k=2, *, flag=True):
            return x * y, k

        @staticmethod
        def setup_context(ctx, inputs, output):
            print("  ", len(inputs), output[1], torch.is_grad_enabled(), ctx.needs_input_grad)
            ctx.save_for_backward(*inputs[:2])

        @staticmethod
        def backward(ctx, g, k):
            x, y = ctx.saved_tensors
            return g * y, g * x, None

    x, y = t([1.0, 2.0]), torch.tensor([3.0, 4.0])
    out, k = Setup.apply(x, y)
    out.sum().backward()
    return k, x.grad


# as: test_invalid_gradients
# as: test_too_many_grads
class Returns(Function):
    @staticmethod
    def forward(ctx, a, b, what):
        ctx.what = what
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return ctx.what(g)


for label, what in {
    "one too few": lambda g: (g, None),
    "one too many": lambda g: (g, None, None, g),
    "extra None": lambda g: (g, None, None, None, None),
    "for a number": lambda g: (g, None, g),
    "wrong shape": lambda g: (g[:1].expand(3), None, None),
    "too small": lambda g: (g.sum(), None, None),
    "larger": lambda g: (g.expand(4, 2), None, None),
    "other dtype": lambda g: (g.double(), None, None),
    "no tensor": lambda g: (1.0, None, None),
    "list": lambda g: [g, None, None],
    "for what needs none": lambda g: (g, torch.ones(7), None),
    "None everywhere": lambda g: (None, None, None),
    "no tuple": lambda g: g,
}.items():

    def run(what=what):
        a = t([1.0, 2.0])
        Returns.apply(a, torch.ones(2), what).sum().backward()
        return a.grad, a.grad.dtype

    T(label, run)


# as: test_mark_non_differentiable
@case
def non_differentiable_outputs():
    class Mask(Function):
        @staticmethod
        def forward(ctx, a):
            mask, rest = a > 1, a * 3
            ctx.mark_non_differentiable(mask, rest)
            return a * 2, mask, rest

        @staticmethod
        def backward(ctx, g, m, r):
            print("  ", m, r)
            return g * 2

    a = t([1.0, 2.0])
    y, m, r = Mask.apply(a)
    (y * m * r).sum().backward()
    return m.requires_grad, r.requires_grad, a.grad


@case
def the_same_dirty_tensor():
    class Inplace(Function):
        @staticmethod
        def forward(ctx, a, b):
            a.add_(3)
            ctx.mark_dirty(a)
            return a, a + b

        @staticmethod
        def backward(ctx, ga, gb):
            return ga + gb, gb

    x, y = t([1.0, 2.0]), t([3.0, 4.0])
    q = x * 1
    p, s = Inplace.apply(q, y)
    print("  ", p is q, q._version, q.grad_fn.name(), s.grad_fn is q.grad_fn, s.output_nr)
    (p + s * 10).sum().backward()
    return x.grad, y.grad


@case
def a_dirty_view():
    class Double(Function):
        @staticmethod
        def forward(ctx, a):
            a.mul_(2)
            ctx.mark_dirty(a)
            return a

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = t([1.0, 2.0, 3.0])
    base = x * 1
    v = base[1:]
    out = Double.apply(v)
    print("  ", out is v, base, base.grad_fn.name())
    base.sum().backward()
    return x.grad


# as: test_naughty_autograd_function_stashing_ctx
@case
def stashed_context():
    kept = []

    class Stash(Function):
        @staticmethod
        def forward(ctx, a):
            kept.append(ctx)
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    a = t([1.0, 2.0])
    Stash.apply(a).sum().backward()
    return kept[0].saved_tensors


# as: test_grad_mode_restored_reentrant
@case
def backward_inside_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, a):
            with torch.enable_grad():
                ctx.a = a.detach().requires_grad_()
                ctx.y = ctx.a**2
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            before = torch.is_grad_enabled()
            with torch.enable_grad():
                ctx.y.backward(g)
            print("  ", before, torch.is_grad_enabled())
            return ctx.a.grad

    x = t([1.0, 2.0])
    (Inner.apply(x * 3) * 2).sum().backward()
    return x.grad


@case
def error_of_the_inner_pass():
    class Inner(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                x = torch.ones(2, requires_grad=True)
                (x * 2).backward()

    Inner.apply(t([1.0])).backward()


@case
def callbacks():
    log, a = [], t(2.0)
    engine = Variable._execution_engine

    def last():
        log.append("callback")
        if len(log) < 6:
            engine.queue_callback(last)

    a.register_post_accumulate_grad_hook(lambda p: log.append("accumulated"))
    a.register_hook(lambda g: engine.queue_callback(last) or log.append("hook"))
    (a * 3).backward()
    return log


@case
def callbacks_of_an_inner_pass():
    log, a, b = [], t(2.0), t(3.0)
    engine = Variable._execution_engine

    def hook(g):
        engine.queue_callback(lambda: log.append("outer"))
        with torch.enable_grad():
            b.register_hook(lambda h: engine.queue_callback(lambda: log.append("inner")) or None)
            (b * 2).backward()
        log.append("hook ends")

    a.register_hook(hook)
    (a * 3).backward()
    return log


@case
def callback_outside():
    Variable._execution_engine.queue_callback(lambda: None)


@case
def nodes_and_their_edges():
    a, b = t([1.0, 2.0]), t([3.0, 4.0])
    c = (a + b) * 2
    (node, nr), constant = c.grad_fn.next_functions
    leaves = [f.variable is v for (f, _), v in zip(node.next_functions, (a, b))]
    return node.name(), nr, constant, leaves, isinstance(node, torch.autograd.graph.Node)


@case
def deep_reentrance():
    class Deep(Function):
        @staticmethod
        def forward(ctx, a, n):
            ctx.n = n
            return a * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.n:
                with torch.enable_grad():
                    x = torch.ones((), requires_grad=True)
                    Deep.apply(x, ctx.n - 1).backward()
            return g, None

    a = t(1.0)
    Deep.apply(a, 60).backward()
    return a.grad


@case
def long_chain():
    a = t(1.0)
    y = a
    for _ in range(20000):
        y = y + 0.0
    y.backward()
    return a.grad


@case
def missing_methods():
    class Empty(Function):
        pass

    class OnlyForward(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

    found = []
    for f in (lambda: Empty.apply(t(1.0)), lambda: OnlyForward.apply(t(1.0)).backward()):
        try:
            f()
        except Exception as e:
            found.append((type(e).__name__, str(e)))
    return found
