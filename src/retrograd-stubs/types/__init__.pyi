"""Where retrograd.types is written.

Written by `make generate`.
"""
from retrograd._packages.types import (
    BoolLikeType as BoolLikeType,
    Device as Device,
    FileLike as FileLike,
    FloatLikeType as FloatLikeType,
    IntLikeType as IntLikeType,
    Number as Number,
    _Number as _Number,
    _TensorOrTensors as _TensorOrTensors,
    _TensorOrTensorsOrGradEdge as _TensorOrTensorsOrGradEdge,
    _bool as _bool,
    _bytes as _bytes,
    _complex as _complex,
    _float as _float,
    _int as _int,
    _size as _size,
    _str as _str,
    _symsize as _symsize,
)
