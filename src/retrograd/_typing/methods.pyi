"""Methods of Tensor that are functions, too.

Written by `make generate`.
"""
# mypy: disable-error-code="overload-overlap,overload-cannot-match,misc"
# PyTorch's overloads, in PyTorch's order
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

from .._tensor import Tensor
from .._tensor.dtypes import device as _device
from .._tensor.dtypes import dtype as _dtype
from .._tensor.dtypes import layout as _layout
from .._tensor.dtypes import memory_format as _memory_format
from ..random import Generator
from ..types import Number
from . import return_types
from .._engine.tensor import TensorBase

_bool: TypeAlias = bool
_float: TypeAlias = float
_int: TypeAlias = int
_type: TypeAlias = type[Any]

class Methods(TensorBase):
    def __add__(self, other: Tensor | Number) -> Tensor: ...
    def __radd__(self, other: Tensor | Number) -> Tensor: ...
    def __iadd__(self, other: Tensor | Number) -> Tensor: ...
    def __sub__(self, other: Tensor | Number) -> Tensor: ...
    def __rsub__(self, other: Tensor | Number) -> Tensor: ...
    def __isub__(self, other: Tensor | Number) -> Tensor: ...
    def __mul__(self, other: Tensor | Number) -> Tensor: ...
    def __rmul__(self, other: Tensor | Number) -> Tensor: ...
    def __imul__(self, other: Tensor | Number) -> Tensor: ...
    def __truediv__(self, other: Tensor | Number) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | Number) -> Tensor: ...
    def __itruediv__(self, other: Tensor | Number) -> Tensor: ...
    def __floordiv__(self, other: Tensor | Number) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | Number) -> Tensor: ...
    def __ifloordiv__(self, other: Tensor | Number) -> Tensor: ...
    def __mod__(self, other: Tensor | Number) -> Tensor: ...
    def __rmod__(self, other: Tensor | Number) -> Tensor: ...
    def __imod__(self, other: Tensor | Number) -> Tensor: ...
    def __pow__(self, other: Tensor | Number, modulo: None = None) -> Tensor: ...
    def __rpow__(self, other: Tensor | Number) -> Tensor: ...
    def __and__(self, other: Tensor | Number) -> Tensor: ...
    def __rand__(self, other: Tensor | Number) -> Tensor: ...
    def __iand__(self, other: Tensor | Number) -> Tensor: ...
    def __or__(self, other: Tensor | Number) -> Tensor: ...
    def __ror__(self, other: Tensor | Number) -> Tensor: ...
    def __ior__(self, other: Tensor | Number) -> Tensor: ...
    def __xor__(self, other: Tensor | Number) -> Tensor: ...
    def __rxor__(self, other: Tensor | Number) -> Tensor: ...
    def __ixor__(self, other: Tensor | Number) -> Tensor: ...
    def __lshift__(self, other: Tensor | Number) -> Tensor: ...
    def __rlshift__(self, other: Tensor | Number) -> Tensor: ...
    def __rshift__(self, other: Tensor | Number) -> Tensor: ...
    def __rrshift__(self, other: Tensor | Number) -> Tensor: ...
    def __lt__(self, other: Tensor | Number) -> Tensor: ...
    def __le__(self, other: Tensor | Number) -> Tensor: ...
    def __gt__(self, other: Tensor | Number) -> Tensor: ...
    def __ge__(self, other: Tensor | Number) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
    def __rmatmul__(self, other: Tensor) -> Tensor: ...
    def __imatmul__(self, other: Tensor) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __getitem__(self, index: Any) -> Tensor: ...
    @property
    def H(self) -> Tensor:
        """The transpose of a matrix, conjugated."""
    @property
    def T(self) -> Tensor:
        """The dims in reverse order; meant for matrices."""
    def __delitem__(self, index: Any) -> None:
        """Elements cannot be deleted."""
    def __ilshift__(self, other: Any) -> Tensor:
        """In place: input << other, in input's dtype."""
    def __irshift__(self, other: Any) -> Tensor:
        """In place: input >> other, in input's dtype."""
    def _is_zerotensor(self) -> Tensor:
        """Is it a tensor of zeros without memory?  There are none here."""
    def _neg_view(self) -> Tensor:
        """The negative, a view."""
    def abs(self) -> Tensor:
        """Absolute value; its derivative at 0 is 0; in the dtype of input."""
    def abs_(self) -> Tensor:
        """In place: abs."""
    def absolute(self) -> Tensor:
        """Absolute value; its derivative at 0 is 0; in the dtype of input."""
    def absolute_(self) -> Tensor:
        """In place: abs."""
    def acos(self) -> Tensor:
        """Inverse cosine, in radians; integers give the default float."""
    def acos_(self) -> Tensor:
        """In place: acos."""
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine; integers give the default float."""
    def acosh_(self) -> Tensor:
        """In place: acosh."""
    def add(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """input + alpha * other, broadcast; in the common dtype.  https://pytorch.org/docs/stable/generated/torch.add.html"""
    def add_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """In place: input += alpha * other."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2 summed over the batch)"""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In place: addbmm."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 / tensor2; not for integers."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """In place: addcdiv."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 * tensor2"""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """In place: addcmul."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2); input broadcasts, and is ignored when beta is 0."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In place: addmm."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec)"""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In place: addmv."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)"""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In place: addr."""
    def adjoint(self) -> Tensor:
        """The last two dims exchanged, conjugated."""
    @overload
    def all(self) -> Tensor:
        """Does all element differ from zero, of all or over dims?  bool (uint8 for uint8)."""
    @overload
    def all(self, dim: Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor: ...
    @overload
    def all(self, dim: _int, keepdim: _bool = False) -> Tensor: ...
    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Are all elements close (isclose)?  A bool."""
    def amax(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """The maximum over dims (all when empty); ties share the gradient."""
    def amin(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """The minimum over dims (all when empty); ties share the gradient."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> return_types.aminmax:
        """Named tuple (min, max), of all elements or along one dim."""
    def angle(self) -> Tensor:
        """0, or pi for negative numbers: the angle in the complex plane; integers give the default float."""
    @overload
    def any(self) -> Tensor:
        """Does any element differ from zero, of all or over dims?  bool (uint8 for uint8)."""
    @overload
    def any(self, dim: Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor: ...
    @overload
    def any(self, dim: _int, keepdim: _bool = False) -> Tensor: ...
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Each element becomes callable(element); slow, and unknown to autograd."""
    def arccos(self) -> Tensor:
        """Inverse cosine, in radians; integers give the default float."""
    def arccos_(self) -> Tensor:
        """In place: acos."""
    def arccosh(self) -> Tensor:
        """Inverse hyperbolic cosine; integers give the default float."""
    def arccosh_(self) -> Tensor:
        """In place: acosh."""
    def arcsin(self) -> Tensor:
        """Inverse sine, in radians; integers give the default float."""
    def arcsin_(self) -> Tensor:
        """In place: asin."""
    def arcsinh(self) -> Tensor:
        """Inverse hyperbolic sine; integers give the default float."""
    def arcsinh_(self) -> Tensor:
        """In place: asinh."""
    def arctan(self) -> Tensor:
        """Inverse tangent, in radians; integers give the default float."""
    def arctan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input), in radians.  Both are tensors and broadcast."""
    def arctan2_(self, other: Tensor) -> Tensor:
        """In place: atan2."""
    def arctan_(self) -> Tensor:
        """In place: atan."""
    def arctanh(self) -> Tensor:
        """Inverse hyperbolic tangent; integers give the default float."""
    def arctanh_(self) -> Tensor:
        """In place: atanh."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Index (int64) of the maximum, the first at a tie: into the flattened input, or along dim."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Index (int64) of the minimum, the first at a tie: into the flattened input, or along dim."""
    @overload
    def argsort(self, *, stable: _bool, dim: _int = -1, descending: _bool = False) -> Tensor:
        """The indices that sort along dim, int64."""
    @overload
    def argsort(self, dim: _int = -1, descending: _bool = False) -> Tensor: ...
    def argwhere(self) -> Tensor:
        """nonzero as rows."""
    def as_strided(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """A view of the memory block by sizes and strides in elements, from storage_offset (default: where input starts)."""
    def as_strided_(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """In place: input shows its memory with other sizes and strides."""
    def as_strided_scatter(
        self, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None,
    ) -> Tensor:
        """A copy, laid out as input, with src in the place of as_strided(size, stride, storage_offset)."""
    def as_subclass(self, cls: Any) -> Any:
        """The same memory as a tensor of class cls, a subclass of Tensor."""
    def asin(self) -> Tensor:
        """Inverse sine, in radians; integers give the default float."""
    def asin_(self) -> Tensor:
        """In place: asin."""
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine; integers give the default float."""
    def asinh_(self) -> Tensor:
        """In place: asinh."""
    def atan(self) -> Tensor:
        """Inverse tangent, in radians; integers give the default float."""
    def atan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input), in radians.  Both are tensors and broadcast."""
    def atan2_(self, other: Tensor) -> Tensor:
        """In place: atan2."""
    def atan_(self) -> Tensor:
        """In place: atan."""
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent; integers give the default float."""
    def atanh_(self) -> Tensor:
        """In place: atanh."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2)"""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """In place: baddbmm."""
    @overload
    def bernoulli(self, *, generator: Generator | None = None) -> Tensor:
        """1 with probability input (or p), else 0; in input's dtype."""
    @overload
    def bernoulli(self, p: _float, *, generator: Generator | None = None) -> Tensor: ...
    @overload
    def bernoulli_(self, p: Tensor, *, generator: Generator | None = None) -> Tensor:
        """In place: 1 with probability p, else 0."""
    @overload
    def bernoulli_(self, p: _float = 0.5, *, generator: Generator | None = None) -> Tensor: ...
    def bfloat16(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In bfloat16 (package ml_dtypes)."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each number 0..max occurs in a 1-dim tensor of non-negative integers, or the sum of its weights."""
    @overload
    def bitwise_and(self, other: Tensor) -> Tensor:
        """input & other, of integers or bools."""
    @overload
    def bitwise_and(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_and_(self, other: Tensor) -> Tensor:
        """In place: bitwise_and, in input's dtype."""
    @overload
    def bitwise_and_(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_left_shift(self, other: Tensor) -> Tensor:
        """input << other, of integers or bools."""
    @overload
    def bitwise_left_shift(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_left_shift_(self, other: Tensor) -> Tensor:
        """In place: bitwise_left_shift, in input's dtype."""
    @overload
    def bitwise_left_shift_(self, other: Number) -> Tensor: ...
    def bitwise_not(self) -> Tensor:
        """~input, of integers or bools."""
    def bitwise_not_(self) -> Tensor:
        """In place: bitwise_not, in input's dtype."""
    @overload
    def bitwise_or(self, other: Tensor) -> Tensor:
        """input | other, of integers or bools."""
    @overload
    def bitwise_or(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_or_(self, other: Tensor) -> Tensor:
        """In place: bitwise_or, in input's dtype."""
    @overload
    def bitwise_or_(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_right_shift(self, other: Tensor) -> Tensor:
        """input >> other, of integers or bools."""
    @overload
    def bitwise_right_shift(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_right_shift_(self, other: Tensor) -> Tensor:
        """In place: bitwise_right_shift, in input's dtype."""
    @overload
    def bitwise_right_shift_(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_xor(self, other: Tensor) -> Tensor:
        """input ^ other, of integers or bools."""
    @overload
    def bitwise_xor(self, other: Number) -> Tensor: ...
    @overload
    def bitwise_xor_(self, other: Tensor) -> Tensor:
        """In place: bitwise_xor, in input's dtype."""
    @overload
    def bitwise_xor_(self, other: Number) -> Tensor: ...
    def bmm(self, mat2: Tensor) -> Tensor:
        """(b, n, m) @ (b, m, p)"""
    def bool(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In bool."""
    @overload
    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """expand to `size`."""
    @overload
    def broadcast_to(self, *size: _int) -> Tensor: ...
    def byte(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In uint8."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """In place: Cauchy."""
    def cdouble(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In complex128."""
    def ceil(self) -> Tensor:
        """Round up; in the dtype of input."""
    def ceil_(self) -> Tensor:
        """In place: ceil."""
    def cfloat(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In complex64."""
    def char(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In int8."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """torch.linalg.cholesky under its old name."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of A, from its Cholesky factor."""
    def cholesky_solve(self, input2: Tensor, upper: _bool = False) -> Tensor:
        """The solution X of A X = input, from the Cholesky factor input2 of A."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` views of equal size along dim, the last one smaller."""
    @overload
    def clamp(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """input raised to min and lowered to max (numbers, or tensors that broadcast); both bounds pass the gradient."""
    @overload
    def clamp(self, min: Number | None = None, max: Number | None = None) -> Tensor: ...
    @overload
    def clamp_(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """In place: clamp."""
    @overload
    def clamp_(self, min: Number | None = None, max: Number | None = None) -> Tensor: ...
    @overload
    def clamp_max(self, max: Tensor) -> Tensor:
        """min(input, max), max a number or a tensor."""
    @overload
    def clamp_max(self, max: Number) -> Tensor: ...
    @overload
    def clamp_max_(self, max: Tensor) -> Tensor:
        """In place: clamp_max."""
    @overload
    def clamp_max_(self, max: Number) -> Tensor: ...
    @overload
    def clamp_min(self, min: Tensor) -> Tensor:
        """max(input, min), min a number or a tensor."""
    @overload
    def clamp_min(self, min: Number) -> Tensor: ...
    @overload
    def clamp_min_(self, min: Tensor) -> Tensor:
        """In place: clamp_min."""
    @overload
    def clamp_min_(self, min: Number) -> Tensor: ...
    @overload
    def clip(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """input raised to min and lowered to max (numbers, or tensors that broadcast); both bounds pass the gradient."""
    @overload
    def clip(self, min: Number | None = None, max: Number | None = None) -> Tensor: ...
    @overload
    def clip_(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """In place: clamp."""
    @overload
    def clip_(self, min: Number | None = None, max: Number | None = None) -> Tensor: ...
    def clone(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """A copy that stays in the graph."""
    def conj(self) -> Tensor:
        """The conjugate, a view."""
    def conj_physical(self) -> Tensor:
        """The conjugate, computed."""
    def conj_physical_(self) -> Tensor:
        """In place: the conjugate."""
    def const_data_ptr(self) -> Tensor:
        """data_ptr(), for reading."""
    def contiguous(self, *, memory_format: _memory_format = ...) -> Tensor:
        """Itself if its elements are in C order, else a copy that is."""
    def copy_(self, other: Tensor | Number, non_blocking: _bool = False) -> Tensor:
        """other, cast and broadcast, into this memory; -> itself."""
    @overload
    def copysign(self, other: Tensor) -> Tensor:
        """|input| with the sign of other, a tensor or a number."""
    @overload
    def copysign(self, other: Number) -> Tensor: ...
    @overload
    def copysign_(self, other: Tensor) -> Tensor:
        """In place: copysign."""
    @overload
    def copysign_(self, other: Number) -> Tensor: ...
    def corrcoef(self) -> Tensor:
        """Correlations (-1..1) of the rows (variables) over the columns (observations)."""
    def cos(self) -> Tensor:
        """Cosine of radians; integers give the default float."""
    def cos_(self) -> Tensor:
        """In place: cos."""
    def cosh(self) -> Tensor:
        """Hyperbolic cosine; integers give the default float."""
    def cosh_(self) -> Tensor:
        """In place: cosh."""
    @overload
    def count_nonzero(self, dim: _int | None = None) -> Tensor:
        """How many elements are not zero, over dim (an int, a tuple of them, or all), or over several dims; int64."""
    @overload
    def count_nonzero(self, dim: Sequence[_int]) -> Tensor: ...
    @overload
    def count_nonzero(self, *dim: _int) -> Tensor: ...
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """Covariances of the rows (variables) over the columns (observations), which may be counted or weighted."""
    def cpu(self) -> Tensor:
        """Itself."""
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """Cross product along a dim of size 3 (the first such, if not given)."""
    def cuda(
        self, device: _device | str | _int | None = None, non_blocking: _bool = False, *,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """RuntimeError: tensors live on the CPU."""
    def cummax(self, dim: _int) -> return_types.cummax:
        """Named tuple (values, indices): the greatest so far along dim."""
    def cummin(self, dim: _int) -> return_types.cummin:
        """Named tuple (values, indices): the smallest so far along dim."""
    def cumprod(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """Running product along dim.  Integers multiply in int64."""
    def cumprod_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """In place: the running product along dim."""
    def cumsum(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """Running sum along dim.  Integers add up in int64."""
    def cumsum_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """In place: the running sum along dim."""
    def data_ptr(self) -> _int:
        """Memory address of the first element."""
    def deg2rad(self) -> Tensor:
        """Degrees to radians; integers give the default float."""
    def deg2rad_(self) -> Tensor:
        """In place: deg2rad."""
    def det(self) -> Tensor:
        """The determinant; its gradient at singular matrices comes from the cofactors."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """Of a matrix its diagonal (a copy), of a vector the matrix with that diagonal."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices, in dims dim1 and dim2 of the result, with the last dim of the input on their diagonals."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """The matrix with all elements of the input on its diagonal."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonals of the matrices in dims dim1, dim2, as a last dim; a view."""
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A copy with src in the place of diagonal(offset, dim1, dim2)."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """The n-th differences of neighbors along dim, after joining `prepend` and `append` on."""
    def digamma(self) -> Tensor:
        """The derivative of lgamma; integers give the default float."""
    def digamma_(self) -> Tensor:
        """In place: digamma."""
    def dim_order(self, ambiguity_check: _bool = False) -> tuple[_int, ...]:
        """The dims from the outermost in memory to the innermost.  ambiguity_check is accepted without effect."""
    def dist(self, other: Tensor, p: Number = 2) -> Tensor:
        """The p-norm of input - other, which broadcast."""
    @overload
    def div(self, other: Tensor | Number) -> Tensor:
        """input / other; integers give the default float.  rounding_mode None, 'trunc' or 'floor'."""
    @overload
    def div(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def div(self, other: Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def div_(self, other: Tensor | Number) -> Tensor:
        """In place: input /= other; an integer input raises RuntimeError unless rounding_mode is given."""
    @overload
    def div_(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def div_(self, other: Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def divide(self, other: Tensor | Number) -> Tensor:
        """input / other; integers give the default float.  rounding_mode None, 'trunc' or 'floor'."""
    @overload
    def divide(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def divide(self, other: Number) -> Tensor: ...
    @overload
    def divide(self, other: Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def divide_(self, other: Tensor | Number) -> Tensor:
        """In place: input /= other; an integer input raises RuntimeError unless rounding_mode is given."""
    @overload
    def divide_(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor: ...
    @overload
    def divide_(self, other: Number) -> Tensor: ...
    @overload
    def divide_(self, other: Number, *, rounding_mode: str | None) -> Tensor: ...
    def dot(self, tensor: Tensor) -> Tensor:
        """(m,) . (m,); no broadcasting."""
    def double(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In float64."""
    @overload
    def dsplit(self, sections: _int) -> tuple[Tensor, ...]:
        """tensor_split along dim 2."""
    @overload
    def dsplit(self, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
    @overload
    def dsplit(self, *indices: _int) -> tuple[Tensor, ...]: ...
    def eig(self, **kwargs: Any) -> Tensor:
        """RuntimeError: linalg.eig has taken its place."""
    @overload
    def eq(self, other: Tensor) -> Tensor:
        """input == other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def eq(self, other: Number) -> Tensor: ...
    @overload
    def eq_(self, other: Tensor) -> Tensor:
        """In place: input == other, in input's dtype."""
    @overload
    def eq_(self, other: Number) -> Tensor: ...
    def equal(self, other: Tensor) -> _bool:
        """Are shapes and all elements equal?  A bool; nan equals nothing."""
    def erf(self) -> Tensor:
        """The error function; integers give the default float."""
    def erf_(self) -> Tensor:
        """In place: erf."""
    def erfc(self) -> Tensor:
        """1 - erf(input), exact for large input; integers give the default float."""
    def erfc_(self) -> Tensor:
        """In place: erfc."""
    def erfinv(self) -> Tensor:
        """The inverse of erf; integers give the default float."""
    def erfinv_(self) -> Tensor:
        """In place: erfinv."""
    def exp(self) -> Tensor:
        """e ** input; integers give the default float."""
    def exp2(self) -> Tensor:
        """2 ** input; integers give the default float."""
    def exp2_(self) -> Tensor:
        """In place: exp2."""
    def exp_(self) -> Tensor:
        """In place: exp."""
    @overload
    def expand(self, size: Sequence[_int], *, implicit: _bool = False) -> Tensor:
        """Dims of size 1 stretched, new leading dims added, without copying; -1 keeps a size."""
    @overload
    def expand(self, *size: _int, implicit: _bool = False) -> Tensor: ...
    def expand_as(self, other: Tensor) -> Tensor:
        """expand to the shape of `other`."""
    def expm1(self) -> Tensor:
        """e ** input - 1, exact near 0; integers give the default float."""
    def expm1_(self) -> Tensor:
        """In place: expm1."""
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """In place: exponential with rate lambd."""
    @overload
    def fill_(self, value: Tensor) -> Tensor:
        """Every element becomes `value`."""
    @overload
    def fill_(self, value: Number) -> Tensor: ...
    def fill_diagonal_(self, fill_value: Number, wrap: _bool = False) -> Tensor:
        """In place: fill_value, a number, along the main diagonal; with wrap again and again down a tall matrix."""
    def fix(self) -> Tensor:
        """Round towards 0; in the dtype of input."""
    def fix_(self) -> Tensor:
        """In place: trunc."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Merge the dims start_dim..end_dim; the tensor itself when there is nothing to merge."""
    @overload
    def flip(self, dims: Sequence[_int]) -> Tensor:
        """A copy with the order along dims reversed."""
    @overload
    def flip(self, *dims: _int) -> Tensor: ...
    def fliplr(self) -> Tensor:
        """Columns in reverse order."""
    def flipud(self) -> Tensor:
        """Rows in reverse order."""
    def float(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In float32."""
    @overload
    def float_power(self, exponent: Tensor) -> Tensor:
        """input ** exponent in float64, or complex128."""
    @overload
    def float_power(self, exponent: Number) -> Tensor: ...
    @overload
    def float_power_(self, exponent: Tensor) -> Tensor:
        """In place: input ** exponent; of float64 and complex128 only."""
    @overload
    def float_power_(self, exponent: Number) -> Tensor: ...
    def floor(self) -> Tensor:
        """Round down; in the dtype of input."""
    def floor_(self) -> Tensor:
        """In place: floor."""
    @overload
    def floor_divide(self, other: Tensor | Number) -> Tensor:
        """floor(input / other); recorded, but PyTorch gives it no derivative."""
    @overload
    def floor_divide(self, other: Number) -> Tensor: ...
    @overload
    def floor_divide_(self, other: Tensor | Number) -> Tensor:
        """In place: input //= other."""
    @overload
    def floor_divide_(self, other: Number) -> Tensor: ...
    def fmax(self, other: Tensor) -> Tensor:
        """The larger; a number wins against nan.  Both are tensors and broadcast."""
    def fmin(self, other: Tensor) -> Tensor:
        """The smaller; a number wins against nan.  Both are tensors and broadcast."""
    @overload
    def fmod(self, other: Tensor) -> Tensor:
        """Remainder of input / other with the sign of input (remainder has other's); of integers by 0, RuntimeError."""
    @overload
    def fmod(self, other: Number) -> Tensor: ...
    @overload
    def fmod_(self, other: Tensor) -> Tensor:
        """In place: fmod."""
    @overload
    def fmod_(self, other: Number) -> Tensor: ...
    def frac(self) -> Tensor:
        """input - trunc(input); in the dtype of input."""
    def frac_(self) -> Tensor:
        """In place: frac."""
    def frexp(self) -> return_types.frexp:
        """(mantissa, exponent): input = mantissa * 2 ** exponent, 0.5 <= |mantissa| < 1."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """y[i][j] = input[index[i][j]][j] along dim 0, and so on.  index has as many dims and no other dim longer."""
    def gcd(self, other: Tensor) -> Tensor:
        """The greatest common divisor of integers, never negative; gcd(0, 0) is 0."""
    def gcd_(self, other: Tensor) -> Tensor:
        """In place: gcd, in input's dtype."""
    @overload
    def ge(self, other: Tensor) -> Tensor:
        """input >= other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def ge(self, other: Number) -> Tensor: ...
    @overload
    def ge_(self, other: Tensor) -> Tensor:
        """In place: input >= other, in input's dtype."""
    @overload
    def ge_(self, other: Number) -> Tensor: ...
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """In place: number of trials until the first success, with probability p each."""
    def geqrf(self) -> return_types.geqrf:
        """(a, tau): R of the QR decomposition on and above a's diagonal, reflections below; without a derivative."""
    def ger(self, vec2: Tensor) -> Tensor:
        """(n,) x (m,) -> (n, m)"""
    def get_device(self) -> _int:
        """-1: PyTorch's number for the CPU."""
    @overload
    def greater(self, other: Tensor) -> Tensor:
        """input > other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def greater(self, other: Number) -> Tensor: ...
    @overload
    def greater_(self, other: Tensor) -> Tensor:
        """In place: input > other, in input's dtype."""
    @overload
    def greater_(self, other: Number) -> Tensor: ...
    @overload
    def greater_equal(self, other: Tensor) -> Tensor:
        """input >= other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def greater_equal(self, other: Number) -> Tensor: ...
    @overload
    def greater_equal_(self, other: Tensor) -> Tensor:
        """In place: input >= other, in input's dtype."""
    @overload
    def greater_equal_(self, other: Number) -> Tensor: ...
    @overload
    def gt(self, other: Tensor) -> Tensor:
        """input > other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def gt(self, other: Number) -> Tensor: ...
    @overload
    def gt_(self, other: Tensor) -> Tensor:
        """In place: input > other, in input's dtype."""
    @overload
    def gt_(self, other: Number) -> Tensor: ...
    def half(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In float16."""
    def hardshrink(self, lambd: Number = 0.5) -> Tensor:
        """input, but 0 in [-lambd, lambd]."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where input < 0, `values` where it is 0, else 1; no gradient.  Both are tensors and broadcast."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """In place: heaviside."""
    def histc(self, bins: _int = 100, min: Number = 0, max: Number = 0) -> Tensor:
        """How many elements lie in each of `bins` equal parts of min..max (both 0: the range of the data)."""
    @overload
    def histogram(
        self, bins: Tensor, *, weight: Tensor | None = None, density: _bool = False,
    ) -> return_types.histogram:
        """(counts, edges) of all elements in `bins` equal parts of range (that of the data), or between the edges given."""
    @overload
    def histogram(
        self, bins: _int = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None,
        density: _bool = False,
    ) -> return_types.histogram: ...
    @overload
    def hsplit(self, sections: _int) -> tuple[Tensor, ...]:
        """tensor_split along dim 1 (0 of a vector)."""
    @overload
    def hsplit(self, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
    @overload
    def hsplit(self, *indices: _int) -> tuple[Tensor, ...]: ...
    def hypot(self, other: Tensor) -> Tensor:
        """sqrt(input ** 2 + other ** 2) without overflow.  Both are tensors and broadcast."""
    def hypot_(self, other: Tensor) -> Tensor:
        """In place: hypot."""
    def i0(self) -> Tensor:
        """The modified Bessel function of order 0; integers give the default float."""
    def i0_(self) -> Tensor:
        """In place: i0."""
    def igamma(self, other: Tensor) -> Tensor:
        """The lower incomplete gamma function of order input up to other, over gamma(input)."""
    def igamma_(self, other: Tensor) -> Tensor:
        """In place: igamma."""
    def igammac(self, other: Tensor) -> Tensor:
        """1 - igamma(input, other), exact where that is small."""
    def igammac_(self, other: Tensor) -> Tensor:
        """In place: igammac."""
    @property
    def imag(self) -> _bool:
        """The imaginary part, a view."""
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """A copy with alpha times the slices of source added at index along dim; repeated indices add up."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """In place: index_add."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """A copy with the slices of source in the places that index names along dim."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """In place: index_copy."""
    @overload
    def index_fill(self, dim: _int, index: Tensor, value: Tensor) -> Tensor:
        """A copy with a number (or 0-dim tensor) in the slices that index names along dim."""
    @overload
    def index_fill(self, dim: _int, index: Tensor, value: Number) -> Tensor: ...
    @overload
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor) -> Tensor:
        """In place: index_fill."""
    @overload
    def index_fill_(self, dim: _int, index: Tensor, value: Number) -> Tensor: ...
    def index_put(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy with values written at (or added at) a tuple of index tensors."""
    def index_put_(self, indices: Sequence[Tensor], values: Tensor, accumulate: _bool = False) -> Tensor:
        """In place: index_put."""
    def index_reduce(
        self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True,
    ) -> Tensor:
        """A copy with the slices of source reduced into it at index along dim: "prod", "mean", "amax" or "amin"."""
    def index_reduce_(
        self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True,
    ) -> Tensor:
        """In place: index_reduce."""
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The slices at a 1-dim index along dim, as a copy."""
    def inner(self, other: Tensor) -> Tensor:
        """Sum of products over the last dim of both; one of them may be a 0-dim factor."""
    def int(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In int32."""
    def inverse(self) -> Tensor:
        """torch.linalg.inv."""
    def is_complex(self) -> _bool:
        """Is the dtype complex?"""
    def is_conj(self) -> _bool:
        """Is it a view that shows memory conjugated?"""
    @property
    def is_cpu(self) -> _bool:
        """True: all tensors live on the CPU."""
    def is_distributed(self) -> _bool:
        """False."""
    def is_floating_point(self) -> _bool:
        """Is the dtype a float?"""
    @property
    def is_ipu(self) -> _bool:
        """False: all tensors live on the CPU."""
    @property
    def is_maia(self) -> _bool:
        """False: all tensors live on the CPU."""
    @property
    def is_mtia(self) -> _bool:
        """False: all tensors live on the CPU."""
    def is_neg(self) -> _bool:
        """Is it a view that shows memory negated?"""
    def is_nonzero(self) -> _bool:
        """Is the only element nonzero?  RuntimeError unless there is exactly one."""
    def is_same_size(self, other: Tensor) -> _bool:
        """Have both the same shape?"""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Do both show the same memory in the same way?"""
    def is_shared(self) -> _bool:
        """Does the memory lie where other processes see it, as that of large batches from DataLoader workers does?"""
    def is_signed(self) -> _bool:
        """Can the dtype hold negative numbers?"""
    @property
    def is_sparse_csr(self) -> _bool:
        """False: all tensors are dense."""
    @property
    def is_vulkan(self) -> _bool:
        """False: all tensors live on the CPU."""
    @property
    def is_xla(self) -> _bool:
        """False: all tensors live on the CPU."""
    @property
    def is_xpu(self) -> _bool:
        """False: all tensors live on the CPU."""
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Is |input - other| <= atol + rtol * |other|, element by element?  Infinities are close to themselves."""
    def isfinite(self) -> Tensor:
        """Is it neither infinite nor nan?"""
    def isinf(self) -> Tensor:
        """Is it inf or -inf?"""
    def isnan(self) -> Tensor:
        """Is it nan?"""
    def isneginf(self) -> Tensor:
        """Is it -inf?"""
    def isposinf(self) -> Tensor:
        """Is it inf?"""
    def isreal(self) -> Tensor:
        """Is the imaginary part 0?  True everywhere where there is none."""
    def istft(
        self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None,
        center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None,
        return_complex: _bool = False,
    ) -> Tensor:
        """The inverse of stft: frames are overlapped, added and divided by the sum of the squared windows."""
    def kron(self, other: Tensor) -> Tensor:
        """Kronecker product: every element of input times the whole of other."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> return_types.kthvalue:
        """Named tuple (values, indices): the k-th smallest along dim, counted from 1."""
    def lcm(self, other: Tensor) -> Tensor:
        """The least common multiple of integers."""
    def lcm_(self, other: Tensor) -> Tensor:
        """In place: lcm, in input's dtype."""
    def ldexp(self, other: Tensor) -> Tensor:
        """input * 2 ** other.  Both are tensors and broadcast."""
    def ldexp_(self, other: Tensor) -> Tensor:
        """In place: ldexp."""
    @overload
    def le(self, other: Tensor) -> Tensor:
        """input <= other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def le(self, other: Number) -> Tensor: ...
    @overload
    def le_(self, other: Tensor) -> Tensor:
        """In place: input <= other, in input's dtype."""
    @overload
    def le_(self, other: Number) -> Tensor: ...
    @overload
    def lerp(self, end: Tensor, weight: Tensor) -> Tensor:
        """input + weight * (end - input); weight a number or a tensor; all of one dtype."""
    @overload
    def lerp(self, end: Tensor, weight: Number) -> Tensor: ...
    @overload
    def lerp_(self, end: Tensor, weight: Tensor) -> Tensor:
        """In place: lerp."""
    @overload
    def lerp_(self, end: Tensor, weight: Number) -> Tensor: ...
    @overload
    def less(self, other: Tensor) -> Tensor:
        """input < other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def less(self, other: Number) -> Tensor: ...
    @overload
    def less_(self, other: Tensor) -> Tensor:
        """In place: input < other, in input's dtype."""
    @overload
    def less_(self, other: Number) -> Tensor: ...
    @overload
    def less_equal(self, other: Tensor) -> Tensor:
        """input <= other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def less_equal(self, other: Number) -> Tensor: ...
    @overload
    def less_equal_(self, other: Tensor) -> Tensor:
        """In place: input <= other, in input's dtype."""
    @overload
    def less_equal_(self, other: Number) -> Tensor: ...
    def lgamma(self) -> Tensor:
        """log of |gamma(input)|; integers give the default float."""
    def lgamma_(self) -> Tensor:
        """In place: lgamma."""
    def log(self) -> Tensor:
        """Natural logarithm; -inf at 0, nan below; integers give the default float."""
    def log10(self) -> Tensor:
        """Logarithm to base 10; integers give the default float."""
    def log10_(self) -> Tensor:
        """In place: log10."""
    def log1p(self) -> Tensor:
        """log(1 + input), exact near 0; integers give the default float."""
    def log1p_(self) -> Tensor:
        """In place: log1p."""
    def log2(self) -> Tensor:
        """Logarithm to base 2; integers give the default float."""
    def log2_(self) -> Tensor:
        """In place: log2."""
    def log_(self) -> Tensor:
        """In place: log."""
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Tensor:
        """In place: exp of a normal."""
    def log_softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """input - log(sum(exp(input))) along dim; dtype: convert first."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """log(exp(input) + exp(other)) without overflow.  Both are tensors and broadcast."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """log2(2 ** input + 2 ** other) without overflow.  Both are tensors and broadcast."""
    def logcumsumexp(self, dim: _int) -> Tensor:
        """log of the running sum of exp(input) along dim."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant; nan where that is negative."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Are both nonzero?"""
    def logical_and_(self, other: Tensor) -> Tensor:
        """In place: logical_and, in input's dtype."""
    def logical_not(self) -> Tensor:
        """Is input zero?"""
    def logical_not_(self) -> Tensor:
        """In place: logical_not, in input's dtype."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Is either nonzero?"""
    def logical_or_(self, other: Tensor) -> Tensor:
        """In place: logical_or, in input's dtype."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Is exactly one nonzero?"""
    def logical_xor_(self, other: Tensor) -> Tensor:
        """In place: logical_xor, in input's dtype."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(input / (1 - input)), the inverse of sigmoid; input is first clamped to [eps, 1 - eps] if eps is given."""
    def logit_(self, eps: _float | None = None) -> Tensor:
        """In place: logit."""
    def logsumexp(self, dim: _int | Sequence[_int], keepdim: _bool = False) -> Tensor:
        """log(sum(exp(input))) over dims, without overflow.  Integers give the default float."""
    def long(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In int64."""
    def lstsq(self, **kwargs: Any) -> Tensor:
        """RuntimeError: linalg.lstsq has taken its place."""
    @overload
    def lt(self, other: Tensor) -> Tensor:
        """input < other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def lt(self, other: Number) -> Tensor: ...
    @overload
    def lt_(self, other: Tensor) -> Tensor:
        """In place: input < other, in input's dtype."""
    @overload
    def lt_(self, other: Number) -> Tensor: ...
    def lu(self, pivot: _bool = True, get_infos: _bool = False, out: Sequence[Tensor] | None = None) -> Any:
        """Old name of torch.linalg.lu_factor; with get_infos of lu_factor_ex."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Old name of torch.linalg.lu_solve(LU_data, LU_pivots, input)."""
    @property
    def mH(self) -> Tensor:
        """The last two dims exchanged."""
    @property
    def mT(self) -> Tensor:
        """The last two dims exchanged."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Each element becomes callable(element, that of x, that of y); slow, and unknown to autograd."""
    def map_(self, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Each element becomes callable(element, that of other); slow, and unknown to autograd."""
    @overload
    def masked_fill(self, mask: Tensor, value: Tensor) -> Tensor:
        """input with value (a number or a 0-dim tensor) where the bool mask holds; both broadcast."""
    @overload
    def masked_fill(self, mask: Tensor, value: Number) -> Tensor: ...
    @overload
    def masked_fill_(self, mask: Tensor, value: Tensor) -> Tensor:
        """In place: masked_fill."""
    @overload
    def masked_fill_(self, mask: Tensor, value: Number) -> Tensor: ...
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy with the first elements of source, in order, where the mask holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In place: masked_scatter."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where the bool mask holds, as one row; input and mask broadcast."""
    def matmul(self, other: Tensor) -> Tensor:
        """Product of vectors, matrices or batches of matrices (which broadcast)."""
    def matrix_exp(self) -> Tensor:
        """The matrix exponentials of square matrices (..., n, n)."""
    def matrix_power(self, n: _int) -> Tensor:
        """The n-th power of square matrices, by repeated squaring; for negative n, that of the inverse."""
    @overload
    def max(self) -> Tensor:
        """max(input): the maximum of all elements, ties sharing the gradient."""
    @overload
    def max(self, other: Tensor) -> Tensor: ...
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> return_types.max: ...
    def maximum(self, other: Tensor) -> Tensor:
        """The larger; nan if either is; equal operands share the gradient.  Both are tensors and broadcast."""
    @overload
    def mean(self, *, dtype: _dtype | None = None) -> Tensor:
        """Mean of all elements, or over dims; floating point only (or say dtype=)."""
    @overload
    def mean(self, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor: ...
    @overload
    def median(self) -> Tensor:
        """The lower of the two middle elements; with dim, named tuple (values, indices).  NaN when there is one."""
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> return_types.median: ...
    @overload
    def min(self) -> Tensor:
        """min(input): the minimum of all elements, ties sharing the gradient."""
    @overload
    def min(self, other: Tensor) -> Tensor: ...
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> return_types.min: ...
    def minimum(self, other: Tensor) -> Tensor:
        """The smaller; nan if either is; equal operands share the gradient.  Both are tensors and broadcast."""
    def mm(self, mat2: Tensor) -> Tensor:
        """(n, m) @ (m, p)"""
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> return_types.mode:
        """Named tuple (values, indices): the most frequent element along dim, the smallest at a tie, and where it is last."""
    def module_load(self, other: Any, assign: _bool = False) -> Tensor:
        """What load_state_dict puts in self's place where modules swap their parameters: self with other's values, or other."""
    @overload
    def moveaxis(self, source: _int, destination: _int) -> Tensor:
        """The dims `source` (int or several) moved to the places `destination`; a view."""
    @overload
    def moveaxis(self, source: Sequence[_int], destination: Sequence[_int]) -> Tensor: ...
    @overload
    def movedim(self, source: _int, destination: _int) -> Tensor:
        """The dims `source` (int or several) moved to the places `destination`; a view."""
    @overload
    def movedim(self, source: Sequence[_int], destination: Sequence[_int]) -> Tensor: ...
    def msort(self) -> Tensor:
        """The values in order along the first dim."""
    def mul(self, other: Tensor | Number) -> Tensor:
        """input * other, broadcast."""
    def mul_(self, other: Any = ..., *more: Any, **named: Any) -> Tensor:
        """In place: input *= other."""
    def multinomial(
        self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None,
    ) -> Tensor:
        """num_samples indices per row, drawn with probabilities proportional to the row."""
    @overload
    def multiply(self, other: Tensor | Number) -> Tensor:
        """input * other, broadcast."""
    @overload
    def multiply(self, other: Number) -> Tensor: ...
    @overload
    def multiply_(self, other: Tensor | Number) -> Tensor:
        """In place: input *= other."""
    @overload
    def multiply_(self, other: Number) -> Tensor: ...
    def mv(self, vec: Tensor) -> Tensor:
        """(n, m) @ (m,)"""
    def mvlgamma(self, p: _int) -> Tensor:
        """log of the multivariate gamma function of order p; input > (p - 1) / 2."""
    def mvlgamma_(self, p: _int) -> Tensor:
        """In place: mvlgamma."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """nan, inf and -inf replaced; by 0, the largest and the smallest finite number unless said otherwise."""
    def nan_to_num_(
        self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None,
    ) -> Tensor:
        """In place: nan_to_num."""
    def nanmean(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None,
    ) -> Tensor:
        """Mean of what is not NaN."""
    @overload
    def nanmedian(self) -> Tensor:
        """median of what is not NaN."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> return_types.nanmedian: ...
    @overload
    def nanquantile(
        self, q: Tensor, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear",
    ) -> Tensor:
        """quantile of what is not NaN."""
    @overload
    def nanquantile(
        self, q: _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear",
    ) -> Tensor: ...
    def nansum(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None,
    ) -> Tensor:
        """sum with NaN counted as zero."""
    @overload
    def narrow(self, dim: _int, start: Tensor, length: _int) -> Tensor:
        """input[start : start + length] along dim; a view."""
    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor: ...
    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor:
        """narrow, as a copy."""
    @overload
    def ne(self, other: Tensor) -> Tensor:
        """input != other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def ne(self, other: Number) -> Tensor: ...
    @overload
    def ne_(self, other: Tensor) -> Tensor:
        """In place: input != other, in input's dtype."""
    @overload
    def ne_(self, other: Number) -> Tensor: ...
    def neg(self) -> Tensor:
        """-input; bools are refused."""
    def neg_(self) -> Tensor:
        """In place: input = -input."""
    def negative(self) -> Tensor:
        """-input; bools are refused."""
    def negative_(self) -> Tensor:
        """In place: input = -input."""
    def new(self, *args: Any, **kwargs: Any) -> Tensor:
        """A tensor of input's dtype: new(sizes...) or new(size=...), uninitialized, or new(data), of a sequence, an array, a tensor (other=) or a storage (storage=), whose memory it shares.  Older than new_tensor and new_empty, which are clearer: new(2) has two elements, new([2]) one."""
    @overload
    def new_empty(
        self, size: Sequence[_int], *, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor:
        """Uninitialized, of the given size, in input's dtype unless said otherwise."""
    @overload
    def new_empty(
        self, *size: _int, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor: ...
    def new_empty_strided(
        self, size: Sequence[_int], stride: Sequence[_int], *, dtype: _dtype | None = None,
        layout: _layout | None = None, device: _device | str | _int | None = None, pin_memory: _bool | None = False,
        requires_grad: _bool = False,
    ) -> Tensor:
        """Uninitialized, with the given strides, in input's dtype."""
    def new_full(
        self, size: Sequence[_int], fill_value: Number, *, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor:
        """fill_value everywhere, of the given size, in input's dtype unless said otherwise."""
    @overload
    def new_ones(
        self, size: Sequence[_int], *, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor:
        """Ones of the given size, in input's dtype unless said otherwise."""
    @overload
    def new_ones(
        self, *size: _int, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor: ...
    def new_tensor(
        self, data: Any, *, dtype: _dtype | None = None, device: _device | str | _int | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """A copy of data, in input's dtype unless said otherwise."""
    @overload
    def new_zeros(
        self, size: Sequence[_int], *, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor:
        """Zeros of the given size, in input's dtype unless said otherwise."""
    @overload
    def new_zeros(
        self, *size: _int, dtype: _dtype | None = None, layout: _layout | None = None,
        device: _device | str | _int | None = None, pin_memory: _bool | None = False, requires_grad: _bool = False,
    ) -> Tensor: ...
    def nextafter(self, other: Tensor) -> Tensor:
        """The next number of the dtype after input towards other."""
    def nextafter_(self, other: Tensor) -> Tensor:
        """In place: nextafter."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """Indices (int64) of the elements that are not zero: one row each, or one tensor per dim."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The first `size` rows of nonzero, and rows of fill_value where there are fewer."""
    def norm(
        self, p: _float | str | None = "fro", dim: _int | Sequence[_int] | None = None, keepdim: _bool = False,
        out: Tensor | None = None, dtype: _dtype | None = None,
    ) -> Tensor:
        """The vector p-norm of all elements or over dims; p a number, inf, "fro" (2) or "nuc" (of matrices)."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """In place: normal with the given mean and standard deviation."""
    @overload
    def not_equal(self, other: Tensor) -> Tensor:
        """input != other, element by element, in the common dtype; other a tensor or a number."""
    @overload
    def not_equal(self, other: Number) -> Tensor: ...
    @overload
    def not_equal_(self, other: Tensor) -> Tensor:
        """In place: input != other, in input's dtype."""
    @overload
    def not_equal_(self, other: Number) -> Tensor: ...
    def orgqr(self, input2: Tensor) -> Tensor:
        """Old name of torch.linalg.householder_product."""
    def ormqr(self, input2: Tensor, input3: Tensor, left: _bool = True, transpose: _bool = False) -> Tensor:
        """Q other (other Q unless left; Q's adjoint if transpose) for Q = H1 ... Hk (m, m), given geqrf's a and tau."""
    def outer(self, vec2: Tensor) -> Tensor:
        """(n,) x (m,) -> (n, m)"""
    @overload
    def permute(self, dims: Sequence[_int]) -> Tensor:
        """The dims in another order: permute(2, 0, 1) or permute((2, 0, 1)); a view."""
    @overload
    def permute(self, *dims: _int) -> Tensor: ...
    def pin_memory(self, device: _device | str | _int | None = None) -> Tensor:
        """RuntimeError, as in PyTorch on a machine without an accelerator."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """torch.linalg.pinv."""
    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of digamma."""
    def polygamma_(self, n: _int) -> Tensor:
        """In place: the n-th derivative of digamma."""
    def positive(self) -> Tensor:
        """input itself; bools are refused."""
    @overload
    def pow(self, exponent: Tensor) -> Tensor:
        """input ** exponent; either may be a number.  Negative powers of integers raise RuntimeError."""
    @overload
    def pow(self, exponent: Number) -> Tensor: ...
    @overload
    def pow_(self, exponent: Tensor) -> Tensor:
        """In place: input = input ** exponent."""
    @overload
    def pow_(self, exponent: Number) -> Tensor: ...
    def prelu(self, weight: Tensor) -> Tensor:
        """input where positive, else weight * input.   He et al. 2015"""
    @overload
    def prod(self, *, dtype: _dtype | None = None) -> Tensor:
        """Product of all elements or along one dim.  Integers multiply in int64."""
    @overload
    def prod(self, dim: _int, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor: ...
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy with source written at (or added at) flat positions."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """In place: put."""
    def qr(self, some: _bool = True) -> return_types.qr:
        """torch.linalg.qr in its old form."""
    @overload
    def quantile(
        self, q: Tensor, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear",
    ) -> Tensor:
        """The q-quantiles (q in 0..1, a number or 1-dim tensor) of all elements or along dim; a tensor q adds a first dim."""
    @overload
    def quantile(
        self, q: _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = "linear",
    ) -> Tensor: ...
    def rad2deg(self) -> Tensor:
        """Radians to degrees; integers give the default float."""
    def rad2deg_(self) -> Tensor:
        """In place: rad2deg."""
    @overload
    def random_(self, *, generator: Generator | None = None) -> Tensor:
        """In place: random_([from,] to), uniform integers; without bounds the dtype's whole range."""
    @overload
    def random_(self, from_: _int, /, to: _int | None, *, generator: Generator | None = None) -> Tensor: ...
    @overload
    def random_(self, to: _int, *, generator: Generator | None = None) -> Tensor: ...
    def ravel(self) -> Tensor:
        """contiguous, as one row."""
    @property
    def real(self) -> _bool:
        """The real part, a view; itself where it is real."""
    def reciprocal(self) -> Tensor:
        """1 / input; integers give the default float."""
    def reciprocal_(self) -> Tensor:
        """In place: input = 1 / input."""
    def record_stream(self, s: Any) -> None:
        """RuntimeError, whatever s is: there are no streams."""
    def reinforce(self, reward: Any) -> Tensor:
        """RuntimeError: torch.distributions has taken its place."""
    def relu(self) -> Tensor:
        """max(input, 0); its derivative at 0 is 0."""
    def relu_(self) -> Tensor:
        """In place: relu."""
    @overload
    def remainder(self, other: Tensor) -> Tensor:
        """input modulo other with the divisor's sign, as Python's %."""
    @overload
    def remainder(self, other: Number) -> Tensor: ...
    @overload
    def remainder_(self, other: Tensor) -> Tensor:
        """In place: input %= other."""
    @overload
    def remainder_(self, other: Number) -> Tensor: ...
    def renorm(self, p: Number, dim: _int, maxnorm: Number) -> Tensor:
        """Slices along dim whose p-norm exceeds maxnorm, scaled down to it."""
    def renorm_(self, p: Number, dim: _int, maxnorm: Number) -> Tensor:
        """In place: renorm."""
    @overload
    def repeat(self, repeats: Sequence[_int]) -> Tensor:
        """A copy tiled repeats[i] times along dim i; more repeats than dims add leading dims."""
    @overload
    def repeat(self, *repeats: _int) -> Tensor: ...
    @overload
    def repeat_interleave(self, repeats: Tensor, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each element repeated in place, `repeats` times (int, or one count per element), along dim or of the flattened input."""
    @overload
    def repeat_interleave(self, repeats: _int, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor: ...
    @overload
    def reshape(self, shape: Sequence[_int]) -> Tensor:
        """The elements in C order under another shape (one size may be -1): a view where memory allows, else a copy."""
    @overload
    def reshape(self, *shape: _int) -> Tensor: ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """reshape to the shape of `other`."""
    def resize(self, *sizes: Any) -> Tensor:
        """The elements in another shape.  Deprecated: use reshape."""
    @overload
    def resize_(self, size: Sequence[_int], *, memory_format: _memory_format | None = None) -> Tensor:
        """Change the shape in place: the memory in C order from the first element on.  What comes to it is uninitialized."""
    @overload
    def resize_(self, *size: _int, memory_format: _memory_format | None = None) -> Tensor: ...
    def resize_as(self, tensor: Tensor) -> Tensor:
        """The elements in the shape of a tensor.  Deprecated: use reshape."""
    def resize_as_(self, the_template: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
        """In place: input gets the shape of the_template."""
    def resolve_conj(self) -> Tensor:
        """A copy, if it is a conjugated view; else input."""
    def resolve_neg(self) -> Tensor:
        """A copy, if it is a negated view, as the imaginary part of a conjugate is; else input."""
    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Elements shifted circularly along dims; without dims, of the flattened tensor."""
    def rot90(self, k: _int = 1, dims: Sequence[_int] = (0, 1)) -> Tensor:
        """k quarter turns in the plane of two dims, from the first towards the second."""
    @overload
    def round(self) -> Tensor:
        """To the nearest integer or number of decimals, halves to even; negative decimals round to tens, ..."""
    @overload
    def round(self, *, decimals: _int) -> Tensor: ...
    @overload
    def round_(self) -> Tensor:
        """In place: round."""
    @overload
    def round_(self, *, decimals: _int) -> Tensor: ...
    def rsqrt(self) -> Tensor:
        """1 / sqrt(input); integers give the default float."""
    def rsqrt_(self) -> Tensor:
        """In place: rsqrt."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """A copy with src (tensor or number) written at index along dim: y[index[i][j]][j] = src[i][j]."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor: ...
    @overload
    def scatter(self, dim: _int, index: Tensor, value: Number) -> Tensor: ...
    @overload
    def scatter(self, dim: _int, index: Tensor, value: Number, *, reduce: str) -> Tensor: ...
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In place: scatter."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor: ...
    @overload
    def scatter_(self, dim: _int, index: Tensor, value: Number) -> Tensor: ...
    @overload
    def scatter_(self, dim: _int, index: Tensor, value: Number, *, reduce: str) -> Tensor: ...
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """A copy with src added at index along dim; repeated indices add up."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In place: scatter_add."""
    def scatter_reduce(
        self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True,
    ) -> Tensor:
        """A copy with src reduced into it at index along dim: "sum", "prod", "mean", "amax" or "amin"."""
    def scatter_reduce_(
        self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True,
    ) -> Tensor:
        """In place: scatter_reduce."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """input[index] along dim, which goes; a view."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """A copy with src in the place of select(dim, index)."""
    @overload
    def set_(self) -> Tensor:
        """Show the memory of `source` from now on, a tensor or a storage: all of it, or from an offset on a size with strides."""
    @overload
    def set_(self, source: Any) -> Tensor: ...
    @overload
    def set_(
        self, source: Any, storage_offset: _int, size: Sequence[_int], stride: Sequence[_int] | None = None,
    ) -> Tensor: ...
    @overload
    def set_(self, source: Tensor) -> Tensor: ...
    @overload
    def set_(
        self, source: Tensor, storage_offset: _int, size: Sequence[_int], stride: Sequence[_int] | None = None,
    ) -> Tensor: ...
    def sgn(self) -> Tensor:
        """sign, for real numbers; in the dtype of input."""
    def sgn_(self) -> Tensor:
        """In place: sgn."""
    def share_memory_(self) -> Tensor:
        """Move it to memory that other processes see: those made by fork, and those to which torch.multiprocessing sends it."""
    def short(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """In int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + e ** -input); integers give the default float."""
    def sigmoid_(self) -> Tensor:
        """In place: sigmoid."""
    def sign(self) -> Tensor:
        """-1, 0 or 1; 0 for nan; in the dtype of input."""
    def sign_(self) -> Tensor:
        """In place: sign."""
    def signbit(self) -> Tensor:
        """Is the sign bit set?  It is for -0.0."""
    def sin(self) -> Tensor:
        """Sine of radians; integers give the default float."""
    def sin_(self) -> Tensor:
        """In place: sin."""
    def sinc(self) -> Tensor:
        """sin(pi input) / (pi input), 1 at 0; integers give the default float."""
    def sinc_(self) -> Tensor:
        """In place: sinc."""
    def sinh(self) -> Tensor:
        """Hyperbolic sine; integers give the default float."""
    def sinh_(self) -> Tensor:
        """In place: sinh."""
    def slice_scatter(
        self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1,
    ) -> Tensor:
        """A copy with src in the place of the slice start:end:step along dim."""
    def slogdet(self) -> return_types.slogdet:
        """(sign, log |det|), each (...), of square matrices (..., n, n); (0, -inf) for a singular one."""
    def softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """exp(input) / sum(exp(input)) along dim; dtype: convert first."""
    def solve(self, **kwargs: Any) -> Tensor:
        """RuntimeError: linalg.solve has taken its place."""
    @overload
    def sort(self, *, stable: _bool | None, dim: _int = -1, descending: _bool = False) -> return_types.sort:
        """Named tuple (values, indices) in order along dim; always stable.  NaN counts as the greatest."""
    @overload
    def sort(self, dim: _int = -1, descending: _bool = False) -> return_types.sort: ...
    def split(
        self, split_size_or_sections: _int | Sequence[_int] | None = None, dim: _int = 0, *,
        split_size: _int | Sequence[_int] | None = None,
    ) -> tuple[Tensor, ...]:
        """Views of split_size along dim (the last one smaller), or of the given sizes.  They may not be edited in place."""
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of the given sizes along dim, which must add up to its size."""
    def sqrt(self) -> Tensor:
        """Square root; its derivative at 0 is inf; integers give the default float."""
    def sqrt_(self) -> Tensor:
        """In place: sqrt."""
    def square(self) -> Tensor:
        """input ** 2"""
    def square_(self) -> Tensor:
        """In place: input = input ** 2."""
    @overload
    def squeeze(self) -> Tensor:
        """Without the dims of size 1: all, or those named; a view."""
    @overload
    def squeeze(self, dim: _int) -> Tensor: ...
    @overload
    def squeeze(self, dim: Sequence[_int]) -> Tensor: ...
    @overload
    def squeeze(self, *dim: _int) -> Tensor: ...
    @overload
    def squeeze_(self) -> Tensor:
        """In place: squeeze."""
    @overload
    def squeeze_(self, dim: _int) -> Tensor: ...
    @overload
    def squeeze_(self, dim: Sequence[_int]) -> Tensor: ...
    @overload
    def squeeze_(self, *dim: _int) -> Tensor: ...
    @overload
    def std(self, dim: _int | Sequence[_int] | None, unbiased: _bool = True, keepdim: _bool = False) -> Tensor:
        """Standard deviation; where it is zero, so is the gradient."""
    @overload
    def std(
        self, dim: _int | Sequence[_int] | None = None, *, correction: Number | None = None, keepdim: _bool = False,
    ) -> Tensor: ...
    @overload
    def std(self, *dim: _int, correction: Number | None = None, keepdim: _bool = False) -> Tensor: ...
    @overload
    def std(self, unbiased: _bool = True) -> Tensor: ...
    def stft(
        self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Any = None,
        center: _bool = True, pad_mode: str = "reflect", normalized: _bool = False, onesided: _bool | None = None,
        return_complex: _bool | None = None, align_to_window: _bool | None = None,
    ) -> Tensor:
        """The short-time Fourier transform: (..., frequencies, frames) of windows of n_fft samples, hop_length apart."""
    def storage(self) -> Any:
        """The same block as numbers of its dtype: a torch.TypedStorage, which PyTorch has deprecated."""
    def storage_offset(self) -> _int:
        """Elements between the start of the memory block and the first element."""
    def storage_type(self) -> Any:
        """The class of storage that its dtype has: torch.FloatStorage, say."""
    @overload
    def stride(self) -> tuple[_int, ...]:
        """Steps in elements from one index to the next, per dimension."""
    @overload
    def stride(self, dim: _int) -> _int: ...
    def sub(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other, broadcast; bools are refused."""
    def sub_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """In place: input -= alpha * other."""
    @overload
    def subtract(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other, broadcast; bools are refused."""
    @overload
    def subtract(self, other: Number, alpha: Number = 1) -> Tensor: ...
    @overload
    def subtract_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """In place: input -= alpha * other."""
    @overload
    def subtract_(self, other: Number, alpha: Number = 1) -> Tensor: ...
    @overload
    def sum(self, *, dtype: _dtype | None = None) -> Tensor:
        """Sum of all elements, or over dims (int or several).  Integers add up in int64."""
    @overload
    def sum(self, dim: _int | Sequence[_int] | None, keepdim: _bool = False, *, dtype: _dtype | None = None) -> Tensor: ...
    @overload
    def sum_to_size(self, size: Sequence[_int]) -> Tensor:
        """Summed over the dims that broadcasting `size` to the tensor's shape would stretch."""
    @overload
    def sum_to_size(self, *size: _int) -> Tensor: ...
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> return_types.svd:
        """The singular value decomposition (U, S, V) in its old form: V, not its conjugate transpose."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two dims exchanged; a view."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor:
        """In place: two dims exchanged."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dims exchanged; a view."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """In place: two dims exchanged."""
    def symeig(self, **kwargs: Any) -> Tensor:
        """RuntimeError: linalg.eigh has taken its place."""
    def t(self) -> Tensor:
        """The transpose of a matrix; vectors and numbers as they are.  RuntimeError above 2 dims."""
    def t_(self) -> Tensor:
        """In place: the transpose of a matrix."""
    def take(self, index: Tensor) -> Tensor:
        """The elements at flat positions (C order), in the shape of index."""
    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """gather with broadcasting; without dim, of the flattened tensors."""
    def tan(self) -> Tensor:
        """Tangent of radians; integers give the default float."""
    def tan_(self) -> Tensor:
        """In place: tan."""
    def tanh(self) -> Tensor:
        """Hyperbolic tangent; integers give the default float."""
    def tanh_(self) -> Tensor:
        """In place: tanh."""
    @overload
    def tensor_split(self, indices: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Views along dim: `sections` of sizes that differ by one at most, or cut at the given indices."""
    @overload
    def tensor_split(self, tensor_indices_or_sections: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(self, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tile(self, dims: Sequence[_int]) -> Tensor:
        """repeat, with missing leading repeats taken as 1."""
    @overload
    def tile(self, *dims: _int) -> Tensor: ...
    @overload
    def to(
        self, dtype: _dtype, non_blocking: _bool = False, copy: _bool = False, *,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """In another dtype: to(dtype), to(tensor), to(device[, dtype]).  Itself when nothing changes and not copy."""
    @overload
    def to(
        self, device: _device | str | _int | None = None, dtype: _dtype | None = None, non_blocking: _bool = False,
        copy: _bool = False, *, memory_format: _memory_format | None = None,
    ) -> Tensor: ...
    @overload
    def to(
        self, other: Tensor, non_blocking: _bool = False, copy: _bool = False, *,
        memory_format: _memory_format | None = None,
    ) -> Tensor: ...
    def to_dense(self, dtype: _dtype | None = None, *, masked_grad: _bool | None = None) -> Tensor:
        """Itself (in another dtype): all tensors are dense, whatever masked_grad says."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> return_types.topk:
        """Named tuple (values, indices): the k greatest (or smallest) along dim, in order."""
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dims exchanged; a view."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """In place: two dims exchanged."""
    def triangular_solve(
        self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False,
    ) -> return_types.triangular_solve:
        """torch.linalg.solve_triangular in its old form; returns (solution, copy of A)."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The matrices with zeros above the diagonal (or the one `diagonal` above it)."""
    def tril_(self, diagonal: _int = 0) -> Tensor:
        """In place: tril."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The matrices with zeros below the diagonal (or the one `diagonal` above it)."""
    def triu_(self, diagonal: _int = 0) -> Tensor:
        """In place: triu."""
    @overload
    def true_divide(self, other: Tensor | Number) -> Tensor:
        """input / other"""
    @overload
    def true_divide(self, other: Number) -> Tensor: ...
    @overload
    def true_divide_(self, other: Tensor | Number) -> Tensor:
        """In place: input /= other."""
    @overload
    def true_divide_(self, other: Number) -> Tensor: ...
    def trunc(self) -> Tensor:
        """Round towards 0; in the dtype of input."""
    def trunc_(self) -> Tensor:
        """In place: trunc."""
    @overload
    def type(self) -> str:
        """Without argument the name, such as 'torch.FloatTensor'; else the tensor cast to it."""
    @overload
    def type(self, dtype: _dtype | str | _type, non_blocking: _bool = False) -> Tensor: ...
    def type_as(self, other: Tensor) -> Tensor:
        """Cast to the dtype of `other`."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The slices along dim, as a tuple of views.  They may not be edited in place."""
    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """Split one dim into several; one of `sizes` may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of `size` along a dim, every `step`, as a new last dim; a view."""
    def uniform_(self, from_: _float = 0.0, /, to: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """In place: uniform in [a, b)."""
    @overload
    def unique(
        self, sorted: _bool = True, return_inverse: Literal[False] = False, return_counts: Literal[False] = False,
        dim: _int | None = None,
    ) -> Tensor:
        """The different elements (or slices along dim) in order; with inverse indices and counts if wanted.  No derivative."""
    @overload
    def unique(
        self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None,
    ) -> tuple[Tensor, ...]: ...
    @overload
    def unique_consecutive(
        self, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, dim: _int | None = None,
    ) -> Tensor:
        """Runs of equal elements (or slices along dim) reduced to one.  No derivative."""
    @overload
    def unique_consecutive(
        self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None,
    ) -> tuple[Tensor, ...]: ...
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """chunk, with parts that may be edited in place: autograd takes them for copies."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """split, with parts that may be edited in place: autograd takes them for copies."""
    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """split_with_sizes, with parts that may be edited in place."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """A dim of size 1 inserted at `dim`; a view."""
    def unsqueeze_(self, dim: _int) -> Tensor:
        """In place: unsqueeze."""
    def untyped_storage(self) -> Any:
        """The block of memory that this tensor and its views show, as bytes: a torch.UntypedStorage."""
    @overload
    def var(self, dim: _int | Sequence[_int] | None, unbiased: _bool = True, keepdim: _bool = False) -> Tensor:
        """Variance of all elements or over dims: squares over n - correction (unbiased: 1)."""
    @overload
    def var(
        self, dim: _int | Sequence[_int] | None = None, *, correction: Number | None = None, keepdim: _bool = False,
    ) -> Tensor: ...
    @overload
    def var(self, *dim: _int, correction: Number | None = None, keepdim: _bool = False) -> Tensor: ...
    @overload
    def var(self, unbiased: _bool = True) -> Tensor: ...
    def vdot(self, other: Tensor) -> Tensor:
        """dot of conj(input) and other."""
    @overload
    def view(self, dtype: _dtype) -> Tensor:
        """The same memory under another shape (one size may be -1), or as another dtype."""
    @overload
    def view(self, size: Sequence[_int]) -> Tensor: ...
    @overload
    def view(self, *size: _int) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor:
        """view in the shape of `other`."""
    @overload
    def vsplit(self, sections: _int) -> tuple[Tensor, ...]:
        """tensor_split along dim 0."""
    @overload
    def vsplit(self, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
    @overload
    def vsplit(self, *indices: _int) -> tuple[Tensor, ...]: ...
    @overload
    def where(self, condition: Tensor, other: Tensor) -> Tensor:
        """input where condition holds, else other."""
    @overload
    def where(self, condition: Tensor, other: Number) -> Tensor: ...
    @overload
    def xlogy(self, other: Tensor) -> Tensor:
        """input * log(other), 0 where input is 0; either may be a number."""
    @overload
    def xlogy(self, other: Number) -> Tensor: ...
    @overload
    def xlogy_(self, other: Tensor) -> Tensor:
        """In place: xlogy."""
    @overload
    def xlogy_(self, other: Number) -> Tensor: ...
    def zero_(self) -> Tensor:
        """Every element becomes 0."""
