"""Where NaN and inf begin, and explain()."""

from __future__ import annotations

import ast
import math
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from both_engines import both

from retrograd.microscope import explain, load, record
from retrograd.microscope.answers.explain import rules_of, sources
from retrograd.microscope.answers.trouble import states


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
    assert "changed something 1 time" in str(again.explain("0.weight"))
    assert "ReLU" in str(again.explain("1"))
    with pytest.raises(KeyError, match="has no 'w'; there are 0.weight"):
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


def stack(torch: Any, depth: int, std: float, act: Any = None, width: int = 32) -> Any:
    nn = torch.nn
    layers: list[Any] = []
    for i in range(depth):
        layers += [nn.Linear(10 if i == 0 else width, width), *([act()] if act else [])]
        if std:
            nn.init.normal_(layers[-2 if act else -1].weight, std=std)
    return nn.Sequential(*layers, nn.Linear(width, 3))


def class_loss(torch: Any, m: Any, N: int = 32, reduction: str = "mean") -> Any:
    return torch.nn.functional.cross_entropy(m(torch.randn(N, 10)), torch.randint(0, 3, (N,)), reduction=reduction)


class Reader:
    """A recurrent network that reads 50 letters and answers after the last."""

    def __init__(self, torch: Any, kind: str) -> None:
        nn = torch.nn
        self.torch = torch
        self.embed, self.cells, self.out = nn.Embedding(20, 8), getattr(nn, kind)(8, 16, batch_first=True), nn.Linear(16, 3)

    def loss(self) -> Any:
        torch = self.torch
        h, _ = self.cells(self.embed(torch.randint(0, 20, (4, 50))))
        return torch.nn.functional.cross_entropy(self.out(h[:, -1]), torch.randint(0, 3, (4,)))


def attention(torch: Any, filled: bool) -> Any:
    nn = torch.nn
    x = nn.Parameter(torch.randn(2, 6, 8))
    if filled:
        mask = torch.ones(6, 6, dtype=torch.bool).triu(1)
        weights = (x @ x.transpose(1, 2)).masked_fill(mask, float("-inf")).softmax(-1)
        return (weights @ x).square().mean()
    mask = torch.full((6, 6), float("-inf")).triu(1)
    return nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, attn_mask=mask)[0].square().mean()


def conv_net(torch: Any) -> Any:
    nn = torch.nn
    m = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Flatten(),
                      nn.Linear(64, 3))            # biases before a batch norm get rounding errors for gradients
    return nn.functional.cross_entropy(m(torch.randn(8, 3, 8, 8)), torch.randint(0, 3, (8,)))


def padded(torch: Any, how: str) -> Any:
    """Attention whose mask holds large finite numbers."""
    x = torch.nn.Parameter(torch.randn(2, 6, 8))
    kept = torch.ones(2, 1, 6)
    kept[1, 0, 4:] = 0.0
    scores = x @ x.transpose(1, 2)
    if how == "filled":
        scores = scores.masked_fill(kept == 0, -1e9)
    elif how == "multiplied":
        scores = scores + (1.0 - kept) * -1e9
    else:
        least = torch.tensor(torch.finfo(torch.float32).min)
        scores = scores + torch.where(kept == 0, least, torch.tensor(0.0)).expand(2, 6, 6)
    return (scores.softmax(-1) @ x).square().mean()


def small_rms_norms(torch: Any) -> Any:
    """Blocks of weights of size 0.02 under RMS norms: the variances get large gradients, and nothing else."""
    nn = torch.nn

    class Norm(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(16))

        def forward(self, x: Any) -> Any:
            return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    m = nn.Sequential(nn.Embedding(20, 16), Norm(), nn.Linear(16, 16), Norm(), nn.Linear(16, 20))
    for p in m.parameters():
        if p.ndim == 2:
            nn.init.normal_(p, std=0.02)
    ids = torch.randint(0, 20, (4, 12))
    return nn.functional.cross_entropy(m(ids).flatten(0, 1), ids.flatten())


