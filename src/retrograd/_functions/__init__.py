"""The documented functions of the torch namespace.  Each is the method of the same name, too.

What a family module defines under a name that PyTorch has is public, in torch, as a method of Tensor, in torch.nn.functional:
`naming` makes the lists `__all__`, `METHODS` and `FUNCTIONAL` of each.
"""
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor, seal
from .forms import FUNCTIONS, METHODS
from .naming import placed
from .parsing import Composed, Parsed, ParsedMethod, takes_more
from .public import FACTORY, METHODS_UNTOLD, PARSED, PYTHON, how_of, public
from .public import seal as seal_methods
from .pytorch_names import FUNCTIONAL, TENSOR, TORCH

if TYPE_CHECKING:
    from .._typing.functions import *  # noqa: F403  # what is bound below

__all__ = list[str]()               # type checkers would take [] for all there is

OWN = frozenset(vars(Tensor))
FAMILIES = [placed(import_module(f"{__name__}.{name}"), OWN) for name in (
    "arith", "fromdata", "create", "pointwise", "compare", "activation", "reduce", "shape", "join", "products",
    "complexes", "devices", "memory", "copies")]
# Others are imported when one of their names is asked for; nn.functional asks for those of LAYERS.
COPIED = ("alias as_strided detach diagonal expand permute select slice split split_with_sizes squeeze t transpose unbind unfold "
          "unsqueeze view").split()
EACH = """abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac lerp lgamma
    log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh
    trunc""".split()
LAYERS = "loss loss_classes distance linalg decomp indexing conv pool resize norms pad embed attention".split()
LATE = [(name, family) for family, names in {
    "conv": "convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    "decomp": "cholesky cholesky_solve cholesky_inverse qr svd",
    "distance": "cosine_similarity pairwise_distance pdist cosine_embedding_loss margin_ranking_loss triplet_margin_loss",
    "contractions": "einsum tensordot",
    "embed": "embedding embedding_renorm_ embedding_bag",
    "extremes": "max min amax amin aminmax argmax argmin median nanmedian mode cummax cummin quantile nanquantile",
    "indexing": """gather scatter scatter_add scatter_reduce index_select index_add index_reduce unravel_index index_copy
        index_fill index_put index_put_ masked_select masked_scatter take take_along_dim put nonzero
        nonzero_static argwhere scatter_ scatter_add_ scatter_reduce_ index_add_ index_reduce_ index_copy_
        index_fill_ masked_scatter_ put_ __delitem__""",
    "linalg": "inverse pinverse triangular_solve matrix_exp det slogdet logdet matrix_power",
    "loss": "binary_cross_entropy_with_logits kl_div poisson_nll_loss hinge_embedding_loss",
    "order": "sort argsort msort topk kthvalue unique unique_consecutive searchsorted bucketize bincount histc",
    "rearrange": """select_scatter slice_scatter diagonal_scatter as_strided_scatter narrow_copy diag diagflat diag_embed trace
        tile repeat_interleave roll flip fliplr flipud rot90 tril triu repeat tril_ triu_""",
    "representations": """gcd_ gcd lcm_ lcm nextafter frexp fill resize_as_ is_same_size mvlgamma nextafter_ fill_diagonal_
        mvlgamma_ polygamma_""",
    "sampling": """randint randint_like randperm normal bernoulli multinomial poisson uniform_ normal_ random_ bernoulli_
        exponential_ geometric_ cauchy_ log_normal_""",
    "norms": "native_layer_norm layer_norm native_batch_norm batch_norm native_group_norm group_norm instance_norm rms_norm",
    "pad": "constant_pad_nd",
    "pool": "max_pool2d max_pool3d max_pool1d_with_indices max_pool1d adaptive_max_pool1d avg_pool1d adaptive_avg_pool1d",
    "resize": "pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle",
    "lu": "lu lu_solve lu_unpack", "special": "i0 i0_ igamma igamma_ igammac igammac_", "ctc": "ctc_loss F_ctc_loss",
    "windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "grid": "affine_grid_generator grid_sampler affine_grid grid_sample", "histograms": "histogram histogramdd",
    "reflections": "geqrf orgqr ormqr", "segments": "segment_reduce _segment_reduce", "spectra": "stft istft",
    "lowrank": "pca_lowrank svd_lowrank",
    "view_copies": " ".join(f"{name}_copy" for name in COPIED), "linear_loss": "linear_cross_entropy",
    "foreach": " ".join(f"_foreach_{name}" for name in (*EACH, *(f"{name}_" for name in EACH), *(
        "norm powsum max mm clone copy_ zero_".split()))),
    "gammas": "binomial _standard_gamma _standard_gamma_grad _sample_dirichlet _dirichlet_grad",
    "legacy": """frobenius_norm nuclear_norm norm_except_dim unsafe_split_with_sizes grid_sampler_2d grid_sampler_3d conv_tbc
        fake_quantize_per_tensor_affine fake_quantize_per_channel_affine view_as_complex_copy view_as_real_copy from_file
        lstm gru rnn_tanh rnn_relu rnn_tanh_cell rnn_relu_cell lstm_cell gru_cell cond while_loop eig lstsq matrix_rank solve
        symeig resize resize_as module_load const_data_ptr reinforce""",
    "fractional": " ".join(f"fractional_max_pool{d}d{end}" for d in "23" for end in ("", "_with_indices")),
}.items() for name in names.split()]
# {name: (family, its name there)}
LATER = {name: (family, name) for name, family in LATE if name in TORCH or name[0] == "_" != name[1]}
LATER_METHODS = {name: (family, name) for name, family in LATE if name in TENSOR}
LATER_FUNCTIONAL = {name.removeprefix("F_"): (family, name) for name, family in LATE
                    if name.removeprefix("F_") in FUNCTIONAL and family not in LAYERS}


