"""Which public functions a plan may hold."""
from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from .._engine.tensor import TensorBase, shared_version
from .book import Book
from .effects import Again
from .values import Entry, Refused, Value, of_array

ndarray: Final = np.ndarray

# What gives no tensor that an op made, and may be called all the same: facts that guards cover, and gradients.
FACTS: Final = set("""
    Tensor.shape.__get__ Tensor.ndim.__get__ Tensor.dtype.__get__ Tensor.device.__get__ Tensor.requires_grad.__get__
    Tensor.is_leaf.__get__ Tensor.layout.__get__ Tensor.size Tensor.dim Tensor.numel Tensor.nelement Tensor.__len__
    Tensor.is_contiguous Tensor.is_floating_point Tensor.is_complex Tensor.stride torch.numel torch.is_floating_point
    torch.is_tensor torch.is_complex Tensor.grad.__get__ Tensor.grad.__set__ torch._C._set_grad_enabled
    Tensor.backward torch.autograd.backward torch.autograd.grad Tensor.requires_grad_ Tensor.detach torch.detach
    Tensor.data.__get__ Tensor.zero_grad Tensor.is_same_size Tensor.element_size Tensor.type
""".split())
# New tensors of numbers: the same at each call.
FRESH: Final = set("torch.zeros torch.ones torch.full torch.tensor torch.arange torch.linspace torch.eye torch.zeros_like "
            "torch.ones_like torch.full_like Tensor.new_zeros Tensor.new_ones Tensor.new_full torch.scalar_tensor torch.empty "
            "torch.empty_like Tensor.new_empty".split())
# Functions that were looked at: they compute by ops alone, whatever the values.
PURE: Final = set("""
    add sub subtract mul multiply div divide true_divide neg negative reciprocal pow square rsub exp exp2 expm1 log log2
    log10 log1p sqrt rsqrt abs absolute sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid erf relu
    leaky_relu elu celu gelu silu mish softplus logsigmoid hardsigmoid hardswish softmax log_softmax
    matmul mm mv dot bmm linear addmm sum mean mse_loss smooth_l1_loss huber_loss l1_loss binary_cross_entropy_with_logits
    view reshape flatten expand expand_as transpose t permute unsqueeze squeeze select narrow movedim T.__get__ mT.__get__
    nll_loss cross_entropy stack cat concat clone contiguous add_ sub_ mul_ div_ neg_ __getitem__ __rsub__ __rpow__
    __rmatmul__ __rdiv__ __matmul__ __pow__ __neg__ sgn sign
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d avg_pool2d adaptive_avg_pool2d baddbmm addcmul
    scaled_dot_product_attention clamp clamp_min clamp_max hardtanh relu6 lerp maximum minimum prelu glu cumsum tril triu
    amax amin dropout logsumexp var std norm normalize repeat roll flip pad
""".split())
# They may edit their argument, if told to.
INPLACE: Final = set("relu leaky_relu elu celu silu mish hardsigmoid hardswish hardtanh relu6".split())
# They edit no argument and draw no numbers.
QUIET: Final = {name for name in PURE if name.endswith("__") or not name.endswith("_")} - INPLACE - {
    "dropout", "scaled_dot_product_attention"}


@functools.lru_cache(maxsize=2000)
def brief(name: str) -> str:
    """add, T.__get__, linear"""
    return name.rpartition("Tensor.")[2] if "Tensor." in name else name.rpartition(".")[2]


def judge(trace: Book, name: str, impl: Any, args: Any, kwargs: Any, out: Any) -> None:
    short = brief(name)
    if kwargs and kwargs.get("out") is not None:
        raise Refused(f"{name} with out=")
    if name in FRESH:
        if has_tensor(args[1:] if "new_" in name or name.endswith("_like") else args) or kwargs and has_tensor(
                list(kwargs.values())):
            raise Refused(f"{name} of a tensor")
        trace.alive.append(out)
        if any(isinstance(x, (ndarray, np.generic)) for x in args):
            trace.add(Entry(name, Again(impl, args, kwargs, out.array), [], [of_array(out.array)], "", False, trace.line()))
        else:
            value = of_array(out.array.copy("K"), "const")
            trace.know(value)
            trace.values[id(out.array)] = value
            trace.alive.append(out.array)
        return
    if name not in FACTS and short not in PURE:
        raise Refused(f"{name} is not replayed yet")
    if name == "Tensor.data.__get__":
        trace.uncounted.add(id(shared_version(out)))
    if isinstance(out, TensorBase):
        gives(trace, name, out)
    elif isinstance(out, (tuple, list)):
        for t in out:
            if isinstance(t, TensorBase):
                gives(trace, name, t)


def gives(trace: Book, name: str, t: TensorBase) -> None:
    trace.alive.append(t)
    if id(t.array) not in trace.values:
        raise Refused(f"{name} gives what no op made")


@functools.lru_cache(maxsize=2000)
def called(func: Any) -> str:
    """Tensor.add, Tensor.grad.__get__, torch.nn.functional.linear"""
    owner: Any = getattr(func, "__self__", None)
    name = getattr(func, "__name__", "a function")
    if hasattr(owner, "fget"):
        return f"Tensor.{owner.fget.__name__}.{name}"
    if getattr(func, "__qualname__", "").startswith("Tensor"):
        return f"Tensor.{name}"
    return f"torch{str(getattr(func, '__module__', '')).removeprefix('retrograd').removeprefix('torch')}.{name}"


def has_tensor(x: Any) -> bool:
    return isinstance(x, TensorBase) or (isinstance(x, (list, tuple)) and any(map(has_tensor, x)))


def numbers(trace: Book, name: str, args: Any, kwargs: Any) -> list[Value | None]:
    """The tensors of one element behind the first argument: operands, or numbers that the function reads."""
    found: list[Value | None] = []
    if name not in FACTS and not name.endswith("_as"):
        singles(trace, args[1:], found)
        if kwargs:
            singles(trace, list(kwargs.values()), found)
    return found


def singles(trace: Book, many: Any, found: list[Value | None]) -> None:
    for x in many:
        if isinstance(x, TensorBase):
            if x.array.size == 1:
                found.append(trace.values.get(id(x.array)))
        elif isinstance(x, (tuple, list)):
            singles(trace, x, found)
        elif isinstance(x, slice):
            singles(trace, [x.start, x.stop, x.step], found)


def reads(trace: Book, given: list[Value | None], mark: int) -> bool:
    """Did a call read the number in one of them?  No entry since `mark` takes it then."""
    taken = trace.entries[mark:]
    for value in given:
        if value is None or not any([v is value for entry in taken for v in entry.args]):
            return True
    return False
