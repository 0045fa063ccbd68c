"""Rules of functions that go element by element: the dims of samples are lined up behind the batch."""
from __future__ import annotations

from typing import Any

from retrograd import _functions as F
from retrograd._engine.tensor import TensorBase
from retrograd._tensor import dtypes

from .level import NO_ROOM, Batched, Level, Loop

POINTWISE = """
    abs absolute acos acosh add addcdiv addcmul angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan
    atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp
    clamp_max clamp_min clip conj conj_physical copysign cos cosh deg2rad digamma div divide elu eq erf erfc erfinv exp exp2
    expm1 fix float_power floor floor_divide fmax fmin fmod frac frexp gcd ge gelu greater greater_equal gt hardshrink
    hardsigmoid hardswish hardtanh heaviside hypot i0 igamma igammac isclose isfinite isinf isnan isneginf isposinf isreal
    lcm ldexp le leaky_relu lerp less less_equal lgamma log log10 log1p log2 log_sigmoid logsigmoid logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logit lt masked_fill maximum minimum mish mul multiply mvlgamma
    nan_to_num ne neg negative nextafter not_equal polygamma positive pow rad2deg real reciprocal relu relu6 remainder round
    rsqrt rsub selu sgn sigmoid sign signbit silu sin sinc sinh softplus softshrink softsign sqrt square sub subtract tan
    tanh tanhshrink threshold true_divide trunc xlogy __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__
    __imul__ __truediv__ __rdiv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__
    __pow__ __rpow__ __ipow__ __neg__ __pos__ __abs__ __invert__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__
    __rxor__ __ixor__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__ __eq__ __ne__ __lt__ __le__ __gt__
    __ge__ special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t
    special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_digamma
    special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1
    special_gammainc special_gammaincc special_gammaln special_hermite_polynomial_h special_hermite_polynomial_he special_i0
    special_i0e special_i1 special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p special_log1p
    special_log_ndtr special_logit special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_multigammaln special_ndtr special_ndtri special_polygamma special_psi special_round
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
    special_sinc special_spherical_bessel_j0 special_xlog1py special_xlogy special_zeta bfloat16 bool byte char clone
    contiguous cpu detach detach_copy double float half int long short to type type_as alias_copy resolve_conj resolve_neg
    where complex
""".split()
IN_PLACE = {"__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__iand__", "__ior__",
            "__ixor__", "__ilshift__", "__irshift__"}
LIKE = """
    empty_like full_like ones_like zeros_like
""".split()


def widened(value: Any, rank: int) -> Any:
    """A value of samples of fewer dims, with dims of one behind the batch."""
    missing = rank + 1 - value.array.ndim
    return value[(slice(None), *[None] * missing)] if missing > 0 else value


def ranks(args: Any) -> int:
    """The most dims that one of the tensors has."""
    most = 0
    for x in args:
        if isinstance(x, TensorBase):
            most = max(most, x.array.ndim)
    return most


def lined_up(level: Level, args: Any, rank: int) -> list[Any]:
    return [widened(x.value, rank) if type(x) is Batched and x.level is level else x for x in args]


def _common(a: Any, b: Any) -> Any:
    return dtypes.promote_types(a, b)


def _promoted(level: Level, values: list[Any], args: Any) -> list[Any]:
    """Samples of no dims give way to others when dtypes meet, as whole values would not: all are cast first."""
    found: list[Any] = [x for x in args if isinstance(x, TensorBase)]
    if len({x.array.dtype for x in found}) < 2 or all(x.array.ndim for x in found):
        return values
    dtype = found[0].dtype
    weak, strong = [x for x in found if not x.array.ndim], [x for x in found if x.array.ndim]
    if not weak or not strong:
        together = weak or strong
        dtype = together[0].dtype
        for x in together[1:]:
            dtype = _common(dtype, x.dtype)
    else:
        a, b = strong[0].new_empty((1,)), weak[0].new_empty(())
        for x in strong[1:]:
            a = a.to(_common(a.dtype, x.dtype))
        for x in weak[1:]:
            b = b.to(_common(b.dtype, x.dtype))
        dtype = dtypes.result_type(a, b)
    return [v.to(dtype) if isinstance(x, TensorBase) and not x.array.ndim else v
            for v, x in zip(values, args)]


def pointwise(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if "out" in kwargs:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}.out; the fallback path doesn't work on out= or view ops.")
    named = list(kwargs.values()) if kwargs else []
    rank = max(ranks(args), ranks(named))
    values = lined_up(level, args, rank)
    if name.startswith("masked_fill") and len(args) == 3 and level.has(args[2]) and not args[2].array.ndim:
        filled = F.where(values[1], values[2].to(values[0].dtype), values[0])
        if name == "masked_fill":
            return level.of(filled)
        func, values = type(args[0]).copy_, [values[0], filled]
    if len(values) > 1 and name != "where" and not name.startswith("masked"):
        values = _promoted(level, values, args)
    more = dict(zip(kwargs, lined_up(level, named, rank))) if kwargs else kwargs
    if name in IN_PLACE or (name.endswith("_") and not name.endswith("__")):
        first = args[0]
        if not level.has(first):
            text = NO_ROOM.format("inplace arithmetic" if len(args) > 1 else name)
            raise RuntimeError(text)
        func(*values, **more)
        return first
    return level.of(func(*values, **more))


def where(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) + len(kwargs) == 1:
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            "aten::where. Please "
            "file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")
    return pointwise(level, func, name, args, kwargs)


def copied(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """copy_, fill_: the other operand may have fewer dims, and dims of its own."""
    first, others = args[0], args[1:]
    if not level.has(first):
        raise RuntimeError(NO_ROOM.format("fill_" if name == "fill_" else "inplace arithmetic"))
    if name == "fill_" and others and level.has(others[0]):
        func, name = type(first).copy_, "copy_"
    rank = first.array.ndim
    if any(isinstance(x, TensorBase) and x.array.ndim > rank for x in others):
        raise Loop
    func(first.value, *lined_up(level, others, rank), **kwargs)
    return first


def like(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return level.of(func(level.lift(args[0]), *args[1:], **kwargs))


def new(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """new_zeros(*size)"""
    size = list(args[1:])
    sizes = size.pop(0) if size and isinstance(size[0], (tuple, list)) else [size.pop(0) for _ in range(len(size))]
    return level.of(func(args[0].value, (level.size, *sizes), *size, **kwargs))


RULES = {name: pointwise for name in POINTWISE}
RULES |= {f"{name}_": pointwise for name in POINTWISE if not name.startswith(("_", "special"))}
RULES |= {"real.__get__": pointwise, "where": where, "copy_": copied, "fill_": copied, "zero_": copied, "detach_": copied}
RULES |= {name: like for name in LIKE} | {name: new for name in ("new_zeros", "new_ones", "new_empty", "new_full")}
