"""torch.version: which PyTorch's behavior this is, and which retrograd.

`__version__` is PyTorch's release with ours as its local part, "2.13.0+retrograd.0.2.0": programs that ask whether PyTorch is
new enough get the answer that fits what they will find.
"""
from __future__ import annotations

import re
from typing import Any

PYTORCH = "2.13.0"
retrograd = "0.2.0"
cuda = hip = xpu = rocm = None
debug = False
git_version = "unknown"


class TorchVersion(str):
    """A version that compares as versions do, with strings and with tuples: torch.__version__ >= (2, 1)."""

    def _key(self, other: Any) -> tuple[tuple[list[int], str], tuple[list[int], str]]:
        both = []
        for v in (str(self), other):
            if isinstance(v, (tuple, list)):
                v = ".".join(map(str, v))
            if not isinstance(v, str):
                raise TypeError(f"a version is compared with a str or a tuple, not with {type(v).__name__}")
            public, _, local = v.partition("+")
            numbers = [int(n) for n in re.match(r"v?([\d.]*)", public)[1].split(".") if n]  # type: ignore[index]
            while numbers and not numbers[-1]:
                numbers.pop()
            both.append((numbers, local))
        return both[0], both[1]

    def __lt__(self, other: Any) -> bool:
        a, b = self._key(other)
        return a < b

    def __le__(self, other: Any) -> bool:
        a, b = self._key(other)
        return a <= b

    def __gt__(self, other: Any) -> bool:
        a, b = self._key(other)
        return a > b

    def __ge__(self, other: Any) -> bool:
        a, b = self._key(other)
        return a >= b

    def __eq__(self, other: object) -> bool:
        try:
            a, b = self._key(other)
        except TypeError:
            return False
        return a == b

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


__version__ = TorchVersion(f"{PYTORCH}+retrograd.{retrograd}")
