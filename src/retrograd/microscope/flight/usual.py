"""What losses are usual: the last ones of one line of a program."""
from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque

WINDOW, ENOUGH = 200, 20        # losses that others are judged by; how many there must be
NORMAL = 1.4826                 # standard deviations of a normal distribution by median distances from its median


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
