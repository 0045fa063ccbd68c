"""The Python values that a function reaches: its globals, cells, defaults, attributes.

Skipping Python is right as long as Python would do the same again.  Its code does the same when all it can read is the same,
and reads nothing else: so all that the code's names can reach is noted here, numbers by value, tensors and functions by
identity, containers by their elements; what cannot be noted (iterators, files, modules of C, ...) refuses.
"""
from __future__ import annotations

import builtins
import collections
import dis
import functools
import math
import operator
import types
import weakref
from typing import Any

import numpy as np

from .. import autograd, optim
from .._engine.tensor import TensorBase
from .._kernels import Function
from .._missing import late_names
from .._tensor import Tensor, dtypes
from .._tensor.home import ours
from .._tensor.size import Size
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..optim.optimizer import Optimizer
from .values import Refused

MISSING = object()
MOST = 1 << 16          # bytes of an array that are compared at each call
HEAP = 512              # of a type's flags: made by a class statement
NUMBERS = (int, float, bool, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), slice, range)
PASSED: set[type] = set(NUMBERS)                        # types of what is known by its value
NAMES = (dtypes.dtype, dtypes.device, dtypes.layout, dtypes.memory_format, Size)
TENSORS = (Tensor, Parameter)
OPTIMIZERS = tuple(x for x in vars(optim).values() if isinstance(x, type) and issubclass(x, Optimizer) and x not in (
    Optimizer, optim.LBFGS, optim.SparseAdam))
SAFE = {getattr(builtins, name) for name in """
    abs all any bool bytes complex dict divmod enumerate filter float frozenset int isinstance issubclass len list map max
    min pow range reversed round slice sorted str sum tuple zip super object property staticmethod classmethod type
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NotImplementedError
    RuntimeError StopIteration TypeError ValueError ZeroDivisionError BaseException
""".split()}
SAFE |= {x for x in vars(math).values() if callable(x)} | {x for x in vars(operator).values() if callable(x)}
SAFE |= {functools.partial, functools.reduce}
# Functions of ours that the dispatch point does not hear of, and what a call may do with them.
UNHEARD = set("""
    clip_grad_norm_ clip_grad_value_ is_grad_enabled get_default_dtype is_tensor is_inference_mode_enabled get_device is_compiling
    is_dynamo_compiling is_scripting is_tracing
""".split())
CHANGES = set("inference_mode detect_anomaly set_detect_anomaly autocast Generator saved_tensors_hooks fork_rng".split())
WRITES = set("param_groups state defaults add_param_group load_state_dict state_dict".split())
OPCODES = {"STORE_GLOBAL": "sets a global", "DELETE_GLOBAL": "deletes a global", "IMPORT_NAME": "imports",
           "IMPORT_STAR": "imports", "BUILD_SET": "makes a set", "SET_UPDATE": "makes a set", "SET_ADD": "makes a set"}
# Of modules and optimizers: what a call looks at to find hooks
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks", "_optimizer_step_pre_hooks",
         "_optimizer_step_post_hooks")
TABLES = {name for name in vars(Module()) if "_hooks" in name}
describing = late_names.__module__
METHODS = (types.FunctionType, property, staticmethod, classmethod)
OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType,
        types.ClassMethodDescriptorType)
OPERATORS = {f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in """
    add sub mul truediv floordiv mod pow matmul and or xor getitem neg pos abs invert eq ne lt le gt ge""".split()}


refusing: weakref.WeakSet[Any] = weakref.WeakSet()      # functions given to torch.compiler.disable


