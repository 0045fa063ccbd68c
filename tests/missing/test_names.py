"""What docs/names.md says of PyTorch's names, and how modules are reached."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

import retrograd
import retrograd.distributions
import retrograd.optim
from retrograd.cli.run import torch_means_retrograd
from tools.names import PAGE, at, has


def listed() -> Iterator[tuple[str, str | None, str]]:
    """(place, None or why we lack it, name) for every name on the page"""
    place, reason = "", None
    for paragraph in PAGE.read_text(encoding="utf-8").split("\n\n"):
        if paragraph.startswith("## "):
            place = paragraph[3:]
        elif paragraph.startswith("Have: "):
            reason = None
        elif paragraph.startswith("Missing, because "):
            reason = " ".join(paragraph.split())[17:-1]
        elif paragraph.startswith("`") and place:
            for name in re.findall(r"`(\w+)`", paragraph):
                yield place, reason, name


def test_what_the_page_says_we_have_is_there() -> None:
    assert [f"{place}.{name}" for place, reason, name in listed() if reason is None and not has(at(retrograd, place), name)] == []


def test_what_the_page_says_we_lack_raises_with_its_words() -> None:
    for place, reason, name in listed():
        if reason is not None:
            with pytest.raises(AttributeError) as caught:
                getattr(at(retrograd, place), name)
            said = str(caught.value)
            assert reason in said or f"retrograd has no '{place}.{name}'; it has torch." in said, said


def test_importing_a_name_we_lack_says_why() -> None:
    with pytest.raises(ImportError, match=re.escape("retrograd has no 'torch.PyTorchFileWriter': programs are not compiled")):
        from retrograd import PyTorchFileWriter  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(("statement", "told"), [
    ("from torch.sparse import mm", "'torch.sparse': sparse tensors are not supported yet"),
    ("import torch.export.passes", "'torch.export.passes': programs are not compiled ahead of time"),
    ("import torch.nn.functionall", "'torch.nn.functionall'; near names: functional"),
])
def test_under_run_importing_a_module_we_lack_says_why(statement: str, told: str) -> None:
    with torch_means_retrograd(), pytest.raises(ModuleNotFoundError, match=re.escape(f"retrograd has no {told}")):
        exec(statement, {})


@pytest.mark.parametrize(("name", "told"), [
    ("distributed.launcher.api", "'torch.distributed.launcher': retrograd launch, torch.multiprocessing and"),
    ("distributed.checkpoint.staging", "'torch.distributed.checkpoint.staging': checkpoints are whole: one rank saves"),
    ("distributed.tenser", "'torch.distributed.tenser': torch.distributed has collectives"),
    ("nativert", "'torch.nativert': programs are not compiled ahead of time"),
    ("nn.functionall", "'torch.nn.functionall'; near names: functional"),
])
def test_importing_a_module_we_lack_says_why(name: str, told: str) -> None:
    for run in (nullcontext, torch_means_retrograd):
        with run(), pytest.raises(ModuleNotFoundError, match=re.escape(f"retrograd has no {told}")):
            importlib.import_module(f"retrograd.{name}")
    assert importlib.util.find_spec("retrograd.nativert") is None         # who only asks gets an answer


def modules() -> dict[str, types.ModuleType]:
    """Every module of ours that can be reached as an attribute of another, from the namespace on."""
    found: dict[str, types.ModuleType] = {}
    pending: list[types.ModuleType] = [retrograd]
    while pending:
        module = pending.pop()
        for name in {*vars(module), *(LAZY if module is retrograd else ())}:
            value = getattr(module, name)
            if isinstance(value, types.ModuleType) and value.__name__.startswith("retrograd.") and value.__name__ not in found:
                found[value.__name__] = value
                pending.append(value)
    return found


LAZY = """accelerator amp backends compiler distributed distributions func functional hub jit masked mps optim serialization
    signal special storage testing types xpu __future__ __config__""".split()


def test_a_module_that_can_be_reached_can_be_imported_by_its_path() -> None:
    found = modules()
    assert {"retrograd.backends.cudnn", "retrograd.nn.parallel", "retrograd._C._functions"} <= set(found)
    for name, module in found.items():
        assert importlib.import_module(name) is module and module.__spec__ is not None and module.__spec__.name == name
        assert importlib.util.find_spec(name) is module.__spec__
    with torch_means_retrograd():
        for name, module in found.items():
            assert importlib.import_module("torch" + name.removeprefix("retrograd")) is module
    for package in (retrograd.nn.parallel, retrograd.distributed, retrograd.autograd, retrograd.backends):
        assert hasattr(package, "__path__")


def test_what_is_missing_is_an_import_error_to_import_and_an_attribute_error_to_ask_for() -> None:
    with torch_means_retrograd():
        for name, module in [*modules().items(), ("retrograd", retrograd)]:
            torch_name = "torch" + name.removeprefix("retrograd")
            for missing in ("nonsense", "_nonsense"):
                for statement in (f"from {torch_name} import {missing}", f"import {torch_name}.{missing}"):
                    with pytest.raises(ImportError):
                        exec(statement, {})
                with pytest.raises(AttributeError):
                    getattr(module, missing)


def test_a_module_that_is_no_file_keeps_what_is_set_on_it() -> None:
    with torch_means_retrograd():
        import torch.backends.cudnn as cudnn

        cudnn.benchmark = True
        assert retrograd.backends.cudnn.benchmark is True
        cudnn.benchmark = False


def test_torch_functional_has_the_functions_of_torch() -> None:
    for name in retrograd.functional.__all__:
        assert getattr(retrograd.functional, name) is getattr(retrograd, name)


# Private names that libraries import, and old ones
CALLS = """
    torch._unique(i, True, True)|torch._unique(i)|torch._unique2(i, return_counts=True)|torch._unique2(i, True, True, True)
    torch._C._functions.DelayedError("boo", 2)(x)|torch._C._functions.DelayedError("a")|torch._C.is_grad_enabled()
    torch._C._functions.DelayedError("boo", 1)(x * 1)|backward(torch._C._functions.DelayedError("boo", 1)(x * 1))
    torch._C._functions.UndefinedGrad()(x * 1)|backward(torch._C._functions.UndefinedGrad()(x * 1))
    isinstance((x * 2).grad_fn, torch._C._functions.MulBackward0)|torch._C._autograd._saved_tensors_hooks_is_enabled()
    isinstance((x * 2).grad_fn.next_functions[0][0], torch._C._functions.AccumulateGrad)|torch.autograd.torch is torch
    resized(x, (2, 1))|backward(resized(x, (2, 1)))|resized(x, (3, 1))|torch.torch is torch|torch.channels_last_3d
    torch.ones(2).map2_(torch.ones(2), torch.ones(1), lambda a, b, c: a + b + c)|torch.autograd.SavedTensor.__name__
    x.map2_(x, x, max)|torch.nn.parallel.data_parallel(torch.nn.Identity(), x)|torch.hub.HASH_REGEX.pattern
    torch.distributions.utils._sum_rightmost(torch.ones(2, 3), 1)|torch.distributions.utils._sum_rightmost(i, 0)
    torch.distributions.utils._standard_normal((2, 3), torch.float64, "cpu").shape|torch._C._get_tracing_state()
    torch.distributions.multivariate_normal._precision_to_scale_tril(torch.tensor([[2., 1.], [1., 3.]]))
    torch.distributions.transforms._clipped_sigmoid(torch.tensor([-200., 0., 200.]))
    torch.distributions.multivariate_normal._batch_mv(torch.ones(2, 1, 3, 3), torch.arange(6.).view(2, 3))
    torch.distributions.multivariate_normal._batch_mahalanobis(torch.eye(2) * 2, torch.arange(6.).view(3, 2))
    torch.distributions.multivariate_normal._batch_mahalanobis(torch.ones(3, 1, 1, 1), torch.arange(12.).view(2, 3, 2, 1))
    torch.distributions.lowrank_multivariate_normal._batch_capacitance_tril(torch.ones(3, 2), torch.ones(3))
    torch.distributions.lowrank_multivariate_normal._batch_lowrank_logdet(torch.ones(3, 1), torch.ones(3), torch.eye(1) * 2)
    torch.distributions.lowrank_multivariate_normal._batch_lowrank_mahalanobis(*map(torch.ones, ((3, 1), 3, 3, (1, 1))))
    torch.utils.data._utils.collate.collate_tensor_fn([torch.ones(2), torch.zeros(2)], collate_fn_map=None)
    torch.utils.data._utils.collate.np_str_obj_array_pattern|torch.utils.data._utils.collate.default_collate_err_msg_format
    sorted(f.__name__ for f in torch.utils.data.default_collate.__globals__["default_collate_fn_map"].values())
    torch.utils.data._utils.collate.default_collate([1, 2])|[c.__name__ for c in (torch._C.Value, torch._C.ScriptMethod)]
    torch.cuda.FloatTensor(2)|torch.cuda.LongTensor()|torch.set_default_tensor_type(torch.cuda.HalfTensor)
    torch.set_default_tensor_type("torch.cuda.FloatTensor")|isinstance(x, torch.cuda.FloatTensor)|torch.cuda.ByteTensor.dtype
    torch.cuda.FloatTensor.is_cuda|issubclass(torch.cuda.FloatTensor, torch.Tensor)|torch.cuda.CharTensor.__name__
    isinstance(x.detach().storage(), torch.cuda.FloatStorage)|torch.cuda.FloatStorage.__name__|subclassed(x)
    torch._C.Graph.__name__|torch.autograd.function.InplaceFunction(True).inplace|converted(False)|converted(True)
    [torch.autograd.set_multithreading_enabled(on).mode for on in (False, True)]
    torch.backends.__allow_nonbracketed_mutation().__enter__()|torch.jit.interface(3)
    torch.jit.interface(type("B", (torch.nn.Linear,), {}))
