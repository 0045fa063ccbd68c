"""Layers, losses and functions with random settings, odd ones too: forward, backward once and twice, state dicts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

KNOWN: list[tuple[str, str]] = [
    (r"PyTorch: .*derivative for .* is not implemented\n +retrograd: : None", "Second derivatives of all"),
    (r"PyTorch: +NotImplementedError: .* not implemented for 'Half'", "Half precision is computed"),
    (r"LocalResponseNorm(.*\n)*.*PyTorch: +RuntimeError: view size is not compatible", "Layouts do not matter"),
    (r"PyTorch: +(RuntimeError: Found an invalid max index): \d+ .*\n.*\1", "Of several wrong indices another one is told"),
    (r"adaptive_(avg|max)_pool\dd_backward|PixelShuffleBackward0 returned an invalid|PyTorch: +.*: pixel_shuffle expects its",
     "Gradients of nothing"),
    (r"GroupNorm(.*\n)*.* 0[,)](.*\n)* +PyTorch: +(again|\S+\.grad): .*\[nan", "Gradients of nothing"),
    (r"torch\.randn\(\([^)]*\b0[,)](.*\n)*.*PyTorch: +again: .*\[0\.0\]\n.*retrograd: again: ", "Gradients of nothing"),
    (r"grid_sample(.*\n)*.*reshape tensor of 0 elements(.*\n)*.*retrograd: : None", "Gradients of nothing"),
    (r"PyTorch: +\w+: (could not (create|construct) a |weight tensor should be defined|get_mkldnn_dtype: |"
     r".* should be a MKLDNN tensor|.*upsample_\w+_channels_last|result type Float can't be cast to the desired output type Long)"
     r".*\n +retrograd: (Runtime|NotImplemented)Error: ",
     "The same error in other words"),
    (r"F\.pad\((.*\n)*.*Padding size should be(.*\n)*.*not implemented for", "Of two errors another one"),
    (r"(Instance|Batch)Norm(.*\n)*.*randint\(-?\d, \d, \(([^)]*, )?0[,)](.*\n)*.*PyTorch: +(out|\w+Error):? ",
     "Integers are refused, also where there are none"),
    (r"ConvTranspose(.*\n)*.*PyTorch: +(out: torch\.float32 \([^)]*\b0[,)]|"
     r"RuntimeError: (.*\b0 elements|invalid shape dimension -)).*\n +retrograd: RuntimeError: Given input size per",
     "An image without pixels is refused"),
    (r"INDICES element is out of DATA bounds", "An index out of range is told in one way"),
    (r"RMSNorm(.*\n)*.*(CloneBackward0(.*\n)*.*MulBackward0|ToCopyBackward0(.*\n)*.*CloneBackward0)", "Layouts do not matter"),
    (r"nn\.Bilinear(.*\n)*.*cannot reshape tensor of 0 elements(.*\n)*.*retrograd: out: ", "Products of no features are 0"),
    (r"Conv\dd\(0, (.*\n)*> .*\n +PyTorch: .*\(\d, 0, ", "A convolution of an input without channels has the weight's"),
    (r"LSTM(.*\n)*.*(View|MkldnnRnnLayer|Stack)Backward0(.*\n)*.*(Cat|Slice|Stack)Backward0", "A layer on one node"),
    (r"retrograd: RuntimeError: Expected every length to be at most", "PyTorch packs what lies behind the sequence"),
    (r"nn\.Embedding\((.*\n)*.*reshape tensor of 0 elements(.*\n)*.*retrograd: : None", "No indices, but a derivative"),
    (r"grad_input must be contiguous", "Layouts do not matter"),
    (r"Circular.*(\n.*)*wrapping around more than once", "Nothing is left to repeat, and PyTorch repeats what memory held"),
    (r"HuberLoss(.*\n)*.*PyTorch: +RuntimeError: Found dtype \w+ but expected", "A target of another dtype is differentiable"),
    (r"BatchNorm\dd\(0(.*\n)*.*PyTorch: +IndexError: select\(\): index 0 out of range",
     "No channels, which PyTorch finds by accident"),
    (r"ChannelShuffle(.*\n)*.*PyTorch: +RuntimeError: Number of groups to divide channels in must be positive",
     "Gradients of nothing"),
    (r"(LLLoss|EntropyLoss)(.*\n)*.*PyTorch: +RuntimeError: size mismatch \(got input: \[\d+, 0(.*\n)*.*Target 0 is out of",
     "Of no classes any target is out of bounds"),
    (r"pack_padded_sequence(.*\n)*.*retrograd: RuntimeError: input must have", "Of two errors another one"),
    (r"padding='same'(.*\n)*.*negative padding is not supported", "A kernel of size 0"),
    (r"Unflatten(.*\n)*.*PyTorch: +RuntimeError: unflatten got an unexpected error:\n +retrograd: RuntimeError",
     "The same error in other words"),
]
DIGITS: list[tuple[str, str]] = [
    (r"nn\.Embedding\(.*by_freq=True(.*\n)*.*again(.*\n)*.*weight\.grad: ", "PyTorch's second derivative lacks the counts"),
    (r"max_norm=(.*\n)*.*PyTorch: +\S+\.weight: ", "An error before the rows are scaled changes nothing"),
    (r"GroupNorm\((.*\n)*.*, 1\), dtype=torch\.float(32|64)", "Where all digits cancel"),
    (r"Sequential\(.*(Norm|Conv).*Norm(.*\n)*.*again(.*\n)*.*PyTorch: +\S+\.grad: torch\.float64", "Where all digits cancel"),
    (r"EmbeddingBag(.*\n)*.*float16", "Half precision rounds at other places"),
    (r"(LSTM|GRU|RNN)(.*\n)*.*float16(.*\n)*.*PyTorch: +\S+: torch\.float16", "Half precision rounds at other places"),
    (r"CTCLoss\(blank=[1-9]", "PyTorch's sum over paths has no meaning where a target is the blank"),
    (r"MultiMarginLoss(.*\n)*.*\(0, ", "PyTorch's mean of nothing is what it finds there"),
    (r"LLLoss(.*\n)*.*float16", "Sums of half precision"),
    (r"weight_norm(.*\n)*.*(weight_g|original0): ", "Norms in float32 have other last digits"),
    (r"Dropout(\dd)?\((.*\n)*.*transpose", "Layouts do not matter"),
    (r"LazyLinear(.*\n)*.*rand(n|int)\([^)]*\b0[,)]", "Parameters without a start are what memory held"),
    (r"BatchNorm(.*\n)*.*transpose\((.*\n)*.*PyTorch: +\S+\.grad: ",
     "PyTorch's gradients are wrong for some strides: ours are the formula's"),
    (r"antialias=True(.*\n)*.*PyTorch: +out: ", "PyTorch's are wrong where the width becomes 1"),
    (r"(RMSNorm\(\[1\]|LayerNorm\(1|InstanceNorm\dd\(.*(\n.*)*float16)(.*\n)*.*PyTorch: +\S+: torch",
     "Where all digits cancel"),
    (r"weight_norm(.*\n)*.*(original[01]|weight_[vg]|bias)\.grad", "Other second derivatives of weight_norm"),
    (r"weight_norm(.*\n)*> m = m\.to\(torch\.float64\)", "Norms in float32 have other last digits"),
    (r"PyTorch: +\S+: torch\.float64 .*\[((0\.0|-?\d\.\d+e-1\d)(, )?)+\]\n.*\[((0\.0|-?\d\.\d+e-1\d)(, )?)+\]$",
     "Where all digits cancel"),
    (r"CosineEmbeddingLoss(.*\n)*.*torch\.randn\(\(\d, 1\)(.*\n)*.*\.grad: ", "Where all digits cancel"),
    (r"'nearest'(.*\n)* +PyTorch: +again: ", "Where nothing depends on a grid it gets no second derivative"),
    (r"spectral_norm(.*\n)*.*(_u|_v|original0): ", "Power iterations end in other last digits"),
    (r"Hardsigmoid(.*\n)*.*(x\.grad|again): torch\.float64", "PyTorch's sixth has the digits of float32"),
    (r"antialias=True(.*\n)*.*[xy]\.grad: ", "Where a size stays PyTorch's antialias copies, and its gradient filters"),
    (r"(Instance|Batch)Norm\dd\(.*eps=-1\.0(.*\n)*.*\.eval\(\)(.*\n)*.*\bnan\b", "A variance of 0"),
    (r"(Sequential|ConvTranspose\dd)\((.*\n)*.*float16(.*\n)*.*PyTorch: +\S+: torch\.float16",
     "Half precision rounds at other places"),
]
VERSIONS = False


class Chance:
    """Random settings: mostly fitting ones, and now and then one that hardly fits."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.dtype = rng.choices(["float32", "float64", "float16", "int64", "bool"], [20, 70, 6, 3, 1])[0]
        self.strange = rng.random() < 0.35  # elsewhere everything fits

    def odd(self, usual: list[Any], seldom: list[Any], chance: float = 0.15) -> Any:
        return self.rng.choice(seldom if self.strange and self.rng.random() < chance else usual)

    def one(self, *values: Any) -> Any:
        return self.rng.choice(values)

    def flag(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def size(self) -> int:
        return int(self.odd([1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 12]))

    def sizes(self, count: int) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(count))

    def each(self, dims: int, usual: list[Any], seldom: list[Any]) -> Any:
        """A number for all dims, or one each (or, seldom, for another count of dims)."""
        if self.flag(0.6):
            return self.odd(usual, seldom)
        return tuple(self.odd(usual, seldom) for _ in range(self.odd([dims], [1, 2, 3, 4], 0.05)))

    def tensor(self, shape: Any, dtype: str = "", grad: bool = True) -> str:
        dtype = dtype or (self.dtype if not self.strange or self.flag(0.95) else self.one("float32", "float64", "int64"))
        shape = tuple(shape)
        if self.strange and self.flag(0.04):
            shape = self.one(shape[:-1], (*shape, 2), (), (1, *shape), shape[1:])
        if dtype == "int64":
            return f"torch.randint(-3, 4, {shape})"
        if dtype == "bool":
            return f"torch.randint(0, 2, {shape}).bool()"
        text = f"torch.randn({shape}, dtype=torch.{dtype})"
        if len(shape) > 1 and self.flag(0.15):
            text += ".transpose(0, -1).contiguous().transpose(0, -1)"
        return text + ".requires_grad_()" * (grad and self.flag(0.85))

    def floats(self) -> str:
        return self.dtype if "float" in self.dtype else "float32"

    def indices(self, shape: Any, top: int, low: int = 0) -> str:
        high = max(top, low + 1) if not self.strange or self.flag(0.9) else top + 2
        text = f"torch.randint({low}, {max(high, low + 1)}, {tuple(shape)})"
        return text + self.odd([""], [".int()", ".float()", ".short()", ".bool()"], 0.3)

    def options(self, **options: Any) -> str:
        """Those that are not None, as keyword arguments."""
        return "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)

    def may(self, value: Any, chance: float = 0.5) -> Any:
        return value if self.flag(chance) else None


