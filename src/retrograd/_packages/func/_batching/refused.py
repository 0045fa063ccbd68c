"""What samples cannot be asked for, and what they tell of themselves."""
from __future__ import annotations

from typing import Any, NoReturn

from retrograd._engine.tensor import TensorBase

from .level import Level, Rule

BRANCH = ("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, "
          "please file an issue at https://github.com/pytorch/pytorch/issues .")
ITEM = ("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please "
        "try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
        "internals, please "
        "file a bug report.")
DYNAMIC = ("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
           "aten::{}. Please file "
           "an issue at https://github.com/pytorch/pytorch/issues if you need this feature.")
TEXTS = {
    BRANCH: "__bool__ is_nonzero",
    ITEM: "item __float__ __int__ __index__ __complex__ __contains__ __format__",
    "Cannot access data pointer of Tensor that doesn't have storage": "numpy tolist __array__ data_ptr __dlpack__",
    DYNAMIC.format("nonzero"): "nonzero",
    DYNAMIC.format("_unique2"): "unique",
    DYNAMIC.format("unique_consecutive"): "unique_consecutive",
    "vmap over torch.allclose isn't supported yet. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
    "this feature.": "allclose",
    "Batching rule not implemented for aten::equal. We could not generate a fallback.": "equal",
    "accessing `data` under vmap transform is not allowed": "data.__get__",
    "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function "
    "being transformed by a functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, "
    "vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being transformed instead.": "requires_grad_",
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
    "functorch.vjp instead or "
    "call backward() outside of functorch transforms.": "backward",
}
# What the stand-in of a sample answers as it is.
SHAPE = """
    shape.__get__ ndim.__get__ dtype.__get__ device.__get__ layout.__get__ itemsize.__get__ nbytes.__get__ size dim
    ndimension numel nelement element_size is_floating_point is_complex is_signed __len__ get_device is_cuda.__get__
    is_cpu.__get__ is_mps.__get__ is_meta.__get__ is_sparse.__get__ is_quantized.__get__ is_nested.__get__ is_xpu.__get__
    is_mkldnn.__get__ is_same_size is_inference is_pinned is_shared result_type dim_order
""".split()
ASKED = """
    requires_grad.__get__ grad_fn.__get__ is_leaf.__get__ grad.__get__ retains_grad.__get__ _version.__get__ register_hook
    retain_grad is_conj is_neg
""".split()


def shaped(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def asked(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What is true of whole values."""
    return func(args[0].value, *args[1:], **kwargs)


def stride(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    strides = args[0].value.stride()[1:]
    return strides[args[1]] if len(args) > 1 else strides


def whole(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """is_contiguous"""
    x = args[0].value
    return func(x[0] if level.size else x, *args[1:], **kwargs)


def printed(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    inner = repr(args[0].value).replace("\n", "\n    ")
    return f"BatchedTensor(lvl={level.depth}, bdim=0, value=\n    {inner}\n)"


def made(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """tensor(...) of samples, which would read them; as_tensor of one is that one"""
    if name == "as_tensor" and isinstance(args[0], TensorBase):
        x: Any = args[0]
        return x if len(args) == 1 and not kwargs else x.to(*args[1:], **kwargs)
    raise RuntimeError(ITEM)


def _refusing(text: str) -> Rule:
    def rule(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
        raise RuntimeError(text)
    return rule


RULES: dict[str, Rule] = {name: _refusing(text) for text, names in TEXTS.items() for name in names.split()}
RULES |= {name: shaped for name in SHAPE} | {name: asked for name in ASKED}
RULES |= {"stride": stride, "is_contiguous": whole, "__repr__": printed, "tensor": made, "as_tensor": made, "asarray": made}
