"""Writes src/retrograd/_typing and src/retrograd-stubs, what type checkers and editors know of names that are made at import.

The functions of the torch namespace and of torch.nn.functional, torch.linalg and torch.special, and the methods that
Tensor has from them, are read off the running package: their parameters from the table of PyTorch's overloads
(`_functions/forms.py`), or from the function's own signature where PyTorch has written it in Python.  What a function
returns stands here.  Beside each stub lies a .py with the same names, which imports them from where they are written:
it never runs, and editors that look for the source of a name in a stub follow it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import retrograd
from retrograd import _functions, linalg, special
from retrograd._functions.forms import FUNCTIONAL, FUNCTIONS, METHODS
from retrograd._functions.parsing import Form, Param, as_method, forms_of
from retrograd._missing import Absent
from retrograd.nn import functional

SOURCE = Path(retrograd.__file__).parent
FOLDER = SOURCE / "_typing"
PACKAGES = SOURCE / "_packages"
STUBS = SOURCE.parent / "retrograd-stubs"                     # beside the package: what PEP 561 calls a partial stub package
HEAD = '"""{what}\n\nWritten by `make generate`.\n"""\n'
STUB = """# mypy: disable-error-code="overload-overlap,overload-cannot-match,misc"
# PyTorch's overloads, in PyTorch's order
{imports}
"""
IMPORTS = """from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

