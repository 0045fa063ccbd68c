"""One capture, step after step: what is remembered from one to the next, and what is not."""
from __future__ import annotations

import copy
import gc
import importlib
import io
import pickle
import weakref
from typing import Any

import pytest

import retrograd
from retrograd.microscope import capture


def two(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))


def step(torch: Any, model: Any, cap: Any, x: Any) -> Any:
    model.zero_grad()
    with cap:
        model(x).pow(2).sum().backward()
    return cap.grads()


def alone(torch: Any, model: Any, x: Any) -> Any:
    """(N,) norms, one sample at a time."""
    found = []
    for n in range(x.shape[0]):
        model.zero_grad()
        model(x[n:n + 1]).pow(2).sum().backward()
        found.append(sum(float(p.grad.pow(2).sum()) for p in model.parameters() if p.grad is not None) ** 0.5)
    return torch.tensor(found)


def test_a_step_frees_the_tensors_of_the_one_before_at_once(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            step(torch, model, cap, x)
        held = [weakref.ref(t) for u in cap.uses() for t in (*u.a, u.delta) if t is not None]
        assert held and all(r() is not None for r in held)
        cap.clear()
        assert [r() for r in held] == [None] * len(held)
    finally:
        gc.enable()


def test_quantities_of_a_step_outlive_the_next_one(torch: Any) -> None:
    model, x, y = two(torch), torch.randn(6, 4), torch.randn(5, 4)
    cap = capture(model)
    before = step(torch, model, cap, x)
    after = step(torch, model, cap, y)
    assert torch.allclose(before.norms(), alone(torch, model, x), rtol=1e-4)
    assert torch.allclose(after.norms(), alone(torch, model, y), rtol=1e-4)
    assert before.kfac().biases == after.kfac().biases == {"0.weight": "0.bias", "2.weight": "2.bias"}


def test_a_layer_put_in_between_steps_is_captured(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    step(torch, model, cap, x)
    model.append(torch.nn.Linear(3, 2))
    assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
    assert cap.coverage()["3.weight"].status == "factors"
    model[1] = torch.nn.Linear(5, 5)                # as many modules as before
    assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
    model[2].bias = torch.nn.Parameter(torch.ones(3))
    model[0].register_parameter("bias", None)
    assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
    assert "0.bias" not in {row.name for row in cap.coverage()}


def test_a_call_of_the_same_layer_in_another_form(torch: Any) -> None:
    nn = torch.nn

    class Changes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.scale, self.form = nn.Linear(4, 4), nn.Parameter(torch.randn(4)), 0

        def forward(self, x: Any) -> Any:
            F = nn.functional
            w, b = self.fc.weight, self.fc.bias
            y = [lambda: F.linear(x, w, b), lambda: F.linear(x, w), lambda: F.linear(x, weight=w, bias=b),
                 lambda: F.linear(x, w, self.scale), lambda: F.linear(x * self.scale, w, b),
                 lambda: F.linear(x.detach(), w, b),
                 lambda: 2 * self.scale * x + x * self.scale][self.form]()
            return y.tanh()
    model, x = Changes(), torch.randn(6, 4)
    cap = capture(model, check=True)
    for form in (0, 1, 0, 2, 3, 4, 5, 6, 0):
        model.form = form
        got = step(torch, model, cap, x)
        assert torch.allclose(got.norms(), alone(torch, model, x), rtol=1e-4), form
        assert cap.coverage().complete and max(cap.check().values()) < 1e-4, form


def test_frozen_and_thawed_between_steps(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    for on in (True, False, True):
        model[0].weight.requires_grad_(on)
        assert torch.allclose(step(torch, model, cap, x).norms(), alone(torch, model, x), rtol=1e-4)
        assert cap.coverage()["0.weight"].status == ("factors" if on else "frozen")


# From the second step on calls wait until the model ends or a backward begins

def body(torch: Any, forward: Any) -> Any:
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 3)

        def forward(self, x: Any) -> Any:
            return forward(torch, self, x)
    return Model()


def output_edited(torch: Any, model: Any, x: Any) -> Any:
    y = model.first(x)
    y.relu_()
    z = model.norm(y)
    z.mul_(2)
    return model.last(z.view(-1, 5)).view(*z.shape[:-1], 3)


def twice_in_turn(torch: Any, model: Any, x: Any) -> Any:
    y = model.norm(model.first(x).tanh())
    return model.last(model.norm(y)) + model.last(y)


def own_gradient(torch: Any, model: Any, x: Any) -> Any:
    """Of an inner sum, as energies and their forces have it: those passes are uses' own, too."""
    y = model.first(x)
    inner = y.tanh()
    g, = torch.autograd.grad(inner.sum(), y, retain_graph=True)
    return model.last(model.norm(inner * (1 + g.detach())))


def gradient_edited(torch: Any, model: Any, x: Any) -> Any:
    """By a hook, before the layer gets it."""
    y = model.first(x)
    y.register_hook(lambda g: g * 2)
    return model.last(model.norm(y.tanh()))


@pytest.mark.parametrize("forward", [output_edited, twice_in_turn, own_gradient, gradient_edited])
@pytest.mark.parametrize("tokens", [(), (3,)])
def test_waiting_calls_are_those_that_were_made(torch: Any, forward: Any, tokens: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    model = body(torch, forward)
    cap = capture(model, check=True)
    quick = capture(model)
    for _ in range(3):
        x = torch.randn(6, *tokens, 4)
        step(torch, model, cap, x)
        assert max(cap.check().values()) < 1e-5
        got = step(torch, model, quick, x).norms()
        assert quick.coverage().complete
        assert torch.allclose(got, alone(torch, model, x), rtol=1e-4)
        assert [(u.path, u.name, u.number) for u in quick.uses()] == [(u.path, u.name, u.number) for u in cap.uses()]


def test_two_captures_of_a_step_are_given_the_same(torch: Any) -> None:
    model = body(torch, twice_in_turn)
    caps = [capture(model), capture(model)]
    for _ in range(3):
        x = torch.randn(6, 4)
        with caps[0], caps[1]:
            model(x).square().sum().backward()
        one, other = (cap.grads().norms() for cap in caps)
        assert torch.equal(one, other) and torch.allclose(one, alone(torch, model, x), rtol=1e-4)


def test_an_input_edited_while_its_call_waits_is_noticed(torch: Any) -> None:
    edit = []

    def forward(torch: Any, model: Any, x: Any) -> Any:
        x = x * 1
        y = model.first(x)
        for factor in edit:
            x.detach().mul_(factor)
        return model.last(model.norm(y))
    model, x = body(torch, forward), torch.randn(6, 4).requires_grad_()
    cap = capture(model, weight_grads=False)    # then nobody but us needs the input later
    for _ in range(2):
        step(torch, model, cap, x)
    edit.append(3.0)
    with cap:
        model(x).pow(2).sum().backward()
    row = cap.coverage()["first.weight"]
    assert row.status == "not covered" and "changed in place after the call" in row.how


def test_backward_again_and_a_loss_of_its_own_for_each_pass(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    step(torch, model, cap, x)
    want = {}
    for name, p in model.named_parameters():
        want[name] = p.grad.clone() * 3
    model.zero_grad()
    with cap:
        loss = model(x).pow(2).sum()
        loss.backward(retain_graph=True)
        assert len(cap.uses("0")) == 1
        (2 * loss).backward()
    for name, got in cap.grads().weight_grad().items():
        assert torch.allclose(got, want[name], rtol=1e-4)
    assert [r.kind for r in cap.losses] == ["unknown"] and "several losses" in cap.losses[0].why


def test_a_backward_after_the_block_still_arrives(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    cap = capture(model)
    step(torch, model, cap, x)
    want = cap.grads().norms()
    with cap:
        loss = model(x).pow(2).sum()
    assert not cap.uses()
    loss.backward()
    assert len(cap.uses()) == 2
    assert torch.allclose(cap.grads().norms(), want)


def test_a_model_that_raises_half_way_leaves_nothing_waiting(torch: Any) -> None:
    raising = []

    def forward(torch: Any, model: Any, x: Any) -> Any:
        y = model.first(x)
        if raising:
            raise RuntimeError("half way")
        return model.last(model.norm(y))
    model, x = body(torch, forward), torch.randn(6, 4)
    cap = capture(model)
    want = step(torch, model, cap, x).norms()
    raising.append(True)
    with pytest.raises(RuntimeError, match="half way"):
        step(torch, model, cap, x)
    raising.clear()
    assert torch.allclose(step(torch, model, cap, x).norms(), want)
    assert len(cap.uses()) == 3


# Other tensors in the parameters' places, and copies of the model

def call_with(torch: Any) -> Any:
    return importlib.import_module(torch.__name__ + ".func").functional_call


def others_of(model: Any) -> dict[str, Any]:
    return {name: (p.detach() * 2).requires_grad_(True) for name, p in model.named_parameters()}


def test_a_model_that_is_called_with_other_tensors_in_its_parameters_places(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    others, call = others_of(model), call_with(torch)
    cap = capture(model, check=True)
    for given in (others, {name: others[name] for name in ("0.weight", "2.bias")}):     # the second step: some of them
        with cap:
            call(model, given, (x,)).pow(2).sum().backward()
        assert cap.coverage().complete and cap.coverage().verified and max(cap.check().values()) < 1e-5
        got, leaves = cap.grads().per_sample(), {**dict(model.named_parameters()), **given}
        for n in range(6):
            own = torch.autograd.grad(call(model, given, (x[n:n + 1],)).pow(2).sum(), list(leaves.values()))
            for name, g in zip(leaves, own):
                assert float((got[name][n] - g).norm()) < 1e-4 * float(g.norm())


def test_tensors_in_parameters_places_that_cannot_be_followed_are_named(torch: Any) -> None:
    model, x, call = two(torch), torch.randn(6, 4), call_with(torch)
    made = {name: p * 2 for name, p in model.named_parameters()}
    with capture(model) as cap:
        call(model, made, (x,)).pow(2).sum().backward()
    assert all(row.status == "not covered" and "computed before the capture began" in row.how for row in cap.coverage())
    with capture(model) as cap:
        call(model, {"0.weight": model[0].weight.detach()}, (x,)).pow(2).sum().backward()
    row = cap.coverage()["0.weight"]
    assert row.status == "no gradient" and "in its place (torch.func.functional_call): one without gradient" in row.how
    assert cap.coverage().complete and set(cap.grads().names) == {"0.bias", "2.weight", "2.bias"}


def test_a_parameter_that_is_exchanged_inside_the_block(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    with capture(model) as cap:
        model[0].weight = torch.nn.Parameter(torch.randn(5, 4))
        model(x).pow(2).sum().backward()
    got = cap.grads().weight_grad()["0.weight"]
    assert float((got - model[0].weight.grad).norm()) < 1e-4 * float(got.norm())


def hooks_of(model: Any) -> list[Any]:
    return [hook for m in model.modules() for name, table in vars(m).items() if "_hooks" in name and isinstance(table, dict)
            for hook in table.values()]


def test_hooks_of_the_user_are_copied(torch: Any) -> None:
    model, x, seen = two(torch), torch.randn(6, 4), []
    model.register_forward_hook(lambda m, args, kwargs, out: seen.append(m), with_kwargs=True)
    with capture(model), capture(model):
        with capture(model):
            model(x)
        other = copy.deepcopy(model)
    assert len(hooks_of(other)) == len(hooks_of(model)) == 2        # the hook, and that it takes keywords
    other(x)
    assert seen == [model, other]


@pytest.mark.parametrize("copied", ["deepcopy", "pickle", "save"])
@pytest.mark.parametrize("recurrent", [False, True])
def test_copies_of_the_model_inside_a_block_are_not_captured(torch: Any, copied: str, recurrent: bool) -> None:
    def copy_of(model: Any) -> Any:
        if copied == "deepcopy":
            return copy.deepcopy(model)
        if copied == "pickle":
            return pickle.loads(pickle.dumps(model))
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        return copy.deepcopy(model) if torch.__name__ == "retrograd" else torch.load(file, weights_only=False)
    nn = torch.nn
    model = nn.ModuleList([nn.LSTM(4, 3, batch_first=True)])[0] if recurrent else nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3))
    x = torch.randn(6, 2, 4)

    def out(model: Any) -> Any:
        found = model(x)
        return found[0] if recurrent else found
    with capture(model) as cap:
        made = out(model)
        other = copy_of(model)
        assert hooks_of(other) == [] and "__getstate__" not in vars(other)
        out(other).sum().backward()             # between the captured call and its backward
        made.pow(2).sum().backward()
    assert hooks_of(model) == [] and not any("__getstate__" in vars(m) for m in model.modules())
    assert len(cap.runs) == 1 and cap.coverage().complete and max(cap.check().values()) < 1e-5
    want = [p.grad.clone() for p in other.parameters()]
    other.zero_grad()
    out(other).sum().backward()                 # after the block
    assert len(cap.runs) == 1 and all(bool(torch.allclose(p.grad, g)) for p, g in zip(other.parameters(), want))
    with capture(other) as again:
        out(other).pow(2).sum().backward()
    assert float((again.grads().norms() - cap.grads().norms()).norm()) < 1e-4 * float(cap.grads().norms().norm())


@pytest.mark.parametrize("layers", [None, "0.*"])
def test_captures_inside_each_other_see_only_the_users_passes(torch: Any, layers: Any) -> None:
    nn = torch.nn
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)), torch.randn(6, 4)
    with capture(model) as alone:
        model(x).pow(2).sum().backward()
    with capture(model) as outer, capture(model, layers) as inner:
        model(x).pow(2).sum().backward()
    assert outer.coverage().complete and inner.coverage().complete
    assert len(outer.uses()) == 2
    assert torch.equal(outer.grads().norms(), alone.grads().norms())
    assert torch.equal(inner.grads().norms(), alone.grads(layers).norms())


@pytest.mark.parametrize("seeded", [False, True])
def test_many_captures_at_once(torch: Any, seeded: bool) -> None:
    nn = torch.nn
    model, x = nn.Sequential(nn.Sequential(nn.Linear(4, 5), nn.Tanh()), nn.Linear(5, 3)), torch.randn(6, 4)
    for _ in range(2):
        model.zero_grad()
        with capture(model) as a, capture(model[0]) as b, capture(model[1]) as c, capture(model) as d:
            loss = model(x).pow(2).mean()
            loss.backward(torch.tensor(2.0)) if seeded else torch.autograd.backward((loss,))
        for cap, prefix in ((a, ""), (b, "0."), (c, "1."), (d, "")):
            assert cap.coverage().complete and max(cap.check().values()) < 1e-5
            for name, g in cap.grads().weight_grad().items():
                assert torch.allclose(g, model.get_parameter(prefix + name).grad, rtol=1e-4, atol=1e-6)
        for cap in (a, c, d):
            assert cap.losses[0].kind == "mean" and cap.losses[0].factor == (2 if seeded else 1)
        assert torch.equal(a.grads(scale="sample").norms(), d.grads(scale="sample").norms())


def test_each_row_of_a_batch_of_gradients_is_a_pass_of_its_own() -> None:
    model, x = two(retrograd), retrograd.randn(6, 4, requires_grad=True)
    cap = capture(model)
    for _ in range(4):                          # until steps are not checked any more
        step(retrograd, model, cap, x)
    with cap:
        y = model(x).pow(2).sum()
        retrograd.autograd.grad(y, x, retrograd.ones(2), is_grads_batched=True)
    assert [tuple(u.delta.shape) for u in cap.uses()] == [(6, 5), (6, 5), (6, 3), (6, 3)]


def test_a_twin_of_a_use_has_all_but_what_came_for_the_first() -> None:
    model = retrograd.nn.Linear(4, 3)
    with capture(model) as cap:
        model(retrograd.randn(5, 4)).sum().backward()
    [use] = cap.uses()
    twin = use.twin()
    names = [name for name in dir(use) if not name.startswith("__") and not callable(getattr(use, name))]
    own = {name for name in names if getattr(twin, name) is not getattr(use, name) and getattr(twin, name) != getattr(use, name)}
    assert own == {"arrived", "boxes", "delta", "deltas", "device", "dtype"}


# Parameters that come inside the block

def test_parameters_that_are_added_or_thawed_before_the_model_is_called(torch: Any) -> None:
    model, x = two(torch), torch.randn(6, 4)
    model[0].requires_grad_(False)
    cap = capture(model, check=True)
    for _ in range(2):
        with cap:
            if len(model) == 3:
                model[0].requires_grad_(True)
                model.append(torch.nn.Linear(3, 2))
            model.zero_grad()
            model(x).pow(2).sum().backward()
        report = cap.coverage()
        assert report.complete and report.verified and max(cap.check().values()) < 1e-5
        assert [(row.name, row.status) for row in report] == [
            (f"{layer}.{key}", status) for layer in (0, 2, 3) for key, status in (("weight", "factors"), ("bias", "per sample"))]
        for name, g in cap.grads().weight_grad().items():
            assert torch.allclose(g, model.get_parameter(name).grad, rtol=1e-4, atol=1e-5)
        assert torch.allclose(cap.grads().norms(), alone(torch, model, x), rtol=1e-4)


@pytest.mark.parametrize("check", [True, False])
def test_a_parameter_that_comes_later_is_listed(torch: Any, check: bool) -> None:
    model, x = two(torch), torch.randn(6, 4)
    with capture(model, check=check) as cap:
        y = model(x)
        model.append(torch.nn.Linear(3, 2))
        model.append(torch.nn.Linear(2, 2))
        model[3](y).pow(2).sum().backward()         # not through the model
    found = {row.name: row.status for row in cap.coverage()}
    assert found["4.weight"] == "no gradient" and found["3.weight"] == found["3.bias"] == "not covered"
    assert found["0.weight"] == "factors" and not cap.coverage().complete


@pytest.mark.parametrize("transform", ["grad", "vmap", "grad of the parameters"])
@pytest.mark.parametrize("first", [True, False])
def test_transforms_inside_a_block_are_no_backward(torch: Any, transform: str, first: bool) -> None:
    func = importlib.import_module(torch.__name__ + ".func")
    model, x = two(torch), torch.randn(6, 4)

    def loss(weights: Any, x: Any) -> Any:
        return func.functional_call(model, weights, (x,)).pow(2).sum()

    def other() -> Any:
        weights = {name: p if transform == "grad of the parameters" else p.detach() for name, p in model.named_parameters()}
        if transform == "vmap":
            return func.vmap(func.grad(loss), in_dims=(None, 0))(weights, x.unsqueeze(1))
        return func.grad(loss)(weights, x)
    cap = capture(model, check=True)
    for _ in range(2):
        model.zero_grad()
        with cap:
            if first:
                other()
            model(x).pow(2).sum().backward()
            if not first:
                other()
        assert cap.coverage().complete and cap.coverage().verified and max(cap.check().values()) < 1e-5
        assert torch.allclose(cap.grads().norms(), alone(torch, model, x), rtol=1e-4)


# Weights that several modules have

def tied(torch: Any) -> Any:
    class Tied(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            nn = torch.nn
            self.te, self.a, self.b, self.head = nn.Embedding(7, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 7, bias=False)
            self.head.weight, self.b.weight = self.te.weight, self.a.weight

        def forward(self, x: Any) -> Any:
            x = self.b(self.a(self.te(x)).tanh()) + self.a(self.te(x))
            return self.head(x) + torch.nn.functional.linear(x, self.head.weight)
    return Tied()


def test_calls_with_a_tied_weight_are_of_the_module_that_is_called(torch: Any) -> None:
    model, x = tied(torch), torch.randint(0, 7, (6, 3))
    calls = [("te", 0), ("a", 0), ("b", 0), ("te", 1), ("a", 1), ("head", 0), ("te", 0)]    # the last one by no module
    seen: list[tuple[str, int]] = []

    def every(path: str, call: int) -> bool:
        seen.append((path, call))
        return True
    cap, other = capture(model), capture(model, where=every)
    for _ in range(3):
        seen.clear()
        with cap, other:
            model(x).pow(2).sum().backward()
        assert seen == calls == [(use.path, use.number) for use in cap.uses()]
        assert [use.path for use in cap.uses("head")] == ["head"] and len(cap.uses("a")) == 2
        assert cap.coverage().complete and other.coverage().complete
        assert torch.equal(cap.grads().norms(), other.grads().norms())
        assert torch.allclose(cap.grads().norms(), alone(torch, model, x), rtol=1e-4)
    te, ab = ["te.weight"], ["a.weight", "b.bias"]
    for chosen, names in (("head", te), ("head.*", te), ("te", te), ("b", ab)):
        with capture(model, chosen) as some:
            model(x).pow(2).sum().backward()
        assert some.grads().names == names == cap.grads(chosen).names == cap.grads().select(chosen).names
