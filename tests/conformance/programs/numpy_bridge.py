"""NumPy: numpy(), from_numpy, __array__, mixed arithmetic, DLPack, buffer sharing, dtypes."""

import numpy as np
import torch

from _log import T, t

a = np.arange(6, dtype=np.float32).reshape(2, 3)
x = torch.from_numpy(a)
a[0, 0] = 100
print(x, x._version, x.is_contiguous())
x[1, 1] = -1
print(a.tolist(), x._version)
n = x.numpy()
n[0, 1] = 7
print(x[0, 1], n.base is not None or n is a, np.shares_memory(n, a))
r = t([1.0, 2.0])
np_types = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 uint16 uint32 uint64".split()
for name in np_types:
    T(f"from_numpy {name}", lambda name=name: torch.from_numpy(np.ones(1, dtype=name)).dtype)
for name in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split():
    T(f"numpy of {name}", lambda name=name: torch.ones(1, dtype=getattr(torch, name)).numpy().dtype)
for label, fn in {
    "numpy rg": lambda: r.numpy(),
    "numpy rg force": lambda: r.numpy(force=True),
    "numpy no_grad": lambda: torch.no_grad()(lambda: r.numpy())(),
    "numpy detach": lambda: r.detach().numpy(),
    "numpy nonleaf": lambda: (r * 2).numpy(),
    "asarray": lambda: np.asarray(x),
    "array": lambda: np.array(x),
    "asarray rg": lambda: np.asarray(r),
    "array dtype": lambda: np.asarray(x, dtype=np.float64).dtype,
    "array copy shares": lambda: np.shares_memory(np.array(x), a),
    "asarray shares": lambda: np.shares_memory(np.asarray(x), a),
    "np.sum": lambda: np.sum(x),
    "np.exp": lambda: np.exp(torch.zeros(2)),
    "np.add": lambda: np.add(x, 1),
    "ndarray + tensor": lambda: a + x,
    "tensor + ndarray": lambda: x + a,
    "ndarray * rg": lambda: np.ones(2, dtype=np.float32) * r,
    "rg * ndarray": lambda: r * np.ones(2, dtype=np.float32),
    "np.float64 * tensor": lambda: np.float64(2) * x,
    "tensor * np.float64": lambda: x * np.float64(2),
    "tensor * np.int64": lambda: torch.tensor([1, 2]) * np.int64(3),
    "tensor + np.float32": lambda: torch.tensor([1, 2]) + np.float32(0.5),
    "np.bool": lambda: x > np.float32(3),
    "ndarray == tensor": lambda: a == x,
    "ndarray @ tensor": lambda: a @ x.t(),
    "tensor @ ndarray": lambda: x @ a.T,
    "tensor(array)": lambda: torch.tensor(a),
    "tensor(array) copies": lambda: np.shares_memory(torch.tensor(a).numpy(), a),
    "as_tensor shares": lambda: np.shares_memory(torch.as_tensor(a).numpy(), a),
    "as_tensor dtype": lambda: np.shares_memory(torch.as_tensor(a, dtype=torch.float64).numpy(), a),
    "tensor(scalar)": lambda: (
        torch.tensor(np.float32(1.5)),
        torch.tensor(np.int64(2)),
        torch.tensor(np.bool_(True)),
        torch.tensor(np.float64(2.5)),
    ),
    "tensor(list of arrays)": lambda: torch.tensor(np.stack([a[0], a[1]])),
    "tensor(list of scalars)": lambda: torch.tensor([np.float64(1.5), np.float32(2.5)]),
    "negative strides": lambda: torch.from_numpy(a[:, ::-1]),
    "tensor of negative strides": lambda: torch.tensor(a[:, ::-1]),
    "fortran": lambda: torch.from_numpy(np.asfortranarray(a)).stride(),
    "strided": lambda: torch.from_numpy(a[:, ::2]).stride(),
    "0-dim": lambda: torch.from_numpy(np.array(1.5)),
    "empty": lambda: torch.from_numpy(np.empty((0, 2))),
    "object": lambda: torch.from_numpy(np.array([None])),
    "string": lambda: torch.tensor(np.array(["a"])),
    "not an array": lambda: torch.from_numpy([1, 2]),
    "scalar": lambda: torch.from_numpy(np.float32(1)),
    "byte order": lambda: torch.from_numpy(np.ones(1, dtype=">f4")),
    "tolist": lambda: x.tolist(),
    "read-only": lambda: (lambda q: (q.setflags(write=False), torch.from_numpy(q))[1])(np.ones(1)),
    "inplace add of array": lambda: torch.ones(2).add_(torch.from_numpy(np.ones(2))),
    "index with array": lambda: x[np.array([1, 0])],
    "index array with tensor": lambda: a[torch.tensor([1])],
    "setitem array": lambda: (lambda q: (q.__setitem__(0, np.array([1, 2, 3])), q)[1])(torch.zeros(2, 3)),
    "0-dim numpy": lambda: (torch.tensor(1.5).numpy(), torch.tensor(1.5).numpy().shape),
    "iterate": lambda: [type(v).__name__ for v in x[0]],
    "len": lambda: len(x),
    "np.stack": lambda: np.stack([torch.ones(2), torch.zeros(2)]),
    "np.isclose": lambda: np.isclose(torch.ones(2), 1.0),
    "np.mean method": lambda: np.mean(x),
    "np.max": lambda: np.max(torch.ones(2)),
    "dlpack numpy": lambda: np.from_dlpack(torch.arange(3)),
    "dlpack torch": lambda: torch.from_dlpack(np.arange(3)),
    "dlpack shares": lambda: np.shares_memory(np.from_dlpack(x), a),
    "dlpack tensor": lambda: (lambda q: (q.add_(1), x)[0])(torch.from_dlpack(x.clone())),
    "dlpack rg": lambda: np.from_dlpack(r),
    "dlpack device": lambda: tuple(map(int, x.__dlpack_device__())),
    "dlpack bool": lambda: torch.from_dlpack(np.array([True])),
    "array_priority": lambda: x.__array_priority__,
    "frombuffer": lambda: torch.frombuffer(bytearray(b"\x01\x02"), dtype=torch.uint8),
    "asarray list": lambda: torch.asarray([1, 2]),
    "asarray copy": lambda: np.shares_memory(torch.asarray(a, copy=True).numpy(), a),
    "complex": lambda: torch.tensor([1 + 2j]),
    "ndarray setitem tensor": lambda: (lambda q: (q.__setitem__(0, torch.ones(3)), q)[1])(a.copy()),
    "float of numpy": lambda: float(torch.tensor(np.float64(2))),
    "gradient through": lambda: (lambda q: ((q * np.array([2.0, 3.0], dtype=np.float32)).sum().backward(), q.grad)[1])(
        t([1.0, 2.0])
    ),
    "in-place ndarray += tensor": lambda: (lambda q: q.__iadd__(torch.ones(2, 3)))(a.copy()),
    "np.array of list": lambda: np.array([torch.tensor(1.0), torch.tensor(2.0)]),
    "bytes": lambda: x.numpy().nbytes,
}.items():
    T(label, fn)
