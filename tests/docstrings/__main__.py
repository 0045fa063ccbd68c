"""python -m tests.docstrings [words]: what the examples of PyTorch's docstrings print, on both; differences are listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .examples import examples

NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")
FREE = re.compile(r"empty|skip_init|\.seed\(|allclose|table\(|\bdist\(")     # memory as it was, clocks, rounding


def close(a: str, b: str) -> bool:
    """Are two texts the same but for digits that rounding decides?"""
    shapes = [NUMBER.sub("#", text).split() for text in (a, b)]
    pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)))
    return shapes[0] == shapes[1] and all(abs(x - y) <= 1e-3 + 2e-3 * abs(x) or x != x for x, y in pairs)


def main(words: list[str]) -> None:
    chosen = {name: found for name, found in examples().items() if not words or any(word in name for word in words)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(chosen, file)
        file.flush()
        run = str(Path(__file__).with_name("run.py"))
        theirs, ours = (json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for command in (
            [sys.executable, run, "torch", file.name], [sys.executable, "-m", "retrograd", "run", run, "retrograd", file.name]))
    same = lacking = differ = 0
    for name, sources in chosen.items():
        broken = False                          # what follows a missing name is no news
        for source, (wanted, failed), (got, error) in zip(sources, theirs[name], ours[name]):
            if failed or broken:
                continue
            if not error and (close(wanted, got) or FREE.search(name + source)):
                same += 1
            elif "retrograd has no" in error:
                lacking, broken = lacking + 1, True
            else:
                differ += 1
                print(f"{name}\n>>> {source.strip()}\nPyTorch: {wanted.strip()}\nretrograd: {error or got.strip()}\n")
                broken = bool(error)
    print(f"{same} of {same + lacking + differ} statements print the same, {lacking} ask for what docs/names.md says is missing, "
          f"{differ} differ")


if __name__ == "__main__":
    main(sys.argv[1:])
