"""no_grad, enable_grad, set_grad_enabled, inference_mode: contexts, decorators, generators, threads."""

import threading

import torch

from _log import T, t

x = t([1.0, 2.0])
print("# grad modes")
with torch.no_grad():
    z = x * 2
    print(z, z.requires_grad, z.is_leaf, torch.is_grad_enabled())
    q = torch.ones(2, requires_grad=True)
    print(q.requires_grad, q.is_leaf)
    with torch.enable_grad():
        print((x * 2).requires_grad)
    with torch.set_grad_enabled(True):
        print((x * 2).requires_grad)
    v = x[0]
    print("view in no_grad", v.requires_grad, v._is_view(), v._base is x)
print(torch.is_grad_enabled())


@torch.no_grad()
def fn(a):
    return a * 2


@torch.no_grad
def fn2(a):
    return a * 2


print(fn(x).requires_grad, fn2(x).requires_grad)


@torch.no_grad()
def gen():
    yield torch.is_grad_enabled()
    yield torch.is_grad_enabled()


g = gen()
print(next(g), torch.is_grad_enabled(), next(g), torch.is_grad_enabled())
torch.set_grad_enabled(False)
print("function call:", torch.is_grad_enabled())
torch.set_grad_enabled(True)


@torch.set_grad_enabled(False)
def fn3(a):
    return a * 2


print(torch.is_grad_enabled(), fn3(x).requires_grad, torch.set_grad_enabled(True))


@torch.no_grad()
class A:
    def __init__(self):
        self.g = torch.is_grad_enabled()

    def m(self):
        return torch.is_grad_enabled()


T("decorate class", lambda: (A().g, A().m()))


def f():
    with torch.no_grad():
        raise ValueError("x")


T("exc in no_grad", f)
print(torch.is_grad_enabled())
with torch.enable_grad():
    pass


# thread-locality
def th():
    print("thread grad mode", torch.is_grad_enabled())


with torch.no_grad():
    k = threading.Thread(target=th)
    k.start()
    k.join()
print("# inference mode")
with torch.inference_mode():
    i = x * 2
    print(i.is_inference(), i.requires_grad, torch.is_inference_mode_enabled(), torch.is_grad_enabled())
    T("version of inf", lambda: i._version)
    iv = x.view(2)
    print(iv.is_inference(), iv.requires_grad, iv.is_leaf)
    T("inplace inf in mode", lambda: i.add_(1))
    T("inplace normal tensor in inf", lambda: torch.ones(1).add_(1).is_inference())
print(i)
T("i*x save", lambda: i * x)
T("i+x", lambda: i + x)
T("i*2", lambda: (i * 2).is_inference())
T("i.requires_grad_()", lambda: i.requires_grad_())
T("i.add_", lambda: i.add_(1))
T("iv.add_", lambda: iv.add_(1))
T("i.view", lambda: i.view(2).is_inference())
T("i.clone", lambda: i.clone().is_inference())
with torch.inference_mode(False):
    print(torch.is_inference_mode_enabled(), torch.is_grad_enabled())
with torch.inference_mode():
    with torch.enable_grad():
        print("enable_grad in inf:", (x * 2).requires_grad, torch.is_grad_enabled())
    with torch.inference_mode(False):
        print("inf False nested:", (x * 2).requires_grad)


@torch.inference_mode()
def fi(a):
    return a * 2


@torch.inference_mode
def fi2(a):
    return a * 2


print(fi(x).is_inference(), fi2(x).is_inference())
print("repr:", torch.set_grad_enabled(True), repr(torch.no_grad()).split(" at ")[0])
# ctx manager reuse
ng = torch.no_grad()
with ng:
    pass
with ng:
    print(torch.is_grad_enabled())
print(torch.is_grad_enabled())
