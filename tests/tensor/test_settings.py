"""Switches, versions, mixed precision and assert_close: as PyTorch 2.13 on a machine without a GPU."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import amp, testing
from retrograd.backends import cudnn


def test_the_version_compares_as_pytorchs_does() -> None:
    version = torch.__version__
    assert version.startswith("2.13.0+retrograd.") and version == torch.version.__version__
    assert version >= "2.0" and version >= (2, 1) and version > "1.13.1" and not version < "2.13.0"
    assert version > "2.13.0" and version < "2.14" and version < (3,)           # a local part is newer than none
    assert int(version.split(".")[0]) == 2 and torch.version.cuda is None


def test_flags_of_backends_are_kept_and_none_is_made_up() -> None:
    assert not torch.backends.mps.is_available() and not torch.backends.cudnn.is_available()
    cudnn.deterministic, cudnn.benchmark = True, True
    assert torch.backends.cudnn.deterministic and torch.backends.cudnn.benchmark
    with cudnn.flags(True):                     # sets all of them, those that are not given to their defaults
        assert cudnn.enabled and not cudnn.benchmark and not cudnn.deterministic
    with torch.backends.mkldnn.flags(enabled=False):
        assert not torch.backends.mkldnn.enabled
    assert cudnn.benchmark and torch.backends.mkldnn.enabled
    cudnn.deterministic = cudnn.benchmark = False
    with pytest.raises(AttributeError, match="has no attribute 'benchmrak'"):
        cudnn.benchmrak = True


def test_settings_are_read_back_and_checked() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled() and torch.get_deterministic_debug_mode() == 1
    torch.set_deterministic_debug_mode("default")
    assert not torch.are_deterministic_algorithms_enabled()
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    with pytest.raises(RuntimeError, match="fast is not one of 'highest', 'high', or 'medium'"):
        torch.set_float32_matmul_precision("fast")
    torch.set_default_device("cpu")
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.set_default_device("cuda")
    assert torch.get_default_device() == torch.device("cpu")


def test_what_jit_marks_runs_as_python() -> None:
    @torch.jit.script
    def halved(x: Any) -> Any:
        return x / 2 if not torch.jit.is_scripting() else x

    class Net(torch.nn.Module):
        @torch.jit.export
        def forward(self, x: Any) -> Any:
            return self.logged(halved(x))

        @torch.jit.ignore(drop=False)
        def logged(self, x: Any) -> Any:
            return self.shown(x)

        @torch.jit.ignore
        @torch.jit.unused
        def shown(self, x: Any) -> Any:
            return torch.jit.annotate(Any, x)

    assert torch.jit.script(Net())(torch.tensor(3.0)).item() == 1.5 and not torch.jit.is_tracing()
    with pytest.raises(RuntimeError, match="ignore must be a bool or a function but got 3"):
        torch.jit.ignore(3)
    assert torch.jit.interface(Net) is Net
    with pytest.raises(AttributeError, match="they are of TorchScript's compiler"):
        torch.jit.CompilationUnit  # noqa: B018


def test_a_grad_scaler_scales_unscales_and_skips_steps_that_overflow() -> None:
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler = amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    scaler.scale((w * 3).sum()).backward()
    assert w.grad.tolist() == [24.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == pytest.approx([0.7]) and scaler.get_scale() == 16.0
    w.grad = torch.tensor([float("inf")])
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == pytest.approx([0.7]) and scaler.get_scale() == 8.0
    with pytest.raises(RuntimeError, match=re.escape("unscale_() has already been called on this optimizer")):
        w.grad = torch.ones(1)
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)


def test_a_grad_scaler_without_a_gpu_is_off() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available.  Disabling"):
        scaler = torch.amp.GradScaler()
    loss = torch.ones(1)
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and scaler.state_dict() == {}


# As PyTorch 2.13 says it.
UNEQUAL = [
    (lambda t: ([1.0, 2, 3], [1.0, 2, 4]), "Tensor-likes are not close!\n\nMismatched elements: 1 / 3 (33.3%)\nGreatest absolute "
     "difference: 1.0 at index (2,) (up to 1e-05 allowed)\nGreatest relative difference: 0.25 at index (2,) (up to 1.3e-06 "
     "allowed)"),
    (lambda t: ([1, 2, 3], [1, 2, 5]), "Tensor-likes are not equal!\n\nMismatched elements: 1 / 3 (33.3%)\nGreatest absolute "
     "difference: 2 at index (2,)\nGreatest relative difference: 0.4000000059604645 at index (2,)"),
    (lambda t: (1.0, 2.0), "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-05 allowed)\n"
     "Relative difference: 0.5 (up to 1.3e-06 allowed)"),
    (lambda t: ([1.0], [1.0, 2.0]), "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([2])."),
    (lambda t: ([1.0], [1]), "The values for attribute 'dtype' do not match: torch.float32 != torch.int64."),
]


@pytest.mark.parametrize(("pair", "text"), UNEQUAL)
def test_assert_close_says_what_differs(pair: Any, text: str) -> None:
    a, b = map(torch.tensor, pair(torch))
    with pytest.raises(AssertionError) as caught:
        testing.assert_close(a, b)
    assert str(caught.value) == text
    with pytest.raises(AssertionError, match=re.escape("The failure occurred for item ['a'][1]")):
        testing.assert_close({"a": [1, a]}, {"a": [1, b]})
    testing.assert_close(a, a.clone())


COMPARED = """
    nn.Parameter(a), a|nn.Parameter(a), a, allow_subclasses=False|nn.Parameter(a), nn.Parameter(a), allow_subclasses=False
    a, a.numpy()|a.numpy(), a|a.numpy(), a.numpy()|[a.numpy()], [a.numpy() + 1]|a.as_subclass(Sub), a, allow_subclasses=False
    np.float32(1), 1.0|np.int64(1), 1|np.int64(1), 1.0|meta, a|meta, meta|meta, meta[None]|meta, a, check_device=False
    [1.0, 2.0], a|a, 1.0|torch.tensor(1.0), 1.0|object(), object()|"a", "a"|None, a
