"""Batching rules: what a call inside vmap does with the values of all samples at once.  NOTE [Batches] in level.py"""
from __future__ import annotations

from . import custom, draws, indices, layers, pointwise, products, reductions, refused, shapes
from .level import Rule

RULES: dict[str, Rule] = {}
for _family in (pointwise, shapes, reductions, products, layers, indices, draws, refused, custom):
    RULES |= _family.RULES
