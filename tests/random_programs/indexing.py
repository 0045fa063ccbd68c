"""Programs that read and write parts of tensors: the index language, gather and scatter, masks, flat positions."""

from __future__ import annotations

import math
from random import Random

KNOWN: list[tuple[str, str]] = [
    (r"PyTorch:   RuntimeError: setStorage|PyTorch:   IndexError: select\(\): index 0 out of range",
     "of an index into an empty dimension ours says that it is out of range"),
    (r"returned an invalid gradient at index 1|scatter_reduce(.|\n)*backward\(\)\n  PyTorch:   RuntimeError: The size of tensor",
     "ours differentiates a source that is larger than the index"),
    (r"index_reduce(.|\n)*backward\(\)\n  PyTorch:   IndexError: index_fill_", "ours differentiates at an int32 index"),
    (r"take_along_dim(.|\n)*PyTorch:   RuntimeError: view size is not compatible", "ours takes tensors of any strides"),
    (r"'reduce' to be one of(.|\n)*but got (max|min)", "PyTorch's backward takes no max for amax"),
    (r"narrow_copy\(-?\d, -(.|\n)*backward\(\)\n  PyTorch:   (RuntimeError: The size|a\.grad: )",
     "ours differentiates where start is negative"),
    (r"(scatter|index)_reduce_\((.|\n)*'mean'(.|\n)*  PyTorch:   [xy]: torch.bool",
     "refused for bools, after it wrote in PyTorch"),
    (r"output 0 of \w+, is at version \d+; expected(.|\n)*retrograd: .* output 0 of AsStrided, is at version",
     "the error names the view's node, not that of the op which edited it"),
    (r"scatter(.|\n)*\[\d?,? ?0\](.|\n)*value cannot be converted|narrow_copy(.|\n)*(PyTorch|retrograd): +(Index|Runtime)Error",
     "of two errors another one"),
    (r"scatter_reduce(.|\n)*reshape\(\[.*\b0\b(.|\n)*PyTorch: +NotImplementedError", "a mean of no bools"),
    (r"(scatter_reduce|index_reduce)_?\((.|\n)*'prod'(.|\n)*PyTorch:   \w+\.grad: .*nan",
     "the factor of an element that is nan itself is the product of the others"),
    (r"PyTorch:   RuntimeError: index -?\d+ (is out of bounds for dimension \d+ with size \d+)\n"
     r"  retrograd: RuntimeError: index -?\d+ \1", "of several wrong indices PyTorch names any"),
    (r"INTERNAL ASSERT|ZeroDivisionError", "an accident of PyTorch's"),
]

FLOATS = ("float32", "float64", "float32", "float16", "bfloat16")
WHOLE = ("int64", "int32", "uint8", "bool", "int16", "int8")
Shape = list[int]


def program(rng: Random) -> list[str]:
    shape = some_shape(rng)
    dtype = rng.choice(FLOATS if rng.random() < 0.7 else WHOLE)
    grad = dtype in FLOATS and rng.random() < 0.6
    lines = [f"a = {numbers(rng, shape, dtype)}{'.requires_grad_()' if grad else ''}", f"x = a {rng.choice(['* 1', '.clone()'])}"
             if dtype != "bool" else "x = a.clone()"]
    if rng.random() < 0.2 and len(shape) > 1:
        d, e = rng.sample(range(len(shape)), 2)
        lines.append(f"x = x.transpose({d}, {e})")
        shape[d], shape[e] = shape[e], shape[d]
    for _ in range(rng.randint(1, 3)):
        lines.append(rng.choice(STATEMENTS)(rng, shape, dtype, grad))
    if grad:
        lines += ["s = x.sum()", "s.backward()"] if rng.random() < 0.5 else ["y.sum().backward()"]
    return lines


def some_shape(rng: Random) -> Shape:
    ndim = rng.choice([0, 1, 1, 2, 2, 2, 3, 3])
    return [rng.choice([1, 2, 3, 3, 4, 0] if rng.random() < 0.2 else [2, 3, 4]) for _ in range(ndim)]


def numbers(rng: Random, shape: Shape, dtype: str) -> str:
    n = math.prod(shape)
    low = 0 if dtype in ("uint8", "bool") else -n // 2
    values = rng.sample(range(low, low + n), n) if rng.random() < 0.7 else [rng.randint(low, low + 3) for _ in range(n)]
    return f"torch.tensor({values}, dtype=torch.{dtype}).reshape({shape})"


