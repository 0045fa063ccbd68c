"""Operations of models, counted by fvcore."""
import torch
from fvcore.nn import ActivationCountAnalysis, FlopCountAnalysis, flop_count_table, parameter_count

torch.manual_seed(0)
cnn = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 8),
    torch.nn.LayerNorm(8), torch.nn.Linear(8, 2)).eval()
x = torch.randn(2, 1, 8, 8)
print("parameters", *parameter_count(cnn).values())
flops = FlopCountAnalysis(cnn, x)
print(flops.total(), sorted(flops.by_module().items()), sorted(flops.by_operator().items()), flops.unsupported_ops())
activations = ActivationCountAnalysis(cnn, x)
print(activations.total(), sorted(activations.by_module().items()))
print(flop_count_table(flops))


class Scores(torch.nn.Module):
    def forward(self, a, b):
        return torch.einsum("bij,bkj->bik", a, b) @ b + torch.bmm(a, b.transpose(1, 2)).sum()


print(FlopCountAnalysis(Scores(), (torch.ones(2, 3, 4), torch.ones(2, 3, 4))).by_operator())
