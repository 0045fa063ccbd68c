"""Where retrograd.export.exported_program is written.

Written by `make generate`.
"""
from retrograd._packages.export.exported_program import (
    ExportedProgram as ExportedProgram,
    Guard as Guard,
    SIGNS as SIGNS,
    _Checks as _Checks,
    _Replaced as _Replaced,
    _refuse as _refuse,
    bounds_of as bounds_of,
)