def value(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    """A tensor of that shape, or nearly."""
    shape = [*shape]
    kind = rng.random()
    if kind < 0.1:
        shape = [1 if rng.random() < 0.5 else n for n in shape]
    elif kind < 0.15 and shape:
        shape = shape[1:]
    elif kind < 0.2:
        shape = [1, *shape]
    elif kind < 0.25 and shape:
        shape[rng.randrange(len(shape))] += 1
    if rng.random() < 0.06:
        dtype = rng.choice(FLOATS + WHOLE)
    wants = grad and dtype in FLOATS and rng.random() < 0.3
    return f"{numbers(rng, shape, dtype)}{'.requires_grad_()' if wants else ''}"


def number(rng: Random) -> str:
    return rng.choice(["0", "7", "-2", "1.5", "True", "torch.tensor(3)", "torch.tensor(2.5)", "300", "float('nan')"])


def place(rng: Random, n: int, wrong: bool = True) -> int:
    """An index into a dimension of n; sometimes out of range."""
    if n and (not wrong or rng.random() < 0.97):
        return rng.randrange(-n, n)
    return rng.choice([n, -n - 1, n + 5])


def dim(rng: Random, shape: Shape) -> int:
    n = max(len(shape), 1)
    return rng.choice([n, -n - 1]) if rng.random() < 0.02 else rng.randrange(-n, n)


def size_at(shape: Shape, d: int) -> int:
    return shape[d] if shape and -len(shape) <= d < len(shape) else 1


def bound(rng: Random, n: int) -> str:
    return rng.choice(["", str(rng.randint(-n - 2, n + 2)), str(rng.randint(0, n)), str(rng.randint(0, n))])


def part(rng: Random, n: int) -> str:
    step = rng.choice(["", "", "", ":1", ":2", ":3", ":-1" if rng.random() < 0.1 else ":2"])
    return f"{bound(rng, n)}:{bound(rng, n)}{step}"


def nested(values: list[int], shape: Shape) -> str:
    return f"torch.tensor({values}{'' if values else ', dtype=torch.int64'}).reshape({shape})"


def indices(rng: Random, n: int, shape: Shape, wrong: bool = True, wrap: bool = True) -> str:
    values = [place(rng, n, wrong) for _ in range(math.prod(shape))]
    if not wrap:
        values = [v % max(n, 1) for v in values]
    dtype = rng.choice(["", "", "", "", ".int()", ".short()" if rng.random() < 0.03 else ".int()"])
    return nested(values, shape) + dtype


def mask(rng: Random, shape: Shape, kinds: str = "bool bool bool uint8") -> str:
    values = [rng.randint(0, 1) for _ in range(math.prod(shape))]
    return f"torch.tensor({values}, dtype=torch.{rng.choice(kinds.split())}).reshape({shape})"


def items(rng: Random, shape: Shape, wrong: bool = True) -> tuple[str, int]:
    """An index, and how many tensors are in it."""
    left, texts, tensors = [*shape], [], 0
    broadcast = some_shape(rng)[:2] or [2]
    dots = False
    while left and (dots or rng.random() < 0.85):
        kind = rng.random()
        if kind < 0.2:
            texts.append(str(place(rng, left.pop(0))))
        elif kind < 0.45:
            texts.append(part(rng, left.pop(0)))
        elif kind < 0.52:
            texts.append("None")
        elif kind < 0.58 and not dots:
            texts.append("...")
            dots = True
            left = left[rng.randint(0, len(left)):]
        elif kind < 0.72:
            own = broadcast if rng.random() < 0.8 else [1] if rng.random() < 0.5 else some_shape(rng)[:2]
            texts.append(indices(rng, left.pop(0), own, wrong))
            tensors += 1
        elif kind < 0.78:
            texts.append(str([place(rng, left[0], wrong) for _ in range(broadcast[-1])]))
            left.pop(0)
            tensors += 1
        elif kind < 0.83:
            texts.append(f"torch.tensor({place(rng, left.pop(0))})")
        elif kind < 0.94:
            k = rng.randint(1, len(left))
            sizes = left[:k] if rng.random() < 0.95 else [n + 1 for n in left[:k]]
            texts.append(mask(rng, sizes))
            left = left[k:]
            tensors += 1
        elif kind < 0.96:
            texts.append(str(rng.random() < 0.5))
        elif kind < 0.963:
            texts.append(rng.choice(["1.0", "'a'", "torch.tensor([0.5])", "[[0], [1]]", "np_", "()", "[]", "[True, False]"]))
            left.pop(0)
        elif kind < 0.98:
            texts.append("[]")
            left.pop(0)
        else:
            texts.append(f"slice({bound(rng, 3) or None}, {bound(rng, 3) or None})")
            left.pop(0)
    if rng.random() < 0.02:
        texts += ["0"] * (len(left) + 1)
    if not texts:
        return rng.choice(["...", "()", "None", "True", "..., None"]), 0
    return ", ".join(texts) + ("," if len(texts) == 1 and rng.random() < 0.2 else ""), tensors


# Statements

def read(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    return f"y = x[{items(rng, shape)[0]}]"


def write(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    where, _ = items(rng, shape, wrong=False)      # PyTorch has written some elements when it meets a wrong one
    kind = rng.random()
    if kind < 0.35:
        return f"x[{where}] = {number(rng)}"
    if kind < 0.75:
        v = f"torch.arange(float(x[{where}].numel())).to(x.dtype).reshape(x[{where}].shape)"
        return f"x[{where}] = {v if rng.random() < 0.7 else f'x[{where}] * 2'}"
    if kind < 0.85:
        return f"x[{where}] {rng.choice(['+=', '*=', '-='])} {number(rng)}"
    return f"x[{where}] = {value(rng, some_shape(rng)[:2], dtype, grad)}"


def put_at(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    own = rng.choice([[2], [3], [2, 2], [1], []])
    k = rng.randint(0 if rng.random() < 0.03 else 1, max(len(shape), 1))
    inplace = rng.choice(["_", ""])
    where = ", ".join([indices(rng, n, own, not inplace) if rng.random() < 0.85 else mask(rng, [n]) for n in shape[:k]]
                      or ["torch.tensor([0])"])
    rest = shape[k:]
    v = value(rng, own + rest if rng.random() < 0.6 else rest if rng.random() < 0.5 else [], dtype, grad)
    more = rng.choice(["", "", ", accumulate=True", ", True"])
    return f"y = x.index_put{inplace}(({where},), {v}{more})"


def along(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    d = dim(rng, shape)
    n, k = size_at(shape, d), rng.choice([1, 2, 3, 0 if rng.random() < 0.2 else 2])
    wrong = rng.random() < 0.1
    index = indices(rng, n, [k] if rng.random() < 0.93 else rng.choice([[], [1, k]]), wrong, wrong)
    rest = [*shape]
    if shape and -len(shape) <= d < len(shape):
        rest[d] = k
    source = value(rng, rest, dtype, grad)
    inplace = "" if wrong else rng.choice(["", "_"])
    kind = rng.randrange(5)
    if kind == 0:
        return f"y = x.index_select({d}, {index})"
    if kind == 1:
        alpha = rng.choice(["", "", ", alpha=2", ", alpha=-1.5"])
        return f"y = x.index_add{inplace}({d}, {index}, {source}{alpha})"
    if kind == 2:
        return f"y = x.index_copy{inplace}({d}, {index}, {source})"
    if kind == 3:
        return f"y = x.index_fill{inplace}({d}, {index}, {number(rng)})"
    reduce = rng.choice(["prod", "mean", "amax", "amin", "sum" if rng.random() < 0.1 else "amax"])
    return f"y = x.index_reduce{inplace}({d}, {index}, {source}, '{reduce}', include_self={rng.random() < 0.5})"


def spread(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    d = dim(rng, shape)
    own = [rng.randint(1, n) if n and rng.random() < 0.95 else n + (rng.random() < 0.1) for n in shape]
    n = size_at(shape, d)
    if rng.random() < 0.05:
        own = some_shape(rng)
    wrong = rng.random() < 0.05
    index = indices(rng, n, own, wrong, wrong)
    inplace = "" if wrong else rng.choice(["", "_"])        # PyTorch has written some elements when it meets a wrong index
    kind = rng.randrange(6)
    if kind == 0:
        return f"y = x.gather({d}, {index})"
    source = value(rng, own if rng.random() < 0.7 else [k + 1 for k in own], dtype, grad)
    if kind == 1:
        return f"y = x.scatter{inplace}({d}, {index}, {source if rng.random() < 0.6 else number(rng)})"
    if kind == 2:
        return f"y = x.scatter_add{inplace}({d}, {index}, {source})"
    if kind == 3:
        reduce = rng.choice(["sum", "prod", "mean", "amax", "amin", "max" if rng.random() < 0.1 else "sum"])
        return f"y = x.scatter_reduce{inplace}({d}, {index}, {source}, '{reduce}', include_self={rng.random() < 0.5})"
    if kind == 4:
        how = rng.choice(["add", "multiply", "sum" if rng.random() < 0.1 else "add"])
        return f"y = x.scatter{inplace}({d}, {index}, {source if rng.random() < 0.6 else number(rng)}, reduce='{how}')"
    return f"y = torch.take_along_dim(x, {index}{f', {d}' if rng.random() < 0.8 else ''})"


def masked(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    own = shape if rng.random() < 0.7 else [1 if rng.random() < 0.5 else n for n in shape[rng.randint(0, len(shape)):]]
    m = mask(rng, own if rng.random() < 0.96 else [k + 1 for k in own], "bool " * 12 + "uint8")
    inplace = rng.choice(["", "_"])
    kind = rng.randrange(4)
    if kind == 0:
        return f"y = x.masked_select({m})"
    if kind == 1:
        return f"y = x.masked_fill{inplace}({m}, {number(rng)})"
    if kind == 2:                                           # in place PyTorch has written some when the source ends too early
        source = numbers(rng, [math.prod(shape) + 1], dtype) if inplace else value(rng, shape, dtype, grad)
        return f"y = x.masked_scatter{inplace}({m}, {source})"
    other = value(rng, shape, dtype, grad) if rng.random() < 0.6 else number(rng)
    return f"y = torch.where({m}, {', '.join(rng.sample(['x', other], 2))})"


def flat(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    own = rng.choice([[2], [3], [2, 2], [], [0]])
    inplace = rng.choice(["", "_"])
    index = indices(rng, math.prod(shape), own, not inplace)
    if rng.random() < 0.5:
        return f"y = {rng.choice([f'x.take({index})', f'torch.take(x, {index})'])}"
    more = rng.choice(["", ", accumulate=True"])
    return f"y = x.put{inplace}({index}, {value(rng, own, dtype, grad)}{more})"


def shown(rng: Random, shape: Shape, dtype: str, grad: bool) -> str:
    d = dim(rng, shape)
    n = size_at(shape, d)
    start, length = place(rng, n + 1), rng.randint(-1 if rng.random() < 0.05 else 0, n)
    rest = [*shape]
    at = d if -len(shape) <= d < len(shape) else 0
    kind = rng.randrange(7)
    if kind == 0:
        return f"y = x.narrow({d}, {start}, {length})"
    if kind == 1:
        return f"y = x.select({d}, {place(rng, n)})"
    if kind == 2:
        if rest:
            rest.pop(at)
        return f"y = torch.select_scatter(x, {value(rng, rest, dtype, grad)}, {d}, {place(rng, n)})"
    if kind == 3:
        if rest:
            low, high, step = rng.randint(0, n), rng.randint(0, n + 1), rng.randint(1, 2)
            rest[at] = len(range(n)[low:high:step])
            return f"y = torch.slice_scatter(x, {value(rng, rest, dtype, grad)}, {d}, {low}, {high}, {step})"
        return "y = torch.slice_scatter(x, x, 0)"
    if kind == 4:
        offset = rng.randint(-1, 1)
        if len(shape) == 2:
            k = max(min(shape[0] + min(offset, 0), shape[1] - max(offset, 0)), 0)
            return f"y = torch.diagonal_scatter(x, {value(rng, [k], dtype, grad)}, {offset})"
        return f"y = x.diagonal({offset}, {d}, {dim(rng, shape)})"
    if kind == 5:
        return f"y = x.unfold({d}, {rng.randint(0, n + 1 if rng.random() < 0.1 else n)}, {rng.randint(1, 2)})"
    return rng.choice(["y = x.nonzero()", "y = x.nonzero(as_tuple=True)", "y = torch.argwhere(x)",
                       f"y = x.narrow_copy({d}, {start}, {length})", f"y = x.unbind({d})",
                       f"y = torch.nonzero_static(x, size={rng.randint(0, 4)})"])


STATEMENTS = (read, read, write, write, write, put_at, along, along, spread, spread, masked, flat, shown)
