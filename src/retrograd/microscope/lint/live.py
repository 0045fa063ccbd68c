"""lint(model): mistakes with hooks that a live model shows; lint_recording(rec): those that a recording shows.

The rules of source texts are in lint_static.py; all have an example in docs/lint.md.
"""
from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import chain
from typing import Any

from .._hooked import Hooked
from ..answers.graph_of import links
from ..answers.watch_problems import listed
from ..answers.why import CONTAINERS, hook_of, module_of, why_none
from ..arguments import checked
from ..listen import engine_of_module
from ..listen.sites import Sites, name_of
from ..record.recording import Recording
from ..record.witness import INPLACE, WANTED
from .source import ARITY
from .static import Problem
from .steps import Steps

TABLES = {
    "_forward_pre_hooks": "register_forward_pre_hook", "_forward_hooks": "register_forward_hook",
    "_backward_pre_hooks": "register_full_backward_pre_hook", "_backward_hooks": "register_full_backward_hook",
}
NAMES = {
    "RG201": "the same hook twice", "RG202": "many hooks with the same code", "RG203": "legacy backward hook in place",
    "RG204": "hooks that share a loop variable", "RG205": "hook that cannot fire", "RG206": "in-place op on a hooked output",
    "RG207": "hook that cannot be pickled", "RG208": "optimizer and model disagree", "RG209": "hook with a wrong signature",
    "RG210": "frozen, but with hooks", "RG301": "hook that never fired", "RG302": "parameter without a gradient",
    "RG303": "backward hook fires early", "RG304": "inputs by keyword", "RG305": "hook fired more than once in a pass",
    "RG306": "hook edits before accumulation", "RG307": "gradients in another dtype", "RG308": "hook made NaN or inf",
    "RG309": "error in a hook or backward pass", "RG310": "forward hook replaced an output",
    "RG311": "captured output edited in place", "RG312": "learning rate 0", "RG313": "gradients cleared unused",
    "RG314": "gradients without an optimizer", "RG315": "layers in a Python list", "RG316": "graphs kept from step to step",
    "RG317": "frozen batch norm in training mode", "RG318": "tying broken by loading", "RG319": "clipping before unscaling",
    "RG320": "hook that detaches the output", "RG321": "gradients never cleared",
}


@checked
def lint(model: Any, *, optimizer: Any = None, rec: Recording | None = None) -> list[Problem]:
    """The problems that a model's hooks show and, with a recording, those that show only in a run.

    model       of retrograd.nn or torch.nn
    optimizer   also checks that it has the model's parameters; TypeError for anything but an optimizer
    rec         a Recording of the model, for the problems that show only in a run
    """
    engine_of_module(model, "lint")
    found = list(Live(model).problems())
    if optimizer is not None:
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"lint: expected an optimizer, got {type(optimizer).__name__}")
        found.extend(of_optimizer(model, optimizer))
    if rec is not None:
        found.extend(lint_recording(rec))
    return sorted(set(found))


