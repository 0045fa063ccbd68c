"""Behaviours that PyTorch's own tests of values, indexing and expanded gradients check, as programs."""

import io
import pickle

import torch
from torch.autograd import Variable, backward, grad, gradcheck, gradgradcheck
from torch.autograd.graph import saved_tensors_hooks

from _log import T, case, t


# as: test_integer_outputs
@case
def outputs_that_are_whole_numbers():
    x = t([[1.0, 5.0], [7.0, 2.0]])
    made = dict(
        argmax=x.argmax(),
        argmin=x.argmin(0),
        argsort=x.argsort(),
        max=x.max(0)[1],
        min=x.min(1)[1],
        sort=x.sort()[1],
        topk=x.topk(1)[1],
        mode=torch.tensor([[1.0, 1.0]], requires_grad=True).mode()[1],
        median=x.median(0)[1],
        kthvalue=x.kthvalue(1)[1],
        nonzero=x.nonzero(),
        floor=x.floor(),
        bucket=torch.searchsorted(torch.tensor([1.0, 3.0]), x.detach()),
        long=x.long(),
        greater=x > 2,
        isnan=x.isnan(),
        all=(x > 0).all(),
        unique=torch.unique(x.detach()),
        cummax=x.cummax(0)[1],
    )
    for name, y in made.items():
        print("  ", name, y.dtype, y.requires_grad, y.grad_fn is not None)


# as: test_power_function
@case
def powers_of_zero():
    a = torch.zeros(3)
    b = t([-1.0, 0.0, 1.0])
    a.pow(b).sum().backward()
    print("  ", b.grad)
    b.grad = None
    torch.pow(0, b).sum().backward()
    return b.grad


# as: test_pow_zero_tensor_gradient
@case
def powers_at_zero():
    for shape in ((2, 2), ()):
        base = torch.zeros(shape, requires_grad=True)
        (base**0).sum().backward()
        print("  ", base.grad)
    base, exponent = torch.zeros(3, requires_grad=True), t([0.0, 1.0, 2.0])
    (base**exponent).sum().backward()
    return base.grad, exponent.grad


# as: test_indexing
@case
def reads_of_many_kinds():
    for shape, at in (
        ((4, 4), (1,)),
        ((4, 4), (slice(1, 3),)),
        ((4, 4), (torch.tensor([1, 3]), slice(0, 2))),
        ((4, 4), (slice(None), torch.tensor([[0, 1], [2, 3]]))),
        ((4, 4), ([1, 2], [0, 3])),
        ((4, 4), (torch.arange(16).view(4, 4) % 3 == 0,)),
        ((2, 3, 4), (1, Ellipsis, 2)),
        ((2, 3, 4), (Ellipsis, torch.tensor([0, 0, 3]))),
        ((2, 3, 4), (torch.tensor([0, 1]), slice(None), torch.tensor([1, 1]))),
        ((2, 3, 4), (None, 1, None, torch.tensor([2, 2]))),
        ((3,), (torch.tensor(2),)),
        ((3, 2), (torch.tensor([True, False, True]),)),
        ((3, 2), (slice(None, None, 2), 1)),
        ((3, 2), ()),
    ):
        n = torch.zeros(shape).numel()
        x = torch.arange(1.0, n + 1).view(shape).requires_grad_()
        y = x[at]
        weights = torch.arange(1.0, y.numel() + 1).view(y.shape)
        (y * weights).sum().backward()
        print("  ", tuple(y.shape), y.grad_fn.name(), x.grad.flatten().tolist())


# as: test_indexing_duplicates
@case
def indices_that_occur_twice():
    x = torch.arange(1.0, 17).view(4, 4).requires_grad_()
    x[torch.tensor([1, 1, 3, 2, 1, 2])].sum().backward()
    print("  ", x.grad[:, 0])
    x.grad = None
    x[[[1, 1, 0], [2, 2, 3]]].sum().backward()
    print("  ", x.grad)
    z = torch.arange(1.0, 65).view(4, 4, 4).requires_grad_()
    z[torch.tensor([[0, 0], [0, 1]]), torch.tensor([[1, 1], [1, 1]]), slice(None)].sum().backward()
    return z.grad.sum(2)


# as: test_index_backward_does_not_save_tensor
@case
def an_index_keeps_only_the_indices():
    packed = []
    a = t([1.0, 0.0, 0.0])
    with saved_tensors_hooks(lambda v: packed.append(v.shape) or v, lambda v: v):
        b = a[torch.tensor([0, 1, 2])]
    print("  ", len(packed), hasattr(b.grad_fn, "_saved_self"))
    a2 = a * 2
    c = a2[torch.tensor([0, 2])]
    a2 += 1
    c.sum().backward()
    return a.grad


