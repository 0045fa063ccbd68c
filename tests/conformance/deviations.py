"""Every place where a program prints something else on retrograd than on PyTorch, and why. See harness.Deviation."""

from __future__ import annotations

from conformance.harness import Deviation

PYTHONS_WORDS = "Some errors about missing and surplus arguments have Python's wording; class and argument are the same"
FEW_DTYPES = "There are no tensors of unsigned dtypes except uint8, nor of complex32; these dtypes exist as names only"
ARRAYS_MIX = "NumPy arrays and tensors can be mixed in expressions; PyTorch refuses some of these"
ARRAY_WARNINGS = "Tensors implement NumPy 2's protocol, so NumPy does not warn about them"
NODE_CLASSES = "Nodes are Python classes: they have base classes and, in the pure build, accept attributes"
OUR_NAME = "Python's own messages say dtype where PyTorch's say torch.dtype"
CANCELLED = "Rounding differs near poles and where nearly all digits cancel"
LIVE_HOOKS = "A hook may remove itself, also in state dicts and optimizers"
HALF_DONE = "A call that fails changes nothing"
LIKE_A_LIST = "ModuleList.insert inserts modules where list.insert would"
NOT_SAVED = "A few ops save other tensors than PyTorch's, or in another order, which saved-tensor hooks can see"
RETAINED = (
    "If a node's second output retains its gradient and is then edited in place, .grad is its own gradient; PyTorch "
    "stores another tensor's"
)
FOLLOWS = (
    "retain_grad follows a tensor whose shape changes in place; PyTorch keeps the gradient in the old shape, and "
    "fails once such a tensor is edited"
)
AS_IT_IS = "Attributes of nodes show a negative dim, or an omitted correction, as the number it stands for"
NO_FAST_PATH = (
    "Transformer layers compute the same in inference as in training; PyTorch's fast path sets padded positions to 0"
    " and mistakes an additive mask for a boolean one"
)
MISLEADING = "Some of PyTorch's messages are misleading; ours name the cause"

