"""Products of vectors and matrices: torch.matmul, addmm, linear, kron, cross, cdist, multi_dot.

a, b                the two factors: matrices, batches of them, or vectors
out_dtype           NotImplementedError, as in PyTorch on the CPU
mat2, vec, vec2     the second factor
tensor              the second vector
matrices            two or more
compute_mode        accepted without effect; ValueError for other names than PyTorch's three
"""

from __future__ import annotations

from typing import Any

from .._engine import names, promote, views
from .._engine.tensor import TensorBase
from .._engine.warn import warn_once
from .._rules import affine as forms
from .._rules import complexes, create, linalg, shape
from .._rules import reduce as sums
from .._rules.cast import cast
from .._rules.linalg import count
from .._rules.shape import fold
from .._tensor import dtypes
from .arguments import dim_of, finish, real_number, sized, tensor
from .create import is_scalar
from .matrices import check, kind_of


def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """Product of vectors, matrices or batches of matrices (which broadcast)."""
    a = tensor(input, "matmul")
    b = tensor(other, "matmul", "other", 2)
    return finish(linalg.matmul(a, b), out, "matmul", a, b)


def refuse_dtype(function: str, out_dtype: Any) -> None:
    if out_dtype is not None:
        raise NotImplementedError(
            f"Could not run 'aten::{function}.dtype' with arguments from the 'CPU' backend. PyTorch, too, has out_dtype= for "
            "CUDA alone.")


def mm(input: Any, mat2: Any, out_dtype: Any = None, *, out: Any = None) -> Any:
    """(n, m) @ (m, p)"""
    refuse_dtype("mm", out_dtype)
    a = tensor(input, "mm")
    b = tensor(mat2, "mm", "mat2", 2)
    return finish(linalg.mm(a, b), out, "mm", a, b)


def bmm(input: Any, mat2: Any, out_dtype: Any = None, *, out: Any = None) -> Any:
    """(b, n, m) @ (b, m, p)"""
    refuse_dtype("bmm", out_dtype)
    return linalg.bmm(input, mat2)


def mv(input: Any, vec: Any, *, out: Any = None) -> Any:
    """(n, m) @ (m,)"""
    return linalg.mv(input, vec)


def dot(input: Any, tensor: Any, *, out: Any = None) -> Any:
    """(m,) . (m,); no broadcasting."""
    return linalg.dot(input, tensor)


def vdot(input: Any, other: Any, *, out: Any = None) -> Any:
    """dot of conj(input) and other."""
    return linalg.vdot(input, other)


def inner(input: Any, other: Any, *, out: Any = None) -> Any:
    """Sum of products over the last dim of both; one of them may be a 0-dim factor."""
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}")
    if input.array.dtype != other.array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    from .contractions import dotted

    return dotted(input, other, [input.ndim - 1], [other.ndim - 1])


def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """(n,) x (m,) -> (n, m)"""
    for name, x in (("self", input), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.ndim}-D")
    return fold(input, (input.shape[0], 1)) * vec2


ger = outer


def addmm(input: Any, mat1: Any, mat2: Any, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2); input broadcasts, and is ignored when beta is 0."""
    refuse_dtype("addmm", out_dtype)
    return affine(forms.AddmmBackward0, "addmm", ("mat1", "mat2"), input, mat1, mat2, beta, alpha, out)


def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat @ vec)"""
    return affine(forms.AddmvBackward0, "addmv", ("mat", "vec"), input, mat, vec, beta, alpha, out)


def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (batch1 @ batch2 summed over the batch)"""
    return affine(forms.AddbmmBackward0, "addbmm", ("batch1", "batch2"), input, batch1, batch2, beta, alpha, out)


def baddbmm(input: Any, batch1: Any, batch2: Any, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1,
            out: Any = None) -> Any:
    """beta * input + alpha * (batch1 @ batch2)"""
    refuse_dtype("baddbmm", out_dtype)
    return affine(forms.BaddbmmBackward0, "baddbmm", ("batch1", "batch2"), input, batch1, batch2, beta, alpha, out)


def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * outer(vec1, vec2)"""
    return affine(forms.AddrBackward0, "addr", ("vec1", "vec2"), input, vec1, vec2, beta, alpha, out)


