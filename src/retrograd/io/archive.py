"""The zip archives that PyTorch's files are: members stored uncompressed, data aligned to 64 bytes.

Reading trusts nothing: a member is read only if its bytes lie inside the file and belong to no other member, so that
all members together are no larger than the file.
"""
from __future__ import annotations

import errno
import io
import os
import struct
import sys
import zlib
from typing import Any

import numpy as np

ALIGNMENT = 64
STORED = 0                                      # the compression method "none" of zip
CHUNK = 1 << 26                                 # bytes written at a time
CORRUPT = (
    "PytorchStreamReader failed reading zip archive: {}. This can happen if the checkpoint was not saved properly, was "
    "transferred incorrectly, or the file was modified after saving.")
OTHER_KINDS = {                                 # a member that only they have
    "constants.pkl": "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. retrograd does not "
                     "run TorchScript.",
    "archive_format": "PytorchStreamReader failed locating file data.pkl: file not found. The file is a program that "
                      "torch.export.save wrote in PyTorch, which retrograd does not read.",
}
_LOCAL = struct.Struct("<4s5H3L2H")             # local file header


def corrupt(what: str) -> RuntimeError:
    return RuntimeError(CORRUPT.format(what))


class Reader:
    """The members of an archive in a seekable binary file; RuntimeError for a damaged one.

    root   the folder that all members lie in
    """

    def __init__(self, file: Any, start: int = 0) -> None:
        import zipfile  # 10 ms that programs without files save
        self.file = file
        self.start = start
        file.seek(0, os.SEEK_END)
        self.size = file.tell()
        try:
            infos = zipfile.ZipFile(_From(file, start)).infolist()
        except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError, IndexError,
                OverflowError) as error:
            raise corrupt(f"failed finding central directory ({error})") from None
        if not infos:
            raise corrupt("it is empty")
        self.root = infos[0].filename.split("/")[0]
        for member, told in OTHER_KINDS.items():                    # before their members are looked at: some are compressed
            if any(info.filename == f"{self.root}/{member}" for info in infos):
                raise RuntimeError(told)
        self.members: dict[str, tuple[int, int, int]] = {}         # name in root: place of the data, size, crc
        end = 0
        for info in sorted(infos, key=lambda i: i.header_offset):
            name = info.filename
            if info.header_offset < end:
                raise corrupt(f"{name!r} overlaps another member")
            place = self._data(info)
            end = place - start + info.file_size
            if end + start > self.size:
                raise corrupt(f"{name!r} goes beyond the end of the file")
            root, _, rest = name.partition("/")
            if root != self.root or rest in self.members:
                raise corrupt(f"{name!r} is {'there twice' if root == self.root else 'outside ' + repr(self.root)}")
            self.members[rest] = (place, info.file_size, info.CRC)

    def _data(self, info: Any) -> int:
        """Where the data of a member begin."""
        if not 0 <= info.header_offset < self.size:
            raise corrupt(f"{info.filename!r} goes beyond the end of the file")
        if info.compress_type != STORED or info.compress_size != info.file_size:
            raise corrupt(f"{info.filename!r} is compressed, which PyTorch's files are not; unpack and zip it with -0")
        if info.flag_bits & 1:
            raise corrupt(f"{info.filename!r} is encrypted")
        self.file.seek(self.start + info.header_offset)
        header = self.file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
            raise corrupt(f"{info.filename!r} has no header")
        fields = _LOCAL.unpack(header)
        return int(self.start + info.header_offset + _LOCAL.size + fields[-2] + fields[-1])

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def find(self, name: str) -> tuple[int, int, int]:
        """Place, size, checksum."""
        found = self.members.get(name)
        if found is None:
            raise corrupt(f"file not found: {self.root}/{name}")
        return found

    def read(self, name: str) -> bytes:
        """A member's bytes."""
        return self.array(name).tobytes()

    def array(self, name: str) -> Any:
        """A member's bytes in an array of their own."""
        place, size, crc = self.find(name)
        out: Any = np.empty(size, np.uint8)
        self.file.seek(place)
        view = memoryview(out)
        done = 0
        while done < size:
            if hasattr(self.file, "readinto"):
                n = self.file.readinto(view[done:])
            else:
                piece = self.file.read(size - done)
                n = len(piece)
                view[done:done + n] = piece
            if not n:
                raise corrupt(f"the file ends within {self.root}/{name}")
            done += n
        if zlib.crc32(out) != crc:
            raise corrupt(f"the checksum of {self.root}/{name} is wrong")
        return out


