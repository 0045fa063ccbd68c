"""Arguments of functions that PyTorch writes in C are checked as its argument parser does, by the table in `forms`.

A call whose arguments are of the same types as those of an earlier one goes straight on (NOTE [Types seen before]).  Any other
is fitted to the overloads in turn: a number where a 0-dim tensor came, an int where a NumPy int came, PyTorch's TypeError
where nothing fits.  https://github.com/pytorch/pytorch: torch/csrc/utils/python_arg_parser.cpp has the rules.
"""
from __future__ import annotations

import ast
import builtins
import functools
import inspect
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names
from .._engine.modes import modes
from .._engine.op import edge, recording
from .._engine.promote import result_dtype
from .._engine.tensor import TensorBase, wants_grad, wrap
from .._engine.views import check_cast, guard
from .._tensor import dtypes
from ..random import Generator, get_rng_state, set_rng_state
from . import meta
from .arguments import DOUBLE, is_int, long, real_number
from .deprecated import older, reordered
from .outs import OWN, check_grad, into

WORDS = {"Scalar": "Number", "SymInt": "int", "dtype": "torch.dtype", "layout": "torch.layout", "device": "torch.device",
         "memory_format": "torch.memory_format", "Generator": "torch.Generator"}
LISTS = {"int": "tuple of ints", "float": "tuple of floats", "Tensor": "tuple of Tensors", "bool": "tuple of bools",
         "Scalar": "tuple of Scalars"}
ALIASES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}     # NumPy's names


class StorageBase:
    """What a storage is to the parser; see torch.storage, which programs rarely load."""


OTHERS = {"dtype": (dtypes.dtype,), "layout": (dtypes.layout,), "device": (dtypes.device, str, int),
          "memory_format": (dtypes.memory_format,), "Generator": (Generator,), "str": (str,), "torch.Storage": (StorageBase,)}
# Functions that take a number for a Tensor, which becomes one.
NUMBERS_TOO = frozenset("add sub mul div subtract multiply divide true_divide floor_divide".split())
OWN_CHECKS = ("resize_", "resize_as_", "set_", "fill_diagonal_")             # in-place functions that check something else first
IN_LISTS = "iub"                # there a tensor of one bool is an int, too
MISSED = object()
OVERFLOW = "Overflow when unpacking long long"


