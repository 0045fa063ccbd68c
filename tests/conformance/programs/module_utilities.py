"""torch.nn.attention's ways, layers with batch norms folded in, skip_init, names for annotations, DLPack."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.common_types import _size_2_t
from torch.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval, parametrize, skip_init
from torch.nn.utils.fusion import fuse_conv_bn_weights, fuse_linear_bn_weights
from torch.nn.utils.parametrizations import orthogonal
from torch.nn.utils.rnn import pad_sequence
from torch.types import Device, Number
from torch.utils import dlpack

from _log import T

print("-- ways of attention")
print(list(SDPBackend.__members__), SDPBackend.MATH, repr(SDPBackend.MATH), int(SDPBackend.FLASH_ATTENTION), SDPBackend(1))
q = torch.sin(torch.arange(64.0)).view(1, 2, 4, 8).requires_grad_()
plain = F.scaled_dot_product_attention(q, q, q)
for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
    with sdpa_kernel(backend) as given:
        y = F.scaled_dot_product_attention(q, q, q)
        cuda = torch.backends.cuda
        print(given, torch.allclose(y, plain), type(y.grad_fn).__name__ == type(plain.grad_fn).__name__, cuda.flash_sdp_enabled(),
              cuda.math_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.cudnn_sdp_enabled())
with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
    T("efficient", F.scaled_dot_product_attention, q, q, q)
    with sdpa_kernel([SDPBackend.MATH], set_priority=True):
        print(F.scaled_dot_product_attention(q, q, q).shape)
    T("efficient again", F.scaled_dot_product_attention, q, q, q)
with sdpa_kernel([]):
    T("none", F.scaled_dot_product_attention, q, q, q)
T("text", lambda: sdpa_kernel("math").__enter__())
torch.backends.cuda.enable_math_sdp(False)
print(torch.backends.cuda.math_sdp_enabled())
torch.backends.cuda.enable_math_sdp(True)
print(torch.backends.cuda.math_sdp_enabled(), torch.allclose(F.scaled_dot_product_attention(q, q, q), plain))

print("-- folded")


def filled(m):
    with torch.no_grad():
        for i, p in enumerate([*m.parameters(), *(b for b in m.buffers() if b.is_floating_point())]):
            p.copy_(torch.sin(torch.arange(p.numel(), dtype=p.dtype) * (i + 1.5)).view_as(p).abs() + 0.1)
    return m.eval()


x = torch.cos(torch.arange(2 * 3 * 25.0)).view(2, 3, 5, 5)
for conv, bn, args in (
    (nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), ()), (nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4, affine=False), ()),
    (nn.ConvTranspose2d(3, 4, 2), nn.BatchNorm2d(4), (True,)),
):
    filled(conv), filled(bn)
    fused = fuse_conv_bn_eval(conv, bn, *args)
    print(type(fused).__name__, torch.allclose(fused(x), bn(conv(x)), atol=1e-5), fused.bias, type(fused.weight).__name__,
          fused.weight.requires_grad, conv.bias is None)
linear, bn = filled(nn.Linear(3, 4)), filled(nn.BatchNorm1d(4))
fused = fuse_linear_bn_eval(linear, bn)
print(fused, torch.allclose(fused(x[0, :, 0].t()), bn(linear(x[0, :, 0].t())), atol=1e-5), fused.bias)
print([p.shape for p in fuse_conv_bn_weights(torch.ones(2, 3, 1), None, torch.zeros(2), torch.ones(2), 0.0, None, None)])
print([p.shape for p in fuse_linear_bn_weights(torch.ones(2, 3), None, torch.zeros(2), torch.ones(2), 0.0, torch.ones(2), torch.ones(2))])
T("training", fuse_conv_bn_eval, nn.Conv2d(3, 4, 3), bn)
T("no statistics", fuse_linear_bn_eval, linear, nn.BatchNorm1d(4, track_running_stats=False).eval())
T("other features", fuse_linear_bn_eval, linear, nn.BatchNorm1d(5).eval())

print("-- skip_init")
print(skip_init(nn.Linear, 3, 2, bias=False, dtype=torch.float64), skip_init(nn.Conv2d, 3, 4, 2, device="cpu").weight.shape)
T("no device", skip_init, nn.ReLU)
T("no module", skip_init, int)

print("-- names")
print(_size_2_t, Number, isinstance(3, Number), torch.device in Device.__args__)
a = torch.arange(3.0)
b = dlpack.from_dlpack(dlpack.to_dlpack(a))
b[0] = 7
print(a, np.from_dlpack(a), torch.from_dlpack(torch.to_dlpack(a)))

print("-- parametrizations handed on")


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


class Sum(nn.Module):
    def forward(self, x, y):
        return x + y

    def right_inverse(self, z):
        return z * 0.25, z * 0.75


for made in (Doubled(), Sum()):
    first, second = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        first.weight.copy_(torch.arange(4.0).view(2, 2))
    parametrize.register_parametrization(first, "weight", made)
    print(parametrize.transfer_parametrizations_and_params(first, second) is second, sorted(second.state_dict()))
    print([a is b for a, b in zip(first.parameters(), second.parameters())], second.weight, len(list(second.parameters())))
    second(torch.ones(1, 2)).sum().backward()
    print([p.grad for p in first.parameters()])

print("-- sequences padded")
T("none", pad_sequence, [])
T("one", pad_sequence, [torch.ones(2)])

print("-- orthogonal")
for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 3)):
    for ways in (None, "matrix_exp", "cayley", "householder"):
        for based in (True, False):
            m = nn.Module()
            m.weight = nn.Parameter(torch.sin(1.7 * torch.arange(float(np.prod(shape)))).view(shape))
            orthogonal(m, orthogonal_map=ways, use_trivialization=based)
            w = m.weight
            unit = w.mT @ w if shape[-2] >= shape[-1] else w @ w.mT
            print(shape, ways, based, {k: tuple(v.shape) for k, v in m.state_dict().items()}, type(w.grad_fn).__name__,
                  torch.allclose(unit, torch.eye(unit.shape[-1]), atol=1e-5))
            if not based or shape[-2] == shape[-1]:     # else the rest of the base is drawn
                (w * torch.cos(torch.arange(float(w.numel())).view(shape))).sum().backward()
                print("  ", [round(x, 3) + 0.0 for x in w.flatten().tolist()],
                      [round(x, 3) + 0.0 for x in m.parametrizations.weight.original.grad.flatten().tolist()])
            one = torch.eye(max(shape[-2:]))[: shape[-2], : shape[-1]].expand(shape).contiguous()
            T("  assigned", lambda m=m, one=one: (setattr(m, "weight", one), torch.allclose(m.weight, one, atol=1e-5))[1])
T("three ways", orthogonal, nn.Linear(3, 3), orthogonal_map="foo")
T("a vector", orthogonal, nn.BatchNorm1d(3))
T("no such", orthogonal, nn.Linear(3, 3), "wight")
T("another shape", lambda: setattr(orthogonal(nn.Linear(3, 3)), "weight", torch.ones(2, 2)))
print(orthogonal(nn.Linear(4, 3)))
