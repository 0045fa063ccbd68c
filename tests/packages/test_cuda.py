"""torch.cuda's classes and functions without a GPU, and the modules of torch.distributed that are names alone."""
from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import retrograd as torch

CALLS = """
StreamContext(None).__enter__() stream(None).__exit__(1,2,3) set_stream(None) nvtx.range_push('a') nvtx.range_pop() nvtx.mark('a')
nvtx.range('x').__enter__() graph(None) is_current_stream_capturing() graph_pool_handle() MemPool() current_stream()
get_device_properties(0) get_device_capability() mem_get_info() device(-1).__enter__() device(0).__enter__() device('cpu')
device_of(torch.ones(1)).__enter__() ipc_collect() memory_stats() memory_reserved() get_rng_state() get_rng_state_all()
set_rng_state_all([]) init() get_arch_list() seed_all() initial_seed() can_device_access_peer(0,1) default_generators has_half
is_tf32_supported() set_per_process_memory_fraction(.5) OutOfMemoryError.__mro__[1]""".split()


def found(torch: Any, call: str) -> Any:
    try:
        return eval(f"torch.cuda.{call}", {"torch": torch})
    except Exception as error:
        return type(error), str(error).partition("\n")[0]


@pytest.mark.oracle
@pytest.mark.parametrize("call", CALLS)
def test_without_a_gpu_torch_cuda_answers_as_pytorchs(call: str) -> None:
    import torch as theirs

    if theirs.cuda.is_available():
        pytest.skip("PyTorch has a GPU here")
    theirs_nvtx = getattr(theirs.cuda, "nvtx", None)
    assert theirs_nvtx is not None and found(torch, call) == found(theirs, call)


def test_names_of_sharding_can_be_imported_and_say_what_is_missing() -> None:
    tensor = import_module("retrograd.distributed.tensor")
    assert not isinstance(torch.ones(1), tensor.DTensor) and tensor.DTensor is tensor.DTensor
    with pytest.raises(NotImplementedError, match="'torch.distributed.tensor.distribute_tensor'"):
        tensor.distribute_tensor(torch.ones(1))
    with pytest.raises(NotImplementedError, match="'torch.distributed.fsdp.FullyShardedDataParallel'"):
        import_module("retrograd.distributed.fsdp").FullyShardedDataParallel(None)
    with pytest.raises(AttributeError):
        _ = tensor.nobody
