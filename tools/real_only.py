"""Writes src/retrograd/_functions/real_only.py, what PyTorch says where a function takes no complex numbers.

PyTorch's own samples (OpInfo) are run with complex tensors in the place of real ones.
"""

from __future__ import annotations

import itertools
import textwrap
import warnings
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_functions" / "real_only.py"
HEAD = '''"""What PyTorch says of functions that take no complex numbers; {{}} is the dtype.

Written by `make generate` from PyTorch {}.
"""
from __future__ import annotations

from typing import Final

'''
UNDIFFERENTIATED = "does not support automatic differentiation for outputs with complex dtype."
MOST = 4                # samples of each operation
# What takes complex numbers all the same, though no sample of PyTorch's says so, and what refuses them in words of its own.
NOT = set("""isfinite isinf isnan isreal to type_as empty_strided equal float double bool long where linspace result_type item
    fill bfloat16 half byte char int short cat angle any all complex polar max min
    searchsorted bucketize isin interpolate upsample_nearest upsample_bilinear adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d fractional_max_pool2d
    fractional_max_pool3d unique unique_consecutive bernoulli cauchy exponential geometric log_normal histc
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
    binary_cross_entropy_with_logits gaussian_nll_loss hinge_embedding_loss kl_div mse_loss
    multilabel_soft_margin_loss""".split())


def complexed(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().to(torch.complex64) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(complexed, value)) if type(value) in (list, tuple) else value
    return {k: complexed(v) for k, v in value.items()} if isinstance(value, dict) else value


def histories(value: Any) -> Any:
    """The same values, to be differentiated."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().requires_grad_() if value.is_complex() else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(histories, value)) if type(value) in (list, tuple) else value
    return {k: histories(v) for k, v in value.items()} if isinstance(value, dict) else value


def undifferentiated(op: Any) -> str:
    """What PyTorch calls the operation that it does not differentiate for complex numbers; "" when one of the samples works."""
    import torch

    found = ""
    kind = torch.complex64 if torch.complex64 in op.supported_dtypes("cpu") else torch.float32
    for sample in itertools.islice(op.sample_inputs("cpu", kind), MOST):
        inputs = complexed((sample.input, *sample.args)), complexed(sample.kwargs)
        try:
            op.op(*inputs[0], **inputs[1])
        except Exception:
            continue
        for args in (histories(inputs[0]), (histories(inputs[0][0]), *inputs[0][1:])):
            try:
                op.op(*args, **histories(inputs[1]))
                return ""
            except Exception as e:
                if UNDIFFERENTIATED in str(e):
                    found = str(e).split()[0]
    return found


def refusal(op: Any) -> tuple[str, str] | None:
    """(class, text) of PyTorch's error, when every sample makes one."""
    import torch

    found: tuple[str, str] | None = None
    for sample in itertools.islice(op.sample_inputs("cpu", torch.float32), MOST):
        try:
            op.op(complexed(sample.input), *complexed(sample.args), **complexed(sample.kwargs))
            if not isinstance(sample.input, torch.Tensor) or sample.input.numel() > 1:
                return None
        except Exception as e:
            text = str(e).split("\n")[0].replace("ComplexFloat", "{}").replace("complex64", "{c}")
            found = found or (type(e).__name__, text)
    return found


def tables() -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Functions that take no complex numbers, and those that are not differentiated for them."""
    import torch
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo import core

    common_utils.extract_test_fn = core.extract_test_fn = lambda: None
    found: dict[str, tuple[str, str]] = {}
    recorded = {"slice_copy": "slice_copy"}     # which has no samples
    seen: set[str] = set()
    for op in op_db:
        name, *others = [n.removeprefix("torch.").removeprefix("nn.functional.").replace(".", "_").strip("_") for n in (
            op.name, *(alias.name for alias in op.aliases))]
        takes = op.supported_dtypes("cpu")
        if name in NOT:
            seen.add(name)
            continue
        if op.name.startswith(("_", "fft", "signal", "masked", "torch")):
            seen.update((name, *others))
            continue
        if torch.float32 not in takes:
            seen.update((name, *others) if torch.complex64 in takes else ())
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                error = None if torch.complex64 in takes else refusal(op)
                kernel = "" if error else undifferentiated(op)
            except Exception:
                error, kernel = None, ""
        if kernel:
            recorded.update(dict.fromkeys((name, *others), kernel))
        if error is None:
            seen.update((name, *others))
        else:
            for each in (name, *others):
                found.setdefault(each, error)
    found["rrelu"] = found["leaky_relu"]        # unless it is training, as in the samples
    return {name: error for name, error in sorted(found.items()) if name not in seen}, dict(sorted(recorded.items()))


def files() -> dict[Path, str]:
    import torch

    groups: dict[tuple[str, str], list[str]] = {}
    refused, recorded = tables()
    for name, error in refused.items():
        groups.setdefault(error, []).append(name)
    lines = ["# (class, text): names of functions", "REFUSED: Final = {"]
    for (kind, text), names in groups.items():
        parts = textwrap.wrap(text, 100, drop_whitespace=False, break_long_words=False)
        shown = textwrap.wrap(" ".join(names), 110, drop_whitespace=False)
        lines += [f"    ({kind!r},", *(f"     {part!r}" for part in parts), "     ): (",
                  *(f"        {part!r}" for part in shown), "    ),"]
    lines += ["}", "", "# functions that are not differentiated for complex numbers: what PyTorch calls them",
              "UNDIFFERENTIATED: Final = {",
              *(f"    {name!r}: {kernel!r}," for name, kernel in recorded.items()), "}", ""]
    return {TARGET: HEAD.format(str(torch.__version__).partition("+")[0]) + "\n".join(lines)}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
