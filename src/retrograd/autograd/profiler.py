"""Time and memory of each function, node and block of a program: profile, record_function.

NOTE [What a profile sees]
The dispatch point tells of each call of a public function, the engine of each node of a backward pass; a clock is read before
and after.  Collectives and messages between ranks are events from their start to their end, which may be in a later call.
What such a function calls inside is not told apart.  Memory is that of the arrays which results hold and arguments do not: what
is freed is not subtracted.  Floating-point operations are counted in products of matrices, convolutions, and sums and products
of elements; those of a backward pass belong to its nodes.  It takes the places of listener and observer, so a recorder of the
microscope cannot run at the same time.
"""
from __future__ import annotations

import functools
import sys
import threading
import traceback
from collections.abc import Callable
from time import perf_counter_ns
from types import TracebackType
from typing import Any

from retrograd._engine.anomaly import ours
from retrograd._engine.dispatch import clear_way, engage
from retrograd._engine.modes import modes, state
from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd.autograd.profiler_util import EventList, FunctionEvent
from retrograd.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from retrograd.utils._pytree import tree_leaves
from retrograd.utils.flop_counter import flops_of

__all__ = ["EnforceUnique", "KinetoStepTracker", "emit_itt", "emit_nvtx", "profile", "record_function"]
late_names(__name__)
SILENT = frozenset("__get__ __set__ __delete__ backward size dim numel stride __len__ requires_grad_ register_hook grad".split())
VALUES = frozenset("item tolist equal allclose __bool__ __float__ __int__ is_nonzero".split())
OPERATORS = {"truediv": "div", "itruediv": "div_", "rdiv": "div", "radd": "add", "rmul": "mul", "rpow": "pow", "invert":
             "bitwise_not", "getitem": "index", "setitem": "index_put_", "floordiv": "floor_divide", "bool": "is_nonzero",
             "float": "item", "int": "item"}


def name_of(func: Any) -> str:
    name: str = getattr(func, "__name__", type(func).__name__)
    if name.startswith("__"):
        plain = name.strip("_")
        inplace = f"{plain[1:]}_" if plain[:1] == "i" and plain[1:] in ("add", "sub", "mul", "pow", "mod", "and", "or") else plain
        name = OPERATORS.get(plain, inplace)
    return f"aten::{name}"


