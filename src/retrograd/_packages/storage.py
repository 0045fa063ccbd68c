"""torch.storage: the memory that tensors show, as bytes (UntypedStorage) and as numbers of a dtype (TypedStorage).

A storage and the tensors it came from, or that were made to show it, share one block.  A block keeps its length.
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrograd._engine.tensor import wrap
from retrograd._engine.views import address
from retrograd._engine.warn import warn_once
from retrograd._functions.parsing import StorageBase
from retrograd._functions.shared_memory import block_of
from retrograd._missing import late_names
from retrograd._tensor import dtypes
from retrograd._tensor.owner import owner

__all__ = ["TypedStorage", "UntypedStorage"]
late_names(__name__)
# PyTorch's storage classes, which name a dtype
STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128"}
REMOVED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should "
    "only matter to you if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() "
    "instead of tensor.storage()")
cpu = dtypes.device("cpu")


def raw(array: Any) -> Any:
    """The bytes of the block in which `array` lies; a copy where the block has gaps."""
    root = owner(array)
    if not (root.flags.c_contiguous or root.flags.f_contiguous):
        root = np.ascontiguousarray(root)
    return root.reshape(-1, order="A").view(np.uint8)


class _StorageBase(StorageBase):
    """What both kinds of storage have; a class for isinstance."""

    is_cuda = is_sparse = is_sparse_csr = is_hpu = False
    filename: str | None = None
    device = cpu

    def _bytes(self) -> Any:
        raise NotImplementedError

    def nbytes(self) -> int:
        """Length in bytes."""
        return int(self._bytes().nbytes)

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return address(self._bytes())

    _cdata = property(data_ptr)

    def is_shared(self) -> bool:
        """Does the memory lie where other processes see it?"""
        return block_of(self._bytes()) is not None

    def share_memory_(self) -> Any:
        """Itself, where it is_shared(); otherwise RuntimeError, as tensors that show it would not move along."""
        if not self.is_shared():
            raise RuntimeError("share_memory_(): the memory of a storage cannot move. Share its tensor, tensor.share_memory_(), "
                               "and take that one's storage.")
        return self

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """Itself, on the CPU."""
        dtypes.check_device(device)
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """False: pinned memory is for GPUs."""
        return False

    def resizable(self) -> bool:
        """False: a block keeps its length."""
        return False

    def cpu(self) -> Any:
        """Itself."""
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """AssertionError: there is no GPU."""
        dtypes.check_device("cuda")

    def clone(self) -> Any:
        """A copy."""
        raise NotImplementedError

    def __copy__(self) -> Any:
        return self.clone()

    def __deepcopy__(self, memo: Any) -> Any:
        memo = memo.setdefault("torch", {})
        if self._cdata not in memo:
            memo[self._cdata] = self.clone()
        return memo[self._cdata]

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        kind = f"torch.storage.{type(self).__name__}("
        dtype = getattr(self, "dtype", None)
        if dtype is not None:
            kind = f"torch.storage.TypedStorage(dtype={dtype}, "
        values = "\n ".join(map(str, self.tolist()))
        return f" {values}\n[{kind}device=cpu) of size {len(self)}]"

    def tolist(self) -> list[Any]:
        """The elements, in a list."""
        raise NotImplementedError

    def _to(self, dtype: Any) -> Any:
        raise NotImplementedError

    def get_device(self) -> None:
        """None: PyTorch's answer for the CPU."""

    def pin_memory(self, device: Any = None) -> Any:
        """RuntimeError: there is no accelerator."""
        raise RuntimeError("Cannot access accelerator device when none is available.")


def converter(name: str) -> Any:
    """The method .float(), .long(), ..."""
    def convert(self: Any) -> Any:
        return self._to(dtypes.named(name))
    convert.__name__, convert.__qualname__ = name, f"_StorageBase.{name}"
    convert.__doc__ = f"A TypedStorage of the numbers in {name}."
    return convert


for _name in ("double", "float", "half", "bfloat16", "long", "int", "short", "bool"):
    setattr(_StorageBase, _name, converter(_name))
for _name, _kind in (("char", "int8"), ("byte", "uint8"), ("complex_float", "complex64"), ("complex_double", "complex128")):
    setattr(_StorageBase, _name, converter(_kind))


