"""The parameters of a captured model: which there are, which are asked for, and is the model still the same."""
from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Any

from ..errors import CaptureError
from ..listen import Engine
from ..listen.ear import wants
from .sources import Leaf, Source


class Param:
    """A parameter of the captured model."""

    def __init__(self, number: int, name: str, tensor: Any, module: Any, path: str) -> None:
        self.number = number
        self.name = name
        self.tensor = tensor
        self.module = module
        self.key = name.rpartition(".")[2]
        self.path = path                        # of the module that has it
        self.aliases: list[str] = []            # other names of the same tensor
        self.owners: dict[str, Any] = {path: module}    # all modules that have it, by their paths
        self.shape: tuple[int, ...] = () if type(tensor).__name__ == "UninitializedParameter" else tuple(tensor.shape)
        self.selected = True

    def names(self) -> list[str]:
        """All names of it and of the modules that have it."""
        return [self.name, *self.aliases, *self.owners]

    def among(self, wanted: Callable[[str, str, Any], bool]) -> bool:
        """Does a selector() want it, by one of its names?"""
        return any(wanted(name, name.rpartition(".")[0], self.tensor) for name in (self.name, *self.aliases))


def parameters_of(engine: Engine, model: Any, layers: Any) -> list[Param]:
    """Every parameter once, those that `layers` selects marked.  CaptureError when there is none."""
    wanted = selector(engine, layers)
    found: list[Param] = []
    by_id: dict[int, Param] = {}
    for path, module in model.named_modules():
        for key, tensor in module._parameters.items():
            if tensor is None:
                continue
            name = f"{path}.{key}" if path else key
            if id(tensor) in by_id:
                by_id[id(tensor)].aliases.append(name)
                by_id[id(tensor)].owners[path] = module
                continue
            by_id[id(tensor)] = Param(len(found), name, tensor, module, path)
            found.append(by_id[id(tensor)])
    for p in found:
        if type(p.tensor).__name__ == "UninitializedParameter":
            raise CaptureError(f"capture: {p.name} has no shape yet; call the model once, so that lazy layers are made")
        if p.tensor.device.type == "meta":
            raise CaptureError(f"capture: {p.name} is on the meta device and has no values; give it values first")
    if not found:
        raise CaptureError(f"capture: {type(model).__name__} has no parameters, so there is nothing to capture")
    for p in found:
        p.selected = p.among(wanted)
    if not any(p.selected for p in found):
        raise CaptureError(
            f"capture: layers={layers!r} selects no parameter; there are "
            + ", ".join(p.name for p in found[:8]) + (", ..." if len(found) > 8 else ""))
    for layer in layers if isinstance(layers, (list, tuple, set, frozenset)) else ():
        one = selector(engine, [layer])
        if not any(p.among(one) for p in found):
            raise CaptureError(f"capture: layers= has {layer!r:.60}, which selects no parameter")
    return found


def added(engine: Engine, model: Any, layers: Any, known: list[Param]) -> list[Param]:
    """Parameters with names that none of the known ones had, numbered after those.  Others are stand_ins."""
    wanted = selector(engine, layers)
    names = {name for p in known for name in (p.name, *p.aliases)}
    ids = {id(p.tensor) for p in known}
    found: list[Param] = []
    for path, module in model.named_modules():
        for key, tensor in module._parameters.items():
            name = f"{path}.{key}" if path else key
            if tensor is not None and id(tensor) not in ids and name not in names:
                ids.add(id(tensor))
                found.append(Param(len(known) + len(found), name, tensor, module, path))
                found[-1].selected = wanted(name, path, tensor)
    return found


def stand_ins(engine: Engine, params: list[Param], tracked: Any, displaced: dict[int, str]) -> list[tuple[Param, Any]]:
    """Leaves that functional_call, or an assignment since the capture began, put in the places of parameters.

    displaced   gets, for parameters whose places have others: what those are
    """
    found = []
    for p in params:
        places = p.module._parameters
        x = places.get(p.key) if isinstance(places, dict) else None     # a scripted module's are no dict
        if x is p.tensor or x is None or not p.tensor.requires_grad:
            continue
        strange = engine.transformed(x)
        if strange:
            tracked.pop(id(x), None)            # of retrograd it may be a view of the parameter
        elif id(x) in tracked:
            continue
        if not x.requires_grad:
            displaced[p.number] = "one without gradient"
        elif not x.is_leaf or strange:
            displaced[p.number] = "one computed before the capture began, or by a transform of torch.func"
        else:
            found.append((p, x))
    return found


