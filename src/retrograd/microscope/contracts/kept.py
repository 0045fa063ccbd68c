"""Contract: what is kept of a backward pass, and its file, JSON of a few bytes a parameter and hook."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ..arguments import FilePath, checked
from ..plain_text import escaped

FORMAT, VERSION = "retrograd-gradient-contract", 1
LARGEST, ROWS, TEXT = 1 << 26, 1 << 20, 1000    # bytes of a file, rows of a table, letters of a name
DIGITS = 7


class ContractError(ValueError):
    """The file is not a contract, is damaged, or of another version."""


class Gradient(NamedTuple):
    """A parameter's gradient: its norm is None where nobody measures it, as of sparse ones."""

    dtype: str
    norm: float | None


class Parameter(NamedTuple):
    """`why` is the code of why_none where there is no gradient; `norm` is that of its values."""

    shape: tuple[int, ...]
    dtype: str
    norm: float
    gradient: Gradient | None
    why: str | None


class Hook(NamedTuple):
    """A hook that fired."""

    name: str
    kind: str
    on: str
    changed: bool                               # did it change a gradient or an output?


class Silent(NamedTuple):
    """A hook that did not fire; `why` is the code of why_not_fired."""

    name: str
    kind: str
    on: str
    why: str


class Output(NamedTuple):
    """A tensor that the call of a module returned."""

    module: str
    shape: tuple[int, ...]
    dtype: str
    norm: float | None


class Contract:
    """What a backward pass did; made by contract() or load().

    parameters  {name: Parameter}, in the model's order
    hooks       each firing, in order
    silent      the hooks that did not fire
    outputs     what modules returned, in order
    loss        the loss of that pass
    engine      "retrograd" or "torch"
    seed        the seed of random numbers
    """

    def __init__(self, engine: str, seed: int, loss: float, parameters: dict[str, Parameter], hooks: list[Hook],
                 silent: list[Silent], outputs: list[Output]) -> None:
        self.engine, self.seed, self.loss = engine, seed, loss
        self.parameters, self.hooks, self.silent, self.outputs = parameters, hooks, silent, outputs
        self.causes: dict[Any, Any] = {}        # parameter or (name, kind, on) of a hook -> Cause, if taken in this process
        self.trouble: list[Any] = []            # findings

    @checked
    def save(self, path: FilePath) -> None:
        """Write it to a file, which is replaced when complete.

        path  of the file
        """
        from ...io.beside import write_beside
        norms = {name: p.gradient.norm for name, p in self.parameters.items() if p.gradient is not None}
        odd = [name for name, norm in norms.items() if norm is not None and not math.isfinite(norm)]
        if odd or self.loss is not None and not math.isfinite(self.loss):
            what = f"the gradient of {odd[0]}" if odd else "the loss"
            raise ContractError(f"{os.fsdecode(path)}: not written: {what} is NaN or inf, and nothing can be kept to that")
        text = self.text().encode()
        if len(text) > LARGEST:
            raise ContractError(f"{os.fsdecode(path)}: the contract has {len(text)} bytes, and files have up to {LARGEST}")
        write_beside(os.fsdecode(path), lambda file: file.write(text))

    @staticmethod
    @checked
    def load(path: FilePath) -> Contract:
        """Read a file that save() wrote.  ContractError if it is not one, is damaged, or has another version.

        path  of the file
        """
        return read(os.fsdecode(path))

    def differences(self, now: Contract, rtol: float = 1e-3) -> list[Any]:
        """How `now` differs, and why: a list of (kind, names, text).

        now   a Contract taken now
        rtol  relative tolerance of norms
        """
        from .differing import differences
        return differences(self, now, rtol)

    def text(self) -> str:
        """JSON with a line for each parameter, hook and output."""
        tables: dict[str, Any] = {"parameters": [(name, *p) for name, p in self.parameters.items()], "hooks": self.hooks,
                  "silent": self.silent, "outputs": self.outputs}
        head = {"format": FORMAT, "version": VERSION, "engine": self.engine, "seed": self.seed, "loss": number(self.loss)}
        parts = [f"{dumps(key)}: {dumps(value)}" for key, value in head.items()]
        for key, rows in tables.items():
            lines = ",\n  ".join(dumps(plain(row)) for row in rows)
            parts.append(f"{dumps(key)}: [\n  {lines}\n ]" if lines else f"{dumps(key)}: []")
        return "{\n " + ",\n ".join(parts) + "\n}\n"

    @escaped
    def __repr__(self) -> str:
        without = sum(p.gradient is None for p in self.parameters.values())
        return (f"<Contract of {self.engine}: {len(self.parameters)} parameters" + (f", {without} without a gradient" if without
                else "") + f", {len(self.hooks)} firings of hooks>")


