"""Writes docs/microscope-api.md: every public name of the microscope, its signature and options, out of the docstrings.

An option is a line of a docstring: its name, two blanks or more, what it is; tests demand one of each option.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from retrograd import microscope

PAGE = Path(__file__).resolve().parent.parent / "docs" / "microscope-api.md"
INTRO = """# The microscope's names

`from retrograd import microscope`. `make generate` writes this page from the signatures and docstrings of the functions
(`help(microscope.capture)` says the same). For a guide see [microscope.md](microscope.md).

Shapes: N samples, T tokens, I inputs and O outputs of a layer, P weights.

An argument of the wrong kind is a TypeError, one out of range a ValueError; both name the function, the argument, what it got
and what it expected. The microscope's own [errors](#errors) are at the end.
"""
SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Capturing": (
        "A row of `coverage()` has the status `factors` or `per sample` (covered), `whole batch` (only the sum is known),\n"
        "`not covered`, `no gradient` (nothing arrived), `frozen` or `left out`.",
        ("capture", "Capture", "Coverage", "Grads", "Kronecker", "KFAC", "FactorStore")),
    "Recipes": ("", ("norm_sampling", "sampling_probabilities", "tracin", "influence", "private_gradient", "dp_sgd_step",
                     "epsilon", "fisher_diagonal", "noise_scale")),
    "Recording": (
        "See [the recorder](recorder.md).",
        ("record", "Recording", "Event", "Value", "load", "Ledger", "Trouble", "Finding", "Comparison", "Replay", "Difference",
         "compare", "SideBySide", "Beside", "why_none", "why_not_fired", "Cause", "explain", "Explanation", "merge", "Ranks")),
    "Over a training": (
        "See [the recorder](recorder.md#over-a-training-run), [flight](flight.md) and [memory](do/memory.md).",
        ("watch", "Watch", "flight", "Flight", "memory", "Memory", "watchdog", "Watchdog", "Verdict")),
    "Through a whole training": (
        "See [metagradients](metagradients.md).",
        ("metagradient", "Metagradient", "attributions", "Attributions", "validate", "Validation", "Steps")),
    "Curvature": ("See [curvature](curvature.md).", ("curvature", "Curvature")),
    "Contracts": ("See [contracts](do/contract.md).", ("contract", "Contract", "assert_contract")),
    "Mistakes": ("See [lint](lint.md).", ("lint", "lint_recording", "lint_source", "Problem")),
    "As tables": (
        "See [an example](do/scipy-sklearn.md#tables-of-what-the-microscope-found).", ("to_pandas", "to_arrow", "to_parquet")),
    "Others": ("", ("engine_of",)),
}
CONSTRUCTED = ("KFAC", "FactorStore", "Steps")      # by users; other classes are what functions give
ENGINES = {("Memory", "call")}                      # which the engine calls
LINE = re.compile(r"(\*{0,2}[A-Za-z]\w*(?:, \*{0,2}[A-Za-z]\w*)*)\s{2,}(\S.*)")


class Doc(NamedTuple):
    """A docstring: its first paragraph, and {names: what they are} of its lines."""

    says: str
    lines: dict[tuple[str, ...], str]


def doc_of(thing: Any) -> Doc:
    text = inspect.getdoc(thing) or ""
    found: dict[tuple[str, ...], str] = {}
    names: tuple[str, ...] = ()
    for line in text.splitlines()[1:]:
        indent = len(line) - len(line.lstrip())
        if names and indent > 1 and line.strip():
            found[names] += " " + line.strip()
            continue
        names = ()
        for piece in columns(line):
            match = LINE.fullmatch(piece)
            if match:
                names = tuple(name.strip("*") for name in match[1].split(", "))
                found[names] = match[2]
    says = text.partition("\n\n")[0].splitlines()
    return Doc(" ".join(line for line in says if not LINE.fullmatch(line)), found)


def raised(thing: Any) -> str:
    """The sentences of a docstring, below its first paragraph, that name an exception."""
    _, _, more = (inspect.getdoc(thing) or "").partition("\n\n")
    prose = [line.strip() for line in more.splitlines() if not line.startswith(" ") and not LINE.fullmatch(line)]
    return " ".join(s.strip() for s in re.split(r"(?<=\.)\s+", " ".join(prose)) if re.search(r"[A-Z][a-z]\w*Error\b", s))


def columns(line: str) -> list[str]:
    """The names that stand beside each other in a line, each with what it is."""
    parts = re.split(r"\s{3,}(?=[A-Za-z]\w*(?:, \w+)*\s{2,}\S)", line)
    return parts if len(parts) > 1 and all(LINE.fullmatch(part) for part in parts) else [line]


def options(thing: Any) -> dict[str, str | None]:
    """What each option of a function is; None where no line says it.  What gives a public class may leave them to that."""
    lines = {name: text for names, text in doc_of(thing).lines.items() for name in names}
    gives = getattr(microscope, str(inspect.signature(thing).return_annotation).strip("'"), None)
    if inspect.isclass(gives):
        lines = {name: text for names, text in doc_of(gives).lines.items() for name in names} | lines
    return {name: lines.get(name) for name in inspect.signature(thing).parameters if name != "self"}


def undescribed() -> list[str]:
    """function(option) of all options that no line describes, and Class.method(option) where the docstring does not name it."""
    return [f"{name}({option})" for name in callables()
            for option, text in options(getattr(microscope, name)).items() if text is None] + [
        f"{name}.{method.__name__}({option})" for _, names in SECTIONS.values() for name in names
        if inspect.isclass(getattr(microscope, name)) for method in methods(getattr(microscope, name))
        for option in inspect.signature(method).parameters
        if option != "self" and not re.search(rf"\b{option}\b", inspect.getdoc(method) or "")]


def callables() -> list[str]:
    return [name for name in microscope.__all__ if name in CONSTRUCTED or inspect.isfunction(getattr(microscope, name))]


def signature(name: str, thing: Callable[..., Any]) -> str:
    of = inspect.signature(thing)
    kept = [p.replace(annotation=p.empty) for p in of.parameters.values() if p.name != "self"]
    return name + str(of.replace(parameters=kept, return_annotation=of.empty))


def own(owner: type) -> dict[str, Any]:
    """What the microscope's classes define, by their public names."""
    return {name: thing for of in reversed(owner.__mro__) if of.__module__.startswith(microscope.__name__)
            for name, thing in vars(of).items() if not name.startswith("_")}


