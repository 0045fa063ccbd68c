"""The symbolic functions of opset 11; an export would call them."""
from __future__ import annotations

from retrograd._missing import late_names

late_names(__name__)
