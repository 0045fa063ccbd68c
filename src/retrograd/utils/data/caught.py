"""An exception of a worker, raised again in the program: of its class, with the worker and its traceback as its text."""
from __future__ import annotations

import pickle
import sys
import traceback
from typing import Any, NoReturn


class Caught:
    """The exception being handled, as what another process can be given: class and text."""

    def __init__(self, worker: int) -> None:
        kind, value, trace = sys.exc_info()
        assert kind is not None
        text = "".join(traceback.format_exception(kind, value, trace))
        self.text = f"Caught {kind.__name__} in DataLoader worker process {worker}.\nOriginal {text}"
        self.kind = next(k for k in kind.__mro__ if _has_a_name(k))

    def again(self) -> NoReturn:
        """Raise it; RuntimeError where its class takes other arguments than a text."""
        kind: Any = self.kind
        if kind is KeyError:
            raise KeyError(_Text(self.text))
        if getattr(kind, "message", None):
            raise kind(message=self.text)
        try:
            error = kind(self.text)
        except Exception:
            raise RuntimeError(self.text) from None
        raise error


def _has_a_name(kind: type) -> bool:
    """Whether the other process can find the class: not so one made inside a function."""
    try:
        pickle.dumps(kind)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


class _Text(str):
    """A text that a KeyError, which shows the repr of its key, shows with its line breaks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
