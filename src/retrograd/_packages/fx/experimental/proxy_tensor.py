"""torch.fx.experimental.proxy_tensor: make_fx, the graph of what a function calls for example arguments."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from retrograd._missing import late_names
from retrograd.fx._program import Program, recorded
from retrograd.fx._recorded import Refused
from retrograd.fx.graph import CodeGen
from retrograd.fx.graph_module import GraphModule
from retrograd.utils._pytree import tree_flatten

__all__ = ["get_proxy_mode", "make_fx"]
late_names(__name__)


def make_fx(
    f: Callable[..., Any], decomposition_table: Any = None, tracing_mode: str = "real", _allow_non_fake_inputs: bool = False, *,
    pre_dispatch: bool = False, record_module_stack: bool = False, _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
) -> Callable[..., GraphModule]:
    """A function that gives the graph of f for its arguments, whose nodes call functions of torch, not operators of aten.

    tracing_mode    "real" or "fake": sizes are fixed; "symbolic": the graph computes them
    RuntimeError when f decides something by values, or when a derivative is part of it.
    """
    if decomposition_table:
        raise NotImplementedError("make_fx: decomposition_table: the graph calls functions of torch, which are not decomposed")
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode should be one of 'real', 'fake', 'symbolic', got {tracing_mode}")

    @wraps(f)
    def wrapped(*args: Any) -> GraphModule:
        try:
            program, result = recorded(f, args, {}, refuse, sizes=tracing_mode == "symbolic", suffix="_1")
        except Refused as error:
            raise RuntimeError(f"make_fx: {error}") from None
        return flat(program, result) if all(tree_flatten(x)[1].is_leaf() for x in args) else program.as_module()
    return wrapped


def flat(program: Program, result: Any) -> GraphModule:
    """The program as a module whose inputs are those of the graph; of one tensor or a flat tuple, its result too."""
    made = program.as_module()
    if isinstance(result, tuple) and all(tree_flatten(x)[1].is_leaf() for x in result) or tree_flatten(result)[1].is_leaf():
        graph = made.graph
        graph.set_codegen(CodeGen())
        if not isinstance(result, tuple):
            node = graph.output_node()
            node.args = (node.args[0][0],)
        made.recompile()
    return made


def refuse(name: str) -> None:
    if name not in ("mode", "compare"):
        raise Refused(
            f"It appears that you're trying to get value out of a tracing tensor with {name} - erroring out! It's likely that "
            "this is caused by data-dependent control flow or similar.")


def get_proxy_mode() -> None:
    """None: no trace is made of what the caller does."""
