"""torch.export, torch.jit.trace and make_fx: the graph of what one run calls; its sizes, its refusals, its files."""
from __future__ import annotations

import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd as torch
from retrograd.export import Dim, export
from retrograd.export import load as load_program
from retrograd.export import save as save_program
from retrograd.fx._files import found, loads
from retrograd.fx.experimental.proxy_tensor import make_fx

nn, F = torch.nn, torch.nn.functional


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(4, 5, batch_first=True)

    def forward(self, x: Any) -> Any:
        y, (h, _) = self.layer(x)
        return {"y": y, "h": h}


class Attentive(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.layer = nn.Embedding(10, 8), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, words: Any) -> Any:
        return self.layer(self.embedding(words))


def kept(T: Any) -> Any:
    """A module that reads a parameter, a buffer and a tensor, and makes a shape of sizes."""
    class Kept(T.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.c = T.nn.Linear(3, 4), T.full((4,), 2.0)
            self.register_buffer("k", T.full((4,), 3.0))

        def forward(self, x: Any, *, d: Any) -> Any:
            return {"a": T.relu(self.fc(x)) * self.k + self.c, "b": x.view(x.shape[0], -1) * d["q"]}
    return Kept()


class Undecided(nn.Module):
    def forward(self, x: Any) -> Any:
        return x if x.sum() > 0 else -x


class Sized(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.view(2, 3) if x.shape[0] == 2 else x


CNN = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
       nn.Linear(4, 3)]
MODELS: list[tuple[Any, Any]] = [
    (nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.LayerNorm(8), nn.Linear(8, 2), nn.Softmax(-1)), torch.randn(2, 4)),
    (nn.Sequential(*CNN), torch.randn(2, 1, 8, 8)), (Recurrent(), torch.randn(2, 3, 4)),
    (Attentive(), torch.randint(0, 10, (2, 6)))]


def leaves(x: Any) -> list[Any]:
    return list(torch.utils._pytree.tree_leaves(x))


def same(a: Any, b: Any) -> bool:
    return len(leaves(a)) == len(leaves(b)) and all(torch.allclose(x, y, atol=1e-6) for x, y in zip(leaves(a), leaves(b)))


@pytest.mark.parametrize(("model", "x"), MODELS, ids=lambda x: type(x).__name__)
def test_models_compute_the_same_for_other_batches_once_saved_and_loaded(model: Any, x: Any, tmp_path: Path) -> None:
    model.eval()
    more = torch.cat([x, x, x])
    save_program(export(model, (x,), dynamic_shapes=({0: Dim("n")},)), tmp_path / "model.pt2")
    torch.jit.trace(model, x, strict=False).save(tmp_path / "model.pt")
    program, traced = load_program(tmp_path / "model.pt2"), torch.jit.load(tmp_path / "model.pt")
    assert same(program.module()(more), model(more))
    assert same(traced(more), model(more))
    assert traced.state_dict().keys() == program.state_dict.keys() == model.state_dict().keys()


def test_gradients_reach_the_parameters_of_the_model_itself() -> None:
    model = nn.Linear(3, 2)
    for made in (export(model, (torch.ones(1, 3),)).module(), torch.jit.trace(model, torch.ones(1, 3))):
        model.weight.grad = None
        made(torch.ones(1, 3)).sum().backward()
        assert model.weight.grad is not None and model.weight.grad.tolist() == [[1, 1, 1]] * 2


@pytest.mark.oracle
def test_signature_and_refusals_are_pytorchs() -> None:
    import torch as theirs
    from torch.export import export as their_export

    def said(T: Any, export: Any, model: Any) -> list[str]:
        made = export(model, (T.ones(2, 3),), {"d": {"q": T.ones(2, 3)}})
        signature = str(made.graph_signature).partition("# outputs")[0]
        module, text = made.module(), [signature]
        for call in (lambda: module(T.ones(5, 3), d={"q": T.ones(2, 3)}), lambda: module(T.ones(2, 3)), module.eval, made,
                     lambda: export(lambda x: x, (T.ones(1),))):
            with pytest.raises(Exception) as caught:
                call()
            words = f"{type(caught.value).__name__}: {caught.value}"
            text.append(words.replace("retrograd", "torch").replace("torch.torch", "torch"))
        return text

    assert said(torch, export, kept(torch)) == said(theirs, their_export, kept(theirs))


def test_what_a_module_decides_by_values_or_open_sizes_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"data-dependent expression: the program calls __bool__\(\)"):
        export(Undecided(), (torch.ones(2),))
    with pytest.raises(RuntimeError, match=r"Constraints violated \(n\).*target=view"):
        export(Sized(), (torch.ones(2, 3),), dynamic_shapes={"x": {0: Dim("n")}})
    fixed = export(Sized(), (torch.ones(2, 3),), dynamic_shapes={"x": {0: Dim.AUTO}}).module()
    with pytest.raises(AssertionError, match=r"x.size\(\)\[0\] == 2"):
        fixed(torch.ones(3, 3))


