"""Forward and rules of a node as functions of arrays; those that work element by element as single operations.

What stands here for a class must give the bits that its `forward` and rules give (`tests/compile` compares them).
A class that is not listed is not replayed.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .. import _kernels
from .._engine.nary import Nary
from .._engine.node import Node
from .._engine.op import OUT, A, B, Binary, Product, Unary, View, X, Y, fit, own_kind
from .._engine.tensor import TensorBase, wrap
from .._kernels import kernel
from .._rules import shape
from .._rules.linalg import product
from .._rules.loss import MEAN, Paired
from .._rules.reduce import MeanBackward0, MeanBackward1, SumBackward0, SumBackward1
from .values import DOUBLE, SINGLE, Entry, Refused, Value, of_array

ndarray: Final = np.ndarray
quick_linear: Final = kernel("linear")
quick_linear_grad: Final = kernel("linear_grad")
quick_relu_grad: Final = kernel("relu_grad")
quick_sigmoid: Final = kernel("sigmoid")
quick_sigmoid_grad: Final = kernel("sigmoid_grad")
quick_tanh_grad: Final = kernel("tanh_grad")
quick_bounds: Final = kernel("bounds")
NATIVE: Final = _kernels.nn is not None               # kernels take what lies as `plain_out` says

# Node classes that compute from nothing but their inputs and what the guards cover.
KNOWN: Final = set("""
    AddBackward0 SubBackward0 RsubBackward0 RsubBackward1 MulBackward0 DivBackward0 NegBackward0 ReciprocalBackward0
    PowBackward0 PowBackward1 PowBackward2
    ExpBackward0 Exp2Backward0 Expm1Backward0 LogBackward0 Log2Backward0 Log10Backward0 Log1PBackward0 SqrtBackward0
    RsqrtBackward0 AbsBackward0 SinBackward0 CosBackward0 TanBackward0 AsinBackward0 AcosBackward0 AtanBackward0
    SinhBackward0 CoshBackward0 TanhBackward0 AsinhBackward0 AcoshBackward0 AtanhBackward0 SigmoidBackward0
    ErfBackward0 SgnBackward0 SignBackward0 TanhBackwardBackward0 SigmoidBackwardBackward0
    ReluBackward0 LeakyReluBackward0 EluBackward0 CeluBackward0 GeluBackward0 SiluBackward0 MishBackward0
    SoftplusBackward0 LogSigmoidBackward0 HardsigmoidBackward0 HardswishBackward0
    MmBackward0 MvBackward0 DotBackward0 BmmBackward0 AddmmBackward0
    SumBackward0 SumBackward1 MeanBackward0 MeanBackward1
    SoftmaxBackward0 LogSoftmaxBackward0 MseLossBackward0 SmoothL1LossBackward0 HuberLossBackward0
    BinaryCrossEntropyWithLogitsBackward0
    ViewBackward0 ReshapeAliasBackward0 UnsafeViewBackward0 ExpandBackward0 TransposeBackward0 TBackward0
    PermuteBackward0 UnsqueezeBackward0 SqueezeBackward0 SqueezeBackward1 SelectBackward0 SliceBackward0
    SelectBackwardBackward0 SliceBackwardBackward0 PutBackward0 TakeBackward0
    StackBackward0 CatBackward0 CloneBackward0 CopiesBackward0
    ConvolutionBackward0 AvgPool2DBackward0 BaddbmmBackward0 AddcmulBackward0 SafeSoftmaxBackward0 MulBackward1
    ClampBackward1 ClampMinBackward0 HardtanhBackward0 LerpBackward0 MaximumBackward0 MinimumBackward0 PreluKernelBackward0
    GluBackward0 CumsumBackward0 TrilBackward0 TriuBackward0 AmaxBackward0 AminBackward0 LogsumexpBackward0 VarBackward0
    ThresholdBackwardBackward0 LeakyReluBackwardBackward0 HardtanhBackwardBackward0 HardshrinkBackwardBackward0
    SoftshrinkBackwardBackward0 ConvolutionX ConvolutionW ConvolutionY
    StdBackward0 LinalgVectorNormBackward0 RepeatBackward0 RollBackward0 FlipBackward0 ConstantPadNdBackward0
