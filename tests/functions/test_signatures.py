"""Functions, methods and constructors take PyTorch's arguments by its names, with its defaults.

Those that PyTorch writes in C are held against the table that was read off it (`_functions/forms.py`), those in Python against
their own signatures.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import retrograd
import retrograd.nn.functional as F
from retrograd import _functions, linalg, special
from retrograd._functions import arith, forms, parsing
from retrograd._functions.arith import NAMED

pytestmark = pytest.mark.oracle
PLACES = (
    "amp", "autograd.functional", "distributions", "func", "functional", "hub", "nn", "nn.functional", "nn.init", "nn.parameter",
    "nn.utils", "nn.utils.clip_grad", "nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.rnn", "optim",
    "optim.lr_scheduler", "optim.optimizer", "optim.swa_utils", "serialization", "signal.windows", "special", "utils.data",
    "utils.hooks",
)  # fmt: skip

# Where ours differs: "class.method" or name -> why.
OTHER = {
    "Container": "a decorator of PyTorch's, deprecated, takes *args and refuses them",
    "NLLLoss2d": "PyTorch's passes *args on to NLLLoss",
    "lu": "PyTorch's takes *args, for get_infos to decide what it returns",
    "RNNBase.check_input": "batch_sizes may be left out",
    **dict.fromkeys(
        ("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "unique",
         "unique_consecutive", "fractional_max_pool2d", "fractional_max_pool3d"),
        "PyTorch's take *args, for return_indices and the like to decide which of two functions runs"),
    **dict.fromkeys(
        ("batch_norm", "instance_norm", "layer_norm", "group_norm", "rrelu", "sigmoid", "tanh", "threshold", "split"),
        "one function with that of torch, which takes more"),
    "random_split": "generator=None stands for the default generator",
}
# Methods and attributes of PyTorch's classes that ours lack, and why.
LACKING = {
    "Module": {"ipu", "xpu", "mtia", "T_destination"},                  # devices; a type variable
    "PackedSequence": {"pin_memory", "cuda"},                           # devices
    "MultiheadAttention": {"merge_masks"},                              # internal to its fast path
    "RNNBase": {"get_expected_hidden_size"}, "LSTM": {"get_expected_cell_size"},  # internal checks
    "SyncBatchNorm": {"convert_sync_batchnorm"},                        # several processes
    "Optimizer": {"OptimizerPreHook", "OptimizerPostHook"},             # type aliases
    "ConcatDataset": {"cummulative_sizes"},                             # the old, misspelt name
}  # fmt: skip


def parameters(f: Any) -> list[tuple[str, Any, str]] | None:
    """(name, kind, default as text) of each; None where Python cannot tell."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind, text(p.default)) for p in found]


def text(default: Any) -> str:
    if inspect.isroutine(default):
        return default.__name__
    return repr(default).replace("retrograd.", "torch.")


def shared(place: str) -> Iterator[tuple[str, Any, Any]]:
    """(name, ours, PyTorch's) of what both have in a module."""
    torch: Any = pytest.importorskip("torch")
    theirs: Any = importlib.import_module(f"torch.{place}")
    ours: Any = importlib.import_module(f"retrograd.{place}")
    for name in sorted(vars(ours)):
        x, y = getattr(ours, name), getattr(theirs, name, None)
        if not name.startswith("_") and callable(x) and callable(y) and y is not torch.Tensor:
            yield name, x, y


@pytest.mark.parametrize("place", PLACES)
def test_arguments_are_pytorchs(place: str) -> None:
    differing = []
    for name, ours, theirs in shared(place):
        a, b = parameters(ours), parameters(theirs)
        if name not in OTHER and b is not None and a != b:
            differing.append(f"{name}: {a} is not {b}")
    assert differing == []


@pytest.mark.parametrize("place", PLACES)
def test_methods_and_their_arguments_are_pytorchs(place: str) -> None:
    differing, lacking = [], []
    for name, ours, theirs in shared(place):
        if not isinstance(theirs, type) or not isinstance(ours, type) or name == "Tensor" or ours is theirs:
            continue
        for method, value in vars(theirs).items():
            path = f"{name}.{method}"
            if method.startswith("_"):
                continue
            if not hasattr(ours, method):
                if method not in LACKING.get(name, ()):
                    lacking.append(path)
            elif callable(value) and path not in OTHER:
                a, b = parameters(getattr(ours, method)), parameters(getattr(theirs, method))
                if b is not None and a != b:
                    differing.append(f"{path}: {a} is not {b}")
    assert differing == [] and lacking == []


