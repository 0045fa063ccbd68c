"""Normalization: F.layer_norm, F.batch_norm, F.group_norm, F.instance_norm, F.rms_norm, F.normalize, ...

running_mean, running_var   (C,) statistics to use or, in training, to move; None: none are kept
normalized_shape            sizes of the last dimensions
N, C, HxW, group            samples, channels, elements of a channel, groups of channels
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.modes import grad_on, modes
from .._engine.op import recording
from .._engine.tensor import bump, wants_grad, wrap
from .._engine.warn import warn_discarded
from .._kernels import kernel
from .._rules import arith, cast, create, moves, norm, number, pad, pointwise, shape
from .._rules import reduce as sums
from .._rules.linalg import count
from .._rules.shape import fold
from . import reduce
from .arguments import finish, tensor
from .pool import avg_pool2d, avg_pool3d

quick_rms_norm = kernel("rms_norm")
MIXED = "mixed dtype (CPU): all inputs must share same datatype."


def floating(x: Any, name: str) -> None:
    if x.array.dtype.kind not in "fV":
        raise NotImplementedError(f"\"{name}\" not implemented for '{names.SCALAR[x.array.dtype.name]}'")


def same_kind(x: Any, *others: Any) -> None:
    """Weights share the input's dtype; float32 weights go with half-precision inputs, too."""
    for other in others:
        if other is not None and other.array.dtype != x.array.dtype:
            if other.array.dtype != np.float32:
                raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
            if x.array.dtype.itemsize != 2 or x.array.dtype.kind not in "fV":
                raise RuntimeError(MIXED)


def sizes_of(shape_: Any, function: str) -> tuple[int, ...]:
    if isinstance(shape_, int) or not isinstance(shape_, (tuple, list)):
        raise TypeError(
            f"{function}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(shape_).__name__}")
    return tuple(int(n) for n in shape_)


def check_shape(x: Any, over: tuple[int, ...], weight: Any, bias: Any, star: str) -> None:
    if not over:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.array.shape) != over:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(p.shape)} and "
                f"normalized_shape = {list(over)}")
    if tuple(x.array.shape[-len(over):]) != over or x.ndim < len(over):
        raise RuntimeError(
            f"Given normalized_shape={list(over)}, expected input with shape [*{star}{', '.join(map(str, over))}], "
            "but got "
            f"input of size{list(x.shape)}")


def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """(output, mean, 1 / standard deviation)"""
    over = sizes_of(normalized_shape, "layer_norm")
    same_kind(input, weight, bias)
    check_shape(input, over, weight, bias, ", ")
    floating(input, "LayerNormKernelImpl")
    y, mean, rstd = norm.layer_norm(input, weight, bias, over, eps)
    return y, as_input(mean, input), as_input(rstd, input)


