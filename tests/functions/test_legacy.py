"""Functions that PyTorch keeps for older programs: they compute what PyTorch's do, or say what it says."""
from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch


def recurrent(T: Any, x: Any, name: str, form: str) -> Any:
    """Sequences of 3 steps of 4 numbers, states of 3 (or projected to 2)."""
    gates, deep, width = {"lstm": 4, "gru": 3}.get(name, 1) * 3, form == "deep", 2 if form == "projected" else 3
    weights = []
    for layer in range(2 if deep else 1):
        for _ in range(2 if deep else 1):
            weights += [x(gates, 2 * width if layer else 4), x(gates, width), x(gates), x(gates)]
            weights += [x(width, 3)] if form == "projected" else []
    states = [x(4 if deep else 1, 2, n) for n in ((width, 3) if name == "lstm" else (3,))]
    state = tuple(states) if name == "lstm" else states[0]
    more = (weights, True, 2 if deep else 1, 0.0, False, deep)
    if form == "packed":
        return getattr(T, name)(x(5, 4), T.tensor([2, 2, 1]), state, *more)
    return getattr(T, name)(x(*((2, 3) if form == "first" else (3, 2)), 4), state, *more, form == "first")


NUMBERS = np.random.default_rng(0).standard_normal(1000).astype("float32")
CALLS = {
    "frobenius_norm": lambda T, x: T.frobenius_norm(x(3, 4, 2), [0, 1]),
    "nuclear_norm": lambda T, x: (T.nuclear_norm(x(3, 4)), T.nuclear_norm(x(3, 4, 2), [0, 1], True)),
    "norm_except_dim": lambda T, x: [T.norm_except_dim(x(3, 4, 2), 2, d) for d in (-1, 0, 1, 2)],
    "unsafe_split_with_sizes": lambda T, x: (*T.unsafe_split_with_sizes(x(5, 2), [2, 3]), *x(5).unsafe_split_with_sizes([1, 4])),
    "grid_sampler_2d": lambda T, x: T.grid_sampler_2d(x(1, 2, 4, 4), x(1, 3, 3, 2), 0, 0, True),
    "grid_sampler_3d": lambda T, x: T.grid_sampler_3d(x(1, 2, 4, 4, 4), x(1, 3, 3, 2, 3), 0, 1, False),
    "conv_tbc": lambda T, x: (
        T.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4), 1), T.nn.functional.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4))),
    "fake_quantize_per_tensor_affine": lambda T, x: T.fake_quantize_per_tensor_affine(x(50), 0.1, 3, -8, 7),
    "fake_quantize_per_channel_affine": lambda T, x: T.fake_quantize_per_channel_affine(
        x(5, 4), T.tensor([0.1, 0.2, 0.3, 0.4]), T.tensor([0, 1, 2, 0], dtype=T.int32), 1, -8, 7),
    "view_as_complex_copy": lambda T, x: T.view_as_real(T.view_as_complex_copy(x(3, 2).detach())),
    "view_as_real_copy": lambda T, x: T.view_as_real_copy(T.view_as_complex(x(3, 2))),
    "rnn_tanh_cell": lambda T, x: T.rnn_tanh_cell(x(2, 3), x(2, 4), x(4, 3), x(4, 4), x(4), x(4)),
    "rnn_relu_cell": lambda T, x: T.rnn_relu_cell(x(2, 3), x(2, 4), x(4, 3), x(4, 4)),
    "lstm_cell": lambda T, x: T.lstm_cell(x(2, 3), (x(2, 4), x(2, 4)), x(16, 3), x(16, 4), x(16), x(16)),
    **{f"{name}, {form}": lambda T, x, name=name, form=form: recurrent(T, x, name, form) for name, form in (
        ("lstm", "first"), ("lstm", "deep"), ("lstm", "packed"), ("lstm", "projected"), ("gru", "deep"), ("gru", "packed"),
        ("rnn_tanh", "first"), ("rnn_relu", "deep"))},
    "gru_cell": lambda T, x: T.gru_cell(x(2, 3), x(2, 4), x(12, 3), x(12, 4), x(12), x(12)),
    "resize": lambda T, x: (x(4).resize(2, 2), x(4).resize_as(x(2, 2)), x(2).module_load(x(2)), x(2).module_load(x(2), True)),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CALLS)
