import torch
from pytorch_metric_learning import losses, miners

torch.manual_seed(0)
x, y = torch.randn(12, 6, requires_grad=True), torch.arange(12) % 3
for loss in (losses.TripletMarginLoss(), losses.NTXentLoss(), losses.SupConLoss(), losses.ContrastiveLoss()):
    value = loss(x, y, miners.MultiSimilarityMiner()(x, y))
    [g] = torch.autograd.grad(value, x)
    print(type(loss).__name__, round(value.item(), 4), round(g.norm().item(), 4))
