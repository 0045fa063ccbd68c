"""What __torch_function__ is told of: func, types, args and kwargs of each call, of a subclass (S) and in a mode (M)."""

import operator

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode, resolve_name

EXPRESSIONS = """
x + y
x + 2
2 + x
x - y
2 - x
x * y
2 * x
x / y
2 / x
x // y
2 // x
x % y
2 % x
x ** y
2 ** x
x ** 2
x @ y
-x
+x
abs(x)
~b
b & b
b | b
b ^ b
True & b
True | b
True ^ b
x == y
x != y
x < y
x <= y
x > y
x >= y
x == None
x == 2
2 == x
x == 'a'
x[0]
x[0, 1]
x[x > 1]
x[:, None]
x[y.long() * 0]
len(x)
bool(z)
float(z)
int(z)
complex(z)
operator.index(zi)
repr(x)
str(x)
f'{x}'
list(iter(x))
reversed(x)
1. in x
hash(x)
x.T
x.mT
x.H
x.grad
x.shape
x.dtype
x.device
x.layout
x.ndim
x.requires_grad
x.data
x.is_leaf
x.grad_fn
x.real
x.itemsize
x.nbytes
x.is_cuda
x.is_sparse
x._backward_hooks
x.retains_grad
x.is_cpu
x.is_meta
x.size()
x.size(0)
x.dim()
x.numel()
x.stride()
x.item if 0 else z.item()
x.tolist()
x.numpy()
x.clone()
x.detach()
x.contiguous()
x.type()
x.type(torch.float64)
x.to(torch.float64)
x.cpu()
x.double()
x.float()
x.long()
x.view(4)
x.reshape(-1)
x.reshape((2, 2))
x.reshape(2, 2)
x.permute(1, 0)
x.transpose(0, 1)
x.t()
x.expand(2, 2)
x.view(2, -1)
x.sum()
x.sum(0)
x.sum(dim=0, keepdim=True)
x.mean()
x.max()
x.max(0)
x.split(1)
x.chunk(2)
x.unbind()
x.norm()
x.std()
x.unique()
x.unflatten(0, (1, 2))
x.new_zeros(2)
x.new(2)
x.new_empty(1).shape
x.index_add(0, torch.tensor([0]), x[:1])
x.masked_fill(b, 0.)
x.add(y, alpha=2)
x.add_(y)
x.zero_()
x.fill_(2)
x.copy_(y)
x.requires_grad_()
x.element_size()
x.is_floating_point()
x.is_contiguous()
x.is_same_size(y)
x.get_device()
x.as_subclass(torch.Tensor)
x.nelement()
x.__len__()
x.__contains__(1.)
x.is_shared()
x.__dlpack_device__()
x.dim_order()
x.resize_(2, 2)
x.where(b, y)
torch.add(x, y)
torch.add(x, 2)
torch.sum(x)
torch.stack([x, y])
torch.cat((x, p))
torch.cat([p, p])
torch.matmul(x, y)
torch.where(b, x, 0.)
torch.tensor([1., 2.])
torch.tensor(x)
torch.as_tensor(x)
torch.as_tensor([1.])
torch.asarray([1.])
torch.ones(2)
torch.ones((2,))
torch.ones(size=(2,))
torch.zeros(2, 2)
torch.empty(2).shape
torch.full((2,), 1.)
torch.arange(3)
torch.linspace(0, 1, 3)
torch.eye(2)
torch.rand(2).shape
torch.randn(2).shape
torch.randint(3, (2,)).shape
torch.randperm(1)
torch.ones_like(x)
torch.zeros_like(x)
torch.rand_like(x).shape
torch.empty_like(x).shape
torch.full_like(x, 2.)
torch.einsum('ij,jk', x, y)
torch.einsum('ij->i', x)
torch.split(x, 1)
torch.chunk(x, 2)
torch.norm(x)
torch.unique(x)
torch.broadcast_shapes((2,), (1,))
torch.tensordot(x, y, 1)
torch.block_diag(x, y)
torch.cdist(x, y)
torch.atleast_1d(x)
torch.atleast_1d(x, y)
torch.chain_matmul(x, y)
torch.is_tensor(x)
torch.is_floating_point(x)
torch.numel(x)
torch.is_nonzero(z)
torch.is_same_size(x, y)
torch.is_grad_enabled()
torch.set_grad_enabled(True)
torch.get_default_dtype()
torch.result_type(x, y)
torch.can_cast(torch.float32, torch.float64)
torch.promote_types(torch.float32, torch.float64)
torch.allclose(x, y)
torch.equal(x, y)
torch.max(x, y)
torch.max(x, 0)
torch.max(x)
torch.sort(x)
torch.topk(x, 1)
torch.clamp(x, 0, 1)
torch.relu(x)
torch.relu_(x)
torch.sin(x, out=o)
torch.add(p, p, out=x)
torch.add(x, y, out=o)
torch.softmax(x, 0)
F.softmax(x, 0)
F.relu(x)
F.relu(x, inplace=True)
F.linear(x, y)
F.gelu(x)
F.dropout(x, 0.5, False)
F.mse_loss(x, y)
F.cross_entropy(x, torch.tensor([0, 1]))
F.layer_norm(x, (2,))
F.pad(x, (1, 1))
F.one_hot(torch.tensor([0]))
F.normalize(x)
F.embedding(torch.tensor([0]), x)
F.conv1d(x[None], x[None])
F.max_pool1d(x[None], 2)
F.max_pool2d(x[None], 2)
F.avg_pool2d(x[None], 2)
F.adaptive_avg_pool2d(x[None], 1)
F.scaled_dot_product_attention(x, x, x)
F.silu(x)
F.sigmoid(x)
F.tanh(x)
F.log_softmax(x, 0)
F.nll_loss(x, torch.tensor([0, 1]))
F.l1_loss(x, y)
F.binary_cross_entropy_with_logits(x, y)
F.cosine_similarity(x, y)
F.softplus(x)
F.leaky_relu(x)
F.batch_norm(x, None, None, training=True)
F.group_norm(x[None], 1)
torch.linalg.norm(x)
torch.linalg.inv(x)
torch.linalg.det(x)
torch.linalg.solve(x, y)
torch.linalg.multi_dot([x, y])
torch.special.erf(x)
torch.special.expit(x)
torch.no_grad() and 0
torch.autograd.grad(w.sum(), w)
torch.autograd.backward(w.sum())
w.sum().backward()
w.sum().backward(retain_graph=True)
torch.nn.ReLU()(x)
torch.isnan(x)
torch.isfinite(x).all()
torch.Tensor([1.])
torch.Tensor(2, 2).shape
torch.FloatTensor([1.])
torch.Size([2])
x.retain_grad() if 0 else w.retain_grad()
w.register_hook(lambda g: g) and 0
list(x)
dict(k=x)
sum(x)
max(z, z)
[1, 2, 3][zi]
torch.tensor(3) if z else 0
not z
z.is_complex()
torch.is_complex(z)
torch.argmax(x)
x.argmax()
x.new_ones((1,), dtype=torch.int64)
torch.scalar_tensor(1.)
torch.tril_indices(2, 2)
torch.empty_strided((2,), (1,)).shape
torch.set_default_dtype(torch.float32)
""".strip().split("\n")
STATEMENTS = """
x += y
x -= 1
x *= 2
x /= 2
x //= 2
x %= 2
x **= 2
x @= y
b &= b
b |= b
b ^= b
x[0] = 1.
x[0] = y[0]
x[b] = 0
p[0] = x[0]
del x[0]
x.grad = None
x.grad = y
del x.grad
x.requires_grad = True
x.data = y
x.shape = 3
x.foo = 1
x.foo
del x.foo
x._backward_hooks = None
del x.shape
x.grad_fn = 2
x.itemsize = 2
""".strip().split("\n")
told = []


