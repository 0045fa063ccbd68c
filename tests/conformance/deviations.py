"""Every place where a program prints something else on retrograd than on PyTorch, and why. See harness.Deviation."""

from __future__ import annotations

from conformance.harness import Deviation

PYTHONS_WORDS = "Missing and surplus arguments are reported in Python's own words: same class, same argument"
FEW_DTYPES = "There are no tensors of unsigned dtypes except uint8, nor of complex32; these dtypes exist as names only"
ARRAYS_MIX = "NumPy arrays and tensors mix: PyTorch's refusals are accidents of its NumPy bridge"
ARRAY_WARNINGS = "Tensors speak NumPy 2's protocol, so NumPy does not warn about them"
NODE_CLASSES = "Nodes are Python classes: they have base classes and, in the pure build, accept attributes"
OUR_NAME = "Classes say where they are defined"
CANCELLED = "Rounding differs where nearly all digits cancel, and next to a pole"
LIVE_HOOKS = "A hook may remove itself, also in state dicts and optimizers"
HALF_DONE = "A call that fails changes nothing"
LIKE_A_LIST = "ModuleList.insert puts modules where list.insert would"
NOT_SAVED = "A few ops save other tensors than PyTorch, or in another order; saved-tensor hooks see the difference"
RETAINED = "retain_grad on a node's second output, edited in place afterwards: PyTorch keeps another tensor's gradient"
FOLLOWS = (
    "retain_grad follows a tensor whose shape changes in place: PyTorch keeps the gradient in the old shape, and fails once "
    "such a tensor is edited"
)
AS_IT_IS = "Nodes show a negative dim, or an omitted correction, as the number it stands for"
NO_FAST_PATH = (
    "Transformer layers compute the same in inference as in training: PyTorch's fast path leaves padded places 0 and "
    "mistakes an additive mask for a boolean one"
)
MISLEADING = "PyTorch's message is misleading; ours names the cause"

