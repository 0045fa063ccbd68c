"""A pickle reader that can only build plain containers, numbers, strings and tensors.  No code of a file ever runs.

It interprets the instructions that PyTorch's files use (protocol 2) and refuses all others; names stand for nothing but
the entries of `NAMES` and what the user allowed.  There is no recursion.

NOTE [Room]: a byte of the file can ask for hundreds of memory (an empty set), a call for a copy of a long list.  So each
instruction takes what it may allocate, at most, out of a room in proportion to the file, several times what files of
torch.save need; a file that asks for more is refused.
"""
from __future__ import annotations

import pickle
import struct
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

UnpicklingError = pickle.UnpicklingError


class NotAllowed(UnpicklingError):
    """The file asks for a class or function that the user may allow."""


class NotHere(UnpicklingError):
    """The file holds a kind of tensor that retrograd lacks."""


class Theirs(Exception):
    """Carries an error of the user's own code past what is made of errors here."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
UNSUPPORTED = (
    "Unsupported global: GLOBAL {0} was not an allowed global by default. Please use "
    "`torch.serialization.add_safe_globals([{0}])` or the `torch.serialization.safe_globals([{0}])` context manager to "
    "allowlist this global if you trust this class/function.")
MARK = object()
LONGEST = 300                                   # characters of a name in a message
PARTS = 1000                                    # of a tuple that is a key
SAME = 100                                      # keys of one hash
ROOM, EACH = 1 << 24, 64                        # bytes, and for each byte of the pickle
TOO_LARGE = "the file asks for more memory than torch.save's files do: it is damaged, or made to exhaust memory"


class Unpickler:
    """load() gives the object that `data` describes.

    names        what a global name stands for
    allowed      classes and functions of the user, called as they are
    persistent   what a persistent id stands for
    """

    def __init__(
        self, data: bytes, names: dict[str, Any], allowed: dict[str, Any], persistent: Callable[[Any], Any],
    ) -> None:
        self.data = data
        self.at = 0
        self.names = names
        self.allowed = allowed
        self.persistent = persistent
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.keys = Keys(len(data))
        self.copied = 0                         # bytes that calls may have copied, see NOTE [Room]

    def load(self) -> Any:
        """The object; UnpicklingError for anything else than a whole and harmless pickle."""
        room = ROOM + EACH * len(self.data)
        try:
            while True:
                op = self.take(1)[0]
                if op == STOP:
                    return self.pop()
                run = TABLE.get(op)
                if run is None:
                    raise UnpicklingError(f"Unsupported operand {op}")
                room -= TAKES[op]
                if room < self.copied:
                    raise UnpicklingError(TOO_LARGE)
                run(self)
        except UnpicklingError:
            raise
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, struct.error,
                UnicodeDecodeError) as error:
            raise UnpicklingError(f"corrupt pickle at byte {self.at}: {type(error).__name__}: {error}") from None

    def take(self, n: int) -> bytes:
        out = self.data[self.at:self.at + n]
        if len(out) < n:
            raise UnpicklingError("pickle data was truncated")
        self.at += n
        return out

    def line(self) -> str:
        end = self.data.index(b"\n", self.at)
        out = self.data[self.at:end]
        self.at = end + 1
        return out.decode("utf-8")

    def number(self, layout: str) -> Any:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def pop(self) -> Any:
        found = self.stack.pop()
        if found is MARK:
            raise UnpicklingError("unexpected MARK found")
        return found

    def top(self) -> Any:
        found = self.stack[-1]
        if found is MARK:
            raise UnpicklingError("unexpected MARK found")
        return found

    def to_mark(self) -> list[Any]:
        stack = self.stack
        for i in range(len(stack) - 1, -1, -1):
            if stack[i] is MARK:
                out = stack[i + 1:]
                del stack[i:]
                return out
        raise UnpicklingError("no MARK found")

    # Instructions

    def proto(self) -> None:
        self.take(1)

    def mark(self) -> None:
        self.stack.append(MARK)

    def none(self) -> None:
        self.stack.append(None)

    def true(self) -> None:
        self.stack.append(True)

    def false(self) -> None:
        self.stack.append(False)

    def empty_list(self) -> None:
        self.stack.append([])

    def empty_dict(self) -> None:
        self.stack.append({})

    def empty_tuple(self) -> None:
        self.stack.append(())

    def empty_set(self) -> None:
        self.stack.append(set())

    def int4(self) -> None:
        self.stack.append(self.number("<i"))

    def int1(self) -> None:
        self.stack.append(self.take(1)[0])

    def int2(self) -> None:
        self.stack.append(self.number("<H"))

    def long1(self) -> None:
        self.stack.append(int.from_bytes(self.take(self.take(1)[0]), "little", signed=True))

    def float8(self) -> None:
        self.stack.append(self.number(">d"))

    def unicode(self) -> None:
        self.stack.append(self.take(self.number("<I")).decode("utf-8", "surrogatepass"))

    def short_string(self) -> None:
        self.stack.append(self.take(self.take(1)[0]).decode("latin-1"))

    def tuple_(self) -> None:
        self.stack.append(tuple(self.to_mark()))

    def tuple1(self) -> None:
        self.stack.append((self.pop(),))

    def tuple2(self) -> None:
        b, a = self.pop(), self.pop()
        self.stack.append((a, b))

    def tuple3(self) -> None:
        c, b, a = self.pop(), self.pop(), self.pop()
        self.stack.append((a, b, c))

    def get1(self) -> None:
        self.stack.append(self.memo[self.take(1)[0]])

    def get4(self) -> None:
        self.stack.append(self.memo[self.number("<I")])

    def put1(self) -> None:
        self.memo[self.take(1)[0]] = self.top()

    def put4(self) -> None:
        self.memo[self.number("<I")] = self.top()

    def append(self) -> None:
        item = self.pop()
        self.a_list().append(item)

    def appends(self) -> None:
        items = self.to_mark()
        self.a_list().extend(items)

    def a_list(self) -> list[Any]:
        found = self.top()
        if type(found) is not list:
            raise UnpicklingError(f"Can only append to lists, but got {type(found)}")
        return found

    def setitem(self) -> None:
        value, key = self.pop(), self.pop()
        self.a_dict("SETITEM")[self.keys.admit(key)] = value

    def setitems(self) -> None:
        items = self.to_mark()
        table = self.a_dict("SETITEMS")
        for i in range(0, len(items), 2):
            table[self.keys.admit(items[i])] = items[i + 1]

    def a_dict(self, name: str) -> Any:
        found = self.top()
        if type(found) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(
                f"Can only {name} for dict, collections.OrderedDict, collections.Counter, but got {type(found)}")
        return found

    def global_(self) -> None:
        module, name = self.line(), self.line()
        path = f"{MODULES.get(module, module)}.{name}"[:LONGEST]
        found = self.names.get(path)
        if found is None:
            found = self.allowed.get(path)
            if found is not None:
                found = Allowed(found)
        if found is None and module == "torch" and name.islower():
            raise NotHere(f"retrograd has no {path}")    # a dtype or layout
        if found is None:
            raise NotAllowed(UNSUPPORTED.format(path.removeprefix("builtins.")))
        self.stack.append(found)

    def reduce(self) -> None:
        args, what = self.pop(), self.pop()
        if not isinstance(what, (Build, Allowed)) or type(args) is not tuple:
            raise NotAllowed(f"Trying to call reduce for unrecognized function {type(what)}")
        for x in args:                          # of which the call may make a copy
            if type(x) in COPIES:
                self.copied += COPIES[type(x)] * len(x)
        self.stack.append(what.make(self.keys, *plain(args)) if isinstance(what, Keyed) else what.make(*plain(args)))

    def newobj(self) -> None:
        args, what = self.pop(), self.pop()
        if not isinstance(what, Allowed) or not isinstance(what.target, type) or type(args) is not tuple:
            raise NotAllowed(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{type(what)}")
        self.stack.append(their(what.target.__new__, what.target, *plain(args)))

    def build(self) -> None:
        state, it = self.pop(), self.top()
        if type(state) in COPIES:
            self.copied += COPIES[type(state)] * len(state)
        if type(it) is OrderedDict:
            set_attributes(it, state)
        elif any(type(it) is x for x in self.allowed.values()):
            their(restore, it, plain((state,))[0])
        else:
            raise NotAllowed(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(it)}")

    def persid(self) -> None:
        pid = self.pop()
        if type(pid) is not tuple:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
        if not pid or pid[0] != "storage":
            raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(pid)}")
        self.stack.append(self.persistent(pid))


class Build:
    """A name that may be called: `make` checks its arguments."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make


