"""Tensor: the public class.  What it does with numbers is in `_functions`; here is what a tensor is."""
from __future__ import annotations

import copy as _copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from .._engine import hooks
from .._engine.dispatch import default, enrol, takes_part
from .._engine.mirror import behind, bits_of, join, turned
from .._engine.modes import grad_on, inference_on, modes, state
from .._engine.tensor import (
    TensorBase,
    bump,
    follow,
    public,
    read_grad,
    shared_version,
    sink_of,
    wants_grad,
    wrap,
    write_grad,
)
from .._engine.views import address, grad_fn, guard_captured, refresh
from .._engine.warn import once, warn
from .._missing import Absent
from .._rules import create
from . import dtypes, printing, size
from .clashes import keep_apart
from .owner import owner

if TYPE_CHECKING:
    from .._typing.methods import Methods  # those that _functions gives it
    from ..utils.hooks import RemovableHandle
else:
    Methods = TensorBase

NOT_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
    "that doesn't require differentiation use var_no_grad = var.detach()."
)
TRANSFORMED = (
    "You are attempting to call {} inside of a function being transformed by a functorch transform. This is unsupported, "
    "please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call {} outside of a "
    "function being transformed instead."
)
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
    "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
    "these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py "
    "as the solution."
)
NO_DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
    "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)
NO_NEW = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that implement "
    "new_empty() and for which that function returns another instance of the same subclass. You should either properly "
    "implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior for new_empty() to return "
    "an instance of a different type."
)
NO_CLONE = (
    "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that implement clone() "
    "and for which cloning returns another instance of the same subclass. You should either properly implement clone() for "
    "your subclass or override __deepcopy__() if it is intended behavior for clone() to return an instance of a different type."
)
SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
cpu = dtypes.device("cpu")


def seal() -> None:
    """Give every property that cannot be set PyTorch's words for it."""
    for name, value in list(vars(Tensor).items()):
        if isinstance(value, property) and value.fset is None:
            setattr(Tensor, name, property(value.fget, _refuser(name), value.fdel or _refuser(name), value.__doc__))


