"""Result dtypes: tensors, 0-dim tensors, Python scalars, all pairs; the casts back in backward."""

import torch

from _log import T, t

names = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
types = [getattr(torch, n) for n in names]
short = dict(zip(types, "b u8 i8 i16 i32 i64 f16 bf f32 f64".split()))


def s(x):
    return short[x.dtype]


print("# vector + vector, rows and columns in order:", *short.values())
for a in types:
    print(f"{short[a]:4s}", *[s(torch.ones(2, dtype=a) + torch.ones(2, dtype=b)) for b in types])
print("# vector + 0-dim")
for a in types:
    print(f"{short[a]:4s}", *[s(torch.ones(2, dtype=a) + torch.ones((), dtype=b)) for b in types])
print("# 0-dim + 0-dim")
for a in types:
    print(f"{short[a]:4s}", *[s(torch.ones((), dtype=a) + torch.ones((), dtype=b)) for b in types])
print("# + True, 1, 1.0, 0-dim and vector")
for a in types:
    print(f"{short[a]:4s}", *[s(torch.ones(k, dtype=a) + v) for k in ((2,), ()) for v in (True, 1, 1.0)])
print("# other operators with 2 and 2.0")
for a in types:
    row = []
    for op in (
        lambda x, v: x * v,
        lambda x, v: x / v,
        lambda x, v: x // v,
        lambda x, v: x % v,
        lambda x, v: x**v,
        lambda x, v: x > v,
        lambda x, v: v - x if x.dtype is not torch.bool else x,
        lambda x, v: v / x,
    ):
        for v in (2, 2.0):
            try:
                row.append(s(op(torch.ones(2, dtype=a), v)))
            except (RuntimeError, TypeError):
                row.append("err")
    print(f"{short[a]:4s}", *row)
print("# division of integers")
for a in types[:6]:
    print(f"{short[a]:4s}", *[s(torch.ones(2, dtype=a) / torch.ones(2, dtype=b)) for b in types])
print("# unary")
for label, fn in {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "prod": lambda x: x.prod(),
    "cumsum": lambda x: x.cumsum(0),
    "exp": lambda x: x.exp(),
    "sqrt": lambda x: x.sqrt(),
    "abs": lambda x: x.abs(),
    "neg": lambda x: -x,
    "relu": lambda x: x.relu(),
    "sigmoid": lambda x: x.sigmoid(),
    "floor": lambda x: x.floor(),
    "max": lambda x: x.max(),
    "argmax": lambda x: x.argmax(),
    "any": lambda x: x.any(),
    "invert": lambda x: ~x,
    "reciprocal": lambda x: x.reciprocal(),
    "pow2": lambda x: x**2,
    "matmul": lambda x: x @ x,
    "std": lambda x: x.std(),
    "softmax": lambda x: x.softmax(0),
    "norm": lambda x: x.norm(),
    "sign": lambda x: x.sign(),
    "square": lambda x: x.square(),
    "clamp0.5": lambda x: x.clamp(0.5, 2),
    "clamp1": lambda x: x.clamp(0, 1),
    "round": lambda x: x.round(),
}.items():
    row = []
    for a in types:
        try:
            row.append(s(fn(torch.ones(2, dtype=a))))
        except (RuntimeError, TypeError):
            row.append("err")
    print(f"{label:10s}", *row)
print("# functions of several tensors")
i, f, d, h = torch.ones(2, dtype=torch.int64), torch.ones(2), torch.ones(2, dtype=torch.float64), torch.ones(2).half()
for label, fn in {
    "cat": lambda: torch.cat([i, f]),
    "cat3": lambda: torch.cat([h, f, d]),
    "stack": lambda: torch.stack([i, d]),
    "where": lambda: torch.where(f > 0, f, d),
    "where scalar": lambda: torch.where(f > 0, f, 1.0),
    "where int scalar": lambda: torch.where(f > 0, i, 1.5),
    "maximum": lambda: torch.maximum(i, f),
    "mm": lambda: f @ d,
    "mm int": lambda: i @ f,
    "pow": lambda: i**f,
    "pow scalar": lambda: i**0.5,
    "pow neg": lambda: i**-1,
    "atan2": lambda: torch.atan2(i, i),
    "lerp": lambda: torch.lerp(f, d, 0.5),
    "addcmul": lambda: torch.addcmul(f, f, d),
    "clamp tensor": lambda: i.clamp(f),
    "masked_fill": lambda: i.masked_fill(i > 0, 1.5),
    "eq": lambda: i == d,
    "bitand": lambda: i & True,
    "bitand f": lambda: f & 1,
    "dot": lambda: h.dot(f),
    "outer": lambda: torch.outer(i, f),
    "mse": lambda: torch.nn.functional.mse_loss(f, d),
    "linear": lambda: torch.nn.functional.linear(f, d[None]),
    "bool - bool": lambda: (f > 0) - (f > 0),
    "1 - bool": lambda: 1 - (f > 0),
    "-bool": lambda: -(f > 0),
    "bool + bool": lambda: (f > 0) + (f > 0),
    "bool * 2": lambda: (f > 0) * 2,
    "sum bool": lambda: (f > 0).sum(),
}.items():
    T(label, lambda fn=fn: (s(fn()), fn()))
