"""What is made from other files is up to date, and made in one place."""

from __future__ import annotations

from pathlib import Path

import pytest
import warm

from tools.generate import FROM_PYTORCH, GENERATORS

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.oracle] if name in FROM_PYTORCH else []) for name in GENERATORS])
def test_nothing_generated_is_stale(name: str) -> None:
    if name in FROM_PYTORCH:
        pytest.importorskip("torch")
    # Not in this process: other tests give torch and retrograd more names, and so does torch._dynamo.
    packages = warm.TORCH if name in FROM_PYTORCH - {"names"} else warm.RETROGRAD
    done = warm.run("-m", "tools.generate", "--stale", name, packages=packages, cwd=ROOT)
    assert (done.stderr, done.stdout) == ("", ""), "run: make generate, or python -m tools.generate"


def test_every_generator_is_run() -> None:
    modules = {path.stem: path.read_text("utf-8") for path in (ROOT / "tools").glob("*.py")}
    assert {name for name, text in modules.items() if "\ndef files()" in text} == set(GENERATORS)
