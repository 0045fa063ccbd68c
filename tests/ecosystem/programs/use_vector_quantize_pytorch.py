"""vector-quantize-pytorch: VQ with EMA and k-means, residual VQ, FSQ, LFQ, in an autoencoder."""
import warnings

import torch
from vector_quantize_pytorch import FSQ, LFQ, GroupedResidualVQ, ResidualVQ, SimVQ, VectorQuantize

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.randn(2, 32, 16)
for name, q in {
        "vq": VectorQuantize(16, 8, decay=0.8, commitment_weight=1.0),
        "kmeans": VectorQuantize(16, 8, kmeans_init=True, kmeans_iters=3),
        "cosine": VectorQuantize(16, 8, use_cosine_sim=True), "rotation": VectorQuantize(16, 8, rotation_trick=True),
        "learned": VectorQuantize(16, 8, learnable_codebook=True, ema_update=False),
        "residual": ResidualVQ(dim=16, num_quantizers=3, codebook_size=8),
        "groups": GroupedResidualVQ(dim=16, num_quantizers=2, groups=2, codebook_size=8),
        "sim": SimVQ(dim=16, codebook_size=8)}.items():
    leaf = x.clone().requires_grad_()
    for _ in range(3):
        found, indices, loss = q(leaf)
    (found.pow(2).mean() + loss.sum()).backward()
    print(name, tuple(found.shape), int(indices.sum()), [round(v, 4) for v in loss.reshape(-1).tolist()],
          f"{leaf.grad.abs().sum().item():.4f}")
found, indices = FSQ([8, 5, 5])(torch.randn(1, 10, 3))
print(f"{found.sum().item():.4f}", indices.tolist())
found, indices, loss = LFQ(codebook_size=16, dim=8, entropy_loss_weight=0.1)(torch.randn(1, 10, 8))
print(f"{found.sum().item():.4f}", indices.tolist(), f"{loss.item():.4f}")