class UntypedStorage(_StorageBase):
    """A block of memory in bytes: of a length, with the bytes of a sequence, or what `tensor.untyped_storage()` shows."""

    __module__ = "retrograd.storage"

    def __init__(self, data: Any = 0, *, device: Any = None) -> None:
        dtypes.check_device(device)
        if isinstance(data, np.ndarray):
            self._block = data
        elif isinstance(data, int):
            self._block = np.empty(data, np.uint8)
        else:
            for item in data:
                if not isinstance(item, int):
                    raise RuntimeError(
                        f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(data).__name__}), but one "
                        f"of the items was of type {type(item).__name__} instead of int")
            self._block = np.array(data, np.int64).astype(np.uint8)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, mapped; shared: edits are written to it, and it grows to that length."""
        there = Path(filename)
        if shared:
            there.touch()
            if there.stat().st_size < nbytes:
                os.truncate(there, nbytes)
        elif not there.exists():
            raise RuntimeError(f"unable to open file <{filename}> in read-only mode: No such file or directory (2)")
        size = there.stat().st_size
        if size < nbytes:
            raise RuntimeError(f"file <{filename}> size <{size}> is smaller than the required mapping size <{nbytes}>")
        if not nbytes:
            return cls()
        made = cls(np.asarray(np.memmap(there, np.uint8, "r+" if shared else "c", shape=(nbytes,))))
        made.filename = str(filename) if shared else None
        return made

    def _bytes(self) -> Any:
        return self._block

    def size(self) -> int:
        """Length in bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def element_size(self) -> int:
        """1"""
        return 1

    def _to(self, dtype: Any) -> Any:
        return TypedStorage(wrap_storage=UntypedStorage(self._block.astype(dtype.numpy).view(np.uint8)), dtype=dtype)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of this class; with dtype a TypedStorage of the bytes as numbers of it."""
        return "torch.storage.UntypedStorage" if dtype is None else self._to(dtype)

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def tolist(self) -> list[int]:
        """The bytes, as ints."""
        return list(map(int, self._block))

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage(self._block.copy())

    def new(self) -> UntypedStorage:
        """An empty one."""
        return UntypedStorage()

    def copy_(self, source: Any, non_blocking: Any = None) -> UntypedStorage:
        """In place: the bytes of another storage of this length."""
        theirs = source._bytes()
        if theirs.size != self._block.size:
            raise RuntimeError(f"size does not match, self was {self._block.size} bytes but src was {theirs.size} bytes")
        self._block[...] = theirs
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """In place: every byte."""
        self._block[...] = value
        return self

    def resize_(self, size: int) -> UntypedStorage:
        """Itself, where that is its length; RuntimeError for another."""
        if size != self._block.size:
            raise RuntimeError("Trying to resize storage that is not resizable\nretrograd's storages keep their length, since "
                               "tensors show them: make another tensor")
        return self

    @staticmethod
    def from_buffer(buffer: Any, byte_order: str = "native", *, dtype: Any = None) -> UntypedStorage:
        """A copy of the bytes of a buffer."""
        return UntypedStorage(np.frombuffer(buffer, np.uint8).copy())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    def __hash__(self) -> int:
        return hash(self._cdata)

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return UntypedStorage(self._block[at])
        return int(self._block[self._place(at)])

    def __setitem__(self, at: Any, value: int) -> None:
        self._block[at if isinstance(at, slice) else self._place(at)] = value

    def _place(self, at: Any) -> int:
        if not isinstance(at, int):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(at).__name__}")
        if not -len(self) <= at < len(self):
            raise IndexError(f"index {at} out of range for storage of size {len(self)}")
        return at

    def __reduce__(self) -> Any:
        return _from_bytes, (self._block.tobytes(), None)


class TypedStorage(_StorageBase):
    """A block of memory as numbers of one dtype; PyTorch has deprecated it for UntypedStorage."""

    __module__ = "retrograd.storage"
    dtype: Any

    def __init__(self, *args: Any, device: Any = None, dtype: Any = None, wrap_storage: Any = None) -> None:
        warn_once(REMOVED)
        dtypes.check_device(device)
        if wrap_storage is not None and dtype is None and not hasattr(self, "dtype"):
            raise RuntimeError(
                "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n * (*, device, dtype)\n * "
                "(int size, *, device, dtype)\n * (Sequence data, *, device, dtype)\n * (*, UntypedStorage wrap_storage, dtype)\n"
                "Argument 'dtype' must be given when 'wrap_storage' is specified")
        if len(args) + (wrap_storage is not None) > 1:
            raise RuntimeError(f"{type(self)}.__new__ received an invalid combination of arguments. Expected one of:\n * no "
                               "arguments\n * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\nToo many "
                               "positional arguments")
        if not hasattr(self, "dtype"):
            self.dtype = dtypes.get_default_dtype() if dtype is None else dtype
        data = args[0] if args else 0
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage
        elif isinstance(data, int):
            self._untyped_storage = UntypedStorage(data * self.dtype.numpy.itemsize)
        elif isinstance(data, str) or not isinstance(data, Sequence):
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'" if isinstance(data, str) else
                            f"Argument type not recognized: {type(data)}")
        else:
            self._untyped_storage = UntypedStorage(np.array(data).astype(self.dtype.numpy).view(np.uint8))

    @property
    def _dtype(self) -> Any:
        return self.dtype

    def _bytes(self) -> Any:
        return self._untyped_storage._block

    def _numbers(self) -> Any:
        step = self.dtype.numpy.itemsize
        data = self._bytes()
        return data[:data.size // step * step].view(self.dtype.numpy)

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    def size(self) -> int:
        """How many numbers."""
        return len(self)

    _size = size

    def __len__(self) -> int:
        return int(self._bytes().size // self.dtype.numpy.itemsize)

    def element_size(self) -> int:
        """Bytes of a number."""
        return int(self.dtype.numpy.itemsize)

    def pickle_storage_type(self) -> str:
        """The name in a file, FloatStorage say."""
        return next(name for name, dtype in STORAGES.items() if dtype == self.dtype.numpy.name)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the class of this dtype, 'torch.FloatStorage' say; with dtype the numbers in that."""
        return f"torch.{self.pickle_storage_type()}" if dtype is None else self._to(dtype)

    def _to(self, dtype: Any) -> TypedStorage:
        return TypedStorage(wrap_storage=UntypedStorage(self._numbers().astype(dtype.numpy).view(np.uint8)), dtype=dtype)

    def tolist(self) -> list[Any]:
        """The numbers, in a list."""
        found = self._numbers()
        return list((found.astype(np.float32) if found.dtype.kind == "V" else found).tolist())

    def clone(self) -> TypedStorage:
        """A copy."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """In place: the numbers of another storage, of as many."""
        self._numbers()[...] = source._numbers() if isinstance(source, TypedStorage) else source._bytes()
        return self

    def fill_(self, value: Any) -> TypedStorage:
        """In place: every number."""
        self._numbers()[...] = value
        return self

    def resize_(self, size: int) -> TypedStorage:
        """Itself, where that is its length; RuntimeError for another."""
        self._untyped_storage.resize_(size * self.element_size())
        return self

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: str = "native", *, dtype: Any = None) -> TypedStorage:
        """A copy of the bytes of a buffer, as numbers."""
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(buffer), dtype=getattr(cls, "dtype", dtype))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        found: Any = wrap(self._numbers()[self._place(at):][:1])
        return found.item()

    def __setitem__(self, at: Any, value: Any) -> None:
        self._numbers()[at if isinstance(at, slice) else self._place(at)] = value

    def _place(self, at: Any) -> int:
        if not isinstance(at, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(at)}")
        if not -len(self) <= at < len(self):
            raise IndexError(f"index {at} out of range for storage of size {len(self)}")
        return at % len(self)

    def __reduce__(self) -> Any:
        return _from_bytes, (self._bytes().tobytes(), str(self.dtype).partition(".")[2])


def _from_bytes(data: bytes, name: str | None) -> Any:
    """A storage from a pickle."""
    found = UntypedStorage.from_buffer(data)
    if name is None:
        return found
    made = TypedStorage.__new__(TypedStorage)   # not by __init__, which says that the class is deprecated
    made.dtype, made._untyped_storage = getattr(dtypes, name), found
    return made


class _LegacyStorageMeta(type):
    is_cuda: bool

    def __instancecheck__(cls, instance: Any) -> bool:
        own = getattr(cls, "dtype", None)
        return type(instance) in (cls, TypedStorage) and (own is None or instance.dtype is own) and cls.is_cuda is False


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """A TypedStorage of a fixed dtype: FloatStorage, LongStorage, ..."""


LEGACY: dict[str, Any] = {}
for _name, _kind in STORAGES.items():
    LEGACY[_name] = globals()[_name] = _LegacyStorageMeta(_name, (_LegacyStorage,), {
        "__module__": "retrograd", "dtype": dtypes.named(_kind), "__doc__": f"A TypedStorage of {_kind}."})


def of(tensor: Any) -> TypedStorage:
    """tensor.storage()"""
    return TypedStorage(wrap_storage=UntypedStorage(raw(tensor.array)), dtype=tensor.dtype)


def is_storage(obj: Any, /) -> bool:
    """Is obj a storage, of either kind?"""
    return isinstance(obj, _StorageBase)
