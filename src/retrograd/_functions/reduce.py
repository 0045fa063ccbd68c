"""Sums, means, norms, moments: torch.sum, torch.std, torch.cumsum, ... and the methods of the same names.

correction          the mean is over n - correction: 1 unbiased, 0 of the population; None: 1
unbiased            True: correction 1; False: 0
fweights, aweights  (observations,) how often each counts (int), and its weight
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import promote
from .._engine.tensor import TensorBase, wrap
from .._engine.warn import warn
from .._rules import arith, cast, compare, complexes, diagonals, moment, reduce, scan, shape
from .._rules.packed import packed
from .._tensor import dtypes
from .arguments import (
    aliased,
    dim_in,
    dim_of,
    dims_in,
    dims_of,
    finish,
    in_dtype,
    is_float,
    is_int,
    kernel,
    refused,
    scalar_name,
    tensor,
    write_out,
)
from .forms import FUNCTIONS
from .parsing import fitted

# Sums and means

def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None, axis: Any = None,
        keepdims: bool = False) -> Any:
    """Sum of all elements, or over dims (int or several).  Integers add up in int64.

    https://pytorch.org/docs/stable/generated/torch.sum.html
    """
    x = tensor(input, "sum")
    if isinstance(out, TensorBase):
        dtype = common(dtype, out, "sum")               # summed in the dtype of the result, whatever it loses
    if dim is None and axis is None and keepdim is False and keepdims is False:
        y = reduce.sum(x) if dtype is None else reduce.sum_as(x, in_dtype(x, dtype, "sum"))
        return y if out is None else write_out(y, out, "sum", x)
    dims = dims_arg(dim if axis is None else axis, x, "sum")
    keep = keepdim if keepdims is False else keepdims
    if keep is not True and keep is not False:
        fitted("sum", FUNCTIONS["sum"], (x, dim if axis is None else axis, keep), {})
    want = None if dtype is None else in_dtype(x, dtype, "sum")
    y = reduce.sum_dims(x, dims, keep) if dtype is None else reduce.sum_dims_as(x, dims, keep, want)
    return y if out is None else write_out(y, out, "sum", x)


def common(dtype: Any, out: TensorBase, function: str) -> Any:
    """The dtype of out=, which a dtype= must not contradict."""
    have = dtypes.of(out.array.dtype)
    if dtype is not None and dtypes.to_numpy(dtype, function) != have.numpy:
        raise RuntimeError(f"Expected out tensor to have dtype {dtype.ctype}, but got {have.ctype} instead")
    return have


def dims_arg(dim: Any, x: TensorBase, function: str) -> tuple[int, ...]:
    if dim is None or isinstance(dim, (int, tuple, list)):
        return dims_of(dim, x.array.ndim)
    if isinstance(dim, (float, str)) or not hasattr(dim, "__index__"):
        raise refused(function, (x, dim), "(Tensor input, *, torch.dtype dtype = None)",
                      "(Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)")
    return dims_of(int(dim), x.array.ndim)


@aliased
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """sum with NaN counted as zero."""
    if isinstance(out, TensorBase) and dtype is not None and dtypes.to_numpy(dtype, "nansum") != out.array.dtype:
        if dtypes.to_numpy(dtype, "nansum").kind in "iub":
            common(dtype, out, "nansum")
        raise RuntimeError(
            f"nansum: provided dtype must match dtype of result. Got {dtypes.of(out.array.dtype).scalar} and {dtype.scalar}.")
    if not is_float(input):
        return sum(input, dim, keepdim, dtype=dtype, out=out)
    dims = None if dim is None else dims_in(dim, input, "nansum")
    want = in_dtype(input, dtype, "nansum")
    if want is not None and want.kind == "c" and input.array.size:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.scalar}'")
    return finish(reduce.nansum(input, dims, keepdim, want), out, "nansum", input)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None, axis: Any = None,
         keepdims: bool = False) -> Any:
    """Mean of all elements, or over dims; floating point only (or say dtype=)."""
    x = tensor(input, "mean")
    want = in_dtype(x, dtype, "mean") if dtype is None or dtypes.to_numpy(dtype, "mean").kind in "fcV" else dtypes.to_numpy(
        dtype, "mean")
    if (x.array.dtype.kind if want is None else want.kind) not in "fcV":
        what = "Input dtype" if want is None else "Optional dtype"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} must be either a floating point or complex dtype. Got: "
            + dtypes.of(x.array.dtype if want is None else want).scalar)
    if isinstance(out, TensorBase) and dtype is not None:
        common(dtype, out, "mean")
    if isinstance(out, TensorBase) and dtype is None:
        have = out.array.dtype
        if have.kind not in "fcV" and (dim is not None or axis is not None):
            raise RuntimeError(f"result type Float can't be cast to the desired output type {dtypes.of(have).scalar}")
        if have != x.array.dtype and (promote.promote_types(have, x.array.dtype) == have or (
                x.array.dtype.kind == "c" and (dim is not None or axis is not None))):
            want = have
    if dim is None and axis is None and keepdim is False and keepdims is False:
        y = reduce.mean(x) if want is None else reduce.mean_as(x, want)
        return y if out is None else write_out(y, out, "mean", x)
    dims = dims_arg(dim if axis is None else axis, x, "mean")
    keep = keepdim if keepdims is False else keepdims
    if keep is not True and keep is not False:
        fitted("mean", FUNCTIONS["mean"], (x, dim if axis is None else axis, keep), {})
    y = reduce.mean_dims(x, dims, keep) if want is None else reduce.mean_dims_as(x, dims, keep, want)
    return y if out is None else write_out(y, out, "mean", x)


@aliased
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """Mean of what is not NaN."""
    if not is_float(input):
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {scalar_name(input)}")
    if dtype is not None and dtypes.to_numpy(dtype, "nanmean").kind in "iub":
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
                           f"dtype. Got: {dtype.scalar}")
    dims = dims_of(dim, input.array.ndim)
    count = wrap((~np.isnan(input.array)).sum(dims, np.int64, keepdims=keepdim))
    return finish(arith.div(nansum(input, dim, keepdim, dtype=dtype), count), out, "nanmean", input)


@aliased
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """Product of all elements or along one dim.  Integers multiply in int64."""
    if isinstance(out, TensorBase):
        dtype = common(dtype, out, "prod")
    if dim is None:
        return finish(reduce.prod(input, in_dtype(input, dtype, "prod")), out, "prod", input)
    if not isinstance(dim, int):
        raise refused("prod", (input, dim), "(Tensor input, *, torch.dtype dtype = None)",
                      "(Tensor input, int dim, bool keepdim = False, *, torch.dtype dtype = None)")
    return finish(
        reduce.prod_dim_as(input, dim_of(dim, input.array.ndim), keepdim, in_dtype(input, dtype, "prod")), out, "prod", input)


# Norms and moments

def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """The vector p-norm of all elements or over dims; p a number, inf, "fro" (2) or "nuc" (of matrices)."""
    x = tensor(input, "norm")
    if isinstance(p, str) and p != "fro":
        if p == "nuc":
            from . import linalg as matrices  # one of the two that need matrices
            nuclear: Any = matrices
            dims = tuple(range(x.array.ndim)) if dim is None else (dim,) if is_int(dim) else dim
            return finish(nuclear.matrix_norm(x, "nuc", dims, keepdim, dtype=dtype), out, "linalg_matrix_norm", x)
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    if p == "fro" and dim is not None and not isinstance(dim, (tuple, list, TensorBase)) and not is_int(dim):
        raise TypeError(f"object of type '{dtypes.typename(dim)}' has no len()")
    if p == "fro" and isinstance(dim, (tuple, list)) and len(dim) > 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    order = 2 if p is None or isinstance(p, str) else p
    (_, order, dim, keepdim), _ = fitted(
        "linalg_vector_norm", FUNCTIONS["linalg_vector_norm"], (x, order, dim, keepdim), {"dtype": dtype})
    return finish(vector_norm(x, order, dim, keepdim, dtype=dtype), out, "linalg_vector_norm", x)


def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None,
) -> Any:
    """(sum |x|**ord)**(1/ord) over dims (None: all), as torch.linalg.vector_norm."""
    if not is_float(x):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(x)}")
    refuse_complex(ord)
    if ord < 0 or ord == math.inf:
        nonempty(ord, x.array.shape, dim)
    want = wider(x, dtype, "linalg.vector_norm")
    dims = None if dim is None else dims_of(dim, x.array.ndim)
    if keepdim and dims is None:
        dims = tuple(range(x.array.ndim))
    return moment.norm(x, ord, dims, keepdim, want)


def refuse_complex(ord: Any) -> None:
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")


def nonempty(ord: Any, shape: Any, dim: Any) -> None:
    """RuntimeError for an extreme of nothing."""
    if 0 not in shape:
        return
    everything = dim is None or (not isinstance(dim, int) and not dim)
    for d in range(len(shape)) if everything else (dim,) if isinstance(dim, int) else dim:
        if not shape[dim_of(d, len(shape))]:
            where = "an empty tensor because the operation does not have an identity" if everything else (
                f"the dimension {d}because this dimension is empty and the operation does not have an identity")
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord:g} norm on {where}")


def wider(x: TensorBase, dtype: Any, function: str) -> Any:
    """The NumPy dtype asked for, or None for x's own; RuntimeError when it holds less."""
    if dtype is None:
        return None
    want, have = dtypes.to_numpy(dtype, function), x.array.dtype
    if want.kind not in "fcV":
        raise RuntimeError(f"{function}: dtype should be floating point or complex, but got {dtypes.of(want).scalar}")
    if (want.kind == "c") != (have.kind == "c"):
        kind = "complex" if have.kind == "c" else "real"
        raise RuntimeError(f"{function}: dtype should be {kind} for {kind} inputs, but got {dtypes.of(want).scalar}")
    if promote.promote_types(have, want) != want:
        raise RuntimeError(
            f"{function}: the dtype of the input ({scalar_name(x)}) should be convertible without narrowing to the specified "
            f"dtype ({dtypes.of(want).scalar})")
    return None if want == have else want


