"""All models that capture is tested on, and the table of them with each engine that has what they need."""
from __future__ import annotations

import importlib
from typing import Any

import cases_layers  # noqa: F401  each adds its own to the table
import cases_models  # noqa: F401
import pytest
from case_table import CASES, ENGINES, Case

__all__ = ["CASES", "TABLE", "Case", "engine_named"]

MARKS = {"torch": [pytest.mark.oracle, pytest.mark.once], "retrograd": []}
TABLE = [pytest.param(engine, name, id=f"{engine}-{name}", marks=MARKS[engine]) for name in CASES for engine in ENGINES[name]]


def engine_named(name: str) -> Any:
    if name == "retrograd":
        return importlib.import_module("retrograd")
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)                    # these models are small; threads would only wait for each other
    return torch
