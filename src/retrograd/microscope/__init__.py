"""Tools made of hooks, for models of retrograd.nn and of torch.nn: what is behind every gradient.

    from retrograd import microscope

    with microscope.capture(model) as cap:
        loss(model(x), y).backward()
    cap.coverage()          every parameter: covered how, or why not
    cap.check()             the reconstructed gradient against the one that arrived
    cap.grads().norms()     per-sample gradient norms, without per-sample gradients

How it is made (one idea per file, folders in the order in which they import each other):

    listen     what happens on an engine, as it happens: one adapter for each engine, which also reads its tensors
    capture    every call of a function that takes a parameter becomes a Use: its inputs `a`, and by a hook on the node of
               its output the gradient `delta` there.  So layers, functional calls, tied weights, bare parameters and the
               insides of attention are all seen by one rule, and in-place activations keep working
        capturing, block, calls      what users call; the block; what becomes of a call in it.  Compiled but for the first, as are
        runs, pending                a call of the model, and uses whose gradient has not come
        batches, batch_proof         where the samples are in what a call computes; three backward passes that prove it
        sample_order, batch_dims, sample_weights, loss, loss_key      which sample is which row, and how the loss was reduced
        sources                      from a tensor made of parameters back to the parameters
        rules, layers, recomputing, per_sample_calls        what (a, delta) mean for each kind of function, and for any other
        terms, products, grads       per-sample gradients in the cheapest form; sums, norms, dots
        coverage, kfac, recipes, store      how each parameter is covered; what is made of it; on disk
    record     every op, node, hook, accumulation and step, in order.  A recording is data (recording), also as a file
               (trace_file, docs/trace-format.md); witness, book, journal, fired: what runs at every op, compiled
    answers    functions over a recording: why, ledger, trouble, explain, compare, side_by_side, ...;
               tables: what was found, for pandas, Arrow and Parquet
    page       a recording as one HTML page: graph_view, folds, layout: what it draws; contents: what it says;
               viewer.html: built from viewer/
    training   around a loss and over a whole training: curvature; metagradient, of which loop is the iterator that sends the
               loop back to earlier steps, recording a step with its graph, state and shelf what is kept; attribution and
               validation: other people's scores, and whether they hold
    contracts  what one backward pass did, in a file that tests compare with; retrograd_pytest is pytest's plugin
    flight     the last steps of a training, kept cheaply, and written out when something goes wrong
    memory     what graphs save and let go, while a program runs, and who keeps it
    lint       mistakes that a source, a live model or a recording shows

Names are loaded on first use, so `import retrograd` costs nothing.
"""
from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answers.compare import Comparison as Comparison
    from .answers.explain import Explanation as Explanation
    from .answers.explain import explain as explain
    from .answers.ledger import Ledger as Ledger
    from .answers.ranks import Ranks as Ranks
    from .answers.ranks import merge as merge
    from .answers.side_by_side import Beside as Beside
    from .answers.side_by_side import SideBySide as SideBySide
    from .answers.side_by_side import compare as compare
    from .answers.tables import to_arrow as to_arrow
    from .answers.tables import to_pandas as to_pandas
    from .answers.tables import to_parquet as to_parquet
    from .answers.trouble import Finding as Finding
    from .answers.trouble import Trouble as Trouble
    from .answers.watchdog import Verdict as Verdict
    from .answers.watchdog import Watchdog as Watchdog
    from .answers.watchdog import watchdog as watchdog
    from .answers.watching import Watch as Watch
    from .answers.watching import watch as watch
    from .answers.why import Cause as Cause
    from .answers.why import why_none as why_none
    from .answers.why import why_not_fired as why_not_fired
    from .capture.capturing import Capture as Capture
    from .capture.capturing import capture as capture
    from .capture.coverage import Coverage as Coverage
    from .capture.grads import Grads as Grads
    from .capture.grads import Kronecker as Kronecker
    from .capture.kfac import KFAC as KFAC
    from .capture.recipes import dp_sgd_step as dp_sgd_step
    from .capture.recipes import epsilon as epsilon
    from .capture.recipes import fisher_diagonal as fisher_diagonal
    from .capture.recipes import influence as influence
    from .capture.recipes import noise_scale as noise_scale
    from .capture.recipes import norm_sampling as norm_sampling
    from .capture.recipes import private_gradient as private_gradient
    from .capture.recipes import sampling_probabilities as sampling_probabilities
    from .capture.recipes import tracin as tracin
    from .capture.store import FactorStore as FactorStore
    from .contracts.kept import Contract as Contract
    from .contracts.kept import ContractError as ContractError
    from .contracts.taking import assert_contract as assert_contract
    from .contracts.taking import contract as contract
    from .errors import CaptureError as CaptureError
    from .errors import ReplayError as ReplayError
    from .errors import StoreError as StoreError
    from .errors import UncoveredError as UncoveredError
    from .flight.flying import Flight as Flight
    from .flight.flying import flight as flight
    from .lint.live import lint as lint
    from .lint.live import lint_recording as lint_recording
    from .lint.static import Problem as Problem
    from .lint.static import lint_source as lint_source
    from .listen import engine_of as engine_of
    from .memory.holding import Memory as Memory
    from .memory.holding import memory as memory
    from .record.recorder import RecordingError as RecordingError
    from .record.recorder import record as record
    from .record.recording import Event as Event
    from .record.recording import Recording as Recording
    from .record.recording import Value as Value
    from .record.recording import load as load
    from .record.replay import Difference as Difference
    from .record.replay import Replay as Replay
    from .record.trace_file import TraceError as TraceError
    from .training.attribution import Attributions as Attributions
    from .training.attribution import attributions as attributions
    from .training.curvature import Curvature as Curvature
    from .training.curvature import curvature as curvature
    from .training.loop import Steps as Steps
    from .training.metagradient import Metagradient as Metagradient
    from .training.metagradient import metagradient as metagradient
    from .training.validation import Validation as Validation
    from .training.validation import validate as validate

