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
    wanted = {as_installed(site, path): path for path in files(SOURCE)}
    for path in files(site) - wanted.keys():
        (site / path).unlink()
        folder = (site / path).parent
        if all(left.name == "__pycache__" for left in folder.iterdir()):
            shutil.rmtree(folder)
    for path in (SOURCE / "retrograd" / "_typing").glob("*.pyi"):
        (site / TWICE).mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, site / TWICE)
    for path, source in wanted.items():
        if not (site / path).exists() or not filecmp.cmp(SOURCE / source, site / path, shallow=False):
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / source, site / path)


def as_installed(site: Path, path: Path) -> Path:
    """Where the wheel has the file `path` of the checkout: setup.py makes stubs of what it compiles."""
    stub = Path("retrograd-stubs", *path.parts[1:]).with_suffix(".pyi")
    return stub if (site / stub).exists() and not (SOURCE / stub).exists() and stub.parent != TWICE else path


if __name__ == "__main__":
    lay(Path(sys.argv[1] or "an empty name"))
