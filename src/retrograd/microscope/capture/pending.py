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
from ..listen.ear import Call
from .parameters import Param
from .runs import Run, Use, Window, shown

inside: list[Waiting] = []                      # captures in whose blocks the program is


@mypyc_attr(allow_interpreted_subclasses=True)
class Waiting:
    """The part of a Capture between a call and its gradient."""

    def __init__(self, engine: Engine, where: Callable[[str, int], bool] | None, batch_size: int | None) -> None:
        self.engine: Engine = engine
        self.ours: bool = engine.name == "retrograd"
        self.where: Callable[[str, int], bool] | None = where
        self.batch_size: int | None = batch_size
        self.params: list[Param] = []
        self.runs: list[Run] = []
        self.left_out: set[int] = set()         # parameters with calls that `where` did not want
        self._within: list[str] = []            # paths of the modules being called that have parameters in common with others
        self._pending: list[Call] = []
        self._loss: Any = None                  # how the loss of the backward going on was reduced
        self._aside: Any = None                 # gradients of a pass that is no backward of the user's: batch_proof.py
        self._terms: Any = None
        self._own_thread: int = 0               # the one that entered the block

    def _others(self) -> list[Waiting]:
        """The other captures that are active in this thread; each has been given what came so far."""
        found = [other for other in inside if other is not self and other._own_thread == self._own_thread]
        for other in found:
            other._make_uses()
            drain(other)
        return found

    def _path_of(self, number: int) -> str:
        """Of the module that has a parameter; of several the one that is being called."""
        p = self.params[number]
        for path in reversed(self._within):
            if path in p.owners:
                return path
        return p.path

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

    def _enlist(self, use: Use, shapes: list[Any], late: bool) -> bool:
        """Put a use into its run; False when `where` does not want it.  late: a checkpoint runs it again."""
        run = use.run
        first = min(use.numbers)
        use.place(first, self._path_of(first))
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
        node.register_prehook(box.append)       # no code of ours runs in backward: see drain


def settle(it: Waiting) -> None:
    """Have the gradients of the calls that wait noted."""
    if not it._pending:
        return
    if it.ours:
        note(it)
    else:
        with it.engine.unseen():
            note(it)


def note(it: Waiting) -> None:
    pending = it._pending.copy()
    it._pending.clear()
    run = it._run()
    for call in pending:
        take(call)
        run.waiting.append(call)
        run.structure = hash((run.structure, call.plan.key))
        run.numbers |= call.plan.numbers
    it._terms = None


def drain(it: Waiting) -> None:
    """Give what came in backward to the uses."""
    for run in it.runs:
        if run.waiting:
            came = 0
            for call in run.waiting:
                for grads in call.box:
                    if grads[0] is not None:
                        came += 1
            if came != run.came:
                run.came = came
                arrived(it, run)
        if run._uses:
            for use in run._uses.copy():
                for k, (box, nr, cut) in enumerate(use.boxes):
                    for grads in box:
                        g = shown(grads[nr])
                        if g is None:
                            continue
                        g = use.typed(k, g)
                        if it._aside is not None:
                            it._aside.setdefault(id(use), {})[k] = g.detach() if cut is None else cut.of(g.detach())
                        else:
                            use.receive(k, g, cut)
                            arrived(it, run)
                    box.clear()


def arrived(it: Waiting, run: Run) -> None:
    if not run.losses or run.losses[-1] is not it._loss:
        run.losses.append(it._loss)
    it._terms = None


def take(call: Call) -> None:
    """Have what reaches its node in backward put into its box."""
    node = call.node
    call.node = None
    call.order = number_of(node)
    if call.below:
        node = node.next_functions[0][0]
    if isinstance(node, Node) and node._came is None:
        node._came = call.box
    else:
        node.register_prehook(call.box.append)
    if call.live is True:                       # its graph is not ours to hold
        args = list(call.args)
        data = args[call.plan.data]
        args[call.plan.data] = detached(data) if isinstance(data, TensorBase) else data.detach()
        call.args = args


def number_of(node: Any) -> int:
    """The higher, the later was it made."""
    return node._seq if isinstance(node, Node) else node._sequence_nr()
