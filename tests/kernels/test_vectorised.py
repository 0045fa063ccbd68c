"""The compiler vectorises the loops of `_nn`: read from the machine code, since no clock is steady enough to tell.

A kernel whose loop got a branch or a call of libm runs ten times slower with the same results.  So for each loop that is
compiled once per generation of x86-64 the inner loops that compute in wide vectors are counted, and must not become fewer
than packed_loops.txt says.  `python tests/kernels/test_vectorised.py` writes it, from the build that is imported.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from retrograd import _kernels

# Loops are split in other ways by other compilers and flags: the counts are of the compiler that the first line names, with
# setuptools' flags (-fwrapv moves some).
TABLE = Path(__file__).with_name("packed_loops.txt")
GENERATIONS = ("arch_x86_64_v3", "arch_x86_64_v4")
ARITHMETIC = re.compile(
    r"v(add|sub|mul|div|max|min|sqrt|cmp\w*|fn?m(add|sub)\d+|rcp14|rsqrt14|and|or|xor)p[sd] |"
    r"vp(add|sub|mul|min|max|cmp|and|or|xor|sll|srl|sra|cvt)\w* ")

# Loops without arithmetic in wide vectors, and why
SCALAR = {
    "floats_collect": "copies rows, by memcpy", "doubles_collect": "copies rows, by memcpy",
    "turn_blocks": "exchanges halves of vectors", "turn4_row": "copies", "turn8_row": "copies",
    "turn4_short": "copies", "turn8_short": "copies",
    "triangle4": "copies", "triangle8": "copies",
    "doubles_lgamma": "libm's, to its last bit",
    **{f"{kind}s_{name}": "64-bit indices are converted one by one"
       for kind in ("float", "double") for name in ("arange", "linspace")},
}  # fmt: skip

native = pytest.mark.skipif(_kernels.nn is None, reason="the pure build has no kernels")


@cache
def functions() -> dict[str, list[tuple[int, str]]]:
    """Each function of the extension: (address, instruction)."""
    program = shutil.which("objdump")
    if program is None:
        if os.environ.get("RETROGRAD_REQUIRE_OBJDUMP") == "1":
            pytest.fail("no objdump, and RETROGRAD_REQUIRE_OBJDUMP=1")
        pytest.skip("no objdump (Debian: binutils)")
    text = subprocess.run(
        [program, "-d", "--no-show-raw-insn", _kernels.nn.__file__], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[tuple[int, str]]] = {}
    body: list[tuple[int, str]] = []
    for line in text.splitlines():
        start = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if start:
            body = found.setdefault(start[1], [])
        elif "\t" in line:
            address, _, instruction = line.partition(":\t")
            body.append((int(address, 16), instruction + " "))
    if not any(name.endswith(GENERATIONS) for name in found):
        if compiler() == TABLE.read_text().partition("\n")[0]:
            pytest.fail("no loop has a version for each generation of x86-64, or the library's names are stripped")
        pytest.skip("this compiler makes one version of each loop")
    return found


def inner_loops(body: list[tuple[int, str]]) -> Iterator[list[str]]:
    """What lies between a jump back and its target, where no other such pair lies inside."""
    begin, end = body[0][0], body[-1][0]
    back = []
    for address, instruction in body:
        jump = re.match(r"j\w+ +([0-9a-f]+) ", instruction)
        if jump and begin <= int(jump[1], 16) <= address <= end:
            back.append((int(jump[1], 16), address))
    for first, last in back:
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in back):
            yield [text for address, text in body if first <= address <= last]


def is_packed(loop: list[str]) -> bool:
    return any(ARITHMETIC.match(text) and re.search("%[yz]mm", text) for text in loop)


def packed_loops() -> dict[str, int]:
    """For each loop and generation, how many of its inner loops compute in vectors of 256 bits or more."""
    return {
        name: sum(map(is_packed, inner_loops(body)))
        for name, body in sorted(functions().items()) if name.endswith(GENERATIONS)
    }


def compiler() -> str:
    """As the extension's file names it: "GCC 12"."""
    found = re.search(rb"GCC: \([^)]*\) (\d+)", Path(_kernels.nn.__file__).read_bytes())
    return f"GCC {found[1].decode()}" if found else "unknown"


@native
def test_no_loop_has_fewer_packed_loops_than_recorded() -> None:
    now = packed_loops()
    first, *lines = TABLE.read_text().splitlines()
    if compiler() != first:
        pytest.skip(f"recorded with {first}, not {compiler()}")
    recorded = {name: int(count) for name, count in map(str.split, lines)}
    fewer = {name: (now.get(name, 0), was) for name, was in recorded.items() if now.get(name, 0) < was}
    assert not fewer, f"(packed inner loops now, recorded): {fewer}"


@native
def test_every_loop_is_packed_or_says_why_not() -> None:
    scalar = {name.partition(".")[0] for name, count in packed_loops().items() if count == 0}
    assert scalar - set(SCALAR) == set(), "a branch or a call inside the loop?"


@native
@pytest.mark.parametrize(("name", "register", "sums"), [
    ("floats_v4_product", "zmm", 16), ("doubles_v4_product", "zmm", 16), ("floats_v3_product", "ymm", 12),
    ("doubles_v3_product", "ymm", 12)])  # fmt: skip
def test_tiles_stay_in_registers(name: str, register: str, sums: int) -> None:
    """The inner loop of the largest tile: one fused multiply-add for each of its sums, and nothing is stored."""
    loops = list(inner_loops(functions()[name]))
    counts = [(sum(f"%{register}" in t and t.startswith("vfm") for t in loop), loop) for loop in loops]
    most, loop = max(counts, key=lambda pair: pair[0])
    assert most == sums
    assert not [t for t in loop if re.match(r"vmov\w+ +%[yz]mm\d+,[^%]*\(", t)]


if __name__ == "__main__":
    TABLE.write_text(compiler() + "\n" + "".join(f"{name} {count}\n" for name, count in packed_loops().items()))
    sys.stdout.write(f"{TABLE}\n")
