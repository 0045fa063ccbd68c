"""Recording: what record() kept.  Tables of modules, tensors, nodes, hooks and source lines, and the events in order."""
from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from ..arguments import FilePath, checked
from ..plain_text import escaped
from .witness import BACKWARD, CREATED, GRAD, INFERENCE, INPLACE, WANTED, WANTS

if TYPE_CHECKING:
    from ..answers.compare import Comparison
    from ..answers.explain import Explanation
    from ..answers.ledger import Ledger
    from ..answers.trouble import Trouble
    from ..answers.why import Cause
    from ..memory.holding import Memory
    from .replay import Difference, Replay

VERSION = 1
FORMAT = "retrograd-recording"

# The fields of each kind of event after the common ones.  docs/trace-format.md says what they mean.
COMMON = ("kind", "t", "dt", "thread")
FIELDS: dict[str, tuple[str, ...]] = {
    "op": ("name", "module", "call", "site", "inputs", "outputs", "values", "flags", "error"),
    "enter": ("module", "call", "parent", "site", "facts"),
    "exit": ("module", "call", "facts", "error"),
    "begin": ("pass", "how", "roots", "tensors", "site", "retain", "create", "targets"),
    "end": ("pass", "error", "cause"),
    "node": ("pass", "node", "inputs", "outputs"),
    "accumulate": ("pass", "node", "tensor", "gradient", "had", "now"),
    "hook": ("pass", "hook", "node", "before", "after", "changed", "returned", "error"),
    "step": ("optimizer", "site", "tensors", "gradients", "before", "after", "error", "rates"),
    "zero": ("owner", "site", "tensors", "to_none"),
    "collective": ("name", "group", "call", "bytes", "waited", "site", "error"),
    "averaged": ("pass", "tensors", "gradients"),
    "note": ("what", "text", "site"),
}
POSITION = {kind: {name: i for i, name in enumerate((*COMMON, *names))} for kind, names in FIELDS.items()}

FLAGS = {"grad": GRAD, "inference": INFERENCE, "inplace": INPLACE, "wanted": WANTED, "wants": WANTS,
         "backward": BACKWARD, "created": CREATED}

STATS = ("count", "norm", "min", "max", "zeros", "nans", "infs")
WIDTH = len(STATS)


class Value:
    """One tensor as it was: shape, dtype, norm, min, max of its finite values, and counts of zeros, NaN and inf."""

    __slots__ = ("_rec", "number")

    def __init__(self, rec: Recording, number: int) -> None:
        self._rec = rec
        self.number = number

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self._rec.likes[self._rec.value_likes[self.number]][0]

    @property
    def dtype(self) -> str:
        """Its dtype, as 'float32'."""
        return self._rec.likes[self._rec.value_likes[self.number]][1]

    @property
    def measured(self) -> bool:
        """Were norms taken?  Not of integers, nor with norms=False."""
        return self._rec.stats[self.number * WIDTH] >= 0

    def _stat(self, i: int) -> float:
        return self._rec.stats[self.number * WIDTH + i]

    @property
    def norm(self) -> float:
        """Euclidean norm of the finite values."""
        return self._stat(1)

    @property
    def min(self) -> float:
        """Least finite value."""
        return self._stat(2)

    @property
    def max(self) -> float:
        """Greatest finite value."""
        return self._stat(3)

    @property
    def zeros(self) -> float:
        """Share of zeros, 0 to 1."""
        return self._stat(4) / max(self._stat(0), 1)

    @property
    def nans(self) -> float:
        """Share of NaN."""
        return self._stat(5) / max(self._stat(0), 1)

    @property
    def infs(self) -> float:
        """Share of inf and -inf."""
        return self._stat(6) / max(self._stat(0), 1)

    @property
    def finite(self) -> bool:
        """Neither NaN nor inf anywhere?"""
        return self._stat(5) == 0 == self._stat(6)

    @property
    def array(self) -> Any:
        """The numbers themselves, a NumPy array; None unless the recording kept them (values=...)."""
        return self._rec.arrays.get(self.number)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        if not self.measured:
            return f"<{self.dtype} {shape}>"
        odd = "".join(f", {share:.0%} {name}" for name, share in (("NaN", self.nans), ("inf", self.infs)) if share)
        return f"<{self.dtype} {shape}, norm {self.norm:.4g}{odd}>"