from .._tensor.size import Size
from .._tensor import Tensor
from .._tensor.dtypes import device as _device
from .._tensor.dtypes import dtype as _dtype
from .._tensor.dtypes import layout as _layout
from .._tensor.dtypes import memory_format as _memory_format
from ..random import Generator
from ..types import Number
from . import return_types"""
WIDTH = 120
Overload = tuple[tuple[str, ...], str]                       # parameters, result

# Parameters in forms.py: the type of an element, and of a list
KINDS = {"Tensor": "Tensor", "Scalar": "Number", "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "str": "str",
         "dtype": "_dtype", "layout": "_layout", "device": "_device | str | int", "memory_format": "_memory_format",
         "Generator": "Generator", "torch.Storage": "Any", "object": "Any"}
# Parameters that a signature gives as Any, by their names
NAMES = {name: kind for names, kind in (
    ("input target tensor x x1 x2 a b y logits var anchor positive negative input1 input2 indices theta grid weight bias out "
     "values offsets linear_weight linear_bias running_mean running_var per_sample_weights A M log_probs targets data lengths "
     "query key value attn_mask mat1 mat2 _random_samples tau input_lengths target_lengths", "Tensor"),
    ("kernel_size stride padding dilation output_size size shape normalized_shape split_size_or_sections split_size",
     "int | Sequence[int]"),
    ("dtype", "_dtype"), ("device", "_device | str | int"), ("layout", "_layout"), ("memory_format", "_memory_format"),
    ("pad", "Sequence[int]"), ("align_corners recompute_scale_factor requires_grad ambiguity_check", "bool"),
    ("norm_type", "float"), ("scale_factor output_ratio", "float | Sequence[float]"), ("start end step", "Number"),
    ("generator", "Generator"), ("tensors matrices", "Tensor"), ("_stacklevel", "int"),
) for name in names.split()}
# Where a name means something else: {(function, parameter): type}
OTHERS = {
    ("split", "split_size_or_sections"): "int | Sequence[int] | None", ("pad", "value"): "float | None",
    ("unravel_index", "shape"): "int | Sequence[int]", ("tensordot", "dims"): "int | Sequence[Sequence[int]] | Tensor",
    ("index_put", "indices"): "Sequence[Tensor]", ("index_put_", "indices"): "Sequence[Tensor]",
    ("norm", "p"): "float | str | None", ("norm", "dim"): "int | Sequence[int] | None",
    ("meshgrid", "tensors"): "Tensor | Sequence[Tensor]", ("broadcast_tensors", "tensors"): "Tensor | Sequence[Tensor]",
    ("atleast_1d", "tensors"): "Tensor | Sequence[Tensor]", ("atleast_2d", "tensors"): "Tensor | Sequence[Tensor]",
    ("atleast_3d", "tensors"): "Tensor | Sequence[Tensor]", ("tensor", "data"): "Any", ("new_tensor", "data"): "Any",
    ("linear_cross_entropy", "ignore_index"): "int | None", ("ctc_loss", "input_lengths"): "Tensor | Sequence[int]",
    ("ctc_loss", "target_lengths"): "Tensor | Sequence[int]", ("gumbel_softmax", "tau"): "float",
    ("gaussian_nll_loss", "var"): "Tensor | float", ("embedding_bag", "offsets"): "Tensor | None",
    ("block_diag", "tensors"): "Tensor | Number", ("affine_grid", "size"): "Sequence[int]",
    ("interpolate", "size"): "int | Sequence[int] | None", ("threshold", "value"): "float", ("threshold_", "value"): "float",
    ("local_response_norm", "size"): "int", ("one_hot", "tensor"): "Tensor", ("lu", "out"): "Sequence[Tensor] | None",
    ("padding", "value"): "float", ("embedding", "padding_idx"): "int | None", ("embedding_bag", "padding_idx"): "int | None",
    ("dropout", "p"): "float", ("hardshrink", "lambd"): "float",
}
PAIR, SOME, TUPLE = "tuple[Tensor, Tensor]", "tuple[Tensor, ...]", "return_types."
# What is not a Tensor
RETURNS = {name: kind for names, kind in (
    ("chunk dsplit hsplit vsplit split split_with_sizes tensor_split unbind unsafe_chunk unsafe_split "
     "unsafe_split_with_sizes gradient split_copy split_with_sizes_copy unbind_copy "
     "broadcast_tensors meshgrid unravel_index", SOME),
    ("adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices "
     "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices fractional_max_pool2d_with_indices "
     "fractional_max_pool3d_with_indices std_mean var_mean", PAIR),
    ("multi_head_attention_forward", "tuple[Tensor, Tensor | None]"),
    ("native_batch_norm native_group_norm native_layer_norm svd_lowrank pca_lowrank", "tuple[Tensor, Tensor, Tensor]"),
    ("_unique", PAIR), ("_unique2", "tuple[Tensor, Tensor, Tensor]"),
    ("allclose equal is_complex is_conj is_distributed is_floating_point is_neg is_nonzero is_same_size is_set_to is_signed "
     "is_tensor is_shared is_inference is_pinned", "bool"),
    ("get_device numel storage_offset data_ptr", "int"), ("dim_order", "tuple[int, ...]"), ("broadcast_shapes", "Size"),
    ("record_stream __setitem__ __delitem__", "None"), ("storage storage_type untyped_storage as_subclass lu", "Any"),
    ("atleast_1d atleast_2d atleast_3d", "Any"), ("embedding_bag", "tuple[Tensor, Tensor, Tensor, Tensor]"),
) for name in names.split()}
FIELDS = {name: fields for names, fields in (
    ("max min median nanmedian mode cummax cummin sort topk kthvalue", "values indices"), ("aminmax", "min max"),
    ("frexp", "mantissa exponent"), ("geqrf", "a tau"), ("histogram", "hist bin_edges"), ("svd", "U S V"),
    ("slogdet linalg_slogdet", "sign logabsdet"), ("qr linalg_qr", "Q R"), ("lu_unpack linalg_lu", "P L U"),
    ("triangular_solve", "solution cloned_coefficient"),
    ("linalg_cholesky_ex", "L info"), ("linalg_eig linalg_eigh", "eigenvalues eigenvectors"), ("linalg_inv_ex", "inverse info"),
    ("linalg_ldl_factor", "LD pivots"), ("linalg_ldl_factor_ex", "LD pivots info"), ("linalg_lu_factor", "LU pivots"),
    ("linalg_lu_factor_ex", "LU pivots info"), ("linalg_lstsq", "solution residuals rank singular_values"),
    ("linalg_solve_ex", "result info"), ("linalg_svd", "U S Vh"), ("histogramdd", "hist bin_edges"),
) for name in names.split()}
BY_DIM = {"max", "min", "median", "nanmedian"}                # these return a tensor where no dim is given
TENSOR_TYPES = [f"{kind}Tensor" for kind in "Double Float Half BFloat16 Long Int Short Char Byte Bool".split()]

# Functions whose types do not follow from their parameters' names: parameters and result of each overload.
WRITTEN = {
    "where": [("condition: Tensor", SOME),
              ("condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None", "Tensor")],
    "nonzero": [("input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[False] = False", "Tensor"),
                ("input: Tensor, *, as_tuple: Literal[True]", SOME)],
    "unique": [
        ("input: Tensor, sorted: bool = True, return_inverse: Literal[False] = False, "
         "return_counts: Literal[False] = False, dim: int | None = None", "Tensor"),
        ("input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None",
         SOME)],
    "unique_consecutive": [
        ("input: Tensor, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: int | None = None",
         "Tensor"),
        ("input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None", SOME)],
    "stride": [("input: Tensor", "tuple[int, ...]"), ("input: Tensor, dim: int", "int")],
    "type": [("input: Tensor", "str"), ("input: Tensor, dtype: _dtype | str | type[Any], non_blocking: bool = False", "Tensor")],
    "new": [("input: Tensor, *args: Any, **kwargs: Any", "Tensor")],
    "apply_": [("input: Tensor, callable: Callable[[Any], Any]", "Tensor")],
    "map_": [("input: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]", "Tensor")],
    "map2_": [("input: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]", "Tensor")],
    "to": [("input: Tensor, dtype: _dtype, non_blocking: bool = False, copy: bool = False, *, "
            "memory_format: _memory_format | None = None", "Tensor"),
           ("input: Tensor, device: _device | str | int | None = None, dtype: _dtype | None = None, non_blocking: bool = False, "
            "copy: bool = False, *, memory_format: _memory_format | None = None", "Tensor"),
           ("input: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False, *, "
            "memory_format: _memory_format | None = None", "Tensor")],
}
OPERATORS = {
    "other: Tensor | Number": "add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv floordiv rfloordiv ifloordiv "
    "mod rmod imod pow rpow and rand iand or ror ior xor rxor ixor lshift rlshift rshift rrshift lt le gt ge",
    "other: Tensor": "matmul rmatmul imatmul", "": "neg pos invert abs", "other: object": "eq ne", "index: Any": "getitem",
}


def files() -> dict[Path, str]:
    typing = typing_files()
    return {FOLDER / name: text for name, text in typing.items()} | {STUBS / name: text for name, text in stub_files().items()}


def stub_files() -> dict[str, str]:
    """{name in STUBS: text}: where type checkers find retrograd.cuda and the other modules of PACKAGES.

    All are packages: for a file Pyright would look for the file of that name in retrograd itself.
    """
    found = {"py.typed": "partial\n"}
    for path in sorted(PACKAGES.rglob("*.py")):
        if path.relative_to(PACKAGES).parts[0] == "distributed":   # whose package is elsewhere; all these names come late
            continue
        parts = path.relative_to(PACKAGES).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        names = "".join(f"    {name} as {name},\n" for name in sorted(exported(path, f"retrograd.{'.'.join(parts)}")))
        imports = f"from retrograd._packages.{'.'.join(parts)} import (\n{names})\n" if names else ""
        found["/".join([*parts, "__init__.pyi"])] = head(f"Where retrograd.{'.'.join(parts)} is written.") + imports
    return found


def exported(path: Path, module: str) -> set[str]:
    """What a module's text defines, and what it imports for others."""
    found: set[str] = set()

    def read(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.module != module:
                found.update(n.name for n in node.names if n.asname == n.name or n.name in everything)
                if node.names[0].name == "*":
                    found.update(everything)
            elif isinstance(node, ast.If):
                read([*node.body, *node.orelse])
            elif isinstance(node, ast.Assign):
                found.update(n.id for t in node.targets for n in ast.walk(t)
                             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            else:
                found.update(names_in([node]))

    tree = ast.parse(path.read_text(encoding="utf-8"))
    everything = set(getattr(import_module(module), "__all__", ()))
    read(tree.body)
    return {name for name in found if not name.startswith("__") or name == "__version__"}


def typing_files() -> dict[str, str]:
    """{name in FOLDER: text}"""
    made = {"__init__.py": head("For type checkers and editors: names that are made at import.  Nothing here runs.")}
    for space, (what, names) in spaces().items():
        exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n"
        body = "\n".join(text for _, text in sorted(names.items()))
        made[f"{space}.pyi"] = head(what) + STUB.format(imports=used(body)) + exported + "\n" + body + "\n"
        made[f"{space}.py"] = head(f"Where they are written: {what}") + sources(space, names)
    body = "".join(methods())
    imports = used(body + "TypeAlias", "from .._engine.tensor import TensorBase\n")
    aliases = "".join(f"_{name}: TypeAlias = {name}\n" for name in ("bool", "float", "int")) + "_type: TypeAlias = type[Any]\n"
    made["methods.pyi"] = head("Methods of Tensor that are functions, too.") + STUB.format(
        imports=imports) + aliases + "\nclass Methods(TensorBase):\n" + body
    made["methods.py"] = head("Where they are written: methods of Tensor.") + "class Methods:\n" + sources(
        "methods", dynamic(), "    ")
    made["return_types.pyi"] = head("torch.return_types: results with names.") + "".join(results())
    return made


def spaces() -> dict[str, tuple[str, dict[str, str]]]:
    """{stub: (what it has, {name: its text})}"""
    names = [*_functions.__all__, *_functions.LATER, "_unique", "_unique2"]
    found = {
        "functions": ("The functions of the torch namespace.", {
            name: signatures(name, FUNCTIONS.get(name), getattr(retrograd, name)) for name in names}),
        "functional": ("torch.nn.functional.", {
            name: signatures(name, FUNCTIONS.get(name) if name in FUNCTIONAL else None, getattr(functional, name))
            for name in functional.__all__ if name not in written_in(functional)})}
    for space, module in (("linalg", linalg), ("special", special)):
        found[space] = f"torch.{space}.", {
            name: signatures(name, FUNCTIONS.get(f"{space}_{name}"), getattr(module, name), f"{space}_")
            for name in module.__all__}
    return found


def head(what: str) -> str:
    return HEAD.format(what=what)


def sources(space: str, names: Iterable[str], indent: str = "") -> str:
    """An import of each name from where it is written."""
    at = [(name, *written_at(space, name)) for name in sorted(names)]
    return "".join(f"{indent}from ..{place} import {own} as {name}\n" for name, place, own in at if place)


def results() -> Iterator[str]:
    yield "from typing import NamedTuple\n\nfrom .._tensor import Tensor\n"
    for name, fields in sorted(FIELDS.items()):
        yield f"\nclass {name}(NamedTuple):\n"
        for field in fields.split():
            yield f"    {field}: {SOME if (name, field) == ('histogramdd', 'bin_edges') else 'Tensor'}\n"


def used(body: str, more: str = "") -> str:
    """IMPORTS, and of each line only what the body names."""
    lines = []
    for line in (IMPORTS + "\n" + more).splitlines():
        left, found, names = line.partition(" import ")
        if not found:
            lines.append(line)
            continue
        kept = [n for n in names.split(", ") if re.search(rf"\b{n.rpartition(' ')[2]}\b", body) or n == "TensorBase"]
        if kept:
            lines.append(f"{left} import {', '.join(kept)}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n")) + "\n"


def signatures(name: str, forms: str | None, function: Any, prefix: str = "") -> str:
    """The stub of a function of a namespace."""
    if name in TENSOR_TYPES:
        return f"class {name}(Tensor): ...\n"
    if isinstance(function, type):
        return f"class {name}(RuntimeError): ...\n"
    return "".join(overloads(name, forms, function, prefix=prefix))


def overloads(name: str, forms: str | None, function: Any, method: bool = False, prefix: str = "") -> Iterator[str]:
    if name in WRITTEN and not (method and name == "where"):
        found: Iterable[Overload] = written(name, method)
    else:
        found = from_signature(name, function, method) if forms is None else from_forms(name, forms, prefix)
    rows = list(dict.fromkeys(found))
    for params, result in rows:
        yield "@overload\n" * (len(rows) > 1) + define(name, ("self",) * method + params, result)


def define(name: str, params: tuple[str, ...], result: str, body: str = "...") -> str:
    line = f"def {name}({', '.join(params)}) -> {result}: {body}\n"
    return line if len(line) <= WIDTH else f"def {name}(\n    {wrapped(params)}\n) -> {result}: {body}\n"


def wrapped(params: tuple[str, ...]) -> str:
    lines = [""]
    for p in params:
        if len(lines[-1]) + len(p) > WIDTH - 12:
            lines.append("")
        lines[-1] += f"{p}, "
    return "\n    ".join(line.rstrip() for line in lines)


def written(name: str, method: bool) -> list[Overload]:
    return [(tuple(p for p in split(text)[method:] if not (method and p.startswith("out:"))), result)
            for text, result in WRITTEN[name]]


def split(text: str) -> list[str]:
    return re.split(r", (?![^\[]*\])", text)


def from_forms(name: str, forms: str, prefix: str) -> Iterator[Overload]:
    for form in forms_of(name, forms):
        result = returned(name, {p.name for p in form.params}, prefix)
        yield tuple(parameters(form, False)), result
        if form.varargs:
            yield tuple(parameters(form, True)), result


def returned(name: str, params: set[str], prefix: str = "") -> str:
    if prefix + name in FIELDS and (name not in BY_DIM or "dim" in params):
        return TUPLE + prefix + name
    if name.startswith("_foreach_"):
        return "None" if name.endswith("_") else SOME
    return RETURNS.get(name, "Tensor")


def parameters(form: Form, varargs: bool) -> Iterator[str]:
    """As a stub has them; varargs: the sizes of the first one as arguments of their own."""
    star = False
    last = max((i for i, p in enumerate(form.params) if keyword.iskeyword(p.name)), default=-1)
    for i, p in enumerate(form.params):
        if varargs and i == 0:
            star = True
            yield f"*{p.name}: int"
            continue
        if p.keyword_only and not star:
            star = True
            yield "*"
        yield parameter(p, any(not q.optional and not q.keyword_only for q in form.params[i:]))
        if i == last:
            yield "/"


def parameter(p: Param, required: bool) -> str:
    kind = KINDS[p.kind]
    if p.numbers and p.kind == "Tensor":
        kind = "Tensor | Number"
    if p.listed:
        element = "Tensor | None" if kind == "Tensor" and p.name == "indices" else kind
        kind = f"Sequence[{element}]"
        if p.size and p.kind in ("int", "float"):
            kind = f"{p.kind} | {kind}"
    if p.none:
        kind += " | None"
    name = p.name + "_" * keyword.iskeyword(p.name)
    if not p.optional or (required and not p.keyword_only):
        return f"{name}: {kind}"
    return f"{name}: {kind} = {'...' if p.kind == 'memory_format' and p.default != 'None' else default(p.default)}"


def default(text: str) -> str:
    try:
        value = ast.literal_eval(text.replace("{", "(").replace("}", ")"))
    except (SyntaxError, ValueError):
        return "..."
    return repr(value).replace("'", '"') if isinstance(value, (str, int, float, tuple, type(None))) and value == value else "..."


def from_signature(name: str, function: Any, method: bool) -> Iterator[Overload]:
    params = list(inspect.signature(function).parameters.values())[method:]
    texts, star = [], False
    for p in params:
        if p.kind is p.VAR_POSITIONAL:
            star = True
        elif p.kind is p.KEYWORD_ONLY and not star:
            star = True
            texts.append("*")
        texts.append(annotated(name, p))
    result = returned(name, {p.name for p in params})
    if any(p.name == "return_indices" for p in params) and result == "Tensor":
        plain = tuple(t.replace("return_indices: bool", "return_indices: Literal[False]") for t in texts)
        yield plain, "Tensor"
        at = next(i for i, p in enumerate(texts) if p.startswith("return_indices"))
        asked = [t for i, t in enumerate(texts) if i != at]
        if "*" not in asked:
            asked.append("*")
        yield (*asked, "return_indices: Literal[True]"), PAIR
        yield tuple(texts), "Any"
    else:
        yield tuple(texts), result


def annotated(function: str, p: inspect.Parameter) -> str:
    said = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "Any")
    kind = OTHERS.get((function, p.name)) or (NAMES.get(p.name, "Any") if said in ("Any", "_empty") else said)
    if p.default is None and "None" not in kind and kind != "Any":
        kind += " | None"
    stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    if p.default is p.empty:
        return f"{stars}{p.name}: {kind}"
    return f"{p.name}: {kind} = {default(repr(p.default))}"


