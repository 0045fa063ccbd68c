"""Mistakes with hooks and gradients that the source shows.  One function a rule; docs/lint.md has an example of each.

A rule speaks when the source leaves no doubt, as far as one file can tell; it follows no imports and no values.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

from ..answers.read_off import SHOWN
from ..arguments import checked
from ..plain_text import escaped
from .source import ARITY, OF_OPTIMIZERS, Source, keyword, method_of, place, results, text_of


@dataclass(frozen=True, order=True)
class Problem:
    """One finding of a rule: where it is, what it is, what to do."""

    file: str
    line: int
    rule: str
    message: str
    way_out: str

    @escaped
    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule} {self.message}\n    way out: {self.way_out}"


Found = Iterator[tuple[ast.AST, tuple[str, str]]]
Rule = Callable[["Source"], Found]
RULES: dict[str, tuple[str, Rule]] = {}


def rule(number: str, name: str) -> Callable[[Rule], Rule]:
    def add(check: Rule) -> Rule:
        RULES[number] = (name, check)
        return check
    return add


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


QUIET = {"append", "update", "extend", "insert", "clear", "print", "__setitem__", "write", "setattr", "info", "debug", "warning",
         "remove", "put", "discard", "add_scalar", "add_histogram"}


def returns_none(node: ast.AST) -> bool:
    """An expression that is None for certain, or likely (`log.append(x)`)."""
    return is_none(node) or (isinstance(node, ast.Call) and method_of(node) in QUIET)


def assigned(source: Source, scope: ast.AST, name: str, after: tuple[int, int], before: tuple[int, int]) -> bool:
    """Is a variable of the scope given a value between two places?"""
    return any(after < place(n) < before for n in source.bindings(scope).get(name, ()) if hasattr(n, "lineno"))


def root(on: str) -> str:
    """The variable that an expression begins with."""
    return on.partition(".")[0].partition("[")[0].partition("(")[0]


# -- the rules


@rule("RG101", "forward called directly")
def forward_called(source: Source) -> Found:
    for call in source.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
            on = call.func.value
            if isinstance(on, ast.Call) and method_of(on) == "super":
                continue
            if isinstance(on, ast.Call) and method_of(on) == "type":
                continue
            if text_of(on).rpartition(".")[2][:1].isupper() or text_of(on) in ("self", "cls"):
                continue                        # nn.Linear.forward(self, x)
            yield call, (f"{text_of(on)}.forward(...) skips every hook of the module",
                         f"call it: {text_of(on)}(...)")


@rule("RG102", "legacy backward hook")
def legacy(source: Source) -> Found:
    for call, name, on, _ in source.registrations():
        if name == "register_backward_hook":
            yield call, (f"{on}.register_backward_hook sees the gradients of the last op only",
                         "use register_full_backward_hook")


@rule("RG103", "loop variable in a hook")
def late_binding(source: Source) -> Found:
    for call, _, on, hook in source.registrations():
        found = source.hook(hook)
        if found is None:
            continue
        f = found.f
        own = {*source.bindings(f), *found.bound}
        body: list[ast.AST] = [f.body] if isinstance(f, ast.Lambda) else list(f.body)
        read = {n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - own
        for loop in source.loops(call):
            within = list(ast.walk(loop))
            if isinstance(loop, ast.For) and f in within and not takes_away(within) and not isinstance(
                    source.parents.get(call), ast.withitem):
                targets = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
                names = targets & read
                if names and not of_the_round(within, root(on), targets):
                    name = min(names)
                    yield call, (f"the hook reads {name!r} when it fires: all hooks of this loop will see its last value",
                                 f"bind it: lambda ..., {name}={name}: ..., or functools.partial")
                    break


def of_the_round(nodes: list[ast.AST], name: str, targets: set[str]) -> bool:
    """Is it made in the loop, of nothing that the loop goes over?  Then no other round's hooks are on it."""
    return any(isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and any(text_of(t) == name for t in n.targets)
               and not any(isinstance(v, ast.Name) and v.id in targets for v in ast.walk(n.value)) for n in nodes)


