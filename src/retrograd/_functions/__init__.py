"""The documented functions of the torch namespace.  Each is the method of the same name, too.

What a family module defines under a name that PyTorch has is public, in torch, as a method of Tensor, in torch.nn.functional:
`naming` makes the lists `__all__`, `METHODS` and `FUNCTIONAL` of each.
"""
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor, seal
from .forms import FUNCTIONS, METHODS
from .naming import placed
from .parsing import Composed, Parsed, ParsedMethod, takes_more
from .places import FUNCTIONAL, TENSOR, TORCH
from .public import FACTORY, METHODS_UNTOLD, PARSED, PYTHON, how_of, public
from .public import seal as seal_methods

if TYPE_CHECKING:
    from .._typing.functions import *  # noqa: F403  # what is bound below

__all__ = list[str]()               # type checkers would take [] for all there is

FAMILIES = [placed(import_module(f"{__name__}.{name}"), vars(Tensor)) for name in (
    "arith", "fromdata", "create", "sampling", "pointwise", "compare", "activation", "loss", "loss_classes",
    "distance", "reduce", "extremes", "shape", "rearrange", "join", "order", "gather", "linalg", "products", "einsum",
    "decomp", "complexes", "conv", "pool", "resize", "norm", "pad", "embed", "attention", "representations", "devices", "memory",
    "copies",
)]
# Families that few programs use are imported when one of their names is asked for.
COPIED = ("alias as_strided detach diagonal expand permute select slice split split_with_sizes squeeze t transpose unbind unfold "
          "unsqueeze view").split()
EACH = """abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac lerp lgamma
    log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh
    trunc""".split()
RARE = [(name, family) for family, names in {
    "lu": "lu lu_solve lu_unpack", "special": "i0 i0_ igamma igamma_ igammac igammac_", "ctc": "ctc_loss F_ctc_loss",
    "windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "grid": "affine_grid_generator grid_sampler affine_grid grid_sample", "histograms": "histogram histogramdd",
    "reflections": "geqrf orgqr ormqr", "segments": "segment_reduce _segment_reduce", "spectra": "stft istft",
    "lowrank": "pca_lowrank svd_lowrank",
    "view_copies": " ".join(f"{name}_copy" for name in COPIED), "linear_loss": "linear_cross_entropy",
    "foreach": " ".join(f"_foreach_{name}" for name in (*EACH, *(f"{name}_" for name in EACH), *(
        "norm powsum max mm clone copy_ zero_".split()))),
    "gammas": "binomial _standard_gamma _standard_gamma_grad _sample_dirichlet _dirichlet_grad",
    "rarely": """frobenius_norm nuclear_norm norm_except_dim unsafe_split_with_sizes grid_sampler_2d grid_sampler_3d conv_tbc
        fake_quantize_per_tensor_affine fake_quantize_per_channel_affine view_as_complex_copy view_as_real_copy from_file
        lstm gru rnn_tanh rnn_relu rnn_tanh_cell rnn_relu_cell lstm_cell gru_cell cond while_loop eig lstsq matrix_rank solve
        symeig resize resize_as module_load const_data_ptr reinforce""",
    "fractional": " ".join(f"fractional_max_pool{d}d{end}" for d in "23" for end in ("", "_with_indices")),
}.items() for name in names.split()]
# {name: (family, its name there)}
LATER = {name: (family, name) for name, family in RARE if name in TORCH or name[0] == "_"}
LATER_METHODS = {name: (family, name) for name, family in RARE if name in TENSOR}
LATER_FUNCTIONAL = {name.removeprefix("F_"): (family, name) for name, family in RARE if name.removeprefix("F_") in FUNCTIONAL}


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
def late(found: tuple[str, str], name: str = "") -> Any:
    """A function of a family that is imported now; `name`: as errors say it."""
    family, own = found
    function = getattr(import_module(f"{__name__}.{family}"), own)
    if own.startswith("F_"):
        function.__qualname__ = own.removeprefix("F_")
    return checked(name, function) if name else function


def namespace(place: str, rows: dict[str, str]) -> dict[str, Any]:
    """{name: function} of torch.linalg, say; rows: names by family, or of torch, each "own" or "own=name"."""
    found: dict[str, Any] = {}
    for family, names in rows.items():
        home = import_module(f"{__name__}.{family}" if family else __name__)
        for own, _, name in (row.partition("=") for row in names.split()):
            function = getattr(home, own)
            name = name or own.removeprefix(f"{place}_")
            found[name] = function if isinstance(function, type) else checked(
                f"{place}_{name}", getattr(function, "unchecked", function), place)
    return found


def late_method(name: str, found: tuple[str, str]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return late(found)(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"torch.{name.rstrip('_')}{', in place' if name.endswith('_') else ''}."
    return method


for family in FAMILIES:
    for name in family.__all__:
        globals()[name] = checked(name, getattr(family, name))
        __all__.append(name)
    for entry in family.METHODS:
        own, _, name = entry.partition(" as ")
        method = getattr(family, own)
        if own not in family.__all__ and type(method) is not property:      # Python's errors name it as a class's own
            method.__qualname__ = f"Tensor.{name or own}"
        setattr(Tensor, name or own, checked_method(name or own, method))
for name, found in LATER_METHODS.items():
    setattr(Tensor, name, checked_method(name, late_method(name, found)))
seal()
seal_methods()
