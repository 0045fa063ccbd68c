"""watch(), replay and diff."""

from __future__ import annotations

import csv
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd
from retrograd.microscope import RecordingError, load, record, watch


def model(torch: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.Tanh())


@both
def test_rows_are_what_the_step_did(torch: Any) -> None:
    m = model(torch)
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    with watch(m, every=2) as w:
        for step in range(5):
            opt.zero_grad()
            m(torch.ones(2, 3)).sum().backward()
            if step == 4:
                old = m[0].weight.detach().clone()
                grad = m[0].weight.grad.clone()
            opt.step()
    assert sorted({r["step"] for r in w.rows}) == [1, 3, 5] and w.count == 5
    row = next(r for r in reversed(w.rows) if r["name"] == "0.weight")
    assert row["grad_norm"] == pytest.approx(grad.norm().item(), rel=1e-5)
    assert row["weight_norm"] == pytest.approx(old.norm().item(), rel=1e-5)
    assert row["update_norm"] == pytest.approx(0.5 * grad.norm().item(), rel=1e-4)
    assert row["ratio"] == pytest.approx(row["update_norm"] / row["weight_norm"])
    assert {r["name"] for r in w.rows if r["dead"] is not None} == {"1"}
    assert {r["name"] for r in w.rows if r["saturated"] is not None} == {"3"}


@both
def test_each_of_two_optimizers_has_its_own_steps(torch: Any) -> None:
    class Pair(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.critic = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
            self.maker = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())

    m = Pair()
    first, second = (torch.optim.SGD(part.parameters(), lr=0.1) for part in (m.critic, m.maker))
    grads: dict[Any, float] = {}
    logged: list[int] = []
    with watch(m, every=2, log=lambda numbers, step: logged.append(step)) as w:
        for step in range(1, 6):
            for optimizer, p in ((first, m.critic[0].weight), (second, m.maker[0].weight)):
                if optimizer is second and step % 2:
                    continue                            # it steps half as often
                first.zero_grad()
                second.zero_grad()
                m.critic(m.maker(torch.ones(3, 2) * step)).square().sum().backward()
                grads["critic.0.weight" if optimizer is first else "maker.0.weight", step] = p.grad.norm().item()
                optimizer.step()
    rows = {(r["name"], r["step"]): r for r in w.rows}
    seen = {name: [s for n, s in rows if n == name] for name in ("critic.0.weight", "maker.0.weight", "critic.1", "maker.1")}
    assert seen["critic.0.weight"] == [1, 3, 5] and seen["maker.0.weight"] == [2]       # its first; the next is its third
    assert seen["critic.1"] == seen["maker.1"] == [1, 2, 3, 5] and logged == [1, 2, 3, 5] and w.count == 5
    for (name, step), row in rows.items():
        if (name, step) in grads:
            assert row["grad_norm"] == pytest.approx(grads[name, step], rel=1e-5)


@both
def test_dead_and_saturated_units(torch: Any) -> None:
    nn = torch.nn
    m = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2), nn.Tanh())
    with torch.no_grad():
        m[0].weight.fill_(0.0)
        m[0].bias.copy_(torch.tensor([-1.0, -1.0, -1.0, 1.0]))
        m[2].weight.fill_(100.0)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    with watch(m) as w:
        m(torch.ones(3, 2)).sum().backward()
        opt.step()
    assert [r["dead"] for r in w.rows if r["name"] == "1"] == [0.75]
    assert [r["saturated"] for r in w.rows if r["name"] == "3"] == [1.0]
    assert any("75% of its units are dead" in p for p in w.problems())


@both
def test_hooks_are_there_only_when_a_step_is_looked_at(torch: Any) -> None:
    m = model(torch)
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    w = watch(m, every=3)
    counts = []
    for _ in range(4):
        counts.append(bool(m[1]._forward_hooks))
        m(torch.ones(1, 3)).sum().backward()
        opt.step()
    assert counts == [True, False, False, True]
    w.pause()
    assert not m[1]._forward_hooks
    rows = len(w.rows)
    opt.step()
    assert len(w.rows) == rows
    w.resume()
    opt.step()
    del w
    assert not m[1]._forward_hooks


