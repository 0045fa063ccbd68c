"""gradcheck and gradgradcheck: what they accept, find and refuse."""

import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.gradcheck import GradcheckError

from _log import T, case

d = lambda *values: torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Scaled(Function):
    """x*x with a derivative `scale` times too large."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x * ctx.scale, None


class Bias(Function):
    """A backward that is not linear in its argument."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g + 1


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        if g is None:
            raise RuntimeError("cannot handle None")
        return g


class Random(Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        Random.calls += 1
        return g * (1 + 1e-7 * (Random.calls % 3))


T("cube", gradcheck, lambda x: x**3, d(1.0, 2.0))
T("two inputs", gradcheck, lambda x, y: x * y.sin(), (d(1.0, 2.0), d(3.0, 4.0)))
T("several outputs", gradcheck, lambda x: (x**2, x.exp().sum()), (d(1.0, 2.0),))
T("matrix", gradcheck, torch.mm, (d(*range(6)).detach().view(2, 3).requires_grad_(), d(*range(6)).detach().view(3, 2).requires_grad_()))
T("other arguments", gradcheck, lambda x, k: x * k, (d(1.0, 2.0), 3))
T("part without gradient", gradcheck, lambda x, y: x * y, (d(1.0, 2.0), d(3.0, 4.0).detach()))
T("wrong derivative", gradcheck, lambda x: Scaled.apply(x, 2.0), d(1.0, 2.0))
T("wrong derivative of the second", gradcheck, lambda x, y: x + Scaled.apply(y, 1.5), (d(1.0, 2.0), d(3.0, 4.0)))
T("wrong, no exception", gradcheck, lambda x: Scaled.apply(x, 2.0), d(1.0, 2.0), raise_exception=False)
T("within a loose tolerance", gradcheck, lambda x: Scaled.apply(x, 1.01), d(1.0, 2.0), rtol=0.1)
T("just outside", gradcheck, lambda x: Scaled.apply(x, 1.01), d(1.0, 2.0))
T("not linear", gradcheck, Bias.apply, d(1.0, 2.0))
T("undefined gradients", gradcheck, Fails.apply, d(1.0, 2.0))
T("undefined gradients not asked", gradcheck, Fails.apply, d(1.0, 2.0), check_undefined_grad=False)
try:
    gradcheck(Random.apply, d(1.0, 2.0))
except GradcheckError as e:
    print(str(e).splitlines()[0])
T("nondeterministic, tolerated", gradcheck, Random.apply, d(1.0, 2.0), nondet_tol=1e-5)
T("no input requires grad", gradcheck, lambda x: x**3, d(1.0, 2.0).detach())
T("no output requires grad", gradcheck, lambda x: x.detach() * 0, d(1.0, 2.0))
T("hidden dependence", gradcheck, lambda x: x.detach() * 2, d(1.0, 2.0))
T("stride 0", gradcheck, lambda x: x**2, d(1.0).detach().expand(2).requires_grad_())
T("float32", gradcheck, lambda x: x**3, torch.tensor([1.0, 2.0], requires_grad=True), raise_exception=False)
T("nothing to check", gradcheck, lambda x: x, d(1.0), check_backward_ad=False)
T("kink", gradcheck, torch.abs, d(0.0, 1.0), raise_exception=False)
T("batched", gradcheck, lambda x: x**3, d(1.0, 2.0), check_batched_grad=True)
T("fast mode", gradcheck, lambda x: x**3, d(1.0, 2.0), fast_mode=True)
T("second order", gradgradcheck, lambda x: x**3, d(1.0, 2.0))
T("second order of two", gradgradcheck, lambda x, y: x * y.sin(), (d(1.0, 2.0), d(3.0, 4.0)))
T("second order with seeds", gradgradcheck, lambda x: x**3, d(1.0, 2.0), d(1.0, -1.0))
T("second order, non-contiguous", gradgradcheck, lambda x: x**3, d(1.0, 2.0), gen_non_contig_grad_outputs=True)


@case
def wrong_second_order():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * (x * x).detach()

    return gradcheck(Cube.apply, d(1.0, 2.0)), gradgradcheck(Cube.apply, d(1.0, 2.0), raise_exception=False)


@case
def shape_depends_on_the_value():
    return gradcheck(lambda x: x[: int(x[0].item() + 0.5)] ** 2, d(1.4999999, 2.0))


@case
def hooks_stay_quiet_or_not():
    log, x = [], d(1.0, 2.0)
    x.register_hook(lambda g: log.append(1))
    gradcheck(lambda v: v**2, x)
    return len(log) > 0, x.grad


@case
def error_class():
    return GradcheckError.__mro__[1].__name__, issubclass(GradcheckError, RuntimeError)


@case
def inputs_are_restored():
    x = d(1.0, 2.0)
    gradcheck(lambda v: v**2, x)
    return x