_HOME = {
    "CaptureError": "errors",
    "UncoveredError": "errors",
    "StoreError": "errors",
    "ReplayError": "errors",
    "capture": "capture.capturing",
    "Capture": "capture.capturing",
    "Coverage": "capture.coverage",
    "Grads": "capture.grads",
    "Kronecker": "capture.grads",
    "KFAC": "capture.kfac",
    "FactorStore": "capture.store",
    "sampling_probabilities": "capture.recipes",
    "norm_sampling": "capture.recipes",
    "tracin": "capture.recipes",
    "influence": "capture.recipes",
    "private_gradient": "capture.recipes",
    "dp_sgd_step": "capture.recipes",
    "epsilon": "capture.recipes",
    "fisher_diagonal": "capture.recipes",
    "noise_scale": "capture.recipes",
    "engine_of": "listen",
    "memory": "memory.holding",
    "Memory": "memory.holding",
    "record": "record.recorder",
    "RecordingError": "record.recorder",
    "Recording": "record.recording",
    "Event": "record.recording",
    "Value": "record.recording",
    "load": "record.recording",
    "TraceError": "record.trace_file",
    "Ledger": "answers.ledger",
    "Ranks": "answers.ranks",
    "merge": "answers.ranks",
    "Comparison": "answers.compare",
    "compare": "answers.side_by_side",
    "SideBySide": "answers.side_by_side",
    "Beside": "answers.side_by_side",
    "Problem": "lint.static",
    "lint_source": "lint.static",
    "lint": "lint.live",
    "lint_recording": "lint.live",
    "watch": "answers.watching",
    "watchdog": "answers.watchdog",
    "Watchdog": "answers.watchdog",
    "Verdict": "answers.watchdog",
    "Watch": "answers.watching",
    "flight": "flight.flying",
    "Flight": "flight.flying",
    "Replay": "record.replay",
    "Difference": "record.replay",
    "Cause": "answers.why",
    "explain": "answers.explain",
    "Explanation": "answers.explain",
    "Trouble": "answers.trouble",
    "Finding": "answers.trouble",
    "to_arrow": "answers.tables",
    "to_pandas": "answers.tables",
    "to_parquet": "answers.tables",
    "why_none": "answers.why",
    "why_not_fired": "answers.why",
    "contract": "contracts.taking",
    "assert_contract": "contracts.taking",
    "Contract": "contracts.kept",
    "ContractError": "contracts.kept",
    "curvature": "training.curvature",
    "Curvature": "training.curvature",
    "Steps": "training.loop",
    "attributions": "training.attribution",
    "Attributions": "training.attribution",
    "validate": "training.validation",
    "Validation": "training.validation",
    "metagradient": "training.metagradient",
    "Metagradient": "training.metagradient",
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
