"""The public names, against the committed list.

    python tests/test_public.py      writes tests/public_names.txt
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retrograd
import retrograd.distributions
import retrograd.func
import retrograd.microscope
import retrograd.nn.attention
import retrograd.nn.functional
import retrograd.nn.utils.prune
import retrograd.overrides
import retrograd.serialization
import retrograd.utils.data

LIST = Path(__file__).with_name("public_names.txt")
PLACES: dict[str, Any] = {
    "retrograd": retrograd,
    "retrograd.Tensor": retrograd.Tensor,
    "retrograd.autograd": retrograd.autograd,
    "retrograd.autograd.Function": retrograd.autograd.Function,
    "retrograd.autograd.graph": retrograd.autograd.graph,
    "retrograd.distributions": retrograd.distributions,
    "retrograd.func": retrograd.func,
    "retrograd.nn": retrograd.nn,
    "retrograd.nn.Module": retrograd.nn.Module,
    "retrograd.nn.attention": retrograd.nn.attention,
    "retrograd.nn.functional": retrograd.nn.functional,
    "retrograd.nn.init": retrograd.nn.init,
    "retrograd.nn.parameter": retrograd.nn.parameter,
    "retrograd.nn.utils": retrograd.nn.utils,
    "retrograd.nn.utils.parametrizations": retrograd.nn.utils.parametrizations,
    "retrograd.nn.utils.parametrize": retrograd.nn.utils.parametrize,
    "retrograd.nn.utils.prune": retrograd.nn.utils.prune,
    "retrograd.nn.utils.rnn": retrograd.nn.utils.rnn,
    "retrograd.optim": retrograd.optim,
    "retrograd.optim.Optimizer": retrograd.optim.Optimizer,
    "retrograd.optim.lr_scheduler": retrograd.optim.lr_scheduler,
    "retrograd.optim.swa_utils": retrograd.optim.swa_utils,
    "retrograd.overrides": retrograd.overrides,
    "retrograd.serialization": retrograd.serialization,
    "retrograd.utils.data": retrograd.utils.data,
    "retrograd.microscope": retrograd.microscope,
}
ALL_OURS = {"retrograd.microscope"}            # PyTorch has nothing of that name


# Public here, not (or not there) in PyTorch.
OURS = {
    "retrograd": {"get_printoptions"},
    "retrograd.autograd": {
        "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference_mode_enabled"},
    "retrograd.optim": {"optimizer"},           # PyTorch's is importable, too, but deleted from the namespace
}


def names(place: str) -> list[str]:
    """What `place` offers: of a class its attributes; of a module what it defines, and what it imports `as` itself."""
    owner = PLACES[place]
    if isinstance(owner, type):
        found = set(dir(owner())) if owner is retrograd.Tensor else set(dir(owner))
    else:
        found = {*getattr(owner, "__all__", ()), *written(owner)}
    return sorted(n for n in found if not n.startswith("_"))


def written(module: Any) -> Iterator[str]:
    body = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
    for item in body:
        if isinstance(item, ast.If) and "TYPE_CHECKING" in ast.unparse(item.test):
            body += item.orelse
        elif isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name
        elif isinstance(item, ast.Assign):
            yield from (t.id for t in item.targets if isinstance(t, ast.Name) and not t.id.isupper())
        elif isinstance(item, ast.ImportFrom):
            for alias in item.names:
                if alias.name == "*":
                    origin = "." * item.level + (item.module or "")
                    yield from importlib.import_module(origin, module.__package__).__all__
                elif alias.asname == alias.name:
                    yield alias.name


def listing() -> str:
    return "".join(f"[{place}]\n" + "".join(f"{n}\n" for n in names(place)) + "\n" for place in PLACES)


def test_the_names_are_those_of_the_list() -> None:
    """A change of the public surface shows in the diff of a commit."""
    assert LIST.read_text(encoding="utf-8").splitlines() == listing().splitlines(), "run: python tests/test_public.py"


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
    importlib.import_module("torch.nn.utils.prune")         # which import torch leaves out
    theirs: Any = torch
    for part in place.split(".")[1:]:
        theirs = getattr(theirs, part)
    assert {n for n in names(place) if not hasattr(theirs, n)} == OURS.get(place, set())


if __name__ == "__main__":
    LIST.write_text(listing(), encoding="utf-8")
    sys.stdout.write(f"{LIST}\n")
