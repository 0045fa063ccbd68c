"""A note on an exception that a layer raised: which layer of the model, what it got, what it expects."""
from __future__ import annotations

from typing import Any

KINDS = (RuntimeError, ValueError, IndexError, TypeError)


def explain(error: Any, module: Any, args: tuple[Any, ...]) -> None:
    """Called by each module that `error` passes on its way out, innermost first.

    A layer says what it expects in `_misfit(*args)` -> text, or None when its input is fine.
    """
    if not isinstance(error, KINDS):
        return
    known = error.__dict__.get("_retrograd")
    if known is None:
        text = misfit(module, args)
        error._retrograd = [module, "", text]
        if text:
            error.add_note(note(module, "", text))
        return
    child, path, text = known
    if not text or child is module:
        return
    layer = path
    for name, found in module.named_modules():  # not only children: a ModuleList is not called
        if found is child:
            layer = f"{name}.{path}" if path else name
            break
    last = error.__notes__[-1]
    error.__notes__[-1] = last.replace(where(path), where(layer), 1)
    error._retrograd = [module, layer, text]


def misfit(module: Any, args: tuple[Any, ...]) -> str | None:
    try:
        found: str | None = module._misfit(*args)
        return found
    except Exception:
        return None


def note(module: Any, path: str, text: str) -> str:
    return f"{where(path)}{type(module).__name__}({module.extra_repr()}): {text}"


def where(path: str) -> str:
    return f"In layer {path}, " if path else "In layer "
