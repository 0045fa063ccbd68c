"""PyTorch's zero_grad() while flights listen: its reads and writes of every .grad, which are no events, are not heard."""
from __future__ import annotations

import functools
from typing import Any

from ..record.swaps import swap_in, swap_out

_listening: list[Any] = []                      # the newest last
_plan: list[Any] = []


def begin(hearing: Any) -> None:
    """Our own engine's zero_grad() is not heard anyway."""
    if hearing.engine.name != "torch":
        return
    _listening.append(hearing)
    if len(_listening) == 1:
        torch = hearing.engine.torch
        _plan.extend((owner, vars(owner), "zero_grad", unheard(owner.zero_grad), owner.zero_grad)
                     for owner in (torch.optim.Optimizer, torch.nn.Module))
        swap_in(_plan)


def end(hearing: Any) -> None:
    if hearing in _listening:
        _listening.remove(hearing)
        if not _listening:
            swap_out(_plan)
            _plan.clear()


def unheard(original: Any) -> Any:
    @functools.wraps(original)
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        aside = [it for it in reversed(_listening) if it.rest()]
        try:
            original(self, set_to_none)
        finally:
            for it in reversed(aside):
                it.listen()

    return zero_grad
