"""A note on an exception that a layer raised: which layer of the model, what it got, what it expects."""
from __future__ import annotations

import re
from typing import Any

from .._engine.tensor import TensorBase
from .._tensor.home import ours

KINDS = (RuntimeError, ValueError, IndexError, TypeError, AssertionError)
OF_AUTOGRAD = re.compile(r"^Inference tensors |^Inplace update to inference tensor|^a (view of a )?leaf (v|V)ariable ")
OF_DTYPES = re.compile(r"dtype|datatype|scalar type|Input type|Type promoting")

# What layers take, by class; {attribute} is the layer's.  Layers named ...1d, 2d, 3d need no entry: SPACE.
SPACE = {"1d": "(N, C, L) or (C, L)", "2d": "(N, C, H, W) or (C, H, W)", "3d": "(N, C, D, H, W) or (C, D, H, W)"}
TAKES = {
    "BatchNorm1d": "(N, {num_features}) or (N, {num_features}, L), in training more than one value per channel",
    "BatchNorm2d": "(N, {num_features}, H, W), in training more than one value per channel",
    "BatchNorm3d": "(N, {num_features}, D, H, W), in training more than one value per channel",
    "Bilinear": "inputs (..., {in1_features}) and (..., {in2_features}), equal but for the last dimension",
    "ChannelShuffle": "(N, C, ...), C a multiple of {groups}",
    "CircularPad1d": "(N, C, L) or (C, L), no shorter than the padding",
    "CosineEmbeddingLoss": "two inputs (N, D) and targets (N,)",
    "CosineSimilarity": "two inputs whose shapes broadcast",
    "CrossEntropyLoss": "scores (N, C, ...) and classes (N, ...) from 0 to C - 1, or probabilities (N, C, ...)",
    "Embedding": "integer indices below {num_embeddings}",
    "EmbeddingBag": "integer indices (N, L), or (L,) with offsets, below {num_embeddings}",
    "Flatten": "dimensions {start_dim} to {end_dim}",
    "Fold": "(N, C * KH * KW, windows) or (C * KH * KW, windows)",
    "GLU": "an even number of elements along dimension {dim}",
    "GaussianNLLLoss": "input, target and var of one shape; var may lack the last dimension",
    "InstanceNorm1d": "(N, {num_features}, L) or ({num_features}, L), L at least 2",
    "InstanceNorm2d": "(N, {num_features}, H, W) or ({num_features}, H, W), not of one pixel",
    "InstanceNorm3d": "(N, {num_features}, D, H, W) or ({num_features}, D, H, W), not of one pixel",
    "LocalResponseNorm": "(N, C, ...)",
    "MarginRankingLoss": "two inputs and a target of one shape",
    "MultiLabelMarginLoss": "scores and targets of one shape, (N, C) or (C,)",
    "MultiMarginLoss": "scores (N, C) and classes (N,) from 0 to C - 1",
    "MultiheadAttention":
        "query (T, N, {embed_dim}), key (S, N, {kdim}) and value (S, N, {vdim}); (N, T, ...) with batch_first; or all "
        "without N",
    "NLLLoss": "log-probabilities (N, C, ...) and classes (N, ...) from 0 to C - 1",
    "PReLU": "{num_parameters} channels in dimension 1",
    "PairwiseDistance": "two inputs whose shapes broadcast",
    "PixelShuffle": "(..., C * {upscale_factor} * {upscale_factor}, H, W)",
    "PixelUnshuffle": "(..., C, H * {downscale_factor}, W * {downscale_factor})",
    "RNNBase": "an input (T, B, {input_size}) or (T, {input_size}), B before T with batch_first, and states (layers, "
               "B, {hidden_size})",
    "RNNCellBase": "(B, {input_size}) and states (B, {hidden_size})",
    "Softmax2d": "(N, C, H, W) or (C, H, W)",
    "Transformer": "src (S, N, {d_model}) and tgt (T, N, {d_model}); N first with batch_first",
    "TripletMarginLoss": "anchor, positive and negative whose shapes broadcast",
    "Unflatten": "as many elements along dimension {dim} as {unflattened_size} has",
    "Unfold": "(N, C, H, W) or (C, H, W), no smaller than the kernel",
    "Upsample": "(N, C, L), (N, C, H, W) or (N, C, D, H, W)",
}
TAKES |= dict.fromkeys(("LogSoftmax", "Softmax", "Softmin"), "a dimension {dim}")
TAKES |= dict.fromkeys((
    "BCELoss", "BCEWithLogitsLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss",
    "MultiLabelSoftMarginLoss", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss"), "input and target of one shape")
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


def explain(error: Any, module: Any, args: tuple[Any, ...]) -> None:
    """Called by each module that `error` passes on its way out, innermost first.

    A layer may say what is wrong with its input in `_misfit(*args)` -> text, or None; TAKES says it in general.
    """
    if not isinstance(error, KINDS):
        return
    told: Any = error
    known = error.__dict__.get("_retrograd")
    if known is None:
        text = misfit(error, module, args)
        told._retrograd = [module, "", text]
        if text:
            error.add_note(note(module, "", text))
        return
    child, path, text = known
    if not text or child is module:
        return
    layer = path
    for name, found in module.named_modules():  # not only children: a ModuleList is not called
        if found is child:
            layer = f"{name}.{path}" if path else name
            break
    last = error.__notes__[-1]
    error.__notes__[-1] = last.replace(where(path), where(layer), 1)
    told._retrograd = [module, layer, text]


def misfit(error: Any, module: Any, args: tuple[Any, ...]) -> str | None:
    """What the layer got and what it expects; None for modules and for exceptions of the user's."""
    if not ours(type(module).__module__) or OF_AUTOGRAD.search(str(error)):
        return None
    try:
        if raised_here(error) and OF_DTYPES.search(str(error)):
            return general(module, args, of_dtypes=True)
        if hasattr(module, "_misfit"):
            found: str | None = module._misfit(*args)
            if found:
                return found
        if not raised_here(error):
            return None
        return general(module, args)
    except Exception:
        return None


def general(module: Any, args: tuple[Any, ...], of_dtypes: bool = False) -> str | None:
    """What was given: shapes, and dtypes too where the error is about those."""
    flat = [b for a in args for b in (a if isinstance(a, (tuple, list)) and of_dtypes else (a,))]
    inputs: list[Any] = [a for a in flat if isinstance(a, TensorBase)]
    names = [cls.__name__ for cls in type(module).__mro__]
    if not inputs or names[0] in CONTAINERS:
        return None
    text = f"got {listed('an input of shape', 'inputs of shapes', [str(tuple(a.shape)) for a in inputs])}"
    if of_dtypes:
        text += f" and {listed('dtype', 'dtypes', [str(a.dtype) for a in inputs])}"
        own = list(dict.fromkeys(p.dtype for p in module.parameters()))
        if own and "Embedding" not in names[0] and any([a.dtype] != own for a in inputs):
            return f"{text}, expected {' or '.join(map(str, own))}, the dtype of its parameters"
    takes = next((TAKES[name] for name in names if name in TAKES), None) or SPACE.get(names[0][-2:])
    return text if takes is None else f"{text}, expected {takes.format(**vars(module))}"


def listed(one: str, many: str, items: list[str]) -> str:
    return f"{one} {items[0]}" if len(items) == 1 else f"{many} {', '.join(items[:-1])} and {items[-1]}"


def raised_here(error: Any) -> bool:
    """Did retrograd's own code raise it, rather than, say, a hook?  TypeErrors are about arguments, not shapes."""
    if isinstance(error, TypeError):
        return False
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and ours(str(last.tb_frame.f_globals.get("__package__")))


def note(module: Any, path: str, text: str) -> str:
    return f"{where(path)}{type(module).__name__}({module.extra_repr()}): {text}"


def where(path: str) -> str:
    return f"In layer {path}, " if path else "In layer "
