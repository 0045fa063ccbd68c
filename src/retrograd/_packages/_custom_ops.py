"""torch._custom_ops: what torch.library was, of which libraries use get_ctx() and impl_abstract()."""
from __future__ import annotations

from retrograd._missing import late_names
from retrograd.library import get_ctx as get_ctx
from retrograd.library import impl_abstract as impl_abstract

late_names(__name__)