def dumps(x: Any) -> str:
    return json.dumps(x, allow_nan=False)


def number(x: float | None) -> Any:
    """As JSON has it, to DIGITS digits: the last ones differ between processors."""
    return x if x is None else float(f"{x:.{DIGITS}g}") if math.isfinite(x) else repr(x)


def plain(row: Any) -> Any:
    return [plain(x) if isinstance(x, tuple) else number(x) if isinstance(x, float) else x for x in row]


# -- reading

def read(path: str) -> Contract:
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ContractError(f"{path}: more than {LARGEST} bytes: this is not a contract")
    try:
        found = json.loads(data, parse_constant=refused)
    except (ValueError, RecursionError):
        raise ContractError(f"{path}: not JSON: this is not a contract, or it is damaged or cut off") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ContractError(f"{path}: not a gradient contract (its \"format\" is not {FORMAT!r})")
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise ContractError(f"{path}: the version must be a number from 1, not {version!r:.40}")
    if version > VERSION:
        raise ContractError(f"{path}: written as version {version}; this retrograd reads up to {VERSION}: install a newer "
                            "one, or write the file again")
    try:
        parameters = {}
        for name, *rest in table(found, "parameters", (text, shape, text, size, gradient, optional(text))):
            if name in parameters:
                raise ValueError(f"'parameters' has {name!r:.60} twice")
            parameters[name] = Parameter(*rest)
            if (parameters[name].gradient is None) == (parameters[name].why is None):
                raise ValueError(f"'parameters': {name!r:.60} needs either a gradient or a cause")
        return Contract(
            text(found.get("engine")), whole(found.get("seed")), size(found.get("loss")), parameters,
            [Hook(*row) for row in table(found, "hooks", (text, text, text, truth))],
            [Silent(*row) for row in table(found, "silent", (text, text, text, text))],
            [Output(*row) for row in table(found, "outputs", (text, shape, text, optional(size)))])
    except ValueError as error:
        raise ContractError(f"{path}: {error}: it is damaged") from None


def refused(name: str) -> Any:
    raise ValueError(name)


def table(found: dict[str, Any], key: str, columns: tuple[Callable[[Any], Any], ...]) -> list[list[Any]]:
    rows = found.get(key)
    if not isinstance(rows, list) or len(rows) > ROWS or not all(isinstance(r, list) and len(r) == len(columns) for r in rows):
        raise ValueError(f"{key!r} must be a list of rows of {len(columns)}")
    try:
        return [[column(x) for column, x in zip(columns, row)] for row in rows]
    except ValueError as error:
        raise ValueError(f"{key!r}: {error}") from None


def text(x: Any) -> str:
    if not isinstance(x, str) or len(x) > TEXT:
        raise ValueError(f"expected a string of up to {TEXT} characters, not {x!r:.60}")
    return x


def truth(x: Any) -> bool:
    if type(x) is not bool:
        raise ValueError(f"expected true or false, not {x!r:.60}")
    return x


def whole(x: Any) -> int:
    if type(x) is not int or not -(1 << 63) <= x < 1 << 64:
        raise ValueError(f"expected an integer, not {x!r:.60}")
    return x


def size(x: Any) -> float:
    if x in ("nan", "inf", "-inf") or type(x) in (int, float) and math.isfinite(x):
        return float(x)
    raise ValueError(f"expected a number, not {x!r:.60}")


def shape(x: Any) -> tuple[int, ...]:
    if not isinstance(x, list) or len(x) > 64 or not all(type(n) is int and 0 <= n < 1 << 63 for n in x):
        raise ValueError(f"expected a shape, not {x!r:.60}")
    return tuple(x)


def gradient(x: Any) -> Gradient | None:
    if x is None:
        return None
    if not isinstance(x, list) or len(x) != 2:
        raise ValueError(f"expected a gradient's dtype and norm, not {x!r:.60}")
    return Gradient(text(x[0]), optional(size)(x[1]))


def optional(column: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: None if x is None else column(x)
