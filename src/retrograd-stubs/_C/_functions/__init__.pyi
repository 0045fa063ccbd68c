"""Where retrograd._C._functions is written.

Written by `make generate`.
"""
from retrograd._packages._C._functions import (
    AccumulateGrad as AccumulateGrad,
    DelayedError as DelayedError,
    Error as Error,
    UndefinedGrad as UndefinedGrad,
)
