"""Layers for many classes, and pools at fractional steps: what they print, their parts, predictions, bad input."""

import torch
import torch.nn.functional as F
from torch import nn

from _log import T


def filled(m):
    with torch.no_grad():
        for i, p in enumerate(m.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel(), dtype=p.dtype) * (i + 1.5)).view_as(p))
    return m


m = filled(nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, head_bias=True))
print(m, m.cutoffs, m.shortlist_size, m.n_clusters, m.head_size, list(m.state_dict()))
x = torch.cos(torch.arange(48.0)).view(6, 8).requires_grad_()
target = torch.tensor([0, 11, 3, 2, 7, 6])
found = m(x, target)
print(found, type(found).__name__, found.output.shape)
found.loss.backward()
print(x.grad[1], m.head.bias.grad, m.tail[0][1].weight.grad)
print(m.log_prob(x).exp().sum(1), torch.allclose(m.log_prob(x).gather(1, target[:, None]).squeeze(1), found.output))
print(m.predict(x), m.log_prob(x).argmax(1), m.predict(x).dtype)
print(m(x[0], target[0]), m(x[:1], target[:1]))
output, loss = m(x[:2], torch.tensor([0, 1]))
print(output, loss, m.tail[1][0].weight.grad.shape)
m.zero_grad()
m(x, torch.tensor([0, 1, 2, 2, 1, 0])).loss.backward()
print([p.grad is None for p in m.parameters()])
m.reset_parameters()

T("no cutoffs", nn.AdaptiveLogSoftmaxWithLoss, 8, 12, [])
T("unsorted", nn.AdaptiveLogSoftmaxWithLoss, 8, 12, [7, 3])
T("twice", nn.AdaptiveLogSoftmaxWithLoss, 8, 12, [3, 3])
T("too many", nn.AdaptiveLogSoftmaxWithLoss, 8, 12, [3, 12])
T("zero", nn.AdaptiveLogSoftmaxWithLoss, 8, 12, [0, 3])
T("a fraction", nn.AdaptiveLogSoftmaxWithLoss, 8, 12, [2.5])
T("other batch", m, x, target[:2])
T("one sample for several", m, x[0], target)
T("several for one", m, x, target[0])
T("two dims", m, x, target.view(2, 3))
T("target too large", m, x, target + 1)
T("negative target", m, x, target - 1)

print("-- fractional pools")
grid = torch.sin(torch.arange(84.0) * 5).view(2, 1, 6, 7).requires_grad_()
u = torch.tensor([[[0.3, 0.7]], [[0.9, 0.05]]])
y, where = F.fractional_max_pool2d(grid, 2, 3, return_indices=True, _random_samples=u)
print(y, where, y.grad_fn.name(), y.grad_fn._saved_kernel_size, y.grad_fn._saved_output_size)
y.square().sum().backward()
print(grid.grad)
print(nn.FractionalMaxPool2d(3, output_size=5), nn.FractionalMaxPool3d((2, 3, 2), output_ratio=0.5, return_indices=True))
torch.manual_seed(0)
print(nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.6))(grid).shape, nn.FractionalMaxPool3d(2, 3)(torch.ones(2, 5, 6, 7)).shape)
print([t.shape for t in F.fractional_max_pool3d_with_indices(torch.ones(1, 1, 4, 5, 6), (1, 2, 3), (2, 3, 2))])
cube = torch.ones(2, 5, 6, 7)
for label, pool, x, args in (
    ("neither", F.fractional_max_pool2d, grid, (2,)), ("too large", F.fractional_max_pool2d, grid, (4, 4)),
    ("too wide", F.fractional_max_pool2d, grid, ((1, 6), 3)), ("three", F.fractional_max_pool2d, grid, ((1, 1, 1), 3)),
    ("sizes", F.fractional_max_pool2d, grid, (2, (1, 2, 3))), ("neither 3d", F.fractional_max_pool3d, cube, (2,)),
    ("no room", F.fractional_max_pool3d, cube, (3, 3)), ("two of three", F.fractional_max_pool3d, cube, ((2, 2), 2)),
    ("empty", F.fractional_max_pool2d, torch.ones(2, 0, 4, 4), (2, 2)), ("whole", F.fractional_max_pool2d, grid.int(), (2, 2)),
    ("2 dims", F.fractional_max_pool2d, grid[0, 0], (2, 2)),
):
    T(label, pool, x, *args)
