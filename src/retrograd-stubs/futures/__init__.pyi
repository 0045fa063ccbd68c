"""Where retrograd.futures is written.

Written by `make generate`.
"""
from retrograd._packages.futures import (
    Future as Future,
    T as T,
    collect_all as collect_all,
    wait_all as wait_all,
)
