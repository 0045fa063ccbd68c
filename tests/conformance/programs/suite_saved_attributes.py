"""Behaviours that PyTorch's own tests of what nodes save, and of unbalanced hooks, check, as programs."""

import gc
import weakref

import torch
from torch.autograd import Function, grad
from torch.autograd.graph import allow_mutation_on_saved_tensors, save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from _log import T, case, t


# as: test_no_unnecessary_save
@case
def an_operand_that_is_not_needed():
    mu, x = torch.ones(1, requires_grad=True), torch.empty(1)
    loss = 0
    for i in range(3):
        x.detach_()
        x.copy_(mu + i)
        loss += (x * torch.tensor([float(i)])).sum()
    loss.backward()
    return mu.grad


# as: test_no_unnecessary_unwrapping
@case
def the_very_same_tensors():
    a = t([1.0, 2.0])
    b = a * a
    print("  ", b.grad_fn._saved_self is a, b.grad_fn._saved_other is a)
    c = torch.exp(a)
    print("  ", c.grad_fn._saved_result is c, c.grad_fn._saved_result.grad_fn is c.grad_fn)
    d = torch.pow(b, 2)
    print("  ", d.grad_fn._saved_self is b, d.grad_fn._saved_self.grad_fn is b.grad_fn)
    return (b * b).grad_fn._saved_self is b


# as: test_grad_fn_attr_bindings
@case
def attributes_of_many_nodes():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    n = t([[[[1.0, 2.0], [3.0, 4.0]]]])
    F = torch.nn.functional
    for y, names in (
        ((x**2), ("self", "exponent")),
        (x.sum(0), ("dim", "keepdim", "self_sym_sizes")),
        (x.sum((0, -1)), ("dim",)),
        (x.mean(1, keepdim=True), ("dim", "keepdim", "self_sym_sizes")),
        (torch.cat([x, x], 1), ("dim", "tensors_args_scalartypes")),
        (torch.stack([x, x]), ("dim",)),
        (x.clamp(1, 3), ("min", "max")),
        (x.clamp(min=2), ("min", "max")),
        (x.reshape(4), ("self_sym_sizes",)),
        (x.transpose(0, 1), ("dim0", "dim1")),
        (x.permute(1, 0), ("dims",)),
        (x[:, 1], ("dim", "index", "self_sym_sizes")),
        (x[0:1], ("dim", "start", "end", "step", "self_sym_sizes")),
        (x.unsqueeze(0), ("dim",)),
        (x.unsqueeze(0).squeeze(0), ("dim", "self_sym_sizes")),
        (x.softmax(1), ("dim", "self_scalar_type", "result")),
        (x.log_softmax(-1), ("dim", "result")),
        (x.cumsum(0), ("dim",)),
        (x.norm(), ("ord", "dim", "keepdim")),
        (x.max(1)[0], ("dim", "keepdim", "indices", "self_sym_sizes")),
        (x.sort(1)[0], ("dim", "indices")),
        (x.topk(1)[0], ("dim", "indices")),
        (x.var(0), ("dim", "correction", "keepdim")),
        (x.std(), ("dim", "correction", "result")),
        (x.expand(2, 2, 2), ("self_sym_sizes",)),
        (x.repeat(2, 1), ("repeats", "self_sym_sizes")),
        (x.flip(0), ("dims",)),
        (x.roll(1, 0), ("shifts", "dims")),
        (x.tril(1), ("diagonal",)),
        (x.diagonal(), ("offset", "dim1", "dim2")),
        (x.gather(0, torch.zeros(1, 2, dtype=torch.long)), ("dim", "index", "sparse_grad")),
        (x.masked_fill(x.detach() > 2, 0.0), ("mask",)),
        (torch.where(x.detach() > 2, x, x), ("condition",)),
        (F.leaky_relu(x, 0.2), ("negative_slope", "self")),
        (F.elu(x), ("alpha", "scale", "input_scale", "is_result")),
        (F.gelu(x), ("approximate", "self")),
        (F.softplus(x), ("beta", "threshold")),
        (F.mse_loss(x, x.detach()), ("reduction",)),
        (F.max_pool2d(n, 2), ("kernel_size", "stride", "padding", "dilation", "ceil_mode")),
        (F.avg_pool2d(n, 2), ("kernel_size", "stride", "padding", "ceil_mode", "divisor_override")),
        (F.conv2d(n, torch.ones(1, 1, 1, 1)), ("stride", "padding", "dilation", "groups", "transposed")),
        (F.embedding(torch.tensor([0]), x), ("indices", "padding_idx", "scale_grad_by_freq", "sparse")),
        (F.interpolate(n, scale_factor=2), ("output_size", "scales_h")),
        (x.split(1)[0], ("dim", "split_size", "self_sym_sizes")),
        (x.unbind(1)[0], ("dim",)),
        (torch.addmm(x, x, x), ("alpha", "beta", "mat1", "mat2")),
        (x.index_select(0, torch.tensor([1])), ("dim", "index", "self_sym_sizes")),
        (x.lerp(x.detach(), 0.25), ("weight",)),
        (torch.addcmul(x, x, x, value=3), ("value", "tensor1")),
        (F.pad(x, (1, 0)), ("pad", "value")),
        (x.double(), ()),
    ):
        shown = []
        for name in names:
            try:
                v = getattr(y.grad_fn, "_saved_" + name)
                shown.append(f"{name}={tuple(v.shape) if isinstance(v, torch.Tensor) else v!r}")
            except AttributeError:
                shown.append(f"{name} missing")
        print("  ", y.grad_fn.name(), *shown)


