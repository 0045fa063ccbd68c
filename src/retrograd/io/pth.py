"""torch.save and torch.load: PyTorch's .pt and .pth files, read and written without PyTorch.

A file is a zip archive with a pickle (data.pkl) and one member of bytes per storage (data/0, data/1, ...).
NOTE [Loading runs no code]: the pickle is read by `unpickler`, whatever weights_only says, and everything that sizes in
the file ask for is checked against the file before memory is taken.
"""
from __future__ import annotations

import io
import os
import pickle
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.mirror import behind, bits_of, conjugate, negative
from .._engine.tensor import TensorBase, shared_version, wants_grad, wrap
from .._functions import meta
from .._missing import dtypes as _dtype_names
from .._tensor import Tensor, _attributes, dtypes
from .._tensor.size import Size
from ..nn.parameter import Parameter
from ..utils.hooks import warn_if_has_hooks
from .archive import NATIVE, Reader, Writer, check_version, order_of
from .beside import write_beside
from .pickler import Call, Name, Persistent, Pickler
from .storage import FOREIGN, MOST_DIMS, STORAGE_OF, STORAGES, Block, Storage, StorageType, whole
from .unpickler import (
    Build,
    Keyed,
    Keys,
    NotAllowed,
    NotHere,
    Theirs,
    Unpickler,
    UnpicklingError,
    set_attributes,
    their,
)

LEGACY = (
    "This is a file in the format from before PyTorch 1.6, which retrograd does not read. Load it in PyTorch and save "
    "it again: torch.save(torch.load(path), path).")
LEGACY_SAVE = "retrograd writes the zip format alone: _use_new_zipfile_serialization=False is not supported."
REFUSED = "Weights only load failed. WeightsUnpickler error: {}\n{}"
CODE = (
    "retrograd never runs code from a file, not even with weights_only=False: it reads tensors, numbers, strings and plain "
    "containers of them, and what you allow. Save state_dict() instead of objects, .item() and torch.from_numpy(array) "
    "instead of NumPy's numbers and arrays.")
CONVERT = (
    "Convert it in PyTorch before saving: x.to_dense(), x.dequantize(), "
    "x.to(torch.float32).")
DAMAGED = "The file is damaged, or torch.save did not write it: save or copy it again."
NO_ARCHIVE = (
    "torch.save, of PyTorch or of retrograd, did not write it: check the path, and whether it was downloaded whole.")
NO_DEVICE = (
    "Attempting to deserialize object on a {0} device but torch.{1}.is_available() is False. If you are running on a "
    "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU.")
UNSEEKABLE = (
    ". You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO "
    "and try to load from it instead.")
_OLD_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19"