print("# constructors")
for label, fn in {
    "1": lambda: torch.tensor(1),
    "1.0": lambda: torch.tensor(1.0),
    "True": lambda: torch.tensor(True),
    "[1, 2.0]": lambda: torch.tensor([1, 2.0]),
    "[True, 2]": lambda: torch.tensor([True, 2]),
    "[]": lambda: torch.tensor([]),
    "arange": lambda: torch.arange(3),
    "arange f": lambda: torch.arange(3.0),
    "full": lambda: torch.full((2,), 3),
    "full f": lambda: torch.full((2,), 3.0),
    "full b": lambda: torch.full((2,), True),
    "zeros": lambda: torch.zeros(2),
    "linspace": lambda: torch.linspace(0, 1, 2),
    "eye": lambda: torch.eye(2),
    "full_like": lambda: torch.full_like(i, 2.5),
    "np": lambda: torch.tensor(__import__("numpy").ones(2)),
    "np f32": lambda: torch.tensor(__import__("numpy").float32(1)),
}.items():
    T(label, lambda fn=fn: s(fn()))
print("# gradients come back in the input's dtype")
for a in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    for b in (torch.float16, torch.float32, torch.float64):
        x, w = t([1.0, 2.0], dtype=a), t([3.0, 4.0], dtype=b)
        y = x * w
        y.sum().backward()
        print(short[a], short[b], s(y), s(x.grad), s(w.grad), x.grad.tolist(), w.grad.tolist())
x, w = t([1.0, 2.0]), t(3.0, dtype=torch.float64)
y = x * w
y.sum().backward()
print(s(y), s(w.grad), w.grad)
x = t([1.0, 2.0])
(x * torch.tensor([2, 3]) + torch.tensor(5)).sum().backward()
print(x.grad)
T(
    "promote_types",
    lambda: [torch.promote_types(torch.int64, torch.float16), torch.promote_types(torch.uint8, torch.int8)],
)
T(
    "result_type",
    lambda: [
        torch.result_type(torch.tensor([1]), 1.0),
        torch.result_type(torch.tensor(1.0, dtype=torch.float64), torch.tensor([1.0])),
    ],
)
T("can_cast", lambda: [torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)])
T(
    "default dtype",
    lambda: (
        torch.get_default_dtype(),
        torch.set_default_dtype(torch.float64),
        torch.tensor(1.0).dtype,
        (torch.tensor([1]) / 2).dtype,
        torch.set_default_dtype(torch.float32),
    )[:4],
)
T("default dtype int", lambda: torch.set_default_dtype(torch.int64))
print("# overflow and wrap")
T("uint8", lambda: torch.tensor([250], dtype=torch.uint8) + 10)
T("int8", lambda: torch.tensor([120], dtype=torch.int8) * 2)
T("int32 of large", lambda: torch.tensor([2**31 - 1], dtype=torch.int32) + 1)
T("half", lambda: torch.tensor([60000.0]).half() * 2)
T("float to int", lambda: torch.tensor([1.9, -1.9]).int())
T("float64 to float32", lambda: torch.tensor([1e300], dtype=torch.float64).float())
T("int division", lambda: (torch.tensor([7, -7]) // 2, torch.tensor([7, -7]) % 3, torch.tensor([7, -7]) / 2))
T("int division by zero", lambda: torch.tensor([1]) // 0)
T("int modulo by zero", lambda: torch.tensor([1]) % torch.tensor([0]))
T("float division by zero", lambda: (torch.tensor([1.0, 0.0, -1.0]) / 0, torch.tensor([1]) / 0))
