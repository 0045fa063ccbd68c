"""What a recorder of the microscope writes down: numbers of tensors, values, modules and hooks, and what happened.

It is in the compiled part because it works at every op, node and hook; of both engines.  Functions that take a journal
are called from here without a detour; the methods of the same names are for the microscope.
  rec   the microscope's Recording, whose tables are filled
  tap   what knows an engine (microscope/tap_common.py)
"""
from __future__ import annotations

import sys
import threading
import time
from array import array
from math import sqrt
from types import FunctionType
from typing import Any, Final, Optional
from weakref import ref

from mypy_extensions import mypyc_attr

from .. import _kernels
from .tensor import TensorBase, edits, wants_grad

now: Final[Any] = time.perf_counter_ns
stats: Final[Any] = _kernels.kernel("stats")
same: Final[Any] = _kernels.kernel("same")
TINY: Final = 1e-30                     # sums of squares beyond these are taken again, scaled
HUGE: Final = 1e30
NOTHING: Final[Any] = object()
UNMEASURED: Final = (-1, 0.0, 0.0, 0.0, 0, 0, 0)
BLANK: Final[Any] = array("d", UNMEASURED)              # statistics that nobody took
# kind -> position of the value the hook sees and may replace
PLACE: Final[dict[str, int]] = {
    "tensor": 0, "node_pre": 0, "node_post": 0, "post_accumulate": 0, "multi_grad": 0,
    "forward_pre": 1, "forward": -1, "backward_pre": 1, "backward": 1,
}
TABLES: Final = (                                       # a module's: (table, kind, which of them want keywords)
    ("_forward_pre_hooks", "forward_pre", "_forward_pre_hooks_with_kwargs"),
    ("_forward_hooks", "forward", "_forward_hooks_with_kwargs"),
    ("_backward_pre_hooks", "backward_pre", ""), ("_backward_hooks", "backward", ""))
SELDOM: Final = (
    ("_state_dict_hooks", "state_dict"), ("_state_dict_pre_hooks", "state_dict_pre"),
    ("_load_state_dict_pre_hooks", "load_pre"), ("_load_state_dict_post_hooks", "load_post"))
OF_OPTIMIZERS: Final = (                                # an optimizer's: (table, kind)
    ("_optimizer_step_pre_hooks", "step_pre"), ("_optimizer_step_post_hooks", "step_post"),
    ("_optimizer_state_dict_pre_hooks", "optimizer_state_dict_pre"),
    ("_optimizer_state_dict_post_hooks", "optimizer_state_dict"),
    ("_optimizer_load_state_dict_pre_hooks", "optimizer_load_pre"),
    ("_optimizer_load_state_dict_post_hooks", "optimizer_load_post"))
OF_MODULES: Final = ("forward_pre", "forward", "backward_pre", "backward", "state_dict", "state_dict_pre", "load_pre",
                     "load_post")
MARK: Final = "retrograd recording"      # key in a node's metadata: (serial number of the tap, number of the node)
KEPT: Final = ("tensor", "post_accumulate", "node_pre", "node_post")    # what these see goes to parameters
words: Final[dict[Any, str]] = {}                                       # dtypes and devices as text


def blank(**fields: Any) -> dict[str, Any]:
    """A dict to be copied: half the size and time of one that compiled code makes of its keys."""
    return {name: fields[name] for name in fields}


NAME: Final = blank(name="", names=None, role="")
NAME_OF: Final = blank(name="", names=None, role="", of=-1)
MODULE: Final = blank(path="", type="", parent=-1, calls=0, training=False, engine="")
HOOK: Final = blank(kind="", name="?", on="", owner=-1, defined=-1, registered=-1, prior=False, fired=0, changed=0, at=0,
                    removed=False, engine="")


