"""Collectives: what all ranks of a group call, in the same order, with tensors of the same shapes.

Each is: checks, arrays that MPI can send, MPI's operation, and what is to be written when it is over.
`async_op=True` returns the Work, which is to be waited for; else they return None when it is over.
A rank that is not in the group is warned, and gets None.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, bump
from . import checks, reducing
from .groups import warn_outside
from .process_group import ProcessGroup, found, outside
from .reducing import ReduceOp
from .stores import fits, whole
from .work import Work

Array = Any
UNLIKE = "ProcessGroupGloo::alltoall: input and output tensors must have the same size"


def writing(given: Sequence[Any], values: Callable[[], Any]) -> Callable[[], None]:
    """What writes arrays into tensors when they are there."""
    def finish() -> None:
        for one, value in zip(given, values(), strict=True):
            if value is not one.array:
                np.copyto(one.array, value.reshape(one.array.shape), casting="unsafe")
            bump(one)

    return finish


def reduction(pg: ProcessGroup, a: Array, op: Any, function: str) -> tuple[Array, Any, Callable[[Array], None] | None]:
    """-> (the array that MPI combines, its operation, what is still to be done with the result)"""
    if op is ReduceOp.SUM and a.dtype.char in "fd":             # nothing to check or to do
        return checks.block(a), pg.sum, None
    kind, factor = reducing.check(op, a.dtype, function)
    sent = reducing.before(checks.block(a), kind, factor)
    return sent, pg.operation(kind), reducing.after(kind, pg.n)


def reduced(one: Any, got: Array, then: Callable[[Array], None] | None) -> Callable[[], None]:
    """What writes a reduction's result into a tensor when it is there."""
    if then is None and got is one.array:
        return partial(bump, one)

    def result() -> list[Array]:
        if then is not None:
            then(got)
        return [got]

    return writing([one], result)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all ranks; every rank gets the result, in place."""
    checks.tensor(tensor, "tensor")
    if outside(group):
        return warn_outside("all_reduce")
    pg = found(group)
    buffer, how, then = reduction(pg, tensor.array, op, "all_reduce")
    return pg.run(async_op, "all_reduce", pg.comm.Iallreduce, (pg.in_place, buffer), [tensor],
                  reduced(tensor, buffer, then), buffer.nbytes, op=how)


def all_reduce_coalesced(tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """all_reduce of several tensors of one dtype, or of complex numbers and their elements, as one message."""
    tensors = [tensors] if isinstance(tensors, TensorBase) else tensors
    checks.tensors(tensors, "tensor")
    checks.one_dtype(tensors, elements=True)
    if not tensors:
        raise NotImplementedError("There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), "
                                  "but no fallback function is registered for schema c10d::allreduce_coalesced_")
    if outside(group):
        return warn_outside("all_reduce_coalesced")
    pg = found(group)
    joined = np.concatenate([one.array.reshape(-1) for one in tensors])
    buffer, how, then = reduction(pg, joined, op, "all_reduce")

    def result() -> list[Array]:
        if then is not None:
            then(buffer)
        return parts(buffer, [one.array.size for one in tensors])

    work = pg.run(async_op, "all_reduce_coalesced", pg.comm.Iallreduce, (pg.in_place, buffer), list(tensors),
                  writing(tensors, result), buffer.nbytes, op=how)
    return None if work is None else work.get_future()


def reduce(tensor: Any, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """Reduce the tensors of all ranks; rank dst gets the result, in place."""
    if outside(group):
        return warn_outside("reduce")
    root = checks.root_of(group, dst, group_dst, "reduce")
    checks.tensor(tensor, "tensor")
    pg = found(group)
    buffer, how, then = reduction(pg, tensor.array, op, "reduce")
    if pg.place != root:
        return pg.run(async_op, "reduce", pg.comm.Ireduce, (buffer, None), [tensor], None, buffer.nbytes, op=how, root=root)
    return pg.run(async_op, "reduce", pg.comm.Ireduce, (pg.in_place, buffer), [tensor], reduced(tensor, buffer, then),
                  buffer.nbytes, op=how, root=root)


def broadcast(tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Every rank's tensor becomes that of rank src, in place."""
    checks.tensor(tensor, "tensor")
    if outside(group):
        return warn_outside("broadcast")
    root = checks.root_of(group, src, group_src, "broadcast")
    pg = found(group)
    buffer = checks.block(tensor.array)
    finish = None if pg.place == root else writing([tensor], lambda: [buffer])
    return pg.run(async_op, "broadcast", pg.comm.Ibcast, (checks.plain(buffer),), [tensor], finish, buffer.nbytes, root=root)


