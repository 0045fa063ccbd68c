"""Where the states of a training wait for the way back: in memory, or in a folder from which an interrupted run goes on."""
from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from ..errors import ReplayError
from .state import Snapshot

MARK = "metagradient.json"
FILE = re.compile(r"(state-\d+|loop-\d+|back)\.pt(\.part)?")


class Shelf:
    """In memory.  kept: the numbers of the steps whose states are there."""

    resumes = 0                                 # the step at which the training goes on

    def __init__(self) -> None:
        self.kept: dict[int, Any] = {}
        self.boundaries: dict[int, Snapshot] = {}

    def __setitem__(self, t: int, state: Snapshot) -> None:
        self.kept[t] = state

    def __getitem__(self, t: int) -> Snapshot:
        return self.kept[t]

    def __delitem__(self, t: int) -> None:
        del self.kept[t]

    def boundary(self, t: int) -> Snapshot | None:
        return self.boundaries.get(t)

    def put_boundary(self, t: int, state: Snapshot) -> None:
        self.boundaries[t] = state

    def progress(self) -> Any:
        """(step, cotangents, sums, growth) of an earlier way back, if there was one."""
        return None

    def put_progress(self, *_: Any) -> None:
        pass

    def end(self) -> None:
        """All is done."""


class Folder(Shelf):
    """In files, each whole or absent."""

    def __init__(self, torch: Any, path: Any, wrt: dict[str, Any]) -> None:
        super().__init__()
        self.torch, self.path = torch, Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(error.errno, f"metagradient: folder cannot be made ({error.strerror})", str(path)) from None
        said = {name: [str(x.dtype), list(x.shape), hashlib.sha256(x.detach().cpu().numpy().tobytes()).hexdigest()]
                for name, x in wrt.items()}
        mark = self.path / MARK
        if not mark.exists():
            its = self.files()
            if its:
                raise ReplayError(f"metagradient: {its[0]} is of no run that can go on; choose another folder")
        elif self.read(mark) != said:
            raise ReplayError(f"metagradient: {self.path} holds a run with different tensors in wrt; choose another folder")
        mark.write_text(json.dumps(said))
        for file in self.files():
            kind, _, number = file.stem.partition("-")
            if kind == "state":
                self.kept[int(number)] = None
            elif kind == "loop":
                self.boundaries[int(number)] = self.load(file.name)
        self.resumes = max(self.kept, default=0)

    def files(self) -> list[Path]:
        """Those that a run writes."""
        return sorted(file for file in self.path.iterdir() if FILE.fullmatch(file.name))

    def read(self, mark: Path) -> Any:
        try:
            return json.loads(mark.read_text())
        except ValueError:
            raise ReplayError(f"metagradient: {mark} is damaged; delete {self.path} to begin anew") from None

    def load(self, name: str) -> Any:
        try:
            return self.torch.load(self.path / name, weights_only=False)
        except Exception as error:
            raise ReplayError(
                f"metagradient: {self.path / name} is damaged ({error}); delete {self.path} to begin anew") from error

    def save(self, name: str, value: Any) -> None:
        part = self.path / f"{name}.part"
        self.torch.save(value, part)
        os.replace(part, self.path / name)

    def __setitem__(self, t: int, state: Snapshot) -> None:
        self.save(f"state-{t}.pt", state)
        self.kept[t] = None

    def __getitem__(self, t: int) -> Snapshot:
        return self.load(f"state-{t}.pt")

    def __delitem__(self, t: int) -> None:
        (self.path / f"state-{t}.pt").unlink()
        del self.kept[t]

    def put_boundary(self, t: int, state: Snapshot) -> None:
        super().put_boundary(t, state)
        self.save(f"loop-{t}.pt", state)

    def progress(self) -> Any:
        return self.load("back.pt") if (self.path / "back.pt").exists() else None

    def put_progress(self, *found: Any) -> None:
        self.save("back.pt", found)

    def end(self) -> None:
        for file in self.files():
            file.unlink()
        (self.path / MARK).unlink()
