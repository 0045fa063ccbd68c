"""Behaviours that PyTorch's own tests of the engine check, as programs: passes inside passes, callbacks, anomaly mode."""

import gc
import threading
import warnings
import weakref

import torch
from torch.autograd import Function, Variable, detect_anomaly, grad, set_detect_anomaly

from _log import T, case, t

engine = Variable._execution_engine


# as: test_current_graph_task_id
@case
def passes_are_numbered():
    number, seen = torch._C._current_graph_task_id, []
    x = t(1.0)
    y = x.clone()
    y.register_hook(lambda g: seen.append(number()))
    y.backward(retain_graph=True)
    y.backward()

    def inner(g):
        with torch.enable_grad():
            x.clone().backward()
        seen.append(number())

    x.register_hook(lambda g: seen.append(number()))
    z = x.clone()
    z.register_hook(inner)
    z.backward()
    first = seen[0]
    return [n - first for n in seen], number()


def chain(n, step):
    x = t(1.0)
    y = x
    for _ in range(n):
        y = step(y)
    return x, y


class Adds(Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1.0

    @staticmethod
    def backward(ctx, g):
        return g


# as: test_free_deep_graph
@case
def a_long_chain_dies():
    x, y = chain(150_000, lambda v: v + 0.0)
    del y
    return x.grad


# as: test_free_deep_graph_complicated
@case
def a_long_chain_with_shortcuts_dies():
    x = t(1.0)
    y, last = x, [x, x]
    for i in range(20_000):
        y = last[0] * 0.5 + y if i % 3 else y + 0.1
        last = [last[1], y]
    (y * 1).backward()
    print("  ", x.grad > 1)
    del y, last
    return x.is_leaf


# as: test_free_deep_graph_pyfunction
@case
def a_long_chain_of_functions_dies():
    x, y = chain(20_000, Adds.apply)
    y.backward()
    del y
    return x.grad


# as: test_simple_reentrant
@case
def a_pass_inside_a_function():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = torch.tensor([2.0, 3.0], requires_grad=True)
                ctx.out = ctx.x * ctx.y
            return ctx.out.detach()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                ctx.out.sum().backward()
            return ctx.x.grad * g

    v, w = t([1.0, 2.0]), t([5.0, 6.0])
    out = Inner.apply(v) * w
    grads = out.sum().backward()
    return grads, v.grad, w.grad


# as: test_reentrant_child_error
@case
def an_error_two_passes_down():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("from the inner pass")

    class Runs(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            leaf.sum().backward()
            return g

    a, b = t([1.0]), t([2.0])
    leaf = Fails.apply(a * b)
    c = t([3.0])
    try:
        Runs.apply(c * 2).sum().backward()
    finally:
        print("  ", a.grad, c.grad, torch._C._current_graph_task_id())


# as: test_deep_reentrant
@case
def two_thousand_passes_deep():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x < 0:
                return g
            with torch.enable_grad():
                Deep.apply(ctx.x).sum().backward()
            return g

    v = t(2000.0)
    Deep.apply(v).sum().backward()
    return v.grad


@case
def an_error_from_a_hundred_passes_down():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.n = n
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if not ctx.n:
                raise KeyError("the bottom")
            with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
                Deep.apply(t(1.0), ctx.n - 1).backward()

    Deep.apply(t(1.0), 100).backward()


# as: test_reentrant_priority
@case
def inner_passes_first():
    order = []

    class Mine(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            order.append("mine")
            return g

    class Again(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            order.append("again")
            if ctx.x < 0:
                return g
            with torch.enable_grad():
                Again.apply(ctx.x).backward()
            return g

    a = Mine.apply(t(6.0))
    b = Again.apply(t(9.0))
    (a * b).backward()
    return len(order), order[-1], order.count("mine")


# as: test_callback_adds_callback
@case
def a_callback_that_adds_one():
    count = [0]

    def last():
        count[0] += 1

    def first():
        count[0] += 1
        engine.queue_callback(last)

    class Queues(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            engine.queue_callback(first)
            return g

    Queues.apply(t([1.0, 2.0])).sum().backward()
    return count


def callbacks_at(outer, inner):
    """How often a callback queued in the outer and in the inner pass ran, and the passes' grads."""
    ran = {"outer": 0, "inner": 0}

    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            if inner:
                engine.queue_callback(lambda: ran.update(inner=ran["inner"] + 1))
            return g

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            if outer:
                engine.queue_callback(lambda: ran.update(outer=ran["outer"] + 1))
            with torch.enable_grad():
                Inner.apply(t([1.0])).sum().backward()
            return g

    x = t([2.0])
    Outer.apply(x).sum().backward()
    return ran, x.grad


# as: test_reentrant_with_callbacks_depth_0
# as: test_reentrant_with_callbacks_depth_1
# as: test_reentrant_with_callbacks_both_depths
T("callbacks of the outer pass", callbacks_at, True, False)
T("callbacks of the inner pass", callbacks_at, False, True)
T("callbacks of both", callbacks_at, True, True)


class Nan(Function):
    @staticmethod
    def forward(ctx, x, fail_at=None):
        ctx.fail_at = fail_at
        return x.sum(0, keepdim=True)

    @staticmethod
    def backward(ctx, g):
        out = g.clone().expand(10, 10).clone()
        if ctx.fail_at is not None:
            out[ctx.fail_at] = float("nan")
        return out, None


def watched(call):
    """The first line of every warning, and whether the stack names this file; then the error."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as e:
            found = f"{type(e).__name__}: {e}"
    return [(str(w.message).strip().split(". ")[0], "suite_engine" in str(w.message)) for w in seen], found


# as: test_anomaly_detect_nan
@case
def nan_is_reported():
    def run(fail_at):
        x = torch.ones(10, 10, requires_grad=True)
        out = Nan.apply(x * 1, fail_at)
        out.sum().backward()
        return torch.isnan(x.grad).any()

    def inside(fail_at):
        with detect_anomaly():
            return run(fail_at)

    def inside_backward(fail_at):
        x = torch.ones(10, 10, requires_grad=True)
        out = Nan.apply(x, fail_at).sum()
        with detect_anomaly():
            out.backward()

    print("  ", watched(lambda: run(None)))
    print("  ", watched(lambda: run(0)))
    for call in (lambda: inside(None), lambda: inside(0), lambda: inside_backward(3)):
        print("  ", watched(call))


# as: test_nested_anomaly_detect_nan
@case
def nan_of_a_double_backward():
    class Outer(Function):
        @staticmethod
        def forward(ctx, x, first, second):
            ctx.first, ctx.second = first, second
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return Inner.apply(g * 3 * x**2, ctx.first, ctx.second), None, None

    class Inner(Function):
        @staticmethod
        def forward(ctx, g, first, second):
            ctx.second = second
            g = g.clone()
            if first:
                g[0] = float("nan")
            return g

        @staticmethod
        def backward(ctx, h):
            h = h.clone()
            if ctx.second:
                h[0] = float("nan")
            return h, None, None

    for first, second in ((False, False), (True, False), (False, True)):

        def run(first=first, second=second):
            with detect_anomaly():
                x = t([1.0, 2.0, 3.0])
                out = Outer.apply(x, first, second)
                (g,) = grad(out.sum(), x, create_graph=True)
                return grad((g**2).sum(), x)[0]

        print("  ", watched(run))


# as: test_anomaly_grad_warnings
@case
def warnings_of_the_mode_itself():
    def fails():
        a = t([1.0])
        b = Nan.apply(torch.ones(10, 10, requires_grad=True) * a, 0)
        b.sum().backward()

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with detect_anomaly():
            pass
        with set_detect_anomaly(True):
            pass
    print("  ", [(w.category.__name__, str(w.message)) for w in seen])

    def as_errors():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with detect_anomaly():
                pass

    print("  ", watched(as_errors))

    def both():
        with detect_anomaly():
            fails()

    seen, error = watched(both)
    return [s for s, _ in seen], error


# as: test_anomaly_assign_parent_cleanup
# as: test_nested_anomaly_printstack_cleanup
@case
def metadata_does_not_leak():
    class Token:
        pass

    def run(double):
        x = t([1.0, 2.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with detect_anomaly():
                y = x.exp()
                (g,) = grad(y.sum(), x, create_graph=True)
                if double:
                    (g,) = grad(g.sum(), x, create_graph=True)
        token = Token()
        g.grad_fn.metadata["token"] = token
        return g, weakref.ref(token)

    found = []
    for double in (False, True):
        g, alive = run(double)
        before = alive() is not None
        del g
        gc.collect()
        found.append((before, alive() is None))
    return found


# as: test_anomaly_mode_no_check_nan
@case
def nan_may_be_let_through():
    def run():
        x = torch.ones(10, 10, requires_grad=True)
        Nan.apply(x * 1, 0).sum().backward()
        return "passed"

    def outer_lets(inner):
        with detect_anomaly(check_nan=False):
            print("   ", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
            first = run()
            with inner():
                print("   ", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
                run()
        return first

    print("  ", watched(lambda: outer_lets(lambda: detect_anomaly(check_nan=True))))
    print("  ", watched(lambda: outer_lets(lambda: set_detect_anomaly(False))))
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


# as: test_pynode_destruction_deadlock
@case
def an_error_while_others_wait():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.keep = [x]
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError("on purpose")

    found = []

    def work():
        try:
            Fails.apply(t([1.0]) * 2).sum().backward()
        except RuntimeError as e:
            found.append(str(e))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    gc.collect()
    return found, [thread.is_alive() for thread in threads]


# as: test_node_post_hook_registered_during_unpack_hook
@case
def a_posthook_from_inside_the_node():
    for replace in (False, True):
        log = []
        x = t([2.0, 3.0])

        def post(gi, go):
            log.append((gi, go))
            if replace:
                return tuple(None if g is None else g * 10 for g in gi)

        def unpack(v):
            y.grad_fn.register_hook(post)
            return v

        with torch.autograd.graph.saved_tensors_hooks(lambda v: v, unpack):
            y = x**2
        y.sum().backward()
        print("  ", log, x.grad)

    for op in (lambda a, b: a * b, lambda a, b: torch.cat([a, b]).exp()):
        log, a, b = [], t([2.0]), t([5.0])

        def unpack_two(v):
            if not log:
                log.append("registered")
                y.grad_fn.register_hook(lambda gi, go: log.append((gi, go)))
            return v

        with torch.autograd.graph.saved_tensors_hooks(lambda v: v, unpack_two):
            y = op(a, b)
        y.sum().backward()
        print("  ", log, a.grad, b.grad)

    class Registers(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.register_hook(lambda gi, go: print("   ", gi, go))
            return g * 2

    x = t([1.0])
    Registers.apply(x).backward()
    p = t([1.0])
    node = torch.autograd.graph.get_gradient_edge(p).node
    p.register_post_accumulate_grad_hook(lambda v: node.register_hook(lambda gi, go: print("   ", gi, go)) and None)
    (p * 2).backward()
    return x.grad, p.grad
