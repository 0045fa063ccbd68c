"""memory(model): listens to what graphs save and let go, to gradients and to optimizers; a Memory says where it all goes.

Saved tensors are seen by saved-tensor hooks, on both engines: what a node gets is a Hold, which has the tensor and tells when
it is let go.  A place of memory counts once, however many nodes and views keep it, with its whole size.  Which operation saves,
on which line and in which module, is known because its call is heard (microscope/listen).
"""
from __future__ import annotations

import html
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from threading import get_ident
from typing import Any

from .._own_hook import OwnHook
from ..arguments import checked
from ..errors import CaptureError, tied
from ..listen import Engine, engine_of_module
from ..listen.engine import GETTER
from ..listen.sites import Sites, caller
from ..plain_text import escaped, table
from .alive import KEY, Alive, alive
from .rows import KINDS, Group, Op, Row, grouped, size

POINTS = 20_000         # of the timeline; beyond it, every second one that is no peak goes
SHOWN = 8               # rows of each table in a report
NOT_ENTERED = "memory: nothing was followed; ask after `with microscope.memory(model) as mem:`"
NUMBERS = count()       # of operations: graphs of one block may be alive in the next


@checked
def memory(model: Any) -> Memory:
    """Where the memory of a training goes: a Memory, which is a context manager.

        with microscope.memory(model) as mem:
            train(model)
        print(mem)                      # the peak, and what it was made of: by module, operation and line
        print(*mem.alive(), sep="\\n")   # what keeps graphs alive now, and what holds it

    model   of retrograd.nn or torch.nn
    TypeError for anything but a module, CaptureError for a Memory that is asked before its block began.
    Counted are parameters and buffers of the model, its gradients, the state of the optimizers that step in the block, and what
    graphs save for backward on this thread; not what an operation needs while it runs.  What tensors saved under other
    saved-tensor hooks (checkpoint, save_on_cpu) take is not seen.
    """
    return Memory(model, engine_of_module(model, "memory"))


class Hold:
    """What a node has in place of a saved tensor."""

    __slots__ = ("tensor", "version", "row", "op", "of")

    def __init__(self, tensor: Any, version: int, row: Row, op: Op, of: Memory) -> None:
        self.tensor, self.version, self.row, self.op, self.of = tensor, version, row, op, of

    def __del__(self) -> None:
        self.of._let_go(self.row, self.op)


