"""Matrix products and decompositions: torch.matmul, torch.einsum, torch.linalg.* and their methods."""
from __future__ import annotations

import builtins
import functools
import math
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._ops import choose, create, decomp, index, linalg, shape
from .._ops import reduce as sums
from .._ops.linalg import C_NAMES, KINDS, count, fold
from ._args import dim_of, finish, tensor
from .reduce import named, vector_norm

__all__ = [
    "matmul", "mm", "bmm", "mv", "dot", "inner", "vdot", "outer", "ger", "addmm", "addmv", "addmv_", "addbmm",
    "baddbmm", "addr", "einsum", "tensordot", "kron", "cross", "cdist", "chain_matmul", "bilinear", "inverse",
    "pinverse", "det",
    "logdet", "slogdet", "cholesky", "cholesky_solve", "cholesky_inverse", "triangular_solve", "qr", "svd",
    "matrix_power", "matrix_exp",
]
METHODS = [
    "matmul", "mm", "bmm", "mv", "dot", "inner", "vdot", "outer", "ger", "addmm", "addmm_", "addmv", "addmv_", "addbmm",
    "addbmm_", "baddbmm", "baddbmm_", "addr", "addr_", "kron", "cross", "inverse", "pinverse", "det", "logdet",
    "slogdet", "cholesky", "cholesky_solve", "cholesky_inverse", "triangular_solve", "qr", "svd", "matrix_power",
    "matrix_exp",
]
FUNCTIONAL = ["linear", "bilinear"]

LinAlgError = decomp._LinAlgError
LinAlgError.__module__ = "retrograd._C"


# Products

def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """Product of vectors, matrices or batches of matrices (which broadcast)."""
    a = tensor(input, "matmul")
    b = tensor(other, "matmul", "other", 2)
    return finish(linalg.matmul(a, b), out, "matmul", a, b)


def mm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """(n, m) @ (m, p)"""
    a = tensor(input, "mm")
    b = tensor(mat2, "mm", "mat2", 2)
    return finish(linalg.mm(a, b), out, "mm", a, b)


def bmm(input: Any, mat2: Any, *, out: Any = None) -> Any:
    """(b, n, m) @ (b, m, p)"""
    a = tensor(input, "bmm")
    b = tensor(mat2, "bmm", "mat2", 2)
    return finish(linalg.bmm(a, b), out, "bmm", a, b)


def mv(input: Any, vec: Any, *, out: Any = None) -> Any:
    """(n, m) @ (m,)"""
    a = tensor(input, "mv")
    b = tensor(vec, "mv", "vec", 2)
    return finish(linalg.mv(a, b), out, "mv", a, b)


def dot(input: Any, tensor: Any, *, out: Any = None) -> Any:
    """(m,) . (m,); no broadcasting."""
    a = check(input, "dot")
    b = check(tensor, "dot", "tensor", 2)
    return finish(linalg.dot(a, b), out, "dot", a, b)


check = tensor


def vdot(input: Any, other: Any, *, out: Any = None) -> Any:
    """dot, for real tensors."""
    a = check(input, "vdot")
    b = check(other, "vdot", "other", 2)
    return finish(linalg.vdot(a, b), out, "vdot", a, b)


def inner(input: Any, other: Any, *, out: Any = None) -> Any:
    """Sum of products over the last dim of both; one of them may be a 0-dim factor."""
    a = check(input, "inner")
    b = check(other, "inner", "other", 2)
    if a.ndim == 0 or b.ndim == 0:
        return finish(a * b, out, "inner", a, b)
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a.shape)} and {list(b.shape)}")
    return finish(dotted(a, b, [a.ndim - 1], [b.ndim - 1]), out, "inner", a, b)


def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """(n,) x (m,) -> (n, m)"""
    a = check(input, "outer")
    b = check(vec2, "outer", "vec2", 2)
    for name, x in (("self", a), ("vec2", b)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return finish(fold(a, (a.shape[0], 1)) * b, out, "outer", a, b)


ger = outer


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2); input broadcasts, and is ignored when beta is 0."""
    return affine(linalg.AddmmBackward0, "addmm", ("mat1", "mat2"), input, mat1, mat2, beta, alpha, out)


def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat @ vec)"""
    return affine(linalg.AddmvBackward0, "addmv", ("mat", "vec"), input, mat, vec, beta, alpha, out)


