"""torch.hub: state dicts from a URL, kept in PyTorch's own cache folder, and models of a folder that has a hubconf.py.

Repositories are not fetched, so list and help are not there.  https://pytorch.org/docs/stable/hub.html
"""
from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import uuid
import zipfile
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any
from urllib.parse import urlparse

from retrograd._engine.warn import warn
from retrograd._missing import late_names
from retrograd.io import pth

__all__ = ["download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir"]


class _Silent:
    """What stands for tqdm where that is not installed: it counts and shows nothing."""

    def __init__(self, total: Any = None, disable: bool = False, unit: Any = None, *args: Any, **kwargs: Any) -> None:
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n: int) -> None:
        self.n += n

    def close(self) -> None:
        pass

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return _Silent
    return tqdm


late_names(__name__, also={"tqdm": _tqdm})

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")            # of resnet18-5c106cde.pth: the first digits of its SHA-256
CHUNK = 1 << 17
OLD_ZIP = (
    "Falling back to the old format < 1.6. This support will be deprecated in favor of default zipfile format introduced in 1.6. "
    "Please redo torch.save() to save it in the new zipfile format.")
_dir: str | None = None


def _get_torch_home() -> str:
    """$TORCH_HOME, else $XDG_CACHE_HOME/torch, else ~/.cache/torch."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of downloads: what set_dir set, else `hub` in _get_torch_home()."""
    return _dir if _dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloads to d, for this process."""
    global _dir
    _dir = os.path.expanduser(d)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Fetch url into the file dst, which appears when it is whole.

    hash_prefix  what the SHA-256 of the contents, in hex, begins with: RuntimeError when it does not
    progress     taken, and not shown
    """
    from urllib.request import Request, urlopen

    dst = os.path.expanduser(dst)
    part = f"{dst}.{uuid.uuid4().hex}.partial"
    digest = hashlib.sha256()
    try:
        with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source, open(part, "xb") as file:
            while block := source.read(CHUNK):
                digest.update(block)
                file.write(block)
        found = digest.hexdigest()
        if hash_prefix is not None and not found.startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
        os.replace(part, dst)
    finally:
        if os.path.exists(part):
            os.remove(part)


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = False,
) -> Any:
    """torch.load of the file that url names; fetched when model_dir, by default get_dir()/checkpoints, does not have it.

    check_hash  the name ends in -HASH_REGEX.ext: compare when fetching, as download_url_to_file does
    file_name   its name in model_dir, else the one in url
    progress    accepted, and not shown; map_location, weights_only: as torch.load has them
    A zip of one file is unpacked beside it, and that file is loaded.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, file_name if file_name is not None else os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        match = HASH_REGEX.search(os.path.basename(path)) if check_hash else None
        download_url_to_file(url, path, match.group(1) if match else None, progress)
    member = _only_file(path)
    if member is not None:
        warn(OLD_ZIP, FutureWarning)
        with zipfile.ZipFile(path) as z:
            if os.path.normpath(member.filename) == os.path.basename(path):     # it would overwrite what is read
                return pth.load(io.BytesIO(z.read(member)), map_location=map_location, weights_only=weights_only)
            path = z.extract(member, folder)
    return pth.load(path, map_location=map_location, weights_only=weights_only)


def _only_file(path: str) -> zipfile.ZipInfo | None:
    """The file in a zip of one, in which state dicts were published before they were zips themselves; None for others."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as z:
        found = z.infolist()
    if len(found) != 1 or found[0].is_dir():
        return None
    name = os.path.normpath(found[0].filename)
    if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name):
        raise ValueError(f"Archive entry has absolute path: {found[0].filename}")
    if ".." in re.split(r"[/\\]", name):
        raise ValueError(f"Archive entry contains directory traversal: {found[0].filename}")
    return found[0]


def load(
    repo_or_dir: str, model: str, *args: Any, source: str = "github", trust_repo: Any = "check", force_reload: bool = False,
    verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:
    """What the function `model` of hubconf.py in the folder repo_or_dir gives for the arguments; source must be "local".

    trust_repo, force_reload, verbose and skip_validation are about fetching, and have no effect.

    https://pytorch.org/docs/stable/hub.html#torch.hub.load
    """
    if source.lower() not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source.lower()}". Allowed values: "github" | "local".')
    if source.lower() == "github":
        raise NotImplementedError(f"torch.hub.load: repositories are not fetched here; fetch {repo_or_dir}, and load it with "
                                  "source=\"local\"")
    sys.path.insert(0, repo_or_dir)
    try:
        spec = spec_from_file_location("hubconf.py", os.path.join(repo_or_dir, "hubconf.py"))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        if not isinstance(model, str):
            raise ValueError("Invalid input: model should be a string of function name")
        missing = [name for name in getattr(module, "dependencies", None) or () if find_spec(name) is None]
        if missing:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        entry = getattr(module, model, None)
        if not callable(entry):
            raise RuntimeError(f"Cannot find callable {model} in hubconf")
        return entry(*args, **kwargs)
    finally:
        sys.path.remove(repo_or_dir)
