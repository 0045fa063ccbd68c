"""Tensors from data: torch.tensor, as_tensor, from_numpy, ..."""

from __future__ import annotations

import builtins
import math
import operator
from functools import reduce
from typing import Any

import numpy as np

from .._engine import promote
from .._engine.tensor import TensorBase, wants_grad, wrap
from .._engine.warn import warn, warn_once
from .._rules import cast
from .._rules.index import check_number
from .._tensor import check_export, dtypes, warn_scalar
from .arguments import DOUBLE, flag
from .parsing import tensors_in

DEEPEST = 64                                                    # dimensions of a NumPy array
OVERFLOW = "Overflow when unpacking long long"
COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    """A copy of data (numbers, nested sequences, arrays) as a leaf.  Python floats give the default dtype.

    https://pytorch.org/docs/stable/generated/torch.tensor.html
    """
    if device is not None and dtypes.on_meta(device):
        return there(tensor(data, dtype=dtype, requires_grad=requires_grad))
    dtypes.check_device(device)
    if isinstance(data, TensorBase):
        warn(COPY_CONSTRUCT.format("torch.tensor"))
    return build(data, dtype, flag(requires_grad, "tensor", "requires_grad"))


def there(x: Any) -> Any:
    """x on the meta device."""
    from .meta import made

    return made(x.array.shape, x.array.dtype, wants_grad(x))


def build(data: Any, dtype: Any, requires_grad: bool) -> Any:
    want = None if dtype is None else dtypes.to_numpy(dtype, "tensor")
    return leaf(array_of(data, want).copy(), requires_grad)


def leaf(array: Any, requires_grad: bool) -> Any:
    out = wrap(array)
    if requires_grad:
        if out.array.dtype.kind not in "fcV":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out.rg = True
    return out


def sequence(data: Any, want: Any) -> Any:
    """array_of, of what torch.Tensor takes."""
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(data, "__getitem__") or isinstance(data, dict):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return array_of(data, want)


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Of the new tensor that torch.Tensor(*given) is."""
    for at, n in enumerate(given, 1):
        if not hasattr(n, "__index__"):
            raise TypeError(f"new(): argument 'size' failed to unpack the object at pos {at} with error \"type must be tuple of "
                            f"ints,but got {type(n).__name__}\"")
    to = tuple([operator.index(n) for n in given])
    if min(to) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {next(n for n in to if n < 0)}: {list(to)}")
    return to


def array_of(data: Any, want: Any) -> Any:
    """data as an array of a dtype we have: `want`, or the one PyTorch would infer."""
    if isinstance(data, TensorBase):
        array = data.array
        return array if want is None or want == array.dtype else convert(array, want)
    if isinstance(data, (np.ndarray, np.generic)):
        array = dtypes.canonical(np.asarray(data))
        check_strides(array)
        return array if want is None or want == array.dtype else convert(array, want)
    if isinstance(data, (bool, int, float, complex)):
        array = number_array(data, want)
    elif isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    elif hasattr(data, "__array__"):
        return array_of(np.asarray(data), want)
    else:
        array = dtypes.canonical(nested(data, want))
    if want is None:
        return array
    dtypes.check_fits(array, want, want.name)
    return convert(array, want)


def convert(array: Any, want: Any) -> Any:
    with np.errstate(all="ignore"):
        return cast.converted(array, want)


def number_array(x: Any, want: Any) -> Any:
    if isinstance(x, bool):
        return np.asarray(x)
    if isinstance(x, int):
        if not -2**63 <= x < 2**63:
            if want is not None and want.kind in "fcV":
                return np.asarray(float(x))
            raise ValueError(OVERFLOW)
        return np.asarray(x, np.int64)
    if isinstance(x, complex):
        refuse_complex(want)
        return convert(np.asarray(x), promote.number_dtype(x) if want is None else want)
    return convert(np.asarray(x, np.float64), dtypes.get_default_dtype().numpy if want is None else np.dtype(np.float64))


def refuse_complex(want: Any) -> None:
    """TypeError, Python's own, for complex numbers where real ones are wanted."""
    if want is not None and want.kind not in "cb":
        raise TypeError("must be real number, not complex" if want.kind in "fV" else
                        "'complex' object cannot be interpreted as an integer")


