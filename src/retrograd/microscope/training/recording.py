"""One step of a training with its graph, and the way back through it.

The loop's body runs as it is.  Meanwhile backward() leaves gradients that have a graph themselves, and the optimizers' step()
does not change the weights: it notes what they would become, by formulas (optim/_formulas.py).  The derivative of a number in
the state after the step, times what came back from the later steps, is that in the state before.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...optim._formulas import formula_of, step_of
from ..errors import ReplayError
from .state import Held, Snapshot, kept, math_attention

COUNTS = ("step", "mu", "mu_product")
Cotangents = dict[tuple[int, str], Any]         # (number of the parameter, name of its state; "" is the parameter itself)


class Step:
    """What one recorded step did."""

    def __init__(self, held: Held, number: int) -> None:
        self.held = held
        self.torch = held.torch
        self.number = number
        self.arrived: dict[int, tuple[Any, Any, int]] = {}      # parameter -> its gradient, the node, its version
        self.updates: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.leaves: dict[tuple[int, str], Any] = {}
        self.stepped: list[Any] = []

    def backward(self, loss: Any, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False,
                 inputs: Any = None) -> None:
        """In place of Tensor.backward."""
        params = [p for p in self.held.params if p.requires_grad]
        if inputs is not None:
            params = [p for p in params if any(p is x for x in ([inputs] if hasattr(inputs, "shape") else inputs))]
        found = self.torch.autograd.grad(loss, params, gradient, create_graph=True, allow_unused=True)
        for p, g in zip(params, found):
            if g is not None:
                self.give(p, g.clone() if p.grad is None else p.grad + g)       # no view: an edit of one changes its node

    def give(self, p: Any, g: Any) -> None:
        p.grad = g
        self.arrived[id(p)] = (g, g.grad_fn, g._version)

    def clip_norm(self, parameters: Any, max_norm: float, norm_type: float = 2.0, *_: Any, **__: Any) -> Any:
        """In place of nn.utils.clip_grad_norm_."""
        found = [p for p in ([parameters] if hasattr(parameters, "shape") else parameters) if p.grad is not None]
        norm = self.torch.linalg.vector_norm
        total = norm(self.torch.stack([norm(p.grad, norm_type) for p in found]), norm_type)
        scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for p in found:
            self.give(p, p.grad * scale)
        return total.detach()

    def clip_value(self, parameters: Any, clip_value: float, *_: Any, **__: Any) -> None:
        """In place of nn.utils.clip_grad_value_."""
        for p in [parameters] if hasattr(parameters, "shape") else parameters:
            if p.grad is not None:
                self.give(p, p.grad.clamp(-clip_value, clip_value))

    def step(self, optimizer: Any, closure: Callable[[], Any] | None = None) -> Any:
        """In place of an optimizer's step."""
        loss = None if closure is None else closure()
        if any(o is optimizer for o in self.stepped):
            raise ReplayError(f"metagradient: step {self.number} calls the same optimizer twice; one step() for each batch")
        self.stepped.append(optimizer)
        optimizer._opt_called = True            # schedulers ask
        formula: Any = formula_of(type(optimizer))         # there is one: Held.check_formulas
        with self.torch.enable_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    self.check(p)
                    i, state = self.held.place[id(p)], dict(optimizer.state.get(p, {}))
                    step = state.setdefault("step", self.torch.zeros(()))
                    for k, v in state.items():
                        if k not in COUNTS and hasattr(v, "detach") and v.is_floating_point():
                            state[k] = self.leaves[i, k] = kept(v).requires_grad_()
                    self.updates[i] = step_of(formula, p, p.grad, state, group, float(step) + 1)
        return loss

    def check(self, p: Any) -> None:
        """Was the gradient edited in a way that autograd did not see?"""
        known = self.arrived.get(id(p))
        if known is None:
            raise ReplayError(f"metagradient: step {self.number} uses a gradient that came from no backward() of this step; "
                              "a gradient that is summed up over several batches must come from one round of the loop")
        g, node, version = known
        if p.grad is not g and node is not None and p.grad.grad_fn is None or p.grad is g and (
                g._version != version and g.grad_fn is node):
            raise ReplayError(
                f"metagradient: step {self.number} edits gradients where autograd does not see it (under no_grad, on detached "
                "tensors). clip_grad_norm_ and clip_grad_value_ are followed if called as functions of torch.nn.utils")

    def back(self, cotangents: list[Cotangents], leaves: dict[str, Any], after: Snapshot) -> tuple[list[Any], list[Any]]:
        """(cotangents before the step, derivatives in `leaves`) for each of the cotangents after it."""
        self.verify(after)
        inputs = [*self.held.params, *self.leaves.values(), *leaves.values()]
        made = {(i, k): x for i, (now, state) in self.updates.items() for k, x in {**state, "": now}.items()}
        before, found = [], []
        for each in cotangents:
            live = [(made[key], g) for key, g in each.items() if key in made and made[key].requires_grad]
            got = [None] * len(inputs)
            if live:
                got = self.torch.autograd.grad(
                    [x for x, _ in live], inputs, [g for _, g in live], retain_graph=True, allow_unused=True)
            n = len(self.held.params)
            passed = {key: g for key, g in each.items() if key[0] not in self.updates}
            for i, g in enumerate(got[:n]):
                if g is not None:
                    passed[i, ""] = passed[i, ""] + g if (i, "") in passed else g
            passed.update((key, g) for key, g in zip(self.leaves, got[n:]) if g is not None)
            before.append(passed)
            found.append(got[n + len(self.leaves):])
        return before, found

    def verify(self, after: Snapshot) -> None:
        """Does the recorded step lead where the training went?"""
        for i, p in enumerate(self.held.params):
            now, then = (self.updates[i][0] if i in self.updates else p).detach(), after["params"][i]
            away, size = float((now - then).abs().max()), float((then - p.detach()).abs().max())
            if not away <= 1e-3 * size + 1e-6 * float(then.abs().max()) and away == away:
                raise ReplayError(
                    f"metagradient: step {self.number}, repeated, gives weights that differ from the training's "
                    f"({self.held.names[i]} is off by {away:.2g}, the step was {size:.2g}). A step may depend only on its "
                    "batch, on random numbers and "
                    "on what was given to steps(batches, model, optimizer, scheduler, ...): not on counters of the loop, "
                    "gradients of earlier batches, or weights that another optimizer changed in the same step")


