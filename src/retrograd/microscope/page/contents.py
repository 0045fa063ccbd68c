"""What the page says besides the recording: ledgers, causes of silence, where trouble begins, steps to compare."""
from __future__ import annotations

from typing import Any

from ..answers.graph_of import links
from ..answers.ledger import ledger
from ..answers.side_by_side import SideBySide
from ..answers.trouble import trouble
from ..answers.why import Cause, hook_of, why_none
from ..record.recording import Recording
from .pairs import pairs

WORK = 5_000_000        # ledgers are written while parameters x nodes are no more
ASKED = 60              # causes of each sort


def answers_of(rec: Recording, beside: SideBySide | None) -> dict[str, Any]:
    """ledgers: tensor -> rows; whyNone: tensor -> cause; whyNotFired: hook -> cause; trouble: [event, sentence];
    compared: what is compared (pairs.py)."""
    left_out = []
    ledgers: dict[int, list[list[Any]]] = {}
    if not rec.header.get("nodes", True):
        left_out.append("There are no ledgers: the recording has no backward nodes (nodes=False).")
    elif len(rec.parameters) * len(rec.node_rows) > WORK:
        left_out.append("This large page has no ledgers; rec.ledger(name) computes one.")
    else:
        ledgers = {n: rows for n in leaves(rec) if (rows := ledger_rows(rec, n))}
    missing = [n for n in leaves(rec) if not arrived(rec, n)] if any(rec.of("begin")) else []
    silent = [h for h, hook in enumerate(rec.hooks) if not hook.get("fired")]
    if max(len(missing), len(silent)) > ASKED:
        left_out.append(f"Reasons are given for the first {ASKED} only; rec.why_none and rec.why_not_fired give the others.")
    return {
        "ledgers": ledgers,
        "whyNone": {n: told(why_none(rec.tensor_names[n]["name"], rec)) for n in missing[:ASKED]},
        "whyNotFired": {h: told(hook_of(rec, h)) for h in silent[:ASKED]},
        "trouble": [[f.event, str(f)] for f in trouble(rec)] if rec.header.get("norms", True) else [],
        "compared": pairs(rec, beside, left_out),
        "leftOut": left_out,
    }


def leaves(rec: Recording) -> list[int]:
    """The tensors that are parameters, each once."""
    return sorted(set(rec.parameters.values()))


def arrived(rec: Recording, tensor: int) -> bool:
    """Did a gradient reach it?"""
    return bool(links(rec).arrived.get(tensor))


def ledger_rows(rec: Recording, tensor: int) -> list[list[Any]]:
    """[pass, kind, what, path, where, norm] for each term."""
    return [[r["pass"], r["kind"], r["what"], r["path"], r["where"], None if r["norm"] is None else f"{r['norm']:.4g}"]
            for r in ledger(rec, rec.tensor_names[tensor]["name"]).rows(ways=True)]


def told(cause: Cause) -> dict[str, Any]:
    return {"code": cause.code, "text": cause.text, "wayOut": cause.way_out, "where": cause.where,
            "certain": cause.certain}
