"""Behaviours that PyTorch's own tests of backward() check, as programs: arguments, accumulation, freeing, values."""

import threading
import warnings

import torch
from torch.autograd import Function, backward, grad
from torch.autograd.graph import get_gradient_edge

from _log import T, case, t


# as: test_backward
@case
def a_formula():
    x, y = t([[1.0, 2.0], [0.5, 3.0]]), t([[2.0, 1.0], [4.0, 0.5]])
    z = t([[1.0, 4.0], [0.25, 2.0]])
    q = (x + z / y) * 2 + (x * x * y / (x + y)).relu()
    seed = torch.tensor([[1.0, -1.0], [2.0, 0.5]])
    q.backward(seed)
    with torch.no_grad():
        by_hand = 2 + y * (2 * x * (x + y) - x * x) / (x + y) ** 2
        print("  ", torch.allclose(x.grad, by_hand * seed), torch.allclose(z.grad, 2 / y * seed))
    return x.grad, y.grad, z.grad


# as: test_backward_badcalls
@case
def nothing_requires_grad():
    torch.ones(1).backward()


# as: test_backward_no_grad
@case
def a_vector_without_a_seed():
    x = t([1.0, 2.0])
    backward([x + 2], [None])


# as: test_multi_backward
@case
def several_roots():
    x, y, a, b = t([1.0, 2.0]), t([3.0, 4.0]), t([5.0, 6.0]), t([7.0, 8.0])
    z, c = x * y + x, a * b + b
    backward([z, c], [torch.tensor([1.0, 10.0]), torch.tensor([2.0, 20.0])])
    return x.grad, y.grad, a.grad, b.grad


# as: test_multi_backward_no_grad
@case
def one_root_does_not_require_grad():
    x, y = t([1.0, 2.0]), torch.ones(2)
    try:
        backward([x * 3, y * 3], [torch.ones(2), torch.ones(2)])
    finally:
        print("  ", x.grad)


# as: test_dependent_backward
@case
def a_root_that_leads_to_another():
    x = t([1.0, 2.0])
    y = x**2
    z = y**3
    backward([y, z], [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])])
    return x.grad


# as: test_duplicate_backward_root
@case
def the_same_root_twice():
    a, b = t([1.0, 2.0]), t([3.0, 4.0])
    x = a * b
    backward([x, x], [torch.tensor([1.0, 1.0]), torch.tensor([10.0, 20.0])])
    return a.grad, b.grad


# as: test_backward_with_inputs
@case
def only_some_leaves():
    x, y = t([1.0, 2.0]), t([3.0, 4.0])
    seen = []
    for inputs in ([x, y], [x], [y], y, (x,), [x, x]):
        x.grad = y.grad = None
        (x * x + y * x + y).backward(torch.ones(2), inputs=inputs)
        seen.append((x.grad is None or x.grad.tolist(), y.grad is None or y.grad.tolist()))
    for line in seen:
        print("  ", line)
    (x + y).sum().backward(inputs=[])


# as: test_backward_with_scalar_input
@case
def a_number_among_the_inputs():
    x = t(3.0)
    (x * x).backward(inputs=x)
    return x.grad


# as: test_backward_with_nonleaf_inputs
@case
def inputs_inside_the_graph():
    x = t([1.0, 2.0])
    y, unused = x * x, t([5.0, 5.0])
    z = y * 3
    other = unused * 2
    z.sum().backward(inputs=[y, unused, other], retain_graph=True)
    print("  ", y.grad, x.grad, unused.grad, y.retains_grad)
    z.sum().backward(inputs=[y, x])
    return y.grad, x.grad


# as: test_backward_to_node
@case
def inputs_as_edges():
    x = t([1.0, 2.0])
    y = x * 2
    z = y * y
    z.sum().backward(inputs=[get_gradient_edge(x)], retain_graph=True)
    print("  ", x.grad)
    z.sum().backward(inputs=[get_gradient_edge(y)])