def affine(op: Any, name: str, names: Any, input: Any, a: Any, b: Any, beta: Any, alpha: Any, out: Any) -> Any:
    xs = [check(input, name), check(a, name, names[0], 2), check(b, name, names[1], 3)]
    if name == "addr":                          # alone takes several dtypes
        xs = in_common(xs)
    return finish(op(*factors(xs, beta, alpha)).run(xs), out, name, *xs)


def in_common(xs: list[Any]) -> list[Any]:
    dtype = promote.result_dtype([x.array for x in xs])
    return [x if x.array.dtype == dtype else cast(x, dtype) for x in xs]


def factors(xs: list[Any], beta: Any, alpha: Any) -> tuple[Any, Any]:
    """beta and alpha, which are real if the tensors are."""
    if not isinstance(beta, complex) and not isinstance(alpha, complex):
        return beta, alpha
    dtype = promote.result_dtype([x.array for x in xs])
    return real_number(beta, dtype), real_number(alpha, dtype)


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
        fits = len(have) <= len(full) and all(n in (1, m) for n, m in zip(have[::-1], full[::-1], strict=False))
        if have != full and fits:
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(have)} and output tensor size {list(full)} should match")
        if name == "addr_":
            common = in_common(xs)
            views.check_cast(common[0].array.dtype, input.array.dtype)
            xs[1:] = common[1:]
        if name == "addbmm_" and len(sa) == len(sb) == 3 and have != (full := (sa[1], sb[2])):
            views.guard(xs[0], False)                   # PyTorch resizes it
            y = op(*factors(xs, beta, alpha)).run(xs)
            if y.requires_grad:
                raise RuntimeError(
                    f"output with shape {list(have)} doesn't match the broadcast shape {list(full)}")
            input.resize_(full)
            return input.copy_(y)
        return op(*factors(xs, beta, alpha)).run_(xs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In place: {name[:-1]}."
    return method


addmm_ = in_place(forms.AddmmBackward0, "addmm_", ("mat1", "mat2"))
addmv_ = in_place(forms.AddmvBackward0, "addmv_", ("mat", "vec"))
addbmm_ = in_place(forms.AddbmmBackward0, "addbmm_", ("batch1", "batch2"))
baddbmm_ = in_place(forms.BaddbmmBackward0, "baddbmm_", ("batch1", "batch2"))
addr_ = in_place(forms.AddrBackward0, "addr_", ("vec1", "vec2"))


def linear(input: Any, weight: Any, bias: Any = None, *, out: Any = None) -> Any:
    """input (*, I) @ weight (O, I).T + bias (O,) -> (*, O)"""
    if not isinstance(input, TensorBase) or not isinstance(weight, TensorBase):
        check(input, "linear")
        check(weight, "linear", "weight", 2)
    if bias is not None and not isinstance(bias, TensorBase):
        check(bias, "linear", "bias", 3)
    y = forms.linear(input, weight, bias)
    return y if out is None else finish(y, out, "linear", input, weight, bias)


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """y[o] = input1 @ weight[o] @ input2 + bias[o], for input1 (*, I), input2 (*, J), weight (O, I, J) -> (*, O)."""
    given = {"input1": input1, "input2": input2, "weight": weight} | ({} if bias is None else {"bias": bias})
    if any(x.array.dtype != input1.array.dtype for x in given.values()):
        raise RuntimeError("All tensors must have the same dtype, got " + ", ".join(
            f"{name}: {names.C[x.array.dtype.name]}" for name, x in given.items()))
    if input1.ndim != input2.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}")
    for i in range(input1.ndim - 1):
        if input1.shape[i] != input2.shape[i]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {i}: got {input1.shape[i]} and {input2.shape[i]}")
    for name, x, d in (("input1", input1, 1), ("input2", input2, 2)):
        have, want = sized(x, -1), sized(weight, d)
        if have != want:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {have} but expected {want}")
    if weight.ndim != 3:
        raise RuntimeError("number of dimensions must match")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}")
    lead = tuple(input1.array.shape[:-1])
    n = count(lead)
    flat_a = fold(input1, (n, input1.shape[-1]))
    flat_b = fold(input2, (n, input2.shape[-1]))
    from .contractions import einsum

    y = einsum("ni,oij,nj->no", flat_a, weight, flat_b)
    y = fold(y, lead + (weight.array.shape[0],))
    return y if bias is None else y + bias


