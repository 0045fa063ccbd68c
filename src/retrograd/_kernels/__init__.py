"""Native code for what NumPy does in several passes.  Optional: without it the NumPy code beside each call does the work.

_fast, float arrays in C order; every other case gives None (or False).  These names may be None themselves.

add sub mul div               (a, b) -> array; b of a's shape and dtype, or a float
add_into ... div_into         (a, b) -> did it: a += b
once                          (ufunc, x) -> ufunc(x)
sum mean                      x -> 0-d array
sum_rows                      (x, shape) -> x summed over its leading dims to `shape`
add_up                        (a, b, mine) -> a + b, in a's memory where `mine` and nobody else refers to it
takes                         (g, own) -> g lies in memory as own does, and owns it alone (False for what is no array)
view                          (x, sizes) -> x.reshape(sizes)
spread                        (x, sizes) -> x.expand(sizes), an array
address                       x -> where its first element lies
mine                          () -> what this thread gave mine(x), unless another thread gave something since: then None
Function                      (impl, how, func) -> a public function: NOTE [Public functions] in _fast.c
dispatcher                    (ask, types) -> None: who is asked when an argument is of another type, or while
dispatching                   (bool) -> None: some thread has a mode or a listener
rename                        (wrapper of a slot, name) -> None: its __name__ from now on
untrack track                 hide an object from the cyclic garbage collector, and show it again
instantiate                   (capsule) -> a module compiled by mypyc: compiled.py

_nn: a kernel returns None (those that write into an argument: False) when the case is not its own, as `absent` always does.
Arrays are float32, C order; * float64, too.   g gradient of the output y   x input
adam* sgd* rmsprop*   one step of one parameter, in place; arguments in optim.c -> did it
stats*            (x) -> (sum of squares, least, greatest, zeros)      same*   (a, b) -> equal everywhere, or NaN in both?
squares*          (x) -> the sum of squares, of each where x is a tuple; x may be a capsule of DLPack's
scale*            (x, number) -> did it: x *= number
relu* sigmoid silu                   (x) -> y        relu_grad* sigmoid_grad* tanh_grad*     (g, y) -> gradient of x
gelu              (x, tanh form)                     silu_grad   (g, x)       gelu_grad   (g, x, tanh form)
softmax log_softmax   (x, dim)                       softmax_grad log_softmax_grad   (g, y, dim)
safe_softmax      (x, what to add to its last two dims or None): rows of -inf give zeros
nll               (x (N, C), target, mean) -> 0-dim  nll_grad    (g, target, C, mean)
mse_grad*         (g, a, b, share, twice) -> g * share * ((a - b) * twice), g 0-dim or as a and b
layer_norm*       (x, w, b, dims, eps) -> (y, mean, 1/std)
layer_norm_grad*  (g, x, w, mean, 1/std, dims, want x, w, b) -> the three
rms_norm*         (x, w, dims, eps) -> y, where nothing is recorded
add_bias*         (y, b) -> did it: y += b           matmul*     (a, b) -> a @ b, where that is tiny
multiply*         (a, b) -> a @ b, also stacks of matrices, where vectors are wide: multiply.c
multiply_into*    (a, b, y, threads) -> did it: y = a @ b; threads 0: as set for all
gram*             (x, c, keep, share, threads) -> did it: c = keep c + share x'x, its lower triangle: gram.c
mirror*           (c (k, k)) -> did it: its lower triangle above the diagonal, too
ghost*            (a, (d, ...), y, threads) -> did it: y = the squared norms of all d[n]' a[n] together: gram.c
linear*           (x, w, b, large) -> x @ w.T + b, tiny ones unless large
linear_grad*      (g, x) -> (g.T @ x).T
add_rows*         (where, x, rows) -> zeros with x[i] added to row where[i]
convolve* convolve_x* convolve_w*   the three maps of a convolution: conv.c
window_sums* spread_sums*           sums over windows, and back: windows.c
threads           (number) -> None: how many threads convolutions and recurrent layers may use
max_pool*         (x, taps down, taps right) -> (maxima, positions)
place_at*         (g, positions, H, W) -> zeros with g added there
lstm lstm_grad    a layer of an LSTM over all steps, and back: lstm.c
attention attention_grad   softmax(q kt) v, and back: attention.c
token_sums*       (d (N, T, C), x or None, y (N, C)) -> did it: y = the sums of d, or d x, over T
row_norms*        (ids (N, T), d (N, T, C), rows, y (N,)) -> did it: y = squared norms of tables with d added at ids
sum_around*       (x, dim) -> the sum over all other dims
vectors           (4, 3 or 1) -> the generation of x86-64 whose products are used: that, or the most there is; for tests
uniform* keep* integers permute poisson gammas binomials     random numbers; capsule of NumPy's MT19937 first, -> did it: draws.c
normal_groups normal_pairs   (u) -> did it: uniform numbers become normal; in place: normals.c
pick*             (capsule, weights (N, C)) -> (N, 1) int64: a category of each row
move              (x, scale, shift) -> did it: x = x scale + shift, rounded once; in place
libm              (x float64, "exp", "log1p" or "tan") -> did it; in place
arange            (out, start, step) -> did it: out[i] = start + i step: ranges.c
linspace          (out, start, end) -> did it
powers            (x float64, base) -> did it: x = base ** x, in place
blocks_...        the cache of array memory: blocks.py
Program Guards    types, for torch.compile: plan.c, guards.c

Along dims and at indices; any dtype of 4 or 8 bytes where nothing is computed.
cumsum* cumprod*  (x, dim)                                       cummax* cummin*  (x, dim) -> (y, indices)
product*          (x) -> of all                                  flip             (x, dims)
roll              (x, shift, dim or None), elements of any size  one_hot          (index, classes or -1)
extreme*          (x, dims, keep them, greatest)                 logsumexp        (x, dim, keep it)
distances*        (a, b, 1.0, 2.0 or inf)                        inverses         (x (..., n, n)), n at most 4, well conditioned
kth               (x, k from 0) -> where in the last dim it is   middle      (x, skip NaN) -> where the lower median is
first             (x, k, greatest) -> where the first k of the stable order are
triangle          (x, offset, upper)                             bounds           (index) -> (least, greatest)
gather            (x, dim, index)                                choose           (mask, a, b) -> a where it holds, else b
channel_stats*    (x (N, C, ...)) -> (mean, variance)            halves           (x) -> float32 as float16, float16 as float32
channel_affine*   (x, mean, rstd, w or None, b or None)
prelu*            (x (N, C, ...), w)                             masked_scatter   (x, mask, source)
slices*           (x, dim, index (M,), source or number, how) -> copy; how: set, add; int64, too
max_pool3*        (x, taps, taps, taps) -> (maxima, positions)
scatter*          (x, dim, index, source or number, how) -> copy; how: set, add, multiply, greatest, least; int64, too

Element by element (apply.h); any array but the first may be a number, and so may the first of two.
erf* erfc* erfcx* log_ndtr* erfinv* ndtri lgamma* digamma* trigamma* i0 i0e i1 i1e     (x)
elu               (x, alpha * scale, scale, input scale)         softplus    (x, beta, threshold)
log_sigmoid rsqrt* mish entropy   (x)                          xlogy xlog1py logaddexp logaddexp2 hypot igamma* igammac*  (a, b)
clamp*            (x, low or None, high or None)                 leaky* hard_shrink* soft_shrink*    (x, number)
threshold*        (x, threshold, value)                          hard_sigmoid* hard_swish* sign* angle* frac* (x)
nan_to_num*       (x, nan, inf, -inf)                            fmod* remainder* floor_divide*      (a, b)
lerp* lerp_into*  (a, b, w, 1 - w)                               blend*      (a, b, w)
add_scaled* add_scaled_into* (a, b, factor)                      _into: a gets the result, and is it
add_product* add_quotient*   (x, a, b, factor)
smooth_l1*        (a, b, beta, 0.5 / beta, 0.5 * beta)           huber*      (a, b, delta, 0.5 * delta)

Of complex64 and complex128
complex_times complex_over   (a, b) -> a * b, a / b; one of them may be one number
complex_blend complex_add_product   (x, a, b, number): from x to a by b; x + a b number
complex_products  (a, b) -> a @ b, for stacks of small matrices
logcumsumexp      (x, dim), where no real part is inf; cumsum and cumprod take them, too
"""
from importlib import import_module
from typing import TYPE_CHECKING, Any

