"""torch.compile: its forms, options, what it gives, and when it lets calls run eagerly."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from replaying import HERE, numbers, replays, same, skipping

import retrograd as torch
from retrograd import nn
from retrograd._compile.run import Compiled
from retrograd._compile.verified import Verified


def test_a_function_that_is_not_to_be_compiled_stays_what_it_is() -> None:
    def f(x: Any) -> Any:
        return x + 1

    assert torch.compile(f, options={"python": "skip"}, disable=True) is f and torch.compile(f, disable=True) is f
    assert isinstance(torch.compile(f, options={"python": "skip"}), Compiled)
    assert isinstance(torch.compile(f, mode="reduce-overhead"), Compiled)
    assert isinstance(torch.compile(options={"python": "skip"})(f), Compiled)
    assert isinstance(torch.compile(f), Verified) and isinstance(torch.compile(f, options={"python": "run"}), Verified)


def test_a_plan_per_shape_up_to_a_limit_then_one_warning() -> None:
    def f(x: Any) -> Any:
        return x * 2

    fast = skipping(f, plans=2)
    for n in (2, 3, 3, 2, 3):
        fast(numbers(n))
    assert replays(fast) == 2
    fast(numbers(4))
    with pytest.warns(UserWarning, match="2 plans and none fits"):
        fast(numbers(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(fast(numbers(5)), numbers(5) * 2)


def test_many_sizes_in_turn_have_plans_up_to_the_limit() -> None:
    fast = skipping(lambda x: x * 2)
    for n in range(1, 21):
        fast(numbers(n))
    with pytest.warns(UserWarning, match="8 plans and none fits"):
        for n in range(1, 21):
            assert same(fast(numbers(n)), numbers(n) * 2)


def test_what_differs_once_is_not_recorded() -> None:
    fast = skipping(lambda x, by: x * by)
    for n, by, plans in ((2, 1.0, 1), (2, 3.0, 1), (3, 1.0, 1), (2, 1.0, 1), (3, 1.0, 2), (2, 5.0, 2), (2, 3.0, 3), (2, 1.0, 3)):
        assert same(fast(numbers(n), by), numbers(n) * by)
        assert len(fast.local.variants) == plans, (n, by)


def test_explain_shows_operations_buffers_guards_and_reasons() -> None:
    by = {"k": 2.0}
    fast = skipping(lambda x: (x * by["k"]).exp().sum())
    fast(numbers(4, 5)), fast(numbers(4, 5))
    text = fast.explain()
    for part in ("1 plan", "replayed 1 times", "mul -> float32[4, 5] test_compile_surface.py:",
                 "guarded: arguments: float32[4, 5]", "guarded: by"):
        assert part in text, text
    if HERE:                                    # the sum alone is an array
        assert "1 buffer of 4 bytes, 4 at a time; 160 bytes for small results" in text, text
    slow = skipping(lambda x: x * x.sum().item())
    slow(numbers(3))
    assert "eager: Tensor.item is not replayed yet (test_compile_surface.py:" in slow.explain()


def test_threads_have_plans_of_their_own() -> None:
    w = numbers(50)

    def f(x: Any) -> Any:
        return (x * w).exp().sum()

    fast, wrong = skipping(f), []

    def work(seed: int) -> None:
        for i in range(50):
            x = numbers(50, seed=seed + i)
            if not same(f(x), fast(x)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_fullgraph_raises_the_reason() -> None:
    fast = torch.compile(lambda x: x * x.sum().item(), fullgraph=True, options={"python": "skip"})
    with pytest.raises(RuntimeError, match="fullgraph=True.*item"):
        fast(numbers(2))


def test_disabled_functions_and_stances_are_eager() -> None:
    @torch.compiler.disable
    def inner(x: Any) -> Any:
        return x + 1

    fast = skipping(lambda x: inner(x) * 2)
    fast(numbers(2))
    assert "torch.compiler.disable" in fast.explain()
    other = skipping(lambda x: x * 2)
    torch.compiler.set_stance("force_eager")
    try:
        other(numbers(2)), other(numbers(2))
        assert not other.local.variants
    finally:
        torch.compiler.set_stance("default")
    other(numbers(2)), other(numbers(2))
    assert replays(other) == 1
    torch.compiler.reset()
    assert "0 plans" in other.explain()


def test_modules_keep_their_attributes() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    fast = torch.compile(net, options={"python": "skip"})
    x = numbers(3, 2)
    with torch.no_grad():
        assert same(fast(x), net(x)) and same(fast(x), net(x))
    assert fast._orig_mod is net and list(fast.parameters())[0] is net[0].weight
    assert "1 plan" in fast.explain()


def test_a_method_of_a_class_and_its_counters() -> None:
    class Trainer:
        seen = 0

        def __init__(self) -> None:
            self.scale = 2.0

        @torch.compile(options={"python": "skip", "check": 0})
        def run(self, x: Any) -> Any:
            return x * self.scale

        @torch.compile(options={"python": "skip", "check": 0})
        def count(self, x: Any) -> Any:
            Trainer.seen += 1
            return x * self.scale

    one, two, x = Trainer(), Trainer(), numbers(3)
    two.scale = 3.0
    for _ in range(3):
        assert same(one.run(x), x * 2) and same(two.run(x), x * 3)
        one.count(x)
    assert Trainer.seen == 3 and replays(vars(Trainer)["run"]) > 0


@pytest.mark.parametrize(("options", "error", "text"), [
    ("skip", TypeError, "must be dict"), ({"python": "skipp"}, ValueError, "'python' must be \"skip\""),
    ({"python": "skip", "check": -1}, ValueError, "'check'"), ({"python": "skip", "check": "a"}, ValueError, "'check'"),
    ({"python": "skip", "plans": 0}, ValueError, "'plans'"), ({"python": "skip", "chek": 1}, RuntimeError, "chek"),
    ({"pythn": "skip"}, RuntimeError, "pythn, known options are .*; did you mean 'python'"),
    ({"nope": 1}, RuntimeError, "^Unexpected optimization option nope, known options are"), ({3: 1}, RuntimeError, "option 3,"),
    ({"max-autotune": "yes"}, RuntimeError, "^Unexpected type of attr max-autotune, got str should be bool$"),
    ({"epilogue_fusion": 1}, RuntimeError, "^Unexpected type of attr epilogue_fusion, got int should be bool$"),
])
def test_options_are_checked(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        torch.compile(lambda x: x, options=options)


def test_options_of_pytorchs_compiler_change_nothing() -> None:
    f = torch.compile(lambda x: x + 1, options={"max-autotune": True, "triton.cudagraphs": False, "worker_log_path": None})
    assert f(torch.ones(1)).tolist() == [2]
    assert torch.compile(lambda x: x, backend="eager", options={"nope": 1})(torch.ones(1)).tolist() == [1]


def test_models_are_replayed_under_retrograd_run(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("""
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
def step(x):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), torch.zeros(3, 2))
    loss.backward()
    optimizer.step()
    return loss
step = torch.compile(step, mode="reduce-overhead")
for _ in range(8):
    step(torch.ones(3, 4))
print("plan 0: replayed" in str(step.explain()), "eager:" in str(step.explain()))
""", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "retrograd", "run", str(program)], capture_output=True, encoding="utf-8",
                          check=False)
    assert (done.stderr, done.stdout) == ("", "True False\n")


def test_a_number_that_is_another_one_at_each_call_is_told_and_a_tensor_is_replayed() -> None:
    fast, x = torch.compile(lambda x, by: x * by, options={"python": "skip"}), torch.ones(3)
    with pytest.warns(UserWarning, match=r"runs eagerly from here on: no plan fitted in 100 calls \(other arguments\)"):
        for i in range(110):
            assert torch.equal(fast(x, float(i)), x * float(i))
    assert "give a number that changes as a tensor" in fast.explain()
    again = torch.compile(lambda x, by: x * by, options={"python": "skip"})
    for i in range(110):
        assert torch.equal(again(x, torch.tensor(float(i))), x * float(i))
    assert again.local.variants[0].used > 100
