"""Where retrograd._ops is written.

Written by `make generate`.
"""
from retrograd._packages._ops import (
    BACKENDS as BACKENDS,
    BELOW as BELOW,
    Entry as Entry,
    FAKING as FAKING,
    FakeImplCtx as FakeImplCtx,
    INTERNAL as INTERNAL,
    OVERLOADS as OVERLOADS,
    OpOverload as OpOverload,
    OpOverloadPacket as OpOverloadPacket,
    WITHIN as WITHIN,
    _Context as _Context,
    _OpNamespace as _OpNamespace,
    _Ops as _Ops,
    _aten as _aten,
    _cast as _cast,
    _convolution_backward as _convolution_backward,
    _index as _index,
    _overload as _overload,
    _refused as _refused,
    _safe_softmax as _safe_softmax,
    _slice as _slice,
    _to_copy as _to_copy,
    _within as _within,
    below_autograd as below_autograd,
    dotted as dotted,
    ops as ops,
    registry as registry,
)
