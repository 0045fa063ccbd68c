"""Calls of layers and their functions, whose arguments test_broken_arguments breaks one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

# (name, arguments of the constructor or None for a function, arguments of the call): each a tuple and a dict
Given = tuple[tuple[Any, ...], dict[str, Any]]
Row = tuple[str, Given | None, Given]


def floats(*shape: int, positive: bool = False) -> Any:
    rng = np.random.default_rng(sum(shape))
    return np.asarray(rng.random(shape) if positive else rng.standard_normal(shape), np.float32)


def ints(*shape: int, top: int) -> Any:
    return np.asarray(np.random.default_rng(sum(shape)).integers(0, top, shape))


X, Y, P = floats(3, 4), floats(3, 5)[:, :4], floats(3, 4, positive=True)
OLD: dict[str, Any] = {"size_average": None, "reduce": None}
MEAN = {"reduction": "mean"}
SIGNS = np.asarray([1, -1, 1])

LOSSES: list[tuple[str, str, dict[str, Any], tuple[Any, ...]]] = [
    ("L1Loss", "l1_loss", {**OLD, **MEAN}, (X, Y)),
    ("MSELoss", "mse_loss", {**OLD, **MEAN}, (X, Y)),
    ("SmoothL1Loss", "smooth_l1_loss", {**MEAN, "beta": 1.0}, (X, Y)),
    ("HuberLoss", "huber_loss", {**MEAN, "delta": 1.0}, (X, Y)),
    ("BCELoss", "binary_cross_entropy", {"weight": P[0], **MEAN}, (P, P)),
    ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", {"weight": P[0], "pos_weight": P[1], **MEAN}, (X, P)),
    ("KLDivLoss", "kl_div", {**MEAN, "log_target": False}, (X, P)),
    ("PoissonNLLLoss", "poisson_nll_loss", {"log_input": True, "full": False, "eps": 1e-8, **MEAN}, (X, P)),
    ("GaussianNLLLoss", "gaussian_nll_loss", {"full": False, "eps": 1e-6, **MEAN}, (X, Y, P)),
    ("SoftMarginLoss", "soft_margin_loss", {**OLD, **MEAN}, (X, Y)),
    ("HingeEmbeddingLoss", "hinge_embedding_loss", {"margin": 1.0, **MEAN}, (X, Y)),
    ("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", {"weight": P[0], **MEAN}, (X, P)),
    ("MultiLabelMarginLoss", "multilabel_margin_loss", {**OLD, **MEAN}, (X, ints(3, 4, top=4))),
    ("MultiMarginLoss", "multi_margin_loss", {"p": 1, "margin": 1.0, "weight": P[0], **MEAN}, (X, ints(3, top=4))),
    ("MarginRankingLoss", "margin_ranking_loss", {"margin": 0.5, **MEAN}, (X[0], Y[0], X[1])),
    ("CosineEmbeddingLoss", "cosine_embedding_loss", {"margin": 0.5, **MEAN}, (X, Y, SIGNS)),
    ("TripletMarginLoss", "triplet_margin_loss", {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, **MEAN}, (X, Y, P)),
    ("TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss", {"margin": 1.0, "swap": False, **MEAN}, (X, Y, P)),
    ("CrossEntropyLoss", "cross_entropy", {"weight": P[0], "ignore_index": -100, "label_smoothing": 0.1, **MEAN},
     (X, ints(3, top=4))),
    ("CrossEntropyLoss", "cross_entropy", {"ignore_index": -100, **MEAN}, (X, P)),
    ("NLLLoss", "nll_loss", {"weight": P[0], "ignore_index": -100, **MEAN}, (X, ints(3, top=4))),
    ("CTCLoss", "ctc_loss", {"blank": 0, **MEAN, "zero_infinity": False},
     (floats(5, 2, 4), np.asarray([[1, 2], [3, 1]]), (5, 5), (2, 2))),
]

LAYER = dict(d_model=4, nhead=2, dim_feedforward=5, dropout=0.0, activation="relu", layer_norm_eps=1e-5, batch_first=False,
             norm_first=False, bias=True)
TOKENS, IMAGES, VOLUMES = floats(3, 2, 4), floats(2, 3, 6, 6), floats(2, 3, 5, 5, 5)
SHADE = np.asarray([[False, False, True], [False, True, True]])
NEIGHBOURS = {"alpha": 1e-4, "beta": 0.75, "k": 1.0}

CALLS: list[Row] = [
    ("nn.TransformerEncoderLayer", ((), LAYER), ((TOKENS,), dict(src_mask=floats(3, 3), src_key_padding_mask=SHADE,
                                                                 is_causal=False))),
    ("nn.TransformerDecoderLayer", ((), LAYER), ((TOKENS, floats(2, 2, 4)), dict(
        tgt_mask=floats(3, 3), memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=False,
        memory_is_causal=False))),
    ("nn.MultiheadAttention", ((4, 2), dict(dropout=0.0, bias=True, add_bias_kv=False, kdim=3, vdim=5)),
     ((TOKENS, floats(3, 2, 3), floats(3, 2, 5)), dict(key_padding_mask=SHADE, need_weights=True, attn_mask=floats(3, 3)))),
    ("nn.LocalResponseNorm", ((2,), NEIGHBOURS), ((IMAGES,), {})),
    ("nn.CrossMapLRN2d", ((2,), NEIGHBOURS), ((IMAGES,), {})),
    ("nn.LayerNorm", ((4,), {"eps": 1e-5}), ((TOKENS,), {})),
    ("F.embedding", None, ((ints(4, top=5), floats(5, 3)), dict(padding_idx=1, max_norm=1.0, norm_type=2.0, sparse=False))),
    ("F.cosine_similarity", None, ((X, Y), dict(dim=1, eps=1e-8))),
    ("F.normalize", None, ((X,), dict(p=2.0, dim=1, eps=1e-12))),
    ("F.grid_sample", None, ((IMAGES, floats(2, 3, 3, 2)), dict(mode="bilinear", align_corners=False))),
]
for layer, function, options, given in LOSSES:
    CALLS += [(f"nn.{layer}", ((), options), (given, {})), (f"F.{function}", None, (given, options))]
