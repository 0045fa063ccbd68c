"""Why we differ from PyTorch on some of its own samples.  (operations, where and what differs, why)"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

CPU = Path("/proc/cpuinfo")
INTEL = [
    (r"nn\.functional\.(\w*dropout\w*|scaled_dot_product_attention|multi_head_attention_forward)|bernoulli|native_dropout\w*",
     r".*", "PyTorch draws these with MKL on this processor"),
] if CPU.exists() and "GenuineIntel" in CPU.read_text() else []

WHERE = INTEL + [
    (r"gradient", r"error.*", "tensors on the meta device"),
    (r"__r\w+__", r"error.*requires a 'TensorBase' object.*", "compiled operators raise Python's own message"),
    (r"__rdiv__", r"error.*has no attribute 'dtype'.*", "the number is no Tensor, which another attribute shows"),
    (r"nn\.functional\.interpolate\..*", r".*uint8.*", "off by one of 255: PyTorch rounds the weights to 16 bits"),
    (r"nn\.functional\.scaled_dot_product_attention", r".*float16.*", "rounds half precision at other steps"),
    (r"matrix_exp", r".*float16.*", "PyTorch's answer in half precision is wrong: exp(0) is -20896"),
    (r"cholesky_(solve|inverse)", r".*gradient.*",
     "PyTorch's gradient is not zero for entries of the factor that are never read"),
    (r"linalg\.norm\.subgradients_at_zero", r".*second gradient.*",
     "PyTorch's second derivative at zero is nan, retrograd's is not"),
    (r"nn\.functional\.soft_margin_loss|histc|nn\.functional\.multi_head_attention_forward|native_layer_norm", r".*float16.*",
     "PyTorch rounds several times in half precision, retrograd once"),
    (r"AdamW?", r".*differentiable.*", "PyTorch takes the powers of betas in float32 with differentiable=True, else in float64"),
    (r"aminmax|amax|amin", r"error.*", "65 dimensions: NumPy's arrays have at most 64"),
    (r"native_layer_norm", r".*second gradient.*", "PyTorch's own second derivative fails"),
    (r"chalf|to_sparse|complex", r".*", "complex or sparse"),
    (r"max_pool2d_with_indices_backward", r".*", "exists in torch.ops.aten only"),
    (r"as_strided_scatter", r".*gradient.*",
     "PyTorch's gradient of input is 0 outside the written part, where it should be passed on, and not 0 inside"),
    (r"special\.bessel_(j0|y1)", r".*float64.*result.*", "PyTorch's values are off by up to 3e-7 between 4 and 26"),
    (r"linalg\.det", r".*second gradient.*", "the matrix is singular"),
    (r"cov|(svd|pca)_lowrank", r".*second gradient.*", "rounding: the second derivative is badly conditioned"),
]


@cache
def compiled() -> list[tuple[re.Pattern[str], re.Pattern[str], str]]:
    return [(re.compile(op), re.compile(where), why) for op, where, why in WHERE]


def reason(op: str, where: str, what: str) -> str | None:
    """Why `op` differs there; None when nobody knows."""
    for name, place, why in compiled():
        if name.fullmatch(op) and place.match(f"{where}: {what}"):
            return why
    return None
