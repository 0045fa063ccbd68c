"""Real NVP of normflows."""
import normflows as nf
import torch

torch.manual_seed(0)
flows = []
for _ in range(3):
    flows += [nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 16, 2], init_zeros=True)), nf.flows.Permute(2, mode="swap")]
model = nf.NormalizingFlow(nf.distributions.base.DiagGaussian(2), flows)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
x = torch.randn(64, 2) * 2
for _ in range(20):
    loss = model.forward_kld(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
