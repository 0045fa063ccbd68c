"""Contracts: what is kept of a backward pass, what a change of the model is told as, files, and pytest's plugin."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warm

from retrograd import microscope

ROOT = Path(__file__).resolve().parents[3]


def twice(g: Any) -> Any:
    return g * 2


def look(*_: Any) -> None:
    pass


def net(torch: Any, cut: bool = False, scale: float = 1.0, hooked: bool = True, frozen: bool = False) -> Any:
    """A function that makes the model."""
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body, self.norm = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)
            self.drop, self.head, self.spare = torch.nn.Dropout(), torch.nn.Linear(4, 2), torch.nn.Linear(2, 2)
            if hooked:
                self.head.weight.register_hook(look)
                self.head.weight.register_hook(twice)
            if frozen:
                self.head.bias.requires_grad_(False)

        def forward(self, x: Any) -> Any:
            h = torch.relu(self.norm(self.body(x)))
            return self.head(self.drop(h.detach() if cut else h)) * scale

    return Net


def batch(torch: Any) -> Any:
    return torch.arange(15.0).reshape(5, 3).sin()


def sentences(kept: Any, model: Any, x: Any, **more: Any) -> str:
    with pytest.raises(AssertionError) as error:
        microscope.assert_contract(kept, model, x, **more)
    return str(error.value)


def test_a_contract_holds_after_a_round_trip_and_has_the_programs_numbers(torch: Any, tmp_path: Path) -> None:
    path, x = tmp_path / "grads.json", batch(torch)
    microscope.contract(net(torch), x).save(path)
    microscope.assert_contract(path, net(torch), x)
    kept = microscope.Contract.load(path)
    torch.manual_seed(0)
    model = net(torch)()
    loss = model(x).square().mean()
    loss.backward()
    assert kept.loss == pytest.approx(loss.item(), rel=1e-6)
    for name, p in model.named_parameters():
        found = kept.parameters[name]
        assert found.shape == tuple(p.shape) and found.dtype == "float32"
        if p.grad is None:
            assert found.gradient is None and found.why == "module_not_called"
        else:
            assert found.gradient.norm == pytest.approx(float(p.grad.norm()), rel=1e-5, abs=1e-6)
    assert [(h.name, h.on, h.changed) for h in kept.hooks] == [("look", "head.weight", False), ("twice", "head.weight", True)]
    assert [o.module for o in kept.outputs] == ["body", "norm", "drop", "head", "the model"]


def test_taking_a_contract_leaves_grads_buffers_and_generators(torch: Any) -> None:
    model, x = net(torch)(), batch(torch)
    model(x).sum().backward()
    grads, mean = [p.grad for p in model.parameters()], model.norm.running_mean.clone()
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    drawn = random.random(), np.random.rand(), torch.rand(1).item()
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    first = microscope.contract(model, x, seed=3)
    assert all(p.grad is g for p, g in zip(model.parameters(), grads))
    assert torch.equal(model.norm.running_mean, mean)
    assert (random.random(), np.random.rand(), torch.rand(1).item()) == drawn
    assert first.text() == microscope.contract(model, x, seed=3).text() != microscope.contract(model, x, seed=4).text()


def test_a_lost_gradient_is_told_with_its_cause_and_line(torch: Any) -> None:
    kept = microscope.contract(net(torch), batch(torch))
    text = sentences(kept, net(torch, cut=True), batch(torch))
    assert "body.weight, body.bias, norm.weight, norm.bias no longer get a gradient: detached at " in text
    assert "test_contracts.py:" in text and text.count("\n") == 1
    back = sentences(microscope.contract(net(torch, cut=True), batch(torch)), net(torch), batch(torch))
    assert "norm.bias get a gradient: was detached" in back
    assert "head.bias no longer gets a gradient: frozen" in sentences(kept, net(torch, frozen=True), batch(torch))


def test_where_nothing_requires_grad_every_parameter_has_its_cause(torch: Any) -> None:
    def loss(out: Any) -> Any:
        return out.detach().sum()

    found = microscope.contract(net(torch), batch(torch), loss).parameters
    assert {p.why for name, p in found.items() if not name.startswith("spare")} == {"detached"}


def test_other_sizes_are_told_with_where_they_begin(torch: Any) -> None:
    x = batch(torch)
    kept = microscope.contract(net(torch), x)
    text = sentences(kept, net(torch, scale=2.0), x)
    assert "every gradient is 4 times what it was" in text
    assert "the output of the model is the first that differs" in text
    assert "of the same outputs of modules" in sentences(kept, net(torch), x, loss=lambda out: out.abs().mean())
    assert "the values of body.weight are others" in sentences(kept, net(torch), x, seed=1)
    nan = sentences(kept, net(torch, scale=float("nan")), x)
    assert "norm of the gradient nan" in nan and "the first NaN is made by mul" in nan
    microscope.assert_contract(kept, net(torch, scale=1.0001), x)
    assert "output of the model" in sentences(kept, net(torch, scale=1.0001), x, rtol=1e-5)


def test_hooks_that_are_missing_silent_or_in_another_order_are_told(torch: Any) -> None:
    x = batch(torch)
    kept = microscope.contract(net(torch), x)
    text = sentences(kept, net(torch, hooked=False), x)
    assert "tensor hook look of head.weight no longer fires: it is not registered any more" in text
    assert "head.weight: norm of the gradient" in text and "the difference is in backward" in text

    def turned() -> Any:
        model = net(torch, hooked=False)()
        model.head.weight.register_hook(twice)
        model.head.weight.register_hook(look)
        return model

    assert "hooks fire in another order: firing 1 is of tensor hook twice of head.weight" in sentences(kept, turned, x)

    def silent() -> Any:
        model = net(torch)()
        model.spare.register_full_backward_hook(look)
        return model

    assert "hook look of spare does not fire: module_not_called" in sentences(kept, silent, x)


def test_parameters_of_other_names_shapes_and_dtypes_are_told(torch: Any) -> None:
    kept = microscope.contract(lambda: torch.nn.Linear(3, 2), batch(torch))
    text = sentences(kept, lambda: torch.nn.Linear(3, 4, bias=False).double(), batch(torch).double())
    assert "weight: shape (4, 3), was (2, 3)" in text and "weight: dtype float64, was float32" in text
    assert "bias: not in the model any more" in text


def test_batches_may_be_tuples_and_keywords_and_models_may_return_their_loss(torch: Any) -> None:
    class Own(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.head = torch.nn.Linear(3, 1)

        def forward(self, x: Any, y: Any = None) -> Any:
            out = self.head(x)
            return out if y is None else {"loss": (out - y).square().mean(), "out": out}

    model, x, y = Own(), batch(torch), torch.ones(5, 1)
    by_keyword = microscope.contract(model, {"x": x, "y": y})
    by_loss = microscope.contract(model, (x, y), torch.nn.functional.mse_loss)
    by_forward = microscope.contract(model, (x, y), lambda out, y: out["loss"], forward=lambda model, x, y: model(x, y))
    for found in (by_loss, by_forward, microscope.contract(model, (x, y))):
        assert found.loss == pytest.approx(by_keyword.loss, rel=1e-6)
        assert found.parameters["head.weight"].gradient == by_keyword.parameters["head.weight"].gradient
    with pytest.raises(microscope.CaptureError, match=r"tensor of one number, not \(5, 1\)"):
        microscope.contract(model, x, lambda out: out)


def test_what_nothing_can_be_kept_to_is_refused(torch: Any, tmp_path: Path) -> None:
    for x in (torch.full((2, 3), float("nan")), torch.ones(0, 3)):
        with pytest.raises(microscope.ContractError, match=r"grads.json: not written: .* is NaN or inf"):
            microscope.contract(torch.nn.Linear(3, 2), x).save(tmp_path / "grads.json")
    with pytest.raises(microscope.CaptureError, match="contract: ReLU has no parameters"):
        microscope.contract(torch.nn.ReLU(), batch(torch))
    kept = microscope.contract(torch.nn.Linear(3, 2), batch(torch))
    for call in (kept.save, microscope.Contract.load, lambda path: microscope.assert_contract(path, torch.nn.Linear(3, 2))):
        with pytest.raises(TypeError, match="path must be a .*path, got int"):
            call(3)
    assert not list(tmp_path.iterdir())


GOOD = ('{"format": "retrograd-gradient-contract", "version": 1, "engine": "retrograd", "seed": 0, "loss": 1.0,'
        ' "parameters": [["w", [2], "float32", 1.0, ["float32", 2.0], null]], "hooks": [], "silent": [], "outputs": []}')


@pytest.mark.parametrize("old, new, says", [
    ("", "", None),
    ('"version": 1', '"version": 9', "version 9; this retrograd reads up to 1"),
    ('"version": 1', '"version": true', "must be a number from 1"),
    ("retrograd-gradient-contract", "other", "not a gradient contract"),
    ("[]}", "[", "not JSON"),
    ("1.0,", "NaN,", "not JSON"),
    ('"hooks": []', '"hooks": {}', "'hooks' must be a list of rows of 4"),
    ('"loss": 1.0', '"loss": [1]', "expected a number"),
    ("[2]", "[-2]", "expected a shape"),
    ('["float32", 2.0]', '["float32"]', "a gradient's dtype and norm"),
    ('["float32", 2.0]', "null", "needs either a gradient or a cause"),
    (GOOD, "[" * 100_000, "not JSON"),
])
def test_a_file_that_is_no_contract_is_refused_with_its_name(tmp_path: Path, old: str, new: str, says: str | None) -> None:
    path = tmp_path / "grads.json"
    path.write_text(GOOD.replace(old, new) if old else GOOD)
    if says is None:
        assert microscope.Contract.load(path).parameters["w"].gradient.norm == 2  # type: ignore[union-attr]
        return
    with pytest.raises(microscope.ContractError, match="grads.json") as error:
        microscope.Contract.load(path)
    assert says in str(error.value)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    import retrograd
    path = tmp_path / "grads.json"
    microscope.contract(retrograd.nn.Linear(2, 1), retrograd.ones(1, 2)).save(path)
    before = path.read_text()
    broken = microscope.contract(retrograd.nn.Linear(2, 1), retrograd.ones(1, 2))
    broken.engine = object()  # type: ignore[assignment]
    with pytest.raises(TypeError):
        broken.save(path)
    assert path.read_text() == before and json.loads(before)["version"] == 1 and os.listdir(tmp_path) == ["grads.json"]


# -- pytest's plugin

TEST = """
import retrograd as torch

