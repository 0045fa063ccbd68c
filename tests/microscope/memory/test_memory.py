"""What graphs save, when it is freed and who keeps it: against sizes counted by hand, on both engines."""
from __future__ import annotations

import contextlib
import threading
from collections import Counter
from typing import Any

import pytest

from retrograd import microscope
from retrograd.microscope import CaptureError
from retrograd.microscope.memory.rows import size

N, I, H, O = 16, 4, 8, 2
FLOAT, LONG = 4, 8


def net(torch: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(I, H), nn.ReLU(), nn.Linear(H, O))


def weights() -> int:
    return (I * H + H + H * O + O) * FLOAT


def test_what_a_step_saves_is_counted_once_and_freed_by_backward(torch) -> None:
    model = net(torch)
    x, y = torch.randn(N, I), torch.zeros(N, dtype=torch.int64)
    with microscope.memory(model) as mem:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        forward: Counter[tuple[str, str, str]] = Counter()
        for row in mem.rows(at_peak=False):
            forward[row.op.name, row.op.module, row.kind] += row.bytes
        before = mem.now
        loss.backward()
    # relu's output is saved by relu and by the second linear: once.  The weight of a layer is there anyway.
    small = {key: n for key, n in forward.items() if key[0] == "cross_entropy"}
    assert {key: n for key, n in forward.items() if key not in small} == {
        ("linear", "0", "data"): N * I * FLOAT, ("relu", "1", "activation"): N * H * FLOAT}
    assert small[("cross_entropy", "", "activation")] >= N * O * FLOAT and small[("cross_entropy", "", "data")] == N * LONG
    assert mem.fixed == weights() and before == weights() + sum(forward.values())
    assert mem.now == 2 * weights()             # the gradients stay, what was saved is gone
    assert {row.kind for row in mem.rows(at_peak=False)} == {"gradient"}
    assert mem.peak == max(n for _, n in mem.timeline) >= before and mem.calls == mem.peak_call == 1
    assert loss.grad_fn is not None and mem.alive() == []


def test_the_peak_is_told_by_module_operation_and_line(torch) -> None:
    model = net(torch)
    x = torch.randn(N, I)
    with microscope.memory(model) as mem:
        model(x).tanh().sum().backward()
    its = {group.name: (group.bytes, group.number) for group in mem.by("module")}
    assert its == {"0": (N * I * FLOAT, 1), "1": (N * H * FLOAT, 1), "": (N * O * FLOAT, 1)}
    assert {group.name for group in mem.by("op")} == {"linear", "relu", "tanh"}
    assert [group.number for group in mem.by("line")] == [3] and mem.by("line")[0].name == mem.peak_line
    assert mem.peak_line.startswith("test_memory.py:")
    assert {group.name for group in mem.by("freed")} == {mem.peak_line}
    text = str(mem)
    assert text.startswith(f"peak {size(mem.peak)} at {mem.peak_line}, in call 1 of the model")
    assert "outside modules" in text and text.endswith("kept by graphs now: 0 bytes")
    assert "<table>" in mem._repr_html_() and repr(mem) == f"<Memory: peak {size(mem.peak)}, now {size(mem.now)}>"
    with pytest.raises(ValueError, match="by: expected 'module'.*got 'modul'"):
        mem.by("modul")


def test_gradients_and_optimizers_count_until_they_are_reset(torch) -> None:
    model = net(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with microscope.memory(model) as mem:
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(N, I)).sum().backward()
            optimizer.step()
        kinds = {group.name: group.bytes for group in mem.by("kind", at_peak=False)}
        assert kinds == {"gradient": weights(), "optimizer": weights()}
        optimizer.zero_grad()
        model(torch.randn(N, I))
        assert {group.name for group in mem.by("kind", at_peak=False)} == {"optimizer"}
    assert mem.now == 2 * weights() and mem.calls == 4


