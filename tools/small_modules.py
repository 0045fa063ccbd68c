"""Writes those of src/retrograd/_small_modules that say there is no such device, or no other process."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

FOLDER = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_small_modules"
HEAD = '''"""{doc}

Written by `make generate` from the table in tools/small_modules.py.
"""
from __future__ import annotations

'''
OF_NONE = {"None": "", "int": "\n    return 0", "str": '\n    return ""'}    # after a call that raises
NO_XPU = 'raise AssertionError("Torch not compiled with XPU enabled") | there is no such device'
NO_MPS = 'raise RuntimeError("Cannot execute {}() without MPS backend.") | there is no such device'
NO_GPU = 'check_device("cuda") | AssertionError: there is no GPU'
NONE = 'raise RuntimeError("Cannot access accelerator device when none is available.") | there is no accelerator'
SEEDED = "| | Accepted, as PyTorch does on a machine without such a device"
NOTHING = "| | There is nothing to free"

# module: what it is; imports of its own; what late_names takes; a row for functions that are alike: names and signature |
# what they do, which is a value, a statement or nothing | why
TABLE = {
    "accelerator": ("torch.accelerator, for programs that ask before they use one: there is none.", "", "", f"""
        is_available() -> bool | False | tensors live on the CPU
        device_count() -> int | 0 |
        current_accelerator(check_available: bool = False) -> None | | None
        empty_cache current_device_idx current_device_index() -> Any | {NONE}
        set_device_idx set_device_index(device: Any, /) -> Any | {NONE}
        set_stream(stream: Any) -> Any | {NONE}
        current_stream synchronize(device: Any = None, /) -> Any | {NONE}
        max_memory_allocated max_memory_reserved memory_allocated memory_reserved(device_index: Any = None, /) -> Any | {NONE}
        memory_stats(device_index: Any = None, /) -> Any | {NONE}
        reset_accumulated_memory_stats reset_peak_memory_stats(device_index: Any = None, /) -> Any | {NONE}
    """),
    "cuda/__init__": ("torch.cuda, for programs that ask before they use it: there is none.", """
        from retrograd._tensor.dtypes import check_device
        from retrograd.cuda import _types

        if TYPE_CHECKING:
            from retrograd._small_modules.cuda import amp as amp

        _initialized = False                            # read by programs that put the generators of GPUs back
    """, ', lazy=("amp",), also=_types.LATE', f"""
        is_available() -> bool | False | tensors live on the CPU
        is_initialized() -> bool | False | there is nothing to initialise
        is_bf16_supported(including_emulation: bool = True) -> bool | False | there is no GPU
        device_count() -> int | 0 |
        manual_seed manual_seed_all(seed: Any) -> None {SEEDED}
        synchronize(device: Any = None) -> None | {NO_GPU}
        current_device() -> int | {NO_GPU}
        get_device_name(device: Any = None) -> str | {NO_GPU}
        set_device(device: Any) -> None | {NO_GPU}
        memory_allocated max_memory_allocated(device: Any = None) -> int | 0 |
        empty_cache() -> None {NOTHING}
        reset_peak_memory_stats(device: Any = None) -> None | | There is nothing to reset
    """),
    "mps": ("torch.mps, for programs that ask before they use it: there is none.", "", "", f"""
        is_available() -> bool | False | tensors live on the CPU
        device_count() -> int | 0 |
        manual_seed(seed: Any) -> None {SEEDED}
        synchronize() -> None | {NO_MPS.format("deviceSynchronize")}
        empty_cache() -> None | {NO_MPS.format("emptyCache")}
        current_allocated_memory() -> int | {NO_MPS.format("getCurrentAllocatedMemory")}
    """),
    "xpu": ("torch.xpu, for programs that ask before they use it: there is none.", "", "", f"""
        is_available() -> bool | False | tensors live on the CPU
        is_initialized() -> bool | False | there is nothing to initialise
        device_count() -> int | 0 |
        manual_seed manual_seed_all(seed: Any) -> None {SEEDED}
        empty_cache() -> None {NOTHING}
        memory_allocated(device: Any = None) -> int | 0 |
        synchronize(device: Any = None) -> None | {NO_XPU}
        current_device() -> int | {NO_XPU}
    """),
}


def files() -> dict[Path, str]:
    return {FOLDER / f"{name}.py": module(*row) for name, row in TABLE.items()}


def module(doc: str, imports: str, late: str, rows: str) -> str:
    made = {name: text for row in rows.strip().splitlines() for name, text in functions(row)}
    text = "".join(made.values())
    names = "" if late else "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(made)) + "]\n"
    typing = [name for name in ("TYPE_CHECKING", "Any") if name in imports + text]
    return HEAD.format(doc=doc) + f"from typing import {', '.join(typing)}\n\n" * bool(typing) + (
        f"from retrograd._missing import late_names\n{dedent(imports).lstrip()}\n{names}late_names(__name__{late})\n{text}")


def functions(row: str) -> list[tuple[str, str]]:
    names, signature, does, why = re.fullmatch(  # type: ignore[union-attr]
        r"\s*([\w ]+)(\(.*\) -> \w+) ?\| ?(.*?) ?\|(.*)", row).groups()
    why = why.strip()
    result = signature.rpartition(" ")[2]
    if does.startswith("raise "):
        doc, body = f"{does.split()[1].partition('(')[0]}: {why}.", does
    elif does.endswith(")"):
        doc, body = f"{why}.", does + OF_NONE[result]
    elif does:
        doc, body = f"{does}: {why}." if why else f"{does}.", f"return {does}"
    else:
        doc, body = f"{why}.", ""
    return [(name, f'\n\ndef {name}{signature}:\n    """{doc}"""\n' + f"    {body}\n" * bool(body)) for name in names.split()]
