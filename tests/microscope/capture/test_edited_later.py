"""What the program edits after the block: inputs that a capture still holds."""
from __future__ import annotations

from typing import Any

import pytest

from retrograd.microscope import CaptureError, capture


def linear(torch: Any) -> tuple[Any, Any]:
    return torch.nn.Linear(4, 3), torch.randn(6, 4)


def tokens(torch: Any) -> tuple[Any, Any]:
    return torch.nn.Linear(4, 3), torch.randn(6, 5, 4)


def convolution(torch: Any) -> tuple[Any, Any]:
    return torch.nn.Conv1d(4, 3, 1), torch.randn(6, 4, 5)


def norm(torch: Any) -> tuple[Any, Any]:
    return torch.nn.LayerNorm(4), torch.randn(6, 4)


def bilinear(torch: Any) -> tuple[Any, Any]:
    class Own(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(3, 4, 4))

        def forward(self, x: Any) -> Any:
            return torch.nn.functional.bilinear(x, x, self.w)
    return Own(), torch.randn(6, 4)


def product(torch: Any) -> tuple[Any, Any]:
    class Own(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(4))

        def forward(self, x: Any) -> Any:
            return x * self.w
    return Own(), torch.randn(6, 4)


@pytest.mark.parametrize("case", [linear, tokens, convolution, norm, bilinear, product])
def test_a_buffer_that_the_next_batch_overwrites(torch: Any, case: Any) -> None:
    model, buffer = case(torch)
    caps = [capture(model, check=False), capture(model)]    # a check computes sums, and some of what they are of
    with caps[0] as cap, caps[1] as other:
        model(buffer).pow(2).sum().backward()
    unread, each = cap.grads(), other.grads().per_sample()
    want = {name: g.clone() for name, g in each.items()}
    buffer.copy_(torch.zeros_like(buffer))
    with pytest.raises(CaptureError, match="changed in place after the call"):
        unread.norms()
    name = next(iter(each))
    row = cap.coverage()[name]
    assert row.status == "not covered" and "changed in place after the call" in row.how
    with pytest.raises(CaptureError, match="changed in place after the call"):
        cap.grads()
    assert all(torch.equal(each[name], want[name]) for name in each)    # what was made before stays as it was
    with cap:                                   # and the next step is another matter
        model(buffer.normal_()).pow(2).sum().backward()
    assert cap.coverage().complete


def test_ids_that_the_next_batch_overwrites(torch: Any) -> None:
    model, ids = torch.nn.Embedding(7, 3), torch.randint(0, 7, (6, 5))
    with capture(model) as cap:
        model(ids).pow(2).sum().backward()
    got, want = cap.grads(), cap.grads().per_sample()["weight"].clone()
    ids.zero_()
    assert torch.equal(got.per_sample()["weight"], want)            # numbers of rows are copied: they are few
    assert cap.coverage()["weight"].status == "not covered"


def test_factors_that_were_read_before_are_not_read_again(torch: Any) -> None:
    model, buffer = linear(torch)
    with capture(model) as cap:
        model(buffer).pow(2).sum().backward()
    grads = cap.grads()
    some = grads.select(samples=slice(0, 2))
    grads.norms(), some.norms()
    buffer.zero_()
    for asked in (grads.norms, some.norms, grads.dots, lambda: grads.clip(1.0), grads.weight_grad, grads.kfac,
                  lambda: grads.factors("weight")):
        with pytest.raises(CaptureError, match="changed in place after the call"):
            asked()


def test_parameters_below_an_expression_that_a_step_changes(torch: Any) -> None:
    model, x = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 3)), torch.randn(6, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    cap = capture(model, check=False)
    with cap:
        model(x).pow(2).sum().backward()
    grads = cap.grads()
    optimizer.step()
    with pytest.raises(CaptureError, match=r"before optimizer.step\(\)"):
        grads.norms()
    with cap:
        model(x).pow(2).sum().backward()
    for n, got in enumerate(cap.grads().norms()):
        own = torch.autograd.grad(model(x[n:n + 1]).pow(2).sum(), list(model.parameters()))
        assert torch.allclose(got, torch.cat([g.reshape(-1) for g in own]).norm(), rtol=1e-4)