class Thread:
    """What a thread is doing."""

    def __init__(self, number: int) -> None:
        self.modules: list[Any] = []                    # (module, call, the object), innermost last
        self.passes: list[int] = []
        self.busy: int = 0                              # ours: what ops do now is not recorded
        self.last: int = now()
        self.number: int = number
        self.open: list[Any] = []                       # nodes of retrograd that run, innermost last
        self.adopting: bool = False                     # ops of this thread are seen
        self.extra: Any = ()                            # tensors that the next ops read besides their inputs
        self.told: int = 0                              # id of an error that a pass was refused with
        self.stepping: bool = False                     # inside an optimizer's step, whose ops are its own


@mypyc_attr(allow_interpreted_subclasses=True)
class Lines:
    """Numbers source lines: `here()` is one dictionary lookup a frame."""

    def __init__(self, homes: tuple[str, ...]) -> None:
        self.table: list[tuple[str, int, str]] = []             # (file, line, function)
        self._numbers: dict[tuple[str, int], int] = {}
        self._skipped: dict[int, bool] = {}                     # id of a code object -> does it belong to a library?
        self._places: dict[tuple[int, int], int] = {}           # (id of a code object, instruction) -> number
        self._codes: list[Any] = []                             # keeps those ids valid
        self._homes: tuple[str, ...] = homes                    # what libraries' files begin with

    def here(self, frame: Any = None) -> int:
        """The number of the user's innermost line, from `frame` outwards; -1 when there is none."""
        return here(self, sys._getframe() if frame is None else frame)

    def user_frame(self, frame: Any) -> Any:
        return user_frame(self, frame)

    def is_library(self, file: str) -> bool:
        return file.startswith(self._homes)

    def number(self, file: str, line: int, function: str) -> int:
        return number(self, file, line, function)


def here(lines: Lines, frame: Any) -> int:
    found = user_frame(lines, frame)
    if found is None:
        return -1
    code = found.f_code
    place = (id(code), int(found.f_lasti))
    known = lines._places.get(place, -1)
    if known < 0:                                               # f_lineno reads a table from its start
        known = lines._places[place] = number(lines, code.co_filename, found.f_lineno, code.co_qualname)
    return known


def user_frame(lines: Lines, frame: Any) -> Any:
    skipped = lines._skipped
    while frame is not None:
        code = frame.f_code
        known = skipped.get(id(code))
        if known is None:
            file: str = code.co_filename
            known = skipped[id(code)] = file.startswith(lines._homes)
            lines._codes.append(code)
        if not known:
            return frame
        frame = frame.f_back
    return None


def number(lines: Lines, file: str, line: int, function: str) -> int:
    key = (file, line)
    found = lines._numbers.get(key, -1)
    if found < 0:
        found = lines._numbers[key] = len(lines.table)
        lines.table.append((file, line, function))
    return found


