"""Pruning by forward-pre hooks (torch.nn.utils.prune).

A pruned parameter `weight` lives on as `weight_orig`; the buffer `weight_mask` says what is kept; before each call of the
module, a hook makes `weight` of both.  https://pytorch.org/docs/stable/nn.html#utilities

module              whose parameter is pruned
name                what that parameter is called, such as 'weight'
t                   the tensor to prune
default_mask        1 or 0 for each element of t: what earlier prunings left
importance_scores   of t's shape: numbers to judge by instead of t's; None: t itself
amount              how many go (int), or which share of those left (float in [0, 1]); ValueError otherwise
n                   p of the channels' norm
dim                 the dimension whose slices are channels
method              a BasePruningMethod for the same parameter; TypeError or ValueError otherwise
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar

from ..._functions import ones_like, rand, rand_like, zeros_like
from ..._functions.reduce import norm
from ..._tensor.dtypes import contiguous_format
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]


class BasePruningMethod(ABC):
    """The forward-pre hook.  A subclass says what to prune: `compute_mask` and PRUNING_TYPE.

    PRUNING_TYPE   what compute_mask is shown of what earlier prunings left: "unstructured" the elements, in one
                   dimension; "structured" the channels along self.dim; "global" everything
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask for t: 1 what is kept, 0 what is pruned, within default_mask (both of one shape)."""

    def apply_mask(self, module: Any) -> Any:
        """The pruned tensor: the original times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, orig = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune module's `name` by cls(*args, **kwargs), on top of earlier prunings; -> the hook.

        importance_scores   what compute_mask reads in place of the parameter, of its shape
        After an error the module is as it was.
        """
        hooks = module._forward_pre_hooks
        earlier = [key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        if len(earlier) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer.")
        new = cls(*args, **kwargs)
        new._tensor_name = name
        orig = getattr(module, name)
        if importance_scores is None:
            importance_scores = orig
        elif importance_scores.shape != orig.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {orig.shape}")
        method: BasePruningMethod = new
        if earlier:
            method = _joined(hooks[earlier[0]], new)
        if isinstance(method, PruningContainer):
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=contiguous_format)
        else:
            default_mask = ones_like(orig)
        tables = (module._parameters, module._buffers)
        before = [dict(table) for table in tables]
        try:
            if not isinstance(method, PruningContainer):
                module.register_parameter(name + "_orig", orig)
                del module._parameters[name]
            module.register_buffer(name + "_mask", method.compute_mask(importance_scores, default_mask=default_mask))
            setattr(module, name, method.apply_mask(module))
        except BaseException:
            for table, then in zip(tables, before):
                table.clear()
                table.update(then)
            raise
        if earlier:
            old = hooks.pop(earlier[0])
            if isinstance(old, PruningContainer):
                old.add_pruning_method(new)
                method = old
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """t, pruned: a tensor that belongs to no module.

        default_mask        what is left of t so far; None: all
        importance_scores   what compute_mask reads in place of t, of its shape
        """
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}")
        if default_mask is None:
            default_mask = ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Make the parameter an ordinary one again; what is pruned stays zero.  The hook is left: see `prune.remove`."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters[name + "_orig"]
        orig.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """Prunings of one parameter, one after the other: each sees what those before left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Append a pruning of the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of the latest pruning, within default_mask."""
        method = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            left: Any = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = _dim_of(method, t)
            left = [slice(None)] * t.dim()
            left[dim] = default_mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            left = tuple(left)
        elif method.PRUNING_TYPE == "global":
            left = (slice(None),) * len(t.shape)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.to(dtype=t.dtype)
        part = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = part.to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the parameter a pruned one."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """default_mask itself."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        """Make module's `name` a pruned parameter; -> the hook."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements drawn at random: `amount` of them (int), or that share (float)."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """default_mask with zeros for the drawn elements."""
        return _without(default_mask, t, self.amount, lambda: rand_like(t), True)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prune `amount` of module's `name`; -> the hook."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of smallest absolute value: `amount` of them (int), or that share (float)."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """default_mask with zeros for the least elements."""
        return _without(default_mask, t, self.amount, t.abs, False)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, importance_scores: Any = None,
    ) -> Any:
        """Prune `amount` of module's `name`; -> the hook."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prunes channels along `dim` drawn at random: `amount` of them (int), or that share (float)."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """default_mask with zeros for the drawn channels."""
        channels, gone = _channels_to_prune(t, self.dim, self.amount)
        if gone == 0:
            return default_mask
        drawn = rand(channels)
        return _only(default_mask, t, self.dim, drawn > drawn.kthvalue(gone).values)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        """Prune `amount` channels of module's `name`; -> the hook."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the channels along `dim` with the smallest norms: `amount` of them (int), or that share (float).

    n   the order of the norm, as torch.norm's p: a number, inf, -inf, "fro" or "nuc"
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """default_mask with zeros for the channels of least norm."""
        channels, gone = _channels_to_prune(t, self.dim, self.amount)
        others = list(range(t.dim()))
        del others[self.dim]
        kept = norm(t, p=self.n, dim=others).topk(channels - gone)
        return default_mask if gone == 0 else _only(default_mask, t, self.dim, kept.indices)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None,
    ) -> Any:
        """Prune `amount` channels of module's `name`; -> the hook."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """What both masks keep."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:  # type: ignore[override]
        """Prune module's `name` where mask is 0; -> the hook."""
        return super().apply(module, name, mask=mask)


