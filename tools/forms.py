"""Writes src/retrograd/_functions/forms.py, the signatures of PyTorch's own functions.

They are read off a running PyTorch: schemas (`torch._C._jit_get_schemas_for_operator`) tell of types, sizes of lists and what
may be None; the text of the error for arguments that fit nothing tells which overloads Python has, and their order.
"""

from __future__ import annotations

import functools
import re
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_functions" / "forms.py"
HEAD = '''"""Signatures of PyTorch's functions and methods that are written in C, for the checks of `parsing`.

Written by `make generate` from PyTorch {release}.  Overloads are separated by " | ", in PyTorch's order; T?
may be None; int[2] is a list of ints or one int; METHODS holds what does not follow from FUNCTIONS.
"""

'''
OWN = {"SymInt": "int", "number": "Scalar", "Scalar": "Scalar"}
PRINTED = {"Number": "Scalar", "torch.dtype": "dtype", "torch.layout": "layout", "torch.device": "device",
           "torch.memory_format": "memory_format", "torch.Generator": "Generator", "tuple of ints": "int[]",
           "tuple of floats": "float[]", "tuple of Tensors": "Tensor[]", "tuple of Scalars": "Scalar[]"}
SCHEMA = {"ScalarType": "dtype", "Layout": "layout", "Device": "device", "MemoryFormat": "memory_format",
          "Generator": "Generator"}
OPTIONS = ["dtype? dtype=None", "layout? layout=None", "device? device=None", "bool? pin_memory=False",
           "bool requires_grad=False"]


# Methods without a schema of their own.
CONVERSIONS = dict.fromkeys(
    "bfloat16 bool byte char double float half int long short".split(), "*, memory_format? memory_format=None")

# Overloads that no error tells of.
UNTOLD = {"nonzero": "Tensor input, *, bool as_tuple"}


class Nothing:
    """Fits no parameter."""


def surfaces() -> Iterator[tuple[str, Any]]:
    """(name as errors say it, PyTorch's function) of what both have and PyTorch wrote in C."""
    import torch

    import retrograd
    from retrograd import _functions, fft, linalg, special
    from retrograd._functions.functional_forms import needs

    places = ((torch, [*_functions.__all__, *_functions.LATER]), (torch.nn.functional, retrograd.nn.functional.__all__),
              (torch.linalg, linalg.__all__), (torch.fft, fft.__all__), (torch.special, special.__all__))
    for place, names in places:
        for name in names:
            f = getattr(place, name, None)
            if isinstance(f, types.BuiltinFunctionType) and not (place is not torch and f is getattr(torch, name, None)):
                yield f.__name__, f
    for name in sorted(needs()):
        f = getattr(torch._C._nn, name, None) or getattr(torch._C._VariableFunctions, name)
        yield name, f
        if hasattr(torch._C._nn, name + "_") or hasattr(torch._C._VariableFunctions, name + "_"):
            yield name + "_", getattr(torch._C._nn, name + "_", None) or getattr(torch._C._VariableFunctions, name + "_")


def methods() -> Iterator[tuple[str, Any]]:
    import torch

    from retrograd import _functions

    own = {n.rpartition(" as ")[2] for family in _functions.families() for n in getattr(family, "METHODS", ())}
    for name in sorted(own | set(_functions.LATER_METHODS)):
        f = getattr(torch.Tensor, name, None)
        if isinstance(f, types.MethodDescriptorType):
            yield name, f


def printed(f: Any, *first: Any) -> list[str] | None:
    """The overloads as PyTorch lists them; None where there is one."""
    found = None
    for n in range(9):
        for kwargs in ({}, {"nothing": Nothing()}):
            try:
                f(*first, *[Nothing()] * n, **kwargs)
            except TypeError as e:
                if "expected one of:" in str(e):
                    return re.findall(r"^ \* \((.*)\)$", str(e), re.MULTILINE)
                if "but expected (" in str(e):
                    found = [re.findall(r"but expected \((.*)\)", str(e))[0]]
            except Exception:
                continue
    return found


def split(text: str) -> list[str]:
    return [p for p in re.split(r", (?![^()\[\]]*[)\]])", text) if p]