HEALTHY: dict[str, Any] = {
    "mask filled": lambda torch: padded(torch, "filled"), "mask multiplied": lambda torch: padded(torch, "multiplied"),
    "mask of the least number": lambda torch: padded(torch, "least"), "small RMS norms": small_rms_norms,
    "lstm": lambda torch: Reader(torch, "LSTM").loss(), "gru": lambda torch: Reader(torch, "GRU").loss(),
    "rnn": lambda torch: Reader(torch, "RNN").loss(),
    "attention, mask added": lambda torch: attention(torch, False), "attention, filled": lambda torch: attention(torch, True),
    "convolutions": conv_net,
    "tanh": lambda torch: class_loss(torch, stack(torch, 4, 0.0, torch.nn.Tanh)),
    "sum": lambda torch: class_loss(torch, stack(torch, 4, 0.0, torch.nn.ReLU), 512, "sum"),
    "large batch": lambda torch: class_loss(torch, stack(torch, 3, 0.0, torch.nn.ReLU), 4096),
    "scaled loss": lambda torch: class_loss(torch, stack(torch, 3, 0.0, torch.nn.ReLU)) * 65536.0,
}
SICK: dict[str, Any] = {
    "vanishing": lambda torch: class_loss(torch, stack(torch, 30, 0.0, torch.nn.Sigmoid)),
    "vanishing ": lambda torch: class_loss(torch, stack(torch, 12, 0.01, torch.nn.Tanh)),
    "exploding": lambda torch: class_loss(torch, stack(torch, 12, 1.0, torch.nn.ReLU)),
    "exploding ": lambda torch: class_loss(torch, stack(torch, 24, 0.4)),
    "nan": lambda torch: (torch.nn.Linear(3, 2)(torch.zeros(4, 3)) * 0 / 0).sum(),
    "inf": lambda torch: torch.relu(torch.nn.Linear(3, 2, bias=False)(torch.zeros(4, 3))).log().sum(),
}


@both
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_models_have_no_trouble(torch: Any, name: str) -> None:
    torch.manual_seed(0)
    with record(engine=torch.__name__) as rec:
        HEALTHY[name](torch).backward()
    assert not rec.trouble(), str(rec.trouble())


@both
@pytest.mark.parametrize("name", SICK)
def test_sick_models_have_their_trouble(torch: Any, name: str) -> None:
    torch.manual_seed(0)
    with record(engine=torch.__name__) as rec:
        SICK[name](torch).backward()
    found = rec.trouble()
    assert name.strip() in {f.kind for f in found} and all(f.where and f.where.startswith(__file__) for f in found)
    assert {"vanishing", "exploding"} - {f.kind for f in found if f.direction == "backward"}


@both
def test_a_row_that_is_masked_whole_makes_nan_and_the_mask_is_named(torch: Any) -> None:
    x = torch.zeros(2, 3, requires_grad=True)
    mask = torch.tensor([[False, False, True], [True, True, True]])
    with record(engine=torch.__name__) as rec:
        x.masked_fill(mask, float("-inf")).softmax(-1).sum().backward()
    first = rec.trouble().findings[0]
    assert first.what == "softmax" and first.where is not None
    assert first.text == f"the first NaN is made by softmax, from inf that masked_fill put there ({first.where})"
    assert rec.trouble().findings[1].text == "SoftmaxBackward0 reads NaN that the forward pass left it"
    assert "masked" in {state for _, state, _ in states(rec, set())}


@both
@pytest.mark.parametrize("own", [False, True])
def test_a_mask_made_before_the_recording_or_by_attention_itself_is_no_trouble(torch: Any, own: bool) -> None:
    torch.manual_seed(0)
    project = torch.nn.Linear(8, 24)
    mask = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1) > 0, -math.inf)
    with record(project) as rec:
        parts = project(torch.randn(2, 4, 8)).chunk(3, -1)
        attend = torch.nn.functional.scaled_dot_product_attention
        (attend(*parts, is_causal=True) if own else attend(*parts, attn_mask=mask)).sum().backward()
    assert rec.trouble().findings == []


