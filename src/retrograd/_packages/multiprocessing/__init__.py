"""torch.multiprocessing: Python's multiprocessing, where tensors in shared memory stay shared as they are sent.

A tensor is in shared memory after share_memory_() (a module's, after share_memory()); others are sent as copies.
https://pytorch.org/docs/stable/multiprocessing.html
"""
from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403
from typing import TYPE_CHECKING, Any

from retrograd._missing import late_names
from retrograd.multiprocessing import reductions
from retrograd.multiprocessing.spawn import ProcessContext as ProcessContext
from retrograd.multiprocessing.spawn import ProcessExitedException as ProcessExitedException
from retrograd.multiprocessing.spawn import ProcessRaisedException as ProcessRaisedException
from retrograd.multiprocessing.spawn import SpawnContext as SpawnContext
from retrograd.multiprocessing.spawn import spawn as spawn
from retrograd.multiprocessing.spawn import start_processes as start_processes

if TYPE_CHECKING:
    from multiprocessing import Array as Array
    from multiprocessing import Barrier as Barrier
    from multiprocessing import BoundedSemaphore as BoundedSemaphore
    from multiprocessing import Condition as Condition
    from multiprocessing import Event as Event
    from multiprocessing import JoinableQueue as JoinableQueue
    from multiprocessing import Lock as Lock
    from multiprocessing import Manager as Manager
    from multiprocessing import Pipe as Pipe
    from multiprocessing import Pool as Pool
    from multiprocessing import Process as Process
    from multiprocessing import Queue as Queue
    from multiprocessing import RLock as RLock
    from multiprocessing import Semaphore as Semaphore
    from multiprocessing import SimpleQueue as SimpleQueue
    from multiprocessing import Value as Value
    from multiprocessing import active_children as active_children
    from multiprocessing import cpu_count as cpu_count
    from multiprocessing import current_process as current_process
    from multiprocessing import freeze_support as freeze_support
    from multiprocessing import get_context as get_context
    from multiprocessing import get_logger as get_logger
    from multiprocessing import get_start_method as get_start_method
    from multiprocessing import set_start_method as set_start_method

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy"]
__all__ += multiprocessing.__all__
late_names(__name__)
reductions.init_reductions()
_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """How tensors may be shared."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """How tensors are shared, as far as programs ask: always by descriptors."""
    return _strategy


def set_sharing_strategy(new_strategy: Any) -> None:
    """Accepted, as programs set it against limits of descriptors."""
    global _strategy
    known = get_all_sharing_strategies()
    assert new_strategy in known, f"invalid sharing strategy {new_strategy!r}, expected one of {known}"
    _strategy = new_strategy