def takes_away(nodes: list[ast.AST]) -> bool:
    """Is a hook removed again?"""
    return any(isinstance(n, ast.Call) and "remove" in method_of(n) for n in nodes)


@rule("RG104", "forward hook that replaces the output")
def forward_returns(source: Source) -> Found:
    for call, name, _, hook in source.registrations():
        if name != "register_forward_hook" or not isinstance(hook, ast.Lambda):
            continue
        body = hook.body
        surprising = isinstance(body, (ast.Tuple, ast.List, ast.NamedExpr)) or (
            isinstance(body, ast.Call) and method_of(body) in ("setdefault", "pop", "detach", "clone", "cpu", "numpy",
                                                               "item", "tolist", "norm", "len", "next"))
        if surprising:
            yield call, (f"the hook returns `{text_of(body)}`, which replaces the module's output",
                         "return None: write a function, or end the lambda with `, None)[1]`")


@rule("RG105", "backward hook that does not return a suitable tuple")
def backward_returns(source: Source) -> Found:
    for call, name, _, hook in source.registrations():
        if name not in ("register_full_backward_hook", "register_full_backward_pre_hook"):
            continue
        found = source.hook(hook)
        for value in results(found.f) if found is not None else ():
            if isinstance(value, ast.Tuple) and value.elts and all(returns_none(e) and not is_none(e) for e in value.elts):
                yield call, ("the hook returns a tuple of its calls' results (None), which autograd takes for gradients",
                             "write a function that returns nothing")
            elif found is not None and one_tensor(value, found.names[1:]):
                yield call, (f"the hook returns `{text_of(value)}`, one tensor instead of a tuple",
                             f"return ({text_of(value)},)")


def one_tensor(value: ast.AST, tuples: tuple[str, ...]) -> bool:
    """Is it one element of these tuples, or computed from one?"""
    if isinstance(value, ast.Subscript):
        number = value.slice.operand if isinstance(value.slice, ast.UnaryOp) else value.slice
        return isinstance(value.value, ast.Name) and value.value.id in tuples and isinstance(number, ast.Constant)
    if isinstance(value, ast.UnaryOp):
        return one_tensor(value.operand, tuples)
    return isinstance(value, ast.BinOp) and (one_tensor(value.left, tuples) or one_tensor(value.right, tuples))


@rule("RG106", "wrong number of arguments")
def signature(source: Source) -> Found:
    for call, name, _, hook in source.registrations():
        found = source.hook(hook)
        if found is None or found.open or name not in ARITY:
            continue
        wanted = [ARITY[name][1 if keyword(call, "with_kwargs") else 0]]
        if name in OF_OPTIMIZERS:
            wanted = [OF_OPTIMIZERS[name]] if is_optimizer(source, call) else [*wanted, OF_OPTIMIZERS[name]]
        if any(k.arg == "with_kwargs" and not isinstance(k.value, ast.Constant) for k in call.keywords):
            wanted = [*ARITY[name]]
        least, most = found.least, len(found.names)
        if not any(least <= want <= most for want in wanted):
            yield call, (f"{name} calls its hook with {' or '.join(map(str, wanted))} arguments; this one takes "
                         f"{least if least == most else f'{least} to {most}'}", "take the arguments the hook is called with")


def is_optimizer(source: Source, call: ast.Call) -> bool:
    """Is what registers made by torch.optim, as far as this file shows?"""
    on = call.func.value if isinstance(call.func, ast.Attribute) else None
    found = source.bound(on) if isinstance(on, ast.Name) else []
    return bool(found) and all(isinstance(f, ast.Assign) and isinstance(f.value, ast.Call) and "optim." in text_of(f.value.func)
                               for f in found)


@rule("RG107", "hook registered again and again")
def in_training_loop(source: Source) -> Found:
    for call, name, on, _ in source.registrations():
        for loop in source.loops(call):
            inside = list(ast.walk(loop))
            trains = any(isinstance(n, ast.Call) and method_of(n) in ("backward", "step") for n in inside)
            parent = source.parents.get(call)
            made = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            if trains and not takes_away(inside) and made.isdisjoint(taken_from(source, call, root(on), loop)) \
                    and not isinstance(parent, ast.withitem) and not sometimes(source, call, loop):
                yield call, (f"{on}.{name} in a training loop adds one more hook in every iteration",
                             "register before the loop, or keep the handle and remove() it")
                break


