"""A graph as Python: a line for each node, which also drops what is used there for the last time."""
from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from retrograd._ops import OpOverload
from retrograd._tensor import Tensor
from retrograd._tensor.dtypes import device as device_type
from retrograd.fx._naming import BUILTINS, Namespace, is_from_torch, qualified_name, torch, type_name
from retrograd.fx.node import Node
from retrograd.utils import _pytree as pytree

reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}",
    "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}",
    "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}",
    "neg": "-{}", "invert": "~{}", **reflectable_magic_methods,
}
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}
COLORS = {"red": "\033[31m", "dim_green": "\033[2m\033[32m", "dim": "\033[2m", "dim_blue": "\033[2m\033[34m",
          "blue": "\033[34m"}
OLD_GENERICS: dict[Any, Any] = {list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet,  # noqa: UP006
                                tuple: typing.Tuple}  # noqa: UP006


@dataclass
class PythonCode:
    """The source of a function, and the globals that it reads."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


class CodeGen:
    """How a graph becomes source; subclasses may change the function's head and its return."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The head: def forward(self, x):"""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if not expanded_def:
            return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"
        lines = []
        for text in free_vars:
            code, mark, comment = text.partition("#")
            lines.append(f"    {code.rstrip()},  # {comment.lstrip()}\n" if mark else f"    {text},\n")
        return f"def {self._func_name}(\n{''.join(lines)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] | None = None) -> str:
        """The return statement."""
        return "return " + listed(output_args, descs, repr_fn or repr)

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as inputs of the graph."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The graph's result as the function's."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """More that the source reads: (name, value)."""
        return []

    def _gen_python_code(self, nodes: Any, root_module: str, namespace: Namespace, **options: Any) -> PythonCode:
        return _Writer(self, root_module, namespace, **options).write(list(nodes))


def listed(values: Any, descs: Any, repr_fn: Callable[[Any], str]) -> str:
    """repr of the values; with descriptions a line for each."""
    if descs is None or not isinstance(values, (list, tuple)):
        return repr_fn(values)
    left, right = "()" if isinstance(values, tuple) else "[]"
    return f"{left}\n" + "".join(f"    {repr_fn(x)},  # {d}\n" for x, d in zip(values, descs)) + right


