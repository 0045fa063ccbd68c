"""Functions that return their inputs as they are: once, twice, saved, marked as not differentiable; what may be saved."""

import torch

from _log import T, t

x = torch.ones(3)


def function(forward, mark=None, save=lambda inputs, output: (inputs[1],), later="save_for_backward"):
    class Given(torch.autograd.Function):
        @staticmethod
        def forward(a, b):
            return forward(a, b)

        @staticmethod
        def setup_context(ctx, inputs, output):
            if mark is not None:
                getattr(ctx, mark)(inputs[0])
            getattr(ctx, later)(*save(inputs, output))

        @staticmethod
        def backward(ctx, *grads):
            return grads[0], grads[-1]

    return Given.apply


def shown(apply, *args):
    out = apply(*args)
    outs = out if isinstance(out, tuple) else (out,)
    return [(y.requires_grad, y.grad_fn is None, y._is_view(), y.output_nr) for y in outs], len({id(y) for y in outs})


def same(a, b):
    return a


def twice(a, b):
    return a, a


T("once", shown, function(same), t([1.0]) * 1, x)
T("twice", shown, function(twice), t([1.0]) * 1, x)
T("a leaf twice", shown, function(twice), t([1.0]), x)
T("the constant twice", shown, function(lambda a, b: (b, b, a * 2)), t([1.0]), x)
T("a result twice", shown, function(lambda a, b: (a * 2,) * 2), t([1.0]), x)
T("edited, twice", shown, function(lambda a, b: (a.mul_(2), a), "mark_dirty"), t([1.0]) * 1, x)
T("not differentiable", shown, function(same, "mark_non_differentiable"), t([1.0]) * 1, x)
T("not differentiable, twice", shown, function(twice, "mark_non_differentiable"), t([1.0]) * 1, x)
T("beside another", shown, function(lambda a, b: (a, a * 2), "mark_non_differentiable"), t([1.0]) * 1, x)

w, v = t([1.0, 2.0]), t([3.0, 4.0])
first, second = function(twice)(w, v)
(first * 3 + second * 5).sum().backward()
print(w.grad, v.grad)

# Saved, too.
INPUTS = {"inputs": lambda inputs, output: inputs, "output": lambda inputs, output: (output,)}
for what, save in INPUTS.items():
    for later in ("save_for_backward", "save_for_forward"):
        T(f"{what} by {later}", shown, function(same, save=save, later=later), t([1.0]) * 1, x)
T("of a constant", shown, function(same, save=INPUTS["inputs"]), x, x)
T("under no_grad", shown, torch.no_grad()(function(same, save=INPUTS["inputs"])), t([1.0]) * 1, x)
T("edited", shown, function(lambda a, b: a.mul_(2), "mark_dirty", INPUTS["inputs"]), t([1.0]) * 1, x)
T("marked", shown, function(same, "mark_non_differentiable", INPUTS["inputs"]), t([1.0]) * 1, x)


class InForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


(g,) = torch.autograd.grad(InForward.apply(w).sum(), w, create_graph=True)
print(g, torch.autograd.grad(g.sum(), w))

# What cannot be saved, and arguments that do not fit.
T("a number for backward", function(same, save=lambda inputs, output: (x, 3)), w, x)
T("before what is dirty", function(lambda a, b: a * 2, "mark_dirty", lambda inputs, output: (x, 3)), w * 1, x)
T("a number for forward", function(same, save=lambda inputs, output: (x, 3), later="save_for_forward"), w, x)
T("too few", function(same), w)
T("too many", function(same), w, x, x)
T("unknown", function(same), w, x, c=x)
