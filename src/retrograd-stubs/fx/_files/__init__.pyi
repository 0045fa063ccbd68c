"""Where retrograd.fx._files is written.

Written by `make generate`.
"""
from retrograd._packages.fx._files import (
    ATTRIBUTES as ATTRIBUTES,
    BARRED as BARRED,
    NAMED as NAMED,
    OPERATORS as OPERATORS,
    dumps as dumps,
    found as found,
    identifier as identifier,
    loads as loads,
    name_of as name_of,
    read as read,
    target_of as target_of,
    tensor_path as tensor_path,
    unpacked as unpacked,
    written as written,
)
