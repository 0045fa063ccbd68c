"""torch.utils.collect_env: what to put in a report of a bug: `python -m retrograd.utils.collect_env`.

`retrograd doctor` says more of the build.
"""
from __future__ import annotations

import locale
import platform
import re
import subprocess
import sys
from importlib import metadata
from typing import NamedTuple

from .._missing import late_names
from ..version import __version__

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]
late_names(__name__)
RELEVANT = re.compile(r"torch|numpy|retrograd|ml_dtypes|safetensors|onnx|mypy", re.IGNORECASE)


class SystemEnv(NamedTuple):
    """What is known of a machine; None where nothing is."""

    torch_version: str
    is_debug_build: bool
    cuda_compiled_version: str | None
    gcc_version: str | None
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: bool
    cpu_info: str
    pip_packages: str


def compiler() -> str | None:
    try:
        return subprocess.run(["gcc", "--version"], capture_output=True, text=True, timeout=10).stdout.partition("\n")[0] or None
    except (OSError, subprocess.SubprocessError):
        return None


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding=locale.getpreferredencoding(False), errors="replace") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), platform.processor())
    except OSError:
        return platform.processor()


def packages() -> str:
    found = {f"{d.name}=={d.version}" for d in metadata.distributions() if d.name and RELEVANT.search(d.name)}
    return "\n".join(f"[pip3] {name}" for name in sorted(found, key=str.casefold))


def get_env_info() -> SystemEnv:
    """Of this process and machine."""
    return SystemEnv(
        __version__, False, None, compiler(), f"{platform.platform()} ({platform.machine()})", "-".join(platform.libc_ver()),
        f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)".replace("\n", ""), platform.platform(), False, processor(),
        packages())


def get_pretty_env_info() -> str:
    """The same as text."""
    it = get_env_info()
    return "\n".join([
        f"PyTorch version: {it.torch_version}", "Is debug build: False", "CUDA used to build PyTorch: None", "",
        f"OS: {it.os}", f"GCC version: {it.gcc_version or 'Could not collect'}", f"Libc version: {it.libc_version}", "",
        f"Python version: {it.python_version}", f"Python platform: {it.python_platform}", "Is CUDA available: False", "",
        "CPU:", it.cpu_info, "", "Versions of relevant libraries:", it.pip_packages])


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
