"""Where retrograd.library is written.

Written by `make generate`.
"""
from retrograd._packages.library import (
    CustomOpDef as CustomOpDef,
    KEYS as KEYS,
    Library as Library,
    OpCheckError as OpCheckError,
    RESERVED as RESERVED,
    _check_autograd as _check_autograd,
    _check_fake as _check_fake,
    _check_schema as _check_schema,
    _copied as _copied,
    _entry as _entry,
    _found as _found,
    custom_op as custom_op,
    define as define,
    fallthrough_kernel as fallthrough_kernel,
    get_ctx as get_ctx,
    impl as impl,
    impl_abstract as impl_abstract,
    infer_schema as infer_schema,
    log as log,
    opcheck as opcheck,
    parse_namespace as parse_namespace,
    register_autocast as register_autocast,
    register_autograd as register_autograd,
    register_fake as register_fake,
    register_kernel as register_kernel,
    register_torch_dispatch as register_torch_dispatch,
    register_vmap as register_vmap,
    undefined as undefined,
)
