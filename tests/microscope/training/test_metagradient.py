"""Metagradients, against central differences of whole trainings."""
from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from retrograd import microscope
from retrograd.microscope import ReplayError, Steps
from retrograd.microscope.training.shelf import Shelf


def difference(train: Any, evaluate: Any, wrt: dict[str, Any], name: str, place: Any, h: float = 1e-5) -> Any:
    """d evaluate / d wrt[name][place], by two trainings."""
    ends = []
    for way in (h, -h):
        moved = {k: x.clone() for k, x in wrt.items()}
        moved[name][place] += way
        ends.append(evaluate(train(Steps(), **moved)).detach())
    return ((ends[0] - ends[1]) / (2 * h)).tolist()


class Task:
    """A classifier of 20 points, and the number that is asked about."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        torch.manual_seed(1)
        self.x, self.y = torch.randn(20, 3).double(), torch.arange(20) % 2
        self.seen = torch.randn(6, 3).double()

    def model(self, *between: Any) -> Any:
        nn = self.torch.nn
        self.torch.manual_seed(0)
        return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), *between, nn.Linear(5, 2)).double()

    def loss(self, model: Any, i: Any, x: Any = None) -> Any:
        return self.torch.nn.functional.cross_entropy(model((self.x if x is None else x)[i]), self.y[i], reduction="none")

    def evaluate(self, model: Any) -> Any:
        return model(self.seen)[:, 0].sigmoid().mean()

    def order(self, rounds: int = 3) -> list[Any]:
        return [i for _ in range(rounds) for i in self.torch.randperm(20).split(5)]


OPTIMIZERS = [("SGD", {"lr": 0.3, "momentum": 0.9, "nesterov": True}), ("Adam", {"lr": 0.02, "amsgrad": True}),
              ("AdamW", {"lr": 0.02}), ("RMSprop", {"lr": 0.01, "momentum": 0.5}), ("NAdam", {"lr": 0.02}),
              ("Adagrad", {"lr": 0.05}), ("ASGD", {"lr": 0.2, "t0": 3})]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=[name for name, _ in OPTIMIZERS])
def test_derivatives_in_sample_weights_are_those_of_retrainings(torch: Any, name: str, options: dict[str, Any]) -> None:
    task = Task(torch)

    def train(steps: Any, weight: Any) -> Any:
        model = task.model()
        optimizer = getattr(torch.optim, name)(model.parameters(), **options)
        for i in steps(task.order(), model, optimizer):
            optimizer.zero_grad()
            (weight[i] * task.loss(model, i)).mean().backward()
            optimizer.step()
        return model

    wrt = {"weight": torch.ones(20).double()}
    found = microscope.metagradient(train, task.evaluate, wrt, smoothness=0)
    assert found.steps == 12 and found["weight"].shape == (20,)
    assert found.value.tolist() == task.evaluate(train(Steps(), **wrt)).tolist()
    for n in (0, 7, 13):
        assert found["weight"][n].item() == pytest.approx(difference(train, task.evaluate, wrt, "weight", n), rel=1e-3)


def test_rates_decay_data_and_the_start_through_dropout_a_loader_and_a_schedule(torch: Any) -> None:
    task, data = Task(torch), torch.utils.data

    def train(steps: Any, lr: Any, decay: Any, x: Any, start: Any) -> Any:
        model = task.model(torch.nn.Dropout(0.3))
        with torch.no_grad():
            model[0].weight.copy_(start)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
        batches = data.DataLoader(data.TensorDataset(torch.arange(20)), 5, shuffle=True)
        for _ in range(3):
            for [i] in steps(batches, model, optimizer, schedule):
                optimizer.param_groups[0]["weight_decay"] = decay * 2
                optimizer.param_groups[0]["lr"] = lr[steps.number] * 0.9**(steps.number // 4)
                optimizer.zero_grad()
                task.loss(model, i, x).mean().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.2)
                optimizer.step()
            schedule.step()
        return model.eval()

    wrt = {"lr": torch.linspace(0.5, 0.2, 12).double(), "decay": torch.tensor(0.01).double(), "x": task.x.clone(),
           "start": torch.randn(5, 3).double()}
    found = microscope.metagradient(train, task.evaluate, wrt, smoothness=0)
    for name, place in (("lr", 0), ("lr", 11), ("decay", ()), ("x", (4, 1)), ("start", (2, 2))):
        want = difference(train, task.evaluate, wrt, name, place)
        told = (found.initial["0.weight"] if name == "start" else found[name])[place].item()
        assert told == pytest.approx(want, rel=1e-4), name
    assert found["start"].abs().max() == 0          # what is copied without a graph is asked of `initial`


def test_options_may_be_made_of_what_is_asked_about_before_the_loop(torch: Any) -> None:
    task = Task(torch)

    def train(steps: Any, rate: Any, decay: Any) -> Any:
        model = task.model()
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate.exp() / 10, eps=1e-3)
        for i in steps(task.order(), model, optimizer):
            optimizer.param_groups[0]["weight_decay"] = decay
            optimizer.zero_grad()
            task.loss(model, i).mean().backward()
            optimizer.step()
        return model

    wrt = {"rate": torch.tensor(-1.0).double(), "decay": torch.tensor(0.1).double()}
    found = microscope.metagradient(train, task.evaluate, wrt, smoothness=0)
    for name in wrt:
        assert found[name].item() == pytest.approx(difference(train, task.evaluate, wrt, name, ()), rel=1e-5), name


def test_weights_of_tokens_and_several_numbers_at_once(torch: Any) -> None:
    nn = torch.nn
    torch.manual_seed(3)
    text = torch.randint(6, (8, 5))

    def train(steps: Any, weight: Any) -> Any:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6)).double()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for i in steps([torch.tensor([0, 1, 2, 3]), torch.tensor([4, 5, 6, 7])] * 3, model, optimizer):
            optimizer.zero_grad()
            losses = nn.functional.cross_entropy(model(text[i, :-1]).transpose(1, 2), text[i, 1:], reduction="none")
            (losses * weight[i]).sum().backward()
            optimizer.step()
        return model

    def evaluate(model: Any) -> Any:
        return torch.stack([model(torch.tensor([k])).log_softmax(-1)[0, 2] for k in (0, 3)])

    wrt = {"weight": torch.ones(8, 4).double()}
    found = microscope.metagradient(train, evaluate, wrt, smoothness=0)
    assert found["weight"].shape == (2, 8, 4) and found.initial["1.bias"].shape == (2, 6) and found.value.shape == (2,)
    for place in ((0, 0), (5, 2)):
        want = difference(train, evaluate, wrt, "weight", place)
        assert found["weight"][(slice(None), *place)].tolist() == pytest.approx(want, rel=1e-4, abs=1e-9)


def plain(task: Task, momentum: float = 0.9, rounds: int = 16) -> Any:
    def train(steps: Any, weight: Any) -> Any:
        model = task.model()
        optimizer = task.torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)
        for i in steps(task.order(rounds), model, optimizer):
            optimizer.zero_grad()
            (weight[i] * task.loss(model, i)).mean().backward()
            optimizer.step()
        return model
    return train


def test_few_states_are_kept_and_the_result_is_the_same(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    task, most = Task(torch), [0]
    put = Shelf.__setitem__

    def counting(self: Any, t: int, state: Any) -> None:
        put(self, t, state)
        most[0] = max(most[0], len(self.kept))

    monkeypatch.setattr(Shelf, "__setitem__", counting)
    wrt = {"weight": torch.ones(20).double()}
    found = microscope.metagradient(plain(task), task.evaluate, wrt, smoothness=0)
    assert found.steps == 64 and most[0] <= 2 * 8 + 1
    most[0] = 0
    other = microscope.metagradient(plain(task), task.evaluate, wrt, smoothness=0, keep=2)
    assert most[0] <= 3 and torch.equal(other["weight"], found["weight"])
    assert found.smoothness is None and other.growth == found.growth


def test_an_interrupted_run_goes_on(torch: Any, tmp_path: Path) -> None:
    task = Task(torch)
    train, wrt = plain(task, rounds=8), {"weight": torch.ones(20).double()}
    whole = microscope.metagradient(train, task.evaluate, wrt, smoothness=0)
    calls = [0, 0]
    real = task.loss

    def failing(model: Any, i: Any, x: Any = None) -> Any:
        calls[0] += 1
        if calls[0] == calls[1]:
            raise KeyboardInterrupt
        return real(model, i, x)

    task.loss = failing                                     # type: ignore[method-assign]
    for calls[1] in (20, 40):                               # once in the training, once on the way back
        calls[0] = 0
        with pytest.raises(KeyboardInterrupt):
            microscope.metagradient(train, task.evaluate, wrt, smoothness=0, folder=tmp_path / "run")
    with pytest.raises(ReplayError, match="different tensors in wrt"):
        microscope.metagradient(train, task.evaluate, {"weight": torch.zeros(20).double()}, folder=tmp_path / "run")
    calls[:] = [0, 0]
    found = microscope.metagradient(train, task.evaluate, wrt, smoothness=0, folder=tmp_path / "run")
    assert torch.equal(found["weight"], whole["weight"]) and found.growth == whole.growth and calls[0] < 90
    assert list((tmp_path / "run").iterdir()) == []


def test_a_training_that_is_not_smooth_is_said_not_to_be_trusted(torch: Any) -> None:
    task = Task(torch)

    def train(steps: Any, weight: Any) -> Any:
        model = task.model()
        optimizer = torch.optim.SGD(model.parameters(), lr=15.0)
        for i in steps(task.order(10), model, optimizer):
            optimizer.zero_grad()
            (weight[i] * task.loss(model, i)).mean().backward()
            optimizer.step()
        return model

    wrt = {"weight": torch.ones(20).double()}
    with pytest.warns(UserWarning, match="metagradient: "):
        found = microscope.metagradient(train, task.evaluate, wrt)
    assert not found.trusted and found.doubt and "NOT TO BE TRUSTED" in repr(found)
    found = microscope.metagradient(plain(task), task.evaluate, wrt)
    assert found.trusted and found.smoothness is not None and found.smoothness > 0.9
    assert found.error is not None and found.error < 0.1


def test_only_a_terminal_sees_bars(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    task, wrt = Task(torch), {"weight": torch.ones(20).double()}
    microscope.metagradient(plain(task, rounds=1), task.evaluate, wrt, smoothness=0)
    assert capsys.readouterr() == ("", "")
    microscope.metagradient(plain(task, rounds=1), task.evaluate, wrt, smoothness=0, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "back" in err and "4/4" in err


def mistakes(task: Task) -> dict[str, tuple[Any, str]]:
    torch = task.torch

    def loop(body: Any, *between: Any, made: Any = None, end: Any = None) -> Any:
        def train(steps: Any, weight: Any) -> Any:
            model = task.model(*between)
            optimizer = made(model) if made else torch.optim.SGD(model.parameters(), lr=0.1)
            for n, i in enumerate(steps(task.order(1), model, optimizer)):
                optimizer.zero_grad()
                if body(model, optimizer, i, n, (weight[i] * task.loss(model, i)).mean()):
                    break
            if end:
                end(model)
            return model.eval()
        return train

    def step(model: Any, optimizer: Any, i: Any, n: int, loss: Any) -> None:
        loss.backward()
        optimizer.step()

    def counter(model: Any, optimizer: Any, i: Any, n: int, loss: Any) -> None:
        step(model, optimizer, i, n, loss * (n + 1))

    def leaves(model: Any, optimizer: Any, i: Any, n: int, loss: Any) -> bool:
        step(model, optimizer, i, n, loss)
        return n == 2

    def edits(model: Any, optimizer: Any, i: Any, n: int, loss: Any) -> None:
        loss.backward()
        with torch.no_grad():
            model[0].weight.grad.mul_(0.5)
        optimizer.step()

    def closed(model: Any, optimizer: Any, i: Any, n: int, loss: Any) -> None:
        optimizer.step(lambda: (loss.backward(retain_graph=True), loss)[1])

    def twice(model: Any, optimizer: Any, i: Any, n: int, loss: Any) -> None:
        step(model, optimizer, i, n, loss)
        optimizer.step()

    def halved(model: Any) -> None:
        with torch.no_grad():
            model[0].weight.mul_(0.5)

    def nothing(steps: Any, weight: Any) -> Any:
        return task.model()

    def without(steps: Any, weight: Any) -> Any:
        model = task.model()
        for _ in steps([1], model):
            pass
        return model

    return {
        "a counter": (loop(counter), "step 3, repeated, gives weights that differ"),
        "break": (loop(leaves), "left its loop"),
        "edits": (loop(edits), "edits gradients where autograd does not see it"),
        "two steps": (loop(twice), "the same optimizer twice"),
        "batch norm": (loop(step, torch.nn.BatchNorm1d(5).double()), "running statistics"),
        "afterwards": (loop(step, end=halved), "changes the weights after its last step"),
        "LBFGS": (loop(closed, made=lambda model: torch.optim.LBFGS(model.parameters(), max_iter=1)),
                  "no formula is known for the step of LBFGS"),
        "no loop": (nothing, "took no step"),
        "no optimizer": (without, "the model and the optimizer"),
    }


@pytest.mark.parametrize("mistake", [
    "a counter", "break", "edits", "two steps", "batch norm", "afterwards", "LBFGS", "no loop", "no optimizer"])
def test_a_training_that_cannot_be_followed_is_refused_with_the_reason(torch: Any, mistake: str) -> None:
    task = Task(torch)
    train, words = mistakes(task)[mistake]
    backward, clip = torch.Tensor.backward, torch.nn.utils.clip_grad_norm_
    with warnings.catch_warnings(), pytest.raises(ReplayError, match=words):
        warnings.simplefilter("ignore")
        microscope.metagradient(train, task.evaluate, {"weight": torch.ones(20).double()})
    assert torch.Tensor.backward is backward and torch.nn.utils.clip_grad_norm_ is clip


def test_arguments_that_make_no_sense(torch: Any) -> None:
    task = Task(torch)
    weight = torch.ones(20).double()
    with pytest.raises(ValueError, match="wrt is empty"):
        microscope.metagradient(plain(task), task.evaluate, {})
    with pytest.raises(TypeError, match="metagradient: wrt must be a dict, got Tensor"):
        microscope.metagradient(plain(task), task.evaluate, weight)
    with pytest.raises(TypeError, match="wrt must be a dict of names and tensors.* it has 'rate': float"):
        microscope.metagradient(plain(task), task.evaluate, {"weight": weight, "rate": 0.1})
    with pytest.raises(TypeError, match="metagradient: train must be a function, got NoneType"):
        microscope.metagradient(None, task.evaluate, {"weight": weight})
    for wrong in ({"keep": 0}, {"keep": -1}, {"keep": 1}, {"smoothness": -0.1}):
        with pytest.raises(ValueError, match=f"metagradient: {next(iter(wrong))} must be"):
            microscope.metagradient(plain(task), task.evaluate, {"weight": weight}, **wrong)
    with pytest.raises(TypeError, match="floating-point"):
        microscope.metagradient(plain(task), task.evaluate, {"weight": torch.arange(20)})
    for evaluate, error, text in (
            (lambda model: 1.0, TypeError, "must give a tensor of one number, or of shape .K,., not float"),
            (lambda model: model(task.seen)[:0, 0], TypeError, "must give a tensor of one number, or of shape .K,., not .0,."),
            (lambda model: task.evaluate(model).detach(), ReplayError, "what evaluate.. gives has no graph")):
        with pytest.raises(error, match=text):
            microscope.metagradient(plain(task, rounds=1), evaluate, {"weight": torch.ones(20).double()})
    with pytest.raises(ReplayError, match="train.. took no step"):
        microscope.metagradient(plain(task, rounds=0), task.evaluate, {"weight": torch.ones(20).double()})


def test_a_training_that_ends_with_nan_or_does_not_use_what_is_asked_about_says_so(torch: Any) -> None:
    task, weight = Task(torch), torch.ones(20).double()
    train = plain(task, rounds=1)
    with pytest.raises(ReplayError, match="the training ended with NaN or inf in 0.weight, of which there is no derivative"):
        microscope.metagradient(lambda steps, weight: train(steps, weight * torch.nan), task.evaluate, {"weight": weight})
    with pytest.warns(UserWarning, match="metagradient: no step depends on weight, so the derivatives are 0"):
        microscope.metagradient(lambda steps, weight: train(steps, torch.ones(20)), task.evaluate, {"weight": weight})


def test_a_folder_that_cannot_be_used_is_refused_and_other_files_in_it_stay(torch: Any, tmp_path: Path) -> None:
    task, weight = Task(torch), torch.ones(20).double()

    def run(folder: Path) -> None:
        microscope.metagradient(plain(task, rounds=1), task.evaluate, {"weight": weight}, folder=folder, smoothness=0)

    (tmp_path / "a file").write_text("")
    with pytest.raises(OSError, match="metagradient: folder cannot be made"):
        run(tmp_path / "a file")
    for name, text in (("metagradient.json", "metagradient.json is damaged; delete"), ("state-3.pt", "is of no run")):
        (tmp_path / name[:4]).mkdir()
        (tmp_path / name[:4] / name).write_text("{")
        with pytest.raises(ReplayError, match=text):
            run(tmp_path / name[:4])
    (tmp_path / "mine").mkdir()
    for name in ("model.pt", "state-x.pt"):
        (tmp_path / "mine" / name).write_text("mine")
    run(tmp_path / "mine")
    assert sorted(file.name for file in (tmp_path / "mine").iterdir()) == ["model.pt", "state-x.pt"]


def test_an_optimizer_that_cannot_be_followed_is_refused_before_the_first_step(torch: Any) -> None:
    task, taken = Task(torch), []

    def train(steps: Any, weight: Any) -> Any:
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.LBFGS(model.parameters())
        for batch in steps([0, 1], model, optimizer):
            taken.append(batch)
        return model

    with pytest.raises(ReplayError, match="no formula is known for the step of LBFGS; there are "):
        microscope.metagradient(train, task.evaluate, {"weight": torch.ones(20).double()})
    assert taken == []


def test_two_states_at_a_time_are_enough(torch: Any) -> None:
    task, wrt = Task(torch), {"weight": torch.ones(20).double()}
    whole = microscope.metagradient(plain(task), task.evaluate, wrt, smoothness=0)
    assert torch.equal(microscope.metagradient(plain(task), task.evaluate, wrt, smoothness=0, keep=2)["weight"], whole["weight"])


def test_complex_weights_are_named(torch: Any) -> None:
    model = torch.nn.Linear(3, 2, dtype=torch.cdouble)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def train(steps: Steps, weight: Any) -> Any:
        for i in steps([[0, 1]], model, optimizer):
            loss = (model(torch.ones(2, 3, dtype=torch.cdouble)).abs().sum(1) * weight[i]).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return model
    with pytest.raises(ReplayError, match="got complex ones: weight, bias; leave them out of the optimizer"):
        microscope.metagradient(train, lambda m: m.weight.abs().sum(), {"weight": torch.ones(2).double()})
