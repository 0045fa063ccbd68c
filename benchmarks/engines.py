"""The engines that can be compared, and how each is asked for its version of a work."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.works import Missing, Task, Work

# Name on the command line -> the module that must be importable
MODULES = {
    "retrograd": "retrograd",
    "retrograd-compiled": "retrograd",
    "retrograd-verified": "retrograd",
    "torch": "torch",
    "torch-compiled": "torch",
    "numpy": "numpy",
    "jax": "jax",
    "jax-eager": "jax",
    "autograd": "autograd",
    "tinygrad": "tinygrad",
    "mygrad": "mygrad",
    "mygrad-unguarded": "mygrad",
}
DEFAULT = ("retrograd", "torch", "numpy", "jax", "autograd", "tinygrad", "mygrad")

POOLS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)  # fmt: skip


def thread_limits(threads: int) -> dict[str, str]:
    """Environment for a worker whose thread pools have that many threads."""
    return dict.fromkeys(POOLS, str(threads)) | {"JAX_PLATFORMS": "cpu"}


# glibc gives blocks over 128 KiB back to the system and faults them in again, or not, as the heap happens to lie
KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def installed(engine: str) -> bool:
    return importlib.util.find_spec(MODULES[engine]) is not None


def maker(engine: str) -> Callable[[Work], Task]:
    """Imports the engine, sets its threads (OMP_NUM_THREADS, else one), and returns what makes its Task of a Work.

    ImportError if it is absent.
    """
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    module = importlib.import_module(MODULES[engine])
    match engine:
        case "numpy":
            return lambda work: work.numpy()
        case "jax" | "jax-eager":
            return lambda work: work.jax(module, jit=engine == "jax")
        case "autograd":
            importlib.import_module("autograd.numpy")
            return lambda work: work.autograd(module)
        case "tinygrad":
            return lambda work: work.tinygrad(module)
        case "mygrad" | "mygrad-unguarded":
            importlib.import_module("mygrad.nnet.losses")
            if engine == "mygrad-unguarded":
                module.turn_memory_guarding_off()
            return lambda work: work.mygrad(module)
        case _:
            importlib.import_module(f"{MODULES[engine]}.nn.functional")
            if hasattr(module, "set_num_threads"):
                module.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
            how = {"retrograd-compiled": replayed, "retrograd-verified": compiled, "torch-compiled": compiled}.get(engine)
            return (lambda work: work.torch(module)) if how is None else (lambda work: how(module, work))


def replayed(torch: Any, work: Work) -> Task:
    """The work's step under torch.compile without Python. Missing, with the reason, where it is not replayed."""
    if work.slow:
        raise Missing("too long to be recorded")
    trial, task = work.torch(torch), work.torch(torch)
    first, step, base = [None if f is None else torch.compile(f, options={"python": "skip", "check": 0})
                         for f in (trial.step, task.step, task.base)]
    for _ in range(4):
        first()
    if not any(plan.used for plan in first.local.variants):
        raise Missing(f"{work.name} is not replayed: {'; '.join(first.reasons)}")
    return Task(step, task.check, base)


def compiled(torch: Any, work: Work) -> Task:
    """The work's step under torch.compile as it comes."""
    if work.slow:
        raise Missing("too long to be recorded")
    task = work.torch(torch)
    step, base = (None if f is None else torch.compile(f) for f in (task.step, task.base))

    def check() -> Any:
        found = task.check()
        for f in (step, base):
            for _ in range(0 if f is None else 40):     # ours times itself, and goes back to eager calls where they are faster
                f()
        return found

    return Task(step, check, base)


def describe(engine: str) -> dict[str, str]:
    """Versions, as far as they change speed. After `maker(engine)`."""
    try:
        release = version(MODULES[engine])
    except PackageNotFoundError:
        release = str(getattr(sys.modules[MODULES[engine]], "__version__", "unknown"))
    found = {"version": release, "python": platform.python_version()}
    if "numpy" in sys.modules:
        found["numpy"] = version("numpy")
        blas = sys.modules["numpy"].show_config(mode="dicts")["Build Dependencies"]["blas"]
        found["blas"] = f"{blas.get('name')} {blas.get('version')}"
    if MODULES[engine] == "retrograd":
        found["build"] = build()
    return found


def build() -> str:
    """-> "compiled" when the engine's modules are native, "pure" when they are Python"""
    files = [str(m.__file__) for name, m in sys.modules.items() if name.startswith("retrograd._engine.") and m.__file__]
    return "pure" if not files or any(f.endswith(".py") for f in files) else "compiled"
