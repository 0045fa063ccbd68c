"""Where retrograd.fx.experimental.proxy_tensor is written.

Written by `make generate`.
"""
from retrograd._packages.fx.experimental.proxy_tensor import (
    flat as flat,
    get_proxy_mode as get_proxy_mode,
    make_fx as make_fx,
    refuse as refuse,
)
