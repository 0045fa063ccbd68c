"""Optimizers and schedulers with random options over some steps: groups, closures, odd parameters, state dicts."""

from __future__ import annotations

import re
from random import Random
from typing import Any

KNOWN: list[tuple[str, str]] = [
    (r"PyTorch: .*\['state'\]: keys \[\d.*\n.*retrograd: .*\['state'\]: keys \[\d?\]",
     "A step that fails leaves no state of what it did not reach"),
    (r"SWALR\(o, [^,]+, -1,(.*\n)*.*'swa_lr'.*\n", "A call that fails changes nothing"),
    (r"ASGD\((.*\n)*.*lambd=-", "A negative decay makes complex numbers, which PyTorch goes on with"),
    (r"betas=\(torch\.tensor(.*\n)*.*PyTorch: +(TypeError: _foreach|ValueError: beta\d as a Tensor)",
     "A number in a tensor is a number"),
    (r"PyTorch: +UnboundLocalError", "A search of no evaluations finds nothing"),
    (r"PyTorch: +TypeError: _fused", "Steps of one kernel look at their options as the others do"),
    (r"strong_wolfe(.*\n)*.*PyTorch: .*\['(func_evals|n_iter)'\]", "A search decides by the last digit"),
    (r"Adafactor(.*\n)*.*ZeroDivisionError: float division by zero\n +retrograd: (: None|loss)",
     "Empty parameters have nothing to change"),
]
DIGITS: list[tuple[str, str]] = [
    (r"strong_wolfe", "A search decides by the last digit"),
    (r"LBFGS(.*\n)*.*PyTorch: .*\['al'\]\[", "Where all digits cancel"),
    (r"float16(.*\n)*.*PyTorch: +\w+(\.grad)?: torch\.float16", "Half precision rounds at other places"),
    (r"Muon\((.*\n)*.*PyTorch: +[pqr](\.grad)?: torch\.float64", "Newton-Schulz steps in bfloat16 sum in another order"),
    (r"lr=torch\.tensor(.*\n)*.*PyTorch: +[pqr](\.grad)?: ", "A lr in float32 is a number in float64 here"),
    (r"PyTorch: .*\b(nan|inf)\b|retrograd: .*\b(nan|inf)\b", "Which of two huge numbers overflows first"),
    (r"centered(.*\n)*.*load_state_dict|centered=True(.*\n)*.*PyTorch: +[pqr]: ", "Where all digits cancel"),
    (r"nesterov=(True|1)(.*\n)*.*PyTorch: +[pqr]\.grad: ", "PyTorch's foreach adds the momentum to the gradients themselves"),
]
VERSIONS = False


def odd(rng: Random, strange: bool, usual: list[Any], seldom: list[Any]) -> Any:
    return rng.choice(seldom if strange and rng.random() < 0.15 else usual)