def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (batch1 @ batch2 summed over the batch)"""
    return affine(linalg.AddbmmBackward0, "addbmm", ("batch1", "batch2"), input, batch1, batch2, beta, alpha, out)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (batch1 @ batch2)"""
    return affine(linalg.BaddbmmBackward0, "baddbmm", ("batch1", "batch2"), input, batch1, batch2, beta, alpha, out)


def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * outer(vec1, vec2)"""
    return affine(linalg.AddrBackward0, "addr", ("vec1", "vec2"), input, vec1, vec2, beta, alpha, out)


def affine(op: Any, name: str, names: Any, input: Any, a: Any, b: Any, beta: Any, alpha: Any, out: Any) -> Any:
    xs = [check(input, name), check(a, name, names[0], 2), check(b, name, names[1], 3)]
    return finish(op(beta, alpha).run(xs), out, name, *xs)


def in_place(op: Any, name: str, names: Any) -> Any:
    """The in-place method of `op`."""
    def method(input: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        xs = [check(input, name), check(a, name, names[0], 1), check(b, name, names[1], 2)]
        have, sa, sb = (tuple(x.array.shape) for x in xs)
        if name == "addmm_" and len(sa) == len(sb) == 2 and sa[1] == sb[0] and have != (sa[0], sb[1]):
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(have)} and output tensor size {[sa[0], sb[1]]} should "
                "match")
        if name == "addr_" and len(sa) == len(sb) == 1 and have != sa + sb:
            if len(have) != 2:
                raise RuntimeError(f"2D tensor expected, got {len(have)}D tensor for input")
            raise RuntimeError(f"size mismatch, input: {list(have)}, v1: {list(sa)}, v2: {list(sb)}")
        full = {"addmv_": sa[:1], "baddbmm_": sa[:2] + sb[2:]}.get(name, have)
        if len(have) < len(full) and all(n in (1, m) for n, m in zip(have[::-1], full[::-1], strict=False)):
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(have)} and output tensor size {list(full)} should match")
        return op(beta, alpha).run_(xs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In place: {name[:-1]}."
    return method


addmm_ = in_place(linalg.AddmmBackward0, "addmm_", ("mat1", "mat2"))
addmv_ = in_place(linalg.AddmvBackward0, "addmv_", ("mat", "vec"))
addbmm_ = in_place(linalg.AddbmmBackward0, "addbmm_", ("batch1", "batch2"))
baddbmm_ = in_place(linalg.BaddbmmBackward0, "baddbmm_", ("batch1", "batch2"))
addr_ = in_place(linalg.AddrBackward0, "addr_", ("vec1", "vec2"))


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input (*, I) @ weight (O, I).T + bias (O,) -> (*, O)"""
    if not isinstance(input, TensorBase) or not isinstance(weight, TensorBase):
        check(input, "linear")
        check(weight, "linear", "weight", 2)
    if bias is not None and not isinstance(bias, TensorBase):
        check(bias, "linear", "bias", 3)
    return linalg.linear(input, weight, bias)


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """y[o] = input1 @ weight[o] @ input2 + bias[o], for input1 (*, I), input2 (*, J), weight (O, I, J) -> (*, O)."""
    a = check(input1, "bilinear", "input1", 1)
    b = check(input2, "bilinear", "input2", 2)
    w = check(weight, "bilinear", "weight", 3)
    if a.ndim != b.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {a.ndim} and {b.ndim}")
    for i in range(a.ndim - 1):
        if a.shape[i] != b.shape[i]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {a.shape[i]} and {b.shape[i]}")
    for name, x, d in (("input1", a, 1), ("input2", b, 2)):
        if w.ndim <= d or x.shape[-1] != w.shape[d]:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {x.shape[-1]} but expected "
                f"{w.shape[d] if w.ndim > d else 0}")
    if bias is not None and bias.shape[0] != w.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {w.shape[0]}")
    lead = tuple(a.array.shape[:-1])
    n = count(lead)
    flat_a = fold(a, (n, a.shape[-1]))
    flat_b = fold(b, (n, b.shape[-1]))
    y = einsum("ni,oij,nj->no", flat_a, w, flat_b)
    y = fold(y, lead + (w.array.shape[0],))
    return y if bias is None else y + bias


