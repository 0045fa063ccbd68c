"""torch.torch_version: the class of torch.__version__."""
from __future__ import annotations

from retrograd._missing import late_names
from retrograd.version import TorchVersion as TorchVersion
from retrograd.version import __version__ as __version__

__all__ = ["TorchVersion"]
late_names(__name__)
TorchVersion.__module__ = __name__
