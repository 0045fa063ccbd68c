"""The Python values that a function reaches: its globals, cells, defaults, attributes.

Skipping Python is right as long as Python would do the same again.  Its code does the same when all it can read is the same,
and reads nothing else: so all that the code's names can reach is noted here, numbers by value, tensors and functions by
identity, containers by their elements; what cannot be noted (iterators, files, modules of C, ...) refuses.
"""
from __future__ import annotations

import builtins
import collections
import dataclasses
import dis
import enum
import functools
import math
import operator
import re
import reprlib
import sys
import types
import weakref
from typing import Any, Final

import numpy as np

from .. import autograd, optim
from .._engine.anomaly import HOME
from .._engine.tensor import TensorBase
from .._functions import autocast as switches
from .._kernels import Function
from .._missing import late_names
from .._tensor import Tensor, dtypes
from .._tensor.home import ours
from .._tensor.size import Size
from ..nn import hooks
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..optim.optimizer import Optimizer
from .values import Guards, Refused
from .wrapper import Wrapper

MISSING: Final = object()
MOST: Final = 1 << 16          # bytes of an array that are compared at each call
HEAP: Final = 512              # of a type's flags: made by a class statement
NUMBERS: Final = (int, float, bool, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), slice, range)
PASSED: Final[set[type]] = set(NUMBERS)                        # types of what is known by its value
SORTS: Final[dict[type, str]] = {}                             # of types that no program makes
NAMES: Final = (dtypes.dtype, dtypes.device, dtypes.layout, dtypes.memory_format, Size)
TENSORS: Final = (Tensor, Parameter)
OPTIMIZERS: Final = tuple(x for x in vars(optim).values() if isinstance(x, type) and issubclass(x, Optimizer) and x not in (
    Optimizer, optim.LBFGS, optim.SparseAdam))
SAFE: Final = {*[getattr(builtins, name) for name in """
    abs all any bool bytes complex dict divmod enumerate filter float frozenset int isinstance issubclass len list map max
    min pow range reversed round slice sorted str sum tuple zip super object property staticmethod classmethod type
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NotImplementedError
    RuntimeError StopIteration TypeError ValueError ZeroDivisionError BaseException hash
""".split()], *[x for x in (*vars(math).values(), *vars(operator).values()) if callable(x)], functools.partial, functools.reduce,
               collections.OrderedDict, collections.defaultdict, collections.deque, tuple.__new__} - {
                   operator.attrgetter, operator.methodcaller, operator.mod, operator.imod}
# Functions of ours that the dispatch point does not hear of, and what a call may do with them.
UNHEARD: Final = set("""
    clip_grad_norm_ clip_grad_value_ is_grad_enabled get_default_dtype is_tensor is_inference_mode_enabled get_device is_compiling
    is_dynamo_compiling is_scripting is_tracing kl_divergence functional_call
""".split())
SCOPES: Final = (autograd.no_grad, autograd.enable_grad)
CHANGES: Final = set("""
    inference_mode detect_anomaly set_detect_anomaly Generator saved_tensors_hooks save_on_cpu fork_rng
""".split())
WRITES: Final = set("param_groups state defaults add_param_group load_state_dict state_dict".split())
OPCODES: Final = {
    "STORE_GLOBAL": "sets a global", "DELETE_GLOBAL": "deletes a global", "IMPORT_NAME": "imports", "IMPORT_STAR": "imports",
    "MATCH_CLASS": "matches a class pattern", "BUILD_SET": "makes a set", "SET_UPDATE": "makes a set", "SET_ADD": "makes a set"}
# Of modules and optimizers: what a call looks at to find hooks
HOOKS: Final = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
STEP_HOOKS: Final = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
# Nobody has to look into them.  No call reads a module's _non_persistent_buffers_set
TABLES: Final = {"_non_persistent_buffers_set", *[name for name in vars(Module()) if "_hooks" in name]}
PARTS: Final = ("_parameters", "_buffers", "_modules")
# Special methods that nothing calls unasked, and the operations that call some of them
ASKED: Final = set("""
    __copy__ __deepcopy__ __dir__ __fspath__ __getnewargs__ __getnewargs_ex__ __getstate__ __setstate__ __reduce__ __reduce_ex__
    __replace__ __sizeof__ __init_subclass__ __class_getitem__ __set_name__ __subclasshook__
    __repr__ __str__ __format__ __setattr__ __delattr__""".split())
