"""Entries as the steps of a `Program` (`_kernels/plan.c`): calls, runs of operations on elements, lists of small ones."""
from __future__ import annotations

import heapq
import itertools
import operator
from collections import deque
from typing import Any, Final

import numpy as np

from .. import _kernels
from .._engine.op import View
from .._engine.tensor import public
from .._kernels import kernel
from . import lower
from .effects import Store, set_grad
from .small import (
    EACH,
    EACH_ALONE,
    JOIN,
    MSE,
    NUMBERS,
    OURS,
    PRODUCT,
    PUT,
    SHOW,
    SUM_ROWS,
    TERMS,
    TOTAL,
    Memory,
    What,
    room,
    small,
    width,
)
from .values import DOUBLE, SINGLE, Entry, Value
from .whole import Whole

Program: Final[Any] = getattr(_kernels.nn, "Program", None)
OPS: Final = {"add": 0, "sub": 1, "mul": 2, "div": 3, "relu": 5, "sigmoid": 6, "relu_grad": 7, "sigmoid_grad": 8, "tanh_grad": 9,
       "mul_add": 11, "add_mul": 12}
UFUNC: Final = 4
FILL: Final = 10
COPY: Final = 13
SUM: Final = 14
TIMES: Final = 15
CALL: Final = 0
RUN: Final = 1
LIST: Final = 2
ARRAY: Final = 0
ONE: Final = 1
NUMBER: Final = 2
SCRATCH: Final = 3
OUT: Final = 4
TYPES: Final = {SINGLE: np.dtype("float32").num, DOUBLE: np.dtype("float64").num}
Key = tuple[Any, Any] | None
ALONE: Final = object()
LOOKS: Final = itertools.count(1)


def program(entries: list[Entry], results: list[Value], given: dict[int, Any]) -> tuple[Any, list[Value], Any]:
    """The Program, the values that its slots are to be filled with, and what gives its buffers as text.

    given: what values are at each call, by identity
    """
    entries = alive([resolved(e) for e in entries], results)
    whats, arrays = small(entries, results)
    coder = Coder(ordered(entries, whats), results, given, whats, Memory(entries, whats, arrays))
    made = coder.made()
    return made, coder.fill, coder.buffers


def resolved(entry: Entry) -> Entry:
    """An operation on elements takes the element itself where a view repeats one."""
    if not entry.op:
        return entry
    args = [x.full if type(x) is Value and x.full is not None else x for x in entry.args]
    if all(map(operator.is_, args, entry.args)):
        return entry
    outs = entry.outs
    again = Entry(entry.name, entry.fn, args, [], entry.op)
    again.outs = outs
    return again


def alive(entries: list[Entry], results: list[Value]) -> list[Entry]:
    """Those whose values somebody needs, and those with an effect."""
    mark: int = next(LOOKS)
    for result in results:
        result.mark = mark
    kept: list[Entry] = []
    for entry in reversed(entries):
        wanted = entry.fixed or isinstance(entry.fn, Whole)     # which may raise
        for v in entry.outs:
            wanted = wanted or v.mark == mark
        if wanted:
            kept.append(entry)
            for x in entry.args:
                if isinstance(x, Value):
                    x.mark = mark
            if entry.after is not None:
                entry.after.mark = mark
    return kept[::-1]


def ordered(entries: list[Entry], whats: dict[int, What]) -> list[list[Entry]]:
    """Groups in an order in which they can be executed: a single call, operations of one type and shape, or small ones.

    What has an effect stays where it is.
    """
    groups: list[list[Entry]] = []
    part: list[Entry] = []
    for entry in entries:
        if entry.fixed:
            groups.extend(grouped(part, whats))
            groups.append([entry])
            part = []
        else:
            part.append(entry)
    groups.extend(grouped(part, whats))
    return groups


def grouped(entries: list[Entry], whats: dict[int, What]) -> list[list[Entry]]:
    return Grouping(entries, whats).groups() if len(entries) > 1 else [entries] if entries else []


