"""What PyTorch has and we lack, and why: the errors for such names and docs/names.md read it here."""
from __future__ import annotations

import re
from functools import lru_cache

# word: (why, which names: by themselves, or from "torch." on)
LACKS = {
    "unsigned": ("its result is of torch.uint64, and there are tensors of unsigned dtypes for uint8 only", "hash_tensor"),
    "complex": ("complex tensors have no storages, and complex32 is missing", r"""
        chalf|view_as_(complex|real)_copy|Complex\w+"""),
    "sparse": ("sparse tensors are not supported yet", r"""
        _?sparse\w*|\w*_sparse_?|to__?sparse\w*|(c?col|crow|row)_indices(_copy)?|indices(_copy)?|values(_copy)?|coalesce|
        is_coalesced|dense_dim|s?spmm|[hds]?smm|hspmm|hsmm|dsmm|s?addmm_sparse|saddmm|sspaddmm|
        resize_as_sparse_|sparse_resize\w*"""),
    "quantized": ("quantized tensors are not supported yet", r"""
        torch\.ao\..+|
        q_\w+|qscheme|q[A-Z]\w+|quant\w+|Q(U)?Int\w+|(fake_)?quantize\w*|
        fake_quantize\w*|dequantize|int_repr|per_(channel|tensor)_\w+|choose_qparams\w*|fbgemm\w+|empty_quantized|
        fused_moving_avg\w+|qat|intrinsic|quantizable"""),
    "torchscript": ("they are of TorchScript's compiler, which is written in C++", r"""
        torch\.(jit\.(CompilationUnit|export_opnames)|(Buffer|Module|Parameter)Dict|fork|wait|testing\.FileCheck|
        FileCheck|utils\.checkpoint\.GraphExecGroup)|
        ((?!Default|Builtin|Rank|Scaling|Swizzle)\w+Type|\w*Script\w*|Graph\w*|Block|Node|Value|Use|Code|Argument\w*|
        ErrorReport|ExecutionPlan|FunctionSchema|Gradient|IODescriptor|JITException|CompilationUnit|CompleteArgumentSpec|
        ConcreteModuleType\w*|StaticModule|CallStack|Capsule|\w*AliasDb|TracingState|import_ir_\w+|merge_type\w+|parse_ir|
        parse_schema|parse_type_comment|unify_type_list|LockingLogger|LoggerBase|NoopLogger|AVG|SUM)"""),
    "devices": ("the CPU is the only device so far", r"""
        torch\.(cuda|xpu|mps|mtia|accelerator|backends\.(cusparselt|miopen))(\..+)?|
        torch\.nn\.attention\.(\w+_flash_attention_impls?|WARN_FOR_UNFUSED_KERNELS)|torch\.nn\.parallel\.(replicate|parallel_apply)|
        \w*(cudnn|cudagraph|miopen|autocast_(gpu|ipu|xla)|vulkan|nvprof)\w*|xpu|ipu|mtia|tf32_notes|triton_op|wrap_triton|
        batch_norm_(stats|elemt|gather_\w+|backward_\w+)|(Scaling|Swizzle)Type|\w*privateuse1\w*|backend_registration|
        set_override_stale_capture_stream|set_warn_on_accumulate_grad_stream_mismatch"""),
    "kernels": ("they are kernels of PyTorch's own for CPUs, and settings of these", r"""
        \w*mkldnn\w*|torch\.backends\..+"""),
    "checkpoints": ("checkpoints are whole: one rank saves with torch.save, and all read it with torch.load", r"""
        torch\.distributed\.checkpoint(\.\w+)*"""),
    "sharded": ("models and tensors are not sharded over processes", r"""
        torch\.distributed\.(fsdp|tensor|pipelining|_?composable|_?shard\w*)(\.\w+)*|
        torch\.distributed\.optim\.named_optimizer"""),
    "remote": ("functions cannot be called in another process", r"""
        torch\.distributed\.(rpc|autograd|nn\.(api|jit)|remote_device)(\.\w+)*|torch\.distributed\.optim\.(DistributedOptimizer|optimizer)"""),
    "elastic": ("retrograd launch, torch.multiprocessing and torch.distributed.run start a fixed number of ranks once", r"""
        torch\.distributed\.(elastic|launcher|launch)(\.\w+)*"""),
    "groups": ("process groups exchange tensors over MPI only, and DistributedDataParallel's reducer is Python", r"""
        torch\.distributed\.(distributed_c10d\.)?(ProcessGroup\w+|Reducer|Logger|BuiltinCommHookType|BackendConfig|GroupName|RankType|
        shrink_group|record_comm|flight_recorder|debug|c10d_logger|logging_handlers)"""),
    "parallel": ("torch.distributed has collectives, groups, stores and DistributedDataParallel only", r"""
        torch\.distributed\..+|torch\.nn\.parallel\..+|
        DistributedDataParallel|data_parallel|torch\.nn\.parallel\.\w+|torch\.distributed\.\w+|RRefType|FutureType|fork|wait|
        prepare_multiprocessing_environment|is_distributed"""),
    "programs": (
        "programs are not compiled ahead of time; torch.compile records steps and replays them, torch.export and torch.jit.trace "
        "make graphs, torch.onnx.export writes feed-forward models", r"""
        torch\.(fx\.(experimental|passes|config|tensor_type)|onnx|nativert)(\..+)?|nativert|torch\.utils\.(mobile_optimizer|model_dump|jit|bundled_inputs)|
        torch\.jit\.\w+|torch\.export(\..+)?|cond|while_loop|Script\w+|\w*Script\w*|\w+Type|Graph\w*|Block|Node|Value|
        Use|Code|Argument\w*|ErrorReport|ExecutionPlan|FunctionSchema|Gradient|IODescriptor|InferredType|JITException|
        CompilationUnit|CompleteArgumentSpec|ConcreteModuleType\w*|StaticModule|CallStack|Capsule|\w*AliasDb|TracingState|
        FileCheck|parse_\w+|BroadcastingList\d|import_ir_\w+|merge_type\w+|unify_type_list|Sym\w+|sym_\w+|LockingLogger|LoggerBase|
        NoopLogger|AggregationType|AVG|SUM|PyTorchFileWriter|boolean_dispatch|assert_int_or_pair"""),
    "hub": (
        "torch.hub does not fetch repositories; it loads state dicts, and models of a folder: load(source=\"local\")",
        r"torch\.hub\.(list|help)"),
    "dispatch": ("there is no dispatcher and no __torch_dispatch__; use __torch_function__", r"""
        classes|Dispatch\w+|ExcludeDispatchKeyGuard|Tag|OperatorInfo|
        enable_reentrant_dispatch|TorchDispatchMode|torch_dispatch|_?_python_dispatch"""),
    "storages": ("storages exist only for the dtypes of tensors, in this process's memory", r"""
        \w*Storage(Base|Context)?|const_data_ptr|from_file"""),
    "profilers": ("torch.profiler and retrograd.microscope measure programs", r"""
        Profiler(Activity|Config|Event|State)|profiler_legacy|MemRecordsAcc|load_nvprof|kineto_available|
        region_activation_memory_budget|ExecutionTraceObserver|monitor|Benchmark\w+|ThroughputBenchmark"""),
    "measurements": ("benchmarks measure time only, of dense tensors", r"""
        torch\.utils\.benchmark\..+|
        FuzzedSparseTensor|\w*Callgrind\w*|FunctionCounts?"""),
    "internal": ("it is internal to PyTorch", r"""
        torch\.utils\.(hipify|viz|serialization|show_pickle|file_baton|debug_log)|torch\.(numa|contrib|profiler|multiprocessing|nn\.backends|compiler)\..+|contrib|numa|torch\.nn\.backends|
        torch\.compiler\.\w+|(get_)?cpp_backtrace|cmake_prefix_path|throughput_benchmark|set_module|deterministic|backcompat|PRIVATE_OPS|DeepCopyMemoTable|FatalError|USE_\w+|classproperty|compiled_with_cxx11_abi|cpp|conv_tbc|
        batch_norm_\w+|native_(dropout|norm)|grid_sampler_\dd|(gru|lstm|rnn)\w*|slice_inverse|has_\w+|get_file_path|
        init_num_threads|set_anomaly_enabled|windows|package|frobenius_norm|
        nuclear_norm|norm_except_dim|unsafe_split_with_sizes|SavedTensor|SwizzleType|ScalingType|(scaled_)?grouped_mm|
        scaled_(\w+_)?mm|GRID_SAMPLE_\w+|\w+_notes|is_multithreading_enabled|set_multithreading_enabled|
        NestedIOFunction|is_view_replay_enabled|grad|swap_in_optimizer\w+|module_load|name|Tensor|Type|index|return_types"""),
    "datapipes": ("PyTorch deprecates data pipes; use Dataset and IterableDataset", r"""
        torch\.utils\.data\..+|
        \w*DataPipe|DataChunk|argument_validation|functional_datapipe|\w+_determinism|non_deterministic|runtime_validation\w*|
        _DatasetKind"""),
    "rare": ("it is rarely used, and not implemented yet", r"""
        torch\.(masked|nn\.attention|nn\.modules)\..+|
        torch\.serialization\.\w+|torch\.utils\.tensorboard\.\w+|assert_allclose|torch\.utils\._pytree\.\w+|get_kernel|BufferDict|ParameterDict|ModuleDict|nested|jagged|MaskedTensor|(as_|is_)?masked_tensor|
        channels_last_3d|lobpcg|to_padded_tensor|resize(_as)?|
        make_tensor|register_autocast|windows|rearrange|debug_unwrap|enforce_grad_layout_policy"""),
}

@lru_cache(1)
def patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(why, re.compile("".join(names.split()))) for why, names in LACKS.values()]


def why(name: str) -> str | None:
    """Why we lack one of PyTorch's names; None for a name of nobody's."""
    return next((reason for reason, names in patterns() if names.fullmatch(name)), None)
