"""Where retrograd.ao.quantization is written.

Written by `make generate`.
"""
from retrograd._packages.ao.quantization import (
    DeQuantStub as DeQuantStub,
    FakeQuantizeBase as FakeQuantizeBase,
    ObserverBase as ObserverBase,
    QuantStub as QuantStub,
    _PartialWrapper as _PartialWrapper,
    _with_args as _with_args,
)
