"""torch.distributed.checkpoint: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "FileSystemReader FileSystemWriter LoadPlan SavePlan ",
    " load load_state_dict save save_state_dict ",
    "checkpoints are whole: one rank saves with torch.save, and all read it with torch.load")