# einsum and tensordot

def einsum(*args: Any) -> Any:
    """einsum(equation, *operands) or einsum(operand, sublist, ..., [output sublist]), contracted pair by pair, from
    the left.

    Letters repeated in one operand take its diagonal; '...' stands for dims that broadcast.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list")
    if isinstance(args[0], TensorBase):
        equation, operands = from_sublists(args)
    else:
        equation = args[0]
        operands = list(args[1]) if len(args) == 2 and isinstance(args[1], (list, tuple)) else list(args[1:])
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
            x = shape.diagonal(x, 0, at, other)
            order = list(range(x.ndim - 1))
            order.insert(at, x.ndim - 1)
            x = shape.permute(x, tuple(order))
            del names[other]
        else:
            at += 1
    return x, names


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
            b = sums.sum_dims(b, (q,), True)
        elif b.shape[q] == 1 and a.shape[p] != 1:
            a = sums.sum_dims(a, (p,), True)
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


def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """Kronecker product: every element of input times the whole of other."""
    a, b = check(input, "kron"), check(other, "kron", "other", 2)
    n = max(a.ndim, b.ndim)
    sa = (1,) * (n - a.ndim) + tuple(a.array.shape)
    sb = (1,) * (n - b.ndim) + tuple(b.array.shape)
    left = shape.unsafe_view(a, tuple(v for s in sa for v in (s, 1)))
    right = shape.unsafe_view(b, tuple(v for s in sb for v in (1, s)))
    y = shape.unsafe_view(left * right, tuple(p * q for p, q in zip(sa, sb, strict=True)))
    return finish(y, out, "kron", a, b)


def cross(input: Any, other: Any, dim: Any = None, *, out: Any = None) -> Any:
    """Cross product along a dim of size 3 (the first such, if not given)."""
    a, b = check(input, "cross"), check(other, "cross", "other", 2)
    if dim is None:
        found = [d for d, n in enumerate(a.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return crossed(a, b, dim, out)


def linalg_cross(input: Any, other: Any, *, dim: int = -1, out: Any = None) -> Any:
    """Cross product along a dim of size 3; the others broadcast."""
    return crossed(check(input, "linalg_cross"), check(other, "linalg_cross", "other", 2), dim, out)


def crossed(a: Any, b: Any, dim: int, out: Any) -> Any:
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    at = dim_of(dim, a.ndim)
    if a.shape[at] != 3 or b.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[at]} and {b.shape[at]}")
    return finish(linalg.cross(a, b, at), out, "linalg_cross", a, b)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """p-norm distances of the rows of x1 (*, n, m) and x2 (*, k, m) -> (*, n, k)."""
    a, b = check(x1, "cdist", "x1"), check(x2, "cdist", "x2", 2)
    if compute_mode not in (
            "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", a), ("X2", b)):
        if x.array.dtype.kind not in "fV":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {kind_of(x)}")
    for name, x in (("X1", a), ("X2", b)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    linalg.batch_shape(tuple(a.array.shape[:-2]), tuple(b.array.shape[:-2]))
    same_type(a, b)
    return linalg.CdistBackward0(float(p)).run(a, b)


def same_type(a: Any, b: Any) -> None:
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(f"expected scalar type {kind_of(a)} but found {kind_of(b)}")


def kind_of(x: Any) -> str:
    return KINDS[x.array.dtype.name]


def multi_dot(tensors: Any, *, out: Any = None) -> Any:
    """The product of several matrices, in the cheapest order; the first and last may be vectors."""
    xs = list(tensors)
    n = len(xs)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    sizes: list[int] = []
    shown: list[int] = []
    if xs[0].ndim == 1:
        xs[0] = shape.unsqueeze(xs[0], 0)
    elif xs[0].ndim == 2:
        shown.append(xs[0].shape[0])
    else:
        raise RuntimeError(f"multi_dot(): the first tensor must be 1D or 2D but got {xs[0].ndim}D")
    if xs[-1].ndim == 1:
        xs[-1] = shape.unsqueeze(xs[-1], 1)
    elif xs[-1].ndim == 2:
        shown.append(xs[-1].shape[1])
    else:
        raise RuntimeError(f"multi_dot(): the last tensor must be 1D or 2D but got {xs[-1].ndim}D")
    for i in range(1, n - 1):
        if xs[i].ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {xs[i].ndim}D")
    for i in range(n):
        if xs[i].array.dtype != xs[0].array.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{C_NAMES[xs[0].array.dtype.name]} and tensor {i} {C_NAMES[xs[i].array.dtype.name]}")
    for i in range(n - 1):
        if xs[i].shape[1] != xs[i + 1].shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(xs[i].shape)} and {list(xs[i + 1].shape)} "
                "cannot be multiplied")
    sizes = [x.shape[0] for x in xs] + [xs[-1].shape[1]]
    y = linalg.mm(xs[0], xs[1]) if n == 2 else chain(xs, best_splits(sizes), 0, n - 1)
    return finish(shape.reshape(y, tuple(shown)), out, "multi_dot", *xs)


def best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Matrix-chain order by dynamic programming (Cormen et al., section 14.2)."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def chain(xs: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return xs[i]
    k = split[i, j]
    return linalg.mm(chain(xs, split, i, k), chain(xs, split, k + 1, j))


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """Old name of torch.linalg.multi_dot."""
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if len(matrices) == 1:
        return create.clone(matrices[0])
    return multi_dot(matrices, out=out)


def vecdot(x: Any, y: Any, *, dim: int = -1, out: Any = None) -> Any:
    """Sum of x * y over one dim; the others broadcast."""
    product = check(x, "linalg_vecdot", "x") * check(y, "linalg_vecdot", "y", 2)
    return finish(sums.sum_dims(product, (dim_of(dim, product.ndim),), False), out, "linalg_vecdot", x, y)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A view of the diagonals of matrices."""
    x = check(A, "linalg_diagonal", "A")
    return shape.diagonal(x, offset, dim_of(dim1, x.ndim), dim_of(dim2, x.ndim))


