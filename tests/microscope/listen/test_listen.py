"""Listening to an engine: what hears a program leaves it, and the process, as they are."""
from __future__ import annotations

import functools
import sys
import threading
from typing import Any

import pytest
from both_engines import both

import retrograd
from retrograd import microscope
from retrograd.microscope import listen
from retrograd.microscope.listen.replaced import replacements, replacements_for_ops
from retrograd.microscope.record.swaps import Seat
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
    seat = "retrograd.nn.hooks", "watcher"      # where the listener sits
    before = names()
    with block():
        inside = names()
    assert before == names()
    del before[seat], inside[seat]
    assert inside == before


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


@pytest.mark.once
def test_what_a_recording_puts_in_pytorchs_place_a_program_may_replace_for_good() -> None:
    torch: Any = pytest.importorskip("torch")
    homes = [torch.nn.Module, torch.Tensor, torch.optim.Optimizer, torch.optim.SGD, torch.autograd, torch.autograd.graph,
             torch.autograd.Function, torch.autograd.Variable, torch.amp.GradScaler, torch.utils.hooks.RemovableHandle,
             torch.nn.functional, torch.nn.modules.module, torch.nn.Parameter, torch]

    def meanings() -> dict[tuple[str, str], Any]:
        return {(home.__name__, name): value for home in homes for name, value in list(vars(home).items())
                if not isinstance(value, (int, float))}

    def run() -> Any:
        optimizer.zero_grad()
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        model.load_state_dict(model.state_dict())

    model = small(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with microscope.record(model):
        run()
    before = meanings()
    with microscope.record(model):
        inside = meanings()
    places = [key for key in before if inside[key] is not before[key]]
    planned = *replacements(torch, Seat()), *replacements_for_ops(torch, Seat())
    assert set(places) == {(owner.__name__, name) for owner, name, _ in planned} and meanings() == before
    called = []
    for home, name in places:
        owner = next(o for o in homes if o.__name__ == home)
        with microscope.record(model):
            there = vars(owner)[name]
            if name in ("_execution_engine", "apply"):
                stand_in: Any = there
            else:
                def stand_in(*args: Any, its: Any = there, which: str = name, **kwargs: Any) -> Any:
                    called.append(which)
                    return its(*args, **kwargs)
            setattr(owner, name, stand_in)
            run()
        assert stand_in is there or vars(owner)[name] is stand_in
        run()                                   # the recording is over, and what it put there does as PyTorch's own
        setattr(owner, name, before[home, name])
    assert {"zero_grad", "state_dict", "_call_impl", "__init__"} <= set(called) and meanings() == before


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
        from retrograd.nn import hooks
        assert state().listener is None and not modes.engaged
        assert modes.observer is None and modes.clerk is None and hooks.watcher is None
    assert not model._forward_hooks and not model._forward_pre_hooks
    with getattr(microscope, way)(model):
        model(torch.ones(2, 3)).sum().backward()


@pytest.mark.oracle
@pytest.mark.parametrize("seen", ["before", "after"])
def test_a_capture_works_though_a_library_wraps_pytorch_s_functions(seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TorchLens does, for the rest of the process."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(listen, "_engines", {})
    if seen == "before":
        microscope.engine_of(torch.ones(1))

    def wrapped(f: Any) -> Any:
        @functools.wraps(f)
        def around(*args: Any, **kwargs: Any) -> Any:
            return f(*args, **kwargs)
        return around

    for home, name in ((torch.Tensor, "backward"), (torch.autograd, "backward"),
                       (torch.nn.functional, "multi_head_attention_forward")):
        monkeypatch.setattr(home, name, wrapped(getattr(home, name)))
    model, attention, x = small(torch), torch.nn.MultiheadAttention(4, 2, batch_first=True), torch.ones(5, 3)
    for part, call in ((model, lambda: model(x).sum()), (attention, lambda: attention(*[torch.randn(2, 3, 4)] * 3)[0].sum())):
        for backward in (torch.Tensor.backward, torch.autograd.backward):
            with microscope.capture(part) as cap:
                backward(call())
            assert cap.coverage().complete and max(cap.check().values()) < 1e-5


def test_sums_of_squares_are_those_of_all_numbers_however_they_lie_in_memory(torch: Any) -> None:
    engine = listen.engine_named(torch.__name__)
    x = torch.arange(6.0).view(2, 3)
    plain = [x, x.double(), torch.nn.Parameter(x), x * torch.ones(1, requires_grad=True), torch.zeros(0)]
    assert [float(n) for n in engine.squares(plain)] == [55.0] * 4 + [0.0]
    others = [x, x.t(), x[:, ::2], torch.arange(3), x.to(torch.complex64)]
    assert engine.squares(others) == [55.0, 55.0, 38.0, None, None] == [engine.square(t) for t in others]
    assert engine.squares([torch.tensor([1.0, torch.inf])]) == [torch.inf] and engine.squares([]) == []


@pytest.mark.oracle
def test_what_has_no_memory_of_its_own_has_no_sum_of_squares() -> None:
    import torch
    engine, x = listen.engine_named("torch"), torch.ones(3)
    assert [engine.squares([x, t]) for t in (x.to_sparse(), torch.ones(3, device="meta"))] == [[3.0, None]] * 2
