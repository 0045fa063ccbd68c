"""What things are called in a recording: modules and parameters by their paths, models by the variables that hold them."""
from __future__ import annotations

import sys
from collections.abc import Container, Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any
from weakref import ref

from ..listen.sites import Sites, variables
from .journal import Journal
from .recording import Recording

LONG = 256              # of a list in which models are looked for


def in_a_list(names: dict[str, Any], it: Any) -> str:
    """Where it is in a list, tuple or dict that has one of these names, as "rest.0"; "" if it is not."""
    for name, held in names.items():
        if name.startswith("_") or type(held) not in (list, tuple, dict) or len(held) > LONG:
            continue
        for key, one in held.items() if type(held) is dict else enumerate(held):
            if one is it:
                return f"{name}.{key}"
    return ""


def held_by(names: dict[str, Any], it: Any) -> Iterator[str]:
    """The variables that hold it."""
    for name, held in names.items():
        if held is it and name != "self" and not name.startswith("_"):
            yield name


def objects(names: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of the program's own classes among these variables, and their attributes."""
    for name, held in names.items():
        if not name.startswith("_") and not isinstance(held, type) and (
                type(held).__module__.partition(".")[0] not in ("builtins", "torch", "retrograd", "numpy")):
            yield name, getattr(held, "__dict__", {})


def numbered(name: str, taken: Container[str]) -> str:
    """name, or name#2 and so on when it is taken."""
    k, found = 1, name
    while found in taken:
        k += 1
        found = f"{name}#{k}"
    return found


class Names(Journal):
    """The part of a Recorder that names things."""

    rec: Recording
    models: tuple[Any, ...]
    given: set[int]                             # their ids
    lone: Any                                   # of the models given, the one that all others are part of
    taps: list[Any]
    sites: Sites
    _told: set[tuple[int, int]]
    built: list[tuple[Any, str, Any, int]]      # in the block: weak references of a module, and of a parameter, its name, site
    naming: Any

    def note(self, what: str, text: str, site: int = -1) -> None:
        raise NotImplementedError

    def name_model(self, tap: Any, model: Any, name: str | None = None) -> None:
        """Give the modules and parameters of a model their paths: below `name`, or the variable that holds it."""
        known = self._modules.get(id(model))
        if known is not None and known[0]() is model and (name is None or known[1] not in self.guessed):
            return
        if model is self.lone:
            prefix = ""
        else:
            own = None if known is None else self.rec.modules[known[1]]
            used = {m["path"] for m in self.rec.modules if m is not own}
            prefix = numbered(name or self.variable_of(model, used) or type(model).__name__, used)
        first = self.walk(tap, model, prefix)
        if id(model) not in self.given:
            self.guessed.add(first)
        elif first == 0 and prefix:
            self.rec.modules[0]["first"] = 1

    def variable_of(self, it: Any, taken: Container[str] = ()) -> str | None:
        """The name by which the program holds a model or an optimizer, if it is none of `taken`; with a number if all are."""
        first = None
        for name in self.variables_of(it):
            if name not in taken:
                return name
            first = first or name
        return first

    def variables_of(self, it: Any) -> Iterator[str]:
        """Its variables in the frames of the user's code, from the innermost outwards.

        Then its places in lists, attributes of objects, and last arguments: who called has a better name.
        """
        frame = self.sites.user_frame(sys._getframe(1))
        places: list[str] = []
        attributes: list[str] = []
        arguments: list[str] = []
        for _ in range(6):
            if frame is None:
                break
            code, local = frame.f_code, variables(frame)
            count = code.co_argcount + code.co_kwonlyargcount
            given = code.co_varnames[:count + bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)]
            own = getattr(local.get("self"), "__dict__", {})
            for names in (local, dict(frame.f_globals), {**own, **own.get("_modules", {})}):
                for name in held_by(names, it):
                    if names is local and name in given:
                        arguments.append(name)
                    else:
                        yield name
                place = in_a_list(names, it)
                if place:
                    (arguments if names is local and place.partition(".")[0] in given else places).append(place)
                for name, its in objects(names):
                    attributes.extend(held_by(its, it))
                    if type(below := its.get("_modules")) is dict:
                        attributes.extend(f"{name}.{part}" for part in held_by(below, it))
            frame = self.sites.user_frame(frame.f_back)
        yield from (*places, *attributes, *arguments)

    def used_outside(self, thread: Any, n: int, site: int, frame: Any) -> None:
        """An op reads parameter n; is its module being called?  If not, by whom: its forward, or a function."""
        owners = self.owners[n]
        for number, _, _ in reversed(thread.modules):
            if number in owners:
                return
        for number in owners:
            if (number, site) in self._told:
                continue
            self._told.add((number, site))
            what = "functional"
            while frame is not None:
                if frame.f_code.co_name == "forward":
                    known = self._modules.get(id(variables(frame).get("self")))
                    if known is not None and known[1] == number:
                        what = "direct"
                        break
                frame = frame.f_back
            self.note(what, self.rec.modules[number]["path"], site)

    def module(self, tap: Any, module: Any) -> int:
        known = self._modules.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        with self.naming:                               # threads that meet a model first share its names
            return self.number_of_module(tap, module)

    def number_of_module(self, tap: Any, module: Any) -> int:
        known = self._modules.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        stack = self.thread().modules
        if stack:                                       # added to a model after it was named
            parent = stack[-1][2]
            for name, child in parent.named_modules():
                if child is module:
                    above = self.rec.modules[stack[-1][0]]["path"]
                    path = f"{above}.{name}" if above else name
                    below = path.rpartition(".")[0]
                    number = next((i for i, m in enumerate(self.rec.modules) if m["path"] == below), stack[-1][0])
                    return self.name_below(tap, module, path, number)
            place = in_a_list(vars(parent), module)
            if place:
                above = self.rec.modules[stack[-1][0]]["path"]
                number = self.name_below(tap, module, f"{above}.{place}" if above else place, stack[-1][0])
                self.rec.modules[number]["listed"] = 1
                return number
        with tap.quiet():
            self.name_model(tap, module)
        return self._modules[id(module)][1]

    def name_below(self, tap: Any, module: Any, path: str, parent: int) -> int:
        """Names for a module and what is in it, added to a model after that one got its names; -> its number."""
        number = self.add_module(tap, module, path, parent)
        self.guessed.discard(number)
        self.walk(tap, module, path)
        return number

    def name_late(self) -> None:
        """The block ends: what was put into models meanwhile, and met no call that would have named it."""
        if self.built:
            self.name_built()
        children, leaves = self.late()
        for number, name, child in children:
            self.name_below(*self.place_in(number, name, child), number)
        for number, name, p in self.late()[1] if children else leaves:
            self.name_tensor(*self.place_in(number, name, p), "parameter")

    def name_built(self) -> None:
        """Models that were made in the block and never called, and parameters that others replaced since."""
        alive = {id(m): m for m in [entry[0]() for entry in self.built] if m is not None}
        within = {id(child) for m in alive.values() for child in m._modules.values()}
        for it, module in alive.items():
            known = self._modules.get(it)
            if it not in within and (known is None or known[0]() is not module):
                self.name_model(next(tap for tap in self.taps if isinstance(module, tap.Module)), module)
        names = self.rec.tensor_names
        for module, name, kept, site in self.built:
            owner, p = module(), None if kept is None else kept()
            known, n = self._modules.get(id(owner)), self.tensor_number(p)
            if p is None or n is None or known is None:
                continue
            if n not in names and owner._parameters.get(name) is not p:
                path = self.rec.modules[known[1]]["path"]
                full = f"{path}.{name}" if path else name
                names[n] = {"name": full, "names": [full], "role": "replaced"}
            if n in names:
                names[n]["put"] = site
        self.built.clear()
        holders = {self.rec.modules[number]["path"]: known() for known, number in self._modules.values()}
        for n, facts in list(names.items()):            # functional_call puts others in their places for a while
            path, _, name = facts["name"].rpartition(".")
            its = holders.get(path)
            current = None if its is None or "put" in facts else self.tensor_number(its._parameters.get(name))
            if facts["role"] == "parameter" and current is not None and current < n:
                del names[n]

    def place_in(self, number: int, name: str, it: Any) -> tuple[Any, Any, str]:
        """(the tap of module `number`, it, the path of what the module calls `name`)"""
        facts = self.rec.modules[number]
        tap = next(tap for tap in self.taps if tap.name == facts["engine"])
        return tap, it, f"{facts['path']}.{name}" if facts["path"] else name

    def name_new_leaf(self, tap: Any, t: Any, n: int) -> None:
        """A parameter that was put into a module after the module got its names."""
        for number, _, module in reversed(self.thread().modules):
            for name, p in module.named_parameters(recurse=False):
                if p is t:
                    path = self.rec.modules[number]["path"]
                    full = f"{path}.{name}" if path else name
                    self.rec.tensor_names[n] = {"name": full, "names": [full], "role": "parameter"}
                    self._parameters[n] = ref(t)
                    return