add: Any
sub: Any
mul: Any
div: Any
add_into: Any
sub_into: Any
mul_into: Any
div_into: Any
once: Any
sum: Any
mean: Any
view: Any
spread: Any
address: Any
sum_rows: Any
add_up: Any
takes: Any
mine: Any
Function: Any
dispatcher: Any
dispatching: Any
rename: Any
untrack: Any
track: Any

if not TYPE_CHECKING:
    try:
        from ._fast import (
            Function,
            add,
            add_into,
            add_up,
            address,
            dispatcher,
            dispatching,
            div,
            div_into,
            mean,
            mine,
            mul,
            mul_into,
            once,
            rename,
            spread,
            sub,
            sub_into,
            sum,
            sum_rows,
            takes,
            track,
            untrack,
            view,
        )
    except ModuleNotFoundError:         # an install without native code; a library that does not load is an error
        add = sub = mul = div = add_into = sub_into = mul_into = div_into = None
        once = sum = mean = view = spread = address = sum_rows = add_up = takes = mine = untrack = track = None
        Function = dispatcher = dispatching = rename = None


def absent(*args: Any) -> None:
    """The kernel to which no case belongs."""


NAMES: tuple[str, ...] = (
    "adam", "sgd", "rmsprop", "squares", "scale", "relu", "relu_grad", "sigmoid", "sigmoid_grad", "tanh_grad", "silu",
    "silu_grad", "gelu", "gelu_grad", "softmax", "safe_softmax", "softmax_grad", "log_softmax", "log_softmax_grad",
    "nll", "nll_grad", "mse_grad", "layer_norm", "layer_norm_grad", "rms_norm", "add_bias", "matmul", "linear",
    "linear_grad", "add_rows",
    "convolve", "convolve_x", "convolve_w",
    "threads", "window_sums", "spread_sums", "max_pool", "place_at", "multiply",
    "multiply_into", "gram", "mirror", "ghost", "token_sums", "row_norms",
    "sum_around", "attention", "attention_grad",
    "lstm", "lstm_grad", "vectors", "stats", "same",
    "uniform", "keep", "integers", "permute", "pick", "poisson", "gammas",
    "binomials", "normal_groups", "normal_pairs", "move", "libm", "arange", "linspace", "powers")
