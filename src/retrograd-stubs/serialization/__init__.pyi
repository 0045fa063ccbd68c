"""Where retrograd.serialization is written.

Written by `make generate`.
"""
from retrograd._packages.serialization import (
    DEFAULT_PROTOCOL as DEFAULT_PROTOCOL,
    LoadEndianness as LoadEndianness,
    MAP as MAP,
    MAP_LOCATION as MAP_LOCATION,
    SourceChangeWarning as SourceChangeWarning,
    add_safe_globals as add_safe_globals,
    check_module_version_greater_or_equal as check_module_version_greater_or_equal,
    clear_safe_globals as clear_safe_globals,
    default_restore_location as default_restore_location,
    get_crc32_options as get_crc32_options,
    get_default_load_endianness as get_default_load_endianness,
    get_safe_globals as get_safe_globals,
    get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint,
    load as load,
    location_tag as location_tag,
    mkdtemp as mkdtemp,
    normalize_storage_type as normalize_storage_type,
    safe_globals as safe_globals,
    save as save,
    validate_cuda_device as validate_cuda_device,
    validate_hpu_device as validate_hpu_device,
)
