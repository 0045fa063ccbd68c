"""What a replayed call must not freeze: everything that its code can read is guarded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from replaying import Way, grads, numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd._compile import book, guards, reach, values
from retrograd._compile.values import Guards
from retrograd._engine.anomaly import HOME

FACTOR = 2.0


def test_a_global_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return x * FACTOR

    fast, x = skipping(f), numbers(3)
    assert same(fast(x), x * 2) and same(fast(x), x * 2)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert same(fast(x), x * 3) and same(fast(x), x * 3)


def test_cells_defaults_attributes_and_elements_that_change_are_seen() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = 1.0
            self.table = {"shift": 0.0, "list": [1.0]}

        def forward(self, x: Any) -> Any:
            return x * self.scale + self.table["shift"] + self.table["list"][0]

    net, x, by = Net(), numbers(3), 1.0

    def f(x: Any, more: float = 0.0) -> Any:
        return net(x) * by + more

    fast = skipping(f)

    def check() -> None:
        assert same(fast(x), f(x)) and same(fast(x), f(x)) and same(fast(x), f(x))
    check()
    net.scale = 5.0
    check()
    net.table["shift"] = 2.0
    check()
    net.table["list"][0] = 7.0
    check()
    by = 4.0
    check()
    f.__defaults__ = (9.0,)
    check()
    net.forward = lambda x: x                   # type: ignore[method-assign]
    check()
    assert replays(fast) >= 6


def test_a_branch_on_an_attribute_and_train_flags_are_guarded() -> None:
    class Net(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2 if self.training else x * 3

    net, x = Net(), numbers(3)
    fast = skipping(net)
    for mode in (True, False, True, False):
        net.train(mode)
        assert same(fast(x), net(x)) and same(fast(x), net(x))


def test_inputs_that_are_one_tensor_or_share_memory() -> None:
    def f(x: Any, y: Any) -> Any:
        x.grad = y.grad = None
        (x * y).sum().backward()
        return x.grad.clone(), y.grad.clone()

    fast = skipping(f)
    x, y = numbers(3).requires_grad_(), numbers(3, seed=1).requires_grad_()
    for pair in ((x, y), (x, y), (x, x), (x, x), (y, x), (x, y)):
        assert same(f(*pair), fast(*pair))

    def edit(x: Any, y: Any) -> Any:
        x.mul_(2)
        return x + y

    fast = skipping(edit)
    for _ in range(2):
        for make in (lambda: (numbers(4), numbers(4, seed=1)), lambda: (lambda t: (t[:4], t[2:6]))(numbers(8)),
                     lambda: (lambda t: (t, t))(numbers(4)), lambda: (lambda t: (t, t.view(4)))(numbers(4))):
            a, b = make(), make()
            assert same(edit(*a), fast(*b)) and same(a, b)


def test_a_parameter_replaced_frozen_or_given_other_memory_is_seen() -> None:
    net = nn.Linear(2, 2)
    x = numbers(3, 2)

    def step() -> Any:
        net.zero_grad()
        net(x).sum().backward()
        return grads(net.weight, net.bias)

    fast = skipping(step, plans=30)

    def check() -> None:
        assert same(fast(), step()) and same(fast(), step())
    check()
    net.weight = nn.Parameter(numbers(2, 2, seed=3))
    check()
    net.bias.requires_grad_(False)
    check()
    net.bias.requires_grad_(True)
    check()
    net.weight.data = numbers(2, 2, seed=4)
    check()
    net.bias = None
    net.bias = nn.Parameter(torch.zeros(2))
    check()


def test_hooks_of_every_kind_are_called() -> None:
    net, x = nn.Linear(2, 2), numbers(3, 2).requires_grad_()
    fired: list[str] = []

    def step() -> Any:
        net.zero_grad()
        net(x).sum().backward()
        return grads(net.weight)

    fast = skipping(step)
    fast(), fast()
    plain = step()
    kinds: list[Callable[[], Any]] = [
        lambda: net.register_forward_hook(lambda *a: fired.append("forward")),
        lambda: net.register_forward_pre_hook(lambda *a: fired.append("pre")),
        lambda: net.register_full_backward_hook(lambda *a: fired.append("backward")),
        lambda: net.weight.register_hook(lambda g: fired.append("tensor")),
        lambda: net.weight.register_post_accumulate_grad_hook(lambda p: fired.append("accumulated")),
        lambda: nn.modules.module.register_module_forward_hook(lambda *a: fired.append("everywhere")),
        lambda: torch.autograd.graph.get_gradient_edge(net.weight).node.register_hook(lambda *a: fired.append("node")),
    ]
    for kind in kinds:
        handle = kind()
        for _ in range(2):
            fired.clear()
            assert same(fast(), plain) and fired
        handle.remove()
        fired.clear()
        assert same(fast(), plain) and not fired


def test_a_table_of_global_hooks_that_a_program_put_there_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, fired = nn.Linear(2, 2), []
    fast = skipping(lambda x: layer(x))
    with torch.no_grad():
        for _ in range(3):
            fast(numbers(1, 2))
        monkeypatch.setattr(nn.modules.module, "_global_forward_hooks", {1: lambda *_: fired.append(1)})
        fast(numbers(1, 2))
    assert replays(fast) and fired == [1]


def test_modes_are_guarded() -> None:
    w = numbers(3).requires_grad_()

    def f(x: Any) -> Any:
        return x * w

    fast, x = skipping(f), numbers(3, seed=1)
    with torch.no_grad():
        fast(x), fast(x)
        assert replays(fast) == 1
    assert fast(x).requires_grad
    with torch.inference_mode():
        assert fast(x).is_inference()
    with torch.no_grad():
        assert not fast(x).requires_grad
    assert replays(fast) == 2
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            assert fast(x).dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_dtypes_strides_and_requires_grad_of_inputs_are_guarded() -> None:
    def f(x: Any) -> Any:
        with torch.no_grad():
            return x.sum(0) * 2, x + 1

    fast = skipping(f)
    for _ in range(2):
        for x in (numbers(3, 4), numbers(4, 3).t(), numbers(3, 4, dtype=torch.float64), numbers(3, 8)[:, ::2],
                  numbers(3, 4).requires_grad_(), torch.arange(12).reshape(3, 4)):
            assert same(f(x), fast(x))


@pytest.mark.parametrize("way", [Way("skip"), Way("verified")], ids=lambda way: way.name)
def test_a_view_whose_base_wants_a_gradient_since_is_another_argument(way: Way) -> None:
    fast = way.call(lambda x: (x * 2).tanh() + x.exp() - x)
    for i in range(6):
        x = torch.ones(3, 2)
        y = x[1:] if i % 2 else torch.ones(2, 2)
        x.requires_grad_()
        assert fast(y).requires_grad is (i % 2 == 1)


def test_an_argument_that_the_function_also_reaches_is_not_taken_for_another_one() -> None:
    w = numbers(3)

    def f(x: Any) -> Any:
        return x * w

    for first, second in ((w, numbers(3, seed=1)), (numbers(3, seed=1), w)):
        fast = skipping(f)
        for _ in range(2):
            assert same(fast(first), first * w) and same(fast(second), second * w)


def test_numbers_of_arrays_of_numpy_are_not_frozen() -> None:
    table = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        return x * float(table[0]) + torch.tensor(table)

    fast = skipping(f)
    for value in (1.0, 1.0, 5.0, 5.0):
        table[0] = value
        assert same(fast(numbers(2)), f(numbers(2)))


def test_attributes_of_tensors_are_not_frozen() -> None:
    w: Any = numbers(3)
    w.scale = 1.0

    def f(x: Any) -> Any:
        return x * w.scale + w

    fast = skipping(f)
    for scale in (1.0, 1.0, 3.0, 3.0):
        w.scale = scale
        assert same(fast(numbers(3)), f(numbers(3)))

    def g(x: Any) -> Any:
        return x * x.scale

    fast = skipping(g)
    for scale in (1.0, 1.0, 3.0, 3.0):
        x: Any = numbers(3)
        x.scale = scale
        assert same(fast(x), g(x))


def test_methods_added_to_a_subclass_are_seen() -> None:
    class Base:
        def scale(self, x: Any) -> Any:
            return x * 2

    class Mine(Base):
        pass

    mine = Mine()
    fast = skipping(lambda x: mine.scale(x))
    assert same(fast(numbers(2)), numbers(2) * 2) and same(fast(numbers(2)), numbers(2) * 2)
    Mine.scale = lambda self, x: x * 3          # type: ignore[method-assign]
    assert same(fast(numbers(2)), numbers(2) * 3)


def test_attributes_that_code_of_the_library_reads_are_guarded() -> None:
    class Leaky(nn.LeakyReLU):
        pass

    class Layer(nn.Linear):
        def forward(self, input: Any) -> Any:
            return super().forward(input) * 2

    leaky, layer = Leaky(0.1), Layer(2, 2)
    fast, x = skipping(lambda x: leaky(layer(x)).detach()), numbers(3, 2)
    with torch.no_grad():
        for slope in (0.1, 0.1, 0.5, 0.5):
            leaky.negative_slope = slope
            assert same(fast(x), leaky(layer(x)))
        for seed in (1, 1, 2, 2):
            layer.weight = nn.Parameter(numbers(2, 2, seed=seed))
            assert same(fast(x), leaky(layer(x)))


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_the_order_of_a_dict_is_guarded(kind: Any) -> None:
    table = kind(a=torch.tensor([1e8]), b=torch.tensor([-1e8]), c=torch.tensor([1.0]))

    def f(x: Any) -> Any:
        for value in table.values():
            x = x + value
        return x

    fast, x = skipping(f), torch.tensor([0.5])
    for _ in range(3):
        assert same(fast(x), f(x)) and same(fast(x), f(x))
        first = next(iter(table))
        table[first] = table.pop(first)
    if kind is OrderedDict:
        table.move_to_end("c")
        assert same(fast(x), f(x))


@pytest.mark.skipif(Guards is None, reason="an install without C")
def test_bounds_of_arrays_in_c_are_numpys() -> None:
    whole = np.arange(240, dtype=np.float32).reshape(4, 6, 10)
    views = [whole, whole[:2], whole[2:], whole[::-1, 1], whole[:, :, ::-3], whole[3, 5, 9:], whole[0, 0, :0],
             whole[1, 2, 3, ...], np.broadcast_to(whole[0, 0, :1], (1 << 40, 10)), whole.view(np.int16)[..., 1::2],
             whole.copy(), np.empty(0)]
    for x in views:
        for y in views:
            assert Guards.apart([x], [y]) is not np.may_share_memory(x, y), (x.shape, y.shape)
            assert Guards.apart([x, y], []) is Guards.apart([x], [y])
    for bad in (([1], [whole]), ([whole], [None]), ((whole,), [whole])):
        with pytest.raises((TypeError, ValueError)):
            Guards.apart(*bad)


def test_an_empty_dict_that_is_filled_is_seen() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table: dict[str, float] = {}
            self.layer = nn.Identity()

        def forward(self, x: Any) -> Any:
            return self.layer(x) * sum(self.table.values()) + len(self._buffers)

    net, x = Net(), numbers(3)
    fast = skipping(net)
    for fill in (lambda: None, lambda: net.table.update(a=2.0), lambda: net.register_buffer("b", torch.ones(1)),
                 lambda: net.layer.register_forward_hook(lambda *_: x * 3)):
        fill()
        for _ in range(3):
            assert same(fast(x), net(x))
    assert fast.explain().startswith("Net: 4 plans"), fast.explain()


@pytest.mark.skipif(Guards is None, reason="an install without C")
def test_c_looks_at_dicts_classes_and_arrays_as_python_does() -> None:
    class Odd:
        here = there = 1

    tables: list[Any] = [{}, vars(nn.Linear(2, 3)), {"a": [1], 2: {}, None: 3, "skipped": [], "e": {}, 4: {}, "o": OrderedDict()},
                                   OrderedDict(b=1, a=Odd())]
    whole = np.arange(24.0).reshape(4, 6)
    locked = whole.copy()
    locked.flags.writeable = False
    arrays = [whole, whole[1:, ::2], whole.T, locked, whole.astype(">f4"), np.empty((0, 3)), np.float32(2)[...],
              np.broadcast_to(whole[:1], (5, 6)), np.frombuffer(b"12345678x", np.uint8)[1:9].view("f4"),
              np.lib.stride_tricks.as_strided(whole[1:], (2, 2), (8, 8))[1:]]

    for x in tables:
        assert reach.contents(x, reach.PASSED, {"skipped"}) == reach.entries(x, reach.PASSED, {"skipped"})
    for x, names in [*[(x, ("a", "b")) for x in tables], (Odd, ("here", "none"))]:
        assert reach.values_at(x, names, None) == reach.found_at(x, names, None)
    for _ in range(2):
        assert book.caller(HOME) == book.of_frames(HOME) != ""
        assert book.caller(HOME) == book.of_frames(HOME) != ""
    for x in arrays:
        assert guards.lies(x)[:3] == guards.laid(x)[:3] and values.looks(x) == values.seen(x)
        assert values.root(x) is values.owner(x)
        for was in map(guards.lies, arrays):
            assert guards.lies_so(x, was) == (guards.lies(x) == was)


def test_a_guard_of_a_dict_that_python_has_to_look_at_leaves_others_in_force() -> None:
    holder = {"scale": 1.5, "shift": 0.5, "far": 100.0}

    def f(x: Any) -> Any:
        return x * holder["scale"] + holder["shift"]

    fast, x = skipping(f), numbers(3)
    for _ in range(3):
        assert same(fast(x), f(x))
    for _ in range(4):
        holder["far"] = float("100")            # the same number, as another object
        assert same(fast(x), f(x))
    assert replays(fast) == 6
    holder["shift"] = 2.0
    assert same(fast(x), f(x))


@pytest.mark.skipif(Guards is None, reason="an install without C")
@pytest.mark.parametrize("guard", [
    ("dict", [], "a", 1), ("cell", {}, None, 1), ("items", [], None, None), ("items", [], None, []),
    ("function", len, None, (1, 2, 3)), ("attrs", {}, ("a",), (1,)), ("attrs", int, ("a",), ()), ("attrs", int, "a", 1),
    ("table", {}, (), 1), ("table", {}, None, ()), ("dicts", [], (), ()), ("dicts", {}, ("a",), ()), ("attr", {}, 3, 1),
    (0, {}, "a", 1), ("dict", {}, "a"), "text",
])
def test_guards_that_make_no_sense_are_refused(guard: Any) -> None:
    with pytest.raises(ValueError, match="Guards"):
        Guards((guard,), (), None)
    with pytest.raises(ValueError, match="Guards"):
        Guards((), ((numbers(2), None, False),), None, 100_000)
    with pytest.raises(ValueError, match="Guards"):
        Guards((), (), None, 1)
    with pytest.raises(ValueError, match="Guards"):
        Guards((), (), None).first(-1)


def test_keyword_defaults_and_operators_that_are_replaced_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x: Any, *, k: float = 1.0) -> Any:
        return x * k
    fast = skipping(lambda x: scaled(x))
    for _ in range(3):
        fast(numbers(1))
    scaled.__kwdefaults__["k"] = 5.0
    assert same(fast(numbers(1)), numbers(1) * 5)
    monkeypatch.setattr(torch.Tensor, "__mul__", lambda a, b: torch.zeros(1))
    assert same(fast(numbers(1)), torch.zeros(1))
