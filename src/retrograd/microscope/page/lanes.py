"""The recordings of several ranks as one HTML page: a lane for each rank, without scripts.

What recordings say may come from strangers: it is escaped, and the page's policy allows nothing but its own style.
"""
from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Iterator
from typing import Any

from ..answers.ranks import Exchange, Ranks
from ..plain_text import printable

WIDE, NARROW = 1000, 18             # pixels of the lanes at least, and for each collective of a rank
MOST = 4000                         # collectives drawn for a rank
TOP, LANE, LEFT = 24, 62, 70        # pixels: of the scale, of one lane, before the lanes
STYLE = """
:root{color-scheme:light dark;--text:light-dark(#20242a,#e4e6ea);--dim:light-dark(#686d76,#9aa1ac);
--line:light-dark(#deddd8,#343942);--bad:light-dark(#c92a3e,#ff6b78);--bg:light-dark(#f6f6f4,#15171b)}
body{margin:24px;background:var(--bg);color:var(--text);font:13px/1.45 system-ui,sans-serif}
.lanes{overflow-x:auto;border:1px solid var(--line)}svg text{fill:var(--text);font-size:11px}svg .dim{fill:var(--dim)}
.forward{fill:light-dark(#8fb4ff,#3f5fa8)}.backward{fill:light-dark(#2f5fd0,#86a8ff)}.step{fill:light-dark(#2f8f5b,#58b98a)}
.moving{fill:light-dark(#f3c48f,#8a5a24)}.waiting{fill:light-dark(#d9730d,#f0983e)}.others{fill:var(--bad)}
.rule{stroke:var(--line)}.together{stroke:var(--dim);stroke-dasharray:2 3}table{border-collapse:collapse;margin:12px 0}
td,th{padding:2px 12px 2px 0;text-align:right;border-bottom:1px solid var(--line)}td.text,th.text{text-align:left}
.bad{color:var(--bad)}
.key span{display:inline-block;width:12px;height:12px;margin:0 4px 0 14px}.key .forward{background:light-dark(#8fb4ff,#3f5fa8)}
.key .backward{background:light-dark(#2f5fd0,#86a8ff)}.key .step{background:light-dark(#2f8f5b,#58b98a)}
.key .moving{background:light-dark(#f3c48f,#8a5a24)}.key .waiting{background:light-dark(#d9730d,#f0983e)}
.key .others{background:var(--bad)}
"""
KEY = (("forward", "forward"), ("backward", "backward"), ("step", "optimizer step"), ("moving", "collective under way"),
       ("waiting", "waiting in it"), ("others", "waiting for a rank that has not come"))


def write_lanes(ranks: Ranks, path: Any, title: str | None = None) -> None:
    """Write the page to `path`; the file is replaced when complete."""
    from ...io.beside import write_beside

    text = lanes(ranks, title or "ranks - retrograd").encode()
    write_beside(os.fsdecode(path), lambda file: file.write(text))


