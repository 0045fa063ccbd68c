"""Where retrograd.cuda._types is written.

Written by `make generate`.
"""
from retrograd._small_modules.cuda._types import (
    DTYPE as DTYPE,
    HOME as HOME,
    KINDS as KINDS,
    LATE as LATE,
    kept as kept,
    refusing as refusing,
    stored as stored,
    tensortype as tensortype,
    typed as typed,
)
