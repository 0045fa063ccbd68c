"""torch.distributions in use: texts, a policy gradient, a variational autoencoder, a normalising flow, errors."""

import torch
import torch.distributions as D
from torch import nn
from torch.distributions import Categorical, Independent, Normal, constraints, kl_divergence
from torch.distributions.transforms import AffineTransform, ExpTransform, SigmoidTransform, TanhTransform

from _log import T

torch.manual_seed(0)


# ---- what they print ----

for made in (
    Normal(0.0, 1.0), Normal(torch.zeros(3), 2.0), D.Bernoulli(0.3), D.Bernoulli(logits=torch.zeros(2, 1)), D.Beta(1.0, 2.0),
    Categorical(torch.ones(4)), Categorical(logits=torch.zeros(2, 3)), D.Gamma(torch.tensor([1.0, 2.0]), 3.0), D.StudentT(3.0),
    D.MultivariateNormal(torch.zeros(2), torch.eye(2)), Independent(Normal(torch.zeros(3), 1.0), 1), D.LogNormal(0.0, 1.0),
    D.MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.zeros(2), 1.0)), D.Uniform(-1.0, 1.0), D.Poisson(3.0),
    D.TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()]), D.Binomial(10, torch.tensor(0.3)), D.Gumbel(0.0, 2.0),
):
    print(made, made.batch_shape, made.event_shape, made.has_rsample)
    for moment in ("mean", "variance", "support", "entropy"):
        T(moment, lambda made=made, moment=moment: getattr(made, moment)() if moment == "entropy" else getattr(made, moment))
    T("sample", lambda made=made: made.sample((2,)))

for transform in (ExpTransform(), SigmoidTransform().inv, AffineTransform(1.0, 2.0), TanhTransform(), D.StickBreakingTransform(),
                  D.ComposeTransform([AffineTransform(0.0, 2.0), ExpTransform()]), D.biject_to(constraints.interval(-1.0, 2.0)),
                  D.transform_to(constraints.simplex), D.biject_to(constraints.positive)):
    print(transform, transform.domain, transform.codomain, transform.bijective)


# ---- gradients of samples ----

loc, scale = torch.tensor([0.5, -1.0], requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
x = Normal(loc, scale).rsample((3,))
print(x, x.grad_fn.name())
(x**2).sum().backward()
print(loc.grad, scale.grad)
concentration = torch.tensor([2.0, 3.0], requires_grad=True)
print(D.Gamma(concentration, 1.0).rsample().grad_fn.next_functions[0][0].name())
print(type(D.Dirichlet(concentration).rsample().grad_fn).__name__)
print(D.Normal(loc, scale).sample().requires_grad)


# ---- a policy gradient: which of four arms pays ----

policy = nn.Linear(3, 4)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
baseline = 0.0
for episode in range(30):
    state = torch.randn(8, 3)
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    reward = (action == state.argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - baseline)).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    if episode % 10 == 9:
        print(f"{episode} {loss.item():.4f} {reward.mean().item():.4f} {baseline:.4f}")


# ---- a continuous policy, squashed, as in soft actor-critic ----

mean, log_std = nn.Linear(3, 2), nn.Parameter(torch.zeros(2))
base = Normal(mean(torch.randn(5, 3)), log_std.exp())
squashed = D.TransformedDistribution(base, TanhTransform(cache_size=1))
action = squashed.rsample()
log_prob = squashed.log_prob(action).sum(-1)
print(action, log_prob)
(log_prob - action.sum(-1)).mean().backward()
print(mean.weight.grad, log_std.grad)


# ---- a variational autoencoder ----


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 12))

    def forward(self, x):
        loc, raw = self.encoder(x).chunk(2, -1)
        posterior = Independent(Normal(loc, nn.functional.softplus(raw) + 1e-3), 1)
        z = posterior.rsample()
        likelihood = Independent(D.Bernoulli(logits=self.decoder(z)), 1)
        prior = Independent(Normal(torch.zeros_like(loc), torch.ones_like(loc)), 1)
        return (kl_divergence(posterior, prior) - likelihood.log_prob(x)).mean()


data = D.Bernoulli(torch.rand(3, 12)).sample((20,)).reshape(60, 12)
model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(40):
    loss = model(data)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"{step} {loss.item():.4f}")


# ---- a flow, fitted to draws of a mixture ----

target = D.MixtureSameFamily(Categorical(torch.tensor([0.3, 0.7])), Normal(torch.tensor([-1.0, 2.0]), torch.tensor([0.5, 0.3])))
points = target.sample((200,))
shift, stretch = nn.Parameter(torch.zeros(())), nn.Parameter(torch.ones(()))
optimizer = torch.optim.SGD([shift, stretch], lr=0.05)
for step in range(30):
    flow = D.TransformedDistribution(D.StudentT(3.0), [AffineTransform(shift, stretch)])
    loss = -flow.log_prob(points).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f} {shift.item():.4f} {stretch.item():.4f}")


# ---- errors ----

T("scale", lambda: Normal(torch.zeros(2), torch.tensor([1.0, -1.0])))
T("probs", lambda: Categorical(torch.tensor([-1.0, 2.0])))
T("both", lambda: D.Bernoulli(0.5, 0.5))
T("support", lambda: D.Gamma(1.0, 1.0).log_prob(torch.tensor([-1.0, 1.0])))
T("shape", lambda: Independent(Normal(torch.zeros(3), 1.0), 1).log_prob(torch.zeros(2)))
T("batch", lambda: Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2)))
T("value", lambda: Normal(0.0, 1.0).log_prob(0.5))
T("no rsample", lambda: Categorical(torch.ones(2)).rsample())
T("no divergence", lambda: kl_divergence(Normal(0.0, 1.0), D.Cauchy(0.0, 1.0)))
T("no cdf", lambda: D.Beta(1.0, 1.0).cdf(torch.tensor(0.5)))
T("not positive", lambda: D.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 2.0], [2.0, 1.0]])))
T("binomial", lambda: torch.binomial(torch.tensor([3]), torch.tensor([0.5])))
