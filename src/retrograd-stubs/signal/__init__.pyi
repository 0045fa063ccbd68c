"""Where retrograd.signal is written.

Written by `make generate`.
"""
from retrograd._small_modules.signal import (
    windows as windows,
)
