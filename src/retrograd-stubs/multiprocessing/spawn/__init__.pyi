"""Where retrograd.multiprocessing.spawn is written.

Written by `make generate`.
"""
from retrograd._packages.multiprocessing.spawn import (
    ProcessContext as ProcessContext,
    ProcessException as ProcessException,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    _run as _run,
    spawn as spawn,
    start_processes as start_processes,
)
