"""A source file as the rules of lint_static.py see it: registrations of hooks, and which function a hook is."""
from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
# what registers which kind of hook, and how many arguments its hooks get: (plain, with_kwargs)
ARITY = {
    "register_forward_pre_hook": (2, 3), "register_forward_hook": (3, 4), "register_full_backward_hook": (3, 3),
    "register_full_backward_pre_hook": (2, 2), "register_backward_hook": (3, 3), "register_prehook": (1, 1),
    "register_post_accumulate_grad_hook": (1, 1), "register_state_dict_pre_hook": (3, 3),
    "register_state_dict_post_hook": (4, 4), "register_load_state_dict_pre_hook": (8, 8),
    "register_load_state_dict_post_hook": (2, 2), "register_step_pre_hook": (3, 3), "register_step_post_hook": (3, 3),
    "register_multi_grad_hook": (1, 1), "register_module_forward_pre_hook": (2, 2), "register_module_forward_hook": (3, 4),
    "register_module_full_backward_hook": (3, 3), "register_module_full_backward_pre_hook": (2, 2),
    "register_module_backward_hook": (3, 3), "register_optimizer_step_pre_hook": (3, 3),
    "register_optimizer_step_post_hook": (3, 3),
}
# an optimizer's methods of the same names
OF_OPTIMIZERS = {"register_state_dict_pre_hook": 1, "register_state_dict_post_hook": 2, "register_load_state_dict_pre_hook": 2,
                 "register_load_state_dict_post_hook": 1}
REGISTER = {*ARITY, "register_hook"}


@dataclass(frozen=True)
class Hook:
    """The function that runs as a hook.

    names   of its positional parameters that the call of the hook fills
    least   how many of them have no default
    open    it takes any number, or nobody knows
    bound   names of the functions around it up to the one that registers: no variables of a loop there
    """

    f: ast.Lambda | ast.FunctionDef
    names: tuple[str, ...]
    least: int
    open: bool
    bound: frozenset[str] = frozenset()


