"""Listening to an engine: what hears a program leaves it, and the process, as they are."""
from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from both_engines import both

import retrograd
from retrograd import microscope
from retrograd.nn.functional import cross_entropy, linear
from retrograd.nn.functional import relu as rectified


def small(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


def names() -> dict[tuple[str, str], int]:
    """What each name of the package's modules and classes means."""
    found = {}
    for home, module in list(sys.modules.items()):
        if home.partition(".")[0] != "retrograd" or home.startswith("retrograd.microscope"):
            continue
        for name, value in list(vars(module).items()):
            found[home, name] = id(value)
            if isinstance(value, type) and value.__module__.startswith("retrograd"):
                found |= {(f"{home}.{name}", key): id(vars(value)[key]) for key in vars(value)}
    return found


@pytest.mark.parametrize("way", ["capture", "record", "hooks alone"])
def test_no_name_of_our_engine_means_something_else_in_a_block(way: str) -> None:
    model = small(retrograd)

    def block() -> Any:
        if way == "capture":
            return microscope.capture(model)
        return microscope.record(model, **({"ops": False, "nodes": False} if way == "hooks alone" else {}))

    with block():                               # loads what it needs
        model(retrograd.ones(2, 3)).sum().backward()
    before = names()
    with block():
        inside = names()
    assert inside == before == names()


def test_functions_imported_by_name_are_captured() -> None:
    weight = retrograd.nn.Parameter(retrograd.ones(2, 3))

    class Model(retrograd.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = weight

        def forward(self, x: Any) -> Any:
            return rectified(linear(x, self.weight))

    model = Model()
    with microscope.capture(model) as cap:
        cross_entropy(model(retrograd.ones(5, 3)), retrograd.zeros(5, dtype=retrograd.int64)).backward()
    assert [use.name for use in cap.uses()] == ["linear"]
    assert cap.check()["weight"] < 1e-6


@both
def test_a_function_that_the_program_replaces_and_puts_back_is_its_own_again(torch: Any) -> None:
    model = small(torch)
    for block in (microscope.capture(model), microscope.record(model)):
        own = torch.nn.functional.relu, torch.Tensor.relu, torch.add
        with block:
            kept = torch.nn.functional.relu, torch.Tensor.relu, torch.add
            torch.nn.functional.relu = torch.Tensor.relu = torch.add = lambda x, *_, **__: x * 2
            model(torch.ones(2, 3)).sum().backward()
            torch.nn.functional.relu, torch.Tensor.relu, torch.add = kept
        assert (torch.nn.functional.relu, torch.Tensor.relu, torch.add) == own == kept


@both
def test_captures_in_each_other_and_in_a_recording_see_the_same(torch: Any) -> None:
    first, second = small(torch), small(torch)
    x = torch.ones(2, 3)
    with microscope.record(first, second) as rec:
        with microscope.capture(first) as outer, microscope.capture(second) as inner:
            (first(x).sum() + second(x).sum()).backward()
    assert [u.name for u in outer.uses()] == [u.name for u in inner.uses()] == ["linear", "linear"]
    assert max(outer.check().values()) == max(inner.check().values()) == 0
    assert {rec.name_of_tensor(e.tensor) for e in rec.of("accumulate")} == set(rec.parameters)


@both
def test_blocks_may_end_in_any_order(torch: Any) -> None:
    first, second = small(torch), small(torch)
    a, b = microscope.capture(first), microscope.capture(second)
    a.__enter__()
    b.__enter__()
    if torch is retrograd:                      # a stack of modes in PyTorch
        a.__exit__(None, None, None)
        second(torch.ones(2, 3)).sum().backward()
        b.__exit__(None, None, None)
    else:
        second(torch.ones(2, 3)).sum().backward()
        b.__exit__(None, None, None)
        a.__exit__(None, None, None)
    assert len(b.uses()) == 2


@both
def test_another_thread_is_not_heard_by_a_capture(torch: Any) -> None:
    mine, others = small(torch), small(torch)

    def work() -> None:
        others(torch.ones(2, 3)).sum().backward()

    with microscope.capture(mine) as cap, microscope.capture(others) as none:
        thread = threading.Thread(target=work)
        thread.start()
        mine(torch.ones(2, 3)).sum().backward()
        thread.join()
    assert len(cap.uses()) == 2 and not none.uses()


@both
@pytest.mark.parametrize("way", ["capture", "record"])
def test_an_exception_leaves_nobody_listening(torch: Any, way: str) -> None:
    model = small(torch)
    with pytest.raises(RuntimeError), getattr(microscope, way)(model):
        model(torch.ones(2, 5))
    if torch is retrograd:
        from retrograd._engine.modes import modes, state
        from retrograd.nn.hooks import watchers
        assert state().listener is None and not modes.engaged
        assert modes.observer is None and modes.clerk is None and not watchers
    assert not model._forward_hooks and not model._forward_pre_hooks
    with getattr(microscope, way)(model):
        model(torch.ones(2, 3)).sum().backward()
