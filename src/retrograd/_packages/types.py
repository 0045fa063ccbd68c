"""torch.types: names for annotations."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias, Union

from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import device as _device
from retrograd._tensor.dtypes import dtype as _dtype  # noqa: F401
from retrograd._tensor.dtypes import layout as _layout  # noqa: F401
from retrograd._tensor.size import Size

__all__ = ["Device", "FileLike", "Number"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
BoolLikeType: TypeAlias = bool
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize: TypeAlias = Size | Sequence[int]
_Number = (int, float, bool)
_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = Union[Tensor, Sequence[Tensor], Any]
late_names(__name__)
