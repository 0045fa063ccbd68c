"""The state of a training between two steps: taken, put back, compared."""
from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from ...optim._formulas import FORMULAS, formula_of
from ..errors import ReplayError
from .randomness import restore, state_of

Snapshot = dict[str, Any]


def math_attention(torch: Any) -> AbstractContextManager[Any]:
    """scaled_dot_product_attention by operations that have second derivatives: PyTorch's fused kernels have none."""
    attention = import_module(f"{torch.__name__}.nn.attention")
    return attention.sdpa_kernel(attention.SDPBackend.MATH)


class Held:
    """The models, optimizers and other objects with a state_dict that a loop gave to steps()."""

    def __init__(self, torch: Any, objects: tuple[Any, ...]) -> None:
        self.torch = torch
        self.models = [x for x in objects if isinstance(x, torch.nn.Module)]
        self.optimizers = [x for x in objects if isinstance(x, torch.optim.Optimizer)]
        self.others = [x for x in objects if not isinstance(x, (torch.nn.Module, torch.optim.Optimizer))]
        if not self.optimizers or not self.models:
            raise ReplayError("steps: give it the model and the optimizer of the loop: steps(batches, model, optimizer)")
        for x in self.others:
            if not (hasattr(x, "state_dict") and hasattr(x, "load_state_dict")):
                raise ReplayError(f"steps: {type(x).__name__} has no state_dict and load_state_dict, so it cannot be restored")
        self.params = [p for o in self.optimizers for group in o.param_groups for p in group["params"]]
        named = {id(p): name for model in self.models for name, p in model.named_parameters()}
        self.names = [named.get(id(p), str(i)) for i, p in enumerate(self.params)]
        self.place = {id(p): i for i, p in enumerate(self.params)}
        self.live = [v for o in self.optimizers for group in o.param_groups for k, v in group.items()     # made before the loop
                     if getattr(v, "requires_grad", False)]
        if imaginary := [name for name, p in zip(self.names, self.params) if p.is_complex()]:
            raise ReplayError(f"metagradient: expected real weights, got complex ones: {', '.join(imaginary[:6])}; "
                              "leave them out of the optimizer")

    def check_formulas(self) -> None:
        """ReplayError if the step of an optimizer cannot be followed."""
        for o in self.optimizers:
            if formula_of(type(o)) is None:
                raise ReplayError(f"metagradient: no formula is known for the step of {type(o).__name__}; there are "
                                  + ", ".join(FORMULAS))

    def side(self) -> list[Any]:
        """Tensors of the models that no optimizer trains: buffers, averages of weights."""
        return [x for model in self.models for x in (*model.parameters(), *model.buffers()) if id(x) not in self.place]

    def boundary(self) -> Snapshot:
        """What code between steps may change: options of optimizers, other objects, the random numbers."""
        return {"options": [[{k: kept(v) for k, v in group.items() if k != "params"} for group in o.param_groups]
                            for o in self.optimizers],
                "others": [copy.deepcopy(x.state_dict()) for x in self.others], "random": state_of(self.torch)}

    def snapshot(self) -> Snapshot:
        """A copy of everything."""
        return {**self.boundary(), "params": [kept(p) for p in self.params], "side": [kept(x) for x in self.side()],
                "state": [{self.place[id(p)]: {k: kept(v) for k, v in state.items()} for p, state in o.state.items()}
                          for o in self.optimizers]}

    def put_boundary(self, found: Snapshot) -> None:
        for x, state in zip(self.others, found["others"]):
            x.load_state_dict(copy.deepcopy(state))
        for o, groups in zip(self.optimizers, found["options"]):
            for group, options in zip(o.param_groups, groups):
                for key, value in options.items():
                    now = group.get(key)
                    if same(now, value):
                        continue
                    if any(now is x for x in self.live):
                        raise ReplayError(
                            f"metagradient: an optimizer's {key!r} is computed from wrt and was changed between two loops, "
                            "which cannot be repeated; set it inside the loop")
                    group[key] = kept(value)
        restore(self.torch, found["random"])

    def put(self, found: Snapshot) -> None:
        """Back to a snapshot, of this training or of another of the same shape."""
        if [tuple(x.shape) for x in found["params"]] != [tuple(p.shape) for p in self.params]:
            raise ReplayError("metagradient: each call of train() makes a model, or an optimizer, with different parameters")
        with self.torch.no_grad():
            for p, x in zip((*self.params, *self.side()), (*found["params"], *found["side"])):
                p.copy_(x)
        for p in self.params:
            p.grad = None
        for o, states in zip(self.optimizers, found["state"]):
            for i, state in states.items():
                o.state[self.params[i]] = {k: kept(v) for k, v in state.items()}
            for p in list(o.state):
                if self.place[id(p)] not in states:
                    del o.state[p]
        self.put_boundary(found)


def kept(x: Any) -> Any:
    """A copy that nothing changes."""
    return x.detach().clone() if hasattr(x, "detach") else copy.deepcopy(x)


def same(a: Any, b: Any) -> bool:
    """Are two options equal, tensors by their values?"""
    if hasattr(a, "detach") or hasattr(b, "detach"):
        return type(a) is type(b) and a.shape == b.shape and bool((a.detach() == b.detach()).all())
    return bool(a == b)
