"""Anomaly mode: where a node was made, and NaN in what it returns."""
from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from .modes import modes, state
from .node import Node, Value, name_of
from .tensor import TensorBase

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
HINT = (
    "Error detected in {}. No forward pass information available. Enable detect anomaly during forward pass for more "
    "information."
)


def note(node: Node) -> None:
    """Keep the stack of the forward call in the node's metadata, and the node whose backward made this one."""
    import traceback  # a millisecond that `import retrograd` saves

    facts: dict[str, Any] = node.metadata
    frames = [f for f in traceback.extract_stack() if not ours(f.filename)]
    facts["traceback_"] = traceback.format_list(frames)
    task: Any = state().task
    if task is not None and task.running is not None:
        facts["parent_"] = task.running


def ours(path: str) -> bool:
    """Frames of this package and of the runner tell the user nothing."""
    return path.startswith(HOME) or path.startswith("<frozen") or path.endswith("runpy.py")


def report(node: Node) -> None:
    """Warn which forward call an error in `node` belongs to; under create_graph, also whose backward that call was."""
    found: Any = node
    first = True
    while found is not None:
        name = name_of(found)
        stack: Any = found.metadata.get("traceback_")
        if stack is None:
            text = HINT.format(name)
        elif first:
            text = f"Error detected in {name}. Traceback of forward call that caused the error:\n{''.join(stack)}"
        else:
            text = (
                f"\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced the previous "
                f"calculation:\n{''.join(stack)}")
        try:
            warnings.warn(text, UserWarning, stacklevel=2)
        except UserWarning:                     # where warnings are errors, the error is still the node's
            sys.stderr.write(f"UserWarning: {text}\n")
        found = found.metadata.get("parent_")
        first = False


def check(node: Node, outs: list[Value]) -> None:
    """RuntimeError when the node returned NaN."""
    if not modes.check_nan:
        return
    for i in range(len(outs)):
        g = outs[i]
        if g is None:
            continue
        array: Any = g.array if isinstance(g, TensorBase) else g
        if (array != array).any():
            raise RuntimeError(f"Function '{name_of(node)}' returned nan values in its {i}th output.")
