"""Uses that wait: calls that become uses when there is time, and uses whose gradient has not come.

NOTE [Planned calls wait]  Between two products the processor forgets our code: a use made then takes 40 us, in a row with
others 10.  So of a call like one before only what may change is noted, and uses are made when the model ends or a backward
begins.  Arguments are held meanwhile, so only rules whose uses hold them anyway let calls wait.  In backward no code of ours
runs at all: hooks are lists' own `append`, and what they got is given to the uses after it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .parameters import Param
from .runs import Plan, Run, Use, Window


class Waiting:
    """The part of a Capture between a call and its gradient."""

    where: Callable[[str, int], bool] | None
    batch_size: int | None

    def __init__(self) -> None:
        self.params: list[Param] = []
        self.runs: list[Run] = []
        self.left_out: set[int] = set()         # parameters with calls that `where` did not want
        self._pending: list[Any] = []           # calls
        self._loss: Any = None                  # how the loss of the backward going on was reduced
        self._aside: Any = None                 # gradients of a pass that is no backward of the user's: apart.py
        self._terms: Any = None

    def _run(self) -> Run:
        if not self.runs:
            run = Run(0)
            run.size = self.batch_size
            self.runs.append(run)
        return self.runs[-1]

    def _planned(self, plan: Plan, args: Any, kwargs: Any, layout: Any, live: bool) -> Use:
        """The use of a call that follows a plan."""
        use = Use(self._run(), plan.name, plan.func, layout, plan.sources)
        use.kind = plan.rule
        use.numbers = plan.numbers
        use.live = live
        plan.rule.take(use, args, kwargs)
        return use

    def _settle(self) -> None:
        """Make the uses of the calls that wait."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        for plan, args, kwargs, version, live, node, below, shape, layout in pending:
            use = self._planned(plan, args, kwargs, layout, live)
            use.versions = (version,)
            use.order = node._sequence_nr()
            if self._enlist(use, [shape], False):
                if below:
                    self._await(use, node.next_functions[0][0], 0, Window(shape))
                else:
                    self._await(use, node, 0, None)

    def _enlist(self, use: Use, shapes: list[Any], late: bool) -> bool:
        """Put a use into its run; False when `where` does not want it.  late: a checkpoint runs it again."""
        run = use.run
        self._place(use, use.numbers)
        if self.where is not None and not self.where(use.path, use.number):
            self.left_out |= use.numbers
            return False
        use.shapes = [tuple(shape) for shape in shapes]
        use.deltas = [None] * len(shapes)
        use.late = late
        run.uses.append(use)
        if not late:
            run.structure = hash((run.structure, use.name, *sorted(use.numbers)))
        self._terms = None
        return True

    def _await(self, use: Use, node: Any, nr: int, cut: Window | None) -> None:
        """Have the gradient at the next output of `use` noted: number nr of those that reach `node`."""
        box: list[Any] = []
        use.boxes.append((box, nr, cut))
        node.register_prehook(box.append)       # no code of ours runs in backward: see _drain

    def _place(self, use: Use, numbers: set[int]) -> None:
        first = min(numbers)
        use.path = self.params[first].path
        key = (first, use.name)
        use.number = use.run.calls.get(key, 0)
        use.run.calls[key] = use.number + 1

    def _drain(self) -> None:
        """Give what came in backward to the uses."""
        for run in self.runs:
            for use in tuple(run.uses):
                for k, (box, nr, cut) in enumerate(use.boxes):
                    for grads in box:
                        if grads[nr] is not None:
                            self._take(use, k, grads[nr], cut)
                    box.clear()

    def _take(self, use: Use, k: int, g: Any, cut: Window | None) -> None:
        if self._aside is not None:
            self._aside.setdefault(id(use), {})[k] = g.detach() if cut is None else cut.of(g.detach())
            return
        while use.deltas[k] is not None:        # backward again over the same graph
            if use.again is None:
                use.again = use.twin()
                use.run.uses.append(use.again)
            use = use.again
        # g itself, not a detached copy: who else would take it over for a .grad and edit it sees that it is held
        if g.requires_grad:
            g = g.detach()
        if cut is not None:
            use.held.append(g)
            g = cut.of(g)
        use.deltas[k] = g
        losses = use.run.losses
        if not losses or losses[-1] is not self._loss:
            losses.append(self._loss)
        self._terms = None
