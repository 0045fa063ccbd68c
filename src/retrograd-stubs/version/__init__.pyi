"""Where retrograd.version is written.

Written by `make generate`.
"""
from retrograd._packages.version import (
    PYTORCH as PYTORCH,
    TorchVersion as TorchVersion,
    __version__ as __version__,
    cuda as cuda,
    debug as debug,
    git_version as git_version,
    hip as hip,
    retrograd as retrograd,
    rocm as rocm,
    xpu as xpu,
)
