"""Every parameter: covered how, or why not; and the check against the gradients that arrived."""
from __future__ import annotations

import html
import inspect
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..plain_text import escaped, table
from .runs import INFINITE, Use
from .terms import Blocks, Dense, Outer, Rows, Sum, Term, sum_of

TOLERANCE = {"torch.float64": 1e-8, "torch.float32": 2e-4, "torch.bfloat16": 3e-2, "torch.float16": 1e-2}
GOOD = ("factors", "per sample")
SHORT = 30                      # letters of a reason that is written out beside every parameter
HOMES: WeakKeyDictionary[type, str] = WeakKeyDictionary()       # file:line of classes: finding one parses its whole file


class Row(NamedTuple):
    """One parameter.

    status  "factors", "per sample": covered.  "whole batch": only the sum.  "not covered".  "no gradient": nothing
            arrived, so there is nothing to cover.  "frozen", "left out": nobody asked
    """

    name: str
    shape: tuple[int, ...]
    status: str
    how: str
    calls: int
    error: float | None                         # of the reconstructed gradient, on checked steps
    where: str                                  # file:line, of what is not covered: of the call, or of the user's class


class Coverage:
    """The coverage report: iterate it for rows, print it for a table."""

    def __init__(self, rows: list[Row], verified: bool = False, mixed: bool = False, loss_mixes: str = "") -> None:
        self.rows = rows
        self._by_name = {row.name: row for row in rows}
        self.verified = verified                # was it found out that samples are where they are taken to be?
        self.mixed = mixed                      # was it found out that some samples depend on others?
        self.loss_mixes = loss_mixes            # a node of the loss that is not known to keep samples apart

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Row:
        return self._by_name[name]

    @property
    def missing(self) -> list[Row]:
        """Parameters with a gradient whose per-sample parts are not known."""
        return [r for r in self.rows if r.status in ("whole batch", "not covered")]

    @property
    def complete(self) -> bool:
        """Is every parameter that got a gradient covered per sample?"""
        return not self.missing

    def _repr_html_(self) -> str:
        rows = [(r.name, r.shape, r.status, r.how, "" if r.error is None else f"{r.error:.0e}", r.where) for r in self.rows]
        head = str(self).split("\n  ", 1)[0]
        return f"<p>{html.escape(head)}</p>" + table(("parameter", "shape", "status", "how, or why not", "error", "line"), rows)

    @escaped
    def __str__(self) -> str:
        asked = [r for r in self.rows if r.status not in ("frozen", "left out", "no gradient")]
        good = sum(r.status in GOOD for r in asked)
        width = max((len(r.name) for r in self.rows), default=0)
        lines = [f"covered {good}/{len(asked)} parameters that got a gradient; " + (
            "samples assumed to lie along the batch dimension" if not self.verified else
            "some samples depend on others, or change places" if self.mixed else "samples verified")]
        if self.mixed and good:
            lines.append("for covered parameters, a sample's gradient is that of its own outputs, in this batch")
        if self.loss_mixes and good:
            lines.append(f"the loss is not known to keep samples apart ({self.loss_mixes}): "
                         "a sample's gradient is the derivative of the whole loss through its outputs")
        first: dict[str, str] = {}                  # a reason -> the parameter beside which it stands
        for r in self.rows:
            of = first.setdefault(r.how, r.name)
            how = r.how if of == r.name or len(r.how) <= len(f"as {of}") + SHORT else f"as {of}"
            error = "" if r.error is None else f"  error {r.error:.0e}"
            where = f"  ({r.where})" if r.where and r.status in ("whole batch", "not covered", "no gradient") else ""
            lines.append(f"  {r.name:{width}}  {r.status:11}  {how}{error}{where}")
        return "\n".join(lines)

    __repr__ = __str__


