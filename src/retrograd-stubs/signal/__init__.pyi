"""Where retrograd.signal is written.

Written by `make generate`.
"""
from retrograd._packages.signal import (
    windows as windows,
)
