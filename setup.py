"""Compile what COMPILED lists with mypyc; where that is impossible, install the same files as plain Python and say so.

RETROGRAD_PURE=1              do not compile
RETROGRAD_REQUIRE_COMPILED=1  fail where the install would be pure
RETROGRAD_OPT_LEVEL=0..3      the C compiler's -O (unless set: 3 for kernels, and what is below for the rest)
RETROGRAD_JOBS=N              C files compiled at a time (as many as there are processors)
RETROGRAD_SANITIZE=NAMES      compile `_kernels` alone, under these sanitizers of the C compiler: make sanitize

An editable install is never compiled: the checkout stays pure, so edits, pdb and profilers work in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
# What mypyc compiles, under src/retrograd: what is hot. The rest is what users subclass, patch, step through or ask help() about.
COMPILED = (
    "_compile/arguments.py",
    "_compile/book.py",
    "_compile/callouts.py",
    "_compile/calls.py",
    "_compile/code.py",
    "_compile/effects.py",
    "_compile/guards.py",
    "_compile/hooked.py",
    "_compile/looks.py",
    "_compile/lower.py",
    "_compile/mood.py",
    "_compile/outputs.py",
    "_compile/passes.py",
    "_compile/plan.py",
    "_compile/reach.py",
    "_compile/small.py",
    "_compile/trace.py",
    "_compile/values.py",
    "_compile/variant.py",
    "_compile/whole.py",
    "_engine/*.py",
    "_rules/*.py",
    "microscope/capture/block.py",
    "microscope/capture/calls.py",
    "microscope/capture/loss_key.py",
    "microscope/capture/parameters.py",
    "microscope/capture/pending.py",
    "microscope/capture/runs.py",
    "microscope/capture/sources.py",
    "microscope/capture/tally.py",
    "microscope/flight/hearing.py",
    "microscope/flight/step.py",
    "microscope/flight/usual.py",
    "microscope/listen/ear.py",
    "microscope/listen/heard.py",
    "microscope/record/book.py",
    "microscope/record/fired.py",
    "microscope/record/journal.py",
    "microscope/record/lines.py",
    "microscope/record/swaps.py",
    "microscope/record/witness.py",
    "microscope/rounds.py",
)
LIBRARY = "retrograd__mypyc"
# What only debuggers of C and C++ exceptions read takes 2.1 MB.  The names of `_kernels` stay: tests/kernels/test_vectorised.py
# reads them.
LEAN = ["-fno-asynchronous-unwind-tables"] if sys.platform == "linux" else []
STRIP = ["-s"] if sys.platform == "linux" else []
# Of what GCC's -O2 and -O3 add, only this quickens C that mypyc made: 0.4 % more instructions, a tenth less code, compiled in
# 60 % of the time.
QUICK = """-O1 -finline-small-functions -findirect-inlining -fpartial-inlining -fpeephole2 -fcaller-saves -fcrossjumping
    -foptimize-sibling-calls""".split()
# 56,000 addresses that the loader adjusts, in 0.05 MB instead of 1.3: since glibc 2.36, so not in manylinux's older images.
libc, release = platform.libc_ver()
PACK = ["-Wl,-z,pack-relative-relocs"] if libc == "glibc" and tuple(map(int, release.split(".")[:2])) >= (2, 36) else []
BUILDS = {"bdist_wheel", "build", "build_ext", "install"}

opt_level = os.environ.get("RETROGRAD_OPT_LEVEL", "3")
sanitize = os.environ.get("RETROGRAD_SANITIZE", "")
require_compiled = os.environ.get("RETROGRAD_REQUIRE_COMPILED") == "1"
outcome = ""  # what `retrograd doctor` shows: written into the package as _build.txt


def main() -> None:
    extensions = compiled_modules() if BUILDS & set(sys.argv) else []
    setup(ext_modules=extensions, cmdclass={"build_py": Record, "build_ext": CompileOrFallBack})


def compiled_modules() -> list[Extension]:
    """mypyc's C files as extensions; none, with the reason told, where they cannot be made."""
    global outcome
    if os.environ.get("RETROGRAD_PURE") == "1":
        return pure("RETROGRAD_PURE=1 was set")
    try:
        try_compiler()
    except Exception as error:
        return pure(f"no working C compiler ({one_line(error)})", "install a C compiler and Python's headers")
    if sanitize:
        outcome = f"kernels compiled with -fsanitize={sanitize}, the rest pure"
        return kernels()
    try:
        from mypyc.build import mypycify

        files = [path.relative_to(ROOT).as_posix() for path in compiled_files(ROOT / "src")]
        extensions = Kept(files).extensions() or Kept(files).keep(mypycify(
            files,  # under [tool.mypy] of pyproject.toml
            opt_level=opt_level,
            debug_level="0",
            multi_file=True,  # so that the C files compile side by side
            group_name=LIBRARY.removesuffix("__mypyc"),
        ))
    except SystemExit:  # so mypyc ends after printing what it found
        return pure("mypyc rejected the sources", "see its messages above")
    except Exception as error:
        return pure(f"mypyc failed ({one_line(error)})", "see `requires` in pyproject.toml for its version")
    from mypy.version import __version__ as mypyc

    outcome = f"compiled by mypyc {mypyc}, kernels with -O{opt_level}"
    extensions = [one for one in extensions if one.name == LIBRARY]     # not those that only call into it: _kernels/compiled.py
    if os.name == "posix":  # else the import looks up 30,000 names of its own, and calls go by way of a table
        for extension in extensions:
            extension.extra_compile_args += ["-fvisibility=hidden", *LEAN]
            if by_gcc() and "RETROGRAD_OPT_LEVEL" not in os.environ:
                extension.extra_compile_args += QUICK
            extension.extra_link_args += STRIP + PACK
    return [*extensions, *kernels()]


