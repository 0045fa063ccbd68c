"""What PyTorch's DTensors exchange (full_tensor, redistribute, norms of shards): ops that take tensors and a group's name.

They begin something and return the tensor that will hold its result; wait_tensor waits for that.  The op asks the recorder's
mode, which calls what stands in the op's place again: the inner call is not told a second time.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from .exchanges import size_of

# ops of torch.ops._c10d_functional, and the function of torch.distributed that does the same
OPS = {
    "all_reduce": "all_reduce", "all_reduce_coalesced": "all_reduce_coalesced", "broadcast": "broadcast",
    "all_gather_into_tensor": "all_gather_into_tensor", "all_gather_into_tensor_coalesced": "all_gather_coalesced",
    "reduce_scatter_tensor": "reduce_scatter_tensor", "reduce_scatter_tensor_coalesced": "reduce_scatter_tensor",
    "all_to_all_single": "all_to_all_single"}

inside = threading.local()                      # .one: this thread is in such an op


def plan(torch: Any, put: Callable[[Any, str, Any], None], seat: Any) -> None:
    """Put the recorder's functions in place of the ops."""
    ops, find = torch.ops._c10d_functional, torch._C._distributed_c10d._resolve_process_group

    def heard(op: str, tell: Callable[[Any, Any, Any, Any], Any]) -> None:
        original = getattr(ops, op)
        original.default                        # noqa: B018  # wraps() takes it along: callers ask for it

        @wraps(original)
        def run(*args: Any, **kwargs: Any) -> Any:
            tap = seat.current
            if tap is None or not tap.recorder.on or getattr(inside, "one", False):
                return original(*args, **kwargs)
            inside.one = True
            try:
                return tell(tap, original, args, kwargs)
            finally:
                inside.one = False

        put(ops, op, run)

    def begins(name: str) -> Callable[..., Any]:
        def tell(tap: Any, original: Any, args: Any, kwargs: Any) -> Any:
            group = find(args[-1]) if isinstance(args[-1], str) else args[-1]
            thread = tap.recorder.thread()
            thread.busy += 1                    # no event of its own: the numbers of its output are not there yet
            try:
                return tap.exchanges.begin(
                    lambda group: original(*args, **kwargs), name, group, written(name, args, group), (), {})
            finally:
                thread.busy -= 1

        return tell

    for op, name in OPS.items():
        if hasattr(ops, op):
            heard(op, begins(name))
    heard("wait_tensor", lambda tap, original, args, kwargs: tap.exchanges.wait(original, args[0], args[1:], kwargs))


def written(name: str, args: Any, group: Any) -> int:
    """The bytes of what it gives."""
    size = size_of(args)
    return size * group.size() if name.startswith("all_gather") else size // group.size() if name.startswith("reduce_s") else size