# Differences that are no line of a program: the programs print no random values, no formats, no subclasses.
GENERAL: tuple[str, ...] = (
    "x.conj() has memory of its own. An edit of either shows in the other, unless it is made through a NumPy array. "
    "After an edit of x, the grad_fn of x.conj() is AsStridedBackward0",
    "Complex gradients that are zero may differ in the sign of the zero",
    "Sums with an infinite complex number keep the other part: x + y, x - y and addcmul, and so logdet of a singular "
    "matrix; PyTorch makes it nan where the infinite one comes second",
    "sum, mean, prod and cumprod of a real tensor with a complex dtype=, and lerp, dist, ldexp and logaddexp of real and complex "
    "tensors, have gradients: the real part; in PyTorch backward raises",
    "The gradient of index_add for its source has the conjugate of a complex alpha, as add's has; PyTorch forgets it",
    "A numpy.complex64 beside a tensor is complex, and full and fill_ refuse it; PyTorch drops its imaginary part",
    "torch.fft of an empty batch is empty; in PyTorch MKL raises. "
    "If the out= of ihfftn over one dim has another precision, the error swaps the two dtypes",
    "inv_ex and solve_ex are nan where the matrix is singular; LAPACK leaves infinities there. cholesky_inverse takes the "
    "diagonal of the factor as it is, LAPACK the real part of its inverse",
    "cholesky_solve is two triangular solves: what lies beyond the factor's triangle has no gradient",
    "logsumexp of complex numbers refuses a real out=, into which PyTorch writes nan",
    "Optimizers take conjugated gradients of complex parameters; in PyTorch only SGD does",
    "The DLPack capsule of a conjugated tensor holds a copy of its values; PyTorch exports the values before "
    "conjugation. Likewise, PyTorch exports the imaginary part of a conjugated tensor without its sign",
    "A complex convolution is one node; PyTorch records several",
    "torch.sym_int, sym_max and similar functions call neither __torch_function__ nor "
    "function modes",
    "Tensors with tangents are not views (Tensor._is_view), and the grad_fn of a tangent is Identity",
    "is_autocast_cpu_enabled and similar functions do not warn that they are deprecated",
    "Tensor.dim_order accepts ambiguity_check and checks nothing; PyTorch raises where several orders are possible",
    "torch.distributed uses MPI in place of gloo. Slices are reduced in place, where gloo writes to other elements. "
    "gather of complex tensors, uneven all_to_all, int16 and sums of bools work, unlike in gloo. 16-bit floats are "
    "summed in float32",
    "DistributedDataParallel refuses mixed_precision, bucket_cap_mb_list, skip_all_reduce_unused_params"
    " and delayed reduction",
    "quasirandom.SobolEngine has at most 1111 dimensions; PyTorch's has up to 21201",
    "FlopCounterMode also counts the products inside LSTM and Bilinear, and counts the weight gradient of a grouped "
    "convolution once. It accepts no custom formulas",
    "Starting a profile inside another profile or inside a recording is an error; PyTorch warns and goes on",
    "share_memory_() refuses views, and moves only the tensor itself; PyTorch moves every tensor over the same "
    "memory. Queues of torch.multiprocessing send a copy of a tensor that is not shared; PyTorch shares it first",
    "Operators in torch.ops.aten have no schemas, and their overloads are a fixed list; all overloads of an operator"
    " call the same function",
    "backward() takes a copy of a gradient that was passed to it; PyTorch may take the tensor over, and later passes then "
    "add to it: x.view(-1).backward(x.view(-1)) edits x there",
    "Integer tensors never require a gradient; in PyTorch an edit with a value that does (fill_, index_put_) makes them",
    "How often a result was edited (_version) differs where an operation of PyTorch's edits its own result: quantile, "
    "isclose, trapezoid, sums of one element, parts in inference mode and the state of optimizers; fused=True raises the version "
    "of parameters",
    "Random programs also found these: scaled_dot_product_attention with a wrong dtype and wrong shapes names the dtype; "
    "nn.ConvTranspose1d with a kernel of 1 refuses dilation=0; an EmbeddingBag whose vectors have no elements works, and so "
    "does index_add with negative indices into an empty tensor in backward; a kthvalue among NaN may be another of them; "
    "an LBFGS line search may part from PyTorch's at the last digit of a loss",
    "Of several wrong arguments of a scatter, index, histogram or reduction the error may name another one; of several wrong "
    "indices PyTorch names any, as threads find them",
    "all and any with out= of uint8 ask whether a number is zero; PyTorch casts it to uint8 first, so that 0.5 counts as zero. "
    "The mean of std_mean and var_mean over an infinity is infinite, not nan",
    "resize_ past the end of the memory gives the tensor memory of its own; in PyTorch the shared storage grows",
    "Editing an inference tensor outside inference mode raises before anything changes, even if another error would "
    "follow; PyTorch edits first",
    "In-place scatter and index functions change nothing if an index is out of range or the source is too short; "
    "PyTorch has by then written the elements before it",
    "These gradients exist here and fail in PyTorch: of scatter_add, scatter_reduce and scatter with a source larger than "
    "the index, scatter_reduce 'max' and 'min', pow and logaddexp beside a bool tensor, and vander. take_along_dim without "
    "dim= takes tensors of any strides",
    "In the compiled build, Tensor.__radd__(3, t) and similar calls fail with Python's own message, even where "
    "PyTorch has one. x.__add__() without an operand, and similar calls, raise TypeError; PyTorch returns NotImplemented",
    "sum(None) and mean(None) are recorded as sum() and mean(): SumBackward0, where PyTorch has SumBackward1",
    "F.threshold, F.sigmoid and F.tanh take out=",
    "addmv_ and baddbmm_ raise if the output's memory overlaps itself; PyTorch performs every write in turn",
    "A list of floats and a negative int cannot become a uint8 tensor; in PyTorch the int wraps around",
    "If a tensor that backward needs is a view and was edited, the error names the view's node (AsStrided); PyTorch "
    "names the operation's node",
    "If an output of unbind, split or chunk can no longer be used after an edit, and an argument is wrong as well, a"
    " few functions (transpose, sum, view, in-place operations) report the argument; PyTorch reports the view",
    "If two arguments of a layer are wrong, the error may name a different one than PyTorch's. out= is checked last",
    "batch_norm without running statistics has the right gradients whatever the strides of its input, and so has "
    "interpolation to a width of 1 when it is antialiased or of uint8; there PyTorch gives other numbers or an "
    "internal error",
    "The random numbers that a layer draws do not depend on the strides of its input",
    "A layer with nothing to compute (no images, classes or windows) has zero gradients; PyTorch gives nan, an error"
    " or uninitialized memory",
    "In half precision logsumexp and logcumsumexp accumulate in float32, Muon's Newton-Schulz steps sum in another "
    "order, and addr, addbmm, logit and logspace round at other places",
    "When an optimizer updates float64 parameters, a learning rate in a float32 tensor acts like a Python number. "
    "With foreach, betas may be tensors",
    "differentiable=True does not change a step by a digit; in PyTorch, Adam and AdamW then take the powers of their betas in "
    "float32",
    "A new dim of one element has stride 0, an empty slice starts where its tensor begins, and the result of operands whose "
    "orders of strides disagree is in C order, as in NumPy; in PyTorch the result has the first operand's order",
    "If the operand of an in-place operation shares memory with the result, the whole operand is read first; where "
    "PyTorch allows this, it reads and writes element by element",
    "After set_(), a view has no gradient, and a leaf keeps its AccumulateGrad. PyTorch's views fail if their base "
    "is too small. set_() past the end of a storage raises; in PyTorch the storage may grow, or the tensor shows what lies "
    "behind it",
    "A view of a leaf that was made under no_grad counts as requiring grad. A second backward without retain_graph "
    "therefore fails at other nodes than in PyTorch, and so does backward after an edit of a saved tensor",
    "An index into an empty dimension is reported as out of range; PyTorch's error mentions a storage or an "
    "assertion",
    "With dim=(), the gradient of var and std is that over all dims; PyTorch computes it as if there were one "
    "element",
    "histc counts values correctly even if the range times the number of bins overflows; PyTorch drops them or puts "
    "them into the first bin",
    "If out= has a wider dtype than the input, logsumexp, var and std round to the input's dtype first. logsumexp "
    "accepts dim=()",
    "Expanded tensors must have fewer than 2**63 bytes, NumPy's limit",
    "With is_grads_batched=True, and in jacrev, hooks and a Function's backward run once for each gradient of the batch, "
    "not once for all",
    "If a tensor's shape was changed under no_grad, or a leaf's through .data, its node does not know. Backward then"
    " continues as long as the shapes of gradients fit together; PyTorch checks the size of each",
    "If the pack hook fails in register_hooks, the saved tensor stays without hooks; in PyTorch it is left with "
    "hooks and nothing packed",
    "Inside torch.func.vmap a Function with generate_vmap_rule calls forward, setup_context and backward once per "
    "sample, and so does one whose own vmap rule does not apply it, for a transform inside. Where the rule does, backward gets "
    "whole batches, as forward does",
    "On processors with AVX2, a seed gives PyTorch's random values to the last bit, except for gamma, Dirichlet and "
    "Gumbel values. In the pure build, the last bits of normal values, and of arange and linspace in float64, differ"
    " too. On Intel processors bernoulli_ with a number, and hence dropout, differ as well: there PyTorch draws them"
    " with MKL, and retrograd draws them as PyTorch does on other processors",
    "The second derivative of weight_norm is that of its formula, confirmed by finite differences; PyTorch's agrees "
    "only for a norm over all dims or over all but the last",
    "The second derivative of a 2-norm at zero is zero; PyTorch's is nan by backward, and zero by torch.func.hessian",
    "If the input of prod contains both a zero and inf or nan, fewer of its second derivatives are nan than in "
    "PyTorch. The gradient of an element in which scatter_reduce or index_reduce multiplies is the product of the others "
    "even if it is inf or nan itself; in PyTorch it is nan",
    "Numbers beyond float32 that a function multiplies by or compares with (alpha, beta, value, slope, eps) are infinite "
    "in tensors of float32 and less; most of PyTorch's functions refuse them",
    "If a function under a torch.func transform edits a captured tensor in place, the error does not name the operation. "
    "torch.autograd.grad works inside such a function, and vmap allows requires_grad_() and backward() on captured "
    "tensors",
    "Memory formats have no effect: memory_format=torch.channels_last is accepted, but elements stay in C order. "
    "stride() therefore differs, and with it which view() is possible afterwards; is_contiguous() reports C order "
    "whatever the format. torch.fft of a transposed tensor keeps its order of strides; in PyTorch that follows the dims "
    "transformed",
    "__torch_function__ is called before arguments are checked; for functions in C PyTorch checks them first. "
    "Functions made of several calls (optimizer steps, torch.save, nn.init) report fewer or other calls than "
    "PyTorch's",
    "torch.save writes and torch.load reads PyTorch's zip format (since 1.6): no files saved with "
    "_use_new_zipfile_serialization=False, and no TorchScript",
    "The gradient of as_strided_scatter's input is 0 where src was written and the output's gradient elsewhere; in "
    "PyTorch it is the other way round. If a view made by as_strided shows an element twice, an in-place operation "
    "changes it once; PyTorch changes it once per appearance",
    "Inside torch.func.grad, vjp and similar transforms, tensors are plain Tensors, not GradTrackingTensor; inside "
    "vmap they are of a subclass of Tensor",
    "Graphs of torch.export, make_fx and torch.jit.trace call functions of torch, not operators of aten, and cannot "
    "hold derivatives and draws from a generator of its own; their files have a format of their own. "
    "Sizes that export leaves open are tried in ten other sizes, not proven; a trace fixes a float divided by a size "
    "(`1.0 / x.shape[0]`) without a warning. A "
    "FakeTensorMode makes no symbolic sizes, whatever its shape_env, and knows the value of torch.tensor(number) only",
    "Tangents (torch.autograd.forward_ad, torch.func.jvp) are computed when unpack_dual asks for them, by two "
    "backward passes. Only then is a Function's jvp called. It is linear, so it is called with zeros that require "
    "grad, and it must consist of differentiable operations. Operations that have no forward rule in PyTorch have "
    "tangents as well. An edit of a dual tensor leaves the tensor that was given as its tangent as it was; an edit of what "
    "an operation keeps for its tangent is an error, as for gradients",
    "Functions of tensors on device=\"meta\" really compute, on zeros, so they take time and, while they run, memory. "
    "A parameter moved there is a plain Tensor, and its storage reports the CPU",
    "torch.func.vmap runs some functions sample by sample, and warns of them; they are not the ones that PyTorch "
    "warns of. With randomness='different', some functions draw their numbers sample by sample",
    "torch._foreach_add and similar functions record the plain operation once per tensor, not one node for all",
    "Derivatives of gamma, beta, Dirichlet, chi-squared, F and t samples with respect to their parameters (rsample "
    "of torch.distributions) are exact to rounding; PyTorch approximates them, with errors of up to 0.5 %. "
    "VonMises's Bessel functions are exact to rounding, too; PyTorch's have six digits",
    "A convolution of an input without channels returns the bias in every output channel; PyTorch's result has no "
    "channels, and its bias gets no gradient",
    "Circular padding together with cropping repeats what cropping leaves, and is refused if it leaves nothing; "
    "PyTorch reads uninitialized memory",
    "A transposed convolution of a non-empty batch is refused if its result would have no elements; in float32 "
    "PyTorch accepts it where oneDNN computes it",
    "mode returns the index of the last element with the most frequent value; with more than 16 elements, PyTorch's "
    "index depends on its sort",
    "huber_loss is differentiable with a target of another dtype, and so is channel_shuffle of a tensor without "
    "channels; PyTorch raises",
    "Bilinear with zero input features returns 0; PyTorch fails",
    "attention, EmbeddingBag, cdist and other functions have second derivatives that PyTorch lacks; half precision "
    "works where PyTorch has no kernel for it",
    "With scale_grad_by_freq EmbeddingBag divides each row's gradient by how often that row was read, and so does "
    "Embedding's second derivative, like its first; PyTorch divides by the counts of other rows, or not at all",
    "EmbeddingBag with include_last_offset ignores indices behind the last offset. In float32 without padding_idx, "
    "PyTorch leaves them out of the sum, but counts them in the mean and gives them a gradient",
    "ctc_loss treats a blank among the targets, which should contain none, like any other class; PyTorch gives "
    "another value",
    "ctc_loss targets beyond the classes and pack_padded_sequence lengths beyond the sequences raise; PyTorch reads "
    "past the end, or packs fewer steps than it counts",
    "Of several values that max_unpool puts into one place the last stays; in PyTorch, which one depends on its threads",
    "If nearest or antialiased interpolation keeps the size, its gradient is passed on unchanged; PyTorch's goes "
    "through the filter",
    "With differentiable=True, SGD's first momentum, learning rates in tensors and ASGD's rates stay in the graph, "
    "state is replaced instead of edited, and the derivative of a square root at 0 is 0. There PyTorch cuts "
    "gradients off, refuses the backward pass of the second step, or gives nan",
    "If an optimizer's step fails, the parameters it did not reach get no state, and with foreach=True and nesterov "
    "gradients stay unchanged. Adafactor skips empty parameters. LBFGS copies the value of a tensor lr, so a "
    "scheduler does not change its state; with max_eval=0, its line search finds nothing. fused=True accepts options"
    " that are not bools. A scheduler that rejects its options leaves the parameter groups unchanged",
    "fractional_max_pool rejects empty windows; PyTorch gives -inf for them",
    "When torch.save cannot write a file, its error is both an OSError that names the file and a RuntimeError, as "
    "PyTorch's is",
    "For a state dict of spectral_norm from before PyTorch 0.4.1, v is the solution of least norm; PyTorch's is "
    "noise if the weight has dependent rows. After remove_spectral_norm, plain state dicts load; in PyTorch a hook "
    "is left behind",
    "grid_sample, affine_grid, pdist and pack_padded_sequence record other nodes than in PyTorch. In second "
    "derivatives, the gradient of grid_sample's nearest mode with respect to the grid is None",
    "Wishart.rsample is differentiable, GeneralizedPareto computes in float64, and divergences between distributions "
    "of different batch shapes broadcast; PyTorch raises in these cases",
    "Small tensors in batches from DataLoader workers are not in shared memory, and Tensor.is_shared() says so",
    "If an index is out of range, an embedding with max_norm rescales no row; PyTorch has by then rescaled the rows "
    "before it",
    "If a DataLoader worker cannot send an item (a function, a tensor with a graph), the loader raises in place of "
    "its batch; PyTorch waits forever. A failed worker_init_fn is reported for every batch; PyTorch reports it once",
    "Under autocast(\"cpu\"), an LSTM computes its matrix products in the lower dtype and the rest in float32; PyTorch "
    "computes all of it in the lower dtype",
)