# Those that check their arguments themselves: `forms` has no word for the data of a tensor, nor for all that these methods take.
UNPARSED = {"tensor", "as_tensor"}
UNPARSED_METHODS = {"new", "cpu", "stride"}
# In C without a row in `forms`, and those that take no part.
IN_C = set("log_sigmoid can_cast promote_types result_type range index_put index_put_".split())
FROM_DATA = set("tensor as_tensor asarray frombuffer".split())
UNTOLD = set("is_tensor from_dlpack from_numpy broadcast_shapes".split())
OF_FUNCTIONAL = set("""atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum lu
    meshgrid norm split tensordot unique unique_consecutive unravel_index""".split())


def checked(name: str, function: Callable[..., Any], place: str = "") -> Callable[..., Any]:
    """function as users call it, with its arguments checked as PyTorch checks them where PyTorch's is written in C."""
    text = FUNCTIONS.get(name)
    if (name in UNTOLD or name.endswith("Tensor")) and not place:
        return function
    if text is not None and name not in UNPARSED:
        function = Parsed(name, text, function)
    elif name in OF_FUNCTIONAL:
        function = Composed(name, function)
    how = FACTORY if name in FROM_DATA else PYTHON if text is None and name not in IN_C else PARSED
    own = name.removeprefix(f"{place}_") if place else name
    return public(function, how, "functional" if name in OF_FUNCTIONAL and not place else place, own, name)


def checked_method(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    text, of = METHODS.get(name), FUNCTIONS.get(name, "")
    if isinstance(method, property) or name in METHODS_UNTOLD:
        return method
    if (text is not None or of) and name not in UNPARSED_METHODS:
        method = ParsedMethod(name, text, of, method)
    return public(method, how_of(name, takes_more(of) if text is None else text != ""), "", f"Tensor.{name}", name)


@cache
def load(family: str) -> ModuleType:
    """A family that was not imported at first."""
    return placed(import_module(f"{__name__}.{family}"), OWN)


def families() -> list[ModuleType]:
    """All whose functions may be in torch.nn.functional."""
    return [*FAMILIES, *map(load, LAYERS)]


@cache
def late(found: tuple[str, str], name: str = "") -> Any:
    """A function of a family that is imported now; `name`: as errors say it."""
    family, own = found
    function = getattr(load(family), own)
    return checked(name, function) if name else function


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return late(LATER[name], name)


def namespace(place: str, rows: dict[str, str]) -> dict[str, Any]:
    """{name: function} of torch.linalg, say; rows: names by family, or of torch, each "own" or "own=name"."""
    found: dict[str, Any] = {}
    for family, names in rows.items():
        home = load(family) if family else import_module(__name__)
        for own, _, name in (row.partition("=") for row in names.split()):
            function = getattr(home, own)
            name = name or own.removeprefix(f"{place}_")
            found[name] = function if isinstance(function, type) else checked(
                f"{place}_{name}", getattr(function, "unchecked", function), place)
    return found


class LateMethod:
    """Stands in Tensor for a method until it is asked for."""

    def __init__(self, name: str, found: tuple[str, str]) -> None:
        self.name, self.found = name, found

    def __get__(self, tensor: Any, cls: Any = None) -> Any:
        family, own = self.found
        set_method(self.name, load(family), own)
        return getattr(cls if tensor is None else tensor, self.name)


def set_method(name: str, family: ModuleType, own: str) -> None:
    method = getattr(family, own)
    if own not in family.__all__ and type(method) is not property:      # Python's errors name it as a class's own
        method.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, checked_method(name, method))


for family in FAMILIES:
    for name in family.__all__:
        globals()[name] = checked(name, getattr(family, name))
        __all__.append(name)
    for entry in family.METHODS:
        own, _, name = entry.partition(" as ")
        set_method(name or own, family, own)
for name, found in LATER_METHODS.items():
    setattr(Tensor, name, LateMethod(name, found))
seal()
seal_methods()
