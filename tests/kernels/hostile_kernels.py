"""Calls kernels as no caller of ours would: `python tests/kernels/hostile_kernels.py arguments|threads [how many turns] [seed]`.

arguments

Each kernel of `_fast` and `_nn` gets good arguments, then the same with one or two of them replaced: arrays byte-swapped,
misaligned, read-only, strided, empty beside huge dims, overlapping; numbers huge, negative, NaN; things of other types.
Allowed are an exception, a refusal (None or False) that leaves everything as it was, or the result that plain copies of the
arguments give.  What is not allowed is printed; a crash ends the process, and the last line says in which kernel.

threads
Kernels run while other threads write to their indices, parse numbers, which resizes arrays without the GIL, and interrupt.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import resource
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as torch
from retrograd._kernels import _fast, nn  # type: ignore[attr-defined]

F4 = np.dtype("f4")
SANITIZED = "ASAN_OPTIONS" in os.environ        # then address space is no measure of memory
SWITCHES = {"vectors", "threads", "blocks_start", "blocks_stop"}        # change more than their arguments
PLACES = {"takes", "mine", "address", "blocks_stats"}           # tell of their arguments' memory
HUGE = [2**33, 2**40, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]
NUMBERS: list[Any] = [0, 1, -1, 3, -(2**31), -(2**63), -(2**70), 0.5, -2.5, float("nan"), float("inf"), True, *HUGE]
THINGS: list[Any] = [None, "text", b"bytes", (), (1,), [1.0], {}, object(), 1j, np.float32(1), np.int64(2), int, np.add]


def ramp(*shape: int, dtype: Any = F4) -> Any:
    x = np.linspace(0.1, 0.9, int(np.prod(shape)), dtype="f8").reshape(shape)
    return (x * 3).astype(dtype) if np.dtype(dtype).kind == "i" else x.astype(dtype)


def index(*shape: int) -> Any:
    return np.arange(int(np.prod(shape)), dtype="i8").reshape(shape) % 2


class Bits:
    """Stands for the capsule of a generator, which is put back before each call so that draws can be made twice."""


GENERATOR = np.random.MT19937(3)
STATE = GENERATOR.state


WINDOWS = (4, 4, 2, 2, 1, 1, 0, 0, 1, 1, 3, 3)
x, v, sq, vol = ramp(3, 4), ramp(4), ramp(4, 4), ramp(2, 2, 4, 4)
big = ramp(40, 40)
waves = x + 1j * x
heads = ramp(2, 2, 8, 16)
GOOD: dict[str, list[tuple[Any, ...]]] = {
    "add_up": [(x, x + 1, True)], "takes": [(x, x + 1)], "once": [(np.exp, x)], "sum_rows": [(x, (4,)), (x, (1, 4))],
    "spread": [(x, (2, 3, 4)), (v, (3, 4))], "address": [(x,)], "view": [(x, (2, -1)), (x, ((6, 2),))],
    "mine": [(), (1,)], "track": [([],)], "untrack": [([],)],
    "adam": [(x, x + 1, x + 2, x + 3, None, ramp(1), 0.1, 0.9, 0.99, 1e-8, 0.1, True, False),
             (x, x + 1, x + 2, x + 3, x + 4, ramp(1), 0.1, 0.9, 0.99, 1e-8, 0.1, False, True)],
    "sgd": [(x, x + 1, None, 0.1, 0.0, 0.0, 0.0, False, False, False), (x, x + 1, x + 2, 0.1, 0.9, 0.0, 0.1, True, True, False)],
    "rmsprop": [(x, x + 1, x + 2, None, ramp(1), 0.1, 0.9, 1e-8, 0.1, 0.0, True),
                (x, x + 1, x + 2, x + 3, ramp(1), 0.1, 0.9, 1e-8, 0.0, 0.9, False)],
    "squares": [(x,), ((x, big.astype("f8"), x + 1),)], "scale": [(x, 2.0)],
    "gelu": [(x, True), (x, False)], "gelu_grad": [(x, x + 1, True), (x, x + 1, False)],
    "softmax": [(x, 1), (x, 0), (big, 1)], "log_softmax": [(x, 1), (x, 0), (big, 1)],
    "softmax_grad": [(x, x + 1, 1), (x, x + 1, 0)], "log_softmax_grad": [(x, x + 1, 1), (x, x + 1, 0)],
    "safe_softmax": [(x, None), (ramp(2, 3, 4), x)], "nll": [(x, index(3), True)], "nll_grad": [(ramp(), index(3), 4, True)],
    "mse_grad": [(x, x + 1, x + 2, 0.5, 2.0), (ramp(), x + 1, x + 2, 0.5, 2.0)],
    "layer_norm": [(x, v, v, 1, 1e-5), (x, None, None, 2, 1e-5)], "rms_norm": [(x, v, 1, 1e-5)],
    "layer_norm_grad": [(x, x + 1, v, ramp(3, 1), ramp(3, 1) + 1, 1, True, True, True)],
    "add_bias": [(x, v)], "matmul": [(x, sq)], "linear": [(x, sq, v, True), (big, big + 1, big[0].copy(), True)],
    "linear_grad": [(x, x + 1), (big, big + 1)], "multiply": [(big, big + 1), (ramp(2, 5, 6), ramp(2, 6, 5))],
    "multiply_into": [(big, big + 1, big + 2, 1)], "gram": [(x, sq, 0.5, 0.5, 1), (big, big + 1, 0.0, 1.0, 0)],
    "mirror": [(sq,), (big,)], "ghost": [(ramp(2, 5, 3), (ramp(2, 5, 4), ramp(2, 5, 4)), ramp(2), 1)],
    "token_sums": [(ramp(2, 3, 4), None, ramp(2, 4)), (ramp(2, 3, 4), ramp(2, 3, 4), ramp(2, 4))],
    "row_norms": [(index(2, 3), ramp(2, 3, 4), 2, ramp(2))], "add_rows": [(index(3), x, 5)],
    "sum_around": [(ramp(2, 3, 4), 1), (x, 1)], "vectors": [(4,)], "threads": [(1,)],
    "attention": [(heads, heads + 1, heads + 2, None, True, 0.5), (heads, heads + 1, heads + 2, ramp(8, 8), False, 0.5)],
    "attention_grad": [(heads, heads + 1, heads + 2, heads + 3, heads, ramp(2, 8, 2), None, True, 0.5)],
    "lstm": [(ramp(3, 2, 16), ramp(16, 4), ramp(16), ramp(2, 4), ramp(2, 4))],
    "lstm_grad": [(ramp(4, 2, 4), ramp(16, 4), ramp(3, 2, 16), ramp(4, 2, 4))],
    "convolve": [(vol, ramp(2, 2, 2, 2), v[:2].copy(), WINDOWS, 1)],
    "convolve_x": [(ramp(2, 2, 3, 3), ramp(2, 2, 2, 2), WINDOWS, 1)], "convolve_w": [(ramp(2, 2, 3, 3), vol, WINDOWS, 1)],
    "window_sums": [(vol, WINDOWS)], "spread_sums": [(ramp(2, 2, 3, 3), WINDOWS)],
    "max_pool": [(vol, index(3, 2), index(3, 2))], "max_pool3": [(ramp(2, 3, 3, 3), index(2, 2), index(2, 2), index(2, 2))],
    "place_at": [(ramp(2, 3), index(2, 3), 2, 2)],
    "uniform": [(Bits(), x)], "keep": [(Bits(), x, 0.5, 2.0)], "permute": [(Bits(), index(7))],
    "pick": [(Bits(), x), (Bits(), ramp(2, 3, dtype="f8"))],
    "integers": [(Bits(), index(7), 10, 0, False)], "poisson": [(Bits(), ramp(5, dtype="f8") * 20, ramp(5, dtype="f8"))],
    "gammas": [(Bits(), ramp(5, dtype="f8") + 1, ramp(5, dtype="f8"), np.zeros(2), ramp(5, dtype="f8"))],
    "binomials": [(Bits(), ramp(5, dtype="f8") * 40, ramp(5, dtype="f8"), 1 - ramp(5, dtype="f8"), ramp(5, dtype="f8"))],
    "normal_groups": [(ramp(32),), (ramp(16, dtype="f8"),)], "normal_pairs": [(ramp(6, dtype="f8"),)],
    "move": [(x, 0.5, 2.0), (ramp(5, dtype="f8"), 0.5, 2.0)],
    "libm": [(ramp(5, dtype="f8"), "exp"), (-ramp(5, dtype="f8") / 9, "log1p")],
    "arange": [(x, 0.5, 2.0), (ramp(50, dtype="f8"), 0.5, -2.0)], "linspace": [(x, 0.5, 2.0), (ramp(50, dtype="f8"), 0.5, 2.0)],
    "powers": [(ramp(50, dtype="f8"), 10.0)],
    "blocks_start": [(2**28,)], "blocks_stop": [()], "blocks_stats": [()], "blocks_clear": [()],
    "cumsum": [(x, 1), (x, 0), (waves, 1)], "cumprod": [(x, 1), (waves, 0)], "cummax": [(x, 1), (x, 0)], "cummin": [(x, 1)],
    "flip": [(x, (0, 1)), (x, (1,))],
    "triangle": [(x, 1, True), (x, -1, False)], "bounds": [(index(5),)],
    "gather": [(x, 1, index(3, 2)), (x, 0, index(2, 4))],
    "scatter": [(x, 1, index(3, 2), x + 1, 1), (x, 0, index(2, 4), 2.0, 0), (index(3, 4), 1, index(3, 2), 3, 2)],
    "slices": [(x, 1, index(2), ramp(3, 2), 0), (x, 0, index(2), 2.0, 1), (index(3, 4), 0, index(2), 2, 1)],
    "masked_scatter": [(x, x > 0.5, x + 1)], "halves": [(x,), (x.astype("f2"),)],
    "channel_stats": [(ramp(2, 3, 4),), (x,)], "channel_affine": [(ramp(2, 3, 4), ramp(3), ramp(3), ramp(3), None)],
    "roll": [(x, 1, 0), (index(3, 4), -5, None)], "one_hot": [(index(3), 4), (index(2, 3), -1)],
    "extreme": [(x, (1,), True, True), (ramp(2, 3, 40), (0, 1), False, False)],
    "logsumexp": [(x, 1, True), (x, 0, False), (big, 1, False)],
    "distances": [(ramp(2, 5, 3), ramp(2, 4, 3), 2.0), (x, x + 1, 1.0), (x, x + 1, float("inf"))],
    "inverses": [(sq + np.eye(4, dtype=F4),), (ramp(5, 2, 2) + 2 * np.eye(2, dtype=F4),)],
    "kth": [(x, 1), (x.astype("f8"), 0), (index(3, 4), 3), (index(3, 4).astype("i4"), 2)],
    "middle": [(x, False), (x.astype("f8"), True), (index(3, 4), False)],
    "first": [(x, 1, True), (x.astype("f8"), 4, False), (index(3, 4), 3, True), (index(3, 4).astype("i4"), 2, False)],
    "same": [(x, x.copy()), (x, x + 1)],
    "complex_times": [(waves, waves + 1), (waves, 2j), (waves.astype("D"), waves.astype("D"))],
    "complex_over": [(waves, waves + 1), (1.0, waves), (waves.astype("D"), np.complex128(2)), (waves[0, 0].reshape(()), waves)],
    "complex_blend": [(waves, waves + 1, waves * 1j, 0)], "complex_add_product": [(waves, waves + 1, waves - 1, 2j)],
    "complex_products": [(waves, waves.T.copy()), (ramp(5, 2, 2) + 1j, ramp(5, 2, 3).astype("F"))],
    "logcumsumexp": [(waves, 0), (waves.astype("D"), 1)],
    "choose": [(x > 0.5, x, x + 1), (x > 0.5, x, ramp()), (x > 0.5, waves.T.copy().T, waves), (x > 0.5, ramp() > 1, x > 0.7)],
    "prelu": [(ramp(2, 3, 4), ramp(3)), (x, ramp(1))], "clamp": [(x, 0.2, 0.5), (x, None, 0.5)],
    "nan_to_num": [(x, 0.0, 1.0, -1.0)], "lerp": [(x, x + 1, 0.3, 0.7)],
    "lerp_into": [(x, x + 1, 0.3, 0.7), (x, 2.0, 0.3, 0.7)], "add_scaled_into": [(x, x + 1, 0.5), (big, big + 1, -2)],
}


# No kernels: who is asked before a call (tests/engine/test_dispatch.py), what torch.compile is made of (tests/compile), imports.
OTHERS = {"instantiate", "rename", "Function", "dispatcher", "dispatching", "Program", "Guards", "Field", "Matcher", "Track"}


def kernels() -> dict[str, Callable[..., Any]]:
    found = {}
    for module in (_fast, nn):
        found.update({name: f for name, f in vars(module).items() if callable(f) and name not in OTHERS})
    return found


def good(name: str, run: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Arguments that the kernel takes; of those that are not listed arrays first, then numbers."""
    if name in GOOD:
        return GOOD[name]
    for count in range(1, 8):
        for arrays in range(count, 0, -1):
            given = tuple(x + i for i in range(arrays)) + (0.5,) * (count - arrays)
            try:
                result = run(*copied(given))
            except TypeError:
                continue
            if result is not None and result is not False:
                return [given]
    return []


