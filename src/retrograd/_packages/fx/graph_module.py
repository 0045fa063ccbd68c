"""A graph as a Module, whose forward is generated from it."""
from __future__ import annotations

import copy
import itertools
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from retrograd._tensor import Tensor
from retrograd.fx._naming import BUILTINS, ours, torch
from retrograd.fx.graph import Graph, PythonCode, _PyTreeCodeGen
from retrograd.nn.module import Module
from retrograd.nn.parameter import Parameter

__all__ = ["GraphModule", "reduce_graph_module"]
_keys = itertools.count()
HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")
PLAIN_LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


def _forward_of(source: str, names: dict[str, Any], co_fields: dict[str, Any]) -> Any:
    """The function `forward` that a source defines; tracebacks and inspect see its lines."""
    key = f"<eval_with_key>.{next(_keys)}"
    if co_fields:
        key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    linecache.cache[key] = len(source), None, source.splitlines(True), key
    scope = names.copy()
    exec(compile(source, key, "exec", dont_inherit=True), scope)
    return scope.pop("forward")


def _imports(names: dict[str, Any]) -> str:
    """The imports of a file that defines the function."""
    lines = {BUILTINS[name][0] if name in BUILTINS else "import retrograd as torch" if ours(name)
             else f"from {value.__module__} import {value.__qualname__} as {name}" for name, value in names.items()}
    return "\n".join(sorted(lines))


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Any:
    """A GraphModule from its pickle: its forward is traced again."""
    return _traced_again(body, _forward_of(import_block + body["_code"], {}, {}))


def _traced_again(body: dict[str, Any], forward: Any) -> Any:
    from retrograd.fx._symbolic_trace import Tracer

    base: Any = body.get("_tracer_cls") or Tracer

    class KeepModules(base):  # type: ignore[misc]
        def is_leaf_module(self, _: Any, __: str) -> bool:
            return True

    class Code(_CodeOnlyModule):
        pass
    Code.forward = forward
    holder = Code(body)
    graph = KeepModules().trace(holder, **body.get("_tracer_extras", {}))
    graph._tracer_cls = base
    made = GraphModule(holder, graph, body.get("_graphmodule_cls_name", "GraphModule"))
    for name, value in body.items():
        if not hasattr(made, name):
            setattr(made, name, value)
    return made


