"""`retrograd doctor`: which build this is and on what it runs."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any


def report() -> None:
    facts = list_facts()
    width = max(len(name) for name, _ in facts)
    for name, fact in facts:
        print(name.ljust(width + 2) + fact)


def list_facts() -> list[tuple[str, str]]:
    import numpy

    import retrograd

    return [
        ("retrograd", f"{retrograd.version.retrograd} ({Path(retrograd.__file__).parent})"),
        ("build", build()),
        ("Python", f"{platform.python_version()} {platform.python_implementation()} ({sys.executable})"),
        ("NumPy", numpy.__version__),
        ("BLAS", blas()),
        ("platform", f"{platform.platform()}, {os.cpu_count()} processors"),
        ("bfloat16", bfloat16()),
        ("PyTorch", version_of("torch") or "not installed (only comparisons need it)"),
    ]


def build() -> str:
    """'compiled ...' or 'pure: why; how to have it compiled'."""
    from importlib.resources import files

    written = files("retrograd") / "_build.txt"     # by setup.py; an editable install has none
    note = written.read_text(encoding="utf-8").strip() if written.is_file() else ""
    if is_compiled():
        return note if note.startswith("compiled") else "compiled"
    if note.startswith("pure"):
        return f"{note}; to compile it, change that and reinstall (pip install -v shows the build)"
    return "pure: a checkout or an editable install is never compiled; `pip install .` compiles"


def is_compiled() -> bool:
    from retrograd._engine import node

    return str(node.__file__).endswith((".so", ".pyd"))


def blas() -> str:
    """Name, version and threads: from threadpoolctl where it is installed, else what NumPy was built with."""
    import numpy

    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        config: Any = numpy.show_config(mode="dicts")
        built = config.get("Build Dependencies", {}).get("blas", {})
        return f"{built.get('name', 'unknown')} {built.get('version', '')} (threads: install threadpoolctl to see them)"
    pools = [
        f"{pool['internal_api']} {pool['version']}, {count(pool['num_threads'], 'thread')}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    return "; ".join(pools) or "unknown"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def bfloat16() -> str:
    found = version_of("ml_dtypes")
    return f"ml_dtypes {found}" if found else "no (pip install ml_dtypes)"


def version_of(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
