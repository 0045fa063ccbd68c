"""Learning-rate schedulers: their rates step by step, state dicts, combinations, errors and warnings."""

import warnings

import torch
import torch.optim as O
import torch.optim.lr_scheduler as L

from _log import T, t


def optimizer(cls=O.SGD, **kwargs):
    x, y = t([1.0]), t([1.0])
    return cls([{"params": [x], "lr": 0.05}, {"params": [y], "lr": 0.5}], **kwargs)


def rates(label, make, steps=14, cls=O.SGD, args=None, **kwargs):
    o = optimizer(cls, **kwargs)
    s = make(o)
    print(f"[{label}]")
    for i in range(steps):
        extra = [group.get("momentum", group.get("betas", (0,))[0]) for group in o.param_groups] if kwargs else []
        print("  ", i, *[f"{group['lr']:.6e}" for group in o.param_groups], *[f"{m:.5f}" for m in extra], getattr(s, "last_epoch", ""))
        o.step()
        s.step(*([] if args is None else [args[i]]))
    state = s.state_dict()
    print("  ", sorted(state))
    again = optimizer(cls, **kwargs)
    s2 = make(again)
    s2.load_state_dict(state)
    print("   resumed", getattr(s2, "last_epoch", ""), [f"{r:.6e}" for r in s2.get_last_lr()])


MOMENTUM = {"momentum": 0.9}
rates("step", lambda o: L.StepLR(o, 3))
rates("step gamma", lambda o: L.StepLR(o, 2, gamma=0.5))
rates("multistep", lambda o: L.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5))
rates("exponential", lambda o: L.ExponentialLR(o, 0.9))
rates("constant", lambda o: L.ConstantLR(o, factor=0.5, total_iters=4))
rates("linear", lambda o: L.LinearLR(o, start_factor=0.25, end_factor=0.75, total_iters=6))
rates("polynomial", lambda o: L.PolynomialLR(o, total_iters=8, power=2.0))
rates("cosine", lambda o: L.CosineAnnealingLR(o, 5, eta_min=0.01), steps=24)
rates("warm restarts", lambda o: L.CosineAnnealingWarmRestarts(o, 4, eta_min=0.01))
rates("warm restarts longer", lambda o: L.CosineAnnealingWarmRestarts(o, 2, T_mult=2), steps=20)
rates("lambda", lambda o: L.LambdaLR(o, lambda n: 0.9**n))
rates("lambdas", lambda o: L.LambdaLR(o, [lambda n: 1 / (n + 1), lambda n: n]))
rates("multiplicative", lambda o: L.MultiplicativeLR(o, lambda n: 0.5 if n % 3 == 0 else 1.1))
rates("one cycle", lambda o: L.OneCycleLR(o, 1.0, total_steps=14), **MOMENTUM)
rates("one cycle linear", lambda o: L.OneCycleLR(o, [1.0, 2.0], epochs=2, steps_per_epoch=7, anneal_strategy="linear"),
      cls=O.Adam, betas=(0.9, 0.99))
rates("one cycle three phases", lambda o: L.OneCycleLR(o, 1.0, total_steps=14, three_phase=True, pct_start=0.4),
      **MOMENTUM)
rates("one cycle without momentum", lambda o: L.OneCycleLR(o, 1.0, total_steps=14, cycle_momentum=False))
rates("cyclic", lambda o: L.CyclicLR(o, 0.1, 1.0, step_size_up=3), **MOMENTUM)
rates("cyclic 2", lambda o: L.CyclicLR(o, 0.1, 1.0, step_size_up=2, step_size_down=3, mode="triangular2"), **MOMENTUM)
rates("cyclic exp", lambda o: L.CyclicLR(o, 0.1, [1.0, 2.0], step_size_up=3, mode="exp_range", gamma=0.9),
      cls=O.Adam, betas=(0.9, 0.99))
rates("cyclic own", lambda o: L.CyclicLR(
    o, 0.1, 1.0, step_size_up=3, scale_fn=lambda x: 1 / (1 + x), scale_mode="iterations", cycle_momentum=False))
rates("sequential", lambda o: L.SequentialLR(
    o, [L.LinearLR(o, 0.1, total_iters=4), L.CosineAnnealingLR(o, 5), L.ExponentialLR(o, 0.5)], [4, 9]))
rates("chained", lambda o: L.ChainedScheduler([L.ConstantLR(o, 0.5, 3), L.ExponentialLR(o, 0.9)]))
METRICS = [5.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0]
rates("plateau", lambda o: L.ReduceLROnPlateau(o, patience=1, factor=0.5), args=METRICS)
rates("plateau max", lambda o: L.ReduceLROnPlateau(
    o, "max", patience=2, cooldown=1, threshold=0.1, threshold_mode="abs", min_lr=[0.01, 0.2]), args=METRICS)
rates("plateau tensors", lambda o: L.ReduceLROnPlateau(o, patience=0, eps=0.01),
      args=[torch.tensor(m) for m in METRICS])

print("# a rate that is a tensor")
x = t([1.0])
o = O.SGD([x], lr=torch.tensor(0.5))
s = L.StepLR(o, 1)
o.step()
s.step()
print(o.param_groups[0]["lr"], s.get_last_lr(), s.base_lrs)

