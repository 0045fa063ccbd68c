"""Programs on complex numbers learn as on PyTorch: operators in Fourier space, circuits, phases, spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd


def fourier_operator(torch: Any) -> list[float]:
    """A Fourier neural operator on Darcy's equation: -(a u')' = 1, solved for random a."""
    rng = np.random.default_rng(0)
    n = 32
    a = np.exp(np.cumsum(rng.normal(size=(16, n + 1)), 1) * 0.2)
    u = []
    for row in a:
        matrix = np.diag(row[:-1] + row[1:]) - np.diag(row[1:-1], 1) - np.diag(row[1:-1], -1)
        u.append(np.linalg.solve(matrix, np.full(n, 1.0 / n)))
    x, y = torch.from_numpy(a[:, 1:]).float().unsqueeze(1), torch.from_numpy(np.stack(u)).float().unsqueeze(1)

    class Spectral(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, width: int, modes: int) -> None:
            super().__init__()
            self.modes = modes
            self.weight = torch.nn.Parameter(torch.randn(width, width, modes, dtype=torch.cfloat) / width)

        def forward(self, x: Any) -> Any:
            spectrum = torch.fft.rfft(x)
            out = torch.zeros_like(spectrum)
            out[..., :self.modes] = torch.einsum("bik,iok->bok", spectrum[..., :self.modes], self.weight)
            return torch.fft.irfft(out, x.shape[-1])

    torch.manual_seed(0)
    lift, layer, side, down = torch.nn.Conv1d(1, 8, 1), Spectral(8, 6), torch.nn.Conv1d(8, 8, 1), torch.nn.Conv1d(8, 1, 1)
    params = [p for module in (lift, layer, side, down) for p in module.parameters()]
    optimizer = torch.optim.Adam(params, lr=0.01)
    losses = []
    for _ in range(4):
        h = lift(x)
        loss = torch.nn.functional.mse_loss(down(torch.nn.functional.gelu(layer(h) + side(h))), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def circuit(torch: Any) -> list[float]:
    """A state of 8 qubits, turned by angles and entangled, driven to a low energy."""
    qubits = 8
    angles = torch.linspace(0.1, 2.0, 2 * qubits, dtype=torch.float64).reshape(2, qubits).requires_grad_()

    def turned(state: Any, q: int, angle: Any) -> Any:
        c, s = torch.cos(angle / 2), torch.sin(angle / 2)
        gate = torch.stack([torch.complex(c, 0 * c), torch.complex(0 * s, -s), torch.complex(0 * s, -s), torch.complex(c, 0 * c)])
        return torch.tensordot(gate.reshape(2, 2), state, dims=([1], [q])).movedim(0, q)

    losses = []
    for _ in range(4):
        state = torch.zeros((2,) * qubits, dtype=torch.complex128)
        state[(0,) * qubits] = 1
        for layer in angles:
            for q in range(qubits):
                state = turned(state, q, layer[q])
            for q in range(qubits - 1):
                sign = torch.ones((2,) * qubits, dtype=torch.float64)
                sign.select(q, 1).select(q, 1).neg_()
                state = state * sign
        weights = state.abs() ** 2
        energy = sum((weights.select(q, 0).sum() - weights.select(q, 1).sum()) for q in range(qubits))
        (slope,) = torch.autograd.grad(energy, angles)
        with torch.no_grad():
            angles -= 0.2 * slope
        losses.append(energy.item())
    return losses


def phases(torch: Any) -> list[float]:
    """A signal found again from the sizes of its transform, by gradient descent on a complex tensor."""
    rng = np.random.default_rng(1)
    signal = torch.from_numpy(rng.normal(size=24) + 1j * rng.normal(size=24))
    mask = torch.from_numpy(np.exp(2j * np.pi * rng.uniform(size=(4, 24))))
    sizes = torch.fft.fft(mask * signal, norm="ortho").abs()
    z = torch.from_numpy(rng.normal(size=24) + 1j * rng.normal(size=24)).requires_grad_()
    losses = []
    for _ in range(10):
        loss = ((torch.fft.fft(mask * z, norm="ortho").abs() - sizes) ** 2).sum()
        z.grad = None
        loss.backward()
        with torch.no_grad():
            z -= 0.1 * z.grad
        losses.append(loss.item())
    return losses


def spectral_loss(torch: Any) -> list[float]:
    """A learnable filter in front of a spectrogram, trained to match that of another sound."""
    t = torch.arange(256, dtype=torch.float64) / 64
    sound, target = torch.sin(40 * t * t), torch.sin(40 * t * t + 1) * torch.exp(-t / 2)
    window = torch.hann_window(32, dtype=torch.float64).requires_grad_()
    taps = torch.zeros(1, 1, 9, dtype=torch.float64)
    taps[0, 0, 4] = 1
    taps.requires_grad_()
    optimizer = torch.optim.SGD([taps, window], lr=1e-4, momentum=0.9)
    losses = []
    for _ in range(4):
        y = torch.nn.functional.conv1d(sound[None, None], taps, padding=4)[0, 0]
        a, b = (torch.stft(v, 32, 8, window=window, return_complex=True).abs() for v in (y, target))
        loss = (a - b).norm() + ((a + 1e-3).log() - (b + 1e-3).log()).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    back = torch.istft(torch.stft(sound, 32, 8, window=window, return_complex=True), 32, 8, window=window)
    (slope,) = torch.autograd.grad((back ** 3).sum(), window)
    return [*losses, slope.norm().item()]


def operator_of_the_plane(torch: Any) -> list[float]:
    """A Fourier neural operator on Darcy's equation in the plane: -div(a grad u) = 1, solved by differences for random a."""
    rng = np.random.default_rng(2)
    n = 12
    waves = [np.cos(np.pi * k * np.arange(n + 1) / n) for k in range(4)]
    a = np.exp(np.einsum("bkl,ki,lj->bij", rng.normal(size=(6, 4, 4)) * 0.4, waves, waves))
    u = []
    for grid in a:
        matrix = np.zeros((n, n, n, n))                 # places inside; u is 0 outside
        for i, j in np.ndindex(n, n):
            for k, m in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                flow = (grid[i, j] + grid[min(max(k, 0), n), min(max(m, 0), n)]) / 2
                matrix[i, j, i, j] += flow
                if 0 <= k < n and 0 <= m < n:
                    matrix[i, j, k, m] -= flow
        u.append(np.linalg.solve(matrix.reshape(n * n, n * n), np.full(n * n, 1.0 / n)).reshape(n, n))
    x, y = (torch.from_numpy(v).unsqueeze(1) for v in (a[:, :n, :n].copy(), np.stack(u)))

    class Spectral(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, width: int, modes: int) -> None:
            super().__init__()
            self.modes = modes
            self.low, self.high = (
                torch.nn.Parameter(torch.randn(width, width, modes, modes, dtype=torch.cdouble) / width) for _ in range(2))

        def forward(self, x: Any) -> Any:
            m, spectrum = self.modes, torch.fft.rfft2(x)
            out = torch.zeros_like(spectrum)
            out[..., :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[..., :m, :m], self.low)
            out[..., -m:, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[..., -m:, :m], self.high)
            return torch.fft.irfft2(out, x.shape[-2:])

    torch.manual_seed(0)
    lift, side, down = (torch.nn.Conv2d(*c, 1, dtype=torch.double) for c in ((1, 6), (6, 6), (6, 1)))
    layers = [Spectral(6, 3), Spectral(6, 3)]
    optimizer = torch.optim.Adam([p for module in (lift, side, down, *layers) for p in module.parameters()], lr=0.01)
    losses = []
    for _ in range(6):
        h = lift(x)
        for layer in layers:
            h = torch.nn.functional.gelu(layer(h) + side(h))
        loss = ((down(h) - y).flatten(1).norm(dim=1) / y.flatten(1).norm(dim=1)).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for layer in layers for p in layer.parameters()], 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def filter_bank(torch: Any) -> list[float]:
    """Filters over the frequencies of a short-time transform, learnt so that the sound of each can be told by its energy."""
    rng = np.random.default_rng(3)
    t = np.arange(256) / 256
    kinds = rng.integers(0, 3, 12)
    sounds = torch.from_numpy(np.stack([np.sin(2 * np.pi * (20 + 25 * k) * t + p) for k, p in zip(kinds, rng.uniform(0, 6, 12))])
                              + 0.1 * rng.normal(size=(12, 256)))
    labels, window = torch.from_numpy(kinds), torch.hann_window(32, dtype=torch.double)
    centres = torch.tensor([2.0, 6.0, 12.0], dtype=torch.double, requires_grad=True)
    widths = torch.full((3,), 3.0, dtype=torch.double, requires_grad=True)
    turns = torch.zeros(3, 17, dtype=torch.double, requires_grad=True)      # of the phase of each frequency
    optimizer = torch.optim.Adam([centres, widths, turns], lr=0.1)
    losses = []
    for _ in range(6):
        places = torch.arange(17, dtype=torch.double)
        size = torch.exp(-((places - centres[:, None]) / widths[:, None]) ** 2)
        bank = torch.polar(size, turns)
        bands = torch.stft(sounds, 32, 8, window=window, return_complex=True)[:, None] * bank[:, :, None]
        heard = torch.istft(bands.flatten(0, 1), 32, 8, window=window, length=256).reshape(12, 3, 256)
        loss = torch.nn.functional.cross_entropy(heard.square().mean(-1).add(1e-6).log(), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [*losses, turns.grad.norm().item()]


@pytest.mark.oracle
@pytest.mark.parametrize("program", [fourier_operator, operator_of_the_plane, circuit, phases, spectral_loss, filter_bank])
def test_programs_learn_as_on_pytorch(program: Any) -> None:
    theirs = pytest.importorskip("torch")
    got, want = program(retrograd), program(theirs)
    assert got == pytest.approx(want, rel=1e-3 if program is fourier_operator else 1e-7)
    assert want[3] < want[0] or program is spectral_loss
