"""Recurrent layers and cells.  B batch, T steps, I input_size, H hidden_size, P what h has (H, or proj_size).

mode            'LSTM', 'GRU', 'RNN_TANH' or 'RNN_RELU'
input_size      I, features of a step's input
hidden_size     H, features of the state
num_layers      layers above each other; each takes the outputs of the one below
bias            False: no bias_ih and bias_hh
batch_first     True: batches are (B, T, ...); the states stay (layers, B, ...)
dropout         probability that an output of a layer but the last becomes zero, in training
bidirectional   True: a second direction reads from the end; outputs are both, (..., 2 P), and states have twice the layers
proj_size       P of an LSTM whose h a matrix projects; 0: none
nonlinearity    'tanh' or 'relu'
num_chunks      how many gates of H rows the weights hold
input           (T, B, I), or what a packed sequence holds: (steps, I)
batch_sizes     of a packed sequence: how many samples have each step; None: no packed sequence
hidden, hx      h (layers, B, P), or of an LSTM the pair of it and c (layers, B, H); of a cell (B, H), or two
expected_hidden_size, msg   the shape that hx must have, and the text of the RuntimeError otherwise
permutation     order of the batch; None: as it is
"""
from __future__ import annotations

import math
import numbers
from importlib import import_module
from typing import Any

from ..._engine.dispatch import takes_part
from ..._engine.modes import modes
from ..._engine.modes import state as thread
from ..._engine.promote import check_broadcast
from ..._engine.tensor import TensorBase
from ..._engine.warn import warn
from ..._functions import cat, create, empty, stack, zeros
from ..._rules import recurrent
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from ..utils.rnn import PackedSequence

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


# One step: x is W_ih x + b_ih (B, gates H), state is h or (h, c); weights are (W_hh, b_hh, W_hr), the last two or None

def step_tanh(x: Any, state: Any, weights: Any) -> Any:
    return (x + F.linear(state, weights[0], weights[1])).tanh()


def step_relu(x: Any, state: Any, weights: Any) -> Any:
    return F.relu(x + F.linear(state, weights[0], weights[1]))


def step_lstm(x: Any, state: Any, weights: Any) -> Any:
    """Input, forget, cell and output gate, in this order.  Hochreiter & Schmidhuber 1997."""
    h, c = state
    i, f, g, o = (x + F.linear(h, weights[0], weights[1])).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if weights[2] is None else F.linear(h, weights[2])), c


def step_gru(x: Any, state: Any, weights: Any) -> Any:
    """Reset, update and new gate, in this order; the reset gate is applied after the product.  Cho et al. 2014."""
    xr, xz, xn = x.chunk(3, 1)
    parts = F.linear(state, weights[0], weights[1]).chunk(3, 1)
    if len(parts) != 3:                         # of a state with a dim too many
        check_broadcast(parts[0], xr)
    hr, hz, hn = parts
    r = (xr + hr).sigmoid()
    z = (xz + hz).sigmoid()
    n = (xn + r * hn).tanh()
    return (state - n) * z + n


STEPS = {"LSTM": step_lstm, "GRU": step_gru, "RNN_TANH": step_tanh, "RNN_RELU": step_relu}


LINEAR = F.linear


def one_node(x: Any, state: Any, weights: Any) -> bool:
    """Whether recurrent.lstm accepts these: all float32 or all float64, not empty, and of no subclass.

    Not while somebody listens, a mode takes calls over or F.linear is a function of theirs: they see step by step.
    torch.compile takes the layer as it is.
    """
    recorder, it = modes.recorder, thread()
    if modes.observer is not recorder or it.functions or F.linear is not LINEAR or not (
            it.listener in (None, recorder) or hasattr(it.listener, "aside")):
        return False
    dtype = x.array.dtype
    given = [*state, *(w for w in weights if w is not None)]
    if not it.closed and any(type(t) is not Tensor and takes_part(type(t)) for t in (x, *given)):
        return False
    return dtype.kind == "f" and dtype.itemsize >= 4 and x.array.size > 0 and all(t.array.dtype is dtype for t in given)


def heard(f: Any, args: tuple[Any, ...], **kwargs: Any) -> Any:
    """f(*args), which torch.compile records as one call."""
    return f(*args, **kwargs) if modes.recorder is None else modes.recorder.call(f, f, args, kwargs)


