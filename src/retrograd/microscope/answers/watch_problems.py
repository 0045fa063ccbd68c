"""What watch() says of a training loop that runs and does not do what it was meant to."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from weakref import ref

import numpy as np

from ..listen import engine_of_module
from ..listen.sites import Sites, variables
from ..plain_text import few
from ..record.kept import containers, tensors_in

LOOKS = 4               # the first ones at which graphs are counted; then at each power of two
NODES = 4000            # of a graph, at most
MOVED = 3               # looks after which a parameter that has not moved is named


class Loop:
    """The steps of a training, as its hooks show them."""

    def __init__(self, model: Any, engine: Any) -> None:
        self.model, self.engine = model, engine
        self.sites = Sites()
        if engine.name == "torch":
            self.sites.skip(str(engine.torch.__path__[0]))
        self.held: dict[int, tuple[Any, set[int], str, bool]] = {}      # optimizer -> (itself, its parameters, its type,
                                                                        # has it a scheduler?)
        self.rates: dict[int, list[bool]] = {}                  # optimizer -> at each look: is a learning rate other than 0?
        self.came: dict[int, int] = {}                          # parameter -> passes since the last step of its optimizer
        self.unused: dict[int, int] = {}                        # optimizer -> looks at which step() found nothing
        self.moves: dict[str, list[int]] = {}                   # parameter -> looks, looks at which it moved
        self.sizes: dict[tuple[int, str], list[int]] = {}       # (optimizer, variable) -> nodes of the graphs it keeps
        self.handles: list[Any] = []
        self.looks: dict[int, int] = {}                         # optimizer -> looks

    # -- what happens

    def arm(self) -> None:
        """The next step is looked at: hear which gradients arrive, at the first looks."""
        if min(self.looks.values(), default=0) < LOOKS:
            self.handles = [p.register_hook(Arrival(self, id(p))) for p in self.model.parameters() if p.requires_grad]

    def disarm(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def steps(self, optimizer: Any, ps: list[Any], grads: list[Any]) -> None:
        """An optimizer is about to step.  grads: norms"""
        key = id(optimizer)
        known = self.held.get(key)
        if known is None or known[0]() is not optimizer:
            self.rates.pop(key, None)
            self.unused.pop(key, None)
        self.held[key] = (ref(optimizer), set(map(id, ps)), type(optimizer).__name__,
                          "initial_lr" in optimizer.param_groups[0])
        self.rates.setdefault(key, []).append(any(float(g.get("lr", 1.0)) for g in optimizer.param_groups))
        if not any(grads) and any(self.came.get(id(p)) for p in ps):
            self.unused[key] = self.unused.get(key, 0) + 1

    def stepped(self, optimizer: Any, moved: Iterator[tuple[str, bool]]) -> None:
        for name, it in moved:
            counts = self.moves.setdefault(name, [0, 0])
            counts[0] += 1
            counts[1] += it
        looks = self.looks[id(optimizer)] = self.looks.get(id(optimizer), 0) + 1
        if looks <= LOOKS or looks & (looks - 1) == 0:
            self.count_graphs(id(optimizer))

    def forget(self, ps: list[Any]) -> None:
        """What came for these parameters: their step is over."""
        for p in ps:
            self.came.pop(id(p), None)

    def has_loose(self) -> bool:
        """Does the model have parameters that no optimizer that stepped holds?"""
        held = set().union(*(ids for _, ids, _, _ in self.held.values()))
        return any(p.requires_grad and id(p) not in held for p in self.model.parameters())

    def count_graphs(self, key: int) -> None:
        """How many nodes hang on what the program and the model keep, at a step of an optimizer."""
        found: dict[str, list[Any]] = {}
        for path, module in self.model.named_modules():
            for name, x in vars(module).items():
                if not name.startswith("_"):
                    found[f"{path}.{name}" if path else name] = [x]
        frame = self.sites.user_frame(sys._getframe(1))
        if frame is not None:
            for name, x in variables(frame).items():
                found[name] = [x]
            for name, held in containers(self.sites, frame):
                found.setdefault(name, []).append(held)
        for name, things in found.items():
            roots = [t.grad_fn for t in tensors_in(things, 2) if self.engine.is_tensor(t) and t.grad_fn is not None]
            if roots:
                self.sizes.setdefault((key, name), []).append(nodes_before(roots))

    # -- what is wrong

    def problems(self, names: dict[int, str]) -> Iterator[str]:
        for key, (_, _, kind, scheduled) in self.held.items():
            rates = self.rates.get(key, [])
            if rates and not any(rates) and (len(rates) > 1 or not scheduled):
                yield f"the learning rate of {kind} is 0: no parameter moves; check what the scheduler does to it"
            if self.unused.get(key):
                yield (f"zero_grad() ran between backward() and step() of {kind}: it found no gradients in {self.unused[key]} of "
                       f"{len(rates)} looks; call zero_grad() before backward() or after step()")
        yield from (text for _, text in listed(self.model))
        held = set().union(*(ids for _, ids, _, _ in self.held.values()))
        loose = [name for p, name in ((id(p), names.get(id(p), "?")) for p in self.model.parameters() if p.requires_grad)
                 if p not in held]
        if self.held and loose:
            yield f"no optimizer that stepped holds {few(loose)}: give it all parameters, after the last change to the model"
        moving = any(moved for _, moved in self.moves.values())
        still = [name for name, (looks, moved) in self.moves.items() if looks >= MOVED and not moved]
        if moving and still:
            yield f"{few(still)} never moved in {max(self.moves[name][0] for name in still)} looks, while others did"
        for (_, name), sizes in self.sizes.items():
            if len(sizes) > 2 and sizes[-3] < sizes[-2] <= sizes[-1] and (sizes[-2] < sizes[-1] or sizes[-1] >= NODES):
                yield (f"{name} keeps the graphs of earlier steps ({', '.join(map(str, sizes[-3:]))} nodes): detach() what is "
                       "carried over, and sum up loss.item()")


def listed(model: Any) -> Iterator[tuple[Any, str]]:
    """Layers and parameters in Python lists, where parameters() does not find them: (whose attribute, what and the way out)."""
    engine = engine_of_module(model, "watch")
    Module, Tensor = engine.Module, engine.Tensor
    known = {id(m) for m in model.modules()} | {id(p) for p in model.parameters()}
    for path, module in model.named_modules():
        for name, held in vars(module).items():
            if name.startswith("_") or not isinstance(held, (list, tuple, dict, Tensor)):
                continue
            for x in [held] if isinstance(held, Tensor) else tensors_in(held, 2):
                where = f"{path}.{name}" if path else name
                if id(x) in known:
                    continue
                if isinstance(x, Module) and any(id(p) not in known for p in x.parameters()):
                    yield module, (f"{where} is a Python {type(held).__name__}: parameters() does not find the layers in it; use "
                                   "nn.ModuleList or nn.ModuleDict")
                    break
                if isinstance(x, Tensor) and x.requires_grad and x.is_leaf:
                    yield module, (f"{where} requires grad but is not an nn.Parameter: parameters() does not find it; use "
                                   "nn.Parameter, or nn.ParameterList for several")
                    break


class Arrival:
    """A hook on a parameter: a gradient arrives."""

    def __init__(self, loop: Loop, key: int) -> None:
        self.loop, self.key = ref(loop), key

    def __call__(self, g: Any) -> None:
        it = self.loop()
        if it is not None:
            it.came[self.key] = it.came.get(self.key, 0) + 1


def nodes_before(roots: list[Any]) -> int:
    """How many nodes lead to these; NODES when there are as many or more."""
    seen = set(roots)
    todo = list(seen)
    while todo and len(seen) < NODES:
        for node, _ in todo.pop().next_functions:
            if node is not None and node not in seen:
                seen.add(node)
                todo.append(node)
    return len(seen)


class Units:
    """The units of one activation: when each was above 0 last."""

    def __init__(self) -> None:
        self.alive: Any = None                  # look at which a unit was above 0 last
        self.looks = 0

    def saw(self, alive: Any, look: int) -> None:
        if self.alive is None or self.alive.shape != alive.shape:
            self.alive, self.looks = np.full(alive.shape, -1, np.int64), 0
        self.alive[alive] = look

    def dead(self, look: int, window: int) -> list[int]:
        """Those that were above 0 in none of the last `window` looks."""
        return [] if self.alive is None or look + 1 < window else np.flatnonzero(self.alive <= look - window).tolist()
