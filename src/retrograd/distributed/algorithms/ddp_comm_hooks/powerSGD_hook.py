"""PowerSGD: a gradient matrix travels as two thin factors (Vogels et al. 2019, arXiv 1905.13727).

M (n, m) of each rank is approximated by P Q', where P (n, r) = M Q, summed over the ranks and made orthonormal, and Q (m, r) =
M' P, averaged. What that leaves out is added to the rank's next gradient; Q is where the next step starts.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...._engine.tensor import wrap
from ...._functions.create import randn
from ...._tensor.dtypes import float32
from ....futures import Future
from ....random import Generator
from ...collectives import all_reduce, parts
from ...process_group import found
from .default_hooks import mean

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]
Array = Any


class PowerSGDState:
    """What PowerSGD keeps from step to step.

    matrix_approximation_rank     r: more is nearer to the mean, and more to send
    start_powerSGD_iter           steps before it with the plain mean; at least 2 with error feedback or a warm start
    min_compression_rate          matrices of which the factors would not be that much smaller travel whole
    use_error_feedback            add what was left out to the next gradient
    warm_start                    begin with the last step's Q instead of random numbers, from random_seed
    """

    def __init__(
        self, process_group: Any, matrix_approximation_rank: int = 1, start_powerSGD_iter: int = 1000,
        min_compression_rate: float = 2, use_error_feedback: bool = True, warm_start: bool = True,
        orthogonalization_epsilon: float = 0, random_seed: int = 0, compression_stats_logging_frequency: int = 10000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError("Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, because "
                             "PowerSGD can only be applied after the first two iterations in DDP.")
        self.process_group = process_group
        self.matrix_approximation_rank, self.start_powerSGD_iter = matrix_approximation_rank, start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)
        self.error_dict: dict[int, Array] = {}
        self.q_memory_dict: dict[int, list[Array]] = {}
        self.iter = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "process_group": None}        # of another run

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count a step at its last bucket."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """(how many times less was sent, numbers before, numbers sent)"""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0), before, after


def powerSGD_hook(state: PowerSGDState, bucket: Any) -> Future[Any]:
    """Each parameter's gradient is a matrix of as many rows as its first dimension has."""
    matrices = [g.array.reshape(g.shape[0] if g.ndim else 1, -1) for g in bucket.gradients()]
    return compressed(state, bucket, matrices, bucket.buffer())


def batched_powerSGD_hook(state: PowerSGDState, bucket: Any) -> Future[Any]:
    """All of a bucket's gradients are one square matrix: quicker, and less exact."""
    buffer = bucket.buffer()
    side = math.ceil(math.sqrt(buffer.array.size))
    square = np.zeros((side, side), buffer.array.dtype)
    square.reshape(-1)[:buffer.array.size] = buffer.array
    done = compressed(state, bucket, [square], wrap(square.reshape(-1)))
    return done.then(lambda f: buffer.copy_(f.value()[:buffer.array.size]))


def compressed(state: PowerSGDState, bucket: Any, matrices: list[Array], whole: Any) -> Future[Any]:
    """A Future of `whole`, whose parts the matrices are, once it holds the approximate mean."""
    pg, index = found(state.process_group), bucket.index()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(state.process_group, whole)
    if state.use_error_feedback:
        whole.array[...] += state.error_dict.get(index, 0)
        wanted = whole.array.copy()
    thin = sorted((i for i, m in enumerate(matrices) if worth(state, m)),
                  key=lambda i: [m.shape for m in matrices].index(matrices[i].shape))
    rest = [m for i, m in enumerate(matrices) if i not in thin]
    for i, m in enumerate(matrices):
        state.total_numel_before_compression += m.size
        state.total_numel_after_compression += sum(m.shape) * rank_of(state, m) if i in thin else m.size
    chosen = [matrices[i] for i in thin]
    qs = state.q_memory_dict.get(index) or random_factors(state, chosen)
    ps = [m @ orthonormal(q) for m, q in zip(chosen, qs, strict=True)]
    plain = all_reduce(flat(rest), group=state.process_group, async_op=True) if rest else None
    work = all_reduce(flat(ps), group=state.process_group, async_op=True)
    assert work is not None

    def finish(done: Future[Any]) -> Any:
        bases = [orthonormal(p) for p in divided(done.value()[0].array, ps)]
        together = flat([m.T @ p for m, p in zip(chosen, bases, strict=True)])
        all_reduce(together, group=state.process_group)
        together.array[...] /= pg.n
        means = divided(together.array, qs)
        for m, p, q in zip(chosen, bases, means, strict=True):
            m[...] = p @ q.T
        if plain is not None:
            for m, got in zip(rest, divided(plain.result()[0].array, rest), strict=True):
                m[...] = got / pg.n
        if state.use_error_feedback:
            state.error_dict[index] = wanted - whole.array
        if state.warm_start:
            state.q_memory_dict[index] = means
        state.maybe_increase_iter(bucket)
        return whole

    return work.get_future().then(finish)


def rank_of(state: PowerSGDState, m: Array) -> int:
    return min(*m.shape, state.matrix_approximation_rank)


def worth(state: PowerSGDState, m: Array) -> bool:
    """Are its factors so much smaller?"""
    return bool(sum(m.shape) * rank_of(state, m) * state.min_compression_rate < m.size)


def random_factors(state: PowerSGDState, matrices: list[Array]) -> list[Array]:
    """The same on all ranks, others at each step."""
    generator = Generator().manual_seed(int(state.rng.randint(1_000_000_000)))
    return [randn(m.shape[1], rank_of(state, m), generator=generator, dtype=float32).array.astype(m.dtype) for m in matrices]


def orthonormal(m: Array) -> Array:
    return np.linalg.qr(m)[0]


def flat(arrays: list[Array]) -> Any:
    return wrap(np.concatenate([a.reshape(-1) for a in arrays]) if arrays else np.zeros(0, np.float32))


def divided(whole: Array, like: list[Array]) -> list[Array]:
    """Pieces of a flat array, in the shapes of others."""
    return [piece.reshape(a.shape) for piece, a in zip(parts(whole, [a.size for a in like]), like, strict=True)]
