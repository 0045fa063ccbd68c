"""x[...] = of every kind: values, node names, gradients of base and value; refusals."""

import numpy as np
import torch

from _log import T, t

L = torch.tensor
weights = torch.arange(1.0, 13.0).view(3, 4)


def write(index, value):
    """The written tensor, its node, the gradients of what it was and of the value."""

    def run():
        a = t([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
        b = a * 1
        v = t(value) if isinstance(value, (list, tuple)) else value
        b[index] = v
        (b * weights).sum().backward()
        got = v.grad.tolist() if isinstance(v, torch.Tensor) and v.requires_grad else None
        return type(b.grad_fn).__name__, b._version, b.tolist(), a.grad.tolist(), got

    return run


S = slice
cases = {
    "0 = 1.0": (0, 1.0),
    "-1 = 1": (-1, 1),
    "(0, 1) = True": ((0, 1), True),
    "0:2 = 5": (S(0, 2), 5),
    ": = 5": (S(None), 5.0),
    "... = 5": (..., 5.0),
    "(..., 0) = 5": ((..., 0), 5.0),
    "() = 5": ((), 5.0),
    "row = list": (0, [1.0, 2.0, 3.0, 4.0]),
    "row = 0-d": (0, t(7.0)),
    "element = 0-d": ((1, 1), t(7.0)),
    "element = [1]": ((1, 1), [7.0]),
    "column = [3]": ((S(None), 1), [7.0, 8.0, 9.0]),
    "all = row": (S(None), [1.0, 2.0, 3.0, 4.0]),
    "all = column": (S(None), [[1.0], [2.0], [3.0]]),
    "rows = (1, 4)": (S(0, 2), [[1.0, 2.0, 3.0, 4.0]]),
    "row = (1, 4)": (0, [[1.0, 2.0, 3.0, 4.0]]),
    "step": ((S(None), S(None, None, 2)), [5.0, 6.0]),
    "None": (None, 3.0),
    "None row": ((None, 0), [1.0, 2.0, 3.0, 4.0]),
    "tensor = 5": (L([0, 2]), 5.0),
    "tensor = rows": (L([2, 0]), [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]),
    "tensor = row": (L([2, 0]), [1.0, 2.0, 3.0, 4.0]),
    "repeated tensor": (L([0, 0]), 5.0),
    "tensor 0-d": (L(1), 5.0),
    "pairs": ((L([0, 1]), L([1, 2])), [5.0, 6.0]),
    "pairs = 0-d": ((L([0, 1]), L([1, 2])), t(3.0)),
    "slice, tensor": ((S(None), L([3, 0])), [[1.0, 2.0]]),
    "tensor, slice": ((L([0, 1]), S(0, 2)), [5.0, 6.0]),
    "mask = 0": (weights > 5, 0.0),
    "mask = 0-d": (weights > 5, t(2.0)),
    "mask = vector": (weights > 10, [1.0, 2.0]),
    "row mask": (L([True, False, True]), 0.0),
    "row mask = row": (L([True, False, True]), [1.0, 2.0, 3.0, 4.0]),
    "column mask": ((S(None), L([True, False, True, False])), [5.0, 6.0]),
    "list": ([0, 2], 5.0),
    "list pair": (([0, 1], [1, 2]), 5.0),
    "numpy array": (np.array([0, 1]), 5.0),
    "int, tensor": ((0, L([1, 2])), [5.0, 6.0]),
    "mask none true": (weights > 100, 0.0),
    "empty slice": (S(2, 1), 5.0),
    "True": (True, 5.0),
    "False": (False, 5.0),
    "int32 index": (L([0], dtype=torch.int32), 5.0),
    "numpy value": (0, np.ones(4, dtype=np.float32)),
    "int tensor value": (0, L([1, 2, 3, 4])),
    "double value": (0, torch.ones(4, dtype=torch.float64)),
    "uint8 mask": (L([1, 0, 1], dtype=torch.uint8), 5.0),
    "nan": ((0, 0), float("nan")),
    "wrong length": (0, [1.0, 2.0]),
    "wrong rows": (S(None), [[1.0] * 4] * 2),
    "2-d to element": ((0, 0), [[1.0, 2.0]]),
    "mask wrong count": (weights > 10, [1.0, 2.0, 3.0]),
    "tensor wrong rows": (L([0, 1]), [[1.0] * 4] * 3),
    "out of range": (3, 1.0),
    "tensor out of range": (L([3]), 1.0),
    "too many": ((0, 0, 0), 1.0),
    "str": ("a", 1.0),
    "float": (1.0, 1.0),
    "float tensor": (L([1.0]), 1.0),
    "mask wrong shape": (torch.ones(2, 4) > 0, 1.0),
    "value None": (0, None),
    "value str": (0, "a"),
    "value python list": (0, 5.0),
    "complex value": (0, 1j),
}
for label, (index, value) in cases.items():
    T(label, write(index, value))


def assign_list():
    b = torch.zeros(3)
    b[0:2] = [1.0, 2.0]
    return b


T("python list as value", assign_list)
T("tuple as value", lambda: (lambda b: (b.__setitem__(slice(0, 2), (1.0, 2.0)), b)[1])(torch.zeros(3)))

print("# index_put_, scatter, index_add, index_copy, index_fill, masked_scatter")
for label, fn in {
    "index_put": lambda a, v: a.index_put((L([0, 1]), L([1, 1])), v),
    "index_put one index": lambda a, v: a.index_put((L([0]),), v[0]),
    "index_put accumulate": lambda a, v: a.index_put((L([0, 0]), L([1, 1])), v, accumulate=True),
    "scatter": lambda a, v: a.scatter(1, L([[2], [0]]), v[:, None]),
    "scatter value": lambda a, v: a.scatter(1, L([[2], [0]]), 9.0),
    "scatter_add": lambda a, v: a.scatter_add(1, L([[1, 1], [1, 1]]), torch.stack([v, v])),
    "scatter reduce": lambda a, v: a.scatter_reduce(1, L([[1], [1]]), v[:, None], "sum"),
    "index_add": lambda a, v: a.index_add(0, L([0, 0]), torch.stack([v, v], 1)[:, [0, 1, 0]]),
    "index_add alpha": lambda a, v: a.index_add(1, L([0, 0]), torch.stack([v, v]), alpha=2),
    "index_copy": lambda a, v: a.index_copy(1, L([2, 0]), torch.stack([v, v])),
    "index_fill": lambda a, v: a.index_fill(1, L([2]), 9.0),
    "masked_fill": lambda a, v: a.masked_fill(a > 2, v[0]),
    "masked_fill scalar": lambda a, v: a.masked_fill(a > 2, 0.0),
    "masked_scatter": lambda a, v: a.masked_scatter(a > 4, v),
    "where": lambda a, v: torch.where(a > 2, a, v[0]),
    "where scalars": lambda a, v: torch.where(a > 2, 1.0, 0.0),
    "select_scatter": lambda a, v: a.select_scatter(v, 1, 0),
    "slice_scatter": lambda a, v: a.slice_scatter(v[:, None], 1, 0, 1),
    "diagonal_scatter": lambda a, v: a.diagonal_scatter(v),
}.items():

    def run(fn=fn):
        a, v = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), t([7.0, 8.0])
        y = fn(a, v)
        if y.requires_grad:
            (y * weights[:2, :3]).sum().backward()
        return y, a.grad, v.grad

    T(label, run)
