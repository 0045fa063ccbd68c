"""`torch` in a test here is either engine: every test runs on both.

On PyTorch once: what is compiled of the microscope, the same test runs on both builds with our engine."""
from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture(params=[pytest.param("torch", marks=[pytest.mark.oracle, pytest.mark.once]), "retrograd"])
def torch(request: Any) -> Any:
    if request.param == "retrograd":
        engine = importlib.import_module("retrograd")
    else:
        engine = pytest.importorskip("torch")
        engine.set_num_threads(1)               # these models are small; threads would only wait for each other
    engine.manual_seed(0)
    return engine
