"""Every ```python block of README.md and docs/*.md runs; where a ```text block follows, it is what the block prints.

Blocks of one file run in order in one namespace, as a reader would type them. `# raises` on the last line says that a
block ends with an exception, whose class and text are its last output. A block marked ```python no-run is not run.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.exists()]
BLOCK = re.compile(r"^```python[ ]*(?P<mark>[^\n]*)\n(?P<code>.*?)^```$(?:\n+```text\n(?P<out>.*?)^```$)?", re.S | re.M)


def run(code: str, where: str, namespace: dict[str, Any]) -> str:
    """What the block prints; warnings as `UserWarning: text` at the end, then its exception if it says `# raises`."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec(compile(code, where, "exec"), namespace)
        except Exception as e:
            if not code.rstrip().endswith("# raises"):
                raise
            print(f"{type(e).__name__}: {e}")
    return out.getvalue() + "".join(f"{w.category.__name__}: {w.message}\n" for w in seen)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_examples_of_the_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)             # for those that write a file
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": page.stem}
    for found in BLOCK.finditer(text):
        if found["mark"].strip() == "no-run":
            continue
        line = text.count("\n", 0, found.start("code"))
        printed = run("\n" * line + found["code"], str(page), namespace)
        if found["out"] is not None:
            assert printed.rstrip().splitlines() == found["out"].rstrip().splitlines(), f"{page.name}, line {line}"


@pytest.mark.oracle
def test_hooks_page_is_what_pytorch_prints() -> None:
    pytest.importorskip("torch")
    page = ROOT / "docs" / "hooks.md"
    text = page.read_text(encoding="utf-8").replace("import retrograd as torch", "import torch")
    namespace: dict[str, Any] = {"__name__": page.stem}
    for found in BLOCK.finditer(text.replace("from retrograd", "from torch")):
        printed = re.sub(r" ?\(Triggered internally at [^)]*\)", "", run(found["code"], str(page), namespace))
        if found["out"] is not None:
            assert printed.rstrip().splitlines() == found["out"].rstrip().splitlines(), found["code"]