def schemas(name: str) -> list[tuple[list[str], list[str]]]:
    """(parameters but for outs, outs) of each overload, as `type name=default`."""
    import torch

    found = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        params, outs, star = [], [], False
        ok = True
        for p in schema.arguments:
            kind = text_of(str(p.type), p)
            if kind is None:
                ok = False
                break
            if kind in ("int", "int?") and re.search(rf"SymInt\?? {p.name}\b", str(schema)):
                kind = "Sym" + kind.capitalize()
            if p.is_out:
                outs.append(kind)
                continue
            if p.kwarg_only and not star:
                star = True
                params.append("*")
            default = f"={default_of(p.default_value)}" if p.has_default_value() else ""
            params.append(f"{kind} {p.name}{default}")
        if ok:
            found.append((params, outs))
    return found


def text_of(kind: str, p: Any) -> str | None:
    """An aten type in the notation of the table; None for one that Python's functions do not take."""
    real = str(getattr(p, "real_type", kind))
    optional = "?" if kind.startswith("Optional[") else ""
    inner = kind[9:-1] if optional else kind
    real = real.replace("Optional[", "").replace("]", "") if optional else real
    listed = re.fullmatch(r"List\[(.*)\]", inner)
    if listed:
        element = {"SymInt": "int"}.get(listed[1], listed[1])
        element = "Tensor?" if element == "Optional[Tensor]" else element
        if element not in ("int", "float", "Tensor", "Tensor?", "bool"):
            return None
        size = p.N if p.N else ""
        return f"{element}[{size}]{optional}"
    for key, own in SCHEMA.items():
        if key in real.split("[")[-1].rstrip("]") or inner == key:
            return own + optional
    words = {"Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "number": "Scalar", "str": "str",
             "SymInt": "int", "Device": "device", "Generator": "Generator", "Scalar": "Scalar"}
    return words[inner] + optional if inner in words else None


