"""torch.utils.flop_counter: floating-point operations of matrix products and convolutions, forward and backward.

Counted are the operations that the engine tells an observer of (NOTE [Observer] in _engine/modes.py).
"""
from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import Any

from .._engine.modes import modes
from .._missing import late_names
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]
late_names(__name__)
SUFFIXES = ("", "K", "M", "B", "T")
# node: (the operation, that of its backward), as torch.ops.aten has them
NODES = {
    "MmBackward0": ("mm", "mm"), "AddmmBackward0": ("addmm", "mm"), "BmmBackward0": ("bmm", "bmm"),
    "BaddbmmBackward0": ("baddbmm", "bmm"), "ConvolutionBackward0": ("convolution", "convolution_backward"),
}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Any], Any]:
    """NotImplementedError, whatever targets and get_raw are: matrix products and convolutions alone are counted."""
    raise NotImplementedError("register_flop_formula(): retrograd counts matrix products and convolutions alone")


def factors(kind: str, inputs: Any) -> Any:
    """The two tensors that are multiplied: not the biases."""
    return inputs[:2] if kind == "convolution" else inputs[-2:]


def flops(kind: str, node: Any, a: Any, b: Any, out: Any) -> int:
    """Multiplications and additions."""
    if kind == "convolution":
        return int(2 * b.numel() * len(a) * prod((a if node._saved_transposed else out).shape[2:]))
    return int(2 * a.numel() * b.shape[-1])


def flops_of(node: Any, inputs: Any, output: Any) -> tuple[int, int]:
    """Operations of a node's forward and of its backward, those of sums and products of elements among them."""
    kinds = NODES.get(type(node).__name__)
    if kinds is None:
        return (output.numel() if type(node).__name__ in ("AddBackward0", "MulBackward0") else 0), 0
    a, b = factors(kinds[0], inputs)
    count = flops(kinds[0], node, a, b, output)
    return count, count * (a.requires_grad + b.requires_grad) if output.requires_grad else 0


class FlopCounterMode:
    """`with` it, operations are counted: get_total_flops, get_flop_counts by modules, get_table.

    mods            not needed: all modules are followed
    depth           of the table that is printed at the end, unless display=False
    custom_mapping  refused
    RuntimeError when a recorder of the microscope or a profile is on.
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        if custom_mapping:
            register_flop_formula(custom_mapping)
        self.flop_counts: Any = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """Of all operations."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """{name of a module: {operation of torch.ops.aten: count}}; "Global" has all."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """A line for each module (down to depth, by default the one given to FlopCounterMode) and each of its operations.

        tabulate draws it.
        """
        import tabulate

        tabulate.PRESERVE_WHITESPACE = True
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        steps = min(max(len(str(total)) - 2, 0) // 3, len(SUFFIXES) - 1)

        def lines(name: str, indent: int) -> list[list[str]]:
            counts = self.flop_counts[name]
            rows = [(name, sum(counts.values())), *((f" - {op}", n) for op, n in counts.items())]
            return [[" " * indent + text, f"{n / 1000**steps:.3f}{SUFFIXES[steps]}" if steps else str(n),
                     f"{n / total:.2%}" if total else "0%"] for text, n in rows]

        shown = [name for name in sorted(self.flop_counts) if name != "Global" and (
            depth is None or name.count(".") + 1 <= depth)]
        values = [row for name in shown for row in lines(name, name.count("."))]
        if "Global" in self.flop_counts and not any(sum(self.flop_counts[name].values()) >= total for name in shown):
            values = lines("Global", 0) + [[f" {name}", *rest] for name, *rest in values]
        return str(tabulate.tabulate(
            values or [["Global", "0", "0%"]], headers=["Module", "FLOP", "% Total"], colalign=("left", "right", "right")))

    def __enter__(self) -> FlopCounterMode:
        if modes.observer is not None:
            raise RuntimeError("operations are not counted while a recorder of the microscope or a profile listens: end it first")
        self.flop_counts.clear()
        self.backward: dict[Any, tuple[str, int]] = {}
        self.mod_tracker.__enter__()
        modes.observer = self
        return self

    def __exit__(self, *error: object) -> None:
        modes.observer = None
        self.backward.clear()
        self.mod_tracker.__exit__(*error)
        if self.display:
            print(self.get_table(self.depth))

    # As an observer: NOTE [Observer] in modes.py

    def op(self, node: Any, inputs: Any, output: Any) -> None:
        kinds = NODES.get(type(node).__name__)
        if kinds is None:
            return
        count, backward = flops_of(node, inputs, output)
        self.add(kinds[0], count)
        if backward:
            self.backward[node] = kinds[1], backward

    def begin(self, task: Any, node: Any, g: Any, more: Any) -> None:
        pass

    def edge(self, task: Any, to: Any, nr: Any, g: Any) -> None:
        pass

    def end(self, task: Any, node: Any) -> None:
        if node in self.backward:               # not in begin: the hooks of modules come between
            self.add(*self.backward[node])

    def add(self, kind: str, count: int) -> None:
        operation = getattr(import_module("retrograd").ops.aten, kind)
        for parent in self.mod_tracker.parents:
            self.flop_counts[parent][operation] += count
