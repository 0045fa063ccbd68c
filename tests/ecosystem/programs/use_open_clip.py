"""OpenCLIP: a small CLIP, trained with both contrastive losses."""
import warnings

import torch
from open_clip.loss import ClipLoss, SigLipLoss
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = CLIP(16, CLIPVisionCfg(layers=2, width=32, head_width=16, patch_size=8, image_size=32),
             CLIPTextCfg(context_length=8, vocab_size=50, width=32, heads=2, layers=2))
images, texts = torch.randn(4, 3, 32, 32), torch.randint(1, 50, (4, 8))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for kind, loss_of in (("clip", ClipLoss()), ("siglip", SigLipLoss())):
    for step in range(4):
        optimizer.zero_grad()
        a, b, scale = model(images, texts)
        loss = loss_of(a, b, scale) if kind == "clip" else loss_of(a, b, scale, torch.zeros(()))
        loss.backward()
        optimizer.step()
        print(kind, step, f"{loss.item():.5f}")
model.eval()
with torch.no_grad():
    found = model.encode_image(images, normalize=True) @ model.encode_text(texts, normalize=True).T
    print(f"{found.abs().mean().item():.4f}")
