"""torch._C._autograd: what programs about saved tensors use of it."""
from __future__ import annotations

from retrograd._engine.modes import state
from retrograd._tensor.nodes import SavedTensor as SavedTensor
from retrograd.autograd.graph import _pop_hooks as _pop_saved_tensors_default_hooks  # noqa: F401
from retrograd.autograd.graph import _push_hooks as _push_saved_tensors_default_hooks  # noqa: F401


def _saved_tensors_hooks_is_enabled() -> bool:
    """May saved_tensors_hooks be used?  Not inside disable_saved_tensors_hooks."""
    return state().pack_disabled is None
