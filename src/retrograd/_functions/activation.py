"""Activations, softmax and dropout: torch.relu, F.gelu, F.softmax, F.dropout, ...

train   True: act as in training; False: give the input back
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import random
from .._engine import names, promote
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast
from .._engine.warn import warn, warn_discarded
from .._rules import activation, arith, pointwise, shape
from .._rules.cast import cast
from .._rules.index import check_number
from .._rules.softmax import LogSoftmaxBackward0, SoftmaxBackward0
from .._tensor import dtypes
from .arguments import DOUBLE, dim_of, finish, kernel, real_number, real_only, tensor
from .forms import FUNCTIONS
from .parsing import fitted
from .pointwise import not_implemented

Function = Callable[..., Any]
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def floating(x: Any, name: str, kernel: str, kinds: str = "fV") -> TensorBase:
    """x, if it is a Tensor of floats."""
    t = tensor(x, name)
    if t.array.dtype.kind not in kinds:
        raise not_implemented(kernel, t.array.dtype)
    return t


def either(x: TensorBase, op: Any, inplace: bool) -> Any:
    return op.run_(x) if inplace else op.run(x)


def relu(input: Any, inplace: bool = False) -> Any:
    """max(input, 0); its derivative at 0 is 0."""
    x = input if isinstance(input, TensorBase) else tensor(input, "relu")
    return either(x, activation.ReluBackward0(), True) if inplace else activation.ReluBackward0().run(x)


def relu6(input: Any, inplace: bool = False) -> Any:
    """input between 0 and 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """input between min_val and max_val, where the derivative is 0."""
    x = tensor(input, "hardtanh")
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if x.array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    for n in (min_val, max_val):
        check_number(n, x.array.dtype)
    return either(x, activation.HardtanhBackward0(min_val, max_val), inplace)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """input where positive, else negative_slope * input."""
    x = floating(input, "leaky_relu", "leaky_relu_cpu")
    negative_slope = real_number(negative_slope, x.array.dtype)
    if inplace:
        return activation.LeakyReluBackward1(negative_slope).run_(x)
    return activation.LeakyReluBackward0(negative_slope).run(x)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input where positive, else alpha * (exp(input) - 1).   Clevert et al. 2016"""
    return scaled_elu(floating(input, "elu", "elu_cpu"), alpha, 1, inplace)


def selu(input: Any, inplace: bool = False) -> Any:
    """elu scaled so that activations keep mean 0 and variance 1.   Klambauer et al. 2017"""
    return scaled_elu(floating(input, "selu", "elu_cpu"), SELU_ALPHA, SELU_SCALE, inplace)


def scaled_elu(x: TensorBase, alpha: float, scale: Any, inplace: bool) -> Any:
    alpha = real_number(alpha, x.array.dtype)
    if inplace:
        return activation.EluBackward1(alpha, scale, 1).run_(x)
    return activation.EluBackward0(alpha, scale, 1).run(x)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input where positive, else alpha * (exp(input / alpha) - 1).   Barron 2017"""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    x = floating(input, "celu", "elu_cpu")
    alpha = real_number(alpha, DOUBLE)
    return activation.CeluBackward1(alpha).run_(x) if inplace else activation.CeluBackward0(alpha).run(x)


def gelu(input: Any, approximate: str = "none") -> Any:
    """input Phi(input), Phi the normal CDF; approximate="tanh" uses the common approximation.   Hendrycks and Gimpel 2016"""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return activation.GeluBackward0(approximate).run(floating(input, "gelu", "GeluKernelImpl"))


def silu(input: Any, inplace: bool = False) -> Any:
    """input * sigmoid(input), also called swish."""
    return either(floating(input, "silu", "silu_cpu", "fVc"), activation.SiluBackward0(), inplace)