@pytest.mark.parametrize("edits", [lambda h: h.add_(1), lambda h: h.mul_(2)])
def test_a_saved_tensor_that_was_edited_is_refused_as_without_the_block(torch, edits: Any) -> None:
    x = torch.randn(3, requires_grad=True)
    model = torch.nn.Linear(1, 1)
    for block in (contextlib.nullcontext(), microscope.memory(model)):
        with block:
            h = x.exp()
            out = h.sum()
            edits(h)
            with pytest.raises(RuntimeError, match="has been modified by an inplace operation.*at version 1; expected version 0"):
                out.backward()


def test_gradients_are_those_without_the_block(torch) -> None:
    def gradients(block: Any) -> list[Any]:
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(inplace=True),
                                    torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(48, 4))
        x = torch.randn(5, 1, 6, 6, requires_grad=True)
        with block(model):
            out = torch.logsumexp(model(x), 1).pow(2).mean()
            g, = torch.autograd.grad(out, x, create_graph=True)
            (out + g.pow(2).sum()).backward()
        return [x.grad, *(p.grad for p in model.parameters())]

    plain = gradients(lambda model: contextlib.nullcontext())
    for a, b in zip(plain, gradients(microscope.memory), strict=True):
        assert torch.equal(a, b)


LOSSES: list[Any] = []


class Trainer:
    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {"out": []}


def test_whoever_keeps_a_graph_is_named(torch, monkeypatch: pytest.MonkeyPatch) -> None:
    model = net(torch)
    trainer = Trainer()
    x = torch.randn(N, I)
    monkeypatch.setitem(globals(), "LOSSES", [])

    def closure() -> Any:
        inner = model(x).exp()
        return lambda: inner

    with microscope.memory(model) as mem:
        assert mem.alive() == []
        for _ in range(3):
            LOSSES.append(model(x).sum())
        trainer.history["out"].append(model(x).tanh())
        kept = closure()
        hidden = torch.zeros(N, H)
        for _ in range(4):
            hidden = torch.tanh(model[0](x) + hidden)
        found = {one.holder.rpartition(" of ")[0] or one.holder: one for one in mem.alive()}
    here = "test_whoever_keeps_a_graph_is_named()"
    assert set(found) == {"LOSSES[0]", f"trainer.history['out'][0] in {here}", f"hidden in {here}",
                          "inner, which test_whoever_keeps_a_graph_is_named.closure.<lambda> keeps"}
    relu = N * H * FLOAT
    losses = found["LOSSES[0]"]
    # each graph keeps relu's output, and all keep x
    assert (losses.tensors, losses.calls, losses.bytes) == (3, 3, 3 * relu + N * I * FLOAT)
    assert str(losses).endswith("; keep the number instead: .item()") and losses.line.startswith("test_memory.py:")
    assert found[f"hidden in {here}"].bytes == 4 * N * H * FLOAT + N * I * FLOAT
    assert str(found[f"hidden in {here}"]).endswith("; cut it off from its graph: .detach()")
    del trainer, kept, hidden, found
    LOSSES.clear()
    assert mem.alive() == [] and {row.kind for row in mem.rows(at_peak=False)} == set()


def test_a_sum_of_losses_keeps_every_graph_though_backward_freed_what_was_saved(torch) -> None:
    model = net(torch)
    total = torch.zeros(())
    with microscope.memory(model) as mem:
        for _ in range(5):
            loss = model(torch.randn(N, I)).sum()
            loss.backward()
            total = total + loss
        alive, = mem.alive()
    assert alive.calls == 5 and alive.bytes == 0 and alive.holder.startswith("total in ")
    assert "keeps the graphs of 5 calls of the model (saved tensors freed, " in str(alive)
    total.detach()


def test_a_list_of_losses_keeps_every_graph_though_backward_freed_what_was_saved(torch) -> None:
    model, losses = net(torch), []
    with microscope.memory(model) as mem:
        for n in range(5):
            loss = model(torch.randn(N, I)).sum()
            loss.backward()
            losses.append(loss)
            if n == 1:
                assert mem.alive() == []                # the newest loss and one more: as in any loop
        alive, = mem.alive()
    assert (alive.tensors, alive.calls, alive.bytes) == (5, 5, 0) and alive.holder.startswith("losses[0]")    # not loss
    losses.clear()
    assert loss.grad_fn is not None and mem.alive() == []