class _CodeOnlyModule(Module):
    """A module of these attributes, whose forward is a function that was generated."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _parent(module: Any, path: list[str]) -> Any:
    """The submodule at `path`, made where there is none."""
    for name in path:
        found = getattr(module, name, None)
        if found is None:
            found = Module()
            setattr(module, name, found)
        module = found
    return module


def _put(value: Any, module: Any, name: str) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _copy_attr(origin: Any, module: Any, target: str) -> None:
    """Give module what origin has at a dotted path."""
    *path, name = target.split(".")
    for part in path:
        found, here = getattr(origin, part), getattr(module, part, None)
        if found is here:
            return
        if here is None:
            here = Module()
            setattr(module, part, here)
        origin, module = found, here
    _put(getattr(origin, name), module, name)


class _Call:
    """A call of a GraphModule: an error in the generated function is shown at its line."""

    def __init__(self, cls: Any, own: Any) -> None:
        self.cls, self.own = cls, own

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.own is not None:
                return self.own(obj, *args, **kwargs)
            above: Any = super(self.cls, obj)
            return above.__call__(*args, **kwargs)
        except Exception as e:
            last = traceback.extract_tb(e.__traceback__)[-1]
            if "eval_with_key" not in last.filename:
                raise
            number, lines = last.lineno or 1, linecache.getlines(last.filename)
            sys.stderr.write("\n".join([
                traceback.format_exc(),
                f"Call using an FX-traced Module, line {number} of the traced Module's generated forward function:",
                "".join(lines[max(number - 2, 0):number]), "~" * len(last.line or "") + "~~~ <--- HERE",
                "\n".join(lines[number:number + 2])]) + "\n")
            raise e.with_traceback(None)  # noqa: B904


class GraphModule(Module):
    """A Module that executes a graph: `graph`, and `code`, the forward that is generated from it.

    root        the Module, or the dict by paths, from which it takes what the graph refers to
    After changes of the graph, call recompile().
    https://pytorch.org/docs/stable/fx.html#torch.fx.GraphModule
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        base = next(c for c in cls.__mro__ if c.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[misc,valid-type]  # each has a forward of its own
            pass
        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [node for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = getattr(root, "training", True)
            if isinstance(root, _CodeOnlyModule):
                for members in (root.named_children(), root.named_buffers(), root.named_parameters()):
                    for name, _ in members:
                        _copy_attr(root, self, name)
            for node in targets:
                _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            for node in targets:
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!")
            for target in sorted([node.target for node in targets], key=lambda t: t.count(".")):
                *path, name = target.split(".")
                _put(root[target], _parent(self, path), name)
        else:
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        self.graph = graph
        cls = graph._tracer_cls
        self._tracer_cls = cls if cls and "<locals>" not in cls.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        for hooks in HOOKS:
            setattr(self, hooks, [])
        self.shape_env = None

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one generates the code again."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        assert isinstance(g, Graph), f"Expected a Graph instance, but got {type(g)}"
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of forward."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Generate forward again, from the graph as it is now."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        self._lineno_map, self._prologue_start = made._lineno_map, made._prologue_start
        cls: Any = type(self)
        cls.forward = _forward_of(made.src, made.globals, self._graph._co_fields)
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _Call(cls, vars(cls).get("__call__"))
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()
        cls.__call__ = _call_wrapped
        return made

    # Submodules by path

    def add_submodule(self, target: str, m: Any) -> bool:
        """Put a module at a dotted path; False where something else is in the way."""
        *path, name = target.split(".")
        at: Any = self
        for part in path:
            at = _parent(at, [part])
            if not isinstance(at, Module):
                return False
        at.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a dotted path; False where there is none."""
        *path, name = target.split(".")
        at: Any = self
        for part in path:
            at = getattr(at, part, None)
            if not isinstance(at, Module):
                return False
        if not isinstance(getattr(at, name, None), Module):
            return False
        delattr(at, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules to which no node refers."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(node.target.split("."), lambda a, b: f"{a}.{b}"))
            if node.op == "call_module":
                try:
                    inside = self.get_submodule(node.target).named_modules()
                except AttributeError:
                    continue
                used.update(f"{node.target}.{name}" for name, _ in inside if name)
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # Copies and files

    def __reduce__(self) -> Any:
        body = self.__dict__.copy()
        made = self.recompile()
        del body["_graph"]
        return reduce_graph_module, (body, _imports(made.globals))

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made: GraphModule = type(self).__new__(type(self))
        memo[id(self)] = made
        holder = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        GraphModule.__init__(made, holder, holder.__dict__["_graph"])
        for name in ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", *HOOKS):
            if name in self.__dict__:
                setattr(made, name, copy.deepcopy(self.__dict__[name], memo))
        made.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in made.meta.get("_user_preserved_attributes", {}).items():
            setattr(made, name, value)
        for hook in self._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph)
        made.meta = getattr(self, "meta", {})
        return made

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write a package that defines the module as a class `module_name`, with its parameters."""
        place = Path(folder)
        place.mkdir(exist_ok=True)
        torch().save(self.state_dict(), place / "state_dict.pt")
        lines, blobs = [], []
        for name, module in self.named_children():
            if type(module).__name__ in PLAIN_LAYERS:
                lines.append(f"setattr(self, {name!r}, {module!r})")
                continue
            blobs.append(name)
            torch().save(module, place / f"{name}.pt")
            lines.append(f"setattr(self, {name!r}, torch.load(r'{place / f'{name}.pt'}', weights_only=False))")
        lines += [f"self.register_buffer('{name}', torch.empty({list(value.shape)}, dtype={value.dtype}))"
                  for name, value in self._buffers.items() if value is not None]
        lines += [f"setattr(self, {name!r}, torch.nn.Parameter(torch.empty({list(value.shape)}, dtype={value.dtype})))"
                  for name, value in self._parameters.items() if value is not None]
        lines.append(f"self.load_state_dict(torch.load(r'{place}/state_dict.pt'))")
        imports = "\n".join(statement for statement, _ in BUILTINS.values())
        head = dedent(f"""\
            {{imports}}

            from torch.nn import *
            class {module_name}(torch.nn.Module):
                def __init__(self):
                    super().__init__()
            """).replace("{imports}", imports).replace("from torch.nn", "from retrograd.nn")
        (place / "module.py").write_text(head + indent("\n".join(lines), " " * 8) + "\n" + indent(self.code, " " * 4) + "\n")
        (place / "__init__.py").write_text("from .module import *")
        if blobs:
            warnings.warn("Was not able to save the following children modules as reprs -"
                          f"saved as pickled files instead: {blobs}", stacklevel=2)

    # As text

    def print_readable(self, print_output: bool = True, include_stride: bool = False, include_device: bool = False,
                       colored: bool = False, *, fast_sympy_print: bool = False, expanded_def: bool = False,
                       additional_meta: list[str] | None = None) -> str:
        """It as a class, with the classes of its GraphModules, where its nodes come from and shapes that passes noted."""
        text = self._readable(self._get_name(), include_stride=include_stride, include_device=include_device, colored=colored,
                              expanded_def=expanded_def, additional_meta=additional_meta)
        if print_output:
            sys.stdout.write(text + "\n")
        return text

    def _readable(self, name: str, **options: Any) -> str:
        source = self._graph.python_code(root_module="self", verbose=True, **options).src.lstrip("\n")
        options["expanded_def"] = False
        inside = [child._readable(name, **options) for name, child in self.named_children() if isinstance(child, GraphModule)]
        return _indented(f"class {name}(torch.nn.Module):\n{source}") + _indented("\n".join(["", *inside]))

    def __str__(self) -> str:
        return "\n".join([super().__str__(), self._code,
                          "# To see more debug info, please use `graph_module.print_readable()`"])

    # Hooks of those who follow changes of the graph

    @contextmanager
    def _set_replace_hook(self, f: Callable[..., Any]) -> Iterator[None]:
        assert callable(f), "Replace hook must be a callable."
        self._replace_hooks.append(f)
        try:
            yield
        finally:
            self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.remove(f)


def _call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
    return self._wrapped_call(self, *args, **kwargs)


def _indented(text: str) -> str:
    """text, all its lines but the first four to the right; blank ones are empty."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"    {line}" if line.strip() else "" for line in rest)])


def _make_graph_module(*args: Any, **kwargs: Any) -> GraphModule:
    return GraphModule(*args, **{k: v for k, v in kwargs.items() if k != "graph_module_cls"})
