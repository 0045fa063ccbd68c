"""Jacobians, Hessians and their products with vectors, as functions of functions.

func           func(*inputs) -> Tensor or tuple of Tensors
inputs         a Tensor or a tuple
v              the vector: shaped like the outputs, or like the inputs
create_graph   True: the result can be differentiated again
strict         True: RuntimeError where an output does not depend on an input; False: zeros there
vectorize      True: all rows, or columns, in one pass; outputs may be complex
strategy, outer_jacobian_strategy   "reverse-mode": by rows; "forward-mode", with vectorize=True: by columns, as jacfwd

https://pytorch.org/docs/stable/autograd.html#functional-higher-level-api
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._engine.dispatch import clear_way
from .._engine.modes import state
from .._engine.tensor import TensorBase, wants_grad
from .._functions.create import eye, zeros_like
from .._functions.join import stack
from . import grad as _grad
from .grad_mode import enable_grad, is_grad_enabled, set_grad_enabled

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]

OUTPUTS = "outputs of the user-provided function"
STRICT = " This is not allowed in strict mode."
SCALAR_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)
Tensors = tuple[Any, ...]


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """-> (func(*inputs), v^T J): v is shaped like the output, the product like the inputs."""
    call = _Call("vjp", func, inputs, create_graph, strict)
    with enable_grad():
        outputs = call.run()
        vectors = call.vectors(v, outputs, call.tuple_out)
        if vectors is None and (len(outputs) != 1 or outputs[0].numel() != 1):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element.")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        product = _fill(_diff(outputs, call.inputs, vectors, create_graph), call, "back")
    return call.give(outputs, call.tuple_out), call.give(product, call.tuple_in)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """-> (func(*inputs), J v): v is shaped like the inputs.  By differentiating v^T J with respect to v."""
    call = _Call("jvp", func, inputs, create_graph, strict)
    with enable_grad():
        vectors = call.vectors(v, call.inputs, call.tuple_in)
        if vectors is None and (len(call.inputs) != 1 or call.inputs[0].numel() != 1):
            raise RuntimeError(SCALAR_INPUT)
        outputs = call.run()
        dummy = tuple(zeros_like(out, requires_grad=True) for out in outputs)
        back = _diff(outputs, call.inputs, dummy, True)
        _demand(back, "grad_inputs", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        product = _fill(_diff(back, dummy, vectors, create_graph), call, "back_trick", outputs)
    return call.give(outputs, call.tuple_out), call.give(product, call.tuple_out)


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """d output / d input: shape output.shape + input.shape, for tuples a tuple per output of a tuple per input."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".')
    if strategy == "forward-mode":
        refused = "`create_graph=True`" if create_graph else "`strict=True`" if strict else ""
        if refused:
            flag = refused.strip("`").replace("True", "False")
            kind = NotImplementedError if create_graph else RuntimeError
            raise kind(
                f'torch.autograd.functional.jacobian: {refused} and `strategy="forward-mode"` are not supported '
                f'together (yet). Please either set `{flag}` or `strategy="reverse-mode"`.')
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`.")
    if vectorize and strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`.")
    call = _Call("jacobian", func, inputs, create_graph, strict)
    with enable_grad():
        table = _columns(call) if strategy == "forward-mode" else tuple(
            _at_once(call, out) if vectorize else _rows(call, i, out) for i, out in enumerate(call.run()))
    table = tuple(call.give(row, call.tuple_in) for row in table)
    return table if call.tuple_out else table[0]


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Second derivatives of a func with one element: shape input.shape + input.shape, for tuples a tuple of tuples."""
    tuple_in, _ = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def gradient(*values: Any) -> Any:
        found = jacobian(lambda *x: _single(func(*x), "hessian"), values, create_graph=True)
        _demand(found, "jacobian", strict)
        return found

    table = jacobian(
        gradient, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize,
        strategy=outer_jacobian_strategy)
    return table if tuple_in else table[0]


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """-> (func(*inputs), v^T H) for a func with one element; v is shaped like the inputs."""
    call = _Call("vhp", func, inputs, create_graph, strict)
    with enable_grad():
        vectors = call.vectors(v, call.inputs, call.tuple_in)
        if vectors is None and (len(call.inputs) != 1 or call.inputs[0].numel() != 1):
            raise RuntimeError(SCALAR_INPUT)
        outputs = call.run()
        _single(outputs if call.tuple_out else outputs[0], "vhp")
        first = _diff(outputs, call.inputs, None, True)
        _demand(first, "jacobian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        product = _fill(_diff(first, call.inputs, vectors, create_graph), call, "double_back")
    return call.give(outputs, call.tuple_out), call.give(product, call.tuple_in)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """-> (func(*inputs), H v).  Slower than vhp, which is equal where H is symmetric."""
    call = _Call("hvp", func, inputs, create_graph, strict)
    with enable_grad():
        vectors = call.vectors(v, call.inputs, call.tuple_in)
        if vectors is None and (len(call.inputs) != 1 or call.inputs[0].numel() != 1):
            raise RuntimeError(SCALAR_INPUT)
        outputs = call.run()
        _single(outputs if call.tuple_out else outputs[0], "hvp")
        first = _diff(outputs, call.inputs, None, True)
        _demand(first, "jacobian", strict)
        dummy = tuple(zeros_like(x, requires_grad=True) for x in call.inputs)
        second = _diff(first, call.inputs, dummy, True)
        _demand(second, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        product = _fill(_diff(second, dummy, vectors, create_graph), call, "double_back_trick")
    return call.give(outputs, call.tuple_out), call.give(product, call.tuple_in)


class _Call:
    """One use of one of the functions above."""

    def __init__(self, name: str, func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool) -> None:
        clear_way(state())
        self.name = name
        self.func = func
        self.create_graph = create_graph
        self.strict = strict
        self.tuple_in, given = _as_tuple(inputs, "inputs", name)
        with enable_grad():
            self.inputs = tuple(_fresh(x, create_graph, True) for x in given)
        self.tuple_out = False

    def run(self) -> Tensors:
        self.tuple_out, outputs = _as_tuple(self.func(*self.inputs), OUTPUTS, self.name)
        _demand(outputs, "outputs", self.strict)
        return outputs

    def vectors(self, v: Any, like: Tensors, several: bool) -> Any:
        """v as a tuple shaped like `like`."""
        if v is None:
            return None
        given = tuple(_fresh(x, self.create_graph, False) for x in _as_tuple(v, "v", self.name)[1])
        if len(given) != len(like):
            if several:
                raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
            raise RuntimeError("The given v should contain a single Tensor.")
        for i, (x, y) in enumerate(zip(given, like)):
            if x.size() != y.size():
                entry = f"Entry {i} in " if several else ""
                raise RuntimeError(f"{entry}v has invalid size: should be {y.size()} but got {x.size()}.")
        return given

    def give(self, found: Tensors, several: bool) -> Any:
        """What the caller gets: outside the graph unless create_graph, a tuple if the argument was one."""
        if not self.create_graph:
            found = tuple(x.detach() for x in found)
        return found if several else found[0]


def _at_once(call: _Call, out: Any) -> Tensors:
    """The Jacobian of one output, which may be complex, by one pass."""
    n = out.numel()
    units = eye(n, dtype=out.dtype).view(n, *out.shape)
    found = _diff((out,), call.inputs, (units,), call.create_graph, True, True) if n else (None,) * len(call.inputs)
    return tuple(x.new_zeros(out.size() + x.size()) if g is None else g.reshape(out.size() + x.size())
                 for g, x in zip(found, call.inputs))


def _rows(call: _Call, i: int, out: Any) -> Tensors:
    """The Jacobian of one output, row by row."""
    columns: list[list[Any]] = [[] for _ in call.inputs]
    flat = out.reshape(-1)
    for at in range(out.numel()):
        element = flat[at]                      # all elements at once would be pieces of one node, which puts them together again
        found = _diff((element,), call.inputs, None, call.create_graph, True)
        for k, (g, x) in enumerate(zip(found, call.inputs)):
            if g is None:
                if call.strict:
                    raise RuntimeError(
                        f"Output {i} of the user-provided function is independent of input {k}." + STRICT)
                g = zeros_like(x)
            elif call.strict and call.create_graph and not wants_grad(g):
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
                    "strict mode when create_graph=True.")
            columns[k].append(g)
    return tuple(stack(rows).view(out.size() + x.size()) for rows, x in zip(columns, call.inputs))


def _columns(call: _Call) -> tuple[Tensors, ...]:
    """The Jacobians of all outputs, by forward mode."""
    from ..func._derivatives import by_columns

    def several(*values: Any) -> Tensors:
        call.tuple_out, found = _as_tuple(call.func(*values), OUTPUTS, call.name)
        return found
    inputs = tuple(x.detach() for x in call.inputs)
    found: tuple[Tensors, ...] = by_columns(several, inputs, tuple(range(len(inputs))), False, "error", False)
    return found


def _as_tuple(given: Any, what: str, name: str) -> tuple[bool, Tensors]:
    several = isinstance(given, tuple)
    found = given if several else (given,)
    for i, x in enumerate(found):
        if not isinstance(x, TensorBase):
            which = f"value at index {i}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {which} has type "
                f"{type(x)}.")
    return several, found


def _fresh(x: Any, create_graph: bool, want: bool) -> Any:
    """x to differentiate at: still in the caller's graph under create_graph, a leaf otherwise."""
    return x.view_as(x) if create_graph and wants_grad(x) else x.detach().requires_grad_(want)


