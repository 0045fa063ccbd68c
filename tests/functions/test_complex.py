"""Complex tensors: made, printed, promoted, refused and differentiated as PyTorch's."""

from __future__ import annotations

import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd

START = {"z": "torch.tensor([1+2j, 3-4j, 0.5j])", "w": "torch.tensor([2-1j, 1j, 0.5], dtype=torch.cdouble)",
         "x": "torch.tensor([1., 2., -3.])", "i": "torch.tensor([1, 2, 3])", "F": "torch.nn.functional"}
# What makes, shows and refuses complex numbers.
EXPRESSIONS = """
x.imag | x.real | x.conj() is x | z.real | z.imag | z.conj() | z.conj_physical() | z.resolve_neg() is z | z.is_complex()
x.is_complex()
torch.isreal(w) | torch.isreal(x) | z.angle() | z.abs() | abs(z) | z.sgn() | z.sign() | -z | +z | z.is_neg() | z.isnan()
z.isfinite() | z.isinf()
torch.view_as_real(z) | torch.view_as_real(z)[:, 1] | torch.view_as_real(x) | torch.view_as_complex(x[:2])
torch.view_as_complex(x[:1])
torch.view_as_complex(torch.ones(3, 2, dtype=torch.int64)) | torch.view_as_complex(torch.ones(2, 2).T)
torch.view_as_complex(torch.ones(()))
torch.complex(x, x) | torch.complex(x, x.double()) | torch.complex(i, i) | torch.polar(x, x)
torch.polar(x[:, None], x).shape
torch.abs(z, out=torch.empty(3, dtype=torch.cfloat)) | torch.abs(z, out=torch.empty(3, dtype=torch.double))
torch.abs(z, out=torch.empty(3, dtype=torch.int64)) | torch.abs(x, out=torch.empty(3, dtype=torch.double))
z < z | z >= 1 | x > 1j | z == z | z != 1 | z == 1 + 2j | torch.maximum(z, z) | z.sort() | z.argmax() | z.clamp(0, 1)
torch.relu(z) | z.floor()
z % 2 | z // 2 | torch.atan2(z, z) | z.round() | z.erf() | torch.softmax(z, 0) | z.max() | z.min(0) | torch.max(z, z)
z.unique() | torch.unique(z, dim=0) | torch.unique_consecutive(z) | torch.searchsorted(x, z) | torch.searchsorted(z, z) | z & z
~z | z << 1 | torch.nn.functional.relu(z) | torch.nn.functional.threshold(z, 0, 0) | torch.nn.functional.dropout(z)
torch.nn.functional.silu(z) | torch.nn.functional.hardtanh(z)
torch.nn.functional.interpolate(z[None, None], 2) | torch.cdist(z[None], z[None])
torch.randperm(3, dtype=torch.cfloat) | z.scatter_reduce(0, i - 1, w.cfloat(), "amax") | z.__complex__()
torch.nn.init.orthogonal_(torch.outer(z, z)) | torch.nn.Linear(3, 2, dtype=torch.cfloat).double().weight.dtype
torch.nn.functional.rms_norm(z, (3,)) | z.median() | z.topk(1) | z.cummax(0)
float(z[0]) | int(z[0]) | complex(z[0]) | bool(z[0]) | float(torch.tensor(2 + 0j)) | z[0].item() | z.tolist() | z.numpy()
f"{z[0]:.2f}" | 3 - 4j in z
torch.tensor(1j) | torch.tensor([1, 2j]) | torch.tensor([[1.5, 2j], [3, True]]) | torch.tensor([1, 2j], dtype=torch.float32)
torch.tensor(1j, dtype=torch.int64)
torch.zeros(2, dtype=torch.cdouble) | torch.ones(1, dtype=torch.cfloat) | torch.full((2,), 1j)
torch.full((2,), 1j, dtype=torch.float) | torch.eye(2, dtype=torch.cfloat)
torch.arange(3, dtype=torch.cfloat) | torch.linspace(0, 1, 3, dtype=torch.cfloat) | torch.linspace(0, 1j, 3)
torch.empty(0, dtype=torch.cfloat) | torch.scalar_tensor(2, dtype=torch.cfloat)
torch.randn(3, dtype=torch.cfloat) | torch.randn(20, dtype=torch.cdouble) | torch.rand(3, dtype=torch.cfloat)
torch.randn_like(torch.zeros(2, 3, dtype=torch.cfloat).T)
torch.randn(2, 700, dtype=torch.cfloat) | torch.zeros(2, 2, dtype=torch.cfloat).uniform_().shape
torch.randint(3, (3,), dtype=torch.cfloat).dtype
x * 1j | x.double() * 1j | i * 1j | i + z | x.double() + z | z + w | z[0] * x | 2 ** z | z ** 2 | z ** -1 | z ** 0.5
z ** 1j | x.abs() ** 1j | 1 / z | z / 0 | z - 1 | 1 - z
(z + w).dtype | torch.result_type(x, 1j) | torch.result_type(i, z) | torch.promote_types(torch.cfloat, torch.double)
torch.can_cast(torch.cfloat, torch.float)
z.exp() | z.log() | z.sqrt() | z.sin() | z.tanh() | z.acos() | z.reciprocal() | z.sigmoid() | z.log1p() | z.square()
z.rsqrt() | z.log10()
z.sum() | z.mean() | z.prod() | z.cumsum(0) | z.cumprod(0) | z.var() | z.std() | z.norm() | torch.linalg.vector_norm(z, 3)
z.all() | z.any() | z.nansum() | torch.var_mean(z)
z @ z | torch.vdot(z, z) | torch.outer(z, z) | torch.outer(z, z).mH | torch.outer(z, z).H | torch.outer(z, z).adjoint().shape
torch.einsum("i,i->", z, z) | torch.kron(z, z)
z.to(torch.cdouble) | z.cdouble() | x.cfloat() | z.bool() | z.to(torch.cfloat) is z | z.type() | z.dtype | z.element_size()
z.dtype.to_real() | torch.finfo(torch.cfloat).eps
z[1] | z[1:] | z[[0, 0]] | z[x > 0] | z.flip(0) | torch.cat([z, x]) | torch.stack([z, z]) | torch.where(x > 0, z, 0)
z.unsqueeze(0).expand(2, 3) | z.tril if 0 else torch.outer(z, z).tril()
torch.tensor([[1 + 2j, 1e10j], [3, float("nan")]]) | torch.tensor([complex("inf"), complex(1, float("nan")), -0.5 - 0j])
torch.tensor([1e-5 + 2j, 1000000.5])
torch.allclose(z, z + 1e-9) | torch.isclose(z, z.conj()) | torch.equal(z, z) | z.unique if 0 else z.nonzero()
torch.logspace(0, 1+1j, 4) | torch.logspace(1j, 2, 3) | torch.logspace(0, 1j, 0) | torch.logspace(0, 1j, 3, dtype=torch.float)
torch.linspace(0, 1j, 3, dtype=torch.int64) | torch.arange(1j) | torch.arange(1+0j) | torch.arange(0, 2, 1+0j)
torch.range(0, 1j)
torch.tril_indices(3, 3, dtype=torch.cfloat) | torch.triu_indices(2, 2, dtype=torch.float) | torch.triu_indices(-1, 2)
torch.histc(z) | torch.histc(z, min=0, max=1) | torch.hann_window(4, dtype=torch.cfloat)
torch.kaiser_window(1, dtype=torch.cdouble)
torch.hamming_window(4, dtype=torch.int64) | torch.fft.fftfreq(4, dtype=torch.cfloat)
torch.fft.rfftfreq(3, out=torch.empty(2, dtype=torch.cfloat))
z.exponential_() | z.exponential_(-1) | z.bernoulli_() | z.bernoulli_(2) | z.bernoulli_(x) | z.geometric_(0.5) | z.cauchy_()
z.cauchy_(0, -1) | z.log_normal_() | z.random_() | z.random_(5) | z.random_(5, 2) | z.requires_grad_().exponential_()
z.requires_grad_()[:2].cauchy_() | i.cauchy_() | i.log_normal_() | (i > 1).geometric_(0.5) | i.uniform_(2, 1)
torch.bernoulli(x)
torch.nn.functional.embedding(i - 1, torch.outer(z, z).requires_grad_())
torch.nn.functional.embedding(i - 1, torch.outer(z, z))
torch.nn.Bilinear(3, 3, 2, dtype=torch.cfloat)(z, z) | torch.nn.functional.silu(z.clone().requires_grad_())
torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2, dtype=torch.cfloat))(z).shape
torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2, dtype=torch.cfloat), dim=None)(z)
torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(3, 2, 2, dtype=torch.cfloat), dim=1)(torch.outer(z, z))
torch.nan_to_num(torch.tensor([complex(1, float("nan")), complex(float("inf"), 2), complex(3, -float("inf"))]))
torch.nan_to_num(torch.tensor([complex(1, float("nan")), complex(float("inf"), 2), 3j])[::2], 5., 6., 7.) | -torch.outer(z, z).T
torch.tensor(complex(float("nan"), 1)).nan_to_num_(2.) | -torch.zeros(2, 0, dtype=torch.cfloat) | -z[0] | -torch.outer(z, z)
torch.nn.AdaptiveAvgPool1d(1)(torch.outer(z, z)) | torch.nn.AdaptiveAvgPool2d(1)(torch.outer(z, z)[None])
torch.nn.AdaptiveAvgPool2d(2)(torch.outer(z, z)[None]) | torch.nn.AdaptiveAvgPool3d(2)(torch.outer(z, z)[None, None])
torch.func.jacfwd(torch.exp)(z) | torch.func.jacrev(torch.exp)(z) | torch.func.jacrev(lambda x: x * 1j)(x)
torch.func.jacfwd(lambda x: x * 1j)(x) | torch.func.hessian(lambda z: z.abs().sum())(z) | torch.func.vjp(torch.exp, z)[1](z)
torch.nn.LSTM(3, 2, dtype=torch.cdouble)(torch.outer(w, w))[0]
x.half() + z | x.half() * w | z - x.half()[0] | z * x.bfloat16() | torch.cat([x.half(), z]) | torch.where(x > 0, x.half(), z)
torch.result_type(x.half(), z) | torch.inner(z, x) | torch.inner(z, z) | torch.normal(0., z) | torch.bernoulli(z)
F.prelu(z, x[:1]) | F.prelu(x, z[:1]) | F.prelu(z, z[:1]) | F.binary_cross_entropy(z, x) | F.binary_cross_entropy(x.sigmoid(), z)
F.binary_cross_entropy(x.sigmoid(), x.sigmoid(), z) | F.binary_cross_entropy(z, z) | F.huber_loss(x, z) | F.huber_loss(z, x)
F.cross_entropy(z, i[0]) | F.cross_entropy(z, x) | F.cross_entropy(x, z) | F.cross_entropy(z, z) | F.cross_entropy(x, i[0], z)
F.nll_loss(x, i[0], z) | F.nll_loss(z, i[0]) | F.kl_div(z, x) | F.soft_margin_loss(x, z) | F.soft_margin_loss(z, x)
F.conv1d(z[None], x[None, None]) | F.conv1d(x[None], z[None, None]) | F.conv1d(x[None], x[None, None], z[:1])
F.conv_transpose1d(z[None], z[None, None], x[:1]) | F.conv_transpose1d(x[None], x[None, None], z[:1])
F.conv_transpose2d(z[None, None], w[None, None, None]) | F.conv_transpose3d(x.view(1, 1, 1, 3), x.view(1, 1, 1, 1, 3), z[:1])
F.layer_norm(x, (3,), z) | F.layer_norm(z, (3,), x) | F.layer_norm(z, (3,), z) | F.group_norm(x[None], 1, z)
F.rms_norm(x, (3,), z)
F.scaled_dot_product_attention(x[None], z[None], z[None]) | F.scaled_dot_product_attention(z[None], z[None], z[None])
F.binary_cross_entropy_with_logits(x, z) | F.binary_cross_entropy_with_logits(x, z, x, reduction="none")
F.binary_cross_entropy_with_logits(z, x) | F.binary_cross_entropy_with_logits(x, z, pos_weight=x)
F.binary_cross_entropy_with_logits(x, x, z) | F.binary_cross_entropy_with_logits(x, x, pos_weight=z)
F.binary_cross_entropy_with_logits(x.clone().requires_grad_(), z) | F.multilabel_soft_margin_loss(x, z)
F.multilabel_soft_margin_loss(z, x) | F.hinge_embedding_loss(x, z) | F.hinge_embedding_loss(z, x) | F.hinge_embedding_loss(z, z)
F.gaussian_nll_loss(z, z * 1j, x.abs()) | F.gaussian_nll_loss(z, x, x.abs(), full=True, reduction="none")
F.gaussian_nll_loss(x, z, 0.5) | F.gaussian_nll_loss(z, z, z) | F.gaussian_nll_loss(z, z, 0.5) | F.gaussian_nll_loss(z, z, -0.5)
pickle.loads(pickle.dumps(torch.nn.Parameter(z.conj()))).is_conj()
z.count_nonzero() | z.diff() | z.roll(1) | z.masked_fill(x > 0, 2j) | z.logcumsumexp(0) | z[0].logcumsumexp(0)
torch.view_as_complex(torch.ones(5)[1:].view(2, 2)) | torch.view_as_complex(torch.ones(3, 4)[:, 1:3])
torch.linalg.vector_norm(z, dtype=torch.float) | torch.linalg.vector_norm(x, dtype=torch.cfloat) | torch.norm(x, 1j)
torch.linalg.matrix_norm(torch.outer(x, x), dtype=torch.cfloat) | torch.dist(x, x, 1j) | torch.renorm(torch.outer(x, x), 1j, 0, 1)
torch.addmm(x, torch.outer(x, x), torch.outer(x, x), beta=1j) | torch.addmm(x, torch.outer(x, x), torch.outer(x, x), alpha=2+0j)
torch.addmv(x, torch.outer(x, x), x, alpha=1j) | torch.addr(x, x, x, alpha=1j) | torch.outer(x, x).addr_(x, x, alpha=1j)
torch.add(x, x, alpha=1j) | x.sub(1, alpha=1j) | torch.add(i, i, alpha=1j) | x.index_add(0, i - 1, x, alpha=1j)
torch.addcdiv(x, x, x, value=1j) | torch.lerp(x, x, 1j) | torch.lerp(x, x + 1, 0.5 + 0j) | F.leaky_relu(x, 1j)
F.leaky_relu(x, 2 + 0j) | F.elu(x, 1j) | F.celu(x, 1j) | F.softplus(x, 1j) | F.softplus(x, 1, 1j) | F.softshrink(x, 1j)
F.hardshrink(x, 1j) | F.rrelu(x, 1j, 2) | F.threshold(x, 1j, 0) | F.threshold(x, 1 + 0j, 2 + 0j) | x.clamp(1j) | x.clamp(1 + 0j)
torch.gradient(x, spacing=1j) | torch.gradient(x, spacing=2j, edge_order=2) | torch.gradient(x, spacing=torch.tensor(1j))
torch.gradient(torch.outer(x, x), spacing=[1j, 2]) | torch.gradient(x.double(), spacing=(z,), edge_order=2)
torch.gradient(torch.outer(x, x), spacing=(z, x)) | torch.gradient(i, spacing=(z,)) | torch.gradient(x, spacing=1 + 0j)
torch.fft.fftn(z[0], s=(2,)) | torch.fft.rfftn(x[0], s=(3,)) | torch.fft.hfftn(x[0], s=3) | torch.fft.fftn(x[0], dim=0)
torch.fft.fftn(x[0], s=(1,), dim=(0,)) | torch.fft.fft2(z[0]) | torch.fft.fftshift(x[0]) | torch.fft.fftshift(x[0], dim=0)
torch.fft.ifftshift(x[0], dim=(1,)) | torch.fft.fftn(x[0]) | torch.fft.fft(x, dim=3) | torch.fft.fftn(x, dim=(0, 0))
torch.autograd.functional.jacobian(lambda a: a * a, z, vectorize=True) + 0 | torch.autograd.functional.jacobian(torch.exp, z)
torch.autograd.functional.jacobian(lambda a: a * 1j, x, vectorize=True) + 0
torch.autograd.functional.jacobian(lambda a: a.conj() * 2, z, vectorize=True) + 0
torch.linalg.norm(torch.outer(x, x), 1j) | torch.linalg.matrix_norm(torch.outer(x, x), 2 + 0j)
torch.cholesky_inverse(x) | torch.cholesky_inverse(torch.ones(2, 3)) | torch.cholesky_solve(x, x)
torch.cholesky_solve(torch.outer(x, x), x) | torch.cholesky_solve(torch.ones(2, 2), torch.ones(2, 3))
torch.cholesky_solve(torch.outer(x, x), torch.outer(z, x)) | torch.linalg.matrix_rank(torch.ones(2, 3), hermitian=True)
torch.linalg.vecdot(x, z) | torch.linalg.vecdot(x, x.double()) | torch.cumulative_trapezoid(x, dx=1j)
torch.trapezoid(x, dx=1j) | torch.trapz(x, dx=1j)
torch.linalg.pinv(torch.outer(x, x), rtol=z[0]) | torch.linalg.matrix_rank(torch.outer(x, x), atol=z[0])
torch.sort(z, "a") | z.sort(5) | torch.relu(z, 3) | z.relu(2) | torch.maximum(z, 1) | z.maximum(1) | z.clamp("a") | z.topk("a")
z.topk(9) | z.kthvalue(9) | z.median(5) | z.median("a") | z.cummax() | z.cummax(9) | torch.quantile(z, 2) | z.floor_(1)
torch.cdist(z, 1) | torch.atan2(z, 1) | torch.erf(z, out=3) | z.clone().requires_grad_().floor_() | z.requires_grad_().relu_()
F.leaky_relu(z, "a") | F.max_pool2d(z, 2) | F.layer_norm(z, (4,)) | F.gelu(z, approximate="a") | torch.bucketize(z)
F.rrelu(z, 2, 1)
F.nll_loss(z, x) | z.argmax(5) | z.maximum(torch.ones(2)) | z.fmod(torch.ones(2)) | torch.relu_(z.requires_grad_()) | x.fmod_(z)
torch.special.legendre_polynomial_p(z, torch.ones(2)) | torch.erf(z.requires_grad_(), out=z) | F.elu(z, torch.tensor(1j))
torch.searchsorted(x, 1j) | torch.searchsorted(x.double(), 1j) | torch.searchsorted(z, 1.) | torch.bucketize(1j, x)
torch.bucketize(z, x) | torch.bucketize(1., z) | torch.isin(1j, x) | torch.isin(x, 1j) | torch.isin(z, x) | torch.isin(x, z)
F.max_pool1d_with_indices(z[None], 2) | F.max_pool2d_with_indices(z[None, None], 1) | F.max_pool1d(z[None], 2)
F.max_pool3d_with_indices(z[None, None, None], 1) | F.max_pool1d(z[None], 2, return_indices=True) | F.max_pool2d(z[None, None], 1)
F.max_pool2d(z[None, None], 2) | F.adaptive_max_pool1d_with_indices(z[None], 1) | F.adaptive_max_pool1d(z[None], 1)
F.adaptive_max_pool2d_with_indices(z[None, None], 1) | F.adaptive_max_pool3d_with_indices(z[None, None, None], 1)
F.max_unpool1d(z[None], i[None] - 1, 1) | F.max_unpool3d(z[None, None, None], i[None, None, None] - 1, 1)
F.fractional_max_pool2d_with_indices(z[None, None], 1, 1) | F.fractional_max_pool3d_with_indices(z[None, None, None], 1, 1)
F.upsample(z[None, None], 2) | F.upsample(z[None, None], 2, mode="linear")
F.upsample(z[None, None, None], (2, 2), mode="bilinear")
F.upsample_nearest(z[None, None, None], 2) | F.upsample_bilinear(z[None, None, None], 2) | F.interpolate(z, 2)
F.interpolate(z[None, None, None], 2, mode="bicubic") | F.interpolate(z[None, None], 2, mode="area") | F.max_pool2d(z, "a")
F.soft_margin_loss(z, x) | F.soft_margin_loss(z.requires_grad_(), x) | torch.geqrf(torch.outer(z, z).requires_grad_())
torch.slice_copy(z.requires_grad_()) | torch.chain_matmul(z, z) | torch.chain_matmul(x)
torch.chain_matmul(torch.outer(x, x), 1j) | F.soft_margin_loss(x.requires_grad_(), z) | z.max(5) | z.max(0)
torch.quantile(z, "a")
torch.lerp(x, x + 1, torch.tensor(0.5, dtype=torch.double)) | torch.lerp(x, x + 1, torch.tensor(0.5j))
x.lerp_(x, torch.tensor(1j)) | F.threshold(z, 1, "a") | z.clamp() | F.leaky_relu(z, p=1) | F.rrelu(z)
torch.lerp(z, z + 1, torch.tensor(0.5)) | torch.lerp(i, i + 1, torch.tensor(0.5)) | torch.lerp(i, i, torch.tensor(1))
x.lerp_(x + 1, torch.tensor(0.5, dtype=torch.double)) | torch.lerp(x[0], x[1], torch.tensor(0.5).double())
torch.lerp(z, z, x)
x.sum(dtype=torch.cfloat) | x.mean(0, dtype=torch.cfloat) | x.prod(dtype=torch.cfloat) | i.cumprod(0, dtype=torch.cdouble)
x.nansum(dtype=torch.cfloat) | x.nanmean(dtype=torch.cfloat) | i.nansum(dtype=torch.cfloat) | x[:0].nansum(dtype=torch.cdouble)
torch.addcmul(i, i, i, value=1+0j) | torch.addcmul(i, i, i, value=1j) | torch.addcmul(x, x, x, value=2+0j)
torch.tensor([1, torch.tensor(2j)], dtype=torch.float32) | torch.tensor([1, torch.tensor(2+0j)], dtype=torch.float32)
torch.tensor([torch.tensor(2j)], dtype=torch.int64) | torch.tensor([torch.tensor(2j)], dtype=torch.cdouble)
x.new_tensor([1, z[0]])
torch.nan_to_num(x > 0, z[0]) | torch.nan_to_num(x, z[0]) | torch.allclose(x, x, rtol=z[0]) | torch.isclose(x, x, rtol=w[2])
torch.mean(z, 0, out=torch.empty(())) | torch.mean(z, out=torch.empty((), dtype=torch.double)) | torch.mean(w, (), out=z[0])
torch.rsub(x, 1, 2) | torch.rsub(z, 1, 2j) | torch.rsub(z, z, 2j) | torch.rsub(x, x, alpha=2)
torch.histc(x, min=1j) | torch.histc(x, 4, 1+0j, 3+0j) | torch.histc(x, min=1+0j) | torch.histc(x, max=z[0])
torch.trapezoid(z, x > 0) | torch.trapezoid(x > 0, x) | torch.trapezoid(x > 0) | torch.trapezoid(torch.outer(z, z), x[0])
torch.trapezoid(z, torch.eye(2)) | torch.trapezoid(x, torch.ones(2, 3))
torch.trapezoid(torch.ones(2, 2, 3), torch.outer(x, x)[:2])
torch.cumulative_trapezoid(z, torch.eye(2)) | torch.cumulative_trapezoid(torch.outer(z, z), x[0])
torch.trapezoid(x[:1], torch.eye(2))
torch.trapezoid(z[None, None].expand(2, 2, 3), torch.outer(x, x)[:2].cumsum(0), dim=1) | torch.cumulative_trapezoid(x, x > 0)
torch.erf(x, out=z) | torch.maximum(x, x, out=z) | torch.view_as_real_copy(z.conj()) | torch.svd(torch.outer(z, z)).V.is_conj()
z & w[:2] | z > w[:2] | z // w[:2] | z % w[:2] | torch.gcd(z, w[:2]) | torch.atan2(z, x.double()) | torch.atan2(z, x[0].double())
torch.range(x, z) | torch.range(z[0], 2) | F.cosine_embedding_loss(z) | F.softmax(z, a=1)
torch.addr(torch.eye(3), x, z) | torch.addr(torch.eye(3), x.double(), x) | torch.addr(torch.eye(3), i, i, beta=2, alpha=.5)
torch.addr(torch.eye(3) > 0, x, i) | torch.addr(x, x, z, alpha=1j) | torch.eye(3).addr_(x, z) | torch.eye(3).addr_(x.double(), i)
torch.addr(torch.eye(3), x, z, out=torch.ones(3, 3)) | torch.addcdiv(z, z, torch.zeros(3)) | torch.addcdiv(z, w, x > 5)
torch.addcdiv(z, z, w, value=2j)
torch.linalg.pinv(torch.outer(x, x), z[0]) | z.size(z) | z.size(1.) | x.size("a") | z.requires_grad_().gcd_(z)
z[0].bitwise_and_(z) | x.le_(z) | torch.gcd_(i, z[:2])
x.clamp_(max=1j) | i.clamp(1j) | x.xlogy(1j) | x.copysign(1j) | x.index_fill(0, i - 1, 1j) | x.index_fill(0, i - 1, z[0])
"""
EDITS = """
x += 1j | x[0] = 1j | x.fill_(1j) | x.mul_(z) | z += x | z[0] = 5 | z[0] = 1j | z[:2] = x[:2] | z[x > 0] = 0 | z.fill_(2j)
z.real = 2 + 0j | z.imag = 1j | z.imag = "a"
z.real.zero_() | z.imag += x | z.imag = x | z.real = 7 | torch.view_as_real(z)[:, 1] *= x | z.conj_physical_() | z.copy_(x)
z.zero_() | z.neg_() | z.exp_() | z.abs_() | z.normal_() | z.uniform_() | torch.add(x, x, out=z) | torch.exp(z, out=x)
x[x > 0] = z[0] | i[i > 1] = z[0] | x[x > 0] = 2 + 0j | x.fill_(2 + 0j) | x[:2] = 2 + 0j
x[0] = np.complex64(1j) | z[0] = np.complex64(1j) | x[x > 0] = np.complex64(1) | x[[0]] = np.complex64(1)
x[0] = np.complex128(1j) | z[0] = np.complex128(1j) | z[:] = np.float32(2)
z.sgn_() | z.sub_(1j, alpha=2) | z.index_add_(0, i - 1, w.cfloat())
"""