def test_open_sizes_that_bear_one_name_are_one_size() -> None:
    class Two(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

    n = Dim("n", min=2, max=5)
    module = export(Two(), (torch.ones(3), torch.ones(3)), dynamic_shapes=({0: n}, {0: n})).module()
    assert module(torch.ones(4), torch.ones(4)).tolist() == [2.0] * 4
    for sizes, words in (((4, 5), r"y.size\(\)\[0\] == x.size\(\)\[0\]"), ((6, 6), r"2 <= x.size\(\)\[0\] <= 5")):
        with pytest.raises(AssertionError, match=words):
            module(torch.ones(sizes[0]), torch.ones(sizes[1]))


def test_a_run_for_the_graph_leaves_buffers_generator_and_inputs_alone() -> None:
    model, x = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5), nn.ReLU(inplace=True)), torch.ones(4, 3)
    before, state = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
    made = export(model, (x,)).module()
    with pytest.warns(torch.jit.TracerWarning, match=r"(?s)nondeterministic nodes.*%dropout"):
        torch.jit.trace(model, x)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items()) and torch.equal(torch.get_rng_state(), state)
    assert x.eq(1).all()
    first = made(torch.randn(4, 3))
    assert model[0].num_batches_tracked == 1 and (first == 0).any()     # it trains, and drops, as the model does


def test_traces_warn_where_they_fix_a_value() -> None:
    with pytest.warns(torch.jit.TracerWarning, match="Converting a tensor to a Python boolean"):
        traced = torch.jit.trace(lambda x: x * 2 if x.sum() > 0 else -x, torch.ones(3))
    assert traced(-torch.ones(3)).tolist() == [-2.0] * 3
    assert not torch.jit.is_tracing()
    seen: list[bool] = []
    torch.jit.trace(lambda x: x + 1 if seen.append(torch.jit.is_tracing()) is None else x, torch.ones(1))
    assert seen == [True] * 2
    with pytest.raises(torch.jit.TracingCheckError, match=r"(?s)Graphs differed.*-.*\(%x, 3\).*\+.*\(%x, 4\)"):
        torch.jit.trace(lambda x: x + len(seen) if seen.append(True) is None else x, torch.ones(1))
    with pytest.raises(torch.jit.TracingCheckError), pytest.warns(torch.jit.TracerWarning):
        torch.jit.trace(lambda x: x * 2 if x.sum() > 0 else x * 3, torch.ones(1), check_inputs=[-torch.ones(1)])


@pytest.mark.oracle
@pytest.mark.parametrize("strict", [True, False])
def test_traces_take_and_give_what_pytorchs_do(strict: bool) -> None:
    import torch as theirs

    results = ["x", "[x]", "(x, [x])", "(x, (x, x))", "()", "{'a': x}", "(x, {'a': x})", "{}", "[]", "None", "3", "(x, 3)",
               "(x, None)", "'a'", "x.shape[0]", "(x, x.shape[0])"]
    inputs = ["(x,)", "[x]", "(x, [x])", "(x, (x, x))", "(x, {'a': x})", "()", "{'a': x}", "(x, 3)", "(x, None)", "(x, 'a')",
              "'ab'", "3"]
    pairs = [(f"lambda x: {text}", "(x,)") for text in results] + [("lambda *args: T.ones(2)", text) for text in inputs]
    for program, given in pairs:
        assert kind_of(torch, program, given, strict) == kind_of(theirs, program, given, strict), (program, given)


def kind_of(T: Any, program: str, inputs: str, strict: bool) -> Any:
    """The error and the warnings of a trace."""
    scope = {"T": T, "x": T.ones(2), "__name__": __name__}          # PyTorch asks for a function's module
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            T.jit.trace(eval(program, scope), eval(inputs, scope), strict=strict)
            error = ""
        except (RuntimeError, TypeError) as e:
            error = f"{type(e).__name__}: {str(e)[:40]}"
    return error, {str(w.message)[:40] for w in found if w.category is T.jit.TracerWarning}