def nested(data: Any, want: Any) -> Any:
    """Nested sequences of numbers, tensors and arrays."""
    if isinstance(data, (dict, set)) or not hasattr(data, "__len__"):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    check_depth(data)
    check_regular(data, 0, depth_of(data), first(data))
    kinds: set[Any] = set()
    flat = plain(data, kinds)
    try:
        array = np.array(flat)
    except OverflowError:
        raise ValueError(OVERFLOW) from None
    if array.dtype == object and (any(map(promote.is_float, kinds)) if want is None else want.kind in "fV"):
        array = array.astype(np.float64)
    if array.dtype.kind == "c" and want is not None and want.kind not in "cb":
        numbers = [t.array.item() for t in tensors_in(data) if t.array.dtype.kind == "c"]
        if numbers and want.kind in "iu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        for number in numbers:
            check_number(number, DOUBLE)
        if not numbers or array.imag.any():
            refuse_complex(want)
        array = array.real
    if array.dtype.kind in "fcV" and want is None:
        return array.astype(reduce(promote.promote_types, kinds) if kinds else dtypes.get_default_dtype().numpy)
    if array.dtype == object:
        raise ValueError(OVERFLOW)
    if array.dtype.kind not in "fciubV":
        raise TypeError(f"new(): invalid data type '{type(first(data)).__name__}'")
    if array.dtype == np.uint64 and (want is None or want.kind not in "fcV"):
        raise ValueError(OVERFLOW)
    if array.dtype.kind == "i" and promote.INT in kinds:    # Python's numbers, which NumPy may hold in 32 bits
        return array.astype(np.int64, copy=False)
    return array


def first(data: Any) -> Any:
    for _ in builtin_range(DEEPEST):
        if not isinstance(data, (list, tuple)) or not data:
            break
        data = data[0]
    return data


def check_depth(data: Any) -> None:
    """ValueError for lists nested deeper than arrays go, such as one that holds itself."""
    for _ in builtin_range(DEEPEST + 1):
        if not isinstance(data, (list, tuple)) or not data:
            return
        data = data[0]
    raise ValueError(f"too many dimensions '{type(data).__name__}'")


def allot(to: tuple[int, ...], want: Any) -> Any:
    """Uninitialized memory; RuntimeError when there is not as much."""
    bytes_ = math.prod(to) * want.itemsize
    if bytes_ >= 2**63 or max(to, default=0) >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(to)}")
    try:
        return np.empty(to, want)
    except (MemoryError, ValueError):
        if len(to) > DEEPEST:
            raise RuntimeError(f"tensors have at most {DEEPEST} dimensions, not {len(to)}") from None
        raise too_big(bytes_) from None


def too_big(bytes_: int) -> RuntimeError:
    return RuntimeError(f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {bytes_} bytes.")


def check_room(to: tuple[int, ...], want: Any) -> None:
    """allot()'s errors, for what is about to be made."""
    if math.prod(to) * want.itemsize > 2**31 or len(to) > DEEPEST:
        allot(to, want)


def depth_of(data: Any) -> int:
    n = 0
    while isinstance(data, (list, tuple)):
        n += 1
        if not data:
            break
        data = data[0]
    return n + data.ndim if isinstance(data, np.ndarray) else n


def plain(data: Any, kinds: set[Any]) -> Any:
    """data as np.array() takes it; kinds gets the dtypes of the numbers."""
    if isinstance(data, (bool, int, float, complex)) and not isinstance(data, np.generic):
        kinds.add(promote.INT if type(data) is int else promote.number_dtype(data))     # an int of any size, beside floats
        return data
    if isinstance(data, TensorBase):
        if data.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if wants_grad(data):
            warn_scalar()
        kinds.add(data.array.dtype)
        return data.array.reshape(())[()]
    if isinstance(data, (list, tuple)):
        return [plain(x, kinds) for x in data]
    if isinstance(data, (np.ndarray, np.generic)):
        kinds.add(data.dtype)
        return data
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, dict)):
        return [plain(data[i], kinds) for i in builtin_range(len(data))]
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__index__"):
        return plain(int(data), kinds)
    if hasattr(data, "__float__"):
        return plain(float(data), kinds)
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def check_regular(data: Any, dim: int, ndim: int, scalar: Any) -> None:
    """PyTorch's error for sequences that are ragged, in length or in depth.  scalar: the first number in there."""
    if isinstance(scalar, str):
        raise ValueError("too many dimensions 'str'")
    if not isinstance(data, (list, tuple)) or not data:
        return
    if dim + 1 == ndim:                         # the last dimension: numbers
        if any(isinstance(x, (list, tuple)) for x in data):
            deep = next(type(x).__name__ for x in data if isinstance(x, (list, tuple)))
            some_float = isinstance(scalar, float) or any(isinstance(first(x), float) for x in data)
            raise TypeError(f"must be real number, not {deep}" if some_float else
                            f"'{deep}' object cannot be interpreted as an integer")
        return
    want = len(data[0]) if hasattr(data[0], "__len__") else 0
    for x in data:
        if not hasattr(x, "__len__") or (isinstance(x, TensorBase) and not x.array.ndim):
            raise TypeError("not a sequence")
        if len(x) != want:
            raise ValueError(f"expected sequence of length {want} at dim {dim + 1} (got {len(x)})")
        check_regular(x, dim + 1, ndim, scalar)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """data itself when it is a tensor of that dtype; the same memory for arrays; else a copy."""
    if device is not None and dtypes.on_meta(device):
        return there(as_tensor(data, dtype))
    dtypes.check_device(device)
    if isinstance(data, TensorBase):
        return data if dtype is None else data.to(dtype)  # type: ignore[attr-defined]
    want = None if dtype is None else dtypes.to_numpy(dtype, "as_tensor")
    return wrap(array_of(data, want))


