"""torch._subclasses, of which libraries ask whether a tensor is a fake one."""
from __future__ import annotations

from retrograd._missing import late_names

from . import fake_tensor as fake_tensor

late_names(__name__)