# A node of their own there, made of others here.
COMPOSED = ("F.grid_sample", "F.affine_grid", "F.scaled_dot_product_attention", "F.pdist")
Case = tuple[str, list[str]]  # the module, or the function, and its arguments


def conv(c: Chance) -> Case:
    dims = c.one(1, 1, 2, 3)
    groups = c.odd([1, 1, 2, 3], [0, -1, 4])
    inner, outer = max(groups, 1) * c.one(1, 2), max(groups, 1) * c.odd([1, 2], [0, 3])
    transposed = c.flag(0.4)
    options = dict(
        stride=c.may(c.each(dims, [1, 2, 3], [0, -1, 7]), 0.4),
        dilation=c.may(c.each(dims, [1, 2], [0, 3, 9]), 0.3),
        groups=c.may(groups, 0.9),
        bias=c.may(False, 0.2),
    )
    if transposed:
        options["padding"] = c.may(c.each(dims, [0, 1], [2, 5, -1]), 0.4)
        options["output_padding"] = c.may(c.each(dims, [0, 1], [2, 3, -1]), 0.3)
    else:
        options["padding"] = c.may(c.one("same", "valid") if c.flag(0.2) else c.each(dims, [0, 1, 2], [-1, 8]), 0.5)
        options["padding_mode"] = c.may(c.one("zeros", "reflect", "replicate", "circular"), 0.3)
    kernel = c.each(dims, [1, 2, 3], [0, 4, 9])
    name = f"nn.Conv{'Transpose' if transposed else ''}{dims}d"
    inside = c.sizes(dims)
    return f"{name}({inner}, {outer}, {kernel}{c.options(**options)})", [c.tensor((*batch(c), inner, *inside))]


