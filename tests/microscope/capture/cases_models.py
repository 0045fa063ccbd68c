"""Models by what they do with layers, parameters and batches: see case_table."""

from __future__ import annotations

from typing import Any

from case_table import Case, case, mlp, module

# In-place and calling conventions

@case
def relu_in_place(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.ReLU(inplace=True)), (torch.randn(6, 4),))


@case
def relu_in_place_3d(torch: Any) -> Case:
    return Case(mlp(torch, torch.nn.ReLU(inplace=True)), (torch.randn(6, 3, 4),))


@case
def in_place_edits_of_outputs(torch: Any) -> Case:
    def forward(s: Any, x: Any) -> Any:
        y = s.one(x)
        y *= 2
        y += 1
        z = s.two(y.tanh())
        z.mul_(0.5)
        return z
    nn = torch.nn
    return Case(module(torch, {"one": nn.Linear(4, 5), "two": nn.Linear(5, 3)}, forward), (torch.randn(6, 4),))


@case
def keyword_inputs(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"one": nn.Linear(4, 5), "two": nn.Linear(5, 3)},
                       lambda s, x: s.two(input=s.one(input=x).tanh())), (torch.randn(6, 4),))


@case
def subclass_of_linear(torch: Any) -> Case:
    class Scaled(torch.nn.Linear):
        def forward(self, input: Any) -> Any:
            return super().forward(input) * 3

    class Own(torch.nn.Linear):
        def forward(self, input: Any) -> Any:
            return input @ self.weight.t() + self.bias
    return Case(torch.nn.Sequential(Scaled(4, 5), torch.nn.Tanh(), Own(5, 3)), (torch.randn(6, 4),),
                factors=("0.weight",))


@case
def functional_use_of_a_layers_weight(torch: Any) -> Case:
    nn, F = torch.nn, torch.nn.functional
    return Case(module(torch, {"one": nn.Linear(4, 5), "two": nn.Linear(5, 3)},
                       lambda s, x: F.linear(F.linear(x, s.one.weight, s.one.bias).tanh(), s.two.weight)),
                (torch.randn(6, 4),), factors=("one.weight", "two.weight"))


@case
def forward_called_directly(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"one": nn.Linear(4, 5), "two": nn.Linear(5, 3)},
                       lambda s, x: s.two.forward(s.one.forward(x).tanh())), (torch.randn(6, 4),))


@case
def weight_in_a_list(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"ws": nn.ParameterList([nn.Parameter(torch.randn(4, 5)), nn.Parameter(torch.randn(5, 2))])},
                       lambda s, x: (x @ s.ws[0]).tanh() @ s.ws[1]), (torch.randn(6, 4),), factors=("ws.0", "ws.1"))


# Used more than once

@case
def layer_called_twice(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"fc": nn.Linear(4, 4), "out": nn.Linear(4, 2)},
                       lambda s, x: s.out(s.fc(s.fc(x).tanh()).tanh())), (torch.randn(6, 4),), factors=("fc.weight",))


@case
def layer_called_three_times_on_tokens(torch: Any) -> Case:
    def forward(s: Any, x: Any) -> Any:
        for _ in range(3):
            x = x + s.fc(s.norm(x)).tanh()
        return x
    nn = torch.nn
    return Case(module(torch, {"fc": nn.Linear(4, 4), "norm": nn.LayerNorm(4)}, forward), (torch.randn(6, 3, 4),))


@case
def tied_embedding_and_head(torch: Any) -> Case:
    nn = torch.nn
    emb, head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
    head.weight = emb.weight
    return Case(module(torch, {"emb": emb, "fc": nn.Linear(4, 4), "head": head},
                       lambda s, i: s.head(s.fc(s.emb(i)).tanh())), (torch.randint(0, 7, (5, 3)),),
                factors=("emb.weight",))


@case
def tied_through_functional(torch: Any) -> Case:
    nn, F = torch.nn, torch.nn.functional
    return Case(module(torch, {"emb": nn.Embedding(7, 4)}, lambda s, i: F.linear(s.emb(i).tanh(), s.emb.weight)),
                (torch.randint(0, 7, (5, 3)),))


@case
def autoencoder_with_transposed_weight(torch: Any) -> Case:
    nn, F = torch.nn, torch.nn.functional
    return Case(module(torch, {"fc": nn.Linear(4, 3)}, lambda s, x: F.linear(s.fc(x).tanh(), s.fc.weight.t())),
                (torch.randn(6, 4),))


# Bare parameters

