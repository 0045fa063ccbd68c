"""Optimizers: what they keep, refuse and undo; trajectories equal PyTorch's where one is installed.

Steps as numbers are in conformance/programs/optim_trajectories.py, hooks and errors in optim_hooks.py.
"""

from __future__ import annotations

import copy
import gc
import math
import pickle
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

O = torch.optim
ALL = [O.SGD, O.Adam, O.AdamW, O.Adamax, O.NAdam, O.RAdam, O.RMSprop, O.Adagrad, O.Adadelta, O.Adafactor, O.ASGD, O.Rprop]
FUSED = [O.SGD, O.Adam, O.AdamW, O.Adagrad]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05}), ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.5}),
    ("SGD", {"lr": 0.001, "momentum": 0.9, "maximize": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "foreach": True, "momentum": 0.9}),
    ("Adam", {"lr": 0.05, "amsgrad": True}),
    ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adam", {"betas": (0.5, 0.9), "eps": 1e-2, "lr": 0.05}), ("NAdam", {"momentum_decay": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "lr": 0.05}), ("RAdam", {"betas": (0.5, 0.7)}),
    ("RMSprop", {"centered": True}), ("RMSprop", {"centered": True, "momentum": 0.9, "lr": 1e-3}),
    ("RMSprop", {"momentum": 0.5, "alpha": 0.9, "lr": 1e-3}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5}), ("ASGD", {"t0": 5, "lambd": 0.01, "lr": 0.05}),
    ("Rprop", {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}), ("Adadelta", {"rho": 0.5, "eps": 1e-2}),
    ("Adafactor", {"lr": 0.5, "beta2_decay": -0.3, "d": 2.0, "eps": (1e-4, 0.1)}), ("Adafactor", {"foreach": True}),
    *[(cls.__name__, kw) for cls in ALL for kw in ({}, {"lr": 0.02})],
    *[(cls.__name__, {"lr": 0.02, "weight_decay": 0.1}) for cls in ALL if cls is not O.Rprop],
    *[(cls.__name__, {"lr": 0.002, "maximize": True}) for cls in ALL],
]
SHOWN = [f"{name} {kw}" for name, kw in OPTIONS]


def made(T: Any, dtype: str = "float64") -> list[Any]:
    d = getattr(T, dtype)
    values = ([[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]], [0.7, -0.8], 0.9)
    return [T.tensor(v, dtype=d, requires_grad=True) for v in values]


def loss(T: Any, p: Any, q: Any, s: Any) -> Any:
    a = T.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=p.dtype)
    return ((T.sin(p) * a).sum(1) - 1).pow(2).sum() + (q - 0.3).pow(2).sum() + (s * q.sum() - 0.5) ** 2


def train(T: Any, params: list[Any], o: Any, steps: int) -> list[list[float]]:
    out = []
    for i in range(steps):
        o.zero_grad(set_to_none=i % 2 == 0)
        loss(T, *params).backward()
        o.step()
        out.append([x for p in params for x in p.detach().reshape(-1).tolist()])
    return out


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=SHOWN)
def test_fifty_steps_equal_pytorchs(name: str, options: dict[str, Any], dtype: str) -> None:
    real = pytest.importorskip("torch")
    runs = []
    for T in (real, torch):
        params = made(T, dtype)
        o = getattr(T.optim, name)([{"params": params[:1]}, {"params": params[1:]}], **options)
        path = train(T, params, o, 50)
        state = o.state_dict()
        kept = {(i, key): x.tolist() for i, table in state["state"].items() for key, x in table.items()}
        runs.append((path, kept, state["param_groups"], [p._version for p in params]))
    (path, kept, groups, versions), (path2, kept2, groups2, versions2) = runs
    close = {"rtol": 1e-9, "atol": 1e-12} if dtype == "float64" else {"rtol": 1e-3, "atol": 1e-5}
    if dtype == "float32":                      # where rounding grows, PyTorch leaves its own path in float64, too
        params = made(real, "float64")
        exact = train(real, params, getattr(real.optim, name)([{"params": params[:1]}, {"params": params[1:]}], **options), 50)
        close["atol"] += 10 * float(np.abs(np.subtract(path, exact)).max())
    np.testing.assert_allclose(path2, path, **close)
    assert list(kept2) == list(kept)
    for key, x in kept.items():
        np.testing.assert_allclose(kept2[key], x, err_msg=str(key), **close)
    assert groups2 == groups and versions2 == versions


