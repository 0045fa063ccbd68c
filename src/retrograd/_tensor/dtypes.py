"""dtypes, devices, layouts and memory formats: the small constants that programs pass around, named as in PyTorch.

One dtype stands for one NumPy dtype (`float32.numpy`); `of` goes back.  The first use of bfloat16 imports ml_dtypes.
Of the dtypes in _missing/dtypes.py there are no tensors.
"""
from __future__ import annotations

import re
import threading
from builtins import bool as Bool
from builtins import float as Float
from builtins import int as Int
from typing import Any, Final

import numpy as np

from .._engine import names, promote
from .._engine.modes import meet_complex, modes
from .._engine.tensor import TensorBase


class dtype:
    """The type of a tensor's elements: `torch.float32`, ...  One object each, also after pickle and copy.

    itemsize is in bytes; `numpy` is the np.dtype; `scalar` and `ctype` are the names in PyTorch's error messages
    ("Long", "long int").
    """

    __slots__ = ("abbr", "ctype", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy", "scalar")

    __module__ = "retrograd"

    name: str
    scalar: str
    ctype: str
    abbr: str
    itemsize: Int
    is_floating_point: Bool
    is_complex: Bool
    is_signed: Bool
    numpy: np.dtype[Any]

    def __new__(cls, *args: object, **kwargs: object) -> dtype:
        raise TypeError("cannot create 'torch.dtype' instances")

    def __getattr__(self, key: str) -> Any:
        if key == "numpy":
            if self.name in ("complex64", "complex128"):
                return _complex(self)
            if self.name != "bfloat16":
                raise NotImplementedError(f"retrograd has no tensors of {self}: the dtype can only be named. Tensors are {KNOWN}")
            found = np.dtype(_ml_dtypes().bfloat16)
            object.__setattr__(self, "numpy", found)
            _of[found] = self
            modes.coarse = True
            return found
        if key == "is_signed":
            kind = "quantized types" if self.scalar.startswith("Q") else ""
            raise RuntimeError(f"isSignedType not supported for {kind}" if kind else "Bits types are undefined")
        raise AttributeError(f"'torch.dtype' object has no attribute '{key}'")

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"'torch.dtype' object has no attribute '{key}'")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    @property
    def fixed(self) -> str:
        """The C type of an integer dtype: int32_t is called int."""
        return "int" if self.name == "int32" else f"{self.name}_t"

    def to_real(self) -> dtype:
        """The dtype of the parts of a complex one; itself for another."""
        return _names().parts(self) if self.is_complex else self

    def to_complex(self) -> dtype:
        """The complex dtype whose parts are of this one; complex64 for bfloat16."""
        return _names().whole(self)


KNOWN: Final = "complex128, complex64, float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8 or bool"
_of: Final[dict[np.dtype[Any], dtype]] = {}


def new(name: str, scalar: str, ctype: str, abbr: str, itemsize: Int, is_signed: Bool | None) -> dtype:
    """A dtype.  is_signed None: asking for it raises."""
    self: dtype = object.__new__(dtype)
    put = object.__setattr__
    put(self, "name", name)
    put(self, "scalar", scalar)
    put(self, "ctype", ctype)
    put(self, "abbr", abbr)
    put(self, "itemsize", itemsize)
    put(self, "is_floating_point", name.startswith(("float", "bfloat")))
    put(self, "is_complex", name.startswith("complex"))
    if is_signed is not None:
        put(self, "is_signed", is_signed)
    return self


