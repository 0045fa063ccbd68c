"""Where NaN and inf begin, and explain()."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest
from test_recorder import both

from retrograd.microscope import explain, load, record
from retrograd.microscope.explain import rules_of, sources


def found(rec: Any) -> list[tuple[str, str, str, str]]:
    return [(f.direction, f.kind, f.state, f.what) for f in rec.trouble()]


@both
def test_nothing_wrong(torch: Any) -> None:
    m = torch.nn.Linear(3, 2)
    with record(m) as rec:
        m(torch.ones(2, 3)).sum().backward()
    assert not rec.trouble() and "no NaN" in str(rec.trouble())


@both
def test_nan_born_in_the_forward(torch: Any) -> None:
    """Anomaly mode blames the last sqrt of the backward; the NaN is made by the first, in the forward."""
    x = torch.tensor([1.0], requires_grad=True)
    with record(engine=torch.__name__) as rec:
        y = torch.sqrt(x - 2)
        y = torch.sqrt(y)
        y.backward()
    first = next(iter(rec.trouble()))
    assert (first.direction, first.kind, first.state, first.what) == ("forward", "nan", "born", "sqrt")
    ops = [e for e in rec.of("op") if e.name == "sqrt"]
    assert first.event == ops[0].number and first.where == ops[0].where


@both
def test_nan_loss_that_anomaly_mode_misses(torch: Any) -> None:
    x = torch.tensor([1.0], requires_grad=True)
    with record(engine=torch.__name__) as rec:
        torch.log(-x).backward()
    assert found(rec)[0] == ("forward", "nan", "born", "log")


@both
def test_inf_born_in_the_backward(torch: Any) -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with record(engine=torch.__name__) as rec:
        torch.sqrt(x).sum().backward()
    assert ("backward", "inf", "born", "SqrtBackward0") in found(rec)
    assert not [f for f in found(rec) if f[0] == "forward"]


@both
def test_hooks_that_make_and_hide_nan(torch: Any) -> None:
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))

    def poison(g: Any) -> Any:
        return g * float("nan")

    def hide(g: Any) -> Any:
        return torch.nan_to_num(g)

    with record(m) as rec:
        h = m[0](torch.ones(1, 2))
        h.register_hook(poison)
        h.register_hook(hide)
        m[1](h).sum().backward()
    hooks = [(f.state, f.what.partition(" ")[0].rpartition(".")[2]) for f in rec.trouble()]
    assert ("born", "poison") in hooks and ("healed", "hide") in hooks


@both
def test_nan_from_outside(torch: Any) -> None:
    m = torch.nn.Linear(2, 2)
    with torch.no_grad():
        m.weight[0, 0] = float("nan")
    with record(m) as rec:
        m(torch.ones(1, 2)).sum()
    assert found(rec)[0][:3] == ("forward", "nan", "propagated")


@both
def test_vanishing_and_exploding_gradients(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        (x * 1e-9).sum().backward()
    assert ("backward", "vanishing", "first", "MulBackward0") in found(rec)
    with record(engine=torch.__name__) as rec:
        (x * 1e6).sum().backward()
    assert ("backward", "exploding", "first", "MulBackward0") in found(rec)
    with record(engine=torch.__name__) as rec:
        torch.relu(x - 2).sum().backward()
    assert ("backward", "zero", "first", "ReluBackward0") in found(rec)
    with record(engine=torch.__name__, norms=False) as rec:
        pass
    with pytest.raises(ValueError, match="no norms"):
        rec.trouble()


# explain


@both
def test_explain_a_tensor(torch: Any) -> None:
    with record(engine=torch.__name__) as rec:
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: None)
        y.sum()
    text = str(rec.explain(y))
    assert "output 0 of MulBackward0" in text and "made by mul at" in text and "read by sum" in text
    assert "gradient of a: g * b" in text and "tensor hook" in text and "once per backward pass" in text
    assert "test_trouble.py" in text
    leaf = str(explain(x))
    assert "a leaf that requires grad" in leaf and "cannot_know" in leaf


@both
def test_explain_nodes_modules_and_handles(torch: Any) -> None:
    class Double(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    m = torch.nn.Linear(2, 2)
    handle = m.register_full_backward_hook(lambda *a: None)
    with record(m) as rec:
        y = Double.apply(m(torch.ones(1, 2, requires_grad=True)))
        y.sum().backward()
    node = explain(y.grad_fn, rec)
    assert "Double.backward" in str(node) and "return g * 2" in str(node)
    assert "rule" in str(explain((m.weight * 1).grad_fn))
    module = explain(m, rec)
    assert module.facts["calls"] == 1 and "backward hook" in str(module)
    hook = explain(handle, rec)
    assert hook.facts == {"kind": "handle", "present": True, "hook": "backward", "on": "the model", "fired": 1, "changed": 0}
    handle.remove()
    assert "it was removed" in str(explain(handle))
    with pytest.raises(TypeError, match="expected a tensor"):
        explain(3)


@both
def test_explain_by_name_from_a_file(torch: Any, tmp_path: Any) -> None:
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    torch.nn.init.ones_(m[0].weight)
    torch.nn.init.ones_(m[0].bias)
    m[0].weight.register_hook(lambda g: g * 2)
    with record(m) as rec:
        m(torch.ones(1, 2)).sum().backward()
    rec.save(tmp_path / "r")
    again = load(tmp_path / "r")
    assert "changed something 1 times" in str(again.explain("0.weight"))
    assert "ReLU" in str(again.explain("1"))
    with pytest.raises(KeyError, match="has no 'w'; it has 0.weight"):
        again.explain("w")


@both
def test_the_last_output_of_an_lstm_is_no_trouble(torch: Any) -> None:
    """The stack of all outputs hands zeros to every step but the last; the steps get gradients from those after them."""
    torch.manual_seed(0)
    m, fc = torch.nn.LSTM(4, 6, batch_first=True), torch.nn.Linear(6, 3)
    with record(m, fc) as rec:
        h, _ = m(torch.randn(5, 9, 4))
        fc(h[:, -1]).sum().backward()
    assert all(p.grad.abs().sum().item() > 0 for p in m.parameters())
    assert not rec.trouble(), str(rec.trouble())


@both
def test_a_dead_branch_beside_a_living_one_is_trouble(torch: Any) -> None:
    torch.manual_seed(0)
    first, dead = torch.nn.Linear(4, 3), torch.nn.Linear(3, 3)
    with torch.no_grad():
        dead.bias.fill_(-100.0)
    with record(first, dead) as rec:
        x = first(torch.randn(5, 4))
        (x + torch.relu(dead(x))).sum().backward()
    assert first.weight.grad.abs().sum().item() > 0 and not dead.weight.grad.any()
    assert [f.kind for f in rec.trouble()] == ["zero"]


@both
def test_a_rule_is_shown_without_its_short_cuts(torch: Any) -> None:
    """cross_entropy's derivative has a kernel of its own; what is shown is the formula."""
    x = torch.randn(4, 3, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        loss = torch.nn.functional.cross_entropy(x, torch.tensor([0, 2, 1, 1]))
    said = str(rec.explain(loss))
    assert "quick" not in said and "TensorBase" not in said
    assert "return place(g * scale, self.where, self.was)" in said
    x = loss.grad_fn.next_functions[0][0]
    assert "gradient of x: g - pointwise.exp(y) * total(g, self.dim)" in str(explain(x))


def test_every_rule_is_readable() -> None:
    count = 0
    for name in sources():
        for of, text in rules_of(name):
            count += 1
            ast.parse("def rule():\n" + textwrap.indent(text, "    ") if text.startswith("\n") else text)
            assert text.strip() and "quick" not in text and "TensorBase" not in text, (name, of, text)
    assert count > 300
