"""The documented functions of the torch namespace.  Each is the method of the same name, too.

A family module lists the names it gives the namespace in `__all__`, those it gives Tensor in `METHODS`, and those it
gives torch.nn.functional in `FUNCTIONAL`; "own as given" where the two differ.
"""
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor, seal
from .forms import FUNCTIONS, METHODS
from .parsing import as_method, parsed, parsed_method
from .public import FACTORY, METHODS_UNTOLD, PARSED, PYTHON, how_of, public
from .public import seal as seal_methods

if TYPE_CHECKING:
    from .._typing.functions import *  # noqa: F403  # what is bound below

__all__ = list[str]()               # type checkers would take [] for all there is

FAMILIES = [import_module(f"{__name__}.{name}") for name in (
    "arith", "fromdata", "create", "sampling", "pointwise", "compare", "activation", "loss", "loss_classes",
    "distance", "reduce", "extremes", "shape", "rearrange", "join", "order", "gather", "linalg", "products", "einsum",
    "decomp", "conv", "pool", "resize", "norm", "pad", "embed", "attention", "representations", "devices", "memory", "copies",
)]
# Families that few programs use are imported when one of their names is asked for: {name: (family, its name there)}.
LATER = {name: ("lu", name) for name in ("lu", "lu_solve", "lu_unpack")}
LATER |= {name: ("special", name) for name in ("i0", "i0_", "igamma", "igammac")}
LATER |= {f"{name}_window": ("windows", f"{name}_window") for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")}
LATER |= {"ctc_loss": ("ctc", "ctc_loss"), "affine_grid_generator": ("grid", "affine_grid_generator"),
          "grid_sampler": ("grid", "grid_sampler")}
COPIED = ("alias", "as_strided", "detach", "diagonal", "expand", "permute", "select", "slice", "split", "split_with_sizes",
          "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view")
LATER |= {f"{name}_copy": ("view_copies", f"{name}_copy") for name in COPIED}
LATER |= {name: ("histograms", name) for name in ("histogram", "histogramdd")}
LATER |= {name: ("reflections", name) for name in ("geqrf", "orgqr", "ormqr")}
LATER |= {name: ("segments", "segment_reduce") for name in ("segment_reduce", "_segment_reduce")}
LATER |= {name: ("lowrank", name) for name in ("pca_lowrank", "svd_lowrank")}
EACH = """abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac lerp lgamma
    log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc"""
LATER |= {f"_foreach_{name}": ("foreach", f"_foreach_{name}") for name in (
    *EACH.split(), *(f"{n}_" for n in EACH.split()), "norm", "powsum", "max", "mm", "clone", "copy_", "zero_")}
LATER |= {name: ("gammas", name) for name in (
    "binomial", "_standard_gamma", "_standard_gamma_grad", "_sample_dirichlet", "_dirichlet_grad")}
LATER_METHODS = {name: ("lu", name) for name in ("lu", "lu_solve")}
LATER_METHODS |= {name: ("reflections", name) for name in ("geqrf", "orgqr", "ormqr")}
LATER_METHODS["histogram"] = ("histograms", "histogram")
LATER_METHODS |= {name: ("special", name) for name in ("i0", "i0_", "igamma", "igamma_", "igammac", "igammac_")}
LATER_FUNCTIONAL = {
    "ctc_loss": ("ctc", "F_ctc_loss"), "affine_grid": ("grid", "affine_grid"), "grid_sample": ("grid", "grid_sample")}
LATER_FUNCTIONAL |= {name: ("fractional", name) for d in "23" for name in (
    f"fractional_max_pool{d}d", f"fractional_max_pool{d}d_with_indices")}
LATER_FUNCTIONAL["linear_cross_entropy"] = ("linear_loss", "linear_cross_entropy")


# What costs less than a check of its arguments would; they check theirs themselves.
QUICK = set("add sub mul div neg exp log sqrt tanh sigmoid abs relu sum mean matmul mm linear tensor as_tensor".split())
QUICK_METHODS = QUICK | set(
    "view reshape transpose t permute unsqueeze squeeze clone detach add_ sub_ mul_ div_ zero_ fill_ copy_ item dim size numel "
    "stride is_floating_point new cpu".split())


# In C without a row in `forms`, and those that take no part.
IN_C = set("log_sigmoid can_cast promote_types result_type range index_put index_put_".split())
FROM_DATA = set("tensor as_tensor asarray frombuffer".split())
UNTOLD = set("is_tensor from_dlpack from_numpy broadcast_shapes".split())
OF_FUNCTIONAL = set("""atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum lu
    meshgrid norm split tensordot unique unique_consecutive unravel_index""".split())


def checked(name: str, function: Callable[..., Any], place: str = "") -> Callable[..., Any]:
    """function as users call it, with its arguments checked as PyTorch checks them where PyTorch's is written in C."""
    text = FUNCTIONS.get(name)
    if name in UNTOLD and not place:
        return function
    if text is not None and name not in QUICK:
        function = parsed(name, text, function, place)
    how = FACTORY if name in FROM_DATA else PYTHON if text is None and name not in IN_C else PARSED
    own = name.removeprefix(f"{place}_") if place else name
    return public(function, how, "functional" if name in OF_FUNCTIONAL and not place else place, own, name)


def checked_method(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    text = METHODS.get(name)
    if text is None and name in FUNCTIONS:
        text = as_method(FUNCTIONS[name])
    if isinstance(method, property) or name in METHODS_UNTOLD:
        return method
    if text is not None and name not in QUICK_METHODS:
        method = parsed_method(name, text, method)
    return public(method, how_of(name, text), "", f"Tensor.{name}", name)


def late(found: tuple[str, str], name: str = "") -> Any:
    """A function of a family that is imported now; `name`: as errors say it."""
    family, own = found
    function = getattr(import_module(f"{__name__}.{family}"), own)
    return checked(name, function) if name else function


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
    for entry in getattr(family, "METHODS", ()):
        own, _, name = entry.partition(" as ")
        method = getattr(family, own)
        if not family.__all__:                  # methods alone: Python's errors name them as it names a class's own
            method.__qualname__ = f"Tensor.{name or own}"
        setattr(Tensor, name or own, checked_method(name or own, method))
for name, found in LATER_METHODS.items():
    setattr(Tensor, name, checked_method(name, late_method(name, found)))
seal()
seal_methods()
