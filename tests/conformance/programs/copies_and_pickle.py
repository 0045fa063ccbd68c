"""clone, copy, deepcopy, pickle, to, type casts, new_*: flags, graphs, shared memory."""

import copy
import io
import pickle

import torch

from _log import T, t

x = t([[1.0, 2.0], [3.0, 4.0]])
y = x * 2
facts = lambda q: (q, q.is_leaf, q.requires_grad, type(q.grad_fn).__name__, q._version)
roundtrip = lambda q: pickle.loads(pickle.dumps(q))


def with_grad():
    a = t([1.0, 2.0])
    (a * a).sum().backward()
    return a


for label, fn in {
    "clone leaf": lambda: facts(x.clone()),
    "clone nonleaf": lambda: facts(y.clone()),
    "clone detached": lambda: facts(x.detach().clone()),
    "copy leaf": lambda: facts(copy.copy(x)),
    "copy is": lambda: copy.copy(x) is x,
    "copy shares": lambda: copy.copy(x).data_ptr() == x.data_ptr(),
    "copy nonleaf": lambda: facts(copy.copy(y)),
    "deepcopy leaf": lambda: facts(copy.deepcopy(x)),
    "deepcopy nonleaf": lambda: copy.deepcopy(y),
    "deepcopy shares": lambda: copy.deepcopy(x).data_ptr() == x.data_ptr(),
    "deepcopy grad": lambda: (lambda a: (copy.deepcopy(a).grad, copy.deepcopy(a).grad is a.grad))(with_grad()),
    "deepcopy detached": lambda: facts(copy.deepcopy(y.detach())),
    "deepcopy int": lambda: facts(copy.deepcopy(torch.tensor([1]))),
    "deepcopy in list": lambda: (lambda l: l[0] is l[1])(copy.deepcopy([x, x])),
    "deepcopy views": lambda: (lambda d: (d[0].add_(1), d[1])[1])(
        (lambda b: copy.deepcopy([b, b[0]]))(torch.zeros(2, 2))
    ),
    "pickle leaf": lambda: facts(roundtrip(x)),
    "pickle nonleaf": lambda: facts(roundtrip(y)),
    "pickle no rg": lambda: facts(roundtrip(torch.ones(2))),
    "pickle grad": lambda: roundtrip(with_grad()).grad,
    "pickle dtypes": lambda: [
        roundtrip(torch.ones(1, dtype=d))
        for d in (torch.float16, torch.bfloat16, torch.int8, torch.bool, torch.float64)
    ],
    "pickle view": lambda: (
        roundtrip(torch.arange(6).view(2, 3)[:, 1]),
        roundtrip(torch.arange(6).view(2, 3).t()).stride(),
    ),
    "pickle empty": lambda: roundtrip(torch.empty(0, 3)),
    "pickle 0-dim": lambda: roundtrip(torch.tensor(1.5)),
    "pickle size": lambda: roundtrip(torch.ones(2, 3).shape),
    "pickle dtype": lambda: roundtrip(torch.float32) is torch.float32,
    "pickle device": lambda: roundtrip(torch.device("cpu")),
    "pickle shared": lambda: (lambda p: (p[0].add_(1), p[1])[1])((lambda b: roundtrip([b, b[0]]))(torch.zeros(2, 2))),
    "pickle hooks": lambda: (lambda a: (a.register_hook(lambda g: g), roundtrip(a))[1])(t([1.0])),
    "to dtype": lambda: facts(x.to(torch.float64)),
    "to same": lambda: x.to(torch.float32) is x,
    "to copy": lambda: facts(x.to(torch.float32, copy=True)),
    "to device": lambda: x.to("cpu") is x,
    "to other": lambda: x.to(torch.ones(1, dtype=torch.float64)).dtype,
    "to both": lambda: x.to("cpu", torch.float64).dtype,
    "to keywords": lambda: x.to(dtype=torch.float16, device="cpu").dtype,
    "type": lambda: (x.type(), x.type(torch.float64).dtype, torch.tensor([1]).type()),
    "type string": lambda: x.type("torch.DoubleTensor").dtype,
    "to nonsense": lambda: x.to("nowhere"),
    "to int": lambda: facts(x.to(torch.int64)),
    "double": lambda: facts(x.double()),
    "half": lambda: x.half().dtype,
    "bfloat16": lambda: x.bfloat16().dtype,
    "bool": lambda: x.bool(),
    "byte": lambda: x.byte(),
    "new_tensor": lambda: facts(x.new_tensor([1, 2])),
    "new_zeros": lambda: facts(y.new_zeros(2)),
    "new_ones rg": lambda: facts(y.new_ones(2, requires_grad=True)),
    "new_full": lambda: facts(y.new_full((2,), 7)),
    "new_empty": lambda: y.new_empty(2, 3).shape,
    "zeros_like": lambda: facts(torch.zeros_like(y)),
    "ones_like dtype": lambda: facts(torch.ones_like(y, dtype=torch.int64)),
    "empty_like": lambda: torch.empty_like(y).shape,
    "full_like": lambda: facts(torch.full_like(y, 2)),
    "tensor of tensor": lambda: facts(torch.tensor(x)),
    "tensor of rg 0-dims": lambda: torch.tensor([x[0, 0].detach(), x[1, 1].detach()]),
    "tensor of list of rg": lambda: torch.tensor([x[0, 0], x[1, 1]]),
    "as_tensor": lambda: (
        torch.as_tensor(x) is x,
        torch.as_tensor(x, dtype=torch.float64).dtype,
        torch.as_tensor([1, 2]),
    ),
    "asarray": lambda: torch.asarray([1.0, 2.0]),
    "detach_": lambda: (lambda q: (q.detach_() is q, facts(q)))(x * 1),
    "requires_grad_ chain": lambda: facts(x.detach().clone().requires_grad_()),
    "contiguous": lambda: (x.contiguous() is x, facts(x.t().contiguous())),
    "clone of t": lambda: (x.t().clone().stride(), x.t().contiguous().stride()),
    "clone memory_format": lambda: x.t().clone(memory_format=torch.contiguous_format).stride(),
    "numpy copy": lambda: x.detach().numpy().copy(),
    "equal": lambda: (
        torch.equal(x, x.clone()),
        torch.equal(x, y),
        torch.allclose(x, x + 1e-9),
        torch.equal(x, torch.ones(1)),
    ),
}.items():
    T(label, fn)

buffer = io.BytesIO()
torch.save({"x": x, "n": 3, "l": [torch.arange(3)]}, buffer)
buffer.seek(0)
T("save and load", lambda: torch.load(buffer))
