"""Writes docs/deviations.md from tests/conformance/deviations.py."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "conformance"))
import harness  # noqa: E402

HEAD = """# Deviations from PyTorch

Programs in `tests/conformance/programs` print the same on retrograd as on PyTorch {version}, with the exceptions below.
Generated from `tests/conformance/deviations.py`: edit there, then run `make generate`.

## In short
"""

DETAILS = """## Line by line

What PyTorch prints (-) and what retrograd prints (+), grouped by reason. `harness.Deviation` defines how they apply; a
regular expression stands for every line it matches.
"""


def document() -> str:
    """docs/deviations.md: what is general, the reasons, then what each changes, in the order of the list."""
    by_reason: dict[str, list[Any]] = {}
    for d in harness.listed():
        by_reason.setdefault(d.reason, []).append(d)
    short = (*harness.the_list().GENERAL, *by_reason)
    parts = [HEAD.format(version=harness.TORCH), *(bullet(f"{reason}.") for reason in short), "", DETAILS]
    for reason, entries in by_reason.items():
        parts.append(f"### {reason}\n")
        for d in entries:
            where = "any program" if d.program == "*" else f"`{d.program}`"
            both = [f"- {x}" for x in d.torch.splitlines()] + [f"+ {x}" for x in d.ours.splitlines()]
            parts += [f"In {where}{' (regular expression)' if d.regex else ''}:\n", "```diff", *both, "```\n"]
    return "\n".join(parts).rstrip("\n") + "\n"


def bullet(text: str) -> str:
    """A list item, wrapped between words alone."""
    return textwrap.fill(text, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def files() -> dict[Path, str]:
    return {ROOT / "docs" / "deviations.md": document()}