NAMES += (
    "cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "product", "flip", "choose", "triangle", "bounds", "gather",
    "scatter",
    "channel_stats", "channel_affine", "halves", "slices", "masked_scatter", "prelu", "max_pool3",
    "roll", "one_hot", "extreme", "logsumexp", "distances", "inverses", "kth", "middle", "first")
NAMES += (      # element by element
    "erf", "erfc", "erfcx", "log_ndtr", "erfinv", "ndtri", "lgamma", "digamma", "trigamma", "i0", "i0e", "i1", "i1e",
    "clamp", "leaky", "threshold", "hard_shrink", "soft_shrink", "hard_sigmoid", "hard_swish", "sign",
    "angle", "nan_to_num", "lerp", "lerp_into", "blend", "add_scaled", "add_scaled_into", "add_product", "add_quotient",
    "smooth_l1", "huber", "elu",
    "softplus", "log_sigmoid", "rsqrt", "mish", "entropy", "xlogy", "xlog1py", "logaddexp", "logaddexp2",
    "hypot", "frac", "igamma", "igammac", "fmod", "remainder", "floor_divide", "complex_times", "complex_over",
    "complex_blend", "complex_add_product", "complex_products")

nn: Any
try:
    nn = import_module("._nn", __name__)
except ModuleNotFoundError:
    nn = None


def kernel(name: str) -> Any:
    """The kernel of that name, or `absent` in an install without native code."""
    if name not in NAMES:
        raise LookupError(f"no kernel {name!r}")
    return absent if nn is None else getattr(nn, name)
