"""Histograms over a training, in bounded memory: by sign and octave, thinned out when there are many."""
from __future__ import annotations

from typing import Any

import numpy as np

LOWEST, HIGHEST = -40, 20               # octaves; what is beyond counts as the outermost
OCTAVES = HIGHEST - LOWEST + 1
MOST = 200                              # of one name; then every second goes
PLACE = np.clip(np.arange(1, 255) - 126, LOWEST, HIGHEST) - LOWEST     # of the exponents of single precision
KINDS = ("weight", "grad", "update")
LIMITS = [*(-2.0 ** (e - 1) for e in range(HIGHEST, LOWEST - 1, -1)), 0.0, *(2.0 ** e for e in range(LOWEST, HIGHEST + 1))]


class Histograms:
    """Of the weights, gradients and updates of parameters."""

    def __init__(self) -> None:
        # (kind, name) -> [(step, counts, (least, greatest, count, sum, sum of squares))]
        self.found: dict[tuple[str, str], list[tuple[int, Any, tuple[float, ...]]]] = {}
        self.stride: dict[tuple[str, str], int] = {}
        self.seen: dict[tuple[str, str], int] = {}

    def add(self, kind: str, name: str, step: int, x: Any) -> None:
        """The histogram of an array at a step."""
        key = kind, name
        n = self.seen[key] = self.seen.get(key, -1) + 1
        if n % self.stride.setdefault(key, 1):
            return
        kept = self.found.setdefault(key, [])
        kept.append((step, *counted(x)))
        if len(kept) > MOST:
            del kept[1::2]
            self.stride[key] *= 2


def counted(x: Any) -> tuple[Any, tuple[float, ...]]:
    """(counts of 2 * OCTAVES + 1 bins, statistics) of the finite numbers of an array.

    Bins go from large negative numbers to 0 and on to large positive ones; that of octave e holds 2 ** (e - 1) <= |x| < 2 ** e.
    What single precision has no normal number for counts as 0.
    """
    flat = np.asarray(x).ravel()
    flat = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
    with np.errstate(over="ignore"):
        flat = np.ascontiguousarray(flat, np.float32)
        fields = np.bincount(flat.view(np.uint32) >> 23, minlength=512)         # by sign and exponent
        if fields[255] or fields[511]:
            flat = flat[np.isfinite(flat)]
        sums = float(flat.sum(dtype=np.float64)), float(np.dot(flat, flat))
    counts = np.zeros(2 * OCTAVES + 1, np.uint32)
    counts[OCTAVES] = fields[0] + fields[256]
    np.add.at(counts, OCTAVES + 1 + PLACE, fields[1:255].astype(np.uint32))
    np.add.at(counts, OCTAVES - 1 - PLACE, fields[257:511].astype(np.uint32))
    said = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    return counts, (*said, float(flat.size), *sums)
