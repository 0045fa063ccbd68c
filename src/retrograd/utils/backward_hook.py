"""BackwardHook: how a module learns the gradients of its inputs and outputs (torch.utils.hooks.BackwardHook).

The module's inputs and outputs pass through an identity Function each.  The node after the outputs is the first to run
in backward, the node before the inputs the last.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .._engine.modes import grad_on
from .._engine.tensor import TensorBase, wants_grad
from ..autograd.function import Function

NO_INPUT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class BackwardHookFunction(Function):
    """Identity on several tensors; those without a gradient stay without."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[x for x in args if not wants_grad(x)])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        return args


class BackwardHook:
    """The backward hooks of one call of a module.

    user_hooks      hook(module, grad_input, grad_output) -> None or a new grad_input
    user_pre_hooks  hook(module, grad_output) -> None or a new grad_output
    """

    def __init__(self, module: Any, user_hooks: Iterable[Any], user_pre_hooks: Iterable[Any]) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: Any = None
        self.n_inputs = -1
        self.n_outputs = -1
        self.input_tensors_index: list[int] | None = None
        self.output_tensors_index: list[int] | None = None

    def setup_input_hook(self, args: Any) -> Any:
        """The module's positional arguments -> the same behind an identity."""
        self.n_inputs = len(args)
        def hook(grad_input: Any, _: Any) -> Any:       # errors about shapes name it
            return self._after(grad_input)

        found, self.input_tensors_index = self._wrapped(args, lambda node: node.register_hook(hook))
        return found

    def setup_output_hook(self, args: Any) -> Any:
        """The module's output, one tensor or a tuple -> the same behind an identity."""
        single = not isinstance(args, tuple)
        outputs = (args,) if single else args
        self.n_outputs = len(outputs)

        def hook(grad_output: Any) -> Any:
            return self._before(grad_output)

        found, self.output_tensors_index = self._wrapped(outputs, lambda node: node.register_prehook(hook))
        return found[0] if single else found

    def _wrapped(self, args: Any, register: Callable[[Any], Any]) -> tuple[Any, list[int] | None]:
        places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
        if not (grad_on() and any(wants_grad(args[i]) for i in places)):
            return args, None
        fresh = BackwardHookFunction.apply(*[args[i] for i in places])
        register(next(x.grad_fn for x in fresh if wants_grad(x)))
        whole = list(args)
        for i, x in zip(places, fresh):
            whole[i] = x
        return type(args)(*whole) if hasattr(args, "_fields") else tuple(whole), places

    def _before(self, grad_output: Any) -> Any:
        """The gradient of the outputs is there."""
        assert self.output_tensors_index is not None
        self.grad_outputs = _spread(grad_output, self.output_tensors_index, self.n_outputs)
        for hook in self.user_pre_hooks:
            got = hook(self.module, self.grad_outputs)
            if got is not None:
                _check_count(got, self.grad_outputs, "Backward pre hook", "grad_output")
                self.grad_outputs = got
        result = self.grad_outputs
        if self.input_tensors_index is None:
            warnings.warn(NO_INPUT, stacklevel=6)
            nothing = (None,) * self.n_inputs
            for hook in self.user_hooks:
                got = hook(self.module, nothing, self.grad_outputs)
                if got is not None and not (isinstance(got, tuple) and all(g is None for g in got)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients.")
            self.grad_outputs = None
        return None if result is None else tuple(result[i] for i in self.output_tensors_index)

    def _after(self, grad_input: Any) -> Any:
        """The gradient of the inputs is complete."""
        if self.grad_outputs is None:               # a double backward through the input's identity alone
            return None
        assert self.input_tensors_index is not None
        result = _spread(grad_input, self.input_tensors_index, self.n_inputs)
        for hook in self.user_hooks:
            got = hook(self.module, result, self.grad_outputs)
            if got is not None:
                _check_count(got, result, "Backward hook", "grad_input")
                result = got
        self.grad_outputs = None
        return tuple(result[i] for i in self.input_tensors_index)


def _spread(grads: Any, places: list[int], n: int) -> tuple[Any, ...]:
    """Gradients of the tensors, None for what is no tensor."""
    whole = [None] * n
    for i, g in zip(places, grads):
        whole[i] = g
    return tuple(whole)


def _check_count(got: Any, have: Any, kind: str, what: str) -> None:
    if len(got) != len(have):
        raise RuntimeError(f"{kind} returned an invalid number of {what}, got {len(got)}, but expected {len(have)}")