for label, draws in (("batch", torch.ones(1, 1, 2)), ("channels", torch.ones(2, 3, 2)), ("dims", torch.ones(2, 1, 3)),
                     ("flat", torch.ones(2, 2)), ("dtype", torch.ones(2, 1, 2).double())):
    T(label, F.fractional_max_pool2d, grid, 2, 2, _random_samples=draws)
T("neither size nor ratio", nn.FractionalMaxPool2d, 2)
T("both", nn.FractionalMaxPool3d, 2, 2, 0.5)
T("ratio", nn.FractionalMaxPool2d, 2, output_ratio=(0.5, 1.5))
T("kernel", nn.FractionalMaxPool3d, (2, 0, 2), 2)

print("-- a linear layer and its loss")
layer = filled(nn.LinearCrossEntropyLoss(8, 3, bias=True))
print(layer, list(layer.state_dict()))
x = torch.cos(torch.arange(16.0)).view(2, 8).requires_grad_()
loss = layer(x, torch.tensor([1, 2]))
loss.backward()
print(loss, layer.linear.bias.grad)
print(F.linear_cross_entropy(x, layer.linear.weight, torch.full((2, 3), 1 / 3)), layer(x[0], torch.tensor(1)))
w = layer.linear.weight
T("input dims", F.linear_cross_entropy, x[None], w, torch.tensor([1]))
T("weight dims", F.linear_cross_entropy, x, w[0], torch.tensor([1]))
T("features", F.linear_cross_entropy, x[:, :3], w, torch.tensor([1]))
T("bias", F.linear_cross_entropy, x, w, torch.tensor([1]), linear_bias=torch.ones(2))
T("unbatched", F.linear_cross_entropy, x[0], w[:, None], torch.tensor([1]))
T("ignored probabilities", F.linear_cross_entropy, x, w, torch.full((2, 3), 1 / 3), ignore_index=1)
T("weights", nn.LinearCrossEntropyLoss, 8, 3, weight=torch.ones(2))
options = nn.LinearCrossEntropyOptions(batch_chunk_size=1, chunking_method=None)
print(options, F.linear_cross_entropy(x, w, torch.tensor([1, 2]), options=options).detach(), nn.LinearCrossEntropyLoss(8, 3, options=options))
T("ignored options", F.linear_cross_entropy, x, w, torch.tensor([1, 2]), options=options, label_smoothing=0.5)
T("policy", nn.LinearCrossEntropyOptions, acc_policy="other")
T("method", nn.LinearCrossEntropyOptions, chunking_method="aspect_ratio:0")
T("chunk", nn.LinearCrossEntropyOptions, batch_chunk_size=0)
T("acc dtype", nn.LinearCrossEntropyOptions, acc_dtype=torch.int32)
T("smoothing", nn.LinearCrossEntropyLoss, 8, 3, label_smoothing=1.5)

print("-- memory in another order")
for size, layout in (((2, 3, 4), (0, 2, 1)), ((2, 3, 4, 5), (0, 2, 3, 1)), ((), ()), ((2, 1, 3), (2, 1, 0))):
    e = torch.empty_permuted(size, layout, dtype=torch.int32)
    print(e.shape, e.stride(), e.dtype)
print(torch.empty_permuted((2, 3), (1, 0), requires_grad=True).requires_grad)
for layout in ((0, 0), (0,), (0, 2), (-1, 0)):
    T(layout, torch.empty_permuted, (2, 3), layout)
T("negative", torch.empty_permuted, (2, -3), (1, 0))
x = torch.tensor([[0, 1.0], [2, 0]])
print(torch.nonzero_static(x, size=3), x.nonzero_static(size=1), torch.nonzero_static(torch.tensor(1), size=2, fill_value=4))
T("size", torch.nonzero_static, x, size=-1)
T("no size", torch.nonzero_static, x)
T("out", torch.nonzero_static, x, size=2, out=torch.empty(0))