class Event:
    """One event: its fields as attributes (docs/trace-format.md), and what their numbers refer to."""

    __slots__ = ("_rec", "_row", "number")

    def __init__(self, rec: Recording, number: int, row: tuple[Any, ...]) -> None:
        self._rec = rec
        self._row = row
        self.number = number

    # the common fields, read most often of all

    @property
    def kind(self) -> str:
        """What happened: one of FIELDS."""
        return self._row[0]

    @property
    def t(self) -> int:
        """When it began, in ns since the recording began."""
        return self._row[1]

    @property
    def dt(self) -> int:
        """How long it took, in ns."""
        return self._row[2]

    def __getattr__(self, name: str) -> Any:
        at = POSITION[self._row[0]].get(name)
        if at is None or at >= len(self._row):
            raise AttributeError(f"an event of kind {self._row[0]!r} has no {name!r}; it has "
                                 f"{', '.join(POSITION[self._row[0]])}")
        return self._row[at]

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` when events of this kind have none.

        name     of the field
        default  given where there is none
        """
        at = POSITION[self._row[0]].get(name)
        return default if at is None or at >= len(self._row) else self._row[at]

    @property
    def path(self) -> str | None:
        """The module it happened in, by its path in the model; None outside all modules."""
        number = self.get("module", -1)
        if number == -1 and "node" in POSITION[self._row[0]]:
            return self._rec.path_of_node(self.get("node", -1))
        return None if number is None or number < 0 else self._rec.modules[number]["path"]

    @property
    def where(self) -> str | None:
        """file:line in the user's code."""
        return self._rec.where(self.get("site", -1))

    @property
    def label(self) -> str:
        """In a few words."""
        return self._rec.label(self)

    def as_dict(self) -> dict[str, Any]:
        """Its fields."""
        return dict(zip(POSITION[self._row[0]], self._row))

    @escaped
    def __repr__(self) -> str:
        return f"<{self.number} {self._row[0]}: {self.label}>"


def field(at: int) -> property:
    """What is at this place of an event's row."""
    def read(event: Event) -> Any:
        try:
            return event._row[at]
        except IndexError:
            raise AttributeError from None              # which has __getattr__ asked
    return property(read)


# Answers read fields by the hundred thousand, and __getattr__ costs ten times a property.
KINDS = {kind: type("Event", (Event,), {"__slots__": (), "__doc__": Event.__doc__, "__module__": Event.__module__,
                                        **{name: field(at) for name, at in places.items() if name not in COMMON}})
         for kind, places in POSITION.items()}


class Events(Sequence[Event]):
    """The events in the order in which they began."""

    def __init__(self, rec: Recording) -> None:
        self._rec = rec

    def __len__(self) -> int:
        return len(self._rec.rows)

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> list[Event]: ...

    def __getitem__(self, at: int | slice) -> Any:
        rows = self._rec.rows
        if isinstance(at, slice):
            return [KINDS[rows[i][0]](self._rec, i, rows[i]) for i in range(*at.indices(len(rows)))]
        return KINDS[rows[at][0]](self._rec, range(len(rows))[at], rows[at])

    def __iter__(self) -> Iterator[Event]:
        for i, row in enumerate(self._rec.rows):
            yield KINDS[row[0]](self._rec, i, row)


class Recording:
    """What record() recorded.

    events     every event in order (docs/trace-format.md)
    modules    dicts: path, type, parent, calls
    hooks      dicts: kind, name, owner, defined and registered (sites), prior (registered before the recording), fired
    dropped    how many events of each kind came after `limit` was reached
    complete   False if an exception or Ctrl-C ended it; `error` says which
    """

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self.rows: list[tuple[Any, ...]] = []
        self.modules: list[dict[str, Any]] = []
        self.tensor_rows: list[tuple[int, int, int, int]] = []  # (like, event that made it, flags, tensor it stems from)
        self.tensor_names: dict[int, dict[str, Any]] = {}       # of parameters, buffers, .grad
        self.tensor_edges: dict[int, tuple[int, int]] = {}      # non-leaf -> (node, output number) of its gradient
        self.node_rows: list[tuple[str, int, int, tuple[Any, ...], int]] = []   # (name, op, seq, next, tensor)
        self.hooks: list[dict[str, Any]] = []
        self.optimizers: list[dict[str, Any]] = []
        self.sites: list[tuple[str, int, str]] = []
        self.texts: dict[int, str] = {}         # of a recording from a file: site -> the line, as it was
        self.flows: dict[tuple[int, str], dict[tuple[int, str], bool] | None] = {}      # of numbers: read_off.py
        self.likes: list[tuple[tuple[int, ...], str, str]] = []         # (shape, dtype, device)
        self.value_likes: array[int] = array("l")
        self.stats: array[float] = array("d")
        self.arrays: dict[int, Any] = {}
        self.input_values: dict[int, int] = {}  # values of tensors no op made, where an op made NaN or inf of them
        self.parts: list[tuple[int, ...]] = []  # ways: (pass, use, its input, node it came from, that one's output, value)
        self.dropped: dict[str, int] = {}
        self.notes: list[str] = []
        self.error: str | None = None
        self.complete = False
        self.live: Any = None                   # in the process that recorded: from objects to numbers
        # what answers found out, for the next ones
        self._names: dict[str, int] | None = None
        self._links: Any = None                 # graph_of.py
        self._sources: dict[str, Any] = {}      # file -> read_off.Text, or None
        self._flows_of = -1                     # how many events there were when `flows` was begun

    # -- looking things up

    @property
    def events(self) -> Events:
        """Every event, in the order in which they began."""
        return Events(self)

    @property
    def engine(self) -> str:
        """'retrograd', 'torch', or both joined by '+'."""
        return str(self.header.get("engine", ""))

    def of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds, in order: an iterator, for one loop; list(rec.of("hook")) has a length."""
        for kind in kinds:
            if kind not in FIELDS:
                raise ValueError(f"Recording.of: no events of kind {kind!r}; the kinds are {', '.join(FIELDS)}")
        for i, row in enumerate(self.rows):
            if row[0] in kinds:
                yield KINDS[row[0]](self, i, row)

    def value(self, number: int) -> Value | None:
        """The value with this number; None for -1."""
        return None if number is None or number < 0 else Value(self, number)

    def where(self, site: int) -> str | None:
        """'file:line' of a site."""
        if site is None or site < 0:
            return None
        file, line, _ = self.sites[site]
        return f"{file}:{line}"

    def tensor(self, number: int) -> dict[str, Any]:
        """A tensor's shape, dtype, device, made_by (number of the op event or -1), name, role, owner."""
        like, made_by, flags, stem = self.tensor_rows[number]
        shape, dtype, device = self.likes[like]
        known = self.tensor_names.get(number, {})
        return {"number": number, "shape": shape, "dtype": dtype, "device": device, "made_by": made_by,
                "leaf": bool(flags & 1), "wants": bool(flags & 2), "from": stem,
                "name": known.get("name"), "role": known.get("role", "tensor"), **known}

    @property
    def tensors(self) -> list[dict[str, Any]]:
        """Dicts made by `tensor(n)`, in order; parameters by name in `parameters`."""
        return [self.tensor(number) for number in range(len(self.tensor_rows))]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Dicts of backward nodes: name, op (the event that made it), seq, next (edges), tensor (of a leaf, else -1)."""
        return [dict(zip(("name", "op", "seq", "next", "tensor"), row)) for row in self.node_rows]

    def name_of_tensor(self, number: int) -> str:
        """The name of a parameter, else 'the (3, 4) tensor from linear (file:line)'.

        number  of the tensor, as events have it
        """
        known = self.tensor_names.get(number)
        if known is not None and known["name"]:
            return str(known["name"])
        found = self.tensor(number)
        text = f"the {tuple(found['shape'])} tensor"
        if found["made_by"] >= 0:
            event = self.events[found["made_by"]]
            text += f" from {event.get('name') or event.get('how') or event.kind}" + (f" ({event.where})" if event.where else "")
        return text

    def name_of_optimizer(self, number: int) -> str:
        """Its type; if there are several, also the variable that holds it.

        number  of the optimizer, as events have it
        """
        optimizer = self.optimizers[number]
        kind, variable = str(optimizer["type"]), optimizer.get("variable")
        return f"{variable} ({kind})" if variable and len(self.optimizers) > 1 else kind

    def full_name(self, name: str) -> str:
        """The name in the recording of what the first of several given models calls `name`."""
        first = self.modules[0] if self.modules else {}
        return f"{first['path']}.{name}".rstrip(".") if first.get("first") else name

    @property
    def parameters(self) -> dict[str, int]:
        """Parameter name -> tensor number."""
        return {name: n for n, known in self.tensor_names.items() if known["role"] == "parameter"
                for name in known["names"]}

    def path_of_node(self, node: int) -> str | None:
        """The module in whose call a node was made."""
        if node is None or node < 0:
            return None
        op = self.node_rows[node][1]
        return None if op < 0 else self.events[op].path

    def label(self, event: Event) -> str:
        """An event in a few words."""
        kind = event.kind
        place = f" in {event.path}" if event.path else ""
        if kind == "op":
            return event.name + place
        if kind in ("enter", "exit"):
            return f"{event.path or '(model)'} call {event.call}"
        if kind == "node":
            return self.node_rows[event.node][0] + place
        if kind == "accumulate":
            return self.name_of_tensor(event.tensor)
        if kind == "hook":
            hook = self.hooks[event.hook]
            said = {True: "changed it", False: "left it", None: ""}[event.changed]
            return f"{hook['name']} ({hook['kind']} hook of {hook['on']}) {said}".rstrip()
        if kind == "begin":
            return f"{event.how} {event.get('pass')}"
        if kind in ("end", "averaged"):
            return f"pass {event.get('pass')}" + (f" failed: {event.error}" if event.get("error") else "")
        if kind == "step":
            return self.name_of_optimizer(event.optimizer)
        if kind == "zero":
            return f"zero_grad of {event.owner}"
        if kind == "collective":
            return f"{event.name}, call {event.call} of group {event.group}"
        return str(event.text)

    # -- questions

    def why_none(self, p: Any) -> Cause:
        """Why p.grad is None: a Cause.  p is a tensor, or a parameter's name."""
        from ..answers.why import why_none
        return why_none(p, self)

    def why_not_fired(self, handle: Any) -> Cause:
        """Why the hook behind a handle did not fire: a Cause."""
        from ..answers.why import why_not_fired
        return why_not_fired(handle, self)

    def explain(self, x: Any) -> Explanation:
        """What x is: a tensor, parameter, node, module, handle, or a parameter's or module's name."""
        from ..answers.explain import explain
        return explain(x, self)

    def trouble(self, **thresholds: float) -> Trouble:
        """Where NaN, inf, vanishing and exploding numbers begin, and the hooks that made or hid them.

        thresholds  vanished=, exploded=: a gradient is reported if its root mean square is below `vanished` times the largest,
                    or above `exploded` times the least, on its way from the loss
        """
        from ..answers.trouble import trouble
        return trouble(self, **thresholds)

    def ledger(self, p: Any) -> Ledger:
        """The terms of p.grad: contributions by use, hooks' edits, what was there before, clipping; a Ledger.

        p is a tensor, or a parameter's name.  Numbers need record(values="parameters"); without, there are norms only.
        Where a use's gradient came several ways (residual connections), values="paths" says what each brought.
        """
        from ..answers.ledger import ledger
        return ledger(self, p)

    def number_of(self, what: Any) -> int | None:
        """The tensor number of a parameter's name or of a live tensor; None if the recording never saw it.

        what  the name of a parameter, or a tensor
        """
        if isinstance(what, str):
            if self._names is None or self.live is not None and self.live.on:       # names may still change
                self._names = self.parameters
            found = self._names.get(what)
            return self._names.get(self.full_name(what)) if found is None else found
        return None if self.live is None else self.live.tensor_number(what)

    def __len__(self) -> int:
        return len(self.rows)

    @escaped
    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete" + (f" ({self.error})" if self.error else "")
        lost = sum(self.dropped.values())
        return (f"<Recording of {self.engine}: {len(self.rows)} events"
                + (f", {lost} dropped" if lost else "") + state + ">")

    @checked
    def replay(self, without: Any = None, replacing: dict[Any, Any] | None = None, gradient: Any = None,
               number: int | None = None, outputs: dict[Any, Any] | None = None, weights: dict[str, Any] | None = None) -> Replay:
        """Run a recorded step again with hooks, outputs of modules or weights replaced, or from another gradient: a Replay.

        without    a handle, or several: their hooks do not run      replacing  {handle: function in the hook's place}
        gradient   what the pass starts from                         number     which pass; the last one unless given
        outputs    {path of a module: tensor, or function(output)}   weights    {name: tensor, or function(weight)}
        Needs record(replay=True).  RecordingError where the step cannot be run again exactly: it says why.
        """
        from .replay import replay
        return replay(self, without, replacing, gradient, number, outputs, weights)

    @checked
    def diff(self, other: Recording, rtol: float = 1e-5) -> Difference:
        """Where this recording and another first differ, and in which gradients and hooks: a Difference.

        other  another Recording
        rtol   relative difference of norms from which numbers differ
        """
        from .replay import diff
        return diff(self, other, rtol)

    @checked
    def compare(self, step_a: int, step_b: int) -> Comparison:
        """Two training steps side by side, counted from 1: loss, gradients, learning rates, what ran or was skipped.

        step_a, step_b  numbers of steps
        A Comparison.
        """
        from ..answers.compare import compare
        return compare(self, step_a, step_b)

    # -- other formats

    @checked
    def to_chrome(self, path: FilePath) -> None:
        """Write a trace for https://ui.perfetto.dev and chrome://tracing.

        path  of the file
        """
        from .export import to_chrome, write
        write(to_chrome(self), path)

    @checked
    def to_dot(self, path: FilePath) -> None:
        """Write the backward graph for Graphviz.

        path  of the file
        """
        from .export import to_dot, write
        write(to_dot(self), path)

    @checked
    def to_json(self, path: FilePath) -> None:
        """Write everything as one JSON object.

        path  of the file
        """
        from .export import to_json, write
        write(to_json(self), path)

    def summary(self) -> str:
        """Events, hooks, missing gradients, norms and trouble, as text."""
        from ..answers.summary import text
        return text(self)

    # -- files

    @checked
    def save(self, path: FilePath) -> None:
        """Write JSON lines to `path`, and kept values to `path` + '.safetensors'.  The file is replaced when complete."""
        from .trace_file import save
        save(self, path)

    # -- looking at it

    @checked
    def to_html(self, path: FilePath, title: str | None = None, *, memory: Memory | None = None) -> None:
        """Write one HTML file that shows the graph, the events in order and every gradient as it arrives.

        path  of the file
        title    by default the script's name
        memory   what microscope.memory() returned for a block around this recording: drawn under the events
        It needs no server and no network.  ValueError for memory with a recording that was loaded.
        """
        from ..page.write import write_page
        write_page(self, path, title, memory=memory)

    def view(self, height: int = 640) -> Any:
        """Show the page of `to_html` in a notebook's cell; height in pixels."""
        from ..page.write import Frame
        return Frame(self, height)

    def _repr_html_(self) -> str:
        from ..page.write import summary
        return summary(self)


@checked
def load(path: FilePath) -> Recording:
    """Read a recording that `save` wrote.  TraceError if it is not a recording, is cut off, or is too new.

    path   of the file; kept values are read from `path` + '.safetensors'
    """
    from .trace_file import load as read
    return read(path)
