"""A plugin of mypy, hence of mypyc: gives op classes the fields of `_engine/reads.py`, as if each class said so itself.

So a compiled op has them in its struct; in the pure build `Node.__init_subclass__` sets them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mypy.nodes import AssignmentStmt, IntExpr, NameExpr
from mypy.plugin import ClassDefContext, Plugin, ReportConfigContext

TABLE = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_engine" / "reads.py"


def table() -> dict[str, dict[str, dict[str, int]]]:
    values = [item.value for item in ast.parse(TABLE.read_text(encoding="utf-8")).body if isinstance(item, ast.AnnAssign)]
    found: dict[str, dict[str, dict[str, int]]] = ast.literal_eval(values[0]) if values[0] is not None else {}
    return found


class Reads(Plugin):
    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.table = table()

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        return self.table.get(ctx.id)           # a module is looked at again when its part changes

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        module, _, name = fullname.rpartition(".")
        return self.declare if name in self.table.get(module, {}) else None

    def declare(self, ctx: ClassDefContext) -> None:
        """Called before the body is looked at, perhaps more than once."""
        module, _, name = ctx.cls.fullname.rpartition(".")
        body = ctx.cls.defs.body
        there = {s.lvalues[0].name for s in body if isinstance(s, AssignmentStmt) and isinstance(s.lvalues[0], NameExpr)}
        for field, value in self.table[module][name].items():
            if field not in there:
                kind = ctx.api.named_type("builtins.int" if field == "reads" else "mypy_extensions.u8")
                made = AssignmentStmt([NameExpr(field)], IntExpr(value), kind)
                for node in (made, *made.lvalues, made.rvalue):
                    node.set_line(ctx.cls)
                body.insert(0, made)


def plugin(version: str) -> type[Plugin]:
    return Reads
