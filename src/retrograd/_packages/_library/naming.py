"""How PyTorch makes names of nodes from those of operators, read backwards."""
from __future__ import annotations

import re

WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def plain(kind: str) -> str:
    """'NativeLayerNormBackward0' -> 'native_layer_norm'"""
    return WORD.sub("_", re.sub(r"Backward\d+$", "", kind)).lower()