# name: options that fit, and those that hardly do
COMMON: dict[str, tuple[list[Any], list[Any]]] = {
    "lr": ([0.1, 0.01, 1, "torch.tensor(0.1)"], [0, -1.0, "torch.tensor([0.1, 0.2])", "torch.tensor([0.1])", "'a'"]),
    "weight_decay": ([0.1, 0, 0.5], [-0.1, "torch.tensor(0.1)"]),
    "maximize": ([True, False], [1]),
    "foreach": ([True, False, None], [1]),
    "capturable": ([False], [True]),
    "differentiable": ([False], [False]),
    "eps": ([1e-3, 1e-8], [0.0, -1.0]),
    "betas": (
        [(0.9, 0.99), (0.5, 0.5), (0.0, 0.9)],
        [(1.0, 0.9), (0.9, 1.5), (0, 0), "(torch.tensor(0.9), torch.tensor(0.99))"],
    ),
}
EXTRA: dict[str, dict[str, tuple[list[Any], list[Any]]]] = {
    "SGD": {
        "momentum": ([0.9, 0.5, 0], [-1.0, 1.0]),
        "dampening": ([0, 0.5], [2]),
        "nesterov": ([False, True], [1]),
        "lr": COMMON["lr"],
        "weight_decay": COMMON["weight_decay"],
        "maximize": COMMON["maximize"],
        "foreach": COMMON["foreach"],
        "fused": ([None, False], [True]),
    },
    "Adam": {
        "amsgrad": ([True, False], [1]),
        "betas": COMMON["betas"],
        "eps": COMMON["eps"],
        "decoupled_weight_decay": ([True, False], [True]),
    },
    "AdamW": {"amsgrad": ([True, False], [1]), "betas": COMMON["betas"], "eps": COMMON["eps"]},
    "NAdam": {
        "betas": COMMON["betas"],
        "eps": COMMON["eps"],
        "momentum_decay": ([4e-3, 0.5], [0, -1.0]),
        "decoupled_weight_decay": ([True, False], [1]),
    },
    "RAdam": {"betas": COMMON["betas"], "eps": COMMON["eps"], "decoupled_weight_decay": ([True, False], [1])},
    "Adamax": {"betas": COMMON["betas"], "eps": COMMON["eps"]},
    "Adagrad": {
        "lr_decay": ([0.1, 0], [-1.0]),
        "initial_accumulator_value": ([0, 0.5], [-1.0]),
        "eps": ([1e-10, 1e-3], [0.0, -1.0]),
    },
    "Adadelta": {"rho": ([0.9, 0.5], [0.0, 1.0, 2.0]), "eps": COMMON["eps"]},
    "RMSprop": {
        "alpha": ([0.9, 0.5], [0.0, 1.0, -1.0]),
        "eps": COMMON["eps"],
        "momentum": ([0, 0.9], [-1.0]),
        "centered": ([True, False], [1]),
    },
    "Rprop": {
        "etas": ([(0.5, 1.2), (0.1, 3.0)], [(1.5, 1.2), (0, 2)]),
        "step_sizes": ([(1e-6, 50), (0.1, 0.2)], [(1, 0.1), (0, 0)]),
    },
    "ASGD": {"lambd": ([1e-4, 0.1], [0.0, -1.0]), "alpha": ([0.75, 0.5], [0.0]), "t0": ([1e6, 3], [0, -1])},
    "Adafactor": {
        "beta2_decay": ([-0.8, -0.5], [0, 0.5]),
        "eps": ([(None, 1e-3), (1e-3, 0.1)], [(-1.0, 0.1), (None, -1.0), (0.0, 0.0)]),
        "d": ([1.0, 0.5], [0.0, -1.0]),
    },
    "LBFGS": {
        "max_iter": ([1, 3, 5], [0, -1]),
        "max_eval": ([None, 2, 10], [0]),
        "tolerance_grad": ([1e-7, 0.1], [0, -1.0]),
        "tolerance_change": ([1e-9, 0.1], [0, -1.0]),
        "history_size": ([1, 3, 10], [0]),
        "line_search_fn": ([None, "strong_wolfe"], ["weak"]),
    },
    "Muon": {
        "momentum": ([0.9, 0.5], [0, -1.0, 1.0]),
        "nesterov": ([True, False], [1]),
        "ns_steps": ([1, 3, 5], [0, 100]),
        "adjust_lr_fn": ([None, "original", "match_rms_adamw"], ["other"]),
        "eps": COMMON["eps"],
        "ns_coefficients": ([(3.4445, -4.775, 2.0315)], [(1.0, 2.0), (0, 0, 0)]),
    },
    "SparseAdam": {"betas": COMMON["betas"], "eps": COMMON["eps"], "maximize": COMMON["maximize"], "lr": COMMON["lr"]},
}
LACKING = {
    "SGD": (),
    "Adam": ("fused",),
    "AdamW": ("fused",),
    "Adagrad": ("capturable",),
    "LBFGS": ("maximize", "foreach", "capturable", "differentiable", "weight_decay"),
    "Muon": ("maximize", "foreach", "capturable", "differentiable"),
    "Adafactor": ("capturable", "differentiable"),
    "Rprop": ("weight_decay",),
}
SCHEDULERS = [
    "StepLR(o, {n}, {g})",
    "MultiStepLR(o, [1, {n}], {g})",
    "ConstantLR(o, {g}, {n})",
    "LinearLR(o, {g}, 1.0, {n})",
    "ExponentialLR(o, {g})",
    "CosineAnnealingLR(o, {n})",
    "PolynomialLR(o, {n}, {p})",
    "LambdaLR(o, lambda e: {g} ** e)",
    "MultiplicativeLR(o, lambda e: {g})",
    "CosineAnnealingWarmRestarts(o, {n})",
    "CyclicLR(o, 0.01, {g}, {n}, cycle_momentum={b})",
    "OneCycleLR(o, {g}, total_steps=20)",
    "OneCycleLR(o, {g}, epochs={n}, steps_per_epoch={n}, three_phase={b})",
    "ReduceLROnPlateau(o, patience={n}, factor={g})",
    "SequentialLR(o, [torch.optim.lr_scheduler.ConstantLR(o, {g}, {n}), torch.optim.lr_scheduler.ExponentialLR(o, {g})], [{n}])",
    "ChainedScheduler([torch.optim.lr_scheduler.ConstantLR(o, {g}, {n}), torch.optim.lr_scheduler.ExponentialLR(o, {g})])",
    "SWALR",
]


