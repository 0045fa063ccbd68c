"""Where retrograd.quasirandom is written.

Written by `make generate`.
"""
from retrograd._packages.quasirandom import (
    DEGREES as DEGREES,
    MAXBIT as MAXBIT,
    STORED as STORED,
    SobolEngine as SobolEngine,
    directions as directions,
)