def test_a_block_leaves_nothing_behind(torch) -> None:
    model = net(torch)
    mem = microscope.memory(model)
    with pytest.raises(ZeroDivisionError), mem:
        model[2].register_forward_hook(lambda *_: 1 / 0)
        model(torch.randn(N, I))
    assert mem._block is None
    p = model[0].weight
    assert not p._post_accumulate_grad_hooks
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        torch.ones(2, requires_grad=True).exp()
    assert len(packed) == 1
    with mem:
        with pytest.raises(CaptureError, match="already entered"):
            mem.__enter__()
        with pytest.raises(TypeError, match="memory: expected a module"):
            microscope.memory("model")


def test_long_runs_stay_small(torch, monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.microscope.memory import holding
    monkeypatch.setattr(holding, "POINTS", 50)
    model = net(torch)
    with microscope.memory(model) as mem:
        for n in range(60):
            model(torch.randn(N * (4 if n == 20 else 1), I)).sum().backward()
    assert len(mem.timeline) <= 51 and len(mem._past) <= 51 and max(n for _, n in mem.timeline) == mem.peak
    assert mem.peak_call == 21 and sum(row.bytes for row in mem.rows()) + mem.fixed == mem.peak


def test_an_operation_that_saves_several_tensors_is_kept_with_all_of_them(torch) -> None:
    nn = torch.nn
    models = {"lstm": (nn.LSTM(3, 4), (5, 2, 3)), "norms": (nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU()), (7, 6)),
              "conv": (nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), (3, 1, 6, 6))}
    for name, (model, shape) in models.items():
        with microscope.memory(model) as mem:
            out = model(torch.randn(*shape))
            kept = out[0] if name == "lstm" else out
            del out
            saved = sum(row.bytes for row in mem.rows(at_peak=False) if row.kind in ("activation", "data"))
            assert sum(one.bytes for one in mem.alive()) == saved > 0, name
        del kept


def test_a_saved_input_that_wants_a_gradient_counts(torch) -> None:
    model = torch.nn.Linear(100, 2)
    with microscope.memory(model) as mem:
        kept = [model(torch.randn(50, 100, requires_grad=True)) for _ in range(3)]
        found, = mem.alive()
    assert mem.now - mem.fixed == found.bytes == 3 * 50 * 100 * FLOAT and len(kept) == found.tensors == 3


def test_another_thread_is_not_mixed_in(torch) -> None:
    model = net(torch)
    inside, go_on = threading.Event(), threading.Event()

    def wait(*_: Any) -> None:
        if threading.current_thread() is other:
            inside.set()
            go_on.wait(20)

    model[1].register_forward_hook(wait)
    other = threading.Thread(target=lambda: model(torch.randn(N, I)))
    with microscope.memory(model) as mem:
        other.start()
        assert inside.wait(20)                  # in the middle of its forward pass
        kept = model(torch.randn(N, I))
        go_on.set()
        other.join()
    assert mem.calls == 1 and {group.name: group.bytes for group in mem.by("module")} == {"0": N * I * FLOAT, "1": N * H * FLOAT}
    assert kept.grad_fn is not None


def test_sizes_are_told_in_the_unit_that_fits() -> None:
    assert [size(n) for n in (0, 1023, 1536, 5 << 20, 3 << 30)] == ["0 bytes", "1023 bytes", "1.5 KiB", "5.0 MiB", "3.00 GiB"]


def test_what_was_never_entered_says_so(torch: Any) -> None:
    mem = microscope.memory(torch.nn.Linear(2, 1))
    for ask in (mem.rows, mem.alive, lambda: mem.by("op"), lambda: mem.__exit__(None, None, None)):
        with pytest.raises(microscope.CaptureError, match="memory: nothing was followed; ask after `with"):
            ask()
    assert str(mem).startswith("memory: nothing was followed")
