"""Rules of products: of vectors, matrices and batches of them; linear algebra."""
from __future__ import annotations

from typing import Any

from retrograd import _functions as F

from .level import Level, Loop, Rule
from .pointwise import widened
from .shapes import several, trailing

MATRIX = """
    cholesky cholesky_inverse det inverse logdet matrix_exp matrix_power pinverse qr slogdet svd linalg_cholesky
    linalg_cholesky_ex linalg_cond linalg_det linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_inv linalg_inv_ex
    linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_matrix_exp linalg_matrix_power
    linalg_matrix_rank linalg_pinv linalg_qr linalg_slogdet linalg_svd linalg_svdvals geqrf linalg_ldl_factor
    linalg_ldl_factor_ex
""".split()
MATRICES = """
    cholesky_solve linalg_solve_triangular triangular_solve cdist
    scaled_dot_product_attention
""".split()


def times(level: Level, a: Any, b: Any) -> Any:
    """matmul of two tensors, one of them a sample at least."""
    na, nb = a.array.ndim, b.array.ndim
    if not na or not nb:
        raise Loop
    if level.has(a) and not level.has(b):
        a = a.value
        if nb <= 2:
            return F.matmul(a, b)
        a = a[:, None] if na == 1 else a
        out = F.matmul(widened(a, max(na, nb, 2)), b)
        return out.squeeze(-2) if na == 1 else out
    if level.has(b) and not level.has(a):
        b = b.value
        if nb == 1:
            return F.matmul(b, a.transpose(-1, -2)) if na == 2 else F.matmul(b, a) if na == 1 else F.matmul(
                a, widened(b, na - 1).unsqueeze(-1)).squeeze(-1)
        return F.matmul(a, widened(b, max(na, nb)))
    x, y = a.value, b.value
    if na == 1 and nb == 1:
        return (x * y).sum(-1)
    x = x.unsqueeze(-2) if na == 1 else x
    y = y.unsqueeze(-1) if nb == 1 else y
    rank = max(x.array.ndim, y.array.ndim) - 1
    out = F.matmul(widened(x, rank), widened(y, rank))
    out = out.squeeze(-2) if na == 1 else out
    return out.squeeze(-1) if nb == 1 else out


RANKS = {"mm": (2, 2), "mv": (2, 1), "dot": (1, 1), "vdot": (1, 1), "bmm": (3, 3), "ger": (1, 1), "outer": (1, 1)}


def product(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or len(args) != 2 or not all(hasattr(x, "array") for x in args):
        raise Loop
    a, b = args[::-1] if name == "__rmatmul__" else args
    ranks = RANKS.get(name)
    if ranks is not None and (a.array.ndim, b.array.ndim) != ranks:
        raise Loop
    if a.array.dtype != b.array.dtype:
        raise Loop                                          # which refuses them
    if name == "vdot":
        a = level.of(a.value.conj()) if level.has(a) else a.conj()
    return level.of(times(level, a, b))


def outer(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or len(args) != 2 or args[0].array.ndim != 1 or args[1].array.ndim != 1:
        raise Loop
    a, b = (level.plain(x) for x in args)
    return level.of(a.unsqueeze(-1) * b.unsqueeze(-2))


def affine(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """addmm, addmv, baddbmm, addr: beta * c + alpha * (a times b)"""
    if len(args) != 3 or set(kwargs) - {"alpha", "beta"}:
        raise Loop
    c, a, b = args
    if name == "addr":
        if a.array.ndim != 1 or b.array.ndim != 1:
            raise Loop
        y = level.plain(a).unsqueeze(-1) * level.plain(b).unsqueeze(-2)
    elif level.concerns((a, b)):
        y = times(level, a, b)
    else:
        y = F.matmul(a, b)
    if not level.concerns((a, b)):
        y = level.lift(y)
    alpha, beta = kwargs.get("alpha", 1), kwargs.get("beta", 1)
    rank, shape = y.array.ndim - 1, y.array.shape[1:]
    if c.array.ndim > rank or y.array.dtype != c.array.dtype:
        raise Loop
    for n, m in zip(reversed(c.array.shape), reversed(shape)):
        if n not in (1, m):
            raise Loop
    y = y if alpha == 1 else y * alpha
    if beta == 0:
        return level.of(y)
    c = widened(c.value, rank) if level.has(c) else c
    return level.of(y + (c if beta == 1 else c * beta))


def linear(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, w, *rest = args
    b = rest[0] if rest else kwargs.get("bias")
    if not level.has(w):
        if b is None or not level.has(b):
            return level.of(func(x.value if level.has(x) else x, w, b)) if level.has(x) else None
        if w.array.ndim != 2 or b.array.ndim != 1:
            raise Loop
        y = func(x.value if level.has(x) else x, w)
        rank = y.array.ndim - level.has(x)
        return level.of(y + widened(b.value, rank))
    wide, rank = w.value, x.array.ndim
    if w.array.ndim != 2 or not rank or x.array.shape[-1] != w.array.shape[-1]:
        raise Loop
    x = level.plain(x) if level.has(x) else level.lift(x)
    if rank == 1:
        x = x.unsqueeze(1)
    elif rank > 2:
        x = x.flatten(1, -2)
    if b is None:
        y = x.bmm(wide.transpose(1, 2))
    elif b.array.ndim == 1:
        b = b.value.unsqueeze(1) if level.has(b) else b
        y = F.baddbmm(b, x, wide.transpose(1, 2)) if rank == 1 or rank == 2 else x.bmm(wide.transpose(1, 2)) + b
    else:
        raise Loop
    if rank == 1:
        y = y.squeeze(1)
    elif rank > 2:
        y = y.view(level.size, *args[0].array.shape[:-1], w.array.shape[0])
    return level.of(y)


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    equation, *operands = args
    if not isinstance(equation, str):
        raise Loop
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = list(operands[0])
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    letter = next((c for c in LETTERS if c not in equation), None)
    if letter is None or left.count(",") + 1 != len(operands):
        raise Loop
    if not arrow:
        flat = left.replace(",", "").replace("...", "")
        right = ("..." if "..." in left else "") + "".join(sorted(c for c in set(flat) if flat.count(c) == 1))
    parts = [letter + p if level.has(x) else p for p, x in zip(left.split(","), operands)]
    return level.of(func(f"{','.join(parts)}->{letter}{right}", *[level.plain(x) for x in operands]))


def solve(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """linalg.solve: its right side may be a vector"""
    a, b = args[:2]
    if a.array.ndim != 2 or b.array.ndim not in (1, 2) or len(args) > 2 or kwargs:
        raise Loop
    x = level.lift(b)
    out = func(level.lift(a), x.unsqueeze(-1) if b.array.ndim == 1 else x)
    return level.of(out.squeeze(-1) if b.array.ndim == 1 else out)


def attention(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any(x is not None and not isinstance(x, (bool, int, float)) and x.array.ndim < 2 for x in (*args, *kwargs.values())) or (
            len(args) > 4 and args[4]) or kwargs.get("dropout_p"):
        raise Loop
    return several(2)(level, func, name, args, kwargs)


RULES: dict[str, Rule] = {name: product for name in (*RANKS, "matmul", "__matmul__", "__rmatmul__", "linalg_matmul")}
RULES |= {name: outer for name in ("ger", "outer")}
RULES |= {name: affine for name in ("addmm", "addmv", "baddbmm", "addr")}
RULES |= {"linear": linear, "einsum": einsum, "linalg_solve": solve}
RULES |= {name: trailing(2) for name in MATRIX} | {name: several(2) for name in MATRICES}
RULES["scaled_dot_product_attention"] = attention
