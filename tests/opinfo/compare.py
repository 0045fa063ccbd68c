"""One operation over its samples, on both sides: where they differ."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch as theirs

import retrograd as ours

from .translate import Ours, Outside, Side, Theirs, arrays, found, function, is_nan

DTYPES = ("float64", "float32", "int64", "bool", "uint8", "int32", "float16", "bfloat16", "complex128", "complex64")
RTOL = {"float64": 1e-7, "float32": 1e-4, "complex128": 1e-7, "complex64": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}
# Memory that nobody filled: only shapes and dtypes are compared.
SHAPE_ONLY = re.compile(r"(new_)?empty(_like|_strided|_permuted)?|new_empty_strided|resize_(as_)?")
# Which of several equal elements an index names is an accident of the algorithm: the elements are compared.
TIES = re.compile(r"kthvalue|topk|mode|median|nanmedian|sort|argsort|msort|aminmax")


@dataclass
class Tally:
    """What came of one operation: samples run, those that agree, those outside what we have, and every difference."""

    name: str
    samples: int = 0
    agree: int = 0
    complex: int = 0                                        # of the samples; and those of them that agree
    complex_agree: int = 0
    errors: int = 0
    errors_agree: int = 0
    outside: dict[str, int] = field(default_factory=dict)
    differences: list[tuple[str, str]] = field(default_factory=list)    # (where, what)


@dataclass
class Outcome:
    source: Any = None                                      # what an index among the outs may point into, and along which dim
    outs: list[Any] = field(default_factory=list)
    grads: list[Any] = field(default_factory=list)
    second: list[Any] = field(default_factory=list)
    once: bool = False                                      # there is no second derivative
    error: Exception | None = None
    stage: str = "result"


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from flat(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from flat(v)
    else:
        yield value


def seeds(outs: list[Any], lib: Any, salt: int) -> list[Any]:
    rng = np.random.default_rng(salt)
    def draw(t: Any) -> Any:
        drawn = rng.uniform(-1, 1, tuple(t.shape))
        return np.asarray(drawn + 1j * rng.uniform(-1, 1, tuple(t.shape)) if t.is_complex() else drawn)
    return [None if t is None else lib.from_numpy(draw(t)).to(t.dtype) for t in outs]


def run(side: Side, f: Callable[..., Any], sample: Any, process: Any = None) -> Outcome:
    """Call f on a copy of the sample; with gradients of orders 1 and 2 where the Side asks for them."""
    got = Outcome()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            side.lib.default_generator.manual_seed(0)     # manual_seed notes a stack for each kind of GPU
            args = (side.copy(sample.input), *side.copy(sample.args))
            if isinstance(args[0], side.lib.Tensor):
                got.source = args[0].detach().clone()
            kwargs = side.copy(sample.kwargs)
            out = f(*args, **kwargs)
            if process is not None:
                out = process(out)
            got.outs = list(flat(out))
            if side.leaves:
                got.stage = "gradient"
                gradients(side, got)
    except Outside:
        raise
    except Exception as e:
        got.error = e
    return got


def gradients(side: Side, got: Outcome) -> None:
    lib = side.lib
    smooth = [t for t in got.outs if isinstance(t, lib.Tensor) and t.requires_grad]
    if not smooth:
        return
    leaves = side.leaves
    weights = seeds(smooth, lib, 1)
    try:
        got.grads = list(lib.autograd.grad(smooth, leaves, weights, allow_unused=True, create_graph=True, retain_graph=True))
    except (RuntimeError, NotImplementedError) as e:
        if "is not implemented" not in str(e):
            raise
        got.once = True
        got.grads = list(lib.autograd.grad(smooth, leaves, weights, allow_unused=True))
        return
    again = [(g, w) for g, w in zip(got.grads, seeds(got.grads, lib, 2)) if g is not None and g.requires_grad]
    got.second = [None] * len(leaves)
    if again:
        got.stage = "second gradient"
        try:
            got.second = list(lib.autograd.grad([g for g, _ in again], leaves, [w for _, w in again], allow_unused=True))
        except (RuntimeError, NotImplementedError) as e:
            if "is not implemented" not in str(e):
                raise
            got.once = True


def difference(a: Any, b: Any, name: str, dtype: str) -> str:
    """'' when a (ours) equals b (PyTorch's)."""
    if isinstance(b, theirs.Tensor) != isinstance(a, ours.Tensor):
        return f"{type(a).__name__} instead of {type(b).__name__}"
    if not isinstance(b, theirs.Tensor):
        if isinstance(b, theirs.dtype) or isinstance(b, (theirs.device, theirs.Size)):
            return "" if str(a) == str(b) else f"{a} instead of {b}"
        if is_nan(a) and is_nan(b):
            return ""
        if isinstance(b, float):
            return "" if np.isclose(a, b) else f"{a} instead of {b}"
        return "" if type(a).__name__ == type(b).__name__ and a == b else f"{a!r} instead of {b!r}"
    if b.dtype is theirs.complex32 or b.layout is not theirs.strided:
        raise Outside(str(b.dtype))
    if str(a.dtype) != str(b.dtype):
        return f"dtype {a.dtype} instead of {b.dtype}"
    if tuple(a.shape) != tuple(b.shape):
        return f"shape {tuple(a.shape)} instead of {tuple(b.shape)}"
    if SHAPE_ONLY.fullmatch(name):
        return ""
    x, y = arrays(a), arrays(b)
    if y.dtype.kind not in "fc":
        return "" if np.array_equal(x, y) else f"{np.count_nonzero(x != y)} of {x.size} values differ"
    kind = str(b.dtype).rpartition(".")[2]
    rtol = RTOL[kind if RTOL[kind] > RTOL.get(dtype, 0) else dtype]
    wide = np.complex128 if y.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    size = float(np.abs(y[np.isfinite(y)]).max(initial=0.0))
    with np.errstate(all="ignore"):
        if np.allclose(x, y, rtol, rtol * max(1e-3, min(size, 1e6)), equal_nan=True):
            return ""
        bad = ~np.isclose(x, y, rtol, rtol * max(1e-3, min(size, 1e6)), equal_nan=True)
    x, y, bad = np.atleast_1d(x), np.atleast_1d(y), np.atleast_1d(bad)
    at = tuple(int(i[0]) for i in np.nonzero(bad))
    return f"{np.count_nonzero(bad)} of {x.size} values differ, {x[at]!r} instead of {y[at]!r}"


def first_sentence(e: Exception) -> str:
    return re.split(r"\n|\. ", str(e))[0]


def told(a: Outcome, b: Outcome, name: str, dtype: str) -> str:
    """How our outcome differs from PyTorch's."""
    if b.error is not None or a.error is not None:
        if a.error is None or b.error is None or type(a.error) is not type(b.error):
            refuse_lacking(a.error)
            return f"{a.stage} {short(a.error)} instead of {short(b.error)}"
        if first_sentence(a.error) != first_sentence(b.error):
            return f"text {first_sentence(a.error)!r} instead of {first_sentence(b.error)!r}"
        return ""
    for what, xs, ys in (("result", a.outs, b.outs), ("gradient", a.grads, b.grads), ("second gradient", a.second, b.second)):
        if what == "second gradient" and b.once:
            continue                                        # PyTorch has none; ours may
        if len(xs) != len(ys):
            return f"{what} of {len(xs)} parts instead of {len(ys)}"
        for i, (x, y) in enumerate(zip(xs, ys)):
            if what != "result" and (x is None or y is None) and zero(x) and zero(y):
                continue                                    # recorded on one side only, and nothing flows
            if x is None and y is None:
                continue
            if y is None or x is None:
                return f"{what} {i} {'None' if x is None else 'zeros'} instead of {'None' if y is None else 'a tensor'}"
            if what == "result" and isinstance(y, theirs.Tensor) and isinstance(x, ours.Tensor):
                if x.requires_grad != y.requires_grad:
                    return f"{what} {i} requires_grad {x.requires_grad}"
                if i + 1 == len(ys) and y.dtype is theirs.int64 and TIES.fullmatch(name) and same_elements(x, y, a.source):
                    continue
            if found_ := difference(x, y, name, dtype):
                return f"{what} {i} {found_}"
    return ""


def same_elements(x: Any, y: Any, source: Any) -> bool:
    """Do the indices x and y, of one shape, name equal elements of the array `source` along some dim?"""
    a, b = arrays(x), arrays(y)
    if a.shape != b.shape or source is None:
        return False
    source = arrays(source)
    if a.shape == () and source.size and 0 <= a < source.size and 0 <= b < source.size:
        return bool(source.reshape(-1)[a] == source.reshape(-1)[b])
    for dim in range(source.ndim):
        for i, j in ((a, b), *([(np.expand_dims(a, dim), np.expand_dims(b, dim))] if a.ndim + 1 == source.ndim else [])):
            inside = i.ndim == source.ndim and i.size and 0 <= min(i.min(), j.min())
            if inside and max(i.max(), j.max()) < source.shape[dim] and all(
                    n == m for d, (n, m) in enumerate(zip(i.shape, source.shape)) if d != dim):
                got, want = np.take_along_axis(source, i, dim), np.take_along_axis(source, j, dim)
                if np.array_equal(got, want, equal_nan=got.dtype.kind == "f"):
                    return True
    return False


def refuse_lacking(e: Exception | None) -> None:
    """Outside when ours failed for want of a name."""
    lacking = LACKING.search(str(e)) if isinstance(e, (AttributeError, ImportError)) else None
    if lacking:
        raise Outside(f"no {lacking.group(1) or lacking.group(2)}")
    if isinstance(e, NotImplementedError) and "complex32" in str(e):
        raise Outside("complex numbers")


LACKING = re.compile(r"retrograd has no '(?:torch\.)?([\w.]+)'|'_OpNamespace' '\w+' object has no attribute '(\w+)'")


def zero(t: Any) -> bool:
    return t is None or not np.any(arrays(t))


def short(e: Exception | None) -> str:
    return "an answer" if e is None else f"{type(e).__name__}({first_sentence(e)[:120]!r})"


def forms(op: Any) -> Iterator[tuple[str, Any, Any]]:
    """The function, the method and the in-place method: (kind, theirs, ours)."""
    f = op.op
    path = op.name if not op.name.startswith("_refs") else op.name[6:]
    try:
        mine = None
        if getattr(f, "__module__", "") is None or not hasattr(f, "__code__"):
            try:
                at: Any = theirs
                for part in path.split("."):
                    at = getattr(at, part)
                if at is f:
                    mine = found(ours, path)
            except AttributeError:
                pass
        yield "function", f, mine or function(f)
    except Outside as e:
        yield "function", f, e
    for kind, variant in (("method", op.method_variant), ("in place", op.inplace_variant)):
        name = getattr(variant, "__name__", None)
        if name and name != "<lambda>" and getattr(theirs.Tensor, name, None) is variant:
            yield kind, variant, getattr(ours.Tensor, name, Outside(f"no Tensor.{name}"))


def supported(op: Any) -> list[str]:
    names = {str(d).rpartition(".")[2] for d in op.supported_dtypes("cpu")}
    return [d for d in DTYPES if d in names]


def of_no_test() -> None:
    """PyTorch looks in the sources of the whole stack for the test that asks for samples: seconds under pytest, for nothing."""
    from torch.testing._internal import common_utils
    from torch.testing._internal.opinfo import core

    common_utils.extract_test_fn = core.extract_test_fn = lambda: None


def compare(op: Any, dtypes: tuple[str, ...] = DTYPES, most: int | None = None) -> Tally:
    of_no_test()
    tally = Tally(op.full_name if hasattr(op, "full_name") else op.name)
    tally.name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
    table = list(forms(op))
    if isinstance(table[0][2], Outside) and all(isinstance(t[2], Outside) for t in table):
        tally.outside[str(table[0][2])] = 1
        return tally
    for dtype in supported(op):
        if dtype not in dtypes:
            continue
        grad = dtype in ("float64", "complex128") and op.supports_autograd
        try:
            samples = list(itertools.islice(op.sample_inputs("cpu", getattr(theirs, dtype), requires_grad=grad), most))
        except Exception as e:
            tally.outside[f"PyTorch cannot make its {dtype} samples: {type(e).__name__}"] = 1
            continue
        for i, sample in enumerate(samples):
            one(tally, op, table, sample, dtype, grad, i)
    wrong(tally, op, table, most)
    return tally


def one(tally: Tally, op: Any, table: Any, sample: Any, dtype: str, grad: bool, i: int) -> None:
    process = sample.output_process_fn_grad
    found_: list[tuple[str, str]] = []
    try:
        for kind, f, mine in table:
            if isinstance(mine, Outside):
                if kind == "function":
                    raise mine
                found_.append((f"{kind}", str(mine)))
                continue
            if kind != "function" and not isinstance(sample.input, theirs.Tensor):
                continue
            with_grad = grad and kind == "function"
            got = run(Ours(with_grad), mine, sample, function(process))
            want = run(Theirs(with_grad), f, sample, process)
            if text := told(got, want, op.name, dtype):
                found_.append((f"{kind} {dtype} {i}", text))
    except Outside as e:
        tally.outside[str(e)] = tally.outside.get(str(e), 0) + 1
        return
    tally.samples += 1
    tally.agree += not found_
    if dtype.startswith("complex"):
        tally.complex += 1
        tally.complex_agree += not found_
    tally.differences += found_


def wrong(tally: Tally, op: Any, table: Any, most: int | None) -> None:
    """The inputs that must fail, and how."""
    if op.error_inputs_func is None:
        return
    try:
        inputs = list(itertools.islice(op.error_inputs("cpu"), most))
    except Exception as e:
        tally.outside[f"PyTorch cannot make its error samples: {type(e).__name__}"] = 1
        return
    for i, bad in enumerate(inputs):
        kind, f, mine = table[0]
        if isinstance(mine, Outside):
            return
        try:
            got = run(Ours(), mine, bad.sample_input)
            want = run(Theirs(), f, bad.sample_input)
            text = told(got, want, op.name, "float32")
        except Outside as e:
            tally.outside[str(e)] = tally.outside.get(str(e), 0) + 1
            continue
        tally.errors += 1
        tally.errors_agree += not text
        if text:
            tally.differences.append((f"error {i}", text))
