"""What people do with per-sample gradients, each in a few lines, with its source.

They take a grads.Grads: with capture(model) as cap: loss.backward(); then cap.grads(scale="sample") where every sample's
own loss is meant.
"""
from __future__ import annotations

from typing import Any

from ..arguments import checked
from ..errors import CaptureError
from ..listen import engine_of
from ..plain_text import few
from .grads import Grads, of_same_parameters
from .terms import Outer


@checked
def sampling_probabilities(norms: Any, uniform: float = 0.0) -> Any:
    """(N,) probabilities proportional to gradient norms, for importance sampling of training samples.

    norms    (N,) gradient norms, of the last layer or of all
    uniform  weight of the uniform distribution that is mixed in, 0 to 1
    ValueError for negative norms, NaN and a weight outside [0, 1].
    Alain et al. 2015 (arXiv:1511.06481), Katharopoulos & Fleuret 2018 (arXiv:1803.00942).
    """
    if not hasattr(norms, "sum"):
        raise TypeError(f"sampling_probabilities: norms must be a tensor (N,), got {type(norms).__name__}")
    if not 0 <= uniform <= 1:
        raise ValueError(f"sampling_probabilities: uniform must be in [0, 1], got {uniform}")
    if not bool((norms >= 0).all()):
        raise ValueError("sampling_probabilities: norms must be 0 or more, got negative ones or NaN")
    total = norms.sum()
    if not float(total) > 0:
        return norms * 0 + 1 / len(norms)
    return norms / total * (1 - uniform) + uniform / len(norms)


def of_grads(function: str, *found: Any) -> None:
    """TypeError for what are no per-sample gradients."""
    for x in found:
        if not isinstance(x, Grads):
            raise TypeError(f"{function}: expected what capture.grads() gives, got {type(x).__name__}" + (
                ": call its grads()" if hasattr(x, "grads") else ""))


def of_own_losses(function: str, grads: Any) -> None:
    """TypeError for what are no per-sample gradients, CaptureError for those of a share of each sample's loss."""
    of_grads(function, grads)
    if shrunk := grads.shrunk():
        raise CaptureError(f"{function}: {shrunk}")


@checked
def norm_sampling(grads: Any, count: int, uniform: float = 0.1, generator: Any = None) -> tuple[Any, Any]:
    """(samples (count,), weights (count,)): drawn with replacement by gradient norm.

    grads      the samples to draw from
    count      number of draws
    uniform    weight of the uniform distribution, as in sampling_probabilities()
    generator  source of random numbers; by default the engine's own
    ValueError as in sampling_probabilities().
    weights are 1 / (N p): the weighted mean of the drawn losses is an unbiased estimate of the mean loss.
    """
    of_grads("norm_sampling", grads)
    p = sampling_probabilities(grads.norms(), uniform)
    drawn = grads.torch.multinomial(p, count, replacement=True, generator=generator)
    return drawn, 1 / (len(p) * p[drawn])


@checked
def tracin(train: Any, test: Any, lr: float = 1.0) -> Any:
    """(N_train, N_test): how much a step on a training sample lowers the loss of a test sample, to first order.

    train, test  Grads of both, at the same weights
    lr           learning rate of that step
    CaptureError unless both cover the same parameters and can be split by sample.
    Sum it over checkpoints, with each one's learning rate.  Pruthi et al. 2020 (arXiv:2002.08484).
    """
    of_grads("tracin", train, test)
    of_same_parameters("tracin", train, test)
    return train.dots(test) * lr


def influence(train: Any, test: Any, curvature: Any) -> Any:
    """(N_train, N_test): minus the change of a test sample's loss when a training sample gets more weight.

    train, test  Grads of both
    curvature    a KFAC of the training data (K-FAC, or EK-FAC after corrected())
    CaptureError unless both cover the same parameters.
    Positive: the training sample helps.  Koh & Liang 2017 (arXiv:1703.04730), Grosse et al. 2023 (arXiv:2308.03296).
    """
    of_grads("influence", train, test)
    of_same_parameters("influence", train, test)
    if not hasattr(curvature, "apply"):
        raise TypeError(f"influence: curvature must be a KFAC, as grads.kfac() makes, got {type(curvature).__name__}")
    solved = curvature.apply(test.per_sample())
    return inner(train, solved)


