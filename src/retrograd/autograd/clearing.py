"""What zero_grad() of modules and of optimizers does with one parameter."""
from __future__ import annotations

from typing import Any

from .._engine.modes import modes


def clear_grad(p: Any, set_to_none: bool) -> None:
    """Forget p.grad, or make it zero: no call that is heard, where p is a leaf and its gradient is dropped."""
    if set_to_none:
        if p.fn is None:
            if p.sink is not None:
                p.sink.grad = None
                if modes.journal is not None:
                    modes.journal.append(p.sink)
        elif p.grad is not None:
            p.grad = None
    elif p.grad is not None:
        grad = p.grad
        if grad.fn is not None:                 # what is asked by name is heard
            grad.detach_()
        elif grad.requires_grad:
            grad.requires_grad_(False)
        grad.zero_()
