"""torch.nn.functional: what layers compute, as functions.  https://pytorch.org/docs/stable/nn.functional.html

Parameters that mean the same in most of them; the others are those of the layers (torch.nn.modules):

weight, bias    tensors, as the layer of the function has them; bias may be None
training        True: act as the layer does in training; False: as in evaluation
inplace         True: the result overwrites the input, which costs a RuntimeError in backward if another op needed it
cudnn_enabled, cudnn_enable   accepted without effect
"""
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _functions
from .._functions import LATER_FUNCTIONAL, checked, families, late
from .._functions.forms import FUNCTIONAL
from .._functions.functional_forms import INNER, Inner
from .._functions.parsing import Composed
from .._functions.public import PARSED, PYTHON, SELF, public
from .._missing import late_names
from .._tensor import Tensor

if TYPE_CHECKING:
    from .._typing.functional import *  # noqa: F403  # what the loop below binds

__all__ = list[str]()               # type checkers would take [] for all there is


def _told(name: str, f: Any) -> Any:
    """A function of this module that PyTorch writes in Python."""
    if name in ("sigmoid", "tanh"):                     # they call the method, which tells
        return public(f, SELF, "nn.functional", name, name, getattr(Tensor, name))
    if name == "logsigmoid":                            # in C, where it has another name
        return public(f, PARSED, "nn.functional", name, "log_sigmoid")
    return public(f, PYTHON, "nn.functional", name, name)


for _family in families():
    for _name in getattr(_family, "FUNCTIONAL", ()):
        _own, _, _public = _name.partition(" as ")      # "F_x as x": torch has another x
        _public = _public or _own
        _found = getattr(_family, _own)
        if _public in FUNCTIONAL:                       # one with that of torch where both have it
            _shared = _own == _public in _family.__all__
            _found = getattr(_functions, _public) if _shared else checked(_public, _found, "nn.functional")
        else:
            _found = _told(_public, Inner(_public, _found) if _public in INNER else Composed(_public, _found))
        globals()[_public] = _found
        __all__.append(_public)


@cache
def _late(name: str) -> Any:
    found = late(LATER_FUNCTIONAL[name])
    return _told(name, Inner(name, found) if name in INNER else Composed(name, found))


def _override(name: str) -> Any:
    from .. import overrides

    return getattr(overrides, name)


def _mark(name: str) -> Any:
    return getattr(import_module("retrograd.jit.annotations"), name)


GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """AssertionError(message), which names arg_name, unless arg is an int or two of them."""
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))


late_names(__name__, also={
    **{name: partial(_mark, name) for name in ("BroadcastingList1", "BroadcastingList2", "BroadcastingList3")},
    **{name: partial(_late, name) for name in LATER_FUNCTIONAL},
    **{name: partial(_override, name) for name in (
        "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")}})


def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any,
    bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any,
    training: bool = True, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None,
    static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Any, Any]:
    """What nn.MultiheadAttention computes, with the parameters as arguments: (output (T, N, E), weights or None).

    query, key, value      (T, N, E), (S, N, E), (S, N, E)
    embed_dim_to_check     E; AssertionError if the query has another
    in_proj_weight, in_proj_bias   (3 E, E) and (3 E,): the maps of query, key and value
    use_separate_proj_weight   True: q_proj_weight, k_proj_weight and v_proj_weight instead of in_proj_weight
    bias_k, bias_v         (1, 1, E): one more key and value
    out_proj_weight, out_proj_bias   the map of the output
    static_k, static_v     (N num_heads, S, E / num_heads): used instead of the mapped key and value
    dropout_p              probability that a weight becomes zero, in training
    add_zero_attn, key_padding_mask, attn_mask, is_causal, need_weights, average_attn_weights   as in nn.MultiheadAttention
    """
    from .modules.attention import attend

    if static_k is not None or static_v is not None:
        raise NotImplementedError("multi_head_attention_forward(): static_k and static_v are not supported; give key and value")
    return attend(
        query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal, training,
        embed_dim=embed_dim_to_check, num_heads=num_heads, in_proj_weight=in_proj_weight, in_proj_bias=in_proj_bias,
        bias_k=bias_k, bias_v=bias_v, add_zero_attn=add_zero_attn, dropout=dropout_p, out_weight=out_proj_weight,
        out_bias=out_proj_bias, weights=(q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None)


multi_head_attention_forward = _told("multi_head_attention_forward", multi_head_attention_forward)
__all__ += ["multi_head_attention_forward", *LATER_FUNCTIONAL]
