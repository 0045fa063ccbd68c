"""The memory that a tensor shows: strides, storage, and taking other memory.

tensor                         another tensor
sizes                          lengths of the dimensions
storage_offset                 where in the storage the first element is
size                           lengths of the dimensions
stride                         steps of the dimensions, in elements
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.mirror import behind, bits_of, conjugate, depths, join, mirror_of, negative, plain_of, turned
from .._engine.modes import inference_on, state
from .._engine.op import recording
from .._engine.tensor import TensorBase, bump, shared_version, wants_grad
from .._engine.views import address, guard, rebase
from .._rules.arith import NotImplemented_
from .._tensor.dtypes import check_format
from .._tensor.owner import owner
from .arguments import dim_of, integer, long, refused, shape_of
from .fromdata import allot
from .parsing import StorageBase


def stride(input: Any, dim: int | None = None, *, axis: int | None = None) -> Any:
    """Steps in elements from one index to the next, per dimension."""
    dim = axis if dim is None else dim
    steps = steps_of(input.array)
    return steps if dim is None else steps[dim_of(integer(dim, "stride", position=1), input.array.ndim)]


def steps_of(array: Any) -> tuple[int, ...]:
    """Strides in elements; those of C order for an empty array, for which NumPy's mean nothing."""
    if array.size:
        return tuple(s // array.itemsize for s in array.strides)
    return c_order(array.shape)


def c_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements, in C order."""
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


def storage_offset(input: Any) -> int:
    """Elements between the start of the memory block and the first element."""
    shift, memory = home(input)
    return int((address(input.array) + shift - address(owner(memory))) // input.array.itemsize)


def data_ptr(input: Any) -> int:
    """Memory address of the first element."""
    return int(address(input.array) + home(input)[0])


def home(x: Any) -> tuple[int, Any]:
    """Bytes from x's array to where PyTorch has it, and an array in that memory: NOTE [Lazy conjugates] in _engine/mirror.py"""
    if x.version is None or not x.version.mirrors:
        return 0, x.array
    return depths(x.version.mirrors, x.array)[0], plain_of(x.version.mirrors, x.array)


def untyped_storage(input: Any) -> Any:
    """The block of memory that this tensor and its views show, as bytes: a torch.UntypedStorage."""
    from ..storage import UntypedStorage, raw
    return UntypedStorage(raw(home(input)[1]))


def storage(input: Any) -> Any:
    """The same block as numbers of its dtype: a torch.TypedStorage, which PyTorch has deprecated."""
    from ..storage import of
    return of(input)


def storage_type(input: Any) -> Any:
    """The class of storage that its dtype has: torch.FloatStorage, say."""
    from ..storage import LEGACY, TypedStorage
    return next((cls for cls in LEGACY.values() if cls.dtype is input.dtype), TypedStorage)


def is_set_to(input: Any, tensor: Any) -> bool:
    """Do both show the same memory in the same way?"""
    a, b = input.array, tensor.array
    return bool(address(a) == address(b) and a.shape == b.shape and steps_of(a) == steps_of(b))


SET = ("()", "(torch.Storage source)",
       "(torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)", "(Tensor source)",
       "(Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)")


def set_(input: Any, source: Any = None, storage_offset: int | None = None, size: Any = None, stride: Any = None) -> Any:
    """Show the memory of `source` from now on, a tensor or a storage: all of it, or from an offset on a size with strides."""
    if source is not None and size is None and storage_offset is not None:
        raise refused("set_", (source, storage_offset), *SET)
    storage_offset = long(storage_offset or 0)
    for word, values in (("size", size), ("stride", stride)):
        for i, n in enumerate(values or ()):
            if not -2**63 <= n < 2**63:
                raise TypeError(f"set_(): argument '{word}' failed to unpack the object at pos {i + 1} with error "
                                '"Overflow when unpacking long long"')
    if source is None:
        array = np.empty(0, input.array.dtype)
    elif isinstance(source, StorageBase):
        array = shown(source, input.dtype, storage_offset, size, stride, input.dtype.ctype)
    elif not hasattr(source, "array"):
        raise refused("set_", (source,), *SET)
    else:
        if source.array.dtype != input.array.dtype:
            raise RuntimeError(f"Could not set tensor of type {source.dtype.ctype} to a tensor of type {input.dtype.ctype}")
        mirrors = None if source.version is None else source.version.mirrors
        array = behind(mirrors, source.array) if mirrors else source.array
        if size is not None:
            if not array.flags.c_contiguous:
                raise RuntimeError("passed in tensor to be used as storage must be contiguous")
            start = source.storage_offset() + storage_offset
            array = shown(untyped_storage(source), input.dtype, start, size, stride)
    other = source if isinstance(source, TensorBase) else None
    mine, its = recording(input), other is not None and recording(other)
    guard(input, mine or its)
    node = None
    if mine or its:
        node = NotImplemented_("set_")
        node.link(input, other, input if mine else None, other if its else None)
    place(input, turned_as(input, array, other))
    if node is not None:
        rebase(input, node)
    return input


def turned_as(x: Any, array: Any, source: Any) -> Any:
    """`array`, of the tensor `source` if any, as x shows its memory: conjugated, negated, or as it is."""
    conj, neg = bits_of(x)
    if conj or neg:
        mirrors = [] if source is None else shared_version(source).mirrors or []
        if source is not None:
            source.version.mirrors = mirrors
        array = turned(mirrors, array, conjugate) if conj else array
        array = turned(mirrors, array, negative) if neg else array
        join(x.version, mirrors)
    elif source is not None and source.version is not None:
        join(shared_version(x), source.version.mirrors)
    return array


def place(input: Any, array: Any) -> None:
    """Show `array` from now on: an edit in place."""
    input.array = array
    if input.sink is not None:
        input.sink.array = array
    if not input.inference:
        bump(input)


def shown(source: Any, dtype: Any, offset: int = 0, size: Any = None, stride: Any = None, word: str = "") -> Any:
    """An array of `dtype` (`word` in errors) over a storage: from `offset` elements on, of a size and strides in elements."""
    if getattr(source, "dtype", None) not in (None, dtype):
        raise RuntimeError(f"Expected a Storage of type {word or dtype.scalar} or an UntypedStorage, but got type "
                           f"{source.dtype.scalar} for argument 1 'storage'")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    block, step = source.untyped()._block, dtype.numpy.itemsize
    size = (block.size // step - offset,) if size is None else tuple(size)
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    stride = tuple(stride or c_order(size))
    if len(stride) != len(size):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    need = offset + sum((n - 1) * s for n, s in zip(size, stride)) + 1
    if any(s < 0 for s in stride) or (0 not in size and need * step >= 2**63):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if 0 not in size and need * step > block.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {step} requiring a "
            f"storage size of {need * step} are out of bounds for storage of size {block.size}")
    return np.ndarray(size, dtype.numpy, block, 0 if 0 in size else offset * step, tuple(s * step for s in stride))


def resize_(input: Any, *sizes: Any, memory_format: Any = None) -> Any:
    """Change the shape in place: the memory in C order from the first element on.  What comes to it is uninitialized.

    Where the memory is too short, it moves, and other tensors that showed it keep the old one.  RuntimeError when it requires
    grad.
    """
    to = shape_of(sizes)
    if wants_grad(input) and not inference_on():
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in to) or math.prod(to) >= 2**63:
        raise RuntimeError("numel: integer multiplication overflow")
    if math.prod(n or 1 for n in to[1:]) >= 2**63:
        raise RuntimeError("Stride calculation overflowed")
    check_format(memory_format, len(to))
    resizes = to != input.array.shape
    if state().transform or (resizes and input.inference):
        guard(input, False)
    if resizes:
        place(input, mirrored(input, resized(input.array, to)))
    return input


def mirrored(input: Any, array: Any) -> Any:
    """An array of what `array` shows that is conjugated or negated as input is, where its memory is new."""
    turns = [turn for bit, turn in zip(bits_of(input), (conjugate, negative)) if bit]
    if not turns or mirror_of(input.version.mirrors, array) is not None:
        return array
    for turn in turns:
        array = turn(array)
    for turn in turns:
        array = turned(input.version.mirrors, array, turn)
    return array


def resized(x: Any, to: tuple[int, ...]) -> Any:
    """An array of shape `to` from x's first element on, in a longer copy of the memory where that is too short."""
    root = owner(x)
    if not root.flags.c_contiguous:
        root = root.T if root.flags.f_contiguous else np.ascontiguousarray(x)
    at = address(x) - address(root) if np.may_share_memory(x, root) else 0
    need = at + x.itemsize * math.prod(to)
    if need > root.nbytes:
        allot(to, x.dtype)                      # its errors
        longer = np.empty(need, np.uint8)
        longer[:root.nbytes] = np.ndarray(root.nbytes, np.uint8, root)
        root = longer
    return np.ndarray(to, x.dtype, root, at)