def empty_state(shape: Any, input: Any) -> Any:
    """Zeros of the input's dtype, on its device; modes of the user's hear of them."""
    like = {"dtype": input.dtype, "device": input.device}
    return zeros(shape, **like) if thread().functions else heard(create.zeros, shape, **like)


def rows(state: Any, start: int, stop: int | None) -> Any:
    """Rows of h, or of h and c."""
    if isinstance(state, tuple):
        return tuple(s[start:stop] for s in state)
    return state[start:stop]


def joined(parts: list[Any]) -> Any:
    """The same, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(cat(list(each)) for each in zip(*parts))
    return cat(parts)


def run(mode: str, input: Any, hx: Any, weights: list[Any], biases: bool, sizes: list[int] | None, dropout: float, train: bool,
        bidirectional: bool) -> tuple[Any, Any]:
    """All layers: weights is a list for each layer and direction, as in RNNBase; sizes: the batch of each step, if packed."""
    directions = 2 if bidirectional else 1
    layers = len(weights) // directions
    last = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            at = layer * directions + direction
            state = tuple(h[at] for h in hx) if isinstance(hx, tuple) else hx[at]
            output, state = run_layer(mode, input, state, weights[at], biases, sizes, direction == 1)
            outputs.append(output)
            last.append(state)
        input = outputs[0] if directions == 1 else cat(outputs, -1)
        if dropout and layer < layers - 1:
            input = F.dropout(input, dropout, train)
    if isinstance(hx, tuple):
        return input, tuple(stack(list(each)) for each in zip(*last))
    return input, stack(last)


def run_layer(mode: str, input: Any, state: Any, own: list[Any], biases: bool, sizes: Any, reverse: bool) -> tuple[Any, Any]:
    w_ih, w_hh, *more = own
    b_ih, b_hh = more[:2] if biases else (None, None)
    projected = more[2 if biases else 0:]
    weights = w_hh, b_hh, projected[0] if projected else None
    x = F.linear(input, w_ih, b_ih)
    if mode == "LSTM" and sizes is None and not reverse and weights[2] is None and one_node(x, state, weights):
        given = (x, weights[0], weights[1], state[0], state[1])
        packed = heard(recurrent.lstm, given)
        count = len(x)
        return packed[:count], (packed[count - 1], packed[count])
    steps = list(x.unbind(0) if sizes is None else x.split(sizes))
    step = STEPS[mode]
    outputs: list[Any] = [None] * len(steps)
    done: list[Any] = []                        # states of sequences that have ended, the longest last
    start = state
    if sizes is not None and reverse:
        state = rows(start, 0, sizes[-1])
    for t in range(len(steps) - 1, -1, -1) if reverse else range(len(steps)):
        if sizes is not None and t > 0 and not reverse and sizes[t] < sizes[t - 1]:
            done.append(rows(state, sizes[t], None))
            state = rows(state, 0, sizes[t])
        if sizes is not None and reverse and t + 1 < len(sizes) and sizes[t] > sizes[t + 1]:
            state = joined([state, rows(start, sizes[t + 1], sizes[t])])
        state = step(steps[t], state, weights)
        outputs[t] = state[0] if isinstance(state, tuple) else state
    return stack(outputs) if sizes is None else cat(outputs), joined([state, *reversed(done)])


class RNNBase(Module):
    """The common part of RNN, LSTM and GRU.  All weights start uniform in +-1/sqrt(hidden_size).

    weight_ih_l0 (gates H, I), weight_hh_l0 (gates H, P), bias_ih_l0, bias_hh_l0 (gates H,), weight_hr_l0 (P, H) if
    projected; then `_reverse` ones; then those of layer 1, ...
    """

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                     "bidirectional", "proj_size"]
    __jit_unused_properties__ = ["all_weights"]

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: Any = None, dtype: Any = None,
    ) -> None:
        super().__init__()
        if isinstance(dropout, str):
            float(dropout)
        if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if dropout > 0 and num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}")
        for name, kind, given in (("bias", bool, bias), ("batch_first", bool, batch_first), ("input_size", int, input_size),
                                  ("hidden_size", int, hidden_size)):
            if not isinstance(given, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(given).__name__}")
            if kind is int and given <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions = 2 if bidirectional else 1
        width = proj_size or hidden_size
        gates = GATES[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(directions):
                into = input_size if layer == 0 else width * directions
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                shapes: dict[str, Any] = {"weight_ih": (gates, into), "weight_hh": (gates, width)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, a list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def flatten_parameters(self) -> None:
        """Does nothing: it concerns GPUs only."""

    def reset_parameters(self) -> None:
        """Draw the starting values again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Any, batch_sizes: Any = None) -> None:
        """RuntimeError when the input has the wrong number of dimensions or features."""
        weight = getattr(self, self._all_weights[0][0])
        if input.array.dtype != weight.array.dtype and not (batch_sizes is not None and self.mode == "LSTM"):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        want = 2 if batch_sizes is not None else 3
        if input.dim() != want:
            raise RuntimeError(f"input must have {want} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _expected(self, batch: int) -> tuple[int, int, int]:
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.proj_size or self.hidden_size

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: Any, msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """RuntimeError when a state has the wrong shape."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of a state for this input, (layers, B, H)."""
        return self._expected(self._batch(input, batch_sizes))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """RuntimeError when input or state have the wrong shape."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def _batch(self, input: Any, batch_sizes: Any) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        size: int = input.size(0 if self.batch_first else 1)
        return size

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """A state with its samples reordered."""
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(h.index_select(1, permutation) for h in hx)
        return hx.index_select(1, permutation)

    # The run

    def _starting(self, input: Any, batch: int) -> Any:
        """Zeros."""
        return empty_state(self._expected(batch), input)

    def _run(self, input: Any, hx: Any, batch_sizes: Any) -> tuple[Any, Any]:
        """All layers.  input (T, B, I), or (L, I) with batch_sizes -> outputs alike, and the last states."""
        sizes = None if batch_sizes is None else batch_sizes.tolist()
        if sizes is None and not input.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        functions = thread().functions
        if sizes is None and functions and getattr(functions[-1], "whole_layers", False):
            f = getattr(import_module("retrograd"), self.mode.lower())
            output, *last = f(input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                              self.bidirectional, False)
            return output, tuple(last) if isinstance(hx, tuple) else last[0]
        return run(self.mode, input, hx, self.all_weights, self.bias, sizes, self.dropout, self.training, self.bidirectional)

    def _forward(self, input: Any, hx: Any) -> tuple[Any, Any]:
        """forward of RNN and GRU, whose state is one tensor."""
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            hx = self._starting(data, int(batch_sizes[0])) if hx is None else self.permute_hidden(hx, order)
            self.check_forward_args(data, hx, batch_sizes)
            output, last = self._run(data, hx, batch_sizes)
            return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(last, back)
        name = type(self).__name__
        if input.dim() not in (2, 3):
            kind = " tensor" if isinstance(self, RNN) else ""       # PyTorch words it in two ways
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}D{kind} instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                if hx.dim() != 2:
                    raise RuntimeError(
                        f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
                hx = hx.unsqueeze(1)
        elif hx is not None and hx.dim() != 3:
            raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
        if hx is None:
            hx = self._starting(input, self._batch(input, None))
        self.check_forward_args(input, hx, None)
        output, last = self._run(input.transpose(0, 1) if self.batch_first else input, hx, None)
        if self.batch_first:
            output.transpose_(0, 1)
        if not batched:
            return output.squeeze(0 if self.batch_first else 1), last.squeeze(1)
        return output, last

    def _misfit(self, input: Any, hx: Any = None) -> str | None:
        if isinstance(input, PackedSequence) or input.shape[-1] == self.input_size:
            return None
        lead = "(B, T" if self.batch_first else "(T, B"
        return f"got an input of shape {tuple(input.shape)}, expected {lead}, {self.input_size})"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh): (T, B, I) -> (T, B, H), and the last h (layers, B, H).

    RNN(input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False, dropout=0.0,
    bidirectional=False), as RNNBase explains.  Takes (T, I), (B, T, I) with batch_first, and PackedSequence.
    https://pytorch.org/docs/stable/generated/torch.nn.RNN.html
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        nonlinearity = self.__dict__.pop("nonlinearity")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._forward(input, hx)


class GRU(RNNBase):
    """Gated recurrent units: (T, B, I) -> (T, B, H), and the last h (layers, B, H).  Cho et al. 2014.

    GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False), as RNNBase
    explains.
    https://pytorch.org/docs/stable/generated/torch.nn.GRU.html
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._forward(input, hx)


