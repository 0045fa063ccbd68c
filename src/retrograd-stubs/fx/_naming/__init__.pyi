"""Where retrograd.fx._naming is written.

Written by `make generate`.
"""
from retrograd._packages.fx._naming import (
    BUILTINS as BUILTINS,
    ILLEGAL as ILLEGAL,
    NAME as NAME,
    Namespace as Namespace,
    OF_NN as OF_NN,
    is_from_torch as is_from_torch,
    ours as ours,
    public_module as public_module,
    qualified_name as qualified_name,
    snake_case as snake_case,
    torch as torch,
    type_name as type_name,
)