@pytest.mark.oracle
@pytest.mark.parametrize("options", [
    {}, {"lr": 0.1, "max_iter": 5}, {"line_search_fn": "strong_wolfe"}, {"lr": 0.05, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 7}], ids=str)
def test_lbfgs_equals_pytorchs(options: dict[str, Any]) -> None:
    def run(T: Any) -> Any:
        params = made(T)
        o = T.optim.LBFGS(params, **options)
        seen: list[float] = []

        def closure() -> Any:
            o.zero_grad()
            value = loss(T, *params)
            value.backward()
            seen.append(value.item())
            return value

        for _ in range(5):
            o.step(closure)
        state = next(iter(o.state.values()))
        return seen, state["n_iter"], state["func_evals"], set(state) - {"al"}

    want, got = run(pytest.importorskip("torch")), run(torch)
    assert len(got[0]) == len(want[0]) and got[1:] == want[1:]
    np.testing.assert_allclose(got[0], want[0], rtol=1e-6, atol=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_goes_on_with_pytorchs_state_and_the_reverse(cls: Any) -> None:
    real = pytest.importorskip("torch")
    theirs = made(real)
    o = getattr(real.optim, cls.__name__)(theirs)
    train(real, theirs, o, 5)
    sd = o.state_dict()

    def moved(x: Any, T: Any, tensor: Any) -> Any:
        if isinstance(x, tensor):
            return T.tensor(x.tolist(), dtype=getattr(T, str(x.dtype).removeprefix("torch.")))
        if isinstance(x, dict):
            return {k: moved(v, T, tensor) for k, v in x.items()}
        return [moved(v, T, tensor) for v in x] if isinstance(x, list) else x

    params = [torch.tensor(p.tolist(), dtype=torch.float64, requires_grad=True) for p in theirs]
    mine = cls(params)
    mine.load_state_dict(moved(sd, torch, real.Tensor))
    back = [real.tensor(p.tolist(), dtype=real.float64, requires_grad=True) for p in params]
    o2 = getattr(real.optim, cls.__name__)(back)
    o2.load_state_dict(moved(mine.state_dict(), real, torch.Tensor))
    want = train(real, theirs, o, 5)
    np.testing.assert_allclose(train(torch, params, mine, 5), want, rtol=1e-9)
    np.testing.assert_allclose(train(real, back, o2, 5), want, rtol=1e-9)


MUON: list[dict[str, Any]] = [
    {}, {"lr": 0.1, "nesterov": False}, {"lr": 0.1, "momentum": 0.3, "weight_decay": 0.0},
    {"adjust_lr_fn": "original", "lr": 0.05},
    {"adjust_lr_fn": "match_rms_adamw", "lr": 0.05, "ns_steps": 3}, {"ns_coefficients": (2, -1.5, 0.5), "eps": 0.5, "lr": 0.1}]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("options", MUON, ids=str)
def test_muon_equals_pytorchs(options: dict[str, Any], dtype: str) -> None:
    """A step's direction has bfloat16's digits; its roundings can go the other way once sums differ in the last bit."""
    real = pytest.importorskip("torch")
    rng, half = np.random.default_rng(0), dtype.endswith("16")
    start, pulls = ([rng.normal(size=s) for s in ((3, 5), (5, 3), (4, 4))] for _ in range(2))
    runs = []
    for T in (real, torch):
        params = [T.tensor(a.tolist(), dtype=getattr(T, dtype), requires_grad=True) for a in start]
        o = T.optim.Muon([{"params": params[:1]}, {"params": params[1:]}], **options)
        path = []
        for _ in range(1 if half else 8):
            o.zero_grad()
            for p, a in zip(params, pulls):
                ((p.sin() * T.tensor(a.tolist(), dtype=p.dtype)).sum() + (p * p).sum()).backward()
            o.step()
            path.append([x for p in params for x in p.detach().reshape(-1).tolist()])
        kept = [x for p in params for x in o.state[p]["momentum_buffer"].reshape(-1).tolist()]
        runs.append((path, kept, [list(o.state[p]) for p in params], o.state_dict()["param_groups"],
                     [p._version for p in params]))
    (path, kept, *rest), (path2, kept2, *rest2) = runs
    last = {"float16": 2e-3, "bfloat16": 2e-2}.get(dtype)
    np.testing.assert_allclose(path2[0], path[0], atol=last or 1e-6)
    np.testing.assert_allclose(path2, path, atol=last or 1e-2 * options.get("lr", 1e-3))
    np.testing.assert_allclose(kept2, kept, atol=2e-3)
    assert rest2 == rest


def test_muons_direction_is_nearly_orthogonal() -> None:
    w = torch.zeros(6, 4, dtype=torch.float64, requires_grad=True)
    w.grad = torch.tensor(np.random.default_rng(1).normal(size=(6, 4)))
    torch.optim.Muon([w], lr=1.0, weight_decay=0.0, nesterov=False, adjust_lr_fn="original").step()
    u, _, v = np.linalg.svd(w.grad.numpy(), full_matrices=False)
    inside = u.T @ w.detach().numpy() @ v.T / math.sqrt(6 / 4)
    np.testing.assert_allclose(inside, np.diag(np.diag(inside)), atol=0.02)
    assert ((-1.3 < np.diag(inside)) & (np.diag(inside) < -0.6)).all()


# ---- what is kept ----


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=SHOWN)
def test_goes_on_from_a_state_dict_bit_for_bit(name: str, options: dict[str, Any]) -> None:
    # numbers that are kept in float32, as in PyTorch, are cast on loading
    params = made(torch, "float32" if name in ("NAdam", "ASGD") else "float64")
    o = getattr(O, name)(params, **options)
    train(torch, params, o, 4)
    kept, values = copy.deepcopy(o.state_dict()), [p.detach().clone() for p in params]
    want = train(torch, params, o, 4)
    again = [v.requires_grad_() for v in values]
    o2 = getattr(O, name)(again)
    o2.load_state_dict(kept)
    assert train(torch, again, o2, 4) == want


