"""Writes src/retrograd/_compile/inductor.py: the options of PyTorch's compiler, which torch.compile takes here, too."""

from __future__ import annotations

import textwrap
import typing
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_compile" / "inductor.py"
HEAD = '''"""The options of inductor, PyTorch's compiler, by type; "" where PyTorch takes any.  They change nothing here.

Written by `make generate` from PyTorch {}.
"""
from __future__ import annotations

from typing import Final

'''


def files() -> dict[Path, str]:
    import torch
    from torch._inductor import config

    types: dict[str, list[str]] = {}
    for name in config.get_config_copy():       # one that is not there yet is read, and then is
        kind = config.get_type(name)
        types.setdefault("" if typing.get_origin(kind) or not isinstance(kind, type) else kind.__name__, []).append(name)
    lines = ["OPTIONS: Final = {"]
    for kind, names in types.items():
        parts = textwrap.wrap(" ".join(names), 110, drop_whitespace=False)
        lines += [f"    {kind!r}: (", *(f"        {part!r}" for part in parts), "    ),"]
    return {TARGET: HEAD.format(str(torch.__version__).partition("+")[0]) + "\n".join([*lines, "}", ""])}
