"""The ledger's terms sum to .grad, whatever the program: random programs, on both engines."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from both_engines import both
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrograd.microscope import lint, lint_recording, load, record

# A program: passes of uses of w (how, scale), hooks, and what happens to .grad between the passes.
USES = ("mul", "square", "sin", "matmul", "twice", "view", "slice")
HOOKS = ("double", "inplace", "keep", "clip", "post_scale", "post_look", "node")
BETWEEN = ("nothing", "scale", "clip", "unseen", "zero", "none")
PROGRAM = st.lists(
    st.tuples(st.lists(st.tuples(st.sampled_from(USES), st.floats(-2, 2, width=32)), min_size=1, max_size=4),
              st.sampled_from(BETWEEN)), min_size=1, max_size=3)


def use(torch: Any, w: Any, how: str, scale: float) -> Any:
    if how == "mul":
        return (w * scale).sum()
    if how == "square":
        return (w * w).sum() * scale
    if how == "sin":
        return w.sin().mean() * scale
    if how == "matmul":
        return (w @ w.t()).sum() * scale
    if how == "twice":
        h = w * scale
        return (h + h.cos()).sum()
    if how == "view":
        return w.view(-1)[2:].sum() * scale
    return w[0].sum() * scale


def hook_on(torch: Any, w: Any, how: str) -> None:
    if how == "double":
        w.register_hook(lambda g: g * 2)
    elif how == "inplace":
        w.register_hook(lambda g: (g.add_(0.25), None)[1])
    elif how == "keep":
        w.register_hook(lambda g: None)
    elif how == "clip":
        w.register_hook(lambda g: g.clamp(-0.5, 0.5))
    elif how == "post_scale":
        w.register_post_accumulate_grad_hook(lambda p: (p.grad.mul_(0.5), None)[1])
    elif how == "post_look":
        w.register_post_accumulate_grad_hook(lambda p: None)


def run(torch: Any, w: Any, program: Any, hooks: Any) -> None:
    for how in hooks:
        hook_on(torch, w, how)
    for uses, between in program:
        loss = sum((use(torch, w, how, scale) for how, scale in uses), torch.zeros(()))
        if "node" in hooks:
            node = loss.grad_fn.next_functions[1][0]
            node.register_hook(lambda gi, go: tuple(None if g is None else g * 1.5 for g in gi))
        loss.backward()
        if between == "scale":
            w.grad.mul_(0.5)
        elif between == "clip":
            torch.nn.utils.clip_grad_norm_([w], 0.5)
        elif between == "unseen":
            w.grad = w.grad.clone() + 1
        elif between == "zero":
            w.grad.zero_()
        elif between == "none" and uses is not program[-1][0]:
            w.grad = None


@both
@given(program=PROGRAM, hooks=st.lists(st.sampled_from(HOOKS), max_size=3, unique=True))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_terms_sum_to_grad(torch: Any, program: Any, hooks: Any) -> None:
    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.randn(3, 4))
    with record(engine=torch.__name__, values="parameters") as rec:
        run(torch, w, program, hooks)
    book = rec.ledger(w)
    if w.grad is None:
        assert book.entries == [] or book.grad is None
        return
    assert book.whole and book.entries, book
    np.testing.assert_allclose(book.total, w.grad.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert book.check() < 1e-5
    # the same numbers by another way: each use alone, where neither hooks nor edits stand between
    if not hooks and len(program) == 1 and program[0][1] == "nothing":
        assert not [e for e in book.entries if e.kind != "use"]


@both
def test_uses_are_told_apart(torch: Any) -> None:
    """Each contribution is what its term alone gives."""
    torch.manual_seed(0)
    nn = torch.nn

    class Tied(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, i: Any) -> Any:
            return self.head(self.embed(i))

    m = Tied()
    i = torch.tensor([0, 2, 2])
    with record(m, values="parameters") as rec:
        m(i).square().sum().backward()
    book = rec.ledger("embed.weight")
    assert str(rec.ledger(m.head.weight)) == str(book)
    w = m.embed.weight.detach().numpy()
    out = 2 * w[i.numpy()] @ w.T                        # gradient of the loss with respect to the output
    head = out.T @ w[i.numpy()]
    embed = np.zeros_like(w)
    np.add.at(embed, i.numpy(), out @ w)
    by_text = {e.text.rpartition(" ")[2]: e.value for e in book.uses}
    np.testing.assert_allclose(by_text["head"], head, rtol=1e-5)
    np.testing.assert_allclose(by_text["embed"], embed, rtol=1e-5)
    assert "via head" in str(book) and book.check() < 1e-6


@both
def test_an_edit_out_of_sight_is_a_term_of_its_own(torch: Any) -> None:
    w = torch.nn.Parameter(torch.ones(2))
    with record(engine=torch.__name__, values="parameters") as rec:
        (w * 3).sum().backward()
        w.grad = torch.tensor([10.0, 20.0])
    book = rec.ledger(w)
    assert [e.kind for e in book.entries] == ["use", "unseen"]
    assert book.entries[1].value.tolist() == [7.0, 17.0]


@both
def test_what_was_there_before_the_recording(torch: Any) -> None:
    w = torch.nn.Parameter(torch.ones(2))
    w.sum().backward()
    with record(engine=torch.__name__, values="parameters") as rec:
        (w * 3).sum().backward()
    book = rec.ledger(w)
    assert [(e.kind, e.value.tolist()) for e in book.entries] == [("there", [1.0, 1.0]), ("use", [3.0, 3.0])]


@both
def test_a_tensor_inside_the_graph_has_a_ledger(torch: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    with record(engine=torch.__name__, values="all") as rec:
        h = w * 2
        (h * 3 + h * h).sum().backward()
    book = rec.ledger(h)
    assert sorted(e.value.tolist() for e in book.uses) == [[2.0, 2.0], [2.0, 2.0], [3.0, 3.0]]
    assert book.total.tolist() == [7.0, 7.0]


@both
def test_a_recording_of_norms_gives_a_ledger_of_norms(torch: Any, tmp_path: Any) -> None:
    m = torch.nn.Linear(2, 1, bias=False)
    with record(m) as rec:
        m(torch.ones(1, 2)).sum().backward()
    rec.save(tmp_path / "r")
    for r in (rec, load(tmp_path / "r")):
        book = r.ledger("weight")
        assert book.total is None and [round(e.norm, 4) for e in book.uses] == [1.4142]
        assert "norms only" in str(book)
        with pytest.raises(ValueError, match="values='parameters'"):
            book.check()
    with pytest.raises(KeyError, match="there are weight"):
        rec.ledger("w")


@both
@pytest.mark.parametrize("values", ["parameters", None])
def test_zero_grad_after_a_pass_is_an_entry(torch: Any, values: str | None, tmp_path: Any) -> None:
    torch.manual_seed(0)
    m = torch.nn.Linear(4, 3)
    with record(m, values=values) as rec:
        m(torch.ones(2, 4)).sum().backward()
        m.zero_grad()
    rec.save(tmp_path / "run.trace")
    for book in (rec.ledger("weight"), rec.ledger(m.weight), load(tmp_path / "run.trace").ledger("weight")):
        assert [e.kind for e in book.entries] == ["use", "zero"] and book.grad is None
        assert book.entries[0].norm == pytest.approx(np.sqrt(12 * 4))        # of 12 twos
        assert "zero_grad() of" in str(book) and "nothing" not in str(book)
        if values:
            assert not np.any(book.total)
    with record(m, values=values) as rec:               # what comes after zero_grad() is a new sum
        for _ in range(2):
            m(torch.ones(2, 4)).sum().backward()
            m.zero_grad()
        m(torch.ones(2, 4)).sum().backward()
    book = rec.ledger(m.weight)
    assert [e.kind for e in book.entries] == ["use"] and (not values or book.check() < 1e-6)
    with record(m, values=values) as rec:
        m(torch.ones(2, 4)).sum().backward()
        m.zero_grad()
        m.weight.grad = torch.ones(3, 4)
    assert [e.kind for e in rec.ledger(m.weight).entries] == ["there"]


class Block:
    """x + tanh(W x), once with the connection around it cut, once with the branch cut."""

    def __init__(self, torch: Any, cut: str = "") -> None:
        torch.manual_seed(3)
        self.torch, self.cut = torch, cut
        self.first, self.inner, self.last = (torch.nn.Linear(4, 4) for _ in range(3))

    def loss(self, x: Any) -> Any:
        h = self.first(x)
        around, into = (h.detach(), h) if self.cut == "around" else (h, h.detach()) if self.cut == "branch" else (h, h)
        return self.last(around + self.torch.tanh(self.inner(into))).square().mean()


@both
def test_ways_of_a_residual_connection_are_what_each_brings_alone(torch: Any, tmp_path: Any) -> None:
    torch.manual_seed(1)
    x = torch.randn(3, 4)
    alone = {}
    for cut in ("around", "branch"):
        model = Block(torch, cut)
        model.loss(x).backward()
        alone[cut] = [model.first.weight.grad.numpy().copy(), model.first.bias.grad.numpy().copy()]
    model = Block(torch)
    with record(engine=torch.__name__, values="paths") as rec:
        model.loss(x).backward()
    rec.save(tmp_path / "run.trace")
    names = [name for name, n in rec.parameters.items()]
    for at, p in enumerate((model.first.weight, model.first.bias)):
        (entry,) = rec.ledger(p).uses
        assert len(entry.ways) == 2 and sum(way.arrived > 0 for way in entry.ways) == 2
        branch = next(w for w in entry.ways if len(w.path) > min(len(v.path) for v in entry.ways))
        (around,) = [w for w in entry.ways if w is not branch]
        np.testing.assert_allclose(branch.value, alone["around"][at], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(around.value, alone["branch"][at], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(sum(w.value for w in entry.ways), p.grad.numpy(), rtol=1e-5, atol=1e-7)
    assert not rec.ledger(model.last.weight).uses[0].ways
    back = load(tmp_path / "run.trace")
    assert back.parts == rec.parts and names == list(back.parameters)
    assert all(w.norm is not None for name in names for e in back.ledger(name).uses for w in e.ways)
    with record(engine=torch.__name__, values="parameters") as rec:
        model.loss(x).backward()
    assert [(w.value, w.arrived > 0) for w in rec.ledger(model.first.weight).uses[0].ways] == [(None, True)] * 2


@both
def test_what_a_hook_between_changed_is_a_way_of_its_own(torch: Any) -> None:
    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.randn(3))
    with record(engine=torch.__name__, values="paths") as rec:
        h = w * 2
        h.register_hook(lambda g: g.clamp(-0.1, 0.1))
        (h.sin() + h.cos()).sum().backward()
    (entry,) = rec.ledger(w).uses
    assert [way.path for way in entry.ways][2:] == [("hooks between",)]
    np.testing.assert_allclose(sum(way.value for way in entry.ways), w.grad.numpy(), rtol=1e-5)
    h = 2 * w.detach().numpy()
    np.testing.assert_allclose(entry.ways[0].value + entry.ways[1].value, 2 * (np.cos(h) - np.sin(h)), rtol=1e-4)


@both
def test_a_custom_function_has_ways_without_numbers_and_the_recording_says_so(torch: Any) -> None:
    class Twice(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    w = torch.nn.Parameter(torch.ones(3))
    with record(engine=torch.__name__, values="paths") as rec:
        h = Twice.apply(w)
        (h.sin() + h.cos()).sum().backward()
    if torch.__name__ == "torch":
        assert any("TwiceBackward" in note for note in rec.notes)
        assert [way.value for way in rec.ledger(w).uses[0].ways] == [None, None]
    assert rec.ledger(w).check() < 1e-6


@both
@given(program=PROGRAM, hooks=st.lists(st.sampled_from(HOOKS), max_size=2, unique=True))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_ways_sum_to_their_use(torch: Any, program: Any, hooks: Any) -> None:
    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.randn(3, 4))
    with record(engine=torch.__name__, values="paths") as rec:
        run(torch, w, program, hooks)
    assert not rec.notes
    for entry in rec.ledger(w).uses:
        if entry.ways:
            total = sum(way.value for way in entry.ways)
            np.testing.assert_allclose(total, entry.value, rtol=1e-4, atol=1e-5)


@both
def test_a_path_leads_through_the_nodes_of_its_pass(torch: Any) -> None:
    p = torch.nn.Parameter(torch.ones(3))
    with record(engine=torch.__name__, values="paths") as rec:
        h = p * 2
        loss = h.sin().sum()
        other = (loss * 2, (h**2).sum())                # not in the pass
        loss.backward()
    (entry,) = rec.ledger(p).uses
    assert entry.path == ("mul", "sin", "sum") and not entry.ways and len(other) == 2
    p.grad = None
    with record(engine=torch.__name__, values="paths") as rec:
        h = p * 2
        (h * h).sum().backward()                        # an op that reads it twice is one way
    assert rec.ledger(p).uses[0].path == ("mul", "sum")


def assigned(torch: Any, w: Any) -> None:
    w.grad = w.grad * 3


def scaled(torch: Any, w: Any) -> None:
    w.grad *= 3


def behind_its_back(torch: Any, w: Any) -> None:
    w.grad.data.mul_(3)


def by_numpy(torch: Any, w: Any) -> None:
    w.grad.numpy()[:] = 5


def by_numpy_of_a_view(torch: Any, w: Any) -> None:
    w.grad.view(-1)[1:].numpy()[:] = 5


def clipped(torch: Any, w: Any) -> None:
    torch.nn.utils.clip_grad_norm_([w], 0.1)


def clipped_by_value(torch: Any, w: Any) -> None:
    torch.nn.utils.clip_grad_value_([w], 0.01)


def set_to_none(torch: Any, w: Any) -> None:
    w.grad = None


def deleted(torch: Any, w: Any) -> None:
    del w.grad


def made_elsewhere(torch: Any, w: Any) -> None:
    w.grad = torch.ones_like(w)


@both
@pytest.mark.parametrize("step", [True, False], ids=["step", "no step"])
@pytest.mark.parametrize(("edit", "kind", "text"), [
    (assigned, "edit", "mul, assigned"), (scaled, "edit", "mul"), (behind_its_back, None, ""),
    (by_numpy, "unseen", "an edit between"), (by_numpy_of_a_view, "unseen", "an edit between"),
    (clipped, "edit", "clip_grad_norm_"),
    (clipped_by_value, "edit", "clip_grad_value_"), (set_to_none, "zero", "None"), (deleted, "zero", "None"),
    (made_elsewhere, "edit", "assigned to .grad")])
@pytest.mark.parametrize("values", ["parameters", None])
def test_what_the_optimiser_read_is_the_gradient(
        torch: Any, edit: Any, kind: str | None, text: str, step: bool, values: Any, tmp_path: Any) -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    with record(model, values=values) as rec:
        model(torch.randn(4, 3)).pow(2).sum().backward()
        edit(torch, model.weight)
        if step:
            optimizer.step()
    rec.save(tmp_path / "run.trace")
    grad = model.weight.grad
    true = np.zeros((2, 3)) if grad is None else np.asarray(grad)
    for one in (rec, load(tmp_path / "run.trace")):
        book = one.ledger("weight")
        if kind is not None:
            assert (book.entries[-1].kind, text in book.entries[-1].text) == (kind, True), str(book)
        if kind in ("edit", "zero"):
            line = edit.__code__.co_firstlineno + 1
            assert (book.entries[-1].where or "").endswith(f"test_ledger.py:{line}")
        if kind == "zero":
            cause = one.why_none("weight")
            assert (cause.code, cause.where) == ("set_to_none", book.entries[-1].where), str(cause)
        if values:
            assert np.allclose(book.total, true, atol=1e-5), str(book)
            assert kind == "zero" or np.allclose(book.grad, true)
        if step:
            event = next(iter(one.of("step")))
            value = one.value(event.gradients[event.tensors.index(one.number_of("weight"))])
            assert value is None if grad is None else value.norm == pytest.approx(float(np.linalg.norm(true)), rel=1e-5)


@pytest.mark.oracle
def test_unscaling_is_an_edit_with_its_line(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(3, 2)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.0), torch.amp.GradScaler("cpu", init_scale=8.0)
    with record(model, values="parameters") as rec:
        scaler.scale(model(torch.randn(4, 3)).pow(2).sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
    book = rec.ledger("weight")
    assert book.entries[-1].kind == "edit" and "unscale_" in book.entries[-1].text, str(book)
    assert np.allclose(book.total, model.weight.grad, atol=1e-5)


def programs(torch: Any) -> dict[str, Any]:
    """What becomes of a chain of layers: (layers, input, another parameter) -> losses."""
    nn = torch.nn

    def cut_in_half(layers: Any, x: Any, w: Any) -> Any:
        found = [x := layer(x) for layer in layers]
        return [found[len(found) // 2].sum()]

    def frozen(layers: Any, x: Any, w: Any) -> Any:
        layers.requires_grad_(False)
        return [layers(x).sum() * w]

    def without_grad(layers: Any, x: Any, w: Any) -> Any:
        with torch.no_grad():
            x = layers(x)
        return [(x * w).sum()]

    def numbers(layers: Any, x: Any, w: Any) -> Any:
        found = [(x := layer(x)).sum().item() for layer in layers]
        return [w * sum(found)]

    def replaced(layers: Any, x: Any, w: Any) -> Any:
        for layer in layers:
            layer.weight = nn.Parameter(torch.ones(2, 2))
        return [layers(x).sum()]

    def hooked(layers: Any, x: Any, w: Any) -> Any:
        for layer in layers:
            layer.register_full_backward_hook(print)
            layer.weight.register_hook(print)
            layer.weight.register_post_accumulate_grad_hook(print)
        layers(x)
        return [w * 2]

    def hooked_and_uncalled(layers: Any, x: Any, w: Any) -> Any:
        for layer in layers:
            layer.register_forward_hook(print)
        return [w * 2]
    return {
        "used": lambda layers, x, w: [layers(x).sum()], "several passes": lambda layers, x, w: [layers(x).sum(), layers(x).sum()],
        "unused": lambda layers, x, w: [(layers(x), w * 2)[1]], "half": cut_in_half, "frozen": frozen, "no_grad": without_grad,
        "detached": lambda layers, x, w: [layers(x).detach().sum() * w],
        "argmax": lambda layers, x, w: [layers(x).argmax() * w], "number": lambda layers, x, w: [layers(x).sum().item() * w],
        "numbers": numbers, "replaced": replaced, "hooked": hooked, "uncalled": hooked_and_uncalled,
    }


PROGRAMS = ("used", "several passes", "unused", "half", "frozen", "no_grad", "detached", "argmax", "number", "numbers",
            "replaced", "hooked", "uncalled")


@both
@pytest.mark.parametrize("program", PROGRAMS)
def test_work_for_all_parameters_grows_with_their_number_not_with_its_square(torch: Any, program: str) -> None:
    def lines(n: int) -> dict[str, int]:
        """How many lines each question runs, a loop's once for each turn."""
        model = torch.nn.Module()
        model.w, model.layers = torch.nn.Parameter(torch.ones(())), torch.nn.Sequential(
            *[torch.nn.Linear(2, 2) for _ in range(n)])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        old = list(model.parameters())
        with record(model) as rec:
            for loss in programs(torch)[program](model.layers, torch.randn(2, 2), model.w):
                loss.backward()
            optimizer.step()
        names, found = list(rec.parameters), {}
        for what, ask in {
            "ledger": lambda: [rec.ledger(name) for name in names], "why_none": lambda: [rec.why_none(name) for name in names],
            "why_none of tensors": lambda: [rec.why_none(p) for p in old], "trouble": rec.trouble, "summary": rec.summary,
            "lint": lambda: lint(model, optimizer=optimizer), "lint_recording": lambda: lint_recording(rec),
            "explain": lambda: [rec.explain(name) for name in (*names, *(m["path"] for m in rec.modules if m["path"]))],
        }.items():
            count = 0

            def trace(frame: Any, event: str, _: Any) -> Any:
                nonlocal count
                count += event == "line"
                return trace
            before = sys.gettrace()
            sys.settrace(trace)
            try:
                ask()
            finally:
                sys.settrace(before)
            found[what] = count
        return found
    lines(2)                                            # what is read once: sources of this file
    few, many = lines(20), lines(40)
    assert all(many[what] < 2.3 * few[what] + 200 for what in few), (few, many)


@both
def test_uses_in_several_calls_of_a_module_carry_the_number_of_the_call(torch: Any) -> None:
    layer = torch.nn.Linear(2, 2)
    with record(layer) as rec:
        x = torch.randn(3, 2)
        for _ in range(4):
            x = layer(x)
        x.sum().backward()
    uses = rec.ledger("weight").uses
    assert sorted(use.text.rpartition(", ")[2] for use in uses) == ["call 1", "call 2", "call 3", "call 4"]
    assert len({use.norm for use in uses}) == 4