def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """Kronecker product: every element of input times the whole of other."""
    n = max(input.ndim, other.ndim)
    sa = (1,) * (n - input.ndim) + tuple(input.array.shape)
    sb = (1,) * (n - other.ndim) + tuple(other.array.shape)
    left = shape.unsafe_view(input, tuple(v for s in sa for v in (s, 1)))
    right = shape.unsafe_view(other, tuple(v for s in sb for v in (1, s)))
    y = shape.unsafe_view(left * right, tuple(p * q for p, q in zip(sa, sb, strict=True)))
    return y


def cross(input: Any, other: Any, dim: Any = None, *, out: Any = None) -> Any:
    """Cross product along a dim of size 3 (the first such, if not given)."""
    if dim is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply "
            "use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future "
            "release.")
        found = [d for d, n in enumerate(input.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return crossed(input, other, dim, out)


def linalg_cross(input: Any, other: Any, *, dim: int = -1, out: Any = None) -> Any:
    """Cross product along a dim of size 3; the other dims broadcast."""
    return crossed(input, other, dim, out)


def crossed(a: Any, b: Any, dim: int, out: Any) -> Any:
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    sized(a, dim)
    at = dim_of(dim, a.ndim)
    if a.shape[at] != 3 or b.shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[at]} and {b.shape[at]}")
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(f"expected scalar type {kind_of(a)} but found {kind_of(b)}")
    if a.array.dtype.kind == "b":
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    return finish(linalg.cross(a, b, at), out, "linalg_cross", a, b)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """p-norm distances of the rows of x1 (*, n, m) and x2 (*, k, m) -> (*, n, k)."""
    a, b = check(x1, "cdist", "x1"), check(x2, "cdist", "x2", 2)
    if compute_mode not in (
            "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", a), ("X2", b)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}")
    if not is_scalar(p) or isinstance(p, complex):
        raise TypeError(f"cdist(): argument 'p' (position 3) must be float, not {dtypes.typename(p)}")
    p = float(p)
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    for name, x in (("X1", a), ("X2", b)):
        if x.array.dtype.kind not in "fcV":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {kind_of(x)}")
    linalg.batch_shape(tuple(a.array.shape[:-2]), tuple(b.array.shape[:-2]))
    if a.array.size and b.array.size:
        same_type(a, b)
    elif a.array.dtype != b.array.dtype:
        b = cast(b, a.array.dtype)
    return linalg.CdistBackward0(p).run(a, b)


def same_type(a: Any, b: Any) -> None:
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(f"expected scalar type {kind_of(a)} but found {kind_of(b)}")


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
                f"{names.C[xs[0].array.dtype.name]} and tensor {i} {names.C[xs[i].array.dtype.name]}")
    for i in range(n - 1):
        if xs[i].shape[1] != xs[i + 1].shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(xs[i].shape)} and {list(xs[i + 1].shape)} "
                "cannot be multiplied")
    sizes = [x.shape[0] for x in xs] + [xs[-1].shape[1]]
    y = linalg.mm(xs[0], xs[1]) if n == 2 else chain(xs, best_splits(sizes), 0, n - 1)
    return shape.reshape(y, tuple(shown))


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
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, "
        "which accepts a list of two or more tensors rather than multiple parameters.")
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    for i, m in enumerate(matrices):
        if not isinstance(m, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {dtypes.typename(m)}")
        if m.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {m.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return create.clone(matrices[0])
    return finish(multi_dot(matrices), out, "chain_matmul", *matrices)


def vecdot(x: Any, y: Any, *, dim: int = -1, out: Any = None) -> Any:
    """Sum of conj(x) * y over one dim; the others broadcast."""
    if x.array.dtype != y.array.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {kind_of(x)} and y of type "
            f"{kind_of(y)} instead")
    product = complexes.conj(x) * y
    return sums.sum_dims(product, (dim_of(dim, product.ndim),), False)
