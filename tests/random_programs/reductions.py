"""Programs that reduce, scan, sort, compare, convert and make tensors, of every dtype."""

from __future__ import annotations

import math
import re
from random import Random

KNOWN: list[tuple[str, str]] = [
    (r"(quantile|isclose|trapezoid)(.|\n)*PyTorch: .* v[1-9]", "PyTorch edits its own result in place, which counts"),
    (r"vander(.|\n)*backward\((.|\n)*modified by an inplace", "ours differentiates"),
    (r"(std|var)(_mean)?\(x, (\(\)|\[\])(.|\n)*backward", "PyTorch's gradient over no dims takes a number of elements of 1"),
    (r"(any|all)\(x.detach(.|\n)*uint8", "PyTorch casts to uint8 before it looks"),
    (r"logsumexp\((x, )?(\(\)|\[\])", "PyTorch fails over no dims at all"),
    (r"(logsumexp|var|std)\(x.detach\(\), -?\d, out=", "ours is rounded to the input's dtype first"),
    (r"isin\(x, x\)(.|\n)*view size is not compatible", "PyTorch fails on transposed tensors"),
    (r"histc(.|\n)*to type uint8_t without overflow", "of two errors that of the dtype comes first"),
    (r"histc(.|\n)*is not finite", "the sign of nan, and what an infinity is widened to"),
    (r"am(ax|in)\(x.detach(.|\n)*out=(.|\n)*non-zero size", "of two errors that of out= comes last"),
    (r"(sum|mean)\((x, )?None(.|\n)*PyTorch: .*(Sum|Mean)Backward1", "dim=None counts as not given, as the node's name shows"),
    (r"dtype=torch.bool\)(.|\n)*PyTorch: +RuntimeError: Subtraction, the `-` op", "ours differentiates by what is no bool"),
    (r"unallocated storage", "a gradient of zeros without memory"),
]
DIGITS: list[tuple[str, str]] = [
    (r"\bprod\((.|\n)*x\.grad: .*nan", "which partial products overflow beside a zero"),
    (r"(std|var)_mean(.|\n)*nan", "PyTorch's mean of what holds an infinity is nan there"),
    (r"topk(.|\n)*y\[1\]: torch.int64", "which of equals is told is an accident of the algorithm"),
    (r"inf(.|\n)*\*\*(.|\n)*x\.grad: |inf(.|\n)*pow_?\(", "a power of an infinity"),
    (r"(logsumexp|logcumsumexp)(.|\n)*(bfloat|float)16(.|\n)*PyTorch: +(x\.grad|y):|(bfloat|float)16(.|"
     r"\n)*(logsumexp|logcumsumexp)(.|\n)*PyTorch: +(x\.grad|y):",
     "ours adds exponentials of half precision in float32"),
    (r"(softmax|cumsum|cumprod)(.|\n)*dtype=torch\.(bfloat16|float16|float32)\)(.|\n)*x\.grad: torch\.float(64|32)",
     "a gradient has the digits of the dtype that was asked for"),
    (r"nansum(.|\n)*dtype=torch\.u?int|nansum(.|\n)*dtype=torch\.bool", "infinities and nan as integers"),
    (r"(bfloat|float)16(.|\n)*renorm(.|\n)*x\.grad", "what is left of a gradient that cancels out is noise in half precision"),
    (r"corrcoef(.|\n)*x\.grad: ", "what is left of a gradient that cancels out is noise"),
    (r"\bprod\((.|\n)*PyTorch: +y: ", "which partial products overflow beside a zero"),
    (r"\.mode\((.|\n)*y\[0\]: ", "PyTorch counts wrongly beside nan"),
    (r"(topk|unique|mode)(.|\n)*nan", "where nan stands among equals is an accident of the algorithm"),
]

FLOATS = ("float32", "float64", "float16", "bfloat16")
WHOLE = ("int64", "int32", "int16", "int8", "uint8", "bool")
DTYPES = FLOATS + WHOLE
Shape = list[int]


