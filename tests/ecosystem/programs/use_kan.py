"""A Kolmogorov-Arnold network."""
import tempfile

import torch
from kan import KAN

with tempfile.TemporaryDirectory() as folder:
    model = KAN(width=[2, 3, 1], grid=3, k=3, seed=0, auto_save=False, ckpt_path=folder)
    x = torch.rand(50, 2) * 2 - 1
    y = torch.exp(torch.sin(torch.pi * x[:, :1]) + x[:, 1:] ** 2)
    results = model.fit({"train_input": x, "train_label": y, "test_input": x, "test_label": y}, opt="Adam", steps=10, lr=0.01)
print("loss", *map(float, results["train_loss"]))