def identity(module: Any, name: str) -> Any:
    """Make module's `name` a pruned parameter with nothing pruned yet; -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.identity.html
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements drawn at random, `amount` of them (int) or that share (float) of what is left; -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.random_unstructured.html
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the smallest elements, `amount` of them (int) or that share (float) of what is left; -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.l1_unstructured.html
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune channels along dim drawn at random, `amount` of them (int) or that share (float); -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.random_structured.html
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune the channels along dim with the smallest n-norms, `amount` of them (int) or that share (float); -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.ln_structured.html
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune several parameters as if they were one: the smallest elements of all go, wherever they are.

    parameters          pairs (module, name)
    pruning_method      a subclass of BasePruningMethod of type "unstructured"; kwargs are its arguments (amount)
    importance_scores   {(module, name): scores} in place of parameters
    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.global_unstructured.html
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is None:
        importance_scores = {}
    elif not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    scores = parameters_to_vector([importance_scores.get(pair, getattr(*pair)) for pair in pairs])
    masks = parameters_to_vector([getattr(m, name + "_mask", ones_like(getattr(m, name))) for m, name in pairs])
    method = pruning_method(**kwargs)
    method._tensor_name = "all"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}")
    mask = PruningContainer(method).compute_mask(scores, masks)
    start = 0
    for module, name in pairs:
        param = getattr(module, name)
        custom_from_mask(module, name, mask=mask[start:start + param.numel()].view_as(param))
        start += param.numel()


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune module's `name` where mask is 0; -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.custom_from_mask.html
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make `name` an ordinary parameter again, pruned as it is now, without hook and mask; -> module.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.remove.html
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a parameter of module, or of a module in it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values())


def _joined(old: Any, new: Any) -> PruningContainer:
    """A container of the old pruning, or of those in it, and the new one; old itself stays as it is."""
    joined = copy(old) if isinstance(old, PruningContainer) else PruningContainer(old)
    joined.add_pruning_method(new)
    return joined


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if float(amount) < 0 or (not isinstance(amount, Integral) and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """`amount`, a number or a share, of tensor_size things."""
    return int(amount) if isinstance(amount, Integral) else round(amount * tensor_size)


def _how_many(amount: Any, size: int) -> int:
    _validate_pruning_amount(amount, size)
    return _compute_nparams_toprune(amount, size)


def _without(mask: Any, t: Any, amount: Any, key: Any, largest: bool) -> Any:
    """A copy of mask with zeros at the `amount` elements of t whose key() is largest or least."""
    gone = _how_many(amount, t.nelement())
    mask = mask.clone(memory_format=contiguous_format)
    if gone:
        mask.view(-1)[key().view(-1).topk(gone, largest=largest).indices] = 0
    return mask


def _channels_to_prune(t: Any, dim: int, amount: Any) -> tuple[int, int]:
    """How many channels t has along dim, and how many of them go."""
    if len(t.shape) <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. "
            f"Found tensor of shape {t.shape} with {len(t.shape)} dims")
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
    return t.shape[dim], _how_many(amount, t.shape[dim])


def _only(mask: Any, t: Any, dim: int, channels: Any) -> Any:
    """mask, with zeros in all but some channels of t along dim."""
    kept = zeros_like(t)
    where: list[Any] = [slice(None)] * t.dim()
    where[dim] = channels
    kept[tuple(where)] = 1
    kept *= mask.to(dtype=kept.dtype)
    return kept


def _dim_of(method: Any, t: Any) -> int:
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = int(method.dim) + (t.dim() if method.dim < 0 else 0)
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    return dim
