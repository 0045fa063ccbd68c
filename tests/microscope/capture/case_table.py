"""Models to look at through the microscope.  To add one: a function (torch) -> Case, decorated with @case.

`torch` is either engine.  The model is called with `inputs`; the loss of the tests is a sum over samples of something
smooth in the output, so a sample's gradient is that of the model called with this sample alone: inputs whose entry in
`batched` is True are cut along `batch_dim`, others are given whole.

    engines   which engines have what the model needs
    whole     parameters whose samples cannot be told apart (status "whole batch")
    missing   parameters that cannot be covered at all
    factors   parameters that must be kept as factors
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

BOTH = ("torch", "retrograd")
CASES: dict[str, Callable[[Any], Case]] = {}
ENGINES: dict[str, tuple[str, ...]] = {}


@dataclass
class Case:
    """One row of the table."""

    model: Any
    inputs: tuple[Any, ...]
    batched: tuple[bool, ...] | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)
    batch_dim: int = 0
    out: Callable[[Any], Any] = lambda out: out if not isinstance(out, tuple) else out[0]
    loss: Callable[[Any], Any] | None = None    # of the output, instead of the tests' own
    options: dict[str, Any] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()               # parameters that must be kept as factors


def case(function: Callable[[Any], Case] | None = None, *, engines: tuple[str, ...] = BOTH) -> Any:
    def add(function: Callable[[Any], Case]) -> Callable[[Any], Case]:
        CASES[function.__name__] = function
        ENGINES[function.__name__] = engines
        return function
    return add if function is None else add(function)


def module(torch: Any, parts: dict[str, Any], forward: Callable[..., Any], kind: Any = None) -> Any:
    """A module of the given parts (modules, Parameters) whose forward is forward(self, *inputs)."""
    class Model(kind or torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return forward(self, *args, **kwargs)
    return Model()


def mlp(torch: Any, *middle: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 5), *middle, nn.Linear(5, 3))