""".split())

UFUNCS: Final = {
    "ExpBackward0": "exp", "LogBackward0": "log", "SqrtBackward0": "sqrt", "SinBackward0": "sin", "CosBackward0": "cos",
    "TanhBackward0": "tanh", "NegBackward0": "negative", "AbsBackward0": "absolute", "Expm1Backward0": "expm1",
    "Log1PBackward0": "log1p",
}
ARITHMETIC: Final[dict[str, Any]] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}
BINARY: Final = {"AddBackward0": "add", "SubBackward0": "sub", "MulBackward0": "mul", "DivBackward0": "div"}


def array_of(y: Any) -> Any:
    return y if type(y) is ndarray else np.asarray(y)


# What the forward leaves in these nodes are shapes alone: a rule needs no forward before it.
SETTLED: Final = (Paired, Product, View, SumBackward0, SumBackward1, MeanBackward0, MeanBackward1)
KEPT: Final = {"x", "y", "a", "b", "kept", "_got", "_more", "_task", "_hooks", "_facts", "next", "nexts", "a_next", "b_next"}


FIELDS: Final[dict[type, tuple[str, ...]]] = {}        # of a class of nodes, but for KEPT and what all such nodes have


def fields_of(kind: Any) -> tuple[str, ...]:
    bases: tuple[Any, ...] = (Unary, Binary, Nary)
    common = {name for base in bases if issubclass(kind, base) for name in base.__mypyc_attrs__}
    return tuple([name for name in kind.__mypyc_attrs__ if name not in KEPT and name not in common])


def own_arrays(node: Node) -> bool:
    """Does it keep arrays or tensors that are neither its inputs nor its output?"""
    kind = type(node)
    names = FIELDS.get(kind)
    if names is None and hasattr(kind, "__mypyc_attrs__"):
        names = FIELDS[kind] = fields_of(kind)
    for name in set(vars(node)) - KEPT if names is None else names:
        if isinstance(getattr(node, name, None), (ndarray, TensorBase)):
            return True
    return node._watched is not None


class Lowering:
    """Adds entries to a trace."""

    def __init__(self, add: Callable[[Entry], None]) -> None:
        self.add = add
        self.twins: dict[int, Any] = {}         # node -> one like it that a plan may change

    # -- single operations

    def temp(self, like: Value) -> Value:
        return Value("made", like.shape, like.dtype)

    def each(self, op: str, args: list[Any], out: Value, name: str) -> Value:
        """One operation on elements: add sub mul div, of arrays or an array and a number; or a ufunc of one array."""
        self.add(Entry(name, EACH[op], args, [out], op))
        return out

    # -- forward

    def forward(self, node: Any, inputs: list[Any], out: Value, where: str) -> None:
        name = type(node).__name__
        if name == "NllLossBackward0" and len(inputs) == 2:
            nll = NllOf(node)
            self.twins[id(node)] = nll.node
            self.add(Entry(name, nll, inputs, [out], "", False, where))
            return
        if name == "MseLossBackward0" and self.squares(node, inputs, out, where):
            return
        if name not in KNOWN or own_arrays(node):
            raise Refused(f"{name.removesuffix('Backward0')} is not replayed yet")
        values = [x for x in inputs if isinstance(x, Value)]
        op = self.single(node, name, inputs, values, out)
        if op is not None:
            op.name, op.where = name, where
            self.add(op)
            return
        if isinstance(node, shape.Reshaped):
            fn: Any = Shaped(out.shape)
        elif isinstance(node, View):
            fn = node.forward
        elif isinstance(node, Unary):
            fn = OneOf(node)
        elif isinstance(node, Binary):
            fn = TwoOf(node)
        elif isinstance(node, Nary):
            fn = AllOf(node)
        else:
            raise Refused(f"{name} is not replayed yet")
        if name == "ExpandBackward0" and inputs[0].size == 1:
            out.full = inputs[0].full or inputs[0]
        self.add(Entry(name, fn, inputs, [out], "", False, where))

    def single(self, node: Any, name: str, inputs: list[Any], values: list[Value], out: Value) -> Entry | None:
        """The entry of one operation on elements; None where the node does something else, or lies otherwise."""
        if not plain_out(out) or not fits(values, out):
            return None
        if name in BINARY and len(inputs) == 2 and unscaled(node, name) and all(map(operand, inputs)):
            op = BINARY[name]
            return Entry(name, EACH[op], inputs, [out], op)
        if name == "RsubBackward1" and node.alpha == 1 and operand(node.number):
            return Entry(name, EACH["sub"], [float(node.number), inputs[0]], [out], "sub")
        straight = all(v.straight and v.shape == out.shape for v in values)
        if not straight:
            return None
        if name == "PowBackward0" and type(node.exponent) in (int, float) and node.exponent == 2:
            return Entry(name, EACH["mul"], [inputs[0], inputs[0]], [out], "mul")
        if name in UFUNCS:
            return Entry(name, OneOf(node), inputs, [out], UFUNCS[name])
        if name == "ReluBackward0":
            return Entry(name, OneOf(node), inputs, [out], "relu")
        if name == "SigmoidBackward0" and out.dtype is SINGLE and NATIVE:
            return Entry(name, OneOf(node), inputs, [out], "sigmoid")
        return None

    def squares(self, node: Any, inputs: list[Any], out: Value, where: str) -> bool:
        """mse_loss as its kernels compute it: was it one of theirs?"""
        a, b = inputs
        if _kernels.sub is None or node.reduction == 0 or not isinstance(a, Value) or not isinstance(b, Value):
            return False
        if a.shape != b.shape or not all(plain(v) and v.straight and v.dtype is a.dtype for v in (a, b)):
            return False
        d = self.each("sub", [a, b], self.temp(a), "mse_loss")
        y = self.each("mul", [d, d], self.temp(a), "mse_loss")
        self.add(Entry("mse_loss", Total(node.reduction == 1), [y], [out], "", False, where))
        return True

    def linear(self, b: Value, x: Value, w: Value, out: Value, where: str) -> None:
        self.add(Entry("linear", linear, [x, w, b], [out], "", False, where))

    # -- rules

    def rules(self, node: Any, g: Value, made: Any, wanted: list[int], arrays: list[Any], where: str) -> list[Value]:
        """Entries for the gradients number `wanted`, which were `arrays`; -> their values.

        made: (inputs, output) of the forward
        """
        name = type(node).__name__
        if name not in KNOWN and name != "NllLossBackward0":
            raise Refused(f"the rule of {name} is not replayed yet")
        inputs, y = made
        if isinstance(node, Unary):
            return [self.unary(self.twins.get(id(node), node), name, g, inputs[0], y, arrays[0], where)]
        if isinstance(node, Binary):
            return self.binary(node, name, g, inputs, y, wanted, arrays, where)
        if isinstance(node, Nary):
            if any(like is None for like in (node.like[i] for i in wanted)):
                raise Refused(f"the rule of {name} is not replayed yet")
            outs = [of_array(a) for a in arrays]
            xs = [x if node.reads >> i & 1 else None for i, x in enumerate(inputs)]
            args = [g, *xs, y if node.reads & OUT else None]
            self.add(Entry(name, GradsOf(node, len(xs), wanted), args, outs, "", False, where, y))
            return outs
        raise Refused(f"the rule of {name} is not replayed yet")

    def unary(self, node: Any, name: str, g: Value, x: Any, y: Any, array: Any, where: str) -> Value:
        out = of_array(array)
        if name in ("SumBackward0", "MeanBackward0") and node.dtype is None and g.size == 1 and g.dtype in (SINGLE, DOUBLE):
            if name == "MeanBackward0" and node.count:
                g = self.each("div", [g, float(node.count)], Value("made", g.shape, g.dtype), name)
            self.add(Entry(name, Expanded(node.was), [g], [out], "", False, where))
            out.full = g.full or g
            return out
        if name == "NegBackward0" and self.alike(g, [], out):
            return self.each("negative", [g], out, name)
        if self.alike(g, [v for v in (x, y) if v is not None], out):
            if name == "ExpBackward0":
                return self.each("mul", [g, y], out, name)
            if name == "LogBackward0":
                return self.each("div", [g, x], out, name)
            if name == "SqrtBackward0":
                return self.each("div", [g, self.each("mul", [y, 2.0], self.temp(out), name)], out, name)
            if name == "SinBackward0":
                return self.each("mul", [g, self.each("cos", [x], self.temp(out), name)], out, name)
            if name == "CosBackward0":
                minus = self.each("negative", [g], self.temp(out), name)
                return self.each("mul", [minus, self.each("sin", [x], self.temp(out), name)], out, name)
            if name == "PowBackward0" and type(node.exponent) in (int, float) and node.exponent == 2:
                return self.each("mul", [g, self.each("mul", [x, 2.0], self.temp(out), name)], out, name)
            if name == "ReluBackward0":
                return self.each("relu_grad", [g, y], out, name)
            if name == "TanhBackward0" and NATIVE:
                return self.each("tanh_grad", [g, y], out, name)
            if name == "SigmoidBackward0" and NATIVE:
                return self.each("sigmoid_grad", [g, y], out, name)
        if name == "RsubBackward1" and node.alpha == 1 and self.alike(g, [], out):
            return self.each("negative", [g], out, name)
        args = [g, x if node.keep & X else None, y if node.keep & Y else None]
        self.add(Entry(name, GradOf(node), args, [out], "", False, where, None if isinstance(node, SETTLED) else y))
        return out

    def binary(self, node: Any, name: str, g: Value, inputs: list[Any], y: Any, wanted: list[int], arrays: list[Any],
               where: str) -> list[Value]:
        a, b = inputs
        values = [v for v in (g, a, b) if isinstance(v, Value)]
        if name in BINARY and unscaled(node, name) and node.unlike is None and all(map(operand, inputs)) and all(
                plain_out(z) and fits(values, z) for z in map(of_array, arrays)):
            outs: list[Value] = []
            for i, array in zip(wanted, arrays):
                out = of_array(array)
                if name == "MulBackward0":
                    self.each("mul", [g, a if i else b], out, name)
                elif name == "DivBackward0" and i == 0:
                    self.each("div", [g, b], out, name)
                elif name == "DivBackward0":
                    minus = self.each("negative", [g], self.temp(out), name)
                    part = self.each("div", [self.each("div", [a, b], self.temp(out), name), b], self.temp(out), name)
                    self.each("mul", [minus, part], out, name)
                elif name == "SubBackward0" and i == 1:
                    self.each("negative", [g], out, name)
                else:
                    outs = []
                    break
                outs.append(out)
            if outs:
                return outs
        outs = [of_array(z) for z in arrays]
        if name == "MseLossBackward0" and node.unlike is None and all(isinstance(v, Value) for v in inputs):
            for i, out in zip(wanted, outs):
                self.add(Entry(name, MseOf(node, i == 1), [g, a, b, node.share(), -2.0 if i else 2.0], [out], "", False, where))
            return outs
        if name == "BinaryCrossEntropyWithLogitsBackward0" and wanted == [0] and self.bce(node, g, a, b, outs[0]):
            return outs
        if name == "MvBackward0" and wanted == [1] and node.unlike is None and g.straight and a.straight and plain_out(outs[0]):
            self.add(Entry(name, VectorGrad(node), [g, a], outs, "", False, where, y))
            return outs
        args = [g, a if node.keep & A else None, b if node.keep & B else None, y if node.keep & Y else None]
        self.add(Entry(name, RulesOf(node, wanted), args, outs, "", False, where, None if isinstance(node, SETTLED) else y))
        return outs

    def bce(self, node: Any, g: Value, a: Any, b: Any, out: Value) -> bool:
        """The gradient of binary_cross_entropy_with_logits for its input, taken apart: may it be?"""
        name = "BinaryCrossEntropyWithLogitsBackward0"
        if node.weight is not None or node.positive is not None or node.unlike is not None or not isinstance(b, Value):
            return False
        if not plain_out(out) or not self.alike(g if g.shape == out.shape else out, [a, b], out) or not fits([g], out):
            return False
        if out.dtype is not SINGLE or not NATIVE:
            return False
        if node.reduction == MEAN and node.count:
            g = self.each("mul", [g, 1.0 / node.count], Value("made", g.shape, g.dtype), name)
        s = self.each("sigmoid", [a], self.temp(out), name)
        self.each("mul", [g, self.each("sub", [s, b], self.temp(out), name)], out, name)
        return True

    def alike(self, g: Value, values: list[Value], out: Value) -> bool:
        """May the rule be taken apart: do all lie in C order, of one float type and shape?"""
        return (plain_out(out) and g.dtype is out.dtype and g.shape == out.shape and (g.straight or g.full is not None) and all(
            v.straight and v.dtype is out.dtype and v.shape == out.shape for v in values))

    def linear_rules(self, g: Value, made: Any, wanted: list[int], arrays: list[Any], node: Any, where: str) -> list[Value]:
        """The gradients of bias (0), x (1) and the transposed weight (2) of F.linear."""
        (b, x, w), _ = made
        like = node.like
        found: list[Value] = []
        for i, array in zip(wanted, arrays):
            out = of_array(array)
            found.append(out)
            if i == 0:
                self.add(Entry("linear", Fitted(like[0]), [g], [out], "", False, where))
            elif i == 1:
                self.add(Entry("linear", Linear1(like[1]), [g, w], [out], "", False, where))
            else:
                self.add(Entry("linear", Linear2(like[2]), [g, x], [out], "", False, where))
        return found


def unscaled(node: Any, name: str) -> bool:
    """Is the second operand added as it is?"""
    return name not in ("AddBackward0", "SubBackward0") or node.alpha == 1


def plain(v: Value) -> bool:
    return v.dtype is SINGLE or v.dtype is DOUBLE


def plain_out(out: Value) -> bool:
    return plain(out) and out.straight and out.size > 0


def operand(x: Any) -> bool:
    return isinstance(x, Value) or type(x) is float or (type(x) is int and abs(x) <= 1 << 53)


def fits(values: list[Value], out: Value) -> bool:
    """Are they of out's dtype, and in C order where of its shape, else a single element?"""
    return all(v.dtype is out.dtype and (
        (v.shape == out.shape and (v.straight or v.full is not None)) or v.size == 1) for v in values)