class Keyed(Build):
    """One that makes keys of its arguments, and asks the Keys that it gets first."""


class Allowed:
    """A class or function that the user allowed."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def make(self, *args: Any) -> Any:
        return their(self.target, *args)


def their(run: Callable[..., Any], *args: Any) -> Any:
    """run(*args), whose errors are the user's own."""
    try:
        return run(*args)
    except Exception as error:
        raise Theirs(error) from None


class Keys:
    """The keys of a file of some length, but for such as have hashes of their own.

    Keys of one hash are compared with each other: a hundred thousand, in a megabyte, would take half a minute.
    """

    def __init__(self, length: int) -> None:
        self.same: dict[int, list[Any]] = {}
        self.parts = 1_000_000 + length         # of tuples: a part takes a byte, but one tuple may be a key again and again

    def admit(self, x: Any) -> Any:
        """x, if it can be hashed in no time, and few other keys have its hash."""
        if type(x) is str or (type(x) is int and -sys.hash_info.modulus < x < sys.hash_info.modulus):
            return x
        self.parts -= parts_of(x)
        if self.parts < 0:
            raise UnpicklingError("the keys are tuples of too many parts together")
        others = self.same.setdefault(hash(x), [])
        if x not in others:
            if len(others) == SAME:
                raise UnpicklingError(f"more than {SAME} keys have one hash: the file is damaged, or made to take for ever")
            others.append(x)
        return x