print("# the rate changed by hand")
o = optimizer()
s = L.ExponentialLR(o, 0.5)
o.step()
s.step()
o.param_groups[0]["lr"] = 10.0
s.step()
print([group["lr"] for group in o.param_groups])

print("# resuming")
o = optimizer()
T("without initial_lr", lambda: L.StepLR(o, 3, last_epoch=4))
for group in o.param_groups:
    group["initial_lr"] = 1.0
s = L.StepLR(o, 3, last_epoch=4)
print(s.last_epoch, [group["lr"] for group in o.param_groups])
s = L.CosineAnnealingLR(o, 5, last_epoch=2)
print(s.last_epoch, [f"{group['lr']:.6f}" for group in o.param_groups])

print("# steps to an epoch")
for make in (lambda o: L.StepLR(o, 3), lambda o: L.CosineAnnealingLR(o, 5), lambda o: L.LambdaLR(o, lambda n: 0.9**n)):
    o = optimizer()
    s = make(o)
    o.step()
    T(type(s).__name__, lambda: s.step(7))
    print(s.last_epoch, [f"{group['lr']:.6f}" for group in o.param_groups])
o = optimizer()
s = L.CosineAnnealingWarmRestarts(o, 4, T_mult=2)
for epoch in (0.5, 3.9, 4.0, 11.5, 13.0):
    s.step(epoch)
    print(epoch, s.last_epoch, s.T_cur, s.T_i, [f"{group['lr']:.6f}" for group in o.param_groups])
T("negative epoch", lambda: s.step(-1))

print("# order of the calls")
o = optimizer()
s = L.StepLR(o, 3)
T("scheduler first", lambda: s.step())
T("again", lambda: s.step())
o = optimizer()
s = L.StepLR(o, 3)
o.step = lambda: None
T("step overridden", lambda: s.step())
T("get_lr", lambda: s.get_lr())
print(s.get_last_lr())

print("# errors")
o = optimizer()
for label, fn in (
    ("no optimizer", lambda: L.StepLR(3, 3)), ("lambdas", lambda: L.LambdaLR(o, [abs])),
    ("multiplicative", lambda: L.MultiplicativeLR(o, 3)), ("constant", lambda: L.ConstantLR(o, factor=2)),
    ("linear start", lambda: L.LinearLR(o, start_factor=0)), ("linear end", lambda: L.LinearLR(o, end_factor=2)),
    ("T_0", lambda: L.CosineAnnealingWarmRestarts(o, 0)), ("T_mult", lambda: L.CosineAnnealingWarmRestarts(o, 1, 0)),
    ("eta_min", lambda: L.CosineAnnealingWarmRestarts(o, 1, 1, "x")), ("plateau", lambda: L.ReduceLROnPlateau(o, factor=1)),
    ("mode", lambda: L.ReduceLROnPlateau(o, "x")), ("threshold", lambda: L.ReduceLROnPlateau(o, threshold_mode="x")),
    ("min_lr", lambda: L.ReduceLROnPlateau(o, min_lr=[1])), ("steps", lambda: L.OneCycleLR(o, 1.0)),
    ("total", lambda: L.OneCycleLR(o, 1.0, total_steps=-1)), ("epochs", lambda: L.OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=1)),
    ("per epoch", lambda: L.OneCycleLR(o, 1.0, epochs=1, steps_per_epoch=0.5)),
    ("pct", lambda: L.OneCycleLR(o, 1.0, total_steps=5, pct_start=2.0)),
    ("anneal", lambda: L.OneCycleLR(o, 1.0, total_steps=5, anneal_strategy="x")),
    ("max_lr", lambda: L.OneCycleLR(o, [1.0], total_steps=5)),
    ("no momentum", lambda: L.OneCycleLR(optimizer(O.Adagrad), 1.0, total_steps=5)),
    ("cyclic mode", lambda: L.CyclicLR(o, 0.1, 1.0, mode="x")), ("cyclic lr", lambda: L.CyclicLR(o, [0.1], 1.0)),
    ("cyclic momentum", lambda: L.CyclicLR(optimizer(O.Adagrad), 0.1, 1.0)),
    ("sequential none", lambda: L.SequentialLR(o, [], [])),
    ("sequential plateau", lambda: L.SequentialLR(o, [L.ReduceLROnPlateau(o)], [])),
    ("sequential milestones", lambda: L.SequentialLR(o, [L.StepLR(o, 1)], [1])),
    ("sequential other", lambda: L.SequentialLR(o, [L.StepLR(optimizer(), 1)], [])),
    ("sequential what", lambda: L.SequentialLR(o, [3], [])), ("chained none", lambda: L.ChainedScheduler([])),
    ("chained plateau", lambda: L.ChainedScheduler([L.ReduceLROnPlateau(o)])),
):
    T(label, fn)
o = optimizer(momentum=0.9)
s = L.OneCycleLR(o, 1.0, total_steps=2)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    s.step()
    s.step()
T("too many steps", lambda: s.step())


class Factor:
    def __init__(self, base):
        self.base = base

    def __call__(self, n):
        return self.base**n


o = optimizer()
s = L.LambdaLR(o, [Factor(0.5), lambda n: 1.0])
print(s.state_dict()["lr_lambdas"])
s2 = L.LambdaLR(optimizer(), [Factor(0.1), lambda n: 1.0])
s2.load_state_dict(s.state_dict())
print(s2.lr_lambdas[0].base)