def program(rng: Random) -> list[str]:
    shape = some_shape(rng)
    dtype = rng.choice(DTYPES if rng.random() < 0.6 else FLOATS[:2])
    grad = dtype in FLOATS and rng.random() < 0.6
    lines = [f"x = {numbers(rng, shape, dtype)}{'.requires_grad_()' if grad else ''}"]
    if grad and rng.random() < 0.3:
        lines.append("x = x * 1")
    if len(shape) > 1 and rng.random() < 0.2:
        lines.append("x = x.transpose(0, 1)")
        shape[0], shape[1] = shape[1], shape[0]
    for _ in range(rng.randint(1, 2)):
        lines.append(rng.choice(STATEMENTS)(rng, shape, dtype))
    if grad:
        lines.append("for t in y if isinstance(y, tuple) else [y]: t.requires_grad and (t * t).sum().backward(retain_graph=True)")
    return lines


def some_shape(rng: Random) -> Shape:
    ndim = rng.choice([0, 1, 1, 2, 2, 3])
    return [rng.choice([0, 1, 2, 3, 5] if rng.random() < 0.25 else [2, 3, 4]) for _ in range(ndim)]


def numbers(rng: Random, shape: Shape, dtype: str) -> str:
    n = math.prod(shape)
    if dtype == "bool":
        values: list[float] = [rng.randint(0, 1) for _ in range(n)]
    elif dtype in WHOLE:
        low = 0 if dtype == "uint8" else -n
        values = list(rng.sample(range(low, low + 2 * n + 1), n))
    else:                                                   # all different: of equal ones any may be named
        values = [v / 4 for v in rng.sample(range(-4 * n - 4, 4 * n + 4), n)]
        if n and rng.random() < 0.1:
            values[rng.randrange(n)] = rng.choice([float("inf"), -float("inf"), float("nan")])
    text = re.sub(r"nan|inf", r"math.\g<0>", str(values))
    return f"torch.tensor({text}, dtype=torch.{dtype}).reshape({shape})"


def dim(rng: Random, shape: Shape) -> int:
    n = max(len(shape), 1)
    return rng.choice([n, -n - 1]) if rng.random() < 0.02 else rng.randrange(-n, n)


def dims(rng: Random, shape: Shape) -> str:
    kind = rng.random()
    if kind < 0.5 or not shape:
        return str(dim(rng, shape))
    if kind < 0.55:
        return rng.choice(["()", "[]", "None"])
    chosen = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    chosen = [d - len(shape) if rng.random() < 0.3 else d for d in chosen]
    if rng.random() < 0.03:
        chosen.append(chosen[0])
    return str(tuple(chosen) if rng.random() < 0.5 else chosen)


def keep(rng: Random) -> str:
    return rng.choice(["", "", ", True", ", keepdim=True", ", keepdim=False"])


def into(rng: Random) -> str:
    return f", dtype=torch.{rng.choice(DTYPES)}" if rng.random() < 0.25 else ""


def called(rng: Random, name: str, rest: str) -> str:
    if rng.random() < 0.5:
        return f"y = x.{name}({rest})"
    return f"y = torch.{name}(x{', ' + rest if rest else ''})"


# Statements

def sums(rng: Random, shape: Shape, dtype: str) -> str:
    name = rng.choice(["sum", "mean", "nansum", "nanmean", "sum", "mean", "prod"])
    if rng.random() < 0.3:
        return called(rng, name, into(rng)[2:])
    where = str(dim(rng, shape)) if name == "prod" else dims(rng, shape)
    return called(rng, name, f"{where}{keep(rng)}{into(rng)}")


def out(rng: Random, shape: Shape, dtype: str) -> str:
    other = rng.choice(DTYPES) if rng.random() < 0.6 else dtype
    name = rng.choice(["sum", "mean", "prod", "cumsum", "cumprod", "amax", "logsumexp", "any", "all", "var", "std", "argmax",
                       "nansum"])
    return f"y = torch.{name}(x.detach(), {rng.choice([0, -1])}, out=torch.empty(0, dtype=torch.{other}))"


def extremes(rng: Random, shape: Shape, dtype: str) -> str:
    name = rng.choice(["max", "min", "amax", "amin", "argmax", "argmin", "aminmax", "median", "nanmedian", "mode", "all", "any"])
    if rng.random() < 0.3 and name != "mode":
        return called(rng, name, "")
    if name == "aminmax":
        return called(rng, name, f"dim={dim(rng, shape)}{rng.choice(['', ', keepdim=True'])}")
    where = dims(rng, shape) if name in ("amax", "amin", "all", "any") else str(dim(rng, shape))
    return called(rng, name, f"{where}{keep(rng)}")


