"""Where retrograd.func._batching.refused is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.refused import (
    ASKED as ASKED,
    BRANCH as BRANCH,
    DYNAMIC as DYNAMIC,
    ITEM as ITEM,
    RULES as RULES,
    SHAPE as SHAPE,
    TEXTS as TEXTS,
    _refusing as _refusing,
    asked as asked,
    made as made,
    printed as printed,
    shaped as shaped,
    stride as stride,
    whole as whole,
)