def save(
    obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:
    """Write obj, tensors in plain containers, to the path or binary file f; PyTorch and load() read it.

    pickle_module and pickle_protocol are accepted without effect.
    Tensors that share memory share it again after loading; the whole block is written, not only what they show.
    A path is replaced when everything is written: an interrupted save leaves the old file, whose owner and mode stay (files with
    hard links, and in folders where none can be made, are written to as they are).  RuntimeError for the format from before
    PyTorch 1.6.  https://pytorch.org/docs/stable/generated/torch.save.html
    """
    if not _use_new_zipfile_serialization:
        raise RuntimeError(LEGACY_SAVE)
    path = _path(f)
    if path is None and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if path is not None:
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
    blocks = _Blocks()
    described = Pickler(blocks.translate).dump(obj)
    root = "archive" if path is None else os.path.splitext(os.path.basename(path))[0] or "archive"

    def write(file: Any) -> None:
        with Writer(file, root) as out:
            out.add("data.pkl", described)
            out.add(".format_version", b"1")
            out.add(".storage_alignment", b"64")
            if not _disable_byteorder_record:
                out.add("byteorder", NATIVE.encode())
            for i, block in enumerate(blocks.found.values()):
                out.add(f"data/{i}", block.bytes())
            out.add("version", b"3\n")

    if path is None:
        write(f)
        if hasattr(f, "flush"):
            f.flush()
    else:
        write_beside(path, write)


class _Blocks:
    """The storages of what is being saved, numbered in the order of their first use."""

    def __init__(self) -> None:
        self.found: dict[Any, Block] = {}
        self.numbers: dict[Any, int] = {}

    def translate(self, x: Any) -> Any:
        """What a tensor, dtype, size or device is in PyTorch's files; None for other things."""
        if isinstance(x, TensorBase):
            return self.tensor(x)
        if isinstance(x, dtypes.dtype):
            return Name("torch", x.name)
        if type(x) is Size:
            return Call(Name("torch", "Size"), tuple(x))
        if isinstance(x, dtypes.device):
            return Call(Name("torch", "device"), *([x.type] if x.index is None else [x.type, x.index]))
        if x is Tensor:
            return Name("torch", "Tensor")
        if x is Parameter:
            return Name("torch.nn.parameter", "Parameter")
        return None

    def tensor(self, t: Any) -> Any:
        if meta.is_meta(t):
            rebuilt = Call(Name("torch._utils", "_rebuild_meta_tensor_no_storage"), Name("torch", t.dtype.name), tuple(t.shape),
                           tuple(t.stride()), wants_grad(t) and not isinstance(t, Parameter))
            return self.parameter(t, rebuilt, _attributes(t)) if isinstance(t, Parameter) else rebuilt
        bits = {name: True for name, on in zip(("conj", "neg"), bits_of(t)) if on}
        block = Block(behind(t.version.mirrors, t.array) if bits else t.array)
        known = self.found.setdefault(block.key, block)
        if known.dtype is not block.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types")
        number = self.numbers.setdefault(block.key, len(self.numbers))
        parameter = isinstance(t, Parameter)
        if not parameter:                       # of theirs PyTorch loses hooks silently
            warn_if_has_hooks(t)
        d = block.dtype
        pid = ("storage", Name("torch", STORAGE_OF[d.name]), str(number), "cpu", block.root.nbytes // d.itemsize)
        extra = _attributes(t)
        args: Any = (
            Persistent(pid), block.offset, tuple(block.size), block.stride, wants_grad(t) and not parameter,
            OrderedDict(), *([bits] if bits else []))
        rebuilt = Call(Name("torch._utils", "_rebuild_tensor_v2"), *args)
        if parameter:
            return self.parameter(t, rebuilt, extra)
        if extra:
            return Call(
                Name("torch._tensor", "_rebuild_from_type_v2"), Name("torch._utils", "_rebuild_tensor_v2"),
                Name("torch", "Tensor"), args, extra)
        return rebuilt

    def parameter(self, t: Any, rebuilt: Any, extra: Any) -> Any:
        if extra:
            return Call(Name("torch._utils", "_rebuild_parameter_with_state"), rebuilt, wants_grad(t), OrderedDict(), extra)
        return Call(Name("torch._utils", "_rebuild_parameter"), rebuilt, wants_grad(t), OrderedDict())


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:
    """The object in a file that save() or PyTorch wrote; f is a path or a seekable binary file.

    map_location   where storages of other devices go: "cpu", a dict, or a function (storage, location) -> storage
    weights_only   makes no difference: only tensors, numbers, strings and plain containers are ever loaded
    pickle_module  RuntimeError unless None, as PyTorch's load gives with weights_only
    mmap           map storages into memory instead of reading them (paths only); edits do not reach the file

    pickle.UnpicklingError for files with anything else, RuntimeError for damaged ones; errors of map_location, and of classes
    that add_safe_globals was given, as they are.  Whatever the file says, memory stays below that of its storages, 16 MiB, and
    some 64 bytes for each byte of its data.pkl; keys by the thousand with one hash are refused.
    https://pytorch.org/docs/stable/generated/torch.load.html
    """
    if pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    path = _path(f)
    if path is None:
        if mmap:
            raise ValueError("f must be a file path in order to use the mmap argument")
        return _read(_seekable(f), map_location, False)
    with open(path, "rb") as file:
        return _read(file, map_location, bool(mmap))


def _read(file: Any, map_location: Any, mapped: bool) -> Any:
    try:
        return _load(file, map_location, mapped)
    except Theirs as theirs:
        error = theirs.error
    raise error


def _load(file: Any, map_location: Any, mapped: bool) -> Any:
    start = file.tell()
    head = file.read(64)
    if not head.startswith(b"PK"):
        raise _no_archive(head)
    reader = Reader(file, start)
    described = reader.read("data.pkl")
    storages = _Storages(reader, map_location, mapped)
    try:
        return Unpickler(described, NAMES, safe_globals_by_name(), storages.find).load()
    except UnpicklingError as error:
        advice = CODE if isinstance(error, NotAllowed) else CONVERT if isinstance(error, NotHere) else DAMAGED
        raise UnpicklingError(REFUSED.format(error, advice)) from None


def _no_archive(head: bytes) -> Exception:
    if not head:
        return EOFError("Ran out of input: the file is empty")
    if _OLD_MAGIC in head[:32] or head[257:262] == b"ustar":
        return RuntimeError(LEGACY)
    if re.match(rb".{8}\{", head, re.S):
        return RuntimeError("This looks like a safetensors file: retrograd.io.safetensors.load_file(path) reads it.")
    return UnpicklingError(REFUSED.format(f"the file is no zip archive: it begins with {head[:16]!r}", NO_ARCHIVE))


class _Storages:
    """The storages of a file by key, each read once."""

    def __init__(self, reader: Reader, map_location: Any, mapped: bool) -> None:
        self.reader = reader
        self.place = _placer(map_location)
        check_version(reader)
        self.swap = order_of(reader) != NATIVE
        self.whole: Any = None
        if mapped:
            from mmap import ACCESS_COPY, mmap
            self.whole = mmap(reader.file.fileno(), 0, access=ACCESS_COPY)
        self.found: dict[str, Storage] = {}

    def find(self, pid: tuple[Any, ...]) -> Storage:
        if len(pid) != 5:
            raise UnpicklingError(f"a storage described by {len(pid)} values")
        _, kind, key, location, count = pid
        if not (isinstance(kind, StorageType) and type(key) is str and type(location) is str and type(count) is int):
            raise UnpicklingError(f"a storage described by {[type(x).__name__ for x in pid[:9]]}")
        dtype = kind.dtype
        step = 1 if dtype is None else dtype.itemsize
        size = self.reader.find(f"data/{key[:100]}")[1]
        if count * step != size:
            raise UnpicklingError(f"storage {key!r} should have {count} elements of {step} bytes, and has {size} bytes")
        had = self.found.get(key)
        if had is not None:
            return had if had.dtype is dtype else self.place(Storage(had.raw, dtype), location)
        raw = self.reader.array(f"data/{key}") if self.whole is None else self.mapped(key)
        if self.swap and step > 1:
            raw = np.ascontiguousarray(raw.reshape(-1, step)[:, ::-1]).reshape(-1)
        if dtype is dtypes.bool and (raw > 1).any():
            np.not_equal(raw, 0, out=raw.view(np.bool_))
        out = self.found[key] = self.place(Storage(raw, dtype), location)
        return out

    def mapped(self, key: str) -> Any:
        place, size, _ = self.reader.find(f"data/{key}")
        if not size:
            return np.empty(0, np.uint8)
        part = np.frombuffer(self.whole, np.uint8, size, place)
        return part if place % 16 == 0 else part.copy()


def _placer(map_location: Any) -> Callable[[Storage, str], Storage]:
    """The function that says what becomes of a storage that was saved on `location`."""
    def default(storage: Storage, location: str) -> Storage:
        kind = location.partition(":")[0]
        storage.meta = kind == "meta"
        if kind in ("cuda", "xpu", "hpu", "mps"):
            raise RuntimeError(NO_DEVICE.format(kind.upper(), kind))
        if kind not in ("cpu", "meta"):
            raise RuntimeError(
                f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location})")
        return storage

    if map_location is None:
        return default
    if isinstance(map_location, (str, dtypes.device)):
        where = str(map_location)
        default(Storage(np.empty(0, np.uint8), None), where)
        return lambda storage, location: default(storage, where)
    if isinstance(map_location, dict):
        table = {str(k): str(v) for k, v in map_location.items()}
        return lambda storage, location: default(storage, table.get(location, location))

    def ask(storage: Storage, location: str) -> Storage:
        got = their(map_location, storage, location)
        if got is not None and not isinstance(got, Storage):
            raise Theirs(TypeError(f"map_location returned {type(got).__name__}, not a storage or None"))
        return default(storage, location) if got is None else got
    return ask


def _path(f: Any) -> str | None:
    return os.fsdecode(f) if isinstance(f, (str, os.PathLike)) else None


def _seekable(f: Any) -> Any:
    try:
        f.seek(f.tell())
    except (AttributeError, io.UnsupportedOperation) as error:
        raise type(error)(str(error) + UNSEEKABLE) from None
    return f


MOST_META = 1 << 44                             # bytes that a meta tensor would take

# What names in a pickle stand for


def _rebuild_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False, hooks: Any = None,
    metadata: Any = None,
) -> Any:
    if not isinstance(storage, Storage) or storage.dtype is None:
        raise UnpicklingError(f"a tensor made from {type(storage).__name__}")
    return _tensor(storage, storage.view(storage.dtype, offset, size, stride), requires_grad, metadata)


