"""Anomaly mode: switches, nan checks, tracebacks of the forward call, nesting."""

import torch
import torch.autograd as A

from _log import T, t

x = t([1.0, 4.0])
state = lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
print(state())
with A.set_detect_anomaly(True):
    print(state())
    with A.set_detect_anomaly(False):
        print(state())
    with A.set_detect_anomaly(True, check_nan=False):
        print(state())
    print(state())
print(state())
A.set_detect_anomaly(True, False)
print(state())
A.set_detect_anomaly(False)
print(state())


def nan_in(build, check_nan=True):
    def run():
        x = t([1.0, 4.0])
        with A.set_detect_anomaly(True, check_nan=check_nan):
            build(x).sum().backward()
        return x.grad

    return run


for label, build in {
    "sqrt(0)*0": lambda x: (x - 1).sqrt() * 0,
    "0/0": lambda x: (x - 1) / (x - 1),
    "log(0)*0": lambda x: (x - 1).log() * 0,
    "inf is not nan": lambda x: (x - 1).sqrt(),
    "forward nan only": lambda x: torch.where(x > 100, x * float("nan"), x),
    "where log": lambda x: torch.where(x > 1, (x - 1).log(), x),
    "pow": lambda x: (x - 1) ** 0.5 * 0,
    "second output": lambda x: torch.stack([x, (x - 1).sqrt() * 0]),
    "norm of zero": lambda x: (x - x).norm(),
    "mul by nan": lambda x: x * float("nan"),
    "second input": lambda x: torch.ones(2) * x.mul(torch.tensor([float("nan"), 1.0])),
    "mm": lambda x: x[None] @ torch.tensor([[float("nan")], [1.0]]),
}.items():
    T(label, nan_in(build))
    T(label + ", check_nan=False", nan_in(build, check_nan=False))


def hook_nan(x):
    y = x * 2
    y.register_hook(lambda g: g * float("nan"))
    return y


T("nan from a hook of a non-leaf", nan_in(hook_nan))


def hook_raises(x):
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    return y


T("hook raises", nan_in(hook_raises))


def traced():
    with A.detect_anomaly():
        a = x * 2
        b = a - 2
        c = b.sqrt()
        d = c * 0
    d.sum().backward()


T("forward in the mode, backward outside", traced)


def outside():
    d = (x - 1).sqrt() * 0
    with A.detect_anomaly():
        d.sum().backward()


T("backward in the mode, forward outside", outside)


def version_error():
    with A.detect_anomaly():
        q = x * 1
        y = q * q
        q.add_(1)
        y.sum().backward()


T("version error", version_error)


def freed():
    with A.set_detect_anomaly(True):
        y = (x * x).sum()
        y.backward()
        y.backward()


T("second backward", freed)


def of_grad():
    with A.set_detect_anomaly(True):
        a = t([0.0])
        (g,) = A.grad((a**1.5).sum(), a, create_graph=True)
        (g * 0).sum().backward()


T("nan in the second order", of_grad)
print((x * 2).grad_fn.metadata)
with A.set_detect_anomaly(True):
    y = x * 2
print(list(y.grad_fn.metadata), type(y.grad_fn.metadata["traceback_"]).__name__)
y.grad_fn.metadata["mine"] = 1
print(sorted(y.grad_fn.metadata))
T(
    "context object",
    lambda: (lambda c: (c.__enter__(), state(), c.__exit__(None, None, None), state()))(A.set_detect_anomaly(True)),
)
T("exception restores", lambda: nan_in(lambda x: 1 / 0)())
print(state())
T("grad", lambda: A.set_detect_anomaly(True).__enter__() or A.grad(((x - 1).sqrt() * 0).sum(), x))
A.set_detect_anomaly(False)
print(state())