class Memory:
    """What memory() returns.

    timeline   [(ns of time.perf_counter_ns, bytes counted)] at each change; long ones are thinned
    peak       the most bytes at any time; peak_line: the line that reached them, peak_call: in which call of the model
    fixed      bytes of parameters and buffers
    calls      of the model
    allocated  {device: bytes}: the most that the allocator of each CUDA device of the model handed out, temporaries included
    """

    __reduce_ex__ = tied

    def __init__(self, model: Any, engine: Engine) -> None:
        self.model, self.engine = model, engine
        self.timeline: list[tuple[int, int]] = []
        self.fixed = self.now = self.peak = 0
        self.peak_line, self.peak_call = "", 0
        self.calls = 0
        self.allocated: dict[str, int] = {}
        self._peak_at = 0
        self._changes = 0
        self._rows: dict[Any, Row] = {}         # kept: place of memory -> row
        self._past: list[Row] = []              # let go, after the peak
        self._gradients: dict[int, Row] = {}    # by parameter
        self._states: dict[int, Row] = {}       # by optimizer
        self._own: set[Any] = set()             # places of parameters and buffers
        self._sites = Sites()
        if engine.name == "torch":
            self._sites.skip(str(engine.torch.__path__[0]))
        self._op: Op | None = None              # that runs
        self._given: Any = ()                   # its arguments
        self._lines: dict[int, str] = {}        # site -> file and line
        self._within: list[str] = []
        self._deaf = False
        self._block: ExitStack | None = None
        self._begun = False

    # -- listening

    def __enter__(self) -> Memory:
        if self._block is not None:
            raise CaptureError("memory: already entered; use one memory() per block")
        self._begun = True
        names = {id(m): name for name, m in self.model.named_modules()}
        its = [*self.model.parameters(), *self.model.buffers()]
        with self._unheard():
            places = dict(self._place(x) for x in its)
        self._own, self.fixed = set(places), sum(places.values())
        self._change(self.fixed - self.now)
        devices = {x.device for x in its if x.device.type == "cuda"}
        for device in devices:
            self.engine.torch.cuda.reset_peak_memory_stats(device)

        def allocate() -> None:
            self.allocated = {str(device): self.engine.torch.cuda.max_memory_allocated(device) for device in devices}

        thread = get_ident()

        def enter(module: Any, *_: Any) -> None:
            if get_ident() != thread:           # what it saves is not seen either
                return
            if module is self.model:
                self.calls += 1
                self._look()
            self._within.append(names.get(id(module), type(module).__name__))

        def leave(*_: Any) -> None:
            if self._within and get_ident() == thread:
                self._within.pop()

        def arrived(p: Any) -> None:
            self._gradient(p)

        def stepped(optimizer: Any, *_: Any) -> None:
            self._state(optimizer)

        home = self.engine.modules()
        with ExitStack() as block:
            handles = [home.register_module_forward_pre_hook(OwnHook(enter)),
                       home.register_module_forward_hook(OwnHook(leave), always_call=True),
                       self.engine.optimizers().register_optimizer_step_post_hook(OwnHook(stepped)),
                       *(p.register_post_accumulate_grad_hook(OwnHook(arrived)) for p in self.model.parameters()
                         if p.requires_grad)]
            for handle in handles:
                block.callback(handle.remove)
            block.callback(allocate)
            self._heard = block.enter_context(self.engine.calls(self))
            block.enter_context(self.engine.torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack))
            self._block = block.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._block is None:
            raise CaptureError(NOT_ENTERED)
        block, self._block = self._block, None
        block.close()
        self._within.clear()
        self._look()

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """A function of the engine that the program calls (microscope/listen)."""
        if self._deaf or type(func) is GETTER:
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        outer, given = self._op, self._given
        self._op = op = Op(next(NUMBERS), self.engine.name_of(func), self._within[-1] if self._within else "",
                           self._line(), self.calls)
        self._given = args, kwargs
        try:
            if func in self.engine.passes or func in self.engine.composites:
                out = self.engine.inside(self._heard, func, impl, args, kwargs or {})
            else:
                out = impl(*args) if kwargs is None else impl(*args, **kwargs)
            self._deaf = True
            for x in (out,) if self.engine.is_tensor(out) else tensors(out, self.engine):
                node = x.grad_fn
                if node is not None:
                    node.metadata.setdefault(KEY, op)
            return out
        finally:
            self._deaf = False
            self._op, self._given = outer, given

    def _line(self) -> str:
        site = self._sites.here(caller())
        known = self._lines.get(site)
        if known is None:
            file, line, _ = self._sites.table[site] if site >= 0 else ("", 0, "")
            known = self._lines[site] = f"{os.path.basename(file)}:{line}" if file else ""
        return known

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        before, self._deaf = self._deaf, True
        try:
            yield
        finally:
            self._deaf = before

    def _place(self, x: Any) -> tuple[Any, int]:
        """What tells the memory of a tensor from any other that is alive, and its bytes."""
        try:
            storage = x.untyped_storage()
            return (storage.data_ptr(), storage.nbytes()), storage.nbytes()
        except (NotImplementedError, RuntimeError):             # a sparse tensor, one of a transform
            return id(x), x.numel() * x.element_size()

    # -- what is kept

    def _pack(self, x: Any) -> Hold:
        deaf, self._deaf = self._deaf, True
        try:
            tensor = x.detach()
            place, size = self._place(tensor)
            row = self._rows.get(place)
            op = self._op or self._backward()
            if row is None:
                row = self._begin(self._kind(x, place), size, x, op, place)
            row.keepers[op.number] += 1
            return Hold(tensor, version(x), row, op, self)
        finally:
            self._deaf = deaf

    def _backward(self) -> Op:
        """What runs where no call was heard: a backward pass that autograd.grad began."""
        return Op(next(NUMBERS), "backward", "", self._line(), self.calls)

    def _kind(self, x: Any, place: Any) -> str:
        if place in self._own or isinstance(x, self.engine.torch.nn.Parameter):
            return "parameter"
        given = () if x.requires_grad and not x.is_leaf else tensors(self._given, self.engine)
        return "data" if any(self._place(y)[0] == place for y in given) else "activation"

    def _unpack(self, hold: Hold) -> Any:
        now = version(hold.tensor)
        if now != hold.version:                 # whoever packs is not asked by the engine
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: a tensor of "
                f"shape {list(hold.tensor.shape)}, saved by {hold.row.op.name} at {hold.row.op.line}, is at version {now}; "
                f"expected version {hold.version} instead.")
        return hold.tensor

    def _let_go(self, row: Row, op: Op) -> None:
        row.keepers[op.number] -= 1
        if not row.keepers[op.number]:
            del row.keepers[op.number]
        if not row.keepers:
            self._end(row)

    def _begin(self, kind: str, size: int, x: Any, op: Op, place: Any) -> Row:
        row = self._rows[place] = Row(kind, size, *((), "") if x is None else described(x), op, self._changes, place)
        if kind != "parameter":
            self._change(size)
        return row

    def _end(self, row: Row) -> None:
        del self._rows[row.place]
        row.ended = self._changes
        row.freed = "with its graph" if self._op is None else self._op.line
        self._past.append(row)
        if len(self._past) > POINTS:
            self._past = [row for row in self._past if self._of_peak(row)]
        if row.kind != "parameter":
            self._change(-row.bytes)

    def _of_peak(self, row: Row) -> bool:
        return row.began < self._peak_at and (row.ended is None or row.ended >= self._peak_at)

    def _change(self, by: int) -> None:
        self.now += by
        self._changes += 1
        if len(self.timeline) >= POINTS:
            self.timeline = [max(pair, key=lambda point: point[1]) for pair in zip(self.timeline[::2], self.timeline[1::2])]
        self.timeline.append((time.perf_counter_ns(), self.now))
        if self.now > self.peak:
            self.peak, self._peak_at = self.now, self._changes
            self.peak_call = self.calls
            self.peak_line = self._op.line if self._op is not None else self.peak_line

    # -- gradients and optimizers

    def _gradient(self, p: Any) -> None:
        with self._unheard():
            row = self._gradients.get(id(p))
            place, size = (None, 0) if p.grad is None else self._place(p.grad)
            if row is not None and (place is None or self._rows.get(place) is not row):
                self._end(self._gradients.pop(id(p)))
                row = None
            if row is None and place is not None and place not in self._rows:
                self._gradients[id(p)] = self._begin("gradient", size, p.grad, self._op or self._backward(), place)

    def _look(self) -> None:
        """Gradients that were reset since, which nobody tells of."""
        for p in self.model.parameters():
            self._gradient(p)

    def _state(self, optimizer: Any) -> None:
        self._look()
        with self._unheard():
            its = dict(self._place(x) for x in tensors(list(optimizer.state.values()), self.engine))
        now = sum(size for place, size in its.items() if place not in self._own)
        row = self._states.get(id(optimizer))
        if row is not None and row.bytes != now:
            self._end(row)
            row = None
        if row is None and now:
            self._states[id(optimizer)] = self._begin("optimizer", now, None, self._op or self._backward(), id(optimizer))

    # -- answers

    def rows(self, at_peak: bool = True) -> list[Row]:
        """The tensors kept at the peak, largest first; at_peak=False: those kept now."""
        if not self._begun:
            raise CaptureError(NOT_ENTERED)
        if at_peak:
            its = [row for row in (*self._rows.values(), *self._past) if self._of_peak(row)]
        else:
            its = list(self._rows.values())
        return sorted((row for row in its if row.kind != "parameter"), key=lambda row: -row.bytes)

    @checked
    def by(self, what: str, at_peak: bool = True) -> list[Group]:
        """Groups (name, bytes, number) of rows(), largest first: by "module", "op", "line", "kind", "dtype" or "freed".

        what     what the rows of a group have in common
        at_peak  False: of what is kept now
        By module, operation and line are what graphs save; gradients and optimizers' state are told of by kind.
        """
        if what not in ("module", "op", "line", "kind", "dtype", "freed"):
            raise ValueError(f"by: expected 'module', 'op', 'line', 'kind', 'dtype' or 'freed', got {what!r}")
        its = self.rows(at_peak)
        return grouped(its if what == "kind" else [row for row in its if row.kind in ("activation", "data")], what)

    def alive(self) -> list[Alive]:
        """The tensors whose graphs keep memory now, and the variable, list or closure that holds each; largest first.

        Graphs over several calls of the model are told of even where a backward pass has freed what they saved.
        """
        with self._unheard():
            return alive(self.engine, self.rows(at_peak=False))

    @escaped
    def __str__(self) -> str:
        if not self._begun:
            return NOT_ENTERED
        kinds = {group.name: group.bytes for group in self.by("kind")}
        where = f" at {self.peak_line}" if self.peak_line else ""
        lines = [f"peak {size(self.peak)}{where}, in call {self.peak_call} of the model",
                 f"  {'parameters and buffers':<32}{size(self.fixed):>12}",
                 *(f"  {text:<32}{size(kinds[kind]):>12}" for kind, text in KINDS.items() if kind in kinds)]
        lines += [f"  {'allocated on ' + device:<32}{size(n):>12}" for device, n in self.allocated.items()]
        for what in ("module", "op", "line"):
            lines += ["", f"saved at the peak, by {what}"]
            groups = self.by(what)
            lines += [f"  {group.name or 'outside modules':<32}{size(group.bytes):>12}  {group.number} tensor"
                      f"{'s' * (group.number > 1)}" for group in groups[:SHOWN]]
            lines += [f"  and {len(groups) - SHOWN} more" for _ in groups[SHOWN:SHOWN + 1]]
        saved = sum(row.bytes for row in self.rows(at_peak=False) if row.kind in ("activation", "data"))
        return "\n".join([*lines, "", f"kept by graphs now: {size(saved)}" + ("; alive() says by whom" if saved else "")])

    def __repr__(self) -> str:
        return f"<Memory: peak {size(self.peak)}, now {size(self.now)}>"

    def _repr_html_(self) -> str:
        if not self._begun:
            return html.escape(NOT_ENTERED)
        kinds = [("parameters and buffers", size(self.fixed)), *((KINDS[g.name], size(g.bytes)) for g in self.by("kind"))]
        return "".join([table((f"peak {size(self.peak)}", ""), kinds),
                        *(table((f"saved, by {what}", "", "tensors"), [(g.name, size(g.bytes), g.number) for g in self.by(what)])
                          for what in ("module", "op", "line"))])


def tensors(held: Any, engine: Engine) -> Iterator[Any]:
    """The tensors in arguments or results."""
    if engine.is_tensor(held):
        yield held
    elif isinstance(held, (list, tuple)):
        for x in held:
            yield from tensors(x, engine)
    elif isinstance(held, dict):
        yield from tensors(list(held.values()), engine)


def described(x: Any) -> tuple[tuple[int, ...], str]:
    return tuple(x.shape), str(x.dtype).rpartition(".")[2]


def version(x: Any) -> int:
    """How often it was edited; inference tensors do not count."""
    return 0 if x.is_inference() else int(x._version)
