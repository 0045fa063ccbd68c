"""TorchScript's types as values."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd
from retrograd._tensor import script_types

I, N, S = ("torch.IntType.get()", "torch.NoneType.get()", "torch.StringType.get()")
MADE = [*(f"torch.{name}.get()" for name in script_types.SINGLE), f"torch.ListType({I})", f"torch.OptionalType({I})",
        f"torch.DictType({S}, torch.ListType({I}))", f"torch.TupleType([{I}, torch.TensorType.get()])", "torch.TupleType([])"]


@pytest.mark.oracle
@pytest.mark.parametrize("text", [
    *(form.format(made) for made in MADE for form in ("{}", "{}.kind()", "{}.annotation_str", "{}.str()", "{}.containedTypes()")),
    *(f"{made}.isSubtypeOf({other})" for made in MADE for other in (
        "torch.AnyType.get()", "torch.NumberType.get()", f"torch.OptionalType({I})", f"torch.ListType({I})")),
    f"{I} == torch.IntType.get()", f"torch.ListType({I}) == torch.ListType({I})", f"{I} == torch.SymIntType.get()",
    f"torch.ListType({I}).getElementType()", f"torch.DictType({S}, {I}).getKeyType()", f"torch.DictType({S}, {I}).getValueType()",
    f"torch.TupleType([{I}]).elements()", "torch.TensorType", f"isinstance({I}, torch.Type)", f"{N}.foo"])
def test_types_answer_as_pytorchs(text: str) -> None:
    def answer(engine: Any) -> str:
        try:
            return repr(eval(text, {"torch": engine})).replace("retrograd", "torch")
        except AttributeError:
            return "AttributeError"

    assert answer(retrograd) == answer(pytest.importorskip("torch")).replace("torch._C", "torch")


def test_types_cannot_be_made_of_nothing() -> None:
    with pytest.raises(TypeError, match="No constructor defined!"):
        retrograd.TensorType()
