"""Writes those of src/retrograd/_packages that say there is no such device, or no other process, or forward."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent, wrap

from retrograd._missing.lacks import LACKS

FOLDER = Path(__file__).resolve().parent.parent / "src" / "retrograd" / "_packages"
HEAD = '''"""{doc}

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

'''
OF_NONE = {"None": "", "Any": "", "int": "\n    return 0", "str": '\n    return ""'}    # after a call that raises
NO_XPU = 'raise AssertionError("Torch not compiled with XPU enabled") | there is no such device'
NO_MPS = 'raise RuntimeError("Cannot execute {}() without MPS backend.") | there is no such device'
NO_GPU = 'check_device("cuda") | AssertionError: there is no GPU'
NO_BASE = 'raise RuntimeError("Tried to instantiate dummy base class {}") | there is no GPU'
NONE = 'raise RuntimeError("Cannot access accelerator device when none is available.") | there is no accelerator'
SEEDED = "| | Accepted, as PyTorch does on a machine without such a device"
NOTHING = "| | There is nothing to free"

# module: what it is; imports of its own; what late_names takes; a row for functions that are alike: names and signature |
# what they do, which is a value, a statement or nothing | why
TABLE = {
    "accelerator/__init__": ("torch.accelerator, for programs that ask before they use one: there is none.", "", "", f"""
        is_available() -> bool | False | tensors live on the CPU
        device_count() -> int | 0 |
        current_accelerator(check_available: bool = False) -> None | | None
        empty_cache current_device_idx current_device_index() -> Any | {NONE}
        set_device_idx set_device_index(device: Any, /) -> Any | {NONE}
        set_stream(stream: Any) -> Any | {NONE}
        current_stream synchronize(device: Any = None, /) -> Any | {NONE}
        max_memory_allocated max_memory_reserved memory_allocated memory_reserved(device_index: Any = None, /) -> Any | {NONE}
        memory_stats(device_index: Any = None, /) -> Any | {NONE}
        reset_accumulated_memory_stats reset_peak_memory_stats(device_index: Any = None, /) -> Any | {NONE}
    """),
    "cuda/__init__": ("torch.cuda, for programs that ask before they use it: there is none.", """
        from retrograd._tensor.dtypes import check_device
        from retrograd.cuda import _types

        if TYPE_CHECKING:
            from retrograd._packages.cuda import amp as amp

        _initialized = False                            # read by programs that put the generators of GPUs back
        default_generators: tuple[Any, ...] = ()
        has_half = True                                 # so says PyTorch without CUDA, too
    """, ', lazy=("amp", "nvtx"), also=_types.LATE', f"""
        is_available() -> bool | False | tensors live on the CPU
        is_initialized() -> bool | False | there is nothing to initialize
        init ipc_collect current_blas_handle get_sync_debug_mode initial_seed() -> Any | {NO_GPU}
        set_sync_debug_mode(debug_mode: Any) -> Any | {NO_GPU}
        can_device_access_peer(device: Any, peer_device: Any) -> Any | {NO_GPU}
        current_stream default_stream get_device_properties(device: Any = None) -> Any | {NO_GPU}
        get_device_capability mem_get_info(device: Any = None) -> Any | {NO_GPU}
        get_rng_state(device: Any = "cuda") -> Any | {NO_GPU}
        get_rng_state_all() -> list[Any] | [] | of no generator
        set_rng_state(new_state: Any, device: Any = "cuda") -> None {SEEDED}
        set_rng_state_all(new_states: Any) -> None {SEEDED}
        seed seed_all() -> None {SEEDED}
        set_stream(stream: Any) -> None | | There is no stream but None
        is_current_stream_capturing() -> Any | {NO_BASE.format("_cuda_isCurrentStreamCapturing")}
        graph_pool_handle() -> Any | {NO_BASE.format("_graph_pool_handle")}
        get_arch_list() -> list[Any] | [] | for no architecture
        is_tf32_supported() -> bool | False | there is no GPU
        set_per_process_memory_fraction(fraction: Any, device: Any = None) -> Any | {NO_GPU}
        memory_stats(device: Any = None) -> dict[Any, Any] | {{}} | of no memory
        is_bf16_supported(including_emulation: bool = True) -> bool | False | there is no GPU
        device_count() -> int | 0 |
        manual_seed manual_seed_all(seed: Any) -> None {SEEDED}
        synchronize(device: Any = None) -> None | {NO_GPU}
        current_device() -> int | {NO_GPU}
        get_device_name(device: Any = None) -> str | {NO_GPU}
        set_device(device: Any) -> None | {NO_GPU}
        memory_allocated max_memory_allocated memory_reserved max_memory_reserved(device: Any = None) -> int | 0 |
        empty_cache() -> None {NOTHING}
        reset_peak_memory_stats(device: Any = None) -> None | | There is nothing to reset
    """),
    "mps": ("torch.mps, for programs that ask before they use it: there is none.", "", "", f"""
        is_available() -> bool | False | tensors live on the CPU
        device_count() -> int | 0 |
        manual_seed(seed: Any) -> None {SEEDED}
        synchronize() -> None | {NO_MPS.format("deviceSynchronize")}
        empty_cache() -> None | {NO_MPS.format("emptyCache")}
        current_allocated_memory() -> int | {NO_MPS.format("getCurrentAllocatedMemory")}
    """),
    "xpu/__init__": ("torch.xpu, for programs that ask before they use it: there is none.", "", "", f"""
        is_available() -> bool | False | tensors live on the CPU
        is_initialized() -> bool | False | there is nothing to initialize
        device_count() -> int | 0 |
        manual_seed manual_seed_all(seed: Any) -> None {SEEDED}
        empty_cache() -> None {NOTHING}
        memory_allocated(device: Any = None) -> int | 0 |
        synchronize(device: Any = None) -> None | {NO_XPU}
        current_device() -> int | {NO_XPU}
    """),
}

# module of torch.distributed: classes that can be named, of which nothing is an instance | functions.  Both raise when called.
# | modules of torch.distributed: what comes from there
UNSHARED = {
    "_composable/__init__": "",
    "_composable/fsdp": "CPUOffloadPolicy FSDPModule MixedPrecisionPolicy OffloadPolicy | fully_shard",
    "_functional_collectives": "AsyncCollectiveTensor | all_gather_tensor all_reduce all_to_all_single "
                               "all_to_all_single_autograd broadcast permute_tensor reduce_scatter_tensor wait_tensor",
    "_tensor/__init__": "DTensor | distribute_module distribute_tensor | "
                        "device_mesh: DeviceMesh; tensor.placement_types: Partial Placement Replicate Shard",
    "_tensor/experimental": "| implicit_replication",
    "checkpoint/__init__": "FileSystemReader FileSystemWriter LoadPlan SavePlan | load load_state_dict save save_state_dict",
    "checkpoint/default_planner": "DefaultLoadPlanner DefaultSavePlanner |",
    "checkpoint/format_utils": "| dcp_to_torch_save torch_save_to_dcp",
    "checkpoint/hf_storage": "HuggingFaceStorageReader HuggingFaceStorageWriter |",
    "checkpoint/optimizer": "| load_sharded_optimizer_state_dict",
    "checkpoint/state_dict": "StateDictOptions | get_model_state_dict get_optimizer_state_dict get_state_dict"
                             " set_model_state_dict set_optimizer_state_dict set_state_dict",
    "elastic/__init__": "",
    "elastic/multiprocessing/__init__": "",
    "fsdp/__init__": "BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullStateDictConfig FullyShardedDataParallel "
                     "LocalStateDictConfig MixedPrecision MixedPrecisionPolicy OffloadPolicy OptimStateDictConfig "
                     "ShardedStateDictConfig ShardingStrategy StateDictType | fully_shard register_fsdp_forward_method",
    "fsdp/api": "CPUOffload FullOptimStateDictConfig FullStateDictConfig MixedPrecision ShardedOptimStateDictConfig "
                "ShardedStateDictConfig ShardingStrategy StateDictType |",
    "fsdp/fully_sharded_data_parallel": "BackwardPrefetch CPUOffload FullOptimStateDictConfig FullStateDictConfig "
                                        "FullyShardedDataParallel MixedPrecision ShardedOptimStateDictConfig "
                                        "ShardedStateDictConfig ShardingStrategy StateDictType |",
    "fsdp/sharded_grad_scaler": "ShardedGradScaler |",
    "fsdp/wrap": "CustomPolicy ModuleWrapPolicy | _or_policy always_wrap_policy enable_wrap lambda_auto_wrap_policy "
                 "size_based_auto_wrap_policy transformer_auto_wrap_policy wrap",
    "pipelining": "PipelineStage ScheduleGPipe SplitPoint | pipeline",
    "rpc": "BackendType PyRRef RRef RemoteException RpcBackendOptions TensorPipeRpcBackendOptions WorkerInfo | "
           "get_worker_info init_rpc remote rpc_async rpc_sync shutdown",
    "tensor/__init__": "DTensor | distribute_module distribute_tensor empty full ones rand randn zeros | "
                       "device_mesh: DeviceMesh init_device_mesh; "
                       "tensor.placement_types: Partial Placement Replicate Shard",
    "tensor/_utils": "| compute_local_shape_and_global_offset",
    "tensor/experimental/__init__": "| context_parallel implicit_replication local_map",
    "tensor/parallel": "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleOutput RowwiseParallel SequenceParallel | "
                       "loss_parallel parallelize_module",
}


# module that PyTorch has within another: names, which we have in that other one
FORWARDED = {
    "accelerator/memory": "empty_cache max_memory_allocated max_memory_reserved memory_allocated "
                          "memory_reserved memory_stats reset_accumulated_memory_stats reset_peak_memory_stats",
    "cuda/memory": "set_per_process_memory_fraction empty_cache memory_stats reset_peak_memory_stats memory_allocated "
                   "max_memory_allocated memory_reserved max_memory_reserved mem_get_info MemPool",
    "cuda/random": "get_rng_state get_rng_state_all set_rng_state set_rng_state_all "
                   "manual_seed manual_seed_all seed seed_all initial_seed",
    "cuda/streams": "Stream Event",
    "cuda/graphs": "is_current_stream_capturing graph_pool_handle CUDAGraph graph",
    "cuda/amp/autocast_mode": "autocast custom_fwd custom_bwd",
    "cuda/amp/common": "amp_definitely_not_available",
    "cuda/amp/grad_scaler": "GradScaler",
    "cpu/amp/autocast_mode": "autocast",
    "cpu/amp/grad_scaler": "GradScaler",
    "profiler/profiler": "supported_activities ProfilerAction schedule tensorboard_trace_handler profile",
    "multiprocessing/pool": "Pool",
    "multiprocessing/queue": "Queue SimpleQueue",
    "signal/windows/windows": "bartlett blackman cosine exponential gaussian "
                              "general_cosine general_hamming hamming hann kaiser nuttall",
    "xpu/random": "manual_seed manual_seed_all",
    "xpu/memory": "empty_cache memory_allocated",
}


def files() -> dict[Path, str]:
    return {FOLDER / f"{name}.py": text for name, text in [
        *((name, module(*row)) for name, row in TABLE.items()),
        *((f"distributed/{name}", unshared(name, row)) for name, row in UNSHARED.items()),
        *((name, forwarded(name, names)) for name, names in FORWARDED.items())]}


def forwarded(name: str, names: str) -> str:
    path = name.replace("/", ".")
    lines = "\n    ".join(f'"{line} "' for line in wrap(names, 110))
    return HEAD.format(doc=f"torch.{path}: names of torch.{path.rpartition('.')[0]}.") + (
        "from retrograd._missing.forwarded import forwarded\n\n"
        f"forwarded(\n    __name__,\n    \"retrograd.{path.rpartition('.')[0]}\",\n    {lines})\n")


def unshared(name: str, row: str) -> str:
    classes, calls, there = [*row.split("|"), "", ""][:3]
    homes = [one.strip().partition(": ") for one in there.split(";") if one.strip()]
    path = "torch.distributed." + name.replace("/", ".").removesuffix(".__init__")
    doc = f"{path}: names to import and to ask isinstance of; calls raise."
    parts = ["\n    ".join(f'"{line} "' for line in wrap(part, 110) or [""]) for part in (classes, calls)]
    parts += [f'"{LACKS["checkpoints"][0]}"'] * name.startswith("checkpoint/")
    return HEAD.format(doc=doc) + "from retrograd._missing.unshared import unshared\n" + "".join(
        f"from retrograd.distributed.{home} import {name} as {name}\n" for home, _, names in homes
        for name in names.split()) + "\n" + (
        "unshared(\n    __name__,\n    " + ",\n    ".join(parts) + ")\n")


def module(doc: str, imports: str, late: str, rows: str) -> str:
    made = {name: text for row in rows.strip().splitlines() for name, text in functions(row)}
    text = "".join(made.values())
    names = "" if late else "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(made)) + "]\n"
    typing = [name for name in ("TYPE_CHECKING", "Any") if name in imports + text]
    return HEAD.format(doc=doc) + f"from typing import {', '.join(typing)}\n\n" * bool(typing) + (
        f"from retrograd._missing import late_names\n{dedent(imports).lstrip()}\n{names}late_names(__name__{late})\n{text}")


def functions(row: str) -> list[tuple[str, str]]:
    names, signature, does, why = re.fullmatch(  # type: ignore[union-attr]
        r"\s*([\w ]+)(\(.*\) -> [\w\[\], ]+?) ?\| ?(.*?) ?\|(.*)", row).groups()
    why = why.strip()
    result = signature.rpartition("-> ")[2]
    if does.startswith("raise "):
        doc, body = f"{does.split()[1].partition('(')[0]}: {why}.", does
    elif does.endswith(")"):
        doc, body = f"{why}.", does + OF_NONE[result]
    elif does:
        doc, body = f"{does}: {why}." if why else f"{does}.", f"return {does}"
    else:
        doc, body = f"{why}.", ""
    return [(name, f'\n\ndef {name}{signature}:\n    """{doc}"""\n' + f"    {body}\n" * bool(body)) for name in names.split()]
