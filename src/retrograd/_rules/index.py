"""The index language: x[...] and x[...] = value.

As in PyTorch, `x[1, :, mask]` is a chain: select, slice and unsqueeze views for what is basic, then one gather for the
tensors.
"""
from __future__ import annotations

import operator
from typing import Any, Final

import numpy

from .._engine import names
from .._engine.modes import modes
from .._engine.node import Array, Node, Shape, Value
from .._engine.op import edge, recording, shown, watch
from .._engine.region import address
from .._engine.tensor import TensorBase, bump, wants_grad
from .._engine.views import guard, separate
from .._engine.warn import instead, warn, warn_discarded
from .._kernels import kernel

np: Final[Any] = numpy
LONG: Final[Any] = numpy.dtype("int64")
quick_bounds: Final[Any] = kernel("bounds")
as_index: Final[Any] = operator.index
EXACT: Final = 1 << 53          # integers below are numbers of every wide float
LARGE: Final = 3.4e38           # numbers below are finite in every wide float


def getitem(x: Value, where: Any) -> Value:
    if not isinstance(x, TensorBase):
        return x[where]
    kind = type(where)
    if kind is int:
        return select(x, 0, where)
    if kind is slice:
        return slice_dim(x, 0, where, True)
    if isinstance(where, TensorBase) and where.array.dtype is LONG and where.array.ndim and x.array.ndim:
        rows = indexed.IndexBackward0(bounded((where.array,), x.array.shape))
        watch(rows, where)
        return rows.run(x)
    x, rest = basic(x, where, False)
    if rest is None:
        return x
    op = indexed.IndexBackward0(bounded(rest, x.array.shape))
    watch_all(op, where)
    return op.run(x)


def watch_all(node: Node, where: Any) -> None:
    """watch() the tensors of an index as the user wrote it."""
    if isinstance(where, TensorBase):
        watch(node, where)
    elif isinstance(where, (tuple, list)):
        for w in where:
            if isinstance(w, TensorBase) and w.array.ndim:
                watch(node, w)


def setitem(x: TensorBase, where: Any, value: Value) -> None:
    """x[where] = value, a Tensor or a number"""
    if written(x, where, value):
        return
    if not isinstance(value, TensorBase) and not isinstance(value, (int, float, complex, np.integer)):
        raise unassignable(x, value)
    if not isinstance(value, TensorBase):
        check_number(value, x.array.dtype, False)
    if where is Ellipsis:
        assign(x, value)
    elif type(where) is int:
        assign(select(x, 0, where), value)
    elif type(where) is slice:
        assign(slice_dim(x, 0, where, False), value)
    elif where is True:
        assign(shape.unsqueeze(x, 0), value)
    elif where is not False:
        part, rest = basic(x, where, True, fills_bytes(where, value))
        if rest is None:
            assign(part, value)
        else:
            assign_at(part, rest, value, where)


def written(x: TensorBase, where: Any, value: Value) -> bool:
    """x[where] = value by NumPy, where that is the same and nothing is recorded; else False, and nothing is changed."""
    if not modes.usual or modes.observer is not None or x.inference or wants_grad(x):
        return False
    into: Array = x.array
    number = value
    own = False
    if isinstance(value, TensorBase):
        number = value.array
        own = value.version is not None and value.version is x.version
        if number.dtype is not into.dtype or (own and number.size != 1) or wants_grad(value):
            return False
    elif not goes_into(value, into.dtype):
        return False
    at = numpys(where, own)
    if at is None or 0 in into.strides:         # an element that is shown twice may be refused
        return False
    try:
        into[at] = number
    except (IndexError, TypeError, ValueError, OverflowError):      # told in PyTorch's words by whoever goes on
        return False
    bump(x)
    return True


def goes_into(number: Any, dtype: Any) -> bool:
    """Is it a Python number that NumPy stores in this dtype as PyTorch does?"""
    wide: bool = dtype.kind == "f" and dtype.itemsize > 2
    if type(number) is int:
        return dtype.kind == "i" or (wide and -EXACT < number < EXACT)
    return wide and type(number) is float and -LARGE < number < LARGE