# Functions in C

BY_PLACE = {getattr(arith, f"{name}{_}") for name in ("add", "sub", "mul", "div") for _ in ("", "_")}   # see arith.again
NO_KERNEL = {"mm", "bmm", "addmm", "baddbmm"}    # out_dtype=, for GPUs
PLAIN = {"out", "pin_memory", "layout"}           # the parser takes them
# Other defaults that mean the same: "function.parameter".
SAME_DEFAULT = {
    "arange.step", "clone.memory_format", "contiguous.memory_format", "nan_to_num.nan", "nan_to_num_.nan", "amax.dim", "amin.dim",
    "roll.dims", "gradient.spacing", "embedding.padding_idx", "embedding_bag.mode",
    *(f"{name}.{parameter}" for name in ("var", "std", "var_mean", "std_mean") for parameter in ("correction", "unbiased")),
    *(f"{name}.dtype" for name in ("tril_indices", "triu_indices", "randint", "randperm")),
    *(f"conv{d}d.padding" for d in "123"),        # of the overload that takes a word
}  # fmt: skip


def own(f: Any) -> Any:
    """The function behind the checks of its arguments."""
    while inner := getattr(f, "unchecked", None) or getattr(f, "__wrapped__", None):
        f = inner
    return f


def functions() -> Iterator[tuple[str, str, Any, bool]]:
    """(PyTorch's name, its overloads, our function, is it a method) of those that PyTorch writes in C."""
    torch: Any = pytest.importorskip("torch")
    places = ((retrograd, torch, [*_functions.__all__, *_functions.LATER]), (F, torch.nn.functional, F.__all__),
              (linalg, torch.linalg, linalg.__all__), (special, torch.special, special.__all__))
    for ours, theirs, names in places:
        for name in names:
            f = getattr(theirs, name, None)
            if isinstance(f, types.BuiltinFunctionType) and f.__name__ in forms.FUNCTIONS:
                yield f.__name__, forms.FUNCTIONS[f.__name__], own(getattr(ours, name)), False
    for name, f in vars(retrograd.Tensor).items():
        if isinstance(getattr(torch.Tensor, name, None), types.MethodDescriptorType) and inspect.isroutine(f):
            text = forms.METHODS.get(name) or parsing.as_method(forms.FUNCTIONS.get(name, ""))
            late = _functions.LATER_METHODS.get(name)
            if text:
                yield name, text, own(f if late is None else _functions.late(late)), True


def test_functions_in_c_take_pytorchs_names() -> None:
    refused, seen = [], 0
    for name, text, f, method in functions():
        quick = name in (_functions.UNPARSED_METHODS if method else _functions.UNPARSED)
        signature, takes = inspect.signature(f), NAMED if f in BY_PLACE else parsing.keywords_of(f)
        for form in parsing.forms_of(name, text):
            if name in NO_KERNEL and "out_dtype" in str(form):
                continue
            for every in (False, True):           # what is required, by name; then all of it
                kwargs = {p.name: None for p in form.params if (every or not p.optional) and p.name not in PLAIN}
                args: list[Any] = []
                if (not quick or f in BY_PLACE) and takes is not None and not takes.issuperset(kwargs):
                    args, kwargs = form.passed((), kwargs, takes)
                seen += 1
                try:
                    signature.bind(*[None] * method, *args, **kwargs)
                except TypeError as error:
                    refused.append(f"{name}{form}: {error}")
    assert refused == [] and seen > 2500


def test_functions_in_c_have_pytorchs_defaults() -> None:
    differing = set()
    for name, text, f, _ in functions():
        parameters = inspect.signature(f).parameters
        for form in parsing.forms_of(name, text):
            for p in form.params:
                if p.optional and p.name in parameters and p.name != "reduction" and f"{name}.{p.name}" not in SAME_DEFAULT:
                    ours, theirs = parameters[p.name].default, p.value()
                    one = isinstance(theirs, tuple) and len(set(theirs)) == 1       # (0,0) for padding=0
                    if ours != theirs and not (one and ours == theirs[0]):
                        differing.add(f"{name}.{p.name}: {ours!r} is not {theirs!r}")
    assert differing == set()


