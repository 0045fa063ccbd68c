"""rec.replay(outputs=, weights=, hooks): a recorded step runs forward again with something else in it, on both engines."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from both_engines import both

from retrograd.microscope import RecordingError, load, record


def net(torch: Any) -> Any:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer1 = nn.Linear(3, 4)
            self.drop = nn.Dropout(0.5)
            self.norm = nn.BatchNorm1d(4)
            self.layer2 = nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            return self.layer2(self.norm(self.drop(torch.relu(self.layer1(x)))))

    torch.manual_seed(0)
    return Net()


def loss_of(torch: Any, m: Any, x: Any, y: Any) -> Any:
    out = m(x)
    return torch.nn.functional.cross_entropy(out, y) * 2 + 0.1 * m.layer2.weight.square().sum()


def step(torch: Any, m: Any, n: int = 2) -> tuple[Any, Any, Any]:
    """(recording, loss of the last step, its gradients)"""
    optimizer = torch.optim.SGD(m.parameters(), lr=0.5)
    x, y = torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 1, 0])
    with record(m, replay=True) as rec:
        for _ in range(n):
            optimizer.zero_grad()
            loss = loss_of(torch, m, x, y)
            loss.backward()
            grads = {name: p.grad.numpy().copy() for name, p in m.named_parameters()}
            optimizer.step()
    return rec, loss.item(), grads


def by_hand(torch: Any, patch: Any) -> tuple[float, dict[str, Any]]:
    """The second step of step(), with `patch(model)` called ahead of it."""
    m = net(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.5)
    x, y = torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 1, 0])
    loss_of(torch, m, x, y).backward()
    optimizer.step()
    optimizer.zero_grad()
    patch(m)
    loss = loss_of(torch, m, x, y)
    loss.backward()
    return loss.item(), {name: p.grad.numpy().copy() for name, p in m.named_parameters() if p.grad is not None}


def check(torch: Any, found: Any, patch: Any) -> None:
    loss, grads = by_hand(torch, patch)
    assert found.loss[1] == loss and loss != found.loss[0]
    for name, g in found.after.items():
        assert (g is None) == (name not in grads)
        np.testing.assert_array_equal(g, grads.get(name), err_msg=name)


@both
def test_the_step_is_run_again_as_it_was_recorded(torch: Any) -> None:
    m = net(torch)
    rec, loss, grads = step(torch, m)
    now = {name: t.detach().numpy().copy() for name, t in (*m.named_parameters(), *m.named_buffers())}
    kept = {name: p.grad for name, p in m.named_parameters()}
    m.eval()
    random = torch.get_rng_state()
    found = rec.replay(outputs={"drop": lambda out: out})
    assert found.loss == (loss, loss) and found.changed == [] and found.downstream == []
    for name, g in grads.items():
        np.testing.assert_array_equal(found.before[name], g)
    for name, t in (*m.named_parameters(), *m.named_buffers()):
        np.testing.assert_array_equal(t.detach().numpy(), now[name])
    assert all(p.grad is kept[name] for name, p in m.named_parameters()) and not m.training and not m.norm.training
    assert bool((torch.get_rng_state() == random).all())
    assert not m.drop._forward_hooks


@both
def test_an_output_is_replaced(torch: Any) -> None:
    rec, _, _ = step(torch, net(torch))
    found = rec.replay(outputs={"layer1": lambda out: out.flip(0)})
    check(torch, found, lambda m: m.layer1.register_forward_hook(lambda *a: a[2].flip(0)))
    assert found.downstream == ["layer1", "drop", "norm", "layer2", ""]
    found = rec.replay(outputs={"norm": torch.ones(6, 4)})
    check(torch, found, lambda m: m.norm.register_forward_hook(lambda *a: torch.ones(6, 4)))
    assert found.downstream == ["norm", "layer2", ""] and found.after.get("layer1.weight") is None
    assert "loss " in str(found) and found.change("norm") > 0


@both
def test_a_weight_is_replaced(torch: Any) -> None:
    rec, _, _ = step(torch, net(torch))
    found = rec.replay(weights={"layer2.weight": lambda w: w * 2, "layer1.bias": torch.ones(4)})

    def patch(m: Any) -> None:
        with torch.no_grad():
            m.layer2.weight.mul_(2)
            m.layer1.bias.fill_(1)

    check(torch, found, patch)


@both
@pytest.mark.parametrize("number", [1, 2])
def test_the_weights_are_those_of_the_pass(torch: Any, number: int) -> None:
    _, first, _ = step(torch, net(torch), 1)
    rec, second, _ = step(torch, net(torch), 2)
    found = rec.replay(outputs={"layer2": lambda out: out * 2}, number=number)
    assert found.loss[0] == (first, second)[number - 1] and found.loss[1] != found.loss[0]


@both
@pytest.mark.parametrize("how", ["forward", "forward_pre", "full_backward", "tensor"])
def test_a_hook_is_left_out(torch: Any, how: str) -> None:
    def hooked(m: Any) -> Any:
        if how == "forward":
            return m.layer1.register_forward_hook(lambda module, args, out: out * 2)
        if how == "forward_pre":
            return m.layer2.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        if how == "full_backward":
            return m.layer2.register_full_backward_hook(lambda module, gi, go: (gi[0] * 2,))
        return m.layer1.weight.register_hook(lambda g: g * 2)

    m = net(torch)
    handle = hooked(m)
    rec, loss, _ = step(torch, m)
    found = rec.replay(without=handle, outputs={"drop": lambda out: out})
    assert (found.loss[0] != found.loss[1]) == how.startswith("forward") and "layer1.weight" in found.changed
    again = rec.replay(outputs={"drop": lambda out: out})
    assert again.loss == (loss, loss) and again.changed == []
    handle.remove()
    with pytest.raises(RecordingError, match="was removed after the recording"):
        rec.replay(without=handle, outputs={"drop": lambda out: out})


@both
def test_one_of_several_calls_and_what_lies_between_modules(torch: Any) -> None:
    torch.manual_seed(0)
    cell, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    whole = torch.nn.ModuleDict({"cell": cell, "head": head})
    x = torch.randn(5, 2)

    def run() -> Any:
        h = cell(x).tanh()
        h = torch.cat([h, h * 2], 1)[:, 1:3].contiguous()
        h[0] = 0.5
        h = torch.nn.functional.dropout(cell(h), 0.5)
        h += 1
        return head(h).square().mean()

    state = torch.get_rng_state()
    with record(whole, replay=True) as rec:
        run().backward()
    found = rec.replay(outputs={("cell", 2): lambda out: out * 3})
    assert found.downstream == ["cell, call 2", "head"]
    torch.set_rng_state(state)
    calls = itertools.count(1)
    handle = cell.register_forward_hook(lambda m, args, out: out * 3 if next(calls) == 2 else None)
    loss = run()
    handle.remove()
    assert found.loss[1] == loss.item() != found.loss[0]


@both
def test_a_pass_starts_from_another_gradient(torch: Any) -> None:
    rec, _, grads = step(torch, net(torch))
    found = rec.replay(outputs={"drop": lambda out: out}, gradient=torch.tensor(2.0))
    np.testing.assert_allclose(found.after["layer1.weight"], 2 * grads["layer1.weight"], rtol=1e-5)
    with pytest.raises(ValueError, match="gradient 0 has shape"):
        rec.replay(outputs={"drop": lambda out: out}, gradient=torch.ones(3))


@both
def test_recordings_of_both_runs_have_the_lines_and_paths_of_the_step(torch: Any) -> None:
    rec, _, _ = step(torch, net(torch))
    before, after = rec.replay(outputs={"layer1": lambda out: out * 2}).recordings
    ends = [e for e in before.of("op") if e.path is None]
    assert ends and all("test_forward_replay.py" in e.where for e in ends)
    assert {e.where for e in ends} <= {e.where for e in rec.of("op") if e.path is None}
    assert str(before.diff(after)).startswith("forward: the output of layer1")


# -- where it cannot be exact

@both
def test_a_step_that_depends_on_something_else_is_refused_by_name(torch: Any) -> None:
    class Counts(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * next(numbers)

    numbers = itertools.count(1)
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), Counts())
    with record(m, replay=True) as rec:
        m(torch.ones(1, 2)).sum().backward()
    with pytest.raises(RecordingError, match=r"run again, mul in 1 \[.*test_forward_replay.py:\d+\] gives numbers that differ"):
        rec.replay(outputs={"0": lambda out: out})


@both
def test_a_number_that_the_program_read_is_refused_where_it_matters(torch: Any) -> None:
    m = torch.nn.Linear(2, 1)
    with record(m, replay=True) as rec:
        out = m(torch.ones(3, 2)).square()
        if out.sum() > 0:
            out = out * 2
        shown = out.mean().item()
        loss = out.mean()
        print(shown)
        loss.backward()
    assert rec.replay(outputs={"": lambda out: out * 2}).loss[1] == pytest.approx(4 * loss.item())
    with pytest.raises(RecordingError, match=r"__bool__ \[.*\] gives another number now"):
        rec.replay(outputs={"": lambda out: out * 0})
    with record(m, replay=True) as rec:
        out = m(torch.ones(3, 2)).square()
        scale = out.mean().item()
        (out * scale).mean().backward()
    with pytest.raises(RecordingError, match=r"item \[.*\] gives another number now"):
        rec.replay(outputs={"": lambda out: out * 2})


@both
def test_state_of_an_earlier_step_is_run_again_and_from_before_the_recording_refused(torch: Any) -> None:
    m = torch.nn.Linear(2, 2)
    before = m(torch.ones(1, 2))
    with record(m, replay=True) as rec:
        m(before.detach()).sum().backward()
        m(before).sum().backward()
    assert rec.replay(outputs={"": lambda out: out * 2}, number=1).loss[1] != 0
    with pytest.raises(RecordingError, match="which was made before the last optimizer step"):
        rec.replay(outputs={"": lambda out: out * 2}, number=2)

    torch.manual_seed(0)
    g, d = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    step_g, step_d = (torch.optim.SGD(model.parameters(), lr=0.5) for model in (g, d))
    with record(g, d, replay=True) as rec:
        fake = g(torch.ones(3, 2)).tanh()
        d(fake.detach()).square().mean().backward()
        step_d.step()
        step_d.zero_grad()
        loss = d(fake).square().mean()
        loss.backward()
        grad = g.weight.grad.numpy().copy()
        step_g.step()
    found = rec.replay(outputs={"g": lambda out: out * 2})
    np.testing.assert_array_equal(found.before["g.weight"], grad)
    assert found.loss[0] == loss.item() and found.downstream == ["g", "d"] and "g.weight" in found.changed


@both
def test_what_is_not_there_is_named(torch: Any, tmp_path: Any) -> None:
    m = net(torch)
    rec, _, _ = step(torch, m)
    with pytest.raises(RecordingError, match="no module 'layer3' is called in the step; there are '', 'drop', 'layer1'"):
        rec.replay(outputs={"layer3": None})
    with pytest.raises(RecordingError, match="uses no weight 'layer3.weight'; there are 'layer1.bias'"):
        rec.replay(weights={"layer3.weight": None})
    for wrong, text in (({"gradient": "a"}, "gradient must be a tensor, got str"),
                        ({"weights": {"layer2.bias": "a"}}, r"weights\['layer2.bias'\] must be a tensor or a function, got str"),
                        ({"outputs": {"layer2": "a"}}, r"outputs\['layer2'\] must be a tensor or a function, got str")):
        with pytest.raises(TypeError, match=f"replay: {text}"):
            rec.replay(**wrong)
    with pytest.raises(ValueError, match=r"layer2.bias has shape \(2,\)"):
        rec.replay(weights={"layer2.bias": torch.ones(3)})
    with pytest.raises(ValueError, match=r"output of layer2 has shape \(6, 2\)"):
        rec.replay(outputs={"layer2": torch.ones(3)})
    with pytest.raises(RecordingError, match="no pass 7"):
        rec.replay(outputs={"layer2": torch.ones(6, 2)}, number=7)
    with pytest.raises(RecordingError, match="expected the handle"):
        rec.replay(without=3, outputs={"layer2": torch.ones(6, 2)})
    rec.save(tmp_path / "run.trace")
    with pytest.raises(RecordingError, match="replay=True"):
        load(tmp_path / "run.trace").replay(outputs={"layer2": torch.ones(6, 2)})
    with pytest.raises(ValueError, match="replay=True needs the forward pass"):
        record(m, ops=False, replay=True)
    with record(m, replay=True) as rec:
        h = m.layer2(torch.ones(6, 4))
        handle = h.register_hook(lambda g: g * 2)
        h.sum().backward()
    with pytest.raises(RecordingError, match="is on a tensor that a replay makes anew"):
        rec.replay(without=handle, outputs={"layer2": torch.ones(6, 2)})
