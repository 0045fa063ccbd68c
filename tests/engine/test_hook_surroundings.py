"""What a hook finds around it: NumPy's float errors as its user set them, a stack to recurse on, modes, Ctrl-C."""

from __future__ import annotations

import contextvars
import os
import signal
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd as torch
from retrograd._engine.backward import DEEP
from retrograd.autograd import Function, Variable, graph


def leaf(values: Any = (1.0, 2.0)) -> Any:
    return torch.tensor(values, requires_grad=True)


# ---- float errors ----


class Runs(Function):
    """Its backward calls what it was given."""

    @staticmethod
    def forward(ctx: Any, x: Any, call: Callable[[], None]) -> Any:
        ctx.call = call
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.call()
        return g, None


def hooked(kind: str, call: Callable[[], None]) -> Any:
    """A scalar whose backward calls `call` in one kind of hook."""
    a = leaf()

    def hook(*_: Any) -> None:
        call()

    y = a * a
    if kind == "tensor":
        y.register_hook(hook)
    elif kind == "leaf":
        a.register_hook(hook)
    elif kind == "accumulated":
        a.register_post_accumulate_grad_hook(hook)
    elif kind == "prehook":
        y.grad_fn.register_prehook(hook)
    elif kind == "posthook":
        y.grad_fn.register_hook(hook)
    elif kind == "Function":
        y = Runs.apply(y, call)
    elif kind == "several tensors":
        graph.register_multi_grad_hook((a, y), hook)
    elif kind == "callback":
        y.register_hook(lambda g: Variable._execution_engine.queue_callback(hook))
    elif kind == "inputs":
        y = y.unbind()[0]
        y.register_hook(hook)
    else:
        def unpack(t: Any) -> Any:
            call()
            return t

        with graph.saved_tensors_hooks(lambda t: t, unpack):
            y = y * y
    return y.sum()


KINDS = [
    "tensor", "leaf", "accumulated", "prehook", "posthook", "Function", "several tensors", "callback", "inputs", "unpack",
]


def divide() -> None:
    np.ones(1) / np.zeros(1)