def T(program: str, label: str, torch: str, ours: str, reason: str) -> Deviation:
    """A difference in one line that `_log.T` prints: `[label] torch` becomes `[label] ours`."""
    return Deviation(program, f"[{label}] {torch}", f"[{label}] {ours}", reason)


class Uncompiled(Deviation):
    """A difference that only the uncompiled build has."""

    def apply(self, text: str) -> tuple[str, int]:
        from retrograd._engine import node

        changed, times = super().apply(text)
        return (changed if str(node.__file__).endswith(".py") else text), times


DEVIATIONS: tuple[Deviation, ...] = (
    # functions that are too quick for a check of their arguments before the call
    Deviation(
        "*",
        r"^(\[.*\] !! builtins\.TypeError: (?:tensor)\(\)) "
        r'missing 1 required positional arguments: "(\w+)"$',
        r"\1 missing 1 required positional argument: '\2'",
        PYTHONS_WORDS,
        regex=True,
    ),
    Deviation(
        "numpy_bridge",
        r"^\[from_numpy (uint16|uint32|uint64)\] -> torch\.\w+$",
        r"[from_numpy \1] !! builtins.TypeError: can't convert np.ndarray of type numpy.\1. The only supported types "
        r"are: "
        "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool.\n"
        "    | Convert it first, for instance "
        "array.astype(numpy.int64).",
        FEW_DTYPES,
        regex=True,
    ),
    Deviation(
        "numpy_bridge",
        "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.",
        "complex64, complex128, int64, int32, int16, int8, uint8, and bool.",
        FEW_DTYPES,
    ),
    T(
        "numpy_bridge",
        "numpy of bfloat16",
        "!! builtins.TypeError: Got unsupported ScalarType BFloat16",
        "-> dtype(bfloat16)",
        "bfloat16 tensors become NumPy arrays of ml_dtypes.bfloat16",
    ),
    T(
        "numpy_bridge",
        "ndarray + tensor",
        "!! builtins.TypeError: Concatenation operation is not implemented for NumPy arrays, use np.concatenate() "
        "instead. "
        "Please do not rely on this error; it may not be given on all Python implementations.",
        "-> tensor([[200.,  14.,   4.],\n        [  6.,  -2.,  10.]])",
        ARRAYS_MIX,
    ),
    T(
        "numpy_bridge",
        "ndarray * rg",
        "!! builtins.TypeError: unsupported operand type(s) for *: 'numpy.ndarray' and 'Tensor'",
        "-> tensor([1., 2.], grad_fn=<MulBackward0>)",
        ARRAYS_MIX,
    ),
    T(
        "numpy_bridge",
        "rg * ndarray",
        "!! builtins.RuntimeError: Can't call numpy() on Tensor that requires grad. Use "
        "tensor.detach().numpy() instead.",
        "-> tensor([1., 2.], grad_fn=<MulBackward0>)",
        ARRAYS_MIX,
    ),
    T(
        "numpy_bridge",
        "gradient through",
        "!! builtins.RuntimeError: Can't call numpy() on Tensor that requires grad. Use "
        "tensor.detach().numpy() instead.",
        "-> tensor([2., 3.])",
        ARRAYS_MIX,
    ),
    T(
        "numpy_bridge",
        "ndarray @ tensor",
        "!! builtins.TypeError: unsupported operand type(s) for @: 'numpy.ndarray' and 'Tensor'",
        "-> tensor([[10053.,   303.],\n        [  303.,    35.]])",
        ARRAYS_MIX,
    ),
    Deviation(
        "numpy_bridge",
        r"^    warn DeprecationWarning: (__array__ implementation doesn't accept|__array_wrap__ must accept) .*\n",
        "",
        ARRAY_WARNINGS,
        regex=True,
    ),
    Deviation(
        "node_attributes",
        "(<class 'CopySlices'>, <class 'object'>)",
        "(<class 'CopySlices'>, <class 'torch.autograd.graph.Node'>, <class 'torch._engine.node.Slot'>, <class "
        "'object'>)",
        NODE_CLASSES,
    ),
    Uncompiled(
        "node_attributes",
        "AttributeError 'MulBackward0' object has no attribute 'foo'",
        "setattr ok 1",
        NODE_CLASSES,
    ),
    Uncompiled(
        "nodes_and_edges",
        "[set attribute] !! builtins.AttributeError: 'MulBackward0' object has no attribute 'foo'",
        "[set attribute] -> ok/None",
        NODE_CLASSES,
    ),
    T(
        "nodes_and_edges",
        "construct",
        "!! builtins.TypeError: Can't instantiate abstract class Node with abstract methods _input_metadata, "
        "_register_hook_dict, _sequence_nr, metadata, name, next_functions, register_hook, register_prehook",
        "-> <torch.autograd.graph.Node object at 0xADDRESS>",
        NODE_CLASSES,
    ),
    T(
        "nodes_and_edges",
        "hooks of an accumulate node live as long as it",
        "-> ['kept']",
        "-> ['lost', 'lost', 'kept']",
        "A leaf's AccumulateGrad lives as long as the leaf, and so do its hooks",
    ),
    T(
        "threads_backward",
        "sequence numbers are per thread",
        "-> ([[0, 1, 2], [0, 1, 2]], True)",
        "-> ([[0, 1, 2], [0, 1, 2]], False)",
        "All threads share one counter for the sequence numbers of nodes; in PyTorch each thread has its own",
    ),
    T(
        "grad_attribute",
        "zero_ between passes",
        "-> (True, tensor([2., 4.]), 3)",
        "-> (True, tensor([2., 4.]), 2)",
        "Adding gradients up during a pass does not raise the version of the result",
    ),
    T(
        "scalars_and_protocols",
        "dtype call",
        "!! builtins.TypeError: 'torch.dtype' object is not callable",
        "!! builtins.TypeError: 'dtype' object is not callable",
        OUR_NAME,
    ),
    Deviation(
        "values_and_gradients",
        "tensor([3.2284e+14, 8.9348e+00,        inf, 4.9348e+00, 3.9493e-01])",
        "tensor([   inf, 8.9348,    inf, 4.9348, 0.3949])",
        CANCELLED,
    ),
    Deviation(
        "library_ops",
        "fake2 !! RuntimeError operator foo::nope does not exist",
        "fake2 -> <function <lambda>.<locals>.<lambda> at 0xADDRESS>",
        "torch.library.register_fake accepts operators that are not defined, since libraries define some of them in C++",
    ),
    T(
        "backward_roots",
        "shape of the second",
        "!! builtins.RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
        "dimension 0",
        "!! builtins.RuntimeError: Mismatch in shape: grad_output[1] has a shape of torch.Size([3]) and output[1] "
        "has a "
        "shape of torch.Size([2]).",
        MISLEADING,
    ),
    T(
        "broadcasting",
        "expand neg",
        "!! builtins.RuntimeError: numel: integer multiplication overflow",
        "!! builtins.RuntimeError: The expanded size of the tensor (-2) must match the existing size (1) at "
        "non-singleton dimension 0.  Target sizes: [-2].  Tensor sizes: [1]",
        MISLEADING,
    ),
    T(
        "errors_shape",
        "expand negative",
        "!! builtins.RuntimeError: numel: integer multiplication overflow",
        "!! builtins.RuntimeError: The expanded size of the tensor (-3) must match the existing size (1) at "
        "non-singleton dimension 0.  Target sizes: [-3].  Tensor sizes: [1]",
        MISLEADING,
    ),
    T(
        "errors_matmul",
        "imatmul",
        "-> ok/None",
        "-> NotImplemented",
        "__imatmul__ exists and returns NotImplemented: `a @= b` means `a = a @ b`, as in PyTorch",
    ),
    Deviation(
        "indexing_reads",
        r"(    warn UserWarning: indexing with dtype torch\.uint8 .*\n)\1",
        r"\1",
        "Indexing with uint8 warns once, not again in backward",
        regex=True,
    ),
    Deviation(
        "grad_fn_names",
        "'_saved_A', '_saved_LU', '_saved_pivots', '_saved_result'",
        "'_saved_A', '_saved_result'",
        "The determinant saves no factorization",
    ),
    T(
        "suite_edges",
        "an edge outlives set",
        "!! builtins.RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.",
        "-> (tensor([1., 1.]),)",
        "A leaf keeps its AccumulateGrad when set_() gives it other memory",
    ),
    T(
        "module_deviations",
        "a plain load after one that assigned",
        "-> (['assign_to_params_buffers', 'version'], False)",
        "-> (['version'], True)",
        "load_state_dict(assign=True) writes nothing into the dict; in PyTorch later loads of that dict also assign",
    ),
    T(
        "module_deviations",
        "a failed load leaves the module as it was",
        "-> ('RuntimeError', False)",
        "-> ('RuntimeError', True)",
        HALF_DONE,
    ),
    T(
        "module_deviations",
        "what it leaves in the dict",
        "-> 1",
        "-> 0",
        HALF_DONE,
    ),
    T(
        "module_deviations",
        "what a removed global forward hook leaves behind",
        "-> 1",
        "-> 0",
        "A removed hook leaves nothing behind",
    ),
    T(
        "module_deviations",
        "state-dict pre hook removes itself",
        "-> ('RuntimeError', ['first'])",
        "-> ('fine', ['first', 'second'])",
        LIVE_HOOKS,
    ),
    T(
        "module_deviations",
        "load pre hook removes itself",
        "-> ('RuntimeError', ['first'])",
        "-> ('fine', ['first', 'second'])",
        LIVE_HOOKS,
    ),
    T(
        "module_deviations",
        "load post hook removes itself",
        "-> ('RuntimeError', ['first'])",
        "-> ('fine', ['first', 'second'])",
        LIVE_HOOKS,
    ),
    T(
        "module_deviations",
        "step pre hook removes itself",
        "-> ('RuntimeError', ['first'])",
        "-> ('fine', ['first', 'second'])",
        LIVE_HOOKS,
    ),
    T(
        "module_deviations",
        "step post hook removes itself",
        "-> ('RuntimeError', ['first'])",
        "-> ('fine', ['first', 'second'])",
        LIVE_HOOKS,
    ),
    T(
        "module_deviations",
        "optimizer's state-dict pre hook removes itself",
        "-> ('RuntimeError', ['first'])",
        "-> ('fine', ['first', 'second'])",
        LIVE_HOOKS,
    ),
    T(
        "module_deviations",
        "insert beyond the end of a list",
        "-> ['0', '1', '9']",
        "-> ['0', '1', '2']",
        LIKE_A_LIST,
    ),
    T(
        "module_deviations",
        "insert before the last of a list",
        "!! builtins.KeyError: '-1'",
        "-> ['ReLU', 'GELU', 'Tanh']",
        LIKE_A_LIST,
    ),
    Deviation(
        "module_deviations",
        r"^(\[an encoder in inference gives zeros at padded places\]) -> True\n    warn UserWarning: The PyTorch API of "
        r"nested tensors .*$",
        r"\1 -> False",
        NO_FAST_PATH,
        regex=True,
    ),
    T(
        "module_deviations",
        "a mask of weights beside padding gives nan in inference",
        "-> True",
        "-> False",
        NO_FAST_PATH,
    ),
    T(
        "module_deviations",
        "a whole module in a file",
        "-> 'fine'",
        "-> 'UnpicklingError'",
        "load() runs no code from a file, even with weights_only=False: it reads tensors and plain containers",
    ),
    *(
        Deviation("packed_by_ops", f"{torch}\n", f"{ours}\n", NOT_SAVED)
        for torch, ours in (
            (f"{op} ((3, 3), 'float32') ((3, 3), 'float32') ((3,), 'int64') ((), 'float32') u u u u",
             f"{op} ((3, 3), 'float32') ((3, 3), 'float32') ((3,), 'int64') u u u")
            for op in ("nll", "ce")
        )
    ),
    *(
        Deviation("packed_by_ops", f"{torch}\n", f"{ours}\n", NOT_SAVED)
        for torch, ours in (
            ("prelu ((3, 3), 'float32') ((1, 1), 'float32') u u", "prelu ((1, 1), 'float32') ((3, 3), 'float32') u u"),
            ("bn ((3, 3), 'float32') ((3,), 'float32') ((3,), 'float32') u u u", "bn ((3, 3), 'float32') u"),
            ("ln ((3, 3), 'float32') ((3, 1), 'float32') ((3, 1), 'float32') u u u", "ln ((3, 3), 'float32') u"),
            ("cos ((3, 3), 'float32') ((3, 1), 'float32') ((3, 3), 'float32') ((3, 1), 'float32') ((3, 1), 'float32') "
             "((3, 3), 'float32') ((3, 1), 'float32') ((3, 3), 'float32') ((3, 3), 'float32') ((3, 3), 'float32')"
             + " u" * 10,
             "cos ((3, 3), 'float32') ((3, 1), 'float32') ((3, 1), 'float32') ((3, 3), 'float32') ((3, 3), 'float32') "
             "((3, 1), 'float32') ((3, 1), 'float32') ((3, 3), 'float32') ((3, 3), 'float32') ((3, 3), 'float32')"
             + " u" * 10),
            ("repeat_int ((6,), 'int64') u", "repeat_int"),
        )
    ),
    Deviation(
        "suite_hooks_inplace",
        "   tensor([10., 10.]) tensor([30., 30.]) TwoBackward",
        "   tensor([1., 1.]) tensor([10., 10.]) TwoBackward",
        RETAINED,
    ),
    T("suite_hooks_inplace", "retained of two outputs", "-> (tensor(1.), tensor(2.))", "-> (tensor(1.), tensor(1.))", RETAINED),
    T("shapes_in_place", "retain_grad squeeze_", "-> (torch.Size([3]), torch.Size([1, 3]))",
      "-> (torch.Size([3]), torch.Size([3]))", FOLLOWS),
    T("shapes_in_place", "retain_grad unsqueeze_", "-> (torch.Size([1, 1, 3]), torch.Size([1, 3]))",
      "-> (torch.Size([1, 1, 3]), torch.Size([1, 1, 3]))", FOLLOWS),
    *(
        Deviation("suite_saved_attributes", torch, ours, AS_IT_IS)
        for torch, ours in (
            ("SumBackward1 dim=(0, 18446744073709551615)", "SumBackward1 dim=(0, 1)"),
            ("TopkBackward0 dim=18446744073709551615", "TopkBackward0 dim=1"),
            ("StdBackward0 dim=None correction=None", "StdBackward0 dim=None correction=1"),
        )
    ),
    T(
        "suite_edges",
        "what a node knows whose tensor nobody asked",
        "-> [[2]]",
        "!! builtins.RuntimeError: the output's shape of this ExpBackward0 is not known: a node keeps it once somebody read "
        "grad_fn of the tensor that it made",
        "A node knows the shape of its output only once grad_fn of the tensor that it made has been read",
    ),
)