class _PyTreeInfo(NamedTuple):
    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """For a function whose arguments and result are containers of what the graph takes and gives."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, outputs: Any) -> Any:
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return outputs
        return pytree.tree_unflatten(outputs if isinstance(outputs, (list, tuple)) else [outputs], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        names = self.pytree_info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        head = super().gen_fn_def(names[:], maybe_return_annotation, expanded_def=expanded_def)
        return head + self.gen_var_bindings(names, free_vars, expanded_def) if free_vars else head

    def gen_var_bindings(self, fn_args: list[str], free_vars: list[str], expanded_def: bool) -> str:
        """The line that takes the arguments apart."""
        spec = self.pytree_info.in_spec
        given = f"[{', '.join(fn_args)}], self._in_spec"
        kinds = [child.type for child in spec.children_specs]
        if spec.type is tuple and kinds == [tuple, dict]:
            places, names = spec.children_specs
            by_place, by_name = self.pytree_info.orig_args[:places.num_children], self.pytree_info.orig_args[places.num_children:]
            pairs = ", ".join(f"'{k}':{v}" for k, v in zip(names.context, by_name))
            given = f"([{', '.join(by_place)}], {{{pairs}}}), self._in_spec"
        typed = [x for x in free_vars if ":" in x]
        notes = ""
        if typed:
            notes = "\n    " + ("\n    ".join(typed) if expanded_def else "".join(f"{x}; " for x in typed) + "\n")
        left = ", ".join(x.split(":")[0].split("#")[0] for x in free_vars)
        return f"{notes}\n    {left}, = fx_pytree.tree_flatten_spec({given})"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] | None = None) -> str:
        if not (self.pytree_info and self.pytree_info.out_spec):
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({listed(output_args, descs, repr_fn or repr)}, self._out_spec)"


class _Writer:
    """What becomes of one graph."""

    def __init__(self, codegen: CodeGen, root_module: str, namespace: Namespace, verbose: bool = False,
                 include_stride: bool = False, include_device: bool = False, colored: bool = False, expanded_def: bool = False,
                 record_func: bool = False, additional_meta: list[str] | None = None) -> None:
        self.codegen, self.root, self.namespace = codegen, root_module, namespace
        self.verbose, self.stride, self.device, self.expanded = verbose, include_stride, include_device, expanded_def
        self.colored, self.more = colored, additional_meta or ()
        self.body: list[str] = []
        self.inputs: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        self.said = ""

    def write(self, nodes: list[Node]) -> PythonCode:
        for name, (_, value) in BUILTINS.items():
            self.known(name, value)
        last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(nodes):
            for used in node._input_nodes:
                if used not in seen:
                    seen.add(used)
                    last_uses.setdefault(node, []).append(used)
        for i, node in enumerate(nodes):
            if self.verbose:
                self.source_of(node)
            self.body.append(f"# COUNTER: {i}\n")
            self.line(node)
            if node.op == "placeholder":
                continue
            gone = [] if node.op == "output" else last_uses.get(node, []) + ([] if node.users else [node])
            dropped = " = ".join([*map(repr, gone), "None"])
            self.body.append(f";  {self.color('dim', dropped)}\n" if gone else "\n")
        body = self.body or ["pass\n"]
        wraps = ""
        if self.wrapped:
            wrap = self.known("wrap", torch().fx.wrap)
            wraps = "\n".join(f'{wrap}("{name}")' for name in self.wrapped)
        if self.codegen._body_transformer:
            body = self.codegen._body_transformer(body)
        for name, value in self.codegen.additional_globals():
            self.known(name, value)
        head = accepting(self.codegen.gen_fn_def)(self.inputs, self.returns, expanded_def=self.expanded)
        numbers: dict[int, int | None] = {}
        lines: list[str] = []
        at = None
        for text in "".join(body).split("\n"):
            counter = re.search(r"# COUNTER: (\d+)", text)
            if counter is not None:
                at = int(counter.group(1))
            else:
                numbers[len(lines) + head.count("\n") + 1] = at
                lines.append(text)
        code = "\n".join("    " + text for text in "\n".join(lines).lstrip("\n").split("\n"))
        return PythonCode(f"\n{wraps}\n\n{head}\n{code}", self.globals, numbers, wraps.count("\n") + 4)

    def known(self, hint: str, value: Any) -> str:
        """The name by which the source reads something that is no value of the graph."""
        if is_from_torch(value) and value is not device_type:
            return type_name(value) if isinstance(value, type) else qualified_name(value)
        name = self.namespace.create_name(hint, value)
        assert name not in self.globals or self.globals[name] == value, (
            f"Global name {name} already assigned to different object")
        self.globals[name] = value
        return name

    def type(self, kind: Any) -> str:
        if kind == ():
            return "()"
        name = type_name(kind)
        if isinstance(kind, types.UnionType) and "|" in name:
            return "|".join(map(self.type, typing.get_args(kind)))
        origin = getattr(kind, "__origin__", None)
        if not origin:
            return self.known(name, kind)
        if isinstance(kind, typing._GenericAlias):  # type: ignore[attr-defined]
            origin = OLD_GENERICS.get(origin, origin)
        base = self.known(type_name(origin), origin)
        inside = typing.get_args(kind)
        return f"{base}[{','.join(map(self.type, inside))}]" if inside else base

    def color(self, name: str, text: str) -> str:
        return f"{COLORS[name]}{text}\033[0m" if self.colored else text

    def value(self, arg: Any) -> str:
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.known(qualified_name(type(arg)), type(arg))}{tuple(arg)!r}"
        if isinstance(arg, enum.Enum):
            return f"{self.known(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, Tensor):
            return f"torch.Tensor(size={list(arg.size())}, dtype={str(arg.dtype).split('.')[-1]})"
        if isinstance(arg, (list, tuple)):
            items = ", ".join(map(self.value, arg))
            return f"[{items}]" if isinstance(arg, list) else f"({items},)" if len(arg) == 1 else f"({items})"
        if isinstance(arg, slice):
            return f"slice({self.value(arg.start)}, {self.value(arg.stop)}, {self.value(arg.step)})"
        if isinstance(arg, OpOverload):
            return self.known(qualified_name(arg), arg)
        return self.color("blue", repr(arg))

    def arguments(self, args: Any, kwargs: Any) -> str:
        return ", ".join([*map(self.value, args), *(f"{k} = {self.value(v)}" for k, v in kwargs.items())])

    def line(self, node: Node) -> None:
        kind = "" if node.type is None else f" : {self.type(node.type)}"
        if self.verbose:
            kind = self.metadata(node) or kind
        desc = node.meta.get("desc") if self.expanded else None
        args, name = node.args, repr(node)
        if node.op == "placeholder":
            default = f" = {self.value(args[0])}" if args else ""
            self.inputs.append(f"{node.target}{kind}{default}" + (f"  # {desc}" if desc is not None else ""))
            if (raw := node.target.replace("*", "")) != name:
                self.body.append(f"{name} = {raw}\n")
        elif node.op == "call_method":
            self.body.append(f"{name}{kind} = {path(self.value(args[0]), node.target)}({self.arguments(args[1:], node.kwargs)})")
        elif node.op == "call_module":
            self.body.append(f"{name}{kind} = {path(self.root, node.target)}({self.arguments(args, node.kwargs)})")
        elif node.op == "get_attr":
            self.body.append(f"{name}{kind} = {path(self.root, node.target)}")
        elif node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type(node.type)}"
            self.body.append(accepting(self.codegen.generate_output)(args[0], descs=desc, repr_fn=self.value))
        else:
            self.call(node, name, kind)

    def call(self, node: Node, name: str, kind: str) -> None:
        target, args = node.target, node.args
        if getattr(target, "__module__", "") == "_operator":
            if target.__name__ in magic_methods:
                self.body.append(f"{name}{kind} = {magic_methods[target.__name__].format(*map(self.value, args))}")
                return
            if target.__name__ in inplace_methods:
                self.body.append(f"{inplace_methods[target.__name__].format(*map(self.value, args))};  "
                                 f"{name}{kind} = {self.value(args[0])}")
                return
        function = self.known(qualified_name(target), target)
        if function == "getattr" and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
            self.body.append(f"{name}{kind} = {path(self.value(args[0]), args[1])}")
            return
        self.body.append(f"{name}{kind} = {function}({self.arguments(args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(function)

    def metadata(self, node: Node) -> str:
        """: "f32[2, 3]", where a pass noted what the value was."""
        from retrograd.fx.passes.shape_prop import TensorMetadata
        from retrograd.utils._dtype_abbrs import dtype_abbrs

        value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        if isinstance(value, TensorMetadata):
            return f': "{dtype_abbrs[value.dtype]}{list(value.shape)}"'
        if not isinstance(value, Tensor):
            return ""
        text = (self.color("red", dtype_abbrs[value.dtype]) + self.color("blue", str(list(value.shape)))
                + self.color("dim_blue", str(list(value.stride())) if self.stride else "")
                + self.color("dim_green", str(value.device) if self.device else ""))
        return f': "{text}"' if type(value) is Tensor else f': "{type(value).__name__}({text})"'

    def source_of(self, node: Node) -> None:
        """A comment: the line of the program that made the node."""
        if node.op in ("placeholder", "output"):
            return
        parts = [f"{key}: {node.meta[key]}" for key in self.more if key in node.meta]
        notes = {k: v if len(str(v)) <= 40 else str(v)[:40] + "..." for k, v in node.meta.get("custom", {}).items()}
        where = "No stacktrace found for following nodes"
        lines = (node.stack_trace or "").strip().split("\n")
        for text, code in reversed(list(zip(lines, lines[1:]))):
            found = re.match(r'^File "(.+)", line (\d+), in (.+)$', text.strip())
            if found:
                where = f"File: {found[1]}:{found[2]} in {found[3]}, code: {code.strip()}"
                break
        comment = (f"# {', '.join(parts)} " if parts else "") + "#" + (f" Annotation: {notes}" if notes else "") + f" {where}"
        text = f"\n{self.color('dim', comment)}\n"
        if text != self.said:
            self.said = text
            self.body.append(text)


def path(base: str, target: str) -> str:
    """base.a.b; getattr(base, "0") for what is no name"""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def accepting(method: Callable[..., Any]) -> Callable[..., Any]:
    """method, given no keywords that it does not take: subclasses of CodeGen may be older than they."""
    taken = inspect.signature(method).parameters
    return lambda *args, **kwargs: method(*args, **{k: v for k, v in kwargs.items() if k in taken})


PythonCode.__module__ = CodeGen.__module__ = "retrograd.fx.graph"       # where users find them