def _diff(
    outputs: Tensors, inputs: Tensors, vectors: Any, create_graph: bool, retain: bool | None = None, batched: bool = False,
) -> Tensors:
    """autograd.grad, None where nothing depends on an input."""
    given = (None,) * len(outputs) if vectors is None else vectors
    pairs = [(out, v) for out, v in zip(outputs, given) if out is not None and wants_grad(out)]
    if not pairs:
        return (None,) * len(inputs)
    found: Tensors = _grad(
        [out for out, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True, create_graph=create_graph,
        retain_graph=retain, is_grads_batched=batched)
    return found


def _single(out: Any, name: str) -> Any:
    several, found = _as_tuple(out, OUTPUTS, name)
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if found[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return found[0].squeeze()


def _demand(found: Tensors, what: str, strict: bool) -> None:
    """In strict mode, RuntimeError unless everything found can be differentiated further."""
    if not strict:
        return
    for i, x in enumerate(found):
        if x is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}." + STRICT)
        if wants_grad(x):
            continue
        if what == "hessian":
            raise RuntimeError(
                f"The hessian of the user-provided function with respect to input {i} is independent of the input."
                f"{STRICT} You should ensure that your function is thrice differentiable and that the hessian depends "
                "on the inputs.")
        if what == "jacobian":
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                f"input {i} is independent of the input.{STRICT} You should ensure that your function is twice "
                "differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
                "function for example).")
        if what == "grad_inputs":
            raise RuntimeError(
                f"The gradient with respect to input {i} is independent of the inputs of the user-provided function."
                + STRICT)
        raise RuntimeError(
            f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
            "differentiable manner from the input when running in strict mode.")


ABSENT = {
    "back": "The output of the user-provided function is independent of input {}." + STRICT,
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using "
                  "the double backward trick to compute forward mode gradients." + STRICT,
    "double_back": "The jacobian of the user-provided function is independent of input {}." + STRICT,
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
                         "This is not allowed in strict mode as it prevents from using the double backward trick to "
                         "replace forward mode AD.",
}


def _fill(found: Tensors, call: _Call, stage: str, like: Tensors | None = None) -> Tensors:
    """Zeros where nothing was found, or in strict mode a RuntimeError."""
    whole = []
    for i, (g, x) in enumerate(zip(found, call.inputs if like is None else like)):
        if g is None:
            if call.strict:
                raise RuntimeError(ABSENT[stage].format(i))
            g = zeros_like(x)
        elif call.strict and call.create_graph and not wants_grad(g):
            order = "hessian" if stage.startswith("double") else "jacobian"
            raise RuntimeError(
                f"The {order} of the user-provided function is independent of input {i}. This is not allowed in strict "
                "mode when create_graph=True.")
        whole.append(g)
    return tuple(whole)
