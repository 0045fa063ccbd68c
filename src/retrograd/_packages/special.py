"""torch.special: special functions, most of them under a second name."""
from __future__ import annotations

import typing as _t
from functools import cache as _cache
from functools import partial as _partial

from retrograd._functions import namespace as _namespace
from retrograd._functions.public import PARSED as _PARSED
from retrograd._functions.public import public as _public
from retrograd._missing import late_names as _late_names

if _t.TYPE_CHECKING:
    from retrograd._typing.special import *  # noqa: F403
else:
    globals().update(_namespace("special", {
        "": "digamma digamma=psi erf erfc erfinv exp2 expm1 lgamma=gammaln log1p logit logsumexp mvlgamma=multigammaln polygamma "
            "round sigmoid=expit sinc xlogy",
        "activation": "log_softmax softmax",
        "special": "entr erfcx i0 i0e i1 i1e igamma=gammainc igammac=gammaincc log_ndtr ndtr ndtri xlog1py zeta"}))

_RAREST = ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
           "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
           "spherical_bessel_j0", *[f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"],
           "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")


@_cache
def _rare(name: str) -> _t.Any:
    from retrograd._functions import bessel

    return _public(getattr(bessel, name), _PARSED, "special", name, f"special_{name}")


_late_names(__name__, also={_name: _partial(_rare, _name) for _name in _RAREST})
__all__ = sorted({_name for _name in globals() if _name[0].isalpha()} - {"annotations"} | {*_RAREST})
