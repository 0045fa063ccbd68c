"""What watch() saw, as one HTML page without scripts: problems, lines over the steps, histograms as strips."""
from __future__ import annotations

import html
from math import isfinite, log10
from typing import Any

import numpy as np

WIDE, HIGH = 260, 56
POINTS = 400            # of a line, at most
STYLE = """body{font:14px system-ui,sans-serif;margin:2em;max-width:1200px;color-scheme:light dark}
table{border-collapse:collapse}td,th{padding:4px 12px 4px 0;text-align:left;vertical-align:bottom}
svg{background:#8881;display:block}path{fill:none;stroke:#37c;stroke-width:1.3}small{color:#888}li{color:#c33}"""


def page_of(watch: Any, columns: tuple[str, ...], title: str) -> str:
    """The page as a text."""
    lines: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in watch.rows:
        for column in columns:
            if row[column] is not None:
                lines.setdefault(row["name"], {}).setdefault(column, []).append((row["step"], row[column]))
    used = [c for c in columns if any(c in its for its in lines.values())]
    kinds = [] if watch._histograms is None else sorted({kind for kind, _ in watch._histograms.found})
    head = "".join(f"<th>{html.escape(text)}</th>" for text in ["", *(c.replace("_", " ") for c in used),
                                                                  *(f"histogram of {k}" for k in kinds)])
    body = []
    for name, its in lines.items():
        cells = [curve(its[c]) if c in its else "" for c in used]
        for kind in kinds:
            found = watch._histograms.found.get((kind, name))
            cells.append(strip([(step, counts) for step, counts, _ in found]) if found else "")
        body.append(f"<tr><th>{html.escape(name)}</th>{''.join(f'<td>{c}</td>' for c in cells)}</tr>")
    noise = watch.noise_scale()
    said = "".join(f"<li>{html.escape(line)}</li>" for line in watch.problems())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">'
        f"<h1>{html.escape(title)}</h1><p>{watch.count} steps, every {watch.every} looked at"
        + (f"; {len(watch.skipped)} skipped by the scaler" if watch.skipped else "")
        + ("" if noise is None else f"; gradient noise scale {noise['noise_scale']:.3g}")
        + f"</p>{f'<ul>{said}</ul>' if said else '<p>no problems</p>'}<table><tr>{head}</tr>{''.join(body)}</table></html>")


def curve(points: list[tuple[int, float]]) -> str:
    """A line over the steps; logarithmic where all numbers are above 0 and far apart."""
    points = [p for p in points if isfinite(p[1])]
    if not points:
        return "<small>not finite</small>"
    points = points[::max(1, -(-len(points) // POINTS))]
    values = [v for _, v in points]
    far = min(values) > 0 and max(values) / min(values) > 100
    ys = [log10(v) for v in values] if far else values
    low, high, first, last = min(ys), max(ys), points[0][0], points[-1][0]
    path = "M" + " L".join(f"{(step - first) / max(last - first, 1) * WIDE:.1f} "
                           f"{HIGH - 3 - (y - low) / ((high - low) or 1) * (HIGH - 6):.1f}" for (step, _), y in zip(points, ys))
    return (f'<svg width="{WIDE}" height="{HIGH}" role="img"><title>{min(values):.4g} to {max(values):.4g}</title>'
            f'<path d="{path}"/></svg><small>{min(values):.3g} to {max(values):.3g}{", log" if far else ""}; '
            f"last {values[-1]:.3g}</small>")


def strip(found: list[tuple[int, Any]]) -> str:
    """Histograms from left to right: the darker, the more numbers are in a bin."""
    found = found[::max(1, -(-len(found) // 60))]
    counts = np.array([c for _, c in found], np.float64)
    used = np.flatnonzero(counts.any(0))
    if not used.size:
        return "<small>nothing finite</small>"
    counts = counts[:, used[0]:used[-1] + 1]
    wide, high = WIDE / len(counts), HIGH / counts.shape[1]
    cells = []
    for i, row in enumerate(counts / counts.max(1, keepdims=True).clip(1)):
        cells += [f'<rect x="{i * wide:.1f}" y="{HIGH - (j + 1) * high:.1f}" width="{wide + .2:.1f}" height="{high + .2:.1f}" '
                  f'fill="#37c" fill-opacity="{share:.2f}"/>' for j, share in enumerate(row) if share >= .01]
    return (f'<svg width="{WIDE}" height="{HIGH}" role="img"><title>steps {found[0][0]} to {found[-1][0]}</title>'
            f"{''.join(cells)}</svg>")
