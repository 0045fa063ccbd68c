"""Where retrograd._dynamo.exc is written.

Written by `make generate`.
"""
from retrograd._packages._dynamo.exc import (
    BackendCompilerFailed as BackendCompilerFailed,
    FailOnRecompileLimitHit as FailOnRecompileLimitHit,
    InternalTorchDynamoError as InternalTorchDynamoError,
    InvalidBackend as InvalidBackend,
    RecompileError as RecompileError,
    TorchDynamoException as TorchDynamoException,
    TorchRuntimeError as TorchRuntimeError,
    Unsupported as Unsupported,
    UserError as UserError,
)