@pytest.mark.parametrize("cls", [*ALL, O.LBFGS], ids=lambda c: c.__name__)
def test_copies_and_pickles(cls: Any) -> None:
    params = made(torch)
    o = cls(params)

    def closure() -> Any:
        o.zero_grad()
        value = loss(torch, *params)
        value.backward()
        return value

    o.step(closure)
    o2 = pickle.loads(pickle.dumps(o))
    o3 = copy.deepcopy(o)
    for other in (o2, o3):
        assert repr(other) == repr(o)
        assert [sorted(table) for table in other.state.values()] == [sorted(table) for table in o.state.values()]
        assert other.param_groups[0]["params"][0] is not params[0]
        other.register_step_post_hook(lambda *a: None)


@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_dtypes_shapes_and_strides(cls: Any) -> None:
    for array in (
        np.ones((2, 3), np.float32), np.asfortranarray(np.ones((2, 3))), np.ones((4, 6))[::2, ::3], np.ones(()),
        np.ones((0, 3), np.float32), np.ones(3, np.float16),
    ):
        p = torch.from_numpy(array) if array.shape else torch.tensor(1.0)
        p.requires_grad_()
        before = p.detach().clone()
        memory = p.data_ptr()
        p.grad = torch.ones_like(p) * 0.5
        o = cls([p], lr=0.1)
        for _ in range(3):
            o.step()
        assert p.dtype is before.dtype and p.shape == before.shape and p.data_ptr() == memory
        assert bool((p.detach() < before).all())
        for key, x in o.state[p].items():
            if key not in ("step", "mu_product", "eta", "mu", "row_var", "col_var"):
                assert x.dtype is p.dtype and x.shape == p.shape, key


