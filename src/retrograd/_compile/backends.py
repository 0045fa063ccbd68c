"""Names of PyTorch's compilers: each stands for the one that is here."""
from __future__ import annotations

from typing import Any

LISTED = ["cudagraphs", "inductor", "openxla", "tvm"]
MODES = ["default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"]
names = {*LISTED, "aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts", "eager", "eager_debug",
         "eager_noexcept", "openxla_eval", "pre_dispatch_eager", "ts"}
default: Any = "inductor"               # where torch.compile names none


def known(backend: Any) -> bool:
    return not isinstance(backend, str) or backend in names
