"""Threads that run backward at once: separate graphs, one leaf, one graph retained; errors; hooks' threads."""

import threading

import torch

from _log import T, t


def together(n, fn):
    gate, results, threads = threading.Barrier(n), [None] * n, []

    def work(i):
        gate.wait()
        try:
            results[i] = fn(i)
        except Exception as e:
            results[i] = f"{type(e).__name__}: {str(e)[:60]}"

    for i in range(n):
        threads.append(threading.Thread(target=work, args=(i,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return results


def separate(i):
    a = t([1.0, 2.0])
    y = a
    for _ in range(200):
        y = y * 1.01
    y.sum().backward()
    return [round(g, 3) for g in a.grad.tolist()]


T("separate graphs", together, 4, separate)


def one_leaf():
    a = t([1.0, 2.0])

    def work(i):
        for _ in range(25):
            (a * 2).sum().backward()

    together(4, work)
    return a.grad, a.grad._version


T("one leaf, 4 x 25 passes", one_leaf)


def one_graph():
    a = t(2.0)
    y = a * 3
    z = y * y

    def work(i):
        z.backward(retain_graph=True)

    together(4, work)
    return a.grad


T("one graph, retained", one_graph)


def functional():
    a = t(2.0)
    y = a**3
    return together(4, lambda i: torch.autograd.grad(y, a, retain_graph=True)[0].item())


T("grad() on one graph", functional)


def forward_elsewhere():
    a, out = t(2.0), []
    thread = threading.Thread(target=lambda: out.append(a**3))
    thread.start()
    thread.join()
    out[0].backward()
    return a.grad


T("forward in another thread", forward_elsewhere)


def hook_thread():
    seen = []

    def work(i):
        a = t(1.0)
        a.register_hook(lambda g: seen.append(threading.current_thread() is here[i]))
        here[i] = threading.current_thread()
        (a * 2).backward()

    here = {}
    together(3, work)
    return seen


T("hooks run in the thread that called backward", hook_thread)


def modes():
    def work(i):
        if i % 2:
            with torch.no_grad():
                return torch.is_grad_enabled(), (t(1.0) * 2).requires_grad
        return torch.is_grad_enabled(), (t(1.0) * 2).requires_grad

    return together(4, work)


T("modes are per thread", modes)


def one_fails():
    def work(i):
        a = t(float(i))
        y = a * 2
        if i == 1:
            y.register_hook(lambda g: 1 / 0)
        y.backward()
        return a.grad.item()

    return together(3, work)


T("an error stays in its thread", one_fails)


def sequence():
    numbers = {}

    def work(i):
        a = t(1.0)
        numbers[i] = [(a * 2).grad_fn._sequence_nr() for _ in range(3)]

    for i in range(2):
        thread = threading.Thread(target=work, args=(i,))
        thread.start()
        thread.join()
    return [[n - ns[0] for n in ns] for ns in numbers.values()], numbers[0] == numbers[1]


T("sequence numbers are per thread", sequence)


def grad_mode_in_hook():
    log = []

    def work(i):
        a = t(1.0)
        a.register_hook(lambda g: log.append(torch.is_grad_enabled()))
        (a * 2).backward()
        return torch.is_grad_enabled()

    return together(2, work), log


T("grad mode in hooks", grad_mode_in_hook)
