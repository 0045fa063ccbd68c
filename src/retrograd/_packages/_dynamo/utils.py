"""What libraries ask torch._dynamo.utils."""
from __future__ import annotations

from retrograd._missing import late_names

late_names(__name__)


def is_compile_supported(device_type: str) -> bool:
    """False: functions are not compiled to machine code, on no device."""
    return False
