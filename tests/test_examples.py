"""The examples run as a user runs them, and reach what they say."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rich")

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
IMPORT = "import retrograd as torch"


def run(script: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", str(script), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env)


def with_torch(folder: Path) -> Path:
    """The demo with one import changed."""
    source = (EXAMPLES / "digits.py").read_text()
    assert source.count(IMPORT) == 1 and source.count("retrograd") == source.split(IMPORT)[0].count("retrograd") + 1
    shutil.copytree(EXAMPLES / "data", folder / "data")
    script = folder / "digits.py"
    script.write_text(source.replace(IMPORT, "import torch"))
    return script


def accuracy(done: subprocess.CompletedProcess[str]) -> float:
    assert done.returncode == 0, done.stderr
    found = re.search(r"^held-out accuracy ([\d.]+)%", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found[1])


def norms(text: str) -> dict[str, list[float]]:
    rows = re.findall(r"(hidden|weight\d)\D+?([\d.]+)\D+?([\d.]+)\D+?([\d.]+)", text)
    return {name: [float(v) for v in values] for name, *values in rows}


def test_digits_learns_in_six_epochs() -> None:
    done = run(EXAMPLES / "digits.py", "--epochs", "6")
    assert accuracy(done) > 93
    assert "\x1b" not in done.stdout and "\r" not in done.stdout
    assert done.stderr == ""


def test_digits_reaches_its_accuracy() -> None:
    assert accuracy(run(EXAMPLES / "digits.py")) > 97


def test_digits_prints_gradient_norms() -> None:
    found = norms(run(EXAMPLES / "digits.py", "--epochs", "2").stdout)
    assert list(found) == ["hidden", "weight1", "weight2", "weight3"]
    assert all(v > 0 for values in found.values() for v in values)


@pytest.mark.oracle
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_digits_runs_the_same_on_pytorch(tmp_path: Path) -> None:
    ours, theirs = (run(script, "--epochs", "2") for script in (EXAMPLES / "digits.py", with_torch(tmp_path)))
    assert accuracy(ours) == pytest.approx(accuracy(theirs), abs=0.6)  # two digits of 360
    assert norms(ours.stdout) == {name: pytest.approx(v, rel=0.01) for name, v in norms(theirs.stdout).items()}


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_digits_says_that_it_was_interrupted() -> None:
    command = [sys.executable, "-u", str(EXAMPLES / "digits.py"), "--epochs", "100000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("epoch 1/")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert re.fullmatch(r"interrupted after \d+ of 100000 epochs\n", process.stderr.read())


@pytest.mark.parametrize("epochs", ["0", "-1"])
def test_digits_refuses_no_epochs(epochs: str) -> None:
    done = run(EXAMPLES / "digits.py", "--epochs", epochs)
    assert done.returncode == 2 and "--epochs must be 1 or more" in done.stderr
