"""Uses that wait: calls that become uses when there is time, and uses whose gradient has not come.

NOTE [Planned calls wait]  Between two products the processor forgets our code: a use made then takes 40 us, in a row with
others 10.  So of a call like one before only what may change is noted; when the model ends or a backward begins hooks are put
on the nodes, and uses are made when somebody asks for them.  Arguments are held meanwhile, so only rules whose uses hold them
anyway let calls wait.  In backward no code of ours runs at all: hooks are lists' own `append`, our engine's nodes have a place
for such a list (Node._came), and what they got is given to the uses later.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy_extensions import mypyc_attr

from ..._engine.node import Node
from ..._engine.tensor import TensorBase
from ..._rules.create import detached
from ..listen import Engine
from .parameters import Param
from .runs import Run, Use, Window, shown

inside: list[Waiting] = []                      # captures in whose blocks the program is


@mypyc_attr(allow_interpreted_subclasses=True)
class Waiting:
    """The part of a Capture between a call and its gradient."""

    where: Callable[[str, int], bool] | None
    batch_size: int | None
    engine: Engine

    def __init__(self) -> None:
        self.params: list[Param] = []
        self.runs: list[Run] = []
        self.left_out: set[int] = set()         # parameters with calls that `where` did not want
        self._pending: list[Any] = []           # calls
        self._loss: Any = None                  # how the loss of the backward going on was reduced
        self._aside: Any = None                 # gradients of a pass that is no backward of the user's: batch_proof.py
        self._terms: Any = None

    def _others(self) -> list[Waiting]:
        """The other captures that are active; each has been given what came so far."""
        found = [other for other in inside if other is not self]
        for other in found:
            other._make_uses()
            other._drain()
        return found

    def _run(self) -> Run:
        if not self.runs:
            run = Run(0)
            run.size = self.batch_size
            self.runs.append(run)
        return self.runs[-1]

    def _make_uses(self) -> None:
        """Of all calls that wait."""
        for run in self.runs:
            run.make_uses()

    def _settle(self) -> None:
        """Have the gradients of the calls that wait noted."""
        if self._pending:
            with self.engine.unseen():
                self._note()

    def _note(self) -> None:
        pending = self._pending.copy()
        self._pending.clear()
        run = self._run()
        for call in pending:
            plan = call[0]
            run.waiting.append(taken(call))
            run.structure = hash((run.structure, plan.key))
            run.numbers |= plan.numbers
        self._terms = None

    def _enlist(self, use: Use, shapes: list[Any], late: bool) -> bool:
        """Put a use into its run; False when `where` does not want it.  late: a checkpoint runs it again."""
        run = use.run
        first = min(use.numbers)
        use.place(first, self.params[first].path)
        if self.where is not None and not self.where(use.path, use.number):
            self.left_out |= use.numbers
            return False
        use.shapes = [tuple(shape) for shape in shapes]
        use.deltas = [None] * len(shapes)
        use.late = late
        run.uses.append(use)
        run.numbers |= use.numbers
        if not late:
            run.structure = hash((run.structure, hash((use.name, *sorted(use.numbers)))))
        self._terms = None
        return True

    def _await(self, use: Use, node: Any, nr: int, cut: Window | None) -> None:
        """Have the gradient at the next output of `use` noted: number nr of those that reach `node`."""
        box: list[Any] = []
        use.boxes.append((box, nr, cut))
        node.register_prehook(box.append)       # no code of ours runs in backward: see _drain

    def _drain(self) -> None:
        """Give what came in backward to the uses."""
        for run in self.runs:
            if run.waiting:
                came = sum(1 for call in run.waiting for grads in call[-2] if grads[0] is not None)
                if came != run.came:
                    run.came = came
                    self._arrived(run)
            for use in tuple(run._uses):
                for k, (box, nr, cut) in enumerate(use.boxes):
                    for grads in box:
                        g = shown(grads[nr])
                        if g is None:
                            continue
                        if self._aside is not None:
                            self._aside.setdefault(id(use), {})[k] = g.detach() if cut is None else cut.of(g.detach())
                        else:
                            use.receive(k, g, cut)
                            self._arrived(run)
                    box.clear()

    def _arrived(self, run: Run) -> None:
        if not run.losses or run.losses[-1] is not self._loss:
            run.losses.append(self._loss)
        self._terms = None


def taken(call: Any) -> tuple[Any, ...]:
    """A call of Ear.waiting, as a Run keeps it, with a list that what reaches its node in backward is put into."""
    args: tuple[Any, ...]
    plan, args, kwargs, version, live, made, below, shape, layout = call
    box: list[Any] = []
    node = made.next_functions[0][0] if below else made
    if isinstance(node, Node) and node._came is None:
        node._came = box
    else:
        node.register_prehook(box.append)
    data = args[plan.data]
    if live is True:                            # its graph is not ours to hold
        data = detached(data) if isinstance(data, TensorBase) else data.detach()
        args = (*args[:plan.data], data, *args[plan.data + 1:])
    return plan, args, kwargs, version, live, number_of(made), shape, layout, box, below


def number_of(node: Any) -> int:
    """The higher, the later was it made."""
    return node._seq if isinstance(node, Node) else node._sequence_nr()
