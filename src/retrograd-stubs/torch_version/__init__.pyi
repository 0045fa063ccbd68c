"""Where retrograd.torch_version is written.

Written by `make generate`.
"""
from retrograd._packages.torch_version import (
    TorchVersion as TorchVersion,
    __version__ as __version__,
)
