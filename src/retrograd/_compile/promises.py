"""Promises: tensors that a plan gives before it computes them, and what happens when somebody looks at one.

A promise is a Tensor without an array.  Public functions are compared with the plan before they run; whatever else reads
a field of a promise, or the array of any tensor while there are promises, comes here first (Field in _kernels/verify.c).
"""
from __future__ import annotations

import threading
from typing import Any

from .. import _kernels
from .._engine.modes import State
from .._engine.tensor import AccumulateGrad, TensorBase
from .._tensor import Tensor
from .guards import FIELDS
from .values import Guards

Matcher: Any = getattr(_kernels.nn, "Matcher", None)
Track: Any = getattr(_kernels.nn, "Track", None)
NAMES = ("array", "rg", "fn", "nr", "version", "sink", "kept", "origin", "listeners", "inference", "cut")
HERE = Matcher is not None and FIELDS > 0 and hasattr(State, "__mypyc_attrs__")


class Active(threading.local):
    """The call that compares, on this thread."""

    runner: Any = None


active = Active()


def settle(t: Any, always: bool) -> None:
    """Somebody is about to read or write a field of t."""
    runner = active.runner
    if runner is not None and not runner.busy:
        runner.looked(t, always)


INNER: dict[str, Any] = {name: vars(TensorBase)[name] for name in NAMES} if HERE else {}
GET = {name: inner.__get__ for name, inner in INNER.items()}     # fields as they are
SET = {name: inner.__set__ for name, inner in INNER.items()}
for _name, _inner in INNER.items():
    setattr(Tensor, _name, _kernels.nn.Field(_inner, _name == "array", settle))


def fill(promise: Any, t: Any) -> None:
    """The promise becomes what t is."""
    for name in NAMES:
        SET[name](promise, GET[name](t))


def place(name: str) -> int:
    """Where a field of a tensor is, behind its header."""
    t = Tensor.__new__(Tensor)
    was = Guards.fields(t, FIELDS)
    SET[name](t, Any if name == "array" else AccumulateGrad(t))
    now = Guards.fields(t, FIELDS)
    return next(i for i in range(len(was)) if was[i] != now[i]) // 8 * 8


def moods(it: Any) -> bytes:
    """What of a thread's State says how an op is recorded: grad mode first."""
    fields = Guards.fields(it, State.__basicsize__)
    return bytes([fields[i] for i in PLACES])


def _places() -> bytes:
    """Where these are, behind the header."""
    found = []
    for name in ("grad", "inference", "lenient", "counted", "marks"):
        it = State()
        was = Guards.fields(it, State.__basicsize__)
        setattr(it, name, not getattr(it, name))
        now = Guards.fields(it, State.__basicsize__)
        found.append(next(i for i, (a, b) in enumerate(zip(was, now)) if a != b))
    return bytes(found)


PLACES = _places() if HERE else b""