# Norms

def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None) -> Any:
    """Vector norm, or matrix norm when ord is given for a matrix or dim names two dims."""
    x = check(A, "linalg_norm", "A")
    if ord is None:
        return vector_norm(x, 2, dim, keepdim, dtype=dtype, out=out)
    if dim is None:
        if x.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " f"{x.ndim}D.")
        two = x.ndim == 2 or isinstance(ord, str)
        dims: Any = (-2, -1)
    else:
        two = isinstance(ord, str) or (not isinstance(dim, int) and len(dim) == 2)
        dims = dim
        if isinstance(ord, str) and (isinstance(dim, int) or len(dim) != 2):
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    if two:
        return matrix_norm(x, ord, dims, keepdim, dtype=dtype, out=out)
    return vector_norm(x, ord, dim, keepdim, dtype=dtype, out=out)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Any = None,
) -> Any:
    """Norm of matrices: "fro", "nuc", inf, -inf, 1, -1, 2 or -2."""
    x = check(A, "linalg_matrix_norm", "A")
    if ord not in ("fro", "nuc") if isinstance(ord, str) else abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if x.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if x.array.dtype.kind not in "fV":
        raise RuntimeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {kind_of(x)}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = dim_of(dim[0], x.ndim), dim_of(dim[1], x.ndim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(x, 2, (first, second), keepdim, dtype=dtype, out=out)
    if dtype is not None:
        x = x.to(dtype)
    if ord == "nuc" or abs(ord) == 2:
        rest = [d for d in range(x.ndim) if d not in (first, second)]
        y = svdvals(shape.permute(x, tuple(rest + [first, second])))
        last = y.ndim - 1
        reduced = sums.sum_dims if ord == "nuc" else sums.amax if ord > 0 else sums.amin
        y = reduced(y, (last,), keepdim)
        if keepdim:
            order = rest + [first, second]
            y = shape.permute(shape.unsqueeze(y, y.ndim), tuple(order.index(d) for d in range(x.ndim)))
        return finish(y, out, "linalg_matrix_norm", x)
    if abs(ord) == math.inf:
        first, second = second, first
    y = vector_norm(x, 1, first, keepdim)
    if second > first and not keepdim:
        second -= 1
    y = (sums.amax if ord > 0 else sums.amin)(y, (second,), keepdim)
    return finish(y, out, "linalg_matrix_norm", x)


def cond(A: Any, p: Any = None, *, out: Any = None) -> Any:
    """Condition number: ratio of extreme singular values, or |A| |A^-1| in the norm p (inf for singular matrices)."""
    x = matrices(A, "linalg.cond")
    if p is None or p == 2 or p == -2:
        s = svdvals(x)
        top = index.getitem(s, (Ellipsis, builtins.slice(0, 1)))
        low = index.getitem(s, (Ellipsis, builtins.slice(-1, None)))
        y = shape.squeeze_dim(low / top if p == -2 else top / low, s.ndim - 1)
        return finish(y, out, "linalg_cond", x)
    square(x, "linalg.cond")
    if isinstance(p, str) and p not in ("fro", "nuc") or not isinstance(p, str) and abs(p) not in (1, math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    try:
        inverse = decomp.inv(x)
    except LinAlgError:
        return finish(wrap(np.full(x.array.shape[:-2], np.inf, x.array.dtype)), out, "linalg_cond", x)
    return finish(matrix_norm(x, p) * matrix_norm(inverse, p), out, "linalg_cond", x)


# Checks of matrices

def matrices(A: Any, name: str) -> Any:
    x = check(A, name.replace(".", "_"), "A")
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    floats(x, name)
    return x


def floats(x: Any, name: str) -> None:
    dtype = x.array.dtype
    if dtype.kind not in "fV":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {kind_of(x)}")
    if dtype.itemsize == 2:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {kind_of(x)}")


def square(x: Any, name: str) -> None:
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} matrices")


def squares(A: Any, name: str) -> Any:
    x = check(A, name.replace(".", "_"), "A")
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    square(x, name)
    floats(x, name)
    return x


def zeros_info(x: Any) -> Any:
    return wrap(np.zeros(x.array.shape[:-2], np.int32))


# Inverses and equations

INV_EX = named("linalg_inv_ex", "inverse", "info")
SOLVE_EX = named("linalg_solve_ex", "result", "info")
LSTSQ = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
TRIANGULAR_SOLVE = named("triangular_solve", "solution", "cloned_coefficient")


def inv(A: Any, *, out: Any = None) -> Any:
    """A^-1; LinAlgError when singular."""
    x = squares(A, "linalg.inv")
    return finish(decomp.inv(x), out, "linalg_inv", x)


def inv_ex(A: Any, *, check_errors: bool = False, out: Any = None) -> Any:
    """(inverse, info); here a singular matrix always raises."""
    x = squares(A, "linalg.inv")
    return INV_EX((decomp.inv(x), zeros_info(x)))


def inverse(input: Any, *, out: Any = None) -> Any:
    """torch.linalg.inv"""
    return inv(input, out=out)


def pinv(
    A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None,
) -> Any:
    """Moore-Penrose pseudoinverse; singular values up to max(atol, rtol * the largest) count as zero."""
    x = check(A, "linalg_pinv", "A")
    if x.ndim < 2 or x.array.dtype.kind not in "fV":
        raise RuntimeError(
            f"linalg.pinv({kind_of(x)}{{{list(x.array.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, "
            "double, cfloat or cdouble types")
    if hermitian:
        square(x, "linalg.pinv")
    cut = cutoff(x, atol, rtol if rtol is not None else rcond)
    return finish(decomp.pinv(x, cut, hermitian), out, "linalg_pinv", x)


def cutoff(x: Any, atol: Any, rtol: Any) -> Any:
    """The relative tolerance that NumPy wants for PyTorch's pair of tolerances."""
    a: Any = x.array
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps if atol is None or atol == 0 else 0.0
    if isinstance(rtol, TensorBase):
        rtol = rtol.array
    if not atol:
        return rtol
    top = np.linalg.svd(a, compute_uv=False).max(-1)
    return np.maximum(rtol, np.asarray(getattr(atol, "array", atol)) / np.where(top == 0, 1, top))


def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """torch.linalg.pinv"""
    return pinv(input, rcond)


def solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Any:
    """X with A X = B (X A = B unless left); B may be a vector.  LinAlgError when A is singular."""
    x = squares(A, "linalg.solve")
    b = check(B, "linalg_solve", "B", 2)
    if x.array.dtype != b.array.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type {kind_of(x)} and B of type "
            f"{kind_of(b)} instead")
    vector = b.ndim == 1 or (x.ndim - 1 == b.ndim and tuple(b.array.shape) == tuple(x.array.shape[:-1]))
    rows, columns = (b.shape[-1], 1) if vector else (b.shape[-2], b.shape[-1])
    if vector and not left or (rows if left else columns) != x.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({x.shape[-2]}x{x.shape[-1]} and {rows}x{columns})")
    batch = tuple(b.array.shape[:-1] if vector else b.array.shape[:-2])
    linalg.batch_shape(batch, tuple(x.array.shape[:-2]))
    return finish(decomp.solve(x, b, left, vector), out, "linalg_solve", x, b)


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """(result, info); here a singular matrix always raises."""
    return SOLVE_EX((solve(A, B, left=left), zeros_info(A)))


