"""Every public module of PyTorch's can be imported, or the error says why not."""
from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrograd.cli.run import torch_means_retrograd

TESTS = ("torch.testing._internal", "torch.utils.benchmark.examples", "torch.utils.benchmark.op_fuzzers")


def modules(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*.py")):
        name = ".".join(("torch", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        private = any(part.startswith("_") or not part.isidentifier() for part in name.split("."))
        packages = all((parent / "__init__.py").exists() for parent in path.parents if root in (parent, *parent.parents))
        if not private and packages and not name.startswith(TESTS):
            yield name


IMPORTS = """
import importlib, re, sys, warnings
warnings.simplefilter("ignore")
works, silent = 0, []
for name in sys.stdin.read().split():
    try:
        importlib.import_module(name)
        works += 1
    except ImportError as error:
        if not re.search(r"retrograd has no '[\\w.]+': |pip install", str(error)):
            silent.append((name, str(error)))
print(works, silent)
"""


@pytest.mark.oracle
def test_each_module_works_or_says_why_not(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    names = list(modules(Path(torch.__file__).parent))
    assert len(names) > 600
    script = tmp_path / "imports.py"
    script.write_text(IMPORTS)
    done = subprocess.run([sys.executable, "-m", "retrograd", "run", str(script)], input="\n".join(names), capture_output=True,
                          text=True, timeout=300)
    works, _, silent = done.stdout.strip().splitlines()[-1].partition(" ")
    assert silent == "[]" and int(works) > 250


def test_modules_that_pytorch_splits_have_the_names_of_the_whole() -> None:
    with torch_means_retrograd():
        streams, cuda = importlib.import_module("torch.cuda.streams"), importlib.import_module("torch.cuda")
        assert streams.Stream is cuda.Stream
        assert importlib.import_module("torch.cuda.amp.grad_scaler").GradScaler is cuda.amp.GradScaler
        with pytest.raises(ModuleNotFoundError, match="retrograd has no 'torch.cuda.nccl': the CPU is the only device"):
            importlib.import_module("torch.cuda.nccl")
        with pytest.raises(ModuleNotFoundError, match=r"retrograd has no 'torch.hub.deeper'"):
            importlib.import_module("torch.hub.deeper")
    assert not hasattr(importlib.import_module("retrograd.hub"), "__path__")


def test_extensions_in_cpp_are_refused_where_they_are_used() -> None:
    extension = importlib.import_module("retrograd.utils.cpp_extension")
    assert extension.CUDA_HOME is None
    with pytest.raises(NotImplementedError, match=r"'torch.utils.cpp_extension.load': extensions in C\+\+ are compiled for"):
        extension.load("name", ["source.cpp"])
