"""make generate: writes every file that is made from others.  tests/test_generated.py says which of them are stale.

    python -m tools.generate [NAME...]          those of GENERATORS
    python -m tools.generate --stale [NAME...]  prints the paths that it would change, and changes none
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

# In this order, each in a process of its own: what one writes, the next may import.  Modules beside this one; files() says what.
GENERATORS = ("rules", "pytorch_names", "forms", "real_only", "inductor", "operators", "packages", "stubs", "public_names",
              "names", "deviations", "ecosystem", "rl", "pictures", "microscope_api")
FROM_PYTORCH = {"pytorch_names", "forms", "names", "operators", "real_only", "inductor"}     # which these read while it runs


def main(arguments: list[str]) -> int:
    stale = arguments[:1] == ["--stale"]
    names = arguments[stale:] or GENERATORS
    if len(names) > 1:
        runs = [subprocess.run([sys.executable, "-m", __spec__.name, *arguments[:stale], name]) for name in names]
        return max(run.returncode for run in runs)
    for path, text in import_module(f"tools.{names[0]}").files().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            if not stale:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
