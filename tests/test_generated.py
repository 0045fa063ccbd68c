"""What is made from other files is up to date, and made in one place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.generate import FROM_PYTORCH, GENERATORS

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.oracle] if name in FROM_PYTORCH else []) for name in GENERATORS])
def test_nothing_generated_is_stale(name: str) -> None:
    if name in FROM_PYTORCH:
        pytest.importorskip("torch")
    command = [sys.executable, "-m", "tools.generate", "--stale", name]         # other tests give torch and retrograd more names
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", env=os.environ | {"PYTHONUTF8": "1"})
    assert (done.stderr, done.stdout) == ("", ""), "run: make generate, or python -m tools.generate"


def test_every_generator_is_run() -> None:
    modules = {path.stem: path.read_text("utf-8") for path in (ROOT / "tools").glob("*.py")}
    assert {name for name, text in modules.items() if "\ndef files()" in text} == set(GENERATORS)