def mish(input: Any, inplace: bool = False) -> Any:
    """input * tanh(softplus(input)).   Misra 2019"""
    return either(floating(input, "mish", "mish_cpu"), activation.MishBackward0(), inplace)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input > threshold."""
    x = floating(input, "softplus", "softplus_cpu")
    return activation.softplus(x, real_number(beta, x.array.dtype), real_number(threshold, x.array.dtype))


def softsign(input: Any) -> Any:
    """input / (1 + |input|)"""
    x = tensor(input, "softsign")
    kernel("abs_cpu", x, "b")
    return arith.div(x, arith.add(pointwise.abs(x), 1))


def hardswish(input: Any, inplace: bool = False) -> Any:
    """input * relu6(input + 3) / 6.   Howard et al. 2019"""
    return either(floating(input, "hardswish", "hardswish_cpu"), activation.HardswishBackward0(), inplace)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """relu6(input + 3) / 6"""
    return either(floating(input, "hardsigmoid", "hardsigmoid_cpu"), activation.HardsigmoidBackward0(), inplace)


def logsigmoid(input: Any, *, out: Any = None) -> Any:
    """log(sigmoid(input)) without overflow."""
    x = floating(input, "log_sigmoid", "log_sigmoid_cpu")
    return finish(activation.logsigmoid(x), out, "log_sigmoid", x)


def tanhshrink(input: Any) -> Any:
    """input - tanh(input)"""
    x = tensor(input, "tanhshrink")
    return arith.sub(x, pointwise.tanh(x))


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """input moved towards 0 by lambd, 0 where it would cross 0."""
    x = floating(input, "softshrink", "softshrink_check")
    lambd = real_number(lambd, DOUBLE)
    if not lambd >= 0:
        d = x.array.dtype
        raise RuntimeError(
            f"lambda must be in range [0, {dtypes.finfo(dtypes.of(d)).max:g}] for input dtype {names.SCALAR[d.name]}, but "
            f"found {lambd:g}")
    return activation.SoftshrinkBackward0(lambd).run(x)


def hardshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Any:
    """input, but 0 in [-lambd, lambd]."""
    x = floating(input, "hardshrink", "hardshrink_cpu")
    return activation.HardshrinkBackward0(real_number(lambd, x.array.dtype)).run(x)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False, *, out: Any = None) -> Any:
    """input where it is greater than threshold, else value."""
    x = tensor(input, "threshold")
    if inplace:
        return threshold_(x, threshold, value)
    threshold = limit_of(x, threshold, value)
    value = real_number(value, x.array.dtype)
    return finish(activation.ThresholdBackward0(threshold, value).run(x), out, "threshold", x)


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """In place: threshold, with the same value."""
    return activation.ThresholdBackward1(limit_of(input, threshold, value), value).run_(input)


def limit_of(x: TensorBase, threshold: Any, value: Any) -> Any:
    """The threshold in x's dtype.  NotImplementedError for bools; RuntimeError for numbers that x's dtype does not hold."""
    dtype = x.array.dtype
    if dtype.kind == "b":
        raise NotImplementedError("\"threshold_cpu\" not implemented for 'Bool'")
    check_number(value, dtype)
    if dtype.kind in "iu":
        check_number(threshold, dtype)
        return int(threshold.real)
    return real_number(threshold, dtype)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of a dim times the sigmoid of the second.   Dauphin et al. 2017"""
    x = tensor(input, "glu")
    if not x.array.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    at = dim_of(dim, x.array.ndim)
    if x.array.shape[at] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {at} is size {x.array.shape[at]}")
    node = activation.GluBackward0(at)
    node.asked = dim % 2**64
    return node.run(floating(x, "glu", "glu_cpu"))


def prelu(input: Any, weight: Any) -> Any:
    """input where positive, else weight * input.   He et al. 2015

    weight: one number (0-dim or 1 element), or one per channel (dim 1 of input).
    """
    x, w = input, weight
    have, n = x.array, w.array.size
    if have.dtype != w.array.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {names.SCALAR[have.dtype.name]} and {names.SCALAR[w.array.dtype.name]}")
    if n != 1:
        if not have.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = have.shape[1] if have.ndim > 1 else 1
        if channels != n:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{n} and channel size = {channels}.")
    if w.array.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {w.array.ndim}")
    if w.array.ndim:
        to = tuple(n if i == 1 else 1 for i in range(have.ndim)) if have.ndim > 1 else (n,) * have.ndim
        w = shape.reshape(w, to)
    return activation.PreluKernelBackward0().run(x, w)


def rrelu(
    input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False,
    generator: Any = None,
) -> Any:
    """Leaky relu; in training each negative element draws its slope from [lower, upper], else it is their mean."""
    lower, upper = (real_number(bound, DOUBLE) for bound in (lower, upper))
    for side, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {side} bound must be finite, got {bound:g}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    x = floating(input, "rrelu", "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu")
    array = x.array
    noise = np.ones(array.shape, array.dtype)
    if training:
        below = array <= 0
        low, high = (float(array.dtype.type(x)) for x in (lower, upper))
        noise[below] = random.uniform((int(below.sum()),), np.dtype(np.float64), generator=generator) * (high - low) + low
    if inplace:
        return activation.RreluWithNoiseBackward1(noise, lower, upper, training).run_(x)
    return activation.RreluWithNoiseBackward0(noise, lower, upper, training).run(x)


def changing(name: str, function: Function, doc: str) -> Function:
    """The in-place form of a function that has `inplace`."""
    def function_(input: Any, *args: Any, **kwargs: Any) -> Any:
        return function(tensor(input, name), *args, inplace=True, **kwargs)
    function_.__name__ = function_.__qualname__ = name
    function_.__doc__ = doc
    return function_


