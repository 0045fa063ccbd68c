"""torch.autograd: gradients of programs.  https://pytorch.org/docs/stable/autograd.html"""
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import hooks
from .._engine.backward import run_backward
from .._engine.dispatch import told
from .._engine.modes import modes, state
from .._engine.node import Node
from .._engine.op import edge
from .._engine.tensor import AccumulateGrad, TensorBase, wants_grad, wrap
from .._engine.warn import once, warn
from .._missing import late_names
from .._rules import cast
from .._rules.index import ZERO_DIM
from .._tensor.nodes import SavedTensor as SavedTensor
from .._tensor.size import Size
from . import graph
from .anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import gradcheck, gradgradcheck
from .graph import GradientEdge
from .variable import Variable

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "grad_mode", "gradcheck",
    "gradgradcheck", "graph", "inference_mode",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference_mode_enabled",
    "is_multithreading_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable",
]
if TYPE_CHECKING:
    from .._tensor import Tensor
    from . import _functions as _functions
    from . import functional as functional



def _override(name: str) -> Any:
    from .. import overrides

    return getattr(overrides, name)


def _of_profiler(name: str) -> Any:
    return getattr(import_module("retrograd.profiler"), name)


def is_view_replay_enabled() -> bool:
    """False: a view edited in place has a node of its own."""
    return False


late_names(
    __name__, lazy=("functional", "_functions", "forward_ad", "profiler", "profiler_util"), also={
        "torch": partial(import_module, "retrograd"),
        **{name: partial(_of_profiler, name) for name in ("DeviceType", "ProfilerActivity", "kineto_available")}, **{
            name: partial(_override, name) for name in ("handle_torch_function", "has_torch_function", "is_tensor_like")}})

CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the .grad of the leaves they were made from.

    tensors, grad_tensors  one or several, with the gradient arriving at each (None for one-element tensors)
    retain_graph           keep what was saved for another pass (default: create_graph)
    inputs                 only these get a gradient
    create_graph           record the pass, so that gradients can be differentiated again
    grad_variables         deprecated name of grad_tensors
    RuntimeError for roots outside any graph, gradients of another shape, a graph already freed.
    """
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`.")
        grad_tensors = grad_variables
    if modes.marking and state().transform:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
            "instead or call backward() outside of functorch transforms.")
    if modes.dispatching and not state().busy:
        return _told_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)
    try:
        if inputs is not None:
            _check_mapping(inputs, "backward")
            wanted = _input_list(inputs)
            if not wanted:
                raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        if create_graph and once(CYCLE):
            warn(CYCLE)
        roots = (tensors,) if isinstance(tensors, (TensorBase, GradientEdge)) else tuple(tensors)
        seeds = _seeds(roots, _tuple_of(grad_tensors, len(roots)), create_graph, False)
        found = _starts(roots)
        targets = None if inputs is None else [_target(t, "backward") for t in wanted]
        if found:
            keep = create_graph if retain_graph is None else retain_graph
            try:
                if modes.clerk is None:
                    run_backward(found, seeds, keep, create_graph, targets, True)
                else:
                    _run(roots, None if inputs is None else wanted, found, seeds, keep, create_graph, targets, True)
            finally:
                if hooks.given:
                    hooks.given.clear()
    except BaseException as error:
        if modes.clerk is not None:
            modes.clerk.refused("backward", tensors, inputs, retain_graph, create_graph, False, error)
        raise


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of sum(outputs * grad_outputs) with respect to `inputs`; no .grad is touched.

    -> a tuple, one per input (a dict for a dict).
    create_graph       record the pass, so that the gradients can be differentiated again
    retain_graph       keep what was saved for another pass (default: create_graph)
    allow_unused       None instead of RuntimeError for an input that does not occur; materialize_grads: zeros instead
    is_grads_batched   grad_outputs have a leading batch dimension, and so has the result
    only_inputs        deprecated: always True
    """
    if modes.dispatching and not state().busy:
        return _told_grad(outputs, inputs, {
            "grad_outputs": grad_outputs, "retain_graph": retain_graph, "create_graph": create_graph,
            "only_inputs": only_inputs, "allow_unused": materialize_grads if allow_unused is None else allow_unused,
            "is_grads_batched": is_grads_batched, "materialize_grads": materialize_grads})
    ran = False
    try:
        _check_mapping(inputs, "grad")
        if materialize_grads and allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
        allow_unused = materialize_grads if allow_unused is None else allow_unused
        roots = (outputs,) if isinstance(outputs, (TensorBase, GradientEdge)) else tuple(outputs)
        wanted = _input_list(inputs)
        if not only_inputs:
            warn(
                "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
                "other parts of the graph, please use torch.autograd.backward.", FutureWarning)
        for t in wanted:
            if not isinstance(t, (TensorBase, GradientEdge)):
                raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        given = _tuple_of(grad_outputs, len(roots))
        seeds = _seeds(roots, given, create_graph, is_grads_batched)
        keep = create_graph if retain_graph is None else retain_graph
        if not wanted:
            raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
        found = _starts(roots)
        targets = [_target(t, "grad") for t in wanted]
        if is_grads_batched:
            grads = _batched(roots, wanted, found, seeds, keep, create_graph, targets)
        else:
            try:
                grads = _run(
                    roots, wanted, found, seeds, keep, create_graph, targets, False) if found else [None] * len(targets)
            finally:
                if hooks.given:
                    hooks.given.clear()
            grads = [hooks.lift(g) for g in grads]
        grads = [_typed(g, t) for g, t in zip(grads, wanted)]
        ran = len(found) > 0
        for i, g in enumerate(grads):
            if g is None and not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior.")
        if materialize_grads:
            if any(g is None and isinstance(t, GradientEdge) for g, t in zip(grads, wanted)):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            grads = [_zeros(t, create_graph) if g is None else g for g, t in zip(grads, wanted)]
        if modes.clerk is not None:
            modes.clerk.returned(grads)
        if isinstance(inputs, dict):
            by_name: Any = dict(zip(inputs, grads))
            return by_name
        return tuple(grads)
    except BaseException as error:
        if modes.clerk is not None:
            modes.clerk.refused("grad", outputs, inputs, retain_graph, create_graph, ran, error)
        raise