# as: test_get_data_and_hooks_from_raw_saved_variable
@case
def one_saved_tensor_looked_at():
    pack, unpack = lambda v: ("packed", v.tolist()), lambda p: torch.tensor(p[1])
    a = t([1.0, 2.0])
    with saved_tensors_hooks(pack, unpack):
        b = a**2
    raw = b.grad_fn._raw_saved_self
    print("  ", raw.data, raw.unpack_hook is unpack, raw.unpack())
    c = a**2
    raw = c.grad_fn._raw_saved_self
    print("  ", raw.data is a, raw.unpack_hook, type(raw).__name__)
    d = a.exp()
    raw = d.grad_fn._raw_saved_result
    print("  ", raw.data, raw.data is d, raw.data.grad_fn, raw.unpack_hook)
    raw.register_hooks(lambda v: 5, lambda p: d.detach())
    print("  ", raw.data, raw.unpack_hook is not None)
    d.sum().backward()
    print("  ", raw.data)
    return raw.unpack()


# as: test_saved_tensor_constructor_forbidden_without_flag
@case
def saved_tensors_are_not_made_by_hand():
    torch._C._autograd.SavedTensor()


class Keeps(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y, None)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y, _ = ctx.saved_tensors
        return g * y, g * x


# as: test_custom_function_saved_tensors
@case
def what_a_function_saved():
    a, b = t([1.0, 2.0]), torch.tensor([3.0, 4.0])
    y = Keeps.apply(a, b)
    raw = y.grad_fn._raw_saved_tensors
    print("  ", [s is v for s, v in zip(y.grad_fn.saved_tensors, (a, b, None))], type(raw).__name__)
    print("  ", raw[0].data is a, raw[1].data is b, raw[0].unpack_hook)

    def tried(call):
        try:
            print("  ", call())
        except Exception as e:
            print("  ", type(e).__name__, str(e).partition(" Saved")[0])

    tried(lambda: raw[2].register_hooks(lambda v: v, lambda v: v))
    tried(lambda: raw[0].register_hooks(lambda v: v.tolist(), lambda p: torch.tensor(p)))
    tried(lambda: raw[0].register_hooks(lambda v: v, lambda v: v))
    tried(lambda: raw[0].data)
    raw = None
    y.sum().backward()
    tried(lambda: y.grad_fn.saved_tensors)
    tried(lambda: y.grad_fn._raw_saved_tensors)
    return a.grad


# as: test_clear_saved_tensors_on_access
# as: test_clear_saved_tensors_on_access_double_access_error
@case
def saved_tensors_that_can_be_read_once():
    for twice in (False, True):
        alive = []

        class Clears(Function):
            clear_saved_tensors_on_access = True

            @staticmethod
            def forward(ctx, x):
                copy = x.clone()
                alive.append(weakref.ref(copy))
                ctx.save_for_backward(copy)
                return x * 2

            @staticmethod
            def backward(ctx, g, twice=twice):
                (x,) = ctx.saved_tensors
                del x
                alive.append(alive[0]() is None)
                return g * len(ctx.saved_tensors) if twice else g

        x = t([1.0])
        try:
            Clears.apply(x).backward()
        except RuntimeError as e:
            print("  ", e)
        print("  ", alive[1:], x.grad)


