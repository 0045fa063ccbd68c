"""What torch.compile gives where Python may be skipped."""
from __future__ import annotations

import warnings
from typing import Any

from .._engine.modes import modes
from .._engine.tensor import TensorBase
from .arguments import containers, leaf
from .book import Tensors
from .callouts import Answer, Left, Rerun, Turn
from .guards import facts_of
from .looks import Look
from .mood import mood
from .plan import Undone
from .stance import stance
from .trace import Trace
from .values import Refused
from .variant import OTHER, Beginning, Variant
from .wrapper import Wrapper
from .writes import Everything, same_array, written

LIMIT = 8               # plans of one function
MET = 100               # situations that came once and are remembered; of a function whose plans fit in none of so many, no more
STRAYS = 3              # after so many plans whose conditions changed too often, none with conditions is recorded
MOST = 10               # the n-th refusal is followed by 2 ** n - 1 calls that do not try again, up to this n


class Compiled(Wrapper):
    """f, replayed without Python where that is sure to give what f gives."""

    def __init__(self, f: Any, check: int | None = None, limit: int = LIMIT, full: bool = False) -> None:
        super().__init__(f, limit, full)
        self.check = check

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and not stance.on:
            last: Variant | None = getattr(self.local, "last", None)
            if last is not None:                # most calls go this way
                inputs = last.match(args)
                if inputs is not None and not last.plan.busy and not last.unfit(inputs, mood()):
                    return self.replay(last, inputs, args, kwargs)
        return self.look(args, kwargs)

    def look(self, args: Any, kwargs: Any) -> Any:
        """Find the plan for this call, or record one, or run eagerly."""
        local = self.local.__dict__
        if "variants" not in local:
            local.update(variants=[], last=None, given_up=0, refused=0, skip=0, met=[], odd=0, strays=0)
        variants: list[Variant] = local["variants"]
        if local["given_up"] or stance.eager():
            return self.f(*args, **kwargs)
        now = mood()
        if now is None:
            return self.f(*args, **kwargs)
        if local["skip"] and not variants:
            local["skip"] -= 1
            return self.f(*args, **kwargs)
        inputs: list[TensorBase] = []
        try:
            key: Any = (leaf(args, inputs), leaf(kwargs, inputs) if kwargs else None)
        except Refused as error:
            return self.refuse(error, args, kwargs)
        whys = []
        for variant in variants:
            why = "it runs" if variant.plan.busy else variant.stale(key, inputs, now)
            if not why:
                local["last"] = variant
                return self.replay(variant, inputs, args, kwargs)
            whys.append(why)
        if not stance.records(self.f):
            return self.f(*args, **kwargs)
        if variants:                            # recording costs many calls: what comes once is not worth it
            situation = (key, [facts_of(t) for t in inputs], set(whys) - {OTHER})
            if situation not in local["met"]:
                local["met"] = [situation, *local["met"][:MET]]
                local["odd"] += 1
                if local["odd"] > MET and not any([v.used for v in variants]):
                    hint = "; give a number that changes as a tensor" if whys[-1] == OTHER else ""
                    self.give_up(f"no plan fitted in {MET} calls ({whys[-1]}){hint}")
                return self.f(*args, **kwargs)
        if len(variants) >= self.limit:         # hooks come and go
            variants[:] = [v for v in variants if v.plan.turn is None or v.plan.turn.registered == modes.registered]
        if len(variants) >= self.limit:
            why = variants[-1].stale(key, inputs, now)
            self.give_up(f"it has {self.limit} plans and none fits ({why})")
            return self.f(*args, **kwargs)
        if local["skip"]:
            local["skip"] -= 1
            return self.f(*args, **kwargs)
        return self.record(variants, key, inputs, now, args, kwargs)

    def give_up(self, why: str) -> None:
        self.local.__dict__.update(given_up=1, last=None)
        self.reasons.append(why)
        warnings.warn(f"torch.compile: {self.name} runs eagerly from here on: {why}", UserWarning, stacklevel=4)

    def refuse(self, error: Refused, args: Any, kwargs: Any) -> Any:
        self.note(error)
        return self.f(*args, **kwargs)

    def note(self, error: object) -> None:
        if self.full:
            raise RuntimeError(f"torch.compile(fullgraph=True): {self.name} cannot be replayed: {error}")
        local = self.local.__dict__
        local["refused"] = min(local["refused"] + 1, MOST)
        local["skip"] = 2 ** local["refused"] - 1
        if str(error) not in self.reasons:
            self.reasons.append(str(error))

    def record(self, variants: list[Variant], key: Any, inputs: list[TensorBase], now: Any, args: Any, kwargs: Any) -> Any:
        """Run eagerly, and keep a plan of it where one can be made."""
        try:
            before = Beginning(self.f, key, inputs, next((v.reach for v in variants if v.reaches(key)), None))
        except Refused as error:
            return self.refuse(error, args, kwargs)
        trace = Trace(before.tensors, self.f, before.reach, self.local.strays < STRAYS)
        trace.given = containers((args, kwargs))
        with trace:
            result = self.f(*args, **kwargs)
            trace.differentiate(result)
        try:
            variant = before.variant(trace, result, args, kwargs, now)
        except Refused as error:
            self.note(error)
            return result
        self.local.refused = 0
        self.local.last = variant
        variants.insert(0, variant)
        return result

    def replay(self, variant: Variant, inputs: list[TensorBase], args: Any, kwargs: Any) -> Any:
        plan = variant.plan
        variant.used += 1
        plan.busy = True
        try:
            if self.check != 0 and self.due(variant.used):
                return self.compare(variant, inputs, args, kwargs)
            return plan.run(inputs)
        except Left as left:
            return self.leave(variant, left, args, kwargs)
        except Undone as error:
            turn = plan.turn
            log = [] if turn is None else turn.log
            if turn is not None and not turn.undo():
                raise error.__cause__ or error from None
            result = self.rerun(log, args, kwargs)  # raises what Python would have raised, where it would
            self.note(f"a plan was dropped because it raised where Python does not: {error.__cause__!r}")
            self.drop(variant)
            return result
        finally:
            plan.busy = False

    def leave(self, variant: Variant, left: Left, args: Any, kwargs: Any) -> Any:
        """A hook did what the plan does not: the call is made eagerly, without those hooks that were called."""
        turn = variant.plan.turn
        assert turn is not None
        log, lost = turn.log, left.lost
        error = log[-1].error if log else None
        undone = not lost and not left.out.dirty and turn.undo()
        turn.end()
        if lost or (error is None and not undone):
            self.drop(variant)
        if not undone:
            if error is not None and not lost:
                raise error
            raise RuntimeError(f"torch.compile: {left}; what was written stays") from error
        result = self.rerun(log, args, kwargs)
        if error is None:
            self.strayed(variant, left)
        return result

    def rerun(self, log: list[Answer], args: Any, kwargs: Any) -> Any:
        """An eager call, without the hooks that were called already."""
        modes.outs = Rerun(log) if log else None
        try:
            return self.f(*args, **kwargs)
        finally:
            modes.outs = None

    def strayed(self, variant: Variant, left: Left) -> None:
        """Hooks did something else than in the call that was recorded: a plan of which that is often true is dropped."""
        variant.left += 1
        why = str(left)
        if 2 * variant.left > variant.used:
            self.local.strays += isinstance(left.out, Look)
            self.drop(variant)
            self.note(why)
        elif why not in self.reasons:
            self.reasons.append(why)

    def drop(self, variant: Variant) -> None:
        self.local.__dict__["variants"].remove(variant)
        self.local.last = None

    def due(self, count: int) -> bool:
        """Is this replay checked?  By default numbers 1, 2, 4, 8 and so on are."""
        if self.check is None:
            return count & (count - 1) == 0
        return self.check > 0 and count % self.check == 0

    def compare(self, variant: Variant, inputs: list[TensorBase], args: Any, kwargs: Any) -> Any:
        """Run the plan, put everything back, run eagerly, and compare what each operation gave."""
        plan = variant.plan
        before = Everything(plan.tensors, inputs, variant.reach)
        if plan.turn is not None:               # hooks are called once
            return self.compare_hooked(variant, plan.turn, before, inputs, args, kwargs)
        try:
            quick = written(plan.arrays(inputs)[:plan.count], plan.tensors, inputs)
        finally:
            before.restore()
        try:
            got = plan.rehearse(inputs)
        finally:
            before.restore()
        result, trace, outputs = self.traced(variant, inputs, args, kwargs, [])
        plan.same(trace, outputs, got)
        self.alike(quick, written([v.array for v in outputs.values], plan.tensors, inputs))
        return result

    def compare_hooked(self, variant: Variant, turn: Turn, before: Everything, inputs: list[TensorBase], args: Any,
                       kwargs: Any) -> Any:
        """Run eagerly, then the plan from the same state, with what the hooks did."""
        plan = variant.plan
        answers: list[Answer] = []
        turn.answers = answers
        try:
            result, trace, outputs = self.traced(variant, inputs, args, kwargs, answers)
            if outputs is None:
                self.drop(variant)
                self.note(trace.reason)
                return result
            want = written([v.array for v in outputs.values], plan.tensors, inputs)
            after = Everything(plan.tensors, inputs, variant.reach)
            before.restore()
            try:
                got = plan.rehearse(inputs)
                if turn.at != len(answers):
                    raise Left("is not the last", plan.outs()[-1])
                plan.same(trace, outputs, got)
                before.restore()
                self.alike(written(plan.arrays(inputs)[:plan.count], plan.tensors, inputs), want)
            except Left as left:
                self.strayed(variant, left)
            finally:
                after.restore()
            return result
        finally:
            turn.answers = None

    def traced(self, variant: Variant, inputs: list[TensorBase], args: Any, kwargs: Any, answers: list[Answer]) -> Any:
        """An eager call: -> its result, and what was recorded; `answers` gets what hooks did."""
        plan = variant.plan
        tensors = Tensors()
        for t in inputs:
            tensors.add(t, "input")
        for t in plan.tensors.held:
            tensors.add(t, "held")
        trace = Trace(tensors, self.f, variant.reach, True)
        trace.answers, trace.apart = answers, False     # the guards looked
        with trace:
            result = self.f(*args, **kwargs)
            trace.differentiate(result)
        try:
            return result, trace, trace.finish(result)
        except Refused as error:
            if plan.turn is not None:           # hooks may do what they like
                return result, trace, None
            raise RuntimeError(f"torch.compile: {self.name} did something different from its recording: {error}") from None

    def alike(self, quick: list[Any], want: list[Any]) -> None:
        if len(quick) != len(want) or not all(map(same_array, quick, want)):
            raise RuntimeError(f"torch.compile: {self.name} computes something else in C than eagerly; please report it")

    # what users call

    def explain(self) -> str:
        """The plans, their guards, and why calls ran eagerly."""
        local = self.local.__dict__
        count = len(local.get("variants", []))
        lines = [f"{self.name}: {count} plan{'s' * (count != 1)}"]
        for i, variant in enumerate(local.get("variants", [])):
            left = f", left {variant.left}" if variant.left else ""
            guards = f"{len(variant.watch.guards)} guards"
            lines.append(f"plan {i}: replayed {variant.used} times{left}, {guards}, {variant.plan.summary()}")
            lines.extend("  " + line for line in variant.plan.lines())
            lines.extend("  guarded: " + line for line in variant.guarded())
        lines.extend(f"eager: {why}" for why in self.reasons)
        if local.get("given_up"):
            lines.append("it runs eagerly from here on")
        return "\n".join(lines)
