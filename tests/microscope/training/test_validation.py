"""Attributions and their proof, on a task of which every retraining is known."""
from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest

from retrograd import microscope
from retrograd.microscope import ReplayError, Steps
from retrograd.microscope.training.attribution import METHODS
from retrograd.microscope.training.validation import ranks, spearman


class Task:
    """Least squares by full batches: the number after the training is nearly linear in the samples' weights."""

    def __init__(self, torch: Any, classes: bool = False) -> None:
        self.torch, self.classes = torch, classes
        torch.manual_seed(2)
        self.x = torch.randn(24, 3)
        self.y = (self.x[:, 0] > 0).long() if classes else self.x @ torch.tensor([[1.0], [2.0], [-1.0]]) + torch.randn(24, 1)
        self.seen = torch.randn(4, 3)

    def losses(self, model: Any, i: Any) -> Any:
        F = self.torch.nn.functional
        if self.classes:
            return F.cross_entropy(model(self.x[i]), self.y[i], reduction="none")
        return (model(self.x[i]) - self.y[i]).pow(2).sum(1)

    def train(self, steps: Any, weight: Any) -> Any:
        torch = self.torch
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2 if self.classes else 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i in steps([torch.arange(24)] * 12, model, optimizer):
            optimizer.zero_grad()
            (self.losses(model, i) * weight[i]).mean().backward()
            optimizer.step()
        return model

    def evaluate(self, model: Any) -> Any:
        return model(self.seen)[:, 0]


