"""Copies of expanded tensors keep the order of strides, each element once; derivatives at the bounds; empty batches."""
import torch
import torch.nn.functional as F

expanded = {
    "rows": torch.arange(3.0).expand(2, 3),
    "transposed": torch.arange(6.0).reshape(3, 2).t().expand(4, 2, 3),
    "columns": torch.arange(2.0).reshape(2, 1).expand(2, 3),
    "middle": torch.arange(6.0).reshape(3, 1, 2).expand(3, 4, 2),
    "ends": torch.arange(6.0).reshape(1, 3, 2, 1).expand(5, 3, 2, 4),
}
for name, x in expanded.items():
    for order in (tuple(range(x.dim())), tuple(reversed(range(x.dim())))):
        y = x.permute(order)
        print(name, order, y.clone().stride(), y.double().stride(), y.to(torch.int64).stride(), y.contiguous().stride())
        print("  like", [make(y).stride() for make in (torch.empty_like, torch.zeros_like, torch.ones_like)],
              torch.full_like(y, 2.0).stride(), torch.equal(y.clone(), y))

for loss in (F.huber_loss, F.smooth_l1_loss):
    x = torch.tensor([1.0, -1.0, 0.5, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(loss(x, torch.zeros(4), reduction="sum"), x, create_graph=True)
    print(loss.__name__, g.tolist(), torch.autograd.grad(g.sum(), x)[0].tolist())

for shape in ((0, 3), (0, 3, 2), (2, 3, 0)):
    for training in (True, False):
        m = torch.nn.BatchNorm1d(3)
        m.train(training)
        x = torch.zeros(shape, requires_grad=True)
        y = m(x)
        y.sum().backward()
        print(shape, training, y.grad_fn.name(), m.weight.grad, m.bias.grad, x.grad.shape, m.running_var)

for optimizer in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop):
    p = torch.nn.Parameter(torch.ones(2))
    step = optimizer([p], lr=1.0)
    p.grad = torch.ones(2)
    p.data = torch.zeros(3)
    try:
        step.step()
    except RuntimeError as e:
        print(optimizer.__name__, str(e).replace("(2)", "(n)").replace("(3)", "(n)"))
