import torch
from backpack import backpack, extend
from backpack.extensions import KFAC, BatchGrad, BatchL2Grad, DiagGGNExact, Variance

torch.manual_seed(0)
model = extend(torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)))
loss = extend(torch.nn.CrossEntropyLoss())
x, y = torch.randn(8, 6), torch.arange(8) % 3
with backpack(BatchGrad(), BatchL2Grad(), Variance(), DiagGGNExact(), KFAC()):
    loss(model(x), y).backward()
for p in model.parameters():
    found = p.grad_batch.norm(), p.batch_l2.sum(), p.diag_ggn_exact.sum()
    print(tuple(p.grad_batch.shape), *(round(v.item(), 4) for v in found))