@case
def bare_scale_and_shift(torch: Any) -> Case:
    nn = torch.nn
    parts = {"fc": nn.Linear(4, 5), "scale": nn.Parameter(torch.randn(5)), "shift": nn.Parameter(torch.randn(1, 5)),
             "gain": nn.Parameter(torch.tensor(1.5)), "off": nn.Parameter(torch.randn(3, 1))}
    return Case(module(torch, parts, lambda s, x: (s.gain * (s.fc(x) * s.scale + s.shift) - s.off).tanh()),
                (torch.randn(6, 3, 4),))


@case
def bare_parameter_divides_and_is_raised(torch: Any) -> Case:
    nn = torch.nn
    parts = {"fc": nn.Linear(4, 5), "d": nn.Parameter(torch.rand(5) + 1), "p": nn.Parameter(torch.rand(5) + 1)}
    return Case(module(torch, parts, lambda s, x: (s.fc(x).tanh() + 2) ** s.p / s.d), (torch.randn(6, 4),))


@case
def class_token(torch: Any) -> Case:
    nn = torch.nn
    parts = {"token": nn.Parameter(torch.randn(1, 1, 4)), "fc": nn.Linear(4, 3)}
    return Case(module(torch, parts, lambda s, x: s.fc(torch.cat([s.token.expand(x.shape[0], -1, -1), x], 1)).tanh()),
                (torch.randn(5, 3, 4),))


@case
def weight_made_of_low_rank_factors(torch: Any) -> Case:
    nn, F = torch.nn, torch.nn.functional
    fc = nn.Linear(4, 5)
    fc.weight.requires_grad_(False)
    parts = {"fc": fc, "A": nn.Parameter(torch.randn(2, 4)), "B": nn.Parameter(torch.randn(5, 2))}
    return Case(module(torch, parts, lambda s, x: F.linear(x, s.fc.weight + s.B @ s.A, s.fc.bias).tanh()),
                (torch.randn(6, 4),))


@case
def weight_normalised_by_hand(torch: Any) -> Case:
    nn, F = torch.nn, torch.nn.functional
    parts = {"g": nn.Parameter(torch.rand(5, 1)), "v": nn.Parameter(torch.randn(5, 4))}
    return Case(module(torch, parts, lambda s, x: F.linear(x, s.g * s.v / s.v.pow(2).sum(1, keepdim=True).sqrt()).tanh()),
                (torch.randn(6, 4),))


@case
def weight_masked_as_many_rows_as_samples(torch: Any) -> Case:
    nn, F = torch.nn, torch.nn.functional
    mask = torch.tensor([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    return Case(module(torch, {"w": nn.Parameter(torch.randn(4, 4))}, lambda s, x: F.linear(x, s.w * mask).tanh()),
                (torch.randn(4, 4),))


@case
def einsum_with_a_parameter(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"w": nn.Parameter(torch.randn(4, 2, 3))},
                       lambda s, x: torch.einsum("nti,ihd->nthd", x, s.w).tanh()), (torch.randn(5, 3, 4),))


@case
def weight_penalty_has_no_samples(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"fc": nn.Linear(4, 2), "out": nn.Linear(2, 2)},
                       lambda s, x: (s.out(s.fc(x).tanh()), s.fc.weight.pow(2).sum())),
                (torch.randn(5, 4),), whole=("fc.weight",), loss=lambda out: out[0].pow(2).sum() + 0.1 * out[1])


# Batches elsewhere than along a dimension of their own, and models as people write them

@case
def tokens_flattened_into_the_batch(torch: Any) -> Case:
    nn = torch.nn
    parts = {"one": nn.Linear(3, 4), "norm": nn.LayerNorm(4), "scale": nn.Parameter(torch.randn(4)), "two": nn.Linear(4, 2)}
    return Case(module(torch, parts, lambda s, x: s.two(s.norm(s.one(x.reshape(-1, 3))).relu() * s.scale).reshape(
        x.shape[0], -1, 2)), (torch.randn(5, 6, 3),), factors=("one.weight", "two.weight"))


@case
def tokens_turned_around_inside(torch: Any) -> Case:
    nn = torch.nn
    parts = {"one": nn.Linear(3, 4), "enc": nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), "two": nn.Linear(4, 2)}
    return Case(module(torch, parts, lambda s, x: s.two(s.enc(s.one(x.transpose(0, 1)))).reshape(-1, 2).reshape(
        x.shape[1], x.shape[0], 2).transpose(0, 1)), (torch.randn(4, 3, 3),))


