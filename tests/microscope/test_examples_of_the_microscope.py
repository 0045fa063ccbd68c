"""examples/influence.py finds the line that its question was made from."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "influence.py"


def test_the_line_that_the_question_was_made_from_is_among_the_two_most_influential() -> None:
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-W", "error", str(SCRIPT)], capture_output=True, text=True, check=True, env=env)
    lines = done.stdout.splitlines()
    assert any(line.startswith("True worst error") for line in lines)
    for title in ("gradients", "influence"):
        at = next(i for i, line in enumerate(lines) if line.startswith(title))
        best = [line.split(maxsplit=1)[1] for line in lines[at + 1:at + 3]]
        assert "He took his vorpal sword in hand:" in best      # the other one is the one with "went"
