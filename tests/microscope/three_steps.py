"""A training run that tests of comparing and of the page look at."""

from __future__ import annotations

from typing import Any

from retrograd.microscope import record


def training(torch: Any, **how: Any) -> Any:
    """Three steps: the second is clipped, at another rate, and has a hook and a branch that the others have not."""
    torch.manual_seed(0)
    body, branch = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    model = torch.nn.ModuleDict({"body": body, "branch": branch})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.ones(4, 3)
    with record(model, **how) as rec:
        for step in range(3):
            optimizer.zero_grad()
            handle = body.register_forward_hook(lambda *args: None) if step == 1 else None
            y = body(x)
            if step == 1:
                y = branch(y).tanh() * 10
            loss = y.square().sum()
            loss.backward()
            if step == 1:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.param_groups[0]["lr"] = 0.01
                handle.remove()
            optimizer.step()
    return rec
