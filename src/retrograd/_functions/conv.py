"""Convolutions: torch.conv1d, F.conv_transpose2d, F.unfold, ...

transposed   True: the transposed convolution, with a weight (in, out / groups, ...)
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.op import recording
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast
from .._rules import cast, conv, pad, shape
from .._rules.conv import Geometry
from .arguments import dim_of, tensor
from .arguments import kernel as kernels
from .fromdata import check_room


def several(value: Any, dims: int, name: str) -> tuple[int, ...]:
    """One number for every dim, or one each."""
    found = (int(value),) if isinstance(value, (int, np.integer)) else tuple(int(v) for v in value)
    if len(found) == 1:
        return found * dims
    if len(found) != dims:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution "
            "dimensions, "
            f"but got {name}={list(found)}")
    return found


def batched(x: Any, dims: int, function: str) -> Any:
    """x with a batch dim, and whether it had one."""
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {function}, but got input of size: "
            f"{list(x.shape)}")
    return (x, True) if x.ndim == dims + 2 else (shape.unsqueeze(x, 0), False)


def run(function: str, dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
        groups: int) -> Any:
    x, w = tensor(input, function), tensor(weight, function, "weight", 2)
    if bias is not None and bias.array.dtype != x.array.dtype and not isinstance(padding, str):
        raise RuntimeError(f"Input type ({names.C[x.array.dtype.name]}) and bias type ({names.C[bias.array.dtype.name]}) "
                           "should be the same")
    x, has_batch = batched(x, dims, function)
    kernel_dims = w.ndim - 2
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        if kernel_dims != dims and w.ndim > 2 and padding == "valid":
            check(x, w, bias, (1,), (0,), (1,), False, (0,), groups)
        elif kernel_dims != dims and w.ndim > 2:
            raise RuntimeError(f"Expected {w.ndim}-dimensional input for {w.ndim}-dimensional weight{list(w.shape)}, but got "
                               f"{x.ndim}-dimensional input of size {list(x.shape)} instead")
        stride, dilation = several(stride, dims, "stride"), several(dilation, dims, "dilation")
        if padding == "same":
            if any(s != 1 for s in stride):
                raise RuntimeError("padding='same' is not supported for strided convolutions")
            total = [d * (k - 1) for d, k in zip(dilation, w.array.shape[2:])]
            odd = [n % 2 for n in total]
            if any(odd):                        # the extra zero goes to the end
                x = pad.constant(x, tuple((0, n) for n in odd), 0)
            padding = tuple(n // 2 for n in total)
        else:
            padding = (0,) * dims
    elif kernel_dims != dims and w.ndim > 2:    # weight and input differ, which PyTorch finds after these
        if groups <= 0:
            raise RuntimeError("non-positive groups is not supported")
        stride, padding, dilation = (
            several((v,) * dims if isinstance(v, int) else v, kernel_dims, n)
            for v, n in ((stride, "stride"), (padding, "padding"), (dilation, "dilation")))
        check(x, w, bias, stride, padding, dilation, False, (0,) * kernel_dims, groups)
    stride = several(stride, dims, "stride")
    padding = several(padding, dims, "padding")
    dilation = several(dilation, dims, "dilation")
    y = convolution(x, w, bias, stride, padding, dilation, False, (0,) * dims, groups)
    return y if has_batch else shape.squeeze_dim(y, 0)


def convolution(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int) -> Any:
    """The op behind every convolution; all sizes given per spatial dim."""
    x, w, b = input, weight, bias
    dims = w.ndim - 2
    stride, padding, dilation = (tuple(v) for v in (stride, padding, dilation))
    check(x, w, b, stride, padding, dilation, transposed, tuple(output_padding), groups)
    if w.array.dtype != x.array.dtype:          # x has no elements, and in PyTorch w is a number then
        common = promote.result_dtype([x.array, np.zeros((), w.array.dtype)])
        x, w = fitting(x, common), fitting(w, common)
    if b is not None:
        b = fitting(b, x.array.dtype)
    if not transposed:
        if max(stride) >= HUGE:         # one window, whatever the stride
            stride = tuple(min(s, HUGE) for s in stride)
        geo = Geometry(stride, padding, dilation, groups, tuple(x.array.shape[2:]), tuple(w.array.shape[2:]))
        return conv.convolution(x, w, b, geo, False, (0,) * dims)
    extra = tuple(output_padding)
    inside = result_size(x, w, stride, padding, dilation, extra)
    if max(inside) >= HUGE:
        check_room((x.array.shape[0], w.array.shape[1] * groups, *inside), x.array.dtype)
    geo = Geometry(stride, padding, dilation, groups, inside, tuple(w.array.shape[2:]), tuple(x.array.shape[2:]))
    return conv.convolution(x, w, b, geo, True, extra)


def derivative(input: Any, weight: Any, g: Any, stride: Any, padding: Any, dilation: Any, groups: int, dims: int) -> Any:
    """The gradient of a convolution by the one of input and weight of which only the shape is given, g that of the result."""
    of_input = not isinstance(input, TensorBase)
    y = tensor(g, "convolution_backward", "grad_output")
    x, w = (wrap(np.broadcast_to(np.zeros((), y.array.dtype), v)) if not isinstance(v, TensorBase) else v
            for v in (input, weight))
    steps, around, apart = (several(v, dims, n) for v, n in ((stride, "stride"), (padding, "padding"), (dilation, "dilation")))
    check(x, w, None, steps, around, apart, False, (0,) * dims, groups)
    geo = Geometry(steps, around, apart, groups, tuple(x.array.shape[2:]), tuple(w.array.shape[2:]))
    want = (x.array.shape[0], w.array.shape[0], *geo.out)
    if tuple(y.array.shape) != want:
        raise RuntimeError(f"Expected grad_output of shape {list(want)}, but got {list(y.shape)}")
    return conv.ConvolutionX(geo).run(y, w) if of_input else conv.ConvolutionW(geo).run(y, x)


def fitting(x: Any, dtype: Any) -> Any:
    return x if x.array.dtype == dtype else cast.cast(x, dtype)


def across(sizes: Any) -> str:
    return "(" + " x ".join(str(n) for n in sizes) + ")"


AXES = {1: ("width",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def check(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, extra: Any,
          groups: int) -> None:
    for name, values in (("padding", padding), ("output_padding", extra)):
        for v in values:                    # a loop: a quarter of what any() takes
            if v < 0:
                raise RuntimeError(f"negative {name} is not supported")
    for v in stride:
        if v <= 0:
            raise RuntimeError("non-positive stride is not supported")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    for v in dilation:
        if v < 0:
            raise RuntimeError("dilation should be greater than zero")
    if max(*stride, *padding, *dilation, 0) >= HUGE:
        check_huge(x, stride, padding, dilation, transposed)
    sizes = list(w.shape)
    if len(sizes) < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if len(sizes) != x.ndim:
        raise RuntimeError(f"Expected {len(sizes)}-dimensional input for {len(sizes)}-dimensional weight {sizes}, but got "
                           f"{x.ndim}-dimensional input of size {list(x.shape)} instead")
    if sizes[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{sizes} instead")
    if sizes[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            "size "
            f"[{sizes}] instead")
    channels = sizes[0] if transposed else sizes[1] * groups
    how = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
    if x.shape[1] != channels:
        raise RuntimeError(
            f"Given {how}, weight of size {sizes}, expected input{list(x.shape)} to have {channels} channels, but got "
            f"{x.shape[1]} channels instead")
    wanted = sizes[1] * groups if transposed else sizes[0]
    if b is not None and (b.ndim != 1 or b.shape[0] != wanted):
        head = f"Given transposed={int(transposed)}, " if transposed else "Given "
        raise RuntimeError(
            f"{head}weight of size {sizes}, expected bias to be 1-dimensional with {wanted} elements, but got bias of "
            f"size {list(b.shape)} instead")
    if not transposed:
        have = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, sizes[2:], strict=True)]
        if any(h < r for h, r in zip(have, reach, strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: {across(have)}. Kernel size: {across(reach)}. Kernel size "
                "can't be greater than actual input size")
    if x.array.size == 0:
        if x.array.shape[0] and x.array.shape[1]:
            flat = [*x.shape[:2], 1, *x.shape[2:]] if x.ndim == 3 else list(x.shape)
            raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {flat}")
        if w.array.size == 0 and x.array.shape[1]:
            raise IndexError("select(): index 0 out of range for tensor of size [0] at dimension 0")
        return
    if any(k <= 0 for k in sizes[2:]) and 0 not in x.array.shape[2:] and not (transposed and len(sizes) == 5):
        kernel = ([1] if len(sizes) == 3 else []) + sizes[2:]
        raise RuntimeError("kernel size should be greater than zero, but got" + (
            f" {kernel}" if not transposed and any(d != 1 for d in dilation)
            else f": {' x '.join(map(str, kernel))} (TxHxW)" if len(sizes) == 5
            else f" kernel_height: {kernel[0]} kernel_width: {kernel[1]}"))
    if 0 in dilation:
        full = (1, *dilation) if len(dilation) == 1 else tuple(dilation)
        if not transposed:
            raise RuntimeError(f"dilation should be greater than zero, but got {list(full)}")
        raise RuntimeError("dilation should be greater than zero, but got "
                           + ", ".join(f"dilation_{n}: {v}" for n, v in zip(AXES[len(full)], full, strict=True)))
    if transposed:
        if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
            axes = AXES[len(extra)] if len(extra) > 1 else ("height", "width")
            words = []
            for label, values, fill in (("output_padding", extra, 0), ("stride", stride, 1), ("dilation", dilation, 1)):
                full = ((fill,) if len(extra) == 1 else ()) + tuple(values)
                words += [f"{label}_{n}: {v}" for n, v in zip(axes, full, strict=True)]
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got " + " ".join(words))
    if transposed and 0 in sizes:
        if len(sizes) == 5:
            raise RuntimeError(
                "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) tensor expected for "
                f"weight, but got: {[sizes[0] // groups, *sizes[1:]]}")
        sizes[0] //= groups
        flat = [*sizes[:2], 1, *sizes[2:]] if len(sizes) == 3 else sizes
        raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {flat}")
    if transposed:
        result_size(x, w, stride, padding, dilation, extra)
        kernels(f"slow_conv_transpose{max(len(sizes) - 2, 2)}d_out_cpu", x, "b")
    elif x.array.dtype.kind == "b":
        kernels("slow_conv_dilated<>" if any(d != 1 for d in dilation) else "compute_columns3d" if len(sizes) == 5
                else "slow_conv2d_cpu", x, "b")
    check_dtypes(x, w, b if transposed and (len(sizes) == 5 or x.array.dtype.kind == "c") else None)
    if b is not None and b.array.dtype.kind == "c":
        check_cast(b.array.dtype, x.array.dtype)


def result_size(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, extra: Any) -> tuple[int, ...]:
    """The spatial sizes of what a transposed convolution gives; RuntimeError where it would have no elements."""
    inside = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, s, p, d, k, e in zip(x.array.shape[2:], stride, padding, dilation, w.array.shape[2:], extra, strict=True))
    if min(inside) < (x.array.shape[0] > 0):            # nothing may become nothing
        flat = (1,) if len(inside) == 1 else ()
        raise RuntimeError(
            f"Given input size per channel: {across(flat + tuple(x.shape[2:]))}. Calculated output size per channel: "
            f"{across(flat + inside)}. Output size is too small")
    return inside


def check_dtypes(x: Any, w: Any, b: Any) -> None:
    """RuntimeError for weights of another dtype than an input that has elements."""
    for name, other in (("weight", w), ("bias", b)):
        if other is not None and x.array.dtype != other.array.dtype and x.array.size:
            if x.array.dtype.kind == "c":
                raise RuntimeError(f"Input type ({names.SHOWN[x.array.dtype.name]}) and {name} type "
                                   f"({names.SHOWN[other.array.dtype.name]}) should be the same")
            raise RuntimeError(
                f"expected scalar type {names.SCALAR[x.array.dtype.name]} but found {names.SCALAR[other.array.dtype.name]}")


HUGE = 2**31                            # no memory has room for so many; C's ints end there


def check_huge(x: Any, stride: Any, padding: Any, dilation: Any, transposed: bool) -> None:
    """PyTorch's errors where the sizes have no room."""
    if max(*stride, *padding, *dilation) >= 2**63:
        raise ValueError("Overflow when unpacking long long")
    for i, p in enumerate(padding):
        if p >= 2**62:
            raise RuntimeError(f"Given padding={p} at dimension {i} , expected padding to be at most 4611686018427387903")
    if not transposed:
        check_room((*x.array.shape[:2], *(n + 2 * p for n, p in zip(x.array.shape[2:], padding, strict=True))), x.array.dtype)
        return
    for name, values in (("stride", stride), ("dilation", dilation)):
        if max(values) >= HUGE:
            full = (1, *values) if len(values) == 1 else tuple(values)
            raise RuntimeError(f"{name} should be greater than zero, but got " + " ".join(
                f"{name}_{n}: {(v + HUGE) % (2 * HUGE) - HUGE}" for n, v in zip(AXES[len(full)], full, strict=True)))