def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Any = None,
) -> Any:
    """X with A X = B (X A = B unless left), reading one triangle of A only."""
    a, b = check(A, "linalg_solve_triangular", "A"), check(B, "linalg_solve_triangular", "B", 2)
    name = "linalg.solve_triangular"
    for letter, x in (("A", a), ("B", b)):
        if x.ndim < 2:
            raise RuntimeError(f"{name}: The input tensor {letter} must have at least 2 dimensions.")
    square(a, name)
    if (b.shape[-2] if left else b.shape[-1]) != a.shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})")
    linalg.batch_shape(tuple(a.array.shape[:-2]), tuple(b.array.shape[:-2]))
    return finish(decomp.solve_triangular(a, b, upper, left, unitriangular), out, "linalg_solve_triangular", a, b)


def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *, out: Any = None,
) -> Any:
    """Old form of torch.linalg.solve_triangular; returns (solution, copy of A)."""
    a = shape.mT(A) if transpose else A
    y = decomp.solve_triangular(a, input, upper != transpose, True, unitriangular)
    return TRIANGULAR_SOLVE((y, create.clone(A)))


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    """(solution, residuals, rank, singular_values) of least squares; B (*, n) or (*, n, k)."""
    a, b = check(A, "linalg_lstsq", "A"), check(B, "linalg_lstsq", "B", 2)
    if a.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    vector = b.ndim == a.ndim - 1
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
            f"{kind_of(a)} and other's dtype {kind_of(b)}")
    at = -1 if vector else -2
    if a.shape[-2] != b.shape[at]:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({at})")
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    cut = rcond if rcond is not None else max(a.shape[-2:]) * float(np.finfo(a.array.dtype).eps)
    right = shape.unsqueeze(b, -1) if vector else b
    x, rank, values = decomp.lstsq(a, right, cut)
    n, m = a.shape[-2:]
    nothing = wrap(np.zeros(0, a.array.dtype))
    residuals = nothing
    if n > m and driver != "gelsy" and (driver == "gels" or np.all(rank == m)):
        error = linalg.matmul(a, x) - right
        residuals = sums.sum_dims(error * error, (error.ndim - 2,), False)
        if vector:
            residuals = shape.squeeze_dim(residuals, residuals.ndim - 1)
    found = wrap(np.zeros(0, np.int64) if driver == "gels" else np.asarray(rank, np.int64))
    singular = wrap(values) if driver in ("gelsd", "gelss") else nothing
    return LSTSQ((shape.squeeze_dim(x, x.ndim - 1) if vector else x, residuals, found, singular))


