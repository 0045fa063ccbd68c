"""Log the norm of every layer's gradient with full backward hooks: in deep tanh networks it shrinks on the way back."""

from collections.abc import Callable

import numpy as np

import retrograd as torch

nn = torch.nn
rng = np.random.default_rng(0)


def array(*shape: int) -> torch.Tensor:
    return torch.tensor(rng.standard_normal(shape))


layers = []
for _ in range(8):
    layers += [nn.Linear(16, 16), nn.Tanh()]
model = nn.Sequential(*layers, nn.Linear(16, 1)).double()
with torch.no_grad():
    for p in model.parameters():
        p.copy_(array(*p.shape) * 0.2)

norms: dict[str, list[float]] = {}


def log(name: str) -> Callable[..., None]:
    def hook(module: nn.Module, grad_input: tuple[torch.Tensor, ...], grad_output: tuple[torch.Tensor, ...]) -> None:
        norms.setdefault(name, []).append(grad_output[0].norm().item())

    return hook


linears = [(name, m) for name, m in model.named_modules() if isinstance(m, nn.Linear)]
for name, linear in linears:
    linear.register_full_backward_hook(log(name))

x = array(32, 16).requires_grad_()
y = x.detach()[:, :1].sin()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 20 == 0 or step == 59:
        print(f"step {step:2}  loss {loss.item():.5f}")

print("\nnorm of the gradient of each layer's output")
print("layer  first step  last step")
for name in dict(linears):
    print(f"{name:>5}  {norms[name][0]:10.2e}  {norms[name][-1]:9.2e}")