def test_they_compute_what_pytorchs_compute(name: str) -> None:
    import torch as theirs

    def arrays(T: Any) -> list[Any]:
        leaves: list[Any] = []

        def x(*shape: int) -> Any:
            start = 10 * len(leaves)
            leaves.append(T.from_numpy(NUMBERS[start:start + int(np.prod(shape))].reshape(shape).copy()).requires_grad_())
            return leaves[-1] * 1
        found = CALLS[name](T, x)
        results = [found] if isinstance(found, T.Tensor) else list(found)
        total = sum((y * y).sum() for y in results if y.requires_grad)
        grads = T.autograd.grad(total, leaves, allow_unused=True) if isinstance(total, T.Tensor) else []
        return [y.detach().numpy() for y in results] + [g.numpy() for g in grads if g is not None]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for got, want in zip(arrays(torch), arrays(theirs), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig", "reinforce", "resize"])
def test_what_is_gone_says_what_pytorch_says(name: str) -> None:
    import torch as theirs

    said = []
    for T in (torch, theirs):
        function = getattr(T, name, None) or getattr(T.Tensor, name)
        with pytest.raises(RuntimeError) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(T.ones(2, 2), *([3] if name == "resize" else [T.ones(2, 2)]))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_branches_and_loops_run_as_python_runs_them() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    torch.cond(x > 1, lambda x: x * 3, lambda x: x, (x,)).backward()
    assert x.grad == 3
    found = torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), torch.tensor(1.0)))
    assert [t.item() for t in found] == [3, 8]
    with pytest.raises(RuntimeError, match="Expected pred to be bool or single-element tensor"):
        torch.cond(torch.ones(2) > 0, lambda: 1, lambda: 2)


@pytest.mark.parametrize(("body", "why"), [
    (lambda i, x: x * 2, r"same number of outputs but got lhs:\[Tensor\(size=\(2,\), dtype=torch.float32\)\]"),
    (lambda i, x: None, r"same number of outputs but got lhs:\[NoneType\]"),
    (lambda i, x: (i + 1, x.repeat(2)), r"same metadata but found:\npair\[1\] differ: Tensor\(size=\(4,\)"),
    (lambda i, x: (i + 1.0, x), r"same metadata but found:\npair\[0\] differ: Tensor\(.*dtype=torch.float32\) vs .*int64"),
    (lambda i, x: (i + 1, 3), r"same metadata but found:\npair\[1\] differ: int vs Tensor")])
def test_a_loop_whose_body_returns_other_kinds_is_refused(body: Any, why: str) -> None:
    with pytest.raises(RuntimeError, match=f"Expected body_fn_output and carried_inputs to have {why}"):
        torch.while_loop(lambda i, x: i < 3, body, (torch.tensor(0), torch.ones(2)))


def test_a_loop_gives_what_its_body_returned_and_asks_for_a_bool() -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, (x,)).tolist() == [4, 8]
    assert isinstance(torch.while_loop(lambda i: i < 3, lambda i: [i + 1], (0,)), list)
    assert torch.while_loop(lambda x: False, lambda x: x * 2, (x,)) == (x,)
    for found in (1, x.sum(), x < 2, (x < 2)[:1]):
        with pytest.raises(RuntimeError, match="Expected cond_fn to return a scalar tensor or a bool"):
            torch.while_loop(lambda x, found=found: found, lambda x: x * 2, (x,))


