"""Programs that do unusual things while they are recorded: replace functions, save and change models, end in a thread."""

from __future__ import annotations

import functools
import gc
import io
import pickle
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd
from retrograd.microscope import explain, load, record


def count(module: Any, args: Any, out: Any) -> None:
    """A hook that a pickle can name."""


def kept(g: Any) -> None:
    """A hook of a tensor."""


def net(torch: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


@both
def test_a_function_that_the_program_replaces_in_the_block_stays(torch: Any, monkeypatch: Any) -> None:
    m = net(torch)
    calls: list[str] = []
    with record(m) as rec:
        before = torch.nn.Module.zero_grad

        def mine(self: Any, set_to_none: bool = True) -> None:
            calls.append("mine")
            before(self, set_to_none)

        monkeypatch.setattr(torch.nn.Module, "zero_grad", mine)
        m.zero_grad()
    assert torch.nn.Module.zero_grad is mine
    m.zero_grad()
    with record(m) as again:                            # ours is around mine now, and beneath it there is one of before
        m.zero_grad()
    assert torch.nn.Module.zero_grad is mine and calls == ["mine"] * 3
    assert len(list(rec.of("zero"))) == len(list(again.of("zero"))) == 1


@both
def test_a_function_that_the_program_puts_back_in_the_block_stays_so(torch: Any, monkeypatch: Any) -> None:
    m = net(torch)
    own = torch.nn.Module.zero_grad
    monkeypatch.setattr(torch.nn.Module, "zero_grad", lambda self, set_to_none=True: own(self, set_to_none))
    with record(m):
        torch.nn.Module.zero_grad = own
    assert torch.nn.Module.zero_grad is own
    with record(m) as rec:
        m.zero_grad()
    assert torch.nn.Module.zero_grad is own and len(list(rec.of("zero"))) == 1


def test_a_loss_replaced_in_the_block_stays(monkeypatch: Any) -> None:
    functional = retrograd.nn.functional
    with record(net(retrograd)):
        ours = functional.cross_entropy
        mine = functools.partial(ours, reduction="sum")
        monkeypatch.setattr(functional, "cross_entropy", mine)
    assert functional.cross_entropy is mine


@both
def test_a_model_with_hooks_is_saved_in_the_block_as_outside(torch: Any) -> None:
    m = net(torch)
    m[0].register_forward_hook(count)
    m[0].register_full_backward_hook(count)
    m[0].weight.register_hook(kept)

    def saved() -> bytes:
        file = io.BytesIO()
        torch.save(m, file)
        return file.getvalue()

    with warnings.catch_warnings():
        warnings.simplefilter("error")                  # hooks of parameters are lost silently
        saved()
        with record(m):
            assert b"microscope" not in saved()
            again = pickle.loads(pickle.dumps(m))[0]
            assert [*again._forward_hooks.values(), *again._backward_hooks.values()] == [count, count]
            assert all(type(h) is type(count) for h in (*again._forward_hooks.values(), *again._backward_hooks.values()))
            x = torch.ones(2, requires_grad=True)
            x.register_hook(kept)
            with pytest.warns(UserWarning, match="backward hook <function kept at"):
                torch.save(x, io.BytesIO())


class Wrapped:
    """An object that looks like the function it wraps."""

    def __init__(self, f: Any) -> None:
        functools.update_wrapper(self, f)

    def __call__(self) -> None:
        """Does nothing."""


@both
def test_an_object_with_a_functions_names_is_saved_as_an_object(torch: Any) -> None:
    torch.save([Wrapped(count), count, Wrapped, len], io.BytesIO())


@both
def test_a_thread_that_meets_hooks_as_the_recording_ends_leaves_them_alone(torch: Any) -> None:
    m = net(torch)
    m[0].register_forward_hook(count)
    table = m[0]._forward_hooks
    with record(m) as rec:
        pass
    recorder = rec.live
    tap = recorder.taps[0]
    recorder.sweep(tap, table, "forward", "0", 1)
    assert list(table.values()) == [count] and type(next(iter(table.values()))) is type(count)
    recorder.firing = recorder.fired                    # it met them before, and comes to them after
    recorder.sweep(tap, table, "forward", "0", 1)
    assert type(next(iter(table.values()))) is type(count)
    recorder.firing = None


@both
@pytest.mark.parametrize("ops", [True, False])
def test_a_recording_is_freed_with_its_last_reference(torch: Any, ops: bool) -> None:
    m = net(torch)
    m[0].register_forward_hook(count)
    m[2].register_full_backward_hook(count)
    m[0].weight.register_post_accumulate_grad_hook(kept)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    gc.collect()
    gc.disable()
    try:
        with record(m, ops=ops, nodes=ops) as rec:
            m(torch.ones(1, 3)).sum().backward()
            optimizer.step()
        assert sum(1 for _ in rec.of("hook")) == 3
        known = weakref.ref(rec), weakref.ref(rec.live)
        del rec
        assert [one() for one in known] == [None, None]
    finally:
        gc.enable()


@both
def test_a_hook_that_does_much_before_it_clears_the_gradient_is_named(torch: Any) -> None:
    m = net(torch)
    one, other = (torch.optim.SGD(m.parameters(), lr=0.1) for _ in range(2))

    def step(p: Any) -> None:
        one.step()
        other.step()
        one.zero_grad()
        other.zero_grad()
        other.step()

    m[0].weight.register_post_accumulate_grad_hook(step)
    with record(m) as rec:
        m(torch.ones(2, 3)).sum().backward()
    cause = rec.why_none("0.weight")
    assert cause.code == "cleared_by_hook" and "step" in cause.text


@both
def test_a_hook_of_several_tensors_is_explained(torch: Any) -> None:
    m = net(torch)
    several = torch.autograd.graph.register_multi_grad_hook
    handle = several((m[0].weight, m[2].weight), kept)
    silent = several((torch.ones(2),), kept, mode="any")
    with record(m) as rec:
        m(torch.ones(2, 3)).sum().backward()
    text = str(rec.explain(handle))
    assert text.startswith("kept, a multi-grad hook of 0.weight, 2.weight") and "fired 1 time, changed something 0 times" in text
    assert "test_recorded_programs.py:" in text and "the hook kept" in str(explain(handle))
    assert "nothing_requires_grad" in str(rec.explain(silent))
    handle.remove()
    assert "it was removed" in str(rec.explain(handle))


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_pass_with_a_hook_of_several_tensors_is_replayed(mode: str) -> None:
    m = net(retrograd)

    def triple(g: Any) -> None:
        (g[0] if mode == "all" else g).mul_(3)

    handle = retrograd.autograd.graph.register_multi_grad_hook((m[2].weight, m[2].bias), triple, mode=mode)
    x = retrograd.ones(2, 3)
    with record(m, replay=True) as rec:
        m(x).sum().backward()
    again = rec.replay(without=handle)
    name = "2.weight" if again.changed == ["2.weight"] else "2.bias"
    assert again.changed == [name]
    handle.remove()
    m.zero_grad()
    m(x).sum().backward()
    grad = dict(m.named_parameters())[name].grad
    assert grad is not None
    np.testing.assert_allclose(again.after[name], grad.numpy())
    np.testing.assert_allclose(again.before[name], 3 * grad.numpy())


def test_a_hook_removed_after_the_recording_is_left_out_of_a_replay() -> None:
    m = net(retrograd)
    handle = m[2].register_full_backward_hook(lambda module, gi, go: (gi[0] * 2,))
    with record(m, replay=True) as rec:
        m(retrograd.ones(2, 3)).sum().backward()
    handle.remove()
    assert rec.replay(without=handle).changed == ["0.weight", "0.bias"]


@both
def test_what_is_put_into_a_model_in_the_block_has_names(torch: Any, tmp_path: Any) -> None:
    m = net(torch)
    with record(m, values="parameters") as rec:
        m.append(torch.nn.Linear(2, 2))
        m[0].weight = torch.nn.Parameter(torch.empty(4, 3))
        torch.nn.init.xavier_uniform_(m[0].weight)
        m(torch.ones(2, 3)).sum().backward()
        m.late = torch.nn.Sequential(torch.nn.Linear(2, 2))
        silent = m.late[0].register_forward_hook(count)
    names = [name for name, _ in m.named_parameters()]
    assert names[-2:] == ["late.0.weight", "late.0.bias"] and set(rec.parameters) == set(names)
    rec.save(tmp_path / "r")
    for it in (rec, load(tmp_path / "r")):
        for name in ("0.weight", "3.weight", "3.bias"):
            grad = m.get_parameter(name).grad
            assert grad is not None
            book = it.ledger(name)
            assert book.check() < 1e-6
            np.testing.assert_allclose(book.total, grad.numpy())
        assert it.why_none("late.0.weight").code == "module_not_called"
    assert rec.why_not_fired(silent).code == "module_not_called" and rec.hooks[-1]["on"] == "late.0"


@both
@pytest.mark.parametrize("hooked", [False, True])
def test_a_part_met_before_its_model_has_the_models_names_to_the_last(torch: Any, hooked: bool) -> None:
    nn = torch.nn
    with record(values="parameters", engine=torch.__name__) as rec:
        part = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
        if hooked:
            part[1][0].register_forward_hook(count)
        else:
            part(torch.ones(1, 2))
        whole = nn.Sequential(part, nn.Linear(2, 2))
        whole(torch.ones(1, 2)).sum().backward()
    assert sorted(rec.parameters) == sorted(f"whole.{name}" for name, _ in whole.named_parameters())
    assert {m["path"] for m in rec.modules} == {"whole", *(f"whole.{n}" for n, _ in whole.named_modules() if n)}
    for module in rec.modules:
        if module["path"] != "whole":
            assert rec.modules[module["parent"]]["path"] == module["path"].rpartition(".")[0]


@both
@pytest.mark.parametrize("named", [True, False])
def test_lazy_modules_get_names_as_they_get_shapes(torch: Any, named: bool) -> None:
    nn = torch.nn
    m = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.Sequential(nn.LazyLinear(2)))
    fired: list[str] = []
    m[0].register_forward_hook(lambda *a: fired.append("hook"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # PyTorch's, of a new feature
        with record(*([m] if named else []), values="parameters", engine=torch.__name__) as rec:
            optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
            for _ in range(2):
                optimizer.zero_grad()
                m(torch.randn(5, 3)).square().sum().backward()
                optimizer.step()
    assert len(fired) == 2 and [h["kind"] for h in rec.hooks] == ["forward"]
    start = "" if named else "m."
    assert sorted(rec.parameters) == sorted(start + name for name, _ in m.named_parameters())
    for name, p in m.named_parameters():
        np.testing.assert_allclose(rec.ledger(start + name).total, p.grad.numpy(), rtol=1e-4, atol=1e-6)
        assert rec.tensor(rec.parameters[start + name])["shape"] == tuple(p.shape)


@both
def test_a_hook_may_ask_the_recording_that_goes_on(torch: Any) -> None:
    m = net(torch)
    seen: list[tuple[int, str]] = []

    def ask(*_: Any) -> None:
        it = asked[0]
        seen.append((len(list(it.of("op"))), it.why_none("0.bias").code))
        assert str(it.summary()) and not it.trouble().findings and list(map(repr, it.events))

    asked: list[Any] = []
    m[0].weight.register_hook(ask)
    m[0].weight.register_post_accumulate_grad_hook(ask)
    m[2].register_full_backward_hook(ask)
    with record(m, values="parameters") as rec:
        asked.append(rec)
        m(torch.ones(2, 3)).sum().backward()
    assert len(seen) == 3 and len({ops for ops, _ in seen}) == 1
    assert not [e for e in rec.of("note") if e.what == "unfinished"]


@both
def test_a_step_inside_a_step_is_a_step(torch: Any) -> None:
    class Mine(torch.optim.SGD):  # type: ignore[misc, name-defined]
        def step(self, closure: Any = None) -> None:
            super().step()

    m = net(torch)
    torch.optim.SGD(m.parameters(), lr=0.1)             # the base class has its hooks, too
    optimizer = Mine(m.parameters(), lr=0.1)
    with record(m) as rec:
        m(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    assert {e.tensors for e in rec.of("step")} == {tuple(rec.parameters[name] for name, _ in m.named_parameters())}
    assert not [e for e in rec.of("note") if e.what == "unfinished"]
