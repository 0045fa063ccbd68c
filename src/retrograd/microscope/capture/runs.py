"""One call of the model (a Run), and in it every call of a function that takes a parameter (a Use)."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..._engine.tensor import wrap
from ..errors import CaptureError
from ..listen.ear import Call, Plan
from ..plain_text import few
from .sources import Source

UNPROVEN = ("when samples were told apart, no gradient came to it (are there zeros above it?); they are told apart again in the "
            "next step")
INFINITE = "the gradient that arrived, or what was captured of it, holds NaN or inf"
CHANGED = "the input of {} was changed in place after the call"
LONGEST = 1000                                  # steps from one futile proof to the next


class Run:
    """One call of the model: its batch.  size is None until it is known; why says why it stays so."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.size: int | None = None
        self.inputs: dict[int, Any] = {}        # id -> tensor, while the model runs: what is data
        self.open = False
        self._uses: list[Use] = []
        self.waiting: list[Call] = []           # that are no uses yet: pending.py
        self.came = 0                           # how many gradients came for those
        self.numbers: set[int] = set()          # parameters that were used
        self.calls: dict[tuple[int, str, str], int] = {}    # of each weight by each function in each module, so far
        self.verified = False                   # by apart.verify
        self.moved = False                      # may its samples be elsewhere in a step that makes the same calls?
        self.by = ""                            # what may have put them elsewhere first, with file and line
        self.since = 0                          # ... and after how many uses
        self.joined: list[Any] = []             # origins of data that came together with what has a gradient, since then
        self.turn: list[int] | None = None      # where each sample is in the outputs, unless in order
        self.structure = 0                      # a hash of what was called, in order
        self.known: Known | None = None         # from a step like this
        self.settled = False                    # ... and its uses have been told
        self.dark = False                       # does it have uses that are `dark`?
        self.mixes = False                      # was a batch norm in training mode?
        self.mixing: list[str] = []             # paths of such
        self.outs: dict[int, int] = {}          # number of the node that made an output of the model -> where the batch is in it
        self.before: Run | None = None          # a call of the model that was still waiting for its backward
        self.losses: list[Any] = []             # a loss.Reduction for each backward pass, None for one whose loss was not seen

    @property
    def uses(self) -> list[Use]:
        """In the order of the calls."""
        if self.waiting:
            self.make_uses()
        return self._uses

    @property
    def mixed(self) -> str | None:
        """What makes samples depend on each other."""
        if not self.mixes:
            return None
        names = few(list(dict.fromkeys(path or "the model" for path in self.mixing)))
        return (f"batch norm in training mode{f' ({names})' if names else ''} mixes the samples of a batch: none has a gradient "
                "of its own (model.eval(), or GroupNorm)")

    @property
    def orders(self) -> set[int]:
        """The numbers of the nodes that made the uses' outputs."""
        return {use.order for use in self._uses} | {call.order for call in self.waiting}

    def forget(self) -> None:
        """The uses know their run: the collector would come too late for their tensors."""
        self._uses, self.waiting = [], []

    def make_uses(self) -> None:
        """Of the calls that wait."""
        from .sample_order import Origin
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            plan, live = call.plan, call.live
            cut = Window(call.shape) if call.below else None
            use = Use(self, plan.name, plan.func, call.layout, plan.sources)
            use.follow(plan, tuple(call.args), call.kwargs, live is True)
            if live is not True:
                use.origins = (Origin(self, call.args[plan.data], "") if live is None else live,)
            use.versions, use.order = (call.version,), call.order
            use.place(plan.first, plan.path)
            use.shapes, use.deltas = [tuple(call.shape)], [None]
            self._uses.append(use)
            use.boxes.append((call.box, 0, cut))
            for (g,) in call.box:
                if g is not None:
                    use.receive(0, shown(g), cut)
            call.box.clear()

    def follow(self, known: Known) -> None:
        self.known = known
        self.verified, self.turn, self.dark = known.verified, known.turn, known.dark

    def settle(self) -> None:
        """Tell the uses where their samples are."""
        known = self.known
        if known is not None and not self.settled:
            self.settled = True
            for use, place in zip(self.uses, known.places):
                use.apart, use.mixes, use.form, use.proven, use.turn, use.why, use.dark = place
        if self.dark:
            for use in self.uses:
                if use.dark and use.apart and use.lit():
                    use.apart, use.why = False, UNPROVEN
                    if known is not None:
                        known.left = 0


