import torch
from curvlinops import GGNLinearOperator, HessianLinearOperator

torch.manual_seed(0)
model, loss = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)), torch.nn.MSELoss()
data, params = [(torch.randn(6, 4), torch.randn(6, 2))], list(model.parameters())
v = torch.ones(sum(p.numel() for p in params))
for make in (HessianLinearOperator, GGNLinearOperator):
    print([round(x, 4) for x in (make(model, loss, params, data) @ v).tolist()[:6]])
