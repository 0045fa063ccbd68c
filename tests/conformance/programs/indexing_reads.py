"""x[...] of every kind: values, shapes, node names, gradients."""

import numpy as np
import torch

from _log import T, t

L = torch.tensor
x = t([[[float(100 * i + 10 * j + k) for k in range(4)] for j in range(3)] for i in range(2)])
weights = torch.arange(1.0, 25.0).view(2, 3, 4)
m = x.detach() > 100
cases = {
    "0": lambda x: x[0],
    "-1": lambda x: x[-1],
    "0, 1": lambda x: x[0, 1],
    "0, 1, 2": lambda x: x[0, 1, 2],
    "0:1": lambda x: x[0:1],
    ":": lambda x: x[:],
    ":, 1": lambda x: x[:, 1],
    "..., 0": lambda x: x[..., 0],
    "0, ..., 1": lambda x: x[0, ..., 1],
    "...": lambda x: x[...],
    "None": lambda x: x[None],
    ":, None": lambda x: x[:, None],
    "..., None": lambda x: x[..., None],
    "1:, ::2": lambda x: x[1:, ::2],
    ":, :, 1:3": lambda x: x[:, :, 1:3],
    "-2:, -1": lambda x: x[-2:, -1],
    "5:": lambda x: x[5:],
    "2:1": lambda x: x[2:1],
    "()": lambda x: x[()],
    "[0]": lambda x: x[[0]],
    "[0, 1]": lambda x: x[[0, 1]],
    "[[0, 1]]": lambda x: x[[[0, 1]]],
    "(0, 1)": lambda x: x[(0, 1)],
    "tensor 1-d": lambda x: x[L([1, 0, 1])],
    "tensor 2-d": lambda x: x[L([[0, 1], [1, 0]])],
    "tensor 0-d": lambda x: x[L(1)],
    "tensor negative": lambda x: x[L([-1])],
    "tensor empty": lambda x: x[L([], dtype=torch.long)],
    "tensor int32": lambda x: x[L([0], dtype=torch.int32)],
    "tensor uint8": lambda x: x[0][L([1, 0, 1], dtype=torch.uint8)],
    "two tensors": lambda x: x[L([0, 1]), L([2, 0])],
    "three tensors": lambda x: x[L([0, 1]), L([2, 0]), L([3, 3])],
    "broadcast tensors": lambda x: x[L([[0], [1]]), L([0, 2])],
    "tensor, slice": lambda x: x[L([0, 1]), 1:],
    "slice, tensor": lambda x: x[:, L([2, 0])],
    "slice, tensor, slice": lambda x: x[:, L([2, 0]), 1:],
    "tensor, slice, tensor": lambda x: x[L([0, 1]), :, L([3, 0])],
    "int, slice, tensor": lambda x: x[0, :, L([3, 0])],
    "tensor, int": lambda x: x[L([0, 1]), 1],
    "int, tensor": lambda x: x[1, L([0, 2])],
    "slice, tensor, tensor": lambda x: x[:, L([0, 2]), L([1, 3])],
    "None, tensor": lambda x: x[None, L([0])],
    "tensor, None": lambda x: x[L([0]), None],
    "..., tensor": lambda x: x[..., L([0, 3])],
    "tensor, ...": lambda x: x[L([0]), ...],
    "tensor, ..., tensor": lambda x: x[L([0, 1]), ..., L([0, 3])],
    "mask": lambda x: x[m],
    "mask of first dims": lambda x: x[m[:, :, 0]],
    "mask 1-d": lambda x: x[L([True, False])],
    "mask second dim": lambda x: x[:, L([True, False, True])],
    "mask all false": lambda x: x[x.detach() < -1],
    "mask and int": lambda x: x[L([True, False]), 1],
    "list of bools": lambda x: x[[True, False]],
    "True": lambda x: x[True],
    "False": lambda x: x[False],
    "mask 0-d": lambda x: x[L(True)],
    "numpy int": lambda x: x[np.int64(1)],
    "numpy array": lambda x: x[np.array([0, 1])],
    "numpy mask": lambda x: x[np.array([True, False])],
    "range": lambda x: x[range(2)],
    "list of lists": lambda x: x[[0, 1], [1, 2]],
    "slice of tensors": lambda x: x[L(0) : L(1)],
    "repeated": lambda x: x[L([0, 0, 0])],
    "twice": lambda x: x[0][1][2],
    "list, slice, list": lambda x: x[[0, 1], :, [0, 1]],
    "mask, tensor": lambda x: x[L([True, True]), L([0, 2])],
}
for label, fn in cases.items():

    def run(fn=fn):
        x.grad = None
        y = fn(x)
        names = [type(y.grad_fn).__name__, *(type(f).__name__ for f, _ in y.grad_fn.next_functions)]
        (y * torch.arange(1.0, y.numel() + 1).view(y.shape)).sum().backward()
        return list(y.shape), y._is_view(), names, y.flatten().tolist()[:9], x.grad.flatten().tolist()

    T(label, run)

print("# functions that index")
v = t([10.0, 20.0, 30.0])
q = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
for label, fn in {
    "index_select": lambda: q.index_select(1, L([2, 0])),
    "gather": lambda: q.gather(1, L([[2], [0]])),
    "gather 0": lambda: torch.gather(q, 0, L([[0, 1, 1]])),
    "take": lambda: q.take(L([5, 0])),
    "masked_select": lambda: q.masked_select(q > 2),
    "narrow": lambda: q.narrow(1, 1, 2),
    "select": lambda: q.select(1, -1),
    "take_along_dim": lambda: torch.take_along_dim(q, L([[2], [1]]), 1),
    "nonzero": lambda: (q > 2).nonzero(),
    "nonzero tuple": lambda: (q > 2).nonzero(as_tuple=True),
    "where 1": lambda: torch.where(q > 2),
    "argwhere": lambda: torch.argwhere(q > 4),
    "unbind": lambda: q.unbind(1)[1],
    "diag": lambda: q[:, :2].diag(),
    "unfold": lambda: v.unfold(0, 2, 1),
    "iteration": lambda: [r for r in q],
    "len": lambda: len(q),
    "unpack": lambda: (lambda a, b: a + b)(*q),
    "reversed": lambda: list(reversed(v)),
    "in": lambda: (20.0 in v, 21.0 in v),
    "gather wrong dims": lambda: q.gather(1, L([0])),
    "gather out of range": lambda: q.gather(1, L([[3]])),
    "index_select out of range": lambda: q.index_select(0, L([2])),
    "index_select 2-d index": lambda: q.index_select(0, L([[0]])),
    "take out of range": lambda: q.take(L([6])),
    "narrow too long": lambda: q.narrow(1, 1, 3),
    "select out of range": lambda: q.select(1, 3),
    "gather float index": lambda: q.gather(1, L([[0.0]])),
}.items():
    T(label, fn)
