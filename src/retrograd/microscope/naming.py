"""What things are called in a recording: modules and parameters by their paths, models by the variables that hold them."""
from __future__ import annotations

import sys
from typing import Any
from weakref import ref

from ._sites import Sites
from .recording import Recording


class Names:
    """The part of a Recorder that names things."""

    rec: Recording
    models: tuple[Any, ...]
    sites: Sites
    lock: Any
    named_root: bool
    owners: dict[int, set[int]]
    guessed: set[int]
    _told: set[tuple[int, int]]
    _modules: dict[int, tuple[Any, int]]
    _parameters: dict[int, Any]

    def thread(self) -> Any:
        raise NotImplementedError

    def note(self, what: str, text: str, site: int = -1) -> None:
        raise NotImplementedError

    def new_tensor(self, tap: Any, t: Any, made_by: int, stem: int, sweep: bool = True) -> int:
        raise NotImplementedError

    def tensor_number(self, t: Any) -> int | None:
        raise NotImplementedError

    def name_model(self, tap: Any, model: Any, name: str | None = None) -> None:
        """Give the modules and parameters of a model their paths: below `name`, or the variable that holds it."""
        known = self._modules.get(id(model))
        if known is not None and known[0]() is model and (name is None or known[1] not in self.guessed):
            return
        if any(model is m for m in self.models) and not self.named_root:
            self.named_root = True
            prefix = ""
        else:
            prefix = name or self.variable_of(model) or type(model).__name__
            used = {m["path"] for m in self.rec.modules if m["parent"] == -1 and (
                known is None or m is not self.rec.modules[known[1]])}
            k = 1
            while prefix in used:
                k += 1
                prefix = f"{prefix.partition('#')[0]}#{k}"
        guess = not any(model is m for m in self.models)
        first = -1
        met: dict[int, tuple[int, Any, list[int]]] = {}         # id -> (number, module, numbers of its parameters)
        named: dict[int, Any] = {}
        todo: list[tuple[Any, str, int, int]] = [(model, prefix, -1, 0)]
        while todo:
            module, path, parent, again = todo.pop()
            known = met.get(id(module))
            if known is None:
                number = self.add_module(tap, module, path, parent)
                known = met[id(module)] = number, module, []
                if first < 0:
                    first = number
                else:
                    self.guessed.discard(number)
            elif again > 8:                             # a module inside itself
                continue
            else:
                again += 1                              # a second path: its parameters get names below that, too
            number, _, own = known
            start = f"{path}." if path else ""
            for name, p in module._parameters.items():
                if p is not None:
                    n = self.name_tensor(tap, p, start + name, "parameter")
                    named[n] = p
                    own.append(n)
            for name, b in module._buffers.items():
                if b is not None:
                    self.name_tensor(tap, b, start + name, "buffer")
            if module._modules:
                todo += [(child, start + name, number, again) for name, child in reversed(module._modules.items())
                         if child is not None]
        if guess:
            self.guessed.add(first)
        for number, module, own in met.values():
            for n in own:
                self.owners.setdefault(n, set()).add(number)
            tap.sweep_module(module, number, True)
        for n, p in named.items():
            tap.sweep_tensor(p, n)

    def variable_of(self, model: Any) -> str | None:
        """The variable that holds a model, in the frames of the user's code."""
        frame = self.sites.user_frame(sys._getframe(1))
        for _ in range(6):
            if frame is None:
                return None
            for found in (frame.f_locals, frame.f_globals):
                for name, value in list(found.items()):
                    if value is model and name != "self" and not name.startswith("_"):
                        return name
            frame = self.sites.user_frame(frame.f_back)
        return None

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
                    known = self._modules.get(id(frame.f_locals.get("self")))
                    if known is not None and known[1] == number:
                        what = "direct"
                        break
                frame = frame.f_back
            self.note(what, self.rec.modules[number]["path"], site)

    def add_module(self, tap: Any, module: Any, path: str, parent: int) -> int:
        """The number of a module that is at this path, below module `parent`."""
        known = self._modules.get(id(module))
        if known is not None and known[0]() is module:
            if known[1] in self.guessed:                # met before the model it is part of, which names it better
                self.rec.modules[known[1]].update(path=path, parent=parent)
            return known[1]
        with self.lock:
            n = len(self.rec.modules)
            self.rec.modules.append({"path": path, "type": type(module).__name__, "parent": parent, "calls": 0,
                                     "training": bool(getattr(module, "training", False)),
                                     "engine": tap.name})
            if module.__dict__.get("_compiled_call_impl") is not None:
                self.rec.modules[n]["compiled"] = 1     # module.compile(): its calls do not pass us
        self._modules[id(module)] = (ref(module), n)
        return n

    def module(self, tap: Any, module: Any) -> int:
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
                    return self.add_module(tap, module, path, number)
        self.name_model(tap, module)
        return self._modules[id(module)][1]

    def name_tensor(self, tap: Any, t: Any, name: str, role: str, **more: Any) -> int:
        known_as = self.tensor_number(t)
        n = self.new_tensor(tap, t, -1, -1, False) if known_as is None else known_as
        if role == "parameter":
            self._parameters[n] = ref(t)
        known = self.rec.tensor_names.get(n)
        if known is None:
            self.rec.tensor_names[n] = {"name": name, "names": [name], "role": role, **more}
        elif role == "parameter" and all(name.endswith("." + old.rpartition(".")[2]) for old in known["names"]) \
                and any(self.rec.modules[m]["path"] == name.rpartition(".")[0] for m in self.owners.get(n, ())):
            known["name"], known["names"] = name, [name]        # its module got a better path
        elif name not in known["names"]:
            known["names"].append(name)
            if known["role"] != role:
                known["role"] = role
        return n

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
