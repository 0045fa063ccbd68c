"""torch.fx besides what tests/conformance/programs/fx_*.py print: files, fusing, patches, what errors leave behind."""

from __future__ import annotations

import importlib
import operator
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import fx, nn
from retrograd.fx.experimental.optimization import fuse, remove_dropout
from retrograd.fx.operator_schemas import normalize_function


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.drop = nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.Dropout(0.5)
        self.register_buffer("shift", torch.arange(2.0).view(2, 1, 1))

    def forward(self, x: Any) -> Any:
        return torch.relu(self.drop(self.bn(self.conv(x)))) + self.shift


def net() -> tuple[Any, Any]:
    torch.manual_seed(0)
    model = Net()
    model(torch.randn(4, 1, 3, 3))
    return model.eval(), torch.randn(2, 1, 3, 3)


def test_a_fused_module_has_no_batch_norm_and_gives_the_same() -> None:
    model, x = net()
    fused = fuse(model)
    assert not any(isinstance(m, nn.BatchNorm2d) for _, m in fused.named_modules() if _ in {n.target for n in fused.graph.nodes})
    assert torch.allclose(fused(x), model(x), atol=1e-6)
    assert "drop" not in remove_dropout(model).code


def test_a_folder_holds_a_package_that_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    traced.to_folder(tmp_path / "written_module", "Written")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = importlib.import_module("written_module").Written()
    y = torch.ones(1, 2)
    assert torch.equal(made(y), traced(y))


def test_an_error_while_tracing_leaves_modules_and_globals_as_they_were() -> None:
    call, attribute = nn.Module.__call__, nn.Module.__getattr__

    def broken(x: Any) -> Any:
        raise KeyError("stop")
    with pytest.raises(KeyError, match="stop"):
        fx.symbolic_trace(broken)
    assert nn.Module.__call__ is call and nn.Module.__getattr__ is attribute
    assert not fx._symbolic_trace.is_fx_tracing()


def test_iterating_while_nodes_are_removed_and_added() -> None:
    graph = fx.symbolic_trace(lambda x: ((x + 1) * 2).relu().tanh()).graph
    for node in graph.nodes:
        if node.op == "call_method":
            with graph.inserting_after(node):
                new = graph.call_function(operator.neg, node.args)
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    graph.lint()
    assert [n.op for n in graph.nodes] == ["placeholder", *["call_function"] * 4, "output"]


def test_derivatives_go_through_generated_code() -> None:
    model, x = net()
    traced = fx.symbolic_trace(model)
    [want] = torch.autograd.grad(model(x).sum(), model.conv.weight)
    [got] = torch.autograd.grad(traced(x).sum(), model.conv.weight)
    assert torch.equal(want, got)


def test_arguments_get_their_names() -> None:
    found = normalize_function(nn.functional.dropout, (1, 0.5), {}, normalize_to_only_use_kwargs=True)
    assert found is not None and found.kwargs["p"] == 0.5 and found.kwargs["training"] is True


def test_generated_functions_of_c_have_their_places() -> None:
    traced = fx.symbolic_trace(lambda x: torch.linalg.norm(torch.special.expit(nn.functional.gelu(x))))
    assert "torch._C._nn.gelu(x)" in traced.code and traced(torch.ones(2)).shape == ()


@pytest.mark.once
def test_importing_the_package_does_not_import_fx() -> None:
    code = "import sys, retrograd; sys.exit('retrograd.fx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
