"""torch.func: functions made of functions: derivatives, maps over a batch, calls of modules with other parameters.

https://pytorch.org/docs/stable/func.html
"""
from __future__ import annotations

from retrograd._missing import late_names
from retrograd.nn.utils._functional_call import functional_call as functional_call
from retrograd.nn.utils._functional_call import functionalize as functionalize
from retrograd.nn.utils._functional_call import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from retrograd.nn.utils._functional_call import stack_module_state as stack_module_state

from ._derivatives import grad as grad
from ._derivatives import grad_and_value as grad_and_value
from ._derivatives import hessian as hessian
from ._derivatives import jacfwd as jacfwd
from ._derivatives import jacrev as jacrev
from ._derivatives import jvp as jvp
from ._derivatives import linearize as linearize
from ._derivatives import vjp as vjp
from ._maps import vmap as vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]
late_names(__name__)