def conv1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:
    """Cross-correlation of input (N, C, L) or (C, L) with weight (O, C/groups, K), plus bias (O,) -> (N, O, L').

    L' = (L + 2 padding - dilation (K - 1) - 1) // stride + 1;   padding: zeros at both ends, or "valid", or "same": L' = L.
    """
    return run("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:
    """Cross-correlation of input (N, C, H, W) or (C, H, W) with weight (O, C/groups, KH, KW) -> (N, O, H', W').

    Numbers are for both dims, pairs (down, right); sizes and padding as in conv1d.
    """
    return run("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:
    """Cross-correlation of input (N, C, D, H, W) or (C, D, H, W) with weight (O, C/groups, KD, KH, KW) -> (N, O, D', H', W').

    Sizes and padding as in conv1d.
    """
    return run("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def run_transposed(function: str, dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, extra: Any,
                   groups: int, dilation: Any) -> Any:
    x, has_batch = batched(tensor(input, function), dims, function)
    w = tensor(weight, function, "weight", 2)
    if isinstance(padding, str):
        raise TypeError(f"{function}(): argument 'padding' must be tuple of ints, not str")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    stride, padding, dilation, extra = (
        several((v,) * dims if isinstance(v, int) else v, max(w.ndim - 2, 1), n)
        for v, n in ((stride, "stride"), (padding, "padding"), (dilation, "dilation"), (extra, "output_padding")))
    y = convolution(x, w, bias, stride, padding, dilation, True, extra, groups)
    return y if has_batch else shape.squeeze_dim(y, 0)


def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Any:
    """The adjoint of conv1d in its input: input (N, C, L), weight (C, O/groups, K) -> (N, O, L').

    L' = (L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1
    """
    return run_transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Any:
    """The adjoint of conv2d in its input: input (N, C, H, W), weight (C, O/groups, KH, KW); sizes as in conv_transpose1d."""
    return run_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Any:
    """The adjoint of conv3d in its input: input (N, C, D, H, W), weight (C, O/groups, KD, KH, KW); sizes as in
    conv_transpose1d."""
    return run_transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# Sliding blocks

def pair(value: Any, name: str) -> tuple[int, int]:
    found = (int(value), int(value)) if isinstance(value, (int, np.integer)) else tuple(int(v) for v in value)
    if len(found) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(found)}")
    return found


def check_positive(**sizes: Any) -> None:
    for name, values in sizes.items():
        if any(v <= 0 for v in values):
            what = "kernel size" if name == "kernel" else name
            raise RuntimeError(
                f"{what} should be greater than zero, but got {name}_height: {values[0]} {name}_width: {values[1]}")


def shown(sizes: Any) -> str:
    return "(" + ", ".join(str(n) for n in sizes) + ")"


def F_unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Sliding blocks as columns: (N, C, H, W) -> (N, C * KH * KW, number of blocks)."""
    x = tensor(input, "im2col")
    if recording(x) and x.ndim < 2:                 # its derivative asks for the image's size first
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)" if x.ndim
                         else "Dimension specified as -1 but tensor has no dimensions")
    kernel, dilation = pair(kernel_size, "kernel_size"), pair(dilation, "dilation")
    padding, stride = pair(padding, "padding"), pair(stride, "stride")
    check_positive(kernel=kernel, dilation=dilation)
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")
    check_positive(stride=stride)
    if x.ndim < 3:
        if not x.ndim:
            raise IndexError("Dimension specified as 1 but tensor has no dimensions")
        dim_of(x.ndim, x.ndim)                      # of those that are asked for, the first that is not there
    if x.ndim > 4 or 0 in x.array.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            "input, but "
            f"got: {list(x.shape)}")
    inside = tuple(x.array.shape[-2:])
    geo = Geometry(stride, padding, dilation, 1, inside, kernel)
    if min(geo.out) < 1:
        raise RuntimeError(
            f"Given input with spatial size {shown(inside)}, kernel_size={shown(kernel)}, dilation={shown(dilation)}, "
            f"padding={shown(padding)}, calculated shape of the array of sliding blocks as {shown(geo.out)}, but its "
            "components must be at least one.")
    kernels("im2col_out_cpu", x, "iu")
    return conv.unfold(x, geo)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Columns of blocks added up where they lie: (N, C * KH * KW, number of blocks) -> (N, C, *output_size)."""
    x = tensor(input, "col2im")
    inside, kernel = pair(output_size, "output_size"), pair(kernel_size, "kernel_size")
    dilation = pair(dilation, "dilation")
    padding, stride = pair(padding, "padding"), pair(stride, "stride")
    check_positive(kernel=kernel, dilation=dilation, stride=stride)
    if x.ndim not in (2, 3) or 0 in x.array.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            "input, "
            f"but got: {list(x.shape)}")
    at = x.ndim - 2
    if x.shape[at] % (kernel[0] * kernel[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            "input.size(1)="
            f"{x.shape[at]} and kernel_size={shown(kernel)}.")
    geo = Geometry(stride, padding, dilation, 1, inside, kernel)
    h, w = geo.out
    if x.shape[at + 1] != h * w or min(geo.out) < 1:
        raise RuntimeError(
            f"Given output_size={shown(inside)}, kernel_size={shown(kernel)}, dilation={shown(dilation)}, "
            f"padding={shown(padding)}, stride={shown(stride)}, expected size of input's dimension 2 to match the "
            "calculated "
            f"number of sliding blocks {h} * {w} = {h * w}, but got input.size(2)={x.shape[at + 1]}.")
    kernels("col2im_out_cpu", x, "iu")
    return conv.fold(x, geo)