def _rebuild_tensor_v3(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any,
    metadata: Any = None,
) -> Any:
    if not isinstance(storage, Storage) or not isinstance(dtype, dtypes.dtype):
        raise UnpicklingError(f"a tensor made from {type(storage).__name__} and {type(dtype).__name__}")
    if dtype.name in _dtype_names.__all__ and dtype.name not in STORAGE_OF:
        raise NotHere(f"retrograd has no tensors of {dtype}")
    return _tensor(storage, storage.view(dtype, offset, size, stride), requires_grad, metadata)


def _tensor(storage: Any, array: Any, requires_grad: Any, metadata: Any) -> Any:
    """metadata: does the tensor show the memory conjugated, negated?"""
    for bit, turn, kinds in (("conj", conjugate, "c"), ("neg", negative, "cfi")):
        if isinstance(metadata, dict) and metadata.get(bit) is True and array.dtype.kind in kinds and array.size:
            array = storage.turned(array, turn)
    out: Any = wrap(array)
    if storage.mirrors or array.dtype.kind == "c":
        shared_version(out).mirrors = storage.mirrors
    if requires_grad is True:
        out.requires_grad_(True)
    return meta.become(out) if storage.meta else out


def _rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    sizes, strides = whole(size), whole(stride)
    if not isinstance(dtype, dtypes.dtype) or len(sizes) != len(strides) or len(sizes) > MOST_DIMS:
        raise UnpicklingError(f"a meta tensor made from {type(dtype).__name__}, {len(sizes)} sizes and {len(strides)} strides")
    if dtype.name in _dtype_names.__all__ and dtype.name not in STORAGE_OF:
        raise NotHere(f"retrograd has no tensors of {dtype}")
    step = dtype.itemsize
    if step * (1 + sum(max(n - 1, 0) * s for n, s in zip(sizes, strides))) > MOST_META:
        raise UnpicklingError(f"a meta tensor of size {list(sizes)}")
    return meta.made(sizes, dtype.numpy, requires_grad is True, tuple(s * step for s in strides))


