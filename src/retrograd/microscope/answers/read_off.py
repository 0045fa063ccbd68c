"""Where a number that was read off a tensor goes, as the source says: the graph knows nothing of numbers.

Two looks at the statements.  `Reach` is generous: names, attributes and functions that may have the number, in every scope
alike; what it does not reach was not computed with the number.  `sure` is strict: the number is in the statement itself, or in
a variable that nothing else was assigned to on the straight way there.  Conditions are no way: a derivative ends at them.
"""
from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Iterator
from typing import Any

from ..record.recording import Event, Recording

READS = {"item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__complex__"}
CALLED = {"__float__": ("float",), "__int__": ("int",), "__bool__": ("bool",), "__complex__": ("complex",)}
# Calls whose result, if any, is no number: what goes into them ends there.
SHOWN = {"print", "pprint", "str", "repr", "format", "isinstance", "type", "id", "len", "debug", "info", "warning", "error",
         "critical", "exception", "write", "writelines", "add_scalar", "add_scalars", "add_text", "set_postfix",
         "set_postfix_str", "set_description", "set_description_str"}
STORES = {"append", "add", "extend", "insert", "setdefault", "appendleft", "put"}       # of containers: they call nothing
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OPERATORS: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("add", "radd", "iadd"), ast.Sub: ("sub", "rsub", "isub"), ast.Mult: ("mul", "rmul", "imul"),
    ast.Div: ("div", "truediv", "rdiv", "rtruediv", "idiv", "itruediv"), ast.Pow: ("pow", "rpow", "ipow")}
INDEXES = ("__getitem__", "slice", "select", "index")           # ops of x[...]
FOLDERS = ("numpy", "torch", "retrograd", "math", "cmath", "statistics")


