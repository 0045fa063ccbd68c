"""Where retrograd.amp.autocast_mode is written.

Written by `make generate`.
"""
from retrograd._packages.amp.autocast_mode import (
    KINDS as KINDS,
    NO_CUDA as NO_CUDA,
    UNABLE as UNABLE,
    _cast as _cast,
    _check as _check,
    autocast as autocast,
    autocast_decorator as autocast_decorator,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    is_autocast_available as is_autocast_available,
)