def by_gcc() -> bool:
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "").split()
    return sys.platform == "linux" and "gcc" in Path(compiler[0] if compiler else "").name


def compiled_files(source: Path) -> list[Path]:
    return [path for pattern in COMPILED for path in sorted((source / "retrograd").glob(pattern)) if path.name != "__init__.py"]


class Kept:
    """What mypyc made of the same files before: an edit of a kernel does not wait for it."""

    FILE = Path("build", "mypyc.json")
    PARTS = ("name", "sources", "include_dirs", "depends", "extra_compile_args")

    def __init__(self, files: list[str]) -> None:
        from mypy.version import __version__ as mypyc

        key = hashlib.sha256(f"{sys.version} {mypyc} {opt_level}".encode())
        for name in ["pyproject.toml", "setup.py", *files]:
            key.update(name.encode() + Path(name).read_bytes())
        self.key = key.hexdigest()

    def extensions(self) -> list[Extension]:
        """None of them where the files or their results are others."""
        found = json.loads(self.FILE.read_text("utf-8")) if self.FILE.exists() else {}
        made = [Extension(**parts) for parts in found.get(self.key, [])]
        if made and all(os.path.exists(source) for one in made for source in one.sources):
            return made
        self.FILE.unlink(missing_ok=True)  # mypyc is about to write over them
        return []

    def keep(self, made: list[Extension]) -> list[Extension]:
        self.FILE.parent.mkdir(exist_ok=True)
        self.FILE.write_text(json.dumps({self.key: [{part: getattr(one, part) for part in self.PARTS} for one in made]}), "utf-8")
        return made


