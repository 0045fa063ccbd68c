"""Marks of arguments that are a number or a list of numbers."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401, UP035  # programs import them from here

from retrograd._missing import late_names

late_names(__name__)


class _BroadcastingList:
    """BroadcastingListN[int]: an int, or N of them.  Only a compiler would read it."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1, BroadcastingList2, BroadcastingList3 = [_BroadcastingList() for _ in range(3)]
