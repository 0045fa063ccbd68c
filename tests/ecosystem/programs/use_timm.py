"""Small models of timm, trained for three steps each."""
import timm
import torch

for name, options in (("resnet10t", {}), ("vit_tiny_patch16_224", {"img_size": 32, "depth": 2}),
                      ("convnext_atto", {"depths": (1, 1, 1, 1)}), ("mobilenetv3_small_050", {})):
    torch.manual_seed(0)
    net = timm.create_model(name, num_classes=5, **options).double()         # small batches magnify rounding
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    x, y = torch.randn(4, 3, 32, 32).double(), torch.tensor([0, 1, 2, 3])
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(name, loss.item())
    print(name, sum(p.numel() for p in net.parameters()), net.eval()(x).sum().item())
