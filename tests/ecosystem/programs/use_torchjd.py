import torch
from torchjd.aggregation import MGDA, PCGrad, UPGrad

torch.manual_seed(0)
jacobian = torch.tensor([[1.0, -2.0, 0.5], [-1.0, 1.0, 2.0]])
for aggregate in (UPGrad(), MGDA(), PCGrad()):
    print([round(v, 4) for v in aggregate(jacobian).tolist()])
