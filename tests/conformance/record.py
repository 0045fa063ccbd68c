"""Record transcripts from PyTorch: run every program twice, refuse one that does not repeat itself.

PYTHON_WITH_TORCH tests/conformance/record.py [NAME...]
"""

from __future__ import annotations

import sys

from harness import TORCH, TRANSCRIPTS, names, run_torch, same, torch_version, warm


def main(args: list[str]) -> int:
    if torch_version().split("+")[0] != TORCH:
        print(f"transcripts are PyTorch {TORCH}'s; this is {torch_version()}")
        return 1
    bad = 0
    for name in args or names():
        a, b = run_torch(name), run_torch(name, packages=("json", *warm.TORCH))  # forks of two processes
        pairs = list(zip(a.splitlines(), b.splitlines(), strict=False))
        differing = [(x, y) for x, y in pairs if x != y and not (x.startswith("~") and same(x, y))]
        if differing or a.count("\n") != b.count("\n"):
            bad += 1
            print(f"{name}: not reproducible", *differing[:5], sep="\n    ")
            continue
        (TRANSCRIPTS / f"{name}.txt").write_text(a, encoding="utf-8")
        print(f"{name}: {a.count(chr(10))} lines{', ended by an exception' if 'ended by an exc' in a else ''}")
    if not args:
        for path in TRANSCRIPTS.glob("*.txt"):
            if path.stem not in names():
                path.unlink()
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