def ranked(rng: Random, shape: Shape, dtype: str) -> str:
    d = dim(rng, shape)
    n = shape[d] if shape and -len(shape) <= d < len(shape) else 1
    kind = rng.randrange(7)
    if kind == 0:
        return called(rng, "sort", f"{d}{rng.choice(['', ', True', ', descending=True'])}")
    if kind == 1:
        return called(rng, "argsort", f"{d}{rng.choice(['', ', True', ', stable=True'])}")
    if kind == 2:
        k = rng.randint(0, n) if rng.random() < 0.95 else n + 1
        return called(rng, "topk", f"{k}, {d}{rng.choice(['', ', False', ', largest=True'])}")
    if kind == 3:
        k = rng.randint(1, max(n, 1)) if rng.random() < 0.95 else rng.choice([0, n + 1])
        return called(rng, "kthvalue", f"{k}, {d}{keep(rng)}")
    if kind == 4:
        return rng.choice(["y = torch.unique(x, return_counts=True)", "y = torch.unique_consecutive(x, return_inverse=True)",
                           "y = torch.msort(x)", f"y = torch.unique(x, dim={d})"])
    name = rng.choice(["quantile", "nanquantile"])
    q = rng.choice(["0.5", "0.25", "0", "1", "1.5", f"torch.tensor([0.25, 0.75], dtype=torch.{dtype})", "torch.tensor(0.5)"])
    how = rng.choice(["", "", ", interpolation='lower'", ", interpolation='midpoint'", ", interpolation='nearest'"])
    if kind == 5:
        return called(rng, name, f"{q}{how}")
    return called(rng, name, f"{q}, {d}{keep(rng)}{how}")