def copied(given: Any) -> Any:
    """Plain copies: native, aligned, in C order, nothing shared."""
    if isinstance(given, tuple):
        return tuple(copied(a) for a in given)
    if isinstance(given, Bits):
        return GENERATOR.capsule
    if isinstance(given, np.ndarray) and given.dtype.kind in "fiub" and given.nbytes < 2**24:
        return np.array(given, given.dtype.newbyteorder("="), order="C", copy=True, subok=False)
    return given


def used(given: Any) -> Any:
    return tuple(used(a) for a in given) if isinstance(given, tuple) else copied(given) if isinstance(given, Bits) else given


def anew(given: Any) -> Any:
    return tuple(anew(a) for a in given) if isinstance(given, tuple) else given if isinstance(given, Bits) else copied(given)


class Sub(np.ndarray):
    pass


def misaligned(a: Any) -> Any:
    raw = np.zeros(a.nbytes + 1, "u1")[1:]
    out = raw[: a.nbytes].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out


def readonly(a: Any) -> Any:
    a = a.copy()
    a.flags.writeable = False
    return a


def spaced(a: Any) -> Any:
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype) if a.ndim else a
    out = wide[..., ::2]
    out[...] = a
    return out


def odd_strides(a: Any) -> Any:
    """Strides that are no multiples of an element."""
    raw = np.zeros(a.nbytes + 16 * a.size + 64, "u1")
    strides = tuple(s + 2 for s in a.strides)
    reach = sum(s * max(n - 1, 0) for s, n in zip(strides, a.shape)) + a.itemsize
    return a if reach > raw.size else np.lib.stride_tricks.as_strided(raw[:8].view(a.dtype)[:1], a.shape, strides)