def _told_backward(tensors: Any, grad_tensors: Any, retain_graph: Any, create_graph: bool, inputs: Any) -> Any:
    """backward(), where somebody may take it over."""
    roots = (tensors,) if isinstance(tensors, (TensorBase, GradientEdge)) else tuple(tensors)
    return told(backward, roots, (roots,), {
        "grad_tensors": grad_tensors, "retain_graph": retain_graph, "create_graph": create_graph, "inputs": inputs})


def _told_grad(outputs: Any, inputs: Any, named: dict[str, Any]) -> Any:
    """grad(), where somebody may take it over."""
    roots = (outputs,) if isinstance(outputs, (TensorBase, GradientEdge)) else tuple(outputs)
    wanted = _input_list(inputs)
    return told(grad, (*roots, *wanted), (roots, inputs if isinstance(inputs, dict) else tuple(wanted)), named)


def _typed(g: Any, t: Any) -> Any:
    """g in the dtype of the input it belongs to: a rule may leave bfloat16 for float32."""
    if g is None or isinstance(t, GradientEdge) or g.array.dtype is t.array.dtype:
        return g
    return g.to(t.dtype)


def _check_mapping(inputs: Any, function: str) -> None:
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported.")


def _input_list(inputs: Any) -> list[Any]:
    if isinstance(inputs, dict):
        return list(inputs.values())
    return [inputs] if isinstance(inputs, (TensorBase, GradientEdge)) else list(inputs)


def _tuple_of(grads: Any, n: int) -> tuple[Any, ...]:
    if grads is None:
        return (None,) * n
    return (grads,) if isinstance(grads, TensorBase) else tuple(grads)


