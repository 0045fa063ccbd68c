"""Where retrograd.hub is written.

Written by `make generate`.
"""
from retrograd._packages.hub import (
    CHUNK as CHUNK,
    HASH_REGEX as HASH_REGEX,
    OLD_ZIP as OLD_ZIP,
    _Silent as _Silent,
    _dir as _dir,
    _get_torch_home as _get_torch_home,
    _only_file as _only_file,
    _tqdm as _tqdm,
    download_url_to_file as download_url_to_file,
    get_dir as get_dir,
    load as load,
    load_state_dict_from_url as load_state_dict_from_url,
    set_dir as set_dir,
)
