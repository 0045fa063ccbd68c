"""out=: which dtypes and which memory PyTorch lets a function write to, and how it words what it does not."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.modes import grad_on, modes, state
from .._engine.tensor import TensorBase, bump, wants_grad
from .._engine.views import OVERLAP, PARTLY, RANK, address, check_cast, dense, guard, guard_memory, overlaps
from .._engine.warn import warn
from .results import RETURN_TYPES

# {want}, {got}: the dtypes of the result and of out, as Float; {c_want}, {c_got}: as float
SAME = "Expected out tensor to have dtype {c_want}, but got {c_got} instead"
FOUND = "Found dtype {got} but expected {want}"
SCALAR_TYPE = "expected scalar_type {want} but found {got}"
EXPECTED = "Expected the dtype for input and out to match, but got {want} for input's dtype and {got} for out's dtype."
ONLY_BOOL = "{function} only supports bool tensor for result, got: {got}"
NON_BOOL = "{function} does not support non-boolean outputs."
SELECT = "{function}(): self and result must have the same scalar type"
DOT = "result dtype {got} does not match input dtype {want}"
SEARCH = ("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether "
          "out_int32 flag is True, but we got output tensor's dtype {got} and out_int32 flag is {small}")
MULTI = "multi_dot(): expected out tensor to have dtype {c_want} but got {c_got}"
TENSORDOT = "tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype {got}"
# Functions whose out= must have the result's dtype: the error about another one.
DTYPE = {name: text for words, text in (
    ("argmax argmin tril triu diag mm bmm addmm linear gather scatter scatter_add scatter_reduce index_add index_reduce "
     "index_copy slice_scatter renorm sort topk msort aminmax addmv baddbmm mv matmul isin softmax log_softmax avg_pool2d "
     "avg_pool3d adaptive_avg_pool2d qr svd det "
     "slogdet inverse triangular_solve norm take_along_dim cholesky cholesky_inverse cholesky_solve linalg_cross linalg_det "
     "linalg_slogdet linalg_inv linalg_inv_ex linalg_solve linalg_svdvals linalg_svd linalg_qr linalg_eigh linalg_eigvalsh "
     "linalg_lu linalg_cholesky linalg_cholesky_ex linalg_matrix_power linalg_vector_norm linalg_norm linalg_solve_triangular "
     "matrix_power cross alias_copy as_strided_copy diagonal_copy expand_copy permute_copy select_copy slice_copy squeeze_copy "
     "split_with_sizes_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy detach_copy", SAME),
    ("neg negative bitwise_not abs absolute floor ceil trunc fix frac sign sgn hardshrink softshrink softplus gelu round clip "
     "clamp clamp_min clamp_max lerp conj_physical leaky_relu elu hardsigmoid silu mish hardtanh", FOUND),
    ("cummax cummin logcumsumexp", SCALAR_TYPE), ("amax amin", EXPECTED), ("all any", ONLY_BOOL),
    ("signbit isposinf isneginf", NON_BOOL), ("index_select masked_select", SELECT), ("dot vdot", DOT),
    ("searchsorted bucketize", SEARCH), ("linalg_multi_dot chain_matmul", MULTI), ("tensordot inner", TENSORDOT),
    ("take", "take(): self and out expected to have the same dtype, but got self.dtype = {want} and out.dtype = {got}"),
    ("where", "Expected out type to be {want} but got {got}"),
    ("nan_to_num", "nan_to_num: dtype of out: {got} should be same as input: {want}"),
    ("heaviside", "heaviside is not yet implemented for tensors with different dtypes."),
    ("float_power", "the output given to float_power has dtype {got} but the operation's result requires dtype {want}"),
    ("addbmm", "self and mat2 must have the same dtype, but got {got} and {want}"),
    ("quantile nanquantile", "{function}() out tensor must be same dtype as the input tensor"),
    ("histc",
     "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {c_want} and hist {c_got}"),
    ("nonzero", "nonzero: Expected out tensor to have scalar type {want} but got scalar type{got}"),
    ("nonzero_static", "nonzero_static: Expected out tensor to have scalar type {want} but got scalar type{got}"),
    ("ormqr",
     "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{want} and result has dtype {got}"),
    ("linalg_matrix_norm", "linalg.matrix_norm expected out tensor dtype {want} but got: {got}"),
    ("linalg_vecdot", "linalg.vecdot: Expected out of dtype{want} but found {got}"),
    ("frexp", "torch.frexp() expects mantissa to have dtype {c_want} but got {c_got}"),
) for name in words.split()}
# of the second result, its indices
INDICES = {
    "kthvalue": "output indices must be of scalar type Long",
    "mode": "expected scalar type 'Long' but got '{got}' for indices output",
    "frexp": "torch.frexp() expects exponent to have int dtype but got {c_got}",
} | dict.fromkeys(("median", "nanmedian"), "Expected tensor for argument #1 'indices' to have scalar type Long; but got {t_got} "
                  "instead (while checking arguments for median)")
VALUES: dict[str, str | None] = {
    "geqrf": None,
    "max": SAME, "min": SAME, "kthvalue": "output values must be of same type as input",
    "mode": "expected scalar type '{want}' but got '{got}' for values output",
} | dict.fromkeys(("median", "nanmedian"),
                  "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but "
                  "type {t_got} does not equal {t_want} (while checking arguments for median)")
CASTS = {name: (cls, text) for words, cls, text in (
    ("cat stack vstack hstack dstack column_stack row_stack concat concatenate", TypeError,
     "torch.cat(): input types can't be cast to the desired output type {got}"),
    ("ldexp", RuntimeError, "ldexp can't be cast to the desired output type {got}"),
    ("linalg_matrix_power matrix_power", RuntimeError,
     "matrix_power: Expected result to be safely castable from {want} dtype, but got result with dtype {got}"),
    ("linalg_householder_product", RuntimeError,
     "torch.linalg.householder_product: Expected result to be safely castable from {want} dtype, but got result with dtype "
     "{got}"),
    ("linalg_pinv pinverse", RuntimeError,
     "linalg.pinv: Expected result to be safely castable from {want} dtype, but got result with dtype {got}"),
    ("diag", RuntimeError, "diag: result type {want} can't be cast to the desired out= type {got}"),
    ("mean", RuntimeError, "mean.dtype_out(): input types can't be cast to the desired output type {got}"),
    ("logsumexp", RuntimeError, "logsumexp(): Expected floating point type for result tensor, but got: {got}"),
    ("nansum nanmean", NotImplementedError, "\"nansum_cpu\" not implemented for '{got}'"),
    ("max min", RuntimeError, "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be "
     "true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"),
) for name in words.split()}
# out= may not share memory with an input, not even all of it.
APART = set("""
    gather index_select take masked_select median nanmedian kthvalue diff split_copy split_with_sizes_copy
    linalg_cross cross outer ger cat stack vstack hstack dstack column_stack row_stack concat concatenate
