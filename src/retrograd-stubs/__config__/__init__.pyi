"""Where retrograd.__config__ is written.

Written by `make generate`.
"""
from retrograd._packages.__config__ import (
    parallel_info as parallel_info,
    show as show,
)
