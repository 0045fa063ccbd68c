"""Transformer layers and their stacks.  N batch, S source, T target length, E = d_model.

d_model              E, features of each token
nhead                heads of attention; must divide d_model
num_encoder_layers, num_decoder_layers   how many layers the two stacks have
dim_feedforward      features between the two linear maps of the feed-forward block
dropout              probability of a zero, in training: in attention weights, between those linear maps, after each block
activation           'relu', 'gelu' or a function, between the same
custom_encoder, custom_decoder   modules that take the place of the stacks
layer_norm_eps       eps of the layer norms
batch_first          True: (N, S, E); False: (S, N, E)
norm_first           True: x + f(norm(x)); False: norm(x + f(x))
bias                 False: linear maps and norms without biases
src                  (S, N, E) the source
tgt                  (T, N, E) the target
memory               (S, N, E) the encoder's output, which the decoder attends to
mask, src_mask       (S, S), or N nhead of them: True or -inf blocks attention
tgt_mask             (T, T), or N nhead of them: the same among targets
memory_mask          (T, S), or N nhead of them: the same from targets to memory
src_key_padding_mask, memory_key_padding_mask   (N, S): True or -inf marks padding
tgt_key_padding_mask   (N, T): the same
is_causal, src_is_causal, tgt_is_causal, memory_is_causal   True: that mask is causal; None: see if it is
sz                   T, the length
"""
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..._engine.warn import warn
from ..._functions import full
from .. import functional as F
from ..init import xavier_uniform_
from ..module import Module
from .activation import GELU, MultiheadAttention, ReLU
from .attention import additive
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
    """-inf above the diagonal, 0 on and below."""
    return full((sz, sz), float("-inf"), dtype=dtype, device=device).triu(diagonal=1)


def _get_clones(module: Any, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _get_activation_fn(activation: str) -> Callable[[Any], Any]:
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _detect_is_causal_mask(mask: Any, is_causal: bool | None, size: int | None) -> bool:
    """is_causal, or whether mask is the causal one."""
    if is_causal is not None:
        return is_causal is True
    if mask is None or (size is not None and tuple(mask.shape) != (size, size)):
        return False
    causal = _generate_square_subsequent_mask(mask.size(-1), dtype=mask.dtype if mask.is_floating_point() else None)
    return bool(mask.shape == causal.shape and (mask == causal).all())


def _length(src: Any, batch_first: bool) -> int | None:
    """The sequence length."""
    return int(tuple(src.shape)[0 if src.dim() == 2 or not batch_first else 1])


def _not_nested(layer: Any) -> str:
    """Why PyTorch would not use nested tensors, with which it speeds up padded batches."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = (
        (layer.norm_first, "encoder_layer.norm_first was True"),
        (not attention.batch_first,
         "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference performance)"),
        (not attention._qkv_same_embed_dim, "encoder_layer.self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, "encoder_layer.self_attn was passed bias=False"),
        (layer.activation not in (F.relu, F.gelu) and not isinstance(layer.activation, (ReLU, GELU)),
         "encoder_layer.activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"),
        (attention.num_heads % 2 == 1, "encoder_layer.self_attn.num_heads is odd"),
    )
    return next((text for holds, text in reasons if holds), "")


class _Layer(Module):
    """The feed-forward block and the two ways of normalizing: x + f(norm(x)) (norm_first) or norm(x + f(x))."""

    norm_first: bool
    activation: Callable[[Any], Any]

    def _set_activation(self, activation: Any) -> None:
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def _ff(self, x: Any, last: Any) -> Any:
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and feed-forward: (S, N, E), or (N, S, E) with batch_first.  Vaswani et al. 2017.

    https://pytorch.org/docs/stable/generated/torch.nn.TransformerEncoderLayer.html
    """

    __constants__ = ["norm_first"]

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:
        kind = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **kind)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **kind)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self._set_activation(activation)

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False,
    ) -> Any:
        src_key_padding_mask = additive(src_key_padding_mask, "src_key_padding_mask", src, src_mask, "src_mask")
        src_mask = additive(src_mask, "src_mask", src)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        x = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False,
                           is_causal=is_causal)[0]
        return self.dropout1(x)

    def _ff_block(self, x: Any) -> Any:
        return self._ff(x, self.dropout2)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output (memory), and feed-forward: (T, N, E).  Vaswani et al. 2017.

    https://pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html
    """

    __constants__ = ["norm_first"]

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:
        kind = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **kind)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **kind)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **kind)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self._set_activation(activation)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        x = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal,
                           need_weights=False)[0]
        return self.dropout1(x)

    def _mha_block(self, x: Any, mem: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        x = self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                is_causal=is_causal, need_weights=False)[0]
        return self.dropout2(x)

    def _ff_block(self, x: Any) -> Any:
        return self._ff(x, self.dropout3)


class TransformerEncoder(Module):
    """num_layers copies of encoder_layer (with equal starting values), then norm.

    enable_nested_tensor and mask_check are accepted; there are no nested tensors here.
    https://pytorch.org/docs/stable/generated/torch.nn.TransformerEncoder.html
    """

    __constants__ = ["norm"]

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Module | None = None,
                 enable_nested_tensor: bool = True, mask_check: bool = True) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = False
        why = _not_nested(encoder_layer)
        if enable_nested_tensor and why:
            warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why}")
        self.mask_check = mask_check

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None,
    ) -> Any:
        """is_causal=None: check whether mask is the causal one."""
        src_key_padding_mask = additive(src_key_padding_mask, "src_key_padding_mask", src, mask, "mask")
        mask = additive(mask, "mask", src)
        output = src
        batch_first = getattr(getattr(self.layers[0], "self_attn", None), "batch_first", False)
        causal = _detect_is_causal_mask(mask, is_causal, _length(src, batch_first))
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """num_layers copies of decoder_layer (with equal starting values), then norm.

    https://pytorch.org/docs/stable/generated/torch.nn.TransformerDecoder.html
    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:
        """tgt_is_causal=None: check whether tgt_mask is the causal one."""
        output = tgt
        batch_first = getattr(getattr(self.layers[0], "self_attn", None), "batch_first", False)
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, _length(tgt, batch_first))
        for layer in self.layers:
            output = layer(
                output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                memory_is_causal=memory_is_causal)
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """Encoder and decoder: src (S, N, E), tgt (T, N, E) -> (T, N, E).  Vaswani et al. 2017.

    https://pytorch.org/docs/stable/generated/torch.nn.Transformer.html
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:
        kind = {"device": device, "dtype": dtype}
        super().__init__()
        same: tuple[Any, ...] = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                                 norm_first, bias)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*same, **kind), num_encoder_layers,
            LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind))
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*same, **kind), num_decoder_layers,
            LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kind))
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:
        axis = 0 if self.batch_first else 1
        if src.size(axis) != tgt.size(axis) and src.dim() == 3:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """The causal mask (sz, sz): -inf above the diagonal, 0 on and below."""
        return _generate_square_subsequent_mask(sz, dtype=dtype, device=device)

    def _reset_parameters(self) -> None:
        for param in self.parameters():
            if param.dim() > 1:
                xavier_uniform_(param)
