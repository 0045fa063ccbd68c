"""Builds, in a copy of the checkout: compiled, and pure where nothing can compile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from test_install import ROOT, output

NO_COMPILER = {"CC": "/no/such/compiler"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copied(tmp_path / "checkout")


def copied(copy: Path) -> Path:
    if not (ROOT / "setup.py").exists():
        pytest.skip("not a checkout")
    pytest.importorskip("setuptools")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    shutil.copytree(ROOT / "src", copy / "src", ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "tools", copy / "tools")         # mypyc's plugin
    return copy


@pytest.fixture
def small_checkout(checkout: Path) -> Path:
    return small(checkout)


def small(checkout: Path) -> Path:
    """With one compiled module and the kernels, so that the build needs seconds."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        pytest.skip("needs a C compiler")
    pytest.importorskip("mypyc")
    package = checkout / "src" / "retrograd"
    kernels = {f"_kernels/{name}": (package / "_kernels" / name).read_text() for name in ("_fast.c", "compiled.py")}
    shutil.rmtree(package)
    for name, text in {
        "__init__.py": "from ._kernels import compiled\n",
        "_engine/__init__.py": "",
        "_engine/reads.py": "from typing import Any\n\nREADS: dict[str, Any] = {}\n",
        "_kernels/__init__.py": "",
        **kernels,
        "_engine/node.py": "def twice(x: int) -> int:\n    return 2 * x\n",
    }.items():
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text)
    return checkout


