"""torch.__config__: what this is built of, and how many threads it uses."""
from __future__ import annotations

import os

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The build, Python, NumPy and the libraries under it, a line each, as `retrograd doctor` has them."""
    from retrograd.cli.doctor import list_facts

    name, *facts = list_facts()
    return "\n".join([f"retrograd {name[1]}", *(f"  - {what}: {fact}" for what, fact in facts), ""])


def parallel_info() -> str:
    """How many threads matrix products, convolutions and recurrent layers use, and what says so."""
    from retrograd._kernels.threads import get_num_threads
    from retrograd._tensor.settings import get_num_interop_threads
    from retrograd.cli.doctor import blas

    lines = [
        "retrograd:", f"\ttorch.get_num_threads() : {get_num_threads()}",
        f"\ttorch.get_num_interop_threads() : {get_num_interop_threads()}", f"BLAS: {blas()}",
        f"os.cpu_count() : {os.cpu_count()}", "Environment variables:"]
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        lines.append(f"\t{name} : {os.environ.get(name, '[not set]')}")
    return "\n".join([*lines, ""])
