"""DistributedDataParallel on two ranks, beside PyTorch's over gloo; and what PyTorch has for GPUs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
import retrograd.distributed as dist
from retrograd.nn.parallel.buckets import by_size

from .ranks import needs_mpi, ours, theirs


@needs_mpi
@pytest.mark.oracle
@pytest.mark.once
@pytest.mark.parametrize("program", ["ddp.py", "sharded.py"])
def test_what_comes_of_training_hooks_buckets_states_and_errors_are_pytorchs_over_gloo(program: str, tmp_path: Path) -> None:
    for name, start in (("ours", ours), ("theirs", theirs)):
        (tmp_path / name).mkdir()
        start(2, program, str(tmp_path / name))
    for rank in "01":
        mine, other = ((tmp_path / name / rank).read_text().splitlines() for name in ("ours", "theirs"))
        assert len(mine) > 75 and [pair for pair in zip(mine, other, strict=True) if pair[0] != pair[1]] == []


@needs_mpi
@pytest.mark.once
@pytest.mark.parametrize("n", [2, 4])
def test_ranks_train_as_one_process_with_the_whole_batch(n: int) -> None:
    assert ours(n, "alike.py").stdout.count("as expected\n") == n


@needs_mpi
@pytest.mark.once
@pytest.mark.parametrize("n", [1, 2, 4])
def test_each_gradient_crosses_a_ring_once_2_n_minus_1_messages_a_bucket(n: int) -> None:
    """2 (n - 1) / n of its bytes for each rank; `counted.py 0.05` measures how much of a slow link's time is hidden."""
    assert ours(n, "counted.py").stdout.count("as expected\n") == n


def test_buckets_close_once_they_have_as_many_bytes_as_the_limit() -> None:
    sizes = [torch.zeros(n) for n in (1, 2, 3, 4)] + [torch.zeros(5, dtype=torch.float64)]
    assert by_size(sizes, [8, 20]) == [[0, 1], [2, 3], [4]]
    assert by_size(sizes[:2], [8], [1, 0]) == [[1, 0]]


@pytest.mark.parametrize("option", [
    {"mixed_precision": object()}, {"bucket_cap_mb_list": [1]},
    {"skip_all_reduce_unused_params": True}, {"delay_all_reduce_named_params": []}, {"param_to_hook_all_reduce": object()}])
def test_options_that_are_not_there_are_refused(option: dict[str, object]) -> None:
    with pytest.raises(NotImplementedError, match=next(iter(option))):
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), **option)  # type: ignore[arg-type]


def test_a_model_is_refused_before_there_are_ranks() -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))


@pytest.mark.parametrize("given, text", [
    (None, "DDP communication hook's callback must return a torch.futures.Future object, but got NoneType"),
    (torch.ones(8), "must return a torch.futures.Future object, but got Tensor"),
    (3, "must hold a tensor of 8 elements, as the bucket's buffer.. has, got 3"),
    (torch.ones(3), "must hold a tensor of 8 elements, as the bucket's buffer.. has, got a tensor of shape .3."),
])
def test_what_a_communication_hook_returns_is_checked_instead_of_gradients_of_this_rank_alone(given: Any, text: str) -> None:
    def hook(state: object, bucket: dist.GradBucket) -> Any:
        if "must return" in text:
            return given
        found: torch.futures.Future[Any] = torch.futures.Future()
        found.set_result(given)
        return found

    dist.init_process_group("mpi")
    try:
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
        model.register_comm_hook(None, hook)
        with pytest.raises(RuntimeError, match=text):
            model(torch.ones(1, 3)).sum().backward()
    finally:
        dist.destroy_process_group()
