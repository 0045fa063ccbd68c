"""Random tensors to print, and the recorder of transcripts/printing.json: what PyTorch printed for some of them.

    PYTHON_WITH_TORCH tests/tensor/printing_cases.py          record
    PYTHON_WITH_TORCH tests/tensor/printing_cases.py 20000    compare that many new cases with retrograd, without pytest

A case says how to rebuild the array bit by bit: `data` (hexadecimal, repeated to fill `shape`) and `layout` in memory.
"""

from __future__ import annotations

import json
import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TRANSCRIPT = Path(__file__).parent / "transcripts" / "printing.json"
CODES = {
    "float64": "f8", "float32": "f4", "float16": "f2", "bfloat16": "u2", "int64": "i8", "int32": "i4", "int16": "i2",
    "int8": "i1", "uint8": "u1", "bool": "?"}  # fmt: skip
FLOATS = ("float64", "float32", "float16", "bfloat16")
EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 1e-4, 9.999e-5, 1.0001e-4, 1e8, 1e8 + 8, 99999999.0, 1000.0, 1001.0, 999.5, 1e-3,
    0.00005, 0.00015, 99999.99999, 9.99995, 0.99995, 1e-45, 1e-310, 6e-8, 65504.0, 3.4e38, 1e300, 1e20)  # fmt: skip
SPECIALS = (float("nan"), float("inf"), float("-inf"))


def cases(seed: int) -> Iterator[dict[str, Any]]:
    """An endless stream of cases."""
    r = random.Random(seed)
    while True:
        name = r.choice([*CODES, "float32", "float32", "float64"])
        yield {
            "dtype": name,
            "shape": _shape(r),
            "data": _data(r, name).hex(),
            "layout": r.choice(["C", "C", "T", "step", "zero"]),
            "grad": _grad(r) if name in FLOATS else "",
            "default": r.choice(["float32"] * 8 + ["float64"]),
            "opts": _opts(r),
        }


def _shape(r: random.Random) -> list[int]:
    ndim = r.choice([0, 1, 1, 1, 2, 2, 2, 3, 4, 5])
    top = {0: 1, 1: 60, 2: 12, 3: 6, 4: 4, 5: 3}[ndim]
    shape = [r.randint(1, top) for _ in range(ndim)]
    if ndim and r.random() < 0.15:
        shape[r.randrange(ndim)] = r.choice([0, 1, 7, 101])
    if ndim and r.random() < 0.05:
        shape[r.randrange(ndim)] = 1200
    return shape


def _data(r: random.Random, name: str) -> bytes:
    n = r.choice([1, 2, 3, 5, 17, 60])
    if name not in FLOATS:
        if name == "bool":
            return bytes(r.randint(0, 1) for _ in range(n))
        info = np.iinfo(CODES[name])
        low, high = (int(info.min), int(info.max)) if r.random() < 0.3 else (max(-200, int(info.min)), 127)
        return np.array([r.randint(low, high) for _ in range(n)], CODES[name]).tobytes()
    kind = r.choice(["whole", "uniform", "normal", "decades", "edges", "bits", "one edge"])
    scale = 10.0 ** r.choice([0, 0, 0, 1, 2, 3, 5, 8, -1, -2, -4, -5])
    values: list[float] = []
    for _ in range(n):
        values.append(
            float(r.randint(-5, 1200)) if kind == "whole"
            else r.random() * scale if kind == "uniform"
            else r.gauss(0, 1) * scale if kind == "normal"
            else 10.0 ** r.uniform(-6, 10) * r.choice([1, -1]) if kind == "decades"
            else r.choice(EDGES) * r.choice([1, 1, -1]) if kind == "edges"
            else struct.unpack("<d", r.randbytes(8))[0] if kind == "bits"
            else 1.0)  # fmt: skip
    if kind == "one edge":
        values[0] = r.choice(EDGES)
    for _ in range(r.choice([0, 0, 0, 1, 3])):
        values[r.randrange(n)] = r.choice([*SPECIALS, 0.0, -0.0])
    with np.errstate(all="ignore"):
        array = np.array(values)
        if name == "bfloat16":
            return (array.astype("f4").view("u4") >> 16).astype("u2").tobytes()
        return array.astype(CODES[name]).tobytes()


def _grad(r: random.Random) -> str:
    """"leaf", the name of a node, or nothing."""
    pick = r.random()
    if pick < 0.55:
        return ""
    return "leaf" if pick < 0.7 else "N" * r.randint(1, 40) + "Backward"


