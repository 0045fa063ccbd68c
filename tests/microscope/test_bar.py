"""Bars of long computations: where they are shown, when, and for what."""
from __future__ import annotations

import io
import sys
import types
from typing import Any

import pytest

from retrograd import microscope
from retrograd.microscope import bar
from retrograd.microscope.bar import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(show: bool | None, label: str = "work") -> None:
    with progress(show) as add:
        advance = add(label, 3)
        for _ in range(3):
            advance()


def test_a_terminal_shows_a_bar_of_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    work(None)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(bar, "AFTER", 0.0)
    work(None)
    assert "work" in terminal.getvalue() and "3/3" in terminal.getvalue()


def test_a_file_shows_none_unless_asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bar, "AFTER", 0.0)
    work(None)
    work(False)
    assert capsys.readouterr() == ("", "")
    work(True)
    out, err = capsys.readouterr()
    assert out == "" and "3/3" in err


@pytest.mark.parametrize("show", [True, False])
def test_a_bar_inside_another_is_one_more_of_its_lines(show: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress(show) as add:
        advance = add("outer", 1)
        work(None, "inner")
        work(True, "second")
        advance()
    told = capsys.readouterr().err
    assert [name in told for name in ("outer", "inner", "second")] == [show] * 3


def test_the_outer_bar_is_forgotten_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), progress(False):
        _ = 1 / 0
    work(True)
    assert "3/3" in capsys.readouterr().err


def test_a_notebook_shows_bars_of_tqdm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[Any] = []

    class Tqdm:
        def __init__(self, total: int | None, desc: str, delay: float) -> None:
            told.append((desc, total, delay))

        def update(self) -> None:
            told.append("update")

        def close(self) -> None:
            told.append("close")

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Tqdm))
    work(None)
    assert told == [("work", 3, bar.AFTER), "update", "update", "update", "close"]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    work(None)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("ask, label", [
    (lambda curve: curve.trace(probes=3), "trace"), (lambda curve: curve.density(probes=2, steps=3), "density"),
    (lambda curve: curve.eigenvalues(2), "eigenvalues"), (lambda curve: curve.dense(), "dense"),
    (lambda curve: curve.per_layer(probes=2), "layers")])
def test_curvature_has_bars(torch: Any, ask: Any, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 2))
    data = [(torch.randn(4, 3), torch.tensor([0, 1, 0, 1]))]
    loss = torch.nn.functional.cross_entropy
    ask(microscope.curvature(model, loss, data))
    assert capsys.readouterr() == ("", "")
    ask(microscope.curvature(model, loss, data, progress=True))
    assert label in capsys.readouterr().err


def test_attributions_have_bars_of_the_trainings_inside(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = torch.randn(6, 2), torch.tensor([0, 1, 0, 1, 0, 1])

    def losses(model: Any, i: Any) -> Any:
        return torch.nn.functional.cross_entropy(model(x[i]), y[i], reduction="none")

    def train(steps: Any, weight: Any) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i in steps([torch.arange(6)] * 4, model, optimizer):
            optimizer.zero_grad()
            (losses(model, i) * weight[i]).mean().backward()
            optimizer.step()
        return model

    def evaluate(model: Any) -> Any:
        return losses(model, torch.arange(2)).mean()

    methods = ["TracIn", "metagradient"]
    microscope.attributions(train, evaluate, losses, torch.ones(6), methods=methods)
    assert capsys.readouterr() == ("", "")
    microscope.attributions(train, evaluate, losses, torch.ones(6), methods=methods, progress=True)
    told = capsys.readouterr().err
    assert all(label in told for label in ("methods", "TracIn: states", "training", "back")) and "4/4" in told
