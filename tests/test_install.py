"""What is installed: the build that is meant, with the dependencies it declares."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import retrograd
from retrograd.cli.doctor import is_compiled

ROOT = Path(__file__).resolve().parent.parent


def output(command: list[str], **environment: str) -> str:
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif("RETROGRAD_BUILD" not in os.environ, reason="make names the build that it tests")
def test_this_is_the_build_that_make_means_to_test() -> None:
    compiled = os.environ["RETROGRAD_BUILD"] == "compiled"
    assert is_compiled() == compiled
    assert Path(retrograd.__file__).is_relative_to(ROOT / "src") != compiled


def test_the_package_and_its_metadata_have_one_version() -> None:
    assert retrograd.version.retrograd == metadata.version("retrograd")


def test_import_needs_what_is_declared_and_not_the_command_line() -> None:
    code = (
        "import sys; before = set(sys.modules); import retrograd; after = set(sys.modules) - before;"
        "print(*{name.partition('.')[0] for name in after} - sys.stdlib_module_names)"
    )
    loaded = {name for name in output([sys.executable, "-c", code]).split() if "retrograd" not in name}
    declared = {
        re.split(r"[^\w-]", requirement)[0].replace("-", "_")
        for requirement in metadata.requires("retrograd") or []
        if "extra ==" not in requirement
    }
    assert loaded <= declared


def test_rooms_are_imported_when_somebody_asks_for_them() -> None:
    code = (
        "import sys, retrograd as torch; print(*{'retrograd.nn', 'retrograd.optim', 'retrograd.func'} & set(sys.modules), '.');"
        "print({'nn', 'optim', 'func'} <= set(dir(torch)), torch.nn.Linear.__name__, torch.nn is sys.modules['retrograd.nn'])"
    )
    assert output([sys.executable, "-c", code]) == ".\nTrue Linear True\n"


def test_families_of_functions_are_imported_when_one_of_their_names_is_asked_for() -> None:
    code = (
        "import sys, inspect, retrograd as torch\n"
        "there = lambda: [f for f in ('conv', 'decomp', 'indexing') if f'retrograd._functions.{f}' in sys.modules]\n"
        "print(there(), {'conv2d', 'svd', 'gather'} <= set(dir(torch)), 'svd' in dir(torch.Tensor))\n"
        "print(inspect.signature(torch.Tensor.svd).parameters.keys() >= {'some', 'compute_uv'}, there())\n"
        "y = torch.conv1d(torch.ones(1, 1, 5, requires_grad=True), torch.ones(1, 1, 2))\n"
        "print(type(y.grad_fn).__module__, y.grad_fn._saved_stride, torch.conv1d is torch.nn.functional.conv1d)\n"
        "del_ = getattr(torch.Tensor, '__delitem__'); print(del_.__name__, there())"
    )
    assert output([sys.executable, "-c", code]).splitlines() == [
        "[] True True", "True ['decomp']", "builtins (1,) True", "__delitem__ ['conv', 'decomp', 'indexing']"]


TRAINED = """
import sys, warnings; sys.path.insert(0, {zipped!r})
import retrograd as torch, retrograd.backends.cudnn, retrograd.distributions
from retrograd import microscope
from retrograd.cli.command_line import main
assert torch.__file__.startswith({zipped!r})
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with microscope.record(model) as rec:
    model(torch.ones(4, 2)).pow(2).mean().backward()
    optimizer.step()
rec.to_html({page!r})
main(["doctor"])
"""


def test_the_package_works_from_a_zip(tmp_path: Path) -> None:
    zipped, page = tmp_path / "retrograd.zip", tmp_path / "page.html"
    home = Path(retrograd.__file__).parent
    if is_compiled():
        pytest.skip("Python imports no binaries from a zip")
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in home.rglob("*"):
            if path.suffix in (".py", ".html", ".typed"):
                archive.write(path, path.relative_to(home.parent))
    said = output([sys.executable, "-c", TRAINED.format(zipped=str(zipped), page=str(page))], PYTHONWARNINGS="error")
    assert "pure" in said and page.read_text(encoding="utf-8").startswith("<!")


@pytest.mark.parametrize("text", ["", " ", "9" * 5000])
def test_no_size_of_the_block_cache_breaks_the_import(text: str) -> None:
    assert output([sys.executable, "-W", "error", "-c", "import retrograd; print(1)"], RETROGRAD_BLOCK_CACHE=text) == "1\n"