class Grouping:
    """Entries without effects, as groups."""

    def __init__(self, entries: list[Entry], whats: dict[int, What]) -> None:
        self.entries = entries
        self.calls: list[int] = []              # the oldest first, as eagerly: it frees what it was given soonest
        self.ready: dict[Key, deque[int]] = {}
        self.keys: list[Any] = [None if id(e) in whats else (e.outs[0].dtype, e.outs[0].shape) if e.op else ALONE
                                for e in entries]
        self.waits: list[int] = []
        self.users: list[list[int]] = [[] for _ in entries]
        maker: dict[int, int] = {}
        for i, entry in enumerate(entries):
            for v in entry.outs:
                maker[id(v)] = i
        for i, entry in enumerate(entries):
            needs: list[int] = []
            for x in entry.args:
                at = maker.get(id(x), -1)
                if at >= 0 and at not in needs:
                    needs.append(at)
            if entry.after is not None:
                at = maker.get(id(entry.after), -1)
                if at >= 0 and at not in needs:
                    needs.append(at)
            self.waits.append(len(needs))
            for at in needs:
                self.users[at].append(i)

    def line_up(self, i: int) -> None:
        key = self.keys[i]
        if key is ALONE:
            heapq.heappush(self.calls, i)
            return
        queue = self.ready.get(key)
        if queue is None:
            self.ready[key] = deque([i])
        else:
            queue.append(i)

    def done(self, i: int) -> None:
        for user in self.users[i]:
            self.waits[user] -= 1
            if self.waits[user] == 0:
                self.line_up(user)

    def groups(self) -> list[list[Entry]]:
        found: list[list[Entry]] = []
        for i in range(len(self.entries)):
            if self.waits[i] == 0:
                self.line_up(i)
        while self.calls or self.ready:
            if self.calls and not any(self.ready.values()):
                i = heapq.heappop(self.calls)
                found.append([self.entries[i]])
                self.done(i)
                self.ready = {key: queue for key, queue in self.ready.items() if queue}
                continue
            first = next(iter(self.ready))
            queue = self.ready[first]
            group: list[Entry] = []
            while queue:
                i = queue.popleft()
                group.append(self.entries[i])
                self.done(i)
            del self.ready[first]
            if group:
                found.append(group)
        return found