def test_metagradients_foretell_retrainings_and_noise_does_not(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(24)
    exact = microscope.metagradient(task.train, task.evaluate, {"weight": weight}, smoothness=0)["weight"].T
    noise = torch.randn(24, 4)
    found = microscope.validate({"exact": exact, "noise": noise}, task.train, task.evaluate, weight, subsets=30, workers=1)
    assert found.lds["exact"].value > 0.95 and abs(found.lds["noise"].value) < 0.4
    assert found.lds["noise"].low < found.lds["noise"].value < found.lds["noise"].high
    assert found.left_out.shape == (30, 1) and found.retrained.shape == (30, 4) and found.seconds > 0
    want = task.evaluate(task.train(Steps(), weight)).detach()
    assert found.full.tolist() == want.tolist()
    without = weight.clone()
    without[int(found.left_out[3][0])] = 0
    assert found.retrained[3].tolist() == task.evaluate(task.train(Steps(), without)).tolist()
    assert list(found.brittleness) == ["exact", "noise", "random"] and [k for k, _ in found.brittleness["exact"]] == [1, 2]
    assert str(found).splitlines()[0].split() == ["method", "LDS", "95", "%", "without", "1", "without", "2", "seconds"]


def test_brittleness_leaves_out_what_lowers_the_number_most(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(24)

    def number(model: Any) -> Any:
        return task.evaluate(model).mean()

    exact = microscope.metagradient(task.train, number, {"weight": weight}, smoothness=0)["weight"]
    found = microscope.validate({"exact": exact}, task.train, number, weight, subsets=3, brittle=(0.1, 0.3), workers=1)
    (few, small), (more, large) = found.brittleness["exact"]
    assert (few, more) == (2, 7) and 0 < small < large
    without = weight.clone()
    without[exact.argsort()[:2]] = 0
    assert small == pytest.approx((number(task.train(Steps(), without)) - number(task.train(Steps(), weight))).item(), rel=1e-4)


def test_processes_find_what_one_process_finds(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(24)
    score = {"any": torch.randn(24, 4)}
    one, two = (microscope.validate(score, task.train, task.evaluate, weight, subsets=6, workers=n) for n in (1, 2))
    assert np.array_equal(one.retrained, two.retrained) and one.lds == two.lds and one.brittleness == two.brittleness


def test_every_method_scores_all_samples_in_one_sign(torch: Any) -> None:
    task, weight = Task(torch, classes=True), torch.ones(24)
    found = microscope.attributions(task.train, task.evaluate, task.losses, weight, checkpoints=3)
    assert list(found) == list(METHODS) == list(found.seconds) and all(x.shape == (24, 4) for x in found.values())
    exact = found["metagradient"].numpy()
    for name, score in found.items():
        assert spearman(score.numpy(), exact) > 0.5 or name == "TRAK", name
    one = microscope.attributions(task.train, lambda model: task.evaluate(model)[0], task.losses, weight,
                                  methods=["gradient dot", "TracIn", "EK-FAC", "cosine"], checkpoints=3)
    for name, score in one.items():
        assert score.shape == (24,) and torch.allclose(score, found[name][:, 0], rtol=1e-3, atol=1e-5), name


def test_a_dot_product_foretells_one_more_step(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(24)
    score = microscope.attributions(task.train, task.evaluate, task.losses, weight, methods=["gradient dot"])["gradient dot"]
    model = task.train(Steps(), weight)
    before = task.evaluate(model).detach()
    model.zero_grad()
    task.losses(model, torch.tensor([5])).sum().backward()
    with torch.no_grad():
        for p in model.parameters():
            p.sub_(1e-3 * p.grad)
    assert torch.allclose((task.evaluate(model) - before) / 1e-3, score[5], rtol=1e-2, atol=1e-3)


def test_trak_is_its_definition(torch: Any) -> None:
    task, weight = Task(torch, classes=True), torch.ones(24)

    def evaluate(model: Any) -> Any:
        out = model(task.seen)
        return out[:, 0] - out[:, 1]

    found = microscope.attributions(task.train, evaluate, task.losses, weight, methods=["TRAK"], dim=4)["TRAK"]
    model = task.train(Steps(), weight)

    def slope(x: Any) -> Any:
        return np.concatenate([g.numpy().reshape(-1) for g in torch.autograd.grad(x, list(model.parameters()))])

    p = (-task.losses(model, torch.arange(24))).exp().detach().numpy()
    rows = []
    for n in range(24):
        q = (-task.losses(model, torch.tensor([n]))[0]).exp()
        rows.append(slope(q.log() - (1 - q).log()))
    G = np.stack(rows)
    asked = np.stack([slope(evaluate(model)[k]) for k in range(4)])
    want = (G @ np.linalg.pinv(G.T @ G, rcond=1e-5) @ asked.T) * (1 - p)[:, None]       # all slopes lie in 4 dimensions
    np.testing.assert_allclose(found.numpy(), want, rtol=0.02, atol=0.01 * abs(want).max())


def test_ranks_and_their_correlation() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [2.5, 0.0, 2.5, 1.0]
    a = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert spearman(a, a**3) == pytest.approx(1) and spearman(a, -a) == pytest.approx(-1)
    assert spearman(a, np.array([[2.0], [1.0], [4.0], [3.0]])) == pytest.approx(0.6)
    assert spearman(a, a * 0) == 0


def test_arguments_that_make_no_sense_are_refused(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(24)
    with pytest.raises(ValueError, match="unknown methods"):
        microscope.attributions(task.train, task.evaluate, task.losses, weight, methods=["shapley"])
    with pytest.raises(ReplayError, match="must return its model"):
        microscope.attributions(lambda steps, weight: [task.train(steps, weight)], task.evaluate, task.losses, weight)
    with pytest.raises(ValueError, match="leave_out between"):
        microscope.validate({"a": torch.ones(24)}, task.train, task.evaluate, weight, leave_out=1.0)
    def check(error: Any, text: str, scores: Any = None, **how: Any) -> None:
        with pytest.raises(error, match=text):
            microscope.validate({"a": torch.ones(24)} if scores is None else scores, task.train, task.evaluate,
                                how.pop("weight", weight), **how)

    check(TypeError, "validate: scores must be a dict, got Tensor", torch.ones(24))
    check(ValueError, "scores of a must be .N,. or .N, K. with N = 24, as weight has, not .23,.", {"a": torch.ones(23)})
    check(ValueError, "scores of a are NaN or inf for 24 of 24 samples", {"a": torch.ones(24) * torch.nan})
    check(ValueError, "weight must be .N,. ones", weight=torch.ones(24, 1))
    check(ValueError, "got 1 methods, leave_out=0.05, subsets=2", subsets=2)
    check(ValueError, "brittle must be shares of the samples", brittle=(0.1, 5))
    check(ValueError, "workers must be a positive number", workers=0)
    check(TypeError, "validate: scores of a must be numbers, got str", {"a": "b"})
    check(TypeError, "validate: weight must be a tensor .N,. of ones, got list", weight=[1.0])
    with pytest.raises(ValueError, match="a scores 1 numbers, evaluate.. gives 4"):
        microscope.validate({"a": torch.ones(24)}, task.train, task.evaluate, weight, subsets=3, workers=1)


def test_trainings_that_prove_nothing_are_refused_or_warned_of(torch: Any) -> None:
    task, weight, score = Task(torch), torch.ones(24), {"a": torch.arange(24.0)[:, None].expand(24, 4)}

    def run(train: Any, evaluate: Any = task.evaluate, workers: int = 1) -> Any:
        return microscope.validate(score, train, evaluate, weight, subsets=4, workers=workers)

    def drawing(steps: Any, weight: Any) -> Any:
        return task.train(steps, weight * (1 + random.random()))

    def killed(steps: Any, weight: Any) -> Any:
        os._exit(3)

    with pytest.raises(ValueError, match="every training gives the same numbers, whoever is left out"):
        run(lambda steps, _: task.train(steps, torch.ones(24)))
    with pytest.raises(ValueError, match="NaN or inf after . of . trainings"):
        run(lambda steps, weight: task.train(steps, weight * torch.nan))
    with pytest.warns(UserWarning, match="two trainings with the same weights differ by .* seed all that train.. draws"):
        run(drawing)
    with pytest.raises(TypeError, match="evaluate.. must give numbers, got NoneType"):
        run(task.train, lambda model: None)
    with pytest.raises(RuntimeError, match="a process that trained was killed"):
        run(killed, workers=2)


def test_losses_and_dampings_that_fit_no_samples_are_refused(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(24)
    for losses, said in ((lambda model, i: task.losses(model, i).mean(), r"of shape \(\)"), (lambda model, i: 1.0, "float")):
        with pytest.raises(ValueError, match=f"must give a loss of each sample in i, .24,. for all, not {said}"):
            microscope.attributions(task.train, task.evaluate, losses, weight, methods=["cosine"])
    with pytest.raises(ValueError, match="attributions: damping must not be negative, got -1.0"):
        microscope.attributions(task.train, task.evaluate, task.losses, weight, methods=["K-FAC"], damping=-1.0)
    with pytest.raises(ValueError, match="attributions: weight must be .N,. ones, one for each sample, not of shape .24, 1."):
        microscope.attributions(task.train, task.evaluate, task.losses, weight[:, None])
