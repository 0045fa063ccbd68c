"""Constructors, functions and methods of nn, optim and utils.data take PyTorch's arguments, with its defaults."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.oracle
PLACES = (
    "nn", "nn.init", "nn.parameter", "nn.utils", "nn.utils.clip_grad", "nn.utils.parametrizations",
    "nn.utils.parametrize", "nn.utils.rnn", "func", "optim", "optim.lr_scheduler", "optim.optimizer", "utils.data",
)  # fmt: skip

# Where ours differs: "class.method" or name -> why.
OTHER = {
    "NLLLoss2d": "PyTorch's passes *args on to NLLLoss",
    "RNNBase.check_input": "batch_sizes may be left out",
    "random_split": "generator=None stands for the default generator",
}
# Methods and attributes of PyTorch's classes that ours lack, and why.
LACKING = {
    "Module": {"ipu", "xpu", "mtia", "T_destination"},                  # devices; a type variable
    "PackedSequence": {"pin_memory", "cuda"},                           # devices
    "MultiheadAttention": {"merge_masks"},                              # internal to its fast path
    "RNNBase": {"get_expected_hidden_size"}, "LSTM": {"get_expected_cell_size"},  # internal checks
    "SyncBatchNorm": {"convert_sync_batchnorm"},                        # several processes
    "Optimizer": {"OptimizerPreHook", "OptimizerPostHook"},             # type aliases
    "ConcatDataset": {"cummulative_sizes"},                             # the old, misspelt name
}  # fmt: skip


def parameters(f: Any) -> list[tuple[str, Any, str]] | None:
    """(name, kind, default as text) of each; None where Python cannot tell."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind, text(p.default)) for p in found]


def text(default: Any) -> str:
    if inspect.isfunction(default):
        return default.__name__
    return repr(default).replace("retrograd.", "torch.")


def shared(place: str) -> Iterator[tuple[str, Any, Any]]:
    """(name, ours, PyTorch's) of what both have in a module."""
    torch: Any = pytest.importorskip("torch")
    theirs: Any = importlib.import_module(f"torch.{place}")
    ours: Any = importlib.import_module(f"retrograd.{place}")
    for name in sorted(vars(ours)):
        x, y = getattr(ours, name), getattr(theirs, name, None)
        if not name.startswith("_") and callable(x) and callable(y) and y is not torch.Tensor:
            yield name, x, y


@pytest.mark.parametrize("place", PLACES)
def test_arguments_are_pytorchs(place: str) -> None:
    differing = []
    for name, ours, theirs in shared(place):
        a, b = parameters(ours), parameters(theirs)
        if name not in OTHER and b is not None and a != b:
            differing.append(f"{name}: {a} is not {b}")
    assert differing == []


@pytest.mark.parametrize("place", PLACES)
def test_methods_and_their_arguments_are_pytorchs(place: str) -> None:
    differing, lacking = [], []
    for name, ours, theirs in shared(place):
        if not isinstance(theirs, type) or not isinstance(ours, type) or name == "Tensor":
            continue
        for method, value in vars(theirs).items():
            path = f"{name}.{method}"
            if method.startswith("_"):
                continue
            if not hasattr(ours, method):
                if method not in LACKING.get(name, ()):
                    lacking.append(path)
            elif callable(value) and path not in OTHER:
                a, b = parameters(getattr(ours, method)), parameters(getattr(theirs, method))
                if b is not None and a != b:
                    differing.append(f"{path}: {a} is not {b}")
    assert differing == [] and lacking == []
