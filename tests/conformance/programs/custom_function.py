"""autograd.Function: ctx, outputs, errors, double backward, setup_context, hooks on its node."""

import torch
import torch.autograd as A
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from _log import T, t

log = []


def show(label):
    print(f"[{label}]", *log)
    log.clear()


class Sq(Function):
    @staticmethod
    def forward(ctx, x, k=1.0):
        log.append(("fw grad_enabled", torch.is_grad_enabled(), x.requires_grad, ctx.needs_input_grad))
        ctx.k = k
        ctx.save_for_backward(x)
        return x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        log.append(
            ("bw", torch.is_grad_enabled(), ctx.needs_input_grad, x.requires_grad, type(ctx.saved_tensors).__name__)
        )
        return 2 * ctx.k * x * g, None


x = t([1.0, 2.0])
y = Sq.apply(x, 3.0)
print(y, y.grad_fn, y.grad_fn.name())
y.sum().backward()
show("basic")
print(x.grad)
T("second backward: saved_tensors freed", lambda: y.sum().backward())
T("apply in no_grad", lambda: torch.no_grad()(lambda: Sq.apply(x, 2.0))())
show("no_grad")
T("apply no-rg input", lambda: Sq.apply(torch.ones(2), 2.0))
show("no rg")
T("kwargs", lambda: Sq.apply(x, k=2.0))
T("missing", lambda: Sq.apply())
T("instantiate", lambda: Sq())
T("call instance", lambda: Sq()(x))
T(
    "bad return count less",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a, b: a * b), backward=staticmethod(lambda ctx, g: g)),
        )
        .apply(x, x)
        .sum()
        .backward()
    ),
)
T(
    "bad return count more non-None",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a: a * 1), backward=staticmethod(lambda ctx, g: (g, g))),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
T(
    "extra trailing None ok",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a: a * 1), backward=staticmethod(lambda ctx, g: (g, None, None))),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
T(
    "list return from backward",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a, b: a * b), backward=staticmethod(lambda ctx, g: [g, g])),
        )
        .apply(x, x)
        .sum()
        .backward()
    ),
)
T(
    "wrong shape grad",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a: a * 1), backward=staticmethod(lambda ctx, g: torch.ones(5))),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
T(
    "broadcastable-larger grad gets summed",
    lambda: (
        lambda q: (
            type(
                "B",
                (Function,),
                dict(
                    forward=staticmethod(lambda ctx, a: a * 1), backward=staticmethod(lambda ctx, g: torch.ones(3, 2))
                ),
            )
            .apply(q)
            .sum()
            .backward(),
            q.grad,
        )
    )(t([1.0, 2.0])),
)
T(
    "smaller broadcast grad",
    lambda: (
        lambda q: (
            type(
                "B",
                (Function,),
                dict(forward=staticmethod(lambda ctx, a: a * 1), backward=staticmethod(lambda ctx, g: torch.ones(1))),
            )
            .apply(q)
            .sum()
            .backward(),
            q.grad,
        )
    )(t([1.0, 2.0])),
)
T(
    "dtype mismatch grad is cast",
    lambda: (
        lambda q: (
            type(
                "B",
                (Function,),
                dict(
                    forward=staticmethod(lambda ctx, a: a * 1),
                    backward=staticmethod(lambda ctx, g: torch.ones(2, dtype=torch.float64)),
                ),
            )
            .apply(q)
            .sum()
            .backward(),
            q.grad,
        )
    )(t([1.0, 2.0])),
)
T(
    "non tensor return",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a: a * 1), backward=staticmethod(lambda ctx, g: 3.0)),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