def _rebuild_parameter(data: Any, requires_grad: Any, hooks: Any = None) -> Any:
    if type(data) is not Tensor and not meta.is_meta(data):
        raise UnpicklingError(f"a Parameter made from {type(data).__name__}")
    return Parameter(data.detach(), requires_grad is True)


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Any:
    return _with_state(_rebuild_parameter(data, requires_grad), state)


def _rebuild_from_type(make: Any, kind: Any, args: Any, state: Any) -> Any:
    if make not in REBUILD or kind not in (TENSOR, PARAMETER) or type(args) is not tuple:
        raise NotAllowed("a tensor of an unknown class, or made by an unknown function")
    out = make.make(*args)
    if kind is PARAMETER and type(out) is Tensor:
        out = Parameter(out.detach(), out.requires_grad)
    return _with_state(out, state)


def _with_state(t: Any, state: Any) -> Any:
    if type(state) is tuple and len(state) == 2 and not state[1]:   # attributes and slots
        state = state[0]
    if state:
        set_attributes(t, state)
    return t


def _empty(*args: Any) -> Any:
    if args:
        raise UnpicklingError("torch.Tensor called with arguments")
    return wrap(np.empty(0, np.float32))


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if type(text) is not str or type(encoding) is not str or encoding not in ("latin1", "latin-1"):
        raise UnpicklingError(f"encode called with {type(text).__name__} and {type(encoding).__name__}")
    return text.encode("latin1")


def _bytearray(data: Any = b"", encoding: Any = None) -> bytearray:
    """bytearray(10**12) would take a terabyte: only bytes and text are taken."""
    return bytearray(data if type(data) is bytes and encoding is None else _encode(data, encoding))


def _bytes(*args: Any) -> bytes:
    """How pickle writes b""; bytes(10**12) is no way to write anything."""
    if args:
        raise UnpicklingError("bytes called with arguments")
    return b""


def _set(keys: Keys, items: Any = ()) -> set[Any]:
    return {keys.admit(x) for x in _checked(items, list, tuple)}


def _counter(items: Any = None) -> Counter[Any]:
    return Counter(_checked({} if items is None else items, dict))      # whose keys were looked at