# as: test_backward_twice_with_saved_values
# as: test_backward_twice_retained_graph_with_saved_values
# as: test_backward_twice_without_saved_values
# as: test_backward_twice_retained_graph_without_saved_values
@case
def twice():
    for op in (lambda b: b * b, lambda b: b + 1):
        for retain in (False, True):
            a = t([1.0, 2.0])
            y = op(a)
            y.backward(torch.ones(2), retain_graph=retain)
            try:
                y.backward(torch.ones(2))
                print("  ", a.grad)
            except RuntimeError as e:
                print("  ", e)


# as: test_backward_create_graph_warns
@case
def create_graph_is_warned_about_in_backward_only():
    seen = []
    for call in (
        lambda x: (x * x).backward(create_graph=True),
        lambda x: grad(x * x, x, create_graph=True),
        lambda x: (x * x).backward(),
    ):
        x = t(2.0)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call(x)
        x.grad = None
        seen.append([str(w.message).split(".")[0] for w in found])
    return seen


# as: test_backward_copy
@case
def branches_do_not_share_a_gradient():
    class Edits(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 1, y * 1

        @staticmethod
        def backward(ctx, gx, gy):
            gx.add_(1)
            return gx, gy

    x, y = t([1.0, 2.0]), t([3.0, 4.0])
    base = x + y
    a, b = Edits.apply(base, base)
    (a * 10 + b * 10).sum().backward()
    return x.grad, y.grad


# as: test_accumulate_grad
@case
def accumulation_in_place_and_not():
    seed, x = torch.ones(3), t([1.0, 2.0, 3.0])
    for create_graph in (False, True):
        x.grad = None
        y = x + 2
        y.backward(seed, retain_graph=True)
        first = x.grad
        before = first.clone()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y.backward(seed, create_graph=create_graph)
        print("  ", create_graph, x.grad is first, torch.equal(first, before), x.grad, seed)
    x.grad = None


# as: test_accumulate_grad_tensor_reference
@case
def whose_tensor_grad_is():
    for create_graph in (False, True):
        for start in (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0, 9.0])[:2], torch.tensor([5.0]).expand(2).clone()):
            x = t([1.0, 1.0])
            x.grad = start
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (x * torch.tensor([3.0, 4.0])).sum().backward(create_graph=create_graph)
            print("  ", create_graph, x.grad is start, start, x.grad, x.grad.requires_grad)
            x.grad = None


# as: test_accumulate_grad_with_zero_numel_grad
@case
def sizes_of_zero():
    a, b = torch.rand(4, 0, requires_grad=True), torch.rand(4, 1, requires_grad=True)
    c = a + b
    c.sum().backward()
    return c.shape, a.grad, b.grad


# as: test_input_buffer_accum
@case
def seeds_are_not_edited():
    x = t([1.0, 2.0])
    one, other = torch.tensor([1.0, 1.0]), torch.tensor([10.0, 10.0])
    leaf_seeds = torch.tensor([2.0, 3.0]), torch.tensor([4.0, 5.0])
    y = x * 1
    backward([y, y], [one, other])
    backward([x, x], list(leaf_seeds))
    return one, other, leaf_seeds, x.grad, x.grad is leaf_seeds[0]


