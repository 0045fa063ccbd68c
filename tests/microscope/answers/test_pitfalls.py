"""Hook mistakes from the field that test_why.py and test_lint.py do not have: what the recorder says of them.

Each was run on PyTorch 2.13 first; what it does there is what the assertions say.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest
from both_engines import ENGINES, both

from retrograd.microscope import lint, lint_recording, record


def layer(torch: Any, i: int = 4, o: int = 3) -> Any:
    torch.manual_seed(0)
    return torch.nn.Linear(i, o)


def fired(rec: Any) -> list[tuple[str, str]]:
    return [(rec.hooks[e.hook]["kind"], rec.hooks[e.hook]["on"]) for e in rec.of("hook")]


def rules(rec: Any) -> set[str]:
    return {p.rule for p in lint_recording(rec)}


@both
def test_order_when_the_input_needs_grad(torch: Any) -> None:
    m = torch.nn.Sequential(layer(torch), torch.nn.ReLU())
    m[0].weight.register_hook(lambda g: None)
    m[0].weight.register_post_accumulate_grad_hook(lambda p: None)
    m[0].register_full_backward_hook(lambda module, gi, go: None)
    m[0].register_full_backward_pre_hook(lambda module, go: None)
    with record(m) as rec:
        m(torch.randn(2, 4, requires_grad=True)).sum().backward()
    assert [k for k, _ in fired(rec)] == ["backward_pre", "tensor", "post_accumulate", "backward"]
    assert "RG303" not in rules(rec)


@both
def test_order_when_no_input_needs_grad(torch: Any) -> None:
    m = torch.nn.Sequential(layer(torch), torch.nn.ReLU())
    m[0].weight.register_hook(lambda g: None)
    m[0].register_full_backward_hook(lambda module, gi, go: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with record(m) as rec:
            m(torch.randn(2, 4)).sum().backward()
    assert [k for k, _ in fired(rec)] == ["backward", "tensor"] and "RG303" in rules(rec)


@both
@pytest.mark.parametrize("name, says", [
    ("in_place", "modified inplace"), ("shape", "changed the size of value"), ("dtype", "changed the type of value"),
    ("inputs", "changed the size of value"), ("no_inputs", "should always return None"),
    ("nones", "invalid number of grad_input"),
    ("twice", "backward through the graph a second time"), ("version", "modified by an inplace operation")])
def test_errors_are_kept_with_their_place(torch: Any, name: str, says: str) -> None:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    x = torch.randn(2, 4, requires_grad=name != "no_inputs")

    def program() -> None:
        if name == "in_place":
            m.register_full_backward_hook(lambda module, gi, go: None)
            y = m(x)
            y += 1
        elif name in ("shape", "dtype"):
            y = m(x)
            y.register_hook(lambda g: g[:1] if name == "shape" else g.double())
        elif name == "inputs":
            m[1].register_full_backward_hook(lambda module, gi, go: (go[0],))
            y = m(x)
        elif name == "no_inputs":
            m.register_full_backward_hook(lambda module, gi, go: (torch.zeros(2, 4),))
            y = m(x)
        elif name == "nones":
            m.register_full_backward_hook(lambda module, gi, go: (None, None))
            y = m(x)
        elif name == "twice":
            y = (m(x) ** 2).sum()
            y.backward()
        else:
            y = m(x).exp()
            y.add_(1)
        y.sum().backward()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match=says), record(m) as rec:
            program()
    assert says in rec.error and "RG309" in rules(rec)
    if name != "in_place" or torch is not ENGINES[0]:           # retrograd's engine tells of ops that succeed
        assert any(says in (e.get("error") or "") for e in rec.events)


@both
def test_a_leaf_used_twice_gets_one_sum(torch: Any) -> None:
    w = torch.ones(1, requires_grad=True)
    w.register_hook(lambda g: None)
    with record(engine=torch.__name__, values="parameters") as rec:
        (w * 2 + w * 3).backward()
    [hook] = rec.of("hook")
    assert rec.value(hook.before[0]).norm == 5
    assert sorted(e.norm for e in rec.ledger(w).uses) == [2, 3]


@both
def test_own_weight_is_not_changed_by_a_full_hook(torch: Any) -> None:
    m = layer(torch)
    m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 0,))
    x = torch.randn(2, 4, requires_grad=True)
    with record(m) as rec:
        m(x).sum().backward()
    [hook] = rec.of("hook")
    assert hook.changed and rec.value(hook.after[0]).norm == 0
    grads = {rec.name_of_tensor(e.tensor): rec.value(e.now).norm for e in rec.of("accumulate")}
    assert grads["weight"] > 0 and any("hook" == e.kind for e in rec.of("hook"))


@both
def test_each_pass_brings_its_own_gradient(torch: Any) -> None:
    m = layer(torch)
    m.weight.register_hook(lambda g: None)
    m.weight.register_post_accumulate_grad_hook(lambda p: None)
    x = torch.ones(2, 4)
    with record(m) as rec:
        m(x).sum().backward()
        m(x).sum().backward()
    norms = [round(rec.value(e.before[0]).norm, 2) for e in rec.of("hook")]
    assert norms == [6.93, 6.93, 6.93, 13.86]


@both
def test_the_mean_is_in_delta(torch: Any) -> None:
    m = layer(torch)
    m.register_full_backward_hook(lambda module, gi, go: None)
    with record(m) as rec:
        m(torch.randn(8, 4, requires_grad=True)).mean().backward()
    mean = next(e for e in rec.of("node") if rec.node_rows[e.node][0] == "MeanBackward0")
    assert rec.value(mean.outputs[0]).max == pytest.approx(1 / 24)


@both
def test_state_dict_hooks_are_events(torch: Any) -> None:
    m = layer(torch)
    m.register_state_dict_pre_hook(lambda module, prefix, keep: None)
    m.register_state_dict_post_hook(lambda module, state, prefix, metadata: None)
    m.register_load_state_dict_post_hook(lambda module, keys: None)
    with record(m) as rec:
        state = m.state_dict()
        m.load_state_dict({"weight": state["weight"]}, strict=False)
    assert [k for k, _ in fired(rec)] == ["state_dict_pre", "state_dict", "load_post"]


@both
def test_inference_tensors_in_a_graph(torch: Any) -> None:
    m = layer(torch)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"), record(m) as rec:
        with torch.inference_mode():
            y = m(torch.randn(2, 4))
        (y * m.weight.sum()).sum().backward()
    assert "Inference tensors" in rec.error


@both
def test_copies_of_a_recorded_model_are_not_recorded(torch: Any) -> None:
    import copy

    def hook(module: Any, args: Any, out: Any) -> None:
        return None

    m = layer(torch)
    m.register_forward_hook(hook)
    with record(m):
        twin = copy.deepcopy(m)
    assert list(twin._forward_hooks.values()) == [hook]


@both
def test_hooks_of_an_encoder_in_eval_mode(torch: Any) -> None:
    m = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    handle = m.linear1.register_forward_hook(lambda *a: None)
    with record(m) as rec, torch.no_grad():
        m(torch.randn(2, 3, 4))
    assert rec.why_not_fired(handle).code == "fired"


@both
def test_unpicklable_hook(torch: Any) -> None:
    m = layer(torch)
    m.register_forward_hook(lambda *a: None)
    assert "RG207" in {p.rule for p in lint(m)}


@pytest.mark.skipif(len(ENGINES) < 2, reason="needs PyTorch")
def test_compiled_models() -> None:
    torch = ENGINES[1]
    m = torch.nn.Sequential(layer(torch), torch.nn.ReLU())
    fast = torch.compile(m, backend="eager")
    x = torch.randn(2, 4, requires_grad=True)
    fast(x)
    with record(m) as rec:
        fast(x).sum().backward()
        late = m[0].register_full_backward_hook(lambda *a: None)
        fast(x)
    assert rec.why_not_fired(late).code == "compiled"
    assert rec.why_none(m[0].weight).code in ("has_grad", "cannot_know")
    assert [e.what for e in rec.of("note")] == ["compiled", "compiled"]


@both
@pytest.mark.parametrize("mistake", ["twice", "grad_first", "edited", "a_part", "stepped"])
def test_an_error_of_a_pass_names_the_earlier_line_that_caused_it(torch: Any, mistake: str) -> None:
    m = torch.nn.Sequential(layer(torch), torch.nn.Linear(3, 2))
    x = torch.randn(2, 4)
    with pytest.raises(RuntimeError) as raised, record(m) as rec:
        loss = m(x).square().sum()
        if mistake == "twice":
            loss.backward()  # cause of twice
        elif mistake == "grad_first":
            torch.autograd.grad(loss, [m[0].weight])  # cause of grad_first
        elif mistake == "edited":
            h = m(x).exp()
            h.add_(1)  # cause of edited
            loss = h.sum()
        elif mistake == "a_part":
            h = m(x).tanh()
            h[0] = 0  # cause of a_part
            loss = h.sum()
        else:
            optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
            loss.backward(retain_graph=True)
            optimizer.step()  # cause of stepped
        loss.backward()
    [note] = raised.value.__notes__
    [line] = re.findall(rf"{re.escape(__file__)}:(\d+)", note)
    with open(__file__, encoding="utf-8") as source:
        assert f"# cause of {mistake}" in source.readlines()[int(line) - 1]
    assert any(p.rule == "RG309" and f":{line}" in p.message for p in lint_recording(rec))


@both
def test_an_input_by_keyword_that_wants_a_gradient_is_said_to_be_one_by_keyword(torch: Any) -> None:
    m = layer(torch)
    m.register_full_backward_hook(lambda module, gi, go: None)
    with record(m) as rec, pytest.warns(UserWarning, match="since no inputs require gradients"):
        m(input=torch.randn(2, 4, requires_grad=True)).sum().backward()
    assert rules(rec) == {"RG304"}


@pytest.mark.skipif(len(ENGINES) < 2, reason="needs PyTorch")
def test_a_hook_that_was_compiled_in_may_have_fired() -> None:
    torch = ENGINES[1]
    m, seen = torch.nn.Sequential(layer(torch), torch.nn.ReLU()), []
    handle = m[0].register_forward_hook(lambda *a: seen.append(1))
    fast = torch.compile(m, backend="eager")
    with record(m) as rec:
        fast(torch.randn(2, 4))
    assert seen and rec.why_not_fired(handle).code == "cannot_know"


@pytest.mark.skipif(len(ENGINES) < 2, reason="needs PyTorch")
def test_explain_says_in_which_dtype_autocast_computed() -> None:
    torch = ENGINES[1]
    m = layer(torch)
    with record(m) as rec:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            m(torch.randn(2, 4))
        m(torch.randn(2, 4))
    said = [line for line in str(rec.explain("weight")).splitlines() if "read by" in line]
    assert [line.endswith("which computed in bfloat16: autocast") for line in said] == [True, False]
