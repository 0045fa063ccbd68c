"""Fifty steps of every optimizer with its options: parameters, state and version along the way."""

import torch
import torch.optim as O

A = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64)


def loss(p, q, s):
    return ((torch.sin(p) * A).sum(1) - 1).pow(2).sum() + (q - 0.3).pow(2).sum() + (s * q.sum() - 0.5) ** 2


def run(cls, dtype, **kwargs):
    p = torch.tensor([[0.1, 0.2, -0.3], [0.4, -0.5, 0.6]], dtype=dtype, requires_grad=True)
    q = torch.tensor([0.7, -0.8], dtype=dtype, requires_grad=True)
    s = torch.tensor(0.9, dtype=dtype, requires_grad=True)
    o = cls([{"params": [p]}, {"params": [q, s]}], **kwargs)
    print(cls.__name__, kwargs, dtype)
    for i in range(1, 51):
        o.zero_grad(set_to_none=i % 2 == 0)
        value = loss(p.double(), q.double(), s.double())
        value.backward()
        o.step()
        if i in (1, 2, 5, 10, 25, 50):
            print(" ", i, *[f"{x:.5e}" for x in [value.item(), *p.flatten().tolist(), *q.tolist(), s.item()]])
    if not kwargs.get("fused"):
        print("  versions", p._version, q._version, s._version)
    for key, x in o.state[q].items():
        print("  ", key, [f"{v:.5e}" for v in x.flatten().tolist()] if torch.is_tensor(x) else x)


CASES = [
    (O.SGD, {}), (O.SGD, {"lr": 0.05}), (O.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    (O.SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": True}), (O.SGD, {"lr": 0.05, "momentum": 0.8, "dampening": 0.5}),
    (O.SGD, {"lr": 0.001, "momentum": 0.5, "maximize": True, "weight_decay": 0.1}),
    (O.SGD, {"lr": 0.05, "foreach": True}), (O.SGD, {"lr": 0.05, "fused": True, "momentum": 0.9}),
    (O.SGD, {"lr": torch.tensor(0.05)}),
    (O.Adam, {"lr": 0.05, "amsgrad": True}), (O.Adam, {"betas": (0.7, 0.95), "eps": 1e-3, "lr": 0.1}),
    (O.Adam, {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (O.Adam, {"lr": torch.tensor(0.05)}), (O.AdamW, {"fused": True, "amsgrad": True, "lr": 0.05}),
    (O.NAdam, {"momentum_decay": 0.1, "lr": 0.05}), (O.NAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    (O.RAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True, "lr": 0.05}), (O.RAdam, {"betas": (0.5, 0.7)}),
    (O.RMSprop, {"centered": True}), (O.RMSprop, {"momentum": 0.5, "alpha": 0.9, "lr": 0.005}),
    (O.RMSprop, {"centered": True, "momentum": 0.9, "lr": 0.001}),
    (O.Adagrad, {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "lr": 0.1}),
    (O.ASGD, {"t0": 5, "lambd": 0.01, "lr": 0.05}), (O.Rprop, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}),
    (O.Adadelta, {"rho": 0.8, "eps": 1e-3}),
    (O.Adafactor, {"lr": 0.5, "beta2_decay": -0.3, "d": 2.0, "eps": (1e-4, 0.1)}), (O.Adafactor, {"lr": torch.tensor(2.0)}),
]
for cls in (O.Adam, O.AdamW, O.Adamax, O.NAdam, O.RAdam, O.RMSprop, O.Adagrad, O.Adadelta, O.Adafactor, O.ASGD, O.Rprop):
    CASES += [(cls, {}), (cls, {"lr": 0.02})]
    if cls is not O.Rprop:
        CASES += [(cls, {"lr": 0.02, "weight_decay": 0.1}), (cls, {"lr": 0.002, "maximize": True})]
for cls, kwargs in CASES:
    run(cls, torch.float64, **kwargs)
for cls in (O.SGD, O.Adam, O.AdamW, O.Adagrad):
    run(cls, torch.float32, lr=0.01)

print("# L-BFGS")
for kwargs in (
    {}, {"lr": 0.1, "max_iter": 5}, {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 7}, {"lr": 0.05, "history_size": 2},
):
    x = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
    s = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    o = O.LBFGS([x, s], **kwargs)
    calls = []

    def closure():
        o.zero_grad()
        value = (1 - x[:-1]).pow(2).sum() + 10 * (x[1:] - x[:-1] ** 2).pow(2).sum() + (s - x[0]) ** 2
        value.backward()
        calls.append(value.item())
        return value

    print(kwargs, *[f"{o.step(closure).item():.4e}" for _ in range(3)], len(calls))
    print(" ", [f"{v:.4f}" for v in [*x.tolist(), s.item()]], o.state[x]["n_iter"], o.state[x]["func_evals"])
