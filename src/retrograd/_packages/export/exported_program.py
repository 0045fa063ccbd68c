"""A program as a graph of torch's functions, with the tensors that it reads."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter as Parameter_
from inspect import Signature
from typing import Any, NoReturn

from retrograd._decomp import core_aten_decompositions
from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd.export.dynamic_shapes import range_of
from retrograd.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from retrograd.fx import Graph, GraphModule, Interpreter, Node
from retrograd.fx._program import Program, recorded
from retrograd.nn import Parameter
from retrograd.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__all__ = ["ExportedProgram"]
late_names(__name__)
SIGNS = {InputKind.PARAMETER: "p_", InputKind.BUFFER: "b_", InputKind.CONSTANT_TENSOR: "c_"}


class Guard:
    """What an input has to be like: a tensor of a dtype and of sizes, None for those that are open; or a value."""

    def __init__(self, name: str, example: Any, opened: dict[int, Any]) -> None:
        self.name, self.value = name, None if isinstance(example, Tensor) else example
        self.dtype = str(example.dtype) if isinstance(example, Tensor) else None
        self.shape = [None if i in opened else n for i, n in enumerate(example.shape)] if self.dtype else []
        self.bounds = {i: bounds_of(what) for i, what in opened.items()}

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Guard:
        """That of these fields, from a file."""
        made = cls.__new__(cls)
        made.__dict__.update(fields, bounds={int(i): tuple(b) for i, b in fields["bounds"].items()})
        return made

    def check(self, x: Any, named: dict[str, tuple[int, str, str]]) -> None:
        """AssertionError unless x is like that."""
        if self.dtype is None:
            if type(x) is not type(self.value) or x != self.value:
                raise AssertionError(f"Guard failed: {self.name} == {self.value!r}")
            return
        if not isinstance(x, Tensor):
            raise AssertionError(f"Guard failed: {self.name} is a tensor, not {type(x).__name__}")
        if x.ndim != len(self.shape):
            raise AssertionError(f"Guard failed: {self.name}.dim() == {len(self.shape)}")
        if str(x.dtype) != self.dtype:
            raise AssertionError(f"Guard failed: {self.name}.dtype == {self.dtype}")
        for i, (have, want) in enumerate(zip(x.shape, self.shape)):
            size = f"{self.name}.size()[{i}]"
            if want is not None:
                if have != want:
                    raise AssertionError(f"Guard failed: {size} == {want}")
                continue
            low, high, name, root, times, plus = self.bounds[i]
            if have < low or (high is not None and have > high):
                raise AssertionError(f"Guard failed: {low} <= {size}" + ("" if high is None else f" <= {high}"))
            if name is not None:
                of_root, rest = divmod(have - plus, times)
                if rest:
                    raise AssertionError(f"Guard failed: {size} == {name}, where {root} is an integer")
                first, place, its_name = named.setdefault(root, (of_root, size, name))
                if first != of_root:
                    same = place if name == its_name else f"{name}, where {root} is {first} by {place}"
                    raise AssertionError(f"Guard failed: {size} == {same}")


def bounds_of(what: Any) -> tuple[Any, ...]:
    """(min, max, name, name of the root, its factor, what is added)"""
    name = getattr(what, "__name__", None)
    return what.min or 0, what.max, *((None, None, 1, 0) if name is None else (name, what.root.__name__, what.times, what.plus))


class ExportedProgram:
    """What torch.export.export made: `graph_module` takes parameters and buffers as inputs; module() has them.

    Its nodes call functions of torch as the program did, not operators of aten.
    """

    dialect = "TRAINING"

    def __init__(self, program: Program, guards: list[Guard], example_inputs: Any = None) -> None:
        self._program, self._guards, self.example_inputs = program, guards, example_inputs
        self._attributes, self._persistent = program.attributes, program.persistent
        self._graph_module, self._signature = self._lifted()

    # The graph with all tensors as inputs

    def _kind(self, path: str) -> InputKind:
        if isinstance(self._attributes[path], Parameter):
            return InputKind.PARAMETER
        return InputKind.BUFFER if path in self._persistent else InputKind.CONSTANT_TENSOR

    def _lifted(self) -> tuple[GraphModule, ExportGraphSignature]:
        graph, nodes, inputs = Graph(), {}, []
        ordered = sorted(self._attributes, key=lambda path: list(SIGNS).index(self._kind(path)))
        placed: dict[str, Node] = {}
        for path in ordered:
            kind = self._kind(path)
            node = placed[path] = graph.placeholder(SIGNS[kind] + path.replace(".", "_"))
            node.meta["val"] = self._attributes[path].detach().to("meta")
            inputs.append(InputSpec(kind, TensorArgument(node.name), path,
                                    self._persistent[path] if kind is InputKind.BUFFER else None))
        for n in self._program.flat.nodes:
            if n.op == "get_attr" and n.target in placed:
                nodes[n] = placed[n.target]
            else:
                nodes[n] = graph.node_copy(n, lambda x: nodes[x])
        for guard, n in zip(self._guards, self._program.inputs()):
            arg = TensorArgument(nodes[n].name) if guard.dtype else ConstantArgument(nodes[n].name, guard.value)
            inputs.append(InputSpec(InputKind.USER_INPUT, arg, None))
        last = graph.output_node()
        results = [TensorArgument(x.name) if isinstance(x, Node) else ConstantArgument("", x) for x in last.args[0]]
        outputs = [OutputSpec(OutputKind.USER_OUTPUT, x, None) for x in results]
        return GraphModule(dict(self._program.branches), graph), ExportGraphSignature(inputs, outputs)

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a Module; it takes parameters and buffers before the inputs."""
        return self._graph_module

    @property
    def graph(self) -> Graph:
        """The graph; parameters, buffers and constants are its first inputs."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What its inputs and outputs are."""
        return self._signature

    @property
    def state_dict(self) -> dict[str, Any]:
        """Parameters and persistent buffers by path."""
        return {path: t for path, t in self._attributes.items() if isinstance(t, Parameter) or self._persistent.get(path, False)}

    @property
    def constants(self) -> dict[str, Any]:
        """The other tensors that the graph reads."""
        return {path: t for path, t in self._attributes.items() if path not in self.state_dict}

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """(path, parameter)"""
        for path, t in self._attributes.items():
            if isinstance(t, Parameter):
                yield path, t

    def parameters(self) -> Iterator[Parameter]:
        """The parameters."""
        for _, p in self.named_parameters():
            yield p

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """(path, buffer)"""
        for path in self._persistent:
            yield path, self._attributes[path]

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        for _, b in self.named_buffers():
            yield b

    @property
    def range_constraints(self) -> dict[str, Any]:
        """{an open size: its lower and upper bound}"""
        return {name or f"{guard.name}.size()[{i}]": range_of(low, high, name is None)
                for guard in self._guards for i, (low, high, name, *_) in guard.bounds.items()}

    # The program again

    def module(self, check_guards: bool = True) -> GraphModule:
        """The program as a Module, which has the parameters and buffers, and refuses inputs of other sizes or dtypes."""
        made = self._program.as_module()
        own: Any = made
        own.train, own.eval = _refuse("train"), _refuse("eval")
        checks = _Checks(self._program, self._guards if check_guards else [])
        own.register_forward_pre_hook(checks, with_kwargs=True)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` instead.")

    def run_decompositions(self, decomp_table: dict[Any, Callable[..., Any]] | None = None,
                           decompose_custom_triton_ops: bool = False) -> ExportedProgram:
        """A program that calls other functions in place of operators: {torch.ops.aten.relu.default: function}.

        None: default_decompositions().  The graph's functions stay torch's own, and edits of buffers stay edits.
        """
        if self.example_inputs is None:
            raise NotImplementedError("ExportedProgram.run_decompositions: a program from a file has no example inputs")
        (inputs, named), program, module = self.example_inputs, self._program, self.module(check_guards=False)
        if decomp_table is None:
            decomp_table = core_aten_decompositions()
        run, spec = _Replaced(module, {op._opname: f for op, f in decomp_table.items()}), program.specs[1]

        def forward(*args: Any, **kwargs: Any) -> Any:
            return tree_unflatten(list(run.run(*tree_leaves((args, kwargs)), enable_io_processing=False)), spec)
        forward.__dict__["__signature__"] = Signature([Parameter_(x, Parameter_.POSITIONAL_OR_KEYWORD) for x in program.names])
        module.__dict__["forward"] = forward
        found, _ = recorded(module, inputs, named, lambda name: None, sizes=any(guard.bounds for guard in self._guards),
                            constant="lifted_tensor_", elements=True)
        made = ExportedProgram(found, self._guards, self.example_inputs)
        made.dialect = "ATEN"
        return made

    def __str__(self) -> str:
        text = self._graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        signature = str(self._signature).replace("\n", "\n    ")
        return f"ExportedProgram:\n    {text}\nGraph signature: {signature}\nRange constraints: {self.range_constraints}\n"


class _Replaced(Interpreter):
    """Runs a graph with other functions in place of those of some names."""

    def __init__(self, module: Any, table: dict[str, Callable[..., Any]]) -> None:
        super().__init__(module)
        self.table = table

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.table.get(getattr(target, "__name__", ""), target)(*args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.table[target](*args, **kwargs) if target in self.table else super().call_method(target, args, kwargs)


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refuse(mode: bool = True) -> NoReturn:
        raise NotImplementedError(f"Calling {name}() is not supported yet.")
    return refuse


class _Checks:
    """The hook before a call: do the inputs have the form, and are they like the examples?"""

    def __init__(self, program: Program, guards: list[Guard]) -> None:
        self.spec, self.guards, self.names = program.specs[0], guards, program.names

    def __call__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        places, named = self.spec.children_specs
        want = list(named.context)
        by_place = self.names[:places.num_children]
        given = dict(zip(by_place, args))
        extra = {k: v for k, v in kwargs.items() if k not in by_place}
        given.update({k: v for k, v in kwargs.items() if k in by_place})
        if set(extra) != set(want):
            raise ValueError(f"Ran into a kwarg keyword mismatch: Got the following keywords {list(extra)} but expected {want}")
        if len(given) != len(by_place) or len(args) > len(by_place):
            raise TypeError(f"forward() takes {len(by_place)} positional arguments but {len(args)} were given")
        args, kwargs = tuple(given[name] for name in by_place), {name: extra[name] for name in want}
        leaves, found = tree_flatten((args, kwargs))
        if found != self.spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{self.spec}\nbut actually got inputs with tree "
                f"spec of: \n{found}")
        sizes: dict[str, tuple[int, str, str]] = {}
        for guard, x in zip(self.guards, leaves):
            guard.check(x, sizes)
        return args, kwargs