def test_head(gradient_contract):
    gradient_contract(lambda: torch.nn.Linear(3, SIZE), torch.ones(2, 3), name="a/b")
"""


def pytest_run(folder: Path, *more: str) -> tuple[int, str]:
    done = warm.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "retrograd_pytest", *more, cwd=folder,
                    packages=("pytest", *warm.RETROGRAD), env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.once
def test_the_fixture_keeps_its_file_beside_the_test(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    test, file = tmp_path / "test_it.py", tmp_path / "gradient_contracts" / "test_it.test_head.a%2Fb.json"
    test.write_text(TEST.replace("SIZE", "2"))
    status, said = pytest_run(tmp_path)
    assert status == 1 and "pytest --gradient-contracts-update writes it" in said and not file.exists()
    assert pytest_run(tmp_path, "--gradient-contracts-update")[0] == 0
    written = file.stat().st_mtime_ns
    assert pytest_run(tmp_path)[0] == 0
    assert pytest_run(tmp_path, "--gradient-contracts-update")[0] == 0 and file.stat().st_mtime_ns == written
    test.write_text(TEST.replace("SIZE", "1"))
    status, said = pytest_run(tmp_path)
    assert status == 1 and "weight: shape (1, 3), was (2, 3)" in said
    assert pytest_run(tmp_path, "--gradient-contracts-update")[0] == 0 and pytest_run(tmp_path)[0] == 0


def test_pytest_finds_the_plugin_which_imports_retrograd_only_when_used() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    assert points == {"retrograd_pytest": "retrograd_pytest"}
    code = "import sys, retrograd_pytest; print({'retrograd', 'numpy', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