class Live:
    """The hooks of a live model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.sites = Sites()
        self.modules = list(model.named_modules())

    def problem(self, hook: Any, rule: str, message: str, way_out: str) -> Problem:
        n = self.sites.of_function(hook)
        file, line = self.sites.table[n][:2] if n >= 0 else ("<no Python source>", 0)
        return Problem(file, line, rule, message, way_out)

    def hooks(self) -> Iterator[tuple[str, Any, str, Any, bool]]:
        """(path, module, method that registers, hook, with_kwargs)"""
        for path, module in self.modules:
            for table, method in TABLES.items():
                kwargs = getattr(module, f"{table}_with_kwargs", {})
                for key, hook in getattr(module, table).items():
                    hook = hook.hook if type(hook) is Hooked else hook
                    yield path or "the model", module, method, hook, key in kwargs

    def problems(self) -> Iterator[Problem]:
        yield from self.repeated()
        yield from self.shared_variables()
        yield from self.in_lists()
        parents = {id(child): (path, parent) for path, parent in self.modules for child in parent.children()}
        for path, module, method, hook, with_kwargs in self.hooks():
            name = name_of(hook)
            kind = type(module).__name__
            if method == "register_full_backward_hook" and module._is_full_backward_hook is False:
                yield self.problem(hook, "RG203", f"{name} is a legacy backward hook of {path}: it sees the gradients of the "
                                   "module's last op only", "Use register_full_backward_hook.")
            if kind in CONTAINERS:
                yield self.problem(hook, "RG205", f"{name} is on {path}, a {kind}, which nothing calls",
                                   "Put it on its elements.")
            above = parents.get(id(module))
            if above is not None and type(above[1]).__name__ == "MultiheadAttention" and path.endswith("out_proj"):
                yield self.problem(hook, "RG205", f"{name} is on {path}, which MultiheadAttention never calls",
                                   "Put it on the attention module, or on out_proj.weight.")
            ps = list(module.parameters())
            if "backward" in method and ps and not any(p.requires_grad for p in ps):
                yield self.problem(hook, "RG210", f"all parameters of {path} are frozen: {name} fires only if its input "
                                   "requires grad", "Unfreeze a parameter, or hook a module before it.")
            want = ARITY[method][1 if with_kwargs else 0]
            if not accepts(hook, want):
                yield self.problem(hook, "RG209", f"{name} is called with {want} arguments by {path} and cannot take them",
                                   f"{method} calls hook({', '.join(['module', 'args', 'output', 'more'][:want])}).")
            if "<lambda>" in name or "<locals>" in getattr(hook, "__qualname__", ""):
                yield self.problem(hook, "RG207", f"{name} on {path} cannot be pickled, so the whole model cannot either",
                                   "Save state_dict(), or use a function of a module.")
        yield from self.in_place()

    def in_lists(self) -> Iterator[Problem]:
        """Layers and parameters in Python lists, where parameters() does not find them."""
        for module, text in listed(self.model):
            try:
                file, line = inspect.getsourcefile(type(module)) or "<no Python source>", inspect.getsourcelines(type(module))[1]
            except (OSError, TypeError):
                file, line = "<no Python source>", 0
            what, _, way_out = text.partition("; ")
            yield Problem(file, line, "RG315", what, f"{way_out[:1].upper()}{way_out[1:]}.")

    def repeated(self) -> Iterator[Problem]:
        """The same function, or the same code, several times in one table."""
        for path, module in self.modules:
            for table in TABLES:
                hooks = [h.hook if type(h) is Hooked else h for h in getattr(module, table).values()]
                same: dict[Any, int] = {}
                code: dict[Any, list[Any]] = {}
                for hook in hooks:
                    same[hook] = same.get(hook, 0) + 1
                    if getattr(hook, "__code__", None) is not None:
                        code.setdefault(hook.__code__, []).append(hook)
                for hook, count in same.items():
                    if count > 1:
                        yield self.problem(hook, "RG201", f"{name_of(hook)} is {count} times on {path or 'the model'}",
                                           "Register it once; keep the handle and remove() it.")
                for found in code.values():
                    if len(found) > 2 and len(set(found)) > 2:
                        yield self.problem(found[0], "RG202", f"{len(found)} hooks made by one line are on "
                                           f"{path or 'the model'}: is it registered in a loop?",
                                           "Register before the loop, or remove() the old one first.")

    def shared_variables(self) -> Iterator[Problem]:
        """Hooks of one code on several modules that read one variable which a loop changed."""
        modules = {id(m) for _, m in self.modules}
        cells: dict[tuple[Any, int], list[tuple[str, Any, str]]] = {}
        for path, _, _, hook, _ in self.hooks():
            code = getattr(hook, "__code__", None)
            for name, cell in zip(code.co_freevars, hook.__closure__ or ()) if code is not None else ():
                cells.setdefault((code, id(cell)), []).append((path, hook, name))
        for (_, _), users in cells.items():
            paths = {p for p, _, _ in users}
            if len(paths) < 2 or len({id(h) for _, h, _ in users}) < 2:
                continue
            try:
                value = dict(zip(users[0][1].__code__.co_freevars, users[0][1].__closure__))[users[0][2]].cell_contents
            except ValueError:
                continue
            if isinstance(value, (str, int)) or id(value) in modules:
                yield self.problem(users[0][1], "RG204", f"hooks of {', '.join(sorted(paths)[:4])} read one variable "
                                   f"{users[0][2]!r} and all see its last value, {value!r:.40}",
                                   f"Bind it: lambda ..., {users[0][2]}={users[0][2]}: ...")

    def in_place(self) -> Iterator[Problem]:
        """A full backward hook right before an in-place activation."""
        for path, parent in self.modules:
            if type(parent).__name__ != "Sequential":
                continue
            children = list(parent.named_children())
            for (name, first), (_, second) in zip(children, children[1:]):
                hooks = [*first._backward_hooks.values(), *first._backward_pre_hooks.values()]
                if hooks and getattr(second, "inplace", False):
                    where = f"{path}.{name}" if path else name
                    hook = hooks[0].hook if type(hooks[0]) is Hooked else hooks[0]
                    yield self.problem(hook, "RG206", f"{where} has a full backward hook and the {type(second).__name__} "
                                       "after it works in place: this raises", "Remove inplace=True.")


def accepts(hook: Any, count: int) -> bool:
    """Can it be called with so many positional arguments?"""
    try:
        inspect.signature(hook).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def of_optimizer(model: Any, optimizer: Any) -> Iterator[Problem]:
    """Parameters that only one of the two has."""
    mine = {id(p): name for name, p in model.named_parameters() if p.requires_grad}
    taken = {id(p): p for g in optimizer.param_groups for p in g["params"]}
    file, line = "<optimizer>", 0
    owned = {id(p) for p in model.parameters()}
    strangers = [p for i, p in taken.items() if i not in owned]
    missing = [name for i, name in mine.items() if i not in taken]
    if strangers:
        yield Problem(file, line, "RG208", f"{len(strangers)} of the optimizer's parameters are not the model's: they were "
                      "replaced after the optimizer took them", "Create the optimizer after the last change to the model.")
    if missing and not strangers:
        yield Problem(file, line, "RG208", f"the optimizer does not have {', '.join(missing[:4])}"
                      + (f" and {len(missing) - 4} more" if len(missing) > 4 else ""),
                      "Pass model.parameters(), or freeze what should not learn.")


# -- what a recording shows


@checked
def lint_recording(rec: Recording) -> list[Problem]:
    """The problems that a recording shows: hooks that never fired, parameters without gradients, surprising edits.

    rec   a Recording, live or loaded
    TypeError for anything else.
    """
    return sorted(set(Recorded(rec).problems()))


class Recorded:
    """A recording, as the rules see it."""

    def __init__(self, rec: Recording) -> None:
        self.rec = rec

    def problem(self, site: int, rule: str, message: str, way_out: str) -> Problem:
        file, line = self.rec.sites[site][:2] if site >= 0 else ("<unknown>", 0)
        return Problem(file, line, rule, message, way_out)

    def problems(self) -> Iterator[Problem]:
        rec = self.rec
        for n, hook in enumerate(rec.hooks):
            site = hook["registered"] if hook["registered"] >= 0 else hook["defined"]
            if not hook["fired"] and hook["kind"] in ("forward", "forward_pre", "backward", "backward_pre", "tensor",
                                                      "post_accumulate", "multi_grad", "node_pre", "node_post"):
                cause = hook_of(rec, n)
                yield self.problem(site, "RG301", f"a {hook['kind'].replace('_', '-')} hook of {hook['on']} never fired: "
                                   f"{cause.text}", cause.way_out)
        yield from self.parameters()
        yield from self.calls()
        yield from self.firings()
        yield from self.edits()
        if rec.header.get("ops", True):
            yield from Steps(rec).problems()

    def parameters(self) -> Iterator[Problem]:
        rec = self.rec
        if not any(e.how == "backward" for e in rec.of("begin")) or not rec.header.get("ops", True):
            return
        for name, n in rec.parameters.items():
            if links(rec).arrived.get(n) or not rec.tensor(n)["wants"] or rec.tensor_names[n]["name"] != name:
                continue
            cause = why_none(name, rec)
            if cause.code not in ("has_grad", "frozen"):
                where = cause.where or self.near(n) or "<unknown>:0"
                yield Problem(where.rpartition(":")[0], int(where.rpartition(":")[2]), "RG302",
                              f"{name} got no gradient: {cause.text}", cause.way_out)

    def near(self, n: int) -> str | None:
        """The line that read parameter n first, called its module first, or else called backward() first."""
        rec = self.rec
        uses = (rec.events[i] for i in links(rec).uses.get(n, ()))
        owner = module_of(rec, n)
        calls = (rec.events[i] for i in (() if owner is None else links(rec).calls.get(owner, ())))
        return next((e.where for e in chain(uses, calls, rec.of("begin")) if e.where), None)

    def calls(self) -> Iterator[Problem]:
        rec = self.rec
        with_backward = {h["owner"] for h in rec.hooks if h["kind"] == "backward" and h["fired"]}
        with_forward = {h["owner"] for h in rec.hooks if h["kind"] in ("forward", "forward_pre", "backward")}
        for e in rec.of("enter"):
            path = e.path or "the model"
            facts = e.facts
            if e.module in with_backward and facts["grad"] and not facts["wants"] and not facts["backward"] \
                    and not facts["keywords_want"]:     # else RG304 says it
                yield self.problem(e.site, "RG303", f"no input of {path} requires grad: its full backward hooks fire before its "
                                   "parameters have gradients, with grad_input None",
                                   "Give it an input that requires grad, or use hooks on tensors.")
            if e.module in with_forward and facts["keywords"] and not facts["tensors"]:
                yield self.problem(e.site, "RG304", f"{path} gets {', '.join(facts['keywords'])} by keyword: its hooks see no "
                                   "inputs", "Pass inputs by position, or register with with_kwargs=True.")

    def firings(self) -> Iterator[Problem]:
        rec = self.rec
        count: dict[tuple[int, int], int] = {}
        outer: dict[int, int] = {}              # a pass inside another -> the outermost
        open_: dict[int, list[int]] = {}
        for e in rec.of("begin", "end"):
            stack = open_.setdefault(e.thread, [])
            if e.kind == "begin":
                stack.append(e.get("pass"))
                outer[e.get("pass")] = stack[0]
            elif e.get("pass") in stack:
                stack.remove(e.get("pass"))
        dtypes: set[int] = set()
        for e in rec.of("hook"):
            hook = rec.hooks[e.hook]
            kind, number = hook["kind"], e.get("pass")
            if e.error:
                yield self.problem(hook["defined"], "RG309", f"{hook['name']}, a {kind.replace('_', '-')} hook of {hook['on']}, "
                                   f"raised {e.error}", "Fix the hook.")
            if kind in ("tensor", "post_accumulate") and number >= 0:
                key = e.hook, outer.get(number, number)
                count[key] = count.get(key, 0) + 1
            if kind == "forward" and e.changed and e.returned and number < 0:
                yield self.problem(hook["defined"], "RG310", f"{hook['name']} returned a value, which replaced the output of "
                                   f"{hook['on']}", "Return None, unless this is the hook's purpose.")
            after, before = list(map(rec.value, e.after)), list(map(rec.value, e.before))
            if any(v is not None and v.measured and not v.finite for v in after) and all(
                    v is None or not v.measured or v.finite for v in before):
                yield self.problem(hook["defined"], "RG308", f"{hook['name']} made NaN or inf from finite values on {hook['on']}",
                                   "Guard the division or logarithm in it.")
            if kind == "backward" and e.hook not in dtypes:
                kinds = {v.dtype for v in before if v is not None} & {"bfloat16", "float16"}
                if kinds:
                    dtypes.add(e.hook)
                    yield self.problem(hook["defined"], "RG307", f"{hook['name']} sees gradients of {min(kinds)} at "
                                       f"{hook['on']} (autocast), while parameters get another dtype",
                                       "Convert to float32 before sums and norms.")
        for (n, _), times in count.items():
            if times > 1:
                hook = rec.hooks[n]
                yield self.problem(hook["defined"], "RG305", f"{hook['name']} fired {times} times in one backward pass "
                                   f"(reentrant checkpoints run passes inside it)", "Use checkpoint(..., use_reentrant=False).")

    def edits(self) -> Iterator[Problem]:
        """What was changed between a forward hook's look and the backward pass, or between backward passes."""
        rec = self.rec
        had: set[int] = {e.tensor for e in rec.of("accumulate") if e.had >= 0 and not zero(rec, e.had)}
        for e in rec.of("hook"):
            hook = rec.hooks[e.hook]
            if hook["kind"] == "tensor" and e.changed and hook["owner"] in had:
                yield self.problem(hook["defined"], "RG306", f"{hook['name']} edits each pass's gradient of {hook['on']}, and "
                                   "several passes are summed afterwards",
                                   "Edit .grad once, after the last backward and before step().")
        outputs: dict[int, str] = {}
        hooked = {h["owner"] for h in rec.hooks if h["kind"] == "forward"}
        for e in rec.of("exit", "op"):
            if e.kind == "exit" and e.facts is not None and e.module in hooked:
                outputs.update(dict.fromkeys(e.facts["tensors"], e.path or "the model"))
            elif e.kind == "op" and e.flags & INPLACE and e.inputs and e.inputs[0] in outputs and e.flags & WANTED:
                yield self.problem(e.site, "RG311", f"{e.name} edits the output of {outputs[e.inputs[0]]} in place, which a "
                                   "forward hook has seen: what it kept changes, too",
                                   "Clone in the hook, or avoid the in-place op.")
        if rec.error and not rec.error.startswith("the script"):
            ends = [e for e in rec.events if e.get("error") and e.get("error")[:60] == rec.error[:60]]
            if not any(e.kind in ("hook", "end") for e in ends):
                op = next((e for e in ends if e.kind == "op"), None)
                yield self.problem(-1 if op is None else op.site, "RG309", ("" if op is None else f"{op.name} raised ")
                                   + rec.error[:300], "Fix that first.")
        for e in rec.of("end"):
            if e.error:
                its = links(rec).passes.get(e.get("pass"))
                yield self.problem(-1 if its is None else its["begin"].site, "RG309",
                                   f"the backward pass raised {e.error[:300]}"
                                   + (f"; {e.get('cause')}" if e.get("cause") else ""),
                                   "The error says what is wrong; explain(tensor) shows the graph.")


def zero(rec: Recording, n: int) -> bool:
    value = rec.value(n)
    return value is not None and value.measured and value.norm == 0 and value.finite


__all__ = ["NAMES", "Problem", "lint", "lint_recording"]
