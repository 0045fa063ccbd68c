"""What a profile found: events, sums over events of one name, and their table."""
from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable
from enum import Enum
from typing import Any

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]
WIDTH = 12
SCALES = ("", "K", "M", "G", "T", "P")


DeviceType = Enum("DeviceType", "CPU CUDA MKLDNN OPENGL OPENCL IDEEP HIP FPGA MAIA XLA Vulkan Metal XPU MPS Meta HPU VE Lazy IPU "
                  "MTIA PrivateUse1", start=0, module=__name__)
DeviceType.__doc__ = "Where an event ran: always on the CPU."


def format_time(us: float) -> str:
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def format_memory(size: int) -> str:
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(size) >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} B"


def in_unit(us: float, unit: str | None) -> str:
    scale = {"s": 1e6, "ms": 1e3, "us": 1.0}.get(unit or "")
    return format_time(us) if scale is None else f"{us / scale:.3f}{unit}"


class Interval:
    """Start and end, in microseconds."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Its length."""
        return self.end - self.start


class Times:
    """Times as text, and of devices that are not there."""

    cpu_time_total: float
    self_cpu_time_total: float
    count: int
    device_type = DeviceType.CPU
    device_time_total = self_device_time_total = device_time = cuda_time = 0
    device_memory_usage = self_device_memory_usage = 0
    use_device: str | None = None
    is_async = is_remote = is_legacy = False
    node_id = -1
    overload_name = ""
    flops = 0                                   # operations of its own: NOTE [What a profile sees]

    @property
    def cpu_time(self) -> float:
        """Microseconds of a call, on average."""
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count

    @property
    def cpu_time_str(self) -> str:
        """cpu_time, as text."""
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """cpu_time_total, as text."""
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """self_cpu_time_total, as text."""
        return format_time(self.self_cpu_time_total)


