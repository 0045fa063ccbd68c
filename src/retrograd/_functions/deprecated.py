"""Orders of arguments that PyTorch has deprecated and takes with a warning: the numbers first, add_(alpha, other)."""
from __future__ import annotations

from typing import Any

from .._engine.warn import warn

NUMBERS = {name: numbers for names, numbers in {
    "add sub": ("alpha",), "addcmul addcdiv": ("value",), "addmm addmv addr addbmm baddbmm": ("beta", "alpha")}.items()
    for name in names.split()}
WARNING = ("This overload of {0} is deprecated:\n\t{0}{1}\nConsider using one of the following signatures instead:\n{2}")
warned = False


def older(name: str, text: str) -> list[str]:
    """The deprecated overloads of a function, from its own first one (see forms); [] when it has none."""
    numbers = NUMBERS.get(name.removesuffix("_"), ())
    if not numbers:
        return []
    left, _, right = text.partition(" | ")[0].partition(", *, ")
    tensors = left.split(", ")
    first = tensors[:1] if tensors[0] == "Tensor input" else []
    others, out = tensors[len(first):], ["*", "Tensor out=None"] if right.endswith("out=None") else []
    scalars = [f"Scalar {n}" for n in numbers]
    made = [[*first, *scalars, *others]]
    if len(scalars) == 2:
        made = [[scalars[0], *first, scalars[1], *others], [scalars[0], *first, *others]]
    return [", ".join([*params, *out]) for params in made]


def reordered(name: str, form: Any, forms: list[Any], args: Any, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments in a deprecated order, which `form` took, as today's function takes them; warns once in a process."""
    global warned
    if not warned:
        warned = True
        today = "\n".join(f"\t{name}{f}" for f in forms)
        warn(WARNING.format(name, form, today))
    numbers = NUMBERS[name.removesuffix("_")]
    names = [p.name for p in form.params[:len(args)]]
    left = [v for n, v in zip(names, args, strict=True) if n not in numbers]
    return left, {**kwargs, **{n: v for n, v in zip(names, args, strict=True) if n in numbers}}
