"""What inputs `a` and output gradient `delta` say about the weights of each kind of function.

A function without a rule of its own is run again, one vector-Jacobian product per sample (again.py).

N batch, T tokens or positions, I in, O out, C channels.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any

from .arguments import bind, embedding_arguments
from .batches import along, batch_axis, no_batch, samples_first
from .products import layer_norm, token_sums
from .rules import Refused, Rule, Terms, conjugated, distinct, entry, expect, roles, whole, wide
from .runs import Use
from .sources import ROWS, Leaf, Made, Source, pull_aligned
from .terms import Blocks, Dense, Outer, Rows, Term, Whole


class Linear(Rule):
    """F.linear(a, weight, bias): a (..., I), delta (..., O)."""

    kind = "linear"
    complex = True
    holds = True

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        x, w, b = bind(("input", "weight", "bias"), args, kwargs)
        if w.ndim != 2 or not roles(use, tracked, {"weight": w, "bias": b}, args, kwargs):
            return False
        self.take(use, (x,), {})
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        if "weight" in use.sources:
            use.keep(args[0] if args else kwargs["input"])

    def terms(self, T: Any, use: Use) -> Terms:
        return product(T, use, turned=False)


class Matmul(Rule):
    """a @ weight with weight (I, O), of one, two or more dims of a."""

    kind = "matmul"
    complex = True
    holds = True

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        if kwargs or len(args) != 2 or args[1].ndim != 2 or args[0].ndim < 2:
            return False
        if not roles(use, tracked, {"weight": args[1]}, args, kwargs):
            return False
        self.take(use, args, kwargs)
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        use.keep(args[0])

    def terms(self, T: Any, use: Use) -> Terms:
        return product(T, use, turned=True)


ADDMM = ("input", "mat1", "mat2")


class Addmm(Rule):
    """torch.addmm(bias, a, weight): a (N, I), weight (I, O), bias (O,) or what broadcasts from it."""

    kind = "matmul"
    complex = True
    holds = True

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        b, x, w = bind(ADDMM, args, kwargs)[:3]
        if len(args) + len(kwargs) != 3 or b.ndim != 1 or id(x) in tracked or not roles(
                use, tracked, {"bias": b, "weight": w}, args, kwargs):
            return False
        self.take(use, args, kwargs)
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        use.keep(bind(ADDMM, args, kwargs)[1] if "weight" in use.sources else None)

    def terms(self, T: Any, use: Use) -> Terms:
        return product(T, use, turned=True)


def product(T: Any, use: Use, turned: bool) -> Terms:
    """Terms of linear maps; turned: the weight is (I, O)."""
    delta = use.delta
    grouped = samples_first(use, delta, 1)
    found: Terms = []
    why = None if grouped is not None else no_batch(use, tuple(delta.shape))
    N = grouped.shape[0] if grouped is not None else 1
    weight = use.sources.get("weight")
    if weight is not None:
        def factors() -> tuple[Any, Any]:
            x = use.input
            a = x if x.dtype == delta.dtype else x.to(delta.dtype)     # as autocast did
            if grouped is None:
                a, d = a.reshape(1, -1, a.shape[-1]), delta.reshape(1, -1, delta.shape[-1])
            else:
                a, d = samples_first(use, a, 1), grouped
            a, d = conjugated(wide(a)), wide(d)
            return (d, a) if turned else (a, d)

        term: Term = Outer(T, N, weight.shape, factors, use.fresh)
        found.append((weight, whole(T, term, why)))
    bias = use.sources.get("bias")
    if bias is not None:
        def sums() -> Any:
            return token_sums(T, wide(delta.reshape(1, -1, delta.shape[-1]) if grouped is None else grouped))

        def tokens() -> Any:
            return wide(grouped)
        found.append((bias, whole(T, Dense(T, N, bias.shape, sums, tokens), why)))
    return found


CONV = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")


class Conv(Rule):
    """F.conv1d, 2d, 3d: input (N, C, *S) or (C, *S), weight (O, C/groups, *K), delta (N, O, *S').

    As a linear map of patches: Chellapilla et al. 2006.
    """

    kind = "conv"
    complex = True
    holds = True

    def __init__(self, dims: int) -> None:
        self.dims = dims

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        _, w, b, *_ = bind(CONV, args, kwargs)
        if not roles(use, tracked, {"weight": w, "bias": b}, args, kwargs):
            return False
        self.take(use, args, kwargs)
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        x, w, _, *how = bind(CONV, args, kwargs)
        use.keep(x if "weight" in use.sources else None)
        use.meta = (tuple(w.shape[2:]), *how)

    def terms(self, T: Any, use: Use) -> Terms:
        delta = use.delta
        batched = delta.ndim == self.dims + 2
        if not batched:
            delta = delta.unsqueeze(0)
        B = delta.shape[0]
        N = use.grouped(B) if batched else None
        why = None if N is not None else no_batch(use, tuple(use.delta.shape))
        N = N or 1
        kernel, stride, padding, dilation, groups = use.meta
        groups = groups or 1
        found: Terms = []
        weight = use.sources.get("weight")
        if weight is not None:
            cell: list[Any] = []

            def patches() -> tuple[Any, Any]:
                if not cell:
                    x = (use.input if batched else use.input.unsqueeze(0)).to(delta.dtype)
                    a = conjugated(unfolded(T, x, kernel, stride, padding, dilation))   # (N, T, C, K)
                    cell.append((wide(a), wide(delta.reshape(B, groups, delta.shape[1] // groups, -1))))
                made: tuple[Any, Any] = cell[0]
                return made

            def part(k: int) -> tuple[Any, Any]:
                a, d = patches()
                C = a.shape[2] // groups
                a = a[:, :, k * C:(k + 1) * C].reshape(B, a.shape[1], -1)
                d = d[:, k].transpose(1, 2)
                if N != B:
                    a, d = a.reshape(N, -1, a.shape[-1]), d.reshape(N, -1, d.shape[-1])
                return a, d

            O, I = weight.shape[0], math.prod(weight.shape[1:])
            parts: list[Term] = [Outer(T, N, (O // groups, I), partial(part, k), use.fresh) for k in range(groups)]
            if groups == 1:
                term = expect(weight, parts[0])
            else:
                term = Blocks(T, parts, weight.shape)
            found.append((weight, whole(T, term, why)))
        bias = use.sources.get("bias")
        if bias is not None:
            def sums() -> Any:
                d = wide(delta.reshape(B, delta.shape[1], -1)).sum(2)
                return d if N == B else d.reshape(N, -1, d.shape[-1]).sum(1)

            def tokens() -> Any:
                d = wide(delta.reshape(B, delta.shape[1], -1)).transpose(1, 2)
                return d if N == B else d.reshape(N, -1, d.shape[-1])
            found.append((bias, whole(T, Dense(T, N, bias.shape, sums, tokens), why)))
        return found


def unfolded(T: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """x (N, C, *S) -> (N, T, C, prod(K)): the patch under each position of the output."""
    dims = len(kernel)
    stride, dilation = several(stride, dims, 1), several(dilation, dims, 1)
    pads: list[int] = []
    for i in reversed(range(dims)):
        if padding == "same":
            total = dilation[i] * (kernel[i] - 1)
            pads += [total // 2, total - total // 2]
        else:
            p = 0 if padding == "valid" else several(padding, dims, 0)[i]
            pads += [p, p]
    if any(pads):
        x = T.nn.functional.pad(x, pads)
    N, C = x.shape[:2]
    for i in range(dims):
        x = x.unfold(2 + i, dilation[i] * (kernel[i] - 1) + 1, stride[i])
        if dilation[i] > 1:
            x = x[..., ::dilation[i]]
    order = [0, *range(2, 2 + dims), 1, *range(2 + dims, 2 + 2 * dims)]
    return x.permute(*order).reshape(N, -1, C, math.prod(kernel))


def several(value: Any, dims: int, default: int) -> tuple[int, ...]:
    """One number for each dim."""
    if value is None:
        value = default
    found = (int(value),) if isinstance(value, int) else tuple(int(v) for v in value)
    return found * dims if len(found) == 1 else found


class Embedding(Rule):
    """F.embedding: ids (...), weight (V, E), delta (..., E)."""

    kind = "embedding"
    complex = True

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        _, w, _, _ = embedding_arguments(use.func, args, kwargs)
        if not roles(use, tracked, {"weight": w}, args, kwargs):
            return False
        self.take(use, args, kwargs)
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        ids, _, padding, scale = embedding_arguments(use.func, args, kwargs)
        use.keep(ids)
        use.meta = (padding, scale)

    def terms(self, T: Any, use: Use) -> Terms:
        padding, scale = use.meta
        if scale:
            raise Refused("scale_grad_by_freq divides by how often a row occurs in the whole batch, so samples have no "
                          "gradient of their own; switch it off")
        weight, ids, delta = use.sources["weight"], use.input.long().clone(), use.delta
        V = weight.shape[0]
        if padding is not None:
            ids = T.where(ids == padding, T.full_like(ids, V), ids)
        grouped = samples_first(use, delta, 1)
        why = None
        if grouped is None:
            why = no_batch(use, tuple(delta.shape))
            ids, grouped = ids.reshape(1, -1), delta.reshape(1, -1, delta.shape[-1])
        else:
            ids = samples_first(use, ids.unsqueeze(-1), 1).squeeze(-1)
        return [(weight, whole(T, Rows(T, ids, wide(grouped), weight.shape), why))]


class Norm(Rule):
    """weight * xhat + bias: xhat is the input normalized over something.

    over "last": the weight has the shape of the last dims; over "channels": (N, C, ...).
    """

    kind = "norm"

    def __init__(self, name: str) -> None:
        self.name = name
        self.holds = name in ("layer_norm", "rms_norm", "group_norm")

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        _, w, b, _ = getattr(self, self.name)(use, args, kwargs)
        if not roles(use, tracked, {"weight": w, "bias": b}, args, kwargs):
            return False
        self.take(use, args, kwargs)
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        x, _, _, use.meta = getattr(self, self.name)(use, args, kwargs)
        use.keep(x if "weight" in use.sources else None)

    def layer_norm(self, use: Use, args: Any, kwargs: Any) -> Any:
        x, shape, w, b, eps = bind(("input", "normalized_shape", "weight", "bias", "eps"), args, kwargs)
        n = 1 if isinstance(shape, int) else len(shape)
        return x, w, b, ("last", n, "layer_norm", (shape, None, None, 1e-5 if eps is None else eps))

    def rms_norm(self, use: Use, args: Any, kwargs: Any) -> Any:
        x, shape, w, eps = bind(("input", "normalized_shape", "weight", "eps"), args, kwargs)
        n = 1 if isinstance(shape, int) else len(shape)
        return x, w, None, ("last", n, "rms_norm", (shape, None, eps))

    def group_norm(self, use: Use, args: Any, kwargs: Any) -> Any:
        x, groups, w, b, eps = bind(("input", "num_groups", "weight", "bias", "eps"), args, kwargs)
        return x, w, b, ("channels", 1, "group_norm", (groups, None, None, 1e-5 if eps is None else eps))

    def batch_norm(self, use: Use, args: Any, kwargs: Any) -> Any:
        x, mean, var, w, b, training, _, eps = bind(
            ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"), args, kwargs)
        return self.measured(use, x, mean, var, w, b, bool(training), 1e-5 if eps is None else eps)

    def instance_norm(self, use: Use, args: Any, kwargs: Any) -> Any:
        x, mean, var, w, b, own, _, eps = bind(
            ("input", "running_mean", "running_var", "weight", "bias", "use_input_stats", "momentum", "eps"), args, kwargs)
        eps = 1e-5 if eps is None else eps
        if own is None or own:
            return x, w, b, ("channels", 1, "instance_norm", (None, None, None, None, True, 0.1, eps))
        return self.measured(use, x, mean, var, w, b, False, eps)

    def measured(self, use: Use, x: Any, mean: Any, var: Any, w: Any, b: Any, training: bool, eps: float) -> Any:
        if training:
            use.training = use.run.mixes = True
            return x, w, b, ("channels", 1, "batch_norm", (None, None, None, None, True, 0.0, eps))
        return x, w, b, ("channels", 1, None, (mean.detach().clone(), var.detach().clone(), eps))

    def terms(self, T: Any, use: Use) -> Terms:
        over, dims, name, how = use.meta
        delta = use.delta
        found: Terms = []
        if over == "last":
            grouped = samples_first(use, delta, dims)
        else:
            groups = use.grouped(delta.shape[0]) if delta.ndim > 1 else None
            grouped = None if groups is None else by_channel(delta, groups)
        why = no_batch(use, tuple(delta.shape)) if grouped is None else None
        if grouped is None:
            features = tuple(delta.shape[delta.ndim - dims:]) if over == "last" else ()
            d = delta.reshape(1, -1, *features) if over == "last" else channels_last(delta)
            N = 1
        else:
            d, N = grouped, grouped.shape[0]

        def normalised() -> Any:
            f = T.nn.functional
            a = use.input
            if name is None:
                mean, var, eps = how
                shape = (1, -1) + (1,) * (a.ndim - 2)
                a = (a - mean.reshape(shape)) / (var.reshape(shape) + eps).sqrt()
            else:
                if a.dtype != delta.dtype and name != "batch_norm":
                    a = a.to(delta.dtype)
                a = layer_norm(T, a, how[0], how[3]) if name == "layer_norm" else getattr(f, name)(a, *how)
            if over == "last":
                return a.reshape(d.shape) if grouped is None else samples_first(use, a, dims)
            return channels_last(a) if grouped is None else by_channel(a, N)

        weight, bias = use.sources.get("weight"), use.sources.get("bias")
        if weight is not None:
            def scaled() -> Any:
                return wide(d) * wide(normalised())
            term: Term = Dense(T, N, weight.shape, lambda: token_sums(T, wide(d), wide(normalised())), scaled)
            found.append((weight, whole(T, term, why)))
        if bias is not None:
            term = Dense(T, N, bias.shape, lambda: token_sums(T, wide(d)), lambda: wide(d))
            found.append((bias, whole(T, term, why)))
        return found


def by_channel(t: Any, N: int) -> Any:
    """(B, C, ...) -> (N, T, C): T positions, of B / N entries"""
    t = t.reshape(*t.shape[:2], -1).transpose(1, 2)
    return t if t.shape[0] == N else t.reshape(N, -1, t.shape[-1])


def channels_last(t: Any) -> Any:
    """(B, C, ...) or (C, ...) -> (1, everything else, C)"""
    if t.ndim > 1:
        t = t.reshape(*t.shape[:2], -1).transpose(1, 2)
    return t.reshape(1, -1, t.shape[-1])


class Elementwise(Rule):
    """weight + a, a - weight, weight * a, ... broadcast: delta, times what the other operand says."""

    kind = "elementwise"
    complex = True

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, use: Use, args: Any, kwargs: Any, out: Any, tracked: dict[int, Source]) -> bool:
        if kwargs or len(args) != 2 or (id(args[0]) in tracked) == (id(args[1]) in tracked):
            return False
        first = id(args[0]) in tracked
        if self.name == "mul" and not hasattr(args[1 if first else 0], "detach"):
            return False
        use.sources["weight"] = tracked[id(args[0] if first else args[1])]
        self.take(use, args, kwargs)
        return True

    def take(self, use: Use, args: Any, kwargs: Any) -> None:
        first = args[0] is use.sources["weight"].tensor
        if self.name == "mul":
            use.keep(args[1 if first else 0])
        use.meta = -1 if self.name == "sub" and not first or self.name == "rsub" and first else 1      # rsub: second - first

    def axes(self, use: Use) -> list[Any]:
        """Of the output, the axis of the batch."""
        return [batch_axis(use, shape) for shape in use.shapes]

    def terms(self, T: Any, use: Use) -> Terms:
        source, delta = use.sources["weight"], use.delta
        shape = source.shape
        axis = self.axes(use)[0]
        ahead = delta.ndim - len(shape)

        def change() -> Any:
            g = wide(delta)
            if self.name == "mul":
                g = g * conjugated(wide(use.input.to(delta.dtype)))
            g = g.real if g.is_complex() and not source.tensor.is_complex() else g
            return g if use.meta == 1 else -g

        if axis is None:
            return [(source, Whole(T, shape, lambda: sum_to(change(), shape), no_batch(use, tuple(delta.shape))))]
        N, at = use.run.size or 1, 0 if axis == "rows" else axis
        length = delta.shape[at]
        inside = at >= ahead                    # is the source as long there, or 1?
        if inside and shape[at - ahead] == length and length > 1:      # each sample has its own part of the source
            if axis == "rows":
                return [(source, Whole(T, shape, lambda: sum_to(change(), shape), no_batch(use, tuple(delta.shape))))]

            if axis == ahead and self.name != "mul" and use.meta == 1 and shape == tuple(delta.shape):
                looked_up = rows_below(T, source, N, delta)
                if looked_up is not None:
                    return [looked_up]

            def own() -> Any:
                return pull_aligned(T, source, sum_to(change(), shape), axis - ahead, N)
            return [(leaf, Dense(T, N, leaf.shape, entry(own, leaf.number))) for leaf in distinct(source)]

        def sums() -> Any:
            g = along(change(), axis, N)
            rest = list(shape)
            if inside:                          # a length of 1 there
                rest.pop(at - ahead)
            return sum_to(g, (N, *([1] * (g.ndim - 1 - len(rest))), *rest)).reshape(N, *shape)
        return [(source, Dense(T, N, shape, sums))]


def rows_below(T: Any, source: Source, N: int, delta: Any) -> tuple[Source, Term] | None:
    """The term of a parameter of which source (N, ..., E) is a lookup of constant rows (positions); None for another source."""
    if not isinstance(source, Made) or source.name not in ROWS or len(source.parents) != 1:
        return None
    leaf = next(iter(source.parents.values()))
    if not isinstance(leaf, Leaf):
        return None
    ids, _, padding, _ = embedding_arguments(source.func, source.args, source.kwargs)
    ids = ids.detach().long().reshape(N, -1)
    if padding is not None:
        ids = T.where(ids == padding, T.full_like(ids, leaf.shape[0]), ids)
    return leaf, Rows(T, ids, wide(delta).reshape(N, ids.shape[1], -1), leaf.shape)


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """g summed over what was broadcast from `shape`."""
    ahead = g.ndim - len(shape)
    if ahead:
        g = g.sum(tuple(range(ahead)))
    over = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(over, keepdim=True) if over else g


RULES: dict[str, Rule] = {
    "linear": Linear(), "matmul": Matmul(), "mm": Matmul(), "addmm": Addmm(), "embedding": Embedding(),
    "conv1d": Conv(1), "conv2d": Conv(2), "conv3d": Conv(3),
    "layer_norm": Norm("layer_norm"), "rms_norm": Norm("rms_norm"), "group_norm": Norm("group_norm"),
    "batch_norm": Norm("batch_norm"), "instance_norm": Norm("instance_norm"),
    "add": Elementwise("add"), "add_": Elementwise("add"), "sub": Elementwise("sub"), "sub_": Elementwise("sub"),
    "rsub": Elementwise("rsub"), "mul": Elementwise("mul"),
}