def _ordered(keys: Keys, items: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((keys.admit(k), v) for k, v in _checked(items, list, tuple))


def _complex(real: Any, imag: Any = 0.0) -> complex:
    return complex(_checked(real, float, int), _checked(imag, float, int))


def _size(items: Any = ()) -> Size:
    return Size(_checked(items, list, tuple))


def _device(*args: Any) -> Any:
    return dtypes.device(*[_checked(x, str, int) for x in args])


def _checked(x: Any, *classes: type) -> Any:
    if type(x) not in classes:
        raise UnpicklingError(f"{type(x).__name__} where {classes[0].__name__} was expected")
    return x


def _foreign(name: str) -> Build:
    def refuse(*args: Any) -> Any:
        raise NotHere(f"retrograd has no {name}")
    return Build(refuse)


class _Foreign(StorageType):
    """A storage class for which there is no dtype here: quantized."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def dtype(self) -> Any:
        raise NotHere(f"retrograd has no torch.{self.name}: there are no quantized tensors")


TENSOR = Build(_empty)
PARAMETER = Build(_rebuild_parameter)
REBUILD = (
    Build(_rebuild_tensor), Build(_rebuild_tensor_v3), Build(_rebuild_parameter), Build(_rebuild_parameter_with_state))
NAMES: dict[str, Any] = {
    "collections.OrderedDict": Keyed(_ordered), "collections.Counter": Build(_counter),
    "_codecs.encode": Build(_encode), "builtins.bytearray": Build(_bytearray), "builtins.set": Keyed(_set),
    "builtins.bytes": Build(_bytes),
    "builtins.complex": Build(_complex), "torch.Size": Build(_size), "torch.device": Build(_device),
    "torch.Tensor": TENSOR, "torch.nn.parameter.Parameter": PARAMETER,
    "torch._utils._rebuild_tensor": REBUILD[0], "torch._utils._rebuild_tensor_v2": REBUILD[0],
    "torch._utils._rebuild_tensor_v3": REBUILD[1], "torch._utils._rebuild_parameter": REBUILD[2],
    "torch._utils._rebuild_parameter_with_state": REBUILD[3],
    "torch._utils._rebuild_meta_tensor_no_storage": Build(_rebuild_meta),
    "torch._tensor._rebuild_from_type_v2": Build(_rebuild_from_type),
    "torch.storage.UntypedStorage": StorageType(None)}
NAMES.update({f"torch.{name}": StorageType(dtypes.named(d)) for name, d in STORAGES.items()})
NAMES.update({f"torch.{name}": _Foreign(name) for name in FOREIGN})
NAMES.update({f"torch.{name}": dtypes.named(name) for name in STORAGES.values()})
NAMES.update({f"torch.{name}": getattr(_dtype_names, name) for name in _dtype_names.__all__})
NAMES.update({f"torch._utils.{name}": _foreign(what) for name, what in (
    ("_rebuild_sparse_tensor", "sparse tensors"), ("_rebuild_qtensor", "quantized tensors"),
    ("_rebuild_nested_tensor", "nested tensors"))})
NAMES["torch.serialization._get_layout"] = _foreign("sparse tensors")


# What the user allows besides

_allowed: list[Any] = []


def safe_globals_by_name() -> dict[str, Any]:
    """Names of what add_safe_globals was given; a pair (object, name) has a name of its own."""
    out: dict[str, Any] = {}
    for x in _allowed:
        if isinstance(x, tuple):
            if len(x) != 2:
                raise ValueError(
                    "Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                    f"{len(x)}")
            if type(x[1]) is not str:
                raise TypeError(f"Expected second item in tuple to be str of callable full path, but got: {type(x[1])}")
            out[x[1]] = x[0]
        else:
            out[f"{x.__module__}.{x.__qualname__}"] = x
    return out


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let load() call safe_globals, classes and functions, when a file asks for them.  They run with what the file says."""
    _allowed.extend(x for x in safe_globals if x not in _allowed)


def get_safe_globals() -> list[Any]:
    """What add_safe_globals was given."""
    return list(_allowed)


def clear_safe_globals() -> None:
    """Forget what add_safe_globals was given."""
    _allowed.clear()


class safe_globals:
    """In a `with` statement: add_safe_globals(safe_globals) for its duration."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self.before = list(_allowed)
        add_safe_globals(self.safe_globals)

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        _allowed[:] = self.before