@mypyc_attr(allow_interpreted_subclasses=True)
class Journal:
    """Tables, and events in order."""

    def __init__(self, rec: Any, lines: Lines, around: Any, norms: bool, values: Optional[str], limit: int) -> None:
        self.rec: Any = rec
        self.around: Any = around                               # the class of what stands in a hook's place
        self.norms: bool = norms
        self.values: Optional[str] = values
        self.limit: int = limit
        self.on: bool = False
        self.full: bool = False
        self.start: int = 0
        self.lock: Any = threading.Lock()
        self.local: Any = threading.local()
        self.threads: int = 0
        self.open_passes: list[int] = []
        self.rows: list[Any] = rec.rows
        self._likes: dict[Any, int] = {}
        self._ids: dict[int, Any] = {}                          # id of a tensor -> (weak reference, number)
        self._seen: dict[int, Any] = {}                         # id -> (weak reference, version, number of its value)
        self._modules: dict[int, Any] = {}                      # id -> (weak reference, number)
        self._parameters: dict[int, Any] = {}                   # number -> weak reference
        self.owners: dict[int, set[int]] = {}                   # parameter -> modules that have it
        self.guessed: set[int] = set()                          # modules named by themselves, not as part of a model
        self._hooks: dict[tuple[int, int], int] = {}            # (id of the table, id of the handle) -> hook
        self._swapped: list[Any] = []                           # weak references of tables with hooks around hooks
        self.pending: list[Any] = []                            # tables with a registration still to be wrapped
        self.sites: Lines = lines

    def thread(self) -> Thread:
        return thread_of(self)

    def reserve(self, kind: str) -> int:
        """The number of an event that begins; -1 when there is no room for it."""
        return reserve(self, kind)

    def put(self, row: tuple[Any, ...]) -> int:
        """Add an event that took no time."""
        n = reserve(self, row[0])
        if n >= 0:
            self.rows[n] = row
        return n

    def like(self, tap: Any, t: Any) -> int:
        return like(self, t)

    def new_like(self, key: Any, shape: Any, dtype: Any, device: Any) -> int:
        return new_like(self, key, shape, dtype, device)

    def tensor(self, tap: Any, t: Any) -> int:
        """The number of a tensor seen before, or a new one."""
        known = self._ids.get(id(t))
        if known is not None and known[0]() is t:
            return int(known[1])
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

    def keep(self, tap: Any, n: int, t: Any) -> None:
        """Keep a copy of t as the array of value n."""
        raise NotImplementedError

    def blame(self, tap: Any, tensors: list[Any], values: list[int]) -> None:
        """An op gave NaN or inf: were its inputs finite?"""
        raise NotImplementedError

    def used_outside(self, thread: Thread, n: int, line: int, frame: Any) -> None:
        """An op reads parameter n, perhaps outside the module that owns it."""
        raise NotImplementedError

    def name_new_leaf(self, tap: Any, t: Any, n: int) -> None:
        """A leaf is met that belongs to no module with a name."""
        raise NotImplementedError

    def name_tensor(self, tap: Any, t: Any, name: str, role: str, of: int = -1) -> int:
        return name_tensor(self, tap, t, name, role, of)

    def add_module(self, tap: Any, module: Any, path: str, parent: int) -> int:
        return add_module(self, tap, module, path, parent)

    def walk(self, tap: Any, model: Any, prefix: str) -> int:
        return walk(self, tap, model, prefix)

    def new_hook(self, tap: Any, kind: str, on: str, owner: int, registered: int, prior: bool) -> int:
        return new_hook(self, tap, kind, on, owner, registered, prior)

    def unswept(self, table: Any) -> bool:
        return unswept(self, table)

    def sweep(self, tap: Any, table: Any, kind: str, on: str, owner: int, with_kwargs: Any = ()) -> None:
        sweep(self, tap, table, kind, on, owner, with_kwargs)

    def fired(self, facts: tuple[Any, ...], *args: Any, **kwargs: Any) -> Any:
        """A hook fires."""
        if not self.on:
            return facts[2](*args, **kwargs)
        return fire(self, facts, args, kwargs)

    def sweep_pending(self) -> None:
        sweep_pending(self)

    def sweep_module(self, tap: Any, module: Any, n: int, thorough: bool) -> None:
        sweep_module(self, tap, module, n, thorough)

    def sweep_tensor(self, tap: Any, t: Any, n: int) -> None:
        """n: its number; -1 where unknown"""
        sweep_tensor(self, tap, t, n)

    def sweep_parameters(self, tap: Any) -> None:
        """Look for hooks on every parameter known."""
        Tensor = tap.Tensor
        for n, known in list(self._parameters.items()):
            p = known()
            if p is not None and isinstance(p, Tensor) and (p._backward_hooks or p._post_accumulate_grad_hooks):
                sweep_tensor(self, tap, p, n)

    def with_grad(self, tap: Any, tensors: Any) -> tuple[int, ...]:
        """The numbers of those that have a .grad."""
        found: list[int] = []
        for p in tensors:
            if p.is_leaf and p.grad is not None:
                known = self._ids.get(id(p))
                if known is not None and known[0]() is p:
                    found.append(known[1])
                else:
                    found.append(new_tensor(self, tap, p, -1, -1, True))
        return tuple(found)

    def module(self, tap: Any, module: Any) -> int:
        """The number of a module, which gets a name if it has none."""
        raise NotImplementedError

    def enter(self, tap: Any, module: Any) -> tuple[Thread, int, int]:
        """A module is called: the thread, the module's number and which call this is."""
        thread = thread_of(self)
        thread.stepping = False                         # a closure's, or a step that raised
        known = self._modules.get(id(module))
        n: int = known[1] if known is not None and known[0]() is module else self.module(tap, module)
        facts: dict[str, Any] = self.rec.modules[n]
        call: int = facts["calls"] + 1
        facts["calls"] = call
        if self.pending:
            sweep_pending(self)
        sweep_module(self, tap, module, n, False)
        for table, kind in tap.everywhere:
            if table and unswept(self, table):
                sweep(self, tap, table, kind, "every module", -1, ())
        return thread, n, call

    def called(self, tap: Any, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        """A call of a module, in a recording without ops."""
        if not self.on:
            return original(module, *args, **kwargs)
        thread, n, call = self.enter(tap, module)
        modules = thread.modules
        modules.append((n, call, module))
        try:
            return original(module, *args, **kwargs)
        finally:
            modules.pop()

    def settle(self) -> None:
        """The block is over: events without an end get one, and hooks say where they sit with the names found since.

        An exception passed through an event that has no end.
        """
        rec = self.rec
        rows = self.rows
        for i in range(len(rows)):
            if rows[i] is None:
                rows[i] = ("note", now() - self.start, 0, 0, "unfinished", "it was cut short", -1)
        for hook in rec.hooks:
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
        for table in self._swapped:
            live = table()
            if live is not None:
                for key, hooked in list(live.items()):
                    if type(hooked) is around:
                        live[key] = hooked.hook
        self._swapped.clear()


def swap_in(plan: list[Any]) -> bool:
    """owner.name = new for each (owner, vars(owner), name, new, what was there); False if something else is there now."""
    for _, own, name, _, had in plan:
        if own.get(name, NOTHING) is not had:
            return False
    for owner, _, name, new, _ in plan:
        setattr(owner, name, new)
    return True


def swap_out(plan: list[Any]) -> None:
    for owner, own, name, _, had in plan:
        if had is not NOTHING:
            setattr(owner, name, had)
        elif name in own:
            delattr(owner, name)


def thread_of(j: Journal) -> Thread:
    found: Any = getattr(j.local, "it", None)
    if found is None:
        with j.lock:
            j.threads += 1
            found = Thread(j.threads - 1)
        j.local.it = found
    it: Thread = found
    return it


# ---- events


def reserve(j: Journal, kind: str) -> int:
    rows = j.rows
    with j.lock:
        n = len(rows)
        if n < j.limit:
            rows.append(None)
            return n
        j.full = True
        dropped = j.rec.dropped
        dropped[kind] = dropped.get(kind, 0) + 1
        return -1


# ---- tensors and values


def like(j: Journal, t: Any) -> int:
    """The number of t's shape, dtype and device."""
    if isinstance(t, TensorBase):
        x: Any = t.array
        key: Any = (x.shape, x.dtype)
    else:
        key = (t.shape, t.dtype, t.device)
    found: Optional[int] = j._likes.get(key)
    if found is None:
        return new_like(j, key, t.shape, t.dtype, t.device)
    return found


def new_like(j: Journal, key: Any, shape: Any, dtype: Any, device: Any) -> int:
    name: Optional[str] = words.get(dtype)
    if name is None:
        name = words[dtype] = str(dtype).rpartition(".")[2]
    place: Optional[str] = words.get(device)
    if place is None:
        place = words[device] = str(device)
    row = tuple([int(n) for n in shape]), name, place
    likes = j.rec.likes
    with j.lock:
        n = len(likes)
        likes.append(row)
    j._likes[key] = n
    return n


def new_tensor(j: Journal, tap: Any, t: Any, made_by: int, stem: int, look: bool) -> int:
    if isinstance(t, TensorBase):
        wants = wants_grad(t)
        leaf: bool = t.fn is None if t.origin is None else t.is_leaf  # type: ignore[attr-defined]
    else:
        wants = t.requires_grad
        leaf = t.is_leaf
    row = like(j, t), made_by, int(leaf) + 2 * int(wants), stem
    rows: list[Any] = j.rec.tensor_rows
    with j.lock:
        n = len(rows)
        rows.append(row)
    j._ids[id(t)] = (ref(t), n)
    if wants and made_by == -1 and look:
        if leaf:
            j.name_new_leaf(tap, t, n)
        if t._backward_hooks or t._post_accumulate_grad_hooks:
            sweep_tensor(j, tap, t, n)                  # it has hooks from before the recording
    return n


def version(t: Any) -> int:
    if isinstance(t, TensorBase):
        return edits(t)
    try:
        found: int = t._version
        return found
    except RuntimeError:                                # inference tensors have none
        return -1


def value(j: Journal, tap: Any, t: Any) -> int:
    if t is None:
        return -1
    key = id(t)
    edition = version(t)
    known = j._seen.get(key)
    if known is not None and known[1] == edition and known[0]() is t:
        return int(known[2])
    row = BLANK
    if j.norms:
        row = measure(tap, t.array) if isinstance(t, TensorBase) else tap.measure(t)
    n = new_value(j, tap, t, row)
    j._seen[key] = (ref(t), edition, n)
    return n


def measure(tap: Any, x: Any) -> Any:
    """The statistics of an array (microscope/_measure.py)."""
    found: Any = stats(x)
    if found is None:
        found = stats(x.T)                              # the other order
    if found is not None:
        squares: float = found[0]
        if TINY < squares < HUGE or squares == 0.0 and found[1] == 0.0 and found[2] == 0.0:
            return (x.size, sqrt(squares), found[1], found[2], found[3], 0, 0)
    return tap.numbers(x)


def new_value(j: Journal, tap: Any, t: Any, row: Any) -> int:
    number = like(j, t)
    rec = j.rec
    likes = rec.value_likes
    stats = rec.stats
    with j.lock:
        n = len(likes)
        likes.append(number)
        stats.extend(row)
    if j.values == "all":
        j.keep(tap, n, t)
    return n


# ---- names


def name_tensor(j: Journal, tap: Any, t: Any, name: str, role: str, of: int) -> int:
    seen = j._ids.get(id(t))
    n: int = seen[1] if seen is not None and seen[0]() is t else new_tensor(j, tap, t, -1, -1, False)
    if role == "parameter":
        j._parameters[n] = ref(t)
    names: dict[int, Any] = j.rec.tensor_names
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
    if role == "parameter" and better(j, n, name, known["names"]):
        known["name"] = name
        known["names"] = [name]                         # its module got a better path
    elif name not in known["names"]:
        known["names"].append(name)
        if known["role"] != role:
            known["role"] = role
    return n


def better(j: Journal, n: int, name: str, had: list[str]) -> bool:
    """Is this the same name of a parameter, below a path that one of its modules has now?"""
    for old in had:
        if not name.endswith("." + old.rpartition(".")[2]):
            return False
    path = name.rpartition(".")[0]
    modules = j.rec.modules
    for m in j.owners.get(n, ()):
        if modules[m]["path"] == path:
            return True
    return False


def add_module(j: Journal, tap: Any, module: Any, path: str, parent: int) -> int:
    """The number of a module that is at this path, below module `parent`."""
    known = j._modules.get(id(module))
    modules = j.rec.modules
    if known is not None and known[0]() is module:
        if known[1] in j.guessed:                       # met before the model it is part of, which names it better
            modules[known[1]].update(path=path, parent=parent)
        return int(known[1])
    own: dict[str, Any] = module.__dict__
    kind: str = type(module).__name__
    row = MODULE.copy()
    row["path"] = path
    row["type"] = kind
    row["parent"] = parent
    row["training"] = bool(own["training"] if "training" in own else getattr(module, "training", False))
    row["engine"] = tap.name
    if own.get("_compiled_call_impl") is not None:
        row["compiled"] = 1                             # module.compile(): its calls do not pass us
    with j.lock:
        n = len(modules)
        modules.append(row)
    j._modules[id(module)] = (ref(module), n)
    return n


def walk(j: Journal, tap: Any, model: Any, prefix: str) -> int:
    """Give the modules and parameters of a model their paths below `prefix` -> the model's number."""
    first = -1
    met: dict[int, Any] = {}                            # id -> (number, module, numbers of its parameters)
    named: dict[int, Any] = {}
    todo: list[Any] = [(model, prefix, -1, 0)]
    while todo:
        module, path, parent, again = todo.pop()
        known = met.get(id(module))
        if known is None:
            number = add_module(j, tap, module, path, parent)
            own: list[int] = []
            met[id(module)] = (number, module, own)
            if first < 0:
                first = number
            else:
                j.guessed.discard(number)
        elif again > 8:                                 # a module inside itself
            continue
        else:
            again += 1                                  # a second path: its parameters get names below that, too
            number = known[0]
            own = known[2]
        start: str = f"{path}." if path else ""
        table = module._parameters
        if table:
            for name, p in table.items():
                if p is not None:
                    n = name_tensor(j, tap, p, start + name, "parameter", -1)
                    named[n] = p
                    own.append(n)
        table = module._buffers
        if table:
            for name, b in table.items():
                if b is not None:
                    name_tensor(j, tap, b, start + name, "buffer", -1)
        table = module._modules
        if table:
            for name, child in reversed(table.items()):
                if child is not None:
                    todo.append((child, start + name, number, again))
    owners = j.owners
    for number, module, own in met.values():
        for n in own:
            if n in owners:
                owners[n].add(number)
            else:
                owners[n] = {number}
        sweep_module(j, tap, module, number, True)
    for n, p in named.items():
        if p._backward_hooks or p._post_accumulate_grad_hooks:
            sweep_tensor(j, tap, p, n)
    return first


def path_of(j: Journal, n: int) -> str:
    """Where a module is."""
    path: str = j.rec.modules[n]["path"]
    return path or "the model"


def name_of(j: Journal, n: int) -> str:
    """What a tensor is called."""
    known = j.rec.tensor_names.get(n)
    if known is not None and known["name"]:
        return str(known["name"])
    return str(j.rec.name_of_tensor(n))


def names_of(j: Journal, tensors: list[int]) -> str:
    """What several tensors are called."""
    names = [name_of(j, n) for n in tensors[:4]]
    if len(tensors) > 4:
        names.append(f"{len(tensors) - 4} more")
    return ", ".join(names)


# ---- hooks


def new_hook(j: Journal, tap: Any, kind: str, on: str, owner: int, registered: int, prior: bool) -> int:
    hooks = j.rec.hooks
    row = HOOK.copy()
    row["kind"] = kind
    row["on"] = on
    row["owner"] = owner
    row["registered"] = registered
    row["prior"] = prior
    row["at"] = now() - j.start
    row["engine"] = tap.name
    with j.lock:
        n = len(hooks)
        hooks.append(row)
    return n


def unswept(j: Journal, table: Any) -> bool:
    """Is there a hook in the table around which we are not yet?"""
    around = j.around
    for hook in table.values():
        if type(hook) is not around or hook.args[0][0] is not j:
            return True
    return False


def sweep_pending(j: Journal) -> None:
    while j.pending:
        tap, table, kind, on, owner = j.pending.pop()
        live = table()
        if live is not None:
            sweep(j, tap, live, kind, on, owner, ())


def sweep_module(j: Journal, tap: Any, module: Any, n: int, thorough: bool) -> None:
    """thorough: hooks of state dicts, too"""
    own: dict[str, Any] = module.__dict__
    for name, kind, with_kwargs in TABLES:
        table = own.get(name)
        if table and (thorough or unswept(j, table)):
            sweep(j, tap, table, kind, path_of(j, n), n, own.get(with_kwargs, ()))
    if thorough:
        for name, kind in SELDOM:
            table = own.get(name)
            if table:
                sweep(j, tap, table, kind, path_of(j, n), n, ())


def sweep_tensor(j: Journal, tap: Any, t: Any, n: int) -> None:
    table = t._backward_hooks
    if table and unswept(j, table):
        if n < 0:
            n = j.tensor(tap, t)
        sweep(j, tap, table, "tensor", name_of(j, n), n, ())
    table = t._post_accumulate_grad_hooks
    if table and unswept(j, table):
        if n < 0:
            n = j.tensor(tap, t)
        sweep(j, tap, table, "post_accumulate", name_of(j, n), n, ())


def sweep(j: Journal, tap: Any, table: Any, kind: str, on: str, owner: int, with_kwargs: Any) -> None:
    """Put ourselves around the hooks in a table, where we are not yet."""
    around = j.around
    place = id(table)
    wrapped = False
    for key, hook in list(table.items()):
        if type(hook) is around and hook.args[0][0] is j:
            continue
        if kind == "tensor" and tap.of_several(hook, owner, place, key, -1):
            continue
        if (type(hook) is not FunctionType or of_library(hook)) and tap.is_ours(hook):
            continue
        n = j._hooks.get((place, key), -1)
        if n < 0:
            n = j._hooks[(place, key)] = new_hook(j, tap, kind, on, owner, -1, True)
        row: dict[str, Any] = j.rec.hooks[n]
        if row["kind"] == "node":
            row["kind"] = kind
            row["on"] = on
            row["owner"] = owner
        describe(j, tap, row, hook)
        its: str = row["kind"]
        table[key] = around(j.fired, (j, tap, hook, row, its, PLACE.get(its), n, key in with_kwargs))
        wrapped = True
    if not wrapped:
        return
    j._swapped.append(ref(table))
    if len(j._swapped) > 10_000:
        j._swapped = [t for t in j._swapped if t() is not None]


def describe(j: Journal, tap: Any, row: dict[str, Any], hook: Any) -> None:
    """What a hook is called and where it is defined."""
    plain = hook
    if type(hook) is not FunctionType or of_library(hook):
        plain = tap.plain(hook)
    if type(plain) is FunctionType:
        name: str = plain.__qualname__
        code = plain.__code__
        row["name"] = name.replace("<locals>.", "") if "<" in name else name
        row["defined"] = number(j.sites, code.co_filename, code.co_firstlineno, code.co_qualname)
    else:
        row["name"] = tap.name_of(plain)
        row["defined"] = tap.defined(plain)


def of_library(function: Any) -> bool:
    home = function.__module__
    return isinstance(home, str) and home.startswith(("torch", "retrograd"))


def fire(j: Journal, facts: tuple[Any, ...], args: tuple[Any, ...], kwargs: Any) -> Any:
    """A hook fires: look at what it gets, let it run, look at what it made of it."""
    _, tap, hook, row, kind, place, which, with_kwargs = facts
    thread = thread_of(j)
    row["fired"] += 1
    sees: list[Any] = []
    before: tuple[int, ...] = ()
    versions: list[int] = []
    keeps = False
    if place is not None:
        sees = [args[0].grad] if kind == "post_accumulate" else first_tensors(args[place], tap.Tensor)
        thread.busy += 1
        before = tuple([value(j, tap, t) for t in sees])
        if j.values is not None and kind in KEPT:
            keeps = True
            for n, t in zip(before, sees):
                if t is not None:
                    j.keep(tap, n, t)
        versions = [0 if t is None else version(t) for t in sees]
        thread.busy -= 1
    slot = reserve(j, "hook")
    number: int = thread.passes[-1] if thread.passes else -1
    if number < 0 and j.open_passes and tap.runs_for_another():
        number = j.open_passes[-1]
    node = -1
    if thread.open or kind == "node_pre" or kind == "node_post":
        node = tap.node_of_hook(kind, which, thread, slot)
    began: int = now()
    try:
        result: Any = hook(*args, **kwargs) if kwargs else hook(*args)
    except BaseException as error:
        if slot >= 0:
            j.rows[slot] = ("hook", began - j.start, now() - began, thread.number, number, which, node, before, (), None,
                            False, f"{type(error).__name__}: {error}"[:400])
        raise
    took: int = now() - began
    changed: Optional[bool] = None
    after: tuple[int, ...] = ()
    if place is not None:
        made = sees
        if kind == "post_accumulate":
            made = [args[0].grad]
        elif result is not None and kind != "multi_grad":       # whose result is ignored
            if with_kwargs and kind == "forward_pre" and isinstance(result, tuple) and len(result) == 2:
                made = first_tensors(result[0], tap.Tensor)
            else:
                made = first_tensors(result, tap.Tensor)
        thread.busy += 1
        if untouched(sees, versions, made):
            after = before
            changed = False
        else:
            after = tuple([value(j, tap, t) for t in made])
            if keeps:
                for n, t in zip(after, made):
                    if t is not None:
                        j.keep(tap, n, t)
            changed = compare(j, tap, sees, versions, before, made, after, slot)
        thread.busy -= 1
        if changed:
            row["changed"] += 1
        if thread.open and (kind == "tensor" or kind == "node_pre"):
            tap.replaced(thread, kind, after)
    thread.last = now()
    if slot >= 0:
        j.rows[slot] = ("hook", began - j.start, took, thread.number, number, which, node, before, after, changed,
                        result is not None, None)
    return result


def untouched(sees: list[Any], versions: list[int], made: list[Any]) -> bool:
    """Did a hook leave the very tensors that it saw, unedited?"""
    if len(sees) != len(made):
        return False
    for i in range(len(sees)):
        old = sees[i]
        if old is not made[i] or (old is not None and version(old) != versions[i]):
            return False
    return True


def compare(j: Journal, tap: Any, sees: list[Any], versions: list[int], before: tuple[int, ...], made: list[Any],
            after: tuple[int, ...], slot: int) -> Optional[bool]:
    """Did the hook change anything?  None: it wrote into a tensor, and the statistics are those of before.

    Without norms no numbers are read: what it wrote into, or gave another tensor for, counts as changed.
    """
    if len(sees) != len(made):
        return True
    unknown = False
    for i in range(len(sees)):
        old, new = sees[i], made[i]
        if old is new:
            if old is None or version(old) == versions[i]:
                continue
            tap.edited(old)
            if not j.norms or row_of(j, before[i]) != row_of(j, after[i]):
                return True
            unknown = True
            continue
        if old is None or new is None or not j.norms:
            return True
        if isinstance(old, TensorBase) and isinstance(new, TensorBase):
            if row_of(j, before[i]) != row_of(j, after[i]) or not alike(tap, old, new):
                return True
        elif tap.deferred(new):
            tap.defer_comparison(slot, old, new)
            unknown = True
        elif row_of(j, before[i]) != row_of(j, after[i]) or not tap.equal(old, new):
            return True
    return None if unknown else False


def alike(tap: Any, a: TensorBase, b: TensorBase) -> bool:
    """The same numbers, shape and dtype?  NaN is NaN."""
    x, y = a.array, b.array
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    found: Any = same(x, y)
    return bool(tap.equal(a, b) if found is None else found)


def row_of(j: Journal, n: int) -> Any:
    """The statistics of a value."""
    return j.rec.stats[7 * n:7 * n + 7]


def first_tensors(given: Any, tensor: Any, limit: int = 8) -> list[Any]:
    """The tensors (or None) in a value, a tuple, list or dict of them."""
    if isinstance(given, tensor):
        return [given]
    if isinstance(given, dict):
        given = list(given.values())
    if not isinstance(given, (tuple, list)):
        return []
    found: list[Any] = []
    for v in given[:limit]:
        if v is None or isinstance(v, tensor):
            found.append(v)
        elif isinstance(v, (tuple, list, dict)):
            found.extend(first_tensors(v, tensor, limit - len(found)))
    return found[:limit]