class Text:
    """A source file."""

    def __init__(self, tree: ast.Module) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.statements: list[ast.stmt] = []
        self.lines: dict[int, list[ast.stmt]] = {}      # what begins in a line, or goes on there; of blocks the heads
        self.loads: dict[str, list[tuple[ast.stmt, ast.AST]]] = {}      # where a name or attribute is read
        self.functions: dict[str, list[Any]] = {}
        self.modules = {"torch", "np"}                  # names of imported modules, and of what comes from those that compute
        todo: list[ast.AST] = [tree]
        while todo:
            node = todo.pop()
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                todo.append(child)
            if isinstance(node, ast.stmt):
                self.take(node)

    def take(self, statement: ast.stmt) -> None:
        self.statements.append(statement)
        nodes = list(own(statement))
        last = max((n.end_lineno for n in nodes if isinstance(n, ast.expr) and n.end_lineno), default=statement.lineno)
        for line in range(statement.lineno, max(last, statement.lineno) + 1):
            self.lines.setdefault(line, []).append(statement)
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                self.loads.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append((statement, node))
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            self.functions.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.Import):
            self.modules.update((a.asname or a.name).partition(".")[0] for a in statement.names)
        elif isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] in FOLDERS:
            self.modules.update(a.asname or a.name for a in statement.names)

    def at(self, line: int) -> list[ast.stmt]:
        """The statements on a line."""
        return self.lines.get(line, [])

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        while node in self.parents:
            if node is outer:
                return True
            node = self.parents[node]
        return node is outer

    def scope(self, node: ast.AST) -> Any:
        """The function around a node; None at the top."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (*FUNCTIONS, ast.Lambda)):
                return node
        return None

    def up(self, node: ast.AST, to: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """(child, parent) from a node up to the statement that it is in."""
        while node is not to:
            yield node, self.parents[node]
            node = self.parents[node]

    def ends(self, node: ast.AST, statement: ast.stmt) -> bool:
        """Does what is computed here end as text, or as a condition?"""
        for child, parent in self.up(node, statement):
            if isinstance(parent, ast.JoinedStr) or (isinstance(parent, ast.Call) and called(parent) in SHOWN):
                return True
            if isinstance(parent, ast.BinOp) and isinstance(parent.left, ast.Constant) and isinstance(parent.left.value, str):
                return True                             # "%f" % x
            if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and child is parent.test:
                return True
            if isinstance(parent, ast.comprehension) and child in parent.ifs:
                return True
        return False


def own(statement: ast.stmt) -> Iterator[ast.AST]:
    """Every expression of a statement; of a compound one, those of its head."""
    todo: list[ast.AST] = [c for c in ast.iter_child_nodes(statement)
                           if not isinstance(c, (ast.stmt, ast.ExceptHandler, ast.match_case, ast.arguments))]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(ast.iter_child_nodes(node))


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def base(node: ast.AST) -> str:
    """The name of what is changed when `node` is assigned to, or a method of it called."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def targets(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement itself assigns."""
    for node in own(statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield base(node)
        elif isinstance(node, ast.NamedExpr):
            yield base(node.target)
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        yield statement.name


def source(rec: Recording, site: int) -> Text | None:
    """The file that a site is in; None where it is not to be had.  Paths of a recording from a file may mean others here."""
    if site < 0 or rec.live is None:
        return None
    file, line, _ = rec.sites[site]
    texts = rec._sources
    if file not in texts:
        try:
            texts[file] = Text(ast.parse("".join(linecache.getlines(file)), file))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            texts[file] = None
    found: Text | None = texts[file]
    return found if found is not None and found.at(line) else None


def reads(text: Text, line: int, name: str) -> list[tuple[ast.stmt, list[ast.AST]]]:
    """Where on a line a tensor may be read by the method `name`, to be more than shown; anywhere if nobody can tell."""
    names = (name, *CALLED.get(name, ()))
    calls: list[tuple[ast.stmt, list[ast.AST]]]
    calls = [(s, [n for n in own(s) if isinstance(n, ast.Call) and called(n) in names]) for s in text.at(line)]
    if not any(nodes for _, nodes in calls):
        calls = [(s, [n for n in own(s) if isinstance(n, (ast.Name, ast.Attribute))]) for s in text.at(line)]
    found = [(s, [n for n in nodes if not text.ends(n, s)]) for s, nodes in calls]
    return [(s, nodes) for s, nodes in found if nodes]


def computed_with(rec: Recording, read: Event, later: dict[tuple[int, str], int]) -> bool | None:
    """Was one of the ops `later`, from on_the_way(), computed with the number that the op `read` gave?

    None: the source does not tell.
    """
    places = [place for place, last in later.items() if last > read.number]
    if not places:
        return False
    found = flow(rec, read.site, read.name)
    if found is None:
        return None
    met = {found[place] for place in places if place in found}
    return True if True in met else None if met else False


def flow(rec: Recording, site: int, name: str) -> dict[tuple[int, str], bool] | None:
    """Which ops on the way to a loss, by (site, name), a number read there may get to -> for certain?  None: nobody knows."""
    if rec.live is not None and rec._flows_of != len(rec.rows):     # it has grown
        rec._flows_of = len(rec.rows)
        rec.flows.clear()
    if (site, name) not in rec.flows:
        rec.flows[site, name] = None if rec.live is None else followed(rec, site, name)
    return rec.flows[site, name]


def on_the_way(rec: Recording) -> dict[tuple[int, str], int]:
    """The ops that made what backward passes began at, in order, by (site, name): the last of each."""
    from .graph_of import links
    link = links(rec)
    roots = [t for found in link.passes.values() for t in found["begin"].tensors]
    made = {rec.tensor_rows[t][1] for t in link.tensors_before(roots)}
    ops = [rec.events[i] for i in sorted(made) if i >= 0 and rec.rows[i][0] == "op"]
    return {(e.site, e.name): e.number for e in ops}


def followed(rec: Recording, site: int, name: str) -> dict[tuple[int, str], bool] | None:
    text = source(rec, site)
    if text is None:
        return None
    home, line, _ = rec.sites[site]
    places = on_the_way(rec)
    texts = {at: source(rec, at) for at, _ in places}
    reach = Reach(list(dict.fromkeys([text, *(t for t in texts.values() if t is not None)])))
    seeds = reads(text, line, name)
    for statement, nodes in seeds:
        reach.flows(text, statement, nodes)
    reach.spread()
    found = {}
    for at, op in places:
        its, (file, place, _) = texts[at], rec.sites[at] if at >= 0 else ("", -1, "")
        if its is None or reach.lost or (reach.foreign and file != home):
            found[at, op] = False
        if its is None:
            continue
        for statement in its.at(place):
            if any(statement is s for s, _ in seeds) or reach.touched(its, statement):
                found[at, op] = found.get((at, op), False) or (
                    its is text and any(sure(text, s, nodes, statement, op) for s, nodes in seeds))
    return found


class Reach:
    """The names that may have the number."""

    def __init__(self, texts: list[Text]) -> None:
        self.texts = texts
        self.names: set[str] = set()
        self.foreign = False                            # it was given to a function of another file
        self.lost = False                               # nobody knows where it went

    def touched(self, text: Text, statement: ast.stmt) -> bool:
        """Does a statement read one of the names, for more than to show it?"""
        return any(isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)
                   and (n.attr if isinstance(n, ast.Attribute) else n.id) in self.names and not text.ends(n, statement)
                   for n in own(statement))

    def spread(self) -> None:
        done: set[str] = set()
        while todo := self.names - done:
            done |= todo
            for text in self.texts:
                for name in todo:
                    for statement, node in text.loads.get(name, ()):
                        self.flows(text, statement, [node])

    def flows(self, text: Text, statement: ast.stmt, nodes: list[ast.AST]) -> None:
        """`statement` has the number at these nodes: who has it then?"""
        nodes = [n for n in nodes if not text.ends(n, statement)]
        if not nodes:
            return
        self.names.update(n for n in targets(statement) if n)
        if isinstance(statement, ast.Return) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own(statement)):
            function = text.scope(statement)
            if function is None or function.name.startswith("__") or function.name == "forward":
                self.lost = True                        # called by other names
            else:
                self.names.add(function.name)
        for node in nodes:
            for child, parent in text.up(node, statement):
                if isinstance(parent, ast.Call) and child is not parent.func:
                    self.given(text, parent)
                elif isinstance(parent, ast.keyword):
                    self.names.add(parent.arg or "")

    def given(self, text: Text, call: ast.Call) -> None:
        """A call has the number among its arguments."""
        name = called(call)
        for function in text.functions.get(name, ()):
            makers = [function] if isinstance(function, FUNCTIONS) else [
                f for f in function.body if isinstance(f, FUNCTIONS) and f.name in ("__init__", "__new__")]
            for f in makers:
                self.names.update(a.arg for a in ast.walk(f.args) if isinstance(a, ast.arg) and a.arg not in ("self", "cls"))
        if isinstance(call.func, ast.Attribute):
            if root(call.func) in text.modules:
                return
            self.names.add(base(call.func.value))
            self.foreign |= name not in STORES
        elif name not in text.functions and name not in text.modules and not hasattr(builtins, name):
            self.foreign = True


