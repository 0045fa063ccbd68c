"""How tensors print: equal to PyTorch's text, recorded (transcripts/printing.json) and live."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
import printing_cases
import pytest

from retrograd._tensor import dtypes, printing

ROWS = json.loads(printing_cases.TRANSCRIPT.read_text(encoding="utf-8"))["cases"]


class Tensor:
    """All that printing asks of a tensor."""

    __module__ = "retrograd._tensor"

    def __init__(self, array: Any, requires_grad: bool = False) -> None:
        self.array = np.asarray(array)
        self.dtype = dtypes.of(self.array.dtype)
        self.requires_grad = requires_grad

    grad_fn: Any = None

    def __repr__(self) -> str:
        return printing._str(self)


@pytest.fixture(autouse=True)
def default_options() -> Any:
    yield
    printing.set_printoptions(profile="default")


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{row['dtype']}-{row['shape']}" for i, row in enumerate(ROWS)])
def test_recorded_from_pytorch(row: dict[str, Any]) -> None:
    assert printing_cases.our_text(row) == row["text"]


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(4))
def test_random_tensors_against_live_pytorch(seed: int) -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert printing_cases.compare(torch, 1000, seed) == []


@pytest.mark.skipif(sys.maxsize < 2**32, reason="arrays are smaller where addresses have 32 bits")
def test_a_summary_reads_only_what_it_shows() -> None:
    eight_terabytes = np.broadcast_to(1.0, (10**6, 10**6))
    row = "[1., 1., 1.,  ..., 1., 1., 1.]"
    rows = f"{row},\n        {row},\n        {row}"
    assert repr(Tensor(eight_terabytes)) == f"tensor([{rows},\n        ...,\n        {rows}], dtype=torch.float64)"


def test_no_numpy_warning_leaks() -> None:
    bfloat16 = dtypes.bfloat16.numpy
    with np.errstate(all="raise"):
        for d in (np.float64, np.float32, np.float16, bfloat16):
            tiny = float(dtypes.finfo(dtypes.of(np.dtype(d))).tiny)
            with np.errstate(all="ignore"):
                array = np.array([tiny, 1 / tiny, np.nan, -np.inf, 0.0]).astype(d)
            assert "nan" in repr(Tensor(array))


def test_subclasses_show_their_own_name() -> None:
    class Mine(Tensor):
        __module__ = "program"

    assert repr(Mine(np.float32([1, 2]))) == "Mine([1., 2.])"
    assert repr(Mine(np.arange(40))).splitlines()[1].startswith(" " * 6 + "18, 19")


def test_invalid_grad_fn() -> None:
    class Stale(Tensor):
        __module__ = "retrograd._tensor"

        @property
        def grad_fn(self) -> Any:  # type: ignore[override]
            raise RuntimeError("a view was modified in place")

    assert repr(Stale(np.float32([1]), True)) == "tensor([1.], grad_fn=<Invalid>)"


def test_contents_given() -> None:
    assert printing._str(Tensor(np.ones((2, 3), np.float32)), tensor_contents="...") == "tensor(...)"
    assert printing._str(Tensor(np.ones((0, 3), np.float32)), tensor_contents="...") == "tensor(..., size=(0, 3))"


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (np.float32(1.23456), "", "1.2345600128173828"),
        (np.float32(1.23456), ".2f", "1.23"),
        (np.float32(1), ">10", "       1.0"),
        (np.int64(3), "05d", "00003"),
        (np.bool_(True), "d", "1"),
        (np.float32([1]), "", "tensor([1.])"),
        (np.float32([[1]]), "", "tensor([[1.]])"),
    ],
)
def test_format_specs_print_as_pytorchs(value: Any, spec: str, text: str) -> None:
    assert printing.format_tensor(Tensor(value), spec) == text


def test_format_of_bfloat16() -> None:
    assert printing.format_tensor(Tensor(np.asarray(1.5, dtypes.bfloat16.numpy)), ".3f") == "1.500"


def test_format_refuses_a_spec_for_vectors_and_parameters() -> None:
    class Parameter(Tensor):
        __module__ = "retrograd.nn.parameter"

    with pytest.raises(TypeError, match=r"^unsupported format string passed to Tensor\.__format__$"):
        printing.format_tensor(Tensor(np.float32([1, 2])), ".2f")
    with pytest.raises(TypeError, match=r"^unsupported format string passed to Parameter\.__format__$"):
        printing.format_tensor(Parameter(np.float32(1)), ".2f")
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        printing.format_tensor(Tensor(np.float32(1)), "d")


def test_print_options_are_kept_and_used() -> None:
    default = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
    assert printing.get_printoptions() == default
    printing.set_printoptions(precision=2, sci_mode=True)
    assert repr(Tensor(np.float32([1.5, 2]))) == "tensor([1.50e+00, 2.00e+00])"
    printing.set_printoptions(profile="short", edgeitems=1)
    assert printing.get_printoptions() == {**default, "precision": 2, "edgeitems": 1}
    printing.set_printoptions(profile="unheard of")
    assert printing.get_printoptions() == {**default, "precision": 2, "edgeitems": 1}
    printing.set_printoptions(profile="full")
    assert printing.get_printoptions()["threshold"] == float("inf")


def test_options_come_back_after_the_with_statement() -> None:
    before = printing.get_printoptions()
    with pytest.raises(ZeroDivisionError), printing.printoptions(precision=1, linewidth=20):
        assert repr(Tensor(np.float32([1.26]))) == "tensor([1.3])"
        raise ZeroDivisionError
    assert printing.get_printoptions() == before