class Source:
    """A parsed file, with what the rules ask of it."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.tree = ast.parse(text, file)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: list[ast.AST] = list(ast.walk(self.tree))
        for node in self.nodes:
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self.calls = [n for n in self.nodes if isinstance(n, ast.Call)]
        self._bindings: dict[ast.AST, dict[str, list[ast.AST]]] = {}
        self._registrations = list(self.find_registrations())

    def registrations(self) -> list[tuple[ast.Call, str, str, ast.AST]]:
        """(call, method, the object's text, the hook) of every register_*hook."""
        return self._registrations

    def find_registrations(self) -> Iterator[tuple[ast.Call, str, str, ast.AST]]:
        for call in self.calls:
            name = method_of(call)
            if name in REGISTER:
                place = 1 if name == "register_multi_grad_hook" else 0
                hook: ast.AST | None = call.args[place] if len(call.args) > place else next(
                    (k.value for k in call.keywords if k.arg in ("hook", "fn")), None)
                if hook is not None:
                    on = text_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
                    yield call, name, on, hook

    # -- names

    def scopes(self, node: ast.AST) -> Iterator[ast.AST]:
        """The functions around a node, then the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.Module)):
                yield node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function or module around a node."""
        return next((s for s in self.scopes(node) if not isinstance(s, ast.Lambda)), self.tree)

    def bindings(self, scope: ast.AST) -> dict[str, list[ast.AST]]:
        """What gives each name of a scope its value, in the order of the lines."""
        found = self._bindings.get(scope)
        if found is not None:
            return found
        found = self._bindings[scope] = {}
        if isinstance(scope, (*FUNCTIONS, ast.Lambda)):
            for a in ast.walk(scope.args):
                if isinstance(a, ast.arg):
                    found.setdefault(a.arg, []).append(a)
        body = getattr(scope, "body", [])
        todo: list[ast.AST] = list(reversed(body)) if isinstance(body, list) else [body]
        while todo:
            node = todo.pop()
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                found.setdefault(node.name, []).append(node)
                continue
            if isinstance(node, ast.Lambda):
                continue
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                above = self.parents[node]
                found.setdefault(node.id, []).append(above if isinstance(above, (ast.Assign, ast.AnnAssign)) else node)
            elif isinstance(node, ast.alias):
                found.setdefault((node.asname or node.name).partition(".")[0], []).append(node)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.setdefault(node.name, []).append(node)
            todo.extend(reversed(list(ast.iter_child_nodes(node))))
        return found

    def bound(self, node: ast.AST) -> list[ast.AST]:
        """What a name that is read may have been given."""
        assert isinstance(node, ast.Name)
        for scope in self.scopes(node):
            found = self.bindings(scope).get(node.id)
            if found:
                return found
        return []

    # -- hooks

    def hook(self, node: ast.AST, depth: int = 0) -> Hook | None:
        """The function that a hook is, when this file has it and leaves no doubt."""
        if depth > 6:
            return None
        if isinstance(node, ast.Lambda):
            return taking(node)
        if isinstance(node, ast.Name):
            found = self.bound(node)
            if len(found) > 1 and all(isinstance(f, ast.FunctionDef) for f in found):
                if self.scope(found[0]) is not self.scope(node):
                    return None                         # which of them it is then, who knows
                found = [f for f in found if place(f) < place(node)][-1:]
            return self.made(found[0], depth) if len(found) == 1 else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            return self.method(node)
        return self.of_call(node, depth) if isinstance(node, ast.Call) else None

    def made(self, node: ast.AST, depth: int) -> Hook | None:
        if isinstance(node, ast.FunctionDef):
            known = all(text_of(d).rpartition(".")[2].partition("(")[0] in ("no_grad", "enable_grad", "inference_mode", "disable")
                        for d in node.decorator_list)
            return taking(node) if known else None
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            return self.hook(node.value, depth + 1)
        return None

    def method(self, node: ast.Attribute) -> Hook | None:
        """self.f, of the class around."""
        above: ast.AST = node
        while above in self.parents and not isinstance(above, ast.ClassDef):
            above = self.parents[above]
        found = [f for f in getattr(above, "body", ()) if isinstance(f, FUNCTIONS) and f.name == node.attr]
        if not isinstance(above, ast.ClassDef) or len(found) != 1 or not isinstance(found[0], ast.FunctionDef):
            return None
        decorators = [text_of(d) for d in found[0].decorator_list]
        if decorators not in ([], ["staticmethod"], ["classmethod"]):
            return None
        return taking(found[0], 0 if decorators == ["staticmethod"] else 1)

    def of_call(self, node: ast.Call, depth: int) -> Hook | None:
        """partial(f, ...), or a factory: a function of this file whose result is a function that it made."""
        if method_of(node) == "partial" and node.args and not any(isinstance(a, ast.Starred) for a in node.args):
            inner = self.hook(node.args[0], depth + 1)
            if inner is None or any(k.arg is None for k in node.keywords):
                return None
            names = inner.names[len(node.args) - 1:]
            given = [names.index(k.arg) for k in node.keywords if k.arg in names]
            left = names[:min(given, default=len(names))]
            return Hook(inner.f, left, min(max(inner.least - len(node.args) + 1, 0), len(left)), inner.open, inner.bound)
        maker = self.hook(node.func, depth + 1)
        if maker is None:
            return None
        returned = results(maker.f)
        inner = self.hook(returned[0], depth + 1) if len(returned) == 1 else None
        if inner is None:
            return None
        return Hook(inner.f, inner.names, inner.least, inner.open, inner.bound | frozenset(self.bindings(maker.f)))

    def loops(self, node: ast.AST) -> Iterator[ast.For | ast.While]:
        """The loops around a node, within its function."""
        while node in self.parents:
            before, node = node, self.parents[node]
            if isinstance(node, (*FUNCTIONS, ast.Lambda)):
                return
            if isinstance(node, (ast.For, ast.While)) and before in node.body:
                yield node


def taking(f: ast.Lambda | ast.FunctionDef, first: int = 0) -> Hook:
    """How a function is called; its first parameters may be given already."""
    names = tuple(a.arg for a in (*f.args.posonlyargs, *f.args.args))
    needed = any(d is None for d in f.args.kw_defaults)
    return Hook(f, names[first:], max(len(names) - len(f.args.defaults) - first, 0),
                f.args.vararg is not None or f.args.kwarg is not None or needed)


def text_of(node: ast.AST) -> str:
    """The source of an expression; of one that nobody would write, nothing."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


def method_of(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def keyword(call: ast.Call, name: str) -> Any:
    return next((k.value.value for k in call.keywords if k.arg == name and isinstance(k.value, ast.Constant)), None)


def results(f: ast.Lambda | ast.FunctionDef) -> list[ast.expr]:
    """What a hook returns; not what functions inside it return."""
    if isinstance(f, ast.Lambda):
        return [f.body]
    found: list[ast.expr] = []
    todo: list[ast.AST] = list(f.body)
    while todo:
        node = todo.pop()
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        todo.extend(ast.iter_child_nodes(node))
    return found


# -- notebooks


def of_notebook(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The code of a notebook's cells as one text; of every line of it, (number of the cell, line in the cell).

    Lines for IPython (%, !, ?) are left out, as are cells in another language (%%).  ValueError when it is no notebook, or a
    cell is no Python.
    """
    try:
        found = json.loads(text)
        cells = found["cells"] if "cells" in found else found["worksheets"][0]["cells"]
        codes = [(n, "".join(c.get("source", c.get("input", ())))) for n, c in enumerate(cells, 1) if c["cell_type"] == "code"]
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(f"not a notebook: {type(error).__name__}: {error}") from None
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for number, code in codes:
        cell = python_of(code.splitlines())
        try:
            ast.parse("\n".join(cell))
        except SyntaxError as error:
            raise ValueError(f"cell {number}, line {error.lineno}: {error.msg}") from None
        lines.extend(cell)
        places.extend((number, i + 1) for i in range(len(cell)))
    return "\n".join(lines) + "\n", places


MAGIC = re.compile(r"\s*(%|!|\?|[\w.]+\?{1,2}\s*$|[\w.,\s]+=\s*[%!])")
OURS = ("%%time", "%%capture", "%%prun")                # the rest of the cell is Python


def python_of(lines: list[str]) -> list[str]:
    """The lines of a cell without what is for IPython."""
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(OURS):
        return [""] * len(lines)
    found = list(lines)
    for _ in lines:
        try:
            ast.parse("\n".join(found))
            break
        except SyntaxError as error:                    # the first line that Python does not know
            n = (error.lineno or 0) - 1
            if not 0 <= n < len(found) or not MAGIC.match(found[n]):
                break
            found[n] = found[n][:len(found[n]) - len(found[n].lstrip())] + "pass"
    return found
