"""torch.utils.data._utils.collate: what retrograd.utils.data.collate has."""
from __future__ import annotations

from ..collate import collate as collate
from ..collate import default_collate as default_collate
from ..collate import default_collate_fn_map as default_collate_fn_map
from ..collate import default_convert as default_convert