def batch(c: Chance) -> tuple[int, ...]:
    return c.odd([(2,), (3,), (1,), ()], [(0,), (2, 2)])


def pool(c: Chance) -> Case:
    dims, kind = c.one(1, 2, 3), c.one("Max", "Avg", "LP")
    options: dict[str, Any] = dict(stride=c.may(c.each(dims, [1, 2, 3], [0, -1, 9]), 0.5), ceil_mode=c.may(True, 0.4))
    shape = (*batch(c), c.size(), *c.sizes(dims))
    kernel = c.each(dims, [1, 2, 3], [0, 5, -1])
    if kind == "LP":
        return f"nn.LPPool{dims}d({c.odd([1, 2, 3, 2.5], [0, -1, 'inf'])!r}, {kernel}{c.options(**options)})", [c.tensor(shape)]
    options["padding"] = c.may(c.each(dims, [0, 1], [2, -1]), 0.4)
    if kind == "Max":
        options["dilation"] = c.may(c.each(dims, [1, 2], [0, 3, 9]), 0.4)
        if options["dilation"] is not None:
            options["padding"] = None           # PyTorch writes outside its memory where a window shows nothing but padding
        options["return_indices"] = c.may(True, 0.3)
    else:
        options["count_include_pad"] = c.may(False, 0.3)
        options["divisor_override"] = c.may(c.odd([2, 3], [0, -1]), 0.2) if dims > 1 else None
    return f"nn.{kind}Pool{dims}d({kernel}{c.options(**options)})", [c.tensor(shape)]


def adaptive(c: Chance) -> Case:
    dims, kind = c.one(1, 2, 3), c.one("Max", "Avg")
    out = c.each(dims, [1, 2, 3, 5], [0, None, -1])
    options = c.options(return_indices=c.may(True, 0.4)) if kind == "Max" else ""
    return f"nn.Adaptive{kind}Pool{dims}d({out}{options})", [c.tensor((*batch(c), c.size(), *c.sizes(dims)))]


def unpool(c: Chance) -> Case:
    dims = c.one(1, 2, 3)
    kernel, stride = c.each(dims, [1, 2, 3], [0]), c.may(c.each(dims, [1, 2, 3], [0]), 0.5)
    shape = (*batch(c), c.one(1, 2), *c.sizes(dims))
    pooled = f"F.max_pool{dims}d({c.tensor(shape)}, {kernel}{c.options(stride=stride)}, return_indices=True)"
    return f"nn.MaxUnpool{dims}d({kernel}{c.options(stride=stride, padding=c.may(c.one(0, 1), 0.2))})", [f"*{pooled}"]


def norm(c: Chance) -> Case:
    dims, kind = c.one(1, 2, 3), c.one("BatchNorm", "InstanceNorm")
    channels = c.odd([1, 2, 3], [0])
    options = c.options(
        eps=c.may(c.odd([1e-3, 0.1], [0, 0.0, -1.0]), 0.3),
        momentum=c.may(c.odd([0.3, 0.9], [0.0, 1.0]), 0.3),
        affine=c.may(c.flag(), 0.5),
        track_running_stats=c.may(c.flag(), 0.5),
    )
    shape = (*c.odd([(2,), (3,), (4,)], [(1,), (), (0,)]), channels, *c.sizes(dims if dims > 1 or c.flag(0.7) else 0))
    return f"nn.{kind}{dims}d({channels}{options})", [c.tensor(shape)]


def layer_norm(c: Chance) -> Case:
    shape = (*c.sizes(c.one(0, 1, 2)), *c.sizes(c.one(1, 1, 2)))
    over = shape[-c.one(1, 1, 2) :]
    options = c.options(eps=c.may(c.odd([1e-3, 0.1], [0.0]), 0.3), elementwise_affine=c.may(c.flag(), 0.4))
    if c.flag(0.3):
        return f"nn.RMSNorm({list(over)}{options})", [c.tensor(shape)]
    return f"nn.LayerNorm({over if len(over) > 1 else over[0]}{options}{c.options(bias=c.may(False, 0.2))})", [c.tensor(shape)]


def group_norm(c: Chance) -> Case:
    groups = c.odd([1, 2, 3], [0, -1, 5])
    channels = max(groups, 1) * c.odd([1, 2], [0])
    options = c.options(eps=c.may(c.odd([1e-3], [0.0]), 0.3), affine=c.may(False, 0.3))
    return f"nn.GroupNorm({groups}, {channels}{options})", [c.tensor((c.size(), channels, *c.sizes(c.one(1, 2))))]


def response_norm(c: Chance) -> Case:
    options = c.options(alpha=c.may(0.5), beta=c.may(c.one(0.5, 1.0)), k=c.may(c.one(0.5, 2.0)))
    shape = (c.size(), c.size(), *c.sizes(c.one(1, 2, 3)))
    return f"nn.LocalResponseNorm({c.odd([1, 2, 3], [0, 5])}{options})", [c.tensor(shape)]