@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_gradients_are_not_changed(cls: Any) -> None:
    for options in ({}, {"maximize": True}) + (({"weight_decay": 0.1},) if cls is not O.Rprop else ()):
        p = torch.tensor([1.0, -2.0], requires_grad=True)
        p.grad = torch.tensor([0.5, -0.25])
        o = cls([p], **options)
        for _ in range(3):
            o.step()
        assert p.grad.tolist() == [0.5, -0.25]


@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_infinite_gradients_pass_without_a_word(cls: Any) -> None:
    p = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    p.grad = torch.tensor([math.inf, math.nan, 1e38])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        o = cls([p])
        o.step()
        o.step()
    assert not bool(torch.isfinite(p.detach()[:2]).all()) or cls is O.Rprop


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
def test_rprop_rests_where_the_gradient_is_nan(dtype: str) -> None:
    import torch as theirs

    found = []
    for engine in (torch, theirs):
        p = engine.ones(3, dtype=getattr(engine, dtype), requires_grad=True)
        optimizer = engine.optim.Rprop([p])
        for grad in ([math.nan, 1, -1], [1, math.nan, 1], [1, 1, math.nan]):
            p.grad = engine.tensor(grad).to(p.dtype)
            optimizer.step()
        found.append([p.tolist(), *(optimizer.state[p][key].tolist() for key in ("prev", "step_size"))])
    np.testing.assert_array_equal(np.array(found[0]), np.array(found[1]))


@pytest.mark.oracle
@pytest.mark.parametrize("name, options", [("SGD", {"momentum": 0.9}), ("Adam", {})])
def test_weight_decay_keeps_bfloat16(name: str, options: Any) -> None:
    import torch as theirs

    found = []
    for engine in (torch, theirs):
        p = engine.ones(3, dtype=engine.bfloat16, requires_grad=True)
        optimizer = getattr(engine.optim, name)([p], lr=0.1, weight_decay=0.1, **options)
        for n in range(3):
            p.grad = engine.tensor([0.1, 0.3, -0.7], dtype=engine.bfloat16) * (n + 1)
            optimizer.step()
        kept = {key: x for key, x in optimizer.state[p].items() if key != "step"}
        assert all(x.dtype == engine.bfloat16 for x in kept.values())
        found.append({"p": p.tolist(), **{key: x.tolist() for key, x in kept.items()}})
    assert found[0] == found[1]