class LSTM(RNNBase):
    """Long short-term memory: (T, B, I) -> (T, B, P), and the last (h, c).  Hochreiter & Schmidhuber 1997.

    LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0), as RNNBase explains; h (layers, B, P), c (layers, B, H).
    https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of c."""
        layers, batch, _ = self._expected(self._batch(input, batch_sizes))
        return layers, batch, self.hidden_size

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               "Expected hidden[1] size {}, got {}")

    def _starting(self, input: Any, batch: int) -> Any:
        layers, _, width = self._expected(batch)
        return empty_state((layers, batch, width), input), empty_state((layers, batch, self.hidden_size), input)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._forward(input, tuple(hx) if isinstance(hx, list) else hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"LSTM: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if hx is not None:
            hx = hx[0], hx[1]
            dims = tuple(h.dim() for h in hx)
            if dims != ((3, 3) if batched else (2, 2)):
                kind, want = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
                raise RuntimeError(
                    f"For {kind} input, hx and cx should also be {want}-D but got ({dims[0]}-D, {dims[1]}-D) tensors")
            if not batched:
                hx = tuple(h.unsqueeze(1) for h in hx)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if hx is None:
            hx = self._starting(input, self._batch(input, None))
        self.check_forward_args(input, hx, None)
        output, last = self._run(input.transpose(0, 1) if self.batch_first else input, hx, None)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            return output.squeeze(0 if self.batch_first else 1), tuple(s.squeeze(1) for s in last)
        return output, last


class RNNCellBase(Module):
    """What the cells share: weight_ih (gates H, I), weight_hh (gates H, H), bias_ih, bias_hh (gates H,)."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    bias_ih: Any
    bias_hh: Any
    weight_ih: Any
    weight_hh: Any
    states = 1

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            value = Parameter(empty(gates, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, step: Any, input: Any, hx: Any) -> Any:
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        given: tuple[Any, ...] = () if hx is None else tuple(hx) if self.states == 2 else (hx,)
        for i, h in enumerate(given):
            if h.dim() not in (1, 2):
                which = f"hx[{i}]" if self.states == 2 else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {h.dim()}D instead")
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
            given = tuple(given[i].unsqueeze(0) for i in range(self.states)) if given else ()
        if not given:
            start = empty_state((input.size(0), self.hidden_size), input)
            given = (start,) * self.states
        if len(given) != self.states:
            raise RuntimeError("lstm_cell expects two hidden states")
        if input.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[1]} expected {self.input_size}")
        for i, h in enumerate(given):
            if self.states == 2 and h.dim() > 1 and h.shape[1] == self.hidden_size and h.dim() != 2:
                raise RuntimeError(f"hidden{i} of an unbatched input must have 1 dimension, got {h.dim() - 1}")
            if h.shape[0] != input.shape[0]:
                raise RuntimeError(
                    f"Input batch size {input.shape[0]} doesn't match hidden{i} batch size {h.shape[0]}")
            h.size(1)                           # IndexError of a hidden state without batch
            if h.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {h.shape[1]}, expected {self.hidden_size}")
        x = F.linear(input, self.weight_ih, self.bias_ih)
        found = step(x, given if self.states == 2 else given[0], (self.weight_hh, self.bias_hh, None))
        if batched:
            return found
        return tuple(s.squeeze(0) for s in found) if isinstance(found, tuple) else found.squeeze(0)

    def _misfit(self, input: Any, hx: Any = None) -> str | None:
        if input.shape[-1] == self.input_size:
            return None
        return f"got an input of shape {tuple(input.shape)}, expected (B, {self.input_size})"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """One step of RNN: (B, I) and h (B, H) -> h."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(step_tanh if self.nonlinearity == "tanh" else step_relu, input, hx)


class LSTMCell(RNNCellBase):
    """One step of LSTM: (B, I) and (h, c), each (B, H) -> (h, c)."""

    states = 2

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(hx, TensorBase) and input.dim() == 2 and hx[0].dim() in (1, 2) and hx[1].dim() in (1, 2):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        return self._step(step_lstm, input, hx)


class GRUCell(RNNCellBase):
    """One step of GRU: (B, I) and h (B, H) -> h."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step(step_gru, input, hx)