def recurrent(c: Chance) -> Case:
    kind = c.one("RNN", "LSTM", "GRU")
    inner, hidden, layers = c.odd([1, 2, 3], [0]), c.odd([1, 2, 3], [0]), c.odd([1, 2], [0])
    both = c.flag(0.3)
    projected = c.may(c.odd([1], [2, 5, 0]), 0.2) if kind == "LSTM" else None
    options = dict(
        num_layers=c.may(layers, 0.6),
        bias=c.may(False, 0.2),
        batch_first=c.may(True, 0.3),
        bidirectional=c.may(True, 1.0) if both else None,
        dropout=c.may(0.0, 0.1),
        proj_size=projected,
    )
    if kind == "RNN":
        options["nonlinearity"] = c.may(c.odd(["relu", "tanh"], ["sigmoid"]), 0.4)
    text = f"nn.{kind}({inner}, {hidden}{c.options(**options)})"
    steps, count = c.odd([1, 2, 3], [0]), c.odd([1, 2], [0])
    first = bool(options["batch_first"])
    shape = (steps, inner) if c.flag(0.2) else (count, steps, inner) if first else (steps, count, inner)
    args = [c.tensor(shape)]
    if c.flag(0.4):
        rows = (options["num_layers"] or 1) * (1 + both)
        state = [(rows, count, n) if len(shape) == 3 else (rows, n) for n in (projected or hidden, hidden)]
        texts = [c.tensor(s) for s in state[: 1 + (kind == "LSTM")]]
        args.append(f"({', '.join(texts)})" if kind == "LSTM" else texts[0])
    return text, args


def packed(c: Chance) -> Case:
    inner, hidden, count, steps = c.one(1, 2), c.one(1, 2), c.one(1, 2, 3), c.one(1, 2, 3)
    lengths = [c.odd([steps], [0, steps + 1]), *(c.one(*range(1, steps + 1)) for _ in range(count - 1))]
    first = c.flag()
    shape = (count, steps, inner) if first else (steps, count, inner)
    packed = f"nn.utils.rnn.pack_padded_sequence({c.tensor(shape)}, {lengths}, {first}, {c.flag(0.2)})"
    if c.flag(0.3):
        return "nn.utils.rnn.pad_packed_sequence", [packed, repr(c.flag())]
    return f"nn.{c.one('RNN', 'LSTM', 'GRU')}({inner}, {hidden}{c.options(bidirectional=c.may(True, 0.3))})", [packed]


def cell(c: Chance) -> Case:
    kind = c.one("RNN", "LSTM", "GRU")
    inner, hidden = c.odd([1, 2, 3], [0]), c.odd([1, 2, 3], [0])
    rows = batch(c)
    options = c.options(bias=c.may(False, 0.2))
    args = [c.tensor((*rows, inner))]
    if c.flag(0.5):
        texts = [c.tensor((*rows, hidden)) for _ in range(1 + (kind == "LSTM"))]
        if kind == "LSTM" and not rows:         # PyTorch dies of states of more dims
            texts = [f"torch.randn(({hidden},)).to(torch.{c.dtype})"] * 2
        args.append(f"({', '.join(texts)})" if kind == "LSTM" else texts[0])
    return f"nn.{kind}Cell({inner}, {hidden}{options})", args


def linear(c: Chance) -> Case:
    a, b, out = c.size(), c.size(), c.size()
    front = c.sizes(c.one(0, 1, 1, 2))
    bias = c.options(bias=c.may(False, 0.2))
    if c.flag(0.3):
        return f"nn.Bilinear({a}, {b}, {out}{bias})", [c.tensor((*front, a)), c.tensor((*front, b))]
    if c.flag(0.15):
        return f"nn.LazyLinear({out}{bias})", [c.tensor((*front, a))]
    return f"nn.Linear({a}, {out}{bias})", [c.tensor((*front, a))]


def embedding(c: Chance) -> Case:
    rows, width = c.odd([1, 2, 3, 5], [0]), c.odd([1, 2, 3], [0])
    options = c.options(
        padding_idx=c.may(c.odd([0, -1], [1, -9, 9]), 0.4),
        max_norm=c.may(c.odd([1.0, 0.5], [0.0]), 0.2),
        norm_type=c.may(c.odd([1.0, 2.0], [float("2.5")]), 0.2),
        scale_grad_by_freq=c.may(True, 0.3),
    )
    return f"nn.Embedding({rows}, {width}{options})", [c.indices(c.sizes(c.one(0, 1, 2)), rows)]


def embedding_bag(c: Chance) -> Case:
    """Without scale_grad_by_freq and without bags: PyTorch reads beside its counts, and dies of it."""
    rows, width = c.odd([1, 2, 3, 5], [0]), c.odd([1, 2, 3], [0])
    mode, last = c.one("sum", "mean", "max"), c.flag(0.3)
    options = c.options(
        mode=c.may(mode, 0.9),
        padding_idx=c.may(c.odd([0, -1], [1, -9, 9]), 0.4),
        max_norm=c.may(c.odd([1.0, 0.5], [0.0]), 0.1),
        include_last_offset=c.may(True, 1.0) if last else None,
    )
    if c.flag(0.4):
        shape = c.sizes(2)
        args = [c.indices(shape, rows)]
    else:
        shape = (c.size(),)
        starts = [0, *sorted(c.rng.randrange(shape[0] + 1) for _ in range(c.one(0, 1, 2)))]
        starts += [shape[0]] if last and c.flag(0.9) else []
        args = [
            c.indices(shape, rows),
            c.odd(
                [f"torch.tensor({starts})"],
                ["None", "torch.tensor([0])", "torch.tensor([1])", f"torch.tensor({starts}).int()", "torch.tensor([0, 9])"],
            ),
        ]
    if last and len(args) == 2 and "," not in args[1]:
        args[1] = f"torch.tensor([0, {shape[0]}])"
    if (mode == "sum" and c.flag(0.3)) or (c.strange and c.flag(0.05)):
        args += ["None"] * (2 - len(args)) + [c.tensor(shape)]
    return f"nn.EmbeddingBag({rows}, {width}{options})", args


