"""Where a tensor lives and how: on the CPU, dense, in memory that nobody pins.

size             lengths of the dimensions
stride           steps of the dimensions, in elements of memory
storage_offset   where in memory the first element is
"""
from __future__ import annotations

from typing import Any

from .._engine.tensor import TensorBase, follow
from .._rules import shape as ops
from .._tensor import dtypes
from .arguments import tensor
from .create import empty_strided
from .shape import as_strided


def get_device(input: Any) -> int:
    """-1: PyTorch's number for the CPU."""
    return -1


def never(doc: str) -> Any:
    def get(self: Any) -> bool:
        return False
    get.__doc__ = doc
    return property(get)


def _is_cpu(self: Any) -> bool:
    """True: all tensors live on the CPU."""
    return True


is_cpu = property(_is_cpu)
is_xpu, is_ipu, is_xla, is_mtia, is_maia, is_vulkan = (
    never("False: all tensors live on the CPU.") for _ in range(6))
is_sparse_csr = never("False: all tensors are dense.")


def is_shared(input: Any) -> bool:
    """Does the memory lie where other processes see it, as that of large batches from DataLoader workers does?"""
    memory = input.array
    while memory is not None and not hasattr(memory, "shared"):
        memory = memory.obj if isinstance(memory, memoryview) else getattr(memory, "base", None)
    return memory is not None


def T_is_distributed(input: Any) -> bool:
    """False."""
    return False


def share_memory_(input: Any) -> Any:
    """Move it to memory that other processes see: those made by fork, and those to which torch.multiprocessing sends it."""
    from .shared_memory import share

    share(input)
    return input


def pin_memory(input: Any, device: Any = None) -> Any:
    """RuntimeError, as in PyTorch on a machine without an accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def record_stream(input: Any, s: Any) -> None:
    """RuntimeError, whatever s is: there are no streams."""
    raise RuntimeError("record_stream(): tensors on the CPU have no streams")


def to_dense(input: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """Itself (in another dtype): all tensors are dense, whatever masked_grad says."""
    return input if dtype is None else input.to(dtype)


def as_strided_(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """In place: input shows its memory with other sizes and strides."""
    return ops.as_strided_(input, as_strided(input.detach(), size, stride, storage_offset).array)


def new_empty_strided(input: Any, size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None,
                      pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """Uninitialized, with the given strides, in input's dtype."""
    dtypes.check_device(device)
    want = dtype or dtypes.of(input.array.dtype)
    return empty_strided(size, stride, dtype=want, requires_grad=requires_grad)


def dim_order(input: Any, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dims from the outermost in memory to the innermost.  ambiguity_check is accepted without effect."""
    strides = input.array.strides
    return tuple(int(d) for d in sorted(range(len(strides)), key=lambda d: (-strides[d], d)))


def as_subclass(input: Any, cls: Any) -> Any:
    """The same memory as a tensor of class cls, a subclass of Tensor."""
    x = tensor(input, "as_subclass")
    if not isinstance(cls, type) or not issubclass(cls, TensorBase):
        raise TypeError(f"cls must be a type (got {dtypes.typename(cls)})")
    y: Any = ops.alias(x)
    z: Any = TensorBase.__new__(cls)         # PyTorch calls no __new__ or __init__ of cls
    z.array, z.rg, z.fn, z.nr = y.array, y.rg, y.fn, y.nr
    z.origin, z.version = y.origin, y.version
    follow(z, x)
    return z
