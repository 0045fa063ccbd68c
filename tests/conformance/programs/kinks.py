"""Subgradients at ties and kinks."""

import torch

from _log import t

print("# grad of max ties/abs/relu at 0/min/clamp edges")
for n, f, v in [
    ("max ties", lambda v: v.max(), [2.0, 2.0, 1.0]),
    ("amax ties", lambda v: v.amax(), [2.0, 2.0, 1.0]),
    ("maxdim ties", lambda v: v.max(0)[0], [2.0, 2.0, 1.0]),
    ("abs0", lambda v: v.abs().sum(), [0.0, -1.0, 1.0]),
    ("relu0", lambda v: v.relu().sum(), [0.0, -1.0, 1.0]),
    ("clamp edges", lambda v: v.clamp(0, 1).sum(), [0.0, 1.0, 2.0]),
    ("maximum ties", lambda v: torch.maximum(v, torch.tensor([2.0, 0.0, 1.0])).sum(), [2.0, 2.0, 1.0]),
    ("sqrt0", lambda v: v.sqrt().sum(), [0.0, 1.0, 4.0]),
    ("pow0.5", lambda v: (v**0.5).sum(), [0.0, 1.0, 4.0]),
    ("x**0", lambda v: (v**0).sum(), [0.0, 1.0, 4.0]),
    ("norm0", lambda v: v.norm(), [0.0, 0.0, 0.0]),
    ("std const", lambda v: v.std(), [1.0, 1.0, 1.0]),
    ("prod zero", lambda v: v.prod(), [0.0, 2.0, 3.0]),
    ("log0", lambda v: v.log().sum(), [0.0, 1.0, 2.0]),
    ("div0", lambda v: (1 / v).sum(), [0.0, 1.0, 2.0]),
    ("sign", lambda v: v.sign().sum(), [0.0, 1.0, 2.0]),
    ("round", lambda v: v.round().sum(), [0.0, 1.0, 2.0]),
    ("leaky0", lambda v: torch.nn.functional.leaky_relu(v, 0.1).sum(), [0.0, -1.0, 2.0]),
    ("median", lambda v: v.median(), [3.0, 1.0, 2.0]),
    ("0**x", lambda v: (torch.zeros(3) ** v).sum(), [0.0, 1.0, 2.0]),
    ("x**y x=0", lambda v: (v ** torch.tensor([2.0, 3.0, 0.0])).sum(), [0.0, 1.0, 0.0]),
    ("where nan", lambda v: torch.where(v > 0, v.log(), torch.zeros(3)).sum(), [0.0, 1.0, 2.0]),
    ("elu0", lambda v: torch.nn.functional.elu(v).sum(), [0.0, -1.0, 1.0]),
    ("hardtanh edges", lambda v: torch.nn.functional.hardtanh(v).sum(), [-1.0, 0.0, 1.0]),
    ("min ties", lambda v: v.min(), [1.0, 1.0, 2.0]),
    ("sort ties", lambda v: v.sort()[0][0], [1.0, 1.0, 2.0]),
    ("softplus denormal", lambda v: torch.nn.functional.softplus(v).sum(), [-90.0, -95.0, -100.0]),
    ("cumprod0", lambda v: v.cumprod(0).sum(), [0.0, 2.0, 3.0]),
]:
    v = t(v)
    f(v).backward()
    print(f"{n:14s}", v.grad.tolist())