def attention(c: Chance) -> Case:
    heads = c.odd([1, 2], [3])
    width = heads * c.one(1, 2)
    first = c.flag(0.4)
    key, value = c.may(c.one(1, 3), 0.2), c.may(c.one(1, 3), 0.2)
    options = c.options(
        bias=c.may(False, 0.2),
        add_bias_kv=c.may(True, 0.15),
        add_zero_attn=c.may(True, 0.15),
        kdim=key,
        vdim=value,
        batch_first=c.may(True, 1.0) if first else None,
    )
    count, rows, columns = c.odd([1, 2], [0]), c.odd([1, 2, 3], [0]), c.odd([1, 2, 3], [0])
    plain = c.flag(0.2)

    def of(n: int, width: int) -> str:
        return c.tensor((n, width) if plain else (count, n, width) if first else (n, count, width))

    args = [of(rows, width), of(columns, key or width), of(columns, value or width)]
    if c.flag(0.3):
        args.append(f"key_padding_mask=torch.zeros({(columns,) if plain else (count, columns)}).bool()")
    if c.flag(0.4):
        shape = (rows, columns) if c.flag(0.7) else (count * heads, rows, columns)
        args.append(f"attn_mask={c.one(f'torch.randn({shape}) > 1', f'torch.randn({shape}, dtype=torch.{c.floats()})')}")
    args += [c.odd(["need_weights=True", "need_weights=False"], ["is_causal=True", "average_attn_weights=False"], 0.3)]
    return f"nn.MultiheadAttention({width}, {heads}{options})", args


def dot_attention(c: Chance) -> Case:
    front = c.one((2, 2), (1,), (), (2, 1))
    rows, columns, width = c.odd([1, 2, 3], [0]), c.odd([1, 2, 3], [0]), c.odd([1, 2], [0])
    value = c.one(width, width, 3)
    args = [c.tensor((*front, rows, width)), c.tensor((*front, columns, width)), c.tensor((*front, columns, value))]
    if c.flag(0.3):
        shape = c.odd([(rows, columns), (1, columns), (*front, rows, columns)], [(columns,), (7, 7)])
        args.append(f"attn_mask={c.one(f'torch.randn({shape}) < 1', f'torch.randn({shape}, dtype=torch.{c.floats()})')}")
    options = c.options(is_causal=c.may(True, 0.2), scale=c.may(c.odd([0.5, 2.0], [0.0, -1.0]), 0.2))
    return "F.scaled_dot_product_attention", [*args, *([options[2:]] if options else [])]


def transformer(c: Chance) -> Case:
    kind = c.one("Encoder", "Decoder")
    first = c.flag()
    options = c.options(
        dim_feedforward=3,
        dropout=0.0,
        activation=c.odd(["relu", "gelu"], ["tanh"]),
        norm_first=c.may(True, 0.4),
        batch_first=c.may(True, 1.0) if first else None,
        bias=c.may(False, 0.2),
    )
    args = [c.tensor((2, 3, 4)) for _ in range(1 + (kind == "Decoder"))]
    if c.flag(0.3):
        n = 3 if first else 2
        args.append(f"{'src' if kind == 'Encoder' else 'tgt'}_mask=nn.Transformer.generate_square_subsequent_mask({n})")
    text = f"nn.Transformer{kind}Layer(4, {c.odd([1, 2, 4], [3])}{options})"
    if c.flag(0.3):
        text = f"nn.Transformer{kind}({text}, {c.one(1, 2)}{', norm=nn.LayerNorm(4)' * c.flag(0.3)})"
    return text, args


ACTIVATIONS: dict[str, Callable[[Chance], str]] = {
    "ELU": lambda c: c.options(alpha=c.may(c.odd([0.5, 2.0], [0.0, -1.0]))),
    "Hardshrink": lambda c: c.options(lambd=c.may(c.odd([0.1, 1.0], [0, -1.0]))),
    "Hardsigmoid": lambda c: "",
    "Hardswish": lambda c: "",
    "LogSigmoid": lambda c: "",
    "ReLU6": lambda c: "",
    "ReLU": lambda c: "",
    "Hardtanh": lambda c: f", {c.odd([-1.0, -0.2], [2, 0.5])}, {c.odd([0.3, 1], [0.5])}",
    "LeakyReLU": lambda c: c.options(negative_slope=c.may(c.odd([0.1, 0.5], [0, -1.0, 2.0]))),
    "PReLU": lambda c: c.options(num_parameters=c.may(c.odd([1, 2, 3], [0])), init=c.may(0.4)),
    "RReLU": lambda c: f", {c.odd([0.1, 0.2], [0.9, 2.0])}, {c.odd([0.2, 0.5], [0])}",
    "SELU": lambda c: "",
    "CELU": lambda c: c.options(alpha=c.may(c.odd([0.5, 2.0], [0.0, -1.0]))),
    "GELU": lambda c: c.options(approximate=c.may(c.odd(["none", "tanh"], ["sigmoid"]))),
    "Sigmoid": lambda c: "",
    "SiLU": lambda c: "",
    "Mish": lambda c: "",
    "Softplus": lambda c: c.options(beta=c.may(c.odd([2.0, 0.5], [0, -1.0])), threshold=c.may(c.one(1.0, 0.0))),
    "Softshrink": lambda c: c.options(lambd=c.may(c.odd([0.1, 1.0], [0, -1.0]))),
    "Softsign": lambda c: "",
    "Tanh": lambda c: "",
    "Tanhshrink": lambda c: "",
    "Threshold": lambda c: f", {c.one(0.1, -0.5, 0)}, {c.one(1.0, 5)}",
    "GLU": lambda c: c.options(dim=c.may(c.odd([-1, 0, 1], [5, -4]))),
    "Softmin": lambda c: f", dim={c.odd([-1, 0, 1, None], [5])}",
    "Softmax": lambda c: f", dim={c.odd([-1, 0, 1, None], [5])}",
    "LogSoftmax": lambda c: f", dim={c.odd([-1, 0, 1, None], [5])}",
    "Softmax2d": lambda c: "",
}


def activation(c: Chance) -> Case:
    name = c.one(*ACTIVATIONS)
    options = ACTIVATIONS[name](c)
    return f"nn.{name}({options[2:]})", [c.tensor(c.sizes(c.one(0, 1, 2, 2, 3, 4)))]


def padding(c: Chance) -> Case:
    dims = c.one(1, 2, 3)
    kind = c.one("Reflection", "Replication", "Zero", "Constant", "Circular")
    low = 0 if kind == "Circular" else -2       # circular padding by a negative amount shows, and spoils, memory of PyTorch's
    amount = c.odd([0, 1, 2], [-1, 5, 3]) if c.flag(0.5) else tuple(c.odd([0, 1, 2], [-1, -2, 5]) for _ in range(2 * dims))
    amount = max(amount, low) if isinstance(amount, int) else tuple(max(n, low) for n in amount)
    more = f", {c.one(0, 1.5, -2)}" if kind == "Constant" else ""
    return f"nn.{kind}Pad{dims}d({amount}{more})", [c.tensor((*batch(c), c.size(), *c.sizes(dims)))]


