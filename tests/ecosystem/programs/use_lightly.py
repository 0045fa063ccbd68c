"""lightly: SimCLR, BYOL, SimSiam, Barlow twins, VICReg, SwaV and DINO losses and heads."""
import copy
import warnings

import torch
from lightly.loss import BarlowTwinsLoss, DINOLoss, NegativeCosineSimilarity, NTXentLoss, SwaVLoss, VICRegLoss
from lightly.models.modules import heads
from lightly.models.utils import deactivate_requires_grad, update_momentum

warnings.simplefilter("ignore")
torch.manual_seed(0)
backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
head = heads.SimCLRProjectionHead(8, 16, 8)
a, b = torch.randn(16, 3, 16, 16), torch.randn(16, 3, 16, 16)
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], 0.06)
for name, loss_of in (
        ("simclr", NTXentLoss()), ("memory", NTXentLoss(memory_bank_size=(32, 8))), ("barlow", BarlowTwinsLoss()),
        ("vicreg", VICRegLoss()), ("cosine", NegativeCosineSimilarity())):
    for _ in range(3):
        loss = loss_of(head(backbone(a)), head(backbone(b)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, f"{loss.item():.4f}")
momentum = copy.deepcopy(backbone)
deactivate_requires_grad(momentum)
update_momentum(backbone, momentum, 0.9)
print(f"{sum(p.abs().sum() for p in momentum.parameters()).item():.4f}")
student, teacher = heads.DINOProjectionHead(8, 16, 8, 32), heads.DINOProjectionHead(8, 16, 8, 32)
loss = DINOLoss(output_dim=32)([teacher(backbone(v)).detach() for v in (a, b)], [student(backbone(v)) for v in (a, b)], epoch=1)
loss.backward()
print("dino", f"{loss.item():.4f}")
prototypes = heads.SwaVPrototypes(8, 16)
high = [prototypes(torch.nn.functional.normalize(head(backbone(v)), dim=1)) for v in (a, b)]
print("swav", f"{SwaVLoss()(high, high[:1]).item():.4f}")
