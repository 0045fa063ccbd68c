"""torch.ao, of which libraries use quantization's stubs."""
from __future__ import annotations

from retrograd._missing import late_names

late_names(__name__, lazy=("quantization",))