class Coder:
    def __init__(self, groups: list[list[Entry]], results: list[Value], given: dict[int, Any], whats: dict[int, What],
                 memory: Memory) -> None:
        self.groups, self.results, self.given = groups, results, given
        self.whats, self.memory = whats, memory
        self.constants: list[Any] = []
        self.fill: list[Value] = []
        self.places: dict[int, int] = {}
        self.steps: list[tuple[Any, ...]] = []
        self.last: dict[int, int] = {}          # slot -> the last step that reads it
        self.readers: dict[int, int] = {}       # value -> the group that reads it; -1: several
        for i, group in enumerate(groups):
            for entry in group:
                for x in entry.args:
                    if isinstance(x, Value):
                        key: Any = id(x)
                        if self.readers.setdefault(key, i) != i:
                            self.readers[key] = -1
        self.wanted = {id(v) for v in results}

    def made(self) -> Any:
        for i, group in enumerate(self.groups):
            first = group[0]
            self.steps.append(self.listed(i, group) if id(first) in self.whats else self.run(i, group) if first.op
                              else self.call(first))
        self.kept = results = tuple([self.slot(v) for v in self.results])
        drops: list[list[int]] = [[] for _ in self.steps]
        for slot, at in self.last.items():
            if slot not in results:
                drops[at].append(slot)
        return Program(tuple(self.constants), tuple([self.slot(v) for v in self.fill]), tuple(self.steps),
                       tuple([tuple(d) for d in drops]), results)

    def buffers(self) -> str:
        """How many arrays the steps make, and how much memory they take: all, and at most at a time."""
        many = [(i, v.size * v.dtype.itemsize, v) for i, group in enumerate(self.groups) for e in group for v in e.outs
                if v.dtype is not None and id(v) in self.places and not views(e)]
        now = [0] * (len(self.steps) + 1)
        for i, size, v in many:
            at = self.places[id(v)]
            now[i] += size
            now[len(self.steps) if at in self.kept else self.last.get(at, i) + 1] -= size
        total, own = sum(size for _, size, _ in many), self.memory.size
        most = max(itertools.accumulate(now), default=0)
        text = f"{len(many)} buffer{'s' * (len(many) != 1)} of {total} bytes, {most} at a time"
        return f"{text}; {own} bytes for small results" if own else text

    def slot(self, x: Any) -> int:
        if not isinstance(x, Value):
            self.constants.append(x)
            return len(self.constants) - 1
        key: Any = id(x)
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = len(self.constants)
            kind = x.kind
            self.constants.append(x.array if kind == "const" else None if kind == "made" else self.given.get(key))
            if kind not in ("const", "made") and key not in self.given:
                self.fill.append(x)
        return found

    def reads(self, x: Any) -> int:
        """The slot of what this step takes or gives."""
        at = self.slot(x)
        if isinstance(x, Value) and x.kind in ("made", "saved", "seed"):
            self.last[at] = len(self.steps)
        return at

    def call(self, entry: Entry) -> tuple[Any, ...]:
        quick, more = self.shortcut(entry)
        args = tuple([self.reads(x) for x in [*entry.args, *more]])
        fn = Ignoring(entry.fn, len(entry.args)) if more else direct(entry)
        return CALL, quick, fn, args, tuple([self.reads(v) for v in entry.outs]), entry.fixed

    def shortcut(self, entry: Entry) -> tuple[Any, list[Any]]:
        """A kernel that may give what the entry's fn gives, or None; and what it takes besides fn's arguments."""
        fn = entry.fn
        if isinstance(fn, lower.OneOf):
            name = type(fn.node).__name__
            if name in ("SumBackward0", "MeanBackward0") and fn.node.dtype is None:
                return (_kernels.sum if name == "SumBackward0" else _kernels.mean), []
        if isinstance(fn, lower.TwoOf) and type(fn.node).__name__ == "MmBackward0":
            return kernel("matmul" if tiny(entry) else "multiply"), []
        if isinstance(fn, lower.VectorGrad) or (isinstance(fn, lower.TwoOf) and type(fn.node).__name__ == "MvBackward0" and all(
                v.straight and lower.plain(v) for v in entry.args)):
            return np.ndarray.dot, []           # from the left, as BLAS sees a matrix that is turned
        if isinstance(fn, lower.Shaped):
            return np.ndarray.reshape, [fn.to]
        if fn is lower.linear:
            return kernel("linear"), [True]
        if isinstance(fn, lower.Linear1):
            return kernel("matmul" if tiny(entry) else "multiply"), []
        if isinstance(fn, lower.Linear2):
            return Program.turned if fn.turned else kernel("linear_grad"), []
        if isinstance(fn, lower.MseOf):
            return kernel("mse_grad"), []
        if isinstance(fn, lower.Fitted):
            return _kernels.sum_rows, [fn.like[0]]
        if isinstance(fn, Store):
            return Program.overwrite, [fn.count]
        if fn is set_grad:
            return Program.give, [public.new, public.tensor]
        return None, []

    def joined(self, number: int, group: list[Entry]) -> list[Entry]:
        """Products that are only added to something, together with that sum: two roundings, one pass."""
        count: dict[int, int] = {}
        if not any([entry.op == "add" for entry in group]):
            return group
        for entry in group:
            for x in entry.args:
                count[id(x)] = count.get(id(x), 0) + 1
        products = {id(e.outs[0]): e for e in group if e.op == "mul" and count.get(id(e.outs[0])) == 1 and alike(e)
                    and not self.leaves(e.outs[0], number)}
        found: list[Entry] = []
        gone: set[int] = set()
        for entry in group:
            if entry.op == "add" and alike(entry):
                a, b = entry.args
                first = id(a) in products
                if first or id(b) in products:
                    product = products[id(a if first else b)]
                    gone.add(id(product))
                    op = "mul_add" if first else "add_mul"
                    again = Entry(entry.name, entry.fn, [*product.args, b if first else a], [], op)
                    again.outs = entry.outs
                    entry = again
            found.append(entry)
        return [e for e in found if id(e) not in gone]

    def leaves(self, x: Value, number: int) -> bool:
        """Is it read outside the group?"""
        return id(x) in self.wanted or self.readers.get(id(x), number) != number

    def run(self, number: int, group: list[Entry]) -> tuple[Any, ...]:
        like = group[0].outs[0]
        group = self.joined(number, group)
        operands: list[tuple[int, Any]] = []
        at: dict[Any, int] = {}
        inside = {id(e.outs[0]) for e in group}
        left: dict[int, int] = {}               # how often a value of the run is still read in it
        for entry in group:
            for x in entry.args:
                if id(x) in inside:
                    left[id(x)] = left.get(id(x), 0) + 1
        free: list[int] = []
        count = 0
        ops: list[tuple[int, int, int, int, Any]] = []

        def register() -> int:
            nonlocal count
            if free:
                return free.pop()
            operands.append((SCRATCH, count))
            count += 1
            return len(operands) - 1

        def operand(x: Any) -> int:
            if not isinstance(x, Value):
                key: Any = ("number", repr(float(x)))
                new: tuple[int, Any] = (NUMBER, float(x))
            else:
                key = id(x)
                if key not in at:
                    new = (ONE if x.size == 1 and like.size != 1 else ARRAY, self.reads(x))
            if key not in at:
                at[key] = len(operands)
                operands.append(new)
            return at[key]

        for entry in group:
            out = entry.outs[0]
            places = []
            fills = []
            for x in entry.args:
                place = operand(x)
                if entry.op not in lower.ARITHMETIC and operands[place][0] in (ONE, NUMBER):
                    filled = register()
                    ops.append((FILL, place, -1, filled, None))
                    fills.append(filled)
                    place = filled
                places.append(place)
            if self.leaves(out, number):
                operands.append((OUT, self.reads(out)))
                y = len(operands) - 1
            else:
                y = register()
            at[id(out)] = y
            code = OPS.get(entry.op, UFUNC)
            ops.append((code, places[0], places[1] if len(places) > 1 else -1, y,
                        getattr(np, entry.op) if code == UFUNC else places[2] if len(places) > 2 else None))
            free.extend(fills)
            for x in entry.args:
                if id(x) in left:
                    left[id(x)] -= 1
                    if left[id(x)] == 0 and operands[at[id(x)]][0] == SCRATCH:
                        free.append(at[id(x)])
        return RUN, TYPES[like.dtype], tuple(like.shape), tuple(operands), tuple(ops), count

    def listed(self, number: int, group: list[Entry]) -> tuple[Any, ...]:
        """The step of operations on few elements each."""
        listing = Listing(self)
        for entry in self.joined(number, group):
            listing.put(entry)
        return LIST, tuple(listing.bases), tuple([(type_, float(text)) for type_, text in listing.numbers]), tuple(listing.ops)


