"""Writes docs/names.md: every public name of PyTorch's main namespaces, whether we have it, and why not."""

from __future__ import annotations

import textwrap
import types
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import retrograd
import retrograd.distributions
import retrograd.optim
from retrograd._missing.lacks import LACKS, why

PAGE = Path(__file__).resolve().parent.parent / "docs" / "names.md"
PLACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.autograd", "torch.nn", "torch.optim", "torch.linalg",
          "torch.func", "torch.distributions")
# Of these, what their __all__ names.
LISTED = """autograd.forward_ad autograd.functional autograd.graph autograd.profiler fft fx futures library multiprocessing
    nn.attention nn.init nn.parallel nn.parameter nn.utils nn.utils.parametrizations nn.utils.parametrize
    nn.utils.prune nn.utils.rnn nn.utils.stateless optim.lr_scheduler optim.swa_utils overrides profiler random
    serialization signal.windows special storage testing utils utils.benchmark utils.checkpoint utils.data
    utils.dlpack utils.flop_counter utils.hooks utils.module_tracker utils.weak utils._pytree amp jit hub masked
    backends distributions.constraints distributions.transforms distributions.kl compiler types""".split()
HEAD = """# Names

Every public name of PyTorch {release}'s namespaces for a CPU, and whether retrograd has it. A missing name raises
AttributeError (ImportError in an import) with the reason given here.
`make generate` writes this page; the reasons come from `src/retrograd/_missing/lacks.py`.
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


def listed(owner: Any) -> list[str]:
    """The names in __all__, in the order of the alphabet; without one, those that belong to PyTorch."""
    return sorted(set(owner.__all__)) if getattr(owner, "__all__", None) else names_of(owner)


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
    places = [(place, at(torch, place), at(retrograd, place), names_of) for place in PLACES]
    places += [(f"torch.{path}", import_module(f"torch.{path}"), import_module(f"retrograd.{path}"), listed) for path in LISTED]
    whole, missing = 0, Counter[str]()
    for place, theirs, ours, public in places:
        names = [name for name in public(theirs) if not name.startswith("_")]
        have = [n for n in names if has(ours, n)]
        whole += len(names)
        lines += [f"## {place}", "", f"Have: {len(have)} of {len(names)}.", "", *wrapped(have), ""]
        lacking: dict[str, list[str]] = {}
        for name in names:
            if name not in have:
                lacking.setdefault(why(f"{place}.{name}") or why(name) or "?", []).append(name)
        missing.update({reason: len(names) for reason, names in lacking.items()})
        for reason in [reason for reason, _ in LACKS.values()] + ["?"]:
            if reason in lacking:
                lines += [textwrap.fill(f"Missing, because {reason}:", COLUMNS), "", *wrapped(lacking[reason]), ""]
    devices, compiler = (missing[LACKS[key][0]] for key in ("devices", "torchscript"))
    have_all, sensible = whole - missing.total(), whole - devices - compiler
    lines[1:1] = [
        f"retrograd has {have_all:,} of {whole:,}. {devices} concern other devices and {compiler} are of TorchScript's compiler;",
        f"of the other {sensible:,} it has {have_all / sensible:.1%}.", ""]
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


def files() -> dict[Path, str]:
    return {PAGE: page()}
