"""Connectionist temporal classification: sums over alignments, forwards and backwards in time.   Graves et al. 2006

T steps, N sequences, C classes.  A label sequence of length S is read with blanks around each label: 2 S + 1 states.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Value
from .._engine.op import Unary
from .gather import OnceBackward0
from .reduce import raw

np: Final[Any] = numpy
ONCE: Final = "derivative for aten::_ctc_loss_backward is not implemented"


@final
class CtcLossBackward0(Unary):
    """-log P of each sequence's labels."""

    holds = True
    shows: ClassVar[Any] = {"blank": "blank", "zero_infinity": "zero_infinity"}

    def __init__(self, targets: list[Array], lengths: Array, blank: int, zero_infinity: bool) -> None:
        self.targets: list[Array] = targets
        self.lengths: Array = lengths
        self.blank = blank
        self.zero_infinity = zero_infinity
        self.loss: Array = None

    def drop(self) -> None:
        self.targets = []
        self.lengths = None
        self.loss = None

    def forward(self, x: Array) -> Array:
        loss = np.empty(x.shape[1], x.dtype)
        for n in range(x.shape[1]):
            steps = int(self.lengths[n])
            if not steps:
                loss[n] = np.inf if self.targets[n].size else 0.0
                continue
            states, skips = self.states(n)
            loss[n] = -ends(alphas(x[:steps, n][:, states], skips))
        self.loss = loss
        return loss

    def states(self, n: int) -> tuple[Array, Array]:
        """The class of each state, and where it can be reached from two states before."""
        labels = self.targets[n]
        states = np.full(2 * labels.size + 1, self.blank, np.int64)
        states[1::2] = labels
        skips = np.zeros(states.size, bool)
        skips[2:] = (states[2:] != self.blank) & (states[2:] != states[:-2])
        return states, skips

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        out = np.zeros_like(own)
        for n in range(own.shape[1]):
            steps = int(self.lengths[n])
            if not steps or (self.zero_infinity and self.loss[n] == np.inf):
                continue
            states, skips = self.states(n)
            logs = own[:steps, n]
            seen = logs[:, states]
            a = alphas(seen, skips)
            b = alphas(seen[::-1, ::-1], np.concatenate([np.zeros(2, bool), skips[2:][::-1]]))[::-1, ::-1]
            through = np.full((logs.shape[1], steps), -np.inf, own.dtype)
            np.logaddexp.at(through, states, (a + b - seen).T)
            out[:steps, n] = np.exp(logs) - np.exp(through.T + self.loss[n])
        got = g[None, :, None] * out if isinstance(g, np.ndarray) else product(g, out)
        return got if isinstance(got, np.ndarray) else OnceBackward0(ONCE).run(got)


def product(g: Any, out: Array) -> Value:
    return g.reshape(1, -1, 1) * out


def alphas(seen: Array, skips: Array) -> Array:
    """(steps, states): the log probability of all ways to each state at each step.  seen: log probabilities of states."""
    steps, states = seen.shape
    a = np.full((steps, states), -np.inf, seen.dtype)
    a[0, :2] = seen[0, :2]
    for t in range(1, steps):
        before = a[t - 1]
        ways = before.copy()
        ways[1:] = np.logaddexp(ways[1:], before[:-1])
        ways[2:] = np.where(skips[2:], np.logaddexp(ways[2:], before[:-2]), ways[2:])
        a[t] = ways + seen[t]
    return a


def ends(a: Array) -> Any:
    """log of all ways that end in one of the last two states"""
    return np.logaddexp(a[-1, -1], a[-1, -2]) if a.shape[1] > 1 else a[-1, -1]