def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """The p-norm of input - other, which broadcast."""
    if input.array.dtype.kind == "b" == other.array.dtype.kind:
        arith.sub(input, other)                                 # refuses two bools
    if not is_float(input) and not is_float(other):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {scalar_name(input)} instead.")
    refuse_complex(p)
    if p < 0 or p == math.inf:
        nonempty(p, np.broadcast_shapes(input.array.shape, other.array.shape), None)
    return moment.dist(input, other, p)


def renorm(input: Any, p: Any, dim: int, maxnorm: Any, *, out: Any = None) -> Any:
    """Slices along dim whose p-norm exceeds maxnorm, scaled down to it."""
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.array.ndim} dimensions")
    at = dim_of(dim, input.array.ndim)
    if not is_float(input):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {scalar_name(input)}")
    return moment.RenormBackward0(p, at, maxnorm).run(input)


def renorm_(input: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """In place: renorm."""
    renorm(input.detach(), p, dim, maxnorm)             # its checks
    return moment.RenormBackward0(p, dim_of(dim, input.array.ndim), maxnorm).run_(input)


def observations(input: Any, function: str) -> Any:
    x = tensor(input, function)
    if x.array.ndim > 2:
        raise RuntimeError(
            f"{function}(): expected input to have two or fewer dimensions but got an input with {x.array.ndim} "
            "dimensions")
    if x.array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    return x


def weights_of(w: Any, name: str, kinds: str, what: str, count: int) -> Any:
    if w.array.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.array.ndim} dimensions")
    if w.array.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {what} dtype but got {name} with {scalar_name(w)} dtype")
    if w.array.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{w.array.size} != {count}")
    if w.array.size and w.array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return w