# -- Array functions.  Classes, so that a plan can be shown; each call gives what the pass gives.

class Settled:
    """A ufunc whose result is an array, of no dimensions, too."""

    __slots__ = ("ufunc",)

    def __init__(self, ufunc: Any) -> None:
        self.ufunc = ufunc

    def __call__(self, *args: Any) -> Any:
        return array_of(self.ufunc(*args))


def relu_grad(g: Any, y: Any) -> Any:
    quick = quick_relu_grad(g, y)
    return array_of(np.where(y <= 0, np.zeros((), g.dtype), g)) if quick is None else quick


def sigmoid_grad(g: Any, y: Any) -> Any:
    quick = quick_sigmoid_grad(g, y)
    return array_of(g * ((1 - y) * y)) if quick is None else quick


def tanh_grad(g: Any, y: Any) -> Any:
    quick = quick_tanh_grad(g, y)
    return array_of(g * (1 - y * y)) if quick is None else quick


# Operations on elements that a rule is made of
EACH: Final[dict[str, Any]] = {
    **{op: Settled(ufunc) for op, ufunc in ARITHMETIC.items()},
    **{op: Settled(getattr(np, op)) for op in ("cos", "negative", "sin")},
    "relu_grad": relu_grad, "sigmoid": quick_sigmoid, "sigmoid_grad": sigmoid_grad, "tanh_grad": tanh_grad}


