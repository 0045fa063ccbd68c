"""torch.fft, torch.stft and torch.istft: values, derivatives and errors as PyTorch's."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd

# of real x (3, 4, 5) and complex z (3, 4, 5)
TRANSFORMS = """
fft.fft(z) | fft.fft(x) | fft.fft(z, 7) | fft.fft(x, 3, 0) | fft.fft(z, dim=1, norm="ortho") | fft.ifft(z, norm="forward")
fft.ifft(x, 2)
fft.rfft(x) | fft.rfft(x, 4, norm="ortho") | fft.rfft(x, dim=1, norm="forward") | fft.irfft(z) | fft.irfft(z, 5)
fft.irfft(x, 4, 1) | fft.irfft(z, 9, norm="ortho")
fft.hfft(z) | fft.hfft(x, 5, norm="ortho") | fft.ihfft(x) | fft.ihfft(x, 7, 1, "forward") | fft.fft2(z)
fft.ifft2(x, (2, 7)) | fft.rfft2(x) | fft.irfft2(z, norm="ortho")
fft.fftn(z) | fft.fftn(x, dim=(0, 2)) | fft.ifftn(z, (2, 6)) | fft.rfftn(x) | fft.rfftn(x, (4, 4), (2, 0)) | fft.irfftn(z)
fft.irfftn(z, (3, 5), (0, 1))
fft.hfft2(z) | fft.ihfft2(x) | fft.hfftn(z, (2, 4, 6)) | fft.ihfftn(x, norm="ortho") | fft.fftshift(z) | fft.ifftshift(x, 1)
torch.stft(x[0], 4, return_complex=True) | torch.stft(x[0], 4, 2, 3, x[0, 0, :3], False, return_complex=True)
torch.stft(z[0], 2, 1, onesided=False, center=False)
torch.stft(x[0], 4, normalized=True, pad_mode="replicate", return_complex=True) | torch.istft(z, 6, 2)
torch.istft(z[0], 6, 3, 5, x[0, 0].abs() + 1)
torch.istft(z, 4, 2, onesided=False, length=9, return_complex=True) | torch.istft(z, 6, 2, normalized=True, center=False)
"""
ERRORS = """
fft.fft(x, 0) | fft.fft(x, dim=3) | fft.fft(x, norm="abc") | fft.fft(x.half()) | fft.rfft(z) | fft.ihfft(z)
fft.fft(torch.tensor(1.)) | fft.fftn(x, dim=(0, 0))
fft.fftn(x, (1,), (0, 1)) | fft.fftn(x, (1,) * 4) | fft.irfft(z[..., :1]) | fft.rfftn(z) | fft.rfftn(x, dim=())
fft.irfftn(x, dim=()) | fft.fft2(x[0, 0])
fft.fft(z, out=torch.zeros(2)) | fft.irfft(z, out=torch.zeros(2, dtype=torch.cfloat)) | fft.fftfreq(4, dtype=torch.int64)
fft.fft("a") | fft.ihfftn(z)
torch.stft(x[0], 4) | torch.stft(x[0], 2, 0, return_complex=True) | torch.stft(x, 2, return_complex=True) | torch.istft(x, 4)
torch.istft(z, 6, 7)
torch.istft(z, 6, return_complex=True) | torch.istft(z, 6, 2, window=torch.zeros(6, dtype=torch.double))
torch.stft(x[0], 4, window=torch.ones(3), return_complex=True) | torch.stft(x[0].bfloat16(), 4, return_complex=True)
torch.istft(z, 6, 2, length=0) | torch.istft(z[0, 0], 6) | torch.istft(z[0, 0, 0], 6) | torch.functional.istft(z, 6, 0)
torch.functional.stft(x[0], 4) | fft.fftfreq(-1) | torch.stft(z[0], 2, return_complex=True)
torch.stft(z[0], 4, window=torch.ones(3, dtype=torch.cfloat))
torch.stft(x[0], 4, window=[1.0]) | torch.stft(x[0], 4, window=3, return_complex=True)
torch.stft(x[0], 4.0, return_complex=True) | torch.stft(x[0], 4, 1.5, return_complex=True)
torch.stft(x[0], 4, 1, 2.5, return_complex=True)
torch.stft(x[0], 4, center=None, return_complex=1) | torch.istft(z, 4.0) | torch.istft(z, 6, window=[1.0])
fft.hfft2(x[0, 0].half()) | fft.irfftn(x.half(), dim=4) | fft.ihfft2(z[0, 0]) | fft.rfft2(z[0, 0]) | fft.ihfft2(z)
fft.irfft2(x.half())
fft.fftfreq(4, out=torch.empty(4, dtype=torch.int64)) | fft.rfftfreq(4, out=torch.empty(3, dtype=torch.int64))
fft.fftfreq(4, out=torch.empty(4), dtype=torch.double) | fft.rfftfreq(4, out=torch.empty(3).double(), dtype=torch.float)
fft.fftfreq(4, out=torch.empty(4).cfloat()) | fft.ihfft(x, out=torch.empty(0).cfloat()) | fft.ifft(x, out=torch.empty(0).cfloat())
"""


def names(torch: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, y = torch.from_numpy(rng.normal(size=(3, 4, 5))), torch.from_numpy(rng.normal(size=(3, 4, 5)))
    return {"torch": torch, "fft": torch.fft, "x": x, "z": torch.complex(x * 2, y)}


def derivatives(torch: Any, source: str) -> list[Any]:
    """The value, and gradients of the first and second order."""
    space = names(torch)
    leaves = [space["x"].requires_grad_(), space["z"].requires_grad_()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")         # no window
        y = eval(source, space)
    first = [g for g in torch.autograd.grad((y.abs() ** 3).sum(), leaves, create_graph=True, allow_unused=True) if g is not None]
    second = torch.autograd.grad(sum((g.abs() ** 2).sum() for g in first), leaves, allow_unused=True)
    return [np.asarray(v.detach().resolve_conj().numpy()) for v in (y, *first, *second) if v is not None]


@pytest.mark.oracle
@pytest.mark.parametrize("source", TRANSFORMS.strip().replace("\n", " | ").split(" | "))
def test_transforms_and_their_gradients_are_pytorchs(source: str) -> None:
    theirs = pytest.importorskip("torch")
    for got, want in zip(derivatives(retrograd, source), derivatives(theirs, source), strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, 1e-8, 1e-10 * float(np.abs(want).max()))


@pytest.mark.oracle
@pytest.mark.parametrize("source", ERRORS.strip().replace("\n", " | ").split(" | "))
def test_errors_are_pytorchs(source: str) -> None:
    theirs = pytest.importorskip("torch")
    told = []
    for torch in (retrograd, theirs):
        with pytest.raises(Exception) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(source, names(torch))
        told.append((caught.type, str(caught.value).splitlines()[0]))
    assert told[0] == told[1]


@both
def test_single_precision_stays(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 4.0, 8.0])
    assert torch.fft.fft(x).dtype is torch.complex64
    assert torch.fft.rfft(x).tolist() == [15, -3 + 6j, -5]
    assert torch.fft.irfft(torch.fft.rfft(x)).tolist() == x.tolist()
    assert torch.fft.fft(torch.tensor([1, 2])).dtype is torch.complex64
    assert repr(torch.fft.fftfreq(4, 0.5)) == "tensor([ 0.0000,  0.5000, -1.0000, -0.5000])"
    assert repr(torch.fft.rfft(x.requires_grad_())).endswith("grad_fn=<FftR2CBackward0>)")


@pytest.mark.oracle
@pytest.mark.parametrize("installed", [True, False], ids=["with SciPy", "without SciPy"])
@pytest.mark.parametrize("call", [
    "fft(z)", "fft(x, dim=0)", "ifft(z, 19, 1, 'ortho')", "fftn(z)", "ifft2(z, dim=(0, 2), norm='forward')", "rfft(x)", "fftn(x)",
    "rfftn(x, norm='ortho')", "irfft(z)", "irfftn(z, dim=(2, 0))", "hfft2(z)", "ihfftn(x, norm='forward')"])
def test_transforms_of_many_numbers_are_pytorchs(call: str, installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch as theirs

    if installed:
        pytest.importorskip("scipy.fft")
    else:
        monkeypatch.setitem(sys.modules, "scipy.fft", None)
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(17, 16, 18, 2))
    for real, tolerance in (("float64", 1e-12), ("float32", 1e-5)):
        found = []
        for torch in (theirs, retrograd):
            x = torch.tensor(drawn[..., 0].astype(real), requires_grad=True)
            z = torch.view_as_complex(torch.tensor(drawn.astype(real))).requires_grad_()
            y = eval(f"torch.fft.{call}", {"torch": torch, "x": x, "z": z})
            (y.abs() ** 2).sum().backward()
            found.append([y.detach(), (x if z.grad is None else z).grad])
        for wanted, got in zip(*found):
            assert str(wanted.dtype) == str(got.dtype).replace("retrograd", "torch")
            wanted = wanted.resolve_conj().numpy()
            np.testing.assert_allclose(got.resolve_conj().numpy(), wanted, tolerance, tolerance * np.abs(wanted).max())


@both
def test_frequencies_of_no_points_or_no_distance_are_limits(torch: Any) -> None:
    assert str(torch.fft.fftfreq(4, 0)) == "tensor([nan, inf, -inf, -inf])"
    assert str(torch.fft.rfftfreq(0)) == "tensor([nan])"
    assert str(torch.fft.rfftfreq(-1)) == "tensor([-0.])" and torch.fft.rfftfreq(-2).shape == (0,)
    with pytest.raises(RuntimeError, match=r"negative dimension -1: \[-1\]"):
        torch.fft.rfftfreq(-5)
    assert torch.fft.fftfreq(0).shape == (0,)


@both
@pytest.mark.parametrize("name", ["normalized", "return_complex"])
def test_a_choice_of_stft_that_is_no_bool_is_refused(torch: Any, name: str) -> None:
    with pytest.raises(TypeError, match=r"stft\(\)"):
        torch.stft(torch.ones(9), 4, window=torch.ones(4), **{"return_complex": True, name: "window"})


@both
def test_a_result_is_written_to_out(torch: Any) -> None:
    out = torch.empty(0, dtype=torch.complex64)
    assert torch.fft.fft(torch.tensor([1.0, 2.0]), out=out) is out
    assert out.tolist() == [3, -1]


@both
def test_istft_undoes_stft(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 64, dtype=torch.float64)
    window = torch.hann_window(16, dtype=torch.float64)
    y = torch.istft(torch.stft(x, 16, 4, window=window, return_complex=True), 16, 4, window=window, length=64)
    assert (y - x).abs().max() < 1e-12


@pytest.mark.oracle
@pytest.mark.parametrize("call", [
    "x.half(), 4, window=w, return_complex=True", "x.half(), 4, window=w.half(), return_complex=True",
    "x.bfloat16(), 4, window=w.bfloat16(), return_complex=True", "x.half(), 4, window=w.half(), return_complex=False",
    "x, 4, window=w, return_complex=False"])
def test_short_time_transforms_warn_as_pytorchs(call: str) -> None:
    found = []
    for torch in (retrograd, pytest.importorskip("torch")):
        space = {"torch": torch, "x": torch.ones(16), "w": torch.ones(4)}
        torch.set_warn_always(True)
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    ended = str(eval(f"torch.stft({call})", space).dtype).partition(".")[2]
                except RuntimeError as e:
                    ended = str(e)
        finally:
            torch.set_warn_always(False)
        found.append((ended, [str(w.message).partition(" (Trig")[0] for w in told]))
    assert found[0] == found[1]
