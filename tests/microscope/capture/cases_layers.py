"""Models made of one kind of layer each: see case_table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case_table import Case, case, mlp, module

# Linear

@case
def linear_2d(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.Tanh()), (torch.randn(6, 4),), factors=("0.weight", "2.weight"))


@case
def linear_3d(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.Tanh()), (torch.randn(6, 3, 4),), factors=("0.weight", "2.weight"))


@case
def linear_4d(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.Tanh()), (torch.randn(6, 2, 3, 4),), factors=("0.weight", "2.weight"))


@case
def linear_without_bias_many_tokens(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Linear(4, 3, bias=False), nn.Tanh(), nn.Linear(3, 2, bias=False)),
                (torch.randn(3, 40, 4),))


@case
def tokens_first(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.Tanh()), (torch.randn(3, 6, 4),), batch_dim=1)


@case
def as_many_tokens_as_samples(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.Tanh()), (torch.randn(4, 4, 4),))


@case
def double_precision(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.Tanh()).double(), (torch.randn(6, 4, dtype=torch.float64),))


@case
def bilinear(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"b": nn.Bilinear(4, 3, 2), "fc": nn.Linear(2, 2)}, lambda s, x, y: s.fc(s.b(x, y))),
                (torch.randn(5, 4), torch.randn(5, 3)))


# Embeddings

@case
def embedding(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 3)), (torch.randint(0, 7, (5, 6)),),
                factors=("0.weight",))


@case
def embedding_with_padding(torch: Any) -> Case:
    nn = torch.nn
    ids = torch.randint(0, 7, (5, 6))
    ids[:, 3:] = 2
    return Case(nn.Sequential(nn.Embedding(7, 4, padding_idx=2), nn.Linear(4, 3), nn.Tanh()), (ids,))


@case
def embedding_of_one_number_per_sample(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 3), nn.Tanh()), (torch.tensor([1, 1, 6, 0, 3]),))


@case
def embedding_scaled_by_frequency_is_refused(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Embedding(7, 4, scale_grad_by_freq=True), nn.Linear(4, 3)),
                (torch.randint(0, 7, (5, 6)),), missing=("0.weight",))


def positions(torch: Any, ids: Any, where: Callable[[Any, int], Any]) -> Case:
    nn = torch.nn
    parts = {"tok": nn.Embedding(7, 4), "pos": nn.Embedding(8, 4), "fc": nn.Linear(4, 2)}
    return Case(module(torch, parts, lambda s, i: s.fc((s.tok(i) + s.pos(where(i, i.shape[1]))).tanh())), (ids,))


@case
def position_embedding_looked_up_once(torch: Any) -> Case:
    return positions(torch, torch.randint(0, 7, (5, 6)), lambda i, n: torch.arange(n))


@case
def position_embedding_as_many_positions_as_samples(torch: Any) -> Case:
    return positions(torch, torch.randint(0, 7, (5, 5)), lambda i, n: torch.arange(n))


@case
def position_embedding_looked_up_for_each_sample(torch: Any) -> Case:
    return positions(torch, torch.randint(0, 7, (5, 6)), lambda i, n: torch.arange(n).expand(i.shape[0], n).contiguous())


@case
def position_parameter_sliced(torch: Any) -> Case:
    nn = torch.nn
    parts = {"tok": nn.Embedding(7, 4), "pos": nn.Parameter(torch.randn(1, 8, 4)), "fc": nn.Linear(4, 2)}
    return Case(module(torch, parts, lambda s, i: s.fc((s.tok(i) + s.pos[:, :i.shape[1]]).tanh())),
                (torch.randint(0, 7, (5, 6)),))


@case
def embedding_bag(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.EmbeddingBag(7, 4), nn.Linear(4, 3), nn.Tanh()), (torch.randint(0, 7, (5, 6)),))


# Convolutions

@case
def conv1d(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv1d(3, 4, 3, stride=2, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(16, 2)),
                (torch.randn(5, 3, 8),), factors=("0.weight",))


@case
def conv2d(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv2d(3, 4, (3, 2), padding=(1, 0)), nn.ReLU(inplace=True), nn.Conv2d(4, 2, 3, bias=False)),
                (torch.randn(4, 3, 6, 5),))


@case
def conv2d_groups_stride_dilation(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv2d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), nn.Tanh()),
                (torch.randn(4, 4, 7, 7),), factors=("0.weight",))


@case
def conv2d_depthwise(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv2d(4, 8, 3, groups=4), nn.Tanh(), nn.Conv2d(8, 2, 1)), (torch.randn(4, 4, 5, 5),))


@case
def conv2d_same_padding(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv2d(2, 3, (3, 5), padding="same"), nn.Tanh()), (torch.randn(4, 2, 5, 5),))


@case
def conv2d_reflected(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), nn.Tanh()), (torch.randn(4, 2, 5, 5),))


@case
def conv3d(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv3d(2, 3, 2, stride=(1, 2, 1)), nn.Tanh()), (torch.randn(3, 2, 3, 4, 3),))


@case
def conv_transpose2d(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.ConvTranspose2d(3, 2, 2, stride=2), nn.Tanh()), (torch.randn(4, 3, 3, 3),))


# Norms and activations

@case
def layer_norm(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.LayerNorm(5), torch.nn.Tanh()), (torch.randn(6, 3, 4),))


@case
def layer_norm_over_two_dims(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Linear(4, 5), nn.LayerNorm((3, 5)), nn.Linear(5, 2)), (torch.randn(6, 3, 4),))


@case
def group_norm(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.Tanh()), (torch.randn(4, 3, 5, 5),))


@case
def rms_norm(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.RMSNorm(5), torch.nn.Tanh()), (torch.randn(6, 3, 4),))


@case
def instance_norm(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Sequential(nn.Conv1d(3, 4, 3), nn.InstanceNorm1d(4, affine=True), nn.Tanh()), (torch.randn(4, 3, 9),))


@case
def batch_norm_in_eval(torch: Any) -> Case:
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Tanh(), nn.Flatten(), nn.Linear(36, 4), nn.BatchNorm1d(4))
    with torch.no_grad():
        model(torch.randn(8, 3, 5, 5))
    return Case(model.eval(), (torch.randn(4, 3, 5, 5),))


@case
def batch_norm_in_training_mixes_samples(torch: Any) -> Case:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Tanh())
    return Case(model, (torch.randn(6, 4),), whole=("0.weight", "0.bias", "1.weight", "1.bias"))


@case
def prelu(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.PReLU(5)), (torch.randn(6, 4),))


# Attention, Transformer layers, recurrent layers

@case
def attention(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"m": nn.MultiheadAttention(4, 2, batch_first=True), "fc": nn.Linear(4, 2)},
                       lambda s, x: s.fc(s.m(x, x, x)[0]).tanh()), (torch.randn(5, 3, 4),),
                factors=("m.in_proj_weight", "m.out_proj.weight"))


@case
def attention_with_as_many_tokens_as_samples(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"m": nn.MultiheadAttention(4, 2, batch_first=True)},
                       lambda s, x: s.m(x, x, x, need_weights=False)[0].tanh()), (torch.randn(4, 4, 4),))


@case
def attention_across(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"m": nn.MultiheadAttention(4, 2, batch_first=True), "fc": nn.Linear(4, 4)},
                       lambda s, x, y: s.m(s.fc(x), y, y)[0].tanh()), (torch.randn(5, 3, 4), torch.randn(5, 6, 4)))


@case
def attention_of_three_widths_and_extra_keys(torch: Any) -> Case:
    nn = torch.nn
    m = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    return Case(module(torch, {"m": m}, lambda s, q, k, v: s.m(q, k, v)[0].tanh()),
                (torch.randn(4, 3, 4), torch.randn(4, 2, 3), torch.randn(4, 2, 5)))


@case
def attention_tokens_first(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"m": nn.MultiheadAttention(4, 2)}, lambda s, x: s.m(x, x, x)[0].tanh()),
                (torch.randn(3, 5, 4),), batch_dim=1)


@case
def encoder_layer(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, batch_first=True), (torch.randn(5, 3, 4),))


@case
def encoder_layer_in_eval_norm_first(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, norm_first=True).eval(), (torch.randn(5, 3, 4),))


@case
def decoder_layer(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0, batch_first=True),
                (torch.randn(4, 3, 4), torch.randn(4, 5, 4)))


@case
def whole_transformer(torch: Any) -> Case:
    nn = torch.nn
    return Case(nn.Transformer(4, 2, 1, 1, 6, dropout=0.0, batch_first=True), (torch.randn(3, 3, 4), torch.randn(3, 2, 4)))


def recurrent(torch: Any, layer: Any, **how: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"rnn": layer, "fc": nn.Linear(layer.hidden_size * (2 if layer.bidirectional else 1), 2)},
                       lambda s, x: s.fc(s.rnn(x)[0])), (torch.randn(5, 4, 3) if not how else torch.randn(4, 5, 3),), **how)


@case
def rnn(torch: Any) -> Case:
    return recurrent(torch, torch.nn.RNN(3, 4, batch_first=True))


@case
def lstm(torch: Any) -> Case:
    return recurrent(torch, torch.nn.LSTM(3, 4, batch_first=True))


@case
def lstm_two_layers_both_ways(torch: Any) -> Case:
    return recurrent(torch, torch.nn.LSTM(3, 2, num_layers=2, bidirectional=True, batch_first=True))


@case
def gru(torch: Any) -> Case:
    return recurrent(torch, torch.nn.GRU(3, 4, batch_first=True))


@case
def gru_tokens_first(torch: Any) -> Case:
    return recurrent(torch, torch.nn.GRU(3, 4), batch_dim=1)


@case
def lstm_last_state(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"rnn": nn.LSTM(3, 4, batch_first=True)}, lambda s, x: torch.cat(
        [s.rnn(x)[1][0][0], s.rnn(x)[1][1][0]], 1)), (torch.randn(5, 4, 3),))


@case
def lstm_cell_over_time(torch: Any) -> Case:
    def forward(s: Any, x: Any) -> Any:
        h = c = torch.zeros(x.shape[0], 4)
        for t in range(x.shape[1]):
            h, c = s.cell(x[:, t], (h, c))
        return h
    return Case(module(torch, {"cell": torch.nn.LSTMCell(3, 4)}, forward), (torch.randn(5, 3, 3),))