# Tensor

@functools.cache
def dynamic() -> dict[str, Any]:
    """What Tensor has besides what its class statement says."""
    tree = ast.parse((SOURCE / "_tensor" / "__init__.py").read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    own = set(names_in(body))
    for name in _functions.LATER_METHODS:
        getattr(retrograd.Tensor, name)
    return {name: value for name, value in vars(retrograd.Tensor).items() if name not in own and not isinstance(value, Absent)
            and (callable(value) or isinstance(value, property))}


def names_in(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.If):
            yield from names_in([*node.body, *node.orelse])


def methods() -> Iterator[str]:
    operators = {f"__{name}__": params for params, names in OPERATORS.items() for name in names.split()}
    for name, params in operators.items():
        ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        more = ", modulo: None = None" if name == "__pow__" else ""
        yield f"    def {name}(self{', ' * bool(params)}{params}{more}) -> Tensor: ...{ignored}\n"
    for name, value in sorted(dynamic().items()):
        if name not in operators:
            text = re.sub(r"(?<=[:|>*,] )(bool|float|int|type)\b(\[Any\])?|(?<=\[)(bool|float|int|type)\b",
                          lambda m: f"_{m[1] or m[3]}", method(name, value))
            doc = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ").replace("\\", "\\\\")
            if doc:
                text = text.replace(": ...\n", f':\n    """{doc}"""\n', 1)
            yield textwrap.indent(text, "    ")


def method(name: str, value: Any) -> str:
    if isinstance(value, property):
        return f"@property\ndef {name}(self) -> {'Tensor' if name in ('H', 'T', 'mH', 'mT') else 'bool'}: ...\n"
    forms = METHODS.get(name)
    if forms is None and name in FUNCTIONS:
        forms = as_method(FUNCTIONS[name])
    return "".join(overloads(name, forms, value, True))


# Where a name is written

def written_in(module: Any) -> set[str]:
    """Functions and classes that the module's own text defines."""
    body = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@functools.cache
def places() -> dict[str, dict[str, tuple[str, str]]]:
    """{stub: {name: (family, name there)}}"""
    found: dict[str, dict[str, tuple[str, str]]] = {"functions": {}, "methods": {}, "functional": {}, "linalg": {}, "special": {}}
    for family in _functions.families():
        module = family.__name__.rpartition(".")[2]
        found["functions"].update((name, (module, name)) for name in family.__all__)
        for space, rows in (("methods", getattr(family, "METHODS", ())), ("functional", getattr(family, "FUNCTIONAL", ()))):
            for row in rows:
                own, _, name = row.partition(" as ")
                found[space][name or own] = module, own
    found["functions"].update(_functions.LATER)
    found["methods"].update(_functions.LATER_METHODS)
    found["functional"].update(_functions.LATER_FUNCTIONAL)
    return found


def written_at(space: str, name: str) -> tuple[str, str]:
    """(module, name there) of a function; ("", "") where no line of a module defines it by name."""
    family, own = places()[space].get(name, ("", ""))
    if not family:
        owner = {"linalg": linalg, "special": special}.get(space, retrograd)
        value: Callable[..., Any] = inspect.unwrap(getattr(owner, name, None))  # type: ignore[arg-type]
        family, own = getattr(value, "__module__", "").rpartition(".")[2], getattr(value, "__name__", "")
    path = SOURCE / "_functions" / f"{family}.py"
    if family and path.exists() and own in top_level(path):
        return f"_functions.{family}", own
    return "", ""


@functools.cache
def top_level(path: Path) -> set[str]:
    return set(names_in(ast.parse(path.read_text(encoding="utf-8")).body)) | {
        t.id for n in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(n, ast.Assign)
        for target in n.targets if isinstance(target, ast.Tuple) for t in target.elts if isinstance(t, ast.Name)}