def root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def sure(text: Text, first: ast.stmt, nodes: list[ast.AST], last: ast.stmt, name: str) -> bool:
    """Is op `name` in statement `last` computed with what `first` has at one of the nodes?"""
    if first is last:
        return any(enters(text, n, first, name) for n in nodes)
    if not any(enters(text, n, first, "") for n in nodes) or text.scope(first) is not text.scope(last) and not isinstance(
            first, ast.Return):
        return False
    if isinstance(first, ast.Return):
        function = text.scope(first)
        if function is None or len(text.functions.get(function.name, ())) != 1 or sum(
                isinstance(n, ast.Return) and text.scope(n) is function for n in ast.walk(function)) != 1:
            return False
        for s in text.statements:
            calls: list[ast.AST] = [n for n in own(s) if isinstance(n, ast.Call) and called(n) == function.name]
            if calls and not text.inside(s, function) and sure(text, s, calls, last, name):
                return True
        return False
    if isinstance(first, ast.For) and isinstance(first.target, ast.Name):
        return carried(text, first.body, first.target.id, last, name)
    if isinstance(first, ast.Assign) and len(first.targets) == 1 and isinstance(first.targets[0], ast.Name):
        return onward(text, first, first.targets[0].id, last, name)
    if isinstance(first, ast.AugAssign) and isinstance(first.target, ast.Name):
        return onward(text, first, first.target.id, last, name)
    return False


def onward(text: Text, at: ast.AST, variable: str, last: ast.stmt, name: str) -> bool:
    """Does the variable, having the number after a statement, bring it to op `name` in `last`, perhaps after the loop?"""
    while at in text.parents and not isinstance(at, FUNCTIONS):
        parent: Any = text.parents[at]
        for suite in (getattr(parent, part, ()) for part in ("body", "orelse", "finalbody")):
            if isinstance(suite, list) and at in suite:
                rest = suite[suite.index(at) + 1:]
                if carried(text, rest, variable, last, name):
                    return True
                if any(variable in targets(t) for t in text.statements if any(text.inside(t, s) for s in rest)):
                    return False
        at = parent
    return False


def carried(text: Text, suite: list[ast.stmt], variable: str, last: ast.stmt, name: str) -> bool:
    """Does the variable, having the number before these statements, bring it to op `name` in `last`?"""
    for s in suite:
        uses: list[ast.AST] = [n for n in own(s) if isinstance(n, ast.Name) and n.id == variable and isinstance(n.ctx, ast.Load)]
        if uses and sure(text, s, uses, last, name):
            return True
        assigned = [t for t in text.statements if text.inside(t, s) and variable in targets(t)]
        if text.inside(last, s) and s is not last:
            uses = [n for n in own(last) if isinstance(n, ast.Name) and n.id == variable]
            return not assigned and text.scope(last) is text.scope(s) and any(enters(text, n, last, name) for n in uses)
        if assigned or s is last:
            return False
    return False


def enters(text: Text, node: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Is op `name` of a statement, or with no name its value, computed with what is at a node, by arithmetic and known calls?"""
    held = False                                        # in a tuple or list
    for child, parent in text.up(node, statement):
        if isinstance(parent, ast.BinOp):
            if is_op(name, parent.op):
                return True
        elif isinstance(parent, ast.Call):
            by = called(parent)
            if child is not parent.func:
                if by == name:
                    return True
                if by in SHOWN or not (hasattr(builtins, by) or root(parent.func) in text.modules):
                    return False
                held = False
        elif isinstance(parent, ast.Subscript) and child is parent.slice:
            if name in INDEXES:
                return True
        elif isinstance(parent, (ast.Tuple, ast.List, ast.ListComp, ast.GeneratorExp)):
            held = True
        elif not isinstance(parent, (ast.UnaryOp, ast.Attribute, ast.Starred, ast.keyword, ast.comprehension, ast.stmt,
                                     ast.Slice)):
            return False
    if isinstance(statement, ast.AugAssign) and name:
        return is_op(name, statement.op)
    return not name and not held


def is_op(name: str, op: ast.operator) -> bool:
    """Is the event of this name made by that operator?"""
    return bool(name) and name.strip("_") in OPERATORS.get(type(op), ())