def as_input(statistic: Any, x: Any) -> Any:
    return wrap(statistic.astype(x.array.dtype, copy=False))


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dims, which have the shape `normalized_shape`."""
    x = tensor(input, "layer_norm")
    over = sizes_of(normalized_shape, "layer_norm")
    same_kind(x, weight, bias)
    check_shape(x, over, weight, bias, ", ")
    floating(x, "LayerNormKernelImpl")
    return norm.layer_norm(x, weight, bias, over, eps)[0]


# Batch norm

def native_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float,
    eps: float,
) -> Any:
    """(output, mean, 1 / standard deviation); the last two empty unless training"""
    y, mean, rstd = normalised(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        mean = rstd = np.zeros(0, y.array.dtype)
    return y, as_input(mean.reshape(-1), input), as_input(rstd.reshape(-1), input)


def normalised(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: Any,
               eps: float) -> Any:
    x = tensor(input, "batch_norm")
    if not isinstance(momentum, (int, float)):
        raise TypeError(
            f"batch_norm(): argument 'momentum' (position 7) must be float, not {type(momentum).__name__}")
    channels = x.array.shape[1] if x.ndim > 1 else 0
    if x.array.size:
        for name, p in (("running_mean", running_mean), ("running_var", running_var)):
            if p is not None and p.array.size != channels:
                raise RuntimeError(f"{name} should contain {channels} elements not {p.array.size}")
            if p is None and not training:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
            if p is not None and p.array.ndim != 1:
                raise RuntimeError(f"TensorAccessor expected 1 dims but tensor has {p.array.ndim}")
        for name, p in (("weight", weight), ("bias", bias)):
            if p is not None and p.array.size != channels:
                raise RuntimeError(f"{name} should contain {channels} elements not {p.array.size}")
    if grad_on():
        for name, p in (("running_mean", running_mean), ("running_var", running_var)):
            if p is not None and wants_grad(p):
                raise RuntimeError(
                    f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This "
                    "input "
                    "cannot have requires_grad True.")
    floating(x, "batch_norm")
    if x.array.size:
        same_kind(x, weight, bias, running_mean, running_var)
    mean_array: Any = None if running_mean is None else running_mean.array
    var_array: Any = None if running_var is None else running_var.array
    if x.array.size == 0:
        y = create.clone(x)
        if weight is not None:                  # weight and bias stay in the graph, as in PyTorch
            y = y * weight.select(0, 0)
        if bias is not None:
            y = y + bias.select(0, 0)
        return y, np.zeros(channels, x.array.dtype), np.zeros(channels, x.array.dtype)
    if training and running_mean is not None:
        mean_array, var_array = mean_array.copy(), var_array.copy()     # the node shows what it was given
    y, mean, var, rstd = norm.batch_norm(x, weight, bias, mean_array, var_array, bool(training), eps)
    if training:
        n = x.array.size // channels
        unbiased = var.reshape(-1) * (n / (n - 1) if n > 1 else np.inf)
        for p, now in ((running_mean, mean.reshape(-1)), (running_var, unbiased)):
            if p is not None:
                with np.errstate(all="ignore"):
                    p.array[...] = (1 - momentum) * p.array + momentum * now
                bump(p)
    return y, mean, rstd


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5, *cudnn_enabled: Any,
) -> Any:
    """Normalize every channel (dim 1) over the batch, or by the running statistics unless training.

    In training running_mean and running_var are updated in place: (1 - momentum) * old + momentum * new.
    With a ninth argument this is torch.batch_norm, whose order is (input, weight, bias, running_mean, running_var,
    ...).
    """
    if cudnn_enabled:
        return normalised(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]
    if training:
        several_values(tensor(input, "batch_norm").shape)
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        if (running_mean is None) != (running_var is None):
            raise ValueError("running_mean and running_var must either both be None or neither be None")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return normalised(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def several_values(sizes: Any) -> None:
    if sizes[0] * count(tuple(sizes[2:])) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {sizes}")


# Group, instance and RMS norm

def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float,
) -> Any:
    """(output, mean, 1 / standard deviation)"""
    x = tensor(input, "native_group_norm")
    y, mean, rstd = norm.group_norm(x, weight, bias, group, eps)
    if recording(x):
        rows = shape.fold(x, (N, group, C // group * HxW))
        off = rows - sums.mean_dims(rows, (2,), True)
        return y, sums.mean_dims(rows, (2,), False), pointwise.rsqrt(sums.mean_dims(off * off, (2,), False) + eps)
    return y, as_input(mean.reshape(N, group), x), as_input(rstd.reshape(N, group), x)


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True,
) -> Any:
    """Normalize the channels (dim 1) of (N, C, *) in `num_groups` groups."""
    x = tensor(input, "group_norm")
    if x.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {x.ndim}")
    sizes = list(x.shape)
    if sizes[0] * sizes[1] // num_groups * count(tuple(sizes[2:])) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {sizes}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    c = x.array.shape[1]
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(x.shape)} and num_groups={num_groups}")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and (p.ndim != 1 or p.array.size != c):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                "shape "
                f"{list((p if weight is None else weight).shape)} and input of shape {list(x.shape)}")
    same_kind(x, weight, bias)
    floating(x, "GroupNormKernelImpl")
    return norm.group_norm(in_rows(x), weight, bias, num_groups, eps)[0]


def in_rows(x: Any) -> Any:
    """x, or where its elements are not in C order, a copy that is."""
    return x if x.array.flags.c_contiguous else create.contiguous_copy(x)


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5, *cudnn_enabled: Any,
) -> Any:
    """Normalize every channel of every sample over its spatial dims.

    use_input_stats=False: by running_mean and running_var (RuntimeError without them), which otherwise move by momentum.

    With a ninth argument this is torch.instance_norm, whose order is (input, weight, bias, running_mean, ...).
    """
    x = tensor(input, "instance_norm")
    if cudnn_enabled:
        running_mean, running_var, weight, bias = weight, bias, running_mean, running_var
    elif use_input_stats and count(tuple(x.array.shape[2:])) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {x.shape}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    n, c = x.array.shape[:2]
    flat = fold(x, (1, n * c) + tuple(x.array.shape[2:]))
    repeated = [None if p is None else moves.repeat(p, (n,)) for p in (weight, bias)]
    stats: list[Any] = [
        None if p is None else wrap(np.tile(p.array, n).astype(x.array.dtype)) for p in (running_mean, running_var)]
    y = normalised(flat, repeated[0], repeated[1], stats[0], stats[1], use_input_stats, momentum, eps)[0]
    for p, now in zip((running_mean, running_var), stats, strict=True):
        if p is not None and use_input_stats:
            if now.array.size != n * c:
                raise RuntimeError(f"shape '[{n}, {c}]' is invalid for input of size {now.array.size}")
            p.array[...] = now.array.reshape(n, c).mean(0)
            bump(p)
    return shape.reshape(y, tuple(x.array.shape))


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """x / sqrt(mean of squares + eps) * weight over the last dims, normalized_shape; eps None: the dtype's machine epsilon."""
    x = tensor(input, "rms_norm")
    over = sizes_of(normalized_shape, "rms_norm")
    if x.ndim < len(over):
        raise ValueError(f"Input tensor must have at least {len(over)} dimensions, but got {x.ndim}")
    check_shape(x, over, weight, None, "")
    if x.array.dtype.kind != "c":
        floating(x, "rms_norm")
    own = x.array.dtype
    wide = cast.cast(x, np.dtype("float32")) if own.itemsize == 2 else x
    small = eps if eps is not None else float(np.finfo(wide.array.dtype).eps)
    if modes.observer is None and not recording(x) and (weight is None or not recording(weight)):
        # recorded it is six nodes, as in PyTorch
        quick = quick_rms_norm(x.array, None if weight is None else weight.array, len(over), small)
        if quick is not None:
            return wrap(quick)
    dims = tuple(range(x.ndim - len(over), x.ndim))
    square = sums.mean_dims(arith.pow(wide, 2), dims, True)
    y = wide * pointwise.rsqrt(number.AddBackward1(small).run(square))
    if weight is not None:
        y = y * weight
    warn_discarded(y.array.dtype, own)
    return in_rows(y if y.array.dtype == own else cast.cast(y, own))


