"""What a new node takes over from the node that is being executed, while a graph is traced again."""
from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["annotate", "format_stack", "get_current_meta", "has_preserved_node_meta", "preserve_node_meta", "set_current_meta",
           "set_stack_trace"]
COPIED = ("nn_module_stack", "source_fn_stack", "original_aten", "recompute", "ac_graph_id", "from_node", "quantization_tag",
          "custom", "partitioner_tag", "torch_fn", "is_wrapped")
_meta: dict[str, Any] = {}
_preserving = False


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Within it, new nodes get what set_current_meta says."""
    global _preserving, _meta
    before = _preserving, _meta
    _preserving, _meta = enable, dict(_meta)
    try:
        yield
    finally:
        _preserving, _meta = before


def has_preserved_node_meta() -> bool:
    """Is a preserve_node_meta() on?"""
    return _preserving


def get_current_meta() -> dict[str, Any]:
    """What new nodes get."""
    return _meta


@contextmanager
def set_current_meta(node: Any, pass_name: str = "") -> Iterator[None]:
    """Within it, new nodes get what `node` has, if preserve_node_meta() is on."""
    global _meta
    before = _meta
    if _preserving and node.meta:
        _meta = node.meta.copy()
    try:
        yield
    finally:
        _meta = before


def set_stack_trace(stack: list[str]) -> None:
    """New nodes come from there, if preserve_node_meta() is on."""
    if _preserving and stack:
        _meta["stack_trace"] = "".join(stack)


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Within it, new nodes have these entries in meta["custom"], if preserve_node_meta() is on."""
    before = _meta.get("custom")
    _meta["custom"] = {**(before or {}), **annotation_dict}
    try:
        yield
    finally:
        if before is None:
            _meta.pop("custom", None)
        else:
            _meta["custom"] = before


def format_stack() -> list[str]:
    """Where new nodes come from: the node that is executed, else the running program."""
    if _preserving:
        return [_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])