def free_padding(c: Chance) -> Case:
    ndim = c.one(1, 2, 3, 4, 5)
    amounts = [c.odd([0, 1, 2], [-1, -3, 6]) for _ in range(2 * c.odd([1, 2, min(ndim, 3)], [3, 0]))]
    if c.strange and amounts and c.flag(0.1):
        amounts.pop()
    mode = c.odd(["constant", "reflect", "replicate", "circular"], ["zeros"])
    if mode == "circular":                      # as in `padding`
        amounts = [max(n, 0) for n in amounts]
    return "F.pad", [c.tensor(c.sizes(ndim)), repr(amounts), f"mode={mode!r}{c.options(value=c.may(c.one(1, 0.5), 0.2))}"]


MODES = ["nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area"]


def resize(c: Chance) -> Case:
    dims = c.one(1, 2, 3)
    fit = ["nearest", "nearest-exact", "area", *{1: ["linear"], 2: ["bilinear", "bicubic"], 3: ["trilinear"]}[dims]]
    mode = c.odd(fit, MODES)
    smooth = "linear" in mode or mode == "bicubic"
    shape = (c.odd([1, 2], [0]), c.odd([1, 2], [0]), *c.sizes(dims))
    options = dict(
        align_corners=c.may(c.flag(), 0.7) if smooth or (c.strange and c.flag(0.1)) else None,
        recompute_scale_factor=c.may(c.flag(), 0.3),
    )
    if c.flag():
        options |= dict(size=shape[2:] if c.flag(0.2) else c.each(dims, [1, 2, 3, 5, 8], [0, -1]), recompute_scale_factor=None)
    else:
        options["scale_factor"] = c.each(dims, [1.0, 2.0, 0.5, 1.5, 0.7, 2], [0.0, -1.0, 0.01])
    text = c.options(mode=mode, **options)
    if c.flag(0.5):
        return f"nn.Upsample({text[2:]})", [c.tensor(shape)]
    if dims == 2 and mode in ("bilinear", "bicubic") and c.flag(0.4):
        text += ", antialias=True"
    return "F.interpolate", [c.tensor(shape), text[2:]]


def grid(c: Chance) -> Case:
    dims = c.one(2, 2, 3)
    align = c.flag()
    n, channels = c.odd([1, 2], [0]), c.odd([1, 2], [0])
    if c.flag(0.3):
        return "F.affine_grid", [c.tensor((n, dims, dims + 1)), repr([n, channels, *c.sizes(dims)]), f"align_corners={align}"]
    mode = c.odd(["bilinear", "nearest", "bicubic"][: 3 if dims == 2 else 2], ["bicubic", "linear"])
    edge = c.odd(["zeros", "border", "reflection"], ["circular"])
    return "F.grid_sample", [
        c.tensor((n, channels, *c.sizes(dims))),
        c.tensor((n, *c.sizes(dims), dims)),
        f"{mode!r}, {edge!r}, {align}",
    ]


def shuffled(c: Chance) -> Case:
    r, front = c.odd([1, 2, 3], [0, -1]), c.odd([(1,), (2,), ()], [(0,), (2, 2)])
    name = c.one("PixelShuffle", "PixelUnshuffle", "ChannelShuffle")
    n = max(r, 1)
    shape = {
        "PixelShuffle": (n * n * c.one(1, 2), *c.sizes(2)),
        "PixelUnshuffle": (c.one(1, 2), n * c.size(), n * c.size()),
        "ChannelShuffle": (n * c.one(1, 2), *c.sizes(2)),
    }[name]
    return f"nn.{name}({r})", [c.tensor((*front, *shape))]


def blocks(c: Chance) -> Case:
    options = c.options(
        kernel_size=c.each(2, [1, 2, 3], [0, 9]),
        dilation=c.may(c.each(2, [1, 2], [0, 9]), 0.3),
        padding=c.may(c.each(2, [0, 1], [-1]), 0.4),
        stride=c.may(c.each(2, [1, 2], [0]), 0.4),
    )
    if c.flag():
        return f"nn.Unfold({options[2:]})", [c.tensor((*batch(c), c.one(1, 2), *c.sizes(2)))]
    kernel = c.one(1, 2, 3)
    size = (c.one(3, 4, 5), c.one(3, 4))
    count = (size[0] - kernel + 1) * (size[1] - kernel + 1) + c.odd([0], [1])
    return f"nn.Fold({size}, {kernel})", [c.tensor((*batch(c), kernel * kernel * c.one(1, 2), max(count, 0)))]


def distance(c: Chance) -> Case:
    shape = c.sizes(c.one(0, 1, 2, 3))
    other = shape if c.flag(0.7) else (*shape[:-1], 1) if shape else (2,)
    name = c.one("nn.CosineSimilarity", "nn.PairwiseDistance", "F.normalize", "torch.cdist", "F.pdist")
    args = [c.tensor(shape), c.tensor(other)]
    if name == "nn.CosineSimilarity":
        return f"{name}(dim={c.odd([0, 1, -1], [3])}{c.options(eps=c.may(1e-3, 0.2))})", args
    p = (
        c.odd([1, 2.0, 3, float("inf")], [0, -1.0, 0.5])
        if name == "nn.PairwiseDistance"
        else c.odd([1.0, 2.0, 3.0], [0.0, -1.0, 0.5])
    )
    if name == "nn.PairwiseDistance":
        text = "math.inf" if p == float("inf") else repr(p)
        return f"{name}(p={text}{c.options(keepdim=c.may(True, 0.3))})", args
    if name == "F.normalize":
        return name, [args[0], f"p={p}, dim={c.odd([0, 1, -1], [3])}"]
    if name == "torch.cdist":
        front, width = c.one((), (2,)), c.size()
        return name, [c.tensor((*front, c.size(), width)), c.tensor((*front, c.size(), width)), f"p={p}"]
    rows, width = c.sizes(2)
    return name, [c.tensor((max(rows, 1), width)), f"p={p}"]         # PyTorch dies of the gradient of no rows


