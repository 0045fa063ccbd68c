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


@pytest.mark.oracle
@pytest.mark.parametrize("program", [fourier_operator, circuit, phases, spectral_loss])
def test_programs_learn_as_on_pytorch(program: Any) -> None:
    theirs = pytest.importorskip("torch")
    got, want = program(retrograd), program(theirs)
    assert got == pytest.approx(want, rel=1e-3 if program is fourier_operator else 1e-7)
    assert want[-1] < want[0] or program is spectral_loss
