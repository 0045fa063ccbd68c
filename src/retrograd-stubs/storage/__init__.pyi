"""Where retrograd.storage is written.

Written by `make generate`.
"""
from retrograd._packages.storage import (
    LEGACY as LEGACY,
    REMOVED as REMOVED,
    STORAGES as STORAGES,
    TypedStorage as TypedStorage,
    UntypedStorage as UntypedStorage,
    _LegacyStorage as _LegacyStorage,
    _LegacyStorageMeta as _LegacyStorageMeta,
    _StorageBase as _StorageBase,
    _from_bytes as _from_bytes,
    converter as converter,
    cpu as cpu,
    is_storage as is_storage,
    of as of,
    raw as raw,
)