class Unfit(Exception):
    """An argument fits no type; `at`: the place of the element of a list that does not."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at


class Param:
    """One parameter, from `int[2]? padding=0`."""

    def __init__(self, text: str, keyword_only: bool, numbers: bool) -> None:
        left, self.optional, self.default = text.partition("=")
        kind, _, self.name = left.rpartition(" ")
        self.none = kind.endswith("?") or (bool(self.optional) and self.default == "None")
        kind = kind.rstrip("?")
        self.kind, _, size = kind.partition("[")
        self.listed = bool(size)
        self.kind = self.kind.rstrip("?")
        self.size = int(size[:-1] or 0) if size else 0
        self.keyword_only, self.numbers = keyword_only, numbers
        self.word = LISTS[self.kind] if self.listed else WORDS.get(self.kind, self.kind)

    def __str__(self) -> str:
        default = self.default.replace("'", '"')
        return f"{self.word} {self.name}" + (f" = {default}" if self.optional else "")

    def value(self) -> Any:
        """The default."""
        return ast.literal_eval(self.default.replace("{", "(").replace("}", ")"))

    def fit(self, value: Any) -> Any:
        """value as the function takes it; Unfit when it is of another type."""
        kind = type(value)
        if self.listed:
            return self.fit_list(value)
        if self.kind == "Tensor":
            if isinstance(value, TensorBase) or (self.numbers and isinstance(value, (int, float, complex, np.generic))):
                return value
        elif self.kind == "SymInt":
            if kind is int:
                return long(value)
            if is_int(value):
                return long(int(value))
        elif self.kind in ("int", "Scalar", "float"):
            if kind is int or (kind is float and self.kind != "int"):
                if self.kind == "Scalar":
                    dtypes.check_long(value)
                return long(value) if self.kind == "int" else value
            return fit_number(value, self.kind)
        elif self.kind == "bool":
            if kind is bool:
                return value
        elif isinstance(value, OTHERS.get(self.kind, object)) or (self.kind == "dtype" and value in (float, int, bool)):
            return value
        raise Unfit

    def fit_list(self, value: Any) -> Any:
        if not isinstance(value, (tuple, list)):
            if self.size and self.kind == "int" and is_int(value, IN_LISTS):
                return long(int(value))
            if self.size and self.kind == "float" and isinstance(value, float):
                return value
            raise Unfit
        if not value:
            return value
        if self.kind == "Tensor":
            for i, v in enumerate(value):
                if not isinstance(v, TensorBase):
                    raise Foreign(i, v)
            return value
        if all(type(v) is int for v in value):
            return value
        if self.kind == "int":
            if not is_int(value[0], IN_LISTS):
                raise Unfit(0)
            return value                        # the others are looked at when the overload is chosen
        if self.kind == "float" and not isinstance(value[0], (int, float, np.number)):
            raise Unfit(0)
        if self.kind == "Scalar":
            if any(isinstance(v, TensorBase) for v in value):
                raise Unfit
            return [fit_number(v, "Scalar") for v in value]
        return value


class Foreign(TypeError):
    """An element of a list of tensors that is none: an error at once, whatever other overloads there are."""

    def __init__(self, at: int, value: Any) -> None:
        self.at, self.value = at, value


def fit_number(value: Any, kind: str) -> Any:
    """A Python number from a NumPy scalar or a 0-dim tensor that does not require grad."""
    if isinstance(value, TensorBase):
        a = value.array
        if a.ndim or wants_grad(value) or (kind == "int" and a.dtype.kind not in "iu"):
            raise Unfit
        if kind == "float":
            return real_number(a.item(), DOUBLE) if a.dtype.kind == "c" else float(a)
        return a.item() if a.dtype.kind != "V" else float(a)
    if isinstance(value, bool):
        if kind == "int":
            raise Unfit
        return value
    if isinstance(value, np.bool_) and kind != "int":
        return float(value)
    if isinstance(value, np.generic) and not isinstance(value, (np.bool_, np.str_, np.complexfloating)):
        if kind == "int" and not isinstance(value, np.integer):
            raise Unfit
        return value.item()
    if isinstance(value, (int, float)) and (kind != "int" or isinstance(value, int)):
        return value
    if isinstance(value, complex) and kind == "Scalar":
        return value
    raise Unfit


class Form:
    """One overload, from `Tensor input, int dim, *, Tensor? out=None`."""

    def __init__(self, text: str, numbers: bool) -> None:
        self.params: list[Param] = []
        star = False
        for part in re.split(r", (?![^(]*\))", text) if text else ():
            if part == "*":
                star = True
            else:
                self.params.append(Param(part, star, numbers))
        self.most = len(self.params)
        self.positional = sum(not p.keyword_only for p in self.params)
        self.least = sum(not p.optional for p in self.params)
        first = self.params[0] if self.params else None
        self.varargs = self.positional == 1 and first is not None and first.listed and first.kind == "int"

    def __str__(self) -> str:
        shown = [str(p) for p in self.params]
        star = next((i for i, p in enumerate(self.params) if p.keyword_only), None)
        if star is not None:
            shown.insert(star, "*")
        return f"({', '.join(shown)})"

    def signature(self) -> inspect.Signature:
        return inspect.Signature([inspect.Parameter(
            p.name, inspect.Parameter.KEYWORD_ONLY if p.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=p.value() if p.optional else inspect.Parameter.empty) for p in self.params])

    def fit(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], tell: bool) -> Any:
        """(args, kwargs) with their values as the function takes them; None (or TypeError, if `tell`) when they do not fit."""
        if len(args) > self.positional and not self.varargs:
            if tell:
                raise too_many(name, self, len(args))
            return None
        left, at = len(kwargs), 0
        new_args, new_kwargs = list(args), dict(kwargs)
        for i, p in enumerate(self.params):
            value, key = MISSED, ""
            if at < len(args):
                if p.keyword_only:
                    if tell:
                        raise too_many(name, self, len(args))
                    return None
                value = args[at]
            else:
                key = next((k for k in (p.name, *ALIASES.get(p.name, ())) if k in kwargs), "")
                value = kwargs[key] if key else MISSED
            if value is MISSED:
                if p.optional:
                    continue
                if tell:
                    raise missing(name, [q.name for q in self.params[i:] if not q.optional])
                return None
            if value is None and p.none:
                fitted = None
            else:
                try:
                    fitted = p.fit(value)
                except Foreign as e:
                    word = type(e.value).__name__
                    raise TypeError(f"expected Tensor as element {e.at} in argument {i}, but got {word}") from None
                except Unfit as e:
                    if self.varargs and at == 0 and not key and is_int(args[0]):
                        return [*unpack(name, p, args)], new_kwargs
                    if not tell:
                        return None
                    if self.varargs and not key and len(args) > 1:
                        raise too_many(name, self, len(args)) from None
                    raise wrong(name, p, value, 0 if key else at + 1, e.at) from None
            if p.listed and p.kind == "int" and isinstance(fitted, (tuple, list)):
                fitted = unpack(name, p, fitted)
            if key:
                left -= 1
                if fitted is not value:
                    new_kwargs[key] = fitted
                if key != p.name:
                    new_kwargs[p.name] = new_kwargs.pop(key)
            else:
                new_args[at] = fitted
                at += 1
        if at < len(args):
            if tell:
                raise too_many(name, self, len(args))
            return None
        if left:
            if tell:
                raise unexpected(name, self, kwargs, len(args))
            return None
        return new_args, new_kwargs

    def passed(self, args: Any, kwargs: dict[str, Any], takes: frozenset[str]) -> tuple[list[Any], dict[str, Any]]:
        """The same arguments for a function whose own names are `takes`: what it calls otherwise goes by its place."""
        args, kwargs = list(args), dict(kwargs)
        for p in self.params[len(args):]:
            if p.keyword_only or takes.issuperset(kwargs):
                break
            args.append(kwargs.pop(p.name) if p.name in kwargs else p.value())
        return args, {name: value for name, value in kwargs.items() if name in takes or name != "memory_format"}


NOT_PINNED = ("pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this "
              "system.")


def unpack(name: str, p: Param, values: Any) -> Any:
    """values with NumPy's ints and tensors of one as ints; TypeError for an element that is none, or takes more than 64 bits."""
    for i, v in enumerate(values):
        if type(v) is int and not -2**63 <= v < 2**63:
            raise TypeError(f"{name}(): argument '{p.name}' failed to unpack the object at pos {i + 1} with error \"{OVERFLOW}\"")
        if type(v) is not int and (not is_int(v, IN_LISTS) if i == 0 else not hasattr(type(v), "__index__") or (
                isinstance(v, (TensorBase, np.ndarray)) and not is_int(v, IN_LISTS))):
            raise TypeError(f"{name}(): argument '{p.name}' failed to unpack the object at pos {i + 1} with error "
                            f'"type must be {p.word},but got {dtypes.typename(v)}"')
    return values if all(type(v) is int for v in values) else [int(v) for v in values]


