"""A tensor with metadata: what keeps it, and what loses it."""

import copy
import pickle

import torch


class Meta(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        tags = [a.tag for a in args if isinstance(a, Meta) and hasattr(a, "tag")]
        if isinstance(out, Meta) and tags and not hasattr(out, "tag"):
            out.tag = tags[0]
        return out


def tagged(data, tag):
    out = torch.tensor(data).as_subclass(Meta)
    out.tag = tag
    return out


def show(name, v):
    print(name, type(v).__name__, getattr(v, "tag", None))


x = tagged([[1.0, 2.0], [3.0, 4.0]], "first")
y = tagged([[1.0, 0.0], [0.0, 1.0]], "second")
for name, v in {
    "x+1": x + 1, "x+y": x + y, "y+x": y + x, "1-x": 1 - x, "x@y": x @ y, "x.T": x.T, "x[0]": x[0], "x[0,0]": x[0, 0], "x.sum": x.sum(),
    "x.data": x.data, "x.detach": x.detach(), "x.clone": x.clone(), "x.double": x.double(), "stack": torch.stack([x, y]),
    "cat": torch.cat([x, x]), "relu": torch.nn.functional.relu(x), "softmax": torch.softmax(x, 0), "where": torch.where(x > 1, x, y),
    "plain+x": torch.ones(2, 2) + x, "zeros_like": torch.zeros_like(x), "new_zeros": x.new_zeros(2), "as_tensor": torch.as_tensor(x),
    "tensor": x.clone().detach(), "view": x.view(4), "add_": x.clone().add_(1), "numpy": x.numpy(), "item": x[0, 0].item(),
}.items():
    show(name, v)
largest = x.max(0)
print(type(largest).__name__, type(largest.values).__name__, type(largest.indices).__name__)
print([type(v).__name__ for v in x.split(1)], [type(v).__name__ for v in x], type(x.unbind()).__name__)
show("copy", copy.copy(x))
show("pickle", pickle.loads(pickle.dumps(x)))
print(repr(x), str(x[0]))
w = torch.ones(2, 2, requires_grad=True)
out = (w * x).sum()
show("out", out)
out.backward()
show("grad", w.grad)
g, = torch.autograd.grad((w * x).sum(), w)
show("autograd.grad", g)
leaf = tagged([1.0, 2.0], "leaf").requires_grad_()
(leaf ** 2).sum().backward()
show("leaf", leaf)
show("leaf.grad", leaf.grad)
p = torch.nn.Parameter(tagged([1.0], "parameter"))
show("parameter", p)
print(isinstance(p, torch.nn.Parameter), p.requires_grad, p.is_leaf)
m = torch.nn.Module()
m.p = p
print([n for n, _ in m.named_parameters()], type(m.state_dict()["p"]).__name__)
