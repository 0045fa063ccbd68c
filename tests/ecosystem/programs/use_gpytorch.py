import gpytorch
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 20)
y = torch.sin(6 * x) + 0.1 * torch.randn(20)
class GP(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = GP(x, y, likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(10):
    optimizer.zero_grad()
    loss = -mll(model(x), y)
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
model.eval()
likelihood.eval()
with torch.no_grad():
    found = likelihood(model(torch.tensor([0.25, 0.75])))
    print([round(v, 3) for v in found.mean.tolist()], [round(v, 3) for v in found.variance.tolist()])
