"""Which results share memory: writes through one name seen through the other; strides, offsets, contiguity."""

import torch

from _log import T, t

makers = {
    "view": lambda x: x.view(6),
    "view -1": lambda x: x.view(-1, 2),
    "reshape": lambda x: x.reshape(3, 2),
    "reshape of t": lambda x: x.t().reshape(6),
    "flatten": lambda x: x.flatten(),
    "ravel": lambda x: x.ravel(),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(),
    "expand": lambda x: x[:1].expand(4, 3),
    "row": lambda x: x[1],
    "column": lambda x: x[:, 1],
    "step": lambda x: x[:, ::2],
    "element": lambda x: x[1, 1],
    "none": lambda x: x[None, :, None],
    "ellipsis": lambda x: x[..., 1:],
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(0, 1),
    "diagonal": lambda x: x.diagonal(),
    "split": lambda x: x.split(2, dim=1)[1],
    "chunk": lambda x: x.chunk(2, dim=1)[0],
    "unbind": lambda x: x.unbind(1)[2],
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "view_as": lambda x: x.view_as(x),
    "expand_as": lambda x: x.expand_as(x),
    "movedim": lambda x: x.movedim(0, 1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 2)),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "numpy and back": lambda x: torch.from_numpy(x.detach().numpy()),
    "contiguous": lambda x: x.contiguous(),
    "contiguous of t": lambda x: x.t().contiguous(),
    "to same": lambda x: x.to(torch.float32),
    "clone": lambda x: x.clone(),
    "index list": lambda x: x[[0, 1]],
    "index tensor": lambda x: x[torch.tensor([0])],
    "mask": lambda x: x[x > 2],
    "add": lambda x: x + 0,
    "repeat": lambda x: x.repeat(1, 1),
    "flip": lambda x: x.flip(0),
    "index_select": lambda x: x.index_select(0, torch.tensor([0, 1])),
    "broadcast_to": lambda x: torch.broadcast_to(x, (2, 2, 3)),
    "atleast_2d": lambda x: torch.atleast_2d(x),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
    "view dtype": lambda x: x.view(torch.int32),
    "real": lambda x: x.real,
}
for label, make in makers.items():

    def run(make=make):
        x = torch.arange(6.0).view(2, 3).clone()
        y = make(x)
        before = y.clone()
        x.add_(100)
        shares = not torch.equal(y, before)
        return (
            list(y.shape),
            list(y.stride()),
            y.storage_offset(),
            y.is_contiguous(),
            y._is_view(),
            y._base is x,
            "shares" if shares else "copy",
            y._version,
        )

    T(label, run)

print("# grad_fn of the same")
for label, make in makers.items():

    def names(make=make):
        y = make(t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        return y.requires_grad, type(y.grad_fn).__name__, y._is_view()

    T(label, names)

print("# writing through a view")
x = torch.zeros(2, 3)
x[0].add_(1)
x.t()[2].mul_(0).add_(7)
x.view(6)[4] = 9
x[:, :1].fill_(-1)
x.diagonal().add_(0.5)
print(x)
a = torch.arange(4.0)
b = a.expand(3, 4)
a[0] = 50
print(b)
T("expanded write", lambda: b.add_(1))
T("expanded setitem", lambda: b.__setitem__((0, 0), 1.0))
T("view of non-contiguous", lambda: torch.zeros(2, 3).t().view(6))
T("view wrong size", lambda: torch.zeros(2, 3).view(5))
T("view of non-contiguous that works", lambda: torch.zeros(4, 6)[:, ::2].view(2, 2, 3).stride())
T("view -1 twice", lambda: torch.zeros(2, 3).view(-1, -1))
T(
    "data_ptr of view",
    lambda: (lambda q: (q[0].data_ptr() == q.data_ptr(), q[1].data_ptr() - q.data_ptr()))(torch.zeros(2, 3)),
)
T("storage offset", lambda: torch.arange(10)[3:].view(7)[2:].storage_offset())
T("nbytes", lambda: (torch.zeros(2, 3).nbytes, torch.zeros(2, 3).element_size(), torch.zeros(2, 3).t().nbytes))
