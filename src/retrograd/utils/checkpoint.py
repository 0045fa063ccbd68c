"""checkpoint: save memory by keeping a function's inputs only, and computing the rest again in backward.

https://pytorch.org/docs/stable/checkpoint.html
"""
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from .._engine.modes import state
from .._engine.saved import bare
from .._engine.scopes import Top
from .._engine.tensor import TensorBase, wants_grad
from .._engine.warn import warn
from .._functions.autocast import As
from .._functions.create import empty
from .._missing import late_names
from ..autograd import backward as _backward
from ..autograd.function import Function
from ..autograd.grad_mode import _Mode, enable_grad, is_grad_enabled, no_grad
from ..autograd.graph import saved_tensors_hooks
from ..random import get_rng_state, set_rng_state
from ._selective import CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts
from .hooks import look


def ignored() -> set[Any]:
    """Operators that policies are not asked about."""
    aten = import_module("retrograd").ops.aten
    names = ("detach", "dim", "is_contiguous", "numel", "size", "storage_offset", "stride")
    return {getattr(aten, name).default for name in names}


__all__ = [
    "checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction", "check_backward_validity",
    "detach_variable", "get_device_states", "noop_context_fn", "set_device_states", "set_checkpoint_early_stop",
    "set_checkpoint_debug_enabled", "CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts",
    "SAC_IGNORED_OPS",  # noqa: F822
]
late_names(__name__, also={"SAC_IGNORED_OPS": ignored})
CheckpointPolicy.__module__ = SelectiveCheckpointContext.__module__ = __name__

UNCLEAR = (
    "the use_reentrant parameter should be passed explicitly. {} use_reentrant=False is recommended, but if you need "
    "to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)
TIP = "The function must do the same every time: no random numbers of its own, nothing that other code changes.\n"
_early: list[bool] = []


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """([], []): numbers of GPUs among the arguments, and the states of their random generators."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Put back the states of devices (of device_type) that get_device_states gave: nothing."""


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not save what the first did."""


def noop_context_fn() -> tuple[Any, Any]:
    """The contexts of the first and the second run: none."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:
    """function(*args, **kwargs), run again during backward instead of keeping what it saves.

    use_reentrant      False: by saved-tensor hooks, everything works as without checkpoint.  True (the default, with a
                       warning): by a nested backward pass; only for backward() without inputs=, positional tensors
    preserve_rng_state both runs see the same random numbers (default True)
    context_fn         -> two contexts, for the first and the second run
    determinism_check  "default": CheckpointError when shapes or dtypes differ the second time; "none"
    debug              accepted: a CheckpointError says what differs in any case
    early_stop         stop the second run as soon as everything needed is there
    """
    if use_reentrant is None:
        when = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        warn("torch.utils.checkpoint: " + UNCLEAR.format(when))
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of {['default', 'none']}, but got {determinism_check}")
    first, second = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    region = _Region(
        function, args, kwargs, preserve, second, determinism_check == "default", _early[-1] if _early else early_stop)
    with saved_tensors_hooks(region.pack, region.unpack), first:
        result = function(*args, **kwargs)
        region.complete = True
        return result
    raise RuntimeError(
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
        "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward.")


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any,
) -> Any:
    """Apply `functions` (a Sequential or a list) one by one; all but the last of `segments` are checkpointed.

    use_reentrant: as in checkpoint.
    """
    if use_reentrant is None:
        when = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        warn("torch.utils.checkpoint.checkpoint_sequential: " + UNCLEAR.format(when))
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(chain) // segments
    start = 0
    for start in range(0, length * (segments - 1), length):
        part = _Chain(chain[start:start + length])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _Chain(chain[length * (segments - 1):])(input)


class _Chain:
    def __init__(self, functions: list[Any]) -> None:
        self.functions = functions

    def __call__(self, x: Any) -> Any:
        for function in self.functions:
            x = function(x)
        return x


class _Holder:
    """Stands for one saved tensor; `found` maps a pass to the tensor of the second run (None once handed out)."""

    __slots__ = ("found", "__weakref__")

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}


class _Enough(Exception):
    """Ends the second run."""


