"""MONAI: a 3-D U-Net and SegResNet, a ViT, losses, a metric, sliding windows."""
import warnings

import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss, DiceLoss, FocalLoss
from monai.metrics import DiceMetric
from monai.networks.nets import SegResNet, UNet, ViT
from monai.utils import set_determinism

warnings.simplefilter("ignore")
set_determinism(0)
x, y = torch.rand(1, 1, 16, 16, 16), torch.randint(0, 2, (1, 1, 16, 16, 16))
nets = {"UNet": UNet(3, 1, 2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1),
        "SegResNet": SegResNet(spatial_dims=3, init_filters=8, in_channels=1, out_channels=2, blocks_down=(1, 2), blocks_up=(1,))}
for name, net in nets.items():
    loss_of, optimizer = DiceCELoss(to_onehot_y=True, softmax=True), torch.optim.Adam(net.parameters(), 1e-3)
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        out = sliding_window_inference(torch.rand(1, 1, 24, 24, 24), (16, 16, 16), 2, net, overlap=0.25)
    print(name, f"{loss.item():.4f}", tuple(out.shape), f"{out.abs().mean().item():.3f}")
vit = ViT(in_channels=1, img_size=(16, 16, 16), patch_size=(8, 8, 8), hidden_size=24, mlp_dim=48, num_layers=2, num_heads=3,
          classification=True, num_classes=3)
print("ViT", tuple(vit(x)[0].shape))
a = torch.randn(2, 2, 8, 8, requires_grad=True)
b = torch.randint(0, 2, (2, 1, 8, 8))
for name, loss in (("dice", DiceLoss(to_onehot_y=True, softmax=True)), ("focal", FocalLoss(to_onehot_y=True))):
    value = loss(a, b)
    (g,) = torch.autograd.grad(value, a)
    print(name, f"{value.item():.5f}", f"{g.abs().sum().item():.5f}")
one = torch.nn.functional.one_hot(b[:, 0], 2).movedim(-1, 1)
dice = DiceMetric(include_background=True)
dice(one, one.flip(0))
print(f"{dice.aggregate().item():.5f}")