class OneOf:
    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __call__(self, x: Any) -> Any:
        return array_of(self.node.run(x))


class TwoOf:
    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __call__(self, a: Any, b: Any) -> Any:
        node = self.node
        y = node.quick(a, b) if type(a) is ndarray and type(b) in (ndarray, float, int) else None
        if y is None:
            unlike = node.unlike                # the recorded call's graph may still be used
            y = array_of(node.compute(a, b, as_tensor(a), as_tensor(b)))
            node.unlike = unlike
        return y


def as_tensor(x: Any) -> TensorBase | None:
    return wrap(x) if type(x) is ndarray else None


class AllOf:
    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __call__(self, *xs: Any) -> Any:
        return array_of(self.node.forward(list(xs)))


class Total:
    """The mean or the sum of all elements, by a kernel."""

    __slots__ = ("mean",)

    def __init__(self, mean: bool) -> None:
        self.mean = mean

    def __call__(self, y: Any) -> Any:
        return _kernels.mean(y) if self.mean else _kernels.sum(y)


class NllOf:
    """Checks the targets as the public function does."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = type(node)(None, None, node.reduction, node.ignored, True)

    def __call__(self, x: Any, target: Any) -> Any:
        node = self.node
        bounds = quick_bounds(target)
        whole = bounds is not None and 0 <= bounds[0] and bounds[1] < x.shape[1] and not bounds[0] <= node.ignored <= bounds[1]
        if not whole:
            used = target[target != node.ignored]
            if used.size and (used.min() < 0 or used.max() >= x.shape[1]):
                raise IndexError("a target is out of bounds")
        node.target, node.whole = target.copy(), whole      # the user's array would not be alone
        node.where = node.used = node.scale = node.total = None
        return array_of(node.run(x))


class NllAgain:
    """Its rule, whatever call the node saw last."""

    __slots__ = ("forward",)

    def __init__(self, node: Any) -> None:
        self.forward = NllOf(node)

    def __call__(self, g: Any, x: Any, y: Any, given: Any, target: Any) -> Any:
        self.forward(given, target)
        return array_of(self.forward.node.grad(g, x, y))


class GradOf:
    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __call__(self, g: Any, x: Any, y: Any) -> Any:
        return array_of(own_kind(self.node.grad(g, x, y), self.node.real))


class RulesOf:
    """The wanted rules of a Binary."""

    __slots__ = ("node", "unlike", "wanted")

    def __init__(self, node: Any, wanted: list[int]) -> None:
        self.node, self.wanted, self.unlike = node, wanted, node.unlike

    def __call__(self, g: Any, a: Any, b: Any, y: Any) -> Any:
        outs = []
        for i in self.wanted:
            got = self.node.grad_b(g, a, b, y) if i else self.node.grad_a(g, a, b, y)
            if self.unlike is not None:
                got = fit(got, self.unlike[2 * i], self.unlike[2 * i + 1])
            outs.append(array_of(got))
        return outs[0] if len(outs) == 1 else tuple(outs)


class VectorGrad:
    """The gradient of the vector in a product with a matrix."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __call__(self, g: Any, a: Any) -> Any:
        return array_of(self.node.grad_b(g, a, None, None))


