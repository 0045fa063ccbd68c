"""Mistakes with hooks and gradients that the source shows.  One function a rule; docs/lint.md has an example of each.

A rule speaks when the source leaves no doubt, as far as one file can tell; it follows no imports and no values.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, order=True)
class Problem:
    """One finding of a rule: where, what, the way out."""

    file: str
    line: int
    rule: str
    message: str
    way_out: str

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


# what registers which kind of hook, and how many arguments its hooks get: (plain, with_kwargs)
ARITY = {
    "register_forward_pre_hook": (2, 3), "register_forward_hook": (3, 4), "register_full_backward_hook": (3, 3),
    "register_full_backward_pre_hook": (2, 2), "register_backward_hook": (3, 3), "register_prehook": (1, 1),
    "register_post_accumulate_grad_hook": (1, 1), "register_state_dict_pre_hook": (3, 3),
    "register_state_dict_post_hook": (4, 4), "register_load_state_dict_post_hook": (2, 2),
    "register_step_pre_hook": (3, 3), "register_step_post_hook": (3, 3), "register_multi_grad_hook": (1, 1),
}
REGISTER = {*ARITY, "register_hook", "register_module_forward_hook", "register_module_full_backward_hook",
            "register_module_forward_pre_hook", "register_load_state_dict_pre_hook"}


class Source:
    """A parsed file, with what the rules ask of it."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.tree = ast.parse(text, file)
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self.functions: dict[str, ast.FunctionDef] = {
            n.name: n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)}
        self.calls = [n for n in ast.walk(self.tree) if isinstance(n, ast.Call)]

    def registrations(self) -> Iterator[tuple[ast.Call, str, str, ast.AST]]:
        """(call, method, the object's text, the hook) of every register_*hook."""
        for call in self.calls:
            name = method_of(call)
            if name in REGISTER:
                hook: ast.AST | None = call.args[0] if call.args else next(
                    (k.value for k in call.keywords if k.arg in ("hook", "fn")), None)
                if name == "register_multi_grad_hook":
                    hook = call.args[1] if len(call.args) > 1 else None
                if hook is not None:
                    on = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
                    yield call, name, on, hook

    def function(self, hook: ast.AST) -> ast.Lambda | ast.FunctionDef | None:
        """The body of a hook, when this file has it."""
        if isinstance(hook, ast.Lambda):
            return hook
        if isinstance(hook, ast.Name):
            return self.functions.get(hook.id)
        return None

    def scope(self, node: ast.AST) -> ast.AST:
        """The function or module around a node."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                return node
        return node

    def loops(self, node: ast.AST) -> Iterator[ast.For | ast.While]:
        """The loops around a node, within its function."""
        while node in self.parents:
            before, node = node, self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return
            if isinstance(node, (ast.For, ast.While)) and before in node.body:
                yield node


def method_of(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def keyword(call: ast.Call, name: str) -> Any:
    return next((k.value.value for k in call.keywords if k.arg == name and isinstance(k.value, ast.Constant)), None)


def parameters(f: ast.Lambda | ast.FunctionDef) -> list[str]:
    return [a.arg for a in (*f.args.posonlyargs, *f.args.args)]


def results(f: ast.Lambda | ast.FunctionDef) -> list[ast.expr]:
    """What a hook returns; not what functions inside it return."""
    if isinstance(f, ast.Lambda):
        return [f.body]
    found: list[ast.expr] = []
    todo: list[ast.AST] = list(f.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        todo.extend(ast.iter_child_nodes(node))
    return found


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


QUIET = {"append", "update", "add", "extend", "insert", "clear", "print", "__setitem__", "write", "setattr", "info",
         "debug", "warning", "remove", "put", "discard", "log", "add_scalar", "add_histogram"}


def returns_none(node: ast.AST) -> bool:
    """An expression that is None for certain, or likely (`log.append(x)`)."""
    return is_none(node) or (isinstance(node, ast.Call) and method_of(node) in QUIET)


# -- the rules


@rule("RG101", "forward called directly")
def forward_called(source: Source) -> Found:
    for call in source.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
            on = call.func.value
            if isinstance(on, ast.Call) and method_of(on) == "super":
                continue
            if isinstance(on, ast.Name) and (on.id[:1].isupper() or on.id in ("self", "cls")):
                continue                        # Base.forward(self, x)
            yield call, (f"{ast.unparse(on)}.forward(...) skips every hook of the module",
                         f"call it: {ast.unparse(on)}(...)")


@rule("RG102", "legacy backward hook")
def legacy(source: Source) -> Found:
    for call, name, on, _ in source.registrations():
        if name == "register_backward_hook":
            yield call, (f"{on}.register_backward_hook sees the gradients of the last op only",
                         "use register_full_backward_hook")


@rule("RG103", "loop variable in a hook")
def late_binding(source: Source) -> Found:
    for call, _, _, hook in source.registrations():
        f = source.function(hook)
        if f is None:
            continue
        own = {*parameters(f), *(a.arg for a in f.args.kwonlyargs)}
        body: list[ast.AST] = [f.body] if isinstance(f, ast.Lambda) else list(f.body)
        read = {n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        for loop in source.loops(call):
            if isinstance(loop, ast.For) and (isinstance(f, ast.Lambda) or f in ast.walk(loop)):
                names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)} & read - own
                if names:
                    name = min(names)
                    yield call, (f"the hook reads {name!r} when it fires: all hooks of this loop will see its last value",
                                 f"bind it: lambda ..., {name}={name}: ..., or functools.partial")
                    break


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
            yield call, (f"the hook returns `{ast.unparse(body)}`, which replaces the module's output",
                         "return None: write a function, or end the lambda with `, None)[1]`")


@rule("RG105", "backward hook that returns no tuple of the right kind")
def backward_returns(source: Source) -> Found:
    for call, name, _, hook in source.registrations():
        if name not in ("register_full_backward_hook", "register_full_backward_pre_hook"):
            continue
        f = source.function(hook)
        for value in results(f) if f is not None else ():
            if isinstance(value, ast.Tuple) and value.elts and all(returns_none(e) and not is_none(e) for e in value.elts):
                yield call, ("the hook returns a tuple of what the calls in it return (None): it is taken for gradients",
                             "write a function that returns nothing")
            elif isinstance(value, ast.BinOp) or (isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice)
                                                  and isinstance(value.value, ast.Name)):
                if not (isinstance(value, ast.BinOp) and any(isinstance(v, ast.Tuple) for v in (value.left, value.right))):
                    yield call, (f"the hook returns `{ast.unparse(value)}`, one tensor: a tuple is expected",
                                 f"return ({ast.unparse(value)},)")


@rule("RG106", "wrong number of arguments")
def signature(source: Source) -> Found:
    for call, name, _, hook in source.registrations():
        f = source.function(hook)
        if f is None or name not in ARITY or f.args.vararg is not None or f.args.kwarg is not None:
            continue
        if isinstance(f, ast.FunctionDef) and isinstance(source.parents.get(f), ast.ClassDef):
            continue
        want = ARITY[name][1 if keyword(call, "with_kwargs") else 0]
        names = parameters(f)
        least = len(names) - len(f.args.defaults)
        if not least <= want <= len(names):
            yield call, (f"{name} calls its hook with {want} arguments; this one takes "
                         f"{least if least == len(names) else f'{least} to {len(names)}'}",
                         "take what the hook is called with")


@rule("RG107", "registered again and again")
def in_training_loop(source: Source) -> Found:
    for call, name, on, _ in source.registrations():
        for loop in source.loops(call):
            inside = list(ast.walk(loop))
            trains = any(isinstance(n, ast.Call) and method_of(n) in ("backward", "step") for n in inside)
            removed = any(isinstance(n, ast.Call) and method_of(n) == "remove" for n in inside)
            parent = source.parents.get(call)
            made = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            fresh = on.partition(".")[0].partition("[")[0].partition("(")[0] in made
            if trains and not removed and not fresh and not isinstance(parent, ast.withitem):
                yield call, (f"{on}.{name} in a training loop adds one more hook in every round",
                             "register before the loop, or keep the handle and remove() it")
                break


@rule("RG108", "leaf lost by an op")
def leaf_lost(source: Source) -> Found:
    def wants(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and keyword(node, "requires_grad") is True

    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and (wants(node.left) or wants(node.right)):
            yield node, ("requires_grad=True is on an operand: the result is no leaf, and its .grad stays None",
                         "compute first, then call requires_grad_()")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and wants(node.func.value) and \
                node.func.attr in ("to", "cuda", "cpu", "float", "double", "half", "view", "reshape", "t", "clone", "type",
                                   "mul", "div", "add", "sub", "repeat", "expand", "transpose", "unsqueeze"):
            yield node, (f"requires_grad=True before .{node.func.attr}(...): the result is no leaf, and its .grad stays None",
                         "compute first, then call requires_grad_()")


@rule("RG109", "capture without detach")
def captured(source: Source) -> Found:
    for _, name, _, hook in source.registrations():
        f = source.function(hook)
        if f is None or name not in ("register_forward_hook", "register_forward_pre_hook"):
            continue
        held = set(parameters(f)[1:len(parameters(f)) - len(f.args.defaults)])
        nodes = ast.walk(f)
        for node in nodes:
            value: ast.AST | None = None
            if isinstance(node, ast.Call) and method_of(node) in ("append", "add", "__setitem__") and node.args:
                value = node.args[-1]
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
                value = node.value
            if isinstance(value, ast.Subscript):
                value = value.value
            if isinstance(value, ast.Name) and value.id in held:
                yield node, (f"{value.id!r} is stored with its graph, which stays in memory as long as it",
                             f"store {value.id}.detach() (and .clone() it if an in-place op follows)")


@rule("RG110", "parameter replaced after the optimizer took it")
def replaced(source: Source) -> Found:
    for call in source.calls:
        made = ast.unparse(call.func)
        if "optim." not in made or not call.args or "parameters" not in ast.unparse(call.args[0]):
            continue
        model = ast.unparse(call.args[0]).partition(".parameters")[0]
        scope = source.scope(call)
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and place(node) > place(call) and isinstance(node.targets[0], ast.Attribute) \
                    and isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("Parameter") \
                    and ast.unparse(node.targets[0]).startswith(model + "."):
                yield node, (f"{ast.unparse(node.targets[0])} is a new parameter, which the optimizer of line {call.lineno} "
                             "does not have", "make the optimizer afterwards, or change the parameter in place")


@rule("RG111", "hook on a list of modules")
def on_container(source: Source) -> Found:
    lists = {ast.unparse(n.targets[0]) for n in ast.walk(source.tree) if isinstance(n, ast.Assign)
             and isinstance(n.value, ast.Call) and method_of(n.value) in ("ModuleList", "ModuleDict")}
    for call, name, on, _ in source.registrations():
        if on in lists and "state_dict" not in name:
            yield call, (f"{on} is a list of modules, which is never called: the hook will not fire",
                         "put it on the elements, or on the module that runs them")


@rule("RG112", "hook on out_proj")
def on_out_proj(source: Source) -> Found:
    for call, name, on, _ in source.registrations():
        if on.endswith(".out_proj") and "state_dict" not in name:
            yield call, (f"{on} is never called by MultiheadAttention: the hook will not fire",
                         "put it on the attention module, or on out_proj.weight")


@rule("RG113", "both kinds of backward hook")
def mixed(source: Source) -> Found:
    seen: dict[tuple[ast.AST, str], str] = {}
    for call, name, on, _ in sorted(source.registrations(), key=lambda r: (r[0].lineno, r[0].col_offset)):
        if name in ("register_backward_hook", "register_full_backward_hook"):
            before = seen.setdefault((source.scope(call), on), name)
            if before != name:
                yield call, (f"{on} has a {before.removeprefix('register_')} already: both kinds on one module raise",
                             "use register_full_backward_hook for all")


@rule("RG114", "in-place activation in a hooked model")
def in_place(source: Source) -> Found:
    hooked = any(name in ("register_full_backward_hook", "register_full_backward_pre_hook")
                 for _, name, _, _ in source.registrations())
    for call in source.calls if hooked else ():
        if keyword(call, "inplace") is True:
            yield call, ("inplace=True edits the output of the module before it: with a full backward hook there this raises, "
                         "and what a forward hook kept of it changes", "leave inplace=True out")


@rule("RG115", "reentrant checkpoint")
def reentrant(source: Source) -> Found:
    for call in source.calls:
        if method_of(call) in ("checkpoint", "checkpoint_sequential") and keyword(call, "use_reentrant") is True:
            yield call, ("use_reentrant=True runs forward hooks twice, parameter hooks once per checkpoint, and gives no "
                         "gradients when no input requires grad", "use_reentrant=False")


@rule("RG116", "hook after torch.compile")
def compiled(source: Source) -> Found:
    models = {ast.unparse(c.args[0]): c for c in source.calls
              if ast.unparse(c.func) == "torch.compile" and c.args}
    for call, name, on, _ in source.registrations():
        for model, at in models.items():
            if place(call) > place(at) and (on == model or on.startswith((model + ".", model + "["))) \
                    and source.scope(call) is source.scope(at) and "state_dict" not in name:
                yield call, (f"{model} was compiled in line {at.lineno}: hooks added after its first call are ignored",
                             "register before compiling")


@rule("RG117", "model with a lambda hook is pickled")
def pickled(source: Source) -> Found:
    hooked = {on.partition(".")[0].partition("[")[0] for _, name, on, hook in source.registrations()
              if isinstance(hook, ast.Lambda) and name in ARITY}
    for call in source.calls:
        if ast.unparse(call.func) in ("torch.save", "pickle.dump", "pickle.dumps", "copy.deepcopy") and call.args \
                and isinstance(call.args[0], ast.Name) and call.args[0].id in hooked:
            name = call.args[0].id
            if method_of(call) == "deepcopy":
                yield call, (f"the copy of {name} has its hooks, too", "remove the hooks first")
            else:
                yield call, (f"{name} has a lambda as hook, which cannot be pickled",
                             f"save {name}.state_dict()")


@rule("RG118", "second backward")
def twice(source: Source) -> Found:
    blocks: list[Any] = [getattr(n, "body", None) for n in ast.walk(source.tree)]
    for body in [b for b in blocks if isinstance(b, list)]:
        freed: dict[str, int] = {}
        for statement in body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and method_of(call) == "backward" and isinstance(call.func, ast.Attribute):
                on = ast.unparse(call.func.value)
                if isinstance(call.func.value, ast.Name) and on in freed and on != "self":
                    yield call, (f"{on}.backward() again after line {freed[on]}: the graph was freed by the first",
                                 "backward(retain_graph=True) the first time, or compute it anew")
                if not (keyword(call, "retain_graph") or keyword(call, "create_graph")):
                    freed[on] = call.lineno
            else:
                for n in ast.walk(statement):
                    if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                        freed.pop(n.id, None)


@rule("RG119", "clipping in a hook, with accumulation")
def clip_in_hook(source: Source) -> Found:
    zeroing = sum(method_of(c) == "zero_grad" for c in source.calls)
    accumulates = any(isinstance(n, ast.If) and isinstance(n.test, ast.Compare) and "%" in ast.unparse(n.test) and any(
        isinstance(c, ast.Call) and method_of(c) in ("step", "zero_grad") for c in ast.walk(n)) for n in ast.walk(source.tree))
    for call, name, on, hook in source.registrations():
        f = source.function(hook)
        if name == "register_hook" and f is not None and accumulates and zeroing and any(
                isinstance(n, ast.Call) and method_of(n).startswith(("clamp", "clip")) for n in ast.walk(f)):
            yield call, (f"the hook of {on} clips each backward's gradient, and they are summed after that: the sum is not "
                         "clipped", "clip .grad before step(), with clip_grad_norm_")


@rule("RG120", "numbers in the loss")
def through_item(source: Source) -> Found:
    for call in source.calls:
        if method_of(call) in ("tensor", "as_tensor", "from_numpy", "FloatTensor") and call.args:
            for n in ast.walk(call.args[0]):
                if isinstance(n, ast.Call) and method_of(n) in ("item", "tolist", "numpy") and keyword(
                        call, "requires_grad") is True:
                    yield call, (f"a new leaf made of {method_of(n)}(): gradients end here",
                                 "keep the tensor itself")
                    break


@rule("RG121", "use of .data")
def data(source: Source) -> Found:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
            above = source.parents.get(node)
            on = ast.unparse(node.value)
            if isinstance(above, (ast.BinOp, ast.UnaryOp)) or (isinstance(above, ast.Call) and node in above.args):
                yield node, (f"{on}.data has no history, and edits of it are not noticed by backward",
                             f"use {on}, or {on}.detach() where no gradient is wanted")


def lint_source(text: str, file: str = "<string>", rules: Any = None) -> list[Problem]:
    """The problems in a source text, by line.  SyntaxError when it is not Python."""
    source = Source(text, file)
    found = []
    for number, (_, check) in RULES.items():
        if rules is None or number in rules:
            for node, (message, way_out) in check(source):
                found.append(Problem(file, getattr(node, "lineno", 1), number, message, way_out + "."))
    lines = text.splitlines()
    return sorted(p for p in set(found) if f"lint: {p.rule}" not in (lines[p.line - 1] if p.line <= len(lines) else ""))
