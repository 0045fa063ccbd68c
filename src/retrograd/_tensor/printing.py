"""How tensors print: the format chosen from the elements shown, summaries, line breaks and suffixes, as PyTorch does.

Only the elements that are shown are read, so printing a huge (or memory-mapped) tensor costs nothing.
"""
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase
from .dtypes import get_default_dtype
from .home import ours


class _PrinterOptions:
    def __init__(self) -> None:
        self.precision = 4
        self.threshold: float = 1000
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: bool | None = None


PRINT_OPTS = _PrinterOptions()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors print.  None leaves an option as it is, but for sci_mode, where None means automatic.

    precision   digits after the point          threshold   more elements than this are summarized
    edgeitems   shown at each end of a summary  linewidth   in characters
    profile     "default", "short" (precision 2, edgeitems 2) or "full" (no summaries); the other arguments go on top
    sci_mode    True: always 1.0000e+00, False: never
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    chosen.update((k, v) for k, v in given.items() if v is not None)
    for key, value in chosen.items():
        setattr(PRINT_OPTS, key, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, as keyword arguments of set_printoptions."""
    return dict(vars(PRINT_OPTS))


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """set_printoptions(**kwargs) within a with statement."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def format_tensor(t: Any, spec: str) -> str:
    """format(t, spec): a 0-dim tensor formats as its number, any other only without a spec, as its repr.

    A subclass (and a Parameter) counts as "any other", as in PyTorch.
    """
    cls = type(t)
    if t.array.ndim == 0 and cls.__name__ == "Tensor" and _ours(cls):
        return format(_item(t.array), spec)
    if spec:
        raise TypeError(f"unsupported format string passed to {cls.__name__}.__format__")
    return str(t)


def _item(x: Any) -> Any:
    value = x.item()
    return float(value) if x.dtype.kind == "V" else value      # ml_dtypes' scalars are no Python floats


def _str(t: Any, *, tensor_contents: str | None = None, extra: str = "") -> str:
    """repr(t).  `tensor_contents` stands in for the elements; `extra` comes last."""
    cls = type(t)
    prefix = "tensor(" if _ours(cls) else f"{cls.__name__}("
    array, opts = t.array, PRINT_OPTS
    indent = len(prefix)
    default = get_default_dtype()
    plain = (default, default.to_complex()) if t.dtype.is_complex else (default,)
    suffixes = []
    if array.size == 0:
        body = "[]"
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if t.dtype is not default:          # no element shows that it would be an int or a bool
            suffixes.append(f"dtype={t.dtype}")
    else:
        if opts.edgeitems == 0:
            suffixes.append(f"size={tuple(array.shape)}")
        if t.dtype not in plain and t.dtype.name not in ("int64", "bool"):
            suffixes.append(f"dtype={t.dtype}")
        body = "" if tensor_contents is not None else _contents(array, indent)
    suffixes += filter(None, (_graph_suffix(t), extra))
    return _joined(prefix + (body if tensor_contents is None else tensor_contents), suffixes, indent)


def _ours(cls: type) -> bool:
    """Is it Tensor, Parameter or Buffer, not somebody's subclass, whose name is shown?"""
    return ours(cls.__module__)


def _graph_suffix(t: Any) -> str:
    try:
        node = t.grad_fn
    except RuntimeError:        # a view edited where it cannot have a history
        return "grad_fn=<Invalid>"
    if node is not None:
        return f"grad_fn=<{type(node).__name__}>"
    return "requires_grad=True" if t.requires_grad else ""


def _joined(text: str, suffixes: list[str], indent: int, force_newline: bool = False) -> str:
    """Append the suffixes, each on a new line when it would not fit; force_newline: the first in any case."""
    length = len(text) - text.rfind("\n") + 1       # PyTorch's count: 2 more than the last line has
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            force_newline = False
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _contents(array: Any, indent: int) -> str:
    """The elements, or the corners of the tensor when there are more than PRINT_OPTS.threshold."""
    edge = max(PRINT_OPTS.edgeitems, 0)
    cut = [False] * array.ndim
    if array.ndim > 0 and array.size > PRINT_OPTS.threshold:
        if edge == 0:
            return "[...]"
        cut = [n > 2 * edge for n in array.shape]
        corners = [np.r_[:edge, n - edge:n] if far else np.arange(n) for n, far in zip(array.shape, cut, strict=True)]
        array = array[np.ix_(*corners)]
    if array.dtype.kind == "V":                 # bfloat16
        array = array.astype(np.float64)
    if array.dtype.kind == "c":
        cells, width = _complex_cells(array.real.ravel().tolist(), array.imag.ravel().tolist())
        return _nested(cells, array.shape, cut, edge, indent, width)
    values = array.ravel().tolist()
    style, width = (_float_style if array.dtype.kind == "f" else _int_style)(values)
    cells = [style(v).rjust(width) for v in values]
    return _nested(cells, array.shape, cut, edge, indent, width)


def _nested(cells: list[str], shape: tuple[int, ...], cut: list[bool], edge: int, indent: int, width: int) -> str:
    if not shape:
        return cells[0]
    if len(shape) == 1:
        if cut[0]:
            cells = [*cells[:edge], " ...", *cells[edge:]]
        per_line = max(1, (PRINT_OPTS.linewidth - indent) // (width + 2))
        parts = [", ".join(cells[i:i + per_line]) for i in range(0, len(cells), per_line)]
        newlines = 1
    else:
        step = len(cells) // shape[0]
        parts = [
            _nested(cells[i:i + step], shape[1:], cut[1:], edge, indent + 1, width)
            for i in range(0, len(cells), step)]
        if cut[0]:
            parts.insert(edge, "...")
        newlines = len(shape) - 1
    return "[" + ("," + "\n" * newlines + " " * (indent + 1)).join(parts) + "]"


def _complex_cells(real: list[float], imag: list[float]) -> tuple[list[str], int]:
    """The numbers, each part in a style of its own, and the width that decides how many fit into a line."""
    (style, width), (style_of_imag, width_of_imag) = _float_style(real), _float_style(imag)
    tails = [(style_of_imag(v).rjust(width_of_imag) + "j").lstrip() for v in imag]
    cells = [style(v).rjust(width) + (tail if tail[0] in "+-" else f"+{tail}") for v, tail in zip(real, tails, strict=True)]
    return cells, width + width_of_imag + 1


def _int_style(values: list[Any]) -> tuple[Callable[[Any], str], int]:
    return str, max(len(str(v)) for v in values)


def _float_style(values: list[float]) -> tuple[Callable[[float], str], int]:
    """How to write the numbers, and the width of the widest; zeros, inf and nan have no say in either."""
    usual = [v for v in values if v != 0 and math.isfinite(v)]
    if not usual:
        return _whole, 1
    digits = PRINT_OPTS.precision
    low, high = min(map(abs, usual)), max(map(abs, usual))
    style: Callable[[float], str] = f"{{:.{digits}f}}".format
    scientific = PRINT_OPTS.sci_mode
    if scientific is None:
        scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if scientific:
        style = f"{{:.{digits}e}}".format
    elif all(v == math.floor(v) for v in usual):
        style = _whole
    return style, max(len(style(v)) for v in usual)


def _whole(v: float) -> str:
    return f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"


def typename(obj: Any, /) -> str:
    """What kind of thing obj is: 'torch.FloatTensor' for a tensor, 'int', 'numpy.ndarray'; of a class its own name."""
    if isinstance(obj, TensorBase):
        tensor: Any = obj
        name: str = tensor.type()
        return name
    cls = obj if isinstance(obj, type) else type(obj)
    return cls.__qualname__ if cls.__module__ in ("builtins", "", None) else f"{cls.__module__}.{cls.__qualname__}"
