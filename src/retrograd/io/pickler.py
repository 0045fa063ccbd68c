"""A pickle writer (protocol 2) that names things as PyTorch does, so that PyTorch reads what is written here."""
from __future__ import annotations

import copyreg
import importlib
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

BATCH = 1000                                    # items per APPENDS or SETITEMS, as in pickle


class Name:
    """A global name to be written as it is: Name("torch._utils", "_rebuild_tensor_v2")."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


class Persistent:
    """A persistent id."""

    def __init__(self, pid: tuple[Any, ...]) -> None:
        self.pid = pid


class Call:
    """name(*args)"""

    def __init__(self, name: Any, *args: Any) -> None:
        self.name = name
        self.args = args


class Pickler:
    """dump(x) gives the pickle of x.

    translate   x -> what to write for it: a Name, Call, Persistent, or None for "as usual"
    """

    def __init__(self, translate: Callable[[Any], Any]) -> None:
        self.translate = translate
        self.out: list[bytes] = []
        self.memo: dict[Any, int] = {}
        self.keep: list[Any] = []               # what was written must not die: the memo knows it by its id

    def dump(self, x: Any) -> bytes:
        """The pickle; PicklingError for what has no description."""
        self.out = [pickle.PROTO, b"\x02"]
        self.write(x)
        self.out.append(pickle.STOP)
        return b"".join(self.out)

    def put(self, key: Any) -> None:
        i = self.memo[key] = len(self.memo)
        self.out += [pickle.BINPUT, bytes([i])] if i < 256 else [pickle.LONG_BINPUT, struct.pack("<I", i)]

    def get(self, key: Any) -> bool:
        i = self.memo.get(key)
        if i is None:
            return False
        self.out += [pickle.BINGET, bytes([i])] if i < 256 else [pickle.LONG_BINGET, struct.pack("<I", i)]
        return True

    def write(self, x: Any) -> None:
        cls = type(x)
        run = EXACT.get(cls)
        if run is not None and cls in UNSHARED:
            run(self, x)
            return
        if cls is Name:
            self.name(x)
            return
        if cls is Persistent:
            self.write(x.pid)
            self.out.append(pickle.BINPERSID)
            return
        if cls is Call:
            self.call(x.name, x.args)
            return
        key = ("str", x) if cls is str else id(x)
        if self.get(key):
            return
        self.keep.append(x)
        if run is not None:
            run(self, x, key)
            return
        instead = self.translate(x)
        if instead is not None:
            self.write(instead)
            if type(instead) is Call:
                self.put(key)
        elif cls is FunctionType or issubclass(cls, type):
            self.named(x, x.__module__, x.__qualname__)
        else:
            self.by_reduce(x, key)

    def name(self, name: Name) -> None:
        key = ("name", name.module, name.name)
        if not self.get(key):
            self.out += [pickle.GLOBAL, name.module.encode(), b"\n", name.name.encode(), b"\n"]
            self.put(key)

    def named(self, x: Any, module: str, path: str) -> None:
        """A class or function, if it can be found by its name."""
        try:
            found: Any = importlib.import_module(module)
        except ImportError:
            found = None
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not x:
            if "<locals>" in path:
                raise AttributeError(f"Can't pickle local object '{path}'")
            raise pickle.PicklingError(f"Can't pickle {x}: attribute lookup {path} on {module} failed")
        self.name(Name({"builtins": "__builtin__"}.get(module, module), path))

    def call(self, name: Any, args: Any) -> None:
        self.write(name)
        self.write(tuple(args))
        self.out.append(pickle.REDUCE)

    def by_reduce(self, x: Any, key: Any) -> None:
        """Any other object, as its __reduce_ex__ says."""
        reduce = copyreg.dispatch_table.get(type(x))
        said = x.__reduce_ex__(2) if reduce is None else reduce(x)
        if isinstance(said, str):               # a name: C functions say so, NumPy's among them
            self.named(x, pickle.whichmodule(x, said), said)  # type: ignore[attr-defined]
            return
        if not isinstance(said, tuple):
            raise pickle.PicklingError(f"Can't pickle {x!r}: it is described by {said!r}")
        make, args, state, items, pairs = (*said, None, None, None)[:5]
        if getattr(make, "__name__", "") == "__newobj__":
            self.write(args[0])
            self.write(tuple(args[1:]))
            self.out.append(pickle.NEWOBJ)
        else:
            self.call(make, args)
        self.put(key)
        if items is not None:
            self.items(list(items))
        if pairs is not None:
            self.pairs(list(pairs))
        if state is not None:
            self.write(state)
            self.out.append(pickle.BUILD)

    def none(self, x: None) -> None:
        self.out.append(pickle.NONE)

    def bool(self, x: bool) -> None:
        self.out.append(pickle.NEWTRUE if x else pickle.NEWFALSE)

    def int(self, x: int) -> None:
        if 0 <= x < 256:
            self.out += [pickle.BININT1, bytes([x])]
        elif 0 <= x < 65536:
            self.out += [pickle.BININT2, struct.pack("<H", x)]
        elif -0x80000000 <= x < 0x80000000:
            self.out += [pickle.BININT, struct.pack("<i", x)]
        else:
            data = x.to_bytes(x.bit_length() // 8 + 1, "little", signed=True)
            if len(data) > 255:
                raise pickle.PicklingError(f"an int of {len(data)} bytes cannot be read back by torch.load")
            self.out += [pickle.LONG1, bytes([len(data)]), data]

    def float(self, x: float) -> None:
        self.out += [pickle.BINFLOAT, struct.pack(">d", x)]

    def str(self, x: str, key: Any) -> None:
        data = x.encode("utf-8", "surrogatepass")
        self.out += [pickle.BINUNICODE, struct.pack("<I", len(data)), data]
        self.put(key)

    def bytes(self, x: bytes, key: Any) -> None:
        self.call(Name("_codecs", "encode"), (x.decode("latin-1"), "latin1"))
        self.put(key)

    def bytearray(self, x: bytearray, key: Any) -> None:
        self.call(Name("__builtin__", "bytearray"), (x.decode("latin-1"), "latin-1"))
        self.put(key)

    def complex(self, x: complex, key: Any) -> None:
        self.call(Name("__builtin__", "complex"), (x.real, x.imag))
        self.put(key)

    def tuple(self, x: tuple[Any, ...], key: Any) -> None:
        if not x:
            self.out.append(pickle.EMPTY_TUPLE)
            return
        if len(x) > 3:
            self.out.append(pickle.MARK)
        for item in x:
            self.write(item)
        if key in self.memo:                    # it contains itself, through a list or dict
            self.out.append(pickle.POP_MARK if len(x) > 3 else pickle.POP * len(x))
            self.get(key)
            return
        self.out.append((pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3, pickle.TUPLE)[min(len(x), 4) - 1])
        self.put(key)

    def list(self, x: list[Any], key: Any) -> None:
        self.out.append(pickle.EMPTY_LIST)
        self.put(key)
        self.items(x)

    def items(self, x: Any) -> None:
        for i in range(0, len(x), BATCH):
            self.out.append(pickle.MARK)
            for item in x[i:i + BATCH]:
                self.write(item)
            self.out.append(pickle.APPENDS)

    def dict(self, x: dict[Any, Any], key: Any) -> None:
        self.out.append(pickle.EMPTY_DICT)
        self.put(key)
        self.pairs([*x.items()])

    def pairs(self, x: Any) -> None:
        for i in range(0, len(x), BATCH):
            self.out.append(pickle.MARK)
            for k, v in x[i:i + BATCH]:
                self.write(k)
                self.write(v)
            self.out.append(pickle.SETITEMS)

    def set(self, x: set[Any], key: Any) -> None:
        self.call(Name("__builtin__", "set"), ([*x],))
        self.put(key)

    def ordered(self, x: OrderedDict[Any, Any], key: Any) -> None:
        self.call(Name("collections", "OrderedDict"), ())
        self.put(key)
        self.pairs([*x.items()])
        if vars(x):
            self.write(dict(vars(x)))
            self.out.append(pickle.BUILD)

    def counter(self, x: Counter[Any], key: Any) -> None:
        self.call(Name("collections", "Counter"), (dict(x),))
        self.put(key)


UNSHARED = frozenset((type(None), bool, int, float))
EXACT: dict[type, Any] = {
    type(None): Pickler.none, bool: Pickler.bool, int: Pickler.int, float: Pickler.float, str: Pickler.str,
    bytes: Pickler.bytes, bytearray: Pickler.bytearray, complex: Pickler.complex, tuple: Pickler.tuple,
    list: Pickler.list, dict: Pickler.dict, set: Pickler.set, OrderedDict: Pickler.ordered, Counter: Pickler.counter}
