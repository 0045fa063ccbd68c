"""The code and the nodes of traced modules and functions: torch.fx.symbolic_trace."""
import math
import operator
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.fx
import torch.nn.functional as F
from torch import nn


class Point(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("shift", torch.zeros(2))

    def forward(self, x):
        return self.layers(x) * self.scale + self.shift


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3, padding=1)
        self.bn = nn.BatchNorm2d(n)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)) + x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(2), Block(2)])
        self.head = nn.Linear(2, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        x = F.max_pool2d(x, 2)
        x = torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)
        return self.head(x).softmax(dim=-1)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(self.fc(x)) + self.fc.weight.sum()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, mask: Optional[torch.Tensor] = None):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(4)
        return torch.softmax(scores, dim=-1) @ v


class Defaults(nn.Module):
    def forward(self, x, scale=2.0, *, bias: float = 0.5, flag=True, dims: Tuple[int, int] = (0, 1)):
        return x.sum(dims) * scale + bias


def arithmetic(x, y):
    return (-x + y - 1) * 2 / y // 3 % 5 ** x, x @ y, x == y, x < 1, ~x, x & y, x | 1, x ^ y, x << 1, 2 - x, 1 / y, abs(x)


def methods(x):
    return x.view(-1).unsqueeze(0).size(0), x.shape[0], x.T, x.dtype, x.size()


def functions(x, w):
    a = torch.cat([x, w], dim=0)
    b = torch.stack((x, x))
    c = torch.einsum("ij,kj->ik", x, w)
    d, e = torch.split(a, 2)
    return F.linear(x, w), F.gelu(x), F.softplus(x), F.cross_entropy(x, w), F.dropout(x, 0.5, training=False), b, c, d, e


def namespaces(x):
    return torch.linalg.norm(x), torch.special.expit(x), torch.zeros(2, dtype=torch.float64) + x, x.to(torch.device("cpu"))


def indexing(x, i):
    x = x[0, :, 1:3, None, ...]
    return x[{"a": 1}["a"]], x[i:], x[::2]


def constants(x):
    return x + torch.tensor([1.0, 2.0]), float("inf") * x, torch.clamp(x, min=-1.5, max=None), x.new_tensor([1, 2])


def nested(x, y):
    return {"a": (x, [y, x + y]), "b": None}


def tuples(x):
    return Point(x, x + 1)


def variadic(x, *args, **kwargs):
    return x + args[0] + kwargs["k"]


def annotated(x: List[torch.Tensor], y: Dict[str, int], z: "int" = 3) -> Tuple[torch.Tensor, int]:
    return x[0], z


def mathematics(x):
    return math.sqrt(x) + math.floor(x)


def uses_many(x):
    y = x + 1
    z = y * y
    return z - y


def inplace(x):
    x += 1
    x *= 2
    operator.iadd(x, 3)
    return x.add_(1)


def keywords(lambda_, input, self_, sum):
    print_ = input + lambda_
    return print_ * self_ + sum


def unpacked(x):
    a, b, (c, d) = x
    return a + b + c + d


class Camel(nn.Module):
    def forward(self, inputData):
        return inputData.mean().addOne()


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln, self.emb, self.drop = nn.LayerNorm(4), nn.Embedding(5, 4), nn.Dropout(0.1)

    def forward(self, tokens):
        return F.layer_norm(self.drop(self.ln(self.emb(tokens))), (4,))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 3)

    def forward(self, x):
        out, (h, c) = self.rnn(x)
        return out[-1], h


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8)

    def forward(self, x):
        return self.layer(x)


programs = [MLP(), Net(), Shared(), Attention(), Defaults(), Camel(), Norms(), Recurrent(), Encoder(), arithmetic, methods,
            functions, namespaces, indexing, constants, nested, tuples, variadic, annotated, mathematics, uses_many, inplace,
            keywords, unpacked, nn.Sequential(nn.Linear(1, 1), nn.Tanh()), Block(1)]
for program in programs:
    traced = torch.fx.symbolic_trace(program)
    print(traced.code)
    print(traced.graph)
    print([(n.op, n.name, n.args, n.kwargs) for n in traced.graph.nodes])
    traced.graph.lint()

x = torch.arange(8.0).reshape(2, 4) / 8
torch.manual_seed(0)
model = MLP()
traced = torch.fx.symbolic_trace(model)
print(torch.equal(traced(x), model(x)), type(traced).__name__, [n for n, _ in traced.named_parameters()], list(traced.state_dict()))
print(traced)
traced.print_readable()
