"""What draws random numbers in a program, so that a computation can be done again with the same ones."""
from __future__ import annotations

import random
from typing import Any

import numpy as np


def state_of(torch: Any) -> dict[str, Any]:
    """The states of Python's, NumPy's and the engine's generators, in what torch.load reads without running code."""
    kind, keys, *rest = np.random.get_state()
    found = {"python": random.getstate(), "numpy": (kind, np.asarray(keys).tolist(), *rest), "engine": torch.get_rng_state()}
    if cuda(torch):
        found["cuda"] = torch.cuda.get_rng_state_all()
    return found


def restore(torch: Any, state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, np.array(keys, np.uint32), *rest))
    torch.set_rng_state(state["engine"])
    if "cuda" in state:
        torch.cuda.set_rng_state_all(state["cuda"])


def cuda(torch: Any) -> bool:
    return torch.__name__ == "torch" and bool(torch.cuda.is_available() and torch.cuda.is_initialized())
