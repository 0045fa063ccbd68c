"""torch.einsum and torch.tensordot: sums of products along named or numbered dimensions."""

from __future__ import annotations

import builtins
import functools
from typing import Any

from .._engine.modes import state
from .._engine.tensor import TensorBase
from .._rules import diagonals, linalg, shape
from .._rules import reduce as sums
from .._rules.linalg import count
from .._rules.shape import fold
from .arguments import dim_of, finish
from .matrices import check


def einsum(*args: Any) -> Any:
    """einsum(equation, *operands) or einsum(operand, sublist, ..., [output sublist]), contracted pair by pair, from
    the left.

    Letters repeated in one operand take its diagonal; '...' stands for dims that broadcast.
    """
    equation, *operands = as_equation(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(equation).__name__}")
    terms, wanted = parsed(equation, len(operands))
    dots = 0
    for i, (term, x) in enumerate(zip(terms, operands, strict=True)):
        given = len(term) - ("." in term)
        if "." not in term and given != x.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({given}) does not match the number of dimensions "
                f"({x.ndim}) for operand {i} and no ellipsis was given")
        if "." in term:
            if given > x.ndim:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({given}) is more than the number of "
                    f"dimensions ({x.ndim}) for operand {i}")
            dots = max(dots, x.ndim - given)
    dims: list[str] = []
    for letter in wanted:
        dims.extend([f".{k}" for k in range(dots)] if letter == "." else [letter])
    if "." not in wanted:
        tail = [f".{k}" for k in range(dots)]
    else:
        tail = []
    outputs = len(dims)
    dims += tail + sorted({c for term in terms for c in term if c != "." and c not in wanted})
    ready: list[Any] = []
    seen: dict[str, int] = {}
    for i, (term, x) in enumerate(zip(terms, operands, strict=True)):
        names: list[str] = []
        for letter in term:
            if letter == ".":
                missing = x.ndim - (len(term) - 1)
                names.extend(f".{k}" for k in range(dots - missing, dots))
            else:
                names.append(letter)
        x, names = without_repeats(x, names, i)
        for name, n in zip(names, x.array.shape, strict=True):
            had = seen.get(name, 1)
            if had != n and had != 1 and n != 1:
                where = "..." if name[0] == "." else name
                raise RuntimeError(
                    f"einsum(): subscript {where} has size {n} for operand {i} which does not broadcast with "
                    "previously "
                    f"seen size {had}")
            seen[name] = max(had, n) if n else 0
        absent = [d for d in dims if d not in names]
        for _ in absent:
            x = shape.unsqueeze(x, x.ndim)
        order = names + absent
        ready.append(shape.permute(x, tuple(order.index(d) for d in dims)))
    uses = [builtins.sum(x.array.shape[d] != 1 for x in ready) for d in range(len(dims))]
    y = ready[0]
    for x in ready[1:]:
        summed = []
        for d in range(outputs, len(dims)):
            ny, nx = y.array.shape[d] != 1, x.array.shape[d] != 1
            if ny and nx:
                uses[d] -= 1
                if uses[d] == 1:
                    summed.append(d)
            elif uses[d] == 1 and (ny or nx):
                if ny:
                    y = sums.sum_dims(y, (d,), True)
                else:
                    x = sums.sum_dims(x, (d,), True)
                uses[d] = 0
        y = linalg.contract(y, x, summed)
    if len(dims) > outputs:
        if len(ready) > 1:
            return shape.reshape(y, y.array.shape[:outputs])
        return sums.sum_dims(y, tuple(range(outputs, len(dims))), False)
    return y


