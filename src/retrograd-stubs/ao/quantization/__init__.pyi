"""Where retrograd.ao.quantization is written.

Written by `make generate`.
"""
from retrograd._small_modules.ao.quantization import (
    DeQuantStub as DeQuantStub,
    QuantStub as QuantStub,
)