HIDDEN: Final = {"__getattribute__", "__globals__", "__code__", "__closure__", "_is_view", "_base", "format_map"}
WORDED: Final = ("__repr__", "__str__", "__format__")
ASKS: Final = {"FORMAT_VALUE": WORDED, "FORMAT_SIMPLE": WORDED, "FORMAT_WITH_SPEC": WORDED, "CONVERT_VALUE": WORDED,
               "STORE_ATTR": ("__setattr__",), "DELETE_ATTR": ("__delattr__",)}
NONE: Final[set[str]] = set()
NOTHING: Final[dict[str, Any]] = {}
describing: Final = late_names.__module__
VALUES: Final = (int, float, complex, str, bytes, tuple)   # never change; classes may extend them
# Where code lies that computes nothing but what a class statement says
TRUSTED: Final = {f.__code__.co_filename for f in (dataclasses.fields, enum.unique, reprlib.recursive_repr)}
METHODS: Final = (types.FunctionType, property, staticmethod, classmethod)
OF_C: Final = (types.MethodDescriptorType, types.WrapperDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType,
        types.ClassMethodDescriptorType)
OPERATORS: Final = {f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in """
    add sub mul truediv floordiv mod pow matmul and or xor getitem neg pos abs invert eq ne lt le gt ge""".split()}
CALLS: Final = tuple([name for name in sorted(OPERATORS) if hasattr(Tensor, name)])
OF_TENSOR: Final = [vars(k) for k in Tensor.__mro__]


def foreign(names: set[str]) -> set[str]:
    """Those that no Tensor has, unless it is given them: hasattr words an error for each."""
    return {name for name in names if not any([name in table for table in OF_TENSOR])}


def spelled(path: Any) -> str:
    """A path as text: made of (what it begins with, a format, a name)."""
    return path if type(path) is str else path[1].format(spelled(path[0]), path[2])


def entries(x: dict[Any, Any], passed: set[type], skipped: set[str]) -> tuple[Any, ...]:
    """Its keys, its values, [key, value, ...] of those to be looked into, keys of empty dicts, and whether all keys are text."""
    rest: list[Any] = []
    empty: list[str] = []
    for key, y in dict.items(x):
        text = type(key) is str
        if text and type(y) is dict and not y and key not in skipped:
            empty.append(key)
        elif type(y) not in passed and not (text and key in skipped):
            rest.extend((key, y))
    return tuple(dict.keys(x)), tuple(dict.values(x)), rest, tuple(empty), all(type(key) is str for key in dict.keys(x))


def found_at(holder: Any, names: tuple[str, ...], missing: Any) -> tuple[Any, ...]:
    """What a dict has, or the dict of a class."""
    table = vars(holder) if isinstance(holder, type) else holder
    return tuple([table.get(name, missing) for name in names])


contents: Final[Any] = entries if Guards is None else Guards.contents
values_at: Final[Any] = found_at if Guards is None else Guards.values


def sort_of(kind: type) -> str:
    """How objects of that type are looked at."""
    found = SORTS.get(kind)
    if found is None:
        found = sorted_out(kind)
        if not kind.__flags__ & HEAP or ours(kind.__module__):
            SORTS[kind] = found
    return found


def sorted_out(kind: type) -> str:
    for sort, kinds in BY_KIND:
        if kind in kinds:
            return sort
    for sort, bases in BY_BASE:
        if issubclass(kind, bases):
            return sort
    if ours(kind.__module__):
        return "live" if hasattr(kind, "_asked") else "own"
    return "other"


refusing: Final[weakref.WeakSet[Any]] = weakref.WeakSet()      # functions given to torch.compiler.disable


