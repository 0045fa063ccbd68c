"""Every ```python block of README.md and docs/*.md runs; where a ```text block follows, it is what the block prints.

Blocks of one file run in order in one namespace, as a reader would type them. `# raises` on the last line says that a
block ends with an exception, whose class and text are its last output. A block marked ```python no-run is not run, and one
marked ```python needs PACKAGE only where that package is installed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import retrograd

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]
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


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_of_the_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)             # for those that write a file
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": page.stem}
    for found in BLOCK.finditer(text):
        mark, _, package = found["mark"].strip().partition(" ")
        if mark == "no-run" or mark == "needs" and importlib.util.find_spec(package) is None:
            continue
        line = text.count("\n", 0, found.start("code"))
        printed = run("\n" * line + found["code"], str(page), namespace)
        if found["out"] is not None:
            assert printed.rstrip().splitlines() == found["out"].rstrip().splitlines(), f"{page.name}, line {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_of_the_page_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING", "docs/compile", "docs/decisions", "docs/design", "docs/kernels",
                                  "docs/microscope-design"])
def test_pages_about_the_source_name_files_that_are_there(page: str) -> None:
    named = re.findall(r"`([\w/]+\.(?:py|c|h))`", (ROOT / f"{page}.md").read_text(encoding="utf-8"))
    assert [name for name in named if not any(ROOT.glob(name)) and not any((ROOT / "src").rglob(name))] == []


def test_the_readme_lists_every_page() -> None:
    index = "".join(page.read_text(encoding="utf-8").partition("## All pages")[2] for page in PAGES if page.name == "README.md")
    pages = [page.relative_to(ROOT).as_posix() for page in PAGES if page.name != "README.md"]
    assert [page for page in pages if f"({page})" not in index] == []


class WithName(retrograd.Tensor):
    def name_of(self) -> str:
        return f"{self.word} {len(self)}"  # type: ignore[attr-defined]


def test_general_deviations_are_as_the_page_says() -> None:
    drawn = [retrograd.manual_seed(3) and retrograd.rand(4).tolist() for _ in range(2)]
    assert drawn[0] == drawn[1]
    x = retrograd.arange(24.0).reshape(2, 3, 2, 2)
    y = x.contiguous(memory_format=retrograd.channels_last)
    assert y.stride() == (12, 4, 2, 1) and y.is_contiguous() and y.is_contiguous(memory_format=retrograd.channels_last)
    t = retrograd.ones(2).as_subclass(WithName)
    t.word = "two:"
    assert type(t) is WithName and t.name_of() == "two: 2" and type(t + 1) is WithName
    with pytest.raises(RuntimeError, match="zip format alone"):
        retrograd.save(x, io.BytesIO(), _use_new_zipfile_serialization=False)


@pytest.mark.oracle
def test_general_deviations_are_deviations() -> None:
    torch = pytest.importorskip("torch")
    for engine in (torch, retrograd):
        engine.manual_seed(3)
    gammas, ours = (engine._standard_gamma(engine.full((1000,), 0.3, dtype=engine.float64)).numpy()
                    for engine in (torch, retrograd))
    assert (gammas != ours).any() and abs(gammas - ours).max() < 1e-12
    x = torch.arange(24.0).reshape(2, 3, 2, 2)
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.stride() == (12, 1, 6, 3) and not y.is_contiguous() and not x.is_contiguous(memory_format=torch.channels_last)
    kind = type("Kind", (torch.Tensor,), {})
    assert type(torch.ones(2).as_subclass(kind) + 1) is kind


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["hooks", "hook-beliefs"])
def test_pages_of_hooks_are_what_pytorch_prints(name: str) -> None:
    pytest.importorskip("torch")
    page = ROOT / "docs" / f"{name}.md"
    text = page.read_text(encoding="utf-8").replace("import retrograd as torch", "import torch")
    namespace: dict[str, Any] = {"__name__": page.stem}
    for found in BLOCK.finditer(text.replace("from retrograd", "from torch")):
        printed = re.sub(r" ?\(Triggered internally at [^)]*\)", "", run(found["code"], str(page), namespace))
        if found["out"] is not None:
            assert printed.rstrip().splitlines() == found["out"].rstrip().splitlines(), found["code"]
