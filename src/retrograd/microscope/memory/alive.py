"""Who keeps graphs alive: the tensors from which what is still saved can be reached, and the variables that hold them."""
from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterator
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..listen.sites import HOME, name_of, variables
from ..plain_text import escaped
from .rows import Op, Row, size

KEY = "retrograd.memory"    # in a node's metadata: the operation that made it
DEEP = 5                    # containers and objects between a tensor and a variable
SPANS = 3                   # calls of the model; graphs of so many are reported even if they save nothing any more


class Alive(NamedTuple):
    """A tensor whose graph is alive, or several that the same line made: the variable that holds it (the one that keeps most,
    or the oldest of such), what made it, how many they are, and what their graphs keep: bytes, operations, and of how many calls
    of the model.
    """

    holder: str
    op: str
    line: str
    tensors: int
    bytes: int
    operations: int
    calls: int
    number: bool            # is it one number?

    @escaped
    def __str__(self) -> str:
        more = f" and {self.tensors - 1} more" if self.tensors > 1 else ""
        keep = "keep" if more else "keeps"
        of = f"the graphs of {self.calls} calls of the model" if self.calls > 1 else "its graph"
        held = f"{size(self.bytes)} saved, " if self.bytes else "saved tensors freed, "
        way_out = "keep the number instead: .item()" if self.number else "cut it off from its graph: .detach()"
        return (f"{self.holder}{more}, made by {self.op} at {self.line}, {keep} {of} ({held}{self.operations} operations); "
                f"{way_out}")


def alive(engine: Any, rows: list[Row]) -> list[Alive]:
    """What keeps `rows`, the greatest first.  A tensor inside another one's graph is not told of."""
    gc.collect()
    kept: dict[int, list[Row]] = {}
    for row in rows:
        for number in row.keepers:
            kept.setdefault(number, []).append(row)
    nodes: list[Any] = []                       # held, for their identities
    claimed: set[int] = set()
    groups: dict[tuple[str, str], list[tuple[int, list[Op], Any]]] = {}
    tensors = roots(engine)
    for x in tensors:
        ops = reached(x.grad_fn, nodes, claimed)
        its = {id(row): row.bytes for op in ops for row in kept.get(op.number, ())}
        made = x.grad_fn.metadata.get(KEY)
        key = (x.grad_fn.name(), "a line outside the block") if made is None else (made.name, made.line or "an unknown line")
        groups.setdefault(key, []).append((sum(its.values()), ops, x))
    found = []
    for (op, line), members in groups.items():
        if len({op.call for _, its, _ in members for op in its}) < SPANS:
            members = [member for member in members if member[0]]
        if not members:
            continue
        _, _, most = max(reversed(members), key=lambda member: member[0])      # the oldest: a loop's variable has the newest
        ops = [op for _, its, _ in members for op in its]
        found.append(Alive(holder(most, {id(tensors), id(members), *map(id, members)}), op, line, len(members),
                           sum({id(row): row.bytes for op in ops for row in kept.get(op.number, ())}.values()),
                           len(ops), len({op.call for op in ops}), most.numel() == 1))
    return sorted(found, key=lambda one: -one.bytes)


def roots(engine: Any) -> list[Any]:
    """Tensors that are part of a graph, the newest first."""
    found = []
    for x in gc.get_objects():
        if issubclass(type(x), engine.Tensor) and x.grad_fn is not None:
            found.append(x)
    return sorted(found, key=lambda x: -getattr(x.grad_fn.metadata.get(KEY), "number", sys.maxsize))


def reached(node: Any, nodes: list[Any], claimed: set[int]) -> list[Op]:
    """The operations behind a node that nobody claimed before."""
    ops: dict[int, Op] = {}
    todo = [node]
    while todo:
        node = todo.pop()
        if node is None or id(node) in claimed:
            continue
        claimed.add(id(node))
        nodes.append(node)
        op = node.metadata.get(KEY)
        if op is not None:
            ops[op.number] = op
        todo.extend(below for below, _ in node.next_functions)
    return list(ops.values())


def holder(x: Any, ours: set[int]) -> str:
    """What the program calls the way to x: 'losses[3]', 'trainer.hidden', 'total, which step keeps'.  ours: not the program's"""
    names = names_of_frames()
    met = {id(x), *ours}
    level = [(x, "")]
    for _ in range(DEEP + 1):
        for held, way in level:
            if id(held) in names:
                name, where = names[id(held)]
                return f"{name}{way}{where}"
        further: list[tuple[Any, str]] = []
        for by in gc.get_referrers(*[held for held, _ in level]):       # one look at everything that is alive
            if id(by) not in met and by is not level and not isinstance(by, (FrameType, type, ModuleType)):
                met.add(id(by))
                for held, way in level:
                    name, more = named(by, held, way)
                    if name:
                        return name
                    further += more
        level = further
    return "something that no variable leads to"


def named(by: Any, held: Any, way: str) -> tuple[str, list[tuple[Any, str]]]:
    """The name that `by` gives `held`, if it refers to it; or what to ask further, and the way from there."""
    if isinstance(by, CellType):
        if by.cell_contents is held:
            for f in (f for cells in gc.get_referrers(by) if isinstance(cells, tuple) for f in gc.get_referrers(cells)):
                if isinstance(f, FunctionType) and f.__closure__:
                    for name, cell in zip(f.__code__.co_freevars, f.__closure__):
                        if cell is by:
                            return f"{name}{way}, which {name_of(f)} keeps", []
        return "", []
    if isinstance(by, (list, tuple, deque)):
        return "", [(by, f"[{i}]{way}") for i, value in enumerate(by) if value is held][:1]
    its = by if isinstance(by, dict) else getattr(by, "__dict__", None)     # attributes may be in no dict until somebody asks
    if not isinstance(its, dict):
        return "", []
    key = next((key for key, value in its.items() if value is held), None)
    if key is None:
        return "", []
    if by is not its:
        return "", [(by, f".{key}{way}")]
    if "__name__" in its and "__builtins__" in its:             # what a module holds
        return f"{key}{way}{of_module(its)}", []
    owners = [one for one in gc.get_referrers(by) if getattr(one, "__dict__", None) is by]
    return "", [(one, f".{key}{way}") for one in owners] or [(by, f"[{key!r}]{way}")]


def names_of_frames() -> dict[int, tuple[str, str]]:
    """id of a value -> the innermost variable that holds it, and where that is, of all threads; globals last."""
    found: dict[int, tuple[str, str]] = {}
    frames = list(user_frames())
    held = [(variables(f), f" in {f.f_code.co_name}()") for f in frames if f.f_code.co_name != "<module>"]
    for names, where in [*held, *((f.f_globals, of_module(f.f_globals)) for f in frames)]:
        for name, value in list(names.items()):
            if name.isidentifier():
                found.setdefault(id(value), (name, where))
    return found


def of_module(its: dict[str, Any]) -> str:
    return "" if its["__name__"] == "__main__" else f" of {its['__name__']}"


def user_frames() -> Iterator[Any]:
    """The frames of all threads that are not of this package."""
    for frame in sys._current_frames().values():
        at: FrameType | None = frame
        while at is not None:
            if not at.f_code.co_filename.startswith(HOME):
                yield at
            at = at.f_back
