"""segmentation-models-pytorch: Unet, FPN and others with a small encoder, losses and metrics, training steps."""
import warnings

import segmentation_models_pytorch as smp
import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
x, y = torch.randn(2, 3, 64, 64), torch.randint(0, 2, (2, 1, 64, 64))
for name, more in (
        ("Unet", {"decoder_attention_type": "scse"}), ("FPN", {}), ("DeepLabV3Plus", {}), ("PSPNet", {}), ("Linknet", {})):
    model = getattr(smp, name)("resnet18", encoder_weights=None, in_channels=3, classes=1, **more)
    loss_of, optimizer = smp.losses.DiceLoss("binary"), torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(2):
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(x)
    print(name, tuple(out.shape), f"{loss.item():.3f}")
logits = torch.randn(2, 1, 8, 8, requires_grad=True)
y = torch.randint(0, 2, (2, 1, 8, 8))
for name in ("JaccardLoss", "DiceLoss", "FocalLoss", "LovaszLoss", "TverskyLoss"):
    loss = getattr(smp.losses, name)("binary")(logits, y)
    (g,) = torch.autograd.grad(loss, logits)
    print(name, f"{loss.item():.5f}", f"{g.abs().sum().item():.5f}")
tp, fp, fn, tn = smp.metrics.get_stats(logits.sigmoid(), y, mode="binary", threshold=0.5)
for score, how in ((smp.metrics.iou_score, "micro"), (smp.metrics.f1_score, "macro")):
    print(f"{score(tp, fp, fn, tn, reduction=how).item():.5f}")