# Differences that are no line of a program: the programs print no random values, no formats, no subclasses.
GENERAL: tuple[str, ...] = (
    "What x.conj() shows has memory of its own that follows the edits of x, and x its edits, except those that a NumPy array "
    "makes; after an edit of x its grad_fn is AsStridedBackward0, and pickles keep the values, not the bit",
    "Where complex gradients are zero, the zero may have another sign",
    "Complex tensors have gradients through embedding, bilinear, silu, nan_to_num, normal, select_scatter, slice_scatter and "
    "scatter_reduce, which PyTorch refuses to record; a complex convolution is one node there are several of in PyTorch",
    "torch.sym_int, sym_max and their kin take numbers: __torch_function__ and function modes are not told of them",
    "Tensors with tangents are no views (Tensor._is_view), and the grad_fn of a primal or tangent is IdentityBackward",
    "is_autocast_cpu_enabled and its like are not deprecated: they give no warning",
    "torch.distributed: MPI takes the place of gloo. Slices are reduced in place, where gloo writes to other elements; gather of "
    "complex numbers, uneven all_to_all, int16 and sums of bools work; 16-bit floats are summed in float32",
    "DistributedDataParallel refuses mixed_precision, device_mesh, bucket_cap_mb_list, skip_all_reduce_unused_params and delayed "
    "reduction; its model is not copied or pickled",
    "A profile does not start inside another one, nor inside a recording; PyTorch's warns and goes on",
    "share_memory_() refuses views, and other tensors over the same memory keep the old one; in PyTorch all of them move",
    "torch.ops.aten has names without schemas, and overloads of a fixed list, which all reach one function",
    "resize_ beyond the end of the memory gives the tensor its own memory; in PyTorch the shared storage grows",
    "Editing an inference tensor outside inference mode raises before anything changes, whatever else is wrong; PyTorch "
    "edits first",
    "In-place scatter and index functions change nothing if an index is out of range or the source ends too early; PyTorch"
    " has already written the elements before it",
    "These are differentiable or accepted here and fail in PyTorch: scatter_add, scatter_reduce and scatter with a source "
    "larger than the index, scatter_reduce 'max' and 'min', index_reduce with an int32 index, narrow_copy with a negative "
    "start, pow and logaddexp beside a bool tensor, vander by its input, take_along_dim on tensors of any strides",
    "Tensor.__radd__(3, t) and similar: compiled operators reject the number with Python's own message, even where PyTorch"
    " has one",
    "sum(None) and mean(None) are recorded as if dim were not given: SumBackward0, where PyTorch has SumBackward1",
    "exp, log, sqrt, abs, neg, relu, sigmoid, tanh, sum, mean and matmul do not take NumPy's names for their tensors (x=, "
    "a=, x2=); F.threshold, F.sigmoid and F.tanh take out=",
    "addmv_ and baddbmm_ raise if the output memory overlaps itself; in PyTorch the result is that of every write in turn",
    "A list of floats and a negative int cannot become a uint8 tensor; in PyTorch the int wraps around",
    "If a node saved a view that is then edited again, the error names the view's node, AsStrided; PyTorch names the op's",
    "If a view's history was broken by an edit (an output of unbind, split, chunk) and an argument is wrong too, a few "
    "functions (transpose, sum, view, edits) report the argument; PyTorch reports the view",
    "If a layer's arguments are wrong in two ways, the error may be about the other one than in PyTorch; out= is checked last",
    "Gradients of batch_norm without running statistics are those of the formula for inputs of any strides, and interpolation "
    "to a width of 1, antialiased or of uint8, is that of the filter; PyTorch's are other numbers there, or an internal error",
    "What a layer draws does not depend on the strides of its input",
    "Gradients of layers that have nothing to compute (no images, classes or windows) are zeros; PyTorch's are nan, an error or "
    "whatever the memory held",
    "In half precision logsumexp and logcumsumexp add up in float32; Newton-Schulz steps of Muon sum in another order",
    "A learning rate in a float32 tensor is a Python number in steps of float64 parameters; betas may be tensors with foreach",
    "The stride of a new dim of one element is 0, and a slice without elements starts where its tensor begins, as in NumPy",
    "An assignment that reads memory it also writes, where PyTorch allows it, reads all of it first; PyTorch reads in loop"
    " order",
    "After set_(), a view has no gradient and a leaf keeps its AccumulateGrad; PyTorch's views fail if their base is too "
    "small",
    "A view of a leaf made under no_grad counts as one that requires grad: a second backward without retain_graph fails at"
    " other nodes than in PyTorch",
    "An index into an empty dimension is out of range; PyTorch's error mentions a storage or an assertion",
    "The gradient of var and std over dims=() is that over all dims; PyTorch assumes 1 element",
    "logsumexp, var and std with out= of a wider dtype round to the input's dtype first; logsumexp takes dims=()",
    "Tensors can expand to as many elements as NumPy can count: fewer than 2**63 bytes",
    "With is_grads_batched=True hooks run once for each gradient of the batch, not once for all",
    "If a tensor's shape was changed under no_grad or through .data, so that its node does not know, backward goes on as "
    "long as the rules can cope; PyTorch checks the size of every gradient",
    "If a pack hook fails in register_hooks, the saved tensor has no hooks; in PyTorch it has hooks that hold nothing",
    "Inside torch.func.vmap a Function with generate_vmap_rule calls forward, setup_context and backward once per sample; "
    "backward of one with a vmap rule gets gradients of whole batches, as its forward got values",
    "A seed gives PyTorch's random values except for the last bits of normal ones (logarithm, sine and cosine are NumPy's)"
    " and, on Intel processors, for bernoulli_ with a number and hence dropout: PyTorch draws those with MKL there, "
    "retrograd as PyTorch does everywhere else",
    "The second derivative of weight_norm is that of its formula, confirmed by finite differences; PyTorch's differs "
    "except for a norm over all dims or over all but the last",
    "The second derivative of prod with a zero beside inf or nan is nan in fewer places than PyTorch's",
    "torch.func.grad, vjp, jvp and similar transforms do not reject a function that edits captured tensors in place; the "
    "tensors are edited",
    "Memory formats change nothing: memory_format=torch.channels_last is accepted and elements stay in C order, so "
    "stride() differs, and with it what view() can do afterwards; is_contiguous() answers for C order whatever the format",
    "__torch_function__ gets a call before its arguments are checked; PyTorch first checks those of functions in C. "
    "Functions here that call several of PyTorch's (optimisers' steps, torch.save, nn.init) report fewer or other calls",
    "torch.save writes and torch.load reads PyTorch's zip format (since 1.6): no files saved with "
    "_use_new_zipfile_serialization=False, and no TorchScript",
    "as_strided_scatter's gradient of input is the derivative: 0 where src was written, passed on elsewhere; PyTorch's is "
    "the other way round. An in-place edit of a view that shows an element twice (as_strided) changes it once; PyTorch "
    "once for each",
    "Inside torch.func.grad, vjp and similar transforms tensors are plain ones, not GradTrackingTensor; inside vmap their "
    "type() is a subclass of Tensor. They are differentiated by rows and columns: jacrev, jacfwd and hessian call no vmap",
    "Tangents (torch.autograd.forward_ad, torch.func.jvp) are computed when unpack_dual asks, by two backward "
    "passes; a Function's jvp is called then, with zeros that require grad, for it is linear, and must be made of "
    "differentiable operations. Operations without a forward rule in PyTorch have tangents, too",
    "Functions of tensors on device=\"meta\" compute with zeros, so they take time and, while they run, memory; the class of a "
    "parameter there is called Tensor, and its storage says that it is on the CPU",
    "torch.func.vmap warns of a performance drop for other functions than PyTorch, and runs those sample by sample; "
    "with randomness='different' some functions draw for one sample after the other",
    "torch._foreach_add and similar functions record one node per tensor, that of the plain operation, not one node for "
    "all of them",
    "Derivatives of gamma, beta, Dirichlet, chi-squared, F and t variables by their parameters (rsample of "
    "torch.distributions) are exact to rounding; PyTorch's are approximations, up to 0.5 % off. So are VonMises's Bessel "
    "functions, where PyTorch's have six digits",
    "A convolution of an input without channels gives the weight's output channels, each filled with its bias; PyTorch's "
    "result has no channels and the bias no gradient",
    "Circular padding that cuts away all there was to repeat is refused, and repeats what is left where PyTorch reads what "
    "the memory held",
    "A transposed convolution whose result would have no elements is refused for a batch that has some; in float32 PyTorch "
    "accepts it where oneDNN computes it",
    "The index of a mode is that of its last element; among more than 16 elements PyTorch's depends on its sort",
    "huber_loss is differentiable with a target of another dtype, and channel_shuffle without channels; PyTorch raises",
    "Bilinear products of zero features are 0; PyTorch fails",
    "Second derivatives of attention, EmbeddingBag, cdist and other functions are computed where PyTorch has none, as is "
    "half precision where PyTorch has no kernel for it",
    "EmbeddingBag with scale_grad_by_freq divides each row's gradient by how often that row was read, and Embedding's "
    "second derivative does so like its first; PyTorch divides by the counts of other rows, or not at all",
    "ctc_loss treats a blank among its targets (where none should be) like any class; PyTorch's sum over paths is then "
    "meaningless, and the value differs",
    "ctc_loss targets beyond the classes and pack_padded_sequence lengths beyond the sequences raise; PyTorch reads past "
    "the end",
    "If nearest or antialiased interpolation keeps a size, its gradient is that of the copy; PyTorch's is that of the "
    "filter",
    "If an optimizer's step fails, parameters it did not reach get no state, and with foreach=True and nesterov gradients "
    "stay as they are; Adafactor skips empty parameters; LBFGS reads a tensor lr but does not keep it, so a scheduler does"
    " not change its state; a line search without evaluations (max_eval=0) finds nothing; fused=True accepts options that "
    "are not bools; a scheduler that rejects its options leaves none in the groups",
    "fractional_max_pool rejects windows without elements, for which PyTorch gives -inf",
    "grid_sample, affine_grid, pdist and pack_padded_sequence consist of other nodes; in a second derivative, the gradient"
    " of grid_sample's nearest mode with respect to the grid is None",
    "Wishart.rsample is differentiable, GeneralizedPareto computes in float64, and divergences between distributions of "
    "different batch shapes broadcast: PyTorch raises there",
    "Small tensors in batches from DataLoader workers are not in shared memory, and Tensor.is_shared() says so",
    "Embeddings with max_norm rescale no row if an index is out of range; PyTorch has already rescaled those before it",
    "If a DataLoader worker cannot hand over an item (a function, a tensor with a graph), the error comes in place of its "
    "batch; PyTorch waits forever. A failed worker_init_fn is reported for each batch; PyTorch reports it for the first",
    "Under autocast(\"cpu\") an LSTM computes its products in the lower dtype, and the rest in float32; PyTorch's all of "
    "it in the lower dtype",
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
        "Nodes' sequence numbers rise across all threads; within one thread they are PyTorch's",
    ),
    T(
        "grad_attribute",
        "zero_ between passes",
        "-> (True, tensor([2., 4.]), 3)",
        "-> (True, tensor([2., 4.]), 2)",
        "Sums inside a pass do not count as edits of the resulting gradient",
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
        "torch.library.register_fake takes operators that nobody has defined: libraries define some in C++ for PyTorch",
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
        "__imatmul__ exists, and declines: `a @= b` is `a = a @ b`, as in PyTorch",
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
        "The determinant keeps no factorization",
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
    T(
        "module_deviations",
        "a step inside the graph",
        "-> 1",
        "!! builtins.NotImplementedError: retrograd has no optimizer steps inside a graph: differentiable=True is not "
        "supported. Write the update as tensor operations (p - lr * g) on gradients from autograd.grad(..., "
        "create_graph=True).",
        "Optimizers work outside the graph: differentiable=True raises, and the error says what to do instead",
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
            ("powt ((3, 3), 'float32') ((3, 3), 'float32') ((3, 3), 'float32') u u u",
             "powt ((3, 3), 'float32') ((3, 3), 'float32') u u"),
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
        "A node knows its output's shape only after grad_fn of the tensor it made has been read",
    ),
)