@both
def test_memory_that_nobody_wrote_to_is_no_trouble(torch: Any) -> None:
    with record(engine=torch.__name__) as rec:
        raw = torch.empty(3)
        raw.numpy()[:] = math.nan                       # whatever was there
        made = raw.view(3).detach()
        made.uniform_(0, 1)
        (made.requires_grad_() * 2).sum().backward()
    assert not rec.trouble(), str(rec.trouble())
    with record(engine=torch.__name__) as rec:
        raw = torch.empty(3)
        raw.numpy()[:] = math.nan
        (raw.view(3).requires_grad_() * 2).sum().backward()
    assert rec.trouble().findings[0].text == (          # a weight that nobody gave values
        "the first NaN is made by mul, from uninitialized memory (torch.empty)")


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
    assert "return place(counted(g * scale, self.used), self.where, self.was)" in said
    x = loss.grad_fn.next_functions[0][0]
    assert "gradient of x: g - pointwise.exp(y) * total(g, self.dim)" in str(explain(x))


@pytest.mark.once
def test_every_rule_is_readable() -> None:
    count = 0
    for name in sources():
        for of, text in rules_of(name):
            count += 1
            ast.parse("def rule():\n" + textwrap.indent(text, "    ") if text.startswith("\n") else text)
            assert text.strip() and "quick" not in text and "TensorBase" not in text, (name, of, text)
    assert count > 300


def of_sqrt(torch: Any) -> Any:
    """Its gradient is inf, then NaN: sqrt at 0."""
    class Net(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            h = self.a(x)
            return self.b((h - h).sqrt())

    return Net()


def test_nan_is_followed_from_the_backward_pass_through_the_optimizer_into_the_next_step(torch: Any) -> None:
    torch.manual_seed(0)
    m = of_sqrt(torch)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    with record(m) as rec:
        for _ in range(2):
            opt.zero_grad()
            m(torch.randn(5, 3)).sum().backward()
            opt.step()
    found = [(f.direction, f.kind, f.state) for f in rec.trouble() if f.kind in ("nan", "inf")]
    assert found == [("backward", "inf", "born"), ("backward", "nan", "propagated"), ("forward", "nan", "propagated")]
    said = str(rec.trouble())
    assert "the first inf is made by SqrtBackward0, from finite inputs" in said and "the inf has become NaN at" in said
    assert "NaN comes in with a.weight, as SGD.step() left it" in said and "outside" not in said and "ends" not in said


def test_the_same_trouble_in_every_step_is_told_once_with_its_number(torch: Any) -> None:
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    torch.nn.init.constant_(m[0].bias, -50.0)
    with record(m) as rec:
        for _ in range(3):
            m(torch.randn(5, 3)).sum().backward()
    first, *others = rec.trouble()
    assert len(others) == 2 and {str(f) for f in others} == {str(first)}
    assert str(rec.trouble()) == f"{first} (3 times)"
    assert str(rec.summary()).count(f"{first.text} (3 times)") == str(rec.summary()).count(first.text) == 1


def test_a_node_that_reads_nan_of_the_forward_pass_did_not_make_it(torch: Any) -> None:
    x = torch.randn(3, 2, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        (x * float("nan")).softmax(1).square().sum().backward()
    [forward, backward] = [f for f in rec.trouble() if f.kind == "nan"]
    assert (forward.direction, forward.what.rstrip("_")) == ("forward", "mul")
    assert backward.state == "read" and "reads NaN that the forward pass left it" in str(backward)


def test_an_empty_recording_and_one_without_a_backward_pass_say_so(torch: Any) -> None:
    m = torch.nn.Linear(2, 2)
    with record(m) as rec:
        pass
    assert str(rec.trouble()).startswith("nothing was recorded")
    with record(m) as rec:
        m(torch.ones(1, 2))
    assert str(rec.trouble()) == "no NaN, no inf, nothing vanished or exploded\nno backward pass was recorded"


@both
@pytest.mark.parametrize("through", ["whole", "view"])
def test_inf_that_an_assignment_wrote_is_no_finite_input(torch: Any, through: str) -> None:
    x = torch.ones(5, 3, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        z = x.clone() if through == "whole" else torch.zeros(5, 3)
        z[2] = float("inf")                                                             # here
        (x * z.tanh() * z).sum().backward()
    line = next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith("# " + "here"))
    found = rec.trouble().findings
    assert not any("from finite inputs" in f.text for f in found)
    text = next(f.text for f in found if f.direction == "backward")
    assert re.search(rf"reads inf that (an assignment|fill) put there \({re.escape(__file__)}:{line}\)", text), text