def too_many(name: str, form: Form, count: int) -> TypeError:
    most, were = form.positional, "were" if count != 1 else "was"
    if form.least != most:
        return TypeError(f"{name}() takes from {form.least} to {most} positional arguments but {count} were given")
    return TypeError(f"{name}() takes {most} positional argument{'s' if most != 1 else ''} but {count} {were} given")


def missing(name: str, names: list[str]) -> TypeError:
    shown = ", ".join(f'"{n}"' for n in names)
    return TypeError(f"{name}() missing {len(names)} required positional argument{'s' if len(names) == 1 else ''}: {shown}")


def wrong(name: str, p: Param, value: Any, position: int, at: int | None) -> TypeError:
    place = f" (position {position})" if position else ""
    got = f", not {dtypes.typename(value)}" if at is None else (
        f", but found element of type {dtypes.typename(value[at])} at pos {at}")
    return TypeError(f"{name}(): argument '{p.name}'{place} must be {p.word}{got}")


def unexpected(name: str, form: Form, kwargs: dict[str, Any], count: int) -> TypeError:
    known = [p.name for p in form.params]
    for key in kwargs:
        if key not in known:
            return TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if known.index(key) < count:
            return TypeError(f"{name}() got multiple values for argument '{key}'")
    return TypeError("invalid keyword arguments")


