"""What the microscope raises."""
from __future__ import annotations


class CaptureError(RuntimeError):
    """Something asked of a capture that it cannot answer: no backward yet, no batch dimension, unknown loss."""


class UncoveredError(CaptureError):
    """A quantity over parameters of which some are not covered: the message names each, with the reason."""


class StoreError(RuntimeError):
    """A factor store that cannot be opened, read or written."""
