"""One backward pass for a batch of gradients: is_grads_batched=True, rows of Jacobians.

NOTE [Rows]
In such a pass a gradient has one dim more, the first; what nodes keep is as ever.  RULES says what a node's rule is for all
rows at once: for what goes element by element it is the rule itself, of kept values that are expanded; for shapes, sums and
products the same with a dim in front.  Any other node runs its rule row by row.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import promote
from .._engine.nary import Many, Nary
from .._engine.op import A, B, Binary, Identity, Unary, Y, check_watched, fit
from .._engine.saved import freed, use, use_output
from .._engine.tensor import wrap
from .._rules import (
    activation,
    affine,
    arith,
    binary,
    cast,
    choose,
    conv,
    create,
    extremes,
    join,
    linalg,
    moment,
    norm,
    pad,
    pointwise,
    pool,
    reduce,
    scan,
    shape,
    slices,
    softmax,
    special,
)
from .._rules.inert_inputs import tied

ALL = (slice(None),)
Rule = Callable[[Any, Any, list[bool], bool], Any]          # (node, g or gs, want, graph) -> gradients; None: row by row


class Rows:
    """Makes the gradients of a pass for `count` rows."""

    def __init__(self, count: int) -> None:
        self.count = count

    def gradients(self, node: Any, gs: list[Any], want: list[bool], graph: bool) -> list[Any]:
        """For each edge of the node the rows of its gradient; None where nobody wants it."""
        given = [g for g in gs if g is not None]
        if not given or not any(want):
            return [None] * len(want)
        rule = RULES.get(type(node))
        real = all((g.array if graph else g).dtype.kind != "c" for g in given)
        got = rule(node, gs if isinstance(node, Many) else gs[0], want, graph) if rule is not None and real else None
        return self.one_by_one(node, gs, want, graph) if got is None else got if isinstance(got, list) else [got]

    def one_by_one(self, node: Any, gs: list[Any], want: list[bool], graph: bool) -> list[Any]:
        rows = []
        for k in range(self.count):
            g = [None if g is None else g[k] if graph else g[k, ...] for g in gs]
            if isinstance(node, Unary):
                rows.append([node.rule(g[0], graph)])
            elif isinstance(node, Binary):
                rows.append(list(node.rules(g[0], graph, want[0], want[1])))
            else:
                rows.append(node.rules(g[0], graph, want) if isinstance(node, Nary) else node.backward(g, graph))
        return [_stacked(column) if wanted else None for column, wanted in zip(zip(*rows), want)]


def _stacked(column: Any) -> Any:
    found = [g for g in column if g is not None]
    if not found:
        return None
    return join.stack([create.zeros_like(found[0]) if g is None else g for g in column], 0)


def sizes(x: Any) -> Any:
    return x.array.shape if hasattr(x, "array") else x.shape


def _led(x: Any, n: int, ndim: int) -> Any:
    """What was kept, as if for n rows of ndim dims; numbers as they are."""
    if not hasattr(x, "ndim"):
        return x
    had = sizes(x)
    if len(had) < ndim:
        x = shape.reshape(x, (1,) * (ndim - len(had)) + had) if hasattr(x, "array") else x.reshape((1,) * (ndim - len(had)) + had)
    return shape.expand(x, (n, *sizes(x)))


def _fitted(g: Any, to: Any, dtype: Any) -> Any:
    """fit() of each row."""
    if g is None:
        return None
    had = sizes(g)
    got = fit(g, (had[0],) + (1,) * (len(had) - 1 - len(to)) + to, dtype)
    return got if len(had) == 1 + len(to) else shape.reshape(got, (had[0], *to))


def _check(node: Any) -> None:
    if node.freed:
        raise freed()
    if node._watched is not None:
        check_watched(node)


def _rule_of(node: Any, rule: Any, g: Any, graph: bool) -> Any:
    """rule(g, x, y) of what node kept."""
    _check(node)
    n = sizes(g)[0]
    x = use(node.x, node.x_edits, node, graph) if node.keep & A else None
    y = use_output(node.y, node.y_version, node.y_edits, node, 0, graph) if node.keep & Y else None
    return rule(g, *[None if v is None else _led(v, n, len(sizes(v))) for v in (x, y)])


def _unary(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    got = _rule_of(node, node.grad, g, graph)
    return None if sizes(got) != sizes(g) else got


def _trailing(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    """The rule looks at the last dims alone."""
    return _rule_of(node, node.grad, g, graph)


def _kept(node: Any, graph: bool) -> Any:
    _check(node)
    b = use(node.b, node.b_edits, node, graph) if node.keep & B else None
    a = use(node.a, node.a_edits, node, graph) if node.keep & A else None
    return a, b, use_output(node.y, node.y_version, node.y_edits, node, 0, graph) if node.keep & Y else None


def _binary(node: Any, g: Any, want: list[bool], graph: bool) -> list[Any]:
    n, *rest = sizes(g)
    a, b, y = [_led(x, n, len(rest)) for x in _kept(node, graph)]
    out = [node.grad_a(g, a, b, y) if want[0] else None, node.grad_b(g, a, b, y) if want[1] else None]
    if node.unlike is not None:
        sa, da, sb, db = node.unlike
        out = [_fitted(out[0], sa, da), _fitted(out[1], sb, db)]
    return out


def _inputs(node: Any, graph: bool) -> list[Any]:
    _check(node)
    return [use(x, edits, node, graph) for x, edits in zip(node.kept, node.edits)]


def _nary(node: Any, g: Any, want: list[bool], graph: bool) -> list[Any]:
    n, *rest = sizes(g)
    outs = node.grads(g, [_led(x, n, len(rest)) for x in _inputs(node, graph)], None, want)
    return [_fitted(x, *like) if wanted else None for x, like, wanted in zip(outs, node.like, want)]


RULES: dict[type, Rule] = {}
for _module in (pointwise, arith, activation, special, binary, choose):
    for _kind in vars(_module).values():
        for _base, _found in ((Unary, _unary), (Binary, _binary), (Nary, _nary)):
            if isinstance(_kind, type) and issubclass(_kind, _base):
                RULES[_kind] = _found
for _kind in (create.CloneBackward0, cast.ToCopyBackward0, shape.AliasBackward0):
    RULES[_kind] = _unary
for _kind in (activation.GluBackward0, binary.MaskedFillBackward1):
    del RULES[_kind]


def _rule(*kinds: Any) -> Callable[[Rule], Rule]:
    def note(rule: Rule) -> Rule:
        for kind in kinds:
            RULES[kind] = rule
        return rule
    return note


@_rule(Identity)
def _same(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return node.backward([g], graph)


# Shapes

@_rule(
    shape.ViewBackward0, shape.ReshapeAliasBackward0, shape.UnsafeViewBackward0, shape.SqueezeBackward0, shape.SqueezeBackward1,
    shape.SqueezeBackward2, shape.SqueezeBackward3, shape.SqueezeBackward4, shape.SqueezeBackward5)
def _reshaped(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return shape.fold(g, (sizes(g)[0], *node.was))


@_rule(shape.UnsqueezeBackward0, shape.UnsqueezeBackward1)
def _unsqueezed(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return shape.squeeze_dim(g, node.dim + 1 if node.dim >= 0 else node.dim)


@_rule(shape.ExpandBackward0)
def _expanded(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return _fitted(g, node.was, (g.array if graph else g).dtype)


@_rule(shape.TBackward0, shape.TBackward1)
def _turned(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return shape.mT(g) if len(sizes(g)) == 3 else g


@_rule(shape.TransposeBackward0, shape.TransposeBackward1)
def _transposed(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    if len(sizes(g)) == 1:
        return g
    return shape.transpose(g, *[d + 1 if d >= 0 else d for d in (node.dim0, node.dim1)])


@_rule(shape.PermuteBackward0)
def _permuted(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    back = [0] * len(node.dims)
    for i, d in enumerate(node.dims):
        back[d] = i + 1
    return shape.permute(g, (0, *back))


@_rule(slices.SelectBackward0)
def _selected(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    where = ALL * (node.dim + 1) + (node.index,)
    return slices.SelectBackwardBackward0(where, (sizes(g)[0], *node.was)).run(g)


@_rule(slices.SliceBackward0, slices.NarrowCopyBackward0)
def _sliced(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return slices.SliceBackwardBackward0(ALL + node.where(), (sizes(g)[0], *node.was)).run(g)


@_rule(slices.PutBackward0, slices.SelectBackwardBackward0, slices.SliceBackwardBackward0)
def _put(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return slices.take(g, ALL + node.where) if type(node.where) is tuple else None


@_rule(slices.TakeBackward0)
def _taken(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return slices.put(g, ALL + node.where, (sizes(g)[0], *node.was)) if type(node.where) is tuple else None


@_rule(join.CatBackward0)
def _cat(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    if 0 in node.ends:
        return None
    twin = join.CatBackward0(node.dim + 1, node.dtype)
    twin.ends = node.ends
    return [_fitted(x, *like) if wanted else None for x, like, wanted in zip(twin.grads(g, [], None, want), node.like, want)]


@_rule(join.StackBackward0)
def _stack(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    outs = join.StackBackward0(node.dim + 1, node.dtype).grads(g, [], None, want)
    return [_fitted(x, *like) if wanted else None for x, like, wanted in zip(outs, node.like, want)]


@_rule(
    join.SplitBackward0, join.UnsafeSplitBackward0, join.SplitWithSizesBackward0, join.UnsafeSplitWithSizesBackward0,
    join.UnbindBackward0)
def _split(node: Any, gs: list[Any], want: list[bool], graph: bool) -> Any:
    some = next(g for g in gs if g is not None)
    n, dtype = sizes(some)[0], (some.array if graph else some).dtype
    whole = []
    for g, (had, _) in zip(gs, node.like):
        zeros = np.zeros((n, *had), dtype)
        whole.append(g if g is not None else wrap(zeros) if graph else zeros)
    return (join.stack if isinstance(node, join.UnbindBackward0) else join.cat)(whole, node.dim + 1)


# Sums

@_rule(reduce.SumBackward0, reduce.SumBackward1, reduce.MeanBackward0, reduce.MeanBackward1)
def _summed(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    if getattr(node, "count", 0):
        g = promote.over(g, node.count)
    if node.dtype is not None:
        g = cast.cast(g, node.like)
    dims = getattr(node, "dim", range(len(node.was)))
    n = sizes(g)[0]
    return shape.expand(shape.reshape(g, (n, *[1 if i in dims else size for i, size in enumerate(node.was)])), (n, *node.was))


@_rule(softmax.SoftmaxBackward0, softmax.LogSoftmaxBackward0)
def _softmax(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    return _rule_of(node, type(node)(node.dim + 1).grad, g, graph) if len(sizes(g)) > 1 else None


@_rule(scan.CumsumBackward0)
def _cumsum(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    twin = scan.CumsumBackward0(node.dim + 1, node.dtype)
    twin.like = node.like
    return twin.grad(g, None, None) if len(sizes(g)) > 1 else None


@_rule(moment.LogsumexpBackward0, moment.VarBackward0, moment.StdBackward0, extremes.AmaxBackward0, extremes.AminBackward0)
def _over_dims(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    dims = range(len(sizes(node.x))) if node.dim is None else node.dim
    if not dims:
        return None
    shifted = tuple(d + 1 for d in dims)
    spread = isinstance(node, moment.Spread)
    twin = type(node)(shifted, node.correction, node.keepdim) if spread else type(node)(shifted, node.keepdim)
    return _rule_of(node, twin.grad, g, graph)


# Layers

for _kind in (
        pool.AvgPool2DBackward0, pool.AvgPool3DBackward0, pool.SpreadOver, pool.AdaptiveAvgPool2DBackward0,
        pool.AdaptiveAvgPool3DBackward0, pool.ResampledBack, pad.ConstantPadNdBackward0):
    RULES[_kind] = _trailing


@_rule(pool.MaxPool2DWithIndicesBackward0, pool.MaxPool3DWithIndicesBackward0, pool.AdaptiveMaxPool2DBackward0,
       pool.AdaptiveMaxPool3DBackward0)
def _max_pool(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    if node.hollow:
        return None

    def rule(g: Any, x: Any, y: Any) -> Any:
        title = pool.doubled(node.name())
        where = np.broadcast_to(node.where, (sizes(g)[0], *node.where.shape))
        return tied(pool.PlaceAt(where, sizes(x)[-len(node.taps):], node.overlap, title).run(g), [x], title)
    return _rule_of(node, rule, g, graph)


@_rule(conv.ConvolutionBackward0)
def _convolution(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    x, w, _ = _inputs(node, graph)
    n, batch, *rest = sizes(g)
    out: list[Any] = [None, None, None]
    if want[0]:
        made = (conv.ConvolutionY if node.transposed else conv.ConvolutionX)(node.geo).run(shape.fold(g, (n * batch, *rest)), w)
        out[0] = shape.reshape(made, (n, batch, *sizes(made)[1:]))
    if want[1] and node.groups == 1 and not node.transposed:        # the rows are more channels
        channels = shape.fold(shape.permute(g, (1, 0, *range(2, len(rest) + 2))), (batch, n * rest[0], *rest[1:]))
        made = conv.ConvolutionW(node.geo).run(channels, x)
        out[1] = shape.reshape(made, (n, rest[0], *sizes(made)[1:]))
    elif want[1]:
        rows = [g[k] for k in range(n)]
        out[1] = join.stack([conv.ConvolutionW(node.geo).run(*((x, r) if node.transposed else (r, x))) for r in rows], 0)
    if want[2]:
        out[2] = tied(reduce.sum_dims(g, (1, *range(3, len(rest) + 2)), False), [x, w], "ConvolutionBackwardBackward0")
    return out


@_rule(norm.NativeLayerNormBackward0, norm.NativeBatchNormBackward0)
def _norm(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    xs = _inputs(node, graph)
    n, *rest = sizes(g)
    layer = isinstance(node, norm.NativeLayerNormBackward0)
    if norm.is_half(xs[0]):
        return None
    if not (layer or node.training):            # element by element
        return None if want[1] or want[2] else node.grads(g, xs, None, want)
    twin = norm.NativeLayerNormBackward0(node.over, node.eps) if layer else norm.Normalised(node.eps)
    twin.dims, twin.scale, twin.mean, twin.rstd = tuple(d + 1 for d in node.dims), node.scale, node.mean, node.rstd
    kept = tuple(range(1, 1 + len(rest) - len(node.over))) if layer else twin.dims
    out = twin.common(g, _led(xs[0], n, len(rest)) if graph else xs[0], xs[1], want, kept)
    out[2] = tied(out[2], xs[:2], f"{node.name()[:-9]}BackwardBackward0")
    return out


# Products: n, m, p as in linalg.py

def _times(g: Any, b: Any) -> Any:
    """g [rows, n, p] @ b.T"""
    k, n, p = sizes(g)
    return shape.reshape(linalg.mm(shape.fold(g, (k * n, p)), shape.t(b)), (k, n, sizes(b)[0]))


def _across(a: Any, g: Any) -> Any:
    """a.T @ g [rows, n, p]"""
    n, m = sizes(a)
    if n == 1:
        return shape.mT(shape.mT(g) * a)
    return shape.mT(linalg.bmm(shape.mT(g), shape.expand(shape.unsqueeze(a, 0), (sizes(g)[0], n, m))))


@_rule(linalg.MmBackward0)
def _mm(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    a, b, _ = _kept(node, graph)
    return [_times(g, b) if want[0] else None, _across(a, g) if want[1] else None]


@_rule(affine.AddmmBackward0)
def _addmm(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    node.settle()
    _, a, b = _inputs(node, graph)
    return [
        _fitted(node.first(g), *node.like[0]) if want[0] else None,
        node.scaled(_times(g, b)) if want[1] else None,
        node.scaled(_across(a, g)) if want[2] else None]


@_rule(linalg.BmmBackward0)
def _bmm(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    a, b, _ = _kept(node, graph)
    k, batch, n, p = sizes(g)
    out: list[Any] = [None, None]
    if want[0]:
        m = sizes(b)[1]
        rows = shape.fold(shape.permute(g, (1, 0, 2, 3)), (batch, k * n, p))
        out[0] = shape.permute(shape.reshape(linalg.bmm(rows, shape.mT(b)), (batch, k, n, m)), (1, 0, 2, 3))
    if want[1]:
        m = sizes(a)[2]
        columns = shape.fold(shape.permute(g, (1, 2, 0, 3)), (batch, n, k * p))
        out[1] = shape.permute(shape.reshape(linalg.bmm(shape.mT(a), columns), (batch, m, k, p)), (2, 0, 1, 3))
    return out


@_rule(linalg.MvBackward0)
def _mv(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    a, b, _ = _kept(node, graph)
    return [shape.unsqueeze(g, 2) * b if want[0] else None, linalg.mm(g, a) if want[1] else None]


@_rule(linalg.DotBackward0)
def _dot(node: Any, g: Any, want: list[bool], graph: bool) -> Any:
    a, b, _ = _kept(node, graph)
    return [shape.unsqueeze(g, 1) * b if want[0] else None, shape.unsqueeze(g, 1) * a if want[1] else None]
