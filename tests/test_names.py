"""docs/names.md: every public name of PyTorch's main namespaces, whether we have it, and why not.

    python tests/test_names.py      writes docs/names.md (needs PyTorch)
"""

from __future__ import annotations

import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retrograd
import retrograd.distributions
import retrograd.optim
from retrograd._lacks import LACKS, why
from retrograd._run import torch_means_retrograd

PAGE = Path(__file__).resolve().parent.parent / "docs" / "names.md"
PLACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.autograd", "torch.nn", "torch.optim", "torch.linalg",
          "torch.func", "torch.distributions")
HEAD = """# Names

Every public name of PyTorch {release}'s main namespaces, and whether retrograd has it. A name that is not there raises
AttributeError (ImportError where it is imported) with the words that stand above it here.
`python tests/test_names.py` writes this page; the words come from `src/retrograd/_lacks.py`.
"""
COLUMNS = 120


def at(root: Any, place: str) -> Any:
    for part in place.split(".")[1:]:
        root = getattr(root, part)
    return root


def has(owner: Any, name: str) -> bool:
    try:
        getattr(owner, name)
    except (AttributeError, ImportError):
        return False
    return True


def names_of(owner: Any) -> list[str]:
    """Public names that belong to PyTorch: not modules, classes and types that it imports from elsewhere."""
    if isinstance(owner, type):
        return [n for n in dir(owner) if not n.startswith("_")]
    found = []
    for name in dir(owner):
        value = getattr(owner, name)
        home = getattr(value, "__module__", None) or "torch"
        if isinstance(value, types.ModuleType):
            own = value.__name__.startswith(owner.__name__ + ".")
        else:
            own = not name.startswith("_") and not (callable(value) and not home.startswith("torch")) and type(
                value).__module__ not in ("typing", "__future__") and name != "TYPE_CHECKING"
        if own and not name.startswith("_"):
            found.append(name)
    return found


def page() -> str:
    import torch

    lines = [HEAD.format(release=str(torch.__version__).partition("+")[0])]
    for place in PLACES:
        theirs, ours = at(torch, place), at(retrograd, place)
        names = names_of(theirs)
        have = [n for n in names if has(ours, n)]
        lines += [f"## {place}", "", f"Have: {len(have)} of {len(names)}.", "", *wrapped(have), ""]
        lacking: dict[str, list[str]] = {}
        for name in names:
            if name not in have:
                lacking.setdefault(why(name) or "?", []).append(name)
        for reason in [reason for reason, _ in LACKS.values()] + ["?"]:
            if reason in lacking:
                lines += [f"Lack, for {reason}:", "", *wrapped(lacking[reason]), ""]
    return "\n".join(lines).rstrip() + "\n"


def wrapped(names: list[str]) -> Iterator[str]:
    line = ""
    for name in names:
        if line and len(line) + len(name) + 3 > COLUMNS:
            yield line
            line = ""
        line += (" " if line else "") + f"`{name}`"
    if line:
        yield line


def listed() -> Iterator[tuple[str, str | None, str]]:
    """(place, None or why we lack it, name) for every name on the page"""
    place, reason = "", None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            place = line[3:]
        elif line.startswith("Have: "):
            reason = None
        elif line.startswith("Lack, for "):
            reason = line[10:-1]
        elif line.startswith("`") and place:
            for name in re.findall(r"`(\w+)`", line):
                yield place, reason, name


def test_what_the_page_says_we_have_is_there() -> None:
    assert [f"{place}.{name}" for place, reason, name in listed() if reason is None and not has(at(retrograd, place), name)] == []


def test_what_the_page_says_we_lack_raises_with_its_words() -> None:
    for place, reason, name in listed():
        if reason is not None:
            with pytest.raises(AttributeError) as caught:
                getattr(at(retrograd, place), name)
            said = str(caught.value)
            assert reason in said or f"retrograd has no '{place}.{name}'; it has torch." in said, said


def test_importing_a_name_we_lack_says_why() -> None:
    with pytest.raises(ImportError, match=re.escape("retrograd has no 'torch.fft': Fourier transforms are outside for now")):
        from retrograd import fft  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(("statement", "told"), [
    ("from torch.sparse import mm", "'torch.sparse': sparse tensors are outside for now"),
    ("from torch.fx import Tracer", "'torch.fx': programs are not captured, compiled or exported"),
    ("import torch.fft", "'torch.fft': Fourier transforms are outside for now"),
    ("import torch.nn.functionall", "'torch.nn.functionall'; near names: functional"),
])
def test_under_run_importing_a_module_we_lack_says_why(statement: str, told: str) -> None:
    with torch_means_retrograd(), pytest.raises(ModuleNotFoundError, match=re.escape(f"retrograd has no {told}")):
        exec(statement, {})


def test_a_name_of_nobody_gets_near_names() -> None:
    with pytest.raises(AttributeError, match=re.escape("retrograd has no 'torch.softmaxx'; near names: softmax")):
        _ = retrograd.softmaxx


@pytest.mark.oracle
def test_the_page_is_up_to_date() -> None:
    pytest.importorskip("torch")
    fresh = [sys.executable, __file__, "-"]         # in this process, other tests may have given torch more names
    found = subprocess.run(fresh, capture_output=True, check=True, encoding="utf-8").stdout
    assert PAGE.read_text(encoding="utf-8") == found, "run: python tests/test_names.py"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.reconfigure(encoding="utf-8")    # type: ignore[union-attr]
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), encoding="utf-8")
        sys.stdout.write(f"{PAGE}\n")
