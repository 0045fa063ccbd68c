"""PyTorch's own optimizers, from their sources, run on retrograd: copies of them are where new optimizers begin."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import warm

PROGRAM = '''
import sys, types, warnings
from pathlib import Path
import torch

warnings.simplefilter("ignore")
OPTIMIZERS = [
    ("adam", "Adam", {}), ("adam", "Adam", dict(amsgrad=True, weight_decay=0.1, maximize=True)), ("adamax", "Adamax", {}),
    ("nadam", "NAdam", {}), ("radam", "RAdam", {}), ("sgd", "SGD", dict(momentum=0.9, lr=0.01, nesterov=True)),
    ("sgd", "SGD", dict(lr=0.1)), ("rmsprop", "RMSprop", dict(centered=True, momentum=0.5)), ("rprop", "Rprop", {}),
    ("adadelta", "Adadelta", {}), ("adagrad", "Adagrad", {}), ("asgd", "ASGD", {}), ("_adafactor", "Adafactor", {})]

def source(name):
    path = Path(sys.argv[1]) / f"{name}.py"
    module = types.ModuleType(f"torch.optim.{name}_again")
    module.__package__ = "torch.optim"
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    return module

for name, kind, options in OPTIMIZERS:
    for foreach in (None, True, False):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2).double())
        net[1].register_forward_hook(lambda module, args, y: y.double())
        optimizer = getattr(source(name), kind)(net.parameters(), foreach=foreach, **options)
        x = torch.randn(8, 4)
        for _ in range(4):
            optimizer.zero_grad()
            net(x).pow(2).sum().backward()
            optimizer.step()
        print(kind, foreach, *(f"{p.sum().item():.4f}" for p in net.parameters()))
'''


@pytest.mark.oracle
def test_pytorchs_optimizers_run_from_their_sources(tmp_path: Path) -> None:
    torch = importlib.util.find_spec("torch")
    assert torch is not None and torch.origin is not None
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    sources = str(Path(torch.origin).parent / "optim")
    runs = (warm.run(program, sources, packages=warm.TORCH), warm.run("-m", "retrograd", "run", program, sources))
    want, got = (done.stdout for done in runs)
    assert [done.returncode for done in runs] == [0, 0], runs
    assert len(want.splitlines()) == 39 and got.splitlines() == want.splitlines()
