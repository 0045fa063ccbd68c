"""What one hook with an empty body costs: a step with hooks less the same step without, divided by their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.works.base import Engine, Missing, Task, Work, grad_norm, leaf


def nothing(*_: Any) -> None:
    """The empty hook, whatever it is given."""


def same(tensor: Any) -> Any:
    return tensor


class Hooks(Work):
    """`kind` names a method below: torch, number of hooks, counter -> (step with hooks, step without, leaf)."""

    group: ClassVar[str] = "hooks"

    def __init__(self, kind: str, count: int = 100) -> None:
        self.kind, self.count = kind, count
        self.per = 2 * count if kind == "saved-tensors" else count
        self.unit = "us/hook"
        self.name = f"hook-{kind}"

    def tiny(self) -> Self:
        return type(self)(self.kind, 5)

    def torch(self, torch: Engine) -> Task:
        make: Callable[[Engine], tuple[Any, Any, Any]] = getattr(self, self.kind.replace("-", "_"))
        hooked, base, watched = make(torch)

        def check() -> list[float]:
            found = []
            for step in (base, hooked):
                watched.grad = None
                step()
                found.append(grad_norm(watched))
            return found

        return Task(hooked, check, base)

    def chain(self, torch: Engine, visit: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
        """`x * 1.01`, with `visit` putting a hook on every result."""
        a = leaf(torch, np.linspace(-1, 1, 8, dtype=np.float32))

        def hooked() -> None:
            a.grad = None
            x = a
            for _ in range(self.count):
                x = x * 1.01
                visit(x)
            x.sum().backward()

        def base() -> None:
            a.grad = None
            x = a
            for _ in range(self.count):
                x = x * 1.01
                same(x)
            x.sum().backward()

        return hooked, base, a

    def body(self, torch: Engine) -> tuple[Any, Any, Any]:
        """No hook: what the call of the empty body costs by itself."""
        a = leaf(torch, np.linspace(-1, 1, 8, dtype=np.float32))

        def called() -> None:
            for _ in range(self.count):
                nothing(a)

        def base() -> None:
            for _ in range(self.count):
                pass

        def hooked() -> None:
            called()
            once()

        def once() -> None:
            a.grad = None
            a.sum().backward()

        return hooked, lambda: (base(), once()), a

    def tensor_each_step(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.chain(torch, lambda x: x.register_hook(nothing))

    def retain_grad(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.chain(torch, lambda x: x.retain_grad())

    def node_each_step(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.chain(torch, lambda x: x.grad_fn.register_hook(nothing))

    def node_prehook_each_step(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.chain(torch, lambda x: x.grad_fn.register_prehook(nothing))

    def saved_tensors(self, torch: Engine) -> tuple[Any, Any, Any]:
        """`x * a` keeps two tensors at each op; the cost of one pack and one unpack."""
        saved_tensors_hooks = torch.autograd.graph.saved_tensors_hooks
        a = leaf(torch, np.linspace(0.9, 1.1, 8, dtype=np.float32))

        def base() -> None:
            a.grad = None
            x = a
            for _ in range(self.count):
                x = x * a
            x.sum().backward()

        def hooked() -> None:
            with saved_tensors_hooks(same, same):
                base()

        return hooked, base, a

    def custom_function(self, torch: Engine) -> tuple[Any, Any, Any]:
        """No hook: an op written as autograd.Function less the built-in one."""

        class Scale(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 1.01

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 1.01

        a = leaf(torch, np.linspace(-1, 1, 8, dtype=np.float32))

        def run(op: Callable[[Any], Any]) -> None:
            a.grad = None
            x = a
            for _ in range(self.count):
                x = op(x)
            x.sum().backward()

        return lambda: run(Scale.apply), lambda: run(lambda x: x * 1.01), a

    def leaves(self, torch: Engine, register: str) -> tuple[Any, Any, Any]:
        """A sum of leaves with hooks registered once."""
        value = np.ones(8, np.float32)
        watched = leaf(torch, value)
        plain, hooked = ([leaf(torch, value) for _ in range(self.count)] for _ in range(2))
        for p in hooked:
            getattr(p, register)(nothing)

        def run(leaves: list[Any]) -> None:
            x = watched
            for p in leaves:
                p.grad = None
                x = x + p
            watched.grad = None
            x.sum().backward()

        return lambda: run(hooked), lambda: run(plain), watched

    def tensor_once(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.leaves(torch, "register_hook")

    def post_accumulate_once(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.leaves(torch, "register_post_accumulate_grad_hook")

    def modules(self, torch: Engine, register: str) -> tuple[Any, Any, Any]:
        """A Sequential of modules, each one op."""
        nn: Any = getattr(torch, "nn", None)
        if not (hasattr(nn, "Module") and hasattr(nn, "Sequential")):
            raise Missing("no nn.Module")

        class Scale(nn.Module):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return x * 1.01

        plain, hooked = (nn.Sequential(*(Scale() for _ in range(self.count))) for _ in range(2))
        for module in hooked:
            getattr(module, register)(nothing)
        a = leaf(torch, np.linspace(-1, 1, 8, dtype=np.float32))

        def run(model: Any) -> None:
            a.grad = None
            model(a).sum().backward()

        return lambda: run(hooked), lambda: run(plain), a

    def module_call(self, torch: Engine) -> tuple[Any, Any, Any]:
        """No hook: what `module(x)` costs more than `module.forward(x)`."""
        nn: Any = getattr(torch, "nn", None)
        if not hasattr(nn, "Module"):
            raise Missing("no nn.Module")

        class Same(nn.Module):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return x

        modules = [Same() for _ in range(self.count)]
        a = leaf(torch, np.linspace(-1, 1, 8, dtype=np.float32))

        def called() -> None:
            a.grad = None
            x = a
            for module in modules:
                x = module(x)
            x.sum().backward()

        def forward() -> None:
            a.grad = None
            x = a
            for module in modules:
                x = module.forward(x)
            x.sum().backward()

        return called, forward, a

    def module_forward_pre(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.modules(torch, "register_forward_pre_hook")

    def module_forward(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.modules(torch, "register_forward_hook")

    def module_full_backward(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.modules(torch, "register_full_backward_hook")

    def module_full_backward_pre(self, torch: Engine) -> tuple[Any, Any, Any]:
        return self.modules(torch, "register_full_backward_pre_hook")


KINDS = (
    "body", "tensor-each-step", "tensor-once", "post-accumulate-once", "retain-grad", "node-each-step",
    "node-prehook-each-step", "saved-tensors", "custom-function", "module-call", "module-forward-pre", "module-forward",
    "module-full-backward", "module-full-backward-pre",
)  # fmt: skip


def works() -> list[Work]:
    return [Hooks(kind) for kind in KINDS]
