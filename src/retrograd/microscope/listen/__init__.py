"""Listening to an engine: one protocol, and one adapter for each of the two, by which capture, record, watch and why listen.

An adapter is an `Engine` (engine.py; ours.py is retrograd's, pytorch.py PyTorch's).  It says what an engine is made of, reads
its tensors, and lets somebody hear

    calls(ear)          ear.call(func, impl, args, kwargs) is called in place of every public function, method and property of
                        tensors that a program calls on this thread, not of those that such a function calls inside.  It
                        gives what impl(*args, **kwargs) gives (kwargs may be None), in which nothing is heard;
                        engine.inside calls a function whose own calls are to be heard: a pass, attention

It is one slot of the thread, or one mode: contexts nest, and who is outside hears what the inner one lets through.  Nothing is
replaced meanwhile, so a function that a program imported by name before is heard, too, and one that it replaces stays replaced.
ear.py is a capture's, a recording has its own (record/witness.py), which is told of nodes and hooks besides: by our engine
itself (_engine/modes.py, NOTE [Observer] and NOTE [Clerk]), on PyTorch by hooks (record/tap_torch.py) and by what stands for a
few functions that no hook tells of (replaced.py).

torch is never imported: an object of it can only come in when somebody has imported it already (NOTE [No import]).
"""
from __future__ import annotations

import sys
from typing import Any

from .engine import Engine

retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us: imports point one way

# NOTE [No import]
# The type of a torch object was defined in a module named torch...; if `torch` is in sys.modules, isinstance against its
# Tensor and Module decides (subclasses live in modules of any name).  Nothing here imports it.
_engines: dict[str, Engine] = {}


def engine_named(name: str) -> Engine:
    """The engine 'retrograd' or 'torch' (which must have been imported)."""
    engine = _engines.get(name)
    if engine is None:
        if name == "retrograd":
            from .ours import RetrogradEngine
            engine = RetrogradEngine()
        else:
            from .pytorch import TorchEngine
            engine = TorchEngine()
        _engines[name] = engine
    return engine


def engine_of(x: Any) -> Engine:
    """The engine of a tensor or module.  TypeError for anything else.

    x   of retrograd or of PyTorch
    """
    if isinstance(x, (retrograd.Tensor, retrograd.nn.Module)):
        return engine_named("retrograd")
    torch = sys.modules.get("torch")
    if torch is not None and torch is not retrograd and hasattr(torch, "nn"):
        if isinstance(x, (torch.Tensor, torch.nn.Module)):
            return engine_named("torch")
    raise TypeError(
        "microscope: expected a module or tensor of retrograd or of torch, got "
        + f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins."))


def engine_of_module(model: Any, asked: str) -> Engine:
    """The engine of a module.  TypeError, in the name of the function that was `asked`, for what is none."""
    loaded = sys.modules.get("torch")
    if isinstance(model, retrograd.nn.Module):
        return engine_named("retrograd")
    if isinstance(model, getattr(getattr(loaded, "nn", None), "Module", ())):
        return engine_named("torch")
    raise TypeError(f"{asked}: expected a module (retrograd.nn.Module or torch.nn.Module), got {type(model).__name__}")


__all__ = ["Engine", "engine_named", "engine_of", "engine_of_module"]