def tensorsolve(A: Any, B: Any, dims: Any = None, *, out: Any = None) -> Any:
    """X with tensordot(A, X, X.ndim) = B."""
    a, b = check(A, "linalg_tensorsolve", "A"), check(B, "linalg_tensorsolve", "B", 2)
    if dims is not None:
        moved = [dim_of(d, a.ndim) for d in dims]
        a = shape.permute(a, tuple([d for d in range(a.ndim) if d not in moved] + moved))
    sizes = tuple(a.array.shape[b.ndim:])
    if count(sizes) != count(tuple(a.array.shape[:b.ndim])):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            "prod(self.shape[:other.ndim]), but "
            f"got {count(sizes)} != {count(tuple(a.array.shape[:b.ndim]))}")
    y = solve(fold(a, (b.array.size, count(sizes))), fold(b, (b.array.size,)))
    return finish(shape.reshape(y, sizes), out, "linalg_tensorsolve", a, b)


def tensorinv(A: Any, ind: int = 2, *, out: Any = None) -> Any:
    """The tensor that undoes tensordot(A, ., A.ndim - ind)."""
    a = check(A, "linalg_tensorinv", "A")
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind', but got " + str(ind))
    head, tail = tuple(a.array.shape[:ind]), tuple(a.array.shape[ind:])
    if count(head) != count(tail):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{count(tail)} != {count(head)}")
    y = decomp.inv(fold(a, (count(head), count(tail))))
    return finish(fold(y, tail + head), out, "linalg_tensorinv", a)