def cover(cap: Any) -> Coverage:
    """The report of a capture."""
    runs = cap.terms()
    key = None
    mixes = next((loss.mixes for run in cap.runs for loss in run.losses if loss is not None and loss.mixes), "")
    special = (cap.failed, cap.left_out, cap.filled, cap.unseen, cap.errors, cap.arrived, cap.elsewhere)
    if len(runs) == 1 and not any(special):
        run, terms, refused = runs[0]
        if not (refused or run.mixed or run.moved or run.dark) and all(t.whole is None for t in terms.values()):
            # the same calls as in another step say the same
            key = run.structure, run.verified, mixes, frozenset(terms), frozenset(cap._ear.unrecorded)
            if key in cap._reports:
                made: Coverage = cap._reports[key]
                return made
    rows = []
    by_param = uses_by_param(cap)
    for p in cap.params:
        uses = by_param.get(p.number, [])
        status, how = state_of(cap, p, runs, uses)
        site = next((u.site for u in uses if u.site is not None), None)
        where = ""
        if status in ("whole batch", "not covered", "no gradient"):
            where = f"{site[0]}:{site[1]}" if site is not None else home(cap.model, p)
        if p.aliases:
            how += f" (also {', '.join(p.aliases)})"
        rows.append(Row(p.name, p.shape, status, how, len(uses), cap.errors.get(p.number), where))
    uses = [u for run, _, _ in runs for u in run.uses if u.arrived]
    verified = bool(runs) and all(run.verified for run, _, _ in runs) and all(
        u.proven or not u.apart or u.late or not (u.dark or u.lit()) for u in uses)
    report = Coverage(rows, verified, any(u.mixes for u in uses), mixes)
    if key is not None:
        cap._reports[key] = report
    return report


def uses_by_param(cap: Any) -> dict[int, list[Use]]:
    """parameter -> calls that take it."""
    found: dict[int, list[Use]] = {}
    for run in cap.runs:
        for u in run.uses:
            for number in u.numbers:
                found.setdefault(number, []).append(u)
    return found


def state_of(cap: Any, p: Any, runs: Any, uses: list[Use]) -> tuple[str, str]:
    """(status, how or why)"""
    if not p.selected:
        return "left out", "not among layers="
    if not p.tensor.requires_grad:
        return "frozen", "requires_grad is False"
    if p.number in cap.filled:
        return "per sample", cap.filled[p.number][1]
    if p.number in cap.left_out:
        return "not covered", "where= left some of its calls out"
    if p.number in cap.failed:
        return "not covered", cap.failed[p.number]
    came = [u for u in uses if u.arrived]
    for _, _, refused in runs:
        if p.number in refused:
            return "not covered", refused[p.number]
    found = [terms[p.number] for _, terms, _ in runs if p.number in terms]
    if not found:
        if p.number in cap.arrived or p.number in cap.unseen:
            return "not covered", unseen(cap, p)
        if uses and not came:
            return "no gradient", f"{used(uses)}, but no gradient came back: the loss does not use it, or backward did not run"
        return "no gradient", displaced(cap, p) or uncalled(cap, id(p.tensor) in cap._ear.unrecorded) or "never called"
    for run, terms, _ in runs:
        if p.number in terms and run.mixed:
            return "whole batch", run.mixed
    for term in found:
        if term.whole is not None:
            return "whole batch", term.whole
    return ("factors" if factored(found[0]) else "per sample"), f"{form(found[0])}, {used(came)}"


def used(uses: list[Use]) -> str:
    names: dict[str, int] = {}
    for u in uses:
        names[u.name] = names.get(u.name, 0) + 1
    return " and ".join(f"{n} x {name}" if n > 1 else name for name, n in names.items())


def factored(term: Term) -> bool:
    if isinstance(term, (Sum, Blocks)):
        return all(factored(t) for t in term.terms)
    return isinstance(term, (Outer, Rows))


def form(term: Term) -> str:
    if isinstance(term, Outer):
        return "delta (x) a"
    if isinstance(term, Rows):
        return "rows of delta"
    if isinstance(term, Blocks):
        return f"delta (x) a in {len(term.terms)} groups"
    if isinstance(term, Sum):
        return "sum of " + " and ".join(form(t) for t in term.terms)
    return "dense" if isinstance(term, Dense) else "?"


def unseen(cap: Any, p: Any) -> str:
    """A gradient came, but no call was seen that could have made it."""
    return displaced(cap, p) or uncalled(cap, False) or (
        "a gradient arrived, but the capture saw no call with it: a custom autograd.Function, or a compiled or scripted "
        "part, may use it")


def uncalled(cap: Any, unrecorded: bool) -> str:
    """Why calls gave no use.  unrecorded: some were made where gradients are not."""
    if cap.elsewhere:
        return "the model was called in another thread than the one that entered the block: enter it there"
    return "called under no_grad() or inference_mode(), where no gradient is recorded" if unrecorded else ""