@functools.cache
def forms_of(name: str, text: str) -> list[Form]:
    return [Form(each.strip(), numbers_too(name)) for each in text.split("|")]


@functools.cache
def old_forms_of(name: str, text: str) -> list[Form]:
    return [Form(each, numbers_too(name)) for each in older(name, text)]


def numbers_too(name: str) -> bool:
    return name.removesuffix("_") in NUMBERS_TOO or name == "copy_"


@functools.cache
def keywords_of(f: Callable[..., Any]) -> frozenset[str] | None:
    """The names by which f takes arguments; None for any."""
    params = inspect.signature(f).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in params):
        return None
    return frozenset(p.name for p in params if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def fitted(
    name: str, text: str, args: tuple[Any, ...], kwargs: dict[str, Any], takes: frozenset[str] | None = None,
) -> tuple[Any, Any]:
    """The arguments, fitted to the first overload that takes them; TypeError as PyTorch words it.

    takes  the names that the function has for its arguments
    """
    forms, older_ones = forms_of(name, text), old_forms_of(name, text)
    for old in older_ones:
        if any(form.fit(name, args, kwargs, False) is not None for form in forms):
            break
        found = old.fit(name, args, kwargs, False)
        if found is not None:
            return reordered(name, old, forms, *found)
    for form in forms:
        found = form.fit(name, args, kwargs, len(forms) + len(older_ones) == 1)
        if found is not None:
            if kwargs:
                if found[1].pop("pin_memory", False):
                    raise RuntimeError(NOT_PINNED)
                layout = found[1].pop("layout", None)
                if layout is not None and layout is not dtypes.strided:
                    raise NotImplementedError(f"{name}(): retrograd has no tensors of layout {layout}, only torch.strided")
                if takes is not None and not takes.issuperset(found[1]):
                    return form.passed(found[0], found[1], takes)
            return found
    count = len(args) + len(kwargs)
    plausible = [form for form in forms if form.least <= count <= form.most]
    if len(plausible) == 1:
        plausible[0].fit(name, args, kwargs, True)
    got = ", ".join([*map(dtypes.typename, args), *(
        f"{k}={dtypes.typename(v)}" for k, v in reversed(kwargs.items()))]) + (", " if kwargs and not args else "")
    raise TypeError(f"{name}() received an invalid combination of arguments - got ({got}), but expected " + (
        str(forms[0]) if len(forms) == 1 else "one of:\n" + "".join(f" * {form}\n" for form in forms)))


# NOTE [Types seen before]
# To fit arguments takes microseconds, to look up their types 0.1: what the function may be given as it came is remembered by
# the types of all arguments, if nothing had to be converted.  A list's type does not tell of its elements; lists of ints and
# of tensors are looked through each time, other lists are fitted each time.  Where there is C it is told what is remembered,
# and calls f itself (Function in _kernels/_fast.c).

class Checks:
    """f behind checks of its arguments."""

    name = ""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.function: Any = None               # in C, where users find it
        self.outs = ""                          # the name of a function whose out= is written here
        self.refusal: tuple[str, str, bool] | None = None       # of complex numbers: see refusals
        self.seen: dict[Any, Any] = {}
        EVERY.append(self)
        if modes.imaginary:
            watch_complex(self)

    def fit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The arguments as f takes them; the same objects where nothing had to be converted."""
        raise NotImplementedError

    def failed(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None, error: Exception) -> Any:
        """Raise what users see instead of an error that f raised; or their result, if f only wanted another device."""
        raise NotImplementedError

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        key: Any = (*map(type, args),)
        if kwargs:
            key = (key, (*kwargs,), (*map(type, kwargs.values()),))
        lists = self.seen.get(key)
        if lists is None or (lists and not plain(lists, args)):
            new_args, new_kwargs = self.fit(args, kwargs)
            self.remember(key, args, kwargs, new_args, new_kwargs)
            args, kwargs = new_args, new_kwargs
        try:
            if self.refusal is not None:
                refuse_complex(self, args, kwargs)
            if self.outs and "out" in kwargs and (out := kwargs.pop("out")) is not None:
                inputs = tensors_in([*args, *kwargs.values()])
                return into(self.outs, self.f(*args, **kwargs), out, inputs)
            return self.f(*args, **kwargs)
        except Exception as error:
            instead = self.failed(tuple(args), kwargs, error)
            if instead is not None:
                return instead
            raise

    def remember(self, key: Any, args: Any, kwargs: Any, new_args: Any, new_kwargs: Any) -> None:
        if len(self.seen) > 64 or new_kwargs.keys() != kwargs.keys():
            return
        if any(map(operator.is_not, args, new_args)) or any(
                new_kwargs[k] is not v or isinstance(v, (tuple, list)) for k, v in kwargs.items()):
            return
        lists = listed(args)
        if lists is not None:
            if self.function is not None and key not in self.seen and not (self.outs and "out" in kwargs):
                self.function.learn((*args, *kwargs.values()), (*kwargs,), dict(lists))
            self.seen[key] = lists


class Composed(Checks):
    """A function that PyTorch writes in Python: it checks its arguments itself."""

    def __init__(self, name: str, f: Callable[..., Any]) -> None:
        self.name = name
        super().__init__(f)

    def fit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        return args, kwargs

    def failed(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None, error: Exception) -> Any:
        instead = translated(error)
        if instead is not None:
            raise instead from None


EVERY: list[Checks] = []


# NOTE [Functions of real numbers]
# Which functions take no complex numbers, and PyTorch's words, says real_only.py.  They are watched from the first complex
# number on: calls with complex tensors pass the checks in Python then, whatever types were seen before.

def watch_complex(check: Any) -> None:
    name = check.name
    in_place = refusals().get(name.removesuffix("_"), (None, None, True))
    check.refusal = refusals().get(name) or (None if in_place[2] else in_place)
    if check.refusal is not None:
        if check.function is not None:
            check.function.watch()


def watch_all() -> None:
    for check in EVERY:
        watch_complex(check)


modes.at_first_complex.append(watch_all)


@functools.cache
def refusals() -> dict[str, tuple[str, str, bool]]:
    """By a function's name: the class and text of its error, and whether only calls that are recorded raise it."""
    from .real_only import REFUSED, UNDIFFERENTIATED

    found = {name: (*error, False) for error, names in REFUSED.items() for name in names.split()}
    for name, kernel in UNDIFFERENTIATED.items():
        found[name] = "RuntimeError", f"{kernel} does not support automatic differentiation for outputs with complex dtype.", True
    return found


# What compares the dtypes of its arguments before it looks for a kernel.
COMPARE = frozenset("""binary_cross_entropy cross_entropy group_norm huber_loss layer_norm nll_loss prelu
    scaled_dot_product_attention""".split())
# What refuses complex numbers before it looks at shapes, dims and values.
AT_ONCE = frozenset("""argmax argmin clamp clip cosine_similarity elu fmax fmin hardshrink heaviside leaky_relu maximum minimum
    view_as_complex""".split())


def refuse_complex(check: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """PyTorch's error where one of the tensors is complex: what is wrong with real ones, too, comes first."""
    kind, text, recorded = check.refusal
    given = tensors_in([*args, *(v for key, v in kwargs.items() if key != "out")])
    if not any(x.array.dtype.kind == "c" for x in given) or (recorded and not any(map(recording, given))):
        return
    name = result_dtype([x.array for x in given]).name
    if check.outs and isinstance(out := kwargs.get("out"), TensorBase):
        check_grad(check.outs, out, given)
    if check.name.endswith("_") and isinstance(args[0], TensorBase):
        refuse_edit(args[0], given)
        if check.name not in ("ge_", "gt_", "heaviside_", "le_", "lt_"):
            check_cast(np.dtype(name), args[0].array.dtype)
    drawn = get_rng_state()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if check.name in COMPARE:
                check.f(*args, **kwargs)
            copied = functools.partial(copies, real=not recorded)
            check.f(*map(copied, args), **{key: copied(v) for key, v in kwargs.items() if key != "out"})
        except (IndexError, RuntimeError) as error:
            later = check.name.removesuffix("_") in AT_ONCE and "At least one" not in str(error)
            if not later and not isinstance(error, NotImplementedError):
                raise
        finally:
            set_rng_state(drawn)
    raise getattr(builtins, kind)(text.replace("{c}", name).replace("{}", names.SCALAR[name]))


def copies(value: Any, real: bool) -> Any:
    """value with its tensors copied; `real`: the complex ones as real ones."""
    if isinstance(value, TensorBase):
        return wrap(np.ones_like(value.array.real) if real and value.array.dtype.kind == "c" else value.array.copy())
    return type(value)(copies(v, real) for v in value) if type(value) in (tuple, list) else value


class Parsed(Checks):
    """A function that PyTorch writes in C."""

    def __init__(self, name: str, text: str, f: Callable[..., Any]) -> None:
        self.name, self.text = name, text
        super().__init__(f)
        if " out=" in text and name not in OWN:
            self.outs = name

    def fit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        return fitted(self.name, self.text, args, kwargs, keywords_of(self.f))

    def failed(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None, error: Exception) -> Any:
        kwargs = kwargs or {}
        if isinstance(error, dtypes.OnMeta):
            return meta.create(self.f, args, kwargs)
        instead = retold(self.name, self.text, args, kwargs, error)
        if not self.outs:
            check_histories(self.name, [*args, *kwargs.values()])
        if instead is not None:
            raise instead from None


class ParsedMethod(Checks):
    """A method, whose self is not counted among its arguments; of: the overloads of the function of that name."""

    def __init__(self, name: str, text: str | None, of: str, f: Callable[..., Any]) -> None:
        self.name, self.own, self.of = name, text, of
        super().__init__(f)
        self.edits = name.endswith("_") and name not in OWN_CHECKS

    @functools.cached_property
    def text(self) -> str:
        return as_method(self.of) if self.own is None else self.own

    def fit(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        check_self(self.name, args)
        if not self.text and (len(args) > 1 or kwargs):
            given = "keyword arguments" if kwargs else f"arguments ({len(args) - 1} given)"
            raise TypeError(f"TensorBase.{self.name}() takes no {given}")
        new_args, new_kwargs = fitted(self.name, self.text, args[1:], kwargs, keywords_of(self.f))
        return (args[0], *new_args), new_kwargs

    def failed(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None, error: Exception) -> Any:
        kwargs = kwargs or {}
        if isinstance(error, dtypes.OnMeta):
            return meta.create(self.f, args, kwargs)
        instead = retold(self.name, self.text, args[1:], kwargs, error)
        if self.edits:                          # of two errors PyTorch gives the one about the edit
            refuse_edit(args[0], [*args[1:], *kwargs.values()])
        check_histories(self.name, [*args, *kwargs.values()])
        if instead is not None:
            raise instead from None


# Functions that PyTorch makes of others: they check their arguments before any node is made.
COMPOSED = frozenset("""
    argmax argmin avg_pool1d bilinear chain_matmul chunk conv1d conv2d conv3d cosine_similarity cross cumulative_trapezoid diag
    diff dsplit einsum flatten fliplr flipud ger hsplit matmul max_pool1d moveaxis movedim nanmean nanquantile narrow one_hot
    outer prelu quantile repeat_interleave reshape scaled_dot_product_attention sum_to_size tensor_split tensordot trapezoid trapz
    unflatten unsafe_chunk vsplit
""".split())


def check_histories(name: str, values: Any) -> None:
    """Of two errors PyTorch gives the one about a view whose history an edit in place broke."""
    if name not in COMPOSED:
        for x in tensors_in(values):
            if recording(x):
                try:
                    edge(x)
                except RuntimeError as error:
                    raise error from None


def refuse_edit(x: TensorBase, others: Any) -> None:
    """RuntimeError where x may not be edited in place by an op of `others`."""
    try:
        guard(x, any(map(recording, [x, *tensors_in(others)])))
    except RuntimeError as error:
        raise error from None


# NOTE [NumPy's errors]
# What is larger than any array shows when NumPy refuses it, and so may numbers of more than 64 bits, which are not looked at
# where types were seen before.  Then, and only then, the arguments are fitted again, and NumPy's error becomes PyTorch's.

TOO_LARGE = (r"array is too big|Maximum allowed dimension|iterator is too large|Python int too large|"
             r"maximum supported dim|(un)?signed integer is")
MISFITS = (r"operands could not be broadcast|cannot reshape array|could not broadcast|zero-size array|shapes? mismatch|"
           r"all the input array|need at least one array|non-broadcastable output|shape mismatch: objects|"
           r"negative dimensions")


def retold(name: str, text: str, args: Any, kwargs: dict[str, Any], error: Exception) -> Exception | None:
    """The error for the user where NumPy or Python raised one of their own; None for ours."""
    fitted(name, text, tuple(args), kwargs)                         # raises what it finds
    return translated(error)


def translated(error: Exception) -> Exception | None:
    """PyTorch's error for one of NumPy's; None for ours."""
    if isinstance(error, MemoryError):
        size = getattr(error, "_total_size", None)
        return RuntimeError("DefaultCPUAllocator: can't allocate memory" + (
            "" if size is None else f": you tried to allocate {size} bytes."))
    if isinstance(error, np.exceptions.AxisError):
        return IndexError(str(error))
    if isinstance(error, (ValueError, OverflowError)) and re.search(TOO_LARGE, str(error)):
        return RuntimeError("numel: integer multiplication overflow")
    return RuntimeError(str(error)) if isinstance(error, ValueError) and re.match(MISFITS, str(error)) else None


def tensors_in(values: Any) -> list[Any]:
    found: list[Any] = []
    for v in values:
        if isinstance(v, TensorBase):
            found.append(v)
        elif isinstance(v, (tuple, list)):
            found += tensors_in(v)
    return found


def as_method(text: str) -> str:
    """A function's overloads as a method's: without the tensor itself and out=."""
    made: list[str] = []
    for form in text.split(" | "):
        first, *params = re.split(r", (?![^(]*\))", form)
        if first.startswith("Tensor input"):
            params = [p for p in params if not re.match(r"Tensor(\[\d*\])?\?? out=", p)]
            if params and params[-1] == "*":
                params.pop()
            if ", ".join(params) not in made:
                made.append(", ".join(params))
    return " | ".join(made)


def takes_more(text: str) -> bool:
    """as_method(text) != "", without its cost."""
    return any(form.startswith("Tensor input, ") and not (
        form.startswith("Tensor input, *, Tensor") and " out=" in form and form.count(", ") == 2) for form in text.split(" | "))


def check_self(name: str, args: tuple[Any, ...]) -> None:
    if not args:
        raise TypeError(f"unbound method TensorBase.{name}() needs an argument")
    if not isinstance(args[0], TensorBase):
        raise TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a "
                        f"'{dtypes.typename(args[0])}' object")


def plain(lists: tuple[Any, ...], args: tuple[Any, ...]) -> bool:
    """Are the lists at these places of what they were made of when they were met: ints, or tensors?"""
    return all(isinstance(v, TensorBase) if tensors else type(v) is int for i, tensors in lists for v in args[i])


def listed(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Where arguments are lists, and whether of tensors; None where one is neither of ints nor of tensors, or tells nothing."""
    lists = tuple((i, isinstance(v[0], TensorBase) if v else None) for i, v in enumerate(args) if isinstance(v, (tuple, list)))
    return lists if all(tensors is not None for _, tensors in lists) and plain(lists, args) else None
