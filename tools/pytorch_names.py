"""The names under which PyTorch has functions, methods and attributes of tensors: which of ours are public follows from them.
They stand in src/retrograd/_functions/pytorch_names.py.
"""

from __future__ import annotations

import textwrap
import types
import warnings
from pathlib import Path
from typing import Any

NAMES = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_functions" / "pytorch_names.py"
HEAD = '''"""The names of PyTorch's functions and methods.  Written by `make generate` from PyTorch {version}."""
'''


def names(owner: Any) -> list[str]:
    found = []
    for name in sorted(dir(owner)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(owner, name)
        if isinstance(value, (type, types.ModuleType)) or value is None or (name[0] == "_" and name.strip("_") not in SPECIAL):
            continue
        if callable(value) or type(value).__name__ == "getset_descriptor" or isinstance(value, property):
            found.append(name)
    return found


SPECIAL = ("lshift", "rshift", "ilshift", "irshift", "rlshift", "rrshift", "delitem")


def text() -> str:
    import torch

    lines = [HEAD.format(version=torch.__version__.partition("+")[0])]
    for name, owner in (("TORCH", torch), ("TENSOR", torch.Tensor), ("FUNCTIONAL", torch.nn.functional)):
        lines.append(f'{name} = frozenset("""')
        lines += textwrap.wrap(" ".join(names(owner)), 124, initial_indent="    ", subsequent_indent="    ",
                               break_on_hyphens=False)
        lines.append('""".split())')
    return "\n".join(lines) + "\n"


def files() -> dict[Path, str]:
    return {NAMES: text()}
