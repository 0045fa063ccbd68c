"""Where retrograd._dynamo._trace_wrapped_higher_order_op is written.

Written by `make generate`.
"""
from retrograd._packages._dynamo._trace_wrapped_higher_order_op import (
    TransformGetItemToIndex as TransformGetItemToIndex,
)