def numpys(where: Any, basics: bool) -> Any:
    """The index for NumPy, None where the two may differ: an int beside a tensor counts as a tensor in NumPy.

    `basics`: None for tensors, too, but masks and those without dims.
    """
    if type(where) is not tuple:
        at = numpy_index(where)
        return None if basics and isinstance(at, np.ndarray) and at.dtype.kind != "b" else at
    ints = 0
    arrays = 0
    items: list[Any] = []
    for item in where:
        at = numpy_index(item)
        if at is None:
            return None
        if isinstance(at, np.ndarray):
            arrays += 1
        elif not isinstance(at, slice):
            ints += 1
        items.append(at)
    return None if arrays and (ints or basics) else tuple(items)


def numpy_index(item: Any) -> Any:
    if type(item) is int or (type(item) is slice and item.step is None and is_plain(item.start) and is_plain(item.stop)):
        return item
    if not isinstance(item, TensorBase):
        return None
    array: Array = item.array
    if array.ndim == 0:
        return array.item() if array.dtype.kind == "i" else None
    fits = array.dtype.kind == "b" or array.dtype.itemsize == 8 and array.dtype.kind == "i"
    return array.copy() if fits else None               # NOTE [Indices of our own]


def unassignable(x: TensorBase, value: Any) -> Exception:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return TypeError(f"can't assign a {name} to a {names.TENSOR.get(x.array.dtype.name, 'torch.Tensor')}")


def fills_bytes(where: Any, value: Value) -> bool:
    """Does a single number go to a single mask of uint8?  That is refused, where other indices of uint8 are warned of."""
    found = False
    for w in where if isinstance(where, tuple) else (where,):
        if isinstance(w, TensorBase):
            if w.array.ndim:
                if found or w.array.dtype != np.uint8:
                    return False
                found = True
        elif isinstance(w, (list, np.ndarray)):
            return False
    return found and (not isinstance(value, TensorBase) or value.array.size == 1)


def refuse_bytes(where: Any, value: Value) -> None:
    if fills_bytes(where, value):
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")