class Known:
    """What was found out of the samples of a run, for later ones of the same structure; before: of an earlier one.

    dark    did some uses get no gradient in the passes of batch_proof.py, as those below a layer of zeros?  Then these are
            repeated: in the next step, and while they still show nothing, after 1, 3, 7, ... steps
    """

    def __init__(self, run: Run, before: Known | None) -> None:
        self.verified: bool = run.verified
        self.moved: bool = run.moved
        self.turn: list[int] | None = run.turn
        self.places: list[Any] = [
            (u.apart, u.mixes, u.form, u.proven, u.turn, u.why, u.dark) for u in run.uses if not u.late]
        self.dark: bool = run.dark
        self.pause: int = 0 if before is None or not before.dark else min(2 * before.pause + 1, LONGEST)
        self.left: int = self.pause

    def due(self) -> bool:
        """Are the passes to be repeated in this step?  Counts it."""
        if not self.dark:
            return False
        self.left -= 1
        return self.left < 0


class Use:
    """func(*args, **kwargs) with parameters among its arguments: what came in, and the gradient at what came out.

    kind     which rule of layers.py reads it
    sources  role -> Source
    a        input tensors that the rule needs, detached
    deltas   gradient per output, None until backward has passed
    layout   where the batch is: an axis, "rows" (tokens x batch, flattened), "recurrent"
    """

    kind: Any = None
    numbers: set[int] = set()                   # of the parameters below the sources
    a: tuple[Any, ...] = ()
    versions: tuple[int, ...] = ()
    meta: Any = None
    site: tuple[str, int] | None = None
    number = 0                                  # which call of the weight's module or of the weight, in its run
    path = ""
    apart = True                                # False: nobody knows where its samples are
    mixes = False                               # ... for they are not where they were taken to be
    form: Any = None                            # where they are, if not where the layout says: one of layers.FORMS
    proven = False                              # batch_proof.py has seen them there
    dark = False                                # ... or nothing: its passes brought zeros, inf or NaN
    live = False                                # did its data have a gradient?
    origins: tuple[Any, ...] = ()               # orders.Origin of each tensor of data that had none
    training = False                            # batch norm over the samples of the batch?
    back: list[int] | None = None               # batch_proof.py: which sample of the outputs each row is of, unless in order
    rows: list[int] | None = None               # ... or each of its rows, where samples are not apart
    turn: list[int] | None = None               # where each sample is among its rows, unless in order
    why = ""                                    # nobody knows where its samples are
    late = False                                # called during backward
    order = -1                                  # the number of the node that made the (first) output
    again: Use | None = None                    # the use of a second backward over the same graph

    def __init__(self, run: Run, name: str, func: Any, layout: Any, sources: dict[str, Source]) -> None:
        self.run = run
        self.name = name
        self.func = func
        self.layout = layout
        self.sources = sources
        self.shapes: list[tuple[int, ...]] = []
        self.dtypes: list[Any] = []             # of the outputs
        self.deltas: list[Any] = []
        self.held: list[Any] = []               # what deltas are views of
        self.boxes: list[tuple[list[Any], int, Window | None]] = []     # per output, what reached a node and what of it

    def keep(self, *tensors: Any) -> None:
        """Remember inputs, and at which version."""
        self.a = tuple(None if t is None else t.detach() for t in tensors)
        self.versions = tuple(0 if t is None else t._version for t in self.a)

    def grouped(self, length: int) -> int | None:
        """N, when a first dimension of this length holds the samples, in order."""
        N = self.run.size
        if N is None or not self.apart:
            return None
        return N if (self.form is None or self.form == 0) and length == N or (
            self.form == "blocks" or N == 1) and length % N == 0 else None

    @property
    def stale(self) -> bool:
        """Was an input changed in place since?"""
        return any(t is not None and t._version != v for t, v in zip(self.a, self.versions))

    @property
    def input(self) -> Any:
        """The (first) input as the function got it."""
        self.fresh()
        return self.a[0]

    def fresh(self) -> None:
        """Called when inputs are read, which may be long after the block: CaptureError when one was changed since the call."""
        if self.stale:
            raise CaptureError(f"{CHANGED.format(self.name)}; ask for quantities before, or give the model a copy")

    @property
    def arrived(self) -> bool:
        """Has a gradient come?"""
        for d in self.deltas:
            if d is not None:
                return True
        return False

    def lit(self) -> bool:
        """Is a gradient that came not zero?"""
        return any(d is not None and bool((d != 0).any()) for d in self.deltas)

    @property
    def dtype(self) -> Any:
        """Of the gradient that came."""
        return next((d.dtype for d in self.deltas if d is not None), None)

    @property
    def device(self) -> Any:
        """... and its device."""
        return next((d.device for d in self.deltas if d is not None), None)

    @property
    def delta(self) -> Any:
        """The gradient at the (first) output."""
        return self.deltas[0]

    def follow(self, plan: Plan, args: Any, kwargs: Any, live: bool) -> None:
        """Take in a call that follows a plan."""
        self.kind = plan.rule
        self.numbers = plan.numbers
        self.live = live
        plan.rule.take(self, args, kwargs)

    def place(self, first: int, path: str) -> None:
        """Of its parameters it is named after `first`, of the module at `path`."""
        self.path = path
        if self.training:
            self.run.mixing.append(path)
        key = (first, self.name, path)
        self.number = self.run.calls.get(key, 0)
        self.run.calls[key] = self.number + 1

    def typed(self, k: int, g: Any) -> Any:
        """A gradient at output k in the output's dtype: our engine's rules may go on in a wider one."""
        return g.to(self.dtypes[k]) if self.dtypes and g.dtype != self.dtypes[k] else g

    def receive(self, k: int, g: Any, cut: Window | None) -> None:
        """The gradient at output k has come."""
        use = self
        while use.deltas[k] is not None:        # backward again over the same graph
            if use.again is None:
                use.again = use.twin()
                use.run.uses.append(use.again)
            use = use.again
        # g itself, not a detached copy: who else would take it over for a .grad and edit it sees that it is held
        if g.requires_grad:
            g = g.detach()
        if cut is not None:
            use.held.append(g)
            g = cut.of(g)
        use.deltas[k] = g

    def twin(self) -> Use:
        """The same use, for another backward pass."""
        other = Use(self.run, self.name, self.func, self.layout, self.sources)
        for name in TWINS:
            setattr(other, name, getattr(self, name))
        other.deltas = [None] * len(self.deltas)
        return other


# What twins have in common; what comes goes to the first use, which passes it on.
TWINS = ("kind", "numbers", "a", "versions", "meta", "site", "number", "path", "apart", "mixes", "form", "proven", "live",
         "origins", "training", "back", "rows", "turn", "why", "late", "order", "shapes", "dark", "dtypes")


def shown(g: Any) -> Any:
    """A gradient that came, as a tensor; our engine's passes carry arrays."""
    return wrap(g) if isinstance(g, np.ndarray) else g


class Window:
    """Where the elements of a view are in its base: all of them in another shape, or some of a contiguous one."""

    def __init__(self, shape: Any, view: Any = None, base: Any = None) -> None:
        self.shape = shape
        self.place = None if base is None else (
            tuple(view.shape), tuple(view.stride()), view.storage_offset() - base.storage_offset())

    def of(self, g: Any) -> Any:
        """The part of a gradient at the base that belongs to the view."""
        return g.reshape(self.shape) if self.place is None else g.contiguous().as_strided(*self.place)


def caller() -> tuple[str, int] | None:
    """File and line of the user's code that called."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        home = frame.f_globals.get("__name__", "")
        if not home.startswith(("retrograd.", "torch.")):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None