""".split())
# Their out= may be the first input alone.
FIRST = frozenset(("scatter", "scatter_add", "scatter_reduce", "index_add", "index_reduce", "index_copy"))
# They do not look: reductions, products, copies of views.
LOOSE = set("""
    mean sum prod std var amax amin argmax argmin all any nansum nanmean logsumexp cummax cummin tril triu diag
    mm bmm mv dot vdot matmul linear linalg_vector_norm linalg_norm norm linalg_inv inverse linalg_det det
    linalg_slogdet slogdet linalg_svdvals linalg_qr qr linalg_solve linalg_matrix_power matrix_power linalg_pinv
    pinverse expand_copy unfold_copy alias_copy as_strided_copy diagonal_copy permute_copy select_copy
    slice_copy squeeze_copy t_copy transpose_copy unsqueeze_copy view_copy unbind_copy avg_pool2d avg_pool3d
    slice_scatter softmax log_softmax special_ndtr quantile nanquantile median_all searchsorted bucketize histc
    nonzero isin max min addmm addmv addbmm baddbmm linalg_householder_product ormqr
""".split())
# Elementwise: an input that is out= at once is never resized.
BROADCAST = set("""
    add sub mul div true_divide floor_divide remainder pow subtract multiply divide bitwise_and bitwise_or
    bitwise_xor maximum minimum atan2 arctan2 hypot logaddexp logaddexp2 copysign fmod fmax fmin xlogy heaviside
    max.other min.other nextafter gcd lcm lerp lerp.number addcmul addcdiv clamp_min.other clamp_max.other where
    eq ne lt le gt ge igamma igammac