T(
    "grad for non-tensor arg",
    lambda: (
        type(
            "B",
            (Function,),
            dict(
                forward=staticmethod(lambda ctx, a, k: a * k), backward=staticmethod(lambda ctx, g: (g, torch.ones(1)))
            ),
        )
        .apply(x, 2.0)
        .sum()
        .backward()
    ),
)
T(
    "grad for arg not requiring grad ok",
    lambda: (
        type(
            "B",
            (Function,),
            dict(
                forward=staticmethod(lambda ctx, a, k: a * k), backward=staticmethod(lambda ctx, g: (g, torch.ones(7)))
            ),
        )
        .apply(x, torch.ones(2))
        .sum()
        .backward()
    ),
)
T("forward returns non tensor", lambda: type("B", (Function,), dict(forward=staticmethod(lambda ctx, a: "s"))).apply(x))
T("forward returns None", lambda: type("B", (Function,), dict(forward=staticmethod(lambda ctx, a: None))).apply(x))
T(
    "forward returns tuple mix",
    lambda: type("B", (Function,), dict(forward=staticmethod(lambda ctx, a: (a * 1, 3, None, "q")))).apply(x),
)
T("forward returns list", lambda: type("B", (Function,), dict(forward=staticmethod(lambda ctx, a: [a * 1]))).apply(x))
T("forward not implemented", lambda: type("B", (Function,), {}).apply(x))
T(
    "backward not implemented",
    lambda: type("B", (Function,), dict(forward=staticmethod(lambda ctx, a: a * 1))).apply(x).sum().backward(),
)
T(
    "both backward & vjp",
    lambda: (
        type(
            "B",
            (Function,),
            dict(
                forward=staticmethod(lambda ctx, a: a * 1),
                backward=staticmethod(lambda ctx, g: g),
                vjp=staticmethod(lambda ctx, g: g),
            ),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
T(
    "vjp only",
    lambda: (
        type("B", (Function,), dict(forward=staticmethod(lambda ctx, a: a * 1), vjp=staticmethod(lambda ctx, g: g * 5)))
        .apply(x)
        .sum()
        .backward()
    ),
)
T(
    "forward returns input as is",
    lambda: (lambda r: (r, r is x, r.grad_fn.name(), r._is_view()))(
        type(
            "B", (Function,), dict(forward=staticmethod(lambda ctx, a: a), backward=staticmethod(lambda ctx, g: g))
        ).apply(x)
    ),
)
T(
    "forward returns view of input",
    lambda: (lambda r: (r, r._is_view()))(
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a: a.view(2)), backward=staticmethod(lambda ctx, g: g)),
        ).apply(x)
    ),
)
T(
    "then in-place on view output",
    lambda: (
        type(
            "B",
            (Function,),
            dict(forward=staticmethod(lambda ctx, a: a.view(2)), backward=staticmethod(lambda ctx, g: g)),
        )
        .apply(x.clone())
        .add_(1)
    ),
)
T(
    "in-place on one of 2 view outputs",
    lambda: (
        type(
            "B",
            (Function,),
            dict(
                forward=staticmethod(lambda ctx, a: (a.view(2), a.view(2))), backward=staticmethod(lambda ctx, g, h: g)
            ),
        )
        .apply(x.clone())[0]
        .add_(1)
    ),
)
print("# save_for_backward rules")
T(
    "save non-tensor",
    lambda: type(
        "B", (Function,), dict(forward=staticmethod(lambda ctx, a: (ctx.save_for_backward(3), a * 1)[1]))
    ).apply(x),
)
T(
    "save None ok",
    lambda: (
        type(
            "B",
            (Function,),
            dict(
                forward=staticmethod(lambda ctx, a: (ctx.save_for_backward(None, a), a * 1)[1]),
                backward=staticmethod(lambda ctx, g: (log.append(ctx.saved_tensors), g)[1]),
            ),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
show("saved")
T(
    "save twice (last wins)",
    lambda: (
        type(
            "B",
            (Function,),
            dict(
                forward=staticmethod(lambda ctx, a: (ctx.save_for_backward(a), ctx.save_for_backward(a, a), a * 1)[2]),
                backward=staticmethod(lambda ctx, g: (log.append(len(ctx.saved_tensors)), g)[1]),
            ),
        )
        .apply(x)
        .sum()
        .backward()
    ),
)
show("saved")
T("saved_tensors outside", lambda: Sq.apply(x, 1.0).grad_fn.saved_tensors)


class SaveOut(Function):
    @staticmethod
    def forward(ctx, x):
        r = x.exp()
        ctx.save_for_backward(r)
        return r

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        log.append((r.grad_fn.name() if r.grad_fn else None))
        return g * r


y = SaveOut.apply(x)
y.sum().backward(retain_graph=True)
show("saved output has grad_fn")
y.add_(1)
T("in-place on saved output", lambda: y.sum().backward())
z = x.clone()
y = Sq.apply(z, 1.0)
z.add_(1)
T("in-place on saved input", lambda: y.sum().backward())
log.clear()


class Interm(Function):
    @staticmethod
    def forward(ctx, x):
        r = x.exp()
        ctx.r = r
        return r * 2

    @staticmethod
    def backward(ctx, g):
        return g * ctx.r * 2


y = Interm.apply(x)
y.sum().backward()
T("attr-saved survives second backward", lambda: y.sum().backward())
print("# materialize")


class Two(Function):
    @staticmethod
    def forward(ctx, x, mat):
        ctx.set_materialize_grads(mat)
        return x * 1, x * 2

    @staticmethod
    def backward(ctx, g1, g2):
        log.append((g1, g2))
        return (g1 if g1 is not None else 0 * x) + (0 if g2 is None else g2), None


a, b = Two.apply(x, True)
a.sum().backward()
show("materialize True")
a, b = Two.apply(x, False)
a.sum().backward()
show("materialize False")
print("# mark_non_differentiable / dirty")


class ND(Function):
    @staticmethod
    def forward(ctx, x):
        i = (x > 1).float()
        ctx.mark_non_differentiable(i)
        return x * 2, i

    @staticmethod
    def backward(ctx, g, gi):
        log.append(gi)
        return g * 2


a, i = ND.apply(x)
print(a, i, i.requires_grad, i.grad_fn)
a.sum().backward()
show("nondiff grad arg")


class IntOut(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, (x > 1).long()

    @staticmethod
    def backward(ctx, g, gi):
        log.append(gi)
        return g * 2


a, i = IntOut.apply(x)
print(i, i.requires_grad)
a.sum().backward()
show("int output")


class Dirty(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


z = x * 1
v0 = z._version
r = Dirty.apply(z)
print(r is z, z._version - v0, z.grad_fn.name(), z)
T("dirty leaf", lambda: Dirty.apply(x))
print(x)


class Dirty2(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * 2


T("dirty not returned", lambda: Dirty2.apply(x * 1))


class Dirty3(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(torch.ones(1))
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * 2


T("mark_dirty non-input", lambda: Dirty3.apply(x * 1))


class NoDirty(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


z = x * 1
T(
    "in-place w/o mark_dirty",
    lambda: (lambda r: (r is z, z._version, r.grad_fn.name(), z.grad_fn.name()))(NoDirty.apply(z)),
)
z = (x * 1)[0:1]
T("dirty on view", lambda: (lambda r: (r is z, z.grad_fn.name()))(Dirty.apply(z)))
print("# once_differentiable, double backward")


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


(g,) = A.grad(Cube.apply(x).sum(), x, create_graph=True)
print(g, A.grad(g.sum(), x))


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        log.append(torch.is_grad_enabled())
        return 3 * x**2 * g


(g,) = A.grad(Once.apply(x).sum(), x, create_graph=True)
print(g)
T("once twice (g no rg)", lambda: A.grad(g.sum(), x))
go = t([1.0, 1.0])
(g,) = A.grad(Once.apply(x), x, grad_outputs=go, create_graph=True)
print(g)
T("once twice", lambda: A.grad(g.sum(), x))
show("grad mode")
print("# setup_context")


class SC(Function):
    @staticmethod
    def forward(x, k=2.0):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        log.append((inputs[1], output))
        ctx.k = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


y = SC.apply(x)
print(y)
show("defaults bound")
y = SC.apply(x, k=5.0)
print(y, A.grad(y.sum(), x))
log.clear()
print("# exception in forward/backward")


class EB(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise ZeroDivisionError("zz")


T("exc", lambda: EB.apply(x).sum().backward())
print("# hooks on Function nodes: grad_fn.register_hook, prehook, ctx methods in backward")
y = Sq.apply(x, 1.0)
y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi, go)))
y.grad_fn.register_prehook(lambda go: (go[0] * 2,))
y.sum().backward()
show("fn hooks")
print([a for a in ("k", "name", "apply", "saved_tensors", "mark_dirty", "foo") if a in dir(y.grad_fn)])
y = Sq.apply(x, 1.0)
print(y.grad_fn.needs_input_grad, y.grad_fn.k)
w = torch.ones(2)
class_ = type(
    "NI",
    (Function,),
    dict(
        forward=staticmethod(lambda ctx, a, b, c: (log.append(ctx.needs_input_grad), a * b * c)[1]),
        backward=staticmethod(lambda ctx, g: (log.append(ctx.needs_input_grad), g, None, None)[1:]),
    ),
)
class_.apply(x, w, 2.0).sum().backward()
show("needs_input_grad 3 args")
r = class_.apply(x, w.requires_grad_(), 2.0).sum()
log.clear()
A.grad(r, w, allow_unused=True)
show("needs_input_grad under grad(w only)")