def taken_from(source: Source, call: ast.AST, name: str, outer: ast.AST) -> set[str]:
    """The variables from which loops inside `outer` take what `name` holds: model, for a layer of model.modules()."""
    names = {name}
    for loop in source.loops(call):
        if loop is outer:
            break
        if isinstance(loop, ast.For):
            given = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
            if names & given:
                names = names - given | {n.id for n in ast.walk(loop.iter) if isinstance(n, ast.Name)}
    return names


def sometimes(source: Source, node: ast.AST, loop: ast.AST) -> bool:
    """Does a condition in the loop decide whether it runs, or the loop end after it?"""
    while node is not loop:
        before, node = node, source.parents[node]
        if isinstance(node, (ast.If, ast.IfExp, ast.Try)):
            return True
        body = getattr(node, "body", None)
        if isinstance(body, list) and before in body and any(isinstance(n, (ast.Break, ast.Return)) for n in
                                                             body[body.index(before):]):
            return True
    return False


@rule("RG108", "leaf lost by an op")
def leaf_lost(source: Source) -> Found:
    def wants(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and keyword(node, "requires_grad") is True

    asked = {text_of(n.value) for n in source.nodes if isinstance(n, ast.Attribute) and n.attr == "grad"}
    asked.update(n.id for c in source.calls if "optim." in text_of(c.func) for a in c.args for n in ast.walk(a)
                 if isinstance(n, ast.Name))
    kept = {text_of(c.func.value) for c in source.calls if isinstance(c.func, ast.Attribute) and method_of(c) == "retain_grad"}
    for statement in source.nodes:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        name, node = text_of(statement.targets[0]), statement.value
        if name not in asked - kept:
            continue
        if isinstance(node, ast.BinOp) and (wants(node.left) or wants(node.right)):
            yield node, (f"requires_grad=True is on an operand: {name} is not a leaf, and its .grad stays None",
                         "compute first, then call requires_grad_()")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and wants(node.func.value) and \
                node.func.attr in ("to", "cuda", "cpu", "float", "double", "half", "view", "reshape", "t", "clone", "type",
                                   "mul", "div", "add", "sub", "repeat", "expand", "transpose", "unsqueeze"):
            yield node, (f"requires_grad=True before .{node.func.attr}(...): {name} is not a leaf, and its .grad stays None",
                         "compute first, then call requires_grad_()")


@rule("RG109", "capture without detach")
def captured(source: Source) -> Found:
    if not any(method_of(c) == "backward" for c in source.calls):
        return                                          # no graph is the matter
    for _, name, _, hook in source.registrations():
        found = source.hook(hook)
        if found is None or name not in ("register_forward_hook", "register_forward_pre_hook"):
            continue
        held = set(found.names[1:found.least] or found.names[1:]) - {"kwargs"}
        for node in ast.walk(found.f):
            value: ast.AST | None = None
            into: ast.AST | None = None
            if isinstance(node, ast.Call) and method_of(node) in ("append", "add", "__setitem__") and node.args and isinstance(
                    node.func, ast.Attribute):
                value, into = node.args[-1], node.func.value
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
                value, into = node.value, node.targets[0]
            if isinstance(value, ast.Subscript):
                value = value.value
            if isinstance(value, ast.Name) and value.id in held and into is not None and not in_a_loss(source, into):
                yield node, (f"{value.id!r} is stored with its graph, which stays in memory as long as the tensor",
                             f"store {value.id}.detach() (and .clone() it if an in-place op follows)")


def in_a_loss(source: Source, into: ast.AST) -> bool:
    """Is what was stored used for a loss, for which it must keep its graph?"""
    while isinstance(into, ast.Subscript):
        into = into.value
    name = into.attr if isinstance(into, ast.Attribute) else text_of(into)
    for n in source.nodes:
        if isinstance(n, (ast.Name, ast.Attribute)) and (n.attr if isinstance(n, ast.Attribute) else n.id) == name and isinstance(
                n.ctx, ast.Load):
            above: ast.AST = n
            while above in source.parents and not isinstance(above, ast.stmt):
                above = source.parents[above]
                if isinstance(above, ast.Call) and ("loss" in text_of(above.func) or method_of(above) == "backward"):
                    return True
            if isinstance(above, (ast.Assign, ast.AugAssign)) and any(
                    "loss" in text_of(t) for t in (above.targets if isinstance(above, ast.Assign) else [above.target])):
                return True
    return False


@rule("RG110", "parameter replaced after the optimizer took it")
def replaced(source: Source) -> Found:
    for call in source.calls:
        made = text_of(call.func)
        if "optim." not in made or not call.args or "parameters" not in text_of(call.args[0]):
            continue
        model = text_of(call.args[0]).partition(".parameters")[0]
        scope = source.scope(call)
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and place(node) > place(call) and isinstance(node.targets[0], ast.Attribute) \
                    and isinstance(node.value, ast.Call) and text_of(node.value.func).endswith("Parameter") \
                    and text_of(node.targets[0]).startswith(model + ".") and not taken_again(source, call, node, model):
                yield node, (f"{text_of(node.targets[0])} is a new parameter that the optimizer of line {call.lineno} "
                             "does not have", "create the optimizer afterwards, or change the parameter in place")


def taken_again(source: Source, call: ast.Call, node: ast.stmt, model: str) -> bool:
    """Does an optimizer get the model's parameters after `node`, too?"""
    return any(place(c) > place(node) and c is not call and (
        method_of(c) == "add_param_group" or ("optim." in text_of(c.func) and model in text_of(c))) for c in source.calls)


@rule("RG111", "hook on a list of modules")
def on_container(source: Source) -> Found:
    lists = {text_of(n.targets[0]) for n in source.nodes if isinstance(n, ast.Assign)
             and isinstance(n.value, ast.Call) and method_of(n.value) in ("ModuleList", "ModuleDict")}
    for call, name, on, _ in source.registrations():
        if on in lists and "state_dict" not in name:
            yield call, (f"{on} is a list of modules, which is never called: the hook will not fire",
                         "put it on the elements, or on the module that runs them")


@rule("RG112", "hook on out_proj")
def on_out_proj(source: Source) -> Found:
    named = {n.attr if isinstance(n, ast.Attribute) else n.id for n in source.nodes if isinstance(n, (ast.Name, ast.Attribute))}
    if "out_proj" in {method_of(c) for c in source.calls} or not any(
            n == "MultiheadAttention" or n.startswith("Transformer") for n in named):
        return                                          # another attention, which calls its out_proj
    for call, name, on, _ in source.registrations():
        if on.endswith(".out_proj") and "state_dict" not in name:
            yield call, (f"{on} is never called by MultiheadAttention: the hook will not fire",
                         "put it on the attention module, or on out_proj.weight")


@rule("RG113", "both kinds of backward hook")
def mixed(source: Source) -> Found:
    seen: dict[tuple[ast.AST, str], tuple[ast.Call, str]] = {}
    for call, name, on, _ in sorted(source.registrations(), key=lambda r: place(r[0])):
        if name in ("register_backward_hook", "register_full_backward_hook"):
            scope = source.scope(call)
            before, kind = seen.get((scope, on), (call, name))
            seen[scope, on] = call, name
            if kind != name and not assigned(source, scope, root(on), place(before), place(call)) and not takes_away(
                    [c for c in source.calls if place(before) < place(c) < place(call)]):
                yield call, (f"{on} already has a {kind.removeprefix('register_')}: both kinds on one module raise",
                             "use register_full_backward_hook for both")


@rule("RG114", "in-place activation in a hooked model")
def in_place(source: Source) -> Found:
    """After a hooked element of a Sequential, or in a file that hooks all modules."""
    hooks = [(call, on) for call, name, on, _ in source.registrations()
             if name in ("register_full_backward_hook", "register_full_backward_pre_hook")]
    every = any(isinstance(loop, ast.For) and any(isinstance(n, ast.Call) and method_of(n) in ("modules", "named_modules")
                                                  for n in ast.walk(loop.iter)) and not any(
        isinstance(n, ast.If) for n in ast.walk(loop)) for call, _ in hooks for loop in source.loops(call))
    for call in source.calls if hooks else ():
        if keyword(call, "inplace") is not True:
            continue
        above = source.parents.get(call)
        before = ""
        if isinstance(above, ast.Call) and method_of(above) == "Sequential" and call in above.args[1:]:
            holder = source.parents.get(above)
            if isinstance(holder, ast.Assign) and len(holder.targets) == 1:
                before = f"{text_of(holder.targets[0])}[{above.args.index(call) - 1}]"
        if every or (before and any(on == before for _, on in hooks)):
            yield call, ("inplace=True edits the output of the module before it: with a full backward hook there this raises, "
                         "and what a forward hook kept changes", "remove inplace=True")


@rule("RG115", "reentrant checkpoint")
def reentrant(source: Source) -> Found:
    for call in source.calls:
        if method_of(call) in ("checkpoint", "checkpoint_sequential") and keyword(call, "use_reentrant") is True:
            yield call, ("use_reentrant=True runs forward hooks twice, parameter hooks once per checkpoint, and gives no "
                         "gradients when no input requires grad", "use_reentrant=False")


@rule("RG116", "hook after torch.compile")
def compiled(source: Source) -> Found:
    models = [(text_of(c.args[0]), c) for c in source.calls if text_of(c.func) == "torch.compile" and c.args]
    for call, name, on, _ in source.registrations():
        for model, at in models:
            if not place(at) < place(call) or not (on == model or on.startswith((model + ".", model + "["))) \
                    or source.scope(call) is not source.scope(at) or "state_dict" in name:
                continue
            above = source.parents.get(at)
            names = {model, *(text_of(t) for t in above.targets)} if isinstance(above, ast.Assign) else {model}
            if any(place(at) < place(c) < place(call) and text_of(c.func) in names for c in source.calls):
                yield call, (f"{model} was compiled in line {at.lineno} and called since: hooks added later are ignored",
                             "register before compiling")


@rule("RG117", "model with a lambda hook is pickled")
def pickled(source: Source) -> Found:
    hooked = {on.partition(".")[0].partition("[")[0] for _, name, on, hook in source.registrations()
              if isinstance(hook, ast.Lambda) and name in ARITY}
    for call in source.calls:
        if text_of(call.func) in ("torch.save", "pickle.dump", "pickle.dumps", "copy.deepcopy") and call.args \
                and isinstance(call.args[0], ast.Name) and call.args[0].id in hooked:
            name = call.args[0].id
            if method_of(call) == "deepcopy":
                yield call, (f"the copy of {name} gets its hooks, too", "remove the hooks first")
            else:
                yield call, (f"{name} has a lambda hook, which cannot be pickled",
                             f"save {name}.state_dict()")


@rule("RG118", "second backward")
def twice(source: Source) -> Found:
    blocks = [getattr(n, "body", None) for n in source.nodes]
    for body in [b for b in blocks if isinstance(b, list)]:
        freed: dict[str, int] = {}
        for statement in body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and method_of(call) == "backward" and isinstance(call.func, ast.Attribute):
                on = text_of(call.func.value)
                if call.args:                   # of what runs backward for another: accelerator.backward(loss)
                    continue
                if isinstance(call.func.value, ast.Name) and on in freed and on != "self" and not made_by_class(
                        source, call.func.value):
                    yield call, (f"{on}.backward() again after line {freed[on]}: the graph was freed by the first",
                                 "call backward(retain_graph=True) the first time, or recompute it")
                if not any(k.arg in (None, "retain_graph", "create_graph") and keyword(call, str(k.arg)) is not False
                           for k in call.keywords):
                    freed[on] = call.lineno
            else:
                for n in ast.walk(statement):
                    if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                        freed.pop(n.id, None)


def made_by_class(source: Source, name: ast.AST) -> bool:
    """Is it an object of some class, and so perhaps no tensor?"""
    for f in source.bound(name):
        if isinstance(f, (ast.alias, ast.ClassDef)):
            return True
        if isinstance(f, ast.Assign) and isinstance(f.value, ast.Call) and text_of(f.value.func).rpartition(".")[2][:1].isupper():
            return True
    return False


@rule("RG119", "clipping in a hook, with accumulation")
def clip_in_hook(source: Source) -> Found:
    zeroing = sum(method_of(c) == "zero_grad" for c in source.calls)
    accumulates = any(isinstance(n, ast.If) and isinstance(n.test, ast.Compare) and "%" in text_of(n.test) and any(
        isinstance(c, ast.Call) and method_of(c) in ("step", "zero_grad") for c in ast.walk(n)) for n in source.nodes)
    for call, name, on, hook in source.registrations():
        found = source.hook(hook)
        if name == "register_hook" and found is not None and accumulates and zeroing and any(
                isinstance(n, ast.Call) and method_of(n).startswith(("clamp", "clip")) for n in ast.walk(found.f)):
            yield call, (f"the hook of {on} clips each backward's gradient, and they are summed afterwards: the sum is not "
                         "clipped", "clip .grad before step(), with clip_grad_norm_")


@rule("RG120", "numbers in the loss")
def through_item(source: Source) -> Found:
    started = {text_of(c.func.value) for c in source.calls if isinstance(c.func, ast.Attribute) and method_of(c) == "backward"}
    for call in source.calls:
        if method_of(call) not in ("tensor", "as_tensor", "FloatTensor") or not call.args or keyword(
                call, "requires_grad") is not True:
            continue
        above = source.parents.get(call)
        names = {text_of(t) for t in above.targets} if isinstance(above, ast.Assign) else {text_of(call)}
        if not names & started and not any("loss" in n for n in names):
            continue                                    # a new leaf, as inputs are
        for n in ast.walk(call.args[0]):
            if isinstance(n, ast.Call) and method_of(n) in ("item", "tolist", "numpy"):
                yield call, (f"a new leaf made of {method_of(n)}(): gradients end here", "keep the tensor itself")
                break


TOLD = ("grad", "grad_fn", "backward", "requires_grad", "requires_grad_", "retain_grad", "detach", "register_hook")


@rule("RG121", "use of .data")
def data(source: Source) -> Found:
    """Of tensors: a dataset and a response have .data as well."""
    tensors = {text_of(n.value) for n in source.nodes if isinstance(n, ast.Attribute) and n.attr in TOLD}
    for loop in source.nodes:
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and method_of(loop.iter) in (
                "parameters", "named_parameters"):
            tensors.update(n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name))
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
            above = source.parents.get(node)
            on = text_of(node.value)
            if on not in tensors and on.rpartition(".")[2] not in ("weight", "bias", "grad"):
                continue
            if isinstance(above, (ast.BinOp, ast.UnaryOp)) or (
                    isinstance(above, ast.Call) and node in above.args and method_of(above) not in SHOWN):
                yield node, (f"{on}.data has no history, and backward does not notice edits of it",
                             f"use {on}, or {on}.detach() where you want no gradient")


@checked
def lint_source(text: str, file: str = "<string>", rules: Container[str] | None = None) -> list[Problem]:
    """The problems in source text, by line.  SyntaxError if it does not parse.

    text    the program
    file    its name, for messages
    rules   numbers of rules to check, as "RG101"; by default all
    """
    source = Source(text, file)
    found = []
    for number, (_, check) in RULES.items():
        if rules is None or number in rules:
            for node, (message, way_out) in check(source):
                found.append(Problem(file, getattr(node, "lineno", 1), number, message, way_out + "."))
    lines = text.splitlines()
    return sorted(p for p in set(found) if f"lint: {p.rule}" not in (lines[p.line - 1] if p.line <= len(lines) else ""))
