"""torch.distributed.elastic.multiprocessing.errors: record, which programs for torchrun put before their main function."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from retrograd._missing.unshared import unshared

unshared(__name__, "ChildFailedError ProcessFailure", "get_error_handler", "launchers show the tracebacks of ranks and name them")


def record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """fn: an error that it raises is shown by whoever started the rank, without a file for it."""
    @wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return run
