"""For tests that run on retrograd and, where it is installed, on PyTorch: `both` gives them the engine as `torch`."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd


def engines() -> list[Any]:
    try:
        import torch
    except ImportError:
        return [retrograd]
    return [retrograd, torch]


ENGINES = engines()
both = pytest.mark.parametrize(                 # PyTorch once, as in tests/microscope
    "torch", [ENGINES[0], *(pytest.param(engine, marks=pytest.mark.once) for engine in ENGINES[1:])], ids=lambda e: e.__name__)
