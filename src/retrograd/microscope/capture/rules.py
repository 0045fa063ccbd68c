"""Rules: what is kept of a call with a parameter while the model runs, and what it says of the parameter's samples afterwards.

A rule has two halves.  `read` runs while the model does, so it is short: which tensors to keep.  `terms` runs when
something is asked, and gives each weight its Term.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import CaptureError
from .runs import Use
from .sources import Leaf, Source, pull, uncopied
from .terms import Dense, Term, Whole

Terms = list[tuple[Source, Term]]


class Refused(CaptureError):
    """A use whose weights cannot be covered at all: the text says why."""


def wide(t: Any) -> Any:
    """float16 and bfloat16 as float32: sums of products need the room."""
    return t.float() if t.dtype.itemsize < 4 and t.is_floating_point() else t


def conjugated(t: Any) -> Any:
    """What a gradient is multiplied with where the output is by t: the conjugate of complex numbers."""
    return t.conj().resolve_conj() if t.is_complex() else t


def expect(source: Source, term: Term) -> Term:
    """term, in the shape of its source."""
    term.shape = source.shape
    return term


class Rule:
    """One kind of function."""

    kind = ""
    complex = False         # does it know complex numbers?
    holds = False           # do its uses hold the input until backward, and nothing that the model may change meanwhile?

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        """Keep what terms() needs; False when this call is not of a form the rule knows."""
        raise NotImplementedError

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        """The part of read() that is left when the same parameters come at the same places again."""
        raise NotImplementedError

    def terms(self, T: Any, use: Use) -> Terms:
        """A Term for each source."""
        raise NotImplementedError


def roles(use: Use, tracked: dict[int, Source], allowed: dict[str, Any], args: Any, kwargs: Any) -> bool:
    """Note which of `allowed` (role -> argument) are tracked; False when a tracked argument has no role."""
    places = 0
    for role, value in allowed.items():
        if value is not None and id(value) in tracked:
            use.sources[role] = tracked[id(value)]
            places += 1
    seen = 0
    for x in args:
        if id(x) in tracked:
            seen += 1
    for x in kwargs.values():
        if id(x) in tracked:
            seen += 1
    return places == seen and places > 0


def whole(T: Any, term: Term, why: str | None) -> Term:
    """term itself, or when samples cannot be told apart, its sum."""
    return term if why is None else Whole(T, term.shape, term.total, why)


def pulled(T: Any, source: Source, term: Term) -> list[tuple[int, Term]]:
    """The term of each parameter below a source."""
    source = uncopied(source)
    if isinstance(source, Leaf):
        return [(source.number, term)]
    cell: list[Any] = []
    if term.whole is not None:
        def totals() -> dict[int, Any]:
            if not cell:
                cell.append({n: g[0] for n, g in pull(T, source, term.total().unsqueeze(0)).items()})
            made: dict[int, Any] = cell[0]
            return made
        why = term.whole
        return [(leaf.number, Whole(T, leaf.shape, entry(totals, leaf.number), why))
                for leaf in distinct(source)]

    def results() -> dict[int, Any]:
        if not cell:
            cell.append(pull(T, source, term.per_sample()))
        made: dict[int, Any] = cell[0]
        return made
    return [(leaf.number, Dense(T, term.N, leaf.shape, entry(results, leaf.number)))
            for leaf in distinct(source)]


def entry(results: Callable[[], Any], key: Any) -> Callable[[], Any]:
    """results()[key], when it is asked for."""
    return lambda: results()[key]


def distinct(source: Source) -> list[Leaf]:
    """The parameters below a source, each once."""
    return list({leaf.number: leaf for leaf in source.leaves()}.values())