class FunctionEvent(Times):
    """One call: of a function, of a node in a backward pass, or a record_function block.

    cpu_memory_usage    bytes of the arrays that its result owns, and of what was called inside it
    """

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float, *, input_shapes: Any = None,
                 stack: Any = None, cpu_memory_usage: int = 0, is_user_annotation: bool = False, sequence_nr: int = -1) -> None:
        self.id, self.trace_name, self.thread = id, name, thread
        self.name = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range = Interval(start_us, end_us)
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.kernels: list[Any] = []
        self.input_shapes = [] if input_shapes is None else input_shapes
        self.stack = [] if stack is None else stack
        self.own_memory = cpu_memory_usage
        self.is_user_annotation, self.sequence_nr, self.scope = is_user_annotation, sequence_nr, 0

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds, without those of what was called inside it; 0 for what the program does not wait for."""
        return 0.0 if self.is_async else self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """cpu_memory_usage, without that of what was called inside it."""
        return self.own_memory

    @property
    def cpu_memory_usage(self) -> int:
        """Bytes."""
        return self.own_memory + sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name= device_type=DeviceType.CPU node_id=-1 "
                f"cpu_time={self.cpu_time_str} start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
                f"cpu_children={[child.id for child in self.cpu_children]} None_time=0.000us name={self.name} "
                f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"None_memory_usage=0 is_async=False is_remote=False seq_nr={self.sequence_nr} is_legacy=False>")


class FunctionEventAvg(Times):
    """The sum over events of one name."""

    def __init__(self) -> None:
        self.key: Any = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.input_shapes: Any = None
        self.stack: Any = None
        self.cpu_parent: Any = None
        self.cpu_children: list[Any] = []
        self.scope, self.is_user_annotation = 0, False

    def add(self, other: Any) -> FunctionEventAvg:
        """Another event, or sum, goes into this one."""
        if self.key is None:
            self.key, self.input_shapes, self.stack = other.key, other.input_shapes, other.stack
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
            self.is_user_annotation = other.is_user_annotation
        for name in ("count", "flops", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str}  "
                f"self_cuda_time=0.000us cuda_time=0.000us input_shapes={self.input_shapes or ''} "
                f"cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>")


class EventList(list[Any]):
    """Events in the order in which they began, or their sums."""

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False, **_: Any) -> None:
        super().__init__(events)
        self.profile_memory, self.with_flops = profile_memory, with_flops

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The sums over events of one name, and of one shape of inputs or one place in the program if asked for."""
        sums: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (event.key, str(event.input_shapes) if group_by_input_shapes else "", *event.stack[:group_by_stack_n])
            sums.setdefault(key, FunctionEventAvg()).add(event)
        for one in sums.values():
            one.stack = (one.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                one.input_shapes = ""
        return EventList(sums.values(), profile_memory=self.profile_memory, with_flops=self.with_flops)

    def total_average(self) -> FunctionEventAvg:
        """The sum over all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def __str__(self) -> str:
        return self.table()

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
              max_name_column_width: int | None = 55, max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """A table, a row an event: its own time, that with what it called, calls, memory.  sort_by: one of its attributes."""
        if not self:
            return ""
        rows = self if sort_by is None else sorted(self, key=lambda e: getattr(e, sort_by), reverse=True)
        shaped, placed = any(e.input_shapes for e in rows), any(e.stack for e in rows)
        names = max(len(e.key) for e in rows) + 4
        shapes = max(len(str(e.input_shapes)) for e in rows) + 4
        names = min(names, max_name_column_width or names)
        heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
                 *(("CPU Mem", "Self CPU Mem") if self.profile_memory else ()), "# of Calls"]
        widths = [names] + [WIDTH] * (len(heads) - 1)
        if shaped:
            heads.append("Input Shapes")
            widths.append(min(shapes, max_shapes_column_width or shapes))
        counts = [e.flops for e in rows if e.flops > 0] if self.with_flops else []
        scale = min(int(math.log10(min(counts)) / 3), len(SCALES) - 1) if counts else 0
        if counts:
            heads.append(f"Total {SCALES[scale]}FLOPs")
            widths.append(WIDTH)
        if placed:
            heads.append("Source Location")
            widths.append(min(max(len(line) for e in rows for line in e.stack) + 4, max_src_column_width))
        total = self.self_cpu_time_total

        def share(us: float) -> str:
            return f"{us * 100.0 / total:.2f}%" if total else "NaN"

        def line(values: list[Any]) -> str:
            left = [False] * (len(values) - 1) + [placed]
            return "".join(f"{v!s: {'<' if at else '>'}{w}}  " for v, w, at in zip(values, widths, left))

        rule = "".join("-" * w + "  " for w in widths)
        lines = []
        whole = "=" * (sum(widths) + 2 * len(widths) - 2)
        if header is not None:
            lines += [whole, header]
        if top_level_events_only:
            lines += [whole, "This report only display top-level ops statistics"]
        lines += [rule, line(heads), rule]
        shown = [e for e in rows if not (top_level_events_only and e.cpu_parent is not None)]
        for e in shown[:row_limit] if row_limit >= 0 else shown:
            name = e.key
            if max_name_column_width is not None and len(name) >= max_name_column_width - 3:
                name = name[:max_name_column_width - 3] + "..."
            values = [name, share(e.self_cpu_time_total), in_unit(e.self_cpu_time_total, time_unit), share(e.cpu_time_total),
                      in_unit(e.cpu_time_total, time_unit), in_unit(e.cpu_time, time_unit)]
            if self.profile_memory:
                values += [format_memory(e.cpu_memory_usage), format_memory(e.self_cpu_memory_usage)]
            values.append(e.count)
            if shaped:
                values.append(str(e.input_shapes)[:widths[len(values)]])
            if counts:
                values.append(f"{e.flops / 1000**scale:8.3f}" if e.flops else "--")
            places = [p if len(p) <= widths[-1] else "..." + p[3 - widths[-1]:] for p in e.stack] if placed else []
            lines.append(line([*values, *(places[:1] or [""] if placed else [])]))
            if placed:
                lines += [line([""] * len(values) + [p]) for p in [*places[1:], ""]]
        lines += [rule, f"Self CPU time total: {in_unit(total, time_unit)}"]
        return "\n".join(lines) + "\n"

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        """Write a file for chrome://tracing or Perfetto; compressed if its name ends in .gz."""
        import gzip

        pid = os.getpid()
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "ts": 0, "pid": pid, "tid": 0, "args": {"name": os.path.basename(sys.argv[0])}}]
        for e in self:
            args: dict[str, Any] = {"External id": e.id, "Ev Idx": e.id}
            if e.input_shapes:
                args["Input Dims"] = e.input_shapes
            if self.profile_memory:
                args["Bytes"] = e.self_cpu_memory_usage
            kind = "user_annotation" if e.is_user_annotation else "cpu_op"
            events.append({"ph": "X", "cat": kind, "name": e.trace_name, "pid": pid, "tid": e.thread,
                           "ts": e.time_range.start, "dur": e.cpu_time_total, "args": args})
        body = {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", "traceName": path, **(metadata or {}),
                "traceEvents": events}
        opened: Any = gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w", encoding="utf-8")
        with opened as file:
            json.dump(body, file)

    def supported_export_stacks_metrics(self) -> list[str]:
        """What export_stacks counts."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write places and their times, for a flame graph; needs with_stack=True."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: " + str(self.supported_export_stacks_metrics()))
        with open(path, "w", encoding="utf-8") as file:
            for e in self:
                value = math.floor(e.self_cpu_time_total) if metric == "self_cpu_time_total" else 0
                if e.stack and value > 0:
                    places = ";".join(p.translate(str.maketrans(" ;\t\n", "____")) for p in reversed(e.stack))
                    file.write(f"{places} {value}\n")