FIXED: Final = {
    "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t", "float32": "float",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float64": "double"}
TOP: Final = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def check_number(value: Any, dtype: Any, halves: bool = True) -> None:
    """RuntimeError when a Python number does not fit into dtype.  (uint8 may wrap once; not `halves`: those become inf.)
    """
    kind = dtype.kind
    if isinstance(value, complex) and kind not in "cb":
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {FIXED.get(dtype.name, dtype.name)} without overflow")
        value = value.real
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << (64 if halves else 63):
        raise ValueError("Overflow when unpacking long long")
    if kind == "f" or kind == "V":
        if dtype.itemsize == 8 or (dtype.itemsize == 2 and not halves) or value != value or value - value != 0:
            return
        top: Any = TOP["float32" if dtype.itemsize == 4 else "float16" if kind == "f" else "bfloat16"]
        if -top <= value <= top:
            return
    elif kind == "c" and dtype.itemsize == 8:
        for part in (value.real, value.imag):
            if abs(part) > TOP["float32"] and part - part == 0:
                raise RuntimeError("value cannot be converted to type c10::complex<float> without overflow")
        return
    elif kind == "i" or kind == "u":
        info = np.iinfo(dtype)
        if (-info.max if kind == "u" and not isinstance(value, float) else info.min) <= value <= info.max:
            return
    else:
        return
    raise RuntimeError(f"value cannot be converted to type {FIXED[dtype.name]} without overflow")


def check_fill(value: Any, dtype: Any, size: int) -> None:
    """check_number of what is written into `size` elements: PyTorch lets a single one of 16 bits become inf."""
    check_number(value, np.dtype(np.float64) if size == 1 and dtype.itemsize == 2 and dtype.kind in "fV" else dtype)


def without_lead(value: TensorBase) -> Value:
    """value without its leading dims of size 1."""
    sizes: Shape = value.array.shape
    lead = 0
    while lead < len(sizes) and sizes[lead] == 1:
        lead += 1
    return shape.reshape(value, sizes[lead:]) if lead else value


def assign_at(part: TensorBase, rest: Any, value: Value, where: Any) -> None:
    """part at index tensors = value; `where` is what the user wrote."""
    sizes: Shape = part.array.shape
    one = not isinstance(value, TensorBase) or value.array.size == 1
    masks = [w for w in rest if isinstance(w, np.ndarray)]
    filling = one and len(masks) == 1 and masks[0].dtype.kind == "b"
    if part.rg or part.origin is not None:
        guard(part, recording(part))            # before an index is wrong
    if isinstance(value, TensorBase):
        if not filling and value.version is part.version and value.version is not None:
            separate(part, value)
        if value.array.ndim > 1:
            value = without_lead(value)
        if filling and value.array.dtype.kind == "c":
            check_number(value.array.item(), part.array.dtype)
        rest = bounded(rest, sizes, value, part.array.dtype)
        if isinstance(value, TensorBase) and not filling and value.array.dtype != part.array.dtype:
            check_value(value, np.broadcast_to(np.zeros((), np.bool_), sizes)[rest].shape, part.array.dtype)
    else:
        rest = bounded(rest, sizes)
    if filling:
        refuse_bytes(where, value)
    op = indexed.IndexPutBackward0(rest, False)
    watch_all(op, where)
    op.run_(part, value)


def assign(part: TensorBase, value: Value) -> None:
    """A value of part's shape is copied, a single number fills, anything else is expanded first."""
    have: Shape = part.array.shape
    if not isinstance(value, TensorBase):
        if have:
            fill_(part, value)
        else:
            copy_(part, value)
        return
    warn_discarded(value.array.dtype, part.array.dtype)
    sizes: Shape = value.array.shape
    if sizes == have:
        copy_(part, value)
        return
    if not sizes:
        fill_(part, value)
        return
    value = without_lead(value)
    sizes = value.array.shape
    if sizes == have:
        copy_(part, value)
        return
    n = len(have) - len(sizes)
    for i in range(len(sizes)):
        if n < 0 or (sizes[i] != have[i + n] and sizes[i] != 1):
            if recording(value):
                edge(value)                     # a view whose history is invalid says so first
            raise expand_error(have, sizes, names.SHOWN[value.array.dtype.name])
    copy_(part, shape.expand(value, have))


def copy_(a: TensorBase, b: Value) -> TensorBase:
    """b (Tensor, array or number) into a's memory, cast and broadcast."""
    node = create.CopyBackwards()
    x: Array = a.array
    if 0 in x.strides and isinstance(b, TensorBase):
        y: Array = b.array
        node.itself = x.shape == y.shape and x.strides == y.strides and x.dtype is y.dtype and address(x) == address(y)
    return node.run_(a, b)


def fill_(a: TensorBase, b: Value) -> TensorBase:
    """b, a 0-dim Tensor or a number, in every element of a."""
    return create.FillBackward3().run_(a, b)


def expand_error(want: Shape, have: Shape, kind: str = "torch.FloatTensor") -> RuntimeError:
    """What PyTorch says when `have` does not expand to `want`."""
    n = len(want) - len(have)
    if n < 0:
        return RuntimeError(
            f"expand({kind}{{{list(have)}}}, size={list(want)}): the number of sizes provided "
            f"({len(want)}) must be greater or equal to the number of dimensions in the tensor ({len(have)})")
    for i in range(len(have) - 1, -1, -1):
        if have[i] != want[i + n] and have[i] != 1:
            return RuntimeError(
                f"The expanded size of the tensor ({want[i + n]}) must match the existing size ({have[i]}) at "
                f"non-singleton dimension {i + n}.  Target sizes: {list(want)}.  Tensor sizes: {list(have)}")
    return RuntimeError(f"cannot expand {list(have)} to {list(want)}")


ZERO_DIM: Final = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number")


def select(x: Value, dim: int, at: int, place: int = -1) -> Value:
    """x[at] along dim; errors call the dim `place`, if given: as in PyTorch, which index it was."""
    sizes: Shape = x.array.shape if isinstance(x, TensorBase) else x.shape
    if len(sizes) == 0:
        if at != 0:
            raise IndexError(f"index {at} is out of bounds for dimension 0 with size 0")
        raise IndexError(ZERO_DIM)
    if dim >= len(sizes):
        raise out_of_range(dim, len(sizes))
    n = sizes[dim]
    if at >= n or at < -n:
        if not -(1 << 63) <= at < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(
            f"index {at} is out of bounds for dimension {dim if place < 0 else place} with size {n}")
    if dim == 0 and isinstance(x, TensorBase) and modes.observer is None and not recording(x):
        return shown(x, x.array[at, ...])       # no node to make
    return slices.SelectBackward0(dim, at + n if at < 0 else at).run(x)


def slice_dim(x: Value, dim: int, s: Any, always: bool) -> Value:
    """x sliced along one dim; a slice of everything gives x itself unless `always`."""
    sizes: Shape = x.array.shape
    if len(sizes) == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if (always and dim == 0 and s.step is None and is_plain(s.start) and is_plain(s.stop) and modes.observer is None
            and not recording(x)):
        return shown(x, x.array[s])             # NumPy cuts the bounds as PyTorch does
    step = 1 if s.step is None else whole(s.step)
    if step <= 0:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    if dim >= len(sizes):
        raise out_of_range(dim, len(sizes))
    n = sizes[dim]
    first = 0 if s.start is None else whole(s.start)
    last = n if s.stop is None else whole(s.stop)
    if not always and first == 0 and last >= n and step == 1:
        return x
    start, stop, _ = slice(first, last, step).indices(n)
    return slices.SliceBackward0(dim, start, max(stop, start), step).run(x)


def is_plain(bound: Any) -> bool:
    return bound is None or type(bound) is int


def out_of_range(dim: int, n: int) -> IndexError:
    return IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")


def whole(x: Any) -> int:
    """An index number: int, NumPy integer or 0-dim integer tensor."""
    if isinstance(x, TensorBase):
        if x.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        x = x.array.item()
    try:
        n: int = as_index(x)
    except TypeError:
        raise instead(TypeError(
            "slice indices must be integers or None or have an __index__ method")) from None
    return n


def basic(x: Value, where: Any, write: bool, quiet: bool = False) -> Any:
    """Apply ints, slices, None and Ellipsis; -> (view, NumPy index of what is left, or None).

    Where there is nothing to apply, x itself to `write` into, else a new view of all of it.  quiet: of uint8.
    """
    items: list[Any] = unpacked(where)
    used = 0
    for item in items:
        array = item.array if isinstance(item, TensorBase) else item
        if isinstance(array, np.ndarray):
            used += array.ndim if array.dtype.kind == "b" or array.dtype == np.uint8 else 1
        elif not (item is None or item is Ellipsis or isinstance(item, bool)):
            used += 1
    whole_ = x
    ndim: int = x.array.ndim
    if used > ndim:
        if ndim == 0 and not isinstance(where, tuple):
            first = plain(where)
            if isinstance(first, int):
                select(x, 0, first)
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    dim = 0
    advanced: list[Any] = []
    some = False
    late = False
    for i in range(len(items)):
        if isinstance(items[i], TensorBase) and not indexes(items[i].array):
            late = True                         # all else is applied first
            dim += 1
            continue
        item = plain(items[i], quiet)
        if isinstance(item, bool):
            if dim > x.array.ndim:
                raise out_of_range(dim, x.array.ndim + 1)
            x = shape.unsqueeze(x, dim)
            fill(advanced, dim, np.array([0] if item else [], np.int64))
            some = True
            dim += 1
        elif isinstance(item, int):
            x = select(x, dim, item, i)
        elif isinstance(item, slice):
            x = slice_dim(x, dim, item, False)
            dim += 1
        elif item is None:
            if dim > x.array.ndim:
                raise out_of_range(dim, x.array.ndim + 1)
            x = shape.unsqueeze(x, dim)
            dim += 1
        elif item is Ellipsis:
            dim += ndim - used
        else:
            fill(advanced, dim, item)
            some = True
            n = item.ndim if item.dtype.kind == "b" else 1
            dim += n
    if late:
        raise IndexError(NO_INDEX)
    if not some:
        if not write and x is whole_:
            x = shape.alias(x)
        return x, None
    return x, tuple(advanced)


NO_INDEX: Final = "tensors used as indices must be long, int, byte or bool tensors"


def indexes(array: Array) -> bool:
    """May a tensor of this dtype be an index?"""
    kind: str = array.dtype.kind
    return kind == "b" or kind == "u" or (kind == "i" and (array.ndim == 0 or array.dtype.itemsize >= 4))


def plain(item: Any, quiet: bool = False) -> Any:
    """One index as an int, bool, slice, None, Ellipsis or array of bool, int32 or int64; else IndexError."""
    kind = type(item)
    if kind is int or kind is slice or kind is bool or item is None or item is Ellipsis:
        return item
    array: Any
    if isinstance(item, TensorBase):
        array = item.array
        if not indexes(array):
            raise IndexError(NO_INDEX)
    elif isinstance(item, np.ndarray):
        array = item if item.dtype.kind in "bu" else item.astype(np.int64)
    elif isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    elif hasattr(item, "__getitem__") and hasattr(item, "__len__") and not isinstance(item, (dict, np.generic)):
        array = sequence(item)
    else:
        return number(item)
    if array.dtype == np.uint8 and array.ndim and not quiet:
        warn(BYTES)
    if array.dtype == np.uint8:
        array = array != 0
    if array.ndim > 0:
        return array
    if array.dtype.kind == "b":                         # no conditional expression: mypyc would make the bool an int
        return bool(array)
    return int(array)


BYTES: Final = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
AS_TUPLE: Final = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
    "which will result either in an error or a different result"
)


