"""The benchmarks compute the same numbers on every engine installed. No test looks at the clock."""

from __future__ import annotations

import json
import math
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import budgets, engines, instructions, probes, report, runner, table, timing  # noqa: E402
from benchmarks.works import WORKS, Missing, Work, select  # noqa: E402


def pairs() -> list[Any]:
    """Works and the engines installed that have them. Eager JAX stands for JAX: the same code, not compiled."""
    found = []
    for engine in engines.MODULES:
        if engine in ("retrograd", "jax", "torch-compiled") or not engines.installed(engine):
            continue
        method = "torch" if engine.startswith("retrograd-") else engine.split("-")[0]
        marks = [pytest.mark.oracle] if engine == "torch" else []
        found += [
            pytest.param(work, engine, marks=marks, id=f"{work.name}-{engine}")
            for work in WORKS
            if getattr(type(work), method) is not getattr(Work, method)
        ]
    return found


@pytest.fixture(scope="module")
def retrograd() -> Any:
    return engines.maker("retrograd")


def numbers(make: Any, work: Work) -> list[float]:
    task = make(work.tiny())
    found = [float(v) for v in task.check()]
    task.step()
    if task.base is not None:
        task.base()
    return found


def made(make: Any, work: Work) -> list[float]:
    try:
        return numbers(make, work)
    except Missing as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("work", WORKS, ids=lambda w: w.name)
def test_work_runs_on_retrograd(retrograd: Any, work: Work) -> None:
    found = made(retrograd, work)
    assert found and all(math.isfinite(v) and v != 0 for v in found)


@pytest.mark.parametrize(("work", "engine"), pairs())
def test_work_gives_the_same_numbers(retrograd: Any, work: Work, engine: str) -> None:
    ours = made(retrograd, work)
    with np.errstate(invalid="ignore"):         # BLAS may read beside a small matrix; a NaN in a result is still unequal
        theirs = made(engines.maker(engine), work)
    assert ours == pytest.approx(theirs, rel=work.rtol, abs=1e-7)


def test_work_names_are_unique() -> None:
    assert len({work.name for work in WORKS}) == len(WORKS)


def test_select_takes_groups_and_names() -> None:
    assert {work.group for work in select(["chain", "double-chain-40x8"])} == {"chain", "double"}
    assert select([]) == WORKS
    with pytest.raises(ValueError, match="no such group or work"):
        select(["chian"])


def test_command_compares_and_saves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    argv = ["--only", "chain-10x8", "--engines", "retrograd,numpy", "--tiny", "--quick", "--save", "t"]
    status = command.main(argv)
    out = capsys.readouterr().out
    assert status == 0, out
    assert "chain-10x8" in out
    found = json.loads((tmp_path / "t.json").read_text())
    row = found["works"]["chain-10x8"]["engines"]
    assert row["retrograd"]["check"] == pytest.approx(row["numpy"]["check"], rel=1e-3)
    assert row["numpy"]["min"] <= row["numpy"]["q1"] <= row["numpy"]["median"] <= row["numpy"]["q3"]
    assert found["engines"]["retrograd"]["build"] in ("compiled", "pure")


def test_report_shows_every_work(tmp_path: Path) -> None:
    """From results as `save` writes them; plots are matplotlib's affair."""
    row = {"median": 2.0, "q1": 1.9, "q3": 2.1, "imported_mib": 30.0, "peak_mib": 40.0}
    results = {
        "date": "2026-01-01", "machine": {"cpu": "one", "cores": 2, "system": "Linux"},
        "method": {"threads": 1, "pinned": True, "rounds": 7, "samples_per_round": 5},
        "engines": {"retrograd": {"version": "0", "build": "compiled"}, "torch": {"version": "2"}},
        "order": ["retrograd", "torch"],
        "works": {
            work.name: {"group": work.group, "unit": work.unit, "engines": {"retrograd": row, "torch": row | {"median": 6.0}}}
            for work in WORKS
        },
        "footprint": {"torch": {"import_ms": 1.0, "resident_mib": 2.0, "installed_mib": None, "own_mib": 3.0}},
    }  # fmt: skip
    text = report.document(results, results, ["chain.svg"])
    for work in WORKS:
        assert text.count(f"| {work.name} | {work.unit.replace('us', 'µs')} | 2.00 ±5% | 6.00 ±2% | **3.00** |") == 2
        assert f"| {work.name} | 40 (+10) | 40 (+10) |" in text
    assert "| torch | 1 | 2 | - | 3 |" in text
    assert report.summary(results) == pytest.approx(3.0)