# Determinants and powers

SLOGDET = {name: named(name, "sign", "logabsdet") for name in ("linalg_slogdet", "slogdet")}


def matrix_exp(A: Any) -> Any:
    """exp(A) of square matrices."""
    return decomp.matrix_exp(squares(A, "linalg.matrix_exp"))


def det(A: Any, *, out: Any = None) -> Any:
    """Determinant.  The gradient at singular matrices is that of the cofactors."""
    x = squares(A, "linalg.det")
    return finish(decomp.det(x), out, "linalg_det", x)


def linalg_slogdet(A: Any, *, out: Any = None) -> Any:
    """(sign, log |det|)"""
    return SLOGDET["linalg_slogdet"](decomp.slogdet(squares(A, "linalg.slogdet")))


def slogdet(input: Any, *, out: Any = None) -> Any:
    """(sign, log |det|)"""
    return SLOGDET["slogdet"](decomp.slogdet(squares(input, "linalg.slogdet")))


def logdet(input: Any) -> Any:
    """log det; nan where the determinant is negative."""
    sign, log = decomp.slogdet(squares(input, "linalg.slogdet"))
    nan = wrap(np.asarray(np.nan, log.array.dtype))
    return choose.where(sign.array == -1, nan, log)


def matrix_power(input: Any, n: int, *, out: Any = None) -> Any:
    """The n-th power by squaring; of the inverse when n is negative."""
    x = check(input, "matrix_power")
    if x.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    square(x, "linalg.matrix_power")
    if n == 0:
        eye = np.broadcast_to(np.eye(x.shape[-1], dtype=x.array.dtype), x.array.shape)
        return finish(index.copy_(create.clone(x), wrap(eye)), out, "linalg_matrix_power", x)
    if n == 1:
        return finish(create.clone(x), out, "linalg_matrix_power", x)
    base = inv(x) if n < 0 else x
    n = abs(n)
    times = linalg.mm if x.ndim == 2 else linalg.matmul
    if n == 1:
        return finish(base, out, "linalg_matrix_power", x)
    if n == 2:
        return finish(times(base, base), out, "linalg_matrix_power", x)
    if n == 3:
        return finish(times(times(base, base), base), out, "linalg_matrix_power", x)
    y: Any = None
    power: Any = None
    while n:
        power = base if power is None else times(power, power)
        if n & 1:
            y = power if y is None else times(y, power)
        n >>= 1
    return finish(y, out, "linalg_matrix_power", x)


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None,
) -> Any:
    """How many singular values exceed max(atol, rtol * the largest)."""
    x = matrices(A, "linalg.matrix_rank")
    a: Any = x.array
    decomp.check_finite(a, "linalg.eigh" if hermitian else "linalg.svd")
    if hermitian:
        s = np.abs(np.linalg.eigvalsh(a))
    else:
        s = np.linalg.svd(a, compute_uv=False)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol = 0.0 if atol is None else getattr(atol, "array", atol)
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps if np.all(np.asarray(atol) == 0) else 0.0
    rtol = getattr(rtol, "array", rtol)
    top = s.max(-1) if s.shape[-1] else np.zeros(s.shape[:-1])
    limit = np.maximum(atol, rtol * top)
    return finish(wrap(np.asarray((s > np.asarray(limit)[..., None]).sum(-1), np.int64)), out, "linalg_matrix_rank")


# Decompositions