class Reach:
    """All that `f` and what it refers to may read.

    guards   (kind, object, key, what it was): "dict", "cell", "attr", "items", "type"; of several keys "table", "dicts" and
             "attrs", with tuples, and "empty" and "filled", of dicts
    tensors  those that were met
    """

    def __init__(self) -> None:
        self.guards: list[tuple[str, Any, Any, Any]] = []
        self.paths: list[Any] = []
        self.tensors: list[TensorBase] = []
        self.optimizers: list[Any] = []
        self.live: list[Any] = []               # objects that replays ask and change: schedulers and the like
        self.seen: set[int] = set()
        self.alive: list[Any] = []
        self.called: set[type] = set()          # classes that code may call; of others there are instances only
        self.names: set[str] = {"forward"}      # attributes that some code asks for
        self.methods: set[str] = set()          # of Tensor, noted so far
        self.codes: set[Any] = set()
        self.objects: list[tuple[Any, Any]] = []         # whose attributes are noted as far as some code asks for them
        self.todo: list[tuple[Any, Any]] = []

    def start(self, f: Any) -> None:
        self.todo.append((f, getattr(f, "__name__", type(f).__name__)))
        while self.todo:
            while self.todo:
                x, path = self.todo.pop()
                self.visit(x, path)
            for x, path in list(self.objects):
                self.attributes(x, path)
        if not self.methods:
            self.methods.update(OPERATORS)
            self.several("attrs", Tensor, CALLS, "Tensor")
        names = self.names - self.methods
        self.several("attrs", Tensor, tuple(names - foreign(names)), "Tensor")
        self.methods |= names
        if self.optimizers and not self.names.isdisjoint(WRITES):
            raise Refused(f"it may change an optimizer: {min(self.names & WRITES)}")
        for x in self.live:
            own = type(x)._asked.union(type(x)._constant)
            asked = self.names.intersection([n for n in (*vars(x), *dir(type(x))) if not n.startswith("__")]) - own
            if asked:
                raise Refused(f"it may ask a {type(x).__name__} for {min(asked)}")
        if "load_state_dict" in self.names:
            raise Refused("it may load a state dict")
        if "state_dict" in self.names:          # whose hooks are not noted
            raise Refused("it may take a state dict")

    def note(self, kind: str, holder: Any, key: Any, value: Any, path: Any) -> None:
        self.guards.append((kind, holder, key, value))
        self.paths.append(path)

    def several(self, kind: str, holder: Any, names: tuple[str, ...], path: Any) -> None:
        """Of an object's attributes, or a class's: they are what they are."""
        if names:
            table = vars(holder) if kind == "dicts" else holder
            self.note(kind, table, names, values_at(table, names, MISSING), path)

    def visit(self, x: Any, path: Any) -> None:
        kind = type(x)
        if kind in PASSED:
            return
        sort = sort_of(kind)
        if sort == "pass":
            PASSED.add(kind)
            return
        if sort == "class":
            self.called.add(x)
        if id(x) in self.seen:
            return
        self.seen.add(id(x))
        self.alive.append(x)
        if sort == "tensor":
            if kind not in TENSORS:
                raise Refused(f"{spelled(path)} is a {kind.__name__}")
            self.tensors.append(x)
            if vars(x):
                self.objects.append((x, path))
        elif sort == "mapping":
            self.mapping(x, path)
        elif sort == "module":
            self.module(x, path)
        elif sort == "array":
            if x.nbytes > MOST or x.dtype.hasobject:
                raise Refused(f"{spelled(path)} is a large NumPy array, which may change unnoticed")
            self.note("array", x, None, (x.shape, x.dtype, x.tobytes()), path)
        elif sort == "group":
            if kind is frozenset and any(isinstance(y, TensorBase) for y in x):
                raise Refused(f"{spelled(path)} is a set of tensors")
            self.elements(x, path)
        elif sort == "numbered" and all(type(y) in NUMBERS for y in x):
            self.note("set", x, None, frozenset(x), path)
        elif sort == "listed":
            self.note("items", x, None, tuple(x), path)
            self.elements(x, path)
        elif sort == "function":
            self.function(x, path)
        elif sort == "wrapped":                 # a compiled function inside another one is part of it
            self.todo.append((x.f, path))
        elif sort == "method" and type(x.__self__) in SCOPES:       # what decorates makes such a scope at each call
            pass
        elif sort == "method":
            if x.__func__ is not Module._call_impl:
                self.todo.append((x.__func__, path))
            self.todo.append((x.__self__, path))
        elif sort == "partial":
            self.todo.extend([(x.func, path), (x.args, path), (x.keywords, path)])
        elif sort == "space":
            self.objects.append((x, path))
        elif sort == "class":
            self.klass(x, path)
        elif sort == "public":
            pass
        elif sort == "native":
            if x not in SAFE and not ours(getattr(x, "__module__", None)):
                raise Refused(f"{spelled(path)} is a C function, which may do or read anything")
        elif sort == "optimizer":
            if kind not in OPTIMIZERS:
                raise Refused(f"{spelled(path)} is a {kind.__name__}")
            self.optimizer(x, path)
        elif sort == "live":
            self.note("type", x, None, kind, path)
            self.several("dicts", x, (*kind._constant, *sorted(kind._asked)), path)
            self.todo.extend([(vars(x)[name], (path, "{}.{}", name)) for name in kind._constant])
            self.live.append(x)
        elif sort == "property":
            self.todo.extend([(y, path) for y in (x.fget, x.fset) if y is not None])
        elif sort == "around":
            self.todo.append((x.__func__, path))
        elif sort == "own":
            raise Refused(f"{spelled(path)} is a {kind.__name__}")
        elif is_space(kind):                    # all of it: words, == and `in` read what no name tells of
            self.note("table", vars(x), tuple(vars(x)), tuple(vars(x).values()), path)
            self.objects.append((x, path))
            self.todo.extend([(y, (path, "{}.{}", name)) for name, y in vars(x).items() if not isinstance(y, NAMED_ALONE)])
        elif all([written(k) or k in VALUES for k in kind.__mro__[:-1]]):
            self.note("type", x, None, kind, path)
            self.todo.append((kind, kind.__name__))
            if hasattr(x, "__dict__"):
                self.objects.append((x, path))
            if isinstance(x, tuple):
                self.elements(x, path)
        else:
            raise Refused(f"{spelled(path)} is a {kind.__name__}, which may change unnoticed")

    def elements(self, x: Any, path: Any) -> None:
        for i, y in enumerate(x):
            if type(y) not in PASSED:
                self.todo.append((y, (path, "{}[{!r}]", i)))

    def mapping(self, x: Any, path: Any, skipped: set[str] = NONE) -> None:
        """skipped: keys of what nobody has to look into."""
        keys, values, rest, empty, text = contents(x, PASSED, skipped)
        self.note("table", x, keys, values, path)
        if empty:
            self.note("empty", values_at(x, empty, MISSING), empty, None, path)
        if not text and any(type(key) is not str and isinstance(key, TensorBase) for key in keys):
            raise Refused(f"{spelled(path)} is a dict of tensors")
        if not text:
            self.todo.extend([(key, (path, "a key of {}", "")) for key in keys if type(key) not in PASSED])
        for i in range(0, len(rest), 2):
            self.todo.append((rest[i + 1], (path, "{}[{!r}]", rest[i])))

    def function(self, f: Any, path: Any) -> None:
        if f in refusing:
            raise Refused(f"{spelled(path)} is marked by torch.compiler.disable")
        if ours(f.__module__):
            if not hasattr(f, "told") and f.__name__ not in UNHEARD and f not in (autograd.grad, autograd.backward):
                raise Refused(f"{spelled(path)} is not replayed yet")
            return
        if f.__code__.co_filename in TRUSTED:
            self.todo.append((getattr(f, "__wrapped__", None), path))
            return
        self.note("function", f, None, (f.__code__, f.__defaults__, f.__kwdefaults__), path)
        self.todo.extend([(y, (path, "a default of {}", "")) for y in f.__defaults__ or ()])
        if f.__kwdefaults__:
            self.mapping(f.__kwdefaults__, (path, "a default of {}", ""))
        held: dict[str, Any] = {}
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:
                raise Refused(f"{name}, which has no value yet") from None
            held[name] = value
            self.note("cell", cell, None, value, name)
            self.todo.append((value, name))
        if getattr(f, "__wrapped__", None) is not None:
            self.todo.append((f.__wrapped__, path))
        self.objects.append((f, path))
        self.code(f.__code__, f.__globals__, held, path)

    def code(self, code: Any, space: dict[str, Any], held: dict[str, Any], path: Any) -> None:
        if (code, id(space)) in self.codes:
            return
        self.codes.add((code, id(space)))
        if code.co_flags & 0x200 or code.co_flags & 0x80:
            raise Refused(f"{spelled(path)} is asynchronous")
        chains, asked, cells, refused = scanned(code)
        self.asked(asked, path)
        for base, name, attributes in chains:
            value: Any = MISSING
            if base in ("global", "named"):
                value = self.named(name, space, base == "named", not attributes)
            elif base == "cell" and name in held:
                value = held[name]
            for i, attribute in enumerate(attributes):
                if not isinstance(value, types.ModuleType) or not there(value, attribute):
                    self.asked(attributes[i:], path)
                    break
                path = f"{value.__name__}.{attribute}"
                found = getattr(value, attribute)
                self.note("dict", vars(value), attribute, vars(value).get(attribute, MISSING), path)
                if i + 1 == len(attributes) or not isinstance(found, types.ModuleType):
                    self.todo.append((found, path))
                value = found
        for name, line in cells:
            if name in held:
                raise Refused(f"{spelled(path)} sets {name}, which is not its own ({where(code, line)})")
        for what, line in refused:
            raise Refused(f"{spelled(path)} {what} ({where(code, line)})")
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                self.code(const, space, {name: held[name] for name in const.co_freevars if name in held}, path)

    def asked(self, names: tuple[str, ...], path: Any) -> None:
        """Code asks something for these attributes."""
        self.names.update(names)
        hidden = HIDDEN.intersection(names)
        if hidden:
            raise Refused(f"{spelled(path)} asks for {min(hidden)}")
        if "format" in names or "__mod__" in names:
            self.names.update(WORDED)

    def named(self, name: str, space: dict[str, Any], safe: bool, alone: bool) -> Any:
        """A global.  safe: if it is Python's own, whatever it is;  alone: of a module, any attribute may be asked for"""
        if name in space:
            self.note("dict", space, name, space[name], name)
            if alone or not isinstance(space[name], types.ModuleType):
                self.todo.append((space[name], name))
            return space[name]
        self.note("dict", space, name, MISSING, name)
        table = vars(builtins)
        if name == "str":
            self.names.update(WORDED)
        if name in table:
            self.note("dict", table, name, table[name], name)
            if not safe and not isinstance(table[name], NUMBERS) and table[name] not in SAFE:
                raise Refused(f"it calls {name}()")
        return MISSING

    def kind(self, cls: type) -> None:
        """A class that something is of."""
        if id(cls) not in self.seen:
            self.seen.add(id(cls))
            self.klass(cls, cls.__name__)

    def klass(self, cls: type, path: Any) -> None:
        if ours(cls.__module__) and cls.__name__ in CHANGES:
            raise Refused(f"{spelled(path)} is not replayed yet")
        if ours(cls.__module__) or cls in SAFE or cls.__module__ in ("builtins", "typing", "collections.abc"):
            if cls not in SAFE and not ours(cls.__module__):
                raise Refused(f"it uses {cls.__name__}")
            if issubclass(cls, switches.Switched):      # what it takes from the thread
                self.note("dict", switches._thread.dtypes, "cpu", switches._thread.dtypes["cpu"], "autocast's dtype")
                self.note("attr", switches._thread, "cached", switches._thread.cached, "autocast's cache")
            return
        if is_space(cls):
            return
        if not cls.__flags__ & HEAP or any(isinstance(y, OF_C[:2]) and y.__objclass__ is cls for y in vars(cls).values()):
            raise Refused(f"{spelled(path)} is a class of C")
        if "__getattribute__" in vars(cls):
            raise Refused(f"{spelled(path)} has its own __getattribute__")
        self.objects.append((cls, path))
        if type(cls) is not type and type(cls).__module__ not in ("abc", "enum", "typing"):
            self.todo.append((type(cls), type(cls).__name__))
        for base in cls.__mro__[1:-1]:
            if base.__module__ not in ("abc", "typing"):
                self.kind(base)

    def attributes(self, x: Any, path: Any) -> None:
        """What some code may ask of a module, a class or an instance."""
        if isinstance(x, types.ModuleType) and x.__name__ == "math":
            return
        table = vars(x)
        wanted = self.names
        if isinstance(x, type):                 # operators call what no name tells of
            wanted = wanted | ({n for n, y in table.items() if n.startswith("__") and isinstance(y, METHODS)} - ASKED)
            if x not in self.called:
                wanted = wanted - {"__init__", "__new__"}
        fresh = [name for name in sorted(wanted) if (id(x), name) not in self.codes]
        if isinstance(x, types.ModuleType):
            passing = ours(x.__name__)
            fresh = [name for name in fresh if there(x, name, passing)]
        self.codes.update([(id(x), name) for name in fresh])
        self.several("attrs" if isinstance(x, type) else "dicts", x, tuple(fresh), path)
        late = isinstance(x, types.ModuleType)  # some attributes are not in the table
        self.todo.extend([(getattr(x, name) if late else table[name], (path, "{}.{}", name)) for name in fresh
                          if late or name in table])

    def module(self, x: Any, path: Any) -> None:
        kind = type(x)
        self.note("type", x, None, kind, path)
        if kind not in self.codes:
            self.codes.add(kind)
            self.note("attr", kind, "forward", kind.forward, f"{kind.__name__}.forward")
            self.note("attr", kind, "__call__", kind.__call__, f"{kind.__name__}.__call__")
        own = vars(x)
        mine = kind in SORTS                    # no program made it
        if mine and kind is not Module or any(ours(k.__module__) and k not in Module.__mro__ for k in kind.__mro__):
            if any(values_at(own, HOOKS, NOTHING)) or hooks.everywhere():
                self.hooked(x, own, path)
            else:
                self.mapping(own, path, TABLES)     # code of ours reads its attributes
        if not mine:
            self.kind(kind)
            self.objects.append((x, path))
            read = ("training", "_parameters", "_buffers", "_modules")
            self.several("dicts", x, (*read, "_compiled_call_impl", *HOOKS), path)
            self.todo.extend([(own.get(name), (path, "{}.{}", name)) for name in read])
        self.hooks(own, HOOKS, path)

    def hooked(self, x: Any, own: dict[str, Any], path: Any) -> None:
        """A module of ours whose hooks may give it attributes: those that code of ours asks for, or that was there at first."""
        kind: Any = type(x)
        asked = asked_by(kind) | self.names
        names = tuple([key for key in own if key in asked and key not in TABLES])
        self.several("dicts", x, (*names, *[key for part in PARTS for key in own[part]]), path)
        self.todo.extend([(own[name], (path, "{}.{}", name)) for name in names])

    def optimizer(self, x: Any, path: Any) -> None:
        """Its numbers are read at each step; who is in it is noted."""
        self.optimizers.append(x)
        own = vars(x)
        self.note("type", x, None, type(x), path)
        step = own.get("step", MISSING)         # a schedule wraps it, to see that it is called
        if step is not MISSING and not ours(getattr(step, "__module__", None)):
            raise Refused(f"{spelled(path)}.step was replaced")
        self.note("dict", own, "step", step, (path, "{}.step", ""))
        groups = (path, "{}.param_groups", "")
        self.note("dict", own, "param_groups", own["param_groups"], groups)
        self.note("items", own["param_groups"], None, tuple(own["param_groups"]), groups)
        for group in own["param_groups"]:
            self.note("dict", group, "params", group["params"], groups)
            self.visit(group["params"], (groups, "{}[...]['params']", ""))
        self.hooks(own, STEP_HOOKS, path)

    def hooks(self, own: dict[str, Any], names: tuple[str, ...], path: Any) -> None:
        """Are there any?  They are called, whatever they are."""
        found = values_at(own, names, NOTHING)
        if not any(found):
            self.note("empty", found, names, None, path)
            return
        tables = dict(zip(names, found))
        for kind, there in (("filled", True), ("empty", False)):
            some = {name: table for name, table in tables.items() if bool(table) is there}
            if some:
                self.note(kind, tuple(some.values()), tuple(some), None, path)


