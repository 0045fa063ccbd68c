"""DistributedDataParallel: each rank has the model and a share of the batch; gradients are averaged during the backward pass.

https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..._engine.tensor import TensorBase, bump
from ..._engine.warn import warn
from ..._tensor import Tensor
from ...autograd.grad_mode import is_grad_enabled
from ...distributed import collectives
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ...distributed.objects import gathered
from ...distributed.process_group import ProcessGroup, found, world
from ...distributed.reducing import ReduceOp
from ...distributed.work import listening
from ...futures import Future
from ..module import Module
from ..parameter import UninitializedParameter
from .buckets import GradBucket
from .reducer import Reducer

FIRST_BUCKET = 1024 * 1024
BUCKET_MB = 25
BOTH_BUFFERS = (
    "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and its value is "
    "ignored when `forward_sync_buffers` is provided.")
OLD_BUFFERS = (
    "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike `broadcast_buffers=False`, "
    "`forward_sync_buffers=False` still syncs buffers at init. If you rely on buffers NOT being synced at init (e.g. rank-local "
    "buffers), keep using `broadcast_buffers=False` until `init_sync_buffers` is available.")


class DistributedDataParallel(Module, Joinable):
    """Calls `module`, whose parameters are named module.weight, ...; averages its gradients over the ranks.

    *inputs                     what module is called with
    device_ids, output_device   must be None: tensors live on the CPU
    forward_sync_buffers        before each forward pass, buffers become rank 0's (the default)
    dim, check_reduction        accepted without effect
    broadcast_buffers           deprecated: the same, and False leaves buffers alone at the start, too
    process_group               of the ranks; by default all
    bucket_cap_mb               how large a message is, 25 by default; the first has at most 1
    find_unused_parameters      look through the graph for parameters that this pass does not reach, else they are an error
    gradient_as_bucket_view     .grad are views of the messages, which saves a copy
    static_graph                each pass reaches the same parameters, as often as in the first
    init_sync                   parameters and buffers become rank 0's at first
    batched_grad_copy           changes nothing: gradients are copied when they arrive

    device_mesh                 a DeviceMesh of one dimension, instead of process_group

    ValueError for devices, NotImplementedError for mixed_precision, delay_all_reduce_named_params,
    param_to_hook_all_reduce, skip_all_reduce_unused_params and bucket_cap_mb_list, which this one does not do.
    """

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, broadcast_buffers: Any = None,
        init_sync: bool = True, process_group: Any = None, bucket_cap_mb: Any = None, find_unused_parameters: bool = False,
        check_reduction: bool = False, gradient_as_bucket_view: bool = False, static_graph: bool = False,
        delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None, mixed_precision: Any = None,
        device_mesh: Any = None, skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: Any = None,
        batched_grad_copy: bool = False, forward_sync_buffers: Any = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        refuse({
            "mixed_precision": mixed_precision, "bucket_cap_mb_list": bucket_cap_mb_list,
            "delay_all_reduce_named_params": delay_all_reduce_named_params, "param_to_hook_all_reduce": param_to_hook_all_reduce,
            "skip_all_reduce_unused_params": skip_all_reduce_unused_params or None})
        group = of_mesh(device_mesh, process_group) if device_mesh is not None else found(process_group)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        ours = [param for name, param in module.named_parameters() if name not in self.parameters_to_ignore]
        check(ours, device_ids, output_device)
        self.module = module
        self.process_group = group
        if device_mesh is not None:
            self.device_mesh = device_mesh
        self.device_ids = self.output_device = None
        self.dim = dim
        if check_reduction:
            warn("The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using it.",
                 FutureWarning)
        if broadcast_buffers is not None:
            warn(OLD_BUFFERS if forward_sync_buffers is None else BOTH_BUFFERS, FutureWarning)
        old = broadcast_buffers is None or bool(broadcast_buffers)
        self.forward_sync_buffers = old if forward_sync_buffers is None else bool(forward_sync_buffers)
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        if init_sync:
            same_everywhere(group, [param for param in ours if param.requires_grad])
            broadcast_all(group, ours + (self._buffers_now() if old or forward_sync_buffers is not None else []))
        self.bucket_bytes_cap = int((BUCKET_MB if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        self.bucket_bytes_cap_default = bucket_cap_mb is None
        self.reducer = self._made_reducer()

    def _made_reducer(self) -> Reducer:
        named = [(name, param) for name, param in self.module.named_parameters()
                 if param.requires_grad and name not in self.parameters_to_ignore]
        cap = self.bucket_bytes_cap
        return Reducer([name for name, _ in named], [param for _, param in named], self.process_group,
                       [FIRST_BUCKET if self.bucket_bytes_cap_default else cap, cap], self.find_unused_parameters,
                       self.static_graph, self.gradient_as_bucket_view)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        ear = listening.ear
        if ear is not None and ear.on:
            ear.passes(self, is_grad_enabled())
        self._before(is_grad_enabled() and self.require_backward_grad_sync)
        output = self.module(*inputs, **kwargs)
        if is_grad_enabled() and self.require_backward_grad_sync:
            self.require_forward_param_sync = True
            self.reducer.before_backward(tensors_in(output) if self.find_unused_parameters else iter(()))
        else:
            self.require_forward_param_sync = False
        return output

    def _before(self, averages: bool) -> None:
        """Buffers from rank 0, new buckets after the first pass, and what join() needs."""
        if averages and self.process_group.n > 1:
            found(self.process_group)               # ValueError after destroy_process_group
        present = Join.notify_join_context(self)
        self.reducer.divisor = self.process_group.n
        if present is not None:
            present.wait()
            if not self._divide_by_initial_world_size:
                self.reducer.divisor = int(present.result()[0].item())
        if self._join_config.enable:
            greatest(self.process_group, averages)      # do the others average?
        if averages and not self.reducer.unfinished:
            self.reducer.rebuild()
        self._sync_buffers(True)

    def _sync_buffers(self, active: bool) -> None:
        """Buffers become rank 0's; in join(), where it may have run out of batches, those of the last rank which is active."""
        wanted = self.forward_sync_buffers and self.require_forward_param_sync and self.process_group.n > 1
        if wanted and (buffers := self._buffers_now()):
            joining = self._join_config.enable or not active
            root = greatest(self.process_group, self.process_group.place if active else -1) if joining else 0
            broadcast_all(self.process_group, buffers, root, bumps=False)

    def _buffers_now(self) -> list[Any]:
        """The module's buffers: programs may have assigned others since the last pass."""
        return [buffer for name, buffer in self.module.named_buffers() if name not in self.parameters_to_ignore]

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Passes inside add to this rank's gradients only; the next pass outside averages the sum."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: object, hook: Callable[[object, GradBucket], Future[Any]]) -> None:
        """Call hook(state, bucket) -> a Future of the tensor that replaces the bucket's gradients.

        It is called for each full bucket, instead of the mean. RuntimeError for a second one, TypeError for what cannot be
        called, KeyError for what has no argument `bucket`, ValueError for other annotations than these.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        signature = inspect.signature(hook)
        for noted, right, text in (
                (signature.parameters["bucket"].annotation, GradBucket, "bucket annotation should be dist.GradBucket."),
                (signature.return_annotation, Future[Tensor], "return annotation should be torch.futures.Future[torch.Tensor].")):
            if noted not in (inspect.Signature.empty, right) and not isinstance(noted, str):
                raise ValueError(f"Communication hook: {text}")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.state, self.reducer.hook = state, hook

    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Join:
        """A context in which ranks may have unequal numbers of batches: a rank that has run out takes part with zeros.

        divide_by_initial_world_size   True: means are over all ranks; False: over those that still have batches
        enable                         False: the context does nothing
        throw_on_early_termination     True: RuntimeError on all ranks as soon as one has run out
        """
        return Join([self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What this rank does once it has run out of batches and others have not."""
        return Shadow(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def broadcast_buffers(self) -> bool:
        """The old name of forward_sync_buffers."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    @property
    def join_device(self) -> Any:
        """The CPU."""
        return next(self.module.parameters()).device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The ranks that average."""
        return self.process_group

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Any, params_and_buffers_to_ignore: Any) -> None:
        """Names of what DistributedDataParallel(module) is to leave alone."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def _set_static_graph(self) -> None:
        """static_graph=True, later; RuntimeError after the first pass."""
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        if self.reducer.begun:
            raise RuntimeError("set_static_graph() should be called before training loop starts and after "
                               "DistributedDataParallel is constructed.")
        self.static_graph = self.reducer.static = True

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not world.group:
            raise RuntimeError("DDP Pickling/Unpickling are only supported when using DDP with the default process group. That "
                               "is, when you have called init_process_group and have not passed process_group argument to DDP "
                               "constructor")
        return {name: value for name, value in self.__dict__.items() if name not in ("process_group", "reducer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.process_group = world.default()
        self.reducer = self._made_reducer()


def of_mesh(device_mesh: Any, process_group: Any) -> Any:
    """The group of a mesh.  RuntimeError for one of several dimensions, or with another group."""
    if process_group is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if device_mesh.ndim != 1:
        raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
    return device_mesh.get_group(mesh_dim=0)


def refuse(given: dict[str, Any]) -> None:
    """NotImplementedError for an option that changes what is sent, or when."""
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"DistributedDataParallel({name}=...) is not implemented: leave it out")


def check(params: list[Any], device_ids: Any, output_device: Any) -> None:
    """What DistributedDataParallel refuses of parameters and devices."""
    if not any(param.requires_grad for param in params):
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
    kinds = sorted({param.device.type for param in params})
    if len(kinds) > 1:
        raise ValueError("DistributedDataParallel's input module must be on the same type of devices, but input module "
                         f"parameters locate in {{{', '.join(map(repr, kinds))}}}.")
    if device_ids or output_device:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU "
            f"modules or CPU modules, but got device_ids {device_ids}, output_device {output_device}, and module parameters "
            "{device(type='cpu')}.")
    if any(isinstance(param, UninitializedParameter) for param in params):
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
                           "forward pass to correctly initialize the modules")
    if kinds == ["meta"]:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors\nThe module's parameters have no data: call "
                           "module.to_empty(device=\"cpu\") and initialize them")


class Shadow(JoinHook):
    """Takes part in what the other ranks' passes wait for."""

    def __init__(self, ddp: DistributedDataParallel, divide_by_initial_world_size: bool) -> None:
        self.ddp = ddp
        ddp._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self) -> None:
        ddp = self.ddp
        averages = greatest(ddp.process_group, False) > 0
        if averages:
            ddp.reducer.rebuild()
        ddp._sync_buffers(False)
        ddp.require_forward_param_sync = averages
        if averages:
            ddp.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """The model becomes that of a rank which was among the last."""
        ddp = self.ddp
        ours = [param for name, param in ddp.module.named_parameters() if name not in ddp.parameters_to_ignore]
        ddp._authoritative_rank = greatest(ddp.process_group, ddp.process_group.place if is_last_joiner else -1)
        broadcast_all(ddp.process_group, ours + ddp._buffers_now() * ddp.forward_sync_buffers, ddp._authoritative_rank)