def test_command_names_an_engine_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--engines", "trch"]) == 2
    assert "no engine 'trch'" in capsys.readouterr().err


def test_different_numbers_are_marked() -> None:
    work = WORKS[0]
    row: runner.Row = {"retrograd": {"check": [1.0], "median": 1.0}, "numpy": {"check": [2.0], "median": 1.0}}
    runner.mark_differences(work, row)
    assert table.cell(row, "retrograd", "retrograd") == "DIFFERS"
    assert [note.split(":")[1].strip() for note in table.notes([(work, row)])] == ["differs"]


def test_hook_cost_is_the_difference_to_the_base() -> None:
    work = select(["hook-tensor-once"])[0]
    found = runner.figures(work, [3e-4, 3e-4], [1e-4, 1e-4])
    assert found["median"] == pytest.approx(2e-4 * 1e6 / work.per)
    assert found["with_over_without"] == 3


def test_summary_of_one_value() -> None:
    assert timing.summary([2.0]) == {"median": 2.0, "min": 2.0, "q1": 2.0, "q3": 2.0, "max": 2.0, "samples": 1}


def test_probed_ops_all_run() -> None:
    import numpy as np

    import retrograd as torch

    for op in probes.OPS:
        for shape in op.shapes:
            scope = probes.names(torch, shape)
            ours, theirs = eval(op.ours, scope), eval(op.numpy, scope)
            np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=1e-6)


@pytest.mark.parametrize("use", probes.USES)
def test_feature_switched_off_leaves_the_chain_as_it_was(use: str) -> None:
    import retrograd as torch

    a, b = probes.leaves(torch)
    probes.run_chain(a, b, 20)
    before = a.grad.numpy().copy()
    probes.USES[use](torch, a, b)
    probes.run_chain(a, b, 20)
    assert (a.grad.numpy() == before).all()


def test_budget_verdicts() -> None:
    figure = budgets.Figure
    assert figure("most", 1.0, "ns", 1.0).verdict == "reached"
    assert figure("most", float("nan"), "ns", 1.0).verdict == "NOT reached"
    assert figure("least", 3.2, "x", 3.3, at_least=True).verdict == "NOT reached"
    assert figure("nothing promised", 1.0, "ns").verdict == ""


def test_counts_of_another_environment_are_not_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from retrograd import _kernels

    monkeypatch.setattr(instructions, "said", lambda *command: "runs")
    here = instructions.conditions() | {"processor": "AVX2"}
    counts = dict.fromkeys(instructions.WORKS, 106)
    monkeypatch.setattr(instructions, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(instructions.shutil, "which", lambda name: name)
    monkeypatch.setattr(_kernels, "nn", types.SimpleNamespace(threads=lambda number: None))
    monkeypatch.setattr(instructions, "count", lambda names: ({name: counts[name] for name in names}, "AVX2"))
    for conditions, status in ((here, 1), (here | {"numpy": "0"}, 0)):
        works = dict.fromkeys(instructions.WORKS, 100)
        instructions.BASELINE.write_text(json.dumps({"conditions": conditions, "works": works}), encoding="utf-8")
        assert instructions.main([]) == status
    out, err = capsys.readouterr()
    assert "+6.0%" in out and "shown, not judged" in out
    assert "more than 5% above the baseline: chain-10x8" in err
    assert instructions.main(["--update"]) == 0
    assert json.loads(instructions.BASELINE.read_text(encoding="utf-8")) == {"conditions": here, "works": counts}
    assert instructions.main([]) == 0


@pytest.mark.oracle
def test_the_microscope_takes_part_in_the_comparison_with_peers_and_an_error_is_a_result(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import torch as pytorch

    from benchmarks import peers

    task, model = peers.digits(pytorch)
    peers.one("norms", "microscope", str(tmp_path / "ours.npy"), 1)
    assert set(json.loads(capsys.readouterr().out.splitlines()[-1])) == {"seconds", "MiB"}
    for n in (0, 700, 1436):
        model.zero_grad()
        pytorch.nn.functional.cross_entropy(model(task.x[n:n + 1]), task.y[n:n + 1]).backward()
        norm = sum(float(p.grad.square().sum()) for p in model.parameters()) ** 0.5
        assert np.load(tmp_path / "ours.npy")[n] == pytest.approx(norm, rel=1e-4)
    monkeypatch.setitem(peers.WORKS["norms"], "none", lambda torch: lambda: 1 / 0)
    peers.one("norms", "none", str(tmp_path / "none.npy"), 1)
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"error": "ZeroDivisionError: division by zero"}
