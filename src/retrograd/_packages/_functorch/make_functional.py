"""torch._functorch.make_functional: names alone; torch.func.functional_call took their place."""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(__name__, "FunctionalModule FunctionalModuleWithBuffers",
         "combine_state_for_ensemble make_functional make_functional_with_buffers",
         why="PyTorch deprecates it; torch.func.functional_call and stack_module_state do what it does")
