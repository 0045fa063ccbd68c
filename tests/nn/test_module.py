"""Modules: what differs from PyTorch on purpose, leaks, copies and pickles, explained errors, failed loads."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn.modules import module as home


class Scale(nn.Module):
    def __init__(self, by: float = 3.0) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: Any) -> Any:
        return x * self.by


def net() -> Any:
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def values(module: Any) -> dict[str, Any]:
    return {k: v.numpy().copy() for k, v in module.state_dict().items()}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return list(a) == list(b) and all((a[k] == b[k]).all() for k in a)


# ---- a load that fails changes nothing


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_failed_load_leaves_the_module_as_it_was(assign: bool, strict: bool) -> None:
    m, other = net(), net()
    given = {**other.state_dict(), "2.weight": torch.ones(5, 5)}
    before, weight, version = values(m), m[0].weight, m[0].weight._version
    with pytest.raises(RuntimeError, match="size mismatch for 2.weight"):
        m.load_state_dict(given, strict=strict, assign=assign)
    assert same(values(m), before)
    assert m[0].weight is weight and m[0].weight._version == version


def test_failed_load_of_missing_keys_leaves_the_module_as_it_was() -> None:
    m, given = net(), net().state_dict()
    del given["2.bias"]
    before = values(m)
    with pytest.raises(RuntimeError, match="Missing key"):
        m.load_state_dict(given)
    assert same(values(m), before)
    m.load_state_dict(given, strict=False)
    assert not same(values(m), before)


def test_load_hook_that_raises_leaves_the_module_as_it_was() -> None:
    m = net()
    m[2].register_load_state_dict_post_hook(lambda module, keys: 1 / 0)
    before, fn = values(m), m(torch.ones(1, 2)).sum()
    with pytest.raises(ZeroDivisionError):
        m.load_state_dict(net().state_dict())
    assert same(values(m), before)
    fn.backward()                               # the versions are back, too


def test_failed_assign_keeps_requires_grad_and_buffers() -> None:
    m = nn.BatchNorm1d(3)
    m.weight.requires_grad_(False)
    given = {k: v.clone() + 1 for k, v in nn.BatchNorm1d(3).state_dict().items()}
    given["bias"] = torch.ones(7)
    before = values(m)
    with pytest.raises(RuntimeError):
        m.load_state_dict(given, assign=True)
    assert same(values(m), before) and not m.weight.requires_grad


# ---- deviations from PyTorch


def test_assign_does_not_mark_the_dict_for_later_loads() -> None:
    given = net().state_dict()
    net().load_state_dict(given, assign=True)
    assert all("assign_to_params_buffers" not in entry for entry in given._metadata.values())
    m = net()
    weight = m[0].weight
    m.load_state_dict(given)
    assert m[0].weight is weight


def test_global_forward_hook_with_kwargs_leaves_nothing_behind() -> None:
    handle = home.register_module_forward_hook(lambda m, a, k, o: None, with_kwargs=True, always_call=True)
    handle.remove()
    assert not home._global_forward_hooks_with_kwargs
    assert not home._global_forward_hooks_always_called


def test_state_dict_hooks_may_remove_themselves() -> None:
    m, seen = net(), []
    handles = []
    for i in range(3):
        def hook(*args: Any, i: int = i) -> None:
            seen.append(i)
            handles[i].remove()
        handles.append(m.register_state_dict_pre_hook(hook))
    m.state_dict()
    m.state_dict()
    assert seen == [0, 1, 2]


# ---- calls


def test_kwargs_hooks_and_their_removal() -> None:
    m, seen = Scale(), []
    pre = m.register_forward_pre_hook(lambda m, a, k: seen.append(("pre", k)), with_kwargs=True)
    post = m.register_forward_hook(lambda m, a, k, o: seen.append(("post", k)), with_kwargs=True)
    m(x=torch.ones(1))
    assert [name for name, _ in seen] == ["pre", "post"] and list(seen[0][1]) == ["x"]
    pre.remove()
    post.remove()
    assert not m._forward_pre_hooks_with_kwargs and not m._forward_hooks_with_kwargs
    m(x=torch.ones(1))
    assert len(seen) == 2


def test_forward_bypasses_hooks_and_call_without_hooks_reaches_forward() -> None:
    m, seen = Scale(), []
    m.register_forward_hook(lambda *a: seen.append(1))
    m.forward(torch.ones(1))
    assert not seen
    m.forward = lambda x: x - 1                 # an attribute of the instance counts
    assert m(torch.ones(1)).item() == 0 and seen == [1]


def test_forward_that_calls_itself() -> None:
    class Countdown(nn.Module):
        def forward(self, n: int) -> int:
            return 0 if n == 0 else 1 + self(n - 1)

    m, seen = Countdown(), []
    m.register_forward_hook(lambda m, i, o: seen.append(o))
    assert m(3) == 3 and seen == [0, 1, 2, 3]


def test_keyboard_interrupt_runs_no_always_call_hook() -> None:
    class Stop(nn.Module):
        def forward(self) -> None:
            raise KeyboardInterrupt

    m, seen = Stop(), []
    m.register_forward_hook(lambda *a: seen.append(1), always_call=True)
    with pytest.raises(KeyboardInterrupt):
        m()
    assert not seen


# ---- full backward hooks


def test_hook_sees_every_call_of_a_shared_module() -> None:
    m, seen = Scale(), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].item(), go[0].item())))
    x = torch.ones(1, requires_grad=True)
    m(m(x)).sum().backward()
    assert seen == [(3.0, 1.0), (9.0, 3.0)]


def test_hooks_on_the_nodes_of_a_module_run_beside_its_own() -> None:
    m, seen = Scale(), []
    m.register_full_backward_pre_hook(lambda m, go: (seen.append("module"), (go[0] * 2,))[1])
    x = torch.ones(1, requires_grad=True)
    y = m(x)
    y.grad_fn.register_prehook(lambda g: seen.append(("node", g[0].item())))
    y.register_hook(lambda g: seen.append(("tensor", g.item())))
    y.retain_grad()
    y.sum().backward()
    assert seen == [("tensor", 1.0), ("node", 1.0), "module"]
    assert x.grad.item() == 6 and y.grad.item() == 1


def test_captured_gradients_are_not_written_into_later() -> None:
    m, seen = Scale(), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append(gi[0]))
    x = torch.ones(2, requires_grad=True)
    m(x).sum().backward()
    m(x).sum().backward()
    assert x.grad.tolist() == [6, 6] and [g.tolist() for g in seen] == [[3, 3], [3, 3]]


def test_second_order_through_a_hooked_module() -> None:
    class Cube(nn.Module):
        def forward(self, x: Any) -> Any:
            return x**3

    m = Cube()
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    x = torch.tensor([2.0], requires_grad=True)
    (g,) = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert g.item() == 24 and h.item() == 24    # 2 * 6x


def test_warning_points_at_the_backward_line() -> None:
    m = nn.Linear(2, 1)
    m.register_full_backward_hook(lambda *a: None)
    y = m(torch.ones(1, 2)).sum()
    with pytest.warns(UserWarning, match="Full backward hook is firing") as seen:
        y.backward()
    assert seen[0].filename == __file__


def test_integer_inputs() -> None:
    m, seen = nn.Embedding(3, 2), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].tolist())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m(torch.tensor([0, 2])).sum().backward()
    assert seen == [((None,), [[1, 1], [1, 1]])]
    assert m.weight.grad.tolist() == [[1, 1], [0, 0], [1, 1]]


# ---- lifetimes


def test_modules_with_hooks_die_by_reference_count() -> None:
    gc.disable()
    try:
        m = net()
        m.register_forward_hook(lambda *a: None)
        m[0].register_full_backward_hook(lambda *a: None)
        m.register_load_state_dict_pre_hook(lambda *a: None)
        x = torch.ones(1, 2, requires_grad=True)
        m(x).sum().backward()
        m.load_state_dict(m.state_dict())
        gone = [weakref.ref(m), weakref.ref(m[0]), weakref.ref(m[0].weight)]
        del m
        assert [r() for r in gone] == [None] * 3
    finally:
        gc.enable()


def test_a_graph_keeps_a_module_with_full_hooks_alive() -> None:
    m, seen = Scale(), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append(type(m).__name__))
    y, gone = m(torch.ones(1, requires_grad=True)), weakref.ref(m)
    del m
    assert gone() is not None
    y.sum().backward()
    assert seen == ["Scale"]
    del y
    assert gone() is None


def test_cycles_through_hooks_are_collected() -> None:
    def made() -> Any:
        m = Scale()
        kept: list[Any] = []
        m.register_full_backward_hook(lambda m, gi, go: kept.append(y))
        y = m(torch.ones(1, requires_grad=True))
        y.sum().backward()
        return weakref.ref(m)

    gone = made()
    gc.collect()
    assert gone() is None


# ---- copies and pickles


def hook(*args: Any) -> None:
    """At module level: it is pickled by name."""


class Keeper(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1)
        self.register_buffer("steps", torch.zeros(1), persistent=False)

    def method_hook(self, *args: Any) -> None:
        self.linear.called = True


def test_pickle_keeps_everything() -> None:
    m = Keeper().eval()
    m.linear.weight.requires_grad_(False)
    m.register_forward_hook(hook)
    m.register_full_backward_hook(hook)
    m.register_load_state_dict_pre_hook(m.method_hook)
    m.register_load_state_dict_post_hook(hook)
    m._register_load_state_dict_pre_hook(hook)
    twin = pickle.loads(pickle.dumps(m))
    assert same(values(twin), values(m)) and not twin.training and not twin.linear.weight.requires_grad
    assert [n for n, _ in twin.named_buffers()] == ["steps"]
    assert len(twin._forward_hooks) == len(twin._backward_hooks) == 1
    assert len(twin._load_state_dict_pre_hooks) == 2
    twin.load_state_dict(m.state_dict())
    assert twin.linear.called and not hasattr(m.linear, "called")


def test_old_pickles_lack_newer_tables() -> None:
    m = Scale()
    state = dict(m.__dict__)
    for name in ("_forward_hooks_with_kwargs", "_load_state_dict_post_hooks", "_state_dict_pre_hooks",
                 "_non_persistent_buffers_set", "_backward_pre_hooks", "_is_full_backward_hook"):
        del state[name]
    fresh = Scale.__new__(Scale)
    fresh.__setstate__(state)
    assert fresh(torch.ones(1)).item() == 3
    fresh.load_state_dict(fresh.state_dict())


def test_deepcopy_is_independent() -> None:
    m = net()
    m[0].bias = m[0].bias                       # the same object again
    twin = copy.deepcopy(m)
    with torch.no_grad():
        twin[0].weight.add_(1)
    assert not (twin[0].weight == m[0].weight).any()
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    twin = copy.deepcopy(tied)
    assert twin[0].weight is twin[1].weight and len(list(twin.parameters())) == 3


# ---- errors that name the layer


def notes(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", []))


def test_a_shape_error_names_the_layer() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.ModuleDict({"deep": nn.Sequential(nn.Identity(), nn.Linear(4, 2))})

        def forward(self, x: Any) -> Any:
            return self.encoder["deep"](x)

    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied") as e:
        Model()(torch.ones(1, 3))
    # a ModuleDict is not called, so that it is not on the path
    assert notes(e.value) == (
        "In layer encoder.deep.1, Linear(in_features=4, out_features=2, bias=True): got an input of shape (1, 3), "
        "expected (..., 4)")


@pytest.mark.parametrize(("layer", "shape", "told"), [
    (nn.Conv2d(3, 4, 2), (1, 2, 5, 5), "got an input of shape (1, 2, 5, 5), expected (N, 3, H, W)"),
    (nn.Conv1d(3, 4, 2), (1, 2, 5), "expected (N, 3, L)"),
    (nn.BatchNorm2d(3), (1, 2, 5, 5), "expected (N, 3, H, W)"),
    (nn.BatchNorm1d(3), (4,), "expected (N, 3) or (N, 3, L)"),
    (nn.LayerNorm((2, 3)), (4, 3), "expected (..., 2, 3)"),
    (nn.GroupNorm(2, 4), (4, 3, 2), "expected (N, 4, ...)"),
    (nn.LSTM(3, 4), (5, 2, 2), "expected (T, B, 3)"),
    (nn.GRU(3, 4, batch_first=True), (5, 2, 2), "expected (B, T, 3)"),
    (nn.GRUCell(3, 4), (5, 2), "expected (B, 3)"),
])
def test_layers_say_what_they_expect(layer: Any, shape: tuple[int, ...], told: str) -> None:
    with pytest.raises((RuntimeError, ValueError)) as e:
        nn.Sequential(layer)(torch.ones(*shape))
    assert notes(e.value).startswith("In layer 0, ") and told in notes(e.value)


def test_an_index_beyond_a_table_is_explained() -> None:
    with pytest.raises(IndexError) as e:
        nn.Embedding(3, 2)(torch.tensor([1, 7]))
    assert notes(e.value).endswith("got indices from 1 to 7, expected 0 to 2")


def test_other_errors_are_left_alone() -> None:
    class Fails(nn.Module):
        def forward(self, x: Any) -> Any:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine") as e:
        nn.Sequential(nn.Sequential(Fails()))(torch.ones(1))
    assert notes(e.value) == ""


# ---- the rest


def test_a_module_that_forgot_super_init() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.x = 1

    m = Forgetful()
    assert m.x == 1
    with pytest.raises(AttributeError, match="_forward_hooks"):
        m(1)


def test_cooperative_init() -> None:
    class Other:
        def __init__(self, value: int) -> None:
            self.value = value

    class Both(nn.Module, Other):
        call_super_init = True

    assert Both(5).value == 5


def test_to_another_device_is_refused_in_words() -> None:
    with pytest.raises(AssertionError, match="has no device 'cuda'"):
        nn.Linear(1, 1).to("cuda")
    with pytest.raises(AssertionError, match="has no device 'cuda'"):
        nn.Linear(1, 1).cuda()


def test_state_dict_shares_memory_and_assign_takes_it_over() -> None:
    m = nn.Linear(2, 1)
    given = m.state_dict()
    given["weight"].zero_()
    assert (m.weight == 0).all()
    other = nn.Linear(2, 1)
    other.load_state_dict(given, assign=True)
    given["weight"].add_(1)
    assert (other.weight == 1).all() and other.weight.requires_grad


def test_load_casts_to_the_dtype_of_the_module() -> None:
    m = nn.Linear(2, 1)
    m.load_state_dict(OrderedDict(weight=torch.ones(1, 2).double(), bias=torch.ones(1).half()))
    assert m.weight.dtype == m.bias.dtype == torch.float32


def test_integer_and_numpy_values_are_refused() -> None:
    m = nn.Linear(2, 1)
    with pytest.raises(RuntimeError, match="expected torch.Tensor or Tensor-like object"):
        m.load_state_dict({"weight": np.ones((1, 2)), "bias": torch.ones(1)})


def test_non_persistent_buffers_stay_out() -> None:
    m = Keeper()
    assert "steps" not in m.state_dict()
    m.steps = torch.ones(1)
    assert "steps" not in m.state_dict() and [n for n, _ in m.named_buffers()] == ["steps"]


def test_init_fills_in_place_outside_the_graph() -> None:
    w = nn.Parameter(torch.empty(8, 4))
    for fill in (nn.init.ones_, nn.init.zeros_, nn.init.orthogonal_, nn.init.xavier_normal_, nn.init.kaiming_normal_,
                 nn.init.trunc_normal_, nn.init.eye_):
        assert fill(w) is w and w.is_leaf and w.requires_grad
    nn.init.orthogonal_(w, gain=2.0)
    assert torch.allclose(w.T @ w, 4 * torch.eye(4), atol=1e-5)
    nn.init.trunc_normal_(w, 0.0, 1.0, -0.5, 0.5)
    assert w.abs().max() <= 0.5
    nn.init.sparse_(w, 0.25)
    assert ((w == 0).sum(0) == 2).all()
    k = torch.empty(4, 2, 3)
    nn.init.dirac_(k, groups=2)
    x = torch.randn(1, 4, 6)
    assert torch.equal(nn.functional.conv1d(x, k, padding=1, groups=2), x)
    assert nn.init.calculate_gain("tanh") == 5 / 3
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        nn.init.calculate_gain("sin")


def test_a_pruning_that_fails_leaves_the_earlier_one() -> None:
    from retrograd.nn.utils import prune

    m = prune.l1_unstructured(nn.Linear(3, 2), "weight", 1)
    hooks, mask, weight = list(m._forward_pre_hooks.items()), m.weight_mask, m.weight
    with pytest.raises(ValueError, match="amount=7 should be smaller"):
        prune.l1_unstructured(m, "weight", 7)
    prune.l1_unstructured(m, "bias", 1)
    with pytest.raises(AssertionError, match="importance_scores should have the same shape"):
        prune.l1_unstructured(m, "weight", 1, importance_scores=torch.ones(2))
    assert list(m._forward_pre_hooks.items())[:1] == hooks and m.weight_mask is mask and m.weight is weight
    prune.l1_unstructured(m, "weight", 1)
    container = list(m._forward_pre_hooks.values())[-1]
    with pytest.raises(ValueError, match="amount=5 should be smaller"):
        prune.l1_unstructured(m, "weight", 5)
    assert len(container) == 2 and list(m._forward_pre_hooks.values())[-1] is container


def test_a_table_of_global_hooks_may_be_replaced() -> None:
    calls: list[str] = []
    before = home._global_forward_hooks
    home._global_forward_hooks = OrderedDict({0: lambda m, i, o: calls.append("new")})
    try:
        nn.Identity()(torch.ones(1))
    finally:
        home._global_forward_hooks = before
    nn.Identity()(torch.ones(1))
    assert calls == ["new"]


def test_load_state_dict_leaves_nothing_for_the_collector() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    values = model.state_dict()
    gc.collect()
    gc.disable()
    try:
        model.load_state_dict(values)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.oracle
@pytest.mark.parametrize("what", [
    *(f"nn.{module}.{name}()" for name in ("cuda", "xpu", "ipu", "mtia") for module in ("Linear(1, 1)", "ReLU()")),
    "torch.ones(1).to('xpu')", "torch.ones(1).to('maia')", "packed.cuda()", "packed.pin_memory()",
    "nn.LSTM(2, 3, 2, proj_size=1, bidirectional=True).get_expected_hidden_size(torch.ones(4, 5, 2), None)",
    "nn.GRU(2, 3, batch_first=True).get_expected_hidden_size(torch.ones(4, 5, 2), None)",
    "nn.RNN(2, 3).get_expected_hidden_size(torch.ones(4, 2), torch.tensor([3, 1]))",
    "attention.merge_masks(None, None, query)", "attention.merge_masks(None, torch.ones(2, 3), query)",
    "attention.merge_masks(torch.ones(3, 3), None, query)",
    "attention.merge_masks(torch.ones(4, 3, 3), torch.ones(2, 3), query)"])
def test_methods_for_other_devices_and_of_layers_answer_as_pytorchs(what: str) -> None:
    def answer(engine: Any) -> str:
        names = {"torch": engine, "nn": engine.nn, "packed": engine.nn.utils.rnn.pack_sequence([engine.ones(2)]),
                 "attention": engine.nn.MultiheadAttention(8, 2), "query": engine.ones(2, 3, 8)}
        try:
            return str(eval(what, names))
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0].partition('. Ensure you have')[0]}"

    assert answer(torch) == answer(pytest.importorskip("torch"))


@pytest.mark.oracle
@pytest.mark.parametrize("what", [
    "nn.Parameter(torch.ones(2, dtype=torch.int64))", "nn.Parameter(torch.ones(2, dtype=torch.bool))",
    "nn.Parameter(torch.ones(2, dtype=torch.int64), False)", "nn.Parameter(torch.ones(2), 1)", "nn.Parameter([1])",
    "nn.Parameter(1.5)", "nn.Parameter('a', requires_grad=False)", "nn.Buffer([1])", "nn.Buffer(3, persistent=False)",
    "nn.Linear(2, 2, dtype=torch.int64)", "nn.UninitializedParameter(dtype=torch.int64)", "nn.Parameter(Own(torch.ones(2)))",
    "Own(nn.Parameter(torch.ones(2)))[0]", "nn.Parameter(Deaf())",
    "torch.Tensor._make_subclass(torch.Tensor, torch.ones(1), None)",
])
def test_parameters_of_what_cannot_be_one_fail_as_pytorchs(what: str) -> None:
    def answer(engine: Any) -> str:
        class Deaf(engine.Tensor):  # type: ignore[name-defined, misc]
            __torch_function__ = engine._C._disabled_torch_function_impl

        names = {"torch": engine, "nn": engine.nn, "Own": type("Own", (engine.nn.Parameter,), {}), "Deaf": Deaf}
        try:
            return str(eval(what, names))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    assert answer(torch) == answer(pytest.importorskip("torch"))


@pytest.mark.parametrize("name", ["torch", "retrograd"])
def test_what_is_not_initialized_draws_no_numbers(name: str) -> None:
    engine = pytest.importorskip(name)
    engine.manual_seed(0)
    layer = engine.nn.utils.skip_init(engine.nn.Linear, 3, 3)
    engine.nn.init.orthogonal_(engine.empty(3, 3, device="meta"))
    assert engine.nn.init.trunc_normal_(engine.empty(3, 3, device="meta")).is_meta
    after = engine.rand(1)
    engine.manual_seed(0)
    assert after.item() == engine.rand(1).item()
    assert layer.weight.shape == (3, 3) and layer.weight.requires_grad and not layer.weight.is_meta
