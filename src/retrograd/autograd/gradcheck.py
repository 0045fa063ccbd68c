"""Compare gradients with finite differences.  https://pytorch.org/docs/stable/autograd.html#numerical-gradient-checking"""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wants_grad, wrap
from .._engine.warn import warn
from ..random import Generator
from .function import Function

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError"]

NOTES = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
UNDEFINED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say."""


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:
    """Are the gradients of func at `inputs` those of central differences with step `eps`?

    inputs     a Tensor or a tuple; those with requires_grad are checked.  Use float64: float32 is too rough
    atol, rtol how far they may be apart: atol + rtol * |numeric|
    nondet_tol how much two backward passes may differ
    check_undefined_grad  also let some output gradients be missing
    check_grad_dtypes     also demand gradients of their inputs' dtypes
    check_batched_grad    also differentiate under vmap; check_backward_ad=False leaves backward passes out
    GradcheckError, unless raise_exception is False.  fast_mode is accepted; every element is checked all the same.  masked is
    about sparse tensors, and has no effect.
    check_forward_ad  also the tangents of torch.autograd.forward_ad; check_batched_forward_grad  also under vmap
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    given = _tuple(inputs)
    try:
        _check_inputs(given)
        outputs = _differentiable(func(*given))
        if not outputs:
            _check_no_outputs(func, given, eps)
            return True
        if check_forward_ad:
            _check_tangents(func, given, eps, atol, rtol, check_undefined_grad)
        if check_batched_forward_grad:
            _check_batched_tangents(func, given)
        if not check_backward_ad:
            return True
        _check_values(func, given, outputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        if check_batched_grad:
            _check_batched(given, outputs)
        _check_zero(given, outputs)
        if check_undefined_grad:
            _check_undefined(func, given, outputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
    nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False,
) -> bool:
    """gradcheck of the gradient of func: are second derivatives right?

    grad_outputs  where the gradient is taken, also with respect to them; None: random, and with gen_non_contig_grad_outputs
                  not contiguous
    check_fwd_over_rev, check_rev_over_rev   by tangents, by gradients of the gradient
    The other parameters are gradcheck's: inputs, eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad,
    check_grad_dtypes, check_batched_grad, fast_mode, masked.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    given = _tuple(inputs)
    if grad_outputs is None:
        seeds = tuple(_random_like(out, gen_non_contig_grad_outputs) for out in _differentiable(func(*given)))
    else:
        seeds = _tuple(grad_outputs)
    count = len(seeds)
    places = [i for i, x in enumerate(given) if isinstance(x, TensorBase) and wants_grad(x)]

    def gradient(*args: Any) -> Any:
        wanted = [args[i].requires_grad_() for i in places]
        outputs = _differentiable(func(*args[:len(args) - count]))
        found = _grad(outputs, wanted, args[len(args) - count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient, given + seeds, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked)


def _tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _differentiable(out: Any) -> tuple[Any, ...]:
    return tuple(o for o in _tuple(out) if isinstance(o, TensorBase) and wants_grad(o))


def _wanted(given: tuple[Any, ...]) -> list[Any]:
    return [x for x in given if isinstance(x, TensorBase) and wants_grad(x)]


def _random_like(out: Any, non_contiguous: bool, generator: Any = None) -> Any:
    from .._functions.create import rand
    dtype = out.dtype if out.dtype.is_floating_point or out.dtype.is_complex else None
    values = rand(tuple(out.shape), dtype=dtype, generator=generator) * 2 - 1
    if non_contiguous and values.dim():
        values = values.transpose(0, -1).contiguous().transpose(0, -1)
    return values.detach().requires_grad_()


def _check_inputs(given: tuple[Any, ...]) -> None:
    for i, x in enumerate(given):
        if not (isinstance(x, TensorBase) and wants_grad(x)):
            continue
        if x.array.dtype not in (np.float64, np.complex128):
            warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ")
        if x.array.size > 1 and any(s == 0 and n > 1 for s, n in zip(x.array.strides, x.array.shape)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck.")
    if not _wanted(given):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True.")


def _arrays(out: Any) -> list[Any]:
    found = [o for o in _tuple(out) if isinstance(o, TensorBase)]
    return [np.array(o.array, copy=True) for o in found if o.array.dtype.kind in "fcV"]


def _parts(a: Any) -> Any:
    """The numbers in a row; complex ones as pairs of real ones, which all of this is about."""
    row = np.ascontiguousarray(a).reshape(-1)
    return row.view(row.real.dtype)


def _units(dtype: Any) -> tuple[Any, ...]:
    """The directions in which a number of that dtype can change."""
    return (1, 1j) if dtype.kind == "c" else (1,)


def _numerical(func: Callable[..., Any], given: tuple[Any, ...], x: Any, eps: float) -> list[Any]:
    """Central differences: one matrix (numbers of x, numbers of the output) per output."""
    array = x.array
    rows: list[list[Any]] = []
    for place, unit in itertools.product(np.ndindex(array.shape), _units(array.dtype)):
        had = array[place].item()
        try:
            array[place] = had - eps * unit
            low = _outputs_at(func, given)
            array[place] = had + eps * unit
            high = _outputs_at(func, given)
        finally:
            array[place] = had
        for a, b in zip(low, high):
            if a.shape != b.shape:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same shape when inputs are perturbed on index {place} "
                    f"by {eps}, but got: shapes {wrap(a).shape} and {wrap(b).shape}.")
        rows.append([_parts((b - a) / (2 * eps)) for a, b in zip(low, high)])
    if not rows:
        return [np.zeros((0, _parts(a).size)) for a in _outputs_at(func, given)]
    return [np.stack([row[k] for row in rows]) for k in range(len(rows[0]))]


def _outputs_at(func: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
    out = func(*given)
    found = _differentiable(out)
    return [np.array(o.array, copy=True) for o in found] if found else _arrays(out)


def _analytical(out: Any, wanted: list[Any], dtypes: bool) -> list[Any]:
    """The Jacobian of one output by backward passes, one matrix per input."""
    made = [np.zeros((_parts(x.array).size, _parts(out.array).size), out.array.real.dtype) for x in wanted]
    for j, (place, unit) in enumerate(itertools.product(np.ndindex(out.array.shape), _units(out.array.dtype))):
        seed = np.zeros(out.array.shape, out.array.dtype)
        seed[place] = unit
        for k, g in enumerate(_grad(out, wanted, wrap(seed), retain_graph=True, allow_unused=True)):
            if g is None:
                continue
            if dtypes and g.array.dtype != wanted[k].array.dtype:
                raise GradcheckError("Gradient has dtype mismatch")
            if g.array.shape != wanted[k].array.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            made[k][:, j] = _parts(g.array)
    return made


def _check_values(
    func: Callable[..., Any], given: tuple[Any, ...], outputs: tuple[Any, ...], eps: float, atol: float, rtol: float,
    nondet_tol: float, dtypes: bool,
) -> None:
    wanted = _wanted(given)
    numerical = [_numerical(func, given, x, eps) for x in wanted]
    found = [_analytical(out, wanted, dtypes) for out in outputs]
    for i, out in enumerate(outputs):
        once, again = found[i], _analytical(out, wanted, dtypes)
        for k in range(len(wanted)):
            if not np.allclose(once[k], again[k], rtol=0, atol=nondet_tol, equal_nan=True):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient.The tolerance for "
                    f"nondeterminism was {nondet_tol}.")
    for part in (1, 0):
        for (i, out), (k, x) in itertools.product(enumerate(outputs), enumerate(wanted)):
            many = len(_units(out.array.dtype))
            a, n = (_of_input(m[:, part::many].astype(np.float64), x) for m in (found[i][k], numerical[k][i]))
            if part < many and not np.allclose(a, n, rtol=rtol, atol=atol):
                prefix = f"While considering the {('real', 'imaginary')[part]} part of complex outputs only, " if many > 1 else ""
                raise GradcheckError(f"{prefix}Jacobian mismatch for output {i} with respect to input {k},\n"
                                     f"numerical:{wrap(n)}\nanalytical:{wrap(a)}\n")


def _of_input(rows: Any, x: Any) -> Any:
    """Derivatives with respect to the numbers of x: those for both parts of a complex number as one."""
    return rows[0::2] + 1j * rows[1::2] if x.array.dtype.kind == "c" else rows


def _constant(x: Any) -> Any:
    return x.detach() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


def _pushed(func: Callable[..., Any], given: tuple[Any, ...], tangents: dict[int, Any]) -> list[Any]:
    """Outputs' tangents, where those of some inputs are `tangents`; None where they depend on none of those."""
    from . import forward_ad

    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), tangents[i]) if i in tangents else _constant(x) for i, x in enumerate(given)]
        found = [o for o in _tuple(func(*duals)) if isinstance(o, TensorBase) and o.array.dtype.kind in "fcV"]
        return [forward_ad.unpack_dual(o).tangent for o in found]


