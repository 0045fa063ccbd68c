"""torch.onnx.export: a module whose forward torch.fx can trace becomes a file of ONNX, operation by operation.

The graph is executed once with the example arguments, as the operators are written: so dtypes and ranks are known.
https://onnx.ai/onnx/operators
"""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from retrograd._functions.compare import allclose
from retrograd._tensor import Tensor
from retrograd.autograd.grad_mode import no_grad
from retrograd.fx import GraphModule, Interpreter, Tracer
from retrograd.fx.node import Node, map_arg
from retrograd.io.beside import write_beside
from retrograd.nn import Module, Sequential
from retrograd.onnx import _operators

OPSET = 18
WAY_OUT = "load the state_dict in PyTorch and export the model there"


class Value:
    """A tensor of the graph: its name there, and what it is in the example."""

    def __init__(self, name: str, example: Any) -> None:
        self.name, self.example = name, example
        self.edits = getattr(example, "_version", 0)


class Exporter(Interpreter):
    """Runs a traced module, and writes an ONNX operator for each operation."""

    def __init__(self, module: GraphModule, dynamic: bool) -> None:
        super().__init__(module)
        import onnx

        self.helper: Any = onnx.helper
        self.numpy_helper: Any = onnx.numpy_helper
        self.dynamic = dynamic
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.values: dict[Node, Any] = {}
        self.at: Any = None                     # the node that is being exported

    def run_node(self, n: Node) -> Any:
        """The value of the node; its operators are written."""
        self.at = n
        for node in n.all_input_nodes:
            v = self.values[node]
            if isinstance(v, Value) and getattr(v.example, "_version", 0) != v.edits:
                self.refuse(f"{node}, which was edited in place before it is used here")
        result = super().run_node(n)
        args, kwargs = (map_arg(x, lambda node: self.values[node]) for x in (n.args, n.kwargs))
        self.values[n] = self.exported(n, list(args), dict(kwargs), result)
        return result

    def exported(self, n: Node, args: list[Any], kwargs: dict[str, Any], result: Any) -> Any:
        if n.op == "placeholder":
            self.inputs.append(Value(n.name, result))
            return self.inputs[-1]
        if n.op == "get_attr":
            return self.weight(str(n.target), result)
        if n.op == "output":
            found = args[0] if isinstance(args[0], (tuple, list)) else [args[0]]
            if not all(isinstance(v, Value) for v in found):
                self.refuse("a result that is no tensor, list or tuple of tensors")
            self.outputs = [Value(self.add("Identity", v), v.example) for v in found]
            return None
        if n.op == "call_module":
            module: Any = self.fetch_attr(str(n.target))
            name, args = type(module).__name__, [module, *args]
            known: Callable[..., Any] | None = _operators.MODULES.get(name) if type(module).__module__.startswith(
                ("retrograd.", "torch.")) else None
        else:
            if not holds(args) and not holds(list(kwargs.values())):
                return result                   # of sizes alone
            name = n.target if isinstance(n.target, str) else n.target.__name__
            known = _operators.FUNCTIONS.get(name.strip("_"))
            if name.endswith("_") and not name.endswith("__") and known is not None:
                self.refuse(f"{name}(), which edits a tensor in place: call {name[:-1]}()")
        if known is None:
            self.refuse(f"{name}")
        made = known(self, *args, **kwargs)
        if isinstance(made, str):
            return Value(made, result)
        if isinstance(made, list):
            return [Value(name, example) for name, example in zip(made, result)]
        return made

    def refuse(self, what: str) -> NoReturn:
        place = f"{self.at.op} {self.at.target}" if self.at is not None else "the model"
        raise NotImplementedError(f"torch.onnx.export: there is no ONNX operator here for {what} (at {place}); {WAY_OUT}")

    # What operators are made of

    def add(self, op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Writes an operator; the name of its output, or a list of several."""
        names = [f"{self.at.name}_{len(self.nodes)}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        given = [self.named(x) for x in inputs]
        while given and not given[-1]:
            given.pop()
        self.nodes.append(self.helper.make_node(op, given, names, **attributes))
        return names if outputs > 1 else names[0]

    def named(self, x: Any) -> str:
        if x is None:
            return ""
        return x if isinstance(x, str) else x.name if isinstance(x, Value) else self.constant(x)

    def constant(self, x: Any, dtype: Any = None) -> str:
        array = np.asarray(x, dtype)
        if array.dtype.kind == "i":
            array = array.astype(np.int64) if dtype is None else array
        name = f"constant_{len(self.weights)}"
        self.weights[name] = array
        return name

    def weight(self, name: str, tensor: Any) -> Value | None:
        """A parameter or buffer, under its name in the state dict."""
        if tensor is None:
            return None
        self.weights.setdefault(name, tensor.detach().numpy())
        return Value(name, tensor)

    def own(self, name: str) -> Value | None:
        """A parameter or buffer of the module at hand."""
        return self.weight(f"{self.at.target}.{name}", getattr(self.fetch_attr(self.at.target), name))

    def cast(self, x: Any, dtype: Any) -> str:
        """x, a Value or a number, in a dtype of NumPy's."""
        if not isinstance(x, Value):
            return self.constant(x, dtype)
        if x.example.numpy().dtype == dtype:
            return x.name
        return str(self.add("Cast", x, to=self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def sizes(self, dims: Any) -> str:
        """A list of sizes, of which some may be values of the graph."""
        if all(isinstance(d, int) for d in dims):
            return self.constant(np.array(dims, np.int64))
        parts = [self.constant([d]) if isinstance(d, int) else self.add("Unsqueeze", d, [0]) for d in dims]
        return str(self.add("Concat", *parts, axis=0))


def holds(x: Any) -> bool:
    """Is it, or has it among its elements, a tensor of the graph?"""
    return isinstance(x, Value) or (isinstance(x, (list, tuple)) and any(map(holds, x)))


def compare(traced: Any, expected: Any) -> None:
    """RuntimeError if the trace computes something else, as it does where a module edits tensors in place."""
    pairs = list(zip(*([x] if isinstance(x, Tensor) else list(x) for x in (traced, expected))))
    if not all(allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True) for a, b in pairs):
        raise RuntimeError("torch.onnx.export: the graph that torch.fx traces does not compute what the module does: write edits "
                           "in place, such as x += 1, without them")


def example_of(exporter: Exporter, v: Value, dynamic: dict[int, str]) -> Any:
    kind = exporter.helper.np_dtype_to_tensor_dtype(v.example.numpy().dtype)
    return exporter.helper.make_tensor_value_info(
        v.name, kind, [dynamic.get(i, n) for i, n in enumerate(v.example.shape)])


def renamed(exporter: Exporter, values: list[Value], names: list[str]) -> None:
    """Gives inputs or outputs the names that the caller wants."""
    if len(names) > len(values):
        raise ValueError(f"torch.onnx.export: {len(names)} names for {len(values)} inputs or outputs")
    new = dict(zip((v.name for v in values), names))
    for node in exporter.nodes:
        for field in (node.input, node.output):
            field[:] = [new.get(name, name) for name in field]
    for v in values:
        v.name = new.get(v.name, v.name)


def axes_of(dynamic_axes: Any, name: str) -> dict[int, str]:
    axes = (dynamic_axes or {}).get(name, {})
    return {i: f"{name}_{i}" for i in axes} if isinstance(axes, (list, tuple)) else dict(axes)


def model_of(module: Any, args: tuple[Any, ...], input_names: list[str], output_names: list[str], opset: int,
             dynamic_axes: Any) -> Any:
    """The onnx.ModelProto of a module in evaluation mode."""
    import onnx

    was = module.training
    module.eval()
    try:
        with no_grad():
            tracer = Tracer()
            root = Sequential(module) if tracer.is_leaf_module(module, "") else module
            exporter = Exporter(GraphModule(root, tracer.trace(root)), bool(dynamic_axes))
            compare(exporter.run(*(x.clone() for x in args)), module(*(x.clone() for x in args)))
    finally:
        module.train(was)
    renamed(exporter, exporter.inputs, input_names)
    renamed(exporter, exporter.outputs, output_names)
    known = {v.name for v in (*exporter.inputs, *exporter.outputs)}
    for name, axes in (dynamic_axes or {}).items():
        if name not in known:
            raise ValueError(f"torch.onnx.export: dynamic_axes names {name!r}, which is none of {sorted(known)}")
        if set(axes) != {0}:
            raise NotImplementedError(
                "torch.onnx.export: dynamic_axes may name dim 0 alone; what depends on other sizes is fixed")
    if exporter.dynamic:
        for v in exporter.outputs:
            if not axes_of(dynamic_axes, v.name):
                dynamic_axes = {**dynamic_axes, v.name: {0: f"{v.name}_0"}}
    ends = [[example_of(exporter, v, axes_of(dynamic_axes, v.name)) for v in values]
            for values in (exporter.inputs, exporter.outputs)]
    weights = [onnx.numpy_helper.from_array(np.asarray(w, order="C"), name) for name, w in exporter.weights.items()]
    graph = onnx.helper.make_graph(exporter.nodes, type(module).__name__, ends[0], ends[1], weights)
    made = onnx.helper.make_model(graph, producer_name="retrograd", opset_imports=[onnx.helper.make_opsetid("", opset)])
    made.ir_version = min(made.ir_version, 10)
    onnx.checker.check_model(made, full_check=True)
    return made


class ONNXProgram:
    """What export() made: model_proto, an onnx.ModelProto."""

    def __init__(self, model_proto: Any) -> None:
        self.model_proto = model_proto

    def save(self, destination: Any) -> None:
        """To destination: a path, where a file is replaced when the new one is complete, or a file open for writing bytes."""
        data = self.model_proto.SerializeToString()
        if hasattr(destination, "write"):
            destination.write(data)
        else:
            write_beside(os.fsdecode(destination), lambda file: file.write(data))


def export(
    model: Any, args: Any = (), f: Any = None, *, kwargs: Any = None, input_names: Any = None, output_names: Any = None,
    opset_version: int | None = None, dynamic_axes: Any = None, **options: Any,
) -> ONNXProgram:
    """Writes `model`, in evaluation mode, as ONNX to `f`, a path or a file; needs the package onnx.

    args, kwargs    example arguments: a tuple of tensors, or one tensor; a dict
    input_names, output_names       in the file; else those of forward's parameters, and of operators
    dynamic_axes    {name: {0: what it is called}} for inputs and outputs: the batch; other dims have the sizes of the example
    opset_version   18
    options         PyTorch's others, where they change nothing
    Exported are layers, activations, norms, pooling, arithmetic, products and changes of shape; anything else is a
    NotImplementedError that names it.
    """
    asked = {name: value for name, value in options.items() if name not in QUIET and value not in (None, False)}
    if kwargs or asked:
        raise NotImplementedError(
            f"torch.onnx.export: retrograd has no {', '.join(asked) or 'kwargs'}; leave it out, or {WAY_OUT}")
    if opset_version not in (None, OPSET):
        raise NotImplementedError(
            f"torch.onnx.export: opset_version={opset_version}: retrograd writes opset {OPSET}; leave it out")
    if not isinstance(model, Module):
        raise TypeError(f"torch.onnx.export: expected a module of retrograd's, got {type(model).__name__}")
    examples = args if isinstance(args, tuple) else (args,)
    if not all(isinstance(x, Tensor) for x in examples):
        raise NotImplementedError(f"torch.onnx.export: args must be tensors, not {[type(x).__name__ for x in examples]}")
    try:
        import onnx  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("torch.onnx.export needs the package onnx: pip install onnx", name="onnx") from error
    program = ONNXProgram(model_of(model, examples, list(input_names or ()), list(output_names or ()), OPSET, dynamic_axes))
    if f is not None:
        program.save(f)
    return program


QUIET = {"verbose", "export_params", "do_constant_folding", "dynamo", "optimize", "external_data", "fallback", "training"}
