"""What is trouble, and what losses are usual: the last ones of one line of a program."""
from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from typing import Any, Final

from .step import Step

WINDOW: Final = 200             # losses that others are judged by
ENOUGH: Final = 20              # how many there must be
NORMAL: Final = 1.4826          # standard deviations of a normal distribution by median distances from its median
OVERFLOWS: Final = 20           # passes in a row with a GradScaler whose gradients overflow: a scaler gets over a few


class Judge:
    """Judges passes.  losses: of the last ones"""

    def __init__(self, spike: Any, keep: int) -> None:
        self.spike: Any = spike
        self.keep: int = keep
        self.losses: Any = deque(maxlen=WINDOW)
        self.usual: dict[Any, Usual] = {}       # lines of a pass and of what made its loss -> losses
        self.overflows: int = 0
        self.passes: int = 0
        self.spiked: int = -1                   # the pass of the last spike that was reported
        self.ill: bool = False                  # bad numbers were reported, and no good ones came since

    def says(self, step: Step) -> str:
        """A pass has ended: why to report it; "" if it is like others."""
        for loss, _ in step.losses:
            if loss - loss != 0.0:
                return self.first(f"the loss is {loss}")
        if step.broken:
            if not step.scaled:
                return self.first("a gradient is NaN or inf")
            self.overflows += 1
            return f"scaled gradients overflowed {OVERFLOWS} times in a row" if self.overflows == OVERFLOWS else ""
        self.ill = False
        self.overflows = 0
        if not step.losses:
            return ""
        loss, line = step.losses[-1]
        self.losses.append(loss)
        if self.spike is None:
            return ""
        self.passes += 1
        usual = self.usual.get(line)
        if usual is None:
            usual = self.usual[line] = Usual()
        score = usual.score(loss, self.spike)
        why = ""
        if score > self.spike and (self.spiked < 0 or self.passes - self.spiked > self.keep):
            self.spiked = self.passes           # what is written has those that follow soon, if not the last of them
            why = f"the loss jumped to {loss:.4g} (median {usual.median():.4g}, robust z-score {score:.3g})"
        usual.add(loss)
        return why

    def first(self, why: str) -> str:
        """What is reported once, until it is over."""
        if self.ill:
            return ""
        self.ill = True
        return why


class Usual:
    """The last losses, in order of time and of size: a new one is judged without sorting them."""

    def __init__(self) -> None:
        self.last: deque[float] = deque()
        self.sorted: list[float] = []

    def add(self, loss: float) -> None:
        if len(self.last) == WINDOW:
            del self.sorted[bisect_left(self.sorted, self.last.popleft())]
        self.last.append(loss)
        insort(self.sorted, loss)

    def median(self) -> float:
        n = len(self.sorted)
        return (self.sorted[n // 2] + self.sorted[(n - 1) // 2]) / 2

    def score(self, loss: float, spike: float) -> float:
        """How many (robust) standard deviations a loss is above the median; 0 where that is less than `spike`."""
        if len(self.sorted) < ENOUGH:
            return 0.0
        middle = self.median()
        if loss <= middle:
            return 0.0
        far = (loss - middle) / (NORMAL * spike)
        near = bisect_right(self.sorted, middle + far) - bisect_left(self.sorted, middle - far)
        if 2 * near < len(self.sorted):         # half of them lie farther from the median
            return 0.0
        apart = sorted(abs(y - middle) for y in self.sorted)
        spread = NORMAL * (apart[len(apart) // 2] + apart[(len(apart) - 1) // 2]) / 2
        return (loss - middle) / max(spread, 1e-9 * abs(middle), 1e-12)