@case
def frames_of_films_in_the_batch(torch: Any) -> Case:
    nn = torch.nn
    parts = {"conv": nn.Conv2d(2, 3, 3), "norm": nn.GroupNorm(3, 3), "wide": nn.Conv2d(3, 6, 2, groups=3), "fc": nn.Linear(24, 2)}
    return Case(module(torch, parts, lambda s, x: s.fc(s.wide(s.norm(s.conv(x.flatten(0, 1))).tanh()).flatten(1).reshape(
        x.shape[0], x.shape[1], -1).mean(1))), (torch.randn(3, 2, 2, 5, 5),))


@case
def two_batches_put_together(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, a: Any, b: Any) -> Any:
        one, two = s.act(s.enc(torch.cat([a, b]))).chunk(2)
        return (one * two).sum(1, keepdim=True)
    return Case(module(torch, {"enc": nn.Linear(4, 3), "act": nn.PReLU()}, forward), (torch.randn(5, 4), torch.randn(5, 4)))


@case
def experts_stacked_in_front_of_the_batch(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:
        outs = torch.stack([e(x) for e in s.experts])
        return (s.mix.softmax(0).reshape(-1, 1, 1) * outs).sum(0)
    parts = {"experts": nn.ModuleList([nn.Linear(4, 3) for _ in range(3)]), "mix": nn.Parameter(torch.randn(3))}
    return Case(module(torch, parts, forward), (torch.randn(3, 4),))        # as many experts as samples


@case
def learned_queries_in_attention(torch: Any) -> Case:
    nn = torch.nn
    parts = {"q": nn.Parameter(torch.randn(3, 4)), "att": nn.MultiheadAttention(4, 2, batch_first=True), "fc": nn.Linear(4, 2)}
    return Case(module(torch, parts, lambda s, x: s.fc(s.att(s.q.unsqueeze(0).expand(x.shape[0], -1, -1), x, x)[0])),
                (torch.randn(5, 3, 4),))


@case
def learned_queries_projected_before_they_meet_the_batch(torch: Any) -> Case:
    nn = torch.nn
    parts = {"q": nn.Embedding(3, 4), "ln": nn.LayerNorm(4), "w": nn.Linear(4, 4), "fc": nn.Linear(4, 2)}

    def forward(s: Any, x: Any) -> Any:
        q = s.w(s.ln(s.q.weight)).tanh().unsqueeze(0).repeat(x.shape[0], 1, 1)
        return s.fc((q @ x.transpose(1, 2)).softmax(-1) @ x + q)
    return Case(module(torch, parts, forward), (torch.randn(5, 3, 4),))


@case
def parameter_written_into_places(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any, mask: Any) -> Any:
        y = s.one(x)
        y[mask] = s.token
        y[:, 0] = s.first
        return s.two(y.tanh())
    parts = {"one": nn.Linear(4, 4), "token": nn.Parameter(torch.randn(4)), "first": nn.Parameter(torch.randn(4)),
             "two": nn.Linear(4, 2)}
    return Case(module(torch, parts, forward), (torch.randn(5, 3, 4), torch.rand(5, 3) > 0.5))


@case
def views_edited_in_place(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:
        y = s.one(x)
        y[:, 0] *= 2
        y[:, 1:].mul_(s.scale)
        y[:, :2].add_(s.shift)
        y += s.two(x)
        return y.tanh_()
    parts = {"one": nn.Linear(3, 4), "two": nn.Linear(3, 4), "scale": nn.Parameter(torch.randn(3)),
             "shift": nn.Parameter(torch.randn(2))}
    return Case(module(torch, parts, forward), (torch.randn(5, 3),))


@case
def masked_tokens_replaced(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"token": nn.Parameter(torch.randn(4)), "fc": nn.Linear(4, 3)},
                       lambda s, x, m: s.fc(torch.where(m.unsqueeze(-1), s.token, x))),
                (torch.randn(5, 3, 4), torch.rand(5, 3) > 0.5))


