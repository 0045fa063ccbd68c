"""The engine where transcripts cannot see it: signals, threads, failures, depth, random programs."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrograd as torch
from retrograd._engine import modes, scopes
from retrograd.utils import checkpoint

Tensor = Any
SECOND_TIME = "Trying to backward through the graph a second time"


def leaf(*values: float) -> Tensor:
    return torch.tensor(values or (1.0, 2.0), dtype=torch.float64, requires_grad=True)


def chain(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x * 1.0
    return x


# ---- Ctrl-C ----


@pytest.fixture
def interrupting() -> Iterator[Callable[[float], None]]:
    """Send this process SIGINT after some seconds."""
    threads: list[threading.Thread] = []

    def send(after: float) -> None:
        def run() -> None:
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=run))
        threads[-1].start()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield send
    for thread in threads:
        thread.join()
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill(SIGINT) ends the process there")
@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01, 0.02])
def test_ctrl_c_in_a_backward_leaves_a_usable_process(delay: float, interrupting: Callable[[float], None]) -> None:
    a = leaf()
    y = chain(a, 100_000).sum()
    end = time.monotonic() + 60                             # only so that a signal which gets lost does not hang the tests
    with pytest.raises(KeyboardInterrupt):
        interrupting(delay)                                 # inside: it may come at once
        while time.monotonic() < end:
            y.backward(retain_graph=True)
    assert torch.is_grad_enabled()
    a.grad = None
    y.backward(retain_graph=True)                           # no gradient of the interrupted pass is left in a node
    assert a.grad.tolist() == [1.0, 1.0]
    b = leaf(3.0)
    (b * b).backward()
    assert b.grad.item() == 6.0


# ---- threads ----


def together(count: int, work: Callable[[int], None]) -> None:
    """Run `work` on threads that start at one moment; the first exception is raised here."""
    failures: list[BaseException] = []
    gate = threading.Barrier(count)

    def run(i: int) -> None:
        try:
            gate.wait()
            work(i)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]


def test_threads_add_up_in_shared_leaves() -> None:
    leaves = [leaf() for _ in range(100)]

    def work(i: int) -> None:
        for a in leaves:
            (a * float(i + 1)).sum().backward()

    together(4, work)
    assert [a.grad.tolist() for a in leaves] == [[10.0, 10.0]] * 100


def test_threads_share_one_graph() -> None:
    a = leaf()
    shared = chain(a.exp(), 20)
    out = (shared * shared).sum()
    want = 2 * np.exp(2 * a.detach().numpy())
    got: list[Any] = []

    def work(i: int) -> None:
        for _ in range(50):
            (g,) = torch.autograd.grad(out, a, retain_graph=True)
            got.append(g.numpy())

    together(4, work)
    assert len(got) == 200
    for g in got:
        np.testing.assert_allclose(g, want, rtol=1e-12)


def test_threads_accumulate_through_one_graph() -> None:
    a = leaf()
    out = (chain(a * 2, 10) + chain(a, 5)).sum()
    together(4, lambda i: [out.backward(retain_graph=True) for _ in range(50)] and None)
    assert a.grad.tolist() == [600.0, 600.0]


def test_grad_mode_belongs_to_its_thread() -> None:
    seen: dict[int, bool] = {}

    def work(i: int) -> None:
        x = leaf()
        for _ in range(200):
            if i % 2:
                with torch.no_grad():
                    assert not (x * 2).requires_grad
            else:
                assert (x * 2).requires_grad
        seen[i] = torch.is_grad_enabled()

    with torch.no_grad():
        together(4, work)
        assert not torch.is_grad_enabled()
    assert seen == dict.fromkeys(range(4), True)
    assert torch.is_grad_enabled()


# ---- a backward inside a backward ----


def test_backward_inside_a_hook() -> None:
    a, b = leaf(), leaf()
    y = a * 2

    def hook(g: Tensor) -> None:
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            (b * b).sum().backward()

    y.register_hook(hook)
    (y * 3).sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]
    assert b.grad.tolist() == [2.0, 4.0]


def test_backward_inside_a_hook_on_the_same_graph() -> None:
    a = leaf()
    y = a.exp()
    calls = 0

    def hook(g: Tensor) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            with torch.enable_grad():
                y.sum().backward(retain_graph=True)

    y.register_hook(hook)
    (y * 3).sum().backward()
    e = np.exp(a.detach().numpy())
    np.testing.assert_allclose(a.grad.numpy(), 4 * e)
    assert calls == 2


def test_nested_backwards_in_hooks_many_deep() -> None:
    a = leaf(1.0)
    depth = 0

    def hook(g: Tensor) -> None:
        nonlocal depth
        if depth < 30:
            depth += 1
            with torch.enable_grad():
                y = a * 1
            y.register_hook(hook)
            y.backward()

    y = a * 1
    y.register_hook(hook)
    y.backward()
    assert a.grad.item() == 31.0


def test_nested_backwards_stay_on_their_stack_where_no_thread_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    a = leaf(1.0)

    def nested(depth: int) -> None:
        y = a * 1
        if depth:
            y.register_hook(lambda g: torch.enable_grad()(nested)(depth - 1))
        y.backward()

    nested(40)
    assert a.grad.item() == 41.0 and not torch.ones(1).requires_grad and torch.is_grad_enabled()
    with pytest.raises(Fault):
        raising(40, a)


def raising(depth: int, a: Tensor) -> None:
    y = a * 1

    def hook(g: Tensor) -> None:
        fail() if depth == 0 else torch.enable_grad()(raising)(depth - 1, a)

    y.register_hook(hook)
    y.backward()


# ---- exceptions ----


class Fault(Exception):
    pass


def fail(*args: Any) -> Any:
    raise Fault


class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        raise Fault


def broken(where: str) -> tuple[Tensor, Tensor, Tensor]:
    """(a leaf whose part is finished when it fails, one behind the failure, the root)"""
    early, late = leaf(), leaf()
    y = late.exp()
    if where == "function":
        y = Bad.apply(y)
    elif where == "hook":
        y.register_hook(fail)
    elif where == "prehook":
        y.grad_fn.register_prehook(fail)
    elif where == "posthook":
        y.grad_fn.register_hook(fail)
    else:
        late.register_hook(fail)
    z = early * 2                                           # newer than y's node: runs before it
    return early, late, (y + z).sum()


@pytest.mark.parametrize("where", ["function", "hook", "prehook", "posthook", "leaf hook"])
def test_an_exception_leaves_finished_gradients_and_grad_mode(where: str) -> None:
    early, late, root = broken(where)
    for mode in (True, False):
        torch.set_grad_enabled(mode)
        try:
            with pytest.raises(Fault):
                root.backward(retain_graph=True)
            assert torch.is_grad_enabled() is mode
        finally:
            torch.set_grad_enabled(True)
    assert early.grad.tolist() == [4.0, 4.0]
    assert late.grad is None
    with pytest.raises(Fault):                              # no gradient of the failed passes is left
        root.backward(retain_graph=True)
    assert early.grad.tolist() == [6.0, 6.0]


def test_after_an_exception_what_ran_is_freed_and_the_rest_is_not() -> None:
    a = leaf()
    y = a * a
    handle = y.register_hook(fail)
    z = (y * y).sum()
    with pytest.raises(Fault):
        z.backward()
    handle.remove()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        z.backward()
    y.sum().backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_an_exception_in_an_op_leaves_no_trace() -> None:
    a = leaf()
    with pytest.raises(RuntimeError):
        a + torch.ones(3)
    with torch.no_grad(), pytest.raises(RuntimeError):
        a @ torch.ones(3, dtype=torch.float64)
    b = a * 1
    version = b._version
    with pytest.raises(RuntimeError):
        b.add_(torch.ones(3))
    assert b._version == version
    assert b.tolist() == [1.0, 2.0]
    b.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]


def test_an_exception_under_create_graph_restores_the_mode() -> None:
    a = leaf()
    y = a * a
    y.register_hook(fail)
    root = y.sum()
    with torch.no_grad(), pytest.raises(Fault):
        torch.autograd.grad(root, a, create_graph=True)
    with torch.no_grad():
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


# ---- NumPy's error state ----


def test_silent_and_strict_error_states_stay_as_they_are() -> None:
    for how in ("raise", "ignore", "warn"):
        with warnings.catch_warnings(), np.errstate(all=how):  # type: ignore[call-overload]
            warnings.simplefilter("error")
            before = np.geterr()
            x = torch.tensor([0.0, -1.0, 1e308, float("inf")], dtype=torch.float64, requires_grad=True)
            y = (x.log() + x / 0.0 + x * 1e300 + (x - x) / (x - x) + x.exp()).sum()
            y.backward()
            torch.zeros(2).div_(0.0)
            x.detach().sqrt()
            assert np.geterr() == before


# ---- size ----


@pytest.fixture
def no_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_deep_graph_needs_no_recursion(no_gc: None) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        a = leaf()
        chain(a, 200_000).sum().backward()
    finally:
        sys.setrecursionlimit(limit)
    assert a.grad.tolist() == [1.0, 1.0]


def test_a_deep_graph_with_views_and_in_place(no_gc: None) -> None:
    a = leaf(1.0, 1.0, 1.0, 1.0)
    y = a * 1
    for i in range(3000):
        y = y.view(2, 2) if y.ndim == 1 else y.t().reshape(4)
        if i % 5 == 0:
            y = y.clone()
            y.mul_(1.0)
        if i % 7 == 0:
            y = y + 0
            y[0] = y[0] * 1.0
    y.sum().backward()
    assert a.grad.tolist() == [1.0] * 4


def test_wide_fan_out() -> None:
    a = leaf()
    y = a * 1
    parts = [y * float(i) for i in range(5000)]
    torch.stack(parts).sum().backward()
    assert a.grad.tolist() == [float(sum(range(5000)))] * 2


def test_fan_out_and_in_counts_every_path_once() -> None:
    a = leaf(1.0)
    y = a
    for _ in range(60):
        y = y + y
    y.backward()
    assert a.grad.item() == 2.0**60


def test_many_roots_and_many_leaves() -> None:
    xs = [leaf(float(i)) for i in range(500)]
    roots = [(x * (i + 1)).sum() for i, x in enumerate(xs)]
    torch.autograd.backward(roots)
    assert [x.grad.item() for x in xs] == [float(i + 1) for i in range(500)]


# ---- random programs against a slow reverse mode ----


class Slow:
    """Reverse mode in thirty lines: a value is an array with parents and pull-backs; views and in-place are written out
    as functions of whole arrays."""

    def __init__(self, value: Any, parents: tuple[Any, ...] = ()) -> None:
        self.value = np.asarray(value, np.float64)
        self.parents = parents

    def grads(self, leaves: list[Slow], seed: Any) -> list[Any]:
        order: list[Slow] = []
        stack: list[tuple[Slow, bool]] = [(self, False)]
        seen: set[int] = set()
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack += [(p, False) for p, _ in node.parents]
        total = {id(self): np.asarray(seed, np.float64)}
        for node in reversed(order):
            g = total.get(id(node))
            if g is not None:
                for parent, pull in node.parents:
                    total[id(parent)] = total.get(id(parent), 0) + pull(g)
        return [total.get(id(x), np.zeros(x.value.shape)) for x in leaves]


def slow_unary(x: Slow, f: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Slow:
    return Slow(f(x.value), ((x, lambda g: g * slope(x.value)),))


def slow_scaled(x: Slow, number: float) -> Slow:
    return slow_unary(x, lambda v: v * number, lambda v: np.full(v.shape, number))


def slow_add(a: Slow, b: Slow) -> Slow:
    return Slow(a.value + b.value, ((a, lambda g: g), (b, lambda g: g)))


def slow_mul(a: Slow, b: Slow) -> Slow:
    return Slow(a.value * b.value, ((a, lambda g: g * b.value), (b, lambda g: g * a.value)))


def slow_rows(x: Slow, at: Any) -> Slow:
    def back(g: Any) -> Any:
        out = np.zeros(x.value.shape)
        out[at] = g
        return out

    return Slow(x.value[at], ((x, back),))


def slow_written(x: Slow, at: Any, part: Slow) -> Slow:
    def keep(g: Any) -> Any:
        out = g.copy()
        out[at] = 0
        return out

    value = x.value.copy()
    value[at] = part.value
    return Slow(value, ((x, keep), (part, lambda g: g[at])))


def slow_moved(x: Slow, how: Callable[[Any], Any], back: Callable[[Any], Any]) -> Slow:
    return Slow(how(x.value), ((x, back),))


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tanh": (np.tanh, lambda v: 1 - np.tanh(v) ** 2),
    "sin": (np.sin, np.cos),
    "sigmoid": (lambda v: 1 / (1 + np.exp(-v)), lambda v: np.exp(-v) / (1 + np.exp(-v)) ** 2),
}
N = 3


class Twin:
    """A variable in both worlds.  `base` is the variable it is a view of, at `region` of it."""

    def __init__(self, fast: Tensor, slow: Slow, base: Twin | None = None, region: Any = None) -> None:
        self.fast, self._slow, self.base, self.region = fast, slow, base, region

    @property
    def slow(self) -> Slow:
        return self._slow if self.base is None else slow_rows(self.base.slow, self.region)

    @slow.setter
    def slow(self, value: Slow) -> None:
        if self.base is None:
            self._slow = value
        else:
            self.base.slow = slow_written(self.base.slow, self.region, value)


REGIONS = [np.s_[0:2], np.s_[1], np.s_[:, 0], np.s_[:, 1:], np.s_[0:3:2], np.s_[1, 2]]
STEP = st.tuples(
    st.sampled_from(["add", "mul", "scale", "transpose", "flat", "view", "add_", "mul_", "scale_", "write", *FUNCTIONS,
        *[f + "_" for f in FUNCTIONS]]),
    st.integers(0, 9), st.integers(0, 9), st.integers(0, len(REGIONS) - 1),
)


def step(pool: list[Twin], what: str, i: int, j: int, r: int) -> None:
    """One statement of a program; it reads pool[i] and pool[j]."""
    a, b = pool[i % len(pool)], pool[j % len(pool)]
    alike = a.fast.shape == b.fast.shape
    if what in ("add", "mul") and alike:
        fast = a.fast + b.fast if what == "add" else a.fast * b.fast
        pool.append(Twin(fast, (slow_add if what == "add" else slow_mul)(a.slow, b.slow)))
    elif what == "scale":
        pool.append(Twin(a.fast * 0.5, slow_scaled(a.slow, 0.5)))
    elif what in FUNCTIONS:
        pool.append(Twin(getattr(a.fast, what)(), slow_unary(a.slow, *FUNCTIONS[what])))
    elif what == "transpose" and a.fast.ndim == 2:
        pool.append(Twin(a.fast.t() * 1, slow_moved(a.slow, np.transpose, np.transpose)))
    elif what == "flat" and a.fast.ndim == 2:
        shape = tuple(a.fast.shape)
        pool.append(Twin(a.fast.reshape(-1) * 1, slow_moved(a.slow, np.ravel, lambda g: g.reshape(shape))))
    elif what == "view" and a.base is None and tuple(a.fast.shape) == (N, N):
        at = REGIONS[r]
        pool.append(Twin(a.fast[at], Slow(0.0), a, at))
    elif what in ("add_", "mul_") and alike and a is not b and related(a) is not related(b):
        a.slow = (slow_add if what == "add_" else slow_mul)(a.slow, b.slow)
        getattr(a.fast, what)(b.fast)
    elif what == "scale_":
        a.slow = slow_scaled(a.slow, 0.5)
        a.fast.mul_(0.5)
    elif what.endswith("_") and what[:-1] in FUNCTIONS:
        a.slow = slow_unary(a.slow, *FUNCTIONS[what[:-1]])
        getattr(a.fast, what)()
    elif what == "write" and tuple(a.fast.shape) == (N, N) and related(a) is not related(b):
        at = REGIONS[r]
        if a.slow.value[at].shape == tuple(b.fast.shape):
            a.slow = slow_written(a.slow, at, b.slow)
            a.fast[at] = b.fast


def related(a: Twin) -> Twin:
    return a if a.base is None else a.base


def run_program(steps: list[Any]) -> tuple[list[Tensor], list[Slow], list[Twin]]:
    rng = np.random.default_rng(11)
    values = [rng.uniform(-1, 1, (N, N)) for _ in range(2)]
    leaves = [torch.tensor(v, requires_grad=True) for v in values]
    slows = [Slow(v) for v in values]
    pool = [Twin(x * 1, slow_scaled(s, 1.0)) for x, s in zip(leaves, slows)]
    for what, i, j, r in steps:
        step(pool, what, i, j, r)
    return leaves, slows, pool


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None)
@given(st.lists(STEP, min_size=1, max_size=14))
def test_random_programs_with_views_and_in_place(steps: list[Any]) -> None:
    leaves, slows, pool = run_program(steps)
    want = [np.zeros((N, N)), np.zeros((N, N))]
    loss: Any = torch.zeros((), dtype=torch.float64)
    for k, twin in enumerate(pool):
        np.testing.assert_allclose(twin.fast.detach().numpy(), twin.slow.value, rtol=1e-12, atol=1e-12)
        loss = loss + twin.fast.sum() * (k + 1.0)
        for w, g in zip(want, twin.slow.grads(slows, np.full(twin.slow.value.shape, k + 1.0))):
            w += g
    try:
        got = torch.autograd.grad(loss, leaves, allow_unused=True)
    except RuntimeError as e:                               # a saved value was edited: PyTorch refuses as well
        assert "modified by an inplace operation" in str(e)
        return
    for g, w in zip(got, want):
        np.testing.assert_allclose(np.zeros((N, N)) if g is None else g.numpy(), w, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None)
@given(st.lists(STEP.filter(lambda s: not s[0].endswith("_") and s[0] != "write"), min_size=1, max_size=12))
def test_random_programs_twice_and_by_parts(steps: list[Any]) -> None:
    """Two passes are one pass doubled; the sum of partial passes is the whole; grad() equals .grad."""
    leaves, _, pool = run_program(steps)
    parts = [t.fast.sum() for t in pool]
    whole = torch.stack(parts).sum()
    first = [g.numpy() for g in torch.autograd.grad(whole, leaves, retain_graph=True)]
    whole.backward(retain_graph=True)
    whole.backward(retain_graph=True)
    for x, f in zip(leaves, first):
        np.testing.assert_allclose(x.grad.numpy(), 2 * f, rtol=1e-12)
        x.grad = None
    for p in parts:
        p.backward(retain_graph=True)
    for x, f in zip(leaves, first):
        np.testing.assert_allclose(x.grad.numpy(), f, rtol=1e-9, atol=1e-12)
    graph = torch.autograd.grad(whole, leaves, create_graph=True)
    for g, f in zip(graph, first):
        np.testing.assert_allclose(g.detach().numpy(), f, rtol=1e-9, atol=1e-12)


@pytest.mark.oracle
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None)
@given(st.lists(STEP, min_size=1, max_size=14))
def test_random_programs_as_pytorch(steps: list[Any]) -> None:
    pytorch = pytest.importorskip("torch")
    logs = [log_of(lib, steps) for lib in (torch, pytorch)]
    for ours, theirs in zip(*logs):
        if isinstance(theirs, np.ndarray):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        else:
            assert ours == theirs


def log_of(lib: Any, steps: list[Any]) -> list[Any]:
    """Values, versions, node names, gradients and refusals of a program."""
    rng = np.random.default_rng(11)
    leaves = [lib.tensor(rng.uniform(-1, 1, (N, N)), requires_grad=True) for _ in range(2)]
    pool = [x * 1 for x in leaves]
    log: list[Any] = []
    for what, i, j, r in steps:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if (what == "write" or what.endswith("_")) and a is not b and np.shares_memory(a.detach().numpy(),
            b.detach().numpy()):
            continue                                        # PyTorch refuses what we read before we write
        try:
            if what in ("add", "mul"):
                pool.append(a + b if what == "add" else a * b)
            elif what == "scale":
                pool.append(a * 0.5)
            elif what in FUNCTIONS:
                pool.append(getattr(a, what)())
            elif what == "transpose":
                pool.append(a.t())
            elif what == "flat":
                pool.append(a.reshape(-1))
            elif what == "view":
                pool.append(a[REGIONS[r]])
            elif what == "scale_":
                a.mul_(0.5)
            elif what == "write":
                a[REGIONS[r]] = b
            else:
                getattr(a, what)(*([b] if what in ("add_", "mul_") else []))
        except (RuntimeError, IndexError) as e:
            log.append((type(e).__name__, str(e).replace("Double", "Float").split(". ")[0].split("\n")[0]))
        log.append([(t._version, None if t.grad_fn is None else t.grad_fn.name(), t._is_view()) for t in pool])
    for t in pool:
        log.append(t.detach().numpy().copy())
    try:
        total = sum((t.sum() for t in pool), lib.zeros((), dtype=lib.float64))
        log += [np.zeros(1) if g is None else g.numpy().copy() for g in lib.autograd.grad(total, leaves,
            allow_unused=True)]
    except RuntimeError as e:
        log.append(str(e).split(". ")[0])
    return log

@pytest.mark.skipif(not str(scopes.__file__).endswith((".so", ".pyd")), reason="interpreted, Ctrl-C divides any two steps")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals")
def test_ctrl_c_at_any_moment_leaves_no_mode_on() -> None:
    graph, random = torch.autograd.graph, Random(0)
    kinds: list[Callable[[], Any]] = [
        torch.no_grad, torch.enable_grad, torch.inference_mode, lambda: graph.disable_saved_tensors_hooks("none"),
        lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        lambda: torch.utils.checkpoint.set_checkpoint_early_stop(False)]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    x = torch.ones(2, requires_grad=True)
    gc.disable()            # a callback of the collector, as hypothesis has one, swallows what is raised in it
    try:
        for _ in range(400):
            kind = random.choice(kinds)
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, random.uniform(5e-5, 5e-4))
                while True:
                    with kind():
                        x + 1
            it = modes.state()
            assert (it.grad, it.inference, it.pack_hooks, it.pack_disabled) == (True, False, [], None), kind
            assert not checkpoint._early
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        raise KeyError("mine")


def test_anomaly_mode_raises_the_cause_where_warnings_are_errors(capsys: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.autograd.set_detect_anomaly(True), pytest.raises(KeyError, match="mine"):
            Fails.apply(x).sum().backward()
    assert "Error detected in FailsBackward" in capsys.readouterr().err


def test_checkpoint_without_early_stop_may_differentiate_inside() -> None:
    def function(x: Any) -> Any:
        y = x.exp()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return g * y

    x = torch.ones(2, requires_grad=True)
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        y = torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    (got,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(got.numpy(), 2 * np.exp(2.0), rtol=1e-6)


class Tripled(torch.autograd.Function):
    """Not what its rule for batches says, so that one sees which of both ran."""

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x + y

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
        assert (info.batch_size, info.randomness, in_dims) == (2, "error", (1, None))
        return (x * 3, y), (1, None)


def test_vmap_of_a_function_calls_its_rule_for_batches() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    first, second = torch.vmap(Tripled.apply, in_dims=(1, None))(x, torch.ones(3))
    assert first.tolist() == (3 * x.t()).tolist()
    assert second.tolist() == [[1.0] * 3] * 2


def test_a_view_beyond_a_base_without_elements_is_laid_out_in_memory_that_holds_it() -> None:
    from retrograd._engine.region import Region

    whole, part = Region(np.zeros((1, 3))[1:], np.zeros(2)).lay(np.zeros((0, 3)))
    assert (whole.shape, part.shape) == ((0, 3), (2,))
    assert part.base.nbytes >= part.nbytes
