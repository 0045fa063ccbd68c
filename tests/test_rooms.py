"""A small test of each room, for `make quick`: is anything broken at all? The files named after the rooms test them."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest

import retrograd as torch
from retrograd.cli.command_line import main
from retrograd.microscope import capture, lint_recording, record


def test_engine() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    [g] = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    g.sum().backward()
    assert g.tolist() == [3.0, 12.0] and x.grad.tolist() == [6.0, 12.0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        x.detach().sum().backward()


def test_operations_and_views() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    y = x.t()
    y[0, 1] = 9
    assert x.tolist() == [[0, 1, 2], [9, 4, 5]] and (x @ x.t()).tolist() == [[5, 14], [14, 122]]
    assert torch.softmax(torch.zeros(4), 0).tolist() == [0.25] * 4 and repr(x[1]) == "tensor([9., 4., 5.])"


def test_layers_and_optimizers() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv1d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4, 1))
    x, seen, losses = torch.randn(8, 1, 4), [], []
    model[1].register_forward_hook(lambda module, args, y: seen.append(y.shape))
    for kind in (torch.optim.SGD, torch.optim.Adam):
        optimizer = kind(model.parameters(), lr=0.01)
        for _ in range(5):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), x.sum(2))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < losses[0] and seen[0] == (8, 2, 2)


def test_files() -> None:
    file = io.BytesIO()
    torch.save({"w": torch.arange(3), "n": [1]}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["w"].tolist() == [0, 1, 2] and found["n"] == [1]


def test_data() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(5))
    assert [len(x) for [x] in torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)] == [2, 2, 1]


def test_distributions() -> None:
    normal = torch.distributions.Normal(0.0, 1.0)
    assert math.isclose(normal.log_prob(torch.tensor(0.0)).item(), -0.5 * math.log(2 * math.pi), rel_tol=1e-6)
    assert normal.sample((3,)).shape == (3,)


def test_transforms_of_functions() -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.func.jacrev(lambda v: v * v)(x).tolist() == [[2, 0], [0, 4]]
    assert torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3)).tolist() == [3, 3]


@pytest.mark.parametrize("name", ["retrograd", pytest.param("torch", marks=[pytest.mark.oracle, pytest.mark.once])])
def test_microscope(name: str) -> None:
    engine: Any = pytest.importorskip(name)
    model = engine.nn.Linear(2, 1)
    with record(model) as rec:
        model(engine.ones(3, 2)).sum().backward()
    assert rec.engine == name and rec.error is None and lint_recording(rec) == []
    captured = capture(model)
    with captured:
        model(engine.ones(3, 2)).sum().backward()
    assert captured.grads().weight_grad()["weight"].tolist() == [[3.0, 3.0]]


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0 and "retrograd" in capsys.readouterr().out
