"""Where retrograd.serialization is written.

Written by `make generate`.
"""
from retrograd._small_modules.serialization import (
    DEFAULT_PROTOCOL as DEFAULT_PROTOCOL,
    MAP_LOCATION as MAP_LOCATION,
    add_safe_globals as add_safe_globals,
    clear_safe_globals as clear_safe_globals,
    get_safe_globals as get_safe_globals,
    load as load,
    safe_globals as safe_globals,
    save as save,
)