class GradsOf:
    """The wanted rules of an Nary."""

    __slots__ = ("count", "like", "node", "want", "wanted")

    def __init__(self, node: Any, count: int, wanted: list[int]) -> None:
        self.node, self.count, self.wanted = node, count, wanted
        self.want = [i in wanted for i in range(count)]
        self.like = list(node.like)

    def __call__(self, g: Any, *rest: Any) -> Any:
        got = self.node.grads(g, list(rest[:self.count]), rest[self.count], self.want)
        outs = [array_of(fit(got[i], *self.like[i])) for i in self.wanted]
        return outs[0] if len(outs) == 1 else tuple(outs)


class Shaped:
    """A view under another shape."""

    __slots__ = ("to",)

    def __init__(self, to: Any) -> None:
        self.to = to

    def __call__(self, x: Any) -> Any:
        return x.reshape(self.to)


class Expanded:
    __slots__ = ("to",)

    def __init__(self, to: Any) -> None:
        self.to = to

    def __call__(self, g: Any) -> Any:
        return shape.expand(g, self.to)


class Fitted:
    """A gradient in the shape and dtype of what was broadcast."""

    __slots__ = ("like",)

    def __init__(self, like: Any) -> None:
        self.like = like

    def __call__(self, g: Any) -> Any:
        return array_of(fit(g, *self.like))