CHOLESKY_EX = named("linalg_cholesky_ex", "L", "info")
QR = {name: named(name, "Q", "R") for name in ("linalg_qr", "qr")}
LINALG_SVD = named("linalg_svd", "U", "S", "Vh")
SVD = named("svd", "U", "S", "V")
EIGH = named("linalg_eigh", "eigenvalues", "eigenvectors")


def linalg_cholesky(A: Any, *, upper: bool = False, out: Any = None) -> Any:
    """L with A = L Lt (Ut U if upper); LinAlgError unless positive-definite."""
    x = squares(A, "linalg.cholesky")
    return finish(decomp.cholesky(x, upper), out, "linalg_cholesky", x)


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """(L, info); here a matrix that is not positive-definite always raises."""
    return CHOLESKY_EX((linalg_cholesky(A, upper=upper), zeros_info(A)))


def cholesky(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """Old name of torch.linalg.cholesky."""
    x = squares(input, "cholesky")
    return finish(decomp.old_cholesky(x, upper), out, "cholesky", x)


def cholesky_solve(input: Any, input2: Any, upper: bool = False, *, out: Any = None) -> Any:
    """X with A X = input, given the Cholesky factor input2 of A."""
    low = shape.mT(input2) if upper else input2
    half = decomp.solve_triangular(low, input, False, True, False)
    return finish(decomp.solve_triangular(shape.mT(low), half, True, True, False), out, "cholesky_solve", input, input2)


def cholesky_inverse(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """A^-1, given the Cholesky factor of A."""
    eye = np.broadcast_to(np.eye(input.shape[-1], dtype=input.array.dtype), input.array.shape)
    return finish(cholesky_solve(wrap(eye), input, upper), out, "cholesky_inverse", input)


def linalg_qr(A: Any, mode: str = "reduced", *, out: Any = None) -> Any:
    """(Q, R); mode 'reduced', 'complete' or 'r' (Q empty)."""
    x = matrices(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    return QR["linalg_qr"](decomp.qr(x, mode))


def qr(input: Any, some: bool = True, *, out: Any = None) -> Any:
    """Old form of torch.linalg.qr."""
    return QR["qr"](decomp.qr(matrices(input, "linalg.qr"), "reduced" if some else "complete"))


def linalg_svd(A: Any, full_matrices: bool = True, *, driver: Any = None, out: Any = None) -> Any:
    """(U, S, Vh) with A = U diag(S) Vh, S falling."""
    return LINALG_SVD(decomp.svd(matrices(A, "linalg.svd"), full_matrices, "linalg.svd"))


def svd(input: Any, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """(U, S, V): V, not its transpose, as in old PyTorch."""
    x = check(input, "svd")
    if x.ndim < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    x = matrices(x, "linalg.svd")
    if not compute_uv:
        n, m = x.array.shape[-2:]
        lead, dtype = x.array.shape[:-2], x.array.dtype
        return SVD((wrap(np.zeros(lead + (n, n), dtype)), svdvals(x), wrap(np.zeros(lead + (m, m), dtype))))
    u, s, vh = decomp.svd(x, not some, "linalg.svd")
    return SVD((u, s, shape.transpose(vh, -2, -1)))


def svdvals(A: Any, *, driver: Any = None, out: Any = None) -> Any:
    """Singular values, falling."""
    x = matrices(A, "linalg.svd")
    return finish(decomp.svd(x, False, "linalg.svd")[1], out, "linalg_svdvals", x)


def eigh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """(eigenvalues rising, eigenvectors) of symmetric matrices; reads one triangle."""
    x = squares(A, "linalg.eigh")
    return EIGH(decomp.eigh(x, lower_half(UPLO)))


def eigvalsh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues of symmetric matrices, rising."""
    x = squares(A, "linalg.eigvalsh")
    return finish(decomp.eigh(x, lower_half(UPLO))[0], out, "linalg_eigvalsh", x)


def lower_half(uplo: str) -> bool:
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    return uplo.upper() == "L"


def eig(A: Any, *, out: Any = None) -> Any:
    """Not supported: the result is complex."""
    raise NotImplementedError(
        "linalg.eig: eigenvalues of a general matrix are complex, and retrograd has real dtypes only; use "
        "linalg.eigh for "
        "symmetric matrices")


def eigvals(A: Any, *, out: Any = None) -> Any:
    """Not supported: the result is complex."""
    return eig(A)
