"""The statements after >>> in the docstrings of PyTorch's public names."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from typing import Any

MODULES = [f"torch.{name}".rstrip(".") for name in """
    . nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations nn.utils.prune nn.attention
    nn.parameter optim optim.lr_scheduler optim.swa_utils autograd autograd.functional autograd.forward_ad autograd.graph
    autograd.profiler autograd.grad_mode autograd.anomaly_mode autograd.function func distributions distributions.constraints
    distributions.transforms linalg fft special utils utils.data utils.checkpoint utils.dlpack utils.benchmark utils.flop_counter
    utils.module_tracker utils._pytree overrides library fx profiler futures random serialization storage functional amp
    quasirandom signal.windows masked testing export jit compiler cpu _tensor multiprocessing
""".split()]
# Statements that ask for another device, other processes, files of the network, or a name that is said to be missing
ELSEWHERE = re.compile(r"cuda|xpu|mps|hub\.|init_process_group|dist\.|rpc|mp\.spawn|input\(|download|device_mesh|SummaryWriter|"
                       r"privateuse1|sparse|quantize|triton|Dispatch|onnx|cpp_extension|exit\(\)")


def examples() -> dict[str, list[str]]:
    """{name: statements}, of each docstring once."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for module in MODULES:
        for name, doc in docstrings(importlib.import_module(module), module):
            if ">>>" in doc and doc not in seen and not ELSEWHERE.search(" ".join(re.findall(r">>>.*", doc))):
                seen.add(doc)
                found[name] = statements(doc)
    return found


def docstrings(module: Any, path: str) -> Iterator[tuple[str, str]]:
    for key, value in sorted(vars(module).items()):
        if key.startswith("__") or isinstance(value, types.ModuleType):
            continue
        yield f"{path}.{key}", doc_of(value)
        if inspect.isclass(value):
            for name in sorted(vars(value)):
                if name == "__init__" or not name.startswith("__"):
                    yield f"{path}.{key}.{name}", doc_of(inspect.getattr_static(value, name))


def doc_of(x: Any) -> str:
    doc = getattr(x, "__doc__", None)
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def statements(doc: str) -> list[str]:
    """Each by itself; a line after >>> goes on with the one before where that is no statement yet, or where it is indented."""
    chunks: list[list[str]] = []
    for prompt, line in re.findall(r"^ *(>>>|\.\.\.) ?(.*)$", doc, re.M):
        goes_on = prompt == "..." or line.startswith(" ") or re.match(r"(else|elif|except|finally)\b|[)\]}]", line)
        if chunks and (goes_on or begun(chunks[-1])):
            chunks[-1].append(line)
        else:
            chunks.append([line])
    return [part for chunk in chunks for part in parts(textwrap.dedent("\n".join(chunk)) + "\n")]


def begun(chunk: list[str]) -> bool:
    try:
        ast.parse(textwrap.dedent("\n".join(chunk)) + "\n")
    except SyntaxError as error:
        return any(text in str(error) for text in ("never closed", "unexpected EOF", "expected an indented block"))
    return False


def parts(text: str) -> list[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []                               # prose, or an ellipsis
    lines = text.splitlines(keepends=True)
    starts = [min([x.lineno, *(d.lineno for d in getattr(x, "decorator_list", []))]) for x in tree.body]
    return ["".join(lines[start - 1:x.end_lineno]) for start, x in zip(starts, tree.body)]