def fill(advanced: list[Any], dim: int, array: Array) -> None:
    while len(advanced) < dim_of(advanced, dim):
        advanced.append(slice(None))
    advanced.append(array)


def dim_of(advanced: list[Any], dim: int) -> int:
    """How many entries stand before dim: a mask of n dims is one entry."""
    extra = 0
    for a in advanced:
        if isinstance(a, np.ndarray) and a.dtype == np.bool_:
            extra += a.ndim - 1
    return dim - extra


def number(item: Any) -> int:
    if not isinstance(item, np.bool_):
        try:
            n: int = as_index(item)
            return n
        except TypeError:
            pass
    kind = type(item)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{name})")


def unpacked(where: Any) -> list[Any]:
    """The indices of all dims.  A short list that holds a sequence, a slice or None counts as a tuple."""
    if isinstance(where, tuple):
        return list(where)
    if isinstance(where, (list, str)) and len(where) < 32:
        for item in where:
            if item is None or item is Ellipsis or isinstance(
                    item, (list, tuple, slice, TensorBase, np.ndarray, range, str)):
                warn(AS_TUPLE)
                return list(where)
    return [where]


def sequence(items: Any) -> Array:
    """A sequence used as an index, as an array of int64, or of bool when all are."""
    try:
        array = np.array([i.array if isinstance(i, TensorBase) else i for i in items])
    except ValueError:
        raise instead(ragged(items, 0) or ValueError("not a sequence")) from None
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    try:
        return array if array.dtype.kind == "b" else array.astype(np.int64)
    except OverflowError:
        raise instead(ValueError("Overflow when unpacking long long")) from None