def _make(name: str, abbr: str) -> dtype:
    kind = name.rstrip("0123456789")
    self = new(name, names.SCALAR[name], names.C[name], abbr, Int(name[len(kind):] or 8) // 8, kind not in ("uint", "bool"))
    if kind != "bfloat":
        object.__setattr__(self, "numpy", np.dtype(name))
        _of[self.numpy] = self
    return self


float64 = double = _make("float64", "f64")
float32 = _make("float32", "f32")
float16 = half = _make("float16", "f16")
bfloat16 = _make("bfloat16", "bf16")
int64 = long = _make("int64", "i64")
int32 = _make("int32", "i32")
int16 = short = _make("int16", "i16")
int8 = _make("int8", "i8")
uint8 = _make("uint8", "u8")
float = float32
int = int32
bool = _make("bool", "b8")

_python: Final[dict[object, dtype]] = {Float: float64, Int: int64, Bool: bool}     # dtype=float means float64


def of(d: np.dtype[Any]) -> dtype:
    """The dtype of NumPy's `d`.  TypeError for one that has none, ValueError for a foreign byte order."""
    found = _of.get(d)
    return _missed(d) if found is None else found


def canonical(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array, with NumPy's own object for its dtype, which ops compare by identity: an array that was unpickled, or whose
    bytes were swapped, has another, equal one."""
    own: Any = of(array.dtype).numpy
    return array if array.dtype is own else array.view(own)


def _missed(d: np.dtype[Any]) -> dtype:
    if d.name == "bfloat16" and d.type is _ml_dtypes().bfloat16:
        _of[bfloat16.numpy] = bfloat16
        return bfloat16
    if d.isnative and d.name in ("complex64", "complex128"):
        named: dtype = getattr(_names(), d.name)
        return _of.setdefault(named.numpy, named)
    if not d.isnative and d.newbyteorder("=") in _of:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported.\nWrite array.astype(array.dtype.newbyteorder('=')).")
    hint = ""
    if d.kind in "ucf":
        hint = "\nConvert it first, for instance array.astype(numpy.int64)."
    raise TypeError(
        f"can't convert np.ndarray of type numpy.{d.type.__name__}. The only supported types are: float64, float32, "
        f"float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool.{hint}")


def _complex(d: dtype) -> Any:
    """The np.dtype of a complex one, at its first use: NOTE [Complex numbers] in _engine/op.py."""
    meet_complex()
    found = np.dtype(d.name)
    object.__setattr__(d, "numpy", found)
    _of[found] = d
    return found


def named(name: str) -> dtype:
    """The dtype of that name."""
    found: dtype = globals().get(name) or getattr(_names(), name)
    return found


def _names() -> Any:
    from .._missing import dtypes

    return dtypes


def _ml_dtypes() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "torch.bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from None
    return ml_dtypes


def to_numpy(d: object, function: str) -> np.dtype[Any]:
    """The np.dtype meant by an argument dtype=d of `function`: a dtype or Python's float (float64), int or bool."""
    if isinstance(d, dtype):
        return d.numpy
    found = _python.get(d) if isinstance(d, type) else None
    if found is not None:
        return found.numpy
    raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {typename(d)}")


def check_long(x: object) -> None:
    """OverflowError for an int of more than 64 bits, which no tensor takes as a number."""
    if type(x) is Int:
        promote.check_long(x)


def check_fits(x: object, d: np.dtype[Any], name: str) -> None:
    """RuntimeError when a Python number, or some element of an array of them, is out of the range of an integer dtype.

    Negative integers may wrap around in unsigned ones.  `name` is what the error calls the dtype.
    """
    check_long(x)
    if d.kind in "iu":
        limits = np.iinfo(d)
        values = np.asarray(x)
        low = -Int(limits.max) if d.kind == "u" and values.dtype.kind != "f" else Int(limits.min)
        if values.size and values.dtype != d and not (low <= values.min() and values.max() <= limits.max):
            raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def typename(x: object) -> str:
    """x's class as PyTorch's argument errors name it: int, Tensor, torch.dtype, numpy.float64."""
    cls = type(x)
    if cls in (dtype, device, layout, memory_format):
        return f"torch.{cls.__name__}"
    return f"{cls.__module__}.{cls.__name__}" if cls.__module__.partition(".")[0] == "numpy" else cls.__name__


# ---- promotion ----


def get_default_dtype() -> dtype:
    """The dtype of new float tensors; torch.float32 unless set."""
    return of(promote.default.float_)


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating-point dtype, the dtype of new float tensors, in every thread."""
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d.itemsize == 1:
        raise TypeError(f"couldn't find storage object {d.scalar}Storage")
    promote.default.float_ = d.numpy


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that type1 and type2 fit in by PyTorch's rules: a float wins over every integer, whatever its size."""
    a, b = _check("promote_types", "type1", 1, type1), _check("promote_types", "type2", 2, type2)
    if a is b:
        return a
    if a.is_complex or b.is_complex or a.name not in names.SCALAR or b.name not in names.SCALAR:
        return _names().promoted(a, b)
    if b is bool:
        return a
    if a is bool:
        return b
    if a.is_floating_point != b.is_floating_point:
        return a if a.is_floating_point else b
    if a.itemsize != b.itemsize:
        big, small = (a, b) if a.itemsize > b.itemsize else (b, a)
        return big if big.is_signed or not small.is_signed else _wider(big)
    return float32 if a.is_floating_point else _wider(a)        # float16 with bfloat16; uint8 with int8


def _wider(a: dtype) -> dtype:
    return {1: int16, 2: int32, 4: int64}[a.itemsize]


def can_cast(from_: dtype, to: dtype) -> Bool:
    """May an in-place result of dtype `from_` be stored as `to`?  Not complex to real, float to integer, others to bool."""
    a, b = _check("can_cast", "from_", 1, from_), _check("can_cast", "to", 2, to)
    if b is bool or b.is_complex or a.is_complex:
        return a is bool or b.is_complex
    return not a.is_floating_point or not _whole(b)


def _whole(d: dtype) -> Bool:
    return d.scalar in ("Byte", "Char", "Short", "Int", "Long", "UInt16", "UInt32", "UInt64")


def _check(function: str, name: str, position: Int, d: object) -> dtype:
    if not isinstance(d, dtype):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be torch.dtype, not {typename(d)}")
    return d


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype of tensor + other: tensors or Python numbers; numbers and 0-dim tensors give way within their kind."""
    for x in (tensor, other):
        if not isinstance(x, (TensorBase, Float, Int, complex)):
            raise TypeError(
                f"result_type() received an invalid combination of arguments - got ({typename(tensor)}, "
                f"{typename(other)}), but expected one of:\n * (Tensor tensor, Tensor other)\n"
                " * (Number scalar, Tensor tensor)\n * (Tensor tensor, Number other)\n"
                " * (Number scalar1, Number scalar2)\n")
    return of(promote.result_dtype([x.array if isinstance(x, TensorBase) else x for x in (tensor, other)]))


# ---- limits ----

# (bits of the mantissa, bits of the exponent), IEEE 754 and bfloat16
_FORMATS: Final = {"float64": (52, 11), "float32": (23, 8), "float16": (10, 5), "bfloat16": (7, 8)}


class finfo:
    """Limits of a floating-point dtype (the default one when none is given), as Python floats; dtype is its name."""

    __module__ = "retrograd"

    bits: Int
    eps: Float
    max: Float
    min: Float
    smallest_normal: Float
    tiny: Float
    resolution: Float
    dtype: str

    def __init__(self, type: object = None) -> None:
        d = (get_default_dtype() if type is None else _limits_of("finfo", type)).to_real()
        if not d.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        self.bits = d.itemsize * 8
        self.dtype = d.name
        if d.itemsize == 1:
            self.eps, self.max, self.min, self.tiny = _names().limits(d)
            self.smallest_normal, self.resolution = self.tiny, 1.0
            return
        mantissa, exponent = _FORMATS[d.name]
        top = 2 ** (exponent - 1) - 1
        self.eps = 2.0**-mantissa
        self.max = (2.0 - self.eps) * 2.0**top
        self.min = -self.max
        self.smallest_normal = self.tiny = 2.0 ** (1 - top)
        self.resolution = 10.0 ** -Int(mantissa * 0.30103)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")

    def __eq__(self, other: object) -> Bool:
        return self.dtype == other.dtype if isinstance(other, finfo) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


class iinfo:
    """Limits of an integer dtype, as Python ints; dtype is its name."""

    __module__ = "retrograd"

    bits: Int
    max: Int
    min: Int
    dtype: str

    def __init__(self, type: object) -> None:
        d = _limits_of("iinfo", type)
        unsigned = d.name.startswith(("u", "qu"))
        if d is not bool and not _whole(d) and not d.scalar.startswith("Q"):
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if d is bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        self.bits = d.itemsize * 8
        self.dtype = d.name
        self.min = 0 if unsigned else -(2 ** (self.bits - 1))
        self.max = self.min + 2**self.bits - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> Bool:
        return self.dtype == other.dtype if isinstance(other, iinfo) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _limits_of(function: str, d: object) -> dtype:
    found = _python.get(d) if isinstance(d, type) else None
    if found is not None:
        return found
    if not isinstance(d, dtype):
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {typename(d)}")
    return d


# ---- device, layout, memory format ----

_DEVICES: Final = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")


class device:
    """Where a tensor lives: device("cpu"), device("cuda:1"), device("cpu", 0).

    Every device that PyTorch knows can be named; only the CPU can be computed on (`check_device`).
    """

    __module__ = "retrograd"

    __slots__ = ("index", "type")

    type: str
    index: Int | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind, index = _device_arguments(args, kwargs)
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", index)

    def __setattr__(self, key: str, value: object) -> None:
        if key in device.__slots__:
            raise AttributeError(f"attribute '{key}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{key}'")

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> Bool:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> Int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> device:
        if self.type != "meta":
            check_device(self)
        from ..utils._device import DeviceContext

        _entered.contexts.append(DeviceContext(self))
        _entered.contexts[-1].__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        _entered.contexts.pop().__exit__()


class _Entered(threading.local):
    """The blocks of this thread that say a device, innermost last."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []


_entered = _Entered()


def entered() -> device:
    """The device of the innermost block."""
    found: device = _entered.contexts[-1].device if _entered.contexts else cpu
    return found


def on_meta(d: object) -> Bool:
    """Does device=d ask for tensors without memory?"""
    return d is not None and d is not cpu and d != "cpu" and (d if isinstance(d, device) else device(d)).type == "meta"


class OnMeta(RuntimeError):
    """Of a function that knows no tensors without memory."""


def _device_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Int | None]:
    """device(device), device(str), device(str, int), by position or by name -> (type, index)."""
    given = {**dict(zip(("type", "index"), args, strict=False)), **kwargs}
    if len(args) + len(kwargs) == 1 and "index" not in given:
        (only,) = given.values()
        if isinstance(only, str):
            return _parse(only)
        if "type" not in kwargs and isinstance(only, device):
            return only.type, only.index
        if "type" not in kwargs and isinstance(only, Int) and not isinstance(only, Bool):
            raise RuntimeError(
                "Device index must not be negative" if only < 0 else
                "Cannot access accelerator device when none is available.")
    elif len(args) + len(kwargs) == 2 and set(given) == {"type", "index"}:
        kind, index = given["type"], given["index"]
        if not isinstance(kind, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {typename(kind)}")
        if index is None:
            return _parse(kind)
        if not isinstance(index, Int) or isinstance(index, Bool):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {typename(index)}")
        if index < 0:
            raise RuntimeError("Device index must not be negative")
        found, extra = _parse(kind)
        if extra is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: {kind}")
        return found, index
    got = ", ".join(map(typename, args)) + "".join(f"{k}={typename(v)}, " for k, v in kwargs.items())
    raise TypeError(
        f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (torch.device device)\n * (str type, int index = -1)\n")


def _parse(text: str) -> tuple[str, Int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    if text in _DEVICES:
        return text, None
    match = re.fullmatch(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    kind, index = match.groups()
    if kind not in _DEVICES:
        raise RuntimeError(f"Expected one of {', '.join(_DEVICES)} device type at start of device string: {kind}")
    return kind, None if index is None else Int(index)


cpu: Final = device("cpu")


def check_device(d: object) -> None:
    """Accept None and the CPU as the argument device=d of a function; PyTorch's error for any other device."""
    if d is None or d is cpu or d == "cpu":
        return
    found = d if isinstance(d, device) else device(d)
    if found.type != "cpu":
        ours = (
            f"retrograd computes on the CPU and has no device '{found}'. Leave device= out, or choose it with "
            "device = 'cuda' if torch.cuda.is_available() else 'cpu', which is 'cpu' here.")
        if found.type == "meta":
            raise OnMeta(f"this function makes no tensors on device='{found}'")
        if found.type in ("cuda", "xpu", "mtia"):
            raise AssertionError(f"Torch not compiled with {found.type.upper()} enabled\n{ours}")
        raise RuntimeError(f"PyTorch is not linked with support for {found.type} devices\n{ours}")


class _Constant:
    """A named value that survives pickle and copy as the same object."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Constant):
    """How a tensor is stored: always torch.strided; the others are there by name, for programs that compare."""

    __module__ = "retrograd"
    __slots__ = ()


class memory_format(_Constant):
    """The order of a tensor's dimensions in memory, by name."""

    __module__ = "retrograd"
    __slots__ = ()


strided: Final = layout("strided")
sparse_coo: Final = layout("sparse_coo")
sparse_csr: Final = layout("sparse_csr")
sparse_csc: Final = layout("sparse_csc")
sparse_bsr: Final = layout("sparse_bsr")
sparse_bsc: Final = layout("sparse_bsc")
jagged: Final = layout("jagged")
contiguous_format: Final = memory_format("contiguous_format")
preserve_format: Final = memory_format("preserve_format")
channels_last: Final = memory_format("channels_last")
channels_last_3d: Final = memory_format("channels_last_3d")


def rank_of(format: Any, ndim: Int) -> Int:
    """How many dims tensors of a memory format have; ndim where any number will do."""
    return 4 if format is channels_last else 5 if format is channels_last_3d else ndim


def check_format(wanted: Any, ndim: Int) -> None:
    """RuntimeError when tensors of so many dims cannot be laid out in a memory format."""
    rank = rank_of(wanted, ndim)
    if ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")
