"""torch.utils.model_zoo: the older name of torch.hub.load_state_dict_from_url."""
from __future__ import annotations

from importlib import import_module
from typing import Any

from .._missing import late_names

__all__ = ["load_url"]
late_names(__name__, also={"tqdm": lambda: import_module("retrograd.hub").tqdm})


def load_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = False,
) -> Any:
    """torch.hub.load_state_dict_from_url."""
    from ..hub import load_state_dict_from_url

    return load_state_dict_from_url(url, model_dir, map_location, progress, check_hash, file_name, weights_only)
