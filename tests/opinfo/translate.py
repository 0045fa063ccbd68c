"""PyTorch's values and functions as ours: tensors with their strides, dtypes, and functions that use `torch`."""

from __future__ import annotations

import functools
import math
import types
from typing import Any

import numpy as np
import torch as theirs

import retrograd as ours


class Outside(Exception):
    """The sample needs what we do not have: sparse tensors, a name we lack."""


class Side:
    """One of the two libraries; `copy` gives fresh values of a sample in it.  One Side serves one call, so that
    tensors that share memory in the sample share it there, too."""

    lib: Any

    def __init__(self, grad: bool = False) -> None:
        self.grad = grad
        self.seen: dict[int, Any] = {}
        self.leaves: list[Any] = []

    def copy(self, value: Any) -> Any:
        if isinstance(value, theirs.Tensor):
            t = self.seen.get(id(value))
            if t is None:
                t = self.seen[id(value)] = self.tensor(value)
                if self.grad and value.requires_grad:
                    self.leaves.append(t.requires_grad_())
            return t
        if isinstance(value, theirs.Size):
            return self.lib.Size(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.copy, value))
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.copy, value))
        if isinstance(value, dict):
            return {k: self.copy(v) for k, v in value.items()}
        return self.other(value)

    def tensor(self, t: Any) -> Any:
        raise NotImplementedError

    def other(self, value: Any) -> Any:
        return value


class Theirs(Side):
    lib = theirs

    def tensor(self, t: Any) -> Any:
        if t.layout is not theirs.strided:
            return t.detach().clone()
        span = sum((n - 1) * s for n, s in zip(t.shape, t.stride())) + 1 if t.numel() else 0
        flat = t.detach().as_strided((span,), (1,), t.storage_offset()).clone()
        return flat.as_strided(t.shape, t.stride())


class Ours(Side):
    lib = ours

    def tensor(self, t: Any) -> Any:
        dtype = str(t.dtype).rpartition(".")[2]
        if t.layout is not theirs.strided or not hasattr(ours, dtype) or t.dtype is theirs.complex32:
            raise Outside(f"{t.dtype}" if t.layout is theirs.strided else f"{t.layout}")
        if t.is_meta or t.ndim > 64:
            raise Outside("the meta device" if t.is_meta else "more than 64 dimensions")
        if t.dtype is theirs.bfloat16:
            return as_bfloat16(t)
        flat = Theirs().tensor(t)
        return ours.from_numpy(flat.resolve_conj().resolve_neg().numpy())

    def other(self, value: Any) -> Any:
        return translated(value)


def as_bfloat16(t: Any) -> Any:
    words = Theirs().tensor(t).view(theirs.int16).numpy()
    return ours.from_numpy(words.view(ours.bfloat16.numpy if hasattr(ours.bfloat16, "numpy") else "bfloat16"))


SAME_MODULES = ("math", "operator", "builtins", "itertools", "functools", "numpy", "random", "copy", "collections")


@functools.cache
def wrapper_set_seed() -> Any:
    from torch.testing._internal import common_methods_invocations

    return common_methods_invocations.wrapper_set_seed


def seeded(op: Any, *args: Any, **kwargs: Any) -> Any:
    ours.manual_seed(42)
    return op(*args, **kwargs)


def found(root: Any, path: str) -> Any:
    at = root
    for part in path.split("."):
        at = getattr(at, part, None)
        if at is None:
            raise Outside(f"no {path}")
    return at


def translated(value: Any) -> Any:
    """value, with ours in the place of torch's; functions are built anew over our names."""
    if value is theirs:
        return ours
    if isinstance(value, (theirs.dtype, theirs.memory_format, theirs.layout)):
        return found(ours, str(value).rpartition(".")[2])
    if isinstance(value, theirs.device):
        return ours.device(str(value))
    if isinstance(value, theirs.Generator):
        return ours.Generator().manual_seed(value.initial_seed())
    if isinstance(value, theirs.Tensor):
        return Ours().copy(value)
    if isinstance(value, types.ModuleType):
        name = value.__name__
        return found(ours, name[6:]) if name.startswith("torch.") and "_internal" not in name else value
    if isinstance(value, functools.partial):
        return functools.partial(translated(value.func), *map(translated, value.args),
            **{k: translated(v) for k, v in value.keywords.items()})
    if isinstance(value, theirs.nn.TransformerEncoderLayer):
        return encoder_layer(value)
    if isinstance(value, theirs.nn.Module):
        made = found(ours.nn, type(value).__name__)()
        for k, v in vars(value).items():
            if isinstance(v, (bool, int, float)):
                setattr(made, k, v)
        return made
    if callable(value):
        return function(value)
    return value


