"""Lay the package of the checkout over an installed wheel: all but what was compiled, which `make` keys on its sources.

    python tools/lay.py SITE-PACKAGES
"""

from __future__ import annotations

import filecmp
import shutil
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
TWICE = Path("retrograd-stubs", "_typing")      # setup.py copies it from the package, and so does `lay`
PACKAGES = ("retrograd", "retrograd-stubs", "retrograd_pytest")
SUFFIXES = {".py", ".pyi", ".html", ".typed", ".bin"}  # what a wheel has of the checkout; a test compares


def files(root: Path) -> set[Path]:
    return {path.relative_to(root) for name in PACKAGES for path in (root / name).rglob("*")
            if path.suffix in SUFFIXES and TWICE != path.relative_to(root).parent}


def lay(site: Path) -> None:
    """Files keep their times, so that what Python compiled of them stays valid.  SystemExit where no wheel was installed."""
    if not (site / "retrograd").is_dir():
        raise SystemExit(f"lay: no retrograd is installed in '{site}'")
    wanted = files(SOURCE)
    for path in files(site) - wanted:
        (site / path).unlink()
        folder = (site / path).parent
        if all(left.name == "__pycache__" for left in folder.iterdir()):
            shutil.rmtree(folder)
    for path in (SOURCE / "retrograd" / "_typing").glob("*.pyi"):
        (site / TWICE).mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, site / TWICE)
    for path in wanted:
        if not (site / path).exists() or not filecmp.cmp(SOURCE / path, site / path, shallow=False):
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / path, site / path)


if __name__ == "__main__":
    lay(Path(sys.argv[1] or "an empty name"))