""".split())
# They write to an out= whose elements share memory, the last one last.
REPEATED = set("""
    tril triu cummax cummin bmm mv
""".split())


# They see to out= themselves: it says in which dtype they compute, or what they make.
OWN = set("""
    sum mean prod nansum nanmean cumsum cumprod bernoulli multinomial normal arange linspace logspace eye zeros
    ones full empty rand randn randint randperm range complex polar fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn
    fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft fft_hfft2 fft_ihfft2 fft_hfftn fft_ihfftn
    fft_fftfreq fft_rfftfreq
""".split())


def into(function: str, y: Any, out: Any, inputs: list[Any]) -> Any:
    """out, with the result y (a tensor, or several) of `function` written into it."""
    if isinstance(y, TensorBase):
        if isinstance(out, TensorBase) and fits(function, y.array, out, inputs):
            np.copyto(out.array, y.array)
            bump(out)
            return out
        return write_out(y, out, overload(function, inputs, out), *inputs)
    if isinstance(out, TensorBase) or len(out) != len(y):
        raise TypeError(f"{function}(): argument 'out' must be tuple of Tensors")
    pairs = list(zip(y, out, strict=True))
    for part, to in reversed(pairs) if function in ("median", "nanmedian") else pairs:
        if has_derivative(part, inputs):
            check_grad(function, to, inputs)
        check_dtype(function, part, to, y)
    for part, to in pairs:
        write_out(part, to, function, *inputs, several=y)
    kind = type(y)
    if kind is not tuple and kind is not list:
        return RETURN_TYPES.get(f"{kind.__name__}_out", kind)(out)
    return tuple(out)


def fits(function: str, made: Any, out: TensorBase, inputs: list[Any]) -> bool:
    """Is there nothing to ask?  The array `made` has out's shape and dtype, and out's memory is its own or that of an input."""
    mine = out.array
    if mine.dtype is not made.dtype or mine.shape != made.shape or not mine.flags.c_contiguous or (
            function in APART or function in FIRST):
        return False
    if out.inference or not modes.usual and ((it := state()).transform > 0 or it.mutation is not None):
        return False
    if grad_on() and (wants_grad(out) or any(map(wants_grad, inputs))):
        return False
    return all(x.array is mine or distinct(x.array, mine) for x in inputs)


def distinct(a: Any, b: Any) -> bool:
    """Are they known to share no memory?  Each is that of an array which owns it, and not of the same."""
    owner, other = a if a.base is None else a.base, b if b.base is None else b.base
    return owner is not other and type(owner) is type(other) is np.ndarray and owner.base is other.base is None


def overload(function: str, inputs: list[Any], out: Any) -> str:
    """The function's name, with its overload's where that decides."""
    count = len(inputs)
    if function in ("abs", "absolute") and count and inputs[0].array.dtype.kind == "c" and isinstance(out, TensorBase):
        have = out.array.dtype
        return "abs.complex" if have.kind != "c" or have == inputs[0].array.dtype else function
    if count > 1 and function in ("clamp", "clip", "clamp_min", "clamp_max", "max", "min"):
        return f"{function}.other"
    return "lerp.number" if function == "lerp" and count == 2 else function


def has_derivative(y: TensorBase, inputs: Any) -> bool:
    """Has the function that made y of the inputs one, as far as they tell?  Others write to any out=."""
    return y.array.dtype.kind in "fcV" and (
        wants_grad(y) or not grad_on() or not any(isinstance(t, TensorBase) and wants_grad(t) for t in inputs))


def check_grad(function: str, out: Any, inputs: Any) -> None:
    if grad_on() and any(isinstance(t, TensorBase) and wants_grad(t) for t in (*inputs, out)):
        raise RuntimeError(
            f"{function.partition('.')[0]}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad.")


def check_dtype(function: str, y: TensorBase, out: TensorBase, several: Any = None) -> None:
    have, want = out.array.dtype, y.array.dtype
    if have == want or (function in ("all", "any") and have.name in ("bool", "uint8")):
        return
    fell = RANK[want.kind] > RANK[have.kind]
    error: type[Exception] = RuntimeError
    text = DTYPE.get(function)
    if fell and function in CASTS:
        error, text = CASTS[function]
    if several is not None and y is several[-1] and function in INDICES:
        text = INDICES[function]
    elif several is not None:
        text = VALUES.get(function, text or SAME)
    if text is None:
        check_cast(want, have)
        return
    raise error(text.format(
        function=function, want=names.SCALAR[want.name], got=names.SCALAR[have.name], c_want=names.C[want.name],
        c_got=names.C[have.name], t_want=names.SHOWN[want.name], t_got=names.SHOWN[have.name], small=want == np.int32))


def check_memory(function: str, out: TensorBase, inputs: Any, shape: Any) -> None:
    a = out.array
    if a.size > 1 and 0 in a.strides and function not in REPEATED and overlaps(a.shape, a.strides):
        raise RuntimeError(OVERLAP)
    if any(x is out for x in (inputs if function in APART else inputs[1:] if function in FIRST else ())):
        raise RuntimeError(PARTLY)
    if function in LOOSE or not a.size or not dense(a):
        return
    start = address(a)
    for n, x in enumerate(inputs):
        b = x.array
        if x is out and a.shape != shape and function in BROADCAST:
            raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(shape)}")
        if b.size and dense(b):
            gap = address(b) - start
            same = not gap and a.nbytes == b.nbytes and a.strides == b.strides
            if -b.nbytes < gap < a.nbytes and (function in APART or not same or n and function in FIRST):
                raise RuntimeError(PARTLY)


def warn_resized(out: TensorBase, shape: tuple[int, ...]) -> None:
    """UserWarning for an out= that has elements and becomes one of `shape`."""
    if out.array.size and out.array.shape != shape:
        warn(
            f"An output with one or more elements was resized since it had shape {list(out.array.shape)}, which "
            f"does not match the required output shape {list(shape)}. This behavior is deprecated, and in a "
            "future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly "
            "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).")


def write_out(y: TensorBase, out: TensorBase, function: str, *inputs: Any, several: Any = None) -> TensorBase:
    """out, resized if need be, with y written into it: out= of `function`, which read `inputs`."""
    if not isinstance(out, TensorBase):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    inputs = tuple(t for t in inputs if isinstance(t, TensorBase))
    if has_derivative(y, inputs):
        check_grad(function, out, inputs)
        guard(out, False, True)
    else:
        guard_memory(out, True)
    array = y.array
    if function != "nansum" or any(x.array.size for x in inputs):   # it looks for its kernel when there is something to add
        check_dtype(function, y, out, several)
    check_memory(function, out, inputs, array.shape)
    if out.array.shape != array.shape:
        warn_resized(out, array.shape)
        out.array = np.empty(array.shape, out.array.dtype)
    np.copyto(out.array, array, casting="unsafe")
    bump(out)
    return out