def without_complex() -> list[str]:
    """Expressions of the functions of torch.special that have no derivative."""
    from retrograd._functions.bessel import ONE, TWO

    return [*[f"torch.special.{name}(z)" for name in ONE],
            *[f"torch.special.{name}({args})" for name in TWO for args in ("z, 2", "x, 1j", "1j, i", "i, w")]]


def told(torch: Any, expression: str, edit: bool = False) -> str:
    """The value as it prints, or the error's class and first line."""
    torch.manual_seed(0)
    names = {"torch": torch, "pickle": pickle, "np": np}
    for name, made in START.items():
        names[name] = eval(made, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if edit:
                exec(expression, names)
                return repr((names["z"], names["x"]))
            return repr(eval(expression, names))
        except Exception as e:
            return f"{type(e).__name__}: {str(e).splitlines()[0]}"


@pytest.mark.oracle
@pytest.mark.parametrize("line", [*EXPRESSIONS.strip().splitlines(), " | ".join(without_complex())])
def test_expressions_are_pytorchs(line: str) -> None:
    theirs = pytest.importorskip("torch")
    for expression in line.split(" | "):
        want = told(theirs, expression)
        assert (expression, told(retrograd, expression).replace("retrograd.", "torch.")) == (expression, want)


@pytest.mark.oracle
@pytest.mark.parametrize("statement", EDITS.strip().replace("\n", " | ").split(" | "))
def test_edits_in_place_are_pytorchs(statement: str) -> None:
    theirs = pytest.importorskip("torch")
    assert told(retrograd, statement, True) == told(theirs, statement, True)


# f of complex z and w and real x, whose gradients to the second order are compared.
FUNCTIONS = """
z * w | z / w | z * x | x + z | z - x | x * 1j + x | z.abs() | z.angle() | z.sgn() | z.real * z.imag | z.conj() * z | z.exp()
z.log() | z.sqrt() | z.sin()
z.tanh() | z ** 2 | z ** 3.5 | z ** (1 + 1j) | x.abs() ** 1j | z ** w | x ** z | x ** w | x[2] ** w | (-2) ** z | 2 ** z
1 / z | torch.complex(x, x * x)
torch.polar(x.abs(), x * z.real)
torch.view_as_complex(torch.stack([x, x * 2], -1)) | torch.view_as_real(z) * 2 | z.sum() * z.mean() | z.prod() | z.cumprod(0)
z.cumsum(0) | z.var() | z.std()
z.norm() | torch.linalg.vector_norm(z, 3) | torch.linalg.vector_norm(z, 1) | torch.linalg.vector_norm(z, float("inf"))
torch.outer(z, w) @ w | torch.dot(z, w)
torch.vdot(z, w) | torch.cat([z, x]) | x.to(torch.cdouble) * 1j | z.sigmoid() | z.acos() | z.atan() | z[[0, 0, 1]]
z.rsqrt() | torch.einsum("i,j->ij", z, w)
torch.addcmul(z, z, w, value=1j) | torch.lerp(z, w, 0.3) | torch.outer(z, w).mH @ z | z.roll(1) * w
torch.addmm(torch.outer(z, z), torch.outer(z, w), torch.outer(w, z), alpha=2j)
(z - w).square().mean().abs() | torch.dist(z, w) | torch.kron(z, w) | torch.tanh(z * x) | z.cosh() | z.log1p() | z.expm1()
z.log2() | torch.var_mean(z)[0] | z.masked_fill(x > 0, 1j)
torch.nn.functional.gaussian_nll_loss(z, w, x.abs(), reduction="none") | torch.nn.functional.gaussian_nll_loss(x, w, x * x)
torch.nn.functional.multilabel_soft_margin_loss(x, w)
(z - 1 - 2j).prod(dtype=torch.double) | (z - 0.5j).prod(0, dtype=torch.double) | z.prod(dtype=torch.double)
"""


def gradients(torch: Any, source: str) -> list[Any]:
    names: dict[str, Any] = {"torch": torch}
    for name, made in START.items():
        names[name] = eval(made, names)
    leaves = [names["z"].to(torch.complex128).requires_grad_(), names["w"].requires_grad_(), names["x"].double().requires_grad_()]
    names.update(zip("zwx", leaves))
    y = eval(source, names)
    loss = (y.abs() ** 2).sum() if y.is_complex() else (y ** 2).sum()
    first = [g for g in torch.autograd.grad(loss, leaves, create_graph=True, allow_unused=True) if g is not None]
    second = torch.autograd.grad(sum(((g * (0.5 + k)).abs() ** 2).sum() for k, g in enumerate(first)), leaves, allow_unused=True)
    return [None if g is None else np.asarray(g.detach().resolve_conj().numpy()) for g in (*first, *second)]


@pytest.mark.oracle
@pytest.mark.parametrize("line", FUNCTIONS.strip().splitlines())
def test_gradients_are_pytorchs_to_the_second_order(line: str) -> None:
    theirs = pytest.importorskip("torch")
    for source in line.split(" | "):
        for got, want in zip(gradients(retrograd, source), gradients(theirs, source), strict=True):
            if got is None or want is None:
                assert not np.any(0 if got is None else got), source
                assert not np.any(0 if want is None else want), source
                continue
            assert got.dtype == want.dtype, source
            np.testing.assert_allclose(got, want, 1e-9, 1e-9 * max(1.0, float(np.abs(want).max())), err_msg=source)


@both
def test_the_gradient_is_a_descent_direction(torch: Any) -> None:
    z = torch.tensor([3 - 4j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert z.grad.tolist() == [6 - 8j]
    with torch.no_grad():
        z -= 0.25 * z.grad
    assert z.tolist() == [1.5 - 2j]


@both
def test_edits_through_parts_reach_the_whole(torch: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128, requires_grad=True)
    x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    y = z * 1
    y.real.mul_(x)
    torch.view_as_real(y)[:, 1] += x
    assert y.tolist() == [2 + 4j, -3 - 5j]
    (y.real * y.imag).sum().backward()
    assert z.grad.tolist() == [8 + 2j, 5 - 3j]
    assert x.grad.tolist() == [6.0, -18.0]


@both
def test_a_complex_loss_is_refused(torch: Any) -> None:
    z = torch.tensor([1 + 2j], requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs but got torch.compl"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output are required to have the same"):
        z.sum().backward(torch.ones(()))
    assert z.grad is None


@both
@pytest.mark.parametrize("call", [
    "z.to(torch.float32)", "z.sum(dtype=torch.float32)", "z.sum(0, dtype=torch.float16)", "z.mean(dtype=torch.float32)",
    "z.prod(dtype=torch.float32)", "z.cumsum(0, dtype=torch.float32)", "z.cumprod(0, dtype=torch.float32)",
    "torch.sum(z, 0, out=x[0])", "torch.softmax(z, 0, dtype=torch.float32)", "x.copy_(z)", "x.__setitem__(0, z[0])",
    "x.__setitem__(slice(None), z)"])
def test_the_imaginary_part_is_dropped_with_a_warning(torch: Any, call: str) -> None:
    names = {"torch": torch, "z": torch.tensor([1 + 2j]), "x": torch.zeros(1)}
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part") as said:
            y = eval(call, names)
        assert len(said) == 1 and (names["x"] if y is None else y).item() == 1
    finally:
        torch.set_warn_always(False)


@both
def test_numpy_shares_the_memory_of_complex_numbers(torch: Any) -> None:
    a = np.array([1 + 2j, 3.0])
    t = torch.from_numpy(a)
    t.imag[1] = 5
    assert a.tolist() == [1 + 2j, 3 + 5j]
    assert t.dtype is torch.complex128
    assert torch.from_dlpack(np.array([1j])).tolist() == [1j]


CAPSULES = """
torch.from_dlpack(r) | torch.from_dlpack(r * 2) | torch.from_dlpack(torch.nn.Parameter(x)) | torch.from_dlpack(z.conj())
torch.from_dlpack(r, copy=True) | torch.from_dlpack(r.detach()) | torch.from_dlpack(z)
torch.from_dlpack(x.expand(2, 3)).stride()
torch.from_dlpack(torch.utils.dlpack.to_dlpack(r)) | torch.from_dlpack(torch.utils.dlpack.to_dlpack(r * 2))
torch.from_dlpack(torch.utils.dlpack.to_dlpack(z)) | torch.utils.dlpack.to_dlpack(3)
torch.asarray(torch.utils.dlpack.to_dlpack(x))
(torch.from_dlpack(x, copy=True).zero_(), x) | (torch.from_dlpack(x).zero_(), x) | (torch.from_dlpack(x, copy=False).zero_(), x)
(torch.from_dlpack(torch.utils.dlpack.to_dlpack(r)).zero_(), r)
"""


@pytest.mark.oracle
@pytest.mark.parametrize("expression", CAPSULES.strip().replace("\n", " | ").split(" | "))
def test_capsules_are_pytorchs(expression: str) -> None:
    found = []
    for torch in (retrograd, pytest.importorskip("torch")):
        space = {"torch": torch, "x": torch.ones(3), "r": torch.ones(3, requires_grad=True), "z": torch.tensor([1 + 2j])}
        try:
            found.append(repr(eval(expression, space)))
        except (BufferError, TypeError) as e:
            found.append(repr(e))
    assert found[0] == found[1]


def test_the_capsule_of_a_conjugate_has_its_numbers() -> None:
    z = retrograd.tensor([1 + 2j, 3j])
    assert retrograd.from_dlpack(retrograd.utils.dlpack.to_dlpack(z.conj())).tolist() == [1 - 2j, -3j]


@pytest.mark.oracle
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("call", ["lp_pool{}d(x, 2, 2)", "lp_pool{}d(x, 1, 2)", "lp_pool{}d(x, 0, 2)", "avg_pool{}d(x, 2)"])
def test_pools_refuse_complex_numbers(dim: int, call: str) -> None:
    import torch as theirs

    texts = []
    for torch in (retrograd, theirs):
        x = torch.ones(1, 1, *[4] * dim, dtype=torch.cfloat)
        with pytest.raises(NotImplementedError) as error:
            eval("F." + call.format(dim), {"F": torch.nn.functional, "x": x})
        texts.append(str(error.value))
    assert texts[0] == texts[1]


@both
@pytest.mark.parametrize("given, returned", [
    ("float32", "g * 1j"), ("float32", "g.to(torch.complex128)"), ("float32", "g.new_ones(1, 2) * 1j"),
    ("float16", "g.float() * 1j"), ("complex64", "g.real.long()"), ("float32", "g.long()"), ("float32", "g.double()"),
    ("complex64", "g.real"), ("complex64", "g.to(torch.complex128)")])
@pytest.mark.parametrize("graph", [False, True])
def test_a_gradient_is_complex_where_the_input_is(torch: Any, given: str, returned: str, graph: bool) -> None:
    """A complex gradient of a real input is no answer; floating-point numbers of other sizes are cast."""
    class Doubled(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return eval(returned, {"torch": torch, "g": g})

    x = torch.ones(2, dtype=getattr(torch, given), requires_grad=True)
    y = Doubled.apply(x).sum()
    loss = y.real if y.is_complex() else y
    refused = "j" in returned or returned == "g.real.long()" or (given == "float32" and "complex" in returned)
    if refused:
        with pytest.raises(RuntimeError, match="input_is_complex == grad_is_complex. to be true, but got false"):
            torch.autograd.grad(loss, x, create_graph=graph)
        assert x.grad is None
    else:
        (slope,) = torch.autograd.grad(loss, x, create_graph=graph)
        assert (slope.dtype, slope.tolist()) == (x.dtype, [1, 1])


@both
def test_gradcheck_changes_both_parts(torch: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z, x: z * z.conj() + x * z.abs().log(), (z, x))
    assert torch.autograd.gradgradcheck(lambda z: z * z.abs(), (z,))

    class Wrong(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, z: Any) -> Any:
            return z * 1j

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 1j                       # of the derivative the conjugate was meant

    with pytest.raises(RuntimeError, match="While considering the imaginary part of complex outputs only, Jacobian mismatch for "
                                           "output 0 with respect to input 0"):
        torch.autograd.gradcheck(Wrong.apply, (z,))


@both
def test_complex_tensors_go_into_files_and_come_back(torch: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 1j, 1j], dtype=torch.complex128)
    file = io.BytesIO()
    torch.save({"z": z, "w": z.to(torch.complex64)[::2]}, file)
    file.seek(0)
    back = torch.load(file)
    assert back["z"].tolist() == z.tolist()
    assert (back["w"].dtype, back["w"].tolist()) == (torch.complex64, [1 + 2j, 1j])
    assert pickle.loads(pickle.dumps(z)).tolist() == z.tolist()


@pytest.mark.oracle
def test_files_go_to_pytorch_and_back() -> None:
    theirs = pytest.importorskip("torch")
    file = io.BytesIO()
    retrograd.save(retrograd.tensor([1 + 2j]), file)
    file.seek(0)
    assert theirs.load(file).tolist() == [1 + 2j]


@both
def test_hooks_see_and_replace_complex_gradients(torch: Any) -> None:
    z = torch.tensor([1 + 1j], dtype=torch.complex128, requires_grad=True)
    seen: list[Any] = []
    z.register_hook(lambda g: seen.append(g.tolist()))
    y = z * 2
    y.register_hook(lambda g: g * 1j)
    (y.abs() ** 2).sum().backward()
    assert seen == [z.grad.tolist()]
    assert z.grad.tolist() == [pytest.approx(-8 + 8j)]


@pytest.mark.oracle
@pytest.mark.parametrize("layer", [
    "Linear(2, 3, dtype=torch.cdouble)", "Conv1d(2, 3, 2, dtype=torch.cdouble)",
    "Conv2d(2, 2, 2, padding=1, dtype=torch.cdouble)", "ConvTranspose1d(2, 3, 2, dtype=torch.cdouble)"])
def test_layers_and_their_gradients_are_pytorchs(layer: str) -> None:
    theirs = pytest.importorskip("torch")
    found = []
    for torch in (retrograd, theirs):
        torch.manual_seed(0)
        module = eval(f"torch.nn.{layer}", {"torch": torch})
        x = torch.randn(2, 2, *[4] * (module.weight.dim() - 2), dtype=torch.cdouble, requires_grad=True)
        y = module(x)
        (y.abs() ** 3).sum().backward()
        found.append([v.detach().numpy() for v in (y, x.grad, module.weight.grad, module.bias.grad)])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, 1e-9, 1e-9)


@both
def test_modules_become_complex_with_a_warning(torch: Any) -> None:
    with pytest.warns(UserWarning, match="Complex modules are a new feature"):
        assert torch.nn.Linear(1, 1).to(torch.complex64).weight.dtype is torch.complex64


# Held against PyTorch in value and gradient; w is complex128, of 4 x 5.
HARDER = """
torch.masked.var(w, dim=1, mask=w.real > -0.5) | torch.masked.std(w, dim=1)
torch.renorm(w, 2, 0, 1.0) | torch.renorm(w, 1, 1, 0.5)
torch.logaddexp(w * 3, w.flip(0)) | torch.logcumsumexp(w * 3, 1) | torch.lerp(w, w * 2, 0.3 + 1j) | torch.lerp(w, w * 2, 0.7)
w.var(correction=20) | w[0, 0].var() | w[:1, :1].std() | w.real.var(correction=30)
torch.constant_pad_nd(w, (1, 2), 1 + 2j) | torch.float_power(w, 2) | (w * 1).float_power_(3)
"""


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("expression", [e.strip() for e in HARDER.replace("\n", "|").split("|") if e.strip()])
def test_value_and_gradient_are_pytorchs(expression: str) -> None:
    import torch as theirs

    drawn = np.random.RandomState(0).randn(4, 5, 2) @ np.array([1, 1j])
    found = []
    for torch in (theirs, retrograd):
        w = torch.tensor(drawn, requires_grad=True)
        y = eval(expression, {"torch": torch, "w": w})
        y.abs().square().sum().backward()
        found.append((y.detach().numpy(), w.grad.resolve_conj().numpy()))
    for got, wanted in zip(found[1], found[0]):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


LOGIC = """
x == y | x != y | x.T == y.T | x[:, ::2] != y[:, ::2] | x == x.real | x != 1j
torch.logical_and(x, y) | torch.logical_xor(x, y.real)
torch.logical_or(x[:, 1:], y[:, 1:]) | x.logical_not() | x.all(1) | x.T.any(1) | x.all() | x.count_nonzero(0) | x.clone().eq_(y)
x[0, 0] == y[0, 0] | x[0, 0].logical_not() | x[:0] == y[:0] | torch.equal(x, y) | x[..., :1] == y
"""


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_that_are_equal_or_zero_are_pytorchs(dtype: str) -> None:
    import torch as theirs

    rng = np.random.default_rng(0)
    kinds = [0, -0.0, 1, 1j, complex(0, -0.0), complex(float("nan"), 0), complex(1, float("nan"))]
    a, b = (rng.choice(kinds, (6, 40)) for _ in "ab")
    for expression in LOGIC.strip().replace("\n", " | ").split(" | "):
        found = [eval(expression, {"torch": t, "x": t.tensor(a.astype(dtype)), "y": t.tensor(b.astype(dtype))})
                 for t in (retrograd, theirs)]
        assert repr(found[0]) == repr(found[1]), expression


@pytest.mark.oracle
@pytest.mark.parametrize("count", [1, 31, 33, 64, 101, 1000])
def test_products_of_many_numbers_are_pytorchs(count: int) -> None:
    import torch as theirs

    drawn = np.exp(1j * np.random.default_rng(0).uniform(0, 6, (count, 2)))
    found = []
    for torch in (retrograd, theirs):
        x = torch.tensor(drawn, requires_grad=True)
        y = x[:, 1].prod() * x.prod()
        (y.real + 2 * y.imag).backward()
        found.append((y.item(), x.grad.resolve_conj().numpy()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-10)
    np.testing.assert_allclose(found[0][1], found[1][1], 1e-10)


@pytest.mark.oracle
def test_singular_values_of_low_rank_are_pytorchs() -> None:
    import torch as theirs

    drawn = np.random.RandomState(0).randn(6, 4, 2) @ np.array([1, 1j])
    got, wanted = (torch.svd_lowrank(torch.tensor(drawn), q=4)[1].numpy() for torch in (retrograd, theirs))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)


@both
def test_strides_over_a_part_end_where_the_memory_ends(torch: Any) -> None:
    part = torch.zeros(2, 2, dtype=torch.cfloat).expand(2, 2, 2).imag[-1, -1, -1]
    with pytest.raises(RuntimeError, match="are out of bounds for storage of size 32"):
        part.as_strided((2,), (1,))


def test_real_numbers_pay_nothing_for_complex_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    from retrograd._functions import parsing

    asked: list[Any] = []
    refuse = parsing.refuse_complex
    monkeypatch.setattr(parsing, "refuse_complex", lambda *a: (asked.append(a), refuse(*a)))
    x, z = retrograd.ones(3), retrograd.ones(3, dtype=retrograd.cfloat)
    calls = (lambda x: retrograd.floor(x), lambda x: retrograd.maximum(x, x), lambda x: retrograd.lt(x, 1),
             lambda x: retrograd.nn.functional.relu(x))
    for call in calls:
        call(x)                     # its types are seen now
        asked.clear()
        call(x)
        assert not asked or not hasattr(retrograd.floor, "watch"), "only where calls are remembered in C"
        with pytest.raises((NotImplementedError, RuntimeError), match="omplex"):
            call(z)
    with pytest.raises(RuntimeError, match="maximum not implemented for complex tensors"):
        retrograd.maximum(x, z)


@pytest.mark.oracle
@pytest.mark.parametrize("given", ["complex64", "complex128", "float32"])
@pytest.mark.parametrize("own", ["complex64", "complex128"])
def test_gradients_of_another_complex_precision_are_cast(own: str, given: str) -> None:
    import torch as theirs

    found: list[list[Any]] = []
    for torch in (retrograd, theirs):
        v = torch.tensor([1 + 1j, 2 - 1j], dtype=getattr(torch, own), requires_grad=True)
        g = torch.tensor([3.0, 0.5], dtype=getattr(torch, given), requires_grad=True)
        found.append([])
        for options in ({}, {"create_graph": True}):
            try:
                grad, = torch.autograd.grad(v * v, v, g, **options)
            except RuntimeError as e:
                found[-1].append(str(e))
            else:
                found[-1].append((str(grad.dtype).split(".")[1], grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["complex128", "float64", "int64"])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_mse_loss_takes_weights_beside_any_numbers(dtype: str, reduction: str) -> None:
    import torch as theirs

    found: list[tuple[Any, ...]] = []
    for torch in (retrograd, theirs):
        x, y = (torch.tensor(v, dtype=getattr(torch, dtype)) for v in ([[1, -2], [3, 5]], [[2, 2], [7, -1]]))
        if dtype == "complex128":
            x, y = x * (1 + 2j), y * (1 - 1j)
        x = x.requires_grad_(dtype != "int64")
        out = torch.nn.functional.mse_loss(x, y, reduction=reduction, weight=torch.tensor([[1.0, 2.0], [3.0, 0.5]]))
        if x.requires_grad:
            out.abs().sum().backward()
        found.append((str(out.dtype).split(".")[1], out.tolist(), None if x.grad is None else x.grad.numpy()))
    assert found[0][:2] == found[1][:2]
    if found[1][2] is not None:
        np.testing.assert_allclose(found[0][2], found[1][2])


@pytest.mark.oracle
def test_orthogonal_numbers_are_drawn_before_they_are_refused() -> None:
    import torch as theirs

    following: list[float] = []
    for torch in (retrograd, theirs):
        torch.manual_seed(0)
        with pytest.raises(NotImplementedError, match=r"torch\.sign"):
            torch.nn.init.orthogonal_(torch.empty(3, 5, dtype=torch.cdouble))
        following.append(torch.rand(1).item())
    assert following[0] == following[1]


@pytest.mark.oracle
@pytest.mark.parametrize("torch", [retrograd, "torch"], ids=["retrograd", "torch"])
@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
def test_numpys_warning_escapes_from_no_assignment(torch: Any) -> None:
    torch = pytest.importorskip(torch) if isinstance(torch, str) else torch
    x = torch.zeros(2)
    x[x == 0] = 1 + 0j
    x[[0]] = 2 + 0j
    x.masked_fill_(x < 2, 3 + 0j)
    assert x.tolist() == [2, 3]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 9, 300])
@np.errstate(all="ignore")
def test_powers_of_zero_and_infinity_are_pytorchs(dtype: str, n: int) -> None:
    theirs = pytest.importorskip("torch")
    inf, nan = float("inf"), float("nan")
    numbers = [0j, 1 + 0j, complex(inf, 0), complex(-inf, 0), complex(0, inf), complex(inf, inf), complex(nan, 0)]
    for a in numbers:
        for b in [0j, 1 + 0j, 2 + 0j, 3 + 0j, 4 + 0j, -1 + 0j, -2 + 0j, 0.5 + 0j, -0.5 + 0j, 1j, complex(inf, 0)]:
            found = []
            for torch in (retrograd, theirs):
                x, y = (torch.tensor([v] * n, dtype=getattr(torch, dtype)) for v in (a, b))
                found.append([(x ** y)[0].item(), (a ** y)[0].item()])
            np.testing.assert_allclose(found[0], found[1], 1e-5, 1e-5, err_msg=f"{a} ** {b}")


@both
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_vdot_keeps_an_infinite_part(torch: Any, dtype: str) -> None:
    for a, b in ((complex(np.inf, 0), 1 + 0j), (1 + 0j, complex(np.inf, 0)), (complex(np.inf, 0), 1 + 1j)):
        assert torch.vdot(*(torch.tensor([v], dtype=getattr(torch, dtype)) for v in (a, b))).item().real == np.inf


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")       # PyTorch's own, of its forward mode
@pytest.mark.parametrize("given", [[1.0, 2.0], [1 + 1j, 2.0]])
def test_jacobians_by_forward_mode_are_pytorchs(given: list[Any]) -> None:
    import torch as theirs

    found: list[list[Any]] = []
    for torch in (retrograd, theirs):
        x, y = torch.tensor(given), torch.tensor([0.5, 1.0, 2.0])
        made = [torch.autograd.functional.jacobian(f, (x, y), vectorize=True, strategy="forward-mode") for f in (
            lambda x, y: x.outer(y) * 2j, lambda x, y: x.abs() * y[0], lambda x, y: (x * x, y.sum() * 1j, y.detach()))]
        flat = [part for of_f in made for row in (of_f if len(of_f) == 3 else [of_f]) for part in row]
        found.append([(tuple(part.shape), np.asarray(part.tolist())) for part in flat])
    for (shape, ours), (their_shape, want) in zip(*found, strict=True):
        assert shape == their_shape
        np.testing.assert_allclose(ours, want, rtol=1e-6)