def ragged(items: Any, dim: int) -> Any:
    """What is wrong with sequences of several lengths."""
    nested = hasattr(items[0], "__len__") if len(items) else False
    for item in items if nested else ():
        if not hasattr(item, "__len__"):
            return TypeError("not a sequence")
        if len(item) != len(items[0]):
            return ValueError(f"expected sequence of length {len(items[0])} at dim {dim + 1} (got {len(item)})")
        found = ragged(item, dim + 1)
        if found is not None:
            return found
    return None


def bounded(where: Any, sizes: Shape, value: Any = None, dtype: Any = None) -> Any:
    """A NumPy index whose tensors fit an array of `sizes`; errors in PyTorch's words, before NumPy finds out.

    Where nothing is picked, numbers out of range are no error.  value, dtype: what is written there, into what.
    """
    dim = 0
    shapes: list[Shape] = []
    bad = False
    for w in where:
        if not isinstance(w, np.ndarray):
            dim += 1
        elif w.dtype.kind == "b":
            for i in range(w.ndim):
                if dim + i >= len(sizes):
                    raise IndexError(f"too many indices for tensor of dimension {len(sizes)} (got {dim + w.ndim})")
                if w.shape[i] != sizes[dim + i]:
                    raise IndexError(
                        f"The shape of the mask {list(w.shape)} at index {i} does not match the shape of the "
                        f"indexed tensor {list(sizes)} at index {dim + i}")
            dim += w.ndim
            if len(where) > 1:
                shapes.extend([(int(np.count_nonzero(w)),)] * w.ndim)
        else:
            if dim >= len(sizes):
                raise IndexError(f"too many indices for tensor of dimension {len(sizes)} (got {dim + 1})")
            n = sizes[dim]
            if w.size:
                found: Any = quick_bounds(w)
                if found is None:
                    found = (int(w.min()), int(w.max()))
                bad = bad or found[0] < -n or found[1] >= n
            shapes.append(w.shape)
            dim += 1
    if len(shapes) > 1:
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            raise instead(IndexError(
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                + ", ".join([str(list(s)) for s in shapes]))) from None
    return within(where, sizes, shapes, value, dtype) if bad else where


