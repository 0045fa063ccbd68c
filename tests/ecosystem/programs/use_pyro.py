import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO

pyro.set_rng_seed(0)
data = torch.tensor([1.0, 2.0, 3.0, 2.5])
def model(data):
    mean = pyro.sample("mean", dist.Normal(0.0, 5.0))
    with pyro.plate("data", len(data)):
        pyro.sample("x", dist.Normal(mean, 1.0), obs=data)
def guide(data):
    loc = pyro.param("loc", torch.tensor(0.0))
    scale = pyro.param("scale", torch.tensor(1.0), constraint=dist.constraints.positive)
    pyro.sample("mean", dist.Normal(loc, scale))
svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
print([round(svi.step(data), 3) for _ in range(20)])
pyro.set_rng_seed(0)
mcmc = MCMC(NUTS(model), num_samples=20, warmup_steps=10, disable_progbar=True)
mcmc.run(data)
print(round(mcmc.get_samples()["mean"].mean().item(), 2))