def build(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=checkout,
        env={name: value for name, value in os.environ.items() if not name.startswith("RETROGRAD")} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def wheel(checkout: Path) -> Path:
    [path] = (checkout / "dist").glob("*.whl")
    return path


def unpack(checkout: Path, name: str = "installed") -> tuple[Path, list[str], str]:
    """(folder, binaries in it, what setup.py wrote for doctor)"""
    folder = checkout / name
    with zipfile.ZipFile(wheel(checkout)) as archive:
        archive.extractall(folder)
    binaries = [path.name for path in folder.rglob("*") if path.suffix in (".so", ".pyd")]
    return folder, binaries, (folder / "retrograd" / "_build.txt").read_text()


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a test, of which a source archive and a pure wheel were made."""
    checkout = copied(tmp_path_factory.mktemp("pure") / "checkout")
    (checkout / "tests").mkdir()
    (checkout / "tests" / "test_some.py").write_text("import helper\n")
    shutil.copy(ROOT / "MANIFEST.in", checkout)
    output([sys.executable, "-W", "ignore", "-c", f"import os; os.chdir({str(checkout)!r})\n"
            "from setuptools.build_meta import build_sdist; build_sdist('dist')"])
    done = build(checkout, RETROGRAD_PURE="1")
    assert done.returncode == 0, done.stderr
    return checkout


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small checkout, of which a compiled wheel was made."""
    checkout = small(copied(tmp_path_factory.mktemp("compiled") / "checkout"))
    done = build(checkout, RETROGRAD_OPT_LEVEL="0")
    assert done.returncode == 0, done.stderr
    shutil.copytree(checkout / "dist", checkout / "first" / "dist")
    return checkout


def test_without_a_compiler_the_install_is_pure_and_says_so(checkout: Path) -> None:
    done = build(checkout, **NO_COMPILER)
    assert done.returncode == 0, done.stderr
    assert "retrograd: installing the pure Python build: no working C compiler" in done.stderr
    assert "install a C compiler" in done.stderr
    assert wheel(checkout).name.endswith("-py3-none-any.whl")
    folder, binaries, outcome = unpack(checkout)
    assert binaries == [] and outcome.startswith("pure: no working C compiler")

    code = (
        "import retrograd as torch; x = torch.tensor([3.0], requires_grad=True); (x * x).sum().backward();"
        "print(torch.__file__, x.grad.tolist())"
    )
    path, grad = output([sys.executable, "-c", code], PYTHONPATH=str(folder)).split()
    assert Path(path).is_relative_to(folder) and grad == "[6.0]"
    said = output([sys.executable, "-m", "retrograd", "doctor"], PYTHONPATH=str(folder))
    assert "pure: no working C compiler" in said


def test_the_source_archive_builds_what_the_checkout_builds_and_has_no_part_of_the_tests(pure: Path, tmp_path: Path) -> None:
    [archive] = (pure / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    [source] = (tmp_path / "unpacked").iterdir()
    assert not (source / "tests").exists() and list((source / "src" / "retrograd" / "_kernels").glob("*.c"))
    assert build(source, RETROGRAD_PURE="1").returncode == 0
    names = []
    for folder in (pure, source):
        with zipfile.ZipFile(wheel(folder)) as made:
            names.append(sorted(made.namelist()))
    assert names[0] == names[1]


def test_a_build_that_must_be_compiled_fails_without_a_compiler(checkout: Path) -> None:
    done = build(checkout, RETROGRAD_REQUIRE_COMPILED="1", **NO_COMPILER)
    assert done.returncode != 0
    assert "retrograd: not compiled, and RETROGRAD_REQUIRE_COMPILED=1: no working C compiler" in done.stderr


def test_a_pure_build_can_be_asked_for(pure: Path) -> None:
    assert unpack(pure)[1:] == ([], "pure: RETROGRAD_PURE=1 was set\n")


def test_the_checkout_laid_over_an_older_wheel_is_what_a_new_wheel_has(pure: Path) -> None:
    folder = unpack(pure, "older")[0]
    package = folder / "retrograd"
    new = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    (package / "nn" / "gone.py").write_text("")
    (package / "gone").mkdir()
    (package / "gone" / "__init__.py").write_text("")
    (package / "nn" / "__init__.py").write_text("")
    (package / "cli" / "run.py").unlink()
    output([sys.executable, str(ROOT / "tools" / "lay.py"), str(folder)])
    assert not (package / "gone").exists()
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == new


def test_what_mypyc_made_is_kept_until_a_source_changes(compiled: Path) -> None:
    kept = compiled / "build" / "mypyc.json"
    module = compiled / "src" / "retrograd" / "_engine" / "node.py"
    made = compiled / "build" / "__native_retrograd____engine___node.c"
    keys = [(kept.read_text(), made.stat().st_mtime_ns)]
    for factor in (2, 3):
        module.write_text(f"def twice(x: int) -> int:\n    return {factor} * x\n")
        assert build(compiled, RETROGRAD_OPT_LEVEL="0").returncode == 0
        keys.append((kept.read_text(), made.stat().st_mtime_ns))
        path, found = output([sys.executable, "-c", "from retrograd._engine import node; print(node.__file__, node.twice(4))"],
                             PYTHONPATH=str(unpack(compiled)[0])).split()
        assert found == str(4 * factor) and Path(path).suffix in (".so", ".pyd")
    assert keys[0] == keys[1] and keys[1][0] != keys[2][0]


def test_with_a_compiler_the_build_is_compiled(compiled: Path) -> None:
    folder, binaries, outcome = unpack(compiled / "first")
    assert len(binaries) == 3 and re.match(r"compiled by mypyc \S+, kernels with -O0\n", outcome)
    code = "from retrograd._engine import node; print(node.__file__, node.twice(4))"
    path, eight = output([sys.executable, "-c", code], PYTHONPATH=str(folder)).split()
    assert Path(path).suffix in (".so", ".pyd") and eight == "8"
    sources = sorted(str(path.relative_to(folder)) for path in folder.rglob("_engine/*.py*"))
    assert sources == ["retrograd-stubs/_engine/node.pyi", "retrograd-stubs/_engine/reads.pyi", "retrograd/_engine/__init__.py"]
    output([sys.executable, str(compiled / "tools" / "lay.py"), str(folder)])
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("_engine/*.py*")) == sources


def test_a_c_compiler_that_fails_leaves_a_pure_build_and_its_message(small_checkout: Path, tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *__native*) echo "cc: out of luck" >&2; exit 1;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    done = build(small_checkout, CC=str(compiler), RETROGRAD_OPT_LEVEL="0")
    assert done.returncode == 0, done.stderr
    assert "cc: out of luck" in done.stderr and "pure Python build: the C compiler failed" in done.stderr
    assert unpack(small_checkout)[1:] == ([], "pure: the C compiler failed\n")


def test_a_type_error_leaves_a_pure_build_and_its_message(small_checkout: Path) -> None:
    module = small_checkout / "src" / "retrograd" / "_engine" / "node.py"
    module.write_text(module.read_text() + "wrong: int = 'text'\n")
    done = build(small_checkout, RETROGRAD_OPT_LEVEL="0")
    assert done.returncode == 0, done.stderr
    assert "Incompatible types in assignment" in done.stdout + done.stderr
    assert "pure Python build: mypyc rejected the sources" in done.stderr
    assert unpack(small_checkout)[1:] == ([], "pure: mypyc rejected the sources\n")
