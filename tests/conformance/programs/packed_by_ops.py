"""Which tensors ops show to the hooks on saved tensors, in which order, indices and masks included."""

import warnings

import torch
import torch.nn.functional as F
from torch.autograd.graph import saved_tensors_hooks

x = torch.tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5], [1.5, -2.0, 0.75]], requires_grad=True)
positive = x.abs().detach().requires_grad_()
i, m, zeros = torch.tensor([0, 2]), torch.eye(3) > 0, torch.zeros(1, 3, dtype=torch.long)
classes = torch.tensor([0, 1, 2])


def assigned(where, value):
    y = x.clone()
    y[where] = value
    return y


def run(name, op):
    log = []
    pack, unpack = lambda v: log.append((tuple(v.shape), str(v.dtype)[6:])) or v, lambda v: log.append("u") or v
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with saved_tensors_hooks(pack, unpack):
            y = op()
        y.sum().backward()
    print(name, *log)


for name, op in {
    "index": lambda: x[i],
    "mask": lambda: x[m],
    "gather": lambda: x.gather(0, zeros),
    "where": lambda: torch.where(m, x, x * 2),
    "masked_fill": lambda: x.masked_fill(m, 0.0),
    "index_select": lambda: x.index_select(0, i),
    "embedding": lambda: F.embedding(i, x),
    "nll": lambda: F.nll_loss(x.log_softmax(1), classes),
    "ce": lambda: F.cross_entropy(x, classes),
    "setitem": lambda: assigned(i, 1.0),
    "setmask": lambda: assigned(m, 1.0),
    "setitem_t": lambda: assigned(i, x[:2]),
    "index_add": lambda: x.index_add(0, i, x[:2]),
    "scatter": lambda: x.scatter(0, zeros, x[:1]),
    "max": lambda: x.max(0)[0],
    "sort": lambda: x.sort()[0],
    "topk": lambda: x.topk(2)[0],
    "median": lambda: x.median(),
    "cummax": lambda: x.cummax(0)[0],
    "dropout": lambda: F.dropout(x, 0.5),
    "maxpool": lambda: F.max_pool1d(x[None], 2),
    "take_along": lambda: torch.take_along_dim(x, zeros, 0),
    "masked_scatter": lambda: x.masked_scatter(m, x.flatten()),
    "masked_select": lambda: x.masked_select(m),
    "index_put": lambda: x.index_put((i,), torch.tensor(1.0)),
    "index_copy": lambda: x.index_copy(0, i, x[:2]),
    "index_fill": lambda: x.index_fill(0, i, 1.0),
    "clamp": lambda: x.clamp(0, 1),
    "prelu": lambda: F.prelu(x, torch.tensor([0.1])),
    "bn": lambda: F.batch_norm(x, None, None, training=True),
    "ln": lambda: F.layer_norm(x, (3,)),
    "kl": lambda: F.kl_div(x, x.detach()),
    "std": lambda: x.std(),
    "norm": lambda: x.norm(),
    "prod": lambda: x.prod(),
    "logsumexp": lambda: x.logsumexp(0),
    "conv": lambda: F.conv1d(x[None], torch.ones(1, 3, 2)),
    "amax": lambda: x.amax(0),
    "relu": lambda: x.relu(),
    "gelu": lambda: F.gelu(x),
    "cumprod": lambda: x.cumprod(0),
    "maximum": lambda: torch.maximum(x, x * 2),
    "sigmoid": lambda: x.sigmoid(),
    "leaky": lambda: F.leaky_relu(x),
    "elu": lambda: F.elu(x),
    "softplus": lambda: F.softplus(x),
    "addmm": lambda: F.linear(x, x, x[0]),
    "bmm": lambda: x[None] @ x[None],
    "einsum": lambda: torch.einsum("ij,jk->ik", x, x),
    "lerp": lambda: torch.lerp(x, x, 0.5),
    "addcmul": lambda: torch.addcmul(x, x, x),
    "addcdiv": lambda: torch.addcdiv(x, x, x),
    "smooth": lambda: F.smooth_l1_loss(x, x.detach() + 1),
    "huber": lambda: F.huber_loss(x, x.detach() + 1),
    "bce": lambda: F.binary_cross_entropy(x.sigmoid(), torch.ones(3, 3)),
    "bcel": lambda: F.binary_cross_entropy_with_logits(x, torch.ones(3, 3)),
    "var_mean": lambda: torch.var_mean(x)[0],
    "atan2": lambda: torch.atan2(x, x),
    "cos": lambda: F.cosine_similarity(x, x),
    "glu": lambda: F.glu(torch.cat([x, x], 1)),
    "silu": lambda: F.silu(x),
    "hardtanh": lambda: F.hardtanh(x),
    "mish": lambda: F.mish(x),
    "pow": lambda: x**2,
    "powt": lambda: positive ** x.detach(),
    "div": lambda: x / x,
    "rsqrt": lambda: positive.rsqrt(),
    "trace": lambda: x.trace(),
    "tril": lambda: x.tril(),
    "roll": lambda: x.roll(1),
    "kthvalue": lambda: x.kthvalue(1)[0],
    "repeat_int": lambda: x.repeat_interleave(torch.tensor([1, 2, 3]), 0),
    "diag": lambda: x.diag(),
    "logcumsumexp": lambda: x.logcumsumexp(0),
    "mse": lambda: F.mse_loss(x, x.detach()),
    "l1": lambda: F.l1_loss(x, x.detach()),
}.items():
    run(name, op)
