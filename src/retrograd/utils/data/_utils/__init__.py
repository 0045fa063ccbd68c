"""torch.utils.data._utils, of which libraries import `collate`."""
from __future__ import annotations

from . import collate as collate
