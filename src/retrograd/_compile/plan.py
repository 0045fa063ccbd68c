"""Entries in order, and how they are executed."""
from __future__ import annotations

from typing import Any, Final

import numpy as np

from .._engine.modes import hush, unhush
from .._engine.tensor import TensorBase
from ..random import default_generator
from .callouts import CallOut, Left, turn_of
from .code import LOOKS, Program, alive, program
from .effects import Outright, grad_of, no_grad, store_grad
from .graph import checked
from .outputs import Outputs, build
from .trace import Trace
from .values import Entry, Value
from .whole import Kept, Whole
from .writes import same_array

ndarray: Final = np.ndarray


class Undone(Exception):
    """An operation raised, and nothing was written yet."""

    def __init__(self, why: Exception) -> None:
        self.__cause__ = why                    # compiled code does nothing for `from`


def taken(entries: list[Entry]) -> list[Value]:
    """The values that entries take, each once."""
    mark: int = next(LOOKS)
    found: list[Value] = []
    for entry in entries:
        for x in entry.args:
            if isinstance(x, Value) and x.mark != mark:
                x.mark = mark
                found.append(x)
    return found


class Plan:
    """What one recorded call does, again."""

    def __init__(self, trace: Trace, outputs: Outputs) -> None:
        self.tensors = trace.tensors
        self.inputs = len(self.tensors.inputs)
        self.tree = outputs.tree
        self.graph = outputs.graph
        self.made = [*outputs.values, *(self.graph.kept if self.graph else ())]
        self.count = len(outputs.values)
        self.entries = alive(trace.entries, self.made)
        self.recorded = len(trace.entries)
        self.busy = False
        takes = taken(self.entries)
        read = {v.index for v in takes if v.kind == "grad"}
        early = [(kind, i, trace.place(kind, i)) for kind, i in trace.early]
        self.early = [i for kind, i, place in early if kind == "input" and place not in read]
        self.clears = [self.tensors.held[i] for kind, i, place in early if kind == "held" and place not in read]
        self.turn = turn_of(self.entries, trace.tensors, [trace.place(kind, i) for kind, i in trace.early], trace.rules)
        self.writes = self.turn is not None or any(
            e.name in ("store", "step") or e.fn is store_grad or isinstance(e.fn, Outright) for e in self.entries)
        self.drawn = [isinstance(e.fn, (Kept, Whole)) for e in self.entries if e.fixed]
        self.draws = any(self.drawn)
        self.mark: Any = None                   # the random numbers to come, where the call draws some
        self.grads = bool(read) or any(v.kind == "grad" for v in self.made)     # are they read?
        self.numbered = False
        self.program: Any = None
        self.takes: list[Value] = []            # what the program is given
        self.own: list[tuple[int, bool]] = []   # where that is of inputs alone: of which, and whether their arrays
        self.direct = True
        self.buffers: Any = None                # gives them as text
        self.coded = Program is None
        if self.graph is not None:
            self.graph.ready(outputs.values)
        entries = self.entries
        if self.graph is not None:
            entries, takes = entries + self.graph.entries, takes + taken(self.graph.entries)
        for value in takes:                     # what the recorded call computed goes
            if value.kind != "const":
                value.array = None
        for entry in entries:
            for out in entry.outs:
                out.array = None

    def encode(self) -> None:
        """Make the program, before the first replay: many plans have none, such as those of first calls, without any .grad."""
        self.coded = True
        given: dict[int, Any] = {}
        for value in taken(self.entries):
            if value.kind == "held":
                given[id(value)] = self.tensors.held[value.index].array
            elif value.kind == "tensor" and value.index >= self.inputs:
                given[id(value)] = self.tensors.held[value.index - self.inputs]
        self.program, self.takes, self.buffers = program(self.entries, self.made, given)
        self.own = [(v.index, v.kind == "input") for v in self.takes]
        self.direct = all(v.kind in ("input", "tensor") and v.index < self.inputs for v in self.takes)

    def number(self) -> None:
        """Give values and constants their slots, where the entries are executed one by one."""
        self.numbered = True
        self.slots: list[Any] = []
        self.fill: list[tuple[int, str, int]] = []
        self.code: list[tuple[Any, list[int], list[int]]] = []
        for entry in self.entries:
            args = [self.slot(x) for x in entry.args]
            self.code.append((entry.fn, args, [self.slot(v) for v in entry.outs]))
        self.results = [self.slot(v) for v in self.made]

    def slot(self, x: Any) -> int:
        if not isinstance(x, Value):
            self.slots.append(x)
            return len(self.slots) - 1
        if x.slot < 0:
            self.slots.append(x.array if x.kind == "const" else None)
            x.slot = len(self.slots) - 1
            if x.kind not in ("const", "made"):
                self.fill.append((x.slot, x.kind, x.index))
        return x.slot

    def outs(self) -> list[CallOut]:
        """The entries that call hooks."""
        return [e.fn for e in self.entries if isinstance(e.fn, CallOut)]

    def summary(self) -> str:
        if not self.coded:
            self.encode()
        buffers = "buffers as NumPy makes them" if self.buffers is None else self.buffers()
        return f"{len(self.entries)} of {self.recorded} operations, {buffers}"

    def lines(self) -> list[str]:
        """The entries as text."""
        found = []
        for entry in self.entries:
            made = ", ".join(f"{v.dtype.name}{list(v.shape)}" for v in entry.outs if v.dtype is not None)
            found.append(" ".join([entry.op or entry.name, *(["->", made] if made else []), entry.where]).rstrip())
        return found

    def rehearse(self, inputs: list[TensorBase]) -> list[list[Any]]:
        """run, operation by operation: -> what each gave."""
        made: list[list[Any]] = []
        if self.turn is not None:
            self.turn.begin(inputs)
        self.execute(self.filled(inputs), made)
        return made

    def same(self, trace: Trace, outputs: Outputs, got: list[list[Any]]) -> None:
        """RuntimeError where the entries of `trace`, of an eager call, gave something else than `got`."""
        entries = alive(trace.entries, [*outputs.values, *(outputs.graph.kept if outputs.graph else ())])
        if self.turn is not None and [e.name for e in self.entries] != [e.name for e in entries]:
            return                              # what hooks keep is copied: all that the call leaves is compared besides
        for mine, other, arrays in zip(self.entries, entries, got):
            if isinstance(mine.fn, CallOut):    # hooks may do what they like
                continue
            differ = mine.name != other.name or len(mine.outs) != len(other.outs) or not all(
                v.array is None or v.stale or v.past or same_array(x, v.array)
                for v, x in zip(other.outs, arrays))
            if differ:
                raise RuntimeError(
                    "torch.compile: the recorded call and an eager one differ, first in "
                    f"{mine.op or mine.name} "
                    f"({mine.where or other.where or 'no line'}): recorded {arrays}, eagerly {[v.array for v in other.outs]}")
        if len(self.entries) != len(entries):
            raise RuntimeError(
                f"torch.compile: an eager call has {len(entries)} operations, the recorded one {len(self.entries)}")

    def run(self, inputs: list[TensorBase]) -> Any:
        """The result, with all effects.  The guards must hold."""
        result = self.result(self.arrays(inputs), inputs)
        if self.turn is not None:
            self.turn.end()
        return result

    def arrays(self, inputs: list[TensorBase], instead: dict[int, Any] | None = None) -> list[Any]:
        """The arrays of the results; instead: arrays in place of those of inputs."""
        if self.turn is not None:
            self.turn.begin(inputs)
        elif self.draws:
            self.mark = default_generator._mark()
        for t in self.clears:
            sink = t.sink
            if sink is not None:
                sink.grad = None
        for i in self.early:
            no_grad(inputs[i], None)
        if not self.coded:
            self.encode()
        if self.program is not None:
            filled = [inputs[i].array if array else inputs[i] for i, array in self.own] if self.direct else [
                self.fetch(v.kind, v.index, inputs) for v in self.takes]
            if instead:
                filled = [instead.get(v.index, x) if v.kind == "input" else x for v, x in zip(self.takes, filled)]
            token = hush()
            try:
                made: list[Any] = self.program.run(filled)
                return made
            except Left:
                raise
            except Exception as error:
                if self.wrote(self.program.wrote):
                    raise                       # in an optimizer's step, or after one, as eagerly
                raise self.undone(error) from error
            finally:
                unhush(token)
        slots = self.filled(inputs)
        self.execute(slots, None)
        return [slots[i] for i in self.results]

    def filled(self, inputs: list[TensorBase]) -> list[Any]:
        if not self.numbered:
            self.number()
        slots = self.slots.copy()
        for slot, kind, i in self.fill:
            slots[slot] = self.fetch(kind, i, inputs)
        return slots

    def fetch(self, kind: str, i: int, inputs: list[TensorBase]) -> Any:
        """What a value of that kind is now."""
        if kind == "input":
            return inputs[i].array
        held = self.tensors.held
        if kind == "held":
            return held[i].array
        t = inputs[i] if i < len(inputs) else held[i - len(inputs)]
        return t if kind == "tensor" else grad_of(t).array

    def execute(self, slots: list[Any], made: list[list[Any]] | None) -> None:
        token = hush()
        done = 0
        try:
            for fn, args, outs in self.code:
                got = fn(*[slots[i] for i in args])
                if len(outs) == 1:
                    slots[outs[0]] = got
                elif outs:
                    for i, out in enumerate(outs):
                        slots[out] = got[i]
                if made is not None:
                    made.append([slots[i].copy() if type(slots[i]) is ndarray else None for i in outs])
                done += 1
        except Left:
            raise
        except Exception as error:
            if self.wrote(sum([entry.fixed for entry in self.entries[:done]])):
                raise                           # in an optimizer's step, or after one, as eagerly
            raise self.undone(error) from error
        finally:
            unhush(token)

    def wrote(self, count: int) -> bool:
        """Did the first entries with an effect, so many, write what cannot be undone?"""
        return any(self.turn.final[:count]) if self.turn is not None else not all(self.drawn[:count])

    def undone(self, error: Exception) -> Undone:
        """Nothing was written, and nothing drawn."""
        if self.mark is not None:
            default_generator._back(self.mark)
        return Undone(error)

    def result(self, arrays: list[Any], inputs: list[TensorBase]) -> Any:
        graph = self.graph
        if graph is None:
            return build(self.tree, arrays, [None] * len(arrays), inputs, self.tensors.held, None)
        node = graph.node(arrays, inputs, self.tensors.held)
        made: list[Any] = [None] * len(arrays)
        result = build(self.tree, arrays, made, inputs, self.tensors.held, node)
        node.checks.extend([checked(at, made[i]) for at, i in graph.shown])
        return result