@pytest.mark.oracle
def test_sizes_that_depend_on_others_are_pytorchs() -> None:
    import torch as theirs

    class Later(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x[1:] + y

    class Halves(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.view(2, -1)

    def said(T: Any, text: str) -> Any:
        try:
            d = eval(text, {"b": T.export.Dim("b", min=2, max=64)})
            return str(d), d.__name__, d.min, d.max, d.root.__name__
        except (AssertionError, NotImplementedError, TypeError) as error:
            return type(error).__name__, str(error).partition(", where")[0].partition("Dim(")[0]
    for text in ("b + 1", "1 + b", "b - 1", "1 - b", "2 * b", "(b + 1) * 2 - 3", "2 * b - 200", "b - 3", "b * b", "b + b",
                 "b * 0", "b + 1.5"):
        assert said(torch, text) == said(theirs, text), text
    b = Dim("b", min=2, max=64)
    sizes = {"x": {0: b + 1}, "y": {0: b}}
    file = io.BytesIO()
    save_program(export(Later(), (torch.ones(4), torch.ones(3)), dynamic_shapes=sizes), file)
    made = load_program(io.BytesIO(file.getvalue())).module()
    assert made(torch.ones(6), torch.ones(5)).tolist() == [2] * 5
    with pytest.raises(AssertionError, match=r"y.size\(\)\[0\] == b, where b is 5 by x.size"):
        made(torch.ones(6), torch.ones(6))
    with pytest.raises(RuntimeError, match=r"contradict dynamic_shapes.*y.size\(\)\[0\] == b, where b is 2 by x.size"):
        export(Later(), (torch.ones(4), torch.ones(3)), dynamic_shapes={"x": {0: b + 2}, "y": {0: b}})
    halves = export(Halves(), (torch.ones(8),), dynamic_shapes=({0: 2 * b},)).module()
    assert halves(torch.ones(6)).shape == (2, 3)
    with pytest.raises(AssertionError, match=r"x.size\(\)\[0\] == 2\*b, where b is an integer"):
        halves(torch.ones(7))
    with pytest.raises(RuntimeError, match="Constraints violated"):
        export(Halves(), (torch.ones(8),), dynamic_shapes=({0: b},))


@pytest.mark.parametrize(("program", "why"), [
    (lambda x: x + torch.rand(2, generator=torch.Generator()), "which a graph cannot hold; use the default generator"),
    (lambda x: torch.while_loop(lambda x: x.sum() < 3, lambda x: (x + 1, x), (x,)), "body_fn of while_loop does not"),
    (lambda x: torch.while_loop(lambda x: x.sum() < 3, lambda x: (x.repeat(2),), (x,)), "body_fn of while_loop does not"),
    (lambda x: torch.while_loop(lambda x: len(x) < 2, lambda x: (x + 1,), (x,)), "cond_fn of while_loop does not"),
    (lambda x: torch.while_loop(lambda x, n: x.sum() < n, lambda x, n: (x + 1, n), (x, 3)), "something that is no tensor")])
def test_what_a_graph_cannot_hold_is_refused(program: Any, why: str) -> None:
    class Holding(nn.Module):
        def forward(self, x: Any) -> Any:
            return program(x)
    with pytest.raises(RuntimeError, match=why):
        export(Holding(), (torch.ones(2),))


def test_files_run_no_code_of_their_own(tmp_path: Path) -> None:
    for name in ("torch.load", "torch.save", "builtins.eval", "torch.os.system", "os.system", "torch.Tensor.__reduce__",
                 "torch.hub.load_state_dict_from_url"):
        with pytest.raises(ValueError, match="no function that a graph may call"):
            found(name)
    step = {"op": "call_method", "name": "y", "target": "sum", "args": {"tuple": [{"node": "x"}]}, "kwargs": {"dict": {}}}
    begin = {"op": "placeholder", "name": "x", "target": "x", "args": {"tuple": []}, "kwargs": {"dict": {}}}
    end = {"op": "output", "name": "output", "target": "output", "args": {"tuple": [{"tuple": [{"node": "y"}]}]},
           "kwargs": {"dict": {}}}
    loads(json.dumps([begin, step, end]))
    code = "x=__import__('os').system('true')"
    for of, changes in [
        (0, {"target": code}), (0, {"name": code}), (0, {"target": "__class__"}), (0, {"target": "lambda"}), (0, {"op": "root"}),
        (1, {"target": "__reduce__"}), (1, {"target": "numpy"}), (1, {"target": "apply_"}), (1, {"target": "tofile"}),
        (1, {"target": code}), (1, {"args": {"tuple": ["text"]}}), (1, {"args": {"tuple": [{"node": "z"}]}}),
        (1, {"kwargs": {"dict": {code: 1}}}), (1, {"op": "get_attr", "target": code}),
        (1, {"op": "get_attr", "target": "a.__class__"}),
        (1, {"op": "call_function", "target": "_operator.call"}), (1, {"op": "call_function", "target": "_operator.attrgetter"}),
        (1, {"op": "call_function", "target": "torch.from_file"}), (1, {"name": "x"}), (1, {"args": {"zzz": 1}}),
        (1, {"op": "call_function", "target": "builtins.getattr", "args": {"tuple": [{"node": "x"}, "__class__"]}}),
        (1, {"op": "call_function", "target": "builtins.getattr", "args": {"tuple": ["x", "T"]}}),
    ]:
        steps = [begin, step, end]
        steps[of] = steps[of] | changes
        with pytest.raises(ValueError):
            loads(json.dumps(steps))
    for text in ("", "{", "[]", "[" * 100_000, "[1]", json.dumps([begin, step])):
        with pytest.raises(ValueError):
            loads(text)
    torch.save({"a": 1}, tmp_path / "other")
    for load in (load_program, torch.jit.load):
        with pytest.raises(ValueError, match="was not written by retrograd"):
            load(tmp_path / "other")
    for member in ("constants.pkl", "archive_format"):
        with zipfile.ZipFile(tmp_path / "theirs", "w") as archive:
            archive.writestr(f"theirs/{member}", "")
        for load in (load_program, torch.jit.load):
            with pytest.raises(ValueError, match=r"PyTorch's torch\.\w+\.save are not read: save the state_dict") as caught:
                load(tmp_path / "theirs")
            assert "corrupted" not in str(caught.value) and "not saved properly" not in str(caught.value)
    with pytest.raises(NotImplementedError, match="is no trace"):
        torch.jit.save(torch.jit.script(nn.Linear(1, 1)), io.BytesIO())


def test_operators_of_every_kind_survive_a_file(tmp_path: Path) -> None:
    def program(x: Any, m: Any) -> Any:
        y = (1 - x) / (2 + x) + 1 / (x + 3) + 2 ** x + 5 // (x + 3) + 7 % (x + 3) + x ** 2
        k = (~m & (x > 0)) | (m ^ (x <= 1))
        y *= 2
        y **= 2
        return y, k, (x == 1), -x, abs(x)

    x, m = torch.randn(3).abs(), torch.tensor([True, False, True])
    torch.jit.trace(program, (x, m)).save(tmp_path / "f.pt")
    assert all(torch.equal(a, b) for a, b in zip(leaves(torch.jit.load(tmp_path / "f.pt")(x, m)), leaves(program(x, m))))


class Called(nn.Module):
    def __init__(self, f: Any) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Any) -> Any:
        return self.f(x)


@pytest.mark.parametrize("f", [
    lambda x: x * 2 if x.shape[0] > 10 else x, lambda x: x * 2 if x.shape[0] % 5 == 0 else x,
    lambda x: torch.stack([c.sum() for c in x.split(4)]), lambda x: x[:min(x.shape[0], 5)].sum(),
    lambda x: x * max(x.shape[0], 5), lambda x: x * int(x.shape[0] / 4), lambda x: x * x.shape[0] ** 0.5,
    lambda x: sum(x[4 * i:4 * i + 4].sum() for i in range((x.shape[0] + 3) // 4)),
])
def test_what_an_open_size_decides_is_refused(f: Any) -> None:
    with pytest.raises(RuntimeError, match="With another size|or of its size"):
        export(Called(f), (torch.ones(5),), dynamic_shapes=({0: Dim("b")},))


def test_modes_inside_an_exported_module_are_refused() -> None:
    def half(x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return x @ x

    def still(x: Any) -> Any:
        with torch.no_grad():
            y = x * 2
        return y + x

    for f in (half, still):
        with pytest.raises(RuntimeError, match="turns gradients or autocast"):
            export(Called(f), (torch.ones(2, 2),))
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.n = self.n + 1
        return x + self.n


def test_a_buffer_that_is_replaced_is_refused_and_stays() -> None:
    model = Counting()
    was = model.n
    for record in (lambda: export(model, (torch.ones(2),)), lambda: torch.jit.trace(model, torch.ones(2))):
        with pytest.raises(RuntimeError, match="another tensor in the place of n"):
            record()
        assert model.n is was and was.item() == 0


@pytest.mark.parametrize("f", [
    lambda x: x * 2 if x[x > 0].shape[0] > 3 else x - 1, lambda x: x * len(x.nonzero()), lambda x: x[x > 0].mul(2).numel() * x,
    lambda x: sum(u for u in x.unique()),
])
def test_sizes_that_depend_on_values_are_refused(f: Any) -> None:
    with pytest.raises(RuntimeError, match="data-dependent"):
        export(Called(f), (torch.ones(5),))
    assert export(Called(lambda x: x[x > 0].sum()), (torch.ones(5),)).module()(torch.arange(-1.0, 4)).item() == 6


def test_a_trace_warns_of_what_sizes_decide() -> None:
    for f in (lambda x: x * 2 if x.shape[0] > 3 else x, lambda x: x * x.shape[0] ** 0.5, lambda x: x * -x.shape[0]):
        with pytest.warns(torch.jit.TracerWarning, match="Converting a tensor to a Python"):
            torch.jit.trace(f, torch.ones(2, 3))


@pytest.mark.parametrize("shapes", [
    ({0: Dim("b")}, None), {"y": None}, ([Dim("b"), None],), ({5: Dim("b")},), 5, (3,),
])
def test_dynamic_shapes_that_do_not_fit_are_refused(shapes: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="torch.export: dynamic_shapes"):
        export(Called(lambda x: x), (torch.ones(3),), dynamic_shapes=shapes)


def test_arguments_of_every_kind_survive_a_file(tmp_path: Path) -> None:
    def program(x: Any) -> Any:
        y = torch.cat([x[..., 1:3], x.new_full((2, 1), float("inf"))], 1).to(torch.float64)
        z = x[:, None].contiguous(memory_format=torch.contiguous_format)
        return y.sum(dim=(0,), keepdim=True), z.T.size(0) * x, y.max(1).values

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(program, torch.ones(2, 4)).save(tmp_path / "f.pt")
        x = torch.randn(2, 4)
        assert all(torch.equal(a, b) for a, b in zip(leaves(torch.jit.load(tmp_path / "f.pt")(x)), leaves(program(x))))


def test_make_fx_prints_what_the_function_calls() -> None:
    made = make_fx(lambda x, y: torch.sin(x) @ y + 1)(torch.ones(2, 2), torch.ones(2, 2))
    assert made.code.split("\n")[3:-1] == [
        "def forward(self, x_1, y_1):", "    sin = torch.sin(x_1);  x_1 = None",
        "    matmul = sin.matmul(y_1);  sin = y_1 = None", "    add = matmul.add(1);  matmul = None", "    return add"]
    assert made(torch.zeros(1, 1), torch.ones(1, 1)).tolist() == [[1]]
    assert "size" in make_fx(lambda x: x.view(x.size(0) * 2, -1), tracing_mode="symbolic")(torch.ones(2, 2)).code
    for f, words in ((torch.func.grad(lambda x: x.sin().sum()), "takes a derivative"),
                     (lambda x: x * x.sum().item(), "get value out"),
                     (lambda x: torch.from_numpy(x.numpy() * 2), "get value out")):
        with pytest.raises(RuntimeError, match=words):
            make_fx(f)(torch.ones(3))


def test_futures_and_types_of_jit() -> None:
    assert torch.jit.wait(torch.jit.fork(lambda a: a + 1, 1)) == 2
    assert torch.jit.isinstance([torch.ones(1)], list[torch.Tensor]) and not torch.jit.isinstance([1], list[torch.Tensor])
    assert torch.jit.isinstance({"a": 1}, dict[str, int]) and torch.jit.isinstance((1, "a"), tuple[int, str])
    frozen = torch.jit.freeze(torch.jit.trace(nn.Linear(1, 1).eval(), torch.ones(1)))
    assert torch.jit.optimize_for_inference(frozen) is frozen
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule"):
        torch.jit.freeze(nn.Linear(1, 1))


@pytest.mark.oracle
def test_graphs_for_counters_of_operations_have_pytorchs_kinds_shapes_and_scopes() -> None:
    import torch as theirs

    def nodes(T: Any) -> list[Any]:
        model = T.nn.Sequential(T.nn.Conv2d(1, 4, 3), T.nn.BatchNorm2d(4), T.nn.ReLU(), T.nn.Flatten(), T.nn.Linear(144, 8),
                                T.nn.LayerNorm(8), T.nn.GroupNorm(2, 8), T.nn.Linear(8, 2)).eval()

        def enter(module: Any, args: Any) -> None:
            if state := T._C._get_tracing_state():
                state.push_scope(type(module).__name__)

        def leave(module: Any, args: Any, result: Any) -> None:
            if state := T._C._get_tracing_state():
                state.pop_scope()
        for module in model.modules():
            module.register_forward_pre_hook(enter)
            module.register_forward_hook(leave)
        graph, _ = T.jit._get_trace_graph(model, (T.ones(2, 1, 8, 8),))
        return [(n.kind(), n.scopeName(), [v.type().sizes() for v in list(n.inputs())[:3] if v.isCompleteTensor()],
                 [v.type().sizes() for v in n.outputs()]) for n in graph.nodes() if n.kind().startswith("aten::")]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert nodes(torch) == nodes(theirs)
    assert torch._C._get_tracing_state() is None


@both
@pytest.mark.filterwarnings("ignore:`torch.jit")
@pytest.mark.parametrize("training", [True, False])
def test_a_loaded_trace_is_in_the_mode_in_which_it_was_saved(torch: Any, training: bool) -> None:
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(torch.nn.Linear(1, 1).train(training), torch.ones(1)), file)
    file.seek(0)
    assert torch.jit.load(file).training is training


@both
@pytest.mark.filterwarnings("ignore")
def test_a_trace_expects_as_many_parts_as_it_saw(torch: Any) -> None:
    for f in (lambda x: sum(a.sum() for a in x), lambda x: x.unbind(0)[0], lambda x: torch.cat(x.split(1)),
              lambda x: torch.stack(torch.unbind(x))):
        traced = torch.jit.trace(f, torch.ones(2, 2))
        assert torch.equal(traced(torch.ones(2, 3)), f(torch.ones(2, 3)))
        for n in (1, 3):
            with pytest.raises(RuntimeError, match=f"Expected 2 elements in a list but found {n}"):
                traced(torch.ones(n, 2))


class Chosen(nn.Module):
    """A branch by value in a branch by value; both read what lies around."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        s = x.sin()

        def first(x: Any) -> Any:
            return torch.cond(x[0, 0] > 1, lambda x: x + s.shape[0], lambda x: x - s, (x,))
        return torch.cond(x.sum() > 2, first, lambda x: self.fc(x) * s, (x,))


@pytest.mark.parametrize("open_size", [False, True])
def test_programs_choose_a_branch_by_value_once_saved_and_loaded(open_size: bool, tmp_path: Path) -> None:
    model, x = Chosen(), torch.ones(3, 2)
    made = export(model, (x,), dynamic_shapes={"x": {0: Dim("n")}} if open_size else None)
    save_program(made, tmp_path / "model.pt2")
    more = torch.ones(5, 2) if open_size else x
    for program in (made, load_program(tmp_path / "model.pt2")):
        for scale in (1, 2, -1):
            assert same(program.module()(scale * more), model(scale * more))
    assert [n.op for n in made.graph.nodes if "graph" in n.name] == ["get_attr", "get_attr"]
    model.fc.weight.grad = None
    made.module()(-more).sum().backward()
    assert model.fc.weight.grad is not None


class Looping(nn.Module):
    """A loop whose body reads parameters, a buffer, a tensor made before, and what the loop starts with; a loop in it."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.k = nn.Linear(2, 2), nn.Buffer(torch.tensor(0.5))

    def forward(self, x: Any, n: Any) -> Any:
        s = x.sin()

        def body(i: Any, y: Any) -> Any:
            (j,) = torch.while_loop(lambda j: j < i, lambda j: (2 * j + 1,), (torch.zeros_like(i),))
            return i + 1, torch.tanh(self.fc(y)) + s * self.k + x + j
        i, y = torch.while_loop(lambda i, y: i < n, body, (torch.zeros((), dtype=torch.int64), x))
        return i, y.sum(1)


@pytest.mark.parametrize("open_size", [False, True])
def test_loops_by_value_are_part_of_a_graph(open_size: bool, tmp_path: Path) -> None:
    model, x = Looping(), torch.ones(3, 2)
    made = export(model, (x, torch.tensor(2)), dynamic_shapes={"x": {0: Dim("b")}, "n": None} if open_size else None)
    save_program(made, tmp_path / "model.pt2")
    more = torch.rand(5 if open_size else 3, 2)
    for program in (made, load_program(tmp_path / "model.pt2"), made.run_decompositions()):
        for n in (0, 1, 4):
            found = program.module()(more, torch.tensor(n))
            assert int(found[0]) == n and same(found[1], model(more, torch.tensor(n))[1])


@pytest.mark.parametrize("other", [lambda x: x[:1], lambda x: x.double(), lambda x: (x, x)])
def test_branches_return_tensors_of_one_kind(other: Any) -> None:
    class Unlike(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.cond(x.sum() > 2, lambda x: x * 2, other, (x,))
    with pytest.raises(RuntimeError, match="branches of cond return tensors of different kinds"):
        export(Unlike(), (torch.ones(3, 2),))


@pytest.mark.parametrize("f", [
    lambda x: x * x.sum().item(), lambda x: (x + 2 * x.sum().int().item()) / (1 + x.mean().item()),
    lambda x: x - x.max().item() % 3 - 1.5 * x.argmax().item(), lambda x: x.clamp(min=x.mean().item()),
    lambda x: x.view(-1)[: x.argmin().item()].sum() ** -x.mean().item()])
def test_an_exported_program_computes_items_anew(f: Any, tmp_path: Path) -> None:
    x = torch.arange(6.0).view(2, 3)
    save_program(export(Called(f), (x,)), tmp_path / "model.pt2")
    assert same(load_program(tmp_path / "model.pt2").module()(x.flip(1) + 3), f(x.flip(1) + 3))


@pytest.mark.parametrize("f", [
    lambda x: x if x.sum().item() > 3 else -x, lambda x: x * int(x.sum().item()),
    lambda x: x * x[: x.argmax().item()].shape[0], lambda x: x[0] * torch.zeros(x.argmax().item()).shape[0]])
def test_what_an_item_decides_is_refused(f: Any) -> None:
    with pytest.raises(RuntimeError, match="data-dependent"):
        export(Called(f), (torch.ones(2, 3),))


@pytest.mark.oracle
def test_shapes_by_tensor_and_signatures_are_pytorchs() -> None:
    import importlib

    def said(T: Any) -> list[Any]:
        E, text = importlib.import_module(f"{T.__name__}.export"), []

        class Edits(T.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("n", T.zeros(1))

            def forward(self, x: Any) -> Any:
                return x["k"][1] + self.n.add_(1)

        x = T.ones(3, 2)
        shapes = E.ShapesCollection()
        shapes[x] = {0: E.Dim("batch", max=9)}
        given = {"k": [T.ones(2), x]}
        text += [len(shapes), str(shapes.dynamic_shapes(Edits(), (given,))), str(shapes[x])]
        for how in (shapes, {}, (), None, {"x": {"k": [None, {0: E.Dim.AUTO}]}}, {"x": {"k": [{0: E.Dim.AUTO(max=7)}, None]}}):
            made = E.export(Edits(), (given,), dynamic_shapes=how)
            ranges = list(made.range_constraints.values())
            text += [str(ranges), [(r.lower, str(r.upper)) for r in ranges]]
        signature = made.graph_signature
        text += [dict(signature.buffers_to_mutate), dict(signature.parameters_to_mutate), dict(signature.user_inputs_to_mutate)]
        for wrong in (lambda: shapes.__setitem__("x", {}), lambda: shapes.__setitem__(x, {}),
                      lambda: shapes.dynamic_shapes(Edits(), ({"k": [x + 1]},))):
            with pytest.raises((AssertionError, ValueError)) as caught:
                wrong()
            text.append(f"{type(caught.value).__name__}: {caught.value}")
        return [*text, str(shapes[T.ones(1)]), len(shapes)]

    import torch as theirs
    assert said(torch) == said(theirs)


@pytest.mark.parametrize("layer", [
    nn.RNN(4, 3), nn.RNN(4, 3, nonlinearity="relu", bidirectional=True), nn.GRU(4, 3, num_layers=2, batch_first=True),
    nn.LSTM(4, 3, num_layers=2, bidirectional=True), nn.LSTM(4, 3, proj_size=2, bias=False)], ids=str)
def test_recurrent_layers_take_sequences_of_any_length(layer: Any, tmp_path: Path) -> None:
    x = torch.randn(5, 5, 4)
    torch.jit.trace(layer, x).save(tmp_path / "model.pt")
    batch = 0 if layer.batch_first else 1
    exported = export(layer, (x,), dynamic_shapes=({1 - batch: Dim("steps")},))
    for made in (torch.jit.load(tmp_path / "model.pt"), exported.module()):
        for steps in (1, 2, 5, 9):
            more = torch.randn((5, steps, 4) if layer.batch_first else (steps, 5, 4))
            assert same(made(more), layer(more))


@both
def test_traces_know_the_parts_of_a_module_by_name(torch: Any, tmp_path: Path) -> None:
    nn = torch.nn

    class Whole(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Sequential(nn.BatchNorm1d(3)))

        def forward(self, x: Any) -> Any:
            return self.body(x) + 1

    model = Whole().eval()
    made = torch.jit.trace(model, torch.ones(2, 4))
    made.save(str(tmp_path / "model.pt"), _extra_files={"a": b"\xff", "b": "text"})
    given = {"a": "", "b": "", "c": ""}
    loaded = torch.jit.load(str(tmp_path / "model.pt"), _extra_files=given)
    assert given == {"a": b"\xff", "b": b"text", "c": b""}
    for trace in (made, loaded):
        assert [(path, m.original_name) for path, m in trace.named_modules()] == [
            ("", "Whole"), ("body", "Sequential"), ("body.0", "Linear"), ("body.1", "ReLU"), ("body.2", "Sequential"),
            ("body.2.0", "BatchNorm1d")]
        assert list(trace.state_dict()) == list(model.state_dict()) and "0" in dict(trace.body.named_children())
    assert repr(made) == ("Whole(\n  original_name=Whole\n  (body): Sequential(\n    original_name=Sequential\n    (0): Linear("
                          "original_name=Linear)\n    (1): ReLU(original_name=ReLU)\n    (2): Sequential(\n      original_name="
                          "Sequential\n      (0): BatchNorm1d(original_name=BatchNorm1d)\n    )\n  )\n)")
    assert isinstance(made, torch.jit.ScriptModule) and type(made.body).__name__ == "TracedModule"
    with pytest.raises(RuntimeError, match="Trace submodules cannot be called"):
        made.body(torch.ones(2, 4))
    with torch.no_grad():
        model.body[0].weight.zero_()
    assert made.body.state_dict()["0.weight"].abs().sum() == 0
    for path, words in ((tmp_path, "is a directory"), (tmp_path / "nothing", "does not exist")):
        with pytest.raises(ValueError, match=f"The provided filename {path} {words}"):
            torch.jit.load(str(path))


@both
def test_torch_jit_says_that_it_is_deprecated(torch: Any) -> None:
    for name, call in {
        "script": lambda: torch.jit.script(torch.nn.Linear(1, 1)), "trace": lambda: torch.jit.trace(torch.sin, torch.ones(1)),
        "fork": lambda: torch.jit.fork(torch.sin, torch.ones(1)), "load": lambda: torch.jit.load("/nothing"),
        "set_fusion_strategy": lambda: torch.jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)]),
    }.items():
        with pytest.warns(DeprecationWarning, match=f"`torch.jit.{name}` is deprecated. Please (switch to|use) `torch."):
            try:
                call()
            except ValueError:
                assert name == "load"


@pytest.mark.parametrize("saved", ["jit", "export"])
def test_a_file_with_another_field_than_was_written_is_damaged_and_says_which(saved: str) -> None:
    model, x, whole = torch.nn.Linear(2, 2), torch.ones(1, 2), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.jit.trace(model, x) if saved == "jit" else export(model, (x,))
        getattr(torch, saved).save(made, whole)
        whole.seek(0)
        state = torch.load(whole)
        for field in state.keys() - {"format"}:
            for change in ({}, {field: 3}, {field: None}, {field: [1]}, {field: "x"}):
                other = io.BytesIO()
                torch.save({**{k: v for k, v in state.items() if k != field}, **change}, other)
                other.seek(0)
                with pytest.raises(ValueError, match="is damaged"):
                    getattr(torch, saved).load(other)


@pytest.mark.parametrize("table", [None, {}, {"relu": "maximum"}])
def test_decompositions_that_a_program_is_given_replace_operators(table: Any) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.bn = nn.Linear(3, 2), nn.BatchNorm1d(2)

        def forward(self, x: Any, *, d: Any) -> Any:
            y = torch.cond(x.sum() > 0, lambda x: self.fc(x).relu(), lambda x: -x[:, :2], (x,))
            return {"a": torch.relu(self.bn(y)) + d["q"], "b": x.shape[0] * x}

    model, args, named = Model(), (torch.randn(4, 3),), {"d": {"q": torch.ones(2)}}
    program = export(model, args, named, dynamic_shapes={"x": {0: Dim("n")}, "d": None})
    other = program.run_decompositions(
        {torch.ops.aten.relu.default: lambda x: torch.maximum(x, torch.zeros_like(x))} if table else table)
    assert (program.dialect, other.dialect) == ("TRAINING", "ATEN") and other is not program
    for sign in (1, -1):
        x = sign * torch.rand(6, 3)
        model.eval()
        assert same(other.module()(x, **named), program.module()(x, **named))
    called = [getattr(n.target, "__name__", n.target) for n in other.graph.nodes]
    assert ("maximum" in called) == bool(table) and ("relu" in called) == (not table)
    assert other.range_constraints == program.range_constraints and str(other.graph_signature.user_inputs) == str(
        program.graph_signature.user_inputs)


# {a function that the default table replaces: a program of it, x (2, 12)}
DECOMPOSED = {
    **{name: f"F.{name}(x)" for name in (
        "silu mish hardsigmoid hardswish relu6 celu selu softplus softsign tanhshrink hardshrink softshrink glu".split())},
    **{name: f"torch.{name}(x)" for name in ("square", "frac", "deg2rad", "rad2deg", "t")}, "log_sigmoid": "F.logsigmoid(x)",
    **{name: f"F.{name}(x, x.flip(0)) * F.{name}(x, x.flip(0), reduction='none') + F.{name}(x, x.flip(0), reduction='sum')"
       for name in ("mse_loss", "l1_loss")},
    "linear": "F.linear(x, torch.ones(5, 12), torch.ones(5)).sum() + F.linear(x.view(2, 3, 4), torch.ones(3, 4))",
    "transpose": "x.transpose(-1, 0) + torch.transpose(x, 0, 1)", "stack": "torch.stack([x, x * 2], -1)",
    "addcmul": "torch.addcmul(x, x, x, value=0.5) + torch.addcmul(x, x, x)",
    "addcdiv": "torch.addcdiv(x, x, x + 10, value=2) + torch.addcdiv(x, x, x + 10)",
    "masked_fill": "x.masked_fill(x > 0, -1.0)",
    "lerp": "torch.lerp(x, x * 2, 0.7) + torch.lerp(x, x * 3, 0.2) + x.lerp(x * 2, x / 5)",
    "celu_": "F.celu(x.clone(), 0.5, inplace=True) + F.softplus(x, 2, 1) + F.hardshrink(x, 1.0) + F.softshrink(x, 1.0)"}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:`isinstance:FutureWarning")         # PyTorch's own code
def test_the_default_decompositions_compute_what_pytorchs_do() -> None:
    """All in one program, as PyTorch takes a second to decompose any."""
    def decomposed(engine: Any) -> tuple[dict[str, Any], set[str]]:
        class Model(engine.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, x: Any) -> Any:
                return {name: eval(program, {"torch": engine, "F": engine.nn.functional, "x": x})
                        for name, program in DECOMPOSED.items()}
        x = engine.linspace(-4, 4, 24).reshape(2, 12)
        made = engine.export.export(Model(), (x,)).run_decompositions()
        called = {getattr(n.target, "__name__", str(n.target)) for n in made.graph.nodes if n.op.startswith("call")}
        return {name: y.tolist() for name, y in made.module()(x).items()}, called
    ours, called = decomposed(torch)
    theirs, _ = decomposed(pytest.importorskip("torch"))
    assert called.isdisjoint(DECOMPOSED)
    for name in DECOMPOSED:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_decompositions_of_some_operators() -> None:
    from retrograd._decomp import get_decompositions

    aten = torch.ops.aten
    assert set(get_decompositions([aten.silu, aten.addmm, aten.linear.default])) == {aten.silu.default, aten.linear.default}
    assert torch.export.default_decompositions().keys() > get_decompositions([aten.silu]).keys()
