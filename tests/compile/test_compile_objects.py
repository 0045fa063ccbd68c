"""Objects that steps read, are given and return: dataclasses, named tuples, namespaces, enums, attributes named by strings."""

# ruff: noqa: B009
from __future__ import annotations

import argparse
import collections
import dataclasses
import dis
import enum
import operator
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from replaying import numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd._compile.reach import named_by


@dataclasses.dataclass
class Plain:
    scale: Any = 2.0
    shift: Any = 1.0

    def twice(self) -> Any:
        return self.scale * 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: Any = 2.0
    shift: Any = 1.0

    def twice(self) -> Any:
        return self.scale * 2


class Named(NamedTuple):
    scale: Any = 2.0
    shift: Any = 1.0

    def twice(self) -> Any:
        return self.scale * 2


class Kind(enum.Enum):
    LINEAR = 1
    SQUARE = 2


class Order(enum.IntEnum):
    FIRST = 3
    SECOND = 4


class Config(nn.Module):
    """A model with a configuration, as many are written."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config, self.layer = config, nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        if x.shape[-1] != 4:
            raise ValueError(f"expected 4 columns, got {x.shape}")
        return self.layer(x) * self.config.scale + self.config.shift


CONFIGS = {
    "dataclass": Plain, "frozen dataclass": Frozen, "named tuple": Named, "SimpleNamespace": types.SimpleNamespace,
    "argparse.Namespace": argparse.Namespace, "class": lambda **given: type("Own", (), given)(),
}


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_model_with_a_configuration_is_replayed_and_a_change_of_it_is_seen(kind: str) -> None:
    torch.manual_seed(0)
    model, x = Config(CONFIGS[kind](scale=2.0, shift=1.0)), numbers(5, 4)
    fast = skipping(model)
    for _ in range(4):
        assert same(fast(x).detach(), model(x).detach())
    assert replays(fast) == 3, fast.explain()
    if kind in ("frozen dataclass", "named tuple"):
        model.config = CONFIGS[kind](scale=5.0, shift=1.0)
    else:
        model.config.scale = 5.0
    for _ in range(3):
        assert same(fast(x).detach(), model(x).detach())


def test_members_of_enums_decide_and_another_one_is_seen() -> None:
    by: Any = types.SimpleNamespace(kind=Kind.LINEAR, order=Order.FIRST)

    def f(x: Any) -> Any:
        return (x if by.kind is Kind.LINEAR else x * x) * by.order + by.kind.value
    fast, x = skipping(f), numbers(3)
    for kind, order in ((Kind.LINEAR, Order.FIRST), (Kind.SQUARE, Order.FIRST), (Kind.SQUARE, Order.SECOND)):
        by.kind, by.order = kind, order
        for _ in range(4):
            assert same(fast(x), f(x))
    assert replays(fast) > 5, fast.explain()


@pytest.mark.parametrize("kind", [Plain, Frozen, Named])
def test_objects_made_anew_at_each_call_are_arguments(kind: Any) -> None:
    def f(given: Any) -> Any:
        return given.twice() + given.shift
    fast = skipping(f)
    for i in range(6):
        x, y = numbers(3, seed=i), numbers(3, seed=i + 10)
        assert same(fast(kind(x, y)), f(kind(x, y)))
    assert replays(fast) == 5, fast.explain()
    assert same(fast(kind(x, 3.0)), f(kind(x, 3.0)))
    assert same(fast(kind(scale=x, shift=x)), f(kind(x, x)))


RESULTS: dict[str, Callable[[Any], Any]] = {
    "dataclass": lambda y: Plain(y, y.detach() * 2),
    "frozen dataclass": lambda y: Frozen(shift=y.sum(), scale=y),
    "named tuple": lambda y: Named(y, 3),
    "in a list": lambda y: [Named(y, (y, None))],
    "OrderedDict": lambda y: collections.OrderedDict(b=y, a=y),
    "torch.return_types": lambda y: y.max(0),
}


def parts(x: Any) -> Any:
    """All of an object, as containers."""
    if isinstance(x, torch.Tensor):
        return x.detach()
    if isinstance(x, tuple | list):
        return [type(x).__name__, *map(parts, x)]
    if isinstance(x, dict) or dataclasses.is_dataclass(x):
        return [type(x).__name__, *[(key, parts(y)) for key, y in (x if isinstance(x, dict) else vars(x)).items()]]
    return x


@pytest.mark.parametrize("kind", RESULTS)
def test_objects_are_results(kind: str) -> None:
    torch.manual_seed(0)
    layer, make = nn.Linear(4, 3), RESULTS[kind]

    def f(x: Any) -> Any:
        return make(layer(x))
    fast, grads = skipping(f), []
    for i in range(8):
        x = numbers(5, 4, seed=i)
        got, want = fast(x), f(x)
        assert type(got) is type(want) and same(parts(got), parts(want))
        for result in (got, want):
            layer.zero_grad()
            first(result).sum().backward()
            grads.append(layer.weight.grad)
        assert same(grads[-2], grads[-1])
    assert replays(fast) > 4, fast.explain()


def first(x: Any) -> Any:
    while not isinstance(x, torch.Tensor):
        x = x[0] if isinstance(x, tuple | list) else next(iter((x if isinstance(x, dict) else vars(x)).values()))
    return x


@pytest.mark.parametrize("kept", [Plain(1.0), {"n": 1.0}, [1.0, Plain(2.0)]])
def test_an_object_that_was_there_before_is_returned_itself(kept: Any) -> None:
    fast, x = skipping(lambda x: (x * 2, kept)), numbers(3)
    assert all([fast(x)[1] is kept for _ in range(3)]) and replays(fast) == 2, fast.explain()


@pytest.mark.parametrize("f", [
    lambda given: given, lambda given: (given.scale * 2, given), lambda given: [[given.scale]] * 2, lambda given: [given]])
def test_an_argument_is_returned_itself_and_one_object_twice_is_one(f: Any) -> None:
    fast, given = skipping(f), Plain(numbers(3))
    for _ in range(3):
        got, want = fast(given), f(given)
        assert (got is given) == (want is given)
        if isinstance(want, tuple | list):
            assert [(x is got[-1], x is given) for x in got] == [(x is want[-1], x is given) for x in want]
    assert replays(fast) == 0 and "argument, or that is returned twice" in fast.explain()


def test_what_contains_itself_is_run_eagerly() -> None:
    def grown(x: Any) -> Any:
        found = Plain(x * 2)
        found.shift = found
        return found
    loop = Plain(numbers(3))
    loop.shift = loop
    for f, given in ((grown, numbers(3)), (lambda d: d.scale * 2, loop)):
        fast = skipping(f)
        for _ in range(3):
            assert type(fast(given)) is type(f(given))
        assert replays(fast) == 0


class Worded:
    """Whose words depend on an attribute that no code but its own names."""

    def __init__(self) -> None:
        self.much = 2

    def __repr__(self) -> str:
        return "x" * self.much


WORDED = Worded()
FORMS: dict[str, Callable[[], int]] = {
    "f-string": lambda: len(f"{WORDED}"), "conversion": lambda: len(f"{WORDED!r:>9}"),
    "percent": lambda: len("%s" % WORDED),  # noqa: UP031
    "format": lambda: len("{}".format(WORDED)),  # noqa: UP032
    "str": lambda: len(str(WORDED)), "map": lambda: len("".join(map(str, [WORDED]))),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_words_of_an_object_are_read_with_what_they_are_made_of(form: str) -> None:
    words, x = FORMS[form], numbers(3)

    def f(x: Any) -> Any:
        return x * words()
    fast = skipping(f)
    for much in (2, 5):
        WORDED.much = much
        for _ in range(4):
            assert same(fast(x), f(x))
    assert replays(fast) > 3, fast.explain()


@pytest.mark.parametrize("asks", [
    lambda o: getattr(o, "scale"), lambda o: getattr(o, "missing", o.scale), lambda o: 7.0 if hasattr(o, "later") else o.scale])
def test_attributes_that_a_string_names_are_seen(asks: Any) -> None:
    by: Any = types.new_class("By")()
    by.scale = 2.0
    x = numbers(3)

    def f(x: Any) -> Any:
        return x * asks(by)
    fast = skipping(f)
    for change in (lambda: None, lambda: setattr(by, "scale", 3.0), lambda: setattr(by, "missing", 4.0),
                   lambda: setattr(by, "later", 4.0)):
        change()
        for _ in range(4):
            assert same(fast(x), f(x))
    assert replays(fast) > 5, fast.explain()


@pytest.mark.parametrize(("code", "names"), [
    (lambda o, n: getattr(o, "a"), ["a"]), (lambda o, n: getattr(o, n), [None]), (lambda o, n: getattr(o, "a" + n), [None]),
    (lambda o, n: getattr(o, "a" + n, None), [None]), (lambda o, n: getattr(o, "a", n + 1), ["a"]),
    (lambda o, n: getattr(o.x[0].f(n, 2), "a", n + 1), ["a"]), (lambda o, n: getattr(o, "a") if n else 0, ["a"]),
    (lambda o, n: getattr(o, "a" if n else "b"), [None]), (lambda o, n: hasattr(o, f"a{n}"), [None]),
    (lambda o, n: map(getattr, o), [None]), (lambda o, n: getattr(*o), [None]), (lambda o, n: getattr(o, n["a"]), [None]),
    (lambda o, n: getattr(o, "ab".upper()), [None]), (lambda o, n: getattr(getattr(o, "b"), "a", n)(3), ["a", "b"]),
])
def test_only_strings_that_are_written_in_the_call_name_attributes(code: Any, names: list[str | None]) -> None:
    steps = list(dis.get_instructions(code))
    assert [named_by(steps, i) for i, step in enumerate(steps) if step.argval in ("getattr", "hasattr")] == names


def test_what_changes_where_no_code_names_it_is_seen() -> None:
    """Objects as keys, what a namespace contains, attributes that tensors are given: (step, change, argument)."""
    class Key:
        scale = 2.0
    key: Any = Key()
    space, table = types.SimpleNamespace(sizes=[1.0]), {key: 3.0}
    model = nn.Dropout(0.5)
    modules = {model: 2.0}

    def through(x: Any) -> Any:
        for module, scale in modules.items():
            x = module(x) * scale
        return x
    steps: list[tuple[Any, Any, Any]] = [
        (lambda x: sum([x * k.scale * v for k, v in table.items()]), lambda: setattr(key, "scale", 5.0), lambda x: x),
        (lambda d: sum([v * k.scale for k, v in d.items()]), lambda: setattr(key, "scale", 6.0), lambda x: {key: x}),
        (through, lambda: model.train(not model.training), lambda x: x),
        (lambda x: x * len(str(space)), lambda: space.sizes.__setitem__(0, 1000.0), lambda x: x),
        (lambda d: torch.copysign(next(iter(d.values())), torch.tensor(next(iter(d)))), lambda: None, lambda x: {0.0: x}),
        (lambda d: torch.copysign(next(iter(d.values())), torch.tensor(next(iter(d)))), lambda: None, lambda x: {-0.0: x}),
        (lambda x, z: torch.view_as_real(torch.full((2,), z)) + x[:2], lambda: None, lambda x: (x, complex(0.0, 0.0))),
    ]
    for f, change, given in steps:
        fast = skipping(f)
        for i in range(8):
            if i == 4:
                change()
            args = given(numbers(3, seed=i))
            args = args if isinstance(args, tuple) else (args,)
            torch.manual_seed(i)
            want = f(*args)
            torch.manual_seed(i)
            assert same(fast(*args), want), (steps.index((f, change, given)), i)
    marked = skipping(lambda x: x * getattr(x, "gain", 1.0))
    for i in range(8):
        x: Any = numbers(3, seed=i)
        if i >= 4:
            x.gain = 3.0
        assert same(marked(x), x * (3.0 if i >= 4 else 1.0))


@pytest.mark.parametrize(("asks", "why"), [
    (lambda o, name: getattr(o, name), "it calls getattr()"), (lambda o, name: operator.attrgetter(name)(o), "a class of C"),
    (lambda o, name: float("{0.scale}".format(o)), "formats words by a template"),  # noqa: UP030, UP032
    (lambda o, name: object.__getattribute__(o, name), "asks for __getattribute__"),
    (lambda o, name: o.__dict__[name], "may change unnoticed"), (lambda o, name: vars(o)[name], "it calls vars()")])
def test_attributes_that_nothing_names_are_refused(asks: Any, why: str) -> None:
    by: Any = types.new_class("By")()
    by.scale = 2.0
    fast, x = skipping(lambda x: x * asks(by, "scale")), numbers(3)
    for scale in (2.0, 3.0):
        by.scale = scale
        for _ in range(3):
            assert same(fast(x), x * scale)
    assert replays(fast) == 0 and why in fast.explain()