def show(v):
    if isinstance(v, torch.Tensor):
        return f"{type(v).__name__}{v.ndim}"
    if isinstance(v, (tuple, list)):
        return type(v).__name__[0] + "[" + ", ".join(map(show, v)) + "]"
    return "{" + ", ".join(f"{k}={show(x)}" for k, x in v.items()) + "}" if isinstance(v, dict) else repr(v)[:40]


def note(func, types, args, kwargs):
    with torch._C.DisableTorchFunctionSubclass():
        name = resolve_name(func) or getattr(func, "__name__", "?")
        told.append(f"    {name} [{', '.join(t.__name__ for t in types)}] {show(args)} {show(kwargs)}")


class T(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        note(func, types, args, kwargs)
        return super().__torch_function__(func, types, args, kwargs)


class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        note(func, types, args, kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs or {})


def run(kind, text):
    base = torch.arange(1.0, 5).reshape(2, 2)
    make = (lambda v: v.clone().as_subclass(T)) if kind == "S" else torch.clone
    given = {"x": make(base), "y": make(base), "b": make(base > 2), "z": make(base[0, 1]), "zi": make(torch.tensor(2)),
             "w": make(base).requires_grad_(), "p": base.clone(), "o": torch.empty(2, 2)}
    told.clear()
    result, error = None, ""
    try:
        if kind == "S":
            result = (eval if text in EXPRESSIONS else exec)(text, globals() | given)
        else:
            with Mode():
                result = (eval if text in EXPRESSIONS else exec)(text, globals() | given)
    except Exception as e:
        error = f" !! {type(e).__name__}: {e}"
    print(f"{kind} {text} -> {type(result).__name__}{error}")
    print("\n".join(told))


for text in EXPRESSIONS + STATEMENTS:
    run("S", text)
    run("M", text)
print(operator.index(torch.tensor(2).as_subclass(T)), F.relu(torch.ones(1)).item())