# as: test_saved_variable_version_counter
@case
def what_comes_back_shares_the_version():
    a = torch.rand(2, requires_grad=True)
    b = torch.exp(a)
    saved = b.grad_fn._saved_result
    print("  ", b is saved, saved._version == b._version)
    with torch.no_grad():
        b += 1
    return saved._version, b._version


# as: test_saved_variable_saved_original_inplace_detach
@case
def detached_after_it_was_saved():
    a = t([5.0]).clone()
    b = a * a
    a.detach_()
    try:
        b.backward()
    except RuntimeError as e:
        print("  ", e)
    x = t([2.0])
    y = x.exp()
    y.detach_()
    print("  ", y.requires_grad)
    a = t([5.0]).clone()
    c = a.exp()
    d = c * 1
    c.detach_()
    d.backward()


# as: test_saved_tensor_hooks_extra_exit_during_bw_no_crash
@case
def a_pop_too_many():
    def unpack(v):
        hooks.__exit__()
        return v

    hooks = saved_tensors_hooks(lambda v: v, unpack)
    a = t([1.0, 2.0])
    with hooks:
        y = a**2
        y.sum().backward()
        z = a**2
    return a.grad, z.grad_fn._raw_saved_self.unpack_hook is unpack


# as: test_saved_tensor_hooks_extra_enter_during_bw_no_leak
@case
def a_push_too_many():
    log = []

    def unpack(v):
        torch._C._autograd._push_saved_tensors_default_hooks(lambda v: log.append("leaked") or v, lambda v: v)
        return v

    a = t([1.0, 2.0])
    with saved_tensors_hooks(lambda v: v, unpack):
        y = a**2
    y.sum().backward()
    z = a**2
    z.sum().backward()
    return log, a.grad


# as: test_unpack_hooks_exec_count
@case
def how_often_hooks_run():
    log = []
    x, mask = torch.ones(2, 2, requires_grad=True), torch.rand(2, 2)
    with saved_tensors_hooks(lambda v: log.append("pack") or v, lambda v: log.append("unpack") or v):
        y = x * mask
    y.sum().backward()
    return log


# as: test_save_on_cpu_and_checkpoint
@case
def copies_and_checkpoints():
    def f(v):
        return (v * v).exp()

    found = []
    for inside in (False, True):
        a = t([0.5, 1.0])
        if inside:

            def g(v):
                with save_on_cpu():
                    return f(v)

            y = checkpoint(g, a, use_reentrant=False)
        else:
            with save_on_cpu():
                y = checkpoint(f, a, use_reentrant=False)
        (y * 2).sum().backward()
        found.append(a.grad)
    b = t([0.5, 1.0])
    (f(b) * 2).sum().backward()
    return [torch.allclose(g, b.grad) for g in found]


# as: test_access_saved_tensor_twice_without_recomputation_works
@case
def a_checkpoint_looked_at_twice():
    count = [0]

    def f(v):
        count[0] += 1
        a = v * v
        return a.exp()

    a = t([0.5])
    y = checkpoint(f, a, use_reentrant=False)
    first = y.grad_fn._saved_result
    second = y.grad_fn._saved_result
    print("  ", torch.equal(first, second), count)
    y.backward()
    return count, a.grad


# as: test_views
@case
def mutation_through_a_view_after_saving():
    with allow_mutation_on_saved_tensors() as context:
        a = t([[1.0, 2.0], [3.0, 4.0]])
        b = a.clone()
        c = b.view(4)
        y = b**2
        c.sin_()
        y.sum().backward()
        return a.grad, len(context.cloned)


# as: test_disallow_nesting
@case
def mutation_contexts_do_not_nest():
    with allow_mutation_on_saved_tensors():
        pass
    with allow_mutation_on_saved_tensors():
        with allow_mutation_on_saved_tensors():
            pass


@case
def hooks_die_with_the_graph():
    class Token:
        pass

    def run(backward):
        token, a = Token(), t([1.0, 2.0])
        with saved_tensors_hooks(lambda v, token=token: v.detach(), lambda v: v):
            y = (a**2).sum()
        if backward:
            y.backward()
        return weakref.ref(token), y

    found = []
    for backward in (False, True):
        alive, y = run(backward)
        del y
        gc.collect()
        found.append(alive() is None)
    return found, grad(t([1.0]) ** 2, t([1.0]), allow_unused=True)


T("end", lambda: None)