UNSAID = (
    "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass requires_grad=False "
    "explicitly to get the old behavior and silence this warning.")

UNWRITABLE = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write to the "
    "underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to protect its data or make "
    "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program.")


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None,
) -> Any:
    """obj as a tensor, sharing memory where it can unless copy=True; ValueError where it cannot and copy=False.

    The bytes of a buffer (bytearray, array.array, ...) are those of the elements, of the default dtype unless said otherwise.
    """
    if device is not None and dtypes.on_meta(device):
        return there(asarray(obj, dtype=dtype, copy=copy, requires_grad=requires_grad))
    dtypes.check_device(device)
    want = None if dtype is None else dtypes.to_numpy(dtype, "asarray")
    found: Any
    if isinstance(obj, TensorBase):
        found = obj
        if requires_grad is None and wants_grad(obj) and not copy:
            warn_once(UNSAID)
        elif requires_grad is False:
            found = obj.detach()  # type: ignore[attr-defined]
    elif isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        found = wrap(array_of(obj, None).copy())
    elif isinstance(obj, np.ndarray):
        found = from_numpy(obj)
    elif type(obj).__name__ == "PyCapsule" or hasattr(obj, "__dlpack__"):
        found = from_dlpack(obj)
    elif (buffer := buffer_of(obj)) is not None:
        found = frombuffer(buffer, dtype=dtypes.get_default_dtype() if dtype is None else dtype)
    elif copy is False:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    else:
        return build(obj, dtype, bool(requires_grad))
    if want is not None and want != found.array.dtype:
        if copy is False:
            have = dtypes.of(found.array.dtype).scalar
            raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{dtypes.of(want).scalar}'.")
        found = found.to(dtype)
    elif copy:
        found = found.clone()
    return found.requires_grad_() if requires_grad else found


def buffer_of(obj: Any) -> Any:
    try:
        return memoryview(obj)
    except TypeError:
        return None


def from_numpy(ndarray: Any) -> Any:
    """A tensor on the memory of ndarray.  TypeError for dtypes that tensors lack, ValueError for negative strides."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {dtypes.typename(ndarray)})")
    array = dtypes.canonical(np.asarray(ndarray))
    check_strides(array)
    if not ndarray.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
            "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
            "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this "
            "program.")
    return wrap(array)


def check_strides(array: Any) -> None:
    """ValueError for negative strides, which no tensor has."""
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with array.copy().) ")


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor on the memory of ext_tensor, any object that speaks DLPack; copy=True: on memory of its own.

    BufferError for a tensor that requires grad or is conjugated.
    """
    dtypes.check_device(device)
    if isinstance(ext_tensor, TensorBase):
        check_export(ext_tensor)
        return ext_tensor.clone() if copy else ext_tensor.detach()  # type: ignore[attr-defined]
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = Capsule(ext_tensor)
        array = np.asarray(Writable(np.from_dlpack(ext_tensor)))
    else:
        array = np.from_dlpack(ext_tensor)
    array = dtypes.canonical(array)
    return wrap(array.copy() if copy or not array.flags.writeable else array)


class Capsule:
    """What __dlpack__ gave, as an object that has the method."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0                                         # the CPU


class Writable:
    """An array's memory without the read-only flag that NumPy gives all capsules of the first protocol, which has none."""

    def __init__(self, array: Any) -> None:
        self.array = array                                  # keeps the memory
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Any:
    """A 1-D tensor of count elements (-1: all) on the memory of a buffer, from byte offset on."""
    want = dtypes.to_numpy(dtype, "frombuffer")
    view = buffer_of(buffer)
    if view is None:
        raise ValueError("object does not implement Python buffer protocol.")
    length, size = view.nbytes, want.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1")
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})")
    if count > 0 and count * size > length - offset:
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater "
                         f"than actual buffer length ({length} bytes)")
    array = np.frombuffer(buffer, want, max(count, -1), offset)
    if not array.flags.writeable:
        warn_once(UNWRITABLE)
    return leaf(array if array.flags.writeable else array.copy(), requires_grad)


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A 0-dim tensor of one number, s, in the default dtype."""
    dtypes.check_device(device)
    dtypes.check_long(s)
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, "scalar_tensor")
    if type(s) is int and s >= 2**63:
        check_number(s, want)
        s = float(s)
    check_number(s.array.item() if isinstance(s, TensorBase) else s, want, False)
    return leaf(array_of(s, want).copy(), requires_grad)
builtin_range = builtins.range
