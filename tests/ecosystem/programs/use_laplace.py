"""A Laplace approximation of the last layer."""
import torch
from laplace import Laplace
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
data = DataLoader(TensorDataset(torch.randn(60, 4), torch.randint(0, 3, (60,))), batch_size=20)
la = Laplace(model, "classification", subset_of_weights="last_layer", hessian_structure="kron")
la.fit(data)
la.optimize_prior_precision(method="marglik")
print("marglik", la.log_marginal_likelihood().item())
print("predictive", *la(torch.ones(2, 4), link_approx="probit").flatten().tolist())
