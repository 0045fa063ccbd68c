"""What the tests of torch.compile share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as torch
from retrograd._compile.promises import HERE


def skipping(f: Any, **options: Any) -> Any:
    return torch.compile(f, options={"python": "skip", "check": 0, **options})


def comparing(f: Any, **options: Any) -> Any:
    """f compiled so that Python runs, compared even where that is slower."""
    made: Any = torch.compile(f, options=options)
    getattr(made, "forward", made).always = True
    return made


def computed(call: Any) -> int:
    """How often plans computed what calls asked for; 1 in an install without C, where all is eager."""
    if not HERE:
        return 1
    todo, found = list(call.local.runner.first), 0
    while todo:
        piece = todo.pop()
        found += piece.used
        todo.extend(piece.next)
    return found


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return (isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
                and a.requires_grad == b.requires_grad and a.detach().numpy().tobytes() == b.detach().numpy().tobytes())
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def numbers(*shape: int, seed: int = 0, dtype: Any = torch.float32) -> torch.Tensor:
    return torch.tensor(np.random.RandomState(seed).randn(*shape)).to(dtype)


def replays(call: Any) -> int:
    return sum(v.used for v in getattr(call, "forward", call).local.variants)


class Way:
    """One of the two modes: how a function is compiled, and how often plans ran for it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.plans = name == "skip" or HERE

    def call(self, f: Any, **options: Any) -> Any:
        return skipping(f, **options) if self.name == "skip" else comparing(f)

    def used(self, call: Any) -> int:
        if self.name == "skip":
            return replays(call)
        return computed(getattr(call, "forward", call)) if HERE else 1 << 20


def alike(make: Callable[[], tuple[Any, Callable[[], Any]]], calls: int = 5, replayed: bool = True) -> Any:
    """make() -> (step, state): the step compiled and as it is give the same results and leave the same state."""
    eager, state_of_eager = make()
    plain, state = make()
    fast = skipping(plain)
    for i in range(calls):
        want, got = eager(), fast()
        assert same(want, got), f"call {i}"
        assert same(state_of_eager(), state()), f"state after call {i}"
    assert (replays(fast) > 0) == replayed, fast.explain()
    return fast


def grads(*tensors: Any) -> Any:
    return [None if t.grad is None else t.grad.clone() for t in tensors]
