"""Users' hooks in a recording: found in their tables, stood around, and watched when they fire."""
from __future__ import annotations

from types import FunctionType
from typing import Any, Final, Optional
from weakref import ref

from ... import _kernels
from ..._engine.tensor import TensorBase, read_grad
from .book import (
    Book,
    Plain,
    add,
    blank,
    name_of,
    now,
    path_of,
    reserve,
    row_of,
    since,
    thread_of,
    value,
    value_at,
    version,
)
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
ON_TENSORS: Final = ("tensor", "post_accumulate")
NAMES: Final[list[str]] = [name for name, _, _ in TABLES]
SELDOM_NAMES: Final[list[str]] = [name for name, _ in SELDOM]
HOOK: Final = blank(kind="", name="?", on="", owner=-1, defined=-1, registered=-1, prior=False, fired=0, changed=0, at=0,
                    removed=False, engine="")


def new_hook(j: Book, tap: Any, kind: str, on: str, owner: int, registered: int, prior: bool) -> int:
    row = HOOK.copy()
    row["registered"] = registered
    row["prior"] = prior
    row["engine"] = tap.name
    return add_hook(j, row, kind, on, owner)


def add_hook(j: Book, row: dict[str, Any], kind: str, on: str, owner: int) -> int:
    row["kind"] = kind
    row["on"] = on
    row["owner"] = owner
    row["at"] = since(j)
    return add(j, j.hooks, row)


def unswept(j: Book, table: Any) -> bool:
    """Is there a hook in the table around which we are not yet?"""
    around = j.around
    firing = j.firing
    for key in table:
        hook = table[key]
        if type(hook) is not around or hook.func is not firing:
            return True
    return False


def sweep_pending(j: Book) -> None:
    while j.pending:
        tap, table, kind, on, owner = j.pending.pop()
        live = table()
        if live is not None:
            sweep(j, tap, live, kind, on, owner, ())


def sweep_module(j: Book, tap: Any, own: dict[str, Any], n: int, thorough: bool) -> None:
    """own: what module n has.  thorough: hooks of state dicts, too"""
    for i, name in enumerate(NAMES):
        table = own.get(name)
        if table and (thorough or unswept(j, table)):
            _, kind, with_kwargs = TABLES[i]
            sweep(j, tap, table, kind, "", n, own.get(with_kwargs, ()))
    if thorough:
        for i, name in enumerate(SELDOM_NAMES):
            table = own.get(name)
            if table:
                sweep(j, tap, table, SELDOM[i][1], "", n, ())


def sweep_tensor(j: Book, tap: Any, t: Any, n: int) -> None:
    """n: its number; -1 where unknown"""
    table = on_tensor(t)
    if table and unswept(j, table):
        if n < 0:
            n = j.tensor(tap, t)
        sweep(j, tap, table, "tensor", "", n, ())
    table = on_leaf(t)
    if table and unswept(j, table):
        if n < 0:
            n = j.tensor(tap, t)
        sweep(j, tap, table, "post_accumulate", "", n, ())


def on_tensor(t: Any) -> Any:
    """The hooks of a tensor, or None."""
    return t.listeners if isinstance(t, TensorBase) else t._backward_hooks


def on_leaf(t: Any) -> Any:
    """The post-accumulate hooks of a tensor, or None."""
    if isinstance(t, TensorBase):
        return None if t.sink is None else t.sink.after
    return t._post_accumulate_grad_hooks


def sweep(j: Book, tap: Any, table: Any, kind: str, on: str, owner: int, with_kwargs: Any) -> None:
    """Put ourselves around the hooks in a table, where we are not yet.

    on: what they are on; "" of a module's and a tensor's, whose number is `owner`
    """
    around = j.around
    firing = j.firing
    if firing is None:                                  # the recording ended meanwhile, in another thread
        return
    if not on:
        on = name_of(j, owner) if kind in ON_TENSORS else path_of(j, owner)
    place = id(table)
    live = ref(table)
    for key in list(table):
        if key not in table:                            # removed meanwhile, in another thread
            continue
        hook: Any = table[key]
        if type(hook) is around and hook.func is firing:
            continue
        plain = plain_of(j, tap, hook) if type(hook) is FunctionType else None
        if kind == "tensor" and (plain is None or plain.closed) and tap.of_several(hook, owner, place, key, -1):
            continue
        if plain is None and tap.is_ours(hook):
            continue
        where: Any = (place, key)
        n = j._hooks.get(where, -1)
        its = kind
        if n >= 0:                                      # it was registered in the block
            row = j.hooks[n]
            if row["kind"] == "node":
                row["kind"] = kind
                row["on"] = on
                row["owner"] = owner
            its = row["kind"]
            describe(j, tap, row, hook)
        elif plain is not None:
            row = plain.row.copy()
            n = j._hooks[where] = add_hook(j, row, kind, on, owner)
        else:
            n = j._hooks[where] = new_hook(j, tap, kind, on, owner, -1, True)
            row = j.hooks[n]
            describe(j, tap, row, hook)
        table[key] = around(firing, (j, tap, hook, row, its, PLACE.get(its), n, key in with_kwargs))
        j._swapped.append((live, key))
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


