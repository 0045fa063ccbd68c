"""Functions that PyTorch keeps for older programs, for its own layers, or has removed: they say so as it does."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._engine.warn import warn
from .._tensor import dtypes
from . import complexes, conv, grid, join
from .products import linear
from .reduce import norm

DEPRECATED = ("at::{} is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. "
              "Please use `linalg.{}` instead")


def frobenius_norm(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """linalg.vector_norm over dims."""
    warn(DEPRECATED.format("frobenius_norm", "vector_norm(A, 2., dim, keepdim)"))
    return norm(input, 2, dim, keepdim)


def nuclear_norm(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """linalg.matrix_norm with 'nuc': the sum of singular values."""
    warn(DEPRECATED.format("nuclear_norm", "matrix_norm(A, 'nuc', dim, keepdim)"))
    return norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms over all dims but one, of size 1 in the others; over all for dim=-1."""
    if dim == -1:
        return norm(v, pow)
    others = [d for d in range(v.ndim) if d != dim]
    return norm(v, pow, others, True) if others else norm(v.unsqueeze(-1), pow, -1)


def unsafe_split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """split_with_sizes, with parts that may be edited in place."""
    return tuple(part.view_as(part) for part in join.split_with_sizes(input.clone(), split_sizes, dim))


