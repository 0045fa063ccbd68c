"""torch.jit.trace: a module or function as the graph of torch's functions that one run calls; its files."""
from __future__ import annotations

import difflib
import os
import re
import threading
import warnings
from collections.abc import Callable
from typing import Any

from retrograd._functions.compare import allclose, equal
from retrograd._tensor import Tensor
from retrograd.func._batching.draws import RULES as DRAWS
from retrograd.fx._program import Program, program_in, recorded
from retrograd.fx._recorded import Number, Refused
from retrograd.jit import ScriptModule, TracerWarning, TracingCheckError, deprecated
from retrograd.nn import Module
from retrograd.random import fork_rng, get_rng_state
from retrograd.utils._pytree import tree_leaves, tree_map

__all__ = [
    "ScriptFunction", "TopLevelTracedModule", "TracedModule", "freeze", "load", "optimize_for_inference", "save", "trace",
    "trace_module",
]
FORMAT = "retrograd.jit 1"
OUTPUTS = "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
TRACING = threading.local()
READ = {"__bool__": "Python boolean", "compare": "Python boolean", "__int__": "Python integer", "__index__": "Python index",
        "__float__": "Python float", "size": "Python integer", "item": "Python number", "tolist": "Python list",
        "numpy": "NumPy array", "__array__": "NumPy array"}


class _Traced:
    """What a trace is for its callers."""

    _program: Program

    @property
    def code(self) -> str:
        """The generated source."""
        text: str = self.__dict__["_run"].code
        return text

    @property
    def graph(self) -> Any:
        """A torch.fx.Graph."""
        return self._program.flat

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Write it to a path or file, which torch.jit.load reads; the format is retrograd's own."""
        from retrograd.serialization import save as write

        kinds = {path: m.original_name for path, m in self.named_modules()} if isinstance(self, TracedModule) else {}
        kind = {"format": FORMAT, "training": getattr(self, "training", True), "kinds": kinds,
                "extra": {name: x.encode() if isinstance(x, str) else x for name, x in (_extra_files or {}).items()}}
        write({**kind, **self._program.state()}, f)