class Reach:
    """All that `f` and what it refers to may read.

    guards   (kind, object, key, what it was): "dict", "cell", "attr", "empty", "items", "type"; of several keys "table",
             "dicts" and "attrs", with tuples
    tensors  those that were met
    """

    def __init__(self) -> None:
        self.guards: list[tuple[str, Any, Any, Any]] = []
        self.paths: list[str] = []
        self.tensors: list[TensorBase] = []
        self.optimizers: list[Any] = []
        self.seen: set[int] = set()
        self.alive: list[Any] = []
        self.called: set[type] = set()          # classes that code may call; of others there are instances only
        self.names: set[str] = {"forward"}      # attributes that some code asks for
        self.methods: set[str] = set()          # of Tensor, noted so far
        self.codes: set[Any] = set()
        self.objects: list[tuple[Any, str]] = []         # whose attributes are noted as far as some code asks for them
        self.todo: list[tuple[Any, str]] = []

    def start(self, f: Any) -> None:
        self.todo.append((f, getattr(f, "__name__", type(f).__name__)))
        while self.todo:
            while self.todo:
                self.visit(*self.todo.pop())
            for x, path in list(self.objects):
                self.attributes(x, path)
        self.several("attrs", Tensor, [x for x in (self.names | OPERATORS) - self.methods if hasattr(Tensor, x)], "Tensor")
        self.methods |= self.names | OPERATORS
        if self.optimizers and self.names & WRITES:
            raise Refused(f"it may change an optimizer: {min(self.names & WRITES)}")
        if "load_state_dict" in self.names:
            raise Refused("it may load a state dict")
        if "state_dict" in self.names:          # whose hooks are not noted
            raise Refused("it may take a state dict")

    def note(self, kind: str, holder: Any, key: Any, value: Any, path: str) -> None:
        self.guards.append((kind, holder, key, value))
        self.paths.append(path)

    def several(self, kind: str, holder: Any, names: list[str], path: str) -> None:
        """Of an object's attributes, or a class's: they are what they are."""
        if names:
            table = vars(holder)
            was = tuple([table.get(name, MISSING) for name in names])
            self.note(kind, table if kind == "dicts" else holder, tuple(names), was, f"{path}.*")

    def visit(self, x: Any, path: str) -> None:
        kind = type(x)
        if kind in PASSED:
            return
        if isinstance(x, (*NAMES, np.generic)):
            PASSED.add(kind)
            return
        if isinstance(x, type):
            self.called.add(x)
        if id(x) in self.seen:
            return
        self.seen.add(id(x))
        self.alive.append(x)
        if isinstance(x, TensorBase):
            if kind not in TENSORS:
                raise Refused(f"{path} is a {kind.__name__}")
            self.tensors.append(x)
            if vars(x):
                self.objects.append((x, path))
        elif kind is np.ndarray:
            if x.nbytes > MOST or x.dtype.hasobject:
                raise Refused(f"{path} is a large NumPy array, which may change unnoticed")
            self.note("array", x, None, (x.shape, x.dtype, x.tobytes()), path)
        elif kind in (tuple, frozenset):
            if kind is frozenset and any(isinstance(y, TensorBase) for y in x):
                raise Refused(f"{path} is a set of tensors")
            for i, y in enumerate(x):
                self.todo.append((y, f"{path}[{i}]"))
        elif kind is set and all(type(y) in NUMBERS for y in x):
            self.note("set", x, None, frozenset(x), path)
        elif kind in (list, collections.deque):
            self.note("items", x, None, tuple(x), path)
            for i, y in enumerate(x):
                self.todo.append((y, f"{path}[{i}]"))
        elif kind in (dict, collections.OrderedDict, collections.defaultdict):
            self.mapping(x, path)
        elif kind is types.FunctionType:
            self.function(x, path)
        elif getattr(kind, "replays", False):   # a compiled function inside another one is part of it
            self.todo.append((x.f, path))
        elif kind is types.MethodType:
            if x.__func__ is not Module._call_impl:
                self.todo.append((x.__func__, path))
            self.todo.append((x.__self__, path))
        elif kind is functools.partial:
            self.todo.extend([(x.func, path), (x.args, path), (x.keywords, path)])
        elif isinstance(x, types.ModuleType):
            self.objects.append((x, path))
        elif isinstance(x, type):
            self.klass(x, path)
        elif Function is not None and kind is Function:
            pass
        elif isinstance(x, (types.BuiltinFunctionType, np.ufunc, types.MethodDescriptorType, types.WrapperDescriptorType)):
            if x not in SAFE and not ours(getattr(x, "__module__", None)):
                raise Refused(f"{path} is a C function, which may do or read anything")
        elif isinstance(x, Module):
            self.module(x, path)
        elif isinstance(x, Optimizer):
            if kind not in OPTIMIZERS:
                raise Refused(f"{path} is a {kind.__name__}")
            self.optimizer(x, path)
        elif isinstance(x, property):
            self.todo.extend((y, path) for y in (x.fget, x.fset) if y is not None)
        elif isinstance(x, (staticmethod, classmethod)):
            self.todo.append((x.__func__, path))
        elif ours(kind.__module__):
            raise Refused(f"{path} is a {kind.__name__}")
        elif all(map(written, kind.__mro__[:-1])):
            self.note("type", x, None, kind, path)
            self.todo.append((kind, kind.__name__))
            self.objects.append((x, path))
        else:
            raise Refused(f"{path} is a {kind.__name__}, which may change unnoticed")

    def mapping(self, x: Any, path: str, empty: Any = ()) -> None:
        """empty: keys of what nobody has to look into."""
        self.note("table", x, tuple(dict.keys(x)), tuple(dict.values(x)), f"{path}[*]")
        for key, y in dict.items(x):
            if type(key) is not str and isinstance(key, TensorBase):
                raise Refused(f"{path} is a dict of tensors")
            # No call reads a module's _non_persistent_buffers_set
            if type(y) not in PASSED and key not in empty and key != "_non_persistent_buffers_set":
                self.todo.append((y, f"{path}[{key!r}]"))

    def function(self, f: Any, path: str) -> None:
        if f in refusing:
            raise Refused(f"{path} is marked by torch.compiler.disable")
        if ours(f.__module__):
            if not hasattr(f, "told") and f.__name__ not in UNHEARD and f not in (autograd.grad, autograd.backward):
                raise Refused(f"{path} is not replayed yet")
            return
        self.note("function", f, None, (f.__code__, f.__defaults__, f.__kwdefaults__), path)
        self.todo.extend((y, f"a default of {path}") for y in f.__defaults__ or ())
        if f.__kwdefaults__:
            self.mapping(f.__kwdefaults__, f"a default of {path}")
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

    def code(self, code: Any, space: dict[str, Any], held: dict[str, Any], path: str) -> None:
        if (code, id(space)) in self.codes:
            return
        self.codes.add((code, id(space)))
        if code.co_flags & 0x200 or code.co_flags & 0x80:
            raise Refused(f"{path} is asynchronous")
        chains, cells, refused = scanned(code)
        for base, name, attributes in chains:
            value: Any = MISSING
            if base == "global":
                value = self.named(name, space)
            elif base == "cell" and name in held:
                value = held[name]
            for i, attribute in enumerate(attributes):
                if not isinstance(value, types.ModuleType) or not there(value, attribute):
                    self.names.update(attributes[i:])
                    break
                path = f"{value.__name__}.{attribute}"
                found = vars(value)[attribute]
                self.note("dict", vars(value), attribute, found, path)
                self.todo.append((found, path))
                value = found
        for name, line in cells:
            if name in held:
                raise Refused(f"{path} sets {name}, which is not its own ({where(code, line)})")
        for what, line in refused:
            raise Refused(f"{path} {what} ({where(code, line)})")
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                self.code(const, space, {name: held[name] for name in const.co_freevars if name in held}, path)

    def named(self, name: str, space: dict[str, Any]) -> Any:
        if name in space:
            self.note("dict", space, name, space[name], name)
            self.todo.append((space[name], name))
            return space[name]
        self.note("dict", space, name, MISSING, name)
        table = vars(builtins)
        if name in table:
            self.note("dict", table, name, table[name], name)
            if not isinstance(table[name], (bool, type(None), type(Ellipsis))) and table[name] not in SAFE:
                raise Refused(f"it calls {name}()")
        return MISSING

    def kind(self, cls: type) -> None:
        """A class that something is of."""
        if id(cls) not in self.seen:
            self.seen.add(id(cls))
            self.klass(cls, cls.__name__)

    def klass(self, cls: type, path: str) -> None:
        if ours(cls.__module__) and cls.__name__ in CHANGES:
            raise Refused(f"{path} is not replayed yet")
        if ours(cls.__module__) or cls in SAFE or cls.__module__ in ("builtins", "typing", "collections.abc"):
            if cls not in SAFE and not ours(cls.__module__):
                raise Refused(f"it uses {cls.__name__}")
            return
        if not cls.__flags__ & HEAP:
            raise Refused(f"{path} is a class of C")
        self.objects.append((cls, path))
        if type(cls) is not type:
            self.todo.append((type(cls), type(cls).__name__))
        for base in cls.__mro__[1:-1]:
            self.kind(base)

    def attributes(self, x: Any, path: str) -> None:
        """What some code may ask of a module, a class or an instance."""
        if isinstance(x, types.ModuleType) and x.__name__ == "math":
            return
        table = vars(x)
        wanted = self.names
        if isinstance(x, type):                 # operators call what no name tells of
            wanted = wanted | {n for n, y in table.items() if n.startswith("__") and isinstance(y, METHODS)}
            if x not in self.called:
                wanted = wanted - {"__init__", "__new__"}
        fresh = [name for name in sorted(wanted) if (id(x), name) not in self.codes]
        if isinstance(x, types.ModuleType):
            passing = ours(x.__name__)
            fresh = [name for name in fresh if there(x, name, passing)]
        self.codes.update([(id(x), name) for name in fresh])
        self.several("attrs" if isinstance(x, type) else "dicts", x, fresh, path)
        self.todo.extend([(table[name], f"{path}.{name}") for name in fresh if name in table])

    def module(self, x: Any, path: str) -> None:
        kind = type(x)
        self.note("type", x, None, kind, path)
        if kind not in self.codes:
            self.codes.add(kind)
            self.note("attr", kind, "forward", kind.forward, f"{kind.__name__}.forward")
            self.note("attr", kind, "__call__", kind.__call__, f"{kind.__name__}.__call__")
        own = vars(x)
        if any(ours(k.__module__) and k not in Module.__mro__ for k in kind.__mro__):
            self.mapping(own, path, TABLES)     # code of ours reads its attributes
        if not ours(kind.__module__):
            self.kind(kind)
            self.objects.append((x, path))
            read = ["training", "_parameters", "_buffers", "_modules"]
            self.several("dicts", x, [*read, "_compiled_call_impl", *HOOKS[:4]], path)
            self.todo.extend([(own.get(name), f"{path}.{name}") for name in read])
        self.hooks(own, path)

    def optimizer(self, x: Any, path: str) -> None:
        """Its numbers are read at each step; who is in it is noted."""
        self.optimizers.append(x)
        own = vars(x)
        self.note("type", x, None, type(x), path)
        step = own.get("step", MISSING)         # a schedule wraps it, to see that it is called
        if step is not MISSING and not ours(getattr(step, "__module__", None)):
            raise Refused(f"{path}.step was replaced")
        self.note("dict", own, "step", step, f"{path}.step")
        self.note("dict", own, "param_groups", own["param_groups"], f"{path}.param_groups")
        self.note("items", own["param_groups"], None, tuple(own["param_groups"]), f"{path}.param_groups")
        for group in own["param_groups"]:
            self.note("dict", group, "params", group["params"], f"{path}.param_groups")
            self.visit(group["params"], f"{path}.param_groups[...]['params']")
        self.hooks(own, path)

    def hooks(self, own: dict[str, Any], path: str) -> None:
        tables = tuple([own[name] for name in HOOKS if name in own])
        if any(tables):
            raise Refused(f"{path} has hooks")
        self.note("empty", tables, None, None, f"hooks of {path}")


