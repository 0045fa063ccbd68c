"""no_grad, enable_grad, set_grad_enabled: nesting, decorators, generators, coroutines, exceptions, threads."""

import threading

import torch

from _log import T, t

x = t([1.0, 2.0])
on = torch.is_grad_enabled
print([(x * 2).requires_grad, x.sum().requires_grad])
with torch.no_grad():
    print(on(), (x * 2).requires_grad)
    with torch.enable_grad():
        print(on(), (x * 2).requires_grad)
        with torch.set_grad_enabled(False):
            print(on())
        print(on())
    print(on())
print(on())
guard = torch.set_grad_enabled(False)
print("acts at construction", on())
with guard:
    print(on())
print("restored on exit", on())
torch.set_grad_enabled(True)
print(on())
with torch.no_grad() as bound:
    print(bound)
T("no_grad positional argument", lambda: torch.no_grad(1))
T("set_grad_enabled without argument", lambda: torch.set_grad_enabled())
T("set_grad_enabled(0)", lambda: torch.set_grad_enabled(0))
print(on())
torch.set_grad_enabled(True)


@torch.no_grad()
def plain(a, *, b=2):
    "Doc."
    return a * b


print(plain(x).requires_grad, plain.__name__, plain.__doc__, plain(x, b=3))


@torch.enable_grad()
def tracked(a):
    return a * 2


with torch.no_grad():
    print(tracked(x).requires_grad, on())


class Holder:
    @torch.no_grad()
    def method(self):
        return on()

    @staticmethod
    @torch.no_grad()
    def static():
        return on()

    @classmethod
    @torch.no_grad()
    def klass(cls):
        return on(), cls.__name__


print(Holder().method(), Holder.static(), Holder.klass(), on())


@torch.set_grad_enabled(False)
def switched():
    return on()


print(on(), switched(), on())


@torch.no_grad()
def recursive(n):
    with torch.enable_grad():
        return [on()] if n == 0 else [on(), *recursive(n - 1)]


print(recursive(2), on())

print("# generators")


@torch.no_grad()
def numbers(n):
    for i in range(n):
        got = yield i, on()
        if got is not None:
            yield "got", got, on()
    return "done"


g = numbers(3)
print(next(g), on(), g.send("hello"), on(), next(g), on())
print(list(numbers(2)))
with torch.no_grad():
    h = numbers(2)
    print(next(h))
print(on(), next(h), on())


@torch.no_grad()
def catching():
    while True:
        try:
            yield on()
        except ValueError as e:
            yield "caught", str(e), on()
        finally:
            print("finally", on())


c = catching()
print(next(c), c.throw(ValueError("v")), on())
c.close()
print(on())


@torch.enable_grad()
def inner():
    yield on()
    yield on()


@torch.no_grad()
def outer():
    yield on()
    yield from inner()
    yield on()


print(list(outer()), on())


@torch.no_grad()
def failing():
    yield on()
    raise KeyError("k")


f = failing()
next(f)
T("generator raises", lambda: next(f))
T("exhausted", lambda: next(f))
print(on())


def leaking():
    torch.set_grad_enabled(False)
    yield on()
    yield on()


k = leaking()
print(next(k), on())
torch.set_grad_enabled(True)
print(next(k), on())
torch.set_grad_enabled(True)

print("# coroutine")


@torch.no_grad()
async def coroutine():
    return on()


try:
    coroutine().send(None)
except StopIteration as e:
    print("coroutine body sees", e.value)

print("# exceptions")


def raising():
    with torch.no_grad():
        with torch.enable_grad():
            raise ValueError("inside")


T("raise", raising)
print(on())

print("# threads")
log = []


def work(name):
    log.append((name, on(), (x * 2).requires_grad))
    torch.set_grad_enabled(False)
    log.append((name, on()))


with torch.no_grad():
    for name in ("first", "second"):
        thread = threading.Thread(target=work, args=(name,))
        thread.start()
        thread.join()
    print(on())
print(log, on())

print("# what is made inside")
with torch.no_grad():
    leaf = torch.zeros(2, requires_grad=True)
    flagged = (x * 2).requires_grad_()
    view = x[0]
    cl = x.clone()
    print(leaf.requires_grad, flagged.requires_grad, flagged.is_leaf, view.requires_grad, cl.requires_grad)
    x.mul_(2)
    x[0] = 5
    x -= 1
print(x, x._version, x.is_leaf, x.requires_grad)
y = x * 3
with torch.no_grad():
    y.add_(1)
    print(y.grad_fn, y.requires_grad)
    y.sum().requires_grad
    z = y.detach()
T("backward inside no_grad", lambda: (torch.no_grad()(lambda: y.sum().requires_grad)(), y.grad_fn is not None))
with torch.no_grad():
    T("sum made in no_grad", lambda: y.sum().backward())
    T("graph made before", lambda: torch.autograd.backward([y], [torch.ones(2)]))
print(x.grad)
print(repr(torch.set_grad_enabled(True)))
print(torch.is_inference_mode_enabled())
