"""A step of a flight: its events, the calls of the model in it, and how what a replay heard comes into it."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

EVENTS = 20_000                     # of a step; of longer ones the newest are kept


class Step:
    """One step: its events, and what was wrong with it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.events: deque[tuple[Any, ...]] = deque(maxlen=EVENTS)
        self.count = 0
        self.losses: list[float] = []           # of its passes, before a scaler scaled them
        self.scaled = False                     # a GradScaler scaled a loss
        self.broken = False                     # a gradient is not finite
        self.over = False

    def put(self, event: tuple[Any, ...]) -> None:
        self.events.append(event)
        self.count += 1


class Call:
    """A call of the model, as it can be made again."""

    def __init__(self, number: int, args: Any, kwargs: Any, random: Any, autocast: Any) -> None:
        self.number = number
        self.args, self.kwargs, self.random, self.autocast = args, kwargs, random, autocast
        self.at = 0                             # serial number of its first output
        self.values: list[Any] = []             # of its outputs
        self.gradients: dict[int, Any] = {}     # that reached them

    def reached(self, k: int, g: Any) -> None:
        self.gradients[k] = g


def splice(step: Step, at: int, first: Step, second: Step, serials: list[int]) -> None:
    """What a replay heard, forward and backward, in the place of the call that gave `at`."""
    found: list[tuple[Any, ...]] = []
    for event in step.events:
        if event[0] == "op" and event[7][0][0] == at:
            call, outs = event[5], event[7]
            while found and found[-1][0] in ("gave", "enter") and found[-1][3] == call:
                found.pop()
            found += first.events
            found.append(("alias", event[1], [made[0] for made in outs], serials))
        elif event[0] == "end" and event is step.events[-1]:
            while found and found[-1][0] == "leaves":         # the replay has them in the order of the pass
                found.pop()
            found += [*second.events, event]
        else:
            found.append(event)
    step.count += len(found) - len(step.events)
    step.events.clear()
    step.events.extend(found)


def alike(value: Any) -> Any:
    """A number as it compares between two runs of the same code."""
    return value[1:] if type(value) is tuple else value


def tensors_of(x: Any, kind: Any) -> Iterator[Any]:
    """The tensors in an argument or a result."""
    if isinstance(x, kind):
        yield x
    elif isinstance(x, (tuple, list)):
        for y in x:
            yield from tensors_of(y, kind)
    elif isinstance(x, dict):
        for y in x.values():
            yield from tensors_of(y, kind)
