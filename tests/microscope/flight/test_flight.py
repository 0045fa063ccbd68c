"""The flight recorder, on both engines: what it keeps, when it writes, and that the training goes on as without it."""
from __future__ import annotations

import copy
import io
import math
import os
import pickle
import random
import re
import signal
import statistics
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograd.microscope import capture, flight, load, record
from retrograd.microscope.flight.usual import Usual
from retrograd.microscope.page.write import data_of


def net_of(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.norm, self.b = torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1)
            self.drop = torch.nn.Dropout(0.2)
            self.shift = 50.0

        def forward(self, x: Any) -> Any:
            h = self.drop(torch.relu(self.norm(self.a(x))))
            moved = self.b(h) + self.shift
            return torch.sqrt(moved)                                    # forward: the line of a NaN
    return Net()


def train(torch: Any, net: Any, optimizer: Any, steps: int, bad: int | None = None, each: Any = None) -> list[float]:
    losses = []
    for n in range(1, steps + 1):
        net.shift = -50.0 if n == bad else 50.0
        optimizer.zero_grad()
        loss = net(torch.randn(16, 4)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if each is not None:
            each(n)
    return losses


def line_of(text: str) -> int:
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(n for n, line in enumerate(source, 1) if text in line and "line_of" not in line)


def test_the_first_nan_of_the_forward_pass_is_named_with_its_operation_and_line(torch: Any, tmp_path: Path) -> None:
    net = net_of(torch)
    with flight(net, keep=3, path=tmp_path / "f") as f:
        train(torch, net, torch.optim.SGD(net.parameters(), lr=1e-3), 7, bad=6)
    [report] = f.reports
    assert report.startswith("step 6: the loss is nan; forward: the first NaN is made by sqrt, from finite inputs")
    assert f"test_flight.py:{line_of('forward: the line of a NaN')}]" in report and "backward: " in report
    rec = load(tmp_path / "f.trace")
    opened = rec.events[rec.header["opens"]]
    assert (opened.kind, opened.name, opened.path) == ("op", "sqrt", "") and report in rec.notes
    assert rec.header["steps"] == [4, 5, 6]
    assert data_of(rec, "")["header"]["opens"] == rec.header["opens"] and (tmp_path / "f.html").stat().st_size > 80_000


def test_a_bad_number_that_is_born_in_the_backward_pass_is_named_with_its_line(torch: Any, tmp_path: Path) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.a(x)) * 0
            return y.sqrt().sum()                                       # backward: the line of an inf

    net = Net()
    with flight(net, path=tmp_path / "f") as f:
        net(torch.ones(2, 3)).backward()
    [report] = f.reports
    assert report.startswith("step 1: a gradient is NaN or inf; backward: the first ")
    assert re.search(rf"is made by SqrtBackward0, from finite inputs \[.*:{line_of('backward: the line of an inf')}\]", report)
    assert load(tmp_path / "f.trace").events[load(tmp_path / "f.trace").header["opens"]].kind == "node"


def test_training_is_the_same_with_and_without_a_flight_that_reports(torch: Any, tmp_path: Path) -> None:
    def run(fly: bool) -> Any:
        torch.manual_seed(1)
        net = net_of(torch)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
        if fly:
            with flight(net, path=tmp_path / "f") as f:
                for _ in range(3):
                    net.a.weight.grad = None
                    (net(torch.randn(8, 4)).sum() + float("nan")).backward()
                    optimizer.zero_grad()
                found = train(torch, net, optimizer, 3)
            assert f.reports
            assert not net._forward_hooks and not net._forward_pre_hooks
        else:
            for _ in range(3):
                (net(torch.randn(8, 4)).sum() + float("nan")).backward()
                optimizer.zero_grad()
            found = train(torch, net, optimizer, 3)
        return found, [p.tolist() for p in net.state_dict().values()], torch.rand(3).tolist()

    assert run(True) == run(False)


