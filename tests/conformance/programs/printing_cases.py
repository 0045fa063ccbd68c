"""More of repr: alignment, sign, scientific, inf and nan, integers, bool, wide and nested, suffixes, half types, options."""

import torch

from _log import P, T, t

n, i = float("nan"), float("inf")
print("# columns")
P(
    torch.tensor([[1.0, -10.5], [100.25, 0.0]]),
    torch.tensor([[1, -10], [100, 0]]),
    torch.tensor([[True, False], [False, True]]),
)
P(
    torch.tensor([[1.0, n], [i, -i]]),
    torch.tensor([[1.5, n], [i, -i]]),
    torch.tensor([n, n]),
    torch.tensor([-n, -i]),
    torch.tensor([[n]]),
)
P(
    torch.tensor([0.0, -0.0]),
    torch.tensor([-0.0]),
    torch.tensor(-0.5),
    torch.tensor([1e-3, 2e-3]),
    torch.tensor([-1e-3, 2.0]),
)
print("# scientific")
P(
    torch.tensor([1e-5]),
    torch.tensor([1e5]),
    torch.tensor([1e5, 0.5]),
    torch.tensor([1e9, 1.0]),
    torch.tensor([99999999.0, 1.0]),
    torch.tensor([1e-4, 1e-1]),
)
P(
    torch.tensor([1e10, n]),
    torch.tensor([1.0, 1e-10]),
    torch.tensor([1e38, 1e-38]),
    torch.tensor([0.5, 600.0]),
    torch.tensor([0.5, 400.0]),
    torch.tensor([1e-6, 0.0, n]),
)
P(
    torch.tensor([2.0**24, 1.0]),
    torch.tensor([1e7]),
    torch.tensor([123456.0, 7.0]),
    torch.tensor([123456.5, 7.0]),
    torch.tensor([1.0, 1e4]),
    torch.tensor([0.1, 100.0]),
)
P(
    torch.tensor([1e300], dtype=torch.float64),
    torch.tensor([1e-300, 1.0], dtype=torch.float64),
    torch.tensor(1e100, dtype=torch.float64),
)
print("# integers")
P(
    torch.tensor([10**12, 1]),
    torch.tensor([-1, 1], dtype=torch.int8),
    torch.tensor(2**62),
    torch.tensor([255], dtype=torch.uint8),
    torch.tensor([[0], [-12345]]),
)
print("# half types")
P(
    torch.tensor([1.0, 2.5]).half(),
    torch.tensor([1.0, 2.5]).bfloat16(),
    torch.tensor(3.14159).bfloat16(),
    torch.tensor(65504.0).half(),
    torch.tensor([1e-5, 1.0]).half(),
    torch.tensor([1.0, 2.0]).half(),
)
print("# nested")
P(
    torch.zeros(1, 1, 1, 1),
    torch.zeros(2, 1, 2),
    torch.arange(12).view(2, 2, 3),
    torch.ones(1, 3, 1),
    torch.zeros(2, 0, 3),
    torch.zeros(0),
    torch.zeros(0, dtype=torch.int32),
    torch.zeros(1, 0),
)
print("# long")
P(
    torch.arange(25),
    torch.arange(25.0) / 7,
    torch.arange(100).view(4, 25),
    -torch.arange(12.0),
    torch.arange(60.0).view(3, 20) * 1.5,
    torch.ones(2, 30, dtype=torch.bool),
)
P(
    torch.arange(1001),
    torch.arange(5000.0).view(50, 100),
    torch.zeros(1001, 1),
    torch.zeros(1, 1001),
    torch.arange(2000).view(10, 10, 20),
    torch.zeros(8, 8, 16, dtype=torch.float64),
)
P(
    torch.arange(1001.0) * 0.5,
    torch.cat([torch.zeros(500), torch.full((1,), 1e9), torch.zeros(500)]),
    torch.ones(1001, requires_grad=True) * 2,
)
print("# suffixes")
x = t([1.0, 2.0])
P(
    x,
    x * 2,
    x.double(),
    x.sum(),
    x.detach(),
    x[0],
    x.double().detach().requires_grad_(),
    (x * 2).unbind(0),
    x.view(1, 2),
    x.clone(),
    x.half(),
)
P(
    torch.empty(0, 2, requires_grad=True),
    torch.empty(0, 2, requires_grad=True) * 1,
    torch.empty(0, dtype=torch.float64),
    torch.empty(0, 1, dtype=torch.int64),
    x > 1,
    x.argmax(),
)
wide = t([1.5] * 7)
for k in range(1, 12):
    P(
        t([1.5] * k),
        t([1.5] * k) * 1,
        torch.tensor([1.5] * k, dtype=torch.float64),
        t([1.5] * k, dtype=torch.float64).log(),
    )
P(t([[1.5] * 8, [2.5] * 8]).exp(), t([[0.1] * 12] * 2).log_softmax(0))
print("# str, format, containers")
print(x, str(x * 2), f"{x}", [x], (x.sum(),), {"k": x})
print(
    f"{torch.tensor(2.0):.3f}|{torch.tensor(7):5d}|{torch.tensor(2.5):>8}|{torch.tensor(True)}|{torch.tensor([1.0])}|{torch.tensor(1.1)!r}|{torch.tensor(1.1)!s}"
)
T("format of a vector", lambda: f"{x:.2f}")
T("format of one element", lambda: f"{torch.tensor([1.5]):.2f}")
T("format rg", lambda: f"{t(1.5):.2f}")
T("percent", lambda: "%.2f %d %s" % (torch.tensor(1.234), torch.tensor(5), torch.tensor([1])))
print(
    repr(torch.float32),
    torch.int64,
    repr(torch.bool),
    torch.device("cpu"),
    repr(torch.device("cpu")),
    x.device,
    x.shape,
    repr(x.shape),
    x.size(0),
    torch.Size([2, 3]),
    torch.Size([]),
)
print(
    x.shape[0:1],
    torch.Size([2, 3]) + (4,),
    torch.Size([2, 3]).numel(),
    torch.Size([2]) == (2,),
    repr(torch.Size((1,))),
    x.dtype,
    x.layout,
    torch.strided,
    type(x),
    type(x.shape),
)
print("# options")
v = torch.tensor([3.14159265, 100.0, 1e-3])
for kw in (
    {"precision": 1},
    {"precision": 8},
    {"sci_mode": True},
    {"sci_mode": False},
    {"linewidth": 20},
    {"threshold": 2, "edgeitems": 1},
    {"profile": "short"},
    {"profile": "full"},
):
    torch.set_printoptions(**kw)
    P(v, torch.arange(30), torch.arange(64.0).view(8, 8) / 3)
    torch.set_printoptions(profile="default", sci_mode=None)
    torch.set_printoptions(linewidth=80)
torch.set_printoptions(profile="default")
P(v)
T("bad profile", lambda: torch.set_printoptions(profile="nothing"))
T("bad keyword", lambda: torch.set_printoptions(digits=3))
