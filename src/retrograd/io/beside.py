"""Files that are replaced whole: what stood there stays until everything new is written.

NOTE [Names beside]: a new file has one of a few names in the folder, and its writer holds a lock on it (flock) until it is
renamed.  A name whose lock can be had belongs to a process that died: whoever saves next in the folder removes it.
"""
from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Any

try:
    import fcntl
except ImportError:                             # Windows
    fcntl = None  # type: ignore[assignment]

NAMES, PREFIX = 16, ".torch-save-"
NO_FOLDER = (errno.EACCES, errno.EPERM, errno.EROFS)


def write_beside(path: str, write: Callable[[Any], None]) -> None:
    """write(file) into a new file, which then takes the place of `path`: `path` is never half written.

    Links are followed; owner, mode and attributes stay.  Written to directly, as nothing can take their place: what is no
    regular file (/dev/null, a pipe), has other names (hard links), or another owner whom we cannot give files, and files
    in a folder where we cannot make any.
    """
    given, path, beside = path, os.path.realpath(path), ""
    try:
        known = None
        with suppress(FileNotFoundError):
            known = os.stat(path)
        if known is not None and not _may_write(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        if known is not None and (known.st_nlink > 1 or not stat.S_ISREG(known.st_mode)):
            return _directly(path, write)
        try:
            descriptor, beside = _open_beside(os.path.dirname(path))
        except OSError as error:
            if known is None or error.errno not in NO_FOLDER:
                raise
            return _directly(path, write)
        with open(descriptor, "wb") as file:
            if known is not None and not _take_after(path, known, beside):
                os.unlink(beside)
                return _directly(path, write)
            write(file)
            file.flush()
            os.fsync(descriptor)
            if fcntl is None:
                file.close()                    # Windows renames no open file
            os.replace(beside, path)            # before the lock is let go
    except BaseException as error:
        if beside:
            with suppress(OSError):
                os.unlink(beside)
        if isinstance(error, OSError) and error.errno and _is_ours(error.filename, path):
            raise both(type(error))(error.errno, error.strerror, given) from None      # the name the caller knows
        raise


def both(cls: type[OSError]) -> type[OSError]:
    """cls, caught as RuntimeError, too: that is what PyTorch raises for a file that cannot be written."""
    return cls if issubclass(cls, RuntimeError) else type(cls.__name__, (cls, RuntimeError), {"__module__": cls.__module__})


def _is_ours(name: Any, path: str) -> bool:
    return isinstance(name, str) and (name == path or os.path.basename(name).startswith(PREFIX))


def _directly(path: str, write: Callable[[Any], None]) -> None:
    with open(path, "wb") as file:
        write(file)


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _take_after(path: str, known: os.stat_result, beside: str) -> bool:
    """Give the new file owner, mode and attributes of the old one; whether the owner is the same."""
    made = os.stat(beside)
    if (made.st_uid, made.st_gid) != (known.st_uid, known.st_gid):
        try:
            os.chown(beside, known.st_uid, known.st_gid)
        except OSError:
            return False
    with suppress(OSError):                     # attributes that the file system will not copy
        shutil.copystat(path, beside)
    os.chmod(beside, stat.S_IMODE(known.st_mode))
    return True


def _open_beside(folder: str) -> tuple[int, str]:
    """A new file, locked, see NOTE [Names beside]: descriptor and name."""
    make = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    if fcntl is not None:
        for name in [n for n in (os.path.join(folder, f"{PREFIX}{i}.tmp") for i in range(NAMES)) if _free(n)]:
            with suppress(FileExistsError):
                descriptor = os.open(name, make, 0o666)
                with suppress(OSError):         # a file system without locks
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                if _is_at(descriptor, name):
                    return descriptor, name
                os.close(descriptor)            # somebody took it for a dead one before it was locked
    name = os.path.join(folder, f"{PREFIX}{os.urandom(8).hex()}.tmp")
    return os.open(name, make, 0o666), name


def _free(name: str) -> bool:
    """Whether there is no file of this name, after removing one of a dead process."""
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _is_at(descriptor, name):
            os.unlink(name)
            return True
    except OSError:
        pass                                    # its writer lives, or it is not ours to remove
    finally:
        os.close(descriptor)
    return False


def _is_at(descriptor: int, name: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False