def greatest(group: ProcessGroup, mine: int) -> int:
    """The greatest number that a rank gives."""
    number = np.array([mine], np.int32)
    collectives.all_reduce(as_tensor(number), ReduceOp.MAX, group)
    return int(number[0])


def as_tensor(array: Any) -> Any:
    from ..._engine.tensor import wrap

    return wrap(array)


def same_everywhere(group: ProcessGroup, params: list[Any]) -> None:
    """RuntimeError if ranks have different parameters."""
    shapes = gathered(group, "broadcast", [tuple(param.shape) for param in params])
    first = shapes[0]
    for rank, other in enumerate(shapes):
        if len(other) != len(first):
            there, number = (rank, len(other)) if group.place == 0 else (0, len(first))
            raise RuntimeError(f"DDP expects same model across all ranks, but Rank {group.place} has {len(params)} params, while "
                               f"rank {there} has inconsistent {number} params.")
    mine = shapes[group.place]
    for i, (own, wanted) in enumerate(zip(mine, first, strict=True)):
        if own != wanted:
            raise RuntimeError(f"[{group.place}]: params[{i}] in this process with sizes {list(own)} appears not to match sizes "
                               "of the same param in process 0.")


def broadcast_all(group: ProcessGroup, tensors: list[Any], root: int = 0, bumps: bool = True) -> None:
    """Tensors become those of one rank: one message for each dtype.  Without `bumps` their versions stay, as PyTorch's do."""
    if group.n == 1:
        return
    kinds = {tensor.dtype: [other for other in tensors if other.dtype == tensor.dtype] for tensor in tensors}
    for some in kinds.values():
        flat = np.concatenate([one.array.reshape(-1) for one in some])
        collectives.broadcast(as_tensor(flat), group=group, group_src=root)
        if group.place != root:
            for one, part in zip(some, collectives.parts(flat, [one.array.size for one in some]), strict=True):
                np.copyto(one.array, part.reshape(one.array.shape))
                if bumps:
                    bump(one)


def tensors_in(output: Any) -> Iterator[Any]:
    """The tensors of a result: in lists, tuples, dicts and dataclasses."""
    if isinstance(output, TensorBase):
        yield output
    elif isinstance(output, (list, tuple)):
        for one in output:
            yield from tensors_in(one)
    elif isinstance(output, dict):
        yield from tensors_in(list(output.values()))
    elif hasattr(output, "__dataclass_fields__"):
        yield from tensors_in([getattr(output, name) for name in output.__dataclass_fields__])