def _opts(r: random.Random) -> dict[str, Any]:
    if r.random() < 0.4:
        return {}
    opts: dict[str, Any] = {}
    if r.random() < 0.15:
        opts["profile"] = r.choice(["short", "full", "default"])
    if r.random() < 0.5:
        opts["precision"] = r.choice([0, 1, 2, 3, 6, 10, 17])
    if r.random() < 0.5:
        opts["threshold"] = r.choice([0, 1, 2, 5, 20, 100, 5000])
    if r.random() < 0.5:
        opts["edgeitems"] = r.choice([0, 1, 2, 3, 5, 10])
    if r.random() < 0.5:
        opts["linewidth"] = r.choice([1, 20, 40, 60, 79, 81, 100, 120, 200])
    if r.random() < 0.3:
        opts["sci_mode"] = r.choice([True, False])
    return opts


def array_of(case: dict[str, Any]) -> Any:
    """The case's array; bfloat16 as its bits in uint16."""
    shape, flat = tuple(case["shape"]), np.frombuffer(bytes.fromhex(case["data"]), CODES[case["dtype"]])
    n = int(np.prod(shape, dtype=int))
    layout = case["layout"]
    if layout == "T":
        return np.resize(flat, n).reshape(shape[::-1]).T
    if layout == "step" and shape:
        return np.resize(flat, 2 * n).reshape(*shape[:-1], 2 * shape[-1])[..., ::2]
    if layout == "zero" and shape and n:
        return np.lib.stride_tricks.as_strided(
            np.resize(flat, n), shape, (0, *np.empty(shape, flat.dtype).strides[1:]))
    return np.resize(flat, n).reshape(shape)


def torch_text(torch: Any, case: dict[str, Any]) -> str:
    """What PyTorch prints."""
    array = array_of(case)
    if case["dtype"] == "bfloat16":
        t = torch.from_numpy(array.view("i2")).view(torch.bfloat16)
    else:
        t = torch.from_numpy(array)
    if case["grad"]:
        t.requires_grad_()
    if case["grad"] not in ("", "leaf"):
        name = case["grad"].removesuffix("Backward")
        same = type(name, (torch.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x.view_as(x))})
        t = same.apply(t)
    torch.set_default_dtype(getattr(torch, case["default"]))
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**case["opts"])
    try:
        return repr(t)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_printoptions(profile="default")


class Shown:
    """All that printing asks of a tensor."""

    __module__ = "retrograd"

    def __init__(self, case: dict[str, Any], dtypes: Any) -> None:
        self.dtype = getattr(dtypes, case["dtype"])
        self.array = array_of(case)
        if case["dtype"] == "bfloat16":
            self.array = self.array.view(self.dtype.numpy)
        self.requires_grad = bool(case["grad"])
        self.grad_fn = None if case["grad"] in ("", "leaf") else type(case["grad"], (), {})()


def our_text(case: dict[str, Any]) -> str:
    """What retrograd prints."""
    from retrograd._tensor import dtypes, printing

    dtypes.set_default_dtype(getattr(dtypes, case["default"]))
    printing.set_printoptions(profile="default")
    printing.set_printoptions(**case["opts"])
    try:
        return printing._str(Shown(case, dtypes))
    finally:
        dtypes.set_default_dtype(dtypes.float32)
        printing.set_printoptions(profile="default")


def record(count: int = 450) -> None:
    import torch

    rows: list[dict[str, Any]] = []
    for case in cases(20260):
        text = torch_text(torch, case)
        if len(text) < 700 or len(rows) % 20 == 0 and len(text) < 8000:
            rows.append({**case, "text": text})
        if len(rows) == count:
            break
    body = ",\n".join(json.dumps(row) for row in rows)
    TRANSCRIPT.write_text(
        f'{{"torch": "{torch.__version__.split("+")[0]}", "cases": [\n{body}\n]}}\n', encoding="utf-8")


def compare(torch: Any, count: int, seed: int) -> list[tuple[dict[str, Any], str, str]]:
    """The first few of `count` cases on which PyTorch and retrograd differ: (case, torch's text, ours)."""
    bad: list[tuple[dict[str, Any], str, str]] = []
    for _, case in zip(range(count), cases(seed), strict=False):
        theirs, ours = torch_text(torch, case), our_text(case)
        if theirs != ours:
            bad.append((case, theirs, ours))
        if len(bad) == 5:
            break
    return bad


if __name__ == "__main__":
    if len(sys.argv) == 1:
        record()
    else:
        import torch

        seed = random.randrange(2**32)
        differing = compare(torch, int(sys.argv[1]), seed)
        print(f"seed {seed}: {len(differing)} differ")
        for case, theirs, ours in differing:
            print(case, theirs, ours, sep="\n")
