"""torch.special: special functions, most of them under a second name."""
from __future__ import annotations

from functools import cache as _cache
from functools import partial as _partial
from typing import TYPE_CHECKING, Any

from . import _functions as _f
from ._functions import checked as _checked
from ._functions import special as _rarer
from ._functions.public import PARSED as _PARSED
from ._functions.public import public as _public
from ._missing import late_names

if TYPE_CHECKING:
    from ._typing.special import *  # noqa: F403
else:
    from ._functions.activation import log_softmax, softmax

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "i0",
    "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri",
    "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy", "zeta",
]
_RAREST = ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
           "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
           "spherical_bessel_j0", *[f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"],
           "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")
__all__ += _RAREST


@_cache
def _rare(name: str) -> Any:
    from ._functions import bessel

    return _public(getattr(bessel, name), _PARSED, "special", name, f"special_{name}")


def _named(name: str) -> Any:
    return getattr(_f, name)


late_names(__name__, also={name: _partial(_rare, name) for name in _RAREST})
if not TYPE_CHECKING:
    digamma, erf, erfc, erfinv, exp2, expm1 = map(_named, ("digamma", "erf", "erfc", "erfinv", "exp2", "expm1"))
    expit, gammainc, gammaincc, gammaln = _named("sigmoid"), _rarer.igamma, _rarer.igammac, _named("lgamma")
    log1p, logit, logsumexp, multigammaln = map(_named, ("log1p", "logit", "logsumexp", "mvlgamma"))
    polygamma, psi, round, sinc, xlogy = map(_named, ("polygamma", "digamma", "round", "sinc", "xlogy"))
    i0, i0e, i1, i1e, entr, erfcx = _rarer.i0, _rarer.i0e, _rarer.i1, _rarer.i1e, _rarer.entr, _rarer.erfcx
    ndtr, ndtri, log_ndtr, xlog1py, zeta = _rarer.ndtr, _rarer.ndtri, _rarer.log_ndtr, _rarer.xlog1py, _rarer.zeta
    for _name in __all__:
        if _name not in _RAREST and callable(globals().get(_name)) and not isinstance(globals()[_name], type):
            globals()[_name] = _checked(f"special_{_name}", getattr(globals()[_name], "unchecked", globals()[_name]), "special")
