"""What goes wrong between processes, under PyTorch's names."""
from __future__ import annotations


class DistError(RuntimeError):
    """Something went wrong between processes."""


class DistBackendError(DistError):
    """A collective failed or took longer than its timeout."""


class DistNetworkError(DistError):
    """A store could not be reached."""


class DistStoreError(DistError):
    """A store did not get the keys that somebody waited for."""


class QueueEmptyError(DistStoreError):
    """A store's queue has nothing to give."""


for _error in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _error.__module__ = __package__                         # as PyTorch prints them
