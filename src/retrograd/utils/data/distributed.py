"""DistributedSampler: the share of a dataset that one of several processes reads."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..._functions.sampling import randperm
from ...random import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every num_replicas-th index of the dataset from `rank` on; shuffled anew for each epoch that set_epoch() names.

    All shares are of one length: the first indices come twice, or with drop_last the last ones not at all.
    num_replicas, rank  by default those of torch.distributed. ValueError where there is no group.
    shuffle             False: the dataset's order, in every epoch
    seed                the same on all ranks; it and the epoch decide the order
    """

    def __init__(self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False) -> None:
        if num_replicas is None or rank is None:
            from ...distributed import get_rank, get_world_size

            num_replicas = get_world_size() if num_replicas is None else num_replicas
            rank = get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last, self.shuffle, self.seed = 0, drop_last, shuffle, seed
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            order = randperm(n, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            order = list(range(n))
        if self.total_size > n:
            order = (order * math.ceil(self.total_size / n))
        return iter(order[self.rank:self.total_size:self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """epoch is the number that, with the seed, decides the order of the next pass."""
        self.epoch = epoch
