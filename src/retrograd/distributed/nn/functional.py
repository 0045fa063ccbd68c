"""torch.distributed.nn.functional: collectives through which gradients flow, by the collective that goes the other way.

All ranks that call one forward must go backward through it, too, in the opposite order: the gradient is a collective.
They give results; their arguments stay as they are.
"""
from __future__ import annotations

from typing import Any

from ..._functions.create import empty_like, zeros_like
from ...autograd.function import Function
from .. import collectives as c
from ..process_group import found
from ..reducing import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter",
]


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of rank src; its gradient is the sum of all ranks'."""
    return _Broadcast.apply(src, group, tensor)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """On rank dst the ranks' tensors combined, elsewhere the tensor itself; each gets the gradient of dst's."""
    return _Reduce.apply(dst, op, group, tensor)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The ranks' tensors combined; the gradients are combined in the same way."""
    return _AllReduce.apply(op, group, tensor)


def all_gather(tensor: Any, group: Any = None) -> Any:
    """The tuple of the ranks' tensors; each gets the sum of its gradients."""
    return _AllGather.apply(group, tensor)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> Any:
    """On rank dst the tuple of the ranks' tensors, elsewhere zeros; each gets its gradient of dst's."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """The one of `tensors` that rank src has for this rank; src gets the ranks' gradients."""
    return _Scatter.apply(src, group, *tensors)


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The ranks' input_list combined, this rank's part of it, like `output`; gradients go to all ranks."""
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> Any:
    """The tuple of what each rank's input_tensor_list has for this rank; shapes as in output_tensor_list."""
    return _AllToAll.apply(group, output_tensor_list, *input_tensor_list)


def all_to_all_single(output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None,
                      group: Any = None) -> Any:
    """The parts of the ranks' inputs that are for this one, in a tensor like `output`."""
    return _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Any) -> Any:
        ctx.src, ctx.group = src, group
        y = tensor.clone()
        c.broadcast(y, src, group)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        g = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, g)
        return None, None, g if is_rank(ctx.src, ctx.group) else zeros_like(g)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        y = tensor.clone()
        c.reduce(y, dst, op, group)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, g)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any) -> Any:
        ctx.op, ctx.group = op, group
        y = tensor.clone()
        c.all_reduce(y, op, group)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, g)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Any) -> Any:
        ctx.group = group
        ys = [empty_like(tensor) for _ in range(found(group).size())]
        c.all_gather(ys, tensor.contiguous(), group)
        return tuple(ys)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, gs[found(ctx.group).rank()], *gs)


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        ys = [zeros_like(tensor) for _ in range(found(group).size())]
        c.gather(tensor.contiguous(), ys if is_rank(dst, group) else None, dst, group)
        return tuple(ys)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *gs)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Any) -> Any:
        ctx.src, ctx.group = src, group
        y = zeros_like(tensors[0])
        c.scatter(y, [one.contiguous() for one in tensors] if is_rank(src, group) else None, src, group)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None, *_Gather.apply(ctx.src, ctx.group, g)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, output: Any, *inputs: Any) -> Any:
        ctx.group = group
        y = empty_like(output)
        c.reduce_scatter(y, [one.contiguous() for one in inputs], op, group)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None, None, *_AllGather.apply(ctx.group, g)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, outputs: Any, *inputs: Any) -> Any:
        ctx.group, ctx.like = group, [one.detach() for one in inputs]
        ys = [empty_like(one) for one in outputs]
        c.all_to_all(ys, [one.contiguous() for one in inputs], group)
        return tuple(ys)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        return None, None, *_AllToAll.apply(ctx.group, ctx.like, *gs)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Any, to: Any, of: Any, input: Any) -> Any:
        ctx.group, ctx.to, ctx.of, ctx.like = group, to, of, input.detach()
        y = empty_like(output)
        c.all_to_all_single(y, input.contiguous(), to, of, group)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None, None, None, None, _AllToAllSingle.apply(ctx.group, ctx.like, ctx.of, ctx.to, g)


def is_rank(rank: int, group: Any) -> bool:
    """Is this process that rank of the world?"""
    pg = found(group)
    return pg.ranks[pg.place] == rank
