"""torch._dynamo.exc: errors that programs catch."""
from __future__ import annotations

__all__ = ["BackendCompilerFailed", "FailOnRecompileLimitHit", "InternalTorchDynamoError", "InvalidBackend", "RecompileError",
           "TorchDynamoException", "TorchRuntimeError", "Unsupported", "UserError"]


class TorchDynamoException(RuntimeError):
    """The base of them."""


class InvalidBackend(TorchDynamoException):
    """A backend of that name is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class Unsupported(TorchDynamoException):
    """fullgraph=True, and a call cannot be replayed."""


class InternalTorchDynamoError(TorchDynamoException):
    """Never raised."""


class TorchRuntimeError(TorchDynamoException):
    """Never raised: a call raises its own error."""


class BackendCompilerFailed(TorchDynamoException):
    """Never raised."""


class UserError(Unsupported):
    """Never raised."""


class RecompileError(TorchDynamoException):
    """Never raised."""


class FailOnRecompileLimitHit(Exception):
    """Never raised."""
