"""contract(): one forward and one backward pass, recorded, and what is to stay of it.  assert_contract(): did it stay?"""
from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..answers.compare import amount
from ..answers.why import Cause, hook_of, why_none
from ..arguments import FilePath, checked
from ..errors import CaptureError
from ..listen import engine_of, engine_of_module, retrograd
from ..record.recorder import record
from ..record.recording import Recording
from ..record.replay import outputs
from ..training.curvature import other_buffers
from ..training.randomness import restore, state_of
from .kept import TEXT, Contract, Gradient, Hook, Output, Parameter, Silent

PLACE = re.compile(r" \([^()]*:\d+\)")          # file:line: lines move


@checked
def contract(
    model: Any, batch: Any, loss: Callable[..., Any] | None = None, *, forward: Callable[..., Any] | None = None, seed: int = 0,
) -> Contract:
    """What one backward pass through the model does: a Contract, to save and to compare with later passes.

    model    a module, or a function without arguments that makes one, from `seed`
    batch    (x, *rest), or x alone, or a dict of keyword arguments
    loss     called as loss(model(x), *rest) or loss(model(**batch)); by default the output of model(x, *rest) if that is
             one number, or its .loss, else the mean square of the tensors in it
    forward  (model, *batch) -> first argument of the loss
    seed     for the random numbers of Python, NumPy and the engines
    Their generators, buffers and every .grad are left as they were; hooks run.  CaptureError for a model without parameters.
    """
    with seeded(seed):
        if isinstance(model, type) or callable(model) and not hasattr(model, "named_parameters"):
            model = model()
        torch = engine_of_module(model, "contract").torch
        if next(model.parameters(), None) is None:
            raise CaptureError(f"contract: {type(model).__name__} has no parameters, so there are no gradients to keep to")
        with other_buffers(model), other_grads(model), torch.enable_grad():
            with record(model) as rec:
                number = loss_of(model, batch, loss, forward)
                # where nothing requires grad there would be no backward pass, and nothing that tells why
                (number if number.requires_grad else number + torch.zeros((), requires_grad=True)).backward()
            return read(rec, model, float(number.detach()), seed)


@checked
def assert_contract(
    path: Contract | FilePath, model: Any, batch: Any = None, loss: Callable[..., Any] | None = None, *,
    forward: Callable[..., Any] | None = None, seed: int | None = None, rtol: float = 1e-3,
) -> None:
    """Raise AssertionError, with the differences and their causes, unless the model does what the contract says.

    path   a file of Contract.save, or a Contract
    model, batch, loss, forward   as in contract(); or, instead of the model, a Contract already taken
    seed   of random numbers; by default the contract's
    rtol   relative tolerance of norms
    """
    __tracebackhide__ = True
    kept = path if isinstance(path, Contract) else Contract.load(path)
    now = model if isinstance(model, Contract) else contract(
        model, batch, loss, forward=forward, seed=kept.seed if seed is None else seed)
    found = kept.differences(now, rtol)
    if found:
        name = "the contract" if kept is path else str(path)
        raise AssertionError("\n".join([f"gradients are not as {name} says:", *("  " + d.text for d in found)]))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers are those of `seed`, then again what they were."""
    loaded = sys.modules.get("torch")
    engines: list[Any] = [retrograd] + ([loaded] if loaded is not retrograd and hasattr(loaded, "get_rng_state") else [])
    before = [(engine, state_of(engine)) for engine in engines]
    try:
        random.seed(seed)
        np.random.seed(seed % (1 << 32))
        for engine in engines:
            engine.manual_seed(seed)
        yield
    finally:
        for engine, state in before:
            restore(engine, state)


@contextmanager
def other_grads(model: Any) -> Iterator[None]:
    """No parameter has a .grad, then again what it was."""
    grads = [(p, p.grad) for p in model.parameters()]
    try:
        for p, _ in grads:
            p.grad = None
        yield
    finally:
        for p in model.parameters():
            p.grad = None                       # of those that a lazy module made meanwhile, too
        for p, g in grads:
            p.grad = g


def loss_of(model: Any, batch: Any, loss: Any, forward: Any) -> Any:
    """A tensor of one number."""
    if not isinstance(batch, (tuple, list, Mapping)):
        batch = (batch,)
    given = () if isinstance(batch, Mapping) else batch
    if forward is not None:
        out = forward(model, batch) if isinstance(batch, Mapping) else forward(model, *batch)
    elif isinstance(batch, Mapping):
        out = model(**batch)
    else:
        out = model(*(batch[:1] if loss is not None else batch))
    number = loss(out, *given[1:]) if loss is not None else of_itself(out)
    if not hasattr(number, "numel") or number.numel() != 1:
        shape = tuple(number.shape) if hasattr(number, "shape") else type(number).__name__
        raise CaptureError(f"contract: the loss must be a tensor of one number, not {shape}")
    return number


def of_itself(out: Any) -> Any:
    its = out.get("loss") if isinstance(out, Mapping) else getattr(out, "loss", None)
    if its is not None:
        return its
    found = [t for t in tensors_in(out) if t.is_floating_point() or t.is_complex()]
    if not found:
        raise CaptureError(f"contract: the model returned a {type(out).__name__} without tensors of floats: give a loss=")
    if found == [out] and out.numel() == 1 and not out.is_complex():
        return out
    return sum(t.abs().square().mean() for t in found)


def tensors_in(out: Any) -> Iterator[Any]:
    if isinstance(out, Mapping):
        out = tuple(out.values())
    if isinstance(out, (tuple, list)):
        for x in out:
            yield from tensors_in(x)
    elif hasattr(out, "is_floating_point"):
        yield out


def read(rec: Recording, model: Any, loss: float, seed: int) -> Contract:
    """What stays of a recording."""
    if rec.dropped:
        raise CaptureError(f"contract: the pass has more events than a recording holds ({rec.header['limit']}): take a part "
                           "of the model")
    parameters: dict[str, Parameter] = {}
    causes: dict[Any, Cause] = {}
    for name, p in model.named_parameters(remove_duplicate=False):
        n = rec.number_of(name)
        value = None if n is None else rec.value(rec.tensor_names[n].get("at_end", -1))
        if value is None:
            causes[name] = why_none(p, rec)
        parameters[name] = Parameter(
            tuple(p.shape), str(p.dtype).rpartition(".")[2], norm_of(p),
            None if value is None else Gradient(value.dtype, amount(rec, value.number)),
            causes[name].code if value is None else None)
    fired = [(rec.hooks[e.hook], bool(e.changed)) for e in rec.of("hook")]
    silent = []
    for n, h in enumerate(rec.hooks):
        if not h["fired"]:
            cause = hook_of(rec, n)
            silent.append(Silent(*told(h), cause.code))
            causes[silent[-1][:3]] = cause
    found = Contract(
        rec.engine, seed, loss, parameters, [Hook(*told(h), changed) for h, changed in fired], silent,
        [Output(path or "the model", v.shape, v.dtype, amount(rec, v.number)) for path, _, v in outputs(rec)])
    found.causes, found.trouble = causes, rec.trouble().findings
    return found


def told(hook: dict[str, Any]) -> tuple[str, str, str]:
    """A hook by its name, kind and place."""
    name, kind, on = (str(x)[:TEXT] for x in (hook["name"], hook["kind"].replace("_", "-"), hook["on"] or "the model"))
    return name, kind, PLACE.sub("", on)


def norm_of(p: Any) -> float:
    with engine_of(p).no_grad():
        return float(p.detach().abs().double().square().sum().sqrt())