def _check_tangents(
    func: Callable[..., Any], given: tuple[Any, ...], eps: float, atol: float, rtol: float, undefined: bool,
) -> None:
    places = [i for i, x in enumerate(given) if isinstance(x, TensorBase) and wants_grad(x)]
    for k, i in enumerate(places):
        array, columns = given[i].array, []
        numerical = _numerical(func, tuple(_constant(x) for x in given), given[i], eps)
        for place, unit in itertools.product(np.ndindex(array.shape), _units(array.dtype)):
            one = np.zeros(array.shape, array.dtype)
            one[place] = unit
            columns.append(_pushed(func, given, {i: wrap(one)}))
        for j, n in enumerate(numerical if columns else ()):
            a = np.stack([np.zeros(n.shape[1]) if column[j] is None else _parts(column[j].array) for column in columns])
            if not np.allclose(a.astype(np.float64), n.astype(np.float64), rtol=rtol, atol=atol):
                raise GradcheckError(
                    f"Jacobian computed with forward mode mismatch for output {j} with respect to input {k},\n"
                    f"numerical:{wrap(n)}\nanalytical:{wrap(a)}\n")
    generator = Generator().manual_seed(0)              # PyTorch draws these from no global generator either
    vectors = {i: _random_like(given[i], False, generator).detach() for i in places}
    for i in places if undefined else ():
        zero = _pushed(func, given, {**vectors, i: wrap(np.zeros_like(given[i].array))})
        none = _pushed(func, given, {at: v for at, v in vectors.items() if at != i})
        for j, (a, b) in enumerate(zip(zero, none)):
            if a is not None and b is not None and not np.allclose(a.array, b.array):
                raise GradcheckError(
                    "Mismatch in tangent values for output with index: ", j, " when input: ", given[i],
                    " has an undefined tangent value. ", " Got: ", a, " but expected: ", b)