def _refuser(name: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")
    refuse.refuses = True  # type: ignore[attr-defined]
    return refuse


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The __torch_function__ of a class that takes no part."""
    with DisableTorchFunctionSubclass():
        return func(*args, **kwargs or {})


class DisableTorchFunctionSubclass:
    """`with` it, nobody asks __torch_function__ of types: functions compute."""

    __module__ = "retrograd._C"
    closed = 1

    def __enter__(self) -> None:
        it = state()
        self.had = it.closed
        it.closed = max(it.closed, self.closed)

    def __exit__(self, *_: Any) -> None:
        state().closed = self.had


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """`with` it, nobody asks __torch_function__, neither of types nor of modes."""

    __module__ = "retrograd._C"
    closed = 2


@cache
def _autograd() -> Any:
    """The package, which needs this module first."""
    from .. import autograd

    return autograd


def check_export(t: Any) -> None:
    """BufferError for what no capsule of DLPack tells: that t requires grad, or is conjugated."""
    if wants_grad(t):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if t.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")


def warn_scalar() -> None:
    """A tensor that requires grad becomes a number."""
    if once(SCALAR):
        warn(SCALAR)


class Tensor(Methods):
    """An n-dimensional array that records what is done with it, so that gradients can be taken.

    Make one with `torch.tensor(data)` or a factory such as `torch.zeros(2, 3)`; `requires_grad=True` asks for a
    gradient, `backward()` computes it, `.grad` holds it.  https://pytorch.org/docs/stable/tensors.html
    """

    __module__ = "retrograd"

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        device = kwargs.pop("device", None)
        dtypes.check_device(device)
        if "data" in kwargs and not args:
            args = (kwargs.pop("data"),)
        if kwargs:
            raise TypeError(f"Tensor() got an unexpected keyword argument '{next(iter(kwargs))}'")
        self = TensorBase.__new__(cls)
        default = dtypes.get_default_dtype().numpy
        if not args:
            self.array = np.empty(0, default)
        elif len(args) == 1 and (isinstance(args[0], bool) or not isinstance(args[0], (int, np.integer))):
            data = args[0]
            if isinstance(data, TensorBase):
                self.array = data.array
            elif hasattr(data, "untyped"):
                from .._functions.memory import shown
                self.array = shown(data, dtypes.get_default_dtype())
            elif isinstance(data, size.Size):
                self.array = np.empty(tuple(data), default)
            else:
                from .._functions.fromdata import sequence
                self.array = sequence(data, default).copy()
        else:
            from .._functions.fromdata import allot, sizes
            self.array = allot(sizes(args), default)
        follow(self, args[0] if args else None)
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_apart(cls)
        enrol(cls)

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False) -> Any:
        """A leaf of class cls in data's memory."""
        if not isinstance(data, TensorBase):
            raise TypeError(
                f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {dtypes.typename(data)}")
        out = TensorBase.__new__(cls)
        out.array, out.version = data.array, shared_version(data)
        follow(out, data)
        _want(out, require_grad)
        return out

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What `func` gives, as tensors of this class.  Subclasses override it: see torch.overrides.

        https://pytorch.org/docs/stable/notes/extending.html
        """
        return default(cls, func, types, args, kwargs)

    # What it is

    @property
    def shape(self) -> size.Size:
        """Lengths of the dimensions, as torch.Size."""
        return size.of(self.array.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.array.ndim

    @overload
    def size(self, dim: None = None, *, axis: None = None) -> size.Size: ...
    @overload
    def size(self, dim: int, *, axis: None = None) -> int: ...
    @overload
    def size(self, dim: None = None, *, axis: int) -> int: ...
    def size(self, dim: int | None = None, *, axis: int | None = None) -> Any:
        """The shape, or the length of one dimension."""
        shape = self.array.shape
        if dim is None:
            return size.of(shape) if axis is None else self.size(axis)
        if type(dim) is int and 0 <= dim < len(shape):
            return shape[dim]
        from .._functions.arguments import dim_of, is_int
        if not is_int(dim):
            raise TypeError(f"size(): argument 'dim' (position 1) must be int, not {dtypes.typename(dim)}")
        if not self.array.ndim:
            raise IndexError("Dimension specified as " + str(dim) + " but tensor has no dimensions")
        return self.array.shape[dim_of(int(dim), self.array.ndim)]

    @property
    def dtype(self) -> dtypes.dtype:
        """Element type, such as torch.float32."""
        return dtypes.of(self.array.dtype)

    @property
    def device(self) -> dtypes.device:
        """Always cpu."""
        return cpu

    @property
    def layout(self) -> dtypes.layout:
        """Always torch.strided."""
        return dtypes.strided

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return int(self.array.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self.array.size * self.array.itemsize)

    if TYPE_CHECKING:
        is_cuda: bool
        is_sparse: bool
        is_quantized: bool
        is_meta: bool
        is_mkldnn: bool
        is_mps: bool
        is_nested: bool
    else:
        is_cuda = property(lambda self: False, doc="False: tensors live on the CPU.")
        is_sparse = property(lambda self: False, doc="False: there are no sparse tensors.")
        is_quantized = property(lambda self: False, doc="False: there are no quantized tensors.")
        is_meta = property(lambda self: False, doc="False: there are no meta tensors.")
        is_mkldnn = property(lambda self: False, doc="False.")
        is_mps = property(lambda self: False, doc="False.")
        is_nested = property(lambda self: False, doc="False.")

    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.array.ndim)

    ndimension = dim

    def numel(self) -> int:
        """Number of elements."""
        return int(self.array.size)

    nelement = numel

    def element_size(self) -> int:
        """Bytes per element."""
        return int(self.array.itemsize)

    def is_pinned(self, device: Any = None) -> bool:
        """False: pinned memory is for GPUs."""
        return False

    def is_contiguous(self, memory_format: Any = dtypes.contiguous_format) -> bool:
        """Are the elements in C order without gaps?  In memory formats of other ranks they are not."""
        return dtypes.rank_of(memory_format, self.ndim) == self.ndim and bool(self.array.flags.c_contiguous)

    def is_inference(self) -> bool:
        """Was it made in inference mode?"""
        return self.inference

    # Its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Does backward() compute a gradient for it or for what it was made from?"""
        return wants_grad(self)

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self.fn is not None:
            raise RuntimeError(NOT_LEAF if not on else NOT_LEAF.partition(" If")[0])
        if on and self.array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self._set_requires_grad(on)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set requires_grad; -> itself.  RuntimeError for integers, and for switching a non-leaf off."""
        if state().transform:
            raise RuntimeError(TRANSFORMED.format("Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs)",
                                                  "requires_grad_()"))
        if requires_grad is not True and requires_grad is not False:
            raise TypeError("requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                            f"{dtypes.typename(requires_grad)}")
        if self.fn is not None:
            if not requires_grad:
                raise RuntimeError(NOT_LEAF)
            return self
        if requires_grad and self.array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self._set_requires_grad(bool(requires_grad))
        return self

    def _set_requires_grad(self, on: bool) -> None:
        if on and self.inference and not inference_on():
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self.rg = on
        if self.sink is not None:
            self.sink.frozen = not on

    @property
    def grad_fn(self) -> Any:
        """The node that made it; None for leaves."""
        return grad_fn(self)

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    @property
    def volatile(self) -> bool:
        """False, with a warning: use torch.no_grad()."""
        warn("volatile was removed (Variable.volatile is always False)")
        return False

    @volatile.setter
    def volatile(self, value: Any) -> None:
        warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")

    @property
    def is_leaf(self) -> bool:
        """No op made it (or none that was recorded)."""
        if self.origin is not None:
            refresh(self)
        return self.fn is None

    @property
    def output_nr(self) -> int:
        """Which output of its grad_fn it is."""
        return self.nr

    @property
    def retains_grad(self) -> bool:
        """Did a non-leaf ask to keep its gradient?"""
        return self.kept is not None and self.kept.on

    @property
    def _version(self) -> int:
        if self.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.version is None else self.version.edits

    @property
    def _base(self) -> Any:
        return None if self.origin is None else self.origin.base

    def _is_view(self) -> bool:
        return self.origin is not None

    if TYPE_CHECKING:
        grad: Tensor | None
        _grad: Tensor | None
    else:
        grad = property(read_grad, write_grad, lambda self: write_grad(self, None), """\
The gradient, shaped like the tensor, or None.  A non-leaf has one only after retain_grad().""")
        _grad = grad

    def _check_grad(self, value: Any) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.array.dtype != self.array.dtype:
            want = self.grad_dtype if self.fn is None else self.dtype
            if want is not None and dtypes.of(value.array.dtype) is not want:
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{dtypes.of(value.array.dtype).ctype}' to a tensor with "
                    f"grad_dtype '{want.scalar}'. The gradient must match the tensor's grad_dtype (defaults to the "
                    "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
                    "allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may "
                    "break downstream systems that assume they match.")
        if value.array.shape != self.array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.array.shape)}' to a tensor of size "
                f"'{list(self.array.shape)}'. Please ensure that the gradient and the tensor are the same size")

    @property
    def grad_dtype(self) -> Any:
        """The dtype that gradients of this leaf are cast to; None keeps any."""
        if self.fn is not None:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        if self.sink is not None:
            if self.sink.any_dtype:
                return None
            if self.sink.dtype is not None:
                return dtypes.of(self.sink.dtype)
        return self.dtype

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if value is not None and not isinstance(value, dtypes.dtype):
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
        had = self.grad
        if self.fn is not None:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not None and had is not None and had.dtype is not value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{value.scalar}' because there is already a gradient with dtype "
                f"'{had.dtype.ctype}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure "
                "the new grad_dtype matches the existing gradient's dtype.")
        sink = sink_of(self)
        sink.any_dtype = value is None
        sink.dtype = None if value is None else value.numpy

    def retain_grad(self) -> None:
        """Keep the gradient of a non-leaf in .grad.  RuntimeError when nothing requires grad."""
        if not wants_grad(self):
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if state().lenient:
            raise RuntimeError(TRANSFORMED.format("Tensor.retain_grad()", "retain_grad()"))
        if self.grad_fn is not None:
            hooks.retain(self)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(gradient) once per backward, with the summed gradient, before it goes on.

        A returned tensor (same shape and dtype) replaces the gradient.  -> RemovableHandle.  RuntimeError when the
        tensor does not require grad.  https://pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
        """
        if not wants_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return hooks.register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(leaf) after each accumulation into its .grad.  -> RemovableHandle.  Leaves only."""
        if not wants_grad(self):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return hooks.register_post_accumulate(self, hook)

    @property
    def _backward_hooks(self) -> Any:
        return self.listeners

    @_backward_hooks.setter
    def _backward_hooks(self, table: Any) -> None:
        hooks.replace_tensor_hooks(self, table)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _post_accumulate_grad_hooks(self) -> Any:
        return None if self.sink is None else self.sink.after

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None,
    ) -> None:
        """Add d(self)/d(leaf) to the .grad of every leaf it was made from (or of `inputs`).

        gradient     the gradient at self, same shape; needed unless self has one element
        retain_graph keep what was saved, for another backward
        create_graph record the pass itself, for higher derivatives
        """
        _autograd().backward(self, gradient, retain_graph, create_graph, None, inputs)

    def detach(self) -> Tensor:
        """The same memory outside the graph."""
        out: Any = create.detached(self)
        return out

    def detach_(self) -> Tensor:
        """Cut it out of the graph that made it.  RuntimeError for views."""
        if modes.marking and inference_on():
            return self                         # nobody looks at graphs there
        if not modes.usual:
            guard_captured(self)
        if self.origin is not None:
            raise RuntimeError(DETACH_VIEW)
        if self.fn is not None:
            self.cut = modes.seq + 1            # the next node may save it
        elif self.sink is not None:
            self.sink.frozen = True             # what a graph made before brings to it is dropped
        self.fn = None
        self.nr = 0
        self.rg = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph, with a version counter of its own: edits go unseen."""
        out: Any = wrap(self.array)
        follow(out, self)
        if self.version is not None and self.version.mirrors is not None:
            shared_version(out).mirrors = self.version.mirrors
        return out

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.rg and value.array.dtype.kind not in "fcV":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if value.array.shape != self.array.shape:
            hooks.keep_shape(self)
        self.array = value.array
        if value.version is not None and value.version.mirrors is not None:
            join(shared_version(self), value.version.mirrors)
        if self.sink is not None:
            self.sink.array = value.array

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # To and from the rest of the world

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The same memory as a NumPy array.  RuntimeError when it requires grad, unless force."""
        if wants_grad(self) and grad_on() and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        for bit, name in (("conjugate", "conj"), ("negative", "neg")):
            if getattr(self, f"is_{name}")():
                if force:
                    return self.array.copy()
                raise RuntimeError(f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{name}().numpy() "
                                   "instead.")
        return self.array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: Any = False) -> Any:
        """What a NumPy function made of tensors, as a tensor again."""
        return wrap(np.asarray(array))

    def __dlpack__(self, **kwargs: Any) -> Any:
        check_export(self)
        array = self.array
        if not array.flags.writeable:
            array = array.copy()
        return array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def item(self) -> Any:
        """The one element as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
        value = self.array.item()
        return float(value) if self.array.dtype.kind == "V" else value

    def tolist(self) -> Any:
        """Nested lists of Python numbers; a number when 0-dim."""
        array = self.array.astype(np.float32) if self.array.dtype.kind == "V" else self.array
        return array.tolist()

    def _number(self, warns: bool = True) -> Any:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if warns and wants_grad(self) and grad_on():
            warn_scalar()
        return self.item()

    def __abs__(self) -> Tensor:
        return self.abs()

    def __pos__(self) -> Tensor:
        if self.array.dtype.kind == "b":
            raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
        return self.positive()

    # Python 2's names of the division
    __div__ = TensorBase.__truediv__
    __rdiv__ = TensorBase.__rtruediv__
    __idiv__ = TensorBase.__itruediv__

    def __float__(self) -> float:
        return float(self._real("double"))

    def __int__(self) -> int:
        return int(self._real("int64_t", False))

    def _real(self, kind: str, warns: bool = True) -> Any:
        value = self._number(warns)
        if isinstance(value, complex):
            if value.imag:
                raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
            return value.real
        return value

    def __bool__(self) -> bool:
        n = self.array.size
        if n != 1:
            raise RuntimeError(f"Boolean value of Tensor with {'no' if n == 0 else 'more than one'} value"
                               f"{'s' if n == 0 else ''} is ambiguous")
        return bool(self.array.item())

    def __index__(self) -> int:
        if self.array.size != 1 or self.array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __complex__(self) -> complex:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return complex(self.item())

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.dim():
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self.array.ndim else self

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (TensorBase, bool, int, float, complex, np.number)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
        return bool((self == element).array.any())

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return printing._str(self, tensor_contents=tensor_contents)

    def __format__(self, spec: str) -> str:
        return printing.format_tensor(self, spec)

    def __deepcopy__(self, memo: Any) -> Any:
        if self.grad_fn is not None:
            raise RuntimeError(NO_DEEPCOPY)
        if id(self) in memo:
            return memo[id(self)]
        out = self._empty_like_class() if type(self) is Tensor else self._new_of_class()
        memo[id(self)] = out
        out.array = _shared_copy(self.array, memo)
        out.rg = self.rg
        bump(out)
        if self.grad is not None:
            out.grad = _copy.deepcopy(self.grad, memo)
        out.__dict__.update(_copy.deepcopy(_attributes(self), memo))
        return out

    def _new_of_class(self) -> Any:
        """A tensor that the class's own new_empty, or clone of tensors without memory, makes of this class."""
        out = self.new_empty([]) if self.array.size else self.clone()
        if type(out) is type(self):
            return out
        if self.array.size:
            raise RuntimeError(NO_NEW)
        raise RuntimeError(NO_CLONE)

    def _empty_like_class(self) -> Any:
        out: Any = TensorBase.__new__(type(self))
        follow(out, None)
        return out

    def __copy__(self) -> Any:
        if takes_part(type(self)) and type(self) is not Tensor and not state().closed:
            return _copy._reconstruct(self, None, *self.__reduce_ex__(4))  # type: ignore[attr-defined]
        out = self._empty_like_class()
        out.array = self.array
        out.rg = wants_grad(self)
        bump(out)
        if self.version is not None:
            join(out.version, self.version.mirrors)
        out.__dict__.update(_attributes(self))
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        from ..utils.hooks import warn_if_has_hooks
        warn_if_has_hooks(self)
        array, bits = _plain(self)
        place: Any = None
        root = owner(array)
        if root is not array and root.flags.c_contiguous and array.size:
            # a copy, so that pickle does not see the memory shared with another tensor: PyTorch's storages part here, too
            array, place = root.copy(), (array.shape, address(array) - address(root), array.strides, array.dtype)
        return _rebuild, (type(self), array, wants_grad(self), OrderedDict(), _attributes(self), place, bits)

    def __dir__(self) -> list[str]:
        return [n for n in super().__dir__() if n not in INTERNAL and not isinstance(vars(Tensor).get(n), Absent)]

INTERNAL = frozenset([
    "array", "rg", "fn", "nr", "version", "sink", "kept", "origin", "listeners", "inference", "cut",
    "_set_requires_grad", "_check_grad", "_empty_like_class", "_new_of_class", "_number", "_real", "_of_transform",
])


def _want(t: Tensor, on: Any) -> None:
    """requires_grad of a new leaf that shows another tensor's memory."""
    if not isinstance(on, bool):
        raise TypeError(f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {dtypes.typename(on)}")
    if on and t.array.dtype.kind not in "fcV":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    t._set_requires_grad(on)


def _attributes(t: Any) -> dict[str, Any]:
    """What the user hung on the tensor.  (Uncompiled, our own fields sit in the same dictionary.)"""
    return {name: value for name, value in t.__dict__.items() if name not in INTERNAL}


def _plain(t: Any) -> tuple[Any, tuple[bool, bool]]:
    """Its array in the memory that is no mirror, and whether it shows that conjugated, negated."""
    bits = bits_of(t)
    return behind(t.version.mirrors, t.array) if any(bits) else t.array, bits


def _shared_copy(array: Any, memo: Any) -> Any:
    """A copy of `array` that keeps memory shared: two views of one block stay views of one block."""
    root = owner(array)
    if root is array or not root.flags.c_contiguous:
        if id(root) not in memo or root is not array:
            memo[id(root)] = array.copy(order="K")
        return memo[id(root)] if root is array else array.copy(order="K")
    if id(root) not in memo:
        memo[id(root)] = root.copy()
    block = memo[id(root)]
    return np.ndarray(array.shape, array.dtype, block, address(array) - address(root), array.strides)


def _rebuild(cls: Any, array: Any, requires_grad: bool, table: Any, attributes: Any, place: Any = None, bits: Any = ()) -> Any:
    """place: (shape, offset, strides in bytes, dtype) of a view of array   bits: is the view conjugated, negated?"""
    out = TensorBase.__new__(cls)
    out.array = array
    if place is not None:
        size, offset, strides, dtype = place
        out.array = np.ndarray(size, dtype, array, offset, strides)
    out.array = np.asarray(out.array, np.dtype(out.array.dtype.str) if out.array.dtype.kind != "V" else out.array.dtype)
    for on, turn in zip(bits, (np.conjugate, np.negative)):
        if on:
            mirrors: Any = []
            out.array = turned(mirrors, out.array, turn)
            shared_version(out).mirrors = mirrors
    out.rg = requires_grad
    follow(out, None)
    bump(out)
    if attributes:
        out.__dict__.update(attributes)
    out.listeners = table
    return out


def _no_grad() -> None:
    warn(NON_LEAF_GRAD)


public.no_grad = _no_grad
public.check_grad = Tensor._check_grad
public.tensor = Tensor
public.new = TensorBase.__new__
