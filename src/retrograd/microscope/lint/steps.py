"""What a recording shows of training steps that run, and do not do what they were meant to: RG312 to RG321."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..answers.graph_of import Links, links
from ..record.recording import Event, Recording
from ..record.witness import INPLACE, WANTED, WANTS
from .static import Problem

GRADS = ("tensor", "post_accumulate", "multi_grad")


class Kept(NamedTuple):
    """What a tensor, made on one line, keeps: graphs of losses, from `first` to `last`; `begin`: the line of their backward()."""

    site: int
    begin: int
    first: int
    last: int
    losses: int

    def beside(self, other: Kept) -> Kept:
        """Both together: other losses of the same backward() are more of them."""
        if self.begin != other.begin or not (self.last < other.first or other.last < self.first):
            return max(self, other, key=lambda k: k.losses)
        return Kept(self.site, self.begin, min(self.first, other.first), max(self.last, other.last), self.losses + other.losses)


class Steps:
    """A recording, step by step."""

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        self.link: Links = links(rec)
        self.steps = list(rec.of("step"))
        self.begins = {e.get("pass"): e for e in rec.of("begin")}

    def problems(self) -> Iterator[Problem]:
        yield from self.standing_still()
        yield from self.cleared_unused()
        yield from self.never_cleared()
        yield from self.without_optimizer()
        yield from self.kept_graphs()
        yield from self.calls()
        yield from self.notes()

    def problem(self, site: int, rule: str, message: str, way_out: str) -> Problem:
        file, line = self.rec.sites[site][:2] if site >= 0 else ("<unknown>", 0)
        return Problem(file, line, rule, message, way_out)

    # -- steps

    def standing_still(self) -> Iterator[Problem]:
        """RG312"""
        for n, optimizer in enumerate(self.rec.optimizers):
            mine = [e for e in self.steps if e.optimizer == n and e.get("rates")]
            still = [g for g in range(min((len(e.rates) for e in mine), default=0)) if not any(e.rates[g] for e in mine)]
            if mine and len(still) == len(mine[-1].rates) and (len(mine) > 1 or not optimizer.get("scheduled")):
                yield self.problem(mine[-1].site, "RG312", f"the learning rate of {self.rec.name_of_optimizer(n)} is 0 in "
                                   + (f"all {len(mine)} recorded steps" if len(mine) > 1 else "its recorded step")
                                   + ": no parameter moves",
                                   "Give it a learning rate, or check what the scheduler does to it.")
            elif still and len(mine) > 1 and not optimizer.get("scheduled"):
                yield self.problem(mine[-1].site, "RG312", f"the learning rate of group {', '.join(map(str, still))} of "
                                   f"{self.rec.name_of_optimizer(n)} is 0 in all {len(mine)} recorded steps: its parameters do "
                                   "not move", "Give it a learning rate, or freeze its parameters: requires_grad_(False).")

    def cleared_unused(self) -> Iterator[Problem]:
        """RG313: a step that finds nothing, or a pass of which nothing was used, since zero_grad() came between."""
        rec = self.rec
        stepped = {t for e in self.steps for t in e.tensors}
        brought: dict[int, set[int]] = {}               # tensor -> passes whose gradients are in its .grad, and unused
        left: dict[int, set[int]] = {}                  # pass -> tensors whose gradient was neither used nor cleared yet
        within = {e.number: {n for n, b in self.begins.items() if e.t <= b.t <= e.t + e.dt} for e in self.steps}   # closures
        took: set[int] = set().union(*within.values())  # passes of which something was used
        cleared: dict[int, Event] = {}                  # tensor -> what cleared it last
        watched = {e.get("pass") for e in rec.of("hook") if rec.hooks[e.hook]["kind"] in GRADS}
        grads = {g: t for t, found in self.link.grads.items() for g in found}
        for e in rec.of("accumulate", "zero", "step", "op"):
            if e.kind == "accumulate" and e.now >= 0:
                brought.setdefault(e.tensor, set()).add(e.get("pass"))
                left.setdefault(e.get("pass"), set()).add(e.tensor)
            elif e.kind == "op":
                for t in {grads[t] for t in e.inputs if t in grads}.intersection(brought):
                    took |= brought[t]
                    brought[t] = set()
            elif e.kind == "zero":
                for t in e.tensors:
                    gone = brought.pop(t, None)
                    if gone is not None:
                        cleared[t] = e
                    for number in (gone or set()) - took - watched:
                        left[number].discard(t)
                        if not left[number] and t in stepped:
                            took.add(number)
                            begin = self.begins[number]
                            yield self.problem(e.site, "RG313", f"zero_grad() of {e.owner} cleared the gradients of pass "
                                               f"{number} ({begin.where}), before any step used them",
                                               "Call zero_grad() only after step(), also when accumulating.")
            elif e.kind == "step":
                if e.tensors and not within[e.number] and all(n < 0 or empty(rec, n) for n in e.gradients):
                    found = [cleared[t] for t in e.tensors if t in cleared]
                    if found:
                        last = max(found, key=lambda z: z.number)
                        yield self.problem(last.site, "RG313", f"zero_grad() of {last.owner} cleared the gradients before "
                                           f"step() ({e.where}), which found none",
                                           "Call zero_grad() before backward(), or after step().")
                for t in e.tensors:
                    if t in brought:
                        took |= brought[t]
                        brought[t] = set()
                    cleared.pop(t, None)

    def never_cleared(self) -> Iterator[Problem]:
        """RG321: a step uses gradients to which a pass has added, after an earlier step used them."""
        used: dict[int, Event] = {}                     # tensor -> the step that used what is in its .grad
        added: dict[int, tuple[Event, int]] = {}        # ... and the pass that added to it since
        grads = {g: t for t, found in self.link.grads.items() for g in found}
        told: set[int] = set()                          # optimizers
        for e in self.rec.of("accumulate", "zero", "step", "op"):
            if e.kind == "accumulate":
                if e.tensor in used and e.had >= 0 and not empty(self.rec, e.had):
                    added.setdefault(e.tensor, (used[e.tensor], e.get("pass")))
                continue
            cleared = e.tensors if e.kind != "op" else [grads.get(t, -1) for t in e.inputs] if e.flags & INPLACE else ()
            found = [added.pop(t) for t in cleared if t in added]
            for t in cleared:
                used.pop(t, None)
            if e.kind == "step":
                used.update(dict.fromkeys(e.tensors, e))
                if found and e.optimizer not in told:
                    told.add(e.optimizer)
                    step, number = found[0]
                    yield self.problem(self.begins[number].site, "RG321", f"pass {number} adds to gradients that a step of "
                                       f"{self.rec.name_of_optimizer(step.optimizer)} ({step.where}) has used, and the next "
                                       "step uses both", "Call zero_grad() once for each step().")

    def without_optimizer(self) -> Iterator[Problem]:
        """RG314, RG315: they get gradients, and nothing moves them."""
        rec, link = self.rec, self.link
        held = {t for o in rec.optimizers for t in o["tensors"]}
        moved = {n for n, came in link.arrived.items() if any(i > came[0] for i in link.edits.get(n, ())) or any(
            i > came[0] and rec.events[i].name in ("data", "detach") for i in link.uses.get(n, ()))}     # by hand
        common = set().union(*map(self.passes_of, {n for e in self.steps for n in e.tensors}))
        strangers = [n for e in self.steps[-1:] for n in e.tensors if not link.arrived.get(n) and (
            rec.tensor_names.get(n, {}).get("role") != "parameter")]
        lost: dict[int, list[int]] = {}                 # root -> parameters
        listed: dict[int, list[int]] = {}
        owner = {m["path"]: i for i, m in enumerate(rec.modules)}
        roots: dict[int, set[int]] = {}
        for name, n in rec.parameters.items():
            module = owner.get(name.rpartition(".")[0], -1)
            if module < 0:
                continue
            chain = self.above(module)
            if n in held:
                roots.setdefault(chain[-1], set()).add(n)
            elif common and self.passes_of(n).isdisjoint(common) and not strangers:
                continue
            elif link.arrived.get(n) and n not in moved and rec.tensor_names[n]["name"] == name:
                hidden = next((m for m in reversed(chain) if rec.modules[m].get("listed")), -1)
                if hidden >= 0:
                    listed.setdefault(hidden, []).append(n)
                else:
                    lost.setdefault(chain[-1], []).append(n)
        for module, found in listed.items() if self.steps else ():
            enter = next(iter(link.calls.get(module, ())), -1)
            yield self.problem(rec.events[enter].site if enter >= 0 else -1, "RG315",
                               f"{self.names(found)} get gradients but no optimizer has them: "
                               f"{rec.modules[module]['path']} is in a Python list, tuple or dict, where parameters() does "
                               "not find it",
                               "Use nn.ModuleList or nn.ModuleDict.")
        times = max((sum(e.optimizer == o for e in self.steps) for o in range(len(rec.optimizers))), default=0)
        for root, found in lost.items():
            if self.steps and (root in roots or strangers or times > 1):
                more = f"; it has {len(strangers)} tensors that no recorded model has: parameters were replaced after the " \
                    "optimizer took them" if strangers else ""
                yield self.problem(self.steps[-1].site, "RG314", f"{self.names(found)} get gradients, but no optimizer that "
                                   f"stepped has them{more}", "Create the optimizer with all that should learn, after the last "
                                   "change to the model, and freeze the rest.")

        loose = [n for n, came in link.arrived.items() if n not in held and n not in moved and (
            rec.tensor_names.get(n, {}).get("role") not in ("parameter", "replaced")) and (
            len(self.passes_of(n) & common) > 1) and self.stepped_between(came) and not any(
            g in link.uses for g in link.grads.get(n, ()))]
        if loose:
            yield self.problem(self.steps[-1].site, "RG314", f"{self.names(loose)} get gradients at each step, but no optimizer "
                               "has them: they are not Parameters, so parameters() does not find them",
                               "Make them nn.Parameter, or give them to the optimizer.")

    def stepped_between(self, came: list[int]) -> bool:
        return any(came[0] < e.number < came[-1] for e in self.steps)

    def passes_of(self, n: int) -> set[int]:
        """Those that put a gradient into tensor n."""
        return {self.rec.events[i].get("pass") for i in self.link.arrived.get(n, ())}

    def above(self, module: int) -> list[int]:
        """The module and those that contain it, the outermost last."""
        chain = [module]
        while (parent := self.rec.modules[chain[-1]]["parent"]) >= 0 and parent not in chain:
            chain.append(parent)
        return chain

    def names(self, tensors: list[int]) -> str:
        said = [self.rec.name_of_tensor(n) for n in tensors]
        return ", ".join(said[:4]) + (f" and {len(said) - 4} more" if len(said) > 4 else "")

    # -- graphs that live on

    def kept_graphs(self) -> Iterator[Problem]:
        """RG316"""
        rec = self.rec
        done: dict[int, Event] = {}                     # losses whose pass is over -> its begin
        kept: dict[int, Kept] = {}                      # tensors made of such
        said: set[int] = set()
        for e in rec.of("end", "op"):
            if e.kind == "end":
                begin = self.begins.get(e.get("pass"))
                if begin is not None and begin.how == "backward" and not begin.create:
                    done.update((t, begin) for t in begin.tensors if not rec.tensor_rows[t][2] & 1)
            elif e.flags & WANTS:
                parts = [Kept(e.site, done[t].site, t, t, 1) if t in done else kept[t] for t in dict.fromkeys(e.inputs)
                         if t in done or (t in kept and kept[t].site == e.site)]
                if not parts:
                    continue
                whole = parts[0]
                for part in parts[1:]:
                    whole = whole.beside(part)
                if whole.losses > max(part.losses for part in parts) and e.site not in said:
                    said.add(e.site)
                    yield self.problem(e.site, "RG316", f"{e.name} keeps the graphs of {whole.losses} losses whose backward pass "
                                       "is over: each step needs more memory", "Add loss.item() or loss.detach().")
                kept.update(dict.fromkeys(e.outputs, whole))
        yield from self.growing()

    def growing(self) -> Iterator[Problem]:
        """RG316: each pass goes through what those before it went through."""
        rec, link = self.rec, self.link
        ends = {e.get("pass"): e.t for e in rec.of("end")}
        by_site: dict[int, list[Event]] = {}
        for begin in self.begins.values():
            if begin.how == "backward" and not begin.create:
                by_site.setdefault(begin.site, []).append(begin)
        for site, passes in by_site.items():
            if len(passes) < 3 or not any(b.retain for b in passes):
                continue
            ran: dict[int, set[int]] = {}
            for node, events in link.runs.items():
                for i in events:
                    if rec.node_rows[node][4] < 0:
                        ran.setdefault(rec.events[i].get("pass"), set()).add(node)
            first, second, third = (ran.get(b.get("pass"), set()) for b in passes[:3])
            late = {n for n in second - first if self.made(n) > ends.get(passes[0].get("pass"), 0)}
            if first & second & third and late & third and third - second:
                yield self.problem(site, "RG316", f"pass {passes[2].get('pass')} went through nodes that passes "
                                   f"{passes[0].get('pass')} and {passes[1].get('pass')} had gone through: the graph grows "
                                   "from step to step", "Detach what you carry over: h = h.detach().")

    def made(self, node: int) -> int:
        op = self.rec.node_rows[node][1]
        return -1 if op < 0 else int(self.rec.events[op].t)

    # -- calls

    def calls(self) -> Iterator[Problem]:
        """RG317, RG320"""
        rec, link = self.rec, self.link
        own: dict[str, list[int]] = {}
        for name, n in rec.parameters.items():
            own.setdefault(name.rpartition(".")[0], []).append(n)
        for number, module in enumerate(rec.modules):
            mine = own.get(module["path"], [])
            if not module["type"].startswith(("BatchNorm", "SyncBatchNorm")) or not module["training"] or not mine:
                continue
            if any(rec.tensor(n).get("wants_at_end", rec.tensor(n)["wants"]) for n in mine) or not link.arrived:
                continue
            enter = next((e for i in link.calls.get(number, ()) if (e := rec.events[i]).facts["grad"]), None)
            if enter is not None:
                yield self.problem(enter.site, "RG317", f"{module['path']} is frozen, but in training mode: it uses the batch's "
                                   "statistics and updates its running ones", "Call eval() on the frozen part (after train()).")
        open_: dict[tuple[int, int], tuple[Event, list[Event]]] = {}
        stack: dict[int, list[tuple[int, int]]] = {}
        wanted: dict[tuple[int, int], bool] = {}
        for e in rec.of("enter", "exit", "hook", "op"):
            inner = stack.setdefault(e.thread, [])
            if e.kind == "enter":
                key = e.module, e.call
                inner.append(key)
                open_[key], wanted[key] = (e, []), False
            elif e.kind == "exit" and (e.module, e.call) in open_:
                key = e.module, e.call
                enter, hooks = open_.pop(key)
                while inner and inner.pop() != key:
                    pass
                cut = wanted[key] and e.facts is not None and e.facts["tensors"] and not e.facts["wants"]
                if inner and e.facts is not None and e.facts["wants"]:
                    wanted[inner[-1]] = True
                if cut and hooks and enter.facts["grad"]:
                    hook = rec.hooks[hooks[-1].hook]
                    yield self.problem(hook["defined"], "RG320", f"{hook['name']}, a forward hook of {hook['on']}, returned an "
                                       "output without a history: nothing before it gets gradients",
                                       "Return what was computed from the output, or None.")
            elif e.kind == "hook" and inner and rec.hooks[e.hook]["kind"] == "forward" and e.returned:
                open_[inner[-1]][1].append(e)
            elif e.kind == "op" and inner and e.flags & WANTED and e.flags & WANTS and not open_[inner[-1]][1]:
                wanted[inner[-1]] = True

    # -- what was noted

    def notes(self) -> Iterator[Problem]:
        """RG316, RG318, RG319"""
        scaled = False
        grads = {g for found in self.link.grads.values() for g in found}
        for e in self.rec.of("note", "op"):
            if e.kind == "note":
                scaled = e.what == "scaled" or (scaled and e.what != "unscaled")
                if e.what == "kept":
                    yield self.problem(e.site, "RG316", f"{e.text}: each step needs more memory",
                                       "Store x.detach() or x.item().")
                if e.what == "untied":
                    yield self.problem(e.site, "RG318", f"load_state_dict(assign=True) put two tensors where {e.text} were one: "
                                       "they are no longer tied", "Load without assign, or tie them again.")
            elif scaled and e.flags & INPLACE and not grads.isdisjoint(e.outputs):
                scaled = False
                yield self.problem(e.site, "RG319", f"{e.name} edits gradients that a GradScaler has scaled: a limit on their "
                                   "size means something else then", "Call scaler.unscale_(optimizer) before.")


def empty(rec: Recording, n: int) -> bool:
    value: Any = rec.value(n)
    return bool(value.measured and value.norm == 0 and value.finite)
