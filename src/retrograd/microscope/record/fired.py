"""Users' hooks in a recording: found in their tables, stood around, and watched when they fire."""
from __future__ import annotations

from types import FunctionType
from typing import Any, Final, Optional
from weakref import ref

from ... import _kernels
from ..._engine.tensor import TensorBase
from .book import Book, add, blank, name_of, now, path_of, reserve, row_of, thread_of, value, version
from .lines import number

same: Final[Any] = _kernels.kernel("same")
# kind -> position of the value the hook sees and may replace
PLACE: Final[dict[str, int]] = {
    "tensor": 0, "node_pre": 0, "node_post": 0, "post_accumulate": 0, "multi_grad": 0,
    "forward_pre": 1, "forward": -1, "backward_pre": 1, "backward": 1,
}
TABLES: Final[tuple[tuple[str, str, str], ...]] = (     # a module's: (table, kind, which of them want keywords)
    ("_forward_pre_hooks", "forward_pre", "_forward_pre_hooks_with_kwargs"),
    ("_forward_hooks", "forward", "_forward_hooks_with_kwargs"),
    ("_backward_pre_hooks", "backward_pre", ""), ("_backward_hooks", "backward", ""))
SELDOM: Final[tuple[tuple[str, str], ...]] = (
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
KEPT: Final = ("tensor", "post_accumulate", "node_pre", "node_post")    # what these see goes to parameters
shorter: Final[dict[str, str]] = {}                     # qualified names -> how hooks are called
HOOK: Final = blank(kind="", name="?", on="", owner=-1, defined=-1, registered=-1, prior=False, fired=0, changed=0, at=0,
                    removed=False, engine="")


def new_hook(j: Book, tap: Any, kind: str, on: str, owner: int, registered: int, prior: bool) -> int:
    row = HOOK.copy()
    row["kind"] = kind
    row["on"] = on
    row["owner"] = owner
    row["registered"] = registered
    row["prior"] = prior
    row["at"] = now() - j.start
    row["engine"] = tap.name
    return add(j, j.rec.hooks, row)


def unswept(j: Book, table: Any) -> bool:
    """Is there a hook in the table around which we are not yet?"""
    around = j.around
    for hook in table.values():
        if type(hook) is not around or hook.args[0][0] is not j:
            return True
    return False


def sweep_pending(j: Book) -> None:
    while j.pending:
        tap, table, kind, on, owner = j.pending.pop()
        live = table()
        if live is not None:
            sweep(j, tap, live, kind, on, owner, ())


def sweep_module(j: Book, tap: Any, module: Any, n: int, thorough: bool) -> None:
    """thorough: hooks of state dicts, too"""
    own: dict[str, Any] = module.__dict__
    for name, kind, with_kwargs in TABLES:
        table = own.get(name)
        if table and unswept(j, table):
            sweep(j, tap, table, kind, path_of(j, n), n, own.get(with_kwargs, ()))
    if thorough:
        for name, kind in SELDOM:
            table = own.get(name)
            if table:
                sweep(j, tap, table, kind, path_of(j, n), n, ())


def sweep_tensor(j: Book, tap: Any, t: Any, n: int) -> None:
    """n: its number; -1 where unknown"""
    table = on_tensor(t)
    if table and unswept(j, table):
        if n < 0:
            n = j.tensor(tap, t)
        sweep(j, tap, table, "tensor", name_of(j, n), n, ())
    table = on_leaf(t)
    if table and unswept(j, table):
        if n < 0:
            n = j.tensor(tap, t)
        sweep(j, tap, table, "post_accumulate", name_of(j, n), n, ())


def on_tensor(t: Any) -> Any:
    """The hooks of a tensor, or None."""
    return t.listeners if isinstance(t, TensorBase) else t._backward_hooks


def on_leaf(t: Any) -> Any:
    """The post-accumulate hooks of a tensor, or None."""
    if isinstance(t, TensorBase):
        return None if t.sink is None else t.sink.after
    return t._post_accumulate_grad_hooks


def sweep(j: Book, tap: Any, table: Any, kind: str, on: str, owner: int, with_kwargs: Any) -> None:
    """Put ourselves around the hooks in a table, where we are not yet."""
    around = j.around
    firing = j.firing
    if firing is None:                                  # the recording ended meanwhile, in another thread
        return
    place = id(table)
    for key, hook in list(table.items()):
        if type(hook) is around and hook.args[0][0] is j:
            continue
        plain = type(hook) is FunctionType and not of_library(hook)
        if kind == "tensor" and (not plain or hook.__code__.co_freevars) and tap.of_several(hook, owner, place, key, -1):
            continue
        if not plain and tap.is_ours(hook):
            continue
        n = j._hooks.get((place, key), -1)
        if n < 0:
            n = j._hooks[(place, key)] = new_hook(j, tap, kind, on, owner, -1, True)
        row: dict[str, Any] = j.rec.hooks[n]
        if row["kind"] == "node":
            row["kind"] = kind
            row["on"] = on
            row["owner"] = owner
        if plain:
            name_function(j, row, hook)
        else:
            describe(j, tap, row, hook)
        its: str = row["kind"]
        table[key] = around(firing, (j, tap, hook, row, its, PLACE.get(its), n, key in with_kwargs))
        j._swapped.append((ref(table), key))
    if len(j._swapped) > j.room:
        j._swapped = [entry for entry in j._swapped if entry[0]() is not None]
        j.room = max(j.room, 2 * len(j._swapped))
    if not j.on:                                        # the end, in another thread, may have looked before we were there
        bare(j, table)


def bare(j: Book, table: Any) -> None:
    """Every hook in the table is itself again, if no recording that goes on stands around it."""
    around = j.around
    for key, hook in list(table.items()):
        plain = hook
        while type(plain) is around and not plain.args[0][0].on:
            plain = plain.hook
        if plain is not hook:
            table[key] = plain


def describe(j: Book, tap: Any, row: dict[str, Any], hook: Any) -> None:
    """What a hook is called and where it is defined."""
    plain = hook
    if type(hook) is not FunctionType or of_library(hook):
        plain = tap.plain(hook)
    if type(plain) is FunctionType:
        name_function(j, row, plain)
    else:
        row["name"] = tap.name_of(plain)
        row["defined"] = tap.defined(plain)


def name_function(j: Book, row: dict[str, Any], function: Any) -> None:
    name: str = function.__qualname__
    code = function.__code__
    short = shorter.get(name)
    if short is None:
        short = shorter[name] = name.replace("<locals>.", "")
    row["name"] = short
    row["defined"] = number(j.sites, code.co_filename, code.co_firstlineno, code.co_qualname)


def of_library(function: Any) -> bool:
    home = function.__module__
    return isinstance(home, str) and home.startswith(("torch", "retrograd"))


def fire(j: Book, facts: tuple[Any, ...], args: tuple[Any, ...], kwargs: Any) -> Any:
    """A hook fires: look at what it gets, let it run, look at what it made of it."""
    _, tap, hook, row, what, place, which, with_kwargs = facts
    kind: str = what
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


def compare(j: Book, tap: Any, sees: list[Any], versions: list[int], before: tuple[int, ...], made: list[Any],
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
    if x is y:                                  # as of two samples inside vmap, whose arrays hold nothing
        return a is b or bool(tap.equal(a, b))
    found: Any = same(x, y)
    return bool(tap.equal(a, b) if found is None else found)


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
