"""Programs recorded three ways: models made before the recording, or inside it (as `retrograd trace` has them), or the recording
loaded from a file.  A test puts `Ways(...).record` in the place of `record`, and asks what it gives."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from retrograd.microscope import load, record
from retrograd.microscope.answers.why import Cause, hook_of, no_grad_of

WAYS = ("before", "inside", "loaded")


class Ways:
    """way   "inside": a recording begins with the `with` block of this, and ends with that of the program's record()"""

    def __init__(self, way: str, engine: str, folder: Any) -> None:
        self.way, self.engine, self.folder = way, engine, folder
        self.open: Any = None

    def __enter__(self) -> Ways:
        if self.way == "inside":
            self.open = record(engine=self.engine)
            self.rec = self.open.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.open is not None:
            self.open.__exit__(None, None, None)

    @contextmanager
    def record(self, *models: Any, **options: Any) -> Any:
        if self.open is None or options.keys() - {"engine"}:
            self.__exit__()
            self.open = None
            with record(*models, **options) as rec:
                yield Asked(rec, models, self)
            return
        try:
            yield Asked(self.rec, models, self)
        except BaseException as error:
            self.open.__exit__(type(error), error, None)
            raise
        else:
            self.__exit__()
        finally:
            self.open = None


class Asked:
    """A recording, asked in its way."""

    def __init__(self, rec: Any, models: Any, ways: Ways) -> None:
        self.rec, self.models, self.ways = rec, models, ways
        self._loaded: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loaded, name)

    @property
    def loaded(self) -> Any:
        if self.ways.way != "loaded":
            return self.rec
        if self._loaded is None:
            path = self.ways.folder / f"{id(self)}.trace"
            self.rec.save(path)
            self._loaded = load(path)
        return self._loaded

    def parameter(self, p: Any) -> Any:
        """Of a name, what the first model calls so."""
        return dict(self.models[0].named_parameters(remove_duplicate=False)).get(p, p) if isinstance(p, str) else p

    def why_none(self, p: Any) -> Cause:
        n = self.rec.number_of(p if self.ways.way == "loaded" and isinstance(p, str) else self.parameter(p))
        if self.ways.way != "loaded" or n is None:
            found: Cause = self.rec.why_none(self.parameter(p) if self.ways.way == "inside" else p)
            return found
        return no_grad_of(self.loaded, n, None)

    def why_not_fired(self, handle: Any) -> Cause:
        inner = getattr(handle, "handles", None)
        n = None if self.ways.way != "loaded" or inner == () else self.rec.live.hook_of(inner[0] if inner else handle)
        if n is None:
            found: Cause = self.rec.why_not_fired(handle)
            return found
        return hook_of(self.loaded, n)
