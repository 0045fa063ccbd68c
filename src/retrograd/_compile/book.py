"""What is known of the arrays of a call: which value each is."""
from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from .._engine.anomaly import HOME
from .._engine.modes import state
from .._engine.region import overlaps
from .._engine.tensor import TensorBase
from .effects import grad_of
from .lower import Lowering
from .values import Entry, Guards, Refused, Value, of_array, root

ndarray: Final = np.ndarray


class Tensors:
    """The tensors that were there before the call."""

    def __init__(self) -> None:
        self.inputs: list[TensorBase] = []
        self.held: list[TensorBase] = []
        self.by_id: dict[int, Any] = {}         # what is listed
        self.listed: list[tuple[str, int, TensorBase]] = []

    def add(self, t: TensorBase, kind: str) -> int:
        key: Any = id(t)
        found: Any = self.by_id.get(key)
        if found is None:
            many = self.inputs if kind == "input" else self.held
            found = (kind, len(many), t)
            self.by_id[key] = found
            many.append(t)
            self.listed.append(found)
        return int(found[1])

    def get(self, kind: str, index: int) -> TensorBase:
        return (self.inputs if kind == "input" else self.held)[index]

    def all(self) -> list[tuple[str, int, TensorBase]]:
        """The inputs, which are added first, and the others."""
        return self.listed

    def let_go(self) -> None:
        """Of the inputs."""
        del self.listed[:len(self.inputs)]
        self.inputs.clear()


class Inside:
    """A public function while it runs: what was known before it, and why its ops are not enough."""

    def __init__(self, mark: int, edited: dict[tuple[str, int], int], p: Any) -> None:
        """p: with what probability it drops elements; None where it is no dropout."""
        self.mark, self.edited, self.p = mark, edited, p
        self.written: list[tuple[int, Value]] = []
        self.doubt = ""
        self.line: str | None = None            # of the user's code