def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """x / (k + alpha * mean of squares over `size` neighboring channels) ** beta   (Krizhevsky et al. 2012)"""
    x = tensor(input, "local_response_norm")
    if x.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          "
            f"input (got {x.ndim} dimensions)")
    if x.array.size == 0:
        return x
    squares = x * x
    before, after = size // 2, (size - 1) // 2
    if isinstance(before, int) and not -2**63 <= before < 2**63:
        raise TypeError(f"pad(): argument 'pad' failed to unpack the object at pos {3 if x.ndim == 3 else 5} with error "
                        '"Overflow when unpacking long long"')
    if size + x.array.shape[1] < 1 and size < 1:
        raise RuntimeError("narrow(): length must be non-negative.")
    if x.ndim == 3:
        grown = pad.constant(shape.unsqueeze(squares, 1), ((before, after), (0, 0)), 0)
        mean = shape.squeeze_dim(avg_pool2d(grown, (size, 1), stride=1), 1)
    else:
        s = tuple(x.array.shape)
        boxed = shape.reshape(squares, (s[0], 1, s[1], s[2], count(s[3:])))
        grown = pad.constant(boxed, ((before, after), (0, 0), (0, 0)), 0)
        mean = shape.reshape(shape.squeeze_dim(avg_pool3d(grown, (size, 1, 1), stride=1), 1), s)
    return x / mean.mul(alpha).add(k).pow(beta)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """input / max(p-norm over dim, eps)"""
    x = tensor(input, "normalize")
    length = reduce.norm(x, p, dim, True).clamp_min(eps)
    return finish(x / shape.expand(length, tuple(x.array.shape)), out, "div", x)
