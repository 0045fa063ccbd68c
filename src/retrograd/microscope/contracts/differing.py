"""What a contract and a later one differ in, told in sentences that name causes."""
from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..answers.compare import told
from ..answers.summary import short
from ..plain_text import printable
from .kept import Contract, Hook, Output

SHOWN = 8                                       # names in a sentence, sentences of a kind
NOISE = 32                                      # of a norm in units of the largest one's last place: sums that cancel out
LAST_PLACE = {"float64": 2.0 ** -52, "complex128": 2.0 ** -52, "float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}
ORDINARY = 2.0 ** -23


class Difference(NamedTuple):
    """kind: missing, new, shape, dtype, lost, gained, cause, norm, hook, silent, order or because; of what; a sentence."""

    kind: str
    names: tuple[str, ...]
    text: str


def differences(kept: Contract, now: Contract, rtol: float) -> list[Difference]:
    if not (math.isfinite(rtol) and rtol >= 0):
        raise ValueError(f"differences: rtol must be a number from 0, got {rtol!r}")
    sizes = list(norms(kept, now, rtol))
    found = [*of_parameters(kept, now), *cut(sizes), *cut(list(of_hooks(kept, now)))]
    return [Difference(d.kind, d.names, printable(d.text)) for d in (*found, *(because(kept, now, rtol) if sizes else ()))]


def cut(found: list[Difference]) -> list[Difference]:
    rest = found[SHOWN:]
    more = [Difference(rest[0].kind, tuple(n for d in rest for n in d.names), f"and {len(rest)} more")] if rest else []
    return found[:SHOWN] + more


def several(names: list[str]) -> str:
    """a, b and 3 more"""
    shown = ", ".join(names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


# -- parameters


def of_parameters(kept: Contract, now: Contract) -> Iterator[Difference]:
    """Of those with one cause, one sentence."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys((*kept.parameters, *now.parameters)):
        a, b = kept.parameters.get(name), now.parameters.get(name)
        if a is None or b is None:
            kind, text = ("missing", "not in the model any more") if b is None else (
                "new", "not in the contract: " + ("it gets a gradient" if b.gradient else "no gradient: " + why(now, name)))
            groups.setdefault((kind, text), []).append(name)
            continue
        if a.shape != b.shape:
            groups.setdefault(("shape", f"shape {b.shape}, was {a.shape}"), []).append(name)
        if a.dtype != b.dtype:
            groups.setdefault(("dtype", f"dtype {b.dtype}, was {a.dtype}"), []).append(name)
        elif a.gradient and b.gradient and a.gradient.dtype != b.gradient.dtype:
            groups.setdefault(("dtype", f"dtype of the gradient {b.gradient.dtype}, was {a.gradient.dtype}"), []).append(name)
        if a.gradient and not b.gradient:
            groups.setdefault(("lost", why(now, name)), []).append(name)
        elif b.gradient and not a.gradient:
            groups.setdefault(("gained", f"was {a.why}"), []).append(name)
        elif a.why != b.why:
            groups.setdefault(("cause", f"{why(now, name)}; was {a.why}"), []).append(name)
    for (kind, text), names in groups.items():
        one = len(names) == 1
        says = {"lost": " no longer get{s} a gradient", "gained": " get{s} a gradient",
                "cause": " get{s} no gradient for another reason"}.get(kind, "").format(s="s" if one else "")
        yield Difference(kind, tuple(names), f"{several(names)}{says}: {text}")


def why(now: Contract, what: Any) -> str:
    """code at file:line (what happened)"""
    cause = now.causes.get(what)
    if cause is None:                           # of a contract from a file
        return (now.parameters[what].why if isinstance(what, str) else None) or "unknown"
    place = f" at {short(cause.where)}" if cause.where else ""
    text = re.sub(rf"(?<![.\w]){re.escape(what)}(?![.\w])", "it", cause.text) if isinstance(what, str) else cause.text
    return f"{cause.code}{place} ({text})"


def norms(kept: Contract, now: Contract, rtol: float) -> Iterator[Difference]:
    """Gradients of other sizes."""
    both = [(name, a, b) for name, p in kept.parameters.items() if name in now.parameters
            if (a := p.gradient) and (b := now.parameters[name].gradient) and p.shape == now.parameters[name].shape]
    largest = max((g.norm for _, *pair in both for g in pair if g.norm is not None and math.isfinite(g.norm)), default=0.0)
    noise = {name: NOISE * LAST_PLACE.get(b.dtype, ORDINARY) * largest for name, _, b in both}
    changed = [(name, a.norm, b.norm) for name, a, b in both if differ(a.norm, b.norm, rtol, noise[name])]
    loud = [name for name, a, b in both if a.norm is None or b.norm is None or not max(a.norm, b.norm) <= noise[name]]
    ratios = [b / a for _, a, b in changed if a and b and math.isfinite(a) and math.isfinite(b)]
    if len(loud) == len(changed) == len(ratios) > 1 and not differ(min(ratios), max(ratios), rtol):
        yield Difference("norm", tuple(name for name, *_ in changed),
                         f"every gradient is {ratios[0]:.4g} times what it was: the loss is scaled, or divided otherwise")
        return
    for name, x, y in changed:
        times = f" ({y / x:.4g} times)" if x and y and math.isfinite(x) and math.isfinite(y) else ""
        yield Difference("norm", (name,), f"{name}: norm of the gradient {told(y)}, was {told(x)}{times}")


def differ(a: float | None, b: float | None, rtol: float, atol: float = 0.0) -> bool:
    if a is None or b is None:
        return a is not b
    if not (math.isfinite(a) and math.isfinite(b)):
        return repr(a) != repr(b)
    return abs(a - b) > max(rtol * max(abs(a), abs(b)), atol)


def because(kept: Contract, now: Contract, rtol: float) -> list[Difference]:
    """Where other norms come from: the earliest thing that differs."""
    found = [Difference("because", (f.where or "",), f"{f.text}" + (f" at {short(f.where)}" if f.where else ""))
             for f in now.trouble if f.kind in ("nan", "inf")][:1]
    first = next(iter(origins(kept, now, rtol)), "the weights, outputs of modules and the loss are the same, so the difference "
                 "is in backward: in a hook, a custom Function, or an edit of .grad")
    return [*found, Difference("because", (), "where it begins: " + first)]


def origins(kept: Contract, now: Contract, rtol: float) -> Iterator[str]:
    for name, p in kept.parameters.items():
        q = now.parameters.get(name)
        if q is not None and q.shape == p.shape and differ(p.norm, q.norm, rtol):
            yield f"the values of {name} are others (norm {told(q.norm)}, was {told(p.norm)}): is the model made from a seed?"
    for a, b in zip(kept.outputs, now.outputs):
        if a[:3] != b[:3]:
            yield f"{described(b)} was returned where {described(a)} was"
        elif differ(a.norm, b.norm, rtol):
            yield f"the output of {a.module} is the first that differs (norm {told(b.norm)}, was {told(a.norm)})"
    if len(kept.outputs) != len(now.outputs):
        yield f"modules return {len(now.outputs)} tensors, were {len(kept.outputs)}"
    if differ(kept.loss, now.loss, rtol):
        yield f"the loss is {told(now.loss)}, was {told(kept.loss)}, of the same outputs of modules"


def described(output: Output) -> str:
    return f"a {output.dtype} tensor {output.shape} of {output.module}"


# -- hooks


def of_hooks(kept: Contract, now: Contract) -> Iterator[Difference]:
    """Which fire, how often, and in which order; which do not, and why."""
    before, after = (Counter(h[:3] for h in c.hooks) for c in (kept, now))
    were, are = ({s[:3]: s.why for s in c.silent} for c in (kept, now))
    for key in dict.fromkeys((*before, *after)):
        a, b, name = before[key], after[key], called(key)
        if a and not b:
            text = why(now, key) if key in now.causes else are.get(key, "it is not registered any more")
            yield Difference("hook", (name,), f"{name} no longer fires: {text}")
        elif b and not a:
            yield Difference("hook", (name,), f"{name} fires: " + (f"was {were[key]}" if key in were else "it is new"))
        elif a != b:
            yield Difference("hook", (name,), f"{name} fires {b} times, was {a}")
    for key in dict.fromkeys((*were, *are)):
        if before[key] or after[key] or were.get(key) == are.get(key):
            continue
        name = called(key)
        text = "is not registered any more" if key not in are else (
            f"does not fire: {why(now, key) if key in now.causes else are[key]}; "
            + (f"was {were[key]}" if key in were else "it is new"))
        yield Difference("silent", (name,), f"{name} {text}")
    if before == after:
        yield from in_order(kept.hooks, now.hooks)


def in_order(kept: list[Hook], now: list[Hook]) -> Iterator[Difference]:
    for i, (a, b) in enumerate(zip(kept, now)):
        if a[:3] != b[:3]:
            names = called(a[:3]), called(b[:3])
            yield Difference("order", names, f"hooks fire in another order: firing {i + 1} is of {names[1]}, was of {names[0]}")
            return
    for a, b in zip(kept, now):
        if a.changed != b.changed:
            name = called(a[:3])
            yield Difference("hook", (name,), f"{name} " + ("changes something" if b.changed else "no longer changes anything"))


def called(key: tuple[str, str, str]) -> str:
    name, kind, on = key
    return f"{kind} hook {name} of {on}"
