"""torch.profiler: a program's time by function, node and block, with schedules and traces.

NOTE [What a profile sees] in autograd/profiler.py.
"""
from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import Any

from retrograd._missing import late_names
from retrograd.autograd import profiler as autograd_profiler
from retrograd.autograd.profiler import KinetoStepTracker, record_function
from retrograd.autograd.profiler_util import DeviceType as DeviceType
from retrograd.optim.optimizer import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from retrograd.profiler import itt as itt

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "itt", "kineto_available", "profile", "record_function",
    "register_optimizer_step_post_hook", "schedule", "supported_activities", "tensorboard_trace_handler",
]
late_names(__name__)
STEP = "ProfilerStep"


@functools.cache
def _warn_once(text: str) -> None:
    warnings.warn(text, stacklevel=4)


class ProfilerActivity(Enum):
    """What is measured: the CPU, whatever else is asked for."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5

    def __str__(self) -> str:
        return f"ProfilerActivity.{self.name}"


class ProfilerAction(Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def kineto_available() -> bool:
    """True: profiles can be taken."""
    return True


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured."""
    return {ProfilerActivity.CPU}


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """What to do in each step: skip_first steps nothing; then, `repeat` times (0: always), `wait` steps nothing, `warmup` steps
    warm up, and `active` steps are recorded.

    skip_first_wait: not 0 leaves the first wait out.
    """
    assert wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0, (
        f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), active={active} (need > "
        f"0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0).")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        assert step >= 0, f"Step must be non-negative. Got {step}."
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * length:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD
    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False,
                              use_python_export: bool = False) -> Callable[[Any], None]:
    """An on_trace_ready that writes each trace to the folder dir_name, for TensorBoard.

    worker_name: how the files' names begin, by default host and process; use_gzip: compress them.
    use_python_export has no effect.
    """
    import socket
    import time

    def write(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as e:
            raise RuntimeError("Can't create directory: " + dir_name) from e
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))
    return write


class _KinetoProfile:
    """A profile that is started and stopped by hand."""

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
                 experimental_config: Any = None, execution_trace_observer: Any = None, acc_events: bool = False,
                 custom_trace_id_callback: Any = None, post_processing_timeout_s: float | None = None) -> None:
        self.activities = supported_activities() if activities is None else set(activities)
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.record_shapes, self.profile_memory, self.with_stack = record_shapes, profile_memory, with_stack
        self.with_flops, self.with_modules = with_flops, with_modules
        self.profiler: Any = None
        self.acc_events = acc_events
        self._earlier: list[Any] = []
        self._metadata: dict[str, Any] = {}

    def start(self) -> None:
        """Begin."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """End."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Forget what was measured before, unless acc_events=True."""
        if self.profiler is not None:
            if not self.acc_events:
                _warn_once("Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be "
                           "reported. To keep events across cycles, set acc_events=True.")
            self._earlier = [*self._earlier, *(self.profiler.function_events or ())] if self.acc_events else []
        self.profiler = autograd_profiler.profile(
            record_shapes=self.record_shapes, profile_memory=self.profile_memory, with_stack=self.with_stack,
            with_flops=self.with_flops)

    def start_trace(self) -> None:
        """Begin to measure."""
        assert self.profiler is not None, "Profiler must be initialized before starting trace"
        self.profiler.__enter__()

    def stop_trace(self) -> None:
        """End measuring."""
        assert self.profiler is not None, "Profiler must be initialized before stopping trace"
        self.profiler.__exit__(None, None, None)
        if self._earlier:
            self.profiler.function_events[:0] = self._earlier
            self._earlier = []

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stop to measure, or go on, if the CPU is among the activities."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def export_chrome_trace(self, path: str, *, use_python_export: bool = False) -> None:
        """Write a file for chrome://tracing or Perfetto."""
        assert self.profiler is not None, "Profiler must be initialized before exporting chrome trace"
        self.profiler.export_chrome_trace(path, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write places and their times, for a flame graph; needs with_stack=True."""
        assert self.profiler is not None, "Profiler must be initialized before exporting stacks"
        self.profiler.export_stacks(path, metric)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> Any:
        """Sums over events of one name."""
        assert self.profiler is not None, "Profiler must be initialized before getting key averages"
        return self.profiler.key_averages(group_by_input_shape, group_by_stack_n)

    def events(self) -> Any:
        """All events, in the order in which they began."""
        assert self.profiler is not None, "Profiler must be initialized before accessing events"
        return self.profiler.function_events

    def add_metadata(self, key: str, value: str) -> None:
        """A text that goes into the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """JSON that goes into the trace."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json


class profile(_KinetoProfile):
    """`with` it, a program is measured; with a schedule, in the steps that it chooses, which step() tells apart.

    activities        what to measure: there is ProfilerActivity.CPU; AssertionError if empty
    on_trace_ready    called with the profile whenever a recorded part of the schedule ends
    record_shapes     keep the shapes of arguments; profile_memory: how much the results own; with_stack: the lines that called;
                      with_flops: floating-point operations
    acc_events        keep the events of earlier parts of the schedule
    Without effect are with_modules, experimental_config, execution_trace_observer, use_cuda,
    custom_trace_id_callback and post_processing_timeout_s.

    https://pytorch.org/docs/stable/profiler.html#torch.profiler.profile
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 schedule: Callable[[int], ProfilerAction] | None = None, on_trace_ready: Callable[..., Any] | None = None,
                 record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False, use_cuda: bool | None = None, custom_trace_id_callback: Any = None,
                 post_processing_timeout_s: float | None = None) -> None:
        super().__init__(activities=activities, record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack,
                         with_flops=with_flops, with_modules=with_modules, acc_events=acc_events)
        self.record_steps = schedule is not None
        self.schedule: Any = schedule or (lambda _: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action: ProfilerAction = self.schedule(0)
        self.step_rec_fn: Any = None
        none, warm, record, save = ProfilerAction
        prepare, start, stop, ready = self.prepare_trace, self.start_trace, self.stop_trace, self._trace_ready
        self.action_map: dict[Any, list[Any]] = {
            (none, warm): [prepare], (none, record): [prepare, start], (none, save): [prepare, start],
            (warm, none): [partial(warnings.warn, "Incorrect schedule: WARMUP followed by NONE"), start, stop],
            (warm, record): [start], (warm, save): [start],
            (record, none): [partial(warnings.warn, "Incorrect schedule: RECORD followed by NONE"), stop],
            (record, warm): [partial(warnings.warn, "Incorrect schedule: RECORD followed by WARMUP"), stop],
            (save, none): [stop, ready], (save, warm): [stop, ready, prepare], (save, record): [stop, ready, prepare, start],
            (save, save): [stop, ready, prepare, start],
            (warm, None): [start, stop], (record, None): [stop, ready], (save, None): [stop, ready]}
        KinetoStepTracker.init_step_count(STEP)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
        KinetoStepTracker.erase_step_count(STEP)

    def start(self) -> None:
        """Begin the first step."""
        self._go(ProfilerAction.NONE, self.current_action)
        self._open()

    def stop(self) -> None:
        """End the last step."""
        self._close()
        self._go(self.current_action, None)

    def step(self) -> None:
        """End a step and begin the next."""
        self._close()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._go(before, self.current_action)
        KinetoStepTracker.increment_step(STEP)
        self._open()

    def set_custom_trace_id_callback(self, callback: Any) -> None:
        """callback is accepted without effect."""

    def _open(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"{STEP}#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _close(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__()
            self.step_rec_fn = None

    def _trace_ready(self) -> None:
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def _go(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        for action in self.action_map.get((before, now), []):
            action()