"""


@pytest.mark.oracle
@pytest.mark.parametrize("call", [call.strip() for call in re.split(r"[|\n]", COMPARED) if call.strip()])
def test_assert_close_takes_and_refuses_what_pytorchs_does(call: str) -> None:
    def said(T: Any) -> str:
        known = {"torch": T, "nn": T.nn, "np": np, "a": T.ones(2), "meta": T.ones(2, device="meta"),
                 "Sub": type("Sub", (T.Tensor,), {}), "check": T.testing.assert_close}
        try:
            eval(f"check({call})", known)
        except (AssertionError, TypeError) as e:
            return f"{type(e).__name__}: {e}".replace("retrograd.", "torch.")
        return "close"

    assert said(torch) == said(pytest.importorskip("torch"))


def test_a_tensor_says_where_it_is() -> None:
    a = torch.zeros(3, 2)
    assert a.get_device() == -1 and a.is_cpu and not a.is_xpu and not a.is_shared() and a.to_dense() is a
    assert a.t().dim_order() == (1, 0)
    assert a.fill_diagonal_(5.0).tolist() == [[5.0, 0.0], [0.0, 5.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        a.pin_memory()


def test_config_says_what_it_is_built_of() -> None:
    shown, threads = torch.__config__.show(), torch.__config__.parallel_info()
    assert shown.startswith(f"retrograd {torch.version.retrograd}") and f"NumPy: {np.__version__}" in shown and "build: " in shown
    assert f"torch.get_num_threads() : {torch.get_num_threads()}\n" in threads and "OPENBLAS_NUM_THREADS : " in threads


def test_an_empty_tensor_in_another_order_is_of_the_cpu() -> None:
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        torch.empty_permuted((2, 3), (1, 0), device="cuda")
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        torch.empty_strided((2, 3), (1, 2), device="cuda")


def test_usage_is_not_reported() -> None:
    assert torch._C._log_api_usage_once("some.model") is None


def test_warnings_that_come_once_always_come_after_set_warn_always() -> None:
    x = torch.ones(1, requires_grad=True)
    torch.set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="to a scalar"):
                float(x)
    finally:
        torch.set_warn_always(False)


@pytest.mark.oracle
def test_deprecations_of_shapes_warn_once_unless_always() -> None:
    import torch as pytorch

    calls = ("torch.ones(3).T", "torch.ones(()).mT", "torch.ones(()).adjoint()",
             "torch.ones(1, 3).scatter(0, torch.zeros(1, 3).long(), torch.ones(1, 3), reduce='add')",
             "torch.where(torch.ones(3).byte(), torch.ones(3), torch.ones(3))")

    def counts(engine: Any) -> list[int]:
        found = []
        for call in calls:
            for always in (True, False, False):
                engine.set_warn_always(always)
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    for _ in range(2):
                        eval(call, {"torch": engine})
                found.append(len(seen))
        return found

    def later(found: list[int]) -> list[int]:
        return [n for i, n in enumerate(found) if i % 3 != 1]       # another test may have spent the one warning

    assert later(counts(torch)) == later(counts(pytorch)) == [2, 0] * len(calls)
