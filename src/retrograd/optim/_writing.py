"""What optimizers that are written as PyTorch writes its own import from torch.optim.optimizer.

Everything is on the CPU and nothing is compiled, so most of these choose the plain loop.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from .._engine.op import shown
from .._engine.region import parts_of, whole_of
from .._engine.tensor import TensorBase
from .._tensor.dtypes import float32, float64, get_default_dtype
from ..autograd.grad_mode import is_grad_enabled, set_grad_enabled
from ..nn.parameter import Parameter
from ..utils import _foreach_utils

ParamsT: TypeAlias = Iterable[TensorBase] | Iterable[dict[str, Any]] | Iterable[tuple[str, TensorBase]]
DeviceDict: TypeAlias = dict[Any, TensorBase]
DeviceDtypeDict: TypeAlias = dict[Any, TensorBase]
_SUPPORTED = [*_foreach_utils._foreach_supported_types, Parameter]

_params_doc = "params: parameters, (name, parameter) pairs, or dicts of a group each"
_foreach_doc = "foreach: change the parameters by functions on lists (None: where that is faster, which is not the CPU)"
_fused_doc = "fused: one kernel for all parameters (None: no)"
_capturable_doc = "capturable: may a CUDA graph record the step?  Not on the CPU"
_differentiable_doc = "differentiable: record the step itself"
_maximize_doc = "maximize: raise the objective instead of lowering it"


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A step method that runs with grad off, unless the optimizer's default of "differentiable" is True."""
    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = is_grad_enabled()
        try:
            set_grad_enabled(self.defaults["differentiable"])
            return func(self, *args, **kwargs)
        finally:
            set_grad_enabled(before)
    return step


def _default_to_fused_or_foreach(params: list[Any], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """(fused, foreach): what to choose where the user chose nothing."""
    if differentiable:
        return False, False
    known = [p for p in params if p is not None]
    ours = all(type(p) in _SUPPORTED for p in known)
    fused = use_fused and ours and all(p.is_floating_point() for p in known)
    lists = _foreach_utils._get_foreach_kernels_supported_devices()
    return fused, not fused and ours and all(p.device.type in lists for p in known)


def _device_dtype_check_for_fused(p: Any, cuda_unsupported: bool = False) -> None:
    """RuntimeError for a parameter that a fused step does not take."""
    devices = _foreach_utils._get_fused_kernels_supported_devices()
    if cuda_unsupported:
        devices.remove("cuda")
    if not (p.device.type in devices and p.is_floating_point()):
        raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported devices: "
                           f"{devices} but {p.dtype} and {p.device.type}")


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that changes nothing."""
    return lambda func: func


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element; of anything else itself."""
    return x.item() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


def _stack_if_compiling(x: Any) -> Any:
    """x, as nothing is compiled."""
    return x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Shows complex parameters, and what belongs to them, as pairs of real numbers."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = pairs(p)
            for each in state_and_grads:
                each[i] = pairs(each[i])


def pairs(x: Any) -> Any:
    """Complex numbers as pairs of real ones, in the same memory and outside any graph."""
    return shown(x, parts_of(x.array))


@contextmanager
def as_pairs(state: Any, params: list[Any]) -> Iterator[list[Any]]:
    """`params` with complex ones, their gradients and state shown as pairs of real numbers; the state is complex again after."""
    known = set(state)
    stand_ins: list[Any] = []
    for p in params:
        if p.array.dtype.kind != "c":
            stand_ins.append(p)
            continue
        stand_in = pairs(p)
        stand_in.grad = pairs(p.grad)
        if p in state:
            state[stand_in] = {k: pairs(v) if isinstance(v, TensorBase) and v.array.dtype.kind == "c" else v
                               for k, v in state[p].items()}
        stand_ins.append(stand_in)
    yield stand_ins
    for p, stand_in in zip(params, stand_ins):
        if p is stand_in:
            if p not in known and p in state:               # behind the complex ones before it
                state[p] = state.pop(p)
        elif stand_in in state:
            shape = stand_in.array.shape
            state[p] = {k: shown(v, whole_of(v.array)) if isinstance(v, TensorBase) and v.array.shape == shape else v
                        for k, v in state.pop(stand_in).items()}


def _get_scalar_dtype(is_fused: Any = None) -> Any:
    """The dtype of the count of steps."""
    return float64 if not is_fused and get_default_dtype() is float64 else float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without its dims; of anything else itself."""
    return x.squeeze() if isinstance(x, TensorBase) and x.array.ndim else x  # type: ignore[attr-defined]
