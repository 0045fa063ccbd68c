"""Simulation-based inference by a flow."""
import warnings

import torch
from sbi.inference import NPE
from sbi.utils import BoxUniform

warnings.simplefilter("ignore")
torch.manual_seed(0)
prior = BoxUniform(-2 * torch.ones(2), 2 * torch.ones(2))
theta = prior.sample((100,))
x = theta + 0.1 * torch.randn(100, 2)
inference = NPE(prior, density_estimator="maf", show_progress_bars=False)
inference.append_simulations(theta, x).train(max_num_epochs=3)
print("loss", *inference.summary["training_loss"])
