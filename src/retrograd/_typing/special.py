"""Where they are written: torch.special.

Written by `make generate`.
"""
from .._functions.special import igamma as gammainc
from .._functions.special import igammac as gammaincc
from .._functions.special import i0 as i0
from .._functions.activation import log_softmax as log_softmax
from .._functions.pointwise import logit as logit
from .._functions.reduce import logsumexp as logsumexp
from .._functions.representations import mvlgamma as multigammaln
from .._functions.special import ndtr as ndtr
from .._functions.pointwise import polygamma as polygamma
from .._functions.pointwise import round as round
from .._functions.activation import softmax as softmax
from .._functions.special import xlog1py as xlog1py
from .._functions.pointwise import xlogy as xlogy
from .._functions.special import zeta as zeta