@functools.lru_cache(maxsize=200)
def asked_by(kind: Any) -> set[str]:
    """The attributes that methods of a class of ours ask for."""
    found: set[str] = set(vars(Module()))
    todo = [y.__code__ for base in kind.__mro__ for x in vars(base).values() for y in (x, getattr(x, "fget", None))
            if isinstance(y, types.FunctionType)]
    while todo:
        code = todo.pop()
        found.update(code.co_names, [x for x in code.co_consts if type(x) is str])
        todo.extend([x for x in code.co_consts if isinstance(x, types.CodeType)])
    return found


def is_space(cls: type) -> bool:
    """Does the class name nothing but attributes?"""
    return cls is types.SimpleNamespace or (cls.__module__, cls.__qualname__) == ("argparse", "Namespace")


def written(cls: type) -> bool:
    """Is it made by a class statement, and all that its instances hold in their __dict__?"""
    return bool(cls.__flags__ & HEAP) and not vars(cls).get("__slots__") and not any([
        isinstance(x, OF_C) and x.__objclass__ is cls and name not in ("__dict__", "__weakref__")
        for name, x in vars(cls).items()])


def there(module: types.ModuleType, name: str, passing: bool = False) -> bool:
    """Has the module this attribute?  Some import a part when it is first asked for.

    passing: what is made anew may be passed over, for it was only perhaps this module's attribute that was asked for
    """
    getter = vars(module).get("__getattr__")
    if name not in vars(module) and getter is not None and not hasattr(types.ModuleType, name):
        if getattr(getter, "__module__", "") == describing and name not in module.__dir__():
            return False                        # it would word an error, which takes long
        found = getattr(module, name, MISSING)
        if found is not MISSING and name not in vars(module) and not passing:
            if getattr(module, name) is not found:
                raise Refused(f"{module.__name__}.{name} is created anew each time")
            return True
    return name in vars(module)


