"""Run the programs of a folder on PyTorch and by `retrograd run`, and compare what they print.

    python tests/ecosystem/run.py [NAME ...] [--write]      in an environment with the libraries: make ecosystem

Numbers may differ by one part in a thousand, or by 1e-5; all other text must be equal.  --write keeps the results in
benchmarks/results/ecosystem.json, from which `make generate` writes the table of docs/programs.md.
"""
from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from importlib import metadata
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "benchmarks" / "results" / "ecosystem.json"
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+(?:e[+-]?\d+)?")
LIMIT = 600             # seconds a program may take
WARNINGS = ("-W", "ignore")


def run(command: list[str]) -> tuple[str, str, float]:
    """What it prints, its error's last lines ('' when all is well), and its seconds of processor time."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd="/")
    except subprocess.TimeoutExpired:
        return "", f"took more than {LIMIT} s", LIMIT
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, "" if done.returncode == 0 else "\n".join(done.stderr.strip().splitlines()[-2:]) or "failed", spent


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
        theirs, wrong, their_time = run([sys.executable, *WARNINGS, str(path)])
        if wrong:
            found, ratio = f"does not run on PyTorch: {wrong}", None
        else:
            ours, error, our_time = run([sys.executable, *WARNINGS, "-m", "retrograd", "run", str(path)])
            found = error or difference(theirs, ours)
            ratio = None if found else round(our_time / their_time, 2)
        results[library] = {"version": version(library), "differs": found, "time": ratio}
        print(f"{library:26} {found or 'equal'}   {ratio or ''}  ({time.time() - begin:.0f} s)", flush=True)
    if "--write" in arguments:
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(dict(sorted({**known, **results}.items())), indent=1) + "\n")
    bad = [name for name, result in results.items() if result["differs"]]
    print(f"{len(results) - len(bad)} of {len(results)} print what they print on PyTorch")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