class Found:
    """What a capture needs to know of its model at each step, and holds while the same tensors want gradients.

    own        id -> Leaf
    constants  ids of what is no data
    wanted     numbers of the parameters that are asked for
    """

    def __init__(self, params: list[Param], buffers: list[Any]) -> None:
        self.live: list[bool] = [wants(p.tensor) for p in params]
        self.buffers: list[Any] = buffers       # held, so that their ids stay theirs
        self.own: dict[int, Source] = {id(p.tensor): Leaf(p.tensor, p.number) for p, on in zip(params, self.live) if on}
        self.constants: set[int] = {id(p.tensor) for p, on in zip(params, self.live) if not on} | {id(b) for b in buffers}
        self.wanted: set[int] = {p.number for p, on in zip(params, self.live) if p.selected and on}

    def holds(self, params: list[Param], buffers: list[Any]) -> bool:
        """Of the same parameters, and these buffers."""
        if len(params) != len(self.live):
            return False
        for p, on in zip(params, self.live):
            if wants(p.tensor) != on:
                return False
        if len(buffers) != len(self.buffers):
            return False
        for x, y in zip(buffers, self.buffers):
            if x is not y:
                return False
        return True


class Row:
    """A module, and what its tables held."""

    def __init__(self, module: Any) -> None:
        self.module: Any = module
        self.cls: Any = type(module)
        self.modules: Any = module._modules
        self.parameters: Any = module._parameters
        self.buffers: Any = module._buffers
        self.its_modules: list[Any] = list(module._modules.values())
        self.its_parameters: list[Any] = list(module._parameters.values())
        self.count: int = len(module._buffers)


class Tree:
    """What a model was made of.  FSDP2 takes parameters away and gives them back: it does so while the model runs."""

    def __init__(self, model: Any) -> None:
        self.modules: list[Any] = list(model.modules())
        self._rows: list[Row] = [Row(m) for m in self.modules]
        self._buffered: list[Any] = [row.buffers for row in self._rows if row.count]

    def same(self) -> bool:
        """Are modules and parameters still the same objects, and as many buffers there?"""
        for row in self._rows:
            if type(row.module) is not row.cls or len(row.buffers) != row.count:
                return False
            if not holds(row.modules, row.its_modules) or not holds(row.parameters, row.its_parameters):
                return False
        return True

    def has(self, name: str) -> bool:
        """Is a module of a class of this name among them?"""
        return any(cls.__name__ == name for cls in {type(m) for m in self.modules})

    def buffers(self) -> list[Any]:
        """Those of all modules; a model may put new ones in their places."""
        return [x for table in self._buffered for x in table.values()]


def holds(table: Any, values: list[Any]) -> bool:
    """Does a table hold these objects?"""
    if len(table) != len(values):
        return False
    if isinstance(table, dict):                 # a scripted module's are none
        i = 0
        for x in table.values():
            if x is not values[i]:
                return False
            i += 1
        return True
    return all(x is y for x, y in zip(table.values(), values))


def hooked(x: Any) -> bool:
    """Does somebody wait for the gradient of a parameter?"""
    return bool(getattr(x, "_backward_hooks", None)) or bool(getattr(x, "_post_accumulate_grad_hooks", None))


def selector(engine: Engine, layers: Any) -> Callable[[str, str, Any], bool]:
    """(name, path of its module, parameter) -> is it one of `layers`?"""
    if layers is None:
        return lambda name, path, tensor: True
    if callable(layers) and not isinstance(layers, engine.Module):
        return lambda name, path, tensor: bool(layers(name, tensor))
    if isinstance(layers, (str, engine.Module)):
        layers = [layers]
    patterns: list[str] = []
    inside: set[int] = set()
    for layer in layers if isinstance(layers, (list, tuple, set, frozenset)) else [layers]:
        if isinstance(layer, str):
            patterns.append(layer)
        elif isinstance(layer, engine.Module):
            inside.update(id(p) for p in layer.parameters())
        elif isinstance(layer, engine.Tensor):
            inside.add(id(layer))
        else:
            raise TypeError("capture: layers= takes names (patterns such as 'blocks.*.attn'), modules, parameters, a list of "
                            f"these, or a function of (name, parameter); got {layer!r:.60}, of type {type(layer).__name__}")
    return lambda name, path, tensor: id(tensor) in inside or any(
        fnmatch.fnmatchcase(name, p) or fnmatch.fnmatchcase(path, p) for p in patterns)
