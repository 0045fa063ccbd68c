"""Every place where a program prints something else on retrograd than on PyTorch, and why. See harness.Deviation."""

from __future__ import annotations

from conformance.harness import Deviation

DEVIATIONS: tuple[Deviation, ...] = ()