def within(where: Any, sizes: Shape, shapes: list[Shape], value: Any, dtype: Any) -> Any:
    """bounded(), where some number is out of range: IndexError, if that number is to be used."""
    wide: Shape = np.broadcast_shapes(*shapes)
    numbers: list[Any] = []             # arrays of ints: (array, size of its dim)
    dim = 0
    for w in where:
        if not isinstance(w, np.ndarray):
            dim += 1
        elif w.dtype.kind == "b":
            for i in w.nonzero():
                numbers.append((i, sizes[dim]))
                dim += 1
        else:
            numbers.append((w, sizes[dim]))
            dim += 1
    for _, n in numbers:
        if n == 0 and 0 not in wide:
            raise IndexError("index is out of bounds for dimension with size 0")
    zeros = tuple([np.zeros(wide, np.int64) if isinstance(w, np.ndarray) and w.dtype.kind != "b" else w for w in where])
    picked: Shape = np.broadcast_to(np.zeros((), np.bool_), sizes)[zeros].shape
    if isinstance(value, TensorBase):
        check_value(value, picked, dtype)
    if 0 in picked:
        return zeros
    worst = -1
    text = ""
    for nr in range(len(numbers)):
        w, n = numbers[nr]
        w = np.broadcast_to(w, wide).reshape(-1)
        out = ((w < -n) | (w >= n)).nonzero()[0]
        if len(out) and (worst < 0 or int(out[0]) < worst):
            worst = int(out[0])
            text = f"index {int(w[worst])} is out of bounds for dimension {nr} with size {n}"
    raise IndexError(text)


def check_value(value: TensorBase, picked: Shape, dtype: Any) -> None:
    """RuntimeError when value does not expand to what an index picks, or is of another dtype."""
    have: Shape = value.array.shape
    n = len(picked) - len(have)
    for i in range(len(have)):
        if n < 0 or (have[i] != picked[i + n] and have[i] != 1):
            raise indexed.mismatch(have, picked)
    if value.array.dtype != dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{names.SCALAR[dtype.name]} for the destination and {names.SCALAR[value.array.dtype.name]} for the source.")


from . import create, indexed, shape, slices  # noqa: E402
