"""Masks of attention and transformer layers: kinds that mix, kinds that are refused, what is warned about."""

import torch
import torch.nn as nn

from _log import T

torch.set_printoptions(precision=3)


def fill(module):
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            n = p.numel()
            p.copy_((torch.arange(n, dtype=torch.float32) * 0.7 + i).sin().view(p.shape) * 0.5)
    return module


x = torch.arange(24.0).view(3, 2, 4).cos()
y = torch.arange(16.0).view(2, 2, 4).sin()
later = torch.ones(3, 3, dtype=torch.bool).triu(1)
weights = torch.arange(9.0).view(3, 3) / 9
padding = torch.tensor([[False, False, True], [False, False, False]])
added = torch.zeros(2, 3).masked_fill(padding, float("-inf"))
mha = fill(nn.MultiheadAttention(4, 2))

for name, mask in [("later", later), ("weights", weights), ("ints", later.long())]:
    for pname, pad in [("none", None), ("bool", padding), ("float", added), ("ints", padding.long())]:
        T(f"attention {name} {pname}", lambda: mha(x, x, x, attn_mask=mask, key_padding_mask=pad)[0][:, 0])
T("per head", lambda: mha(x, x, x, attn_mask=later.expand(4, 3, 3), average_attn_weights=False)[1][0, :, 2])
T("per head, too few", lambda: mha(x, x, x, attn_mask=later.expand(3, 3, 3)))
T("mask of another size", lambda: mha(x, x, x, attn_mask=later[:2]))
T("padding of another size", lambda: mha(x, x, x, key_padding_mask=padding[:, :2]))
T("padding of one sample", lambda: mha(x, x, x, key_padding_mask=padding[0]))
T("causal without mask", lambda: mha(x, x, x, is_causal=True))
T("causal", lambda: mha(x, x, x, attn_mask=later, is_causal=True, need_weights=False)[0][:, 0])
T("a causal mask that is none", lambda: mha(x, x, x, attn_mask=weights, is_causal=True, need_weights=False)[0][:, 0])
T("the same with weights", lambda: mha(x, x, x, attn_mask=weights, is_causal=True)[0][:, 0])
T("no batch, per head", lambda: mha(x[:, 0], x[:, 0], x[:, 0], attn_mask=later.expand(3, 3, 3)))
T("no batch", lambda: mha(x[:, 0], x[:, 0], x[:, 0], attn_mask=later, key_padding_mask=padding[0]))

encoder_layer = fill(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0))
T("encoder layer", lambda: encoder_layer(x, src_mask=weights, src_key_padding_mask=padding)[:, 0])
T("encoder layer, ints", lambda: encoder_layer(x, src_mask=later.int()))
T("encoder", lambda: fill(nn.TransformerEncoder(encoder_layer, 2))(x, mask=weights, src_key_padding_mask=padding)[:, 0])
T("encoder, same kinds", lambda: fill(nn.TransformerEncoder(encoder_layer, 1))(x, later, padding, is_causal=False)[:, 0])

decoder_layer = fill(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0))
T("decoder layer", lambda: decoder_layer(
    y, x, tgt_mask=later[:2, :2], memory_mask=weights[:2], memory_key_padding_mask=padding)[:, 0])

for label, layer in [
    ("another class", nn.Linear(1, 1)),
    ("norm first", nn.TransformerEncoderLayer(4, 2, 8, norm_first=True, batch_first=True)),
    ("no bias", nn.TransformerEncoderLayer(4, 2, 8, bias=False, batch_first=True)),
    ("another activation", nn.TransformerEncoderLayer(4, 2, 8, activation=torch.tanh, batch_first=True)),
    ("a module as activation", nn.TransformerEncoderLayer(4, 2, 8, activation=nn.GELU(), batch_first=True)),
    ("odd heads", nn.TransformerEncoderLayer(3, 3, 8, batch_first=True)),
]:
    T(f"encoder of {label}", lambda: nn.TransformerEncoder(layer, 1).num_layers)
T("quietly", lambda: nn.TransformerEncoder(encoder_layer, 1, enable_nested_tensor=False).num_layers)
T("causal mask", lambda: nn.Transformer.generate_square_subsequent_mask(3))
