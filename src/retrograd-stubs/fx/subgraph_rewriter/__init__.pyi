"""Where retrograd.fx.subgraph_rewriter is written.

Written by `make generate`.
"""
from retrograd._packages.fx.subgraph_rewriter import (
    Match as Match,
    ReplacedPatterns as ReplacedPatterns,
    _attribute as _attribute,
    _graph_of as _graph_of,
    _replaced as _replaced,
    _take_attributes as _take_attributes,
    replace_pattern as replace_pattern,
    replace_pattern_with_filters as replace_pattern_with_filters,
)
