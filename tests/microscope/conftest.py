"""`torch` in a test here is either engine: every test runs on both."""
from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture(params=[pytest.param("torch", marks=pytest.mark.oracle), "retrograd"])
def torch(request: Any) -> Any:
    if request.param == "retrograd":
        engine = importlib.import_module("retrograd")
    else:
        engine = pytest.importorskip("torch")
        engine.set_num_threads(1)               # these models are small; threads would only wait for each other
    engine.manual_seed(0)
    return engine
