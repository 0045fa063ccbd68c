"""Run the programs of a folder on PyTorch and by `retrograd run`, and compare what they print.

    python tests/ecosystem/run.py [NAME ...] [--write]      in an environment with the libraries: make ecosystem

Numbers may differ by one part in a thousand, or by 1e-5; all other text must be equal.  --write keeps the results in
benchmarks/results/ecosystem.json, from which `make generate` writes the table of docs/programs.md.
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from importlib import metadata
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "benchmarks" / "results" / "ecosystem.json"
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+(?:e[+-]?\d+)?")
LIMIT = 600             # seconds a program may take
WARNINGS = ("-W", "ignore")


def run(command: list[str]) -> tuple[str, str, float, float]:
    """What it prints, its error's last lines ('' when all is well), its seconds of processor time and its peak of MB."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complained:
        process = subprocess.Popen(command, stdout=said, stderr=complained, text=True, cwd="/")
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        complained.seek(0)
        wrong = "\n".join(complained.read().strip().splitlines()[-2:]) or f"failed: {process.returncode}"
        return said.read(), wrong if process.returncode else "", used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def difference(theirs: str, ours: str) -> str:
    """The first line that differs by more than rounding; '' for none."""
    for left, right in zip_longest(theirs.splitlines(), ours.splitlines(), fillvalue=""):
        pairs = list(zip_longest(NUMBER.findall(left), NUMBER.findall(right), fillvalue="nan"))
        close = all(abs(float(a) - float(b)) <= 1e-5 + 1e-3 * abs(float(a)) for a, b in pairs)
        if not close or NUMBER.sub("#", left) != NUMBER.sub("#", right):
            return f"PyTorch: {left[:100]}; here: {right[:100]}"
    return ""


def version(library: str) -> str:
    [name, *_] = metadata.packages_distributions().get(library, [library])
    return f"{name} {metadata.version(name)}"


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if name != "--write"]
    results = {}
    for path in sorted((HERE / "programs").glob("use_*.py")):
        library = path.stem.removeprefix("use_")        # a file of the library's own name would be imported in its place
        if names and library not in names:
            continue
        begin = time.time()
        theirs, wrong, their_time, their_memory = run([sys.executable, *WARNINGS, str(path)])
        if wrong:
            found, ratio, memory = f"does not run on PyTorch: {wrong}", None, None
        else:
            ours, error, our_time, our_memory = run([sys.executable, *WARNINGS, "-m", "retrograd", "run", str(path)])
            found = error or difference(theirs, ours)
            ratio = None if found else round(our_time / their_time, 2)
            memory = [round(their_memory), round(our_memory)]
        results[library] = {"version": version(library), "differs": found, "time": ratio, "memory": memory}
        print(f"{library:26} {found or 'equal'}   {ratio or ''}  {memory or ''}  ({time.time() - begin:.0f} s)", flush=True)
    if "--write" in arguments:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(dict(sorted({**known, **results}.items())), indent=1) + "\n")
    bad = [name for name, result in results.items() if result["differs"]]
    print(f"{len(results) - len(bad)} of {len(results)} print what they print on PyTorch")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