def kernels() -> list[Extension]:
    """The C of `_kernels`: `_fast` is one file, `_nn` all the others."""
    import numpy

    here = "src/retrograd/_kernels"
    rest = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / here).glob("*.c") if path.name != "_fast.c")
    headers = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / here).glob("*.h"))
    # Never -ffast-math: NaN must stay NaN, and it would flush denormal numbers in the whole process.
    vectors = ["-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
    common: dict[str, Any] = {"include_dirs": [numpy.get_include()], "depends": headers}
    optimise = [f"-O{opt_level}", "-g0", *LEAN] if os.name == "posix" else []
    if sanitize:        # of Python's flags -fwrapv would hide overflow
        optimise = [f"-fsanitize={sanitize}", "-O1", "-g1", "-fno-wrapv"]
        common["extra_link_args"] = optimise[:1]
    return [
        Extension("retrograd._kernels._fast", [f"{here}/_fast.c"], extra_compile_args=optimise, **common),
        Extension(
            "retrograd._kernels._nn", rest, extra_compile_args=optimise + vectors if optimise else [],
            libraries=["m", "pthread"] if optimise else [], **common,
        ),
    ]


def pure(reason: str, advice: str = "unset it") -> list[Extension]:
    global outcome
    if require_compiled:
        raise SystemExit(f"retrograd: not compiled, and RETROGRAD_REQUIRE_COMPILED=1: {reason}")
    outcome = f"pure: {reason}"
    print(
        f"\nretrograd: installing the pure Python build: {reason}.\n"
        f"retrograd: it gives the same results, slower. To have it compiled: {advice}, then reinstall.\n",
        file=sys.stderr,
        flush=True,
    )
    return []


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def try_compiler() -> None:
    """Compile a file that includes Python.h, with the compiler that build_ext will use.  PACK goes if its linker lacks that."""
    from distutils.ccompiler import new_compiler  # setuptools' own copy
    from distutils.sysconfig import customize_compiler

    compiler: Any = new_compiler()
    customize_compiler(compiler)
    include = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <Python.h>\n", encoding="utf-8")
        objects = compiler.compile([str(source)], output_dir=folder, include_dirs=include)
        try:
            if PACK:
                compiler.link_shared_object(objects, str(Path(folder) / "probe.so"), extra_postargs=PACK)
        except Exception:
            PACK.clear()


class Record(build_py):
    """Write the outcome into the package, for `retrograd doctor`; leave nothing of an earlier build in it."""

    def run(self) -> None:
        if not self.editable_mode:
            for package in (ROOT / "src").iterdir():
                shutil.rmtree(Path(self.build_lib) / package.name, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            twice(self.build_lib)
            if outcome:
                record(self.build_lib)


def twice(build_lib: str) -> None:
    """Where there is a stub package, Pyright looks for all stubs there, Jedi always beside the source."""
    folder = Path(build_lib) / "retrograd-stubs" / "_typing"
    folder.mkdir(parents=True, exist_ok=True)
    for stub in (Path(build_lib) / "retrograd" / "_typing").glob("*.pyi"):
        shutil.copy2(stub, folder)


def sources_as_stubs(build_lib: str) -> None:
    """The sources of compiled code, which only editors and type checkers read: pip makes no bytecode of stubs, 2 MB."""
    for path in compiled_files(Path(build_lib)):
        stub = Path(build_lib, "retrograd-stubs", path.relative_to(Path(build_lib, "retrograd"))).with_suffix(".pyi")
        stub.parent.mkdir(parents=True, exist_ok=True)
        path.replace(stub)


def record(build_lib: str) -> None:
    folder = Path(build_lib) / "retrograd"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_build.txt").write_text(outcome + "\n", encoding="utf-8")


class CompileOrFallBack(build_ext):
    def run(self) -> None:
        try:
            super().run()
        except (Exception, SystemExit) as error:
            # A half compiled package would mix both kinds of classes.
            for path in map(Path, self.get_outputs()):
                path.unlink(missing_ok=True)
            self.extensions = []
            print(error, file=sys.stderr)
            pure("the C compiler failed", "see its messages above (pip shows them with -v)")
            record(self.build_lib)
        if any(extension.name == LIBRARY for extension in self.extensions):
            sources_as_stubs(self.build_lib)

    def build_extensions(self) -> None:
        compiler: Any = self.compiler
        if compiler.compiler_type == "unix":
            compiler.compile = SideBySide(compiler)
        super().build_extensions()


class SideBySide:
    """A compiler's `compile` with several files at a time; it keeps objects whose input has not changed."""

    def __init__(self, compiler: Any) -> None:
        self.command = compiler.compiler_so
        self.original = compiler.compile
        self.jobs = int(os.environ.get("RETROGRAD_JOBS", "0")) or os.cpu_count() or 1

    def __call__(self, sources: list[str], **options: Any) -> list[str]:
        headers = hashlib.sha256()
        for header in sorted([*Path("build").glob("*.h"), *Path("src/retrograd/_kernels").glob("*.h")]):
            headers.update(header.read_bytes())
        arguments = f"{outcome} {self.command} {options} {sys.version}".encode()

        def compile_one(source: str) -> list[str]:
            key = hashlib.sha256(headers.digest() + arguments + Path(source).read_bytes()).hexdigest()
            kept = Path(options["output_dir"], Path(source).with_suffix(".key"))
            if kept.exists() and kept.read_text().startswith(key):
                objects = kept.read_text().split()[1:]
                if all(map(os.path.exists, objects)):
                    return objects
            objects = self.original([source], **options)
            kept.write_text(" ".join([key, *objects]))
            return objects

        with ThreadPoolExecutor(self.jobs) as pool:
            return [name for objects in pool.map(compile_one, sources) for name in objects]


main()
