"""watch(): histograms, cosines between steps, the gradient noise scale, steps under a GradScaler; on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_engines import both

from retrograd.microscope import watch
from retrograd.microscope.answers.histograms import LIMITS, MOST, Histograms


def net(torch: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def flat(ts: Any) -> Any:
    return np.concatenate([t.detach().numpy().ravel() for t in ts]).astype(float)


@both
@pytest.mark.parametrize("every", [1, 3])
def test_cosines_with_the_step_after_are_those_of_gradients_and_updates(torch: Any, every: int) -> None:
    m = net(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    grads, updates = [], []
    with watch(m, every=every, successive=True) as w:
        for _ in range(7):
            optimizer.zero_grad()
            m(torch.randn(5, 3)).square().mean().backward()
            grads.append(flat([m[0].weight.grad]))
            old = flat([m[0].weight])
            optimizer.step()
            updates.append(flat([m[0].weight]) - old)
    assert sorted({r["step"] for r in w.rows}) == list(range(1, 8, every)) and w.count == 7
    for row in w.rows:
        if row["name"] == "0.weight" and row["step"] < 7:
            for column, found, rel in (("grad_cosine", grads, 1e-5), ("update_cosine", updates, 1e-4)):
                a, b = found[row["step"] - 1], found[row["step"]]
                assert row[column] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), rel=rel)


@both
@pytest.mark.parametrize("clip", [False, True])
def test_the_noise_scale_of_two_steps(torch: Any, clip: bool) -> None:
    m = net(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.0)
    grads = []
    with watch(m, every=2, successive=True) as w:
        for _ in range(2):
            optimizer.zero_grad()
            m(torch.randn(5, 3)).square().mean().backward()
            grads.append(flat([p.grad for p in m.parameters()]))
            if clip:
                torch.nn.utils.clip_grad_norm_(m.parameters(), 1e-3)
            optimizer.step()
    small = (grads[0] @ grads[0] + grads[1] @ grads[1]) / 2
    both_ = (grads[0] + grads[1]) / 2
    large = both_ @ both_
    found = w.noise_scale()
    trace, squares = (small - large) / (1 / 5 - 1 / 10), (10 * large - 5 * small) / 5
    assert found["trace"] == pytest.approx(trace, rel=1e-3) and found["squared_norm"] == pytest.approx(squares, rel=1e-3)


@both
def test_the_noise_scale_of_accumulated_batches_is_that_of_the_samples(torch: Any) -> None:
    torch.manual_seed(0)

    class Mean(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.full((20,), 0.3))

        def forward(self, x: Any) -> Any:
            return ((self.w - x) ** 2).sum(1).mean() / 2    # gradient of a sample: w - x, tr(S) = 20, |G|^2 = 1.8

    m = Mean()
    optimizer = torch.optim.SGD(m.parameters(), lr=0.0)
    with watch(m, every=1, successive=True) as w:
        for _ in range(200):
            optimizer.zero_grad()
            for _ in range(4):
                (m(torch.randn(8, 20)) / 4).backward()
            optimizer.step()
    found = w.noise_scale()
    assert found["noise_scale"] == pytest.approx(20 / 1.8, rel=0.2)
    # each backward is a quarter of the loss, so the sum is the gradient of the mean
    assert found["trace"] * 16 == pytest.approx(20, rel=0.15)


@both
def test_under_a_scaler_norms_are_unscaled_and_skipped_steps_known(torch: Any) -> None:
    def run(scaled: bool) -> Any:
        m = net(torch)
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=scaled)
        with watch(m, every=1, successive=True, scaler=scaler if scaled else None) as w:
            for step in range(4):
                optimizer.zero_grad()
                loss = m(torch.full((5, 3), 0.1 * (step + 1))).square().mean()
                if scaled and step == 2:
                    (scaler.scale(loss) * float("inf")).backward()
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad()
                scaler.scale(m(torch.full((5, 3), 0.1 * (step + 1))).square().mean()).backward()
                scaler.step(optimizer)
                scaler.update()
        assert "step" not in vars(scaler)
        return w

    plain, scaled = run(False), run(True)
    assert scaled.skipped == [3] and plain.skipped == [] and (plain.count, scaled.count) == (4, 5)
    for a, b in zip(plain.rows, scaled.rows, strict=True):
        assert (a["name"], a["step"] + (a["step"] > 2)) == (b["name"], b["step"])
        if a["grad_norm"] is not None:
            assert b["grad_norm"] == pytest.approx(a["grad_norm"], rel=1e-4)
    assert scaled._successive.found[0]["trace"] == pytest.approx(plain._successive.found[0]["trace"], rel=1e-3, abs=1e-9)


@both
def test_histograms_count_every_number(torch: Any, tmp_path: Any) -> None:
    m = net(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.5)
    with watch(m, every=2, histograms=True) as w:
        for _ in range(4):
            optimizer.zero_grad()
            m(torch.ones(2, 3)).sum().backward()
            grad = m[0].weight.grad.numpy().copy()
            if w.count == 2:
                kept = grad
            optimizer.step()
    steps, limits, counts = w.histogram("0.weight")
    assert steps == [1, 3] and counts.sum(1).tolist() == [12, 12] and counts.shape[1] == len(limits)
    edges = np.array([-np.inf, *limits])
    inside = [int(((kept > a) & (kept < b) | (kept == (b if b <= 0 else a)) & (kept != 0) | (kept == 0) & (b == 0)).sum())
              for a, b in zip(edges, edges[1:])]
    assert counts[1].tolist() == inside
    assert w.histogram("2.bias", "update")[2].sum() == 4
    with pytest.raises(ValueError, match="no 'grad' of 'x'; kinds are"):
        w.histogram("x")

    class Writer:
        def __init__(self) -> None:
            self.found: dict[Any, Any] = {}

        def add_scalar(self, *row: Any) -> None:
            pass

        def add_histogram_raw(self, tag: str, low: float, high: float, count: float, total: float, squares: float,
                              limits: Any, counts: Any, step: int) -> None:
            assert len(limits) == len(counts) and sum(counts) == count
            self.found[tag, step] = low, high, total, squares

    writer = Writer()
    w.to_tensorboard(writer)
    assert writer.found["grad/0.weight", 3] == pytest.approx((kept.min(), kept.max(), kept.sum(), (kept ** 2).sum()), rel=1e-5)
    w.to_html(tmp_path / "watch.html", "a <title>")
    text = (tmp_path / "watch.html").read_text(encoding="utf-8")
    assert "a &lt;title&gt;" in text and "0.weight" in text and "histogram of update" in text and "<script" not in text
    assert text.count("<path") > 8


def test_histograms_stay_bounded_and_bins_hold_what_they_say() -> None:
    found = Histograms()
    x = np.array([0.0, 1.0, -1.0, 0.75, 1e30, np.nan, np.inf, 1e-30])
    for step in range(10 * MOST):
        found.add("grad", "w", step, x)
    kept = found.found["grad", "w"]
    assert len(kept) <= MOST and kept[0][0] == 0 and kept[-1][0] > 8 * MOST
    assert len({b[0] - a[0] for a, b in zip(kept, kept[1:])}) == 1
    _, counts, (low, high, count, *_) = kept[0]
    assert counts.sum() == count == 6 and (low, high) == pytest.approx((-1.0, 1e30))
    assert counts[LIMITS.index(0.0)] == 1 and counts[LIMITS.index(1.0)] == 1 and counts[LIMITS.index(2.0)] == 1
    assert counts[LIMITS.index(-0.5) - 1] == 1 and counts[-1] == 1 and sorted(LIMITS) == LIMITS


@both
def test_bad_input_says_what_to_give(torch: Any) -> None:
    m = net(torch)
    with pytest.raises(ValueError, match="batch must be"):
        watch(m, successive=True, batch=0)
    with pytest.raises(TypeError, match="scaler must be a GradScaler"):
        watch(m, scaler=3)
    w = watch(m)
    with pytest.raises(ValueError, match=r"none were taken; watch\(model, histograms=True\)"):
        w.histogram("0.weight")
    assert w.noise_scale() is None
    w.pause()


@both
def test_activations_called_as_functions_are_looked_at_by_module_and_line(torch: Any) -> None:
    F = torch.nn.functional

    class Block(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, shift: float) -> None:
            super().__init__()
            self.a, self.act = torch.nn.Linear(3, 4), torch.nn.ReLU()
            with torch.no_grad():
                self.a.weight.fill_(0.1)
                self.a.bias.copy_(torch.tensor([shift, shift, 1.0, 1.0]))

        def forward(self, x: Any) -> Any:
            return F.relu(self.a(self.act(x))) + 0 * self.a(x).tanh()

    m = torch.nn.Sequential(Block(-9.0), torch.nn.Linear(4, 3), Block(1.0))
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-3)
    with watch(m, every=2, window=2) as w:
        for _ in range(6):
            optimizer.zero_grad()
            m(torch.ones(5, 3)).sum().backward()
            optimizer.step()
    line = next(n for n, text in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1) if "return F.relu(" in text)
    names = {row["name"] for row in w.rows if row["dead"] is not None or row["saturated"] is not None}
    places = f"(test_watch_numbers.py:{line})"
    assert names == {"0.act", "2.act", f"0.relu {places}", f"0.tanh {places}", f"2.relu {places}", f"2.tanh {places}"}
    assert w.dead_units()[f"0.relu {places}"] == [0, 1] and f"2.relu {places}" not in w.dead_units()
    assert {row["dead"] for row in w.rows if row["name"] == f"0.relu {places}"} == {0.5}
    assert [line for line in w.problems() if "relu" in line] == [
        f"0.relu {places}: 2 of its 4 units were never above 0 in the last 2 looks: 0, 1"]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in m.modules())


@both
def test_a_forward_that_raises_leaves_nobody_listening(torch: Any) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(3, 4)

        def forward(self, x: Any) -> Any:
            raise ValueError if x is None else 0 or torch.relu(self.a(x)) @ torch.ones(3, 3)

    m = Net()
    with watch(m, every=1) as w:
        for x in (None, torch.ones(2, 3)):
            with pytest.raises((ValueError, RuntimeError)):
                m(x)
            assert w._functional.context is None and not w._functional.within
        torch.relu(m.a(torch.ones(2, 3))).sum().backward()
        torch.optim.SGD(m.parameters(), 0.1).step()
    assert [row["name"] for row in w.rows] == ["a.weight", "a.bias", *(
        row["name"] for row in w.rows if row["name"].startswith("relu"))]
