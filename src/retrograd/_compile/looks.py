"""Answers that Python branches on, as `if x.min() < 0`: each replay asks again, and is left where the answer is another one."""
from __future__ import annotations

from typing import Any, Final

from .._engine.tensor import wrap
from .callouts import CallOut, Left, final
from .values import Entry, Refused, Value
from .whole import holed, leaves, refilled

LOOKS: Final = ("Tensor.__bool__", "Tensor.__contains__", "Tensor.is_nonzero", "torch.is_nonzero", "Tensor.equal", "torch.equal",
                "Tensor.allclose", "torch.allclose")


class Look(CallOut):
    """Asks impl(*args), of arrays in the place of tensors, and compares the answer."""

    what = "a condition"
    unlike = " than in"
    passing = False

    def __init__(self, impl: Any, args: Any, kwargs: Any, was: bool, line: str) -> None:
        super().__init__({}, 0)
        at = {id(t): i for i, t in enumerate(tensors_of(args, kwargs))}
        self.impl, self.args, self.kwargs = impl, holed(args, at), holed(kwargs or {}, at)
        self.was, self.line = was, line

    def where(self) -> str:
        return self.line

    def __call__(self, of: Any, *arrays: Any) -> Any:
        tensors = [wrap(x) for x in arrays]
        if bool(self.impl(*refilled(self.args, tensors), **refilled(self.kwargs, tensors))) != self.was:
            raise Left("is another one", self)
        return ()


def tensors_of(args: Any, kwargs: Any) -> list[Any]:
    return list({id(t): t for t in leaves([args, kwargs or {}])}.values())


def looked(trace: Any, impl: Any, args: Any, kwargs: Any, out: Any) -> None:
    """The recorded call asked, and got `out`."""
    given: list[Value] = [trace.of(t.array) for t in tensors_of(args, kwargs)]
    if all([v.kind == "const" for v in given]):
        return
    if any([entry.fixed and final(entry) for entry in trace.entries]):
        raise Refused("Python looks at a tensor after an optimizer's step")
    look = Look(impl, args, kwargs, bool(out), trace.line())
    trace.add(Entry(look.what, look, [None, *given], [], "", True, look.line))