def _check_batched_tangents(func: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Two tangents at once give what they give one after the other."""
    from .._functions.join import stack
    from ..func import vmap

    for i, x in enumerate(given):
        if not (isinstance(x, TensorBase) and wants_grad(x)):
            continue

        def push(tangent: Any, i: int = i) -> Any:
            return tuple(t for t in _pushed(func, given, {i: tangent}) if t is not None)
        vectors = [_random_like(x, False).detach() for _ in range(2)]
        apart = [push(v) for v in vectors]
        for k, t in enumerate(vmap(push)(stack(vectors)) if apart[0] else ()):
            if not np.allclose(t.array, np.stack([a[k].array for a in apart])):
                raise GradcheckError(f"\nFor output {k} and input {i}:\n\nbatched tangents differ from single ones\n")


def _check_no_outputs(func: Callable[..., Any], given: tuple[Any, ...], eps: float) -> None:
    for x in _wanted(given):
        for matrix in _numerical(func, given, x, eps):
            if (np.abs(matrix) > 0).any():
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_batched(given: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Two gradients at once are those of two passes."""
    from .._functions.join import stack
    wanted = _wanted(given)
    for i, out in enumerate(outputs):
        seeds = [_random_like(out, False).detach() for _ in range(2)]
        apart = [_grad(out, wanted, s, retain_graph=True, allow_unused=True) for s in seeds]
        whole = _grad(out, wanted, stack(seeds), retain_graph=True, allow_unused=True, is_grads_batched=True)
        for k, g in enumerate(whole):
            if g is not None and not np.allclose(g.array, np.stack([a[k].array for a in apart])):
                raise GradcheckError(f"\nFor output {i} and input {k}:\n\nbatched gradients differ from single ones\n")


def _check_zero(given: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """A zero gradient must come back as zero."""
    wanted = _wanted(given)
    if not wanted:
        raise GradcheckError("no Tensors requiring grad found in input")
    seeds = [wrap(np.zeros_like(out.array)) for out in outputs]
    for g, x in zip(_grad(outputs, wanted, seeds, retain_graph=True, allow_unused=True), wanted):
        if g is None:
            continue
        if (g.array != 0).any():
            raise GradcheckError("backward not multiplied by grad_output")
        if g.array.dtype != x.array.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.array.shape != x.array.shape:
            raise GradcheckError("grad is incorrect size")


class _Undefined(Function):
    """Identity through which no gradient comes back."""

    @staticmethod
    def forward(ctx: Any, *xs: Any) -> Any:
        return tuple(x.clone() for x in xs)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        return (None,) * len(gs)


def _check_undefined(func: Callable[..., Any], given: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Gradients of all outputs missing, then of each alone."""
    wanted = _wanted(given)

    def check(some: list[bool]) -> None:
        found = _differentiable(func(*given))
        seeds = [wrap(np.zeros_like(out.array)) for out in found]
        cut = _Undefined.apply(*found)
        roots = [c if undefined else out for c, out, undefined in zip(cut, found, some)]
        try:
            grads = _grad(roots, wanted, seeds, allow_unused=True)
        except RuntimeError as error:
            warn(UNDEFINED)
            raise GradcheckError("Expected backward function to handle undefined output grads. " + NOTES) from error
        for g in grads:
            if g is not None and (g.array != 0).any():
                warn(UNDEFINED)
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    + NOTES)

    n = len(outputs)
    check([True] * n)
    if n > 1:
        for i in range(n):
            check([k == i for k in range(n)])


def _grad(*args: Any, **kwargs: Any) -> Any:
    from . import grad

    return grad(*args, **kwargs)
