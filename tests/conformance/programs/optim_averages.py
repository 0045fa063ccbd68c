"""torch.optim.swa_utils: averages of weights and buffers, their state dicts, SWALR, update_bn, bad input."""

import torch
from torch import nn
from torch.optim import swa_utils as S

from _log import T, t


def show(label, values):
    print(label, *(v.detach() if isinstance(v, torch.Tensor) else v for v in values))


def net():
    m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    with torch.no_grad():
        for i, p in enumerate(m.parameters()):
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape) + 0.25 * i)
    return m


def moved(m, k):
    with torch.no_grad():
        for p in m.parameters():
            p.mul_(0.5).add_(k)
        m[1].running_mean.add_(k)
        m[1].num_batches_tracked.add_(3)


FORMS = {
    "mean": {},
    "mean of buffers": {"use_buffers": True},
    "ema": {"avg_fn": S.get_ema_avg_fn(0.75)},
    "ema of lists": {"multi_avg_fn": S.get_ema_multi_avg_fn(0.75)},
    "ema of lists, buffers": {"multi_avg_fn": S.get_ema_multi_avg_fn(0.75), "use_buffers": True},
    "mean, one by one": {"avg_fn": S.get_swa_avg_fn()},
    "mean, lists": {"multi_avg_fn": S.get_swa_multi_avg_fn(), "device": "cpu"},
    "own": {"avg_fn": lambda a, c, n: a * 0 + c * (n + 1)},
}
for label, options in FORMS.items():
    m = net()
    averaged = S.AveragedModel(m, **options)
    print(f"[{label}]", type(averaged.module).__name__, averaged.n_averaged, averaged.training)
    for k in (0.5, -1.0, 2.0):
        averaged.update_parameters(m)
        moved(m, k)
    averaged.update_parameters(m)
    show("  ", averaged.parameters())
    show("  ", averaged.buffers())
    print("  ", list(averaged.state_dict())[:4], averaged.n_averaged, [p.requires_grad for p in averaged.parameters()][:2])
    again = S.AveragedModel(net(), **options)
    print("  ", again.load_state_dict(averaged.state_dict()), again.n_averaged)
    averaged.eval()
    print("  ", averaged(t([[1.0, 2.0]])).detach())

print(S.AveragedModel(nn.Linear(1, 2)))
mean = S.get_swa_multi_avg_fn()
whole, part = [torch.tensor([4, 8])], [torch.tensor([8, 0])]
for n in (torch.tensor(1), 1):
    try:
        mean(whole, part, n)
        print(whole)
    except RuntimeError as e:
        print(str(e).split("\n")[0])


class Loader:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


m = net().eval()
batches = [t([[1.0, 2.0], [3.0, -1.0]]), t([[0.0, 2.0], [5.0, 1.0], [1.0, 1.0]])]
for loader in (batches, Loader([(b, "label") for b in batches]), [[b] for b in batches]):
    S.update_bn(loader, m)
    show("bn", m.buffers())
    print(m.training, m[1].momentum)
S.update_bn([1, 2], nn.Linear(1, 1))
S.update_bn(batches, m.train(), device="cpu")
print(m.training)


def rates(label, steps=8, **options):
    o = torch.optim.SGD([{"params": [t([1.0])], "lr": 0.5}, {"params": [t([2.0])], "lr": 0.01}])
    s = S.SWALR(o, **options)
    print(f"[{label}]")
    for _ in range(steps):
        print("  ", [f"{g['lr']:.6e}" for g in o.param_groups], s.last_epoch, [f"{r:.6e}" for r in s.get_last_lr()])
        o.step()
        s.step()
    print("  ", sorted(s.state_dict()))
    other = S.SWALR(torch.optim.SGD([{"params": [t([1.0])]}, {"params": [t([2.0])]}], lr=0.3), swa_lr=0.9)
    other.load_state_dict(s.state_dict())
    print("  ", other.last_epoch, other.anneal_epochs, other._anneal_strategy, other.anneal_func(0.25))


rates("cos", swa_lr=0.1, anneal_epochs=5)
rates("linear", swa_lr=[0.1, 0.2], anneal_epochs=4, anneal_strategy="linear")
rates("at once", swa_lr=0.1, anneal_epochs=0)
rates("ten", swa_lr=0.1, steps=13)


sgd = torch.optim.SGD([t([1.0])], lr=0.1)
T("fails", lambda: S.AveragedModel(nn.Linear(1, 1), avg_fn=S.get_swa_avg_fn(), multi_avg_fn=S.get_swa_multi_avg_fn()))
T("fails", lambda: S.get_ema_avg_fn(1.5))
T("fails", lambda: S.get_ema_multi_avg_fn(-0.1))
T("fails", lambda: S.SWALR(sgd, 0.1, anneal_strategy="step"))
T("fails", lambda: S.SWALR(sgd, 0.1, anneal_epochs=-1))
T("fails", lambda: S.SWALR(sgd, 0.1, anneal_epochs=1.5))
T("fails", lambda: S.SWALR(sgd, [0.1, 0.2]))
T("fails", lambda: S.AveragedModel(net()).update_parameters(nn.Linear(2, 3)))