def plain_of(j: Book, tap: Any, function: Any) -> Optional[Plain]:
    """What is known of a function of the user's; None of one of a library."""
    place: Any = id(function.__code__)
    found = j._plain.get(place)
    if found is None or found.name is not function.__qualname__ or found.home is not function.__module__ or found.tap is not tap:
        if of_library(function):
            return None
        row = HOOK.copy()
        row["prior"] = True
        row["engine"] = tap.name
        name_function(j, row, function)
        found = j._plain[place] = Plain(tap, function, row)
    return found


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
    row["name"] = name.replace("<locals>.", "")
    row["defined"] = number(j.sites, code.co_filename, code.co_firstlineno, code.co_qualname)


def of_library(function: Any) -> bool:
    home = function.__module__
    return isinstance(home, str) and home.startswith(("torch", "retrograd"))


def fire(j: Book, facts: tuple[Any, ...], args: tuple[Any, ...], kwargs: Any) -> Any:
    """A hook fires: look at what it gets, let it run, look at what it made of it."""
    _, tap, hook, its, what, place, which, with_kwargs = facts
    kind: str = what
    row: dict[str, Any] = its
    thread = thread_of(j)
    count: int = row["fired"]
    row["fired"] = count + 1
    sees: list[Any] = []
    before: tuple[int, ...] = ()
    versions: list[int] = []
    keeps = False
    if place is not None:
        sees = [grad_of(args[0])] if kind == "post_accumulate" else tensors_in(tap, args[place])
        thread.busy += 1
        versions = [0 if t is None else version(t) for t in sees]
        before = values_at(j, tap, sees, versions)
        if j.values is not None and kind in KEPT:
            keeps = True
            keep(j, tap, before, sees)
        thread.busy -= 1
    slot = reserve(j, "hook")
    number: int = thread.passes[-1] if thread.passes else -1
    if number < 0 and j.open_passes and tap.runs_for_another():
        number = j.open_passes[-1]
    node = -1
    if thread.open or kind == "node_pre" or kind == "node_post":
        node = tap.node_of_hook(kind, which, thread, slot)
    began = since(j)
    try:
        result: Any = hook(*args, **kwargs) if kwargs else hook(*args)
    except BaseException as error:
        if slot >= 0:
            j.rows[slot] = ("hook", began, since(j) - began, thread.number, number, which, node, before, (), None,
                            False, f"{type(error).__name__}: {error}"[:400])
        raise
    took = since(j) - began
    changed: Optional[bool] = None
    after: tuple[int, ...] = ()
    if place is not None:
        made = sees
        if kind == "post_accumulate":
            made = [grad_of(args[0])]
        elif result is not None and kind != "multi_grad":       # whose result is ignored
            if with_kwargs and kind == "forward_pre" and isinstance(result, tuple) and len(result) == 2:
                made = tensors_in(tap, result[0])
            else:
                made = tensors_in(tap, result)
        thread.busy += 1
        if untouched(sees, versions, made):
            after = before
            changed = False
        else:
            after = tuple([value(j, tap, t) for t in made])
            if keeps:
                keep(j, tap, after, made)
            changed = compare(j, tap, sees, versions, before, made, after, slot)
        thread.busy -= 1
        if changed:
            changes: int = row["changed"]
            row["changed"] = changes + 1
        if thread.open and (kind == "tensor" or kind == "node_pre"):
            tap.replaced(thread, kind, after)
    if j.timed:
        thread.last = now()
    if slot >= 0:
        j.rows[slot] = ("hook", began, took, thread.number, number, which, node, before, after, changed,
                        result is not None, None)
    return result


def grad_of(t: Any) -> Any:
    return read_grad(t) if isinstance(t, TensorBase) else t.grad


def values_at(j: Book, tap: Any, tensors: list[Any], versions: list[int]) -> tuple[int, ...]:
    """The numbers of the values of tensors (or None) in these versions."""
    if len(tensors) == 1 and tensors[0] is not None:
        return value_at(j, tap, tensors[0], versions[0]),
    return tuple([-1 if t is None else value_at(j, tap, t, n) for t, n in zip(tensors, versions)])


def keep(j: Book, tap: Any, values: tuple[int, ...], tensors: list[Any]) -> None:
    for n, t in zip(values, tensors):
        if t is not None:
            j.keep(tap, n, t)


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


def tensors_in(tap: Any, given: Any) -> list[Any]:
    """The tensors (or None) in what a hook gets or gives."""
    return [given] if isinstance(given, TensorBase) else first_tensors(given, tap.Tensor, 8)


def first_tensors(given: Any, tensor: Any, limit: int) -> list[Any]:
    """The tensors (or None) in a value, a tuple, list or dict of them."""
    if isinstance(given, tensor):
        return [given]
    if isinstance(given, dict):
        given = list(given.values())
    if not isinstance(given, (tuple, list)):
        return []
    found: list[Any] = []
    for v in given[:limit]:
        if v is None or isinstance(v, TensorBase) or isinstance(v, tensor):
            found.append(v)
        elif isinstance(v, (tuple, list, dict)):
            found.extend(first_tensors(v, tensor, limit - len(found)))
    return found if len(found) <= limit else found[:limit]