def test_a_recording_in_a_flight_shows_the_users_hooks_alone(torch: Any, tmp_path: Path) -> None:
    net = net_of(torch)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    net.a.register_forward_hook(mine)
    with flight(net, path=tmp_path / "f"), record(net) as rec:
        train(torch, net, optimizer, 2)
    assert [(hook["name"], hook["fired"]) for hook in rec.hooks] == [("mine", 2)]


def mine(module: Any, args: Any, out: Any) -> None:
    """A user's hook."""


def test_only_the_last_steps_are_kept(torch: Any, tmp_path: Path) -> None:
    net = net_of(torch)
    counts = []
    with flight(net, keep=2, path=tmp_path / "f") as f:
        train(torch, net, torch.optim.SGD(net.parameters(), lr=1e-3), 12, each=lambda n: counts.append(len(f.recording())))
        with torch.no_grad():
            for _ in range(3):
                net(torch.randn(2, 4))
    assert len(set(counts[3:])) == 1 and len(f.recording().header["steps"]) == 2
    assert not list(tmp_path.iterdir()) and f.reports == []


def test_a_spike_of_the_loss_is_written(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(2, 1)
    with flight(net, path=tmp_path / "f") as f:
        for n in range(40):
            (net(torch.ones(4, 2) + 0.01 * torch.randn(4, 2)).square().mean() * (1000 if n == 35 else 1) + 1).backward()
    [report] = f.reports
    assert "the loss jumped to" in report and "robust z-score" in report and (tmp_path / "f.html").exists()
    rec = load(tmp_path / "f.trace")
    assert rec.header["opens"] == rec.header["newest"] < len(rec.events)


def test_a_spike_is_judged_by_the_losses_of_its_own_line(torch: Any, tmp_path: Path) -> None:
    one, two = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    x = torch.ones(4, 2)
    with flight(one, path=tmp_path / "f") as f:
        for n in range(60):
            (one(x + 0.01 * torch.randn(4, 2)).square().mean() * 0 + 100 + n % 3).backward()
            (two(x).square().mean() * 0 + (50 if n == 50 else 1 + n % 3 / 10)).backward()
    [report] = f.reports
    assert report.startswith("step ") and "the loss jumped to 50 (median 1.1" in report


def test_spikes_in_a_row_are_written_once(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(2, 1)
    with flight(net, keep=5, path=tmp_path / "f") as f:
        for n in range(60):
            (net(torch.ones(4, 2)).mean() * 0 + (50 + n if n in (30, 31, 34, 45) else 1 + n % 3 / 10)).backward()
    assert [re.search(r"jumped to (\d+)", report)[1] for report in f.reports] == ["80", "95"]


def test_a_robust_score_is_that_of_its_definition() -> None:
    draw = random.Random(3)
    usual, last = Usual(), deque[float](maxlen=200)
    above = 0
    for n in range(900):
        loss = draw.choice([1.0, 1.0, draw.gauss(2, 0.1), draw.expovariate(0.2)]) if n > 300 else draw.gauss(0, 1)
        want = 0.0
        if len(last) >= 20:
            middle = statistics.median(last)
            want = (loss - middle) / max(1.4826 * statistics.median(abs(y - middle) for y in last), 1e-9 * middle, 1e-12)
        score = usual.score(loss, 5.0)
        assert score == pytest.approx(want) if want > 5 else score <= 5
        above += want > 5
        usual.add(loss)
        last.append(loss)
    assert above > 20


def test_an_exception_is_written_with_the_operation_that_raised(torch: Any, tmp_path: Path) -> None:
    net = net_of(torch)
    with pytest.raises(RuntimeError), flight(net, path=tmp_path / "f") as f:
        train(torch, net, torch.optim.SGD(net.parameters(), lr=1e-3), 2)
        net(torch.randn(16, 4)) @ torch.randn(3, 3)
    assert "the training ended with RuntimeError" in f.reports[0]
    rec = load(tmp_path / "f.trace")
    assert not rec.complete and [e.name for e in rec.of("op") if e.error] == ["matmul"]


def test_an_exception_inside_the_model_is_written_with_its_line(torch: Any, tmp_path: Path) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.a(x)                                            # raises: the line of an exception

    net = Net()
    with pytest.raises(RuntimeError), flight(net, path=tmp_path / "f") as f:
        with pytest.raises(RuntimeError):
            net(torch.ones(2, 4))
        net(torch.ones(2, 3)).sum().backward()                          # the flight goes on
        with record(net) as rec:
            net(torch.ones(2, 3)).sum().backward()
        net(torch.ones(2, 4))
    assert f.reports[0].endswith(f"test_flight.py:{line_of('raises: the line of an exception')}]")
    assert len(f.losses) == 2 and [e.kind for e in f.recording().of("end")] == ["end", "end"]
    assert len(list(rec.of("accumulate"))) == 2 and not net._forward_hooks


def test_a_signal_and_write_write_and_the_training_goes_on(torch: Any, tmp_path: Path) -> None:
    net = net_of(torch)
    before = signal.getsignal(signal.SIGUSR1)
    with flight(net, path=tmp_path / "f", signal=signal.SIGUSR1) as f:
        train(torch, net, torch.optim.SGD(net.parameters(), lr=1e-3), 3,
              each=lambda n: os.kill(os.getpid(), signal.SIGUSR1) if n == 2 else None)
        f.write(tmp_path / "asked")
    assert signal.getsignal(signal.SIGUSR1) is before
    assert f.reports == ["step 2: signal SIGUSR1", "step 3: asked to"] and (tmp_path / "asked.html").exists()


def test_all_passes_of_an_accumulated_step_and_all_optimizers_belong_to_it(torch: Any, tmp_path: Path) -> None:
    net = net_of(torch)
    one, two = torch.optim.SGD(net.a.parameters(), lr=0.1), torch.optim.Adam(net.b.parameters(), lr=0.2)
    with flight(net, keep=2, path=tmp_path / "f") as f:
        for _ in range(3):
            for _ in range(2):
                net(torch.randn(16, 4)).mean().backward()
            one.step(), two.step()
            one.zero_grad(), two.zero_grad()
    rec = f.recording()
    assert [e.kind for e in rec.of("end", "step")] == ["end", "end", "step", "step"] * 2
    assert [e.rates for e in rec.of("step")] == [[0.1], [0.2]] * 2 and rec.header["steps"] == [2, 3]
    assert rec.compare(2, 3).rows
    with pytest.raises(ValueError, match="1 is not a step; steps go from 2 to 3"):
        rec.compare(1, 2)


def test_gradients_that_a_scaler_let_overflow_are_no_trouble(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 127, growth_interval=1)
    with flight(net, path=tmp_path / "f") as f:
        for n in range(6):
            optimizer.zero_grad()
            scaler.scale(net(torch.full((4, 4), 1e3)).square().mean() if n < 5 else net(torch.full((4, 4), torch.nan)).sum()
                         ).backward()
            scaler.step(optimizer)
            scaler.update()
    assert len(f.reports) == 1 and "the loss is nan" in f.reports[0]
    assert all(loss < 1e9 for loss in f.losses)


def test_workers_of_a_data_loader_write_nothing(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(2, 1)
    data = torch.utils.data.TensorDataset(torch.randn(6, 2))
    with flight(net, path=tmp_path / "f") as f:
        for [x] in torch.utils.data.DataLoader(data, batch_size=3, num_workers=1):
            net(x).mean().backward()
        child = os.fork()
        if child == 0:
            net(torch.full((1, 2), torch.nan)).sum().backward()
            os._exit(0)
        os.waitpid(child, 0)
    assert f.reports == [] and not list(tmp_path.iterdir())


def test_a_crash_in_the_middle_of_writing_leaves_the_file_before_whole(
        torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd.microscope.record import trace_file
    net = net_of(torch)
    with flight(net, path=tmp_path / "f") as f:
        train(torch, net, torch.optim.SGD(net.parameters(), lr=1e-3), 2)
        f.write()
        old = (tmp_path / "f.trace").read_bytes()
        whole = trace_file.lines_of

        def cut(rec: Any) -> Any:
            for n, line in enumerate(whole(rec)):
                if n == 20:
                    raise KeyboardInterrupt
                yield line

        monkeypatch.setattr(trace_file, "lines_of", cut)
        with pytest.raises(KeyboardInterrupt):
            f.write()
        assert (tmp_path / "f.trace").read_bytes() == old
    assert load(tmp_path / "f.trace").complete


def test_copies_and_files_of_the_model_take_no_hook_along(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    with flight(net, path=tmp_path / "f") as f:
        for copied in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            (copied(torch.ones(1, 2)) * torch.nan).sum()
        file = io.BytesIO()
        torch.save(net.state_dict(), file)
    assert not list(f.recording().of("enter")) and f.reports == []


def test_what_is_not_a_model_an_optimizer_or_a_number_of_steps_is_said(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(1, 1)
    for wrong, error in (({"keep": 0}, "keep must be"), ({"spike": -1}, "spike must be"), ({"signal": 999}, "signal must be"),
                         ({"signal": signal.SIGKILL}, "signal must be")):
        with pytest.raises(ValueError, match=error):
            flight(net, **wrong)
    with pytest.raises(TypeError, match="flight: path must be a path, got int"):
        flight(net, path=3)
    with pytest.raises(FileNotFoundError, match="flight: no such folder: .*missing"):
        flight(net, path=tmp_path / "missing" / "f")
    with pytest.raises(TypeError, match="expected optimizers"):
        flight(net, 3)
    with flight(net) as f, pytest.raises(RuntimeError, match="begun already"):
        f.__enter__()


def test_a_capture_inside_a_flight_sees_each_call_once(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    cap = capture(net)
    with flight(net, path=tmp_path / "f") as f:
        for _ in range(3):
            with cap:
                net(torch.ones(5, 4)).sum().backward()
            assert len(cap.uses()) == 2 and cap.grads().norms().shape == (5,)
    assert len(f.losses) == 3


def test_a_compiled_model_flies(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    fast = torch.compile(net, backend="eager")
    with flight(net, path=tmp_path / "f") as f:
        for _ in range(3):
            fast(torch.ones(1, 2)).sum().backward()
    assert len(f.losses) == 3 and f.reports == []


def test_numbers_of_steps_and_signals_may_be_numpys(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(1, 1)
    with flight(net, keep=np.int64(2), signal=np.int64(signal.SIGUSR1), path=tmp_path / "f") as f:
        net(torch.ones(1, 1)).sum().backward()
    assert len(f.losses) == 1


def test_a_batch_that_was_edited_is_not_said_to_be_as_it_was_made(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 3))
    with flight(net, path=tmp_path / "f") as f:
        for edit in (lambda x: x.__setitem__((0, 0), math.nan), lambda x: x.numpy().fill(math.nan), lambda x: x.mul_(math.nan)):
            net.zero_grad()
            net(torch.ones(2, 4)).sum().backward()
            x = torch.ones(2, 4)
            edit(x)
            net(x).sum().backward()  # edited
    for report, name in zip(f.reports, ("setitem", None, "mul_"), strict=True):
        assert f"forward: the first NaN is {f'made by {name}, from finite inputs' if name else 'seen at linear in 0'}" in report
        assert f"test_flight.py:{line_of('lambda x: x.numpy().fill' if name else 'net(x).sum().backward()  # edited')}]" in report


def test_an_inplace_operation_inside_the_model_is_named(torch: Any, tmp_path: Path) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return (-self.a(x).square() - 1).log_()

    with flight(net := Net(), path=tmp_path / "f") as f:
        net(torch.ones(2, 3)).sum().backward()
    assert "the first NaN is made by log_, from finite inputs" in f.reports[0]


def test_the_backward_of_a_custom_function_is_named_with_its_line(torch: Any, tmp_path: Path) -> None:
    class Halve(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x / 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:                          # custom: the line of its backward
            return g / 0

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return torch.relu(Halve.apply(self.a(x)) + 9)

    with flight(net := Net(), path=tmp_path / "f") as f:
        net(torch.ones(2, 3)).sum().backward()
    [report] = f.reports
    said = "backward: the first inf is made by HalveBackward, from finite inputs"
    assert said in report, report
    assert abs(int(re.search(r"test_flight.py:(\d+)\]", report.partition(said)[2])[1])
               - line_of("custom: the line of its backward")) <= 1


def test_passes_of_a_closure_belong_to_the_step_that_calls_it(torch: Any, tmp_path: Path) -> None:
    net, x = torch.nn.Linear(3, 1), torch.ones(4, 3)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (net(x) - 3).square().mean()
        loss.backward()
        return loss

    with flight(net, path=tmp_path / "f") as f:
        for _ in range(3):
            optimizer.step(closure)
    assert f.recording().header["steps"] == [1, 2, 3] and len(f.losses) > 3 and f.reports == []


def test_after_a_step_that_raised_all_is_heard(torch: Any, tmp_path: Path) -> None:
    class Failing(torch.optim.SGD):  # type: ignore[misc]
        def step(self, closure: Any = None) -> None:
            raise KeyError("the optimizer")

    net = net_of(torch)
    with flight(net, keep=3, path=tmp_path / "f") as f:
        with pytest.raises(KeyError):
            train(torch, net, Failing(net.parameters(), lr=0.01), 1)
        train(torch, net, torch.optim.SGD(net.parameters(), lr=0.01), 1, bad=1)
    assert len(f.reports) == 1
    assert f"test_flight.py:{line_of('# forward: the line of a NaN')}" in f.reports[0]


def test_a_model_that_an_optimizer_calls_is_not_heard(torch: Any, tmp_path: Path) -> None:
    class Searching(torch.optim.SGD):  # type: ignore[misc]
        def step(self, closure: Any = None) -> None:
            net(torch.ones(16, 4))
            super().step(closure)

    net = net_of(torch)
    with flight(net, keep=9, path=tmp_path / "f") as f:
        train(torch, net, Searching(net.parameters(), lr=0.01), 2)
    assert [event.kind for event in f.recording().events].count("enter") == 2


@pytest.mark.parametrize("spoilt", ["batch", "weight"])
def test_what_comes_in_with_a_batch_or_a_weight_is_not_said_to_be_made_of_finite_numbers(
        torch: Any, spoilt: str, tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    x = torch.ones(2, 4)
    with torch.no_grad():
        (x if spoilt == "batch" else net[0].weight)[0, 0] = math.nan
    with flight(net, keep=3, path=tmp_path / "f") as f:
        net(x).sum().backward()
        torch.optim.SGD(net.parameters(), 0.1).step()
    [report] = f.reports
    assert "AccumulateGrad, from finite" not in report
    assert "the first NaN is seen at linear in 0: either it made it, or it read it" in report and "made by linear" not in report


def test_complex_numbers_are_measured_too(torch: Any, tmp_path: Path) -> None:
    net = torch.nn.Linear(2, 2, dtype=torch.complex64)
    x = torch.ones(2, 2, dtype=torch.complex64)
    with flight(net, path=tmp_path / "f") as f:
        y = net(x).sum()
        y.backward(torch.ones_like(y))          # a root that is no loss
        h = net(x)
        ((h * 0) / (h * 0)).abs().mean().backward()
    [report] = f.reports
    assert "forward: the first NaN is made by div, from finite inputs" in report


def test_a_call_with_complex_outputs_is_made_again(torch: Any, tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(2, 2, dtype=torch.complex64)

        def forward(self, x: Any) -> Any:
            h = self.a(x)
            return (h * 0) / (h * 0)
    net = Net()
    with flight(net, path=tmp_path / "f") as f:
        net(torch.ones(2, 2, dtype=torch.complex64)).abs().mean().backward()
    assert "forward: the first NaN is made by div, from finite inputs" in f.reports[0]
