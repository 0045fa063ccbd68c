"""Which operator of PyTorch's each class of nodes is the derivative of: src/retrograd/_packages/_library/nodes.py."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from retrograd._library.naming import plain

SOURCE = Path(__file__).resolve().parent.parent / "src" / "retrograd"
NODES = SOURCE / "_packages" / "_library" / "nodes.py"
SEEN = {"ReshapeAliasBackward0": "view"}       # what modes of PyTorch see in its place
TEXT = '''"""The operators that nodes are the derivatives of.  Written by `make generate` from PyTorch's table of derivatives."""
from __future__ import annotations

from retrograd._library.naming import plain

# CLASS=NAME.OVERLOAD, or only the class where the name follows from it
NODES = """
{rows}
"""
OPERATORS: dict[str, str] = {{kind: path or plain(kind) for kind, _, path in (row.partition("=") for row in NODES.split())}}
'''


def kinds(base: type) -> Iterator[str]:
    for kind in base.__subclasses__():
        yield kind.__name__
        yield from kinds(kind)


def ours() -> list[str]:
    for path in sorted((SOURCE / "_rules").glob("*.py")):
        import_module(f"retrograd._rules.{path.stem}")
    return sorted(set(kinds(import_module("retrograd._engine.node").Node)))


def theirs() -> dict[str, str]:
    """{class of a node: 'add.Tensor'}"""
    import torchgen
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    home = Path(torchgen.__file__).parent / "packaged"
    native = home / "ATen" / "native"
    table, _ = load_derivatives(
        str(home / "autograd" / "derivatives.yaml"), str(native / "native_functions.yaml"), str(native / "tags.yaml"))
    found = [info for infos in table.values() for info in infos.values() if info.op]
    return {info.op: SEEN.get(info.op, str(info.func.func.name)) for info in found}


def files() -> dict[Path, str]:
    known = theirs()
    rows = [kind if plain(kind) == known[kind] else f"{kind}={known[kind]}" for kind in ours() if kind in known]
    wrapped = textwrap.fill(" ".join(rows), 124, break_long_words=False, break_on_hyphens=False)
    return {NODES: TEXT.format(rows=wrapped)}