# as: test_select_sum
@case
def a_row_and_its_sum():
    x = torch.arange(1.0, 11.0, dtype=torch.float64, requires_grad=True)
    f = lambda x: x.select(0, 1).sum()  # noqa: E731
    return gradcheck(f, [x]), gradgradcheck(f, [x])


def through(op):
    """The gradient and the one of a gradient, for a seed without strides."""
    v = t([2.0])
    x = torch.arange(1.0, 17).view(4, 4).requires_grad_()
    y = op(x)
    seed = v.expand(y.shape)
    (g,) = grad(y, x, seed, create_graph=True)
    return g, grad(g.sum(), v)


# as: test_diagonal_expanded_v
T("diagonal", through, lambda x: x.diagonal())
T("diagonal off", through, lambda x: torch.diagonal(x, 1))
# as: test_select_expanded_v
T("select", through, lambda x: x.select(0, 2))
T("select 1", through, lambda x: x[:, -1])
# as: test_slice_expanded_v
T("slice", through, lambda x: x[1:3])
T("slice step", through, lambda x: x[:, ::2])
T("unfold", through, lambda x: x.narrow(1, 1, 2).t())


# as: test_var_mean_differentiable
@case
def var_and_mean_at_once():
    for dims, keep, unbiased in ((None, False, True), ((0, 2), False, True), ((1,), True, False)):
        values = torch.arange(24.0).view(2, 3, 4).sin()
        x, y = values.clone().requires_grad_(), values.clone().requires_grad_()
        if dims is None:
            v, m = torch.var_mean(x)
            w, n = y.var(), y.mean()
        else:
            v, m = torch.var_mean(x, dims, unbiased=unbiased, keepdim=keep)
            w, n = y.var(dims, unbiased=unbiased, keepdim=keep), y.mean(dims, keepdim=keep)
        ((v * m) + v / (m + 2)).sum().backward()
        ((w * n) + w / (n + 2)).sum().backward()
        print("  ", torch.allclose(x.grad, y.grad, atol=1e-6), torch.equal(v, w), v.grad_fn.name(), v.grad_fn is m.grad_fn)


# as: test_numpy_requires_grad
@case
def arrays_of_what_requires_grad():
    x = t([1.0, 2.0])
    with torch.no_grad():
        print("  ", x.numpy(), (x * 2).numpy())
    print("  ", x.detach().numpy())
    (x * 2).numpy()


# as: test_dir
@case
def names_of_a_tensor():
    x = torch.randn(2, requires_grad=True)
    keys = dir(x)
    return [n in keys for n in ("shape", "grad", "register_hook", "backward", "_version", "T")], all(
        hasattr(x, n) for n in ("shape", "grad", "grad_fn", "backward", "retains_grad", "is_leaf")
    )


# as: test_pickle
@case
def flags_through_pickle():
    for x in (t([1.0, 2.0]), torch.ones(2), torch.tensor([1]), t([1.0]) * 2):
        for protocol in (0, 2, 5):
            y = pickle.loads(pickle.dumps(x, protocol=protocol))
            same = torch.equal(x, y), y.requires_grad == x.requires_grad, y.dtype is x.dtype, y.is_leaf
            if protocol == 5 or not all(same):
                print("  ", protocol, same)
    buffer = io.BytesIO()
    torch.save(t([3.0]), buffer)
    buffer.seek(0)
    return torch.load(buffer)


@case
def factories_that_require_grad():
    x = torch.ones(2)
    made = (
        torch.zeros(2, requires_grad=True),
        torch.ones_like(x, requires_grad=True),
        torch.full((2,), 3.0, requires_grad=True),
        torch.rand(2, requires_grad=True),
        torch.empty_like(x, requires_grad=True),
        torch.arange(2.0, requires_grad=True),
        torch.eye(2, requires_grad=True),
        torch.linspace(0, 1, 2, requires_grad=True),
        x.new_zeros(2, requires_grad=True),
        x.new_tensor([1.0], requires_grad=True),
    )
    return {(v.requires_grad, v.is_leaf, v.grad_fn) for v in made}


@case
def variables_and_roots():
    x = Variable(torch.ones(2), requires_grad=True)
    y = x * 2
    backward((y,), (torch.ones(2),))
    return isinstance(x, Variable), isinstance(y, torch.Tensor), x.grad
