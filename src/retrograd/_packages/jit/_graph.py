"""torch.jit._get_trace_graph, as far as counters of operations read it: kinds, shapes, constants, and scopes of nodes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd._tensor import Tensor
from retrograd.jit._traced import TRACING
from retrograd.overrides import TorchFunctionMode, resolve_name
from retrograd.utils._pytree import tree_leaves

QUIET = frozenset("dim size shape ndim dtype device numel stride is_contiguous requires_grad __len__ layout".split())
OPERATORS = {"__getitem__": "select", "grid_sample": "grid_sampler", "cross_entropy": "cross_entropy_loss"}


class Type:
    """The type of a tensor."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def sizes(self) -> list[int]:
        """Its shape."""
        return list(self.shape)


class Value:
    """An argument or a result of a node."""

    def __init__(self, x: Any) -> None:
        self.shape = tuple(x.shape) if isinstance(x, Tensor) else None
        self.constant = None if isinstance(x, Tensor) else x
        self.parts = [Value(part) for part in x] if isinstance(x, (tuple, list)) else []

    def isCompleteTensor(self) -> bool:
        """Is it a tensor?"""
        return self.shape is not None

    def type(self) -> Type:
        """Of a tensor."""
        return Type(self.shape or ())

    def toIValue(self) -> Any:
        """The value of what is no tensor."""
        return self.constant

    def node(self) -> Node:
        """What made it: of a list of tensors, a node that has them as inputs."""
        return Node("prim::ListConstruct", self.parts, [self], "")


class Node:
    """A call."""

    def __init__(self, kind: str, inputs: list[Value], outputs: list[Value], scope: str) -> None:
        self._kind, self._inputs, self._outputs, self._scope = kind, inputs, outputs, scope

    def kind(self) -> str:
        """'aten::linear'"""
        return self._kind

    def inputs(self) -> list[Value]:
        """Its arguments, in the order of the operator's."""
        return self._inputs

    def outputs(self) -> list[Value]:
        """Its results."""
        return self._outputs

    def scopeName(self) -> str:
        """What was pushed by push_scope, joined by slashes."""
        return self._scope


class Graph:
    """The calls of one run."""

    def __init__(self) -> None:
        self.made: list[Node] = []

    def nodes(self) -> list[Node]:
        """In the order of the calls."""
        return self.made


class State:
    """What torch._C._get_tracing_state gives while a graph is made."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    def push_scope(self, name: str) -> None:
        """Calls from here on are in this scope, too."""
        self.scopes.append(name)

    def pop_scope(self) -> None:
        """No longer."""
        self.scopes.pop()


def conv(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
         groups: int = 1) -> tuple[str, list[Any]]:
    return "_convolution", [input, weight, bias, stride, padding, dilation, False, 0, groups, *SETTINGS]


def conv_transpose(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                   groups: int = 1, dilation: Any = 1) -> tuple[str, list[Any]]:
    return "_convolution", [input, weight, bias, stride, padding, dilation, True, output_padding, groups, *SETTINGS]


SETTINGS = (False, False, True, True)           # of other devices: benchmark, deterministic, cudnn_enabled, allow_tf32


def batch_norm(input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> tuple[str, list[Any]]:
    return "batch_norm", [input, weight, bias, running_mean, running_var, training, momentum, eps]


def instance_norm(input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, *rest: Any,
                  **more: Any) -> tuple[str, list[Any]]:
    return "instance_norm", [input, weight]


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, *rest: Any, **more: Any) -> tuple[str, list[Any]]:
    return "layer_norm", [input, normalized_shape, weight]


def group_norm(input: Any, num_groups: int, weight: Any = None, *rest: Any, **more: Any) -> tuple[str, list[Any]]:
    return "group_norm", [input, num_groups, weight]


def einsum(equation: str, *operands: Any) -> tuple[str, list[Any]]:
    return "einsum", [equation, list(operands[0] if isinstance(operands[0], (list, tuple)) else operands)]


def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                *rest: Any, **more: Any) -> tuple[str, list[Any]]:
    return f"upsample_{mode.replace('-', '_')}{input.ndim - 2}d", [input]


FORMS: dict[str, Callable[..., tuple[str, list[Any]]]] = {
    "batch_norm": batch_norm, "instance_norm": instance_norm, "layer_norm": layer_norm, "group_norm": group_norm,
    "einsum": einsum, "interpolate": interpolate,
    **{f"conv{d}d": conv for d in (1, 2, 3)}, **{f"conv_transpose{d}d": conv_transpose for d in (1, 2, 3)}}


class Listener(TorchFunctionMode):
    """Notes the calls."""

    def __init__(self, state: State) -> None:
        self.state, self.graph = state, Graph()

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        *above, name = (resolve_name(func) or func.__name__).split(".")
        name = above[-1] if name == "__get__" else name
        tensors = [x for x in tree_leaves(result) if isinstance(x, Tensor)]
        if tensors and name not in QUIET:
            kind, inputs = FORMS[name](*args, **(kwargs or {})) if name in FORMS else (
                OPERATORS.get(name, name), [*args, *(kwargs or {}).values()])
            self.graph.made.append(Node(f"aten::{kind}", [Value(x) for x in inputs], [Value(x) for x in tensors],
                                        "/".join(self.state.scopes)))
        return result


def _get_trace_graph(f: Any, args: Any = (), kwargs: Any = None, strict: bool = True, _force_outplace: bool = False,
                     return_inputs: bool = False, _return_inputs_states: bool = False) -> tuple[Graph, Any]:
    """(the calls of one run, its result)"""
    given = args if isinstance(args, tuple) else (args,)
    TRACING.state = state = State()
    try:
        with Listener(state) as listener:
            result = f(*given, **(kwargs or {}))
    finally:
        TRACING.state = None
    return listener.graph, result