def displaced(cap: Any, p: Any) -> str:
    what: str = cap.displaced.get(p.number, "")
    return what and f"the model was called with another tensor in its place (torch.func.functional_call): {what}"


def home(model: Any, p: Any) -> str:
    """file:line of the class that a parameter belongs to: the user's that is nearest to it, if there is one."""
    module, owner = model, None
    for key in ("", *filter(None, p.path.split("."))):
        module = getattr(module, key) if key else module
        if not type(module).__module__.startswith(("torch.", "retrograd.")):
            owner = module
    cls = type(p.module if owner is None else owner)
    if cls not in HOMES:
        try:
            HOMES[cls] = f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
        except (OSError, TypeError):
            HOMES[cls] = f"{cls.__module__}.{cls.__qualname__}"
    return HOMES[cls]


def exact(g: Any) -> Any:
    """g in double precision."""
    return g.cdouble() if g.is_complex() else g.double()


def compare(cap: Any) -> None:
    """Fill cap.errors, and cap.failed with what is beyond its tolerance."""
    T = cap.engine.torch
    runs = cap.terms()
    by_param = uses_by_param(cap)
    with T.no_grad():
        for n, g in cap.arrived.items():
            if getattr(g, "is_sparse", False):
                cap.arrived[n] = g.to_dense()
        norms = {n: float(exact(g).norm()) for n, g in cap.arrived.items()}
        scale = sum(v * v for v in norms.values()) ** 0.5
        for p in cap.params:
            g = cap.arrived.get(p.number)
            if g is None or p.number in cap.left_out or any(p.number in refused for _, _, refused in runs):
                continue
            parts = [terms[p.number] for _, terms, _ in runs if p.number in terms]
            if not parts:
                if norms[p.number] > 0:
                    cap.failed[p.number] = unseen(cap, p)
                continue
            dtypes = [str(u.dtype) for u in by_param.get(p.number, ()) if u.arrived]
            tolerance = max([TOLERANCE.get(d.replace("retrograd.", "torch."), 2e-4) for d in (*dtypes, str(g.dtype))])
            got = sum_of([t.total() for t in parts])
            apart = float((exact(got) - exact(g)).norm())
            error = apart / max(norms[p.number], 1e-3 * scale, 1e-300)
            if error > tolerance:
                added = sum_added(p, by_param.get(p.number, ()))
                if apart < T.finfo(g.dtype).eps * added:
                    error = apart / added
            cap.errors[p.number] = error
            if error != error or error == float("inf"):
                cap.failed[p.number] = INFINITE
            elif not error <= tolerance:
                hooks = bool(getattr(p.tensor, "_backward_hooks", None))
                cap.failed[p.number] = (
                    f"what was captured differs from the gradient that arrived by {error:.1e} of it: "
                    + ("a hook on the parameter changed it" if hooks else
                       "another use that was not seen (a derivative of a gradient, a custom autograd.Function, a compiled part), "
                       "or a hook"))


def sum_added(p: Any, uses: Iterable[Use]) -> float:
    """The sum of |delta| over all that a bias was added to.  Before a norm of batches or channels they cancel each other."""
    deltas = [d for u in uses if "bias" in u.sources and any(leaf.number == p.number for leaf in u.sources["bias"].leaves())
              for d in u.deltas if d is not None]
    return sum(float(exact(d).abs().sum()) for d in deltas)


def spareable(cap: Any) -> set[int]:
    """Parameters whose gradients backward need not compute: covered, with linear maps and convolutions as their only uses.  Where
    the data have no gradient, the bias leads it to the call, so a weight without one is not among them."""
    if cap.left_out:
        return set()
    uses = [u for run in cap.runs for u in run.uses]
    report = cap.coverage()
    found = {p.number for p in cap.params if report[p.name].status in GOOD and any(p.number in u.numbers for u in uses)}
    for u in uses:
        if u.kind.kind not in ("linear", "matmul", "conv"):
            found -= u.numbers
        elif not u.live:
            leading = u.sources.get("bias")
            found -= u.numbers if leading is None else {leaf.number for leaf in leading.leaves()}
    return found