def lanes(ranks: Ranks, title: str) -> str:
    """The page as a text."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    key = "".join(f'<span class="{kind}"></span>{text}' for kind, text in KEY)
    apart = ranks.diverged()
    bad = [] if apart is None else [str(apart)]
    bad += [f"rank {rank}: {printable(rec.error)}" for rank, rec in ranks.by_rank.items() if rec.error]
    said = "".join(f'<p class="bad">{html.escape(text)}</p>' for text in bad)
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
            f"content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\">"
            f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1>{said}"
            f'<p class="key">{key}</p><div class="lanes">{drawing(ranks)}</div>{waits(ranks)}{calls(ranks)}</body></html>\n')


def drawing(ranks: Ranks) -> str:
    """The lanes."""
    spans = {rank: list(spans_of(ranks, rank)) for rank in ranks.by_rank}
    drawn = {rank: some[:MOST] for rank, some in ranks.exchanges.items()}
    times = [t for some in spans.values() for _, _, began, ended in some for t in (began, ended)]
    times += [t for some in drawn.values() for one in some for t in (one.began, one.ended)]
    if not times:
        return "<p>Nothing was recorded.</p>"
    first, last = min(times), max(max(times), min(times) + 1)
    width = max([WIDE, *(NARROW * len(some) for some in drawn.values())])
    at = dict(zip(ranks.by_rank, range(TOP, TOP + LANE * len(spans), LANE)))

    def x(t: int) -> float:
        return LEFT + (t - first) / (last - first) * width

    def bar(kind: str, began: int, ended: int, y: int, height: int, text: str) -> str:
        return (f'<rect class="{kind}" x="{x(began):.1f}" y="{y}" width="{max(x(ended) - x(began), 1):.1f}" height="{height}">'
                f"<title>{html.escape(printable(text))}</title></rect>")

    parts = [f'<text class="dim" x="{x(first + (last - first) * k // 8):.0f}" y="14">{(last - first) * k / 8e6:.3g} ms</text>'
             for k in range(9)]
    late = later(ranks)
    for rank, y in at.items():
        parts.append(f'<line class="rule" x1="0" x2="{LEFT + width}" y1="{y}" y2="{y}"/>'
                     f'<text x="8" y="{y + 32}">rank {rank}</text>')
        parts += [bar(kind, began, ended, y + 8, 18, f"{text}: {(ended - began) / 1e6:.3f} ms")
                  for kind, text, began, ended in spans[rank]]
        for one in drawn[rank]:
            text = (f"{one}, {one.bytes} bytes: {(one.ended - one.began) / 1e6:.3f} ms, {one.waited / 1e6:.3f} ms of it waiting"
                    + (f"; {one.error}" if one.error else ""))
            parts.append(bar("moving", one.began, one.ended, y + 30, 22, text))
            if one.waited:
                parts.append(bar("waiting", one.came, one.ended, y + 30, 22, text))
            until, who = late.get(id(one), (0, rank))
            if until > one.came:
                parts.append(bar("others", one.came, min(until, one.ended), y + 30, 22, f"{text}; rank {who} came last"))
    for _, _, its in ranks.calls()[:MOST]:
        there = [one for one in its.values() if one is not None]
        for a, b in zip(there, there[1:]):
            parts.append(f'<line class="together" x1="{x(a.ended):.1f}" y1="{at[a.rank] + 52}" x2="{x(b.ended):.1f}" '
                         f'y2="{at[b.rank] + 30}"/>')
    return f'<svg width="{LEFT + width + 60}" height="{TOP + LANE * len(at)}">{"".join(parts)}</svg>'


def spans_of(ranks: Ranks, rank: int) -> Iterator[tuple[str, str, int, int]]:
    """(kind, text, begin, end) of forward passes, backward passes and steps."""
    rec, shift = ranks.by_rank[rank], ranks.shift[rank]
    open_: dict[Any, Any] = {}
    for e in rec.of("enter", "exit", "begin", "end", "step"):
        if e.kind == "enter" and e.parent < 0 or e.kind == "begin":
            open_[("call", e.module, e.call) if e.kind == "enter" else e.get("pass")] = e
        elif e.kind in ("exit", "end"):
            began = open_.pop(("call", e.module, e.call) if e.kind == "exit" else e.get("pass"), None)
            if began is not None:
                kind = "forward" if e.kind == "exit" else "backward"
                yield kind, f"{rec.label(began)} {began.where or ''}", began.t + shift, e.t + shift
        elif e.kind == "step":
            yield "step", f"{rec.label(e)} {e.where or ''}", e.t + shift, e.t + e.dt + shift
    for e in open_.values():                    # cut short
        yield ("forward" if e.kind == "enter" else "backward"), f"{rec.label(e)}, not over", e.t + shift, e.t + shift


def later(ranks: Ranks) -> dict[int, tuple[int, int]]:
    """id of an Exchange -> when the last rank came to it, and which one that was; of that one's itself nothing."""
    found = {}
    for _, _, its in ranks.calls():
        there = [one for one in its.values() if one is not None]
        last = max(there, key=lambda one: one.began)
        found.update({id(one): (last.began, last.rank) for one in there if one is not last})
    return found


def waits(ranks: Ranks) -> str:
    """The table of who waited."""
    rows = "".join(
        f"<tr><td>{rank}</td><td>{len(some := ranks.exchanges[rank])}</td><td>{sum(one.bytes for one in some)}</td>"
        + "".join(f"<td>{of[name] * 1e3:.3f} ms</td>" for name in ("collectives", "waited", "for_others", "kept_waiting"))
        + "</tr>"
        for rank, of in ranks.waiting().items())
    return ("<table><tr><th>rank</th><th>collectives</th><th>bytes</th><th>in them</th><th>waiting</th>"
            f"<th>for other ranks</th><th>others waited for it</th></tr>{rows}</table>")


def calls(ranks: Ranks) -> str:
    """The table of collectives for which ranks waited longest."""
    def wait(row: tuple[str, int, dict[int, Exchange | None]]) -> int:
        return max(one.waited for one in row[2].values() if one is not None)

    rows = []
    for group, number, its in sorted(ranks.calls(), key=wait, reverse=True)[:20]:
        there = [one for one in its.values() if one is not None]
        last = max(there, key=lambda one: one.began)
        cells = "".join("<td>-</td>" if one is None else f"<td>{one.waited / 1e6:.3f} ms</td>" for one in its.values())
        cells += "<td></td>" * (len(ranks.by_rank) - len(its))
        rows.append(f'<tr><td class="text">{html.escape(printable(there[0].name))}</td><td>{number}</td>'
                    f'<td>{html.escape(printable(group))}</td><td>{there[0].bytes}</td>{cells}'
                    f'<td>{last.rank}</td><td class="text">{html.escape(printable(last.where or ""))}</td></tr>')
    heads = "".join(f"<th>waiting of {rank}</th>" for rank in ranks.by_rank)
    return ('<table><tr><th class="text">longest waits in</th><th>call</th><th>group</th><th>bytes</th>'
            f'{heads}<th>came last</th><th class="text">at</th></tr>{"".join(rows)}</table>')
