"""Running a program on an engine, comparing what the statements gave, and making a program that differs smaller."""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Program = list[str]

# Relative to the largest number of a tensor: two units in the last place, and more where sums may go in another order.
# What passes through a narrower dtype has its digits.
TOLERANCE = {"torch.float16": 2e-3, "torch.bfloat16": 2e-2, "torch.float32": 2e-5, "torch.float64": 1e-10,
             "torch.complex64": 2e-5, "torch.complex128": 1e-10}


@dataclass
class Outcome:
    """What a statement gave: a text to compare as it is, numbers to compare nearly."""

    text: str
    numbers: list[float] = field(default_factory=list)
    tolerance: float = 0.0

    def agrees(self, other: Outcome, versions: bool = True) -> bool:
        texts = [x.text if versions else re.sub(r" v\d+$", "", x.text) for x in (self, other)]
        if texts[0] != texts[1] or len(self.numbers) != len(other.numbers):
            return False
        pairs = list(zip(self.numbers, other.numbers))
        finite = [max(abs(a), abs(b)) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
        allowed = self.tolerance * max(finite, default=0.0) + self.tolerance / 100    # sums that should be 0 are noise
        return all(a == b or (a != a and b != b) or abs(a - b) <= allowed for a, b in pairs)

    def __str__(self) -> str:
        return f"{self.text} {self.numbers}" if self.numbers else self.text


def run(program: Program, torch: Any) -> list[list[Outcome]]:
    """For each statement what it gave or raised; at last all variables, with gradients, since edits reach other tensors."""
    kept: list[Any] = []
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math, "log": [],
                             "nodes": nodes, "copies": copies, "apart": apart, "held": lambda x: kept.append(x) or x}
    given = set(names) | {"__builtins__", "__warningregistry__"}
    torch.default_generator.manual_seed(0)      # manual_seed notes a stack for each kind of GPU
    outcomes = []
    text = "\n".join(program).replace("torch.int64", "torch.float32")      # which functions of integers give
    least = max(allowed for dtype, allowed in {**TOLERANCE, "": 0.0}.items() if dtype in text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in program:
            outcomes.append(step(statement, names, torch))
        at_last = []
        for name in sorted(set(names) - given):
            at_last += described(name, names[name], torch, grad=True)
        outcomes.append([*at_last, *described("log", names["log"], torch)])
    for one in itertools.chain(*outcomes):
        one.tolerance = max(one.tolerance, least) if one.tolerance else 0.0
    return outcomes


def step(statement: str, names: dict[str, Any], torch: Any) -> list[Outcome]:
    tree = ast.parse(statement).body[0]
    try:
        if isinstance(tree, ast.Expr):
            return list(described("", eval(statement, names), torch))
        exec(statement, names)
    except Exception as error:
        return [Outcome(f"{type(error).__name__}: {first_sentence(str(error))}")]
    assigned = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [outcome for name in assigned if name in names for outcome in described(name, names[name], torch)]


def first_sentence(text: str) -> str:
    line = text.strip().split("\n")[0]
    return re.split(r"(?<=[a-z\])'\"])\. ", line)[0].rstrip(".")


def described(name: str, x: Any, torch: Any, grad: bool = False) -> Iterator[Outcome]:
    if isinstance(x, torch.Tensor):
        yield tensor(name, x)
        with contextlib.suppress(RuntimeError):                     # is_leaf raises as grad_fn does
            if not grad or not (x.is_leaf or x.retains_grad) or x.grad is None:
                return
            found = tensor(f"{name}.grad", x.grad)
            found.text = re.sub(r" v\d+$", "", found.text)      # how often it was written is an accident
            yield found
    elif isinstance(x, (tuple, list)):
        yield Outcome(f"{name}: {type(x).__name__} of {len(x)}")
        for number, part in enumerate(x):
            yield from described(f"{name}[{number}]", part, torch, grad)
    elif isinstance(x, dict):
        yield Outcome(f"{name}: keys {list(x)}")
        for key, part in x.items():
            yield from described(f"{name}[{key!r}]", part, torch, grad)
    elif isinstance(x, torch.nn.Module):
        yield Outcome(f"{name}: {type(x).__name__} {x.training}")
        for key, part in [*x.named_parameters(), *x.named_buffers()]:
            yield from described(f"{name}.{key}", part, torch, grad)
    elif isinstance(x, (bool, float)):
        yield Outcome(f"{name}: {type(x).__name__}", [float(x)], 1e-6)
    elif x is None or isinstance(x, (int, str, torch.dtype)):
        yield Outcome(f"{name}: {x!r}")
    else:
        yield Outcome(f"{name}: a {type(x).__name__}")


def nodes(x: Any) -> list[str]:
    """For programs: the names of the nodes that lead to x, in the order of a walk."""
    names, stack = [], [x.grad_fn]
    while stack and len(names) < 40:
        node = stack.pop()
        names.append(node and node.name())
        stack += [to for to, _ in node.next_functions] if node else []
    return names


def apart(x: Any, y: Any) -> bool:
    """For programs: does an edit of x by y read what it writes at most where it writes it?"""
    if not x.numel() or not y.numel():
        return True
    layouts = [[t.data_ptr(), *((n, s) for n, s in zip(t.shape, t.stride()) if n > 1)] for t in (x, y)]
    a, c = layouts[0][0], layouts[1][0]
    b, d = [start + (sum((n - 1) * s for n, s in dims) + 1) * t.element_size() for (start, *dims), t in zip(layouts, (x, y))]
    return bool(b <= c or d <= a or layouts[0] == layouts[1])


def copies(x: Any) -> Any:
    """For programs: gradients as they are now, whatever memory they lie in and whatever happens to it."""
    if x is None or not isinstance(x, (tuple, list)):
        return x if x is None else x.clone()
    return type(x)(copies(part) for part in x)


def tensor(name: str, x: Any) -> Outcome:
    """Looking at a tensor may raise, too: a view whose base was edited has no history."""
    try:
        return seen(name, x)
    except Exception as error:
        return Outcome(f"{name}: {type(error).__name__}: {first_sentence(str(error))}")


def seen(name: str, x: Any) -> Outcome:
    node = x.grad_fn.name() if x.grad_fn is not None else None
    text = f"{name}: {x.dtype} {tuple(x.shape)} grad={x.requires_grad} {node} leaf={x.is_leaf}"
    if x.is_complex() and ".grad" not in name:
        text += f" conj={x.is_conj()}"
    if not x.is_inference():
        text += f" v{x._version}"
    plain = x.detach()
    if x.is_complex():
        plain = torch_of(x).view_as_real(plain.resolve_conj())
    numbers = (plain.double() if plain.is_floating_point() else plain.int()).reshape(-1).tolist()
    return Outcome(text, [float(n) for n in numbers], TOLERANCE.get(str(x.dtype), 0.0))


def torch_of(x: Any) -> Any:
    return sys.modules[type(x).__module__.partition(".")[0]]


@dataclass
class Difference:
    """The first statement that gave different things (past the last one: the variables at the end)."""

    program: Program
    place: int
    ours: str
    theirs: str
    versions: bool = True       # were they compared

    def __str__(self) -> str:
        lines = [f"{'>' if i == self.place else ' '} {line}" for i, line in enumerate(self.program)]
        return "\n".join([*lines, f"  PyTorch:   {self.theirs}", f"  retrograd: {self.ours}"])


def difference(program: Program, ours: Any, theirs: Any, versions: bool = True) -> Difference | None:
    """versions=False: how often the layers edit their own tensors is not compared."""
    for place, (a, b) in enumerate(zip(run(program, ours), run(program, theirs))):
        if len(a) != len(b):
            return Difference(program, place, "; ".join(map(str, a)), "; ".join(map(str, b)), versions)
        for one, other in zip(a, b):
            if not one.agrees(other, versions):
                return Difference(program, place, str(one), str(other), versions)
    return None


def smaller(found: Difference, ours: Any, theirs: Any) -> Difference:
    """The same program without the statements that do not matter: those whose absence leaves the same kind of difference."""
    smallest = Difference([*found.program[: found.place + 1]], found.place, found.ours, found.theirs, found.versions)
    place = len(smallest.program) - 1
    while place >= 0:
        rest = smallest.program[:place] + smallest.program[place + 1 :]
        still = difference(rest, ours, theirs, found.versions)
        if still and kind(still) == kind(found):
            smallest = still
        place -= 1
    return smallest


def kind(found: Difference) -> tuple[str, str]:
    """Errors by class, results by being a result: enough that a smaller program shows the same fault."""

    def of(text: str) -> str:
        error = re.match(r"(\w*(?:Error|Exception|Warning)): ", text)
        return error.group(1) if error else "result"

    return of(found.ours), of(found.theirs)


def unknown(found: Difference, module: Any) -> bool:
    """Is it none of the module's KNOWN, nor one in numbers alone and of its DIGITS: (pattern, reason)?"""
    ours, theirs = (re.sub(r" v\d+$", "", text.partition(" [")[0]) for text in (found.ours, found.theirs))
    numbers = ours == theirs and " [" in found.ours and " [" in found.theirs
    known = [*module.KNOWN, *(getattr(module, "DIGITS", ()) if numbers else ())]
    return not any(re.search(pattern, str(found)) for pattern, _ in known)


Maker = Callable[[Any], Program]
