"""ZeroRedundancyOptimizer: each rank keeps the state of some parameters, steps those, and sends them to the others.

Rajbhandari et al. 2020, arXiv 1910.02054, stage 1.
"""
from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..._engine.tensor import TensorBase, bump, wrap
from ..._tensor.printing import typename
from ...optim import Optimizer
from ..algorithms.join import Join, Joinable, JoinHook
from ..collectives import broadcast, parts
from ..groups import get_global_rank
from ..objects import gathered
from ..process_group import ProcessGroup, found

NOT_CONSOLIDATED = (
    "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to={})` on all ranks beforehand "
    "if you meant to save the global state.")


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer whose state is divided among the ranks.  Gradients must be the same on all ranks, as DDP leaves them.

    params                     as of any optimizer
    optimizer_class            the optimizer that each rank has for its parameters; **defaults are its arguments
    process_group              those ranks; None: all
    parameters_as_bucket_view  parameters of one rank share memory, so that they are sent without a copy

    NotImplementedError for overlap_with_ddp.
    """

    def __init__(self, params: Any, optimizer_class: Any, process_group: Any = None, parameters_as_bucket_view: bool = False,
                 overlap_with_ddp: bool = False, **defaults: Any) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer(overlap_with_ddp=...) is not implemented: leave it out")
        self.initialized = False
        self.process_group: ProcessGroup = found(process_group)
        given = checked(params)
        Optimizer.__init__(self, given, defaults)
        Joinable.__init__(self)
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self.global_rank = get_global_rank(process_group, self.rank) if process_group is not None else self.rank
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optimizer_class, self._optim_defaults = optimizer_class, defaults
        self.optim: Optimizer
        self._all_state_dicts: list[dict[str, Any]] = []
        self._partition()
        self.initialized = True

    # -- who has what

    def _partition(self) -> None:
        """Divide the parameters, group by group: the largest first, each to the rank that has least."""
        sizes = [0] * self.world_size
        self._shares: list[list[dict[str, Any]]] = [[] for _ in range(self.world_size)]
        for group in self.param_groups:
            mine: list[list[Any]] = [[] for _ in range(self.world_size)]
            for param in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
                rank = sizes.index(min(sizes))
                mine[rank].append(param)
                sizes[rank] += param.numel()
            for share, some in zip(self._shares, mine, strict=True):
                share.append({**group, "params": some})
        if self.initialized:                    # earlier groups are divided as they were
            self.optim.add_param_group(self._shares[self.rank][-1])
        else:
            self.optim = self._optimizer_class(self._shares[self.rank], **self._optim_defaults)
        copy_options(self.optim.param_groups, self.param_groups)
        self._buckets = [self._bucket(share) for share in self._shares]

    def _bucket(self, share: list[dict[str, Any]]) -> list[tuple[Any, list[Any]]]:
        """(memory, the parameters in it) for each dtype of a rank's; without buckets (None, a parameter) for each."""
        params = [p for group in share for p in group["params"]]
        if not self.parameters_as_bucket_view:
            return [(None, [p]) for p in params]
        made = []
        for dtype in dict.fromkeys(p.dtype for p in params):
            some = [p for p in params if p.dtype == dtype]
            flat = np.concatenate([p.array.reshape(-1) for p in some])
            for p, part in zip(some, parts(flat, [p.numel() for p in some]), strict=True):
                p.data = wrap(part.reshape(p.array.shape))
            made.append((flat, some))
        return made

    def _sync_params(self) -> None:
        """Each rank gets the others' parameters."""
        works = []
        for rank, buckets in enumerate(self._buckets):
            for memory, params in buckets:
                sent = wrap(params[0].array if memory is None else memory)
                works.append((broadcast(sent, group=self.process_group, async_op=True, group_src=rank), params))
        for work, params in works:
            assert work is not None
            work.wait()
            for p in params:
                bump(p)

    # -- an optimizer

    def step(self, closure: Any = None, **kwargs: Any) -> Any:
        """Step this rank's parameters, and get those of the others -> the closure's loss."""
        Join.notify_join_context(self)
        copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        self._sync_params()
        copy_options(self.optim.param_groups, self.param_groups)
        return loss

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a dict param_group, on all ranks; parameters are divided anew."""
        Optimizer.add_param_group(self, param_group)
        if self.initialized:
            self._partition()

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collect the state of all ranks on rank `to`; all ranks call it."""
        copy_options(self.param_groups, self.optim.param_groups)
        every = gathered(self.process_group, "consolidate_state_dict", self.optim.state_dict())
        self._all_state_dicts = every if self.rank == to else []

    def state_dict(self) -> dict[str, Any]:
        """The state of all ranks, as the optimizer alone would have it.  RuntimeError before consolidate_state_dict."""
        if not self._all_state_dicts:
            raise RuntimeError(NOT_CONSOLIDATED.format(self.rank))
        whole = Optimizer.state_dict(self)
        places = {id(p): i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}
        for share, its in zip(self._shares, self._all_state_dicts, strict=True):
            params = [p for group in share for p in group["params"]]
            numbers = [n for group in its["param_groups"] for n in group["params"]]
            whole["state"].update({places[id(p)]: its["state"][n] for p, n in zip(params, numbers, strict=True)
                                   if n in its["state"]})
        whole["state"] = dict(sorted(whole["state"].items()))
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take what concerns this rank's parameters from a state_dict of all."""
        params = [p for group in self.param_groups for p in group["params"]]
        mine = {id(p) for group in self._shares[self.rank] for p in group["params"]}
        for index, value in state_dict["state"].items():
            if id(params[index]) in mine:
                self.optim.state[params[index]] = copy.deepcopy(value)
        Optimizer.load_state_dict(self, {**state_dict, "state": {}})
        copy_options(self.param_groups, self.optim.param_groups)

    # -- uneven inputs

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A rank without batches goes on stepping, with the gradients that DDP's hook leaves."""
        return Steps(self)

    @property
    def join_device(self) -> Any:
        """The CPU."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The ranks among which the state is divided."""
        return self.process_group


class Steps(JoinHook):
    """Steps whenever the other ranks do."""

    def __init__(self, zero: ZeroRedundancyOptimizer) -> None:
        self.zero = zero

    def main_hook(self) -> None:
        self.zero.step()


def checked(params: Any) -> list[Any]:
    """The parameters, or groups of them.  TypeError for what is neither."""
    if isinstance(params, TensorBase):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {typename(params)}")
    try:
        given = list(params)
    except TypeError:
        raise TypeError("`params` argument should be an iterable of Tensors or dicts, but got "
                        f"{type(params).__name__}") from None
    if not given:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not all(isinstance(one, TensorBase) for one in given) and not all(isinstance(one, dict) for one in given):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    every = []
    for one in given:
        if isinstance(one, TensorBase):
            every.append(one)
            continue
        if "params" not in one:
            raise ValueError("Each parameter group passed-in via `params` must have a 'params' key mapping to the parameters in "
                             "the group")
        if not isinstance(one["params"], TensorBase):
            one["params"] = list(one["params"])             # it may be an iterator
            every += one["params"]
    kinds = [typename(p) for p in every]
    for kind in kinds:
        if kind != kinds[0]:
            raise ValueError("ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got both "
                             f"{kinds[0]} and {kind}")
    return given


def copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
    """What groups have besides their parameters."""
    for one, other in zip(source, target, strict=True):
        other.update({name: value for name, value in one.items() if name != "params"})
