"""Hooks that return the wrong thing, keep what they get, or are no functions."""

import functools

import torch

from _log import T, case, t


def returns(value):
    def f():
        x = t([1.0, 2.0])
        y = x * 2
        y.register_hook(lambda g: value)
        y.sum().backward()
        return x.grad

    return f


for label, value in {
    "float": 1.0,
    "True": True,
    "list": [torch.ones(2)],
    "tuple": (torch.ones(2),),
    "string": "g",
    "int64": torch.ones(2, dtype=torch.int64),
    "float64": torch.ones(2, dtype=torch.float64),
    "float16": torch.ones(2, dtype=torch.float16),
    "bool tensor": torch.ones(2, dtype=torch.bool),
    "0-d": torch.tensor(1.0),
    "shape (1, 2)": torch.ones(1, 2),
    "shape (3,)": torch.ones(3),
    "empty": torch.ones(0),
    "requires grad": torch.ones(2, requires_grad=True),
    "non-leaf": torch.ones(2, requires_grad=True) * 2,
    "expanded": torch.ones(1).expand(2),
    "inf": torch.tensor([float("inf"), 0.0]),
    "Parameter": torch.nn.Parameter(torch.ones(2)),
}.items():
    T(label, returns(value))


def node_returns(kind, value):
    def f():
        x = t([1.0, 2.0])
        y = x * 2
        getattr(y.grad_fn, kind)(lambda *a: value)
        y.sum().backward()
        return x.grad

    return f


for kind, other in (("register_prehook", ()), ("register_hook", (None,))):
    for label, value in {
        "tensor": torch.ones(2),
        "list": [torch.ones(2), *other],
        "empty tuple": (),
        "too long": (torch.ones(2), None, None),
        "shape": (torch.ones(3), *other),
        "dtype": (torch.ones(2).double(), *other),
        "float element": (1.0, *other),
        "None element": (None, *other),
        "right": (torch.full((2,), 5.0), *other),
        "number": 3,
    }.items():
        T(f"{kind} {label}", node_returns(kind, value))

for label, hook in {
    "no callable": 3,
    "None": None,
    "class": dict,
    "builtin": len,
    "two arguments": lambda a, b: a,
    "keyword": lambda *, g: g,
    "partial": functools.partial(lambda k, g: g * k, 3),
}.items():

    def run(hook=hook):
        x = t([1.0, 2.0])
        x.register_hook(hook)
        (x * 1).sum().backward()
        return x.grad

    T(f"registered {label}", run)


@case
def name_of_a_callable_object():
    class Hook:
        def __call__(self, g):
            return g[:1]

    x = t([1.0, 2.0])
    x.register_hook(Hook())
    (x * 1).sum().backward()


@case
def name_of_a_method():
    class Owner:
        def hook(self, g):
            return g.double()

    x = t([1.0, 2.0])
    x.register_hook(Owner().hook)
    (x * 1).sum().backward()


@case
def name_of_a_partial():
    x = t([1.0, 2.0])
    x.register_hook(functools.partial(torch.sum, dim=0))
    (x * 1).sum().backward()


@case
def post_accumulate_returns():
    found = []
    for value in (1, "x", torch.ones(2), [None], False):
        x = t([1.0, 2.0])
        x.register_post_accumulate_grad_hook(lambda p: value)
        try:
            (x * 1).sum().backward()
        except Exception as e:
            found.append((type(e).__name__, str(e), x.grad))
    return found


@case
def hook_holds_its_tensor():
    x = t([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: g * y.detach())
    y.sum().backward()
    return x.grad


@case
def hook_keeps_the_gradients():
    x, kept = t([1.0, 2.0]), []
    x.register_hook(kept.append)
    for k in (1.0, 2.0):
        (x * torch.tensor([k, 10 * k])).sum().backward()
    return kept, x.grad, [g is x.grad for g in kept]


@case
def kept_gradient_edited_later():
    x, kept = t([1.0, 2.0]), []
    x.register_hook(kept.append)
    (x * torch.tensor([3.0, 4.0])).sum().backward()
    kept[0].mul_(100)
    return x.grad


@case
def hook_returns_its_argument():
    x = t([1.0, 2.0])
    x.register_hook(lambda g: g)
    x.register_hook(lambda g: g.view(2))
    x.register_hook(lambda g: g[:])
    (x * torch.tensor([3.0, 4.0])).sum().backward()
    return x.grad


@case
def hook_calls_backward_on_its_own_graph():
    x, log = t(2.0), []
    y = x * x

    def hook(g):
        if not log:
            log.append(g.item())
            y.backward(retain_graph=True)

    y.register_hook(hook)
    y.backward()
    return log, x.grad


@case
def hook_edits_the_leaf():
    x = t(2.0)
    y = x * x
    y.register_hook(lambda g: x.add_(1) and None)
    y.backward()


@case
def hook_of_none_gradient_returns_a_tensor():
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = t(2.0)
    x.register_hook(lambda g: torch.ones(()))
    F.apply(x).backward()


@case
def errors_at_registration():
    found = []
    for f in (
        lambda: torch.ones(2).register_hook(print),
        lambda: torch.ones(2).register_post_accumulate_grad_hook(print),
        lambda: (t(1.0) * 2).register_post_accumulate_grad_hook(print),
        lambda: torch.ones(2, dtype=torch.int64).register_hook(print),
        lambda: t(1.0).detach().register_hook(print),
        lambda: t(1.0).register_hook(),
        lambda: t(1.0).register_hook(print, True),
        lambda: torch.no_grad()(lambda: (t(1.0) * 2).register_hook(print))(),
    ):
        try:
            found.append(f())
        except Exception as e:
            found.append((type(e).__name__, str(e)))
    for line in found:
        print("   ", line)