def changed(a: Any, r: random.Random, others: list[Any]) -> Any:
    """A hostile array in a's place."""
    huge = 2 ** r.choice([20, 40, 57, 60])
    dim = r.randrange(a.ndim) if a.ndim else 0
    empty = tuple(0 if i == dim else n for i, n in enumerate(a.shape)) or (0,)
    far = [i for i in range(len(empty)) if i != dim]
    if far:
        empty = tuple(huge // 2**6 if i == r.choice(far) else n for i, n in enumerate(empty))
    ways: list[Callable[[], Any]] = [
        lambda: a.astype(a.dtype.newbyteorder()), lambda: misaligned(a), lambda: readonly(a), lambda: spaced(a),
        lambda: a[::-1] if a.ndim else a, lambda: a.T, lambda: a.reshape(-1), lambda: a[None], lambda: a[:1], lambda: a[:0],
        lambda: a.view(Sub), lambda: a.astype(r.choice(["f8", "f2", "i8", "i4", "O", "c8", "?", "S4", "M8[s]", "u8"])),
        lambda: np.empty(empty, a.dtype), lambda: np.broadcast_to(a.reshape(-1)[:1].reshape((1,) * a.ndim), a.shape),
        lambda: np.empty((0,) * a.ndim, a.dtype), lambda: np.empty((), a.dtype), lambda: np.zeros((1,) * 40, a.dtype),
        lambda: np.full(a.shape, r.choice([-1, 100, 2**31, 2**62, -(2**63)]), a.dtype) if a.dtype == "i8" else
        np.full(a.shape, r.choice([np.nan, np.inf, -np.inf, -3.0, 0.0, 1e38]), a.dtype),
        lambda: r.choice(others) if others else a, lambda: overlapping(a, others, r),
        lambda: odd_strides(a) if a.dtype.kind == "f" else a,
    ]
    with np.errstate(all="ignore"):
        try:
            return r.choice(ways)()
        except (ValueError, MemoryError, IndexError):       # no such array of this shape
            return None


def overlapping(a: Any, others: list[Any], r: random.Random) -> Any:
    """Of a's shape, in memory that begins an element after another argument's."""
    near = [b for b in others if b.dtype == a.dtype and b.flags.c_contiguous and b.size == a.size + 1]
    return r.choice(near).reshape(-1)[1:].reshape(a.shape) if near else a


def shifted(given: list[Any]) -> None:
    """Two arrays of one shape become windows of the same memory, an element apart."""
    at = [i for i, a in enumerate(given) if isinstance(a, np.ndarray)]
    for i in at:
        for j in at:
            if i != j and given[i].shape == given[j].shape and given[i].dtype == given[j].dtype:
                memory = np.zeros(given[i].size + 1, given[i].dtype)
                memory[:-1] = given[i].reshape(-1)
                given[i], given[j] = memory[:-1].reshape(given[i].shape), memory[1:].reshape(given[i].shape)
                return


def hostile(given: tuple[Any, ...], r: random.Random) -> tuple[Any, ...]:
    out = list(given)
    if r.random() < 0.1:
        shifted(out)
        return tuple(out)
    for i in r.sample(range(len(out)), min(len(out), r.choice([1, 1, 1, 2]))):
        a = out[i]
        if isinstance(a, np.ndarray) and r.random() < 0.85:
            out[i] = changed(a, r, [b for b in out if isinstance(b, np.ndarray) and b is not a])
        elif isinstance(a, tuple) and a and r.random() < 0.8:
            out[i] = hostile(a, r)
        else:
            out[i] = r.choice(NUMBERS) if r.random() < 0.7 else r.choice(THINGS)
    if r.random() < 0.03:
        out = out[:-1] if r.random() < 0.5 else [*out, 1]
    return tuple(out)


def flat(result: Any) -> list[Any]:
    return [a for part in result for a in flat(part)] if isinstance(result, tuple) else [result]


def arrays_of(given: tuple[Any, ...]) -> list[Any]:
    return [a for a in flat(given) if isinstance(a, np.ndarray) and a.size < 2**24 and not a.dtype.hasobject]


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and a.size > 2**24:
        return True
    if isinstance(a, np.ndarray) and a.dtype.kind != "f":
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (np.ndarray, float)):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
    return bool(a == b)


