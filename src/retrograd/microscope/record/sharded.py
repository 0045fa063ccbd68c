"""FSDP2 (fully_shard) in a recording: a parameter is a shard, a DTensor; while its module runs, another tensor is the whole.

Both are one parameter of the recording, under its name: ops and gradients of a pass are of the whole, .grad and steps of the
shard.  A note says which modules are sharded.  Ops that put the shards together are no events; the exchanges are.
"""
from __future__ import annotations

import sys
from functools import wraps
from typing import Any
from weakref import ref

from ..errors import OF_OLD
from .recorder import RecordingError


class Sharded:
    """What a tap does for modules that fully_shard has changed."""

    def __init__(self, tap: Any) -> None:
        self.tap = tap
        home = sys.modules.get("torch.distributed.fsdp")
        self.kind: Any = () if home is None else (home.FSDPModule, home.FullyShardedDataParallel)
        self.met: set[int] = set()
        groups = sys.modules.get("torch.distributed.fsdp._fully_shard._fsdp_param_group")
        self.group: Any = getattr(groups, "FSDPParamGroup", None)

    def plan(self, put: Any, seat: Any) -> None:
        """As TorchTap.plan, for what puts shards together."""
        for name in ("unshard", "wait_for_unshard"):
            put(self.group, name, silent(getattr(self.group, name), seat))

    def meet(self, module: Any) -> None:
        """Such a module is called: a hook after FSDP's own finds its parameters whole."""
        if not isinstance(module, self.kind[0]):
            raise RecordingError(f"record: {OF_OLD}")
        tap, number = self.tap, self.tap.recorder.module(self.tap, module)
        if number in self.met:
            return
        self.met.add(number)
        tap.exchanges.met(module)
        tap.recorder.note("sharded", tap.recorder.rec.modules[number]["path"])
        tap.mine = True
        try:
            tap.handles.append(module.register_forward_pre_hook(self.gathered))
        finally:
            tap.mine = False

    def gathered(self, module: Any, args: Any) -> None:
        recorder = self.tap.recorder
        if not recorder.on:
            return
        for inner in module.modules():
            for key, p in inner._parameters.items():
                if p is None or recorder.tensor_number(p) is not None:
                    continue
                path = recorder.rec.modules[recorder.module(self.tap, inner)]["path"]
                shard = recorder.rec.number_of(f"{path}.{key}" if path else key)
                if shard is not None:
                    recorder._ids[id(p)] = ref(p), shard


def silent(original: Any, seat: Any) -> Any:
    """Ops inside are no events."""
    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        its = seat.current
        if its is None or not its.tap.recorder.on:
            return original(*args, **kwargs)
        thread = its.tap.recorder.thread()
        thread.busy += 1
        try:
            return original(*args, **kwargs)
        finally:
            thread.busy -= 1

    return run