def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Covariances of the rows (variables) over the columns (observations), which may be counted or weighted."""
    x = observations(input, "cov")
    rows: Any = shape.reshape(x, (1, x.array.size)) if x.array.ndim < 2 else x
    count = rows.array.shape[1]
    w: Any = None
    if fweights is not None:
        w = weights_of(fweights, "fweights", "iu", "integral", count)
    if aweights is not None:
        a = weights_of(aweights, "aweights", "fcV", "floating point", count)
        w = a if w is None else w * a
    total = count if w is None else w.sum()
    middle = (rows if w is None else rows * w).sum(1, keepdim=True) / total
    free = total - correction if aweights is None or not correction else total - correction * (w * a).sum() / total
    if free <= 0:
        warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        free = free * 0
    gap = rows - middle
    right = gap if w is None else gap * w
    product = gap @ complexes.conj(right.t()).to(gap.dtype)
    return (arith.div(product, wrap(np.asarray(free, product.array.dtype)) if isinstance(free, int) else free)).squeeze()


def corrcoef(input: Any) -> Any:
    """Correlations (-1..1) of the rows (variables) over the columns (observations)."""
    observations(input, "corrcoef")
    c = cov(input)
    if not c.array.ndim:
        return c / c
    d = diagonals.diagonal(c, 0, 0, 1).sqrt()
    if c.array.dtype.kind == "c":
        y = c / complexes.real(d).unsqueeze(1) / complexes.real(d).unsqueeze(0)
        return complexes.ComplexBackward0().run(complexes.real(y).clamp(-1, 1), complexes.imag(y).clamp(-1, 1))
    return (c / d.unsqueeze(1) / d.unsqueeze(0)).clamp(-1, 1)


FEW = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
    "divided by "
    "output numel)."
)


def spread_args(x: TensorBase, dim: Any, unbiased: Any, correction: Any, function: str) -> tuple[Any, Any]:
    """-> (dims or None, correction), from either of PyTorch's signatures."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    if not is_float(x):
        raise RuntimeError(
            f"{function} only support floating point and complex dtypes" if "_" in function else
            "std and var only support floating point and complex dtypes")
    if dim is not None and not isinstance(dim, (tuple, list)) and not is_int(dim):
        raise refused(
            function, (x, dim), "(Tensor input, tuple of ints dim = None, bool unbiased, bool keepdim = False)",
            "(Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False)")
    dims = None if dim is None or dim == () else dims_of(dim, x.array.ndim)
    n = reduce.count_of(x.array.shape, tuple(range(x.array.ndim)) if dims is None else dims)
    if not x.array.size or n <= (1 if correction is None else correction):
        warn(FEW.format(function))
    return dims, correction


