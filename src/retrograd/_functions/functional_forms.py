"""torch.nn.functional in PyTorch is Python around functions in C, whose argument parser finds what is wrong: which, with what.

A row says, for a function, what Python asks of its arguments first (`input.size`: an attribute that only a tensor has), and
the call that follows: names of our parameters, `pair x` (one or two), numbers for what is made inside.  `inplace` after a
call: the name ends in _ then.
"""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from .._engine.tensor import TensorBase
from .forms import FUNCTIONS
from .parsing import Composed, fitted

INNER = {
    "max_pool1d": "max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool2d": "max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool3d": "max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool1d_with_indices": "max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool2d_with_indices": "max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "max_pool3d_with_indices": "max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)",
    "lp_pool1d": "avg_pool1d(input, kernel_size, given stride, 0, ceil_mode)",
    "lp_pool2d": "avg_pool2d(input, kernel_size, given stride, 0, ceil_mode)",
    "lp_pool3d": "avg_pool3d(input, kernel_size, given stride, 0, ceil_mode)",
    "instance_norm": "instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)",
    "adaptive_max_pool1d": "adaptive_max_pool1d(input, output_size)",
    "adaptive_max_pool2d": "input.size adaptive_max_pool2d(input, filled output_size)",
    "adaptive_max_pool3d": "input.size adaptive_max_pool3d(input, filled output_size)",
    "adaptive_max_pool1d_with_indices": "adaptive_max_pool1d(input, output_size)",
    "adaptive_max_pool2d_with_indices": "input.size adaptive_max_pool2d(input, filled output_size)",
    "adaptive_max_pool3d_with_indices": "input.size adaptive_max_pool3d(input, filled output_size)",
    "adaptive_avg_pool2d": "input.size adaptive_avg_pool2d(input, filled output_size)",
    "adaptive_avg_pool3d": "input.size adaptive_avg_pool3d(input, filled output_size)",
    "dropout1d": "input.dim", "dropout2d": "input.dim", "dropout3d": "input.dim",
    "threshold": "threshold(input, threshold, value)inplace",
    "glu": "glu(input, dim)",
    "hardtanh": "hardtanh(input, min_val, max_val)inplace",
    "relu6": "relu6(input)inplace",
    "elu": "elu(input, alpha)inplace",
    "selu": "selu(input)inplace",
    "celu": "celu(input, alpha)inplace",
    "leaky_relu": "leaky_relu(input, negative_slope)inplace",
    "rrelu": "rrelu(input, lower, upper, training)inplace",
    "hardsigmoid": "hardsigmoid(input)inplace",
    "silu": "silu(input)inplace",
    "mish": "mish(input)inplace",
    "hardswish": "hardswish(input)inplace",
    "batch_norm": "batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)",
    "layer_norm": "layer_norm(input, normalized_shape, weight, bias, eps, True)",
    "rms_norm": "rms_norm(input, normalized_shape, weight, eps)",
    "group_norm": "input.dim group_norm(input, num_groups, weight, bias, eps, True)",
    "ctc_loss": "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, 1, zero_infinity)",
    "nll_loss": "nll_loss_nd(input, target, weight, 1, ignore_index)",
    "poisson_nll_loss": "poisson_nll_loss(input, target, log_input, full, eps, 1)",
    "kl_div": "kl_div(input, target, 1, log_target=log_target)",
    "cross_entropy": "cross_entropy_loss(input, target, weight, 1, ignore_index, label_smoothing)",
    "binary_cross_entropy": "target.size input.size binary_cross_entropy(input, target, weight, 1)",
    "binary_cross_entropy_with_logits":
        "target.size input.size binary_cross_entropy_with_logits(input, target, weight, pos_weight, 1)",
    "smooth_l1_loss": "target.size input.size smooth_l1_loss(input, target, 1, beta)",
    "huber_loss": "target.size input.size huber_loss(input, target, 1, delta)",
    "l1_loss": "target.size input.size l1_loss(input, target, 1)",
    "mse_loss": "target.size input.size mse_loss(input, target, 1)",
    "margin_ranking_loss": "input1.dim input2.dim target.dim margin_ranking_loss(input1, input2, target, margin, 1)",
    "hinge_embedding_loss": "hinge_embedding_loss(input, target, margin, 1)",
    "multilabel_margin_loss": "multilabel_margin_loss(input, target, 1)",
    "soft_margin_loss": "soft_margin_loss(input, target, 1)",
    "cosine_embedding_loss": "cosine_embedding_loss(input1, input2, target, margin, 1)",
    "multi_margin_loss": "multi_margin_loss(input, target, 1, margin, weight, 1)",
    "triplet_margin_loss": "triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, 1)",
    "pad": "pad(input, pad, mode, value)",
    "unfold": "im2col(input, pair kernel_size, pair dilation, pair padding, pair stride)",
    "fold": "col2im(input, pair output_size, pair kernel_size, pair dilation, pair padding, pair stride)",
    "affine_grid": "affine_grid_generator(theta, size, True)",
    "interpolate": "input.dim",
    "softmax": "input.softmax", "log_softmax": "input.log_softmax", "tanh": "input.tanh", "sigmoid": "input.sigmoid",
    "softsign": "input.abs", "tanhshrink": "input.tanh", "normalize": "input.norm",
    "local_response_norm": "input.dim",
    "embedding": "embedding(weight, input, index padding_idx, scale_grad_by_freq, sparse)",
    "embedding_bag": "embedding_bag(weight, input, input, scale_grad_by_freq, 1, sparse, per_sample_weights, "
                     "include_last_offset, padding_idx)",
    "grid_sample": "grid_sampler(input, grid, 0, 0, flag align_corners)",
}