def default_of(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "None" if not value else "(" + ",".join(map(str, value)) + ")"
    return f'"{value}"' if isinstance(value, str) else str(value)


def names_of(params: list[str]) -> list[str]:
    return [re.split(r"[ =]", p)[1] for p in params if p != "*" and " " in p]


def from_print(text: str, known: list[tuple[list[str], list[str]]]) -> str:
    """A printed overload in the notation of the table, with what the schema of the same names knows besides."""
    params = []
    for p in split(text):
        if p == "*":
            params.append(p)
            continue
        left, _, default = p.partition(" = ")
        kind, _, name = left.rpartition(" ")
        params.append(f"{PRINTED.get(kind, kind)} {name}" + (f"={default}" if default else ""))
    own = {"out", "dtype", "layout", "device", "pin_memory", "requires_grad"}
    mine = [n for n in names_of(params) if n not in own]
    for theirs, _ in known:
        names = names_of(theirs)
        if "input" in mine:
            names = ["input" if n == "self" else n for n in names]
        if mine != [n for n in names if n not in own]:
            continue
        exact = dict(zip(names, [p.partition(" ")[0] for p in theirs if p != "*"]))
        kinds = {n: p.partition(" ")[0] for n, p in zip(names_of(params), [p for p in params if p != "*"])}
        if all(shape_of(exact[n]) == shape_of(kinds[n]) for n in mine):
            return ", ".join(p if p == "*" else f"{exact.get(n, kinds[n])} {p.partition(' ')[2]}"
                             for p, n in zip(params, with_stars(params)))
    return ", ".join(params)


def shape_of(kind: str) -> tuple[str, bool]:
    """A type without its size and question mark."""
    return kind.replace("?", "").split("[")[0].replace("SymInt", "int"), "[" in kind


def with_stars(params: list[str]) -> Iterator[str]:
    for p in params:
        yield p if p == "*" else names_of([p])[0]


def single(name: str, required: list[str], method: bool) -> str | None:
    """The one overload of a function, from its schema."""
    found = []
    for params, outs in schemas(name):
        if outs or not params:
            continue
        params = list(params)
        names = names_of(params)
        if "self" in names:
            i = params.index(next(p for p in params if names_of([p]) == ["self"]))
            if not params[i].startswith("Tensor"):
                continue
            if not params[i].startswith("Tensor["):
                params[i] = params[i].replace("self", "input")
            if method:
                del params[i]
        elif method:
            continue
        if [n for n in names_of([p for p in params if "=" not in p])] != required:
            continue
        names = names_of(params)
        if {"dtype", "layout", "device", "pin_memory"} <= set(names):
            params = [p for p in params if p == "*" or names_of([p])[0] not in ("dtype", "layout", "device", "pin_memory")]
            params += ([] if "*" in params else ["*"]) + OPTIONS
        base = [n for n in names if n not in ("dtype", "layout", "device", "pin_memory")]
        if not method:
            for theirs, outs in schemas(name) if writes_out(name) else ():
                plain = ["input" if n == "self" else n for n in names_of(theirs)]
                if outs and (plain == names or plain == base):
                    params += ([] if "*" in params else ["*"]) + [
                        f"{outs[0].rstrip('?')}? out=None" if len(outs) == 1 else f"Tensor[{len(outs)}]? out=None"]
                    break
        found.append(", ".join(params))
    return found[0] if len(set(found)) == 1 or name == "mul" else None      # mul's other schema is for numbers


@functools.cache
def stubs() -> dict[str, bool]:
    """Functions of PyTorch's stubs: has one of their overloads out=?"""
    import torch

    home = Path(torch.__file__).parent / "_C"
    text = "".join((home / name).read_text(encoding="utf-8") for name in (
        "_VariableFunctions.pyi", "_nn.pyi", "_linalg.pyi", "_special.pyi") if (home / name).exists())
    found: dict[str, bool] = {}
    for name, parameters in re.findall(r"^def (\w+)\((.*?)\) ->", text, re.MULTILINE | re.DOTALL):
        found[name] = found.get(name, False) or re.search(r"\bout:", parameters) is not None
    return found


NO_STUB_OUT = ("softplus", "softshrink", "gelu", "linear", "avg_pool2d", "avg_pool3d")     # whose out= the stubs forget


def writes_out(name: str) -> bool:
    """Has the function out= in Python?  Many a schema has it for the compiler alone."""
    return name in NO_STUB_OUT or stubs().get(name, True)


def required_of(f: Any, *first: Any) -> list[str]:
    try:
        f(*first)
    except TypeError as e:
        if "missing" in str(e):
            return re.findall(r'"(\w+)"', str(e))
    except Exception:
        return []
    return []


def table(pairs: Iterator[tuple[str, Any]], method: bool) -> dict[str, str]:
    import torch

    made: dict[str, str] = {}
    for name, f in pairs:
        first = [torch.ones(2, 3)] if method else []
        forms = printed(f, *first)
        if forms is not None:
            whole = [f"Tensor input, {form}" if method else form for form in forms]
            made[name] = " | ".join(from_print(form, schemas(name))[14 * method:].lstrip() for form in whole)
        else:
            one = single(name, required_of(f, *first), method)
            if one is not None:
                made[name] = " | ".join([one, UNTOLD[name]]) if name in UNTOLD else one
    return made


def filled(names: list[str]) -> str:
    """Names in quotes, in lines of at most 120 characters."""
    out, at = "", "   "
    for n in names:
        if len(at) + len(n) > 115:
            out, at = out + at + "\n", "   "
        at += f' "{n}",'
    return out + at + "\n"


def written() -> str:
    import torch

    import retrograd
    from retrograd._functions.parsing import as_method

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functions = table(surfaces(), False)
        own = table(methods(), True)
    own |= CONVERSIONS
    own = {n: form for n, form in own.items() if n not in functions or as_method(functions[n]) != form}
    text = HEAD.format(release=str(torch.__version__).partition("+")[0])
    plain = sorted(n for n in retrograd.nn.functional.__all__ if isinstance(
        getattr(torch.nn.functional, n, None), types.BuiltinFunctionType) and n in functions)
    text += "# those of torch.nn.functional\nFUNCTIONAL = {\n" + filled(plain) + "}\n"
    for name, rows in (("FUNCTIONS", functions), ("METHODS", own)):
        text += f"{name} = {{\n" + "".join(line(n, form) for n, form in sorted(rows.items())) + "}\n"
    return text


def line(name: str, forms: str) -> str:
    """One row, in lines of at most 120 characters."""
    out, at = [], f'    "{name}": "'
    words = re.split(r"(?<=[ ])", forms.replace('"', "'"))
    for word in words:
        if len(at) + len(word) > 117:
            out.append(at + '"')
            at = '        "'
        at += word
    return "\n".join([*out, at + '",\n'])


def files() -> dict[Path, str]:
    return {TARGET: written()}