def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """On every rank tensor_list[i] becomes rank i's tensor."""
    checks.tensors(tensor_list, "tensor_list")
    checks.tensor(tensor, "tensor")
    checks.one_dtype(tensor_list, tensor)
    if outside(group):
        return warn_outside("all_gather")
    pg = found(group)
    if len(tensor_list) != pg.n:
        raise RuntimeError(f"ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length {pg.n}, "
                   f"got {len(tensor_list)})")
    checks.shapes("allgather", tensor_list, tensor.shape)
    sent, all_of_them = checks.block(tensor.array), np.empty((pg.n, *tensor.array.shape), tensor.array.dtype)
    return pg.run(async_op, "all_gather", pg.comm.Iallgather, (checks.plain(sent), checks.plain(all_of_them)), list(tensor_list),
                  writing(tensor_list, lambda: all_of_them), sent.nbytes)


def all_gather_into_tensor(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """output_tensor becomes the ranks' tensors in order: (n * d, ...) or (n, d, ...) for tensors of (d, ...)."""
    checks.tensor(input_tensor, "input_tensor")
    checks.tensor(output_tensor, "output_tensor")
    if outside(group):
        return warn_outside("all_gather_into_tensor")
    pg = found(group)
    concatenated(output_tensor, input_tensor, pg.n)
    sent, got = checks.block(input_tensor.array), checks.block(output_tensor.array)
    return pg.run(async_op, "all_gather_into_tensor", pg.comm.Iallgather, (checks.plain(sent), checks.plain(got)),
                  [output_tensor], writing([output_tensor], lambda: [got]), sent.nbytes)


def concatenated(whole: Any, part: Any, n: int) -> None:
    """RuntimeError where `whole` is not n tensors like `part`, one after the other."""
    if whole.dtype != part.dtype:
        raise RuntimeError(
            f"ProcessGroupGloo::allgather: invalid tensor type at index 0 (expected {part.dtype}, got {whole.dtype})")
    if whole.shape == (n, *part.shape) or (part.ndim and whole.shape == (n * part.shape[0], *part.shape[1:])):
        return
    if whole.ndim == 0:
        raise RuntimeError("ProcessGroupGloo::allgather: chunk expects at least a 1-dimensional tensor")
    step = -(-whole.shape[0] // n)
    checks.shapes("allgather", whole.split(step) if step else [whole], part.shape)
    raise RuntimeError(f"ProcessGroupGloo::allgather: output tensor size must be equal to world_size times input tensor size, "
                       f"got {tuple(whole.shape)} for {n} of {tuple(part.shape)}")


def all_gather_coalesced(output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False) -> Any:
    """output_tensor_lists[i] becomes rank i's input_tensor_list."""
    if not isinstance(output_tensor_lists, (list, tuple)):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for one in output_tensor_lists:
        checks.tensors(one, "output_tensor_lists")
    checks.tensors(input_tensor_list, "input_tensor_list")
    if outside(group):
        return warn_outside("all_gather_coalesced")
    works = [all_gather([each[i] for each in output_tensor_lists], one, group, True)
             for i, one in enumerate(input_tensor_list)]
    for work in works:
        assert work is not None
        work.wait()
    return works[-1].get_future() if async_op and works and works[-1] is not None else None


def gather(tensor: Any, gather_list: Any = None, dst: int | None = None, group: Any = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """On rank dst (0 by default) gather_list[i] becomes rank i's tensor."""
    checks.tensor(tensor, "tensor")
    if gather_list:
        checks.tensors(gather_list, "gather_list")
        checks.one_dtype(tensor, gather_list)
    if outside(group):
        return warn_outside("gather")
    root, pg = checks.root_of(group, dst, group_dst, "gather", 0), found(group)
    listed(pg, root, gather_list, "gather_list", "destination")
    sent, got = checks.block(tensor.array), None
    finish: Callable[[], None] | None = None
    if pg.place == root:
        of_right_number("gather", "output", gather_list, pg.n)
        checks.shapes("gather", gather_list, tensor.shape)
        got = np.empty((pg.n, *sent.shape), sent.dtype)
        finish = writing(gather_list, lambda: got)
    return pg.run(async_op, "gather", pg.comm.Igather, (checks.plain(sent), None if got is None else checks.plain(got)),
                  list(gather_list or ()), finish, sent.nbytes, root=root)


def scatter(tensor: Any, scatter_list: Any = None, src: int | None = None, group: Any = None, async_op: bool = False,
            group_src: int | None = None) -> Work | None:
    """On rank i, tensor becomes scatter_list[i] of rank src (0 by default)."""
    checks.tensor(tensor, "tensor")
    if scatter_list:
        checks.tensors(scatter_list, "scatter_list")
        checks.one_dtype(tensor, scatter_list)
    if outside(group):
        return warn_outside("scatter")
    root, pg = checks.root_of(group, src, group_src, "scatter", 0), found(group)
    listed(pg, root, scatter_list, "scatter_list", "source")
    sent, got = None, checks.block(tensor.array)
    if pg.place == root:
        of_right_number("scatter", "input", scatter_list, pg.n)
        checks.shapes("scatter", scatter_list, tensor.shape)
        sent = checks.block(np.stack([one.array for one in scatter_list]))  # of transposed ones it is transposed
    return pg.run(async_op, "scatter", pg.comm.Iscatter, (None if sent is None else checks.plain(sent), checks.plain(got)),
                  [tensor], writing([tensor], lambda: [got]), got.nbytes, root=root)


def listed(pg: ProcessGroup, root: int, given: Any, name: str, kind: str) -> None:
    """ValueError unless the rank that gives or gets has a list, and no other."""
    if pg.place == root and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {kind} rank.")
    if pg.place != root and given:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{kind} ranks.")


def of_right_number(function: str, kind: str, given: Any, n: int) -> None:
    if len(given) != n:
        raise RuntimeError(f"ProcessGroupGloo::{function}: Incorrect {kind} list size {len(given)}. {kind.capitalize()} list "
                   f"size should be {n}, same as size of the process group.")


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None,
                   async_op: bool = False) -> Work | None:
    """Reduce the lists of all ranks; rank i gets the result for input_list[i]."""
    checks.tensor(output, "output")
    checks.tensors(input_list, "input_list")
    checks.one_dtype(output, input_list)
    if outside(group):
        return warn_outside("reduce_scatter")
    pg = found(group)
    if len(input_list) != pg.n:
        raise RuntimeError("invalid input tensor list size, must be world size")
    checks.shapes("reduce_scatter", input_list, output.shape)
    return scattered("reduce_scatter", pg, output, np.stack([one.array for one in input_list]), op, async_op)


def reduce_scatter_tensor(output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None,
                  async_op: bool = False) -> Work | None:
    """Reduce the inputs of all ranks; rank i gets the i-th of n equal parts of the result."""
    checks.tensor(output, "output")
    checks.tensor(input, "input")
    if outside(group):
        return warn_outside("reduce_scatter_tensor")
    pg = found(group)
    concatenated(input, output, pg.n)
    return scattered("reduce_scatter_tensor", pg, output, input.array, op, async_op)


def scattered(name: str, pg: ProcessGroup, output: Any, whole: Array, op: Any, async_op: bool) -> Work | None:
    sent, how, then = reduction(pg, whole, op, name)
    got = np.empty(output.array.shape, sent.dtype)
    return pg.run(async_op, name, pg.comm.Ireduce_scatter_block, (sent, got), [output], reduced(output, got, then), sent.nbytes,
                  op=how)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """Send input_tensor_list[i] to rank i, and receive output_tensor_list[i] from it; shapes may differ if both agree."""
    checks.tensors(output_tensor_list, "output_tensor_list")
    checks.tensors(input_tensor_list, "input_tensor_list")
    checks.one_dtype(output_tensor_list, input_tensor_list)
    if outside(group):
        return warn_outside("all_to_all")
    pg = found(group)
    for kind, given in (("output", output_tensor_list), ("input", input_tensor_list)):
        if len(given) != pg.n:
            raise RuntimeError(
                f"ProcessGroupGloo::alltoall: {kind} tensor list size {len(given)} does not match world size {pg.n}")
    sent = np.concatenate([one.array.reshape(-1) for one in input_tensor_list])
    sizes = [one.array.size for one in output_tensor_list]
    got = np.empty(sum(sizes), sent.dtype)
    return exchange("all_to_all", pg, (sent, [one.array.size for one in input_tensor_list]), (got, sizes), output_tensor_list,
                    lambda: parts(got, sizes), async_op)


def exchange(name: str, pg: ProcessGroup, sent: tuple[Array, list[int]], got: tuple[Array, list[int]], outputs: Sequence[Any],
             values: Callable[[], Any], async_op: bool) -> Work | None:
    """Send consecutive parts of these sizes; RuntimeError where a rank sends fewer or more elements than another expects.

    MPI may cut what is longer and say nothing, so the sizes are sent, too.
    """
    if sent[1][pg.place] != got[1][pg.place]:
        raise RuntimeError(UNLIKE)
    mine, come = np.array(sent[1], np.int64), np.array(got[1], np.int64)
    write = writing(outputs, values)

    def begin(send: list[Any], receive: list[Any]) -> Any:
        return Both(pg.comm.Ialltoallv([mine, [1] * pg.n], [come, [1] * pg.n]), pg.comm.Ialltoallv(send, receive))

    def finish() -> None:
        for rank, (wanted, count) in enumerate(zip(got[1], come.tolist(), strict=True)):
            if wanted != count:
                raise RuntimeError(f"{UNLIKE}: rank {pg.ranks[rank]} sent {count} elements to rank {pg.ranks[pg.place]}, which "
                                   f"expected {wanted}")
        write()

    return pg.run(async_op, name, begin, ([checks.plain(sent[0]), sent[1]], [checks.plain(got[0]), got[1]]), list(outputs),
                  finish, sent[0].nbytes)


class Both:
    """Two requests as one."""

    def __init__(self, *requests: Any) -> None:
        self.requests = list(requests)

    def Test(self) -> bool:
        """Are both complete?"""
        while self.requests:
            if not self.requests[0].Test():
                return False
            del self.requests[0]
        return True


def all_to_all_single(output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
                      async_op: bool = False) -> Work | None:
    """Send the i-th part of input to rank i; output has the parts received, in order.  Parts are equal unless sizes say."""
    checks.tensor(output, "output")
    checks.tensor(input, "input")
    checks.one_dtype(output, input)
    if outside(group):
        return warn_outside("all_to_all_single")
    pg = found(group)
    counts = [split(one, sizes, pg.n) for one, sizes in ((input, input_split_sizes), (output, output_split_sizes))]
    sent, got = checks.block(input.array), checks.block(output.array)
    return exchange("all_to_all_single", pg, (sent, counts[0]), (got, counts[1]), [output], lambda: [got], async_op)


def split(one: Any, sizes: Any, n: int) -> list[int]:
    """How many elements go to, or come from, each rank."""
    rows = one.shape[0] if one.ndim else 1
    each = one.array.size // rows if rows else 0
    if sizes is not None:
        fits("all_to_all_single", (sizes, (list, tuple)))
        sizes = [whole("all_to_all_single", size) for size in sizes]
    if not sizes:
        if rows % n:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [rows // n * each] * n
    if len(sizes) != n:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    if min(sizes) < 0:
        raise RuntimeError(f"{UNLIKE}: a part of {min(sizes)} rows")
    return [size * each for size in sizes]


def parts(flat: Array, sizes: Sequence[int]) -> list[Array]:
    """Consecutive pieces of these sizes."""
    return np.split(flat, np.cumsum(sizes)[:-1]) if len(sizes) else []


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None) -> Work | None:
    """Return once every rank of the group has called it.  timeout: for this call; by default the group's"""
    if outside(group):
        return warn_outside("barrier")
    pg = found(group)
    if timeout is not None:
        fits("", (timeout, timedelta))
        work = pg.start("barrier", pg.comm.Ibarrier, (), [])
        work._limit = timeout
        return work if async_op or not work.wait() else None
    return pg.run(async_op, "barrier", pg.comm.Ibarrier, (), [])


all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor


def _all_gather_base(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """all_gather_into_tensor under its old name."""
    return all_gather_into_tensor(output_tensor, input_tensor, group, async_op)


def _reduce_scatter_base(output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """reduce_scatter_tensor under its old name."""
    return reduce_scatter_tensor(output, input, op, group, async_op)