CALLS = """
    x.new_ones(size=(2,)); x.new_zeros(size=(2,)); x.new_empty(size=(0,))
    x.new_full(size=(2,), fill_value=1, layout=torch.strided)
    x.expand(size=(2, 2, 3)); x.reshape(shape=(3, 2)); torch.reshape(x, shape=(-1,)); x.permute(dims=(1, 0))
    torch.permute(input=x, dims=[1, 0]); x.tile(dims=(2,)); x.repeat(repeats=(2, 1)); x.clone().addmm_(mat1=q, mat2=x)
    v.clone().addmv_(mat=s, vec=v); s.clone().addr_(vec1=v, vec2=v); s[None].clone().baddbmm_(batch1=s[None], batch2=s[None])
    x.clone().heaviside_(values=x); torch.randint_like(x, low=3, high=4); torch.randint_like(x, high=1)
    x.clone().resize_(size=(3, 2)); x.sum_to_size(size=(1, 3)); torch.add(x1=x, x2=x); torch.add(x, x2=x, alpha=2)
    torch.mul(x1=x, x2=x); torch.div(x1=x, x2=x, rounding_mode="floor"); x.clone().sub_(x2=x); x.clone().mul_(other=x)
    torch.swapaxes(x, axis0=0, axis1=1); x.swapaxes(axis0=0, axis1=1); x.clone().swapaxes_(axis0=0, axis1=1)
    torch.histogram(x, density=True); x.squeeze(axis=0); x.clone().copy_(other=x + 1); torch.where(x > 0, self=1, other=2)
    torch.hsplit(x, sections=3); torch.tensor_split(x, tensor_indices_or_sections=torch.tensor([1]))
    torch.embedding(weight=x, indices=torch.tensor([1])); torch.repeat_interleave(repeats=torch.tensor([1, 2]))
    torch.view_copy(x, dtype=torch.int32); torch.isin(elements=x, test_element=1); torch.zeros_like(x, pin_memory=False)
    torch.tril_indices(2, 2, requires_grad=False); x.clone().random_(**{"from": 2, "to": 3})
    torch.exp(x=x); torch.log(a=x); torch.sqrt(x1=x); torch.sigmoid(x=x); torch.sum(x=x, axis=1, keepdims=True)
    torch.mean(a=x, axis=0); torch.matmul(x1=x, x2=x.t()); x.mul(x2=x); x.sum(axis=0, keepdims=True); torch.relu(input=x)
    x.transpose(dim0=0, dim1=1); x.unsqueeze(axis=0); x.view(size=(6,)); x.clone().copy_(2.0); x.clone().fill_(value=1)
"""
REFUSED = """
    x.reshape(shape=6); x.permute((1, 0), dims=(1, 0)); torch.zeros(2, pin_memory=True); torch.zeros_like(x, pin_memory=True)
    x.new_ones(2, pin_memory=True); torch.add(x); torch.add(); torch.mul(x); torch.mul(x, x, x); torch.mul(x, other=x, foo=1)
    torch.add(x, x, x, x); torch.div(x); torch.tril_indices(2, 2, requires_grad=True); torch.exp(y=x); torch.exp(x, x=x)
    torch.exp(); torch.exp(None); torch.sum(x, axis=0, dim=0); x.size(dims=0); torch.mm(x, 1); x.view()
"""


def called(text: str, module: Any) -> Any:
    s = module.arange(9.0).reshape(3, 3)
    return eval(text, {"torch": module, "x": module.arange(6.0).reshape(2, 3), "q": s[:2, :2], "s": s, "v": s[0]})


@pytest.mark.parametrize("text", re.split(r";\s*|\n\s*", CALLS.strip()))
def test_a_call_by_names_gives_what_pytorch_gives(text: str) -> None:
    ours, theirs = (called(text, module) for module in (retrograd, pytest.importorskip("torch")))
    assert str(ours).replace("retrograd", "torch") == str(theirs)


@pytest.mark.parametrize("text", re.split(r";\s*|\n\s*", REFUSED.strip()))
def test_a_call_that_pytorch_refuses_raises_its_error(text: str) -> None:
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        called(text, pytest.importorskip("torch"))
    with pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
        called(text, retrograd)


def test_a_number_between_the_operands_is_alpha_whether_the_second_comes_by_name_or_not() -> None:
    x = retrograd.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)            # once in a process: PyTorch has deprecated that order
        assert retrograd.add(x, 2, other=x).tolist() == [3, 3, 3] == x.add(2, other=x).tolist()
        assert retrograd.sub(x, 2, other=x).tolist() == [-1, -1, -1]