def loss(c: Chance) -> Case:
    reduction = c.options(reduction=c.may(c.odd(["none", "sum", "mean"], ["max"]), 0.8))
    shape = c.sizes(c.one(0, 1, 2, 2, 3))
    name = c.one(
        "L1",
        "MSE",
        "SmoothL1",
        "Huber",
        "BCE",
        "BCEWithLogits",
        "KLDiv",
        "PoissonNLL",
        "GaussianNLL",
        "SoftMargin",
        "HingeEmbedding",
        "MultiLabelSoftMargin",
        "MultiLabelMargin",
        "MultiMargin",
        "MarginRanking",
        "CosineEmbedding",
        "TripletMargin",
        "TripletMarginWithDistance",
    )
    x, y = c.tensor(shape), c.tensor(shape if c.flag(0.85) else shape[-1:] or (1,))
    label = f"(torch.randint(0, 2, {shape}) * 2 - 1)"
    options = ""
    if name == "SmoothL1":
        options = c.options(beta=c.may(c.odd([0.5, 2.0], [0.0, -1.0])))
    elif name == "Huber":
        options = c.options(delta=c.may(c.odd([0.5, 2.0], [0.0, -1.0])))
    elif name == "BCE":
        x, y = f"({x}).sigmoid()", f"({c.tensor(shape, grad=False)}).sigmoid()"
        if c.flag(0.2):
            options = f", weight=torch.rand({c.odd([shape, shape[-1:]], [(7,)])})"
    elif name == "BCEWithLogits":
        if c.flag(0.3):
            options = f", pos_weight=torch.rand({c.odd([shape[-1:]], [(7,)])})"
    elif name == "KLDiv":
        options = c.options(log_target=c.may(True, 0.4))
        reduction = c.options(reduction=c.one("batchmean", "sum", "none", "mean"))
    elif name == "PoissonNLL":
        options = c.options(log_input=c.may(False, 0.3), full=c.may(True, 0.3))
        y = f"torch.randint(0, 4, {shape}).float()"
    elif name == "GaussianNLL":
        options = c.options(full=c.may(True, 0.3), eps=c.may(c.odd([1e-3], [0.0, -1.0]), 0.2))
        return f"nn.GaussianNLLLoss({(options + reduction)[2:]})", [
            x,
            y,
            c.odd(
                [f"torch.rand({size}, dtype=torch.{c.floats()})" for size in (shape, (*shape[:-1], 1))] + ["0.5"],
                [f"-torch.rand({shape})", "-1.0", "torch.rand(7)"],
            ),
        ]
    elif name == "SoftMargin":
        y = c.odd([label + ".float()"], [label])
    elif name == "HingeEmbedding":
        y, options = c.odd([label], [label + ".float()"]), c.options(margin=c.may(c.one(0.5, 2)))
    elif name == "MultiLabelSoftMargin":
        y = c.odd([f"torch.randint(0, 2, {shape}).float()"], [f"torch.randint(0, 2, {shape})"])
        options = f", weight=torch.rand({shape[-1:]})" if c.flag(0.2) else ""
    elif name in ("MultiLabelMargin", "MultiMargin"):
        classes = shape[-1] if shape else 1
        y = c.indices(shape, classes, -1) if name == "MultiLabelMargin" else c.indices(shape[:-1], classes)
        if name == "MultiMargin":
            options = c.options(p=c.may(c.odd([1, 2], [3]), 0.4), margin=c.may(0.5, 0.3))
            options += f", weight=torch.rand({classes})" if c.flag(0.2) else ""
    elif name == "MarginRanking":
        return f"nn.MarginRankingLoss({(c.options(margin=c.may(0.5)) + reduction)[2:]})", [x, c.tensor(shape), label]
    elif name == "CosineEmbedding":
        options = c.options(margin=c.may(c.odd([0.5, -0.5], [2.0]), 0.4))
        return f"nn.CosineEmbeddingLoss({(options + reduction)[2:]})", [
            x,
            c.tensor(shape),
            f"(torch.randint(0, 2, {shape[:-1]}) * 2 - 1)",
        ]
    elif name == "TripletMargin":
        options = c.options(
            p=c.may(c.odd([1, 2, 3], [0]), 0.4), swap=c.may(True, 0.3), margin=c.may(c.odd([0.5], [0, -1.0]), 0.3)
        )
        return f"nn.TripletMarginLoss({(options + reduction)[2:]})", [x, c.tensor(shape), c.tensor(shape)]
    elif name == "TripletMarginWithDistance":
        options = c.options(swap=c.may(True, 0.3), margin=c.may(c.odd([0.5], [0, -1.0]), 0.3))
        return f"nn.TripletMarginWithDistanceLoss({(options + reduction)[2:]})", [x, c.tensor(shape), c.tensor(shape)]
    return f"nn.{name}Loss({(options + reduction)[2:]})", [x, y]


def class_loss(c: Chance) -> Case:
    classes = c.odd([1, 2, 3, 5], [0])
    rest = c.sizes(c.one(0, 0, 1, 2, 3))
    front = () if not rest and c.flag(0.2) else (c.size(),)
    kind = c.one("CrossEntropy", "CrossEntropy", "NLL")
    options = c.options(
        ignore_index=c.may(c.one(0, 1, -100, 7), 0.3),
        reduction=c.may(c.one("none", "sum", "mean"), 0.8),
        label_smoothing=c.may(c.odd([0.1, 0.5], [1.0, 2.0, -0.1]), 0.3) if kind == "CrossEntropy" else None,
    )
    if c.flag(0.3):
        options += f", weight=torch.rand({c.odd([classes], [classes + 1])}, dtype=torch.{c.floats()})"
    target = c.indices((*front, *rest), classes)
    if kind == "CrossEntropy" and c.flag(0.25):
        target = c.tensor((*front, classes, *rest))
    return f"nn.{kind}Loss({options[2:]})", [c.tensor((*front, classes, *rest)), target]