def methods(owner: type) -> Iterator[Any]:
    """Those that the page has."""
    for name in own(owner):
        thing = getattr(owner, name)
        if inspect.isroutine(thing) and inspect.getdoc(thing) and (owner.__name__, name) not in ENGINES:
            yield thing


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """What a class offers: the attributes that its docstring tells, then properties and methods as they were written."""
    its = own(owner)
    if owner.__name__ not in (*CONSTRUCTED, "Capture"):
        for names, text in doc_of(owner).lines.items():
            if not set(names) & its.keys():
                yield ", ".join(f"`{name}`" for name in names), escaped(text)
    for name, thing in its.items():
        doc = doc_of(getattr(owner, name) if isinstance(thing, (classmethod, staticmethod)) else thing)
        if not doc.says or (owner.__name__, name) in ENGINES:
            continue
        if isinstance(thing, property):
            yield f"`{name}`", escaped(doc.says)
        elif inspect.isroutine(thing):
            bound = getattr(owner, name)
            asked = inspect.signature(bound).parameters
            lines = [", ".join(f"`{n}`" for n in names) + " " + escaped(text)
                     for names, text in doc.lines.items() if set(names) & asked.keys()]
            yield f"`{signature(name, bound)}`", "<br>".join([escaped(doc.says), *lines])


def escaped(text: str) -> str:
    """Text in a cell of a table; what stands between backticks stays."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*\[\]])", r"\\\1", part).replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts).replace("|", "\\|")


def entry(name: str) -> Iterator[str]:
    """A function with its options, or a class with what it offers."""
    thing = getattr(microscope, name)
    yield f"\n### {name}\n"
    if not inspect.isclass(thing) or name in CONSTRUCTED:
        yield f"`{signature(name, thing)}`\n"
    yield escaped(doc_of(thing).says) + "\n"
    if raised(thing):
        yield escaped(raised(thing)) + "\n"
    rows: list[tuple[str, str]] = []
    if not inspect.isclass(thing) or name in CONSTRUCTED:
        described: dict[str, list[str]] = {}
        for option, text in options(thing).items():
            described.setdefault(text or "", []).append(f"`{option}`")
        rows = [(", ".join(names), escaped(text)) for text, names in described.items()]
    if inspect.isclass(thing):
        rows += members(thing)
    if rows:
        yield "| | |\n|---|---|"
        yield from (f"| {left} | {right} |" for left, right in rows)


def errors() -> Iterator[str]:
    yield "\n## Errors\n\n| | |\n|---|---|"
    for name in microscope.__all__:
        thing = getattr(microscope, name)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            yield f"| `{name}({thing.__bases__[0].__name__})` | {escaped(doc_of(thing).says)} |"


def page() -> str:
    lines = [INTRO.rstrip("\n")]
    for title, (says, names) in SECTIONS.items():
        lines += [f"\n## {title}"] + ([f"\n{says}"] if says else [])
        for name in names:
            lines += entry(name)
    return "\n".join([*lines, *errors()]) + "\n"


def files() -> dict[Path, str]:
    return {PAGE: page()}
