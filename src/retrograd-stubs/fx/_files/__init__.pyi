"""Where retrograd.fx._files is written.

Written by `make generate`.
"""
from retrograd._small_modules.fx._files import (
    NAMED as NAMED,
    dumps as dumps,
    found as found,
    loads as loads,
    name_of as name_of,
    read as read,
    written as written,
)