def memory_of(array: Any) -> Any:
    """The array that holds its elements."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def bytes_of(arrays: Any, known: Any = ()) -> int:
    """Of the memory behind arrays, apart from that behind others."""
    seen = {id(memory_of(array)) for array in known}
    held = {id(memory): memory for memory in map(memory_of, arrays) if id(memory) not in seen}
    return sum(getattr(memory, "nbytes", 0) for memory in held.values())


def tell_exchanges(session: Session | None) -> None:
    """Collectives and messages are its events, in a program of several ranks."""
    work = sys.modules.get("retrograd.distributed.work")
    if work is not None:
        work.listening.profile = session


class Session:
    """One profile, while it runs."""

    current: Session | None = None

    def __init__(self, shapes: bool, memory: bool, stacks: bool, flops: bool) -> None:
        self.shapes, self.memory, self.stacks, self.flops = shapes, memory, stacks, flops
        self.events: list[FunctionEvent] = []
        self.local = threading.local()
        self.threads: dict[int, int] = {}
        self.handles: list[Any] = []
        self.regions: list[Any] = []
        self.begun = perf_counter_ns()
        self.state: Any = None

    def start(self) -> None:
        it = state()
        clear_way(it)
        if it.listener is not None or modes.observer is not None:
            raise RuntimeError(
                "a profile cannot start while a recorder of the microscope or another profile listens: end it first")
        self.state = it
        it.listener, modes.observer, Session.current = self, self, self
        engage(it)
        tell_exchanges(self)
        self.handles = [register_optimizer_step_pre_hook(self.step_begins), register_optimizer_step_post_hook(self.step_ends)]

    def stop(self) -> None:
        if self.state.listener is self:
            self.state.listener = None
            engage(self.state)
        if modes.observer is self:
            modes.observer = None
        if Session.current is self:
            Session.current = None
        tell_exchanges(None)
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def event(self, name: str, inputs: Any = (), annotation: bool = False, number: int = -1) -> FunctionEvent:
        """One that starts now."""
        thread = self.threads.setdefault(threading.get_ident(), len(self.threads) + 1)
        event = FunctionEvent(len(self.events) + 1, name, thread, 0.0, 0.0, is_user_annotation=annotation, sequence_nr=number)
        if self.shapes and inputs:
            event.input_shapes = [list(x.shape) if isinstance(x, Tensor) else [] for x in inputs]
        if self.stacks:
            frames = [f for f in traceback.extract_stack(sys._getframe(1)) if not ours(f.filename)]
            event.stack = [f"{f.filename}({f.lineno}): {f.name}" for f in reversed(frames)]
        self.events.append(event)
        event.time_range.start = event.time_range.end = self.now()
        return event

    def now(self) -> float:
        """Microseconds since the start."""
        return (perf_counter_ns() - self.begun) / 1e3

    def under_way(self, name: str, tensors: Any) -> Callable[[], None]:
        """Something that other calls do not wait for -> what to call when it is over."""
        event = self.event(name, tensors)
        event.is_async = True

        def over() -> None:
            event.time_range.end = self.now()
        return over

    def push(self, name: str, inputs: Any = (), annotation: bool = False, number: int = -1) -> FunctionEvent:
        stack = self.local.__dict__.setdefault("stack", [])
        event = self.event(name, inputs, annotation, number)
        if stack:
            event.cpu_parent = stack[-1]
            stack[-1].cpu_children.append(event)
        stack.append(event)
        return event

    def pop(self, event: FunctionEvent) -> None:
        event.time_range.end = self.now()
        stack = self.local.__dict__.get("stack", [])
        while stack and stack.pop() is not event:       # what an error left behind
            pass

    def forget(self, event: FunctionEvent) -> None:
        """It was no operation."""
        if not event.cpu_children:
            self.events.remove(event)
            if event.cpu_parent is not None:
                event.cpu_parent.cpu_children.remove(event)

    # As a listener: NOTE [Listener] in dispatch.py

    def call(self, func: Any, impl: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        name = getattr(func, "__name__", "")
        if name in SILENT:
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        event = self.push(name_of(func), args)
        try:
            found = impl(*args) if kwargs is None else impl(*args, **kwargs)
        finally:
            self.pop(event)
        made = [y for y in tree_leaves(found) if isinstance(y, Tensor)]
        if not made and name not in VALUES:
            self.forget(event)
        elif self.memory:
            given = (x.array for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor))
            event.own_memory = bytes_of((y.array for y in made), given)
        return found

    # As an observer: NOTE [Observer] in modes.py

    def op(self, node: Any, inputs: Any, output: Any) -> None:
        stack = self.local.__dict__.get("stack")
        if self.flops and stack:
            count, backward = flops_of(node, inputs, output)
            stack[-1].flops += count
            if backward:
                node.metadata["flops"] = backward

    def begin(self, task: Any, node: Any, g: Any, more: Any) -> None:
        name = node.name() if callable(getattr(node, "name", None)) else type(node).__name__
        name = name.rpartition("::")[2]
        outer = self.push(f"autograd::engine::evaluate_function: {name}")
        inner = self.push(name)
        if self.flops:
            inner.flops += node.metadata.get("flops", 0)
        self.local.__dict__.setdefault("nodes", []).append((node, outer, inner))
        self.given = [x for x in (g, *(more or ())) if x is not None]

    def edge(self, task: Any, to: Any, nr: Any, g: Any) -> None:
        nodes = self.local.__dict__.get("nodes")
        if self.memory and nodes and g is not None:
            array = getattr(g, "array", g)
            nodes[-1][2].own_memory += bytes_of([array], [getattr(x, "array", x) for x in self.given])
            self.given.append(g)

    def end(self, task: Any, node: Any) -> None:
        nodes = self.local.__dict__.get("nodes", [])
        while nodes:
            known, outer, inner = nodes.pop()
            self.pop(inner)
            self.pop(outer)
            if known is node:
                return

    # Steps of optimizers

    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.regions.append(self.push(f"Optimizer.step#{type(optimizer).__name__}.step", annotation=True))

    def step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self.regions:
            self.pop(self.regions.pop())


class profile:
    """`with` it, a program is measured: key_averages().table(), function_events, export_chrome_trace.

    What is measured: NOTE [What a profile sees].
    https://pytorch.org/docs/stable/autograd.html#torch.autograd.profiler.profile
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None,
                 record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_modules: bool = False,
                 use_kineto: bool = False, use_cpu: bool = True, experimental_config: Any = None, acc_events: bool = False,
                 custom_trace_id_callback: Any = None, **_: Any) -> None:
        self.enabled, self.record_shapes, self.with_flops = enabled, record_shapes, with_flops
        self.profile_memory, self.with_stack = profile_memory, with_stack
        self.entered = False
        self.function_events: Any = None
        self._session: Session | None = None

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._start_trace()
        return self

    def _start_trace(self) -> None:
        self._session = Session(self.record_shapes, self.profile_memory, self.with_stack, self.with_flops)
        self._session.start()

    def toggle_collection_dynamic(self, enabled: bool, activities: Any) -> None:
        """Stop to measure, or go on, if the CPU is among the activities."""
        if self._session is not None and any(activity.name == "CPU" for activity in activities):
            if enabled and Session.current is not self._session:
                self._session.start()
            elif not enabled and Session.current is self._session:
                self._session.stop()

    def __exit__(self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        if self.enabled and self._session is not None:
            self._session.stop()
            self.function_events = EventList(
                self._session.events, profile_memory=self.profile_memory, with_flops=self.with_flops)
            self._session = None

    def _found(self) -> EventList:
        found: EventList = EventList() if self.function_events is None else self.function_events
        return found

    def __repr__(self) -> str:
        return repr(self.function_events) if self.function_events is not None else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        return str(self.function_events) if self.function_events is not None else "<unfinished torch.autograd.profile>"

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as a table: EventList.table."""
        return self._found().table(*args, **kwargs)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """Sums over events of one name: EventList.key_averages."""
        return self._found().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> Any:
        """The sum over all events."""
        return self._found().total_average()

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        """Write a file for chrome://tracing or Perfetto."""
        self._found().export_chrome_trace(path, metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write places and their times, for a flame graph; needs with_stack=True."""
        assert self.with_stack, "export_stacks() requires with_stack=True"
        self._found().export_stacks(path, metric)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return self._found().self_cpu_time_total


class record_function:
    """`with` it, or as a decorator: a block with a name of its own in a profile."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.open: list[tuple[Session, FunctionEvent] | None] = []

    def __enter__(self) -> record_function:
        session = Session.current
        self.open.append(None if session is None else (session, session.push(self.name, annotation=True)))
        return self

    def __exit__(self, *_: Any) -> None:
        found = self.open.pop()
        if found is not None:
            found[0].pop(found[1])

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def called(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return func(*args, **kwargs)
        return called


class _Emit:
    """For tools that look at processes from outside: nothing tells them of this one, so nothing is emitted."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False

    def __enter__(self) -> Any:
        if self.enabled and self.entered:
            raise RuntimeError("annotation context manager is not reentrant")
        self.entered = True
        return self if self.enabled else None

    def __exit__(self, *_: Any) -> None:
        pass


class emit_itt(_Emit):
    """For Intel's VTune: accepted, and nothing is emitted."""


class emit_nvtx(_Emit):
    """For NVIDIA's nvprof: accepted, and nothing is emitted."""


class EnforceUnique:
    """See that a key comes once."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def see(self, *key: Any) -> None:
        """RuntimeError where it came before."""
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class KinetoStepTracker:
    """Counts steps, for programs that ask."""

    _current_step = 0
    _step_dict: dict[str, int] = {}  # noqa: RUF012

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """A counter for a requester."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Remove it -> was there one?"""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """One more -> the highest of all."""
        cls._step_dict[requester] = cls._step_dict.get(requester, cls._current_step) + 1
        cls._current_step = max(cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """The highest of all."""
        return cls._current_step
