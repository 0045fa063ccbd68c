"""What a step of a training is, for all that count steps: watch(), flights, comparisons of recordings.

A step has one step() of each optimizer at most.  So a GAN's two optimizers make one step together, and of one that steps five
times before the other each of the five is a step.  A step that was skipped, by a GradScaler or because gradients were cleared
that nobody had used, is a step of its own.  Steps are counted from 1.
"""
from __future__ import annotations

from typing import Any


class Rounds:
    """Counts the steps of a training.  number: of the last one in which an optimizer stepped, or that was skipped."""

    def __init__(self) -> None:
        self.number = 0
        self.stepped: set[Any] = set()          # optimizers, in the step of this number
        self.last: Any = None                   # who stepped last
        self.run = 0                            # and how often in a row
        self.after: dict[Any, Any] = {}         # (who stepped, how often in a row) -> who else stepped next, the last time

    def step(self, optimizer: Any) -> int:
        """An optimizer steps: the number of the step that this belongs to."""
        if optimizer == self.last:
            self.after.pop((self.last, self.run), None)
            self.run += 1
        else:
            self.after[self.last, self.run] = optimizer
            self.last, self.run = optimizer, 1
        if not self.stepped or optimizer in self.stepped:
            self.skip()
        self.stepped.add(optimizer)
        return self.number

    def skip(self) -> int:
        """A step is skipped: its number."""
        self.number += 1
        self.stepped.clear()
        return self.number

    def now(self) -> int:
        """The number of the step that is under way, if optimizers go on in the order in which they stepped so far."""
        goes_on = self.stepped and self.after.get((self.last, self.run), self.last) not in self.stepped
        return self.number if goes_on else self.number + 1
