"""torch.serialization: save, load, and what load may build.  https://pytorch.org/docs/stable/notes/serialization.html"""
from __future__ import annotations

import pickletools
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from typing import Any, TypeAlias

from retrograd._missing import late_names
from retrograd._tensor import dtypes
from retrograd.io.pth import NAMES, add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

__all__ = ["LoadEndianness", "SourceChangeWarning", "add_safe_globals", "check_module_version_greater_or_equal",
           "clear_safe_globals", "default_restore_location", "get_crc32_options", "get_default_load_endianness",
           "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag", "mkdtemp", "normalize_storage_type",
           "safe_globals", "save", "validate_cuda_device", "validate_hpu_device"]
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | dtypes.device | str | dict[str, str] | None
DEFAULT_PROTOCOL = 2
late_names(__name__)
for _name in ("add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"):
    globals()[_name].__module__ = __name__      # as PyTorch has them


class SourceChangeWarning(Warning):
    """For programs that filter it: sources are not compared, so it never comes."""


class LoadEndianness(Enum):
    """Which byte order a file has that does not say so."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_load_endianness() -> LoadEndianness | None:
    """None: files that do not say so are in this machine's byte order."""
    return None


def get_crc32_options() -> bool:
    """True: save() writes a sum of each record."""
    return True


@contextmanager
def mkdtemp() -> Iterator[str]:
    """A new folder, which is removed at the end of the with block."""
    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def location_tag(storage: Any) -> str:
    """'cpu', or 'meta' of a storage without memory."""
    return "meta" if str(storage.device) == "meta" else "cpu"


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage, where location is the CPU.  RuntimeError for another."""
    if location == "cpu":
        return storage
    if location.startswith("cuda"):
        validate_cuda_device(location)
    raise RuntimeError(
        f"don't know how to restore data location of torch.storage.{type(storage).__name__} (tagged with {location})")


def validate_cuda_device(location: str) -> Any:
    """RuntimeError, whatever the location: there is none."""
    raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False." + MAP)


def validate_hpu_device(location: str) -> Any:
    """RuntimeError, whatever the location: there is none."""
    raise RuntimeError("The HPU device module is not registered." + MAP)


MAP = (" If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
       "storages to the CPU.")


def normalize_storage_type(storage_type: type) -> Any:
    """torch's storage class of the name of storage_type."""
    return getattr(import_module("retrograd"), storage_type.__name__)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True,
) -> bool:
    """Is the version of a module at least req_version_tuple?  What cannot be compared is a RuntimeError, or without
    error_if_malformed a warning."""
    try:
        parts = module.__version__.split(".")
        found: tuple[Any, ...] = tuple(type(part)(parts[i]) for i, part in enumerate(req_version_tuple))
        return found >= req_version_tuple
    except Exception as e:
        told = (f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with "
                f"tuple {req_version_tuple}")
        if error_if_malformed:
            raise RuntimeError(told) from e
        warnings.warn(told + ", but continuing assuming that requirement is met", stacklevel=2)
        return True


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names of classes and functions in the file f (or at its path) that load() refuses to build."""
    if not zipfile.is_zipfile(f):
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    with zipfile.ZipFile(f) as file:
        data = file.read(next(name for name in file.namelist() if name.endswith("/data.pkl")))
    names: set[str] = set()
    strings: list[str] = []
    for code, argument, _ in pickletools.genops(data):
        if code.name == "GLOBAL":
            names.add(str(argument).replace(" ", "."))
        elif code.name == "STACK_GLOBAL":
            names.add(".".join(strings[-2:]))
        elif isinstance(argument, str):
            strings.append(argument)
    added = {f"{item.__module__}.{item.__qualname__}" if not isinstance(item, tuple) else item[1] for item in get_safe_globals()}
    return sorted(names - added - set(NAMES))