@contextmanager
def taking_place(torch: Any, held: Held, step: Step | None) -> Iterator[None]:
    """Recorded functions in the places of the engine's; without a step to record, those that leave graphs alone."""
    Tensor, utils, clip = torch.Tensor, torch.nn.utils, torch.nn.utils.clip_grad
    backward, whole = Tensor.backward, torch.autograd.backward
    places = []

    def stand_in(owner: Any, name: str, new: Any) -> None:
        places.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, new)

    def again(self: Any, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False, inputs: Any = None) -> None:
        whole(self, gradient, True, create_graph, inputs=inputs)

    def several(tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: Any = False,
                grad_variables: Any = None, inputs: Any = None) -> None:
        one: Any = step
        one.backward(tensors, grad_tensors, inputs=inputs)

    try:
        if step is None:
            stand_in(Tensor, "backward", functools.wraps(backward)(again))
        else:
            stand_in(Tensor, "backward", functools.wraps(backward)(
                lambda self, *args, **kwargs: step.backward(self, *args, **kwargs)))
            stand_in(torch.autograd, "backward", functools.wraps(whole)(several))
            for owner in (utils, clip):
                stand_in(owner, "clip_grad_norm_", step.clip_norm)
                stand_in(owner, "clip_grad_value_", step.clip_value)
        for o in held.optimizers:
            stand_in(o, "step", functools.wraps(o.step)(functools.partial(step.step, o) if step else plainly(o)))
        with math_attention(torch):
            yield
    finally:
        for owner, name, old in reversed(places):
            if old is None:
                delattr(owner, name)
            else:
                setattr(owner, name, old)


def plainly(optimizer: Any) -> Any:
    """Its step, with options as the numbers that they are."""
    original = optimizer.step

    def step(*args: Any, **kwargs: Any) -> Any:
        live = [(group, k, v) for group in optimizer.param_groups for k, v in group.items() if getattr(v, "requires_grad", False)]
        for group, k, v in live:
            group[k] = v.detach()
        try:
            return original(*args, **kwargs)
        finally:
            for group, k, v in live:
                group[k] = v

    return step
