"""torch._C.PyTorchFileReader: the records of a file that torch.save wrote."""
from __future__ import annotations

import zipfile
from typing import Any


class PyTorchFileReader:
    """The records of a zip file, by their names inside its one folder."""

    __module__ = "retrograd._C"

    def __init__(self, file: Any) -> None:
        """file: a path, or an open binary file"""
        try:
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
        self._names = {name.partition("/")[2]: name for name in self._zip.namelist()}

    def get_all_records(self) -> list[str]:
        """Their names."""
        return list(self._names)

    def has_record(self, name: str) -> bool:
        return name in self._names

    def get_record(self, name: str) -> bytes:
        """RuntimeError where there is none of that name."""
        if name not in self._names:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found.")
        return self._zip.read(self._names[name])

    def get_record_size(self, name: str) -> int:
        """Bytes."""
        return self._zip.getinfo(self._names[name]).file_size