def linear(x: Any, w: Any, b: Any) -> Any:
    y = quick_linear(x, w, b, False)
    return quick_linear(x, w, b, True) if y is None else y


class MseOf:
    """The gradient of the first operand of mse_loss, or the second's."""

    __slots__ = ("node", "second")

    def __init__(self, node: Any, second: bool) -> None:
        self.node, self.second = node, second

    def __call__(self, g: Any, a: Any, b: Any, share: float, twice: float) -> Any:
        return array_of(self.node.grad_b(g, a, b, None) if self.second else self.node.grad_a(g, a, b, None))


class Linear1:
    """The gradient of x."""

    __slots__ = ("like",)

    def __init__(self, like: Any) -> None:
        self.like = like

    def __call__(self, g: Any, w: Any) -> Any:
        return array_of(fit(product(g, w, "addmm_impl_cpu_"), *self.like))


class Linear2:
    """The gradient of the transposed weight; turned: of the weight."""

    __slots__ = ("like", "turned")

    def __init__(self, like: Any, turned: bool = False) -> None:
        self.like, self.turned = like, turned

    def __call__(self, g: Any, x: Any) -> Any:
        got = quick_linear_grad(g, x)
        if got is None:
            got = array_of(fit(product(g.T, x, "addmm_impl_cpu_").T, *self.like))
        return got.T if self.turned else got
