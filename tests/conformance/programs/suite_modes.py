"""Behaviours that PyTorch's own tests of grad modes check, as programs."""

import warnings

import torch

from _log import T, case, t

on = torch.is_grad_enabled


# as: test_no_grad
@case
def no_grad_in_three_forms():
    x = t([1.0, 2.0])
    with torch.no_grad():
        a = x * 2

    @torch.no_grad()
    def with_parentheses(v):
        return v * 2

    @torch.no_grad
    def without(v):
        return v * 2

    return a.requires_grad, with_parentheses(x).requires_grad, without(x).requires_grad, (x * 2).requires_grad


# as: test_enable_grad_decorator_no_paren
@case
def enable_grad_inside():
    @torch.enable_grad
    def f(v):
        return (v * 2).requires_grad

    with torch.no_grad():
        return f(t(1.0)), on()


# as: test_grad_mode_class_decoration
@case
def classes_are_warned_about():
    for mode in (torch.no_grad, torch.enable_grad, torch.inference_mode):

        class C:
            def __init__(self):
                self.on = on()

            def f(self):
                return on()

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            D = mode()(C)
        print("  ", [w.category.__name__ for w in seen], D().on, D().f())


# as: test_set_grad_enabled
@case
def set_grad_enabled_in_two_forms():
    found = [on()]
    with torch.set_grad_enabled(False):
        found.append(on())
        with torch.set_grad_enabled(True):
            found.append(on())
        found.append(on())
    torch.set_grad_enabled(False)
    found.append(on())
    torch.set_grad_enabled(True)
    return found


# as: test_set_grad_enabled_wraps
@case
def set_grad_enabled_as_a_decorator():
    found = []
    for mode in (True, False):
        with torch.set_grad_enabled(mode):

            @torch.set_grad_enabled(not mode)
            def f():
                return on()

            found.append((on(), f(), on()))
    return found


def numbers(n):
    for i in range(n):
        yield i, on()


# as: test_set_grad_generator_functions
@case
def generators_keep_their_own_mode():
    off = torch.no_grad()(numbers)
    found = []
    for i, inside in off(2):
        found.append((i, inside, on()))
    with torch.no_grad():
        for i, inside in torch.enable_grad()(numbers)(2):
            found.append((i, inside, on()))
    return found


# as: test_set_grad_generator_functions_recursive
@case
def recursive_generators():
    @torch.enable_grad()
    def a(n):
        if n:
            yield on()
            yield from b(n - 1)

    @torch.no_grad()
    def b(n):
        if n:
            yield on()
            yield from a(n - 1)

    with torch.no_grad():
        first = list(a(4))
    return first, list(b(4)), on()


# as: test_set_grad_coroutines
@case
def sending_into_a_generator():
    @torch.no_grad()
    def echo():
        got = None
        while True:
            got = yield got, on()

    c = echo()
    next(c)
    found = [c.send("a"), on(), c.send("b"), on()]
    c.close()
    return found, on()


# as: test_set_grad_coroutines_benign_exceptions
@case
def throwing_into_a_generator():
    @torch.no_grad()
    def recovers():
        while True:
            try:
                yield on()
            except ValueError:
                yield "recovered", on()

    c = recovers()
    return next(c), c.throw(ValueError), next(c), on()


# as: test_set_grad_coroutines_critical_exceptions
@case
def throwing_what_is_not_caught():
    @torch.no_grad()
    def fragile():
        yield on()

    c = fragile()
    next(c)
    try:
        c.throw(KeyError("x"))
    except KeyError as e:
        return repr(e), on()


# as: test_set_grad_coroutines_exit
@case
def closing_a_generator():
    log = []

    @torch.no_grad()
    def closes():
        try:
            yield
        finally:
            log.append(on())

    c = closes()
    next(c)
    c.close()
    return log, on()


@case
def generator_that_returns():
    @torch.no_grad()
    def f():
        yield 1
        return "end"

    def g():
        return (yield from f())

    c = g()
    next(c)
    try:
        next(c)
    except StopIteration as e:
        return e.value


# as: test_no_grad_assignment
@case
def assignment_to_a_leaf():
    x = t([1.0, 2.0])
    with torch.no_grad():
        x[0] = 5.0
    (x * 2).sum().backward()
    return x, x.is_leaf, x.grad, x._version


# as: test_no_grad_modifies_version
@case
def version_counts_under_no_grad():
    x = t([1.0, 2.0])
    y = x * 1
    z = (y * y).sum()
    with torch.no_grad():
        y += 1
    z.backward()


T("after an exception", lambda: (torch.no_grad()(lambda: 1 / 0)(), on()))
print(on())
