"""watch(): what problems() says of broken training loops, on both engines; and of sound ones, nothing."""

from __future__ import annotations

from typing import Any

import pytest
from both_engines import both

from retrograd.microscope import watch


def net(torch: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def train(torch: Any, m: Any, optimizer: Any, steps: int = 5, early: bool = False, kept: Any = None, **how: Any) -> Any:
    x = torch.randn(6, 3)
    losses = []
    total = 0.0
    with watch(m, every=1, **how) as w:
        for _ in range(steps):
            optimizer.zero_grad()
            out = m(x)
            loss = out.square().mean()
            loss.backward()
            if kept == "list":
                losses.append(loss)
            if kept == "sum":
                total = total + loss
            if early:
                optimizer.zero_grad()
            optimizer.step()
    return w


def said(w: Any, text: str) -> list[str]:
    return [line for line in w.problems() if text in line]


@both
def test_a_sound_loop_has_no_problems(torch: Any) -> None:
    m = net(torch)
    w = train(torch, m, torch.optim.Adam(m.parameters(), lr=0.01), window=2)
    assert [line for line in w.problems() if "of its" not in line] == []
    scheduled = torch.optim.SGD(m.parameters(), lr=0.1)
    torch.optim.lr_scheduler.LambdaLR(scheduled, lambda step: 0.0 if step == 0 else 1.0)
    assert said(train(torch, m, scheduled, 1), "learning rate") == []       # a warm-up begins at 0


@both
def test_a_learning_rate_of_0_is_named(torch: Any) -> None:
    m = net(torch)
    [line] = said(train(torch, m, torch.optim.SGD(m.parameters(), lr=0.0)), "learning rate")
    assert "the learning rate of SGD is 0" in line


@both
@pytest.mark.parametrize("to_none", [True, False])
def test_zero_grad_before_step_is_named(torch: Any, to_none: bool) -> None:
    m = net(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    plain = optimizer.zero_grad
    optimizer.zero_grad = lambda: plain(set_to_none=to_none)
    [line] = said(train(torch, m, optimizer, early=True), "zero_grad()")
    assert "step() of SGD: it found no gradients in 4 of 5 looks" in line


@both
def test_layers_in_a_python_list_and_loose_tensors_are_named(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(3, 3)
            self.blocks = [torch.nn.Linear(3, 3)]
            self.scale = torch.ones(3, requires_grad=True)

        def forward(self, x: Any) -> Any:
            return self.blocks[0](self.first(x)) * self.scale

    m = Net()
    w = train(torch, m, torch.optim.SGD(m.parameters(), lr=0.1))
    assert said(w, "blocks is a Python list") and "nn.ModuleList" in said(w, "blocks")[0]
    assert said(w, "scale requires grad but is not an nn.Parameter")


@both
def test_parameters_without_an_optimizer_and_a_head_that_never_moves_are_named(torch: Any) -> None:
    m = net(torch)
    w = train(torch, m, torch.optim.SGD(m[0].parameters(), lr=0.1))
    assert "no optimizer that stepped holds 2.weight, 2.bias" in said(w, "no optimizer")[0]
    m = net(torch)
    groups = [{"params": m[0].parameters()}, {"params": m[2].parameters(), "lr": 0.0}]
    w = train(torch, m, torch.optim.SGD(groups, lr=0.1))
    assert said(w, "never moved") == ["2.weight, 2.bias never moved in 5 looks, while others did"]
    m = net(torch)
    m[2].requires_grad_(False)
    assert said(train(torch, m, torch.optim.SGD(m[0].parameters(), lr=0.1)), "no optimizer") == []


@both
@pytest.mark.parametrize("kept", ["list", "sum", "hidden"])
def test_what_keeps_graphs_from_step_to_step_is_named(torch: Any, kept: str) -> None:
    m = net(torch)
    if kept == "hidden":                                # updated by hand: a step would edit what the old graph reads
        with watch(m, every=1) as w:
            h = torch.zeros(6, 2)
            for _ in range(5):
                h = (h * 0.5 + m(torch.ones(6, 3))).tanh()
                h.square().mean().backward(retain_graph=True)
                w.step()
        [line] = [line for line in said(w, "keeps the graphs") if line.startswith("h ")]
    else:
        found = said(train(torch, m, torch.optim.SGD(m.parameters(), lr=0.01), kept=kept), "keeps the graphs")
        [line] = [line for line in found if line.startswith({"list": "losses ", "sum": "total "}[kept])]
    assert "detach()" in line


@both
def test_units_that_were_never_above_0_over_a_window_are_named_with_their_layer(torch: Any) -> None:
    m = net(torch)
    with torch.no_grad():
        m[0].weight.fill_(0.1)
        m[0].bias.copy_(torch.tensor([1.0, -9.0, 1.0, -9.0]))
    optimizer = torch.optim.SGD(m.parameters(), lr=1e-4)
    w = train(torch, m, optimizer, 2, window=3)
    assert w.dead_units() == {}                         # not known before three looks
    w = train(torch, m, optimizer, 4, window=3)
    assert w.dead_units() == {"1": [1, 3]}
    assert "1: 2 of its 4 units were never above 0 in the last 3 looks: 1, 3" in list(w.problems())
    x = torch.zeros(1, 3)
    with watch(m, every=1, window=2) as w:
        for bias in (1.0, -9.0, -9.0):
            with torch.no_grad():
                m[0].bias.fill_(bias)
            m(x).sum().backward()
            optimizer.step()
            if bias > 0:
                assert w.dead_units() == {}
    assert w.dead_units() == {"1": [0, 1, 2, 3]}


@both
def test_numbers_go_to_a_function_at_each_look(torch: Any) -> None:
    m = net(torch)
    logged: list[Any] = []
    w = train(torch, m, torch.optim.SGD(m.parameters(), lr=0.1), 3, log=lambda numbers, step: logged.append((numbers, step)))
    assert [step for _, step in logged] == [1, 2, 3]
    row = next(r for r in w.rows if r["step"] == 2 and r["name"] == "0.weight")
    assert logged[1][0]["grad_norm/0.weight"] == row["grad_norm"] and logged[1][0]["ratio/0.weight"] == row["ratio"]
    assert "dead/1" in logged[0][0] and None not in logged[0][0].values()
    with pytest.raises(TypeError, match="log must be a function"):
        watch(m, log=3)
    with pytest.raises(ValueError, match="window must be"):
        watch(m, window=0)


@both
def test_problems_print_one_a_line(torch: Any) -> None:
    m = net(torch)
    found = train(torch, m, torch.optim.SGD(m.parameters(), lr=0.0)).problems()
    assert isinstance(found, list) and len(found) > 0 and str(found) == repr(found) == "\n".join(found)
    assert str(watch(m).problems()) == "no problems"


@both
def test_three_losses_of_one_name_are_no_growing_graph(torch: Any) -> None:
    m = net(torch)
    optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in m if list(part.parameters())]
    optimizers.append(torch.optim.SGD(m.parameters(), lr=0.1))
    with watch(m, every=1) as w:
        for _ in range(4):
            for n, optimizer in enumerate(optimizers):
                loss = m(torch.ones(2, 3)).sum()
                for _ in range(n):
                    loss = loss * 1.0
                loss.backward()
                optimizer.step()
    assert said(w, "keeps the graphs") == []
