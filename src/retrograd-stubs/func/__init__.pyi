"""Where retrograd.func is written.

Written by `make generate`.
"""
from retrograd._packages.func import (
    functional_call as functional_call,
    functionalize as functionalize,
    grad as grad,
    grad_and_value as grad_and_value,
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    linearize as linearize,
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
    stack_module_state as stack_module_state,
    vjp as vjp,
    vmap as vmap,
)