def encoder_layer(t: Any) -> Any:
    attention = t.self_attn
    made = ours.nn.TransformerEncoderLayer(
        attention.embed_dim, attention.num_heads, t.linear1.out_features, t.dropout.p, translated(t.activation), t.norm1.eps,
        attention.batch_first, t.norm_first, t.linear1.bias is not None, dtype=translated(t.linear1.weight.dtype))
    made.load_state_dict({k: translated(v) for k, v in t.state_dict().items()})
    return made


MEMO: dict[Any, Any] = {}


def function(f: Any) -> Any:
    try:
        if f in MEMO:
            return MEMO[f]
    except TypeError:
        return f
    if f is wrapper_set_seed():
        return seeded
    if type(f).__module__ == "torch._ops":
        raise Outside(f"no torch.ops.{f}")
    module = getattr(f, "__module__", None) or ""
    name = getattr(f, "__qualname__", getattr(f, "__name__", ""))
    owner = getattr(f, "__objclass__", None)
    if owner is not None and issubclass(theirs.Tensor, owner):
        return found(ours.Tensor, name.rpartition(".")[2])
    if isinstance(f, type):
        return found(ours, f"{module[6:]}.{name}".strip(".")) if module.startswith("torch") and "_internal" not in module else f
    if isinstance(f, types.FunctionType) and not public(module):
        return rebuilt(f)
    if isinstance(f, types.FunctionType):
        if name.startswith(("boolean_dispatch", "_")) or f.__name__ == "fn":
            for path, space in (("", theirs), ("nn.functional.", theirs.nn.functional)):
                public_name = next((n for n, v in vars(space).items() if v is f and not n.startswith("_")), None)
                if public_name is not None:
                    return found(ours, path + public_name)
        home = module[6:].replace("masked._ops", "masked").replace("windows.windows", "windows")
        for path in (f"{home}.{name}".strip("."), name, f"linalg.{name}"):
            if path == name and getattr(theirs, name, f) is not f or home.startswith("masked") and path[:7] != "masked.":
                continue                                    # another function of the same name
            try:
                return found(ours, path)
            except Outside:
                continue
        raise Outside(f"no {name}")
    if isinstance(f, types.BuiltinFunctionType) and ("_VariableFunctions" in name or module.startswith("torch") or
            type(getattr(f, "__self__", None)).__name__ == "type"):
        return builtin(f)
    return f


def public(module: str) -> bool:
    """Is it a module of PyTorch's whose functions have names that we may have?"""
    return module.startswith("torch") and "testing" not in module and not module.startswith(("torch._refs", "torch._prims"))


def builtin(f: Any) -> Any:
    bare = f.__name__
    for prefix in ("linalg_", "special_", "fft_"):
        if bare.startswith(prefix):
            return found(ours, bare.replace("_", ".", 1))
    for root in ("", "nn.functional."):
        at: Any = theirs
        for part in f"{root}{bare}".split("."):
            at = getattr(at, part, None)
        if at is f or at is not None and getattr(at, "__name__", "") == bare:
            return found(ours, root + bare)
    raise Outside(f"no {bare}")


class Names(dict):  # type: ignore[type-arg]
    """Globals of a rebuilt function; each is translated when it is asked for."""

    def __init__(self, original: dict[str, Any]) -> None:
        super().__init__()
        self.original = original

    def __missing__(self, name: str) -> Any:
        if name not in self.original:
            raise KeyError(name)
        value = self[name] = translated(self.original[name])
        return value


def rebuilt(f: Any) -> Any:
    cells = None
    if f.__closure__:
        cells = tuple(types.CellType(translated(c.cell_contents)) for c in f.__closure__)
    new = types.FunctionType(f.__code__, Names({**f.__globals__}), f.__name__, f.__defaults__, cells)
    if f.__kwdefaults__:
        new.__kwdefaults__ = {k: translated(v) for k, v in f.__kwdefaults__.items()}
    if f.__defaults__:
        new.__defaults__ = tuple(map(translated, f.__defaults__))
    MEMO[f] = new
    return new


def arrays(value: Any) -> Any:
    """A tensor's elements as a NumPy array that NumPy itself can compare: bfloat16 as float32."""
    t = value.detach()
    if str(t.dtype).endswith("bfloat16"):
        t = t.float()
    if isinstance(t, theirs.Tensor):
        return np.asarray(t.resolve_conj().resolve_neg().numpy(force=True))
    return np.asarray(t.array)


def is_nan(x: Any) -> bool:
    return isinstance(x, float) and math.isnan(x)
