"""What the microscope raises."""
from __future__ import annotations


class CaptureError(RuntimeError):
    """A capture cannot answer what was asked: no backward yet, no batch dimension, unknown loss."""


class UncoveredError(CaptureError):
    """A quantity was asked over parameters not all covered: the message names each, with the reason."""


class StoreError(RuntimeError):
    """A factor store that cannot be opened, read or written."""
