"""Where retrograd._C._files is written.

Written by `make generate`.
"""
from retrograd._packages._C._files import (
    PyTorchFileReader as PyTorchFileReader,
)
