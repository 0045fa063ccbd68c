"""What torch.compile gives where Python runs: its calls of public functions are compared with those of a recorded call.

A call is cut into pieces.  Within a piece each call of a public function is compared with the recorded one (function,
arguments, which earlier results they are, modes) and gives a promise at once.  What needs values ends a piece: a backward
pass, item(), printing, an edit in place, a step of an optimizer, the end.  There the plan of the piece computes all that
somebody still holds.  At the first difference the calls made so far are made again, eagerly, in order: nothing was written
since the piece began.  From there on the piece is recorded as another one.
"""
from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from .._engine.dispatch import engage
from .._engine.modes import modes, set_grad, state
from .._engine.tensor import public
from .._tensor import Tensor
from .calls import called
from .guards import FIELDS
from .plan import Undone
from .promises import GET, HERE, PLACES, Matcher, active, fill, place
from .stance import stance
from .track import AT_ONCE, GRAD, PASSES, WISH, Piece, Plain, Recording, meets, plannable
from .values import Refused
from .wrapper import Wrapper

TRIALS = 8              # calls of either kind that are timed
WORTH = 0.97            # of eager's time
ODD = 50                # calls that were not compared to their end
ONCE: set[Any] = set()  # functions of AT_ONCE that were met


class Runner:
    """One thread's calls of one function."""

    def __init__(self, owner: Verified) -> None:
        self.owner = owner
        self.it = state()
        self.first: list[Any] = []
        self.here: list[Any] = self.first       # pieces that may come next
        self.piece: Any = None                  # the one that is compared
        self.recording: Recording | None = None
        self.busy = False                       # inside something that is not compared
        self.off = False                        # for the rest of this call
        self.clean = True                       # this call was compared from end to end
        self.others: dict[int, int] = {}        # where plain calls were others, and how often
        self.apart: set[str] = set()            # functions that no plan can hold
        self.met: set[tuple[int, int]] = set()  # where a call differed
        self.copies: dict[int, Any] = {}        # what tensors held when they were met, where NumPy has their memory, too
        self.matcher = Matcher(self.missed, self.done, Meets(self), public.new, Tensor, self.it, PLACES, ONCE, FIELDS - 16,
                               place("array"), place("sink"))

        self.matcher.aside = self.aside

    # -- a call

    def call(self, f: Any, args: Any, kwargs: Any) -> Any:
        it = self.it
        self.off, self.clean = False, True
        self.arrive(self.first)
        active.runner, it.listener, self.busy = self, self.matcher, False
        engage(it)
        try:
            result = f(*args, **kwargs)
            self.close()
            return result
        except BaseException:
            self.abandon()
            raise
        finally:
            self.matcher.begin(None)
            self.recording = self.piece = None
            active.runner = None
            if it.listener is self.matcher:
                it.listener = None
                engage(it)

    def aside(self) -> None:
        """Somebody else wants to listen: the rest of this call is eager."""
        if self.recording is not None or self.matcher.at:
            self.finish()
        self.off, self.it.listener = True, None
        self.matcher.begin(None)
        self.piece = self.recording = None

    def arrive(self, here: list[Any]) -> None:
        """A piece begins."""
        self.here = here
        self.piece = self.recording = None
        self.copies.clear()
        if self.off:
            return
        if here:
            self.piece = here[0]
            self.matcher.begin(self.piece.track)
        else:
            self.matcher.begin(None)            # what comes is recorded, if anything does

    def record(self, at: int = 0) -> None:
        """at: after how many calls of the piece"""
        self.clean = False
        self.matcher.begin(None)
        self.piece = None
        if len(self.here) >= self.owner.limit:
            self.owner.full_up(self)
            self.off = True
        elif not stance.records(self.owner.f):
            self.off = True
        elif self.here and (id(self.here), at) not in self.met:
            self.met.add((id(self.here), at))   # recording costs many calls: what comes once is not worth it
            self.off = True
        else:
            self.recording = Recording(self.it, not self.owner.always)

    # -- reports

    def missed(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """A call that is not the next one of the track."""
        if self.busy or self.off:
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        name = called(func)
        if name in AT_ONCE:
            ONCE.add(func)
        if func in ONCE and not self.knows(args) and not (kwargs and self.knows(kwargs.values())) and not (
                name.endswith("detach") and self.ours(args[0])):
            return self.alone(impl, args, kwargs)
        planned = name not in self.apart and plannable(name, args, kwargs) and (
            name == GRAD and self.own_pass(args) or name in PASSES and self.own_pass(args) and not self.wished()
            or name not in PASSES and name != GRAD and (name != WISH or self.knows(args[:1])))
        if type(self.piece) is Plain:
            if self.matcher.at < len(self.piece.calls):
                self.unlike()
                return impl(*args) if kwargs is None else impl(*args, **kwargs)
            self.finish()
            if self.piece is not None:
                return self.matcher.call(func, impl, args, kwargs)
        if self.piece is not None:
            if planned:
                other = self.other()
                if other is not None:
                    self.piece = other
                    self.matcher.become(other.track)
                    return self.matcher.call(func, impl, args, kwargs)
                self.again(True)
            elif self.matcher.at:
                self.finish()
        elif planned and self.recording is None:
            self.record()
        if self.recording is not None and planned:
            self.busy = True
            try:
                made = self.recording.call(func, impl, args, kwargs)
            finally:
                self.busy = False
            if name.endswith("backward") or self.recording.trace.reason:       # promises of what is no plan may be edited
                self.finish()
            self.matcher.waiting(self.recording is not None)
            return made
        if self.recording is not None:
            self.finish()
        return self.alone(impl, args, kwargs)

    def unlike(self) -> None:
        """Plain calls are others than they were: the rest of this call is eager, and the next one is recorded here."""
        key = id(self.here)
        self.others[key] = self.others.get(key, 0) + 1
        if self.others[key] <= self.owner.limit:
            self.here.remove(self.piece)
        self.off, self.clean, self.piece = True, False, None
        self.matcher.begin(None)

    def alone(self, impl: Any, args: Any, kwargs: Any) -> Any:
        """Make the call; what it calls is not compared."""
        self.busy = True
        try:
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        finally:
            self.busy = False

    def knows(self, xs: Any) -> bool:
        """Is there a promise among them?"""
        return any(isinstance(x, (tuple, list)) and self.knows(x) or (isinstance(x, Tensor) and (
            GET["array"](x) is None or (self.recording is not None
                                        and self.recording.by_id.get(id(x)) in self.recording.promised))) for x in xs)

    def ours(self, x: Any) -> bool:
        """Is it a tensor of this piece?"""
        return id(x) in self.recording.by_id if self.recording is not None else any(x is t for t in self.matcher.held())

    def own_pass(self, args: Any) -> bool:
        """Is it a backward pass through nothing but the graph of this piece?"""
        if not self.knows(args):
            return False
        if self.recording is not None:
            met = [self.recording.slots[k] for k in self.recording.outside]
        elif type(self.piece) is Plain:
            return False
        else:
            held = self.matcher.held()
            met = [held[k] for k in self.piece.outside]
        return all(t is None or GET["fn"](t) is None for t in met)

    def wished(self) -> bool:
        """Was a promise made a leaf in this piece?  Its .grad is nothing that a plan gives."""
        calls = self.recording.calls if self.recording is not None else self.piece.calls[:self.matcher.at]
        return any([called(call[0]) == WISH for call in calls])

    def other(self) -> Piece | None:
        """Another piece that begins with the same calls and has one more."""
        at, mine = self.matcher.at, self.piece
        for p in self.here:
            if p is not mine and type(p) is Piece and len(p.calls) > at and p.calls[:at] == mine.calls[:at]:
                if (len(mine.calls) <= at or p.calls[at] != mine.calls[at]) and not self.tried(p, at):
                    return p
        return None

    def tried(self, p: Piece, at: int) -> bool:
        """Was it compared at this call?"""
        if self.tries[0] != at:
            self.tries = (at, set())
        if id(p) in self.tries[1]:
            return True
        self.tries[1].add(id(p))
        return False

    tries: tuple[int, set[int]] = (-1, set())

    def done(self) -> None:
        """A backward pass, which ends the piece."""
        self.finish()

    def looked(self, t: Any, always: bool) -> None:
        """Somebody who is not compared looks at a field of t."""
        if self.recording is not None:
            if not self.recording.calls or not (always or self.recording.by_id.get(id(t)) in self.recording.promised):
                return
        elif type(self.piece) is not Piece or not self.matcher.at or not (always or GET["array"](t) is None):
            return
        self.finish()

    # -- the end of a piece

    def finish(self) -> None:
        """Compute what was promised, and begin the next piece."""
        self.busy = True
        try:
            piece = self.piece
            if type(piece) is Plain:
                if self.matcher.at == len(piece.calls):
                    self.arrive(piece.next)
                else:
                    self.unlike()
                return
            if piece is not None:
                done = self.fulfil(piece) if self.matcher.at == len(piece.calls) else None
                if done is not None:
                    self.arrive(done.next)
                    return
                self.again(True)
            if self.recording is not None:
                self.arrive(self.kept())
        finally:
            self.busy = False

    def fulfil(self, piece: Piece) -> Piece | None:
        """Compute what was promised -> the piece whose plan did: this one, or one of the same calls that fits."""
        alive = self.matcher.alive()            # before others hold them
        held = self.matcher.held()
        self.matcher.waiting(False)             # nobody is asked about the fields that are read here
        if modes.observer is not None or modes.clerk is not None or modes.anomaly:
            return None
        if not piece.fits(held, alive):         # what .grad is may alternate, or what the caller keeps
            for other in self.here:
                if type(other) is Piece and other.calls == piece.calls and other.fits(held, alive):
                    piece = other
                    break
            else:
                return None
        if self.copies and piece.grads and any(
                not np.array_equal(GET["array"](t), self.copies[id(t)]) for t in held if id(t) in self.copies):
            return None                         # edited between the forward and the backward pass
        try:
            piece.compute(held, self.copies)
        except Undone as error:
            self.owner.note(f"a plan raised where Python does not: {error.__cause__!r}")
            return None
        self.matcher.begin(None)
        return piece

    def kept(self) -> list[Any]:
        """What may come after the piece that was recorded."""
        recording = self.recording
        assert recording is not None
        self.recording = None
        self.matcher.waiting(False)
        if not recording.calls and not recording.trace.reason:
            return self.here
        try:
            piece = recording.piece()
        except Refused as error:
            self.owner.note(str(error))
            self.off = True
            if recording.blame:
                self.apart.add(recording.blame)
            return []
        finally:
            recording.forget()
        self.here.insert(0, piece)
        return piece.next

    def again(self, record: bool) -> None:
        """Make the calls of this piece eagerly, and go on recording."""
        busy, self.busy = self.busy, True
        piece, at, held = self.piece, self.matcher.at, self.matcher.held()
        self.matcher.begin(None)
        self.piece = None
        if record:
            self.record(at)
        elsewhere = self.it.grad
        told = modes.observer, modes.clerk      # somebody may be about to listen
        modes.observer = modes.clerk = None
        now = [(t.array, t.array.copy("K"), self.copies[id(t)]) for t in held if id(t) in self.copies]
        try:
            for array, _, was in now:
                np.copyto(array, was)
            set_grad(bool(piece.calls[0][5][0]) if at else elsewhere)

            def make(func: Any, impl: Any, args: Any, kwargs: Any, slots: Any) -> None:
                into = [None if k < 0 else held[k] for k in slots]
                if called(func) in PASSES:      # it reads what is there now, and writes
                    restore(now)
                if self.recording is not None:
                    self.recording.call(func, impl, args, kwargs, into)
                else:
                    out = impl(*args) if kwargs is None else impl(*args, **kwargs)
                    for promise, x in zip(into, out if type(out) is tuple else (out,)):
                        if promise is not None:
                            fill(promise, x)

            piece.repeat(held, at, make)
        finally:
            modes.observer, modes.clerk = told
            set_grad(elsewhere)
            restore(now)
            self.matcher.waiting(self.recording is not None)
            self.busy = busy

    def close(self) -> None:
        """The function returned."""
        if self.recording is not None or self.matcher.at:
            self.finish()

    def abandon(self) -> None:
        """The function raised."""
        if type(self.piece) is Piece and self.matcher.at:
            self.again(False)


def restore(now: list[Any]) -> None:
    """Give arrays the content that they had; once."""
    for array, content, _ in now:
        np.copyto(array, content)
    now.clear()


class Meets:
    """track.meets, without reporting looks at tensors."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def __call__(self, t: Any, facts: Any) -> Any:
        busy, self.runner.busy = self.runner.busy, True
        try:
            return meets(t, facts, self.runner.copies)
        finally:
            self.runner.busy = busy


class Verified(Wrapper):
    """f, whose calls are compared with those of a recorded call."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if stance.on and stance.eager():
            return self.f(*args, **kwargs)
        local = self.local.__dict__
        runner: Runner | None = local.get("runner")
        if runner is None:
            if not HERE:
                if not self.reasons:
                    self.reasons.append("without a mode, only the compiled build compiles; this is the pure one")
                if stance.on:
                    stance.records(self.f)
                return self.f(*args, **kwargs)
            runner = local["runner"] = Runner(self)
            local.update(skip=0, refused=0, given_up=False, eager=[], fast=[], odd=0)
        it = runner.it
        if local["given_up"] or it.listener is not None or it.task is not None or it.functions or it.inference or it.busy or (
                modes.observer is not None or modes.clerk is not None or modes.anomaly) or it.pack_hooks:
            return self.f(*args, **kwargs)
        if local["skip"]:
            local["skip"] -= 1
            return self.f(*args, **kwargs)
        if runner.first and len(local["eager"]) < TRIALS <= 2 * len(local["fast"]):
            return self.timed(local["eager"], local, self.f, args, kwargs)
        if len(local["fast"]) < TRIALS and runner.first:
            return self.timed(local["fast"], local, runner.call, (self.f, args, kwargs), {}, runner)
        return runner.call(self.f, args, kwargs)

    def timed(self, kept: list[float], local: Any, f: Any, args: Any, kwargs: Any, runner: Any = None) -> Any:
        """f, and how long it took: comparing goes on where it is faster than an eager call."""
        start = time.perf_counter()
        result = f(*args, **kwargs)
        spent = time.perf_counter() - start
        if runner is None or runner.clean:
            kept.append(spent)
        else:
            local["odd"] += 1
            if local["odd"] > ODD and not self.always and all([type(p) is Plain for p in self.pieces(runner)]):
                local["given_up"] = True
                self.reasons.append("what could be planned are single calls on small arrays: it runs eagerly from here on")
        if len(local["fast"]) >= TRIALS <= len(local["eager"]):
            fast, eager = min(local["fast"]), min(local["eager"])
            if fast > WORTH * eager and not self.always:
                local["given_up"] = True
                self.reasons.append(f"compared {fast * 1e6:.1f} us, eager {eager * 1e6:.1f} us: it runs eagerly from here on")
        return result

    always = False          # compare even where it is slower, and where calls are few

    def note(self, why: str) -> None:
        """A piece could not be planned."""
        if self.full:
            raise RuntimeError(f"torch.compile(fullgraph=True): {self.name} cannot be replayed: {why}")
        local = self.local.__dict__
        local["refused"] = min(local["refused"] + 1, 10)
        local["skip"] = 2 ** local["refused"] - 1
        if why not in self.reasons:
            self.reasons.append(why)

    def full_up(self, runner: Runner) -> None:
        """There are as many variants of a piece as there may be."""
        local = self.local.__dict__
        if not local["given_up"]:
            local["given_up"] = True
            self.reasons.append(f"more than {self.limit} plans")
            warnings.warn(f"torch.compile: {self.name} has {self.limit} plans and none fits: it runs eagerly from here on",
                          UserWarning, stacklevel=2)

    def pieces(self, runner: Runner) -> list[Any]:
        found: list[Any] = []
        todo = list(runner.first)
        while todo:
            piece = todo.pop(0)
            found.append(piece)
            todo.extend(piece.next)
        return found

    def explain(self) -> str:
        """The plans, and why calls ran eagerly."""
        local = self.local.__dict__
        runner: Runner | None = local.get("runner")
        pieces = [] if runner is None else self.pieces(runner)
        lines = [f"{self.name}: {len(pieces)} plan{'s' * (len(pieces) != 1)}"]
        for i, piece in enumerate(pieces):
            if type(piece) is Plain:
                many = f"{len(piece.calls)} call{'s' * (len(piece.calls) != 1)}"
                lines.append(f"plan {i}: {many} on small arrays, made as they come")
                continue
            lines.append(f"plan {i}: {len(piece.calls)} calls, computed {piece.used} times, {piece.plan.summary()}")
            lines.extend("  " + line for line in piece.plan.lines())
        return "\n".join([*lines, *[f"eager: {why}" for why in self.reasons]])