def fault(name: str, run: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """What is wrong with the kernel's answer, or nothing."""
    mine, plain = used(given), copied(given)
    before = [a.copy() for a in arrays_of(mine)]
    GENERATOR.state = STATE
    try:
        result = run(*mine)
    except SystemError as error:
        return f"{error!r}"
    except Exception as error:
        result = error
    after = [a.copy() for a in arrays_of(mine)]
    if result is None or result is False or isinstance(result, Exception):
        return "" if all(a.tobytes() == b.tobytes() for a, b in zip(before, after)) else f"{result!r}, with an argument changed"
    if name in SWITCHES | PLACES or any(a.dtype.kind not in "fiub" for a in arrays_of(given)):
        return ""
    was = [a.copy() for a in arrays_of(plain)]
    GENERATOR.state = STATE
    try:
        wanted = run(*plain)
    except Exception as error:
        return f"{error!r} of plain copies"
    if wanted is None or wanted is False:
        return "refused as plain copies only"
    if len(flat(result)) != len(flat(wanted)) or not all(map(equal, flat(result), flat(wanted))):
        return "another result than from plain copies"
    if name == "add_up":                    # may use the memory of the first
        return ""
    wrong = [i for i, (a, b) in enumerate(zip(was, arrays_of(plain))) if a.tobytes() != b.tobytes() and not equal(after[i], b)]
    return f"arrays {wrong} hold something else than plain copies would" if wrong else ""


def told(a: Any) -> str:
    if isinstance(a, tuple):
        return f"({', '.join(map(told, a))})"
    if isinstance(a, np.ndarray):
        return f"<{a.dtype} {a.shape} by {a.strides}, {'' if a.flags.writeable else 'not '}writeable>"
    return repr(a)


def with_arguments(turns: int, seed: int) -> int:
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
    np.seterr(all="ignore")
    faults = 0
    for name, run in sorted(kernels().items()):
        print(name, flush=True)
        choices = good(name, run)
        if not choices:
            print("  nothing is known that it takes")
            faults += 1
            continue
        r = random.Random(f"{seed} {name}")
        for turn in range(-len(choices), turns):
            given = anew(choices[turn]) if turn < 0 else hostile(anew(r.choice(choices)), r)
            faulthandler.dump_traceback_later(60, exit=True)
            wrong = fault(name, run, given)
            if wrong:
                print(f"  {wrong}: {name}{told(given)}")
                faults += 1
    for rows in (2**40, 2**57, 2**60):          # of keys, all in one place
        keys = np.broadcast_to(heads[:, :, :1], (2, 2, rows, 16)) if rows < 2**57 else np.broadcast_to(x[:1, :1], (1, 1, rows, 1))
        q = heads if rows < 2**57 else np.ones((1, 1, 8, 1), F4)
        lse = np.ones((q.shape[0], 8, q.shape[1]), F4)
        for call in (lambda: nn.attention(q, keys, keys, None, True, 0.5),  # noqa: B023
                     lambda: nn.attention_grad(q, q, keys, keys, q, lse, None, True, 0.5)):  # noqa: B023
            try:
                faults += call() is not None
            except (MemoryError, ValueError):
                pass
    faulthandler.cancel_dump_traceback_later()
    return faults


class Interrupted(Exception):
    pass


armed = threading.Event()                       # a signal may be handled after the call that it was meant for


def interrupt(*_: Any) -> None:
    if armed.is_set():
        armed.clear()
        raise Interrupted


def with_threads(turns: int) -> int:
    many = 200_000                              # far more than kernels hold the GIL for
    at, few, mask, ids = index(many), index(400, 2), np.arange(many) % 2 == 0, index(100, 300)
    row, table, square = np.ones(many, F4), np.ones((many, 4), F4), np.ones((40, 800), F4)
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("gather", (row, 0, at)), ("scatter", (row, 0, at, row, 1)), ("scatter", (row, 0, at, 2.0, 0)), ("bounds", (at,)),
        ("slices", (table, 0, at, table, 1)), ("slices", (row, 0, at, 1.0, 0)), ("add_rows", (at, table, 2)),
        ("place_at", (row[None], at[None], 1, 2)), ("nll", (table, at, True)),
        ("nll_grad", (ramp(), at, 4, True)), ("row_norms", (ids, np.ones((100, 300, 4), F4), 2, np.ones(100, F4))),
        ("max_pool", (square, index(20, 2), few)), ("max_pool3", (square[None], index(1, 1), index(20, 2), few)),
        ("masked_scatter", (row, mask, row[: many // 2])), ("one_hot", (at, 2)), ("one_hot", (few, -1)),
    ]
    text, wrong, done = "1 " * 20_000, set[str](), threading.Event()

    def edit() -> None:
        while not done.is_set():
            for a in (at, few, ids):
                good, bad = a.copy(), np.full(a.shape, 2**40)
                a[...] = bad
                a[...] = good
            mask[...] = True
            mask[1::2] = False

    def parse() -> None:
        (torch.ones(3, requires_grad=True) * 2).sum().backward()       # from here on this thread uses the cache of blocks
        while not done.is_set():
            if not np.array_equal(np.fromstring(text, sep=" "), np.ones(20_000)):
                wrong.add("parsed")
            live = [np.empty(2**15 * k, "i1") for k in range(1, 6) for _ in range(4)]
            if len({a.ctypes.data for a in live}) < len(live):
                wrong.add("made")

    def multiply() -> None:
        a = np.ones((300, 300), F4)
        while not done.is_set():
            product = nn.multiply(a, a)
            if product is not None and not (product == 300).all():
                wrong.add("multiplied")

    threads = [threading.Thread(target=work, daemon=True) for work in (edit, parse, parse, multiply)]
    for thread in threads:
        thread.start()
    signal.signal(signal.SIGALRM, interrupt)
    nn.threads(2)
    for _ in range(turns):
        for name, given in calls:
            faulthandler.dump_traceback_later(60, exit=True)
            try:
                armed.set()
                signal.setitimer(signal.ITIMER_REAL, 1e-3)
                nn.multiply(square.T, square)   # with helpers of its own: an interrupt leaves nothing locked
                with contextlib.suppress(MemoryError):      # one_hot of 2**40 classes, read while edit had them there
                    kernels()[name](*given)
                signal.setitimer(signal.ITIMER_REAL, 0)
                armed.clear()
            except Interrupted:
                pass
    done.set()
    for thread in threads:
        thread.join()
    faulthandler.cancel_dump_traceback_later()
    print(*sorted(wrong))
    return len(wrong)


def main(how: str, turns: int = 100, seed: int = 0) -> int:
    faulthandler.enable()
    faults = with_threads(turns) if how == "threads" else with_arguments(turns, seed)
    print(f"{faults} faults")
    return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])) > 0)
