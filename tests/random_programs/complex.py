"""Complex numbers: conjugates and parts as views, edits of either, hooks and passes."""

from __future__ import annotations

from random import Random

from random_programs.program import Program
from random_programs.views import HOOKS, LOOKS, SEVERAL, SHAPES, made_of
from random_programs.views import KNOWN as OF_VIEWS

KNOWN: list[tuple[str, str]] = [
    *OF_VIEWS,
    (r"new_fn INTERNAL ASSERT FAILED", "PyTorch loses the history of a view that strides do not tell, once edited under a mode"),
    (r"(?s)diagonal.*> \w+\.\w+_\(", "an edit that reads where it writes: in PyTorch it depends on the order of the loop"),
    (r"\"(bmm|baddbmm\w*|addmm\w*)\" not implemented for 'Bool'", "of two errors: bools have no products, or dtypes differ"),
    (r"conj=True .*\n  retrograd: RuntimeError: unsupported operation: some",
     "PyTorch copies what is conjugated before it looks"),
    (r"Expected isFloatingType\(grad.scalar_type|MKL FFT error|ZeroTensors are immutable", "errors of PyTorch's own"),
    (r"(?s)> [^\n]*vdot\(.*PyTorch: .*conj=True", "a product that PyTorch conjugates lazily"),
    (r"(?s)fft.*(ViewBackward0.*UnsafeViewBackward0|contiguous.*CloneBackward0)", "the strides of what PyTorch transforms"),
    (r"(?s)(conj|mH|\.H|adjoint).*PyTorch: +RuntimeError: unsupported operation: some", "a conjugate has memory of its own"),
    (r"(?s)inference_mode.*\.(real|imag) [+*]=",
     "PyTorch edits a tensor of inference mode, then refuses; here it is refused first"),
    (r"(?s)expand.*conj_physical_", "PyTorch does not look at the memory of real numbers, which stay as they are"),
    (r"(?s)PyTorch: [^\n]*modified by an inplace.*retrograd: : None|(?s:fft\.rfft.*PyTorch: +RuntimeError: Trying to backward)",
     "transforms of real numbers keep them in PyTorch, for their shape alone"),
    (r"(?s)std\(\).*PyTorch: .*\[[^\n]*nan, nan", "not a number times a complex 1: PyTorch makes both parts nan"),
    (r"(?s)PyTorch: +(RuntimeError: (1D tensors expected|unsupported operation: some|shape mismatch)|IndexError).*"
     r"retrograd: (RuntimeError: (1D tensors expected|unsupported operation: some|The size of|shape mismatch)|IndexError)",
     "of two errors: sizes, or memory that is read and written"),
    (r"(?s)> .*(pow|\*\*).*PyTorch: .*\[.*(nan|inf).*retrograd: .*\[.*(nan|inf)", "powers of zero: infinite or not a number"),
]

DIGITS: list[tuple[str, str]] = [(r"cfloat|\.float\(\)|tensor\(\[-?\d|complex64", "single precision on the way")]

