"""The examples run as a user runs them, and reach what they say."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import warm

pytest.importorskip("rich")

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
IMPORT = "import retrograd as torch"
SHORT = (
    "characters", "clip_in_hook", "features", "freeze", "gradient_norms", "gradient_penalty", "step_in_backward",
    "two_losses", "value_dependent")


def run(script: Path, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", str(script), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env, cwd=cwd)


# python -W error
STRICT = ("import runpy, sys, warnings; warnings.simplefilter('error'); del sys.argv[0]\n"
          "runpy.run_path(sys.argv[0], run_name='__main__')")


def run_torch(script: Path, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return warm.run("-c", STRICT, script, *args, packages=warm.TORCH, cwd=cwd)


def with_torch(folder: Path, name: str = "digits") -> Path:
    """An example with one import changed."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert re.findall(r"^.*retrograd.*$", source, re.MULTILINE)[-1] == IMPORT and source.count(IMPORT) == 1
    shutil.copytree(EXAMPLES / "data", folder / "data", dirs_exist_ok=True)
    script = folder / f"{name}.py"
    script.write_text(source.replace(IMPORT, "import torch"), encoding="utf-8")
    return script


def accuracy(done: subprocess.CompletedProcess[str]) -> float:
    assert done.returncode == 0, done.stderr
    found = re.search(r"^held-out accuracy ([\d.]+)%", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found[1])


def deltas(text: str) -> dict[str, list[float]]:
    """First and last norm of delta by layer."""
    rows = re.findall(r"(\d \(\d+, \d+\))\D+?([\d.]+)\D+?([\d.]+)", text)
    return {name: [float(v) for v in values] for name, *values in rows}


def test_a_step_of_the_digits_becomes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "step.html"
    done = run(EXAMPLES / "trace_digits.py", str(page))
    assert done.returncode == 0 and done.stderr == ""
    counted = "recorded a training step: 19 operations, 16 backward nodes, 7 firings of 7 hooks, 7 gradients that arrived"
    assert done.stdout.splitlines() == [counted, f"to see it, open {page} in a browser"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


# ---- the short ones


@pytest.mark.parametrize("name", SHORT)
def test_prints_what_it_prints_on_pytorch(name: str) -> None:
    """expected/NAME.txt is PyTorch 2.13.0's output; the next test says whether it still is."""
    done = run(EXAMPLES / f"{name}.py")
    assert done.stderr == ""
    assert done.stdout == (EXAMPLES / "expected" / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.oracle
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_expected_outputs_are_pytorchs(tmp_path: Path) -> None:
    names = [with_torch(tmp_path, name).stem for name in SHORT]
    driver = tmp_path / "driver.py"         # one process: importing PyTorch takes longer than most examples
    driver.write_text(
        "import runpy, sys\n"
        "for name in sys.argv[1:]:\n"
        "    print(f'<{name}>')\n"
        "    runpy.run_path(f'{name}.py', run_name='__main__')\n", encoding="utf-8")
    done = run_torch(driver, *names, cwd=tmp_path)
    assert done.stderr == ""
    expected = "".join(f"<{n}>\n{(EXAMPLES / 'expected' / f'{n}.txt').read_text(encoding='utf-8')}" for n in names)
    assert done.stdout.splitlines() == expected.splitlines()


def test_every_example_says_first_what_it_shows() -> None:
    for script in EXAMPLES.glob("*.py"):
        doc = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
        assert doc and doc.split("\n")[0].endswith("."), script.name
    assert {p.stem for p in (EXAMPLES / "expected").iterdir()} == set(SHORT)


# ---- digits


def test_digits_learns_in_six_epochs() -> None:
    done = run(EXAMPLES / "digits.py", "--epochs", "6")
    assert accuracy(done) > 93
    assert "\x1b" not in done.stdout and "\r" not in done.stdout
    assert done.stderr == ""


def test_digits_reaches_its_accuracy() -> None:
    done = run(EXAMPLES / "digits.py")
    assert accuracy(done) > 96
    assert "saved halfway, loaded into a new model and optimizer (equal scores), resumed\n" in done.stdout
    assert done.stdout.endswith("weight.grad is delta'a in each of 1350 steps, to 1e-06\n")


def test_digits_prints_the_deltas() -> None:
    found = deltas(run(EXAMPLES / "digits.py", "--epochs", "2").stdout)
    assert list(found) == ["0 (128, 64)", "2 (64, 128)", "4 (10, 64)"]
    assert all(v > 0 for values in found.values() for v in values)


def last_state(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return re.findall(r"^epoch 4/4 .*$", done.stdout, re.MULTILINE)[0]


def test_digits_resumed_from_a_file_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    whole = run(EXAMPLES / "digits.py", "--epochs", "4")
    first = run(EXAMPLES / "digits.py", "--epochs", "2", "--checkpoint", str(tmp_path / "run.pt"))
    assert first.returncode == 0
    second = run(EXAMPLES / "digits.py", "--epochs", "4", "--checkpoint", str(tmp_path / "run.pt"))
    assert "resumed from" in second.stdout and last_state(second) == last_state(whole)
    done = run(EXAMPLES / "digits.py", "--epochs", "4", "--checkpoint", str(tmp_path / "run.pt"))
    assert done.returncode == 2 and "already has 4 epochs" in done.stderr


@pytest.mark.oracle
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_digits_runs_the_same_on_pytorch(tmp_path: Path) -> None:
    """And PyTorch goes on from our file."""
    ours = run(EXAMPLES / "digits.py", "--epochs", "1", "--checkpoint", str(tmp_path / "0.pt"))
    theirs = run_torch(with_torch(tmp_path), "--epochs", "1", "--checkpoint", str(tmp_path / "1.pt"))
    assert accuracy(ours) == pytest.approx(accuracy(theirs), abs=0.6)  # two digits of 360
    assert deltas(ours.stdout) == {name: pytest.approx(v, rel=0.01) for name, v in deltas(theirs.stdout).items()}
    there = run_torch(tmp_path / "digits.py", "--epochs", "2", "--checkpoint", str(tmp_path / "0.pt"))
    back = run(EXAMPLES / "digits.py", "--epochs", "2", "--checkpoint", str(tmp_path / "1.pt"))
    assert accuracy(there) == pytest.approx(accuracy(back), abs=0.6)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_digits_says_that_it_was_interrupted() -> None:
    command = [sys.executable, "-u", str(EXAMPLES / "digits.py"), "--epochs", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("epoch 1/")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert re.fullmatch(r"interrupted after \d+ of 100000 epochs\n", process.stderr.read())


@pytest.mark.parametrize("epochs", ["0", "-1"])
def test_digits_refuses_no_epochs(epochs: str) -> None:
    done = run(EXAMPLES / "digits.py", "--epochs", epochs)
    assert done.returncode == 2 and "--epochs must be 1 or more" in done.stderr