Place = tuple[int, int]         # which base, and from which byte on
NOWHERE: Final[Place] = (-1, 0)


class Listing:
    """Operations on few elements each, as a step."""

    def __init__(self, coder: Coder) -> None:
        self.coder, self.memory = coder, coder.memory
        self.bases: list[tuple[Any, ...]] = []
        self.base_of: dict[int, int] = {}
        self.numbers: dict[tuple[int, str], int] = {}
        self.ops: list[tuple[Any, ...]] = []

    def base(self, kind: int, v: Value) -> int:
        key: Any = id(v)
        found = self.base_of.get(key, -1)
        if found < 0:
            found = self.base_of[key] = len(self.bases) + 2
            self.bases.append((kind, self.coder.reads(v), TYPES[v.dtype], tuple(v.shape)))
        return found

    def operand(self, x: Any, dtype: Any) -> Place:
        if not isinstance(x, Value):
            return NUMBERS, 8 * self.numbers.setdefault((TYPES[dtype], repr(float(x))), len(self.numbers))
        of, start = self.memory.root(x)
        begins = start * width(x)
        at = self.memory.at.get(id(of), -1)
        return (self.base(ARRAY, of), begins) if at < 0 else (OURS, at + begins)

    def result(self, v: Value) -> Place:
        return (self.base(OUT, v), 0) if id(v) in self.memory.arrays else (OURS, self.memory.make(v))

    def add(self, op: int, v: Value, n: int, ones: int, a: Place, b: Place, c: Place, y: Place, more: Any = None) -> None:
        self.ops.append((op, TYPES[v.dtype], n, ones, a[0], a[1], b[0], b[1], c[0], c[1], y[0], y[1], more))

    def put(self, entry: Entry) -> None:
        memory = self.memory
        what, part = self.coder.whats.get(id(entry), EACH_ALONE)
        if what == SHOW:
            return
        out = entry.outs[0]
        size = out.size
        places: list[Place] = [self.operand(x, out.dtype) for x in entry.args if x is not None]
        fills: list[int] = []
        if what == EACH:
            ones = 0
            for i, x in enumerate(entry.args):
                if size > 1 and (not isinstance(x, Value) or x.size == 1):
                    if entry.op in lower.ARITHMETIC:
                        ones += 1 << i
                    else:
                        fills.append(memory.take(room(out)))
                        filled: Place = (OURS, fills[-1])
                        self.add(FILL, out, size, 1, places[i], NOWHERE, NOWHERE, filled)
                        places[i] = filled
            code = OPS.get(entry.op, UFUNC)
            count = len(places)
            self.add(code, out, size, ones, places[0], places[1] if count > 1 else NOWHERE, places[2] if count > 2 else NOWHERE,
                     self.result(out), getattr(np, entry.op) if code == UFUNC else None)
        elif what == JOIN or what == PUT:
            at, begins = self.result(out)
            if what == PUT:
                self.add(FILL, out, size, 1, self.operand(0.0, out.dtype), NOWHERE, NOWHERE, (at, begins))
                begins += part * width(out)
            for x, place in zip([x for x in entry.args if x is not None], places):
                self.add(COPY, out, x.size, 0, place, NOWHERE, NOWHERE, (at, begins))
                begins += x.size * width(out)
        elif what == PRODUCT:
            turn_a, turn_b, n, m, p = part
            strides = *((1, n) if turn_a else (m, 1)), *((1, m) if turn_b else (p, 1))
            self.add(TIMES, out, n, 0, places[0], places[1], places[2] if len(places) > 2 else NOWHERE, self.result(out),
                     (m, p, *strides))
        elif what == TOTAL:
            y = self.result(out)
            self.add(SUM, out, entry.args[0].size, 0, places[0], NOWHERE, NOWHERE, y, np.add)
            if part:
                self.add(OPS["div"], out, 1, 0, y, self.operand(entry.args[0].size, out.dtype), NOWHERE, y)
        elif what == SUM_ROWS:
            y = self.result(out)
            at, begins = places[0]
            if size == 1:
                self.add(SUM, out, part, 0, places[0], NOWHERE, NOWHERE, y, np.add)
            else:                               # -0 + -0 is 0 here
                self.add(OPS["add"], out, size, 2, (at, begins), self.operand(0.0, out.dtype), NOWHERE, y)
                for i in range(1, part):
                    self.add(OPS["add"], out, size, 0, y, (at, begins + i * size * width(out)), NOWHERE, y)
        elif what == MSE:
            y = self.result(out)
            g, a, b, share, twice = places
            one = 2 * (size > 1)
            fills.append(memory.take(room(out)))
            self.add(OPS["mul"], out, 1, 0, g, share, NOWHERE, (OURS, fills[0]))
            self.add(OPS["sub"], out, size, 0, a, b, NOWHERE, y)
            self.add(OPS["mul"], out, size, one, y, twice, NOWHERE, y)
            self.add(OPS["mul"], out, size, one, y, (OURS, fills[0]), NOWHERE, y)
        for filled_at in fills:
            memory.give_back(room(out), filled_at)
        for x in entry.args:
            if isinstance(x, Value):
                memory.read(x)