@case
def language_model_tied_and_checkpointed(torch: Any) -> Case:
    from importlib import import_module
    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    nn, F = torch.nn, torch.nn.functional

    def block(s: Any, x: Any) -> Any:
        B, T, D = x.shape
        q, k, v = (t.view(B, T, 2, D // 2).transpose(1, 2) for t in s.qkv(s.ln1(x)).split(D, dim=2))
        x = x + s.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, D))
        return x + s.mlp(s.ln2(x))

    def forward(s: Any, ids: Any) -> Any:
        x = s.tok(ids) + s.pos(torch.arange(ids.shape[1]))
        for b in s.blocks:
            x = checkpoint(b, x, use_reentrant=False)
        return s.head(s.ln(x))
    blocks = nn.ModuleList([module(torch, {
        "ln1": nn.LayerNorm(4), "ln2": nn.LayerNorm(4), "qkv": nn.Linear(4, 12), "proj": nn.Linear(4, 4),
        "mlp": nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))}, block) for _ in range(2)])
    model = module(torch, {"tok": nn.Embedding(11, 4), "pos": nn.Embedding(16, 4), "blocks": blocks, "ln": nn.LayerNorm(4),
                           "head": nn.Linear(4, 11, bias=False)}, forward)
    model.head.weight = model.tok.weight
    return Case(model, (torch.randint(0, 11, (4, 5)),), factors=("tok.weight",))


@case
def residual_net_in_eval(torch: Any) -> Case:
    nn = torch.nn

    def block(s: Any, x: Any) -> Any:
        y = s.b2(s.c2(s.act(s.b1(s.c1(x)))))
        y += s.down(x)
        return s.act(y)
    inner = module(torch, {"c1": nn.Conv2d(3, 4, 3, 2, 1, bias=False), "b1": nn.BatchNorm2d(4), "act": nn.ReLU(inplace=True),
                           "c2": nn.Conv2d(4, 4, 3, 1, 1, bias=False), "b2": nn.BatchNorm2d(4),
                           "down": nn.Sequential(nn.Conv2d(3, 4, 1, 2, bias=False), nn.BatchNorm2d(4))}, block)
    model = nn.Sequential(inner, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    with torch.no_grad():
        model(torch.randn(6, 3, 8, 8))
    return Case(model.eval(), (torch.randn(3, 3, 8, 8),))


@case
def u_net(torch: Any) -> Case:
    nn = torch.nn
    parts = {"a": nn.Conv2d(2, 4, 3, padding=1), "n": nn.GroupNorm(2, 4), "b": nn.Conv2d(4, 6, 3, stride=2, padding=1),
             "up": nn.ConvTranspose2d(6, 4, 2, stride=2), "out": nn.Conv2d(8, 2, 1)}

    def forward(s: Any, x: Any) -> Any:
        skip = s.n(s.a(x)).relu()
        return s.out(torch.cat([skip, s.up(s.b(skip).relu())], 1))
    return Case(module(torch, parts, forward), (torch.randn(3, 2, 4, 4),))


@case
def adapters_of_low_rank_on_a_frozen_layer(torch: Any) -> Case:
    nn = torch.nn
    base = nn.Linear(4, 5)
    base.requires_grad_(False)
    parts = {"base": base, "A": nn.Parameter(torch.randn(2, 4)), "B": nn.Parameter(torch.randn(5, 2))}
    return Case(module(torch, parts, lambda s, x: (s.base(x) + x @ s.A.t() @ s.B.t() * 0.5).tanh()), (torch.randn(4, 3, 4),))


@case
def weight_of_each_sample_made_by_a_layer(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"h": nn.Linear(2, 12)}, lambda s, x, c: torch.bmm(
        s.h(c).reshape(-1, 3, 4), x.unsqueeze(-1)).squeeze(-1).tanh()), (torch.randn(4, 4), torch.randn(4, 2)))


