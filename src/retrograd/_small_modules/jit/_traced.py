"""torch.jit.trace: a module or function as the graph of torch's functions that one run calls; its files."""
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from retrograd._functions.compare import allclose
from retrograd._tensor import Tensor
from retrograd.fx._program import Program, program_in, recorded
from retrograd.fx._recorded import Refused
from retrograd.jit import ScriptModule, TracerWarning
from retrograd.nn import Module
from retrograd.random import fork_rng
from retrograd.utils._pytree import tree_leaves, tree_map

__all__ = ["ScriptFunction", "TopLevelTracedModule", "freeze", "load", "optimize_for_inference", "save", "trace", "trace_module"]
FORMAT = "retrograd.jit 1"
TRACING = threading.local()
READ = {"__bool__": "Python boolean", "compare": "Python boolean", "__int__": "Python integer", "__index__": "Python index",
        "__float__": "Python float", "size": "Python integer", "item": "Python number", "tolist": "Python list",
        "numpy": "NumPy array", "__array__": "NumPy array"}


class _Traced:
    """What a trace is for its callers."""

    _program: Program

    def _taken(self, program: Program) -> None:
        self.__dict__["_program"] = program
        self.__dict__["_run"] = program.as_module()

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

        kind = {"format": FORMAT, "module": isinstance(self, Module), "extra": dict(_extra_files or {})}
        write({**kind, **self._program.state()}, f)


class TopLevelTracedModule(_Traced, ScriptModule):
    """A module that torch.jit.trace made: it repeats what the traced one did, whatever `training` says."""

    def __init__(self, program: Program, training: bool = True) -> None:
        super().__init__()
        self._taken(program)
        run = self.__dict__["_run"]
        self._parameters, self._buffers, self._modules = run._parameters, run._buffers, run._modules
        self._non_persistent_buffers_set = run._non_persistent_buffers_set
        self.training = training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The traced computation."""
        return self.__dict__["_run"](*args, **kwargs)


class ScriptFunction(_Traced):
    """A function that torch.jit.trace made."""

    def __init__(self, program: Program, name: str = "traced") -> None:
        self._taken(program)
        self.name = self.__name__ = name

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
    if isinstance(func, _Traced):
        warnings.warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.",
                      stacklevel=2)
        return func
    if (example_inputs is None) == (example_kwarg_inputs is None):
        raise RuntimeError("example_kwarg_inputs should be a dict" if example_inputs is None else
                           "torch.jit.trace: give example_inputs or example_kwarg_inputs, not both")
    single = isinstance(example_inputs, (Tensor, dict))
    args = () if example_inputs is None else (example_inputs,) if single else tuple(example_inputs)
    kwargs = dict(example_kwarg_inputs or {})
    TRACING.on = True
    try:
        program, result = recorded(func, args, kwargs, warned, sizes=True)
    except Refused as error:
        raise RuntimeError(f"torch.jit.trace: {error}") from None
    finally:
        TRACING.on = False
    made: Any = TopLevelTracedModule(program, func.training) if isinstance(func, Module) else ScriptFunction(
        program, getattr(func, "__name__", "traced"))
    if check_trace:
        check(made, result, args, kwargs, check_tolerance)
    return made


def warned(name: str) -> None:
    if name in READ:
        warnings.warn(
            f"Converting a tensor to a {READ[name]} might cause the trace to be incorrect. We can't record the data flow of "
            "Python values, so this value will be treated as a constant in the future. This means that the trace might not "
            "generalize to other inputs!", TracerWarning, stacklevel=5)


def check(made: Any, result: Any, args: Any, kwargs: Any, tolerance: float) -> None:
    """TracerWarning where the trace gives something else than the program did."""
    state = {path: t.detach().clone() for path, t in made._program.attributes.items()}
    with fork_rng():
        again = made(*tree_map(copied, args), **tree_map(copied, kwargs))
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
    return trace(mod, check_trace=check_trace, check_tolerance=check_tolerance, **named)


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Write what torch.jit.trace made."""
    if not isinstance(m, _Traced):
        raise NotImplementedError(
            f"torch.jit.save: a {type(m).__name__} is no trace: script() gives back what it is given, which Python runs; save "
            "torch.jit.trace(m, example_inputs), or m.state_dict()")
    m.save(f, _extra_files)


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None, _restore_shapes: bool = False) -> Any:
    """What torch.jit.save wrote.  ValueError for another file: TorchScript cannot be read."""
    program, found = program_in(f, FORMAT, "torch.jit.save", _extra_files)
    return TopLevelTracedModule(program) if found.get("module") else ScriptFunction(program)


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """mod itself, which has to be in evaluation mode: a trace is as fast as it gets here."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script "
                           "your 'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
                           "before freezing.")
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """mod itself."""
    return mod
