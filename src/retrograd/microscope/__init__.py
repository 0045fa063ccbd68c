"""Tools made of hooks, for models of retrograd.nn and of torch.nn: what is behind every gradient.

    from retrograd import microscope

    with microscope.capture(model) as cap:
        loss(model(x), y).backward()
    cap.coverage()          every parameter: covered how, or why not
    cap.check()             the reconstructed gradient against the one that arrived
    cap.grads().norms()     per-sample gradient norms, without per-sample gradients

How it is made (one idea per file):

    listen     whose tensor is it; how function calls are heard: a function mode on torch, replaced names on retrograd
    capturing  every call of a function that takes a parameter becomes a Use: its inputs `a`, and by a hook on the node
               of its output the gradient `delta` there.  So layers, functional calls, tied weights, bare parameters and
               the insides of attention are all seen by one rule, and in-place activations keep working
    parameters which there are, which are asked for; runs: one call of the model, and every call inside that takes one
    batches    where the samples are in what a call computes; apart: three backward passes that prove it
    sources    from a tensor made of parameters (a slice, a transpose, an expression) back to the parameters
    rules      what (a, delta) mean: layers, for each kind of function; again, for any other
    terms      a weight's per-sample gradients in the cheapest form: outer products, rows, dense; sums, norms, dots
    loss       how the loss was reduced; filling: what hooks cannot take apart, sample by sample
    coverage   every parameter, covered how or why not, and the check against the gradients that arrived
    grads      the quantities; kfac and recipes on top; store: on disk
    recorder   record(): every op, node, hook, accumulation and step, in order; tap_torch, tap_retrograd: how each engine
               is listened to; recording: what was kept; trace_file: as a file (docs/trace-format.md)
    compare    two steps of a recording, side by side
    page       a recording as one HTML page; graph_view: what it draws, folds: in one box, layout: in which rows;
               page_answers: ledgers and causes for it; viewer.html: built from viewer/

Names are loaded on first use, so `import retrograd` costs nothing.
"""
from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_HOME = {
    "CaptureError": "errors",
    "UncoveredError": "errors",
    "StoreError": "errors",
    "capture": "capturing",
    "Capture": "capturing",
    "Coverage": "coverage",
    "Grads": "grads",
    "Kronecker": "grads",
    "KFAC": "kfac",
    "FactorStore": "store",
    "sampling_probabilities": "recipes",
    "norm_sampling": "recipes",
    "tracin": "recipes",
    "influence": "recipes",
    "private_gradient": "recipes",
    "dp_sgd_step": "recipes",
    "epsilon": "recipes",
    "fisher_diagonal": "recipes",
    "noise_scale": "recipes",
    "engine_of": "listen",
    "record": "recorder",
    "RecordingError": "recorder",
    "Recording": "recording",
    "Event": "recording",
    "Value": "recording",
    "load": "recording",
    "TraceError": "trace_file",
    "Ledger": "ledger",
    "Comparison": "compare",
    "Problem": "lint_static",
    "lint_source": "lint_static",
    "lint": "lint",
    "lint_recording": "lint",
    "watch": "watching",
    "Watch": "watching",
    "Replay": "replay",
    "Difference": "replay",
    "Cause": "why",
    "explain": "explain",
    "Explanation": "explain",
    "Trouble": "trouble",
    "Finding": "trouble",
    "why_none": "why",
    "why_not_fired": "why",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """`lint` and `explain` are functions, also after something imported the files of these names."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
