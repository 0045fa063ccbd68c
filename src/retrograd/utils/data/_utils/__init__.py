"""torch.utils.data._utils, of which libraries import `collate` and `worker`."""
from __future__ import annotations

from . import collate as collate
from . import worker as worker
