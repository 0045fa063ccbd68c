"""Gradients and node names after each in-place operation, and the refusals."""

import torch

from _log import T, t

ops = {
    "add_ 1": lambda q, w: q.add_(1),
    "add_ w": lambda q, w: q.add_(w),
    "add_ alpha": lambda q, w: q.add_(w, alpha=3),
    "sub_ w": lambda q, w: q.sub_(w),
    "mul_ 2": lambda q, w: q.mul_(2),
    "mul_ w": lambda q, w: q.mul_(w),
    "div_ w": lambda q, w: q.div_(w),
    "div_ 2": lambda q, w: q.div_(2),
    "pow_ 2": lambda q, w: q.pow_(2),
    "pow_ w": lambda q, w: q.pow_(w),
    "neg_": lambda q, w: q.neg_(),
    "exp_": lambda q, w: q.exp_(),
    "log_": lambda q, w: q.log_(),
    "sqrt_": lambda q, w: q.sqrt_(),
    "sin_": lambda q, w: q.sin_(),
    "cos_": lambda q, w: q.cos_(),
    "tanh_": lambda q, w: q.tanh_(),
    "sigmoid_": lambda q, w: q.sigmoid_(),
    "relu_": lambda q, w: q.relu_(),
    "abs_": lambda q, w: q.abs_(),
    "reciprocal_": lambda q, w: q.reciprocal_(),
    "clamp_": lambda q, w: q.clamp_(0, 1.5),
    "clamp_ min": lambda q, w: q.clamp_(min=1.5),
    "zero_": lambda q, w: q.zero_(),
    "fill_": lambda q, w: q.fill_(3.0),
    "fill_ 0-dim": lambda q, w: q.fill_(w[0]),
    "copy_ w": lambda q, w: q.copy_(w),
    "copy_ broadcast": lambda q, w: q.copy_(w[0]),
    "masked_fill_": lambda q, w: q.masked_fill_(q > 1, 9.0),
    "index_fill_": lambda q, w: q.index_fill_(0, torch.tensor([1]), 9.0),
    "index_add_": lambda q, w: q.index_add_(0, torch.tensor([0, 0]), w),
    "index_copy_": lambda q, w: q.index_copy_(0, torch.tensor([1, 0]), w),
    "scatter_": lambda q, w: q.scatter_(0, torch.tensor([1, 0]), w),
    "index_put_": lambda q, w: q.index_put_((torch.tensor([0]),), w[1]),
    "index_put_ accumulate": lambda q, w: q.index_put_((torch.tensor([0, 0]),), w, accumulate=True),
    "addcmul_": lambda q, w: q.addcmul_(w, w),
    "lerp_": lambda q, w: q.lerp_(w, 0.25),
    "square_": lambda q, w: q.square_(),
    "floor_": lambda q, w: q.floor_(),
    "round_": lambda q, w: q.round_(),
    "unsqueeze_": lambda q, w: q.unsqueeze_(0),
    "squeeze_": lambda q, w: q.squeeze_(),
    "q += w": lambda q, w: q.__iadd__(w),
    "q -= w": lambda q, w: q.__isub__(w),
    "q *= w": lambda q, w: q.__imul__(w),
    "q /= w": lambda q, w: q.__itruediv__(w),
    "q **= 2": lambda q, w: q.__ipow__(2),
    "q[0] = w[1]": lambda q, w: (q.__setitem__(0, w[1]), q)[1],
    "q[:] = w": lambda q, w: (q.__setitem__(slice(None), w), q)[1],
    "q[mask] = 0": lambda q, w: (q.__setitem__(q > 1, 0.0), q)[1],
    "q[idx] = w": lambda q, w: (q.__setitem__(torch.tensor([1, 0]), w), q)[1],
    "twice": lambda q, w: q.mul_(w).add_(w),
    "sub_ and neg_": lambda q, w: q.sub_(1).neg_(),
}
for label, op in ops.items():

    def run(op=op):
        x, w = t([1.0, 2.0]), t([3.0, 5.0])
        q = x * 1
        r = op(q, w)
        (q * torch.tensor([1.0, 10.0])).sum().backward()
        return r is q, q, x.grad, w.grad

    T(label, run)

print("# dtypes and shapes that an in-place operation refuses")
i, f, b = torch.tensor([1, 2]), torch.tensor([1.0, 2.0]), torch.tensor([True, False])
T("int += float", lambda: i.add_(1.5))
T("int += float tensor", lambda: i.add_(f))
T("int *= float", lambda: i.mul_(2.0))
T("int /= int", lambda: i.div_(2))
T("int sqrt_", lambda: i.sqrt_())
T("int exp_", lambda: i.exp_())
T("bool += int", lambda: b.add_(1))
T("bool |= bool", lambda: b.__ior__(torch.tensor([True, True])))
T("float += double", lambda: f.add_(torch.ones(2, dtype=torch.float64)))
T("float += wider shape", lambda: f.add_(torch.ones(2, 2)))
T("float += broadcast", lambda: f.add_(torch.ones(1)))
T("float += wrong shape", lambda: f.add_(torch.ones(3)))
T("0-dim += vector", lambda: torch.tensor(1.0).add_(f))
T("copy_ wrong shape", lambda: f.copy_(torch.ones(3)))
T("copy_ casts", lambda: i.copy_(torch.tensor([3.7, -3.7])))
T("fill_ vector", lambda: f.fill_(torch.ones(2)))
T("setitem casts", lambda: (i.__setitem__(0, 2.9), i)[1])
T("setitem tensor casts", lambda: (i.__setitem__(0, torch.tensor(5.9)), i)[1])

print("# leaves and views of leaves")
x = t([[1.0, 2.0], [3.0, 4.0]])
for label, act in {
    "mul_": lambda: x.mul_(2),
    "x -= 1": lambda: x.__isub__(1),
    "fill_": lambda: x.fill_(0),
    "relu_": lambda: x.relu_(),
    "setitem": lambda: x.__setitem__((0, 0), 1.0),
    "mask setitem": lambda: x.__setitem__(x > 1, 1.0),
    "index setitem": lambda: x.__setitem__(torch.tensor([0]), 1.0),
    "row": lambda: x[0].mul_(2),
    "t": lambda: x.t().mul_(2),
    "detach": lambda: x.detach().mul_(1),
    "data": lambda: x.data.mul_(1),
    "transpose_": lambda: x.transpose_(0, 1),
    "copy into other": lambda: torch.zeros(2, 2).copy_(x),
    "index_put_": lambda: x.index_put_((torch.tensor([0]),), torch.tensor(1.0)),
    "masked_fill_": lambda: x.masked_fill_(x > 1, 0.0),
    "normal_": lambda: x.normal_(),
}.items():
    T(label, act)
T("leaf becomes rg", lambda: (lambda q, w: (q.mul_(w), q.is_leaf, q.requires_grad))(torch.ones(2), t([1.0, 2.0])))
T("integer += rg tensor", lambda: torch.tensor([1, 2]).add_(t([1.0, 2.0])))
