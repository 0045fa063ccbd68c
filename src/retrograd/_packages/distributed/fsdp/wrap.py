"""torch.distributed.fsdp.wrap: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "CustomPolicy ModuleWrapPolicy ",
    " _or_policy always_wrap_policy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy "
    "transformer_auto_wrap_policy wrap ")