def ctc(c: Chance) -> Case:
    steps, count, classes, length = c.odd([3, 4, 5], [0, 1]), c.one(1, 2, 3), c.one(2, 3, 4), c.one(1, 2)
    options = c.options(
        blank=c.may(c.odd([0, 1], [-1, 9]), 0.3),
        reduction=c.may(c.one("none", "sum", "mean"), 0.6),
        zero_infinity=c.may(True, 0.4),
    )
    targets = f"torch.randint(1, {classes}, {(count, length)})"         # PyTorch writes past the end for those beyond
    lengths = [c.odd([steps], [0, steps + 1]) for _ in range(count)]
    return f"nn.CTCLoss({options[2:]})", [
        f"({c.tensor((steps, count, classes))}).log_softmax(-1)",
        targets,
        f"torch.tensor({lengths})",
        f"torch.tensor({[c.odd([length, max(length - 1, 0)], [length + 1]) for _ in range(count)]})",
    ]


def reshaped(c: Chance) -> Case:
    ndim = c.one(0, 1, 2, 3, 4)
    if c.flag():
        return f"nn.Flatten({c.odd([0, 1, -2], [3])}, {c.odd([-1, 1, 2], [5])})", [c.tensor(c.sizes(ndim))]
    a, b = c.size(), c.size()
    return f"nn.Unflatten({c.odd([1, -1], [0, 3])}, {c.odd([(a, b), (-1, b), (a, -1)], [(a, b + 1), (-1, -1)])})", [
        c.tensor((2, a * b))
    ]


def dropped(c: Chance) -> Case:
    name = c.one("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    return f"nn.{name}({c.odd([0.0, 1.0, 0.5, 0.2], [-0.1, 1.5])})", [c.tensor(c.sizes(c.one(1, 2, 3, 4, 5)))]


def composed(c: Chance) -> Case:
    dims = c.one(1, 2)
    channels = c.one(1, 2)
    shape = (2, channels, *(c.one(4, 5, 6) for _ in range(dims)))
    small = f"nn.Conv{dims}d({channels}, {channels}, 1)"
    parts = []
    for _ in range(c.one(2, 3)):
        parts.append(
            c.one(
                f"nn.Conv{dims}d({channels}, {channels}, {c.one(1, 2, 3)}, padding={c.one(1, 2)})",
                f"nn.BatchNorm{dims}d({channels})",
                "nn.ReLU()",
                "nn.Tanh()",
                f"nn.MaxPool{dims}d(2, 1)",
                f"nn.utils.parametrizations.weight_norm({small})",
                f"nn.utils.spectral_norm({small})",
                f"nn.utils.weight_norm({small})",
                f"nn.utils.parametrizations.spectral_norm({small})",
                f"nn.LazyConv{dims}d({channels}, 1)",
                f"nn.LazyBatchNorm{dims}d()",
                f"nn.GroupNorm(1, {channels})",
            )
        )
    return f"nn.Sequential({', '.join(parts)})", [c.tensor(shape)]


CASES = [
    conv,
    conv,
    conv,
    pool,
    pool,
    adaptive,
    unpool,
    norm,
    norm,
    layer_norm,
    group_norm,
    response_norm,
    recurrent,
    recurrent,
    packed,
    cell,
    linear,
    embedding,
    embedding_bag,
    embedding_bag,
    attention,
    dot_attention,
    transformer,
    activation,
    activation,
    padding,
    free_padding,
    resize,
    resize,
    grid,
    shuffled,
    blocks,
    distance,
    loss,
    loss,
    class_loss,
    ctc,
    reshaped,
    dropped,
    composed,
]


def program(rng: Random) -> list[str]:
    c = Chance(rng)
    text, arguments = rng.choice(CASES)(c)
    lines = [f"torch.manual_seed({rng.randrange(100)})"]
    module = text.startswith("nn.") and text.endswith(")")
    if module:
        lines.append(f"m = {text}")
        if c.dtype in ("float64", "float16"):
            lines.append(f"m = m.to(torch.{c.dtype})")
        if c.flag(0.15):
            lines.append("m.eval()")
    names = []
    for argument in arguments:
        if argument.startswith(("torch.", "(")) and not argument.startswith("(torch.randn"):
            names.append("xyzuvw"[len(names)])
            lines.append(f"{names[-1]} = {argument}")
        else:
            names.append(argument)
    call = f"{'m' if module else text}({', '.join(names)})"
    if "LSTM(" in text and "pack_" not in arguments[0]:
        call = f"(lambda y, state: (y * 1, state))(*{call})"        # y's own node is another one
    elif text in COMPOSED:
        call += " * 1"
    lines.append(f"out = {call}")
    lines.append("weigh = lambda t: (t ** 2 * torch.linspace(-1, 2, t.numel(), dtype=t.dtype).reshape(t.shape)).sum()")
    lines.append(
        "parts = [p for o in (out if isinstance(out, tuple) else [out]) for p in (o if isinstance(o, tuple) else [o])]"
    )
    wanted = [n for n in names if n in tuple("xyzuvw")]
    leaves = f"[t for t in [{', '.join([*wanted, *['*m.parameters()'] * module])}] if t.requires_grad]"
    exact = c.dtype not in ("float16", "float32")       # there, where sums cancel, only noise
    if exact:
        lines.append("total = sum(weigh(p) for p in parts if isinstance(p, torch.Tensor) and p.requires_grad)")
    if not exact:
        pass
    elif rng.random() < 0.5:
        lines.append("total.backward()")
    else:
        grads = f"torch.autograd.grad(total, {leaves}, create_graph=True, allow_unused=True)"
        lines.append(f"again = sum(weigh(g) for g in {grads} if g is not None and g.requires_grad)")
        lines.append("again.backward()")
    if module and c.dtype != "float16" and rng.random() < 0.3:
        lines.append("s = m.state_dict()")
        lines.append(f"n = {text}" + f".to(torch.{c.dtype})" * (c.dtype == "float64"))
        lines.append("loaded = n.load_state_dict(s)")
        lines.append(rng.choice(["n.train()", "n.eval()"]))
        lines.append(call.replace("m(", "n(", 1))
    elif rng.random() < 0.2:
        lines.append(call)
    return lines