NAMED_ALONE: Final = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)     # whose words are their names
GETTER: Final = type(vars(collections.namedtuple("GETTER", "x"))["x"])      # of a named tuple's elements
BY_KIND: Final[list[tuple[str, tuple[type, ...]]]] = [
    ("array", (np.ndarray,)), ("group", (tuple, frozenset)), ("numbered", (set,)), ("listed", (list, collections.deque)),
    ("mapping", (dict, collections.OrderedDict, collections.defaultdict)), ("function", (types.FunctionType,)),
    ("method", (types.MethodType,)), ("partial", (functools.partial,)), ("public", () if Function is None else (Function,))]
BY_BASE: Final[list[tuple[str, tuple[type, ...]]]] = [
    ("pass", (*NAMES, np.generic, GETTER)), ("tensor", (TensorBase,)), ("module", (Module,)), ("optimizer", (Optimizer,)),
    ("wrapped", (Wrapper,)), ("class", (type,)), ("space", (types.ModuleType,)),
    ("native", (types.BuiltinFunctionType, np.ufunc, types.MethodDescriptorType, types.WrapperDescriptorType)),
    ("property", (property,)), ("around", (staticmethod, classmethod))]

Chain = tuple[str, str, tuple[str, ...]]
NAMED: Final = ("getattr", "hasattr")
CALLS_IT: Final = "PRECALL" if "PRECALL" in dis.opmap else "CALL"
JUMPS: Final = {*dis.hasjrel, *dis.hasjabs}
LOADS: Final = {"LOAD_GLOBAL": "global", "LOAD_NAME": "global", "LOAD_DEREF": "cell", "LOAD_CLASSDEREF": "cell"}
ATTRIBUTES: Final = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR")


