"""What a collective refuses before anything is sent, in PyTorch's words."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import TensorBase
from .process_group import ProcessGroup, found
from .stores import whole

Array = Any


def tensor(given: Any, name: str) -> None:
    """TypeError for what is no tensor, RuntimeError for one that has no data: the other ranks' may have."""
    if not isinstance(given, TensorBase):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
                        f"             but got {type(given)} instead.")
    one: Any = given
    if one.is_meta:
        raise RuntimeError("a meta tensor has no data to send or to receive")


def tensors(given: Any, name: str) -> None:
    """TypeError for what is no list of tensors."""
    if not isinstance(given, list) or not all(isinstance(one, TensorBase) for one in given):
        got = f"with elements of type {[type(one) for one in given]}." if isinstance(given, list) else "instead."
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
                        f"             but got {type(given)} {got}")
    for one in given:
        tensor(one, name)


def one_dtype(*given: Any, elements: bool = False) -> None:
    """ValueError where dtypes differ, or with `elements` those of the parts of complex numbers.

    Arguments are tensors and lists of them.
    """
    flat = [one for each in given for one in (each if isinstance(each, (list, tuple)) else [each])]
    for one in flat[1:]:
        if one.dtype != flat[0].dtype and not (elements and one.dtype.to_real() == flat[0].dtype.to_real()):
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {flat[0].dtype} and  {one.dtype}")


def shapes(function: str, given: Any, wanted: Any) -> None:
    """RuntimeError where a tensor of a list has another shape than `wanted`."""
    want = ", ".join(map(str, wanted))
    for i, one in enumerate(given):
        if one.shape != wanted:
            raise RuntimeError(f"ProcessGroupGloo::{function}: invalid tensor size at index {i} (expected ({want}), "
                               f"got ({', '.join(map(str, one.shape))}))")


def root_of(group: Any, rank: int | None, group_rank: int | None, function: str, default: int | None = None) -> int:
    """The rank in the group of the one who gives or gets.  ValueError for none, two, or one that is not in it."""
    of = found(group)
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if rank is None and group_rank is None:
        if default is None:
            raise ValueError("Must specify global_rank or group_rank")
        group_rank = default
    if group_rank is None:
        rank = whole("", rank)
        if number(of):
            if rank not in of.ranks:
                raise ValueError(f"Global rank {rank} is not part of group {group}")
            group_rank = of.ranks.index(rank)
        else:
            group_rank = rank
    group_rank = whole("", group_rank)
    if not 0 <= group_rank < of.n:
        raise RuntimeError(f"ProcessGroupGloo::{function}: invalid root rank: {group_rank}")
    return group_rank


def tag(group: ProcessGroup, given: Any) -> None:
    """TypeError for what is no int, RuntimeError for a negative one and one that MPI does not take."""
    given = whole("", given)
    if given < 0:
        raise RuntimeError("Tag must be nonnegative")
    most = group.mpi.COMM_WORLD.Get_attr(group.mpi.TAG_UB) if group.mpi is not None else given
    if given > most:
        raise RuntimeError(f"Tag must be at most {most}, as MPI takes no greater ones, got {given}")


def number(group: ProcessGroup) -> int:
    """0 for the group of all."""
    return group.number


def plain(a: Array) -> Array:
    """`a`, or a view of it, as MPI may send it: halves and bfloat16 as 16 bits."""
    return a.view(np.uint16) if a.dtype.itemsize == 2 and a.dtype.kind not in "iu" else a


def block(a: Array) -> Array:
    """`a` if its elements lie one after the other, else a copy."""
    return a if a.flags.c_contiguous else np.ascontiguousarray(a)
