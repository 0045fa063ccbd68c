"""why_none: why a tensor has no .grad.  why_not_fired: why a hook did not fire.

An answer is a Cause with a code, what happened (file:line), and a remedy.  It says what the recording cannot decide:
`certain` is False and the code is 'cannot_know', never a guess.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..arguments import checked
from ..plain_text import escaped, meant
from ..record.recording import Event, Recording
from ..record.trace_file import source_line
from ..record.witness import GRAD, INFERENCE, WANTS
from .ends import DETACHES, cuts, dtypes_of, ends_of, floats, switched_off
from .graph_of import Links, around, links
from .parallel import is_sharded, on_its_rank

NEEDS = "Put the forward and backward passes into `with record(model) as rec:` and ask rec.{}(...)."
CUT_OFF = {"no_grad", "inference_mode", "detached", "not_differentiable", "read_as_number", "cut"}
CONTAINERS = {"ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}


@dataclass(frozen=True)
class Cause:
    """Why something did not happen.

    code     one word for programs; docs/recorder.md lists them
    text     what happened
    way_out  what to do about it, in one sentence
    where    file:line in the user's code, if known
    certain  False: the recording is not enough to tell
    """

    code: str
    text: str
    way_out: str
    where: str | None = None
    certain: bool = True

    @escaped
    def __str__(self) -> str:
        place = f" [{self.where}]" if self.where else ""
        return f"{self.code}: {self.text}{place}\n  way out: {self.way_out}"


def unknown(text: str, way_out: str) -> Cause:
    return Cause("cannot_know", text, way_out, certain=False)


# -- why_none


@checked
def why_none(p: Any, rec: Recording | None = None) -> Cause:
    """Why p.grad is None.

    p    a tensor or parameter; with a recording also a parameter's name
    rec  a Recording; without one, the answer uses only the tensor itself, and says so
    TypeError for a name without a recording, KeyError for one that was not recorded.
    """
    if isinstance(p, str) and rec is not None and rec.live is not None:
        p = living(rec, p)
    if not isinstance(p, str):
        found = by_looking(p)
        if found is not None and (rec is None or found.code not in ("frozen", "non_leaf") or rec.number_of(p) is None):
            return found
    elif rec is None:
        raise TypeError(f"why_none: {p!r} is a name, which needs a recording: why_none(name, rec)")
    if rec is None:
        return unknown("the tensor alone does not show why: it requires grad and has no .grad",
                       NEEDS.format("why_none"))
    n = rec.number_of(p)
    if n is None:
        if isinstance(p, str):
            raise KeyError(f"why_none: no parameter {p!r} was recorded; {meant(p, list(rec.parameters))}")
        if rec.dropped:
            return dropped(rec, "this tensor")
        return Cause("never_used", "no recorded op read this tensor, and no recorded model has it",
                     "Use it in the forward pass, or record the part of the program that does.")
    return on_its_rank(rec, n, no_grad_of(rec, n, None if isinstance(p, str) else p))


def dropped(rec: Recording, name: str) -> Cause:
    return unknown(f"{sum(rec.dropped.values())} events were dropped after the limit, and {name} may be among them",
                   "Record with a higher limit=, or a shorter part of the program.")


def living(rec: Recording, name: str) -> Any:
    """The parameter of that name, so that its name and the parameter itself get one answer; the name if it is gone."""
    n = rec.number_of(name)
    found = None if n is None or rec.live is None else rec.live._parameters.get(n)
    p = None if found is None else found()
    return name if p is None else p


def by_looking(p: Any) -> Cause | None:
    """What the tensor alone tells."""
    for name in ("requires_grad", "is_leaf", "grad_fn"):
        if not hasattr(p, name):
            raise TypeError(f"why_none: expected a tensor or a name, got {type(p).__name__}")
    if not p.requires_grad:
        whole = not p.is_floating_point() and not p.is_complex()
        if whole:
            return Cause("not_differentiable", f"a tensor of dtype {str(p.dtype).rpartition('.')[2]} has no gradient",
                         "Only floating-point tensors have gradients: convert it before use.")
        return Cause("frozen", "requires_grad is False: it is frozen",
                     "Call requires_grad_(True) on it before the forward pass.")
    if not p.is_leaf:
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")             # both engines warn of this very question
            if p.grad is not None:
                return Cause("has_grad", "it has a .grad", "Nothing to do.")
        if getattr(p, "retains_grad", False):
            return None
        name = p.grad_fn.name() if hasattr(p.grad_fn, "name") else type(p.grad_fn).__name__
        return of_an_op(name)
    if p.grad is not None:
        return Cause("has_grad", "it has a .grad", "Nothing to do.")
    return None


def no_grad_of(rec: Recording, n: int, p: Any) -> Cause:
    """Why tensor n of the recording has no .grad."""
    known = rec.tensor(n)
    name = rec.name_of_tensor(n)
    link = links(rec)
    if not (known.get("wants_at_end", known["wants"]) if p is None else p.requires_grad):
        if not floats(known["dtype"]):
            return Cause("not_differentiable", f"{name} has dtype {known['dtype']}, which has no gradient",
                         "Only floating-point tensors have gradients.")
        return was_frozen(rec, n, name, None) or no_history(rec, n, name)
    events = [rec.events[i] for i in link.arrived.get(n, ())]
    if events:
        return cleared(rec, n, name, events[-1], p)
    if not (known["leaf"] if p is None else p.is_leaf):
        found = by_looking(p) if p is not None else non_leaf(rec, n)
        if found is not None:
            return replace(found, where=made_at(rec, n))
    if rec.dropped:
        return dropped(rec, name)
    first = next(iter(link.passes.values()), None)
    frozen = was_frozen(rec, n, name, None if first is None else first["begin"].t)
    if frozen is not None:
        return frozen
    replaced = was_replaced(rec, n, name)
    if replaced is not None:
        return replaced
    return no_gradient(rec, n, name, for_grad=True)


def non_leaf(rec: Recording, n: int) -> Cause | None:
    """Of a tensor that an op made, unless retain_grad() was called."""
    if any(e.what == "retained" for e in links(rec).notes.get(str(n), ())):
        return None
    made_by = rec.tensor_rows[n][1]
    return of_an_op(rec.events[made_by].get("name", "?") if made_by >= 0 else "?")


def of_an_op(name: str) -> Cause:
    name = "the call of a module with full backward hooks" if name.startswith("BackwardHookFunction") else name
    return Cause("non_leaf", f"it is not a leaf: an op made it ({name}), and only leaves keep .grad",
                 "Call retain_grad() on it before backward, or use the leaf it was made from (an op such as "
                 "`* 0.1` or .to() right after requires_grad=True makes a new tensor).")


def no_history(rec: Recording, n: int, name: str) -> Cause:
    """Why a tensor requires no grad: the op that cut what it was computed from, or the frozen leaves that it comes from."""
    link = links(rec)
    made = {i for t in link.tensors_before([n]) if (i := rec.tensor_rows[t][1]) >= 0}
    for i in sorted(made, reverse=True):
        e = rec.events[i]
        found = of_gradients(e, name) if e.kind == "begin" else cut_here(rec, e, name) if e.kind == "op" and cuts(e) else None
        if found is not None:
            return replace(found, text=f"{name} requires no grad: {found.text}")
    before = link.tensors_before([n]) - {n}
    grads = [t for t in before if rec.tensor_names.get(t, {}).get("role") == "grad"]
    if grads:
        return Cause("no_create_graph", f"{name} requires no grad: it is computed from {rec.name_of_tensor(grads[0])}, and "
                     "gradients have a history only with create_graph=True",
                     "Call backward(create_graph=True), or better autograd.grad(..., create_graph=True).", made_at(rec, n))
    frozen = sorted(rec.name_of_tensor(t) for t in before if rec.tensor_names.get(t, {}).get("role") == "parameter")
    if frozen:
        said = ", ".join(frozen[:4]) + (f" and {len(frozen) - 4} more" if len(frozen) > 4 else "")
        return Cause("frozen", f"{name} requires no grad: everything it was computed from is frozen ({said}) or data",
                     "Before the forward pass, call requires_grad_(True) on what should learn.", made_at(rec, n))
    if before and not rec.tensor(n)["role"] == "parameter":
        return Cause("nothing_requires_grad", f"{name} requires no grad: nothing it was computed from does",
                     "Compute it from what should learn, or call requires_grad_() on its sources first.", made_at(rec, n))
    return Cause("frozen", f"{name} has requires_grad False: it is frozen",
                 "Call requires_grad_(True) on it before the forward pass.", made_at(rec, n))


def of_gradients(begin: Event, name: str) -> Cause | None:
    """autograd.grad() gave what a tensor was computed from."""
    if begin.create:
        return None
    return Cause("no_create_graph", "it is computed from the result of autograd.grad, which has a history only with "
                 "create_graph=True", "Call autograd.grad(..., create_graph=True).", begin.where)


def made_at(rec: Recording, n: int) -> str | None:
    made_by = rec.tensor_rows[n][1]
    return None if made_by < 0 else rec.events[made_by].where


def cleared(rec: Recording, n: int, name: str, event: Event, p: Any) -> Cause:
    """A gradient arrived; what became of it?"""
    number, link = event.get("pass"), links(rec)
    if event.now < 0:
        hooks = [e for i in link.on_tensor.get(n, ()) if event.t <= (e := rec.events[i]).t <= event.t + event.dt
                 and rec.hooks[e.hook]["kind"] == "post_accumulate" and e.get("pass") == number]
        if hooks:
            hook = rec.hooks[hooks[-1].hook]
            return Cause("cleared_by_hook", f"pass {number} put a gradient into {name}.grad, and its post-accumulate hook "
                         f"{hook['name']} set it to None", "Read the gradient inside the hook, before it clears it.",
                         rec.where(hook["defined"]))
        if event.gradient < 0:
            return Cause("no_gradient_came", f"pass {number} reached {name}, but passed it no gradient (None)",
                         "A custom Function's backward, or a hook, returned None for it: return a gradient.",
                         handed_by(rec, n))
        frozen = was_frozen(rec, n, name, event.t)
        if frozen is not None:
            return frozen
        return unknown(f"pass {number} put a gradient into {name}.grad, which was None afterwards",
                       "Look for code that assigns .grad = None in a hook.")
    last = max(link.cleared.get(n, ()), default=-1)
    if last > event.number:
        zero = rec.events[last]
        return Cause("set_to_none", f"pass {number} put a gradient there, then zero_grad() of {zero.owner} set it to None",
                     "Read .grad before zero_grad(), or call zero_grad(set_to_none=False) to keep zeros.", zero.where)
    assigned = next((e for e in reversed(link.notes.get(str(n), ())) if e.what == "assigned" and e.number > event.number), None)
    if p is None and not rec.tensor_names.get(n, {}).get("empty"):
        return Cause("has_grad", f"pass {number} put a gradient there", "Nothing to do.")
    if assigned is not None:
        return Cause("set_to_none", f"pass {number} put a gradient there, then .grad was set to None", "Read .grad before that "
                     "line.", assigned.where)
    return unknown(f"pass {number} put a gradient into {name}.grad; something that leaves no event then set it to None",
                   "Look for `.grad = None`, or a zero_grad() after the recording.")


def was_frozen(rec: Recording, n: int, name: str, until: int | None) -> Cause | None:
    """The last requires_grad_() before that time switched its gradient off."""
    last = None
    for e in map(rec.events.__getitem__, links(rec).uses.get(n, ())):
        if e.name == "requires_grad_" and (until is None or e.t < until):
            last = e
    if last is None or last.flags & WANTS:
        return None
    return Cause("frozen", f"requires_grad_(False) froze {name}", "Call requires_grad_(True) on it before the forward pass.",
                 last.where)


def was_replaced(rec: Recording, n: int, name: str) -> Cause | None:
    """An optimizer has it, no model does: another tensor took its place."""
    link = links(rec)
    uses, known = link.reads, rec.tensor_names.get(n, {})
    others = [m for m in link.of_name.get(name, ()) if m > n or known.get("role") == "replaced"]
    since = min((i for m in others for i in uses.get(m, ())), default=-1)
    read = uses.get(n, ())
    if any((since < 0 or i > since) and i not in link.aside for i in read):
        return None
    taken = n in link.taken
    owned = n in rec.tensor_names and rec.tensor_names[n]["role"] == "parameter" and not others
    if others or (taken and not owned):
        return Cause("replaced", ("the optimizer holds this tensor, but no recorded model does: a parameter was reassigned, "
                                  "or the model copied, after the optimizer took this one" if taken else
                                  f"{name} is another tensor now: the parameter was reassigned"),
                     "Create the optimizer after the last change to the model's parameters, or change them in place "
                     "(p.data.copy_(...), load_state_dict).",
                     rec.where(max((rec.tensor_names[m].get("put", -1) for m in others), default=-1))
                     or where_of(rec, read[-1:]) or where_of(rec, (i for i, _ in link.stepped.get(n, ()))))
    return None


def where_of(rec: Recording, events: Iterable[int]) -> str | None:
    """The first line known of these."""
    return next((where for i in events if (where := rec.events[i].where)), None)


def no_gradient(rec: Recording, n: int, name: str, for_grad: bool, since: int = 0) -> Cause:
    """Why no gradient came to tensor n.  for_grad: into .grad; else to the tensor at all; since: in passes from then on."""
    link = links(rec)
    passes = [found for found in link.passes.values() if found["begin"].t >= since]
    if not passes:
        return unused_or(rec, n, name, Cause(
            "no_backward", "no backward pass was recorded", "Call backward() on the loss inside the recording."))
    reached = []
    mine = link.node_of(n)
    for found in passes:
        if mine & link.nodes_before(found["begin"].roots):
            reached.append(found)
    fills = [found for found in passes if found["begin"].how == "backward"]
    if reached and (not for_grad or not fills or any(found in fills for found in reached)):
        return not_delivered(rec, n, name, reached, for_grad)
    asked = fills if reached else passes                # by autograd.grad, and then: does what came of it fill .grad?
    cause = cut_off(rec, n, name, [t for found in asked for t in found["begin"].tensors], asked)
    return not_delivered(rec, n, name, reached, for_grad) if reached and cause.code not in CUT_OFF else cause


def not_delivered(rec: Recording, n: int, name: str, reached: list[dict[str, Any]], for_grad: bool) -> Cause:
    """A pass could reach it, and yet no gradient came."""
    failed = [f for f in reached if f["error"]]
    backward = [f for f in reached if f["begin"].how == "backward"]
    if for_grad and not backward:
        return Cause("autograd_grad", "its gradient was computed only by autograd.grad, which returns gradients and fills no "
                     ".grad", "Take what autograd.grad returns, or call backward().", reached[-1]["begin"].where)
    if failed:
        return Cause("backward_failed", f"the backward pass raised {failed[-1]['error']} before it got there",
                     "Fix that error first.", failed[-1]["begin"].where)
    limited = [f for f in reached if f["begin"].targets is not None]
    if limited and len(limited) == len(reached):
        how = "backward(inputs=...)" if backward else "autograd.grad"
        return Cause("not_in_inputs", f"{how} computed the gradients of other tensors only, and stops there",
                     f"Add {name} to its inputs.", limited[-1]["begin"].where)
    if not rec.header.get("nodes", True):
        return unknown("the recording has no backward nodes (nodes=False)", "Record with nodes=True.")
    edge = rec.tensor_edges.get(n)
    if for_grad and edge is not None:
        for i in links(rec).runs.get(edge[0], ()):
            run = rec.events[i]
            if edge[1] < len(run.inputs) and run.inputs[edge[1]] >= 0:
                return Cause("not_retained", f"pass {run.get('pass')} brought a gradient to it before retain_grad() had been "
                             "called; or it was set to None since", "Call retain_grad() before backward().", made_at(rec, n))
    return Cause("no_gradient_came", f"the pass could reach {name}, but a node before it passed on no gradient (None)",
                 "A custom Function's backward, or a hook, returned None for this input: return a gradient.",
                 handed_by(rec, n) or reached[-1]["begin"].where)


def handed_by(rec: Recording, n: int) -> str | None:
    """The line whose node hands leaf n its gradient, where it is one."""
    link = links(rec)
    ops = {rec.node_rows[above][1] for node in link.node_of(n) for above in link.above.get(node, ())}
    return rec.events[op].where if len(ops) == 1 and (op := ops.pop()) >= 0 else None


def unused_or(rec: Recording, n: int, name: str, other: Cause) -> Cause:
    """`other`, unless the tensor was not even used."""
    return other if links(rec).reads.get(n) else never_used(rec, n, name)


def never_used(rec: Recording, n: int, name: str) -> Cause:
    """No op read it."""
    known = rec.tensor(n)
    if not rec.header.get("ops", True):
        return unknown("the recording has no forward ops (ops=False)", "Record with ops=True.")
    if known["role"] == "parameter":
        owner = module_of(rec, n)
        if owner is not None:
            module = rec.modules[owner]
            path = module["path"] or "the model"
            if is_compiled(rec, owner):
                return unknown(f"{path} ran inside a compiled model, where the recorder cannot see",
                               "Record the model uncompiled.")
            aside = [e for i in links(rec).reads.get(n, ()) if (e := rec.events[i]).where]
            more = f"; {aside[-1].name} ({aside[-1].where}) only looked at it" if aside else ""
            if not links(rec).calls.get(owner):
                return copied(rec, n, name) or Cause("module_not_called", f"its module, {path}, was never called{more}",
                             "Call it in forward(), or drop it: modules that are only stored compute nothing.")
            return copied(rec, n, name) or Cause(
                "never_used", f"its module, {path}, was called, but no op there read {name}{more}",
                "Use it in the module's forward().")
    fresh = known["made_by"] < 0 or known["role"] == "parameter"
    return Cause("never_used" if fresh else "not_in_loss", f"no recorded op read {name}",
                 "Use it in the computation of the loss.")


COPIES = {"clone", "contiguous", "data", "detach", "double", "float", "numpy", "to", "to_copy", "tolist"}


def copied(rec: Recording, n: int, name: str) -> Cause | None:
    """Has another leaf of its shape, of which nothing is known, got a gradient?  It may be a copy: no recorder sees one made."""
    like = rec.tensor_rows[n][0]
    for e in rec.of("accumulate"):
        role = rec.tensor_names.get(e.tensor, {}).get("role")
        if e.tensor != n and rec.tensor_rows[e.tensor][0] == like and role is None and rec.tensor_rows[e.tensor][1] < 0:
            reads = links(rec).reads.get(e.tensor)
            where = rec.events[reads[0]].where if reads else None
            return replace(unknown(
                f"nothing that leads to the loss was computed from {name}, but another leaf of its shape got a gradient; if that "
                f"was made of {name}, as copy.deepcopy() makes one, it is a leaf of its own, without history",
                f"Compute with {name} itself, or with {name}.clone(), which has a history."), where=where)
    return None


def is_compiled(rec: Recording, module: int) -> bool:
    """The module, or one that contains it?"""
    while module >= 0:
        if rec.modules[module].get("compiled"):
            return True
        module = rec.modules[module]["parent"]
    return False


def module_of(rec: Recording, n: int) -> int | None:
    """The module that has a parameter."""
    return links(rec).of_path.get(rec.tensor_names[n]["name"].rpartition(".")[0])


def cut_off(rec: Recording, n: int, name: str, roots: list[int], passes: list[dict[str, Any]]) -> Cause:
    """It is not in the graph of any loss: where did the way from it end?"""
    link = links(rec)
    uses = link.reads.get(n, [])
    if not uses:
        return never_used(rec, n, name)
    ends = ends_of(rec, tuple(roots))
    cut = ends.cut.get(n)
    for i in uses:
        found = frozen_then(rec, n, name, rec.events[i]) if i in ends.leading and (cut is None or i <= cut) else None
        if found is not None:
            return found
    if cut is not None:
        return cut_here(rec, rec.events[cut], name)
    if n in ends.leads:
        return unknown(f"{name} leads to the loss through ops that all carry gradients, yet no pass computes its gradient",
                       "If you can reproduce this, please report it with the recording.")
    unused = rec.tensor(n)["role"] == "parameter" and n not in ends.used
    if n in ends.off and not unused and all(switched_off(rec.events[i]) for i in uses):
        return cut_here(rec, rec.events[ends.off[n]], name)
    if n in ends.as_number:
        if n in ends.whole:
            return cut_here(rec, rec.events[ends.whole[n]], name)
        e = rec.events[ends.as_number[n]]
        return Cause("read_as_number", f"{e.name}() turned what was computed from {name} into a number or NumPy array, and "
                     "the loss was computed from that", "Stay with tensors: ops on them are recorded, numbers have no "
                     "history.", e.where)
    if n in ends.perhaps:
        e = rec.events[ends.perhaps[n]]
        return replace(unknown(
            f"what was computed from {name} is not part of what backward() was called on, but became a number or NumPy array by "
            f"{e.name}(): whether the loss was computed with that number, the recording cannot tell",
            "If the loss depends on that number, compute it with the tensor; if not, add to the loss what depends on "
            f"{name}."), where=e.where)
    if unused:
        return never_used(rec, n, name)
    last = rec.events[ends.last[n]]
    where = passes[-1]["begin"].where
    copy = copied(rec, n, name) if last.name in COPIES else None
    return copy or Cause(
        "not_in_loss", f"what was computed from {name} (last by {last.name}, {last.where or 'unknown line'}) is not part of what "
        "backward() was called on", "Add it to the loss, or call backward() on what depends on it.", where)


def frozen_then(rec: Recording, n: int, name: str, e: Event) -> Cause | None:
    """It was frozen when op e read it, and wants a gradient since."""
    if n not in e.inputs:
        return None
    on = bool(rec.tensor_rows[n][2] & 2)
    since = None
    for switch in map(rec.events.__getitem__, links(rec).uses[n]):
        if switch.name == "requires_grad_":
            if switch.t < e.t:
                on = bool(switch.flags & WANTS)
            elif switch.flags & WANTS:
                since = since or switch
    if on:
        return None
    return Cause("frozen", f"{name} was frozen when {e.name} read it ({e.where or 'unknown line'})"
                 + ("" if since is None else ", and requires_grad_(True) came later"),
                 "Call requires_grad_(True) on it before the forward pass.", e.where if since is None else since.where)


def cut_here(rec: Recording, e: Event, name: str) -> Cause:
    """Why gradients do not pass this op (cuts(e))."""
    if e.flags & INFERENCE:
        return Cause("inference_mode", f"{e.name} ran in inference mode, which records no history",
                     "Run it outside inference_mode().", e.where)
    if not e.flags & GRAD:
        return under_no_grad(rec, e)
    if e.name in DETACHES:
        said = ".data" if e.name == "data" else f"{e.name}()"
        return Cause("detached", f"{said} cut the history of what was computed from {name}",
                     f"Drop the {said}, or detach only a copy for use elsewhere.", e.where)
    whole = {d for d in dtypes_of(rec, e) if not floats(d)}
    if whole:
        return Cause("not_differentiable", f"{e.name} gives {', '.join(sorted(whole))}, which has no gradient",
                     "Use a differentiable op instead (softmax for argmax, a soft threshold for a comparison).",
                     e.where)
    return no_derivative(e)


def no_derivative(e: Event) -> Cause:
    return Cause("cut", f"{e.name} has no derivative here: its result does not require grad", "Use an op that has one.", e.where)


def under_no_grad(rec: Recording, e: Event) -> Cause:
    """no_grad, or a reentrant checkpoint whose inputs want nothing."""
    link = links(rec)
    outer = around(link.checkpoints, e)
    if outer is not None:
        return Cause("checkpoint", "it was used in a reentrant checkpoint without an input that requires grad; such a "
                     "checkpoint records nothing", "Use checkpoint(..., use_reentrant=False).", rec.events[outer].where)
    outer = around(link.functions, e)
    if outer is not None:
        return no_derivative(rec.events[outer])
    return Cause("no_grad", f"{e.name} ran with grad mode off (no_grad)", "Run it outside no_grad().", e.where)


# -- why_not_fired


@checked
def why_not_fired(handle: Any, rec: Recording | None = None) -> Cause:
    """Why a hook did not fire.

    handle   what register_*hook returned
    rec      a Recording
    Without one it only recognizes a removed hook, or one whose owner is gone; the answer says so.  TypeError for
    anything else.
    """
    for name in ("hooks_dict_ref", "id"):
        if not hasattr(handle, name):
            inner = getattr(handle, "handles", None)            # of several tensors: those that require grad
            if inner:
                return why_not_fired(inner[0], rec)
            if inner is not None:
                return Cause("nothing_requires_grad", "none of its tensors required grad when it was registered",
                             "Give it tensors that require grad.")
            raise TypeError(f"why_not_fired: expected the handle that a register_*hook call returned, got "
                            f"{type(handle).__name__}")
    table = handle.hooks_dict_ref()
    n = None if rec is None or rec.live is None else rec.live.hook_of(handle)
    if rec is None or n is None:
        if table is None:
            return Cause("owner_gone", "the module, tensor or optimizer the hook was on no longer exists",
                         "Keep that object, and register the hook on the one in use.")
        if handle.id not in table:
            return Cause("removed", "the hook was removed", "Call remove() later, or stay inside its `with` block.")
        if rec is not None:
            return unknown("the recording never saw this hook: none of the models it was given, no tensor it met, and no "
                           "optimizer that made a step in the block, has it",
                           "Give record() the module that has it; of an optimizer's hook, record its step().")
        return unknown("the handle alone does not show why", NEEDS.format("why_not_fired"))
    return hook_of(rec, n)


def hook_of(rec: Recording, n: int) -> Cause:
    """Why hook n of the recording did not fire."""
    return on_its_rank(rec, None, silence_of(rec, n))


def silence_of(rec: Recording, n: int) -> Cause:
    hook = rec.hooks[n]
    link = links(rec)
    if hook["fired"]:
        return Cause("fired", f"it fired {hook['fired']} time{'s' if hook['fired'] > 1 else ''}", "Nothing to do.",
                     rec.where(hook["defined"]))
    kind, owner = hook["kind"], hook["owner"]
    removal = next((e for e in link.notes.get(f"hook {n}", ()) if e.what == "removed"), None)
    until = removal.t if removal is not None else None
    if kind in ("forward", "forward_pre", "backward", "backward_pre") and owner >= 0:
        cause = of_module(rec, link, hook, until)
    elif kind in ("tensor", "post_accumulate") and owner >= 0:
        cause = of_tensor(rec, link, hook)
    elif kind in ("node_pre", "node_post"):
        cause = of_node(rec, link, hook)
    elif kind in ("step_pre", "step_post"):
        cause = Cause("no_step", "after it was registered, no step of the optimizer was recorded", "Call optimizer.step().")
    elif kind == "multi_grad" and owner >= 0:
        cause = of_several(rec, link, hook)
    elif "state_dict" in kind or "load_p" in kind:
        cause = Cause("not_called", "state_dict() or load_state_dict(), which it waits for, was not called",
                      "Call it after registering the hook.")
    elif kind == "tensor":
        cause = unknown(f"it is on {hook['on']}, and the recording does not know where the gradient of that comes from",
                        "Record the forward pass as well.")
    else:
        cause = unknown(f"it is on {hook['on']}, which the recording does not know", "Name the model: record(model).")
    if removal is not None and cause.code in ("cannot_know", "registered_late", "no_backward", "not_called", "no_step",
                                              "module_not_called", "removed"):
        return Cause("removed", "the hook was removed before it could fire", "Call remove() later.", removal.where)
    return cause


def of_module(rec: Recording, link: Links, hook: dict[str, Any], until: int | None) -> Cause:
    number, kind = hook["owner"], hook["kind"]
    module = rec.modules[number]
    path = module["path"] or "the model"
    at = 0 if hook["prior"] else hook["at"]
    calls = [rec.events[i] for i in link.calls.get(number, ())]
    if not rec.header.get("ops", True):
        return unknown("the recording has no module calls (ops=False)", "Record with ops=True.")
    if is_compiled(rec, number):
        compiled = next((e for e in rec.of("note") if e.what == "compiled"), None)
        if compiled is not None and at < compiled.t:
            return replace(unknown(f"{path} ran as part of a compiled model, which compiled its hooks in: "
                                   "it may have fired where the recorder cannot see", "Record the model uncompiled."),
                           where=compiled.where)
        return Cause("compiled", f"{path} ran as part of a compiled model, which keeps the hooks it was compiled with: later "
                     "ones are ignored", "Register hooks before torch.compile, or before the first call of the compiled model.",
                     None if compiled is None else compiled.where)
    if not calls:
        return not_called(rec, number, path, module)
    timely = [c for c in calls if c.t >= at and (until is None or c.t < until)]
    if not timely:
        if until is not None and any(c.t >= at for c in calls):
            return Cause("removed", "the hook was removed before the module was called", "Call remove() later.")
        return Cause("registered_late", f"it was registered after the last call of {path}"
                     + (", and a call fixes the backward hooks" if "backward" in kind else ""),
                     "Register it before the forward pass.", rec.where(hook["registered"]))
    last = timely[-1]
    leave = next((e for i in link.exits.get(number, ()) if (e := rec.events[i]).call == last.call), None)
    if leave is None or leave.error:
        return Cause("forward_raised", f"the call of {path} raised {leave.error if leave else 'an exception'}",
                     "Fix that error; with always_call=True a forward hook still runs.", last.where)
    if kind in ("forward", "forward_pre"):
        return unknown(f"{path} was called after the hook was registered, yet the recording did not see it fire",
                       "Is the hook's module the one that is called?")
    return of_backward(rec, link, path, last, leave)


def not_called(rec: Recording, number: int, path: str, module: dict[str, Any]) -> Cause:
    """A hook waits for a call that never came."""
    notes = [e for e in links(rec).notes.get(module["path"], ()) if e.what in ("direct", "functional")]
    parent = rec.modules[module["parent"]]["type"] if module["parent"] >= 0 else ""
    if parent == "MultiheadAttention" and path.endswith("out_proj"):
        return Cause("mha_out_proj", "MultiheadAttention reads out_proj's weight and bias itself and never calls it",
                     "Put the hook on the attention module, or on out_proj.weight.")
    if module["type"] in CONTAINERS:
        return Cause("container", f"a {module['type']} is only a list of modules, which nothing calls",
                     "Put the hook on its elements, or on the module that runs them.")
    direct = next((e for e in notes if e.what == "direct"), None)
    other = next((e for e in notes if e.what == "functional"), None)
    if not notes:                                       # it got its name after that
        link = links(rec)
        reads = [rec.events[i] for n in link.own.get(number, ()) for i in link.reads.get(n, ()) if i not in link.aside]
        other = next(iter(reads), None)
        direct = next((e for e in reads if in_forward(rec, e.site, module["type"])), None)
    if direct is not None:
        return Cause("forward_called_directly", f"{path}.forward(...) was called directly: hooks run in {path}(...)",
                     "Call the module, not its forward.", direct.where)
    if other is not None:
        return Cause("functional_use", f"a function read the parameters of {path}; the module itself was not called",
                     f"Call {path}(x), or put the hook on the parameter.", other.where)
    return Cause("module_not_called", f"{path} was never called (calling its forward() directly does not count)",
                 "Call the module in forward(), not its .forward.")


def in_forward(rec: Recording, site: int, kind: str) -> bool:
    """Is a line in the forward of a class, or does it call some .forward()?"""
    return site >= 0 and (rec.sites[site][2].endswith(f"{kind}.forward") or ".forward(" in source_line(rec, site))


def of_backward(rec: Recording, link: Links, path: str, enter: Event, leave: Event) -> Cause:
    """A backward hook of a module that was called."""
    into, out = enter.facts, leave.facts
    if into["inference"]:
        return Cause("inference_mode", f"{path} ran in inference mode, which records no history",
                     "Run it outside inference_mode().", enter.where)
    if not into["grad"]:
        return Cause("no_grad", f"{path} ran with grad mode off (no_grad)", "Run it outside no_grad().", enter.where)
    if out["type"] not in ("Tensor", "Parameter") and not out["tensors"]:
        return Cause("output_not_tensor", f"{path} returned a {out['type']}: backward hooks need a Tensor or a tuple of Tensors",
                     "Return tensors in a tuple, or put hooks on the tensors themselves.", enter.where)
    if not out["wants"]:
        return Cause("nothing_requires_grad", f"neither an input nor a parameter of {path} requires grad, so its output does "
                     "not", "Give it an input that requires grad, or unfreeze a parameter.", enter.where)
    passes = [f for f in link.passes.values() if f["begin"].t > leave.t]
    if not passes:
        return Cause("no_backward", f"no backward pass was recorded after the call of {path}", "Call backward().")
    outputs = [t for t in out["tensors"] if rec.tensor_rows[t][2] & 2]
    nodes = set().union(*(link.node_of(t) for t in outputs), link.nodes_of.get(leave.number, ())) if outputs else set()
    reached = [f for f in passes if nodes & link.nodes_before(f["begin"].roots)]
    if not reached:
        for t in outputs:
            return no_gradient(rec, t, f"the output of {path}", for_grad=False)
        return unknown(f"{path} was called, but the recording does not show what became of its output",
                       "Record the whole step.")
    failed = [f for f in reached if f["error"]]
    if failed:
        return Cause("backward_failed", f"the backward pass raised {failed[-1]['error']}", "Fix that error first.",
                     failed[-1]["begin"].where)
    limited = [f for f in reached if f["begin"].targets is not None]
    if limited:
        how = "autograd.grad" if limited[-1]["begin"].how == "grad" else "backward(inputs=...)"
        return Cause("not_in_inputs", f"{how} asked only for gradients known before {path} is reached, and stopped there",
                     f"Ask for the gradient of an input of {path} as well, or call backward().", limited[-1]["begin"].where)
    return unknown(f"a pass could reach {path}, yet the recording saw no hook fire", "Is this the module that is called?")


def of_tensor(rec: Recording, link: Links, hook: dict[str, Any]) -> Cause:
    n, name = hook["owner"], hook["on"]
    known = rec.tensor(n)
    at = 0 if hook["prior"] else hook["at"]
    passes = [f for f in link.passes.values()]
    if passes and not any(f["begin"].t >= at for f in passes):
        return Cause("registered_late", "it was registered after the last backward pass", "Register it before backward().",
                     rec.where(hook["registered"]))
    if hook["kind"] == "post_accumulate":
        cause = no_grad_of(rec, n, None)
        if link.arrived.get(n):
            return Cause("registered_late", f"the gradient of {name} was accumulated before the hook was registered",
                         "Register it before backward().", rec.where(hook["registered"]))
        return cause
    if not known["wants"]:
        return Cause("frozen", f"{name} does not require grad", "Call requires_grad_(True) before the forward pass.")
    mine = link.node_of(n)
    reached = [f for f in passes if mine & link.nodes_before(f["begin"].roots)]
    if is_sharded(rec, name):
        return Cause("sharded", f"{name} is a shard: FSDP2 computes with the whole parameter, another tensor, and hooks of the "
                     "shard's gradient do not fire", "Use register_post_accumulate_grad_hook, which FSDP2 calls once the shard "
                     "has its gradient, or a full backward hook of the module.", rec.where(hook["registered"]))
    if reached and all(f["begin"].t < at for f in reached):
        return after_its_pass(rec, hook, reached[-1], name)
    return no_gradient(rec, n, name, for_grad=False, since=at)


def of_several(rec: Recording, link: Links, hook: dict[str, Any]) -> Cause:
    """A hook of several tensors: none of them got a gradient, or a pass was over before all had theirs."""
    causes = [of_tensor(rec, link, {**hook, "kind": "tensor", "owner": n, "on": rec.name_of_tensor(n)})
              for n in hook.get("tensors") or [hook["owner"]]]
    return next((c for c in causes if c.code == "backward_failed"), causes[0])


def after_its_pass(rec: Recording, hook: dict[str, Any], last: dict[str, Any], name: str) -> Cause:
    """Passes that began later did not reach what the hook is on, and one that did reach it had begun before."""
    return Cause("registered_late", f"it was registered after pass {last['begin'].get('pass')} had begun, the last one that "
                 f"reached {name}", "Register it before backward().", rec.where(hook["registered"]))


def of_node(rec: Recording, link: Links, hook: dict[str, Any]) -> Cause:
    at = 0 if hook["prior"] else hook["at"]
    passes = [f for f in link.passes.values() if f["begin"].t >= at]
    if not passes:
        return Cause("no_backward" if not link.passes else "registered_late", "no backward pass was recorded after it was "
                     "registered", "Register it before backward().", rec.where(hook["registered"]))
    n = hook["owner"]
    if n < 0:
        return unknown("the recording does not know which node it is on", "Record the forward pass as well.")
    if not any(n in link.nodes_before(f["begin"].roots) for f in passes):
        early = [f for f in link.passes.values() if n in link.nodes_before(f["begin"].roots)]
        if early:
            return after_its_pass(rec, hook, early[-1], hook["on"])
        return Cause("not_in_loss", f"{hook['on']} is not in the graph of what backward() was called on",
                     "Call backward() on something that depends on it.", passes[-1]["begin"].where)
    limited = [f for f in passes if f["begin"].targets is not None]
    if limited:
        return Cause("not_in_inputs", f"the pass stopped before {hook['on']}: inputs= names nothing beyond it",
                     "Add a tensor beyond it to inputs=.", limited[-1]["begin"].where)
    return unknown(f"a pass could reach {hook['on']}, yet the recording did not see the hook fire", "Was an exception raised?")


__all__ = ["Cause", "why_none", "why_not_fired"]