@functools.lru_cache(maxsize=1000)
def scanned(code: Any) -> tuple[list[Chain], tuple[str, ...], list[tuple[str, int]], list[tuple[str, int]]]:
    """What a code object reads: (global or cell, its name, attributes right behind it), and attributes of other values.

    Besides, the cells that it sets, and what refuses it; with their lines.
    """
    chains: dict[Chain, None] = {}
    asked: dict[str, None] = {}
    cells: list[tuple[str, int]] = []
    refused: list[tuple[str, int]] = []
    line = code.co_firstlineno
    base, name, attributes = "", "", []
    steps = list(dis.get_instructions(code))
    for at, step in enumerate(steps):
        line = (step.positions.lineno if step.positions is not None else None) or line
        op = step.opname
        if op in ("LOAD_ATTR", "LOAD_METHOD") and base:
            attributes.append(str(step.argval))
            continue
        if op in ("CACHE", "NOP", "EXTENDED_ARG"):
            continue
        if base:
            chains[base, name, tuple(attributes)] = None
        base, name, attributes = LOADS.get(op, ""), str(step.argval), []
        if base == "global" and name in NAMED:
            text = named_by(steps, at)
            if text is not None:
                base = "named"
                asked[text] = None
        for special in WORDED if op == "BINARY_OP" and step.argrepr.startswith("%") else ASKS.get(op, ()):
            asked[special] = None
        if op in ("LOAD_ATTR", "LOAD_METHOD") and step.argval == "format" and not plain_template(steps[at - 1]):
            refused.append(("formats words by a template", line))
        if op in ATTRIBUTES:
            asked[str(step.argval)] = None
        elif op in ("STORE_DEREF", "DELETE_DEREF"):
            cells.append((str(step.argval), line))
        elif op in OPCODES:
            refused.append((OPCODES[op], line))
    return list(chains), tuple(asked), cells, refused