def written(cls: type) -> bool:
    """Is it made by a class statement, and all that its instances hold in their __dict__?"""
    return bool(cls.__flags__ & HEAP) and "__slots__" not in vars(cls) and not any(
        isinstance(x, OF_C) and name not in ("__dict__", "__weakref__") for name, x in vars(cls).items())


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
            raise Refused(f"{module.__name__}.{name} is created anew each time")
    return name in vars(module)


Chain = tuple[str, str, tuple[str, ...]]
LOADS = {"LOAD_GLOBAL": "global", "LOAD_NAME": "global", "LOAD_DEREF": "cell", "LOAD_CLASSDEREF": "cell"}
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR")


@functools.lru_cache(maxsize=1000)
def scanned(code: Any) -> tuple[list[Chain], list[tuple[str, int]], list[tuple[str, int]]]:
    """What a code object reads: (global or cell, its name, attributes right behind it); of other values "" and attributes.

    Besides, the cells that it sets, and what refuses it; with their lines.
    """
    chains: dict[Chain, None] = {}
    cells: list[tuple[str, int]] = []
    refused: list[tuple[str, int]] = []
    line = code.co_firstlineno
    base, name, attributes = "", "", []
    for step in dis.get_instructions(code):
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
        if op in ATTRIBUTES:
            chains["", "", (str(step.argval),)] = None
        elif op in ("STORE_DEREF", "DELETE_DEREF"):
            cells.append((str(step.argval), line))
        elif op in OPCODES:
            refused.append((OPCODES[op], line))
    return list(chains), cells, refused


def where(code: Any, line: int) -> str:
    return f"{code.co_filename.rpartition('/')[2]}:{line or code.co_firstlineno}"
