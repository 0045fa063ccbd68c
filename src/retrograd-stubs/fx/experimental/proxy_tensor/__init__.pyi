"""Where retrograd.fx.experimental.proxy_tensor is written.

Written by `make generate`.
"""
from retrograd._small_modules.fx.experimental.proxy_tensor import (
    get_proxy_mode as get_proxy_mode,
)
