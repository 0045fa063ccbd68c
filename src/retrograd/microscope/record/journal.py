"""The journal of a recording: a Book, the names of what is in it, and what the microscope asks of both.

Functions that take a book are called from compiled code without a detour; the methods of the same names are for the
microscope.
"""
from __future__ import annotations

from typing import Any, Final, Optional
from weakref import ref

from mypy_extensions import mypyc_attr

from ..._engine.tensor import TensorBase, read_grad, wants_grad
from .book import (
    GOING_ON,
    Book,
    Thread,
    add,
    blank,
    like,
    name_of,
    names_of,
    new_value,
    now,
    path_of,
    reserve,
    thread_of,
    value,
)
from .fired import OF_MODULES, bare, fire, new_hook, sweep, sweep_module, sweep_pending, sweep_tensor, unswept

NAME: Final = blank(name="", names=None, role="")
NAME_OF: Final = blank(name="", names=None, role="", of=-1)
MODULE: Final = blank(path="", type="", parent=-1, calls=0, training=False, engine="")


@mypyc_attr(allow_interpreted_subclasses=True)
class Journal(Book):
    """A book with names."""

    def thread(self) -> Thread:
        return thread_of(self)

    def alone(self) -> bool:
        """Does nobody run anything of a model but, perhaps, this thread?"""
        thread: Any = getattr(self.local, "it", None)
        return self.threads == 0 or (self.threads == 1 and thread is not None and not thread.modules and not thread.passes)

    def reserve(self, kind: str) -> int:
        """The number of an event that begins; -1 when there is no room for it."""
        return reserve(self, kind)

    def put(self, row: tuple[Any, ...]) -> int:
        """Add an event that took no time."""
        n = reserve(self, row[0])
        if n >= 0:
            self.rows[n] = row
        return n

    def tensor(self, tap: Any, t: Any) -> int:
        """The number of a tensor seen before, or a new one."""
        known = self._ids.get(id(t))
        if known is not None and known[0]() is t:
            return known[1]
        return new_tensor(self, tap, t, -1, -1, True)

    def new_tensor(self, tap: Any, t: Any, made_by: int, stem: int, sweep: bool = True) -> int:
        return new_tensor(self, tap, t, made_by, stem, sweep)

    def tensor_number(self, t: Any) -> Optional[int]:
        known = self._ids.get(id(t))
        return known[1] if known is not None and known[0]() is t else None

    def value(self, tap: Any, t: Any) -> int:
        """The number of t's value now; the same as before when t is the same and was not edited."""
        return value(self, tap, t)

    def new_value(self, tap: Any, t: Any, row: Any) -> int:
        return new_value(self, tap, t, row)

    def name_tensor(self, tap: Any, t: Any, name: str, role: str, of: int = -1) -> int:
        return name_tensor(self, tap, t, name, role, of)

    def add_module(self, tap: Any, module: Any, path: str, parent: int) -> int:
        return add_module(self, tap, module, module.__dict__, path, parent)

    def walk(self, tap: Any, model: Any, prefix: str) -> int:
        return walk(self, tap, model, prefix)

    def new_hook(self, tap: Any, kind: str, on: str, owner: int, registered: int, prior: bool) -> int:
        return new_hook(self, tap, kind, on, owner, registered, prior)

    def unswept(self, table: Any) -> bool:
        return unswept(self, table)

    def sweep(self, tap: Any, table: Any, kind: str, on: str, owner: int, with_kwargs: Any = ()) -> None:
        sweep(self, tap, table, kind, on, owner, with_kwargs)

    def fired(self, facts: tuple[Any, ...], *args: Any, **kwargs: Any) -> Any:
        """A hook fires.  A method, since PyTorch's compiler warns of compiled functions."""
        if not self.on:
            return facts[2](*args, **kwargs)
        return fire(self, facts, args, kwargs)

    def sweep_pending(self) -> None:
        sweep_pending(self)

    def sweep_module(self, tap: Any, module: Any, n: int, thorough: bool) -> None:
        sweep_module(self, tap, module.__dict__, n, thorough)

    def sweep_tensor(self, tap: Any, t: Any, n: int) -> None:
        """n: its number; -1 where unknown"""
        sweep_tensor(self, tap, t, n)

    def sweep_parameters(self, tap: Any) -> None:
        """Look for hooks on every parameter known."""
        kind = tap.Tensor
        for n, known in list(self._parameters.items()):
            p: Any = known()
            if isinstance(p, kind):
                sweep_tensor(self, tap, p, n)

    def with_grad(self, tap: Any, tensors: Any) -> tuple[int, ...]:
        """The numbers of those that have a .grad."""
        found: list[int] = []
        for p in tensors:
            if is_leaf(p) and (read_grad(p) if isinstance(p, TensorBase) else p.grad) is not None:
                known = self._ids.get(id(p))
                if known is not None and known[0]() is p:
                    found.append(known[1])
                else:
                    found.append(new_tensor(self, tap, p, -1, -1, True))
        return tuple(found)

    def parameters_below(self, module: Any) -> list[Any]:
        """What module.parameters() gives, without its generators."""
        met: set[Any] = set()
        found: dict[Any, Any] = {}
        todo: list[Any] = [module]
        while todo:
            it: Any = todo.pop()
            place: Any = id(it)
            if place in met:
                continue
            met.add(place)
            own: dict[str, Any] = it.__dict__
            for p in part(own, it, "_parameters").values():
                if p is not None:
                    found[id(p)] = p
            children = part(own, it, "_modules")
            if children:
                below = [child for child in children.values() if child is not None]
                below.reverse()
                todo.extend(below)
        return list(found.values())

    def enter(self, tap: Any, module: Any) -> tuple[Thread, int, int]:
        """A module is called: the thread, the module's number and which call this is."""
        return enter(self, tap, module)

    def called(self, tap: Any, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        """A call of a module, in a recording without ops."""
        if not self.on:
            return original(module, *args, **kwargs)
        thread, n, call = enter(self, tap, module)
        modules = thread.modules
        modules.append((n, call, module))
        try:
            return original(module, *args, **kwargs) if kwargs else original(module, *args)
        finally:
            modules.pop()

    def late(self) -> tuple[list[tuple[int, str, Any]], list[tuple[int, str, Any]]]:
        """(module, name in it, child) of children of known modules that have no path yet, each once.

        And (module, name in it, parameter) of parameters that were met before they had a name.
        """
        children: list[tuple[int, str, Any]] = []
        leaves: list[tuple[int, str, Any]] = []
        met: set[Any] = set()
        names = self.tensor_names
        for known, number in self._modules.values():
            module: Any = known()
            if module is None:
                continue
            own: dict[str, Any] = module.__dict__
            for name, child in part(own, module, "_modules").items():
                if child is None:
                    continue
                place: Any = id(child)
                its = self._modules.get(place)
                if (its is None or its[1] in self.guessed or its[0]() is not child) and place not in met:
                    children.append((number, name, child))
                    met.add(place)
            for name, p in part(own, module, "_parameters").items():
                seen = None if p is None else self._ids.get(id(p))
                if seen is not None and seen[1] not in names and seen[0]() is p:
                    leaves.append((number, name, p))
        return children, leaves

    def settle(self) -> None:
        """The block is over: events without an end get one, and hooks say where they sit with the names found since.

        An exception passed through an event that has no end.
        """
        rows = self.rows
        for i in range(len(rows)):
            if rows[i] is GOING_ON:
                rows[i] = ("note", now() - self.start, 0, 0, "unfinished", "it was cut short", -1)
        for hook in self.hooks:
            owner: int = hook["owner"]
            if owner < 0:
                continue
            kind: str = hook["kind"]
            if kind == "tensor" or kind == "post_accumulate":
                hook["on"] = name_of(self, owner)
            elif kind == "multi_grad":
                hook["on"] = names_of(self, hook["tensors"])
            elif kind in OF_MODULES:
                hook["on"] = path_of(self, owner)

    def unwrap(self) -> None:
        """Every hook is itself again."""
        around = self.around
        for known, key in self._swapped:
            table: Any = known()
            if table is None:
                continue
            ours: Any = table[key] if key in table else None
            if type(ours) is around:
                facts: tuple[Any, ...] = ours.args[0]
                if facts[0] is self and type(facts[2]) is not around:
                    table[key] = facts[2]
                    continue
            bare(self, table)                           # it was removed, or there is another recording
        self._swapped.clear()
        self._plain.clear()


def enter(j: Journal, tap: Any, module: Any) -> tuple[Thread, int, int]:
    """A module is called: the thread, the module's number and which call this is."""
    thread = thread_of(j)
    thread.stepping = False                             # a closure's, or a step that raised
    known = j._modules.get(id(module))
    n = known[1] if known is not None and known[0]() is module else j.module(tap, module)
    facts = j.modules[n]
    calls: int = facts["calls"]
    facts["calls"] = calls + 1
    if j.pending:
        sweep_pending(j)
    sweep_module(j, tap, module.__dict__, n, False)
    for table in j.everywhere:
        if table and unswept(j, table):
            tap.sweep_global()
    return thread, n, calls + 1


def new_tensor(j: Book, tap: Any, t: Any, made_by: int, stem: int, look: bool) -> int:
    if isinstance(t, TensorBase):
        wants = wants_grad(t)
    else:
        wants = t.requires_grad
    leaf = is_leaf(t)
    n = add(j, j.tensor_rows, (like(j, t), made_by, int(leaf) + 2 * int(wants), stem))
    j._ids[id(t)] = (ref(t), n)
    if wants and made_by == -1 and look:
        if leaf:
            j.name_new_leaf(tap, t, n)
        sweep_tensor(j, tap, t, n)                      # it may have hooks from before the recording
    return n


def is_leaf(t: Any) -> bool:
    if isinstance(t, TensorBase) and t.origin is None:
        return t.fn is None
    leaf: bool = t.is_leaf
    return leaf


def name_tensor(j: Book, tap: Any, t: Any, name: str, role: str, of: int) -> int:
    seen = j._ids.get(id(t))
    n = seen[1] if seen is not None and seen[0]() is t else new_tensor(j, tap, t, -1, -1, False)
    if role == "parameter":
        j._parameters[n] = ref(t)
    names = j.tensor_names
    known = names.get(n)
    if known is None:
        if of < 0:
            known = NAME.copy()
        else:
            known = NAME_OF.copy()
            known["of"] = of
        known["name"] = name
        known["names"] = [name]
        known["role"] = role
        names[n] = known
        return n
    if (role == "parameter" and better(j, n, name, known["names"])) or (
            role == "buffer" and name not in known["names"] and gone(j, known["names"])):
        known["name"] = name
        known["names"] = [name]                         # its module got a better path
    elif name not in known["names"]:
        known["names"].append(name)
        if known["role"] != role:
            known["role"] = role
    return n


def better(j: Book, n: int, name: str, had: list[str]) -> bool:
    """Is this the same name of a parameter, below a path that one of its modules has now, and the old ones below none?"""
    modules = j.modules
    paths = {modules[m]["path"] for m in j.owners.get(n, ())}
    for old in had:
        path, _, own = old.rpartition(".")
        if path in paths or not name.endswith("." + own):
            return False
    return name.rpartition(".")[0] in paths


def gone(j: Book, names: list[str]) -> bool:
    """Are there no modules any more where these names say?"""
    paths = {m["path"] for m in j.modules}
    for name in names:
        if name.rpartition(".")[0] in paths:
            return False
    return True


def add_module(j: Journal, tap: Any, module: Any, own: dict[str, Any], path: str, parent: int) -> int:
    """The number of a module that is at this path, below module `parent`.  own: its __dict__"""
    place: Any = id(module)
    known = j._modules.get(place)
    modules = j.modules
    if known is not None and known[0]() is module:
        # met before the model it is part of, which names it better; or below one that was
        if known[1] in j.guessed or (parent >= 0 and modules[known[1]]["parent"] == parent):
            modules[known[1]].update(path=path, parent=parent)
        return known[1]
    kind: str = type(module).__name__
    row = MODULE.copy()
    row["path"] = path
    row["type"] = kind
    row["parent"] = parent
    row["training"] = bool(own["training"] if "training" in own else getattr(module, "training", False))
    row["engine"] = tap.name
    if own.get("_compiled_call_impl") is not None:
        row["compiled"] = 1                             # module.compile(): its calls do not pass us
    n = add(j, modules, row)
    j._modules[place] = (ref(module), n)
    return n


def part(own: dict[str, Any], module: Any, name: str) -> dict[str, Any]:
    """The modules, parameters or buffers of a module.  own: its __dict__"""
    found: Any = own.get(name)
    if found is None:
        found = getattr(module, name)
    if isinstance(found, dict):
        return found
    return dict(found.items()) if found else {}         # of TorchScript's


class Met:
    """A module that a walk came by."""

    def __init__(self, module: Any, number: int, own: dict[str, Any]) -> None:
        self.module: Any = module                       # keeps its id valid
        self.number: int = number
        self.own: dict[str, Any] = own
        self.parameters: list[int] = []                 # their numbers


def walk(j: Journal, tap: Any, model: Any, prefix: str) -> int:
    """Give the modules and parameters of a model their paths below `prefix` -> the model's number."""
    first = -1
    met: dict[Any, Met] = {}                            # by the module's id
    named: dict[int, Any] = {}
    todo: list[tuple[Any, str, int, int]] = [(model, prefix, -1, 0)]
    places: list[tuple[Met, str]] = []                  # with the module's path and a dot
    shapeless: Any = tap.shapeless
    while todo:
        module, path, parent, again = todo.pop()
        place: Any = id(module)
        it = met.get(place)
        if it is None:
            own: dict[str, Any] = module.__dict__
            it = met[place] = Met(module, add_module(j, tap, module, own, path, parent), own)
            if first < 0:
                first = it.number
            else:
                j.guessed.discard(it.number)
        elif again > 8:                                 # a module inside itself
            continue
        else:
            again += 1                                  # a second path: its parameters get names below that, too
        start = f"{path}." if path else ""
        places.append((it, start))
        children = part(it.own, module, "_modules")
        if children:
            below = [(child, start + name, it.number, again) for name, child in children.items() if child is not None]
            below.reverse()
            todo.extend(below)
    for it, start in places:                            # all modules have their paths: which names are old is known
        for name, p in part(it.own, it.module, "_parameters").items():
            if p is not None and type(p) not in shapeless:
                n = name_tensor(j, tap, p, start + name, "parameter", -1)
                named[n] = p
                it.parameters.append(n)
        for name, b in part(it.own, it.module, "_buffers").items():
            if b is not None and type(b) not in shapeless:
                name_tensor(j, tap, b, start + name, "buffer", -1)
    owners = j.owners
    for it in met.values():
        for n in it.parameters:
            if n in owners:
                owners[n].add(it.number)
            else:
                owners[n] = {it.number}
        sweep_module(j, tap, it.own, it.number, True)
    for n, p in named.items():
        sweep_tensor(j, tap, p, n)
    return first