def scans(rng: Random, shape: Shape, dtype: str) -> str:
    name = rng.choice(["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "diff"])
    if name == "diff":
        return called(rng, name, f"{rng.randint(0, 3)}, {dim(rng, shape)}")
    more = into(rng) if name in ("cumsum", "cumprod") else ""
    return called(rng, name, f"{dim(rng, shape)}{more}")


def moments(rng: Random, shape: Shape, dtype: str) -> str:
    kind = rng.randrange(8)
    if kind < 3:
        name = rng.choice(["var", "std", "var_mean", "std_mean"])
        more = rng.choice(["", ", correction=0", ", correction=0.5", ", correction=2", ", unbiased=False", ", unbiased=True"])
        where = "" if rng.random() < 0.3 else dims(rng, shape)
        keeps = rng.choice(["", ", keepdim=True"]) if where else ""
        return f"y = torch.{name}(x{', ' + where if where else ''}{more}{keeps})"
    p = rng.choice(["2", "1", "0", "math.inf", "-math.inf", "3", "0.5", "-1", "'fro'" if kind == 3 else "2"])
    if kind == 3:
        return called(rng, "norm", f"{p}" if rng.random() < 0.5 else f"{p}, {dims(rng, shape)}{keep(rng)}")
    if kind == 4:
        return f"y = torch.linalg.vector_norm(x, {p}, {dims(rng, shape)}{keep(rng)}{into(rng)})"
    if kind == 5:
        return f"y = torch.dist(x, {numbers(rng, shape, dtype)}, {p})"
    if kind == 6:
        return called(rng, "logsumexp", f"{dims(rng, shape)}{keep(rng)}")
    return f"y = torch.{rng.choice(['softmax', 'log_softmax'])}(x, {dim(rng, shape)}{into(rng)})"


def pairs(rng: Random, shape: Shape, dtype: str) -> str:
    other = rng.choice([numbers(rng, shape, rng.choice(DTYPES)), numbers(rng, [], rng.choice(DTYPES)),
                        numbers(rng, shape[1:], dtype), rng.choice(["2", "1.5", "True", "-3", "0"])])
    kind = rng.randrange(4)
    if kind == 0:
        return f"y = x {rng.choice(['+', '-', '*', '/', '//', '%', '**', '==', '<', '>=', '!=', '&', '|', '^'])} {other}"
    if kind == 1:
        return f"y = {other} {rng.choice(['+', '-', '*', '<', '=='])} x"
    if kind == 2:
        name = rng.choice(["maximum", "minimum", "fmod", "remainder", "atan2", "pow", "float_power", "hypot", "fmax", "logaddexp",
                           "floor_divide", "true_divide", "logical_and", "logical_xor", "eq", "isclose", "gcd", "xlogy",
                           "copysign", "nextafter", "heaviside", "bitwise_and", "dot", "rsub"])
        return f"y = torch.{name}(x, {other})"
    return f"x.detach().{rng.choice(['add_', 'mul_', 'sub_', 'div_', 'pow_', 'clamp_', 'copy_', 'eq_', 'lt_', 'fill_'])}({other})"


def pointwise(rng: Random, shape: Shape, dtype: str) -> str:
    name = rng.choice("""abs neg sign exp sqrt log sin tanh sigmoid floor ceil round trunc frac square reciprocal rsqrt relu isnan
        isinf isfinite logical_not bitwise_not signbit positive erf expm1 log1p sgn nan_to_num""".split())
    return f"y = torch.{name}(x)"


def casts(rng: Random, shape: Shape, dtype: str) -> str:
    other = rng.choice(DTYPES)
    return rng.choice([
        f"y = x.to(torch.{other})", f"y = x.type(torch.{other})", "y = x.long()", "y = x.float()", "y = x.bool()", "y = x.half()",
        f"y = torch.result_type(x, {numbers(rng, [], other)})", f"y = torch.zeros(2, dtype=torch.{other}).type_as(x)",
        f"y = torch.can_cast(x.dtype, torch.{other})", f"y = torch.promote_types(x.dtype, torch.{other})",
        "y = x.int()", "y = x.byte()", "y = x.tolist()", f"y = torch.tensor(x.tolist(), dtype=torch.{other})", "y = x.item()",
        f"y = torch.as_tensor(x.detach(), dtype=torch.{other})", "y = bool(x)", "y = int(x)", "y = float(x)", "y = len(x)",
    ])


def factories(rng: Random, shape: Shape, dtype: str) -> str:
    def scalar() -> str:
        return rng.choice(["0", "1", "3", "-2", "0.", "2.5", "True", "torch.tensor(2)", "torch.tensor(1.5)", "7"])

    more = into(rng)
    kind = rng.randrange(9)
    if kind < 3:
        given = [scalar() for _ in range(rng.randint(1, 3))]
        return f"y = torch.arange({', '.join(given)}{more})"
    if kind == 3:
        return f"y = torch.linspace({scalar()}, {scalar()}, {rng.randint(0, 5)}{more})"
    if kind == 4:
        return f"y = torch.full({shape}, {scalar()}{more})"
    if kind == 5:
        return f"y = torch.tensor({rng.choice(['[1, 2.5]', '[True, 2]', '[]', '[[1], [2]]', '3', '[1., True]', '2.5'])}{more})"
    if kind == 6:
        return f"y = torch.{rng.choice(['zeros', 'ones'])}_like(x{more})"
    if kind == 7:
        made = rng.choice([f"full({shape}, {scalar()}", f"zeros({shape}", f"ones({shape}", "tensor([1, 2]"])
        return f"y = x.new_{made}{more})"
    return rng.choice([f"y = torch.eye({rng.randint(0, 3)}, {rng.randint(0, 3)}{more})",
                       f"y = torch.scalar_tensor({scalar()}{more})", f"y = torch.range({scalar()}, 3{more})",
                       f"y = torch.full_like(x, {scalar()}{more})",
                       f"y = torch.logspace(0, 2, 3{more})", f"y = torch.tril_indices({rng.randint(0, 3)}, 3)"])


def others(rng: Random, shape: Shape, dtype: str) -> str:
    return rng.choice([
        "y = torch.count_nonzero(x)", f"y = torch.count_nonzero(x, {dims(rng, shape)})",
        f"y = x.renorm(2, {dim(rng, shape)}, 1.)",
        "y = x.bincount()", "y = torch.histc(x, 4)", "y = torch.cov(x)", "y = torch.corrcoef(x)", "y = x.cumsum_(0)",
        f"y = torch.searchsorted(x, {rng.randint(0, 3)})", "y = torch.trapezoid(x)", "y = torch.cumulative_trapezoid(x)",
        "y = torch.bucketize(x, torch.tensor([0, 2]))", "y = torch.equal(x, x)", "y = torch.allclose(x, x)",
        f"y = x.flip({dims(rng, shape)})", "y = torch.trace(x)", "y = torch.logcumsumexp(x, 0)", "y = torch.isin(x, x)",
        f"y = torch.clamp(x, {rng.choice(['0', '1.5', 'max=2', 'min=-1', '0, 2'])})", "y = torch.vander(x)",
    ])


STATEMENTS = (sums, sums, extremes, extremes, ranked, ranked, scans, moments, moments, pairs, pairs, pointwise, casts, factories,
              factories, others, out)
