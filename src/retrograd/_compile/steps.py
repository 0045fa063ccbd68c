"""A list of entries made ready for execution: by the Program in C, else one by one through NumPy."""
from __future__ import annotations

from typing import Any

from .._engine.modes import hush, unhush
from .code import Program, alive, program
from .values import Entry, Value


class Steps:
    """results of the entries; `takes`: the values whose arrays `run` is given, in their order."""

    def __init__(self, entries: list[Entry], results: list[Value], given: dict[int, Any]) -> None:
        self.entries = alive(entries, results)
        self.program: Any = None
        if Program is not None:
            self.program, self.takes, _ = program(self.entries, results, given)
            return
        self.results = results
        found = {id(x): x for e in self.entries for x in e.args if isinstance(x, Value)}
        found.update({id(x): x for x in results})
        made = {id(v) for e in self.entries for v in e.outs}
        self.takes = [x for x in found.values() if x.kind != "const" and id(x) not in made]
        self.constants = {id(x): x.array for x in found.values() if x.kind == "const"}

    def run(self, filled: list[Any]) -> list[Any]:
        token = hush()
        try:
            if self.program is not None:
                made: list[Any] = self.program.run(filled)
                return made
            held = {**self.constants, **{id(v): x for v, x in zip(self.takes, filled)}}
            for entry in self.entries:
                got = entry.fn(*[held[id(x)] if isinstance(x, Value) else x for x in entry.args])
                for v, x in zip(entry.outs, [got] if len(entry.outs) == 1 else got):
                    held[id(v)] = x
            return [held[id(v)] for v in self.results]
        finally:
            unhush(token)
