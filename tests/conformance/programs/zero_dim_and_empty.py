"""0-dim and empty tensors: shapes, values, gradients, reductions of nothing."""

import torch

from _log import T, t

z = t(3.0)
print("# 0-dim")
for label, fn in {
    "shape": lambda: (z.shape, z.dim(), z.numel(), z.size(), z.stride(), z.ndim),
    "add": lambda: z + 1,
    "mul": lambda: z * z,
    "with vector": lambda: z * torch.tensor([1.0, 2.0]),
    "sum": lambda: z.sum(),
    "mean": lambda: z.mean(),
    "sum 0": lambda: z.sum(0),
    "sum -1": lambda: z.sum(-1),
    "sum 1": lambda: z.sum(1),
    "max": lambda: z.max(),
    "max 0": lambda: z.max(0),
    "argmax": lambda: z.argmax(),
    "softmax": lambda: z.softmax(0),
    "view 1": lambda: z.view(1),
    "view ()": lambda: z.view(()),
    "view -1": lambda: z.view(-1),
    "reshape": lambda: z.reshape(1, 1),
    "flatten": lambda: z.flatten(),
    "unsqueeze": lambda: z.unsqueeze(0),
    "unsqueeze -1": lambda: z.unsqueeze(-1),
    "unsqueeze 1": lambda: z.unsqueeze(1),
    "squeeze": lambda: z.squeeze(),
    "squeeze 0": lambda: z.squeeze(0),
    "t": lambda: z.t(),
    "T": lambda: z.T,
    "expand": lambda: z.expand(2, 3),
    "repeat": lambda: z.repeat(2),
    "z[None]": lambda: z[None],
    "z[...]": lambda: z[...],
    "z[()]": lambda: z[()],
    "z[0]": lambda: z[0],
    "z[:]": lambda: z[:],
    "z[True]": lambda: z[True],
    "z[mask]": lambda: z[z > 1],
    "len": lambda: len(z),
    "iter": lambda: list(z),
    "item": lambda: z.item(),
    "tolist": lambda: z.tolist(),
    "int": lambda: int(z.detach()),
    "index": lambda: [1, 2, 3, 4][torch.tensor(2)],
    "range": lambda: list(range(torch.tensor(2))),
    "bool": lambda: bool(z),
    "stack": lambda: torch.stack([z, z]),
    "cat": lambda: torch.cat([z, z]),
    "unbind": lambda: z.unbind(),
    "split": lambda: z.split(1),
    "chunk": lambda: z.chunk(1),
    "matmul": lambda: z @ z,
    "matmul vector": lambda: z @ torch.ones(2),
    "dot": lambda: z.dot(z),
    "cumsum": lambda: z.cumsum(0),
    "sort": lambda: z.sort(),
    "topk": lambda: z.topk(1),
    "norm": lambda: z.norm(),
    "std": lambda: z.std(),
    "var": lambda: z.var(),
    "prod": lambda: z.prod(),
    "transpose": lambda: z.transpose(0, -1),
    "permute": lambda: z.permute(()),
    "gather": lambda: z.gather(0, torch.tensor(0)),
    "index_select": lambda: z.index_select(0, torch.tensor([0])),
    "setitem": lambda: (lambda q: (q.__setitem__(..., 5.0), q)[1])(z * 1),
    "setitem ()": lambda: (lambda q: (q.__setitem__((), 5.0), q)[1])(z * 1),
    "setitem 0": lambda: (lambda q: (q.__setitem__(0, 5.0), q)[1])(z * 1),
    "where": lambda: torch.where(z > 1, z, 0.0),
    "flip": lambda: z.flip(0),
    "all": lambda: (z > 0).all(),
    "diag": lambda: z.diag(),
    "nonzero": lambda: z.detach().nonzero(),
    "format": lambda: f"{z.detach():.2f} {z.detach()}",
    "hash": lambda: isinstance(hash(z), int),
    "contains": lambda: 3.0 in z,
    "linear": lambda: torch.nn.functional.linear(z, z),
    "numpy": lambda: z.detach().numpy(),
    "outer": lambda: torch.outer(z, z),
}.items():
    T(label, fn)


def through(fn):
    def run():
        a = t(3.0)
        y = fn(a)
        (y * torch.arange(1.0, y.numel() + 1).view(y.shape)).sum().backward()
        return y, a.grad

    return run


for label, fn in {
    "expand": lambda a: a.expand(2, 2),
    "stack": lambda a: torch.stack([a, a, a]),
    "sum 0": lambda a: a.sum(0),
    "max 0": lambda a: a.max(0)[0],
    "softmax": lambda a: a.softmax(0),
    "view": lambda a: a.view(1, 1),
    "cumsum": lambda a: a.cumsum(0),
    "broadcast": lambda a: a * torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    "index": lambda a: a[None][torch.tensor([0, 0])],
    "item assignment": lambda a: (lambda q: (q.__setitem__(1, a), q)[1])(torch.zeros(2)),
    "sort": lambda a: a.sort()[0],
    "prod": lambda a: a.prod(),
    "squeeze": lambda a: a.squeeze(),
    "norm": lambda a: a.norm(),
    "pow": lambda a: a**a,
    "clamp": lambda a: a.clamp(0, 1),
    "where": lambda a: torch.where(torch.tensor([True, False]), a, -a),
    "mean": lambda a: a.mean(),
}.items():
    T("gradient " + label, through(fn))

