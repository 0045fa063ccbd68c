"""torch.fx.experimental.proxy_tensor, for programs that ask whether make_fx traces them: it is not there, so nothing does."""
from __future__ import annotations

from retrograd._missing import late_names

__all__ = ["get_proxy_mode"]
late_names(__name__)


def get_proxy_mode() -> None:
    """None: no trace is made."""