VIEWS = """
x.conj()|x.conj()|x.conj()|x.real|x.imag|torch.view_as_real(x)|torch.view_as_complex(torch.view_as_real(x))|x.mH|x.H|x.adjoint()
x.T|x.t()|x[0]|x[-1]|x[..., 0]|x[1:]|x[None]|x.view(-1)|x.reshape(-1)|x.transpose(0, -1)|x.unsqueeze(-1)|x.squeeze()
x.diagonal()|x.unfold(0, 2, 1)|x.expand(2, *x.shape)|x.detach()|x.data|x.resolve_conj()|x.resolve_neg()|x.conj().imag
x.conj().real
x.flatten()|x.narrow(0, 0, 1)|x.contiguous()|x.to(x.dtype)|x.view_as(y)|x.split(1)[0]|x.as_strided((2,), (1,))
""".replace("\n", "|").strip("|").split("|")
VALUES = """
x * y|x + y|x - y|x / (y.abs() + 1)|x * 2j|x + 1|x * (1 - 1j)|1j - x|x.exp()|x.sin()|x.tanh()|x.abs()|x.angle()|x.sgn()|x ** 2
x.conj() * x|x.sum()|x.mean()|x.sum(0)|x.clone()|x.cumsum(0)|torch.cat([x, y])|torch.stack([x, y])|x.conj_physical()
torch.where(x.abs() > 1, x, y)|x.prod()|x.sqrt()|x.reciprocal()|-x|x.norm()|x @ x.mH|x.mH @ y|torch.complex(x.real, y.real)
torch.polar(x.abs(), y.abs())|x.to(torch.complex128)|x.masked_fill(x.abs() > 1, 0.5j)|x.roll(1, 0)|x.flip(0)|x.std()|x.square()
x[torch.tensor([0, 0])]|x[x.abs() > 1]|x.repeat(2)|torch.fft.fft(x)|torch.fft.ifft(x)|torch.fft.rfft(x.real)|torch.fft.irfft(x)
torch.vdot(x, y)|torch.dot(x, y)|torch.outer(x, y)|torch.addcmul(x, y, y, value=1j)|x.lerp(y, 0.5)
x.index_select(0, torch.tensor([0]))
x.sigmoid()|x.log()|torch.einsum('ij,kj->ik', x, y.conj())|x.pow(y)|x.cumprod(0)|x.real * y.imag|x.float()|x.cdouble()|x.cfloat()
torch.view_as_real(x).sum(-1)|x.isreal()|x == y|x.neg()|torch.linalg.vector_norm(x, 1)|x.gather(0, torch.zeros(x.shape).long())
""".replace("\n", "|").strip("|").split("|")
EDITS = """
x.mul_(2)|x.mul_(y)|x.mul_(1j)|x.add_(1j)|x.add_(y)|x.sub_(y)|x.div_(2j)|x.exp_()|x.tanh_()|x.neg_()|x.zero_()|x.fill_(0.5j)
x.copy_(y)|x.conj_physical_()|x.real.mul_(2)|x.imag.add_(1)|x.real.copy_(y.real)|x.imag.copy_(y.imag)|x.conj().mul_(1j)
x.conj().imag.mul_(2)|x.conj().real.zero_()|torch.view_as_real(x).mul_(2)|x.pow_(2)|x.sqrt_()|x.masked_fill_(x.abs() > 1, 1j)
x.index_fill_(0, torch.tensor([0]), 3.0)|x.t_()|x.unsqueeze_(-1)|x.squeeze_()|x.detach_()|x.requires_grad_()|x.retain_grad()
x.addcmul_(y, y)|x.lerp_(y, 0.5)|x.cumsum_(0)|x.fill_(y.sum())|x.copy_(x.conj())|x.mul_(x.conj())|x.add_(x.mH)|x.sgn_()
x.index_put_((torch.tensor([0]),), y)|x.index_add_(0, torch.tensor([0]), x[:1])|x.normal_(0, 0)|x.abs_()|x.conj().copy_(y)
""".replace("\n", "|").strip("|").split("|")
ASSIGNMENTS = """
x[0] = 1.5j|x[0] = y|x[..., 0] = 2.0|x[:1] = y[:1]|x[:] = y|x += 1j|x *= y|x -= y|x *= 2|x /= 2j|x **= 2|x.real = y.real
x.imag = 1.0|x.imag = y.real|x.real += 1|x.imag *= 2|x.conj()[0] = 1j|x.data = y|x.grad = None|x.grad = torch.ones_like(x)
x.requires_grad = True|x[x.abs() > 1] = 0.5j|x.data.mul_(1j)|x.detach().mul_(2)|x.conj().data.mul_(2)|x.mH[0] = 1.0
""".replace("\n", "|").strip("|").split("|")
PASSES = """
x.abs().sum().backward()|x.backward(torch.ones_like(x))|x.backward(torch.ones_like(x) * 1j, retain_graph=True)|x.sum().backward()
(x * x.conj()).real.sum().backward()|(x.abs() ** 2).sum().backward(retain_graph=True)|x.real.sum().backward()
x.imag.sum().backward()
(x.abs() ** 2).sum().backward(create_graph=True)|x.sum().abs().backward(inputs=[y])|x.sum().angle().backward()
(x * y).real.sum().backward()|(x - y.conj()).abs().square().mean().backward(retain_graph=True)|x.backward(torch.ones(x.shape))
w = copies(torch.autograd.grad(x.abs().sum(), y, allow_unused=True))
w = copies(torch.autograd.grad(x.real.sum(), [y, z], allow_unused=True))
w = copies(torch.autograd.grad((x.abs() ** 2).sum(), y, create_graph=True, allow_unused=True))
w = copies(torch.autograd.grad(x, y, torch.ones_like(x) * (1 + 1j), retain_graph=True))
w = copies(torch.autograd.grad((x * x).sum().imag, [y], create_graph=True))|w[0].abs().sum().backward()
(x * w[0]).real.sum().backward()|w = copies(torch.autograd.grad(x.abs().sum(), [y, z], materialize_grads=True))
""".replace("\n", "|").strip("|").split("|")
BITS = ["log.append(x.is_conj())", "log.append(x.is_neg())", "log.append(x.is_complex())", "log.append(x.tolist())",
        "log.append(x.is_set_to(y))", *LOOKS]


def program(rng: Random) -> Program:
    dtype = rng.choices([", dtype=torch.complex64", ", dtype=torch.complex128"], [1, 2])[0]
    tables = [(VIEWS, 6.0), (VALUES, 6), (EDITS, 6), (ASSIGNMENTS, 3), (HOOKS, 2), (PASSES, 4), (BITS, 1), (SEVERAL, 0.5)]
    ends = ["({0} * {0}.conj()).real.sum().backward()", "{}.abs().sum().backward()"]
    return made_of(rng, tables, lambda: leaf(rng, dtype), ends)


def leaf(rng: Random, dtype: str) -> str:
    shape = rng.choice([s for s in SHAPES if s])
    count = 1
    for n in shape:
        count *= n
    numbers = [complex(rng.choice([-1.5, -0.5, 0.25, 1.0, 2.0]), rng.choice([-2.0, -0.5, 0.0, 0.5, 1.5])) for _ in range(count)]
    viewed = f".view{shape}" if len(shape) > 1 else ""
    wants = ".requires_grad_()" if rng.random() < 0.7 else ""
    given = f"{[z.real for z in numbers]}" if rng.random() < 0.15 else f"{numbers}{dtype}"
    return f"torch.tensor({given}){viewed}{wants}"
