"""A step of a flight: its events, the calls of the model in it, and how what a replay heard comes into it."""
from __future__ import annotations

from collections import deque
from typing import Any, Final

from ..capture.runs import shown

EVENTS: Final = 20_000              # of a step; of longer ones the newest are kept


class Step:
    """What came up to an optimizer's step, and more of the same step of the training (rounds.py); what was wrong with it."""

    def __init__(self, number: int) -> None:
        self.number: int = number
        self.events: Any = deque(maxlen=EVENTS)
        self.count: int = 0
        self.losses: list[Any] = []             # (value, its line) of its passes, before a scaler scaled them
        self.scaled: bool = False               # a GradScaler scaled a loss
        self.broken: bool = False               # a gradient is not finite
        self.came: bool = False                 # gradients came
        self.over: bool = False

    def put(self, event: tuple[Any, ...]) -> None:
        self.events.append(event)
        self.count += 1

    def join(self, other: Step) -> None:
        """What came after this belongs to it."""
        self.events.extend(other.events)
        self.count += other.count
        self.losses.extend(other.losses)


class Call:
    """A call of the model, as it can be made again."""

    def __init__(self, number: int, args: Any, kwargs: Any, random: Any, autocast: Any) -> None:
        self.number: int = number
        self.args: Any = args
        self.kwargs: Any = kwargs
        self.random: Any = random
        self.autocast: Any = autocast
        self.at: int = 0                        # serial number of its first output
        self.values: list[Any] = []             # of its outputs
        self.gradients: dict[int, Any] = {}
        self.came: list[Any] = []               # or this, of the only output: Node._came

    def reached(self, k: int, g: Any) -> None:
        self.gradients[k] = g

    def arrived(self) -> dict[int, Any]:
        """Which output -> the gradient that reached it."""
        if self.came and self.came[-1][0] is not None:
            return {0: shown(self.came[-1][0])}
        return self.gradients


def splice(step: Step, at: int, first: Step, second: Step, serials: list[int]) -> None:
    """What a replay heard, forward and backward, in the place of the call that gave `at`."""
    found: list[Any] = []
    for event in step.events:
        if event[0] == "op" and event[7][0][0] == at:
            call, outs = event[5], event[7]
            while found and found[-1][0] in ("gave", "enter") and found[-1][3] == call:
                found.pop()
            found.extend(first.events)
            found.append(("alias", event[1], [made[0] for made in outs], serials))
        elif event[0] == "end" and event is step.events[-1]:
            while found and found[-1][0] == "leaves":         # the replay has them in the order of the pass
                found.pop()
            found.extend(second.events)
            found.append(event)
        else:
            found.append(event)
    step.count += len(found) - len(step.events)
    step.events.clear()
    step.events.extend(found)


def alike(value: Any) -> Any:
    """A number as it compares between two runs of the same code."""
    return value[1:] if type(value) is tuple else value


def tensors_of(x: Any, kind: Any) -> list[Any]:
    """The tensors in an argument or a result."""
    if isinstance(x, kind):
        return [x]
    found: list[Any] = []
    if isinstance(x, (tuple, list)):
        for y in x:
            found.extend(tensors_of(y, kind))
    elif isinstance(x, dict):
        for y in x.values():
            found.extend(tensors_of(y, kind))
    return found