class _Inputs(Function):
    """Saves a region's tensors as any op would, so that the hooks of an outer region see them."""

    @staticmethod
    def forward(ctx: Any, dummy: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return dummy.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("not part of any pass")


class _Region:
    """One checkpointed call."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], preserve: bool, context: Any,
        check: bool, early_stop: bool,
    ) -> None:
        self.function = function
        self.kwargs = kwargs
        self.rng = get_rng_state() if preserve else None
        self.casts = As()
        self.context = context
        self.check = check
        self.early_stop = early_stop
        self.complete = False                       # has the first run ended?
        self.uneven = False                         # a second run within the first saved what the first had yet to save
        self.holders: list[Any] = []                # weak: a holder lives as long as the node that saved it
        self.facts: list[Any] = []
        self.counts: dict[Any, int] = {}            # pass -> how many tensors its second run saved
        self.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        self.args = [None if isinstance(a, TensorBase) else a for a in args]
        self.inputs = _Inputs.apply(empty(0, requires_grad=True), *[args[i] for i in self.places]).grad_fn

    def pack(self, x: Any) -> Any:
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.facts.append(_facts(x))
        return holder

    def unpack(self, holder: Any) -> Any:
        task = state().task
        key = object() if task is None else task    # outside a pass, each access runs the function
        if key not in self.counts:
            for old in [k for k in self.counts if getattr(k, "done", True)]:
                del self.counts[old]
            self.run_again(key)
        found = holder.found.get(key)
        if found is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you "
                "are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an "
                "issue with details on your use case.")
        holder.found[key] = None
        for old in [k for k in holder.found if k is not key and getattr(k, "done", True)]:
            del holder.found[old]
        return found

    def run_again(self, key: Any) -> None:
        args = list(self.args)
        for i, t in zip(self.places, self.inputs.saved_tensors):
            args[i] = t
        self.counts[key] = 0
        again = _Again(self, key)
        outside = get_rng_state() if self.rng is not None else None
        try:
            if self.rng is not None:
                set_rng_state(self.rng)
            with saved_tensors_hooks(again.pack, again.unpack), enable_grad(), self.casts, self.context:
                self.function(*args, **self.kwargs)
        except _Enough:
            pass
        except BaseException:
            del self.counts[key]
            raise
        finally:
            if outside is not None:
                set_rng_state(outside)
        self.compare(key)

    def compare(self, key: Any) -> None:
        """CheckpointError unless both runs saved tensors alike."""
        if self.uneven:
            return
        if self.counts[key] != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\nNumber of tensors saved "
                f"during recomputation: {self.counts[key]}.\n{TIP}")
        if not self.check:
            return
        text = ""
        for i, ref in enumerate(self.holders):
            holder = ref()
            if holder is None:
                continue
            facts = _facts(holder.found[key])
            if facts != self.facts[i]:
                text += f"tensor at position {i}:\nsaved metadata: {self.facts[i]}\nrecomputed metadata: {facts}\n"
        if text:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{text}.\n{TIP}")


class _Again:
    """Collects what the second run saves."""

    def __init__(self, region: _Region, key: Any) -> None:
        self.region = region
        self.key = key

    def pack(self, x: Any) -> Any:
        region, key = self.region, self.key
        x = bare(x) if wants_grad(x) else x
        at = region.counts[key]
        if at >= len(region.holders):
            if region.early_stop:
                return x
            if not region.complete:
                region.uneven = True
                return x
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.\n{TIP}")
        region.counts[key] = at + 1
        holder = region.holders[at]()
        if holder is not None:
            holder.found[key] = x
        if region.early_stop and at + 1 == len(region.holders):
            raise _Enough
        return x

    def unpack(self, x: Any) -> Any:
        return x


def _facts(x: Any) -> dict[str, Any]:
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


class CheckpointFunction(Function):
    """checkpoint(use_reentrant=True)."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng = get_rng_state() if preserve_rng_state else None
        ctx.casts = As()
        ctx.inputs = [None if isinstance(a, TensorBase) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if state().task.needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument.")
        inputs = list(ctx.inputs)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            inputs[i] = t
        outside = get_rng_state() if ctx.rng is not None else None
        try:
            if ctx.rng is not None:
                set_rng_state(ctx.rng)
            again = detach_variable(tuple(inputs))
            with enable_grad(), ctx.casts:
                outputs = ctx.run_function(*again)
        finally:
            if outside is not None:
                set_rng_state(outside)
        found = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(out, g) for out, g in zip(found, grads) if isinstance(out, TensorBase) and wants_grad(out)]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        _backward([out for out, _ in pairs], [g for _, g in pairs])
        return (None, None) + tuple(x.grad if hasattr(x, "grad") else None for x in again)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors among `inputs` as leaves of a graph of their own."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    found = []
    for x in inputs:
        if isinstance(x, TensorBase):
            leaf: Any = x.detach()  # type: ignore[attr-defined]
            leaf.requires_grad = wants_grad(x)
            found.append(leaf)
        else:
            found.append(x)
    return tuple(found)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """UserWarning when none of `inputs` requires a gradient."""
    inputs = list(inputs)
    look(inputs)
    if not any(isinstance(x, TensorBase) and wants_grad(x) for x in inputs):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class set_checkpoint_early_stop(_Mode, Top):
    """Context: `enable` is early_stop of every checkpoint called inside."""

    def __init__(self, enable: bool) -> None:
        self.stack, self.value = _early, enable

    def clone(self) -> Any:
        return type(self)(self.value)


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """enabled is accepted; a CheckpointError says what differs in any case."""
    yield