print("# empty")
e, m, n = (
    torch.empty(0, requires_grad=True),
    torch.empty(0, 3, requires_grad=True),
    torch.empty(2, 0, requires_grad=True),
)
for label, fn in {
    "repr": lambda: (e, m, n),
    "sum": lambda: (e.sum(), m.sum(0), m.sum(1), n.sum(0), n.sum(1)),
    "mean": lambda: e.mean(),
    "mean 0": lambda: m.mean(0),
    "prod": lambda: (e.prod(), m.prod(0)),
    "max": lambda: e.max(),
    "max 0": lambda: m.max(0),
    "max 1": lambda: m.max(1),
    "amax": lambda: m.amax(),
    "amax 0": lambda: m.amax(0),
    "argmax": lambda: e.argmax(),
    "min": lambda: n.min(1),
    "std": lambda: e.std(),
    "var": lambda: e.var(),
    "norm": lambda: e.norm(),
    "all any": lambda: (e.all(), e.any()),
    "logsumexp": lambda: e.logsumexp(0),
    "softmax": lambda: m.softmax(0),
    "softmax 1": lambda: n.softmax(1),
    "cumsum": lambda: m.cumsum(0),
    "sort": lambda: e.sort(),
    "cat": lambda: torch.cat([e, t([1.0])]),
    "cat 2-d": lambda: torch.cat([m, t([[1.0, 2.0, 3.0]])]),
    "cat empty and 2-d": lambda: torch.cat([e, t([[1.0, 2.0]])]),
    "stack": lambda: torch.stack([e, e]),
    "mm": lambda: n @ m,
    "mm inner": lambda: m.t() @ m,
    "mv": lambda: m @ torch.ones(3),
    "dot": lambda: e.dot(e),
    "add": lambda: e + 1,
    "broadcast": lambda: m + torch.ones(3),
    "broadcast 1": lambda: e + torch.ones(1),
    "broadcast error": lambda: e + torch.ones(2),
    "view": lambda: m.view(3, 0),
    "view -1": lambda: e.view(-1),
    "view -1 of 2-d": lambda: m.view(-1, 3),
    "view -1, 0": lambda: m.view(-1, 0),
    "reshape": lambda: m.reshape(0),
    "index": lambda: e[torch.tensor([], dtype=torch.long)],
    "index 0": lambda: e[0],
    "mask": lambda: e[e > 0],
    "slice": lambda: t([1.0, 2.0])[2:],
    "split": lambda: e.split(1),
    "chunk": lambda: e.chunk(2),
    "unbind": lambda: m.unbind(0),
    "unbind 1": lambda: n.unbind(0),
    "item": lambda: e.item(),
    "bool": lambda: bool(e),
    "tolist": lambda: m.tolist(),
    "len": lambda: (len(e), len(m), len(n)),
    "iter": lambda: list(e),
    "backward": lambda: e.backward(),
    "expand": lambda: m[None].expand(2, 0, 3),
    "mse": lambda: torch.nn.functional.mse_loss(e, e),
    "cross_entropy": lambda: torch.nn.functional.cross_entropy(m, torch.empty(0, dtype=torch.long)),
    "linear": lambda: torch.nn.functional.linear(m, torch.ones(2, 3), torch.ones(2)),
    "nonzero": lambda: e.detach().nonzero(),
    "where": lambda: torch.where(e > 0, e, e),
    "flip": lambda: m.flip(0),
    "repeat": lambda: e.repeat(2),
    "zeros": lambda: torch.zeros(0, 2).t().shape,
    "arange": lambda: torch.arange(0),
    "tensor": lambda: (torch.tensor([[]]).shape, torch.tensor([[], []]).shape),
    "topk": lambda: e.topk(0),
    "median": lambda: e.median(),
    "clamp": lambda: e.clamp(0, 1),
    "setitem": lambda: (lambda q: (q.__setitem__(slice(None), 1.0), q)[1])(e * 1),
}.items():
    T(label, fn)
for label, fn in {
    "sum": lambda m: m.sum(),
    "mm": lambda m: (torch.ones(2, 0) @ m).sum(),
    "cat": lambda m: torch.cat([m, torch.ones(1, 3)]).sum(),
    "mean 1": lambda m: m.mean(1).sum(),
    "index": lambda m: m[:, 0].sum(),
    "prod": lambda m: m.prod(),
    "view": lambda m: m.view(3, 0).sum(),
}.items():

    def run(fn=fn):
        a = torch.empty(0, 3, requires_grad=True)
        fn(a).backward()
        return a.grad

    T("gradient " + label, run)
T("zero gradient shapes", lambda: (lambda a: (a[:0].sum().backward(), a.grad)[1])(t([1.0, 2.0])))