@pytest.mark.parametrize("kind", KINDS)
def test_hook_runs_under_the_errstate_of_its_caller(kind: str) -> None:
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        hooked(kind, divide).backward()
    with np.errstate(all="ignore"):
        hooked(kind, divide).backward()
    with np.errstate(divide="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
        hooked(kind, divide).backward()


@pytest.mark.parametrize("kind", KINDS)
def test_hook_is_silent_where_nobody_set_anything(kind: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        contextvars.Context().run(lambda: hooked(kind, divide).backward())
    assert said == []


@pytest.mark.parametrize("kind", KINDS)
def test_pass_goes_on_in_silence_after_a_hook(kind: str) -> None:
    a = leaf([0.0, 1.0])
    y = (1 / a).sum() + hooked(kind, lambda: None)
    with np.errstate(all="raise"):
        y.backward()
    assert a.grad.tolist() == [-np.inf, -1.0]


@pytest.mark.parametrize("kind", KINDS)
def test_errstate_and_seterr_inside_a_hook_end_with_it(kind: str) -> None:
    def inside() -> None:
        np.seterr(invalid="raise")
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            divide()

    def run() -> None:
        before = np.geterr()
        a = leaf([0.0, 1.0])
        y = (0 / a).sum() + hooked(kind, inside)
        (y + (a / 0).sum()).backward()
        assert np.geterr() == before

    contextvars.Context().run(run)
    with np.errstate(over="call"):
        run()


# ---- passes inside passes ----


class Deeper(Function):
    """backward() calls backward() `n` levels down, and `at_the_bottom` there."""

    @staticmethod
    def forward(ctx: Any, x: Any, n: int, at_the_bottom: Callable[[], None]) -> Any:
        ctx.n, ctx.at_the_bottom = n, at_the_bottom
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if ctx.n:
            with torch.enable_grad():
                Deeper.apply(leaf(1.0), ctx.n - 1, ctx.at_the_bottom).backward()
        else:
            ctx.at_the_bottom()
        return g, None, None


def down(n: int, at_the_bottom: Callable[[], None]) -> None:
    Deeper.apply(leaf(1.0), n, at_the_bottom).backward()


def test_deep_passes_inherit_modes_and_context() -> None:
    found: list[Any] = []
    name = contextvars.ContextVar("name", default="")
    name.set("mine")

    def look() -> None:
        found.append((name.get(), np.geterr()["over"], torch.is_grad_enabled(), threading.current_thread()))
        with torch.enable_grad():
            a = leaf()
            y = a * a
        found.append(y.grad_fn._saved_self.tolist())

    packed: list[Any] = []
    with np.errstate(over="call"), graph.saved_tensors_hooks(lambda t: packed.append(t.shape) or t, lambda t: t):
        down(3 * DEEP, look)
    assert found[0][:3] == ("mine", "call", False)
    assert found[0][3] is not threading.current_thread()
    assert found[1] == [1.0, 2.0] and packed[-1] == (2,)
    assert torch._C._current_graph_task_id() == -1 and torch.is_grad_enabled()


def test_deep_exception_comes_up_and_leaves_a_usable_thread() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        down(3 * DEEP, lambda: 1 // 0 and None)
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 3 * DEEP
    assert torch._C._current_graph_task_id() == -1 and torch.is_grad_enabled()
    a = leaf()
    (a * a).sum().backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_deep_passes_leave_nothing(no_gc: None) -> None:
    class Token:
        pass

    def run(fails: bool) -> weakref.ref[Any]:
        token = Token()
        bottom: Callable[[], None] = (lambda token=token: 1 // 0 and None) if fails else (lambda token=token: None)
        try:
            down(2 * DEEP, bottom)
        except ZeroDivisionError as e:
            e.__traceback__ = None
        return weakref.ref(token)

    assert run(False)() is None
    assert run(True)() is None


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill(SIGINT) ends the process there")
def test_ctrl_c_reaches_a_deep_pass() -> None:
    def wait() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(2**40):                      # until the exception comes
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            down(3 * DEEP, wait)
    finally:
        signal.signal(signal.SIGINT, before)
    a = leaf()
    (a * a).sum().backward()
    assert a.grad.tolist() == [2.0, 4.0]


# ---- errors of our own ----


def test_ctx_says_which_names_are_taken() -> None:
    class Takes(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.push = 3
            return x.clone()

    with pytest.raises(AttributeError, match=r"^ctx\.push: .*Choose another name"):
        Takes.apply(leaf())


def test_node_knows_its_output_once_the_tensor_was_asked() -> None:
    a = leaf()
    y = a.exp() * 2
    unseen = y.grad_fn.next_functions[0][0]
    with pytest.raises(RuntimeError, match="the output's shape of this ExpBackward0 is not known"):
        unseen._input_metadata  # noqa: B018
    (known,) = y.grad_fn._input_metadata
    assert known.shape == [2] and known.dtype is torch.float32


def test_hooks_on_saved_tensors_left_too_often() -> None:
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="left more often than entered"):
        hooks.__exit__()


def test_methods_that_tensors_lack_say_why() -> None:
    a = leaf()
    with pytest.raises(AttributeError) as caught:
        a.to_sparse()
    assert str(caught.value) == (
        "'Tensor' object has no attribute 'to_sparse'\nretrograd has no 'torch.Tensor.to_sparse': sparse tensors are "
        "not supported yet")
    assert not hasattr(a, "to_sparse") and not hasattr(torch.Tensor, "to_sparse") and "to_sparse" not in dir(a)
    a.values = 3                                    # a name like any other for those who set it
    assert a.values == 3


def test_warnings_of_a_hook_are_the_users() -> None:
    def warn(_: Any) -> None:
        warnings.warn("from the hook", UserWarning, stacklevel=1)

    a = leaf()
    a.register_hook(warn)
    with pytest.warns(UserWarning, match="from the hook"):
        (a * a).sum().backward()


# ---- what one returns ----


@both
@pytest.mark.parametrize("returned, seen, error", [
    ("tn", "lt", "RuntimeError: Tensor post accumulate grad hooks should return None."),
    ("nt", "ll", "RuntimeError: Tensor post accumulate grad hooks should return None."),
    ("tln", "ltl", "RuntimeError: Tensor post accumulate grad hooks should return None."),
    ("in", "l", "TypeError: expected Variable, but hook returned 'int'"),
    ("ti", "lt", "TypeError: expected Variable, but hook returned 'int'"),
    ("lnl", "lll", ""),
])
def test_what_a_post_accumulate_hook_returns_goes_to_the_next(torch: Any, returned: str, seen: str, error: str) -> None:
    w, other, given = torch.ones(2, requires_grad=True), torch.zeros(2), ""
    gives = {"t": other, "l": w, "n": None, "i": 3}

    def hooked_to(what: Any) -> Any:
        def hook(p: Any) -> Any:
            nonlocal given
            given += "l" if p is w else "t" if p is other else "?"
            return what
        return hook

    for letter in returned:
        w.register_post_accumulate_grad_hook(hooked_to(gives[letter]))
    try:
        w.sum().backward()
        found = ""
    except Exception as e:
        found = f"{type(e).__name__}: {e}"
    assert (given, found) == (seen, error)
