"""repr, str and format of tensors; print options."""

import torch

from _log import P, T, t

print("# scalars")
P(
    torch.tensor(1.0),
    torch.tensor(2.5),
    torch.tensor(1),
    torch.tensor(True),
    torch.tensor(1e-5),
    torch.tensor(1e-4),
    torch.tensor(9.99e-5),
    torch.tensor(1e8),
    torch.tensor(1.1e8),
    torch.tensor(1e9),
    torch.tensor(123456789.0),
    torch.tensor(100000000.0),
    torch.tensor(float("nan")),
    torch.tensor(float("inf")),
    torch.tensor(-float("inf")),
    torch.tensor(0.0),
    torch.tensor(-0.0),
    torch.tensor(-1.5),
    torch.tensor(3.14159265),
    torch.tensor(1e10),
    torch.tensor(12345.678),
    torch.tensor(1234567.8),
    torch.tensor(-1234.5678),
    torch.tensor(0.00012345),
    torch.tensor(99999.99999),
)
print("# vectors")
P(
    torch.tensor([1.0, 2.0]),
    torch.tensor([1.0, 2.5]),
    torch.tensor([1.0, -2.5]),
    torch.tensor([1.0, 1000.5]),
    torch.tensor([1.0, 1001.5]),
    torch.tensor([1.0, 1000.0]),
    torch.tensor([1.0, 1001.0]),
    torch.tensor([0.001, 1.0]),
    torch.tensor([0.0009, 1.0]),
    torch.tensor([1e-5, 1.0]),
    torch.tensor([0.0, 1e-5]),
    torch.tensor([1.0, float("nan")]),
    torch.tensor([1.0, float("inf")]),
    torch.tensor([1.5, float("inf"), -float("inf"), float("nan")]),
    torch.tensor([float("nan"), float("inf")]),
    torch.tensor([0.0, 0.0]),
    torch.tensor([1e8, 1.0]),
    torch.tensor([100.0, 200.0, -3.0]),
    torch.tensor([1, 200, -3]),
    torch.tensor([True, False]),
    torch.tensor([1e20, 1.0]),
    torch.tensor([0.1, 0.25, 100.125]),
    torch.tensor([10000.0, 0.5]),
    torch.tensor([-0.0001, 0.5]),
    torch.tensor([1.0, 0.0]),
    torch.tensor([12345.0, 67890.0]),
)
print("# dtype suffix")
P(
    torch.tensor([1.0], dtype=torch.float64),
    torch.tensor([1], dtype=torch.int32),
    torch.tensor([1], dtype=torch.uint8),
    torch.tensor([1.0], dtype=torch.float16),
    torch.tensor([1.0], dtype=torch.bfloat16),
    torch.tensor([1], dtype=torch.int8),
    torch.tensor([1], dtype=torch.int16),
    torch.tensor(1.0, dtype=torch.float64),
    torch.tensor([1.5], dtype=torch.float64, requires_grad=True),
    torch.tensor([1.5], dtype=torch.float64, requires_grad=True) * 2,
    torch.tensor([0.1], dtype=torch.float16),
    torch.tensor([1 / 3], dtype=torch.float64),
)
print("# empty")
P(
    torch.tensor([]),
    torch.empty(0, 3),
    torch.empty(2, 0),
    torch.tensor([], dtype=torch.int64),
    torch.tensor([], requires_grad=True),
    torch.empty(0, dtype=torch.bool),
    torch.empty(1, 0, 2, dtype=torch.float64),
)
print("# 2d/3d")
P(
    torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    torch.arange(8.0).view(2, 2, 2),
    torch.arange(6).view(1, 2, 3),
    torch.tensor([[1.0, -2.5], [30.0, 4.0]], requires_grad=True),
    torch.arange(16.0).view(2, 2, 2, 2),
    torch.ones(1, 1),
    torch.ones(3, 1),
)
print("# summarise")
P(
    torch.arange(1000),
    torch.arange(1001),
    torch.arange(1001.0),
    torch.arange(1200).view(30, 40),
    torch.zeros(11, 10, 10),
    torch.arange(2002).view(2, 1001),
    torch.arange(2002.0).view(1001, 2),
    torch.ones(1001, requires_grad=True) * 1,
)
print("# line wrap")
P(
    torch.arange(30),
    torch.arange(30.0),
    torch.linspace(0, 1, 20),
    torch.arange(36.0).view(3, 12) * 0.61803 % 1,
    torch.arange(40).view(2, 20),
)
print("# suffix wrap")
P(
    torch.tensor([1.123456, 2.0, 3.0, 4.0, 5.0, 6.0], requires_grad=True) * 2,
    torch.tensor([1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], requires_grad=True) * 1,
    torch.tensor([1.5] * 6, dtype=torch.float64, requires_grad=True) * 1,
    torch.tensor([[1.5] * 8] * 2, requires_grad=True) * 1,
    torch.tensor([1.5] * 7, requires_grad=True) * 1,
    torch.tensor([1.5] * 9, requires_grad=True),
)
print("# str/format")
x = t(1.23456)
print(
    str(x),
    f"{torch.tensor(1.23456):.2f}",
    f"{torch.tensor(3)}",
    f"{torch.tensor([1.0, 2.0])}",
    "%s" % torch.tensor(2.0),
)
T("fmt vec spec", lambda: f"{torch.tensor([1.0, 2.0]):.2f}")
T("fmt rg spec", lambda: f"{x:.3f}")
print(f"{x}", f"{(x * 2)}", f"{x.item():.3f}")
print("# shapes")
P(
    torch.ones(2, 3).shape,
    torch.ones(2, 3).size(),
    torch.tensor(1.0).shape,
    torch.ones(2).dtype,
    torch.ones(1).device,
    torch.Size([1]),
)
print("# opts")
torch.set_printoptions(precision=2)
P(torch.tensor([1.12345]))
torch.set_printoptions(threshold=5)
P(torch.arange(10))
torch.set_printoptions(profile="full")
P(torch.arange(12.0))
torch.set_printoptions(profile="default")
torch.set_printoptions(sci_mode=True)
P(torch.tensor([1.5, 2.0]))
P(torch.tensor([1.0, 2.0]))
torch.set_printoptions(sci_mode=False)
P(torch.tensor([1e-8, 1.0]))
torch.set_printoptions()
print(torch.get_printoptions() if hasattr(torch, "get_printoptions") else torch._tensor_str.get_printoptions())
torch.set_printoptions(linewidth=40)
P(torch.arange(15))
torch.set_printoptions(profile="default")
torch.set_printoptions(edgeitems=1, threshold=3)
P(torch.arange(10), torch.arange(16.0).view(4, 4))
torch.set_printoptions(edgeitems=3, threshold=1000)
with torch._tensor_str.printoptions(precision=1):
    P(torch.tensor([1.26]))
print("# tuple of tensors", (torch.tensor([1.0]),), {"a": t([1.0])})
print("# handles", repr(t(1.0).register_hook(lambda g: g)).split(" at ")[0])