def plain(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments for a call: allowed classes as themselves."""
    return tuple(x.target if isinstance(x, Allowed) else x for x in args)


def parts_of(x: Any) -> int:
    """How many parts hashing x looks at; UnpicklingError when too many.

    Hashing a tuple of tuples of tuples takes C stack, and time that doubles with each level when levels are shared.
    """
    seen = 0
    if isinstance(x, tuple):
        left = [x]
        while left:
            for part in left.pop():
                seen += 1
                if isinstance(part, tuple):
                    left.append(part)
            if seen + len(left) > PARTS:
                raise UnpicklingError("a key is a tuple of too many parts")
    return seen


def set_attributes(it: Any, state: Any) -> None:
    """Hang plain data on an object, none of which may hide one of its methods."""
    if type(state) not in (dict, OrderedDict):
        raise UnpicklingError(f"the attributes of a {type(it).__name__} are no dict but {type(state)}")
    for name in state:
        if type(name) is not str or hasattr(type(it), name):
            shown = repr(name[:LONGEST]) if type(name) is str else f"named by {type(name)}"
            raise UnpicklingError(f"a {type(it).__name__} may not be given an attribute {shown}")
    it.__dict__.update(state)


def restore(it: Any, state: Any) -> None:
    """What pickle does with the state of an object."""
    if hasattr(it, "__setstate__"):
        it.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        it.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(it, name, value)


STOP = pickle.STOP[0]
TABLE: dict[int, Callable[[Unpickler], None]] = {
    op[0]: run for op, run in (
        (pickle.PROTO, Unpickler.proto), (pickle.MARK, Unpickler.mark), (pickle.NONE, Unpickler.none),
        (pickle.NEWTRUE, Unpickler.true), (pickle.NEWFALSE, Unpickler.false),
        (pickle.EMPTY_LIST, Unpickler.empty_list), (pickle.EMPTY_DICT, Unpickler.empty_dict),
        (pickle.EMPTY_TUPLE, Unpickler.empty_tuple), (pickle.EMPTY_SET, Unpickler.empty_set),
        (pickle.BININT, Unpickler.int4), (pickle.BININT1, Unpickler.int1), (pickle.BININT2, Unpickler.int2),
        (pickle.LONG1, Unpickler.long1), (pickle.BINFLOAT, Unpickler.float8),
        (pickle.BINUNICODE, Unpickler.unicode), (pickle.SHORT_BINSTRING, Unpickler.short_string),
        (pickle.TUPLE, Unpickler.tuple_), (pickle.TUPLE1, Unpickler.tuple1), (pickle.TUPLE2, Unpickler.tuple2),
        (pickle.TUPLE3, Unpickler.tuple3), (pickle.BINGET, Unpickler.get1), (pickle.LONG_BINGET, Unpickler.get4),
        (pickle.BINPUT, Unpickler.put1), (pickle.LONG_BINPUT, Unpickler.put4), (pickle.APPEND, Unpickler.append),
        (pickle.APPENDS, Unpickler.appends), (pickle.SETITEM, Unpickler.setitem),
        (pickle.SETITEMS, Unpickler.setitems), (pickle.GLOBAL, Unpickler.global_),
        (pickle.REDUCE, Unpickler.reduce), (pickle.NEWOBJ, Unpickler.newobj), (pickle.BUILD, Unpickler.build),
        (pickle.BINPERSID, Unpickler.persid))}
# NOTE [Room]: what an instruction may allocate, in bytes
TAKES = [24] * 256                              # what lies on the stack, and then in a list
for _op, _bytes in ((pickle.EMPTY_LIST, 88), (pickle.EMPTY_DICT, 96), (pickle.EMPTY_SET, 248), (pickle.TUPLE1, 64),
                    (pickle.TUPLE2, 64), (pickle.TUPLE3, 72), (pickle.TUPLE, 56), (pickle.APPEND, 40), (pickle.SETITEM, 168),
                    (pickle.SETITEMS, 168), (pickle.APPENDS, 40), (pickle.BINPUT, 16), (pickle.LONG_BINPUT, 130),
                    (pickle.REDUCE, 256), (pickle.NEWOBJ, 256), (pickle.BUILD, 168), (pickle.BINPERSID, 100),
                    (pickle.GLOBAL, 100), (pickle.BINFLOAT, 32), (pickle.BININT, 40), (pickle.BININT2, 40),
                    (pickle.LONG1, 40), (pickle.BINUNICODE, 80), (pickle.SHORT_BINSTRING, 80)):
    TAKES[_op[0]] = _bytes
COPIES: dict[type, int] = {list: 96, tuple: 96, dict: 128, OrderedDict: 128, Counter: 128, str: 2, bytes: 1, bytearray: 1}
