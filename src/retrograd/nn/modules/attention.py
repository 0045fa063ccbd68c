"""MultiheadAttention.  N batch, T queries, S keys, E features, H heads, D = E / H."""
from __future__ import annotations

import math
from types import NoneType, SimpleNamespace
from typing import Any

from ..._engine import names
from ..._engine.warn import warn
from ..._functions import cat, empty, is_floating_point, zeros
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear

__all__ = ["MultiheadAttention"]


def additive(mask: Any, name: str, like: Any, other: Any = None, other_name: str = "") -> Any:
    """A mask to add to scores: bool True becomes -inf; None stays None.  A warning when `other` has another dtype."""
    if not isinstance(other, (Tensor, NoneType)):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    if mask is None:
        return None
    if not is_floating_point(mask) and str(mask.dtype) != "torch.bool":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other.dtype != mask.dtype:
        warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.")
    if mask.is_floating_point():
        return mask
    return zeros(mask.shape, dtype=like.dtype).masked_fill_(mask, float("-inf"))


class MultiheadAttention(Module):
    """softmax(Q K^T / sqrt(D)) V in each of num_heads heads, between linear maps.  Vaswani et al. 2017.

    embed_dim E, which num_heads must divide; kdim, vdim: features of keys and values, None: E
    query (T, N, E), key (S, N, kdim), value (S, N, vdim); batch_first: (N, T, E) ...; or all without N
    attn_mask (T, S) or (N H, T, S), key_padding_mask (N, S): True or -inf blocks attention
    is_causal: attn_mask, given as well, is the causal one
    dropout: probability that a weight becomes zero, in training; add_bias_kv: one more key and value, learned;
    add_zero_attn: one more of zeros
    -> (T, N, E), and with need_weights the weights (N, T, S), or (N, H, T, S) unless average_attn_weights
    https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """

    __constants__ = ["batch_first"]
    in_proj_weight: Any
    in_proj_bias: Any
    bias_k: Any
    bias_v: Any

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead")
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def make(*shape: int) -> Parameter:
            return Parameter(empty(shape, device=device, dtype=dtype))

        if self._qkv_same_embed_dim:
            self.in_proj_weight = make(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = make(embed_dim, embed_dim)
            self.k_proj_weight = make(embed_dim, self.kdim)
            self.v_proj_weight = make(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", make(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        if add_bias_kv:
            self.bias_k = make(1, 1, embed_dim)
            self.bias_v = make(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            init.xavier_uniform_(self.q_proj_weight)
            init.xavier_uniform_(self.k_proj_weight)
            init.xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: Any) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """is_causal declares that attn_mask, which must be given as well, is the causal mask; its values may then be ignored."""
        for given in (attn_mask, key_padding_mask):
            if given is not None:
                is_floating_point(given)                # TypeError of what is no tensor
        padding = additive(key_padding_mask, "key_padding_mask", query, attn_mask, "attn_mask")
        mask = additive(attn_mask, "attn_mask", query)
        if self.batch_first and query.dim() == 3:
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        batched = self._check_dims(query, key, value, key_padding_mask, attn_mask)
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask.")
        if padding is not None:
            is_causal = False
        elif is_causal and not need_weights:
            mask = None
        if not batched:
            query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
            padding = None if padding is None else padding.unsqueeze(0)
        output, weights = self._attend(query, key, value, padding, mask, need_weights, is_causal)
        if weights is not None and average_attn_weights:
            weights = weights.mean(dim=1)
        if not batched:
            return output.squeeze(1), None if weights is None else weights.squeeze(0)
        return (output.transpose(1, 0) if self.batch_first else output), weights

    def _attend(
        self, query: Any, key: Any, value: Any, padding: Any, mask: Any, need_weights: bool, is_causal: bool,
    ) -> tuple[Any, Any]:
        tgt, batch, width = query.shape
        heads, each = self.num_heads, self.head_dim
        if width != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {width}")
        if self._qkv_same_embed_dim and key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if not self._qkv_same_embed_dim and key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        q, k, v = self._project(query, key, value)
        mask = self._shaped(mask, batch, tgt, key.shape[0])
        if self.bias_k is not None:
            k = cat([k, self.bias_k.repeat(1, batch, 1)])
            v = cat([v, self.bias_v.repeat(1, batch, 1)])
            mask, padding = self._one_more(mask, padding)
        q, k, v = (t.reshape(t.shape[0], batch * heads, each).transpose(0, 1) for t in (q, k, v))
        if self.add_zero_attn:
            nothing = zeros(batch * heads, 1, each, dtype=k.dtype)
            k = cat([k, nothing], 1)
            v = cat([v, nothing], 1)
            mask, padding = self._one_more(mask, padding)
        src = k.shape[1]
        if padding is not None:
            for i, want in enumerate((batch, src)):
                if padding.shape[i] != want:
                    raise AssertionError(
                        f"Expected key_padded_mask.shape[{i}] to be {want}, but got {padding.shape[i]}")
            padding = padding.view(batch, 1, 1, src).expand(-1, heads, -1, -1).reshape(batch * heads, 1, src)
            mask = padding if mask is None else mask + padding
        drop = self.dropout if self.training else 0.0
        if need_weights:
            scores = q * math.sqrt(1.0 / each) @ k.transpose(-2, -1)
            if mask is not None:
                kinds = [names.C[x.array.dtype.name] for x in (mask, q, k)]
                if len(set(kinds)) > 1:
                    raise RuntimeError(
                        f"Input dtypes must be the same, got: input {kinds[0]}, batch1: {kinds[1]}, batch2: {kinds[2]}")
                scores = mask + scores
            weights = F.softmax(scores, -1)
            if drop > 0:
                weights = F.dropout(weights, drop)      # those that are returned have holes, too
            output = weights @ v
            output = output.transpose(0, 1).reshape(tgt * batch, width)
            weights = weights.view(batch, heads, tgt, src)
        else:
            if mask is not None:
                if mask.size(0) == 1 and mask.dim() == 3:
                    mask = mask.unsqueeze(0)
                else:
                    mask = mask.view(batch, heads, -1, src)
            q, k, v = (t.view(batch, heads, t.shape[1], each) for t in (q, k, v))
            output = F.scaled_dot_product_attention(q, k, v, mask, drop, is_causal)
            output = output.permute(2, 0, 1, 3).reshape(batch * tgt, width)
            weights = None
        output = F.linear(output, self.out_proj.weight, self.out_proj.bias)     # its hooks do not fire in PyTorch either
        return output.view(tgt, batch, width), weights

    def _project(self, query: Any, key: Any, value: Any) -> Any:
        """query, key and value through their linear maps; one product if all three are the same tensor."""
        bias = self.in_proj_bias
        if self._qkv_same_embed_dim:
            if query is key and key is value:
                return F.linear(query, self.in_proj_weight, bias).chunk(3, -1)
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            width = query.shape[-1]
            for name, x, w in zip(("query", "key", "value"), (query, key, value), weights):
                if w.shape != (width, x.shape[-1]):
                    raise AssertionError(f"expecting {name} weights shape of {(width, x.shape[-1])}, but got {w.shape}")
        biases = (None, None, None) if bias is None else bias.chunk(3)
        return [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]

    def _shaped(self, mask: Any, batch: int, tgt: int, src: int) -> Any:
        """attn_mask as (1 or N H, T, S)."""
        if mask is None:
            return None
        if mask.dim() == 2:
            if tuple(mask.shape) != (tgt, src):
                raise RuntimeError(
                    f"The shape of the 2D attn_mask is {mask.shape}, but should be {(tgt, src)}.")
            return mask.unsqueeze(0)
        if mask.dim() == 3:
            want = (batch * self.num_heads, tgt, src)
            if tuple(mask.shape) != want:
                raise RuntimeError(f"The shape of the 3D attn_mask is {mask.shape}, but should be {want}.")
            return mask
        raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")

    def _one_more(self, mask: Any, padding: Any) -> tuple[Any, Any]:
        """Masks for one more key, which every query may attend to."""
        return (None if mask is None else F.pad(mask, (0, 1)), None if padding is None else F.pad(padding, (0, 1)))

    def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Any) -> tuple[Any, int | None]:
        """attn_mask (T, T) or (N H, T, T) plus key_padding_mask (N, T), and which there were: None, 1 for padding alone, or 2.

        -> (N, H, T, T), or the padding; query (N, T, E)
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, steps, _ = query.shape
        if attn_mask.dim() == 3:
            mask = attn_mask.view(batch, -1, steps, steps)
        else:
            mask = attn_mask.view(1, 1, steps, steps).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            mask = mask + key_padding_mask.view(batch, 1, 1, steps).expand(-1, self.num_heads, -1, -1)
        return mask, 2

    def _check_dims(self, query: Any, key: Any, value: Any, padding: Any, mask: Any) -> bool:
        """Is there a batch dimension?  AssertionError if the arguments disagree."""
        dims = query.dim()
        if dims not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
        kind = "batched (3-D)" if dims == 3 else "unbatched (2-D)"
        if key.dim() != dims or value.dim() != dims:
            raise AssertionError(
                f"For {kind} `query`, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and "
                f"{value.dim()}-D tensors respectively")
        if padding is not None and padding.dim() != dims - 1:
            raise AssertionError(
                f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
                f"{padding.dim()}-D tensor instead")
        if mask is not None and mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor "
                "instead")
        if mask is not None and dims == 2 and mask.dim() == 3:
            want = (self.num_heads, query.shape[0], key.shape[0])
            if tuple(mask.shape) != want:
                raise AssertionError(f"Expected `attn_mask` shape to be {want} but got {mask.shape}")
        return bool(dims == 3)

    def _misfit(self, query: Any, key: Any, value: Any, *rest: Any) -> str | None:
        want = (self.embed_dim, self.kdim, self.vdim)
        if (query.shape[-1], key.shape[-1], value.shape[-1]) == want:
            return None
        shapes = ", ".join(str(tuple(t.shape)) for t in (query, key, value))
        return f"got query, key and value of shapes {shapes}, expected {want[0]}, {want[1]} and {want[2]} features"


def attend(query: Any, key: Any, value: Any, padding: Any, need_weights: bool, mask: Any, average: bool, is_causal: bool,
           training: bool, *, weights: Any, out_weight: Any, out_bias: Any, **given: Any) -> tuple[Any, Any]:
    """F.multi_head_attention_forward: a layer whose weights are plain tensors."""
    layer = MultiheadAttention.__new__(MultiheadAttention)
    Module.__init__(layer)
    heads, width = given["num_heads"], given["embed_dim"]
    width = width if isinstance(width, int) else int(width)
    if width // heads * heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    q, k, v = (None, None, None) if weights is None else weights
    vars(layer).update(
        given, head_dim=width // heads, batch_first=False, kdim=width if k is None else k.shape[-1],
        vdim=width if v is None else v.shape[-1], _qkv_same_embed_dim=weights is None, q_proj_weight=q, k_proj_weight=k,
        v_proj_weight=v, training=training, out_proj=SimpleNamespace(weight=out_weight, bias=out_bias))
    return layer.forward(query, key, value, padding, need_weights, mask, average, is_causal)


MultiheadAttention.__module__ = f"{__package__}.activation"
