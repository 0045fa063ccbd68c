"""What is asked of a recording takes time in proportion to its length: lines run are counted, which no clock disturbs."""
from __future__ import annotations

import sys

import pytest

import retrograd as torch
from retrograd import microscope, nn


class Row(nn.Module):
    """Layers whose outputs are added up: many ways from the loss."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(n))

    def forward(self, x):
        return sum(layer(x) for layer in self.layers)


MODELS = {
    "a chain": lambda n: nn.Sequential(*(nn.Linear(2, 2) for _ in range(n))),
    "beside one another": Row,
    "one layer, again": lambda n: nn.Sequential(*[nn.Linear(2, 2)] * n),
}


def recorded(make, n, scale):
    model = make(n)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with microscope.record(model) as rec:
        (model(torch.ones(1, 2)).sum() * scale).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer, rec


def lines(f, *args, **kwargs):
    count = 0

    def trace(*_):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        f(*args, **kwargs)
    finally:
        sys.settrace(before)
    return count


def of_each(ask):
    return lambda model, optimizer, rec: [ask(rec, p) for p in model.parameters()]


QUESTIONS = {
    "trouble": lambda model, optimizer, rec: str(rec.trouble()),
    "ledgers": of_each(lambda rec, p: str(rec.ledger(p))),
    "why_none": of_each(lambda rec, p: str(rec.why_none(p))),
    "lint": lambda model, optimizer, rec: microscope.lint(model, optimizer=optimizer),
}


@pytest.mark.parametrize("scale", [1.0, float("nan")])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("model", MODELS)
def test_an_answer_takes_time_in_proportion_to_the_recording(model, question, scale):
    few, many = (lines(QUESTIONS[question], *recorded(MODELS[model], n, scale)) for n in (60, 240))
    assert many < 5 * few
