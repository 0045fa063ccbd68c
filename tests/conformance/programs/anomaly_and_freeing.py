"""Anomaly mode, partly freed graphs, failing passes."""

import torch
import torch.autograd as A
from torch.autograd import Function

from _log import T, t

print("# anomaly mode")


class MyFunc(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("Some error in backward")


x = t([1.0, 2.0])


def f():
    with A.detect_anomaly():
        y = MyFunc.apply(x)
        y.sum().backward()


T("detect_anomaly error", f)


def f():
    with A.detect_anomaly():
        y = (x - 1).sqrt() * 0
        y.sum().backward()


T("nan check: sqrt(0)*0", f)


def f():
    with A.detect_anomaly(check_nan=False):
        y = (x - 1).sqrt() * 0
        y.sum().backward()
        return x.grad


T("check_nan False", f)


def f():
    y = (x - 1).sqrt() * 0
    with A.detect_anomaly():
        y.sum().backward()


T("forward outside anomaly", f)
with A.set_detect_anomaly(True):
    print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
A.set_detect_anomaly(True)
print(torch.is_anomaly_enabled())
A.set_detect_anomaly(False)
print(torch.is_anomaly_enabled())


def f():
    with A.set_detect_anomaly(True):
        a = x.clone()
        b = a * a
        a.add_(1)
        b.sum().backward()


T("version error under anomaly", f)
with A.set_detect_anomaly(True):
    print((x * 2).grad_fn.metadata.keys())
    y = x * 2
    z = y * 3
    print(z.grad_fn.metadata.keys())


def f():
    with A.set_detect_anomaly(True):
        x.register_hook(lambda g: g * float("nan"))
        (x * 2).sum().backward()
        return x.grad


T("nan produced by hook not caught", f)
print("# forward error names: multi device etc n/a")
print("# retain_graph & grad_fn saved semantics")
a = t(2.0)
y = a.exp()
y.backward()
T("leaf saved", lambda: (lambda: y.grad_fn._saved_result)())
print("# backward twice on x**2 w/ different path: partial free")
a = t(2.0)
b = t(3.0)
p = a * 2
q = b**2
l = p * q
l.backward(inputs=[a])
T("then inputs=[b] (mul node freed)", lambda: l.backward(inputs=[b]))
a = t(2.0)
b = t(3.0)
l = a * 2 + b**2
l.backward(inputs=[a])
T("l=a*2+b**2, inputs b next", lambda: (l.backward(inputs=[b]), b.grad))
T("then a again", lambda: l.backward(inputs=[a]))
print("# failing backward frees?")
a = t(2.0)
y = a**2
z = y * 3
try:
    z.backward(torch.ones(3))
except RuntimeError as e:
    print(str(e)[:40])
T("after failed validation graph intact", lambda: (z.backward(), a.grad))
print("# exact message types")
try:
    z.backward()
except RuntimeError as e:
    print(type(e), len(str(e)))
print("# is tensor.backward on python ints: loss = sum([...])")
T("sum empty", lambda: sum([]).backward())
print("# detach in chain")
a = t(2.0)
y = (a * 3).detach() * a
y.backward()
print(a.grad)
print("# inplace op on grad and zero_")
a = t([1.0, 2.0])
(a * 2).sum().backward()
a.grad.zero_()
(a * 2).sum().backward()
print(a.grad)