def grid_sampler_2d(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """grid_sampler of images."""
    return sampled(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """grid_sampler of volumes."""
    return sampled(input, grid, interpolation_mode, padding_mode, align_corners)


sampled = grid.grid_sampler


def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """conv1d of (time, batch, channels) with a weight of (width, in, out) and `pad` zeros at both ends."""
    for x, n, what in ((input, 3, "Input"), (weight, 3, "Weight"), (bias, 1, "Bias")):
        if x.ndim != n:
            raise RuntimeError(f"{what} must have {n} dims" + (": time, batch, in_channel" if what == "Input" else (
                ": kernel_width, in_channels, out_channels." if what == "Weight" else " out_channels.")))
    return conv.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def fake_quantize_per_tensor_affine(input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Any:
    """input as if quantized to integers from quant_min to quant_max; its derivative is 1 where they suffice, else 0."""
    return rounded(input, scale, zero_point, quant_min, quant_max)


def fake_quantize_per_channel_affine(input: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int) -> Any:
    """The same with a scale and a zero point for each place along axis."""
    shape = [-1 if d == axis else 1 for d in range(input.ndim)]
    return rounded(input, scale.view(shape), zero_point.view(shape), quant_min, quant_max)


def rounded(input: Any, scale: Any, zero_point: Any, low: int, high: int) -> Any:
    x = input.detach()
    steps = x.mul(1 / scale).add(zero_point).round()
    inside = input * ((steps >= low) & (steps <= high))
    return (steps.clamp(low, high) - zero_point) * scale + (inside - inside.detach())


def view_as_complex_copy(input: Any) -> Any:
    """A copy of what view_as_complex shows."""
    return complexes.view_as_complex(input).clone()


def view_as_real_copy(input: Any) -> Any:
    """A copy of what view_as_real shows."""
    return complexes.view_as_real(complexes.resolve_conj(input)).clone()


def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: Any = None, layout: Any = None,
              device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """A tensor of `size` elements in a file; shared: edits are written to it, which is made or lengthened where needed."""
    kind, count = dtypes.to_numpy(dtype if dtype is not None else dtypes.get_default_dtype(), "from_file"), size or 0
    if shared:
        with open(filename, "ab"):
            pass
        if os.path.getsize(filename) < count * kind.itemsize:
            os.truncate(filename, count * kind.itemsize)
    elif os.path.getsize(filename) < count * kind.itemsize:
        raise RuntimeError(
            f"file <{filename}> size <{os.path.getsize(filename)}> is smaller than the required mapping size "
            f"<{count * kind.itemsize}>")
    array = np.asarray(np.memmap(filename, kind, "r+" if shared else "c", shape=(count,))) if count else np.empty(0, kind)
    made: Any = wrap(array)
    return made.requires_grad_(requires_grad)


def recurrent(mode: str, input: Any, *args: Any) -> Any:
    """nn.LSTM and its like: of (input, hx, params, ..., batch_first), or packed of (data, batch_sizes, hx, params, ...)."""
    from ..nn.modules.rnn import run
    sizes, turned = None, False
    if isinstance(args[2], (list, tuple)):
        sizes, (hx, params, *more) = args[0].tolist(), args[1:]
    else:
        hx, params, *more, turned = args
    biases, layers, dropout, train, bidirectional = more
    each = len(params) // (layers * (2 if bidirectional else 1))
    weights = [list(params[i:i + each]) for i in range(0, len(params), each)]
    x, hx = input.transpose(0, 1) if turned else input, tuple(hx) if mode == "LSTM" else hx
    output, last = run(mode, x, hx, weights, biases, sizes, dropout, train, bidirectional)
    return (output.transpose(0, 1) if turned else output, *(last if mode == "LSTM" else (last,)))


def lstm(*args: Any) -> Any:
    """What nn.LSTM computes: (output, h, c) of (input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first), or of (data, batch_sizes, (h, c), params, ..., bidirectional).
    """
    return recurrent("LSTM", *args)


def gru(*args: Any) -> Any:
    """What nn.GRU computes: (output, h); as lstm, with h in place of (h, c)."""
    return recurrent("GRU", *args)


def rnn_tanh(*args: Any) -> Any:
    """What nn.RNN computes; as gru."""
    return recurrent("RNN_TANH", *args)


def rnn_relu(*args: Any) -> Any:
    """What nn.RNN computes with relu; as gru."""
    return recurrent("RNN_RELU", *args)


def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """A step of nn.RNNCell."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """A step of nn.RNNCell with relu."""
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()


def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """A step of nn.LSTMCell: (h, c) from the input and hx = (h, c)."""
    i, f, g, o = (linear(input, w_ih, b_ih) + linear(hx[0], w_hh, b_hh)).chunk(4, 1)
    c = f.sigmoid() * hx[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """A step of nn.GRUCell."""
    r, z, n = linear(input, w_ih, b_ih).chunk(3, 1)
    hr, hz, hn = linear(hx, w_hh, b_hh).chunk(3, 1)
    z, n = (z + hz).sigmoid(), (n + (r + hr).sigmoid() * hn).tanh()
    return n + z * (hx - n)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """true_fn(*operands) if pred, else false_fn(*operands).  https://pytorch.org/docs/stable/cond.html"""
    if not isinstance(pred, (bool, int, float, TensorBase)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, TensorBase) and pred.array.size != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    return true_fn(*operands) if pred else false_fn(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """body_fn(*values) again and again while cond_fn(*values), a bool; values begin as carried_inputs and keep their kinds."""
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    out = values = tuple(carried_inputs)
    while _goes_on(cond_fn(*values)):
        out = body_fn(*values)
        before, values = values, tuple(out) if isinstance(out, (tuple, list)) else (out,)
        _check_carried(values, before)
    return out


def _goes_on(value: Any) -> bool:
    scalar = isinstance(value, TensorBase) and value.array.ndim == 0 and value.array.dtype.kind == "b"
    if not scalar and not isinstance(value, bool):
        raise RuntimeError(f"Expected cond_fn to return a scalar tensor or a bool but got {_kind(value)}.")
    return bool(value)


def _check_carried(found: tuple[Any, ...], before: tuple[Any, ...]) -> None:
    """RuntimeError where body_fn returned other kinds of values than it took."""
    wanted = "Expected body_fn_output and carried_inputs to have same"
    if len(found) != len(before):
        raise RuntimeError(f"{wanted} number of outputs but got lhs:[{', '.join(map(_kind, found))}] and "
                           f"rhs:[{', '.join(map(_kind, before))}]")
    for i, (y, x) in enumerate(zip(found, before)):
        if _kind(y) != _kind(x):
            raise RuntimeError(f"{wanted} metadata but found:\npair[{i}] differ: {_kind(y)} vs {_kind(x)}")


def _kind(value: Any) -> str:
    if not isinstance(value, TensorBase):
        return type(value).__name__
    return f"Tensor(size={tuple(value.array.shape)}, dtype={dtypes.of(value.array.dtype)})"


GONE = "This function was deprecated since version 1.9 and is now removed."


def gone(text: str) -> NoReturn:
    raise RuntimeError(GONE + text)


def eig(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: linalg.eig has taken its place."""
    gone(" `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking "
         "complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)\n\nand\n\nL, "
         "V = torch.eig(A, eigenvectors=True) should be replaced with:\nL_complex, V_complex = torch.linalg.eig(A)")


def lstsq(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: linalg.lstsq has taken its place."""
    gone(" `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed arguments and "
         "does not return the QR decomposition in the returned tuple (although it returns other information about the "
         "problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\nThe returned solution in "
         "`torch.lstsq` stored the residuals of the solution in the last m - n columns of the returned value whenever m > n. "
         "In torch.linalg.lstsq, the residuals are in the field 'residuals' of the returned named tuple.\n\nThe unpacking of "
         "the solution, as in\nX, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\nX = "
         "torch.linalg.lstsq(A, B).solution")


def matrix_rank(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: linalg.matrix_rank has taken its place."""
    gone("\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
         "`torch.linalg.matrix_rank()` to 'hermitian'.")


def solve(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: linalg.solve has taken its place."""
    gone(" `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments reversed and "
         "does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which can be used with "
         "`torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\nX = "
         "torch.linalg.solve(A, B)")


def symeig(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: linalg.eigh has taken its place."""
    gone(" The default behavior has changed from using the upper triangular portion of the matrix by default to using the "
         "lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\nL = "
         "torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\nL, V = torch.symeig(A, eigenvectors=True) should be "
         "replaced with:\nL, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')")


def resize(self: Any, *sizes: Any) -> Any:
    """The elements in another shape.  Deprecated: use reshape."""
    warn("non-inplace resize is deprecated")
    shape = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if int(np.prod(shape)) != self.array.size:
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, shape))} ({int(np.prod(shape))} elements in total), but the given tensor "
            f"has a size of {'x'.join(map(str, self.shape))} ({self.array.size} elements). autograd's resize can only change the "
            "shape of a given tensor, while preserving the number of elements. ")
    return self.contiguous().view(shape)


def resize_as(self: Any, tensor: Any) -> Any:
    """The elements in the shape of a tensor.  Deprecated: use reshape."""
    return resize(self, tuple(tensor.shape))


def module_load(self: Any, other: Any, assign: bool = False) -> Any:
    """What load_state_dict puts in self's place where modules swap their parameters: self with other's values, or other."""
    return other.detach() if assign else self.copy_(other).detach()


def const_data_ptr(self: Any) -> int:
    """data_ptr(), for reading."""
    address: int = self.data_ptr()
    return address


def reinforce(self: Any, reward: Any) -> NoReturn:
    """RuntimeError: torch.distributions has taken its place."""
    raise RuntimeError("\n".join(["reinforce() was removed.", *[line.strip() for line in REINFORCE.split("\n")[1:]]]))


REINFORCE = """
    Use torch.distributions instead.
    See https://pytorch.org/docs/main/distributions.html

    Instead of:

    probs = policy_network(state)
    action = probs.multinomial()
    next_state, reward = env.step(action)
    action.reinforce(reward)
    action.backward()

    Use:

    probs = policy_network(state)
    # NOTE: categorical is equivalent to what used to be called multinomial
    m = torch.distributions.Categorical(probs)
    action = m.sample()
    next_state, reward = env.step(action)
    loss = -m.log_prob(action) * reward
    loss.backward()
    """
