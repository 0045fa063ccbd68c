"""How operations are written in ONNX: of modules, by class; of functions and methods, by name.

Each gets the exporter `e` and the arguments of the call, where tensors are Values; it gives the name of what it wrote.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import result_type, to_numpy


def several(x: Any, n: int) -> list[int]:
    return [int(x)] * n if isinstance(x, (int, float)) else [int(i) for i in x]


def kind(e: Any, x: Any) -> Any:
    return x.example.numpy().dtype


# Arithmetic

def arithmetic(op: str) -> Callable[..., str]:
    def write(e: Any, a: Any, b: Any, *, alpha: Any = 1) -> Any:
        if alpha != 1:
            e.refuse(f"{op} with alpha={alpha}")
        dtype = whole(e, a, b)
        return e.add(op, e.cast(a, dtype), e.cast(b, dtype))
    return write


def whole(e: Any, a: Any, b: Any) -> Any:
    """The dtype in which a and b meet; of sizes, int64."""
    shown = [getattr(x, "example", x) for x in (a, b)]
    if not any(isinstance(x, Tensor) for x in shown):
        return np.dtype(np.int64)
    return np.dtype(to_numpy(result_type(*shown), "torch.onnx.export"))


def divide(e: Any, a: Any, b: Any, *, rounding_mode: Any = None) -> Any:
    dtype = whole(e, a, b)
    if rounding_mode is not None:
        e.refuse(f"div with rounding_mode={rounding_mode!r}")
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float32)
    return e.add("Div", e.cast(a, dtype), e.cast(b, dtype))


def floor_divide(e: Any, a: Any, b: Any) -> Any:
    if any(hasattr(getattr(x, "example", None), "dim") for x in (a, b)):
        e.refuse("floor_divide of tensors")
    return e.add("Div", e.named(a), e.named(b))                      # sizes, which are not negative


def power(e: Any, a: Any, b: Any) -> Any:
    dtype = whole(e, a, b)
    return e.add("Pow", e.cast(a, dtype), e.cast(b, dtype))


def unary(op: str, **attributes: Any) -> Callable[..., str]:
    def write(e: Any, x: Any, inplace: bool = False) -> Any:
        return e.add(op, x, **attributes)
    return write


def same(e: Any, x: Any, *rest: Any, **kwargs: Any) -> Any:
    return e.add("Identity", x)


# Activations

def gelu(e: Any, x: Any, approximate: str = "none") -> Any:
    def c(v: float) -> str:
        return str(e.constant(v, kind(e, x)))
    if approximate == "tanh":
        cube = e.add("Mul", e.add("Mul", x, x), x)
        inner = e.add("Mul", e.add("Add", x, e.add("Mul", cube, c(0.044715))), c(math.sqrt(2 / math.pi)))
        gate = e.add("Tanh", inner)
    else:
        gate = e.add("Erf", e.add("Mul", x, c(math.sqrt(0.5))))
    return e.add("Mul", e.add("Mul", x, c(0.5)), e.add("Add", gate, c(1.0)))


def silu(e: Any, x: Any, inplace: bool = False) -> Any:
    return e.add("Mul", x, e.add("Sigmoid", x))


def hardtanh(e: Any, x: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    return e.add("Clip", x, e.constant(min_val, kind(e, x)), e.constant(max_val, kind(e, x)))


def relu6(e: Any, x: Any, inplace: bool = False) -> Any:
    return hardtanh(e, x, 0.0, 6.0)


def clamp(e: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    return e.add("Clip", x, *(None if v is None else e.constant(v, kind(e, x)) for v in (min, max)))


def softplus(e: Any, x: Any, beta: float = 1, threshold: float = 20) -> Any:
    if beta != 1:
        e.refuse(f"softplus with beta={beta}")
    return e.add("Softplus", x)


def leaky_relu(e: Any, x: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    return e.add("LeakyRelu", x, alpha=float(negative_slope))


def elu(e: Any, x: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    return e.add("Elu", x, alpha=float(alpha))


def prelu(e: Any, x: Any, weight: Any) -> Any:
    if weight.example.numel() > 1 and x.example.dim() > 2:
        weight = e.add("Reshape", weight, [-1] + [1] * (x.example.dim() - 2))
    return e.add("PRelu", x, weight)


def along(op: str) -> Callable[..., str]:
    def write(e: Any, x: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None or dtype is not None:
            e.refuse(f"{op} without dim, or with dtype")
        return e.add(op, x, axis=int(dim))
    return write


# Layers

def linear(e: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    y = e.add("MatMul", x, e.add("Transpose", weight, perm=[1, 0]))
    return y if bias is None else e.add("Add", y, bias)


def convolution(n: int) -> Callable[..., Any]:
    def write(e: Any, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
              groups: int = 1) -> Any:
        if x.example.dim() != n + 2:
            e.refuse("a convolution without a batch")
        where = {"auto_pad": "SAME_UPPER"} if padding == "same" else {
            "pads": [0] * 2 * n if padding == "valid" else several(padding, n) * 2}
        return e.add("Conv", x, weight, bias, strides=several(stride, n), dilations=several(dilation, n), group=int(groups),
                     kernel_shape=list(weight.example.shape[2:]), **where)
    return write


def transposed(n: int) -> Callable[..., Any]:
    def write(e: Any, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
              groups: int = 1, dilation: Any = 1) -> Any:
        return e.add("ConvTranspose", x, weight, bias, strides=several(stride, n), dilations=several(dilation, n),
                     group=int(groups), pads=several(padding, n) * 2, output_padding=several(output_padding, n),
                     kernel_shape=list(weight.example.shape[2:]))
    return write


def max_pool(n: int) -> Callable[..., Any]:
    def write(e: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
              return_indices: bool = False) -> Any:
        if return_indices or ceil_mode or x.example.dim() != n + 2:
            e.refuse("max_pool with return_indices or ceil_mode, or without a batch")
        return e.add("MaxPool", x, kernel_shape=several(kernel_size, n), strides=several(stride or kernel_size, n),
                     pads=several(padding, n) * 2, dilations=several(dilation, n))
    return write


def avg_pool(n: int) -> Callable[..., Any]:
    def write(e: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
              count_include_pad: bool = True, divisor_override: Any = None) -> Any:
        if ceil_mode or divisor_override is not None or x.example.dim() != n + 2:
            e.refuse("avg_pool with ceil_mode or divisor_override, or without a batch")
        return e.add("AveragePool", x, kernel_shape=several(kernel_size, n), strides=several(stride or kernel_size, n),
                     pads=several(padding, n) * 2, count_include_pad=int(count_include_pad))
    return write


def adaptive(n: int) -> Callable[..., Any]:
    def write(e: Any, x: Any, output_size: Any) -> Any:
        sizes = list(x.example.shape[-n:])
        wanted = [size if o is None else int(o) for o, size in zip(
            [output_size] * n if isinstance(output_size, int) else output_size, sizes)]
        if x.example.dim() != n + 2 or any(size % o for size, o in zip(sizes, wanted)):
            e.refuse(f"adaptive pooling of {sizes} to {wanted}, which do not divide, or without a batch")
        steps = [size // o for size, o in zip(sizes, wanted)]
        return e.add("AveragePool", x, kernel_shape=steps, strides=steps)
    return write


def layer_norm(e: Any, x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    scale = weight if weight is not None else e.constant(np.ones(tuple(normalized_shape), kind(e, x)))
    return e.add("LayerNormalization", x, scale, bias, axis=-len(tuple(normalized_shape)), epsilon=float(eps))


def batch_norm(e: Any, x: Any, mean: Any, var: Any, weight: Any = None, bias: Any = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Any:
    if mean is None or training:
        e.refuse("batch_norm by the statistics of the batch")
    n, dtype = len(mean.example), kind(e, x)
    scale = weight if weight is not None else e.constant(np.ones(n, dtype))
    shift = bias if bias is not None else e.constant(np.zeros(n, dtype))
    return e.add("BatchNormalization", x, scale, shift, mean, var, epsilon=float(eps))


def group_norm(e: Any, x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    dtype = kind(e, x)
    parts = e.add("Reshape", x, [0, num_groups, -1])
    y = e.add("InstanceNormalization", parts, e.constant(np.ones(num_groups, dtype)), e.constant(np.zeros(num_groups, dtype)),
              epsilon=float(eps))
    y = e.add("Reshape", y, e.add("Shape", x))
    rest = [-1] + [1] * (x.example.dim() - 2)
    y = y if weight is None else e.add("Mul", y, e.add("Reshape", weight, rest))
    return y if bias is None else e.add("Add", y, e.add("Reshape", bias, rest))


def embedding(e: Any, x: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, *rest: Any) -> Any:
    if max_norm is not None:
        e.refuse("embedding with max_norm")
    return e.add("Gather", weight, x, axis=0)


def dropout(e: Any, x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if training and p:
        e.refuse("dropout with training=True: use nn.Dropout")
    return e.add("Identity", x)


# Shapes and reductions

def sizes_of(args: tuple[Any, ...]) -> Any:
    return args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args


def reshape(e: Any, x: Any, *shape: Any) -> Any:
    return e.add("Reshape", x, e.sizes(sizes_of(shape)), allowzero=int(0 in sizes_of(shape)))


def flatten(e: Any, x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    n = x.example.dim()
    start, end = start_dim % n, end_dim % n
    if start > 1:
        e.refuse(f"flatten from dim {start}")
    return e.add("Reshape", x, [0] * start + [-1] + list(x.example.shape[end + 1:]))


def transpose(e: Any, x: Any, dim0: int, dim1: int) -> Any:
    order = list(range(x.example.dim()))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return e.add("Transpose", x, perm=order)


def t(e: Any, x: Any) -> Any:
    return e.add("Transpose", x, perm=list(range(x.example.dim()))[::-1])


def permute(e: Any, x: Any, *dims: Any) -> Any:
    n = x.example.dim()
    return e.add("Transpose", x, perm=[int(d) % n for d in sizes_of(dims)])


def unsqueeze(e: Any, x: Any, dim: int) -> Any:
    return e.add("Unsqueeze", x, [dim])


def squeeze(e: Any, x: Any, *dims: Any) -> Any:
    if not dims:
        e.refuse("squeeze() of all dims")
    gone = [d for d in (sizes_of(dims)) if x.example.shape[d] == 1]
    return e.add("Squeeze", x, gone) if gone else e.add("Identity", x)


def cat(e: Any, tensors: Any, dim: int = 0) -> Any:
    return e.add("Concat", *tensors, axis=int(dim))


def stack(e: Any, tensors: Any, dim: int = 0) -> Any:
    return e.add("Concat", *(e.add("Unsqueeze", x, [dim]) for x in tensors), axis=int(dim))


def chunk(e: Any, x: Any, chunks: int, dim: int = 0) -> Any:
    found = [len_of(part, dim) for part in x.example.chunk(chunks, dim)]
    return [e.add("Identity", x)] if len(found) == 1 else e.add("Split", x, found, outputs=len(found), axis=int(dim))


def split(e: Any, x: Any, split_size_or_sections: Any, dim: int = 0) -> Any:
    found = [len_of(part, dim) for part in x.example.split(split_size_or_sections, dim)]
    return [e.add("Identity", x)] if len(found) == 1 else e.add("Split", x, found, outputs=len(found), axis=int(dim))


def len_of(x: Any, dim: int) -> int:
    return int(x.shape[dim])


def reduction(op: str) -> Callable[..., str]:
    def write(e: Any, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        if dtype is not None or kind(e, x).kind != "f":
            e.refuse(f"{op} with dtype, or of what is no floating-point tensor")
        dims = [] if dim is None else [[dim] if isinstance(dim, int) else list(dim)]
        return e.add(op, x, *dims, keepdims=int(keepdim))
    return write


def size(e: Any, x: Any, dim: Any = None) -> Any:
    if not e.dynamic:
        return x.example.size() if dim is None else x.example.size(dim)
    if dim is None:
        return [size(e, x, i) for i in range(x.example.dim())]
    return e.add("Gather", e.add("Shape", x), e.constant(dim), axis=0)


def attribute(e: Any, x: Any, name: str) -> Any:
    if name == "shape":
        return size(e, x)
    if name in ("T", "mT"):
        return t(e, x) if name == "T" else transpose(e, x, -1, -2)
    return getattr(x.example, name)


def item(e: Any, x: Any, where: Any) -> Any:
    if not hasattr(x, "example"):
        return x[where]
    where = where if isinstance(where, tuple) else (where,)
    for step in where:
        if not isinstance(step, (int, slice)) or (isinstance(step, slice) and not all(
                isinstance(v, (int, type(None))) for v in (step.start, step.stop, step.step))):
            e.refuse(f"indexing by {step!r}")
    gone = [i for i, step in enumerate(where) if isinstance(step, int)]
    y = x
    for i, step in enumerate(where):
        if isinstance(step, int):
            y = e.add("Slice", y, [step], [step + 1 if step != -1 else 2**62], [i])
        elif step != slice(None):
            y = e.add("Slice", y, [step.start or 0], [2**62 if step.stop is None else step.stop], [i], [step.step or 1])
    return e.add("Squeeze", y, gone) if gone else e.add("Identity", y)


def attend(e: Any, q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
           scale: Any = None) -> Any:
    if attn_mask is not None or is_causal or dropout_p:
        e.refuse("scaled_dot_product_attention with a mask, is_causal or dropout")
    n = k.example.dim()
    turned = e.add("Transpose", k, perm=[*range(n - 2), n - 1, n - 2])
    factor = e.constant(1 / math.sqrt(q.example.shape[-1]) if scale is None else scale, kind(e, q))
    return e.add("MatMul", e.add("Softmax", e.add("Mul", e.add("MatMul", q, turned), factor), axis=-1), v)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": arithmetic("Add"), "iadd": arithmetic("Add"), "radd": arithmetic("Add"), "sub": arithmetic("Sub"),
    "mul": arithmetic("Mul"), "imul": arithmetic("Mul"), "div": divide, "truediv": divide, "floordiv": floor_divide, "pow": power,
    "maximum": arithmetic("Max"), "minimum": arithmetic("Min"), "matmul": arithmetic("MatMul"), "bmm": arithmetic("MatMul"),
    "mm": arithmetic("MatMul"), "neg": unary("Neg"), "exp": unary("Exp"), "log": unary("Log"), "sqrt": unary("Sqrt"),
    "abs": unary("Abs"), "erf": unary("Erf"), "sin": unary("Sin"), "cos": unary("Cos"), "tanh": unary("Tanh"),
    "sigmoid": unary("Sigmoid"), "relu": unary("Relu"), "softsign": unary("Softsign"), "mish": unary("Mish"),
    "hardsigmoid": unary("HardSigmoid", alpha=1 / 6), "hardswish": unary("HardSwish"), "selu": unary("Selu"), "silu": silu,
    "gelu": gelu, "hardtanh": hardtanh, "relu6": relu6, "clamp": clamp, "softplus": softplus, "leaky_relu": leaky_relu,
    "elu": elu, "prelu": prelu, "softmax": along("Softmax"), "log_softmax": along("LogSoftmax"), "linear": linear,
    "conv1d": convolution(1), "conv2d": convolution(2), "conv3d": convolution(3), "max_pool1d": max_pool(1),
    "max_pool2d": max_pool(2), "max_pool3d": max_pool(3), "avg_pool1d": avg_pool(1), "avg_pool2d": avg_pool(2),
    "avg_pool3d": avg_pool(3), "adaptive_avg_pool1d": adaptive(1), "adaptive_avg_pool2d": adaptive(2),
    "layer_norm": layer_norm, "batch_norm": batch_norm, "group_norm": group_norm, "embedding": embedding, "dropout": dropout,
    "reshape": reshape, "view": reshape, "flatten": flatten, "transpose": transpose, "permute": permute, "t": t,
    "unsqueeze": unsqueeze, "squeeze": squeeze, "cat": cat, "concat": cat, "stack": stack, "chunk": chunk, "split": split,
    "sum": reduction("ReduceSum"), "mean": reduction("ReduceMean"), "amax": reduction("ReduceMax"),
    "amin": reduction("ReduceMin"), "size": size, "getattr": attribute, "getitem": item, "contiguous": same, "clone": same,
    "detach": same, "scaled_dot_product_attention": attend,
}


def plain(name: str, *fields: str) -> Callable[..., Any]:
    """A module without parameters, as a function of its attributes."""
    return lambda e, m, x: FUNCTIONS[name](e, x, *(getattr(m, field) for field in fields))


def convolving(n: int) -> Callable[..., Any]:
    def write(e: Any, m: Any, x: Any) -> Any:
        if m.padding_mode != "zeros":
            e.refuse(f"a convolution with padding_mode={m.padding_mode!r}")
        return convolution(n)(e, x, e.own("weight"), e.own("bias"), m.stride, m.padding, m.dilation, m.groups)
    return write


def deconvolving(n: int) -> Callable[..., Any]:
    return lambda e, m, x: transposed(n)(
        e, x, e.own("weight"), e.own("bias"), m.stride, m.padding, m.output_padding, m.groups, m.dilation)


def normed(e: Any, m: Any, x: Any) -> Any:
    return batch_norm(e, x, e.own("running_mean"), e.own("running_var"), e.own("weight"), e.own("bias"), False, 0.0, m.eps)


MODULES: dict[str, Callable[..., Any]] = {
    **{f"{kind}{n}d": make(n) for n in (1, 2, 3) for kind, make in (("Conv", convolving), ("ConvTranspose", deconvolving))},
    **{f"BatchNorm{n}d": normed for n in (1, 2, 3)},
    **{f"MaxPool{n}d": plain(f"max_pool{n}d", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
       for n in (1, 2, 3)},
    **{f"AvgPool{n}d": plain(f"avg_pool{n}d", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
       for n in (1, 2, 3)},
    **{f"AdaptiveAvgPool{n}d": plain(f"adaptive_avg_pool{n}d", "output_size") for n in (1, 2)},
    **{f"Dropout{n}": lambda e, m, x: same(e, x) for n in ("", "1d", "2d", "3d")},
    "Linear": lambda e, m, x: linear(e, x, e.own("weight"), e.own("bias")),
    "LayerNorm": lambda e, m, x: layer_norm(e, x, m.normalized_shape, e.own("weight"), e.own("bias"), m.eps),
    "GroupNorm": lambda e, m, x: group_norm(e, x, m.num_groups, e.own("weight"), e.own("bias"), m.eps),
    "Embedding": lambda e, m, x: embedding(e, x, e.own("weight"), None, m.max_norm),
    "PReLU": lambda e, m, x: prelu(e, x, e.own("weight")),
    "Identity": lambda e, m, x: same(e, x), "Flatten": plain("flatten", "start_dim", "end_dim"),
    "ReLU": plain("relu"), "Sigmoid": plain("sigmoid"), "Tanh": plain("tanh"), "SiLU": plain("silu"), "Mish": plain("mish"),
    "Hardswish": plain("hardswish"), "Hardsigmoid": plain("hardsigmoid"), "SELU": plain("selu"), "Softsign": plain("softsign"),
    "ReLU6": plain("relu6"), "GELU": plain("gelu", "approximate"), "ELU": plain("elu", "alpha"),
    "LeakyReLU": plain("leaky_relu", "negative_slope"), "Hardtanh": plain("hardtanh", "min_val", "max_val"),
    "Softplus": plain("softplus", "beta", "threshold"), "Softmax": plain("softmax", "dim"),
    "LogSoftmax": plain("log_softmax", "dim"),
}