# as: test_no_grad_copy
@case
def when_a_gradient_is_taken_over():
    kept = {}

    class Hands(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            if "make" not in kept:
                kept["g"] = g
                return g, g
            kept["g"] = kept["make"]()
            return kept["g"], kept["g"] * 2

    def run(make=None):
        kept.clear()
        if make:
            kept["make"] = make
        a, b = t([1.0, 2.0]), t([3.0, 4.0])
        Hands.apply(a, b).sum().backward()
        place = kept["g"].data_ptr()
        return a.grad, b.grad, a.grad.data_ptr() == place, b.grad.data_ptr() == place, a.grad.is_contiguous()

    print("  ", run())
    print("  ", run(lambda: torch.tensor([5.0]).expand(2)))
    return run(lambda: torch.tensor([5.0, 6.0, 7.0, 8.0])[::2])


# as: test_unused_output
@case
def chunks_that_nobody_uses():
    x = torch.arange(10.0).view(5, 2).requires_grad_()
    parts = x.chunk(5)
    (parts[1] * 3 + parts[4]).sum().backward()
    return x.grad


# as: test_sharded_grad
@case
def a_loss_in_pieces():
    leaves = [torch.full((2, 2), float(i), requires_grad=True) for i in range(6)]
    middle = [i * v + v * v for i, v in enumerate(leaves)]
    loss = sum(v * i for i, v in enumerate(middle)).sum()
    grads = []
    for start in range(0, 6, 3):
        grads.extend(grad(loss, middle[start : start + 3], retain_graph=True))
    print("  ", [v.grad for v in leaves])
    backward(middle, grads)
    return [v.grad[0, 0].item() for v in leaves], [g[0, 0].item() for g in grads]


# as: test_hessian_vector
@case
def hessian_times_vector():
    x, y = t([[1.0, 2.0], [3.0, 4.0]]), t([[0.5, 1.0], [2.0, 1.5]])
    z = x**2 + y * x + y**2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z.backward(torch.ones(2, 2), create_graph=True)
    with torch.no_grad():
        print("  ", torch.equal(x.grad, 2 * x + y), torch.equal(y.grad, x + 2 * y))
    gx, gy = x.grad.detach().clone(), y.grad.detach().clone()
    (2 * x.grad + y.grad).backward(torch.ones(2, 2))
    hv = x.grad - gx, y.grad - gy
    x.grad = y.grad = None
    return hv


# as: test_grad
@case
def grad_leaves_the_attribute_alone():
    x, y = t([[1.0, 2.0]]), t([[3.0, 4.0]])
    z = x**2 + y * x + y**2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z.backward(torch.ones(1, 2), create_graph=True)
    gx, gy = x.grad + 0, y.grad + 0
    with torch.no_grad():
        before = x.grad.clone()
    found = grad([2 * gx + gy], [x, y], grad_outputs=[torch.ones(1, 2)])
    print("  ", found, torch.equal(x.grad, before))
    x.grad = y.grad = None
    g = torch.ones(3)
    grad([x * y], [x], grad_outputs=[g])


# as: test_grad_nonleaf
@case
def climbing_through_non_leaves():
    def f(v, w):
        return (v * w).sum() * 0.5 + (w**2).sum()

    start, w = t([1.0, -1.0]), t([0.5, 2.0])
    x, value = start, f(start, w).item()
    rising = []
    for _ in range(4):
        (g,) = grad(f(x, w), x, create_graph=True)
        x = x + 0.05 * g
        rising.append(f(x, w).item() > value)
        value = f(x, w).item()
    print("  ", rising, start.grad, w.grad)
    f(x, w).backward()
    return start.grad, w.grad, x.requires_grad


# as: test_grad_nonleaf_many_outputs
@case
def two_outputs_of_one_node():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    a, b = x.chunk(2)
    calls = []
    x.register_hook(lambda g: calls.append("x"))
    c = a + 2 * b
    found = grad(c.sum(), [a, b])
    return found, calls, x.grad


# as: test_grad_materialize_grads
@case
def zeros_for_what_is_not_used():
    x, y = t(0.5), t(1.0)
    g = grad(x**2, [x, y], materialize_grads=True)
    print("  ", g)
    print("  ", grad(x**2, [x, y], allow_unused=True, materialize_grads=True))
    grad(x**2, [x, y], allow_unused=False, materialize_grads=True)


# as: test_unused_grad_requires_grad_with_materialize
@case
def zeros_and_requires_grad():
    x, y = t([1.0]), t([1.0])
    out = (x * x).sum()
    found = []
    for create_graph in (False, True):
        g = grad(out, y, create_graph=create_graph, materialize_grads=True, retain_graph=True)[0]
        found.append((g, g.requires_grad))
    return found


# as: test_grad_badcalls
@case
def grad_of_what_does_not_require_grad():
    x, y = torch.ones(1), torch.ones(1, requires_grad=True)
    for call in (lambda: grad(x * 2, x), lambda: grad(y * 2, x), lambda: grad(x, y), lambda: grad([], [y])):
        try:
            print("  ", call())
        except Exception as e:
            print("  ", type(e).__name__, e)


# as: test_grad_empty_inputs
@case
def no_inputs_at_all():
    x = t([1.0])
    grad(2 * x, [], grad_outputs=torch.tensor([1.0]))


# as: test_grad_unreachable
@case
def what_cannot_be_reached():
    x, y = t([1.0]), t([2.0])
    z = x * 2
    w = y * 2
    print("  ", grad(x * 2, [x, y], allow_unused=True))
    print("  ", grad(x * 2, [z, w, y], allow_unused=True))
    grad(x * 2, [x, y], allow_unused=False)


# as: test_grad_unreachable_discovery
@case
def nodes_off_the_path_do_not_run():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("it ran")

    x, y = t([1.0]), t([2.0])
    (gy,) = grad((Fails.apply(x) * 2).sum(), y, allow_unused=True)
    z = t([3.0])
    grad((Fails.apply(x) * z).sum(), z)
    return gy


# as: test_grad_batched_grad
@case
def many_seeds_at_once():
    x = t([1.0, 2.0])
    out = x.clone()
    seeds = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]])
    print("  ", grad(out, x, seeds, is_grads_batched=True, retain_graph=True))
    for bad in (torch.ones(2, 3), torch.tensor(1.0)):
        try:
            grad(out, x, bad, is_grads_batched=True, retain_graph=True)
        except Exception as e:
            print("  ", type(e).__name__, str(e)[:90])
    print("  ", grad((out * 2).sum(), x, torch.ones(3), is_grads_batched=True))