class Book:
    """The values of a call so far, and the entries that made them."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.entries: list[Entry] = []
        self.values: dict[int, Value] = {}
        self.alive: list[Any] = []              # arrays and tensors whose addresses stand for them
        self.made: dict[int, Any] = {}          # node -> (inputs, output)
        self.roots: dict[int, Any] = {}         # memory -> the value that lies there, or a list of them
        self.reason = ""
        self.inside: Inside | None = None       # the public function that runs
        self.lower = Lowering(self.add)
        self.it = state()
        self.edited: dict[tuple[str, int], int] = {}     # tensors whose memory entries write, and how often
        # The .grad that the plan has set so far, and its content
        self.settled: list[tuple[Any, Value | None]] = []       # by place
        self.early: list[tuple[str, int]] = []
        self.steps: list[Any] = []
        self.nodes: list[Any] = []
        self.uncounted: set[int] = set()        # versions of what .data gave: edits that no graph sees
        self.cut = 0                            # so many nodes were made before the last such edit
        self.linears: set[int] = set()          # nodes of F.linear, which a kernel computed
        for kind, i, t in tensors.all():
            self.meet(kind, i, t)
        self.first = [grad for grad, _ in self.settled]         # the .grad that was there before the call

    def forget(self) -> None:
        """Let go of all arrays and tensors."""
        self.tensors = Tensors()
        for table in (self.values, self.made, self.roots):
            table.clear()
        for many in (self.entries, self.alive, self.steps, self.nodes, self.settled):
            many.clear()
        self.lower.twins.clear()

    def meet(self, kind: str, i: int, t: TensorBase) -> None:
        """`t` was there before the call."""
        self.know(of_array(t.array, kind, i))
        grad = grad_of(t)
        value = None
        if grad is not None:
            value = of_array(grad.array, "grad", self.place(kind, i))
            self.know(value)
            self.alive.append(grad)
        self.settled.append((grad, value))

    def place(self, kind: str, i: int) -> int:
        return i if kind == "input" else len(self.tensors.inputs) + i

    def add(self, entry: Entry) -> None:
        if not self.entries:                    # gradients that the call drops before anything else
            self.early = [(kind, i) for (kind, i, t), (grad, _) in zip(self.tensors.all(), self.settled)
                          if grad is not None and grad_of(t) is None]
        self.entries.append(entry)
        for out in entry.outs:
            if out.array is not None:
                self.know(out)

    def know(self, value: Value) -> None:
        """The array of `value` stands for it from now on."""
        array = value.array
        key: Any = id(array)
        self.stand(key, value)
        of = root(array)
        if of is not array:
            key = id(of)
        had: Any = self.roots.setdefault(key, value)
        if type(had) is list:
            had.append(value)
        elif had is not value:
            self.roots[key] = [had, value]

    def stand(self, key: Any, value: Value) -> None:
        """The array with that id is `value` from now on."""
        inside = self.inside
        if inside is not None:
            before = self.values.get(key)
            if before is not None:
                inside.written.append((key, before))
        self.values[key] = value

    def transposed(self, array: Any) -> Value | None:
        """The transpose of a matrix that is known: a linear layer makes that of its weight when somebody asks for it."""
        had = self.roots.get(id(root(array)))
        for v in had if type(had) is list else [] if had is None else [had]:
            x = v.array
            if x is not None and x.ndim == 2 and self.values.get(id(x)) is v and is_turned(x, array):
                value = of_array(array)
                self.add(Entry("TBackward0", turn, [v], [value], "", False, self.line()))
                return value
        return None

    def of(self, array: Any) -> Value:
        found = self.values.get(id(array))
        if found is None:
            found = self.transposed(array)
        if found is None:
            raise Refused("a tensor that no op of the call made and that did not exist before")
        if found.stale:
            raise Refused("a view is read after its memory was edited")
        return found

    def of_input(self, x: Any) -> Any:
        """An op's input as an argument of an entry."""
        if isinstance(x, TensorBase):
            return self.of(x.array)
        if isinstance(x, ndarray):
            return self.of(x)
        return x

    def refuse(self, why: object) -> None:
        if self.inside is not None:
            self.inside.doubt = self.inside.doubt or str(why)
        elif not self.reason:
            line = self.line()
            self.reason = f"{why} ({line})" if line else str(why)
            self.values.clear()

    def line(self) -> str:
        """Where the user's code is."""
        inside = self.inside
        if inside is None:
            return str(caller(HOME))
        if inside.line is None:
            inside.line = caller(HOME)
        return inside.line

    @property
    def off(self) -> bool:
        return bool(self.reason) or state() is not self.it

    def undo(self, inside: Inside) -> None:
        """Forget what a public function told of its ops."""
        for entry in self.entries[inside.mark:]:
            for v in entry.outs:
                if v.array is not None:
                    self.values.pop(id(v.array), None)
        for key, value in reversed(inside.written):
            self.values[key] = value
        del self.entries[inside.mark:]
        self.edited = inside.edited

    def overwritten(self, array: Any, value: Value, count: int = 1, by: Any = None) -> None:
        """`array`, of a tensor edited in place `count` times, is `value` from now on.  by: the version that counted them"""
        if by is not None and id(by) in self.uncounted:
            self.cut = len(self.nodes)
        known = self.tensors.all()
        whole = [(kind, i, t) for kind, i, t in known if t.array is array]
        for kind, i, t in whole:
            self.edited[kind, i] = self.edited.get((kind, i), 0) + (count if by is None or t.version is by else 0)
        if not whole and any([root(t.array) is root(array) for _, _, t in known]):
            raise Refused("an in-place edit of a part of a tensor that was there before the call")
        self.renewed(array, value)

    def renewed(self, array: Any, value: Value) -> None:
        """`array` is `value` from now on."""
        if not value.straight and overlaps(array.shape, array.strides):
            raise Refused("an element is edited that shows in several places")
        had = self.roots.get(id(root(array)))
        for other in had if type(had) is list else [] if had is None else [had]:
            if other.array is not array:
                other.stale = True
            elif other is not value:
                other.past = True
        self.stand(id(array), value)


def turn(x: Any) -> Any:
    return x.T


def is_turned(x: Any, y: Any) -> bool:
    """Is y the transpose of x, in the same memory?"""
    z = x.T
    return bool(z.shape == y.shape and z.strides == y.strides and z.dtype == y.dtype and z.ctypes.data == y.ctypes.data)


def of_frames(home: str) -> str:
    """file.py:12 of the innermost code that does not lie there."""
    frame: Any = sys._getframe(0)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(home):
            return f"{name.rpartition('/')[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


caller: Final[Any] = of_frames if Guards is None else Guards.line