def test_a_tensor_in_a_file_writes_there_when_shared(tmp_path: Path) -> None:
    path = str(tmp_path / "numbers")
    shared = torch.from_file(path, shared=True, size=4, dtype=torch.float64)
    shared += 1
    own = torch.from_file(path, size=3, dtype=torch.float64)
    own += 5
    assert torch.from_file(path, size=4, dtype=torch.float64).tolist() == [1] * 4
    with pytest.raises(RuntimeError, match="is smaller than the required mapping size"):
        torch.from_file(path, size=5, dtype=torch.float64)
    assert own.const_data_ptr() == own.data_ptr()


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "int64", "uint8", "bool"])
def test_make_tensor_draws_pytorchs_numbers(dtype: str) -> None:
    import torch as theirs

    for options in ({}, {"low": 1, "high": 2}, {"noncontiguous": True}, {"exclude_zero": True}):
        if dtype == "bool" and "low" in options:
            options = {"low": 0, "high": 1}
        made = []
        for T in (torch, theirs):
            T.manual_seed(3)
            made.append(T.testing.make_tensor(3, 4, dtype=getattr(T, dtype), device="cpu", **options))
        assert str(made[0].dtype) == str(made[1].dtype) and made[0].stride() == made[1].stride()
        np.testing.assert_allclose(*(x.tolist() for x in made), rtol=1e-6)
    for wrong in ({"low": 3, "high": 1}, {"low": float("nan")}, {"noncontiguous": True, "memory_format": "contiguous_format"}):
        said = []
        for T in (torch, theirs):
            given = {k: getattr(T, v) if isinstance(v, str) else v for k, v in wrong.items()}
            with pytest.raises(ValueError, match="`|and") as caught:
                T.testing.make_tensor(3, dtype=T.float32, device="cpu", **given)
            said.append(str(caught.value))
        assert said[0] == said[1]


def test_older_comparisons_look_at_values_alone() -> None:
    with pytest.warns(FutureWarning, match="assert_allclose"):
        torch.testing.assert_allclose(torch.ones(2), [1.0, 1.00005])
    with pytest.warns(FutureWarning, match="assert_allclose"), pytest.raises(AssertionError):
        torch.testing.assert_allclose(torch.ones(2), [1.0, 1.1])
    with pytest.warns(FutureWarning, match="nn.Container"):
        assert list(torch.nn.Container(a=torch.nn.ReLU())._modules) == ["a"]


class Own:
    pass


def test_serialization_names_what_load_would_refuse(tmp_path: Path) -> None:
    s = torch.serialization
    file = tmp_path / "f.pt"
    with pytest.MonkeyPatch.context() as patched, s.safe_globals([Own]):
        patched.setattr(Own, "__reduce__", lambda self: (Own, ()))
        torch.save({"x": torch.ones(2), "own": Own()}, file)
    assert s.get_unsafe_globals_in_checkpoint(file) == [f"{__name__}.Own"]
    with s.safe_globals([Own]):
        assert s.get_unsafe_globals_in_checkpoint(file) == []
    with pytest.raises(ValueError, match="Expected input to be a checkpoint"):
        s.get_unsafe_globals_in_checkpoint(__file__)
    assert s.location_tag(torch.ones(1).untyped_storage()) == "cpu"
    for call in (s.validate_cuda_device, s.validate_hpu_device):
        with pytest.raises(RuntimeError, match="If you are running on a CPU-only machine"):
            call("cuda:0")
    with pytest.raises(RuntimeError, match=r"UntypedStorage \(tagged with foo\)"):
        s.default_restore_location(torch.ones(1).untyped_storage(), "foo")
    assert s.check_module_version_greater_or_equal(np, (1, 0)) and not s.check_module_version_greater_or_equal(np, (99, 0))
    with s.mkdtemp() as folder:
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_hub_loads_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text("dependencies = ['json']\ndef made(n):\n    return n + 1\n")
    assert torch.hub.load(str(tmp_path), "made", 2, source="local") == 3
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        torch.hub.load(str(tmp_path), "other", source="local")
    with pytest.raises(NotImplementedError, match="repositories are not fetched"):
        torch.hub.load("a/b", "made")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        torch.hub.load(str(tmp_path), "made", source="local")
