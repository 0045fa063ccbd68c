"""Lazy layers: before, in and after their first call; state dicts, casts, copies, optimizers, bad input."""

import copy

import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy


def described(m):
    return [(n, repr(p) if is_lazy(p) else tuple(p.shape), p.requires_grad) for n, p in [*m.named_parameters(), *m.named_buffers()]]


def first_line(f, *args):
    """The first sentence, up to the name of the function that was called."""
    try:
        print("->", f(*args))
    except Exception as e:
        print(type(e).__name__, str(e).split(" in <")[0].split(". ")[0])


CASES = {
    "linear": (lambda: nn.LazyLinear(3), (2, 5)),
    "linear 3-D": (lambda: nn.LazyLinear(3, bias=False), (2, 4, 5)),
    "conv1d": (lambda: nn.LazyConv1d(4, 3), (2, 3, 8)),
    "conv2d": (lambda: nn.LazyConv2d(4, 3, stride=2, padding=1, groups=2), (2, 6, 8, 8)),
    "conv2d unbatched": (lambda: nn.LazyConv2d(4, (3, 2), bias=False, padding_mode="reflect", padding=1), (3, 8, 8)),
    "conv3d": (lambda: nn.LazyConv3d(2, 2), (1, 3, 4, 4, 4)),
    "transpose1d": (lambda: nn.LazyConvTranspose1d(4, 3), (2, 3, 8)),
    "transpose2d": (lambda: nn.LazyConvTranspose2d(4, 3, 2, 1, 1), (2, 3, 4, 4)),
    "transpose3d": (lambda: nn.LazyConvTranspose3d(2, 2, bias=False), (1, 3, 2, 2, 2)),
    "batch1d": (lambda: nn.LazyBatchNorm1d(), (4, 3)),
    "batch2d": (lambda: nn.LazyBatchNorm2d(momentum=None, affine=False), (4, 3, 2, 2)),
    "batch3d": (lambda: nn.LazyBatchNorm3d(track_running_stats=False), (4, 3, 2, 2, 2)),
    "batch without bias": (lambda: nn.LazyBatchNorm1d(bias=False), (4, 3)),
    "instance1d": (lambda: nn.LazyInstanceNorm1d(), (4, 3, 5)),
    "instance2d": (lambda: nn.LazyInstanceNorm2d(affine=False), (4, 3, 5, 5)),
    "instance3d": (lambda: nn.LazyInstanceNorm3d(track_running_stats=False), (4, 3, 5, 5, 5)),
}
for label, (make, shape) in CASES.items():
    m = make()
    print(f"[{label}]", m, described(m), m.has_uninitialized_params())
    print("  ", sorted(k for k in m.__dict__ if k in ("_load_hook", "_initialize_hook")), len(m._forward_pre_hooks))
    y = m(torch.ones(shape))
    print("  ", m, tuple(y.shape), described(m), type(m).__name__, len(m._forward_pre_hooks), hasattr(m, "_load_hook"))
    if y.requires_grad:
        y.sum().backward()
    print("  ", [tuple(p.grad.shape) for p in m.parameters()], [type(p).__name__ for p in m.parameters()])

print("-- a model")


def model():
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))


net, twin, other = model(), model(), model()
print(net)
copied = copy.deepcopy(nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyLinear(2, dtype=torch.float64)))
print(described(copied), copied[1].weight.dtype)
print(copied[0](torch.ones(1, 2, 4, 4)).shape, copied)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.double()
print([p.dtype for p in net.parameters()])
net.float()
net(torch.ones(2, 3, 6, 6)).sum().backward()
optimizer.step()
print(net, described(twin)[:2])
print(list(net.state_dict()) == list(twin.state_dict()), [is_lazy(v) for v in twin.state_dict().values()])
print(twin.load_state_dict(net.state_dict()))
print(twin, [is_lazy(p) for p in twin.parameters()])
x = torch.linspace(-1, 1, 2 * 3 * 36).reshape(2, 3, 6, 6)
net.eval(), twin.eval()
print(torch.equal(net(x), twin(x)), twin)
first_line(lambda: model().load_state_dict(other.state_dict()))
first_line(lambda: net.load_state_dict(other.state_dict()))
half = nn.LazyLinear(2, dtype=torch.float64)
print(half(torch.ones(1, 2, dtype=torch.float64)).dtype, half.requires_grad_(False).weight.requires_grad)

print("-- what fails")
m = nn.LazyLinear(2)
first_line(lambda: m.weight + 1)
first_line(lambda: m.weight.sum())
first_line(lambda: torch.zeros(3) * m.weight)
first_line(lambda: m.weight.shape)
first_line(lambda: m.weight.numel())
first_line(lambda: nn.init.zeros_(m.weight))
first_line(lambda: nn.LazyConv2d(4, 3)(torch.ones(3)))
first_line(lambda: nn.LazyConv2d(4, 3, groups=2)(torch.ones(1, 3, 5, 5)))
first_line(lambda: nn.LazyConv2d(5, 3, groups=2))
first_line(lambda: nn.LazyBatchNorm2d()(torch.ones(2, 3)))
print(m.weight, m.weight.dtype, m.weight.is_leaf, m.weight.grad, m.weight.requires_grad)
m.load_state_dict({"weight": torch.ones(2, 4), "bias": torch.zeros(2)})
print(m, m.weight.shape, m.in_features)
first_line(lambda: m(torch.ones(1, 3)))
print(m(torch.ones(1, 4)), m)


class Own(nn.modules.lazy.LazyModuleMixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = UninitializedParameter()
        self.register_buffer("seen", UninitializedBuffer())

    def initialize_parameters(self, input, *, factor=1.0):
        if self.has_uninitialized_params():
            with torch.no_grad():
                self.scale.materialize(input.shape[1:])
                self.scale.fill_(factor)
                self.seen.materialize((1,), dtype=torch.int64)
                self.seen.zero_()

    def forward(self, input, *, factor=1.0):
        self.seen += 1
        return input * self.scale


class Partly(Own):
    def initialize_parameters(self, input):
        self.scale.materialize(input.shape[1:])


class Never(nn.modules.lazy.LazyModuleMixin, nn.Module):
    def forward(self, input):
        return input


own = Own()
print(own, described(own))
print(own(torch.ones(2, 3), factor=2.0), own.seen, described(own), type(own).__name__)
first_line(lambda: Partly()(torch.ones(2, 3)))
first_line(lambda: Never()(torch.ones(2, 3)))
p = UninitializedParameter(requires_grad=False, dtype=torch.float64)
p.materialize((2, 2), dtype=torch.float32)
print(type(p).__name__, p.dtype, p.requires_grad, p.shape)