relu_ = changing("relu_", relu, "In place: relu.")
hardtanh_ = changing("hardtanh_", hardtanh, "In place: hardtanh.")
leaky_relu_ = changing("leaky_relu_", leaky_relu, "In place: leaky_relu.")
elu_ = changing("elu_", elu, "In place: elu.")
selu_ = changing("selu_", selu, "In place: selu.")
celu_ = changing("celu_", celu, "In place: celu.")
rrelu_ = changing("rrelu_", rrelu, "In place: rrelu.")


def implicit_dim(name: str, ndim: int) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def soft(name: str, op: Any, input: Any, dim: Any, dtype: Any, out: Any) -> Any:
    x = tensor(input, name)
    if dim is None:
        dim = implicit_dim(name, x.array.ndim)
    if isinstance(dim, TensorBase) and not dim.array.ndim and dim.array.dtype.kind in "iu":
        dim = int(dim.array)
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)):
        raise TypeError(f"{name}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    at = dim_of(dim, x.array.ndim)
    if name == "softmin":
        x = arith.neg(x)
    if dtype is not None:
        to = dtypes.to_numpy(dtype, name)
        warn_discarded(x.array.dtype, to)
        x = x if x.array.dtype == to else cast(x, to)
    if x.array.dtype.kind not in "fV" and x.array.size:
        head = "log_" if name == "log_softmax" else ""
        last = "lastdim_" if at == max(x.array.ndim - 1, 0) else ""
        raise not_implemented(f"{head}softmax_{last}kernel_impl", x.array.dtype)
    if x.array.dtype.kind not in "fV":
        return finish(wrap(np.empty(x.array.shape, x.array.dtype)), out, name, x)
    node = op(at)
    node.asked = int(dim) % 2**64
    return finish(node.run(x), out, name, x)


def softmax(input: Any, dim: Any = None, dtype: Any = None, *, out: Any = None) -> Any:
    """exp(input) / sum(exp(input)) along dim; dtype: convert first."""
    return soft("softmax", SoftmaxBackward0, input, needed(dim, "softmax"), dtype, out)


def log_softmax(input: Any, dim: Any = None, dtype: Any = None, *, out: Any = None) -> Any:
    """input - log(sum(exp(input))) along dim; dtype: convert first."""
    return soft("log_softmax", LogSoftmaxBackward0, input, needed(dim, "log_softmax"), dtype, out)


def needed(dim: Any, function: str) -> Any:
    if dim is None:
        raise TypeError(f'{function}() missing 1 required positional arguments: "dim"')
    return dim


def F_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """torch.softmax, which chooses a dim with a warning when none is given."""
    return soft("softmax", SoftmaxBackward0, input, dim, dtype, None)


def F_log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """torch.log_softmax, which chooses a dim with a warning when none is given."""
    return soft("log_softmax", LogSoftmaxBackward0, input, dim, dtype, None)


def softmin(input: Any, dim: int | None = None, _stacklevel: Any = 3, dtype: Any = None) -> Any:
    """softmax(-input)"""
    return soft("softmin", SoftmaxBackward0, input, dim, dtype, None)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A sample of the relaxed categorical distribution of logits at temperature tau; hard: one-hot, with the soft gradient.

    Samples sum to 1 along dim.  eps is deprecated and has no effect.

    Jang et al. 2016, Maddison et al. 2016
    """
    x: Any = tensor(logits, "empty_like")
    if x.array.dtype.kind not in "fV":
        raise RuntimeError("Exponential distribution is a continuous probability distribution. dtype must be a floating point "
                           f"but you specified {names.SCALAR[x.array.dtype.name]}")
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -np.log(random.exponential(x.array.shape, x.array.dtype))
    y = ((x + wrap(noise)) / tau).softmax(dim)
    if not hard:
        return y
    best = y.max(dim, keepdim=True)[1]
    return wrap(np.zeros_like(x.array)).scatter_(dim, best, 1.0) - y.detach() + y  # type: ignore[attr-defined]


def probability(p: float, exception: type[Exception] = ValueError) -> None:
    if p < 0.0 or p > 1.0:
        shown = p if exception is ValueError else f"{p:g}"
        raise exception(f"dropout probability has to be between 0 and 1, but got {shown}")
    if p != p:
        raise RuntimeError("dropout probability has to be between 0 and 1, but got nan")


def times(x: TensorBase, noise: Any, inplace: bool) -> Any:
    return arith.mul_(x, wrap(noise)) if inplace else arith.mul(x, wrap(noise))


def drop(x: TensorBase, p: float, sizes: tuple[int, ...], alpha: bool, inplace: bool) -> Any:
    """Times a mask of shape `sizes`, scaled to keep the mean; `alpha`: dropped to selu's lowest value instead of 0."""
    array = x.array
    if array.dtype.kind not in "fV":
        real_only(x, "bernoulli_scalar_cpu_")
        check_cast(promote.default.float_, array.dtype)
    if not alpha:
        if sizes == array.shape:
            return times(x, random.over(array, lambda shape: random.mask(1 - p, shape, array.dtype)), inplace)
        return times(x, random.mask(1 - p, sizes, array.dtype), inplace)
    noise = random.bernoulli(1 - p, sizes, array.dtype)
    low = SELU_ALPHA * SELU_SCALE
    a = 1.0 / math.sqrt((low * low * p + 1) * (1 - p))
    b = ((noise - 1) * (low * a) + low * a * p).astype(array.dtype)
    scaled = times(x, (noise * a).astype(array.dtype), inplace)
    return arith.add_(scaled, wrap(b)) if inplace else arith.add(scaled, wrap(b))


def per_feature(x: TensorBase) -> tuple[int, ...]:
    sizes: tuple[int, ...] = x.array.shape
    if len(sizes) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return sizes[:2] + (1,) * (len(sizes) - 2)


def F_dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """In training, zero each element with probability p and divide the others by 1 - p; else input itself.

    Srivastava et al. 2014; draws from torch.random's default generator.
    """
    probability(p)
    return dropping("dropout", input, p, training, inplace)


def F_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and variance of selu activations.   Klambauer et al. 2017"""
    probability(p)
    return dropping("alpha_dropout", input, p, training, inplace)


def F_feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """alpha_dropout of whole channels (dims 0 and 1 tell them apart)."""
    probability(p)
    return dropping("feature_alpha_dropout", input, p, training, inplace)


def dropping(name: str, input: Any, p: float, train: bool, inplace: bool = False) -> Any:
    """What all dropouts are: of elements or whole features, to zero or to selu's lowest value ("alpha")."""
    if not isinstance(train, bool) or not isinstance(p, (float, int)):
        called = name if name.endswith("_") or not inplace else name + "_"
        (input, p, train), _ = fitted(called, FUNCTIONS[called], (input, p, train), {})
    x = tensor(input, name)
    probability(p, RuntimeError)
    if not train or p == 0 or not x.array.size:
        return input
    if p == 1:
        return times(x, np.zeros((), x.array.dtype), inplace)
    return drop(x, p, per_feature(x) if "feature" in name else x.array.shape, "alpha" in name, inplace)


def dropout(input: Any, p: float, train: bool) -> Any:
    """F.dropout with every argument given."""
    return dropping("dropout", input, p, train)


def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """F.alpha_dropout with every argument given."""
    return dropping("alpha_dropout", input, p, train)


def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """F.feature_alpha_dropout with every argument given."""
    return dropping("feature_alpha_dropout", input, p, train)


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """Dropout of whole channels (dims 0 and 1 tell them apart)."""
    return dropping("feature_dropout", input, p, train)


def dropping_(name: str) -> Function:
    def dropout_(input: Any, p: float, train: bool) -> Any:
        return dropping(name, input, p, train, True)
    dropout_.__name__ = dropout_.__qualname__ = name
    dropout_.__doc__ = f"In place: {name[:-1]}."
    return dropout_


dropout_, alpha_dropout_ = dropping_("dropout_"), dropping_("alpha_dropout_")
feature_dropout_, feature_alpha_dropout_ = dropping_("feature_dropout_"), dropping_("feature_alpha_dropout_")


def channels(x: TensorBase, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    """feature_dropout; an input without a batch gets one for the moment."""
    if batched:
        return dropping("feature_dropout", x, p, training, inplace)
    one = shape.UnsqueezeBackward0(0).run_(x) if inplace else shape.unsqueeze(x, 0)
    y = dropping("feature_dropout", one, p, training, inplace)
    return shape.SqueezeBackward1(0).run_(y) if inplace else shape.squeeze_dim(y, 0)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, L) or (C, L)."""
    x = tensor(input, "dropout1d")
    probability(p)
    ndim = x.array.ndim
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs).")
    return channels(x, p, training, inplace, ndim == 3)


def wrong_dims(name: str, ndim: int, spatial: int) -> None:
    warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
        f"dimension, and an optional batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).")


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, H, W).   Tompson et al. 2015"""
    x = tensor(input, "dropout2d")
    probability(p)
    ndim = x.array.ndim
    if ndim not in (3, 4):
        wrong_dims("dropout2d", ndim, 2)
    elif ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead.")
    return dropping("feature_dropout", x, p, training, inplace)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    x = tensor(input, "dropout3d")
    probability(p)
    ndim = x.array.ndim
    if ndim not in (4, 5):
        wrong_dims("dropout3d", ndim, 3)
    return channels(x, p, training, inplace, ndim == 5)
