"""Writes tests/public_names.txt, so that a change of the public surface shows in the diff of a commit."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import retrograd
import retrograd.distributed
import retrograd.distributions
import retrograd.func
import retrograd.microscope
import retrograd.nn.attention
import retrograd.nn.functional
import retrograd.nn.utils.prune
import retrograd.overrides
import retrograd.serialization
import retrograd.utils.data

LIST = Path(__file__).resolve().parent.parent / "tests" / "public_names.txt"
PLACES: dict[str, Any] = {
    "retrograd": retrograd,
    "retrograd.Tensor": retrograd.Tensor,
    "retrograd.autograd": retrograd.autograd,
    "retrograd.autograd.Function": retrograd.autograd.Function,
    "retrograd.autograd.graph": retrograd.autograd.graph,
    "retrograd.distributions": retrograd.distributions,
    "retrograd.func": retrograd.func,
    "retrograd.nn": retrograd.nn,
    "retrograd.nn.Module": retrograd.nn.Module,
    "retrograd.nn.attention": retrograd.nn.attention,
    "retrograd.nn.functional": retrograd.nn.functional,
    "retrograd.nn.init": retrograd.nn.init,
    "retrograd.nn.parameter": retrograd.nn.parameter,
    "retrograd.nn.utils": retrograd.nn.utils,
    "retrograd.nn.utils.parametrizations": retrograd.nn.utils.parametrizations,
    "retrograd.nn.utils.parametrize": retrograd.nn.utils.parametrize,
    "retrograd.nn.utils.prune": retrograd.nn.utils.prune,
    "retrograd.nn.utils.rnn": retrograd.nn.utils.rnn,
    "retrograd.optim": retrograd.optim,
    "retrograd.optim.Optimizer": retrograd.optim.Optimizer,
    "retrograd.optim.lr_scheduler": retrograd.optim.lr_scheduler,
    "retrograd.optim.swa_utils": retrograd.optim.swa_utils,
    "retrograd.overrides": retrograd.overrides,
    "retrograd.serialization": retrograd.serialization,
    "retrograd.utils.data": retrograd.utils.data,
    "retrograd.microscope": retrograd.microscope,
    "retrograd.distributed": retrograd.distributed,
}
LISTED = {f"retrograd.{path}": importlib.import_module(f"retrograd.{path}") for path in """
    amp autograd.forward_ad autograd.functional compiler distributed.device_mesh distributed.nn.functional distributed.optim
    distributions.constraints distributions.transforms fft futures fx hub library linalg nn.parallel onnx profiler
    signal.windows special testing utils.benchmark utils.checkpoint utils.flop_counter utils.tensorboard
""".split()}    # modules that offer what their __all__ names
PLACES |= LISTED


def names(place: str) -> list[str]:
    """What `place` offers: of a class its attributes; of a module what it defines, and what it imports `as` itself."""
    owner = PLACES[place]
    if place in LISTED:
        found = set(owner.__all__)
    elif isinstance(owner, type):
        found = set(dir(owner())) if owner is retrograd.Tensor else set(dir(owner))
    else:
        found = {*getattr(owner, "__all__", ()), *written(owner)}
    return sorted(n for n in found if not n.startswith("_"))


def written(module: Any) -> Iterator[str]:
    body = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
    for item in body:
        if isinstance(item, ast.If) and "TYPE_CHECKING" in ast.unparse(item.test):
            body += item.orelse
        elif isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name
        elif isinstance(item, ast.Assign):
            yield from (t.id for t in item.targets if isinstance(t, ast.Name) and not t.id.isupper())
        elif isinstance(item, ast.ImportFrom):
            for alias in item.names:
                if alias.name == "*":
                    path = "." * item.level + (item.module or "")
                    origin = importlib.import_module(path, module.__package__)
                    yield from (*origin.__all__, *getattr(origin, "LATER", ()))
                elif alias.asname == alias.name:
                    yield alias.name


def listing() -> str:
    return "".join(f"[{place}]\n" + "".join(f"{n}\n" for n in names(place)) + "\n" for place in PLACES)


def files() -> dict[Path, str]:
    return {LIST: listing()}