# as: test_isolated_node
@case
def a_part_behind_what_has_no_derivative():
    x, y = t([1.0, 2.0]), t([3.0, 4.0])
    a, b = x + y, 2 * (x + y)
    c = a + torch.argmin(b)
    c.sum().backward()
    return x.grad, y.grad


# as: test_unrelated_inputs
@case
def an_input_that_does_not_matter():
    x, y = t([1.0, 2.0], dtype=torch.float64), t([3.0, 4.0], dtype=torch.float64)
    return torch.autograd.gradcheck(lambda x, y: x * x, [x, y]), torch.autograd.gradgradcheck(
        lambda x, y: x * x, [x, y]
    )


# as: test_grad_dtype
@case
def the_dtype_of_grad():
    leaf = t([1.0, 2.0])
    print("  ", leaf.grad_dtype, torch.ones(1).grad_dtype)
    leaf.grad_dtype = torch.float64
    (leaf * 2).sum().backward()
    print("  ", leaf.grad)
    for change in (
        lambda: setattr(leaf, "grad_dtype", torch.float16),
        lambda: setattr(leaf * 2, "grad_dtype", torch.float16),
        lambda: (leaf * 2).grad_dtype,
        lambda: setattr(leaf, "grad_dtype", 3),
    ):
        try:
            print("  ", change())
        except Exception as e:
            print("  ", type(e).__name__, str(e).partition("\n")[0][:200])
    leaf.grad = None
    leaf.grad_dtype = torch.float16
    print("  ", leaf.grad_dtype)
    leaf.grad_dtype = None
    (leaf.double() * 3).sum().backward()
    return leaf.grad, leaf.grad_dtype


# as: test_grad_thread_safety
@case
def grad_read_while_others_write():
    x, errors = t([1.0, 2.0]), []
    start = threading.Barrier(4)

    def work():
        try:
            start.wait()
            for _ in range(50):
                x.grad = torch.ones(2)
                g = x.grad
                assert g is None or g.shape == (2,)
                x.grad = None
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors, x.grad


# as: test_type_conversions
@case
def dtypes_of_leaves_stay():
    for dtype in (torch.float64, torch.float32, torch.float16):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        y = x.double() + x.float() + x.type_as(torch.ones(1, dtype=torch.float64)) + x.to(torch.float32)
        y.sum().backward()
        print("  ", dtype, y.dtype, x.grad)
    x = torch.ones(2, requires_grad=True)
    return x.float() is x, x.type_as(x) is x, x.double().requires_grad, x.long().requires_grad, x.type()


for _ in range(1):
    T("shape", lambda: (t([[1.0], [2.0]]).shape, len(t([[1.0], [2.0]]).shape)))  # as: test_shape
