"""torch.nn.functional.

Written by `make generate`.
"""
# mypy: disable-error-code="overload-overlap,overload-cannot-match,misc"
# PyTorch's overloads, in PyTorch's order
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from .._tensor import Tensor
from .._tensor.dtypes import dtype as _dtype
from ..random import Generator
from ..types import Number

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor: ...

def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int]) -> Tensor: ...

def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int]) -> Tensor: ...

@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: int | Sequence[int], return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: int | Sequence[int], *, return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int], return_indices: bool = False) -> Any: ...

def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...

@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int], return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int], *, return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int], return_indices: bool = False) -> Any: ...

def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...

@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: int | Sequence[int], return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: int | Sequence[int], *, return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int], return_indices: bool = False) -> Any: ...

def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...

def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor: ...

def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor: ...

def avg_pool1d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor: ...

def avg_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = (0, 0), ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None, *, out: Tensor | None = None,
) -> Tensor: ...

def avg_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = (0, 0, 0), ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None, *, out: Tensor | None = None,
) -> Tensor: ...

def batch_norm(
    input: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05,
    *cudnn_enabled: Any,
) -> Tensor: ...

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor: ...

def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean", pos_weight: Any = None,
) -> Tensor: ...

def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...

def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor: ...

def channel_shuffle(input: Tensor, groups: int) -> Tensor: ...

@overload
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
) -> Tensor: ...
@overload
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: str = "valid", dilation: int | Sequence[int] = 1, groups: int = 1,
) -> Tensor: ...

@overload
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: str = "valid", dilation: int | Sequence[int] = 1, groups: int = 1,
) -> Tensor: ...

@overload
def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: str = "valid", dilation: int | Sequence[int] = 1, groups: int = 1,
) -> Tensor: ...

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor: ...

def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0, groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor: ...

def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0), output_padding: int | Sequence[int] = (0, 0), groups: int = 1,
    dilation: int | Sequence[int] = (1, 1),
) -> Tensor: ...

def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0), output_padding: int | Sequence[int] = (0, 0, 0), groups: int = 1,
    dilation: int | Sequence[int] = (1, 1, 1),
) -> Tensor: ...

def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor: ...

def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor: ...

def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor: ...

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...

def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...

def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...

def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor: ...

def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...

def elu_(input: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Tensor: ...

def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor: ...

def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...

def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor: ...

def fold(
    input: Tensor, output_size: int | Sequence[int], kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, stride: int | Sequence[int] = 1,
) -> Tensor: ...

@overload
def fractional_max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> Tensor: ...
@overload
def fractional_max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, _random_samples: Tensor | None = None, *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...

def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...

@overload
def fractional_max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> Tensor: ...
@overload
def fractional_max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, _random_samples: Tensor | None = None, *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...

def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...

def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-06,
    reduction: str = "mean",
) -> Tensor: ...

def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor: ...

def glu(input: Tensor, dim: int = -1) -> Tensor: ...

def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor: ...

def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor: ...

def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1,
) -> Tensor: ...

def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...

def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor: ...

def hardswish(input: Tensor, inplace: bool = False) -> Tensor: ...

def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor: ...

def hardtanh_(input: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor: ...

def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None,
) -> Tensor: ...

def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-05, *cudnn_enabled: Any,
) -> Tensor: ...

def interpolate(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor: ...

def kl_div(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor: ...

def l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor: ...

def layer_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-05, cudnn_enable: bool = True,
) -> Tensor: ...

def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor: ...

def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor: ...

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor: ...

def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
    weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0, options: Any = None,
) -> Tensor: ...

def local_response_norm(
    input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0,
) -> Tensor: ...

def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None,
) -> Tensor: ...

def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor: ...

def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor: ...

def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor: ...

def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

@overload
def max_pool1d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool1d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False, *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool1d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...

def max_pool1d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...

@overload
def max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False, *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...

def max_pool2d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...

@overload
def max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False, *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...

def max_pool3d_with_indices(
    input: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...

def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, output_size: int | Sequence[int] | None = None,
) -> Tensor: ...

def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, output_size: int | Sequence[int] | None = None,
) -> Tensor: ...

def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0, output_size: int | Sequence[int] | None = None,
) -> Tensor: ...

def mish(input: Tensor, inplace: bool = False) -> Tensor: ...

def mse_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor: ...

def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...

def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def native_channel_shuffle(input: Tensor, groups: int) -> Tensor: ...

def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None,
) -> Tensor: ...

def one_hot(input: Tensor, num_classes: int = -1) -> Tensor: ...

def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor: ...

def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Tensor: ...

def pdist(input: Tensor, p: float = 2.0) -> Tensor: ...

def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor: ...

def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor: ...

def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-08, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def prelu(input: Tensor, weight: Tensor) -> Tensor: ...

def relu(input: Tensor, inplace: bool = False) -> Tensor: ...

def relu6(input: Tensor, inplace: bool = False) -> Tensor: ...

def relu_(input: Tensor) -> Tensor: ...

def rms_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, eps: float | None = None,
) -> Tensor: ...

def rrelu(
    input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False,
    inplace: bool = False, generator: Generator | None = None,
) -> Tensor: ...

def rrelu_(
    input: Tensor, lower: Number = 0.125, upper: Number = 0.3333333333333333, training: bool = False,
    generator: Generator | None = None,
) -> Tensor: ...

def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor: ...

def selu(input: Tensor, inplace: bool = False) -> Tensor: ...

def selu_(input: Tensor) -> Tensor: ...

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def silu(input: Tensor, inplace: bool = False) -> Tensor: ...

def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor: ...

def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor: ...

def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None) -> Tensor: ...

def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None) -> Tensor: ...

def softplus(input: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Tensor | None = None) -> Tensor: ...

def softshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...

def softsign(input: Tensor) -> Tensor: ...

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def tanhshrink(input: Tensor) -> Tensor: ...

def threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False, *, out: Tensor | None = None,
) -> Tensor: ...

def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor: ...

def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-06,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor: ...

def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor: ...

def unfold(
    input: Tensor, kernel_size: int | Sequence[int], dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0, stride: int | Sequence[int] = 1,
) -> Tensor: ...

def upsample(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest", align_corners: bool | None = None,
) -> Tensor: ...

def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None,
) -> Tensor: ...

def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None,
) -> Tensor: ...