"""


@pytest.mark.oracle
@pytest.mark.parametrize("text", [part.strip() for line in CALLS.strip().splitlines() for part in line.split("|")])
def test_rare_names_do_what_pytorchs_do(text: str) -> None:
    assert answer(text, retrograd) == answer(text, pytest.importorskip("torch"))


def answer(text: str, torch: Any) -> str:
    importlib.import_module(f"{torch.__name__}.autograd._functions")
    x = torch.ones(2, requires_grad=True)

    def backward(y: Any) -> Any:
        y.sum().backward()
        return x.grad

    def converted(overwrite: bool) -> Any:
        future = importlib.import_module(f"{torch.__name__}.__future__")
        layer = torch.nn.Linear(1, 1)
        weight, layer.weight.grad = layer.weight, torch.ones(1, 1)
        future.set_overwrite_module_params_on_conversion(overwrite)
        try:
            layer.double()
        finally:
            future.set_overwrite_module_params_on_conversion(False)
        return layer.weight is weight, layer.weight.dtype, layer.weight.grad

    class Picky(torch.Tensor):
        def __new__(cls, *args: Any) -> Any:
            raise ValueError("as_subclass called it")

    names = {
        "torch": torch, "x": x, "i": torch.tensor([2, 1, 2]), "backward": backward, "converted": converted,
        "subclassed": lambda t: type(t.as_subclass(Picky)).__name__,
        "resized": sys.modules[f"{torch.__name__}.autograd._functions"].Resize.apply}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(eval(text, names))
        except Exception as error:
            return f"{type(error).__name__}: {error}"


# Classes of ours that stand in another module than PyTorch's.
ELSEWHERE = {
    "autocast", "GradScaler",                   # torch.amp has no files for them
    "Attribute", "ScriptModule", "TracerWarning", "TracingCheckError",      # torch.jit: what PyTorch's private modules define
    "DataParallel",                             # torch.nn.parallel.data_parallel is the function
    "SDPBackend", "Future", "DeviceType", "ProfilerActivity", "TensorProtoDataType",    # PyTorch's are written in C
    "CUDAGraph", "Event", "Stream",              # made where they are asked for
    "ProfilerAction", "profile", "CustomOpDef",                     # a file of one room here
    "OpOverload", "ProxyableClassMeta", "Tracer",                   # private modules keep their names
    "DeQuantStub", "FakeQuantizeBase", "ObserverBase", "QuantStub",     # torch.ao.quantization has no files for them
}


@pytest.mark.oracle
def test_under_run_classes_say_pytorchs_modules_and_names() -> None:
    theirs: Any = pytest.importorskip("torch")
    for name in [*LAZY, *"ao.quantization export futures fx library multiprocessing onnx overrides profiler".split()]:
        importlib.import_module(f"retrograd.{name}")
        importlib.import_module(f"torch.{name}")
    places = {name: module for name, module in modules().items() if "._" not in name} | {"retrograd": retrograd}
    before = {name: type_.__module__ for name, type_ in vars(retrograd.nn).items() if isinstance(type_, type)}
    differing, seen = set(), 0
    with torch_means_retrograd():
        for path, module in places.items():
            try:
                other = at(theirs, "torch" + path.removeprefix("retrograd"))
            except AttributeError:
                continue
            for name, value in list(vars(module).items()):
                same = getattr(other, name, None)
                if name.startswith("_") or not isinstance(value, type) or not isinstance(same, type) or name in ELSEWHERE:
                    continue
                seen += 1
                if (value.__module__, value.__qualname__) != (same.__module__, same.__qualname__) and value is not same:
                    if (path, name) != ("retrograd.random", "Generator"):       # PyTorch imports typing's there
                        differing.add(f"{path}.{name}: {value.__module__}, not {same.__module__}")
        assert str(retrograd.Tensor) == "<class 'torch.Tensor'>"
        found = pickle.loads(pickle.dumps((retrograd.nn.Linear(1, 1), retrograd.strided, retrograd.nn.init.ones_)))
        assert type(found[0]) is retrograd.nn.Linear and found[1:] == (retrograd.strided, retrograd.nn.init.ones_)
    assert differing == set() and seen > 500
    assert before == {name: type_.__module__ for name, type_ in vars(retrograd.nn).items() if isinstance(type_, type)}


def test_under_run_modules_that_are_imported_later_say_torch_too() -> None:
    code = ("import torch, torch.distributions as d, torch.optim.lr_scheduler as s\n"
            "print(d.Normal, s.MultiStepLR, torch.FloatStorage)")
    command = [sys.executable, "-m", "retrograd", "run", "-c", code]
    said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert said == ("<class 'torch.distributions.normal.Normal'> <class 'torch.optim.lr_scheduler.MultiStepLR'> "
                    "<class 'torch.FloatStorage'>\n")


def test_a_name_of_nobody_gets_near_names() -> None:
    with pytest.raises(AttributeError, match=re.escape("retrograd has no 'torch.softmaxx'; near names: softmax")):
        _ = retrograd.softmaxx