def alike(entry: Entry) -> bool:
    """Have its arguments the shape of its result?"""
    return all(isinstance(x, Value) and x.shape == entry.outs[0].shape for x in entry.args)


def tiny(entry: Entry) -> bool:
    """Is it a product that a plain loop does?"""
    return int(entry.args[0].size * entry.args[1].shape[-1]) <= TERMS


def views(entry: Entry) -> bool:
    """Does it give the memory of what it takes?"""
    return isinstance(entry.fn, (lower.Shaped, lower.Expanded)) or isinstance(getattr(entry.fn, "__self__", None), View)


def direct(entry: Entry) -> Any:
    """The entry's fn without its detour, which is for what may give a scalar."""
    fn = entry.fn
    if all(v.shape for v in entry.outs):
        if isinstance(fn, lower.GradOf) and fn.node.real is None:
            return fn.node.grad
        if isinstance(fn, lower.OneOf):
            return fn.node.run
        if isinstance(fn, lower.RulesOf) and fn.unlike is None and len(fn.wanted) == 1:
            return fn.node.grad_b if fn.wanted[0] else fn.node.grad_a
    return fn


class Ignoring:
    """fn, without the arguments that its shortcut takes besides."""

    __slots__ = ("count", "fn")

    def __init__(self, fn: Any, count: int) -> None:
        self.fn, self.count = fn, count

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args[:self.count])
