"""Which parameters of public names are explained: by their own docstring, or by a line that several share.

Such a line is "name  text", with two blanks or more, in the docstring of the file that defines the function or class, of the
module that offers it, or of a package around that; the nearest counts.  The API's pages repeat it below each docstring.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import retrograd
from retrograd import _functions, nn
from tools.microscope_api import doc_of
from tools.public_names import PLACES, names

URL = re.compile(r"https?://\S+")
UNWRITTEN = {"self", "cls", "args", "orig_func", "more", "third"}     # more, third: of an older order of arguments
# The layers that have the same parameters as the functions of a file.
LAYERS = {f"retrograd._functions.{functions}": f"retrograd.nn.modules.{layers}" for functions, layers in {
    "activation": "dropout", "conv": "conv", "ctc": "loss", "distance": "loss", "embed": "sparse", "fractional": "pooling",
    "linear_loss": "loss", "loss": "loss", "loss_classes": "loss", "norms": "batchnorm", "pool": "pooling",
    "resize": "upsampling",
}.items()}
# Of families that few programs use: in torch and as methods they are told from their names alone.
SELDOM = set("ctc fractional gammas grid histograms linear_loss lowrank lu legacy reflections segments special spectra "
             "view_copies windows".split())
RARE = {name for name, (family, _) in (_functions.LATER | _functions.LATER_METHODS).items() if family in SELDOM}
# Made and called by us alone.
NOT_CALLED = {
    "CheckpointFunction.backward", "CheckpointFunction.forward", "Node.backward", "Node.late", "Node.push", "Node.visit",
    "ProcessGroup", "ProcessGroup.compare", "ProcessGroup.operation", "ProcessGroup.run", "ProcessGroup.start",
    "ProcessGroup.tell", "ProcessGroup.what", "Work",
}


def options(thing: Any) -> list[str]:
    """The parameters that a caller may write; of a Module's class those of forward, too."""
    if isinstance(thing, type) and issubclass(thing, enum.Enum):
        return []
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return []
    if isinstance(thing, type) and issubclass(thing, nn.Module):
        parameters += inspect.signature(thing.forward).parameters.values()
    return list(dict.fromkeys(
        p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name[0] != "_" and p.name not in UNWRITTEN))


def named(option: str, doc: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", URL.sub("", doc)) is not None


def doc(thing: Any) -> str:
    """A class's docstring is its own: an inherited one is about another.  "In place: name." leaves the rest to `name`."""
    if not isinstance(thing, type):
        found = inspect.getdoc(thing) or ""
        other = re.match(r"In place: (\w+)\.", found)
        return found + (f"\n{inspect.getdoc(getattr(retrograd.Tensor, other[1], None))}" if other else "")
    return f"{vars(thing).get('__doc__') or ''}\n{inspect.getdoc(vars(thing).get('__init__')) or ''}"


@cache
def lines(module: str) -> dict[str, str]:
    return {name: text for some, text in doc_of(sys.modules.get(module)).lines.items() for name in some}


def shared(thing: Any, place: str) -> dict[str, str]:
    """What is said of the parameters of `thing`, offered by `place`, elsewhere than in its docstring."""
    around = place.split(".")
    file = getattr(inspect.unwrap(thing), "__module__", None) or ""
    layers = ["retrograd.nn.functional", LAYERS[file]] if file in LAYERS else []
    homes = [*(".".join(around[:n + 1]) for n in range(len(around))), *layers, file]
    said = {name: text for home in homes for name, text in lines(home).items()}
    return {name: said[name] for name in options(thing) if name in said and not named(name, doc(thing))}


def callables(place: str) -> Iterator[tuple[str, Any]]:
    """What a place offers, and of its classes the methods that they define."""
    owner = PLACES[place]
    for name in names(place):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # deprecated names warn when they are looked at
            thing = getattr(owner, name)
        if inspect.isroutine(thing) or isinstance(thing, type):
            yield name, thing
        if isinstance(thing, type) and thing not in PLACES.values():
            for method, value in vars(thing).items():
                own = inspect.isroutine(value) and getattr(thing, method).__qualname__ == f"{thing.__qualname__}.{method}"
                if own and method[0] != "_" and not (method == "forward" and issubclass(thing, nn.Module)):
                    yield f"{name}.{method}", getattr(thing, method)


def unsaid(place: str) -> list[str]:
    """name(option) of each parameter that nothing explains."""
    return [f"{name}({option})" for name, thing in callables(place)
            if name not in NOT_CALLED and (name not in RARE or place not in ("retrograd", "retrograd.Tensor"))
            and inspect.getdoc(thing)
            for option in options(thing) if option not in shared(thing, place) and not named(option, doc(thing))]


if __name__ == "__main__":
    for where in sys.argv[1:] or PLACES:
        found = unsaid(where)
        print(f"{where}: {len(found)}")
        if sys.argv[1:]:
            print(*found, sep="\n")
