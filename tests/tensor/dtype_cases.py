"""Every question about dtypes, sizes and devices with a finite number of answers, and a recorder of PyTorch's answers.

    PYTHON_WITH_TORCH tests/tensor/dtype_cases.py             record transcripts/dtypes.json
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

TRANSCRIPT = Path(__file__).parent / "transcripts" / "dtypes.json"
NAMES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
NAMED = (                                       # of which there are no tensors here
    "complex32", "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2", "qint8", "qint32", "quint8", "quint4x2", "quint2x4", "bits8",
    "bits16", "bits1x8", "bits2x4", "bits4x2", *(f"{u}int{i}" for u in ("", "u") for i in range(1, 8)))
ALIASES = ("double", "float", "half", "long", "int", "short")
NUMBERS = (True, 3, 2.5)
DEVICES: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    *(((text,), {}) for text in (
        "cpu", "cuda", "mps", "meta", "xpu", "hip", "privateuseone", "cpu:0", "cuda:1", "meta:0", "cpu:1", "cpu:-1",
        "cpu:x", "cpu:", "cpu:01", "cuda:00", "cuda:0:1", "cpu 0", "cpu: 1", "foo", "CPU", "")),
    ((0,), {}), ((-1,), {}), ((True,), {}), ((None,), {}), ((1.5,), {}), ((), {}),
    (("cpu", 0), {}), (("cpu", None), {}), (("cpu", -1), {}), (("cpu:0", 0), {}), (("cpu", "0"), {}),
    (("cpu", True), {}), (("cpu", 1.5), {}), (("cpu", 1, 2), {}), ((0,), {"index": 1}), (("cuda",), {"index": 2}),
    ((), {"type": "cpu"}), ((), {"type": "cpu", "index": 0}), ((), {"type": "foo"}), ((), {"type": 0}),
    ((), {"index": 1}), ((), {"device": "cpu"}))  # fmt: skip
SIZES = (
    "S()", "S([2, 3])", "S((2, 3)).numel()", "S([]).numel()", "S([2, 0]).numel()", "S([2, 3, 4])[1:]", "S([2, 3])[0]",
    "S([2, 3, 4])[::2]", "S([2]) + (1,)", "(1,) + S([2])", "S([2]) + S([3])", "S([2]) * 2", "2 * S([2])", "S([2]) * -1",
    "S([2]) + [1]", "[1] + S([2])", "S([2]) + None", "S([2]) + ('a',)", "('a',) + S([2])", "S([2]) * 1.5", "S(['a'])",
    "S([1.0])", "S([1, 2.5])", "S(None)", "S(3)", "S([np.int64(3)])", "S([np.float64(3)])", "S(np.array([1, 2]))",
    "S([True])", "S(x for x in (1, 2))", "S([-1])", "S([2])['a']", "S([2])[5]", "S([2])[None]", "S([2**70])",
    "S([2, 3]) == (2, 3)", "hash(S([2])) == hash((2,))", "f'{S([2])}'", "str(S([2, 3]))", "S([2]).__reduce__()[1]",
    "S([2, 3]).count(2)", "list(S([2, 3]))")  # fmt: skip
LIMITS = (
    *(f"t.finfo(t.{name})" for name in NAMES), *(f"t.iinfo(t.{name})" for name in NAMES), "t.finfo()", "t.iinfo(int)",
    "t.finfo(float)", "t.finfo('float32')", "t.finfo(t.half) == t.finfo(t.float16)", "hash(t.finfo())",
    *(f"t.finfo(t.{n}).{key}" for n in NAMES[:4] for key in (
        "bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")),
    *(f"t.iinfo(t.{n}).{key}" for n in NAMES[4:9] for key in ("bits", "max", "min", "dtype")))  # fmt: skip
CALLS = (
    "t.promote_types('float32', t.int8)", "t.promote_types(type1=t.half, type2=t.long)", "t.can_cast('a', t.int8)",
    "t.can_cast(from_=t.half, to=t.long)", "t.set_default_dtype(t.int32)", "t.set_default_dtype('float64')",
    "t.set_default_dtype(float)", "t.set_default_dtype(None)", "t.set_default_dtype(t.bool)", "t.get_default_dtype()",
    "t.dtype('float32')", "t.dtype()", "t.float32.x", "setattr(t.float32, 'x', 1)", "t.int64.to_complex()",
    "t.strided", "t.contiguous_format", "t.preserve_format", "t.channels_last", "t.channels_last_3d",
    "t.device('cpu') == 'cpu'", "t.device('cpu') == t.device('cpu', 0)", "str(t.device('cpu', 0))",
    "f\"{t.device('cuda:1')}\"", "hash(t.device('cpu')) == hash(t.device('cpu'))", "t.device(t.device('cuda:1'))",
    "t.device('cuda:1').type", "t.device('cuda:1').index", "t.device('cpu').index", "t.device('cpu').__reduce__()[1]",
    "setattr(t.device('cpu'), 'type', 'x')", "t.device(t.device('cpu'), 0)")  # fmt: skip


def attributes(t: Any) -> dict[str, list[Any]]:
    keys = ("is_floating_point", "is_complex", "is_signed", "itemsize", "abbr")
    return {
        name: [repr(getattr(t, name)), str(getattr(t, name).to_real()), *(getattr(getattr(t, name), k) for k in keys)]
        for name in (*NAMES, *ALIASES)}


def promotions(t: Any) -> dict[str, str]:
    return {f"{a} {b}": str(t.promote_types(getattr(t, a), getattr(t, b))) for a, b in product(NAMES, NAMES)}


def casts(t: Any) -> dict[str, bool]:
    return {f"{a} {b}": t.can_cast(getattr(t, a), getattr(t, b)) for a, b in product(NAMES, NAMES)}


def result_types(t: Any, make: Any) -> dict[str, str]:
    """Every pair out of 1-dim tensors, 0-dim tensors and numbers, with both default dtypes.

    make(shape, dtype) builds a tensor.
    """
    out: dict[str, str] = {}
    for default in ("float32", "float64", "float16"):
        t.set_default_dtype(getattr(t, default))
        values = {f"{name}{list(s)}": make(s, getattr(t, name)) for name in NAMES for s in ((2,), ())}
        values.update({repr(x): x for x in NUMBERS})
        for (a, x), (b, y) in product(values.items(), values.items()):
            out[f"{default}: {a} {b}"] = str(t.result_type(x, y))
    t.set_default_dtype(t.float32)
    return out


def devices(t: Any) -> list[str]:
    return [answer(lambda a=args, k=kwargs: t.device(*a, **k)) for args, kwargs in DEVICES]


def evaluated(t: Any, expressions: tuple[str, ...]) -> dict[str, str]:
    return {e: answer(lambda e=e: eval(e, {"t": t, "S": t.Size, "np": np})) for e in expressions}


def named(t: Any) -> dict[str, str]:
    """All that can be asked of dtypes that are only named; not what ends in an assertion inside PyTorch."""
    keys = ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr", "to_real()", "to_complex()", "__reduce__()")
    asked = [f"t.{name}.{key}" for name in (*NAMED, "cdouble", "cfloat", "chalf", "bit") for key in keys]
    asked += [f"t.finfo(t.{name}).{key}" for name in NAMED if name[:2] in ("fl", "co") and name[5] != "4" for key in (
        "bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")]
    asked += [f"t.finfo(t.{name})" for name in NAMED if name[:2] not in ("fl", "co")]
    asked += [f"t.iinfo(t.{name}).{key}" for name in NAMED for key in ("bits", "max", "min")]
    asked += [f"t.set_default_dtype(t.{name})" for name in NAMED]
    asked += [f"t.{function}(t.{a}, t.{b})" for function in ("promote_types", "can_cast") for a, b in (
        *product(NAMED, (*NAMES, *NAMED)), *product(NAMES, NAMED))]
    return {e: found for e, found in evaluated(t, tuple(asked)).items() if "INTERNAL ASSERT" not in found}


def answer(call: Any) -> str:
    """The repr, or the exception with the first line of its text."""
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def answers(t: Any, make: Any) -> dict[str, Any]:
    return {
        "attributes": attributes(t), "promote_types": promotions(t), "can_cast": casts(t),
        "result_type": result_types(t, make), "device": devices(t), "size": evaluated(t, SIZES),
        "limits": evaluated(t, LIMITS), "calls": evaluated(t, CALLS), "named": named(t)}  # fmt: skip


if __name__ == "__main__":
    import torch

    found = answers(torch, lambda shape, dtype: torch.zeros(shape, dtype=dtype))
    version = torch.__version__.split("+")[0]
    TRANSCRIPT.write_text(json.dumps({"torch": version, **found}, indent=0) + "\n", encoding="utf-8")