def _seeds(roots: Any, given: Any, create_graph: bool, batched: bool) -> list[Any]:
    """The gradients that start the pass: arrays, or Tensors under create_graph."""
    seeds: list[Any] = []
    for i, (t, g) in enumerate(zip(roots, given)):
        edge_root = isinstance(t, GradientEdge)
        if not edge_root and not isinstance(t, TensorBase):
            raise AssertionError("Expected output to be a torch.Tensor")
        array = _like(t) if edge_root else t.array
        if g is None:
            if edge_root or wants_grad(t):
                if array is None or array.size != 1:
                    raise RuntimeError("grad can be implicitly created only for scalar outputs")
                if array.dtype.kind == "c":
                    raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                                       f"torch.{array.dtype.name}")
                ones = np.empty(array.shape, array.dtype)       # np.ones takes five times as long
                ones.fill(1)
                seeds.append(wrap(ones) if create_graph else ones)
            else:
                seeds.append(None)
            continue
        if not isinstance(g, TensorBase):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if array is not None:
            if batched and not g.array.ndim:
                raise IndexError(ZERO_DIM)
            _check_shape(i, g.array.shape[1:] if batched else g.array.shape, array.shape, batched)
            if g.array.dtype != array.dtype:
                if (g.array.dtype.kind == "c") != (array.dtype.kind == "c"):
                    raise RuntimeError(
                        "For complex Tensors, both grad_output and output are required to have the same dtype. "
                        f"Mismatch in dtype: grad_output[{i}] has a dtype of torch.{g.array.dtype.name} and output[{i}] "
                        f"has a dtype of torch.{array.dtype.name}.")
                g = cast.cast(g, array.dtype)
            if not edge_root and t.listeners and not create_graph:
                hooks.given[id(g.array)] = g            # hooks see the caller's own tensor
        seeds.append(g if create_graph else g.array)
    if len(given) < len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    return seeds


def _like(t: GradientEdge) -> Any:
    """An array like the tensor of an edge; None when nobody knows."""
    return t.node.array if isinstance(t.node, AccumulateGrad) else t.like


def _check_shape(i: int, have: Any, want: Any, batched: bool) -> None:
    if have == want:
        return
    if batched:                                         # PyTorch, too, leaves one dimension too many out of the text
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{i}] has a shape of {Size(have[1:])} and output[{i}] has a shape of "
            f"{Size(want)}. If you only want some tensors in `grad_output` to be considered batched, consider "
            "using vmap.")
    raise RuntimeError(
        f"Mismatch in shape: grad_output[{i}] has a shape of {Size(have)} and output[{i}] has a shape of {Size(want)}.")


def _starts(roots: Any) -> list[tuple[Node, int]]:
    """Where a pass starts."""
    return [_root(t, i) for i, t in enumerate(roots)]


def _root(t: Any, i: int) -> tuple[Node, int]:
    if isinstance(t, GradientEdge):
        return t.node, t.output_nr
    to = edge(t) if wants_grad(t) else None
    if to is None:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return to, t.nr


def _target(t: Any, function: str) -> tuple[Node, int]:
    if isinstance(t, GradientEdge):
        return t.node, t.output_nr
    if function == "backward":
        if not isinstance(t, TensorBase):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        t.retain_grad()  # type: ignore[attr-defined]
    elif not wants_grad(t):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    to = edge(t)
    return (Node(), 0) if to is None else (to, t.nr)    # a leaf no gradient can reach: a node nobody leads to


def _run(roots: Any, wanted: Any, *given: Any) -> Any:
    """run_backward(*given), of a pass from these tensors or edges to `wanted`, if those are asked for."""
    return run_backward(*given) if modes.clerk is None else modes.clerk.passes(run_backward, roots, wanted, given)


def _batched(
    roots: Any, wanted: Any, found: Any, seeds: Any, keep: bool, create_graph: bool, targets: Any,
) -> list[Any]:
    """The gradients of all elements of the batch: of one pass, or of a pass for each where hooks or a recorder see them."""
    from .._functions.join import stack
    sizes = {len(s) for s in seeds if s is not None}
    count = sizes.pop() if sizes else 0
    if found and count > 1 and modes.observer is None and modes.clerk is None and not modes.anomaly:
        from ._rows import Rows
        whole = run_backward(found, seeds, keep, create_graph, targets, False, False, Rows(count))
        if whole:
            return [hooks.lift(g) for g in whole]
    rows = []
    for k in range(count):
        part = [None if s is None else s[k] for s in seeds]
        part = [np.asarray(s) if isinstance(s, np.generic) else s for s in part]
        last = k == count - 1
        grads = _run(roots, wanted, found, part, keep or not last, create_graph, targets, False)
        rows.append([hooks.lift(g) for g in grads])
    return [None if rows[0][i] is None else stack([row[i] for row in rows]) for i in range(len(targets))]


def _zeros(t: Any, requires_grad: bool) -> Any:
    out = wrap(np.zeros_like(t.array))
    out.rg = requires_grad
    return out


def variable(*args: Any, **kwargs: Any) -> Any:
    """RuntimeError: use torch.tensor."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")