def spread(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def f(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = 1,
          out: Any = None) -> Any:
        x = tensor(input, name)
        dims, correction = spread_args(x, dim, unbiased, correction, name)
        if keepdim and dims is None:
            dims = tuple(range(x.array.ndim))
        return finish(op(x, dims, correction, keepdim), out, name, x)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return aliased(f)


def spread_mean(name: str, op: Any, doc: str) -> Callable[..., Any]:
    def f(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = 1,
          out: Any = None) -> Any:
        x = tensor(input, name)
        dims, correction = spread_args(x, dim, unbiased, correction, name)
        if keepdim and dims is None:
            dims = tuple(range(x.array.ndim))
        y = op(dims, correction, keepdim).run(x)
        if out is not None:
            return write_out(y[0], out[0], name, x), write_out(y[1], out[1], name, x)
        return tuple(y)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return aliased(f)


var = spread("var", moment.var, "Variance of all elements or over dims: squares over n - correction (unbiased: 1).")
std = spread("std", moment.std, "Standard deviation; where it is zero, so is the gradient.")
var_mean = spread_mean("var_mean", moment.VarMeanBackward0, "(variance, mean)")
std_mean = spread_mean("std_mean", moment.StdMeanBackward0, "(standard deviation, mean)")


@aliased
def logsumexp(input: Any, dim: Any, keepdim: bool = False, *, out: Any = None) -> Any:
    """log(sum(exp(input))) over dims, without overflow.  Integers give the default float."""
    x = cast.floating(input)
    return moment.logsumexp(x, dims_in(dim, x, "logsumexp"), keepdim)


# Logic

def logic(name: str, how: Any) -> Callable[..., Any]:
    def f(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
        x = tensor(input, name)
        if dim is not None and not isinstance(dim, (tuple, list)) and not is_int(dim):
            raise refused(name, (x, dim), "(Tensor input)", "(Tensor input, tuple of ints dim, bool keepdim = False)",
                          "(Tensor input, int dim, bool keepdim = False)")
        if isinstance(dim, (tuple, list)) and not dim:          # over no dims at all: nothing is reduced
            found = x.array != 0
        else:
            found = compare.nonzero(x.array)
            found = packed(how(found, dims_of(dim, x.array.ndim), None, None, keepdim))
        return finish(wrap(found.astype(np.uint8) if x.array.dtype == np.uint8 else found), out, name)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Does {name} element differ from zero, of all or over dims?  bool (uint8 for uint8)."
    return aliased(f)


all = logic("all", np.logical_and.reduce)
any = logic("any", np.logical_or.reduce)


def count_nonzero(input: Any, *dims: Any, dim: Any = None) -> Any:
    """How many elements are not zero, over dim (an int, a tuple of them, or all), or over several dims; int64."""
    if dims:
        dim = dims if len(dims) > 1 else dims[0]
    return wrap(packed(np.add.reduce(compare.nonzero(input.array), dims_of(dim, input.array.ndim), np.int64)))


# Running reductions

def running(name: str, op: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def f(input: Any, dim: Any, *, dtype: Any = None, out: Any = None) -> Any:
        x = tensor(input, name)
        if isinstance(out, TensorBase):
            dtype = common(dtype, out, name)            # in the dtype of the result, whatever it loses
        at = dim_in(dim, x, name)
        if dtype is not None and x.array.ndim and x.array.size and dtypes.to_numpy(dtype, name).kind == "b":
            raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
        want = in_dtype(x, dtype, name)
        return finish(op(x, at, want), out, name, x)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return aliased(f)


cumsum = running("cumsum", scan.cumsum, "Running sum along dim.  Integers add up in int64.")
cumprod = running("cumprod", scan.cumprod, "Running product along dim.  Integers multiply in int64.")


@aliased
def cumsum_(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """In place: the running sum along dim."""
    at = dim_of(dim, input.array.ndim)
    if input.array.ndim and input.array.size:
        kernel("cumsum_out_cpu", input, "b")
    return scan.CumsumBackward0(at, input.array.dtype).run_(input)


@aliased
def cumprod_(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """In place: the running product along dim."""
    at = dim_of(dim, input.array.ndim)
    if input.array.ndim and input.array.size:
        kernel("cumprod_out_cpu", input, "b")
    return scan.CumprodBackward0(at, input.array.dtype).run_(input)


@aliased
def logcumsumexp(input: Any, dim: int, *, out: Any = None) -> Any:
    """log of the running sum of exp(input) along dim."""
    at = dim_in(dim, input, "logcumsumexp")
    if not is_float(input):
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{scalar_name(input)}'")
    return scan.logcumsumexp(input, at)