@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_parameters_without_a_gradient_rest(cls: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    o = cls([a, b])
    a.grad = torch.ones(2)
    o.step()
    assert a.tolist() != [1, 1] and b.tolist() == [1, 1] and b._version == 0
    assert b not in o.state or cls is O.Adagrad


def test_a_step_is_seen_by_the_graph() -> None:
    p = torch.ones(2, requires_grad=True)
    y = (p * p).sum()
    p.grad = torch.ones(2)
    O.Adam([p]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_state_is_seen_by_the_graph() -> None:
    p = torch.ones(2, requires_grad=True)
    p.grad = torch.ones(2)
    o = O.SGD([p], lr=0.1, momentum=0.9)
    o.step()
    w = torch.ones(2, requires_grad=True)
    y = (w * o.state[p]["momentum_buffer"]).sum()
    o.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_non_leaf_with_retained_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    o = O.SGD([y], lr=0.5)
    y.sum().backward()
    o.step()
    assert y.tolist() == [1.5, 1.5]
    o.zero_grad()
    assert y.grad is None


# ---- options ----


def test_options_without_effect() -> None:
    want = made(torch)
    train(torch, want, O.Adam(want), 5)
    for options in ({"foreach": True}, {"foreach": False}, {"fused": True}, {"fused": False}):
        params = made(torch)
        train(torch, params, O.Adam(params, **options), 5)
        assert [p.tolist() for p in params] == [p.tolist() for p in want]


@pytest.mark.parametrize("cls", [c for c in ALL if c not in (O.SGD, O.Adagrad, O.Adafactor)], ids=lambda c: c.__name__)
def test_capturable_is_refused_by_step(cls: Any) -> None:
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    o = cls([p], capturable=True)
    with pytest.raises(AssertionError, match="If capturable=True, params.* and state_steps must be on supported devices"):
        o.step()
    assert p.tolist() == [1]


@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_a_rate_may_be_a_tensor(cls: Any) -> None:
    if cls is O.Rprop:
        return                                  # asks for the rate at the first step only
    a, b = made(torch), made(torch)
    want = train(torch, a, cls(a, lr=0.25), 3)
    found = train(torch, b, cls(b, lr=torch.tensor(0.25)), 3)
    assert [x for p in found for x in p] == pytest.approx([x for p in want for x in p], rel=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("cls", ALL, ids=lambda c: c.__name__)
def test_a_rate_of_float32_is_computed_with_in_float32(cls: Any) -> None:
    import torch as pytorch

    found = []
    for lib in (torch, pytorch):
        p = lib.tensor([[1.0, 2.0], [3.0, -1.0]], dtype=lib.float64, requires_grad=True)
        o = getattr(lib.optim, cls.__name__)([p], lr=lib.tensor(0.1))
        for _ in range(3):
            p.grad = (p.detach() - 1) ** 2
            o.step()
        found += [p.flatten().tolist()]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("cls", [O.Adam, O.AdamW], ids=lambda c: c.__name__)
def test_a_group_may_not_have_a_tensor_as_rate_and_foreach(cls: Any) -> None:
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    o = cls([{"params": [p], "foreach": True}], lr=torch.tensor(0.1))
    with pytest.raises(RuntimeError, match="lr as a Tensor is not supported for capturable=False and foreach=True"):
        o.step()
    assert p.tolist() == [1] and not o.state


@pytest.mark.oracle
@pytest.mark.parametrize("cls", [O.Adam, O.RAdam, O.RMSprop], ids=lambda c: c.__name__)
def test_steps_in_half_precision_round_where_pytorchs_do(cls: Any) -> None:
    import torch as pytorch

    found = []
    for lib in (torch, pytorch):
        lib.manual_seed(3)
        p = lib.randn(50, dtype=lib.float16, requires_grad=True)
        o = getattr(lib.optim, cls.__name__)([p], lr=0.1, foreach=False)
        for _ in range(3):
            p.grad = (p.detach() - 1) * 2
            o.step()
        found += [p.tolist()]
    assert found[0] == pytest.approx(found[1], rel=2e-3, abs=1e-3, nan_ok=True)


# ---- hooks ----


@pytest.mark.parametrize("cls", ALL)
def test_an_expanded_parameter_is_refused_before_anything_changes(cls: Any) -> None:
    p = torch.ones(1, 3).expand(2, 3).requires_grad_()
    p.grad = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        cls([p]).step()
    assert p.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("cls", [O.Adam, O.AdamW, O.NAdam, O.RAdam, O.Adamax, O.Adafactor])
def test_state_of_another_dtype_is_refused(cls: Any) -> None:
    p = torch.ones(2, requires_grad=True)
    p.grad = torch.ones(2)
    optimizer = cls([p])
    optimizer.step()
    optimizer.state[p] = {k: v.double() if v.dim() else v for k, v in optimizer.state[p].items()}
    with pytest.raises(RuntimeError, match="expected dtype double for `end` but got dtype float"):
        optimizer.step()


def test_hooks_may_remove_themselves() -> None:
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    o = O.SGD([p], lr=0.1)
    log: list[str] = []
    handles: dict[str, Any] = {}

    def once(name: str) -> Any:
        def hook(*args: Any) -> None:
            log.append(name)
            handles[name].remove()
        return hook

    for name, register in (
        ("global pre", register_optimizer_step_pre_hook), ("pre", o.register_step_pre_hook),
        ("pre 2", o.register_step_pre_hook), ("post", o.register_step_post_hook), ("post 2", o.register_step_post_hook),
        ("global post", register_optimizer_step_post_hook), ("sd", o.register_state_dict_post_hook),
        ("sd 2", o.register_state_dict_post_hook), ("load", o.register_load_state_dict_post_hook),
        ("load 2", o.register_load_state_dict_post_hook),
    ):
        handles[name] = register(once(name))
    o.step()
    assert log == ["global pre", "pre", "pre 2", "post", "post 2", "global post"]
    o.step()
    o.load_state_dict(o.state_dict())
    assert log[6:] == ["sd", "sd 2", "load", "load 2"]


def test_a_load_that_fails_changes_nothing() -> None:
    params = made(torch)
    o = O.Adam(params)
    train(torch, params, o, 2)
    before = copy.deepcopy(o.state_dict())
    for broken in (
        {"state": {}, "param_groups": []}, {"state": {}, "param_groups": [{"params": [0]}]},
        {"state": 3, "param_groups": before["param_groups"]}, {"param_groups": before["param_groups"]},
    ):
        with pytest.raises((ValueError, AttributeError, KeyError)):
            o.load_state_dict(broken)
        now = o.state_dict()
        assert now["param_groups"] == before["param_groups"]
        assert all(torch.equal(now["state"][i][k], x) for i, table in before["state"].items() for k, x in table.items())


def test_nothing_keeps_an_optimizer_alive() -> None:
    gc.disable()
    try:
        p = torch.ones(1, requires_grad=True)
        o = O.Adam([p])
        s = O.lr_scheduler.StepLR(o, 1)
        (p * 2).sum().backward()
        o.step()
        s.step()
        dead = weakref.ref(o)
        del o, s
        assert dead() is None
    finally:
        gc.enable()


# ---- L-BFGS ----


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_bottom_of_rosenbrocks_valley(search: str | None) -> None:
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    o = O.LBFGS([x], lr=1 if search else 0.01, max_iter=100, line_search_fn=search)

    def closure() -> Any:
        o.zero_grad()
        value = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        value.backward()
        return value

    for _ in range(30):
        o.step(closure)
    assert x.tolist() == pytest.approx([1, 1], abs=1e-3)


def test_lbfgs_stops_where_the_gradient_vanishes() -> None:
    x = torch.zeros(3, requires_grad=True)
    o = O.LBFGS([x, torch.ones(2, requires_grad=True)])     # the second has no gradient
    calls = []

    def closure() -> Any:
        o.zero_grad()
        value = (x * x).sum()
        value.backward()
        calls.append(1)
        return value

    assert o.step(closure).item() == 0 and len(calls) == 1 and x.tolist() == [0, 0, 0]


@pytest.mark.oracle
@pytest.mark.parametrize("option", [{}, {"fused": True}, {"capturable": True}, {"foreach": True}], ids=str)
@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adagrad", "SGD", "NAdam", "ASGD"])
@pytest.mark.parametrize("default", ["float32", "float64"])
def test_counts_have_pytorchs_dtype(name: str, option: dict[str, Any], default: str) -> None:
    import torch as pytorch

    def found(lib: Any) -> Any:
        before = lib.get_default_dtype()
        lib.set_default_dtype(getattr(lib, default))
        try:
            w = lib.ones(2, requires_grad=True)
            try:
                optimizer = getattr(lib.optim, name)([w], **option)
                w.sum().backward()
                optimizer.step()
            except (TypeError, AssertionError) as e:
                return type(e)
            optimizer.load_state_dict({**optimizer.state_dict(), "state": {0: {
                k: v.item() if k == "step" else v for k, v in optimizer.state_dict()["state"].get(0, {}).items()}}})
            return {k: str(v.dtype).rpartition(".")[2] for k, v in optimizer.state[w].items() if lib.is_tensor(v)}
        finally:
            lib.set_default_dtype(before)

    assert found(torch) == found(pytorch)
