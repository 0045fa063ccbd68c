"""Where retrograd._library.nodes is written.

Written by `make generate`.
"""
from retrograd._packages._library.nodes import (
    NODES as NODES,
    OPERATORS as OPERATORS,
)
