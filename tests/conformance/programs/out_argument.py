"""out=: written, returned, resized, cast; versions; refusals when gradients are wanted."""

import torch

from _log import T, t

a, b, x = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), t([1.0, 2.0])
m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def into(fn, out):
    def run():
        o = out()
        v = o._version
        r = fn(o)
        return r is o, o, o._version - v, tuple(o.stride())

    return run


E2 = lambda: torch.full((2,), -1.0)
for label, fn in {
    "add": lambda o: torch.add(a, b, out=o),
    "add alpha": lambda o: torch.add(a, b, alpha=2, out=o),
    "sub": lambda o: torch.sub(a, b, out=o),
    "mul": lambda o: torch.mul(a, b, out=o),
    "div": lambda o: torch.div(a, b, out=o),
    "pow": lambda o: torch.pow(a, 2, out=o),
    "exp": lambda o: torch.exp(a, out=o),
    "log": lambda o: torch.log(a, out=o),
    "sqrt": lambda o: torch.sqrt(a, out=o),
    "abs": lambda o: torch.abs(a, out=o),
    "neg": lambda o: torch.neg(a, out=o),
    "tanh": lambda o: torch.tanh(a, out=o),
    "sum": lambda o: torch.sum(m, 0, out=o),
    "mean": lambda o: torch.mean(m, 0, out=o),
    "mv": lambda o: torch.mv(m, a, out=o),
    "matmul": lambda o: torch.matmul(m, a, out=o),
    "maximum": lambda o: torch.maximum(a, b, out=o),
    "clamp": lambda o: torch.clamp(a, 0, 1, out=o),
    "cat": lambda o: torch.cat([a[:1], b[:1]], out=o),
    "cumsum": lambda o: torch.cumsum(a, 0, out=o),
    "sigmoid": lambda o: torch.sigmoid(a, out=o),
    "index_select": lambda o: torch.index_select(a, 0, torch.tensor([1, 0]), out=o),
    "arange": lambda o: torch.arange(2, out=o),
    "zeros": lambda o: torch.zeros(2, out=o),
    "ones": lambda o: torch.ones(2, out=o),
    "full": lambda o: torch.full((2,), 3.0, out=o),
    "gather": lambda o: torch.gather(a, 0, torch.tensor([1, 1]), out=o),
    "where": lambda o: torch.where(a > 1, a, b, out=o),
}.items():
    T(label, into(fn, E2))
for label, out in {
    "empty": lambda: torch.empty(0),
    "wrong shape": lambda: torch.zeros(3),
    "wrong dims": lambda: torch.zeros(2, 2),
    "double": lambda: torch.zeros(2, dtype=torch.float64),
    "int": lambda: torch.zeros(2, dtype=torch.int64),
    "half": lambda: torch.zeros(2).half(),
    "view": lambda: torch.zeros(2, 2)[:, 0],
    "slice": lambda: torch.zeros(4)[::2],
    "expanded": lambda: torch.zeros(1).expand(2),
    "rg leaf": lambda: torch.zeros(2, requires_grad=True),
    "rg nonleaf": lambda: torch.zeros(2, requires_grad=True) * 1,
    "not a tensor": lambda: type("O", (), {"_version": 0})(),
}.items():
    T("into " + label, into(lambda o: torch.add(a, b, out=o), out))
T("mm into", into(lambda o: torch.mm(m, m, out=o), lambda: torch.zeros(2, 2)))
T("mm into t", into(lambda o: torch.mm(m, m, out=o), lambda: torch.zeros(2, 2).t()))
T("mm into wrong", into(lambda o: torch.mm(m, m, out=o), lambda: torch.zeros(3)))
T("max into pair", lambda: torch.max(m, 1, out=(torch.empty(2), torch.empty(2, dtype=torch.long))))
T("input is out", lambda: (lambda q: (torch.add(q, 1, out=q), q)[1])(a.clone()))
T("x rg", lambda: torch.add(x, 1, out=torch.empty(2)))
T("x rg mul", lambda: torch.mul(x, x, out=torch.empty(2)))
T("x rg exp", lambda: torch.exp(x, out=torch.empty(2)))
T("x rg sum", lambda: torch.sum(x, 0, out=torch.empty(())))
T("x rg matmul", lambda: torch.matmul(m, x, out=torch.empty(2)))
T("out rg", lambda: torch.add(a, 1, out=t([0.0, 0.0])))
T("x rg no_grad", lambda: torch.no_grad()(lambda: torch.add(x, 1, out=torch.empty(2)))())
T("out rg no_grad", lambda: torch.no_grad()(lambda: torch.add(a, 1, out=t([0.0, 0.0])))())
T("comparison into float", lambda: torch.gt(a, 1, out=torch.zeros(2)))
T("comparison into bool", lambda: torch.gt(a, 1, out=torch.zeros(2, dtype=torch.bool)))
T("int div into int", lambda: torch.div(torch.tensor([4]), torch.tensor([2]), out=torch.zeros(1, dtype=torch.int64)))
T("float sum into int", lambda: torch.sum(a, 0, out=torch.zeros((), dtype=torch.int64)))


def saved():
    o = torch.zeros(2)
    y = x * o
    torch.add(a, b, out=o)
    y.sum().backward()


T("out= bumps the version of a saved tensor", saved)

# What has no derivative writes to any out=, whatever requires grad.
w, positions, truths = (
    torch.tensor([1.0, 3.0, 2.0], requires_grad=True),
    torch.empty(0, dtype=torch.long),
    torch.empty(0, dtype=torch.bool),
)
T("argmax of a leaf", lambda: torch.argmax(w, out=positions))
T("nonzero of a leaf", lambda: torch.nonzero(w, out=positions.new_empty(0)))
T("searchsorted", lambda: torch.searchsorted(w.detach(), w, out=positions.new_empty(0)))
T("gt", lambda: torch.gt(w, 1, out=truths))
T("gt into floats", lambda: torch.gt(w, 1, out=torch.empty(3)))
T("gt into a leaf", lambda: torch.gt(w, 1, out=torch.empty(3, requires_grad=True)))
T("eq into a result", lambda: torch.eq(w, w, out=torch.ones(3, requires_grad=True) * 1))
T("logical_not", lambda: torch.logical_not(w, out=torch.empty(3)))
T("isposinf", lambda: torch.isposinf(w, out=truths.new_empty(0)))
T("histc", lambda: torch.histc(w, 3, out=torch.empty(0)))
T("sign, which has one", lambda: torch.sign(w, out=torch.empty(3)))
T("max and its places", lambda: torch.max(w, 0, out=(torch.empty(()), positions.new_empty(()))))
