"""Behaviours that PyTorch's own tests of saved tensors and their hooks check, as programs."""

import os
import tempfile

import torch
from torch.autograd import Function, grad
from torch.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

from _log import T, case, t


@case
def constants_are_enough():
    log, a = [], t([1.0, 2.0])
    with saved_tensors_hooks(lambda x: log.append("pack") or x, lambda x: log.append("unpack") or x):
        y = a * torch.tensor([3.0, 4.0])
    y.sum().backward()
    return log


@case
def saved_input_is_the_input():
    a = t([1.0, 2.0])
    y = a**2
    z = a.exp()
    return y.grad_fn._saved_self is a, z.grad_fn._saved_result is z, z.grad_fn._saved_result.grad_fn is z.grad_fn


@case
def attributes_of_a_freed_node():
    a = t([1.0, 2.0])
    y = (a**2).sum()
    node = y.grad_fn.next_functions[0][0]
    found = node._saved_self, node._saved_exponent
    y.backward()
    print("  ", found)
    return node._saved_exponent, node._saved_self


class Saves(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, None, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, none, y = ctx.saved_tensors
        return g * y, g * x


@case
def saved_tensors_of_a_function():
    a, b = t([1.0, 2.0]), torch.tensor([3.0, 4.0])
    y = Saves.apply(a, b)
    found = y.grad_fn.saved_tensors
    raw = y.grad_fn._raw_saved_tensors
    print("  ", found, found[0] is a, len(raw))
    raw[0].register_hooks(lambda x: x * 2, lambda x: x / 2)
    print("  ", y.grad_fn.saved_tensors)
    y.sum().backward()
    return a.grad


T("twice", lambda: [Saves.apply(t([1.0]), t([1.0])).grad_fn._raw_saved_tensors[0]] and None)


@case
def saved_tensors_of_a_function_freed():
    y = Saves.apply(t([1.0]), t([1.0]))
    y.backward()
    y.grad_fn.saved_tensors


@case
def clear_on_access():
    class Clears(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2

    a = t([1.0, 2.0])
    y = Clears.apply(a)
    y.sum().backward(retain_graph=True)
    print("  ", a.grad)
    y.sum().backward()


# as: test_saved_variable_packing_unpacking_saved_original_with_hooks
@case
def hooks_of_one_saved_input():
    a = t([1.0, 2.0])
    y = a * a
    y.grad_fn._raw_saved_self.register_hooks(lambda x: 2 * x, lambda x: x / 2)
    first = y.grad_fn._saved_self
    y.sum().backward()
    z = a**3
    z.grad_fn._raw_saved_self.register_hooks(lambda x: x.detach().clone(), lambda x: x)
    (g,) = grad(z.sum(), a, create_graph=True)
    return first, first.grad_fn, a.grad, grad(g.sum(), a)


# as: test_saved_variable_packing_unpacking_did_not_save_original_with_hooks
@case
def hooks_of_one_saved_output():
    a = t([1.0, 2.0])
    y = a.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x.detach() * 2, lambda x: x / 2)
    y.sum().backward()
    z = a.exp()
    z.grad_fn._raw_saved_result.register_hooks(lambda x: x.detach(), lambda x: x)
    (g,) = grad(z.sum(), a, create_graph=True)
    return a.grad, g, grad(g.sum(), a)


# as: test_pack_hook_with_inplace_modification_should_fail
for pack, unpack in (
    (lambda x: x, lambda x: 1),
    (lambda x: x, lambda: None),
    (lambda: 0, lambda x: x),
    (lambda x: x, lambda x, y: x),
    (lambda x: x.add_(1), lambda x: x),
):

    def one(pack=pack, unpack=unpack):
        a = torch.tensor([1.0, 2.0])
        y = (a * t([1.0, 1.0])).clone() * t([1.0, 1.0])
        y.grad_fn._raw_saved_other.register_hooks(pack, unpack)
        y.sum().backward()

    T("one saved tensor", one)

    def block(pack=pack, unpack=unpack):
        with saved_tensors_hooks(pack, unpack):
            y = torch.pow(t([1.0, 2.0]) * 1, 2)
        y.sum().backward()

    T("in a block", block)


# as: test_saved_variable_packing_unpacking_saved_original_with_default_hooks
# as: test_saved_variable_packing_unpacking_did_not_save_original_with_default_hooks
@case
def default_hooks_of_inputs_and_outputs():
    found = []
    for op in (lambda x: x**3, lambda x: x.exp(), lambda x: x * x):
        a = t([1.0, 2.0])
        with saved_tensors_hooks(lambda x: x.detach() * 2, lambda x: x / 2):
            y = op(a)
        (g,) = grad(y.sum(), a, create_graph=True)
        found.append((g, grad(g.sum(), a)))
    for line in found:
        print("  ", line)


# as: test_setting_default_saved_variable_hooks_twice_should_not_fail
@case
def the_same_hooks_twice():
    hooks = saved_tensors_hooks(lambda x: x * 2, lambda x: x / 2)
    a = t([1.0, 2.0])
    with hooks:
        with hooks:
            y = a**2
        z = a**2
    (y + z).sum().backward()
    return a.grad


# as: test_setting_default_saved_variable_hooks_twice_should_use_inner
@case
def the_inner_hooks():
    a, log = t([1.0, 2.0]), []
    with saved_tensors_hooks(lambda x: log.append("outer") or x, lambda x: x):
        with saved_tensors_hooks(lambda x: x * 3, lambda x: x):
            y = a**2
    y.sum().backward()
    return log, a.grad


# as: test_disabling_saved_tensor_hooks
@case
def disabled():
    with disable_saved_tensors_hooks("not here"):
        with saved_tensors_hooks(lambda x: x, lambda x: x):
            pass


# as: test_disabling_saved_tensor_hooks_nested
@case
def disabled_nested():
    log = []

    def enter():
        try:
            with saved_tensors_hooks(lambda x: x, lambda x: x):
                log.append("entered")
        except RuntimeError as e:
            log.append(str(e))

    with disable_saved_tensors_hooks("outer"):
        enter()
        with disable_saved_tensors_hooks("inner"):
            enter()
        enter()
    enter()
    return log


# as: test_saved_tensor_hooks_custom_error_propagation
@case
def errors_pass_through():
    class Mine(Exception):
        pass

    def fail(x):
        raise Mine("pack or unpack")

    found, a = [], t([1.0])
    for pack, unpack in ((fail, lambda x: x), (lambda x: x, fail)):
        try:
            with saved_tensors_hooks(pack, unpack):
                y = a * a
            y.backward()
        except Mine as e:
            found.append(str(e))
    return found


# as: test_saved_tensor_hooks_custom_function_intermediates
@case
def intermediates_of_a_function():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y * 2

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y * 2

    log, a = [], t([0.0, 1.0])
    with saved_tensors_hooks(lambda x: log.append((x.requires_grad, x.grad_fn)) or x.detach(), lambda x: x):
        y = Inner.apply(a)
    y.sum().backward()
    return log, a.grad


# as: test_saved_tensors_hook_version_counter_not_shared
@case
def replacement_has_its_own_version():
    class Saves1(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            before = x._version
            x.detach().add_(0)
            return g * (x._version - before)

    a = t([1.0])
    with saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x):
        y = Saves1.apply(a * 1)
    y.backward()
    return a.grad


# as: test_default_saved_tensors_hooks_double_backward
@case
def counts():
    log, a, b = [], t([1.0, 2.0]), t([3.0, 4.0])
    with saved_tensors_hooks(lambda x: log.append("p") or x.detach(), lambda x: log.append("u") or x):
        y = (a * b).tanh()
    (g,) = grad(y.sum(), a, create_graph=True)
    log.append("|")
    g.sum().backward()
    return "".join(log)


# as: test_wrapped_number_saved_tensors_hooks
@case
def numbers_are_not_packed():
    log, a = [], t([1.0, 2.0])
    with saved_tensors_hooks(lambda x: log.append(x.shape) or x, lambda x: x):
        y = a * 2.0
        z = a / 3
        w = 2 * a
    (y + z + w).sum().backward()
    return log, a.grad


# as: test_saving_variable_to_disk
@case
def saved_to_disk():
    with tempfile.TemporaryDirectory() as folder:
        count = [0]

        def pack(x):
            count[0] += 1
            name = os.path.join(folder, str(count[0]))
            with open(name, "w") as f:
                f.write(repr(x.tolist()))
            return name

        def unpack(name):
            with open(name) as f:
                return torch.tensor(eval(f.read()))

        a = t([1.0, 2.0])
        with saved_tensors_hooks(pack, unpack):
            y = (a * a).exp() * a
        y.sum().backward()
        return count, [round(g, 3) for g in a.grad.tolist()]


# as: test_graph_save_on_cpu
@case
def on_cpu():
    a = t([1.0, 2.0])
    with save_on_cpu():
        y = (a * a).exp()
    y.sum().backward(retain_graph=True)
    saved = y.grad_fn._saved_result
    return torch.equal(saved, y), saved is y, [round(g, 3) for g in a.grad.tolist()]


# as: test_basic
@case
def mutation_allowed():
    with allow_mutation_on_saved_tensors() as context:
        a = t([1.0, 2.0])
        b = a.clone()
        y = (b**2).sum()
        n = len(context.original), len(context.cloned)
        b.sin_()
        m = len(context.original), len(context.cloned)
        y.backward()
    return a.grad, n, m


# as: test_save_base_and_modify_view
@case
def mutation_through_views():
    with allow_mutation_on_saved_tensors():
        a = t([1.0, 2.0, 3.0])
        b = a.clone()
        y = (b**2).sum()
        b[:2].mul_(10)
        b.view(3, 1)[0].zero_()
        z = (b**2).sum()
        (y + z).backward()
    return a.grad


# as: test_save_view_modify_base
@case
def mutation_of_the_base_of_a_saved_view():
    with allow_mutation_on_saved_tensors() as context:
        a = t([1.0, 2.0, 3.0])
        b = a.clone()
        c = b[:2]
        y = (c**2).sum()
        b.mul_(10)
        n = len(context.cloned)
        y.backward()
    return a.grad, n


# as: test_double_backward
@case
def mutation_and_double_backward():
    with allow_mutation_on_saved_tensors():
        a = t([1.0, 2.0])
        b = a.clone()
        y = (b**3).sum()
        b.mul_(5)
        (g,) = grad(y, a, create_graph=True)
        return g, grad(g.sum(), a)


# as: test_saved_but_not_anymore
@case
def mutation_after_freeing():
    with allow_mutation_on_saved_tensors() as context:
        a = t([1.0, 2.0])
        b = a.clone()
        y = (b**2).sum()
        y.backward()
        n = len(context.original)
        b.mul_(2)
        return n, len(context.cloned)


# as: test_saved_same_tensor_many_times
@case
def mutation_saved_many_times():
    with allow_mutation_on_saved_tensors() as context:
        a = t([1.0, 2.0])
        b = a.clone()
        ys = [(b**2).sum() for _ in range(3)]
        n = len(context.original)
        b.mul_(2)
        m = len(context.cloned)
        sum(ys).backward()
    return a.grad, n, m


# as: test_saved_same_tensor_different_versions
@case
def mutation_of_several_versions():
    with allow_mutation_on_saved_tensors() as context:
        a = t([1.0, 2.0])
        b = a.clone()
        y = (b**2).sum()
        b.mul_(3)
        z = (b**2).sum()
        b.mul_(5)
        n = len(context.cloned)
        (y + z).backward()
    return a.grad, n


# as: test_with_out_variant
@case
def mutation_by_out():
    with allow_mutation_on_saved_tensors():
        a = t([1.0, 2.0])
        b = torch.tensor([3.0, 4.0])
        y = (a * b).sum()
        torch.add(b, 100, out=b)
        y.backward()
    return a.grad


# as: test_backward_out_of_context
@case
def mutation_backward_outside():
    with allow_mutation_on_saved_tensors():
        y = (t([1.0]) * 1) ** 2
    y.backward()


@case
def mutation_nested():
    with allow_mutation_on_saved_tensors():
        with allow_mutation_on_saved_tensors():
            pass