@functools.lru_cache(maxsize=512)
def parsed(equation: str, operands: int) -> tuple[list[str], str]:
    """The letters of each operand and of the output; '.' stands for an ellipsis."""
    left, arrow, right = equation.partition("->")
    terms: list[str] = [""]
    position = 0
    while position < len(left):
        c = left[position]
        if c == ",":
            terms.append("")
        elif c == ".":
            n = len(terms) - 1
            if "." in terms[-1]:
                raise RuntimeError(f"einsum(): found '.' for operand {n} for which an ellipsis was already found")
            if left[position:position + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for operand {n} that is not part of any ellipsis")
            terms[-1] += "."
            position += 2
        elif c.isascii() and c.isalpha():
            terms[-1] += c
        elif c != " ":
            raise invalid(position)
        position += 1
    if len(terms) > operands:
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(terms) < operands:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if not arrow:
        letters = "".join(terms)
        once = sorted(c for c in set(letters) if c != "." and letters.count(c) == 1)
        return terms, ("." if "." in letters else "") + "".join(once)
    wanted = ""
    position = 0
    while position < len(right):
        c = right[position]
        if c == ".":
            if "." in wanted:
                raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found")
            if right[position:position + 3] != "...":
                raise RuntimeError("einsum(): found '.' for output that is not part of any ellipsis (...)")
            wanted += "."
            position += 2
        elif c.isascii() and c.isalpha():
            if c in wanted:
                raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
            if not any(c in term for term in terms):
                raise RuntimeError(
                    f"einsum(): output subscript {c} does not appear in the equation for any input operand")
            wanted += c
        elif c != " ":
            raise invalid(len(left) + 2 + position)
        position += 1
    return terms, wanted


def invalid(position: int) -> RuntimeError:
    return RuntimeError(
        f"einsum(): invalid subscript given at index {position} in the equation string, subscripts must be in [a-zA-Z]")


def without_repeats(x: Any, names: list[str], operand: int) -> Any:
    """Diagonals of dims that bear the same letter."""
    at = 0
    while at < len(names):
        name = names[at]
        if names.count(name) > 1:
            other = names.index(name, at + 1)
            if x.array.shape[at] != x.array.shape[other]:
                raise RuntimeError(
                    f"einsum(): subscript {name} is repeated for operand {operand} but the sizes don't match, "
                    f"{x.array.shape[other]} != {x.array.shape[at]}")
            x = diagonals.diagonal(x, 0, at, other)
            order = list(range(x.ndim - 1))
            order.insert(at, x.ndim - 1)
            x = shape.permute(x, tuple(order))
            del names[other]
        else:
            at += 1
    return x, names


def handed_on(*args: Any) -> tuple[Any, ...]:
    """The arguments as __torch_function__ gets them; a list of operands as it is only where a mode is asked."""
    equation, *operands = as_equation(args)
    it = state()
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)) and (not it.functions or it.closed == 2):
        operands = list(operands[0])
    return equation, *operands


einsum.handed_on = handed_on  # type: ignore[attr-defined]


def as_equation(args: Any) -> tuple[Any, ...]:
    """The equation and the operands, as given or from sublists."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list")
    if not isinstance(args[0], TensorBase):
        return tuple(args)
    equation, operands = from_sublists(args)
    return equation, *operands


def from_sublists(args: Any) -> Any:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) as an equation: numbers 0 to 51 are the letters A-Z, a-z."""
    def term(numbers: Any) -> str:
        out = ""
        for n in numbers:
            if n is Ellipsis:
                out += "..."
            elif 0 <= n < 52:
                out += chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)
            else:
                raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        return out
    operands = list(args[:len(args) - len(args) % 2:2])
    equation = ",".join(term(s) for s in args[1:len(args) - len(args) % 2:2])
    if len(args) % 2:
        equation += "->" + term(args[-1])
    return equation, operands


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """Sum of products over the last `dims` of a and first of b, or over the two lists of dims given."""
    check(a, "tensordot", "self")
    check(b, "tensordot", "other", 2)
    if isinstance(dims, TensorBase):
        dims = dims.array.tolist()
    if isinstance(dims, (tuple, list)) and len(dims) > 1:
        left, right = ([d.array.tolist() if isinstance(d, TensorBase) else d for d in (dims[0], dims[1])])
        left = [left] if isinstance(left, int) else list(left)
        right = [right] if isinstance(right, int) else list(right)
    else:
        if isinstance(dims, (tuple, list)):
            dims = dims[0]
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = list(range(-dims, 0)), list(range(dims))
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    if a.array.dtype != b.array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for p, q in zip(left, right, strict=True):
        n, m = a.shape[dim_of(p, a.ndim)], b.shape[dim_of(q, b.ndim)]
        if n != m and n != 1 and m != 1:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {p} and second has size {m} in "
                "dim "
                f"{q}")
    y = dotted(a, b, [dim_of(d, a.ndim) for d in left], [dim_of(d, b.ndim) for d in right])
    return finish(y, out, "tensordot", a, b)


def dotted(a: Any, b: Any, left: list[int], right: list[int]) -> Any:
    for found in (left, right):
        for d in found:
            if found.count(d) > 1:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    for p, q in zip(left, right, strict=True):
        if a.shape[p] == 1 and b.shape[q] != 1:
            b = sums.sum_dims_as(b, (q,), True, b.array.dtype)
        elif b.shape[q] == 1 and a.shape[p] != 1:
            a = sums.sum_dims_as(a, (p,), True, a.array.dtype)
    own_a = [d for d in range(a.ndim) if d not in left]
    own_b = [d for d in range(b.ndim) if d not in right]
    sizes = tuple([a.array.shape[d] for d in own_a] + [b.array.shape[d] for d in own_b])
    inner_size = count(tuple(a.array.shape[d] for d in left))
    n = count(tuple(a.array.shape[d] for d in own_a))
    m = count(tuple(b.array.shape[d] for d in own_b))
    pa = shape.permute(a, tuple(own_a + left))
    pb = shape.permute(b, tuple(right + own_b))
    if not own_a and not own_b:
        y = linalg.dot(*(x if x.ndim == 1 else fold(x, (inner_size,)) for x in (pa, pb)))
    else:
        y = linalg.mm(fold(pa, (n, inner_size)), fold(pb, (inner_size, m)))
    return shape.reshape(y, sizes)