@case
def relative_positions_from_a_table(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:
        at = torch.arange(x.shape[1])
        scores = s.q(x) @ s.k(x).transpose(1, 2) + s.table[at[:, None] - at[None] + x.shape[1] - 1]
        return scores.softmax(-1) @ x
    parts = {"q": nn.Linear(4, 4), "k": nn.Linear(4, 4), "table": nn.Parameter(torch.randn(7))}
    return Case(module(torch, parts, forward), (torch.randn(3, 4, 4),))


@case
def transitions_over_time(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:
        e = s.fc(x)
        a = s.start + e[:, 0]
        for t in range(1, e.shape[1]):
            a = torch.logsumexp(a.unsqueeze(2) + s.trans, 1) + e[:, t]
        return torch.logsumexp(a, 1)
    parts = {"fc": nn.Linear(3, 4), "trans": nn.Parameter(torch.randn(4, 4)), "start": nn.Parameter(torch.randn(4))}
    return Case(module(torch, parts, forward), (torch.randn(4, 3, 3),))


@case
def addmm_of_flattened_tokens(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:         # as GPT-2 does
        y = torch.addmm(s.b, x.view(-1, x.size(-1)), s.w).view(*x.size()[:-1], 3)
        return torch.addmm(s.b, mat1=y.reshape(-1, 3).tanh(), mat2=s.v, alpha=0.5).reshape(y.shape)
    parts = {"w": nn.Parameter(torch.randn(4, 3)), "b": nn.Parameter(torch.randn(3)), "v": nn.Parameter(torch.randn(3, 3))}
    return Case(module(torch, parts, forward), (torch.randn(3, 5, 4),), factors=("w",))


@case
def weight_made_with_linear_algebra(torch: Any) -> Case:
    nn, linalg = torch.nn, torch.linalg
    parts = {"v": nn.Parameter(torch.randn(3, 4)), "a": nn.Parameter(torch.randn(3, 3)), "mix": nn.Parameter(torch.randn(3))}

    def forward(s: Any, x: Any) -> Any:
        y = x @ (s.v / linalg.vector_norm(s.v, dim=1, keepdim=True)).t()
        return y @ linalg.matrix_exp(s.a - s.a.t()) * torch.special.expit(s.mix)
    return Case(module(torch, parts, forward), (torch.randn(3, 4),))       # as many samples as rows


@case
def tables_filled_by_slices(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:
        y = torch.zeros(x.shape[0], x.shape[1] + 1, 4)
        y[:, 0] = s.first
        y[:, 1:] = s.e(x)
        return s.fc(y).tanh()
    parts = {"e": nn.Linear(3, 4), "fc": nn.Linear(4, 2), "first": nn.Parameter(torch.randn(4))}
    return Case(module(torch, parts, forward), (torch.randn(3, 4, 3),))


@case
def windows_of_an_image_in_the_batch(torch: Any) -> Case:
    nn = torch.nn

    def forward(s: Any, x: Any) -> Any:
        B, H, W, C = x.shape
        x = x.view(B, H // 2, 2, W // 2, 2, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, C)
        q, k, v = s.qkv(x).chunk(3, -1)
        y = s.out((q @ k.transpose(1, 2) + s.bias).softmax(-1) @ v)
        return y.view(B, H // 2, W // 2, 2, 2, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)
    parts = {"qkv": nn.Linear(4, 12), "out": nn.Linear(4, 4), "bias": nn.Parameter(torch.randn(4, 4))}
    return Case(module(torch, parts, forward), (torch.randn(3, 4, 4, 4),), factors=("qkv.weight",))


# Parts that are not trained, not called, not reached

@case
def frozen_parameters(torch: Any) -> Case:
    model = mlp(torch, torch.nn.Tanh())
    model[0].weight.requires_grad_(False)
    model[2].bias.requires_grad_(False)
    return Case(model, (torch.randn(6, 4),))


@case
def layer_never_called(torch: Any) -> Case:
    nn = torch.nn
    return Case(module(torch, {"fc": nn.Linear(4, 3), "never": nn.Linear(4, 3), "lost": nn.Linear(3, 3)},
                       lambda s, x: (s.fc(x), s.lost(s.fc(x)))[0].tanh()), (torch.randn(6, 4),))


@case
def checkpointed(torch: Any) -> Case:
    from importlib import import_module
    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    nn = torch.nn
    parts = {"one": nn.Linear(4, 5), "two": nn.Linear(5, 3)}
    return Case(module(torch, parts, lambda s, x: checkpoint(lambda y: s.two(s.one(y).tanh()), x, use_reentrant=False)),
                (torch.randn(6, 4),))


@case(engines=("torch",))
def checkpointed_reentrant(torch: Any) -> Case:
    from torch.utils.checkpoint import checkpoint
    nn = torch.nn
    parts = {"one": nn.Linear(4, 5), "two": nn.Linear(5, 3), "out": nn.Linear(3, 2)}
    return Case(module(torch, parts, lambda s, x: s.out(checkpoint(
        lambda y: s.two(y.tanh()), s.one(x), use_reentrant=True))), (torch.randn(6, 4),))


@case(engines=("torch",))
def parametrised_weight(torch: Any) -> Case:
    from torch.nn.utils.parametrizations import weight_norm
    return Case(torch.nn.Sequential(weight_norm(torch.nn.Linear(4, 5)), torch.nn.Tanh(), torch.nn.Linear(5, 2)),
                (torch.randn(6, 4),))


@case
def custom_function_is_not_seen(torch: Any) -> Case:
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, w = ctx.saved_tensors
            return g @ w.t(), x.t() @ g
    nn = torch.nn
    return Case(module(torch, {"fc": nn.Linear(4, 5), "w": nn.Parameter(torch.randn(5, 2))},
                       lambda s, x: Own.apply(s.fc(x), s.w).tanh()), (torch.randn(6, 4),), missing=("w",))