# Functions in C that functions of ours call, which fit the arguments themselves.
OWN = {"fractional_max_pool2d", "fractional_max_pool3d"}


def needs() -> set[str]:
    """The functions in C that these call."""
    return OWN | {m[1] for text in INNER.values() if (m := re.search(r"(\w+)\(", text))}


class Call:
    """A row."""

    def __init__(self, name: str, f: Callable[..., Any]) -> None:
        text = INNER[name]
        self.asked = re.findall(r"(\w+)\.(\w+)(?![\w(])", text)
        made = re.search(r"(\w+)\((.*)\)(inplace)?$", text)
        self.name = made[1] if made else ""
        self.args = made[2].split(", ") if made else []
        self.inplace = bool(made and made[3])
        self.signature = inspect.signature(f)

    def fitted(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments with their values as the function takes them; the errors of PyTorch's Python and C."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            return args, kwargs                             # the call itself says what is wrong
        given = dict(bound.arguments)
        bound.apply_defaults()
        values = bound.arguments
        for name, attribute in self.asked:
            if not isinstance(values[name], TensorBase):
                raise AttributeError(f"'{type(values[name]).__name__}' object has no attribute '{attribute}'")
        if not self.name:
            return args, kwargs
        if isinstance(values.get("reduction"), int):
            raise ValueError(f"{values['reduction']} is not a valid value for reduction")
        name = self.name + ("_" if self.inplace and values["inplace"] else "")
        if name not in FUNCTIONS:
            return args, kwargs
        inner, named = [], {}
        for word in self.args:
            key, _, own = word.partition("=")
            if own:
                named[key] = values[own]
            else:
                inner.append(value_of(word, values))
        found, _ = fitted(name, FUNCTIONS[name], tuple(inner), named)
        changed = False
        for word, before, after in zip(self.args, inner, found):
            if word in given and after is not before:
                bound.arguments[word] = after
                changed = True
        return (bound.args, bound.kwargs) if changed else (args, kwargs)


UNGIVEN = {"given": [], "index": -1, "flag": False}           # what PyTorch's Python puts in place of None


def value_of(word: str, values: dict[str, Any]) -> Any:
    kind, _, name = word.rpartition(" ")
    if word == "True":
        return True
    if word.isdigit():
        return int(word)
    value = values[name]
    if kind == "pair":
        return tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if value is None and kind in UNGIVEN:
        return UNGIVEN[kind]
    if kind == "index" and type(value) is int and not -2**63 <= value < 2**63:      # Python looks at it before the parser
        raise AssertionError("Padding_idx must be within num_embeddings")
    if kind == "filled" and not isinstance(value, int):
        len(value)                                          # TypeError of what has none
        return [1 if v is None else v for v in value]       # None keeps a size
    return value


class Inner(Composed):
    """A function of torch.nn.functional behind the checks of its row."""

    def __init__(self, name: str, f: Callable[..., Any]) -> None:
        super().__init__(name, f)
        self.row: Call | None = None

    def fit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        self.row = self.row or Call(self.name, self.f)
        return self.row.fitted(args, kwargs)

    def failed(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None, error: Exception) -> None:
        if not isinstance(error, AssertionError):           # of what PyTorch, too, has in Python, before its parser
            self.fit(args, kwargs or {})        # a number of more than 64 bits comes first: NOTE [NumPy's errors]
        super().failed(args, kwargs, error)
