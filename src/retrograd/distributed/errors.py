"""What goes wrong between processes, under PyTorch's names."""
from __future__ import annotations


class DistError(RuntimeError):
    """An error between processes."""


class DistBackendError(DistError):
    """A collective failed or exceeded its timeout."""


class DistNetworkError(DistError):
    """A store could not be reached."""


class DistStoreError(DistError):
    """Keys that a process waited for did not arrive in a store in time."""


class QueueEmptyError(DistStoreError):
    """The queue of a store is empty."""


def of_backend(error: BaseException) -> BaseException:
    """The error to raise: DistBackendError with MPI's text for one of MPI's."""
    return DistBackendError(str(error)) if type(error).__module__ == "mpi4py.MPI" else error


for _error in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _error.__module__ = __package__                         # as PyTorch prints them