def inner(grads: Any, vectors: dict[str, Any], room: int = 1 << 24) -> Any:
    """(N, M): inner products of every sample's gradient with vectors {name: (M, *shape)}, `room` numbers at a time."""
    T = grads.torch
    rows = []
    with T.no_grad():
        for k in range(len(grads._parts)):
            total: Any = 0
            for name in grads.names:
                term, f = grads._parts[k].get(name), grads._factors[k]
                if term is None:
                    continue
                V = vectors[name].reshape(len(vectors[name]), -1)
                if isinstance(term, Outer):
                    a, d = term.factors
                    step = max(1, room // (a.shape[-1] * d.shape[-1]))
                    pieces = [((d[i:i + step].transpose(1, 2) @ a[i:i + step]).reshape(-1, V.shape[1]).to(V.dtype) @ V.T)
                              for i in range(0, len(a), step)]
                    got = pieces[0] if len(pieces) == 1 else T.cat(pieces)
                else:
                    got = term.per_sample().reshape(term.N, -1).to(V.dtype) @ V.T
                total = total + got * f
            rows.append(total)
    return rows[0] if len(rows) == 1 else T.cat(rows)


@checked
def private_gradient(grads: Any, max_norm: float, noise_multiplier: float, expected: int | None = None,
                     generator: Any = None) -> dict[str, Any]:
    """{name: gradient}: clipped per sample, summed, with Gaussian noise, divided by the expected batch size.

    grads             of the batch, as grads(scale="sample"): every sample's own gradient
    max_norm          norm to which each sample's gradient is clipped
    noise_multiplier  standard deviation of the noise over max_norm, in each part of complex numbers
    expected          batch size to divide by; the expected one under Poisson sampling; by default len(grads)
    generator         source of the noise; by default the engine's own
    ValueError for a negative noise_multiplier and an expected that is not positive; CaptureError if the loss is not known to
    keep samples apart.  Abadi et al. 2016 (arXiv:1607.00133).
    """
    of_own_losses("private_gradient", grads)
    if not noise_multiplier >= 0:
        raise ValueError(f"private_gradient: noise_multiplier must not be negative, got {noise_multiplier}")
    if expected is not None and not expected > 0:
        raise ValueError(f"private_gradient: expected, the batch size to divide by, must be positive, got {expected}")
    mixes = grads.cap.coverage().loss_mixes
    if mixes:
        raise CaptureError(f"private_gradient: the loss is not known to keep samples apart ({mixes}), so a sample's gradient "
                           "depends on others and is not private")
    share = len(grads) if expected is None else expected
    return {name: noisy(grads.torch, g, noise_multiplier * max_norm, generator) / share
            for name, g in grads.clip(max_norm).items()}


def noisy(T: Any, g: Any, deviation: float, generator: Any) -> Any:
    """g with Gaussian noise, drawn in the default dtype: in both parts of complex numbers, each with this deviation."""
    if g.is_complex():
        return T.view_as_complex(noisy(T, T.view_as_real(g.resolve_conj()), deviation, generator))
    return g + T.randn(*g.shape, generator=generator).to(g.dtype).to(g.device) * deviation if deviation else g


@checked
def dp_sgd_step(grads: Any, optimizer: Any, max_norm: float, noise_multiplier: float, expected: int | None = None,
                generator: Any = None) -> None:
    """Put private_gradient into every parameter's .grad and call the optimizer's step.

    grads             None if Poisson sampling drew no sample: the step is noise alone, and expected must be given
    optimizer         whose step() is called, of the captured model
    max_norm, noise_multiplier, expected, generator  as in private_gradient()
    UncoveredError if a parameter with a gradient is not covered per sample: its step would not be private.  CaptureError if
    the optimizer holds other parameters with gradients, or none of these.
    """
    if not hasattr(optimizer, "param_groups"):
        raise TypeError(f"dp_sgd_step: expected an optimizer, got {type(optimizer).__name__}")
    if grads is None:
        if expected is None or not expected > 0:
            raise ValueError(f"dp_sgd_step: an empty draw needs expected, the batch size to divide by, got {expected}")
        for p in (p for group in optimizer.param_groups for p in group["params"] if p.requires_grad):
            T = engine_of(p).torch
            p.grad = noisy(T, T.zeros_like(p), noise_multiplier * max_norm, generator) / expected
        optimizer.step()
        return
    of_own_losses("dp_sgd_step", grads)
    if grads.partial:
        raise CaptureError("dp_sgd_step: partial=True leaves out parameters, whose gradients would not be private")
    private = private_gradient(grads, max_norm, noise_multiplier, expected, generator)
    names = {id(p.tensor): p.name for p in grads.cap.params}
    held = [p for group in optimizer.param_groups for p in group["params"]]
    left = [names.get(id(p), f"a parameter of shape {tuple(p.shape)} outside the captured model")
            for p in held if p.grad is not None and names.get(id(p)) not in private]
    if left:
        raise CaptureError(
            f"dp_sgd_step: the optimizer trains {few(left)}, whose gradient is not among these; capture it, freeze it, or set "
            "its .grad to None")
    if all(names.get(id(p)) not in private for p in held):
        raise CaptureError("dp_sgd_step: the optimizer holds no parameter of these gradients; was it made for another model?")
    for p in grads.cap.params:
        if p.name in private:
            p.tensor.grad = private[p.name].to(p.tensor.dtype)
    optimizer.step()


@checked
def epsilon(noise_multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    """The privacy budget spent: epsilon of DP-SGD with Poisson sampling.

    noise_multiplier  standard deviation of the noise over max_norm
    sample_rate       probability with which a sample is in a batch
    steps             how many were taken
    delta             the delta that epsilon refers to
    Computed by the Renyi accountant of dp-accounting, or of opacus; ImportError if neither is installed.
    """
    if not (0 < sample_rate <= 1 and steps >= 0 and 0 < delta < 1 and noise_multiplier > 0):
        raise ValueError("epsilon: expected noise_multiplier > 0, 0 < sample_rate <= 1, steps >= 0, 0 < delta < 1")
    try:
        import dp_accounting
        from dp_accounting import rdp
    except ImportError:
        pass
    else:
        event = dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(sample_rate, dp_accounting.GaussianDpEvent(noise_multiplier)), steps)
        return float(rdp.RdpAccountant().compose(event).get_epsilon(delta))
    try:
        from opacus.accountants import RDPAccountant
    except ImportError:
        raise ImportError("epsilon needs the package dp-accounting (or opacus): pip install dp-accounting") from None
    accountant = RDPAccountant()
    accountant.history = [(noise_multiplier, sample_rate, steps)]
    return float(accountant.get_epsilon(delta))


@checked
def fisher_diagonal(grads: Any, room: int = 1 << 24) -> dict[str, Any]:
    """{name: (*shape)}: mean of squared per-sample gradients, |g|^2 (the empirical Fisher matrix's diagonal).

    grads  of the samples' own losses: grads(scale="sample")
    room   most numbers of per-sample gradients to hold at a time
    CaptureError for gradients that the loss's reduction made smaller, or that cannot be split by sample.
    Kirkpatrick et al. 2017 (arXiv:1612.00796) use it to weigh what must not be forgotten.
    """
    of_own_losses("fisher_diagonal", grads)
    T = grads.torch
    grads._samples("fisher_diagonal")
    found = {}
    with T.no_grad():
        for name in grads.names:
            total: Any = 0
            for t, f, _ in grads._each(name):
                if t is None:
                    continue
                if isinstance(t, Outer):
                    a, d = t.factors
                    if a.shape[1] == 1:
                        got = (squared(d[:, 0]).T @ squared(a[:, 0])).reshape(t.shape)
                    else:
                        step = max(1, room // (a.shape[-1] * d.shape[-1]))
                        got = sum(squared(d[i:i + step].transpose(1, 2) @ a[i:i + step]).sum(0)
                                  for i in range(0, len(a), step)).reshape(t.shape)
                else:
                    got = squared(t.per_sample()).sum(0)
                total = total + got * (f * f)
            found[name] = total / len(grads)
    return found


def squared(t: Any) -> Any:
    """|t|^2 of each number."""
    return (t.abs() if t.is_complex() else t).pow(2)


def noise_scale(grads: Any) -> dict[str, float]:
    """{"noise_scale": tr(S) / |G|^2, "trace": tr(S), "squared_norm": |G|^2}, unbiased, from one batch.

    grads  of at least two samples' own losses: grads(scale="sample")
    CaptureError for a single sample.
    G is the true gradient, S the covariance of per-sample gradients: roughly the batch size beyond which more samples stop
    helping.  McCandlish et al. 2018 (arXiv:1812.06162), "simple" noise scale.
    """
    of_own_losses("noise_scale", grads)
    N = len(grads)
    if N < 2:
        raise CaptureError("noise_scale: one sample has no spread; give a batch of at least two")
    squares = float(grads.norms().pow(2).mean())
    mean = sum(float(squared(g).sum()) for g in grads.weight_grad("mean").values())
    trace = N / (N - 1) * (squares - mean)
    norm = mean - trace / N
    return {"noise_scale": trace / norm if norm > 0 else float("inf"), "trace": trace, "squared_norm": norm}
