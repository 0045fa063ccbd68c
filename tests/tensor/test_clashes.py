"""A subclass of Tensor may give the engine's words a meaning of its own."""

from __future__ import annotations

from typing import Any

import pytest
from both_engines import both

from retrograd._tensor.clashes import OWN


@both
@pytest.mark.parametrize("word", OWN)
@pytest.mark.parametrize("how", ["property", "value", "method", "mixin"])
def test_a_subclass_may_use_any_word(torch: Any, word: str, how: str) -> None:
    class Mixin:
        pass

    body: dict[str, Any] = {
        "property": property(lambda self: self.detach().tolist(), lambda self, value: self.copy_(torch.as_tensor(value))),
        "value": "mine", "method": lambda self: "called", "mixin": "mixed"}
    kind = body[how]
    if how == "mixin":
        setattr(Mixin, word, kind)
    cls = type("Named", (Mixin, torch.Tensor), {} if how == "mixin" else {word: kind})
    x = torch.tensor([1.0, 2.0]).as_subclass(cls)
    y = (x * 2).requires_grad_()
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 8.0] and type(y) is cls
    y.detach()[0] = 5
    assert y.tolist() == [5.0, 4.0] and y.is_leaf and repr(y)
    if how == "property":
        setattr(x, word, [3.0, 4.0])
        assert x.tolist() == [3.0, 4.0] == getattr(x, word) and getattr(y, word) == [5.0, 4.0]
    elif how == "method":
        assert getattr(y, word)() == "called"
    else:
        assert getattr(y, word) == kind
        setattr(y, word, 3)
        assert getattr(y, word) == 3 and getattr(x, word) == kind and (y + 1).sum().item() == 11.0
    derived = torch.ones(2).as_subclass(type("Derived", (cls,), {}))
    assert (derived + 1).tolist() == [2.0, 2.0]
    assert how == "method" or getattr(derived, word) == ([1.0, 1.0] if how == "property" else kind)
