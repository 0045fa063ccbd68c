"""Where retrograd._ops is written.

Written by `make generate`.
"""
from retrograd._small_modules._ops import (
    BACKENDS as BACKENDS,
    BELOW as BELOW,
    Entry as Entry,
    OVERLOADS as OVERLOADS,
    OpOverload as OpOverload,
    OpOverloadPacket as OpOverloadPacket,
    _Context as _Context,
    _OpNamespace as _OpNamespace,
    _Ops as _Ops,
    _aten as _aten,
    _overload as _overload,
    below_autograd as below_autograd,
    dotted as dotted,
    ops as ops,
    registry as registry,
)