@both
def test_results_in_other_forms(torch: Any, tmp_path: Any) -> None:
    m = model(torch)
    with watch(m, every=1) as w:
        for _ in range(2):
            m(torch.ones(1, 3)).sum().backward()
            w.before()
            with torch.no_grad():
                for p in m.parameters():
                    p -= 0.1 * p.grad
            w.step()
    found = w.to_dict()
    assert len({len(v) for v in found.values()}) == 1 and found["update_norm"][0] > 0
    w.to_csv(tmp_path / "w.csv")
    with open(tmp_path / "w.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(w.rows) and float(rows[0]["grad_norm"]) == w.rows[0]["grad_norm"]

    class Writer:
        seen: list[Any] = []

        def add_scalar(self, *row: Any) -> None:
            self.seen.append(row)

    w.to_tensorboard(Writer())
    assert ("grad_norm/0.weight", w.rows[0]["grad_norm"], 1) in Writer.seen
    assert "0.weight" in str(w)
    pytest.importorskip("rich")
    assert w.table().row_count == len(w.last())


def test_plot_draws_a_line_for_each_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib
    matplotlib.use("agg")

    class Axes:
        def __init__(self) -> None:
            self.lines: list[Any] = []

        def plot(self, x: Any, y: Any, **more: Any) -> None:
            self.lines.append((more["label"], x, y))

        def __getattr__(self, name: str) -> Any:
            return lambda *a, **k: None

    m = model(retrograd)
    opt = retrograd.optim.SGD(m.parameters(), lr=0.5)
    with watch(m, every=1) as w:
        for _ in range(2):
            m(retrograd.ones(1, 3)).sum().backward()
            opt.step()
    drawn = w.plot()
    assert type(drawn).__module__.startswith("matplotlib.") and drawn.get_yscale() == "log"
    assert [line.get_label() for line in drawn.lines] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert [t.get_text() for t in drawn.get_legend().get_texts()] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    axes = w.plot(Axes(), "ratio")
    assert [line[0] for line in axes.lines] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert all(line[1] == [1, 2] for line in axes.lines)
    with pytest.raises(ValueError, match="no column 'loss'"):
        w.plot(Axes(), "loss")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install retrograd\[plot\]"):
        w.plot()
    with pytest.raises(ValueError, match="every must be"):
        watch(m, every=0)


# replay


def test_replay_without_a_hook() -> None:
    torch = retrograd
    m = model(torch)
    double = m[0].weight.register_hook(lambda g: g * 2)
    full = m[2].register_full_backward_hook(lambda module, gi, go: (gi[0] * 10,))
    with record(m, replay=True) as rec:
        x = torch.ones(2, 3)
        m(x).sum().backward()
    kept = {n: p.grad.numpy().copy() for n, p in m.named_parameters()}
    with torch.no_grad():
        for p in m.parameters():
            p += 1                                      # the replay runs from the values of then
    again = rec.replay()
    assert again.changed == []
    for name, g in kept.items():
        np.testing.assert_allclose(again.after[name], g, rtol=1e-6)
    without = rec.replay(without=double)
    assert without.changed == ["0.weight"]
    np.testing.assert_allclose(without.after["0.weight"] * 2, kept["0.weight"], rtol=1e-6)
    without = rec.replay(without=[full])
    assert sorted(without.changed) == ["0.bias", "0.weight"]
    np.testing.assert_allclose(without.after["0.bias"] * 10, kept["0.bias"], rtol=1e-5)
    assert "BackwardHookFunctionBackward" in str(without)
    other = rec.replay(replacing={double: lambda g: g * 0})
    assert not other.after["0.weight"].any()
    scaled = rec.replay(gradient=torch.tensor(3.0))
    np.testing.assert_allclose(scaled.after["2.bias"], 3 * kept["2.bias"], rtol=1e-6)
    assert all(np.array_equal(p.grad.numpy(), kept[n]) for n, p in m.named_parameters())
    assert list(m[0].weight._backward_hooks) == [double.id] and rec.replay().changed == []


def test_replay_that_cannot_be() -> None:
    torch = retrograd
    m = model(torch)
    after = m[0].weight.register_post_accumulate_grad_hook(lambda p: None)
    with record(m) as rec:
        m(torch.ones(1, 3)).sum().backward()
    with pytest.raises(RecordingError, match="replay=True"):
        rec.replay()
    with record(m, replay=True) as rec:
        m(torch.ones(1, 3)).sum().backward()
    with pytest.raises(RecordingError, match="not a hook that runs"):
        rec.replay(without=after)
    with pytest.raises(RecordingError, match="no pass 7"):
        rec.replay(number=7)
    with pytest.raises(ValueError, match="has shape"):
        rec.replay(gradient=np.ones(3))


@both
def test_diff_of_two_recordings(torch: Any, tmp_path: Any) -> None:
    def run(hook: bool, scale: float) -> Any:
        m = model(torch)
        with torch.no_grad():
            m[2].weight.mul_(scale)
        if hook:
            m[0].bias.register_hook(lambda g: g * 2)
        with record(m) as rec:
            m(torch.ones(2, 3)).sum().backward()
        rec.save(tmp_path / "r")
        return load(tmp_path / "r")

    plain = run(False, 1.0)
    assert not plain.diff(run(False, 1.0)) and str(plain.diff(plain)) == "no difference"
    hooked = plain.diff(run(True, 1.0))
    assert list(hooked.gradients) == ["0.bias"] and hooked.first == "0.bias" and "fired 0 and 1 times" in str(hooked)
    assert plain.diff(run(False, 1.5)).first == "2, call 1"


@both
def test_a_block_without_a_step_says_so(torch: Any) -> None:
    m = model(torch)
    with pytest.warns(UserWarning, match="nothing was recorded: no optimizer .* made a step"), watch(m) as w:
        m(torch.ones(2, 3)).sum().backward()
        with torch.no_grad():
            for p in m.parameters():
                p -= 0.1 * p.grad
    assert not w.rows and "w.step()" in str(w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with watch(m) as w:
            w.step()
        assert w.rows and "nothing was recorded" not in str(w)
        with pytest.raises(ZeroDivisionError), watch(m):            # an error of its own says enough
            raise ZeroDivisionError


@both
def test_norms_of_complex_weights_are_those_of_both_parts(torch: Any) -> None:
    torch.manual_seed(0)
    m = torch.nn.Linear(3, 2, dtype=torch.complex64)
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    with watch(m) as w:
        m(torch.ones(2, 3, dtype=torch.complex64)).abs().sum().backward()
        old = m.weight.detach().clone()
        opt.step()
    row = next(r for r in w.rows if r["name"] == "weight")
    grad = torch.linalg.vector_norm(torch.view_as_real(m.weight.grad)).item()
    assert row["grad_norm"] == pytest.approx(grad, rel=1e-5)
    assert row["weight_norm"] == pytest.approx(torch.linalg.vector_norm(torch.view_as_real(old)).item(), rel=1e-5)
    assert row["update_norm"] == pytest.approx(0.5 * grad, rel=1e-4)


def test_what_is_no_path_or_writer_is_refused() -> None:
    w = watch(retrograd.nn.Linear(1, 1))
    for write in (w.to_csv, w.to_html):
        with pytest.raises(TypeError, match=f"{write.__name__}: path must be a path, got int"):
            write(1)
    with pytest.raises(TypeError, match="to_tensorboard: writer must be a SummaryWriter, got int"):
        w.to_tensorboard(1)
