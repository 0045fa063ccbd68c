"""The public names: documented, and PyTorch's."""

from __future__ import annotations

import importlib
import inspect
import types
import warnings
from typing import Any

import pytest

from tools import parameters
from tools.public_names import PLACES, names

ALL_OURS = {"retrograd.microscope"}            # PyTorch has nothing of that name


# Public here, not (or not there) in PyTorch.
OURS = {
    "retrograd": {"get_printoptions"},
    "retrograd.autograd": {
        "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference_mode_enabled"},
    "retrograd.optim": {"optimizer"},           # PyTorch's is importable, too, but deleted from the namespace
}


def documented(place: str) -> list[str]:
    missing = []
    for name in names(place):
        owner = PLACES[place]
        late = place in ALL_OURS or not isinstance(owner, type) and name not in vars(owner)    # by a module's __getattr__
        value = getattr(owner, name) if late else inspect.getattr_static(owner, name)
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        # an inherited docstring is not its own
        doc = vars(value).get("__doc__") if isinstance(value, type) else inspect.getdoc(value)
        if isinstance(value, (types.FunctionType, type, property)) and not (doc or "").strip():
            missing.append(name)
    return missing


@pytest.mark.parametrize("place", PLACES)
def test_each_public_name_has_a_docstring(place: str) -> None:
    assert documented(place) == []


# Of the microscope's, tests/microscope/test_api_page.py asks more.
@pytest.mark.parametrize("place", [place for place in PLACES if place not in ALL_OURS])
def test_each_parameter_of_a_public_name_is_explained(place: str) -> None:
    assert parameters.unsaid(place) == []


def test_a_parameter_is_explained_by_its_docstring_or_by_a_line_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(input: Any, size: int, depth: int = 0) -> None:
        """https://example.org/size of the input

        depth of it
        """

    monkeypatch.setattr(PLACES["retrograd.nn.init"], "__all__", ["call"])
    monkeypatch.setattr(PLACES["retrograd.nn.init"], "call", call, raising=False)
    assert "call(size)" in parameters.unsaid("retrograd.nn.init")
    assert not {"call(input)", "call(depth)"} & {*parameters.unsaid("retrograd.nn.init")}
    assert parameters.shared(PLACES["retrograd.nn"].MaxPool2d, "retrograd.nn").keys() >= {"kernel_size", "stride", "input"}


@pytest.mark.parametrize("place", ["retrograd", "retrograd.nn.functional"])
def test_all_agrees_with_what_is_there(place: str) -> None:
    exported = getattr(PLACES[place], "__all__", None)
    if exported is not None:
        assert [n for n in exported if not hasattr(PLACES[place], n)] == []
        assert len(set(exported)) == len(exported)


@pytest.mark.oracle
@pytest.mark.parametrize("place", [place for place in PLACES if place not in ALL_OURS])
def test_every_name_is_pytorchs(place: str) -> None:
    """Nothing of ours squats in the namespace but what is in OURS."""
    torch = pytest.importorskip("torch")
    theirs: Any = torch
    for part in place.split(".")[1:]:
        if isinstance(theirs, types.ModuleType) and not hasattr(theirs, part):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(f"{theirs.__name__}.{part}")    # which import torch leaves out
        theirs = getattr(theirs, part)
    assert {n for n in names(place) if not hasattr(theirs, n)} == OURS.get(place, set())