def options(rng: Random, name: str, strange: bool, chance: float = 0.4) -> str:
    table = dict(EXTRA[name])
    if name not in ("SGD", "SparseAdam"):
        table |= {k: v for k, v in COMMON.items() if k not in ("eps", "betas") and k not in LACKING.get(name, ())}
    chosen = {key: odd(rng, strange, *table[key]) for key in table if rng.random() < (chance if key != "capturable" else 0.1)}
    if name == "SGD" and "nesterov" in chosen and not strange:
        chosen |= {"momentum": 0.9, "dampening": 0}
    if name == "ASGD":
        chosen.pop("foreach", None)  # there PyTorch computes the size of a step in float32
    if "torch" in str(chosen.get("betas")) and not name.startswith("Adam"):
        del chosen["betas"]
    if "torch" in str(chosen.get("lr")) and name == "LBFGS":
        del chosen["lr"]  # the state is that very tensor there, which a scheduler changes
    text = [
        f"{k}={v if isinstance(v, str) and ('torch' in v or v == chr(39) + 'a' + chr(39)) else repr(v)}"
        for k, v in chosen.items()
    ]
    return ", ".join(text)


def program(rng: Random) -> list[str]:
    name = rng.choice(list(EXTRA))
    strange = rng.random() < 0.4
    lines = [f"torch.manual_seed({rng.randrange(100)})"]
    count = rng.choice([1, 2, 2, 3])
    dtype = odd(rng, strange, ["float32", "float64", "float64"], ["float16", "int64"])
    if name == "LBFGS" and dtype in ("float16", "float32"):
        dtype = "float64"  # near a minimum all its digits cancel
    names = "pqr"[:count]
    for letter in names:
        shape = (
            (rng.choice([1, 2, 3]), rng.choice([1, 2, 3])) if name == "Muon" or rng.random() < 0.5 else (rng.choice([1, 2, 3]),)
        )
        shape = odd(rng, strange, [shape], [(), (0,), (0, 2), (2, 0), (2, 1, 2)])
        if dtype == "int64":
            lines.append(f"{letter} = torch.randint(-3, 4, {shape})")
        else:
            lines.append(f"{letter} = nn.Parameter(torch.randn({shape}, dtype=torch.{dtype}))")
            if rng.random() < 0.1:
                lines.append(f"{letter}.requires_grad_(False)")
    named = rng.random() < 0.15
    item = {n: f"('{n}', {n})" if named else n for n in names}
    if rng.random() < 0.35 and count > 1:
        groups = ", ".join(
            [
                f"dict(params=[{item[names[0]]}], {options(rng, name, False)})",
                f"dict(params=[{', '.join(item[n] for n in names[1:])}])",
            ]
        )
    else:
        groups = ", ".join(item[n] for n in names)
    make = f"torch.optim.{name}([{groups}], {options(rng, name, strange)})"
    if dtype == "float64":
        make = re.sub(r"(tensor\([\d., \[\]]+\))", r"\1.double()", make)
    lines.append(f"o = {make}")
    lines.append("o.defaults")
    lines.append(
        "target = lambda: sum(((n - 1) ** 2 * torch.linspace(1, 2, n.numel(), dtype=n.dtype).reshape(n.shape)).sum() "
        f"for n in [{', '.join(names)}])"
    )
    skipped = rng.choice(names) if rng.random() < 0.15 else ""
    lines.append(
        "def closure():\n    o.zero_grad(set_to_none="
        + str(rng.random() < 0.8)
        + ")\n    loss = target()\n    loss.backward()\n"
        + (f"    {skipped}.grad = None\n" if skipped else "")
        + "    return loss"
    )
    scheduled = rng.random() < 0.3
    if scheduled:
        text = rng.choice(SCHEDULERS)
        g = odd(rng, strange, [0.5, 0.1, 0.9], [0.0, 1.0, 2.0, -1.0])
        n = odd(rng, strange, [1, 2, 3, 5], [0, -1])
        if text == "SWALR":
            lines.append(f"s = torch.optim.swa_utils.SWALR(o, {g}, {n}, {rng.choice(['linear', 'cos'])!r})")
        else:
            text = text.format(g=g, n=n, p=rng.choice([1.0, 2.0]), b=rng.random() < 0.5)
            lines.append(f"s = torch.optim.lr_scheduler.{text}")
    closed = name == "LBFGS" or rng.random() < 0.2
    plateau = scheduled and "Plateau" in text
    for step in range(rng.choice([1] if dtype == "float16" else [1, 3] if name == "LBFGS" else [2, 4, 7])):
        if closed:
            lines.append("loss = o.step(closure)")
        else:
            lines += ["loss = closure()", "o.step()"]
        if scheduled:
            lines.append("s.step(loss)" if plateau else "s.step()")
            lines.append("[x['lr'] for x in o.param_groups]")
        if step == 1 and rng.random() < 0.1:
            lines.append(f"o.param_groups[0][{rng.choice(['lr', 'weight_decay'])!r}] = {rng.choice([0.05, 0.0])}")
    lines.append("kept = o.state_dict()")
    if scheduled and rng.random() < 0.5:
        lines.append("s.state_dict()")
    if rng.random() < 0.5:
        lines.append(
            f"o = torch.optim.{name}([{groups}], {options(rng, name, False)})" if rng.random() < 0.5 else f"o = {make}"
        )
        lines.append("o.load_state_dict(kept)")
        lines.append("loss = o.step(closure)")
        lines.append("o.state_dict()")
    return lines