class TracedModule(ScriptModule):
    """A part of a module that was traced: its tensors, and the name of its class.

    run    what holds the tensors
    kinds  {path of a part: the name of its class}, "" being the whole
    """

    def __init__(self, run: Module, kinds: dict[str, str], path: str = "", training: bool = True) -> None:
        super().__init__()
        self.__dict__["_kind"] = kinds.get(path, "Module")
        self._parameters, self._buffers = run._parameters, run._buffers
        self._non_persistent_buffers_set = run._non_persistent_buffers_set
        for name in dict.fromkeys(found.removeprefix(f"{path}." if path else "").partition(".")[0]
                                  for found in (*kinds, *(f"{path}.{x}".lstrip(".") for x in run._modules))
                                  if found != path and (not path or found.startswith(f"{path}."))):
            below = f"{path}.{name}" if path else name
            self._modules[name] = TracedModule(run._modules.get(name) or Module(), kinds, below, training)
        self.training = training

    @property
    def original_name(self) -> str:
        """The name of the class that was traced."""
        return str(self.__dict__["_kind"])

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """RuntimeError: only the whole can be called."""
        raise RuntimeError("Trace submodules cannot be called.")

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule, _Traced):
    """A module that torch.jit.trace made: it repeats what the traced one did, whatever `training` says."""

    def __init__(self, program: Program, kinds: dict[str, str], training: bool = True) -> None:
        run = program.as_module()
        super().__init__(run, kinds, "", training)
        self.__dict__.update(_program=program, _run=run)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The traced computation."""
        return self.__dict__["_run"](*args, **kwargs)


class ScriptFunction(_Traced):
    """A function that torch.jit.trace made."""

    def __init__(self, program: Program, name: str = "traced") -> None:
        self.__dict__.update(_program=program, _run=program.as_module())
        self.name = self.__name__ = re.sub(r"\W+", "_", name).rstrip("_")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["_run"](*args, **kwargs)


def trace(
    func: Callable[..., Any], example_inputs: Any = None, optimize: Any = None, check_trace: bool = True,
    check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None, example_kwarg_inputs: dict[str, Any] | None = None, _store_inputs: bool = True,
) -> Any:
    """The computation of func, a module or function, for inputs like example_inputs, a tensor or a tuple.

    Sizes are computed by the graph; what func decides by them or by values is fixed, the latter with a TracerWarning.
    https://pytorch.org/docs/stable/generated/torch.jit.trace.html
    """
    deprecated("trace")
    if isinstance(func, _Traced):
        warnings.warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.",
                      stacklevel=2)
        return func
    if (example_inputs is None) == (example_kwarg_inputs is None):
        raise RuntimeError("example_kwarg_inputs should be a dict" if example_inputs is None else
                           "torch.jit.trace: give example_inputs or example_kwarg_inputs, not both")
    if not callable(func):
        raise TypeError(f"torch.jit.trace: func is a module or a function, not {func!r}")
    args, kwargs = tuple_of(example_inputs), dict(example_kwarg_inputs or {})
    program, result = traced(func, args, kwargs, warned)
    check_results(result, strict)
    made: Any = ScriptFunction(program, getattr(func, "__name__", "traced"))
    if isinstance(func, Module):
        made = TopLevelTracedModule(program, {path: type(m).__name__ for path, m in func.named_modules()}, func.training)
    if check_trace:
        given = [(tuple_of(x), {}) for x in check_inputs] if check_inputs is not None else [(args, kwargs)]
        for some_args, some_kwargs in given:
            check(made, func, some_args, some_kwargs, check_tolerance)
    return made


def tuple_of(inputs: Any) -> tuple[Any, ...]:
    """inputs as arguments by place."""
    return () if inputs is None else (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)


def traced(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], read: Callable[[str], None]) -> tuple[
        Program, Any]:
    """The program that func runs, and its result."""
    if foreign(args):
        raise RuntimeError(f"Type '{type_of(args)}' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and "
                           "Tuples of Tensors can be traced")
    for x in kwargs.values():
        if foreign(x):
            raise RuntimeError("Only tensors or (possibly nested) dict or tuples of tensors can be inputs to traced functions. "
                               f"Got {type_of(x)}")
    TRACING.on = True
    try:
        return recorded(func, args, kwargs, read, sizes=True)
    except Refused as error:
        raise RuntimeError(f"torch.jit.trace: {error}") from None
    finally:
        TRACING.on = False


def parts(x: Any) -> list[Any] | None:
    """What a container holds."""
    return list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, (list, tuple)) else None


def foreign(x: Any) -> bool:
    """Is there something else than tensors in x?"""
    inside = parts(x)
    return not isinstance(x, Tensor) if inside is None else any(map(foreign, inside))


def type_of(x: Any) -> str:
    """'Tuple[Tensor, int]'"""
    return f"Tuple[{', '.join(map(type_of, x))}]" if isinstance(x, tuple) else type(x).__name__


def check_results(x: Any, strict: bool) -> None:
    """RuntimeError for a result that a trace cannot give."""
    if x is None:
        raise RuntimeError("The traced function didn't return any values! Side-effects are not captured in traces, so it would "
                           "be a no-op.")
    inside = parts(x)
    if inside is None:
        if not isinstance(x, (Tensor, Number)):
            raise RuntimeError(OUTPUTS)
        return
    if isinstance(x, (dict, list)):
        kind = "dict" if isinstance(x, dict) else "list"
        if not x:
            raise RuntimeError(f"Tracer cannot infer type of {x}\n:" + (
                "Dictionary inputs must have entries" if kind == "dict" else "List trace inputs must have elements"))
        if strict:
            text = (f"Encountering a {kind} at the output of the tracer might cause the trace to be incorrect, this is only "
                    "valid if the container structure does not change based on the module's inputs. Consider using a constant "
                    "container instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you "
                    "absolutely need this and know the side effects, pass strict=False to trace() to allow this behavior.")
            if kind == "dict":
                raise RuntimeError(text)
            warnings.warn(text, TracerWarning, stacklevel=3)
    for part in inside:
        if part is None:
            raise RuntimeError(OUTPUTS)
        check_results(part, strict)


def warned(name: str) -> None:
    if name in READ:
        warnings.warn(
            f"Converting a tensor to a {READ[name]} might cause the trace to be incorrect. We can't record the data flow of "
            "Python values, so this value will be treated as a constant in the future. This means that the trace might not "
            "generalize to other inputs!", TracerWarning, stacklevel=5)


def check(made: Any, func: Callable[..., Any], args: Any, kwargs: Any, tolerance: float) -> None:
    """Trace func again: TracingCheckError where the graph is another one, TracerWarning where the results are others."""
    program, result = traced(func, args, kwargs, lambda name: None)
    if str(program.flat) != str(made._program.flat):
        lines = difflib.ndiff(str(made._program.flat).splitlines(), str(program.flat).splitlines())
        raise TracingCheckError("Tracing failed sanity checks!\nERROR: Graphs differed across invocations!\n\tGraph diff:\n" +
                                "\n".join(f"\t\t{line}" for line in lines))
    state = {path: t.detach().clone() for path, t in made._program.attributes.items()}
    with fork_rng():
        before = get_rng_state()
        again = made(*tree_map(copied, args), **tree_map(copied, kwargs))
        if not equal(before, get_rng_state()):
            drawn = [n.format_node() for n in program.flat.nodes if getattr(n.target, "__name__", n.target) in DRAWS]
            warnings.warn(
                "Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n\t" + "\n\t".join(map(
                    str, drawn)) + "\nThis may cause errors in trace checking. To disable trace checking, pass check_trace=False "
                "to torch.jit.trace()", TracerWarning, stacklevel=3)
    for path, t in made._program.attributes.items():
        t.detach().copy_(state[path])
    for i, (a, b) in enumerate(zip(tree_leaves(again), tree_leaves(result))):
        if isinstance(a, Tensor) and not allclose(a, b.to(a.dtype), rtol=tolerance, atol=tolerance, equal_nan=True):
            warnings.warn(
                f"Output nr {i + 1}. of the traced function does not match the corresponding output of the Python function.",
                TracerWarning, stacklevel=3)


def copied(x: Any) -> Any:
    return x.detach().clone() if isinstance(x, Tensor) else x


def trace_module(mod: Module, inputs: dict[str, Any], optimize: Any = None, check_trace: bool = True, check_inputs: Any = None,
                 check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False, _module_class: Any = None,
                 _compilation_unit: Any = None, example_inputs_is_kwarg: bool = False, _store_inputs: bool = True) -> Any:
    """trace(mod, inputs["forward"]); NotImplementedError for other methods."""
    if set(inputs) != {"forward"}:
        raise NotImplementedError(f"torch.jit.trace_module: forward alone is traced here, not {', '.join(sorted(inputs))}")
    given = inputs["forward"]
    named = {"example_kwarg_inputs": given} if example_inputs_is_kwarg else {"example_inputs": given}
    return trace(mod, check_trace=check_trace, check_inputs=check_inputs and [x["forward"] for x in check_inputs],
                 check_tolerance=check_tolerance, strict=strict, **named)


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Write what torch.jit.trace made."""
    deprecated("save", "torch.export")
    if not isinstance(m, _Traced):
        raise NotImplementedError(
            f"torch.jit.save: a {type(m).__name__} is no trace: script() gives back what it is given, which Python runs; save "
            "torch.jit.trace(m, example_inputs), or m.state_dict()")
    m.save(f, _extra_files)


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None, _restore_shapes: bool = False) -> Any:
    """What torch.jit.save wrote; _extra_files gets bytes.  ValueError for another file: TorchScript cannot be read."""
    deprecated("load", "torch.export")
    if isinstance(f, (str, os.PathLike)) and not os.path.isfile(f):
        raise ValueError(f"The provided filename {f} " + ("is a directory" if os.path.isdir(f) else "does not exist"))
    program, found = program_in(f, FORMAT, "torch.jit.save", {"extra": dict, "kinds": dict, "training": bool})
    for name in _extra_files or ():
        _extra_files[name] = found["extra"].get(name, b"")  # type: ignore[index]
    kinds = {str(path): str(kind) for path, kind in found["kinds"].items()}
    return TopLevelTracedModule(program, kinds, found["training"]) if kinds else ScriptFunction(program)


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """mod itself, which has to be in evaluation mode: a trace is as fast as it gets here."""
    deprecated("freeze", "")
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script "
                           "your 'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
                           "before freezing.")
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """mod itself."""
    deprecated("optimize_for_inference", "")
    return mod