class _From:
    """A file from `start` on, for zipfile, which must not close it."""

    def __init__(self, file: Any, start: int) -> None:
        self.file = file
        self.start = start

    def seek(self, at: int, whence: int = 0) -> int:
        if whence == 0 and at < 0:
            raise ValueError("negative seek position")
        return int(self.file.seek(at + self.start if whence == 0 else at, whence)) - self.start

    def tell(self) -> int:
        return int(self.file.tell()) - self.start

    def seekable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        found: bytes = self.file.read(n)
        return found


class Writer:
    """Writes an archive's members one after the other to a file that can only be written.

    To be used in a `with` statement: an exception leaves the archive without its directory.
    """

    def __init__(self, file: Any, root: str) -> None:
        import zipfile
        self.file = _Counted(file)
        self.root = root
        self.info = zipfile.ZipInfo
        counted: Any = self.file
        self.zip: Any = zipfile.ZipFile(counted, "w", STORED, allowZip64=True)

    def add(self, name: str, data: Any) -> None:
        """A member from bytes or an array of bytes."""
        view = memoryview(data).cast("B")
        info = self.info(f"{self.root}/{name}", (1980, 1, 1, 0, 0, 0))
        info.file_size = view.nbytes
        long = view.nbytes > 1 << 30
        head = self.file.at + _LOCAL.size + len(info.filename.encode()) + (20 if long else 0) + 4
        pad = -head % ALIGNMENT
        info.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
        with self.zip.open(info, "w", force_zip64=long) as out:
            for i in range(0, view.nbytes, CHUNK):
                out.write(view[i:i + CHUNK])

    def close(self) -> None:
        """Write the directory; without it the archive is none."""
        self.zip.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self.zip.fp = None                  # else it would write when it dies


class _Counted:
    """A file that knows how much was written to it, and cannot seek: nothing already written changes."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.at = 0

    def write(self, data: Any) -> int:
        n = len(data)
        done = 0
        while done < n:                         # an unbuffered file may take less than it is given
            took = self.file.write(data[done:] if done else data)
            if took is None and isinstance(self.file, io.RawIOBase):
                raise BlockingIOError(errno.EAGAIN, "write could not complete without blocking", self.at)
            if took == 0:
                raise OSError(errno.EIO, f"{type(self.file).__name__}.write took none of {n - done} bytes")
            took = n - done if took is None else took
            done += took
            self.at += took
        return n

    def tell(self) -> int:
        return self.at

    def seek(self, at: int, whence: int = 0) -> int:
        raise OSError("not seekable")

    def flush(self) -> None:
        if hasattr(self.file, "flush"):
            self.file.flush()


def order_of(reader: Reader) -> str:
    """"little" or "big": the byte order of the storages."""
    if "byteorder" not in reader:
        return "little"
    found = reader.read("byteorder").decode("ascii", "replace").strip()
    if found not in ("little", "big"):
        raise ValueError("Unknown endianness type: " + found)
    return found


def check_version(reader: Reader) -> None:
    """RuntimeError, as PyTorch words it, for a file without the version of its format, or of another."""
    name = next((n for n in (".data/version", "version") if n in reader), "")
    if not name:
        raise RuntimeError("Expected hasRecord(\"version\") to be true, but got false.  (Could this error message be improved?  "
                           "If so, please report an enhancement request to PyTorch.)")
    text = reader.read(name).decode("ascii", "replace").strip()
    head = "[enforce fail at inline_container.cc:{}] . {}"
    if not text.isdigit():
        raise RuntimeError(head.format(215, f"Couldn't parse the version {text[:20]}"))
    version = int(text[:20])
    for line, wrong, bound in ((219, version < OLDEST, f"minimum supported version for reading is {OLDEST}"),
                               (230, version > NEWEST, f"maximum supported version for reading is {NEWEST}")):
        if wrong:
            raise RuntimeError(head.format(line, f"Attempted to read a PyTorch file with version {version}, but the {bound}."))


OLDEST, NEWEST = 1, 10                                          # versions of the format
NATIVE = sys.byteorder
