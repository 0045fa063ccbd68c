"""torch._functorch.python_key: the name of make_fx."""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(__name__, "", "make_fx", why="operations below functions are not traced; torch.fx.symbolic_trace traces functions")
