"""Where retrograd._library.schema is written.

Written by `make generate`.
"""
from retrograd._packages._library.schema import (
    ARGUMENT as ARGUMENT,
    Argument as Argument,
    EMPTY as EMPTY,
    FunctionSchema as FunctionSchema,
    GENERIC as GENERIC,
    KINDS as KINDS,
    LISTS as LISTS,
    PLAIN as PLAIN,
    TYPES as TYPES,
    fits as fits,
    infer_schema as infer_schema,
    kind_of as kind_of,
    known as known,
    returns_of as returns_of,
    split as split,
    spoken as spoken,
    value_of as value_of,
    written as written,
)