def plain_template(step: dis.Instruction) -> bool:
    """Is it a string that asks for no attributes of what it is filled with?"""
    return step.opname == "LOAD_CONST" and type(step.argval) is str and not re.search(r"{[^{}]*[.\[]", step.argval)


def named_by(steps: list[dis.Instruction], at: int) -> str | None:
    """The attribute that the call of what is loaded at `at` asks for, where a string is written there."""
    above, start = 0, -1                        # what lies on the stack above the function; where its second argument begins
    for i in range(at + 1, len(steps)):
        step = steps[i]
        if step.opname == CALLS_IT and step.arg == above:
            found = steps[start]
            return found.argval if start >= 0 and found.opname == "LOAD_CONST" and type(found.argval) is str else None
        if step.opcode in JUMPS or step.opname == "RETURN_VALUE":
            return None
        before, above = above, above + dis.stack_effect(step.opcode, step.arg)
        if above < 0:
            return None
        if step.opname not in HANDED_ON[:4] and above >= 2:
            start = i if before < 2 else -1 if above == 2 else start
    return None


BUILT: Final = {"BUILD_TUPLE": (1, 0), "BUILD_LIST": (1, 0), "BUILD_MAP": (2, 0), "BUILD_CONST_KEY_MAP": (1, 1)}
HANDED_ON: Final = ("CACHE", "NOP", "EXTENDED_ARG", "PUSH_NULL", "KW_NAMES", "PRECALL", "CALL", "BINARY_SUBSCR", "BINARY_OP")


