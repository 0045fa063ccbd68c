"""torch.utils: tensors that change places, modules that are tracked."""
from __future__ import annotations

import copy
import importlib
import weakref
from typing import Any

import pytest
from both_engines import both


@both
def test_swapped_tensors_have_each_others_contents_and_old_graphs_do_not_run(torch: Any) -> None:
    class Named(torch.Tensor):  # type: ignore[misc]
        pass

    a, b = torch.nn.Parameter(torch.ones(2)), torch.zeros(3).as_subclass(Named)
    a.word, b.note = 1, 2
    torch.utils.swap_tensors(a, b)
    assert type(a) is Named and a.tolist() == [0.0] * 3 and a.note == 2 and not a.requires_grad and not hasattr(a, "word")
    assert type(b) is torch.nn.Parameter and b.requires_grad and b.word == 1
    reference = weakref.ref(a)
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref associated with it"):
        torch.utils.swap_tensors(a, b)
    assert reference() is a
    c, d = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    c.grad = torch.full((2,), 5.0)
    total = (c * 2).sum()
    torch.utils.swap_tensors(c, d)
    assert c.grad is None and d.grad.tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="Trying to execute AccumulateGrad node that was poisoned by swap_tensors"):
        total.backward()


@both
def test_conversions_may_swap_parameters(torch: Any) -> None:
    future = importlib.import_module(f"{torch.__name__}.__future__")
    layer = torch.nn.Linear(2, 2)
    weight = layer.weight
    layer(torch.ones(1, 2)).sum().backward()
    future.set_swap_module_params_on_conversion(True)
    try:
        layer.double()
    finally:
        future.set_swap_module_params_on_conversion(False)
    assert layer.weight is weight and weight.dtype == torch.float64 and weight.grad.dtype == torch.float64
    assert copy.deepcopy(layer)(torch.ones(1, 2, dtype=torch.float64)).dtype == torch.float64


@both
def test_a_tracker_names_the_modules_that_run(torch: Any) -> None:
    tracker = importlib.import_module(f"{torch.__name__}.utils.module_tracker").ModuleTracker()
    seen: list[Any] = []

    class Marked(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append((set(tracker.parents), tracker.is_bw))
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append((set(tracker.parents), tracker.is_bw))
            return g

    class Inner(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return Marked.apply(x)

    class Outer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Inner(), torch.nn.Sequential(Inner())

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x) * 2)

    with tracker:
        Outer()(torch.ones(2, requires_grad=True)).sum().backward()
        assert tracker.parents == {"Global"}
    first, second = {"Global", "Outer", "Outer.first"}, {"Global", "Outer", "Outer.second", "Outer.second.0"}
    assert seen == [(first, False), (second, False), (second, True), (first, True)]
