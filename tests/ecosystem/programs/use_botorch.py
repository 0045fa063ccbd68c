"""One step of Bayesian optimisation."""
import warnings

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.rand(10, 2, dtype=torch.double)
y = 1 - (x - 0.5).norm(dim=-1, keepdim=True)
gp = SingleTaskGP(x, y)
fit_gpytorch_mll(ExactMarginalLogLikelihood(gp.likelihood, gp))
ei = LogExpectedImprovement(gp, best_f=y.max())
print("values", *ei(torch.tensor([[[0.5, 0.5]], [[0.1, 0.9]]], dtype=torch.double)).tolist())
candidate, value = optimize_acqf(ei, bounds=torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double), q=1,
    num_restarts=3, raw_samples=16)
print("best", *[round(c, 2) for c in candidate.flatten().tolist()])