@functools.lru_cache(maxsize=1000)
def only_returned(code: Any, at: int) -> bool:
    """Does what the call at that offset gives become a part of what the code returns, and nothing else?"""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "NOP", "EXTENDED_ARG")]
    return goes(steps, next(i for i, step in enumerate(steps) if step.offset > at), 0, set())


def goes(steps: list[dis.Instruction], start: int, above: int, followed: set[str]) -> bool:
    """Does what lies under `above` others on the stack go out?  followed: local variables that it was put into"""
    for step in steps[start:]:
        op, arg = step.opname, step.arg
        if op == "RETURN_VALUE":
            return above == 0
        if op in ("STORE_FAST", "STORE_FAST_LOAD_FAST") and above == 0:
            name = step.argval if op == "STORE_FAST" else step.argval[0]
            if name in followed:
                return True
            followed.add(name)
            return all([goes(steps, i + 1, others, followed) for i, x in enumerate(steps) for others in loads(x, name)])
        times, more = BUILT.get(op, (0, 0))
        if times and times * (arg or 0) + more > above:
            above = 0                           # it is in a container, which is followed from here on
            continue
        if op in ATTRIBUTES and not above or not (times or op.startswith("LOAD_") or op in HANDED_ON):
            return False
        above += dis.stack_effect(step.opcode, arg)
        if above < 1 and op not in HANDED_ON[:5]:
            return False
    return False


def loads(step: dis.Instruction, name: str) -> list[int]:
    """For each time that it loads this local variable: how many others it loads after it."""
    if "LOAD_FAST" not in step.opname:
        return []
    names = (step.argval,) if type(step.argval) is str else step.argval[step.opname.startswith("STORE"):]
    return [len(names) - 1 - i for i, x in enumerate(names) if x == name]


def goes_out(code: Any) -> bool:
    """Does the only call of that code ask for something that it returns, and nothing else?"""
    frame: Any = sys._getframe(0)
    found: Any = None
    first = True
    while frame is not None:
        if frame.f_code is code:
            if found is not None or not first:
                return False
            found = frame
        first = first and frame.f_code.co_filename.startswith(HOME)
        frame = frame.f_back
    return found is not None and only_returned(code, found.f_lasti)


def where(code: Any, line: int) -> str:
    return f"{code.co_filename.rpartition('/')[2]}:{line or code.co_firstlineno}"
