"""torch.distributed.checkpoint.state_dict: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "StateDictOptions ",
    " get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict set_optimizer_state_dict "
    "set_state_dict ",
    "checkpoints are whole: one rank saves with torch.save, and all read it with torch.load")
