"""torch.export: a module's computation as a graph of torch's functions, which can be run, changed, saved and loaded.

The module runs once with the example arguments; what it decides by values is refused, and what it decides by sizes holds for
the sizes of the examples, apart from those that dynamic_shapes leaves open: these are tried with another size.
https://pytorch.org/docs/stable/user_guide/torch_compiler/export.html
"""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from retrograd._decomp import core_aten_decompositions
from retrograd._functions import arange
from retrograd._missing import late_names
from retrograd.autograd.grad_mode import no_grad
from retrograd.export.dynamic_shapes import Dim as Dim
from retrograd.export.dynamic_shapes import Hint, open_dims
from retrograd.export.dynamic_shapes import ShapesCollection as ShapesCollection
from retrograd.export.dynamic_shapes import dims as dims
from retrograd.export.exported_program import ExportedProgram as ExportedProgram
from retrograd.export.exported_program import Guard
from retrograd.export.graph_signature import ExportGraphSignature as ExportGraphSignature
from retrograd.fx._program import bound, program_in, recorded
from retrograd.fx._recorded import Refused, alive
from retrograd.nn import Module
from retrograd.utils._pytree import tree_flatten, tree_unflatten

__all__ = [
    "Dim", "ExportGraphSignature", "ExportedProgram", "ShapesCollection", "default_decompositions", "dims", "export",
    "load", "save"]
late_names(__name__, lazy=("dynamic_shapes", "exported_program", "graph_signature"))
FORMAT = "retrograd.export 1"
STEPS = 1, 2, 3, 4, 7, 60, 250, -1, -3, -1000       # what is added to open sizes: programs decide by thresholds and remainders


def export(
    mod: Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
    strict: bool = False, preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """The computation of `mod` for arguments like args and kwargs.

    dynamic_shapes  which sizes may differ: {argument: {dim: Dim("batch")}}, a list of these, or a ShapesCollection
    RuntimeError when the module decides something by values of tensors.  The module's buffers and the generator of random
    numbers stay as they are.
    https://pytorch.org/docs/stable/export.html#torch.export.export
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise TypeError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if preserve_module_call_signature:
        raise NotImplementedError(
            "torch.export.export: preserve_module_call_signature: submodules are not kept apart here; leave it out")
    named = dict(kwargs or {})
    if isinstance(dynamic_shapes, ShapesCollection):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, named)
    opened = open_dims(bound(mod.forward, args, named), dynamic_shapes)
    there = alive()
    made = _recorded(mod, args, named, opened, there)
    return _checked(mod, args, named, opened, made, there) if any(opened) else made


def _recorded(
    mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any], opened: list[dict[int, Any]], there: dict[int, Any],
) -> ExportedProgram:
    try:
        program, _ = recorded(
            mod, args, kwargs, _refuse, sizes=any(opened), constant="lifted_tensor_", elements=True, there=there)
    except Refused as error:
        raise RuntimeError(f"torch.export.export: {error}") from None
    leaves = tree_flatten((args, kwargs))[0]
    guards = [Guard(n.name, x, free) for n, x, free in zip(program.inputs(), leaves, opened)]
    sizes: dict[str, tuple[int, str, str]] = {}
    for guard, x in zip(guards, leaves):
        try:
            guard.check(x, sizes)
        except AssertionError as error:
            raise RuntimeError(f"torch.export.export: the examples contradict dynamic_shapes: {error}") from None
    return ExportedProgram(program, guards, (args, kwargs))


def _refuse(name: str) -> None:
    if name == "compare":                       # by other sizes it is found out: STEPS
        return
    if name == "mode":
        raise Refused(
            "the program turns gradients or autocast on or off, which the graph does not repeat; leave that to its caller")
    raise Refused(
        f"Could not guard on data-dependent expression: the program calls {name}() of a tensor that depends on its inputs, or of "
        "its size, so the graph would hold for this value alone; use torch.where, or leave this part out of the module")


def _checked(
    mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any], opened: list[dict[int, Any]], made: ExportedProgram,
    there: dict[int, Any],
) -> ExportedProgram:
    """made, whose graph is the same for other sizes; those left to Dim.AUTO are fixed where it is not."""
    told = ", ".join(sorted({getattr(what, "__name__", repr(what)) for free in opened for what in free.values()}))
    differs = None
    for step in STEPS:
        try:
            other_args, other_kwargs = _resized(args, kwargs, opened, step)
            other = _recorded(mod, other_args, other_kwargs, opened, there)
            pairs = list(zip(steps(made).splitlines(), steps(other).splitlines()))
            differs = next((f"{a.strip()} / {b.strip()}" for a, b in pairs if a != b), None)
            if differs is None and len(made.graph.nodes) != len(other.graph.nodes):
                differs = f"{len(made.graph.nodes)} / {len(other.graph.nodes)} steps"
        except Exception as error:
            differs = f"{type(error).__name__}: {error}"
        if differs is not None:
            break
    if differs is None:
        return made
    if all(isinstance(what, Hint) and what.word == "AUTO" for free in opened for what in free.values()):
        for free in opened:
            free.clear()
        return _recorded(mod, args, kwargs, opened, there)
    raise RuntimeError(f"Constraints violated ({told})! With another size the module computes something else: {differs}")


def steps(program: ExportedProgram) -> str:
    return "\n".join(str(graph) for graph in (program.graph, *[b.graph for b in program._program.branches.values()]))


def _resized(args: tuple[Any, ...], kwargs: dict[str, Any], opened: list[dict[int, Any]], step: int) -> Any:
    """The arguments with `step` more in each open dim, as far as its bounds allow."""
    leaves, spec = tree_flatten((args, kwargs))
    others = []
    for x, free in zip(leaves, opened):
        for dim, what in free.items():
            size = what.stepped(x.shape[dim], step)
            at = arange(size) % max(x.shape[dim], 1)
            with no_grad():
                x = x.index_select(dim, at) if x.shape[dim] else x.new_zeros(
                    [size if i == dim else n for i, n in enumerate(x.shape)])
        others.append(x)
    return tree_unflatten(others, spec)


def default_decompositions() -> dict[Any, Callable[..., Any]]:
    """What run_decompositions() puts in the place of operators."""
    return core_aten_decompositions()


def save(ep: ExportedProgram, f: Any, *, extra_files: dict[str, Any] | None = None, opset_version: Any = None,
         pickle_protocol: int = 2) -> None:
    """Write a program to a path or file.  The format is retrograd's own: JSON and tensors."""
    from retrograd.serialization import save as write

    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead.")
    write({"format": FORMAT, **ep._program.state(), "guards": json.dumps([vars(g) for g in ep._guards]),
           "extra": dict(extra_files or {})}, f)


def load(f: Any, *, extra_files: dict[str, Any] | None = None, expected_opset_version: Any = None) -> ExportedProgram:
    """The program that save() wrote; the file's functions are looked up among torch's, and no code of its own runs.

    ValueError for another file; those that PyTorch writes cannot be read.
    """
    program, found = program_in(f, FORMAT, "torch.export.save", {"extra": dict, "guards": str})
    for name in extra_files or ():
        extra_files[name] = found["extra"].get(name)  # type: ignore[index]
    try:
        guards = [Guard.of(fields) for fields in json.loads(found["guards"])]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{f} is damaged: {type(error).__name__}: {error}") from None
    if [guard.name for guard in guards] != [n.name for n in program.inputs()]:
        raise ValueError(f"{f} is damaged: its guards are not those of its inputs")
    return ExportedProgram(program, guards)
